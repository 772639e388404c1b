// mixed.c - the members of a model as one environment: each episode is in a member drawn anew.
//
// Members differ where the log says little. What an agent learns in all of them does not hang
// on the errors of one (domain randomisation: Tobin et al. 2017).

#include "base/base.h"
#include "base/text.h"
#include "model.h"

#include <stdint.h>

enum { ALIGNED = 64 }; // bytes before the member's state, which are this one's

typedef struct mixed {
    rh_env *env[RH_MAX_MEMBER]; // owned  (n)
    int n;
} mixed;

static const rh_env *member_of(const mixed *m, const void *state)
{
    return m->env[*(const int32_t *)state];
}

static void *inner(const void *state)
{
    return (char *)(uintptr_t)state + ALIGNED;
}

static void begin(const void *self, void *state, rh_streams *streams, double *obs)
{
    const mixed *m = self;
    *(int32_t *)state = (int32_t)rh_rng_below(&streams->start, (uint32_t)m->n);
    rh_env_start(member_of(m, state), inner(state), streams, obs);
}

static bool step(const void *self, void *state, const double *act, rh_streams *streams,
                 double *obs, double *reward)
{
    return rh_env_step(member_of(self, state), inner(state), act, streams, obs, reward);
}

static bool uncovered(const void *self, const void *state)
{
    return rh_contract__env_uncovered(member_of(self, state), inner(state));
}

static const char *reason(const void *self, const void *state)
{
    return rh_contract__env_reason(member_of(self, state), inner(state));
}

static void clear(void *self)
{
    mixed *m = self;
    for (int i = 0; i < m->n; i++)
        rh_env_destroy(m->env[i]);
}

static const rh_env_type type = {
    .name = "members of a model",
    .about = "each episode is in a member drawn anew",
    .start = begin,
    .step = step,
    .uncovered = uncovered,
    .clear = clear,
    .reason = reason,
};

rh_status rh_model__mixed_env(rh_env **out, const rh_model *model, rh_error *err)
{
    mixed *m = rh_alloc(1, sizeof *m);
    size_t size = 0;
    rh_status rc = m ? RH_OK : rh_base__no_memory(err, type.name);
    while (!rc && m->n < rh_model_nmember(model)) {
        rc = rh_model_env(&m->env[m->n], model, m->n, NULL, err);
        if (rc)
            break;
        size_t own = rh_env_state_size(m->env[m->n++]);
        size = own > size ? own : size;
    }
    if (!rc)
        rc = rh_env_adopt(out, &type, rh_env_task(m->env[0]), NULL, m, ALIGNED + size, err);
    if (rc && m) {
        clear(m);
        rh_free(m);
    }
    return rc;
}
