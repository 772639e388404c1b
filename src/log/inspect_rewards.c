// inspect_rewards.c - tests whether rewards are in the rows they belong to.
//
// A reward is predicted from (s, action, s') of its own step, the step before and the step
// after: by regression, and as the mean of the three nearest steps of the other half. The
// better one counts, because rewards may bend sharply and sensors may be many.
//
// 1. A reward that depends on one state only fits two neighbouring steps equally well. Then no
//    shift can be detected, and none matters.
// 2. A few large rewards can make one row look better by accident. So the squared errors of the
//    nearest steps are compared in pairs, and the report says by how many standard errors
//    another row is better. A regression sums over all steps and needs no such test.

#include "inspect_align.h"

#include <math.h>
#include <string.h>

#define PLACES 4000  // steps searched
#define ASKED 1000   // steps queried
#define EFFORT 3.0e8 // differences computed, at most; by hand, bounds the time

// The clipped reward of the i-th step.
static double reward_at(const rh_inspect__view *v, int64_t i)
{
    return fmin(fmax(v->log->reward[v->at[i]], v->reward_lo), v->reward_hi) - v->reward_mean;
}

// The share of a reward that a linear fit on the step k rows away explains.
static bool fit_rewards(const rh_inspect__view *v, int k, double *share)
{
    const rh_log *log = v->log;
    int ns = v->nstate, na = v->naction, p = 2 * ns - 1 + na;
    double *x = rh_alloc((size_t)p + 2, sizeof *x);
    rh_inspect__sums s = {0};
    bool good = x && rh_inspect__sums_init(&s, p, 1);
    for (int64_t i = 0; i < v->n && good; i++) {
        int64_t t = v->at[i] + k;
        double y = reward_at(v, i);
        rh_inspect__put_state(v, log->to[t], x + ns - 1); // overwrites its 1
        rh_inspect__put_state(v, log->from[t], x);
        rh_inspect__put_action(v, t, x + 2 * ns - 1);
        rh_inspect__sums_add(&s, rh_inspect__half(i), x, &y);
    }
    if (good)
        *share = rh_inspect__explained(&s, x + p);
    rh_free(s.solve);
    rh_free(x);
    return good;
}

// The mean reward of the three steps of the other half nearest to q. z: (d x n); far: (n).
static double ask_nearest(const rh_inspect__view *v, const float *z, const int64_t *place,
                          int64_t n, int d, int64_t q, float *far)
{
    float best[3] = {INFINITY, INFINITY, INFINITY};
    double reward[3] = {0.0};
    memset(far, 0, (size_t)n * sizeof *far);
    for (int j = 0; j < d; j++) {
        const float *x = z + j * n;
        float own = x[q];
        for (int64_t i = 0; i < n; i++)
            far[i] += (x[i] - own) * (x[i] - own);
    }
    for (int64_t i = 0; i < n; i++) {
        if (far[i] >= best[2] || rh_inspect__half(place[i]) == rh_inspect__half(place[q]))
            continue;
        int at = far[i] < best[0] ? 0 : far[i] < best[1] ? 1 : 2;
        for (int k = 2; k > at; k--) {
            best[k] = best[k - 1];
            reward[k] = reward[k - 1];
        }
        best[at] = far[i];
        reward[at] = reward_at(v, place[i]);
    }
    return (reward[0] + reward[1] + reward[2]) / 3.0;
}

// The share of a reward that the nearest steps explain, on the step k rows away. error (ASKED):
// squared errors; *nquery: how many.
static bool near_rewards(const rh_inspect__view *v, int k, double *share, double *error,
                         int64_t *nquery)
{
    const rh_log *log = v->log;
    int ns = v->space.n, na = v->naction, d = 2 * ns + na;
    int64_t n = (int64_t)fmin(PLACES, EFFORT / (ASKED * d));
    n = v->n < n ? v->n : n;
    *nquery = n < ASKED ? n : ASKED;
    float *z = rh_alloc((size_t)(n * (d + 1)), sizeof *z);
    int64_t *place = rh_alloc((size_t)n, sizeof *place);
    double x[2 * RH_MAX_OBS + RH_MAX_ACT], whole = 0.0, left = 0.0;
    bool good = z && place;
    for (int64_t i = 0; i < n && good; i++) {
        place[i] = rh_inspect__spread(i, n, v->n);
        int64_t t = v->at[place[i]] + k;
        rh_inspect__place(&v->space, log, log->from[t], x);
        rh_inspect__place(&v->space, log, log->to[t], x + ns);
        rh_inspect__put_action(v, t, x + 2 * ns);
        for (int j = 0; j < d; j++)
            z[j * n + i] = (float)rh_inspect__clip(x[j], RH_INSPECT__CLIP);
    }
    for (int64_t i = 0; i < *nquery && good; i++) {
        int64_t q = rh_inspect__spread(i, *nquery, n);
        double own = reward_at(v, place[q]);
        double e = own - ask_nearest(v, z, place, n, d, q, z + n * d);
        whole += own * own;
        left += error[i] = e * e;
    }
    if (good)
        *share = whole > 0.0 ? 1.0 - left / whole : NAN;
    rh_free(z);
    rh_free(place);
    return good;
}

// By how many standard errors the mean of a (n) exceeds that of b.
static double surely_above(const double *a, const double *b, int64_t n)
{
    double sum = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum += a[i] - b[i];
        square += (a[i] - b[i]) * (a[i] - b[i]);
    }
    double mean = sum / (double)n, spread = square / (double)n - mean * mean;
    return spread > 0.0 ? mean / sqrt(spread / (double)n) : 0.0;
}

bool rh_inspect__rewards(const rh_inspect__view *v, rh_log_alignment *out)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    double straight[3], nearest[3], error[3][ASKED];
    int64_t n = 0;
    for (int k = 0; k < 3; k++) {
        if (!fit_rewards(v, k - 1, &straight[k]) ||
            !near_rewards(v, k - 1, &nearest[k], error[k], &n))
            return false;
        out->reward[k] = fmax(straight[k], nearest[k]);
    }
    for (int k = 0; k < 3; k++)
        out->sure[k] = straight[k] > out->reward[1] + limit->reward_gain
                           ? INFINITY
                           : surely_above(error[1], error[k], n);
    return true;
}
