// members.c - the environments of one stage: one per member of its model.

#include "study_internal.h"

#include <string.h>

#define WALK 1000 // steps of the fingerprint, per member

rh_status rh_members__open(rh_members *members, const rh_model *model, rh_error *err)
{
    int n = rh_model_nmember(model);
    members->model = model;
    members->env = rh_alloc((size_t)n, sizeof *members->env);
    if (!members->env)
        return rh_base__no_memory(err, "study");
    for (members->nmember = 0; members->nmember < n; members->nmember++) {
        rh_status rc =
            rh_model_env(&members->env[members->nmember], model, members->nmember, NULL, err);
        if (rc)
            return rc;
    }
    return RH_OK;
}

void rh_members__clear(rh_members *members)
{
    for (int i = 0; i < members->nmember; i++)
        rh_env_destroy(members->env[i]);
    rh_free((void *)members->env);
    rh_model_destroy(members->owned);
    *members = (rh_members){0};
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

static void act_at_random(const rh_task *task, rh_rng *rng, double *act)
{
    if (task->naction) {
        act[0] = rh_rng_below(rng, (uint32_t)task->naction);
        return;
    }
    for (int k = 0; k < task->nact; k++)
        act[k] = rh_rng_range(rng, task->act_lo[k], task->act_hi[k]);
}

uint64_t rh_members__fingerprint(const rh_members *members)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int m = 0; m < members->nmember; m++) {
        const rh_env *env = members->env[m];
        const rh_task *task = rh_env_task(env);
        rh_streams streams = {rh_rng_stream(0, RH_STREAM_START, (uint64_t)m, 0),
                              rh_rng_stream(0, RH_STREAM_NOISE, (uint64_t)m, 0)};
        rh_rng rng = rh_rng_stream(0, RH_STREAM_AGENT, (uint64_t)m, 0);
        double obs[RH_MAX_OBS], act[RH_MAX_ACT], reward;
        void *state = rh_alloc(1, rh_env_state_size(env));
        if (!state)
            return 0;
        rh_env_start(env, state, &streams, obs);
        for (int i = 0; i < WALK; i++) {
            act_at_random(task, &rng, act);
            bool ends = rh_env_step(env, state, act, &streams, obs, &reward);
            hash = mix(mix(hash, obs, task->nobs), &reward, 1);
            if (ends)
                rh_env_start(env, state, &streams, obs);
        }
        rh_free(state);
    }
    return hash ? hash : 1;
}
