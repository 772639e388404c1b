// agent_internal.h - what the files of the agent room share.

#ifndef AGENT_INTERNAL_H
#define AGENT_INTERNAL_H

#include "rehearse/agent.h"
#include "tiles.h"

extern const rh_agent_type rh_agent_actor_critic;
extern const rh_agent_type rh_agent_esarsa;
extern const rh_agent_type rh_agent_gaussian_actor_critic;
extern const rh_agent_type rh_agent_random;

// ---------------------------------------------------------------------------- policies

// Softmax of q / tau into pi (n), as the paper's code has it: 1e-8 is added to the sum, and the
// last action takes what the others leave.
void rh_agent__softmax(const double *q, int n, double tau, double *pi);

// An action drawn from pi (n), by one draw.
int rh_agent__draw(const double *pi, int n, rh_rng *rng);

// ---------------------------------------------------------------------------- tile coder

extern const char *const rh_agent__tile_modes[]; // in order of rh_tiles__mode

// The tile coder's part of a parameter table.
#define RH_AGENT__TILE_PARAMS(TILINGS, TILES, FEATURES)                                        \
    [TILINGS] = {"tilings",     "tilings of each group of sensors",                            \
                 .lo = 1,       .hi = 64,                                                      \
                 .initial = 16, .whole = true,                                                 \
                 .fixed = true},                                                               \
    [TILES] = {"tiles",      "tiles across a sensor's range",                                  \
               .lo = 1,      .hi = 256,                                                        \
               .initial = 8, .whole = true,                                                    \
               .fixed = true},                                                                 \
    [FEATURES] = {"features",                                                                  \
                  "groups that are tiled: singles and pairs, singles, or all jointly",         \
                  .hi = RH_TILES_JOINT, .fixed = true, .choice = rh_agent__tile_modes}

// ---------------------------------------------------------------------------- feature caches

// The active features of every fixed observation, worked out once and only read from then on.
typedef struct rh_page {
    int64_t stride;             // numbers from one fixed observation's row to the next
    _Alignas(64) int32_t row[]; // features, and room for whole lines  (n x stride)
} rh_page;

// The page of fixed observation (n x nobs) in one block, or NULL with RH_OK when it would be
// larger than `most` bytes. Owned: *out, free with rh_free().
rh_status rh_page__create(rh_page **out, const rh_tiles *tiles, const double *entry, int32_t n,
                          size_t most, const char *owner, rh_error *err);

const int32_t *rh_page__row(const rh_page *page, int32_t entry);

// ---------------------------------------------------------------------------- a linear critic

// A linear state value on tile features, learned by one-step TD with plain gradient descent.
typedef struct rh_critic {
    rh_tiles *tiles; // owned
    double gamma;
    double alpha;
    double *w;                 // owned: weights                            (nfeature)
    int32_t *list[2];          // owned: what now and next are when there is no page (nactive)
    const int32_t *now, *next; // active features of s and of s'            (nactive)
    const rh_page *page; // borrowed: the features of every fixed observation; NULL: worked out
    int32_t entry;       // what the next observation is
    double discount;     // gamma^t since the episode began
} rh_critic;

rh_status rh_critic__init(rh_critic *critic, const rh_task *task, double alpha, int ntiling,
                          int ntile, rh_tiles__mode mode, const char *owner, rh_error *err);
void rh_critic__clear(rh_critic *critic);

// A page for critics built like this, and its use.
rh_status rh_critic__make_cache(void **cache, const rh_task *task, int ntiling, int ntile,
                                rh_tiles__mode mode, const double *entry, int32_t n,
                                size_t most, const char *owner, rh_error *err);
void rh_critic__use(rh_critic *critic, const rh_page *page);

// The active features of obs, good until the next call. What now is stays as it is.
const int32_t *rh_critic__see(rh_critic *critic, const double *obs);

// Begin an episode at obs.
void rh_critic__start(rh_critic *critic, const double *obs);

// Learn from a step, or from the last one of an episode, and return the TD error. critic->now
// still is s, so that an actor can learn from the same error; then move on to s'.
double rh_critic__step(rh_critic *critic, double reward, const double *obs);
double rh_critic__end(rh_critic *critic, double reward);
void rh_critic__advance(rh_critic *critic);

#endif
