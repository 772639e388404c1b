// registry.c - the simulators by name: the built-in ones in alphabetical order, then those that
// were registered, in order. A new built-in one needs a line here.

#include "rehearse/env.h"

#include "base/base_internal.h"
#include "env_internal.h"

RH_KIND__REGISTRY(env, "environment", &rh_env_acrobot, &rh_env_cartpole, &rh_env_mountain_car,
                  &rh_env_pendulum, &rh_env_puddle_world);

const char *const rh_env__start_name[2] = {
    [RH_ENV_START_NORMAL] = "normal",
    [RH_ENV_START_RANDOM] = "random",
};

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
    return rc ? rc : rh_kind__add(&kinds, type, err);
}
