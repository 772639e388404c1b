// fidelity_internal.h - what the parts of a comparison of a model with its log share.

#ifndef MODEL_FIDELITY_INTERNAL_H
#define MODEL_FIDELITY_INTERNAL_H

#include "fidelity.h"
#include "model_internal.h"

#include <string.h>

#define RH_FIDELITY__FINDINGS 16   // room for every kind once
#define RH_FIDELITY__SIMULATED 500 // most episodes or stretches that are looked at

// The replicate of all chance in this work, which no member and no run has, and what it is
// for. Of every fold there is one more of the last two.
#define RH_FIDELITY__REPLICATE 0x66696465u
enum {
    RH_FIDELITY__STEPS,
    RH_FIDELITY__QUERIES,
    RH_FIDELITY__HELD = 16,
    RH_FIDELITY__FIT = 32
};

// A comparison under way.
typedef struct rh_fidelity__work {
    const rh_model *model;
    const rh_log *log; // the model's
    rh_fidelity *f;    // what is being filled
    uint64_t seed;
    int nthread;
    rh_watch watch;

    int ncode;
    const float *code;      // of every state                               (nstate x ncode)
    float *own;             // owned: these, where the model has none of states alone
    float *scratch;         // owned: of rh_repr_encode_one()
    double act[RH_MAX_ACT]; // the mean action: that of codes of state and action

    // what only findings look at
    int64_t nended;          // held-out steps that end an episode
    double said_ends;        // mean chance of an end that was said of these
    double said_others;      //   and of the others
    double reward_told;      // squared correlation of predicted and real rewards
    double reward_many;      // of how many steps the rewards' variation is made
    double simulated_better; // share of pairs in which a run episode returns more than a logged
    double simulated_longer; // or is longer; NAN where there are none
    double simulated_error;  // standard error of both where run and logged are alike
    double random_better;    // the same for returns of random behaviour
    double random_error;
    int64_t nrandom; // episodes or stretches of that
} rh_fidelity__work;

// Numbers of one kind, in memory for RH_FIDELITY__SIMULATED.
typedef struct rh_fidelity__series {
    double *x; // owned
    int n;
} rh_fidelity__series;

// What the log did, to be compared with what is run in the model.
typedef struct rh_fidelity__logged {
    int32_t *episode; // owned: those that count                         (nepisode)
    int32_t *start;   // owned: rows where they begin                    (nepisode)
    int nepisode;     //
    int64_t longest;  // of the log's episodes
    bool limited;     // that one, or another as long, was cut off
    int64_t cutoff;   // steps of an episode, at most, or of a stretch
    rh_fidelity__series returns, lengths;
} rh_fidelity__logged;

// Which episodes count; then their returns and lengths, or the rewards of nstretch stretches of
// a continuing log. most: steps of an episode or a stretch. To be cleared after failure too.
rh_status rh_fidelity__choose(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                              rh_error *err);
void rh_fidelity__take_episodes(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                                int64_t most);
void rh_fidelity__take_stretches(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                                 int64_t nstretch, int64_t most);
void rh_fidelity__clear(rh_fidelity__logged *logged);

// Each fills its part, in this order: members that know a part of the log asked for the rest,
// what is out of reach, behaviour run in the model, and what to think of it.
rh_status rh_fidelity__predict(rh_fidelity__work *w, rh_error *err);
rh_status rh_fidelity__reach(rh_fidelity__work *w, rh_error *err);
rh_status rh_fidelity__simulate(rh_fidelity__work *w, rh_error *err);
void rh_fidelity__find(const rh_fidelity__work *w);

// Tell how far the work is, and RH_ESTOPPED when the caller wants no more of it.
rh_status rh_fidelity__pause(const rh_fidelity__work *w, double share, rh_error *err);

// RH_ENOMEM, and what for.
rh_status rh_fidelity__no_memory(const rh_fidelity__work *w, rh_error *err);

static inline void rh_fidelity__push(rh_fidelity__series *s, double x)
{
    s->x[s->n++] = x;
}

// The code (ncode) of an observation, as those of w->code are.
void rh_fidelity__encode(const rh_fidelity__work *w, const double *obs, float *code);

// Distance of two codes.
double rh_fidelity__distance(const rh_fidelity__work *w, const float *a, const float *b);

// A distance in real steps; NAN where the usual step goes nowhere.
double rh_fidelity__in_steps(const rh_fidelity__work *w, double distance);

// The code of a row.
const float *rh_fidelity__code(const rh_fidelity__work *w, int32_t row);

// The p-quantile of x (n), which is sorted by this; NAN when n is 0.
double rh_fidelity__quantile(double *x, int64_t n, double p);

// The place of the i-th of k evenly spaced things among n.
int64_t rh_fidelity__spread(int64_t i, int64_t k, int64_t n);

// The same, anywhere between its neighbours: episodes of one length must not be met at the same
// step every time.
int64_t rh_fidelity__pick(rh_rng *rng, int64_t i, int64_t k, int64_t n);

// The chance of a part of this work.
rh_rng rh_fidelity__chance(const rh_fidelity__work *w, int what);

#endif
