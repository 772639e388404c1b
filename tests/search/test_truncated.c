// test_truncated.c - normals inside a box: moments against integrals, by rejection and where
// that takes too long.

#include "search_sample.h"

#include "search/truncated.h"

#include <stdio.h>
#include <stdlib.h>

// Means and covariance of n draws of t, against the five wanted.
static void moments(rh_truncated *t, const double *wanted, int n, bool rare)
{
    rh_rng rng = rh_rng_stream(3, RH_STREAM_SEARCH, 0, 0);
    double sum[2] = {0.0}, square[3] = {0.0};
    for (int i = 0; i < n; i++) {
        double h[2];
        t->rare = rare;
        rh_truncated__draw(t, &rng, h);
        for (int k = 0; k < 2; k++) {
            assert_true(h[k] >= t->lo[k]);
            assert_true(h[k] <= t->hi[k]);
            sum[k] += h[k] / n;
            square[k] += (h[k] - wanted[k]) * (h[k] - wanted[k]) / n;
        }
        square[2] += (h[0] - wanted[0]) * (h[1] - wanted[1]) / n;
    }
    double sd[2] = {sqrt(wanted[2]), sqrt(wanted[3])};
    for (int k = 0; k < 2; k++) { // four and a half standard errors
        assert_true(fabs(sum[k] - wanted[k]) < 4.5 * sd[k] / sqrt(n));
        assert_true(fabs(square[k] / wanted[2 + k] - 1.0) < 4.5 * 2.0 / sqrt(n));
    }
    assert_true(fabs(square[2] - wanted[4]) < 4.5 * 2.0 * sd[0] * sd[1] / sqrt(n));
}

static void as_integrals_have_it(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/search_truncated.csv", "r");
    assert_non_null(file);
    static char line[1024];
    int nrow = 0;
    for (; fgets(line, sizeof line, file); nrow++) {
        double v[14];
        char *at = line;
        for (int i = 0; i < 14; i++)
            v[i] = strtod(at + (i > 0), &at);
        rh_truncated t = {
            .n = 2,
            .mean = {v[0], v[1]},
            .cov = {{v[2] * v[2], v[2] * v[3] * v[4]}, {v[2] * v[3] * v[4], v[3] * v[3]}},
            .lo = {v[5], v[7]},
            .hi = {v[6], v[8]}};
        rh_truncated__ready(&t);
        moments(&t, v + 9, 20000, false);
        assert_false(t.rare);
        moments(&t, v + 9, 4000, true);
    }
    fclose(file);
    assert_int_equal(nrow, 5);
}

// Many narrow dimensions and a wide normal: no draw would ever be inside.
static void narrow(void **unused)
{
    (void)unused;
    rh_truncated t = {.n = RH_MAX_DIM};
    for (int k = 0; k < t.n; k++) {
        t.lo[k] = -1e-3;
        t.hi[k] = 2e-3;
        t.mean[k] = 5e-4;
        for (int j = 0; j < t.n; j++)
            t.cov[k][j] = j == k ? 100.0 : 10.0;
    }
    rh_truncated__ready(&t);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 0, 0);
    double sum = 0.0, h[RH_MAX_DIM];
    for (int i = 0; i < 200; i++) {
        rh_truncated__draw(&t, &rng, h);
        for (int k = 0; k < t.n; k++) {
            assert_true(h[k] >= t.lo[k]);
            assert_true(h[k] <= t.hi[k]);
            sum += h[k] / (200 * t.n);
        }
    }
    assert_true(t.rare);
    assert_true(fabs(sum - 5e-4) < 4.5 * 3e-3 / sqrt(12.0 * 200 * t.n)); // uniform, in effect
}

// Covariances that are none: without rank, without size, without end.
static void degenerate(void **unused)
{
    (void)unused;
    static const double cov[][3] = {{1.0, 1.0, 1.0},
                                    {0.0, 0.0, 0.0},
                                    {INFINITY, 0.0, INFINITY},
                                    {1.0, 2.0, 1.0},
                                    {1e300, 0.0, 1e-300}};
    for (size_t i = 0; i < sizeof cov / sizeof *cov; i++) {
        rh_truncated t = {.n = 2,
                          .mean = {0.5, 0.5},
                          .hi = {1.0, 1.0},
                          .cov = {{cov[i][0], cov[i][1]}, {cov[i][1], cov[i][2]}}};
        rh_truncated__ready(&t);
        rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 0, 0);
        for (int k = 0; k < 20; k++) {
            double h[2];
            rh_truncated__draw(&t, &rng, h);
            assert_true(h[0] >= 0.0);
            assert_true(h[0] <= 1.0);
            assert_true(h[1] >= 0.0);
            assert_true(h[1] <= 1.0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_integrals_have_it),
        cmocka_unit_test(narrow),
        cmocka_unit_test(degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
