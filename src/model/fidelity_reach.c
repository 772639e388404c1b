// fidelity_reach.c - the share of queries out of coverage.
//
// 1. A query is a logged state and an action: every discrete action, or the continuous action
//    of another step, drawn at random.
// 2. The states are a sample of those in which steps begin: MOST_QUERIES queries in all.
// 3. The action taken in a state is at distance 0. The nearest distance of an action is
//    therefore measured from states where another action was taken.

#include "fidelity_internal.h"
#include "numeric/stats.h"

#include <math.h>

#define MOST_QUERIES 20000

// Query the first member for an action in the state in which step t begins.
static rh_status ask(const rh_fidelity__work *w, int64_t t, const double *act, double *distance,
                     bool *uncovered, rh_error *err)
{
    const rh_model *model = w->model;
    double next[RH_MAX_OBS];
    rh_model__expected expected = {.next = next};
    const double *obs = w->log->obs + (int64_t)w->log->from[t] * w->log->nobs;
    rh_status rc =
        model->type->calls->expect(&expected, model, model->member[0], obs, act, err);
    *distance = rc ? NAN : expected.distance;
    *uncovered = !rc && expected.out_of_coverage;
    return rc;
}

// One action from n states. Scratch: far (n). *nuncovered: how often it is out of coverage.
static rh_status ask_action(const rh_fidelity__work *w, int action, int64_t n, double *far,
                            int64_t *nuncovered, rh_error *err)
{
    const rh_log *log = w->log;
    rh_fidelity_action *out = &w->f->action[action];
    double act = action;
    int64_t nfar = 0, ntaken = 0;
    rh_rng rng = rh_fidelity__chance(w, RH_FIDELITY__QUERIES); // the same states every time
    *nuncovered = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t t = rh_fidelity__pick(&rng, i, n, log->n);
        double distance;
        bool uncovered;
        rh_status rc = ask(w, t, &act, &distance, &uncovered, err);
        if (rc)
            return rc;
        *nuncovered += uncovered;
        if (log->act[t] != act && !isnan(distance))
            far[nfar++] = distance;
    }
    for (int64_t t = 0; t < log->n; t++)
        ntaken += log->act[t] == act;
    out->share = (double)ntaken / (double)log->n;
    out->out_of_coverage = (double)*nuncovered / (double)n;
    out->nearest = rh_fidelity__in_steps(w, rh_stats__quantile(far, nfar, 0.5));
    return RH_OK;
}

// Actions that are reals: each state with the action of another step.
static rh_status ask_reals(const rh_fidelity__work *w, int64_t n, int64_t *nuncovered,
                           rh_error *err)
{
    const rh_log *log = w->log;
    rh_rng rng = rh_fidelity__chance(w, RH_FIDELITY__QUERIES);
    for (int64_t i = 0; i < n; i++) {
        int64_t t = rh_fidelity__pick(&rng, i, n, log->n);
        int64_t other = rh_rng_below(&rng, (uint32_t)log->n);
        double distance;
        bool uncovered;
        rh_status rc = ask(w, t, log->act + other * log->nact, &distance, &uncovered, err);
        if (rc)
            return rc;
        *nuncovered += uncovered;
    }
    return RH_OK;
}

rh_status rh_fidelity__reach(rh_fidelity__work *w, rh_error *err)
{
    const rh_log *log = w->log;
    int nask = log->naction ? log->naction : 1;
    int64_t n = MOST_QUERIES / nask < log->n ? MOST_QUERIES / nask : log->n;
    int64_t nuncovered = 0, one;
    double *far = rh_alloc((size_t)n, sizeof *far), distance;
    bool uncovered;
    if (!far)
        return rh_base__no_memory(err, "fidelity");
    rh_status rc = ask(w, 0, log->act, &distance, &uncovered, err);

    // a kind that knows no distances has no reach: one state tells as much as all
    if (!rc && isnan(distance) && !uncovered)
        n = 1;
    for (int a = 0; !rc && a < log->naction; a++) {
        rc = ask_action(w, a, n, far, &one, err);
        nuncovered += one;
    }
    if (!rc && !log->naction)
        rc = ask_reals(w, n, &nuncovered, err);
    w->f->out_of_coverage = (double)nuncovered / ((double)n * nask);
    rh_free(far);
    return rc ? rc : rh_fidelity__pause(w, 0.8, err);
}
