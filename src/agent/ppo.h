// ppo.h - the loss of proximal policy optimisation, step by step, and its derivatives.

#ifndef AGENT_PPO_H
#define AGENT_PPO_H

#include "agent_internal.h"

typedef struct rh_ppo__loss {
    double clip;    // of the ratio of probabilities
    double entropy; // weight of the entropy
} rh_ppo__loss;

// A step of a rollout, as the policy that made it saw it.
typedef struct rh_ppo__step {
    double log_p;     // of the action
    double advantage; // of the action
} rh_ppo__step;

// The loss of one step of discrete actions, with `logit` and `by`, its derivatives, of n
// actions.
double rh_ppo__discrete(const rh_ppo__loss *loss, const rh_ppo__step *step, int n,
                        const float *logit, int taken, double *log_pi, float *by);

// The same of continuous actions act (n), normal with `mean` and `log_sd`. Adds to by_log_sd.
double rh_ppo__continuous(const rh_ppo__loss *loss, const rh_ppo__step *step, int n,
                          const float *mean, const double *log_sd, const float *act, float *by,
                          double *by_log_sd);

// log_pi (n) of the logits; log p of act (n).
void rh_ppo__log_softmax(const float *logit, int n, double *log_pi);
double rh_ppo__log_normal(const float *mean, const double *log_sd, const float *act, int n);

// (v - ret)^2 / 2 for a value v that was `old`, and its derivative. A change by more than
// `most` does not make it smaller.
double rh_ppo__value(double v, double ret, double old, double most, double *by);

#endif
