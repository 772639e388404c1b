// registry.c - the agents there are, one line each, in alphabetical order.

#include "agent_internal.h"

#include <assert.h>
#include <string.h>

static const rh_agent_type *const type[] = {
    &rh_agent_actor_critic,
    &rh_agent_esarsa,
    &rh_agent_gaussian_actor_critic,
    &rh_agent_random,
};

enum { NTYPE = sizeof type / sizeof *type };

int rh_agent_ntype(void)
{
    return NTYPE;
}

const rh_agent_type *rh_agent_type_at(int i)
{
    assert(i >= 0 && i < NTYPE);
    return type[i];
}

const rh_agent_type *rh_agent_find(const char *name, rh_error *err)
{
    const char *names[NTYPE];
    for (int i = 0; i < NTYPE; i++) {
        names[i] = type[i]->name;
        if (strcmp(name, names[i]) == 0)
            return type[i];
    }
    rh_unknown(err, "no agent", name, names, NTYPE);
    return NULL;
}
