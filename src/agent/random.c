// random.c - the uniform policy: learns nothing, the baseline for every comparison.

#include "agent_internal.h"

typedef struct uniform {
    int naction, nact;
    double lo[RH_MAX_ACT], hi[RH_MAX_ACT]; // bounds of a continuous action  (nact)
} uniform;

static rh_status random_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    (void)hp;
    (void)err;
    uniform *u = self;
    u->naction = task->naction;
    u->nact = task->nact;
    for (int i = 0; i < task->nact; i++) {
        u->lo[i] = task->act_lo[i];
        u->hi[i] = task->act_hi[i];
    }
    return RH_OK;
}

static bool random_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    (void)obs;
    const uniform *u = self;
    if (u->naction)
        act[0] = rh_rng_below(rng, (uint32_t)u->naction);
    else
        for (int i = 0; i < u->nact; i++)
            act[i] = rh_rng_range(rng, u->lo[i], u->hi[i]);
    return true;
}

static bool random_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)reward;
    return random_act(self, obs, rng, act);
}

static bool random_end(void *self, double reward)
{
    (void)self;
    (void)reward;
    return true;
}

static void random_policy(const void *self, double *pi)
{
    const uniform *u = self;
    for (int a = 0; a < u->naction; a++)
        pi[a] = 1.0 / u->naction;
}

static void random_take(void *self, int action)
{
    (void)self;
    (void)action;
}

const rh_agent_type rh_agent_random = {
    .name = "random",
    .about = "uniform over the actions, learns nothing",
    .actions = RH_DISCRETE | RH_CONTINUOUS,
    .self_size = sizeof(uniform),
    .init = random_init,
    .start = random_act,
    .step = random_step,
    .end = random_end,
    .act = random_act,
    .policy = random_policy,
    .take = random_take,
};
