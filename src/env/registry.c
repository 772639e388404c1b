// registry.c - the simulators by name: the built-in ones in alphabetical order, then those that
// were registered, in order. A new built-in one needs a line here.
//
// Kinds are only added, never moved, and the count is written last: reading needs no lock.

#include "rehearse/env.h"

#include "base/base_internal.h"
#include "env_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static const rh_env_type *const built_in[] = {
    &rh_env_acrobot,  &rh_env_cartpole,     &rh_env_mountain_car,
    &rh_env_pendulum, &rh_env_puddle_world,
};

enum { NBUILT_IN = sizeof built_in / sizeof built_in[0] };

static const rh_env_type *added[RH_MAX_KIND];
static atomic_int nadded;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

const char *const rh_env__start_name[2] = {
    [RH_ENV_START_NORMAL] = "normal",
    [RH_ENV_START_RANDOM] = "random",
};

int rh_env_ntype(void)
{
    return NBUILT_IN + atomic_load(&nadded);
}

const rh_env_type *rh_env_type_at(int i)
{
    if (i < 0 || i >= rh_env_ntype())
        return NULL;
    return i < NBUILT_IN ? built_in[i] : added[i - NBUILT_IN];
}

const rh_env_type *rh_env_find(const char *name, rh_error *err)
{
    const char *known[NBUILT_IN + RH_MAX_KIND];
    int n = rh_env_ntype();
    for (int i = 0; i < n; i++) {
        known[i] = rh_env_type_at(i)->name;
        if (strcmp(known[i], name) == 0)
            return rh_env_type_at(i);
    }
    rh_unknown(err, "no environment", name, known, n);
    return NULL;
}

// ---------------------------------------------------------------------------- from outside

static rh_status check(const rh_env_type *type, rh_error *err)
{
    if (!type)
        return rh_fail(err, RH_EINVAL, "environment: NULL, expected a kind of environment");
    rh_status rc = rh_kind__check_name("environment", type->name, type->about, err);
    if (!rc)
        rc = rh_kind__check_params("environment", type->name, type->param, type->nparam, err);
    if (rc)
        return rc;
    if (!(type->init || type->init_with) || !type->start || !type->step)
        return rh_kind__missing("environment", type->name, "init, start and step", err);
    if (!type->fixed_obs != !type->obs_index)
        return rh_kind__missing("environment", type->name,
                                "both fixed_obs and obs_index, or neither", err);
    if (type->ngrid < 0 || (type->ngrid > 0 && !type->grid))
        return rh_fail(err, RH_EINVAL,
                       "environment %s: %d axes of grids, expected 0 or more in a table",
                       type->name, type->ngrid);
    return RH_OK;
}

rh_status rh_env_register(const rh_env_type *type, rh_error *err)
{
    rh_status rc = check(type, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&adding);
    int n = atomic_load(&nadded);
    if (rh_env_find(type->name, NULL))
        rc = rh_fail(err, RH_EINVAL,
                     "environment %s: there is one of this name, expected another", type->name);
    else if (n == RH_MAX_KIND)
        rc = rh_fail(err, RH_EINVAL,
                     "environment %s: expected at most %d registered "
                     "environments",
                     type->name, RH_MAX_KIND);
    else {
        added[n] = type;
        atomic_store(&nadded, n + 1);
    }
    pthread_mutex_unlock(&adding);
    return rc;
}
