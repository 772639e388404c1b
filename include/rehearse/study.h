// study.h - a tuning study: from a log and a plan to the setting to deploy, with a confidence
// interval.
//
// A plan says what to search and how. A study carries it out in a folder. Every finished run is
// written to the journal before it counts, so a killed study resumes where it stopped and ends
// with the same result. The result does not depend on the number of threads or ranks.

#ifndef REHEARSE_STUDY_H
#define REHEARSE_STUDY_H

#include "rehearse/agent.h"
#include "rehearse/env.h"
#include "rehearse/eval.h"
#include "rehearse/model.h"
#include "rehearse/search.h"

// ---------------------------------------------------------------------------- the plan

// What a number of the search is to the agent.
typedef enum rh_form {
    RH_FORM_PLAIN,     // the parameter itself
    RH_FORM_ONE_MINUS, // 1 - parameter
    RH_FORM_POW2       // its logarithm to the base 2
} rh_form;

// A sensor's range, as agents are to be told it.
typedef struct rh_plan_range {
    char *sensor; // owned
    double lo, hi;
} rh_plan_range;

typedef struct rh_plan_book rh_plan_book; // what was said, in words; see plan.h

// What a study is to do. Read by everybody, written by the functions below only.
typedef struct rh_plan {
    char *name;   // of the study, owned; NULL: none
    char *data;   // the log, or model:FILE, as a file of the plan names it, owned; NULL
    char *starts; // a log whose episodes begin where runs do, owned; NULL
    bool paper;   // preset: paper

    // who learns, and what is tried; known once settled
    const rh_agent_type *agent; // NULL before: the usual one for the log's actions
    double *hp;                 // of what is not searched, owned         (nparam of the agent)
    rh_space space;             // names and values owned by the plan
    struct {
        int param; // of the agent
        rh_form form;
    } dim[RH_MAX_DIM]; // what the dimensions of the space are            (ndim)

    // how it is searched
    const rh_search_type *method; // NULL before it is settled: race or bayes
    double *method_param;         // owned                                (nparam of the method)
    int trials;                   // settings to try
    int batch;                    // settings at a time

    // how settings are judged
    int64_t nstep;  // steps of a run; 0: the task's own
    int nrun;       // runs of a setting in each member
    int64_t cutoff; // 0: a thirtieth of the run or twice the log's median episode, the larger;
                    // INT64_MAX: never; below 0: that part of the run, -30 a thirtieth
    rh_cutoff_rule cutoff_rule;
    rh_criterion criterion; // run to score
    rh_across across;       // runs to value
    rh_pool pool;           // members to value
    int ncurve;             // points of a learning curve

    // where agents live
    const rh_model_type *model;
    double *model_param; // owned                                         (nparam of the model)
    int nmember;
    rh_resample resample;
    double share;
    const rh_repr_type *repr; // NULL: chosen by rh_repr_choose()
    bool repr_given;          // the kind was asked for
    double *repr_param;       // owned; NULL where repr is                (nparam of it)
    bool joint;
    const rh_env_type *task_of; // whose task agents are told; NULL: what the log shows
    double *task_opt;           // owned; NULL where task_of is           (nparam of it)
    double gamma;               // NAN: as usual
    rh_episodes episodes;
    rh_plan_range *range; // owned                                        (nrange)
    int nrange;

    // the leading settings once more
    int confirm_settings; // 0: no confirmation
    int confirm_members;  // models, each of another part of the log
    int confirm_runs;     // in each of them

    uint64_t seed;
    rh_plan_book *book; // owned
} rh_plan;

// A plan with nothing said. Owned: *out, free with rh_plan_destroy(). Nullable: err.
RH_API rh_status rh_plan_create(rh_plan **out, rh_error *err);
RH_API void rh_plan_destroy(rh_plan *plan); // NULL is allowed

// What a YAML file says, over what was said before (docs/study-file.md tells the keys). Paths
// in it start from its folder. Nullable: err.
RH_API rh_status rh_plan_read(rh_plan *plan, const char *path, rh_error *err);

// One thing by its key in such a file, "evaluation.runs" or "runs", with dots between levels.
// `where` opens a message: "--runs". Nullable: where, err.
RH_API rh_status rh_plan_set(rh_plan *plan, const char *key, const char *text,
                             const char *where, rh_error *err);

// What is tried of one of the agent's parameters: "0.1" (that alone), "0.1,0.3,1", "0.01:1"
// (anything between), "0.01:1:log", "1:8:int", "0:1:0.25" (multiples). Nullable: where, err.
RH_API rh_status rh_plan_try(rh_plan *plan, const char *param, const char *text,
                             const char *where, rh_error *err);

// A published grid, "acrobot:paper", as if its axes had been written. Nullable: where, err.
RH_API rh_status rh_plan_grid(rh_plan *plan, const char *grid, const char *where,
                              rh_error *err);

// Whatever can be refused without a log. Then, with it, what the log decides: the agent, what
// is searched, the method. Nullable: err.
RH_API rh_status rh_plan_check(rh_plan *plan, rh_error *err);
RH_API rh_status rh_plan_settle(rh_plan *plan, const rh_log *log, rh_error *err);

// What a settled plan says, key by key, everything that can change a result: also a file that
// reads back as this plan. `open`: another value may go on with the same study. False after
// the last.
RH_API bool rh_plan_entry(const rh_plan *plan, int i, const char **key, const char **value,
                          bool *open);
RH_API rh_status rh_plan_write(const rh_plan *plan, FILE *out, rh_error *err);

// hp (nparam of the agent) of setting x (ndim) of the space.
RH_API void rh_plan_hp(const rh_plan *plan, const double *x, double *hp);

// How runs are run under this plan, of a task and a log. Nullable: err.
RH_API rh_status rh_plan_eval(const rh_plan *plan, const rh_task *task, const rh_log *log,
                              rh_eval_options *opt, rh_error *err);

// ---------------------------------------------------------------------------- ranks

// The processes that work on one study, this one included. Without MPI there is one.
typedef struct rh_ranks rh_ranks;

RH_API bool rh_ranks_built(void); // with MPI

// Start MPI. Call once, before anything else, in a program that mpirun or srun started.
// Owned: *out, free with rh_ranks_end(). Nullable: err.
RH_API rh_status rh_ranks_begin(rh_ranks **out, rh_error *err);
RH_API int rh_ranks_me(const rh_ranks *ranks);         // 0: the coordinator
RH_API int rh_ranks_count(const rh_ranks *ranks);      //
RH_API void rh_ranks_end(rh_ranks *ranks);             // waits for all ranks; NULL is allowed
RH_API void rh_ranks_abort(rh_ranks *ranks, int code); // ends all ranks, does not return

// ---------------------------------------------------------------------------- the study

typedef enum rh_stage { RH_STAGE_FIT, RH_STAGE_SEARCH, RH_STAGE_CONFIRM, RH_NSTAGE } rh_stage;

typedef struct rh_study_progress {
    rh_stage stage;
    const char *what;     // RH_STAGE_FIT: what is being fitted
    double fraction;      // RH_STAGE_FIT: how much of it is done, 0 to 1
    int64_t nrun;         // finished runs
    int64_t nrun_resumed; // of these, read from the journal
    int64_t nrun_max;     // runs in all stages, at most
    int nsetting;         // finished settings of this stage
    int nsetting_max;     // settings of this stage, at most
    int best;             // the leading setting, or -1
    double value;         // its value; NAN without one
    double lo95, hi95;    // 95 % interval of it; NAN without one
    const double *hp;     // its hyperparameters (nparam), or NULL
    bool finished;        // `setting` has just finished
    int setting;          // -1 otherwise
} rh_study_progress;

typedef struct rh_study_options {
    const char *folder; // created if missing; NULL: keep nothing on disk
    int nthread;        // changes no result
    rh_ranks *ranks;    // other processes that help; NULL: none (borrowed)
    // Called now and then from the calling thread; NULL for none.
    void (*progress)(void *context, const rh_study_progress *progress);
    // Polled; true stops the study with RH_ESTOPPED and keeps all finished runs.
    bool (*stop)(void *context);
    void *context;
    unsigned cookie; // set by rh_study_defaults(), leave alone
} rh_study_options;

RH_API rh_study_options rh_study_defaults(void);

typedef struct rh_study rh_study;

// Open a study, new or to be resumed: lock the folder, compare its journal with the plan, fit
// or read the model. Pass either log or model. starts: a log whose episodes begin where runs
// do. Borrowed: plan (settled), log, starts, model, must outlive *out. Owned: *out, free with
// rh_study_destroy(). Nullable: starts, opt, err. On failure *out is left untouched.
RH_API rh_status rh_study_create(rh_study **out, const rh_plan *plan, const rh_log *log,
                                 const rh_log *starts, const rh_model *model,
                                 const rh_study_options *opt, rh_error *err);
RH_API void rh_study_destroy(rh_study *study); // NULL is allowed

RH_API const rh_model *rh_study_model(const rh_study *study); // of the search stage

// How long a study will take, measured on a few runs.
typedef struct rh_estimate {
    int nsetting;           // settings, at most
    int64_t nrun;           // runs, at most
    int64_t nconfirm;       // of these, runs of the confirmation
    double seconds_per_run; //
    double seconds_fit;     // to fit all models
    double seconds_search;  // that the search method needs to choose settings
    double seconds;         // in total, on the threads and ranks there are
    rh_eval_options eval;   // how runs are evaluated
} rh_estimate;
RH_API rh_status rh_study_estimate(rh_study *study, rh_estimate *out, rh_error *err);

// Run or resume the study; once per rh_study. RH_ESTOPPED when it was stopped; the verdict then
// covers the runs so far.
RH_API rh_status rh_study_run(rh_study *study, rh_error *err);

// For ranks other than 0: do the runs that rank 0 sends, until it says stop. plan: from the
// same file and options, not settled; opt->ranks is required. Nullable: err.
RH_API rh_status rh_study_serve(rh_plan *plan, const rh_study_options *opt, rh_error *err);

// One setting in one stage: as the search tried it, or its confirmation.
typedef struct rh_trial {
    int setting;             // number of the setting, in the order of the search
    bool confirm;            // this trial is the setting's confirmation
    const double *x;         // the setting in the search space            (ndim)
    const double *hp;        // all hyperparameters of the agent           (nparam)
    rh_setting_state state;  //
    int nmember, nrun;       // runs per member
    const rh_result *result; // RH_STOPPED where a run is missing          (nmember x nrun)
    const double *curve;     // mean learning curve, NAN where unknown     (ncurve)
    double value;            // NAN until it is known
    double lo95, hi95;       // 95 % interval of the value; NAN where unknown
    double out_of_coverage;  // share of its steps outside the model's coverage
    int ndiverged;           // runs that diverged
} rh_trial;

typedef struct rh_verdict {
    const rh_trial *trial; // trials of the search, then confirmations       (ntrial)
    int ntrial, nconfirm;  // nconfirm: the last so many are confirmations
    bool finished;         // the study is complete
    int winner;            // trial of the setting to deploy, its confirmation if there is one;
                           // -1: none yet
    int winner_search;     // the winner's trial in the search; -1: none
    int search_best;       // the trial that the search alone would choose; -1: none
    int *tied;             // trials statistically tied with the winner (95 %), winner first
                           //                                                (ntied)
    int ntied;             //
    int *bound;            // -1: the winner is at the lower end of its range, 1: upper (ndim)
    bool importance_known; // there were enough settings to estimate it
    bool importance_exact; // by analysis of variance, not by a Gaussian process
    double *importance;    // share of the variance due to a dimension alone (ndim)
    double *importance_total; // and with its interactions                      (ndim)
    rh_log_finding *finding;  // most severe first                              (nfinding)
    int nfinding;             //
    int ncount[3];            // findings of each severity
    int64_t nrun;             // finished runs
    int64_t nrun_resumed;     // of these, read from the journal
    int64_t nstep;            // steps of all runs
    double seconds;           // since rh_study_create()
} rh_verdict;

// The verdict on all runs so far. Borrowed from the study, valid until the next call that
// changes it. NULL: out of memory.
RH_API const rh_verdict *rh_study_verdict(rh_study *study);

#endif
