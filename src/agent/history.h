// history.h - the last observations of an episode and the actions between them, in one array.
//
// A stack of n observations is what a network sees instead of one:
//
//     o_t, o_(t-1), ... o_(t-n+1), a_(t-1), ... a_(t-n+1)
//
// 1. Before an episode began there was its first observation, and no action: zeros.
// 2. A discrete action is a 1 in its place, with up to RH_HISTORY_PLACES actions; of more, it
//    is its number, spread over [-1, 1]. A continuous one is in [-1, 1].
// 3. With n = 1 it is the observation alone.

#ifndef AGENT_HISTORY_H
#define AGENT_HISTORY_H

#include "rehearse/contract.h"

#define RH_HISTORY_PLACES 8 // by hand: levels of a valve and stages of a pump are few

typedef struct rh_history {
    int nobs, nact, naction; // of the task
    int n;                   // observations, 1 or more
} rh_history;

// Numbers of an action, and of a stack.
int rh_history__nact(const rh_history *h);
int rh_history__width(const rh_history *h);

// Begin an episode in a stack (width) with obs (nobs); go on after act (nact), an index or
// numbers in [-1, 1].
void rh_history__start(const rh_history *h, const float *obs, float *stack);
void rh_history__step(const rh_history *h, const float *act, const float *obs, float *stack);

#endif
