// study_internal.h - what the files of the room share.
//
//     study.c ──asks──▶ search      tells it what the journal holds
//        │ units                ▲ runs
//        ▼                      │
//     workers.c ──▶ threads.c: threads of this process
//        └──────▶ ranks_mpi.c: other processes, each with a thread pool      journal.c: the
//        truth
//
// A unit of work is one run: (trial, stage, member, run). What it comes to depends on nothing
// else, so it does not matter who runs it and when.

#ifndef REHEARSE_STUDY_INTERNAL_H
#define REHEARSE_STUDY_INTERNAL_H

#include "rehearse/study.h"

double rh_study__now(void); // seconds, monotonic

// folder/name. Owned: the answer, free with rh_free(); NULL when memory ran out.
char *rh_study__path(const char *folder, const char *name);

#define RH_STUDY__MOST_CONFIRM 1000 // settings of a confirmation

// ---------------------------------------------------------------------------- where runs are

// The members that agents of one stage live in.
typedef struct rh_members {
    const rh_model *model; // borrowed, or owned
    rh_model *owned;       // NULL where it is borrowed
    rh_env **env;          // owned  (nmember)
    int nmember;
} rh_members;

rh_status rh_members__open(rh_members *members, const rh_model *model,
                           rh_error *err); // borrows
void rh_members__clear(rh_members *members);

// A number that two homes share only when agents live alike in both: made of what happens to
// one that acts at random. 0: out of memory.
uint64_t rh_members__fingerprint(const rh_members *members);

// Streams of a stage: replicates of the search begin at 0, those of the confirmation here, so
// that its runs have random stream of their own.
#define RH_STUDY__FRESH UINT64_C(1000000)

// ---------------------------------------------------------------------------- units of work

typedef struct rh_study__unit {
    int trial; // of the study, for the one who asked
    rh_stage stage;
    int member, run;
    double hp[RH_MAX_DIM * 2]; // (nparam of the agent, at most RH_STUDY__NHP)
} rh_study__unit;
#define RH_STUDY__NHP (RH_MAX_DIM * 2)
#define RH_STUDY__NCURVE 64 // points of a learning curve, at most

typedef struct rh_study__done {
    int trial;
    rh_stage stage;
    int member, run;
    rh_result result;
    double curve[RH_STUDY__NCURVE]; // (ncurve)
    rh_status rc;                   // the run could not be run at all
    rh_error err;                   // why
} rh_study__done;

// Threads that live what they are given. threads.c
typedef struct rh_threads rh_threads;

// nthread threads. agent, opt: borrowed. nthread and replicate of opt are not looked at.
rh_status rh_threads__create(rh_threads **out, const rh_agent_type *agent,
                             const rh_eval_options *opt, int nthread, rh_error *err);
// From here on units of `stage` can be given. task: what agents are told. home, task: borrowed.
// hp (nparam): what most agents are built like.
rh_status rh_threads__settle(rh_threads *threads, rh_stage stage, const rh_members *members,
                             const rh_task *task, const double *hp, rh_error *err);
// As long as no more than n are open, give() cannot fail.
rh_status rh_threads__reserve(rh_threads *threads, int n, rh_error *err);
rh_status rh_threads__give(rh_threads *threads, const rh_study__unit *unit,
                           rh_error *err); // copied
// One that is done, in any order. Waits up to so many seconds (0: not at all) for it; false:
// none came.
bool rh_threads__take(rh_threads *threads, rh_study__done *done, double wait);
int rh_threads__nopen(const rh_threads *threads); // given and not taken
void rh_threads__destroy(rh_threads *threads);    // leaves what is under way; NULL is allowed

// The thread pool of this process and those of other ranks, as one. workers.c
typedef struct rh_workers rh_workers;

// ranks: NULL for this process alone. Other ranks are in rh_study_serve().
rh_status rh_workers__create(rh_workers **out, const rh_agent_type *agent,
                             const rh_eval_options *opt, int nthread, rh_ranks *ranks,
                             rh_error *err);
// The same, for all ranks: the model is sent to them.
rh_status rh_workers__settle(rh_workers *workers, rh_stage stage, const rh_members *members,
                             const rh_task *task, const double *hp, rh_error *err);
rh_status rh_workers__give(rh_workers *workers, const rh_study__unit *unit, rh_error *err);
bool rh_workers__take(rh_workers *workers, rh_study__done *done, double wait);
int rh_workers__nopen(const rh_workers *workers);
int rh_workers__nthread(const rh_workers *workers); // of all ranks
void rh_workers__destroy(rh_workers *workers); // other ranks are told to end; NULL is allowed

// ---------------------------------------------------------------------------- the journal

// One run as the journal holds it.
typedef struct rh_journal__run {
    int member, run;
    rh_result result;
    double curve[RH_STUDY__NCURVE]; // (ncurve)
} rh_journal__run;

// One trial as the journal holds it.
typedef struct rh_journal__entry {
    int setting;  // of the search; of a confirmation, what it confirms
    bool confirm; //
    double x[RH_MAX_DIM];
    bool finished;
    rh_setting_state state;
    rh_journal__run *result; // owned, in the order written  (nlife)
    int nunit;
} rh_journal__entry;

// What a study is, for its first lines: another one must be the same.
typedef struct rh_journal__head {
    const char *name;     // of the study
    const char *log;      // path of the log, for people
    uint64_t fingerprint; // of the log
    uint64_t starts;      // of the log of starts; 0: none
    uint64_t model;       // of what a model that was given does; 0: it is fitted by the study
    const rh_plan *plan;  // settled: its entries, its space
    int ncurve;           //
    int64_t nstep;        // of a run; 0 while it is not known
} rh_journal__head;

typedef struct rh_journal rh_journal;

// Open the journal study.log in `folder`, which is made when it is not there, and lock it. One
// that exists is read, a torn last line cut off, and its head compared: a difference that is
// not `open` is refused by name. Owned: *out, free with rh_journal__close().
rh_status rh_journal__open(rh_journal **out, const char *folder, const rh_journal__head *head,
                           rh_error *err);
void rh_journal__close(rh_journal *journal); // synced; NULL is allowed

// How many steps a run has: known once there is a model, and needed before trials finish.
void rh_journal__set_steps(rh_journal *journal, int64_t nstep);

// What was found in it, in order.
int rh_journal__ntrial(const rh_journal *journal);
const rh_journal__entry *rh_journal__trial(const rh_journal *journal, int i);
void rh_journal__forget(rh_journal *journal, int i); // its runs: somebody else has them now

// More of it. trial: numbers in order of begin(). Written at once, synced with sync().
rh_status rh_journal__begin(rh_journal *journal, const rh_journal__entry *trial, int *number,
                            rh_error *err);
rh_status rh_journal__add_run(rh_journal *journal, int number, const rh_journal__run *result,
                              rh_error *err);
rh_status rh_journal__finish(rh_journal *journal, int number, const rh_trial *trial,
                             rh_error *err);
// The verdict, in words that Optuna shows: what is the setting to deploy.
rh_status rh_journal__conclude(rh_journal *journal, const rh_verdict *verdict, rh_error *err);
rh_status rh_journal__sync(rh_journal *journal, rh_error *err);

// ---------------------------------------------------------------------------- what is written

// best.yaml and runs.csv, whole or not at all. write.c
rh_status rh_study__write_best(const char *path, const rh_journal__head *head,
                               const rh_model *model, const rh_verdict *verdict, rh_error *err);
rh_status rh_study__write_runs(const char *path, const rh_journal__head *head,
                               const rh_verdict *verdict, rh_error *err);

#endif
