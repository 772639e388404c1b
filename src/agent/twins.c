// twins.c - what agents with an actor and two critics share.
//
// Fujimoto, van Hoof and Meger (2018): the smaller of two values is less optimistic than
// either. Both critics learn from one batch and one target,
//
//     loss = mean of (Q_i(s, a) - target)^2 / 2
//
// and the actor learns by going back through a critic to its inputs (rh_mlp__by_inputs).
//
// 1. Three steps of reward before a target bootstraps: in 5,000 steps of the pendulum, 6 runs,
//    sac scored -6,359 instead of -16,657 with one, and td3 with noise 0.3 -18,506 (-20,789
//    with five). With noise 0.1 and one step td3 was no better than random actions, -33,801.

#include "twins.h"

#include "clone.h"

#include <math.h>
#include <string.h>

rh_status rh_twins__init(rh_twins *t, const rh_neural__kind *kind, const rh_task *task,
                         const double *hp, int nout, bool actor_target, rh_error *err)
{
    rh_neural *s = &t->base;
    unsigned flags = hp[RH_NEURAL_NORM] != 0.0 ? RH_MLP_NORM : RH_MLP_PLAIN;
    rh_status rc = rh_neural__init(s, kind, task, hp, err);
    int nin = s->nobs + task->nact;
    if (!rc)
        rc = rh_neural__net(s, RH_TWINS_ACTOR, s->nobs, nout, RH_MLP_PLAIN, hp, err);
    if (!rc && actor_target)
        rc = rh_neural__net(s, RH_TWINS_ACTOR_TARGET, s->nobs, nout, RH_MLP_PLAIN, hp, err);
    for (int i = 0; !rc && i < 4; i++)
        rc = rh_neural__net(s, RH_TWINS_Q + i, nin, 1, flags, hp, err);
    if (rc)
        return rc;

    size_t n = (size_t)s->batch.n, nact = (size_t)task->nact;
    t->nout = nout;
    t->in = rh_neural__floats(s, n * (size_t)nin);
    t->by_in = rh_neural__floats(s, n * (size_t)nin);
    for (int i = 0; i < 2; i++)
        t->q[i] = rh_neural__floats(s, n);
    t->by_q = rh_neural__floats(s, n);
    t->target = rh_neural__floats(s, n);
    t->out = rh_neural__floats(s, n * (size_t)nout);
    t->by_out = rh_neural__floats(s, n * (size_t)nout);
    t->act = rh_neural__floats(s, n * nact);
    t->by_act = rh_neural__floats(s, n * nact);
    t->noise = rh_neural__floats(s, n * nact);
    t->row = rh_neural__floats(s, rh_mlp__nscratch(s->net[RH_TWINS_ACTOR]));
    rh_clone__quality unused;
    if (s->scratch.failed)
        return rh_neural__no_memory(s, err);
    return s->cloned ? rh_clone__fit(s, RH_TWINS_ACTOR, task, &unused, err) : RH_OK;
}

void rh_twins__draw(rh_neural *s, rh_rng *rng)
{
    for (int i = s->cloned ? RH_TWINS_Q : RH_TWINS_ACTOR; i < RH_TWINS_TARGET; i++)
        rh_mlp__draw(s->net[i], rng);
    for (int i = 0; i < 2; i++)
        rh_mlp__copy(s->net[RH_TWINS_TARGET + i], s->net[RH_TWINS_Q + i]);
    if (s->net[RH_TWINS_ACTOR_TARGET])
        rh_mlp__copy(s->net[RH_TWINS_ACTOR_TARGET], s->net[RH_TWINS_ACTOR]);
}

void rh_twins__values(rh_twins *t, int first, const float *obs, const float *act)
{
    rh_neural *s = &t->base;
    size_t nobs = (size_t)s->nobs, nact = (size_t)s->nact;
    for (size_t i = 0; i < (size_t)s->batch.n; i++) {
        float *row = t->in + i * (nobs + nact);
        memcpy(row, obs + i * nobs, nobs * sizeof *row);
        memcpy(row + nobs, act + i * nact, nact * sizeof *row);
    }
    for (int i = 0; i < 2; i++)
        rh_mlp__forward(s->net[first + i], s->pass[first + i], s->batch.n, t->in, t->q[i]);
}

void rh_twins__learn(rh_twins *t)
{
    rh_neural *s = &t->base;
    rh_twins__values(t, RH_TWINS_Q, s->batch.obs, s->batch.act);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < s->batch.n; k++)
            t->by_q[k] = (t->q[i][k] - t->target[k]) / (float)s->batch.n;
        rh_mlp__backward(s->net[RH_TWINS_Q + i], s->pass[RH_TWINS_Q + i], t->by_q);
        rh_mlp__step(s->net[RH_TWINS_Q + i], &s->adam);
    }
}

void rh_twins__by_actions(rh_twins *t, int i)
{
    rh_neural *s = &t->base;
    int nobs = s->nobs, nact = s->nact, nin = nobs + nact;
    rh_mlp__by_inputs(s->net[RH_TWINS_Q + i], s->pass[RH_TWINS_Q + i], t->by_q, t->by_in);
    for (int k = 0; k < s->batch.n; k++)
        for (int j = 0; j < nact; j++)
            t->by_act[k * nact + j] += t->by_in[k * nin + nobs + j];
}

void rh_twins__follow(rh_twins *t)
{
    rh_neural *s = &t->base;
    for (int i = 0; i < 2; i++)
        rh_mlp__blend(s->net[RH_TWINS_TARGET + i], s->net[RH_TWINS_Q + i], s->target_rate);
}

void rh_twins__normals(rh_rng *rng, int n, float *z)
{
    for (int i = 0; i < n; i += 2) {
        double pair[2];
        rh_rng_normal(rng, pair);
        z[i] = (float)pair[0];
        if (i + 1 < n)
            z[i + 1] = (float)pair[1];
    }
}

bool rh_twins__warming(const rh_neural *s, rh_rng *rng, float *act)
{
    if (s->nstep >= s->warmup || s->logged.count)
        return false;
    for (int j = 0; j < s->nact; j++)
        act[j] = (float)rh_rng_range(rng, -1.0, 1.0);
    return true;
}
