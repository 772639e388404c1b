// knn_sample.c - probabilities of neighbours, and the result out of coverage.
//
// With d the distances of the n neighbours of a query, or their squares, the probability of
// each is proportional to
//
//     paper     1 - (d + e) / sum(d + e),  e = 1e-6; 1 for n = 1
//     inverse   1 / (d + d_far / 1000)
//     uniform   1
//     kernel    exp(-(d / d_far)^2 / 2)
//
// where d_far is the largest.
//
// 1. The paper's weights are those of the authors' code. They never give a neighbour more than
//    1 / (n - 1), even at distance 0.
// 2. The constant of `inverse` is relative to a distance, so that codes may have any scale: the
//    nearest is at most 1,001 times as probable as the farthest.
// 3. Neighbours at equal distances are equally probable, whatever the weights.
//
// Out of coverage, one of
//
//     pessimistic   the lowest return of the log (outcome.c), and the end of the episode
//     optimistic    the highest
//     cost          the neighbours, with reward - cost * max(0, d - reach) / step
//
// 4. `cost` follows DAC-MDP (Shrestha et al. 2021), which is reach fixed at 0. d is the
//    distance of the neighbour drawn, and step the median length of a logged step, so that the
//    cost is reward per median step. It is continuous at the reach. An action that was never
//    taken has no neighbours and gives the lowest return. So does everything out of coverage if
//    the median logged step has length 0, because there is no unit for the cost.
// 5. In a continuing task no episode ends: the reward is given, and the run continues from a
//    start, as Cartpole does after a failure.

#include "knn_internal.h"
#include "repr/repr.h"

#include <assert.h>
#include <math.h>

void rh_knn__weigh(const double *param, const float *distance, int n, double *p)
{
    assert(n >= 1 && n <= RH_NEIGHBOURS_MOST);
    bool squared = (int)param[RH_KNN_DISTANCE] == RH_KNN_SQUARED;
    double d[RH_NEIGHBOURS_MOST], sum = 0.0;
    for (int i = 0; i < n; i++) {
        d[i] = (double)distance[i];
        d[i] = squared ? d[i] * d[i] : d[i];
        sum += d[i] + 1e-6;
    }
    double far = d[n - 1], total = 0.0;
    for (int i = 0; i < n; i++) {
        switch ((int)param[RH_KNN_WEIGHTS]) {
        case RH_KNN_PAPER:
            p[i] = n == 1 ? 1.0 : 1.0 - (d[i] + 1e-6) / sum;
            break;
        case RH_KNN_INVERSE:
            p[i] = far > 0.0 ? 1.0 / (d[i] + 1e-3 * far) : 1.0;
            break;
        case RH_KNN_KERNEL:
            p[i] = far > 0.0 ? rh_exp(-0.5 * (d[i] / far) * (d[i] / far)) : 1.0;
            break;
        default: // RH_KNN_UNIFORM
            p[i] = 1.0;
        }
        total += p[i];
    }
    for (int i = 0; i < n; i++)
        p[i] /= total;
}

int rh_knn__draw(const double *param, const float *distance, int n, double u)
{
    double p[RH_NEIGHBOURS_MOST], sum = 0.0;
    int chosen = 0;
    rh_knn__weigh(param, distance, n, p);
    while (chosen + 1 < n && u >= (sum += p[chosen]))
        chosen++;
    return chosen;
}

// An upper bound of the distance to a neighbour: the diagonal of the box around all codes and
// scaled actions. INFINITY if codes are of state and action.
static double widest(const rh_knn *knn, const rh_model *model)
{
    if (!model->code)
        return INFINITY;
    int d = rh_repr__ncode(model->repr);
    double square = 0.0;
    for (int k = 0; k < d; k++) {
        float lo = INFINITY, hi = -INFINITY;
        for (int64_t i = 0; i < model->log->nstate; i++) {
            float x = model->code[i * d + k];
            lo = x < lo ? x : lo;
            hi = x > hi ? x : hi;
        }
        square += ((double)hi - lo) * ((double)hi - lo);
    }
    double weight = model->param[RH_KNN_ACTION_WEIGHT];
    if (knn->points)
        square += 4.0 * weight * weight * model->log->nact;
    return sqrt(square);
}

// Whether a query has no neighbours: actions never taken, or distances that overflow.
static bool any_empty(const rh_knn *knn, const rh_model *model)
{
    int64_t nquery = model->log->nstate * model->log->naction;
    for (int64_t q = 0; q < nquery; q++)
        if (knn->index[q * knn->k] < 0)
            return true;
    return false;
}

bool rh_knn__never_resets(const rh_model *model)
{
    bool none = model->task.continuing;
    for (int64_t i = 0; none && i < model->log->n; i++)
        none = !(model->log->flag[i] & RH_FLAG_TERMINAL);
    return none;
}

rh_knn__rules rh_knn__make_rules(const rh_knn *knn, const rh_model *model, const double *param)
{
    int rule = (int)param[RH_KNN_OUT_OF_COVERAGE];
    rh_knn__rules r = {
        .reach = rh_knn__reach(knn, param),
        .given = rule == RH_KNN_OPTIMISTIC ? model->highest : model->lowest,
        .charged = rule == RH_KNN_CHARGED && knn->step > 0.0,
        .goes_on = rule == RH_KNN_PESSIMISTIC && knn->slope && rh_knn__never_resets(model),
        .least = model->task.reward_lo,
    };
    if (knn->slope)
        r.least = fmin(r.least, knn->reward_lo);
    for (int i = 0; knn->slope && i < model->facts->nlimit; i++)
        if (isnan(model->facts->limit[i].reward))
            r.least = fmin(r.least, rh_model__past_limit(model, r.least));
    if (r.charged && isfinite(r.reach))
        r.toll = param[RH_KNN_COST] / knn->step;
    if (r.toll > 0.0)
        r.least -= r.toll * widest(knn, model);
    if ((!r.charged && isfinite(r.reach)) || any_empty(knn, model))
        r.least = fmin(r.least, r.given);
    return r;
}
