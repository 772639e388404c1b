// test_importance.c - shares of variance: known values, sums over the whole table, and
// functions with known indices.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "env/alloc_test.h"
#include "search/search.h"
#include "search/search_internal.h"

#include <math.h>

static const double two[] = {0.0, 1.0}, three[] = {1.0, 10.0, 100.0};

static void by_hand(void **unused)
{
    (void)unused;
    rh_space space = {{{.name = "a", .kind = RH_DIM_LIST, .value = two, .nvalue = 2},
                       {.name = "b", .kind = RH_DIM_NAMES, .value = two, .nvalue = 2}},
                      2};
    double x[8] = {0, 0, 0, 1, 1, 0, 1, 1}, share[2], total[2];
    bool exact = false;

    // 3 a + b: variances 9/4 and 1/4, nothing together
    double sum[4] = {0, 1, 3, 4};
    assert_int_equal(rh_importance__shares(&space, 4, x, sum, NULL, share, total, &exact, NULL),
                     RH_OK);
    assert_true(exact);
    assert_true(fabs(share[0] - 0.9) < 1e-14);
    assert_true(fabs(share[1] - 0.1) < 1e-14);
    assert_true(fabs(total[0] - 0.9) < 1e-14);
    assert_true(fabs(total[1] - 0.1) < 1e-14);

    // a exclusive or b: nothing alone, all together
    double either[4] = {0, 1, 1, 0};
    assert_int_equal(
        rh_importance__shares(&space, 4, x, either, NULL, share, total, NULL, NULL), RH_OK);
    assert_true(share[0] == 0.0);
    assert_true(share[1] == 0.0);
    assert_true(fabs(total[0] - 1.0) < 1e-14);
    assert_true(fabs(total[1] - 1.0) < 1e-14);

    // no differences; and nothing but breakdowns
    double same[4] = {7, 7, 7, 7}, broken[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    assert_int_equal(rh_importance__shares(&space, 4, x, same, NULL, share, total, NULL, NULL),
                     RH_OK);
    assert_true(share[0] == 0.0);
    assert_true(share[1] == 0.0);
    assert_true(total[0] == 0.0);
    assert_true(total[1] == 0.0);
    assert_int_equal(rh_importance__shares(&space, 4, x, broken, NULL, share, NULL, NULL, NULL),
                     RH_OK);
    assert_true(share[0] == 0.0);
    assert_true(share[1] == 0.0);

    // whether it breaks down is all there is to it: a alone says so
    double half[4] = {-INFINITY, -INFINITY, 3, 3};
    assert_int_equal(rh_importance__shares(&space, 4, x, half, NULL, share, total, NULL, NULL),
                     RH_OK);
    assert_true(fabs(share[0] - 1.0) < 1e-14);
    assert_true(share[1] < 1e-14);

    // a breakdown is 0.05 of the range below the worst: here -0.05 where a and b are 0
    double one[4] = {-INFINITY, 0, 1, 1};
    double replaced[4] = {-0.05, 0, 1, 1}, expected[2];
    assert_int_equal(
        rh_importance__shares(&space, 4, x, replaced, NULL, expected, NULL, NULL, NULL), RH_OK);
    assert_int_equal(rh_importance__shares(&space, 4, x, one, NULL, share, NULL, NULL, NULL),
                     RH_OK);
    assert_true(fabs(share[0] - expected[0]) < 1e-14);
    assert_true(fabs(share[1] - expected[1]) < 1e-14);
}

// Every share from its definition, with settings in another order.
static void by_definition(void **unused)
{
    (void)unused;
    rh_space space = {{{.name = "a", .kind = RH_DIM_LIST, .value = two, .nvalue = 2},
                       {.name = "b", .lo = 1.0, .hi = 4.0, .step = 1.0, .scale = RH_LOG},
                       {.name = "c", .kind = RH_DIM_NAMES, .value = three, .nvalue = 3}},
                      3};
    double x[24][3], y[24], share[3], total[3];
    for (int i = 0; i < 24; i++) {
        rh_space__at(&space, (i * 7 + 3) % 24, x[i]);
        y[i] = x[i][0] * x[i][1] + sin(x[i][2]) - 0.3 * x[i][1] * cos(x[i][2]);
    }
    bool exact;
    assert_int_equal(
        rh_importance__shares(&space, 24, x[0], y, NULL, share, total, &exact, NULL), RH_OK);
    assert_true(exact);
    double mean = 0.0, all = 0.0;
    for (int i = 0; i < 24; i++)
        mean += y[i] / 24;
    for (int i = 0; i < 24; i++)
        all += (y[i] - mean) * (y[i] - mean) / 24;
    for (int k = 0; k < 3; k++) {
        double alone = 0.0, left = 0.0;
        for (int i = 0; i < 24; i++) {
            double level = 0.0, others = 0.0;
            int nlevel = 0, nother = 0;
            for (int j = 0; j < 24; j++) {
                bool equal = true;
                for (int d = 0; d < 3; d++)
                    equal &= d == k || x[i][d] == x[j][d];
                if (x[i][k] == x[j][k]) {
                    level += y[j];
                    nlevel++;
                }
                if (equal) {
                    others += y[j];
                    nother++;
                }
            }
            alone += pow(level / nlevel - mean, 2) / 24;
            left += pow(y[i] - others / nother, 2) / 24;
        }
        assert_true(fabs(share[k] - alone / all) < 1e-13);
        assert_true(fabs(total[k] - left / all) < 1e-13);
    }

    // equal values, whose mean is not quite theirs by rounding
    double same[24];
    for (int i = 0; i < 24; i++)
        same[i] = 1e3 / 3.0;
    double none[3], neither[3];
    assert_int_equal(
        rh_importance__shares(&space, 24, x[0], same, NULL, none, neither, NULL, NULL), RH_OK);
    for (int k = 0; k < 3; k++) {
        assert_true(none[k] == 0.0);
        assert_true(neither[k] == 0.0);
    }

    // one missing, or one twice: no longer the whole table
    assert_int_equal(
        rh_importance__shares(&space, 23, x[0], y, NULL, share, total, &exact, NULL), RH_OK);
    assert_false(exact);
    for (int d = 0; d < 3; d++)
        x[0][d] = x[1][d];
    assert_int_equal(
        rh_importance__shares(&space, 24, x[0], y, NULL, share, total, &exact, NULL), RH_OK);
    assert_false(exact);
}

// Ishigami's function on [-pi, pi]^3: shares 0.3139, 0.4424, 0; totals 0.5576, 0.4424, 0.2437.
// A fourth dimension does nothing.
static void ishigami(void **unused)
{
    (void)unused;
    enum { N = 200 };
    rh_space space = {{{.name = "a", .lo = -M_PI, .hi = M_PI},
                       {.name = "b", .lo = -M_PI, .hi = M_PI},
                       {.name = "c", .lo = -M_PI, .hi = M_PI},
                       {.name = "d", .lo = 1e-4, .hi = 1.0, .scale = RH_LOG}},
                      4};
    static double x[N][4], y[N], noise[N];
    rh_rng rng = rh_rng_stream(5, RH_STREAM_SEARCH, 0, 0);
    for (int i = 0; i < N; i++) {
        double u[4];
        for (int k = 0; k < 4; k++)
            u[k] = rh_rng_uniform(&rng);
        rh_space__place(&space, u, x[i]);
        y[i] = sin(x[i][0]) + 7.0 * pow(sin(x[i][1]), 2) + 0.1 * pow(x[i][2], 4) * sin(x[i][0]);
        noise[i] = i % 2 ? NAN : 1e-4;
    }
    static const double known[2][4] = {{0.3139, 0.4424, 0.0, 0.0},
                                       {0.5576, 0.4424, 0.2437, 0.0}};
    for (int with = 0; with < 2; with++) {
        double share[4], total[4];
        bool exact = true;
        assert_int_equal(rh_importance__shares(&space, N, x[0], y, with ? noise : NULL, share,
                                               total, &exact, NULL),
                         RH_OK);
        assert_false(exact);
        for (int k = 0; k < 4; k++) {
            assert_true(fabs(share[k] - known[0][k]) < 0.06);
            assert_true(fabs(total[k] - known[1][k]) < 0.06);
            assert_true(share[k] >= 0.0);
            assert_true(share[k] <= 1.0);
            assert_true(total[k] >= 0.0);
            assert_true(total[k] <= 1.0);
        }
    }
}

static void odd_ones(void **unused)
{
    (void)unused;
    rh_space space = {{{.name = "a", .lo = 0.0, .hi = 1.0}}, 1};
    double x[3] = {0.1, 0.5, 0.9}, same[3] = {1, 1, 1}, y[3] = {1, -INFINITY, 3}, share = -1.0;
    double total = -1.0;
    rh_error err;
    assert_int_equal(rh_importance__shares(&space, 0, x, y, NULL, &share, NULL, NULL, &err),
                     RH_EINVAL);
    assert_int_equal(rh_importance__shares(&space, 3, x, same, NULL, &share, NULL, NULL, NULL),
                     RH_OK);
    assert_true(share == 0.0);
    assert_int_equal(rh_importance__shares(&space, 3, x, y, NULL, &share, &total, NULL, NULL),
                     RH_OK);
    assert_true(share > 0.95);
    assert_true(share <= 1.0);
    assert_true(total > 0.95);

    // more dimensions than the sequence has pairs for; only the first matters
    static rh_space wide = {.ndim = 20};
    static const char *const name[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                       "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};
    static double many[60][20], value[60], part[20];
    rh_rng rng = rh_rng_stream(6, RH_STREAM_SEARCH, 0, 0);
    for (int k = 0; k < 20; k++)
        wide.dim[k] = (rh_dim){.name = name[k], .hi = 1.0};
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k < 20; k++)
            many[i][k] = rh_rng_uniform(&rng);
        value[i] = many[i][0];
    }
    assert_int_equal(
        rh_importance__shares(&wide, 60, many[0], value, NULL, part, NULL, NULL, NULL), RH_OK);
    assert_true(part[0] > 0.8);
    for (int k = 1; k < 20; k++)
        assert_true(part[k] < 0.1);
}

// Of many settings some are drawn: a dimension of two values that varies fastest is found.
static void many_settings(void **unused)
{
    (void)unused;
    enum { N = 1200 };
    static double x[N][2], y[N];
    rh_space space = {{{.name = "a", .lo = 0.0, .hi = 1.0},
                       {.name = "b", .kind = RH_DIM_LIST, .value = two, .nvalue = 2}},
                      2};
    for (int i = 0; i < N; i++) {
        x[i][0] = (i / 2 + 0.5) / (N / 2.0);
        x[i][1] = i % 2;
        y[i] = x[i][0] + x[i][1];
    }
    double share[2];
    assert_int_equal(rh_importance__shares(&space, N, x[0], y, NULL, share, NULL, NULL, NULL),
                     RH_OK);
    assert_true(fabs(share[0] - 0.25) < 0.03);
    assert_true(fabs(share[1] - 0.75) < 0.03);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    rh_space space = {{{.name = "a", .lo = 0.0, .hi = 1.0}}, 1};
    double x[3] = {0.1, 0.5, 0.9}, y[3] = {1, 2, 3}, share;
    rh_error err;
    int64_t live = rh_base__alloc_live();
    int nth = 0;
    rh_status rc;
    do {
        rh_base__alloc_fail_at(++nth);
        rc = rh_importance__shares(&space, 3, x, y, NULL, &share, NULL, NULL, &err);
    } while (allocation_failed(rc, &err, live));
    assert_true(nth > 1);
    assert_true(nth < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),       cmocka_unit_test(by_definition),
        cmocka_unit_test(ishigami),      cmocka_unit_test(odd_ones),
        cmocka_unit_test(many_settings), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
