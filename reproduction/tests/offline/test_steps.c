// test_steps.c - which transitions of a log are learned from, and which logs are refused.

#include "offline_sample.h"

static double walk[][7] = {
    {0.1, 0.2, 0, -1.0, 0.2, 0.2, 0},      {0.2, 0.2, 1, -2.0, 0.3, 0.2, 1},
    {NAN, 0.2, 2, -3.0, 0.3, 0.2, 0},      // s is missing
    {0.3, 0.2, 2, -4.0, INFINITY, 0.2, 0}, // s' is infinite
    {0.4, 0.2, 2, -5.0, NAN, NAN, 1},      // and here it does not matter
    {0.5, 0.2, 1, INFINITY, 0.3, 0.2, 0},  // the reward is infinite
    {0.6, 0.2, 0, -6.0, 0.7, 0.2, 0},
};

static void usable_transitions(void **state)
{
    (void)state;
    rh_log *log = log_of(walk, 7);
    rh_offline__steps s;
    assert_int_equal(rh_offline__take_steps(&s, log, 2, 3, "test", NULL), RH_OK);
    const double reward[] = {-1.0, -2.0, -5.0, -6.0}, x[] = {0.1, 0.2, 0.4, 0.6};
    const int act[] = {0, 1, 2, 0}, ends[] = {0, 1, 1, 0};
    assert_int_equal(s.n, 4);
    for (int i = 0; i < s.n; i++) {
        assert_true(s.reward[i] == reward[i]);
        assert_true(log->obs[2 * s.from[i]] == x[i]);
        assert_int_equal(s.act[i], act[i]);
        assert_int_equal(s.to[i] == RH_UNKNOWN, ends[i]);
    }
    assert_true(log->obs[2 * s.to[0]] == 0.2);
    assert_true(log->obs[2 * s.to[3]] == 0.7);
    rh_offline__clear_steps(&s);
    rh_log_destroy(log);
}

static void refused_with(const rh_log *log, int nobs, int naction, const char *message)
{
    rh_offline__steps s;
    rh_error err;
    assert_int_equal(rh_offline__take_steps(&s, log, nobs, naction, "test", &err), RH_EINVAL);
    assert_string_equal(err.text, message);
    rh_offline__clear_steps(&s);
}

static void refused_logs(void **state)
{
    (void)state;
    rh_log *log = log_of(walk, 7), *none = log_of(walk + 2, 2);
    refused_with(log, 2, 4,
                 "test: a log of 2 sensors and 3 actions, expected 2 and 4 as in the task");
    refused_with(log, 1, 3,
                 "test: a log of 2 sensors and 3 actions, expected 1 and 3 as in the task");
    refused_with(none, 2, 3,
                 "test: every one of 2 transitions has a missing or infinite number");
    rh_log amounts = *log;
    amounts.naction = 0;
    refused_with(&amounts, 2, 3, "test: a log of continuous actions, expected discrete ones");
    rh_log_destroy(log);
    rh_log_destroy(none);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(usable_transitions),
        cmocka_unit_test(refused_logs),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
