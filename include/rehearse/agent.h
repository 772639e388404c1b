// agent.h - learning agents, by name.
//
// Each built-in one is one file in src/agent/ and one line in src/agent/registry.c. Its
// rh_agent_type (contract.h) describes its hyperparameters.

#ifndef REHEARSE_AGENT_H
#define REHEARSE_AGENT_H

#include "rehearse/contract.h"

RH_API int rh_agent_ntype(void);
RH_API const rh_agent_type *rh_agent_type_at(int i); // NULL unless 0 <= i < rh_agent_ntype()

// The agent called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_agent_type *rh_agent_find(const char *name, rh_error *err);

// Register a kind of agent, which is then found, listed and used like the built-in ones, after
// them. A name that is taken, a missing function or a parameter table that breaks the rules of
// rh_param is refused. Any thread may call this; kinds are not removed.
// Borrowed: type, until the program ends. Nullable: err.
RH_API rh_status rh_agent_register(const rh_agent_type *type, rh_error *err);

// ---------------------------------------------------------------------------- tile coder

// Turns an observation into active features: for each tiling of each group of sensors, the tile
// that the observation is in. Created once, then only read. examples/plugin/my_sarsa.c is
// an agent made of these parts.
typedef struct rh_tiles rh_tiles;

// Which groups of sensors have tilings of their own.
typedef enum rh_tiles_mode {
    RH_TILES_PAIRS,   // each sensor alone, and each pair
    RH_TILES_SINGLES, // each sensor alone
    RH_TILES_JOINT    // all sensors together
} rh_tiles_mode;

// Tiles over the task's sensor ranges: ntiling (1 to 64) tilings of ntile (1 to 256) tiles a
// sensor. `owner` opens messages. Owned: *out, free with rh_tiles_destroy(). Nullable: err. On
// failure *out is left untouched.
RH_API rh_status rh_tiles_create(rh_tiles **out, const rh_task *task, int ntiling, int ntile,
                                 rh_tiles_mode mode, const char *owner, rh_error *err);
RH_API void rh_tiles_destroy(rh_tiles *tiles); // NULL is allowed

RH_API int rh_tiles_nactive(const rh_tiles *tiles);      // features active at a time
RH_API int32_t rh_tiles_nfeature(const rh_tiles *tiles); // features in all

// Write the active features of obs (nobs) to active (nactive). Values outside the range of a
// sensor count as the nearest inside.
RH_API void rh_tiles_active(const rh_tiles *tiles, const double *obs, int32_t *active);

// ---------------------------------------------------------------------------- policies

// Softmax of q / tau into pi (n), tau > 0. The greatest q may be as large as it likes.
RH_API void rh_agent_softmax(const double *q, int n, double tau, double *pi);

// Draw an action from pi (n), with one random number.
RH_API int rh_agent_draw(const double *pi, int n, rh_rng *rng);

// ---------------------------------------------------------------------------- weights, traces

// Weights of (feature, action) that learn along replacing traces, by Adam or by gradient
// descent. Those with a trace are kept side by side, so that an update is one vector loop.
typedef struct rh_weights rh_weights;

typedef struct rh_weights_options {
    int32_t nfeature; // features in all
    int nactive;      // features active at a time
    int naction;      // actions
    bool plain;       // gradient descent instead of Adam
    double rate;      // step size of a weight, as it is: divide it by the tilings before
    double beta1;     // decay of Adam's momentum, 0 to below 1
    double beta2;     // decay of Adam's second moment, 0.5 to below 1
    double decay;     // of a trace, a step: discount times lambda
    unsigned cookie;  // set by rh_weights_defaults(), leave alone
} rh_weights_options;

// Adam with rate 0.1 / 16, beta1 = 0, beta2 = 0.999; traces end at once. The three numbers of
// features and actions are to be filled in.
RH_API rh_weights_options rh_weights_defaults(void);

// All weights are zero. `owner` opens messages. Owned: *out, free with rh_weights_destroy().
// Nullable: err. On failure *out is left untouched.
RH_API rh_status rh_weights_create(rh_weights **out, const rh_weights_options *opt,
                                   const char *owner, rh_error *err);
RH_API void rh_weights_destroy(rh_weights *weights); // NULL is allowed

// Lengths of a list of active features, and of the values of a state: padded for vector loops.
RH_API size_t rh_weights_nlist(const rh_weights *weights);
RH_API size_t rh_weights_nvalue(const rh_weights *weights);

// Prepare the active features list (nactive of nlist), in place, for the two calls below.
RH_API void rh_weights_prepare(const rh_weights *weights, int32_t *list);

// q (nvalue, of which naction are used) = sums of the weights of the active features.
RH_API void rh_weights_read(rh_weights *weights, const int32_t *list, double *q);

// Select the weights of this action among the features just read, for the next visit.
RH_API void rh_weights_aim(rh_weights *weights, const int32_t *list, int action);

// Set the traces of the selected weights to 1 and return the sum of these weights.
RH_API double rh_weights_visit(rh_weights *weights);

// Change every weight with a trace by the error delta, |delta| < 1e11; then decay the traces.
RH_API void rh_weights_learn(rh_weights *weights, double delta);

// Advance the clock that corrects Adam's bias, as rh_weights_learn() does itself: where a step
// of the run has no update.
RH_API void rh_weights_tick(rh_weights *weights);

// Set all traces to zero: at the beginning and at the end of an episode.
RH_API void rh_weights_rest(rh_weights *weights);

// Save and load the weights, between episodes. Nullable: err.
RH_API rh_status rh_weights_save(rh_weights *weights, rh_state *state, rh_error *err);
RH_API rh_status rh_weights_load(rh_weights *weights, const rh_state *state, rh_error *err);

#endif
