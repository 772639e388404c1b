// exp3.c - Experiment 3: the environment changes between log and deployment.
//
// Logs of Acrobot, deployment in an Acrobot whose first link is twice as long and heavy:
//
//     kNN, Laplacian        the setting of Experiment 1 learns from scratch in the changed one
//     Sarsa (True)          a policy learned for 50,000 steps in Acrobot, with the setting that
//     is
//                           best there, frozen
//     FQI, tiles            the policies of Experiment 1
//     Sarsa (Calibration)   the best of ten policies learned in the calibration model, with the
//                           setting chosen there, frozen
//
// The paper's Figure 5. Frozen policies run in the changed Acrobot as often and as long as
// agents that learn.

#include "paper_internal.h"

#include "base/base_internal.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

#define TRUE_STEPS 50000
#define QUICK_TRUE_STEPS 12000

static const rh_paper__problem *const before = &rh_paper__esarsa_acrobot;
static const rh_paper__problem *const after = &rh_paper__esarsa_changed;

// ---------------------------------------------------------------------------- transfer

// Learn in env, and run the best agent, frozen, in the changed Acrobot: "deployed".
static rh_status transfer(const rh_paper *paper, rh_env *env, const rh_eval_options *how,
                          const rh_agent_type *agent, const double *hp, rh_state *out,
                          rh_error *err)
{
    rh_state *state = NULL;
    double score[RH_PAPER__NTRUE];
    double steps = (double)how->nrun * (double)how->nstep;
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    rh_status rc = rh_paper__learn(&state, env, how, agent, hp, err);
    opt.frozen = true;
    opt.state = state;
    if (!rc)
        rc = rh_paper__deploy(paper, after->world, agent, 1, hp, &opt, score, err);
    if (!rc)
        rc = rh_state_put(out, "deployed", score, (size_t)rh_paper__ntrue(paper), err);
    if (!rc)
        rc = rh_state_put(out, "steps", &steps, 1, err);
    rh_state_destroy(state);
    return rc;
}

// ---------------------------------------------------------------------------- Sarsa (True)

static rh_status from_true(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                           rh_error *err)
{
    rh_paper__table table;
    rh_env *env = NULL;
    const rh_agent_type *agent = NULL;
    double hp[RH_MAX_PARAM];
    const double *x = rh_paper__array(paper, cell->after, "x", NULL);
    if (!x || !rh_paper__table_of(paper, before, &table))
        return rh_fail(err, RH_EINVAL, "paper: no table of true scores");
    rh_status rc = rh_paper__setting_of(
        paper, before, x + (size_t)table.best * rh_paper__nparam(before), &agent, hp, err);
    if (!rc)
        rc = rh_paper__env(&env, paper, before->world, false, err);
    if (!rc) {
        rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
        opt.nstep = paper->opt.quick ? QUICK_TRUE_STEPS : TRUE_STEPS;
        opt.nrun = 1;
        opt.seed = paper->opt.seed + (uint64_t)cell->log;
        rc = transfer(paper, env, &opt, agent, hp, out, err);
    }
    rh_env_destroy(env);
    return rc;
}

// ---------------------------------------------------------------------------- Sarsa
// (Calibration)

static rh_status from_model(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                            rh_error *err)
{
    rh_model *model = NULL;
    rh_plan *plan = NULL;
    rh_env *env = NULL;
    const rh_agent_type *agent = NULL;
    double hp[RH_MAX_PARAM];
    const double *x = rh_paper__array(paper, cell->after, "chosen", NULL);
    if (!x)
        return rh_fail(err, RH_EINVAL, "paper: no choice to learn with");
    int shared = paper->cell[cell->after].after;
    rh_status rc = rh_paper__model(&model, paper, shared, err);
    if (!rc)
        rc = rh_paper__plan_of(&plan, paper, before, &rh_paper__knn, cell->log,
                               rh_model_log(model), err);
    if (!rc)
        rc = rh_paper__setting_of(paper, before, x, &agent, hp, err);
    if (!rc)
        rc = rh_plan__env(&env, plan, model, 0, err);
    if (!rc) {
        rh_eval_options opt;
        rc = rh_plan__eval(plan, rh_env_task(env), rh_model_log(model), &opt, err);
        opt.nrun = rh_paper__nrun(paper, before);
        if (!rc)
            rc = transfer(paper, env, &opt, agent, hp, out, err);
    }
    rh_env_destroy(env);
    rh_plan_destroy(plan);
    rh_model_destroy(model);
    return rc;
}

// ---------------------------------------------------------------------------- the list

static rh_paper__cell cell_of(const rh_paper *paper, bool in_model, int log)
{
    const rh_paper__world *w = before->world;
    double nstep = in_model ? rh_paper__nrun(paper, before) * (double)rh_paper__nstep(paper, w)
                   : paper->opt.quick ? QUICK_TRUE_STEPS
                                      : TRUE_STEPS;
    double frozen = rh_paper__ntrue(paper) * (double)rh_paper__nstep(paper, after->world);
    return (rh_paper__cell){.run = in_model ? from_model : from_true,
                            .what = in_model ? "sarsa-calibration" : "sarsa-true",
                            .problem = after,
                            .data = &rh_paper__near_5000,
                            .log = log,
                            .nstep = (int64_t)nstep,
                            .cost = nstep * w->in_env + 0.3 * frozen * w->in_env};
}

static void list(rh_paper *paper)
{
    int truth = rh_paper__truth(paper, before);
    rh_paper__truth(paper, after);
    for (int i = 0; i < paper->opt.nlog; i++) {
        rh_paper__cell cell = cell_of(paper, true, i);
        cell.after = rh_paper__choice(paper, before, &rh_paper__near_5000, &rh_paper__knn, i);
        rh_paper__add(paper, cell);
        cell = cell_of(paper, false, i);
        cell.after = truth;
        rh_paper__add(paper, cell);
    }
    rh_paper__choices(paper, before, &rh_paper__near_5000, &rh_paper__default);
    rh_paper__policies(paper, before, false);
}

// ---------------------------------------------------------------------------- figure, claims

static void of_policies(const rh_paper *paper, bool in_model, double *y)
{
    for (int i = 0; i < paper->opt.nlog; i++) {
        rh_paper__cell like = cell_of(paper, in_model, i);
        y[i] = rh_paper__true_of(paper, rh_paper__find(paper, &like), after);
    }
}

static void draw(rh_paper *paper)
{
    const rh_paper__data *data = &rh_paper__near_5000;
    int nlog = paper->opt.nlog;
    double knn[RH_PAPER_MOST_LOGS], from_env[RH_PAPER_MOST_LOGS], from_log[RH_PAPER_MOST_LOGS],
        ours[RH_PAPER_MOST_LOGS], policy[RH_PAPER_MOST_LOGS];
    rh_paper__table table;
    if (!rh_paper__table_of(paper, after, &table))
        return;
    rh_paper__figure *f = rh_paper__figure_add(
        paper, "exp3", "Changed Acrobot",
        "True return per episode in the changed Acrobot: agents that learn with the setting "
        "chosen from each log, and frozen policies. Line: the best setting of the grid there.",
        RH_PAPER__BOX, table.mean[table.best]);
    rh_paper__column(paper, f, "kNN, Laplacian", before, data, &rh_paper__knn, after, knn);
    of_policies(paper, false, from_env);
    rh_paper__series_add(paper, f, "Sarsa (True)", from_env, nlog);
    of_policies(paper, true, from_log);
    rh_paper__series_add(paper, f, "Sarsa (Calibration)", from_log, nlog);
    rh_paper__policy_scores(paper, before, false, "changed", policy);
    rh_paper__series_add(paper, f, "FQI, tiles", policy, nlog);
    rh_paper__column(paper, f, "Rehearse, default", before, data, &rh_paper__default, after,
                     ours);

    rh_paper__claim_better(
        paper, "3.1 true",
        "Transferring a policy directly learned on the first environment (the Sarsa-True "
        "baseline) performs worse than using our approach to select hyperparameters and then "
        "learning a new policy from scratch.",
        "kNN", knn, "Sarsa (True)", from_env);
    rh_paper__claim_better(
        paper, "3.1 calibration",
        "Our calibration-based approach performs best and appears robust under the abrupt "
        "non-stationarity tested here.",
        "kNN", knn, "Sarsa (Calibration)", from_log);
    rh_paper__claim_better(paper, "3.2 true",
                           "Learning and transferring a policy from the calibration model was "
                           "worse than training on the first environment.",
                           "Sarsa (True)", from_env, "Sarsa (Calibration)", from_log);
    rh_paper__claim_better(
        paper, "3.1 fqi",
        "Our calibration-based approach performs best and appears robust under the abrupt "
        "non-stationarity tested here.",
        "kNN", knn, "FQI", policy);
    rh_paper__claim_better(paper, "3.2 fqi",
                           "Learning and transferring a policy from the calibration model was "
                           "worse than training from the calibration data (as in FQI).",
                           "FQI", policy, "Sarsa (Calibration)", from_log);
    rh_paper__interval median =
        rh_paper__bootstrap((const double *const[]){knn}, 1, nlog, rh_paper__of_median);
    rh_paper__claim(paper, "3.3",
                    "The change of the dynamics does not prevent learning reasonably good "
                    "policies.",
                    "the median of the chosen settings in the changed Acrobot is above the "
                    "median of the grid there",
                    median, RH_PAPER__ABOVE, table.median, "median %.0f, that of the grid %.0f",
                    median.value, table.median);
}

const rh_paper__part rh_paper__exp3 = {
    .is = {"exp3", "Experiment 3: when the environment changes",
           "settings and policies from Acrobot, deployed in a changed Acrobot"},
    .list = list,
    .draw = draw,
};
