// test_sensors.c - sensors that wrap, form circles, stop at walls, are noise or exogenous; and
// sensors that look so and are not.

#include "facts_sample.h"

static void zero(double *s, rh_rng *rng)
{
    (void)rng;
    memset(s, 0, 8 * sizeof *s);
}

static double wrap(double x, double lo, double period)
{
    return x - period * floor((x - lo) / period);
}

// ---------------------------------------------------------------------------- wraps

// 0: degrees that the action turns; 1: the same in radians around 0; 2: hours, every 5 minutes;
// 3: whole hours; 4: wind in degrees, all noise; 5: the time of the day from 0 to 1
static int turns(double *s, double act, int i, rh_rng *rng)
{
    double by = 10.0 * (act - 1.0) + 2.0 * even(rng);
    s[0] = wrap(s[0] + by, 0.0, 360.0);
    s[1] = wrap(s[1] + by * M_PI / 180.0, -M_PI, 2.0 * M_PI);
    s[2] = (double)((i + 1) % 288) / 12.0;
    s[3] = floor(s[2]);
    s[4] = wrap(s[4] + 60.0 * even(rng), 0.0, 360.0);
    s[5] = (double)((i + 1) % 1440) / 1440.0;
    return 0;
}

static void sensors_that_wrap(void **unused)
{
    (void)unused;
    static const double period[] = {360.0, 2.0 * M_PI, 24.0, 24.0, 360.0, 1.0};
    static const double base[] = {0.0, -M_PI, 0.0, 0.0, 0.0, 0.0};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        rh_facts *f = facts_of_plant(&(plant){6, 3, zero, turns, NULL, NULL}, 6000, seed);
        for (int k = 0; k < 6; k++) {
            if (!(f->sensor[k].period == period[k]) || !(f->sensor[k].base == base[k]))
                fail_msg("sensor %d: period %g from %g, expected %g", k, f->sensor[k].period,
                         f->sensor[k].base, period[k]);
            assert_true(isnan(f->sensor[k].wall_lo));
            assert_true(isnan(f->sensor[k].wall_hi));
        }
        assert_int_equal(f->nreset, 0);
        rh_facts__destroy(f);
    }
}

// 0: a tank that is emptied when it is full; 1: a timer that starts again at random; 2: a
// switch; 3: a noisy switch; 4: noise; 5: a random walk between walls; 6: a tank that
// overflows; 7: a sensor of 20 values
static int does_not_turn(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] = s[0] >= 100.0 ? 0.0 : s[0] + 3.0 + even(rng);
    s[1] = rh_rng_below(rng, 50) == 0 ? 0.0 : s[1] + 1.0;
    s[2] = rh_rng_below(rng, 20) == 0 ? 1.0 - s[2] : s[2];
    s[3] = s[2] + 0.05 * bell(rng);
    s[4] = even(rng);
    s[5] = fmin(fmax(s[5] + 0.1 * even(rng), -1.0), 1.0);
    s[6] = fmin(s[6] + 0.05 * (act - 0.9) + 0.01 * even(rng), 1.0);
    s[7] = fmin(fmax(s[7] + (double)rh_rng_below(rng, 3) - 1.0, 0.0), 19.0);
    return 0;
}

static void sensors_that_do_not_wrap(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        rh_facts *f =
            facts_of_plant(&(plant){8, 3, zero, does_not_turn, NULL, NULL}, 6000, seed);
        for (int k = 0; k < 8; k++)
            if (!isnan(f->sensor[k].period))
                fail_msg("sensor %d wraps: %g", k, f->sensor[k].period);
        assert_int_equal(f->nreset, 0);

        // walls of the walk and the tank; none of the switches, the noise and the whole numbers
        static const double lo[] = {NAN, NAN, NAN, NAN, NAN, -1.0, NAN, NAN};
        static const double hi[] = {NAN, NAN, NAN, NAN, NAN, 1.0, 1.0, NAN};
        for (int k = 2; k < 8; k++) {
            double low = f->sensor[k].wall_lo, high = f->sensor[k].wall_hi;
            if ((low == lo[k]) != !isnan(lo[k]) || isnan(low) != isnan(lo[k]) ||
                (high == hi[k]) != !isnan(hi[k]) || isnan(high) != isnan(hi[k]))
                fail_msg("sensor %d: walls %g and %g", k, low, high);
        }
        for (int k = 0; k < 8; k++)
            if (f->sensor[k].noise != (k == 4))
                fail_msg("sensor %d: noise %d", k, f->sensor[k].noise);
        rh_facts__destroy(f);
    }
}

// ---------------------------------------------------------------------------- circles

// 0, 1: cos and sin of an angle; 2, 3: three times those of another, rounded; 4: 1 minus the
// square of 5, which is no circle; 6: constant
static void angles(double *s, rh_rng *rng)
{
    zero(s, rng);
    s[0] = 1.0;
    s[2] = 3.0;
    s[6] = 1.0;
}

static int round_trips(double *s, double act, int i, rh_rng *rng)
{
    double a = atan2(s[1], s[0]) + 0.1 * act + 0.05 * even(rng);
    double b = atan2(s[3], s[2]) + 0.3 * even(rng);
    (void)i;
    s[0] = cos(a);
    s[1] = sin(a);
    s[2] = round(3.0 * cos(b) * 100.0) / 100.0;
    s[3] = round(3.0 * sin(b) * 100.0) / 100.0;
    s[5] = even(rng);
    s[4] = 1.0 - s[5] * s[5];
    return 0;
}

static void pairs_on_a_circle(void **unused)
{
    (void)unused;
    static const int partner[] = {1, 0, 3, 2, -1, -1, -1};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        rh_facts *f =
            facts_of_plant(&(plant){7, 0, angles, round_trips, NULL, NULL}, 3000, seed);
        for (int k = 0; k < 7; k++)
            assert_int_equal(f->sensor[k].partner, partner[k]);
        assert_true(fabs(f->sensor[0].radius - 1.0) < 1e-9);
        assert_true(fabs(f->sensor[3].radius - 3.0) < 0.01);
        assert_true(f->sensor[6].constant);
        assert_false(f->sensor[6].noise);
        assert_false(f->sensor[6].exogenous);
        assert_int_equal(f->nreset, 0);
        rh_facts__destroy(f);
    }
}

// ---------------------------------------------------------------------------- exogenous

// 0: a heated hall; 1: the temperature outside, which wanders and cools the hall; 2: the hour;
// 3: a wall between both; 4: sunshine, noise around a mean of its own; 5: a sensor inside the
// wall, which the action moves with delay
static int building(double *s, double act, int i, rh_rng *rng)
{
    double heat = act - 1.0;
    s[5] = 0.9 * s[5] + 0.1 * s[3] + 0.01 * bell(rng);
    s[3] = 0.95 * s[3] + 0.03 * s[0] + 0.02 * s[1] + 0.01 * bell(rng);
    s[0] = 0.9 * s[0] + 0.1 * s[1] + 0.3 * heat + 0.05 * bell(rng);
    s[1] = 0.99 * s[1] + 0.1 * bell(rng);
    s[2] = (double)((i + 1) % 96) / 4.0;
    s[4] = 0.5 * s[4] + bell(rng);
    return 0;
}

static double thermostat(const double *s, rh_rng *rng)
{
    return s[0] < -0.1 ? 2.0 : s[0] > 0.1 ? 0.0 : (double)rh_rng_below(rng, 3);
}

static void sensors_that_no_action_moves(void **unused)
{
    (void)unused;
    int found = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        plant p = {6, 3, zero, building, seed % 2 ? NULL : thermostat, NULL};
        rh_facts *f = facts_of_plant(&p, 5000, seed);
        assert_true(f->sensor[2].period == 24.0);
        assert_int_equal(f->nreset, 0);
        for (int k = 0; k < 6; k++) {
            bool may = k == 1 || k == 2 || k == 4;
            if (f->sensor[k].exogenous && !may)
                fail_msg("sensor %d is not exogenous", k);
            found += f->sensor[k].exogenous;
        }
        rh_facts__destroy(f);
    }
    assert_true(found >= 27); // 29 of 30
}

// 0: a level; 1: its setpoint, which a person sets now and then; 2: a gauge that shows the
// level every 50 steps
static int with_setpoint(double *s, double act, int i, rh_rng *rng)
{
    s[0] = 0.95 * s[0] + 0.2 * act + 0.02 * bell(rng);
    if (rh_rng_below(rng, 60) == 0)
        s[1] = 2.0 * even(rng);
    if (i % 50 == 0)
        s[2] = s[0];
    return 0;
}

static double track(const double *s, rh_rng *rng)
{
    double u = 0.25 * s[1] + 1.2 * (s[1] - s[0]) + 0.2 * bell(rng);
    return u > 1.0 ? 1.0 : u < -1.0 ? -1.0 : u;
}

static void setpoints(void **unused)
{
    (void)unused;
    int found = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        plant p = {3, 0, zero, with_setpoint, track, NULL};
        rh_facts *f = facts_of_plant(&p, 3000, seed);
        assert_false(f->sensor[0].exogenous);
        assert_false(f->sensor[2].exogenous);
        found += f->sensor[1].exogenous;
        rh_facts__destroy(f);
    }
    assert_true(found >= 8);
}

// A level that the action moves by less than its noise in 700 steps shows: nobody can say that
// it is exogenous. Nor if a few spikes hide an effect that is plain without them.
static int noisy(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] = 0.9 * s[0] + 0.03 * (act - 1.0) + 0.4 * bell(rng);
    s[1] = i % 150 == 77 ? -9999.0 : 0.5 + 0.2 * (act - 1.0) + 0.1 * bell(rng);
    return 0;
}

static void effects_that_do_not_show(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rh_facts *f = facts_of_plant(&(plant){2, 3, zero, noisy, NULL, NULL}, 700, seed);
        assert_false(f->sensor[0].exogenous);
        assert_false(f->sensor[1].exogenous);
        rh_facts__destroy(f);
    }
}

// A controller whose action is a linear function of the state: its effect cannot be told.
static double linear_control(const double *s, rh_rng *rng)
{
    (void)rng;
    return -0.5 * s[0];
}

static int controlled(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] = 0.9 * s[0] + 0.4 * act + 0.05 * bell(rng);
    s[1] = 0.9 * s[1] + 0.05 * bell(rng);
    return 0;
}

// A pendulum: the angle is moved through the speed alone, and cos by a product.
static int pendulum(double *s, double act, int i, rh_rng *rng)
{
    double a = atan2(s[1], s[0]), w = s[2];
    (void)i;
    w = 0.98 * (w - 0.3 * sin(a) + 0.3 * act) + 0.01 * bell(rng);
    a += 0.1 * w;
    s[0] = cos(a);
    s[1] = sin(a);
    s[2] = w;
    return 0;
}

static void sensors_that_actions_move(void **unused)
{
    (void)unused;
    const plant p[] = {{2, 0, zero, controlled, linear_control, NULL},
                       {3, 3, angles, pendulum, NULL, NULL},
                       {3, 0, angles, pendulum, NULL, NULL}};
    for (uint64_t seed = 1; seed <= 10; seed++)
        for (int i = 0; i < 3; i++) {
            rh_facts *f = facts_of_plant(&p[i], 3000, seed);
            for (int k = 0; k < f->nobs; k++)
                if (f->sensor[k].exogenous || f->sensor[k].noise)
                    fail_msg("plant %d: sensor %d", i, k);
            assert_int_equal(f->nreset, 0);
            rh_facts__destroy(f);
        }
}

// An action that moves nothing shows nothing. The same log, if it names a sensor.
static int unmoved(double *s, double act, int i, rh_rng *rng)
{
    (void)act;
    (void)i;
    s[0] = 0.9 * s[0] + 0.05 * bell(rng);
    s[1] = 0.8 * s[1] + 0.05 * bell(rng);
    return 0;
}

static void actions_without_effect(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        rh_log *log = log_of_plant(&(plant){2, 3, zero, unmoved, NULL, NULL}, 3000, seed, NULL);
        rh_facts *f = facts_of(log);
        assert_false(f->sensor[0].exogenous);
        assert_false(f->sensor[1].exogenous);
        rh_facts__destroy(f);
        log->exogenous = log->obs_name[1];
        f = facts_of(log);
        assert_false(f->sensor[0].exogenous);
        assert_true(f->sensor[1].exogenous);
        rh_facts__destroy(f);
        rh_log_destroy(log);
    }
}

// The simulators have no exogenous sensor and no noise; the circles of Acrobot are found.
static void simulators(void **unused)
{
    (void)unused;
    static const char *const name[] = {"acrobot", "mountain_car", "pendulum", "puddle_world"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        rh_error err = {""};
        rh_env *env = NULL;
        rh_log *log = NULL;
        rh_collected how;
        rh_collect_options opt = rh_collect_defaults();
        opt.nstep = 3000;
        opt.cutoff = 200;
        assert_int_equal(rh_env_create(&env, rh_env_find(name[i], &err), NULL, &err), RH_OK);
        const rh_agent_type *agent = rh_agent_find("random", &err);
        if (rh_log_collect(&log, NULL, &how, env, env, agent, NULL, &opt, &err) || !log)
            fail_msg("%s: %s", name[i], err.text);
        rh_facts *f = facts_of(log);
        for (int k = 0; k < f->nobs; k++) {
            if (f->sensor[k].exogenous || f->sensor[k].noise || !isnan(f->sensor[k].period))
                fail_msg("%s: sensor %d", name[i], k);
        }
        assert_int_equal(f->sensor[0].partner, i == 0 || i == 2 ? 1 : -1);
        assert_int_equal(f->nreset, 0);
        rh_facts__destroy(f);
        rh_log_destroy(log);
        rh_env_destroy(env);
    }
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(sensors_that_wrap),
        cmocka_unit_test(sensors_that_do_not_wrap),
        cmocka_unit_test(pairs_on_a_circle),
        cmocka_unit_test(sensors_that_no_action_moves),
        cmocka_unit_test(setpoints),
        cmocka_unit_test(effects_that_do_not_show),
        cmocka_unit_test(sensors_that_actions_move),
        cmocka_unit_test(actions_without_effect),
        cmocka_unit_test(simulators),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
