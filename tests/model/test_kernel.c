// test_kernel.c - the search loops: every instruction set gives the same bits, with boxes or
// without, and boxes enclose what is in them, as near as can be.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "model/kernel.h"
#include "model/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// n points (n x d), the later ones in the places of earlier ones as often as not.
static float *points_of(int n, int d, uint64_t seed)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
    float *x = malloc((size_t)n * (size_t)d * sizeof *x);
    for (int i = 0; i < n; i++) {
        int same = i > 0 && rh_rng_below(&rng, 2) ? (int)rh_rng_below(&rng, (uint32_t)i) : -1;
        for (int k = 0; k < d; k++) {
            float fresh = (float)rh_rng_range(&rng, -1.0, 1.0);
            x[i * d + k] = same >= 0 ? x[same * d + k] : fresh;
        }
    }
    return x;
}

// ---------------------------------------------------------------------------- the tree

// Every point is in one leaf, and leaves that are not full end in NaN.
static void check_leaves(const rh_boxes *b, const float *x)
{
    int *seen = calloc((size_t)b->n, sizeof *seen);
    for (int32_t i = 0; i < b->nleaf * RH_LEAF; i++) {
        const float *point = b->point + i / RH_LEAF * b->d * RH_LEAF + i % RH_LEAF;
        int32_t who = b->index[i];
        assert_true(i < b->n ? who >= 0 && who < b->n && !seen[who]++ : who == INT32_MAX);
        for (int k = 0; k < b->d; k++)
            if (i < b->n)
                assert_true(point[k * RH_LEAF] == x[who * b->d + k]);
            else
                assert_true(isnan(point[k * RH_LEAF]));
    }
    free(seen);
}

// The box of a node is that of its points, and its first the least index of theirs.
static void check_level(const rh_boxes *b, int level, int32_t per_node)
{
    const rh_model__level *l = &b->level[level];
    assert_int_equal(l->nnode, (b->n + per_node - 1) / per_node);
    for (int32_t node = 0; node < l->nnode; node++) {
        const float *box = l->box + node / RH_LEAF * b->d * 2 * RH_LEAF + node % RH_LEAF;
        int32_t from = node * per_node, to = from + per_node, first = INT32_MAX;
        to = to < b->n ? to : b->n;
        for (int k = 0; k < b->d; k++) {
            float low = INFINITY, high = -INFINITY;
            for (int32_t i = from; i < to; i++) {
                float x = b->point[(i / RH_LEAF * b->d + k) * RH_LEAF + i % RH_LEAF];
                low = fminf(low, x);
                high = fmaxf(high, x);
                first = b->index[i] < first ? b->index[i] : first;
            }
            assert_true(box[k * 2 * RH_LEAF] == low);
            assert_true(box[k * 2 * RH_LEAF + RH_LEAF] == high);
        }
        assert_int_equal(l->first[node], first);
    }
}

static void boxes_enclose(void **unused)
{
    (void)unused;
    static const int ns[] = {1, 15, 16, 17, 255, 256, 257, 300, 4095, 4097, 9000};
    for (int isa = 1; isa <= rh_isa__count(); isa++)
        for (int i = 0; i < (int)(sizeof ns / sizeof *ns); i++) {
            rh_isa__limit(isa);
            int d = 1 + i % 5;
            float *x = points_of(ns[i], d, (uint64_t)i);
            rh_boxes b = {0};
            assert_int_equal(rh_boxes__init(&b, x, ns[i], d, NULL), RH_OK);
            check_leaves(&b, x);
            int32_t per_node = RH_LEAF;
            for (int level = 0; level < b.nlevel; level++, per_node *= RH_LEAF)
                check_level(&b, level, per_node);
            assert_true(per_node >= ns[i]); // one group at the top
            rh_boxes__clear(&b);
            free(x);
        }
    rh_isa__limit(0);
}

// ---------------------------------------------------------------------------- searches

static int by_value(const void *a, const void *b)
{
    rh_near x = *(const rh_near *)a, y = *(const rh_near *)b;
    return (x > y) - (x < y);
}

// All of `points` but one, in the order in which a query wants them.
static void sort_all(const float *x, int n, int d, const float *query, int skip, rh_near *near)
{
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int k = 0; k < d; k++) {
            float t = query[k] - x[i * d + k], tt = t * t;
            s = s + tt;
        }
        uint32_t bits;
        memcpy(&bits, &s, sizeof bits);
        near[i] = i == skip ? RH_NOBODY : (rh_near)((uint64_t)bits << 32 | (uint32_t)i);
    }
    qsort(near, (size_t)n, sizeof *near, by_value);
}

static void searches_agree(void **unused)
{
    (void)unused;
    enum { N = 700, D = 6 };
    static const int ks[] = {1, 2, 8, 9, 64}; // about where short lists end
    float *x = points_of(N, D, 1);
    rh_boxes b = {0};
    assert_int_equal(rh_boxes__init(&b, x, N, D, NULL), RH_OK);
    int32_t skip[N];
    for (int i = 0; i < N; i++)
        skip[i] = i % 3 ? (i + 1) % N : i;
    _Alignas(64) rh_near near[RH_MOST_NEAR * RH_LEAF], one[RH_MOST_NEAR], all[N];
    for (int32_t leaf = 0; leaf < b.nleaf; leaf += 3)
        for (int j = 0; j < 5; j++)
            for (int way = 0; way < 2 * rh_isa__count(); way++) {
                const rh_model__kernels *kernels = rh_model__kernels_at(way / 2);
                int k = ks[j];
                kernels->find_leaf(&b, way % 2, &b, leaf, k, skip, near);
                for (int i = 0; i < RH_LEAF && leaf * RH_LEAF + i < N; i++) {
                    int32_t who = b.index[leaf * RH_LEAF + i];
                    sort_all(x, N, D, x + who * D, skip[who], all);
                    kernels->find(&b, way % 2, x + who * D, k, skip[who], one);
                    assert_memory_equal(all, one, (size_t)k * sizeof *one);
                    for (int p = 0; p < k; p++)
                        assert_true(near[p * RH_LEAF + i] == all[p]);
                }
            }
    rh_boxes__clear(&b);
    free(x);
}

// Points all in one place: the tree looks at few leaves, and all pairs at all.
static void one_place_is_no_trap(void **unused)
{
    (void)unused;
    enum { N = 20000 };
    float *x = calloc(N, sizeof *x);
    rh_boxes b = {0};
    assert_int_equal(rh_boxes__init(&b, x, N, 1, NULL), RH_OK);
    for (int i = 0; i < rh_isa__count(); i++)
        for (int32_t leaf = 0; leaf < b.nleaf; leaf += 111) {
            _Alignas(64) rh_near near[5 * RH_LEAF];
            int64_t met =
                rh_model__kernels_at(i)->find_leaf(&b, false, &b, leaf, 5, NULL, near);
            assert_true(met <= 5 * RH_LEAF);
            for (int p = 0; p < 5; p++)
                assert_int_equal(near[p * RH_LEAF], p);
        }
    rh_boxes__clear(&b);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_enclose),
        cmocka_unit_test(searches_agree),
        cmocka_unit_test(one_place_is_no_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
