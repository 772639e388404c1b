// regions.c - a small regression tree, and its leaves as regions.
//
// After Breiman et al. (1984), Classification and Regression Trees: a node is split where the
// sum of squared deviations of y from the means of both sides is least:
//
//     gain = n_l mean_l^2 + n_r mean_r^2 - n mean^2
//
// 1. Splits are tried at the nine deciles of every feature in the node, rounded to a power of
//    ten that is at most a hundredth of the feature's range there: people read these numbers
//    and set valves by them.
// 2. A split must explain at least 2 % of the variance at the root, and leave at least `least`
//    points on each side. Equal gains: the first feature, the lowest threshold.
// 3. A region is at least a tenth of a feature's range wide. Visits in a model that stitches
//    are logged states, often the same ones, and a split would single them out.
// 4. Sums are taken in the order of the points, so equal points give equal bits.
// 5. Regions that touch and need about the same are one region to a reader. Two boxes are
//    joined if their bounds are equal except for one feature, in which they touch. The largest
//    such pair is not searched for: pairs are tried in order until none is left.

#include "regions.h"

#include "base/text.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUTS 9 // decision 1
// decision 2; by hand. Advice of two studies (log_next.c) has the same regions with 0.01; with
// 0.04 one region fewer in Cartpole, and another one in examples/plant.csv.
#define LEAST_GAIN 0.02
#define LEAST_WIDTH 0.1 // decision 3

// The points, and the tree so far.
typedef struct tree {
    const double *x, *y;     // (n x nfeature), (n)
    int nfeature, depth;     //
    int64_t least;           //
    double least_gain;       //
    int32_t *order;          // owned: points, those of a node together, ascending  (n)
    int32_t *other;          // in order's block: scratch                           (n)
    double *lo, *hi;         // owned: ranges of the features in all points  (nfeature)
    double *sorted;          // owned: scratch                                      (n)
    rh_regions__region *out; // borrowed                                            (nout)
    int nout;
} tree;

typedef struct cut {
    int feature; // -1: none
    double at, gain;
} cut;

static double value(const tree *t, int32_t point, int feature)
{
    return t->x[(int64_t)point * t->nfeature + feature];
}

// Round to the power of ten that is at most a hundredth of a range.
static double rounded(double x, double range)
{
    double unit = 1.0;
    while (unit > range / 100.0)
        unit /= 10.0;
    while (unit * 10.0 <= range / 100.0)
        unit *= 10.0;
    // dividing by the inverse gives the number that its digits read back to
    return unit < 1.0 ? round(x / unit) / round(1.0 / unit) : round(x / unit) * unit;
}

// The gain of splitting points order (n) at a threshold, or -1.
static double gain_of(const tree *t, const int32_t *order, int64_t n, int feature, double at)
{
    double left = 0.0, right = 0.0;
    int64_t nleft = 0;
    for (int64_t i = 0; i < n; i++) {
        bool below = value(t, order[i], feature) < at;
        nleft += below;
        *(below ? &left : &right) += t->y[order[i]];
    }
    int64_t nright = n - nleft;
    if (nleft < t->least || nright < t->least)
        return -1.0;
    double all = left + right;
    return left * left / (double)nleft + right * right / (double)nright - all * all / (double)n;
}

// Whether both sides of a cut in a region are wide enough.
static bool is_wide(const tree *t, const rh_regions__region *region, int feature, double at)
{
    double lo = t->lo[feature], hi = t->hi[feature], least = LEAST_WIDTH * (hi - lo);
    for (int i = 0; i < region->nside; i++)
        if (region->side[i].feature == feature) {
            lo = fmax(lo, region->side[i].lo);
            hi = fmin(hi, region->side[i].hi);
        }
    return at - lo >= least && hi - at >= least;
}

static cut best_cut(const tree *t, const int32_t *order, int64_t n,
                    const rh_regions__region *region)
{
    cut best = {.feature = -1};
    for (int f = 0; f < t->nfeature; f++) {
        for (int64_t i = 0; i < n; i++)
            t->sorted[i] = value(t, order[i], f);
        rh_stats__sort(t->sorted, n);
        double range = t->sorted[n - 1] - t->sorted[0], before = -INFINITY;
        if (!(range > 0.0) || !isfinite(range))
            continue;
        for (int c = 1; c <= CUTS; c++) {
            double at = rounded(t->sorted[n * c / (CUTS + 1)], range);
            if (at == before || !is_wide(t, region, f, at))
                continue;
            before = at;
            double gain = gain_of(t, order, n, f, at);
            if (gain > best.gain)
                best = (cut){f, at, gain};
        }
    }
    return best;
}

// Put the points below the cut first, each side in its order. Returns how many there are.
static int64_t part(const tree *t, int32_t *order, int64_t n, const cut *by)
{
    int64_t nleft = 0, nright = 0;
    for (int64_t i = 0; i < n; i++) {
        if (value(t, order[i], by->feature) < by->at)
            order[nleft++] = order[i];
        else
            t->other[nright++] = order[i];
    }
    memcpy(order + nleft, t->other, (size_t)nright * sizeof *order);
    return nleft;
}

// The side of a feature, added in order of features where there is none.
static rh_regions__side *side_of(rh_regions__region *r, int feature)
{
    int at = 0;
    while (at < r->nside && r->side[at].feature < feature)
        at++;
    if (at < r->nside && r->side[at].feature == feature)
        return &r->side[at];
    memmove(&r->side[at + 1], &r->side[at], (size_t)(r->nside - at) * sizeof *r->side);
    r->nside++;
    r->side[at] = (rh_regions__side){feature, -INFINITY, INFINITY};
    return &r->side[at];
}

// Split the node of points order (n) with this region. The recursion is at most `depth` deep.
static void split(tree *t, int32_t *order, int64_t n, int depth, rh_regions__region region)
{
    cut best = {.feature = -1};
    if (depth < t->depth)
        best = best_cut(t, order, n, &region);
    if (best.feature < 0 || best.gain < t->least_gain) {
        region.n = n;
        region.total = 0.0;
        for (int64_t i = 0; i < n; i++)
            region.total += t->y[order[i]];
        t->out[t->nout++] = region;
        return;
    }
    int64_t nleft = part(t, order, n, &best);
    rh_regions__region side = region;
    side_of(&side, best.feature)->hi = best.at;
    split(t, order, nleft, depth + 1, side);
    side = region;
    side_of(&side, best.feature)->lo = best.at;
    split(t, order + nleft, n - nleft, depth + 1, side);
}

static void find_ranges(const tree *t, int64_t n)
{
    for (int f = 0; f < t->nfeature; f++) {
        t->lo[f] = INFINITY;
        t->hi[f] = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            t->lo[f] = fmin(t->lo[f], t->x[i * t->nfeature + f]);
            t->hi[f] = fmax(t->hi[f], t->x[i * t->nfeature + f]);
        }
    }
}

rh_status rh_regions__split(int64_t n, int nfeature, const double *x, const double *y,
                            int depth, int64_t least, rh_regions__region *out, int *nout)
{
    tree t = {.x = x, .y = y, .nfeature = nfeature, .least = least > 0 ? least : 1, .out = out};
    t.depth = depth < RH_REGIONS__DEPTH ? depth : RH_REGIONS__DEPTH;
    t.order = rh_alloc((size_t)n + 1, 2 * sizeof *t.order);
    t.sorted = rh_alloc((size_t)n + 1, sizeof *t.sorted);
    t.lo = rh_alloc((size_t)nfeature, 2 * sizeof *t.lo);
    t.hi = t.lo ? t.lo + nfeature : NULL;
    rh_status rc = t.order && t.sorted && t.lo ? RH_OK : RH_ENOMEM;
    if (!rc && n > 0) {
        double sum = 0.0, square = 0.0;
        t.other = t.order + n;
        for (int64_t i = 0; i < n; i++) {
            t.order[i] = (int32_t)i;
            sum += y[i];
            square += y[i] * y[i];
        }
        find_ranges(&t, n);
        t.least_gain = fmax(LEAST_GAIN * (square - sum * sum / (double)n), 1e-12 * square);
        split(&t, t.order, n, 0, (rh_regions__region){0});
    }
    *nout = t.nout;
    rh_free(t.order);
    rh_free(t.sorted);
    rh_free(t.lo);
    return rc;
}

// ---------------------------------------------------------------------------- regions

bool rh_regions__has(const rh_regions__region *region, const double *x)
{
    for (int i = 0; i < region->nside; i++) {
        const rh_regions__side *s = &region->side[i];
        if (!(s->lo <= x[s->feature] && x[s->feature] < s->hi))
            return false;
    }
    return true;
}

// The bounds of a feature.
static rh_regions__side bounds(const rh_regions__region *r, int feature)
{
    for (int i = 0; i < r->nside; i++)
        if (r->side[i].feature == feature)
            return r->side[i];
    return (rh_regions__side){feature, -INFINITY, INFINITY};
}

// The only feature in which two regions differ, where they touch; -1: there is no such one.
static int shared_face(const rh_regions__region *a, const rh_regions__region *b)
{
    int face = -1;
    for (int i = 0; i < a->nside + b->nside; i++) {
        int f = i < a->nside ? a->side[i].feature : b->side[i - a->nside].feature;
        rh_regions__side x = bounds(a, f), y = bounds(b, f);
        if ((x.lo == y.lo && x.hi == y.hi) || f == face)
            continue;
        if (face >= 0 || (x.hi != y.lo && y.hi != x.lo))
            return -1;
        face = f;
    }
    return face;
}

// Make a of a and b, which share a face.
static void join(rh_regions__region *a, const rh_regions__region *b, int face)
{
    rh_regions__side other = bounds(b, face), *s = side_of(a, face);
    s->lo = fmin(s->lo, other.lo);
    s->hi = fmax(s->hi, other.hi);
    if (isinf(s->lo) && isinf(s->hi)) {
        int at = (int)(s - a->side);
        memmove(s, s + 1, (size_t)(--a->nside - at) * sizeof *s);
    }
    a->n += b->n;
    a->total += b->total;
}

static bool alike(const rh_regions__region *a, const rh_regions__region *b, double factor)
{
    double x = a->total / (double)a->n, y = b->total / (double)b->n;
    return x < factor * y && y < factor * x;
}

// Join a pair. False: there is none.
static bool join_two(rh_regions__region *region, int *n, double factor)
{
    for (int i = 0; i < *n; i++)
        for (int j = i + 1; j < *n; j++) {
            rh_regions__region *a = &region[i], *b = &region[j];
            int face = a->group == b->group && alike(a, b, factor) ? shared_face(a, b) : -1;
            if (face < 0)
                continue;
            join(a, b, face);
            memmove(b, b + 1, (size_t)(*n - j - 1) * sizeof *b);
            --*n;
            return true;
        }
    return false;
}

int rh_regions__join(rh_regions__region *region, int n, double factor)
{
    while (join_two(region, &n, factor))
        ;
    return n;
}
