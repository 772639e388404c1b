// agent.h - learning agents, by name.
//
// Each is one file in src/agent/ and one line in src/agent/registry.c. What it learns and its
// hyperparameters are told by its rh_agent_type (contract.h).

#ifndef REHEARSE_AGENT_H
#define REHEARSE_AGENT_H

#include "rehearse/contract.h"

RH_API int rh_agent_ntype(void);
RH_API const rh_agent_type *rh_agent_type_at(int i); // 0 .. rh_agent_ntype() - 1

// The agent called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_agent_type *rh_agent_find(const char *name, rh_error *err);

#endif
