// workers.c - the thread pool of this process and those of the other ranks, as one.
//
// Units wait here; every rank is given two for each thread, one to run and one that is ready
// next. The rest waits for a free rank, so a slow machine delays only what it has begun.
//
// 1. Rank 0 runs units too; its pool is like any rank. Without others it gets all at once.
// 2. A result does not depend on the rank that computed it.
// 3. A model is sent as the bytes of its file, together with everything else that runs depend
//    on: agent, options, task and construction. Other ranks need nothing but the program.
// 4. When a rank fails or leaves, its units fail with an error that starts with its number. The
//    journal keeps all finished runs; the study resumes when it is started again.
// 5. An idle rank 0 polls for messages every half millisecond.

#include "ranks.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define AHEAD 2       // units per thread that a rank is given
#define PAUSE 0.0005  // seconds between two polls for messages
#define MOST_SAID 400 // characters of another rank's error

typedef struct other {
    int nthread;          // 0: it has not said hello
    bool ready;           // for the stage that is being added
    rh_status gone;       // why it left the study; RH_OK: it has not
    rh_error err;         //
    rh_study__unit *open; // owned: units it has  (AHEAD x nthread)
    int nopen;
} other;

struct rh_workers {
    rh_threads *pool;        // owned
    rh_ranks *ranks;         // borrowed; NULL: alone
    const rh_remote *remote; // borrowed; NULL: the pool does the runs itself
    rh_study__agents agents;
    rh_eval_options opt;
    int nthread;    // of this process
    int nrank;      // 1: alone
    other *other;   // owned: ranks 1 and above, by number  (nrank)
    rh_queue todo;  // of rh_study__unit, not given to a rank yet
    rh_queue inbox; // of rh_study__done, from other ranks
    int nopen;
};

// ---------------------------------------------------------------------------- messages

// Check that the other rank is the same program, and note its threads.
static rh_status greet(other *o, const rh_ranks__hello *hello, size_t n, rh_error *err)
{
    rh_ranks__hello mine;
    rh_ranks__describe(&mine);
    if (n != sizeof *hello || memcmp(hello->shape, mine.shape, sizeof mine.shape) != 0)
        return rh_fail(err, RH_EINVAL,
                       "is another build of rehearse or another kind of machine than rank 0, "
                       "expected the same on all ranks");
    if (strncmp(hello->version, mine.version, sizeof mine.version) != 0)
        return rh_fail(err, RH_EINVAL,
                       "is rehearse %.31s and rank 0 is %.31s, expected the same on all ranks",
                       hello->version, mine.version);
    if (hello->plugins != mine.plugins)
        return rh_fail(err, RH_EINVAL,
                       "has loaded other plug-ins than rank 0, expected the same files on all "
                       "ranks");
    if (hello->nthread < 1 || o->nthread)
        return rh_fail(err, RH_EINVAL, "has no threads or said hello twice");
    o->open = rh_alloc((size_t)hello->nthread * AHEAD, sizeof *o->open);
    if (!o->open)
        return rh_fail(err, RH_ENOMEM, "out of memory for its %d threads", hello->nthread);
    o->nthread = hello->nthread;
    return RH_OK;
}

// Remove a unit from those that the rank has; false when it has no such unit.
static bool cross_out(other *o, const rh_study__run *run)
{
    for (int i = 0; i < o->nopen; i++) {
        const rh_study__unit *u = &o->open[i];
        if (u->trial == run->trial && u->stage == run->stage && u->member == run->member &&
            u->run == run->run) {
            o->open[i] = o->open[--o->nopen];
            return true;
        }
    }
    return false;
}

static void fail_unit(rh_workers *workers, const rh_study__unit *unit, rh_status rc,
                      const rh_error *err)
{
    rh_study__done done = {.rc = rc, .err = *err};
    done.run = (rh_study__run){.trial = unit->trial,
                               .stage = unit->stage,
                               .member = unit->member,
                               .run = unit->run,
                               .result = {.score = NAN, .outcome = RH_STOPPED}};
    rh_queue__push(&workers->inbox, &done);
}

// A rank left the study: all its units fail.
static void lose(rh_workers *workers, int rank, rh_status rc, const char *why)
{
    other *o = &workers->other[rank];
    if (o->gone)
        return;
    o->gone = rh_fail(&o->err, rc, "rank %d: %.*s", rank, MOST_SAID, why);
    for (int i = 0; i < o->nopen; i++)
        fail_unit(workers, &o->open[i], rc, &o->err);
    o->nopen = 0;
}

// A result; false when it belongs to no unit of that rank.
static bool take_done(rh_workers *workers, int from, const rh_study__done *sent, size_t n)
{
    if (n != sizeof *sent || !cross_out(&workers->other[from], &sent->run))
        return false;
    rh_study__done done = *sent;
    if (done.rc)
        rh_fail(&done.err, done.rc, "rank %d: %.*s", from, MOST_SAID, sent->err.text);
    rh_queue__push(&workers->inbox, &done);
    return true;
}

static void read_messages(rh_workers *workers)
{
    int from;
    rh_ranks__message what;
    size_t n;
    const void *message;
    while ((message = rh_ranks__next(workers->ranks, &from, &what, &n)) != NULL) {
        other *o = &workers->other[from];
        rh_error err;
        if (o->gone)
            continue;
        bool expected = true;
        rh_status greeted;
        switch (what) {
        case RH_MESSAGE_HELLO:
            greeted = greet(o, message, n, &err);
            if (greeted)
                lose(workers, from, greeted, err.text);
            break;
        case RH_MESSAGE_READY:
            o->ready = true;
            break;
        case RH_MESSAGE_DONE:
            expected = take_done(workers, from, message, n);
            break;
        case RH_MESSAGE_REFUSED:
            expected = n == sizeof(rh_ranks__refusal);
            if (expected)
                lose(workers, from, ((const rh_ranks__refusal *)message)->rc,
                     ((const rh_ranks__refusal *)message)->err.text);
            break;
        case RH_MESSAGE_LEFT:
            lose(workers, from, RH_EIO, "left the study");
            break;
        case RH_MESSAGE_STAGE: // from rank 0 only
        case RH_MESSAGE_MODEL:
        case RH_MESSAGE_UNIT:
        case RH_MESSAGE_END:
            expected = false;
        }
        if (!expected)
            lose(workers, from, RH_EFORMAT, "sent a message that was not expected");
    }
}

// Wait until all ranks have said hello, or are ready for a stage.
static rh_status wait_for_all(rh_workers *workers, bool ready, rh_error *err)
{
    const struct timespec pause = {.tv_nsec = (long)(PAUSE * 1e9)};
    for (;;) {
        int nmissing = 0;
        read_messages(workers);
        for (int r = 1; r < workers->nrank; r++) {
            const other *o = &workers->other[r];
            if (o->gone)
                return rh_fail(err, o->gone, "%s", o->err.text);
            nmissing += ready ? !o->ready : !o->nthread;
        }
        if (!nmissing)
            return RH_OK;
        if (workers->opt.stop && workers->opt.stop(workers->opt.context))
            return rh_fail(err, RH_ESTOPPED, "study: stopped");
        nanosleep(&pause, NULL);
    }
}

// ---------------------------------------------------------------------------- distributing

// Units of a rank, as a share of what it may have; rank 0 is this process.
static double load(const rh_workers *workers, int rank)
{
    if (rank == 0)
        return (double)rh_threads__nopen(workers->pool) / (AHEAD * workers->nthread);
    const other *o = &workers->other[rank];
    return o->gone ? INFINITY : (double)o->nopen / (AHEAD * o->nthread);
}

// Give waiting units to the rank with the lowest load, until all ranks have enough.
static void distribute(rh_workers *workers)
{
    while (workers->todo.n > 0) {
        int least = 0;
        for (int r = 1; r < workers->nrank; r++)
            if (load(workers, r) < load(workers, least))
                least = r;
        if (load(workers, least) >= 1.0)
            return;
        rh_study__unit unit;
        rh_queue__pop(&workers->todo, &unit);
        if (least == 0) {
            rh_error err;
            rh_status rc = rh_threads__give(workers->pool, &unit, &err);
            if (rc) // a unit of a stage that was not added; memory was reserved
                fail_unit(workers, &unit, rc, &err);
        } else {
            other *o = &workers->other[least];
            o->open[o->nopen++] = unit;
            rh_ranks__send(workers->ranks, least, RH_MESSAGE_UNIT, &unit, sizeof unit);
        }
    }
}

// ---------------------------------------------------------------------------- all workers

rh_status rh_workers__create(rh_workers **out, const rh_study__agents *agents,
                             const rh_eval_options *opt, int nthread, rh_ranks *ranks,
                             const rh_remote *remote, rh_error *err)
{
    rh_workers *workers = rh_alloc(1, sizeof *workers);
    if (!workers)
        return rh_base__no_memory(err, "study");
    workers->remote = remote;
    workers->agents = *agents;
    workers->opt = *opt;
    workers->nthread = nthread = remote ? remote->nrun : nthread;
    workers->nrank = ranks ? rh_ranks_count(ranks) : 1;
    workers->ranks = workers->nrank > 1 ? ranks : NULL;
    workers->todo.size = sizeof(rh_study__unit);
    workers->inbox.size = sizeof(rh_study__done);
    rh_status rc = rh_threads__create(&workers->pool, agents, opt, nthread, remote, err);
    if (rc)
        goto done;
    rc = rh_threads__reserve(workers->pool, AHEAD * nthread, err);
    if (rc)
        goto done;
    if ((workers->ranks || remote) && opt->state) {
        rc = rh_fail(err, RH_EINVAL,
                     "study: an initial agent state, expected none where runs are done in "
                     "other processes");
        goto done;
    }
    if (workers->ranks) {
        if (rh_ranks_me(ranks) != 0 || remote) {
            rc = rh_fail(err, RH_EINVAL, "study: %s, expected %s",
                         remote ? "runs elsewhere and ranks" : "called on another rank",
                         remote ? "one of them" : "rank 0");
            goto done;
        }
        workers->other = rh_alloc((size_t)workers->nrank, sizeof *workers->other);
        rc = workers->other
                 ? wait_for_all(workers, false, err)
                 : rh_fail(err, RH_ENOMEM, "study: out of memory for %d ranks", workers->nrank);
        if (rc)
            goto done;
    }
    *out = workers;
    workers = NULL;

done:
    rh_workers__destroy(workers);
    return rc;
}

// Send a rank the bytes of a model, in messages of limited size.
static void send_bytes(rh_workers *workers, int rank, const unsigned char *byte, size_t nbyte)
{
    for (size_t at = 0; at < nbyte; at += RH_RANKS__MOST) {
        size_t n = nbyte - at < RH_RANKS__MOST ? nbyte - at : RH_RANKS__MOST;
        rh_ranks__send(workers->ranks, rank, RH_MESSAGE_MODEL, byte + at, n);
    }
}

// Send all ranks a stage and its models.
static rh_status send_stage(rh_workers *workers, rh_stage stage, const rh_members *members,
                            const rh_task *task, rh_error *err)
{
    unsigned char *byte[RH_KINDS__MOST] = {NULL};
    rh_status rc = RH_OK;
    rh_ranks__orders *orders = rh_alloc(1, sizeof *orders);
    if (!orders)
        return rh_base__no_memory(err, "study");
    rc = rh_orders__pack(orders, byte, stage, members, &workers->agents, &workers->opt, task,
                         err);
    if (rc)
        goto done;
    for (int r = 1; r < workers->nrank; r++) {
        workers->other[r].ready = false;
        rh_ranks__send(workers->ranks, r, RH_MESSAGE_STAGE, orders, sizeof *orders);
        for (int k = 0; k < members->nkind; k++)
            send_bytes(workers, r, byte[k], orders->nbyte[k]);
    }

done:
    for (int k = 0; k < members->nkind; k++)
        rh_free(byte[k]);
    rh_free(orders);
    return rc;
}

rh_status rh_workers__add_stage(rh_workers *workers, rh_stage stage, const rh_members *members,
                                const rh_task *task, rh_error *err)
{
    rh_status rc = RH_OK;
    if (workers->ranks)
        rc = send_stage(workers, stage, members, task, err);
    if (workers->remote)
        rc = rh_remote__stage(workers->remote, stage, members, &workers->agents, &workers->opt,
                              task, err);
    if (!rc)
        rc = rh_threads__add_stage(workers->pool, stage, members, task, err);
    if (!rc && workers->ranks)
        rc = wait_for_all(workers, true, err);
    return rc;
}

bool rh_workers__drop_stage(rh_workers *workers, rh_stage stage)
{
    return workers->nopen == 0 && rh_threads__drop_stage(workers->pool, stage);
}

bool rh_workers__alone(const rh_workers *workers)
{
    return !workers->ranks && !workers->remote;
}

rh_status rh_workers__give(rh_workers *workers, const rh_study__unit *unit, rh_error *err)
{
    rh_status rc = RH_OK;
    if (!workers->ranks) {
        rc = rh_threads__give(workers->pool, unit, err);
        workers->nopen += !rc;
        return rc;
    }
    rc = rh_queue__reserve(&workers->inbox, workers->nopen + 1, err);
    if (!rc)
        rc = rh_queue__reserve(&workers->todo, workers->todo.n + 1, err);
    if (rc)
        return rc;
    rh_queue__push(&workers->todo, unit);
    workers->nopen++;
    distribute(workers);
    return RH_OK;
}

bool rh_workers__take(rh_workers *workers, rh_study__done *done, double wait)
{
    bool there = false;
    double until = wait > 0.0 ? rh_study__now() + wait : 0.0;
    if (!workers->ranks)
        there = rh_threads__take(workers->pool, done, wait);
    while (workers->ranks && !there) {
        read_messages(workers);
        there =
            rh_queue__pop(&workers->inbox, done) || rh_threads__take(workers->pool, done, 0.0);
        distribute(workers);
        double left = wait > 0.0 ? until - rh_study__now() : 0.0;
        if (there || left <= 0.0)
            break;
        there = rh_threads__take(workers->pool, done, fmin(left, PAUSE));
    }
    workers->nopen -= there;
    return there;
}

int rh_workers__nopen(const rh_workers *workers)
{
    return workers->nopen;
}

int rh_workers__nthread(const rh_workers *workers)
{
    int n = workers->nthread;
    for (int r = 1; r < workers->nrank; r++)
        n += workers->other[r].nthread;
    return n;
}

void rh_workers__destroy(rh_workers *workers)
{
    if (!workers)
        return;
    if (workers->ranks)
        rh_ranks__dismiss(workers->ranks);
    rh_threads__destroy(workers->pool);
    for (int r = 1; workers->other && r < workers->nrank; r++)
        rh_free(workers->other[r].open);
    rh_free(workers->other);
    rh_queue__clear(&workers->todo);
    rh_queue__clear(&workers->inbox);
    rh_free(workers);
}
