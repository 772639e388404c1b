// critic.c - the critic of both actor-critics.
//
//     delta = r + gamma v(s') - v(s),   w[i] += alpha delta for i active in s
//
// Sutton and Barto (2018), section 13.5. alpha is not divided by the number of tilings, as in
// the paper's code.

#include "agent_internal.h"

#include <string.h>

rh_status rh_critic__init(rh_critic *critic, const rh_task *task, double alpha, int ntiling,
                          int ntile, rh_tiles__mode mode, const char *owner, rh_error *err)
{
    rh_status rc = rh_tiles__create(&critic->tiles, mode, ntiling, ntile, task, owner, err);
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

rh_status rh_critic__make_cache(void **cache, const rh_task *task, int ntiling, int ntile,
                                rh_tiles__mode mode, const double *entry, int32_t n,
                                size_t most, const char *owner, rh_error *err)
{
    rh_tiles *tiles = NULL;
    rh_page *page = NULL;
    rh_status rc = rh_tiles__create(&tiles, mode, ntiling, ntile, task, owner, err);
    if (!rc)
        rc = rh_page__create(&page, tiles, entry, n, most, owner, err);
    rh_tiles__destroy(tiles);
    *cache = page;
    return rc;
}

void rh_critic__use(rh_critic *critic, const rh_page *page)
{
    // s may be a row of the page that goes
    memmove(critic->list[0], critic->now, (size_t)critic->tiles->nactive * sizeof(int32_t));
    critic->now = critic->list[0];
    critic->page = page;
}

const int32_t *rh_critic__see(rh_critic *critic, const double *obs)
{
    if (critic->page)
        return rh_page__row(critic->page, critic->entry);
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
    critic->now = rh_critic__see(critic, obs);
    critic->discount = 1.0;
}

double rh_critic__step(rh_critic *critic, double reward, const double *obs)
{
    critic->next = rh_critic__see(critic, obs);
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
