// test_category.c - columns of text as observations.

#include "base/base_internal.h"
#include "inspect_sample.h"
#include "log/csv.h"

#include <stdio.h>

static const char *const text = "temp,mode,level,action,reward\n"
                                "1,manual,10,0,0\n"
                                "2,auto,20,1,0\n"
                                "3,NA,30,0,0\n"
                                "4,off,40,1,0\n"
                                "5,\"NA\",50,1,0\n"
                                "6,auto,60,1,0\n";

static rh_status read_text(rh_log **log, const char *from, const char *obs, rh_error *err)
{
    rh_log_options opt = rh_log_defaults();
    opt.gaps = RH_GAPS_CUT;
    opt.obs = obs;
    return rh_csv__read_bytes(log, from, strlen(from), "x.csv", &opt, err);
}

static rh_log *read_log(const char *from, const char *obs)
{
    rh_log *log = NULL;
    rh_error err = {""};
    if (read_text(&log, from, obs, &err))
        fail_msg("%s", err.text);
    return log;
}

static void check_state(const rh_log *log, int64_t row, const double *want)
{
    for (int i = 0; i < log->nobs; i++) {
        double x = log->obs[row * log->nobs + i];
        if (isnan(want[i]) ? !isnan(x) : x != want[i])
            fail_msg("state %lld, %s: %g, expected %g", (long long)row, log->obs_name[i], x,
                     want[i]);
    }
}

// By hand: numbers first, then a number for each text in alphabetical order.
static void a_number_for_each_text(void **unused)
{
    (void)unused;
    rh_log *log = read_log(text, "temp,mode,level");
    static const char *const name[] = {"temp",      "level",       "mode=NA",
                                       "mode=auto", "mode=manual", "mode=off"};
    assert_int_equal(log->nobs, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(log->obs_name[i], name[i]);
    check_state(log, log->from[0], (double[]){1, 10, 0, 0, 1, 0});
    check_state(log, log->from[1], (double[]){2, 20, 0, 1, 0, 0});
    check_state(log, log->from[2], (double[]){3, 30, NAN, NAN, NAN, NAN});
    check_state(log, log->from[3], (double[]){4, 40, 0, 0, 0, 1});
    check_state(log, log->from[4], (double[]){5, 50, 1, 0, 0, 0});
    check_state(log, log->to[4], (double[]){6, 60, 0, 1, 0, 0});
    assert_int_equal(log->reading.nmissing, 4);
    bool noted = false;
    for (int i = 0; i < log->reading.nnote; i++)
        noted = noted || strcmp(log->reading.note[i], "mode is a category, one number for each "
                                                      "of NA, auto, manual, off") == 0;
    assert_true(noted);
    rh_log_destroy(log);

    // not asked for, it is left out as before
    log = read_log(text, NULL);
    assert_int_equal(log->nobs, 2);
    rh_log_destroy(log);
}

static void next_has_the_same_texts(void **unused)
{
    (void)unused;
    rh_log *log = read_log("mode,x,action,reward,next_mode,next_x\n"
                           "b,1,0,0,a,2\n"
                           "a,3,1,0,c,4\n",
                           "mode,x");
    assert_int_equal(log->nobs, 4);
    assert_string_equal(log->obs_name[3], "mode=c");
    check_state(log, log->from[0], (double[]){1, 0, 1, 0});
    check_state(log, log->to[0], (double[]){2, 1, 0, 0});
    check_state(log, log->to[1], (double[]){4, 0, 0, 1});
    rh_log_destroy(log);
}

static void the_reward_keeps_its_columns(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    rh_log *log = NULL;
    rh_error err = {""};
    opt.obs = "mode,x";
    opt.reward = "-abs(x - 2)";
    static const char from[] = "mode,x,action\nb,1,0\na,3,1\nb,5,1\n";
    assert_int_equal(rh_csv__read_bytes(&log, from, strlen(from), "x.csv", &opt, &err), RH_OK);
    assert_string_equal(log->reward_formula, "-abs(obs[0] - 2)");
    assert_string_equal(log->obs_name[0], "x");
    assert_true(log->reward[1] == -1.0);
    rh_log_destroy(log);
    opt.reward = "x - mode";
    assert_int_equal(rh_csv__read_bytes(&log, from, strlen(from), "x.csv", &opt, &err),
                     RH_EINVAL);
    assert_non_null(strstr(err.text, "column 'mode' holds names of a category"));
}

static void refusals(void **unused)
{
    (void)unused;
    char many[4096] = "x,name,action,reward\n";
    rh_log *log = NULL;
    rh_error err = {""};
    for (int i = 0; i < 65; i++)
        snprintf(many + strlen(many), 32, "%d,n%d,%d,0\n", i, i, i % 2);
    assert_int_equal(read_text(&log, many, "x,name", &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "x.csv:66: column 'name': found 'n64', expected at most "
                                     "64 different texts"));
    // a number that was written wrongly makes no category
    assert_int_equal(
        read_text(&log, "x,y,action,reward\n1,2,0,0\n2,Bad,1,0\n3,4,1,0\n", "x,y", &err),
        RH_EFORMAT);
    assert_non_null(strstr(err.text, "column 'y': found 'Bad', expected a number"));
    assert_null(log);
}

static void every_allocation_can_fail(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    for (int64_t n = 1;; n++) {
        rh_log *log = NULL;
        rh_base__alloc_fail_at(n);
        rh_status rc = read_text(&log, text, "temp,mode", NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        rh_log_destroy(log);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_for_each_text),
        cmocka_unit_test(next_has_the_same_texts),
        cmocka_unit_test(the_reward_keeps_its_columns),
        cmocka_unit_test(refusals),
        cmocka_unit_test(every_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
