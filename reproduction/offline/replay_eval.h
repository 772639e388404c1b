// replay_eval.h - replay evaluators: an agent learns from the samples of a log, each used once,
// until they run out.
//
// After Mandel, Liu, Brunskill and Popovic (AAAI 2016). No model is fitted: every reward and
// every next state that an agent meets was logged in the state it is in and for the action it
// takes. States are bins of the sensors' ranges. docs/replay-evaluators.md says what is
// unbiased and how soon samples run out.

#ifndef REHEARSE_REPLAY_EVAL_H
#define REHEARSE_REPLAY_EVAL_H

#include "rehearse/log.h"

#define RH_REPLAY_AUTO (-1)    // in `bins`: chosen from the log
#define RH_REPLAY_MAX_BINS 256 // of a sensor

typedef enum rh_replay_method {
    RH_REPLAY_QUEUE,    // a queue per (bin, action): the next sample of the action taken
    RH_REPLAY_REJECTION // a queue per bin: samples are accepted with a probability that gives
                        // the accepted actions the agent's distribution
} rh_replay_method;
const char *const *rh_replay_method_names(int *n); // in order of the enum

// The bins of a log.
typedef struct rh_replay_grid {
    int bins;          // of each sensor's range
    int64_t nbin;      // bins of all sensors together that have a sample
    int64_t nsample;   // transitions that can be used: nothing that is needed is missing
    int64_t nstart;    // start states
    double per_action; // samples per bin that has some, and action
} rh_replay_grid;

// Divide each sensor's range in task into `bins` equal parts, 1 to RH_REPLAY_MAX_BINS; values
// outside count as the nearest inside. RH_REPLAY_AUTO: the most bins, up to 64, with which (and
// with all fewer) there are 5 samples or more per bin that has some, and action, on average.
// Refused: a log of another number of sensors or actions than task, continuous actions, a log
// without a usable sample. Nullable: err.
rh_status rh_replay_describe(const rh_log *log, const rh_task *task, int bins,
                             rh_replay_grid *grid, rh_error *err);

typedef struct rh_replay_options {
    rh_replay_method method;
    int bins;              // of a sensor's range, or RH_REPLAY_AUTO
    int64_t nstep;         // most steps of a run, 1 or more; INT64_MAX: until samples run out
    int nrun;              // runs per setting, 1 or more
    uint64_t first_run;    // the runs are first_run .. first_run + nrun - 1
    uint64_t seed;         // random seed
    int nthread;           // parallel runs, 1 or more
    const rh_state *state; // initial state of every agent; NULL: a new agent   (borrowed)
    bool frozen;           // the agents act and do not learn
    unsigned cookie;       // set by rh_replay_defaults(), leave alone
} rh_replay_options;

// Queues, RH_REPLAY_AUTO, until samples run out, 30 runs, seed 1, one thread.
rh_replay_options rh_replay_defaults(void);

// One run.
typedef struct rh_replay_result {
    double score;      // mean return of the completed episodes; in a continuing task the
                       // reward of task->nstep steps at the rate of the run. NAN: no episode
                       // completed, or no step made; -INFINITY: the agent broke down
    double total;      // sum of rewards
    int64_t nstep;     // steps made
    int64_t nepisode;  // episodes completed
    int64_t nrejected; // samples that were rejected
    bool exhausted;    // it ended because a sample or a start state was missing
    bool broken;       // the agent failed, or its numbers were no longer finite
} rh_replay_result;

// Do nrun runs of each setting hp (nsetting x nparam of the agent), which must have discrete
// actions: result (nsetting x nrun). The order of the samples and the agent's stream depend on
// the run only, so settings can be compared in pairs. task: what the agents are told.
// Nullable: hp (one setting: initial values), opt (all defaults), err.
rh_status rh_replay_runs(const rh_log *log, const rh_agent_type *agent, const rh_task *task,
                         int nsetting, const double *hp, const rh_replay_options *opt,
                         rh_replay_result *result, rh_error *err);

#endif
