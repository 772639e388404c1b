// eval.h - runs: an agent learns in an environment from its first step to its last and gets a
// score (the paper's AgentPerfInEnv).
//
// The unit of work is (setting, member, run). Only the member and the run select its random
// streams: every setting meets the same starts, the same noise and the same agent stream.
// Settings can therefore be compared in pairs, and a result does not depend on what else is
// evaluated, on the number of threads, or on order.

#ifndef REHEARSE_EVAL_H
#define REHEARSE_EVAL_H

#include "rehearse/contract.h"

// How one run becomes one number; larger is better. A continuing task is one episode that never
// ends: its average is the total reward, and its median and worst are taken over 30 equal
// segments of the run.
typedef enum rh_criterion {
    RH_AVERAGE,   // total reward / episodes, the unfinished one counted as one
    RH_COMPLETED, // mean return of the completed episodes
    RH_MEDIAN,    // median return of the completed episodes
    RH_WORST,     // lowest return of a completed episode
    RH_FINAL      // average of the frozen agent over further steps (final_share)
} rh_criterion;

// What the agent sees when an episode reaches the cut-off.
typedef enum rh_cutoff_rule {
    RH_TRUNCATE, // an ordinary step to the state reached, then a new start
    RH_TERMINATE // a terminal state, as in the paper's code
} rh_cutoff_rule;

typedef enum rh_outcome {
    RH_FINISHED,
    RH_DIVERGED,      // the agent's numbers were no longer finite
    RH_ENV_NONFINITE, // the environment's observation or reward was not finite
    RH_STOPPED,       // the caller stopped it
    RH_FAILED         // the agent or the environment failed, with a reason
} rh_outcome;

// One run, scored.
typedef struct rh_result {
    double score;       // by the criterion; the lowest possible score when the run broke down,
                        // NAN when it was stopped
    double total;       // sum of rewards
    int64_t nstep;      // steps done
    int64_t nepisode;   // completed episodes
    int64_t nuncovered; // steps out of a model's coverage
    rh_outcome outcome;
} rh_result;

typedef enum rh_event_kind {
    RH_EVENT_POINT, // a point of a learning curve
    RH_EVENT_RUN    // the end of a run
} rh_event_kind;

typedef struct rh_event {
    rh_event_kind kind;
    int setting, member, run;
    int point;               // RH_EVENT_POINT: its index, 0 .. ncurve - 1
    double value;            // RH_EVENT_POINT: its value, NAN when no episode ended in it
    const rh_result *result; // RH_EVENT_RUN
    rh_agent *agent;         // RH_EVENT_RUN: the agent, after its run; NULL otherwise
    const char *reason;      // RH_EVENT_RUN: why it is RH_FAILED; NULL otherwise
} rh_event;

typedef struct rh_eval_options {
    int64_t nstep;      // steps of a run, 1 or more
    int nrun;           // runs per setting, 1 or more
    uint64_t first_run; // the runs are first_run .. first_run + nrun - 1
    uint64_t replicate; // replicate number of the first member, for its streams
    uint64_t seed;      // random seed
    int nthread;        // parallel runs, 1 or more
    rh_criterion criterion;
    int64_t cutoff; // longest episode in steps; INT64_MAX: no limit
    rh_cutoff_rule cutoff_rule;
    double final_share;    // RH_FINAL: further steps / nstep, above 0 to 1000
    int ncurve;            // points of a learning curve, 0 to nstep
    const rh_state *state; // initial state of every agent; NULL: a new agent   (borrowed)
    bool frozen;           // the agents act and do not learn

    // Called after every point and every run, one call at a time, from any thread. Nullable.
    void (*watch)(void *context, const rh_event *event);
    // Called regularly by every thread. When it returns true, no further run begins and
    // current runs stop. Nullable.
    bool (*stop)(void *context);
    void *context; // argument of both

    unsigned cookie; // set by rh_eval_defaults(), leave alone
} rh_eval_options;

// The task's nstep; 30 runs, seed 1, one thread, average, no cut-off.
RH_API rh_eval_options rh_eval_defaults(const rh_task *task);

// Do nsetting x nmember x nrun runs in the members env (nmember): one environment, or several
// models of one. hp: (nsetting x nparam of the agent), result: (nsetting x nmember x nrun),
// curve: (nsetting x nmember x nrun x ncurve). A curve point is the mean return of the episodes
// that ended in its segment of the run (NAN for none), or the segment's reward in a continuing
// task. task: what the agents are told, usually rh_env_task(env[0]) or a copy with other sensor
// ranges. Nullable: opt (all defaults), curve, err. A run that diverges is an outcome, not a
// failure.
RH_API rh_status rh_eval_runs(rh_env *const *env, int nmember, const rh_agent_type *agent,
                              const rh_task *task, int nsetting, const double *hp,
                              const rh_eval_options *opt, rh_result *result, double *curve,
                              rh_error *err);

// For callers that schedule runs themselves: one run at a time, with the same results.
typedef struct rh_runner rh_runner;

// Create a runner with opt->nthread workers; opt->watch is not called. Settings with the fixed
// parameters of hp (nparam) use feature caches. Borrowed: env, opt->state. Copied: task. Owned:
// *out, free with rh_runner_destroy(). Nullable: opt, hp, err.
RH_API rh_status rh_runner_create(rh_runner **out, rh_env *const *env, int nmember,
                                  const rh_agent_type *agent, const rh_task *task,
                                  const double *hp, const rh_eval_options *opt, rh_error *err);
RH_API void rh_runner_destroy(rh_runner *runner); // NULL is allowed

// Do run number first_run + run of setting hp (nparam) in a member, 0 .. nmember - 1, on a
// worker, 0 .. nthread - 1. Only one thread at a time may use a worker. A run that is RH_FAILED
// is done, and err has its reason. Nullable: curve (ncurve), err.
RH_API rh_status rh_runner_run(rh_runner *runner, int worker, const double *hp, int member,
                               uint64_t run, rh_result *result, double *curve, rh_error *err);

// How the scores of a setting in several members become one.
typedef enum rh_pool {
    RH_POOL_MEAN,
    RH_POOL_WORST,
    RH_POOL_QUARTILE // lower quartile
} rh_pool;

// Pool score (nmember), each the mean of a member's runs; NAN when one of them is, or unless
// 1 <= nmember <= RH_MAX_MEMBER.
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

// How all runs of a setting become one value: runs of a member by `across`, members by `pool`.
typedef struct rh_judge {
    rh_across across;
    rh_pool pool;
} rh_judge;

// The value of a setting.
typedef struct rh_value {
    double value;      // NAN when no run is finished in all members
    double noise;      // variance of the value over other runs; NAN: unknown
    double lo95, hi95; // 95 % interval, over the runs of one member or the means of several;
                       // NAN: unknown
    int nrun;          // runs finished in all members
} rh_value;

// Length of the scratch array of the next two functions, for settings of at most nrun runs.
RH_API size_t rh_value_nwork(int nmember, int nrun);

// The value of result (nmember x nrun). score (nrun): the contribution of each finished run, in
// order; their mean is the value. Scratch: work. Nullable: score.
RH_API rh_value rh_value_of(rh_judge judge, int nmember, int nrun, const rh_result *result,
                            double *score, double *work);

// Whether a setting is statistically tied with the best (95 %), by the differences of the runs
// that both have finished; these share their random streams. best: (nmember x nbest), other:
// (nmember x nother). Scratch: work, for the larger of the two.
RH_API bool rh_value_tied(rh_judge judge, int nmember, int nbest, const rh_result *best,
                          int nother, const rh_result *other, double *work);

// "finished", "diverged", ...
RH_API const char *rh_outcome_name(rh_outcome outcome);

// The names of the criteria, in order of the enum.
RH_API const char *const *rh_criterion_names(int *n);

#endif
