// env.h - simulators, by name.
//
// Each is one file in src/env/ and one line in src/env/registry.c. What it simulates, its
// constants and its options are told by its rh_env_type (contract.h).

#ifndef REHEARSE_ENV_H
#define REHEARSE_ENV_H

#include "rehearse/contract.h"

RH_API int rh_env_ntype(void);
RH_API const rh_env_type *rh_env_type_at(int i); // 0 .. rh_env_ntype() - 1

// The simulator called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_env_type *rh_env_find(const char *name, rh_error *err);

#endif
