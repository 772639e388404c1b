// knn_reach.c - the coverage radius: how far the nearest neighbour may be.
//
//     none       no limit: the authors' experiments
//     fixed      a distance in codes
//     quantile   of the distances to the nearest neighbour over all (state, action) queries
//     auto       chosen from the log, see below
//
// 1. The queries are the states in which an agent can be, with every action that was taken at
//    least once. A state that the log left by the same action finds itself at distance 0, as in
//    the model. Of more than 100,000 queries every i-th counts. For continuous actions, a query
//    uses the action of another transition, chosen at random; if codes are of state and action,
//    at most 20,000, because each must be computed.
// 2. `auto` is the distance up to which the steps of the log are alike (knn_alike.c),
// 3. but at least the 99th percentile of the queries, which is also used if the log does not
//    determine that distance. With the 95th percentile the setting chosen for Acrobot missed
//    the best return by 12 to 46 on average, with the 99th by 1 to 3 (bench/claim_in_small): a
//    model that ends the episode on every twentieth attempt no longer distinguishes settings.
//
// In near-optimal logs with raw observations, no query of Cartpole is farther than steps are
// alike, and that distance is the reach. In Puddle World half of the queries are farther,
// because the policy hardly ever turns back, and point 3 decides; in Acrobot 0.2 to 27 %, and
// point 3 decides in four logs of five.

#include "knn_internal.h"
#include "repr/repr.h"

#include <math.h>
#include <stdlib.h>

#define MOST_QUERIES 100000
#define MOST_ENCODED 20000
#define FLOOR 0.99 // decision 3, which has the measurement

static int float_ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// The p-quantile of ascending x (n), linear in between.
static double quantile(const float *x, int64_t n, double p)
{
    double at = p * (double)(n - 1);
    int64_t i = (int64_t)at;
    if (i + 1 >= n)
        return (double)x[n - 1];
    return (double)x[i] + (at - (double)i) * ((double)x[i + 1] - (double)x[i]);
}

// ---------------------------------------------------------------------------- queries

// Collect the states in which an agent can be in row (nstate); how many.
static int64_t standing(const rh_model *model, int32_t *row)
{
    const rh_log *log = model->log;
    for (int64_t i = 0; i < log->n; i++) {
        row[log->from[i]] = 1;
        if (log->to[i] != RH_UNKNOWN && !(log->flag[i] & RH_FLAG_TERMINAL))
            row[log->to[i]] = 1;
    }
    for (int64_t i = 0; i < model->nstart; i++)
        row[model->start[i]] = 1;
    int64_t n = 0;
    for (int64_t i = 0; i < log->nstate; i++)
        if (row[i])
            row[n++] = (int32_t)i;
    return n;
}

// Distances from the table, of every stride-th query.
static int64_t near_in_table(const rh_knn *knn, const rh_model *model, const int32_t *row,
                             int64_t nrow, float *near)
{
    const rh_log *log = model->log;
    int64_t nquery = nrow * log->naction, n = 0;
    int64_t stride = (nquery + MOST_QUERIES - 1) / MOST_QUERIES;
    for (int64_t q = 0; q < nquery; q += stride) {
        int64_t at = ((q / nrow) * log->nstate + row[q % nrow]) * knn->k;
        if (knn->index[at] >= 0)
            near[n++] = knn->distance[at];
    }
    return n;
}

// Distances by search, of every stride-th state with the action of a random transition.
static int64_t near_by_search(const rh_knn *knn, const rh_model *model, const int32_t *row,
                              int64_t nrow, rh_rng *rng, float *scratch, float *near)
{
    const rh_log *log = model->log;
    int64_t most = model->code ? MOST_QUERIES : MOST_ENCODED;
    int64_t stride = (nrow + most - 1) / most, n = 0;
    int ncode = rh_repr__ncode(model->repr);
    for (int64_t q = 0; q < nrow; q += stride) {
        float point[RH_NEIGHBOURS_DIM];
        int32_t transition;
        int64_t i = rh_rng_below(rng, (uint32_t)log->n);
        const float *code = model->code ? model->code + (int64_t)row[q] * ncode : NULL;
        rh_knn__point(knn, model, code, log->obs + (int64_t)row[q] * log->nobs,
                      log->act + i * log->nact, scratch, point);
        n += rh_knn__search(knn, point, 1, &transition, &near[n]);
    }
    return n;
}

static rh_status find_near(rh_knn *knn, const rh_model *model, rh_rng *rng, rh_error *err)
{
    const rh_log *log = model->log;
    rh_status rc = RH_OK;
    int64_t most = log->nstate * (log->naction ? log->naction : 1);
    most = most < MOST_QUERIES ? most : MOST_QUERIES;
    int32_t *row = rh_alloc((size_t)log->nstate, sizeof *row);
    float *scratch = rh_alloc(rh_repr__nscratch(model->repr), sizeof *scratch);
    knn->near = rh_alloc((size_t)most, sizeof *knn->near);
    if (!row || !scratch || !knn->near) {
        rc = rh_fail(err, RH_ENOMEM, "knn: out of memory for %lld queries", (long long)most);
        goto done;
    }
    int64_t nrow = standing(model, row);
    knn->nnear = knn->points ? near_by_search(knn, model, row, nrow, rng, scratch, knn->near)
                             : near_in_table(knn, model, row, nrow, knn->near);
    qsort(knn->near, (size_t)knn->nnear, sizeof *knn->near, float_ascending);

done:
    rh_free(row);
    rh_free(scratch);
    return rc;
}

// ---------------------------------------------------------------------------- a step

// The code of the i-th state or, if codes are of state and action, of the i-th transition.
static const float *code_at(const rh_model *model, int64_t i, float *scratch, float *room)
{
    const rh_log *log = model->log;
    if (model->code)
        return model->code + i * rh_repr__ncode(model->repr);
    rh_repr__encode_one(model->repr, log->obs + (int64_t)log->from[i] * log->nobs,
                        log->act + i * log->nact, scratch, room);
    return room;
}

// The median distance between consecutive states, of the whole log, so that all members have
// the same unit. For codes of state and action: between those of a step and the next.
static rh_status measure_step(rh_knn *knn, const rh_model *model, rh_error *err)
{
    const rh_log *log = model->log;
    int d = rh_repr__ncode(model->repr);
    int64_t most = model->code ? MOST_QUERIES : MOST_ENCODED;
    int64_t n = 0, stride = (log->n + most - 1) / most;
    float *length = rh_alloc((size_t)(log->n / stride + 1), sizeof *length);
    float *scratch = rh_alloc(rh_repr__nscratch(model->repr), sizeof *scratch);
    rh_status rc = RH_OK;
    if (!length || !scratch) {
        rc = rh_fail(err, RH_ENOMEM, "knn: out of memory for the lengths of steps");
        goto done;
    }
    for (int64_t i = 0; i < log->n; i += stride) {
        float a[RH_NEIGHBOURS_DIM], b[RH_NEIGHBOURS_DIM];
        bool next = i + 1 < log->n && log->episode[i + 1] == log->episode[i];
        if (model->code ? log->to[i] == RH_UNKNOWN : !next)
            continue;
        const float *from = code_at(model, model->code ? log->from[i] : i, scratch, a);
        const float *to = code_at(model, model->code ? log->to[i] : i + 1, scratch, b);
        length[n++] = (float)rh_knn__distance(from, to, d);
    }
    qsort(length, (size_t)n, sizeof *length, float_ascending);
    knn->step = n ? quantile(length, n, 0.5) : 0.0;

done:
    rh_free(length);
    rh_free(scratch);
    return rc;
}

// ---------------------------------------------------------------------------- reach

rh_status rh_knn__measure(rh_knn *knn, const rh_model *model, const float *point, rh_rng rng,
                          rh_error *err)
{
    double alike = NAN;
    rh_status rc = find_near(knn, model, &rng, err);
    if (!rc)
        rc = measure_step(knn, model, err);
    if (!rc)
        rc = rh_knn__alike(&alike, knn, model, point, &rng, err);
    if (rc)
        return rc;
    if (knn->nnear == 0)
        knn->reach = INFINITY;
    else // fmax() ignores a NAN
        knn->reach = fmax(alike, quantile(knn->near, knn->nnear, FLOOR));
    return RH_OK;
}

double rh_knn__reach(const rh_knn *knn, const double *param)
{
    switch ((int)param[RH_KNN_REACH]) {
    case RH_KNN_FIXED:
        return param[RH_KNN_REACH_DISTANCE];
    case RH_KNN_QUANTILE:
        return knn->nnear ? quantile(knn->near, knn->nnear, param[RH_KNN_REACH_QUANTILE])
                          : INFINITY;
    case RH_KNN_AUTO:
        return knn->reach;
    default: // RH_KNN_NONE
        return INFINITY;
    }
}
