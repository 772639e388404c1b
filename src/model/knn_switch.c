// knn_switch.c - transitions of other actions stand in for those of an action rarely taken.
//
// A good policy hardly ever takes some actions: in near-optimal logs of Acrobot it coasts in
// 0.9 % of the steps. The nearest such step is then far away, and what is carried over from
// there is wrong: agents found shortcuts and learned in 24 steps what takes 124. A step of
// another action from nearly the same state says more, if the difference between the actions is
// known:
//
//     s' = s'_i + M (s - s_i) + D(a, a_i)
//
// 1. D(a, b) is the mean of s'_j - s'_i - M (s_j - s_i) over the transitions j of the rarer
//    action and the nearest transition i of the other one. Nearer pairs weigh more. It is the
//    same in all states: plants in which an action means something else elsewhere show this as
//    a large error, see 2. The reward's difference is part of D, and of the error.
// 2. A transition of another action counts as `apart` farther away than it is (squares add).
//    This is the distance at which transitions of the same action predict as badly as the
//    nearest of another one do. INFINITY: others predict worse than any of the same action.
// 3. An action that was never taken stays unknown.
//
// On one near-optimal log of Acrobot (5,000 steps, 46 of them coasting) Kendall's tau between
// the scores of the paper's 54 settings in the model and in the simulator rose from 0.45 to
// 0.82, and the best score in the model fell from -24 to -50 (true: -124).

#include "base/scratch.h"
#include "knn_internal.h"
#include "numeric/stats.h"
#include "repr/repr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ACTIONS 16 // beyond, differences are too many to be learned
#define MOST_PAIRS 2000 // of two actions
#define MOST_JUDGED 1000
#define NRANK 8 // neighbours of the same action that are compared, at ranks 1, 2, 4, ... and
#define NFAR 4  // so many at random
#define NBIN 24
#define FEWEST 20 // comparisons in a bin

typedef struct judged {
    double distance, error;
} judged;

static const float *code_from(const rh_model *model, int64_t t)
{
    return model->code + (int64_t)model->log->from[t] * rh_repr__ncode(model->repr);
}

// s'_j - s'_i - M_i (s_j - s_i) and the same of the reward, by position, to out (nobs + 1).
// False if one of them is unknown.
static bool residual(const rh_knn *knn, const rh_model *model, int32_t i, int32_t j,
                     double *out)
{
    const rh_log *log = model->log;
    int nobs = log->nobs;
    int64_t a = rh_knn__transition(knn, i), b = rh_knn__transition(knn, j);
    if (log->to[a] == RH_UNKNOWN || log->to[b] == RH_UNKNOWN)
        return false;
    const float *m = rh_knn__slope(knn, model, i);
    const double *from = log->obs + (int64_t)log->from[a] * nobs;
    const double *other = log->obs + (int64_t)log->from[b] * nobs;
    double x[RH_MAX_OBS];
    for (int k = 0; k < nobs; k++)
        x[k] = rh_knn__difference(model, k, other[k], from[k]);
    for (int r = 0; r < nobs; r++) {
        double sum = rh_knn__difference(model, r, log->obs[(int64_t)log->to[b] * nobs + r],
                                        log->obs[(int64_t)log->to[a] * nobs + r]);
        for (int c = 0; c < nobs; c++)
            sum -= (double)m[r * nobs + c] * x[c];
        out[r] = sum;
    }
    out[nobs] = log->reward[b] - log->reward[a];
    for (int c = 0; c < nobs; c++)
        out[nobs] -= (double)m[nobs * nobs + c] * x[c];
    return true;
}

// The nearest transition of an action to a code, by position; its distance.
static int32_t nearest_of(const rh_knn *knn, int action, const float *code, double *distance)
{
    int32_t index;
    float square;
    const rh_knn__steps *steps = &knn->steps[action];
    rh_neighbours__find(steps->points, code, 1, -1, &index, &square);
    *distance = sqrt((double)square);
    return steps->position[index];
}

double *rh_knn__switched(const rh_knn *knn, const rh_model *model, int to, int from)
{
    return knn->change + ((int64_t)to * knn->nsteps + from) * (model->log->nobs + 1);
}

// D of two actions, from the transitions of the rarer one.
static void compare_actions(rh_knn *knn, const rh_model *model, int rare, int common)
{
    const rh_knn__steps *steps = &knn->steps[rare];
    int nout = model->log->nobs + 1;
    int64_t stride = 1 + steps->n / MOST_PAIRS;
    double *sum = rh_knn__switched(knn, model, rare, common), total = 0.0, x[RH_MAX_OBS + 1];
    double distance, square = 0.0;
    for (int64_t n = 0; n < steps->n; n += stride) {
        nearest_of(knn, common, code_from(model, rh_knn__transition(knn, steps->position[n])),
                   &distance);
        square += distance * distance / (double)(1 + (steps->n - 1) / stride);
    }
    for (int64_t n = 0; n < steps->n; n += stride) {
        int32_t j = steps->position[n];
        int32_t i =
            nearest_of(knn, common, code_from(model, rh_knn__transition(knn, j)), &distance);
        if (!residual(knn, model, i, j, x))
            continue;
        double weight = square > 0.0 ? 1.0 / (1.0 + distance * distance / square) : 1.0;
        for (int k = 0; k < nout; k++)
            sum[k] += weight * x[k];
        total += weight;
    }
    for (int k = 0; k < nout; k++) {
        sum[k] = total > 0.0 ? sum[k] / total : 0.0;
        rh_knn__switched(knn, model, common, rare)[k] = -sum[k];
    }
}

// ---------------------------------------------------------------------------- apart

static int by_distance(const void *a, const void *b)
{
    return rh_stats__ascending(&((const judged *)a)->distance, &((const judged *)b)->distance);
}

// The error of a prediction in standard deviations of the sensors and the reward.
static double size_of(const double *x, const double *scale, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += (x[k] / scale[k]) * (x[k] / scale[k]);
    return sqrt(sum);
}

// Predict transition j from i.
static bool judge(const rh_knn *knn, const rh_model *model, const double *scale, int32_t i,
                  int32_t j, double distance, judged *out)
{
    const rh_log *log = model->log;
    double x[RH_MAX_OBS + 1];
    int a = (int)log->act[rh_knn__transition(knn, j)],
        b = (int)log->act[rh_knn__transition(knn, i)];
    if (i == j || !residual(knn, model, i, j, x))
        return false;
    for (int k = 0; a != b && k <= log->nobs; k++)
        x[k] -= rh_knn__switched(knn, model, a, b)[k];
    *out = (judged){distance, size_of(x, scale, log->nobs + 1)};
    return true;
}

typedef struct comparison {
    judged *same, *other; // owned
    int64_t nsame, nother;
    double *work; // owned (nsame or nother, whichever is more)
} comparison;

// Predict evenly spaced transitions from others of their action, and of other actions.
static void compare(comparison *c, const rh_knn *knn, const rh_model *model,
                    const double *scale, rh_rng *rng)
{
    const rh_log *log = model->log;
    int d = rh_repr__ncode(model->repr);
    int64_t stride = 1 + knn->nuse / MOST_JUDGED;
    for (int64_t j = 0; j < knn->nuse; j += stride) {
        int64_t t = rh_knn__transition(knn, j);
        int a = (int)log->act[t];
        const float *code = code_from(model, t);
        const rh_knn__steps *own = &knn->steps[a];
        int32_t index[RH_NEIGHBOURS_MOST];
        float square[RH_NEIGHBOURS_MOST];
        int n = rh_neighbours__find(own->points, code, RH_NEIGHBOURS_MOST, -1, index, square);
        for (int rank = 1; rank < n; rank *= 2)
            c->nsame += judge(knn, model, scale, own->position[index[rank]], (int32_t)j,
                              sqrt((double)square[rank]), &c->same[c->nsame]);
        for (int k = 0; k < NFAR; k++) {
            int32_t i = own->position[rh_rng_below(rng, (uint32_t)own->n)];
            double far =
                rh_knn__distance(code, code_from(model, rh_knn__transition(knn, i)), d);
            c->nsame += judge(knn, model, scale, i, (int32_t)j, far, &c->same[c->nsame]);
        }
        for (int b = 0; b < knn->nsteps; b++) {
            double distance;
            if (b == a || !knn->steps[b].n)
                continue;
            int32_t i = nearest_of(knn, b, code, &distance);
            c->nother +=
                judge(knn, model, scale, i, (int32_t)j, distance, &c->other[c->nother]);
        }
    }
}

// Decision 2.
static double find_apart(comparison *c)
{
    if (c->nother < FEWEST || c->nsame < NBIN * FEWEST)
        return INFINITY;
    for (int64_t i = 0; i < c->nother; i++)
        c->work[i] = c->other[i].error;
    double error = rh_stats__median(c->work, c->nother);
    for (int64_t i = 0; i < c->nother; i++)
        c->work[i] = c->other[i].distance;
    double distance = rh_stats__median(c->work, c->nother);
    qsort(c->same, (size_t)c->nsame, sizeof *c->same, by_distance);
    for (int bin = 0; bin < NBIN; bin++) {
        int64_t first = c->nsame * bin / NBIN, end = c->nsame * (bin + 1) / NBIN;
        for (int64_t i = first; i < end; i++)
            c->work[i - first] = c->same[i].error;
        double at = c->same[(first + end) / 2].distance;
        if (rh_stats__median(c->work, end - first) >= error && at >= distance)
            return sqrt(at * at - distance * distance);
    }
    return INFINITY;
}

rh_status rh_knn__fit_switch(rh_knn *knn, const rh_model *model, const double *scale,
                             rh_rng rng, rh_error *err)
{
    int n = knn->nsteps;
    if (n < 2 || n > MOST_ACTIONS)
        return RH_OK;
    rh_scratch scratch = {0};
    comparison c = {0};
    size_t nsame = (MOST_JUDGED + 1) * (NRANK + NFAR), nother = (MOST_JUDGED + 1) * (size_t)n;
    size_t width = (size_t)model->log->nobs + 1;
    knn->change = rh_alloc((size_t)n * (size_t)n, width * sizeof *knn->change);
    c.same = rh_scratch__take(&scratch, nsame, sizeof *c.same);
    c.other = rh_scratch__take(&scratch, nother, sizeof *c.other);
    c.work = rh_scratch__take(&scratch, nsame > nother ? nsame : nother, sizeof *c.work);
    bool room = knn->change && !scratch.failed;
    for (int a = 0; room && a < n; a++)
        for (int b = a + 1; b < n; b++) {
            if (!knn->steps[a].n || !knn->steps[b].n)
                continue;
            bool swap = knn->steps[a].n > knn->steps[b].n;
            compare_actions(knn, model, swap ? b : a, swap ? a : b);
        }
    if (room) {
        compare(&c, knn, model, scale, &rng);
        knn->apart = find_apart(&c);
    }
    rh_scratch__clear(&scratch);
    return room ? RH_OK : rh_base__no_memory(err, "knn");
}
