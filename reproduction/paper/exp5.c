// exp5.c - Experiment 5: grid, random search, CEM and Bayesian optimisation.
//
// Medium logs of 500 steps; alpha and tau in the paper's ranges, uniform, 5 runs per setting;
// grid of 30, 100 random settings, CEM with the authors' constants (100 iterations of 32 in
// Acrobot, 30 in Puddle World), 5 + 200 settings of Bayesian optimisation. The chosen settings
// run 30 times in the simulator. The paper's Figure 8.
//
// The range (0, 0.1] begins at 1e-6 here.

#include "paper_internal.h"

#include <math.h>

static const rh_paper__data medium = {"medium", 500};

#define FIXED(l)                                                                               \
    {"beta1", "0"}, {"w_init", "0"},                                                           \
    {                                                                                          \
        "lambda", l                                                                            \
    }
#define TUNED                                                                                  \
    {                                                                                          \
        "alpha", "tau"                                                                         \
    }

enum { ACROBOT, PUDDLE, NSIDE };

static const rh_paper__problem grid[NSIDE] = {
    {.name = "exp5-grid",
     .world = &rh_paper__acrobot,
     .agent = "esarsa",
     .axis = {{"alpha", "0.001,0.003,0.01,0.03,0.1"},
              {"tau", "0.0001,1,2,3,4,5"},
              FIXED("0.8")},
     .shorter = {{"alpha", "0.003,0.03,0.1"}, {"tau", "0.0001,1,5"}},
     .param = TUNED,
     .nrun = 5,
     .nsetting = {30, 9},
     .slower = 0.9},
    {.name = "exp5-grid",
     .world = &rh_paper__puddle,
     .agent = "esarsa",
     .axis = {{"alpha", "0.001,0.003,0.01,0.03,0.1"}, {"tau", "1,2,4,6,8,10"}, FIXED("0.1")},
     .shorter = {{"alpha", "0.003,0.03,0.1"}, {"tau", "1,4,10"}},
     .param = TUNED,
     .nrun = 5,
     .nsetting = {30, 9},
     .slower = 0.9},
};

static const rh_paper__problem range[NSIDE] = {
    {.name = "exp5-range",
     .world = &rh_paper__acrobot,
     .agent = "esarsa",
     .axis = {{"alpha", "1e-6:0.1:linear"}, {"tau", "0.0001:5:linear"}, FIXED("0.8")},
     .param = TUNED,
     .nrun = 5,
     .nsetting = {100, 8},
     .slower = 0.9},
    {.name = "exp5-range",
     .world = &rh_paper__puddle,
     .agent = "esarsa",
     .axis = {{"alpha", "1e-6:1:linear"}, {"tau", "0.0001:10:linear"}, FIXED("0.1")},
     .param = TUNED,
     .nrun = 5,
     .nsetting = {100, 8},
     .slower = 0.9},
};

#define SHORT                                                                                  \
    {                                                                                          \
        "representation.steps", "2000"                                                         \
    }

static const rh_paper__method by_grid = {
    .name = "grid",
    .title = "grid search",
    .key = {{"method", "grid"}},
    .quick = {SHORT},
    .shared = true,
    .effort = 1.0,
};

#define CEM(n, iterations)                                                                     \
    {                                                                                          \
        .name = "cem", .title = "CEM",                                                         \
        .key = {{"method", "cem"},                                                             \
                {"method.constants", "released"},                                              \
                {"method.iterations", iterations},                                             \
                {"budget.trials", "3201"}},                                                    \
        .quick = {SHORT, {"method.iterations", "3"}, {"method.population", "8"}},              \
        .shared = true, .costly = true, .continuous = true, .effort = -(n)                     \
    }

static const rh_paper__method by_random = {
    .name = "random-search",
    .title = "random search",
    .key = {{"method", "random"}, {"budget.trials", "100"}},
    .quick = {SHORT, {"budget.trials", "8"}},
    .shared = true,
    .continuous = true,
    .effort = -100.0,
};
static const rh_paper__method by_bayes = {
    .name = "bayes",
    .title = "BO",
    .key = {{"method", "bayes_opt"}, {"budget.trials", "205"}},
    .quick = {SHORT, {"budget.trials", "10"}},
    .shared = true,
    .continuous = true,
    .effort = -205.0,
    .fit = 5.0,
};
static const rh_paper__method by_cem[NSIDE] = {CEM(3200.0, "100"), CEM(960.0, "30")};
static const rh_paper__method by_default = {
    .name = "default-range",
    .title = "Rehearse, default",
    .plain = true,
    .costly = true,
    .key = {{"check", "0"}},
    .quick = {{"budget.trials", "8"},
              {"confirm.settings", "2"},
              {"confirm.members", "2"},
              {"confirm.runs", "3"}},
    .continuous = true,
    .effort = -350.0,
    .fit = 12.0,
    .pace = 1.6,
};

enum { RANDOM, BAYES, CROSS, DEFAULT, NMETHOD };

static const rh_paper__method *const method[NSIDE][NMETHOD] = {
    {&by_random, &by_bayes, &by_cem[ACROBOT], &by_default},
    {&by_random, &by_bayes, &by_cem[PUDDLE], &by_default},
};

static void list(rh_paper *paper)
{
    for (int k = 0; k < NSIDE; k++) {
        rh_paper__truth(paper, &grid[k]);
        rh_paper__choices(paper, &grid[k], &medium, &by_grid);
        for (int m = 0; m < NMETHOD; m++)
            rh_paper__choices(paper, &range[k], &medium, method[k][m]);
    }
}

// ---------------------------------------------------------------------------- figures, claims

static const struct {
    const char *figure, *title;
    const char *beats[NMETHOD], *well[NMETHOD], *grid_well, *best, *comparable;
} side[NSIDE] = {
    {"exp5-acrobot",
     "Acrobot",
     {"5.1 acrobot, random", "5.1 acrobot, BO", "5.1 acrobot, CEM", "5.4 acrobot, default"},
     {"5.2 acrobot, random", "5.2 acrobot, BO", "5.2 acrobot, CEM", NULL},
     "5.2 acrobot, grid",
     "5.3 acrobot",
     "5.5 acrobot"},
    {"exp5-puddle",
     "Puddle World",
     {"5.1 puddle, random", "5.1 puddle, BO", "5.1 puddle, CEM", "5.4 puddle, default"},
     {"5.2 puddle, random", "5.2 puddle, BO", "5.2 puddle, CEM", NULL},
     "5.2 puddle, grid",
     "5.3 puddle",
     "5.5 puddle"},
};

static void claim_well(rh_paper *paper, const char *id, const rh_paper__table *table,
                       const double *y)
{
    rh_paper__interval i = rh_paper__bootstrap((const double *const[]){y}, 1, paper->opt.nlog,
                                               rh_paper__of_median);
    rh_paper__claim(
        paper, id,
        "Generally, all four approaches perform well, highlighting the robustness of using the "
        "calibration model.",
        "the median of the chosen settings is above that of the true scores of the grid", i,
        RH_PAPER__ABOVE, table->median, "median %.1f, that of the grid %.1f", i.value,
        table->median);
}

static void claim_comparable(rh_paper *paper, const char *id, const rh_paper__table *table,
                             const double *y, const double *by)
{
    double scale = table->mean[table->best] - table->median;
    rh_paper__interval i = rh_paper__bootstrap((const double *const[]){y, by}, 2,
                                               paper->opt.nlog, rh_paper__of_medians);
    i.value /= scale;
    i.lo95 /= scale;
    i.hi95 /= scale;
    rh_paper__claim(paper, id, "Random search is better or comparable to grid search.",
                    "the difference of the medians, divided by the distance from the best "
                    "setting of the grid to its median, is above -0.1",
                    i, RH_PAPER__ABOVE, -0.1, "medians differ by %+.3f of the grid", i.value);
}

// The authors' numbers for Puddle World, read from a figure of their repository.
static void tell_released(rh_paper *paper, const double *by, const double *cem)
{
    static const char note[] = "theirs with 15,000 steps per run, read from images/exp5.png";
    rh_paper__interval i = rh_paper__bootstrap((const double *const[]){by}, 1, paper->opt.nlog,
                                               rh_paper__of_median);
    rh_paper__fact_add(paper, "Puddle World, grid search: median true score", i.value,
                       (i.hi95 - i.lo95) / 3.92, -36.5, note);
    i = rh_paper__bootstrap((const double *const[]){cem}, 1, paper->opt.nlog,
                            rh_paper__of_median);
    rh_paper__fact_add(paper, "Puddle World, CEM: median true score", i.value,
                       (i.hi95 - i.lo95) / 3.92, -31.0, note);
}

static void draw_side(rh_paper *paper, int k)
{
    int nlog = paper->opt.nlog;
    double by[RH_PAPER_MOST_LOGS], y[RH_PAPER_MOST_LOGS];
    rh_paper__table table;
    if (!rh_paper__table_of(paper, &grid[k], &table))
        return;
    double best = table.mean[table.best];
    rh_paper__figure *f = rh_paper__figure_add(paper, side[k].figure, side[k].title,
                                               "True return per episode of the setting that "
                                               "each search chose in the model of each log. "
                                               "Line: the best setting of the grid.",
                                               RH_PAPER__BOX, best);
    rh_paper__column(paper, f, "grid search", &grid[k], &medium, &by_grid, &grid[k], by);
    claim_well(paper, side[k].grid_well, &table, by);
    for (int m = 0; m < NMETHOD; m++) {
        if (!rh_paper__column(paper, f, method[k][m]->title, &range[k], &medium, method[k][m],
                              &range[k], y))
            continue;
        rh_paper__claim_better(paper, side[k].beats[m],
                               m == DEFAULT
                                   ? "(ours) The default of Rehearse outperforms grid search."
                                   : "Random search, Bayesian optimization and CEM outperform "
                                     "grid search.",
                               method[k][m]->title, y, "grid search", by);
        if (side[k].well[m])
            claim_well(paper, side[k].well[m], &table, y);
        if (m == RANDOM)
            claim_comparable(paper, side[k].comparable, &table, y, by);
        if (m == CROSS && k == PUDDLE)
            tell_released(paper, by, y);
        if (m == CROSS) {
            rh_paper__interval i =
                rh_paper__bootstrap((const double *const[]){y}, 1, nlog, rh_paper__of_median);
            rh_paper__claim(
                paper, side[k].best,
                "Even when tuning only on the calibration model, the agent can outperform the "
                "best hyperparameters found by a grid search on the true environment. This is "
                "why the return for CEM is higher than the dotted line.",
                "the median of the settings that CEM chose is above the true score of the best "
                "setting of the grid",
                i, RH_PAPER__ABOVE, best, "median %.1f, best of the grid %.1f", i.value, best);
        }
    }
}

// Improvement of CEM on grid search in Puddle World minus that in Acrobot.
static double of_improvements(const double *const *y, int n, double *work)
{
    return rh_paper__of_medians(&y[0], n, work) - rh_paper__of_medians(&y[2], n, work);
}

static void claim_stark(rh_paper *paper)
{
    double y[4][RH_PAPER_MOST_LOGS]; // CEM and grid search in Puddle World, then in Acrobot
    rh_paper__table table;
    for (int k = 0; k < NSIDE; k++) {
        double *cem = y[k == PUDDLE ? 0 : 2], *by = y[k == PUDDLE ? 1 : 3];
        if (!rh_paper__table_of(paper, &grid[k], &table))
            return;
        double best = fabs(table.mean[table.best]);
        rh_paper__true_of_logs(paper, &range[k], &medium, method[k][CROSS], &range[k], cem);
        rh_paper__true_of_logs(paper, &grid[k], &medium, &by_grid, &grid[k], by);
        for (int i = 0; i < paper->opt.nlog; i++) {
            cem[i] /= best;
            by[i] /= best;
        }
    }
    rh_paper__interval i = rh_paper__bootstrap((const double *const[]){y[0], y[1], y[2], y[3]},
                                               4, paper->opt.nlog, of_improvements);
    rh_paper__claim(
        paper, "5.6", "The performance improvements are especially stark in Puddle World.",
        "the improvement of CEM on grid search (medians, divided by the best of the grid) in "
        "Puddle World minus that in Acrobot is above 0",
        i, RH_PAPER__ABOVE, 0.0, "%+.3f", i.value);
}

static void draw(rh_paper *paper)
{
    for (int k = 0; k < NSIDE; k++)
        draw_side(paper, k);
    claim_stark(paper);
}

const rh_paper__part rh_paper__exp5 = {
    .is = {"exp5", "Experiment 5: alternative optimisation approaches",
           "grid, random search, CEM and Bayesian optimisation in continuous ranges"},
    .list = list,
    .draw = draw,
};
