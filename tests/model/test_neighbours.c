// test_neighbours.c - the index answers as comparing all pairs does, to the bit: for every
// kind of point set, number of dimensions and neighbours, instruction set and sharing of the
// work.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "model/kernel.h"
#include "model/neighbours.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = RH_NEIGHBOURS_MOST };

// ---------------------------------------------------------------------------- points

typedef enum kind {
    UNIFORM,
    GRID,      // few places with many points each
    EQUAL,     // one place
    COLLINEAR, // on a line through all dimensions
    CONSTANT,  // one dimension varies
    CLUSTERS,  // of very different sizes
    HUGE_,     // squared distances are infinite
    TINY,      // squared distances are subnormal or zero
    NKIND
} kind;

static void fill(float *x, int64_t n, int d, kind what, uint64_t seed)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
    for (int64_t i = 0; i < n; i++) {
        float along = (float)rh_rng_range(&rng, -2.0, 2.0);
        int cluster = (int)rh_rng_below(&rng, 7);
        float size = powf(10.0f, (float)-cluster);
        for (int k = 0; k < d; k++) {
            float u = (float)rh_rng_range(&rng, -1.0, 1.0);
            float *to = &x[i * d + k];
            switch (what) {
            case UNIFORM:
                *to = u;
                break;
            case GRID:
                *to = (float)((int)rh_rng_below(&rng, 3) * 2 - 2);
                break;
            case EQUAL:
                *to = 0.1f * (float)k;
                break;
            case COLLINEAR:
                *to = along * (float)(k + 1);
                break;
            case CONSTANT:
                *to = k == d / 2 ? along : 3.25f;
                break;
            case CLUSTERS:
                *to = (float)cluster * 3.0f + size * u;
                break;
            case HUGE_:
                *to = (cluster < 2 ? 1.0f : 3e38f) * u;
                break;
            case TINY:
                *to = u * 1e-22f;
                break;
            case NKIND:
                break;
            }
        }
    }
}

// ---------------------------------------------------------------------------- all pairs

typedef struct answer {
    int32_t index[MOST];
    float distance2[MOST];
} answer;

static float distance2(const float *p, const float *q, int d)
{
    float s = 0.0f;
    for (int k = 0; k < d; k++) {
        float t = q[k] - p[k], tt = t * t;
        s = s + tt;
    }
    return s;
}

// The MOST nearest of the points (n) to a query, with -1 and INFINITY behind them.
static void compare_all(const float *x, int64_t n, int d, const float *query, int32_t skip,
                        answer *a)
{
    int have = 0;
    for (int i = 0; i < MOST; i++) {
        a->index[i] = -1;
        a->distance2[i] = INFINITY;
    }
    for (int64_t i = 0; i < n; i++) {
        float d2 = distance2(x + i * d, query, d);
        if (i == skip || (have == MOST && d2 >= a->distance2[MOST - 1]))
            continue; // of equals, the one with the lower index is there already
        int at = have < MOST ? have++ : MOST - 1;
        for (; at > 0 && a->distance2[at - 1] > d2; at--) {
            a->index[at] = a->index[at - 1];
            a->distance2[at] = a->distance2[at - 1];
        }
        a->index[at] = (int32_t)i;
        a->distance2[at] = d2;
    }
}

static void same(const answer *a, int k, const int32_t *index, const float *d2)
{
    assert_memory_equal(a->index, index, (size_t)k * sizeof *index);
    assert_memory_equal(a->distance2, d2, (size_t)k * sizeof *d2);
}

// ----------------------------------------------------------------------- one fixed observation

typedef struct entry {
    int64_t n, nq;
    int d;
    float *x, *q;          // points (n x d), queries (nq x d)
    int32_t *skip;         // (n)
    answer *own, *without; // answers to the points, and without themselves (n)
    answer *other;         // answers to the queries (nq)
    int32_t *index;        // (most of n, nq x MOST)
    float *distance2;
    rh_neighbours *points, *queries;
} entry;

static void open(entry *s, int64_t n, int64_t nq, int d, kind what, uint64_t seed)
{
    size_t most = (size_t)(n > nq ? n : nq);
    *s = (entry){.n = n, .nq = nq, .d = d};
    s->x = malloc((size_t)n * (size_t)d * sizeof *s->x);
    s->q = malloc((size_t)nq * (size_t)d * sizeof *s->q);
    s->skip = malloc((size_t)n * sizeof *s->skip);
    s->own = malloc((size_t)n * sizeof *s->own);
    s->without = malloc((size_t)n * sizeof *s->without);
    s->other = malloc((size_t)nq * sizeof *s->other);
    s->index = malloc(most * MOST * sizeof *s->index);
    s->distance2 = malloc(most * MOST * sizeof *s->distance2);
    fill(s->x, n, d, what, seed);
    fill(s->q, nq, d, what, seed + 1);
    for (int64_t i = 0; i < n; i++)
        s->skip[i] = (int32_t)i;
    assert_int_equal(rh_neighbours__create(&s->points, s->x, n, d, NULL), RH_OK);
    assert_int_equal(rh_neighbours__create(&s->queries, s->q, nq, d, NULL), RH_OK);
    for (int64_t i = 0; i < n; i++) {
        compare_all(s->x, n, d, s->x + i * d, -1, &s->own[i]);
        compare_all(s->x, n, d, s->x + i * d, (int32_t)i, &s->without[i]);
    }
    for (int64_t i = 0; i < nq; i++)
        compare_all(s->x, n, d, s->q + i * d, -1, &s->other[i]);
}

static void close(entry *s)
{
    rh_neighbours__destroy(s->points);
    rh_neighbours__destroy(s->queries);
    free(s->x);
    free(s->q);
    free(s->skip);
    free(s->own);
    free(s->without);
    free(s->other);
    free(s->index);
    free(s->distance2);
}

// One query at a time, some of them.
static void ask_singly(const entry *s, int k, int64_t step)
{
    int32_t index[MOST];
    float d2[MOST];
    for (int64_t i = 0; i < s->n; i += step) {
        const float *x = s->x + i * s->d;
        int n = rh_neighbours__find(s->points, x, k, -1, index, d2);
        assert_int_equal(n, s->n < k ? s->n : k);
        same(&s->own[i], k, index, d2);
        n = rh_neighbours__find(s->points, x, k, (int32_t)i, index, d2);
        assert_int_equal(n, s->n - 1 < k ? s->n - 1 : k);
        same(&s->without[i], k, index, d2);
    }
    for (int64_t i = 0; i < s->nq; i += step) {
        rh_neighbours__find(s->points, s->q + i * s->d, k, -1, index, d2);
        same(&s->other[i], k, index, d2);
    }
}

// All queries in blocks, `chunk` of them at a time.
static void ask_in_blocks(const entry *s, int k, const rh_neighbours *queries,
                          const int32_t *skip, const answer *expected, int64_t n, int chunk)
{
    memset(s->index, 0x55, (size_t)n * (size_t)k * sizeof *s->index);
    memset(s->distance2, 0x55, (size_t)n * (size_t)k * sizeof *s->distance2);
    int32_t nblock = rh_neighbours__nblock(queries);
    for (int32_t b = 0; b < nblock; b += chunk) {
        int32_t end = b + chunk < nblock ? b + chunk : nblock;
        rh_neighbours__find_range(s->points, queries, k, skip, b, end, s->index, s->distance2);
    }
    for (int64_t i = 0; i < n; i++)
        same(&expected[i], k, s->index + i * k, s->distance2 + i * k);
}

static void ask(const entry *s, int k, int64_t step)
{
    ask_singly(s, k, step);
    ask_in_blocks(s, k, s->points, NULL, s->own, s->n, 1 + k % 5);
    ask_in_blocks(s, k, s->points, s->skip, s->without, s->n, 7);
    ask_in_blocks(s, k, s->queries, NULL, s->other, s->nq, 3);
}

// ---------------------------------------------------------------------------- tests

static void as_all_pairs(void **unused)
{
    (void)unused;
    static const int dims[] = {1, 2, 3, 4, 6, 8, 16, 33, 64}, ks[] = {1, 3, 10, 64};
    for (int what = 0; what < NKIND; what++)
        for (int i = 0; i < (int)(sizeof dims / sizeof *dims); i++) {
            if (what == TINY && dims[i] > 4)
                continue; // processors take their time over subnormal numbers
            entry s;
            open(&s, 341, 45, dims[i], (kind)what, (uint64_t)(1 + what + 100 * i));
            for (int isa = 1; isa <= rh_isa__count(); isa++) {
                rh_isa__limit(isa);
                for (int j = 0; j < 4; j++)
                    ask(&s, ks[j], 11);
            }
            rh_isa__limit(0);
            close(&s);
        }
}

// Every number of points in a leaf and of leaves in a node, and more neighbours than points.
static void few_points(void **unused)
{
    (void)unused;
    for (int64_t n = 1; n <= 300; n += n < 36 ? 1 : 29)
        for (int what = UNIFORM; what <= EQUAL; what++) {
            entry s;
            open(&s, n, 1 + n % 20, 3, (kind)what, (uint64_t)n);
            ask(&s, 64, 3);
            ask(&s, 2, 3);
            close(&s);
        }
}

// The answers to some of many points, for trees of four levels.
static void many_points(void **unused)
{
    (void)unused;
    static const kind kinds[] = {UNIFORM, GRID, EQUAL, CLUSTERS};
    enum { N = 70001, K = 5 };
    float *x = malloc(N * 2 * sizeof *x), *d2 = malloc(N * K * sizeof *d2);
    int32_t *index = malloc(N * K * sizeof *index);
    for (int i = 0; i < 4; i++) {
        rh_neighbours *points = NULL;
        fill(x, N, 2, kinds[i], 5);
        assert_int_equal(rh_neighbours__create(&points, x, N, 2, NULL), RH_OK);
        assert_false(rh_neighbours__all_pairs(points));
        rh_neighbours__find_range(points, points, K, NULL, 0, rh_neighbours__nblock(points),
                                  index, d2);
        for (int64_t j = 0; j < N; j += 1499) {
            answer a;
            compare_all(x, N, 2, x + 2 * j, -1, &a);
            same(&a, K, index + j * K, d2 + j * K);
            int32_t one[K];
            float one_d2[K];
            rh_neighbours__find(points, x + 2 * j, K, -1, one, one_d2);
            same(&a, K, one, one_d2);
        }
        rh_neighbours__destroy(points);
    }
    free(x);
    free(d2);
    free(index);
}

typedef struct table {
    const rh_neighbours *points;
    int k;
    int32_t *index; // (n x k)
    float *distance2;
    atomic_int next; // block to be answered
} table;

static void *answer_some(void *shared)
{
    table *t = shared;
    int32_t nblock = rh_neighbours__nblock(t->points), b;
    while ((b = atomic_fetch_add(&t->next, 5)) < nblock)
        rh_neighbours__find_range(t->points, t->points, t->k, NULL, b,
                                  b + 5 < nblock ? b + 5 : nblock, t->index, t->distance2);
    return NULL;
}

// Threads share out the blocks; the answers are the same bits.
static void threads_agree(void **unused)
{
    (void)unused;
    enum { N = 6000, D = 5, K = 4, NTHREAD = 4 };
    float *x = malloc(N * D * sizeof *x);
    rh_neighbours *points = NULL;
    fill(x, N, D, CLUSTERS, 9);
    assert_int_equal(rh_neighbours__create(&points, x, N, D, NULL), RH_OK);
    table t[2];
    for (int i = 0; i < 2; i++) {
        t[i].points = points;
        t[i].k = K;
        t[i].index = malloc(N * K * sizeof *t[i].index);
        t[i].distance2 = malloc(N * K * sizeof *t[i].distance2);
        atomic_init(&t[i].next, 0);
    }
    rh_neighbours__find_range(points, points, K, NULL, 0, rh_neighbours__nblock(points),
                              t[0].index, t[0].distance2);
    pthread_t thread[NTHREAD];
    for (int i = 0; i < NTHREAD; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, answer_some, &t[1]), 0);
    for (int i = 0; i < NTHREAD; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_memory_equal(t[0].index, t[1].index, N * K * sizeof *t[0].index);
    assert_memory_equal(t[0].distance2, t[1].distance2, N * K * sizeof *t[0].distance2);
    for (int i = 0; i < 2; i++) {
        free(t[i].index);
        free(t[i].distance2);
    }
    rh_neighbours__destroy(points);
    free(x);
}

// Boxes pay where points lie on something of few dimensions, and not where they fill many.
static void all_pairs_where_boxes_fail(void **unused)
{
    (void)unused;
    enum { N = 4000, D = 48 };
    float *x = malloc(N * D * sizeof *x);
    rh_neighbours *points = NULL;
    fill(x, N, D, UNIFORM, 3);
    assert_int_equal(rh_neighbours__create(&points, x, N, D, NULL), RH_OK);
    assert_true(rh_neighbours__all_pairs(points));
    rh_neighbours__destroy(points);
    fill(x, N, D, COLLINEAR, 3);
    assert_int_equal(rh_neighbours__create(&points, x, N, D, NULL), RH_OK);
    assert_false(rh_neighbours__all_pairs(points));
    rh_neighbours__destroy(points);

    // and the answers are the same
    entry s;
    open(&s, 2000, 50, D, UNIFORM, 3);
    assert_true(rh_neighbours__all_pairs(s.points));
    ask(&s, 3, 50);
    close(&s);
    free(x);
}

// distance2 may be left out.
static void indices_alone(void **unused)
{
    (void)unused;
    entry s;
    open(&s, 100, 10, 3, UNIFORM, 1);
    int32_t index[3];
    assert_int_equal(rh_neighbours__find(s.points, s.q, 3, -1, index, NULL), 3);
    assert_memory_equal(index, s.other[0].index, sizeof index);
    rh_neighbours__find_range(s.points, s.queries, 3, NULL, 0, 1, s.index, NULL);
    assert_memory_equal(s.index, s.other[0].index, sizeof index);
    close(&s);
}

static void refused(const float *x, int64_t n, int d, const char *words)
{
    rh_error err;
    rh_neighbours *points = NULL;
    assert_int_equal(rh_neighbours__create(&points, x, n, d, &err), RH_EINVAL);
    assert_null(points);
    assert_string_equal(err.text, words);
}

static void what_is_refused(void **unused)
{
    (void)unused;
    float x[60] = {0};
    refused(x, 0, 3, "neighbours: 0 points, expected 1 to 2147483646");
    refused(x, INT32_MAX, 3, "neighbours: 2147483647 points, expected 1 to 2147483646");
    refused(x, 20, 0, "neighbours: 0 dimensions, expected 1 to 64");
    refused(x, 20, 65, "neighbours: 65 dimensions, expected 1 to 64");
    x[3 * 17 + 2] = NAN;
    refused(x, 20, 3, "neighbours: row 17, dimension 2 is NaN, expected a finite number");
    x[3 * 17 + 2] = INFINITY;
    refused(x, 20, 3, "neighbours: row 17, dimension 2 is inf, expected a finite number");
    x[3 * 17 + 2] = -INFINITY;
    refused(x, 20, 3, "neighbours: row 17, dimension 2 is -inf, expected a finite number");
    rh_neighbours__destroy(NULL);
}

static void every_failed_allocation(void **unused)
{
    (void)unused;
    enum { N = 1000, D = 3 };
    static float x[N * D];
    fill(x, N, D, UNIFORM, 1);
    int64_t live = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_error err;
        rh_neighbours *points = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_neighbours__create(&points, x, N, D, &err);
        rh_base__alloc_fail_at(0);
        if (rc == RH_OK) {
            assert_true(nth > 9);
            int64_t made = rh_base__alloc_count();
            int32_t index[MOST];
            assert_int_equal(rh_neighbours__find(points, x, MOST, -1, index, NULL), MOST);
            assert_int_equal(rh_base__alloc_count(), made); // asking needs no memory
            rh_neighbours__destroy(points);
        }
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_null(points);
        assert_non_null(strstr(err.text, "neighbours: out of memory"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_all_pairs),
        cmocka_unit_test(few_points),
        cmocka_unit_test(many_points),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(all_pairs_where_boxes_fail),
        cmocka_unit_test(indices_alone),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
