// test_inspect_numbers.c - sorting, and statistics of columns.

#include "log/inspect_sample.h"

#include "log/inspect.h"

#include <float.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static rh_log_numbers numbers_of(const double *x, int64_t n)
{
    rh_inspect__room room = {0};
    rh_log_numbers v;
    assert_true(rh_inspect__room_init(&room, n));
    memcpy(room.column, x, (size_t)n * sizeof *x);
    rh_inspect__numbers(&v, &room, n);
    rh_inspect__room_clear(&room);
    return v;
}

static void sorts(void **unused)
{
    (void)unused;
    static const double odd[] = {0.0,      -0.0,      1.0,      -1.0,   DBL_MAX,
                                 -DBL_MAX, DBL_MIN,   -DBL_MIN, 5e-324, -5e-324,
                                 INFINITY, -INFINITY, 1e300};
    enum { N = 5000 };
    double want[N];
    rh_inspect__room room = {0};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    assert_true(rh_inspect__room_init(&room, N));
    for (int n = 0; n <= N; n = 3 * n + 1) {
        for (int i = 0; i < n; i++) {
            double z[2];
            rh_rng_normal(&rng, z);
            bool special = rh_rng_below(&rng, 4) == 0;
            want[i] = special ? odd[rh_rng_below(&rng, 13)] : z[0] * exp(10.0 * z[1]);
            room.sorted[i] = want[i];
        }
        room.nsorted = n;
        rh_inspect__sort(&room);
        qsort(want, (size_t)n, sizeof *want, ascending);
        for (int i = 0; i < n; i++)
            assert_true(room.sorted[i] == want[i]);
    }
    rh_inspect__room_clear(&room);
}

static void describes(void **unused)
{
    (void)unused;
    const double x[] = {3.0, NAN, 1.0, 2.0, INFINITY, 2.0, NAN, 4.0, 2.5};
    rh_log_numbers v = numbers_of(x, 9);
    assert_int_equal(v.n, 6);
    assert_int_equal(v.nmissing, 2);
    assert_int_equal(v.ninfinite, 1);
    assert_int_equal(v.ndistinct, 5);
    assert_false(v.whole);
    assert_true(v.min == 1.0);
    assert_true(v.max == 4.0);
    assert_true(v.median == 2.25);
    assert_true(v.q25 == 2.0);
    assert_true(v.q75 == 2.875);
    assert_true(fabs(v.mean - 14.5 / 6.0) < 1e-15);
    assert_true(fabs(v.sd - sqrt(5.208333333333333 / 6.0)) < 1e-15);
    assert_int_equal(v.bar[0], 1);
    assert_int_equal(v.bar[RH_LOG_NBAR - 1], 1);
    assert_true(isnan(v.sentinel));
    assert_int_equal(v.nabsurd, 0);

    const double same[] = {7.0, 7.0, 7.0};
    v = numbers_of(same, 3);
    assert_true(v.sd == 0.0);
    assert_true(v.min == v.max);
    assert_true(v.whole);
    assert_int_equal(v.bar[0], 3);

    const double none[] = {NAN, INFINITY};
    v = numbers_of(none, 2);
    assert_true(isnan(v.min));
    assert_true(isnan(v.max));
    assert_true(isnan(v.mean));
    assert_true(isnan(v.median));
    assert_int_equal(v.n + v.ndistinct, 0);
    assert_false(v.whole);
}

// With a mean of 1e9, a standard deviation of 1 keeps its digits.
static void keeps_digits(void **unused)
{
    (void)unused;
    double x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = 1e9 + (i % 2 ? 1.0 : -1.0);
    rh_log_numbers v = numbers_of(x, 1000);
    assert_true(fabs(v.sd - 1.0) < 1e-9);
    assert_true(v.mean == 1e9);
}

// Numbers near the limits of doubles: no bin outside the histogram, and squares neither
// overflow nor underflow.
static void keeps_its_head(void **unused)
{
    (void)unused;
    static const double size[] = {1.7e308, 1e300, 1.0, 1e-300, 1e-320};
    double x[1000];
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 1000; i++)
            x[i] = i % 2 ? size[k] : -size[k];
        rh_log_numbers v = numbers_of(x, 1000);
        assert_true(fabs(v.sd / size[k] - 1.0) < 1e-9);
        assert_true(fabs(v.mean) <= 1e-9 * size[k]);
        assert_int_equal(v.bar[0], 500);
        assert_int_equal(v.bar[RH_LOG_NBAR - 1], 500);
        assert_true(isfinite(v.median));
        assert_true(isfinite(v.q25));
        assert_true(isfinite(v.q75));
    }
    for (int i = 0; i < 1000; i++)
        x[i] = 1e300;
    rh_log_numbers v = numbers_of(x, 1000);
    assert_true(v.sd == 0.0);
    assert_true(v.mean == 1e300);
}

// Rounding in the sum of large numbers does not become a deviation.
static void adds_from_the_middle(void **unused)
{
    (void)unused;
    int64_t n = 1000000;
    double *x = rh_alloc((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = 1e12 + 0.0009765625 * (double)(i % 3);
    rh_log_numbers v = numbers_of(x, n);
    assert_true(fabs(v.sd / (0.0009765625 * sqrt(2.0 / 3.0)) - 1.0) < 1e-6);
    rh_free(x);
}

static void sets_aside(void **unused)
{
    (void)unused;
    double x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = 20.0 + sin(i);
    rh_log_numbers clean = numbers_of(x, 1000);
    assert_true(isnan(clean.sentinel));
    assert_int_equal(clean.nabsurd, 0);

    for (int i = 0; i < 300; i++)
        x[3 * i] = -9999.0;
    x[1] = 1e6;
    rh_log_numbers v = numbers_of(x, 1000);
    assert_true(v.sentinel == -9999.0);
    assert_int_equal(v.nsentinel, 300);
    assert_int_equal(v.nabsurd, 1);
    // what is there
    assert_true(v.min == -9999.0);
    assert_true(v.max == 1e6);
    // and what it usually is
    assert_true(v.lo > 18.9);
    assert_true(v.hi < 21.1);
    assert_true(fabs(v.mean - clean.mean) < 0.1);
    assert_true(fabs(v.sd - clean.sd) < 0.1);
    int64_t drawn = 0;
    for (int i = 0; i < RH_LOG_NBAR; i++)
        drawn += v.bar[i];
    assert_int_equal(drawn, 699);
    assert_true(rh_inspect__is_absurd(&v, -9999.0));
    assert_true(rh_inspect__is_absurd(&v, 1e6));
    assert_false(rh_inspect__is_absurd(&v, 20.0));

    // most of it zero: a switch, and its other end is no outlier
    for (int i = 0; i < 1000; i++)
        x[i] = i % 50 == 0 ? 1000.0 : 0.0;
    v = numbers_of(x, 1000);
    assert_true(isnan(v.sentinel));
    assert_int_equal(v.nabsurd, 0);
}

// Above a million numbers a sample is sorted; counts still use all.
static void samples_the_large(void **unused)
{
    (void)unused;
    int64_t n = 2500000;
    double *x = rh_alloc((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)(i * 7919 % n);
    x[5] = NAN;
    rh_log_numbers v = numbers_of(x, n);
    assert_int_equal(v.n, n - 1);
    assert_int_equal(v.nmissing, 1);
    assert_true(fabs(v.median / (0.5 * (double)n) - 1.0) < 0.01);
    assert_true(v.min == 0.0);
    assert_true(v.max == (double)(n - 1));
    assert_true(v.whole);
    assert_true(v.ndistinct <= 1000000);
    rh_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts),
        cmocka_unit_test(describes),
        cmocka_unit_test(keeps_digits),
        cmocka_unit_test(keeps_its_head),
        cmocka_unit_test(adds_from_the_middle),
        cmocka_unit_test(sets_aside),
        cmocka_unit_test(samples_the_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
