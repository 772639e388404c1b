// test_advice.c - what to log next, read from a file and followed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "log/log.h"
#include "log/log_internal.h"
#include "rehearse/rehearse.h"

static char path[64];

static const rh_task discrete = {
    .nobs = 2, .naction = 3, .nact = 1, .obs_name = {"x", "speed"}, .obs_hi = {1, 1}};
static const rh_task real = {.nobs = 2,
                             .nact = 2,
                             .obs_name = {"x", "speed"},
                             .obs_hi = {1, 1},
                             .act_lo = {-1, -1},
                             .act_hi = {1, 1}};

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int enter(void **unused)
{
    (void)unused;
    strcpy(path, "/tmp/rehearse-advice-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int leave(void **unused)
{
    (void)unused;
    return unlink(path);
}

static rh_advice *read_advice(const char *text, const rh_task *task)
{
    rh_advice *advice = NULL;
    rh_error err = {""};
    write_file(text);
    if (rh_advice__read(&advice, path, task, &err))
        fail_msg("%s", err.text);
    return advice;
}

static void refuses(const char *text, const rh_task *task, const char *why)
{
    rh_advice *advice = NULL;
    rh_error err = {""};
    write_file(text);
    assert_int_equal(rh_advice__read(&advice, path, task, &err), RH_EFORMAT);
    assert_null(advice);
    if (!strstr(err.text, why) || strncmp(err.text, path, strlen(path)) != 0)
        fail_msg("'%s' is not in: %s", why, err.text);
}

static void held_wrong(void **unused)
{
    (void)unused;
    rh_advice *advice = NULL;
    rh_error err = {""};
    assert_int_equal(rh_advice__read(&advice, "/no/such/file.json", &discrete, &err), RH_EIO);
    assert_non_null(strstr(err.text, "/no/such/file.json: cannot read"));

    refuses("trial,region\n", &discrete, "expected JSON of tune --json");
    refuses("{}", &discrete, "no list log_next");
    refuses("{\"log_next\": {}}", &discrete, "no list log_next");
    refuses("{\"log_next\": []}", &discrete, "0 rows, expected 1 to 1000");
    refuses("{\"log_next\": [7]}", &discrete, "row 1 of log_next: no object");
    refuses("{\"log_next\": [{\"action\": \"0\", \"sensors\": []}]}", &discrete,
            "steps, expected a whole number");
    refuses("{\"log_next\": [{\"action\": \"0\", \"steps\": 5}]}", &discrete,
            "sensors, expected a list");
    refuses("{\"log_next\": [{\"action\": \"3\", \"sensors\": [], \"steps\": 5}]}", &discrete,
            "action '3', expected \"0\" to \"2\"");
    refuses("{\"log_next\": [{\"action\": \"left\", \"sensors\": [], \"steps\": 5}]}",
            &discrete, "action 'left', expected");
    refuses("{\"log_next\": [{\"action\": 1, \"sensors\": [], \"steps\": 5}]}", &discrete,
            "action is no text, expected");
    refuses("{\"log_next\": [{\"action\": \"1\", \"sensors\": [{\"name\": \"y\"}], "
            "\"steps\": 5}]}",
            &discrete, "sensor 'y', expected one of the environment's, such as x");
    refuses("{\"log_next\": [{\"action\": \"1\", \"sensors\": [{\"lo\": 1}], \"steps\": 5}]}",
            &discrete, "a sensor without a name");
    refuses("{\"log_next\": [{\"action\": \"1\", \"sensors\": [{\"name\": \"x\", \"lo\": 2, "
            "\"hi\": 1}], \"steps\": 5}]}",
            &discrete, "bounds of sensor 'x'");
    refuses("{\"log_next\": [{\"action\": \"p 0 to 1\", \"sensors\": [], \"steps\": 5}]}",
            &real, "action_ranges, expected 2 of");
}

static const char *const two_rows =
    "{\"trust\": {\"log_next\": [\n"
    " {\"action\": \"2\", \"sensors\": [{\"name\": \"speed\", \"lo\": 0.5, \"hi\": null}], "
    "\"steps\": 300, \"why\": \"\"},\n"
    " {\"action\": \"1\", \"sensors\": [], \"steps\": 100, \"why\": \"\"}]}}";

static rh_advice__course course_of(const rh_advice *advice, int64_t *left)
{
    rh_advice__course course = {.left = left};
    rh_advice__begin(&course, advice);
    return course;
}

// Outside the first region only the second row is followed; inside, the first three times as
// often, in proportion to the steps. Bounds are four standard deviations: a correct
// implementation fails in 1 of 16,000 seeds.
static void drawn(void **unused)
{
    (void)unused;
    rh_advice *advice = read_advice(two_rows, &discrete);
    assert_int_equal(rh_advice__nrow(advice), 2);
    assert_int_equal(rh_advice__steps(advice), 400);
    int count[2][3] = {{0}};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 0, 0);
    for (int i = 0; i < 8000; i++) {
        int64_t left[2];
        rh_advice__course course = course_of(advice, left);
        double obs[2] = {0.0, i % 2 ? 0.5 : 0.49}, act = 0.0;
        assert_true(rh_advice__follow(&course, advice, obs, &rng, &act));
        count[i % 2][(int)act]++;
        assert_int_equal(left[0] + left[1], 399);
    }
    assert_int_equal(count[0][1], 4000);
    assert_int_equal(count[1][0], 0);
    assert_true(abs(count[1][2] - 3000) < 110);
    rh_advice__destroy(advice);
}

// A trial holds its action for five steps, then the policy acts for fifteen; a trial that
// leaves its region is over, and the policy acts for three times as many steps as it took.
static void held(void **unused)
{
    (void)unused;
    rh_advice *advice = read_advice("{\"log_next\": [{\"action\": \"2\", \"sensors\": "
                                    "[{\"name\": \"x\", \"lo\": 0}], \"steps\": 17}]}",
                                    &discrete);
    int64_t left[1];
    rh_advice__course course = course_of(advice, left);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 0, 0);
    // x is outside the region where it is '-'; 1: the action of the trial
    static const char x[] = "++++++++++++++++++++++-+++++++++++++"
                            "++++++++++++++++++++++++++++++++++++";
    static const char expected[] = "111110000000000000001100000011111000"
                                   "000000000000111110000000000000000000";
    for (int i = 0; x[i]; i++) {
        double obs[2] = {x[i] == '+' ? 1.0 : -1.0, 0.0}, act = 0.0;
        bool followed = rh_advice__follow(&course, advice, obs, &rng, &act);
        assert_true(act == (followed ? 2.0 : 0.0));
        assert_int_equal(followed, expected[i] == '1');
    }
    assert_int_equal(left[0], 0);
    rh_advice__destroy(advice);
}

// A row ends with its steps.
static void used_up(void **unused)
{
    (void)unused;
    rh_advice *advice = read_advice(two_rows, &discrete);
    int64_t left[2];
    rh_advice__course course = course_of(advice, left);
    double obs[2] = {0.0, 1.0}, act;
    int taken[3] = {0}, last = 0;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 0, 0);
    for (int i = 0; i < 4000; i++)
        if (rh_advice__follow(&course, advice, obs, &rng, &act)) {
            taken[(int)act]++;
            last = i;
        }
    assert_int_equal(taken[2], 300);
    assert_int_equal(taken[1], 100);
    assert_int_equal(left[0], 0);
    assert_int_equal(left[1], 0);
    assert_true(last == 79 * 20 + 4); // 80 trials of 5 steps, 15 apart
    rh_advice__destroy(advice);
}

// Ranges of continuous actions, cut to what the task allows.
static void ranges(void **unused)
{
    (void)unused;
    rh_advice *advice = read_advice(
        "{\"log_next\": [{\"action\": \"p 0.5 to 9, q -1 to 0\", \"action_ranges\": "
        "[{\"name\": "
        "\"p\", \"lo\": 0.5, \"hi\": 9}, {\"name\": \"q\", \"lo\": null, \"hi\": 0}], "
        "\"sensors\": [], \"steps\": 1000}]}",
        &real);
    int64_t left[1];
    rh_advice__course course = course_of(advice, left);
    double obs[2] = {0, 0}, act[2], lo[2] = {9, 9}, hi[2] = {-9, -9};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 0, 0);
    for (int i = 0; i < 4000; i++)
        if (rh_advice__follow(&course, advice, obs, &rng, act))
            for (int k = 0; k < 2; k++) {
                lo[k] = fmin(lo[k], act[k]);
                hi[k] = fmax(hi[k], act[k]);
            }
    assert_true(lo[0] >= 0.5);
    assert_true(lo[0] < 0.52);
    assert_true(hi[0] <= 1.0);
    assert_true(hi[0] > 0.98);
    assert_true(lo[1] >= -1.0);
    assert_true(lo[1] < -0.96);
    assert_true(hi[1] <= 0.0);
    assert_true(hi[1] > -0.04);
    rh_advice__destroy(advice);
}

// In a collected log about a quarter of the steps in the region follow it; all else is the
// policy's.
static void collected(void **unused)
{
    (void)unused;
    rh_env *env = NULL;
    rh_log *log = NULL;
    rh_collected how;
    rh_error err = {""};
    assert_int_equal(rh_env_create(&env, rh_env_find("mountain_car", NULL), NULL, &err), RH_OK);
    char text[256];
    snprintf(text, sizeof text,
             "{\"log_next\": [{\"action\": \"1\", \"sensors\": [{\"name\": \"%s\", \"lo\": "
             "-0.5, \"hi\": null}], \"steps\": 5000}]}",
             rh_env_task(env)->obs_name[0]);
    rh_advice *advice = read_advice(text, rh_env_task(env));
    rh_collect_options opt = rh_collect_defaults();
    opt.nstep = 4000;
    opt.advice = advice;
    const rh_agent_type *agent = rh_agent_find("random", NULL);
    assert_int_equal(rh_log_collect(&log, NULL, &how, env, env, agent, NULL, &opt, &err),
                     RH_OK);
    int64_t inside = 0, taken[2] = {0}, outside;
    for (int64_t i = 0; i < log->n; i++) {
        int in = log->obs[(int64_t)log->from[i] * log->nobs] >= -0.5;
        inside += in;
        taken[in] += log->act[i] == 1.0;
    }
    outside = log->n - inside;
    assert_true(inside > 500);
    assert_true(outside > 500);
    assert_true(how.nadvised > inside / 8);
    assert_true(how.nadvised < inside / 2);

    // a third of the random policy's steps take the action, within four standard deviations
    double own = (double)(inside - how.nadvised), others = (double)(taken[1] - how.nadvised);
    assert_true(fabs(others / own - 1.0 / 3.0) < 4.0 * 0.48 / sqrt(own));
    assert_true(fabs((double)taken[0] / (double)outside - 1.0 / 3.0) <
                4.0 * 0.48 / sqrt((double)outside));
    rh_log_destroy(log);
    rh_advice__destroy(advice);
    rh_env_destroy(env);
}

static void no_memory(void **unused)
{
    (void)unused;
    write_file(two_rows);
    rh_status rc = RH_ENOMEM;
    int nth = 0;
    while (rc == RH_ENOMEM) {
        rh_advice *advice = NULL;
        rh_base__alloc_fail_at(++nth);
        rc = rh_advice__read(&advice, path, &discrete, NULL);
        rh_base__alloc_fail_at(0);
        rh_advice__destroy(advice);
    }
    assert_int_equal(rc, RH_OK);
    assert_int_equal(nth, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_wrong), cmocka_unit_test(drawn),  cmocka_unit_test(held),
        cmocka_unit_test(used_up),    cmocka_unit_test(ranges), cmocka_unit_test(collected),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
