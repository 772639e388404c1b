// model_internal.h - the fitted model, and the interface of a kind of model.

#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include "rehearse/model.h"

#include "base/text.h"
#include "log/log.h"
#include "store.h"

struct rh_model {
    const rh_model_type *type;
    double *param;        // owned                                      (nparam)
    rh_log *log;          // owned: the whole transitions; states that are only starts come last
    rh_repr *repr;        // owned
    rh_task task;         // names are borrowed from log, the rows of prior from prior
    double *prior;        // owned: rows that agents begin with; NULL: none
    float *code;          // owned: of every state; NULL if codes are of state and action
                          //                                            (nstate x ncode)
    int32_t *start;       // owned: rows where episodes begin           (nstart)
    int64_t nstart;       //
    rh_failure *failure;  // owned: what a failure is
    double lowest;        // return of the worst episode, see outcome.c
    double highest;       // and of the best
    int64_t ndropped;     // transitions left out, with missing or infinite numbers
    uint64_t fingerprint; // of the log it was fitted to
    rh_facts *facts;      // owned: of sensors, resets and limits
    rh_derive *derive;    // owned: computes derived sensors; NULL: none
    rh_resample resample;
    int nmember;
    void **member;                 // owned: of the kind                               (nmember)
    rh_fidelity *fidelity;         // owned; NULL if it was not measured
    rh_model_comparison *compared; // owned: that chose it; NULL if there was none
};

// The reward of a step past a limit that the log never passed; usual: of the same step inside.
double rh_model__past_limit(const rh_model *model, double usual);

// What a member is fitted to.
typedef struct rh_model__part {
    const int32_t *use; // transitions of the model's log, ascending, may repeat   (nuse)
    int64_t nuse;
    const int32_t *ask; // expect() is called for these states and nothing else is called;
                        // NULL: no such promise                                   (nask)
    int64_t nask;
    rh_rng rng;  // of the member
    int nthread; // changes no result
    rh_watch watch;
} rh_model__part;

// A member's prediction for one action in one state.
typedef struct rh_model__expected {
    double *next;    // mean of the next observation, over transitions that do not end (nobs)
    double reward;   // mean
    double terminal; // probability
    double distance; // to the nearest transition, in codes; NAN if there is none
    bool out_of_coverage;
} rh_model__expected;

struct rh_model_calls {
    bool random; // fitting draws random numbers: members of the same transitions differ

    // Fit a member; all else of the model is set. Owned: *out, free with destroy.
    rh_status (*fit)(void **out, const rh_model *model, const rh_model__part *part,
                     rh_error *err);
    void (*destroy)(void *member); // NULL is allowed

    // An environment of a member with checked parameters. Borrowed: model, member.
    rh_status (*env)(rh_env **out, const rh_model *model, const void *member,
                     const double *param, rh_error *err);

    // Put a run at row `row` of the model's log, as if the last start or step had led there.
    // env: made by env() of this model; state: filled by rh_env_start() of env. What the state
    // holds beside the observation (a count, the last neighbour) becomes that of a fresh start.
    void (*stand)(const rh_model *model, const rh_env *env, void *state, int32_t row);

    // Predict the outcome of act in obs (nobs). Not for hot loops.
    rh_status (*expect)(rh_model__expected *out, const rh_model *model, const void *member,
                        const double *obs, const double *act, rh_error *err);

    // To the arrays of a file and back. read checks everything; NULL after a failure, which the
    // store keeps.
    void (*write)(const rh_model *model, const void *member, rh_store *store);
    void *(*read)(const rh_model *model, rh_store *store);
};

extern const rh_model_type rh_model_knn;
extern const rh_model_type rh_model_linear;
extern const rh_model_type rh_model_nn;

// choose.c: the kind of model of this name, for a trial; NULL if there is none.
const char *rh_model__kind_name(const char *name);

// How many runs of episodes a log has, resumed ones with the one before, and the steps of the
// longest.
int64_t rh_model__units(const rh_log *log, int64_t *longest);

// excerpt.c: a part of a log of about `most` steps: whole episodes, or blocks of steps if one
// is more than half of the log. Owned: *out; NULL if the log is not longer.
rh_status rh_model__excerpt(rh_log **out, const rh_log *log, int64_t most, rh_error *err);

// ---------------------------------------------------------------------------- parts of a fit

// clean.c: whether transition i has only finite numbers, and whether its s' is usable.
bool rh_model__is_whole(const rh_log *log, int64_t i);
bool rh_model__has_next(const rh_log *log, int64_t i);

// A run of whole transitions within an episode.
typedef struct rh_model__piece {
    int64_t first, end; // its transitions, end not included
    bool start;         // it begins in a start state
    bool ends;          // its last transition is terminal
} rh_model__piece;

// The piece that follows; the first one after zeros. False when there are no more.
bool rh_model__next_piece(const rh_log *log, rh_model__piece *piece);

// The part of a log that a model uses: its whole transitions, and states that are only starts.
typedef struct rh_model__usable {
    const rh_log *log;
    const double *more;    // states that are only starts                   (nmore x nobs)
    int64_t nmore;         //
    int64_t n, nepisode;   // whole transitions, and the pieces they form
    bool whole;            // all of the log and nothing else
    const int32_t *reset;  // resets, ascending: they become terminal,         (nreset)
    const double *arrival; // lead to these states, and a start follows (nreset x nobs)
    int64_t nreset;        //
} rh_model__usable;

// Survey a log without copying it. Borrowed: log, more.
rh_status rh_model__survey(rh_model__usable *u, const rh_log *log, const double *more,
                           int64_t nmore, rh_error *err);

// Mark resets in the copy. Borrowed: reset (n), arrival (n x nobs).
rh_status rh_model__mark_resets(rh_model__usable *u, const int32_t *reset,
                                const double *arrival, int64_t n, rh_error *err);

// Copy that part; the states of `more` come last. Owned: *out.
rh_status rh_model__clean(rh_log **out, const rh_model__usable *u, rh_error *err);

// starts.c: where the episodes of `starts` begin, to be added to the states of `log`, whose
// sensors it must have. Owned: *more (*nmore x nobs).
rh_status rh_model__gather_starts(double **more, int64_t *nmore, const rh_log *log,
                                  const rh_log *starts, rh_error *err);

// Set the model's starts: its last nmore states, or where its episodes begin if that is 0.
rh_status rh_model__find_starts(rh_model *model, int64_t nmore, rh_error *err);

// Whether any episode of a log begins in a start state.
bool rh_model__any_start(const rh_log *log);

// task.c: what agents are told. Names are borrowed from u->log.
rh_status rh_model__make_task(rh_task *task, const rh_model__usable *u,
                              const rh_model_options *opt, rh_error *err);

// Widen the sensor ranges that come from the log.
void rh_model__add_margins(rh_task *task, const rh_facts *facts, const rh_model_options *opt);

// tiled.c: which sensors tile coders use. The task has its ranges.
rh_status rh_model__choose_tiled(rh_tiled *tiled, const rh_log *log, const rh_task *task,
                                 const rh_facts *facts, rh_error *err);

// outcome.c: the lowest and the highest return of the whole transitions of a log.
rh_status rh_model__find_outcomes(double *lowest, double *highest, const rh_log *log,
                                  const rh_task *task, rh_error *err);

// part.c: whether members drawn from n transitions in nepisode episodes can differ.
bool rh_model__parts_differ(int64_t n, int64_t nepisode, rh_resample resample, double share);

// Draw the transitions of a member. Uses resample, share and nmember of opt. Owned: *use
// (*nuse).
rh_status rh_model__draw_part(int32_t **use, int64_t *nuse, const rh_log *log,
                              const rh_model_options *opt, int member, rh_rng *rng,
                              rh_error *err);

#endif
