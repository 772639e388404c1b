// core.h - a study while it lasts, for the files that carry it out.

#ifndef REHEARSE_STUDY_CORE_H
#define REHEARSE_STUDY_CORE_H

#include "study_internal.h"

// A trial and its runs.
typedef struct rh_study__trial_record {
    int index;            // among the study's
    int number;           // of the journal
    int setting;          //
    bool confirm;         //
    double x[RH_MAX_DIM]; // (ndim)
    double *hp;           // owned                                       (nparam)
    int nmember, nrun;    // runs there is room for
    rh_result *result;    // owned; RH_STOPPED where not run           (nmember x nrun)
    double *curves; // owned, until it is finished                 (ndrawn x nmember x ncurve)
    int ndrawn;     // runs that these have room for
    double *curve;  // owned: their mean, once it is finished      (ncurve)
    int nopen;      // runs that are under way
    int asked;      // runs it is to have, by what was asked so far
    bool finished;  // the journal says so
    bool closed;    // nothing more is done with it, in this process
    rh_setting_state state; //
    rh_value value;         //
    double unknown;         //
    int ndiverged;          //
} rh_study__trial_record;

struct rh_study {
    const rh_plan *plan;
    rh_study_options opt;
    const rh_log *log, *starts;      // borrowed; NULL where a model was given
    char *model_path;                // where the model is kept, owned; NULL: nowhere
    rh_task task;                    // as agents are told it
    rh_eval_options eval;            //
    rh_members members[RH_NSTAGE];   // of the search and of the confirmation
    rh_journal__head head;           //
    rh_journal *journal;             // owned; NULL: nothing is kept
    rh_workers *workers;             // owned; NULL before there is work
    rh_search *search;               // owned
    rh_study__trial_record **record; // owned, in order of the journal          (nrecord)
    int nrecord, room;               //
    int *place[2];                   // owned: of a setting, its index + 1; of a confirmation
    int nplace[2];                   // settings that these have room for
    double *score, *work;            // owned: scratch of rh_value_of()
    rh_result *seen;                 // owned: scratch of rh_study__appraise()
    int64_t nunit, nknown;           // runs known, and found in the journal
    int64_t nspare;   // of those, of confirmations that may not be asked for again
    int64_t nrun_all; // runs of the search, as foreseen when it last asked
    int nsetting_all; // and settings
    int nfirst;       // settings that it asked for before it was told anything
    int64_t nstep;    // steps of all of them
    int nfinished;    // settings finished in this stage
    int nclosed;      // the first so many settings are closed
    bool dirty;       // the journal has runs that the disk may not have
    rh_stage stage;   //
    const rh_study__trial_record *best; // that leads in this stage, or NULL
    bool ran;                           // it has been carried out, to its end or not
    bool whole;                         // all is done
    bool judged;                        // the verdict is that of all that is known
    double begun, synced;               // on the clock, seconds
    double fitting;                     // seconds that it took to have a model
    rh_verdict verdict;                 //
    rh_trial *trial;                    // owned: the verdict's                    (nrecord)
};

rh_judge rh_study__judge(const rh_plan *plan);

// ---------------------------------------------------------------------------- trials.c

// The trial of a setting, in the search or to confirm it; made, and begun in the journal, where
// there is none. x is nullable where there must be one already.
rh_status rh_study__record(rh_study *study, int setting, bool confirm, const double *x,
                           rh_study__trial_record **out, rh_error *err);
rh_study__trial_record *rh_study__find(const rh_study *study, int setting,
                                       bool confirm);        // or NULL
rh_status rh_study__restore(rh_study *study, rh_error *err); // what the journal holds
void rh_study__forget(rh_study *study);                      // free all trials

// Room for the learning curves of its first runs. Then: one more run, known or new.
rh_status rh_study__reserve(rh_study *study, rh_study__trial_record *record, int nrun,
                            rh_error *err);
void rh_study__keep(rh_study *study, rh_study__trial_record *record,
                    const rh_journal__run *result);

// All asked for is there: its value by that, and with `state` the end of it, in the journal
// too.
void rh_study__appraise(rh_study *study, rh_study__trial_record *record);
rh_status rh_study__finish(rh_study *study, rh_study__trial_record *record,
                           rh_setting_state state, rh_error *err);

// ---------------------------------------------------------------------------- fit.c

// What the log alone is enough to refuse, before anything is written.
rh_status rh_study__check_fit(rh_study *study, rh_error *err);

// The model that agents live in; and others, each of another part of the log, to confirm in.
rh_status rh_study__fit(rh_study *study, const rh_model *given, rh_error *err);
rh_status rh_study__fit_fresh(rh_study *study, rh_error *err);

// One of those others, and how many seconds it took.
rh_status rh_study__time_fit(rh_study *study, double *seconds, rh_error *err);

// ---------------------------------------------------------------------------- run.c

rh_status rh_study__search(rh_study *study, rh_error *err);
rh_status rh_study__confirm(rh_study *study, rh_error *err);
int rh_study__leaders(const rh_study *study, int most, rh_leader *leader);
void rh_study__tell(rh_study *study,
                    const rh_study__trial_record *finished); // the caller, how far it is

// ---------------------------------------------------------------------------- verdict.c

rh_status rh_study__judge_all(rh_study *study); // fills the verdict, which is empty

// ---------------------------------------------------------------------------- findings.c

// What is to be known of a verdict that is otherwise ready.
rh_status rh_study__findings(rh_study *study);

#endif
