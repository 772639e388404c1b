// test_value.c - the value of a setting, and which settings are tied.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/eval.h"
#include "rehearse/eval.h"

#include <math.h>
#include <stdbool.h>

enum { NRUN = 8, NMEMBER = 3, NUNIT = NRUN * NMEMBER, NWORK = 2000 };

// Runs in three members: around -10, around -5 and around 0, each with its own noise.
static void fill_runs(rh_result *result)
{
    for (int m = 0; m < NMEMBER; m++)
        for (int i = 0; i < NRUN; i++)
            result[m * NRUN + i] =
                (rh_result){.score = 5.0 * m - 10.0 + 0.3 * (i % 3) - 0.1 * m};
}

static void shift(rh_result *result, int member, double even, double odd)
{
    for (int i = 0; i < NRUN; i++)
        result[member * NRUN + i].score += i % 2 ? odd : even;
}

static bool tied(int nmember, rh_pool pool, const rh_result *best, const rh_result *other)
{
    double work[NWORK];
    assert_true(rh_value__nwork(nmember, NRUN) <= NWORK);
    rh_judge judge = {RH_ACROSS_MEAN, pool};
    return rh_value__tied(judge, nmember, NRUN, best, NRUN, other, work);
}

// A setting whose runs vary more in a good member has no worse worst mean.
static void what_ranks_is_compared(void **unused)
{
    (void)unused;
    rh_result best[NUNIT], other[NUNIT];
    fill_runs(best);
    fill_runs(other);
    shift(other, 0, -0.11, 0.09); // as good in the worst member, except for noise
    shift(other, 1, -25.0, 25.0); // and as good in the others
    shift(other, 2, 25.0, -25.0); //
    assert_true(tied(NMEMBER, RH_POOL_WORST, best, other));
    assert_true(tied(NMEMBER, RH_POOL_QUARTILE, best, other));
    assert_true(tied(NMEMBER, RH_POOL_MEAN, best, other));
}

static void differences_are_seen(void **unused)
{
    (void)unused;
    rh_result best[NUNIT], other[NUNIT];
    fill_runs(best);
    fill_runs(other);
    shift(other, 0, -1.1, -0.9); // the worst member is worse
    assert_false(tied(NMEMBER, RH_POOL_WORST, best, other));
    assert_false(tied(NMEMBER, RH_POOL_QUARTILE, best, other));
    assert_true(tied(NMEMBER, RH_POOL_MEAN, best, other)); // in one of three
    assert_false(tied(1, RH_POOL_MEAN, best, other));
    shift(other, 1, -1.1, -0.9);
    shift(other, 2, -1.1, -0.9);
    assert_false(tied(NMEMBER, RH_POOL_MEAN, best, other));

    // one run in each of three members is enough where all of them are worse
    rh_result one[NMEMBER], worse[NMEMBER];
    double work[NWORK];
    for (int m = 0; m < NMEMBER; m++) {
        one[m] = (rh_result){.score = m};
        worse[m] = (rh_result){.score = m - 5.0 - 0.1 * m};
    }
    rh_judge mean = {RH_ACROSS_MEAN, RH_POOL_MEAN};
    assert_false(rh_value__tied(mean, NMEMBER, 1, one, 1, worse, work));
    assert_true(rh_value__tied(mean, NMEMBER, 1, one, 1, one, work));

    // a run that broke down is worse than any
    fill_runs(other);
    other[3].score = -INFINITY;
    assert_false(tied(NMEMBER, RH_POOL_WORST, best, other));
    assert_false(tied(NMEMBER, RH_POOL_MEAN, best, other));

    // and like another that did
    best[3].score = -INFINITY;
    assert_true(tied(NMEMBER, RH_POOL_MEAN, best, other));
    assert_true(tied(NMEMBER, RH_POOL_WORST, best, other));
    assert_true(tied(1, RH_POOL_MEAN, best, other));
}

// Runs that were stopped in a member do not count, and one run tells nothing.
static void unfinished_runs(void **unused)
{
    (void)unused;
    rh_result best[NUNIT], other[NUNIT];
    fill_runs(best);
    fill_runs(other);
    shift(other, 0, -1.01, -1.0);
    for (int i = 2; i < NRUN; i++)
        other[(i % NMEMBER) * NRUN + i] = (rh_result){.score = NAN, .outcome = RH_STOPPED};
    assert_false(tied(NMEMBER, RH_POOL_WORST, best, other));
    best[2 * NRUN] = (rh_result){.score = NAN, .outcome = RH_STOPPED};
    assert_true(tied(NMEMBER, RH_POOL_WORST, best, other));
}

static rh_value__estimate value_of(rh_across across, rh_pool pool, int nmember, int nrun,
                                   const rh_result *result, double *score)
{
    double work[NWORK];
    return rh_value__of((rh_judge){across, pool}, nmember, nrun, result, score, work);
}

static void one_run(rh_result *result, const double *score, int n)
{
    for (int i = 0; i < n; i++)
        result[i] = (rh_result){.score = score[i]};
}

// Mean 3, variance 2.5, variance of the mean 0.5, t(4) = 2.776.
static void mean_of_one_member(void **unused)
{
    (void)unused;
    rh_result result[5];
    double score[5];
    one_run(result, (double[]){1, 2, 3, 4, 5}, 5);
    rh_value__estimate v = value_of(RH_ACROSS_MEAN, RH_POOL_MEAN, 1, 5, result, score);
    assert_int_equal(v.nrun, 5);
    assert_true(fabs(v.value - 3.0) < 1e-12);
    assert_true(fabs(v.noise - 0.5) < 1e-12);
    assert_true(fabs(v.hi95 - 3.0 - 2.7764451 * sqrt(0.5)) < 1e-6);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(score[i] - (i + 1)) < 1e-12);

    // the lower bound is worth what it says
    rh_value__estimate low = value_of(RH_ACROSS_LOWER, RH_POOL_MEAN, 1, 5, result, NULL);
    assert_true(fabs(low.value - v.lo95) < 1e-12);
    assert_true(low.lo95 < low.value);
}

static void medians_and_extremes(void **unused)
{
    (void)unused;
    rh_result result[5];
    double score[5];
    one_run(result, (double[]){5, 1, 100, 2, 4}, 5);
    rh_value__estimate v = value_of(RH_ACROSS_MEDIAN, RH_POOL_MEAN, 1, 5, result, score);
    assert_true(v.value == 4.0);
    assert_true(v.lo95 >= 1.0);
    assert_true(v.lo95 < 4.0);
    assert_true(v.hi95 > 4.0);
    double sum = 0.0;
    for (int i = 0; i < 5; i++)
        sum += score[i];
    assert_true(fabs(sum / 5.0 - 4.0) < 1e-9);
    v = value_of(RH_ACROSS_WORST, RH_POOL_MEAN, 1, 5, result, NULL);
    assert_true(v.value == 1.0);
    assert_true(v.lo95 == 1.0);
    assert_true(v.noise > 0.0);

    // a clear difference of medians is seen, and one that a few runs make is not
    rh_result other[5];
    double work[NWORK];
    rh_judge median = {RH_ACROSS_MEDIAN, RH_POOL_MEAN};
    one_run(other, (double[]){-5, -9, 90, -8, -6}, 5);
    assert_false(rh_value__tied(median, 1, 5, result, 5, other, work));
    one_run(other, (double[]){5, 1, 0, 2, 4}, 5);
    assert_true(rh_value__tied(median, 1, 5, result, 5, other, work));
}

static void members_and_broken_runs(void **unused)
{
    (void)unused;
    rh_result result[NUNIT];
    double score[NRUN];
    fill_runs(result);

    // the interval is over the members' means: -10, -5, 0 and their noise
    rh_value__estimate v = value_of(RH_ACROSS_MEAN, RH_POOL_MEAN, NMEMBER, NRUN, result, score);
    double noise = 0.3 * (0 + 1 + 2 + 0 + 1 + 2 + 0 + 1) / 8.0;
    assert_true(fabs(v.value - (-5.0 - 0.1 + noise)) < 1e-12);
    assert_true(fabs(v.hi95 - v.value - 4.302653 * 4.9 / sqrt(3.0)) < 1e-4);
    assert_true(fabs(score[1] - (-5.1 + 0.3)) < 1e-12);
    v = value_of(RH_ACROSS_MEAN, RH_POOL_WORST, NMEMBER, NRUN, result, NULL);
    assert_true(fabs(v.value - (-10.0 + noise)) < 1e-12);

    // medians are those of each member
    v = value_of(RH_ACROSS_MEDIAN, RH_POOL_MEAN, NMEMBER, NRUN, result, NULL);
    assert_true(fabs(v.value - (-5.1 + 0.3)) < 1e-12);
    v = value_of(RH_ACROSS_MEDIAN, RH_POOL_WORST, NMEMBER, NRUN, result, NULL);
    assert_true(fabs(v.value - (-10.0 + 0.3)) < 1e-12);

    // what is not finished in every member does not count
    result[NRUN + 2].outcome = RH_STOPPED;
    assert_int_equal(value_of(RH_ACROSS_MEAN, RH_POOL_MEAN, NMEMBER, NRUN, result, score).nrun,
                     NRUN - 1);
    result[0].score = -INFINITY;
    v = value_of(RH_ACROSS_MEAN, RH_POOL_MEAN, NMEMBER, NRUN, result, score);
    assert_true(v.value == -INFINITY);
    assert_true(isnan(v.noise));
    assert_true(score[0] == -INFINITY);
    for (int i = 0; i < NUNIT; i++)
        result[i].outcome = RH_STOPPED;
    v = value_of(RH_ACROSS_MEAN, RH_POOL_MEAN, NMEMBER, NRUN, result, score);
    assert_int_equal(v.nrun, 0);
    assert_true(isnan(v.value));
}

// The 95 % interval holds the true mean in about 95 of 100 studies, and settings that are alike
// are called different in at most a few.
static void intervals_hold(void **unused)
{
    (void)unused;
    enum { NSTUDY = 2000 };
    int held = 0, told_apart = 0;
    double work[NWORK];
    for (int k = 0; k < NSTUDY; k++) {
        rh_rng rng = rh_rng_stream(7, RH_STREAM_NOISE, 0, (uint64_t)k);
        rh_result a[NRUN], b[NRUN];
        for (int i = 0; i < NRUN; i++) {
            double z[2];
            rh_rng_normal(&rng, z);
            a[i] = (rh_result){.score = z[0]};
            b[i] = (rh_result){.score = z[0] + 0.5 * z[1]};
        }
        rh_value__estimate v = value_of(RH_ACROSS_MEAN, RH_POOL_MEAN, 1, NRUN, a, NULL);
        held += v.lo95 <= 0.0 && v.hi95 >= 0.0;
        rh_judge mean = {RH_ACROSS_MEAN, RH_POOL_MEAN};
        told_apart += !rh_value__tied(mean, 1, NRUN, a, NRUN, b, work);
    }
    // five standard deviations of a binomial count: 49
    assert_in_range(held, 1900 - 49, 1900 + 49);
    assert_in_range(told_apart, 50 - 35, 50 + 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ranks_is_compared), cmocka_unit_test(differences_are_seen),
        cmocka_unit_test(unfinished_runs),        cmocka_unit_test(mean_of_one_member),
        cmocka_unit_test(medians_and_extremes),   cmocka_unit_test(members_and_broken_runs),
        cmocka_unit_test(intervals_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
