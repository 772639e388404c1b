// registry.c - the simulators by name, in alphabetical order. A new one needs a line here.

#include "rehearse/env.h"

#include "env_internal.h"

#include <string.h>

static const rh_env_type *const type[] = {
    &rh_env_acrobot,  &rh_env_cartpole,     &rh_env_mountain_car,
    &rh_env_pendulum, &rh_env_puddle_world,
};

enum { NTYPE = sizeof type / sizeof type[0] };

const char *const rh_env__start_name[2] = {
    [RH_ENV_START_NORMAL] = "normal",
    [RH_ENV_START_RANDOM] = "random",
};

int rh_env_ntype(void)
{
    return NTYPE;
}

const rh_env_type *rh_env_type_at(int i)
{
    return i >= 0 && i < NTYPE ? type[i] : NULL;
}

const rh_env_type *rh_env_find(const char *name, rh_error *err)
{
    const char *known[NTYPE];
    for (int i = 0; i < NTYPE; i++) {
        known[i] = type[i]->name;
        if (strcmp(known[i], name) == 0)
            return type[i];
    }

    rh_unknown(err, "no environment", name, known, NTYPE);
    return NULL;
}
