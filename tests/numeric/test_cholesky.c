// test_cholesky.c - factors, solutions and inverses: against their definitions, the same bits
// with every instruction set, and nothing written above the diagonal.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "numeric/cholesky.h"
#include "numeric/cholesky_kernel.h"
#include "rehearse/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 130
#define ABOVE 7.5 // what the upper half holds

// A covariance of n points on a line, rows `row` apart, with ABOVE above the diagonal.
static void fill(int n, size_t row, double *a)
{
    rh_rng rng = rh_rng_stream(3, RH_STREAM_SEARCH, 0, (uint64_t)n);
    double x[MOST];
    for (int i = 0; i < n; i++)
        x[i] = rh_rng_uniform(&rng);
    for (int i = 0; i < n; i++)
        for (size_t j = 0; j < row; j++)
            a[(size_t)i * row + j] = (int)j > i    ? ABOVE
                                     : (int)j == i ? 1.1
                                                   : exp(-10.0 * fabs(x[i] - x[j]));
}

static double at(const double *a, size_t row, int i, int j)
{
    return i >= j ? a[(size_t)i * row + (size_t)j] : a[(size_t)j * row + (size_t)i];
}

static void check_above(int n, size_t row, const double *a)
{
    for (int i = 0; i < n; i++)
        for (size_t j = (size_t)i + 1; j < row; j++)
            assert_true(a[(size_t)i * row + j] == ABOVE);
}

static void by_definition(void **unused)
{
    (void)unused;
    static const int size[] = {1, 2, 3, 31, 32, 33, 64, 67, 97, MOST};
    static double a[MOST * (MOST + 3)], l[MOST * (MOST + 3)], work[MOST * MOST], x[MOST * 5];
    for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
        int n = size[s];
        size_t row = (size_t)n + 3;
        fill(n, row, a);
        memcpy(l, a, sizeof l);
        assert_true(rh_cholesky__nfactor(n) <= MOST * MOST);
        assert_true(rh_cholesky__factor(n, l, row, work));
        check_above(n, row, l);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double sum = 0.0;
                for (int k = 0; k <= j; k++)
                    sum += l[(size_t)i * row + (size_t)k] * l[(size_t)j * row + (size_t)k];
                assert_true(fabs(sum - at(a, row, i, j)) < 1e-13);
            }

        // L (L^-1 x) = x
        for (int i = 0; i < n * 5; i++)
            x[i] = i % 7 - 3.0;
        rh_cholesky__solve(n, l, row, 5, x);
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 5; c++) {
                double sum = 0.0;
                for (int k = 0; k <= i; k++)
                    sum += l[(size_t)i * row + (size_t)k] * x[k * 5 + c];
                assert_true(fabs(sum - ((i * 5 + c) % 7 - 3.0)) < 1e-12);
            }

        // A A^-1 = 1
        rh_cholesky__inverse(n, l, row, work);
        check_above(n, row, l);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int k = 0; k < n; k++)
                    sum += at(a, row, i, k) * at(l, row, k, j);
                assert_true(fabs(sum - (i == j)) < 1e-11);
            }
    }
}

// The solver without blocks: the same factor to the bit, and a x = b for numbers that are
// apart.
static void small_ones(void **unused)
{
    (void)unused;
    static const int size[] = {1, 2, 32, 33, 67, MOST};
    static double a[MOST * (MOST + 3)], l[MOST * (MOST + 3)], work[MOST * MOST], x[MOST * 3];
    for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
        int n = size[s];
        size_t row = (size_t)n + 3;
        fill(n, row, a);
        memcpy(l, a, sizeof l);
        assert_true(rh_cholesky__factor(n, l, row, work));
        double *small = work;
        for (int i = 0; i < n; i++)
            memcpy(small + (size_t)i * (size_t)n, a + (size_t)i * row, (size_t)n * sizeof *a);
        assert_true(rh_cholesky__factor_small(n, small, (size_t)n, 0.0));
        for (int i = 0; i < n; i++)
            assert_memory_equal(small + (size_t)i * (size_t)n, l + (size_t)i * row,
                                (size_t)n * sizeof *l);

        for (int i = 0; i < n * 3; i++)
            x[i] = i % 7 - 3.0;
        rh_cholesky__solve_small(n, l, row, x + 1, 3);
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += at(a, row, i, k) * x[k * 3 + 1];
            assert_true(fabs(sum - ((i * 3 + 1) % 7 - 3.0)) < 1e-11);
            assert_true(x[i * 3] == i * 3 % 7 - 3.0); // the numbers between are left alone
        }
    }

    double singular[] = {4.0, 0.0, 2.0, 1.0}, lifted[] = {4.0, 0.0, 2.0, 1.0};
    assert_false(rh_cholesky__factor_small(2, singular, 2, 0.0));
    assert_true(rh_cholesky__factor_small(2, lifted, 2, 0.25));
    assert_true(lifted[3] == 0.5);
    double endless[] = {INFINITY};
    assert_false(rh_cholesky__factor_small(1, endless, 1, 0.25));
}

static void refuses_what_is_not_positive(void **unused)
{
    (void)unused;
    static double a[MOST * MOST], work[MOST * MOST];
    static const double wrong[] = {0.0, -1.0, NAN, INFINITY};
    static const int place[] = {0, 31, 32, 96, MOST - 1};
    for (size_t w = 0; w < 4; w++)
        for (size_t p = 0; p < 5; p++) {
            fill(MOST, MOST, a);
            a[(size_t)place[p] * (MOST + 1)] = wrong[w];
            assert_false(rh_cholesky__factor(MOST, a, MOST, work));
        }
}

// Every instruction set gives the bits of the plain loop.
static void same_bits(void **unused)
{
    (void)unused;
    enum { M = 11, N = 37, K = 19, ROW = 41 };
    static double a[M * ROW], b[K * ROW], c[M * ROW], expected[M * ROW];
    rh_rng rng = rh_rng_stream(5, RH_STREAM_SEARCH, 0, 0);
    for (int i = 0; i < M * ROW; i++)
        a[i] = rh_rng_range(&rng, -1.0, 1.0);
    for (int i = 0; i < K * ROW; i++)
        b[i] = rh_rng_range(&rng, -1e3, 1e3);
    for (int isa = 0; isa < rh_isa__count(); isa++)
        for (int m = 0; m <= M; m++)
            for (int n = 0; n <= N; n++)
                for (int turned = 0; turned < 2; turned++) {
                    ptrdiff_t a_row = turned ? 1 : ROW, a_step = turned ? M : 1;
                    for (int i = 0; i < M * ROW; i++)
                        c[i] = expected[i] = i % 13;
                    for (int i = 0; i < m; i++)
                        for (int j = 0; j < n; j++)
                            for (int k = 0; k < K; k++) {
                                volatile double part =
                                    a[i * a_row + k * a_step] * b[k * ROW + j];
                                expected[i * ROW + j] -= part;
                            }
                    rh_cholesky__kernels_at(isa)->subtract(
                        &(rh_cholesky__product){m, n, K, a, a_row, a_step, b, ROW, c, ROW});
                    assert_memory_equal(c, expected, sizeof c);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_definition),
        cmocka_unit_test(small_ones),
        cmocka_unit_test(refuses_what_is_not_positive),
        cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
