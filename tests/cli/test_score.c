// test_score.c - which settings are tied, where members are pooled by their worst or a
// quartile.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/score.c" // NOLINT(bugprone-suspicious-include): the program is no library

enum { NRUN = 8, NMEMBER = 3, NLIFE = NRUN * NMEMBER };

static cli_job job_of(int nmember, rh_pool pool)
{
    return (cli_job){.opt.nrun = NRUN, .world.nmember = nmember, .world.pool = pool};
}

// Lives in three members: around -10, around -5 and around 0, each with its own noise.
static void live(rh_life *life)
{
    for (int m = 0; m < NMEMBER; m++)
        for (int i = 0; i < NRUN; i++)
            life[m * NRUN + i] = (rh_life){.score = 5.0 * m - 10.0 + 0.3 * (i % 3) - 0.1 * m};
}

static void shift(rh_life *life, int member, double even, double odd)
{
    for (int i = 0; i < NRUN; i++)
        life[member * NRUN + i].score += i % 2 ? odd : even;
}

static bool tied(int nmember, rh_pool pool, const rh_life *best, const rh_life *other)
{
    cli_job job = job_of(nmember, pool);
    double work[2 * NRUN + 3 * NMEMBER];
    return cli_score_tied(&job, best, other, work);
}

// A setting whose lives vary more in a good member has no worse worst mean.
static void what_ranks_is_compared(void **unused)
{
    (void)unused;
    rh_life best[NLIFE], other[NLIFE];
    live(best);
    live(other);
    shift(other, 0, -0.11, 0.09); // as good in the worst member, but for chance
    shift(other, 1, -25.0, 25.0); // and as good in the others
    shift(other, 2, 25.0, -25.0); //
    assert_true(tied(NMEMBER, RH_POOL_WORST, best, other));
    assert_true(tied(NMEMBER, RH_POOL_QUARTILE, best, other));
    assert_true(tied(NMEMBER, RH_POOL_MEAN, best, other));
}

static void differences_are_seen(void **unused)
{
    (void)unused;
    rh_life best[NLIFE], other[NLIFE];
    live(best);
    live(other);
    shift(other, 0, -1.1, -0.9); // the worst member is worse
    assert_false(tied(NMEMBER, RH_POOL_WORST, best, other));
    assert_false(tied(NMEMBER, RH_POOL_QUARTILE, best, other));
    assert_true(tied(NMEMBER, RH_POOL_MEAN, best, other)); // in one of three
    assert_false(tied(1, RH_POOL_MEAN, best, other));
    shift(other, 1, -1.1, -0.9);
    shift(other, 2, -1.1, -0.9);
    assert_false(tied(NMEMBER, RH_POOL_MEAN, best, other));

    // a life that broke down is worse than any
    live(other);
    other[3].score = -INFINITY;
    assert_false(tied(NMEMBER, RH_POOL_WORST, best, other));
}

// Runs that were stopped in a member do not count, and one run tells nothing.
static void unfinished_runs(void **unused)
{
    (void)unused;
    rh_life best[NLIFE], other[NLIFE];
    live(best);
    live(other);
    shift(other, 0, -1.01, -1.0);
    for (int i = 2; i < NRUN; i++)
        other[(i % NMEMBER) * NRUN + i] = (rh_life){.score = NAN, .outcome = RH_STOPPED};
    assert_false(tied(NMEMBER, RH_POOL_WORST, best, other));
    best[2 * NRUN] = (rh_life){.score = NAN, .outcome = RH_STOPPED};
    assert_true(tied(NMEMBER, RH_POOL_WORST, best, other));
}

static void scores_of_members(void **unused)
{
    (void)unused;
    rh_life life[NLIFE];
    double mean[NMEMBER], work[2 * NRUN + 2 * NMEMBER];
    live(life);
    cli_job job = job_of(NMEMBER, RH_POOL_WORST);
    cli_score s = cli_score_of(&job, life, mean, work);
    assert_true(s.whole && s.nmember == NMEMBER && s.nfinished == NLIFE);
    assert_true(s.score == mean[0] && mean[0] < mean[1] && mean[1] < mean[2]);
    assert_true(fabs(s.summary.mean - (mean[0] + mean[1] + mean[2]) / 3.0) < 1e-12);

    // a member without finished lives has no mean
    for (int i = 0; i < NRUN; i++)
        life[i].outcome = RH_STOPPED;
    s = cli_score_of(&job, life, mean, work);
    assert_true(!s.whole && s.nmember == 2 && s.nfinished == 2 * NRUN);
    assert_true(isnan(mean[0]) && s.score == mean[1] && s.summary.n == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ranks_is_compared),
        cmocka_unit_test(differences_are_seen),
        cmocka_unit_test(unfinished_runs),
        cmocka_unit_test(scores_of_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
