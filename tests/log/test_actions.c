// test_actions.c - whether actions are taken as discrete or continuous.

#include "base/base_internal.h"
#include "log/log_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

// A log with the actions act (n x shape->nact).
static rh_status build(rh_log **out, const rh_log_shape *shape, const double *act, int n,
                       const char *const *found, int nfound, rh_error *err)
{
    rh_log_builder *b = NULL;
    rh_log_shape whole = *shape;
    whole.nobs = 1;
    whole.path = "a.log";
    rh_status rc = rh_log_builder_create(&b, &whole, err);
    for (int i = 0; !rc && i <= n; i++) {
        double obs = i;
        rh_log_row row = {.obs = &obs, .act = i < n ? act + i * shape->nact : NULL};
        rc = rh_log_push(b, &row, err);
    }
    if (!rc && found)
        rc = rh_log__set_labels(b, found, nfound, err);
    if (!rc)
        rc = rh_log_finish(b, out, err);
    rh_log_builder_destroy(b);
    return rc;
}

// "a,b,c|0 1 2": the labels and the index of each action; or the numbers if continuous.
static const char *written(const rh_log *log)
{
    static char text[2048];
    size_t used = 0;
    for (int i = 0; i < log->naction; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "",
                                 log->label[i]);
    used += (size_t)snprintf(text + used, sizeof text - used, "|");
    for (int64_t i = 0; i < log->n * log->nact && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%g", i ? " " : "",
                                 log->act[i]);
    return text;
}

static void becomes(const rh_log_shape *shape, const double *act, int n, const char *expected,
                    const char *note)
{
    rh_error err;
    rh_log *log = NULL;
    assert_int_equal(build(&log, shape, act, n, NULL, 0, &err), RH_OK);
    assert_string_equal(written(log), expected);
    assert_int_equal(log->reading.nnote, note ? 1 : 0);
    if (note)
        assert_string_equal(log->reading.note[0], note);
    rh_log_destroy(log);
}

static void whole_numbers_are_names(void **unused)
{
    (void)unused;
    const rh_log_shape one = {.nact = 1};
    becomes(&one, (double[]){2, 0, 1, 0, 2}, 5, "0,1,2|2 0 1 0 2",
            "actions are discrete: 3 different whole numbers (0, 1, 2)");
    becomes(&one, (double[]){-1, 1, -0.0, 0.0}, 4, "-1,0,1|0 2 1 1",
            "actions are discrete: 3 different whole numbers (-1, 0, 1)");
    becomes(&one, (double[]){7, 7}, 2, "7|0 0",
            "actions are discrete: 1 different whole number (7)");
    becomes(&one, (double[]){0, 1, 0.5}, 3, "|0 1 0.5", NULL);
    becomes(&one, (double[]){0, 1, INFINITY}, 3, "|0 1 inf", NULL);
    becomes(&(rh_log_shape){.nact = 1, .action = RH_ACTION_CONTINUOUS}, (double[]){0, 1}, 2,
            "|0 1", NULL);
}

// How many different values may be names depends on the length of the log.
static void few_or_many(void **unused)
{
    (void)unused;
    double act[600];
    const rh_log_shape one = {.nact = 1}, integers = {.nact = 1, .whole = true};
    for (int i = 0; i < 600; i++)
        act[i] = i % 20;
    rh_error err;
    rh_log *log = NULL;
    assert_int_equal(build(&log, &one, act, 40, NULL, 0, &err), RH_OK);
    assert_int_equal(log->naction, 20);
    assert_string_equal(
        log->reading.note[0],
        "actions are discrete: 20 different whole numbers (0, 1, 2, 3, 4, 5, ... 19)");
    rh_log_destroy(log);
    assert_int_equal(build(&log, &one, act, 39, NULL, 0, &err), RH_OK);
    assert_int_equal(log->naction, 0);
    assert_string_equal(log->reading.note[0],
                        "actions are continuous: whole numbers, but 20 different ones");
    rh_log_destroy(log);

    // a source that declares integers may have more
    for (int i = 0; i < 600; i++)
        act[i] = i % 256;
    assert_int_equal(build(&log, &integers, act, 600, NULL, 0, &err), RH_OK);
    assert_int_equal(log->naction, 256);
    rh_log_destroy(log);
    for (int i = 0; i < 600; i++)
        act[i] = i % 257;
    assert_int_equal(build(&log, &integers, act, 600, NULL, 0, &err), RH_OK);
    assert_int_equal(log->naction, 0);
    assert_string_equal(
        log->reading.note[0],
        "actions are continuous: whole numbers, but more than 256 different ones");
    rh_log_destroy(log);

    log = NULL;
    const rh_log_shape asked = {.nact = 1, .action = RH_ACTION_DISCRETE};
    assert_int_equal(build(&log, &asked, act, 600, NULL, 0, &err), RH_EFORMAT);
    assert_string_equal(err.text, "a.log: more than 256 different actions, expected at most "
                                  "that many if they are discrete; --action-kind "
                                  "continuous reads them as quantities");
    assert_null(log);
}

static void asked_for(void **unused)
{
    (void)unused;
    const rh_log_shape one = {.nact = 1, .action = RH_ACTION_DISCRETE};
    becomes(&one, (double[]){0.5, 0.1, 0.5}, 3, "0.1,0.5|1 0 1", NULL);
    const rh_log_shape two = {.nact = 2, .action = RH_ACTION_DISCRETE};
    becomes(&two, (double[]){1, 0, 0, 2.5, 1, 0, 0, 1}, 4, "0/1,0/2.5,1/0|2 1 2 0", NULL);
    becomes(&(rh_log_shape){.nact = 2}, (double[]){1, 0, 0, 1}, 2, "|1 0 0 1", NULL);
}

static void names_given(void **unused)
{
    (void)unused;
    rh_error err;
    rh_log *log = NULL;
    const rh_log_shape one = {.nact = 1};
    const double act[] = {0, 1, 2, 0};

    // found while reading: sorted, by value if all are numbers, without those never pushed
    const char *const found[] = {"off", "high", "low", "never"};
    assert_int_equal(build(&log, &one, act, 4, found, 4, &err), RH_OK);
    assert_string_equal(written(log), "high,low,off|2 0 1 2");
    rh_log_destroy(log);
    const char *const numbers[] = {"10", "9", "-1.5"};
    assert_int_equal(build(&log, &one, act, 4, numbers, 3, &err), RH_OK);
    assert_string_equal(written(log), "-1.5,9,10|2 1 0 2");
    rh_log_destroy(log);

    // declared: unchanged
    const char *const declared[] = {"off", "low", "high", "full"};
    const rh_log_shape all = {.nact = 1, .label = declared, .nlabel = 4, .declared = true};
    assert_int_equal(build(&log, &all, act, 4, NULL, 0, &err), RH_OK);
    assert_string_equal(written(log), "off,low,high,full|0 1 2 0");
    rh_log_destroy(log);
}

static void finds_a_label_by_number(void **unused)
{
    (void)unused;
    const char *const label[] = {"off", "1", "2.50", "", "1e1"};
    assert_int_equal(rh_log__label_index(label, 5, 1.0), 1);
    assert_int_equal(rh_log__label_index(label, 5, 2.5), 2);
    assert_int_equal(rh_log__label_index(label, 5, 10.0), 4);
    assert_int_equal(rh_log__label_index(label, 5, 0.0), -1);
    assert_int_equal(rh_log__label_index(label, 5, NAN), -1);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    const char *const found[] = {"off", "high", "low"};
    const double act[] = {0, 1, 2, 0};
    for (int k = 0; k < 2; k++) {
        rh_status rc = RH_ENOMEM;
        for (int64_t nth = 1; rc == RH_ENOMEM; nth++) {
            rh_error err;
            rh_log *log = NULL;
            rh_base__alloc_fail_at(nth);
            rc = build(&log, &(rh_log_shape){.nact = 1}, act, 4, k ? found : NULL, 3, &err);
            rh_base__alloc_fail_at(0);
            rh_log_destroy(log);
            assert_int_equal(rh_base__alloc_live(), live);
            assert_true(nth < 100);
        }
        assert_int_equal(rc, RH_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_names),
        cmocka_unit_test(few_or_many),
        cmocka_unit_test(asked_for),
        cmocka_unit_test(names_given),
        cmocka_unit_test(finds_a_label_by_number),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
