// runs.c - many runs on several threads: every setting in every member, nrun times each.
//
// A result depends only on its setting, member and run (run.c), not on the thread or the order.

#include "eval_internal.h"

#include <limits.h>

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif

// All runs. Jobs share it read-only, except for their own results and the failure.
typedef struct batch {
    rh_runner runner;
    const double *hp;  // (nsetting x nparam)
    rh_result *result; // (nsetting x nmember x nrun)
    double *curve;     // (nsetting x nmember x nrun x ncurve), or NULL
    rh_status failed;  // why a run could not begin; written under the lock
    rh_error error;
} batch;

// One unit of work.
static void do_job(batch *b, int i)
{
    const rh_eval_options *opt = &b->runner.opt;
    rh_eval__job job = {.setting = i / opt->nrun / b->runner.nmember,
                        .member = i / opt->nrun % b->runner.nmember,
                        .run = (uint64_t)(i % opt->nrun)};
    job.hp = b->hp + (size_t)job.setting * (size_t)b->runner.agent->nparam;
    job.cache = rh_feature_caches__of(&b->runner.caches, job.setting, job.member);
    job.curve = b->curve ? b->curve + (size_t)i * (size_t)opt->ncurve : NULL;
    rh_error err;
    rh_status rc = rh_run__run(&b->runner, omp_get_thread_num(), &job, &b->result[i], &err);
    if (!rc)
        return;

        // stop the other runs
#pragma omp critical(rh_eval_failed)
    {
        b->failed = rc;
        b->error = err;
    }
    atomic_store(&b->runner.stopped, true);
}

rh_status rh_eval_runs(rh_env *const *env, int nmember, const rh_agent_type *agent,
                       const rh_task *task, int nsetting, const double *hp,
                       const rh_eval_options *opt, rh_result *result, double *curve,
                       rh_error *err)
{
    rh_eval_options how = opt ? *opt : rh_eval_defaults(task);
    batch b = {.hp = hp, .result = result, .curve = curve};
    rh_status rc = rh_runner__check(&how, nmember, err);
    if (rc)
        return rc;
    if (nsetting < 1 || nsetting > INT_MAX / how.nrun / nmember)
        return rh_fail(err, RH_EINVAL,
                       "eval: %d settings of %d runs in %d members, expected 1 to %d in all",
                       nsetting, how.nrun, nmember, INT_MAX);

    int njob = nsetting * nmember * how.nrun;
    int nthread = how.nthread < njob ? how.nthread : njob;
    rc =
        rh_runner__init(&b.runner, env, nmember, agent, task, nsetting, hp, &how, nthread, err);
    if (rc)
        goto done;

#pragma omp parallel for schedule(dynamic) num_threads(nthread)
    for (int i = 0; i < njob; i++)
        do_job(&b, i);

    rc = b.failed;
    if (rc && err)
        *err = b.error;

done:
    rh_runner__clear(&b.runner);
    return rc;
}
