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

// Published parameters of a kind.
typedef struct rh_repr_preset {
    const char *name;   // "acrobot", "acrobot-exp2", ...
    const char *about;  // their source
    const char *type;   // name of the kind
    rh_setting set[16]; // ends with one without a name
} rh_repr_preset;

RH_API int rh_repr_npreset(void);
RH_API const rh_repr_preset *rh_repr_preset_at(int i); // NULL unless 0 .. npreset - 1
RH_API const rh_repr_preset *rh_repr_preset_find(const char *name, rh_error *err);

// Set the values of a preset in param (nparam of its kind); the rest is unchanged.
RH_API rh_status rh_repr_preset_apply(const rh_repr_preset *preset, double *param,
                                      rh_error *err);

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
RH_API rh_status rh_repr_copy(rh_repr **out, const rh_repr *repr, rh_error *err);

// A candidate of rh_repr_choose() and its result.
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

// Choose kind, number of codes and training by dynamics awareness in five folds of held-out
// episodes, among candidates that do not blur states, and learn the choice from all of the log.
// Ignores param of opt; nthread changes no result. trial (RH_REPR_NTRIAL) and *ntrial: the
// candidates, the best first. Nullable: trial and ntrial together; opt, err.
RH_API rh_status rh_repr_choose(rh_repr **out, rh_repr_trial *trial, int *ntrial,
                                const rh_log *log, const rh_repr_options *opt, int nthread,
                                rh_error *err);

// ---------------------------------------------------------------------------- using

RH_API const rh_repr_type *rh_repr_kind(const rh_repr *repr);
RH_API const double *rh_repr_params(const rh_repr *repr); // (nparam)
RH_API int rh_repr_nobs(const rh_repr *repr);
RH_API int rh_repr_nact(const rh_repr *repr); // 0 if codes are of states alone
RH_API int rh_repr_ncode(const rh_repr *repr);

// The result of training.
typedef struct rh_repr_training {
    int64_t nstep;    // training steps, 0 if there is no training
    double loss;      // at the end, on held-out triples
    bool early;       // ended early: the loss rose
    double awareness; // dynamics awareness of the log's own steps
    double held_out;  // and of held-out episodes; NAN if not measured
} rh_repr_training;
RH_API rh_repr_training rh_repr_trained(const rh_repr *repr);

// Compute code (n x ncode) of observations obs (n x nobs), with act (n x nact) if codes are of
// both. An input with a missing number gives a code of NANs. Nullable: act, err.
RH_API rh_status rh_repr_encode(const rh_repr *repr, int64_t n, const double *obs,
                                const double *act, float *code, rh_error *err);

// The same for one row, without allocating: scratch holds rh_repr_nscratch() floats, aligned to
// 64.
RH_API size_t rh_repr_nscratch(const rh_repr *repr);
RH_API void rh_repr_encode_one(const rh_repr *repr, const double *obs, const double *act,
                               float *scratch, float *code);

// Dynamics awareness: how much nearer the codes of a state and its successor are than those of
// two random states: 1 - near / far, at most 1; 0 if the code ignores the dynamics.
typedef struct rh_awareness {
    double value;
    double near, far; // mean distances
    int64_t npair;
} rh_awareness;

// Over the steps of the episodes in use (NULL: all). Nullable: use, err.
RH_API rh_status rh_repr_awareness(rh_awareness *out, const rh_repr *repr, const rh_log *log,
                                   const uint8_t *use, uint64_t seed, rh_error *err);

// Save to named arrays, and load. Owned: *out. Nullable: err.
RH_API rh_status rh_repr_save(const rh_repr *repr, rh_state *state, rh_error *err);
RH_API rh_status rh_repr_load(rh_repr **out, const rh_state *state, rh_error *err);

#endif
