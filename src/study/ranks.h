// ranks.h - messages between the processes of a study.
//
// Rank 0 runs the study and sends to all others; they send to rank 0 only. Only the thread that
// called rh_ranks_begin() may call these functions.

#ifndef STUDY_RANKS_H
#define STUDY_RANKS_H

#include "limits.h"
#include "queue.h"
#include "study_internal.h"

#define RH_RANKS__MOST ((size_t)1 << 20) // bytes of a message, at most

typedef enum rh_ranks__message {
    RH_MESSAGE_HELLO = 1, // to rank 0: rh_ranks__hello
    RH_MESSAGE_READY,     //   the stage is added: empty
    RH_MESSAGE_DONE,      //   rh_study__done
    RH_MESSAGE_REFUSED,   //   rh_ranks__refusal: this rank failed
    RH_MESSAGE_LEFT,      //   this rank left: empty
    RH_MESSAGE_STAGE,     // from rank 0: rh_ranks__orders of a stage
    RH_MESSAGE_MODEL,     //   a part of its models' files, in order
    RH_MESSAGE_UNIT,      //   rh_study__unit
    RH_MESSAGE_END        //   there is no more work: empty
} rh_ranks__message;

// What a rank is. Messages are structs, so all ranks need the same program and kind of machine.
typedef struct rh_ranks__hello {
    char version[32];
    uint64_t shape[6]; // sizes of what is sent, and the order of bytes
    uint64_t plugins;  // a hash of the plug-ins it has loaded
    int nthread;
} rh_ranks__hello;

typedef struct rh_ranks__refusal {
    rh_status rc;
    rh_error err;
} rh_ranks__refusal;

// A stage: how to do its runs.
typedef struct rh_ranks__orders {
    rh_stage stage;
    int nagent;
    char agent[RH_PLAN__AGENTS][512];
    rh_eval_options opt;                                  // without its functions and pointers
    char at_most[RH_LIMITS__TEXT], also[RH_LIMITS__TEXT]; // what opt counts
    rh_task task;                                         // without names
    double hp[RH_PLAN__AGENTS][RH_STUDY__NHP];
    int nkind;
    uint64_t nbyte[RH_KINDS__MOST]; // of each model's file; these follow in RH_MESSAGE_MODEL
} rh_ranks__orders;

// ---------------------------------------------------------------------------- orders.c

// The orders of a stage, and the bytes of its models: byte (nkind) are owned by the caller, on
// failure too; free them with rh_free(). They are NULL before.
rh_status rh_orders__pack(rh_ranks__orders *orders, unsigned char **byte, rh_stage stage,
                          const rh_members *members, const rh_study__agents *agents,
                          const rh_eval_options *opt, const rh_task *task, rh_error *err);

// A stage that another process can run.
typedef struct rh_orders__place {
    rh_task task;
    rh_eval_options opt; // counts these
    rh_limits limits;    // own
    rh_members members;  // own their models
    rh_study__agents agents;
    double hp[RH_PLAN__AGENTS][RH_STUDY__NHP];
} rh_orders__place;

bool rh_orders__valid(const rh_ranks__orders *orders); // counts are within their arrays
// byte: all models, one after the other. Owned: *out, free with rh_orders__close().
rh_status rh_orders__open(rh_orders__place **out, const rh_ranks__orders *orders,
                          const unsigned char *byte, rh_error *err);
void rh_orders__close(rh_orders__place *place); // NULL is allowed

// ---------------------------------------------------------------------------- messages

// Fill in version and shape of this program.
void rh_ranks__describe(rh_ranks__hello *hello);

// Send a message. send() returns when the bytes may be reused, perhaps only after the other
// rank has read them; it is for rank 0. post() copies them and never waits; it is for the
// others, so that no two ranks wait for each other. Nullable: err.
void rh_ranks__send(rh_ranks *ranks, int to, rh_ranks__message what, const void *bytes,
                    size_t n);
rh_status rh_ranks__post(rh_ranks *ranks, int to, rh_ranks__message what, const void *bytes,
                         size_t n, rh_error *err);

// The next message, in order for each sender; NULL: none. Borrowed until the next call.
const void *rh_ranks__next(rh_ranks *ranks, int *from, rh_ranks__message *what, size_t *n);

// Send RH_MESSAGE_END from rank 0 to all others, on the first call.
void rh_ranks__dismiss(rh_ranks *ranks);

// This rank received RH_MESSAGE_END, so it leaves without a message.
void rh_ranks__dismissed(rh_ranks *ranks);

#endif
