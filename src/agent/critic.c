// critic.c - the critic of both actor-critics.
//
//     delta = r + gamma v(s') - v(s),   w[i] += alpha delta for i active in s
//
// Sutton and Barto (2018), section 13.5. As in the paper's code, tilings do not divide alpha.

#include "agent_internal.h"

#include <string.h>

rh_status rh_critic__init(rh_critic *critic, const rh_task *task, double alpha,
                          const double *tile, const char *owner, rh_error *err)
{
    rh_status rc = rh_tiles__create(&critic->tiles, tile, task, owner, err);
    if (rc)
        return rc;
    critic->gamma = task->gamma;
    critic->alpha = alpha;
    critic->w = rh_alloc((size_t)critic->tiles->nfeature, sizeof *critic->w);
    for (int i = 0; i < 2; i++)
        critic->list[i] = rh_alloc((size_t)critic->tiles->nactive, sizeof *critic->list[i]);
    critic->now = critic->list[0];
    critic->next = critic->list[1];
    if (!critic->w || !critic->now || !critic->next)
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for %d features", owner,
                       (int)critic->tiles->nfeature);
    return RH_OK;
}

void rh_critic__clear(rh_critic *critic)
{
    rh_tiles__destroy(critic->tiles);
    rh_free(critic->w);
    rh_free(critic->list[0]);
    rh_free(critic->list[1]);
}

rh_status rh_critic__make_cache(void **cache, const rh_task *task, const double *tile,
                                const double *obs, int32_t n, size_t most, const char *owner,
                                rh_error *err)
{
    rh_tiles *tiles = NULL;
    rh_tile_cache *made = NULL;
    rh_status rc = rh_tiles__create(&tiles, tile, task, owner, err);
    if (!rc)
        rc = rh_tile_cache__create(&made, tiles, obs, n, most, owner, err);
    rh_tiles__destroy(tiles);
    *cache = made;
    return rc;
}

void rh_critic__use_cache(rh_critic *critic, const rh_tile_cache *cache)
{
    // critic->now may be a row of the old cache
    memmove(critic->list[0], critic->now, (size_t)critic->tiles->nactive * sizeof(int32_t));
    critic->now = critic->list[0];
    critic->cache = cache;
}

rh_status rh_critic__save(const rh_critic *critic, const double *theta, size_t n,
                          rh_state *state, rh_error *err)
{
    rh_status rc = rh_tiles__save(critic->tiles, state, err);
    if (!rc)
        rc = rh_state_put(state, "w", critic->w, (size_t)critic->tiles->nfeature, err);
    return rc ? rc : rh_state_put(state, "theta", theta, n, err);
}

rh_status rh_critic__load(rh_critic *critic, double *theta, size_t n, const rh_state *state,
                          rh_error *err)
{
    rh_status rc = rh_tiles__check_saved(critic->tiles, "actor-critic", state, err);
    if (!rc)
        rc = rh_state_get(state, "w", critic->w, (size_t)critic->tiles->nfeature, err);
    return rc ? rc : rh_state_get(state, "theta", theta, n, err);
}

const int32_t *rh_critic__features(rh_critic *critic, const double *obs)
{
    if (critic->cache)
        return rh_tile_cache__row(critic->cache, critic->index);
    int32_t *spare = critic->list[critic->now == critic->list[0]];
    rh_tiles__active(critic->tiles, obs, spare);
    return spare;
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
    critic->now = rh_critic__features(critic, obs);
    critic->discount = 1.0;
}

double rh_critic__step(rh_critic *critic, double reward, const double *obs)
{
    critic->next = rh_critic__features(critic, obs);
    double target = reward + critic->gamma * value(critic, critic->next);
    return learn(critic, target - value(critic, critic->now));
}

double rh_critic__end(rh_critic *critic, double reward)
{
    return learn(critic, reward - value(critic, critic->now));
}

void rh_critic__advance(rh_critic *critic)
{
    critic->now = critic->next;
    critic->discount *= critic->gamma;
}
