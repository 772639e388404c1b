// test_acrobot.c - against trajectories of the textbook form (tests/reference).
//
// Acrobot is chaotic: two runs that differ in the last bit part within some tens of steps once
// the links go over. So the map of one step is checked from every state of wild trajectories,
// and a whole trajectory only where motion is regular: a free fall from a small angle, 400
// steps, where rounding stays below 1e-12.

#include "base/base.h"
#include "env/env_test.h"

static const char *const file = "env_acrobot.csv";
static double table[MAX_ROWS * 10];

static void set(rh_env__acrobot_state *s, const double *q)
{
    memcpy(s->q, q, sizeof s->q);
    rh_maths__sincos(q[0], &s->trig[1], &s->trig[0]);
    rh_maths__sincos(q[1], &s->trig[3], &s->trig[2]);
}

static bool act(const rh_env *env, rh_env__acrobot_state *s, int action, double obs[6])
{
    double a = action, reward = 0.0;
    rh_streams streams = streams_of(1);
    bool end = rh_env_step(env, s, &a, &streams, obs, &reward);
    assert_true(reward == -1.0); // terminal or not
    return end;
}

// The action of a torque: +1, 0, -1 or +1, -1 times `most`.
static int action_of(const rh_env *env, double torque, double most)
{
    return (int)lround((1.0 - torque / most) / 2.0 * (rh_env_task(env)->naction - 1));
}

static void one_step(const rh_env *env, double torque, double most, const double from[4],
                     const double to[5], int row)
{
    rh_env__acrobot_state s;
    double obs[6];
    set(&s, from);
    bool end = act(env, &s, action_of(env, torque, most), obs);

    for (int i = 0; i < 4; i++) {
        double want = to[i];
        if (i < 2 && fabs(s.q[i] - want) > M_PI) // -pi is pi
            want += s.q[i] > want ? 2.0 * M_PI : -2.0 * M_PI;
        near(s.q[i], want, 1e-12, "state", row);
    }
    near(obs[0], cos(to[0]), 1e-12, "cos theta1", row);
    near(obs[1], sin(to[0]), 1e-12, "sin theta1", row);
    near(obs[2], cos(to[1]), 1e-12, "cos theta2", row);
    near(obs[3], sin(to[1]), 1e-12, "sin theta2", row);
    near(obs[4], to[2], 1e-12, "theta1_dot", row);
    near(obs[5], to[3], 1e-12, "theta2_dot", row);
    assert_int_equal(end, to[4] != 0.0);
}

// Every step of the case; destroys env.
static void follow(const char *name, rh_env *env, double most, int least_rows)
{
    int n = read_case(file, name, 6, table);
    assert_true(n > least_rows);
    for (int i = 1; i < n; i++)
        one_step(env, table[i * 6], most, table + (i - 1) * 6 + 1, table + i * 6 + 1, i);
    rh_env_destroy(env);
}

static void test_one_step(void **unused)
{
    (void)unused;
    const rh_env_type *type = &rh_env_acrobot;
    follow("wild", make(type, NULL), 1.0, 250);
    follow("swing", make(type, NULL), 1.0, 100);
    follow("two", make(type, "torques", 2.0, NULL), 1.0, 60);
    follow("changed", make(type, "link_length_1", 2.0, "link_mass_1", 2.0, NULL), 1.0, 120);
    follow("every",
           make(type, "max_torque", 1.5, "link_length_1", 1.3, "link_mass_1", 0.7,
                "link_mass_2", 1.9, "com_1", 0.4, "com_2", 0.8, "inertia_1", 0.6, "inertia_2",
                1.7, "gravity", 3.7, "dt", 0.11, "max_speed_1", 3.1, "max_speed_2", 4.2, NULL),
           1.5, 60);
}

static void test_wrap_and_clip(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_acrobot, NULL);
    int clipped[2] = {0}, wrapped = 0;
    int n = read_case(file, "anywhere", 10, table);
    for (int i = 0; i < n; i++) {
        const double *row = table + i * 10;
        one_step(env, row[0], 1.0, row + 1, row + 5, i);
        clipped[0] += fabs(row[7]) == 4.0 * M_PI;
        clipped[1] += fabs(row[8]) == 9.0 * M_PI;
        wrapped += fabs(row[5] - row[1]) > M_PI;
    }
    // the sample has them
    assert_true(clipped[0] > 20);
    assert_true(clipped[1] > 10);
    assert_true(wrapped > 10);
    rh_env_destroy(env);
}

static void test_free_run(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_acrobot, NULL);
    rh_env__acrobot_state s;
    double obs[6];
    int n = read_case(file, "calm", 4, table);
    assert_true(n > 400);
    set(&s, table);
    for (int i = 1; i < n; i++) {
        assert_false(act(env, &s, 1, obs)); // no torque
        for (int k = 0; k < 4; k++)
            near(s.q[k], table[i * 4 + k], 1e-12, "calm", i);
    }
    rh_env_destroy(env);
}

// Nothing but gravity acts for 0.1 ms at rest, which moves no angle by more than 1e-7.
static bool ends_at(const rh_env *env, double theta1, double theta2)
{
    rh_env__acrobot_state s;
    double obs[6], q[4] = {theta1, theta2, 0.0, 0.0};
    set(&s, q);
    return act(env, &s, 1, obs);
}

static void test_goal(void **unused)
{
    (void)unused;
    rh_env *unit = make(&rh_env_acrobot, "dt", 1e-4, NULL);
    assert_true(ends_at(unit, M_PI, 0.0));
    assert_false(ends_at(unit, 0.0, 0.0));

    // a straight arm: 2 cos(pi - theta1) = 1 at pi - theta1 = pi / 3
    assert_false(ends_at(unit, M_PI * 2.0 / 3.0 - 1e-6, 0.0));
    assert_true(ends_at(unit, M_PI * 2.0 / 3.0 + 1e-6, 0.0));

    // the upper link level: the lower one would have to be upright, and is exactly one high
    assert_false(ends_at(unit, M_PI / 2.0 - 1e-3, M_PI / 2.0));
    assert_true(ends_at(unit, M_PI / 2.0 + 1e-3, M_PI / 2.0));

    // longer links do not move the goal, unless the real tip is asked for: 3 cos(pi - t) = 1
    rh_env *old = make(&rh_env_acrobot, "dt", 1e-4, "link_length_1", 2.0, NULL);
    rh_env *tip = make(&rh_env_acrobot, "dt", 1e-4, "link_length_1", 2.0, "goal", 1.0, NULL);
    rh_env *low = make(&rh_env_acrobot, "dt", 1e-4, "link_length_2", 2.0, "goal", 1.0, NULL);
    rh_env *high = make(&rh_env_acrobot, "dt", 1e-4, "goal_height", 1.9, NULL);
    double third = M_PI - acos(1.0 / 3.0);
    assert_false(ends_at(old, M_PI * 2.0 / 3.0 - 1e-6, 0.0));
    assert_true(ends_at(old, M_PI * 2.0 / 3.0 + 1e-6, 0.0));
    assert_false(ends_at(tip, third - 1e-6, 0.0));
    assert_true(ends_at(tip, third + 1e-6, 0.0));
    assert_false(ends_at(low, third - 1e-6, 0.0));
    assert_true(ends_at(low, third + 1e-6, 0.0));
    assert_false(ends_at(high, M_PI - acos(0.95) - 1e-6, 0.0));
    assert_true(ends_at(high, M_PI - acos(0.95) + 1e-6, 0.0));

    rh_env_destroy(unit);
    rh_env_destroy(old);
    rh_env_destroy(tip);
    rh_env_destroy(low);
    rh_env_destroy(high);
}

static void test_torques(void **unused)
{
    (void)unused;
    rh_env *three = make(&rh_env_acrobot, NULL);
    rh_env *two = make(&rh_env_acrobot, "torques", 2.0, NULL);
    assert_int_equal(rh_env_task(three)->naction, 3);
    assert_int_equal(rh_env_task(two)->naction, 2);

    // a positive torque turns the lower link forward; 0 is between; the ends are
    // the same in both
    double q[4] = {0.0, 0.0, 0.0, 0.0}, speed[5], obs[6];
    for (int i = 0; i < 5; i++) {
        rh_env__acrobot_state s;
        set(&s, q);
        act(i < 3 ? three : two, &s, i < 3 ? i : i - 3, obs);
        speed[i] = obs[5];
    }
    assert_true(speed[0] > 0.0);
    assert_true(speed[1] == 0.0);
    assert_true(speed[2] == -speed[0]);
    assert_true(speed[3] == speed[0]);
    assert_true(speed[4] == speed[2]);
    rh_env_destroy(three);
    rh_env_destroy(two);
}

enum { NSTART = 40000 };
static double drawn[4][NSTART];

static void draw_starts(const rh_env *env)
{
    rh_streams streams = streams_of(7);
    for (int i = 0; i < NSTART; i++) {
        rh_env__acrobot_state s;
        double obs[6];
        rh_env_start(env, &s, &streams, obs);
        for (int k = 0; k < 4; k++)
            drawn[k][i] = s.q[k];
        near(obs[1], sin(s.q[0]), 1e-15, "sin theta1", i);
        near(obs[2], cos(s.q[1]), 1e-15, "cos theta2", i);
        assert_true(obs[4] == s.q[2]);
        assert_true(obs[5] == s.q[3]);
    }
}

static void test_starts(void **unused)
{
    (void)unused;
    rh_env *normal = make(&rh_env_acrobot, NULL);
    draw_starts(normal);
    for (int k = 0; k < 4; k++)
        looks_uniform(drawn[k], NSTART, -0.1, 0.1);
    rh_env_destroy(normal);

    // random: never in the goal, the ends of the range reached, slow, and symmetric
    rh_env *random = make(&rh_env_acrobot, "start", 1.0, NULL);
    draw_starts(random);
    double mean[2] = {0.0}, most[2] = {0.0};
    for (int i = 0; i < NSTART; i++) {
        assert_false(-cos(drawn[0][i]) - cos(drawn[0][i] + drawn[1][i]) > 1.0);
        for (int k = 0; k < 2; k++) {
            mean[k] += drawn[k][i] / NSTART;
            most[k] = fmax(most[k], fabs(drawn[k][i]));
        }
    }
    for (int k = 0; k < 2; k++) {
        near(mean[k], 0.0, 4.5 * M_PI / sqrt(NSTART), "mean angle", k);
        assert_true(most[k] > 3.14);
        assert_true(most[k] <= M_PI);
        looks_uniform(drawn[2 + k], NSTART, -0.1, 0.1);
    }
    rh_env_destroy(random);
}

static void test_task(void **unused)
{
    (void)unused;
    rh_env *env = make(&rh_env_acrobot, NULL);
    const rh_task *t = rh_env_task(env);
    assert_int_equal(t->nobs, 6);
    assert_int_equal(t->nact, 1);
    assert_int_equal(t->nstep, 15000);
    assert_false(t->continuing);
    assert_true(t->gamma == 1.0);
    assert_true(t->reward_lo == -1.0);
    assert_true(t->obs_lo[3] == -1.0);
    assert_true(t->obs_hi[4] == 4.0 * M_PI);
    assert_true(t->obs_lo[5] == -9.0 * M_PI);
    assert_string_equal(t->obs_name[5], "theta2_dot");
    rh_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step), cmocka_unit_test(test_wrap_and_clip),
        cmocka_unit_test(test_free_run), cmocka_unit_test(test_goal),
        cmocka_unit_test(test_torques),  cmocka_unit_test(test_starts),
        cmocka_unit_test(test_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
