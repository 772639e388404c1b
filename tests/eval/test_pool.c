// test_pool.c - pooled scores of several members: known values, and numpy.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/eval.h"
#include "rehearse/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void by_hand(void **unused)
{
    (void)unused;
    double one[] = {-7.0};
    for (int p = RH_POOL_MEAN; p <= RH_POOL_QUARTILE; p++)
        assert_true(rh_pool__score((rh_pool)p, one, 1) == -7.0);

    assert_true(isnan(rh_pool__score(RH_POOL_MEAN, one, 0)));
    assert_true(isnan(rh_pool__score(RH_POOL_MEAN, one, RH_MAX_MEMBER + 1)));

    double two[] = {-10.0, -30.0};
    assert_true(rh_pool__score(RH_POOL_MEAN, two, 2) == -20.0);
    assert_true(rh_pool__score(RH_POOL_WORST, two, 2) == -30.0);
    assert_true(rh_pool__score(RH_POOL_QUARTILE, two, 2) == -25.0);

    // unsorted, and left as it was
    double five[] = {-3.0, -1.0, -100.0, -2.0, -4.0};
    assert_true(rh_pool__score(RH_POOL_MEAN, five, 5) == -22.0);
    assert_true(rh_pool__score(RH_POOL_WORST, five, 5) == -100.0);
    assert_true(rh_pool__score(RH_POOL_QUARTILE, five, 5) == -4.0);
    assert_true(five[0] == -3.0);
    assert_true(five[2] == -100.0);
    assert_true(five[4] == -4.0);
}

// A run that was stopped leaves no score, and one that broke down in a task without a lowest
// reward leaves the lowest of all.
static void odd_scores(void **unused)
{
    (void)unused;
    double stopped[] = {-1.0, NAN, -2.0, -INFINITY};
    double broken[] = {-1.0, -INFINITY, -2.0, -3.0};
    for (int p = RH_POOL_MEAN; p <= RH_POOL_QUARTILE; p++) {
        assert_true(isnan(rh_pool__score((rh_pool)p, stopped, 4)));
        assert_true(isnan(rh_pool__score((rh_pool)p, stopped + 1, 1)));
        assert_true(rh_pool__score((rh_pool)p, broken, 4) == -INFINITY);
    }
}

static void as_numpy_has_it(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/eval_pool.csv", "r");
    assert_non_null(file);
    static char line[1 << 14];
    int nrow = 0;
    for (; fgets(line, sizeof line, file); nrow++) {
        char *at = line;
        double x[3 + RH_MAX_MEMBER];
        int n = (int)strtol(at, &at, 10);
        assert_in_range(n, 1, RH_MAX_MEMBER);
        double size = 0.0;
        for (int i = 0; i < 3 + n; i++) {
            x[i] = strtod(at + 1, &at);
            size += i < 3 ? 0.0 : fabs(x[i]);
        }
        assert_true(*at == '\n');
        assert_true(fabs(rh_pool__score(RH_POOL_MEAN, x + 3, n) - x[0]) <= 1e-13 * size);
        assert_true(rh_pool__score(RH_POOL_WORST, x + 3, n) == x[1]);
        assert_true(rh_pool__score(RH_POOL_QUARTILE, x + 3, n) == x[2]);
    }
    fclose(file);
    assert_int_equal(nrow, 45);
}

static void names_are_in_order(void **unused)
{
    (void)unused;
    int n = 0;
    const char *const *name = rh_pool__names(&n);
    assert_int_equal(n, 3);
    assert_string_equal(name[RH_POOL_MEAN], "mean");
    assert_string_equal(name[RH_POOL_WORST], "worst");
    assert_string_equal(name[RH_POOL_QUARTILE], "quartile");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(odd_scores),
        cmocka_unit_test(as_numpy_has_it),
        cmocka_unit_test(names_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
