// stretches.h - what the files that choose, forecast and replay stretches share.

#ifndef MODEL_STRETCHES_H
#define MODEL_STRETCHES_H

#include "neighbours.h"
#include "replay.h"
#include "unusual.h"

#define RH_STRETCHES__HUGE 1e6              // for numbers of a model that are not finite
#define RH_STRETCHES__REPLICATE 0x7265706cu // of all random streams

// Purposes of RH_STREAM_FIT.
enum { RH_STRETCHES__PICK, RH_STRETCHES__RANDOM, RH_STRETCHES__FIT = 16 };

typedef struct rh_stretches__stretch {
    int64_t first; // transition
    int length;    // steps that are known
    bool ends;     // the last of these ends the episode
    int unit;      // episode or block
    int fold;
} rh_stretches__stretch;

// What was true of a stretch or a replay at every horizon.
typedef struct rh_stretches__outcome {
    double reward[RH_MODEL_NHORIZON]; // sum
    bool ended[RH_MODEL_NHORIZON];
    bool known[RH_MODEL_NHORIZON];
} rh_stretches__outcome;

// One of the numbers of a state that are compared: a sensor, or one of two of its circle.
typedef struct rh_stretches__coordinate {
    int sensor;
    enum { LINE, COSINE, SINE } on;
    double period, base; // of a circle
    double centre, scale;
} rh_stretches__coordinate;

#define RH_STRETCHES__NCOORD (2 * RH_MAX_OBS)

// Stretches along the logged path, and beside it: from natural experiments, and from the outer
// tenth of sensors or actions.
enum {
    RH_STRETCHES__PATH,
    RH_STRETCHES__EXPERIMENT,
    RH_STRETCHES__SENSOR,
    RH_STRETCHES__ACTION,
    RH_STRETCHES__NKIND
};

struct rh_stretches {
    const rh_log *log; // borrowed
    bool continuing;
    int nhorizon, horizon[RH_MODEL_NHORIZON];
    int nunit, nfold, nrun; // units; folds, and those of them that are held out in turn
    bool blocks;            // units are blocks of steps
    int64_t gap;            // beside a block
    int32_t *unit;          // owned: of every transition                      (n)
    int nstretch, nall;     // along the path; with those beside it
    int first[RH_STRETCHES__NKIND + 1]; // where each kind begins
    rh_stretches__stretch *stretch;     // owned, by kind                          (nall)
    rh_unusual unusual;                 // owned
    bool *outer; // owned: outside the inner part of sensors, of actions       (2 x n)
    int d;       // numbers that are compared: of sensors that vary
    rh_stretches__coordinate coord[RH_STRETCHES__NCOORD]; //                   (d)
    rh_neighbours *from;         // owned: scaled states of all transitions    (n x ncompared)
    int ncompared;               // sensors of these
    double left;                 // distance from the logged path at which it is left
    rh_stretches__outcome *real; // owned                                      (nall)
    float *place;                // owned: their scaled states       (nall x nhorizon x d)

    // owned: scores of the ignorant forecast, NAN: unknown (nall x NASPECT x nhorizon), and
    // weights of a score in a stretch's share of the score of its kind, 0: not counted
    // (NKIND x NASPECT x nhorizon)
    double *ignorant, *weight;
};

// ---------------------------------------------------------------------------- stretches.c

// The row that step t leads to, or RH_UNKNOWN. A terminal step of a continuing task leads to
// the start of the next episode.
int32_t rh_stretches__row_after(const rh_stretches *r, int64_t t);

// The known steps from `first`, up to the longest horizon and before `end`.
rh_stretches__stretch rh_stretches__follow(const rh_stretches *r, int64_t first, int64_t end);

// The scaled sensors of obs (nobs) to x (d).
void rh_stretches__scale(const rh_stretches *r, const double *obs, float *x);

// What was logged: o, and the scaled states (nhorizon x d).
void rh_stretches__look_up(const rh_stretches *r, const rh_stretches__stretch *s,
                           rh_stretches__outcome *o, float *place);

// Where the state of stretch or replay i at horizon h is, and its score.
static inline const float *rh_stretches__place(const rh_stretches *r, const float *place, int i,
                                               int h)
{
    return place + ((size_t)i * (size_t)r->nhorizon + (size_t)h) * (size_t)r->d;
}

static inline double *rh_stretches__score_at(const rh_stretches *r, double *score, int i,
                                             int part, int h)
{
    return score + ((size_t)i * RH_MODEL_NASPECT + (size_t)part) * (size_t)r->nhorizon + h;
}

// The end of what may be looked at from step t: that of its block, or of the log.
int64_t rh_stretches__end_of(const rh_stretches *r, int64_t t);

// The weights of a kind (NASPECT x nhorizon).
static inline double *rh_stretches__weight(const rh_stretches *r, int kind)
{
    return r->weight + (size_t)kind * RH_MODEL_NASPECT * (size_t)r->nhorizon;
}

static inline int rh_stretches__count(const rh_stretches *r, int kind)
{
    return r->first[kind + 1] - r->first[kind];
}

// ---------------------------------------------------------------------------- beside.c

// Add the stretches beside the path, behind those along it.
rh_status rh_stretches__add_beside(rh_stretches *r, rh_error *err);

// Whether fold `fold` holds out transition t because it is outer; the fold of a kind, -1: none.
bool rh_stretches__is_outer(const rh_stretches *r, int fold, int64_t t);
int rh_stretches__fold_of(const rh_stretches *r, int kind);

// The effects of unusual actions: predicted ones with what the log shows of them, and their
// squares, sums over sensors and horizons.
typedef struct rh_stretches__effect {
    double shown, square;
} rh_stretches__effect;

// Sum up the scores (nall x NASPECT x nhorizon) beside the path; effects of the experiments.
void rh_stretches__sum_beside(rh_stretches__scores *s, const rh_stretches *r, double *score,
                              const rh_stretches__effect *effect);

// ---------------------------------------------------------------------------- ignorant.c

// Score the ignorant forecast, and weigh parts and horizons by it. False if memory ran out.
bool rh_stretches__measure_ignorant(rh_stretches *r, uint64_t seed);

#endif
