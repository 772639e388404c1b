// td3.c - twin delayed deep deterministic policy gradient, for continuous actions.
//
// Fujimoto, van Hoof and Meger (2018). Actions are in [-1, 1], p(s) = tanh(actor(s)), and a
// dash marks the networks that follow. For a batch:
//
//     a'     = p'(s') + clip(SMOOTH z, -SMOOTH_MOST, SMOOTH_MOST), clipped to [-1, 1],  z ~ N
//     target = ret + discount min(Q1'(s', a'), Q2'(s', a'))
//     critics: twins.c;  every second update:
//     actor:   maximise the mean of Q1(s, p(s)), then all followers follow
//
// 1. With rows from the log the actor minimises -Q1 / mean |Q1| + care mean (p(s) - a)^2, the
//    second over these rows (Fujimoto and Gu 2021; their weight 2.5 is a care of 0.4).
// 2. The agent explores with normal noise on its action, of a searched size.

#include "twins.h"

#include <math.h>
#include <string.h>

#define SMOOTH 0.2f      // noise of the target's action: the authors' value
#define SMOOTH_MOST 0.5f // its largest size: the authors' value
#define AROUND 0.1       // of the noise is left around a clone; by hand
#define DELAY 2          // updates of the critics for one of the actor: the authors' value

enum { NOISE = RH_NEURAL_NPARAM, NPARAM };

static const rh_param td3_param[NPARAM] = {
    RH_NEURAL__PARAMS(1e-3, 3, 40.0),
    [NOISE] = {"noise", "standard deviation of exploration, in half ranges of the action",
               .lo = 0.0, .hi = 2.0, .initial = 0.3, .scale = RH_LOG, .usual_lo = 0.02,
               .usual_hi = 0.5},
};

typedef struct td3 {
    rh_twins twins; // first
    double noise;
} td3;

static float clip(float x, float most)
{
    return x < -most ? -most : x > most ? most : x; // a NaN stays
}

static bool td3_choose(rh_neural *s, rh_rng *rng, bool explore, float *act)
{
    td3 *d = (td3 *)s;
    float out[RH_MAX_ACT], z[RH_MAX_ACT] = {0};
    double noise = d->noise * (s->cloned ? AROUND : 1.0);
    bool finite = true;
    rh_mlp__single(s->net[RH_TWINS_ACTOR], d->twins.row, s->x, out);
    for (int j = 0; j < s->nact; j++)
        finite = finite && isfinite(out[j]);
    if (explore && rh_twins__warming(s, rng, act))
        return finite;
    if (explore)
        rh_twins__normals(rng, s->nact, z);
    for (int j = 0; j < s->nact; j++)
        act[j] = clip((float)(rh_neural__tanh((double)out[j]) + noise * (double)z[j]), 1.0f);
    return finite;
}

// t->act: the actions of an actor for obs (n x nobs).
static void act_on(rh_twins *t, int actor, const float *obs)
{
    rh_neural *s = &t->base;
    int n = s->batch.n * s->nact;
    rh_mlp__forward(s->net[actor], s->pass[actor], s->batch.n, obs, t->out);
    for (int k = 0; k < n; k++)
        t->act[k] = (float)rh_neural__tanh((double)t->out[k]);
}

// The actor moves to where the first critic sees more value.
static void improve(rh_twins *t)
{
    rh_neural *s = &t->base;
    int n = s->batch.n;
    act_on(t, RH_TWINS_ACTOR, s->batch.obs);
    rh_twins__values(t, RH_TWINS_Q, s->batch.obs, t->act);
    float size = s->care > 0.0 ? rh_neural__size(t->q[0], n) : 1.0f;
    for (int k = 0; k < n; k++)
        t->by_q[k] = -1.0f / ((float)n * size);
    memset(t->by_act, 0, (size_t)(n * s->nact) * sizeof *t->by_act);
    rh_twins__by_actions(t, 0);
    for (int k = 0; s->care > 0.0 && k < s->nlogged * s->nact; k++)
        t->by_act[k] += (float)s->care * 2.0f * (t->act[k] - s->batch.act[k]) /
                        (float)(s->nlogged * s->nact);
    for (int k = 0; k < n * s->nact; k++)
        t->by_out[k] = t->by_act[k] * (1.0f - t->act[k] * t->act[k]);
    rh_mlp__backward(s->net[RH_TWINS_ACTOR], s->pass[RH_TWINS_ACTOR], t->by_out);
    rh_mlp__step(s->net[RH_TWINS_ACTOR], &s->adam);
}

static void td3_learn(rh_neural *s, rh_rng *rng)
{
    td3 *d = (td3 *)s;
    rh_twins *t = &d->twins;
    int n = s->batch.n;
    rh_twins__normals(rng, n * s->nact, t->noise);
    act_on(t, RH_TWINS_ACTOR_TARGET, s->batch.next);
    for (int k = 0; k < n * s->nact; k++)
        t->act[k] = clip(t->act[k] + clip(SMOOTH * t->noise[k], SMOOTH_MOST), 1.0f);
    rh_twins__values(t, RH_TWINS_TARGET, s->batch.next, t->act);
    for (int k = 0; k < n; k++) {
        float least = t->q[1][k] < t->q[0][k] ? t->q[1][k] : t->q[0][k];
        t->target[k] = s->batch.reward[k] + s->batch.discount[k] * least;
    }
    rh_twins__learn(t);
    if ((s->nupdate + 1) % DELAY)
        return;
    if (!s->evaluates)
        improve(t);
    rh_twins__follow(t);
    rh_mlp__blend(s->net[RH_TWINS_ACTOR_TARGET], s->net[RH_TWINS_ACTOR], s->target_rate);
}

static const rh_neural__kind td3_kind = {
    .name = "td3",
    .size = RH_TWINS__SIZE,
    .draw = rh_twins__draw,
    .choose = td3_choose,
    .learn = td3_learn,
};

static rh_status td3_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    td3 *d = self;
    d->noise = hp[NOISE];
    return rh_twins__init(&d->twins, &td3_kind, task, hp, task->nact, true, err);
}

const rh_agent_type rh_agent_td3 = {
    .name = "td3",
    .about = "twin delayed policy gradient: deterministic actor and two critics, networks",
    .actions = RH_CONTINUOUS,
    .init = td3_init,
    RH_NEURAL__AGENT(td3, td3_param),
};
