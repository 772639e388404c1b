// neighbours.c - exact nearest neighbours: the index and its queries.
//
// 1. Search uses a tree of boxes (tree.c) or compares all pairs, whichever is less work. When
//    the index is built, a few leaves search for their neighbours; if they visit a third of the
//    other leaves, the boxes are not used. This happens if points fill many dimensions. States
//    in a representation do not, because they have few degrees of freedom.
// 2. Queries have their own index, because sixteen nearby queries are answered together.
//    Including its construction, a table takes from a third (a million points) to nine tenths
//    (5,000 points that fill six dimensions) of the time of single queries.
//
// Measured on one core of a 2.3 GHz Xeon with AVX-512 (bench/bench_neighbours.c, which defines
// man2 and man4): microseconds per query in a table of the three nearest of all points, and the
// ratio to the better of nanoflann and FLANN in the same run.
//
//     points                         5,000        100,000      1,000,000
//     uniform in 2 dimensions  0.057   6.1x   0.075   6.1x   0.131   9.6x
//     uniform in 6             0.471   4.3x   0.960   4.7x   1.37    6.9x
//     uniform in 32            5.61     16x   122      26x   1562     26x
//     man2 in 16               0.112   7.1x   0.159   8.0x   0.218    17x
//     man4 in 32               0.521    14x   0.906    13x   1.07     26x
//
// Building the index takes 0.1 to 0.5 us per point, 1.2 to 7 times less than theirs. A table
// takes 1.2 to 1.5 times as long with AVX2, and 2 to 3.5 times with SSE2.

#include "neighbours.h"

#include "base/text.h"
#include "kernel.h"
#include "tree.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#define NTRIAL 3      // leaves that test the boxes
#define TRIAL_K 8     // neighbours they ask for
#define TOO_MANY 0.35 // share of visited leaves above which boxes do not pay: decision 1

_Static_assert(RH_NEIGHBOURS_MOST == RH_MOST_NEAR && RH_NEIGHBOURS_DIM == RH_MOST_DIM,
               "the loops hold the most neighbours of a query");

struct rh_neighbours {
    rh_boxes boxes;
    bool all; // pairs are compared
};

// ---------------------------------------------------------------------------- the index

static rh_status check(const float *points, int64_t n, int d, rh_error *err)
{
    if (d < 1 || d > RH_NEIGHBOURS_DIM)
        return rh_fail(err, RH_EINVAL, "neighbours: %d dimensions, expected 1 to %d", d,
                       RH_NEIGHBOURS_DIM);
    if (n < 1 || n > INT32_MAX - 1)
        return rh_fail(err, RH_EINVAL, "neighbours: %" PRId64 " points, expected 1 to %d", n,
                       INT32_MAX - 1);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < d; k++) {
            float x = points[i * d + k];
            if (!isfinite(x))
                return rh_fail(err, RH_EINVAL,
                               "neighbours: row %" PRId64 ", dimension %d is %s, expected a "
                               "finite number",
                               i, k,
                               isnan(x)   ? "NaN"
                               : x < 0.0f ? "-inf"
                                          : "inf");
        }
    return RH_OK;
}

// Whether a few evenly spaced leaves visit too many of the others.
static bool boxes_fail(const rh_boxes *boxes)
{
    if (boxes->nleaf <= RH_LEAF)
        return false;
    _Alignas(64) rh_near near[TRIAL_K * RH_LEAF];
    double met = 0.0, most = TOO_MANY * NTRIAL * RH_LEAF * boxes->nleaf;
    for (int i = 0; i < NTRIAL && met <= most; i++) {
        int32_t leaf = (int32_t)((int64_t)(boxes->nleaf - 1) * (2 * i + 1) / (2 * NTRIAL));
        met += (double)rh_model__kernels_best()->find_leaf(boxes, false, boxes, leaf, TRIAL_K,
                                                           NULL, near);
    }
    return met > most;
}

rh_status rh_neighbours__create(rh_neighbours **out, const float *points, int64_t n, int d,
                                rh_error *err)
{
    rh_neighbours *made = NULL;
    rh_status rc = check(points, n, d, err);
    if (rc)
        goto done;
    made = rh_alloc(1, sizeof *made);
    if (!made) {
        rc = rh_base__no_memory(err, "neighbours");
        goto done;
    }
    rc = rh_boxes__init(&made->boxes, points, (int32_t)n, d, err);
    if (rc)
        goto done;
    made->all = boxes_fail(&made->boxes);

    *out = made;
    made = NULL;

done:
    rh_neighbours__destroy(made);
    return rc;
}

void rh_neighbours__destroy(rh_neighbours *points)
{
    if (!points)
        return;
    rh_boxes__clear(&points->boxes);
    rh_free(points);
}

bool rh_neighbours__all_pairs(const rh_neighbours *points)
{
    return points->all;
}

// ---------------------------------------------------------------------------- queries

// Copy a list of neighbours, `stride` apart, to the caller's arrays; how many there are.
static int unpack(const rh_near *near, int stride, int k, int32_t *index, float *distance2)
{
    int n = 0;
    for (int i = 0; i < k; i++) {
        rh_near one = near[(ptrdiff_t)i * stride];
        bool there = one != RH_NOBODY;
        n += there;
        index[i] = there ? (int32_t)(uint32_t)one : -1;
        if (distance2)
            distance2[i] = rh_near__distance2(one);
    }
    return n;
}

int rh_neighbours__find(const rh_neighbours *points, const float *query, int k, int32_t skip,
                        int32_t *index, float *distance2)
{
    assert(k >= 1 && k <= RH_NEIGHBOURS_MOST);
    for (int i = 0; i < points->boxes.d; i++)
        assert(isfinite(query[i]));
    rh_near near[RH_NEIGHBOURS_MOST];
    rh_model__kernels_best()->find(&points->boxes, points->all, query, k, skip, near);
    return unpack(near, 1, k, index, distance2);
}

int32_t rh_neighbours__nblock(const rh_neighbours *queries)
{
    return queries->boxes.nleaf;
}

void rh_neighbours__find_range(const rh_neighbours *points, const rh_neighbours *queries, int k,
                               const int32_t *skip, int32_t begin, int32_t end, int32_t *index,
                               float *distance2)
{
    assert(k >= 1 && k <= RH_NEIGHBOURS_MOST);
    assert(points->boxes.d == queries->boxes.d);
    assert(begin >= 0 && end <= queries->boxes.nleaf);
    const rh_model__kernels *kernels = rh_model__kernels_best();
    const rh_boxes *q = &queries->boxes;
    _Alignas(64) rh_near near[RH_NEIGHBOURS_MOST * RH_LEAF];
    for (int32_t leaf = begin; leaf < end; leaf++) {
        kernels->find_leaf(&points->boxes, points->all, q, leaf, k, skip, near);
        for (int i = 0; i < RH_LEAF && leaf * RH_LEAF + i < q->n; i++) {
            int64_t at = (int64_t)q->index[(int64_t)leaf * RH_LEAF + i] * k;
            unpack(near + i, RH_LEAF, k, index + at, distance2 ? distance2 + at : NULL);
        }
    }
}
