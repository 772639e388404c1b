// test_turn.c - who acts: an agent learns in the shadow of a controller, advises, falls back
// and comes again, blends in and steps up; and goes on after a kill as it was.

#include "base/base.h"
#include "deploy/deploy.h"
#include "deploy/deploy_sample.h"
#include "rehearse/plugin.h"
#include "study/study_internal.h"

#include <sys/wait.h>
#include <time.h>

#define CONTINUOUS                                                                             \
    "task:\n  sensors:\n    - {name: \"temp\", range: [0, 10], seen: [1, 9]}\n"                \
    "    - {name: \"level\", range: [-1, 1], seen: [null, null]}\n"                            \
    "  actions: [{name: \"power\", range: [0, 10]}]\n  reward: {name: \"cost\"}\n"             \
    "  continuing: true\n  gamma: 0.9\n  steps: 1000\n"

static rh_rng rng;

static int begin(void **state)
{
    rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
    return enter(state);
}

// best.yaml of an agent with its defaults.
static const char *with(const char *agent, const char *rest)
{
    static char text[8000];
    const rh_agent_type *type = rh_agent_find(agent, NULL);
    int n = snprintf(text, sizeof text, "agent:\n  name: %s\n", agent);
    for (int i = 0; i < type->nparam; i++) {
        char value[40];
        rh_param__format(&type->param[i], type->param[i].initial, value, sizeof value);
        n += snprintf(text + n, sizeof text - (size_t)n, "  %s: %s\n", type->param[i].name,
                      value);
    }
    snprintf(text + n, sizeof text - (size_t)n, "%s", rest);
    return text;
}

// What the last deployment left.
static void forget(void)
{
    remove(state_path);
    remove(log_path);
}

static rh_deploy *made(const char *best, const char *guard, rh_deploy_mode mode)
{
    rh_deploy_options opt = in_folder();
    write_text(best_path, best);
    if (guard)
        write_text(guard_path, guard);
    opt.guard = guard ? guard_path : NULL;
    opt.mode = mode;
    return opened(&opt);
}

// An observation after action `taken` (-1: not said) with a reward.
static rh_deploy_reply after(rh_deploy *d, int64_t seq, double taken, double reward,
                             rh_deploy_command command)
{
    double obs[2] = {2.0 + 6.0 * rh_rng_uniform(&rng), 0.5};
    rh_deploy_seen seen = {.obs = obs,
                           .reward = reward,
                           .act = taken < 0.0 ? NULL : &taken,
                           .seq = seq,
                           .time = NAN,
                           .command = command};
    rh_deploy_reply reply;
    assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
    assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
    return reply;
}

// n steps of a controller that switches at random; "on" is worth 1. Returns the share of the
// last half in which the agent would switch on.
static double shadow(rh_deploy *d, int64_t from, int n)
{
    int on = 0;
    double taken = -1.0;
    for (int t = 0; t < n; t++) {
        rh_deploy_reply r = after(d, from + t, taken, taken > 0.0 ? 1.0 : 0.0, 0);
        assert_int_equal(r.source, RH_BY_SHADOW);
        on += t >= n / 2 && r.act[0] == 1.0;
        taken = rh_rng_below(&rng, 2);
    }
    return 2.0 * on / n;
}

static void learns_in_the_shadow(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        const char *best = i ? with("dqn", BEST_TASK BEST_CHOSEN) : BEST_ALL;
        rh_deploy *d = made(best, NULL, RH_MODE_SHADOW);
        double on = shadow(d, 0, 2000);
        rh_deploy_health h = rh_deploy_health_of(d);
        print_message("%s: on in %.2f of the steps\n", d->best->agent->name, on);
        assert_true(on > 0.8);
        assert_true(h.nlearned > 1900);  // all but those after a save
        assert_int_equal(h.count[4], 0); // nobody overrode it
        assert_int_equal(h.njudged, 0);  // and nothing was promised of somebody else
        assert_int_equal(h.nshadow, 1999);
        assert_true(h.agreement > 0.4);
        assert_true(h.agreement < 0.6);
        assert_true(h.coverage == 1.0);
        // it is not told what was done
        rh_deploy_reply r = after(d, 2000, -1.0, 1.0, 0);
        assert_true(r.notes & RH_NOTE_NO_ACTION);
        assert_false(r.learned);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        forget();
    }
}

// The log has what was done, and not what the agent would do.
static void log_has_the_truth(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, NULL, RH_MODE_SHADOW);
    for (int t = 0; t < 50; t++)
        after(d, t, t ? t % 2 : -1.0, -1.0, 0);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    FILE *file = fopen(log_path, "r");
    char line[300];
    assert_non_null(fgets(line, sizeof line, file));
    for (int t = 0; t < 49; t++) {
        assert_non_null(fgets(line, sizeof line, file));
        assert_non_null(strstr(line, t % 2 ? ",off,-1," : ",on,-1,"));
    }
    fclose(file);
}

static void advice(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, NULL, RH_MODE_ADVICE);
    rh_deploy_reply r = after(d, 0, -1.0, NAN, 0);
    assert_int_equal(r.source, RH_BY_ADVICE);
    r = after(d, 1, r.act[0], -1.0, 0); // followed
    assert_int_equal(r.notes, 0);
    assert_true(r.learned);
    assert_int_equal(rh_deploy_health_of(d).njudged, 1);
    r = after(d, 2, 1.0 - r.act[0], -1.0, 0); // not followed
    assert_int_equal(r.notes, RH_NOTE_OVERRIDE);
    assert_true(r.learned);
    assert_int_equal(rh_deploy_health_of(d).njudged, 1);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// What the guard changed is not the agent's own: advice that was followed counts as somebody
// else's, a cut blend is not learned from.
static void changed_by_the_guard(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, "forbidden: [on]\nsafe_action: off\n", RH_MODE_ADVICE);
    rh_deploy_reply r = after(d, 0, -1.0, NAN, 0);
    int own = 0, n = 0;
    for (int t = 1; t < 100; t++) {
        own += r.notes == 0;
        n += r.notes == RH_NOTE_LIMITED;
        r = after(d, t, r.act[0], -1.0, 0);
        assert_int_equal(r.source, RH_BY_ADVICE);
        assert_true(r.act[0] == 0.0);
        assert_true(r.learned);
    }
    assert_true(own > 0 && n > 0);
    assert_int_equal(rh_deploy_health_of(d).njudged, own);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    forget();
    d = made(with("td3", CONTINUOUS),
             "fallback: 9\nlimits: {power: [0, 8]}\nblend: {away: 1}\nalarm_share: 1\n", 0);
    bool cut = false, was = false;
    for (int t = 0; t < 300; t++) {
        r = after(d, t, -1.0, -0.1, 0);
        assert_int_equal(r.learned, t > 0 && !was);
        was = (r.notes & RH_NOTE_LIMITED) != 0;
        cut = cut || was;
    }
    assert_true(cut);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// By command, and back; learning goes on.
static void by_command(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, "fallback: on\n", RH_MODE_KEPT);
    assert_int_equal(after(d, 0, -1.0, NAN, 0).source, RH_BY_AGENT);
    for (int t = 1; t < 20; t++) {
        rh_deploy_reply r = after(d, t, -1.0, -1.0, t == 1 ? RH_COMMAND_FALLBACK : 0);
        assert_int_equal(r.source, RH_BY_FALLBACK);
        assert_true(r.act[0] == 1.0);
        assert_int_equal(r.learned, t != 2); // it was saved
    }
    assert_true(rh_deploy_health_of(d).fallen);
    assert_int_equal(rh_deploy_health_of(d).mode_step, 1);
    assert_int_equal(after(d, 20, -1.0, -1.0, RH_COMMAND_AGENT).source, RH_BY_AGENT);
    assert_int_equal(after(d, 21, -1.0, -1.0, RH_COMMAND_SHADOW).source, RH_BY_SHADOW);
    assert_int_equal(after(d, 22, 0.0, -1.0, RH_COMMAND_CONTROL).source, RH_BY_AGENT);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    // somebody else acts
    d = made(BEST_ALL, "fallback: none\n", RH_MODE_KEPT);
    after(d, 0, -1.0, NAN, RH_COMMAND_FALLBACK);
    rh_deploy_reply r = after(d, 1, 1.0, -1.0, 0);
    assert_int_equal(r.source, RH_BY_NOBODY);
    r = after(d, 2, 1.0, -1.0, 0);
    assert_int_equal(r.notes, 0);
    assert_true(r.learned);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Commands in repeated and late observations.
static void by_old_command(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, "fallback: on\n", 0);
    assert_int_equal(after(d, 3, -1.0, NAN, 0).notes & RH_NOTE_REPEATED, 0);
    rh_deploy_reply r = after(d, 3, -1.0, NAN, RH_COMMAND_FALLBACK);
    assert_int_equal(r.notes, RH_NOTE_REPEATED);
    assert_int_equal(r.source, RH_BY_FALLBACK);
    assert_true(r.act[0] == 1.0);
    assert_int_equal(after(d, 3, -1.0, NAN, 0).source, RH_BY_FALLBACK);
    after(d, 1, -1.0, NAN, RH_COMMAND_AGENT); // older than the fallback's
    after(d, 1, -1.0, NAN, RH_COMMAND_SHADOW);
    r = after(d, 4, -1.0, -1.0, RH_COMMAND_NONE);
    assert_int_equal(r.source, RH_BY_FALLBACK);
    assert_int_equal(after(d, 5, -1.0, -1.0, RH_COMMAND_AGENT).source, RH_BY_AGENT);
    r = after(d, 1, -1.0, NAN, RH_COMMAND_FALLBACK); // late: only away from the agent
    assert_int_equal(r.notes, RH_NOTE_LATE);
    assert_int_equal(r.source, RH_BY_FALLBACK);
    r = after(d, 5, -1.0, -1.0, RH_COMMAND_AGENT); // a copy of the one before
    assert_int_equal(r.source, RH_BY_FALLBACK);
    assert_true(rh_deploy_health_of(d).fallen);
    assert_int_equal(after(d, 6, -1.0, -1.0, RH_COMMAND_AGENT).source, RH_BY_AGENT);
    r = after(d, 6, -1.0, -1.0, RH_COMMAND_SHADOW);
    assert_int_equal(r.source, RH_BY_SHADOW);
    r = after(d, 6, -1.0, -1.0, RH_COMMAND_ADVICE);
    assert_int_equal(r.source, RH_BY_ADVICE);
    r = after(d, 7, 0.0, -1.0, 0);
    assert_int_equal(r.source, RH_BY_ADVICE);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Rewards far below the promise: an alarm, then the fallback, until a command.
static void after_an_alarm(void **unused)
{
    (void)unused;
    for (int goes_on = 0; goes_on < 2; goes_on++) {
        rh_deploy *d = made(
            BEST_ALL, goes_on ? "fallback: hold\non_alarm: continue\n" : "fallback: hold\n",
            RH_MODE_KEPT);
        int t = 0;

        rh_deploy_reply r = {0};
        while (t < 100 && !(r.alarms & RH_ALARM_PROMISE))
            r = after(d, t++, -1.0, -99.0, 0);
        assert_in_range(t, 20, 90);
        r = after(d, t++, -1.0, -1.0, 0);
        assert_int_equal(r.source, goes_on ? RH_BY_AGENT : RH_BY_HOLD);
        assert_int_equal(rh_deploy_health_of(d).fallen, !goes_on);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        forget();
    }
}

// Ordered back while an alarm is on, the agent acts, also after a restart; a new one counts.
static void back_in_spite_of_an_alarm(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, "fallback: hold\n", RH_MODE_KEPT);
    rh_deploy_reply r = {0};
    int t = 0;
    while (t < 100 && !(r.alarms & RH_ALARM_PROMISE))
        r = after(d, t++, -1.0, -99.0, 0);
    assert_int_equal(after(d, t++, -1.0, -1.0, 0).source, RH_BY_HOLD);
    r = after(d, t++, -1.0, -1.0, RH_COMMAND_AGENT);
    assert_int_equal(r.source, RH_BY_AGENT);
    assert_true(r.alarms & RH_ALARM_PROMISE);
    assert_int_equal(after(d, t++, -1.0, -1.0, 0).source, RH_BY_AGENT);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    d = made(BEST_ALL, "fallback: hold\n", RH_MODE_KEPT);
    r = after(d, t++, -1.0, -1.0, 0);
    assert_int_equal(r.source, RH_BY_AGENT);
    assert_true(r.alarms & RH_ALARM_PROMISE);
    rh_monitor__raise(&d->health, RH_ALARM_DIVERGED); // another one
    assert_int_equal(after(d, t++, -1.0, -1.0, 0).source, RH_BY_HOLD);
    r = after(d, t++, -1.0, -1.0, RH_COMMAND_AGENT); // it is over by the command
    assert_int_equal(r.source, RH_BY_AGENT);
    assert_false(r.alarms & RH_ALARM_DIVERGED);
    rh_monitor__end(&d->health, RH_ALARM_PROMISE); // it comes anew
    after(d, t++, -1.0, -1.0, 0);
    rh_monitor__raise(&d->health, RH_ALARM_PROMISE);
    assert_int_equal(after(d, t++, -1.0, -1.0, 0).source, RH_BY_HOLD);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// A missing sensor: the fallback, and not the agent.
static void silence(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, "fallback: off\n", RH_MODE_KEPT);
    after(d, 0, -1.0, NAN, 0);
    rh_deploy_reply r = sent(d, 1, NAN);
    assert_int_equal(r.source, RH_BY_FALLBACK);
    assert_true(r.act[0] == 0.0);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void pass(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * fmod(seconds, 1.0))};
    nanosleep(&t, NULL);
}

// A program as fallback acts; one that ends is replaced by the safe action and started again.
static void by_a_program(void **unused)
{
    (void)unused;
    char path[128], guard[256];
    snprintf(path, sizeof path, "%s/other.sh", folder);
    write_text(path,
               "n=0\nwhile read -r line; do\n  case $line in\n"
               "  *describe*) echo '{\"rehearse\": 1, \"about\": \"always on\", \"actions\": "
               "\"discrete\", \"parameters\": []}' ;;\n"
               "  *'\"run\"'* | *'\"end\"'*) ;;\n"
               "  *) n=$((n + 1)); [ $n -gt 5 ] && exit 3; echo '{\"action\": 1}' ;;\n"
               "  esac\ndone\n");
    snprintf(guard, sizeof guard, "fallback: \"exec:sh %s\"\nsafe_action: off\n", path);
    rh_plugin_allow_exec(true);
    rh_deploy *d = made(BEST_ALL, guard, RH_MODE_KEPT);
    int by[8] = {0};
    for (int t = 0; t < 30; t++) {
        rh_deploy_reply r =
            after(d, t, -1.0, t ? -1.0 : NAN, t == 0 ? RH_COMMAND_FALLBACK : RH_COMMAND_NONE);
        by[r.source]++;
        assert_true(r.act[0] == (r.source == RH_BY_FALLBACK ? 1.0 : 0.0));
    }
    assert_int_equal(by[RH_BY_FALLBACK], 25);
    assert_int_equal(by[RH_BY_GUARD], 5);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_plugin_allow_exec(false);
}

// The clone of a controller that is on below 5, from rows of the log beside best.yaml.
static void by_a_clone(void **unused)
{
    (void)unused;
    enum { ROWS = 400, WIDTH = 2 * 2 + 1 + 2 };
    static double row[ROWS][WIDTH];
    char path[128], text[9000];
    rh_best *best = NULL;
    write_text(best_path, BEST_ALL);
    assert_int_equal(rh_best_read(&best, best_path, NULL), RH_OK);
    for (int i = 0; i < ROWS; i++) {
        double x = i ? row[i - 1][4] : 5.0;
        memcpy(row[i], (double[]){x, 0.5, x < 5.0, -fabs(x - 5.0)}, 4 * sizeof(double));
        memcpy(&row[i][4], (double[]){10.0 * rh_rng_uniform(&rng), 0.5}, 2 * sizeof(double));
    }
    row[ROWS - 1][WIDTH - 1] = 2.0; // the episode is cut off
    rh_prior prior = {ROWS, &row[0][0], 0};
    snprintf(path, sizeof path, "%s/start.state", folder);
    assert_int_equal(rh_study__write_start(path, &best->task, prior, 0.0, NULL), RH_OK);
    snprintf(
        text, sizeof text,
        "%sstart:\n  file: start.state\n  steps: %d\n  practice: 0\n  checksum: \"%08x\"\n",
        BEST_ALL, ROWS, (unsigned)rh_study__start_sum(&best->task, prior));
    rh_best_destroy(best);
    rh_deploy *d = made(text, "fallback: clone\nsafe_action: off\n", RH_MODE_KEPT);
    int same = 0;
    for (int t = 0; t < 100; t++) {
        double x = 0.1 + 9.8 * t / 99.0;
        double obs[2] = {x, 0.5};
        rh_deploy_seen seen = {.obs = obs, .reward = NAN, .seq = t, .time = NAN};
        rh_deploy_reply r;
        seen.command = t == 0 ? RH_COMMAND_FALLBACK : RH_COMMAND_NONE;
        assert_int_equal(rh_deploy_step(d, &seen, &r, NULL), RH_OK);
        assert_int_equal(r.source, RH_BY_FALLBACK);
        same += r.act[0] == (x < 5.0);
    }
    print_message("as the controller in %d of 100 steps\n", same);
    assert_in_range(same, 85, 100);
    rh_deploy_reply r = sent(d, 100, NAN); // what a clone cannot see: the safe action
    assert_int_equal(r.source, RH_BY_GUARD);
    assert_true(r.notes & RH_NOTE_NO_FALLBACK);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// A program that needs longer than `answer` is late: safe action, and its answers are dropped
// when they come. It is not started again.
static void by_a_slow_program(void **unused)
{
    (void)unused;
    char path[128], guard[400];
    snprintf(path, sizeof path, "%s/slow.sh", folder);
    write_text(
        path,
        "n=0\nwhile read -r line; do\n  case $line in\n"
        "  *describe*) echo '{\"rehearse\": 1, \"about\": \"slow\", \"actions\": "
        "\"discrete\", \"parameters\": []}' ;;\n"
        "  *'\"run\"'* | *'\"end\"'*) ;;\n"
        "  *) n=$((n + 1)); [ $n = 4 ] && { sleep 2.5; echo '{\"action\": 0}'; continue; }\n"
        "     echo '{\"action\": 1}' ;;\n"
        "  esac\ndone\n");
    snprintf(guard, sizeof guard,
             "fallback: \"exec:sh %s\"\nsafe_action: off\nanswer: 1\nblend: {away: 0}\n", path);
    rh_plugin_allow_exec(true);
    rh_deploy *d = made(BEST_ALL, guard, RH_MODE_KEPT);
    for (int t = 0; t < 10; t++) {
        double before = rh_deploy__now();
        rh_deploy_reply r = after(d, t, -1.0, t ? -1.0 : NAN, RH_COMMAND_NONE);
        assert_true(rh_deploy__now() - before < 2.0);
        bool late = (r.notes & RH_NOTE_NO_FALLBACK) != 0;
        assert_int_equal(late, t == 3 || t == 4);
        assert_true(r.act[0] == (late ? 0.0 : 1.0));
        if (late)
            assert_int_equal(r.source, RH_BY_GUARD);
        if (t == 4)
            pass(1.5);
    }
    assert_int_equal(rh_deploy_health_of(d).count[12], 2);
    // without the key it may take as long as the plant's period
    assert_true(isnan(d->period));
    double obs[2] = {5.0, 0.5};
    rh_deploy_seen seen = {.obs = obs, .reward = -1.0, .seq = 10, .time = 7.0};
    rh_deploy_reply r;
    assert_int_equal(rh_deploy_step(d, &seen, &r, NULL), RH_OK);
    seen.seq = 11;
    seen.time = 7.5;
    assert_int_equal(rh_deploy_step(d, &seen, &r, NULL), RH_OK);
    assert_true(d->period == 0.5);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_plugin_allow_exec(false);
}

// The safe action where the guard acts; the fallback where there is nothing to choose from.
static void safe_beside_fallback(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, "fallback: on\nsafe_action: off\ntrip: {temp: [0, 9]}\n", 0);
    after(d, 0, -1.0, NAN, 0);
    rh_deploy_reply r = sent(d, 1, 9.5);
    assert_int_equal(r.source, RH_BY_GUARD);
    assert_true(r.act[0] == 0.0);
    r = sent(d, 2, NAN);
    assert_int_equal(r.source, RH_BY_FALLBACK);
    assert_true(r.act[0] == 1.0);
    after(d, 3, -1.0, -1.0, RH_COMMAND_FALLBACK);
    r = sent(d, 4, 9.5); // while the fallback acts, too
    assert_int_equal(r.source, RH_BY_GUARD);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    forget();
    // hold, and nothing to hold yet
    d = made(BEST_ALL, "fallback: hold\nsafe_action: off\n", 0);
    assert_int_equal(sent(d, 0, NAN).source, RH_BY_GUARD);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    forget();
    // a command, and neither: nobody, not the agent
    d = made(BEST_ALL, NULL, 0);
    assert_int_equal(after(d, 0, -1.0, NAN, RH_COMMAND_FALLBACK).source, RH_BY_NOBODY);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// No message at all: an alarm in --status at once, and the fallback's action, once. The next
// message ends it and is a gap.
static void no_message(void **unused)
{
    (void)unused;
    static const struct {
        const char *guard;
        rh_deploy_source by;
    } all[] = {{"silence: 0.02\nfallback: off\n", RH_BY_FALLBACK},
               {"silence: 0.02\nsafe_action: 0\n", RH_BY_GUARD},
               {"silence: 0.02\n", RH_BY_HOLD}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rh_deploy *d = made(BEST_ALL, all[i].guard, RH_MODE_KEPT);
        rh_deploy_reply r;
        rh_deploy_health h;
        after(d, 0, -1.0, NAN, 0);
        assert_false(rh_deploy__unasked(d, &r));
        pass(0.03);
        assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
        assert_int_equal(rh_deploy_health_of(d).alarms, RH_ALARM_SILENCE);
        assert_int_equal(rh_deploy__health_read(&h, folder, NULL), RH_OK);
        assert_int_equal(h.alarms, RH_ALARM_SILENCE);
        assert_int_equal(h.since[8], 1);
        assert_true(rh_deploy__unasked(d, &r));
        assert_int_equal(r.source, all[i].by);
        assert_true(i == 2 || r.act[0] == 0.0);
        assert_int_equal(r.alarms, RH_ALARM_SILENCE);
        assert_false(rh_deploy__unasked(d, &r)); // it was asked for
        r = after(d, 1, -1.0, -1.0, 0);
        assert_int_equal(r.alarms, 0);
        assert_int_equal(r.source, RH_BY_AGENT);
        assert_true(r.notes & RH_NOTE_GAP);
        assert_false(r.learned);
        assert_false(after(d, 2, -1.0, -1.0, 0).learned); // it was saved
        assert_true(after(d, 3, -1.0, -1.0, 0).learned);
        // an episode is over: nothing is expected
        double obs[2] = {5.0, 0.5};
        rh_deploy_seen end = {
            .obs = obs, .reward = -1, .seq = 4, .time = NAN, .truncated = true};
        assert_int_equal(rh_deploy_step(d, &end, &r, NULL), RH_OK);
        pass(0.03);
        assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
        assert_int_equal(rh_deploy_health_of(d).alarms, 0);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        forget();
    }
    // in the shadow of a controller: an alarm, and no action
    rh_deploy *d = made(BEST_ALL, "silence: 0.02\nfallback: off\n", RH_MODE_SHADOW);
    rh_deploy_reply r;
    pass(0.03);
    assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
    assert_int_equal(rh_deploy_health_of(d).alarms, RH_ALARM_SILENCE);
    assert_false(rh_deploy__unasked(d, &r));
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Silence again after a repeated observation, and none after an episode's end that came twice.
static void silence_again(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL,
                        "silence: 0.02\nfallback: off\non_alarm: continue\n"
                        "trip: {temp: [null, 9]}\n",
                        RH_MODE_KEPT);
    rh_deploy_reply r;
    after(d, 0, -1.0, NAN, 0);
    for (int i = 0; i < 3; i++) {
        pass(0.03);
        assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
        assert_int_equal(rh_deploy_health_of(d).alarms, RH_ALARM_SILENCE);
        assert_true(rh_deploy__unasked(d, &r));
        assert_int_equal(r.source, RH_BY_FALLBACK);
        assert_int_equal(after(d, 0, -1.0, NAN, 0).alarms, 0);
        assert_false(rh_deploy__unasked(d, &r));
    }
    assert_true(after(d, 1, -1.0, -1.0, 0).notes & RH_NOTE_GAP);
    double obs[2] = {9.5, 0.5};
    rh_deploy_seen end = {.obs = obs, .reward = -1, .seq = 2, .time = NAN, .terminal = true};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rh_deploy_step(d, &end, &r, NULL), RH_OK);
        assert_int_equal(r.source, RH_BY_NOBODY);
        pass(0.03);
        assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
        assert_int_equal(rh_deploy_health_of(d).alarms, 0);
        assert_false(rh_deploy__unasked(d, &r));
    }
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// The blend does not grow while the deficit is high.
static void blend_waits(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL,
                        "fallback: on\non_alarm: continue\n"
                        "blend: {away: 0.2, full: 1000}\n",
                        0);
    int t = 0;
    while (t < 300 && rh_deploy_health_of(d).deficit <= 0.5 * rh_deploy_health_of(d).level)
        after(d, t++, -1.0, -1.0, 0);
    assert_in_range(t, 10, 299);
    double was = rh_deploy_health_of(d).allowed;
    after(d, t, -1.0, -1.0, 0);
    after(d, t + 1, -1.0, -1.0, 0);
    assert_true(was > 0.2);
    assert_true(rh_deploy_health_of(d).allowed <= was);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Away from the fallback in at most a fifth of the steps, more later.
static void blend_of_switches(void **unused)
{
    (void)unused;
    rh_deploy *d =
        made(BEST_AGENT BEST_TASK, "fallback: on\nblend: {away: 0.2, full: 1000}\n", 0);
    int away = 0, later = 0;
    rh_deploy_reply r = {.act = {1.0}};
    for (int t = 0; t < 400; t++) { // the agent learns that "off" is better
        r = after(d, t, -1.0, -4.0 * r.act[0], 0);
        away += t < 100 && r.act[0] == 0.0;
        later += t >= 300 && r.act[0] == 0.0;
        assert_int_equal(r.source == RH_BY_BLEND, r.act[0] != d->wished[0]);
    }
    print_message("away in %d of the first 100 steps, %d of the last\n", away, later);
    assert_in_range(away, 10, 28);
    assert_true(later > away);
    assert_true(rh_deploy_health_of(d).allowed > 0.5);
    assert_true(rh_deploy_health_of(d).nlearned > 350);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void blend_of_numbers(void **unused)
{
    (void)unused;
    rh_deploy *d = made(with("td3", CONTINUOUS),
                        "fallback: 5\nblend: {away: 0.1, step: 0.05, full: 1e9}\n", 0);
    double before = NAN;
    bool moved = false;
    for (int t = 0; t < 200; t++) {
        rh_deploy_reply r = after(d, t, -1.0, -0.1, 0);
        assert_true(r.act[0] > 3.999);
        assert_true(r.act[0] < 6.001);
        assert_false(fabs(r.act[0] - before) > 0.5 + 1e-9);
        before = r.act[0];
        moved = moved || r.source == RH_BY_BLEND;
    }
    assert_true(moved);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// An observation with what the controller would do; NAN: it does not say.
static rh_deploy_reply beside(rh_deploy *d, int64_t seq, double controller, double taken)
{
    double obs[2] = {2.0 + 6.0 * rh_rng_uniform(&rng), 0.5};
    rh_deploy_seen seen = {.obs = obs,
                           .reward = seq ? -0.1 : NAN,
                           .act = isnan(taken) ? NULL : &taken,
                           .seq = seq,
                           .time = NAN,
                           .controller = isnan(controller) ? NULL : &controller};
    rh_deploy_reply reply;
    assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
    assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
    return reply;
}

// The blend is around what the plant's own controller would do. Where it does not say, it acts.
static void blend_of_the_controller(void **unused)
{
    (void)unused;
    rh_deploy *d = made(with("td3", CONTINUOUS),
                        "fallback: none\nblend: {away: 0.1, step: 0.05, full: 1e9}\n", 0);
    rh_deploy_reply r;
    int t = 0;
    for (; t < 100; t++) {
        double controller = 1.0 + 8.0 * rh_rng_uniform(&rng);
        r = beside(d, t, controller, NAN);
        assert_true(r.source == RH_BY_AGENT || r.source == RH_BY_BLEND);
        assert_true(fabs(r.act[0] - controller) < 1.001);
        assert_true(t == 0 || r.learned);
    }
    r = beside(d, t++, NAN, NAN);
    assert_int_equal(r.source, RH_BY_NOBODY);
    assert_int_equal(r.notes, RH_NOTE_NO_FALLBACK);
    r = beside(d, t++, NAN, NAN); // and nobody knows what it did
    assert_int_equal(r.notes, RH_NOTE_NO_FALLBACK | RH_NOTE_NO_ACTION);
    assert_false(r.learned);
    beside(d, t++, NAN, 3.0);
    r = beside(d, t++, 5.0, 4.0);
    assert_int_equal(r.notes, 0);
    assert_true(r.learned);
    assert_true(fabs(r.act[0] - 5.0) < 1.001);
    double unsent = 5.0, obs[2] = {5.0, 0.5};
    rh_deploy_seen seen = {
        .obs = obs, .reward = -0.1, .seq = t, .time = NAN, .controller = &unsent};
    unsent = NAN; // no action
    assert_int_equal(rh_deploy_step(d, &seen, &r, NULL), RH_OK);
    assert_int_equal(r.source, RH_BY_NOBODY);
    assert_int_equal(rh_deploy_health_of(d).count[12], 4);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    d = made(with("td3", CONTINUOUS), "fallback: none\n", 0); // counted on
    assert_int_equal(rh_deploy_health_of(d).count[12], 4);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Where the controller does not say what it does, its failures are its own; what the agent
// learned from it is counted.
static void blend_beside_a_silent_controller(void **unused)
{
    (void)unused;
    rh_deploy *d =
        made(BEST_AGENT BEST_TASK
             "failures:\n  rule: {words: \"a trip\", known: true, ends: false, below: -6}\n"
             "  per: 1000\n  all: {rate: 5, interval: [2, 10], failures: 3, of: 1000}\n",
             "fallback: none\nblend: {away: 1}\n", 0);
    for (int t = 0; t < 300; t++) {
        rh_deploy_reply r = after(d, t, 0.0, t % 10 ? -1.0 : -7.0, 0);
        assert_int_equal(r.source, RH_BY_NOBODY);
        assert_int_equal(r.learned, t > 0);
    }
    rh_deploy_health h = rh_deploy_health_of(d);
    assert_int_equal(h.nlearned, 299);
    assert_int_equal(h.nfailure, 29); // of the plant
    assert_int_equal(h.alarms, 0);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// After a command, with a missing sensor, and in shadow: what the controller would do.
static void as_the_controller(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, "fallback: none\n", RH_MODE_KEPT);
    double obs[2] = {NAN, 0.5}, on = 1.0;
    rh_deploy_reply r;
    after(d, 0, -1.0, NAN, RH_COMMAND_FALLBACK);
    rh_deploy_seen seen = {.obs = obs, .reward = -1, .seq = 1, .time = NAN, .controller = &on};
    assert_int_equal(rh_deploy_step(d, &seen, &r, NULL), RH_OK);
    assert_int_equal(r.source, RH_BY_FALLBACK);
    assert_true(r.act[0] == 1.0);
    r = beside(d, 2, 0.0, NAN);
    assert_int_equal(r.source, RH_BY_FALLBACK);
    assert_true(r.act[0] == 0.0);
    assert_int_equal(after(d, 3, -1.0, -1.0, 0).source, RH_BY_NOBODY);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    forget();
    d = made(BEST_ALL, NULL, RH_MODE_SHADOW);
    for (int t = 0; t < 200; t++) {
        r = beside(d, t, t % 2, NAN);
        assert_int_equal(r.source, RH_BY_SHADOW);
        assert_int_equal(r.notes, 0);
        assert_int_equal(r.learned, t > 0);
    }
    r = beside(d, 200, 1.0, 0.0); // the plant knows better
    assert_true(r.learned);
    assert_int_equal(rh_deploy_health_of(d).nshadow, 200);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_log *log = NULL;
    assert_int_equal(rh_log_read(&log, log_path, NULL, NULL), RH_OK);
    assert_int_equal(log->nobs, 2); // "controller pump" is not a sensor
    assert_int_equal(log->n, 200);
    for (int64_t t = 0; t < 199; t++)
        assert_true(log->act[t] == (double)(t % 2));
    assert_true(log->act[199] == 0.0);
    rh_log_destroy(log);
    char line[300];
    FILE *file = fopen(log_path, "r");
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, ",truncated,controller pump,"));
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_non_null(strstr(line, ",off,-0.1,0,0,off,\n"));
}

// From the safe action the blend goes to the fallback's at once, however small its step.
static void blend_follows_the_fallback(void **unused)
{
    (void)unused;
    rh_deploy *d = made(with("td3", CONTINUOUS),
                        "safe_action: 0\ntrip: {level: [-1, 1]}\nfallback: 9\n"
                        "blend: {away: 0.1, step: 0.02, full: 1e9}\n",
                        0);
    double obs[2] = {5.0, 2.0};
    rh_deploy_reply r;
    for (int t = 0; t < 40; t += 4) {
        rh_deploy_seen seen = {.obs = obs, .reward = NAN, .seq = t, .time = NAN};
        assert_int_equal(rh_deploy_step(d, &seen, &r, NULL), RH_OK);
        assert_true(r.act[0] == 0.0);
        for (int i = 1; i < 4; i++) {
            r = after(d, t + i, -1.0, -0.1, 0);
            assert_true(r.act[0] > 7.999);
        }
    }
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void steps_up(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, "step_up: {steps: 100, agreement: 0.5, coverage: 0.9}\n",
                        RH_MODE_SHADOW);
    rh_deploy_reply r = after(d, 0, -1.0, NAN, 0);
    for (int t = 1; t <= 100; t++) { // nobody does what it says
        assert_int_equal(r.source, RH_BY_SHADOW);
        r = after(d, t, 1.0 - r.act[0], -0.1, 0);
    }
    assert_int_equal(r.source, RH_BY_SHADOW);
    int t = 101;
    for (; t < 400 && r.source == RH_BY_SHADOW; t++)
        r = after(d, t, r.act[0], -0.1, 0);
    assert_in_range(t, 195, 205); // half of them then agree
    assert_int_equal(r.source, RH_BY_ADVICE);
    for (int i = 0; i < 100; i++)
        r = after(d, t + i, r.act[0], -0.1, 0);
    assert_int_equal(r.source, RH_BY_AGENT);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// What the controller earns beside the promise of -40 in 80 steps, -44 to -36.
static void gain(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, NULL, RH_MODE_SHADOW);
    for (int t = 0; t < 1501; t++)
        after(d, t, t ? 0.0 : -1.0, -1.0, 0);
    rh_deploy_health h = rh_deploy_health_of(d);
    assert_true(fabs(h.controller + 80.0) < 1e-9);
    assert_true(fabs(h.gain - 40.0) < 1e-9);
    assert_true(fabs(h.gain_lo - 36.0) < 1e-9);
    assert_true(fabs(h.gain_hi - 44.0) < 1e-9);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// A kill: mode, counts and what was learned are those of the last save.
static void killed(void **unused)
{
    (void)unused;
    write_text(guard_path, "fallback: on\n");
    for (int mode = RH_MODE_SHADOW; mode <= RH_MODE_CONTROL; mode++) {
        rh_deploy_options opt = in_folder();
        char name[96];
        snprintf(name, sizeof name, "%s/%d", folder, mode);
        opt.folder = name;
        opt.guard = guard_path;
        opt.save_steps = 10;
        opt.mode = (rh_deploy_mode)mode;
        pid_t child = fork();
        if (child == 0) {
            rh_deploy *d = opened(&opt);
            for (int t = 0; t < 105; t++)
                after(d, t, t ? t % 2 : -1.0, -0.1, t == 50 ? RH_COMMAND_FALLBACK : 0);
            _exit(0);
        }
        assert_int_equal(waitpid(child, NULL, 0), child);
        opt.mode = RH_MODE_KEPT;
        rh_deploy *d = opened(&opt);
        rh_deploy_health h = rh_deploy_health_of(d);
        assert_int_equal(h.nstep, 101); // ten steps after the command was, and so on
        assert_int_equal(h.mode, mode);
        assert_true(h.fallen);
        assert_int_equal(h.mode_step, 50);
        assert_int_equal(h.nshadow, mode == RH_MODE_CONTROL ? 0 : 51);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        char path[128];
        snprintf(path, sizeof path, "%s/log.csv", name);
        FILE *file = fopen(path, "r");
        int n = 0;
        for (char line[300]; fgets(line, sizeof line, file);)
            n++;
        fclose(file);
        assert_int_equal(n, 1 + 104); // all rows whose outcome was seen
    }
}

// A command and an alarm are in the file after the step that brought them.
static void saved_at_once(void **unused)
{
    (void)unused;
    rh_deploy *d = made(BEST_ALL, "fallback: hold\n", RH_MODE_KEPT);
    rh_deploy_health h;
    for (int t = 0; t < 5; t++)
        after(d, t, -1.0, -1.0, 0);
    assert_int_equal(rh_deploy__health_read(&h, folder, NULL), RH_OK);
    assert_int_equal(h.nstep, 0); // nothing new
    after(d, 5, -1.0, -1.0, RH_COMMAND_FALLBACK);
    assert_int_equal(rh_deploy__health_read(&h, folder, NULL), RH_OK);
    assert_int_equal(h.nstep, 6);
    assert_true(h.fallen);
    after(d, 6, -1.0, -1.0, RH_COMMAND_SHADOW);
    assert_int_equal(rh_deploy__health_read(&h, folder, NULL), RH_OK);
    assert_int_equal(h.mode, RH_MODE_SHADOW);
    after(d, 6, -1.0, -1.0, RH_COMMAND_CONTROL); // in a repeated observation
    assert_int_equal(rh_deploy__health_read(&h, folder, NULL), RH_OK);
    assert_int_equal(h.mode, RH_MODE_CONTROL);
    after(d, 7, -1.0, -1.0, RH_COMMAND_AGENT);
    int t = 8;
    while (t < 100 && !(rh_deploy_health_of(d).alarms & RH_ALARM_PROMISE))
        after(d, t++, -1.0, -99.0, 0);
    assert_int_equal(rh_deploy__health_read(&h, folder, NULL), RH_OK);
    assert_int_equal(h.nstep, t);
    assert_true(h.alarms & RH_ALARM_PROMISE);
    assert_true(h.fallen);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *guard, *says;
    } wrong[] = {
        {"fallback: maybe\n", "fallback is maybe, expected hold, clone, none, exec:COMMAND or"},
        {"fallback: clone\n", "fallback: clone needs steps of the log"},
        {"fallback: \"exec:./pid\"\n", "fallback would start the program './pid'"},
        {"on_alarm: panic\n", "on_alarm is panic, expected fallback or continue"},
        {"blend: {away: 0.2}\n", "blend without a fallback"},
        {"fallback: on\nblend: {stop: 0.2}\n", "expected {step: SHARE, away: SHARE, full:"},
        {"fallback: on\nblend: {away: 2}\n", "away is 2, expected"},
        {"silence: -1\n", "silence is -1, expected seconds above 0"},
        {"answer: 0\n", "answer is 0, expected seconds above 0"},
        {"silence: often\n", "silence is often, expected seconds above 0"},
        {"safe_action: 2\n", "safe_action is 2, expected an action of best.yaml"},
        {"step_up: {agreement: 0.9}\n", "expected {steps: N, agreement"},
        {"step_up: {steps: 5, charm: 1}\n", "step_up is charm, expected"},
    };
    rh_deploy_options opt = rh_deploy_defaults();
    opt.guard = guard_path;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rh_deploy *d = NULL;
        rh_error err = {""};
        write_text(guard_path, wrong[i].guard);
        assert_int_not_equal(rh_deploy_open(&d, best_path, &opt, &err), RH_OK);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("'%s' is not in '%s'", wrong[i].says, err.text);
    }
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(learns_in_the_shadow),
        IN_A_FOLDER(log_has_the_truth),
        IN_A_FOLDER(advice),
        IN_A_FOLDER(changed_by_the_guard),
        IN_A_FOLDER(by_command),
        IN_A_FOLDER(by_old_command),
        IN_A_FOLDER(after_an_alarm),
        IN_A_FOLDER(back_in_spite_of_an_alarm),
        IN_A_FOLDER(silence),
        IN_A_FOLDER(by_a_program),
        IN_A_FOLDER(by_a_clone),
        IN_A_FOLDER(by_a_slow_program),
        IN_A_FOLDER(safe_beside_fallback),
        IN_A_FOLDER(no_message),
        IN_A_FOLDER(silence_again),
        IN_A_FOLDER(blend_waits),
        IN_A_FOLDER(blend_of_switches),
        IN_A_FOLDER(blend_of_numbers),
        IN_A_FOLDER(blend_of_the_controller),
        IN_A_FOLDER(blend_beside_a_silent_controller),
        IN_A_FOLDER(as_the_controller),
        IN_A_FOLDER(blend_follows_the_fallback),
        IN_A_FOLDER(steps_up),
        IN_A_FOLDER(gain),
        IN_A_FOLDER(killed),
        IN_A_FOLDER(saved_at_once),
        IN_A_FOLDER(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
