// threads.c - the thread pool of this process.
//
// Units wait in one queue, each thread takes the first, and results wait in another queue until
// they are taken. Which thread does a unit, and in what order, changes no result (eval/run.c).
//
// 1. Threads instead of a parallel loop: units come one by one, from a search that decides by
//    earlier results, and no thread waits for the slowest of a batch.
// 2. Space for a result is reserved with its unit: delivering and taking need no memory.
// 3. Signals reach the thread that created the pool: the others block all but their own faults.
// 4. Destroying a pool abandons the runs under way: they poll a flag every 256 steps.
// 5. Only one thread gives and takes. One lock guards what it shares with the pool, and is held
//    for moments: a run takes milliseconds at least.

#include "queue.h"
#include "study_internal.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

// What a thread is given at its start.
typedef struct worker_thread {
    rh_threads *pool;
    int worker; // its number in the runners
    pthread_t thread;
} worker_thread;

struct rh_threads {
    const rh_remote *remote; // borrowed: who does the runs; NULL: the threads
    rh_study__agents agents;
    rh_eval_options opt;
    int nthread, nstarted;
    worker_thread *worker_thread; // owned  (nthread)
    int nopen;                    // given and not taken; of the giving thread
    bool added[RH_NSTAGE];        // stages; of the same thread

    pthread_mutex_t lock;                          // guards everything below
    pthread_cond_t work;                           // there is a unit, or the pool ends
    pthread_cond_t progress;                       // there is a result
    bool made;                                     // lock, work and progress are initialised
    rh_queue todo;                                 // of rh_study__unit
    rh_queue done;                                 // of rh_study__done
    rh_runner *runner[RH_NSTAGE][RH_PLAN__AGENTS]; // owned; NULL: stage not added, or remote
    int first[RH_NSTAGE];                          // number of their first member
    atomic_bool leaving;                           // the pool ends
};

// ---------------------------------------------------------------------------- threads

// Polled by the runners.
static bool must_stop(void *context)
{
    const rh_threads *pool = context;
    return atomic_load(&pool->leaving) || (pool->opt.stop && pool->opt.stop(pool->opt.context));
}

void rh_threads__do(rh_runner *runner, int worker, int first, const rh_study__unit *unit,
                    rh_study__done *done)
{
    memset(done, 0, sizeof *done);
    done->run.trial = unit->trial;
    done->run.stage = unit->stage;
    done->run.member = unit->member;
    done->run.run = unit->run;
    done->rc =
        rh_runner__run(runner, worker, unit->hp, unit->member - first, (uint64_t)unit->run,
                       &done->run.result, done->run.curve, &done->err);
}

static void *work(void *context)
{
    const worker_thread *h = context;
    rh_threads *pool = h->pool;
    rh_study__unit unit;
    rh_study__done done;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!atomic_load(&pool->leaving) && pool->todo.n == 0)
            pthread_cond_wait(&pool->work, &pool->lock);
        if (atomic_load(&pool->leaving))
            break;
        rh_queue__pop(&pool->todo, &unit);
        rh_runner *runner = pool->runner[unit.stage][unit.agent];
        int first = pool->first[unit.stage];
        pthread_mutex_unlock(&pool->lock);
        if (pool->remote)
            rh_remote__run(pool->remote, &unit, must_stop, pool, &done);
        else
            rh_threads__do(runner, h->worker, first, &unit, &done);
        pthread_mutex_lock(&pool->lock);
        rh_queue__push(&pool->done, &done);
        pthread_cond_signal(&pool->progress);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static rh_status start(rh_threads *pool, rh_error *err)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    sigset_t none, before;
    sigfillset(&none);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&none, own[i]);
    int fault = pthread_sigmask(SIG_SETMASK, &none, &before);
    for (int i = 0; !fault && i < pool->nthread; i++) {
        worker_thread *h = &pool->worker_thread[i];
        *h = (worker_thread){.pool = pool, .worker = i};
        fault = pthread_create(&h->thread, NULL, work, h);
        pool->nstarted += !fault;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fault)
        return rh_fail(err, RH_EIO, "study: cannot start thread %d of %d: %s",
                       pool->nstarted + 1, pool->nthread, strerror(fault));
    return RH_OK;
}

// Waits use the monotonic clock, which is never set.
static rh_status make_locks(rh_threads *pool, rh_error *err)
{
    pthread_condattr_t attr;
    int fault = pthread_condattr_init(&attr);
    if (!fault) {
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_mutex_init(&pool->lock, NULL);
        pthread_cond_init(&pool->work, NULL);
        pthread_cond_init(&pool->progress, &attr);
        pthread_condattr_destroy(&attr);
        pool->made = true;
    }
    return fault ? rh_base__no_memory(err, "study") : RH_OK;
}

// ---------------------------------------------------------------------------- the thread pool

rh_study__agents rh_study__agents_of(const rh_plan *plan)
{
    rh_study__agents agents = {.n = plan->agents.n};
    for (int i = 0; i < agents.n; i++) {
        agents.type[i] = plan->agents.type[i];
        agents.hp[i] = rh_plan__own(plan, i);
    }
    return agents;
}

rh_status rh_threads__create(rh_threads **out, const rh_study__agents *agents,
                             const rh_eval_options *opt, int nthread, const rh_remote *remote,
                             rh_error *err)
{
    if (nthread < 1)
        return rh_fail(err, RH_EINVAL, "study: threads = %d, expected 1 or more", nthread);
    if (opt->ncurve > RH_STUDY__NCURVE)
        return rh_fail(err, RH_EINVAL, "study: curve points = %d, expected 0 to %d",
                       opt->ncurve, RH_STUDY__NCURVE);
    for (int i = 0; i < agents->n; i++)
        if (agents->type[i]->nparam > RH_STUDY__NHP)
            return rh_fail(err, RH_EINVAL,
                           "study: agent %s has %d parameters, expected at most %d",
                           agents->type[i]->name, agents->type[i]->nparam, RH_STUDY__NHP);
    rh_status rc = RH_OK;
    rh_threads *pool = rh_alloc(1, sizeof *pool);
    if (!pool)
        return rh_base__no_memory(err, "study");
    pool->remote = remote;
    pool->agents = *agents;
    pool->opt = *opt;
    pool->nthread = nthread;
    pool->todo.size = sizeof(rh_study__unit);
    pool->done.size = sizeof(rh_study__done);
    pool->worker_thread = rh_alloc((size_t)nthread, sizeof *pool->worker_thread);
    if (!pool->worker_thread) {
        rc = rh_fail(err, RH_ENOMEM, "study: out of memory for %d threads", nthread);
        goto done;
    }
    rc = make_locks(pool, err);
    if (rc)
        goto done;
    rc = start(pool, err);
    if (rc)
        goto done;
    *out = pool;
    pool = NULL;

done:
    rh_threads__destroy(pool);
    return rc;
}

uint64_t rh_study__replicate(rh_stage stage)
{
    switch (stage) {
    case RH_STAGE_CONFIRM:
        return RH_STUDY__FRESH;
    case RH_STAGE_CHECK:
        return RH_STUDY__CHECK;
    case RH_STAGE_FIT:
    case RH_STAGE_SEARCH:
    case RH_NSTAGE:
        break;
    }
    return 0;
}

rh_status rh_threads__add_stage(rh_threads *pool, rh_stage stage, const rh_members *members,
                                const rh_task *task, rh_error *err)
{
    if ((unsigned)stage >= RH_NSTAGE || pool->added[stage] || pool->runner[stage][0])
        return rh_fail(err, RH_EINVAL, "study: stage %d, expected a stage that was not added",
                       (int)stage);
    rh_eval_options opt = pool->opt;
    opt.nthread = pool->nthread;
    opt.replicate = rh_study__replicate(stage) + (uint64_t)members->first;
    opt.stop = must_stop;
    opt.context = pool;
    rh_members__watch(members, &opt);
    rh_status rc = RH_OK;
    for (int i = 0; i < pool->agents.n && !pool->remote && !rc; i++) {
        rh_runner *runner = NULL;
        rc = rh_runner__create(&runner, members->env, members->nmember, pool->agents.type[i],
                               task, pool->agents.hp[i], &opt, err);
        pthread_mutex_lock(&pool->lock);
        pool->runner[stage][i] = runner;
        pool->first[stage] = members->first;
        pthread_mutex_unlock(&pool->lock);
    }
    pool->added[stage] = !rc;
    return rc;
}

bool rh_threads__drop_stage(rh_threads *pool, rh_stage stage)
{
    if (rh_threads__nopen(pool) > 0 || pool->remote)
        return false;
    pool->added[stage] = false;
    for (int i = 0; i < pool->agents.n; i++) {
        pthread_mutex_lock(&pool->lock);
        rh_runner *runner = pool->runner[stage][i];
        pool->runner[stage][i] = NULL;
        pthread_mutex_unlock(&pool->lock);
        rh_runner__destroy(runner);
    }
    return true;
}

rh_status rh_threads__reserve(rh_threads *pool, int n, rh_error *err)
{
    pthread_mutex_lock(&pool->lock);
    rh_status rc = rh_queue__reserve(&pool->todo, n, err);
    if (!rc)
        rc = rh_queue__reserve(&pool->done, n, err);
    pthread_mutex_unlock(&pool->lock);
    return rc;
}

rh_status rh_threads__give(rh_threads *pool, const rh_study__unit *unit, rh_error *err)
{
    if ((unsigned)unit->stage >= RH_NSTAGE || unit->agent < 0 ||
        unit->agent >= pool->agents.n || !pool->added[unit->stage])
        return rh_fail(
            err, RH_EINVAL,
            "study: a unit of stage %d and agent %d, expected a stage that was added",
            (int)unit->stage, unit->agent);
    rh_status rc = rh_threads__reserve(pool, pool->nopen + 1, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&pool->lock);
    rh_queue__push(&pool->todo, unit);
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    pool->nopen++;
    return RH_OK;
}

// The time so many seconds from now, a century at most.
static struct timespec in_seconds(double wait)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    wait = fmin(wait, 3e9);
    t.tv_sec += (time_t)wait;
    t.tv_nsec += (long)((wait - floor(wait)) * 1e9);
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

bool rh_threads__take(rh_threads *pool, rh_study__done *done, double wait)
{
    struct timespec until = {0};
    if (wait > 0.0)
        until = in_seconds(wait);
    pthread_mutex_lock(&pool->lock);
    bool waiting = wait > 0.0;
    while (waiting && pool->done.n == 0)
        waiting = pthread_cond_timedwait(&pool->progress, &pool->lock, &until) != ETIMEDOUT;
    bool there = rh_queue__pop(&pool->done, done);
    pthread_mutex_unlock(&pool->lock);
    pool->nopen -= there;
    return there;
}

int rh_threads__nopen(const rh_threads *pool)
{
    return pool->nopen;
}

void rh_threads__destroy(rh_threads *pool)
{
    if (!pool)
        return;
    if (pool->made) {
        pthread_mutex_lock(&pool->lock);
        atomic_store(&pool->leaving, true);
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < pool->nstarted; i++)
            pthread_join(pool->worker_thread[i].thread, NULL);
        pthread_cond_destroy(&pool->work);
        pthread_cond_destroy(&pool->progress);
        pthread_mutex_destroy(&pool->lock);
    }
    for (int s = 0; s < RH_NSTAGE; s++)
        for (int i = 0; i < RH_PLAN__AGENTS; i++)
            rh_runner__destroy(pool->runner[s][i]);
    rh_queue__clear(&pool->todo);
    rh_queue__clear(&pool->done);
    rh_free(pool->worker_thread);
    rh_free(pool);
}
