// sac.c - soft actor-critic, for continuous actions: a squashed Gaussian actor, two critics, a
// temperature that keeps the entropy at its target.
//
// Haarnoja et al. (2018, "Algorithms and applications"). The actor gives mean mu and log
// standard deviation l, within [LEAST, MOST]. With z ~ N, a dash for the networks that follow:
//
//     u = mu + exp(l) z,  a = tanh u,
//     log p = sum of -z^2 / 2 - l - log(2 pi) / 2 - log(1 - a^2)
//     target = ret + discount (min(Q1'(s', a'), Q2'(s', a')) - alpha log p')
//     critics: twins.c
//     actor:   minimise the mean of alpha log p - min(Q1(s, a), Q2(s, a))
//     log alpha: one step of Adam down -mean(log p + target entropy)
//
// 1. The target entropy is -entropy for each number of the action.
// 2. log(1 - a^2) = 2 (log 2 - |u| - log(1 + exp(-2 |u|))), which is exact for large u.
// 3. A frozen agent takes tanh mu.
// 4. Rows from the log add care mean |Q| mean (tanh mu - a)^2 to the actor's loss, as in td3.c.

#include "twins.h"

#include <math.h>
#include <string.h>

#define LEAST (-20.0)                // of l: the authors' value
#define MOST 2.0                     // the same
#define LN_2 0.693147180559945309    // ln 2
#define HALF_LN 0.918938533204672742 // ln(2 pi) / 2

enum { ENTROPY = RH_NEURAL_NPARAM, ALPHA, NPARAM };

// The learned numbers: log alpha, its moments and powers of beta.
enum { LOG_ALPHA, FIRST, SECOND, POWER1, POWER2, NNUMBER };

static const rh_param sac_param[NPARAM] = {
    RH_NEURAL__PARAMS(1e-3, 3, 40.0),
    [ENTROPY] = {"entropy", "target entropy is minus this, per number of the action",
                 .lo = -1.0, .hi = 10.0, .initial = 1.0, .usual_lo = 0.0, .usual_hi = 3.0},
    [ALPHA] = {"alpha", "initial temperature", .lo = 1e-6, .hi = 100.0, .initial = 0.1,
               .scale = RH_LOG},
};

typedef struct sac {
    rh_twins twins;   // first
    double entropy;   // target, of all numbers of the action
    double alpha;     // initial
    float *log_p;     // owned by base: of the actor's actions (n)
    float *deviation; // owned by base: exp(l)                (n x nact)
} sac;

static void sac_draw(rh_neural *s, rh_rng *rng)
{
    sac *d = (sac *)s;
    rh_twins__draw(s, rng);
    s->number[LOG_ALPHA] = rh_ln(d->alpha);
    s->number[FIRST] = s->number[SECOND] = 0.0;
    s->number[POWER1] = s->number[POWER2] = 1.0;
}

static double within(double l)
{
    return fmin(fmax(l, LEAST), MOST);
}

static bool sac_choose(rh_neural *s, rh_rng *rng, bool explore, float *act)
{
    sac *d = (sac *)s;
    float out[2 * RH_MAX_ACT], z[RH_MAX_ACT] = {0};
    int nact = s->nact;
    bool finite = true;
    rh_mlp__single(s->net[RH_TWINS_ACTOR], d->twins.row, s->x, out);
    for (int j = 0; j < 2 * nact; j++)
        finite = finite && isfinite(out[j]);
    if (explore && rh_twins__warming(s, rng, act))
        return finite;
    if (explore)
        rh_twins__normals(rng, nact, z);
    for (int j = 0; j < nact; j++) {
        double deviation = rh_exp(within((double)out[nact + j]));
        act[j] = (float)rh_neural__tanh((double)out[j] + deviation * (double)z[j]);
    }
    return finite;
}

// Actions for obs (n x nobs) with fresh noise, and their log p.
static void act_on(sac *d, const float *obs, rh_rng *rng)
{
    rh_twins *t = &d->twins;
    rh_neural *s = &t->base;
    int nact = s->nact;
    rh_twins__normals(rng, s->batch.n * nact, t->noise);
    rh_mlp__forward(s->net[RH_TWINS_ACTOR], s->pass[RH_TWINS_ACTOR], s->batch.n, obs, t->out);
    for (int k = 0; k < s->batch.n; k++) {
        const float *out = t->out + (ptrdiff_t)k * 2 * nact;
        double log_p = 0.0;
        for (int j = 0; j < nact; j++) {
            int at = k * nact + j;
            double l = within((double)out[nact + j]), z = (double)t->noise[at];
            double deviation = rh_exp(l), u = (double)out[j] + deviation * z;
            double e = rh_exp(-2.0 * fabs(u));
            t->act[at] = (float)copysign((1.0 - e) / (1.0 + e), u);
            d->deviation[at] = (float)deviation;
            log_p -= 0.5 * z * z + l + HALF_LN;
            log_p -= 2.0 * (LN_2 - fabs(u) - rh_ln(1.0 + e));
        }
        d->log_p[k] = (float)log_p;
    }
}

// One step of Adam for log alpha.
static void warm(sac *d)
{
    rh_neural *s = &d->twins.base;
    double *x = s->number, g = 0.0;
    for (int k = 0; k < s->batch.n; k++)
        g -= ((double)d->log_p[k] + d->entropy) / s->batch.n;
    const rh_mlp__adam *a = &s->adam;
    x[POWER1] *= a->beta1;
    x[POWER2] *= a->beta2;
    x[FIRST] = a->beta1 * x[FIRST] + (1.0 - a->beta1) * g;
    x[SECOND] = a->beta2 * x[SECOND] + (1.0 - a->beta2) * g * g;
    x[LOG_ALPHA] -= a->rate * (x[FIRST] / (1.0 - x[POWER1])) /
                    (sqrt(x[SECOND] / (1.0 - x[POWER2])) + a->eps);
}

// Decision 4: the derivative by mu of number j of row k.
static float pull(const rh_neural *s, const rh_twins *t, int k, int j, float size)
{
    float m = (float)rh_neural__tanh((double)t->out[(ptrdiff_t)k * 2 * s->nact + j]);
    float away = m - s->batch.act[k * s->nact + j];
    float weight = (float)s->care * size / (float)(s->nlogged * s->nact);
    return 2.0f * weight * away * (1.0f - m * m);
}

// The actor learns with the temperature alpha; t->act and d->log_p are for the batch's obs.
static void improve(sac *d, float alpha)
{
    rh_twins *t = &d->twins;
    rh_neural *s = &t->base;
    int n = s->batch.n, nact = s->nact;
    float share = 1.0f / (float)n;
    rh_twins__values(t, RH_TWINS_Q, s->batch.obs, t->act);
    float size = rh_neural__size(t->q[0], n);
    memset(t->by_act, 0, (size_t)(n * nact) * sizeof *t->by_act);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < n; k++) {
            bool second = t->q[1][k] < t->q[0][k];
            t->by_q[k] = second == (i == 1) ? -share : 0.0f;
        }
        rh_twins__by_actions(t, i);
    }
    for (int k = 0; k < n; k++)
        for (int j = 0; j < nact; j++) {
            int at = k * nact + j;
            float *by = t->by_out + (ptrdiff_t)k * 2 * nact, a = t->act[at];
            float l = t->out[(ptrdiff_t)k * 2 * nact + nact + j];
            float by_u = share * alpha * 2.0f * a + t->by_act[at] * (1.0f - a * a);
            bool free = l > (float)LEAST && l < (float)MOST;
            by[j] = by_u + (k < s->nlogged && s->care > 0.0 ? pull(s, t, k, j, size) : 0.0f);
            by[nact + j] = free ? by_u * d->deviation[at] * t->noise[at] - share * alpha : 0.0f;
        }
    rh_mlp__backward(s->net[RH_TWINS_ACTOR], s->pass[RH_TWINS_ACTOR], t->by_out);
    rh_mlp__step(s->net[RH_TWINS_ACTOR], &s->adam);
}

static void sac_learn(rh_neural *s, rh_rng *rng)
{
    sac *d = (sac *)s;
    rh_twins *t = &d->twins;
    float alpha = (float)rh_exp(s->number[LOG_ALPHA]);
    act_on(d, s->batch.next, rng);
    rh_twins__values(t, RH_TWINS_TARGET, s->batch.next, t->act);
    for (int k = 0; k < s->batch.n; k++) {
        float least = t->q[1][k] < t->q[0][k] ? t->q[1][k] : t->q[0][k];
        t->target[k] =
            s->batch.reward[k] + s->batch.discount[k] * (least - alpha * d->log_p[k]);
    }
    rh_twins__learn(t);
    if (!s->evaluates) {
        act_on(d, s->batch.obs, rng);
        warm(d);
        improve(d, alpha);
    }
    rh_twins__follow(t);
}

static const rh_neural__kind sac_kind = {
    .name = "sac",
    .size = RH_TWINS__SIZE,
    .nnumber = NNUMBER,
    .draw = sac_draw,
    .choose = sac_choose,
    .learn = sac_learn,
};

static rh_status sac_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    sac *d = self;
    rh_neural *s = &d->twins.base;
    d->entropy = -hp[ENTROPY] * task->nact;
    d->alpha = hp[ALPHA];
    rh_status rc = rh_twins__init(&d->twins, &sac_kind, task, hp, 2 * task->nact, false, err);
    if (rc)
        return rc;
    d->log_p = rh_neural__floats(s, (size_t)s->batch.n);
    d->deviation = rh_neural__floats(s, (size_t)s->batch.n * (size_t)task->nact);
    return s->scratch.failed ? rh_neural__no_memory(s, err) : RH_OK;
}

const rh_agent_type rh_agent_sac = {
    .name = "sac",
    .about = "soft actor-critic: Gaussian actor, two critics, automatic temperature, networks",
    .actions = RH_CONTINUOUS,
    .init = sac_init,
    RH_NEURAL__AGENT(sac, sac_param),
};
