// test_every.c - one step of several rows, and sensors that are said to be exogenous.

#include "base/base_internal.h"
#include "inspect_sample.h"
#include "log/csv.h"

#include <math.h>
#include <stdio.h>

static rh_log *read_as(const char *text, const rh_log_options *opt)
{
    rh_log *log = NULL;
    rh_error err;
    if (rh_csv__read_bytes(&log, text, strlen(text), "x.csv", opt, &err))
        fail_msg("%s", err.text);
    return log;
}

static rh_log *read_text(const char *text)
{
    rh_log_options opt = rh_log_defaults();
    return read_as(text, &opt);
}

static rh_log_options of(double time, int64_t nrow, rh_every_obs obs)
{
    rh_log_options opt = rh_log_defaults();
    opt.every = time;
    opt.every_rows = nrow;
    opt.every_obs = obs;
    return opt;
}

static rh_log *every_of(rh_log *log, double time, int64_t nrow, rh_every_obs obs)
{
    rh_log_options opt = of(time, nrow, obs);
    rh_error err;
    if (rh_log__every(&log, &opt, "x.csv", &err))
        fail_msg("%s", err.text);
    return log;
}

static rh_log *every(rh_log *log, double time, int64_t nrow)
{
    return every_of(log, time, nrow, RH_EVERY_LAST);
}

static double sensor(const rh_log *log, int32_t row)
{
    return log->obs[(int64_t)row * log->nobs];
}

static void check_step(const rh_log *log, int64_t t, double from, double act, double reward,
                       double to)
{
    assert_true(sensor(log, log->from[t]) == from);
    assert_true(log->act[t] == act);
    assert_true(log->reward[t] == reward);
    if (isnan(to))
        assert_int_equal(log->to[t], RH_UNKNOWN);
    else
        assert_true(sensor(log, log->to[t]) == to);
}

// By hand: three rows a step. The second episode terminates within one; the last step of the
// first, whose s' is unknown, is incomplete.
static void by_rows(void **unused)
{
    (void)unused;
    rh_log *log = every(read_text("episode,x,action,reward,terminal\n"
                                  "1,10,0.5,1,0\n1,11,0.5,2,0\n1,12,0.5,4,0\n"
                                  "1,13,0.9,8,0\n1,14,0.9,16,0\n1,15,0.3,32,0\n"
                                  "1,16,0.1,64,0\n1,17,0.1,64,0\n"
                                  "2,20,0.5,1,0\n2,21,0.5,2,0\n2,22,0.5,4,0\n2,23,0.7,8,1\n"),
                        NAN, 3);
    assert_int_equal(log->n, 4);
    assert_int_equal(log->nepisode, 2);
    check_step(log, 0, 10, 0.5, 7, 13);
    check_step(log, 1, 13, (0.9 + 0.9 + 0.3) / 3, 56, 16);
    check_step(log, 2, 20, 0.5, 7, 23);
    check_step(log, 3, 23, 0.7, 8, NAN);
    assert_int_equal(log->from[1], log->to[0]); // stored once
    assert_int_equal(log->flag[1], RH_FLAG_TRUNCATED);
    assert_int_equal(log->flag[3], RH_FLAG_TERMINAL);
    assert_int_equal(log->line[log->from[3]], 13);
    assert_non_null(strstr(log->reading.note[log->reading.nnote - 1], "1 steps have several"));
    assert_non_null(strstr(log->reading.note[log->reading.nnote - 1], "1 rows of incomplete"));
    rh_log_destroy(log);
}

// Times: the controller acts two rows after the log begins, so the first step is shorter; a gap
// of several intervals splits the episode.
static void by_times(void **unused)
{
    (void)unused;
    rh_text text = {0};
    rh_text__add(&text, "time,x,action,reward\n");
    for (int i = 0; i < 33; i++)
        if (i < 19 || i > 26)
            rh_text__format(&text, "%d,%d,%d,1\n", 1000 + 10 * i, i, (i + 3) / 5 % 2);
    rh_log *log = every(read_text(text.data), 50, 1);
    rh_text__clear(&text);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->n, 5);
    check_step(log, 0, 0, 0, 2, 2);
    check_step(log, 1, 2, 1, 5, 7);
    check_step(log, 2, 7, 0, 5, 12);
    check_step(log, 3, 12, 1, 5, 17);
    check_step(log, 4, 27, 0, 5, 32); // the last row has no s'
    assert_true(log->time[1] == 1020);
    assert_int_equal(log->start[1], 0);
    rh_log_destroy(log);
}

// Discrete actions: the most frequent one.
static void mixed_actions(void **unused)
{
    (void)unused;
    rh_log *log = every(read_text("x,action,reward\n1,off,0\n2,on,0\n3,on,0\n4,off,0\n5,off,0\n"
                                  "6,off,0\n7,off,0\n"),
                        NAN, 3);
    assert_int_equal(log->n, 2);
    assert_string_equal(log->label[(int)log->act[0]], "on");
    assert_string_equal(log->label[(int)log->act[1]], "off");
    rh_log_destroy(log);
}

static void refusals(void **unused)
{
    (void)unused;
    rh_log *log = read_text("x,action,reward\n1,0,0\n2,1,0\n3,0,0\n4,1,0\n");
    rh_log_options minute = of(60, 1, RH_EVERY_LAST), nine = of(NAN, 9, RH_EVERY_LAST);
    rh_error err;
    assert_int_equal(rh_log__every(&log, &minute, "x.csv", &err), RH_EINVAL);
    assert_string_equal(err.text, "x.csv: every = 60, but the log has no times; name their "
                                  "column with --time, or give rows: --every '10 rows'");
    assert_int_equal(rh_log__every(&log, &nine, "x.csv", &err), RH_EFORMAT);
    assert_int_equal(rh_log__set_exogenous(&log, "x, price", "x.csv", &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "exogenous: no sensor 'price'"));
    rh_log_destroy(log);
    rh_log_options mean = of(NAN, 1, RH_EVERY_MEAN);
    log = NULL;
    assert_int_equal(rh_log_read(&log, "x.csv", &mean, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "log: every_obs = mean, expected every, which says of how many rows");
}

static void options(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        double time;
        int64_t rows;
    } good[] = {{"5m", 300, 1}, {"1h", 3600, 1}, {"90", 90, 1}, {"300 rows", NAN, 300}};
    static const char *const bad[] = {"", "0", "-5m", "0 rows", "1.5 rows", "rows", "5 x"};
    double time;
    int64_t n;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(rh_log__parse_every(good[i].text, &time, &n));
        assert_true(n == good[i].rows);
        assert_true((isnan(good[i].time) ? isnan(time) : time == good[i].time));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(rh_log__parse_every(bad[i], &time, &n));
}

#define HAND                                                                                   \
    "episode,x,u,trip\n1,10,0.5,0\n1,11,0.5,0\n1,12,0.5,0\n1,14,0.9,0\n1,15,0.9,0\n1,16,0.3,"  \
    "0\n"                                                                                      \
    "1,16,0.1,0\n2,20,0.5,0\n2,21,0.5,0\n2,22,0.5,0\n2,24,0.7,1\n"

// By hand: the mean of the rows since the decision before; the row itself at a start and where
// the plant stops.
static void means(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    opt.obs = "x";
    opt.action = "u";
    opt.terminal = "trip";
    opt.reward = "2 - x - 3*u";
    rh_log *log = every_of(read_as(HAND, &opt), NAN, 3, RH_EVERY_MEAN);
    assert_int_equal(log->n, 4);
    check_step(log, 0, 10, 0.5, 3 * (2 - 11 - 1.5), 11);
    check_step(log, 1, 11, (0.9 + 0.9 + 0.3) / 3, log->reward[1], 15);
    assert_true(fabs(log->reward[1] - 3 * (2 - 15 - 3 * 0.7)) < 1e-12);
    check_step(log, 2, 20, 0.5, 3 * (2 - 21 - 1.5), 21);
    check_step(log, 3, 21, 0.7, 2 - 24 - 3 * 0.7, NAN);
    assert_string_equal(log->reward_formula, "3*(2 - next[0] - 3*act[0])");
    rh_log_destroy(log);
}

// What becomes of a formula: kept if n times the mean is the sum.
static void formulas(void **unused)
{
    (void)unused;
    static const struct {
        const char *reward;
        rh_every_obs obs;
        const char *want;
    } try[] = {
        {"-abs(x - 15)", RH_EVERY_MEAN, NULL},
        {"-x", RH_EVERY_LAST, NULL},
        {"-2*u", RH_EVERY_LAST, "3*(-2*act[0])"},
        {"-x*u", RH_EVERY_MEAN, NULL},
    };
    for (size_t i = 0; i < sizeof try / sizeof *try; i++) {
        rh_log_options opt = rh_log_defaults();
        opt.obs = "x";
        opt.action = "u";
        opt.reward = try[i].reward;
        rh_log *log = read_as(HAND, &opt);
        assert_non_null(log->reward_formula);
        log = every_of(log, NAN, 3, try[i].obs);
        if (try[i].want)
            assert_string_equal(log->reward_formula, try[i].want);
        else
            assert_null(log->reward_formula);
        rh_log_destroy(log);
    }
}

// Patterns; the past of an exogenous sensor is exogenous.
static void exogenous(void **unused)
{
    (void)unused;
    rh_error err;
    rh_log *log = read_text("T_out,T_in,sp_1,action,reward\n1,2,3,0,0\n2,1,3,1,0\n3,1,3,0,0\n");
    assert_false(rh_log__is_exogenous(log, 0));
    assert_int_equal(rh_log__set_exogenous(&log, " T_out ,sp_*", "x.csv", &err), RH_OK);
    assert_int_equal(rh_log__stack(&log, 2, "x.csv", &err), RH_OK);
    for (int k = 0; k < log->nobs; k++) {
        const char *name = log->obs_name[k];
        bool want = strncmp(name, "T_out", 5) == 0 || strncmp(name, "sp_1", 4) == 0;
        if (rh_log__is_exogenous(log, k) != want)
            fail_msg("%s", name);
    }
    rh_log_destroy(log);
}

// The n-th allocation fails.
static void no_memory(void **unused)
{
    (void)unused;
    rh_log_options two = of(2, 1, RH_EVERY_LAST);
    rh_error err;
    for (int n = 1;; n++) {
        rh_log *log =
            read_text("time,x,action,reward\n1,1,0,0\n2,2,0,0\n3,3,1,0\n4,4,1,0\n5,5,0,0\n");
        rh_base__alloc_fail_at(n);
        rh_status rc = rh_log__every(&log, &two, "x.csv", &err);
        rh_base__alloc_fail_at(0);
        rh_log_destroy(log);
        if (!rc)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_rows),  cmocka_unit_test(by_times), cmocka_unit_test(mixed_actions),
        cmocka_unit_test(refusals), cmocka_unit_test(options),  cmocka_unit_test(exogenous),
        cmocka_unit_test(means),    cmocka_unit_test(formulas), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
