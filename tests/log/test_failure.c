// test_failure.c - what counts as a failure: by the rewards of a log, or as it was said.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "log/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/rehearse-failure-XXXXXX";

// Episodes of 10 steps with the reward `step`; the last step of episode e has end[e % nend].
static rh_log *log_of(int nepisode, double step, const double *end, int nend, const char *said,
                      rh_error *err)
{
    rh_log_options opt = rh_log_defaults();
    rh_log *log = NULL;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("run,temp,level,action,reward,terminal\n", file);
    for (int e = 0; e < nepisode; e++)
        for (int t = 0; t < 10; t++)
            fprintf(file, "%d,%d,%d,%d,%.17g,%d\n", e, 80 + t + e % 3, t, t % 2,
                    t < 9 ? step - 0.001 * (t % 3) : end[e % nend], t == 9);
    fclose(file);
    opt.format = "csv";
    opt.episode = "run";
    opt.failure = said;
    if (rh_log_read(&log, path, &opt, err))
        return NULL;
    return log;
}

// What the rule of such a log is, and how many of its 30 episodes fail; -1: nothing is known.
static int judged(double step, const double *end, int nend, const char *said, double *below,
                  char words[200])
{
    rh_error err = {""};
    rh_log *log = log_of(30, step, end, nend, said, &err);
    rh_failure *rule = NULL;
    if (!log)
        fail_msg("%s", err.text);
    assert_int_equal(rh_failure__find(&rule, log, false, (rh_prior){0}, &err), RH_OK);
    rh_failure__count count = rh_failure__count_log(rule, log, false);
    assert_int_equal(count.nepisode, 30);
    assert_int_equal(count.nstep, log->n);
    *below = rule->below;
    snprintf(words, 200, "%s", rule->words);
    int n = rule->known ? (int)count.n : -1;

    // a copy of the rule, and of the log, judge alike
    rh_failure *again = NULL;
    assert_int_equal(rh_failure__make(&again, rule, log->nobs, &err), RH_OK);
    assert_int_equal(rh_failure__count_log(again, log, false).n, count.n);
    rh_failure__destroy(again);
    rh_failure__destroy(rule);
    rh_log_destroy(log);
    return n;
}

static void by_the_rewards(void **unused)
{
    (void)unused;
    static const double goal[] = {0.0}, same[] = {-1.0}, penalty[] = {-1.0, -1.0, -50.0},
                        fallen[] = {1.0}, bonus[] = {1.0, 10.0}, cheap[] = {-4.0, -1.0};
    double below;
    char words[200];

    // a goal is not a failure: Acrobot, a batch that is done
    assert_int_equal(judged(-1.0, goal, 1, NULL, &below, words), -1);
    assert_non_null(strstr(words, "no end of an episode in the log has a reward below"));
    assert_int_equal(judged(-1.0, same, 1, NULL, &below, words), -1);

    // a penalty is, and the words have the number
    assert_int_equal(judged(-1.0, penalty, 3, NULL, &below, words), 10);
    assert_true(below > -50.0);
    assert_true(below < -1.0);
    char expected[100];
    snprintf(expected, sizeof expected, "an episode that ends with a reward below %g", below);
    assert_string_equal(words, expected);
    assert_int_equal(judged(-1.0, cheap, 2, NULL, &below, words), 15);

    // where steps earn, an end loses what would follow, unless it has a bonus
    assert_int_equal(judged(1.0, fallen, 1, NULL, &below, words), 30);
    assert_true(below == INFINITY);
    assert_int_equal(judged(1.0, bonus, 2, NULL, &below, words), 15);
    assert_true(below > 1.0);
    assert_true(below < 10.0);
}

static void as_it_was_said(void **unused)
{
    (void)unused;
    static const double end[] = {0.0};
    double below;
    char words[200];
    assert_int_equal(judged(-1.0, end, 1, "none", &below, words), -1);
    assert_int_equal(judged(-1.0, end, 1, "terminal", &below, words), 30);

    // the last s' is unknown: temp reaches 89, 90 and 91; once in an episode
    assert_int_equal(judged(-1.0, end, 1, "temp > 89", &below, words), 20);
    assert_string_equal(words, "a step to temp > 89");
    assert_int_equal(judged(-1.0, end, 1, "temp > 90 and level >= 9", &below, words), 10);

    rh_error err = {""};
    assert_null(log_of(30, -1.0, end, 1, "tmp > 89", &err));
    assert_non_null(strstr(err.text, "failure: no sensor 'tmp'; did you mean 'temp'?"));
    assert_null(log_of(30, -1.0, end, 1, "temp >", &err));
}

// What a failure is belongs to the log: another rule is another study.
static void it_is_part_of_the_log(void **unused)
{
    (void)unused;
    static const double end[] = {0.0};
    rh_error err = {""};
    rh_log *a = log_of(30, -1.0, end, 1, NULL, &err),
           *b = log_of(30, -1.0, end, 1, "temp > 89", &err), *copy = NULL;
    assert_true(rh_log_fingerprint(a) != rh_log_fingerprint(b));
    assert_int_equal(rh_log_copy(&copy, b, &err), RH_OK);
    assert_string_equal(copy->failure, "next[0] > 89");
    assert_true(rh_log_fingerprint(copy) == rh_log_fingerprint(b));
    rh_log_destroy(a);
    rh_log_destroy(b);
    rh_log_destroy(copy);
}

// In a continuing task a failure is counted where failing steps begin.
static void in_a_continuing_task(void **unused)
{
    (void)unused;
    static const double end[] = {-1.0};
    rh_error err = {""};
    rh_failure *rule = NULL;
    rh_log *log = log_of(30, -1.0, end, 1, "temp > 85", &err);
    assert_int_equal(rh_failure__find(&rule, log, true, (rh_prior){0}, &err), RH_OK);
    assert_int_equal(rh_failure__count_log(rule, log, true).n, 30);
    assert_true(rh_failure_step(rule, (double[]){85.5, 0.0}, 0.0, false));
    assert_false(rh_failure_step(rule, (double[]){85.0, 0.0}, -99.0, true));
    assert_false(rh_failure_step(rule, (double[]){NAN, 0.0}, 0.0, true));
    rh_failure__destroy(rule);
    rh_log_destroy(log);
}

// What the formula of a reward adds to a terminal step is known even where none was logged.
static double added(const char *reward, int nterminal, rh_log **out)
{
    rh_log_options opt = rh_log_defaults();
    rh_log *log = NULL;
    rh_error err = {""};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("run,temp,pump,energy,trip\n", file);
    for (int t = 0; t < 60; t++)
        fprintf(file, "%d,%d,%d,%.2f,%d\n", t / 20, 20 + t % 7, t % 2, 0.1 * t,
                t % 20 == 19 && t / 20 < nterminal);
    fclose(file);
    opt.format = "csv";
    opt.episode = "run";
    opt.action = "pump";
    opt.terminal = "trip";
    opt.reward = reward;
    if (rh_log_read(&log, path, &opt, &err))
        fail_msg("%s", err.text);
    double found = log->terminal_reward;
    if (out)
        *out = log;
    else
        rh_log_destroy(log);
    return found;
}

static void what_a_trip_adds(void **unused)
{
    (void)unused;
    rh_log *log = NULL, *copy = NULL;
    rh_error err = {""};
    assert_true(fabs(added("-energy - 50*trip", 0, NULL) + 50.0) < 1e-9);
    assert_true(fabs(added("-energy - 50*trip", 3, NULL) + 50.0) < 1e-9);
    assert_true(fabs(added("10*(1 - trip) - energy", 1, NULL) + 10.0) < 1e-9);
    assert_true(added("-energy", 3, NULL) == 0.0);
    assert_true(added("-energy*(1 + trip)", 3, NULL) == 0.0); // differs
    assert_true(fabs(added("-energy - 50*trip", 0, &log) + 50.0) < 1e-9);
    rh_log parts = *log;
    assert_int_equal(rh_log_copy(&copy, &parts, &err), RH_OK);
    assert_true(copy->terminal_reward == log->terminal_reward);
    parts.terminal_reward = NAN;
    rh_log_destroy(copy);
    assert_int_equal(rh_log_copy(&copy, &parts, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "terminal_reward = nan"));
    rh_log_destroy(log);
}

static void without_memory(void **unused)
{
    (void)unused;
    static const double end[] = {-9.0, -1.0};
    static const char *const said[] = {NULL, "temp > 89"};
    for (int k = 0; k < 2; k++) {
        rh_error err = {""};
        rh_log *log = log_of(30, -1.0, end, 2, said[k], &err);
        int64_t live = rh_base__alloc_live();
        for (int n = 1;; n++) {
            rh_failure *rule = NULL;
            rh_base__alloc_fail_at(n);
            rh_status rc = rh_failure__find(&rule, log, false, (rh_prior){0}, &err);
            rh_base__alloc_fail_at(0);
            rh_failure__destroy(rule);
            assert_int_equal(rh_base__alloc_live(), live);
            if (!rc)
                break;
            assert_int_equal(rc, RH_ENOMEM);
            assert_true(n < 30);
        }
        rh_log_destroy(log);
    }
}

static int begin(void **unused)
{
    (void)unused;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int end(void **unused)
{
    (void)unused;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_the_rewards),        cmocka_unit_test(as_it_was_said),
        cmocka_unit_test(it_is_part_of_the_log), cmocka_unit_test(in_a_continuing_task),
        cmocka_unit_test(what_a_trip_adds),      cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
