// contract.h - what an environment and an agent promise, and the handles that hold them to it.
//
// A kind (rh_env_type, rh_agent_type) is one constant in one file, listed in its room's
// registry. A handle (rh_env, rh_agent) is an instance. An environment is fixed once created
// and then only read, so that many threads may live in it at the same time: whatever changes
// during a run is in the caller's state block. `eval` sees nothing but these contracts, so it
// cannot tell a simulator from a calibration model.

#ifndef REHEARSE_CONTRACT_H
#define REHEARSE_CONTRACT_H

#include "rehearse/base.h"

#define RH_MAX_OBS 256    // sensors of an observation
#define RH_MAX_ACT 32     // numbers of a continuous action
#define RH_MAX_MEMBER 256 // models of one environment

// ---------------------------------------------------------------------------- parameters

typedef enum rh_scale { RH_LINEAR, RH_LOG } rh_scale;

// One tunable number. The table an environment or agent keeps of these is the only place a
// parameter is described: command line, help, table columns and search spaces read it.
typedef struct rh_param {
    const char *name;
    const char *about;         // one line, with the unit
    double lo, hi;             // accepted, both ends included
    double initial;            // value when none is given
    rh_scale scale;            // how values are spread when searched
    bool whole;                // whole numbers only
    bool fixed;                // part of the construction: not searched unless asked for
    double usual_lo, usual_hi; // what is searched where nobody says; equal: it is left alone
    const char *const *choice; // names of the values 0, 1, ... hi; NULL for a number
} rh_param;

RH_API void rh_param_initial(const rh_param *param, int nparam, double *value);
RH_API int rh_param_find(const rh_param *param, int nparam, const char *name); // or -1

// One value as the user writes it: a number or the name of a choice. `owner` opens the message.
RH_API rh_status rh_param_parse(const rh_param *param, const char *owner, const char *text,
                                double *value, rh_error *err);

// Index of the parameter called `name`, or a message with the nearest name and the list.
RH_API rh_status rh_param_lookup(const rh_param *param, int nparam, const char *owner,
                                 const char *name, int *index, rh_error *err);

// RH_OK, or a message that names the parameter, the value and the range.
RH_API rh_status rh_param_check(const rh_param *param, int nparam, const char *owner,
                                const double *value, rh_error *err);

// The value as a user would write it: shortest digits that read back, or the choice's name.
RH_API void rh_param_format(const rh_param *param, double value, char *text, size_t size);

// One axis of a published grid: the values of one parameter of one agent.
typedef struct rh_axis {
    const char *grid;  // "paper", ...
    const char *agent; // which agent it is for
    const char *param;
    int nvalue;
    double value[8];
} rh_axis;

// ---------------------------------------------------------------------------- the task

// What an agent may know of an environment before its first step.
typedef struct rh_task {
    int nobs;                         // sensors
    int naction;                      // discrete actions; 0 when actions are vectors of reals
    int nact;                         // numbers in an action: 1 (its index) when discrete
    bool continuing;                  // episodes never end
    double gamma;                     // discount
    double reward_lo;                 // lowest reward of a step; -INFINITY when not known
    int64_t nstep;                    // usual length of a run
    const char *obs_name[RH_MAX_OBS]; // borrowed from the environment
    double obs_lo[RH_MAX_OBS];        // usual range of each sensor: what agents scale by,
    double obs_hi[RH_MAX_OBS];        // not a promise
    double act_lo[RH_MAX_ACT];        // bounds of a continuous action
    double act_hi[RH_MAX_ACT];
} rh_task;

// ---------------------------------------------------------------------------- environments

// The environment's chance. Starts have a stream of their own: the n-th start of a run is the
// same for every setting, whatever happened in between.
typedef struct rh_streams {
    rh_rng start;
    rh_rng noise;
} rh_streams;

typedef struct rh_env_type {
    const char *name;
    const char *about;     // one line
    size_t self_size;      // bytes of what stays the same in all runs
    size_t state_size;     // bytes of what changes during a run; blocks are aligned to 64
    const rh_param *param; // options                       (nparam)
    int nparam;
    const rh_axis *grid; // published grids                 (ngrid)
    int ngrid;

    // Fill self and task from the options opt (nparam), already checked against the table. Both
    // arrive zeroed, but for task's gamma = 1 and reward_lo = -INFINITY. Nullable: err.
    rh_status (*init)(void *self, rh_task *task, const double *opt, rh_error *err);

    // Begin an episode: fill state and obs (nobs).
    void (*start)(const void *self, void *state, rh_streams *streams, double *obs);

    // One step. act: the action's index, or its vector (nact). True when obs is terminal.
    bool (*step)(const void *self, void *state, const double *act, rh_streams *streams,
                 double *obs, double *reward);

    // Where every observation is one of a fixed set, the fixed observations: all of them (n x
    // nobs), and the number of the one that the last start or step has shown. Both NULL
    // elsewhere.
    const double *(*fixed_obs)(const void *self, int32_t *n);
    int32_t (*obs_index)(const void *self, const void *state);

    // Whether nothing is known of what the last step led to: a model's guess, out of reach of
    // its log. NULL where that cannot be.
    bool (*uncovered)(const void *self, const void *state);

    // Release what init took; also called when init failed half-way. NULL when
    // there is nothing.
    void (*clear)(void *self);
} rh_env_type;

typedef struct rh_env rh_env;

// An environment with options opt (nparam). Owned: *out, free with rh_env_destroy().
// Nullable: opt (all initial values), err. On failure *out is left untouched.
RH_API rh_status rh_env_create(rh_env **out, const rh_env_type *type, const double *opt,
                               rh_error *err);
RH_API void rh_env_destroy(rh_env *env); // NULL is allowed

// An environment out of a self made elsewhere, such as a fitted model: type->init is not
// called, state blocks have state_size bytes. Owned: *out, and by it self, which rh_alloc()
// made; on failure self stays the caller's. Copied: task, opt (nparam). Nullable: err.
RH_API rh_status rh_env_adopt(rh_env **out, const rh_env_type *type, const rh_task *task,
                              const double *opt, void *self, size_t state_size, rh_error *err);

RH_API const rh_env_type *rh_env_kind(const rh_env *env);
RH_API const rh_task *rh_env_task(const rh_env *env);
RH_API const double *rh_env_options(const rh_env *env); // (nparam)
RH_API size_t rh_env_state_size(const rh_env *env);
RH_API void rh_env_start(const rh_env *env, void *state, rh_streams *streams, double *obs);
RH_API bool rh_env_step(const rh_env *env, void *state, const double *act, rh_streams *streams,
                        double *obs, double *reward);

// All that the environment ever shows (n x nobs), borrowed from it; NULL when that is not a
// fixed set. And which of them the last start or step has shown, where there are some.
RH_API const double *rh_env_fixed_obs(const rh_env *env, int32_t *n);
RH_API int32_t rh_env_obs_index(const rh_env *env, const void *state);

// Whether the last step was into the unknown; false where there is no such thing.
RH_API bool rh_env_uncovered(const rh_env *env, const void *state);

// ---------------------------------------------------------------------------- learned state

// Named arrays of doubles: what an agent has learned, in memory or in a file.
typedef struct rh_state rh_state;

// Owned: *out, free with rh_state_destroy(). Nullable: err.
RH_API rh_status rh_state_create(rh_state **out, rh_error *err);
RH_API void rh_state_destroy(rh_state *state); // NULL is allowed

// Add a copy of x (n) under a name not used yet, at most 31 characters.
RH_API rh_status rh_state_put(rh_state *state, const char *name, const double *x, size_t n,
                              rh_error *err);

// Copy the array called `name` to x (n); a missing one, or another length, is refused.
RH_API rh_status rh_state_get(const rh_state *state, const char *name, double *x, size_t n,
                              rh_error *err);

// The array called `name` and its length, borrowed from state; NULL when there is none.
RH_API const double *rh_state_find(const rh_state *state, const char *name, size_t *n);

// How many arrays there are; the i-th in the order they were put, borrowed from state.
RH_API int rh_state_count(const rh_state *state);
RH_API const double *rh_state_at(const rh_state *state, int i, const char **name, size_t *n);

// One word about where it comes from (an agent's name), at most 31 characters.
RH_API rh_status rh_state_set_label(rh_state *state, const char *label, rh_error *err);
RH_API const char *rh_state_label(const rh_state *state);

// Write to a temporary name, sync, rename: the file is whole or absent. Little-endian, with a
// version and a checksum.
RH_API rh_status rh_state_write(const rh_state *state, const char *path, rh_error *err);
RH_API rh_status rh_state_read(rh_state **out, const char *path, rh_error *err);

// ---------------------------------------------------------------------------- agents

typedef enum rh_actions { RH_DISCRETE = 1, RH_CONTINUOUS = 2 } rh_actions;

typedef struct rh_agent_type {
    const char *name;
    const char *about;     // one line
    unsigned actions;      // which it can take: RH_DISCRETE, RH_CONTINUOUS or both
    size_t self_size;      // bytes of self, allocated zeroed by the handle
    const rh_param *param; // hyperparameters               (nparam)
    int nparam;

    // Begin a run with hyperparameters hp (nparam), already checked against the table.
    // Nullable: err.
    rh_status (*init)(void *self, const rh_task *task, const double *hp, rh_error *err);

    // Begin another run in memory that has served one: all is as after clear and init, which
    // do it where this is NULL. May fail like init.
    rh_status (*reset)(void *self, const rh_task *task, const double *hp, rh_error *err);

    // First action of an episode; then one action per step, learning from the step just made.
    // act: the action's index, or its vector (nact). False once a number is no longer finite.
    bool (*start)(void *self, const double *obs, rh_rng *rng, double *act);
    bool (*step)(void *self, double reward, const double *obs, rh_rng *rng, double *act);

    // Last reward, on reaching a terminal state. A truncated episode never gets here.
    bool (*end)(void *self, double reward);

    // The policy alone: choose an action, learn nothing.
    bool (*act)(void *self, const double *obs, rh_rng *rng, double *act);

    // Agents that see observations through features alone can have those of fixed observation
    // (n x nobs) worked out ahead: one block from rh_alloc() into *feature cache, which agents
    // of one task and equal fixed parameters share and only read. *feature cache stays NULL,
    // with RH_OK, when it would need more than `most` bytes. Results are the same with and
    // without. All three NULL for others.
    rh_status (*make_cache)(void **cache, const rh_task *task, const double *hp,
                            const double *entry, int32_t n, size_t most, rh_error *err);
    void (*use_cache)(void *self, const void *cache);
    void (*look_up)(void *self, int32_t entry); // what obs is in the next start, step or act

    // What was learned, as named arrays. NULL when the agent never learns.
    rh_status (*save)(void *self, rh_state *state, rh_error *err);
    rh_status (*load)(void *self, const rh_state *state, rh_error *err);

    // Release what init took; also called when init failed half-way. NULL when
    // there is nothing.
    void (*clear)(void *self);
} rh_agent_type;

typedef struct rh_agent rh_agent;

// An agent at the beginning of its run. Copied: task, hp. Nullable: hp (all initial values),
// err. Owned: *out, free with rh_agent_destroy(). On failure *out is left untouched.
RH_API rh_status rh_agent_create(rh_agent **out, const rh_agent_type *type, const rh_task *task,
                                 const double *hp, rh_error *err);
RH_API void rh_agent_destroy(rh_agent *agent); // NULL is allowed

// The agent at the beginning of another run, as if it had been created anew; its memory serves
// again. When this fails, all that is left to do is to destroy it. Nullable: hp, err.
RH_API rh_status rh_agent_reset(rh_agent *agent, const rh_task *task, const double *hp,
                                rh_error *err);

RH_API const rh_agent_type *rh_agent_kind(const rh_agent *agent);

// What agents of one kind, task and construction see in every fixed observation (n x nobs) of
// an environment, worked out once. *out becomes NULL, with RH_OK, where the kind has no use for
// it or would need more than `most` bytes. Owned: *out, free with rh_feature_cache_destroy().
// Nullable: hp, err.
typedef struct rh_feature_cache rh_feature_cache;
RH_API rh_status rh_feature_cache_create(rh_feature_cache **out, const rh_agent_type *type,
                                         const rh_task *task, const double *hp,
                                         const double *entry, int32_t n, size_t most,
                                         rh_error *err);
RH_API void rh_feature_cache_destroy(rh_feature_cache *cache); // NULL is allowed

// From here to its next run the agent is told fixed observations: before every start and step,
// the number of the observation. Borrowed: feature cache, until then. NULL: no more fixed
// observations are told.
RH_API void rh_agent_use_cache(rh_agent *agent, const rh_feature_cache *cache);
RH_API void rh_agent_look_up(rh_agent *agent, int32_t entry);

// A frozen agent acts and does not learn. To be called between episodes.
RH_API void rh_agent_freeze(rh_agent *agent, bool frozen);

RH_API bool rh_agent_start(rh_agent *agent, const double *obs, rh_rng *rng, double *act);
RH_API bool rh_agent_step(rh_agent *agent, double reward, const double *obs, rh_rng *rng,
                          double *act);
RH_API bool rh_agent_end(rh_agent *agent, double reward);

// What was learned, with the agent's name and hyperparameters; and back again, into an agent of
// the same kind, task shape and construction. To be called between episodes.
// Owned: *out, free with rh_state_destroy(). Nullable: err.
RH_API rh_status rh_agent_save(rh_agent *agent, rh_state **out, rh_error *err);
RH_API rh_status rh_agent_load(rh_agent *agent, const rh_state *state, rh_error *err);

#endif
