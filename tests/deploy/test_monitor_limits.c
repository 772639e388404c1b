// test_monitor_limits.c - limits of the study on the plant: what is counted, how often the
// alarm is false and how soon it finds what is wrong; a kill; wrong files.

#include "base/base.h"
#include "deploy/deploy.h"
#include "deploy/deploy_sample.h"

#define AT_MOST(one) "at_most:\n  sure: 0.95\n  limits:\n" one
#define TERMINAL "    - {event: \"terminal\", unit: \"per 1000 steps\", most: 10, rate: 5}\n"
#define HOT                                                                                    \
    "    - {event: \"temp > 8\", formula: \"next[0] > 8\", unit: \"% of steps\", most: 5}\n"
#define SPELL                                                                                  \
    "    - {event: \"pump and cost\", formula: \"(act[0] == 1) * (reward < -3)\", "            \
    "unit: \"% of episodes\", most: 20}\n"
#define FAILS "    - {event: \"trip\", unit: \"% of episodes\", most: 10}\n"
#define RULE "failures:\n  rule: {words: \"a trip\", known: true, ends: true, below: -6}\n"

enum { LIMIT = 9 }; // position of RH_ALARM_LIMIT

static int64_t seq;

// best.yaml of a task with or without episodes.
static void with(bool continuing, const char *rest)
{
    char text[6000];
    const char *task = BEST_TASK, *at = strstr(task, "continuing: true");
    snprintf(text, sizeof text, "%s%.*scontinuing: %s%s%s", BEST_AGENT, (int)(at - task), task,
             continuing ? "true" : "false", at + strlen("continuing: true"), rest);
    write_text(best_path, text);
    seq = 0;
}

static rh_deploy_reply step(rh_deploy *d, double temp, double reward, bool starts,
                            bool terminal, const double *taken)
{
    double obs[2] = {temp, 0.5};
    rh_deploy_seen seen = {.obs = obs,
                           .reward = reward,
                           .act = taken,
                           .seq = seq++,
                           .time = NAN,
                           .starts = starts,
                           .terminal = terminal};
    rh_deploy_reply reply;
    assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
    return reply;
}

static rh_deploy_limit limit(const rh_deploy *d, int i)
{
    return rh_deploy_health_of(d).limit[i];
}

static void counts(void **unused)
{
    (void)unused;
    double on = 1.0, off = 0.0;
    with(false, AT_MOST(TERMINAL HOT SPELL FAILS) RULE);
    rh_deploy *d = opened(NULL);
    assert_int_equal(rh_deploy_health_of(d).nlimit, 4);
    assert_string_equal(limit(d, 1).event, "temp > 8");
    assert_true(fabs(limit(d, 0).most - 0.01) < 1e-15);

    // an episode of the agent's own: two hot steps, a terminal end that is a failure
    rh_deploy_reply r = step(d, 5.0, NAN, true, false, NULL);
    r = step(d, 9.0, -1.0, false, false, NULL);
    r = step(d, 8.5, -1.0, false, false, NULL);
    r = step(d, NAN, -1.0, false, false, NULL); // missing: no trial of the formula
    step(d, 5.0, -7.0, false, true, NULL);
    assert_int_equal(limit(d, 0).n, 1);
    assert_int_equal(limit(d, 0).of, 4);
    assert_int_equal(limit(d, 1).n, 2);
    assert_int_equal(limit(d, 1).of, 3);
    assert_int_equal(limit(d, 3).n, 1);
    assert_int_equal(limit(d, 3).of, 1);
    int64_t cold = limit(d, 2).n;

    // an operator interferes: his step does not count, nor does his episode
    r = step(d, 5.0, NAN, true, false, NULL);
    step(d, 9.0, -9.0, false, false, r.act[0] == 1.0 ? &off : &on);
    r = step(d, 9.0, -1.0, false, false, NULL);
    step(d, 5.0, -7.0, false, true, NULL);
    assert_int_equal(limit(d, 1).n, 3);
    assert_int_equal(limit(d, 1).of, 5);
    assert_int_equal(limit(d, 0).n, 2);
    assert_int_equal(limit(d, 2).of, 1);
    assert_int_equal(limit(d, 2).n, cold);
    assert_int_equal(limit(d, 3).of, 1);

    // the formula of an action and the reward: in episodes that have such a step
    int64_t expected = cold;
    for (int i = 0; i < 20; i++) {
        r = step(d, 5.0, NAN, true, false, NULL);
        bool is = r.act[0] == 1.0;
        r = step(d, 5.0, -4.0, false, false, NULL);
        is = is || r.act[0] == 1.0;
        step(d, 5.0, -4.0, false, true, NULL);
        expected += is;
    }
    assert_int_equal(limit(d, 2).of, 21);
    assert_int_equal(limit(d, 2).n, expected);
    assert_in_range(expected, 1, 20);
    assert_int_equal(limit(d, 3).n, 1); // -4 is no failure
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Of n deployments of nstep steps: those that raise the alarm, and the median of their steps.
static int alarms(bool spells, double rate, int n, int nstep, int *median)
{
    rh_rng rng = rh_rng_stream(17, RH_STREAM_NOISE, 0, (uint64_t)(1000 * rate));
    int found = 0, when[300];
    for (int i = 0; i < n; i++) {
        rh_deploy *d = opened(NULL);
        int left = 0, at = -1;
        seq = 0;
        bool starts = true;
        for (int t = 0; t < nstep && at < 0; t++) {
            bool happens = left > 0;
            if (!spells)
                happens = rh_rng_uniform(&rng) < rate;
            else if (!left && rh_rng_uniform(&rng) < rate / (5.0 - 4.0 * rate)) {
                left = 5;
                happens = true;
            }
            left -= left > 0;
            if (starts)
                step(d, 5.0, NAN, true, false, NULL);
            rh_deploy_reply r =
                step(d, spells && happens ? 9.0 : 5.0, -1.0, false, !spells && happens, NULL);
            starts = !spells && happens;
            at = r.alarms & RH_ALARM_LIMIT ? t : -1;
        }
        if (at >= 0)
            when[found++] = at;
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    }
    for (int i = 0; i < found; i++) // the median, by counting
        for (int k = 0, below = 0; k <= found; k++) {
            if (k == found) {
                *median = below <= found / 2 && below + 1 > found / 2 ? when[i] : *median;
                break;
            }
            below += when[k] < when[i] || (when[k] == when[i] && k < i);
        }
    return found;
}

// A correct test has more than 25 false alarms in 300 with a probability of 0.005. In 1,000
// deployments of 2,000 steps it had 19 and 23.
static void false_and_found(void **unused)
{
    (void)unused;
    static const struct {
        const char *limits;
        bool spells;
        double kept, broken;
    } of[] = {{AT_MOST(TERMINAL), false, 0.01, 0.04}, {AT_MOST(HOT), true, 0.05, 0.25}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int median = 0;
        with(!of[i].spells ? false : true, of[i].limits);
        int n = alarms(of[i].spells, of[i].kept, 300, 1000, &median);
        print_message("%s: at the limit %d of 300 false\n", strstr(of[i].limits, "event"), n);
        assert_in_range(n, 0, 25);
        n = alarms(of[i].spells, of[i].broken, 100, 500, &median);
        print_message("%g instead of %g: %d of 100 found, median after %d steps\n",
                      of[i].broken, of[i].kept, n, median);
        assert_in_range(n, 90, 100);
    }
}

// A limit of 0 is broken by the first event; the fallback then acts.
static void never(void **unused)
{
    (void)unused;
    with(true, AT_MOST("    - {event: \"temp > 8\", formula: \"next[0] > 8\", unit: \"% of "
                       "steps\", most: 0}\n" HOT));
    write_text(guard_path, "fallback: on\n");
    rh_deploy_options opt = in_folder();
    opt.guard = guard_path;
    rh_deploy *d = opened(&opt);
    for (int t = 0; t < 50; t++)
        assert_int_equal(step(d, 5.0, -1.0, false, false, NULL).alarms, 0);
    rh_deploy_reply r = step(d, 9.0, -1.0, false, false, NULL);
    assert_int_equal(r.alarms, RH_ALARM_LIMIT);
    assert_int_equal(r.source, RH_BY_FALLBACK);
    step(d, 9.0, -1.0, false, false, NULL); // by the fallback: no step of the agent

    // as it was, after a kill
    rh_deploy_health was = rh_deploy_health_of(d), is;
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    assert_int_equal(rh_deploy__health_read(&is, folder, NULL), RH_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(is.nlimit, 2);
        assert_string_equal(is.limit[1].event, "temp > 8");
        assert_int_equal(is.limit[0].n, 1);
        assert_int_equal(is.limit[0].of, was.limit[0].of);
        assert_int_equal(is.since[LIMIT], was.since[LIMIT]);
        assert_true(is.evidence[LIMIT] == was.evidence[LIMIT] && is.evidence[LIMIT] >= 20.0);
        d = opened(&opt);
        is = rh_deploy_health_of(d);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    }
    char *json = rh_deploy__health_json(&is, NULL);
    assert_non_null(json);
    assert_non_null(strstr(json, "\"limits\""));
    assert_non_null(strstr(json, "\"temp > 8\""));
    rh_free(json);
}

// Another limit of another best.yaml begins anew, and takes over no alarm; the same goes on.
static void of_another_study(void **unused)
{
    (void)unused;
    static const char *const limits[] = {
        AT_MOST("    - {event: \"temp > 8\", formula: \"next[0] > 8\", unit: \"% of steps\", "
                "most: 0}\n" HOT),
        AT_MOST(HOT HOT), AT_MOST(SPELL HOT), ""};
    static const int64_t second[] = {1, 2, 3};
    rh_deploy_options opt = in_folder();
    for (int i = 0; i < 3; i++) {
        with(true, limits[i]);
        rh_deploy *d = opened(&opt);
        step(d, 9.0, -1.0, false, false, NULL); // not judged: nothing is known of the step
        rh_deploy_reply r = step(d, 9.0, -1.0, false, false, NULL);
        assert_int_equal(r.alarms, i == 0 ? RH_ALARM_LIMIT : 0);
        assert_int_equal(limit(d, 0).of, i < 2); // episodes are not over
        assert_int_equal(limit(d, 1).n, second[i]);
        assert_int_equal(limit(d, 1).of, second[i]);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    }
    with(true, limits[3]);
    rh_deploy *d = opened(&opt);
    assert_int_equal(rh_deploy_health_of(d).nlimit, 0);
    assert_int_equal(rh_deploy_health_of(d).alarms, 0);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *limits, *says;
    } wrong[] = {
        {"    - {event: \"x\", unit: \"per year\", most: 1}\n", "at_most.limits is a mapping"},
        {"    - {event: \"x\", unit: \"% of steps\", most: 101}\n", "at_most.limits is a map"},
        {"    - {event: \"x\", unit: \"% of steps\", most: -1}\n", "at_most.limits is a map"},
        {"    - {unit: \"% of steps\", most: 1}\n", "at_most.limits is a mapping"},
        {"    - {event: \"x\", formula: \"next[7] > 1\", unit: \"% of steps\", most: 1}\n",
         "no sensor or action 'next[7]'"},
        {TERMINAL TERMINAL TERMINAL TERMINAL TERMINAL TERMINAL TERMINAL TERMINAL TERMINAL,
         "a list of at most 8 limits"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[2000];
        rh_deploy *d = NULL;
        rh_error err = {""};
        snprintf(text, sizeof text, "at_most:\n  limits:\n%s", wrong[i].limits);
        with(true, text);
        assert_int_not_equal(rh_deploy_open(&d, best_path, NULL, &err), RH_OK);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("'%s' is not in '%s'", wrong[i].says, err.text);
    }
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(counts),           IN_A_FOLDER(false_and_found), IN_A_FOLDER(never),
        IN_A_FOLDER(of_another_study), IN_A_FOLDER(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
