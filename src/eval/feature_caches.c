// feature_caches.c - the features of fixed observations, computed once for all runs.
//
// A calibration model shows only states of its log. Agents that support it get their features
// of each state computed before the first run, once for every set of fixed parameters and every
// set of fixed observations. Runs then pass the index of the observation to the agent.
//
// 1. Equal fixed parameters share a cache; so do a model's members, which show the same array.
// 2. All caches together take at most 32 MB, in equal shares: 25,000 observations of Acrobot's
//    336 features, or 170,000 of Puddle World's 48. A row from main memory takes longer than
//    computing it: in the model of a log of 200,000 steps a step was 5 % slower with a cache
//    (of 270 MB) than without, and making the cache took 0.15 s. With logs of 5,000 and 20,000
//    steps a step is 5 % and 2 % faster. Without a cache, every step computes features.
// 3. Observations that are finite here are not checked again in every step.

#include "base/base.h"
#include "base/base_internal.h"
#include "eval_internal.h"

#define MOST ((size_t)32 << 20) // bytes of all feature caches together

bool rh_feature_caches__alike(const rh_agent_type *type, const double *a, const double *b)
{
    for (int i = 0; i < type->nparam; i++)
        if (type->param[i].fixed && a[i] != b[i])
            return false;
    return true;
}

static void sort_settings(rh_feature_caches *a, const rh_agent_type *type, int nsetting,
                          const double *hp)
{
    size_t n = (size_t)type->nparam;
    for (int s = 0; s < nsetting; s++) {
        int like = 0;
        while (like < a->nbuild && !rh_feature_caches__alike(type, hp + (size_t)s * n,
                                                             hp + (size_t)a->first[like] * n))
            like++;
        if (like == a->nbuild)
            a->first[a->nbuild++] = s;
        a->build[s] = like;
    }
}

static bool all_finite(const double *obs, int32_t n, int nobs)
{
    for (int32_t i = 0; i < n; i++)
        if (!rh_base__all_finite(obs + (size_t)i * (size_t)nobs, nobs))
            return false;
    return true;
}

static void sort_members(rh_feature_caches *a, rh_env *const *env, int nmember, int nobs)
{
    for (int m = 0; m < nmember; m++) {
        int32_t n;
        const double *obs = rh_contract__env_fixed_obs(env[m], &n);
        int like = 0;
        while (like < a->nset && (obs != a->obs[like] || n != a->nobs[like]))
            like++;
        a->set[m] = obs ? like : -1;
        if (!obs || like < a->nset)
            continue;
        a->obs[like] = obs;
        a->nobs[like] = n;
        a->finite[like] = all_finite(obs, n, nobs);
        a->nset++;
    }
}

rh_status rh_feature_caches__sort(rh_feature_caches *caches, rh_env *const *env, int nmember,
                                  const rh_agent_type *agent, const rh_task *task, int nsetting,
                                  const double *hp, rh_error *err)
{
    caches->build = rh_alloc((size_t)nsetting, sizeof *caches->build);
    caches->first = rh_alloc((size_t)nsetting, sizeof *caches->first);
    if (!caches->build || !caches->first)
        return rh_fail(err, RH_ENOMEM, "eval: out of memory for %d settings", nsetting);
    sort_settings(caches, agent, nsetting, hp);
    sort_members(caches, env, nmember, task->nobs);
    return RH_OK;
}

rh_status rh_feature_caches__fill(rh_feature_caches *caches, const rh_agent_type *agent,
                                  const rh_task *task, const double *hp, rh_error *err)
{
    if (!agent->make_cache || !caches->nset)
        return RH_OK;
    size_t n = (size_t)caches->nbuild * (size_t)caches->nset;
    caches->cache = rh_alloc(n, sizeof(rh_feature_cache *));
    if (!caches->cache)
        return rh_fail(err, RH_ENOMEM, "eval: out of memory for %zu feature caches", n);
    for (size_t i = 0; i < n; i++) {
        size_t build = i / (size_t)caches->nset, set = i % (size_t)caches->nset;
        size_t setting = (size_t)caches->first[build];
        rh_status rc = rh_feature_cache__create(
            &caches->cache[i], agent, task, hp + setting * (size_t)agent->nparam,
            caches->obs[set], caches->nobs[set], MOST / n, err);
        if (rc)
            return rc;
    }
    return RH_OK;
}

void rh_feature_caches__clear(rh_feature_caches *caches)
{
    for (int i = 0; caches->cache && i < caches->nbuild * caches->nset; i++)
        rh_feature_cache__destroy(caches->cache[i]);
    rh_free(caches->cache);
    rh_free(caches->build);
    rh_free(caches->first);
}

const rh_feature_cache *rh_feature_caches__of(const rh_feature_caches *caches, int setting,
                                              int member)
{
    int set = caches->set[member];
    if (!caches->cache || set < 0)
        return NULL;
    return caches->cache[(size_t)caches->build[setting] * (size_t)caches->nset + (size_t)set];
}

bool rh_feature_caches__finite(const rh_feature_caches *caches, int member)
{
    int set = caches->set[member];
    return set >= 0 && caches->finite[set];
}
