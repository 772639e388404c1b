// critic.c - the critic of both actor-critics.
//
//     delta = r + gamma v(s') - v(s),   w[i] += alpha delta for i active in s
//
// Sutton and Barto (2018), section 13.5. alpha is not divided by the number of tilings, as in
// the paper's code.

#include "agent_internal.h"

rh_status rh_critic__init(rh_critic *critic, const rh_task *task, double alpha, int ntiling,
                          int ntile, rh_tiles_mode mode, const char *owner, rh_error *err)
{
    rh_status rc = rh_tiles__create(&critic->tiles, mode, ntiling, ntile, task, owner, err);
    if (rc)
        return rc;
    critic->gamma = task->gamma;
    critic->alpha = alpha;
    critic->w = rh_alloc((size_t)critic->tiles->nfeature, sizeof *critic->w);
    critic->now = rh_alloc((size_t)critic->tiles->nactive, sizeof *critic->now);
    critic->next = rh_alloc((size_t)critic->tiles->nactive, sizeof *critic->next);
    if (!critic->w || !critic->now || !critic->next)
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for %d features", owner,
                       (int)critic->tiles->nfeature);
    return RH_OK;
}

void rh_critic__clear(rh_critic *critic)
{
    rh_tiles__destroy(critic->tiles);
    rh_free(critic->w);
    rh_free(critic->now);
    rh_free(critic->next);
}

static double value(const rh_critic *critic, const int32_t *active)
{
    double sum = 0.0;
    for (int i = 0; i < critic->tiles->nactive; i++)
        sum += critic->w[active[i]];
    return sum;
}

static double learn(rh_critic *critic, double delta)
{
    for (int i = 0; i < critic->tiles->nactive; i++)
        critic->w[critic->now[i]] += critic->alpha * delta;
    return delta;
}

void rh_critic__start(rh_critic *critic, const double *obs)
{
    rh_tiles__active(critic->tiles, obs, critic->now);
    critic->discount = 1.0;
}

double rh_critic__step(rh_critic *critic, double reward, const double *obs)
{
    rh_tiles__active(critic->tiles, obs, critic->next);
    double target = reward + critic->gamma * value(critic, critic->next);
    return learn(critic, target - value(critic, critic->now));
}

double rh_critic__end(rh_critic *critic, double reward)
{
    return learn(critic, reward - value(critic, critic->now));
}

void rh_critic__advance(rh_critic *critic)
{
    int32_t *last = critic->now;
    critic->now = critic->next;
    critic->next = last;
    critic->discount *= critic->gamma;
}
