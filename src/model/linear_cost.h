// linear_cost.h - shared by the files that fit and compute the reward of the linear model.

#ifndef LINEAR_COST_H
#define LINEAR_COST_H

#include "linear_internal.h"

// Terms; i and j are sensors or action inputs.
enum {
    RH_COST_VALUE,    // x_i of the next state
    RH_COST_SQUARE,   //
    RH_COST_DISTANCE, // |x_i - at|
    RH_COST_GAP,      // |x_i - x_j|
    RH_COST_GAP2,     // its square
    RH_COST_NOW,      // the same five of the present state
    RH_COST_NOW_SQUARE,
    RH_COST_NOW_DISTANCE,
    RH_COST_NOW_GAP,
    RH_COST_NOW_GAP2,
    RH_COST_ACTION,        // u_j: a number of the action, or whether action j is taken
    RH_COST_ACTION_SQUARE, //
    RH_COST_ACTION_SIZE,   // |u_j - at|
    RH_COST_CHANGE,        // |u_j - u_j before|
    RH_COST_CHANGE2,       //
    RH_COST_PRODUCT,       // x_i u_j
    RH_COST_NOW_PRODUCT,   //
    RH_COST_ABOVE,         // x_i - at, not below 0
    RH_COST_BELOW,         // at - x_i, not below 0
    RH_COST_SHIFT,         // |change of x_i|
    RH_COST_TRADE,         // x_i of the present state times the change of x_j
    RH_COST_ONE,           // 1: what a gate alone is worth
    RH_COST_NKIND
};

// A term of a step, without its weight.
double rh_linear__term(const rh_linear *m, const rh_linear__cost *c, const double *s,
                       const double *act, const double *before, const double *next);

// Whether a step to `next` counts.
bool rh_linear__gate_open(const rh_linear__cost *c, const double *next);

// A pursuit in progress: see linear_reward.c.
typedef struct rh_linear__pursuit {
    rh_linear *m;
    const rh_model *model;
    int n;                 // steps of the sample
    int32_t *at;           // transitions                          (n)
    double *y, *left;      // rewards, and what is left of them    (n)
    rh_linear__cost *dict; // (ndict)
    int ndict, room;       // room for more
    double *column;        // terms of the steps, mean 0 and length 1  (room x n)
    double *mean, *length; // as they were                         (room)
    unsigned char *bin;    // of each step: see linear_gate.c      (n)
    rh_scratch memory;
} rh_linear__pursuit;

// Whether the error of a step tells when to stop: it is not learned from.
bool rh_linear__is_kept(const rh_linear__pursuit *p, int i);

// The value of a term in step i of the sample.
double rh_linear__term_of(const rh_linear__pursuit *p, const rh_linear__cost *c, int i);

// ---------------------------------------------------------------------------- linear_gate.c

// The gated term that is most correlated with what is left, if more than `least`: its
// correlation and *out; otherwise `least`. work: scratch (n).
double rh_linear__best_gated(const rh_linear__pursuit *p, double least, rh_linear__cost *out,
                             double *work);

#endif
