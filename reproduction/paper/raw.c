// raw.c - appendix: models that compare raw states instead of Laplacian codes.
//
// Near-optimal logs of 5,000 steps, as in Experiment 1, whose choices it uses again.

#include "paper_internal.h"

#include <math.h>

static const rh_paper__method knn_raw = {
    .name = "knn-raw",
    .title = "kNN, raw",
    .key = {{"representation.kind", "raw"}, {"method", "race"}},
    .effort = 0.6,
    .fit = 2.0,
};

#define NETWORK(r)                                                                             \
    {                                                                                          \
        .name = "nn-raw", .title = "NN, raw", .key = {{"representation.kind", "raw"},          \
                                                      {"model.kind", "nn"},                    \
                                                      {"model.input", "state"},                \
                                                      {"model.target", "next"},                \
                                                      {"model.rate", r},                       \
                                                      {"method", "race"}},                     \
        .quick = {{"model.epochs", "5"}}, .effort = 0.6, .fit = 5.0, .pace = 2.0               \
    }

static const rh_paper__method nn_raw[] = {NETWORK("0.0003"), NETWORK("0.0001")};

static const struct {
    const rh_paper__problem *problem;
    const char *figure, *title;
    const char *outliers, *network, *knn, *effective;
} side[] = {
    {&rh_paper__esarsa_acrobot, "raw-acrobot", "Acrobot", "A1.1 acrobot", "A1.2 acrobot",
     "A1.3 acrobot", "1.5 acrobot"},
    {&rh_paper__esarsa_puddle, "raw-puddle", "Puddle World", "A1.1 puddle", "A1.2 puddle",
     "A1.3 puddle", "1.5 puddle"},
};

static void list(rh_paper *paper)
{
    for (int k = 0; k < 2; k++) {
        const rh_paper__problem *p = side[k].problem;
        rh_paper__truth(paper, p);
        rh_paper__choices(paper, p, &rh_paper__near_5000, &rh_paper__knn);
        rh_paper__choices(paper, p, &rh_paper__near_5000, &knn_raw);
        rh_paper__choices(paper, p, &rh_paper__near_5000, &rh_paper__network);
        rh_paper__choices(paper, p, &rh_paper__near_5000, &nn_raw[k]);
    }
}

static void draw_side(rh_paper *paper, int k)
{
    const rh_paper__problem *p = side[k].problem;
    const rh_paper__data *data = &rh_paper__near_5000;
    int nlog = paper->opt.nlog;
    double laplacian[RH_PAPER_MOST_LOGS], raw[RH_PAPER_MOST_LOGS], nn[RH_PAPER_MOST_LOGS],
        nn_of_raw[RH_PAPER_MOST_LOGS];
    rh_paper__table table;
    if (!rh_paper__table_of(paper, p, &table))
        return;
    rh_paper__figure *f = rh_paper__figure_add(
        paper, side[k].figure, side[k].title,
        "True return per episode of the setting chosen from each log, with Laplacian codes and "
        "with raw states. Line: the best setting of the grid.",
        RH_PAPER__BOX, table.mean[table.best]);
    rh_paper__column(paper, f, "kNN, Laplacian", p, data, &rh_paper__knn, p, laplacian);
    rh_paper__column(paper, f, "kNN, raw", p, data, &knn_raw, p, raw);
    rh_paper__column(paper, f, "NN, Laplacian", p, data, &rh_paper__network, p, nn);
    rh_paper__column(paper, f, "NN, raw", p, data, &nn_raw[k], p, nn_of_raw);

    rh_paper__interval more = rh_paper__bootstrap((const double *const[]){raw, laplacian}, 2,
                                                  nlog, rh_paper__of_outliers);
    rh_paper__claim(
        paper, side[k].outliers,
        "Using the L2 distance on raw states, it turns out there exist more outliers.",
        "the number of outliers (beyond 1.5 boxes) with raw states minus that with the "
        "Laplacian is above 0",
        more, RH_PAPER__ABOVE, 0.0, "%+.0f outliers", more.value);
    bool puddle = k == 1;
    rh_paper__claim_better(
        paper, side[k].network,
        "Regarding the NN based calibration model, the one using Laplacian representation "
        "input performs better on Puddle World, while the other performs better on Acrobot.",
        puddle ? "NN, Laplacian" : "NN, raw", puddle ? nn : nn_of_raw,
        puddle ? "NN, raw" : "NN, Laplacian", puddle ? nn_of_raw : nn);
    rh_paper__claim_better(
        paper, side[k].effective,
        "The NN calibration model using raw inputs (no Laplacian encoding) was not as "
        "effective.",
        "NN, Laplacian", nn, "NN, raw", nn_of_raw);
    rh_paper__claim_better(
        paper, side[k].knn,
        "In both cases, the KNN based calibration model performs better than the NN-based "
        "calibration model.",
        "kNN, raw", raw, "NN, raw", nn_of_raw);
}

static void draw(rh_paper *paper)
{
    draw_side(paper, 0);
    draw_side(paper, 1);
}

const rh_paper__part rh_paper__raw = {
    .is = {"raw", "Appendix: calibration models with raw states",
           "kNN and networks with raw states beside Laplacian codes"},
    .list = list,
    .draw = draw,
};
