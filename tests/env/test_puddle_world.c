// test_puddle_world.c - the walk and the depth of the puddles, compared with tests/reference
// and with known values.

#include "env/env_test.h"

static const char *const file = "env_puddle_world.csv";
static double table[MAX_ROWS * 12];

enum { UNION, MAX, SUM };

// Depth at (x, y), from the reward of a step that moves nothing.
static double depth_at(const rh_env *env, double x, double y)
{
    rh_env__puddle_world_state s = {x, y};
    rh_streams streams = streams_of(1);
    double obs[2], reward, act = 0.0;
    rh_env_step(env, &s, &act, &streams, obs, &reward);
    assert_true(obs[0] == x);
    assert_true(obs[1] == y);
    return (-1.0 - reward) / 400.0;
}

static rh_env *still(int overlap)
{
    return make(&rh_env_puddle_world, "noise", 0.0, "move", 0.0, "overlap", (double)overlap,
                NULL);
}

static void test_walk(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_puddle_world, "noise", 0.0, NULL);
    int n = read_case(file, "walk", 5, table), wet = 0;
    assert_true(n > 300);
    rh_env__puddle_world_state s = {0.02, 0.03};
    for (int i = 0; i < n; i++) {
        const double *row = table + i * 5;
        rh_streams streams = streams_of((uint64_t)i);
        double obs[2], reward;
        bool end = rh_env_step(env, &s, row, &streams, obs, &reward);
        near(obs[0], row[1], 1e-12, "x", i);
        near(obs[1], row[2], 1e-12, "y", i);
        near(reward, row[3], 1e-10, "reward", i); // 400 times the depth's rounding
        assert_int_equal(end, row[4] != 0.0);
        wet += reward < -1.0;
        if (i == n - 1) {
            // the goal step costs as any other
            assert_true(end);
            assert_true(reward == -1.0);
        }
    }
    assert_true(wet > 10);
    rh_env_destroy(env);
}

static void test_depth_by_hand(void **unused)
{
    (void)unused;
    static const struct {
        double x, y, depth[3]; // by union, max, sum
    } at[] = {
        {0.20, 0.75, {0.10, 0.10, 0.10}}, // on the first axis, far from the second puddle
        {0.20, 0.80, {0.05, 0.05, 0.05}}, // above it
        {0.04, 0.75, {0.04, 0.04, 0.04}}, // in its left cap
        {0.07, 0.71, {0.05, 0.05, 0.05}}, // 0.05 from the end of the axis, 3-4-5
        {0.45, 0.50, {0.10, 0.10, 0.10}}, // on the second axis
        {0.52, 0.55, {0.03, 0.03, 0.03}}, // right of it
        {0.45, 0.33, {0.03, 0.03, 0.03}}, // in its lower cap
        {0.45, 0.88, {0.02, 0.02, 0.02}}, // in its upper cap, 0.13 from the first axis
        {0.20, 0.86, {0.0, 0.0, 0.0}},    // outside
        {0.45, 0.29, {0.0, 0.0, 0.0}},    // outside
        {0.56, 0.60, {0.0, 0.0, 0.0}},    // outside
        {0.02, 0.67, {0.0, 0.0, 0.0}},    // in the box of the left cap, not in the cap
        {0.90, 0.10, {0.0, 0.0, 0.0}},    // far away
        {0.45, 0.75, {0.10, 0.10, 0.20}}, // where the axes meet: the right side is nearest
        {0.50, 0.75, {0.05, 0.05, 0.10}}, // right of that
        {0.45, 0.70, {0.10, 0.10, 0.15}}, // below it: the right side again
        {0.38, 0.69, {0.05, 0.04, 0.07}}, // 0.05 from the inner corner (0.35, 0.65), 3-4-5
        {0.41, 0.73, {0.10, 0.08, 0.14}}, // 0.1 from it, 6-8-10: deeper than either puddle
    };
    for (int rule = UNION; rule <= SUM; rule++) {
        rh_env *env = still(rule);
        for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
            near(depth_at(env, at[i].x, at[i].y), at[i].depth[rule], 1e-14, "depth", (int)i);
        rh_env_destroy(env);
    }
}

static void test_edges(void **unused)
{
    (void)unused;
    for (int rule = UNION; rule <= SUM; rule++) {
        rh_env *env = still(rule);
        near(depth_at(env, 0.2, 0.85), 0.0, 1e-15, "on the edge", rule);
        near(depth_at(env, 0.2, 0.85 - 1e-9), 1e-9, 1e-15, "just inside", rule);
        assert_true(depth_at(env, 0.2, 0.85 + 1e-9) == 0.0);
        near(depth_at(env, 0.55, 0.6), 0.0, 1e-15, "on the edge", rule);
        near(depth_at(env, 0.55 - 1e-9, 0.6), 1e-9, 1e-15, "just inside", rule);
        assert_true(depth_at(env, 0.55 + 1e-9, 0.6) == 0.0);
        rh_env_destroy(env);
    }
}

static void test_depth_everywhere(void **unused)
{
    (void)unused;
    int n = read_case(file, "depth", 5, table), deeper = 0;
    assert_true(n >= 600);
    for (int rule = UNION; rule <= SUM; rule++) {
        rh_env *env = still(rule);
        for (int i = 0; i < n; i++) {
            const double *row = table + i * 5;
            near(depth_at(env, row[0], row[1]), row[2 + rule], 1e-13, "depth", i);
            deeper += row[2] > row[3] + 1e-3;
        }
        rh_env_destroy(env);
    }
    assert_true(deeper > 50); // the sample tells union and max apart
}

// Other axes and radii, round puddles and parallel ones; the reference is a sampled outline.
static void test_other_layouts(void **unused)
{
    (void)unused;
    int n = read_case(file, "layout", 12, table);
    assert_true(n >= 300);
    for (int i = 0; i < n; i++) {
        const double *r = table + i * 12;
        rh_env *env = make(&rh_env_puddle_world, "noise", 0.0, "move", 0.0, "puddle_radius",
                           r[0], "puddle_1_x1", r[1], "puddle_1_y1", r[2], "puddle_1_x2", r[3],
                           "puddle_1_y2", r[4], "puddle_2_x1", r[5], "puddle_2_y1", r[6],
                           "puddle_2_x2", r[7], "puddle_2_y2", r[8], NULL);
        double depth = depth_at(env, r[9], r[10]);
        near(depth, r[11], 1e-6, "depth", i);
        assert_true(-1.0 - 400.0 * depth >= rh_env_task(env)->reward_lo);
        rh_env_destroy(env);
    }

    // the centre of a round puddle, half under another: every side not covered is as near
    rh_env *round =
        make(&rh_env_puddle_world, "noise", 0.0, "move", 0.0, "puddle_1_x1", 0.3, "puddle_1_y1",
             0.5, "puddle_1_x2", 0.3, "puddle_1_y2", 0.5, "puddle_2_x1", 0.4, "puddle_2_y1",
             0.5, "puddle_2_x2", 0.9, "puddle_2_y2", 0.5, NULL);
    near(depth_at(round, 0.3, 0.5), 0.1, 1e-14, "centre", 0);
    rh_env_destroy(round);
    rh_env *none =
        make(&rh_env_puddle_world, "noise", 0.0, "move", 0.0, "puddle_radius", 0.0, NULL);
    assert_true(depth_at(none, 0.2, 0.75) == 0.0);
    assert_true(rh_env_task(none)->reward_lo == -1.0);
    rh_env_destroy(none);
}

static bool ends_at(const rh_env *env, double x, double y)
{
    rh_env__puddle_world_state s = {x, y};
    rh_streams streams = streams_of(1);
    double obs[2], reward, act = 0.0;
    bool end = rh_env_step(env, &s, &act, &streams, obs, &reward);
    assert_true(reward == -1.0);
    return end;
}

static void test_goal(void **unused)
{
    (void)unused;
    rh_env *env = still(UNION);
    assert_true(ends_at(env, 1.0, 1.0));
    assert_true(ends_at(env, 0.95, 0.95 + 1e-9)); // x + y > 1.9
    assert_false(ends_at(env, 0.95, 0.95 - 1e-9));
    assert_true(ends_at(env, 1.0, 0.9 + 1e-9));
    assert_false(ends_at(env, 1.0, 0.9 - 1e-9));
    rh_env_destroy(env);
}

static void test_moves_and_walls(void **unused)
{
    (void)unused;
    static const double to[4][2] = {{0.65, 0.2}, {0.75, 0.2}, {0.7, 0.15}, {0.7, 0.25}};
    static const double wall[4][2] = {{0.0, 0.01}, {0.06, 0.01}, {0.01, 0.0}, {0.01, 0.06}};
    rh_env *env = make(&rh_env_puddle_world, "noise", 0.0, NULL);
    for (int a = 0; a < 4; a++) {
        rh_env__puddle_world_state s = {0.7, 0.2}, corner = {0.01, 0.01};
        rh_streams streams = streams_of(1);
        double obs[2], reward, act = a;
        rh_env_step(env, &s, &act, &streams, obs, &reward);
        near(obs[0], to[a][0], 1e-15, "x", a);
        near(obs[1], to[a][1], 1e-15, "y", a);
        rh_env_step(env, &corner, &act, &streams, obs, &reward);
        near(obs[0], wall[a][0], 1e-15, "x", a);
        near(obs[1], wall[a][1], 1e-15, "y", a);
    }
    rh_env_destroy(env);
}

static void test_noise(void **unused)
{
    (void)unused;
    enum { N = 100000 };
    static double z[2][N];
    rh_env *env = make(&rh_env_puddle_world, NULL);
    rh_streams streams = streams_of(3), start = streams;
    double product = 0.0;
    for (int i = 0; i < N; i++) {
        rh_env__puddle_world_state s = {0.7, 0.2};
        double obs[2], reward, right = 1.0;
        rh_env_step(env, &s, &right, &streams, obs, &reward);
        z[0][i] = (obs[0] - 0.75) / 0.01;
        z[1][i] = (obs[1] - 0.2) / 0.01;
        product += z[0][i] * z[1][i] / N;
    }
    looks_normal(z[0], N);
    looks_normal(z[1], N);
    near(product, 0.0, 4.5 / sqrt(N), "correlation", 0);
    assert_memory_equal(&streams.start, &start.start,
                        sizeof streams.start); // steps leave starts alone
    rh_env_destroy(env);
}

enum { NSTART = 40000 };
static double drawn[2][NSTART];

static void test_starts(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 2; kind++) {
        rh_env *env = make(&rh_env_puddle_world, "start", (double)kind, NULL);
        rh_streams streams = streams_of(7);
        double mean[2] = {0.0}, least = 1.0;
        int near_goal = 0;
        for (int i = 0; i < NSTART; i++) {
            rh_env__puddle_world_state s;
            double obs[2];
            rh_env_start(env, &s, &streams, obs);
            assert_true(obs[0] == s.x);
            assert_true(obs[1] == s.y);
            assert_false((1.0 - obs[0]) + (1.0 - obs[1]) < 0.1);
            near_goal += (1.0 - obs[0]) + (1.0 - obs[1]) < 0.2;
            for (int k = 0; k < 2; k++) {
                assert_true(obs[k] >= 0.0);
                assert_true(obs[k] < 1.0);
                drawn[k][i] = obs[k];
                mean[k] += obs[k] / NSTART;
                least = fmin(least, obs[k]);
            }
        }

        // the square without a triangle of sides 0.1: mean (1/2 - 0.005 (1 - 0.1/3)) / 0.995
        for (int k = 0; k < 2; k++)
            near(mean[k], (0.5 - 0.005 * (1.0 - 0.1 / 3.0)) / 0.995,
                 4.5 * sqrt(1.0 / 12.0 / NSTART), "mean", k);
        assert_true(least < 1e-3);

        // the strip between 0.1 and 0.2 of the goal has its share, 0.015 / 0.995
        double share = 0.015 / 0.995;
        near(near_goal, NSTART * share, 4.5 / sqrt(NSTART * share), "starts near the goal", 0);
        rh_env_destroy(env);
    }
}

static void test_task(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_puddle_world, NULL);
    const rh_task *t = rh_env_task(env);
    assert_int_equal(t->nobs, 2);
    assert_int_equal(t->naction, 4);
    assert_int_equal(t->nstep, 30000);
    assert_false(t->continuing);
    assert_true(t->gamma == 1.0);
    assert_true(t->obs_lo[0] == 0.0);
    assert_true(t->obs_hi[1] == 1.0);
    near(t->reward_lo, -81.0, 1e-15, "bound", 0);
    rh_env_destroy(env);
    env = make(&rh_env_puddle_world, "overlap", 1.0, NULL);
    near(rh_env_task(env)->reward_lo, -41.0, 1e-15, "bound", 1);
    rh_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_depth_by_hand),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_depth_everywhere),
        cmocka_unit_test(test_other_layouts),
        cmocka_unit_test(test_goal),
        cmocka_unit_test(test_moves_and_walls),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
