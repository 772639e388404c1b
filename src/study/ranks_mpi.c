// ranks_mpi.c - messages between the processes of a study, by MPI. No other file uses MPI.
//
// 1. Only the thread that started MPI calls it (MPI_THREAD_FUNNELED), which every MPI supports.
// 2. Only rank 0 ever waits inside MPI, for a rank that reads. The others copy what they send
//    and do not wait, so no two ranks can wait for each other.
// 3. MPI waits by spinning, which would take a core: messages and the end of ranks are polled.
// 4. A rank that ends early tells rank 0, which would otherwise wait for ever.
// 5. A rank that dies ends the job: mpirun stops the others, with SIGTERM first.

#include "ranks.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The checker expects a wait in the function that makes a request. sweep() and meet() test
// these later, until all have arrived. NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker)

#define PAUSE 500000 // nanoseconds between two polls for the end

// A message on its way.
typedef struct outgoing {
    MPI_Request request;
    struct outgoing *next;
    unsigned char byte[];
} outgoing;

struct rh_ranks {
    int me, count;
    bool ended;           // RH_MESSAGE_END was sent or received
    outgoing *out;        // owned: messages that may not have arrived
    unsigned char *inbox; // owned: the message last read  (RH_RANKS__MOST)
};

bool rh_ranks_built(void)
{
    return true;
}

rh_status rh_ranks_begin(rh_ranks **out, rh_error *err)
{
    rh_ranks *ranks = rh_alloc(1, sizeof *ranks);
    unsigned char *inbox = rh_alloc(1, RH_RANKS__MOST);
    if (!ranks || !inbox) {
        rh_free(ranks);
        rh_free(inbox);
        return rh_fail(err, RH_ENOMEM, "MPI: out of memory");
    }
    ranks->inbox = inbox;

    int given = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS ||
        given < MPI_THREAD_FUNNELED) {
        rh_free(inbox);
        rh_free(ranks);
        return rh_fail(err, RH_EIO, "MPI cannot be started with support for threads");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
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
        int there = 0;
        MPI_Test(&o->request, &there, MPI_STATUS_IGNORE);
        if (!there) {
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
    MPI_Send(bytes, (int)n, MPI_BYTE, to, (int)what, MPI_COMM_WORLD);
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
    MPI_Isend(o->byte, (int)n, MPI_BYTE, to, (int)what, MPI_COMM_WORLD, &o->request);
    o->next = ranks->out;
    ranks->out = o;
    return RH_OK;
}

const void *rh_ranks__next(rh_ranks *ranks, int *from, rh_ranks__message *what, size_t *n)
{
    MPI_Status status;
    int there = 0, length = 0;
    sweep(ranks);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return NULL;
    MPI_Get_count(&status, MPI_BYTE, &length);
    MPI_Recv(ranks->inbox, (int)RH_RANKS__MOST, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *from = status.MPI_SOURCE;
    *what = (rh_ranks__message)status.MPI_TAG;
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
static void meet(rh_ranks *ranks)
{
    const struct timespec pause = {.tv_nsec = PAUSE};
    MPI_Request all = MPI_REQUEST_NULL;
    bool begun = false;
    for (int there = 0; !there;) {
        int from;
        rh_ranks__message what;
        size_t n;
        while (rh_ranks__next(ranks, &from, &what, &n)) {
        }
        if (!begun && !ranks->out) {
            MPI_Ibarrier(MPI_COMM_WORLD, &all);
            begun = true;
        }
        if (begun)
            MPI_Test(&all, &there, MPI_STATUS_IGNORE);
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
    meet(ranks);
    MPI_Finalize();
    rh_free(ranks->inbox);
    rh_free(ranks);
}

void rh_ranks_abort(rh_ranks *ranks, int code)
{
    (void)ranks;
    MPI_Abort(MPI_COMM_WORLD, code);
    abort(); // in case that comes back
}

// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
