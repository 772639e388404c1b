// fleet.c - the crew of this process and those of other ranks, as one.
//
// Units wait in the fleet's own line, and every rank is given two for each of its threads: one
// that is lived and one that is ready when it is over. The rest waits until somebody is free,
// so that a slow machine holds up nothing but what it has begun.
//
// 1. Rank 0 lives too. Its own crew is treated like any other rank, but for a fleet that is
//    alone: that hands all on at once, since nobody else could take it.
// 2. Who lives a unit changes nothing, so nothing depends on which rank was free.
// 3. A model travels as the bytes of its file, and with it all that lives depend on: agent,
//    options, task and construction. Other ranks need nothing but the program.
// 4. A rank that refuses or leaves fails what it was given, with its number before its words:
//    what is in the journal is kept, and the study goes on when it is started again.
// 5. Letters are looked for every half millisecond, where nothing else is to be done.

#include "ranks.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define AHEAD 2       // units of a thread that a rank has been given
#define PAUSE 0.0005  // seconds between two looks for letters
#define MOST_SAID 400 // characters of another rank's words

typedef struct other {
    int nthread;    // 0: it has not said yet
    bool ready;     // for the stage that is being settled
    rh_status gone; // why nothing more is to be expected of it; RH_OK: it is there
    rh_error err;   // in words
    rh_unit *open;  // owned: what it has been given  (AHEAD x nthread)
    int nopen;
} other;

struct rh_fleet {
    rh_crew *crew;   // owned
    rh_ranks *ranks; // borrowed; NULL: alone
    const rh_agent_type *agent;
    rh_eval_options opt;
    int nthread;    // of this process
    int nrank;      // 1: alone
    other *other;   // owned: ranks 1 and above, by number  (nrank)
    rh_queue todo;  // of rh_unit, given to nobody yet
    rh_queue inbox; // of rh_done, from other ranks
    int nopen;
};

// ---------------------------------------------------------------------------- letters

// Whether the other is this program; its threads are known from here on.
static rh_status greet(other *o, const rh_hello *hello, size_t n, rh_error *err)
{
    rh_hello mine;
    rh_ranks__describe(&mine);
    if (n != sizeof *hello || memcmp(hello->shape, mine.shape, sizeof mine.shape) != 0)
        return rh_fail(err, RH_EINVAL,
                       "is another build of rehearse, or on another kind of machine, than "
                       "rank 0: the same is needed everywhere");
    if (strncmp(hello->version, mine.version, sizeof mine.version) != 0)
        return rh_fail(err, RH_EINVAL,
                       "is rehearse %.31s, and rank 0 %.31s: the same is needed everywhere",
                       hello->version, mine.version);
    if (hello->nthread < 1 || o->nthread)
        return rh_fail(err, RH_EINVAL, "has no threads, or greets twice");
    o->open = rh_alloc((size_t)hello->nthread * AHEAD, sizeof *o->open);
    if (!o->open)
        return rh_fail(err, RH_ENOMEM, "out of memory for its %d threads", hello->nthread);
    o->nthread = hello->nthread;
    return RH_OK;
}

// The unit is no longer with the other; false when it never was.
static bool cross_out(other *o, const rh_done *done)
{
    for (int i = 0; i < o->nopen; i++) {
        const rh_unit *u = &o->open[i];
        if (u->trial == done->trial && u->stage == done->stage && u->member == done->member &&
            u->run == done->run) {
            o->open[i] = o->open[--o->nopen];
            return true;
        }
    }
    return false;
}

// Nothing more is to be expected of a rank: all it was given has failed.
static void lose(rh_fleet *fleet, int rank, rh_status rc, const char *words)
{
    other *o = &fleet->other[rank];
    if (o->gone)
        return;
    o->gone = rh_fail(&o->err, rc, "rank %d: %.*s", rank, MOST_SAID, words);
    for (int i = 0; i < o->nopen; i++) {
        const rh_unit *u = &o->open[i];
        rh_done done = {.trial = u->trial, .stage = u->stage, .member = u->member};
        done.run = u->run;
        done.life = (rh_life){.score = NAN, .outcome = RH_STOPPED};
        done.rc = rc;
        done.err = o->err;
        rh_queue__push(&fleet->inbox, &done);
    }
    o->nopen = 0;
}

// A result; false when it is none that was asked for.
static bool take_done(rh_fleet *fleet, int from, const rh_done *sent, size_t n)
{
    if (n != sizeof *sent || !cross_out(&fleet->other[from], sent))
        return false;
    rh_done done = *sent;
    if (done.rc)
        rh_fail(&done.err, done.rc, "rank %d: %.*s", from, MOST_SAID, sent->err.text);
    rh_queue__push(&fleet->inbox, &done);
    return true;
}

// Read what has come.
static void read_letters(rh_fleet *fleet)
{
    int from;
    rh_letter what;
    size_t n;
    const void *letter;
    while ((letter = rh_ranks__next(fleet->ranks, &from, &what, &n)) != NULL) {
        other *o = &fleet->other[from];
        rh_error err;
        if (o->gone)
            continue;
        bool expected = true;
        rh_status greeted;
        switch (what) {
        case RH_LETTER_HELLO:
            greeted = greet(o, letter, n, &err);
            if (greeted)
                lose(fleet, from, greeted, err.text);
            break;
        case RH_LETTER_READY:
            o->ready = true;
            break;
        case RH_LETTER_DONE:
            expected = take_done(fleet, from, letter, n);
            break;
        case RH_LETTER_REFUSED:
            expected = n == sizeof(rh_refusal);
            if (expected)
                lose(fleet, from, ((const rh_refusal *)letter)->rc,
                     ((const rh_refusal *)letter)->err.text);
            break;
        case RH_LETTER_LEFT:
            lose(fleet, from, RH_EIO, "has left the study");
            break;
        case RH_LETTER_STAGE: // these go the other way
        case RH_LETTER_MODEL:
        case RH_LETTER_UNIT:
        case RH_LETTER_END:
            expected = false;
        }
        if (!expected)
            lose(fleet, from, RH_EFORMAT, "has sent a letter that is not what was expected");
    }
}

// Wait until all ranks are there, or ready.
static rh_status wait_for_all(rh_fleet *fleet, bool ready, rh_error *err)
{
    const struct timespec pause = {.tv_nsec = (long)(PAUSE * 1e9)};
    for (;;) {
        int nmissing = 0;
        read_letters(fleet);
        for (int r = 1; r < fleet->nrank; r++) {
            const other *o = &fleet->other[r];
            if (o->gone)
                return rh_fail(err, o->gone, "%s", o->err.text);
            nmissing += ready ? !o->ready : !o->nthread;
        }
        if (!nmissing)
            return RH_OK;
        if (fleet->opt.stop && fleet->opt.stop(fleet->opt.context))
            return rh_fail(err, RH_ESTOPPED, "study: stopped");
        nanosleep(&pause, NULL);
    }
}

// ---------------------------------------------------------------------------- handing out

// What share of what it may be given a rank has; 0 is this process.
static double load(const rh_fleet *fleet, int rank)
{
    if (rank == 0)
        return (double)rh_crew__nopen(fleet->crew) / (AHEAD * fleet->nthread);
    const other *o = &fleet->other[rank];
    return o->gone ? INFINITY : (double)o->nopen / (AHEAD * o->nthread);
}

// Give what waits to whoever has least to do, until all have enough.
static void hand_out(rh_fleet *fleet)
{
    while (fleet->todo.n > 0) {
        int least = 0;
        for (int r = 1; r < fleet->nrank; r++)
            if (load(fleet, r) < load(fleet, least))
                least = r;
        if (load(fleet, least) >= 1.0)
            return;
        rh_unit unit;
        rh_queue__pop(&fleet->todo, &unit);
        if (least == 0) {
            rh_status rc = rh_crew__give(fleet->crew, &unit, NULL); // room was made for these
            assert(!rc);
            (void)rc;
        } else {
            other *o = &fleet->other[least];
            o->open[o->nopen++] = unit;
            rh_ranks__send(fleet->ranks, least, RH_LETTER_UNIT, &unit, sizeof unit);
        }
    }
}

// ---------------------------------------------------------------------------- the fleet

rh_status rh_fleet__create(rh_fleet **out, const rh_agent_type *agent,
                           const rh_eval_options *opt, int nthread, rh_ranks *ranks,
                           rh_error *err)
{
    rh_fleet *fleet = rh_alloc(1, sizeof *fleet);
    if (!fleet)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    fleet->agent = agent;
    fleet->opt = *opt;
    fleet->nthread = nthread;
    fleet->nrank = ranks ? rh_ranks_count(ranks) : 1;
    fleet->ranks = fleet->nrank > 1 ? ranks : NULL;
    fleet->todo.size = sizeof(rh_unit);
    fleet->inbox.size = sizeof(rh_done);
    rh_status rc = rh_crew__create(&fleet->crew, agent, opt, nthread, err);
    if (rc)
        goto done;
    rc = rh_crew__reserve(fleet->crew, AHEAD * nthread, err);
    if (rc)
        goto done;
    if (fleet->ranks) {
        assert(rh_ranks_me(ranks) == 0 && !opt->born);
        fleet->other = rh_alloc((size_t)fleet->nrank, sizeof *fleet->other);
        rc = fleet->other
                 ? wait_for_all(fleet, false, err)
                 : rh_fail(err, RH_ENOMEM, "study: out of memory for %d ranks", fleet->nrank);
        if (rc)
            goto done;
    }
    *out = fleet;
    fleet = NULL;

done:
    rh_fleet__destroy(fleet);
    return rc;
}

// Tell all ranks how a stage is lived, and send its model.
static rh_status send_stage(rh_fleet *fleet, rh_stage stage, const rh_model *model,
                            const rh_task *task, const double *hp, rh_error *err)
{
    unsigned char *byte = NULL;
    size_t nbyte = 0;
    rh_status rc = rh_parcel__pack(model, &byte, &nbyte, err);
    if (rc)
        return rc;
    rh_orders *orders = rh_alloc(1, sizeof *orders);
    if (!orders) {
        rc = rh_fail(err, RH_ENOMEM, "study: out of memory");
        goto done;
    }
    orders->stage = stage;
    orders->opt = fleet->opt;
    orders->opt.watch = NULL;
    orders->opt.stop = NULL;
    orders->opt.context = NULL;
    orders->task = *task;
    orders->nbyte = nbyte;
    snprintf(orders->agent, sizeof orders->agent, "%s", fleet->agent->name);
    if (fleet->agent->nparam)
        memcpy(orders->hp, hp, (size_t)fleet->agent->nparam * sizeof *hp);
    for (int r = 1; r < fleet->nrank; r++) {
        fleet->other[r].ready = false;
        rh_ranks__send(fleet->ranks, r, RH_LETTER_STAGE, orders, sizeof *orders);
        for (size_t at = 0; at < nbyte; at += RH_RANKS__MOST) {
            size_t n = nbyte - at < RH_RANKS__MOST ? nbyte - at : RH_RANKS__MOST;
            rh_ranks__send(fleet->ranks, r, RH_LETTER_MODEL, byte + at, n);
        }
    }

done:
    rh_free(byte);
    rh_free(orders);
    return rc;
}

rh_status rh_fleet__settle(rh_fleet *fleet, rh_stage stage, const rh_home *home,
                           const rh_task *task, const double *hp, rh_error *err)
{
    rh_status rc = RH_OK;
    if (fleet->ranks)
        rc = send_stage(fleet, stage, home->model, task, hp, err);
    if (!rc)
        rc = rh_crew__settle(fleet->crew, stage, home, task, hp, err);
    if (!rc && fleet->ranks)
        rc = wait_for_all(fleet, true, err);
    return rc;
}

rh_status rh_fleet__give(rh_fleet *fleet, const rh_unit *unit, rh_error *err)
{
    rh_status rc = RH_OK;
    if (!fleet->ranks) {
        rc = rh_crew__give(fleet->crew, unit, err);
        fleet->nopen += !rc;
        return rc;
    }
    rc = rh_queue__reserve(&fleet->inbox, fleet->nopen + 1, err);
    if (!rc)
        rc = rh_queue__reserve(&fleet->todo, fleet->todo.n + 1, err);
    if (rc)
        return rc;
    rh_queue__push(&fleet->todo, unit);
    fleet->nopen++;
    hand_out(fleet);
    return RH_OK;
}

bool rh_fleet__take(rh_fleet *fleet, rh_done *done, double wait)
{
    bool there = false;
    double until = wait > 0.0 ? rh_study__now() + wait : 0.0;
    if (!fleet->ranks)
        there = rh_crew__take(fleet->crew, done, wait);
    while (fleet->ranks && !there) {
        read_letters(fleet);
        there = rh_queue__pop(&fleet->inbox, done) || rh_crew__take(fleet->crew, done, 0.0);
        hand_out(fleet);
        double left = wait > 0.0 ? until - rh_study__now() : 0.0;
        if (there || left <= 0.0)
            break;
        there = rh_crew__take(fleet->crew, done, fmin(left, PAUSE));
    }
    fleet->nopen -= there;
    return there;
}

int rh_fleet__nopen(const rh_fleet *fleet)
{
    return fleet->nopen;
}

int rh_fleet__nthread(const rh_fleet *fleet)
{
    int n = fleet->nthread;
    for (int r = 1; r < fleet->nrank; r++)
        n += fleet->other[r].nthread;
    return n;
}

void rh_fleet__destroy(rh_fleet *fleet)
{
    if (!fleet)
        return;
    if (fleet->ranks)
        rh_ranks__dismiss(fleet->ranks);
    rh_crew__destroy(fleet->crew);
    for (int r = 1; fleet->other && r < fleet->nrank; r++)
        rh_free(fleet->other[r].open);
    rh_free(fleet->other);
    rh_queue__clear(&fleet->todo);
    rh_queue__clear(&fleet->inbox);
    rh_free(fleet);
}
