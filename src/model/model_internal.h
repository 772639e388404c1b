// model_internal.h - what a fitted model is made of, and what a kind of model does.

#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include "rehearse/model.h"
#include "store.h"

struct rh_model {
    const rh_model_type *type;
    double *param;        // owned                                      (nparam)
    rh_log *log;          // owned: transitions without missing numbers; states that only starts
                          // name come last
    rh_repr *repr;        // owned
    rh_task task;         // names are the log's
    float *code;          // owned: of every state; NULL where codes are of state and action
                          //                                            (nstate x ncode)
    int32_t *start;       // owned: rows where episodes begin           (nstart)
    int64_t nstart;       //
    double lowest;        // return of the worst episode, see outcome.c
    double highest;       // and of the best
    int64_t ndropped;     // transitions left out: numbers were missing
    uint64_t fingerprint; // of the log it was fitted to
    rh_resample resample;
    int nmember;
    void **member;         // owned: what the kind made                        (nmember)
    rh_fidelity *fidelity; // owned; NULL when not asked for
};

// What a member is fitted to: transitions of the model's log, perhaps several times.
typedef struct rh_model__part {
    const int32_t *use; // (nuse), in ascending order
    int64_t nuse;
    const int32_t *ask; // rows that expect() will be asked for, and nothing else will be asked
                        // of the member; NULL: no such promise     (nask)
    int64_t nask;
    rh_rng rng;  // the member's own chance
    int nthread; // changes no result
    rh_watch watch;
} rh_model__part;

// What a member expects of one action in one state.
typedef struct rh_model__expected {
    double *next;    // mean of the next observation, terminal ones left out     (nobs)
    double reward;   // mean
    double terminal; // probability
    double distance; // to the nearest that it knows, in codes; NAN where it knows none
    bool beyond;     // out of reach
} rh_model__expected;

struct rh_model_calls {
    bool chance; // members fitted to the same still differ

    // Fit a member. The model has everything but members. Owned: *out, free with destroy.
    rh_status (*fit)(void **out, const rh_model *model, const rh_model__part *part,
                     rh_error *err);
    void (*destroy)(void *member); // NULL is allowed

    // An environment of a member with parameters param, checked against the table. Both are
    // borrowed and outlive *out.
    rh_status (*env)(rh_env **out, const rh_model *model, const void *member,
                     const double *param, rh_error *err);

    // What the member expects in observation obs (nobs) of act, as fitted. Not for hot loops.
    rh_status (*expect)(rh_model__expected *out, const rh_model *model, const void *member,
                        const double *obs, const double *act, rh_error *err);

    // Into a group of a file of its own, and back: nothing read is believed unchecked.
    rh_status (*write)(const rh_model *model, const void *member, rh_store *store,
                       rh_error *err);
    rh_status (*read)(void **out, const rh_model *model, rh_store *store, rh_error *err);
};

extern const rh_model_type rh_model_knn;
extern const rh_model_type rh_model_nn;

// ---------------------------------------------------------------------------- parts of a fit

// clean.c: a copy of the log without transitions of which numbers are missing or infinite, and
// behind its states those of more (nmore x nobs). *ndropped: how many were left out.
// Owned: *out. Nullable: more.
rh_status rh_model__clean(rh_log **out, int64_t *ndropped, const rh_log *log,
                          const double *more, int64_t nmore, rh_error *err);

// starts.c: where the episodes of `starts` begin, to be added to the states of `log`, whose
// sensors it must have. Owned: *more (*nmore x nobs).
rh_status rh_model__gather_starts(double **more, int64_t *nmore, const rh_log *log,
                                  const rh_log *starts, rh_error *err);

// The model's starts: its last nmore states, or where its episodes begin when that is 0.
rh_status rh_model__find_starts(rh_model *model, int64_t nmore, rh_error *err);

// task.c: what agents are told. nlogged: transitions of the log as it was given.
rh_status rh_model__make_task(rh_model *model, const rh_model_options *opt, int64_t nlogged,
                              rh_error *err);

// outcome.c: the model's lowest and highest.
rh_status rh_model__find_outcomes(rh_model *model, rh_error *err);

// part.c: whether members that are drawn so can differ.
bool rh_model__parts_differ(const rh_log *log, rh_resample resample, double share);

// The transitions of a member, drawn by rng. Owned: *use (*nuse).
rh_status rh_model__draw_part(int32_t **use, int64_t *nuse, const rh_log *log,
                              rh_resample resample, double share, rh_rng *rng, rh_error *err);

#endif
