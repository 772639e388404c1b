// test_check.c - the check of a study and the evidence that comes from it.

#include "model/model_sample.h"
#include "study/core.h"
#include "study/evidence.h"

#include <stdlib.h>

typedef struct sample {
    rh_log *log;
    rh_plan *plan;
    rh_study *study;
    const rh_verdict *v;
} sample;

// A finished study of 9 settings of esarsa in a log, which becomes the sample's; so many runs
// of each in each model of the check.
static sample make_of(rh_log *log, const char *steps, const char *check, const char *model,
                      int nthread)
{
    const char *const word[] = {
        "agent",           "esarsa", "evaluation.steps", steps,  "evaluation.runs", "3",
        "model",           model,    "representation",   "raw",  "confirm.kinds",   "chosen",
        "confirm.members", "2",      "confirm.settings", "3",    "confirm.runs",    "3",
        "agent.tilings",   "4",      "method",           "grid", "check",           check};
    sample s = {.log = log};
    rh_study_options opt = rh_study_defaults();
    rh_error err = {""};
    rh_status rc = rh_plan_create(&s.plan, &err);
    for (size_t i = 0; i < sizeof word / sizeof *word && !rc; i += 2)
        rc = rh_plan_set(s.plan, word[i], word[i + 1], NULL, &err);
    if (!rc && strcmp(model, "nn") == 0)
        rc = rh_plan_set(s.plan, "model.epochs", "2", NULL, &err);
    if (!rc)
        rc = rh_plan_try(s.plan, "alpha", "0.01,0.1,1", NULL, &err);
    if (!rc)
        rc = rh_plan_try(s.plan, "tau", "0.1,1,10", NULL, &err);
    if (!rc)
        rc = rh_plan_settle(s.plan, s.log, &err);
    opt.nthread = nthread;
    if (!rc)
        rc = rh_study_create(&s.study, s.plan, s.log, NULL, NULL, &opt, &err);
    if (!rc)
        rc = rh_study_run(s.study, &err);
    if (rc)
        fail_msg("%s", err.text);
    s.v = rh_study_verdict(s.study);
    assert_non_null(s.v);
    return s;
}

static sample make(const char *check, const char *model, int nthread)
{
    return make_of(log_by_chance(5, 400, 2, 3), "300", check, model, nthread);
}

static void end(sample *s)
{
    rh_study_destroy(s->study);
    rh_plan_destroy(s->plan);
    rh_log_destroy(s->log);
}

static double value_in_search(const rh_verdict *v, int setting)
{
    for (int i = 0; i < v->ntrial - v->nconfirm; i++)
        if (v->trial[i].setting == setting)
            return v->trial[i].value;
    fail_msg("setting %d was not searched", setting);
    return NAN;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// ---------------------------------------------------------------------------- the runs

static void models_and_settings(void **unused)
{
    (void)unused;
    static const char *const knn[] = {"first half of the log", "second half of the log",
                                      "twice the neighbours", "another coverage radius",
                                      "another representation"};
    static const char *const nn[] = {"first half of the log", "second half of the log",
                                     "half the hidden units"};
    for (int k = 0; k < 2; k++) {
        sample s = make("2", k ? "nn" : "knn", 2);
        const char *const *name = k ? nn : knn;
        int n = k ? 3 : 5;
        assert_int_equal(s.v->check.nmodel, n);
        for (int i = 0; i < n; i++) {
            assert_string_equal(s.v->check.model[i].name, name[i]);
            assert_int_equal(s.v->check.model[i].nrun, 2);
            for (int r = 0; r < 2 * s.v->check.nsetting; r++)
                assert_true(isfinite(s.v->check.model[i].score[r]));
        }
        assert_int_equal(s.v->nrun, 9 * 3 + 3 * 2 * 3 + n * 5 * 2);

        // three confirmed settings, then one of median value and one of the lowest quarter
        double value[9];
        for (int i = 0; i < 9; i++)
            value[i] = s.v->trial[i].value;
        qsort(value, 9, sizeof *value, by_value);
        assert_int_equal(s.v->check.nsetting, 5);
        assert_int_equal(s.v->check.nreference, 2);
        for (int i = 0; i < 3; i++)
            assert_true(s.v->check.setting[i] == s.v->trial[9].setting ||
                        s.v->check.setting[i] == s.v->trial[10].setting ||
                        s.v->check.setting[i] == s.v->trial[11].setting);
        assert_true(value_in_search(s.v, s.v->check.setting[3]) == value[4]);
        assert_true(value_in_search(s.v, s.v->check.setting[4]) == value[2]);
        end(&s);
    }
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    sample one = make("2", "knn", 1), three = make("2", "knn", 3);
    for (int c = 0; c < one.v->check.nmodel; c++)
        for (int i = 0; i < 2 * one.v->check.nsetting; i++)
            assert_true(one.v->check.model[c].score[i] == three.v->check.model[c].score[i]);
    for (int i = 0; i < RH_NEVIDENCE; i++) {
        double x = one.v->trust.evidence[i].value, y = three.v->trust.evidence[i].value;
        assert_true(x == y || (isnan(x) && isnan(y)));
    }
    assert_true(one.v->trust.probability == three.v->trust.probability);
    end(&one);
    end(&three);
}

static void the_winner_does_not_depend_on_it(void **unused)
{
    (void)unused;
    sample with = make("2", "knn", 2), without = make("0", "knn", 2);
    assert_int_equal(without.v->check.nmodel, 0);
    assert_int_equal(without.v->trust.level, RH_TRUST_UNKNOWN);
    assert_int_equal(strncmp(without.v->trust.text, "Not judged", 10), 0);
    assert_int_equal(with.v->winner, without.v->winner);
    assert_true(with.v->trial[with.v->winner].value ==
                without.v->trial[without.v->winner].value);
    assert_true(with.v->trust.level != RH_TRUST_UNKNOWN);
    end(&with);
    end(&without);
}

// The interval of a setting reaches to its median run in every model of the check.
static void intervals_reach_the_check(void **unused)
{
    (void)unused;
    sample s = make("3", "knn", 2);
    for (int t = s.v->ntrial - s.v->nconfirm; t < s.v->ntrial; t++)
        for (int i = 0; i < s.v->check.nsetting; i++)
            for (int c = 0;
                 c < s.v->check.nmodel && s.v->check.setting[i] == s.v->trial[t].setting; c++) {
                double run[3];
                memcpy(run, s.v->check.model[c].score + 3 * i, sizeof run);
                qsort(run, 3, sizeof *run, by_value);
                assert_true(run[1] >= s.v->trial[t].lo95);
                assert_true(run[1] <= s.v->trial[t].hi95);
            }
    end(&s);
}

// ---------------------------------------------------------------------------- transfer

#define STEPS 600

// Actions at random in ten states that pass by. One of the two is paid: the same one
// throughout, or in five states another one in the second half.
static rh_log *log_of_pay(bool changes)
{
    static walk w[STEPS];
    rh_rng rng = rh_rng_stream(7, RH_STREAM_AGENT, 0, 0);
    for (int i = 0; i < STEPS; i++) {
        int act = (int)rh_rng_below(&rng, 2), paid = changes && i % 10 >= 5 && i >= STEPS / 2;
        w[i] = (walk){.s = i % 10,
                      .act = act,
                      .reward = act == paid,
                      .next = (i + 1) % 10,
                      .begins = i == 0};
    }
    return log_of(w, STEPS, 2);
}

static bool warns(const rh_verdict *v, const char *id)
{
    for (int i = 0; i < v->findings.n; i++)
        if (strcmp(rh_finding_name(v->findings.item[i].id), id) == 0)
            return v->findings.item[i].severity == RH_WARNING;
    return false;
}

static void what_holds_in_both_halves_transfers(void **unused)
{
    (void)unused;
    sample s = make_of(log_of_pay(false), "3000", "2", "knn", 2);
    assert_int_equal(s.v->transfer.n, 4);
    assert_true(s.v->transfer.same > s.v->random.score);
    assert_true(s.v->transfer.share < 0.1);
    assert_false(warns(s.v, "model-exploited"));
    end(&s);
}

// In half of the states one half of the log says the opposite of the other: what is learned
// about them is wrong there, and the promise says so.
static void what_holds_in_one_half_does_not(void **unused)
{
    (void)unused;
    sample s = make_of(log_of_pay(true), "3000", "2", "knn", 2);
    const rh_transfer *t = &s.v->transfer;
    const rh_trial *winner = &s.v->trial[s.v->winner];
    assert_true(t->same > s.v->random.score);
    assert_true(t->other < t->same);
    assert_true(t->share >= 0.5);
    assert_true(t->lost > 0.0);
    assert_true(winner->lo95 <= winner->value - t->lost);
    assert_true(s.v->trust.evidence[RH_EVIDENCE_TRANSFER].value == t->share);
    assert_true(warns(s.v, "model-exploited"));
    end(&s);
}

// Medians by hand. Random actions score -100.
static void medians_of_transfer(void **unused)
{
    (void)unused;
    rh_study study = {.verdict = {.random = {-100.0, NAN, NAN}},
                      .moved = {.n = 3,
                                .score = {{{-10.0, -30.0}, {-20.0, -20.0}, {-40.0, -5000.0}},
                                          {{-50.0, -30.0}, {NAN, -20.0}, {-190.0, -120.0}}}}};
    // own  -10 -20   -40 -30 -120: median -30; other -30 -20 -5000 -50 -190: median -50
    // lost  20   0  4960  20   70: median  20; share 20/90, 0, 1, 20/70, unknown: 16/63
    rh_transfer t = rh_study__transferred(&study);
    assert_int_equal(t.n, 5);
    assert_true(t.same == -30.0);
    assert_true(t.other == -50.0);
    assert_true(t.lost == 20.0);
    assert_true(fabs(t.share - 16.0 / 63.0) < 1e-12);
    // one half is easier: what its agents lose, those of the other half gain threefold
    study.moved = (rh_study__moved){.n = 1, .score = {{{-20.0, -60.0}}, {{60.0, -60.0}}}};
    t = rh_study__transferred(&study);
    assert_true(t.other > t.same);
    assert_true(t.share == 0.0);
    study.moved.n = 0;
    t = rh_study__transferred(&study);
    assert_int_equal(t.n, 0);
    assert_true(isnan(t.practice));
    assert_true(isnan(t.practised));
    // practice: one logged row, then three of two episodes with rewards -2, -4, -6
    static const double row[] = {0, 0, -9, 0, 1, 0, 0, -2, 0, 0,
                                 0, 0, -4, 0, 1, 0, 0, -6, 0, 2};
    study.prior = (rh_prior){.n = 1, .row = row, .npractice = 3};
    study.task = (rh_task){.nobs = 1, .nact = 1};
    study.eval.nstep = 100;
    t = rh_study__transferred(&study);
    assert_true(t.practice == -6.0);
    study.task.continuing = true;
    t = rh_study__transferred(&study);
    assert_true(t.practice == -400.0);
    study.eval.criterion = RH_FINAL;
    t = rh_study__transferred(&study);
    assert_true(isnan(t.practice));
    assert_true(isnan(t.same));
    assert_true(isnan(t.lost));
    assert_true(isnan(t.share));
}

// ---------------------------------------------------------------------------- the evidence

static double mean(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum / n;
}

// The regret of a setting in one model, by its definition: the greatest mean difference beyond
// its standard error, in units of best minus median, at most 1.
static double regret(const rh_verdict *v, const rh_check *c, int own)
{
    int nrun = c->nrun;
    double most = 0.0, best = -INFINITY, difference[8];
    for (int i = 0; i < v->check.nsetting; i++) {
        double square = 0.0;
        for (int r = 0; r < nrun; r++)
            difference[r] = c->score[i * nrun + r] - c->score[own * nrun + r];
        double m = mean(difference, nrun);
        for (int r = 0; r < nrun; r++)
            square += (difference[r] - m) * (difference[r] - m);
        double gain = m - sqrt(square / (nrun - 1) / nrun);
        most = gain > most ? gain : most;
        best = fmax(best, mean(c->score + i * nrun, nrun));
    }
    double range = best - mean(c->score + 3 * nrun, nrun);
    return most == 0.0 ? 0.0 : most >= range ? 1.0 : most / range;
}

static double tau(const double *x, const double *y, int n)
{
    int same = 0, opposite = 0, tx = 0, ty = 0;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double a = x[i] - x[j], b = y[i] - y[j];
            same += a * b > 0.0;
            opposite += a * b < 0.0;
            tx += a == 0.0;
            ty += b == 0.0;
        }
    double all = n * (n - 1) / 2.0;
    return (same - opposite) / sqrt((all - tx) * (all - ty));
}

static void evidence_of_the_check(void **unused)
{
    (void)unused;
    sample s = make("3", "knn", 2);
    const rh_verdict *v = s.v;
    double sum[2] = {0.0, 0.0}, order = 0.0, searched[5], checked[5];
    int own = 0;
    for (int i = 0; i < 5; i++) {
        searched[i] = value_in_search(v, v->check.setting[i]);
        own = v->check.setting[i] == v->trial[v->winner].setting ? i : own;
    }
    for (int c = 0; c < 5; c++) {
        sum[c < 2] += regret(v, &v->check.model[c], own);
        for (int i = 0; i < 5; i++)
            checked[i] = mean(v->check.model[c].score + 3 * i, 3);
        order += tau(searched, checked, 5);
    }
    assert_true(fabs(v->trust.evidence[RH_EVIDENCE_HALVES].value - sum[1] / 2.0) < 1e-12);
    assert_true(fabs(v->trust.evidence[RH_EVIDENCE_VARIANTS].value - sum[0] / 3.0) < 1e-12);
    assert_true(fabs(v->trust.evidence[RH_EVIDENCE_ORDER].value - order / 5.0) < 1e-12);
    end(&s);
}

static void evidence_of_the_confirmation(void **unused)
{
    (void)unused;
    sample s = make("1", "knn", 1);
    const rh_verdict *v = s.v;
    const rh_trial *w = &v->trial[v->winner];
    double value[9], rival = -INFINITY;
    for (int i = 0; i < 9; i++)
        value[i] = v->trial[i].value;
    qsort(value, 9, sizeof *value, by_value);
    double range = value[8] - value[4];
    for (int i = 9; i < 12; i++)
        if (i != v->winner)
            rival = fmax(rival, v->trial[i].kind[0].hi95);
    assert_true(range > 0.0);
    assert_true(fabs(v->trust.evidence[RH_EVIDENCE_NOISE].value -
                     (w->kind[0].hi95 - w->kind[0].lo95) / 2.0 / range) < 1e-12);
    assert_true(fabs(v->trust.evidence[RH_EVIDENCE_RIVAL].value -
                     (rival - w->kind[0].value) / range) < 1e-12);
    assert_true(v->trust.evidence[RH_EVIDENCE_COVERAGE].value == w->out_of_coverage);
    double overall = 0.0, steps = 0.0, episodes = 0.0;
    for (int i = 0; i < 9; i++)
        overall += v->trial[i].out_of_coverage / 9.0;
    assert_true(fabs(v->trust.evidence[RH_EVIDENCE_OVERALL].value - overall) < 1e-12);
    for (int i = 0; i < w->nmember * w->nrun; i++) {
        steps += (double)w->result[i].nstep;
        episodes += (double)w->result[i].nepisode;
    }
    double logged = (double)s.log->n / s.log->nepisode;
    assert_true(episodes > 0.0);
    assert_true(fabs(exp(v->trust.evidence[RH_EVIDENCE_LENGTH].value) -
                     steps / episodes / logged) < 1e-9);

    // the steps of the least frequent action
    int64_t n[3] = {0, 0, 0};
    for (int64_t i = 0; i < s.log->n; i++)
        n[(int)s.log->act[i]]++;
    double least = (double)(n[0] < n[1]   ? (n[0] < n[2] ? n[0] : n[2])
                            : n[1] < n[2] ? n[1]
                                          : n[2]);
    assert_true(fabs(rh_exp(v->trust.evidence[RH_EVIDENCE_DATA].value) - least) < 1e-9 * least);
    for (int i = 0; i < RH_NEVIDENCE; i++) {
        assert_non_null(v->trust.evidence[i].name);
        assert_non_null(v->trust.evidence[i].about);
    }
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_and_settings),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(the_winner_does_not_depend_on_it),
        cmocka_unit_test(intervals_reach_the_check),
        cmocka_unit_test(what_holds_in_both_halves_transfers),
        cmocka_unit_test(what_holds_in_one_half_does_not),
        cmocka_unit_test(medians_of_transfer),
        cmocka_unit_test(evidence_of_the_check),
        cmocka_unit_test(evidence_of_the_confirmation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
