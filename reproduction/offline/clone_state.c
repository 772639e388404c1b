// clone_state.c - a clone as the initial action values of an agent.
//
//     w[i, a] = w_init / tilings + strength * tau * theta[i, a]
//
// so that the softmax of q / tau is that of strength * preference, whatever w_init is: the
// initial weights raise the values of all actions alike.
//
// The state is saved by a new agent, and only its weights are changed: it has the agent's name,
// its hyperparameters, and the moments of an agent that has learned nothing.

#include "base/base.h"
#include "base/text.h"
#include "offline_internal.h"

#include <math.h>
#include <string.h>

// The features of the agent must be those of the clone.
static rh_status check_features(const rh_clone *clone, const rh_agent_type *type,
                                const rh_task *task, const double *hp, rh_error *err)
{
    if (task->nobs != clone->nobs || task->naction != clone->naction)
        return rh_fail(err, RH_EINVAL,
                       "clone: a task of %d sensors and %d actions, expected %d and %d as in "
                       "the log",
                       task->nobs, task->naction, clone->nobs, clone->naction);
    for (int i = 0; i < 3; i++) {
        int at = rh_param_find(type->param, type->nparam, rh_clone__tile_param[i]);
        const rh_param *param = &type->param[at];
        if (hp[at] == clone->tile[i])
            continue;
        char is[32], was[32];
        rh_param__format(param, hp[at], is, sizeof is);
        rh_param__format(param, clone->tile[i], was, sizeof was);
        return rh_fail(err, RH_EINVAL, "clone: %s = %s, expected %s as when it was learned",
                       param->name, is, was);
    }
    return RH_OK;
}

// Add by * theta to the weights w (nfeature x naction).
static void raise_weights(const rh_clone *clone, double by, double *w)
{
    for (int32_t i = 0; i < rh_tiles_nfeature(clone->tiles); i++)
        for (int a = 0; a < clone->naction; a++)
            *w++ += by * clone->theta[(int64_t)i * clone->nlane + a];
}

// Copy a saved state with other weights.
static rh_status copy_state(rh_state **out, const rh_state *from, const double *w,
                            rh_error *err)
{
    rh_state *state = NULL;
    rh_status rc = rh_state__create(&state, err);
    if (!rc)
        rc = rh_state__set_label(state, rh_state__label(from), err);
    for (int i = 0; !rc && i < rh_state__count(from); i++) {
        const char *name;
        size_t n;
        const double *x = rh_state__at(from, i, &name, &n);
        rc = rh_state_put(state, name, strcmp(name, "w") == 0 ? w : x, n, err);
    }
    if (rc)
        rh_state_destroy(state);
    else
        *out = state;
    return rc;
}

rh_status rh_clone_state(rh_state **out, const rh_clone *clone, const rh_task *task,
                         const double *hp, double strength, rh_error *err)
{
    const rh_agent_type *type = rh_agent_find("esarsa", err);
    double value[RH_MAX_PARAM], *w = NULL;
    rh_agent *agent = NULL;
    rh_state *saved = NULL;
    size_t n = (size_t)rh_tiles_nfeature(clone->tiles) * (size_t)clone->naction;
    rh_param_initial(type->param, type->nparam, value);
    hp = hp ? hp : value;
    if (!isfinite(strength))
        return rh_fail(err, RH_EINVAL, "clone: strength = %g, expected a finite number",
                       strength);
    rh_status rc = check_features(clone, type, task, hp, err);
    if (rc)
        goto done;
    rc = rh_agent_create(&agent, type, task, hp, err);
    if (rc)
        goto done;
    rc = rh_agent_save(agent, &saved, err);
    if (rc)
        goto done;
    w = rh_alloc(n, sizeof *w);
    if (!w) {
        rc = rh_base__no_memory(err, "clone");
        goto done;
    }
    rc = rh_state_get(saved, "w", w, n, err);
    if (rc)
        goto done;
    raise_weights(clone, strength * hp[rh_param_find(type->param, type->nparam, "tau")], w);
    rc = copy_state(out, saved, w, err);

done:
    rh_free(w);
    rh_state_destroy(saved);
    rh_agent_destroy(agent);
    return rc;
}
