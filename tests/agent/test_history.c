// test_history.c - what agents remember of an episode, and the clone of a controller with a
// memory: a stack is what was seen, and a clone that sees enough of it does as the controller.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/history.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "rehearse/rehearse.h"

static void a_stack_is_what_was_seen(void **unused)
{
    enum { NOBS = 2, N = 3, STEPS = 6 };
    static const int naction[] = {0, 4, 20};
    for (int c = 0; c < 3; c++) {
        rh_history h = {NOBS, 1, naction[c], N};
        float stack[N * NOBS + (N - 1) * 4], obs[STEPS][NOBS], act[STEPS];
        int nact = naction[c] == 4 ? 4 : 1;
        assert_int_equal(rh_history__width(&h), N * NOBS + (N - 1) * nact);
        for (int t = 0; t < STEPS; t++) {
            obs[t][0] = (float)t;
            obs[t][1] = (float)-t;
            act[t] = naction[c] ? (float)(t % 4) : 0.1f * (float)t;
            if (t == 0)
                rh_history__start(&h, obs[0], stack);
            else
                rh_history__step(&h, &act[t - 1], obs[t], stack);
            for (int i = 0; i < N; i++) // before the first there was the first
                assert_memory_equal(stack + i * NOBS, obs[t > i ? t - i : 0], sizeof obs[0]);
            for (int i = 0; i < N - 1; i++)
                for (int k = 0; k < nact; k++) {
                    float is = stack[N * NOBS + i * nact + k], was = t > i ? act[t - 1 - i] : 0;
                    float want = naction[c] == 4    ? (float)(was == (float)k)
                                 : naction[c] == 20 ? 2.0f * was / 19.0f - 1.0f
                                                    : was;
                    assert_true(is == (t > i ? want : 0.0f));
                }
        }
    }
    (void)unused;
}

// ---------------------------------------------------------------------------- clones

enum { NROW = 1500, WIDTH = 5, LENGTH = 50 };

// A controller that answers to the observation before the last: only a history shows it.
static double controller(const double *seen, bool discrete)
{
    return discrete ? seen[1] > 0.0 : 0.8 * seen[1];
}

static rh_task log_of(bool discrete, double row[NROW][WIDTH])
{
    rh_rng rng = rh_rng_stream(4, RH_STREAM_START, 0, 0);
    double seen[2] = {0};
    for (int i = 0; i < NROW; i++) {
        if (i % LENGTH == 0)
            seen[0] = seen[1] = rh_rng_range(&rng, -1.0, 1.0);
        double next = rh_rng_range(&rng, -1.0, 1.0);
        memcpy(row[i],
               (double[]){seen[0], controller(seen, discrete), -1.0, next,
                          i % LENGTH == LENGTH - 1 ? 2.0 : 0.0},
               sizeof row[i]);
        seen[1] = seen[0];
        seen[0] = next;
    }
    rh_task task = {.nobs = 1, .naction = discrete ? 2 : 0, .nact = 1, .gamma = 0.9};
    task.nstep = 1000;
    task.reward_lo = -INFINITY;
    task.obs_lo[0] = task.act_lo[0] = -1.0;
    task.obs_hi[0] = task.act_hi[0] = 1.0;
    task.prior = (rh_prior){.n = NROW, .row = row[0]};
    return task;
}

// Mean distance of the agent's actions from the controller's, over some episodes.
static double distance(rh_agent *agent, bool discrete, bool frozen)
{
    rh_rng rng = rh_rng_stream(5, RH_STREAM_AGENT, 0, 0);
    double sum = 0.0, act[1], seen[2];
    rh_agent_freeze(agent, frozen);
    for (int e = 0; e < 20; e++) {
        seen[0] = seen[1] = rh_rng_range(&rng, -1.0, 1.0);
        assert_true(rh_agent_start(agent, seen, &rng, act));
        for (int i = 0; i < LENGTH; i++) {
            sum += fabs(act[0] - controller(seen, discrete)) / (20 * LENGTH);
            seen[1] = seen[0];
            seen[0] = rh_rng_range(&rng, -1.0, 1.0);
            assert_true(rh_agent_step(agent, -1.0, seen, &rng, act));
        }
        assert_true(rh_agent_end(agent, -1.0));
    }
    return sum;
}

static void a_clone_recovers_a_policy_with_memory(void **unused)
{
    static double row[NROW][WIDTH];
    const rh_agent_type *type = rh_agent_find("clone", NULL);
    double hp[RH_MAX_PARAM];
    int history = rh_param_find(type->param, type->nparam, "history");
    for (int discrete = 0; discrete < 2; discrete++) {
        rh_task task = log_of(discrete, row);
        for (int n = 1; n <= 2; n++) {
            rh_agent *agent = NULL;
            rh_clone__quality q;
            rh_param_initial(type->param, type->nparam, hp);
            hp[history] = n;
            assert_int_equal(rh_agent_create(&agent, type, &task, hp, NULL), RH_OK);
            assert_int_equal(rh_clone__measure(&q, &task, hp, NULL), RH_OK);
            assert_int_equal(q.nheld, NROW / 5);
            if (n == 2)
                assert_true(discrete ? q.constant >= 0.4 && q.constant < q.agreement
                                     : isnan(q.constant) && q.spread[0] < q.sd[0]);
            double off = distance(agent, discrete, false);
            assert_true(off == distance(agent, discrete, true)); // it does not learn
            assert_true(n == 1 ? off > 0.2 : off < 0.06);
            assert_true(n == 1 ? q.agreement < 0.7 : q.agreement > 0.9);
            rh_agent_destroy(agent);
        }
    }
    (void)unused;
}

// With start=cloned and full caution, agents act as a clone of the same size does.
static void a_cloned_agent_starts_as_the_clone(void **unused)
{
    static double row[NROW][WIDTH];
    static const char *const name[] = {"td3", "dqn"};
    for (int discrete = 0; discrete < 2; discrete++) {
        const rh_agent_type *type = rh_agent_find(name[discrete], NULL);
        double hp[RH_MAX_PARAM];
        rh_agent *agent = NULL;
        rh_task task = log_of(discrete, row);
        rh_param_initial(type->param, type->nparam, hp);
        hp[rh_param_find(type->param, type->nparam, "before")] = 100;
        hp[rh_param_find(type->param, type->nparam, "caution")] = discrete ? 1.0 : 40.0;
        assert_int_equal(rh_agent_create(&agent, type, &task, hp, NULL), RH_OK);
        double act[1], x[1] = {0.5};
        rh_rng rng = rh_rng_stream(5, RH_STREAM_AGENT, 0, 0);
        assert_true(rh_agent_start(agent, x, &rng, act)); // makes the updates before
        assert_true(rh_agent_end(agent, -1.0));
        assert_true(distance(agent, discrete, true) < 0.06);
        rh_agent_destroy(agent);
    }
    (void)unused;
}

// Every allocation of an agent that begins with a log fails once.
static void failed_allocations(void **unused)
{
    static double row[NROW][WIDTH];
    static const char *const name[] = {"clone", "dqn", "td3", "sac"};
    for (int i = 0; i < 4; i++) {
        const rh_agent_type *type = rh_agent_find(name[i], NULL);
        rh_task task = log_of(i < 2, row);
        task.prior.n = 2 * LENGTH;
        rh_status rc = RH_ENOMEM;
        for (int n = 1; rc; n++) {
            rh_agent *agent = NULL;
            rh_error err = {""};
            rh_base__alloc_fail_at(n);
            rc = rh_agent_create(&agent, type, &task, NULL, &err);
            rh_base__alloc_fail_at(0);
            assert_true(rc == RH_OK || (rc == RH_ENOMEM && !agent && err.text[0]));
            rh_agent_destroy(agent);
        }
    }
    (void)unused;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_is_what_was_seen),
        cmocka_unit_test(a_clone_recovers_a_policy_with_memory),
        cmocka_unit_test(a_cloned_agent_starts_as_the_clone),
        cmocka_unit_test(failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
