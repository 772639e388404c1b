// exp4.c - Experiment 4: Cartpole, where the method fails.
//
// Logs of 10,000 steps of near-optimal, medium and random policies; the whole grid of 54
// settings, 10 runs each, because all estimates are shown: the paper's Figure 7. The released
// numbers are the quartiles of the authors' plotting code (docs/paper.md).

#include "paper_internal.h"

#include <math.h>
#include <string.h>

enum { NEAR, MEDIUM, RANDOM, NDATA };

static const rh_paper__data data[NDATA] = {
    {"near-optimal", 10000}, {"medium", 10000}, {"random", 10000}};
static const char *const title[NDATA] = {"near-optimal data", "medium data", "random data"};

// Quartiles and median: true value of the selected setting, and all estimates.
static const double released_true[NDATA][3] = {
    {-5106, -5104, -5092}, {-5106, -3672, -3672}, {-1368, -1366, -1131}};
static const double released_estimate[NDATA][3] = {
    {-547, -335, -100}, {-977, -643, -275}, {-4566, -2152, -2072}};

// True scores for alpha = 0.03: beta1 0 and 0.9, tau 0.1, 1, 10, w_init 0, 6, 12.
static const double released_table[18] = {-1130.7, -645.2,  -1386.4, -1809.6, -1542.4, -1131.0,
                                          -2201.3, -2218.4, -2236.6, -3671.6, -1368.0, -1476.0,
                                          -1843.5, -1589.2, -1366.3, -2206.9, -2218.8, -2236.4};

static const char *const default_id[NDATA] = {"4.9 default, near-optimal",
                                              "4.9 default, medium", "4.9 default, random"};

static const rh_paper__problem *const problem = &rh_paper__esarsa_cartpole;

// The published code of the Laplacian does not minimise its loss: its codes are close to those
// of a network that was never trained.
static const rh_paper__method by_random_codes = {
    .name = "knn-random",
    .title = "kNN, untrained network",
    .key = {{"representation.kind", "random"},
            {"representation.d", "8"},
            {"representation.hidden", "128"},
            {"representation.scale", "range"},
            {"method", "grid"}},
    .costly = true,
    .effort = 1.0,
    .fit = 1.0,
};
static const rh_paper__method by_raw = {
    .name = "knn-raw-grid",
    .title = "kNN, raw",
    .key = {{"representation.kind", "raw"}, {"method", "grid"}},
    .costly = true,
    .effort = 1.0,
    .fit = 1.0,
};

static void list(rh_paper *paper)
{
    rh_paper__truth(paper, problem);
    rh_paper__failures(paper, &data[NEAR]);
    rh_paper__failures(paper, &data[RANDOM]);
    for (int d = 0; d < NDATA; d++) {
        rh_paper__choices(paper, problem, &data[d], &by_random_codes);
        rh_paper__choices(paper, problem, &data[d], &by_raw);
        rh_paper__choices(paper, problem, &data[d], &rh_paper__knn_grid);
        rh_paper__choices(paper, problem, &data[d], &rh_paper__default);
        rh_paper__initials(paper, &data[d]);
    }
}

// ---------------------------------------------------------------------------- estimates

// What a model says of its settings, log by log.
typedef struct estimates {
    double best[RH_PAPER_MOST_LOGS];     // the best estimate
    double above[RH_PAPER_MOST_LOGS];    // share of settings with an estimate above their truth
    double below[RH_PAPER_MOST_LOGS];    // and below
    double spread[RH_PAPER_MOST_LOGS];   // interquartile range
    double spearman[RH_PAPER_MOST_LOGS]; // rank correlation with the truth
    double *all;                         // owned: all of them              (nlog x n)
    int n;
} estimates;

// Ranks from 0, ties shared.
static void rank(const double *x, int n, double *out)
{
    for (int i = 0; i < n; i++) {
        out[i] = 0.0;
        for (int j = 0; j < n; j++)
            out[i] += (x[j] < x[i]) + 0.5 * (x[j] == x[i] && j != i);
    }
}

static double spearman(const double *x, const double *y, int n)
{
    double rx[RH_PAPER__NSETTING], ry[RH_PAPER__NSETTING], xx = 0.0, yy = 0.0, xy = 0.0,
                                                           middle = 0.5 * (n - 1);
    rank(x, n, rx);
    rank(y, n, ry);
    for (int i = 0; i < n; i++) {
        xx += (rx[i] - middle) * (rx[i] - middle);
        yy += (ry[i] - middle) * (ry[i] - middle);
        xy += (rx[i] - middle) * (ry[i] - middle);
    }
    return xx > 0.0 && yy > 0.0 ? xy / sqrt(xx * yy) : NAN;
}

static void look(const double *estimate, const rh_paper__table *table, estimates *e, int log)
{
    double work[RH_PAPER__NSETTING];
    int n = table->n, above = 0, below = 0;
    rh_summary s = rh_summarise(estimate, n, work);
    for (int i = 0; i < n; i++) {
        above += estimate[i] > table->mean[i];
        below += estimate[i] < table->mean[i];
    }
    e->best[log] = s.max;
    e->spread[log] = s.q75 - s.q25;
    e->above[log] = (double)above / n;
    e->below[log] = (double)below / n;
    e->spearman[log] = spearman(estimate, table->mean, n);
    memcpy(e->all + (size_t)e->n, estimate, (size_t)n * sizeof *estimate);
    e->n += n;
}

static void look_at_all(const rh_paper *paper, const rh_paper__data *d,
                        const rh_paper__table *table, estimates *e)
{
    for (int i = 0; i < paper->opt.nlog; i++) {
        size_t n = 0;
        int cell = rh_paper__choice_of(paper, problem, d, &rh_paper__knn_grid, i);
        const double *estimate = rh_paper__array(paper, cell, "estimate", &n);
        e->best[i] = e->above[i] = e->below[i] = e->spread[i] = e->spearman[i] = NAN;
        if (estimate && (int)n == table->n)
            look(estimate, table, e, i);
    }
}

// ---------------------------------------------------------------------------- claims

static void claim_choices(rh_paper *paper, const rh_paper__table *table,
                          double (*chosen)[RH_PAPER_MOST_LOGS], const double *chance)
{
    static const char fails[] =
        "The hyperparameter chosen with the calibration model using random data performs "
        "somewhat reasonably, but fails for both the medium and near-optimal policies.";
    int nlog = paper->opt.nlog;
    double best = table->mean[table->best];
    rh_paper__claim_better(paper, "4.1 reasonable", fails, "random data", chosen[RANDOM],
                           "Random", chance);
    rh_paper__claim_better(paper, "4.1 medium fails", fails, "Random", chance, "medium data",
                           chosen[MEDIUM]);
    rh_paper__claim_better(paper, "4.1 near-optimal fails", fails, "Random", chance,
                           "near-optimal data", chosen[NEAR]);
    rh_paper__claim_better(paper, "4.2 medium",
                           "The random policy produced the best calibration model.",
                           "random data", chosen[RANDOM], "medium data", chosen[MEDIUM]);
    rh_paper__claim_better(paper, "4.2 near-optimal",
                           "The random policy produced the best calibration model.",
                           "random data", chosen[RANDOM], "near-optimal data", chosen[NEAR]);
    rh_paper__interval median = rh_paper__bootstrap((const double *const[]){chosen[RANDOM]}, 1,
                                                    nlog, rh_paper__of_median);
    rh_paper__claim(
        paper, "4.3",
        "Nevertheless, the performance was still poor because there were no examples of "
        "balancing the pole for many consecutive steps.",
        "the median of the choices from random data is below the true score of the best "
        "setting",
        median, RH_PAPER__BELOW, best, "median %.0f, best setting %.0f", median.value, best);
}

static void claim_estimates(rh_paper *paper, const rh_paper__table *table, const estimates *e)
{
    static const char inflate[] =
        "Calibration with the medium and near-optimal policy models incorrectly inflate the "
        "performance of many hyperparameter combinations.";
    static const char *const id[] = {"4.6 near-optimal", "4.6 medium"};
    int nlog = paper->opt.nlog;
    rh_paper__interval i =
        rh_paper__bootstrap((const double *const[]){e[NEAR].spread, e[RANDOM].spread}, 2, nlog,
                            rh_paper__of_medians);
    rh_paper__claim(paper, "4.4",
                    "Most hyperparameters appear good in calibration when the model is "
                    "constructed with data from a near-optimal policy; there is a large spread "
                    "when it is constructed with data from the random policy.",
                    "the median interquartile range of the estimates from near-optimal data "
                    "minus that from random data is below 0",
                    i, RH_PAPER__BELOW, 0.0, "interquartile ranges differ by %.0f", i.value);
    double tenth = 0.1 * table->mean[table->best];
    i = rh_paper__bootstrap((const double *const[]){e[NEAR].best}, 1, nlog,
                            rh_paper__of_median);
    rh_paper__claim(
        paper, "4.10",
        "The calibration model for the near-optimal policy never simulated dropping the pole.",
        "the median of the best estimate from near-optimal data is above a tenth of the true "
        "score of the best setting (fewer than a tenth of its failures)",
        i, RH_PAPER__ABOVE, tenth, "best estimate %.1f, true score %.0f", i.value,
        10.0 * tenth);
    for (int d = NEAR; d <= MEDIUM; d++) {
        static const char *const which[] = {"4.5 near-optimal", "4.5 medium"};
        i = rh_paper__bootstrap((const double *const[]){e[RANDOM].best, e[d].best}, 2, nlog,
                                rh_paper__of_medians);
        rh_paper__claim(paper, which[d],
                        "None of the grey dots (random data) appear as low on the y-axis "
                        "compared with the blue and orange dots.",
                        "the median of the best estimate from random data minus that from the "
                        "other data is below 0",
                        i, RH_PAPER__BELOW, 0.0, "best estimates differ by %.0f", i.value);
    }
    for (int d = NEAR; d <= MEDIUM; d++) {
        i = rh_paper__bootstrap((const double *const[]){e[d].above}, 1, nlog,
                                rh_paper__of_mean);
        rh_paper__claim(paper, id[d], inflate,
                        "the mean share of settings whose estimate is above the truth is above "
                        "1/2",
                        i, RH_PAPER__ABOVE, 0.5, "%.0f %% of the settings", 100.0 * i.value);
    }
    i = rh_paper__bootstrap((const double *const[]){e[RANDOM].below}, 1, nlog,
                            rh_paper__of_mean);
    rh_paper__claim(
        paper, "4.7",
        "Calibration with the random-policy model potentially undervalues some hyperparameter "
        "combinations.",
        "the mean share of settings whose estimate is below the truth is above 0.05", i,
        RH_PAPER__ABOVE, 0.05, "%.0f %% of the settings", 100.0 * i.value);
}

// ---------------------------------------------------------------------------- figures

static void draw_table(rh_paper *paper, const rh_paper__table *table)
{
    static const double beta1[] = {0.0, 0.9}, tau[] = {0.1, 1.0, 10.0}, w[] = {0.0, 6.0, 12.0};
    for (int i = 0; i < 18; i++) {
        double x[] = {0.03, beta1[i / 9], tau[i / 3 % 3], w[i % 3]};
        int row = rh_paper__row_of(paper, problem, x);
        char what[160];
        snprintf(what, sizeof what, "true score: alpha 0.03, beta1 %g, tau %g, w_init %g", x[1],
                 x[2], x[3]);
        if (row >= 0)
            rh_paper__fact_add(paper, what, table->mean[row], table->error[row],
                               paper->opt.quick ? NAN : released_table[i],
                               paper->opt.quick ? "shorter runs than the authors'" : "");
    }
}

static void draw_ranks(rh_paper *paper, const estimates *e)
{
    static const double released[NDATA] = {-0.45, -0.13, 0.67};
    for (int d = 0; d < NDATA; d++) {
        char what[160];
        rh_paper__interval i = rh_paper__bootstrap((const double *const[]){e[d].spearman}, 1,
                                                   paper->opt.nlog, rh_paper__of_mean);
        snprintf(what, sizeof what, "mean rank correlation of estimates with the truth, %s",
                 title[d]);
        rh_paper__fact_add(paper, what, i.value, (i.hi95 - i.lo95) / 3.92, released[d], "");
    }
}

static void draw_metrics(rh_paper *paper, const rh_paper__table *table,
                         double (*chosen)[RH_PAPER_MOST_LOGS])
{
    double y[RH_PAPER_MOST_LOGS], laplacian[RH_PAPER_MOST_LOGS];
    if (!paper->opt.ncostly)
        return;
    rh_paper__figure *f = rh_paper__figure_add(
        paper, "exp4-metrics", "Cartpole: metrics",
        "True reward in a run of the setting chosen from each log, by the codes in which "
        "neighbours are near: the Laplacian, those of an untrained network, to which the "
        "authors' code is close, and raw states. Line: the best setting of the grid.",
        RH_PAPER__BOX, table->mean[table->best]);
    for (int d = 0; d < NDATA; d++) {
        char name[64];
        for (int i = 0; i < paper->opt.nlog; i++)
            laplacian[i] = i < paper->opt.ncostly ? chosen[d][i] : NAN;
        snprintf(name, sizeof name, "Laplacian: %s", title[d]);
        rh_paper__series_add(paper, f, name, laplacian, paper->opt.nlog);
        snprintf(name, sizeof name, "untrained: %s", title[d]);
        rh_paper__column(paper, f, name, problem, &data[d], &by_random_codes, problem, y);
        if (f && !paper->opt.quick)
            rh_paper__released(f, f->nseries - 1, released_true[d][0], released_true[d][1],
                               released_true[d][2]);
        snprintf(name, sizeof name, "raw: %s", title[d]);
        rh_paper__column(paper, f, name, problem, &data[d], &by_raw, problem, y);
    }
}

static void draw(rh_paper *paper)
{
    rh_paper__table table;
    int nlog = paper->opt.nlog;
    double chance[RH_PAPER_MOST_LOGS];
    double(*chosen)[RH_PAPER_MOST_LOGS] = rh_alloc(2 * (size_t)NDATA, sizeof *chosen);
    estimates *e = rh_alloc(NDATA, sizeof *e);
    if (!chosen || !e)
        paper->bad = true;
    if (paper->bad || !rh_paper__table_of(paper, problem, &table))
        goto done;
    double(*ours)[RH_PAPER_MOST_LOGS] = chosen + NDATA;
    rh_paper__figure *f = rh_paper__figure_add(
        paper, "exp4-chosen", "Cartpole: chosen settings",
        "True reward in a run (minus the number of failures) of the setting chosen from each "
        "log. Line: the best setting of the grid.",
        RH_PAPER__BOX, table.mean[table.best]);
    rh_paper__random(paper, problem, chance);
    for (int d = 0; d < NDATA; d++) {
        rh_paper__column(paper, f, title[d], problem, &data[d], &rh_paper__knn_grid, problem,
                         chosen[d]);
        if (f && !paper->opt.quick)
            rh_paper__released(f, f->nseries - 1, released_true[d][0], released_true[d][1],
                               released_true[d][2]);
    }
    int random = rh_paper__series_add(paper, f, "Random", chance, nlog);
    if (!paper->opt.quick)
        rh_paper__released(f, random, -3551, -2205, -1609);
    for (int d = 0; d < NDATA; d++) {
        char name[64];
        snprintf(name, sizeof name, "default: %s", title[d]);
        rh_paper__column(paper, f, name, problem, &data[d], &rh_paper__default, problem,
                         ours[d]);
    }

    f = rh_paper__figure_add(
        paper, "exp4-estimates", "Cartpole: all estimates",
        "The score of every setting in the model of every log, best first, and the true "
        "scores.",
        RH_PAPER__DOTS, table.mean[table.best]);
    for (int d = 0; d < NDATA; d++) {
        e[d].all = rh_alloc((size_t)nlog * RH_PAPER__NSETTING, sizeof *e[d].all);
        if (!e[d].all) {
            paper->bad = true;
            goto done;
        }
        look_at_all(paper, &data[d], &table, &e[d]);
        int s = rh_paper__series_add(paper, f, title[d], e[d].all, e[d].n);
        if (!paper->opt.quick)
            rh_paper__released(f, s, released_estimate[d][0], released_estimate[d][1],
                               released_estimate[d][2]);
    }
    rh_paper__series_add(paper, f, "true scores", table.mean, table.n);
    draw_table(paper, &table);
    draw_ranks(paper, e);
    claim_choices(paper, &table, chosen, chance);
    claim_estimates(paper, &table, e);
    for (int d = 0; d < NDATA && paper->opt.ncostly; d++)
        rh_paper__claim_better(paper, default_id[d],
                               "(ours) The default of Rehearse chooses better than the paper's "
                               "method.",
                               "default", ours[d], "kNN", chosen[d]);
    rh_paper__draw_failures(paper, &data[NEAR], &data[RANDOM]);
    draw_metrics(paper, &table, chosen);
    rh_paper__draw_initials(paper, data, NDATA, title, &table, chosen);

done:
    for (int d = 0; d < NDATA && e; d++)
        rh_free(e[d].all);
    rh_free(e);
    rh_free(chosen);
}

const rh_paper__part rh_paper__exp4 = {
    .is = {"exp4", "Experiment 4: a failure case",
           "noisy continuing Cartpole: random, medium and near-optimal data, all estimates"},
    .list = list,
    .draw = draw,
};
