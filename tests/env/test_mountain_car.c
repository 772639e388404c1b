// test_mountain_car.c - against trajectories of the textbook form (tests/reference), free
// running from the start to the goal, up to 744 steps.

#include "env/env_test.h"

static double table[MAX_ROWS * 3];

// The whole case with its actions; gives the number of steps that ended at the wall.
static int follow(const char *name, rh_env *env)
{
    int nwall = 0, n = read_case("env_mountain_car.csv", name, 3, table);
    rh_env__mountain_car_state s = {table[1], table[2]};
    for (int i = 1; i < n; i++) {
        rh_streams streams = streams_of(1);
        double obs[2], reward;
        bool end = rh_env_step(env, &s, table + (i - 1) * 3, &streams, obs, &reward);
        near(obs[0], table[i * 3 + 1], 1e-12, "x", i);
        near(obs[1], table[i * 3 + 2], 1e-12, "x_dot", i);
        assert_true(reward == -1.0);
        assert_int_equal(end, i == n - 1);
        if (obs[0] == -1.2) {
            assert_true(obs[1] == 0.0);
            nwall++;
        }
    }
    rh_env_destroy(env);
    return nwall;
}

static void test_trajectories(void **unused)
{
    (void)unused;
    const rh_env_type *type = &rh_env_mountain_car;
    follow("pump", make(type, NULL));
    follow("lazy", make(type, NULL));
    assert_true(follow("wall", make(type, NULL)) >= 1);
    follow("every", make(type, "force", 0.002, "gravity", 0.003, "hills", 2.5, "max_speed",
                         0.05, "left", -1.1, "goal", 0.45, NULL));
}

static void test_edges(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_mountain_car, NULL);
    rh_streams streams = streams_of(1);
    double obs[2], reward, full = 2.0;

    // far past the goal is the goal
    rh_env__mountain_car_state s = {0.49, 0.07};
    assert_true(rh_env_step(env, &s, &full, &streams, obs, &reward));
    assert_true(obs[0] == 0.5);
    assert_true(reward == -1.0);

    // speed is bounded
    s = (rh_env__mountain_car_state){-1.05, 0.07}; // downhill
    assert_false(rh_env_step(env, &s, &full, &streams, obs, &reward));
    assert_true(obs[1] == 0.07);
    rh_env_destroy(env);
}

enum { NSTART = 40000 };
static double drawn[2][NSTART];

static void draw_starts(rh_env *env)
{
    rh_streams streams = streams_of(7);
    for (int i = 0; i < NSTART; i++) {
        rh_env__mountain_car_state s;
        double obs[2];
        rh_env_start(env, &s, &streams, obs);
        for (int k = 0; k < 2; k++)
            drawn[k][i] = obs[k];
    }
    rh_env_destroy(env);
}

static void test_starts(void **unused)
{
    (void)unused;
    draw_starts(make(&rh_env_mountain_car, NULL));
    looks_uniform(drawn[0], NSTART, -0.6, -0.4);
    for (int i = 0; i < NSTART; i++)
        assert_true(drawn[1][i] == 0.0);

    draw_starts(make(&rh_env_mountain_car, "start", 1.0, NULL));
    looks_uniform(drawn[0], NSTART, -1.2, 0.5);
    looks_uniform(drawn[1], NSTART, -0.07, 0.07);
}

static void test_task(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_mountain_car, NULL);
    const rh_task *t = rh_env_task(env);
    assert_int_equal(t->nobs, 2);
    assert_int_equal(t->naction, 3);
    assert_int_equal(t->nstep, 15000);
    assert_false(t->continuing);
    assert_true(t->gamma == 1.0);
    assert_true(t->reward_lo == -1.0);
    assert_true(t->obs_lo[0] == -1.2);
    assert_true(t->obs_hi[0] == 0.5);
    assert_true(t->obs_hi[1] == 0.07);
    rh_env_destroy(env);
}

static void test_order_of_places(void **unused)
{
    (void)unused;
    double opt[64];
    const rh_env_type *type = &rh_env_mountain_car;
    rh_param_initial(type->param, type->nparam, opt);
    opt[rh_param_find(type->param, type->nparam, "start_hi")] = 0.75;
    rh_env *env = NULL;
    rh_error err;
    assert_int_equal(rh_env_create(&env, type, opt, &err), RH_EINVAL);
    assert_null(env);
    assert_non_null(strstr(err.text, "start_hi = 0.75"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trajectories),    cmocka_unit_test(test_edges),
        cmocka_unit_test(test_starts),          cmocka_unit_test(test_task),
        cmocka_unit_test(test_order_of_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
