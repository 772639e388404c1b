// test_score.c - what the runs of one setting come to in several members.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/score.c" // NOLINT(bugprone-suspicious-include): the program is no library

enum { NRUN = 8, NMEMBER = 3, NUNIT = NRUN * NMEMBER };

static cli_job job_of(int nmember, rh_pool pool)
{
    return (cli_job){.opt.nrun = NRUN, .world.nmember = nmember, .world.pool = pool};
}

// Runs in three members: around -10, around -5 and around 0, each with its own noise.
static void live(rh_result *result)
{
    for (int m = 0; m < NMEMBER; m++)
        for (int i = 0; i < NRUN; i++)
            result[m * NRUN + i] =
                (rh_result){.score = 5.0 * m - 10.0 + 0.3 * (i % 3) - 0.1 * m};
}

static void scores_of_members(void **unused)
{
    (void)unused;
    rh_result result[NUNIT];
    double mean[NMEMBER], work[2 * NRUN + 2 * NMEMBER];
    live(result);
    cli_job job = job_of(NMEMBER, RH_POOL_WORST);
    cli_score s = cli_score_of(&job, result, mean, work);
    assert_true(s.whole);
    assert_int_equal(s.nmember, NMEMBER);
    assert_int_equal(s.nfinished, NUNIT);
    assert_true(s.score == mean[0]);
    assert_true(mean[0] < mean[1]);
    assert_true(mean[1] < mean[2]);
    assert_true(fabs(s.summary.mean - (mean[0] + mean[1] + mean[2]) / 3.0) < 1e-12);

    // a member without finished runs has no mean
    for (int i = 0; i < NRUN; i++)
        result[i].outcome = RH_STOPPED;
    s = cli_score_of(&job, result, mean, work);
    assert_false(s.whole);
    assert_int_equal(s.nmember, 2);
    assert_int_equal(s.nfinished, 2 * NRUN);
    assert_true(isnan(mean[0]));
    assert_true(s.score == mean[1]);
    assert_int_equal(s.summary.n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_of_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
