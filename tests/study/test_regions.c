// test_regions.c - the regression tree and its regions, by hand.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/base_internal.h"
#include "study/regions.h"

static rh_regions__region leaf[RH_REGIONS__MOST];

static int split(int64_t n, int nfeature, const double *x, const double *y, int depth,
                 int64_t least)
{
    int nleaf = -1;
    assert_int_equal(rh_regions__split(n, nfeature, x, y, depth, least, leaf, &nleaf), RH_OK);
    return nleaf;
}

static void assert_side(const rh_regions__region *r, int i, int feature, double lo, double hi)
{
    assert_true(i < r->nside);
    assert_int_equal(r->side[i].feature, feature);
    assert_true(r->side[i].lo == lo);
    assert_true(r->side[i].hi == hi);
}

// x = 0 .. 19, y = 1 from 15 on. Deciles are 2, 4, .. 18. The gain is 25/6 - 25/20 = 2.917 at
// 14 and 1/16 + 16/4 - 25/20 = 2.813 at 16.
static void one_cut(void **unused)
{
    (void)unused;
    double x[20], y[20];
    for (int i = 0; i < 20; i++) {
        x[i] = i;
        y[i] = i >= 15;
    }
    assert_int_equal(split(20, 1, x, y, 1, 1), 2);
    assert_side(&leaf[0], 0, 0, -INFINITY, 14.0);
    assert_side(&leaf[1], 0, 0, 14.0, INFINITY);
    assert_int_equal(leaf[0].n, 14);
    assert_true(leaf[0].total == 0.0);
    assert_int_equal(leaf[1].n, 6);
    assert_true(leaf[1].total == 5.0);
    assert_true(rh_regions__has(&leaf[1], &x[14]));
    assert_false(rh_regions__has(&leaf[1], &x[13]));

    // 7 points must be left: 12 is the last that leaves them
    assert_int_equal(split(20, 1, x, y, 1, 7), 2);
    assert_side(&leaf[1], 0, 0, 12.0, INFINITY);

    // a second cut of 14 .. 19: 15 separates all, but 14 to 15 is narrower than a tenth of 19.
    // The next are 16, with a gain of 1/2 + 4 - 25/6 = 0.333, and 17 with 4/3 + 3 - 25/6
    assert_int_equal(split(20, 1, x, y, 2, 1), 3);
    assert_side(&leaf[1], 0, 0, 14.0, 16.0);
    assert_side(&leaf[2], 0, 0, 16.0, INFINITY);
    assert_int_equal(leaf[2].n, 4);
    assert_true(leaf[2].total == 4.0);
}

// y is 1 in a quarter of a square; both features explain as much, and the first is taken.
static void two_features(void **unused)
{
    (void)unused;
    double x[400][2], y[400];
    for (int i = 0; i < 400; i++) {
        x[i][0] = i % 20;
        x[i][1] = (double)(i / 20);
        y[i] = i % 20 >= 10 && i / 20 >= 10;
    }
    assert_int_equal(split(400, 2, x[0], y, 2, 20), 3);
    assert_int_equal(leaf[0].nside, 1);
    assert_side(&leaf[0], 0, 0, -INFINITY, 10.0);
    assert_int_equal(leaf[2].nside, 2);
    assert_side(&leaf[2], 0, 0, 10.0, INFINITY);
    assert_side(&leaf[2], 1, 1, 10.0, INFINITY);
    assert_int_equal(leaf[2].n, 100);
    assert_true(leaf[2].total == 100.0);
    assert_int_equal(leaf[1].n, 100);
    assert_true(leaf[1].total == 0.0);
}

// Thresholds are multiples of a power of ten, at most a hundredth of the range.
static void readable_numbers(void **unused)
{
    (void)unused;
    static const double scale[] = {0.0123456, 1.0, 98.7654, 5.4321e6};
    static const double unit[] = {0.001, 0.1, 10.0, 1e6};
    for (int k = 0; k < 4; k++) {
        double x[20], y[20];
        for (int i = 0; i < 20; i++) {
            x[i] = scale[k] * (i + 0.123);
            y[i] = i >= 10;
        }
        assert_int_equal(split(20, 1, x, y, 1, 1), 2);
        double at = leaf[0].side[0].hi;
        assert_true(fabs(at / unit[k] - round(at / unit[k])) < 1e-9);
        assert_true(fabs(at - x[10]) <= unit[k] / 2.0 * (1.0 + 1e-9));
    }
}

// No split where nothing varies, where nothing is to be gained, or without points.
static void no_cut(void **unused)
{
    (void)unused;
    double x[20], y[20], z[20] = {0};
    for (int i = 0; i < 20; i++) {
        x[i] = i;
        y[i] = 0.1;
    }
    assert_int_equal(split(20, 1, x, y, 2, 1), 1);
    assert_int_equal(leaf[0].nside, 0);
    assert_int_equal(leaf[0].n, 20);
    assert_true(fabs(leaf[0].total - 2.0) < 1e-12);
    y[3] = 1.0;
    assert_int_equal(split(20, 1, z, y, 2, 1), 1);
    assert_int_equal(split(0, 1, x, y, 2, 1), 0);
    assert_int_equal(split(1, 1, x, y, 2, 1), 1);
    assert_int_equal(split(20, 1, x, y, 0, 1), 1);
}

static rh_regions__region box(double lo, double hi, double above, double total)
{
    return (rh_regions__region){
        .side = {{0, lo, hi}, {1, above, INFINITY}}, .nside = 2, .n = 10, .total = total};
}

static void joined(void **unused)
{
    (void)unused;
    // three in a row, of which the last needs twice as much
    rh_regions__region r[3] = {box(-INFINITY, 1, 5, 4), box(1, 2, 5, 5), box(2, 3, 5, 10)};
    assert_int_equal(rh_regions__join(r, 3, 1.5), 2);
    assert_side(&r[0], 0, 0, -INFINITY, 2.0);
    assert_int_equal(r[0].n, 20);
    assert_true(r[0].total == 9.0);
    assert_side(&r[1], 0, 0, 2.0, 3.0);

    // both halves of everything: the bound vanishes
    rh_regions__region s[2] = {box(1, INFINITY, 5, 4), box(-INFINITY, 1, 5, 4)};
    assert_int_equal(rh_regions__join(s, 2, 1.5), 1);
    assert_int_equal(s[0].nside, 1);
    assert_side(&s[0], 0, 1, 5.0, INFINITY);

    // another group, another height, a gap between
    rh_regions__region t[4] = {box(0, 1, 5, 4), box(1, 2, 5, 4), box(1, 2, 6, 4),
                               box(3, 4, 5, 4)};
    t[1].group = 1;
    assert_int_equal(rh_regions__join(t, 4, 1.5), 4);
}

static void no_memory(void **unused)
{
    (void)unused;
    double x[20] = {0}, y[20] = {0};
    int n;
    for (long nth = 1; nth <= 3; nth++) {
        rh_base__alloc_fail_at(nth);
        assert_int_equal(rh_regions__split(20, 1, x, y, 2, 1, leaf, &n), RH_ENOMEM);
        rh_base__alloc_fail_at(0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cut),          cmocka_unit_test(two_features),
        cmocka_unit_test(readable_numbers), cmocka_unit_test(no_cut),
        cmocka_unit_test(joined),           cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
