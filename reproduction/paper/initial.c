// initial.c - Experiment 4 with agents that do not begin from nothing: the paper's future work.
//
//     none         the setting of Experiment 4, a new agent
//     cloned       action values raised by the preferences of a clone of the logged policy
//                  (rehearse/offline.h), in the model and in deployment; setting and strength
//                  (0.3 or 1) are chosen in the model, 5 runs each
//     calibrated   the setting of Experiment 4; the agent begins with what the best of its runs
//                  in the model learned
//
// Does it help in Cartpole, where models of good policies are too easy?

#include "paper_internal.h"

#include "base/base_internal.h"
#include "offline/offline.h"
#include "study/study.h"

#include <math.h>

#define RUNS 5

static const double strength[] = {0.3, 1.0}; // chosen in the model, see above
enum { NSTRENGTH = sizeof strength / sizeof *strength };

static const rh_paper__problem *const problem = &rh_paper__esarsa_cartpole;

// ---------------------------------------------------------------------------- cloned

// The mean score of a setting in the model, from the clone.
static rh_status try_one(const rh_clone *clone, rh_env *env, const rh_eval_options *how,
                         const rh_agent_type *agent, const double *hp, double force,
                         double *value, rh_error *err)
{
    rh_state *state = NULL;
    rh_result result[RUNS];
    rh_eval_options opt = *how;
    rh_status rc = rh_clone_state(&state, clone, rh_env_task(env), hp, force, err);
    opt.state = state;
    opt.nrun = RUNS;
    opt.ncurve = 0;
    if (!rc)
        rc = rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, hp, &opt, result, NULL, err);
    *value = 0.0;
    for (int i = 0; i < RUNS && !rc; i++) {
        *value += result[i].score / RUNS;
        if (result[i].outcome == RH_STOPPED)
            rc = rh_fail(err, RH_ESTOPPED, "paper: stopped");
    }
    rh_state_destroy(state);
    return rc;
}

// Choose setting and strength in the model, and deploy: "cloned" (ntrue), "chosen", "strength".
static rh_status from_clone(const rh_paper *paper, const rh_clone *clone, rh_env *env,
                            const rh_eval_options *how, rh_state *out, rh_error *err)
{
    rh_paper__settings all = {0};
    rh_state *state = NULL;
    double best = -INFINITY, value, score[RH_PAPER__NTRUE];
    int at = 0, with = 0;
    size_t nparam = (size_t)rh_paper__nparam(problem);
    rh_status rc = rh_paper__settings_of(&all, paper, problem, err);
    for (int k = 0; k < all.n * NSTRENGTH && !rc; k++) {
        const double *hp = all.hp + (size_t)(k / NSTRENGTH) * (size_t)all.agent->nparam;
        rc = try_one(clone, env, how, all.agent, hp, strength[k % NSTRENGTH], &value, err);
        if (!rc && value > best) {
            best = value;
            at = k / NSTRENGTH;
            with = k % NSTRENGTH;
        }
    }
    if (rc)
        goto done;
    const double *hp = all.hp + (size_t)at * (size_t)all.agent->nparam;
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    rc = rh_clone_state(&state, clone, rh_env_task(env), hp, strength[with], err);
    opt.state = state;
    if (!rc)
        rc = rh_paper__deploy(paper, problem->world, all.agent, 1, hp, &opt, score, err);
    if (!rc)
        rc = rh_state_put(out, "cloned", score, (size_t)rh_paper__ntrue(paper), err);
    if (!rc)
        rc = rh_state_put(out, "chosen", all.x + (size_t)at * nparam, nparam, err);
    if (!rc)
        rc = rh_state_put(out, "strength", &strength[with], 1, err);

done:
    rh_state_destroy(state);
    rh_paper__settings_clear(&all);
    return rc;
}

// ---------------------------------------------------------------------------- calibrated

static rh_status from_model(const rh_paper *paper, const double *x, rh_env *env,
                            const rh_eval_options *how, rh_state *out, rh_error *err)
{
    rh_state *state = NULL;
    const rh_agent_type *agent = NULL;
    double hp[RH_MAX_PARAM], score[RH_PAPER__NTRUE];
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    rh_status rc = rh_paper__setting_of(paper, problem, x, &agent, hp, err);
    if (!rc)
        rc = rh_paper__learn(&state, env, how, agent, hp, err);
    opt.state = state;
    if (!rc)
        rc = rh_paper__deploy(paper, problem->world, agent, 1, hp, &opt, score, err);
    if (!rc)
        rc = rh_state_put(out, "calibrated", score, (size_t)rh_paper__ntrue(paper), err);
    rh_state_destroy(state);
    return rc;
}

// ---------------------------------------------------------------------------- the cell

static rh_status begin(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                       rh_error *err)
{
    rh_model *model = NULL;
    rh_plan *plan = NULL;
    rh_env *env = NULL;
    rh_clone *clone = NULL;
    rh_eval_options how = {0};
    const double *x = rh_paper__array(paper, cell->after, "chosen", NULL);
    double steps = (double)cell->nstep;
    if (!x)
        return rh_fail(err, RH_EINVAL, "paper: no choice to begin with");
    rh_status rc = rh_paper__model(&model, paper, paper->cell[cell->after].after, err);
    if (!rc)
        rc = rh_paper__plan_of(&plan, paper, problem, &rh_paper__knn_grid, cell->log,
                               rh_model_log(model), err);
    if (!rc)
        rc = rh_plan__env(&env, plan, model, 0, err);
    if (!rc)
        rc = rh_plan__eval(plan, rh_env_task(env), rh_model_log(model), &how, err);
    how.stop = paper->opt.stop;
    how.context = paper->opt.context;
    if (!rc)
        rc = rh_clone_learn(&clone, rh_model_log(model), rh_env_task(env), NULL, NULL, err);
    if (!rc)
        rc = from_clone(paper, clone, env, &how, out, err);
    if (!rc)
        rc = from_model(paper, x, env, &how, out, err);
    if (!rc)
        rc = rh_state_put(out, "steps", &steps, 1, err);
    rh_clone_destroy(clone);
    rh_env_destroy(env);
    rh_plan_destroy(plan);
    rh_model_destroy(model);
    return rc;
}

static rh_paper__cell cell_of(const rh_paper *paper, const rh_paper__data *data, int log)
{
    const rh_paper__world *w = problem->world;
    int64_t nstep = rh_paper__nstep(paper, w);
    int64_t in_model = nstep * (rh_paper__nsetting(paper, problem) * NSTRENGTH * RUNS +
                                rh_paper__nrun(paper, problem));
    int64_t in_env = 2 * nstep * rh_paper__ntrue(paper);
    return (rh_paper__cell){.run = begin,
                            .what = "initial",
                            .problem = problem,
                            .data = data,
                            .log = log,
                            .nstep = in_model + in_env,
                            .cost =
                                (double)in_model * w->in_model + (double)in_env * w->in_env};
}

void rh_paper__initials(rh_paper *paper, const rh_paper__data *data)
{
    for (int i = 0; i < paper->opt.ncostly; i++) {
        rh_paper__cell cell = cell_of(paper, data, i);
        cell.after = rh_paper__choice(paper, problem, data, &rh_paper__knn_grid, i);
        rh_paper__add(paper, cell);
    }
}

// ---------------------------------------------------------------------------- figure, claims

static void scores_of(const rh_paper *paper, const rh_paper__data *data, const char *what,
                      double *y)
{
    for (int i = 0; i < paper->opt.nlog; i++) {
        rh_paper__cell like = cell_of(paper, data, i);
        size_t n = 0;
        double sum = 0.0;
        const double *score = rh_paper__array(paper, rh_paper__find(paper, &like), what, &n);
        for (size_t k = 0; score && k < n; k++)
            sum += score[k];
        y[i] = score ? sum / (double)n : NAN;
    }
}

void rh_paper__draw_initials(rh_paper *paper, const rh_paper__data *data, int ndata,
                             const char *const *title, const rh_paper__table *table,
                             double (*chosen)[RH_PAPER_MOST_LOGS])
{
    static const char *const cloned_id[3] = {"4.8 cloned, near-optimal", "4.8 cloned, medium",
                                             "4.8 cloned, random"};
    static const char *const model_id[3] = {"4.8 calibrated, near-optimal",
                                            "4.8 calibrated, medium", "4.8 calibrated, random"};
    static const char avoid[] =
        "Extracting a policy initialization from the calibration data (perhaps via behavior "
        "cloning) and then using this initial policy in both hyperparameter selection and "
        "deployment could avoid these problems in Cartpole.";
    double cloned[RH_PAPER_MOST_LOGS] = {0}, calibrated[RH_PAPER_MOST_LOGS] = {0},
           none[RH_PAPER_MOST_LOGS] = {0};
    int nlog = paper->opt.nlog;
    if (!paper->opt.ncostly)
        return;
    rh_paper__figure *f = rh_paper__figure_add(
        paper, "exp4-initial", "Cartpole: agents that do not begin from nothing",
        "True reward in a run: a new agent, one that begins as a clone of the logged policy, "
        "and one that begins with what it learned in the model. Line: the best setting of the "
        "grid, a new agent.",
        RH_PAPER__BOX, table->mean[table->best]);
    for (int d = 0; d < ndata && d < 3; d++) {
        char name[64];
        scores_of(paper, &data[d], "cloned", cloned);
        scores_of(paper, &data[d], "calibrated", calibrated);
        for (int i = 0; i < nlog; i++)
            none[i] = isfinite(cloned[i]) ? chosen[d][i] : NAN;
        snprintf(name, sizeof name, "none: %s", title[d]);
        rh_paper__series_add(paper, f, name, none, nlog);
        snprintf(name, sizeof name, "cloned: %s", title[d]);
        rh_paper__series_add(paper, f, name, cloned, nlog);
        snprintf(name, sizeof name, "calibrated: %s", title[d]);
        rh_paper__series_add(paper, f, name, calibrated, nlog);
        rh_paper__claim_better(paper, cloned_id[d], avoid, "cloned", cloned, "none", none);
        rh_paper__claim_better(paper, model_id[d], avoid, "calibrated", calibrated, "none",
                               none);
    }
}
