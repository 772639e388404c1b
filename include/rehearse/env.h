// env.h - simulators, by name.
//
// Each is one file in src/env/ and one line in src/env/registry.c. Its rh_env_type (contract.h)
// describes its options.

#ifndef REHEARSE_ENV_H
#define REHEARSE_ENV_H

#include "rehearse/contract.h"

RH_API int rh_env_ntype(void);
RH_API const rh_env_type *rh_env_type_at(int i); // NULL unless 0 <= i < rh_env_ntype()

// The simulator called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_env_type *rh_env_find(const char *name, rh_error *err);

// Register a kind of environment, which is then found, listed and used like the built-in ones,
// after them. A name that is taken, a missing function or a parameter table that breaks the
// rules of rh_param is refused. Any thread may call this; kinds are not removed.
// Borrowed: type, until the program ends. Nullable: err.
RH_API rh_status rh_env_register(const rh_env_type *type, rh_error *err);

#endif
