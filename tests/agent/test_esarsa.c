// test_esarsa.c - the fast Expected Sarsa(lambda) against the plain one, step by step.
//
// Both meet the same environment with the same random numbers. They must choose the same
// actions for thousands of steps, and end with the same weights to the tolerance given with
// each fixed observation. What limits it is float arithmetic in the active set (about 3e-7 of a
// step a step); the traces let go early (weights.c, 4) are far below.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "rehearse/rehearse.h"

#include "agent/kernel.h"
#include "base/base.h"
#include "reference/esarsa_plain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct entry {
    const char *env;
    double hp[5]; // alpha, beta1, tau, w_init, lambda
    int nstep;
    int cut;           // an episode is cut off (without an end) after so many steps; 0: never
    double mean, most; // how far weights may be apart, on average and at the most
    int tilings, tiles;
} entry;

// A walk on a square with any number of directions, so that lines of four actions are not
// enough.
enum { NDIRECTION = 9 };

static rh_status compass_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)self;
    (void)opt;
    (void)err;
    task->nobs = 2;
    task->obs_name[0] = task->obs_name[1] = "x";
    task->obs_hi[0] = task->obs_hi[1] = 1.0;
    task->naction = NDIRECTION;
    task->nact = 1;
    task->nstep = 1000;
    task->gamma = 0.98;
    return RH_OK;
}

static void compass_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    (void)self;
    double *x = state;
    obs[0] = x[0] = rh_rng_uniform(&streams->start);
    obs[1] = x[1] = rh_rng_uniform(&streams->start);
}

static bool compass_step(const void *self, void *state, const double *act, rh_streams *streams,
                         double *obs, double *reward)
{
    (void)self;
    double *x = state, z[2], sine, cosine;
    rh_rng_normal(&streams->noise, z);
    rh_maths__sincos(act[0] * 6.28 / NDIRECTION, &sine, &cosine);
    obs[0] = x[0] = fmin(fmax(x[0] + 0.06 * cosine + 0.01 * z[0], 0.0), 1.0);
    obs[1] = x[1] = fmin(fmax(x[1] + 0.06 * sine + 0.01 * z[1], 0.0), 1.0);
    *reward = -1.0;
    return x[0] + x[1] > 1.8;
}

static const rh_env_type compass = {
    .name = "compass",
    .self_size = 1,
    .state_size = 2 * sizeof(double),
    .init = compass_init,
    .start = compass_start,
    .step = compass_step,
};

static rh_env *make_env(const char *name)
{
    rh_env *env = NULL;
    const rh_env_type *type = strcmp(name, "compass") == 0 ? &compass : rh_env_find(name, NULL);
    assert_int_equal(rh_env_create(&env, type, NULL, NULL), RH_OK);
    return env;
}

// sgd: plain gradient descent instead of Adam.
static rh_agent *make_agent(const rh_env *env, const entry *c, bool sgd)
{
    const rh_agent_type *type = rh_agent_find("esarsa", NULL);
    double hp[32];
    rh_param_initial(type->param, type->nparam, hp);
    memcpy(hp, c->hp, sizeof c->hp);
    hp[rh_param_find(type->param, type->nparam, "tilings")] = c->tilings;
    hp[rh_param_find(type->param, type->nparam, "tiles")] = c->tiles;
    hp[rh_param_find(type->param, type->nparam, "optimiser")] = sgd;
    rh_agent *agent = NULL;
    assert_int_equal(rh_agent_create(&agent, type, rh_env_task(env), hp, NULL), RH_OK);
    return agent;
}

// The mean and the largest difference of a weight.
static void weight_gap(rh_agent *agent, const plain *p, double *mean, double *most)
{
    rh_state *state = NULL;
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);
    size_t n = 0;
    const double *w = rh_state__doubles(state, "w", &n); // (nfeature x naction)
    assert_int_equal(n, p->nfeature * p->naction);
    *mean = *most = 0.0;
    for (int f = 0; f < p->nfeature; f++)
        for (int a = 0; a < p->naction; a++) {
            double gap = fabs(w[f * p->naction + a] - p->w[a * p->nfeature + f]);
            *mean += gap / (p->nfeature * p->naction);
            *most = fmax(*most, gap);
        }
    rh_state_destroy(state);
}

static void compare(const entry *c, bool sgd)
{
    rh_env *env = make_env(c->env);
    rh_agent *agent = make_agent(env, c, sgd);
    plain *p = plain_create(rh_env_task(env), c->hp, c->tilings, c->tiles);
    p->sgd = sgd;
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(7, RH_STREAM_START, 0, 0),
                          rh_rng_stream(7, RH_STREAM_NOISE, 0, 0)};
    rh_rng one = rh_rng_stream(7, RH_STREAM_AGENT, 0, 0), two = one;
    double obs[RH_MAX_OBS], act[1], reward;

    rh_env_start(env, state, &streams, obs);
    assert_true(rh_agent_start(agent, obs, &one, act));
    assert_int_equal(act[0], plain_start(p, obs, &two));
    for (int t = 0, length = 0; t < c->nstep; t++) {
        bool terminal = rh_env_step(env, state, act, &streams, obs, &reward);
        length++;
        if (terminal) {
            assert_true(rh_agent_end(agent, reward));
            plain_end(p, reward);
        } else {
            assert_true(rh_agent_step(agent, reward, obs, &one, act));
            int expected = plain_step(p, reward, obs, &two);
            if (act[0] != expected)
                fail_msg("%s: step %d: action %g, expected %d", c->env, t, act[0], expected);
        }
        if (terminal || (c->cut && length == c->cut)) {
            rh_env_start(env, state, &streams, obs);
            assert_true(rh_agent_start(agent, obs, &one, act));
            assert_int_equal(act[0], plain_start(p, obs, &two));
            length = 0;
        }
    }
    double mean, most;
    weight_gap(agent, p, &mean, &most);
    print_message(
        "%s: %salpha %g, beta1 %g, lambda %g: %d steps, weights apart by %.1g on average "
        "and %.1g at most\n",
        c->env, sgd ? "sgd, " : "", c->hp[0], c->hp[1], c->hp[4], c->nstep, mean, most);
    assert_true(mean < c->mean);
    assert_true(most < c->most);
    rh_free(state);
    plain_destroy(p);
    rh_agent_destroy(agent);
    rh_env_destroy(env);
}

static void agrees_with_the_plain_one(void **unused)
{
    (void)unused;
    static const entry entries[] = {
        {"puddle_world", {0.1, 0, 1, 0, 0.1}, 10000, 0, 3e-6, 1e-3, 16, 8},
        {"puddle_world", {0.03, 0.9, 10, 4, 0.1}, 15000, 0, 3e-6, 1e-4, 16, 8},
        {"puddle_world", {0.1, 0.5, 1, 0, 0}, 10000, 50, 1e-6, 1e-5, 16, 8},
        {"cartpole", {0.03, 0, 1, 6, 0.023}, 10000, 0, 1e-6, 1e-4, 16, 8},
        {"cartpole", {0.03, 0.9, 1, 0, 0.023}, 3000, 0, 1e-5, 1e-3, 16, 8},
        {"cartpole", {0.03, 0, 10, 12, 0.9}, 5000, 0, 3e-6, 1e-4, 16, 8},
        {"acrobot", {0.03, 0, 1, 0, 0.8}, 6000, 0, 1e-6, 1e-5, 16, 8},
        {"acrobot", {0.03, 0.9, 1, 8, 0.8}, 3000, 0, 1e-6, 1e-5, 16, 8},
        {"acrobot", {0.003, 0, 100, 0, 0.8}, 3000, 500, 1e-6, 1e-5, 16, 8},
        {"mountain_car", {0.1, 0, 1, 0, 1.0}, 3000, 300, 3e-6, 1e-4, 16, 8},
        {"compass", {0.1, 0, 1, 0, 0.9}, 4000, 0, 3e-6, 1e-4, 16, 8},
        {"compass", {0.1, 0.9, 1, 1, 0.3}, 4000, 0, 3e-6, 1e-4, 5, 3},
        {"compass", {0.1, 0.99, 1, 0, 0.01}, 3000, 200, 1e-5, 1e-3, 1, 1},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        compare(&entries[i], false);
}

// Plain gradient descent; beta1 means nothing to it.
static void agrees_without_adam(void **unused)
{
    (void)unused;
    static const entry entries[] = {
        {"cartpole", {0.0067, 0, 1, 0, 0.942}, 10000, 0, 1e-7, 1e-6, 16, 2},
        {"cartpole", {0.01, 0.9, 0.1, 6, 0.023}, 5000, 0, 1e-7, 1e-5, 16, 8},
        {"puddle_world", {0.1, 0, 1, 0, 0.1}, 5000, 50, 1e-7, 1e-5, 16, 8},
        {"mountain_car", {0.1, 0.9, 1, 0, 1.0}, 3000, 300, 3e-6, 1e-4, 16, 8},
        {"compass", {0.05, 0, 1, 1, 0.9}, 4000, 0, 3e-6, 1e-4, 5, 3},
    };
    for (int k = 1; k <= rh_isa__count(); k++) {
        rh_isa__limit(k);
        for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
            compare(&entries[i], true);
    }
    rh_isa__limit(0);
}

// The first steps of a run in Cartpole, and what was learned in them.
static rh_state *live_a_little(rh_agent *agent, const rh_env *env)
{
    rh_state *learned = NULL;
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(3, RH_STREAM_START, 0, 0),
                          rh_rng_stream(3, RH_STREAM_NOISE, 0, 0)};
    rh_rng rng = rh_rng_stream(3, RH_STREAM_AGENT, 0, 0);
    double obs[RH_MAX_OBS], act[1], reward;
    rh_env_start(env, state, &streams, obs);
    rh_agent_start(agent, obs, &rng, act);
    for (int t = 0; t < 1000; t++) {
        rh_env_step(env, state, act, &streams, obs, &reward);
        rh_agent_step(agent, reward, obs, &rng, act);
    }
    assert_int_equal(rh_agent_save(agent, &learned, NULL), RH_OK);
    rh_free(state);
    return learned;
}

// Memory that has served one optimiser serves the other as if it were new.
static void the_optimiser_may_change(void **unused)
{
    (void)unused;
    const entry c = {"cartpole", {0.05, 0.9, 0.1, 1, 0.5}, 0, 0, 0, 0, 4, 4};
    rh_env *env = make_env(c.env);
    rh_agent *used = make_agent(env, &c, false);
    for (int sgd = 1; sgd >= 0; sgd--) {
        rh_agent *fresh = make_agent(env, &c, sgd);
        const rh_agent_type *type = rh_contract__agent_type(fresh);
        double hp[32];
        rh_param_initial(type->param, type->nparam, hp);
        memcpy(hp, c.hp, sizeof c.hp);
        hp[rh_param_find(type->param, type->nparam, "tilings")] = c.tilings;
        hp[rh_param_find(type->param, type->nparam, "tiles")] = c.tiles;
        hp[rh_param_find(type->param, type->nparam, "optimiser")] = sgd;
        rh_state_destroy(live_a_little(used, env));
        assert_int_equal(rh_contract__agent_reset(used, rh_env_task(env), hp, NULL), RH_OK);
        rh_state *one = live_a_little(fresh, env), *two = live_a_little(used, env);
        static const char *const name[] = {"w", "v", "m"};
        for (int i = 0; i < 3; i++) {
            size_t n = 0, m = 0;
            const double *x = rh_state__doubles(one, name[i], &n);
            const double *y = rh_state__doubles(two, name[i], &m);
            assert_int_equal(n, m);
            assert_true(n > 0 || (sgd && i == 2)); // it has no momentum
            if (n)
                assert_memory_equal(x, y, n * sizeof *x);
        }
        rh_state_destroy(two);
        rh_state_destroy(one);
        rh_agent_destroy(fresh);
    }
    rh_agent_destroy(used);
    rh_env_destroy(env);
}

// A state saved by a program that knew no optimiser has one hyperparameter less. It loads as
// Adam's, and not with any other.
static void old_states_load(void **unused)
{
    (void)unused;
    const entry c = {"puddle_world", {0.1, 0, 1, 0, 0.1}, 0, 0, 0, 0, 4, 4};
    rh_env *env = make_env(c.env);
    rh_agent *agent = make_agent(env, &c, false);
    rh_state *state = NULL, *old = NULL;
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);
    assert_int_equal(rh_state__create(&old, NULL), RH_OK);
    assert_int_equal(rh_state__set_label(old, rh_state__label(state), NULL), RH_OK);
    static const char *const name[] = {"task", "hyperparameters", "beta^t", "w", "v"};
    for (int i = 0; i < 5; i++) {
        size_t n = 0;
        const double *x = rh_state__doubles(state, name[i], &n);
        assert_int_equal(rh_state_put(old, name[i], x, n - (i == 1), NULL), RH_OK);
    }
    assert_int_equal(rh_agent_load(agent, old, NULL), RH_OK);

    rh_error err;
    rh_agent *other = make_agent(env, &c, true);
    assert_int_equal(rh_agent_load(other, old, &err), RH_EINVAL);
    assert_string_equal(err.text, "esarsa: the state was saved with optimiser = adam, not sgd");
    rh_state_destroy(old);
    rh_state_destroy(state);
    rh_agent_destroy(other);
    rh_agent_destroy(agent);
    rh_env_destroy(env);
}

// The same through every instruction set. Those with a fused multiply-add lead the same runs.
static void every_kernel_agrees(void **unused)
{
    (void)unused;
    static const entry entries[] = {
        {"puddle_world", {0.1, 0, 1, 0, 0.1}, 3000, 0, 3e-6, 1e-3, 16, 8},
        {"cartpole", {0.03, 0.9, 1, 6, 0.023}, 3000, 0, 1e-5, 1e-3, 16, 8},
        {"acrobot", {0.03, 0, 1, 0, 0.8}, 2000, 0, 1e-6, 1e-5, 16, 8},
        {"compass", {0.1, 0.5, 1, 0, 0.5}, 3000, 0, 3e-6, 1e-4, 7, 2},
    };
    for (int k = 1; k <= rh_isa__count(); k++) {
        rh_isa__limit(k);
        for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
            compare(&entries[i], false);
    }
    rh_isa__limit(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_plain_one), cmocka_unit_test(agrees_without_adam),
        cmocka_unit_test(the_optimiser_may_change),  cmocka_unit_test(old_states_load),
        cmocka_unit_test(every_kernel_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
