// test_tiles.c - the tile coder against the independent one of tests/reference/agent_tiles.py.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/tiles.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "numeric/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number(char **rest)
{
    return strtod(strsep(rest, ","), NULL);
}

static rh_tiles_mode mode_of(const char *name)
{
    if (strcmp(name, "joint") == 0)
        return RH_TILES_JOINT;
    return strcmp(name, "pairs") == 0 ? RH_TILES_PAIRS : RH_TILES_SINGLES;
}

// One row of the reference: the same features, in the same order, whatever the kernel.
static void check_row(char *row)
{
    rh_tiles_mode mode = mode_of(strsep(&row, ","));
    int ntiling = (int)number(&row), ntile = (int)number(&row);
    rh_task task = {.nobs = (int)number(&row)};
    double x[8];
    for (int i = 0; i < task.nobs; i++)
        task.obs_lo[i] = number(&row);
    for (int i = 0; i < task.nobs; i++)
        task.obs_hi[i] = number(&row);
    for (int i = 0; i < task.nobs; i++)
        x[i] = number(&row);

    rh_tiles *tiles = NULL;
    assert_int_equal(
        rh_tiles__create(&tiles, (double[]){ntiling, ntile, mode}, &task, "test", NULL), RH_OK);
    assert_int_equal(tiles->nfeature, (int)number(&row));
    int32_t *active = rh_alloc((size_t)tiles->nactive, sizeof *active);
    char *start = row;
    for (int k = 0; k < rh_isa__count(); k++) {
        char copy[4096];
        snprintf(copy, sizeof copy, "%s", start);
        row = copy;
        tiles->kernels = rh_agent__kernels_at(k);
        rh_tiles__active(tiles, x, active);
        for (int i = 0; i < tiles->nactive; i++)
            assert_int_equal(active[i], (int)number(&row));
        assert_null(row); // as many as there are
    }
    rh_free(active);
    rh_tiles__destroy(tiles);
}

static void codes_as_the_reference(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/agent_tiles.csv", "r");
    assert_non_null(file);
    char *row = NULL;
    size_t size = 0;
    int n = 0;
    for (ssize_t length; (length = getline(&row, &size, file)) > 0; n++) {
        row[length - 1] = 0;
        check_row(row);
    }
    assert_true(n > 300);
    free(row);
    fclose(file);
}

static void every_feature_is_in_range(void **unused)
{
    (void)unused;
    rh_task task = {.nobs = 3, .obs_lo = {-1, 0, 10}, .obs_hi = {1, 5, 11}};
    rh_tiles *tiles = NULL;
    assert_int_equal(
        rh_tiles__create(&tiles, (double[]){16, 8, RH_TILES_PAIRS}, &task, "test", NULL),
        RH_OK);
    assert_int_equal(tiles->nactive, 16 * 6);
    assert_int_equal(tiles->nfeature, 16 * (3 * 9 + 3 * 81));
    int32_t active[96];
    static const double odd[] = {0.0, -1e300, 1e300, -INFINITY, INFINITY, NAN, 0x1p-1074};
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) {
            rh_tiles__active(tiles, (double[]){odd[i], odd[j], odd[(i + j) % 7]}, active);
            for (int k = 0; k < 96; k++)
                assert_in_range(active[k], 0, tiles->nfeature - 1);
        }
    rh_tiles__destroy(tiles);
}

// Chosen sensors and pairs have the features of a task that has no others.
static void codes_chosen_sensors(void **unused)
{
    (void)unused;
    rh_task all = {.nobs = 4, .obs_lo = {0, 0, 0, 0}, .obs_hi = {1, 9, 2, 3}},
            few = {.nobs = 2, .obs_lo = {0, 0}, .obs_hi = {1, 3}};
    all.tiled = (rh_tiled){.nsensor = 2, .npair = 1, .sensor = {0, 3}, .pair = {{0, 3}}};
    for (int mode = RH_TILES_PAIRS; mode <= RH_TILES_JOINT; mode++) {
        const double hp[] = {16, 8, mode};
        rh_tiles *a = NULL, *b = NULL;
        int32_t x[48], y[48];
        assert_int_equal(rh_tiles__create(&a, hp, &all, "test", NULL), RH_OK);
        assert_int_equal(rh_tiles__create(&b, hp, &few, "test", NULL), RH_OK);
        assert_int_equal(a->nfeature, b->nfeature);
        assert_int_equal(a->nactive, b->nactive);
        rh_tiles__active(a, (double[]){0.3, 8.0, 0.1, 2.2}, x);
        rh_tiles__active(b, (double[]){0.3, 2.2}, y);
        assert_memory_equal(x, y, (size_t)a->nactive * sizeof *x);

        // what was learned with them does not fit all
        rh_state *state = NULL;
        rh_error err = {""};
        assert_int_equal(rh_state__create(&state, NULL), RH_OK);
        assert_int_equal(rh_tiles__save(a, state, NULL), RH_OK);
        assert_int_equal(rh_tiles__check_saved(a, "test", state, NULL), RH_OK);
        assert_int_equal(rh_tiles__check_saved(b, "test", state, &err), RH_EINVAL);
        assert_non_null(strstr(err.text, "saved with other sensors"));
        rh_state_destroy(state);
        rh_tiles__destroy(a);
        rh_tiles__destroy(b);
    }
    all.tiled.sensor[1] = 4;
    rh_tiles *tiles = NULL;
    assert_int_equal(
        rh_tiles__create(&tiles, (double[]){16, 8, RH_TILES_PAIRS}, &all, "test", NULL),
        RH_EINVAL);
}

static void refuses_what_it_cannot_tile(void **unused)
{
    (void)unused;
    rh_tiles *tiles = NULL;
    rh_error err;
    rh_task task = {.nobs = 8};
    for (int i = 0; i < 8; i++) {
        task.obs_name[i] = "x";
        task.obs_hi[i] = 1.0;
    }
    assert_int_equal(
        rh_tiles__create(&tiles, (double[]){16, 8, RH_TILES_JOINT}, &task, "esarsa", &err),
        RH_EINVAL);
    assert_non_null(strstr(err.text, "features = pairs"));
    task.obs_name[5] = "level";
    task.obs_lo[5] = 1.0;
    assert_int_equal(
        rh_tiles__create(&tiles, (double[]){16, 8, RH_TILES_PAIRS}, &task, "esarsa", &err),
        RH_EINVAL);
    assert_non_null(strstr(err.text, "sensor level ranges from 1 to 1"));
    task.obs_lo[5] = -INFINITY;
    assert_int_equal(
        rh_tiles__create(&tiles, (double[]){16, 8, RH_TILES_PAIRS}, &task, "esarsa", &err),
        RH_EINVAL);
    assert_null(tiles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_as_the_reference),
        cmocka_unit_test(every_feature_is_in_range),
        cmocka_unit_test(codes_chosen_sensors),
        cmocka_unit_test(refuses_what_it_cannot_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
