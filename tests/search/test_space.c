// test_space.c - spaces: counting, enumerating, refusals, and the unit cube.

#include "search/search.h"
#include "search_sample.h"

#include <stdlib.h>

static rh_dim range(rh_scale scale, double lo, double hi, double step)
{
    return (rh_dim){"a", RH_DIM_RANGE, scale, .lo = lo, .hi = hi, .step = step};
}

// Multiples are the decimals people mean: what a literal reads as.
static void multiples(void **unused)
{
    (void)unused;
    static const double tenths[] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
    rh_space tenth = {{range(RH_LINEAR, 0.0, 1.0, 0.1)}, 1};
    assert_true(rh_space__count(&tenth) == 11.0);
    for (int i = 0; i < 11; i++) {
        double x;
        rh_space__at(&tenth, i, &x);
        assert_true(x == tenths[i]);
        assert_true(rh_space__holds(&tenth, &x));
    }
    double near = 0.1 * 3; // 0.30000000000000004
    assert_false(rh_space__holds(&tenth, &near));

    static const struct {
        double lo, hi, step, count, first, last;
    } list[] = {
        {0.0, 0.3, 0.1, 4.0, 0.0, 0.3},           {0.05, 1.0, 0.1, 10.0, 0.1, 1.0},
        {-0.3, 0.25, 0.1, 6.0, -0.3, 0.2},        {1.0, 8.0, 1.0, 8.0, 1.0, 8.0},
        {0.5, 8.7, 1.0, 8.0, 1.0, 8.0},           {1e-5, 5e-5, 1e-5, 5.0, 1e-5, 5e-5},
        {0.0, 1.0, 1.0 / 3.0, 4.0, 0.0, 1.0},     {0.7, 2.1, 0.7, 3.0, 0.7, 2.1},
        {1e6, 1e6 + 4.0, 0.5, 9.0, 1e6, 1e6 + 4}, {3.0, 3.0, 1.0, 1.0, 3.0, 3.0},
        {0.015, 0.06, 0.015, 4.0, 0.015, 0.06},   {250.0, 1000.0, 250.0, 4.0, 250.0, 1000.0},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        rh_space s = {{range(RH_LINEAR, list[i].lo, list[i].hi, list[i].step)}, 1};
        double x;
        assert_int_equal(rh_space__check(&s, NULL), RH_OK);
        assert_true(rh_space__count(&s) == list[i].count);
        rh_space__at(&s, 0, &x);
        assert_true(x == list[i].first);
        rh_space__at(&s, (int64_t)list[i].count - 1, &x);
        assert_true(x == list[i].last);
        for (int k = 0; k < (int)list[i].count; k++) { // all inside, all their own
            rh_space__at(&s, k, &x);
            assert_true(x >= list[i].lo);
            assert_true(x <= list[i].hi);
            assert_true(rh_space__holds(&s, &x));
        }
    }
}

static void counted_and_gone_through(void **unused)
{
    (void)unused;
    rh_space s = sample_space(FINITE);
    assert_true(rh_space__count(&s) == 36.0);
    int i = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 3; c++, i++) {
                double x[3];
                rh_space__at(&s, i, x);
                assert_true(x[0] == sample_list[a]);
                assert_true(x[1] == sample_names[b]);
                assert_true(x[2] == 0.5 * c);
                assert_true(rh_space__holds(&s, x));
            }
    for (int64_t none = -1; none <= 36; none += 37) {
        double x[3] = {0};
        rh_space__at(&s, none, x);
        assert_true(isnan(x[0]));
        assert_true(isnan(x[1]));
        assert_true(isnan(x[2]));
    }
    rh_space mixed = sample_space(MIXED);
    assert_true(rh_space__count(&mixed) == (double)INFINITY);
    assert_true(rh_dim__count(&mixed.dim[0]) == (double)INFINITY);
    rh_dim still = range(RH_LINEAR, 2.0, 2.0, 0.0);
    assert_true(rh_dim__count(&still) == 1.0);

    // more settings than any int
    rh_space large = {.ndim = 5};
    for (int k = 0; k < 5; k++)
        large.dim[k] = range(RH_LINEAR, 1.0, 1000.0, 1.0);
    assert_true(rh_space__count(&large) == 1e15);
    double x[5];
    rh_space__at(&large, 999999999999999, x);
    for (int k = 0; k < 5; k++)
        assert_true(x[k] == 1000.0);
    rh_space__at(&large, 1002, x);
    assert_true(x[2] == 1.0);
    assert_true(x[3] == 2.0);
    assert_true(x[4] == 3.0);
}

static void what_it_holds(void **unused)
{
    (void)unused;
    rh_space s = sample_space(FINITE);
    static const struct {
        double x[3];
        bool holds;
    } list[] = {
        {{0.1, 7.0, 0.5}, true},  {{0.1, 7.0, 0.25}, false}, {{0.2, 7.0, 0.5}, false},
        {{0.1, 1.0, 0.5}, false}, {{0.1, 7.0, 1.5}, false},  {{NAN, 7.0, 0.5}, false},
        {{0.1, 7.0, NAN}, false}, {{0.1, NAN, 0.5}, false},  {{0.1, 7.0, -0.5}, false},
        {{0.1, 0.0, -0.0}, true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        assert_int_equal(rh_space__holds(&s, list[i].x), list[i].holds);
    rh_space line = sample_space(LINE);
    double x[] = {-2.0, 3.0, 0.1, -2.1, 3.1, INFINITY};
    for (int i = 0; i < 6; i++)
        assert_int_equal(rh_space__holds(&line, &x[i]), i < 3);
}

// Ends exact, equal parts, and the middle of a part comes back to its setting.
static void cube(void **unused)
{
    (void)unused;
    static const double ends[][2] = {{0.001, 0.7}, {1e-5, 0.3}, {0.1, 100.0}, {3.3, 1e9}};
    for (int i = 0; i < 4; i++)
        for (int scale = RH_LINEAR; scale <= RH_LOG; scale++) {
            rh_space s = {{range((rh_scale)scale, ends[i][0], ends[i][1], 0.0)}, 1};
            double u[] = {0.0, 1.0, -0.5, 1.5, 0.5, NAN}, x[6], back;
            for (int k = 0; k < 6; k++)
                rh_space__place(&s, &u[k], &x[k]);
            assert_true(x[0] == ends[i][0]);
            assert_true(x[1] == ends[i][1]);
            assert_true(x[2] == ends[i][0]);
            assert_true(x[3] == ends[i][1]);
            assert_true(x[5] == ends[i][0]);
            double middle = scale == RH_LOG ? sqrt(ends[i][0] * ends[i][1])
                                            : 0.5 * (ends[i][0] + ends[i][1]);
            assert_true(fabs(x[4] / middle - 1.0) < 1e-14);
            for (int k = 0; k <= 1000; k++) {
                double at = k / 1000.0, here;
                rh_space__place(&s, &at, &here);
                assert_true(rh_space__holds(&s, &here));
                rh_space__unit(&s, &here, &back);
                assert_true(fabs(back - at) < 1e-12);
            }
        }

    // every setting of a finite space is in the middle of its part
    rh_space finite = sample_space(FINITE);
    for (int i = 0; i < 36; i++) {
        double x[3], u[3], y[3];
        rh_space__at(&finite, i, x);
        rh_space__unit(&finite, x, u);
        rh_space__place(&finite, u, y);
        assert_memory_equal(x, y, sizeof x);
        assert_true(fabs(u[0] - (i / 9 + 0.5) / 4) < 1e-15);
        assert_true(fabs(u[1] - (i / 3 % 3 + 0.5) / 3) < 1e-15);
        assert_true(fabs(u[2] - (i % 3 + 0.5) / 3) < 1e-15);
    }
    rh_space alone = sample_space(ALONE);
    double u = 0.9, x;
    rh_space__place(&alone, &u, &x);
    assert_true(x == 5.0);
    rh_space__unit(&alone, &x, &u);
    assert_true(u == 0.5);
}

// Whole numbers on a log scale: as many draws fall on k as ratios say.
static void whole_numbers_by_ratio(void **unused)
{
    (void)unused;
    enum { N = 200000 };
    rh_space s = {{range(RH_LOG, 1.0, 50.0, 1.0)}, 1};
    static int count[51];
    for (int i = 0; i < N; i++) {
        double u = (i + 0.5) / N, x, v, y;
        rh_space__place(&s, &u, &x);
        assert_true(rh_space__holds(&s, &x));
        count[(int)x]++;
        rh_space__unit(&s, &x, &v);
        rh_space__place(&s, &v, &y);
        assert_true(x == y);
    }
    for (int k = 1; k <= 50; k++) {
        double share = log((k + 0.5) / (k - 0.5)) / log(50.5 / 0.5);
        assert_true(fabs((double)count[k] / N - share) < 2e-5);
    }
}

// Numbers of a dimension's own scale.
static void rounding(void **unused)
{
    (void)unused;
    rh_space s = sample_space(MIXED);
    assert_true(rh_dim__round(&s.dim[0], -1000.0) == 1e-3);
    assert_true(rh_dim__round(&s.dim[0], 1000.0) == 10.0);
    assert_true(rh_dim__round(&s.dim[0], 0.0) == 1.0);
    assert_true(rh_dim__round(&s.dim[2], 0.7) == 0.7);
    assert_true(rh_dim__round(&s.dim[4], log(41.4)) == 41.0);
    assert_true(rh_dim__round(&s.dim[4], log(41.6)) == 42.0);
    assert_true(rh_dim__round(&s.dim[5], 1.4) == 0.03);
    assert_true(rh_dim__round(&s.dim[5], 9.0) == 0.3);
    assert_true(rh_dim__round(&s.dim[5], -0.4) == 0.01);
}

static void refused(const rh_space *space, const char *why)
{
    rh_error err = {""};
    assert_int_equal(rh_space__check(space, &err), RH_EINVAL);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
}

static void checked(void **unused)
{
    (void)unused;
    for (int i = 0; i < NSAMPLE; i++) {
        rh_space s = sample_space(i);
        assert_int_equal(rh_space__check(&s, NULL), RH_OK);
    }
    static const struct {
        rh_scale scale;
        double lo, hi, step;
        const char *why;
    } bad[] = {
        {RH_LINEAR, 2.0, 1.0, 0.0, "a: 2 to 1, expected the smaller number first"},
        {RH_LOG, 0.0, 1.0, 0.0, "a: 0 to 1 on a log scale, expected numbers above 0"},
        {RH_LINEAR, 0.2, 0.8, 1.0, "a: no multiple of 1 between 0.2 and 0.8"},
        {RH_LINEAR, 0.5, 0.5, 1.0, "a: no multiple of 1 between 0.5 and 0.5"},
        {RH_LINEAR, 0.0, 1.0, -0.1, "a: step = -0.1"},
        {RH_LINEAR, 0.0, 1.0, NAN, "a: step = nan"},
        {RH_LINEAR, 0.0, 1.0, 1e-300, "a: step = 1e-300 is too small"},
        {RH_LINEAR, 0.0, INFINITY, 0.0, "a: 0 to inf, expected two finite numbers"},
        {RH_LINEAR, NAN, 1.0, 0.0, "a: nan to 1, expected two finite numbers"},
        {RH_LINEAR, -1e308, 1e308, 0.0, "expected two finite numbers"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_space s = {{range(bad[i].scale, bad[i].lo, bad[i].hi, bad[i].step)}, 1};
        refused(&s, bad[i].why);
    }
    static const double falling[] = {1.0, 3.0, 2.0}, twice[] = {1.0, 3.0, 1.0},
                        none[] = {0.0, 1.0}, odd[] = {1.0, NAN};
    rh_dim list = {"b", RH_DIM_LIST, .value = falling, .nvalue = 3};
    rh_space s = {{list}, 1};
    refused(&s, "b: 2 after 3, expected rising values");
    s.dim[0].kind = RH_DIM_NAMES;
    assert_int_equal(rh_space__check(&s, NULL), RH_OK);
    s.dim[0].value = twice;
    refused(&s, "b: 1 twice among its values");
    s.dim[0] = (rh_dim){"b", RH_DIM_LIST, RH_LOG, .value = none, .nvalue = 2};
    refused(&s, "b: 0 among its values on a log scale, expected numbers above 0");
    s.dim[0] = (rh_dim){"b", RH_DIM_LIST, .value = odd, .nvalue = 2};
    refused(&s, "b: nan among its values");
    s.dim[0].nvalue = 0;
    refused(&s, "b: 0 values, expected 1 to");
    s.ndim = 0;
    refused(&s, "0 parameters to search, expected 1 to 32");
    rh_space same = {{range(RH_LINEAR, 0.0, 1.0, 0.0), range(RH_LINEAR, 0.0, 1.0, 0.0)}, 2};
    refused(&same, "a: searched twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiples),     cmocka_unit_test(counted_and_gone_through),
        cmocka_unit_test(what_it_holds), cmocka_unit_test(cube),
        cmocka_unit_test(rounding),      cmocka_unit_test(whole_numbers_by_ratio),
        cmocka_unit_test(checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
