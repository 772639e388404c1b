// mpi_calls.h - what the library needs of MPI, as a table of functions in the module
// rehearse-mpi.so.
//
// The module is loaded when a study has several processes (ranks.c), so that neither program
// nor library depend on MPI. It uses nothing of the library. Tags and ranks are MPI's.

#ifndef STUDY_MPI_CALLS_H
#define STUDY_MPI_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#define RH_MPI__VERSION 1 // of this table

// A message on its way, or a barrier. Room for the handle of any MPI.
typedef struct rh_mpi__request {
    uint64_t handle[2];
} rh_mpi__request;

typedef struct rh_mpi__calls {
    unsigned version;

    // Start MPI for calls from this thread. False if it cannot be.
    bool (*begin)(int *me, int *count);
    void (*end)(void);
    void (*abort)(int code); // all ranks

    // Send, and return when the bytes may be reused; or leave them to `request`.
    void (*send)(int to, int tag, const void *bytes, int n);
    void (*post)(int to, int tag, const void *bytes, int n, rh_mpi__request *request);

    // Whether a message has come, and of which rank, tag and size. Receive it.
    bool (*probe)(int *from, int *tag, int *n);
    void (*receive)(int from, int tag, void *bytes, int n);

    // Say that this rank is here; done when all are.
    void (*arrive)(rh_mpi__request *request);
    bool (*is_done)(rh_mpi__request *request);
} rh_mpi__calls;

extern const rh_mpi__calls rh_mpi__module; // in rehearse-mpi.so

#endif
