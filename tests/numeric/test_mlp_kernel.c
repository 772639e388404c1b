// test_kernel.c - the loops of training: each instruction set gives the bits of a plain loop
// over scalars, with or without a fused multiply-add, and what the formulas say in double
// precision.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "numeric/mlp_kernel.h"
#include "rehearse/base.h"

#include <math.h>
#include <string.h>

static int rounded(int n)
{
    return (n + RH_COLUMNS - 1) / RH_COLUMNS * RH_COLUMNS;
}

static float fused(bool is, float a, float b, float c)
{
    return is ? fmaf(a, b, c) : a * b + c;
}

// ---------------------------------------------------------------------------- products

typedef struct matrices {
    float *a, *b, *start, *gate, *c, *expected;
    int row;
} matrices;

static matrices make(int m, int n, int k, rh_rng *rng)
{
    matrices x = {.row = rounded(n) + RH_COLUMNS};
    size_t size = (size_t)(m > k ? m : k) * (size_t)x.row;
    float **all[] = {&x.b, &x.start, &x.gate, &x.c, &x.expected};
    x.a = rh_alloc((size_t)m * (size_t)k, sizeof *x.a);
    assert_non_null(x.a);
    for (int i = 0; i < m * k; i++) // half of them 0 or -0, as behind a ReLU
        x.a[i] = (float)fmax(rh_rng_range(rng, -1.0, 1.0), i % 3 ? 0.0 : -0.0);
    for (int j = 0; j < 5; j++) {
        *all[j] = rh_alloc(size, sizeof(float));
        assert_non_null(*all[j]);
        for (size_t i = 0; i < size; i++)
            (*all[j])[i] = (float)rh_rng_range(rng, -1.0, 1.0);
    }
    memcpy(x.expected, x.c, size * sizeof(float)); // what is not to be written
    return x;
}

static void drop(matrices *x)
{
    float *all[] = {x->a, x->b, x->start, x->gate, x->c, x->expected};
    for (int j = 0; j < 6; j++)
        rh_free(all[j]);
}

// The definition, one number after the other.
static void plain(const rh_mlp__product *p, bool is_fused, float *to)
{
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            float c = p->start ? p->start[i * p->start_row + j] : 0.0f;
            for (int k = 0; k < p->k; k++)
                c = fused(is_fused, p->a[i * p->a_row + k * p->a_step], p->b[k * p->b_row + j],
                          c);
            if (p->relu && c < 0.0f)
                c = 0.0f;
            if (p->gate && !(p->gate[i * p->gate_row + j] > 0.0f))
                c = 0.0f;
            to[i * p->c_row + j] = c;
        }
}

// One product in one of its forms, by every instruction set.
static void check(int m, int n, int k, int form, rh_rng *rng)
{
    for (int i = 0; i < rh_isa__count(); i++) {
        const rh_mlp__kernels *kernels = rh_mlp__kernels_at(i);
        matrices x = make(m, n, k, rng);
        size_t size = (size_t)(m > k ? m : k) * (size_t)x.row;
        rh_mlp__product p = {.m = m, .n = rounded(n), .k = k, .a = x.a, .b = x.b, .c = x.c};
        p.b_row = p.c_row = p.start_row = p.gate_row = x.row;
        p.a_row = form & 1 ? 1 : k; // turned over, as for a gradient
        p.a_step = form & 1 ? m : 1;
        if (form % 3 == 1) {
            p.start = x.start;
            p.start_row = 0;
        } else if (form % 3 == 2) {
            memcpy(x.start, x.c, size * sizeof(float));
            p.start = x.start;
        }
        p.relu = form % 4 == 0;
        p.gate = form % 4 == 3 ? x.gate : NULL;
        plain(&p, kernels->fused, x.expected);
        if (form % 3 == 2)
            p.start = p.c; // what is added to is there already
        kernels->product(&p);
        assert_memory_equal(x.c, x.expected, size * sizeof(float));
        drop(&x);
    }
}

static void products_are_the_plain_loop(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(3, RH_STREAM_AGENT, 0, 0);
    for (int m = 1; m <= 20; m++)
        for (int n = 1; n <= 80; n += 15)
            check(m, n, 1 + (m * 5 + n) % 23, m + n, &rng);
    for (int form = 0; form < 12; form++)
        check(17, 33, 40, form, &rng);
    for (int k = 1022; k <= 1027; k++) // longer rows are not searched for zeros
        check(1, 1 + k % 100, k, k % 2 ? 7 : 4, &rng);
    check(1, 257, 129, 4, &rng);
    check(130, 257, 7, 3, &rng);
    check(257, 1, 129, 5, &rng);
}

// A sum of a row does not depend on the rows and columns beside it.
static void a_row_is_the_same_alone(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(4, RH_STREAM_AGENT, 0, 0);
    for (int i = 0; i < rh_isa__count(); i++) {
        matrices x = make(29, 144, 50, &rng);
        rh_mlp__product p = {.m = 29, .n = 144, .k = 50, .a = x.a, .a_row = 50, .a_step = 1};
        p.b = x.b;
        p.c = x.c;
        p.b_row = p.c_row = x.row;
        rh_mlp__kernels_at(i)->product(&p);
        for (int row = 0; row < 29; row++) {
            p.m = 1;
            p.a = x.a + row * 50;
            p.c = x.expected;
            rh_mlp__kernels_at(i)->product(&p);
            assert_memory_equal(x.expected, x.c + row * x.row, 144 * sizeof(float));
        }
        drop(&x);
    }
}

static void what_is_no_number_stays(void **unused)
{
    (void)unused;
    _Alignas(64) float b[16], c[16];
    for (int i = 0; i < rh_isa__count(); i++) {
        float a = 1.0f;
        for (int j = 0; j < 16; j++)
            b[j] = j % 3 == 0 ? NAN : j % 3 == 1 ? -INFINITY : INFINITY;
        rh_mlp__kernels_at(i)->product(
            &(rh_mlp__product){.m = 1, .n = 16, .k = 1, .a = &a, .b = b, .c = c, .relu = true});
        for (int j = 0; j < 16; j++)
            if (j % 3 == 0)
                assert_true(isnan(c[j]));
            else
                assert_true(c[j] == (j % 3 == 1 ? 0.0f : INFINITY));
    }
}

static void turned_over(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(5, RH_STREAM_AGENT, 0, 0);
    static const int size[] = {1, 2, 5, 15, 16, 17, 31, 33, 48, 129};
    for (int i = 0; i < rh_isa__count(); i++)
        for (int s = 0; s < 100; s++) {
            int m = size[s / 10], n = size[s % 10], from = rounded(n), to = rounded(m) + 16;
            float *x = rh_alloc((size_t)(m * from), sizeof *x);
            float *y = rh_alloc((size_t)(n * to), sizeof *y);
            assert_non_null(x);
            assert_non_null(y);
            for (int k = 0; k < m * from; k++)
                x[k] = (float)rh_rng_range(&rng, -1.0, 1.0);
            rh_mlp__kernels_at(i)->turn(m, n, x, from, y, to);
            for (int j = 0; j < n; j++)
                for (int k = 0; k < to; k++)
                    if (k < m)
                        assert_true(y[j * to + k] == x[k * from + j]);
                    else if (k >= rounded(m))
                        assert_true(y[j * to + k] == 0.0f); // not written
            rh_free(x);
            rh_free(y);
        }
}

// ---------------------------------------------------------------------------- Adam

static const rh_mlp__adam_step step = {.keep1 = 0.9f,
                                       .take1 = 0.1f,
                                       .keep2 = 0.999f,
                                       .take2 = 0.001f,
                                       .rate = 0.01f,
                                       .eps = 1e-8f};

enum { N = 20 * RH_COLUMNS };
typedef struct set {
    _Alignas(64) float w[N], m[N], v[N], g[N];
} set;

// Gradients from 1 to 1e-15, moments of all sizes, zeros.
static void fill(set *s, uint64_t seed)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
    for (int i = 0; i < N; i++) {
        s->w[i] = (float)rh_rng_range(&rng, -1.0, 1.0);
        s->m[i] =
            (float)(rh_rng_range(&rng, -1.0, 1.0) * rh_exp(rh_rng_range(&rng, -35.0, 0.0)));
        s->v[i] = (float)rh_exp(rh_rng_range(&rng, -60.0, 2.0));
        s->g[i] = (float)rh_exp(rh_rng_range(&rng, -35.0, 0.0));
    }
    s->g[3] = s->g[20] = s->m[20] = s->v[20] = s->m[40] = s->v[40] = s->v[50] = 0.0f;
}

static void adam_is_the_formula(void **unused)
{
    (void)unused;
    static set a, b;
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (int k = 0; k < rh_isa__count(); k++) {
            fill(&a, seed);
            b = a;
            rh_mlp__kernels_at(k)->adam(N, &step, b.w, b.m, b.v, b.g);
            for (int i = 0; i < N; i++) {
                double g = (double)a.g[i];
                double m = (double)0.9f * (double)a.m[i] + (double)0.1f * g;
                double v = (double)0.999f * (double)a.v[i] + (double)0.001f * g * g;
                double move = (double)0.01f * m / (sqrt(v) + 1e-8);
                double size = 0.9 * fabs((double)a.m[i]) + 0.1 * fabs(g); // they may cancel
                assert_true(fabs((double)b.m[i] - m) <= 2e-7 * size + 1e-30);
                assert_true(fabs((double)b.v[i] - v) <= 3e-7 * v + 1e-30);
                double gap = fabs((double)b.w[i] - ((double)a.w[i] - move));
                assert_true(gap <= 1e-6 * 0.01 * size / (sqrt(v) + 1e-8) +
                                       6e-8 * fabs((double)a.w[i] - move));
            }
            assert_true(b.w[20] == a.w[20]);
            assert_true(b.m[20] == 0.0f);
            assert_true(b.v[20] == 0.0f);
        }
}

static void instruction_sets_agree(void **unused)
{
    (void)unused;
    static set first, s;
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (int k = 0; k < rh_isa__count(); k++) {
            fill(&s, seed);
            for (int i = 0; i < 20; i++)
                rh_mlp__kernels_at(k)->adam(N, &step, s.w, s.m, s.v, s.g);
            if (k < 2)
                first = s; // those with a fused multiply-add are the same to the bit
            assert_memory_equal(&first, &s, sizeof s);
        }
}

// The moments of a unit without a gradient reach zero, and never a subnormal number.
static void moments_fade(void **unused)
{
    (void)unused;
    static set s;
    for (int k = 0; k < rh_isa__count(); k++) {
        fill(&s, 3);
        memset(s.g, 0, sizeof s.g);
        rh_mlp__adam_step fast = step;
        fast.keep2 = 0.9f;
        for (int i = 0; i < 1000; i++) {
            rh_mlp__kernels_at(k)->adam(N, &fast, s.w, s.m, s.v, s.g);
            for (int j = 0; j < N; j++) {
                assert_int_not_equal(fpclassify(s.m[j]), FP_SUBNORMAL);
                assert_int_not_equal(fpclassify(s.v[j]), FP_SUBNORMAL);
            }
        }
        for (int j = 0; j < N; j++) {
            assert_true(s.m[j] == 0.0f);
            assert_true(s.v[j] == 0.0f);
            assert_true(isfinite(s.w[j]));
        }
    }
}

static void best_is_within_the_limit(void **unused)
{
    (void)unused;
    int n = rh_isa__count();
    assert_ptr_equal(rh_mlp__kernels_best(), rh_mlp__kernels_at(n - 1));
    for (int i = 1; i <= n; i++) {
        rh_isa__limit(i);
        assert_ptr_equal(rh_mlp__kernels_best(), rh_mlp__kernels_at(i - 1));
    }
    rh_isa__limit(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_the_plain_loop),
        cmocka_unit_test(a_row_is_the_same_alone),
        cmocka_unit_test(what_is_no_number_stays),
        cmocka_unit_test(turned_over),
        cmocka_unit_test(adam_is_the_formula),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(moments_fade),
        cmocka_unit_test(best_is_within_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
