// ranks.h - letters between the processes of a study.
//
// Rank 0 keeps the study and writes to all the others; they write to it alone. Only the thread
// that began the ranks may call any of this.

#ifndef STUDY_RANKS_H
#define STUDY_RANKS_H

#include "queue.h"
#include "study_internal.h"

#define RH_RANKS__MOST ((size_t)1 << 20) // bytes of a letter

typedef enum rh_ranks__message {
    RH_MESSAGE_HELLO = 1, // to rank 0: rh_ranks__hello
    RH_MESSAGE_READY,     //   a stage can be run in: nothing
    RH_MESSAGE_DONE,      //   rh_study__done
    RH_MESSAGE_REFUSED,   //   rh_ranks__refusal: this rank cannot go on
    RH_MESSAGE_LEFT,      //   it has left, without a word: nothing
    RH_MESSAGE_STAGE,     // from rank 0: rh_ranks__orders, of a stage
    RH_MESSAGE_MODEL,     //   a part of its model's file, in order
    RH_MESSAGE_UNIT,      //   rh_study__unit
    RH_MESSAGE_END        //   there is nothing more to do: nothing
} rh_ranks__message;

// Who a rank is. Letters are the bytes of structures, so both ends must be the same program on
// the same kind of machine.
typedef struct rh_ranks__hello {
    char version[32];
    uint64_t shape[6]; // sizes of what is sent, and the order of bytes
    int nthread;
} rh_ranks__hello;

typedef struct rh_ranks__refusal {
    rh_status rc;
    rh_error err;
} rh_ranks__refusal;

// How runs of a stage are to be run.
typedef struct rh_ranks__orders {
    rh_stage stage;
    char agent[64];
    rh_eval_options opt; // without its functions and pointers
    rh_task task;        // without names
    double hp[RH_STUDY__NHP];
    uint64_t nbyte; // of the model's file, which follows
} rh_ranks__orders;

// What this program is, for rh_ranks__hello.
void rh_ranks__describe(rh_ranks__hello *hello);

// Write to a rank. send() returns when the bytes may be used again, which may mean that the
// other has read on, and is for rank 0; post() copies them and never waits, and is for the
// others: somebody must always be reading. Nullable: err.
void rh_ranks__send(rh_ranks *ranks, int to, rh_ranks__message what, const void *bytes,
                    size_t n);
rh_status rh_ranks__post(rh_ranks *ranks, int to, rh_ranks__message what, const void *bytes,
                         size_t n, rh_error *err);

// The next letter that has come, in order for each sender; NULL: none. Borrowed until the next
// call.
const void *rh_ranks__next(rh_ranks *ranks, int *from, rh_ranks__message *what, size_t *n);

// From rank 0 to all others: RH_MESSAGE_END, the first time this is called.
void rh_ranks__dismiss(rh_ranks *ranks);

// This rank has been told RH_MESSAGE_END, and need not tell anybody that it leaves.
void rh_ranks__dismissed(rh_ranks *ranks);

// ---------------------------------------------------------------------------- pack.c

// A model as the bytes of its file, and back. Owned: *byte, free with rh_free(); *out.
rh_status rh_study__pack_model(const rh_model *model, unsigned char **byte, size_t *nbyte,
                               rh_error *err);
rh_status rh_study__unpack_model(rh_model **out, const unsigned char *byte, size_t nbyte,
                                 rh_error *err);

#endif
