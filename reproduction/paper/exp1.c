// exp1.c - Experiment 1: settings chosen in kNN and network models, FQI and Random.
//
// Near-optimal logs of 5,000 steps of Acrobot and Puddle World; the 54 settings of Expected
// Sarsa; the paper's Figure 4. Networks have their published rates, and correct gradients.

#include "paper_internal.h"

#include <math.h>

// Next state, reward and end from the Laplacian code, as published.
#define NETWORK                                                                                \
    {"model.kind", "nn"}, {"model.input", "code"}, {"model.target", "next"},                   \
        {"model.rate", "0.0003"},                                                              \
    {                                                                                          \
        "method", "race"                                                                       \
    }

const rh_paper__method rh_paper__network = {
    .name = "nn-laplacian",
    .title = "NN, Laplacian",
    .key = {NETWORK},
    .quick = {{"representation.steps", "2000"}, {"model.epochs", "5"}},
    .codes = true,
    .effort = 0.6,
    .fit = 5.0,
    .pace = 2.0,
};

static const struct {
    const rh_paper__problem *problem;
    const char *figure;
    const char *id[6];
} side[] = {
    {&rh_paper__esarsa_acrobot,
     "Acrobot",
     {"1.1 acrobot", "1.2 acrobot", "1.3 acrobot", "1.4 acrobot", "1.9 default, acrobot",
      "1.6 acrobot"}},
    {&rh_paper__esarsa_puddle,
     "Puddle World",
     {"1.1 puddle", "1.2 puddle", "1.3 puddle", "1.4 puddle", "1.9 default, puddle",
      "1.6 puddle"}},
};

static void list(rh_paper *paper)
{
    for (int k = 0; k < 2; k++) {
        const rh_paper__problem *p = side[k].problem;
        rh_paper__truth(paper, p);
        rh_paper__choices(paper, p, &rh_paper__near_5000, &rh_paper__knn);
        rh_paper__choices(paper, p, &rh_paper__near_5000, &rh_paper__network);
        rh_paper__choices(paper, p, &rh_paper__near_5000, &rh_paper__default);
        rh_paper__policies(paper, p, false);
        rh_paper__baselines(paper, p, &rh_paper__near_5000);
    }
}

// The choices in models alone: FQI and Random score so much less that beside them these look
// equal.
static void draw_models(rh_paper *paper, int k, const double *knn, const double *nn,
                        const double *ours, double best)
{
    int n = paper->opt.nlog;
    rh_paper__figure *f = rh_paper__figure_add(
        paper, k ? "exp1-puddle-models" : "exp1-acrobot-models",
        k ? "Puddle World: models alone" : "Acrobot: models alone",
        "The same choices in models, on an axis of their own. Line: the best setting of the "
        "grid.",
        RH_PAPER__BOX, best);
    rh_paper__series_add(paper, f, "kNN, Laplacian", knn, n);
    rh_paper__series_add(paper, f, "NN, Laplacian", nn, n);
    if (ours)
        rh_paper__series_add(paper, f, "Rehearse, default", ours, n);
}

static void draw_side(rh_paper *paper, int k)
{
    const rh_paper__problem *p = side[k].problem;
    const rh_paper__data *data = &rh_paper__near_5000;
    const char *const *id = side[k].id;
    double knn[RH_PAPER_MOST_LOGS], nn[RH_PAPER_MOST_LOGS], ours[RH_PAPER_MOST_LOGS],
        chance[RH_PAPER_MOST_LOGS], policy[RH_PAPER_MOST_LOGS];
    rh_paper__table table;
    if (!rh_paper__table_of(paper, p, &table))
        return;
    rh_paper__figure *f =
        rh_paper__figure_add(paper, k ? "exp1-puddle" : "exp1-acrobot", side[k].figure,
                             "True return per episode of the setting chosen from each log. "
                             "Line: the best setting of the grid.",
                             RH_PAPER__BOX, table.mean[table.best]);
    rh_paper__column(paper, f, "kNN, Laplacian", p, data, &rh_paper__knn, p, knn);
    rh_paper__column(paper, f, "NN, Laplacian", p, data, &rh_paper__network, p, nn);
    rh_paper__policy_scores(paper, p, false, "deployed", policy);
    rh_paper__series_add(paper, f, "FQI, tiles", policy, paper->opt.nlog);
    rh_paper__random(paper, p, chance);
    rh_paper__series_add(paper, f, "Random", chance, paper->opt.nlog);
    int nours =
        rh_paper__column(paper, f, "Rehearse, default", p, data, &rh_paper__default, p, ours);

    rh_paper__interval same = rh_paper__as_good_as_best(paper, p, data, &rh_paper__knn);
    rh_paper__claim(
        paper, id[0],
        "In both environments the KNN calibration model performed well, selecting the same "
        "hyperparameters as would a sweep directly in the deployment environment.",
        "the share of logs whose choice is the best of the sweep, or statistically tied with "
        "it, is above 1/2",
        same, RH_PAPER__ABOVE, 0.5, "%.0f %% of the logs", 100.0 * same.value);
    rh_paper__claim_better(paper, id[1], "All methods should outperform Random.", "kNN", knn,
                           "Random", chance);
    rh_paper__claim_better(paper, id[2], "The NN calibration models perform poorly overall.",
                           "kNN", knn, "NN", nn);
    rh_paper__interval wide = rh_paper__bootstrap((const double *const[]){nn, knn}, 2,
                                                  paper->opt.nlog, rh_paper__of_spreads);
    rh_paper__claim(paper, id[3],
                    "Their performance can be unstable, choosing hyperparameters with good "
                    "performance in some runs, but often choosing poor hyperparameters.",
                    "the interquartile range with networks minus that with kNN is above 0",
                    wide, RH_PAPER__ABOVE, 0.0, "interquartile range wider by %.1f",
                    wide.value);
    rh_paper__claim_better(paper, id[5], "FQI generally performs worse than even Random.",
                           "Random", chance, "FQI", policy);
    if (nours > 0)
        rh_paper__claim_better(paper, id[4],
                               "(ours) The default of Rehearse chooses better than the paper's "
                               "method.",
                               "default", ours, "kNN", knn);
    draw_models(paper, k, knn, nn, nours > 0 ? ours : NULL, table.mean[table.best]);
    rh_paper__draw_baselines(paper, k ? "exp1-puddle-others" : "exp1-acrobot-others",
                             k ? "Puddle World: other baselines" : "Acrobot: other baselines",
                             p, data, knn);
}

static void draw(rh_paper *paper)
{
    draw_side(paper, 0);
    draw_side(paper, 1);
}

const rh_paper__part rh_paper__exp1 = {
    .is = {"exp1", "Experiment 1: comparing calibration models",
           "kNN, networks, FQI and Random, in Acrobot and Puddle World"},
    .list = list,
    .draw = draw,
};
