// agent.h - learning agents, by name.
//
// Each is one file in src/agent/ and one line in src/agent/registry.c. Its rh_agent_type
// (contract.h) describes its hyperparameters.

#ifndef REHEARSE_AGENT_H
#define REHEARSE_AGENT_H

#include "rehearse/contract.h"

RH_API int rh_agent_ntype(void);
RH_API const rh_agent_type *rh_agent_type_at(int i); // NULL unless 0 <= i < rh_agent_ntype()

// The agent called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_agent_type *rh_agent_find(const char *name, rh_error *err);

#endif
