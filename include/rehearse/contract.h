// contract.h - what every environment and every agent must provide.
//
// A kind (rh_env_type, rh_agent_type) is one constant in one file, listed in its module's
// registry, or registered by another program or a plug-in (plugin.h). A handle (rh_env,
// rh_agent) is an instance of a kind. An environment does not change once created, so many
// threads can use it at the same time; everything that changes during a run is in the caller's
// state block. `eval` uses these contracts only and cannot tell a simulator from a calibration
// model.
//
// The comments of rh_param, rh_task, rh_env_type and rh_agent_type list all requirements.
// tests/env/test_registry.c and tests/agent/test_registry.c check them for every registered
// kind and name the kind that fails.

#ifndef REHEARSE_CONTRACT_H
#define REHEARSE_CONTRACT_H

#include "rehearse/base.h"

#define RH_MAX_OBS 256    // sensors of an observation
#define RH_MAX_ACT 32     // numbers of a continuous action
#define RH_MAX_MEMBER 256 // models of one environment
#define RH_MAX_PARAM 64   // parameters of a kind
#define RH_MAX_KIND 64    // kinds that can be registered, of agents and of environments

// ---------------------------------------------------------------------------- parameters

typedef enum rh_scale { RH_LINEAR, RH_LOG } rh_scale;

// One tunable number. The parameter table of a kind is the only place that describes a
// parameter: the command line, help, table columns and search spaces read it.
//
// Required: a name that is unique in the table, about, and lo <= initial <= hi. The usual range
// is the default search range. It lies within lo and hi, contains initial, and starts above 0
// on a log scale. Of a choice it has the choices that are searched. It stays empty
// (usual_lo == usual_hi) for fixed parameters.
typedef struct rh_param {
    const char *name;
    const char *about;         // one line, with the unit
    double lo, hi;             // accepted values, both ends included
    double initial;            // default value
    rh_scale scale;            // how a search spreads values
    bool whole;                // whole numbers only
    bool fixed;                // decides how the agent is built; searched only on request
    double usual_lo, usual_hi; // default search range; equal: not searched by default
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

// One axis of a published grid: the values of one parameter of one agent.
typedef struct rh_axis {
    const char *grid;  // "paper", ...
    const char *agent; // which agent it is for
    const char *param;
    int nvalue;
    double value[8];
} rh_axis;

// ---------------------------------------------------------------------------- the task

// Logged steps that an agent may begin with, in order. A row has
//
//     s (nobs), action (nact), reward, s' (nobs), end
//
// all finite. end: 0, the next row goes on from s'; 1, s' is terminal; 2, the episode was
// truncated in s', or the rows that followed are not here.
//
// Behind the logged rows there may be rows of practice: steps of an agent that was trained in a
// model of these rows, and then acted in it without learning.
typedef struct rh_prior {
    int64_t n;         // logged rows; 0: none
    const double *row; // borrowed         ((n + npractice) x (2 nobs + nact + 2))
    int64_t npractice; // rows of practice; 0: none
} rh_prior;

// The parameter of agents that can begin with prior, and its values: with nothing, with the
// logged rows, with a clone of their controller, with a clone of the practice.
#define RH_START_PARAM "start"
enum { RH_START_NONE, RH_START_LOG, RH_START_CLONED, RH_START_MODEL };

// Which sensors tile coders use: each of these alone, and these pairs. In ascending order.
#define RH_TILED_SENSORS 12
#define RH_TILED_PAIRS 15
typedef struct rh_tiled {
    int nsensor; // 0: all sensors, and all pairs
    int npair;
    int16_t sensor[RH_TILED_SENSORS];
    int16_t pair[RH_TILED_PAIRS][2];
} rh_tiled;

// What an agent knows about an environment before its first step.
//
// reward_lo may stay -INFINITY. A finite bound gives runs that break down a finite score: the
// score of nstep steps at the lowest reward. Without one, their score is -INFINITY.
typedef struct rh_task {
    int nobs;                         // sensors, 1 to RH_MAX_OBS
    int naction;                      // discrete actions; 0 for continuous actions
    int nact;                         // numbers in an action: 1 (its index) when discrete
    bool continuing;                  // episodes never end
    double gamma;                     // discount, 0 to 1
    double reward_lo;                 // no step has a lower reward; -INFINITY: no known bound
    int64_t nstep;                    // usual length of a run, 1 or more; an agent in a run is
                                      // told the length of this run
    const char *obs_name[RH_MAX_OBS]; // sensor names, all different; borrowed
    double obs_lo[RH_MAX_OBS];        // usual range of each sensor, finite, lo < hi. Agents
    double obs_hi[RH_MAX_OBS];        // scale by it; observations may lie outside
    double act_lo[RH_MAX_ACT];        // bounds of a continuous action, lo < hi
    double act_hi[RH_MAX_ACT];
    rh_prior prior; // what was logged before; agents that can begin with it do
    rh_tiled tiled; // chosen from a log with many sensors
} rh_task;

// ---------------------------------------------------------------------------- environments

// The random streams of an environment. Starts have their own stream, so the n-th start of a
// run is the same for every setting, whatever happened in between.
typedef struct rh_streams {
    rh_rng start;
    rh_rng noise;
} rh_streams;

// A kind of environment. Every environment must
//
// 1. draw random numbers from the given streams only: the same streams and actions give the
//    same run, bit for bit. start() draws from streams->start only, and consecutive starts
//    differ;
// 2. allocate nothing in start() and step();
// 3. give finite observations and rewards for every accepted option and action, rewards not
//    below the task's reward_lo. Where two options contradict each other, init() fails with a
//    message that names one of them;
// 4. never return true from step() in a continuing task.
//
// Two option names have a meaning elsewhere; both are optional. `gamma` sets the discount of
// the task. `start` has the choices "normal" and "random" (rh_env__start_name), where random
// spreads the starts widely; `collect --restarts random` uses it.
typedef struct rh_env_type {
    const char *name;
    const char *about;     // one line
    size_t self_size;      // bytes of self, which does not change after init
    size_t state_size;     // bytes of the state of a run; blocks are aligned to 64
    const rh_param *param; // options                       (nparam)
    int nparam;
    const rh_axis *grid; // published grids: values ascending, accepted by the agent (ngrid)
    int ngrid;

    // Fill self and task from the options opt (nparam), which are within their ranges. Both
    // arrive zeroed, except for task's gamma = 1 and reward_lo = -INFINITY. Nullable: err.
    rh_status (*init)(void *self, rh_task *task, const double *opt, rh_error *err);

    // Begin an episode: fill state and obs (nobs).
    void (*start)(const void *self, void *state, rh_streams *streams, double *obs);

    // One step. act: the action's index, or its vector (nact). Returns true when obs is
    // terminal.
    bool (*step)(const void *self, void *state, const double *act, rh_streams *streams,
                 double *obs, double *reward);

    // For environments that show a fixed set of observations: the whole set (n x nobs), and the
    // index of the observation that the last start or step returned. Otherwise both NULL.
    const double *(*fixed_obs)(const void *self, int32_t *n);
    int32_t (*obs_index)(const void *self, const void *state);

    // Whether the last step was out of coverage: a model has no transition of its log near
    // enough. NULL: never.
    bool (*uncovered)(const void *self, const void *state);

    // Release what init took, also after a failed init. NULL: nothing to release.
    void (*clear)(void *self);

    // Instead of init, for kinds that share their functions: the same with `context`. NULL:
    // init is called.
    rh_status (*init_with)(const void *context, void *self, rh_task *task, const double *opt,
                           rh_error *err);
    const void *context; // borrowed

    // Why the last start or step gave numbers that are not finite, in one line; may return
    // NULL. Borrowed until the next call. NULL: there is no other reason.
    const char *(*reason)(const void *self, const void *state);

    // One step of n states, with the results of n calls of step. State i is `i * stride` bytes
    // after `state`, its streams are streams[i]; act (n x nact) is legal, obs (n x nobs),
    // reward and terminal (n). NULL: step is called for each.
    void (*step_many)(const void *self, int n, void *state, size_t stride, const double *act,
                      rh_streams *streams, double *obs, double *reward, bool *terminal);
} rh_env_type;

typedef struct rh_env rh_env;

// Create an environment with options opt (nparam). Owned: *out, free with rh_env_destroy().
// Nullable: opt (all initial values), err. On failure *out is left untouched.
RH_API rh_status rh_env_create(rh_env **out, const rh_env_type *type, const double *opt,
                               rh_error *err);
RH_API void rh_env_destroy(rh_env *env); // NULL is allowed

// Create an environment from an existing self, such as a fitted model. type->init is not
// called; state blocks have state_size bytes. Owned: *out, which takes over self (made by
// rh_alloc()); on failure the caller keeps self. Copied: task, opt (nparam). Nullable: err.
RH_API rh_status rh_env_adopt(rh_env **out, const rh_env_type *type, const rh_task *task,
                              const double *opt, void *self, size_t state_size, rh_error *err);

RH_API const rh_task *rh_env_task(const rh_env *env);
RH_API size_t rh_env_state_size(const rh_env *env);
RH_API void rh_env_start(const rh_env *env, void *state, rh_streams *streams, double *obs);
// A discrete action that the task does not have makes no step: *reward is NAN.
RH_API bool rh_env_step(const rh_env *env, void *state, const double *act, rh_streams *streams,
                        double *obs, double *reward);

// ---------------------------------------------------------------------------- learned state

// Named arrays of doubles: what an agent has learned, in memory or in a file.
typedef struct rh_state rh_state;

RH_API void rh_state_destroy(rh_state *state); // NULL is allowed

// Add a copy of x (n) under a name not used yet, at most 47 characters.
RH_API rh_status rh_state_put(rh_state *state, const char *name, const double *x, size_t n,
                              rh_error *err);

// Copy the array called `name` to x (n); a missing one, or another length, is refused.
RH_API rh_status rh_state_get(const rh_state *state, const char *name, double *x, size_t n,
                              rh_error *err);

// Write to a temporary name, sync, rename: the file is whole or absent. Little-endian, with a
// version and a checksum.
RH_API rh_status rh_state_write(const rh_state *state, const char *path, rh_error *err);
RH_API rh_status rh_state_read(rh_state **out, const char *path, rh_error *err);

// ---------------------------------------------------------------------------- agents

typedef enum rh_actions { RH_DISCRETE = 1, RH_CONTINUOUS = 2 } rh_actions;

// A kind of agent. Every agent must
//
// 1. draw random numbers from the given stream only: the same stream and observations give the
//    same actions, bit for bit;
// 2. allocate nothing in start(), step(), end() and act();
// 3. return finite actions: an index below naction, or a vector within act_lo and act_hi;
// 4. save every number that it learns: a loaded agent acts and learns as the saved one does,
//    and saving it again gives the same arrays;
// 5. behave after reset() exactly as after clear() and init();
// 6. give at least one parameter a usual range if it learns (save is not NULL), and none
//    otherwise.
//
// The rule of step sizes: an agent on tile features divides its step size by the number of
// tilings, so that a range that is good with 8 tilings is still good with 16. It does not
// divide by the number of active features. The `about` line of every step size says "divided by
// the number of tilings", or "not divided" where an agent keeps the numbers of a publication
// (the two actor-critics). With its initial hyperparameters an agent that learns does better
// than the random one.
typedef struct rh_agent_type {
    const char *name;
    const char *about;     // one line
    unsigned actions;      // supported: RH_DISCRETE, RH_CONTINUOUS or both
    size_t self_size;      // bytes of self, allocated zeroed by the handle
    const rh_param *param; // hyperparameters               (nparam)
    int nparam;

    // Begin a run with hyperparameters hp (nparam), which are within their ranges.
    // Nullable: err.
    rh_status (*init)(void *self, const rh_task *task, const double *hp, rh_error *err);

    // Begin another run in the same memory. NULL: clear and init are called instead. May fail
    // like init.
    rh_status (*reset)(void *self, const rh_task *task, const double *hp, rh_error *err);

    // The first action of an episode; then learn from one step and choose the next action.
    // act: the action's index, or its vector (nact). Return false when a number is no longer
    // finite.
    bool (*start)(void *self, const double *obs, rh_rng *rng, double *act);
    bool (*step)(void *self, double reward, const double *obs, rh_rng *rng, double *act);

    // Learn from the last reward, at a terminal state. Not called for a truncated episode.
    bool (*end)(void *self, double reward);

    // Choose an action without learning.
    bool (*act)(void *self, const double *obs, rh_rng *rng, double *act);

    // For agents that use observations only through features. make_cache computes the features
    // of the fixed observations obs (n x nobs) into one block from rh_alloc(), *cache. Agents
    // of the same task and equal fixed parameters share it read-only. *cache stays NULL, with
    // RH_OK, when it would need more than `most` bytes. Results must be the same with and
    // without a cache. All three NULL: no cache.
    rh_status (*make_cache)(void **cache, const rh_task *task, const double *hp,
                            const double *obs, int32_t n, size_t most, rh_error *err);
    void (*use_cache)(void *self, const void *cache);
    void (*look_up)(void *self, int32_t index); // which one obs of the next call is

    // What was learned, as named arrays. NULL for agents that do not learn.
    rh_status (*save)(void *self, rh_state *state, rh_error *err);
    rh_status (*load)(void *self, const rh_state *state, rh_error *err);

    // Release what init took, also after a failed init. NULL: nothing to release.
    void (*clear)(void *self);

    // Instead of init, for kinds that share their functions: the same with `context`. NULL:
    // init is called.
    rh_status (*init_with)(const void *context, void *self, const rh_task *task,
                           const double *hp, rh_error *err);
    const void *context; // borrowed

    // Why the last start, step, end or act returned false, in one line; may return NULL.
    // Borrowed until the next call. NULL: a number was no longer finite.
    const char *(*reason)(void *self);

    // Learn from the last step of a truncated episode, which led to obs. NULL: step is called
    // instead, and its action is not taken.
    bool (*truncate)(void *self, double reward, const double *obs);

    // For agents that draw discrete actions: the probabilities pi (naction) from which the last
    // start, step or act drew; and, right after start or step, another action in its place, as
    // if it had been drawn. Evaluators that choose among logged actions use them. An agent
    // whose last update already used its action cannot have them. Both NULL: none.
    void (*policy)(const void *self, double *pi);
    void (*take)(void *self, int action);

    // The next act begins an episode: called for a frozen agent, whose start is an act. For
    // agents that remember what came before in an episode. NULL: they do not.
    void (*begin)(void *self);

    // Right after start, step or act: act (nact) was taken in place of the chosen action, by
    // somebody else. What follows is learned from as that action's outcome. NULL: the agent
    // learns from its own actions only.
    void (*took)(void *self, const double *act);
} rh_agent_type;

typedef struct rh_agent rh_agent;

// Create an agent at the beginning of a run. Copied: task, hp. Nullable: hp (all initial
// values), err. Owned: *out, free with rh_agent_destroy(). On failure *out is left untouched.
RH_API rh_status rh_agent_create(rh_agent **out, const rh_agent_type *type, const rh_task *task,
                                 const double *hp, rh_error *err);
RH_API void rh_agent_destroy(rh_agent *agent); // NULL is allowed

// A frozen agent acts and does not learn. Call this between episodes.
RH_API void rh_agent_freeze(rh_agent *agent, bool frozen);

RH_API bool rh_agent_start(rh_agent *agent, const double *obs, rh_rng *rng, double *act);
RH_API bool rh_agent_step(rh_agent *agent, double reward, const double *obs, rh_rng *rng,
                          double *act);
RH_API bool rh_agent_end(rh_agent *agent, double reward);

// The last step of a truncated episode, instead of rh_agent_step(). act is scratch (nact).
RH_API bool rh_agent_truncate(rh_agent *agent, double reward, const double *obs, rh_rng *rng,
                              double *act);

// Save what was learned, with the agent's name and hyperparameters, and load it into an agent
// of the same kind, task shape, sensor ranges and fixed parameters. Call these between
// episodes. Owned: *out, free with rh_state_destroy(). Nullable: err.
RH_API rh_status rh_agent_save(rh_agent *agent, rh_state **out, rh_error *err);
RH_API rh_status rh_agent_load(rh_agent *agent, const rh_state *state, rh_error *err);

#endif
