// test_optimism.c - how much too good a model is known to be, by hand.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "study/core.h"

// Returns with this mean and distance between the quartiles.
static rh_fidelity_spread spread(int64_t n, double mean, double quartiles)
{
    return (rh_fidelity_spread){n, mean - quartiles / 2.0, mean, mean + quartiles / 2.0, mean};
}

static rh_fidelity facts(double logged, double imitated, double random)
{
    return (rh_fidelity){.logged_return = spread(100, logged, 13.49),
                         .simulated_return = spread(100, imitated, 13.49),
                         .random_return = random,
                         .cutoff = 200};
}

// Deviations are 10, standard errors of the means 1, of their difference 1.414.
static void beyond_chance(void **unused)
{
    (void)unused;
    rh_eval_options how = {.nstep = 1000};
    rh_fidelity f = facts(-70, -60, -300);
    assert_true(fabs(rh_study__optimism(&f, &how, false) - 10.0) < 1e-12);
    f = facts(-70, -67.2, -300); // 2.8 < 2 x 1.414
    assert_true(rh_study__optimism(&f, &how, false) == 0.0);
    f = facts(-70, -67.1, -300);
    assert_true(fabs(rh_study__optimism(&f, &how, false) - 2.9) < 1e-12);
    f = facts(-70, -123, -21); // too hard for the imitation, far too easy for random actions
    assert_true(fabs(rh_study__optimism(&f, &how, false) - 49.0) < 1e-12);
    f = facts(-70, -123, -90);
    assert_true(rh_study__optimism(&f, &how, false) == 0.0);
}

// A log without a complete episode, or a model that was not compared with it.
static void nothing_known(void **unused)
{
    (void)unused;
    rh_eval_options how = {.nstep = 1000};
    rh_fidelity f = facts(-70, -60, -21);
    f.logged_return = (rh_fidelity_spread){0, NAN, NAN, NAN, NAN};
    assert_true(rh_study__optimism(&f, &how, false) == 0.0);
    f.cutoff = 0;
    assert_true(rh_study__optimism(&f, &how, true) == 0.0);
    f = facts(-70, -60, NAN);
    f.simulated_return = (rh_fidelity_spread){0, NAN, NAN, NAN, NAN};
    assert_true(rh_study__optimism(&f, &how, false) == 0.0);
}

// Stretches of 200 steps, runs of 30,000.
static void continuing(void **unused)
{
    (void)unused;
    rh_fidelity f = facts(-70, -60, -300);
    rh_eval_options how = {.nstep = 30000, .final_share = 0.1};
    static const double expected[] = {[RH_AVERAGE] = 1500.0,
                                      [RH_COMPLETED] = 1500.0,
                                      [RH_MEDIAN] = 50.0,
                                      [RH_WORST] = 50.0,
                                      [RH_FINAL] = 150.0};
    for (int i = RH_AVERAGE; i <= RH_FINAL; i++) {
        how.criterion = (rh_criterion)i;
        assert_true(fabs(rh_study__optimism(&f, &how, true) - expected[i]) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beyond_chance),
        cmocka_unit_test(nothing_known),
        cmocka_unit_test(continuing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
