// test_monitor.c - the promise kept, broken and kept again, with deficits computed by hand.
//
// The sample promises 80 steps in segments of 20: -12, -10, -9, -9, with spread 2, 2, 1, 1 over
// 99 runs; the interval's lower end is 4 below the score, 1 for each segment; alarm above 4.5.
// Deficits keep 0.6 of themselves, and one point counts for at most 6.

#include "deploy/deploy_sample.h"

static rh_best *best;
static rh_monitor m;
static rh_deploy_health h;

static int begin(void **state)
{
    if (enter(state))
        return -1;
    assert_int_equal(rh_best_read(&best, best_path, NULL), RH_OK);
    m = (rh_monitor){0};
    h = (rh_deploy_health){.earned = NAN, .alarm_step = -1, .outside_sensor = -1};
    return 0;
}

static int end(void **state)
{
    rh_best_destroy(best);
    return leave(state);
}

// A segment whose rewards have this sum.
static void segment(double sum)
{
    for (int i = 0; i < 20; i++) {
        h.nstep++;
        rh_monitor__reward(&m, &h, best, sum / 20.0, false);
    }
}

static void near(double x, double expected)
{
    if (!(fabs(x - expected) <= 1e-9))
        fail_msg("%.17g, expected %.17g", x, expected);
}

static void deficits(void **unused)
{
    (void)unused;
    double scale = sqrt(1.0 + 1.0 / 99.0);
    segment(-13.0); // the lower end is kept
    near(m.deficit, 0.0);
    segment(-14.0); // 3 below -11, spread 2
    near(m.deficit, 1.5 / scale - 0.5);
    segment(-13.0); // 3 below -10, spread 1
    near(m.deficit, 0.6 * (1.5 / scale - 0.5) + 3.0 / scale - 0.5);
    assert_int_equal(h.alarms, 0);
    assert_true(h.evidence[0] > 1.0);
    assert_true(h.evidence[0] < 20.0);
    segment(-99.0); // one point counts for at most 6
    double d = 0.6 * (0.6 * (1.5 / scale - 0.5) + 3.0 / scale - 0.5) + 5.5;
    assert_int_equal(h.alarms, RH_ALARM_PROMISE);
    assert_int_equal(h.alarm_step, 80);
    assert_int_equal(h.since[0], 80);
    near(m.deficit, d); // not forgotten at the end of the run length
    near(h.sure[0], 20.0 * exp(log(100.0) / 4.5 * (d - 4.5)));
    segment(-3.0);
    segment(-99.0);
    near(h.level, 4.5 * log(120.0) / log(100.0)); // the second run length may have less
    for (int i = 0; i < 20; i++)
        segment(-99.0);
    assert_true(m.deficit <= 2.0 * h.level + 1.0); // grows no further
    segment(-3.0);
    assert_int_equal(h.alarms, RH_ALARM_PROMISE);
    segment(-3.0);
    segment(-3.0);
    assert_int_equal(h.alarms, 0); // kept again
    assert_int_equal(h.since[0], -1);
    near(h.earned, h.total / (double)h.njudged * 80.0);
}

// After a run length, or for a trained agent, the end of the curve is promised.
static void trained(void **unused)
{
    (void)unused;
    static const double curve[] = {-12.0, -10.0, -9.0, -9.0};
    for (int i = 0; i < 4; i++)
        segment(curve[i] - 1.0);
    near(m.deficit, 0.0);
    segment(-12.0); // as at the beginning: 2 below -10, spread 1
    near(m.deficit, 2.0 / sqrt(1.0 + 1.0 / 99.0) - 0.5);
    m = (rh_monitor){.trained = 1.0};
    segment(-12.0);
    near(m.deficit, 2.0 / sqrt(1.0 + 1.0 / 99.0) - 0.5);
}

// Episodes: mean return of those that ended; one that does not end counts when it is too bad.
static void episodes(void **unused)
{
    (void)unused;
    double scale = sqrt(1.0 + 1.0 / 99.0);
    best->task.continuing = false;
    best->promise.per_steps = 0; // the lower end is 4 below, for every episode
    for (int i = 0; i < 20; i++)
        rh_monitor__reward(&m, &h, best, -4.25, i % 5 == 4); // 4 episodes of -21.25
    near(m.deficit, 5.25 / 2.0 / scale - 0.5);
    near(h.earned, -21.25);
    segment(-14.0); // no episode ends; -14 so far is not below -14
    near(m.deficit, 5.25 / 2.0 / scale - 0.5);
    segment(-14.0); // -28 so far is
    near(m.deficit, 0.6 * (5.25 / 2.0 / scale - 0.5) + 5.5);

    // an episode with an operator in it has no return
    rh_monitor__spoil(&m, false);
    rh_monitor__reward(&m, &h, best, -1.0, true);
    near(h.earned, -21.25);
    near(m.back, 0.0);
}

static void range(void **unused)
{
    (void)unused;
    double inside[2] = {9.7, 99.0}, outside[2] = {9.9, 0.0}; // seen 1 to 9, with a tenth more
    for (int i = 0; i < 100; i++)
        assert_false(rh_monitor__obs(&m, &h, best, inside));
    int n = 0;
    while (!h.alarms && n < 100) {
        assert_true(rh_monitor__obs(&m, &h, best, outside));
        n++;
    }
    assert_in_range(n, 2, 8); // blocks are single observations in a run of 80 steps
    assert_int_equal(h.alarms, RH_ALARM_RANGE);
    near(h.outside, 1.0 - pow(0.99, n));
    for (int i = 0; i < 400 && h.alarms; i++)
        rh_monitor__obs(&m, &h, best, inside);
    assert_int_equal(h.alarms, 0);
}

static void without_a_promise(void **unused)
{
    (void)unused;
    best->promise.ncurve = 0;
    for (int i = 0; i < 100; i++)
        segment(-1e9);
    assert_int_equal(h.alarms, 0);
}

// A file that promises more false alarms than half counts as one of half: the level stays
// finite.
static void many_false_alarms(void **unused)
{
    (void)unused;
    rh_promise promise = best->promise;
    double evidence[2], level[2];
    for (int i = 0; i < 2; i++) {
        promise.false_alarms = i ? 1.0 : 0.5;
        level[i] = rh_monitor__level(&m, &promise, &evidence[i]);
    }
    assert_true(isfinite(level[0]) && level[0] > 0.0);
    assert_true(level[1] == level[0] && evidence[1] == evidence[0]);
}

int main(void)
{
#define WITH_BEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_BEST(many_false_alarms), WITH_BEST(deficits), WITH_BEST(trained),
        WITH_BEST(episodes),          WITH_BEST(range),    WITH_BEST(without_a_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
