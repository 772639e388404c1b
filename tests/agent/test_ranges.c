// test_ranges.c - continuous actions stay within ranges of odd decimals, whose middle and half
// cannot be represented.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>

#include "agent/agent_internal.h"
#include "base/base_internal.h"
#include "rehearse/rehearse.h"

#define NRANGE 4000

static rh_task task_of(double lo, double hi)
{
    rh_task task = {.nobs = 1, .nact = 1, .gamma = 0.9, .nstep = 100};
    task.obs_name[0] = "x";
    task.obs_hi[0] = 1.0;
    task.act_lo[0] = lo;
    task.act_hi[0] = hi;
    return task;
}

// A number with four decimals, as a log has them.
static double four_decimals(rh_rng *rng)
{
    return (double)rh_rng_below(rng, 200001) / 1e4 - 10.0;
}

// The agent itself, without the check of its caller.
static void gaussian_stays_inside(void **unused)
{
    (void)unused;
    const rh_agent_type *type = &rh_agent_gaussian_actor_critic;
    double hp[16], obs = 0.5, act = 0.0;
    int nend = 0, nodd = 0;
    rh_rng rng = rh_rng_stream(3, RH_STREAM_FIT, 0, 0);
    for (int i = 0; i < type->nparam; i++)
        hp[i] = type->param[i].initial;
    hp[rh_param_find(type->param, type->nparam, "sigma_init")] = 2.0;
    hp[rh_param_find(type->param, type->nparam, "tilings")] = 1.0;
    for (int trial = 0; trial < NRANGE; trial++) {
        double lo = four_decimals(&rng), hi = four_decimals(&rng);
        if (!(lo < hi))
            continue;
        void *self = rh_alloc(1, type->self_size);
        rh_task task = task_of(lo, hi);
        assert_non_null(self);
        assert_int_equal(type->init(self, &task, hp, NULL), RH_OK);
        double middle = 0.5 * (lo + hi), half = 0.5 * (hi - lo);
        nodd += middle - half < lo || middle + half > hi;
        for (int i = 0; i < 12; i++) {
            assert_true(type->act(self, &obs, &rng, &act));
            assert_true(act >= lo);
            assert_true(act <= hi);
            nend += act == lo || act == hi;
        }
        type->clear(self);
        rh_free(self);
    }
    assert_true(nend > NRANGE); // ends are reached
    assert_true(nodd > 100);    // and rounding would miss them
}

// An agent that wants the action it is told.
static double wanted;

static rh_status told_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    (void)self, (void)task, (void)hp, (void)err;
    return RH_OK;
}

static bool told_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    (void)self, (void)obs, (void)rng;
    *act = wanted;
    return true;
}

static bool told_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)reward;
    return told_act(self, obs, rng, act);
}

static bool told_end(void *self, double reward)
{
    (void)self, (void)reward;
    return true;
}

static const rh_agent_type told = {
    .name = "told",
    .actions = RH_CONTINUOUS,
    .init = told_init,
    .start = told_act,
    .step = told_step,
    .end = told_end,
    .act = told_act,
};

// Rounding is forgiven, also that of single precision; anything more is not.
static void rounding_is_forgiven(void **unused)
{
    (void)unused;
    double obs = 0.5, act = 0.0;
    rh_rng rng = rh_rng_stream(4, RH_STREAM_FIT, 0, 0);
    for (int trial = 0; trial < NRANGE; trial++) {
        double lo = four_decimals(&rng), hi = four_decimals(&rng);
        if (!(lo < hi))
            continue;
        rh_task task = task_of(lo, hi);
        rh_agent *agent = NULL;
        assert_int_equal(rh_agent_create(&agent, &told, &task, NULL, NULL), RH_OK);
        const double near[] = {nextafter(lo, -INFINITY),
                               nextafter(hi, INFINITY),
                               (double)(float)lo,
                               (double)(float)hi,
                               lo,
                               hi};
        for (int i = 0; i < 6; i++) {
            wanted = near[i];
            assert_true(rh_agent_start(agent, &obs, &rng, &act));
            assert_true(act >= lo);
            assert_true(act <= hi);
            assert_true(rh_agent_step(agent, 0.0, &obs, &rng, &act));
            assert_true(fabs(act - (i % 2 ? hi : lo)) <= 2e-7 * fabs(i % 2 ? hi : lo));
        }
        const double far[] = {lo - 1e-5, hi + 1e-5, (double)NAN, INFINITY};
        for (int i = 0; i < 4; i++) {
            wanted = far[i];
            assert_false(rh_agent_start(agent, &obs, &rng, &act));
        }
        rh_agent_destroy(agent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_stays_inside),
        cmocka_unit_test(rounding_is_forgiven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
