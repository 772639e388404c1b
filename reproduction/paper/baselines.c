// baselines.c - what else could choose a setting: replay evaluators and a little of the truth.
//
//     queue, rejection   Mandel et al. (2016): agents learn from logged samples, each used once
//                        (rehearse/replay_eval.h); 10 runs per setting
//     k percent, each    every setting runs once in the true environment, for as many steps as
//     the
//                        log has (Mesbahi et al. 2024): as much interaction as 54 logs
//     k percent, total   all settings share as many steps of the true environment as the log
//     has
//
// The paper cites the first and does not run it. The setting with the best mean is chosen; its
// true score is looked up. A replay that completes no episode with any setting chooses none.

#include "paper_internal.h"

#include "base/base_internal.h"
#include "baseline.h"
#include "offline/replay_eval.h"

#include <math.h>

static const rh_paper__method by_queue = {.name = "queue", .title = "replay, queues"};
static const rh_paper__method by_rejection = {.name = "rejection",
                                              .title = "replay, rejection"};
static const rh_paper__method by_percent = {.name = "k-percent-each", .title = "k %, each"};
static const rh_paper__method by_total = {.name = "k-percent-total", .title = "k %, total"};

// The setting with the greatest value, if any is finite: "chosen".
static rh_status put_best(const rh_paper__problem *problem, const rh_paper__settings *all,
                          const double *value, rh_state *out, rh_error *err)
{
    size_t nparam = (size_t)rh_paper__nparam(problem);
    int best = -1;
    for (int i = 0; i < all->n; i++)
        if (isfinite(value[i]) && (best < 0 || value[i] > value[best]))
            best = i;
    rh_status rc = rh_state_put(out, "x", all->x, (size_t)all->n * nparam, err);
    if (!rc)
        rc = rh_state_put(out, "estimate", value, (size_t)all->n, err);
    if (!rc && best >= 0)
        rc = rh_state_put(out, "chosen", all->x + (size_t)best * nparam, nparam, err);
    return rc;
}

// ---------------------------------------------------------------------------- replay

static rh_status replay(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                        rh_error *err)
{
    rh_paper__settings all = {0};
    rh_log *log = NULL, *starts = NULL;
    rh_env *env = NULL;
    rh_replay_result *result = NULL;
    rh_replay_options opt = rh_replay_defaults();
    double value[RH_PAPER__NSETTING], steps = 0.0, exhausted = 0.0;
    opt.method = cell->method == &by_queue ? RH_REPLAY_QUEUE : RH_REPLAY_REJECTION;
    opt.nrun = rh_paper__nrun(paper, cell->problem);
    opt.nstep = rh_paper__nstep(paper, cell->problem->world);
    opt.seed = paper->opt.seed + (uint64_t)cell->log;
    rh_status rc = rh_paper__settings_of(&all, paper, cell->problem, err);
    if (!rc)
        rc = rh_paper__env(&env, paper, cell->problem->world, false, err);
    if (!rc)
        rc = rh_paper__collect(&log, &starts, paper, cell->problem->world, cell->data,
                               cell->log, err);
    if (rc)
        goto done;
    int nresult = all.n * opt.nrun;
    result = rh_alloc((size_t)nresult, sizeof *result);
    rc = result ? rh_replay_runs(log, all.agent, rh_env_task(env), all.n, all.hp, &opt, result,
                                 err)
                : rh_base__no_memory(err, "paper");
    if (rc)
        goto done;
    for (int i = 0; i < all.n; i++) {
        double sum = 0.0;
        int n = 0;
        for (int r = 0; r < opt.nrun; r++) {
            const rh_replay_result *one = &result[i * opt.nrun + r];
            steps += (double)one->nstep;
            exhausted += one->exhausted;
            sum += isnan(one->score) ? 0.0 : one->score;
            n += !isnan(one->score);
        }
        value[i] = n ? sum / n : NAN;
    }
    double lasted[2] = {steps / nresult, exhausted / nresult};
    rc = put_best(cell->problem, &all, value, out, err);
    if (!rc)
        rc = rh_state_put(out, "lasted", lasted, 2, err);
    if (!rc)
        rc = rh_state_put(out, "steps", &steps, 1, err);

done:
    rh_free(result);
    rh_env_destroy(env);
    rh_log_destroy(log);
    rh_log_destroy(starts);
    rh_paper__settings_clear(&all);
    return rc;
}

// ---------------------------------------------------------------------------- k percent

// Settings in the true environment.
typedef struct trying {
    const rh_paper__settings *all;
    rh_env *env;
    uint64_t seed;
} trying;

// One run of each of n settings.
static rh_status try_some(void *context, const int *setting, int n, int64_t nstep, int round,
                          double *score, rh_error *err)
{
    const trying *t = context;
    const rh_agent_type *agent = t->all->agent;
    rh_env *env = t->env;
    rh_result result;
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    rh_status rc = RH_OK;
    opt.nstep = nstep;
    opt.nrun = 1;
    opt.first_run = (uint64_t)round;
    opt.seed = t->seed;
    for (int i = 0; i < n && !rc; i++) {
        const double *hp = t->all->hp + (size_t)setting[i] * (size_t)agent->nparam;
        rc = rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, hp, &opt, &result, NULL, err);
        score[i] = result.score;
    }
    return rc;
}

// Every setting for as many steps as the log has: "chosen", "steps".
static rh_status try_each(const rh_paper__cell *cell, trying *t, rh_state *out, rh_error *err)
{
    int every_one[RH_PAPER__NSETTING];
    double value[RH_PAPER__NSETTING], steps = (double)cell->data->nstep * t->all->n;
    for (int i = 0; i < t->all->n; i++)
        every_one[i] = i;
    rh_status rc = try_some(t, every_one, t->all->n, cell->data->nstep, 0, value, err);
    if (!rc)
        rc = put_best(cell->problem, t->all, value, out, err);
    return rc ? rc : rh_state_put(out, "steps", &steps, 1, err);
}

static rh_status try_in_all(const rh_paper__cell *cell, trying *t, rh_state *out, rh_error *err)
{
    int chosen = 0;
    int64_t used = 0;
    size_t nparam = (size_t)rh_paper__nparam(cell->problem);
    rh_status rc = rh_baseline_select(t->all->n, cell->data->nstep, t->seed, try_some, t,
                                      &chosen, &used, err);
    double steps = (double)used;
    if (!rc)
        rc = rh_state_put(out, "chosen", t->all->x + (size_t)chosen * nparam, nparam, err);
    return rc ? rc : rh_state_put(out, "steps", &steps, 1, err);
}

static rh_status percent(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                         rh_error *err)
{
    rh_paper__settings all = {0};
    trying t = {.all = &all, .seed = paper->opt.seed + (uint64_t)cell->log};
    rh_status rc = rh_paper__settings_of(&all, paper, cell->problem, err);
    if (!rc)
        rc = rh_paper__env(&t.env, paper, cell->problem->world, false, err);
    if (!rc)
        rc = cell->method == &by_total ? try_in_all(cell, &t, out, err)
                                       : try_each(cell, &t, out, err);
    rh_env_destroy(t.env);
    rh_paper__settings_clear(&all);
    return rc;
}

// ---------------------------------------------------------------------------- the list

static rh_paper__cell cell_of(const rh_paper *paper, const rh_paper__problem *problem,
                              const rh_paper__data *data, const rh_paper__method *method,
                              int log)
{
    bool replays = method == &by_queue || method == &by_rejection;
    rh_paper__cell cell = {.run = replays ? replay : percent,
                           .what = "baseline",
                           .problem = problem,
                           .method = method,
                           .data = data,
                           .log = log,
                           .after = -1};
    double each = replays ? 0.3 * (double)data->nstep * rh_paper__nrun(paper, problem)
                  : method == &by_total
                      ? (double)data->nstep / rh_paper__nsetting(paper, problem)
                      : (double)data->nstep;
    cell.nstep = (int64_t)(each * rh_paper__nsetting(paper, problem));
    cell.cost = 0.5 + (double)cell.nstep * problem->world->in_env;
    return cell;
}

static const rh_paper__method *const every[] = {&by_queue, &by_rejection, &by_percent,
                                                &by_total};
enum { NEVERY = sizeof every / sizeof *every };

void rh_paper__baselines(rh_paper *paper, const rh_paper__problem *problem,
                         const rh_paper__data *data)
{
    for (int m = 0; m < NEVERY; m++)
        for (int i = 0; i < paper->opt.nlog; i++)
            rh_paper__add(paper, cell_of(paper, problem, data, every[m], i));
}

// ---------------------------------------------------------------------------- figure, facts

// How long a replay lasts before it has no sample left.
static void tell_life(rh_paper *paper, const rh_paper__problem *problem,
                      const rh_paper__data *data, const rh_paper__method *method)
{
    double lasted[RH_PAPER_MOST_LOGS], none = 0.0, ended = 0.0;
    int n = 0;
    for (int i = 0; i < paper->opt.nlog; i++) {
        rh_paper__cell like = cell_of(paper, problem, data, method, i);
        int cell = rh_paper__find(paper, &like);
        const double *of = rh_paper__array(paper, cell, "lasted", NULL);
        lasted[i] = of ? of[0] : NAN;
        n += of != NULL;
        ended += of ? of[1] : 0.0;
        none += of && !rh_paper__array(paper, cell, "chosen", NULL);
    }
    if (!n)
        return;
    rh_paper__interval mean = rh_paper__bootstrap((const double *const[]){lasted}, 1,
                                                  paper->opt.nlog, rh_paper__of_mean);
    char what[160], note[200];
    snprintf(what, sizeof what, "%s, %s: steps of a run before it has no sample left",
             problem->world->title, method->title);
    snprintf(
        note, sizeof note,
        "of %lld in the log and %lld to learn; %.0f %% of the runs ran out; no setting could "
        "be chosen from %.0f of %d logs",
        (long long)data->nstep, (long long)rh_paper__nstep(paper, problem->world),
        100.0 * ended / n, none, n);
    rh_paper__fact_add(paper, what, mean.value, (mean.hi95 - mean.lo95) / 3.92, NAN, note);
}

void rh_paper__draw_baselines(rh_paper *paper, const char *id, const char *title,
                              const rh_paper__problem *problem, const rh_paper__data *data,
                              const double *knn)
{
    double y[RH_PAPER_MOST_LOGS];
    rh_paper__table table;
    if (!rh_paper__table_of(paper, problem, &table))
        return;
    rh_paper__figure *f = rh_paper__figure_add(
        paper, id, title,
        "True return per episode of the setting that each baseline chooses; not in the paper. "
        "Line: the best setting of the grid.",
        RH_PAPER__BOX, table.mean[table.best]);
    rh_paper__series_add(paper, f, "kNN, Laplacian", knn, paper->opt.nlog);
    for (int m = 0; m < NEVERY; m++) {
        for (int i = 0; i < paper->opt.nlog; i++) {
            rh_paper__cell like = cell_of(paper, problem, data, every[m], i);
            y[i] = rh_paper__true_of(paper, rh_paper__find(paper, &like), problem);
        }
        rh_paper__series_add(paper, f, every[m]->title, y, paper->opt.nlog);
        tell_life(paper, problem, data, every[m]);
    }
}
