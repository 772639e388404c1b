// knn_internal.h - shared by the files of the nearest-neighbour model.

#ifndef KNN_INTERNAL_H
#define KNN_INTERNAL_H

#include "model_internal.h"
#include "neighbours.h"

#include "base/expression.h"
#include "repr/repr.h"

enum {
    RH_KNN_K,
    RH_KNN_WEIGHTS,
    RH_KNN_DISTANCE,
    RH_KNN_REACH,
    RH_KNN_REACH_DISTANCE,
    RH_KNN_REACH_QUANTILE,
    RH_KNN_OUT_OF_COVERAGE,
    RH_KNN_COST,
    RH_KNN_ACTION_WEIGHT,
    RH_KNN_CARRY,
    RH_KNN_CAP,
    RH_KNN_NPARAM
};

enum { RH_KNN_PAPER, RH_KNN_INVERSE, RH_KNN_UNIFORM, RH_KNN_KERNEL }; // weights
enum { RH_KNN_NORM, RH_KNN_SQUARED };                                 // distance
enum { RH_KNN_NONE, RH_KNN_FIXED, RH_KNN_QUANTILE, RH_KNN_AUTO };     // reach
enum { RH_KNN_STITCH, RH_KNN_LOG, RH_KNN_ACTION, RH_KNN_LOCAL };      // carry
enum { RH_KNN_PESSIMISTIC, RH_KNN_OPTIMISTIC, RH_KNN_CHARGED };       // out of coverage

extern const rh_param rh_knn__param[RH_KNN_NPARAM];

#define RH_KNN__NIN (RH_MAX_OBS + RH_MAX_ACT) // most columns of a matrix of carry

// An index of the transitions of one action, by the codes of their states.
typedef struct rh_knn__steps {
    rh_neighbours *points; // owned; NULL: there are none
    int32_t *position;     // owned: where they are among those in use  (n)
    int64_t n;
} rh_knn__steps;

// A member: a table of neighbours for discrete actions, an index to search for continuous ones.
typedef struct rh_knn {
    int k;                 // neighbours of a query
    int32_t *use;          // owned: transitions it uses, ascending; NULL: all of the log
    int64_t nuse;          //                                           (nuse)
    int32_t *index;        // owned: transitions, nearest first, -1 where there are fewer
    float *distance;       // owned: to their states, in codes  (both naction x nstate x k)
    rh_neighbours *points; // owned: states with actions, or NULL       (nuse x npoint)
    int npoint;            // numbers of such a point
    double lo[RH_MAX_ACT]; // least and most of each number of an action in the log
    double hi[RH_MAX_ACT]; //                                           (nact)
    float *near;           // owned: distance to the nearest, of a sample of queries,
    int64_t nnear;         //   ascending                               (nnear)
    double step;           // median length of a logged step, in codes
    double reach;          // of reach = auto; INFINITY: none

    // Of a member that carries; otherwise all of it is NULL or 0. A position is the place of a
    // transition among those in use.
    rh_knn__steps *steps;      // owned: of each discrete action            (nsteps)
    int nsteps;                //
    float *slope;              // owned: matrices of carry, in the sensors' units
                               //                       (nslope x (nobs + 1) x nin)
    int64_t nslope;            // one, one per action, or one per position
    bool sloped;               // rewards have slopes
    rh_expression formula;     // owned: of rewards; no instructions: none
    double *label;             // owned: the actions as numbers in it      (naction)
    double *change;            // owned: what another action changes in s'; NULL: no action
                               // stands in for another    (nsteps x nsteps x (nobs + 1))
    double apart;              // how much farther another action counts; INFINITY: never
    double reward_lo;          // the lowest reward of a step, and the highest
    double reward_hi;          //
    double usual;              // the mean reward of steps that do not end
    rh_neighbours *arrival[2]; // owned: arrivals that do not end, and that do; NULL: none
    int32_t *arrived[2];       // owned: their positions
    float *margin;             // owned: within it of an arrival, steps end as it does; NULL: no
                               // arrival tells                             (nuse)
} rh_knn;

// ---------------------------------------------------------------------------- knn.c

// The transitions in use are counted: the one at a position, and the position of one.
static inline int32_t rh_knn__transition(const rh_knn *knn, int64_t position)
{
    return knn->use ? knn->use[position] : (int32_t)position;
}
int32_t rh_knn__position(const rh_knn *knn, int32_t transition);

// Keep which transitions are used, unless they are all, once each.
rh_status rh_knn__keep_use(rh_knn *knn, const rh_model *model, const rh_model__part *part,
                           rh_error *err);

// The row of the model's log that obs points to, or -1.
int64_t rh_knn__row_of(const rh_log *log, const double *obs);

// ---------------------------------------------------------------------------- knn_table.c

// The table of a member with discrete actions.
rh_status rh_knn__make_table(rh_knn *knn, const rh_model *model, const rh_model__part *part,
                             rh_error *err);

// ---------------------------------------------------------------------------- knn_search.c

// Set the scale of actions, and index the points of all transitions in use. Owned: *point
// (nuse x npoint). Nullable: point.
void rh_knn__scale_actions(rh_knn *knn, const rh_model *model);
rh_status rh_knn__make_points(rh_knn *knn, const rh_model *model, float **point, rh_error *err);

// An action's number k, within the range of the log.
double rh_knn__clamp_action(const rh_knn *knn, int k, double act);

// The point (npoint) of an observation and an action. code: that of obs, or NULL when the
// model has none of states. scratch: as for rh_repr__encode_one().
void rh_knn__point(const rh_knn *knn, const rh_model *model, const float *code,
                   const double *obs, const double *act, float *scratch, float *point);

// The k nearest transitions to a point and their distances; how many. A distance that overflows
// a float does not count.
int rh_knn__search(const rh_knn *knn, const float *point, int k, int32_t *transition,
                   float *distance);

rh_status rh_knn__search_env(rh_env **out, const rh_model *model, const rh_knn *knn,
                             const double *param, rh_error *err);

// ---------------------------------------------------------------------------- knn_sample.c

// Probabilities p (n) of neighbours at ascending distances (n), n from 1.
void rh_knn__weigh(const double *param, const float *distance, int n, double *p);

// The one of n neighbours that u, uniform in [0, 1), draws with these weights.
int rh_knn__draw(const double *param, const float *distance, int n, double u);

// The results of a step.
typedef struct rh_knn__rules {
    double reach; // a query whose nearest neighbour is farther is out of coverage
    bool charged; // neighbours are used there too,
    double toll;  //   at this cost per distance past the reach
    double given; // otherwise, the reward out of coverage
    bool goes_on; // a plant that nothing resets: carried steps go on there
    double least; // the lowest reward
} rh_knn__rules;

rh_knn__rules rh_knn__make_rules(const rh_knn *knn, const rh_model *model, const double *param);

// Whether the plant of a log is never reset: no step of it is terminal.
bool rh_knn__never_resets(const rh_model *model);

// ---------------------------------------------------------------------------- knn_reach.c

// Measure distances of a sample of queries, the length of a step, and the reach of `auto`.
// point (nuse x npoint): where actions are continuous, else NULL.
rh_status rh_knn__measure(rh_knn *knn, const rh_model *model, const float *point, rh_rng rng,
                          rh_error *err);

// The coverage radius in codes; INFINITY: none.
double rh_knn__reach(const rh_knn *knn, const double *param);

// ---------------------------------------------------------------------------- knn_alike.c

// The distance up to which the steps of the log are alike, in codes; NAN: undetermined.
rh_status rh_knn__alike(double *out, const rh_knn *knn, const rh_model *model,
                        const float *point, rh_rng *rng, rh_error *err);

// The distance of two codes or points of d numbers.
double rh_knn__distance(const float *a, const float *b, int d);

// ---------------------------------------------------------------------------- knn_env.c

// The effect of a transition in the environment.
typedef struct rh_knn__outcome {
    double reward;
    int32_t to;  // next state
    bool ends;   // the episode ends
    bool begins; // or another begins, in a continuing task
} rh_knn__outcome;

rh_knn__outcome rh_knn__outcome_of(const rh_model *model, int32_t transition);

// What the types of all environments have in common.
#define RH_KNN__ENV_TYPE                                                                       \
    .name = "knn", .param = rh_knn__param, .nparam = RH_KNN_NPARAM, .start = begin, .step = step

// The state of both environments; the first member of the larger one.
typedef struct rh_knn__place {
    int32_t row;
    bool uncovered; // the last step was out of coverage
} rh_knn__place;

int32_t rh_knn__obs_index(const void *self, const void *state);
bool rh_knn__uncovered(const void *self, const void *state);

// Both environments at a row of the log.
void rh_knn__stand(const rh_model *model, const rh_env *env, void *state, int32_t row);

// The task of an environment, with the lowest reward of its rules.
rh_task rh_knn__task(const rh_model *model, const rh_knn__rules *rules);

// What an environment that looks for neighbours knows; the first member of its struct.
typedef struct rh_knn__finder {
    const rh_model *model; // borrowed
    const rh_knn *knn;     // borrowed
    rh_knn__rules rules;
    double param[RH_KNN_NPARAM];
    int k;
} rh_knn__finder;

// A finder in `size` bytes, and an environment of it, that frees it when it cannot be made.
// nplace: bytes of its state, without the scratch behind it. Owned: the finder, *out.
void *rh_knn__make_finder(size_t size, const rh_model *model, const rh_knn *knn,
                          const double *param);
rh_status rh_knn__finder_env(rh_env **out, const rh_env_type *of, rh_knn__finder *finder,
                             size_t nplace, rh_error *err);

rh_status rh_knn__table_env(rh_env **out, const rh_model *model, const rh_knn *knn,
                            const double *param, rh_error *err);

// ---------------------------------------------------------------------------- knn_carry.c

// Index the transitions of each action; learn the matrices.
rh_status rh_knn__index_steps(rh_knn *knn, const rh_model *model, rh_error *err);
rh_status rh_knn__fit_carry(rh_knn *knn, const rh_model *model, const rh_model__part *part,
                            rh_error *err);

// The matrix of a position, its last row that of the reward ((nobs + 1) x nin); its size.
const float *rh_knn__slope(const rh_knn *knn, const rh_model *model, int32_t position);
int64_t rh_knn__slope_size(const rh_model *model);

// ---------------------------------------------------------------------------- knn_switch.c

// Learn what other actions would have changed. scale: standard deviations of the sensors
// (nobs).
rh_status rh_knn__fit_switch(rh_knn *knn, const rh_model *model, const double *scale,
                             rh_rng rng, rh_error *err);

// What action `to` adds to s' and to the reward of action `from` (nobs + 1).
double *rh_knn__switched(const rh_knn *knn, const rh_model *model, int to, int from);

// ---------------------------------------------------------------------------- knn_arrive.c

// The difference a - b of two values of a sensor, the short way round where it wraps.
double rh_knn__difference(const rh_model *model, int sensor, double a, double b);

// The limit that s is beyond, or -1; the position of the nearest arrival to a code.
int rh_knn__limit_of(const rh_facts *facts, const double *s);
int32_t rh_knn__nearest_arrival(const rh_knn *knn, const float *code);

// Index the arrivals that tell ends from other steps; find the bounds of rewards.
// Bring a state (nobs) back to what sensors can show.
void rh_knn__settle(const rh_model *model, double *s);

rh_status rh_knn__index_arrivals(rh_knn *knn, const rh_model *model, int nthread,
                                 rh_error *err);
void rh_knn__bound_rewards(rh_knn *knn, const rh_model *model);

// Where a step leads.
typedef struct rh_knn__arrival {
    double next[RH_MAX_OBS];       // (nobs)
    float code[RH_NEIGHBOURS_DIM]; // of next; unset where codes are of state and action
    double reward;
    bool ends;
} rh_knn__arrival;

// Carry the step of act in s over from the transition at `position`. other: the position of the
// nearest neighbour that does not end, or -1. scratch: as for rh_repr__encode_one().
void rh_knn__arrive(const rh_knn *knn, const rh_model *model, int32_t position, int32_t other,
                    const double *s, const double *act, float *scratch, rh_knn__arrival *out);

// ---------------------------------------------------------------------------- knn_reward.c

// Take over the formula of the log's rewards, if it gives them; lower the bound of rewards.
rh_status rh_knn__fit_reward(rh_knn *knn, const rh_model *model, rh_error *err);
void rh_knn__bound_formula(rh_knn *knn, const rh_model *model);

// The reward of a step by the formula; false if there is none, or it has no value there.
bool rh_knn__reward(const rh_knn *knn, const rh_model *model, const double *s,
                    const double *act, const double *next, double *reward);

// ---------------------------------------------------------------------------- knn_carry_env.c

rh_status rh_knn__carry_env(rh_env **out, const rh_model *model, const rh_knn *knn,
                            const double *param, rh_error *err);
void rh_knn__stand_anywhere(const rh_model *model, const rh_env *env, void *state, int32_t row);

// ---------------------------------------------------------------------------- knn_file.c

void rh_knn__write(const rh_model *model, const void *member, rh_store *store);
void *rh_knn__read(const rh_model *model, rh_store *store);
void rh_knn__read_use(rh_knn *knn, const rh_model *model,
                      rh_store *store); // transitions in use

void rh_knn__destroy(void *member); // NULL is allowed

#endif
