// test_sobol.c - Sobol's sequence compared with SciPy's, and properties that a shift preserves.

#include "search_sample.h"

#include "search/sobol.h"

#include <stdio.h>
#include <stdlib.h>

static void as_scipy_has_it(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/search_sobol.csv", "r");
    assert_non_null(file);
    static char line[4096];
    rh_sobol sobol;
    int nrow = 0;
    rh_sobol__init(&sobol, RH_MAX_DIM, NULL);
    for (; fgets(line, sizeof line, file); nrow++) {
        char *at = line;
        double u[RH_MAX_DIM];
        rh_sobol__at(&sobol, (uint32_t)strtoul(at, &at, 10), u);
        for (int k = 0; k < RH_MAX_DIM; k++)
            assert_true(u[k] == ((double)strtoul(at + 1, &at, 10) + 0.5) * 0x1p-32);
        assert_true(*at == '\n');
    }
    fclose(file);
    assert_int_equal(nrow, 27);
}

// One point in each of 256 slices of every dimension, and of 16 x 16 squares of the first 2.
static void shifted(void **unused)
{
    (void)unused;
    rh_sobol sobol[2];
    double first[2][RH_MAX_DIM];
    for (int s = 0; s < 2; s++) {
        rh_rng rng = rh_rng_stream((uint64_t)s, RH_STREAM_SEARCH, 0, 0);
        rh_sobol__init(&sobol[s], RH_MAX_DIM, &rng);
        static int slice[RH_MAX_DIM][256], square[256];
        memset(slice, 0, sizeof slice);
        memset(square, 0, sizeof square);
        for (uint32_t i = 0; i < 256; i++) {
            double u[RH_MAX_DIM];
            rh_sobol__at(&sobol[s], i, u);
            for (int k = 0; k < RH_MAX_DIM; k++) {
                assert_true(u[k] > 0.0);
                assert_true(u[k] < 1.0);
                slice[k][(int)(256.0 * u[k])]++;
            }
            square[16 * (int)(16.0 * u[0]) + (int)(16.0 * u[1])]++;
        }
        for (int i = 0; i < 256; i++) {
            assert_int_equal(square[i], 1);
            for (int k = 0; k < RH_MAX_DIM; k++)
                assert_int_equal(slice[k][i], 1);
        }
        rh_sobol__at(&sobol[s], 0, first[s]);
    }
    for (int k = 0; k < RH_MAX_DIM; k++)
        assert_true(first[0][k] != first[1][k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_scipy_has_it),
        cmocka_unit_test(shifted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
