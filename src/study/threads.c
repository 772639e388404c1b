// threads.c - threads that live what they are given.
//
// Units wait in one line, each thread takes the first, and results wait in another until they
// are taken. Who runs a unit, and in what order, changes nothing (eval/run.c).
//
// 1. Threads, not a parallel loop: units come one by one, from a search that decides by what it
//    was told, and nobody waits for the slowest of a batch.
// 2. Room for a result is made when its unit is given, so that a thread that has run cannot
//    fail to say so, and taking never allocates.
// 3. Signals are for the thread that asked for the thread pool: those of the thread pool let
// none through but
//    the ones that tell of their own faults.
// 4. A thread pool that is destroyed leaves the runs under way: a flag is looked at every 256
// steps.
// 5. Only one thread gives and takes. Between it and the thread pool all goes through one lock,
// which
//    is held for moments: a run takes milliseconds at least.

#include "queue.h"
#include "study_internal.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

// What a thread is told at its birth.
typedef struct worker_thread {
    rh_threads *threads;
    int worker; // its number in the runners
    pthread_t thread;
} worker_thread;

struct rh_threads {
    const rh_agent_type *agent;
    rh_eval_options opt;
    int nthread, nstarted;
    worker_thread *worker_thread; // owned  (nthread)
    int nopen;                    // given and not taken; of the one who gives

    pthread_mutex_t lock;         // for what follows
    pthread_cond_t work;          // there is some, or it is time to leave
    pthread_cond_t progress;      // there is a result
    bool made;                    // these three exist
    rh_queue todo;                // of rh_study__unit
    rh_queue done;                // of rh_study__done
    rh_runner *runner[RH_NSTAGE]; // owned; NULL: not settled
    atomic_bool leaving;
};

// ---------------------------------------------------------------------------- threads

// Asked by the runners.
static bool must_stop(void *context)
{
    const rh_threads *threads = context;
    return atomic_load(&threads->leaving) ||
           (threads->opt.stop && threads->opt.stop(threads->opt.context));
}

static void live(rh_runner *runner, int worker, const rh_study__unit *unit,
                 rh_study__done *done)
{
    memset(done, 0, sizeof *done);
    done->trial = unit->trial;
    done->stage = unit->stage;
    done->member = unit->member;
    done->run = unit->run;
    done->rc = rh_runner_run(runner, worker, unit->hp, unit->member, (uint64_t)unit->run,
                             &done->result, done->curve, &done->err);
}

static void *work(void *context)
{
    const worker_thread *h = context;
    rh_threads *threads = h->threads;
    rh_study__unit unit;
    rh_study__done done;
    pthread_mutex_lock(&threads->lock);
    for (;;) {
        while (!atomic_load(&threads->leaving) && threads->todo.n == 0)
            pthread_cond_wait(&threads->work, &threads->lock);
        if (atomic_load(&threads->leaving))
            break;
        rh_queue__pop(&threads->todo, &unit);
        rh_runner *runner = threads->runner[unit.stage];
        pthread_mutex_unlock(&threads->lock);
        live(runner, h->worker, &unit, &done);
        pthread_mutex_lock(&threads->lock);
        rh_queue__push(&threads->done, &done);
        pthread_cond_signal(&threads->progress);
    }
    pthread_mutex_unlock(&threads->lock);
    return NULL;
}

static rh_status start(rh_threads *threads, rh_error *err)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    sigset_t none, before;
    sigfillset(&none);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&none, own[i]);
    int fault = pthread_sigmask(SIG_SETMASK, &none, &before);
    for (int i = 0; !fault && i < threads->nthread; i++) {
        worker_thread *h = &threads->worker_thread[i];
        *h = (worker_thread){.threads = threads, .worker = i};
        fault = pthread_create(&h->thread, NULL, work, h);
        threads->nstarted += !fault;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fault)
        return rh_fail(err, RH_EIO, "study: thread %d of %d could not be started: %s",
                       threads->nstarted + 1, threads->nthread, strerror(fault));
    return RH_OK;
}

// Waits are by the clock that nobody sets.
static rh_status make_locks(rh_threads *threads, rh_error *err)
{
    pthread_condattr_t attr;
    int fault = pthread_condattr_init(&attr);
    if (!fault) {
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_mutex_init(&threads->lock, NULL);
        pthread_cond_init(&threads->work, NULL);
        pthread_cond_init(&threads->progress, &attr);
        pthread_condattr_destroy(&attr);
        threads->made = true;
    }
    return fault ? rh_fail(err, RH_ENOMEM, "study: out of memory") : RH_OK;
}

// ---------------------------------------------------------------------------- the thread pool

rh_status rh_threads__create(rh_threads **out, const rh_agent_type *agent,
                             const rh_eval_options *opt, int nthread, rh_error *err)
{
    if (nthread < 1)
        return rh_fail(err, RH_EINVAL, "study: threads = %d, expected 1 or more", nthread);
    if (opt->ncurve > RH_STUDY__NCURVE)
        return rh_fail(err, RH_EINVAL, "study: curve points = %d, expected 0 to %d",
                       opt->ncurve, RH_STUDY__NCURVE);
    if (agent->nparam > RH_STUDY__NHP)
        return rh_fail(err, RH_EINVAL, "study: agent %s has %d parameters, expected at most %d",
                       agent->name, agent->nparam, RH_STUDY__NHP);
    rh_status rc = RH_OK;
    rh_threads *threads = rh_alloc(1, sizeof *threads);
    if (!threads)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    threads->agent = agent;
    threads->opt = *opt;
    threads->nthread = nthread;
    threads->todo.size = sizeof(rh_study__unit);
    threads->done.size = sizeof(rh_study__done);
    threads->worker_thread = rh_alloc((size_t)nthread, sizeof *threads->worker_thread);
    if (!threads->worker_thread) {
        rc = rh_fail(err, RH_ENOMEM, "study: out of memory for %d threads", nthread);
        goto done;
    }
    rc = make_locks(threads, err);
    if (rc)
        goto done;
    rc = start(threads, err);
    if (rc)
        goto done;
    *out = threads;
    threads = NULL;

done:
    rh_threads__destroy(threads);
    return rc;
}

rh_status rh_threads__settle(rh_threads *threads, rh_stage stage, const rh_members *members,
                             const rh_task *task, const double *hp, rh_error *err)
{
    assert(stage < RH_NSTAGE && !threads->runner[stage]);
    rh_eval_options opt = threads->opt;
    opt.nthread = threads->nthread;
    opt.replicate = stage == RH_STAGE_CONFIRM ? RH_STUDY__FRESH : 0;
    opt.stop = must_stop;
    opt.context = threads;
    rh_runner *runner = NULL;
    rh_status rc = rh_runner_create(&runner, members->env, members->nmember, threads->agent,
                                    task, hp, &opt, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&threads->lock);
    threads->runner[stage] = runner;
    pthread_mutex_unlock(&threads->lock);
    return RH_OK;
}

rh_status rh_threads__reserve(rh_threads *threads, int n, rh_error *err)
{
    pthread_mutex_lock(&threads->lock);
    rh_status rc = rh_queue__reserve(&threads->todo, n, err);
    if (!rc)
        rc = rh_queue__reserve(&threads->done, n, err);
    pthread_mutex_unlock(&threads->lock);
    return rc;
}

rh_status rh_threads__give(rh_threads *threads, const rh_study__unit *unit, rh_error *err)
{
    rh_status rc = rh_threads__reserve(threads, threads->nopen + 1, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&threads->lock);
    assert(threads->runner[unit->stage]);
    rh_queue__push(&threads->todo, unit);
    pthread_cond_signal(&threads->work);
    pthread_mutex_unlock(&threads->lock);
    threads->nopen++;
    return RH_OK;
}

// The time that is so many seconds from now; a wait of a century is as good as any longer one.
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

bool rh_threads__take(rh_threads *threads, rh_study__done *done, double wait)
{
    struct timespec until = {0};
    if (wait > 0.0)
        until = in_seconds(wait);
    pthread_mutex_lock(&threads->lock);
    bool waiting = wait > 0.0;
    while (waiting && threads->done.n == 0)
        waiting =
            pthread_cond_timedwait(&threads->progress, &threads->lock, &until) != ETIMEDOUT;
    bool there = rh_queue__pop(&threads->done, done);
    pthread_mutex_unlock(&threads->lock);
    threads->nopen -= there;
    return there;
}

int rh_threads__nopen(const rh_threads *threads)
{
    return threads->nopen;
}

void rh_threads__destroy(rh_threads *threads)
{
    if (!threads)
        return;
    if (threads->made) {
        pthread_mutex_lock(&threads->lock);
        atomic_store(&threads->leaving, true);
        pthread_cond_broadcast(&threads->work);
        pthread_mutex_unlock(&threads->lock);
        for (int i = 0; i < threads->nstarted; i++)
            pthread_join(threads->worker_thread[i].thread, NULL);
        pthread_cond_destroy(&threads->work);
        pthread_cond_destroy(&threads->progress);
        pthread_mutex_destroy(&threads->lock);
    }
    for (int s = 0; s < RH_NSTAGE; s++)
        rh_runner_destroy(threads->runner[s]);
    rh_queue__clear(&threads->todo);
    rh_queue__clear(&threads->done);
    rh_free(threads->worker_thread);
    rh_free(threads);
}
