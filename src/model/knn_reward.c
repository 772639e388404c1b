// knn_reward.c - rewards of carried steps by the formula that gave the log its rewards.
//
// A cost that grows outside of the log's range is not that of the neighbour, and its slope
// there is not that inside. Where the reward is a formula of sensors and actions, it is
// computed on the simulated numbers.
//
// 1. The formula is used only if it gives every reward of the log that does not end an episode:
//    a log may have been changed after it was read, and resets change where ends arrive.
// 2. Discrete actions are indices; the formula has the numbers that are their labels.
// 3. A step needs a lowest reward, which also scores runs that break down. For a formula it is
//    the lowest of the log's steps with all numbers WIDENED times as far from the middle of
//    their range: farther out nothing is known of the plant anyway. There is no highest.
// 4. Where the formula has no value (1/0), the reward is carried over.

#include "knn_internal.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

#define WIDENED 3.0    // decision 3; by hand
#define TOLERANCE 1e-9 // of the largest reward
#define NX (2 * RH_MAX_OBS + RH_MAX_ACT)

// The numbers of a step, in the formula's order.
static void gather(const rh_knn *knn, const rh_log *log, const double *s, const double *act,
                   const double *next, double *x)
{
    int nobs = log->nobs, nact = log->nact;
    memcpy(x, s, (size_t)nobs * sizeof *x);
    for (int k = 0; k < nact; k++)
        x[nobs + k] =
            log->naction ? knn->label[(int)act[k]] : rh_knn__clamp_action(knn, k, act[k]);
    memcpy(x + nobs + nact, next, (size_t)nobs * sizeof *x);
}

static void gather_logged(const rh_knn *knn, const rh_log *log, int64_t t, double *x)
{
    gather(knn, log, log->obs + (int64_t)log->from[t] * log->nobs, log->act + t * log->nact,
           log->obs + (int64_t)log->to[t] * log->nobs, x);
}

// Whether the formula gives the rewards of the log.
static bool is_true(const rh_knn *knn, const rh_log *log)
{
    double x[NX], most = 0.0;
    for (int64_t t = 0; t < log->n; t++)
        most = fmax(most, fabs(log->reward[t]));
    for (int64_t t = 0; t < log->n; t++) {
        if ((log->flag[t] & RH_FLAG_TERMINAL) || log->to[t] == RH_UNKNOWN)
            continue;
        gather_logged(knn, log, t, x);
        if (!(fabs(rh_expression__value(&knn->formula, x) - log->reward[t]) <=
              TOLERANCE * most))
            return false;
    }
    return true;
}

// The numbers that are labels of the actions; false if one is none.
static bool take_labels(rh_knn *knn, const rh_log *log)
{
    for (int a = 0; a < log->naction; a++)
        if (rh_number__read(log->label[a], strlen(log->label[a]), &knn->label[a]) != RH_NUMBER)
            return false;
    return true;
}

rh_status rh_knn__fit_reward(rh_knn *knn, const rh_model *model, rh_error *err)
{
    const rh_log *log = model->log;
    if (!log->reward_formula)
        return RH_OK;
    rh_status rc = rh_expression__compile_step(&knn->formula, log->reward_formula, log->nobs,
                                               log->nact, err);
    if (rc)
        return rc;
    knn->label = rh_alloc((size_t)log->naction + 1, sizeof *knn->label);
    if (!knn->label)
        return rh_base__no_memory(err, "knn");
    if (!take_labels(knn, log) || !is_true(knn, log))
        rh_expression__clear(&knn->formula);
    return RH_OK;
}

void rh_knn__bound_formula(rh_knn *knn, const rh_model *model)
{
    const rh_log *log = model->log;
    int nobs = log->nobs, nact = log->nact;
    double lo[RH_MAX_OBS], hi[RH_MAX_OBS], x[NX];
    if (knn->formula.nop == 0)
        return;
    for (int k = 0; k < nobs; k++) {
        lo[k] = INFINITY;
        hi[k] = -INFINITY;
        for (int64_t i = 0; i < log->nstate; i++) {
            lo[k] = fmin(lo[k], log->obs[i * nobs + k]);
            hi[k] = fmax(hi[k], log->obs[i * nobs + k]);
        }
    }
    for (int64_t t = 0; t < log->n; t++) {
        if (log->to[t] == RH_UNKNOWN)
            continue;
        gather_logged(knn, log, t, x);
        for (int k = 0; k < nobs; k++) {
            double middle = 0.5 * (lo[k] + hi[k]);
            x[k] = middle + WIDENED * (x[k] - middle);
            x[nobs + nact + k] = middle + WIDENED * (x[nobs + nact + k] - middle);
        }
        double reward = rh_expression__value(&knn->formula, x);
        if (isfinite(reward))
            knn->reward_lo = fmin(knn->reward_lo, reward);
    }
}

bool rh_knn__reward(const rh_knn *knn, const rh_model *model, const double *s,
                    const double *act, const double *next, double *reward)
{
    double x[NX];
    if (knn->formula.nop == 0)
        return false;
    gather(knn, model->log, s, act, next, x);
    double value = rh_expression__value(&knn->formula, x);
    if (!isfinite(value))
        return false;
    *reward = fmax(value, knn->reward_lo);
    return true;
}
