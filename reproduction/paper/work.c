// work.c - cells on several threads.
//
// 1. Each thread takes the costliest cell that can be begun; the last cells are then short. The
//    order changes no result: a cell is a function of the options alone.
// 2. A cell is done on one thread. Its result is kept in its file before it counts.
// 3. The calling thread waits, reports progress and asks whether to stop; signals reach it
//    alone.
// 4. After a failure no further cell begins. The first failure is reported.

#include "base/base.h"
#include "paper_internal.h"

#include "base/base_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define WAIT 100000000L // nanoseconds between two looks of the calling thread

typedef struct pool {
    rh_paper *paper;
    pthread_mutex_t lock;       // guards everything below, and which cells are taken and done
    pthread_cond_t news;        // a cell is done, or a thread has ended
    int nworking;               // threads that have not ended
    double cost, resumed;       // of cells that are done; of these, found in the folder
    double all;                 // of all cells
    int ncell, ndone, nresumed; // of this part
    int last;                   // cell just finished; -1: none
    rh_status rc;
    rh_error err;
    atomic_bool stop;
} pool;

// ---------------------------------------------------------------------------- time

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---------------------------------------------------------------------------- threads

static bool ready(const rh_paper *paper, const rh_paper__cell *cell)
{
    return !cell->taken && !cell->done && !cell->skipped &&
           (cell->after < 0 || paper->cell[cell->after].done);
}

// The costliest cell that can be begun, -1: none. *wait: one may become ready.
static int take(pool *p, bool *wait)
{
    rh_paper *paper = p->paper;
    int best = -1;
    *wait = false;
    for (int i = 0; i < paper->ncell; i++) {
        const rh_paper__cell *cell = &paper->cell[i];
        *wait = *wait || (!cell->done && !cell->skipped);
        if (ready(paper, cell) && (best < 0 || cell->cost > paper->cell[best].cost))
            best = i;
    }
    if (best >= 0)
        paper->cell[best].taken = true;
    return best;
}

static rh_status do_cell(pool *p, int at, rh_state **result, rh_error *err)
{
    const rh_paper *paper = p->paper;
    const rh_paper__cell *cell = &paper->cell[at];
    rh_status rc = rh_state__create(result, err);
    if (!rc)
        rc = cell->run(paper, cell, *result, err);
    if (!rc)
        rc = rh_paper__keep(paper, at, *result, err);
    return rc;
}

// A finished or failed cell; the lock is held.
static void settle(pool *p, int at, rh_status rc, rh_state *result, double wall, double cpu,
                   const rh_error *err)
{
    rh_paper__cell *cell = &p->paper->cell[at];
    rh_error why = *err;
    if (!rc) {
        cell->result = result;
        cell->done = true;
        p->cost += cell->cost;
        p->ndone++;
        p->last = at;
        rc = rh_paper__note_work(p->paper, at, wall, cpu, &why);
    } else {
        rh_state_destroy(result);
    }
    if (rc && !p->rc) {
        p->rc = rc;
        p->err = why;
    }
}

static void *work(void *context)
{
    pool *p = context;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        bool wait = false;
        int at = p->rc || atomic_load(&p->stop) ? -1 : take(p, &wait);
        if (at < 0 && !wait)
            break;
        if (at < 0) { // another thread does what the rest needs
            pthread_cond_wait(&p->news, &p->lock);
            continue;
        }
        int sharing = p->nworking;
        pthread_mutex_unlock(&p->lock);
        rh_state *result = NULL;
        rh_error err = {""};
        double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        rh_status rc = do_cell(p, at, &result, &err);
        wall = seconds_of(CLOCK_MONOTONIC) - wall;
        cpu = (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) / sharing;
        pthread_mutex_lock(&p->lock);
        settle(p, at, rc, result, wall, cpu, &err);
        pthread_cond_broadcast(&p->news);
    }
    p->nworking--;
    pthread_cond_broadcast(&p->news);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

// ---------------------------------------------------------------------------- the battery

static void tell(pool *p)
{
    const rh_paper_options *opt = &p->paper->opt;
    double all = p->all > 0.0 ? p->all : 1.0;
    rh_paper_progress news = {.ncell = p->ncell,
                              .ndone = p->ndone,
                              .nresumed = p->nresumed,
                              .share = p->cost / all,
                              .share_resumed = p->resumed / all,
                              .cell = p->last < 0 ? NULL : p->paper->cell[p->last].name};
    p->last = -1;
    if (opt->progress)
        opt->progress(opt->context, &news);
    if (opt->stop && opt->stop(opt->context))
        atomic_store(&p->stop, true);
}

static void watch(pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->nworking > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&p->news, &p->lock, &until);
        tell(p);
    }
    pthread_mutex_unlock(&p->lock);
}

static rh_status start(pool *p, pthread_t *thread, int nthread, int *nstarted, rh_error *err)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    sigset_t none, before;
    sigfillset(&none);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&none, own[i]);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    int fault = 0;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < nthread && !fault; i++) {
        fault = pthread_create(&thread[i], NULL, work, p);
        *nstarted += !fault;
        p->nworking += !fault;
    }
    pthread_mutex_unlock(&p->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!fault || *nstarted > 0)
        return RH_OK;
    return rh_fail(err, RH_EIO, "paper: cannot start a thread: %s", strerror(fault));
}

// What other parts do, unless a cell of this part needs it. Every cell comes after what it
// needs.
static void skip_others(rh_paper *paper)
{
    const rh_paper_options *opt = &paper->opt;
    for (int i = 0; i < paper->ncell; i++)
        paper->cell[i].skipped = i % opt->nparts != opt->part;
    for (int i = paper->ncell - 1; i >= 0; i--)
        if (!paper->cell[i].skipped && paper->cell[i].after >= 0)
            paper->cell[paper->cell[i].after].skipped = false;
}

rh_status rh_paper__work(rh_paper *paper, rh_error *err)
{
    pool p = {.paper = paper, .last = -1};
    int nthread = paper->opt.nthread, nstarted = 0;
    skip_others(paper);
    for (int i = 0; i < paper->ncell; i++) {
        rh_paper__cell *cell = &paper->cell[i];
        cell->taken = false;
        if (cell->skipped)
            continue;
        p.ncell++;
        p.all += cell->cost;
        p.cost += cell->done ? cell->cost : 0.0;
        p.ndone += cell->done;
    }
    p.nresumed = p.ndone;
    p.resumed = p.cost;
    if (p.ndone == p.ncell)
        return RH_OK;
    pthread_t *thread = rh_alloc((size_t)nthread, sizeof *thread);
    if (!thread)
        return rh_base__no_memory(err, "paper");
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.news, NULL);
    rh_status rc = start(&p, thread, nthread, &nstarted, err);
    if (!rc)
        watch(&p);
    for (int i = 0; i < nstarted; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&p.lock);
    pthread_cond_destroy(&p.news);
    rh_free(thread);
    if (rc)
        return rc;
    if (atomic_load(&p.stop))
        return rh_fail(err, RH_ESTOPPED, "paper: stopped, %d of %d cells are done", p.ndone,
                       p.ncell);
    if (p.rc && err)
        *err = p.err;
    return p.rc;
}
