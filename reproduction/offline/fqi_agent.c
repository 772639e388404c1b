// fqi_agent.c - the learned policy as an agent: epsilon-greedy, and it never learns.
//
// As in the paper's code, the first of equal actions is the greedy one. The values are those of
// the fit, ranges of the sensors included; the task of a run only has to have the same shape.

#include "base/text.h"
#include "offline_internal.h"

typedef struct policy {
    const rh_fqi *fqi; // borrowed
    double epsilon;
    void *scratch; // owned: of one observation
    double *q;     // owned: its values  (naction)
} policy;

static const rh_param policy_param[] = {
    {"epsilon", "share of uniformly random actions", .lo = 0.0, .hi = 1.0, .initial = 0.1},
};

static rh_status policy_init(const void *context, void *self, const rh_task *task,
                             const double *hp, rh_error *err)
{
    const rh_fqi *fqi = context;
    policy *p = self;
    if (task->nobs != fqi->nobs || task->naction != fqi->naction)
        return rh_fail(err, RH_EINVAL,
                       "fqi: a task of %d sensors and %d actions, expected %d and %d as in the "
                       "log",
                       task->nobs, task->naction, fqi->nobs, fqi->naction);
    p->fqi = fqi;
    p->epsilon = hp[0];
    p->scratch = rh_alloc(1, fqi->form->nscratch(fqi));
    p->q = rh_alloc((size_t)fqi->naction, sizeof *p->q);
    return p->scratch && p->q ? RH_OK : rh_base__no_memory(err, "fqi");
}

static void policy_clear(void *self)
{
    policy *p = self;
    rh_free(p->scratch);
    rh_free(p->q);
}

static bool policy_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    policy *p = self;
    const rh_fqi *fqi = p->fqi;
    fqi->form->values(fqi, obs, p->scratch, p->q);
    int best = 0;
    for (int a = 1; a < fqi->naction; a++)
        best = p->q[a] > p->q[best] ? a : best;
    bool explores = rh_rng_uniform(rng) < p->epsilon;
    act[0] = explores ? (double)rh_rng_below(rng, (uint32_t)fqi->naction) : best;
    return rh_base__all_finite(p->q, fqi->naction);
}

static bool policy_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)reward;
    return policy_act(self, obs, rng, act);
}

static bool policy_end(void *self, double reward)
{
    (void)self;
    (void)reward;
    return true;
}

void rh_fqi__make_agent(rh_fqi *fqi)
{
    fqi->agent = (rh_agent_type){
        .name = "fqi",
        .about = "policy of fitted Q iteration, epsilon-greedy, learns nothing",
        .actions = RH_DISCRETE,
        .self_size = sizeof(policy),
        .param = policy_param,
        .nparam = 1,
        .init_with = policy_init,
        .context = fqi,
        .start = policy_act,
        .step = policy_step,
        .end = policy_end,
        .act = policy_act,
        .clear = policy_clear,
    };
}

const rh_agent_type *rh_fqi_agent(const rh_fqi *fqi)
{
    return &fqi->agent;
}
