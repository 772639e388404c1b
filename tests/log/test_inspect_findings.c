// test_inspect_findings.c - every finding, in logs with the fault and without it.

#include "log/inspect_sample.h"

#include "log/inspect.h"

static rows r, seen;               // too large for the stack
static rh_log_report *last = NULL; // the report of `seen`

static int forget(void **unused)
{
    (void)unused;
    rh_log_report_destroy(last);
    last = NULL;
    return 0;
}

// Inspect the rows, unless they are unchanged.
static const rh_log_report *look_at_rows(void)
{
    if (last && memcmp(&r, &seen, sizeof r) == 0)
        return last;
    forget(NULL);
    memcpy(&seen, &r, sizeof r);
    rh_log *log = log_of_rows(&r);
    last = report_of(log);
    rh_log_destroy(log);

    // most severe first, and counted
    int count[3] = {0};
    for (int i = 0; i < last->findings.n; i++) {
        count[last->findings.item[i].severity]++;
        if (i > 0)
            assert_true(last->findings.item[i - 1].severity >= last->findings.item[i].severity);
    }
    assert_memory_equal(count, last->findings.count, sizeof count);
    return last;
}

// The finding called id; severity -1 if there is none.
static rh_finding look(const char *id)
{
    const rh_finding *found = find_id(look_at_rows(), id);
    rh_finding none = {.severity = (rh_severity)-1};
    if (!found)
        return none;
    assert_true(found->evidence[0]);
    assert_true(found->remedy[0]);
    assert_true(strlen(found->evidence) < sizeof found->evidence - 1);
    assert_true(strlen(found->remedy) < sizeof found->remedy - 1);
    return *found;
}

static void has(const char *id, rh_severity severity)
{
    rh_finding f = look(id);
    if (f.severity != severity)
        fail_msg("%s: severity %d, expected %d: %s", id, (int)f.severity, (int)severity,
                 f.evidence);
}

static void has_not(const char *id)
{
    rh_finding f = look(id);
    if (f.severity != (rh_severity)-1)
        fail_msg("%s: found where it is not: %s", id, f.evidence);
}

static void says(const char *id, const char *part)
{
    rh_finding f = look(id);
    if (!strstr(f.evidence, part) && !strstr(f.remedy, part))
        fail_msg("%s: '%s' is not in: %s; %s", id, part, f.evidence, f.remedy);
}

// The clean rows have no findings, so any finding below comes from the fault.
static void nothing_in_clean_rows(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        make_rows(&r, seed);
        rh_log *log = log_of_rows(&r);
        rh_log_report *report = report_of(log);
        for (int i = 0; i < report->findings.n; i++)
            print_error("%s: %s\n", rh_finding_name(report->findings.item[i].id),
                        report->findings.item[i].evidence);
        assert_int_equal(report->findings.n, 0);
        rh_log_report_destroy(report);
        rh_log_destroy(log);
    }
}

// ---------------------------------------------------------------------------- numbers

static void no_numbers(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    r.obs[100][1] = NAN;
    has("missing", RH_NOTICE);
    says("missing", "'level' 1 of 2040");
    says("missing", "first at step 48 of episode 1"); // as s' of that step
    for (int i = 200; i < 300; i++)
        r.obs[i][1] = NAN;
    has("missing", RH_WARNING);
    has_not("infinite-sensor");
    r.obs[7][2] = -INFINITY;
    has("infinite-sensor", RH_ERROR);
    says("infinite-sensor", "'flow'");
    for (int i = 0; i < r.n; i++)
        r.obs[i][1] = NAN;
    has("empty-sensor", RH_ERROR);

    make_rows(&r, 1);
    r.reward[10] = INFINITY;
    has("infinite-reward", RH_ERROR);
    assert_int_equal(look("infinite-reward").first, 10);
    has_not("infinite-action");
    r.shape.action = RH_ACTION_CONTINUOUS;
    for (int i = 0; i < r.n; i++)
        r.act[i] *= 0.37;
    r.act[20] = INFINITY;
    has("infinite-action", RH_ERROR);
}

static void absurd_numbers(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    for (int i = 0; i < 10; i++)
        r.obs[100 + 7 * i][1] = -9999.0;
    has("sentinel", RH_ERROR);
    says("sentinel", "--missing=-9999");
    says("sentinel", "10 times");
    has_not("outliers");
    has_not("jumps"); // a spike is no end of an episode

    // any distant number that repeats three times; a common sentinel even once
    for (int i = 0; i < 10; i++)
        r.obs[100 + 7 * i][1] = 87.25;
    has("sentinel", RH_ERROR);
    says("sentinel", "--sentinels keep");
    // a plant that stays there is in doubt, and so is 0
    for (int i = 0; i < 70; i++)
        r.obs[100 + i][1] = 87.25;
    has("sentinel", RH_WARNING);
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        r.obs[i][1] = i % 100 == 7 ? 0.0 : 50.0 + r.obs[i][1];
    has("sentinel", RH_WARNING);
    make_rows(&r, 1);
    r.obs[100][1] = r.obs[200][1] = 87.25;
    has_not("sentinel");
    has("outliers", RH_WARNING);
    says("outliers", "'level' 2 values such as 87.25");
    make_rows(&r, 1);
    r.obs[100][1] = -999.0;
    has("sentinel", RH_WARNING);

    // in actions and rewards too; the fixed cost of a trip is no sentinel
    make_rows(&r, 1);
    r.reward[100] = r.reward[200] = -9999.0;
    has("sentinel-reward", RH_WARNING);
    says("sentinel-reward", "'reward' is -9999 2 times");
    assert_int_equal(look("sentinel-reward").first, 99); // row 50 has no step
    has_not("few-failures");
    r.reward[100] = r.reward[200] = r.reward[300] = -500.0;
    has_not("sentinel-reward");
    has("few-failures", RH_WARNING);
    make_rows(&r, 1);
    r.shape.action = RH_ACTION_CONTINUOUS;
    for (int i = 0; i < r.n; i++)
        r.act[i] = isnan(r.act[i]) ? NAN : i % 100 == 7 ? -9999.0 : r.act[i] + 0.01 * (i % 7);
    has("sentinel-action", RH_WARNING);
    has_not("sentinel-reward");

    // a third of sentinels does not become the scale
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i += 3)
        r.obs[i][2] = 1e20;
    has("sentinel", RH_ERROR);
    says("sentinel", "--missing=1e+20");
}

// Numbers on two scales.
static void scales(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("lost-decimals");
    for (int i = 0; i < r.n; i++)
        r.obs[i][1] = rint(100.0 * (9.0 + 0.5 * r.obs[i][1])) / 100.0;
    has_not("lost-decimals");
    for (int i = 0; i < r.n; i += 9)
        r.obs[i][1] = rint(100.0 * r.obs[i][1]);
    has("lost-decimals", RH_ERROR);
    says("lost-decimals", "'level' 22");
    assert_int_equal(look("lost-decimals").dim, 1);
    has_not("wraps");
    has_not("outliers");
    // large values with decimals were measured
    for (int i = 0; i < r.n; i += 9)
        r.obs[i][1] += 0.25;
    has_not("lost-decimals");

    // another unit from the middle on; not if it comes and goes
    make_rows(&r, 1);
    has_not("unit-change");
    for (int i = r.n / 2; i < r.n; i++)
        r.obs[i][1] = 1.8 * r.obs[i][1] + 32.0;
    has("unit-change", RH_WARNING);
    assert_int_equal(look("unit-change").first, STEPS * (r.n / 2 / (STEPS + 1)));
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        r.obs[i][1] += i / 40 % 2 ? 32.0 : 0.0;
    has_not("unit-change");
}

// A sensor that shows the action of its own row.
static void same_row(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("same-row-effect");
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = isnan(r.act[i]) ? r.obs[i - 1][2] : 3.0 * r.act[i] + 0.1 * r.obs[i][2];
    has("same-row-effect", RH_WARNING);
    says("same-row-effect", "'flow'");
    says("same-row-effect", "--obs");
    has_not("row-shift");
    // the action before is part of a state
    make_rows(&r, 1);
    for (int i = 1; i < r.n; i++)
        r.obs[i][2] = isnan(r.act[i - 1]) ? 0.0 : r.act[i - 1];
    has_not("same-row-effect");
}

static void standing_still(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    for (int i = 110; i < 150; i++)
        r.obs[i][0] = r.obs[110][0];
    has("frozen-sensor", RH_WARNING);
    says("frozen-sensor", "39 steps from step 8 of episode 2");
    has_not("constant-sensor");
    // if everything else rests too, the plant is at rest
    for (int i = 110; i < 150; i++)
        memcpy(r.obs[i], r.obs[110], sizeof r.obs[i]);
    has_not("frozen-sensor");
    // a stuck sensor ignores the ends of episodes
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        if (i % (STEPS + 1) % 10 == 0)
            r.begins[i] = true;
    for (int i = 110; i < 200; i++)
        r.obs[i][0] = r.obs[110][0];
    has("frozen-sensor", RH_WARNING);
    // a value set once for several episodes is not stuck
    for (int i = 0; i < r.n; i++)
        r.obs[i][0] = i / 70 * 0.37;
    has_not("frozen-sensor");
    // half as long may be rest
    make_rows(&r, 1);
    for (int i = 110; i < 130; i++)
        r.obs[i][0] = r.obs[110][0];
    has_not("frozen-sensor");
    // a column of few values rests by nature
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = i / 40 % 7;
    has_not("frozen-sensor");

    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = 4.5;
    has("constant-sensor", RH_WARNING);
    says("constant-sensor", "'flow' is always 4.5");
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = 4.5 + 8.9e-16 * (i % 3); // but for its last bits
    has("constant-sensor", RH_WARNING);
    has_not("wraps");
    has_not("twin-sensors");
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = 32.0 - 1.8 * r.obs[i][0];
    has("twin-sensors", RH_NOTICE);
    says("twin-sensors", "'flow' is a linear function of 'temp'");
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] += 0.02 * sin(i * i);
    has_not("twin-sensors");
}

static void angles(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = fmod(0.3 * i + 0.1 * sin(i), 6.283) - 3.1415;
    has("wraps", RH_NOTICE);
    has_not("jumps"); // an ordinary step the short way round
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = sin(0.3 * i);
    has_not("wraps");
    // whole degrees, and a switch
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = (17 * i + i % 5) % 360;
    has("wraps", RH_NOTICE);
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = i / 7 % 2;
    has_not("wraps");
}

static void clocks(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("clock-sensor");
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = 0.1 * i;
    has("clock-sensor", RH_WARNING);
    says("clock-sensor", "'flow' grows by 0.1");
    for (int i = 0; i < r.n; i++)
        r.obs[i][2] = -(i % (STEPS + 1)); // of each episode
    has("clock-sensor", RH_WARNING);
    says("clock-sensor", "'flow' falls by 1");
    r.obs[700][2] += 0.5;
    has_not("clock-sensor");
}

// --------------------------------------------------------------------------- rows that slipped

static void slipped_rows(void **unused)
{
    (void)unused;
    for (int late = -1; late <= 1; late += 2) {
        make_rows(&r, 1);
        static double act[ROWS], reward[ROWS];
        memcpy(act, r.act, sizeof act);
        for (int i = 1; i + 1 < r.n; i++)
            r.act[i] = isnan(act[i]) ? NAN : isnan(act[i - late]) ? 1.0 : act[i - late];
        has("row-shift", late > 0 ? RH_ERROR : RH_WARNING);
        assert_int_equal(look("row-shift").count, late);
        says("row-shift", late > 0 ? "next row" : "previous row");

        make_rows(&r, 1);
        memcpy(reward, r.reward, sizeof reward);
        for (int i = 1; i + 1 < r.n; i++)
            r.reward[i] = reward[i - late];
        has("reward-shift", RH_WARNING);
        says("reward-shift", late > 0 ? "--reward-of state" : "early");
        has_not("row-shift");
    }
}

// Rows of the two halves of a log in turn, which differ by `apart` in the first sensor.
static void make_alternating(double apart)
{
    static rows other;
    make_rows(&r, 1);
    make_rows(&other, 2);
    for (int i = 0; i < r.n; i++) {
        int at = i / 2 + (i % 2 ? r.n / 2 : 0);
        memcpy(r.obs[i], other.obs[at], sizeof r.obs[i]);
        r.obs[i][0] += i % 2 ? apart : 0.0;
        r.act[i] = isnan(other.act[at]) ? 1.0 : other.act[at];
        r.reward[i] = other.reward[at];
        r.begins[i] = i == 0;
        r.terminal[i] = r.truncated[i] = false;
    }
}

static void two_devices(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("alternating-rows");
    make_alternating(3.0);
    has("alternating-rows", RH_WARNING);
    says("alternating-rows", "sort the file by device");

    // sorted by device: nothing to say
    make_alternating(3.0);
    static double obs[ROWS][ROW_OBS];
    memcpy(obs, r.obs, sizeof obs);
    for (int i = 0; i < r.n; i++)
        memcpy(r.obs[i], obs[i < r.n / 2 ? 2 * i : 2 * (i - r.n / 2) + 1], sizeof r.obs[i]);
    has_not("alternating-rows");

    // noise alone: no row resembles another
    make_rows(&r, 3);
    rh_rng rng = rh_rng_stream(7, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < r.n; i++)
        for (int j = 0; j < ROW_OBS; j++)
            r.obs[i][j] = rh_rng_uniform(&rng);
    has_not("alternating-rows");
}

// The cost of a trip belongs to the step that ends the episode.
static void rewards_beside_ends(void **unused)
{
    (void)unused;
    for (int at = -2; at <= 1; at++) { // rows from the last observation
        make_rows(&r, 1);
        for (int i = 0; i < r.n; i++)
            r.reward[i] = -1.0;
        for (int i = 0; i + 1 < r.n; i++)
            if (r.terminal[i] && at != 0)
                r.reward[i + at] = -50.0;
        if (at == -1 || at == 0) {
            has_not("reward-shift");
            continue;
        }
        has("reward-shift", RH_WARNING);
        says("reward-shift", at > 0 ? "--reward-of state" : "early");
    }
}

static void next_observations(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    r.given = true;
    for (int i = 0; i + 2 < r.n; i++)
        memcpy(r.next[i], r.obs[i + 1], sizeof r.next[i]);
    has_not("next-mismatch");
    r.next[30][0] += 0.1;
    has("next-mismatch", RH_NOTICE);
    for (int i = 0; i < r.n; i += 5)
        r.next[i][0] += 0.1;
    has("next-mismatch", RH_WARNING);
    has_not("next-shift");
    for (int shift = 0; shift <= 2; shift += 2) {
        for (int i = 0; i + 2 < r.n; i++)
            memcpy(r.next[i], r.obs[i + shift], sizeof r.next[i]);
        has("next-shift", RH_ERROR);
        says("next-shift", shift ? "the row after next" : "the same row");
    }
}

// ---------------------------------------------------------------------------- episodes

static void ends(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("no-terminal");
    has_not("single-episode");
    for (int i = 0; i < r.n; i++) {
        r.truncated[i] = r.truncated[i] || r.terminal[i];
        r.terminal[i] = false;
    }
    has("no-terminal", RH_NOTICE);
    has_not("irregular-cuts"); // all of one length
    has_not("terminal-limit");
    for (int i = 0; i < r.n; i++) {
        r.terminal[i] = r.truncated[i];
        r.truncated[i] = false;
    }
    has("terminal-limit", RH_WARNING);
    says("terminal-limit", "exactly 50 steps");
    r.terminal[20] = true;
    has_not("terminal-limit");
    r.terminal[20] = false;
    for (int i = 0; i < r.n; i++) {
        r.truncated[i] = r.terminal[i];
        r.terminal[i] = false;
    }
    has_not("few-starts"); // a continuing task needs none

    // truncated at irregular lengths, widely and slightly
    for (int i = 0; i < r.n; i++) {
        r.truncated[i] = r.begins[i] = false;
        r.act[i] = isnan(r.act[i]) ? 0.0 : r.act[i];
    }
    for (int i = 0, k = 0; i < r.n; i += 20 + 37 * k % 50, k++)
        r.begins[i] = true;
    has("irregular-cuts", RH_WARNING);
    for (int i = 0; i < r.n; i++)
        r.begins[i] = false;
    for (int i = 0, k = 0; i < r.n; i += 50 + 3 * (k % 2), k++)
        r.begins[i] = true;
    has("irregular-cuts", RH_NOTICE);

    for (int i = 0; i < r.n; i++)
        r.begins[i] = i == 0;
    has("single-episode", RH_NOTICE);

    // unmarked starts of episodes, in a plant that moves slowly
    for (int i = 0; i < r.n; i++)
        for (int j = 0; j < ROW_OBS; j++)
            r.obs[i][j] = r.obs[i - i % (STEPS + 1)][j] + 0.02 * sin(i + j);
    has("jumps", RH_WARNING);
    assert_true(look("jumps").count >= 20);
    assert_int_equal(look("jumps").first % (STEPS + 1), STEPS);

    // a plant that is reset after a failure shows it in its rewards
    for (int i = 0; i < r.n; i++)
        r.reward[i] = i % (STEPS + 1) == STEPS ? -1.0 : 0.0;
    has("jumps", RH_NOTICE);
    for (int i = 0; i < r.n; i++)
        r.reward[i] = i % (STEPS + 1) == STEPS - 1 ? -1.0 : 0.0;
    has("jumps", RH_WARNING);

    make_rows(&r, 1);
    has_not("terminal-everywhere");
    has_not("jumps");
    for (int i = 0; i < r.n; i++)
        r.terminal[i] = true;
    has("terminal-everywhere", RH_ERROR);
}

static void starts(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("few-starts");
    has_not("same-start");
    r.n = 6 * (STEPS + 1);
    has("few-starts", RH_WARNING);
    has("few-terminals", RH_WARNING);
    make_rows(&r, 1);
    has_not("few-terminals");
    for (int i = 0; i < r.n; i++)
        if (r.begins[i])
            memset(r.obs[i], 0, sizeof r.obs[i]);
    has("same-start", RH_NOTICE);
    has_not("few-starts");
}

static void failures(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        r.reward[i] = i % 3 == 0;
    has_not("few-failures");
    r.reward[77] = r.reward[300] = -100.0;
    has("few-failures", RH_WARNING);
    says("few-failures", "-100, occur only 2 times");
    r.reward[77] = r.reward[300] = -1.0; // one of three numbers, and not far
    says("few-failures", "-1, occurs only 2 times");
    // a rare bonus does not turn the lowest of many rewards into a failure
    make_rows(&r, 1);
    r.reward[77] = r.reward[300] = 1000.0;
    has_not("few-failures");
    // those far off are counted together
    make_rows(&r, 1);
    for (int i = 0; i < 12; i++)
        r.reward[100 + 55 * i] = -200.0 - i;
    has_not("few-failures");
    for (int i = 0; i < 8; i++)
        r.reward[100 + 55 * i] = -1.0;
    has("few-failures", RH_WARNING);
    says("few-failures", "-211, occur only 4 times");
    for (int i = 0; i < r.n; i++)
        r.reward[i] = 0.0;
    has("reward-constant", RH_ERROR);
    for (int i = 0; i < r.n; i++)
        r.reward[i] = -1.0;
    has_not("reward-constant"); // the length of an episode counts
    for (int i = 0; i < r.n; i++)
        r.terminal[i] = false;
    has("reward-constant", RH_ERROR);
}

// ---------------------------------------------------------------------------- actions

static void rare_actions(void **unused)
{
    (void)unused;
    static const char *const label[] = {"off", "low", "high", "boost"};
    make_rows(&r, 1);
    has_not("action-never");
    has_not("action-rare");
    r.shape.label = label;
    r.shape.nlabel = 4;
    r.shape.declared = true;
    has("action-never", RH_WARNING);
    says("action-never", "'boost'");
    r.act[40] = r.act[80] = 3.0;
    has("action-rare", RH_WARNING);
    says("action-rare", "'boost' 2 times");
    has_not("action-never");

    // enough times, but a small share
    make_rows(&r, 1);
    for (int i = 0, k = 0; i < r.n; i++)
        if (r.act[i] == 2.0 && k++ >= 9)
            r.act[i] = 1.0;
    has("action-rare", RH_WARNING);

    make_rows(&r, 1);
    has_not("action-one");
    for (int i = 0; i < r.n; i++)
        r.act[i] = isnan(r.act[i]) ? NAN : 1.0;
    has("action-one", RH_ERROR);
    r.shape.action = RH_ACTION_CONTINUOUS;
    has("action-one", RH_ERROR);
    r.act[3] = 1.5;
    has_not("action-one");

    make_rows(&r, 1);
    has_not("action-hole");
    for (int i = 0; i < r.n; i++)
        r.act[i] = r.act[i] == 1.0 ? 2.0 : r.act[i];
    has("action-hole", RH_NOTICE);
    for (int i = 0; i < r.n; i++)
        r.act[i] *= 50.0; // off and full power
    has_not("action-hole");
}

static void kinds_of_actions(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("action-amounts");
    for (int i = 0; i < r.n; i++)
        r.act[i] += 3.0 * (i % 5);
    has("action-amounts", RH_NOTICE);
    has_not("action-names");

    make_rows(&r, 1);
    r.shape.action = RH_ACTION_CONTINUOUS;
    has("action-names", RH_NOTICE);
    for (int i = 0; i < r.n; i++)
        r.act[i] += 0.01 * (i % 50);
    has_not("action-names");
    has_not("action-held");
    for (int i = 0; i < r.n; i++)
        r.act[i] = isnan(r.act[i]) ? NAN : sin(i / 8 * 2.5);
    has("action-held", RH_NOTICE);
    says("action-held", "every 8 rows");
    // consecutive decisions may be equal
    for (int i = 0; i < r.n; i++)
        r.act[i] = isnan(r.act[i]) ? NAN : (double)(i / 4 * (i / 4) % 7 % 3);
    says("action-held", "every 4 rows");
    // a controller that rarely changes its action, but decides in every row
    for (int i = 0, k = 0; i < r.n; i++) {
        k += i % 13 == 0 || i % 17 == 0;
        r.act[i] = isnan(r.act[i]) ? NAN : (double)(k % 3);
    }
    has_not("action-held");
}

static void uncovered_actions(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("action-uncovered");
    // high only where the level is highest
    for (int i = 0; i < r.n; i++) {
        r.obs[i][1] = i * 0.01;
        r.obs[i][0] = sin(0.001 * i);
        r.obs[i][2] = cos(0.001 * i);
        if (!isnan(r.act[i]))
            r.act[i] = i > r.n - 200 ? 2.0 : (double)(i % 2);
    }
    has("action-uncovered", RH_NOTICE);
    says("action-uncovered", "'2'");
}

// ---------------------------------------------------------------------------- rows and time

static void lost_rows(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("lost-steps");
    for (int i = 0; i < r.n; i++)
        r.act[i] = isnan(r.act[i]) && r.truncated[i] ? 0.0 : r.act[i];
    has("lost-steps", RH_NOTICE);
    for (int i = 0; i < r.n; i += 9)
        r.reward[i] = NAN;
    has("lost-steps", RH_WARNING);
}

static void repeated_rows(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("duplicates");
    has_not("short-log");
    int half = 20 * (STEPS + 1);
    for (int share = 1; share <= 2; share++) { // of 40 episodes: 1 and then 20
        int n = share == 1 ? STEPS + 1 : half;
        for (int i = 0; i < n; i++) {
            memcpy(r.obs[half + i], r.obs[i], sizeof r.obs[i]);
            r.act[half + i] = r.act[i];
            r.reward[half + i] = r.reward[i];
        }
        has("duplicates", share == 1 ? RH_NOTICE : RH_ERROR);
    }
    assert_int_equal(look("duplicates").count, 20 * STEPS);
    // where there are few states they must repeat
    for (int i = 0; i < r.n; i++)
        for (int j = 0; j < ROW_OBS; j++)
            r.obs[i][j] = rint(2.0 * r.obs[i][j]);
    has_not("duplicates");

    // 25 rows in the middle of an episode: the state after them differs, so they are a copy
    make_rows(&r, 1);
    for (int i = 0; i < 25; i++) {
        memcpy(r.obs[520 + i], r.obs[60 + i], sizeof r.obs[i]);
        r.act[520 + i] = r.act[60 + i];
        r.reward[520 + i] = r.reward[60 + i];
    }
    has("duplicates", RH_ERROR);
    assert_int_equal(look("duplicates").count, 25);
    assert_int_equal(look("duplicates").first, 510); // 10 rows before it have no step
    // at rest, they prove nothing
    for (int i = 0; i < 25; i++)
        for (int k = 60; k <= 520; k += 460) {
            memcpy(r.obs[k + i], r.obs[60], sizeof r.obs[i]);
            r.act[k + i] = 1.0;
            r.reward[k + i] = -1.0;
        }
    has_not("duplicates");

    // every row twice
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        if (i % (STEPS + 1) % 2 == 1 && !isnan(r.act[i])) {
            memcpy(r.obs[i], r.obs[i - 1], sizeof r.obs[i]);
            r.act[i] = r.act[i - 1];
            r.reward[i] = r.reward[i - 1];
        }
    has("repeated-rows", RH_ERROR);

    // a plant that returns to a state and continues as before
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        if (i % (STEPS + 1) >= 30) {
            memcpy(r.obs[i], r.obs[i % (STEPS + 1)], sizeof r.obs[i]);
            r.act[i] = isnan(r.act[i]) ? NAN : 1.0;
            r.reward[i] = -1.0;
        }
    has("duplicates", RH_NOTICE);
    says("duplicates", "lead to one of these 39 times");

    // rows written twice
    make_rows(&r, 1);
    has_not("repeated-rows");
    for (int share = 10; share <= 50; share += 40) { // one in 30, and then more than one in 10
        for (int i = 1; i < r.n; i += 300 / share)
            if (i % (STEPS + 1) != 0 && !isnan(r.act[i])) {
                memcpy(r.obs[i], r.obs[i - 1], sizeof r.obs[i]);
                r.act[i] = r.act[i - 1];
                r.reward[i] = r.reward[i - 1];
            }
        has("repeated-rows", share == 10 ? RH_NOTICE : RH_WARNING);
        assert_int_equal(look("repeated-rows").first, 1);
    }

    make_rows(&r, 1);
    r.n = 2 * (STEPS + 1);
    has("short-log", RH_NOTICE);
    says("short-log", "log 180 steps or more");
}

static void times(void **unused)
{
    (void)unused;
    make_rows(&r, 1);
    has_not("irregular-time");
    has_not("time-repeats");
    has_not("time-reverse");
    for (int i = 25; i < r.n; i++)
        r.time[i] += 600.0;
    has("irregular-time", RH_NOTICE);
    says("irregular-time", "the longest takes 660, at step 24 of episode 0");
    says("irregular-time", "--max-gap 90");
    for (int i = 0; i < r.n; i++)
        r.time[i] = 60.0 * i + 40.0 * (i % 3 == 0);
    has("irregular-time", RH_WARNING);
    make_rows(&r, 1);
    r.time[121] = r.time[120];
    has("time-repeats", RH_WARNING);
    says("time-repeats", "first step 19 of episode 2");
    r.time[61] = 1.0;
    has("time-reverse", RH_ERROR);
    says("time-reverse", "first to step 10 of episode 1");
    // the usual interval is above 0, even if every row occurs twice
    make_rows(&r, 1);
    for (int i = 0; i < r.n; i++)
        r.time[i] = 60.0 * (i / 2);
    has("time-repeats", RH_WARNING);
    has_not("irregular-time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_clean_rows),
        cmocka_unit_test(no_numbers),
        cmocka_unit_test(absurd_numbers),
        cmocka_unit_test(scales),
        cmocka_unit_test(same_row),
        cmocka_unit_test(standing_still),
        cmocka_unit_test(angles),
        cmocka_unit_test(clocks),
        cmocka_unit_test(slipped_rows),
        cmocka_unit_test(two_devices),
        cmocka_unit_test(rewards_beside_ends),
        cmocka_unit_test(next_observations),
        cmocka_unit_test(ends),
        cmocka_unit_test(starts),
        cmocka_unit_test(failures),
        cmocka_unit_test(rare_actions),
        cmocka_unit_test(kinds_of_actions),
        cmocka_unit_test(uncovered_actions),
        cmocka_unit_test(lost_rows),
        cmocka_unit_test(repeated_rows),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
