// registry.c - the agents by name: the built-in ones in alphabetical order, then those that
// were registered, in order. A new built-in one needs a line here.
//
// Kinds are only added, never moved, and the count is written last: reading needs no lock.

#include "agent_internal.h"
#include "base/base_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static const rh_agent_type *const built_in[] = {
    &rh_agent_actor_critic,
    &rh_agent_esarsa,
    &rh_agent_gaussian_actor_critic,
    &rh_agent_random,
};

enum { NBUILT_IN = sizeof built_in / sizeof *built_in };

static const rh_agent_type *added[RH_MAX_KIND];
static atomic_int nadded;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

int rh_agent_ntype(void)
{
    return NBUILT_IN + atomic_load(&nadded);
}

const rh_agent_type *rh_agent_type_at(int i)
{
    if (i < 0 || i >= rh_agent_ntype())
        return NULL;
    return i < NBUILT_IN ? built_in[i] : added[i - NBUILT_IN];
}

const rh_agent_type *rh_agent_find(const char *name, rh_error *err)
{
    const char *names[NBUILT_IN + RH_MAX_KIND];
    int n = rh_agent_ntype();
    for (int i = 0; i < n; i++) {
        names[i] = rh_agent_type_at(i)->name;
        if (strcmp(name, names[i]) == 0)
            return rh_agent_type_at(i);
    }
    rh_unknown(err, "no agent", name, names, n);
    return NULL;
}

// ---------------------------------------------------------------------------- from outside

static rh_status check(const rh_agent_type *type, rh_error *err)
{
    if (!type)
        return rh_fail(err, RH_EINVAL, "agent: NULL, expected a kind of agent");
    rh_status rc = rh_kind__check_name("agent", type->name, type->about, err);
    if (!rc)
        rc = rh_kind__check_params("agent", type->name, type->param, type->nparam, err);
    if (rc)
        return rc;
    if (!(type->init || type->init_with) || !type->start || !type->step || !type->end ||
        !type->act)
        return rh_kind__missing("agent", type->name, "init, start, step, end and act", err);
    if (!type->make_cache != !type->use_cache || !type->make_cache != !type->look_up)
        return rh_kind__missing("agent", type->name,
                                "all of make_cache, use_cache and look_up, or none", err);
    if (!type->save != !type->load)
        return rh_kind__missing("agent", type->name, "both save and load, or neither", err);
    if (!type->actions || (type->actions & ~(unsigned)(RH_DISCRETE | RH_CONTINUOUS)))
        return rh_fail(err, RH_EINVAL,
                       "agent %s: actions = %u, expected RH_DISCRETE, RH_CONTINUOUS or both",
                       type->name, type->actions);
    return RH_OK;
}

rh_status rh_agent_register(const rh_agent_type *type, rh_error *err)
{
    rh_status rc = check(type, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&adding);
    int n = atomic_load(&nadded);
    if (rh_agent_find(type->name, NULL))
        rc = rh_fail(err, RH_EINVAL, "agent %s: there is one of this name, expected another",
                     type->name);
    else if (n == RH_MAX_KIND)
        rc = rh_fail(err, RH_EINVAL, "agent %s: expected at most %d registered agents",
                     type->name, RH_MAX_KIND);
    else {
        added[n] = type;
        atomic_store(&nadded, n + 1);
    }
    pthread_mutex_unlock(&adding);
    return rc;
}
