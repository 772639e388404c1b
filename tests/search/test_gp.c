// test_gp.c - Gaussian processes: compared with scikit-learn, derivatives with differences, an
// extended factor with a new one, names, fitting, and failed allocations.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "env/alloc_test.h"
#include "search/gp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance) * (1.0 + fabs(b)))

static const int own_group[RH_MAX_DIM] = {0, 1, 2, 3, 4, 5, 6, 7};
static const bool no_names[RH_MAX_DIM];

// A row of numbers; returns how many.
static int numbers(FILE *file, double *x, int most)
{
    static char line[1 << 12];
    int n = 0;
    if (!fgets(line, sizeof line, file))
        return 0;
    for (char *at = line; n < most && *at && *at != '\n'; at += *at == ',')
        x[n++] = strtod(at, &at);
    return n;
}

// n points of a smooth function with noise, in a process over ncol columns.
static void fill(rh_gp *gp, int n, int ncol, double noise)
{
    rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 0, (uint64_t)n);
    assert_int_equal(rh_gp__init(gp, ncol, ncol, own_group, no_names, NULL), RH_OK);
    assert_int_equal(rh_gp__reserve(gp, n, NULL), RH_OK);
    gp->jitter = 1e-10;
    for (int i = 0; i < n; i++) {
        double z[RH_MAX_DIM], e[2], sum = 0.0;
        for (int c = 0; c < ncol; c++)
            sum += (c + 1) * (z[c] = rh_rng_uniform(&rng));
        rh_rng_normal(&rng, e);
        rh_gp__put(gp, z, sin(sum) + sqrt(noise) * e[0], noise);
    }
}

static void as_scikit_learn_has_it(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/search_gp.csv", "r");
    assert_non_null(file);
    double row[64], z[16], slope[RH_GP_MOST], mean, variance;
    int ncase = 0;
    for (; numbers(file, row, 64); ncase++) {
        int n = (int)row[0], ncol = (int)row[1];
        double theta[RH_GP_MOST] = {log(row[2]), log(row[3])};
        for (int c = 0; c < ncol; c++)
            theta[RH_GP_LENGTH + c] = log(row[4 + c]);
        double value = row[4 + ncol], by[16];
        memcpy(by, row + 5 + ncol, (size_t)(1 + ncol) * sizeof *by);

        rh_gp gp = {0};
        gp.jitter = 1e-10;
        assert_int_equal(rh_gp__init(&gp, ncol, ncol, own_group, no_names, NULL), RH_OK);
        assert_int_equal(rh_gp__reserve(&gp, n, NULL), RH_OK);
        for (int i = 0; i < n; i++) {
            assert_int_equal(numbers(file, z, 16), ncol + 2);
            rh_gp__put(&gp, z, z[ncol], z[ncol + 1]);
        }
        NEAR(rh_gp__evidence(&gp, theta, NULL), value, 1e-10);
        NEAR(rh_gp__evidence(&gp, theta, slope), value, 1e-10);
        NEAR(slope[RH_GP_VARIANCE], by[0], 1e-7);
        for (int c = 0; c < ncol; c++)
            NEAR(slope[RH_GP_LENGTH + c], by[1 + c], 1e-8);
        rh_gp__factor(&gp);
        rh_gp__weigh(&gp);
        for (int i = 0; i < 7; i++) {
            assert_int_equal(numbers(file, z, 16), ncol + 2);
            rh_gp__predict(&gp, 1, z, &mean, &variance);
            NEAR(mean, z[ncol], 1e-10);
            NEAR(sqrt(variance), z[ncol + 1], 1e-8);
        }
        rh_gp__clear(&gp);
    }
    fclose(file);
    assert_int_equal(ncase, 4);
}

// With a mean of its own too, and the noise that all have.
static void derivatives_are_differences(void **unused)
{
    (void)unused;
    rh_gp gp = {0};
    gp.fit_mean = true;
    fill(&gp, 25, 3, 0.01);
    double theta[RH_GP_MOST] = {0.3, -4.0, -0.5, 0.2, -1.0}, slope[RH_GP_MOST];
    rh_gp__evidence(&gp, theta, slope);
    for (int i = 0; i < 5; i++) {
        double at = theta[i], up, down;
        theta[i] = at + 1e-5;
        up = rh_gp__evidence(&gp, theta, NULL);
        theta[i] = at - 1e-5;
        down = rh_gp__evidence(&gp, theta, NULL);
        theta[i] = at;
        NEAR(slope[i], (up - down) / 2e-5, 1e-6);
    }

    rh_gp__set_theta(&gp, theta);
    rh_gp__factor(&gp);
    rh_gp__weigh(&gp);
    double z[3] = {0.3, 0.8, 0.45}, mean, variance, by[3], by_variance[3];
    rh_gp__slope(&gp, z, &mean, &variance, by, by_variance);
    double plain[2];
    rh_gp__predict(&gp, 1, z, &plain[0], &plain[1]);
    NEAR(mean, plain[0], 1e-12);
    NEAR(variance, plain[1], 1e-12);
    for (int c = 0; c < 3; c++) {
        double at = z[c], m[2], v[2];
        for (int side = 0; side < 2; side++) {
            z[c] = at + (side ? 1e-5 : -1e-5);
            rh_gp__predict(&gp, 1, z, &m[side], &v[side]);
        }
        z[c] = at;
        NEAR(by[c], (m[1] - m[0]) / 2e-5, 1e-7);
        NEAR(by_variance[c], (v[1] - v[0]) / 2e-5, 1e-7);
    }
    rh_gp__clear(&gp);
}

static void extending_equals_factoring(void **unused)
{
    (void)unused;
    rh_gp gp = {0};
    gp.fit_mean = true;
    fill(&gp, 40, 2, 0.0);
    double theta[RH_GP_MOST] = {0.5, -12.0, -1.0, -0.7}, mean[10], variance[10], again[2];
    double z[20];
    for (int i = 0; i < 20; i++)
        z[i] = (i * 7 % 20) / 20.0;
    rh_gp__set_theta(&gp, theta);
    gp.n = 30;
    rh_gp__factor(&gp);
    gp.n = 40;
    rh_gp__extend(&gp);
    rh_gp__weigh(&gp);
    rh_gp__predict(&gp, 10, z, mean, variance);
    rh_gp__factor(&gp);
    rh_gp__weigh(&gp);
    for (int i = 0; i < 10; i++) {
        rh_gp__predict(&gp, 1, z + 2 * i, &again[0], &again[1]);
        NEAR(mean[i], again[0], 1e-6);
        NEAR(variance[i], again[1], 1e-8);
    }

    // one point twice, and no noise: jitter helps out
    rh_gp twice = {0};
    fill(&twice, 5, 2, 0.0);
    twice.jitter = 0.0;
    twice.n = 4;
    rh_gp__put(&twice, twice.z, twice.y[0], 0.0);
    theta[RH_GP_NOISE] = -60.0;
    rh_gp__set_theta(&twice, theta);
    rh_gp__factor(&twice);
    rh_gp__weigh(&twice);
    rh_gp__predict(&twice, 1, twice.z, mean, variance);
    NEAR(mean[0], twice.y[0], 1e-3);
    twice.n = twice.nfactor = 4;
    twice.n = 5;
    rh_gp__extend(&twice);
    rh_gp__weigh(&twice);
    rh_gp__predict(&twice, 1, twice.z, mean, variance);
    NEAR(mean[0], twice.y[0], 1e-3);
    rh_gp__clear(&twice);
    rh_gp__clear(&gp);
}

// Any two names are at the same distance, and a name has no slope.
static void names_have_equal_distances(void **unused)
{
    (void)unused;
    rh_gp gp = {0};
    int group[2] = {0, 1};
    bool named[2] = {true, false};
    assert_int_equal(rh_gp__init(&gp, 2, 2, group, named, NULL), RH_OK);
    assert_int_equal(rh_gp__reserve(&gp, 1, NULL), RH_OK);
    double z[2] = {0.125, 0.5}, at[6] = {0.375, 0.5, 0.625, 0.5, 0.125, 0.5}, mean[3], by[2];
    double variance[3], by_variance[2];
    rh_gp__put(&gp, z, 1.0, 1e-6);
    rh_gp__factor(&gp);
    rh_gp__weigh(&gp);
    rh_gp__predict(&gp, 3, at, mean, variance);
    assert_true(mean[0] == mean[1]);
    assert_true(variance[0] == variance[1]);
    assert_true(mean[2] > mean[0]);
    assert_true(variance[2] < variance[0]);
    z[1] = 0.6;
    rh_gp__slope(&gp, z, mean, variance, by, by_variance);
    assert_true(by[0] == 0.0);
    assert_true(by_variance[0] == 0.0);
    assert_true(by[1] != 0.0);
    rh_gp__clear(&gp);
}

// The fit is better than each start, stays within bounds, and finds the column that matters.
static void fits(void **unused)
{
    (void)unused;
    rh_gp gp = {0};
    gp.fit_mean = true;
    assert_int_equal(rh_gp__init(&gp, 2, 2, own_group, no_names, NULL), RH_OK);
    assert_int_equal(rh_gp__reserve(&gp, 40, NULL), RH_OK);
    rh_rng rng = rh_rng_stream(3, RH_STREAM_SEARCH, 0, 0);
    for (int i = 0; i < 40; i++) {
        double z[2] = {rh_rng_uniform(&rng), rh_rng_uniform(&rng)}, e[2];
        rh_rng_normal(&rng, e);
        rh_gp__put(&gp, z, sin(9.0 * z[0]) + 0.1 * e[0], 0.0);
    }
    rh_gp__prior prior[4] = {{-5, 9, 0, 2}, {-18, 0, -4, 3}, {-5, 7, 0, 2}, {-5, 7, 0, 2}};
    double start[8] = {0, -4, 0, 0, 1, -2, 1, 1}, theta[4];
    assert_int_equal(rh_gp__fit(&gp, prior, 2, start, 60, NULL), RH_OK);
    memcpy(theta, gp.theta, sizeof theta);
    for (int i = 0; i < 4; i++) {
        assert_true(theta[i] >= prior[i].lo);
        assert_true(theta[i] <= prior[i].hi);
    }
    assert_true(theta[RH_GP_LENGTH + 1] > theta[RH_GP_LENGTH] + 1.0);
    assert_true(exp(theta[RH_GP_NOISE]) > 0.003);
    assert_true(exp(theta[RH_GP_NOISE]) < 0.03);
    double best = rh_gp__evidence(&gp, theta, NULL);
    assert_true(best > rh_gp__evidence(&gp, start, NULL));
    assert_true(best > rh_gp__evidence(&gp, start + 4, NULL));

    // what is fixed stays
    prior[RH_GP_NOISE] = (rh_gp__prior){-2.0, -2.0, -2.0, INFINITY};
    assert_int_equal(rh_gp__fit(&gp, prior, 2, start, 60, NULL), RH_OK);
    assert_true(gp.theta[RH_GP_NOISE] == -2.0);
    rh_gp__clear(&gp);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_error err;
    int nth = 0;
    rh_status rc;
    do {
        rh_gp gp = {0};
        rh_base__alloc_fail_at(++nth);
        rc = rh_gp__init(&gp, 2, 2, own_group, no_names, &err);
        if (!rc)
            rc = rh_gp__reserve(&gp, 1, &err);
        if (!rc) {
            rh_gp__put(&gp, (double[]){0.5, 0.5}, 2.0, 0.0);
            rc = rh_gp__reserve(&gp, 10, &err);
            assert_int_equal(gp.n, 1);
            assert_true(gp.y[0] == 2.0);
            assert_true(gp.z[1] == 0.5);
        }
        rh_gp__clear(&gp);
    } while (allocation_failed(rc, &err, live));
    assert_true(nth > 1);
    assert_true(nth < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_scikit_learn_has_it),
        cmocka_unit_test(derivatives_are_differences),
        cmocka_unit_test(extending_equals_factoring),
        cmocka_unit_test(names_have_equal_distances),
        cmocka_unit_test(fits),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
