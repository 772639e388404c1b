// test_inspect_align.c - how many steps the tests of order need.

#include "inspect_sample.h"

enum { NOBS = 60, NACT = 10 };

// Steps of the report's test of n rows, in which nothing depends on anything.
static int64_t steps_of(int n)
{
    rh_log_shape shape = {.nobs = NOBS, .nact = NACT, .action = RH_ACTION_CONTINUOUS};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_log_report *report = NULL;
    rh_error err;
    double obs[NOBS], act[NACT];
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < NOBS; k++)
            obs[k] = rh_rng_range(&rng, -1.0, 1.0);
        for (int k = 0; k < NACT; k++)
            act[k] = rh_rng_range(&rng, -1.0, 1.0);
        rh_log_row row = {.obs = obs, .act = act, .reward = rh_rng_range(&rng, -1.0, 1.0)};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    assert_int_equal(rh_log_inspect(&report, log, NULL), RH_OK);
    int64_t used = report->align.n;
    rh_log_report_destroy(report);
    rh_log_destroy(log);
    return used;
}

// Four for each number that a fit has: 2 x 121 of the state and 3 x 10 of three actions.
static void four_steps_for_each_number(void **unused)
{
    (void)unused;
    assert_int_equal(steps_of(1000), 0);
    assert_true(steps_of(1150) >= 1088);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(four_steps_for_each_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
