// agent_internal.h - shared by the files of the agent module.

#ifndef AGENT_INTERNAL_H
#define AGENT_INTERNAL_H

#include "rehearse/agent.h"
#include "tiles.h"

extern const rh_agent_type rh_agent_actor_critic;
extern const rh_agent_type rh_agent_clone;
extern const rh_agent_type rh_agent_dqn;
extern const rh_agent_type rh_agent_esarsa;
extern const rh_agent_type rh_agent_gaussian_actor_critic;
extern const rh_agent_type rh_agent_ppo;
extern const rh_agent_type rh_agent_practised;
extern const rh_agent_type rh_agent_random;
extern const rh_agent_type rh_agent_sac;
extern const rh_agent_type rh_agent_td3;

// ---------------------------------------------------------------------------- tile coder

extern const char *const rh_agent__tile_modes[]; // in order of rh_tiles_mode

// The tile coder's rows of a parameter table; the three indices are consecutive.
#define RH_AGENT__TILE_PARAMS(TILINGS, TILES, FEATURES)                                        \
    [TILINGS] = {"tilings",     "tilings of each group of sensors",                            \
                 .lo = 1,       .hi = 64,                                                      \
                 .initial = 16, .whole = true,                                                 \
                 .fixed = true},                                                               \
    [TILES] = {"tiles",      "tiles across a sensor's range",                                  \
               .lo = 1,      .hi = 256,                                                        \
               .initial = 8, .whole = true,                                                    \
               .fixed = true},                                                                 \
    [FEATURES] = {                                                                             \
        "features",                                                                            \
        "groups of sensors that are tiled: singles and pairs, singles, or all jointly",        \
        .hi = RH_TILES_JOINT, .fixed = true, .choice = rh_agent__tile_modes}

// ---------------------------------------------------------------------------- feature caches

// The active features of every fixed observation: computed once, then only read.
typedef struct rh_tile_cache {
    int64_t stride;             // numbers from one row to the next
    _Alignas(64) int32_t row[]; // features, padded to whole cache lines  (n x stride)
} rh_tile_cache;

// Compute the features of the fixed observations obs (n x nobs). *out stays NULL, with RH_OK,
// when the cache would be larger than `most` bytes. Owned: *out, free with rh_free().
rh_status rh_tile_cache__create(rh_tile_cache **out, const rh_tiles *tiles, const double *obs,
                                int32_t n, size_t most, const char *owner, rh_error *err);

const int32_t *rh_tile_cache__row(const rh_tile_cache *cache, int32_t index);

// ---------------------------------------------------------------------------- a linear critic

// A linear state value on tile features, learned by one-step TD with plain gradient descent.
typedef struct rh_critic {
    rh_tiles *tiles; // owned
    double gamma;
    double alpha;
    double *w;                  // owned: weights                            (nfeature)
    int32_t *list[2];           // owned: memory of now and next without a cache  (nactive)
    const int32_t *now, *next;  // active features of s and of s'                 (nactive)
    const rh_tile_cache *cache; // borrowed, or NULL
    int32_t index;              // of the next observation, with a cache
    double discount;            // gamma^t since the episode began
} rh_critic;

// The tile coder's hyperparameters arrive in tile[3]: tilings, tiles, features.
rh_status rh_critic__init(rh_critic *critic, const rh_task *task, double alpha,
                          const double *tile, const char *owner, rh_error *err);
void rh_critic__clear(rh_critic *critic);

// make_cache and use_cache of agents with such a critic.
rh_status rh_critic__make_cache(void **cache, const rh_task *task, const double *tile,
                                const double *obs, int32_t n, size_t most, const char *owner,
                                rh_error *err);
void rh_critic__use_cache(rh_critic *critic, const rh_tile_cache *cache);

// Save and load the critic's weights and the actor's (n).
rh_status rh_critic__save(const rh_critic *critic, const double *theta, size_t n,
                          rh_state *state, rh_error *err);
rh_status rh_critic__load(rh_critic *critic, double *theta, size_t n, const rh_state *state,
                          rh_error *err);

// The active features of obs, valid until the next call; critic->now does not change.
const int32_t *rh_critic__features(rh_critic *critic, const double *obs);

void rh_critic__start(rh_critic *critic, const double *obs);

// Learn from a step, or from the last one of an episode, and return the TD error. critic->now
// is still s, so an actor can learn from the same error. Then advance to s'.
double rh_critic__step(rh_critic *critic, double reward, const double *obs);
double rh_critic__end(rh_critic *critic, double reward);
void rh_critic__advance(rh_critic *critic);

#endif
