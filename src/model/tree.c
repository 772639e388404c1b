// tree.c - builds a k-d tree with sixteen branches per node from the top down.
//
// Points are roughly halved along the dimension of largest spread until leaves of sixteen
// remain. Four halvings make one node.
//
// 1. A half is a whole number of subtrees, so all leaves but the last are full, the children of
//    a node follow from its number, and their boxes are adjacent.
// 2. Equal values are ordered by index: of coincident points a search needs one leaf.
// 3. Of many points a sample chooses the dimension, which affects the speed, not the result.
// 4. The last four halvings of a node work on a copy of its 256 points that fits the cache.

#include "tree.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define NODE (RH_LEAF * RH_LEAF) // points of a node above leaves
#define SAMPLE 256               // points used to choose a dimension
#define PIVOTS 64                // rows used to choose a pivot

// A sort key: a coordinate, as an integer ordered like floats, above a name.
typedef int64_t row;

typedef struct builder {
    rh_boxes *boxes;
    const float *x;    // borrowed                                  (n x d)
    row *row;          // owned, the names are indices              (n)
    float *local;      // owned, the points of one node             (256 x d)
    row part[NODE];    // their rows, named by place in local
    int32_t who[NODE]; // their indices
    uint32_t chance;
} builder;

static inline row make_row(float x, int32_t name)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = bits < 0 ? bits ^ INT32_MAX : bits;
    return (row)((uint64_t)(uint32_t)bits << 32 | (uint32_t)name);
}

static inline int32_t name_of(row r)
{
    return (int32_t)(uint32_t)r;
}

// ---------------------------------------------------------------------------- halving

static void sort(row *r, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        row x = r[i];
        int32_t j = i;
        for (; j > 0 && r[j - 1] > x; j--)
            r[j] = r[j - 1];
        r[j] = x;
    }
}

// A pivot that splits r (n) a little past place nth, seen from the nearer end, so that the
// smaller part probably contains it.
static row choose_pivot(builder *b, const row *r, int32_t n, int32_t nth)
{
    row sample[PIVOTS];
    int m = n / 32 < 5 ? 5 : n / 32 < PIVOTS ? (int)(n / 32) : PIVOTS;
    for (int i = 0; i < m; i++) { // one from each of m stretches: no row twice
        int64_t from = (int64_t)n * i / m, to = (int64_t)n * (i + 1) / m;
        b->chance = b->chance * 1664525u + 1013904223u;
        sample[i] = r[from + (int64_t)((uint64_t)(to - from) * b->chance >> 32)];
    }
    sort(sample, m);
    int past = m < 16 ? 1 : m / 12, at = (int)((int64_t)nth * m / n);
    at += nth < n / 2 ? past : -past;
    return sample[at < 1 ? 1 : at > m - 1 ? m - 1 : at];
}

// Move rows below the pivot to the front, without branches on data; how many.
static int32_t partition(row *r, int32_t n, row pivot)
{
    int32_t below = 0;
    for (int32_t i = 0; i < n; i++) {
        row x = r[i];
        r[i] = r[below];
        r[below] = x;
        below += x < pivot;
    }
    return below;
}

// Arrange r (n) so that the nth least are at the front.
static void divide(builder *b, row *r, int32_t n, int32_t nth)
{
    while (n > 12) {
        int32_t below = partition(r, n, choose_pivot(b, r, n, nth));
        if (nth < below) {
            n = below;
        } else {
            r += below;
            n -= below;
            nth -= below;
        }
    }
    sort(r, n);
}

// The dimension in which the points named in r (n) are most spread; every `step`-th counts.
static int widest(const float *x, int d, const row *r, int32_t n, int32_t step)
{
    float low[RH_MOST_DIM], high[RH_MOST_DIM];
    memcpy(low, x + (ptrdiff_t)name_of(r[0]) * d, (size_t)d * sizeof *low);
    memcpy(high, low, (size_t)d * sizeof *high);
    for (int64_t i = step; i < n; i += step) {
        const float *p = x + (ptrdiff_t)name_of(r[i]) * d;
        for (int k = 0; k < d; k++) {
            low[k] = p[k] < low[k] ? p[k] : low[k];
            high[k] = p[k] > high[k] ? p[k] : high[k];
        }
    }
    int best = 0;
    for (int k = 1; k < d; k++)
        if (high[k] - low[k] > high[best] - low[best])
            best = k;

    // a sample of coincident points says nothing
    if (step > 1 && high[best] == low[best])
        return widest(x, d, r, n, 1);
    return best;
}

// Halve the points named in r (n): nth to the front.
static void halve(builder *b, const float *x, row *r, int32_t n, int32_t nth)
{
    int d = b->boxes->d;
    int dim = widest(x, d, r, n, n > 2 * SAMPLE ? n / SAMPLE : 1);
    for (int32_t i = 0; i < n; i++)
        r[i] = make_row(x[(ptrdiff_t)name_of(r[i]) * d + dim], name_of(r[i]));
    divide(b, r, n, nth);
}

// ---------------------------------------------------------------------------- leaves

// Leaf number `leaf` has the points r (n) of the local ones.
static void fill_leaf(builder *b, int32_t leaf, const row *r, int32_t n)
{
    int d = b->boxes->d;
    float *point = b->boxes->point + (ptrdiff_t)leaf * d * RH_LEAF;
    int32_t *index = b->boxes->index + (ptrdiff_t)leaf * RH_LEAF, first = INT32_MAX;
    for (int i = 0; i < RH_LEAF; i++) {
        int32_t who = i < n ? b->who[name_of(r[i])] : INT32_MAX;
        index[i] = who;
        first = who < first ? who : first;
        const float *p = b->local + (ptrdiff_t)(i < n ? name_of(r[i]) : 0) * d;
        for (int k = 0; k < d; k++)
            point[(ptrdiff_t)k * RH_LEAF + i] = i < n ? p[k] : NAN;
    }
    b->boxes->level[0].first[leaf] = first;
}

// The local points r (n) to the leaves from `leaf` on.
static void arrange_local(builder *b, int32_t leaf, row *r, int32_t n)
{
    if (n <= RH_LEAF) {
        fill_leaf(b, leaf, r, n);
        return;
    }
    int32_t nleaf = (n + RH_LEAF - 1) / RH_LEAF, left = (nleaf + 1) / 2;
    halve(b, b->local, r, n, left * RH_LEAF);
    arrange_local(b, leaf, r, left * RH_LEAF);
    arrange_local(b, leaf + left, r + left * RH_LEAF, n - left * RH_LEAF);
}

// The points named in rows from 16 leaf on, n of them, to the leaves from `leaf` on.
static void arrange(builder *b, int32_t leaf, int32_t n)
{
    int d = b->boxes->d;
    row *r = b->row + (ptrdiff_t)leaf * RH_LEAF;
    if (n <= NODE) {
        for (int32_t i = 0; i < n; i++) {
            b->who[i] = name_of(r[i]);
            memcpy(b->local + (ptrdiff_t)i * d, b->x + (ptrdiff_t)b->who[i] * d,
                   (size_t)d * sizeof *b->local);
            b->part[i] = i;
        }
        arrange_local(b, leaf, b->part, n);
        return;
    }

    // the largest subtree that is less than all of it
    int64_t size = NODE;
    while (size * RH_LEAF < n)
        size *= RH_LEAF;
    int32_t left = (int32_t)(((n + size - 1) / size + 1) / 2 * size);
    halve(b, b->x, r, n, left);
    arrange(b, leaf, left);
    arrange(b, leaf + left / RH_LEAF, n - left);
}

// ---------------------------------------------------------------------------- boxes

// The boxes of a level, from what is inside.
static void bound(rh_boxes *boxes, int level)
{
    const rh_model__kernels *kernels = rh_model__kernels_best();
    rh_model__level *l = &boxes->level[level];
    int d = boxes->d;
    ptrdiff_t group = (ptrdiff_t)d * 2 * RH_LEAF;
    for (int32_t i = 0; i < l->nnode; i++) {
        float *box = l->box + i / RH_LEAF * group + i % RH_LEAF;
        if (level == 0) {
            const float *point = boxes->point + (ptrdiff_t)i * d * RH_LEAF;
            int32_t left = boxes->n - i * RH_LEAF;
            kernels->enclose(point, point, RH_LEAF, d, left < RH_LEAF ? left : RH_LEAF, box);
            continue;
        }
        const rh_model__level *under = l - 1;
        const float *inside = under->box + i * group;
        const int32_t *first = under->first + (ptrdiff_t)i * RH_LEAF;
        int32_t left = under->nnode - i * RH_LEAF, n = left < RH_LEAF ? left : RH_LEAF;
        kernels->enclose(inside, inside + RH_LEAF, 2 * RH_LEAF, d, n, box);
        l->first[i] = first[0];
        for (int j = 1; j < n; j++)
            l->first[i] = first[j] < l->first[i] ? first[j] : l->first[i];
    }
}

// False if memory ran out.
static bool reserve(rh_boxes *boxes)
{
    size_t d = (size_t)boxes->d, nleaf = (size_t)boxes->nleaf;
    boxes->point = rh_alloc(nleaf * RH_LEAF * d, sizeof *boxes->point);
    boxes->index = rh_alloc(nleaf * RH_LEAF, sizeof *boxes->index);
    if (!boxes->point || !boxes->index)
        return false;
    size_t ngroup = 0;
    for (size_t n = nleaf; ngroup != 1; n = ngroup) {
        rh_model__level *l = &boxes->level[boxes->nlevel++];
        ngroup = (n + RH_LEAF - 1) / RH_LEAF;
        l->nnode = (int32_t)n;
        l->box = rh_alloc(ngroup * 2 * RH_LEAF * d, sizeof *l->box);
        l->first = rh_alloc(ngroup * RH_LEAF, sizeof *l->first);
        if (!l->box || !l->first)
            return false;
    }
    return true;
}

rh_status rh_boxes__init(rh_boxes *boxes, const float *points, int32_t n, int d, rh_error *err)
{
    rh_status rc = RH_OK;
    boxes->n = n;
    boxes->d = d;
    boxes->nleaf = (int32_t)(((int64_t)n + RH_LEAF - 1) / RH_LEAF);
    builder *b = rh_alloc(1, sizeof *b);
    row *rows = rh_alloc((size_t)n, sizeof *rows);
    float *local = rh_alloc((size_t)NODE * (size_t)d, sizeof *local);
    if (!b || !rows || !local || !reserve(boxes)) {
        rc = rh_base__no_memory(err, "neighbours");
        goto done;
    }

    b->boxes = boxes;
    b->x = points;
    b->row = rows;
    b->local = local;
    for (int32_t i = 0; i < n; i++)
        rows[i] = i;
    arrange(b, 0, n);
    for (int level = 0; level < boxes->nlevel; level++)
        bound(boxes, level);

done:
    rh_free(b);
    rh_free(rows);
    rh_free(local);
    return rc;
}

void rh_boxes__clear(rh_boxes *boxes)
{
    rh_free(boxes->point);
    rh_free(boxes->index);
    for (int i = 0; i < RH_MOST_LEVEL; i++) {
        rh_free(boxes->level[i].box);
        rh_free(boxes->level[i].first);
    }
}
