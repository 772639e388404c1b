// scaling.h - scales of observations and rewards, learned online.

#ifndef AGENT_SCALING_H
#define AGENT_SCALING_H

#include "base/scratch.h"
#include "memory.h"

typedef enum rh_scaling__kind {
    RH_SCALING_ONLINE, // by the running mean and standard deviation
    RH_SCALING_RANGE,  // observations by the task's sensor ranges; rewards not at all
    RH_SCALING_NONE,
    RH_SCALING_NKIND
} rh_scaling__kind;

extern const char *const rh_scaling__names[RH_SCALING_NKIND];

// An observation first gets the units of its range (rh_scaling__ranged), in which it is stored,
// then its scale.
typedef struct rh_scaling {
    rh_scratch scratch; // owns the arrays
    int nobs;
    int nlag,
        width; // observations of a stack (history.h), and its numbers; 1 and nobs at first
    rh_scaling__kind obs_kind, reward_kind;
    bool continuing; // rewards are centred
    double gamma;
    double size;           // of scaled values
    double *middle, *half; // of the sensors' ranges        (nobs)
    double *mean, *square; // running, in units of the range (nobs)
    float *centre, *scale; // of the same                    (nobs)
    double count;          // observations, and those that stand for the range at first
    double reward_count, reward_mean;
    double ret, ret_square; // discounted return so far, and its running square
} rh_scaling;

// gamma is below 1; scaled rewards make values of about `size`. Release with
// rh_scaling__clear(), also after a failure. Nullable: err.
rh_status rh_scaling__init(rh_scaling *s, const rh_task *task, double gamma, double size,
                           rh_scaling__kind obs, rh_scaling__kind reward, const char *owner,
                           rh_error *err);
void rh_scaling__clear(rh_scaling *s);

// obs (nobs) in units of the range, and n stacks of such observations (n x width) in units of
// their scales. The actions in a stack stay as they are.
void rh_scaling__ranged(const rh_scaling *s, const double *obs, float *x);
void rh_scaling__apply(const rh_scaling *s, int n, const float *x, float *scaled);

// Learn from an observation (nobs), in units of the range; a reward; and a new episode.
void rh_scaling__see(rh_scaling *s, const float *x);
void rh_scaling__reward(rh_scaling *s, double reward);
void rh_scaling__start(rh_scaling *s);

// A reward of one step in units of its scale.
double rh_scaling__scaled(const rh_scaling *s, double reward);

// Scale a batch of a replay memory in place.
void rh_scaling__batch(const rh_scaling *s, const rh_memory__batch *batch);

rh_status rh_scaling__save(const rh_scaling *s, rh_state *state, rh_error *err);
rh_status rh_scaling__load(rh_scaling *s, const rh_state *state, rh_error *err);

#endif
