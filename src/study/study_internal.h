// study_internal.h - what the files of this module share.
//
//     run.c ──ask, tell──▶ search
//       │ units   ▲ results               journal.c: every result, before it counts
//       ▼         │
//     workers.c ──▶ threads.c: thread pool of this process
//          └──────▶ ranks.c: other processes, each with a thread pool
//
// A unit of work is one run, named by (trial, stage, member, run). Its result depends on
// nothing else, so it does not matter which thread or rank does it, or when.

#ifndef REHEARSE_STUDY_INTERNAL_H
#define REHEARSE_STUDY_INTERNAL_H

#include "base/file.h"
#include "base/text.h"
#include "eval/eval.h"
#include "plan.h"

double rh_study__now(void); // seconds, monotonic

// folder/name. Owned: the result, free with rh_free(); NULL without memory.
char *rh_study__path(const char *folder, const char *name);

#define RH_STUDY__MOST_CONFIRM 1000 // settings to confirm, at most

// ---------------------------------------------------------------------------- members

// The environments of one stage: one per member of its models, which are of different kinds.
typedef struct rh_members {
    const rh_model *model[RH_KINDS__MOST]; // borrowed, or the same as owned  (nkind)
    rh_model *owned[RH_KINDS__MOST];       // NULL where the model is borrowed
    int nkind;
    rh_env **env; // owned, by model, then by member  (nmember)
    int nmember;  // of all models
    int first;    // number of the first of them in the stage
} rh_members;

// Append the members of a model. Borrows it. On failure clear the members.
rh_status rh_members__open(rh_members *members, const rh_model *model, rh_error *err);
// The same; the model becomes theirs, or is destroyed on failure.
rh_status rh_members__own(rh_members *members, rh_model *model, rh_error *err);
void rh_members__clear(rh_members *members);

// Count failures in runs, by the rule of the models.
void rh_members__watch(const rh_members *members, rh_eval_options *opt);

// A hash of a random policy's runs: differs where models behave differently. 0: out of memory.
uint64_t rh_members__fingerprint(const rh_members *members);

// The confirmation's first replicate; the search's is 0: the stages share no random streams.
#define RH_STUDY__FRESH UINT64_C(1000000)
#define RH_STUDY__CHECK UINT64_C(2000000)     // and that of the check
#define RH_STUDY__VISITS UINT64_C(3000000)    // and of the visits of log_next.c
#define RH_STUDY__TRANSFER UINT64_C(4000000)  // and of transfer.c
#define RH_STUDY__PRACTICE UINT64_C(5000000)  // and of practice.c
uint64_t rh_study__replicate(rh_stage stage); // threads.c

// ---------------------------------------------------------------------------- units of work

#define RH_STUDY__NHP RH_MAX_PARAM // hyperparameters of an agent, at most
#define RH_STUDY__NCURVE 64        // points of a learning curve, at most

// The agents that runs are of, and typical hyperparameters of each. Borrowed.
typedef struct rh_study__agents {
    const rh_agent_type *type[RH_PLAN__AGENTS]; // (n)
    const double *hp[RH_PLAN__AGENTS];          // (n)
    int n;
} rh_study__agents;
rh_study__agents rh_study__agents_of(const rh_plan *plan); // threads.c

// A run to do.
typedef struct rh_study__unit {
    int trial; // index in the study
    int agent; // of the agents of the pool
    rh_stage stage;
    int member, run;
    double hp[RH_STUDY__NHP]; // (nparam of the agent)
} rh_study__unit;

// A finished run, from a worker or from the journal.
typedef struct rh_study__run {
    int trial; // index in the study
    rh_stage stage;
    int member, run;
    rh_result result;
    double curve[RH_STUDY__NCURVE]; // (ncurve)
} rh_study__run;

// What a worker returns: a run, or why it could not be done.
typedef struct rh_study__done {
    rh_study__run run;
    rh_status rc;
    rh_error err;
} rh_study__done;

// The thread pool of this process. threads.c
typedef struct rh_threads rh_threads;

// Copied: agents. Ignored in opt: nthread, replicate. Borrowed: remote, where the threads wait
// for runs that are done elsewhere; NULL: they do them.
rh_status rh_threads__create(rh_threads **out, const rh_study__agents *agents,
                             const rh_eval_options *opt, int nthread, const rh_remote *remote,
                             rh_error *err);
// From now on the pool accepts units of `stage`. Borrowed: members, task.
rh_status rh_threads__add_stage(rh_threads *pool, rh_stage stage, const rh_members *members,
                                const rh_task *task, rh_error *err);
// Forget a stage, so that its members may be freed. False: runs are under way, or elsewhere.
bool rh_threads__drop_stage(rh_threads *pool, rh_stage stage);
// give() cannot fail for lack of memory while at most n units are open.
rh_status rh_threads__reserve(rh_threads *pool, int n, rh_error *err);
rh_status rh_threads__give(rh_threads *pool, const rh_study__unit *unit,
                           rh_error *err); // copies the unit
// Take a finished unit, in any order; wait up to so many seconds for one. False: none came.
bool rh_threads__take(rh_threads *pool, rh_study__done *done, double wait);
int rh_threads__nopen(const rh_threads *pool); // given and not taken
void rh_threads__destroy(rh_threads *pool);    // abandons what is under way; NULL is allowed
// Do a unit at once, as thread `worker` of a runner whose first member has number `first`.
void rh_threads__do(rh_runner *runner, int worker, int first, const rh_study__unit *unit,
                    rh_study__done *done);

// Tell `remote` of a stage, and have one run done. stop: polled while waiting. remote.c
rh_status rh_remote__stage(const rh_remote *remote, rh_stage stage, const rh_members *members,
                           const rh_study__agents *agents, const rh_eval_options *opt,
                           const rh_task *task, rh_error *err);
void rh_remote__run(const rh_remote *remote, const rh_study__unit *unit, bool (*stop)(void *),
                    void *context, rh_study__done *done);

// The thread pool of this process and those of the other ranks, as one. workers.c
typedef struct rh_workers rh_workers;

// ranks: NULL for this process alone. The other ranks are in rh_study_serve(). remote: NULL, or
// who does the runs, without ranks; then it has the number of threads.
rh_status rh_workers__create(rh_workers **out, const rh_study__agents *agents,
                             const rh_eval_options *opt, int nthread, rh_ranks *ranks,
                             const rh_remote *remote, rh_error *err);
// As rh_threads__add_stage(), on all ranks: sends them the model.
rh_status rh_workers__add_stage(rh_workers *workers, rh_stage stage, const rh_members *members,
                                const rh_task *task, rh_error *err);
rh_status rh_workers__give(rh_workers *workers, const rh_study__unit *unit, rh_error *err);
bool rh_workers__take(rh_workers *workers, rh_study__done *done, double wait);
bool rh_workers__drop_stage(rh_workers *workers, rh_stage stage); // of this process
bool rh_workers__alone(const rh_workers *workers); // all runs are done in this process
int rh_workers__nopen(const rh_workers *workers);
int rh_workers__nthread(const rh_workers *workers); // of all ranks
void rh_workers__destroy(rh_workers *workers);      // ends the other ranks; NULL is allowed

// ---------------------------------------------------------------------------- the journal

// A trial in the journal. x and run: of trials read from the file, until rh_journal__forget().
typedef struct rh_journal__entry {
    int id;      // Optuna's, over all studies of the file
    int study;   // in the order of the file: 0, or that of the confirmations
    int number;  // Optuna's, in this study
    int setting; // a confirmation has the number of the setting it confirms
    bool confirm, finished;
    rh_setting_state state;
    double *x;          // owned                          (ndim)
    rh_study__run *run; // owned, in the order written    (nrun)
    int nrun;
} rh_journal__entry;

// What identifies a study. A journal with a different head belongs to another study.
typedef struct rh_journal__head {
    const char *name;      // of the study
    const char *log;       // path of the log, for people
    const rh_log *data;    // the log, for people: its steps and columns; NULL: unknown
    uint64_t fingerprint;  // of the log
    uint64_t starts;       // of the log of starts; 0: none
    uint64_t model;        // of the given model; 0: the study fits its own
    uint64_t plugins;      // of the plug-ins that the plan uses; 0: none
    const rh_plan *plan;   // settled
    int ncurve;            //
    int nlimit, nalso;     // limits and further scores of a run
    int64_t nstep;         // of a run; 0 while unknown
    int64_t cutoff;        // of an episode; INT64_MAX: none, 0 while unknown
    const rh_kinds *kinds; // of model; NULL while unknown
    rh_prior start;        // what agents begin with on the plant; n = 0: nothing
} rh_journal__head;

typedef struct rh_journal rh_journal;

// Open and lock study.log in `folder`, which is created if missing. An existing journal is
// read: a torn last line is cut off, and a head that differs in more than open entries is
// refused. Owned: *out, free with rh_journal__close().
rh_status rh_journal__open(rh_journal **out, const char *folder, const rh_journal__head *head,
                           rh_error *err);
void rh_journal__close(rh_journal *journal); // syncs; NULL is allowed

// Steps of a run: known once there is a model, required before trials finish.
void rh_journal__set_steps(rh_journal *journal, int64_t nstep);
// The kinds of model of the confirmation: to be written with the first trial (borrowed), and as
// written; n = 0 where the journal has none.
void rh_journal__set_kinds(rh_journal *journal, const rh_kinds *kinds);
rh_status rh_journal__kinds(const rh_journal *journal, rh_kinds *kinds, rh_error *err);

// Trials that were read from the file, in order; NULL beyond the last.
int rh_journal__ntrial(const rh_journal *journal);
const rh_journal__entry *rh_journal__trial(const rh_journal *journal, int i);
void rh_journal__forget(rh_journal *journal, int i); // free x and run of a trial

// The score of a random policy in the models of the confirmation, or of the search; false where
// the journal does not have it.
bool rh_journal__random(const rh_journal *journal, bool confirmed, rh_reference *score,
                        double *lowest);

// The runs of the agent's defaults there, result (n): score and counts of each; false where the
// journal does not have so many.
bool rh_journal__defaults(const rh_journal *journal, bool confirmed, rh_result *result, int n);

// The score of a run in a model of the check; false where the journal does not have it.
bool rh_journal__check(const rh_journal *journal, const char *model, int setting, int run,
                       double *score);

// How often the search was asked before `time` seconds were over; 0: it was not ended, or by
// another time.
int rh_journal__nask(const rh_journal *journal, double time);

// What to log next by the visits of these settings, rows (RH_NEXT_MOST) without their words;
// false where the journal does not have it. log: of the model.
bool rh_journal__next(const rh_journal *journal, const int *setting, int nsetting,
                      const rh_log *log, rh_next *row, int *nrow);

// Append. begin() numbers the trials for the others. Written at once, on the disk after sync().
rh_status rh_journal__begin(rh_journal *journal, int setting, bool confirm, const double *x,
                            int *number, rh_error *err);
rh_status rh_journal__add_run(rh_journal *journal, int number, const rh_study__run *run,
                              rh_error *err);
// Append why a run failed, before the run itself; for people.
rh_status rh_journal__add_reason(rh_journal *journal, int number, const rh_study__run *run,
                                 const char *reason, rh_error *err);
rh_status rh_journal__finish(rh_journal *journal, int number, const rh_trial *trial,
                             rh_error *err);
rh_status rh_journal__add_random(rh_journal *journal, bool confirmed, const rh_reference *score,
                                 double lowest, rh_error *err);
rh_status rh_journal__add_defaults(rh_journal *journal, bool confirmed, const rh_result *result,
                                   int n, rh_error *err);
rh_status rh_journal__add_nask(rh_journal *journal, double time, int nask, rh_error *err);
rh_status rh_journal__add_check(rh_journal *journal, const char *model, int setting, int run,
                                double score, rh_error *err);
rh_status rh_journal__add_next(rh_journal *journal, const int *setting, int nsetting,
                               const rh_log *log, const rh_next *row, int nrow, rh_error *err);
rh_status rh_journal__conclude(rh_journal *journal, const rh_verdict *verdict, rh_error *err);
rh_status rh_journal__sync(rh_journal *journal, rh_error *err);

// Whether the journal is where it was and as long as it was.
rh_status rh_journal__check_place(const rh_journal *journal, rh_error *err);

// Remove a link at `path`, which is about to be written: a file of a study is written into its
// folder and not where a link leads.
void rh_study__drop_link(const char *path);

// ---------------------------------------------------------------------------- trust.c

// The level, the probability and the reasons of a verdict whose evidence is known. Nullable:
// model, the findings of its model.
void rh_trust__judge(rh_verdict *verdict, const rh_findings *model);

// Whether random actions beat the logged controller in the model with these findings. Nullable:
// model.
bool rh_trust__too_easy(const rh_findings *model);

// ---------------------------------------------------------------------------- output files

// The text of best.yaml; best.yaml and runs.csv, written completely or not at all. write.c
void rh_study__best_text(rh_text *t, const rh_journal__head *head, const rh_model *model,
                         const rh_verdict *verdict);
rh_status rh_study__write_best(const char *path, const rh_journal__head *head,
                               const rh_model *model, const rh_verdict *verdict, rh_error *err);

// The file of what the agent begins with, beside best.yaml, and its checksum. Owned: the rows
// that are read. start.c
#define RH_STUDY__START "start.state"
rh_status rh_study__write_start(const char *path, const rh_task *task, rh_prior prior,
                                double key, rh_error *err);
rh_status rh_study__read_start(rh_prior *prior, const char *path, const rh_task *task,
                               rh_error *err);
uint32_t rh_study__start_sum(const rh_task *task, rh_prior prior);
// A checksum of what decides the practice for the plant; -1 without memory. Take what an
// earlier run of the study practised, if its file is in the folder.
double rh_study__start_key(const rh_study *study);
bool rh_study__recall_start(rh_study *study);
// Whether the setting of a trial begins with the log.
bool rh_study__starts(const rh_journal__head *head, const rh_trial *trial);
rh_status rh_study__write_runs(const char *path, const rh_journal__head *head,
                               const rh_verdict *verdict, rh_error *err);

// log_next.csv, likewise: one row per suggested trial. log: of the model. write_next.c
rh_status rh_study__write_next(const char *path, const rh_log *log, const rh_next *row,
                               int nrow, rh_error *err);

// A field of CSV, quoted where it needs it. write.c
void rh_write__field(rh_text *t, const char *value);
// Create a file of the study, in place of a link. Owned: *out, end it with rh_write__finish().
rh_status rh_write__begin(rh_file **out, const char *path, rh_error *err);
// Write the text to the file and close it; frees the text. fault: of earlier pieces, or 0.
rh_status rh_write__finish(rh_file *file, rh_text *t, int fault, const char *path,
                           rh_error *err);

// Numbers in YAML, as PyYAML reads them too: write.c. The task, and what the curves promise.
void rh_write__number(rh_text *t, double x);
void rh_write__interval(rh_text *t, double lo, double hi);
void rh_write__task(rh_text *t, const rh_model *model);
// The limits and further scores of a verdict with a winner: write_limits.c. Nullable: log.
void rh_write__limits(rh_text *t, const rh_plan *plan, const rh_log *log, const rh_verdict *v);
void rh_write__promise(rh_text *t, const rh_trial *trial, int64_t nstep, int ncurve);

#endif
