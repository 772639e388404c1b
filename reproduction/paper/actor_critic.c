// actor_critic.c - appendix: the two step sizes of an actor-critic.
//
// Near-optimal logs of 5,000 steps, the paper's grid of 36, and the textbook gradient of the
// actor: the authors' code has weights in place of features there.

#include "paper_internal.h"

#include <math.h>

#define STEPS                                                                                  \
    {                                                                                          \
        "alpha_critic", "actor_ratio"                                                          \
    }
#define SHORTER                                                                                \
    {                                                                                          \
        {"alpha_critic", "0.003,0.03"},                                                        \
        {                                                                                      \
            "actor_ratio", "0.01,0.1,0.3"                                                      \
        }                                                                                      \
    }

static const struct {
    rh_paper__problem problem;
    const rh_paper__problem *sarsa;
    const char *figure, *title;
    const char *top, *random, *worse, *fqi, *larger;
} side[] = {
    {{.name = "actor-critic",
      .world = &rh_paper__acrobot,
      .agent = "actor_critic",
      .grid = {"acrobot:paper", "acrobot:paper"},
      .shorter = SHORTER,
      .param = STEPS,
      .nrun = 10,
      .nsetting = {36, 6},
      .slower = 0.5},
     &rh_paper__esarsa_acrobot,
     "actor-critic-acrobot",
     "Acrobot",
     "1.7 acrobot",
     "A2.1 acrobot",
     "1.8 acrobot",
     "A2.2 acrobot",
     "A2.3 acrobot"},
    {{.name = "actor-critic",
      .world = &rh_paper__puddle,
      .agent = "actor_critic",
      .grid = {"puddle_world:paper", "puddle_world:paper"},
      .shorter = SHORTER,
      .param = STEPS,
      .nrun = 10,
      .nsetting = {36, 6},
      .slower = 0.7},
     &rh_paper__esarsa_puddle,
     "actor-critic-puddle",
     "Puddle World",
     "1.7 puddle",
     "A2.1 puddle",
     "1.8 puddle",
     "A2.2 puddle",
     "A2.3 puddle"},
};

static void list(rh_paper *paper)
{
    for (int k = 0; k < 2; k++) {
        const rh_paper__problem *p = &side[k].problem;
        rh_paper__truth(paper, p);
        rh_paper__truth(paper, side[k].sarsa);
        rh_paper__choices(paper, p, &rh_paper__near_5000, &rh_paper__knn);
        rh_paper__choices(paper, side[k].sarsa, &rh_paper__near_5000, &rh_paper__knn);
        if (!paper->opt.quick)
            rh_paper__choices(paper, p, &rh_paper__near_5000, &rh_paper__default);
        rh_paper__policies(paper, side[k].sarsa, false);
    }
}

// The best of one table against the best of another, by their standard errors.
static rh_paper__interval best_against(const rh_paper__table *a, const rh_paper__table *b)
{
    double difference = a->mean[a->best] - b->mean[b->best];
    double ea = a->error[a->best], eb = b->error[b->best],
           half = 1.96 * sqrt(ea * ea + eb * eb);
    // the interval is over the runs in the simulator: the true tables do not depend on logs
    return (rh_paper__interval){difference, difference - half, difference + half,
                                RH_PAPER__NTRUE};
}

// Mean distance to the best, in units of the best: the first minus the second.
static double of_regrets(const double *const *y, int n, double *work)
{
    return rh_paper__of_mean(&y[0], n, work) - rh_paper__of_mean(&y[1], n, work);
}

static void claim_larger(rh_paper *paper, int k, const rh_paper__table *table,
                         const rh_paper__table *sarsa, const double *knn)
{
    double regret[RH_PAPER_MOST_LOGS], other[RH_PAPER_MOST_LOGS];
    double best = table->mean[table->best], best_other = sarsa->mean[sarsa->best];
    rh_paper__true_of_logs(paper, side[k].sarsa, &rh_paper__near_5000, &rh_paper__knn,
                           side[k].sarsa, other);
    for (int i = 0; i < paper->opt.nlog; i++) {
        regret[i] = (best - knn[i]) / fabs(best);
        other[i] = (best_other - other[i]) / fabs(best_other);
    }
    rh_paper__interval larger = rh_paper__bootstrap((const double *const[]){regret, other}, 2,
                                                    paper->opt.nlog, of_regrets);
    rh_paper__claim(
        paper, side[k].larger,
        "The chosen parameter performance has a relatively larger difference than Expected "
        "Sarsa.",
        "the mean distance of the chosen settings to the best, divided by the best, minus that "
        "of Expected Sarsa is above 0",
        larger, RH_PAPER__ABOVE, 0.0, "%+.3f", larger.value);
}

static void draw_side(rh_paper *paper, int k)
{
    const rh_paper__problem *p = &side[k].problem;
    const rh_paper__data *data = &rh_paper__near_5000;
    double knn[RH_PAPER_MOST_LOGS], chance[RH_PAPER_MOST_LOGS], ours[RH_PAPER_MOST_LOGS],
        policy[RH_PAPER_MOST_LOGS];
    rh_paper__table table, sarsa;
    if (!rh_paper__table_of(paper, p, &table) ||
        !rh_paper__table_of(paper, side[k].sarsa, &sarsa))
        return;
    rh_paper__figure *f = rh_paper__figure_add(
        paper, side[k].figure, side[k].title,
        "True return per episode of the step sizes chosen from each log. Line: the best of the "
        "grid of 36.",
        RH_PAPER__BOX, table.mean[table.best]);
    rh_paper__column(paper, f, "kNN, Laplacian", p, data, &rh_paper__knn, p, knn);
    rh_paper__policy_scores(paper, side[k].sarsa, false, "deployed", policy);
    rh_paper__series_add(paper, f, "FQI, tiles", policy, paper->opt.nlog);
    rh_paper__random(paper, p, chance);
    rh_paper__series_add(paper, f, "Random", chance, paper->opt.nlog);
    rh_paper__column(paper, f, "Rehearse, default", p, data, &rh_paper__default, p, ours);

    rh_paper__interval top = rh_paper__as_good_as_best(paper, p, data, &rh_paper__knn);
    rh_paper__claim(
        paper, side[k].top,
        "The KNN calibration model was able to select top performing hyperparameters for "
        "Actor-critic in both Acrobot and Puddle World.",
        "the share of logs whose choice is the best of the sweep, or statistically tied with "
        "it, is above 1/2",
        top, RH_PAPER__ABOVE, 0.5, "%.0f %% of the logs", 100.0 * top.value);
    rh_paper__claim_better(
        paper, side[k].random,
        "The hyperparameter transfer with calibration model still works better than the random "
        "baseline.",
        "kNN", knn, "Random", chance);
    rh_paper__claim_better(
        paper, side[k].fqi,
        "The hyperparameter transfer with calibration model still works better than FQI policy "
        "transfer.",
        "kNN", knn, "FQI", policy);
    claim_larger(paper, k, &table, &sarsa, knn);
    rh_paper__interval worse = best_against(&table, &sarsa);
    rh_paper__claim(paper, side[k].worse,
                    "The actor-critic agent performed worse than linear Sarsa.",
                    "the best true score of the actor-critic minus that of Expected Sarsa is "
                    "below 0 (interval by the runs in the simulator)",
                    worse, RH_PAPER__BELOW, 0.0, "actor-critic %.1f, Expected Sarsa %.1f",
                    table.mean[table.best], sarsa.mean[sarsa.best]);
}

static void draw(rh_paper *paper)
{
    draw_side(paper, 0);
    draw_side(paper, 1);
}

const rh_paper__part rh_paper__actor_critic = {
    .is = {"actor-critic", "Appendix: an actor-critic",
           "two step sizes of an actor-critic, in Acrobot and Puddle World"},
    .list = list,
    .draw = draw,
};
