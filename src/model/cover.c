// cover.c - how well a log covers an action in a state: the logged steps with this action near
// it.
//
// A point is the code of a step's state, followed by the numbers of a continuous action, each
// scaled from its range in the log to -1 .. 1; or the representation's code of both. Discrete
// actions have an index of points each.
//
//     r       = median over logged steps of the distance to the 5th nearest with this action
//     nearest = distance to the nearest / r
//     near    = number of logged steps within r
//
// 1. r is the log's own resolution, not the coverage radius (knn_reach.c): that is the 99th
//    percentile of all queries where policies seldom vary their actions, so nearly everything
//    would be near. It exists for every kind of model, too.
// 2. A logged step does not count as its own neighbour. The distances of at most 2,000 steps,
//    evenly spread over the log, give the median; steps whose action was taken 5 times or less
//    have no 5th neighbour and are left out.
// 3. Where no such distance is above 0 (equal steps are repeated), the median length of a
//    logged step is the radius; where that is 0 too, 1.
// 4. An action that the log never took is infinitely far.

#include "model.h"
#include "model_internal.h"
#include "neighbours.h"
#include "numeric/stats.h"
#include "repr/repr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 2000 // decision 2

typedef struct covering {
    const rh_model *model;
    const rh_log *log;
    int npoint;            // numbers of a point
    int nadded;            // of these, of a continuous action
    double lo[RH_MAX_ACT]; // least and most of each number of an action in the log
    double hi[RH_MAX_ACT]; //                                              (nact)
    float *point; // owned: of all logged steps                   (n of the log x npoint)
    rh_neighbours *of[RH_MAX_ACTIONS]; // owned: of each action; NULL: never taken   (nlist)
    int nlist;                         // 1 if actions are continuous
    double radius;
} covering;

// ---------------------------------------------------------------------------- points

static double scaled(const covering *c, int k, double act)
{
    double half = 0.5 * c->hi[k] - 0.5 * c->lo[k], centre = 0.5 * c->hi[k] + 0.5 * c->lo[k];
    return half > 0.0 ? (act - centre) / half : 0.0;
}

// The points of n states obs (n x nobs) with actions act (n x nact).
static rh_status encode(const covering *c, int64_t n, const double *obs, const double *act,
                        float *point, rh_error *err)
{
    const rh_repr *repr = c->model->repr;
    int ncode = rh_repr__ncode(repr);
    float *code = c->nadded ? rh_alloc((size_t)n, (size_t)ncode * sizeof *code) : point;
    if (!code)
        return rh_base__no_memory(err, "model");
    rh_status rc =
        rh_repr__encode(repr, n, obs, rh_repr__nact(repr) > 0 ? act : NULL, code, err);
    for (int64_t i = 0; i < n && !rc && c->nadded; i++) {
        memcpy(point + i * c->npoint, code + i * ncode, (size_t)ncode * sizeof *code);
        for (int k = 0; k < c->nadded; k++)
            point[i * c->npoint + ncode + k] = (float)scaled(c, k, act[i * c->log->nact + k]);
    }
    if (c->nadded)
        rh_free(code);
    return rc;
}

static void find_ranges(covering *c)
{
    const rh_log *log = c->log;
    for (int k = 0; k < log->nact; k++) {
        c->lo[k] = INFINITY;
        c->hi[k] = -INFINITY;
        for (int64_t i = 0; i < log->n; i++) {
            c->lo[k] = fmin(c->lo[k], log->act[i * log->nact + k]);
            c->hi[k] = fmax(c->hi[k], log->act[i * log->nact + k]);
        }
    }
}

// The points of all logged steps.
static rh_status make_points(covering *c, rh_error *err)
{
    const rh_log *log = c->log;
    int ncode = rh_repr__ncode(c->model->repr), room = RH_NEIGHBOURS_DIM - ncode;
    size_t nobs = (size_t)log->nobs;
    if (log->naction == 0) {
        find_ranges(c);
        c->nadded = rh_repr__nact(c->model->repr) > 0 ? 0 : log->nact < room ? log->nact : room;
    }
    c->npoint = ncode + c->nadded;
    c->point = rh_alloc((size_t)log->n, (size_t)c->npoint * sizeof *c->point);
    double *obs = rh_alloc((size_t)log->n, nobs * sizeof *obs);
    rh_status rc = c->point && obs ? RH_OK : rh_base__no_memory(err, "model");
    for (int64_t i = 0; i < log->n && !rc; i++)
        memcpy(obs + (size_t)i * nobs, log->obs + (size_t)log->from[i] * nobs,
               nobs * sizeof *obs);
    if (!rc)
        rc = encode(c, log->n, obs, log->act, c->point, err);
    rh_free(obs);
    return rc;
}

// ---------------------------------------------------------------------------- the index

static int list_of(const covering *c, const double *act)
{
    return c->log->naction ? (int)*act : 0;
}

static rh_status index_points(covering *c, rh_error *err)
{
    const rh_log *log = c->log;
    size_t size = (size_t)c->npoint * sizeof *c->point;
    float *own = rh_alloc((size_t)log->n, size);
    rh_status rc = own ? RH_OK : rh_base__no_memory(err, "model");
    c->nlist = log->naction ? log->naction : 1;
    for (int a = 0; a < c->nlist && !rc; a++) {
        int64_t n = 0;
        for (int64_t i = 0; i < log->n; i++)
            if (list_of(c, log->act + i * log->nact) == a)
                memcpy(own + n++ * c->npoint, c->point + i * c->npoint, size);
        if (n)
            rc = rh_neighbours__create(&c->of[a], own, n, c->npoint, err);
    }
    rh_free(own);
    return rc;
}

static double step_length(const covering *c, int64_t i)
{
    const rh_log *log = c->log;
    double sum = 0.0;
    if (i + 1 >= log->n || log->to[i] == RH_UNKNOWN || log->to[i] != log->from[i + 1])
        return 0.0;
    for (int d = 0; d < c->npoint; d++) {
        double gap =
            (double)c->point[(i + 1) * c->npoint + d] - (double)c->point[i * c->npoint + d];
        sum += gap * gap;
    }
    return sqrt(sum);
}

// The radius: decisions 1 to 3.
static void find_radius(covering *c)
{
    const rh_log *log = c->log;
    int64_t n = log->n < MOST_STEPS ? log->n : MOST_STEPS;
    double far[MOST_STEPS], length[MOST_STEPS];
    int nfar = 0, nlength = 0;
    for (int64_t j = 0; j < n; j++) {
        int64_t i = j * log->n / n;
        int32_t index[RH_COVER_TYPICAL + 1];
        float distance2[RH_COVER_TYPICAL + 1];
        int list = list_of(c, log->act + i * log->nact);
        // the step itself, or one that equals it, is the first
        int found = rh_neighbours__find(c->of[list], c->point + i * c->npoint,
                                        RH_COVER_TYPICAL + 1, -1, index, distance2);
        if (found == RH_COVER_TYPICAL + 1 && distance2[RH_COVER_TYPICAL] > 0.0f)
            far[nfar++] = sqrt((double)distance2[RH_COVER_TYPICAL]);
        double moved = step_length(c, i);
        if (moved > 0.0)
            length[nlength++] = moved;
    }
    c->radius = nfar      ? rh_stats__median(far, nfar)
                : nlength ? rh_stats__median(length, nlength)
                          : 1.0;
}

// ---------------------------------------------------------------------------- queries

static rh_cover look_up(const covering *c, const float *point, int list)
{
    rh_cover cover = {.nearest = INFINITY};
    int32_t index[RH_COVER_MOST];
    float distance2[RH_COVER_MOST];
    if (!c->of[list])
        return cover;
    int n = rh_neighbours__find(c->of[list], point, RH_COVER_MOST, -1, index, distance2);
    if (n)
        cover.nearest = sqrt((double)distance2[0]) / c->radius;
    while (cover.near < n && sqrt((double)distance2[cover.near]) <= c->radius)
        cover.near++;
    return cover;
}

rh_status rh_model__cover(const rh_model *model, int64_t n, const double *obs,
                          const double *act, rh_cover *cover, double *radius, rh_error *err)
{
    covering c = {.model = model, .log = model->log};
    float *point = NULL;
    rh_status rc = make_points(&c, err);
    if (rc)
        goto done;
    rc = index_points(&c, err);
    if (rc)
        goto done;
    find_radius(&c);
    point = rh_alloc((size_t)n + 1, (size_t)c.npoint * sizeof *point);
    rc = point ? encode(&c, n, obs, act, point, err) : rh_base__no_memory(err, "model");
    for (int64_t i = 0; i < n && !rc; i++)
        cover[i] = look_up(&c, point + i * c.npoint, list_of(&c, act + i * model->log->nact));
    if (!rc && radius)
        *radius = c.radius;

done:
    for (int a = 0; a < c.nlist; a++)
        rh_neighbours__destroy(c.of[a]);
    rh_free(point);
    rh_free(c.point);
    return rc;
}
