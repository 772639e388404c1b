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

extern const char *const rh_agent__tile_modes[]; // in order of rh_tiles_mode

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

// ---------------------------------------------------------------------------- a linear critic

// A linear state value on tile features, learned by one-step TD with plain gradient descent.
typedef struct rh_critic {
    rh_tiles *tiles; // owned
    double gamma;
    double alpha;
    double *w;           // owned: weights                            (nfeature)
    int32_t *now, *next; // owned: active features of s and of s'     (nactive)
    double discount;     // gamma^t since the episode began
} rh_critic;

rh_status rh_critic__init(rh_critic *critic, const rh_task *task, double alpha, int ntiling,
                          int ntile, rh_tiles_mode mode, const char *owner, rh_error *err);
void rh_critic__clear(rh_critic *critic);

// Begin an episode at obs.
void rh_critic__start(rh_critic *critic, const double *obs);

// Learn from a step, or from the last one of an episode, and return the TD error. critic->now
// still is s, so that an actor can learn from the same error; then move on to s'.
double rh_critic__step(rh_critic *critic, double reward, const double *obs);
double rh_critic__end(rh_critic *critic, double reward);
void rh_critic__advance(rh_critic *critic);

#endif
