// linear_judge.c - how true a regression is, along the logged path and beside it.
//
//     path     held-out stretches with the logged actions, up to LONGEST steps ahead and
//     without
//              noise: squared error of the state after 1, 2, 5, ... steps
//     beside   the same length with random actions: squared difference between the regression
//     of
//              all parts and the one without a part, times the number of parts less one. This
//              is the jackknife's variance of the prediction (Efron 1982)
//
// Their sum, divided by the squared error of the persistence forecast, is the score of a
// horizon; its root is averaged over horizons.
//
// 1. One-step errors prefer what copies the noise of a sensor (TCLab: 1 lag and 4 lags differ
//    by half after one step, by two thirds after 50).
// 2. A controller's log hardly varies some combinations of sensors and actions. Terms that only
//    these would determine cost nothing along the path, and beside it predictions by them are
//    arbitrary: squares and products on the plants of bench/plants.
// 3. Random actions are uniform in the logged range, each held for up to HOLD steps.

#include "linear_internal.h"

#include <math.h>
#include <string.h>

#define LONGEST 100
#define NSTART 16 // stretches of a part, of each of both kinds
#define HOLD 10
#define WORST 2.0 // most that a horizon counts, in errors of persistence; by hand

static const int horizon[] = {1, 2, 5, 10, 20, 50, LONGEST};
enum { NHORIZON = sizeof horizon / sizeof *horizon };
_Static_assert(NHORIZON == RH_LINEAR__NHORIZON, "one sum per horizon");

void rh_linear__judge_take(rh_linear__judge *j, rh_scratch *memory, const rh_linear *m,
                           int nterm)
{
    size_t n = (size_t)nterm + RH_LINEAR__QUEUE;
    j->all = rh_scratch__take(memory, rh_linear__nacross(m, nterm) + 1, sizeof *j->all);
    j->part = rh_scratch__take(memory, rh_linear__nacross(m, nterm) + 1, sizeof *j->part);
    j->x = rh_scratch__take(memory, n, sizeof *j->x);
    j->y = rh_scratch__take(memory, n, sizeof *j->y);
}

void rh_linear__judge_begin(rh_linear__judge *j, const rh_linear *m, const rh_model *model,
                            const rh_linear__plan *plan, const double *weight)
{
    j->m = m;
    j->model = model;
    j->plan = *plan;
    j->nterm = rh_linear__nterm(m, plan);
    rh_linear__lay_across(m, j->nterm, weight, j->all);
    memset(j->path, 0, sizeof j->path);
    memset(j->beside, 0, sizeof j->beside);
    memset(j->persistence, 0, sizeof j->persistence);
    memset(j->npath, 0, sizeof j->npath);
    memset(j->nbeside, 0, sizeof j->nbeside);
}

// Squared distance of two observations, in standard deviations.
static double apart(const rh_linear__judge *j, const double *a, const double *b)
{
    const rh_linear *m = j->m;
    double sum = 0.0;
    for (int i = 0; i < m->nout; i++) {
        int k = m->out[i];
        double d = rh_knn__difference(j->model, k, a[k], b[k]) / m->scale[k];
        sum += d * d;
    }
    return sum;
}

// Whether the log goes on after transition t with one that has an s' and does not end.
static bool goes_on(const rh_log *log, int64_t t)
{
    return rh_linear__follows(log, t) && !(log->flag[t + 1] & RH_FLAG_TERMINAL) &&
           log->to[t + 1] != RH_UNKNOWN;
}

// One step of a regression with an action; signals that nobody controls are those of `real`.
static void move(const rh_linear__judge *j, const double *across, const double *act,
                 const double *real, double *x, double *obs)
{
    const rh_linear *m = j->m;
    double next[RH_MAX_OBS];
    rh_linear__act(m, &j->plan, act, x);
    rh_linear__next(m, j->model, across, x, j->nterm, obs, NULL, next);
    for (int i = 0; i < m->nexo; i++)
        next[m->exo[i]] = real[m->exo[i]];
    rh_derive__compute(j->model->derive, next);
    rh_linear__advance(m, j->model, &j->plan, obs, next, x);
    memcpy(obs, next, (size_t)m->nobs * sizeof *obs);
}

// A stretch from transition t, which ends before `end`, with the logged actions.
static void follow_path(rh_linear__judge *j, int64_t t, int64_t end)
{
    const rh_log *log = j->model->log;
    const double *start = log->obs + (int64_t)log->from[t] * log->nobs;
    double obs[RH_MAX_OBS];
    rh_linear__past past;
    rh_linear__past_of(&past, j->m, log, t);
    rh_linear__enter(j->m, j->model, &j->plan, &past, j->x);
    memcpy(obs, start, (size_t)log->nobs * sizeof *obs);
    for (int step = 1, h = 0; step <= LONGEST; step++, t++) {
        const double *real = log->obs + (int64_t)log->to[t] * log->nobs;
        move(j, j->part, log->act + t * log->nact, real, j->x, obs);
        if (step == horizon[h]) {
            j->path[h] += apart(j, obs, real);
            j->persistence[h] += apart(j, start, real);
            j->npath[h++]++;
        }
        if (t + 1 >= end || !goes_on(log, t))
            return;
    }
}

// A stretch from transition t with random actions, by all parts and without one.
static void leave_path(rh_linear__judge *j, int64_t t, rh_rng rng)
{
    const rh_linear *m = j->m;
    const rh_log *log = j->model->log;
    const double *real = log->obs + (int64_t)log->from[t] * log->nobs;
    double one[RH_MAX_OBS], other[RH_MAX_OBS], act[RH_MAX_ACTIONS];
    rh_linear__past past;
    rh_linear__past_of(&past, j->m, log, t);
    rh_linear__enter(m, j->model, &j->plan, &past, j->x);
    rh_linear__enter(m, j->model, &j->plan, &past, j->y);
    memcpy(one, real, (size_t)m->nobs * sizeof *one);
    memcpy(other, real, (size_t)m->nobs * sizeof *other);
    for (int step = 1, h = 0, hold = 0; step <= LONGEST; step++) {
        for (int k = 0; hold == 0 && k < m->nact; k++)
            act[k] = m->naction ? rh_rng_below(&rng, (uint32_t)m->naction)
                                : rh_rng_range(&rng, j->model->task.act_lo[k],
                                               j->model->task.act_hi[k]);
        hold = hold ? hold - 1 : (int)rh_rng_below(&rng, HOLD);
        real = log->to[t] != RH_UNKNOWN ? log->obs + (int64_t)log->to[t] * log->nobs : real;
        move(j, j->all, act, real, j->x, one);
        move(j, j->part, act, real, j->y, other);
        t += goes_on(log, t);
        if (step == horizon[h]) {
            j->beside[h] += apart(j, one, other);
            j->nbeside[h++]++;
        }
    }
}

void rh_linear__judge_part(rh_linear__judge *j, const int32_t *row, int64_t n,
                           const double *weight)
{
    rh_linear__lay_across(j->m, j->nterm, weight, j->part);
    for (int i = 0; i < NSTART && n > 0; i++) {
        int64_t t = row[n * i / NSTART];
        follow_path(j, t, (int64_t)row[n - 1] + 1);
        leave_path(j, t, rh_rng_stream(1, RH_STREAM_FIT, 0, (uint64_t)i));
    }
}

double rh_linear__judge_score(const rh_linear__judge *j, int npart)
{
    double sum = 0.0;
    int n = 0;
    for (int h = 0; h < NHORIZON; h++) {
        if (!(j->persistence[h] > 0.0))
            continue;
        double known = j->persistence[h] / (double)j->npath[h];
        double off = j->path[h] / (double)j->npath[h] +
                     (npart - 1) * j->beside[h] / (double)j->nbeside[h];
        sum += fmin(sqrt(off / known), WORST);
        n++;
    }
    return n ? sum / n : WORST;
}
