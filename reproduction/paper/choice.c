// choice.c - a setting chosen from a log: a study in a model of the log, kept in memory.
//
// The paper's methods are `tune --preset paper` with another model, representation or search;
// our default is `tune` without a preset. All choose from the same settings.
//
// 1. Where only the choice is asked for, the search is a race: settings that are clearly behind
//    get no more runs. Where all estimates are shown (Experiment 4), it is the whole grid. A
//    race did 317 of 540 runs in Acrobot and chose as the grid did.
// 2. Methods that use the paper's kNN model of a log share it (models.c), and networks share
//    its Laplacian, which takes half as long as a race in the model.
// 3. A setting of a continuous search is in no table: it is run in the simulator, 30 times.
// 4. Our default goes without its check, which does not change the choice: 98 s of CPU time in
//    Acrobot, 21 s in Puddle World, 94 s in Cartpole.

#include "paper_internal.h"
#include "study/study.h"

#include "base/base_internal.h"

#include <string.h>

#define RACE 0.6 // of the grid's runs, measured

const rh_paper__method rh_paper__knn = {
    .name = "knn-laplacian",
    .title = "kNN, Laplacian",
    .key = {{"method", "race"}},
    .quick = {{"representation.steps", "2000"}},
    .shared = true,
    .effort = RACE,
};

const rh_paper__method rh_paper__knn_grid = {
    .name = "knn-laplacian-grid",
    .title = "kNN, Laplacian",
    .key = {{"method", "grid"}},
    .quick = {{"representation.steps", "2000"}},
    .shared = true,
    .effort = 1.0,
};

const rh_paper__method rh_paper__default = {
    .name = "default",
    .title = "Rehearse, default",
    .plain = true,
    .costly = true,
    .key = {{"check", "0"}},
    .quick = {{"evaluation.runs", "4"},
              {"confirm.settings", "2"},
              {"confirm.members", "2"},
              {"confirm.runs", "3"}},
    .effort = 1.6,
    .fit = 12.0,
    .pace = 1.6,
};

// ---------------------------------------------------------------------------- the study

rh_status rh_paper__plan_of(rh_plan **out, const rh_paper *paper,
                            const rh_paper__problem *problem, const rh_paper__method *method,
                            int number, const rh_log *log, rh_error *err)
{
    rh_plan *plan = NULL;
    char seed[32];
    snprintf(seed, sizeof seed, "%llu",
             (unsigned long long)paper->opt.seed + (unsigned long long)number);
    rh_status rc = rh_paper__plan(&plan, paper, RH_PLAN_TUNE, problem, err);
    if (!rc)
        rc = rh_plan_set(plan, "seed", seed, NULL, err);
    if (!rc && !method->plain)
        rc = rh_plan_set(plan, "preset", "paper", NULL, err);
    if (!rc && method->plain && !paper->opt.quick) // as many as `tune` itself does
        rc = rh_plan_set(plan, "evaluation.runs", "30", NULL, err);
    if (!rc)
        rc = rh_paper__set(plan, method->key, err);
    if (!rc && paper->opt.quick)
        rc = rh_paper__set(plan, method->quick, err);
    if (!rc)
        rc = rh_plan_settle(plan, log, err);
    if (!rc) {
        *out = plan;
        plan = NULL;
    }
    rh_plan_destroy(plan);
    return rc;
}

// A model of its own, with the representation of the shared one.
static rh_status fit_to_codes(rh_model **out, const rh_paper *paper, const rh_paper__cell *cell,
                              const rh_plan *plan, const rh_log *log, const rh_log *starts,
                              rh_error *err)
{
    rh_model *shared = NULL;
    rh_fit_options opt = rh_fit_defaults();
    rh_status rc = rh_paper__model(&shared, paper, cell->after, err);
    if (!rc) {
        opt.starts = starts;
        opt.fidelity = false;
        opt.repr = rh_model_repr(shared);
        opt.watch = (rh_watch){.stop = paper->opt.stop, .context = paper->opt.context};
        rc = rh_plan_fit(out, plan, log, &opt, err);
    }
    rh_model_destroy(shared);
    return rc;
}

// A study in the shared model, or in one that is fitted for it. Owned: all.
static rh_status open_study(const rh_paper *paper, const rh_paper__cell *cell, rh_model **model,
                            rh_plan **plan, rh_study **study, rh_log **log, rh_log **starts,
                            rh_error *err)
{
    rh_study_options opt = rh_study_defaults();
    opt.nthread = 1;
    opt.stop = paper->opt.stop;
    opt.context = paper->opt.context;
    rh_status rc = cell->method->shared
                       ? rh_paper__model(model, paper, cell->after, err)
                       : rh_paper__collect(log, starts, paper, cell->problem->world, cell->data,
                                           cell->log, err);
    if (!rc)
        rc = rh_paper__plan_of(plan, paper, cell->problem, cell->method, cell->log,
                               *model ? rh_model_log(*model) : *log, err);
    if (!rc && cell->method->codes)
        rc = fit_to_codes(model, paper, cell, *plan, *log, *starts, err);
    return rc ? rc
              : rh_study_create(study, *plan, *model ? NULL : *log, *starts, *model, &opt, err);
}

// What the search found out about every setting.
static rh_status put_trials(const rh_paper__cell *cell, const rh_plan *plan,
                            const rh_verdict *verdict, rh_state *out, rh_error *err)
{
    const rh_agent_type *agent = rh_plan__agent(plan);
    int n = verdict->ntrial - verdict->nconfirm, nparam = rh_paper__nparam(cell->problem);
    double *x = rh_alloc((size_t)n * (size_t)nparam, sizeof *x);
    double *estimate = rh_alloc((size_t)n, sizeof *estimate);
    double *runs = rh_alloc((size_t)n, sizeof *runs);
    rh_status rc = x && estimate && runs ? RH_OK : rh_base__no_memory(err, "paper");
    for (int i = 0; i < n && !rc; i++) {
        const rh_trial *t = &verdict->trial[i];
        rh_paper__recorded(cell->problem, agent, t->hp, x + (size_t)i * nparam);
        estimate[i] = t->value;
        for (int k = 0; k < t->nmember * t->nrun; k++)
            runs[i] += t->result[k].outcome != RH_STOPPED;
    }
    if (!rc)
        rc = rh_state_put(out, "x", x, (size_t)n * (size_t)nparam, err);
    if (!rc)
        rc = rh_state_put(out, "estimate", estimate, (size_t)n, err);
    if (!rc)
        rc = rh_state_put(out, "runs", runs, (size_t)n, err);
    rh_free(x);
    rh_free(estimate);
    rh_free(runs);
    return rc;
}

static rh_status put_choice(const rh_paper *paper, const rh_paper__cell *cell,
                            const rh_plan *plan, const rh_verdict *verdict, rh_state *out,
                            rh_error *err)
{
    const rh_agent_type *agent = rh_plan__agent(plan);
    const rh_trial *won = &verdict->trial[verdict->winner];
    double x[RH_PAPER__NPARAM], score[RH_PAPER__NTRUE];
    double interval[3] = {won->value, won->lo95, won->hi95};
    int ntrue = rh_paper__ntrue(paper);
    rh_paper__recorded(cell->problem, agent, won->hp, x);
    rh_status rc = rh_state_put(out, "chosen", x, (size_t)rh_paper__nparam(cell->problem), err);
    if (!rc)
        rc = rh_state_put(out, "value", interval, 3, err);
    if (rc || !cell->method->continuous)
        return rc;
    rc = rh_paper__deploy(paper, cell->problem->world, agent, 1, won->hp, NULL, score, err);
    return rc ? rc : rh_state_put(out, "deployed", score, (size_t)ntrue, err);
}

static rh_status choose(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                        rh_error *err)
{
    rh_log *log = NULL, *starts = NULL;
    rh_model *model = NULL;
    rh_plan *plan = NULL;
    rh_study *study = NULL;
    const rh_verdict *verdict = NULL;
    rh_status rc = open_study(paper, cell, &model, &plan, &study, &log, &starts, err);
    if (!rc)
        rc = rh_study_run(study, err);
    if (rc)
        goto done;
    verdict = rh_study_verdict(study);
    if (!verdict) {
        rc = rh_base__no_memory(err, "paper");
        goto done;
    }
    if (verdict->winner < 0) {
        rc = rh_fail(err, RH_EINVAL, "%s: no setting has a finite score", cell->name);
        goto done;
    }
    double steps = (double)verdict->nstep;
    if (cell->method->continuous)
        steps += (double)rh_paper__ntrue(paper) *
                 (double)rh_paper__nstep(paper, cell->problem->world);
    rc = put_choice(paper, cell, plan, verdict, out, err);
    if (!rc)
        rc = put_trials(cell, plan, verdict, out, err);
    if (!rc)
        rc = rh_state_put(out, "steps", &steps, 1, err);

done:
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_model_destroy(model);
    rh_log_destroy(log);
    rh_log_destroy(starts);
    return rc;
}

// ---------------------------------------------------------------------------- the list

int rh_paper__choice(rh_paper *paper, const rh_paper__problem *problem,
                     const rh_paper__data *data, const rh_paper__method *method, int log)
{
    const rh_paper__world *w = problem->world;
    double effort = method->effort;
    double nsetting = effort < 0.0 ? -effort : effort * rh_paper__nsetting(paper, problem);
    if (paper->opt.quick && effort < 0.0)
        nsetting = 12.0;
    double nrun = nsetting * rh_paper__nrun(paper, problem);
    double nstep = nrun * (double)rh_paper__nstep(paper, w);
    double deployed = method->continuous
                          ? (double)rh_paper__ntrue(paper) * (double)rh_paper__nstep(paper, w)
                          : 0.0;
    double fit = paper->opt.quick ? 0.1 * method->fit : method->fit;
    double pace = method->pace > 0.0 ? method->pace : 1.0;
    return rh_paper__add(
        paper,
        (rh_paper__cell){.run = choose,
                         .what = "choice",
                         .problem = problem,
                         .method = method,
                         .data = data,
                         .log = log,
                         .after = method->shared || method->codes
                                      ? rh_paper__model_cell(paper, w, data, log)
                                      : -1,
                         .nstep = (int64_t)(nstep + deployed),
                         .cost = fit + (pace * nstep * w->in_model + deployed * w->in_env) *
                                           problem->slower});
}

void rh_paper__choices(rh_paper *paper, const rh_paper__problem *problem,
                       const rh_paper__data *data, const rh_paper__method *method)
{
    int n = method->costly ? paper->opt.ncostly : paper->opt.nlog;
    for (int i = 0; i < n; i++)
        rh_paper__choice(paper, problem, data, method, i);
}

// ---------------------------------------------------------------------------- looking up

int rh_paper__choice_of(const rh_paper *paper, const rh_paper__problem *problem,
                        const rh_paper__data *data, const rh_paper__method *method, int log)
{
    return rh_paper__find(
        paper,
        &(rh_paper__cell){
            .what = "choice", .problem = problem, .method = method, .data = data, .log = log});
}

int rh_paper__true_of_logs(const rh_paper *paper, const rh_paper__problem *problem,
                           const rh_paper__data *data, const rh_paper__method *method,
                           const rh_paper__problem *table, double *y)
{
    int n = 0;
    for (int i = 0; i < paper->opt.nlog; i++) {
        int cell = rh_paper__choice_of(paper, problem, data, method, i);
        y[i] = rh_paper__true_of(paper, cell, table);
        n += cell >= 0;
    }
    return n;
}

rh_paper__interval rh_paper__as_good_as_best(const rh_paper *paper,
                                             const rh_paper__problem *problem,
                                             const rh_paper__data *data,
                                             const rh_paper__method *method)
{
    rh_paper__table table;
    int n = 0, good = 0;
    bool known = rh_paper__table_of(paper, problem, &table);
    for (int i = 0; i < paper->opt.nlog && known; i++) {
        int cell = rh_paper__choice_of(paper, problem, data, method, i);
        const double *chosen = rh_paper__array(paper, cell, "chosen", NULL);
        int row = chosen ? rh_paper__row_of(paper, problem, chosen) : -1;
        n += row >= 0;
        good += row >= 0 && table.tied[row];
    }
    return rh_paper__wilson(good, n);
}
