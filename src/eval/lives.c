// lives.c - many lives, on as many threads as are given: every setting in every member, so many
// times each.
//
// A life's result depends on its setting, member and run alone (life.c), so who lives it, and
// when, does not matter.

#include "eval_internal.h"

#include <limits.h>

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif

// All of them. Only read, but for what belongs to one job, and the failure.
typedef struct batch {
    rh_arena arena;
    const double *hp; // (nsetting x nparam)
    rh_life *life;    // (nsetting x nmember x nrun)
    double *curve;    // (nsetting x nmember x nrun x ncurve), or NULL
    rh_status failed; // why a life could not be begun; written under the lock
    rh_error error;
} batch;

// One unit of work.
static void do_job(batch *b, int i)
{
    const rh_eval_options *opt = &b->arena.opt;
    rh_job job = {.setting = i / opt->nrun / b->arena.nmember,
                  .member = i / opt->nrun % b->arena.nmember,
                  .run = (uint64_t)(i % opt->nrun)};
    job.hp = b->hp + (size_t)job.setting * (size_t)b->arena.agent->nparam;
    job.album = rh_albums__of(&b->arena.albums, job.setting, job.member);
    job.curve = b->curve ? b->curve + (size_t)i * (size_t)opt->ncurve : NULL;
    rh_error err;
    rh_status rc = rh_life__live(&b->arena, omp_get_thread_num(), &job, &b->life[i], &err);
    if (!rc)
        return;

        // the others are not worth waiting for
#pragma omp critical(rh_eval_failed)
    {
        b->failed = rc;
        b->error = err;
    }
    atomic_store(&b->arena.stopped, true);
}

rh_status rh_eval_lives(rh_env *const *env, int nmember, const rh_agent_type *agent,
                        const rh_task *task, int nsetting, const double *hp,
                        const rh_eval_options *opt, rh_life *life, double *curve, rh_error *err)
{
    rh_eval_options how = opt ? *opt : rh_eval_defaults(task);
    batch b = {.hp = hp, .life = life, .curve = curve};
    rh_status rc = rh_arena__check(&how, nmember, err);
    if (rc)
        return rc;
    if (nsetting < 1 || nsetting > INT_MAX / how.nrun / nmember)
        return rh_fail(err, RH_EINVAL,
                       "eval: %d settings of %d lives in %d members, expected 1 to %d in all",
                       nsetting, how.nrun, nmember, INT_MAX);

    int njob = nsetting * nmember * how.nrun;
    int nthread = how.nthread < njob ? how.nthread : njob;
    rc = rh_arena__init(&b.arena, env, nmember, agent, task, nsetting, hp, &how, nthread, err);
    if (rc)
        goto done;

#pragma omp parallel for schedule(dynamic) num_threads(nthread)
    for (int i = 0; i < njob; i++)
        do_job(&b, i);

    rc = b.failed;
    if (rc && err)
        *err = b.error;

done:
    rh_arena__clear(&b.arena);
    return rc;
}
