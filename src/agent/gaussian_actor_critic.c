// gaussian_actor_critic.c - one-step actor-critic for continuous actions.
//
// Sutton and Barto (2018), sections 13.5 and 13.7. Each number of the action is scaled to
// [-1, 1] over its range. With A the active features of s:
//
//     mu    = sum of theta_mu[i] for i in A
//     sigma = exp(log sigma_init + sum of theta_sigma[i] for i in A)
//     x     ~ N(mu, sigma)
//     theta_mu[i]    += alpha_actor gamma^t delta (x - mu) / sigma^2           for i in A
//     theta_sigma[i] += alpha_actor gamma^t delta ((x - mu)^2 / sigma^2 - 1)
//
// 1. The environment gets x clipped to its bounds; the gradient uses the unclipped x. To the
//    learner, clipping is part of the environment.
// 2. sigma stays between 0.01 and 2: below, the gradient of mu explodes; above, every action is
//    at a bound.
// 3. Step sizes and gamma^t as in actor_critic.c.

#include "agent_internal.h"
#include "base/base_internal.h"

#include <math.h>

#define SIGMA_LO 0.01 // decision 2: below, the gradient of mu explodes
#define SIGMA_HI 2.0  // decision 2: above, actions are at a bound

enum { ALPHA_CRITIC, ACTOR_RATIO, SIGMA_INIT, TILINGS, TILES, FEATURES, NPARAM };

static const rh_param gaussian_param[NPARAM] = {
    [ALPHA_CRITIC] = {"alpha_critic", "step size of the critic, not divided by the tilings",
                      .lo = 1e-8, .hi = 10.0, .initial = 0.01, .scale = RH_LOG,
                      .usual_lo = 0.001, .usual_hi = 0.3},
    [ACTOR_RATIO] = {"actor_ratio", "step size of the actor, relative to the critic's",
                     .lo = 0.0, .hi = 100.0, .initial = 0.003, .scale = RH_LOG,
                     .usual_lo = 0.001, .usual_hi = 0.3},
    [SIGMA_INIT] = {"sigma_init", "initial standard deviation of actions, in half ranges",
                    .lo = SIGMA_LO, .hi = SIGMA_HI, .initial = 1.0, .scale = RH_LOG,
                    .usual_lo = 0.1, .usual_hi = SIGMA_HI},
    RH_AGENT__TILE_PARAMS(TILINGS, TILES, FEATURES),
};

typedef struct gaussian {
    rh_critic critic;
    double alpha; // of the actor
    double log_sigma;
    bool continuing;
    int nact;
    double *theta; // owned: theta_mu and theta_sigma, side by side (nfeature x 2 nact)
    double middle[RH_MAX_ACT], half[RH_MAX_ACT];
    double lo[RH_MAX_ACT], hi[RH_MAX_ACT]; // middle - half may be one bit below lo
    double mu[RH_MAX_ACT], sigma[RH_MAX_ACT], x[RH_MAX_ACT]; // in the state last acted in
} gaussian;

static size_t ntheta(const gaussian *s)
{
    return (size_t)s->critic.tiles->nfeature * 2 * (size_t)s->nact;
}

static rh_status gaussian_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    gaussian *s = self;
    rh_status rc = rh_critic__init(&s->critic, task, hp[ALPHA_CRITIC], hp + TILINGS,
                                   "gaussian_actor_critic", err);
    if (rc)
        return rc;
    s->alpha = hp[ALPHA_CRITIC] * hp[ACTOR_RATIO];
    s->log_sigma = rh_ln(hp[SIGMA_INIT]);
    s->continuing = task->continuing;
    s->nact = task->nact;
    for (int k = 0; k < task->nact; k++) {
        s->lo[k] = task->act_lo[k];
        s->hi[k] = task->act_hi[k];
        s->middle[k] = 0.5 * (task->act_lo[k] + task->act_hi[k]);
        s->half[k] = 0.5 * (task->act_hi[k] - task->act_lo[k]);
    }
    s->theta = rh_alloc(ntheta(s), sizeof *s->theta);
    if (!s->theta)
        return rh_fail(err, RH_ENOMEM, "gaussian_actor_critic: out of memory for %d features",
                       (int)s->critic.tiles->nfeature);
    return RH_OK;
}

static void gaussian_clear(void *self)
{
    gaussian *s = self;
    rh_critic__clear(&s->critic);
    rh_free(s->theta);
}

static double *weights(const gaussian *s, int32_t feature)
{
    return s->theta + (size_t)feature * 2 * (size_t)s->nact;
}

// Draw an action in the state with these features; false when its numbers are not finite.
static bool choose(gaussian *s, const int32_t *active, rh_rng *rng, double *act)
{
    int n = s->nact;
    for (int k = 0; k < n; k++) {
        s->mu[k] = 0.0;
        s->sigma[k] = s->log_sigma;
    }
    for (int i = 0; i < s->critic.tiles->nactive; i++) {
        const double *row = weights(s, active[i]);
        for (int k = 0; k < n; k++) {
            s->mu[k] += row[k];
            s->sigma[k] += row[n + k];
        }
    }
    bool healthy = rh_base__all_finite(s->mu, n) && rh_base__all_finite(s->sigma, n);
    for (int k = 0; k < n; k++) {
        double z[2];
        rh_rng_normal(rng, z);
        s->sigma[k] = fmin(fmax(rh_exp(s->sigma[k]), SIGMA_LO), SIGMA_HI);
        s->x[k] = s->mu[k] + s->sigma[k] * z[0];
        double x = s->middle[k] + s->half[k] * fmin(fmax(s->x[k], -1.0), 1.0);
        act[k] = fmin(fmax(x, s->lo[k]), s->hi[k]);
    }
    return healthy;
}

// The actor learns from a step from critic.now; mu, sigma and x still belong to that state.
static bool learn(gaussian *s, double delta)
{
    if (!isfinite(delta))
        return false;
    int n = s->nact;
    double step = s->alpha * delta * (s->continuing ? 1.0 : s->critic.discount);
    double by_mu[RH_MAX_ACT], by_sigma[RH_MAX_ACT];
    for (int k = 0; k < n; k++) {
        double z = (s->x[k] - s->mu[k]) / s->sigma[k];
        by_mu[k] = step * z / s->sigma[k];
        by_sigma[k] = step * (z * z - 1.0);
    }
    for (int i = 0; i < s->critic.tiles->nactive; i++) {
        double *row = weights(s, s->critic.now[i]);
        for (int k = 0; k < n; k++) {
            row[k] += by_mu[k];
            row[n + k] += by_sigma[k];
        }
    }
    return true;
}

static bool gaussian_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    gaussian *s = self;
    rh_critic__start(&s->critic, obs);
    return choose(s, s->critic.now, rng, act);
}

static bool gaussian_step(void *self, double reward, const double *obs, rh_rng *rng,
                          double *act)
{
    gaussian *s = self;
    bool healthy = learn(s, rh_critic__step(&s->critic, reward, obs));
    rh_critic__advance(&s->critic);
    return choose(s, s->critic.now, rng, act) && healthy;
}

static bool gaussian_end(void *self, double reward)
{
    gaussian *s = self;
    return learn(s, rh_critic__end(&s->critic, reward));
}

static bool gaussian_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    gaussian *s = self;
    return choose(s, rh_critic__features(&s->critic, obs), rng, act);
}

static rh_status gaussian_make_cache(void **cache, const rh_task *task, const double *hp,
                                     const double *obs, int32_t n, size_t most, rh_error *err)
{
    return rh_critic__make_cache(cache, task, hp + TILINGS, obs, n, most,
                                 "gaussian_actor_critic", err);
}

static void gaussian_use_cache(void *self, const void *cache)
{
    gaussian *s = self;
    rh_critic__use_cache(&s->critic, cache);
}

static void gaussian_look_up(void *self, int32_t index)
{
    gaussian *s = self;
    s->critic.index = index;
}

static rh_status gaussian_save(void *self, rh_state *state, rh_error *err)
{
    const gaussian *s = self;
    return rh_critic__save(&s->critic, s->theta, ntheta(s), state, err);
}

static rh_status gaussian_load(void *self, const rh_state *state, rh_error *err)
{
    gaussian *s = self;
    return rh_critic__load(&s->critic, s->theta, ntheta(s), state, err);
}

const rh_agent_type rh_agent_gaussian_actor_critic = {
    .name = "gaussian_actor_critic",
    .about = "one-step actor-critic for continuous actions: tile coding, Gaussian actor",
    .actions = RH_CONTINUOUS,
    .self_size = sizeof(gaussian),
    .param = gaussian_param,
    .nparam = NPARAM,
    .init = gaussian_init,
    .start = gaussian_start,
    .step = gaussian_step,
    .end = gaussian_end,
    .act = gaussian_act,
    .make_cache = gaussian_make_cache,
    .use_cache = gaussian_use_cache,
    .look_up = gaussian_look_up,
    .save = gaussian_save,
    .load = gaussian_load,
    .clear = gaussian_clear,
};
