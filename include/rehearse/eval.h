// eval.h - runs: an agent learns in an environment from its first step to its last, and is
// scored for what it got on the way (the paper's AgentPerfInEnv).
//
// The unit of work is (setting, member, run). Its random streams are named by the member
// and the run only: every setting meets the same starts, the same noise and the same agent's
// random stream, so that settings are compared in pairs, and a run's result does not depend on
// what else is evaluated with it, on the number of threads, or on order.

#ifndef REHEARSE_EVAL_H
#define REHEARSE_EVAL_H

#include "rehearse/contract.h"

// How one run becomes one number; larger is better. A continuing task has one episode that
// never ends: its average is the total reward, and its median and worst are taken over 30 equal
// stretches of the run.
typedef enum rh_criterion {
    RH_AVERAGE,   // total reward / episodes, the unfinished one counted as one
    RH_COMPLETED, // mean return of the completed episodes
    RH_MEDIAN,    // median return of the completed episodes
    RH_WORST,     // lowest return of a completed episode
    RH_FINAL      // average, by the frozen agent, over so many further steps as are asked for
} rh_criterion;

// What the learner sees when an episode is cut off.
typedef enum rh_cutoff_rule {
    RH_TRUNCATE, // an ordinary step to the state reached, then a start elsewhere
    RH_TERMINATE // the end of an episode, as in the paper's code
} rh_cutoff_rule;

typedef enum rh_outcome {
    RH_FINISHED,
    RH_DIVERGED,      // the agent's numbers were no longer finite
    RH_ENV_NONFINITE, // the environment's observation or reward was not finite
    RH_STOPPED        // the caller asked to stop before the run was over
} rh_outcome;

// One run, scored.
typedef struct rh_result {
    double score;       // by the criterion; as bad as can be when the run broke down,
                        // NAN when it was stopped
    double total;       // reward in all
    int64_t nstep;      // steps run
    int64_t nepisode;   // episodes completed
    int64_t nuncovered; // steps into what a model does not know
    rh_outcome outcome; // how it ended
} rh_result;

typedef enum rh_event_kind {
    RH_EVENT_POINT, // one more point of a learning curve is known
    RH_EVENT_RUN    // a run is over
} rh_event_kind;

typedef struct rh_event {
    rh_event_kind kind;
    int setting, member, run;
    int point;               // RH_EVENT_POINT: which one, 0 .. ncurve - 1
    double value;            // RH_EVENT_POINT: its value, NAN when no episode ended in it
    const rh_result *result; // RH_EVENT_RUN
    rh_agent *agent;         // RH_EVENT_RUN: the agent, after its run; NULL otherwise
} rh_event;

typedef struct rh_eval_options {
    int64_t nstep;      // steps of a run, 1 or more
    int nrun;           // runs per setting, 1 or more
    uint64_t first_run; // the runs are first_run .. first_run + nrun - 1
    uint64_t replicate; // which replicate of the environment the first member is
    uint64_t seed;      // of everything
    int nthread;        // runs at the same time, 1 or more
    rh_criterion criterion;
    int64_t cutoff; // an episode of so many steps is cut off; INT64_MAX for never
    rh_cutoff_rule cutoff_rule;
    double final_share;   // steps of the RH_FINAL judgement / nstep, above 0 to 1000
    int ncurve;           // points of a learning curve, 0 to nstep
    bool frozen;          // the agents act and do not learn
    const rh_state *born; // what every agent knows at birth; NULL for nothing   (borrowed)

    // Called after every point and every run, one call at a time, from whichever
    // thread. NULL for none.
    void (*watch)(void *context, const rh_event *event);
    // Asked now and then by every thread; once it answers true no further run is begun and
    // those under way are left. NULL for never.
    bool (*stop)(void *context);
    void *context; // handed to both

    unsigned cookie; // set by rh_eval_defaults(), leave alone
} rh_eval_options;

// nstep is the task's own; 30 runs, seed 1, one thread, average, no cut-off.
RH_API rh_eval_options rh_eval_defaults(const rh_task *task);

// Live nsetting x nmember x nrun runs in the members env (nmember): one environment, or
// several models of one. hp: (nsetting x nparam of the agent), run: (nsetting x nmember x
// nrun), curve: (nsetting x nmember x nrun x ncurve), each point the mean return of the
// episodes that ended in its stretch of the run (NAN when none did), or that stretch's reward
// in a continuing task. task: what the agents are told; usually rh_env_task(env[0]), or a copy
// with other sensor ranges. Nullable: opt (all defaults), curve, err. A run that diverges is
// an outcome, not a failure.
RH_API rh_status rh_eval_runs(rh_env *const *env, int nmember, const rh_agent_type *agent,
                              const rh_task *task, int nsetting, const double *hp,
                              const rh_eval_options *opt, rh_result *result, double *curve,
                              rh_error *err);

// Runs one at a time, for those who hand them out themselves: the same runs, to the bit.
typedef struct rh_runner rh_runner;

// nthread of opt: how many workers there are. watch of opt is not called. hp (nparam): what
// most agents are built like, for features that are worked out ahead. Borrowed: env, task, born
// of opt. Owned: *out, free with rh_runner_destroy(). Nullable: opt, hp, err.
RH_API rh_status rh_runner_create(rh_runner **out, rh_env *const *env, int nmember,
                                  const rh_agent_type *agent, const rh_task *task,
                                  const double *hp, const rh_eval_options *opt, rh_error *err);
RH_API void rh_runner_destroy(rh_runner *runner); // NULL is allowed

// Run number first_run + run of setting hp (nparam) in a member, by a worker, 0 .. nthread - 1,
// each of them one thread at a time. curve (ncurve), err: nullable.
RH_API rh_status rh_runner_run(rh_runner *runner, int worker, const double *hp, int member,
                               uint64_t run, rh_result *result, double *curve, rh_error *err);

// How the scores of one setting in several members become one.
typedef enum rh_pool {
    RH_POOL_MEAN,
    RH_POOL_WORST,
    RH_POOL_QUARTILE // the lower one
} rh_pool;

// From score (nmember), each the mean of a member's runs; NAN when one of them is.
RH_API double rh_pool_score(rh_pool pool, const double *score, int nmember);
RH_API const char *const *rh_pool_names(int *n); // in order of the enum

// How the scores of a setting's runs in a member become one.
typedef enum rh_across {
    RH_ACROSS_MEAN,
    RH_ACROSS_MEDIAN,
    RH_ACROSS_WORST,
    RH_ACROSS_LOWER // the lower end of the 95 % interval of the mean
} rh_across;
RH_API const char *const *rh_across_names(int *n); // in order of the enum

// How runs are judged together: the runs of each member by `across`, its members by `pool`.
typedef struct rh_judge {
    rh_across across;
    rh_pool pool;
} rh_judge;

// What a setting is worth.
typedef struct rh_value {
    double value;      // NAN without a run that is finished in all members
    double noise;      // variance of it, were the runs others; NAN where it cannot be said
    double lo95, hi95; // 95 % interval: over the runs of one member, or over the means of
                       // several. NAN where it cannot be said
    int nrun;          // runs finished in all members
} rh_value;

// Numbers of scratch memory that these two need, for settings of at most so many runs.
RH_API size_t rh_value_nwork(int nmember, int nrun);

// The value of the runs (nmember x nrun). score (nrun): what each finished run adds, in order;
// their mean is the value. Scratch: work. Nullable: score.
RH_API rh_value rh_value_of(rh_judge judge, int nmember, int nrun, const rh_result *result,
                            double *score, double *work);

// Whether chance leaves open that a setting is as good as the best: by the differences of runs
// that both have finished, which share their random stream. best: (nmember x nbest), other:
// (nmember x nother). Scratch: work, for the larger of the two.
RH_API bool rh_value_tied(rh_judge judge, int nmember, int nbest, const rh_result *best,
                          int nother, const rh_result *other, double *work);

// "diverged", ...
RH_API const char *rh_outcome_name(rh_outcome outcome);

// The names of the criteria, in order of the enum.
RH_API const char *const *rh_criterion_names(int *n);

#endif
