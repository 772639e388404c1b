// fidelity_internal.h - shared by the measurements of fidelity.

#ifndef MODEL_FIDELITY_INTERNAL_H
#define MODEL_FIDELITY_INTERNAL_H

#include "fidelity.h"
#include "model_internal.h"
#include "repr/repr.h"

#include <string.h>

#define RH_FIDELITY__SIMULATED 500 // most episodes or stretches compared

// The replicate of all random streams here, used by no member and no run, and their purposes.
// The last two have one stream per fold.
#define RH_FIDELITY__REPLICATE 0x66696465u
enum {
    RH_FIDELITY__STEPS,
    RH_FIDELITY__QUERIES,
    RH_FIDELITY__HELD = 16,
    RH_FIDELITY__FIT = 32
};

// A measurement in progress.
typedef struct rh_fidelity__work {
    const rh_model *model;
    const rh_log *log; // the model's
    rh_fidelity *f;    // results
    uint64_t seed;
    int nthread;
    rh_watch watch;

    int ncode;
    const float *code;      // of every state                               (nstate x ncode)
    float *own;             // owned: these, if the model has codes of state and action
    float *scratch;         // owned: of rh_repr__encode_one()
    double act[RH_MAX_ACT]; // the mean action

    // used by the findings only
    int64_t nended;          // held-out steps that end an episode
    double said_ends;        // mean predicted probability of an end at these
    double said_others;      //   and at the others
    double reward_told;      // squared correlation of predicted and real rewards
    double reward_many;      // effective number of steps that make up the variance of rewards
    double simulated_better; // share of pairs in which a simulated episode returns more
    double simulated_longer; //   or is longer; NAN if there are none
    double simulated_error;  // standard error of both if episodes are alike
    double random_better;    // the same for returns of random actions
    double random_error;
    int64_t nrandom; // episodes or stretches of random actions
} rh_fidelity__work;

// Up to RH_FIDELITY__SIMULATED numbers.
typedef struct rh_fidelity__series {
    double *x; // owned
    int n;
} rh_fidelity__series;

// Returns and lengths of the log.
typedef struct rh_fidelity__logged {
    int32_t *episode; // owned: those used                                (nepisode)
    int32_t *start;   // owned: rows where they begin                    (nepisode)
    int nepisode;     //
    int64_t longest;  // of the log's episodes
    bool limited;     // one of that length was truncated
    int64_t cutoff;   // steps of an episode, at most, or of a stretch
    rh_fidelity__series returns, lengths;
} rh_fidelity__logged;

// Choose the episodes to use; then take their returns and lengths, or the rewards of nstretch
// stretches of a continuing log, of `most` steps each at most. Clear after failure too.
rh_status rh_fidelity__choose(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                              rh_error *err);
void rh_fidelity__take_episodes(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                                int64_t most);
void rh_fidelity__take_stretches(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                                 int64_t nstretch, int64_t most);
void rh_fidelity__clear(rh_fidelity__logged *logged);

// The measurements in order: predictions of held-out steps, coverage, simulation, findings.
rh_status rh_fidelity__predict(rh_fidelity__work *w, rh_error *err);
rh_status rh_fidelity__reach(rh_fidelity__work *w, rh_error *err);
rh_status rh_fidelity__simulate(rh_fidelity__work *w, rh_error *err);
bool rh_fidelity__find(const rh_fidelity__work *w);

// Report progress; RH_ESTOPPED if the caller wants to stop.
rh_status rh_fidelity__pause(const rh_fidelity__work *w, double share, rh_error *err);

static inline void rh_fidelity__push(rh_fidelity__series *s, double x)
{
    s->x[s->n++] = x;
}

// The code (ncode) of an observation, consistent with w->code.
void rh_fidelity__encode(const rh_fidelity__work *w, const double *obs, float *code);

double rh_fidelity__distance(const rh_fidelity__work *w, const float *a, const float *b);

// A distance in median steps; NAN if the median step has length 0.
double rh_fidelity__in_steps(const rh_fidelity__work *w, double distance);

const float *rh_fidelity__code(const rh_fidelity__work *w, int32_t row);

// The place of the i-th of k evenly spaced items among n.
int64_t rh_fidelity__spread(int64_t i, int64_t k, int64_t n);

// The same at a random place in its interval, so that episodes of equal length are not always
// sampled at the same step.
int64_t rh_fidelity__pick(rh_rng *rng, int64_t i, int64_t k, int64_t n);

// The random stream of a purpose.
rh_rng rh_fidelity__chance(const rh_fidelity__work *w, int what);

#endif
