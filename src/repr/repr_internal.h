// repr_internal.h - shared by the files of the module repr.

#ifndef REPR_INTERNAL_H
#define REPR_INTERNAL_H

#include "base/text.h"
#include "numeric/mlp.h"
#include "rehearse/repr.h"
#include "repr.h"

#define RH_MAX_INPUT (2 * RH_MAX_OBS + RH_MAX_ACT) // a sensor on a circle has two

// Scaled inputs, and optionally a network on top.
struct rh_repr {
    const rh_repr_type *type;
    double *param; // owned  (nparam)
    int nobs, nact, ncode;
    double *centre; // owned: subtracted from an input              (nobs + nact)
    double *factor; // owned: then multiplied; 0: the input is constant (nobs + nact)
    double *period; // owned: of a sensor on a circle, where values begin at base; 0: it is
    double *base;   // on none. owned                               (nobs)
    int ncircle;    // sensors on a circle
    rh_mlp *mlp;    // owned; NULL: the code is the scaled inputs
    rh_repr__training training;
};

// The input of a fit.
struct rh_repr_work {
    const rh_log *log;
    const double *param;
    const uint8_t *use;          // episodes, or NULL
    const double *period, *base; // of the options
    uint64_t seed;
    const rh_watch *watch;
};

// The random streams of RH_STREAM_FIT, replicate 0.
typedef enum rh_repr__stream {
    RH_CHANCE_WEIGHTS,   // initial weights
    RH_CHANCE_BATCHES,   // of training
    RH_CHANCE_HELD_OUT,  // episodes that monitor training
    RH_CHANCE_WATCHED,   // and pairs of them
    RH_CHANCE_AWARENESS, // random pairs
    RH_CHANCE_FOLDS      // of a choice
} rh_repr__stream;

rh_rng rh_repr__chance(uint64_t seed, rh_repr__stream what);

// ---------------------------------------------------------------------------- kinds

extern const rh_repr_type rh_repr_laplacian;
extern const rh_repr_type rh_repr_random;
extern const rh_repr_type rh_repr_raw;

// Scaled inputs: sensors, numbers of an action, second inputs of sensors on a circle.
static inline int rh_repr__ninput(const rh_repr *repr)
{
    return repr->nobs + repr->nact + repr->ncircle;
}

// Put the first sensors that wrap round on circles, at most `most` of them.
void rh_repr__bend(rh_repr *repr, const double *period, const double *base, int most);

rh_status rh_repr__check(const rh_log *log, const rh_repr_options *opt, rh_error *err);

// Create a representation with type and param set, the rest zeros. Owned: *out.
rh_status rh_repr__make(rh_repr **out, const rh_repr_type *type, int nobs, int nact,
                        rh_error *err);

// Create the network of a kind: two hidden layers, initial weights by seed and sizes.
rh_status rh_repr__network(rh_repr *repr, int ncode, int hidden, unsigned flags, uint64_t seed,
                           rh_error *err);

// ---------------------------------------------------------------------------- scaling

typedef enum rh_repr__scaling {
    RH_SCALE_RANGE,     // least to most becomes -1 to 1
    RH_SCALE_DEVIATION, // mean 0, standard deviation 1
    RH_SCALE_NONE,
    RH_NSCALING
} rh_repr__scaling;

// The first parameter of every kind.
extern const char *const rh_repr__scaling_name[RH_NSCALING];
#define RH_SCALE_PARAM                                                                         \
    {                                                                                          \
        "scale", "what sensors are scaled by before all else",                                 \
            .hi = RH_NSCALING - 1, .initial = RH_SCALE_RANGE, .fixed = true,                   \
            .choice = rh_repr__scaling_name                                                    \
    }

// The parameters of a kind with a network, at places d and hidden of its table.
#define RH_NET_PARAMS(d, hidden)                                                               \
    [d] = {"d",          "numbers of a code", .lo = 1,      .hi = RH_MAX_CODE,                 \
           .initial = 8, .whole = true,       .fixed = true},                                  \
    [hidden] = {"hidden",       "units of each of the two hidden layers",                      \
                .lo = 1,        .hi = 1024,                                                    \
                .initial = 128, .whole = true,                                                 \
                .fixed = true}

// Set centre and factor from the episodes in use. Refused if no state is whole.
rh_status rh_repr__scale(rh_repr *repr, const rh_repr_work *work, rh_repr__scaling how,
                         rh_error *err);

// Scaled inputs x (rh_repr__ninput()); false if a number is missing. Codes of states ignore
// act.
bool rh_repr__input(const rh_repr *repr, const double *obs, const double *act, float *x);

// ---------------------------------------------------------------------------- points

// Inputs of codes in the order of the log: states, or states with actions. Consecutive ones
// form a chain.
typedef struct rh_points {
    uint32_t n;
    float *x;         // owned: scaled inputs                           (n x ninput)
    uint32_t *ahead;  // owned: how many follow in the chain            (n)
    uint32_t nanchor; //
    uint32_t *anchor; // owned: those that are followed                 (nanchor)
    int64_t nstep;    // steps
    int64_t nfollow;  // of these, the ones that lead to the next step
} rh_points;

// The points of the episodes in use (NULL: all) that are whole. out arrives zeroed.
rh_status rh_points__gather(rh_points *out, const rh_repr *repr, const rh_log *log,
                            const uint8_t *use, rh_error *err);
void rh_points__clear(rh_points *points);

// Whether enough steps lead to the next to learn from their order.
bool rh_points__ordered(const rh_points *points);

// The codes of points (n x ncode): *code, owned by the caller where *owned is not NULL.
rh_status rh_points__codes(const rh_repr *repr, const rh_points *points, const float **code,
                           float **owned, rh_error *err);

// Dynamics awareness over points; NAN where there is no pair.
rh_status rh_points__awareness(rh_repr__aware *out, const rh_repr *repr,
                               const rh_points *points, uint64_t seed, rh_error *err);

// The blur of `held` points among `known` ones (blur.c); 1 at best.
rh_status rh_points__blur(double *out, const rh_repr *repr, const rh_points *known,
                          const rh_points *held, rh_error *err);

// ---------------------------------------------------------------------------- folds

// A log dealt into folds of about equal length: whole episodes, very long ones cut into pieces.
typedef struct rh_folds {
    rh_log log;     // the same, with pieces as episodes; without episode, step and start
    int64_t *first; // owned: log.first
    int *fold;      // owned: of each piece, -1 if not in use           (log.nepisode)
    int nfold;      // fewer than requested if there are fewer pieces
} rh_folds;

rh_status rh_folds__deal(rh_folds *out, const rh_log *log, const uint8_t *use, int nfold,
                         rh_rng rng, rh_error *err);
void rh_folds__clear(rh_folds *folds);

// One fold, or all others, as episodes to use (log.nepisode).
void rh_folds__use(const rh_folds *folds, int fold, bool inside, uint8_t *use);

// ---------------------------------------------------------------------------- choosing

typedef struct rh_repr__choose_effort {
    int first, last; // steps for screening and for comparing
    int hidden;      // units of a hidden layer
} rh_repr__choose_effort;

// rh_repr__choose_kind() with another effort.
rh_status rh_repr__choose(rh_repr **out, rh_repr_trial *trial, int *ntrial, const rh_log *log,
                          const rh_repr_options *opt, rh_repr__choose_effort effort,
                          int nthread, rh_error *err);

#endif
