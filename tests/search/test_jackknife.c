// test_jackknife.c - standard errors of importances, against scikit-learn, scipy and numpy
// (tests/reference/search_jackknife.py).

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
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 100, NDIM = 3 };

static rh_space cube(int ndim)
{
    static const char *const name[] = {"a", "b", "c"};
    rh_space space = {.ndim = ndim};
    for (int k = 0; k < ndim; k++)
        space.dim[k] = (rh_dim){.name = name[k], .lo = 0.0, .hi = 1.0};
    return space;
}

// The next row of numbers; false at the end of the file.
static bool read_row(FILE *file, int n, double *x)
{
    char line[400], *at = line;
    if (!fgets(line, sizeof line, file))
        return false;
    for (int i = 0; i < n; i++) {
        char *end;
        x[i] = strtod(at, &end);
        assert_true(end != at);
        at = end + (*end == ',');
    }
    return true;
}

// Ours are means over 2,048 points of a sequence, the reference's over a lattice: an importance
// near 0 differs by up to 0.001, larger ones by less than 1 %. A factor of sqrt(7 / 8), that of
// dividing by another number of groups, is farther off in the largest errors.
static void as_the_reference_has_it(void **unused)
{
    (void)unused;
    static double x[MOST][NDIM], value[MOST], noise[MOST];
    FILE *file = fopen(RH_TEST_DATA "/search_jackknife.csv", "r");
    double shape[2];
    int ncase = 0, nlarge = 0;
    assert_non_null(file);
    for (; read_row(file, 2, shape); ncase++) {
        int n = (int)shape[0], ndim = (int)shape[1];
        double right[4][NDIM], share[NDIM], total[NDIM], error[2][NDIM], row[NDIM + 2];
        rh_space space = cube(ndim);
        double *place = x[0];
        assert_true(n <= MOST);
        assert_true(ndim <= NDIM);
        for (int i = 0; i < n; i++) {
            assert_true(read_row(file, ndim + 2, row));
            memcpy(place + (ptrdiff_t)i * ndim, row, (size_t)ndim * sizeof *row);
            value[i] = row[ndim];
            noise[i] = row[ndim + 1];
        }
        for (int i = 0; i < 4; i++)
            assert_true(read_row(file, ndim, right[i]));
        assert_int_equal(
            rh_importance__shares(&space, n, place, value, noise, share, total, NULL, NULL),
            RH_OK);
        assert_int_equal(
            rh_importance__errors(&space, n, place, value, noise, error[0], error[1], NULL),
            RH_OK);
        for (int k = 0; k < ndim; k++) {
            assert_true(fabs(share[k] - right[0][k]) < 0.01);
            assert_true(fabs(total[k] - right[1][k]) < 0.01);
            for (int i = 0; i < 2; i++) {
                double expected = right[2 + i][k], off = fabs(error[i][k] - expected);
                if (!(off < 0.02 * expected + 0.0015))
                    fail_msg("case %d, dimension %d: %g, expected %g", ncase, k, error[i][k],
                             expected);
                nlarge += expected > 0.05; // where a wrong factor would be seen
            }
        }
    }
    fclose(file);
    assert_int_equal(ncase, 3);
    assert_true(nlarge >= 4);
}

// Settings that explain nothing have no error; and what cannot be computed is refused.
static void limits(void **unused)
{
    (void)unused;
    static double x[MOST][2], value[MOST];
    double share[2], total[2];
    rh_space space = cube(2);
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(3, RH_STREAM_SEARCH, 0, 0);
    for (int i = 0; i < MOST; i++) {
        x[i][0] = rh_rng_uniform(&rng);
        x[i][1] = rh_rng_uniform(&rng);
        value[i] = 2.5;
    }
    assert_int_equal(rh_importance__errors(&space, 30, x[0], value, NULL, share, total, &err),
                     RH_OK);
    for (int k = 0; k < 2; k++) {
        assert_true(share[k] == 0.0);
        assert_true(total[k] == 0.0);
    }
    assert_int_equal(rh_importance__errors(&space, 17, x[0], value, NULL, share, total, &err),
                     RH_EINVAL);
    assert_string_equal(err.text, "importance: 17 settings, expected 18 or more for an error");
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    static double x[20][2], value[20];
    double share[2], total[2];
    rh_space space = cube(2);
    rh_rng rng = rh_rng_stream(3, RH_STREAM_SEARCH, 0, 0);
    for (int i = 0; i < 20; i++) {
        x[i][0] = rh_rng_uniform(&rng);
        x[i][1] = rh_rng_uniform(&rng);
        value[i] = x[i][0] + 0.1 * x[i][1];
    }
    int64_t live = rh_base__alloc_live(), nth = 0;
    rh_error err = {""};
    rh_status rc;
    do {
        rh_base__alloc_fail_at(++nth);
        rc = rh_importance__errors(&space, 20, x[0], value, NULL, share, total, &err);
    } while (allocation_failed(rc, &err, live));
    assert_true(nth > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_reference_has_it),
        cmocka_unit_test(limits),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
