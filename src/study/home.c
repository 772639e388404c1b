// home.c - where agents of one stage live: an environment for each member of a model.

#include "study_internal.h"

#include <string.h>

#define WALK 1000 // steps that tell a model from others

rh_status rh_home__open(rh_home *home, const rh_model *model, rh_error *err)
{
    int n = rh_model_nmember(model);
    home->model = model;
    home->env = rh_alloc((size_t)n, sizeof *home->env);
    if (!home->env)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    for (home->nmember = 0; home->nmember < n; home->nmember++) {
        rh_status rc = rh_model_env(&home->env[home->nmember], model, home->nmember, NULL, err);
        if (rc)
            return rc;
    }
    return RH_OK;
}

void rh_home__clear(rh_home *home)
{
    for (int i = 0; i < home->nmember; i++)
        rh_env_destroy(home->env[i]);
    rh_free((void *)home->env);
    rh_model_destroy(home->owned);
    *home = (rh_home){0};
}

// FNV-1a, over the bytes of x (n).
static uint64_t mix(uint64_t hash, const double *x, int n)
{
    unsigned char byte[sizeof *x];
    for (int i = 0; i < n; i++) {
        memcpy(byte, &x[i], sizeof byte);
        for (size_t k = 0; k < sizeof byte; k++)
            hash = (hash ^ byte[k]) * UINT64_C(1099511628211);
    }
    return hash;
}

static void act_by_chance(const rh_task *task, rh_rng *rng, double *act)
{
    if (task->naction) {
        act[0] = rh_rng_below(rng, (uint32_t)task->naction);
        return;
    }
    for (int k = 0; k < task->nact; k++)
        act[k] = rh_rng_range(rng, task->act_lo[k], task->act_hi[k]);
}

uint64_t rh_home__fingerprint(const rh_home *home)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int m = 0; m < home->nmember; m++) {
        const rh_env *env = home->env[m];
        const rh_task *task = rh_env_task(env);
        rh_luck luck = {rh_rng_stream(0, RH_STREAM_START, (uint64_t)m, 0),
                        rh_rng_stream(0, RH_STREAM_NOISE, (uint64_t)m, 0)};
        rh_rng rng = rh_rng_stream(0, RH_STREAM_AGENT, (uint64_t)m, 0);
        double obs[RH_MAX_OBS], act[RH_MAX_ACT], reward;
        void *state = rh_alloc(1, rh_env_state_size(env));
        if (!state)
            return 0;
        rh_env_start(env, state, &luck, obs);
        for (int i = 0; i < WALK; i++) {
            act_by_chance(task, &rng, act);
            bool ends = rh_env_step(env, state, act, &luck, obs, &reward);
            hash = mix(mix(hash, obs, task->nobs), &reward, 1);
            if (ends)
                rh_env_start(env, state, &luck, obs);
        }
        rh_free(state);
    }
    return hash ? hash : 1;
}
