// ranks.c - messages between the processes of a study, by the module rehearse-mpi.so.
//
// 1. The module is loaded when ranks are begun, so nobody else needs MPI or waits for its
//    libraries. Its symbols are global: the plug-ins of some MPIs look for those of libmpi.
// 2. Only rank 0 ever waits inside MPI, for a rank that reads. The others copy what they send
//    and do not wait, so no two ranks can wait for each other.
// 3. MPI waits by spinning, which would take a core: messages and the end of ranks are polled.
// 4. A rank that ends early tells rank 0, which would otherwise wait for ever.
// 5. A rank that dies ends the job: mpirun stops the others, with SIGTERM first.

#include "ranks.h"

#include "base/part.h"
#include "mpi_calls.h"
#include "study.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAUSE 500000 // nanoseconds between two polls for the end
#define MODULE "rehearse-mpi.so"

// A message on its way.
typedef struct outgoing {
    rh_mpi__request request;
    struct outgoing *next;
    unsigned char byte[];
} outgoing;

struct rh_ranks {
    const rh_mpi__calls *mpi; // borrowed: never unloaded
    int me, count;
    bool ended;           // RH_MESSAGE_END was sent or received
    outgoing *out;        // owned: messages that may not have arrived
    unsigned char *inbox; // owned: the message last read  (RH_RANKS__MOST)
};

// ---------------------------------------------------------------------------- the module

// The calls, NULL if they cannot be loaded.
static const rh_mpi__calls *load(rh_error *err)
{
    char place[RH_PART__PATH], expected[2 * RH_PART__PATH];
    for (int n = 0; rh_part__place(n, MODULE, place); n++) {
        if (access(place, F_OK) != 0)
            continue;
        void *module = dlopen(place, RTLD_NOW | RTLD_GLOBAL);
        const rh_mpi__calls *calls = module ? dlsym(module, "rh_mpi__module") : NULL;
        if (!calls)
            rh_fail(err, RH_EINVAL, "MPI: cannot load %s: %s", MODULE, dlerror());
        else if (calls->version != RH_MPI__VERSION)
            rh_fail(err, RH_EINVAL, "MPI: %s is of version %u, expected %d", place,
                    calls->version, RH_MPI__VERSION);
        else
            return calls;
        return NULL;
    }
    rh_fail(err, RH_EINVAL, "MPI: " MODULE " not found, expected in %s",
            rh_part__expected(expected, sizeof expected));
    return NULL;
}

// ---------------------------------------------------------------------------- beginning

rh_status rh_ranks_begin(rh_ranks **out, rh_error *err)
{
    const rh_mpi__calls *mpi = load(err);
    if (!mpi)
        return RH_EINVAL;
    rh_ranks *ranks = rh_alloc(1, sizeof *ranks);
    unsigned char *inbox = rh_alloc(1, RH_RANKS__MOST);
    if (!ranks || !inbox) {
        rh_free(ranks);
        rh_free(inbox);
        return rh_fail(err, RH_ENOMEM, "MPI: out of memory");
    }
    if (!mpi->begin(&ranks->me, &ranks->count)) {
        rh_free(inbox);
        rh_free(ranks);
        return rh_fail(err, RH_EIO, "MPI cannot be started with support for threads");
    }
    ranks->mpi = mpi;
    ranks->inbox = inbox;
    *out = ranks;
    return RH_OK;
}

int rh_ranks_me(const rh_ranks *ranks)
{
    return ranks->me;
}

int rh_ranks_count(const rh_ranks *ranks)
{
    return ranks->count;
}

// ---------------------------------------------------------------------------- messages

// Free messages that have arrived.
static void sweep(rh_ranks *ranks)
{
    outgoing **at = &ranks->out;
    while (*at) {
        outgoing *o = *at;
        if (!ranks->mpi->is_done(&o->request)) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        rh_free(o);
    }
}

void rh_ranks__send(rh_ranks *ranks, int to, rh_ranks__message what, const void *bytes,
                    size_t n)
{
    if (n > RH_RANKS__MOST || ranks->me != 0)
        rh_ranks_abort(ranks, 1); // no caller does this
    ranks->mpi->send(to, (int)what, bytes, (int)n);
}

rh_status rh_ranks__post(rh_ranks *ranks, int to, rh_ranks__message what, const void *bytes,
                         size_t n, rh_error *err)
{
    if (n > RH_RANKS__MOST)
        return rh_fail(err, RH_EINVAL, "MPI: a message of %zu bytes, expected at most %zu", n,
                       RH_RANKS__MOST);
    sweep(ranks);
    outgoing *o = rh_alloc(1, sizeof *o + n);
    if (!o)
        return rh_fail(err, RH_ENOMEM, "MPI: out of memory");
    if (n)
        memcpy(o->byte, bytes, n);
    ranks->mpi->post(to, (int)what, o->byte, (int)n, &o->request);
    o->next = ranks->out;
    ranks->out = o;
    return RH_OK;
}

const void *rh_ranks__next(rh_ranks *ranks, int *from, rh_ranks__message *what, size_t *n)
{
    int tag = 0, length = 0;
    sweep(ranks);
    if (!ranks->mpi->probe(from, &tag, &length))
        return NULL;
    ranks->mpi->receive(*from, tag, ranks->inbox, (int)RH_RANKS__MOST);
    *what = (rh_ranks__message)tag;
    *n = (size_t)length;
    return ranks->inbox;
}

// ---------------------------------------------------------------------------- the end

void rh_ranks__dismiss(rh_ranks *ranks)
{
    if (ranks->ended)
        return;
    ranks->ended = true;
    for (int to = 1; to < ranks->count; to++)
        rh_ranks__send(ranks, to, RH_MESSAGE_END, NULL, 0);
}

void rh_ranks__dismissed(rh_ranks *ranks)
{
    ranks->ended = true;
}

// Read and discard messages until all ranks are here, so that no sender waits.
void rh_ranks__meet(rh_ranks *ranks)
{
    const struct timespec pause = {.tv_nsec = PAUSE};
    rh_mpi__request all;
    bool begun = false;
    for (bool there = false; !there;) {
        int from;
        rh_ranks__message what;
        size_t n;
        while (rh_ranks__next(ranks, &from, &what, &n)) {
        }
        if (!begun && !ranks->out) {
            ranks->mpi->arrive(&all);
            begun = true;
        }
        there = begun && ranks->mpi->is_done(&all);
        if (!there)
            nanosleep(&pause, NULL);
    }
}

void rh_ranks_end(rh_ranks *ranks)
{
    if (!ranks)
        return;
    if (ranks->me == 0)
        rh_ranks__dismiss(ranks);
    else if (!ranks->ended && rh_ranks__post(ranks, 0, RH_MESSAGE_LEFT, NULL, 0, NULL))
        rh_ranks_abort(ranks, 1);
    rh_ranks__meet(ranks);
    ranks->mpi->end();
    rh_free(ranks->inbox);
    rh_free(ranks);
}

void rh_ranks_abort(rh_ranks *ranks, int code)
{
    ranks->mpi->abort(code);
    abort(); // in case that comes back
}
