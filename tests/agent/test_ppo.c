// test_ppo.c - ppo: derivatives against finite differences, rows of a rollout at the ends of
// episodes, saving in the middle of one, damaged states, and that it learns.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "agent/ppo.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "rehearse/rehearse.h"

// ---------------------------------------------------------------------------- derivatives

enum { NACT = 3, NTRIAL = 300 };
#define H 0.03125f // a step that floats keep exactly beside numbers of size 1

static void is_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 2e-3 * (1.0 + fabs(expected))))
        fail_msg("derivative %.6g, by differences %.6g", found, expected);
}

// Central differences of two steps give four orders of H.
static double slope(double l1, double r1, double l2, double r2)
{
    return (8.0 * (r1 - l1) - (r2 - l2)) / (12.0 * (double)H);
}

static float quantised(rh_rng *rng)
{
    return (float)(floor(rh_rng_range(rng, -1.0, 1.0) * 256.0) / 256.0);
}

// Whether log p is so close to the clipping that a difference would cross it.
static bool near_clip(const rh_ppo__loss *loss, const rh_ppo__step *step, double log_p)
{
    double d = log_p - step->log_p, side = step->advantage >= 0.0 ? 1.0 : -1.0;
    return fabs(d - log(1.0 + side * loss->clip)) < 0.25;
}

static double discrete_at(const rh_ppo__loss *loss, const rh_ppo__step *step, const float *x,
                          int taken, int j, float by)
{
    float moved[NACT], ignored[NACT];
    double log_pi[NACT];
    memcpy(moved, x, sizeof moved);
    moved[j] += by;
    return rh_ppo__discrete(loss, step, NACT, moved, taken, log_pi, ignored);
}

static void derivatives_of_discrete_actions(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    int nclipped = 0, n = 0;
    for (int t = 0; t < NTRIAL; t++) {
        rh_ppo__loss loss = {.clip = 0.2, .entropy = 0.3};
        float x[NACT], by[NACT];
        double log_pi[NACT];
        int taken = (int)rh_rng_below(&rng, NACT);
        for (int j = 0; j < NACT; j++)
            x[j] = quantised(&rng);
        rh_ppo__log_softmax(x, NACT, log_pi);
        rh_ppo__step step = {.log_p = log_pi[taken] + rh_rng_range(&rng, -1.0, 1.0),
                             .advantage = rh_rng_range(&rng, -2.0, 2.0)};
        if (near_clip(&loss, &step, log_pi[taken]))
            continue;
        rh_ppo__discrete(&loss, &step, NACT, x, taken, log_pi, by);
        double ratio = exp(log_pi[taken] - step.log_p);
        nclipped += step.advantage > 0.0 ? ratio > 1.2 : ratio < 0.8;
        n++;
        for (int j = 0; j < NACT; j++)
            is_near((double)by[j], slope(discrete_at(&loss, &step, x, taken, j, -H),
                                         discrete_at(&loss, &step, x, taken, j, H),
                                         discrete_at(&loss, &step, x, taken, j, -2.0f * H),
                                         discrete_at(&loss, &step, x, taken, j, 2.0f * H)));
    }
    assert_true(n > NTRIAL / 3);
    assert_true(nclipped > n / 10);
    assert_true(nclipped < n);
}

static double continuous_at(const rh_ppo__loss *loss, const rh_ppo__step *step, const float *x,
                            const double *log_sd, const float *act, int j, float by, bool sd)
{
    float mean[NACT], ignored[NACT];
    double l[NACT], none[NACT];
    memcpy(mean, x, sizeof mean);
    memcpy(l, log_sd, sizeof l);
    memset(none, 0, sizeof none);
    if (sd)
        l[j] += (double)by;
    else
        mean[j] += by;
    return rh_ppo__continuous(loss, step, NACT, mean, l, act, ignored, none);
}

static void derivatives_of_continuous_actions(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(2, RH_STREAM_AGENT, 0, 0);
    int nclipped = 0, n = 0;
    for (int t = 0; t < NTRIAL; t++) {
        rh_ppo__loss loss = {.clip = 0.2, .entropy = 0.3};
        float x[NACT], act[NACT], by[NACT];
        double log_sd[NACT], by_log_sd[NACT] = {0.0, 1.0, 0.0}; // is added to
        for (int j = 0; j < NACT; j++) {
            x[j] = quantised(&rng);
            act[j] = x[j] + 0.5f * quantised(&rng);
            log_sd[j] = rh_rng_range(&rng, -0.5, 0.5);
        }
        double log_p = rh_ppo__log_normal(x, log_sd, act, NACT);
        rh_ppo__step step = {.log_p = log_p + rh_rng_range(&rng, -1.0, 1.0),
                             .advantage = rh_rng_range(&rng, -2.0, 2.0)};
        if (near_clip(&loss, &step, log_p))
            continue;
        rh_ppo__continuous(&loss, &step, NACT, x, log_sd, act, by, by_log_sd);
        double ratio = exp(log_p - step.log_p);
        nclipped += step.advantage > 0.0 ? ratio > 1.2 : ratio < 0.8;
        n++;
        for (int j = 0; j < 2 * NACT; j++) {
            bool sd = j >= NACT;
            int k = j % NACT;
            double found = sd ? by_log_sd[k] - (k == 1) : (double)by[k];
            is_near(found, slope(continuous_at(&loss, &step, x, log_sd, act, k, -H, sd),
                                 continuous_at(&loss, &step, x, log_sd, act, k, H, sd),
                                 continuous_at(&loss, &step, x, log_sd, act, k, -2.0f * H, sd),
                                 continuous_at(&loss, &step, x, log_sd, act, k, 2.0f * H, sd)));
        }
    }
    assert_true(n > NTRIAL / 3);
    assert_true(nclipped > n / 10);
    assert_true(nclipped < n);
}

static void derivatives_of_values(void **unused)
{
    (void)unused;
    double by, ignored;
    static const double row[][4] = {// v, ret, old, most
                                    {1.0, 2.0, 0.9, 0.2},
                                    {1.0, 2.0, 0.1, 0.2},
                                    {1.0, -2.0, 0.1, 0.2},
                                    {1.0, 2.0, 0.1, INFINITY},
                                    {-1.0, -3.0, 0.0, 0.5}};
    static const double expected[] = {-1.0, 0.0, 3.0, -1.0, 0.0};
    for (int i = 0; i < 5; i++) {
        const double *r = row[i];
        rh_ppo__value(r[0], r[1], r[2], r[3], &by);
        double left = rh_ppo__value(r[0] - 1e-4, r[1], r[2], r[3], &ignored);
        double right = rh_ppo__value(r[0] + 1e-4, r[1], r[2], r[3], &ignored);
        is_near(by, (right - left) / 2e-4);
        assert_true(by == expected[i]);
    }
}

// ---------------------------------------------------------------------------- rollouts

static rh_task task_of(int naction)
{
    rh_task task = {.nobs = 2, .naction = naction, .nact = 1, .gamma = 1.0, .nstep = 64};
    task.reward_lo = -INFINITY;
    for (int k = 0; k < 2; k++) {
        task.obs_lo[k] = -1.0;
        task.obs_hi[k] = 1.0;
    }
    task.act_lo[0] = -0.3;
    task.act_hi[0] = 0.7;
    return task;
}

static rh_agent *agent_of(int naction, double rollout)
{
    const rh_agent_type *type = rh_agent_find("ppo", NULL);
    double hp[RH_MAX_PARAM];
    rh_agent *agent = NULL;
    rh_task task = task_of(naction);
    rh_param_initial(type->param, type->nparam, hp);
    hp[rh_param_find(type->param, type->nparam, "rollout")] = rollout;
    hp[rh_param_find(type->param, type->nparam, "batch")] = 8;
    assert_int_equal(rh_agent_create(&agent, type, &task, hp, NULL), RH_OK);
    return agent;
}

// Step t of a task whose episodes end after 5 or 7 steps, now terminal, now truncated.
static void go(rh_agent *agent, int t, rh_rng *rng, double *act)
{
    double obs[2] = {cos(t), sin(t)}, reward = cos(t) * (act[0] - 0.2);
    if (t % 12 == 0 || t % 12 == 5)
        assert_true(rh_agent_start(agent, obs, rng, act));
    else if (t % 12 == 4)
        assert_true(rh_agent_end(agent, reward));
    else if (t % 12 == 11)
        assert_true(rh_agent_truncate(agent, reward, obs, rng, act));
    else
        assert_true(rh_agent_step(agent, reward, obs, rng, act));
}

static void rows_know_how_episodes_end(void **unused)
{
    (void)unused;
    enum { WIDTH = 2 + 1 + 5, NEXT = 6, OPEN = 7, VALUE = 4 };
    rh_agent *agent = agent_of(3, 64);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    rh_state *state = NULL;
    double act[1] = {0};
    size_t n = 0;
    for (int t = 0; t < 15; t++)
        go(agent, t, &rng, act);
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);
    const double *row = rh_state__doubles(state, "rollout", &n);
    assert_int_equal(n, (4 + 6 + 2) * WIDTH);
    for (int i = 0; i < 12; i++, row += WIDTH) {
        bool terminal = i == 3, truncated = i == 9;
        assert_true(row[OPEN] == !(terminal || truncated));
        assert_true((row[NEXT] == 0.0) == terminal);
        if (row[OPEN] != 0.0 && i < 11)
            assert_true(row[NEXT] == row[WIDTH + VALUE]);
    }
    rh_state_destroy(state);
    rh_agent_destroy(agent);
}

// An agent loaded in the middle of a rollout goes on, through the next update, as the saved
// one.
static void goes_on_in_a_rollout(void **unused)
{
    (void)unused;
    for (int naction = 0; naction <= 3; naction += 3) {
        rh_agent *a = agent_of(naction, 16), *b = agent_of(naction, 16);
        rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
        rh_state *state = NULL;
        double x[1] = {0}, y[1] = {0};
        size_t n = 0;
        for (int t = 0; t < 60; t++) // 50 steps with a reward: 3 updates, 2 rows
            go(a, t, &rng, x);
        assert_int_equal(rh_agent_save(a, &state, NULL), RH_OK);
        assert_non_null(rh_state__doubles(state, "rollout", &n));
        assert_int_equal(n, 2 * 8);
        assert_int_equal(rh_agent_load(b, state, NULL), RH_OK);
        rh_state_destroy(state);
        rh_rng other = rng;
        for (int t = 60; t < 120; t++) {
            go(a, t, &rng, x);
            go(b, t, &other, y);
            assert_true(x[0] == y[0]);
        }
        rh_agent_destroy(a);
        rh_agent_destroy(b);
    }
}

// ---------------------------------------------------------------------------- saved states

static void refuses(rh_agent *agent, const rh_state *state, const char *name, size_t at,
                    double x, size_t less, const char *words)
{
    rh_error err = {""};
    rh_state *bad = NULL;
    assert_int_equal(rh_state__create(&bad, NULL), RH_OK);
    assert_int_equal(rh_state__set_label(bad, rh_state__label(state), NULL), RH_OK);
    for (int i = 0; i < rh_state__count(state); i++) {
        const char *own;
        size_t n;
        double y[1024];
        const double *old = rh_state__at(state, i, &own, &n);
        bool changed = !strcmp(own, name);
        if (changed) {
            memcpy(y, old, n * sizeof *y);
            y[at] = x;
        }
        assert_int_equal(
            rh_state_put(bad, own, changed ? y : old, n - (changed ? less : 0), NULL), RH_OK);
    }
    assert_int_not_equal(rh_agent_load(agent, bad, &err), RH_OK);
    assert_string_equal(err.text, words);
    rh_state_destroy(bad);
}

static void damaged_states(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double act[1] = {0};
    for (int naction = 0; naction <= 3; naction += 3) {
        rh_agent *agent = agent_of(naction, 64);
        rh_state *state = NULL;
        for (int t = 0; t < 5; t++)
            go(agent, t, &rng, act);
        assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);
        refuses(agent, state, "rollout", 0, 0.5, 3,
                "ppo: rollout of 29 numbers in the saved state, expected rows of 8");
        refuses(agent, state, "rollout", 9, NAN, 0,
                "ppo: number 10 of the saved rollout is nan, expected one of the task");
        if (naction)
            refuses(agent, state, "rollout", 10, 3.0, 0,
                    "ppo: number 11 of the saved rollout is 3, expected one of the task");
        else
            refuses(agent, state, "spread", 2, -1.0, 0,
                    "ppo: the deviations of the saved state are none");
        rh_state_destroy(state);
        rh_agent_destroy(agent);
    }
}

// ---------------------------------------------------------------------------- learning

// The last action of a task without states, where 1 is right: an index, or the largest number.
static void learns_a_bandit(void **unused)
{
    (void)unused;
    for (int naction = 0; naction <= 2; naction += 2) {
        rh_agent *agent = agent_of(naction, 64);
        rh_rng rng = rh_rng_stream(5, RH_STREAM_AGENT, 0, 0);
        double obs[2] = {0.1, 0.2}, act[1], sum = 0.0;
        assert_true(rh_agent_start(agent, obs, &rng, act));
        for (int t = 0; t < 2000; t++) {
            sum += t >= 1900 ? act[0] : 0.0;
            assert_true(rh_agent_step(agent, act[0], obs, &rng, act));
        }
        assert_true(sum / 100 > (naction ? 0.9 : 0.6));
        rh_agent_freeze(agent, true);
        assert_true(rh_agent_start(agent, obs, &rng, act));
        assert_true(act[0] > (naction ? 0.99 : 0.65));
        rh_agent_destroy(agent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_discrete_actions),
        cmocka_unit_test(derivatives_of_continuous_actions),
        cmocka_unit_test(derivatives_of_values),
        cmocka_unit_test(rows_know_how_episodes_end),
        cmocka_unit_test(goes_on_in_a_rollout),
        cmocka_unit_test(damaged_states),
        cmocka_unit_test(learns_a_bandit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
