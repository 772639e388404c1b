// replay.h - held-out stretches of a log, replayed in a model with the logged actions.

#ifndef MODEL_REPLAY_H
#define MODEL_REPLAY_H

#include "model_internal.h"

#define RH_STRETCHES__NREPLAY 8 // random replays of a stretch

// ---------------------------------------------------------------------------- replay_score.c

// The fair continuous ranked probability score of an ensemble x (n) for what happened, y; of
// the numbers 0 and 1 it is the fair Brier score. Lower is better. apart: the mean distance of
// two different members; NAN: computed here.
double rh_stretches__apart(const double *x, int n);
double rh_stretches__crps(const double *x, int n, double apart, double y);

// A point of a state after so many steps: scaled sensors, or the end.
typedef struct rh_stretches__point {
    const float *x; // scaled sensors, all 0 if ended        (d)
    bool ended;
} rh_stretches__point;

// The same of points: their distance, the mean distance of two members, the energy score.
double rh_stretches__distance(rh_stretches__point a, rh_stretches__point b, int d);
double rh_stretches__spread(const rh_stretches__point *x, int n, int d);
double rh_stretches__energy(const rh_stretches__point *x, int n, double spread,
                            rh_stretches__point y, int d);

// ---------------------------------------------------------------------------- stretches.c

typedef struct rh_stretches rh_stretches;

// Choose the stretches of a model's log. *why (size) says why *out stays NULL if the log is too
// short, with RH_OK. The log must not change while *out exists.
// Owned: *out, free with rh_stretches__destroy(). Borrowed: log. Nullable: facts, err.
rh_status rh_stretches__create(rh_stretches **out, const rh_log *log, const rh_facts *facts,
                               bool continuing, uint64_t seed, char *why, size_t size,
                               rh_error *err);
void rh_stretches__destroy(rh_stretches *replay); // NULL is allowed

int rh_stretches__nhorizon(const rh_stretches *replay);
const int *rh_stretches__horizons(const rh_stretches *replay);
int rh_stretches__nstretch(const rh_stretches *replay);
int rh_stretches__nunit(const rh_stretches *replay); // episodes or blocks they are taken from
int rh_stretches__nfold(const rh_stretches *replay); // members fitted

// The mean score of the states of the persistence forecast over the horizons at which states
// are compared; NAN: none.
double rh_stretches__persistence(const rh_stretches *replay);

// The root mean square error of a step of a member fitted without fold 0, in the steps of that
// fold, relative to that of the persistence forecast; NAN: not compared. Of the sensors that
// actions may move, each in its standard deviations. Nullable: err.
rh_status rh_stretches__step(double *error, const rh_stretches *replay, const rh_model *model,
                             const void *member, rh_error *err);

// ---------------------------------------------------------------------------- replay.c

// The scores of a model, relative to those of a random stretch of the log.
typedef struct rh_stretches__scores {
    double score;                  // mean of the parts, along the path
    double total;                  // mean of the scores along the path and beside it
    rh_fidelity_beside beside;     //
    double part[RH_MODEL_NASPECT]; // mean over horizons; NAN: not compared
    double at[RH_MODEL_NASPECT][RH_MODEL_NHORIZON]; // NAN: not compared
    double *share; // owned: of every stretch in the score of its kind, which is their mean
} rh_stretches__scores;

// Fit a member of `model`, which has none, without each fold, and replay the fold's stretches
// in it. *first: the first of these members, if asked for; owned, free with the kind's
// destroy(). Clear the scores after failure too. Nullable: first, watch, err.
rh_status rh_stretches__run(rh_stretches__scores *scores, const rh_stretches *replay,
                            const rh_model *model, uint64_t seed, int nthread,
                            const rh_watch *watch, void **first, rh_error *err);
void rh_stretches__clear(rh_stretches__scores *scores);

// Columns of a path beside the sensors: the sum of rewards, and whether the episode is over.
#define RH_STRETCHES__NMORE 2

// Fit a member of `model` without fold 0 and replay stretches (n) of this fold in it. path: the
// observation after every step, and the columns above; NAN from a replay's end on
// (n x NREPLAY x longest horizon x (nobs + NMORE)). Nullable: err.
rh_status rh_stretches__trace(double *path, const rh_stretches *replay, const rh_model *model,
                              const int *stretch, int n, uint64_t seed, int nthread,
                              rh_error *err);

// The mean of a minus b and its standard error, paired over stretches; b NULL: of a alone. Of
// the scores along the path, or of the totals.
void rh_stretches__compare(const rh_stretches *replay, const rh_stretches__scores *a,
                           const rh_stretches__scores *b, bool total, double *mean,
                           double *error);

#endif
