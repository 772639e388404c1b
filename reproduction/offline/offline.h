// offline.h - learners that use a log alone, without a calibration model.
//
// Fitted Q iteration learns a policy that is then deployed as it is: the paper's baseline of
// offline reinforcement learning. A clone imitates the logged actions; its preferences can be
// the initial action values of an agent that learns further. Both are learned once and then
// only read, so many threads can use them at the same time.

#ifndef REHEARSE_OFFLINE_H
#define REHEARSE_OFFLINE_H

#include "rehearse/agent.h"
#include "rehearse/log.h"

// ---------------------------------------------------------------------------- fitted Q

// Action values learned from a log.
typedef struct rh_fqi rh_fqi;

typedef enum rh_fqi_kind {
    RH_FQI_TILES,  // linear on tile features: each sensor alone, and each pair
    RH_FQI_NETWORK // a neural network
} rh_fqi_kind;

typedef struct rh_fqi_options {
    rh_fqi_kind kind;
    double rate;         // step size of Adam, above 0 to 10; not divided
    double decay;        // an update takes rate * decay of every weight, 0 to 10
    int64_t nupdate;     // updates, 1 or more
    int nbatch;          // transitions of an update, 1 to 65536
    int nsync;           // updates between two syncs of the target values, 1 or more
    int ntiling, ntile;  // RH_FQI_TILES: tilings 1 to 64, tiles 1 to 256
    int nlayer, width;   // RH_FQI_NETWORK: hidden layers 1 to 8, units of each 1 to 4096
    int patience;        // stop when the TD error has risen this many times in succession; it
                         // is measured before every sync. 0: never
    const rh_log *valid; // whose TD error that is; NULL: the log's own      (borrowed)
    // Fitted Q evaluation: the values of this greedy policy instead of the best one's. NULL: of
    // the best one. Borrowed for the time of learning.
    const rh_fqi *follow;
    uint64_t seed; // random seed
    rh_watch watch;
    unsigned cookie; // set by rh_fqi_defaults(), leave alone
} rh_fqi_options;

// The settings of the paper's code. Both kinds: batches of 128, sync every 512 updates, decay
// 1e-3. Tiles: 16 tilings of 2 tiles, rate 1e-3, 50,000 updates. Network: two hidden layers of
// 64 units, rate 1e-3, at most 10,000 updates, patience 3.
rh_fqi_options rh_fqi_defaults(rh_fqi_kind kind);

// The paper's grid: rates 1e-1 to 1e-5, decays 1e-1, 1e-3, 1e-5, widths 64 and 128 of a
// network. How many settings it has; set rate, decay and width of *opt to those of setting i.
int rh_fqi_ngrid(rh_fqi_kind kind);
void rh_fqi_grid(rh_fqi_kind kind, int i, rh_fqi_options *opt);

// Learn action values from a log with the task's sensors and discrete actions. Transitions
// with missing or infinite numbers are left out. task: discount and ranges of the sensors.
// Owned: *out, free with rh_fqi_destroy(). Nullable: opt (the defaults for tiles), err. On
// failure *out is left untouched. Values that grow without bound are an outcome, not a failure.
rh_status rh_fqi_learn(rh_fqi **out, const rh_log *log, const rh_task *task,
                       const rh_fqi_options *opt, rh_error *err);
void rh_fqi_destroy(rh_fqi *fqi); // NULL is allowed

// Updates made: fewer than asked for when training stopped early.
int64_t rh_fqi_nupdate(const rh_fqi *fqi);

// *error = mean squared TD error on a log, against the target values of the last sync; not
// finite where the values are not. Nullable: err.
rh_status rh_fqi_error(const rh_fqi *fqi, const rh_log *log, double *error, rh_error *err);

// q (naction) = action values of obs (nobs). Nullable: err.
rh_status rh_fqi_values(const rh_fqi *fqi, const double *obs, double *q, rh_error *err);

// The policy as a kind of agent, for rh_eval_runs() and rh_agent_create(). It never learns. Its
// only hyperparameter is epsilon, the share of uniformly random actions, 0.1 as in the paper's
// code. Borrowed from fqi, which must outlive every agent of this kind.
const rh_agent_type *rh_fqi_agent(const rh_fqi *fqi);

// Which TD error chooses a setting.
typedef enum rh_fqi_judge {
    RH_FQI_BY_VALIDATION, // on the other log, as the paper says
    RH_FQI_BY_TRAINING    // on the log itself, as the paper's script does
} rh_fqi_judge;

// Learn with each of nopt settings opt (nopt) and keep the one with the least TD error; the
// first of equal ones. error (nopt x 2): TD errors on log and on valid. Runs nthread settings
// in parallel, which changes no result; the callbacks of opt[0].watch are used. *chosen: index.
// Owned: *out, free with rh_fqi_destroy(). Nullable: chosen, error, err. On failure *out is
// left untouched; it is a failure that no setting has a finite error.
rh_status rh_fqi_choose(rh_fqi **out, int *chosen, const rh_log *log, const rh_log *valid,
                        const rh_task *task, const rh_fqi_options *opt, int nopt,
                        rh_fqi_judge judge, int nthread, double *error, rh_error *err);

// ---------------------------------------------------------------------------- cloning

// A softmax policy on tile features, fitted to the actions of a log.
typedef struct rh_clone rh_clone;

typedef struct rh_clone_options {
    double ridge; // penalty on the squares of the preferences' weights, above 0 to 1e6
    rh_watch watch;
    unsigned cookie; // set by rh_clone_defaults(), leave alone
} rh_clone_options;

// ridge = 10.
rh_clone_options rh_clone_defaults(void);

// Fit a clone to a log with the task's sensors and discrete actions, on the tile features of
// the agent esarsa with hyperparameters hp (its nparam). Transitions with missing or
// infinite numbers are left out. Owned: *out, free with rh_clone_destroy(). Nullable: hp (all
// initial values), opt, err. On failure *out is left untouched.
rh_status rh_clone_learn(rh_clone **out, const rh_log *log, const rh_task *task,
                         const double *hp, const rh_clone_options *opt, rh_error *err);
void rh_clone_destroy(rh_clone *clone); // NULL is allowed

// pi (naction) = probabilities of the actions in obs (nobs). Nullable: err.
rh_status rh_clone_policy(const rh_clone *clone, const double *obs, double *pi, rh_error *err);

// *loss = mean of -ln of the probability of the logged actions. Nullable: err.
rh_status rh_clone_loss(const rh_clone *clone, const rh_log *log, double *loss, rh_error *err);

// The state of a new esarsa agent with hyperparameters hp (nparam), whose action values are
// raised by strength * tau * preference: at strength 1 it acts as the clone does, at 0 as
// without it. For rh_agent_load() and rh_eval_options.state. task: as for rh_clone_learn().
// Owned: *out, free with rh_state_destroy(). Nullable: hp (all initial values), err. On failure
// *out is left untouched.
rh_status rh_clone_state(rh_state **out, const rh_clone *clone, const rh_task *task,
                         const double *hp, double strength, rh_error *err);

#endif
