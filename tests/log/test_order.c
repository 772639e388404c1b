// test_order.c - options about the order of rows, the same for every format.

#include "log/order.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ROWS 6

// Six rows whose observation is their number and whose reward is ten times that.
typedef struct rows {
    double time[ROWS];
    bool begins[ROWS], terminal[ROWS], idle[ROWS];
} rows;

static rh_log *log_of(const rows *r, const rh_log_options *opt, bool timed, bool named)
{
    rh_error err;
    rh_log *log = NULL;
    rh_log_builder *b = NULL;
    rh_log_shape shape = {.nobs = 1, .nact = 1, .times = timed};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    rh_order order = {.builder = b, .opt = opt, .timed = timed, .named = named};
    assert_int_equal(rh_order__begin(&order, NULL), RH_OK);
    static const double obs[ROWS] = {0, 1, 2, 3, 4, 5}, act[ROWS] = {0, 1, 0, 1, 0, 1};
    for (int i = 0; i < ROWS; i++) {
        rh_log_row row = {.obs = &obs[i],
                          .act = r->idle[i] ? NULL : &act[i],
                          .reward = 10.0 * i,
                          .begins = r->begins[i],
                          .terminal = r->terminal[i],
                          .time = r->time[i]};
        assert_int_equal(rh_order__push(&order, &row, &err), RH_OK);
    }
    assert_int_equal(rh_order__end(&order, &err), RH_OK);
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

// "0>1:0 1>2:10 / 3>4:30": s, s' and reward; / between episodes, ~ before one that resumes.
static void makes(const rows *r, const rh_log_options *opt, bool timed, bool named,
                  const char *expected, int ngap)
{
    rh_log *log = log_of(r, opt, timed, named);
    char text[256] = "";
    size_t used = 0;
    for (int64_t i = 0; i < log->n; i++) {
        int e = log->episode[i];
        if (log->step[i] == 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", e ? "/ " : "",
                                     log->start[e] ? "" : "~");
        used += (size_t)snprintf(text + used, sizeof text - used, "%g>%g:%g%s ",
                                 log->obs[log->from[i]],
                                 log->to[i] < 0 ? -1.0 : log->obs[log->to[i]], log->reward[i],
                                 log->flag[i] & RH_FLAG_TERMINAL ? "!" : "");
    }
    assert_string_equal(text, expected);
    assert_int_equal(log->reading.ngap, ngap);
    rh_log_destroy(log);
}

static void as_they_come(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    makes(&(rows){.terminal = {[2] = true}}, &opt, false, false,
          "0>1:0 1>2:10 2>-1:20! / 3>4:30 4>5:40 ", 0);
}

static void rewards_of_states(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    opt.reward_of = RH_REWARD_OF_STATE;
    makes(&(rows){.begins = {[3] = true}}, &opt, false, false, "0>1:10 1>2:20 / 3>4:40 4>5:50 ",
          0);
    makes(&(rows){.terminal = {[2] = true}}, &opt, false, false,
          "0>1:10 1>2:20! / 3>4:40 4>5:50 ", 0);
}

static void long_episodes(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    opt.episode_steps = 3;
    makes(&(rows){0}, &opt, false, false, "0>1:0 1>2:10 / 3>4:30 4>5:40 ", 0);
    // truncated at a row without an action, nothing is lost
    makes(&(rows){.idle = {[3] = true}}, &opt, false, false, "0>1:0 1>2:10 2>3:20 / 4>5:40 ",
          0);
}

static void time_that_jumps(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    opt.max_gap = 5.0;
    makes(&(rows){.time = {0, 1, 2, 20, 21, 22}}, &opt, true, false,
          "0>1:0 1>2:10 / ~3>4:30 4>5:40 ", 1);
    opt.max_gap = INFINITY;
    makes(&(rows){.time = {0, 1, 2, 20, 21, 22}}, &opt, true, false,
          "0>1:0 1>2:10 2>3:20 3>4:30 4>5:40 ", 0);
    makes(&(rows){.time = {0, 1, 2, 1, 2, 3}}, &opt, true, false,
          "0>1:0 1>2:10 / ~3>4:30 4>5:40 ", 1);
    makes(&(rows){.time = {0, 1, NAN, 3, 4, 5}}, &opt, true, false,
          "0>1:0 1>2:10 2>3:20 3>4:30 4>5:40 ", 0);
}

// Time back at the episode's first: a new episode, unless rows name their episode.
static void time_that_begins_again(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    const rows again = {.time = {0, 1, 2, 0, 1, 2}};
    makes(&again, &opt, true, false, "0>1:0 1>2:10 / 3>4:30 4>5:40 ", 0);
    makes(&again, &opt, true, true, "0>1:0 1>2:10 / ~3>4:30 4>5:40 ", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_they_come),           cmocka_unit_test(rewards_of_states),
        cmocka_unit_test(long_episodes),          cmocka_unit_test(time_that_jumps),
        cmocka_unit_test(time_that_begins_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
