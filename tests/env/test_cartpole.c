// test_cartpole.c - against trajectories of the textbook form (tests/reference).
//
// Upright, the pole is unstable and rounding grows by e about every 13 steps. So the map of one
// step is checked from every state of the balancing trajectories, and a whole trajectory of 400
// steps where the pole hangs.

#include "env/env_test.h"

static const char *const file = "env_cartpole.csv";
static double table[MAX_ROWS * 10];

static void near_state(const rh_env__cartpole_state *s, const double want[4], int row)
{
    near(s->x, want[0], 1e-12, "x", row);
    near(s->x_dot, want[1], 1e-12, "x_dot", row);
    near(s->theta, want[2], 1e-12, "theta", row);
    near(s->theta_dot, want[3], 1e-12, "theta_dot", row);
}

// Every step of the case; gives the number of failures.
static int follow(const char *name, const rh_env *env)
{
    int nfail = 0, n = read_case(file, name, 10, table);
    for (int i = 0; i < n; i++) {
        const double *row = table + i * 10;
        rh_env__cartpole_state s = {row[1], row[2], row[3], row[4]}, fresh;
        rh_streams streams = streams_of((uint64_t)i), same = streams;
        double obs[4], start[4], reward;
        assert_false(rh_env_step(env, &s, row, &streams, obs, &reward)); // never ends
        assert_true(obs[0] == s.x);
        assert_true(obs[1] == s.x_dot);
        assert_true(obs[2] == s.theta);
        assert_true(obs[3] == s.theta_dot);
        if (row[9] == 0.0) {
            assert_true(reward == 0.0);
            near_state(&s, row + 5, i);
            assert_memory_equal(&streams.start, &same.start, sizeof streams.start);
            continue;
        }

        // failed: what is seen next is the start that the stream of starts gives
        nfail++;
        assert_true(reward == -1.0);
        rh_env_start(env, &fresh, &same, start);
        assert_memory_equal(obs, start, sizeof obs);
        assert_memory_equal(&streams.start, &same.start, sizeof streams.start);
    }
    return nfail;
}

static void test_one_step(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_cartpole, "noise", 0.0, NULL);
    assert_true(follow("balance", env) >= 5);
    rh_env_destroy(env);

    env = make(&rh_env_cartpole, "noise", 0.0, "force", 15.0, "dt", 0.03, "gravity", 3.7,
               "cart_mass", 2.5, "pole_mass", 0.7, "half_length", 0.8, NULL);
    follow("every", env);
    rh_env_destroy(env);
}

static void test_free_run(void **unused)
{
    (void)unused;
    rh_env *env =
        make(&rh_env_cartpole, "noise", 0.0, "fail_angle", 360.0, "fail_x", 100.0, NULL);
    int n = read_case(file, "hanging", 5, table);
    assert_true(n > 400);
    rh_env__cartpole_state s = {table[1], table[2], table[3], table[4]};
    for (int i = 1; i < n; i++) {
        rh_streams streams = streams_of(1);
        double obs[4], reward;
        rh_env_step(env, &s, table + (i - 1) * 5, &streams, obs, &reward);
        near_state(&s, table + i * 5 + 1, i);
    }
    rh_env_destroy(env);
}

// The reward of a step without noise from x or theta, at rest but for a speed that moves it by
// `by` in the step.
static double reward_at(const rh_env *env, double x, double theta, double by)
{
    rh_env__cartpole_state s = {x, by / 0.02, theta, by / 0.02};
    rh_streams streams = streams_of(1);
    double obs[4], reward, right = 1.0;
    rh_env_step(env, &s, &right, &streams, obs, &reward);
    return reward;
}

static void test_limits(void **unused)
{
    (void)unused;
    double edge = 12.0 * M_PI / 180.0;
    rh_env *env = make(&rh_env_cartpole, "noise", 0.0, NULL);
    for (int side = -1; side <= 1; side += 2) {
        assert_true(reward_at(env, side * 2.4, 0.0, -side * 1e-9) == 0.0);
        assert_true(reward_at(env, side * 2.4, 0.0, side * 1e-9) == -1.0);
        assert_true(reward_at(env, 0.0, side * edge, -side * 1e-9) == 0.0);
        assert_true(reward_at(env, 0.0, side * edge, side * 1e-9) == -1.0);
    }
    rh_env_destroy(env);

    // the limits are options
    env = make(&rh_env_cartpole, "noise", 0.0, "fail_x", 1.0, "fail_angle", 30.0, NULL);
    assert_true(reward_at(env, 0.999, 0.0, 0.0) == 0.0);
    assert_true(reward_at(env, 1.001, 0.0, 0.0) == -1.0);
    assert_true(reward_at(env, 0.0, 0.52, 0.0) == 0.0);
    assert_true(reward_at(env, 0.0, 0.53, 0.0) == -1.0);
    assert_true(rh_env_task(env)->obs_hi[0] == 1.0);
    near(rh_env_task(env)->obs_hi[2], M_PI / 6.0, 1e-15, "range of theta", 0);
    rh_env_destroy(env);
}

// The force of every step, recovered from the cart's new speed: at rest and upright,
// x'' = f / M + m f / (M^2 (4/3 - m / M)).
static void test_noise(void **unused)
{
    (void)unused;
    enum { N = 100000 };
    static double z[N];
    rh_env *env = make(&rh_env_cartpole, NULL);
    double per_force = 1.0 / 1.1 + 0.1 / (1.1 * 1.1 * (4.0 / 3.0 - 0.1 / 1.1));
    for (int action = 0; action < 2; action++) {
        rh_streams streams = streams_of((uint64_t)action);
        for (int i = 0; i < N; i++) {
            rh_env__cartpole_state s = {0.0, 0.0, 0.0, 0.0};
            double obs[4], reward, a = action;
            rh_env_step(env, &s, &a, &streams, obs, &reward);
            double force = obs[1] / 0.02 / per_force;
            z[i] = ((action ? force : -force) - 10.0) / 0.1; // the size of the force varies
        }
        looks_normal(z, N);
    }

    // the noise is on the size: by the same random stream, left is exactly the opposite of
    // right
    double seen[2];
    for (int action = 0; action < 2; action++) {
        rh_env__cartpole_state s = {0.0, 0.0, 0.0, 0.0};
        rh_streams streams = streams_of(5);
        double obs[4], reward, a = action;
        rh_env_step(env, &s, &a, &streams, obs, &reward);
        seen[action] = obs[1];
    }
    assert_true(seen[0] == -seen[1]);
    rh_env_destroy(env);
}

enum { NSTART = 40000 };
static double drawn[4][NSTART];

static void draw_starts(const rh_env *env)
{
    rh_streams streams = streams_of(7);
    for (int i = 0; i < NSTART; i++) {
        rh_env__cartpole_state s;
        double obs[4];
        rh_env_start(env, &s, &streams, obs);
        for (int k = 0; k < 4; k++)
            drawn[k][i] = obs[k];
    }
}

static void test_starts(void **unused)
{
    (void)unused;
    rh_env *normal = make(&rh_env_cartpole, NULL);
    draw_starts(normal);
    for (int k = 0; k < 4; k++)
        looks_uniform(drawn[k], NSTART, -0.05, 0.05);
    rh_env_destroy(normal);

    rh_env *random = make(&rh_env_cartpole, "start", 1.0, "noise", 0.0, NULL);
    draw_starts(random);
    looks_uniform(drawn[0], NSTART, -0.8, 0.8);
    looks_uniform(drawn[1], NSTART, -0.05, 0.05);
    looks_uniform(drawn[2], NSTART, -4.0 * M_PI / 180.0, 4.0 * M_PI / 180.0);
    looks_uniform(drawn[3], NSTART, -0.05, 0.05);
    assert_true(follow("balance", random) >= 5); // a failure restarts at random as well
    rh_env_destroy(random);
}

static void test_task(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_cartpole, NULL);
    const rh_task *t = rh_env_task(env);
    assert_int_equal(t->nobs, 4);
    assert_int_equal(t->naction, 2);
    assert_int_equal(t->nstep, 50000);
    assert_true(t->continuing);
    assert_true(t->gamma == 0.9);
    assert_true(t->reward_lo == -1.0);
    assert_true(t->obs_hi[0] == 2.4);
    assert_true(t->obs_hi[1] == 4.0);
    assert_true(t->obs_lo[3] == -3.5);
    near(t->obs_hi[2], 12.0 * M_PI / 180.0, 1e-15, "range of theta", 0);
    assert_string_equal(t->obs_name[3], "theta_dot");
    rh_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step), cmocka_unit_test(test_free_run),
        cmocka_unit_test(test_limits),   cmocka_unit_test(test_noise),
        cmocka_unit_test(test_starts),   cmocka_unit_test(test_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
