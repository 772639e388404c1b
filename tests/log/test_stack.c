// test_stack.c - the last observations and actions as sensors, and the test that they help.

#include "base/base_internal.h"
#include "inspect_sample.h"
#include "log/csv.h"

#include <stdio.h>

static rh_log *read_text(const char *text)
{
    rh_log_options opt = rh_log_defaults();
    opt.gaps = RH_GAPS_CUT;
    rh_log *log = NULL;
    rh_error err;
    if (rh_csv__read_bytes(&log, text, strlen(text), "x.csv", &opt, &err))
        fail_msg("%s", err.text);
    return log;
}

static rh_log *stack(rh_log *log, int depth)
{
    rh_error err;
    if (rh_log__stack(&log, depth, "x.csv", &err))
        fail_msg("%s", err.text);
    return log;
}

static void check_state(const rh_log *log, int64_t row, const double *want)
{
    for (int i = 0; i < log->nobs; i++)
        if (log->obs[row * log->nobs + i] != want[i])
            fail_msg("state %lld, %s: %g, expected %g", (long long)row, log->obs_name[i],
                     log->obs[row * log->nobs + i], want[i]);
}

// By hand: two episodes, the second with another s' than the next row's s.
static void numbers_and_names(void **unused)
{
    (void)unused;
    rh_log *log = stack(read_text("episode,x,action,reward,next_x\n"
                                  "1,10,off,0,11\n"
                                  "1,11,high,1,12\n"
                                  "1,12,low,2,13\n"
                                  "2,20,low,3,25\n"
                                  "2,21,low,4,22\n"),
                        3);
    assert_int_equal(log->nobs, 3 + 2 * 3);
    assert_int_equal(log->n, 5);
    static const char *const name[] = {
        "x",     "x[-1]",           "action=high[-1]", "action=low[-1]", "action=off[-1]",
        "x[-2]", "action=high[-2]", "action=low[-2]",  "action=off[-2]"};
    for (int i = 0; i < 9; i++)
        assert_string_equal(log->obs_name[i], name[i]);
    check_state(log, log->from[0], (double[]){10, 10, 0, 0, 0, 10, 0, 0, 0});
    check_state(log, log->from[1], (double[]){11, 10, 0, 0, 1, 10, 0, 0, 0});
    check_state(log, log->from[2], (double[]){12, 11, 1, 0, 0, 10, 0, 0, 1});
    check_state(log, log->to[2], (double[]){13, 12, 0, 1, 0, 11, 1, 0, 0});
    assert_int_equal(log->to[0], log->from[1]); // stored once
    check_state(log, log->from[3], (double[]){20, 20, 0, 0, 0, 20, 0, 0, 0});
    check_state(log, log->to[3], (double[]){25, 20, 0, 1, 0, 20, 0, 0, 0});
    check_state(log, log->from[4], (double[]){21, 20, 0, 1, 0, 20, 0, 0, 0});
    static const int64_t line[] = {2, 3, 4, 5, 6};
    for (int t = 0; t < 5; t++) {
        assert_true(log->reward[t] == t);
        assert_int_equal(log->line[log->from[t]], line[t]);
    }
    assert_int_equal(log->reading.nshort, 0);
    rh_log_destroy(log);
}

// Two actions are one number of -1 and 1; continuous ones are as they are.
static void kinds_of_actions(void **unused)
{
    (void)unused;
    rh_log *log = stack(read_text("x,action,reward\n1,0,0\n2,1,0\n3,0,0\n4,1,0\n"), 2);
    assert_int_equal(log->nobs, 3);
    assert_string_equal(log->obs_name[2], "action=1[-1]");
    check_state(log, log->from[0], (double[]){1, 1, 0});
    check_state(log, log->from[1], (double[]){2, 1, -1});
    check_state(log, log->from[2], (double[]){3, 2, 1});
    rh_log_destroy(log);
    log = stack(read_text("x,action,reward\n1,0.5,0\n2,0.25,0\n3,-0.5,0\n4,1,0\n"), 2);
    assert_string_equal(log->obs_name[2], "action[-1]");
    check_state(log, log->to[2], (double[]){4, 3, -0.5});
    rh_log_destroy(log);
}

// After a gap the history is unknown: those steps are dropped.
static void gaps(void **unused)
{
    (void)unused;
    rh_log *log = stack(read_text("x,action,reward\n1,0,0\n2,1,0\n3,0,\n4,1,0\n5,0,0\n6,1,0\n"
                                  "7,0,0\n8,1,\n9,0,0\n10,1,0\n"),
                        3);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->reading.nshort, 3); // at 4, 5 and 9
    assert_int_equal(log->n, 4);
    check_state(log, log->from[2], (double[]){6, 5, -1, 4, 1});
    assert_int_equal(log->start[0], 1);
    assert_int_equal(log->start[1], 0);
    rh_log_destroy(log);
}

static void refusals(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    rh_log *log = read_text("x,action,reward\n1,0.5,0\n2,0.25,0\n3,-0.5,0\n");
    rh_error err;
    opt.stack = 65;
    assert_int_equal(rh_log_read(&log, "no.csv", &opt, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "stack = 65, expected 1 to 64"));
    assert_int_equal(rh_log__stack(&log, 64, "x.csv", &err), RH_OK); // 127 numbers
    assert_int_equal(rh_log__stack(&log, 3, "x.csv", &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "383 numbers in an observation, expected at most 256"));
    rh_log_destroy(log);
}

static void every_allocation_can_fail(void **unused)
{
    (void)unused;
    for (int64_t n = 1;; n++) {
        rh_log *log = read_text("x,action,reward\n1,0,0\n2,1,0\n3,0,0\n4,2,0\n");
        rh_error err;
        rh_base__alloc_fail_at(n);
        rh_status rc = rh_log__stack(&log, 2, "x.csv", &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        rh_log_destroy(log);
        if (rc == RH_OK)
            break;
    }
    assert_int_equal(rh_base__alloc_live(), 0);
}

// ---------------------------------------------------------------------------- the finding

// A mass pushed left and right: its speed is a sensor, or it is not.
static rh_log *mass(bool speed)
{
    rh_log_shape shape = {.nobs = speed ? 2 : 1, .nact = 1, .action = RH_ACTION_DISCRETE};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    double obs[2] = {0.0, 0.0};
    assert_int_equal(rh_log_builder_create(&b, &shape, NULL), RH_OK);
    for (int i = 0; i < 1500; i++) {
        double act = rh_rng_below(&rng, 3);
        rh_log_row row = {.obs = obs, .act = &act, .reward = -fabs(obs[0])};
        assert_int_equal(rh_log_push(b, &row, NULL), RH_OK);
        obs[1] += 0.3 * (act - 1.0) - 0.2 * obs[0] - 0.1 * obs[1];
        obs[1] += rh_rng_range(&rng, -0.05, 0.05);
        obs[0] += 0.5 * obs[1];
    }
    assert_int_equal(rh_log_finish(b, &log, NULL), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

static rh_log_history history_of(rh_log *log, bool *found)
{
    rh_log_report *report = NULL;
    assert_int_equal(rh_log_inspect(&report, log, NULL), RH_OK);
    rh_log_history h = report->history;
    *found = false;
    for (int i = 0; i < report->findings.n; i++)
        *found =
            *found || strcmp(rh_finding_name(report->findings.item[i].id), "hidden-state") == 0;
    rh_log_report_destroy(report);
    rh_log_destroy(log);
    return h;
}

static void hidden_state(void **unused)
{
    (void)unused;
    bool found;
    rh_log_history h = history_of(mass(false), &found);
    assert_true(found);
    assert_int_equal(h.sensor, 0);
    assert_true(h.now > 0.5);
    assert_true(h.stacked < 0.5 * h.now);
    history_of(mass(true), &found);
    assert_false(found);
    history_of(stack(mass(false), 2), &found); // with it, nothing is hidden
    assert_false(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_names),
        cmocka_unit_test(kinds_of_actions),
        cmocka_unit_test(gaps),
        cmocka_unit_test(refusals),
        cmocka_unit_test(hidden_state),
        cmocka_unit_test(every_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
