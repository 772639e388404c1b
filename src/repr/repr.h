// repr.h - what other modules of the library use of repr beside its public header.

#ifndef RH_REPR_H
#define RH_REPR_H

#include "rehearse/repr.h"

// Published parameters of a kind.
typedef struct rh_repr__preset {
    const char *name;   // "acrobot", "acrobot-exp2", ...
    const char *about;  // their source
    const char *type;   // name of the kind
    rh_setting set[16]; // ends with one without a name
} rh_repr__preset;

// Dynamics awareness: how much nearer the codes of a state and its successor are than those of
// two random states: 1 - near / far, at most 1; 0 if the code ignores the dynamics.
typedef struct rh_repr__aware {
    double value;
    double near, far; // mean distances
    int64_t npair;
} rh_repr__aware;

// The result of training.
typedef struct rh_repr__training {
    int64_t nstep;    // training steps, 0 if there is no training
    double loss;      // at the end, on held-out triples
    bool early;       // ended early: the loss rose
    double awareness; // dynamics awareness of the log's own steps
    double held_out;  // and of held-out episodes; NAN if not measured
} rh_repr__training;
int rh_repr__npreset(void);
const rh_repr__preset *rh_repr_preset__at(int i); // NULL unless 0 .. npreset - 1
const rh_repr__preset *rh_repr_preset__find(const char *name, rh_error *err);

// Set the values of a preset in param (nparam of its kind); the rest is unchanged.
rh_status rh_repr_preset__apply(const rh_repr__preset *preset, double *param, rh_error *err);
rh_status rh_repr__copy(rh_repr **out, const rh_repr *repr, rh_error *err);

// Choose kind, number of codes and training by dynamics awareness in five folds of held-out
// episodes, among candidates that do not blur states, and learn the choice from all of the log.
// Ignores param of opt; nthread changes no result. trial (RH_REPR_NTRIAL) and *ntrial: the
// candidates, the best first. Nullable: trial and ntrial together; opt, err.
rh_status rh_repr__choose_kind(rh_repr **out, rh_repr_trial *trial, int *ntrial,
                               const rh_log *log, const rh_repr_options *opt, int nthread,
                               rh_error *err);
const double *rh_repr__params(const rh_repr *repr); // (nparam)
int rh_repr__nobs(const rh_repr *repr);
int rh_repr__nact(const rh_repr *repr); // 0 if codes are of states alone
int rh_repr__ncode(const rh_repr *repr);
rh_repr__training rh_repr__trained(const rh_repr *repr);

// Compute code (n x ncode) of observations obs (n x nobs), with act (n x nact) if codes are of
// both. An input with a missing number gives a code of NANs. Nullable: act, err.
rh_status rh_repr__encode(const rh_repr *repr, int64_t n, const double *obs, const double *act,
                          float *code, rh_error *err);

// The same for one row, without allocating: scratch holds rh_repr__nscratch() floats, aligned
// to 64.
size_t rh_repr__nscratch(const rh_repr *repr);
void rh_repr__encode_one(const rh_repr *repr, const double *obs, const double *act,
                         float *scratch, float *code);

// Over the steps of the episodes in use (NULL: all). Nullable: use, err.
rh_status rh_repr__awareness(rh_repr__aware *out, const rh_repr *repr, const rh_log *log,
                             const uint8_t *use, uint64_t seed, rh_error *err);

// Save to named arrays, and load. Owned: *out. Nullable: err.
rh_status rh_repr__save(const rh_repr *repr, rh_state *state, rh_error *err);
rh_status rh_repr__load(rh_repr **out, const rh_state *state, rh_error *err);

#endif
