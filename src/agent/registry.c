// registry.c - the agents by name, in alphabetical order. A new one needs a line here.

#include "agent_internal.h"

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
    return i >= 0 && i < NTYPE ? type[i] : NULL;
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
