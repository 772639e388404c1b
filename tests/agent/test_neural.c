// test_neural.c - agents with networks: their updates are those of PyTorch, bits do not depend
// on the instruction set, episodes end as they should, and damaged states are refused.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/neural.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "numeric/kernels.h"
#include "numeric/mlp_kernel.h"
#include "rehearse/rehearse.h"

// ---------------------------------------------------------------------------- tasks, states

static rh_task task_of(int nobs, int naction, int nact)
{
    rh_task task = {.nobs = nobs, .naction = naction, .nact = nact, .gamma = 1.0, .nstep = 64};
    task.reward_lo = -INFINITY;
    for (int k = 0; k < nobs; k++) {
        task.obs_lo[k] = -1.0;
        task.obs_hi[k] = 1.0;
    }
    for (int k = 0; k < nact; k++) {
        task.act_lo[k] = -0.3;
        task.act_hi[k] = 0.7;
    }
    return task;
}

// A copy of a state with array `name` replaced by x (n), or left out (NULL).
static rh_state *with_array(const rh_state *state, const char *name, const double *x, size_t n)
{
    rh_state *made = NULL;
    assert_int_equal(rh_state__create(&made, NULL), RH_OK);
    assert_int_equal(rh_state__set_label(made, rh_state__label(state), NULL), RH_OK);
    for (int i = 0; i < rh_state__count(state); i++) {
        const char *own;
        size_t nown;
        const double *y = rh_state__at(state, i, &own, &nown);
        if (strcmp(own, name) != 0)
            assert_int_equal(rh_state_put(made, own, y, nown, NULL), RH_OK);
        else if (x)
            assert_int_equal(rh_state_put(made, own, x, n, NULL), RH_OK);
    }
    return made;
}

static void replace(rh_state **state, const char *name, const double *x, size_t n)
{
    rh_state *made = with_array(*state, name, x, n);
    rh_state_destroy(*state);
    *state = made;
}

static void set(const rh_agent_type *type, double *hp, const char *name, double x)
{
    int i = rh_param_find(type->param, type->nparam, name);
    assert_true(i >= 0);
    hp[i] = x;
}

// ---------------------------------------------------------------------------- PyTorch

enum { LINE = 1 << 15, NUMBERS = 2048, WORD = 32 };

typedef struct comparison {
    char name[WORD]; // of the case
    const rh_agent_type *type;
    double hp[RH_MAX_PARAM];
    rh_task task;
    rh_agent *agent; // owned
    rh_state *state; // owned: before or after the updates
    bool updated;
} comparison;

static void end_comparison(comparison *c)
{
    rh_agent_destroy(c->agent);
    rh_state_destroy(c->state);
    *c = (comparison){0};
}

static void begin_state(comparison *c)
{
    if (c->agent)
        return;
    assert_int_equal(rh_agent_create(&c->agent, c->type, &c->task, c->hp, NULL), RH_OK);
    assert_int_equal(rh_agent_save(c->agent, &c->state, NULL), RH_OK);
}

// The updates that are due are made by the next start.
static void update(comparison *c)
{
    if (c->updated)
        return;
    double obs[RH_MAX_OBS] = {0.1, 0.2, 0.3}, act[RH_MAX_ACT];
    rh_rng rng = rh_rng_stream(7, RH_STREAM_AGENT, 0, 0);
    assert_int_equal(rh_agent_load(c->agent, c->state, NULL), RH_OK);
    assert_true(rh_agent_start(c->agent, obs, &rng, act));
    rh_state_destroy(c->state);
    c->state = NULL;
    assert_int_equal(rh_agent_save(c->agent, &c->state, NULL), RH_OK);
    c->updated = true;
}

static void follow(comparison *c, const char *what, const char *name, const double *x, size_t n)
{
    if (!strcmp(what, "task")) {
        c->type = rh_agent_find(name, NULL);
        assert_non_null(c->type);
        rh_param_initial(c->type->param, c->type->nparam, c->hp);
        if (rh_param_find(c->type->param, c->type->nparam, "history") >= 0)
            set(c->type, c->hp, "history", 1);
        c->task = task_of((int)x[0], (int)x[1], (int)x[2]);
    } else if (!strcmp(what, "set")) {
        set(c->type, c->hp, name, x[0]);
    } else if (!strcmp(what, "before")) {
        begin_state(c);
        replace(&c->state, name, x, n);
    } else {
        update(c);
        size_t own_n = 0;
        const double *own = rh_state__doubles(c->state, name, &own_n);
        assert_int_equal(own_n, n);
        for (size_t i = 0; i < n; i++)
            if (!(fabs(own[i] - x[i]) <= 1e-5 * fabs(x[i]) + 1e-6))
                fail_msg("%s: number %zu of '%s' is %.9g, expected %.9g", c->name, i, name,
                         own[i], x[i]);
    }
}

static void updates_are_those_of_pytorch(void **unused)
{
    (void)unused;
    static char line[LINE];
    static double x[NUMBERS];
    for (int k = 1; k <= rh_isa__count(); k++) {
        FILE *file = fopen(RH_TEST_DATA "/agent_neural.csv", "r");
        assert_non_null(file);
        rh_isa__limit(k);
        comparison c = {0};
        int ncompared = 0;
        while (fgets(line, LINE, file)) {
            char name[WORD], what[WORD], array[WORD];
            int at = 0;
            size_t n = 0;
            assert_int_equal(sscanf(line, "%31[^,],%31[^,],%31[^,],%n", name, what, array, &at),
                             3);
            for (char *word = strtok(line + at, ",\n"); word; word = strtok(NULL, ",\n")) {
                assert_true(n < NUMBERS);
                x[n++] = strtod(word, NULL);
            }
            if (strcmp(name, c.name) != 0) {
                end_comparison(&c);
                strcpy(c.name, name);
            }
            follow(&c, what, array, x, n);
            ncompared += !strcmp(what, "after");
        }
        assert_int_equal(ncompared, 2 * 6 + 18 + 2 * 16 + 6 + 2 * 7);
        end_comparison(&c);
        fclose(file);
    }
    rh_isa__limit(0);
}

// ---------------------------------------------------------------------------- bits

// A run of an agent in an environment, as a number that depends on every action.
static double hash_of_run(const char *agent_name, const char *env_name, int nstep)
{
    rh_env *env = NULL;
    rh_agent *agent = NULL;
    assert_int_equal(rh_env_create(&env, rh_env_find(env_name, NULL), NULL, NULL), RH_OK);
    assert_int_equal(
        rh_agent_create(&agent, rh_agent_find(agent_name, NULL), rh_env_task(env), NULL, NULL),
        RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    assert_non_null(state);
    rh_streams streams = {.start = rh_rng_stream(3, RH_STREAM_START, 0, 0),
                          .noise = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0)};
    rh_rng rng = rh_rng_stream(3, RH_STREAM_AGENT, 0, 0);
    double obs[RH_MAX_OBS], act[RH_MAX_ACT], reward, hash = 0.0;
    rh_env_start(env, state, &streams, obs);
    assert_true(rh_agent_start(agent, obs, &rng, act));
    for (int t = 0; t < nstep; t++) {
        hash = hash * 0.99 + act[0];
        assert_false(rh_env_step(env, state, act, &streams, obs, &reward));
        assert_true(rh_agent_step(agent, reward, obs, &rng, act));
    }
    rh_free(state);
    rh_agent_destroy(agent);
    rh_env_destroy(env);
    return hash;
}

static void same_bits_by_instruction_set(void **unused)
{
    (void)unused;
    static const char *const pair[][2] = {{"dqn", "cartpole"},
                                          {"td3", "pendulum"},
                                          {"sac", "pendulum"},
                                          {"ppo", "cartpole"},
                                          {"ppo", "pendulum"}};
    for (int i = 0; i < 5; i++) {
        double first = NAN;
        for (int k = 1; k <= rh_isa__count(); k++) {
            rh_isa__limit(k);
            double hash = hash_of_run(pair[i][0], pair[i][1], 400);
            if (!rh_mlp__kernels_at(k - 1)->fused)
                continue;
            if (!isnan(first))
                assert_true(hash == first);
            first = hash;
        }
    }
    rh_isa__limit(0);
}

// ---------------------------------------------------------------------------- episodes

// Rows of the memory after an episode of three steps, of which the last is as told.
static rh_state *after_three_steps(const char *name, bool truncated)
{
    const rh_agent_type *type = rh_agent_find(name, NULL);
    double hp[RH_MAX_PARAM], obs[2], act[RH_MAX_ACT];
    rh_agent *agent = NULL;
    rh_state *state = NULL;
    rh_task task = task_of(2, type->actions & RH_DISCRETE ? 2 : 0, 1);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    rh_param_initial(type->param, type->nparam, hp);
    set(type, hp, "n_step", 2);
    set(type, hp, "history", 1);
    set(type, hp, "horizon", 2); // gamma = 1/2
    assert_int_equal(rh_agent_create(&agent, type, &task, hp, NULL), RH_OK);
    for (int t = 0; t < 4; t++) {
        obs[0] = 0.125 * t;
        obs[1] = -0.125 * t;
        if (t == 0)
            assert_true(rh_agent_start(agent, obs, &rng, act));
        else if (t < 3)
            assert_true(rh_agent_step(agent, t, obs, &rng, act));
        else if (truncated)
            assert_true(rh_agent_truncate(agent, t, obs, &rng, act));
        else
            assert_true(rh_agent_end(agent, t));
    }
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);
    rh_agent_destroy(agent);
    return state;
}

static void truncated_bootstraps_and_terminal_does_not(void **unused)
{
    (void)unused;
    static const char *const agent[] = {"dqn", "td3", "sac"};
    for (int i = 0; i < 6; i++) {
        bool cut = i % 2;
        size_t n = 0;
        rh_state *state = after_three_steps(agent[i / 2], cut);
        const double *row = rh_state__doubles(state, "memory", &n);
        assert_int_equal(n, 3 * 7); // s (2), s' (2), a, return, discount
        const double expected[3][2] = {
            {1 + 0.5 * 2, 0.25}, {2 + 0.5 * 3, cut ? 0.25 : 0.0}, {3, cut ? 0.5 : 0.0}};
        for (int k = 0; k < 3; k++, row += 7) {
            int last = k < 2 ? k + 2 : 3; // step of s'
            bool there = k == 0 || cut;
            assert_true(row[0] == 0.125 * k);
            assert_true(row[1] == -0.125 * k);
            assert_true(row[2] == (there ? 0.125 * last : 0.0));
            assert_true(row[5] == expected[k][0]);
            assert_true(row[6] == expected[k][1]);
        }
        rh_state_destroy(state);
    }
}

// The smaller of the task's discount and that of the horizon.
static void discount_of_horizon_and_task(void **unused)
{
    (void)unused;
    const rh_agent_type *type = rh_agent_find("dqn", NULL);
    static const double gamma[] = {1.0, 0.5}, expected[] = {0.9, 0.5};
    for (int i = 0; i < 2; i++) {
        rh_task task = task_of(1, 2, 1);
        rh_neural *s = rh_alloc(1, type->self_size);
        double hp[RH_MAX_PARAM];
        assert_non_null(s);
        rh_param_initial(type->param, type->nparam, hp);
        set(type, hp, "horizon", 10);
        task.gamma = gamma[i];
        assert_int_equal(type->init(s, &task, hp, NULL), RH_OK);
        assert_true(s->gamma == expected[i]);
        assert_true(s->memory.gamma == expected[i]);
        assert_int_equal(s->memory.room, 64); // the steps of a run
        type->clear(s);
        rh_free(s);
    }
}

// Before its first start an agent has no networks: it acts at random, within bounds.
static void acts_before_it_starts(void **unused)
{
    (void)unused;
    static const char *const agent[] = {"dqn", "td3", "sac", "ppo"};
    for (int i = 0; i < 4; i++) {
        const rh_agent_type *type = rh_agent_find(agent[i], NULL);
        bool discrete = type->actions & RH_DISCRETE;
        rh_task task = task_of(2, discrete ? 5 : 0, 1);
        rh_agent *made = NULL;
        rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
        double obs[2] = {0.0, 0.0}, act[1], lo = INFINITY, hi = -INFINITY;
        assert_int_equal(rh_agent_create(&made, type, &task, NULL, NULL), RH_OK);
        rh_agent_freeze(made, true);
        for (int t = 0; t < 200; t++) {
            assert_true(rh_agent_start(made, obs, &rng, act));
            lo = fmin(lo, act[0]);
            hi = fmax(hi, act[0]);
        }
        assert_true(discrete ? lo == 0.0 && hi == 4.0 : lo < -0.25 && hi > 0.65);
        rh_agent_destroy(made);
    }
}

// An observation that is not finite is noticed.
static void a_nan_is_unhealthy(void **unused)
{
    (void)unused;
    static const char *const agent[] = {"dqn", "td3", "sac", "ppo"};
    for (int i = 0; i < 4; i++) {
        const rh_agent_type *type = rh_agent_find(agent[i], NULL);
        rh_task task = task_of(2, type->actions & RH_DISCRETE ? 5 : 0, 1);
        rh_agent *made = NULL;
        rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
        double obs[2] = {0.0, NAN}, act[1];
        assert_int_equal(rh_agent_create(&made, type, &task, NULL, NULL), RH_OK);
        assert_false(rh_agent_start(made, obs, &rng, act));
        rh_agent_destroy(made);
    }
}

// ---------------------------------------------------------------------------- saved states

static void refuses(rh_agent *agent, const rh_state *state, const char *name, const double *x,
                    size_t n, const char *words)
{
    rh_error err = {""};
    rh_state *bad = with_array(state, name, x, n);
    assert_int_not_equal(rh_agent_load(agent, bad, &err), RH_OK);
    assert_string_equal(err.text, words);
    rh_state_destroy(bad);
}

static void damaged_states(void **unused)
{
    (void)unused;
    rh_state *state = after_three_steps("sac", false);
    const rh_agent_type *type = rh_agent_find("sac", NULL);
    rh_task task = task_of(2, 0, 1);
    rh_agent *agent = NULL;
    size_t n = 0;
    double counts[4] = {1.0, 3.0, NAN, 0.0}, scales[4] = {0.0, 1.0, 0.0, 1.0}, rows[14] = {0};
    double hp[RH_MAX_PARAM];
    rh_param_initial(type->param, type->nparam, hp);
    set(type, hp, "history", 1);
    assert_int_equal(rh_agent_create(&agent, type, &task, hp, NULL), RH_OK);
    refuses(agent, state, "counts", counts, 4,
            "sac: the counts of the saved state are not in range");
    refuses(agent, state, "counts", NULL, 0, "sac: no array 'counts' in the saved state");
    refuses(agent, state, "scaling", scales, 4,
            "scaling: the scales of the saved state are no scales");
    refuses(agent, state, "memory", rows, 13,
            "replay memory: 13 numbers in the saved state, expected rows of 7");
    refuses(agent, state, "memory", NULL, 0,
            "replay memory: 0 numbers in the saved state, expected rows of 7");
    rows[9] = INFINITY;
    refuses(agent, state, "memory", rows, 14,
            "replay memory: number 10 of the saved state is inf, expected a finite one");

    rows[9] = 0.0;
    rows[6] = 1.5;
    refuses(agent, state, "memory", rows, 14,
            "replay memory: row 1 of the saved state has action 0 and discount 1.5, expected "
            "those of the task");

    // an action that the task does not have
    rh_task two = task_of(2, 2, 1);
    rh_agent *discrete = NULL;
    rh_state *own = after_three_steps("dqn", false);
    const rh_agent_type *dqn = rh_agent_find("dqn", NULL);
    rh_param_initial(dqn->param, dqn->nparam, hp);
    set(dqn, hp, "history", 1);
    assert_int_equal(rh_agent_create(&discrete, dqn, &two, hp, NULL), RH_OK);
    rows[6] = 0.5;
    rows[11] = 2.0;
    refuses(discrete, own, "memory", rows, 14,
            "replay memory: row 2 of the saved state has action 2 and discount 0, expected "
            "those of the task");
    rh_state_destroy(own);
    rh_agent_destroy(discrete);

    // a network of another shape, that is a network all the same
    const double *w = rh_state__doubles(state, "network 0 weights", &n);
    double shape[5] = {RH_MLP_PLAIN, 2.0, 64.0, 64.0, 2.0};
    assert_non_null(w);
    assert_int_equal(n, 3 * 64 + 65 * 64 + 65 * 2);
    double *less = rh_alloc(3, sizeof *less);
    assert_non_null(less);
    rh_state *other = with_array(state, "network 0 weights", less, 3);
    replace(&other, "network 0 first", less, 3);
    replace(&other, "network 0 second", less, 3);
    refuses(agent, other, "network 0 shape", (double[]){0.0, 2.0, 1.0}, 3,
            "sac: network 0 of the saved state has another shape");
    shape[1] = 7.0;
    refuses(agent, state, "network 0 shape", shape, 5,
            "mlp 'network 0': array 'network 0 weights' of the saved state has 4482 numbers, "
            "expected 4802");
    assert_int_equal(rh_agent_load(agent, state, NULL), RH_OK);
    rh_free(less);
    rh_state_destroy(other);
    rh_state_destroy(state);
    rh_agent_destroy(agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_those_of_pytorch),
        cmocka_unit_test(same_bits_by_instruction_set),
        cmocka_unit_test(truncated_bootstraps_and_terminal_does_not),
        cmocka_unit_test(discount_of_horizon_and_task),
        cmocka_unit_test(acts_before_it_starts),
        cmocka_unit_test(a_nan_is_unhealthy),
        cmocka_unit_test(damaged_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
