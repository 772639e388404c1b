// test_pendulum.c - against trajectories of the textbook form (tests/reference).
//
// Under wild torques the pendulum passes its unstable top again and again, so there the map of
// one step is checked; a whole trajectory of 400 steps is checked where the torque damps it.

#include "env/env_test.h"

static const char *const file = "env_pendulum.csv";
static double table[MAX_ROWS * 6];

static void near_angle(double got, double want, int row)
{
    if (fabs(got - want) > M_PI) // -pi is pi
        want += got > want ? 2.0 * M_PI : -2.0 * M_PI;
    near(got, want, 1e-12, "theta", row);
}

// Every step of the case, including torques outside the bounds; destroys env.
static void follow(const char *name, rh_env *env)
{
    int n = read_case(file, name, 6, table), clipped = 0;
    double top = rh_env_task(env)->obs_hi[2];
    for (int i = 0; i < n; i++) {
        const double *row = table + i * 6;
        rh_env__pendulum_state s = {row[1], row[2]};
        rh_streams streams = streams_of(1);
        double obs[3], reward;
        assert_false(rh_env_step(env, &s, row, &streams, obs, &reward));
        near_angle(s.theta, row[3], i);
        assert_true(fabs(s.theta) <= M_PI);
        near(obs[0], cos(row[3]), 1e-12, "cos", i);
        near(obs[1], sin(row[3]), 1e-12, "sin", i);
        near(obs[2], row[4], 1e-12, "theta_dot", i);
        near(reward, row[5], 1e-12, "reward", i);
        clipped += fabs(obs[2]) == top;
    }
    assert_true(clipped > 2);
    rh_env_destroy(env);
}

static void test_one_step(void **unused)
{
    (void)unused;
    follow("wild", make(&rh_env_pendulum, NULL));
    follow("every", make(&rh_env_pendulum, "gravity", 3.7, "mass", 0.7, "length", 1.3, "dt",
                         0.11, "max_speed", 3.0, "max_torque", 1.5, "speed_cost", 0.3,
                         "torque_cost", 0.02, NULL));
}

static void test_free_run(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_pendulum, NULL);
    int n = read_case(file, "calm", 4, table);
    assert_true(n > 400);
    rh_env__pendulum_state s = {table[1], table[2]};
    for (int i = 0; i < n; i++) {
        rh_streams streams = streams_of(1);
        double obs[3], reward;
        near_angle(s.theta, table[i * 4 + 1], i);
        near(s.omega, table[i * 4 + 2], 1e-12, "theta_dot", i);
        rh_env_step(env, &s, table + i * 4, &streams, obs, &reward);
        near(reward, table[i * 4 + 3], 1e-12, "reward", i);
    }
    rh_env_destroy(env);
}

// The worst reward a step can have is the bound the task names.
static void test_worst(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_pendulum, NULL);
    rh_env__pendulum_state s = {M_PI, 8.0};
    rh_streams streams = streams_of(1);
    double obs[3], reward, torque = -5.0; // clipped to -2
    rh_env_step(env, &s, &torque, &streams, obs, &reward);
    near(reward, -(M_PI * M_PI + 6.4 + 0.004), 1e-12, "reward", 0);
    near(rh_env_task(env)->reward_lo, reward, 1e-12, "bound", 0);
    assert_true(reward >= rh_env_task(env)->reward_lo);
    rh_env_destroy(env);
}

enum { NSTART = 40000 };
static double drawn[2][NSTART];

static void draw_starts(rh_env *env)
{
    rh_streams streams = streams_of(7);
    for (int i = 0; i < NSTART; i++) {
        rh_env__pendulum_state s;
        double obs[3];
        rh_env_start(env, &s, &streams, obs);
        near(obs[0], cos(s.theta), 1e-15, "cos", i);
        near(obs[1], sin(s.theta), 1e-15, "sin", i);
        drawn[0][i] = s.theta;
        drawn[1][i] = obs[2];
    }
    rh_env_destroy(env);
}

static void test_starts(void **unused)
{
    (void)unused;
    draw_starts(make(&rh_env_pendulum, NULL));
    looks_uniform(drawn[0], NSTART, -M_PI, M_PI);
    looks_uniform(drawn[1], NSTART, -1.0, 1.0);
    draw_starts(make(&rh_env_pendulum, "start", 1.0, NULL));
    looks_uniform(drawn[0], NSTART, -M_PI, M_PI);
    looks_uniform(drawn[1], NSTART, -8.0, 8.0);
    draw_starts(make(&rh_env_pendulum, "start_angle", 0.5, "start_speed", 2.0, NULL));
    looks_uniform(drawn[0], NSTART, -0.5, 0.5);
    looks_uniform(drawn[1], NSTART, -2.0, 2.0);
}

static void test_task(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_pendulum, NULL);
    const rh_task *t = rh_env_task(env);
    assert_int_equal(t->nobs, 3);
    assert_int_equal(t->naction, 0);
    assert_int_equal(t->nact, 1);
    assert_int_equal(t->nstep, 100000);
    assert_true(t->continuing);
    assert_true(t->gamma == 0.95);
    assert_true(t->act_lo[0] == -2.0);
    assert_true(t->act_hi[0] == 2.0);
    assert_true(t->obs_lo[2] == -8.0);
    rh_env_destroy(env);

    double opt[64];
    rh_param_initial(rh_env_pendulum.param, rh_env_pendulum.nparam, opt);
    opt[rh_param_find(rh_env_pendulum.param, rh_env_pendulum.nparam, "start_speed")] = 9.0;
    rh_error err;
    env = NULL;
    assert_int_equal(rh_env_create(&env, &rh_env_pendulum, opt, &err), RH_EINVAL);
    assert_null(env);
    assert_non_null(strstr(err.text, "start_speed = 9"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step), cmocka_unit_test(test_free_run),
        cmocka_unit_test(test_worst),    cmocka_unit_test(test_starts),
        cmocka_unit_test(test_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
