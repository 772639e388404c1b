// dqn.c - deep Q-learning for discrete actions: double Q-learning, a target network, n-step
// returns, Huber loss, epsilon-greedy.
//
// After Mnih et al. (2015), van Hasselt, Guez and Silver (2016) and Hessel et al. (2018). For a
// batch of transitions of m steps (memory.h), with Q' the target network:
//
//     b     = argmax_b Q(s', b)
//     delta = Q(s, a) - (ret + discount Q'(s', b))
//     loss  = mean of delta^2 / 2 where |delta| < 1, |delta| - 1/2 elsewhere
//     Q'    = Q' + target_rate (Q - Q')
//
// 1. Q' follows a little after every update instead of being copied now and then: one number
//    to choose, and no jumps.
// 2. epsilon falls linearly from 1 over the first `explore` steps, unless the agent began with
//    the log: its policy is worth something from the first step on.
// 3. Rows from the log add care (log sum_b exp Q(s, b) - Q(s, a)) to the loss (Kumar et al.
//    2020): actions that the log did not take are not overrated.
// 4. The derivative of the loss is delta clipped to [-1, 1]. Scaled rewards make values of
//    about 1, so only outliers are clipped. With values of about 10, Puddle World (-2,944
//    instead of -933 in 5,000 steps, 4 runs) and Cartpole (-37, -27) were worse.
// 5. With start=cloned an action is taken, and bootstrapped from, only if a clone of the logged
//    controller gives it at least a share `caution` of its largest probability (Fujimoto et al.
//    2019, "Benchmarking batch deep RL"). The share fades; random actions are the clone's.

#include "clone.h"

#include <math.h>

enum { EPSILON = RH_NEURAL_NPARAM, EXPLORE, NPARAM };
enum { ONLINE, TARGET, CLONE };

static const rh_param dqn_param[NPARAM] = {
    RH_NEURAL__PARAMS(1e-3, 5, 0.5),
    [EPSILON] = {"epsilon", "share of random actions", .lo = 0.0, .hi = 1.0, .initial = 0.05,
                 .scale = RH_LOG, .usual_lo = 0.002, .usual_hi = 0.2},
    [EXPLORE] = {"explore", "steps until random actions have fallen to epsilon", .lo = 1,
                 .hi = 1e7, .initial = 500, .scale = RH_LOG, .whole = true},
};

typedef struct dqn {
    rh_neural base; // first
    double epsilon, explore;
    float *q, *best, *target; // owned by base: of a batch   (batch x naction)
    float *row;               // owned by base: one observation through the network
    float *p;                 // owned by base: outputs of the clone  (batch x naction)
} dqn;

static void dqn_draw(rh_neural *s, rh_rng *rng)
{
    rh_mlp__draw(s->net[ONLINE], rng);
    rh_mlp__copy(s->net[TARGET], s->net[ONLINE]);
}

// The action with the greatest value, of those that the clone takes often enough: whose
// probability is `share` of the largest at least (decision 5). p: its outputs; NULL: of all.
static int greatest(const float *q, const float *p, double share, int n)
{
    int most = p ? rh_clone__greatest(p, n) : 0, best = most;
    float least = p && share > 0.0 ? p[most] + (float)rh_ln(share) : -INFINITY;
    for (int a = 0; a < n; a++)
        best = q[a] > q[best] && (!p || p[a] >= least) ? a : best;
    return best;
}

// The share that counts now.
static double share_now(const rh_neural *s)
{
    double left = fmax(0.0, 1.0 - (double)s->nstep / s->fade);
    return fmin(s->caution, 1.0) * left;
}

static bool dqn_choose(rh_neural *s, rh_rng *rng, bool explore, float *act)
{
    dqn *d = (dqn *)s;
    // of the way to epsilon
    double share = s->logged.count ? 1.0 : fmin((double)s->nstep / d->explore, 1.0);
    double epsilon = explore ? 1.0 + share * (d->epsilon - 1.0) : 0.0;
    rh_mlp__single(s->net[ONLINE], d->row, s->x, d->q);
    bool finite = true;
    for (int a = 0; a < s->naction; a++)
        finite = finite && isfinite(d->q[a]);
    if (s->cloned)
        rh_mlp__single(s->net[CLONE], d->row, s->x, d->p);
    act[0] = (float)greatest(d->q, s->cloned ? d->p : NULL, share_now(s), s->naction);
    if (epsilon > 0.0 && rh_rng_uniform(rng) < epsilon)
        act[0] = (float)(s->cloned ? rh_clone__draw(d->p, s->naction, 1.0, rng)
                                   : (int)rh_rng_below(rng, (uint32_t)s->naction));
    return finite;
}

// Decision 3: add the derivative of the term to by (naction); q: the values.
static void take_care(const rh_neural *s, const float *q, int taken, float *by)
{
    double sum = 0.0, most = (double)q[rh_clone__greatest(q, s->naction)];
    double weight = s->care / s->batch.n;
    for (int a = 0; a < s->naction; a++)
        sum += rh_exp((double)q[a] - most);
    for (int a = 0; a < s->naction; a++)
        by[a] += (float)(weight * (rh_exp((double)q[a] - most) / sum - (a == taken)));
}

static void dqn_learn(rh_neural *s, rh_rng *rng)
{
    (void)rng;
    dqn *d = (dqn *)s;
    const rh_memory__batch *b = &s->batch;
    rh_mlp__forward(s->net[TARGET], s->pass[TARGET], b->n, b->next, d->target);
    rh_mlp__forward(s->net[ONLINE], s->pass[ONLINE], b->n, b->next, d->best);
    rh_mlp__forward(s->net[ONLINE], s->pass[ONLINE], b->n, b->obs, d->q);

    if (s->cloned)
        rh_mlp__forward(s->net[CLONE], s->pass[CLONE], b->n, b->next, d->p);
    double share = share_now(s);

    // q becomes the derivative of the loss by itself
    for (int i = 0; i < b->n; i++) {
        float *q = d->q + (ptrdiff_t)i * s->naction;
        ptrdiff_t next = (ptrdiff_t)i * s->naction;
        float *p = s->cloned ? d->p + next : NULL;
        float y = d->target[next + greatest(d->best + next, p, share, s->naction)];
        int taken = (int)b->act[i];
        float delta = q[taken] - (b->reward[i] + b->discount[i] * y);
        delta = delta > 1.0f ? 1.0f : delta < -1.0f ? -1.0f : delta; // a NaN stays
        for (int a = 0; a < s->naction; a++)
            d->best[next + a] = q[a];
        for (int a = 0; a < s->naction; a++)
            q[a] = a == taken ? delta / (float)b->n : 0.0f;
        if (i < s->nlogged && s->care > 0.0 && !s->cloned)
            take_care(s, d->best + next, taken, q);
    }
    rh_mlp__backward(s->net[ONLINE], s->pass[ONLINE], d->q);
    rh_mlp__step(s->net[ONLINE], &s->adam);
    rh_mlp__blend(s->net[TARGET], s->net[ONLINE], s->target_rate);
}

static const rh_neural__kind dqn_kind = {
    .name = "dqn",
    .size = 1.0, // decision 3
    .draw = dqn_draw,
    .choose = dqn_choose,
    .learn = dqn_learn,
};

static rh_status dqn_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    dqn *d = self;
    rh_neural *s = &d->base;
    d->epsilon = hp[EPSILON];
    d->explore = hp[EXPLORE];
    rh_status rc = rh_neural__init(s, &dqn_kind, task, hp, err);
    unsigned flags = hp[RH_NEURAL_NORM] != 0.0 ? RH_MLP_NORM : RH_MLP_PLAIN;
    for (int i = ONLINE; !rc && i <= TARGET; i++)
        rc = rh_neural__net(s, i, s->nobs, task->naction, flags, hp, err);
    if (!rc && s->cloned)
        rc = rh_neural__net(s, CLONE, s->nobs, task->naction, RH_MLP_PLAIN, hp, err);
    if (rc)
        return rc;
    size_t n = (size_t)s->batch.n * (size_t)task->naction;
    d->q = rh_neural__floats(s, n);
    d->best = rh_neural__floats(s, n);
    d->target = rh_neural__floats(s, n);
    d->p = rh_neural__floats(s, n);
    d->row = rh_neural__floats(s, rh_mlp__nscratch(s->net[ONLINE]));
    rh_clone__quality unused;
    if (s->scratch.failed)
        return rh_neural__no_memory(s, err);
    return s->cloned ? rh_clone__fit(s, CLONE, task, &unused, err) : RH_OK;
}

const rh_agent_type rh_agent_dqn = {
    .name = "dqn",
    .about = "deep Q-learning: networks, replay memory, double Q, n-step returns",
    .actions = RH_DISCRETE,
    .init = dqn_init,
    RH_NEURAL__AGENT(dqn, dqn_param),
};
