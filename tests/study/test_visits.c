// test_visits.c - the sample of visited states and actions: every run, every stretch, the same
// for any number of threads.

#include "study/runs_sample.h"
#include "study/visits.h"

static rh_status gather(int nthread, int most, rh_visits *visits)
{
    rh_eval_options opt = s.opt;
    opt.nthread = nthread;
    return rh_visits__gather(visits, s.members[0].env, NMEMBER, s.agent, &s.task, NSETTING,
                             s.hp, &opt, most, NULL);
}

static void any_threads(void **unused)
{
    (void)unused;
    rh_visits one = {0};
    assert_int_equal(gather(1, 30, &one), RH_OK);
    assert_int_equal(one.n, NUNIT * 30);
    for (int n = 2; n <= 4; n++) {
        rh_visits many = {0};
        assert_int_equal(gather(n, 30, &many), RH_OK);
        assert_int_equal(many.n, one.n);
        assert_memory_equal(many.obs, one.obs, (size_t)one.n * 2 * sizeof(double));
        assert_memory_equal(many.act, one.act, (size_t)one.n * sizeof(double));
        rh_visits__clear(&many);
    }

    // the model stitches: its states are those of the log
    for (int64_t i = 0; i < one.n; i++) {
        bool logged = false;
        for (int64_t k = 0; k < s.log->nstate; k++)
            logged = logged || memcmp(one.obs + 2 * i, s.log->obs + 2 * k, 16) == 0;
        assert_true(logged);
        assert_true(one.act[i] == 0.0 || one.act[i] == 1.0 || one.act[i] == 2.0);
    }
    rh_visits__clear(&one);
}

// A sample of stretches of one step is the run; of longer ones it is a part of it, in order.
static void part_of_the_run(void **unused)
{
    (void)unused;
    rh_visits all = {0}, some = {0};
    assert_int_equal(gather(1, 1000, &all), RH_OK);
    assert_int_equal(all.n, NUNIT * s.opt.nstep);
    assert_int_equal(gather(1, 7, &some), RH_OK);
    assert_int_equal(some.n, NUNIT * 7);
    for (int64_t i = 0; i < some.n; i++) {
        int64_t run = i / 7, stretch = i % 7, nstep = s.opt.nstep;
        bool found = false;
        for (int64_t t = 0; t < nstep; t++)
            if (t * 7 / nstep == stretch)
                found = found ||
                        (memcmp(some.obs + 2 * i, all.obs + 2 * (run * nstep + t), 16) == 0 &&
                         some.act[i] == all.act[run * nstep + t]);
        assert_true(found);
    }

    // the steps of a frozen agent that is scored afterwards are not the run's
    rh_visits final = {0};
    s.opt.criterion = RH_FINAL;
    assert_int_equal(gather(1, 1000, &final), RH_OK);
    assert_int_equal(final.n, all.n);
    assert_memory_equal(final.obs, all.obs, (size_t)all.n * 2 * sizeof(double));
    s.opt.criterion = RH_AVERAGE;
    rh_visits__clear(&all);
    rh_visits__clear(&some);
    rh_visits__clear(&final);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void stopped(void **unused)
{
    (void)unused;
    rh_visits visits = {0};
    s.opt.stop = at_once;
    assert_int_equal(gather(2, 30, &visits), RH_ESTOPPED);
    s.opt.stop = NULL;
    rh_visits__clear(&visits);
}

static void no_memory(void **unused)
{
    (void)unused;
    rh_status rc = RH_ENOMEM;
    int nth = 0;
    while (rc == RH_ENOMEM) {
        rh_visits visits = {0};
        rh_base__alloc_fail_at(++nth);
        rc = gather(1, 30, &visits);
        rh_base__alloc_fail_at(0);
        rh_visits__clear(&visits);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
    }
    assert_true(nth > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_threads),
        cmocka_unit_test(part_of_the_run),
        cmocka_unit_test(stopped),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
