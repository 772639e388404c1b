// model.h - calibration models: an environment rebuilt from a log.
//
// A model is fitted once and then only read, so many threads may run agents in it at the same
// time. It has one or more members, each fitted to the log or to a part of it. An environment
// is made from a member; parameters that do not affect the fit can differ between environments.
// A kind of model is one file in src/model/ and one line in src/model/registry.c.

#ifndef REHEARSE_MODEL_H
#define REHEARSE_MODEL_H

#include "rehearse/repr.h"

typedef struct rh_model rh_model;
typedef struct rh_model_calls rh_model_calls; // internal

typedef struct rh_model_type {
    const char *name;
    const char *about;     // one line
    const rh_param *param; // (nparam)
    int nparam;
    const rh_model_calls *calls;
} rh_model_type;

RH_API int rh_model_ntype(void);
RH_API const rh_model_type *rh_model_type_at(int i); // NULL unless 0 .. rh_model_ntype() - 1

// The kind called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_model_type *rh_model_find(const char *name, rh_error *err);

// ---------------------------------------------------------------------------- fitting

// What each member is fitted to.
typedef enum rh_resample {
    RH_RESAMPLE_ALL,       // all of the log
    RH_RESAMPLE_SUBSET,    // a random share of the transitions
    RH_RESAMPLE_BOOTSTRAP, // episodes drawn with replacement, as many as the log has
    RH_RESAMPLE_PARTS      // consecutive parts of the log, one for each member
} rh_resample;

// Whether the task is episodic.
typedef enum rh_episodes {
    RH_EPISODES_AUTO, // if any episode of the log terminates
    RH_EPISODES_END,
    RH_EPISODES_CONTINUE
} rh_episodes;

// Resets: steps that put the plant back to a start, in a log in which nothing is marked.
typedef enum rh_resets {
    RH_RESETS_AUTO, // searched for, if no step of the log is terminal and the task is
                    // continuing
    RH_RESETS_NONE
} rh_resets;

typedef struct rh_model_options {
    const double *param;  // of the kind; NULL: initial values      (nparam)
    int nmember;          // 1 to RH_MAX_MEMBER
    rh_resample resample; //
    double share;         // of the transitions in a subset, above 0 and at most 1
    const rh_task *task; // the task that agents are told; NULL: derived from the log (borrowed)
    double gamma;        // discount if there is no task; NAN: 1 if episodic, else 0.99
    rh_episodes episodes;   // if there is no task
    const double *obs_lo;   // sensor ranges that override those of the task or the log; NAN:
    const double *obs_hi;   // unchanged. Both or neither                (nobs, borrowed)
    const double *act_lo;   // the same of continuous actions; at least what the log has
    const double *act_hi;   //                                           (nact, borrowed)
    rh_resets resets;       // whether resets are searched for
    const double *limit_lo; // limits of sensors by hand, instead of those the log shows; NAN:
    const double *limit_hi; // none. Both or neither                     (nobs, borrowed)
    const rh_log *starts;   // a log of start states; NULL: starts of the log itself (borrowed)
    rh_prior prior; // steps that agents in the model begin with, best not those it is fitted to
    uint64_t seed;  // random seed
    int nthread;    // changes no result
    bool fidelity;  // measure the model's fidelity to the log
    rh_watch watch;
    unsigned cookie; // set by rh_model_defaults(), leave alone
} rh_model_options;

// One member fitted to all of the log, the log's starts, seed 1, one thread, with fidelity.
RH_API rh_model_options rh_model_defaults(void);

// Fit a model to `log`, with states compared by their codes in `repr`. Transitions with missing
// or infinite numbers are left out.
// Owned: *out, free with rh_model_destroy(). Copied: log, repr. Nullable: opt, err. On failure
// *out is left untouched.
RH_API rh_status rh_model_fit(rh_model **out, const rh_model_type *type, const rh_log *log,
                              const rh_repr *repr, const rh_model_options *opt, rh_error *err);
RH_API void rh_model_destroy(rh_model *model); // NULL is allowed

// Write and read a file with version and checksum. examples/python/read_model.py has its
// layout. A failed write leaves no file.
RH_API rh_status rh_model_write(const rh_model *model, const char *path, rh_error *err);
RH_API rh_status rh_model_read(rh_model **out, const char *path, rh_error *err);

// ---------------------------------------------------------------------------- using a model

RH_API const rh_model_type *rh_model_type_of(const rh_model *model);
RH_API const double *rh_model_params(const rh_model *model); // as fitted  (nparam)
RH_API int rh_model_nmember(const rh_model *model);
RH_API const rh_log *rh_model_log(const rh_model *model);   // the transitions used
RH_API const rh_repr *rh_model_repr(const rh_model *model); //
RH_API const rh_task *rh_model_task(const rh_model *model); //

// Make an environment from a member. param (nparam) overrides the fitted parameters; a change
// that needs another fit is refused.
// Owned: *out, free with rh_env_destroy(). Borrowed: model, must outlive *out.
// Nullable: param, err.
RH_API rh_status rh_model_env(rh_env **out, const rh_model *model, int member,
                              const double *param, rh_error *err);

// The default time limit of an episode, in a run of nstep steps in a model of this log: the
// plant's own, or a part of the run. 0: out of memory.
RH_API int64_t rh_model_cutoff(const rh_log *log, int64_t nstep);

// ---------------------------------------------------------------------------- facts

// What a log shows about one sensor (docs/inspect.md explains how each is found).
typedef struct rh_sensor {
    bool constant;  // it never changes; nothing else is then known
    double period;  // it wraps round: the length of its circle, values from base to
    double base;    //   base + period; NAN: it does not
    double wall_lo; // it stops at this least value, or at this most; NAN: it does not
    double wall_hi; //
    int partner;    // the other sensor of a pair on a circle around 0 (cos, sin); -1: none
    double radius;  // of that circle; NAN: none
    bool noise;     // its value says next to nothing about its next one
    bool exogenous; // neither actions nor sensors that actions move have an effect on it
} rh_sensor;

// Beyond a limit, steps end: arrivals there are terminal.
typedef struct rh_limit {
    int sensor;        //
    bool above;        // an upper limit: steps end above value; else a lower one
    double value;      //
    int64_t nterminal; // terminal arrivals past it, each counted at one limit only
    double reward;     // mean reward of these steps; NAN: there are none
    bool given;        // by hand
    bool lone;         // the sensor has no limit and no wall on its other side: the log cannot
                       // say what happens there
} rh_limit;

// What a log shows about its sensors, resets and limits.
typedef struct rh_facts {
    int nobs;             //
    rh_sensor *sensor;    //                                                      (nobs)
    rh_limit *limit;      // by sensor, the lower one first                       (nlimit)
    int nlimit;           //
    int64_t nreset;       // resets that were found; the log marks none
    int64_t nterminal;    // terminal arrivals: of resets, or of marked ends with known s'
    int64_t nunexplained; // of these, beyond no limit
} rh_facts;

RH_API const rh_fields *rh_facts_fields(void); // for rh_describe()

// Facts of the log that a model was fitted to. A reset is a terminal step of the model's log;
// it leads to where the step would have led.
RH_API const rh_facts *rh_model_facts(const rh_model *model);

#define RH_NOT_SHOWN_MOST 24 // most effects that are named

// An effect that a log cannot show: there the controller always answers the same, or never with
// this action.
typedef struct rh_not_shown {
    int action;      // a discrete action, or a number of a continuous one
    int sensor;      // the region: values lo to hi of this sensor; -1: anywhere
    double lo, hi;   //
    int64_t nstep;   // logged steps in the region
    int64_t nchoice; // of these, with this action where the controller might have taken another
} rh_not_shown;

// The natural experiments of a log: steps whose action is not what the controller usually does
// there. Only these tell the effect of an action from its reason.
typedef struct rh_experiments {
    int64_t nstep;                             // steps whose usual action is known
    int64_t n;                                 // natural experiments among them
    int nnot_shown;                            //
    rh_not_shown not_shown[RH_NOT_SHOWN_MOST]; //                               (nnot_shown)
} rh_experiments;

// ---------------------------------------------------------------------------- fidelity

// Root mean square error of predictions on held-out episodes, beside two trivial predictions.
typedef struct rh_fidelity_error {
    double model;
    double mean;        // always predicting the mean
    double persistence; // predicting no change; NAN for rewards and ends
} rh_fidelity_error;

// Returns or lengths of n episodes. NAN if there are none.
typedef struct rh_fidelity_spread {
    int64_t n;
    double q25, median, q75, mean;
} rh_fidelity_spread;

typedef struct rh_fidelity_action {
    double share;           // of the log's steps
    double out_of_coverage; // share of the states in which this action is out of coverage
    double nearest; // median distance, in median steps, from a state where another action
                    // was taken to the nearest step with this one
} rh_fidelity_action;

// How a model replays steps beside the logged path. Scores are as those of stretches: 0 as
// logged, 1 as a random stretch of the log. NAN: too few steps for it.
typedef struct rh_fidelity_beside {
    int nexperiment;    // natural experiments that were replayed
    double experiments; // score of replays from them
    double ratio;       // error of the states there / error at usual steps
    double shown;       // how much of the effects that the model predicts there the log shows:
    double shown_error; //   1: all, 0: none; and its standard error
    int nsensor;        // replays from the outer tenth of the sensors' ranges,
    double sensors;     //   their score in a model of the inner part
    int naction;        // and the same of actions
    double actions;     //
    double score;       // mean of the three scores
} rh_fidelity_beside;

// Does the model behave like the log? Distances are between codes; "in median steps" means
// divided by the median length of a logged step. docs/fidelity.md explains how each is
// computed.
typedef struct rh_fidelity {
    int64_t nheld;                       // held-out transitions that were predicted
    int nfold;                           // parts of the log that were held out in turn
    double held_out_of_coverage;         // share of nheld, not in the errors
    rh_fidelity_error state;             // between codes
    rh_fidelity_error *sensor;           // each in its own unit                    (nobs)
    rh_fidelity_error reward;            //
    rh_fidelity_error terminal;          // of the predicted probability of an end
    rh_fidelity_spread logged_return;    // of episodes, or stretches of a continuing log
    rh_fidelity_spread simulated_return; // of the log's behaviour imitated in the model
    rh_fidelity_spread logged_length;    // of episodes
    rh_fidelity_spread simulated_length; //
    double logged_truncated;             // share of the episodes that did not terminate
    double simulated_truncated;          //
    int64_t cutoff;             // time limit of a simulated episode, or length of a stretch
    double out_of_coverage;     // share of all pairs of state and action
    rh_fidelity_action *action; // of discrete actions                        (naction)
    double reach;               // coverage radius in codes; INFINITY: none
    double step;                // median length of a logged step, in codes
    double stitched;            // share of the imitation's steps that leave a logged path
    double jump;                // median distance of such a stitch, in median steps
    double jump90;              // its 90 % quantile
    double random_jump;         // the median with uniform random actions
    double random_return;       // mean return of uniform random actions in the model
    double random_better;       // share of their episodes that beat the log's median return
    double logged_better;       // share of the log's episodes that do: 0.5 or less
    double random_steps;        // random steps per such episode; INFINITY: there were none
    rh_experiments experiments; // natural experiments of the log
    rh_fidelity_beside beside;  // how the model replays from them; NAN: not compared
    rh_findings findings;       //
} rh_fidelity;

// Measured by the fit; NULL if the options did not ask for it.
RH_API const rh_fidelity *rh_model_fidelity(const rh_model *model);
RH_API const rh_fields *rh_fidelity_fields(void); // its fields, for rh_describe()

// ---------------------------------------------------------------------------- coverage

#define RH_COVER_TYPICAL 5 // logged steps within the radius of a typical logged step
#define RH_COVER_MOST 64   // that are counted

// How well a log covers an action in a state.
typedef struct rh_cover {
    double nearest; // distance to the nearest logged step with this action, in radii;
                    // INFINITY: the log has none
    int near;       // logged steps with this action within the radius, at most RH_COVER_MOST
} rh_cover;

// ---------------------------------------------------------------------------- replays

#define RH_REPLAY_NSTRETCH 6 // most stretches that are replayed to look at,
#define RH_REPLAY_NSENSOR 8  //   most sensors of each,
#define RH_REPLAY_NPOINT 60  //   most points

// A stretch of the log that was held out, and what replays of it came to. A series is a sensor;
// the last one is the sum of rewards since the first state.
typedef struct rh_replayed {
    int64_t first;              // transition of the model's log
    int nstep;                  // steps
    bool ended;                 // the episode ended with the last of these
    int nended;                 // replays that had ended by then
    int npoint;                 //
    int step[RH_REPLAY_NPOINT]; // after how many steps, 0 first, nstep last (npoint)
    // what was logged, and the least, the median and the greatest of the replays that are still
    // running; NAN: unknown, or all have ended
    double logged[RH_REPLAY_NSENSOR + 1][RH_REPLAY_NPOINT];
    double lo[RH_REPLAY_NSENSOR + 1][RH_REPLAY_NPOINT];
    double median[RH_REPLAY_NSENSOR + 1][RH_REPLAY_NPOINT];
    double hi[RH_REPLAY_NSENSOR + 1][RH_REPLAY_NPOINT];
} rh_replayed;

typedef struct rh_replays {
    int nreplay;                   // of each stretch
    int nsensor;                   // those that vary, at most RH_REPLAY_NSENSOR
    int nvary;                     // how many do
    int sensor[RH_REPLAY_NSENSOR]; // of the series                              (nsensor)
    int nstretch;                  // 0: the log is too short
    rh_replayed stretch[RH_REPLAY_NSTRETCH];
} rh_replays;

// ---------------------------------------------------------------------------- choosing

// What a replay of a held-out stretch is compared in: the state, the sum of rewards, and
// whether the episode has ended.
typedef enum rh_model_aspect {
    RH_MODEL_STATE,
    RH_MODEL_REWARD,
    RH_MODEL_END,
    RH_MODEL_NASPECT
} rh_model_aspect;

#define RH_MODEL_NHORIZON 10 // most horizons: 1, 2, 5, 10, ... steps
#define RH_MODEL_NTRIAL 12   // most candidates
#define RH_MODEL_NPARAM 48   // most parameters of a kind of model or representation
#define RH_MODEL_NOTE 240    // bytes of a reason

// A candidate of rh_model__choose() and its result. What was not measured is NAN.
typedef struct rh_model_trial {
    const char *kind; // of model: "stitching", "carrying", "network" or "linear"
    const rh_model_type *type;
    double param[RH_MODEL_NPARAM];      // (nparam of the type)
    const rh_repr_type *repr;           // representation of states
    double repr_param[RH_MODEL_NPARAM]; // (nparam of repr)
    bool optional;                      // tried only if the others leave something to gain

    bool tried;
    double score; // of replayed stretches: 0 perfect, 1 as a random stretch of the log
    double error; // its standard error
    double behind, behind_error;   // score minus that of the chosen, paired
    rh_fidelity_beside beside;     // replays beside the logged path
    double total;                  // by which candidates are compared: mean of both scores
    double part[RH_MODEL_NASPECT]; // the score is the mean of these,
    double at[RH_MODEL_NASPECT][RH_MODEL_NHORIZON]; //   each the mean of these
    rh_fidelity_spread simulated_return;            // of the log's behaviour imitated in it
    rh_fidelity_spread simulated_length;            // of episodes
    double simulated_ended;                         // share of the episodes that terminated
    double imitation; // 0: returns and lengths are distributed as in the log; 1: all of them
                      // are above the log's, or below
    bool chosen;
    bool credible;            // the best of its kind, and not much worse than the chosen one
    char note[RH_MODEL_NOTE]; // why it was chosen or not
} rh_model_trial;

// A comparison of candidates.
typedef struct rh_model_comparison {
    int ntrial;
    rh_model_trial trial[RH_MODEL_NTRIAL];    // the simplest first
    int nhorizon, horizon[RH_MODEL_NHORIZON]; // 0: nothing was replayed
    int nstretch;                             // stretches replayed,
    int nunit;                                //   in so many held-out episodes or blocks,
    int nfold;                                //   held out in so many parts
    int64_t nstep; // steps of the log, or of the excerpt of it, that was used
    rh_fidelity_spread logged_return, logged_length; // to be imitated
    double logged_ended;
    char reason[RH_MODEL_NOTE]; // of the choice
} rh_model_comparison;

// The comparison that chose the model; NULL if there was none. Also of a model that was read
// from a file or fitted again.
RH_API const rh_model_comparison *rh_model_compared(const rh_model *model);
RH_API const rh_fields *rh_comparison_fields(void); // its fields, for rh_describe()

#endif
