// test_ends.c - time limits: whether the plant has one, and whether it is put back then.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/text.h"
#include "log/csv.h"
#include "log/log.h"

// `nepisode` episodes of nrow rows each; put back to 0 after each, or going on. last: a further
// row has the observation after the last step.
static rh_log *table(int nepisode, int nrow, bool put_back, bool last)
{
    rh_text text = {0};
    rh_log *log = NULL;
    rh_error err = {""};
    rh_log_options opt = rh_log_defaults();
    int at = 0;
    rh_text__add(&text, "shift,temp,action,reward\n");
    for (int e = 0; e < nepisode; e++) {
        at = put_back ? 0 : at;
        for (int i = 0; i < nrow + last; i++, at++) {
            rh_text__format(&text, "%d,%d.5,", e, at);
            rh_text__format(&text, i < nrow ? "%d,%d\n" : ",\n", at % 2, at % 3);
        }
    }
    opt.episode = "shift";
    if (rh_csv__read_bytes(&log, text.data, text.n, "plant.csv", &opt, &err))
        fail_msg("%s", err.text);
    rh_text__clear(&text);
    return log;
}

// The last row of an episode is a step, too, although s' is unknown.
static void counts_the_last_step(void **unused)
{
    (void)unused;
    for (int last = 0; last < 2; last++) {
        rh_log *log = table(4, 150, true, last);
        assert_int_equal(log->first[1], last ? 150 : 149);
        assert_int_equal(rh_log__lost_ends(log), !last);
        assert_int_equal(rh_log__time_limit(log), 150);
        rh_log_destroy(log);
    }
}

// One episode has a row that was written twice.
static void a_row_too_many_does_not_hide_the_limit(void **unused)
{
    (void)unused;
    static const int length[] = {30, 30, 31, 30, 12};
    rh_text text = {0};
    rh_log *log = NULL;
    rh_log_options opt = rh_log_defaults();
    rh_text__add(&text, "shift,temp,action,reward\n");
    for (int e = 0; e < 5; e++)
        for (int i = 0; i <= length[e]; i++)
            rh_text__format(&text, i < length[e] ? "%d,%d.5,%d,1\n" : "%d,%d.5,,\n", e, i * i,
                            i % 2);
    opt.episode = "shift";
    assert_int_equal(rh_csv__read_bytes(&log, text.data, text.n, "plant.csv", &opt, NULL),
                     RH_OK);
    assert_int_equal(rh_log__time_limit(log), 30);
    rh_log_destroy(log);
    rh_text__clear(&text);
}

// Where most episodes that do not end are shorter than the longest two, none of these is a
// limit.
static void two_long_episodes_are_no_limit(void **unused)
{
    (void)unused;
    static const int length[] = {5, 6, 7, 8, 30, 30, 31, 9};
    rh_text text = {0};
    rh_log *log = NULL;
    rh_log_options opt = rh_log_defaults();
    rh_text__add(&text, "shift,temp,action,reward\n");
    for (int e = 0; e < 8; e++)
        for (int i = 0; i <= length[e]; i++)
            rh_text__format(&text, i < length[e] ? "%d,%d.5,%d,1\n" : "%d,%d.5,,\n", e, i * i,
                            i % 2);
    opt.episode = "shift";
    assert_int_equal(rh_csv__read_bytes(&log, text.data, text.n, "plant.csv", &opt, NULL),
                     RH_OK);
    assert_int_equal(rh_log__time_limit(log), 0);
    rh_log_destroy(log);
    rh_text__clear(&text);
}

// inspect says what models do, for any number of episodes; what a reward takes off in a
// terminal step is for a trip, what it adds is not.
static void inspect_says_the_same(void **unused)
{
    (void)unused;
    for (int put_back = 0; put_back < 2; put_back++)
        for (int n = 6; n <= 30; n += 8) {
            rh_log *log = table(n, 20, put_back, false);
            rh_log_report *report = NULL;
            rh_error err = {""};
            bool anew = false, said = false;
            log->terminal_reward = put_back ? 10.0 : -10.0;
            assert_true(rh_log__begins_anew(log, &anew));
            assert_int_equal(anew, put_back);
            assert_int_equal(rh_log_inspect(&report, log, &err), RH_OK);
            assert_int_equal(report->continuing, !anew);
            assert_int_equal(report->time_limit, 20);
            for (int i = 0; i < report->findings.n; i++)
                if (report->findings.item[i].id == RH_FINDING_NO_TERMINAL) {
                    said = true;
                    assert_non_null(strstr(report->findings.item[i].evidence,
                                           anew ? "episodic, because a time limit of 20 steps"
                                                : "continuing"));
                    assert_non_null(strstr(report->findings.item[i].remedy,
                                           put_back ? "failures or goals" : "--limit"));
                }
            assert_true(said);
            rh_log_report_destroy(report);
            rh_log_destroy(log);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_last_step),
        cmocka_unit_test(a_row_too_many_does_not_hide_the_limit),
        cmocka_unit_test(two_long_episodes_are_no_limit),
        cmocka_unit_test(inspect_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
