// test_best.c - best.yaml read back: what `tune` wrote, and what people make of it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "study/best_sample.h"
#include "study/plan.h"

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static char path[64];

static int enter(void **unused)
{
    (void)unused;
    strcpy(path, "/tmp/rehearse-best-XXXXXX");
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int leave(void **unused)
{
    (void)unused;
    return unlink(path);
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// Text with `from` replaced by `to`.
static void changed(const char *from, const char *to)
{
    static char text[4096];
    const char *at = strstr(BEST_ALL, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - BEST_ALL), BEST_ALL, to,
             at + strlen(from));
    write_text(text);
}

static void all_of_it(void **unused)
{
    (void)unused;
    rh_best *b = NULL;
    write_text(BEST_ALL);
    assert_int_equal(rh_best_read(&b, path, NULL), RH_OK);
    assert_string_equal(b->agent->name, "esarsa");
    assert_true(b->hp[rh_param_find(b->agent->param, b->agent->nparam, "tau")] == 0.1);
    assert_true(b->hp[rh_param_find(b->agent->param, b->agent->nparam, "tilings")] == 8.0);
    assert_true(b->tasked);
    assert_true(b->task.continuing);
    assert_int_equal(b->task.nobs, 2);
    assert_string_equal(b->task.obs_name[1], "level");
    assert_string_equal(b->obs_unit[0], "degC");
    assert_string_equal(b->obs_unit[1], "");
    assert_true(b->task.obs_lo[1] == -1.0);
    assert_true(b->task.obs_hi[0] == 10.0);
    assert_true(b->seen_lo[0] == 1.0);
    assert_true(b->seen_hi[0] == 9.0);
    assert_true(isnan(b->seen_hi[1]));
    assert_int_equal(b->task.naction, 2);
    assert_int_equal(b->task.nact, 1);
    assert_string_equal(b->label[1], "on");
    assert_string_equal(b->act_name[0], "pump");
    assert_string_equal(b->reward_formula, "-abs(next[0] - 5)");
    assert_true(b->task.gamma == 0.9);
    assert_true(b->task.reward_lo == -5.0);
    assert_int_equal(b->task.nstep, 1000);
    const rh_promise *p = &b->promise;
    assert_true(p->score == -40.0);
    assert_true(p->lo95 == -44.0);
    assert_int_equal(p->per_steps, 80);
    assert_true(p->logged == -60.0);
    assert_int_equal(p->ncurve, 4);
    assert_int_equal(p->nstep, 80);
    assert_int_equal(p->nrun, 99);
    assert_true(p->mean[2] == -9.0);
    assert_true(p->spread[1] == 2.0);
    assert_true(p->alarm == 4.5);
    assert_string_equal(b->version, "0.1.0");
    rh_best_destroy(b);

    // the agent alone
    write_text(BEST_AGENT);
    assert_int_equal(rh_best_read(&b, path, NULL), RH_OK);
    assert_false(b->tasked);
    assert_true(isnan(b->promise.score));
    assert_int_equal(b->promise.ncurve, 0);
    assert_true(isnan(b->promise.defaults));
    assert_true(isnan(b->promise.fail_defaults.rate));
    rh_best_destroy(b);

    // what was promised of the agent's defaults
    write_text(
        BEST_AGENT
        "today: {defaults: {score: -70}}\n"
        "failures: {defaults: {rate: 0.5, interval: [0.4, 0.6], failures: 5, of: 10}}\n");
    assert_int_equal(rh_best_read(&b, path, NULL), RH_OK);
    assert_true(b->promise.defaults == -70.0);
    assert_true(b->promise.fail_defaults.rate == 0.5);
    assert_int_equal(b->promise.fail_defaults.of, 10);
    rh_best_destroy(b);

    // chosen sensors
    changed("steps: 1000", "steps: 1000\n  tiled: {sensors: [level], pairs: [[temp, level]]}");
    assert_int_equal(rh_best_read(&b, path, NULL), RH_OK);
    assert_int_equal(b->task.tiled.nsensor, 1);
    assert_int_equal(b->task.tiled.sensor[0], 1);
    assert_int_equal(b->task.tiled.npair, 1);
    assert_int_equal(b->task.tiled.pair[0][1], 1);
    rh_best_destroy(b);

    // continuous actions
    write_text("agent: {name: random}\n"
               "task: {sensors: [{name: x, range: [0, 1]}], continuing: false, gamma: 1, "
               "steps: 9, actions: [{name: u, range: [-2, 2]}, {name: v, range: [0, 1]}]}\n");
    assert_int_equal(rh_best_read(&b, path, NULL), RH_OK);
    assert_int_equal(b->task.naction, 0);
    assert_int_equal(b->task.nact, 2);
    assert_true(b->task.act_lo[0] == -2.0);
    assert_true(b->task.act_hi[1] == 1.0);
    assert_null(b->label);
    assert_true(b->task.reward_lo == -INFINITY);
    rh_best_destroy(b);
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *from, *to, *why;
    } fault[] = {
        {"  name: esarsa", "  name: esrasa", "no agent 'esrasa'; did you mean 'esarsa'?"},
        {"  alpha: 0.25\n", "", "agent esarsa has no alpha, expected all its hyperparameters"},
        {"alpha: 0.25", "alhpa: 0.25", ":3: esarsa: no parameter 'alhpa'"},
        {"alpha: 0.25", "alpha: [1, 2]", "alpha is a list, expected one value"},
        {"alpha: 0.25", "alpha: -1", ":3: esarsa: alpha = -1, expected a number"},
        {"range: [0, 10]", "range: [10, 0]", "expected [LO, HI] with LO < HI"},
        {"range: [-1, 1]", "range: [-1, .inf]", "expected [LO, HI] with LO < HI"},
        {"\"level\"", "\"temp\"", "a sensor's name is temp, expected another"},
        {"\"on\"]", "\"off\"]", "an action's name is off, expected another"},
        {"[\"off\", \"on\"]", "none", "task.actions is none, expected a list"},
        {"gamma: 0.9", "gamma: 2", "task.gamma is 2, expected a number, 0 to 1"},
        {"continuing: true", "continuing: maybe", "expected true or false"},
        {"steps: 1000", "steps: 0", "task.steps is 0"},
        {"steps: 1000", "steps: 1000\n  sent: 3", "task.sent is 3, expected how many sensors"},
        {"steps: 1000", "steps: 1000\n  stack: 65",
         "task.stack is 65, expected a whole number"},
        {"steps: 1000", "steps: 1000\n  stack: 2",
         "sent, derive and stack make 5 sensors, expected the 2 of task.sensors"},
        {"steps: 1000", "steps: 1000\n  sent: 1\n  derive: level = tmep",
         "task: derive: no sensor 'tmep'; did you mean 'temp'?"},
        {"steps: 1000", "steps: 1000\n  tiled: {sensors: [temp, lvel], pairs: []}",
         "task.tiled is a mapping, expected {sensors:"},
        {"steps: 1000", "steps: 1000\n  tiled: {sensors: [temp], pairs: [[temp]]}",
         "expected {sensors: [up to 12 of the task]"},
        {"spread: [2, 2, 1, 1]", "spread: [2, 2]", "as many numbers as promise.spread"},
        {"spread: [2, 2, 1, 1]", "spread: [2, -2, 1, 1]",
         "promise.spread is -2, expected standard deviations, 0 or more"},
        {"alarm: 4.5", "alarm: null", "promise.alarm is null, expected a number, 0 or more"},
        {"runs: 99", "runs: many", "promise.runs is many"},
        {"steps: 80\n", "steps: 3\n", "promise.steps is 3"},
    };
    for (size_t i = 0; i < LENGTH(fault); i++) {
        rh_best *b = NULL;
        rh_error err = {""};
        changed(fault[i].from, fault[i].to);
        assert_int_equal(rh_best_read(&b, path, &err), RH_EFORMAT);
        assert_null(b);
        if (!strstr(err.text, fault[i].why))
            fail_msg("'%s', expected '%s'", err.text, fault[i].why);
    }
    rh_best *b = NULL;
    assert_int_equal(rh_best_read(&b, "/nowhere/best.yaml", NULL), RH_EIO);
}

static void no_memory(void **unused)
{
    (void)unused;
    rh_best *b = NULL;
    rh_status rc = RH_ENOMEM;
    write_text(BEST_ALL);
    for (int64_t nth = 1; rc; nth++) {
        int64_t live = rh_base__alloc_live();
        rh_base__alloc_fail_at(nth);
        rc = rh_best_read(&b, path, NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        if (rc)
            assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_best_destroy(b);
}

// All of the setting is fixed, or what would be searched is still searched.
static void into_a_plan(void **unused)
{
    (void)unused;
    rh_plan *plan = NULL;
    write_text(BEST_ALL);
    assert_int_equal(rh_plan_create(&plan, NULL), RH_OK);
    assert_int_equal(rh_plan_setting(plan, path, false, NULL), RH_OK);
    assert_string_equal(rh_plan_text(plan, "agent.name"), "esarsa");
    assert_string_equal(rh_plan_text(plan, "parameters.alpha"), "0.25");
    assert_string_equal(rh_plan_text(plan, "parameters.tilings"), "8");
    assert_int_equal(rh_plan_set(plan, "parameters.alpha", "0.5", "--set", NULL), RH_OK);
    assert_string_equal(rh_plan_text(plan, "parameters.alpha"), "0.5");
    rh_plan_destroy(plan);

    assert_int_equal(rh_plan_create(&plan, NULL), RH_OK);
    assert_int_equal(rh_plan_setting(plan, path, true, NULL), RH_OK);
    assert_null(rh_plan_text(plan, "parameters.alpha"));
    assert_string_equal(rh_plan_text(plan, "parameters.tilings"), "8");
    rh_plan_destroy(plan);
}

int main(void)
{
#define WITH_A_FILE(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        WITH_A_FILE(all_of_it),
        WITH_A_FILE(refused),
        WITH_A_FILE(no_memory),
        WITH_A_FILE(into_a_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
