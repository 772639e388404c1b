// test_stats.c - statistics against mpmath, scipy and numpy (tests/reference/base_stats.py).

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "numeric/stats.h"
#include "rehearse/base.h"

static FILE *open_reference(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, size, file)); // the heading
    return file;
}

// ---------------------------------------------------------------------------- Student's t

static void student_against_mpmath(void **unused)
{
    (void)unused;
    char line[256];
    FILE *file = open_reference(RH_TEST_DATA "/base_student.csv", line, sizeof line);
    int n = 0;
    for (; fgets(line, sizeof line, file); n++) {
        char *at;
        double p = strtod(line, &at), df = strtod(at + 1, &at), t = strtod(at + 1, NULL);
        double got = rh_stats__student_quantile(p, df);
        if (!(fabs(got - t) <= 1e-12 * fabs(t)))
            fail_msg("p = %g, df = %g: %.17g, expected %.17g", p, df, got, t);
    }
    fclose(file);
    assert_int_equal(n, 736);
}

static void student_shape(void **unused)
{
    (void)unused;
    for (double df = 1.0; df < 1e9; df *= 2.7) {
        double before = -INFINITY;
        for (int i = 1; i < 500; i++) { // rising with p, across both ways of computing it
            double t = rh_stats__student_quantile(i / 500.0, df);
            assert_true(t > before);
            before = t;
        }
        assert_true(rh_stats__student_quantile(0.5, df) == 0.0);
        assert_true(rh_stats__student_quantile(0.25, df) ==
                    -rh_stats__student_quantile(0.75, df));
    }
    assert_true(fabs(rh_stats__student_quantile(0.975, INFINITY) - 1.959963984540054) < 1e-14);
    assert_true(rh_stats__student_quantile(5e-324, 1.0) == -INFINITY); // -6e322
}

// ---------------------------------------------------------------------------- quantiles

static void quantiles_against_numpy(void **unused)
{
    (void)unused;
    static char line[8192];
    FILE *file = open_reference(RH_TEST_DATA "/base_quantiles.csv", line, sizeof line);
    int nline = 0;
    for (; fgets(line, sizeof line, file); nline++) {
        char *at;
        double x[100];
        int n = (int)strtol(line, &at, 10);
        double p = strtod(at + 1, &at), expected = strtod(at + 1, &at);
        at++;
        for (int i = 0; i < n; i++)
            x[i] = strtod(at, &at);
        assert_true(rh_stats__quantile_sorted(x, n, p) == expected);
    }
    fclose(file);
    assert_int_equal(nline, 72);
}

static void quantiles_of_infinities(void **unused)
{
    (void)unused;
    double x[5] = {-INFINITY, -INFINITY, -3.0, -1.0, INFINITY};
    assert_true(rh_stats__quantile_sorted(x, 5, 0.0) == -INFINITY);
    assert_true(rh_stats__quantile_sorted(x, 5, 0.1) == -INFINITY); // between two of them
    assert_true(rh_stats__quantile_sorted(x, 5, 0.3) == -INFINITY); // any part of one
    assert_true(rh_stats__quantile_sorted(x, 5, 0.5) == -3.0);
    assert_true(rh_stats__quantile_sorted(x, 5, 0.625) == -2.0);
    assert_true(rh_stats__quantile_sorted(x, 5, 0.8) == INFINITY);
    assert_true(rh_stats__quantile_sorted(x, 5, 1.0) == INFINITY);
}

static void sorted_and_halved(void **unused)
{
    (void)unused;
    double x[] = {3.0, -INFINITY, 0.0, INFINITY, -0.0, -2.0};
    rh_stats__sort(x, 6);
    static const double sorted[] = {-INFINITY, -2.0, -0.0, 0.0, 3.0, INFINITY};
    assert_memory_equal(x, sorted, sizeof x);

    double odd[] = {5.0, 1.0, 3.0}, even[] = {8.0, 1.0, 4.0, 2.0};
    assert_true(rh_stats__median(odd, 3) == 3.0);
    assert_true(rh_stats__median(odd, 1) == 1.0);
    assert_true(rh_stats__median(even, 4) == 3.0);
    double again[] = {8.0, 1.0, 4.0, 2.0};
    assert_true(rh_stats__quantile(again, 4, 0.75) == 5.0);
    assert_memory_equal(again, even, sizeof even);
    assert_true(isnan(rh_stats__quantile(again, 0, 0.5)));
}

// ---------------------------------------------------------------------------- summaries

static void summary(void **unused)
{
    (void)unused;
    // numpy and scipy: mean, sem, t.interval(0.95, 4, mean, sem), quantile
    double x[5] = {3.0, -1.0, 4.0, 1.5, -9.0}, work[5];
    rh_summary s = rh_summarise(x, 5, work);
    assert_int_equal(s.n, 5);
    assert_true(fabs(s.mean - -0.3) < 1e-15);
    assert_true(fabs(s.stderr_ - 2.33238075793812) < 1e-14);
    assert_true(fabs(s.lo95 - -6.775727138834813) < 1e-12);
    assert_true(fabs(s.hi95 - 6.175727138834813) < 1e-12);
    assert_true(s.min == -9.0);
    assert_true(s.q25 == -1.0);
    assert_true(s.median == 1.5);
    assert_true(s.q75 == 3.0);
    assert_true(s.max == 4.0);
    // left as it was
    assert_true(x[0] == 3.0);
    assert_true(x[4] == -9.0);

    // far from zero the spread keeps its digits
    for (int i = 0; i < 5; i++)
        x[i] += 1e9;
    assert_true(fabs(rh_summarise(x, 5, work).stderr_ - 2.33238075793812) < 1e-7);
}

static void summary_of_one(void **unused)
{
    (void)unused;
    double x = -12.5, work;
    rh_summary s = rh_summarise(&x, 1, &work);
    assert_true(s.mean == x);
    assert_true(s.min == x);
    assert_true(s.q25 == x);
    assert_true(s.median == x);
    assert_true(s.max == x);
    assert_true(isnan(s.stderr_));
    assert_true(isnan(s.lo95));
    assert_true(isnan(s.hi95));
}

static void nothing_to_summarise_is_nan(void **unused)
{
    (void)unused;
    double x = 1.0, work;
    rh_summary s = rh_summarise(&x, 0, &work);
    assert_int_equal(s.n, 0);
    assert_true(isnan(s.mean));
    assert_true(isnan(s.min));
    assert_true(isnan(s.median));
    assert_true(isnan(rh_summarise(&x, -1, &work).max));
    assert_true(isnan(rh_stats__quantile_sorted(&x, 0, 0.5)));
    assert_true(isnan(rh_stats__quantile_sorted(&x, 1, 1.5)));
    assert_true(isnan(rh_stats__quantile_sorted(&x, 1, NAN)));
    assert_true(isnan(rh_stats__student_quantile(0.0, 1.0)));
    assert_true(isnan(rh_stats__student_quantile(0.5, 0.5)));
}

static void summary_of_equals(void **unused)
{
    (void)unused;
    double x[3] = {-7.0, -7.0, -7.0}, work[3];
    rh_summary s = rh_summarise(x, 3, work);
    assert_true(s.mean == -7.0);
    assert_true(s.stderr_ == 0.0);
    assert_true(s.lo95 == -7.0);
    assert_true(s.hi95 == -7.0);
}

static void summary_with_runs_that_broke_down(void **unused)
{
    (void)unused;
    double x[6] = {-100.0, -INFINITY, -120.0, -110.0, -INFINITY, -90.0}, work[6];
    rh_summary s = rh_summarise(x, 6, work);
    assert_true(s.mean == -INFINITY);
    assert_true(isnan(s.stderr_));
    assert_true(isnan(s.lo95));
    assert_true(isnan(s.hi95));
    assert_true(s.min == -INFINITY);
    assert_true(s.q25 == -INFINITY);
    assert_true(s.median == -115.0);
    assert_true(s.q75 == -102.5);
    assert_true(s.max == -90.0);

    double all[2] = {-INFINITY, -INFINITY};
    s = rh_summarise(all, 2, work);
    assert_true(s.mean == -INFINITY);
    assert_true(s.median == -INFINITY);
    assert_true(s.max == -INFINITY);

    x[3] = NAN; // a run that was stopped has no score, and then there is no summary
    s = rh_summarise(x, 6, work);
    assert_true(isnan(s.mean));
    assert_true(isnan(s.stderr_));
    assert_true(isnan(s.lo95));
    assert_true(isnan(s.min));
    assert_true(isnan(s.q25));
    assert_true(isnan(s.median));
    assert_true(isnan(s.q75));
    assert_true(isnan(s.max));
}

// The interval holds the true mean 95 times in 100.
static void interval_covers(void **unused)
{
    (void)unused;
    enum { NTRIAL = 2000, N = 6 };
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    int covered = 0;
    for (int trial = 0; trial < NTRIAL; trial++) {
        double x[N], work[N];
        for (int i = 0; i < N; i += 2)
            rh_rng_normal(&rng, x + i);
        rh_summary s = rh_summarise(x, N, work);
        covered += s.lo95 <= 0.0 && 0.0 <= s.hi95;
    }
    assert_true(fabs(covered - 0.95 * NTRIAL) < 5.0 * sqrt(0.95 * 0.05 * NTRIAL));
}

// Of 1 and 3 in 10, by the formula of Wilson (1927) in Python.
static void shares(void **unused)
{
    (void)unused;
    static const struct {
        double k, lo95, hi95;
    } of_ten[] = {{0.0, 0.0, 0.27753279986288926},
                  {1.0, 0.01787621309507287, 0.4041500267952385},
                  {3.0, 0.10779126740630099, 0.6032218525388546},
                  {10.0, 0.7224672001371107, 1.0}};
    double lo95, hi95;
    for (size_t i = 0; i < sizeof of_ten / sizeof *of_ten; i++) {
        rh_stats__wilson(of_ten[i].k, 10.0, &lo95, &hi95);
        assert_true(fabs(lo95 - of_ten[i].lo95) < 1e-12);
        assert_true(fabs(hi95 - of_ten[i].hi95) < 1e-12);
    }
    rh_stats__wilson(0.0, 0.0, &lo95, &hi95);
    assert_true(isnan(lo95));
    assert_true(isnan(hi95));
}

static void order_of_values_does_not_matter(void **unused)
{
    (void)unused;
    double x[4] = {0.0, -0.0, 1.0, -1.0}, y[4] = {1.0, -1.0, -0.0, 0.0}, work[4];
    rh_summary a = rh_summarise(x, 4, work), b = rh_summarise(y, 4, work);
    assert_memory_equal(&a.min, &b.min, 5 * sizeof a.min); // min to max
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_against_mpmath),
        cmocka_unit_test(student_shape),
        cmocka_unit_test(quantiles_against_numpy),
        cmocka_unit_test(quantiles_of_infinities),
        cmocka_unit_test(sorted_and_halved),
        cmocka_unit_test(summary),
        cmocka_unit_test(summary_of_one),
        cmocka_unit_test(nothing_to_summarise_is_nan),
        cmocka_unit_test(summary_of_equals),
        cmocka_unit_test(summary_with_runs_that_broke_down),
        cmocka_unit_test(interval_covers),
        cmocka_unit_test(shares),
        cmocka_unit_test(order_of_values_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
