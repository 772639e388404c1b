// base.h - what other modules of the library use of base beside its public headers.

#ifndef RH_BASE_H
#define RH_BASE_H

#include "rehearse/contract.h"

// Fail with "<what> '<word>'; did you mean '...'? (all known words)", where `what` is "no
// agent" or similar.
rh_status rh_base__unknown(rh_error *err, const char *what, const char *word,
                           const char *const *known, int nknown);
uint64_t rh_rng__bits(rh_rng *rng);                   // 64 random bits
int64_t rh_contract__prior_width(int nobs, int nact); // numbers in a row of rh_prior
void rh_maths__sincos(double x, double *sine, double *cosine);

// RH_OK, or a message that names the parameter, the value and the range.
rh_status rh_param__check(const rh_param *param, int nparam, const char *owner,
                          const double *value, rh_error *err);

// The value as a user would write it: shortest digits that read back, or the choice's name.
void rh_param__format(const rh_param *param, double value, char *text, size_t size);

// Why the last start or step gave numbers that are not finite, in one line; NULL: no known
// reason. Borrowed until the next call.
const char *rh_contract__env_reason(const rh_env *env, const void *state);

// Why the last start, step, end or act of an agent returned false, in one line; NULL: a number
// was no longer finite. These also return false after an action that the task does not have.
// Borrowed until the next call.
const char *rh_contract__agent_reason(rh_agent *agent);

const rh_env_type *rh_contract__env_type(const rh_env *env);
const double *rh_contract__env_options(const rh_env *env); // (nparam)

// The same for n states `stride` bytes apart, with their streams (n) and actions (n x nact).
void rh_contract__env_step_many(const rh_env *env, int n, void *state, size_t stride,
                                const double *act, rh_streams *streams, double *obs,
                                double *reward, bool *terminal);

// The fixed observations of the environment (n x nobs), borrowed from it, or NULL. Where there
// are some: the index of the one that the last start or step returned.
const double *rh_contract__env_fixed_obs(const rh_env *env, int32_t *n);
int32_t rh_contract__env_obs_index(const rh_env *env, const void *state);

// Whether the last step was out of coverage; false for environments without coverage.
bool rh_contract__env_uncovered(const rh_env *env, const void *state);

// Owned: *out, free with rh_state_destroy(). Nullable: err.
rh_status rh_state__create(rh_state **out, rh_error *err);

// The array called `name` and its length, borrowed from state; NULL when there is none.
const double *rh_state__doubles(const rh_state *state, const char *name, size_t *n);

// How many arrays there are; the i-th in the order they were put, borrowed from state. NULL:
// what the library itself saved in another type.
int rh_state__count(const rh_state *state);
const double *rh_state__at(const rh_state *state, int i, const char **name, size_t *n);

// rh_state_write() of a new file that nobody but its owner can read.
rh_status rh_state__write_private(const rh_state *state, const char *path, rh_error *err);

// One word about its origin, such as the agent's name, at most 31 characters.
rh_status rh_state__set_label(rh_state *state, const char *label, rh_error *err);
const char *rh_state__label(const rh_state *state);

// Begin another run, as if the agent had been created again, and reuse its memory. On failure
// the agent can only be destroyed. Nullable: hp, err.
rh_status rh_contract__agent_reset(rh_agent *agent, const rh_task *task, const double *hp,
                                   rh_error *err);
const rh_agent_type *rh_contract__agent_type(const rh_agent *agent);
const void *rh_contract__agent_self(const rh_agent *agent); // of the agent's kind; borrowed
// The features of the fixed observations obs (n x nobs) of an environment, computed once for
// agents of one kind, task and set of fixed parameters. *out becomes NULL, with RH_OK, when the
// kind has no cache or would need more than `most` bytes. Owned: *out, free with
// rh_feature_cache__destroy(). Nullable: hp, err.
typedef struct rh_feature_cache rh_feature_cache;
rh_status rh_feature_cache__create(rh_feature_cache **out, const rh_agent_type *type,
                                   const rh_task *task, const double *hp, const double *obs,
                                   int32_t n, size_t most, rh_error *err);
void rh_feature_cache__destroy(rh_feature_cache *cache); // NULL is allowed

// Use a cache until the next rh_contract__agent_reset(). The caller then names the index of the
// observation before every start and step. Borrowed: cache. NULL: stop using a cache.
void rh_contract__agent_use_cache(rh_agent *agent, const rh_feature_cache *cache);
void rh_contract__agent_look_up(rh_agent *agent, int32_t index);

// The probabilities pi (naction) from which the last start or step drew its action. False, with
// pi left untouched, where the kind does not tell them or actions are continuous.
bool rh_contract__agent_policy(const rh_agent *agent, double *pi);

// Replace the action of the last start or step, as if the agent had drawn this one. Without
// effect where rh_contract__agent_policy() returns false.
void rh_contract__agent_take(rh_agent *agent, int action);
// Somebody took act in place of the agent's last action. False: it cannot learn from that.
bool rh_contract__agent_took(rh_agent *agent, const double *act);

#endif
