// test_tally.c - scores of known reward sequences.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/eval_internal.h"

#include <math.h>

// Episodes with returns -3, -1, -8, -2, and an unfinished one of -4 in two steps.
static rh_tally four_and_a_bit(double returns[8])
{
    static const double rewards[] = {-1, -2, 0, -1, 0, -8, 0, -2, 0};
    rh_tally t;
    rh_tally__begin(&t, returns);
    for (int i = 0; i < 9; i++)
        if (i > 0 && rewards[i] == 0)
            rh_tally__end_episode(&t);
        else
            rh_tally__reward(&t, rewards[i]);
    rh_tally__reward(&t, -1);
    rh_tally__reward(&t, -3);
    return t;
}

static void scores_by_hand(void **unused)
{
    (void)unused;
    double returns[8];
    rh_tally t = four_and_a_bit(returns);
    assert_int_equal(t.nepisode, 4);
    assert_true(rh_tally__score(&t, RH_AVERAGE) == -18.0 / 5);
    assert_true(rh_tally__score(&t, RH_COMPLETED) == -14.0 / 4);
    assert_true(rh_tally__score(&t, RH_MEDIAN) == -2.5);
    assert_true(rh_tally__score(&t, RH_WORST) == -8.0);
    rh_tally__end_episode(&t); // five: -4 is now one of them
    assert_true(rh_tally__score(&t, RH_AVERAGE) == -18.0 / 5);
    assert_true(rh_tally__score(&t, RH_COMPLETED) == -18.0 / 5);
    assert_true(rh_tally__score(&t, RH_MEDIAN) == -3.0);
}

static void an_unfinished_episode_counts(void **unused)
{
    (void)unused;
    double returns[8];
    rh_tally t;
    rh_tally__begin(&t, returns);
    for (int i = 0; i < 15; i++)
        rh_tally__reward(&t, -1);
    for (int c = RH_AVERAGE; c <= RH_FINAL; c++)
        assert_true(rh_tally__score(&t, (rh_criterion)c) == -15.0);
}

static void points_of_a_curve(void **unused)
{
    (void)unused;
    double returns[8];
    rh_tally t = four_and_a_bit(returns);
    assert_true(rh_tally__point(&t, false) == -3.5); // the four that ended
    assert_true(isnan(rh_tally__point(&t, false)));  // none since
    rh_tally__end_episode(&t);
    assert_true(rh_tally__point(&t, false) == -4.0);

    rh_tally__begin(&t, NULL); // continuing: the reward since the last point
    rh_tally__reward(&t, -1);
    assert_true(rh_tally__point(&t, true) == -1.0);
    rh_tally__reward(&t, -2);
    rh_tally__reward(&t, -5);
    assert_true(rh_tally__point(&t, true) == -7.0);
    assert_true(rh_tally__point(&t, true) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_by_hand),
        cmocka_unit_test(an_unfinished_episode_counts),
        cmocka_unit_test(points_of_a_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
