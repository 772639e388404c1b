// fixed_obs_env.h - a test environment with a fixed set of observations. An action and a random
// number lead from one to another. Options hide the set, or make one observation NAN.

#ifndef FIXED_OBS_ENV_H
#define FIXED_OBS_ENV_H

#include "rehearse/contract.h"

#include <math.h>
#include <string.h>

enum { NFIXED_OBS = 300, NSENSOR = 3 };
enum { FEW_ACTIONS, MANY_ACTIONS, VECTORS, NACTIONS };
enum { ACTIONS, HIDDEN, DAMAGED, FIXED_OBS_NPARAM };

static const rh_param fixed_obs_env_param[FIXED_OBS_NPARAM] = {
    [ACTIONS] = {"actions", "", .hi = NACTIONS - 1},
    [HIDDEN] = {"hidden", "", .hi = 1},
    [DAMAGED] = {"damaged", "", .hi = NFIXED_OBS}, // which one is NAN, from 1; 0: none
};

typedef struct fixed_obs_env {
    double fixed_obs[NFIXED_OBS * NSENSOR];
    const double *shown; // borrowed: these, or those of another environment
    bool vectors, hidden;
} fixed_obs_env;

static rh_status fixed_obs_env_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)err;
    fixed_obs_env *g = self;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 9, 9);
    for (int i = 0; i < NFIXED_OBS * NSENSOR; i++)
        g->fixed_obs[i] = rh_rng_range(&rng, -1.2, 1.2); // also outside the usual range
    if (opt[DAMAGED] > 0)
        g->fixed_obs[((int)opt[DAMAGED] - 1) * NSENSOR + 1] = NAN;
    g->shown = g->fixed_obs;
    g->vectors = opt[ACTIONS] == VECTORS;
    g->hidden = opt[HIDDEN] > 0;
    task->nobs = NSENSOR;
    for (int i = 0; i < NSENSOR; i++) {
        task->obs_name[i] = "sensor";
        task->obs_lo[i] = -1.0;
        task->obs_hi[i] = 1.0;
    }
    static const int naction[] = {[FEW_ACTIONS] = 3, [MANY_ACTIONS] = 6, [VECTORS] = 0};
    task->naction = naction[(int)opt[ACTIONS]];
    task->nact = g->vectors ? 2 : 1;
    for (int k = 0; k < task->nact; k++) {
        task->act_lo[k] = -1.0;
        task->act_hi[k] = 2.0;
    }
    task->gamma = 0.95;
    task->reward_lo = -2.2;
    task->nstep = 2000;
    return RH_OK;
}

static void show_fixed_obs(const fixed_obs_env *g, void *state, int32_t i, double *obs)
{
    *(int32_t *)state = i;
    memcpy(obs, g->shown + (ptrdiff_t)i * NSENSOR, NSENSOR * sizeof *obs);
}

static void fixed_obs_env_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    show_fixed_obs(self, state, (int32_t)rh_rng_below(&streams->start, NFIXED_OBS), obs);
}

static bool fixed_obs_env_step(const void *self, void *state, const double *act,
                               rh_streams *streams, double *obs, double *reward)
{
    const fixed_obs_env *g = self;
    int32_t from = *(int32_t *)state;
    int way = (int)floor(g->vectors ? 4.0 * (act[0] + act[1] + 2.0) : act[0]);
    uint32_t noise = rh_rng_below(&streams->noise, 4);
    show_fixed_obs(g, state, (from * 7 + way * 31 + (int)noise) % NFIXED_OBS, obs);
    *reward = -1.0 + obs[0];
    return *(int32_t *)state % 29 == 0;
}

static const double *fixed_obs_env_all(const void *self, int32_t *n)
{
    const fixed_obs_env *g = self;
    *n = g->hidden ? 0 : NFIXED_OBS;
    return g->hidden ? NULL : g->shown;
}

static int32_t fixed_obs_env_index(const void *self, const void *state)
{
    (void)self;
    return *(const int32_t *)state;
}

static const rh_env_type fixed_obs_env_type = {
    .name = "fixed_obs_env",
    .self_size = sizeof(fixed_obs_env),
    .state_size = sizeof(int32_t),
    .param = fixed_obs_env_param,
    .nparam = FIXED_OBS_NPARAM,
    .init = fixed_obs_env_init,
    .start = fixed_obs_env_start,
    .step = fixed_obs_env_step,
    .fixed_obs = fixed_obs_env_all,
    .obs_index = fixed_obs_env_index,
};

#endif
