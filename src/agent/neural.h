// neural.h - what agents with networks and a replay memory share.
//
// Such an agent begins with an rh_neural, has one rh_neural__kind with what is special about
// it, and puts the functions below into its rh_agent_type.

#ifndef AGENT_NEURAL_H
#define AGENT_NEURAL_H

#include "agent_internal.h"
#include "base/scratch.h"
#include "history.h"
#include "numeric/mlp.h"
#include "scaling.h"

#define RH_NEURAL__NETS 6

// ---------------------------------------------------------------------------- parameters

// The first parameters of every such agent, in this order; its own come next.
enum {
    RH_NEURAL_RATE,
    RH_NEURAL_HORIZON,
    RH_NEURAL_UPDATES,
    RH_NEURAL_N_STEP,
    RH_NEURAL_TARGET_RATE,
    RH_NEURAL_WARMUP,
    RH_NEURAL_BATCH,
    RH_NEURAL_MEMORY,
    RH_NEURAL_WIDTH,
    RH_NEURAL_LAYERS,
    RH_NEURAL_NORM,
    RH_NEURAL_OBS_SCALE,
    RH_NEURAL_REWARD_SCALE,
    RH_NEURAL_HISTORY,
    RH_NEURAL_START,
    RH_NEURAL_BEFORE,
    RH_NEURAL_LOG_SHARE,
    RH_NEURAL_CAUTION,
    RH_NEURAL_FADE,
    RH_NEURAL_NPARAM
};

extern const char *const rh_neural__norms[];
extern const char *const rh_neural__starts[];

// Their rows of a parameter table, with the initial values that differ.
#define RH_NEURAL__PARAMS(RATE, N_STEP, CAUTION)                                               \
    [RH_NEURAL_RATE] = {"rate",                                                                \
                        "learning rate of the networks (Adam)",                                \
                        .lo = 1e-7,                                                            \
                        .hi = 1.0,                                                             \
                        .initial = (RATE),                                                     \
                        .scale = RH_LOG,                                                       \
                        .usual_lo = 1e-4,                                                      \
                        .usual_hi = 3e-3},                                                     \
    [RH_NEURAL_HORIZON] = {"horizon",                                                          \
                           "discount horizon in steps: gamma is 1 - 1 / horizon, or the "      \
                           "task's if that is smaller",                                        \
                           .lo = 1.0,                                                          \
                           .hi = 1e6,                                                          \
                           .initial = 100.0,                                                   \
                           .scale = RH_LOG,                                                    \
                           .usual_lo = 10.0,                                                   \
                           .usual_hi = 1000.0},                                                \
    [RH_NEURAL_UPDATES] = {"updates",     "updates of the networks per step",                  \
                           .lo = 1,       .hi = 64,                                            \
                           .initial = 1,  .scale = RH_LOG,                                     \
                           .whole = true, .usual_lo = 1,                                       \
                           .usual_hi = 2},                                                     \
    [RH_NEURAL_N_STEP] = {"n_step",                                                            \
                          "steps of reward before a target bootstraps",                        \
                          .lo = 1,                                                             \
                          .hi = 64,                                                            \
                          .initial = (N_STEP),                                                 \
                          .scale = RH_LOG,                                                     \
                          .whole = true,                                                       \
                          .usual_lo = 1,                                                       \
                          .usual_hi = 10},                                                     \
    [RH_NEURAL_TARGET_RATE] = {"target_rate",                                                  \
                               "share by which the target networks follow, per update",        \
                               .lo = 1e-5,                                                     \
                               .hi = 1.0,                                                      \
                               .initial = 0.005,                                               \
                               .scale = RH_LOG},                                               \
    [RH_NEURAL_WARMUP] = {"warmup",       "steps before the first update",                     \
                          .lo = 1,        .hi = 1e6,                                           \
                          .initial = 100, .scale = RH_LOG,                                     \
                          .whole = true},                                                      \
    [RH_NEURAL_BATCH] = {"batch",       "transitions of an update",                            \
                         .lo = 1,       .hi = 4096,                                            \
                         .initial = 64, .whole = true,                                         \
                         .fixed = true},                                                       \
    [RH_NEURAL_MEMORY] = {"memory",                                                            \
                          "transitions that the replay memory holds; never more than steps "   \
                          "of a run",                                                          \
                          .lo = 1,                                                             \
                          .hi = 1e7,                                                           \
                          .initial = 100000,                                                   \
                          .whole = true,                                                       \
                          .fixed = true},                                                      \
    [RH_NEURAL_WIDTH] = {"width",       "units of a hidden layer",                             \
                         .lo = 1,       .hi = 1024,                                            \
                         .initial = 64, .whole = true,                                         \
                         .fixed = true},                                                       \
    [RH_NEURAL_LAYERS] = {"layers",     "hidden layers", .lo = 1,      .hi = 8,                \
                          .initial = 2, .whole = true,   .fixed = true},                       \
    [RH_NEURAL_NORM] =                                                                         \
        {"norm",        "layer norm in networks of values", .lo = 0, .hi = 1, .initial = 1,    \
         .fixed = true, .choice = rh_neural__norms},                                           \
    [RH_NEURAL_OBS_SCALE] = {"obs_scale",                                                      \
                             "scale of observations: learned online, the sensor's range, "     \
                             "none",                                                           \
                             .lo = 0,                                                          \
                             .hi = RH_SCALING_NONE,                                            \
                             .initial = RH_SCALING_ONLINE,                                     \
                             .fixed = true,                                                    \
                             .choice = rh_scaling__names},                                     \
    [RH_NEURAL_REWARD_SCALE] = {"reward_scale",                                                \
                                "scale of rewards: learned online; range and none leave them " \
                                "alone",                                                       \
                                .lo = 0,                                                       \
                                .hi = RH_SCALING_NONE,                                         \
                                .initial = RH_SCALING_ONLINE,                                  \
                                .fixed = true,                                                 \
                                .choice = rh_scaling__names},                                  \
    [RH_NEURAL_HISTORY] = {"history",                                                          \
                           "last observations that it sees, with its actions between them",    \
                           .lo = 1,                                                            \
                           .hi = 16,                                                           \
                           .initial = 4,                                                       \
                           .scale = RH_LOG,                                                    \
                           .whole = true,                                                      \
                           .usual_lo = 1,                                                      \
                           .usual_hi = 8},                                                     \
    [RH_NEURAL_START] = {RH_START_PARAM,                                                       \
                         "what it begins with where there is a log: nothing, the log, a "      \
                         "clone of its controller, or what was practised in a model of it",    \
                         .lo = 0,                                                              \
                         .hi = RH_START_MODEL,                                                 \
                         .initial = RH_START_CLONED,                                           \
                         .usual_lo = RH_START_CLONED,                                          \
                         .usual_hi = RH_START_MODEL,                                           \
                         .choice = rh_neural__starts},                                         \
    [RH_NEURAL_BEFORE] = {"before",        "updates from the log before the first step",       \
                          .lo = 1,         .hi = 1e6,                                          \
                          .initial = 1000, .scale = RH_LOG,                                    \
                          .whole = true,   .usual_lo = 300,                                    \
                          .usual_hi = 3000},                                                   \
    [RH_NEURAL_LOG_SHARE] = {"log_share", "share of every batch that is from the log",         \
                             .lo = 0.0, .hi = 1.0, .initial = 0.5},                            \
    [RH_NEURAL_CAUTION] = {"caution",                                                          \
                           "weight of staying near the logged actions",                        \
                           .lo = 0.0,                                                          \
                           .hi = 1e3,                                                          \
                           .initial = (CAUTION),                                               \
                           .scale = RH_LOG,                                                    \
                           .usual_lo = (CAUTION) / 10.0,                                       \
                           .usual_hi = (CAUTION)*10.0},                                        \
    [RH_NEURAL_FADE] = {"fade",          "share of a run in which caution fades to nothing",   \
                        .lo = 1e-3,      .hi = 1e6,                                            \
                        .initial = 10.0, .scale = RH_LOG,                                      \
                        .usual_lo = 0.1, .usual_hi = 10.0}

// ---------------------------------------------------------------------------- the agent

typedef struct rh_neural rh_neural;

typedef struct rh_neural__kind {
    const char *name;
    double size; // that scaled rewards give to values
    int nnumber; // of rh_neural.number that are learned

    // Begin: the weights of all networks and the learned numbers.
    void (*draw)(rh_neural *s, rh_rng *rng);

    // Choose act (nact) for the scaled observation s->x: an index, or numbers in [-1, 1].
    // explore: false for an agent that only acts. False when a number is not finite.
    bool (*choose)(rh_neural *s, rh_rng *rng, bool explore, float *act);

    // One update from s->batch, which is scaled. Its first s->nlogged rows are from the log;
    // s->care is how much their actions count.
    void (*learn)(rh_neural *s, rh_rng *rng);
} rh_neural__kind;

struct rh_neural {
    const rh_neural__kind *kind;
    int nobs, nact, naction; // nobs: of what networks see, a stack
    rh_history history;
    double lo[RH_MAX_ACT], hi[RH_MAX_ACT]; // bounds of a continuous action
    double gamma, target_rate;
    int updates, warmup;
    rh_mlp__adam adam;
    rh_memory memory;
    rh_memory logged;                // what the agent began with; empty: nothing
    rh_prior prior;                  // the rows that it begins with; borrowed, for init only
    bool cloned;                     // its first policy is a clone of these rows (clone.h)
    bool evaluates;                  // that policy is evaluated only
    int before;                      // updates from it before the first step
    double log_share, caution, fade; // fade: in steps
    int nlogged;                     // rows of the batch that are from it: the first ones
    double care;                     // caution now
    rh_scaling scaling;
    rh_mlp *net[RH_NEURAL__NETS];        // owned; those that are not used are NULL
    rh_mlp__pass *pass[RH_NEURAL__NETS]; // owned
    rh_scratch scratch;                  // owns all other arrays
    rh_memory__batch batch;
    float *obs;            // the last observation, of the task's sensors                (n)
    float *now, *then;     // stack of the last action, and the new one, unscaled        (nobs)
    float *x;              // the new one scaled                                         (nobs)
    float act[RH_MAX_ACT]; // the last action
    bool begins;           // the next observation to act on is the first of an episode

    // learned, and saved, with memory and scales
    bool drawn;      // whether there are networks: they are drawn by the first start
    int64_t nstep;   // steps so far
    int owed;        // updates that the next call with a random stream makes
    int64_t nupdate; // updates so far
    double number[8];
};

// Begin: all but networks and the agent's own arrays. Nullable: err. Release with
// rh_neural__clear(), also after a failure.
rh_status rh_neural__init(rh_neural *s, const rh_neural__kind *kind, const rh_task *task,
                          const double *hp, rh_error *err);

// Network i with nin inputs, hidden layers as in hp, and nout outputs, and a pass for batches.
rh_status rh_neural__net(rh_neural *s, int i, int nin, int nout, unsigned flags,
                         const double *hp, rh_error *err);

// Arrays of floats for the agent itself: check s->scratch.failed, and fail with this.
float *rh_neural__floats(rh_neural *s, size_t n);
rh_status rh_neural__no_memory(const rh_neural *s, rh_error *err);

// The mean of |x| (n), at least a little.
float rh_neural__size(const float *x, int n);

double rh_neural__tanh(double x);

void rh_neural__clear(void *self);
bool rh_neural__start(void *self, const double *obs, rh_rng *rng, double *act);
bool rh_neural__step(void *self, double reward, const double *obs, rh_rng *rng, double *act);
bool rh_neural__end(void *self, double reward);
bool rh_neural__truncate(void *self, double reward, const double *obs);
void rh_neural__begin(void *self);
void rh_neural__took(void *self, const double *act);
bool rh_neural__act(void *self, const double *obs, rh_rng *rng, double *act);
rh_status rh_neural__save(void *self, rh_state *state, rh_error *err);
rh_status rh_neural__load(void *self, const rh_state *state, rh_error *err);

// What the types of all agents with networks have in common. self: the struct; rows: its
// parameters.
#define RH_NEURAL__AGENT(self, rows)                                                           \
    .self_size = sizeof(self), .param = (rows), .nparam = sizeof(rows) / sizeof *(rows),       \
    .start = rh_neural__start, .step = rh_neural__step, .end = rh_neural__end,                 \
    .act = rh_neural__act, .begin = rh_neural__begin, .took = rh_neural__took,                 \
    .save = rh_neural__save, .load = rh_neural__load, .clear = rh_neural__clear,               \
    .truncate = rh_neural__truncate

#endif
