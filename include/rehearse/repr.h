// repr.h - representations: codes of states, in which nearby means similar.
//
// A representation maps an observation to a code, a few numbers; states with nearby codes are
// considered similar. It is learned from a log once and then only read, so any number of
// threads may use it. A kind is one file in src/repr/ and one line in src/repr/registry.c.

#ifndef REHEARSE_REPR_H
#define REHEARSE_REPR_H

#include "rehearse/log.h"

#define RH_MAX_CODE 64 // numbers of a code

typedef struct rh_repr rh_repr;
typedef struct rh_repr_work rh_repr_work; // internal

typedef struct rh_repr_type {
    const char *name;
    const char *about;     // one line
    const rh_param *param; // (nparam)
    int nparam;
    bool ordered; // learned from the order of steps; refused if the log has none

    // Learn it.
    rh_status (*fit)(rh_repr *repr, const rh_repr_work *work, rh_error *err);
} rh_repr_type;

RH_API int rh_repr_ntype(void);
RH_API const rh_repr_type *rh_repr_type_at(int i); // NULL unless 0 .. rh_repr_ntype() - 1

// The kind called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_repr_type *rh_repr_find(const char *name, rh_error *err);

// ---------------------------------------------------------------------------- learning

typedef struct rh_repr_options {
    const double *param;  // of the kind; NULL: initial values       (nparam)
    bool actions;         // codes of state and continuous action together
    const uint8_t *use;   // episodes to learn from; NULL: all       (nepisode)
    const double *period; // sensors that wrap round: the length of the circle, values from base
    const double *base;   // to base + period; NAN: it does not. NULL: none does (nobs)
    uint64_t seed;        // random seed
    rh_watch watch;
    unsigned cookie; // set by rh_repr_defaults(), leave alone
} rh_repr_options;

RH_API rh_repr_options rh_repr_defaults(void);

// Learn a representation. States with missing numbers are left out. The same log, options and
// seed give the same bits on machines with fused multiply-add.
// Owned: *out, free with rh_repr_destroy(). Nullable: opt (all defaults), err. On failure *out
// is left untouched.
RH_API rh_status rh_repr_fit(rh_repr **out, const rh_repr_type *type, const rh_log *log,
                             const rh_repr_options *opt, rh_error *err);
RH_API void rh_repr_destroy(rh_repr *repr); // NULL is allowed

// A candidate of the choice of a representation, and its result.
typedef struct rh_repr_trial {
    const rh_repr_type *type;
    double param[16];     // (nparam of the kind)
    double awareness;     // mean over the folds
    double awareness_err; // its standard error
    double blur; // distance in scaled inputs to the state with the nearest code, divided
                 // by that to the nearest state; mean over the folds
    bool chosen;
} rh_repr_trial;

#define RH_REPR_NTRIAL 64

// ---------------------------------------------------------------------------- using

RH_API const rh_repr_type *rh_repr_type_of(const rh_repr *repr);

#endif
