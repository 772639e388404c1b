// twins.h - what agents with an actor and two critics share: networks, values, the critics'
// update, and the way from the critics back to the actor.

#ifndef AGENT_TWINS_H
#define AGENT_TWINS_H

#include "neural.h"

// Scaled rewards make values of about this. With 1, where the errors of a critic hide what an
// action changes, Pendulum-v1 was worse: sac -962 instead of -673 in 5,000 steps, td3 -1,504
// instead of -1,383, 3 runs.
#define RH_TWINS__SIZE 10.0

// The networks of rh_neural. A critic takes an observation and an action in [-1, 1].
enum {
    RH_TWINS_ACTOR,
    RH_TWINS_Q,
    RH_TWINS_TARGET = RH_TWINS_Q + 2,
    RH_TWINS_ACTOR_TARGET = 5
};

typedef struct rh_twins {
    rh_neural base; // first
    int nout;       // outputs of the actor
    // of a batch, owned by base
    float *in, *by_in;   // observations and actions, and derivatives  (n x (nobs + nact))
    float *q[2], *by_q;  // values by both critics, and derivatives    (n)
    float *target;       // targets of the values                      (n)
    float *out, *by_out; // outputs of the actor, and derivatives     (n x nout)
    float *act, *by_act; // actions of the actor, and derivatives     (n x nact)
    float *noise;        // standard normal numbers                   (n x nact)
    float *row;          // one observation through the actor
} rh_twins;

// Begin, with an actor of nout outputs, and its target if wanted. Nullable: err. Release with
// rh_neural__clear(), also after a failure.
rh_status rh_twins__init(rh_twins *t, const rh_neural__kind *kind, const rh_task *task,
                         const double *hp, int nout, bool actor_target, rh_error *err);

// Draw all networks; targets are equal to what they follow.
void rh_twins__draw(rh_neural *s, rh_rng *rng);

// Values of obs (n x nobs) with act (n x nact), by the two networks from `first` on, to t->q.
void rh_twins__values(rh_twins *t, int first, const float *obs, const float *act);

// One step of both critics towards t->target for the batch.
void rh_twins__learn(rh_twins *t);

// t->by_act += the derivatives by the actions of the last rh_twins__values(), where t->by_q are
// those by the values of critic i.
void rh_twins__by_actions(rh_twins *t, int i);

// The targets of the critics follow them.
void rh_twins__follow(rh_twins *t);

// n standard normal numbers. Takes whole pairs of draws.
void rh_twins__normals(rh_rng *rng, int n, float *z);

// While an agent that began with nothing warms up, its actions are uniform: choose act (nact)
// and return true.
bool rh_twins__warming(const rh_neural *s, rh_rng *rng, float *act);

#endif
