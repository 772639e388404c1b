// linear_internal.h - shared by the files of the linear model.

#ifndef LINEAR_INTERNAL_H
#define LINEAR_INTERNAL_H

#include "base/scratch.h"
#include "knn_internal.h"
#include "neighbours.h"

enum {
    RH_LINEAR_FORM,
    RH_LINEAR_LAGS,
    RH_LINEAR_DELAY,
    RH_LINEAR_SLOW,
    RH_LINEAR_RESIDUALS,
    RH_LINEAR_NPARAM
};

enum {
    RH_LINEAR_FORM_AUTO,
    RH_LINEAR_PLAIN,    // observations and actions
    RH_LINEAR_PRODUCTS, //   and products of both
    RH_LINEAR_QUADRATIC //   and squares and products of observations
};                      // form
enum { RH_LINEAR_STRETCH, RH_LINEAR_DRAWN, RH_LINEAR_NO_NOISE, RH_LINEAR_NEAR }; // residuals

extern const rh_param rh_linear__param[RH_LINEAR_NPARAM];

#define RH_LINEAR__LAGS 8                                    // most lags
#define RH_LINEAR__DELAY 8                                   // longest dead time
#define RH_LINEAR__PAST (RH_LINEAR__LAGS + RH_LINEAR__DELAY) // steps that may be remembered
#define RH_LINEAR__LEVEL (2 * RH_MAX_OBS)                    // most numbers of an observation
#define RH_LINEAR__TERM 512                                  // most terms
#define RH_LINEAR__QUEUE (RH_LINEAR__DELAY * RH_MAX_ACTIONS) // see rh_linear__enter()
#define RH_LINEAR__NSLOW 2                                   // averages over the past
#define RH_LINEAR__OUT                                                                         \
    1.0 // bounds of sensors and actions, in ranges beside that of the log; by hand

// The last observations and actions, the present ones first. An action before the first known
// one is NULL; an observation before the first is the first.
typedef struct rh_linear__past {
    const double *obs[RH_LINEAR__PAST];
    const double *act[RH_LINEAR__PAST];
    const float *slow; // averages over the past; NULL: as if nothing had ever changed
} rh_linear__past;

// Which terms a regression has.
typedef struct rh_linear__plan {
    int form, lags, delay;
    int slow; // which averages: 1 << i for the i-th
} rh_linear__plan;

// A number of an observation that terms are made of: a sensor, or one of two of its circle.
typedef struct rh_linear__level {
    int sensor;
    enum { RH_LINEAR_LINE, RH_LINEAR_COSINE, RH_LINEAR_SINE } on;
} rh_linear__level;

// A term of the reward.
typedef struct rh_linear__cost {
    int kind, i, j; // see linear_cost.h
    double at, weight;
    int gate;        // sensor of its gate, -1: it has none
    double from, to; // the gate's window; from > to: all but to .. from
} rh_linear__cost;

#define RH_LINEAR__COST 24 // most terms of the reward

// A member.
typedef struct rh_linear {
    // what is predicted, and from what
    int nobs, naction, nact;
    int nlevel, nmoved, nout, nexo, ninput;
    rh_linear__level level[RH_LINEAR__LEVEL];     // (nlevel)
    int moved[RH_MAX_OBS];                        // sensors that change                (nmoved)
    int out[RH_MAX_OBS];                          // of these, predicted                (nout)
    int exo[RH_MAX_OBS];                          // and replayed                       (nexo)
    double centre[RH_MAX_OBS], scale[RH_MAX_OBS]; // mean and standard deviation    (nobs)
    double step[RH_MAX_OBS];                      // root mean square of a change   (nobs)
    double act_centre[RH_MAX_ACTIONS], act_scale[RH_MAX_ACTIONS]; //              (ninput)
    double lo[RH_MAX_OBS], hi[RH_MAX_OBS]; // bounds of sensors                     (nobs)
    double wall_lo[RH_MAX_OBS], wall_hi[RH_MAX_OBS]; // where they stop; NAN: nowhere (nobs)

    rh_linear__plan plan;
    int nterm;
    double *weight; // owned                                          (nout x nterm)
    double *across; // owned: the same, see rh_linear__lay_across()
    float *slow;    // owned: averages before every transition, NULL: not needed
                    //                                  (n x NSLOW x (nlevel + ninput))

    rh_knn *knn; // owned: transitions in use, formula of rewards, arrivals that end
    int ncost;   // terms of the reward if there is no formula
    rh_linear__cost cost[RH_LINEAR__COST];
    double constant;             // of the reward
    double reward_lo, reward_hi; // bounds of rewards

    // rebuilt from the log
    float *residual; // owned: of each transition, that of the reward last; NAN: not in use
                     //                                               (n x (nout + 1))
    int32_t *able;   // owned: transitions with residuals              (nable)
    int64_t nable;
    rh_neighbours *near; // owned: their levels and inputs, NULL: not asked for
} rh_linear;

// ---------------------------------------------------------------------------- linear.c

rh_status rh_linear__create(rh_linear **out, const rh_model *model, rh_error *err);
void rh_linear__destroy(void *member); // NULL is allowed

// Compute what is not stored: residuals, arrivals.
rh_status rh_linear__complete(rh_linear *m, const rh_model *model, int nthread, rh_error *err);

// ---------------------------------------------------------------------------- linear_terms.c

// Set what is predicted from what, and the scales, by the transitions in use.
void rh_linear__survey(rh_linear *m, const rh_model *model);

int rh_linear__nterm(const rh_linear *m, const rh_linear__plan *plan);

// Where the terms of a plan are among those of a larger one with the same delay: at (nterm).
void rh_linear__within(const rh_linear *m, const rh_linear__plan *plan,
                       const rh_linear__plan *larger, int *at);

// Terms are kept up to date along a run, x (nterm, and behind them the inputs that have no
// effect yet, delay x ninput: RH_LINEAR__QUEUE more at most). enter: those of a past, but for
// the present action. act: that action (NULL: not known) and the products. advance: from one
// observation to the next.
void rh_linear__enter(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                      const rh_linear__past *past, double *x);
void rh_linear__act(const rh_linear *m, const rh_linear__plan *plan, const double *act,
                    double *x);
void rh_linear__advance(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                        const double *from, const double *to, double *x);

// Both of enter and act.
void rh_linear__terms(const rh_linear *m, const rh_linear__plan *plan,
                      const rh_linear__past *past, const rh_model *model, double *x);

// Weights (nout x nterm) in the order in which rh_linear__next() reads them: across (nacross).
size_t rh_linear__nacross(const rh_linear *m, int nterm);
void rh_linear__lay_across(const rh_linear *m, int nterm, const double *weight, double *across);

// The past of transition t of the log.
void rh_linear__past_of(rh_linear__past *past, const rh_linear *m, const rh_log *log,
                        int64_t t);

// Compute the averages before every transition. False: memory ran out.
bool rh_linear__average(rh_linear *m, const rh_model *model);
// Where those of a plan are among its terms; how long each remembers, in steps.
int rh_linear__slow_at(const rh_linear *m, const rh_linear__plan *plan);
extern const double rh_linear__span[RH_LINEAR__NSLOW];

// The transition that begins in a row, or -1; whether transition t + 1 continues t.
int64_t rh_linear__from_row(const rh_log *log, int64_t row);
bool rh_linear__follows(const rh_log *log, int64_t t);

// The next observation (nobs): sensors that are predicted change by weights (nacross) and, if
// not NULL, residuals (nout); all others stay. True: it is within bounds; otherwise it was
// brought back.
bool rh_linear__next(const rh_linear *m, const rh_model *model, const double *across,
                     const double *x, int nterm, const double *obs, const float *residual,
                     double *next);

// ---------------------------------------------------------------------------- linear_steady.c

// Shrink weights (nout x nterm) until the linear part does not grow. True: they were changed.
// With averages over the past nothing is changed, and true says that it grows. a: scratch
// (RH_LINEAR__LAG_SCRATCH).
#define RH_LINEAR__LAG_SCRATCH(nout)                                                           \
    ((RH_LINEAR__LAGS + RH_LINEAR__NSLOW) * (nout) * (nout) +                                  \
     (RH_LINEAR__LAGS + RH_LINEAR__NSLOW + 1) * (nout) + 1)
bool rh_linear__steady(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                       double *weight, double *a);

// ---------------------------------------------------------------------------- linear_wall.c

// Find walls by a plan's weights (nout x nterm) and take the steps that push against them out
// of row (n). True: there are some.
bool rh_linear__find_walls(rh_linear *m, const rh_model *model, const double *weight,
                           int32_t *row, int64_t *n, bool *failed);

// x of sensor k, or the wall that it would pass.
double rh_linear__stop(const rh_linear *m, int k, double x);

// ---------------------------------------------------------------------------- linear_judge.c

#define RH_LINEAR__NHORIZON 7

// Judging a plan. Sums over stretches and sensors, by horizon.
typedef struct rh_linear__judge {
    const rh_linear *m;    // borrowed
    const rh_model *model; // borrowed
    rh_linear__plan plan;
    int nterm;
    double *all, *part; // weights by all parts, and without one   (nacross)
    double *x, *y;      // terms                                   (nterm + QUEUE)
    double path[RH_LINEAR__NHORIZON], beside[RH_LINEAR__NHORIZON];
    double persistence[RH_LINEAR__NHORIZON];
    int64_t npath[RH_LINEAR__NHORIZON], nbeside[RH_LINEAR__NHORIZON];
} rh_linear__judge;

// Arrays for up to nterm terms. Borrowed: memory owns them.
void rh_linear__judge_take(rh_linear__judge *j, rh_scratch *memory, const rh_linear *m,
                           int nterm);

// Begin with the weights of all parts (nout x nterm); add each held-out part of transitions row
// (n), with the weights without it; the score, of npart parts. Lower is better.
void rh_linear__judge_begin(rh_linear__judge *j, const rh_linear *m, const rh_model *model,
                            const rh_linear__plan *plan, const double *weight);
void rh_linear__judge_part(rh_linear__judge *j, const int32_t *row, int64_t n,
                           const double *weight);
double rh_linear__judge_score(const rh_linear__judge *j, int npart);

// ---------------------------------------------------------------------------- linear_fit.c

// Choose the plan and compute the weights.
rh_status rh_linear__regress(rh_linear *m, const rh_model *model, const rh_model__part *part,
                             rh_error *err);

// ---------------------------------------------------------------------------- linear_near.c

// Index the transitions with residuals; after them.
rh_status rh_linear__index_residuals(rh_linear *m, const rh_model *model, rh_error *err);

// Residuals (nout + 1) at terms x: of one of the nearest steps; their mean.
const float *rh_linear__draw_near(const rh_linear *m, const double *x, rh_rng *rng);
void rh_linear__mean_near(const rh_linear *m, const double *x, float *mean);

// ---------------------------------------------------------------------------- linear_reward.c

rh_status rh_linear__fit_reward(rh_linear *m, const rh_model *model, rh_error *err);
void rh_linear__bound_rewards(rh_linear *m, const rh_model *model);

// ---------------------------------------------------------------------------- linear_cost.c

// The reward of a step, without a residual, not bounded. before: the action before; nullable.
double rh_linear__reward(const rh_linear *m, const rh_model *model, const double *s,
                         const double *act, const double *before, const double *next);

// Whether a term of a file is one of this log.
bool rh_linear__good_cost(const rh_linear *m, const rh_linear__cost *cost);

// ---------------------------------------------------------------------------- linear_day.c

// Steps of a day: the period of an exogenous sensor that goes round by as much in every step.
// 0: there is none.
int64_t rh_linear__day(const rh_linear *m, const rh_model *model);

// ---------------------------------------------------------------------------- linear_env.c

rh_status rh_linear__env(rh_env **out, const rh_model *model, const void *member,
                         const double *param, rh_error *err);
void rh_linear__stand(const rh_model *model, const rh_env *env, void *state, int32_t row);

// Whether a step to next (nobs) with this code ends, and then its reward.
bool rh_linear__ends(const rh_linear *m, const rh_model *model, const double *next,
                     const float *code, double *reward);

// ---------------------------------------------------------------------------- linear_file.c

void rh_linear__write(const rh_model *model, const void *member, rh_store *store);
void *rh_linear__read(const rh_model *model, rh_store *store);

#endif
