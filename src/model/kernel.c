// kernel.c - nearest-neighbour search: plain C, compiled once per instruction set (RH_ISA).
//
// 1. All instruction sets give the same bits. Sixteen distances are computed side by side, each
//    summed over the dimensions in order, with products and sums rounded separately. A fused
//    multiply-add would save one operation of three, but not every processor has one.
// 2. The distance of a box is summed in the same order from gaps no greater than the
//    differences to any point inside. Rounding is monotonic, so the bound never exceeds a
//    computed distance, and no tolerance is needed.
// 3. (distance, index) is compared as one integer, for nodes as (bound, least index inside). A
//    thousand coincident points are therefore not all visited.
// 4. The queries of a leaf traverse the tree together. A leaf that concerns many of them is
//    processed point by point with all queries side by side and branch-free sorting; one that
//    concerns few is processed query by query with all its points side by side.
// 5. A partly filled leaf is padded with NaN, which fails every comparison.
// 6. A search begins with the leaf of its queries, or one near them, and goes upwards: when it
//    reaches the large boxes, it can skip most of them. From the top it would have to sort the
//    children of every node on its way.
// 7. A query alone, as in a step of a carrying model, needs no list of nodes: it visits those
//    of a group in the order of their distances. A step takes 9, 4 and 2 % less than with a
//    list (Puddle World, Cartpole, Acrobot; AMD EPYC, Zen 4).
//
// The limits FEW and SHORT were measured (k = 3 to 24, d = 2 to 32).

#include "kernel.h"

#include <stddef.h>
#include <string.h>

// ---------------------------------------------------------------------------- sixteen floats

#if defined(__AVX512F__)

#include <immintrin.h>
#define NVEC 1 // vectors that make sixteen
#define NSUM 8 // sums that fit into the registers
typedef __m512 vec;
#define LOAD(p) _mm512_load_ps(p)
#define STORE(p, a) _mm512_store_ps(p, a)
#define SPREAD(x) _mm512_set1_ps(x)
#define SUB(a, b) _mm512_sub_ps(a, b)
#define ADD(a, b) _mm512_add_ps(a, b)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define MAX(a, b) _mm512_max_ps(a, b)
#define AT_MOST(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)

#elif defined(__AVX2__)

#include <immintrin.h>
#define NVEC 2
#define NSUM 4
typedef __m256 vec;
#define LOAD(p) _mm256_load_ps(p)
#define STORE(p, a) _mm256_store_ps(p, a)
#define SPREAD(x) _mm256_set1_ps(x)
#define SUB(a, b) _mm256_sub_ps(a, b)
#define ADD(a, b) _mm256_add_ps(a, b)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define MAX(a, b) _mm256_max_ps(a, b)
#define AT_MOST(a, b) _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ))

#else // generic vectors

#define NVEC 4
#define NSUM 2
typedef float vec __attribute__((vector_size(16), may_alias));
typedef int32_t ints __attribute__((vector_size(16)));
#define LOAD(p) (*(const vec *)(p))
#define STORE(p, a) (*(vec *)(p) = (a))
#define SPREAD(x) ((vec){x, x, x, x})
#define SUB(a, b) ((a) - (b))
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define MAX(a, b) greater(a, b)
#define AT_MOST(a, b) at_most(a, b)

static inline vec greater(vec a, vec b)
{
    ints m = a > b;
    return (vec)(((ints)a & m) | ((ints)b & ~m));
}

static inline unsigned at_most(vec a, vec b)
{
    ints m = (a <= b) & (ints){1, 2, 4, 8};
    return (unsigned)(m[0] | m[1] | m[2] | m[3]);
}

#endif

#define WIDTH (RH_LEAF / NVEC)

typedef struct lanes {
    vec v[NVEC];
} lanes;

static inline lanes spread(float x)
{
    lanes a;
    for (int i = 0; i < NVEC; i++)
        a.v[i] = SPREAD(x);
    return a;
}

static inline lanes load(const float *x)
{
    lanes a;
    for (int i = 0; i < NVEC; i++)
        a.v[i] = LOAD(x + i * WIDTH);
    return a;
}

static inline void store(float *x, lanes a)
{
    for (int i = 0; i < NVEC; i++)
        STORE(x + i * WIDTH, a.v[i]);
}

static inline lanes greatest(lanes a, lanes b)
{
    for (int i = 0; i < NVEC; i++)
        a.v[i] = MAX(a.v[i], b.v[i]);
    return a;
}

static inline lanes minus(lanes a, lanes b)
{
    for (int i = 0; i < NVEC; i++)
        a.v[i] = SUB(a.v[i], b.v[i]);
    return a;
}

// sum + t * t
static inline lanes plus_square(lanes sum, lanes t)
{
    for (int i = 0; i < NVEC; i++)
        sum.v[i] = ADD(sum.v[i], MUL(t.v[i], t.v[i]));
    return sum;
}

// A bit for each lane in which a <= b, which NaN is not.
static inline unsigned which(lanes a, lanes b)
{
    unsigned mask = 0;
    for (int i = 0; i < NVEC; i++)
        mask |= (unsigned)AT_MOST(a.v[i], b.v[i]) << i * WIDTH;
    return mask;
}

// ---------------------------------------------------------------------------- a search

#define FEW 9    // fewer queries than this visit a leaf one by one
#define SHORT 24 // lists up to this length are sorted without branches
#define NENTRY (RH_MOST_LEVEL * RH_LEAF)

// A node to visit, with its bound and least index.
typedef struct entry {
    rh_near bound;
    int32_t node, level;
} entry;

// Up to sixteen queries traversing the tree.
typedef struct search {
    _Alignas(64) float worst[RH_LEAF]; // distance of the last neighbour so far
    _Alignas(64) int32_t skip[RH_LEAF];
    const rh_boxes *points;
    const float *query;      // by dimension                       (d x 16)
    const float *low, *high; // box around the queries             (d)
    rh_near *near;           // neighbours so far, in order        (k x 16)
    rh_near limit;           // the greatest of the last ones
    entry *entry;            // nodes to visit, the next one last  (NENTRY)
    int nentry, k;
    unsigned real; // lanes with a query
    int64_t met;   // visits of a leaf by a query
} search;

static inline rh_near pack(float distance2, int32_t index)
{
    uint32_t bits;
    memcpy(&bits, &distance2, sizeof bits);
    return (rh_near)((uint64_t)bits << 32 | (uint32_t)index);
}

// ---------------------------------------------------------------------------- leaves

// Insert one neighbour per query: every list passes on the greater one. Lanes without a query
// hold garbage that is never read.
#if defined(__AVX512F__)

static inline void insert_all(search *s, lanes distance2, int32_t index)
{
    __m512i bits = _mm512_castps_si512(distance2.v[0]), at = _mm512_set1_epi32(index);
    __mmask16 barred = _mm512_cmpeq_epi32_mask(at, _mm512_load_si512(s->skip));
    bits = _mm512_mask_mov_epi32(bits, barred, _mm512_set1_epi32(INT32_MAX));
    __m512i wide = _mm512_set1_epi64(index);
    __m512i a = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(bits));
    __m512i b = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(bits, 1));
    a = _mm512_or_si512(_mm512_slli_epi64(a, 32), wide);
    b = _mm512_or_si512(_mm512_slli_epi64(b, 32), wide);

    rh_near *near = s->near;
    __m512i p = a, q = b;
    for (int i = 0; i < s->k; i++, near += RH_LEAF) {
        __m512i old_a = _mm512_load_si512(near), old_b = _mm512_load_si512(near + 8);
        p = _mm512_min_epi64(old_a, a);
        q = _mm512_min_epi64(old_b, b);
        a = _mm512_max_epi64(old_a, a);
        b = _mm512_max_epi64(old_b, b);
        _mm512_store_si512(near, p);
        _mm512_store_si512(near + 8, q);
    }
    __m256i low = _mm512_cvtepi64_epi32(_mm512_srli_epi64(p, 32));
    __m256i high = _mm512_cvtepi64_epi32(_mm512_srli_epi64(q, 32));
    _mm256_store_si256((__m256i *)s->worst, low);
    _mm256_store_si256((__m256i *)(s->worst + 8), high);
}

#else

static inline void insert_all(search *s, lanes distance2, int32_t index)
{
    _Alignas(64) float d2[RH_LEAF];
    _Alignas(64) rh_near fresh[RH_LEAF];
    store(d2, distance2);
    for (int i = 0; i < RH_LEAF; i++)
        fresh[i] = s->skip[i] == index ? INT64_MAX : pack(d2[i], index);

    rh_near *near = s->near;
    for (int i = 0; i < s->k; i++, near += RH_LEAF)
        for (int j = 0; j < RH_LEAF; j++) {
            rh_near a = near[j], b = fresh[j];
            near[j] = a < b ? a : b;
            fresh[j] = a < b ? b : a;
        }
    near -= RH_LEAF;
    for (int j = 0; j < RH_LEAF; j++)
        s->worst[j] = rh_near__distance2(near[j]);
}

#endif

static inline rh_near lesser(rh_near a, rh_near b)
{
    return a < b ? a : b;
}

// Insert one neighbour for one query. In a short list every place takes the median of three,
// which is faster than a mispredicted branch.
static inline void insert(search *s, int lane, rh_near fresh)
{
    rh_near *near = s->near + lane, *last = near + (ptrdiff_t)(s->k - 1) * RH_LEAF, *at = last;
    if (s->k <= SHORT) {
        for (; at > near; at -= RH_LEAF) {
            rh_near before = at[-RH_LEAF], least = lesser(at[0], fresh);
            at[0] = before > least ? before : least;
        }
        at[0] = lesser(at[0], fresh);
    } else if (fresh < *last) {
        for (; at > near && at[-RH_LEAF] > fresh; at -= RH_LEAF)
            at[0] = at[-RH_LEAF];
        at[0] = fresh;
    }
    s->worst[lane] = rh_near__distance2(*last);
}

// Compare all queries with all points of a leaf. Whether a list may have changed.
static inline bool meet_all(search *s, int32_t leaf)
{
    const rh_boxes *b = s->points;
    int d = b->d;
    const float *query = s->query, *point = b->point + (ptrdiff_t)leaf * d * RH_LEAF;
    const int32_t *index = b->index + (ptrdiff_t)leaf * RH_LEAF;
    bool changed = false;
    for (int j = 0; j < RH_LEAF; j += NSUM) {
        lanes sum[NSUM];
        for (int i = 0; i < NSUM; i++)
            sum[i] = spread(0.0f);
        for (int k = 0; k < d; k++) {
            lanes q = load(query + k * RH_LEAF);
            for (int i = 0; i < NSUM; i++)
                sum[i] = plus_square(sum[i], minus(q, spread(point[k * RH_LEAF + j + i])));
        }
        for (int i = 0; i < NSUM; i++)
            if (which(sum[i], load(s->worst)) & s->real) {
                insert_all(s, sum[i], index[j + i]);
                changed = true;
            }
    }
    return changed;
}

// The first leaf of the only query: its k nearest points in order.
#if defined(__AVX512F__)

static inline void fill_one(search *s, int32_t leaf)
{
    const rh_boxes *b = s->points;
    int d = b->d, n = s->k < RH_LEAF ? s->k : RH_LEAF;
    const float *point = b->point + (ptrdiff_t)leaf * d * RH_LEAF;
    __m512i index = _mm512_loadu_si512(b->index + (ptrdiff_t)leaf * RH_LEAF);
    lanes sum = spread(0.0f);
    for (int k = 0; k < d; k++)
        sum = plus_square(sum, minus(load(point + k * RH_LEAF), spread(s->low[k])));

    // not a number and the skipped point: behind all
    __mmask16 real =
        _mm512_cmp_ps_mask(sum.v[0], SPREAD(rh_near__distance2(RH_NOBODY)), _CMP_LE_OQ) &
        _mm512_cmpneq_epi32_mask(index, _mm512_set1_epi32(s->skip[0]));
    __m512i bits = _mm512_castps_si512(sum.v[0]), none = _mm512_set1_epi64(RH_NOBODY);
    __m512i x = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(bits));
    __m512i y = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(bits, 1));
    x = _mm512_or_si512(_mm512_slli_epi64(x, 32),
                        _mm512_cvtepu32_epi64(_mm512_castsi512_si256(index)));
    y = _mm512_or_si512(_mm512_slli_epi64(y, 32),
                        _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(index, 1)));
    x = _mm512_mask_mov_epi64(none, (__mmask8)real, x);
    y = _mm512_mask_mov_epi64(none, (__mmask8)(real >> 8), y);
    for (int i = 0; i < n; i++) {
        rh_near least = _mm512_reduce_min_epi64(_mm512_min_epi64(x, y));
        __m512i all = _mm512_set1_epi64(least);
        s->near[(ptrdiff_t)i * RH_LEAF] = least;
        x = _mm512_mask_mov_epi64(x, _mm512_cmpeq_epi64_mask(x, all), none);
        y = _mm512_mask_mov_epi64(y, _mm512_cmpeq_epi64_mask(y, all), none);
    }
    s->worst[0] = rh_near__distance2(s->near[(ptrdiff_t)(s->k - 1) * RH_LEAF]);
}

#elif defined(__AVX2__)

// The bits of the least of sixteen integers in all lanes.
static inline __m256i least_of(const __m256i x[2])
{
    __m256i m = _mm256_min_epi32(x[0], x[1]);
    m = _mm256_min_epi32(m, _mm256_permute2x128_si256(m, m, 1));
    m = _mm256_min_epi32(m, _mm256_shuffle_epi32(m, 0x4e));
    return _mm256_min_epi32(m, _mm256_shuffle_epi32(m, 0xb1));
}

static inline void fill_one(search *s, int32_t leaf)
{
    const rh_boxes *b = s->points;
    int d = b->d, n = s->k < RH_LEAF ? s->k : RH_LEAF;
    const float *point = b->point + (ptrdiff_t)leaf * d * RH_LEAF;
    const int32_t *index = b->index + (ptrdiff_t)leaf * RH_LEAF;
    lanes sum = spread(0.0f);
    for (int k = 0; k < d; k++)
        sum = plus_square(sum, minus(load(point + k * RH_LEAF), spread(s->low[k])));

    // the bits of the distances; not a number and the skipped point: behind all
    const __m256i none = _mm256_set1_epi32(INT32_MAX), skip = _mm256_set1_epi32(s->skip[0]);
    const __m256i place[2] = {_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                              _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15)};
    __m256i bits[2];
    for (int h = 0; h < 2; h++) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(index + 8 * h));
        __m256i bad = _mm256_castps_si256(_mm256_cmp_ps(sum.v[h], sum.v[h], _CMP_UNORD_Q));
        bad = _mm256_or_si256(bad, _mm256_cmpeq_epi32(at, skip));
        bits[h] = _mm256_blendv_epi8(_mm256_castps_si256(sum.v[h]), none, bad);
    }
    for (int i = 0; i < n; i++) {
        __m256i m = least_of(bits), a = _mm256_cmpeq_epi32(bits[0], m),
                c = _mm256_cmpeq_epi32(bits[1], m);
        int32_t least = _mm256_cvtsi256_si32(m);
        if (least == INT32_MAX)
            break;
        unsigned hit = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(a)) |
                       (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(c)) << 8;
        int lane = __builtin_ctz(hit);
        for (hit &= hit - 1; hit; hit &= hit - 1) // equal distances: the lowest index
            lane = index[__builtin_ctz(hit)] < index[lane] ? __builtin_ctz(hit) : lane;
        for (int h = 0; h < 2; h++)
            bits[h] = _mm256_blendv_epi8(bits[h], none,
                                         _mm256_cmpeq_epi32(place[h], _mm256_set1_epi32(lane)));
        s->near[(ptrdiff_t)i * RH_LEAF] =
            (rh_near)((uint64_t)(uint32_t)least << 32 | (uint32_t)index[lane]);
    }
    s->worst[0] = rh_near__distance2(s->near[(ptrdiff_t)(s->k - 1) * RH_LEAF]);
}

#else

static inline bool meet_some(search *s, int32_t leaf, unsigned mask);

static inline void fill_one(search *s, int32_t leaf)
{
    meet_some(s, leaf, 1);
}

#endif

// The same for the queries in `mask`.
static inline bool meet_some(search *s, int32_t leaf, unsigned mask)
{
    const rh_boxes *b = s->points;
    int d = b->d;
    const float *point = b->point + (ptrdiff_t)leaf * d * RH_LEAF;
    const int32_t *index = b->index + (ptrdiff_t)leaf * RH_LEAF;
    bool changed = false;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        const float *query = s->query + lane;
        lanes sum = spread(0.0f);
        for (int k = 0; k < d; k++)
            sum = plus_square(
                sum, minus(load(point + k * RH_LEAF), spread(query[(ptrdiff_t)k * RH_LEAF])));
        unsigned hit = which(sum, spread(s->worst[lane]));
        if (!hit)
            continue;
        _Alignas(64) float d2[RH_LEAF];
        store(d2, sum);
        for (; hit; hit &= hit - 1) {
            int i = __builtin_ctz(hit);
            if (index[i] != s->skip[lane])
                insert(s, lane, pack(d2[i], index[i]));
        }
        changed = true;
    }
    return changed;
}

// The queries whose worst neighbour is not nearer than the leaf's box.
static inline unsigned concerned(const search *s, int32_t leaf)
{
    int d = s->points->d;
    const float *box = s->points->level[0].box + (leaf % RH_LEAF) +
                       (ptrdiff_t)(leaf / RH_LEAF) * d * 2 * RH_LEAF;
    const float *query = s->query;
    lanes sum = spread(0.0f), zero = sum;
    for (int k = 0; k < d; k++, box += 2 * RH_LEAF, query += RH_LEAF) {
        lanes q = load(query);
        lanes gap = greatest(minus(spread(box[0]), q), minus(q, spread(box[RH_LEAF])));
        sum = plus_square(sum, greatest(gap, zero));
    }
    return which(sum, load(s->worst)) & s->real;
}

static inline rh_near farthest(const search *s)
{
    const rh_near *last = s->near + (ptrdiff_t)(s->k - 1) * RH_LEAF;
    rh_near most = last[0];
    for (int i = 1; i < RH_LEAF; i++)
        most = last[i] > most ? last[i] : most;
    return most;
}

// ---------------------------------------------------------------------------- the tree

// Squared distances from the box around the queries to the boxes of a group.
static inline lanes distances(const search *s, int level, int32_t group)
{
    const rh_model__level *l = &s->points->level[level];
    int d = s->points->d;
    const float *box = l->box + (ptrdiff_t)group * d * 2 * RH_LEAF;
    lanes sum = spread(0.0f), zero = sum;
    for (int k = 0; k < d; k++, box += 2 * RH_LEAF) {
        lanes below = minus(load(box), spread(s->high[k]));
        lanes above = minus(spread(s->low[k]), load(box + RH_LEAF));
        sum = plus_square(sum, greatest(greatest(below, above), zero));
    }
    return sum;
}

// A bit for each node that a group has.
static inline unsigned members(const search *s, int level, int32_t group)
{
    int32_t n = s->points->level[level].nnode - group * RH_LEAF;
    return n < RH_LEAF ? (1u << n) - 1u : 0xffffu;
}

// The lane of the least of d2, or nearly so, among those with a bit in `there`: the number of a
// lane takes the lowest bits of its distance.
#if defined(__AVX512F__)

static inline int nearest(const float *d2, unsigned there)
{
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __m512i bits = _mm512_load_si512(d2);
    bits = _mm512_or_si512(_mm512_and_si512(bits, _mm512_set1_epi32(-RH_LEAF)), lane);
    return _mm512_mask_reduce_min_epi32((__mmask16)there, bits) & (RH_LEAF - 1);
}

#else

static inline int nearest(const float *d2, unsigned there)
{
    _Alignas(64) int32_t bits[RH_LEAF];
    memcpy(bits, d2, sizeof bits);
    int32_t least = INT32_MAX;
    for (int i = 0; i < RH_LEAF; i++) {
        int32_t b = there >> i & 1u ? (bits[i] & -RH_LEAF) | i : INT32_MAX;
        least = b < least ? b : least;
    }
    return least & (RH_LEAF - 1);
}

#endif

// A leaf near the queries: the nearest of each group, or nearly so. The distances to the groups
// on the way to it, by level, are left in d2.
static inline int32_t descend(const search *s, float d2[][RH_LEAF])
{
    int32_t node = 0;
    for (int level = s->points->nlevel - 1; level >= 0; level--) {
        store(d2[level], distances(s, level, node));
        node = node * RH_LEAF + nearest(d2[level], members(s, level, node));
    }
    return node;
}

// Push the nodes of a group that may hold neighbours, the nearest last, without `except`.
// d2: their distances.
static inline void push(search *s, int level, int32_t group, int32_t except, const float *d2)
{
    unsigned hit = which(load(d2), spread(rh_near__distance2(s->limit)));
    hit &= members(s, level, group);
    const int32_t *first = s->points->level[level].first;
    int from = s->nentry;
    for (; hit; hit &= hit - 1) {
        int32_t node = group * RH_LEAF + __builtin_ctz(hit);
        entry e = {pack(d2[node % RH_LEAF], first[node]), node, level};
        if (e.bound >= s->limit || node == except)
            continue;
        int i = s->nentry++;
        for (; i > from && s->entry[i - 1].bound < e.bound; i--)
            s->entry[i] = s->entry[i - 1];
        s->entry[i] = e;
    }
}

static inline void expand(search *s, int level, int32_t group, int32_t except)
{
    _Alignas(64) float d2[RH_LEAF];
    store(d2, distances(s, level, group));
    push(s, level, group, except, d2);
}

static inline void meet(search *s, int32_t leaf)
{
    unsigned mask = concerned(s, leaf);
    int n = __builtin_popcount(mask);
    s->met += n;
    if (n < FEW ? meet_some(s, leaf, mask) : meet_all(s, leaf))
        s->limit = farthest(s);
}

// Visit the nodes on the list and their children.
static inline void follow(search *s)
{
    while (s->nentry) {
        entry e = s->entry[--s->nentry];
        if (e.bound >= s->limit)
            continue;
        if (e.level > 0)
            expand(s, e.level - 1, e.node, -1);
        else
            meet(s, e.node);
    }
}

// Visit all but one leaf: its siblings, its parent's siblings, and so upwards. d2: their
// distances, by level; NULL: not computed yet.
static inline void look_around(search *s, int32_t leaf, float (*d2)[RH_LEAF])
{
    for (int level = 0; level < s->points->nlevel; level++, leaf /= RH_LEAF) {
        if (d2)
            push(s, level, leaf / RH_LEAF, leaf, d2[level]);
        else
            expand(s, level, leaf / RH_LEAF, leaf);
        follow(s);
    }
}

// The same for the only query, whose nodes need no list: visit those of a group, the nearest
// first, without `except`. d2: their distances.
static void visit(search *s, int level, int32_t group, int32_t except, const float *d2)
{
    const int32_t *first = s->points->level[level].first;
    unsigned left = members(s, level, group);
    left &= except < 0 ? left : ~(1u << except % RH_LEAF);
    while (left &= which(load(d2), spread(rh_near__distance2(s->limit)))) {
        int lane = left & (left - 1) ? nearest(d2, left) : __builtin_ctz(left);
        int32_t node = group * RH_LEAF + lane;
        left &= ~(1u << lane);
        if (pack(d2[lane], first[node]) >= s->limit)
            continue;
        if (level > 0) {
            _Alignas(64) float inside[RH_LEAF];
            store(inside, distances(s, level - 1, node));
            visit(s, level - 1, node, -1, inside);
        } else if (meet_some(s, node, 1)) {
            s->limit = s->near[(s->k - 1) * RH_LEAF];
        }
    }
}

// ---------------------------------------------------------------------------- searches

static void find(const rh_boxes *points, bool all, const float *query, int k, int32_t skip,
                 rh_near *near)
{
    _Alignas(64) rh_near list[RH_MOST_NEAR * RH_LEAF];
    _Alignas(64) float column[RH_MOST_DIM * RH_LEAF];
    _Alignas(64) float d2[RH_MOST_LEVEL][RH_LEAF];
    search s = {
        .worst = {rh_near__distance2(RH_NOBODY)},
        .skip = {skip},
        .points = points,
        .query = column,
        .low = query,
        .high = query,
        .near = list,
        .k = k,
    };
    for (int i = 0; i < points->d; i++)
        column[i * RH_LEAF] = query[i];
    for (int i = 0; i < k; i++)
        list[i * RH_LEAF] = RH_NOBODY;

    if (all) {
        for (int32_t leaf = 0; leaf < points->nleaf; leaf++)
            meet_some(&s, leaf, 1);
    } else {
        int32_t leaf = descend(&s, d2);
        fill_one(&s, leaf);
        s.limit = list[(k - 1) * RH_LEAF];
        for (int level = 0; level < points->nlevel; level++, leaf /= RH_LEAF)
            visit(&s, level, leaf / RH_LEAF, leaf, d2[level]);
    }
    for (int i = 0; i < k; i++)
        near[i] = list[i * RH_LEAF];
}

static int64_t find_leaf(const rh_boxes *points, bool all, const rh_boxes *queries,
                         int32_t leaf, int k, const int32_t *skip, rh_near *near)
{
    int d = queries->d;
    int32_t left = queries->n - leaf * RH_LEAF, n = left < RH_LEAF ? left : RH_LEAF;
    float low[RH_MOST_DIM], high[RH_MOST_DIM];
    _Alignas(64) float d2[RH_MOST_LEVEL][RH_LEAF];
    entry entries[NENTRY];
    search s = {
        .points = points,
        .query = queries->point + (ptrdiff_t)leaf * d * RH_LEAF,
        .low = low,
        .high = high,
        .near = near,
        .entry = entries,
        .k = k,
        .real = (1u << n) - 1u,
        .met = n,
    };
    const float *box = queries->level[0].box + (leaf % RH_LEAF) +
                       (ptrdiff_t)(leaf / RH_LEAF) * d * 2 * RH_LEAF;
    for (int i = 0; i < d; i++) {
        low[i] = box[(ptrdiff_t)i * 2 * RH_LEAF];
        high[i] = box[(ptrdiff_t)i * 2 * RH_LEAF + RH_LEAF];
    }
    const int32_t *index = queries->index + (ptrdiff_t)leaf * RH_LEAF;
    for (int i = 0; i < RH_LEAF; i++) {
        s.worst[i] = rh_near__distance2(RH_NOBODY);
        s.skip[i] = skip && i < n ? skip[index[i]] : -1;
    }
    for (int i = 0; i < k * RH_LEAF; i++) // lanes without a query must not delay the others
        near[i] = i % RH_LEAF < n ? RH_NOBODY : 0;

    // the nearest leaf first; for queries that are points it is their own
    bool descended = queries != points && !all;
    int32_t begin = queries == points ? leaf : all ? 0 : descend(&s, d2);
    meet_all(&s, begin);
    s.limit = farthest(&s);
    for (int32_t i = 0; all && i < points->nleaf; i++)
        if (i != begin)
            meet_all(&s, i);
    if (!all)
        look_around(&s, begin, descended ? d2 : NULL);
    return s.met;
}

// ---------------------------------------------------------------------------- boxes

static void enclose(const float *low, const float *high, int stride, int d, int n, float *box)
{
    for (int k = 0; k < d; k++, low += stride, high += stride, box += 2 * RH_LEAF) {
        float a[RH_LEAF], b[RH_LEAF];
        for (int i = 0; i < RH_LEAF; i++) {
            a[i] = low[i < n ? i : 0];
            b[i] = high[i < n ? i : 0];
        }
        for (int half = RH_LEAF / 2; half; half /= 2)
            for (int i = 0; i < half; i++) {
                a[i] = a[i] < a[i + half] ? a[i] : a[i + half];
                b[i] = b[i] > b[i + half] ? b[i] : b[i + half];
            }
        box[0] = a[0];
        box[RH_LEAF] = b[0];
    }
}

RH_KERNEL_TABLE(rh_model__kernels) = {
    .name = RH_KERNEL_NAME,
    .find = find,
    .find_leaf = find_leaf,
    .enclose = enclose,
};
