// test_points.c - points and chains: what follows what, and what does not.

#include "repr_test.h"

// Points of log by `repr` must be these inputs, with so many ahead; both end with NAN.
static void points_are(const rh_log *log, bool actions, const uint8_t *use, const double *x,
                       const uint32_t *ahead)
{
    double param[16];
    rh_repr_options opt = rh_repr_defaults();
    opt.actions = actions;
    opt.param = param_of(&rh_repr_raw, param, "scale", (double)RH_SCALE_NONE, NULL);
    rh_repr *repr = fitted(&rh_repr_raw, log, &opt);
    rh_points points = {0};
    assert_int_equal(rh_points__gather(&points, repr, log, use, NULL), RH_OK);

    uint32_t n = 0, nanchor = 0;
    int nin = log->nobs + (actions ? log->nact : 0);
    for (; !isnan(x[n * (uint32_t)nin]); n++) {
        assert_true(n < points.n);
        for (int k = 0; k < nin; k++)
            assert_true((double)points.x[n * (uint32_t)nin + (uint32_t)k] ==
                        x[n * (uint32_t)nin + (uint32_t)k]);
        if (points.ahead[n] != ahead[n])
            fail_msg("%u points ahead of the %u-th, expected %u", points.ahead[n], n, ahead[n]);
        if (ahead[n])
            assert_int_equal(points.anchor[nanchor++], n);
    }
    assert_int_equal(points.n, n);
    assert_int_equal(points.nanchor, nanchor);
    rh_points__clear(&points);
    rh_repr_destroy(repr);
}

static void episodes(void **unused)
{
    (void)unused;
    static const double obs[] = {1, 2, 3, 4, 11, 12, 21, 22, 23};
    rh_log *log = log_of(obs, 1, (int[]){4, 2, 3, 0}, NULL);
    points_are(log, false, NULL, (double[]){1, 2, 3, 4, 11, 12, 21, 22, 23, NAN},
               (uint32_t[]){3, 2, 1, 0, 1, 0, 2, 1, 0});
    points_are(log, false, (uint8_t[]){0, 1, 1}, (double[]){11, 12, 21, 22, 23, NAN},
               (uint32_t[]){1, 0, 2, 1, 0});
    points_are(log, false, (uint8_t[]){0, 0, 0}, (double[]){NAN}, NULL);
    rh_log_destroy(log);
}

static void states_and_actions(void **unused)
{
    (void)unused;
    static const double obs[] = {1, 2, 3, 4, 11, 12, 21, 22, 23};
    static const double act[] = {.1, .2, .3, .4, .5, .6, .7, .8, .9};
    static float exact[6];
    static const float tenth[] = {.1f, .2f, .3f, .5f, .7f, .8f};
    double expected[13];
    for (int i = 0; i < 6; i++) {
        exact[i] = (float[]){1, 2, 3, 11, 21, 22}[i];
        expected[2 * i] = (double)exact[i];
        expected[2 * i + 1] = (double)tenth[i];
    }
    expected[12] = NAN;
    rh_log *log = log_of(obs, 1, (int[]){4, 2, 3, 0}, act);
    points_are(log, true, NULL, expected, (uint32_t[]){2, 1, 0, 0, 1, 0});
    rh_log_destroy(log);
}

static void missing_numbers(void **unused)
{
    (void)unused;
    static const double one[] = {1, 2, NAN, 4, 5, 6, NAN, NAN, 9, 11, NAN, NAN, 22};
    static const double whole[] = {1, 2, 4, 5, 6, 11};
    double obs[2 * 13], expected[2 * 6 + 1];
    for (int i = 0; i < 13; i++) {
        obs[2 * i] = one[i];
        obs[2 * i + 1] = i < 5 ? 1.0 : i == 5 ? 2.0 : 0.0; // whole throughout
    }
    for (int i = 0; i < 6; i++) {
        expected[2 * i] = whole[i];
        expected[2 * i + 1] = i < 4 ? 1.0 : i == 4 ? 2.0 : 0.0;
    }
    expected[12] = NAN;
    rh_log *log = log_of(obs, 2, (int[]){9, 2, 2, 0}, NULL);
    // a last state that follows nothing whole is not looked for
    points_are(log, false, NULL, expected, (uint32_t[]){1, 0, 2, 1, 0, 0});
    rh_log_destroy(log);
}

// Rows of three states: 1 to 2, then 7 to 8, then 8 to 9, of one episode.
static rh_log *stitched(void)
{
    rh_log *log = NULL;
    rh_log_builder *builder = NULL;
    rh_log_shape shape = {.nobs = 1, .nact = 1, .action = RH_ACTION_DISCRETE, .format = "test"};
    assert_int_equal(rh_log_builder_create(&builder, &shape, NULL), RH_OK);
    static const double from[] = {1, 7, 8}, to[] = {2, 8, 9}, act[] = {0, 1, 0};
    for (int i = 0; i < 3; i++) {
        rh_log_row row = {.obs = &from[i], .act = &act[i], .next = &to[i], .begins = i == 0};
        row.terminal = i == 2;
        assert_int_equal(rh_log_push(builder, &row, NULL), RH_OK);
    }
    assert_int_equal(rh_log_finish(builder, &log, NULL), RH_OK);
    rh_log_builder_destroy(builder);
    return log;
}

static void steps_that_do_not_meet(void **unused)
{
    (void)unused;
    rh_log *log = stitched();
    assert_int_equal(log->nepisode, 1);
    points_are(log, false, NULL, (double[]){1, 2, 7, 8, 9, NAN}, (uint32_t[]){1, 0, 2, 1, 0});
    rh_log_destroy(log);
}

static void order(void **unused)
{
    (void)unused;
    rh_points none = {0};
    assert_false(rh_points__ordered(&none));
    rh_points points = {.nanchor = 1000, .nstep = 1000, .nfollow = 50};
    assert_false(rh_points__ordered(&points));
    points.nfollow = 51;
    assert_true(rh_points__ordered(&points));
    assert_true(rh_points__ordered(&(rh_points){.nanchor = 2, .nstep = 2, .nfollow = 1}));
    assert_false(rh_points__ordered(&(rh_points){.nanchor = 2, .nstep = 2, .nfollow = 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes),        cmocka_unit_test(states_and_actions),
        cmocka_unit_test(missing_numbers), cmocka_unit_test(steps_that_do_not_meet),
        cmocka_unit_test(order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
