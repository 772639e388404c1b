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

// ---------------------------------------------------------------------------- many copies

// Copies of one environment that are stepped together. Each has its own random streams and its
// own episode.
typedef struct rh_copies rh_copies;

// n copies, 1 or more, of which none has begun an episode; copy i has the streams of seed i. An
// episode is truncated after `cutoff` steps, 1 or more; INT64_MAX: never. Borrowed: env, must
// outlive *out. Owned: *out, free with rh_copies_destroy(). Nullable: err. On failure *out is
// left untouched.
RH_API rh_status rh_copies_create(rh_copies **out, const rh_env *env, int n, int64_t cutoff,
                                  rh_error *err);
RH_API void rh_copies_destroy(rh_copies *copies); // NULL is allowed

// Give copy i, 0 .. n - 1, the random streams of a seed.
RH_API void rh_copies_seed(rh_copies *copies, int i, uint64_t seed);

// Begin an episode in all copies, or in those with which[i] != 0; the rows of the others in obs
// (n x nobs) are unchanged. Nullable: which (n).
RH_API void rh_copies_start(rh_copies *copies, const uint8_t *which, double *obs);

// One step of every copy. A copy whose episode ended with the step before, or that has not
// begun one, begins an episode instead: its action is ignored and its reward is 0. In a
// continuing task only the cut-off ends episodes. act: (n x nact), obs: (n x nobs), reward,
// terminal, truncated: (n).
RH_API void rh_copies_step(rh_copies *copies, const double *act, double *obs, double *reward,
                           bool *terminal, bool *truncated);

// How many copies made a last step out of coverage; which (n): those. Nullable: which.
RH_API int rh_copies_uncovered(const rh_copies *copies, bool *which);

// Why a copy gave numbers that are not finite; as rh_contract__env_reason().
RH_API const char *rh_copies_reason(const rh_copies *copies, int i);

#endif
