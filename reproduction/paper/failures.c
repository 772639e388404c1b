// failures.c - appendix on Cartpole: how the logged policies fail.
//
// A failure is a step of reward -1, after which the cart starts anew. Where it was on its way
// to is computed from the state before, by one step of its speeds: beyond the end of the track
// (2.4) it is positional, otherwise angular. An agent that begins to learn acts nearly at
// random; its failures are those of random data.

#include "paper_internal.h"

#include <math.h>

#define TRACK 2.4 // end of the track, of env/cartpole.c
#define STEP 0.02 // s

static const rh_paper__problem *const problem = &rh_paper__esarsa_cartpole;

// "failures" (2): positional and angular ones.
static rh_status count(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                       rh_error *err)
{
    rh_log *log = NULL, *starts = NULL;
    double number[2] = {0.0, 0.0}, none = 0.0;
    rh_status rc =
        rh_paper__collect(&log, &starts, paper, problem->world, cell->data, cell->log, err);
    for (int64_t i = 0; !rc && i < log->n; i++) {
        const double *s = log->obs + (size_t)log->from[i] * (size_t)log->nobs;
        if (log->reward[i] < -0.5)
            number[fabs(s[0] + STEP * s[1]) <= TRACK] += 1.0;
    }
    if (!rc)
        rc = rh_state_put(out, "failures", number, 2, err);
    if (!rc)
        rc = rh_state_put(out, "steps", &none, 1, err);
    rh_log_destroy(log);
    rh_log_destroy(starts);
    return rc;
}

static rh_paper__cell cell_of(const rh_paper__data *data, int log)
{
    return (rh_paper__cell){.run = count,
                            .what = "failures",
                            .problem = problem,
                            .data = data,
                            .log = log,
                            .after = -1,
                            .cost = 0.1};
}

void rh_paper__failures(rh_paper *paper, const rh_paper__data *data)
{
    for (int i = 0; i < paper->opt.nlog; i++)
        rh_paper__add(paper, cell_of(data, i));
}

// The share of failures of one kind, log by log.
static void shares(const rh_paper *paper, const rh_paper__data *data, int kind, double *y)
{
    for (int i = 0; i < paper->opt.nlog; i++) {
        rh_paper__cell like = cell_of(data, i);
        const double *number =
            rh_paper__array(paper, rh_paper__find(paper, &like), "failures", NULL);
        y[i] = number ? number[kind] / (number[0] + number[1]) : NAN;
    }
}

void rh_paper__draw_failures(rh_paper *paper, const rh_paper__data *near,
                             const rh_paper__data *random)
{
    double y[RH_PAPER_MOST_LOGS];
    int nlog = paper->opt.nlog;
    shares(paper, near, 0, y);
    rh_paper__interval i =
        rh_paper__bootstrap((const double *const[]){y}, 1, nlog, rh_paper__of_mean);
    rh_paper__claim(
        paper, "A3.1",
        "The failures under the near-optimal policy are mostly positional failures.",
        "the mean share of positional failures in near-optimal logs is above 1/2", i,
        RH_PAPER__ABOVE, 0.5, "%.0f %% of the failures", 100.0 * i.value);
    shares(paper, random, 1, y);
    i = rh_paper__bootstrap((const double *const[]){y}, 1, nlog, rh_paper__of_mean);
    rh_paper__claim(paper, "A3.2",
                    "The failure that the agent sees most often at the early learning stage is "
                    "the angular failure.",
                    "the mean share of angular failures in random logs is above 1/2", i,
                    RH_PAPER__ABOVE, 0.5, "%.1f %% of the failures", 100.0 * i.value);
}
