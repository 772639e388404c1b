// registry.c - the agents by name: the built-in ones in alphabetical order, then those that
// were registered, in order. A new built-in one needs a line here.

#include "agent_internal.h"
#include "base/base_internal.h"

RH_KIND__REGISTRY(agent, "agent", &rh_agent_actor_critic, &rh_agent_clone, &rh_agent_dqn,
                  &rh_agent_esarsa, &rh_agent_gaussian_actor_critic, &rh_agent_ppo,
                  &rh_agent_practised, &rh_agent_random, &rh_agent_sac, &rh_agent_td3);

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
    if (!type->policy != !type->take)
        return rh_kind__missing("agent", type->name, "both policy and take, or neither", err);
    if (!type->actions || (type->actions & ~(unsigned)(RH_DISCRETE | RH_CONTINUOUS)))
        return rh_fail(err, RH_EINVAL,
                       "agent %s: actions = %u, expected RH_DISCRETE, RH_CONTINUOUS or both",
                       type->name, type->actions);
    return RH_OK;
}

rh_status rh_agent_register(const rh_agent_type *type, rh_error *err)
{
    rh_status rc = check(type, err);
    return rc ? rc : rh_kind__add(&kinds, type, err);
}
