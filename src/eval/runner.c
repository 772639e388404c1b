// runner.c - workers, what they share, and runs one at a time.
//
// 1. A worker keeps its agent, its block of the environment's state and its list of returns
//    from run to run: a run allocates only what its agent needs.
// 2. A runner has feature caches for one set of fixed parameters. Other settings compute their
//    features in every step, which changes no result. The number of sets is not known in
//    advance, and all caches share one memory limit.

#include "eval_internal.h"

#include "base/base.h"
#include "base/text.h"
#include "eval.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define COOKIE 0x6c697665u

static const char *const criterion_name[] = {
    [RH_AVERAGE] = "average", [RH_COMPLETED] = "completed", [RH_MEDIAN] = "median",
    [RH_WORST] = "worst",     [RH_FINAL] = "final",
};

rh_eval_options rh_eval_defaults(const rh_task *task)
{
    return (rh_eval_options){
        .nstep = task->nstep,
        .nrun = 30,
        .seed = 1,
        .nthread = 1,
        .criterion = RH_AVERAGE,
        .cutoff = INT64_MAX,
        .cutoff_rule = RH_TRUNCATE,
        .final_share = 0.1,
        .ncurve = 0,
        .today = NAN,
        .cookie = COOKIE,
    };
}

const char *rh_outcome_name(rh_outcome outcome)
{
    switch (outcome) {
    case RH_FINISHED:
        return "finished";
    case RH_DIVERGED:
        return "diverged";
    case RH_ENV_NONFINITE:
        return "environment not finite";
    case RH_STOPPED:
        return "stopped";
    case RH_FAILED:
        return "failed";
    }
    return "unknown";
}

const char *const *rh_criterion__names(int *n)
{
    *n = sizeof criterion_name / sizeof *criterion_name;
    return criterion_name;
}

rh_status rh_runner__check(const rh_eval_options *o, int nmember, rh_error *err)
{
    if (o->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "eval: options must start from rh_eval_defaults()");
    if (o->nstep < 1)
        return rh_fail(err, RH_EINVAL, "eval: steps = %lld, expected 1 or more",
                       (long long)o->nstep);
    if (o->nrun < 1)
        return rh_fail(err, RH_EINVAL, "eval: runs = %d, expected 1 or more", o->nrun);
    if (o->nthread < 1)
        return rh_fail(err, RH_EINVAL, "eval: threads = %d, expected 1 or more", o->nthread);
    if (o->cutoff < 1)
        return rh_fail(err, RH_EINVAL, "eval: cut-off = %lld, expected 1 or more",
                       (long long)o->cutoff);
    if (!(o->final_share > 0.0 && o->final_share <= 1000.0))
        return rh_fail(err, RH_EINVAL, "eval: final share = %g, expected above 0, to 1000",
                       o->final_share);
    if (o->ncurve < 0 || o->ncurve > o->nstep)
        return rh_fail(err, RH_EINVAL, "eval: curve points = %d, expected 0 to the %lld steps",
                       o->ncurve, (long long)o->nstep);
    if (nmember < 1 || nmember > RH_MAX_MEMBER)
        return rh_fail(err, RH_EINVAL, "eval: %d members, expected 1 to %d", nmember,
                       RH_MAX_MEMBER);
    return RH_OK;
}

// ---------------------------------------------------------------------------- workers

static void free_workers(rh_eval__worker *w, int n)
{
    for (int i = 0; w && i < n; i++) {
        rh_agent_destroy(w[i].agent);
        rh_free(w[i].state);
        rh_free(w[i].returns);
    }
    rh_free(w);
}

static rh_status make_workers(rh_runner *a, int nworker, rh_error *err)
{
    size_t nreturn = a->opt.criterion == RH_MEDIAN ? (size_t)a->opt.nstep : 0;
    rh_eval__worker *w = rh_alloc((size_t)nworker, sizeof *w);
    bool all = w;
    size_t size = 0;
    for (int m = 0; m < a->nmember; m++)
        size = rh_env_state_size(a->env[m]) > size ? rh_env_state_size(a->env[m]) : size;
    for (int i = 0; all && i < nworker; i++) {
        w[i].state = rh_alloc(1, size);
        w[i].returns = nreturn ? rh_alloc(nreturn, sizeof(double)) : NULL;
        all = w[i].state && (w[i].returns || !nreturn);
    }
    if (!all) {
        free_workers(w, nworker);
        return rh_fail(err, RH_ENOMEM, "eval: out of memory for %d threads%s", nworker,
                       nreturn ? " that keep every return for the median" : "");
    }
    a->worker = w;
    a->nworker = nworker;
    return RH_OK;
}

rh_status rh_runner__new_agent(const rh_runner *a, rh_eval__worker *w, const double *hp,
                               rh_error *err)
{
    rh_status rc = w->agent ? rh_contract__agent_reset(w->agent, a->task, hp, err)
                            : rh_agent_create(&w->agent, a->agent, a->task, hp, err);
    if (!rc && a->opt.state)
        rc = rh_agent_load(w->agent, a->opt.state, err);
    if (!rc) {
        rh_agent_freeze(w->agent, a->opt.frozen);
        return RH_OK;
    }
    rh_agent_destroy(w->agent); // it cannot be used after a failure
    w->agent = NULL;
    return rc;
}

bool rh_runner__stopped(rh_runner *a)
{
    if (a->opt.stop && !atomic_load(&a->stopped) && a->opt.stop(a->opt.context))
        atomic_store(&a->stopped, true);
    return atomic_load(&a->stopped);
}

// ---------------------------------------------------------------------------- the runner

// Report errors in settings before the first run: check all values, and create one agent for
// every set of fixed parameters.
static rh_status prepare(rh_runner *a, int nsetting, const double *hp, rh_error *err)
{
    const rh_agent_type *type = a->agent;
    size_t n = (size_t)type->nparam;
    for (int s = 0; s < nsetting; s++) {
        rh_status rc =
            rh_param__check(type->param, type->nparam, type->name, hp + (size_t)s * n, err);
        if (rc)
            return rc;
    }
    rh_status rc = rh_feature_caches__sort(&a->caches, a->env, a->nmember, type, a->task,
                                           nsetting, hp, err);
    for (int i = 0; !rc && i < a->caches.nbuild; i++)
        rc = rh_runner__new_agent(a, &a->worker[0], hp + (size_t)a->caches.first[i] * n, err);
    return rc ? rc : rh_feature_caches__fill(&a->caches, type, a->task, hp, err);
}

rh_status rh_runner__init(rh_runner *runner, rh_env *const *env, int nmember,
                          const rh_agent_type *agent, const rh_task *task, int nsetting,
                          const double *hp, const rh_eval_options *opt, int nworker,
                          rh_error *err)
{
    runner->env = env;
    runner->nmember = nmember;
    runner->agent = agent;
    runner->told = *task;
    runner->told.nstep = opt->nstep;
    runner->task = &runner->told;
    runner->opt = *opt;
    rh_status rc = make_workers(runner, nworker, err);
    return rc ? rc : prepare(runner, nsetting, hp, err);
}

void rh_runner__clear(rh_runner *runner)
{
    rh_feature_caches__clear(&runner->caches);
    free_workers(runner->worker, runner->nworker);
    rh_free(runner->hp);
}

rh_status rh_runner__create(rh_runner **out, rh_env *const *env, int nmember,
                            const rh_agent_type *agent, const rh_task *task, const double *hp,
                            const rh_eval_options *opt, rh_error *err)
{
    rh_eval_options how = opt ? *opt : rh_eval_defaults(task);
    rh_status rc = rh_runner__check(&how, nmember, err);
    if (rc)
        return rc;
    how.watch = NULL;

    rh_runner *runner = rh_alloc(1, sizeof *runner);
    double *own = rh_alloc((size_t)agent->nparam, sizeof *own);
    if (!runner || !own) {
        rc = rh_base__no_memory(err, "eval");
        goto done;
    }
    if (hp && agent->nparam)
        memcpy(own, hp, (size_t)agent->nparam * sizeof *hp);
    else
        rh_param_initial(agent->param, agent->nparam, own);
    runner->hp = own;
    own = NULL;
    rc = rh_runner__init(runner, env, nmember, agent, task, 1, runner->hp, &how, how.nthread,
                         err);
    if (rc)
        goto done;
    *out = runner;
    runner = NULL;

done:
    rh_free(own);
    rh_runner__destroy(runner);
    return rc;
}

void rh_runner__destroy(rh_runner *runner)
{
    if (!runner)
        return;
    rh_runner__clear(runner);
    rh_free(runner);
}

rh_status rh_runner__run(rh_runner *runner, int worker, const double *hp, int member,
                         uint64_t run, rh_result *result, double *curve, rh_error *err)
{
    if (worker < 0 || worker >= runner->nworker)
        return rh_fail(err, RH_EINVAL, "eval: worker = %d, expected 0 to %d", worker,
                       runner->nworker - 1);
    if (member < 0 || member >= runner->nmember)
        return rh_fail(err, RH_EINVAL, "eval: member = %d, expected 0 to %d", member,
                       runner->nmember - 1);
    rh_eval__job job = {.hp = hp, .member = member, .run = run, .curve = curve};
    if (rh_feature_caches__alike(runner->agent, runner->hp, hp))
        job.cache = rh_feature_caches__of(&runner->caches, 0, member);
    return rh_run__run(runner, worker, &job, result, err);
}
