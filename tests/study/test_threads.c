// test_threads.c - the thread pool: the same runs as rh_eval_runs() for any number of threads,
// abandoned runs, signals, and every allocation that may fail.

#include "base/base_internal.h"
#include "study/runs_sample.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static rh_status make_pool(rh_threads **pool, const rh_eval_options *opt, int nthread,
                           rh_error *err)
{
    rh_status rc = rh_threads__create(pool, &(rh_study__agents){{s.agent}, {s.hp}, 1}, opt,
                                      nthread, NULL, err);
    for (int k = 0; !rc && k < NSTAGE; k++)
        rc = rh_threads__add_stage(*pool, stages[k], &s.members[k], &s.task, err);
    return rc;
}

// ---------------------------------------------------------------------------- the same runs

static void any_number_of_threads(void **unused)
{
    (void)unused;
    assert_memory_not_equal(s.result[0], s.result[1], sizeof s.result[0]);
    for (int nthread = 1; nthread <= 3; nthread++) {
        rh_threads *pool = NULL;
        assert_int_equal(make_pool(&pool, &s.opt, nthread, NULL), RH_OK);
        bool seen[NALL] = {false};
        rh_study__done done;
        assert_false(rh_threads__take(pool, &done, 0.0));
        assert_false(rh_threads__take(pool, &done, 0.01));
        for (int i = 0; i < NALL; i++) {
            rh_study__unit unit = unit_of(&s, (i * 7 + nthread) % NALL); // any order
            assert_int_equal(rh_threads__give(pool, &unit, NULL), RH_OK);
        }
        assert_int_equal(rh_threads__nopen(pool), NALL);
        for (int n = NALL; n > 0; n--) {
            while (!rh_threads__take(pool, &done, n % 2 ? 10.0 : 0.0)) {
            }
            int i = which(&s, &done);
            assert_true(i >= 0);
            assert_false(seen[i]);
            seen[i] = true;
            assert_int_equal(rh_threads__nopen(pool), n - 1);
        }
        assert_false(rh_threads__take(pool, &done, 0.0));
        rh_threads__destroy(pool);
    }
}

// Many short runs, given while results are taken.
static void many_units(void **unused)
{
    (void)unused;
    enum { MANY = 3000 };
    rh_eval_options opt = s.opt;
    opt.nstep = 4;
    rh_threads *pool = NULL;
    assert_int_equal(make_pool(&pool, &opt, 3, NULL), RH_OK);
    int64_t sum = 0;
    int n = 0;
    rh_study__done done;
    for (int i = 0; i < MANY; i++) {
        rh_study__unit unit = unit_of(&s, i % NUNIT);
        unit.trial = i;
        assert_int_equal(rh_threads__give(pool, &unit, NULL), RH_OK);
        for (; i % 3 == 0 && rh_threads__take(pool, &done, 0.0); n++)
            sum += done.run.trial;
    }
    for (; rh_threads__nopen(pool) > 0; n++) {
        assert_true(rh_threads__take(pool, &done, 60.0));
        assert_int_equal(done.rc, RH_OK);
        assert_int_equal(done.run.result.nstep, 4);
        sum += done.run.trial;
    }
    assert_int_equal(n, MANY);
    assert_int_equal(sum, (int64_t)MANY * (MANY - 1) / 2);
    rh_threads__destroy(pool);
}

// ---------------------------------------------------------------------------- leaving

// Runs that would take days are abandoned.
static void leaves_at_once(void **unused)
{
    (void)unused;
    rh_eval_options opt = s.opt;
    opt.nstep = INT64_C(1000000000000);
    opt.ncurve = 0;
    for (int nthread = 1; nthread <= 3; nthread++) {
        rh_threads *pool = NULL;
        rh_study__done done;
        assert_int_equal(make_pool(&pool, &opt, nthread, NULL), RH_OK);
        for (int i = 0; i < 10; i++) {
            rh_study__unit unit = unit_of(&s, i);
            assert_int_equal(rh_threads__give(pool, &unit, NULL), RH_OK);
        }
        assert_false(rh_threads__take(pool, &done, 0.01));
        rh_threads__destroy(pool);
    }
    rh_threads__destroy(NULL);
}

static bool stop_soon(void *context)
{
    return atomic_fetch_add((atomic_int *)context, 1) >= 20;
}

// The caller's stop ends runs with RH_STOPPED.
static void the_callers_stop(void **unused)
{
    (void)unused;
    atomic_int asked = 0;
    rh_eval_options opt = s.opt;
    opt.nstep = INT64_C(1000000000000);
    opt.ncurve = 0;
    opt.stop = stop_soon;
    opt.context = &asked;
    rh_threads *pool = NULL;
    rh_study__done done;
    assert_int_equal(make_pool(&pool, &opt, 2, NULL), RH_OK);
    for (int i = 0; i < 6; i++) {
        rh_study__unit unit = unit_of(&s, i);
        assert_int_equal(rh_threads__give(pool, &unit, NULL), RH_OK);
    }
    while (rh_threads__nopen(pool) > 0) {
        assert_true(rh_threads__take(pool, &done, 60.0));
        assert_int_equal(done.rc, RH_OK);
        assert_int_equal(done.run.result.outcome, RH_STOPPED);
        assert_true(isnan(done.run.result.score));
    }
    rh_threads__destroy(pool);
}

// ---------------------------------------------------------------------------- signals

static pthread_t asker;
static atomic_int nhere, nelsewhere;

static void on_signal(int number)
{
    (void)number;
    if (pthread_equal(pthread_self(), asker))
        nhere++;
    else
        nelsewhere++;
}

// Signals reach the thread that created the pool, even while it blocks them.
static void signals_reach_the_creator(void **unused)
{
    (void)unused;
    struct sigaction act = {.sa_handler = on_signal}, before;
    assert_int_equal(sigaction(SIGTERM, &act, &before), 0);
    asker = pthread_self();
    sigset_t term, old;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    rh_threads *pool = NULL;
    assert_int_equal(make_pool(&pool, &s.opt, 3, NULL), RH_OK);
    for (int i = 0; i < 20; i++) {
        pthread_sigmask(SIG_BLOCK, &term, &old); // another thread would receive it
        kill(getpid(), SIGTERM);
        usleep(200);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    assert_int_equal(nelsewhere, 0);
    assert_int_equal(nhere, 20);
    rh_threads__destroy(pool);
    assert_int_equal(sigaction(SIGTERM, &before, NULL), 0);
}

// ---------------------------------------------------------------------------- failures

static void refusals(void **unused)
{
    (void)unused;
    rh_threads *pool = NULL;
    rh_error err;
    rh_eval_options opt = s.opt;
    assert_int_equal(rh_threads__create(&pool, &(rh_study__agents){{s.agent}, {s.hp}, 1}, &opt,
                                        0, NULL, &err),
                     RH_EINVAL);
    assert_string_equal(err.text, "study: threads = 0, expected 1 or more");
    opt.ncurve = 65;
    assert_int_equal(rh_threads__create(&pool, &(rh_study__agents){{s.agent}, {s.hp}, 1}, &opt,
                                        1, NULL, &err),
                     RH_EINVAL);
    assert_string_equal(err.text, "study: curve points = 65, expected 0 to 64");
    assert_null(pool);

    // a setting that cannot be run fails alone
    assert_int_equal(make_pool(&pool, &s.opt, 2, &err), RH_OK);
    for (int i = 0; i < 4; i++) {
        rh_study__unit unit = unit_of(&s, i);
        if (i == 1)
            unit.hp[0] = -1.0;
        assert_int_equal(rh_threads__give(pool, &unit, &err), RH_OK);
    }
    int nfailed = 0;
    for (int i = 0; i < 4; i++) {
        rh_study__done done;
        assert_true(rh_threads__take(pool, &done, 60.0));
        if (done.rc) {
            assert_int_equal(done.rc, RH_EINVAL);
            assert_int_equal(done.run.trial, 0);
            assert_int_equal(done.run.run, 1);
            assert_non_null(strstr(done.err.text, "esarsa: alpha = -1"));
            nfailed++;
        } else {
            assert_true(which(&s, &done) >= 0);
        }
    }
    assert_int_equal(nfailed, 1);

    // a stage twice, and a unit of a stage that was not added
    rh_study__unit unit = {.stage = RH_STAGE_FIT};
    assert_int_equal(rh_threads__add_stage(pool, RH_STAGE_SEARCH, &s.members[0], &s.task, &err),
                     RH_EINVAL);
    assert_string_equal(err.text, "study: stage 1, expected a stage that was not added");
    assert_int_equal(rh_threads__give(pool, &unit, &err), RH_EINVAL);
    assert_string_equal(
        err.text, "study: a unit of stage 0 and agent 0, expected a stage that was added");
    assert_int_equal(rh_threads__nopen(pool), 0);

    // a stage is dropped when its runs are taken, and may be added again
    rh_study__done done;
    unit = unit_of(&s, 1);
    assert_int_equal(rh_threads__give(pool, &unit, &err), RH_OK);
    assert_false(rh_threads__drop_stage(pool, unit.stage));
    assert_true(rh_threads__take(pool, &done, 60.0));
    assert_true(rh_threads__drop_stage(pool, unit.stage));
    assert_int_equal(rh_threads__give(pool, &unit, &err), RH_EINVAL);
    for (int k = 0; k < NSTAGE; k++)
        if (stages[k] == unit.stage)
            assert_int_equal(
                rh_threads__add_stage(pool, unit.stage, &s.members[k], &s.task, &err), RH_OK);
    assert_int_equal(rh_threads__give(pool, &unit, &err), RH_OK);
    assert_true(rh_threads__take(pool, &done, 60.0));
    assert_int_equal(which(&s, &done), 1);
    rh_threads__destroy(pool);
}

// From start to end on one thread, so that the n-th allocation is always the same.
static rh_status try_all(rh_error *err)
{
    rh_threads *pool = NULL;
    rh_status rc = make_pool(&pool, &s.opt, 1, err);
    for (int i = 0; !rc && i < 20; i++) {
        rh_study__unit unit = unit_of(&s, i % 3 * NUNIT / NSETTING);
        rc = rh_threads__give(pool, &unit, err);
    }
    while (!rc && rh_threads__nopen(pool) > 0) {
        rh_study__done done;
        assert_true(rh_threads__take(pool, &done, 60.0));
        rc = done.rc;
        if (rc)
            *err = done.err;
    }
    rh_threads__destroy(pool);
    return rc;
}

static void survives_every_failed_allocation(void **unused)
{
    (void)unused;
    int64_t before = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_error err;
        rh_base__alloc_fail_at(nth);
        rh_status rc = try_all(&err);
        rh_base__alloc_fail_at(0);
        assert_int_equal(rh_base__alloc_live(), before);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_non_null(strstr(err.text, "out of memory"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(many_units),
        cmocka_unit_test(leaves_at_once),
        cmocka_unit_test(the_callers_stop),
        cmocka_unit_test(signals_reach_the_creator),
        cmocka_unit_test(refusals),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
