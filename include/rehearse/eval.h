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

#define RH_MAX_LIMITS 8 // limits that are counted in a run, at most
#define RH_MAX_ALSO 4   // and further scores of it

// What a limit counts, of a run while the agent learns.
typedef enum rh_counted {
    RH_COUNT_STEPS,    // steps in which it is exceeded
    RH_COUNT_EPISODES, // completed episodes that have such a step
    RH_COUNT_FAILURES, // failures
    RH_COUNT_ENDS      // episodes that the environment ended
} rh_counted;

// A step that was done.
typedef struct rh_done_step {
    const double *act;  // (nact; 1, its index, if discrete)
    const double *next; // the state that it led to (nobs)
    double reward;
} rh_done_step;

// One run, scored.
typedef struct rh_result {
    double score;       // by the criterion; the lowest possible score when the run broke down,
                        // NAN when it was stopped
    double total;       // sum of rewards
    int64_t nstep;      // steps done
    int64_t nepisode;   // completed episodes
    int64_t nended;     // of these, ended by the environment, not cut off
    int64_t nuncovered; // steps out of a model's coverage
    int64_t nfailure;   // failures: of an episode one at most, where it ends; in a continuing
                        // task, where failing steps begin
    int64_t nfailure_first, nfailure_last; // of these, in the first and last tenth of the steps
    int64_t nepisode_first, nepisode_last; // episodes completed in them
    double last;       // mean return of the latter, NAN for none; in a continuing task, the
                       // reward of a run whose steps are all like the last tenth
    int64_t caught_up; // from this step on the run has got at least opt.today; 0: never
    int64_t over[RH_MAX_LIMITS]; // how often each limit was exceeded       (nlimit of opt)
    double also[RH_MAX_ALSO];    // the further scores: the sum over the run, per episode as
                                 // RH_AVERAGE; NAN of a run that broke down (nalso of opt)
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

// A step that is about to be done.
typedef struct rh_visit {
    int setting, member, run;
    int64_t step;      // 0 .. nstep - 1
    const double *obs; // the state                   (nobs)
    const double *act; // the agent's action there    (nact; 1, its index, if discrete)
} rh_visit;

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
    // Called before every step of an agent's run, not of RH_FINAL's further steps, from any
    // thread, several calls at a time. Nullable.
    void (*visit)(void *context, const rh_visit *visit);
    void *context; // argument of all three

    // Whether a step failed that led to obs, with this reward. Not asked of RH_FINAL's further
    // steps. From any thread. NULL: none does.
    bool (*fails)(const void *rule, const double *obs, double reward, bool terminal);
    const void *rule; // its argument

    // Called after every step of a run, not of RH_FINAL's further steps, from any thread. The
    // bits of the result say which limits the step exceeds; also (nalso): what it adds to the
    // further scores. NULL: there are none.
    unsigned (*measure)(const void *limits, const rh_done_step *step, double *also);
    const void *limits;                // its argument
    rh_counted counted[RH_MAX_LIMITS]; //                                    (nlimit)
    int nlimit, nalso;

    double today; // return of an episode, or reward of a step if continuing, that runs are
                  // compared with; NAN: none

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

// How the scores of a setting in several members become one.
typedef enum rh_pool {
    RH_POOL_MEAN,
    RH_POOL_WORST,
    RH_POOL_QUARTILE // lower quartile
} rh_pool;

// How the scores of a setting's runs in a member become one.
typedef enum rh_across {
    RH_ACROSS_MEAN,
    RH_ACROSS_MEDIAN,
    RH_ACROSS_WORST,
    RH_ACROSS_LOWER // the lower end of the 95 % interval of the mean
} rh_across;

// How all runs of a setting become one value: runs of a member by `across`, members by `pool`.
typedef struct rh_judge {
    rh_across across;
    rh_pool pool;
} rh_judge;

// "finished", "diverged", ...
RH_API const char *rh_outcome_name(rh_outcome outcome);

#endif
