// members.c - the environments of one stage: one per member of its models.

#include "model/model.h"
#include "study_internal.h"

#include <string.h>

#define WALK 1000 // steps of the fingerprint, per member

rh_status rh_members__open(rh_members *members, const rh_model *model, rh_error *err)
{
    int n = rh_model_nmember(model), all = members->nmember + n;
    if (members->nkind == RH_KINDS__MOST)
        return rh_fail(err, RH_EINVAL, "study: more than %d kinds of model", RH_KINDS__MOST);
    rh_env **env = rh_alloc((size_t)all, sizeof *env);
    if (!env)
        return rh_base__no_memory(err, "study");
    if (members->nmember)
        memcpy((void *)env, (const void *)members->env, (size_t)members->nmember * sizeof *env);
    rh_free((void *)members->env);
    members->env = env;
    members->model[members->nkind++] = model;
    for (int i = 0; i < n; i++) {
        rh_status rc = rh_model_env(&env[members->nmember], model, i, NULL, err);
        if (rc)
            return rc;
        members->nmember++;
    }
    return RH_OK;
}

rh_status rh_members__own(rh_members *members, rh_model *model, rh_error *err)
{
    int at = members->nkind;
    rh_status rc = rh_members__open(members, model, err);
    if (members->nkind > at)
        members->owned[at] = model; // environments borrow from it
    else
        rh_model_destroy(model);
    return rc;
}

void rh_members__clear(rh_members *members)
{
    for (int i = 0; i < members->nmember; i++)
        rh_env_destroy(members->env[i]);
    rh_free((void *)members->env);
    for (int k = 0; k < members->nkind; k++)
        rh_model_destroy(members->owned[k]);
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

static bool fails(const void *rule, const double *obs, double reward, bool terminal)
{
    return rh_failure_step(rule, obs, reward, terminal);
}

void rh_members__watch(const rh_members *members, rh_eval_options *opt)
{
    const rh_failure *rule = members->nkind ? rh_model__failure(members->model[0]) : NULL;
    opt->fails = rule && rule->known ? fails : NULL;
    opt->rule = rule;
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
