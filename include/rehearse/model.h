// model.h - calibration models: an environment rebuilt from a log.
//
// A model is fitted once and then only read, so many threads may live in it at the same time.
// It has one or more members, each fitted to the log or to a part of it; an environment is made
// of a member, and what it is made of can be changed without another fit where that is
// possible. A kind is one file in src/model/ and one line in src/model/registry.c.

#ifndef REHEARSE_MODEL_H
#define REHEARSE_MODEL_H

#include "rehearse/repr.h"

typedef struct rh_model rh_model;
typedef struct rh_model_calls rh_model_calls; // what a kind does, see model_internal.h

typedef struct rh_model_type {
    const char *name;
    const char *about;     // one line
    const rh_param *param; // (nparam)
    int nparam;
    const rh_model_calls *calls;
} rh_model_type;

RH_API int rh_model_ntype(void);
RH_API const rh_model_type *rh_model_type_at(int i); // 0 .. rh_model_ntype() - 1

// The model called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_model_type *rh_model_find(const char *name, rh_error *err);

// ---------------------------------------------------------------------------- fitting one

// What each member of a model is fitted to.
typedef enum rh_resample {
    RH_RESAMPLE_ALL,      // all of the log
    RH_RESAMPLE_SUBSET,   // a random share of the transitions
    RH_RESAMPLE_BOOTSTRAP // as many episodes as there are, drawn with replacement
} rh_resample;

// Whether episodes end.
typedef enum rh_episodes {
    RH_EPISODES_AUTO, // they do when one ends in the log
    RH_EPISODES_END,
    RH_EPISODES_CONTINUE
} rh_episodes;

typedef struct rh_model_options {
    const double *param;  // of the kind; NULL: initial values      (nparam)
    int nmember;          // 1 to RH_MAX_MEMBER
    rh_resample resample; //
    double share;         // of the transitions of a subset, above 0, to 1
    const rh_task *task;  // what agents are to be told of sensors, actions, discount and length
                          // of a run; NULL: what the log shows       (borrowed)
    double gamma; // discount where there is no task; NAN: 1 where episodes end, else 0.99
    rh_episodes episodes; // where there is no task
    const double *obs_lo; // ranges that agents are to be told of sensors, whatever the task or
    const double *obs_hi; // the log says; NAN: as it says. Both or neither   (nobs, borrowed)
    const rh_log *starts; // where episodes begin; NULL: as in the log (borrowed)
    uint64_t seed;        // what all chance comes from
    int nthread;          // changes no result
    bool fidelity;        // compare the model with the log
    rh_watch watch;
    unsigned cookie; // set by rh_model_defaults(), leave alone
} rh_model_options;

// One member, all of the log, its own starts, seed 1, one thread, with fidelity.
RH_API rh_model_options rh_model_defaults(void);

// Fit a model to `log` as seen through `repr`. Transitions with missing numbers are left out.
// Owned: *out, free with rh_model_destroy(). Copied: log, repr. Nullable: opt, err. On failure
// *out is left untouched.
RH_API rh_status rh_model_fit(rh_model **out, const rh_model_type *type, const rh_log *log,
                              const rh_repr *repr, const rh_model_options *opt, rh_error *err);
RH_API void rh_model_destroy(rh_model *model); // NULL is allowed

// Whether that would be refused for what the options say or for what the log is: before a
// representation is learned, which may take long. Nullable: opt, err.
RH_API rh_status rh_model_check(const rh_model_type *type, const rh_log *log,
                                const rh_model_options *opt, rh_error *err);

// Other members of the same model: nothing is learned anew but from other parts of its log. Of
// opt nmember, resample, share, seed, nthread, fidelity and watch are looked at.
// Owned: *out, free with rh_model_destroy(). Copied: model. Nullable: err. On failure *out is
// left untouched.
RH_API rh_status rh_model_refit(rh_model **out, const rh_model *model,
                                const rh_model_options *opt, rh_error *err);

// A file that is whole or absent: HDF5, versioned, with checksums (docs/fit.md tells the
// layout).
RH_API rh_status rh_model_write(const rh_model *model, const char *path, rh_error *err);
RH_API rh_status rh_model_read(rh_model **out, const char *path, rh_error *err);

// ---------------------------------------------------------------------------- using one

RH_API const rh_model_type *rh_model_kind(const rh_model *model);
RH_API const double *rh_model_params(const rh_model *model); // as fitted  (nparam)
RH_API int rh_model_nmember(const rh_model *model);
RH_API rh_resample rh_model_resample(const rh_model *model);
RH_API const rh_log *rh_model_log(const rh_model *model);    // what was used of the log
RH_API const rh_repr *rh_model_repr(const rh_model *model);  //
RH_API const rh_task *rh_model_task(const rh_model *model);  //
RH_API uint64_t rh_model_fingerprint(const rh_model *model); // of the log it was fitted to

// An environment to run in: member number `member`, with parameters param (nparam) where they
// are not as fitted. What only another fit could change is refused.
// Owned: *out, free with rh_env_destroy(). Borrowed: model, must outlive *out.
// Nullable: param, err.
RH_API rh_status rh_model_env(rh_env **out, const rh_model *model, int member,
                              const double *param, rh_error *err);

// After how many steps an episode is usually cut off in a run of nstep steps in a model of
// this log. 0: out of memory.
RH_API int64_t rh_model_cutoff(const rh_log *log, int64_t nstep);

// ---------------------------------------------------------------------------- fidelity

// An error of predictions on held-out episodes, and of doing without a model.
typedef struct rh_fidelity_error {
    double model; // root mean square
    double mean;  // always predicting the mean
    double copy;  // predicting no change; NAN where that means nothing
} rh_fidelity_error;

// What episodes are like. NAN without any.
typedef struct rh_fidelity_spread {
    int64_t n;
    double q25, median, q75, mean;
} rh_fidelity_spread;

typedef struct rh_fidelity_action {
    double share;   // of the log's steps
    double beyond;  // share of the states from which this action is out of reach
    double nearest; // median distance to the nearest step with this action, in real steps, from
                    // the states where another was taken
} rh_fidelity_action;

// Does the model behave like the log? All distances are those of codes; "in real steps" is
// divided by the median length of a logged step. docs/fidelity.md tells how each is come by.
typedef struct rh_fidelity {
    int64_t nheld;                    // held-out transitions that were asked for
    int nfold;                        // parts of the log that were held out in turn
    double held_beyond;               // share of them out of reach: not in the errors
    rh_fidelity_error state;          // in codes
    rh_fidelity_error *sensor;        // each in its own unit                    (nobs)
    rh_fidelity_error reward;         //
    rh_fidelity_error terminal;       // of its probability
    rh_fidelity_spread logged_return; // episodes of the log, or stretches of a continuing one
    rh_fidelity_spread simulated_return; // imitated in the model
    rh_fidelity_spread logged_length;    // of episodes
    rh_fidelity_spread simulated_length; //
    double logged_cut;                   // share of those that were cut off, not ended
    double simulated_cut;                //
    int64_t cutoff;                      // steps after which run ones are, or of a stretch
    double beyond;                       // share of all (state, action) queries out of reach
    rh_fidelity_action *action;          // of discrete actions                     (naction)
    double reach;                        // in codes; INFINITY: none
    double step;                         // median length of a logged step, in codes
    double stitched;         // share of the imitation's steps that leave a logged path
    double jump;             // median distance of such a stitch, in real steps
    double jump90;           // nine tenths are no longer
    double random_jump;      // the median of uniform random behaviour
    double random_return;    // mean return of uniform random behaviour in the model
    double random_better;    // share of its episodes above the log's median
    double random_logged;    // what share of logged episodes is above it: 0.5 or less
    double random_steps;     // its steps for each such episode; INFINITY: none came
    rh_log_finding *finding; // the gravest first                       (nfinding)
    int nfinding;            //
    int ncount[3];           // how many of each severity
} rh_fidelity;

// What was found when the model was fitted; NULL when it was not asked for.
RH_API const rh_fidelity *rh_model_fidelity(const rh_model *model);

#endif
