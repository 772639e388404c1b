// test_start.c - agents that begin with the log: they act as it did from the first step on,
// staying near it is a matter of caution, and nothing is lost when they are saved.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "rehearse/rehearse.h"

enum { NOBS = 2, NROW = 600, WIDTH = 2 * NOBS + 1 + 2, STEPS = 10 };

// Steps of a controller that answers to the first of two sensors: the action is 1 above 0 and 0
// below, or half of the sensor where actions are continuous. What it does is right. Episodes
// have STEPS steps and end by turns.
static void write_log(double row[NROW][WIDTH], bool discrete)
{
    rh_rng rng = rh_rng_stream(3, RH_STREAM_START, 0, 0);
    double x[NOBS] = {rh_rng_range(&rng, -1.0, 1.0), rh_rng_range(&rng, -1.0, 1.0)};
    for (int i = 0; i < NROW; i++) {
        double *r = row[i], right = discrete ? x[0] > 0.0 : 0.5 * x[0];
        bool last = i % STEPS == STEPS - 1;
        memcpy(r, x, sizeof x);
        r[NOBS] = discrete ? right : fmin(fmax(right + rh_rng_range(&rng, -0.1, 0.1), -1), 1);
        if (discrete && rh_rng_uniform(&rng) < 0.1)
            r[NOBS] = 1.0 - right;
        r[NOBS + 1] = -fabs(r[NOBS] - right);
        for (int k = 0; k < NOBS; k++)
            x[k] = rh_rng_range(&rng, -1.0, 1.0);
        memcpy(r + NOBS + 2, x, sizeof x);
        r[WIDTH - 1] = !last ? 0.0 : i / STEPS % 2 ? 1.0 : 2.0;
    }
}

static rh_task task_of(bool discrete, double row[NROW][WIDTH])
{
    rh_task task = {.nobs = NOBS, .naction = discrete ? 2 : 0, .nact = 1, .gamma = 0.9};
    task.nstep = 1000;
    task.reward_lo = -INFINITY;
    for (int k = 0; k < NOBS; k++) {
        task.obs_lo[k] = -1.0;
        task.obs_hi[k] = 1.0;
    }
    task.act_lo[0] = -1.0;
    task.act_hi[0] = 1.0;
    if (row)
        task.prior = (rh_prior){.n = NROW, .row = row[0]};
    return task;
}

// Give a parameter a value, if the agent has it.
static void set(const rh_agent_type *type, double *hp, const char *param, double value)
{
    int at = param ? rh_param_find(type->param, type->nparam, param) : -1;
    if (at >= 0)
        hp[at] = value;
}

static rh_agent *make(const char *name, const rh_task *task, const char *param, double value)
{
    rh_agent *agent = NULL;
    double hp[RH_MAX_PARAM];
    const rh_agent_type *type = rh_agent_find(name, NULL);
    assert_non_null(type);
    rh_param_initial(type->param, type->nparam, hp);
    set(type, hp, "before", 1500);
    set(type, hp, "n_step", 1);
    set(type, hp, param, value);
    assert_int_equal(rh_agent_create(&agent, type, task, hp, NULL), RH_OK);
    return agent;
}

// The mean distance of a frozen agent's actions from those of the controller, after one start.
static double distance(rh_agent *agent, bool discrete)
{
    rh_rng rng = rh_rng_stream(5, RH_STREAM_AGENT, 0, 0);
    double x[NOBS] = {0.1, 0.2}, act[1], sum = 0.0;
    assert_true(rh_agent_start(agent, x, &rng, act));
    assert_true(rh_agent_end(agent, 0.0));
    rh_agent_freeze(agent, true);
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < NOBS; k++)
            x[k] = rh_rng_range(&rng, -1.0, 1.0);
        assert_true(rh_agent_start(agent, x, &rng, act));
        sum += fabs(act[0] - (discrete ? x[0] > 0.0 : 0.5 * x[0]));
    }
    return sum / 200.0;
}

static void starts_where_the_log_ends(void **unused)
{
    static const char *const name[] = {"dqn", "td3", "sac"};
    static double row[NROW][WIDTH];
    for (int i = 0; i < 3; i++) {
        bool discrete = i == 0;
        write_log(row, discrete);
        rh_task task = task_of(discrete, row);
        rh_agent *from = make(name[i], &task, NULL, 0.0);
        rh_agent *none = make(name[i], &task, "start", 0.0);
        assert_true(distance(from, discrete) < 0.1);
        assert_true(distance(none, discrete) > 0.2); // a wrong one in two, or about 0
        rh_agent_destroy(from);
        rh_agent_destroy(none);
    }
    (void)unused;
}

// The log takes action 0 only, at a cost. What 1 costs is unknown: values of it are chance.
static void caution_keeps_to_what_was_logged(void **unused)
{
    static double row[NROW][WIDTH];
    int nother[2] = {0, 0};
    write_log(row, true);
    for (int i = 0; i < NROW; i++) {
        row[i][NOBS] = 0.0;
        row[i][NOBS + 1] = -1.0 - row[i][0];
    }
    rh_task task = task_of(true, row);
    for (int careful = 0; careful < 2; careful++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            rh_agent *agent = make("dqn", &task, "caution", careful ? 3.0 : 0.0);
            double act[1];
            rh_rng rng = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
            assert_true(rh_agent_start(agent, (double[]){0.0, 0.0}, &rng, act));
            assert_true(rh_agent_end(agent, 0.0));
            rh_agent_freeze(agent, true);
            for (int i = 0; i < 100; i++) {
                double x[NOBS] = {rh_rng_range(&rng, -1, 1), rh_rng_range(&rng, -1, 1)};
                assert_true(rh_agent_start(agent, x, &rng, act));
                nother[careful] += act[0] != 0.0;
            }
            rh_agent_destroy(agent);
        }
    assert_int_equal(nother[1], 0);
    assert_true(nother[0] > 100); // of 600; or the test shows nothing
    (void)unused;
}

// Some steps of learning; the actions of all are mixed into one number.
static double learn(rh_agent *agent, uint64_t seed, int nstep)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
    rh_rng world = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    double x[NOBS] = {0.3, 0.1}, act[1], sum = 0.0;
    assert_true(rh_agent_start(agent, x, &rng, act));
    for (int i = 0; i < nstep; i++) {
        sum += (i + 1) * act[0];
        for (int k = 0; k < NOBS; k++)
            x[k] = rh_rng_range(&world, -1.0, 1.0);
        assert_true(rh_agent_step(agent, -fabs(act[0]), x, &rng, act));
    }
    assert_true(rh_agent_end(agent, -1.0));
    return sum;
}

static void saved_and_loaded(void **unused)
{
    static const char *const name[] = {"dqn", "td3", "sac"};
    static double row[NROW][WIDTH];
    for (int i = 0; i < 3; i++) {
        rh_state *state = NULL;
        write_log(row, i == 0);
        rh_task task = task_of(i == 0, row);
        rh_agent *one = make(name[i], &task, NULL, 0.0),
                 *other = make(name[i], &task, NULL, 0.0);
        double first = learn(one, 1, 40);
        assert_true(first == learn(other, 1, 40)); // same seed, same run
        rh_agent_destroy(other);
        other = make(name[i], &task, NULL, 0.0);
        assert_int_equal(rh_agent_save(one, &state, NULL), RH_OK);
        assert_int_equal(rh_agent_load(other, state, NULL), RH_OK);
        assert_true(learn(one, 2, 40) == learn(other, 2, 40));
        rh_state_destroy(state);
        rh_agent_destroy(one);
        rh_agent_destroy(other);
    }
    (void)unused;
}

static void without_a_log_there_is_no_difference(void **unused)
{
    rh_task task = task_of(true, NULL);
    rh_agent *one = make("dqn", &task, "start", 0.0), *other = make("dqn", &task, "start", 1.0);
    assert_true(learn(one, 1, 300) == learn(other, 1, 300));
    rh_agent_destroy(one);
    rh_agent_destroy(other);
    (void)unused;
}

// practised imitates the rows of practice, clone those of the log, and neither learns.
static void practised_and_cloned(void **unused)
{
    static double row[2 * NROW][WIDTH];
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double x[NOBS] = {0.8, 0.1}, act[1];
    (void)unused;
    write_log(row, false);
    write_log(row + NROW, false);
    for (int i = NROW; i < 2 * NROW; i++)
        row[i][NOBS] = -row[i][NOBS]; // practice says the opposite
    rh_task task = task_of(false, row);
    for (int practised = 0; practised < 2; practised++) {
        const char *name = practised ? "practised" : "clone";
        task.prior = (rh_prior){NROW, row[0], NROW};
        rh_agent *agent = make(name, &task, NULL, 0.0);
        assert_true(rh_agent_start(agent, x, &rng, act));
        assert_true(practised ? act[0] < -0.3 : act[0] > 0.3);
        learn(agent, 1, 40);
        assert_true(rh_agent_start(agent, x, &rng, act));
        assert_true(practised ? act[0] < -0.3 : act[0] > 0.3);
        rh_agent_destroy(agent);
        task.prior = (rh_prior){NROW, row[0], 0}; // nobody practised
        agent = make(name, &task, NULL, 0.0);
        assert_true(rh_agent_start(agent, x, &rng, act));
        assert_true(act[0] > 0.3);
        rh_agent_destroy(agent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_where_the_log_ends),
        cmocka_unit_test(caution_keeps_to_what_was_logged),
        cmocka_unit_test(saved_and_loaded),
        cmocka_unit_test(practised_and_cloned),
        cmocka_unit_test(without_a_log_there_is_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
