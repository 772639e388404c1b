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
#include "rehearse/key.h"
#include "rehearse/model.h"
#include "rehearse/search.h"

// ---------------------------------------------------------------------------- the keys

// Which commands use a key. A plan fills in the defaults of one of them.
typedef enum rh_plan_command {
    RH_PLAN_FIT = 1,
    RH_PLAN_RUN = 2,
    RH_PLAN_SWEEP = 4,
    RH_PLAN_TUNE = 8
} rh_plan_command;

// The rows of a plan: what a study file and the command line accept. NULL after the last.
RH_API const rh_key *rh_plan_key_at(int i);

// ---------------------------------------------------------------------------- the plan

typedef struct rh_plan rh_plan;

// An empty plan for `tune`. Owned: *out, free with rh_plan_destroy(). Nullable: err.
RH_API rh_status rh_plan_create(rh_plan **out, rh_error *err);
RH_API void rh_plan_destroy(rh_plan *plan); // NULL is allowed
RH_API void rh_plan_use(rh_plan *plan, rh_plan_command command);

// Read a YAML file (docs/study-file.md lists the keys). It overrides what was set before. Paths
// in it start from its folder. Nullable: err.
RH_API rh_status rh_plan_read(rh_plan *plan, const char *path, rh_error *err);

// Set one key, "evaluation.runs" or "runs". `where` opens a message: "--runs". A later value
// overrides an earlier one. Nullable: where, err.
RH_API rh_status rh_plan_set(rh_plan *plan, const char *key, const char *text,
                             const char *where, rh_error *err);

// The values to try of one of the agent's parameters: "0.1" (only this), "0.1,0.3,1", "0.01:1"
// (a range), "0.01:1:log", "1:8:int", "0:1:0.25" (multiples). Nullable: where, err.
RH_API rh_status rh_plan_try(rh_plan *plan, const char *param, const char *text,
                             const char *where, rh_error *err);

// Check everything that needs no log. Then settle what depends on the log: the agent, the space
// and the method. Nullable: err; log, where agents run in a simulator.
RH_API rh_status rh_plan_check(rh_plan *plan, rh_error *err);
RH_API rh_status rh_plan_settle(rh_plan *plan, const rh_log *log, rh_error *err);

// All entries of a settled plan: everything that can change a result, also as a file that reads
// back as this plan. `open`: a study can be resumed with another value. False after the last.
RH_API bool rh_plan_entry(const rh_plan *plan, int i, const char **key, const char **value,
                          bool *open);
RH_API rh_status rh_plan_write(const rh_plan *plan, FILE *out, rh_error *err);

// The text of a key ("data", "seed"): its entry once the plan is settled, otherwise what was
// set. NULL: neither. And an entry that is a number; 0 or NAN where there is none.
RH_API const char *rh_plan_text(const rh_plan *plan, const char *key);
RH_API int64_t rh_plan_number(const rh_plan *plan, const char *key);

// ---------------------------------------------------------------------------- from a plan

typedef struct rh_fit_options {
    const rh_log *starts; // where episodes begin; NULL: as in the log (borrowed)
    rh_prior prior;       // steps that agents in the model begin with (borrowed)
    int nthread;          // does not change results
    bool fidelity;        // compare the model with the log
    rh_watch watch;
    const rh_repr *repr;  // learned before, of the plan's kind; NULL: learn one (borrowed)
    rh_repr_trial *trial; // representations compared, the best first; NULL  (RH_REPR_NTRIAL)
    int *ntrial;          // NULL where trial is
    unsigned cookie;      // set by rh_fit_defaults(), leave alone
} rh_fit_options;

RH_API rh_fit_options rh_fit_defaults(void);

// Whether a settled plan can be fitted to the log, before anything is learned; then fit it.
// Owned: *out, free with rh_model_destroy(). Nullable: opt, err.
RH_API rh_status rh_plan_check_fit(const rh_plan *plan, const rh_log *log,
                                   const rh_fit_options *opt, rh_error *err);
RH_API rh_status rh_plan_fit(rh_model **out, const rh_plan *plan, const rh_log *log,
                             const rh_fit_options *opt, rh_error *err);

// Whether the errors of a log are accepted by the plan (key accept), all of them. Marks those
// that are; the message of the refusal is about the first that is not. rh_study_create() does
// this itself. Nullable: err.
RH_API rh_status rh_plan_accept(const rh_plan *plan, rh_log_report *report, rh_error *err);

// ---------------------------------------------------------------------------- ranks

// The processes that work on one study, this one included. Without MPI there is one.
typedef struct rh_ranks rh_ranks;

// Start MPI. Call once, before anything else, in a program that mpirun or srun started.
// Owned: *out, free with rh_ranks_end(). Nullable: err.
RH_API rh_status rh_ranks_begin(rh_ranks **out, rh_error *err);
RH_API int rh_ranks_me(const rh_ranks *ranks);         // 0: the coordinator
RH_API int rh_ranks_count(const rh_ranks *ranks);      //
RH_API void rh_ranks_end(rh_ranks *ranks);             // waits for all ranks; NULL is allowed
RH_API void rh_ranks_abort(rh_ranks *ranks, int code); // ends all ranks, does not return

// ---------------------------------------------------------------------------- elsewhere

typedef enum rh_stage {
    RH_STAGE_FIT,
    RH_STAGE_SEARCH,
    RH_STAGE_CONFIRM,
    RH_STAGE_CHECK, // the leading settings in other models of the log
    RH_NSTAGE
} rh_stage;

// A run that is to be done elsewhere: hand `bytes` and the bytes of its stage to a process of
// the same build, and what rh_server_run() gives there back, as often as it takes.
typedef struct rh_remote_run {
    rh_stage stage;
    const void *bytes;           //                                          (nbyte)
    size_t nbyte;                //
    void *result;                // to be written                            (nresult)
    size_t nresult;              //
    bool (*stop)(void *context); // polled while waiting; true: the result is not needed any
    void *context;               //   more, return RH_ESTOPPED
} rh_remote_run;

// Who does the runs of a study instead of its threads. Results are the same, byte for byte.
typedef struct rh_remote {
    int nrun; // runs at once: so many threads call run()
    // A stage begins; all its runs need these bytes, which are only borrowed.
    rh_status (*stage)(void *context, rh_stage stage, const void *bytes, size_t n,
                       rh_error *err);
    // Wait for a run. An error ends the study; its journal has all finished runs.
    rh_status (*run)(void *context, const rh_remote_run *run, rh_error *err);
    void *context;
} rh_remote;

// A stage in another process. Trusted bytes only: an agent may be a program (exec:). Copied:
// stage. Owned: *out, free with rh_server_destroy(). Nullable: err.
typedef struct rh_server rh_server;
RH_API rh_status rh_server_create(rh_server **out, const void *stage, size_t n, rh_error *err);
RH_API size_t rh_server_nresult(void);
// Do one run; of a server only one at a time. result: (rh_server_nresult()). Nullable: err.
RH_API rh_status rh_server_run(rh_server *server, const void *bytes, size_t n, void *result,
                               rh_error *err);
RH_API void rh_server_destroy(rh_server *server); // NULL is allowed

// ---------------------------------------------------------------------------- limits

// What a rate is of. All rates are shares, of steps or of episodes.
typedef enum rh_limit_unit {
    RH_PER_1000_STEPS,
    RH_PERCENT_OF_STEPS,
    RH_PERCENT_OF_EPISODES
} rh_limit_unit;

// What a setting must not exceed while it learns (--at-most).
typedef struct rh_constraint {
    const char *event;  // "trip", "T_tank > 90"
    double most;        // a share
    rh_limit_unit unit; //
    rh_counted counted; //
} rh_constraint;

// Whether a setting keeps a limit. NAN: unknown.
typedef struct rh_kept {
    double rate;         // in the kind of model where its upper bound is greatest
    double lower, upper; // one-sided bounds of the rate, each with the plan's confidence
    int kind;            // of model
    bool keeps;    // of a confirmation: upper is at most the limit; in the search: rate is
    int64_t n, of; // how often it was exceeded; of so many steps or episodes
} rh_kept;

// ---------------------------------------------------------------------------- the study

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
    int agent;            // its agent, of the plan's; -1: none
    bool finished;        // `setting` has just finished
    int setting;          // -1 otherwise
} rh_study_progress;

typedef struct rh_study_options {
    const char *folder;      // created if missing; NULL: keep nothing on disk
    int nthread;             // changes no result
    rh_ranks *ranks;         // other processes that help; NULL: none (borrowed)
    const rh_remote *remote; // who does the runs of settings; NULL: nthread threads (borrowed)
    bool watch;              // write the report every few seconds while the study runs
    const char *command;     // that started it, for the report; NULL: unknown (borrowed)
    rh_log_report *report;   // of the log or the model's log, as inspected before; NULL: the
                             // study inspects it (borrowed, must outlive the study)
    // Called now and then from the calling thread; NULL for none.
    void (*progress)(void *context, const rh_study_progress *progress);
    // Polled; true stops the study with RH_ESTOPPED and keeps all finished runs.
    bool (*stop)(void *context);
    void *context;
    unsigned cookie; // set by rh_study_defaults(), leave alone
} rh_study_options;

RH_API rh_study_options rh_study_defaults(void);

typedef struct rh_study rh_study;

// Open a study, new or to be resumed: inspect the log, whose errors must be accepted by the
// plan, lock the folder, compare its journal with the plan, fit or read the model. Pass either
// log or model. starts: a log whose episodes begin where runs do. Borrowed: plan (settled),
// log, starts, model, must outlive *out. Owned: *out, free with rh_study_destroy(). Nullable:
// starts, opt, err. On failure *out is left untouched.
RH_API rh_status rh_study_create(rh_study **out, const rh_plan *plan, const rh_log *log,
                                 const rh_log *starts, const rh_model *model,
                                 const rh_study_options *opt, rh_error *err);
RH_API void rh_study_destroy(rh_study *study); // NULL is allowed

// How long a study will take, measured on a few runs.
typedef struct rh_estimate {
    int nsetting;           // settings, at most
    int64_t nrun;           // runs, at most
    int64_t nconfirm;       // of these, runs of the confirmation
    int64_t ncheck;         // and of the check
    double seconds_per_run; //
    double seconds_fit;     // to fit all models
    double seconds_search;  // that the search method needs to choose settings
    double seconds;         // in total, on the threads and ranks there are
    rh_eval_options eval;   // how runs are evaluated
} rh_estimate;
RH_API rh_status rh_study_estimate(rh_study *study, rh_estimate *out, rh_error *err);

// Run or resume the study; once per rh_study. Writes best.yaml, runs.csv, log_next.csv and the
// report, report.json and report.html, into the folder. RH_ESTOPPED when it was stopped; the
// verdict then covers the runs so far.
RH_API rh_status rh_study_run(rh_study *study, rh_error *err);

// For ranks other than 0: do the runs that rank 0 sends, until it says stop. plan: from the
// same file and options, not settled; opt->ranks is required. Nullable: err.
RH_API rh_status rh_study_serve(rh_plan *plan, const rh_study_options *opt, rh_error *err);

// The value of a setting in one kind of model.
typedef struct rh_kind_score {
    double value;      // NAN until it is known
    double lo95, hi95; // 95 % interval of the value; NAN where unknown
    double regret;     // of a confirmation: behind the best of the kind, in units of how much
                       // the confirmed settings differ there (docs/tune.md); NAN until known
} rh_kind_score;

// One setting in one stage: as the search tried it, or its confirmation.
typedef struct rh_trial {
    int setting;               // number of the setting, in the order of the search
    bool confirm;              // this trial is the setting's confirmation
    const double *x;           // the setting in the search space            (ndim)
    int agent;                 // of the plan's agents, by number
    const double *hp;          // all hyperparameters of the agent           (nparam)
    rh_setting_state state;    //
    int nmember, nrun;         // members of all kinds of model; runs per member
    const rh_result *result;   // RH_STOPPED where a run is missing          (nmember x nrun)
    const double *curve;       // mean learning curve, NAN where unknown     (ncurve)
    const double *promised;    // the same in the model's own kind only          (ncurve)
    const double *spread;      // standard deviation of these runs, NAN where unknown (ncurve)
    double alarm;              // deficit against promised that raises an alarm (docs/deploy.md)
    double false_alarms;       // probability that a further run exceeds it; NAN until known
    int ncurve_run;            // runs in promised and spread
    double value;              // in the model's own kind; NAN until it is known
    double lo95, hi95;         // 95 % interval over all kinds of model; NAN where unknown
    int nkind;                 // kinds of model: the last members are of the last kind
    const rh_kind_score *kind; // the model's own first                      (nkind)
    double out_of_coverage;    // share of its steps outside the model's coverage
    int ndiverged;             // runs that diverged or failed
    bool keeps;                // all limits
    const rh_kept *kept;       // each limit of the plan (nlimit of rh_verdict)
    const struct rh_reference *also; // the further scores, in the model's own kind  (nalso)
    bool front; // a confirmation that no other setting beats in one score without being beaten
                // in another
} rh_trial;

// Something to compare the winner's score with, on its scale; NAN where unknown.
typedef struct rh_reference {
    double score;
    double lo95, hi95; // 95 % interval
} rh_reference;

typedef enum rh_answer { RH_ANSWER_UNKNOWN, RH_ANSWER_NO, RH_ANSWER_YES } rh_answer;

// Is the chosen agent better than the logged controller? (docs/verdict.md). All scores are on
// one scale, that of rh_verdict.logged.
typedef struct rh_today {
    rh_answer better;      // over a whole run: yes or no with a probability of 90 %
    rh_reference learning; // the chosen agent in a whole run, from its first step
    rh_reference end;      // in the last tenth of it
    rh_reference defaults; // the agent with its defaults in a whole run
    rh_reference clone;    // a clone of the logged controller, in the same models
    double caught_up;      // share of the runs that got as much as the logged controller; NAN
    int64_t catch_up;      // step from which on half of them had; 0: never within a run
    char text[400];        // the answer in words
} rh_today;

// How often something fails. NAN: unknown.
typedef struct rh_rate {
    double rate, lo95, hi95; // and its 95 % interval
    int64_t n, of;           // failures; of so many episodes or steps
} rh_rate;

typedef enum rh_often {
    RH_OFTEN_UNKNOWN,
    RH_OFTEN_LESS, // the agent's interval is below that of the log
    RH_OFTEN_SAME, // its rate is within that of the log
    RH_OFTEN_MORE, // it is above
    RH_OFTEN_FAR   // and its lower end has twice the odds of the log's upper end
} rh_often;

// How often the chosen agent fails, and the logged controller.
typedef struct rh_failing {
    const rh_failure *rule;   // what a failure is: of the model, borrowed
    bool per_steps;           // rates are failures in 1,000 steps; otherwise shares of episodes
    rh_rate first, all, last; // the chosen agent in the first tenth of a run, in all, the last
    rh_rate defaults;         // the agent with its defaults
    rh_rate logged;           // the logged controller, in the log
    rh_often often;           // all, compared with logged
    char text[400];           // the answer in words
} rh_failing;

// The leading settings in another model of the log, whose own settings differ.
typedef struct rh_check {
    const char *name;    // "first half of the log"
    const double *score; // of every run; NAN: unknown          (nsetting x nrun)
    int nrun;
} rh_check;

// Agents with the winner's setting that learned in a model of one half of the log and then act,
// without learning, in it and in a model of the other half. Medians; NAN: unknown.
typedef struct rh_transfer {
    int n;              // agents; 0: unknown
    double same, other; // their scores in the two models
    double lost;        // how much lower the second is
    double share;       // lost / gain on random actions in the first, 0 to 1
    double practice;    // score of what was practised, in the models it was practised in; NAN
    double practised;   // and, frozen, in models of the other part of the log; NAN
} rh_transfer;

// The leading settings in all such models.
typedef struct rh_checks {
    const rh_check *model; //                                             (nmodel)
    int nmodel;            // 0: the study has no check
    const int *setting; // those that were confirmed, then a median one of the search and one of
    int nsetting;       //   its lowest quarter                           (nsetting)
    int nreference;     // of these, the last so many were not confirmed
} rh_checks;

// What a study must not exceed, and what that costs.
typedef struct rh_limited {
    rh_constraint limit;
    rh_kept logged; // the logged controller, in the log
    int without;    // trial that would be chosen of those that keep all others; -1: unknown
    double cost;    // how much higher it scores than the winner if it breaks this limit, 0 or
                    // more; NAN: unknown
} rh_limited;

typedef struct rh_limiting {
    rh_limited of[RH_MAX_LIMITS]; //                                       (n)
    int n;
    double sure;                     // confidence of the bounds
    int nkeep;                       // confirmed settings that keep all limits
    int nearest;                     // if none does, the trial that exceeds them least; -1
    bool logged;                     // the logged controller keeps them, in the log
    const char *also[RH_MAX_ALSO];   // further scores, as they were written (nalso)
    rh_reference today[RH_MAX_ALSO]; // of the logged controller            (nalso)
    int nalso;
    char text[1000]; // the answer in words; "" without limits
} rh_limiting;

// Rare failures: runs of the winner far below its others.
typedef struct rh_rare {
    int n;
    double score; // their mean; NAN: there are none
    double usual; // median score of the winner's runs
} rh_rare;

// How much each dimension of the space explains of the score's variance.
typedef struct rh_shares {
    bool known;    // there were enough settings to estimate it
    bool exact;    // by analysis of variance, not by a Gaussian process
    double *alone; // share due to the dimension alone                  (ndim)
    double *total; // and with its interactions                         (ndim)
} rh_shares;

#define RH_NEXT_MOST 5  // rows of what to log next, at most
#define RH_NEXT_SIDES 3 // sensors that bound a region, at most

// What to log next: an action in a region of the sensors (docs/log-next.md).
typedef struct rh_next {
    int action;                // -1: actions are continuous,
    double act_lo[RH_MAX_ACT]; //   and these are the ranges to log          (nact)
    double act_hi[RH_MAX_ACT]; //
    struct {
        int sensor;
        double lo, hi;     // lo <= sensor < hi; -INFINITY, INFINITY: unbounded
    } side[RH_NEXT_SIDES]; // of the region; none: everywhere                (nside)
    int nside;             //
    int steps;             // to log
    double agent;          // share of the agents' steps that take this action here
    int64_t nlogged;       // logged steps that do
    double alone;          // share of these agents' steps with no logged step near
    char what[128];        // the action in words: "left", "pump 0.6 to 1"
    char why[256];         // in words
} rh_next;

#define RH_NEVIDENCE 27 // pieces of evidence
#define RH_NREASON 16   // reasons, at most

// What a study shows about the reliability of its choice, without the true plant
// (docs/verdict.md).
typedef struct rh_evidence {
    const char *name, *about;
    double value; // NAN: unknown
} rh_evidence;

typedef struct rh_reason {
    const char *id; // of the evidence
    bool good;      // it speaks for the choice
    char text[200];
} rh_reason;

typedef enum rh_trust_level {
    RH_TRUST_UNKNOWN, // not finished, or without a check
    RH_TRUST_CANNOT,  // this log cannot answer the question
    RH_TRUST_LOW,
    RH_TRUST_MEDIUM,
    RH_TRUST_HIGH
} rh_trust_level;

RH_API const char *rh_trust_name(rh_trust_level level); // "cannot answer", "low", ...

// What is claimed of the chosen agent.
enum { RH_CLAIM_BETTER, RH_CLAIM_FAILURES, RH_CLAIM_BEST, RH_NCLAIM };

typedef struct rh_claim {
    const char *name;   // "better", "failures", "best"
    double probability; // that it holds on the plant; NAN: unknown
    double limit;       // the score or rate that it is about; NAN: unknown
    char text[160];     // in words, within a sentence
} rh_claim;

// The advantage of the candidate on the logged controller, and what makes it uncertain, as
// standard deviations; NAN: unknown.
typedef struct rh_advantage {
    double score;   // corrected for the choice among several
    double within;  // of the mean over the members of the confirmation
    double between; // from model to model: the plant is one more
    double lost;    // what agents lose in a model of other data
    double missed;  // what no model of this log shows
} rh_advantage;

// What to do after a study.
typedef enum rh_decision {
    RH_DECISION_UNKNOWN, // it is not finished, or nothing was judged
    RH_DECISION_LOG,     // log more: the trust is low, or the log cannot answer
    RH_DECISION_KEEP,    // keep the controller there is
    RH_DECISION_ANY,     // deploy the agent; any of its settings will do
    RH_DECISION_DEPLOY   // deploy the setting
} rh_decision;
RH_API const char *rh_decision_name(rh_decision decision); // "log more", ...

// How far to believe the answer of a study (docs/verdict.md).
typedef struct rh_trust {
    rh_trust_level level;
    rh_decision decision;
    double probability; // that the agent is better and fails no more than stated: the smaller
                        // of these claims' probabilities; NAN: unknown
    rh_claim claim[RH_NCLAIM];
    rh_advantage advantage;
    double margin;  // the advantage / its uncertainty; NAN: unknown
    char text[400]; // the answer in words
    rh_evidence evidence[RH_NEVIDENCE];
    rh_reason reason[RH_NREASON]; //                                       (nreason)
    int nreason;
} rh_trust;

// How well a clone imitates the logged controller, on held-out steps of the log.
typedef struct rh_imitation {
    int64_t n;        // of these; 0: there is no clone
    double agreement; // share of them with the logged action; a continuous one: within a
                      // twentieth of the range
    double constant;  // the agreement of the best constant action; NAN: continuous actions
    double error;     // of the worst number of a continuous action, in standard deviations: the
                      // best constant's is 1; NAN: discrete actions
    bool poor;        // it is not the controller, and nothing should rest on it
    char text[200];   // this in words
} rh_imitation;

typedef struct rh_verdict {
    const rh_trial *trial;   // trials of the search, then confirmations       (ntrial)
    int ntrial, nconfirm;    // nconfirm: the last so many are confirmations
    bool finished;           // the study is complete
    const char *const *kind; // kinds of model of the confirmation           (nkind)
    int nkind;               //
    double optimism; // how much better the logged behaviour, or random actions, score in the
                     // model than the log did. The intervals of confirmations include it
    int winner;      // trial of the setting to deploy, its confirmation if there is one;
                     // -1: none yet
    int candidate;   // confirmed trial of the best agent beside a clone of the controller: the
                     // winner, unless the controller is to be kept; -1: none
    int winner_search;    // the winner's trial in the search; -1: none
    int search_best;      // the trial that the search alone would choose; -1: none
    int *tied;            // trials statistically tied with the winner (95 %), winner first
                          //                                                (ntied)
    int ntied;            //
    int *bound;           // -1: the winner is at the lower end of its range, 1: upper (ndim)
    rh_shares importance; //
    int64_t per_steps;    // scores are rewards of so many steps; 0: of an episode
    rh_reference logged;  // the logged controller, from the log alone
    rh_reference random;  // a uniform random policy in the models that scored the winner
    rh_today today;       // is it better than the logged controller?
    rh_failing failing;   // how often does it fail?
    rh_limiting limiting; // does it keep the limits?
    rh_rare rare;         //
    double selected; // how much the confirmed scores were lowered, because the winner is the
                     // best of several
    rh_checks check; // other models of the log
    rh_imitation imitation; // of the logged controller by its clone
    rh_transfer transfer;   // does what the winner learns hold in another model?
    rh_trust trust;         //
    const rh_next *next;    // what to log next, the most needed first (nnext)
    int nnext;              //
    rh_findings findings;   // of the study, and errors and warnings of the log
    int64_t nrun;           // finished runs
    int64_t nrun_resumed;   // of these, read from the journal
    int64_t nstep;          // steps of all runs of trials
    double seconds;         // since rh_study_create()
} rh_verdict;

// The verdict on all runs so far. Borrowed from the study, valid until the next call that
// changes it. NULL: out of memory.
RH_API const rh_verdict *rh_study_verdict(rh_study *study);

// The same as a JSON document, that of `rehearse tune --json`. Owned: the text, free with
// rh_free(); NULL: out of memory.
RH_API char *rh_study_json(rh_study *study);

// ---------------------------------------------------------------------------- best.yaml

#define RH_MAX_POINTS 64 // of a learning curve

// What a study promises of its setting. What the file does not say is NAN or 0.
typedef struct rh_promise {
    double score, lo95, hi95;     // and its 95 % interval
    int64_t per_steps;            // it is the reward of so many steps; 0: of an episode
    double logged;                // score of the logged controller
    double defaults;              // of the agent with its defaults, in the models
    int64_t nstep;                // steps of a run in the models
    int ncurve;                   // points of the curve; 0: there is none
    double mean[RH_MAX_POINTS];   // of the runs' curves
    double spread[RH_MAX_POINTS]; // their standard deviation
    int nrun;                     // runs in both
    double alarm;                 // level of the deficits at which the promise is broken
    double false_alarms; // probability of that in nstep steps if the plant is like the models
    bool fail_per_steps; // rates of failures are in 1,000 steps; otherwise shares of episodes
    rh_rate fail_first, fail, fail_last; // in the first tenth of the steps, in all, in the last
    rh_rate fail_logged, fail_defaults;  // of the logged controller; of the agent's defaults
} rh_promise;

#define RH_MAX_TIED 3 // settings that best.yaml has beside the chosen one

// A setting that the study could not tell from the chosen one.
typedef struct rh_tied {
    const rh_agent_type *agent;
    double *hp;               // all hyperparameters                    (nparam)
    double score, lo95, hi95; // and its 95 % interval
} rh_tied;

// A limit that the chosen setting keeps in the models. Its event is text of the file.
typedef struct rh_best_limit {
    rh_constraint limit;
    const char *formula; // by next[i], act[i] and reward; NULL: failures or terminal ends
} rh_best_limit;

// The contents of best.yaml: all that is needed to deploy an agent. Read-only.
typedef struct rh_best {
    const rh_agent_type *agent;
    double *hp;                // all hyperparameters                    (nparam)
    bool tasked;               // the file has a task: what follows is known
    rh_task task;              // what the agent is told
    int64_t cutoff;            // steps of an episode in the models, at most; INT64_MAX: no
                               // limit; 0: unknown
    const char **obs_unit;     // "" where unknown                       (nobs)
    int nsent;                 // sensors that the plant sends: the first ones. derive and stack
                               // make the others of them (rh_observer)
    int nnow;                  // these and the derived ones
    const char *derive;        // NULL: none
    int stack;                 // 1: no history
    double *seen_lo, *seen_hi; // range of each sensor in the log; NAN: unknown (nobs)
    const char **label;        // of discrete actions; NULL: continuous  (naction)
    const char **act_name;     //                                        (nact)
    const char *reward_name;   //
    const char *reward_formula; // by obs[i], act[i] and next[i]; NULL: the reward comes in
    rh_promise promise;         //
    rh_tied tied[RH_MAX_TIED];  // what `deploy --switch` may try          (ntied)
    int ntied;
    rh_best_limit limit[RH_MAX_LIMITS]; // what it may do at most   (nlimit)
    int nlimit;
    rh_failure *failure; // what a failure is; NULL: the file does not say
    const char *version; // of rehearse, that wrote it; "" where unknown
    void *tree;          // internal
} rh_best;

// Read best.yaml. A file that has only the section agent is accepted too.
// Owned: *out, free with rh_best_destroy(). Nullable: err. On failure *out is left untouched.
RH_API rh_status rh_best_read(rh_best **out, const char *path, rh_error *err);
RH_API void rh_best_destroy(rh_best *best); // NULL is allowed

// Enter the agent of best.yaml and its hyperparameters into a plan, as if they had been written
// there, and into one of `run` or `sweep` its sensor ranges and cut-off too. What is set later
// overrides them. search: hyperparameters that would be searched by default are left out.
// Nullable: err.
RH_API rh_status rh_plan_setting(rh_plan *plan, const char *path, bool search, rh_error *err);

#endif
