// test_cutoff.c - when episodes in a model are usually cut off.

#include "base/base_internal.h"
#include "log/log.h"
#include "model/model.h"
#include "model/model_internal.h"
#include "model_sample.h"

static void by_hand(void **unused)
{
    (void)unused;
    // episodes of 2, 3 and 7 steps
    walk w[12];
    for (int i = 0; i < 12; i++)
        w[i] = (walk){.s = i, .next = i + 1, .begins = i == 0 || i == 2 || i == 5};
    w[1].flag = w[4].flag = w[11].flag = ENDS;
    rh_log *log = log_of(w, 12, 2);
    assert_int_equal(rh_model_cutoff(log, 30 * 7), 7);
    assert_int_equal(rh_model_cutoff(log, 30 * 6), 6);
    assert_int_equal(rh_model_cutoff(log, 30 * 5), 6); // twice the median
    assert_int_equal(rh_model_cutoff(log, 1), 6);
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_model_cutoff(log, 300), 0);
    rh_base__alloc_fail_at(0);
    rh_log_destroy(log);
}

// Episodes of length[n], of which those with flag[n] end. Owned: the log.
static rh_log *log_of_lengths(const int *length, const uint8_t *flag, int n)
{
    walk w[64];
    int at = 0;
    for (int e = 0; e < n; e++)
        for (int i = 0; i < length[e]; i++, at++)
            w[at] = (walk){.s = at,
                           .next = at + 1,
                           .begins = i == 0,
                           .flag = i + 1 < length[e] ? 0
                                   : flag[e]         ? ENDS
                                                     : CUT};
    return log_of(w, at, 2);
}

// 8 steps is the plant's own limit where two or more episodes were stopped then.
static void time_limits(void **unused)
{
    (void)unused;
    static const struct {
        int length[4];
        uint8_t flag[4];
        int64_t limit;
    } cases[] = {
        {{8, 8, 5, 8}, {0, 0, 1, 0}, 8}, {{8, 3, 8, 8}, {1, 1, 0, 0}, 8},
        {{8, 3, 8, 5}, {1, 1, 0, 0}, 0}, // the other one of 8 arrived
        {{8, 8, 5, 9}, {0, 0, 1, 1}, 0}, // an episode went on
        {{8, 7, 6, 5}, {0, 0, 0, 0}, 0}, {{2, 2, 8, 8}, {0, 0, 0, 0}, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rh_log *log = log_of_lengths(cases[i].length, cases[i].flag, 4);
        assert_int_equal(rh_log__time_limit(log), cases[i].limit);
        if (cases[i].limit)
            assert_int_equal(rh_model_cutoff(log, 3000), cases[i].limit);
        else
            assert_int_equal(rh_model_cutoff(log, 3000), 100);
        rh_log_destroy(log);
    }
}

// The task of 7 episodes of 8 steps that are cut off: put back to 0 each time, or going on.
static rh_task task_of(bool restarts, int nepisode, bool ends)
{
    walk w[64];
    rh_task task;
    rh_error err = {""};
    rh_model__usable usable;
    rh_model_options opt = rh_model_defaults();
    int n = 8 * nepisode;
    for (int i = 0; i < n; i++) {
        double at = restarts ? i % 8 : i;
        w[i] = (walk){.s = at, .next = at + 1, .begins = i % 8 == 0};
        w[i].flag = i % 8 < 7 ? 0 : ends && i == 15 ? ENDS : CUT;
    }
    rh_log *log = log_of(w, n, 2);
    assert_int_equal(rh_model__survey(&usable, log, NULL, 0, &err), RH_OK);
    rh_base__alloc_fail_at(1);
    if (!ends)
        assert_int_equal(rh_model__make_task(&task, &usable, &opt, &err), RH_ENOMEM);
    rh_base__alloc_fail_at(0);
    assert_int_equal(rh_model__make_task(&task, &usable, &opt, &err), RH_OK);
    rh_log_destroy(log);
    return task;
}

static void tasks_with_time_limits(void **unused)
{
    (void)unused;
    rh_task task = task_of(true, 7, false);
    assert_false(task.continuing);
    assert_true(task.gamma == 0.99);
    task = task_of(false, 7, false); // a log that was cut at midnight
    assert_true(task.continuing);
    assert_true(task.gamma == 0.99);
    task = task_of(true, 5, false); // too few changes to tell
    assert_true(task.continuing);
    task = task_of(true, 7, true);
    assert_false(task.continuing);
    assert_true(task.gamma == 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(time_limits),
        cmocka_unit_test(tasks_with_time_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
