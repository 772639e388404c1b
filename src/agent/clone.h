// clone.h - a network that imitates the logged controller.

#ifndef AGENT_CLONE_H
#define AGENT_CLONE_H

#include "agent.h"
#include "neural.h"

#define RH_CLONE__COOL 0.5 // decision 3 of clone.c

// Fit network i of an agent to the logged steps, s->logged, of task->prior: its first outputs
// become the log-probabilities of actions, up to a constant, or what tanh turns into numbers in
// [-1, 1]. The same task and network size give the same bits. It keeps the weights that were
// best on held-out episodes. Nullable: err.
rh_status rh_clone__fit(rh_neural *s, int i, const rh_task *task, rh_clone__quality *quality,
                        rh_error *err);

// The index of the largest of x (n).
int rh_clone__greatest(const float *x, int n);

// A draw with probabilities proportional to exp(x / cool)  (n).
int rh_clone__draw(const float *x, int n, double cool, rh_rng *rng);

#endif
