// actor_critic.c - one-step actor-critic with a softmax actor, plain gradient descent.
//
// Sutton and Barto (2018), section 13.5. With A the active features of s, and critic.c's delta:
//
//     pi(b | s)      = softmax of the preferences h(b) = sum of theta[i, b] for i in A
//     theta[i, b]   += alpha_actor gamma^t delta (1[b = a] - pi(b | s))     for i in A
//
// 1. The actor's step size is a ratio of the critic's, as in the paper's grids.
// 2. The gradient is the textbook's. The paper's code multiplies pi by the weights instead of
//    the features in the second part, which is not the gradient of log pi.
// 3. A continuing task has no factor gamma^t: it would end all learning by the actor.

#include "agent_internal.h"
#include "base/base_internal.h"

#include <math.h>

enum { ALPHA_CRITIC, ACTOR_RATIO, TILINGS, TILES, FEATURES, NPARAM };

static const rh_param actor_critic_param[NPARAM] = {
    [ALPHA_CRITIC] = {"alpha_critic", "step size of the critic, not divided by the tilings",
                      .lo = 1e-8, .hi = 10.0, .initial = 0.003, .scale = RH_LOG,
                      .usual_lo = 0.001, .usual_hi = 0.3},
    [ACTOR_RATIO] = {"actor_ratio", "step size of the actor, relative to the critic's",
                     .lo = 0.0, .hi = 100.0, .initial = 0.3, .scale = RH_LOG, .usual_lo = 0.001,
                     .usual_hi = 0.3},
    RH_AGENT__TILE_PARAMS(TILINGS, TILES, FEATURES),
};

typedef struct actor_critic {
    rh_critic critic;
    double alpha; // of the actor
    bool continuing;
    int naction;
    int action;
    double *theta; // owned: preferences            (nfeature x naction)
    double *h;     // owned: preferences of a state (naction)
    double *pi;    // owned: policy of a state      (naction)
} actor_critic;

static rh_status actor_critic_init(void *self, const rh_task *task, const double *hp,
                                   rh_error *err)
{
    actor_critic *s = self;
    rh_status rc =
        rh_critic__init(&s->critic, task, hp[ALPHA_CRITIC], hp + TILINGS, "actor_critic", err);
    if (rc)
        return rc;
    s->alpha = hp[ALPHA_CRITIC] * hp[ACTOR_RATIO];
    s->continuing = task->continuing;
    s->naction = task->naction;
    size_t naction = (size_t)task->naction;
    s->theta = rh_alloc((size_t)s->critic.tiles->nfeature * naction, sizeof *s->theta);
    s->h = rh_alloc(naction, sizeof *s->h);
    s->pi = rh_alloc(naction, sizeof *s->pi);
    if (!s->theta || !s->h || !s->pi)
        return rh_fail(err, RH_ENOMEM, "actor_critic: out of memory for %d features",
                       (int)s->critic.tiles->nfeature);
    return RH_OK;
}

static void actor_critic_clear(void *self)
{
    actor_critic *s = self;
    rh_critic__clear(&s->critic);
    rh_free(s->theta);
    rh_free(s->h);
    rh_free(s->pi);
}

// Draw an action in the state with these features; false when the preferences are not finite.
static bool choose(actor_critic *s, const int32_t *active, rh_rng *rng, int *action)
{
    for (int a = 0; a < s->naction; a++)
        s->h[a] = 0.0;
    for (int i = 0; i < s->critic.tiles->nactive; i++) {
        const double *row = s->theta + (size_t)active[i] * (size_t)s->naction;
        for (int a = 0; a < s->naction; a++)
            s->h[a] += row[a];
    }
    rh_agent_softmax(s->h, s->naction, 1.0, s->pi);
    *action = rh_agent_draw(s->pi, s->naction, rng);
    return rh_base__all_finite(s->h, s->naction);
}

// The actor learns from a step from critic.now; pi is still the policy of that state.
static bool learn(actor_critic *s, double delta)
{
    if (!isfinite(delta))
        return false;
    double step = s->alpha * delta * (s->continuing ? 1.0 : s->critic.discount);
    for (int i = 0; i < s->critic.tiles->nactive; i++) {
        double *row = s->theta + (size_t)s->critic.now[i] * (size_t)s->naction;
        for (int a = 0; a < s->naction; a++)
            row[a] += step * ((a == s->action) - s->pi[a]);
    }
    return true;
}

static bool actor_critic_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    actor_critic *s = self;
    rh_critic__start(&s->critic, obs);
    bool healthy = choose(s, s->critic.now, rng, &s->action);
    act[0] = s->action;
    return healthy;
}

static bool actor_critic_step(void *self, double reward, const double *obs, rh_rng *rng,
                              double *act)
{
    actor_critic *s = self;
    bool healthy = learn(s, rh_critic__step(&s->critic, reward, obs));
    rh_critic__advance(&s->critic);
    healthy = choose(s, s->critic.now, rng, &s->action) && healthy;
    act[0] = s->action;
    return healthy;
}

static bool actor_critic_end(void *self, double reward)
{
    actor_critic *s = self;
    return learn(s, rh_critic__end(&s->critic, reward));
}

static bool actor_critic_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    actor_critic *s = self;
    int action;
    bool healthy = choose(s, rh_critic__features(&s->critic, obs), rng, &action);
    act[0] = action;
    return healthy;
}

static rh_status actor_critic_make_cache(void **cache, const rh_task *task, const double *hp,
                                         const double *obs, int32_t n, size_t most,
                                         rh_error *err)
{
    return rh_critic__make_cache(cache, task, hp + TILINGS, obs, n, most, "actor_critic", err);
}

static void actor_critic_use_cache(void *self, const void *cache)
{
    actor_critic *s = self;
    rh_critic__use_cache(&s->critic, cache);
}

static void actor_critic_look_up(void *self, int32_t index)
{
    actor_critic *s = self;
    s->critic.index = index;
}

static void actor_critic_policy(const void *self, double *pi)
{
    const actor_critic *s = self;
    for (int a = 0; a < s->naction; a++)
        pi[a] = s->pi[a];
}

static void actor_critic_take(void *self, int action)
{
    actor_critic *s = self;
    s->action = action;
}

static size_t ntheta(const actor_critic *s)
{
    return (size_t)s->critic.tiles->nfeature * (size_t)s->naction;
}

static rh_status actor_critic_save(void *self, rh_state *state, rh_error *err)
{
    const actor_critic *s = self;
    return rh_critic__save(&s->critic, s->theta, ntheta(s), state, err);
}

static rh_status actor_critic_load(void *self, const rh_state *state, rh_error *err)
{
    actor_critic *s = self;
    return rh_critic__load(&s->critic, s->theta, ntheta(s), state, err);
}

const rh_agent_type rh_agent_actor_critic = {
    .name = "actor_critic",
    .about = "one-step actor-critic: tile coding, softmax actor, gradient descent",
    .actions = RH_DISCRETE,
    .self_size = sizeof(actor_critic),
    .param = actor_critic_param,
    .nparam = NPARAM,
    .init = actor_critic_init,
    .start = actor_critic_start,
    .step = actor_critic_step,
    .end = actor_critic_end,
    .act = actor_critic_act,
    .make_cache = actor_critic_make_cache,
    .use_cache = actor_critic_use_cache,
    .look_up = actor_critic_look_up,
    .save = actor_critic_save,
    .load = actor_critic_load,
    .clear = actor_critic_clear,
    .policy = actor_critic_policy,
    .take = actor_critic_take,
};
