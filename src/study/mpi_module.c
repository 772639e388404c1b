// mpi_module.c - the module rehearse-mpi.so: the calls of mpi_calls.h, by MPI. No other file
// uses MPI.
//
// Only the thread that started MPI calls it (MPI_THREAD_FUNNELED), which every MPI supports.
// A failed call ends the job, as MPI does unless told otherwise.

#include "mpi_calls.h"

#include <mpi.h>
#include <string.h>

_Static_assert(sizeof(MPI_Request) <= sizeof(rh_mpi__request), "room for a request of MPI");

// The checker expects a wait in the function that makes a request. ranks.c tests them later,
// until all are done. NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker)

static bool begin(int *me, int *count)
{
    int given = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS ||
        given < MPI_THREAD_FUNNELED)
        return false;
    MPI_Comm_rank(MPI_COMM_WORLD, me);
    MPI_Comm_size(MPI_COMM_WORLD, count);
    return true;
}

static void end(void)
{
    MPI_Finalize();
}

static void end_all(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

static void send_bytes(int to, int tag, const void *bytes, int n)
{
    MPI_Send(bytes, n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void keep(rh_mpi__request *request, MPI_Request handle)
{
    memcpy(request, &handle, sizeof handle);
}

static void post(int to, int tag, const void *bytes, int n, rh_mpi__request *request)
{
    MPI_Request handle;
    MPI_Isend(bytes, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &handle);
    keep(request, handle);
}

static bool probe(int *from, int *tag, int *n)
{
    MPI_Status status;
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return false;
    MPI_Get_count(&status, MPI_BYTE, n);
    *from = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    return true;
}

static void receive(int from, int tag, void *bytes, int n)
{
    MPI_Recv(bytes, n, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void arrive(rh_mpi__request *request)
{
    MPI_Request handle;
    MPI_Ibarrier(MPI_COMM_WORLD, &handle);
    keep(request, handle);
}

static bool is_done(rh_mpi__request *request)
{
    MPI_Request handle;
    int done = 0;
    memcpy(&handle, request, sizeof handle);
    MPI_Test(&handle, &done, MPI_STATUS_IGNORE);
    keep(request, handle);
    return done;
}

// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

__attribute__((visibility("default"))) const rh_mpi__calls rh_mpi__module = {
    .version = RH_MPI__VERSION,
    .begin = begin,
    .end = end,
    .abort = end_all,
    .send = send_bytes,
    .post = post,
    .probe = probe,
    .receive = receive,
    .arrive = arrive,
    .is_done = is_done,
};
