// test_maths.c - elementary functions against 60-digit references
// (tests/reference/base_maths.py).

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "rehearse/base.h"

#define NPOINT 2000 // in every reference file

static FILE *open_reference(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", RH_TEST_DATA, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

// Doubles between a and b: equal numbers give 0, neighbours 1.
static uint64_t steps(double a, double b)
{
    int64_t i, j;
    memcpy(&i, &a, sizeof i);
    memcpy(&j, &b, sizeof j);
    if (i < 0) // the negative numbers run backwards
        i = INT64_MIN - i;
    if (j < 0)
        j = INT64_MIN - j;
    return i > j ? (uint64_t)i - (uint64_t)j : (uint64_t)j - (uint64_t)i;
}

static void against_reference(const char *name, double (*f)(double))
{
    FILE *file = open_reference(name);
    char line[128];
    int n = 0;
    for (; fgets(line, sizeof line, file); n++) {
        char *end;
        double x = strtod(line, &end), y = strtod(end + 1, NULL);
        if (steps(f(x), y) > 1)
            fail_msg("%s: f(%a) = %a, expected %a", name, x, f(x), y);
    }
    fclose(file);
    assert_int_equal(n, NPOINT);
}

static void exponential(void **unused)
{
    (void)unused;
    against_reference("base_exp.csv", rh_exp);
    assert_true(rh_exp(0.0) == 1.0);
    assert_true(rh_exp(INFINITY) == INFINITY);
    assert_true(rh_exp(709.79) == INFINITY);
    assert_true(rh_exp(-INFINITY) == 0.0);
    assert_true(rh_exp(-746.0) == 0.0);
    assert_true(isnan(rh_exp(NAN)));
}

static void logarithm(void **unused)
{
    (void)unused;
    against_reference("base_log.csv", rh_ln);
    assert_true(rh_ln(1.0) == 0.0);
    assert_true(rh_ln(0.0) == -INFINITY);
    assert_true(rh_ln(-0.0) == -INFINITY);
    assert_true(rh_ln(INFINITY) == INFINITY);
    assert_true(isnan(rh_ln(-1.0)));
    assert_true(isnan(rh_ln(-INFINITY)));
    assert_true(isnan(rh_ln(NAN)));
}

static void sine_and_cosine(void **unused)
{
    (void)unused;
    FILE *file = open_reference("base_sincos.csv");
    char line[128];
    int n = 0;
    for (; fgets(line, sizeof line, file); n++) {
        char *end;
        double x = strtod(line, &end), s = strtod(end + 1, &end), c = strtod(end + 1, NULL);
        double sine, cosine;
        rh_maths__sincos(x, &sine, &cosine);
        if (steps(sine, s) > 1 || steps(cosine, c) > 1)
            fail_msg("sincos(%a) = %a, %a, expected %a, %a", x, sine, cosine, s, c);
        assert_true(sine == rh_sin(x));
        assert_true(cosine == rh_cos(x));
    }
    fclose(file);
    assert_int_equal(n, NPOINT);

    // beyond 1e5 only a point on the circle is promised, and nothing of what is not finite
    for (double x = 1.5e5; x < 1e300; x *= 1.9) {
        double sine = rh_sin(x), cosine = rh_cos(x);
        assert_true(fabs(sine * sine + cosine * cosine - 1.0) < 1e-15);
    }
    assert_true(isnan(rh_sin(INFINITY)));
    assert_true(isnan(rh_cos(-INFINITY)));
    assert_true(isnan(rh_sin(NAN)));
}

// The last bits too: these sums must not change from one machine to the next.
static void same_bits_everywhere(void **unused)
{
    (void)unused;
    double sum[4] = {0.0};
    for (int i = 1; i <= 100000; i++) {
        double x = i * 0.001, s, c;
        rh_maths__sincos(x * 100.0, &s, &c);
        sum[0] += rh_exp(-x);
        sum[1] += rh_ln(x);
        sum[2] += s;
        sum[3] += c;
    }
    assert_true(sum[0] == 0x1.f3c002bb0ce22p+9);
    assert_true(sum[1] == 0x1.6012ec6a82cc4p+18);
    assert_true(sum[2] == 0x1.35a3bdae09221p+4);
    assert_true(sum[3] == -0x1.01e62f4b61998p+2);
}

static void finite_is_told_from_not(void **unused)
{
    (void)unused;
    double x[5] = {0.0, -1e308, 1e308, 0x1p-1074, -0.0};
    assert_true(rh_base__all_finite(x, 5));
    assert_true(rh_base__all_finite(x, 0));
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 5; i++) {
            double kept = x[i];
            x[i] = odd[k];
            assert_false(rh_base__all_finite(x, 5));
            x[i] = kept;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finite_is_told_from_not),
        cmocka_unit_test(exponential),
        cmocka_unit_test(logarithm),
        cmocka_unit_test(sine_and_cosine),
        cmocka_unit_test(same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
