// knn_alike.c - the distance up to which the steps of a log are alike.
//
// Random pairs of transitions with the same action, from different episodes, are sorted by the
// distance of their codes. The difference of a pair is the sum of squared differences of their
// effects: the change of each sensor and the reward, each in units of its variance. Near pairs
// differ by noise alone; far ones as much as any two steps with that action. Neighbours are
// used up to the first distance at which pairs differ by more than the mean of these two. (In
// geostatistics, the range of a variogram.)
//
// 1. Effects are compared in sensors, not in codes, because the codes are being judged.
// 2. Steps of one episode are alike because they are close in time, which neighbours in the
//    model need not be. In a log of one episode, pairs are well apart in time.
// 3. With too few pairs, or if near pairs differ nearly like far ones, it is undetermined.
//
// In near-optimal logs with raw observations, steps are alike up to 1.0 to 1.4 median steps in
// Acrobot (five logs), 1.3 to 4.2 in Puddle World (five) and 4.4 to 5.5 in Cartpole (three).

#include "knn_internal.h"
#include "repr/repr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NPAIR 100000    // pairs drawn
#define REUSED 64       // most pairs per transition, on average
#define NBIN 32         // of equal size, from near to far
#define LEAST_PAIRS 640 // twenty per bin
#define NTRY 8          // to find a partner in another episode
#define APART 50        // steps between partners in a log of one episode
// near pairs that differ this share of the mean say nothing; by hand: 0.8 and 0.95 give the
// same reach in two logs
#define NOTHING 0.9
#define ROUNDING 1e-9 // relative changes below this are rounding errors

typedef struct pair {
    float distance;
    float unlike;
    int32_t drawn; // its number
} pair;

// Transitions by action, and their effects.
typedef struct steps {
    const rh_knn *knn;
    const rh_model *model;
    const float *point;                // of the transitions in use, or NULL (nuse x npoint)
    int nwhat;                         // numbers of an effect: sensors, reward
    double scale[RH_MAX_OBS + 1];      // 1 / variance; 0 where nothing varies
    int32_t *order;                    // owned: transitions in use, by action            (n)
    int64_t first[RH_MAX_ACTIONS + 1]; // of each action in order               (naction + 1)
    int64_t n;
    pair *pair; // owned                                                              (npair)
    int64_t npair;
} steps;

// One number of the effect of transition t.
static double what(const rh_log *log, int32_t t, int i)
{
    if (i == log->nobs)
        return log->reward[t];
    return log->obs[(int64_t)log->to[t] * log->nobs + i] -
           log->obs[(int64_t)log->from[t] * log->nobs + i];
}

static int action_of(const rh_log *log, int32_t t)
{
    return log->naction ? (int)log->act[t] : 0;
}

// Transitions with a known s', sorted by action.
static void sort_by_action(steps *s)
{
    const rh_log *log = s->model->log;
    int nlist = log->naction ? log->naction : 1;
    int64_t place[RH_MAX_ACTIONS + 1] = {0};
    for (int64_t i = 0; i < s->knn->nuse; i++) {
        int32_t t = rh_knn__transition(s->knn, i);
        if (log->to[t] != RH_UNKNOWN)
            place[action_of(log, t) + 1]++;
    }
    for (int a = 0; a < nlist; a++)
        place[a + 1] += place[a];
    memcpy(s->first, place, sizeof place);
    for (int64_t i = 0; i < s->knn->nuse; i++) {
        int32_t t = rh_knn__transition(s->knn, i);
        if (log->to[t] != RH_UNKNOWN)
            s->order[place[action_of(log, t)]++] = (int32_t)i;
    }
    s->n = s->first[nlist];
}

// The largest absolute value of a sensor or of the reward.
static double largest(const steps *s, int i)
{
    const rh_log *log = s->model->log;
    double most = 0.0;
    for (int64_t j = 0; j < s->n; j++) {
        int32_t t = rh_knn__transition(s->knn, s->order[j]);
        int64_t at = (int64_t)log->from[t] * log->nobs + i;
        most = fmax(most, fabs(i == log->nobs ? log->reward[t] : log->obs[at]));
    }
    return most;
}

// Scale by the variance of effects about the mean of their action.
static void scale_steps(steps *s)
{
    const rh_log *log = s->model->log;
    int nlist = log->naction ? log->naction : 1;
    for (int i = 0; i < s->nwhat; i++) {
        double square = 0.0, small = ROUNDING * largest(s, i);
        for (int a = 0; a < nlist; a++) {
            double sum = 0.0, n = (double)(s->first[a + 1] - s->first[a]);
            for (int64_t j = s->first[a]; j < s->first[a + 1]; j++)
                sum += what(log, rh_knn__transition(s->knn, s->order[j]), i);
            for (int64_t j = s->first[a]; j < s->first[a + 1]; j++) {
                double off = what(log, rh_knn__transition(s->knn, s->order[j]), i) - sum / n;
                square += off * off;
            }
        }
        double variance = square / (double)(s->n > 1 ? s->n : 1);
        bool varies = variance > small * small && isfinite(variance);
        s->scale[i] = varies && isfinite(1.0 / variance) ? 1.0 / variance : 0.0;
    }
}

// The point of a transition in use.
static const float *place_of(const steps *s, int32_t i)
{
    if (s->point)
        return s->point + (int64_t)i * s->knn->npoint;
    int64_t row = s->model->log->from[rh_knn__transition(s->knn, i)];
    return s->model->code + row * rh_repr__ncode(s->model->repr);
}

double rh_knn__distance(const float *a, const float *b, int d)
{
    double square = 0.0;
    for (int k = 0; k < d; k++)
        square += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
    return sqrt(square);
}

static pair compare(const steps *s, int32_t i, int32_t j)
{
    int d = s->point ? s->knn->npoint : rh_repr__ncode(s->model->repr);
    int32_t t = rh_knn__transition(s->knn, i), u = rh_knn__transition(s->knn, j);
    double apart = rh_knn__distance(place_of(s, i), place_of(s, j), d), unlike = 0.0;
    for (int k = 0; k < s->nwhat; k++) {
        double off = what(s->model->log, t, k) - what(s->model->log, u, k);
        unlike += s->scale[k] > 0.0 ? off * off * s->scale[k] : 0.0;
    }
    return (pair){.distance = (float)apart, .unlike = (float)unlike};
}

// An unrelated transition with the same action as i, or -1.
static int32_t partner(const steps *s, int32_t i, rh_rng *rng)
{
    const rh_log *log = s->model->log;
    int32_t t = rh_knn__transition(s->knn, i);
    int a = action_of(log, t);
    uint32_t n = (uint32_t)(s->first[a + 1] - s->first[a]);
    for (int try = 0; try < NTRY; try++) {
        int32_t j = s->order[s->first[a] + rh_rng_below(rng, n)],
                u = rh_knn__transition(s->knn, j);
        bool apart = log->nepisode > 1 ? log->episode[t] != log->episode[u]
                                       : t - u > APART || u - t > APART;
        if (apart)
            return j;
    }
    return -1;
}

static void draw_pairs(steps *s, rh_rng *rng)
{
    int64_t most = s->n * REUSED < NPAIR ? s->n * REUSED : NPAIR;
    for (int64_t drawn = 0; drawn < most; drawn++) {
        int32_t i = s->order[rh_rng_below(rng, (uint32_t)s->n)];
        int32_t j = partner(s, i, rng);
        if (j < 0)
            continue;
        s->pair[s->npair] = compare(s, i, j);
        s->pair[s->npair++].drawn = (int32_t)drawn;
    }
}

// Equal distances stay in the order they were drawn, which does not depend on the difference.
static int by_distance(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance > y->distance ? 1 : -1;
    return (x->drawn > y->drawn) - (x->drawn < y->drawn);
}

static double mean_unlike(const pair *p, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)p[i].unlike;
    return sum / (double)n;
}

// The first distance at which pairs differ more than halfway between near pairs and all; NAN if
// near pairs differ like all.
static double where_alike(const pair *p, int64_t n)
{
    double near = mean_unlike(p, n / NBIN), all = mean_unlike(p, n);
    if (!(near < NOTHING * all))
        return NAN;
    for (int bin = 1; bin < NBIN; bin++) {
        int64_t first = n * bin / NBIN, end = n * (bin + 1) / NBIN;
        if (mean_unlike(p + first, end - first) > 0.5 * (near + all))
            return (double)p[first].distance;
    }
    return (double)p[n - 1].distance;
}

rh_status rh_knn__alike(double *out, const rh_knn *knn, const rh_model *model,
                        const float *point, rh_rng *rng, rh_error *err)
{
    rh_status rc = RH_OK;
    steps s = {.knn = knn, .model = model, .point = point, .nwhat = model->log->nobs + 1};
    s.order = rh_alloc((size_t)knn->nuse, sizeof *s.order);
    s.pair = rh_alloc(NPAIR, sizeof *s.pair);
    if (!s.order || !s.pair) {
        rc = rh_fail(err, RH_ENOMEM, "knn: out of memory for %d pairs of steps", NPAIR);
        goto done;
    }
    sort_by_action(&s);
    scale_steps(&s);
    if (s.n > 1)
        draw_pairs(&s, rng);
    qsort(s.pair, (size_t)s.npair, sizeof *s.pair, by_distance);
    *out = s.npair >= LEAST_PAIRS ? where_alike(s.pair, s.npair) : (double)NAN;

done:
    rh_free(s.order);
    rh_free(s.pair);
    return rc;
}
