// crew.c - threads that live what they are given.
//
// Units wait in one line, each thread takes the first, and results wait in another until they
// are taken. Who lives a unit, and in what order, changes nothing (eval/life.c).
//
// 1. Threads, not a parallel loop: units come one by one, from a search that decides by what it
//    was told, and nobody waits for the slowest of a batch.
// 2. Room for a result is made when its unit is given, so that a thread that has lived cannot
//    fail to say so, and taking never allocates.
// 3. Signals are for the thread that asked for the crew: those of the crew let none through but
//    the ones that tell of their own faults.
// 4. A crew that is destroyed leaves the lives under way: a flag is looked at every 256 steps.
// 5. Only one thread gives and takes. Between it and the crew all goes through one lock, which
//    is held for moments: a life takes milliseconds at least.

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
typedef struct hand {
    rh_crew *crew;
    int worker; // its number in the arenas
    pthread_t thread;
} hand;

struct rh_crew {
    const rh_agent_type *agent;
    rh_eval_options opt;
    int nthread, nstarted;
    hand *hand; // owned  (nthread)
    int nopen;  // given and not taken; of the one who gives

    pthread_mutex_t lock;       // for what follows
    pthread_cond_t work;        // there is some, or it is time to leave
    pthread_cond_t news;        // there is a result
    bool made;                  // these three exist
    rh_queue todo;              // of rh_unit
    rh_queue done;              // of rh_done
    rh_arena *arena[RH_NSTAGE]; // owned; NULL: not settled
    atomic_bool leaving;
};

// ---------------------------------------------------------------------------- threads

// Asked by the arenas.
static bool must_stop(void *context)
{
    const rh_crew *crew = context;
    return atomic_load(&crew->leaving) || (crew->opt.stop && crew->opt.stop(crew->opt.context));
}

static void live(rh_arena *arena, int worker, const rh_unit *unit, rh_done *done)
{
    memset(done, 0, sizeof *done);
    done->trial = unit->trial;
    done->stage = unit->stage;
    done->member = unit->member;
    done->run = unit->run;
    done->rc = rh_arena_live(arena, worker, unit->hp, unit->member, (uint64_t)unit->run,
                             &done->life, done->curve, &done->err);
}

static void *work(void *context)
{
    const hand *h = context;
    rh_crew *crew = h->crew;
    rh_unit unit;
    rh_done done;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (!atomic_load(&crew->leaving) && crew->todo.n == 0)
            pthread_cond_wait(&crew->work, &crew->lock);
        if (atomic_load(&crew->leaving))
            break;
        rh_queue__pop(&crew->todo, &unit);
        rh_arena *arena = crew->arena[unit.stage];
        pthread_mutex_unlock(&crew->lock);
        live(arena, h->worker, &unit, &done);
        pthread_mutex_lock(&crew->lock);
        rh_queue__push(&crew->done, &done);
        pthread_cond_signal(&crew->news);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static rh_status start(rh_crew *crew, rh_error *err)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    sigset_t none, before;
    sigfillset(&none);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&none, own[i]);
    int fault = pthread_sigmask(SIG_SETMASK, &none, &before);
    for (int i = 0; !fault && i < crew->nthread; i++) {
        hand *h = &crew->hand[i];
        *h = (hand){.crew = crew, .worker = i};
        fault = pthread_create(&h->thread, NULL, work, h);
        crew->nstarted += !fault;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fault)
        return rh_fail(err, RH_EIO, "study: thread %d of %d could not be started: %s",
                       crew->nstarted + 1, crew->nthread, strerror(fault));
    return RH_OK;
}

// Waits are by the clock that nobody sets.
static rh_status make_locks(rh_crew *crew, rh_error *err)
{
    pthread_condattr_t attr;
    int fault = pthread_condattr_init(&attr);
    if (!fault) {
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_mutex_init(&crew->lock, NULL);
        pthread_cond_init(&crew->work, NULL);
        pthread_cond_init(&crew->news, &attr);
        pthread_condattr_destroy(&attr);
        crew->made = true;
    }
    return fault ? rh_fail(err, RH_ENOMEM, "study: out of memory") : RH_OK;
}

// ---------------------------------------------------------------------------- the crew

rh_status rh_crew__create(rh_crew **out, const rh_agent_type *agent, const rh_eval_options *opt,
                          int nthread, rh_error *err)
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
    rh_crew *crew = rh_alloc(1, sizeof *crew);
    if (!crew)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    crew->agent = agent;
    crew->opt = *opt;
    crew->nthread = nthread;
    crew->todo.size = sizeof(rh_unit);
    crew->done.size = sizeof(rh_done);
    crew->hand = rh_alloc((size_t)nthread, sizeof *crew->hand);
    if (!crew->hand) {
        rc = rh_fail(err, RH_ENOMEM, "study: out of memory for %d threads", nthread);
        goto done;
    }
    rc = make_locks(crew, err);
    if (rc)
        goto done;
    rc = start(crew, err);
    if (rc)
        goto done;
    *out = crew;
    crew = NULL;

done:
    rh_crew__destroy(crew);
    return rc;
}

rh_status rh_crew__settle(rh_crew *crew, rh_stage stage, const rh_home *home,
                          const rh_task *task, const double *hp, rh_error *err)
{
    assert(stage < RH_NSTAGE && !crew->arena[stage]);
    rh_eval_options opt = crew->opt;
    opt.nthread = crew->nthread;
    opt.replicate = stage == RH_STAGE_CONFIRM ? RH_STUDY__FRESH : 0;
    opt.stop = must_stop;
    opt.context = crew;
    rh_arena *arena = NULL;
    rh_status rc =
        rh_arena_create(&arena, home->env, home->nmember, crew->agent, task, hp, &opt, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&crew->lock);
    crew->arena[stage] = arena;
    pthread_mutex_unlock(&crew->lock);
    return RH_OK;
}

rh_status rh_crew__reserve(rh_crew *crew, int n, rh_error *err)
{
    pthread_mutex_lock(&crew->lock);
    rh_status rc = rh_queue__reserve(&crew->todo, n, err);
    if (!rc)
        rc = rh_queue__reserve(&crew->done, n, err);
    pthread_mutex_unlock(&crew->lock);
    return rc;
}

rh_status rh_crew__give(rh_crew *crew, const rh_unit *unit, rh_error *err)
{
    rh_status rc = rh_crew__reserve(crew, crew->nopen + 1, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&crew->lock);
    assert(crew->arena[unit->stage]);
    rh_queue__push(&crew->todo, unit);
    pthread_cond_signal(&crew->work);
    pthread_mutex_unlock(&crew->lock);
    crew->nopen++;
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

bool rh_crew__take(rh_crew *crew, rh_done *done, double wait)
{
    struct timespec until = {0};
    if (wait > 0.0)
        until = in_seconds(wait);
    pthread_mutex_lock(&crew->lock);
    bool waiting = wait > 0.0;
    while (waiting && crew->done.n == 0)
        waiting = pthread_cond_timedwait(&crew->news, &crew->lock, &until) != ETIMEDOUT;
    bool there = rh_queue__pop(&crew->done, done);
    pthread_mutex_unlock(&crew->lock);
    crew->nopen -= there;
    return there;
}

int rh_crew__nopen(const rh_crew *crew)
{
    return crew->nopen;
}

void rh_crew__destroy(rh_crew *crew)
{
    if (!crew)
        return;
    if (crew->made) {
        pthread_mutex_lock(&crew->lock);
        atomic_store(&crew->leaving, true);
        pthread_cond_broadcast(&crew->work);
        pthread_mutex_unlock(&crew->lock);
        for (int i = 0; i < crew->nstarted; i++)
            pthread_join(crew->hand[i].thread, NULL);
        pthread_cond_destroy(&crew->work);
        pthread_cond_destroy(&crew->news);
        pthread_mutex_destroy(&crew->lock);
    }
    for (int s = 0; s < RH_NSTAGE; s++)
        rh_arena_destroy(crew->arena[s]);
    rh_queue__clear(&crew->todo);
    rh_queue__clear(&crew->done);
    rh_free(crew->hand);
    rh_free(crew);
}
