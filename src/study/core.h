// core.h - a study while it runs, for the files that carry it out.

#ifndef REHEARSE_STUDY_CORE_H
#define REHEARSE_STUDY_CORE_H

#include "agent/agent.h"
#include "base/findings.h"
#include "eval/eval.h"
#include "limits.h"
#include "rehearse/describe.h"
#include "search/search.h"
#include "study_internal.h"

// A trial of the study and what it owns.
typedef struct rh_study__record {
    rh_trial trial;       // what users see; its arrays are those below
    double x[RH_MAX_DIM]; // (ndim)
    double *hp;           // owned                               (nparam)
    rh_result *result;    // owned; RH_STOPPED where missing     (nmember x nrun)
    double *curve;        // owned: mean learning curve          (ncurve)
    double *promised;     // in curve's block, both: see rh_trial (ncurve)
    double *spread;       //                                     (ncurve)
    double *curves;       // owned, of single runs, until it is finished
                          //                                     (ncurve_run x nmember x ncurve)
    int ncurve_run;       // runs that curves has space for
    int index;            // in study->record
    int number;           // in the journal
    int nopen;            // runs under way
    int nasked;           // runs per member that the search has asked for
    int nscored;          // runs in its value
    double noise;         // variance of its value
    rh_kind_score *kind;  // owned                               (nkind of the trial)
    rh_kept *kept;        // owned: of every limit               (nlimit)
    rh_reference *also;   // owned: the further scores           (nalso)
    bool finished;        // the journal says so
    bool closed;          // this process needs it no more
} rh_study__record;

#define RH_STUDY__CHECKS 8     // models of a check, at most
#define RH_STUDY__REFERENCES 2 // settings of a check beside the confirmed ones

// The check of a study: settings, models, scores.
typedef struct rh_study__checking {
    rh_check check[RH_STUDY__CHECKS]; // (n)
    int n;                            // 0: there is none
    int *setting;                     // owned                           (nsetting)
    int nsetting, nreference;         //
    double *score;                    // owned                           (n x nsetting x nrun)
} rh_study__checking;

#define RH_STUDY__HALVES 2
#define RH_STUDY__MOVED 10 // agents that learn in each half of the log, at most

// Agents that learned in a model of one half of the log and act in both.
typedef struct rh_study__moved {
    int setting; //
    int n;       // agents of each half; 0: there are none
    double score[RH_STUDY__HALVES][RH_STUDY__MOVED][RH_STUDY__HALVES]; // learned in, agent,
} rh_study__moved;                                                     //   acts in; NAN: none

struct rh_study {
    const rh_plan *plan;
    rh_study_options opt;
    const rh_log *log, *starts;       // borrowed; NULL where a model was given
    const rh_log *fitted;             // what models are fitted to: log, or part
    rh_log *part, *rest;              // owned: of it, where agents begin with the rest; or NULL
    rh_prior prior;                   // owned: the rest
    rh_log_report *report;            // of the whole log: owned where the options have none
    char *model_path;                 // of study.model, owned; NULL: keep none
    rh_task task;                     // that agents are told
    rh_limits limits;                 // owned: what eval counts
    rh_eval_options eval;             //
    rh_members members[RH_NSTAGE];    // of the search, the confirmation and the check
    rh_model *shell;                  // owned: of kind `shell_kind`, without members; or NULL
    int shell_kind;                   //
    int64_t at_once;                  // steps of the log times members in memory at once
    rh_kinds kinds;                   // of model, that the confirmation uses
    double optimism;                  // how much too good the model is known to be
    const char *kind[RH_KINDS__MOST]; // their labels                           (nkind)
    rh_journal__head head;            //
    rh_journal *journal;              // owned; NULL: keep none
    rh_workers *workers;              // owned; NULL until rh_study_run()
    rh_search *search;                // owned
    rh_study__record **record;        // owned, in the order of the journal        (nrecord)
    int nrecord, room;                //
    int *place[2];                // owned: index + 1 of a setting's trial in the search, and
    int nplace[2];                //   of its confirmation                     (nplace)
    double *score, *work;         // owned: scratch for rh_value__of()
    rh_result *seen;              // owned: scratch for rh_study__appraise()
    int64_t nrun, nrun_resumed;   // finished runs; of these, read from the journal
    int64_t nspare;               // of these, of confirmations that may not be asked for again
    int64_t nrun_search;          // runs of the search, as last predicted
    int nsetting_max;             // and settings
    int nfirst;                   // settings asked for before the first result
    int64_t nstep;                // steps of all runs of trials
    int nfinished;                // settings finished in this stage
    int nclosed;                  // all settings below this one are closed
    char failure[244];            // why a run failed, of this process; "": none did
    bool dirty;                   // the journal has runs that may not be on the disk
    rh_stage stage;               //
    const rh_study__record *best; // that leads in this stage, or NULL
    bool confirms;                // settings are confirmed
    bool ran;                     // rh_study_run() was called
    bool finished;                // the study is complete
    bool judged;                  // the verdict covers all results
    double begun, synced;         // times, in seconds
    double fitting;               // seconds to fit or read the model
    rh_reference logged;          // the logged controller, on the scale of scores
    rh_result *defaults;          // owned: runs of the agent's defaults in the models of the
    int ndefault_member;          //   winner, of its own kind; NULL before  (ndefault_member x
    int ndefault_run;             //   ndefault_run)
    rh_reference random;          // a random policy in the models of the winner
    rh_result *random_run;        // owned: its runs in them, while they are made; or NULL
    int nrandom;                  // members that they are of
    double random_lowest;         // its lowest score in a kind of model; NAN: unknown
    rh_verdict verdict;           //
    rh_trial *trial;              // owned: the verdict's                      (nrecord)
    rh_study__checking checking;  //
    rh_study__moved moved;        //
    rh_imitation imitation;       //
    rh_next next[RH_NEXT_MOST];   // what to log next                          (nnext)
    int nnext;                    //
    rh_replays *replays;          // owned; NULL before, or if there are none
    bool replayed;                // it was tried
    double next_page;             // of a watched study: when, in seconds
};

// ---------------------------------------------------------------------------- the result

int64_t rh_study__count_runs(const rh_trial *trial); // finished ones
// The agent of a trial, and the number of its hyperparameters.
const rh_agent_type *rh_study__agent(const rh_study *study, const rh_trial *trial);
int rh_study__nparam(const rh_study *study, const rh_trial *trial);

// The fields of a study whose verdict is known, into the open object. most_tied: for the
// report, without what two runs of one command differ in, and without the trials, which the
// report has as columns; -1: everything. fields.c
void rh_study__write_fields(rh_doc *doc, const rh_study *study, int most_tied);

// Fields of limits and further scores, inside a study or a trial. limits_fields.c
extern const rh_fields rh_study__limits_fields;
const rh_study *rh_study__of(const rh_field_at *at); // the outermost struct
bool rh_study__has_limits(const rh_field_at *at);
bool rh_study__has_also(const rh_field_at *at);
void rh_study__write_kept(rh_doc *doc, const char *key, const rh_field_at *at);
void rh_study__write_also(rh_doc *doc, const char *key, const rh_field_at *at);
void rh_study__write_scores(rh_doc *doc, const char *key, const rh_field_at *at);

// report.json and report.html, in the folder if there is one; and now and then while a study
// that is watched runs. refresh: as for rh_report_write(). report.c
rh_status rh_study__report(rh_study *study, int refresh, rh_error *err);
void rh_study__watch(rh_study *study);

int64_t rh_study__runs_predicted(const rh_study *study); // in all stages, at most

rh_judge rh_study__judge(const rh_plan *plan);
int rh_study__nconfirm(const rh_study *study); // members of the confirmation, of all kinds

// ---------------------------------------------------------------------------- trials.c

// The trial of a setting; created, and begun in the journal, where there is none.
rh_status rh_study__record_of(rh_study *study, int setting, bool confirm, const double *x,
                              rh_study__record **out, rh_error *err);
// Begin another trial in the journal for a finished confirmation that gets more runs.
rh_status rh_study__reopen(rh_study *study, rh_study__record *record, rh_error *err);
rh_study__record *rh_study__find(const rh_study *study, int setting, bool confirm); // or NULL
rh_status rh_study__restore(rh_study *study, rh_error *err); // all trials of the journal
void rh_study__forget(rh_study *study);                      // free all trials

// Make space for the learning curves of the first nrun runs; keep one run.
rh_status rh_study__reserve(rh_study *study, rh_study__record *record, int nrun, rh_error *err);
void rh_study__keep(rh_study *study, rh_study__record *record, const rh_study__run *run);

// Compute the value from the runs asked for; finish the trial, in the journal too.
void rh_study__appraise(rh_study *study, rh_study__record *record);
rh_status rh_study__finish(rh_study *study, rh_study__record *record, rh_setting_state state,
                           rh_error *err);

// ---------------------------------------------------------------------------- curves.c

// What the curves of a finished trial promise: fills promised, spread, alarm, false_alarms and
// ncurve_run of the trial.
rh_status rh_study__foresee_curve(const rh_study *study, rh_study__record *record,
                                  rh_error *err);

// ---------------------------------------------------------------------------- fit.c

// Refuse what the log alone shows to be impossible, before anything is written.
rh_status rh_study__check_fit(rh_study *study, rh_error *err);

// The model of the search, and the kinds of model of the confirmation; and the models of the
// confirmation, each of another part of the log.
rh_status rh_study__fit(rh_study *study, const rh_model *given, rh_error *err);
// The models of the confirmation take most of the memory of a study of a long log. How many
// members, of one kind, are fitted and run at a time; or all of all kinds.
#define RH_STUDY__AT_ONCE 250000 // of rh_study.at_once: neighbours take 105 bytes of each
int rh_study__round(const rh_study *study);
// Fit members first .. first + n - 1, and forget those before.
rh_status rh_study__fit_fresh(rh_study *study, int first, int n, rh_error *err);

// Practise in a model of all of the log, for the plant, where the setting begins with that.
rh_status rh_study__prepare_start(rh_study *study, rh_error *err);

// Both halves of the log, in models like that of the search; and a model of all of the log with
// other parameters. Owned: *out.
rh_status rh_study__fit_halves(rh_study *study, rh_model **out, rh_error *err);
rh_status rh_study__fit_other(rh_study *study, const rh_kinds__kind *kind, rh_model **out,
                              rh_error *err);

// Fit one model of each kind and measure the time.
rh_status rh_study__time_fit(rh_study *study, double *seconds, rh_error *err);

// ---------------------------------------------------------------------------- practice.c

#define RH_STUDY__PRACTISED 5 // members of a model to practise in; by hand

// Let agents practise in a model of the prior's logged rows, and put the steps of the best
// behind them: prior->row, owned by the caller, is replaced. Without one that learned it stays.
rh_status rh_study__practise(rh_study *study, const rh_model *model, rh_prior *prior,
                             rh_error *err);

// ---------------------------------------------------------------------------- run.c

rh_status rh_study__search(rh_study *study, rh_error *err);
rh_status rh_study__confirm(rh_study *study, rh_error *err);
// Whether trial a ranks below b because of diverged runs or limits alone (run.c, decision 6).
bool rh_study__is_behind(const rh_study *study, const rh_trial *a, const rh_trial *b);
int rh_study__leaders(const rh_study *study, int most, rh_search__lead_entry *leader);
// Report progress to the caller. Nullable: finished, a trial that has just finished.
void rh_study__tell(rh_study *study, const rh_study__record *finished);

// Wait for a run of another stage than the trials'; *done is false if none came. RH_ESTOPPED
// when the caller stops the study.
rh_status rh_study__take(rh_study *study, rh_study__done *run, bool *done, rh_error *err);
rh_status rh_study__sync(rh_study *study, rh_error *err); // the journal, where it has new lines

// ---------------------------------------------------------------------------- check.c

rh_status rh_study__check(rh_study *study, rh_error *err);
int64_t rh_study__ncheck_run(const rh_study *study); // runs of the check, at most
void rh_study__clear_check(rh_study__checking *checking);

// ---------------------------------------------------------------------------- transfer.c

rh_status rh_study__transfer(rh_study *study, rh_error *err); // of the winner, after the check
rh_transfer rh_study__transferred(const rh_study *study);     // once random is known
int rh_study__ntransfer_run(const rh_study *study);           // runs that it takes

// ---------------------------------------------------------------------------- log_next.c

#define RH_STUDY__NEXT_RUNS 10                                 // at most
rh_status rh_study__find_next(rh_study *study, rh_error *err); // after everything else has run

// ---------------------------------------------------------------------------- verdict.c

rh_status rh_study__judge_all(rh_study *study); // fills the empty verdict

// Whether a trial has a finite score and a run that did not diverge.
bool rh_study__can_deploy(const rh_trial *trial);

// The effect that the log does not show and a row asks for; NULL: it asks for something else.
const rh_not_shown *rh_study__not_shown(const rh_model *model, const rh_next *row);
// Whether agents do in a region what the log hardly ever did there, or nowhere near. evidence.c
bool rh_study__is_unlogged(const rh_next *row);

// ---------------------------------------------------------------------------- crossfit.c

// How much the winner is overrated because it was chosen by its score; 0: not known to be.
double rh_study__overrated(const rh_study *study);

// ---------------------------------------------------------------------------- claims.c

// What is claimed of the candidate, but for the claim `best` (trust.c).
void rh_study__claim(rh_study *study);

// Choose between the candidate and a clone of the controller, by what is claimed. verdict.c
void rh_study__settle(rh_study *study);

// The trial that claims are about: the candidate, or the winner where there is none; -1: none.
static inline int rh_study__judged(const rh_verdict *v)
{
    return v->candidate >= 0 ? v->candidate : v->winner;
}

// ---------------------------------------------------------------------------- evidence.c

// Error of replays in the study's model: of held-out stretches, or from natural experiments if
// that is greater, or the share of effects there that did not come. NAN: they were not made.
double rh_study__replay_error(const rh_study *study);

rh_status rh_study__gather(rh_study *study); // the evidence of a verdict, after its findings

// ---------------------------------------------------------------------------- optimism.c

// How much better than in the log the imitated behaviour scores in a model.
double rh_study__level(const rh_fidelity *f, const rh_eval_options *how, bool continuing);
// How much too good a model is known to be, on the scale of scores; 0: it is not known to be.
double rh_study__optimism(const rh_fidelity *f, const rh_eval_options *how, bool continuing);

// ---------------------------------------------------------------------------- limiting.c

// Whether a trial keeps the limits as it runs now; fills kept, keeps and also.
void rh_study__weigh(rh_study *study, rh_study__record *record);
// Whether it keeps them by the upper bounds; except: a limit that does not count, -1: none.
bool rh_study__allows(const rh_study *study, const rh_trial *trial, int except);
// How far it is above them, by its rates or by their upper bounds; below 0: it is not.
double rh_study__excess(const rh_study *study, const rh_trial *trial, bool upper);
// What is told to the search in place of the scores of a setting that breaks limits: score
// (nrun of told) and the rest of told.
void rh_study__penalise(const rh_study *study, const rh_study__record *record, double *score,
                        rh_search__told *told);
// Refuse limits that neither log nor model can count.
rh_status rh_study__check_limits(const rh_study *study, rh_error *err);
// The limits of the verdict, once there is a winner.
void rh_study__limiting(rh_study *study);

// ---------------------------------------------------------------------------- agree.c

// The regrets of confirmed settings, in every kind of model.
rh_status rh_study__regrets(rh_study *study);
// Whether confirmed setting a is to be deployed rather than b.
bool rh_study__holds_better(const rh_trial *a, const rh_trial *b);

// The confirmed clone of the logged controller, an index of verdict.trial; -1: there is none.
int rh_study__clone(const rh_study *study); // today.c

// Whether a is better than b beyond chance (95 %) in every kind of model, by paired runs.
bool rh_study__beats(rh_study *study, const rh_trial *a, const rh_trial *b);
// Whether no kind of model separates the settings.
bool rh_study__is_tied(rh_study *study, const rh_trial *best, const rh_trial *other);
// Report kinds of model that disagree about the confirmed settings.
void rh_study__disagreement(rh_study *study);

// ---------------------------------------------------------------------------- findings.c

rh_status rh_study__findings(rh_study *study); // of a verdict that is otherwise complete
rh_status rh_study__too_good(rh_study *study); // too_good.c: one of them

// Whether a setting of the search says something about the whole space: a search that converges
// tries many near its best, and only those of its first ask do.
bool rh_study__is_spread(const rh_study *study, int setting);
// How many of these are statistically tied with the best of the search, which is not counted;
// *nknown: of how many.
int rh_study__count_tied(rh_study *study, int *nknown);

// ---------------------------------------------------------------------------- promise.c

// The logged controller, from the log: fills in logged, and eval.today.
rh_status rh_study__find_logged(rh_study *study, rh_error *err);
// Run a random policy and the agent's defaults in the models that score the winner; then fill
// in what the verdict compares with: logged, random, and the winner's rare failures.
rh_status rh_study__run_references(rh_study *study, rh_error *err);
// The random policy in the members of the confirmation that are in memory now.
rh_status rh_study__run_random(rh_study *study, rh_error *err);
bool rh_study__knows_random(rh_study *study);     // from the journal
bool rh_study__knows_references(rh_study *study); // all of them
rh_status rh_study__compare(rh_study *study);
// The intervals of confirmed settings become unknown.
void rh_study__withdraw(rh_study *study);

// The candidate's interval reaches as far as its advantage is uncertain. promise.c
void rh_study__allow_for_advantage(rh_study *study);

// Runs of the winner far below its others. promise.c
rh_status rh_study__find_rare(rh_study *study);

// Measure how well the clone of the logged controller imitates it. imitation.c
rh_status rh_study__imitate(rh_study *study, rh_error *err);
// In words; naction: discrete actions, nact: numbers of a continuous one.
rh_imitation rh_study__imitation_of(const rh_clone__quality *q, int naction, int nact);

// Findings about ranges of actuators. actuators.c
rh_status rh_study__actuators(rh_study *study);

// Fill in failing of the winner. today.c
void rh_study__find_failures(rh_study *study);

// Fill in today and failing of a verdict whose intervals and claims are known. today.c
rh_status rh_study__answer(rh_study *study);
void rh_study__write_rate(const rh_failing *f, const rh_rate *rate, char text[60]);

int64_t rh_study__per_steps(const rh_study *study);       // see rh_verdict
const rh_log *rh_study__whole_log(const rh_study *study); // as given, or the model's
// Write the returns of the episodes that the log has all of to got (nepisode). Returns their
// number.
int rh_study__episodes(const rh_log *log, double *got);

#endif
