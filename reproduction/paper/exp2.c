// exp2.c - Experiment 2: other policies and smaller logs.
//
// Logs of 5,000 steps of near-optimal, medium and naive policies, and of 1,000 and 500 steps of
// the medium one; kNN models of the Laplacian with the parameters of this experiment.

#include "paper_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rh_paper__data data[] = {
    {"near-optimal", 5000}, {"medium", 5000}, {"naive", 5000},
    {"medium", 1000},       {"medium", 500},
};
enum { NEAR, MEDIUM, NAIVE, MEDIUM_1000, MEDIUM_500, NDATA };

static const char *const title[NDATA] = {"near-optimal, 5,000", "medium, 5,000", "naive, 5,000",
                                         "medium, 1,000", "medium, 500"};

#define KNN(preset)                                                                            \
    {                                                                                          \
        .name = "knn-laplacian-exp2", .title = "kNN, Laplacian",                               \
        .key = {{"representation.preset", preset}, {"method", "race"}},                        \
        .quick = {{"representation.steps", "2000"}}, .effort = 0.6, .fit = 9.0                 \
    }

static const rh_paper__method knn[] = {KNN("acrobot-exp2"), KNN("puddle_world-exp2")};

static const struct {
    const rh_paper__problem *problem;
    const char *figure[2], *title[2];
    const char *id[4];
} side[] = {
    {&rh_paper__esarsa_acrobot,
     {"exp2-acrobot-policy", "exp2-acrobot-size"},
     {"Acrobot: policies", "Acrobot: sizes of logs"},
     {"2.1 acrobot, policies", "2.1 acrobot, sizes", "2.2 acrobot", "2.3 acrobot"}},
    {&rh_paper__esarsa_puddle,
     {"exp2-puddle-policy", "exp2-puddle-size"},
     {"Puddle World: policies", "Puddle World: sizes of logs"},
     {"2.1 puddle, policies", "2.1 puddle, sizes", "2.2 puddle", "2.3 puddle"}},
};

static void list(rh_paper *paper)
{
    for (int k = 0; k < 2; k++) {
        rh_paper__truth(paper, side[k].problem);
        for (int d = 0; d < NDATA; d++) {
            rh_paper__choices(paper, side[k].problem, &data[d], &knn[k]);
            if (!paper->opt.quick)
                rh_paper__choices(paper, side[k].problem, &data[d], &rh_paper__default);
        }
        rh_paper__policies(paper, side[k].problem, false);
    }
}

// How far apart the medians of three series are.
static double range_of_medians(const double *const *y, int n, double *work)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int k = 0; k < 3; k++) {
        double m = rh_paper__of_median(&y[k], n, work);
        lo = m < lo ? m : lo;
        hi = m > hi ? m : hi;
    }
    return hi - lo;
}

static void claim_insensitive(rh_paper *paper, const char *id, const rh_paper__table *table,
                              const double *const *y, const char *what)
{
    double scale = table->mean[table->best] - table->median;
    rh_paper__interval i = rh_paper__bootstrap(y, 3, paper->opt.nlog, range_of_medians);
    i.value /= scale;
    i.lo95 /= scale;
    i.hi95 /= scale;
    rh_paper__claim(paper, id,
                    "Our approach is largely insensitive to data log size and policy in these "
                    "classic environments.",
                    "the range of the three medians is below 0.1 of the distance from the best "
                    "setting of the grid to its median",
                    i, RH_PAPER__BELOW, 0.1, "medians of three %s differ by %.3f of the grid",
                    what, i.value);
}

static void draw_side(rh_paper *paper, int k)
{
    static const int shown[2][3] = {{NEAR, MEDIUM, NAIVE}, {MEDIUM, MEDIUM_1000, MEDIUM_500}};
    const rh_paper__problem *p = side[k].problem;
    int nlog = paper->opt.nlog;
    double chance[RH_PAPER_MOST_LOGS], ours[RH_PAPER_MOST_LOGS];
    rh_paper__table table;
    double *all = rh_alloc((size_t)nlog * NDATA, sizeof *all);
    if (!all)
        paper->bad = true;
    if (!all || !rh_paper__table_of(paper, p, &table))
        goto done;
    for (int d = 0; d < NDATA; d++)
        rh_paper__true_of_logs(paper, p, &data[d], &knn[k], p, all + (size_t)d * nlog);
    for (int half = 0; half < 2; half++) {
        rh_paper__figure *f =
            rh_paper__figure_add(paper, side[k].figure[half], side[k].title[half],
                                 "Median and quartiles of the true return per episode of the "
                                 "setting chosen from each log. Line: the best setting of the "
                                 "grid.",
                                 RH_PAPER__BAR, table.mean[table.best]);
        const double *y[3];
        for (int i = 0; i < 3; i++) {
            int d = shown[half][i];
            char name[64];
            y[i] = all + (size_t)d * nlog;
            rh_paper__series_add(paper, f, title[d], y[i], nlog);
            snprintf(name, sizeof name, "default: %s", title[d]);
            rh_paper__column(paper, f, name, p, &data[d], &rh_paper__default, p, ours);
        }
        claim_insensitive(paper, side[k].id[half], &table, y, half ? "sizes" : "policies");
    }
    rh_paper__random(paper, p, chance);
    rh_paper__claim_better(
        paper, side[k].id[2],
        "Even 500 transitions contains enough coverage of the state-space and successful "
        "terminations to produce a useful calibration model.",
        "500 steps", all + (size_t)MEDIUM_500 * nlog, "Random", chance);
    rh_paper__policy_scores(paper, p, false, "deployed", ours);
    rh_paper__interval failed =
        rh_paper__bootstrap((const double *const[]){ours}, 1, nlog, rh_paper__of_median);
    rh_paper__claim(
        paper, side[k].id[3],
        "This is in stark contrast to the FQI results in Experiment 1, where a policy trained "
        "offline from the same size data log failed to solve either task.",
        "the median return of the policies of FQI is below the median of the true scores of "
        "the grid",
        failed, RH_PAPER__BELOW, table.median, "median %.1f, that of the grid %.1f",
        failed.value, table.median);

done:
    rh_free(all);
}

static void draw(rh_paper *paper)
{
    draw_side(paper, 0);
    draw_side(paper, 1);
}

const rh_paper__part rh_paper__exp2 = {
    .is = {"exp2", "Experiment 2: varying data collection policies",
           "near-optimal, medium and naive policies; 500, 1,000 and 5,000 steps"},
    .list = list,
    .draw = draw,
};
