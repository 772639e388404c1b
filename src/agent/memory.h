// memory.h - a replay memory of n-step transitions, in flat arrays of fixed size.

#ifndef AGENT_MEMORY_H
#define AGENT_MEMORY_H

#include "rehearse/contract.h"

// A transition of m <= n steps from s to s':
//
//     ret = r_0 + gamma r_1 + ... + gamma^(m-1) r_(m-1),    discount = gamma^m, or 0 if s' is
//                                                           terminal
//
// Only rh_memory__init() allocates. The oldest transition makes room for a new one.
typedef struct rh_memory {
    int nobs, nact, n; // n: steps of a transition
    int naction;       // discrete actions; 0: continuous
    double gamma;
    int64_t room, count; // rows that fit, and that are there
    int64_t next;        // row that the next transition takes
    size_t width;        // floats of a row: s, s', a, ret, discount
    float *row;          // owned                            (room x width)
    int held, first;     // steps of this episode that wait for their n-th reward
    float *step;         // owned: their s and a, in a ring   (n x (nobs + nact))
    double *reward;      // owned: and their rewards          (n)
} rh_memory;

// Some rows of a memory. What is behind each other in a row is apart here.
typedef struct rh_memory__batch {
    int n;
    float *obs, *next;        // (n x nobs)
    float *act;               // (n x nact)
    float *reward, *discount; // (n)
} rh_memory__batch;

// Everything of `memory` but its shape (nobs, nact, n, naction, gamma, room) arrives zeroed.
// Nullable: err. Release with rh_memory__clear(), also after a failure.
rh_status rh_memory__init(rh_memory *memory, const char *owner, rh_error *err);
void rh_memory__clear(rh_memory *memory);

// Begin an episode; steps of an interrupted one that still wait are dropped.
void rh_memory__start(rh_memory *memory);

// A step from obs (nobs) with act (nact) to next (nobs).
void rh_memory__step(rh_memory *memory, const float *obs, const float *act, double reward,
                     const float *next);

// The last step of an episode. A truncated one is followed by the value of next, a terminal one
// by nothing: next is NULL.
void rh_memory__last(rh_memory *memory, const float *obs, const float *act, double reward,
                     const float *next);

// Draw rows from .. to - 1 of a batch, with replacement. The memory is not empty. Two memories
// can fill one batch.
void rh_memory__draw(const rh_memory *memory, rh_rng *rng, const rh_memory__batch *batch,
                     int from, int to);

// Row i, from the oldest on (width).
const float *rh_memory__row(const rh_memory *memory, int64_t i);

// Save between episodes, and load into a memory with rows of the same shape. One with less room
// takes the newest.
rh_status rh_memory__save(const rh_memory *memory, rh_state *state, rh_error *err);
rh_status rh_memory__load(rh_memory *memory, const rh_state *state, rh_error *err);

#endif
