// test_monitor_failures.c - failures beyond what was promised: bets computed by hand, honest
// deployments that raise no alarm, dishonest ones that do; and the guard that acts too often.
//
// The sample promises that 30 % of episodes fail, at most 40 %; at first 50 %, at most 60 %.

#include "base/base.h"
#include "deploy/deploy_sample.h"

#include <sys/wait.h>

#define RULE(per)                                                                              \
    "failures:\n"                                                                              \
    "  rule: {words: \"an episode that ends with a reward below -6\", known: true, "           \
    "ends: true, below: -6}\n"                                                                 \
    "  per: " per "\n"                                                                         \
    "  first: {rate: 0.5, interval: [0.4, 0.6], failures: 5, of: 10}\n"                        \
    "  all: {rate: 0.3, interval: [0.2, 0.4], failures: 30, of: 100}\n"                        \
    "  last: {rate: 0.2, interval: [0.1, 0.3], failures: 2, of: 10}\n"                         \
    "  logged: {rate: 0.25, interval: [0.1, 0.4], failures: 8, of: 30}\n"

static rh_best *best;
static rh_monitor m;
static rh_deploy_health h;
#define FAILURES 4 // position of RH_ALARM_FAILURES

static void promise(bool continuing, const char *failures)
{
    char text[4000];
    const char *task = BEST_TASK, *at = strstr(task, "continuing: true");
    snprintf(text, sizeof text, "%s%.*scontinuing: %s%s%s", BEST_AGENT, (int)(at - task), task,
             continuing ? "true" : "false", at + strlen("continuing: true"), failures);
    write_text(best_path, text);
    rh_best_destroy(best);
    best = NULL;
    rh_error err = {""};
    if (rh_best_read(&best, best_path, &err) != RH_OK)
        fail_msg("%s", err.text);
}

static void begin_again(void)
{
    m = (rh_monitor){.trained = 1.0};
    h = (rh_deploy_health){.alarm_step = -1};
    rh_monitor__promise_failures(&h, best);
}

static int end(void **state)
{
    rh_best_destroy(best);
    best = NULL;
    return leave(state);
}

static void step(double reward, bool terminal, bool foreign)
{
    double obs[2] = {5.0, 0.5};
    h.nstep++;
    rh_monitor__failure(&m, &h, best,
                        &(rh_monitor__step){.obs = obs,
                                            .reward = reward,
                                            .terminal = terminal,
                                            .ended = terminal,
                                            .foreign = foreign});
}

static void episode(bool fails)
{
    step(-1.0, false, false);
    step(fails ? -10.0 : 0.0, true, false);
}

static void near(double x, double expected)
{
    if (!(fabs(x - expected) <= 1e-12 * (1.0 + fabs(expected))))
        fail_msg("%.17g, expected %.17g", x, expected);
}

static void by_hand(void **unused)
{
    (void)unused;
    static const double theta[] = {1.5, 2.0, 4.0, 8.0, 32.0, 128.0};
    double bet[6] = {0}, stake[] = {1.0 / 2, 1.0 / 12, 1.0 / 12, 1.0 / 48, 1.0 / 48};
    static const bool fails[] = {true, false, true, true, false};
    promise(false, RULE("episode"));
    begin_again();
    assert_false(h.per_1000);
    near(h.failures_promised, 0.3);
    near(h.failures_logged, 0.25);
    assert_true(isnan(h.failures));
    for (int t = 0; t < 5; t++) {
        double worth = 0.0;
        episode(fails[t]);
        for (int i = 0; i < 6; i++) {
            bet[i] = (bet[i] + stake[t]) * (fails[t] ? theta[i] : 1.0) /
                     (1.0 + (theta[i] - 1.0) * 0.4);
            worth += bet[i] / 6.0;
        }
        near(h.evidence[FAILURES], worth);
    }
    assert_int_equal(h.nfailure, 3);
    assert_int_equal(h.of, 5);
    assert_int_equal(h.nother, 2);
    near(h.failures, 0.6);

    // an episode in which somebody else acted counts, but is not the agent's
    step(-1.0, false, true);
    step(-10.0, true, false);
    assert_int_equal(h.nfailure, 4);
    assert_true(m.failures.ntrial == 5.0);
    // whether it failed is not known
    step(NAN, true, false);
    assert_int_equal(h.of, 6);
    // the first tenth of a run is allowed more
    begin_again();
    m.trained = 0.0;
    episode(true);
    double worth = 0.0;
    for (int i = 0; i < 6; i++)
        worth += 0.5 * theta[i] / (1.0 + (theta[i] - 1.0) * 0.6) / 6.0;
    near(h.evidence[FAILURES], worth);
}

// How many of n deployments raise the alarm within ntrial episodes (or steps), of which each
// fails with probability p, and with q from trial `from` on; *median: the trial of the alarm.
static int alarms(int n, int ntrial, double p, int from, double q, int *median)
{
    static int when[1000];
    int count = 0;
    for (int run = 0; run < n; run++) {
        rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, (uint64_t)ntrial, (uint64_t)run);
        begin_again();
        int t = 0;
        bool before = false;
        for (; t < ntrial && !(h.alarms & RH_ALARM_FAILURES); t++) {
            bool fails = rh_rng_uniform(&rng) < (t < from ? p : q);
            if (!best->task.continuing)
                episode(fails);
            else
                step(fails && !before ? -10.0 : -1.0, false, false);
            before = fails && !before;
        }
        if (h.alarms & RH_ALARM_FAILURES)
            when[count++] = t;
    }
    for (int i = 1; i < count; i++) // sorted
        for (int k = i; k > 0 && when[k] < when[k - 1]; k--) {
            int other = when[k];
            when[k] = when[k - 1];
            when[k - 1] = other;
        }
    if (median)
        *median = count ? when[count / 2] : -1;
    return count;
}

// Honest: exactly the upper end of what was promised, the worst case. An alarm at any time in
// 2,000 episodes or 20,000 steps counts.
static void honest_ones(void **unused)
{
    (void)unused;
    promise(false, RULE("episode"));
    int n = alarms(1000, 2000, 0.4, 2000, 0.4, NULL);
    print_message("at the upper end: %d of 1,000 alarms\n", n);
    assert_in_range(n, 1, 50); // 0 would mean that the test has no power
    n = alarms(1000, 2000, 0.3, 2000, 0.3, NULL);
    print_message("at the promised rate: %d of 1,000 alarms\n", n);
    assert_in_range(n, 0, 10);
    // failures in 1,000 steps: at most 4
    promise(true, "failures:\n  rule: {words: \"w\", known: true, ends: false, below: -6}\n"
                  "  per: 1000\n  all: {rate: 3, interval: [2, 4], failures: 3, of: 1000}\n");
    n = alarms(1000, 20000, 0.004, 20000, 0.004, NULL);
    print_message("by steps, at the upper end: %d of 1,000 alarms\n", n);
    assert_in_range(n, 1, 50);
}

static void dishonest_ones(void **unused)
{
    (void)unused;
    int median = 0;
    promise(false, RULE("episode"));
    // 58 of 60 batches trip
    begin_again();
    int found = 0;
    for (int t = 1; t <= 60 && !found; t++) {
        episode(t != 3 && t != 40);
        found = h.alarms & RH_ALARM_FAILURES ? t : 0;
    }
    print_message("58 of 60: alarm after %d episodes\n", found);
    assert_in_range(found, 1, 10);
    assert_int_equal(h.alarm_step, 2 * found);
    // twice the promised upper end: within a tenth of 1,000 episodes in at least 90 %
    int n = alarms(1000, 100, 0.8, 100, 0.8, &median);
    print_message("twice too often: %d of 1,000 in 100 episodes, median %d\n", n, median);
    assert_in_range(n, 900, 1000);
    // a plant that changes half-way is found within 100 of 1,000 episodes
    n = alarms(1000, 600, 0.2, 500, 0.8, &median);
    print_message("changed after 500: %d of 1,000 by 600, median %d\n", n, median);
    assert_in_range(n, 900, 1000);
    // it ends when the plant has recovered
    begin_again();
    for (int t = 0; t < 30; t++)
        episode(true);
    assert_true(h.alarms & RH_ALARM_FAILURES);
    for (int t = 0; t < 60; t++)
        episode(false);
    assert_int_equal(h.alarms, 0);
}

// What best.yaml does not say is not counted, or not compared.
static void without_a_promise(void **unused)
{
    (void)unused;
    promise(false, "");
    begin_again();
    for (int t = 0; t < 100; t++)
        episode(true);
    assert_int_equal(h.of, 0);
    assert_true(isnan(h.evidence[FAILURES]));
    promise(false, "failures:\n  rule: {words: \"w\", known: true, ends: true, below: null}\n");
    begin_again();
    for (int t = 0; t < 100; t++)
        episode(true);
    assert_int_equal(h.nfailure, 100);
    assert_true(isnan(h.evidence[FAILURES]));
    assert_int_equal(h.alarms, 0);
}

// An observation of an episode; ends in the third, with a failure.
static void observe(rh_deploy *d, int t)
{
    double obs[2] = {5.0, 0.5};
    rh_deploy_seen seen = {.obs = obs,
                           .reward = t % 3 == 2 ? -10.0 : -1.0,
                           .seq = t,
                           .time = NAN,
                           .terminal = t % 3 == 2};
    rh_deploy_reply reply;
    assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
    assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
}

// The same numbers after a kill and a resume; and a state that knows nothing of failures.
static void resumed(void **unused)
{
    (void)unused;
    promise(false, RULE("episode"));
    rh_deploy_options opt = in_folder();
    opt.save_steps = 3;
    pid_t child = fork();
    if (child == 0) { // ends after a save, without a goodbye
        rh_deploy *d = opened(&opt);
        for (int t = 0; t < 45; t++)
            observe(d, t);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    rh_deploy *d = opened(&opt);
    for (int t = 45; t < 90; t++)
        observe(d, t);
    rh_deploy_health there = rh_deploy_health_of(d);
    rh_monitor bets = d->monitor;
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_deploy_options nowhere = rh_deploy_defaults();
    d = opened(&nowhere);
    for (int t = 0; t < 90; t++)
        observe(d, t);
    rh_deploy_health whole = rh_deploy_health_of(d);
    assert_int_equal(there.nfailure, 30);
    assert_int_equal(there.of, 30);
    assert_true(there.evidence[FAILURES] == whole.evidence[FAILURES]);
    assert_memory_equal(&bets.failures, &d->monitor.failures, sizeof bets.failures);
    assert_int_equal(there.alarms, whole.alarms);
    assert_true(there.alarms & RH_ALARM_FAILURES);
    rh_deploy_close(d, NULL);

    // of an earlier version: shorter arrays
    rh_state *state = NULL, *older = NULL;
    assert_int_equal(rh_state_read(&state, state_path, NULL), RH_OK);
    assert_int_equal(rh_state__create(&older, NULL), RH_OK);
    assert_int_equal(rh_state__set_label(older, rh_state__label(state), NULL), RH_OK);
    for (int i = 0; i < rh_state__count(state); i++) {
        const char *name;
        size_t n;
        const double *x = rh_state__at(state, i, &name, &n);
        assert_non_null(x);
        if (strcmp(name, "deploy") == 0)
            n = 33; // before the failures
        if (strcmp(name, "monitor") == 0)
            n = 12;
        assert_int_equal(rh_state_put(older, name, x, n, NULL), RH_OK);
    }
    assert_int_equal(rh_state_write(older, state_path, NULL), RH_OK);
    rh_state_destroy(state);
    rh_state_destroy(older);
    d = opened(&opt);
    there = rh_deploy_health_of(d);
    assert_int_equal(there.nstep, 90);
    assert_int_equal(there.of, 0);
    assert_true(there.evidence[FAILURES] == 0.0);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void guard_acts_too_often(void **unused)
{
    (void)unused;
    write_text(guard_path, "safe_action: off\ntrip: {temp: [null, 8]}\nalarm_share: 0.02\n");
    rh_deploy_options opt = rh_deploy_defaults();
    opt.guard = guard_path;
    rh_deploy *d = opened(&opt);
    int t = 0;
    sent(d, t++, 9.0); // 0.5 theta / (1 + 0.02 (theta - 1)), 4.9 in the mean
    rh_deploy_health now = rh_deploy_health_of(d);
    assert_false(now.alarms & RH_ALARM_GUARD);
    assert_int_equal(now.nguarded, 1);
    near(now.guarded, 0.001);
    near(now.guard_share, 0.02);
    sent(d, t++, 9.0);
    now = rh_deploy_health_of(d);
    assert_true(now.alarms & RH_ALARM_GUARD);
    assert_int_equal(now.since[5], 2);
    assert_true(now.sure[5] >= 20.0);
    for (int i = 0; i < 30; i++)
        sent(d, t++, 9.0);
    double sure = rh_deploy_health_of(d).sure[5];
    assert_true(sure > now.sure[5]);
    for (int i = 0; i < 1500; i++)
        sent(d, t++, 5.0);
    now = rh_deploy_health_of(d);
    assert_false(now.alarms & RH_ALARM_GUARD);
    assert_int_equal(now.since[5], -1);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    write_text(guard_path, "alarm_share: 2\n");
    rh_error err = {""};
    assert_int_equal(rh_deploy_open(&d, best_path, &opt, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "alarm_share is 2, expected a share, 0 to 1"));
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(by_hand),        IN_A_FOLDER(honest_ones),
        IN_A_FOLDER(dishonest_ones), IN_A_FOLDER(without_a_promise),
        IN_A_FOLDER(resumed),        IN_A_FOLDER(guard_acts_too_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
