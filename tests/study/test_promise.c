// test_promise.c - what a score is compared with: the logged controller, rare failures, and
// scores too good to be true.

#include "base/findings.h"
#include "model/model_sample.h"
#include "study/core.h"

#include <stdlib.h>

#define LONG 10000 // steps of a continuing log

// A study with a winner and without a search.
typedef struct sample {
    rh_plan plan;
    rh_study study;
    rh_trial trial;
    rh_result result[50];
} sample;

// Of 5 members with 10 runs, all with this score.
static void begin(sample *s, rh_log *log, bool continuing, double score, double lowest)
{
    *s = (sample){0};
    s->study.plan = &s->plan;
    s->study.log = log;
    s->study.task.continuing = continuing;
    s->study.eval.nstep = 50000;
    s->study.random = (rh_reference){lowest, NAN, NAN};
    s->study.random_lowest = lowest;
    s->trial = (rh_trial){.nmember = 5,
                          .nrun = 10,
                          .nkind = 1,
                          .result = s->result,
                          .value = score,
                          .lo95 = NAN,
                          .hi95 = NAN};
    for (int i = 0; i < 50; i++)
        s->result[i] = (rh_result){.score = score, .outcome = RH_FINISHED};
    s->study.verdict = (rh_verdict){
        .trial = &s->trial, .ntrial = 1, .winner = 0, .winner_search = 0, .search_best = -1};
}

static const rh_finding *found(const sample *s, const char *id)
{
    const rh_findings *all = &s->study.verdict.findings;
    for (int i = 0; i < all->n; i++)
        if (strcmp(rh_finding_name(all->item[i].id), id) == 0)
            return &all->item[i];
    return NULL;
}

static void judge(sample *s)
{
    assert_int_equal(rh_study__find_logged(&s->study, NULL), RH_OK);
    assert_int_equal(rh_study__compare(&s->study), RH_OK);
    assert_int_equal(rh_study__find_rare(&s->study), RH_OK);
    assert_int_equal(rh_study__findings(&s->study), RH_OK);
}

static void end(sample *s)
{
    rh_findings__clear(&s->study.verdict.findings);
}

// A failure costs 1 every so many steps; `more` is added to all rewards.
static rh_log *log_of_failures(int every, double more)
{
    static walk w[LONG];
    for (int i = 0; i < LONG; i++)
        w[i] = (walk){.s = i % 10,
                      .act = i % 2,
                      .reward = more - (i % every == every - 1),
                      .next = (i + 1) % 10,
                      .begins = i == 0};
    return log_of(w, LONG, 2);
}

// Episodes of so many steps, each with one reward; the last is cut off by the end of the log.
static rh_log *log_of_episodes(const int *length, int n, double reward)
{
    static walk w[LONG];
    int at = 0;
    for (int e = 0; e < n; e++)
        for (int i = 0; i < length[e]; i++)
            w[at++] = (walk){.s = i % 10,
                             .act = i % 2,
                             .reward = reward,
                             .next = (i + 1) % 10,
                             .flag = i + 1 < length[e] ? 0
                                     : e + 1 < n       ? ENDS
                                                       : CUT,
                             .begins = i == 0};
    return log_of(w, at, 2);
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1.0 + fabs(b));
}

// ---------------------------------------------------------------------------- the log

static void the_logged_controller(void **unused)
{
    (void)unused;
    sample s;

    // 4, 6, 5, 9, 7 and an unfinished one: mean 6.2, sd 1.9235384, t(4) = 2.7764451
    static const int length[] = {4, 6, 5, 9, 7, 2};
    rh_log *log = log_of_episodes(length, 6, -2.0);
    begin(&s, log, false, -20.0, -100.0);
    judge(&s);
    const rh_verdict *v = &s.study.verdict;
    assert_int_equal(v->per_steps, 0);
    assert_true(near(v->logged.score, -12.4));
    double half = 2.7764451051977987 * 2.0 * 1.9235384061671346 / sqrt(5.0);
    assert_true(fabs(v->logged.lo95 - (-12.4 - half)) < 1e-6);
    assert_true(fabs(v->logged.hi95 - (-12.4 + half)) < 1e-6);
    end(&s);

    // by the criterion of the score
    s.study.eval.criterion = RH_MEDIAN;
    judge(&s);
    assert_true(near(v->logged.score, -12.0));
    assert_true(isnan(v->logged.lo95));
    end(&s);
    s.study.eval.criterion = RH_WORST;
    judge(&s);
    assert_true(near(v->logged.score, -18.0));
    end(&s);
    rh_log_destroy(log);

    // a failure every 250 steps: -200 per 50,000 in each of 20 blocks of 500
    log = log_of_failures(250, 0.0);
    begin(&s, log, true, -300.0, -1000.0);
    judge(&s);
    assert_int_equal(v->per_steps, 50000);
    assert_true(near(v->logged.score, -200.0));
    assert_true(near(v->logged.lo95, -200.0));
    assert_true(near(v->logged.hi95, -200.0));
    end(&s);
    s.study.eval.criterion = RH_WORST; // of segments of 1,666 steps, 6 of which fit
    judge(&s);
    assert_int_equal(v->per_steps, 1666);
    assert_true(fabs(v->logged.score + 7.0) < 0.01);
    end(&s);
    s.study.eval.criterion = RH_FINAL;
    s.study.eval.final_share = 0.5;
    judge(&s);
    assert_int_equal(v->per_steps, 25000);
    assert_true(near(v->logged.score, -100.0));
    end(&s);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- too good

static void expect(rh_log *log, bool continuing, double score, double lowest, int want)
{
    sample s;
    begin(&s, log, continuing, score, lowest);
    judge(&s);
    const rh_finding *f = found(&s, "too-good");
    int got = f ? (int)f->severity : -1;
    if (got != want)
        fail_msg("score %g, random %g: severity %d, expected %d: %s", score, lowest, got, want,
                 f ? f->evidence : "none");
    end(&s);
}

// The near-optimal Cartpole log of the paper: 47 failures in 10,000 steps, promised -2.
static void in_continuing_tasks(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++) { // rewards have no natural zero
        double more = k * 5.0 - 5.0, zero = 50000.0 * more;
        rh_log *log = log_of_failures(213, more); // -235
        expect(log, true, zero - 2.0, zero - 2000.0, RH_ERROR);
        expect(log, true, zero - 2.0, zero - 300.0, RH_ERROR); // a flattering model
        expect(log, true, zero - 100.0, zero - 2000.0, RH_WARNING);
        expect(log, true, zero - 230.0, zero - 2000.0, -1);
        expect(log, true, zero - 655.0, zero - 2000.0, -1);
        rh_log_destroy(log);

        // a log of random actions is beaten all the time
        log = log_of_failures(22, more); // -2270
        expect(log, true, zero - 655.0, zero - 2205.0, -1);
        expect(log, true, zero - 100.0, zero - 1949.0, -1);
        expect(log, true, zero - 655.0, (double)NAN, -1);
        rh_log_destroy(log);
    }
}

static void in_episodes(void **unused)
{
    (void)unused;
    static const int length[] = {80, 95, 70, 88, 103, 91, 65, 84, 77, 30};
    rh_log *log = log_of_episodes(length, 10, -1.0);
    expect(log, false, -16.0, -300.0, RH_ERROR);
    expect(log, false, -16.0, -85.0, RH_WARNING); // beyond the best, of a random log
    expect(log, false, -60.0, -300.0, RH_WARNING);
    expect(log, false, -16.0, -20.0, RH_ERROR); // random actions are far too good already
    expect(log, false, -66.0, -300.0, -1);      // the last, cut off after 30, does not count
    rh_log_destroy(log);

    // longer is better, and may become longer still
    log = log_of_episodes(length, 10, 1.0);
    expect(log, false, 90.0, 20.0, -1);
    expect(log, false, 200.0, 20.0, RH_WARNING);
    expect(log, false, 400.0, 20.0, RH_ERROR);
    expect(log, false, 400.0, 70.0, RH_WARNING); // a log that is hardly better than random
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- cut-offs

// Runs of 5,000 steps in `nepisode` episodes each, cut off after `most` steps.
static bool is_cut_off(bool continuing, int64_t most, int64_t nepisode)
{
    static const int length[] = {80, 95, 70, 88, 103, 91, 65, 84, 77, 30};
    rh_log *log = log_of_episodes(length, 10, -1.0);
    sample s;
    begin(&s, log, continuing, -66.0, -300.0);
    s.study.eval.cutoff = most;
    for (int i = 0; i < 50; i++) {
        s.result[i].nstep = 5000;
        s.result[i].nepisode = nepisode;
    }
    judge(&s);
    const rh_finding *f = found(&s, "cut-off");
    bool is = f && f->severity == RH_WARNING;
    if (is && nepisode == 50)
        assert_non_null(strstr(f->evidence, "last 100 steps on average and are cut off after"));
    end(&s);
    rh_log_destroy(log);
    return is;
}

static void cut_off_episodes(void **unused)
{
    (void)unused;
    assert_true(is_cut_off(false, 167, 50));
    assert_true(is_cut_off(false, 200, 50));
    assert_false(is_cut_off(false, 201, 50));
    assert_false(is_cut_off(false, INT64_MAX, 50));
    assert_true(is_cut_off(false, 5000, 0)); // none ended at all
    assert_false(is_cut_off(true, 167, 50));
}

// ---------------------------------------------------------------------------- rare failures

static void rare_failures(void **unused)
{
    (void)unused;
    rh_log *log = log_of_failures(250, 0.0);
    sample s;
    const rh_verdict *v = &s.study.verdict;

    // members at different levels, runs 1 apart; 2 of 50 runs get stuck
    begin(&s, log, true, -640.0, -2000.0);
    for (int i = 0; i < 50; i++)
        s.result[i].score = -600.0 - 40.0 * (i / 10.0) - i % 10;
    judge(&s);
    assert_int_equal(v->rare.n, 0);
    assert_true(isnan(v->rare.score));
    assert_null(found(&s, "rare-failures"));
    end(&s);
    s.result[13].score = -5000.0;
    s.result[37].score = -4000.0;
    judge(&s);
    assert_int_equal(v->rare.n, 2);
    assert_true(near(v->rare.score, -4500.0));
    const rh_finding *f = found(&s, "rare-failures");
    assert_non_null(f);
    assert_int_equal(f->severity, RH_WARNING);
    assert_int_equal(f->count, 2);
    assert_non_null(strstr(f->evidence, "2 of the winner's 50 runs score -4500 on average"));
    end(&s);

    // a diverged run is another matter
    s.result[13].outcome = RH_DIVERGED;
    judge(&s);
    assert_int_equal(v->rare.n, 1);
    end(&s);

    // a deviation that costs little is none; neither is one that is common
    begin(&s, log, true, -640.0, -2000.0);
    s.result[20].score = -700.0;
    judge(&s);
    assert_int_equal(v->rare.n, 0);
    end(&s);
    s.result[20].score = -1100.0; // all others are equal
    judge(&s);
    assert_int_equal(v->rare.n, 1);
    end(&s);
    for (int i = 0; i < 50; i += 3)
        s.result[i].score = -5000.0;
    judge(&s);
    assert_int_equal(v->rare.n, 0);
    end(&s);

    // two kinds of model with 2 runs each: compared within a kind, whose level differs
    begin(&s, log, true, -640.0, -2000.0);
    s.trial.nmember = 20;
    s.trial.nrun = 2;
    s.trial.nkind = 2;
    for (int i = 0; i < 40; i++)
        s.result[i].score = (i < 20 ? -600.0 : -3000.0) - i % 7;
    judge(&s);
    assert_int_equal(v->rare.n, 0);
    end(&s);
    s.result[25].score = -9000.0;
    judge(&s);
    assert_int_equal(v->rare.n, 1);
    end(&s);
    rh_log_destroy(log);
}

// The 95 % limits of a count, by Wilson and Hilferty: within 1 % of half the quantiles of chi
// squared with 2 (c + 1) degrees of freedom, as scipy.stats.chi2.ppf(0.95, 2 * (c + 1)) / 2
// gives them: 2.9957, 4.7439, 6.2958, 7.7537.
static double limit_of(int c)
{
    static const double limit[] = {2.9957, 4.7439, 6.2958, 7.7537};
    return limit[c];
}

static bool about(double x, double y)
{
    return fabs(x - y) < 0.01 * fabs(y);
}

// 50 runs without a failure leave room for 3 in 50, one for 4.7: what they would cost is the
// worst run of all confirmed settings.
static void unseen_failures(void **unused)
{
    (void)unused;
    rh_log *log = log_of_failures(250, 0.0);
    rh_result other[50];
    sample s;
    begin(&s, log, true, -640.0, -2000.0);
    for (int i = 0; i < 50; i++)
        other[i] = (rh_result){.score = i == 7 ? -5640.0 : -700.0, .outcome = RH_FINISHED};
    rh_trial both[2] = {s.trial, s.trial};
    both[0].lo95 = -660.0;
    both[1].lo95 = -9000.0; // wider for other reasons
    both[1].result = other;
    both[0].confirm = both[1].confirm = true;
    s.study.trial = both;
    s.study.verdict.trial = both;
    s.study.verdict.ntrial = s.study.verdict.nconfirm = 2;
    judge(&s);
    assert_true(about(both[0].lo95, -640.0 - limit_of(0) / 50.0 * 5000.0));
    assert_true(both[1].lo95 == -9000.0);
    end(&s);

    // failures that were seen: the mean of the others, and as many more as chance allows
    for (int c = 1; c <= 3; c++) {
        for (int i = 0; i < 50; i++)
            other[i].score = i % 17 == 7 && i / 17 < c ? -5640.0 : -700.0;
        both[1].lo95 = -710.0;
        judge(&s);
        assert_true(about(both[1].lo95, -700.0 - limit_of(c) / 50.0 * 4940.0));
        end(&s);
    }

    s.plan.across = RH_ACROSS_MEDIAN; // a median has no rare failures
    both[0].lo95 = -660.0;
    judge(&s);
    assert_true(both[0].lo95 == -660.0);
    end(&s);
    rh_log_destroy(log);
}

// The intervals of confirmed settings are withdrawn, not those of the search.
static void withdrawn(void **unused)
{
    (void)unused;
    rh_log *log = log_of_failures(250, 0.0);
    for (int paper = 0; paper < 2; paper++) {
        sample s;
        begin(&s, log, true, -640.0, -2000.0);
        s.trial.lo95 = -9000.0;
        s.trial.hi95 = -600.0;
        rh_trial both[2] = {s.trial, s.trial};
        both[1].confirm = true;
        s.plan.interval =
            paper ? RH_INTERVAL__RUNS : RH_INTERVAL__ALL; // of the runs, as the paper
        s.study.trial = both;
        s.study.verdict.trial = both;
        s.study.verdict.ntrial = 2;
        s.study.verdict.nconfirm = 1;
        rh_study__withdraw(&s.study);
        assert_true(both[0].lo95 == -9000.0);
        assert_true(both[0].hi95 == -600.0);
        assert_int_equal(isnan(both[1].lo95), !paper);
        assert_int_equal(isnan(both[1].hi95), !paper);
        end(&s);
    }
    rh_log_destroy(log);
}

// The interval of a confirmed setting contains that of the logged controller: errors add.
static void no_surer_than_the_log(void **unused)
{
    (void)unused;
    rh_log *log = log_of_failures(333, 0.0);
    sample s;
    begin(&s, log, true, -640.0, -2000.0);
    rh_trial one = s.trial;
    one.lo95 = -680.0;
    one.hi95 = -610.0;
    one.confirm = true;
    s.study.trial = &one;
    s.study.verdict.trial = &one;
    s.study.verdict.ntrial = s.study.verdict.nconfirm = 1;
    judge(&s);
    const rh_reference *logged = &s.study.verdict.logged;
    double half = 0.5 * (logged->hi95 - logged->lo95);
    assert_true(half > 20.0);
    assert_true(near((one.lo95 + 640.0) * (one.lo95 + 640.0), 40.0 * 40.0 + half * half));
    assert_true(near((one.hi95 + 640.0) * (one.hi95 + 640.0), 30.0 * 30.0 + half * half));
    assert_true(one.lo95 < -640.0);
    assert_true(one.hi95 > -640.0);
    end(&s);

    one.value = -half / 2.0; // costs are never gains
    one.lo95 = one.value - 1.0;
    one.hi95 = one.value + 1.0;
    judge(&s);
    assert_true(one.hi95 == 0.0);
    assert_true(one.lo95 < one.value - half);
    end(&s);

    // nor gains costs; where the log has both, nothing is cut
    for (int both = 0; both < 2; both++) {
        rh_log *other = log_of_failures(333, both ? 0.5 : 1.0);
        s.study.log = other;
        one.value = half / 2.0;
        one.lo95 = one.value - 1.0;
        one.hi95 = one.value + 1.0;
        judge(&s);
        assert_int_equal(one.lo95 == 0.0, !both);
        assert_true(one.lo95 <= 0.0);
        assert_true(one.hi95 > one.value + half);
        end(&s);
        rh_log_destroy(other);
    }
    s.study.log = log;

    s.plan.interval = RH_INTERVAL__RUNS; // as in the paper
    one.lo95 = -680.0;
    judge(&s);
    assert_true(one.lo95 == -680.0);
    end(&s);
    rh_log_destroy(log);
}

static void without_memory(void **unused)
{
    (void)unused;
    static const int length[] = {80, 95, 70, 88};
    rh_log *log = log_of_episodes(length, 4, -1.0);
    int64_t live = rh_base__alloc_live();
    for (int n = 1;; n++) {
        sample s;
        begin(&s, log, false, -16.0, -300.0);
        rh_base__alloc_fail_at(n);
        rh_status rc = rh_study__find_logged(&s.study, NULL);
        if (!rc)
            rc = rh_study__compare(&s.study);
        if (!rc)
            rc = rh_study__findings(&s.study);
        rh_base__alloc_fail_at(0);
        end(&s);
        assert_int_equal(rh_base__alloc_live(), live);
        if (!rc)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_true(n < 20);
    }
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_logged_controller),
        cmocka_unit_test(in_continuing_tasks),
        cmocka_unit_test(in_episodes),
        cmocka_unit_test(cut_off_episodes),
        cmocka_unit_test(rare_failures),
        cmocka_unit_test(unseen_failures),
        cmocka_unit_test(withdrawn),
        cmocka_unit_test(no_surer_than_the_log),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
