// test_blend.c - the size of a blend: it grows with evidence, and begins anew, smaller, after
// more violations than are credible.

#include "deploy/deploy_sample.h"

#define GUARD "fallback: on\non_alarm: continue\nblend: {away: 0.2, full: 10000}\n"
#define RULE                                                                                   \
    "failures:\n  rule: {words: \"a trip\", known: true, ends: true, below: -6}\n"             \
    "  per: episode\n  all: {rate: 0.3, interval: [0.2, 0.9], failures: 30, of: 100}\n"        \
    "  logged: {rate: %g, interval: [0.0, 0.9], failures: 8, of: 30}\n"
#define HOT                                                                                    \
    "at_most:\n  sure: 0.95\n  limits:\n"                                                      \
    "    - {event: \"temp > 8\", formula: \"next[0] > 8\", unit: \"% of steps\", most: 5}\n"

static int64_t seq;

// A deployment with episodes; rest of best.yaml: failures or limits.
static rh_deploy *made(const char *guard, const char *rest)
{
    char text[6000];
    const char *task = BEST_TASK, *at = strstr(task, "continuing: true");
    rh_deploy_options opt = in_folder();
    snprintf(text, sizeof text, "%s%.*scontinuing: false%s%s", BEST_AGENT, (int)(at - task),
             task, at + strlen("continuing: true"), rest);
    write_text(best_path, text);
    write_text(guard_path, guard);
    remove(state_path);
    remove(log_path);
    opt.guard = guard_path;
    seq = 0;
    return opened(&opt);
}

static void step(rh_deploy *d, double temp, double reward, bool terminal)
{
    double obs[2] = {temp, 0.5};
    rh_deploy_seen seen = {
        .obs = obs, .reward = reward, .seq = seq++, .time = NAN, .terminal = terminal};
    rh_deploy_reply reply;
    assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
}

// Five steps and an end, with a failure or without.
static void episode(rh_deploy *d, bool fails)
{
    step(d, 5.0, NAN, false);
    for (int t = 0; t < 5; t++)
        step(d, 5.0, -1.0, false);
    step(d, 5.0, fails ? -9.0 : -1.0, true);
}

// How often it was made smaller.
static int shrunk(const rh_deploy *d)
{
    double begins = 0.2;
    int n = 0;
    for (; begins > rh_deploy_health_of(d).allowed + 1e-12; n++)
        begins *= 0.5;
    return n;
}

static void failures_of(void **unused)
{
    (void)unused;
    static const struct {
        double logged;
        int good, bad, shrunk; // episodes before, failed ones; the size after them
    } all[] = {
        {0.0, 0, 0, 0},   {0.0, 0, 1, 1}, {0.0, 50, 2, 2}, {0.5, 0, 1, 0},
        {0.1, 0, 1, 1},   {0.1, 1, 1, 1}, {0.1, 2, 1, 0}, // 1 - exp(-0.3) = 0.26
        {0.1, 10, 2, 0},                                  // of 12: 0.34
        {0.1, 10, 3, 1},                                  // of 13: 0.14
        {0.01, 21, 1, 1}, {0.1, 0, 3, 3},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char rest[600];
        snprintf(rest, sizeof rest, RULE, all[i].logged);
        rh_deploy *d = made(GUARD, rest);
        for (int t = 0; t < all[i].good + all[i].bad; t++)
            episode(d, t >= all[i].good);
        print_message("%g, %d, %d: %d\n", all[i].logged, all[i].good, all[i].bad, shrunk(d));
        assert_int_equal((int)d->turn.nshrunk, all[i].shrunk);
        assert_int_equal(shrunk(d), all[i].shrunk);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    }
}

// An event of a limit of 5 % of the steps: one in the first two is too many, one of 10 is not.
static void limits_of(void **unused)
{
    (void)unused;
    for (int good = 1; good <= 10; good += 9) {
        rh_deploy *d = made(GUARD, HOT);
        step(d, 5.0, NAN, false);
        for (int t = 0; t < good; t++)
            step(d, 5.0, -1.0, false);
        step(d, 9.0, -1.0, false);
        assert_int_equal(shrunk(d), good == 1);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    }
}

// Past a trip limit of the guard, for however long: once.
static void trips_of(void **unused)
{
    (void)unused;
    rh_deploy *d = made(GUARD "safe_action: off\ntrip: {temp: [0, 8]}\n", "");
    for (int t = 0; t < 10; t++)
        step(d, t > 4 && t < 8 ? 9.0 : 5.0, t ? -1.0 : NAN, false);
    assert_int_equal(shrunk(d), 1);
    step(d, 9.0, -1.0, false);
    step(d, 5.0, -1.0, false);
    assert_int_equal(shrunk(d), 2);
    // it stays so in the next process
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_deploy_options opt = in_folder();
    opt.guard = guard_path;
    d = opened(&opt);
    assert_int_equal(shrunk(d), 2);
    step(d, 5.0, NAN, false);
    assert_int_equal(shrunk(d), 2);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Without numbers: a twentieth of the steps.
static void by_default(void **unused)
{
    (void)unused;
    rh_deploy *d = made("fallback: on\nblend: {}\n", "");
    assert_true(rh_deploy_health_of(d).allowed == 0.05);
    step(d, 5.0, NAN, false);
    assert_true(rh_deploy_health_of(d).allowed < 0.0501);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Discrete actions away from the fallback's are single ones, however long the agent agreed.
static void one_at_a_time(void **unused)
{
    (void)unused;
    rh_deploy *d = made(GUARD, "");
    rh_agent_freeze(d->agent, true);
    rh_deploy_reply own = {.source = RH_BY_AGENT, .act = {1.0}}, r;
    int last = -10, n = 0;
    for (int t = 0; t < 100; t++) {
        r = own;
        r.act[0] = t < 50; // as the fallback, then never
        rh_blend__act(d, &r);
        assert_true(t >= 50 || r.act[0] == 1.0);
        if (r.act[0] == 0.0) {
            assert_true(t - last >= 4);
            last = t;
            n++;
        }
    }
    assert_in_range(n, 10, 12);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(failures_of), IN_A_FOLDER(limits_of),     IN_A_FOLDER(trips_of),
        IN_A_FOLDER(by_default),  IN_A_FOLDER(one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
