// test_beside.c - judging models beside the logged path: natural experiments are found, their
// effects told from what the controller answers to, effects that a log cannot show named;
// files, and memory.

#include "model/model.h"
#include "model/replay.h"
#include "model/stretches.h"
#include "model/unusual.h"
#include "model_sample.h"

#include <stdio.h>

// A thermostat: it heats (1) while x is below 0, which is when it is cold outside, and tries
// the other action in a step where rarely is above 0 and the dice say so. Heating adds 0.3.
// With confounded, the cold outside (not a sensor) is what the thermostat answers to.
static rh_log *thermostat(int n, double rarely, int64_t *tried, bool *is)
{
    static walk w[4000];
    rh_rng rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
    double x = 0.0;
    *tried = 0;
    for (int i = 0; i < n; i++) {
        double z[2], usual = x < 0.0;
        rh_rng_normal(&rng, z);
        bool other = i > 0 && rh_rng_range(&rng, 0.0, 1.0) < rarely;
        double act = other ? 1.0 - usual : usual;
        double next = 0.9 * x + 0.3 * act - 0.15 + 0.02 * z[0];
        *tried += other;
        if (is)
            is[i] = other;
        w[i] = (walk){.s = x, .act = act, .reward = -fabs(next), .next = next};
        w[i].begins = i == 0;
        w[i].flag = i == n - 1 ? CUT : 0;
        x = next;
    }
    return log_of(w, n, 2);
}

static void experiments_are_found(void **unused)
{
    (void)unused;
    static bool is[3000];
    int64_t tried, hit = 0;
    rh_error err = {""};
    rh_unusual u = {0};
    rh_log *log = thermostat(3000, 0.02, &tried, is);
    assert_int_equal(rh_unusual__find(&u, log, &err), RH_OK);
    assert_int_equal(u.nknown, 2999);
    for (int i = 0; i < 3000; i++) {
        hit += is[i] && u.is[i];
        if (u.is[i])
            assert_true(u.usual[i] == 1.0 - log->act[i]);
    }
    assert_true(tried > 40);
    assert_true((double)hit > 0.9 * (double)tried);
    assert_true((double)u.n < 1.7 * (double)tried); // and some where it switches anyway
    rh_unusual__clear(&u);
    rh_log_destroy(log);
}

// The same of a continuous action, u = -x, which is 1 off in some steps.
static void amounts_too(void **unused)
{
    (void)unused;
    static walk w[2000];
    static bool is[2000];
    rh_rng rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
    double x = 1.0;
    int64_t tried = 0, hit = 0;
    for (int i = 0; i < 2000; i++) {
        double z[2];
        rh_rng_normal(&rng, z);
        is[i] = i > 0 && rh_rng_below(&rng, 50) == 0;
        tried += is[i];
        double act = -x + (is[i] ? 1.0 : 0.0), next = 0.9 * x + 0.1 * act + 0.05 * z[0];
        w[i] = (walk){.s = x, .act = act, .next = next, .begins = i == 0};
        x = next;
    }
    rh_log *log = log_of(w, 2000, 0);
    rh_unusual u = {0};
    assert_int_equal(rh_unusual__find(&u, log, NULL), RH_OK);
    for (int i = 0; i < 2000; i++) {
        hit += is[i] && u.is[i];
        if (is[i] && u.is[i])
            assert_true(fabs(u.usual[i] + w[i].s) < 0.2);
    }
    assert_true((double)hit > 0.9 * (double)tried);
    assert_true((double)u.n < 1.2 * (double)tried);
    rh_unusual__clear(&u);
    rh_log_destroy(log);
}

// A thermostat that never tries anything shows no effect where it always answers the same.
static void what_is_not_shown(void **unused)
{
    (void)unused;
    int64_t tried;
    rh_experiments e;
    rh_log *log = thermostat(3000, 0.0, &tried, NULL);
    assert_int_equal(rh_experiments__find(&e, log, NULL), RH_OK);
    bool heat = false, rest = false;
    assert_true(e.nnot_shown > 0);
    for (int i = 0; i < e.nnot_shown; i++) {
        const rh_not_shown *one = &e.not_shown[i];
        assert_int_equal(one->sensor, 0); // the other one is constant
        assert_true(one->nchoice < 3 && one->nstep > 900 && one->lo < one->hi);
        heat = heat || (one->action == 1 && one->lo >= 0.0);
        rest = rest || (one->action == 0 && one->hi <= 0.0);
    }
    assert_true(heat || rest);
    rh_log_destroy(log);
    log = thermostat(3000, 0.1, &tried, NULL);
    assert_int_equal(rh_experiments__find(&e, log, NULL), RH_OK);
    assert_int_equal(e.nnot_shown, 0);
    assert_true(e.n >= 200);
    rh_log_destroy(log);
    log = thermostat(30, 0.1, &tried, NULL); // too short
    assert_int_equal(rh_experiments__find(&e, log, NULL), RH_OK);
    assert_int_equal(e.nstep, 0);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- replays

static rh_model *prepare(const char *name, const rh_log *log)
{
    rh_error err = {""};
    rh_model *model = NULL;
    rh_repr *repr = plain_repr(log, false);
    rh_model_options opt = plain_options();
    if (rh_model__prepare(&model, rh_model_find(name, &err), log, repr, &opt, NULL, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
    return model;
}

static void score(rh_stretches__scores *s, rh_stretches **out, const rh_model *model,
                  int nthread)
{
    rh_error err = {""};
    char why[200] = "";
    if (rh_stretches__create(out, model->log, model->facts, model->task.continuing, 1, why,
                             sizeof why, &err) ||
        !*out || rh_stretches__run(s, *out, model, 1, nthread, NULL, NULL, &err))
        fail_msg("%s%s", err.text, why);
}

// A building whose heater is on by night, when it cools by itself. Neighbours take the night
// for an effect of the heater; a regression that sees the cold (y) tells them apart.
static rh_log *confounded(int n)
{
    static const char *const label[] = {"off", "on"};
    rh_log_shape shape = {.nobs = 3,
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .label = label,
                          .nlabel = 2,
                          .declared = true,
                          .path = "room.csv",
                          .format = "test"};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(4, RH_STREAM_NOISE, 0, 0);
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    double s[3] = {20.0, 0.0, 0.0}, next[3];
    for (int i = 0; i < n; i++) {
        double z[2], act = s[1] < 0.0;
        rh_rng_normal(&rng, z);
        if (rh_rng_below(&rng, 30) == 0)
            act = 1.0 - act;
        next[0] = s[0] + 0.2 * (19.5 - s[0]) + act + 1.5 * s[1] + 0.02 * z[0];
        next[1] = 0.97 * s[1] + 0.1 * z[1];
        next[2] = rh_rng_range(&rng, -1.0, 1.0);
        rh_log_row row = {.obs = s,
                          .act = &act,
                          .reward = -fabs(next[0] - 20.0),
                          .next = next,
                          .begins = i == 0,
                          .truncated = i == n - 1};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        memcpy(s, next, sizeof s);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

static void effects_are_told(void **unused)
{
    (void)unused;
    rh_log *log = confounded(2000);
    rh_model *linear = prepare("linear", log), *knn = prepare("knn", log);
    rh_stretches__scores x = {0}, y = {0};
    rh_stretches *a = NULL, *b = NULL;
    score(&x, &a, linear, 1);
    score(&y, &b, knn, 1);
    assert_true(x.beside.nexperiment >= 20);
    assert_true(x.beside.nsensor >= 20);
    assert_int_equal(x.beside.naction, 0); // they are discrete
    assert_true(isnan(x.beside.actions));
    assert_true(fabs(x.beside.shown - 1.0) < 0.1);
    assert_true(x.beside.shown_error < 0.1);
    assert_true(fabs(y.beside.shown - 1.0) > 3.0 * y.beside.shown_error);
    assert_true(y.beside.experiments > 1.2 * x.beside.experiments);
    assert_true(y.beside.sensors > x.beside.sensors);
    assert_true(fabs(x.total - (x.score + x.beside.score) / 2.0) < 1e-12);
    double mean, error;
    rh_stretches__compare(a, &y, &x, true, &mean, &error);
    assert_true(fabs(mean - (y.total - x.total)) < 1e-9);
    assert_true(error > 0.0);
    assert_true(mean > 2.5 * error);
    rh_stretches__clear(&x);
    rh_stretches__clear(&y);
    rh_stretches__destroy(a);
    rh_stretches__destroy(b);

    score(&x, &a, knn, 1); // any number of threads
    score(&y, &b, knn, 3);
    assert_memory_equal(&x.beside, &y.beside, sizeof x.beside);
    rh_stretches__clear(&x);
    rh_stretches__clear(&y);
    rh_stretches__destroy(a);
    rh_stretches__destroy(b);
    rh_model_destroy(linear);
    rh_model_destroy(knn);
    rh_log_destroy(log);
}

// A kind of stretch in which nothing can be told has no score: 0 would be a perfect one.
static void nothing_to_tell(void **unused)
{
    (void)unused;
    rh_log *log = confounded(2000);
    rh_model *linear = prepare("linear", log);
    rh_stretches__scores x = {0};
    rh_stretches *r = NULL;
    rh_error err = {""};
    double mean, error;
    assert_int_equal(rh_stretches__create(&r, linear->log, linear->facts,
                                          linear->task.continuing, 1, NULL, 0, &err),
                     RH_OK);
    double *weight = rh_stretches__weight(r, RH_STRETCHES__SENSOR);
    memset(weight, 0, RH_MODEL_NASPECT * (size_t)r->nhorizon * sizeof *weight);
    assert_int_equal(rh_stretches__run(&x, r, linear, 1, 1, NULL, NULL, &err), RH_OK);
    assert_true(isnan(x.beside.sensors));
    assert_true(x.beside.score == x.beside.experiments);
    assert_true(fabs(x.total - (x.score + x.beside.score) / 2.0) < 1e-12);
    rh_stretches__compare(r, &x, NULL, true, &mean, &error);
    assert_true(fabs(mean - x.total) < 1e-9);
    rh_stretches__clear(&x);
    rh_stretches__destroy(r);
    rh_model_destroy(linear);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- files, memory

static void kept_in_files(void **unused)
{
    (void)unused;
    rh_error err = {""};
    int64_t tried;
    rh_log *log = thermostat(600, 0.0, &tried, NULL);
    rh_model_trial trial[RH_MODEL_NTRIAL];
    rh_model *model = NULL, *again = NULL;
    rh_model_options opt = rh_model_defaults();
    int n = rh_model__candidates(trial);
    const char *path = "model_test_beside.model";
    if (rh_model__choose(&model, trial, n, log, &opt, NULL, &err) ||
        rh_model_write(model, path, &err) || rh_model_read(&again, path, &err))
        fail_msg("%s", err.text);
    remove(path);
    const rh_fidelity *f = rh_model_fidelity(model), *g = rh_model_fidelity(again);
    assert_true(f->experiments.nnot_shown > 0);
    assert_int_equal(f->experiments.n, g->experiments.n);
    assert_int_equal(f->experiments.nnot_shown, g->experiments.nnot_shown);
    for (int i = 0; i < f->experiments.nnot_shown; i++) {
        const rh_not_shown *a = &f->experiments.not_shown[i], *b = &g->experiments.not_shown[i];
        assert_true(a->action == b->action);
        assert_true(a->sensor == b->sensor);
        assert_true(a->nstep == b->nstep);
        assert_true(a->nchoice == b->nchoice);
        assert_true(a->lo == b->lo);
        assert_true(a->hi == b->hi);
    }
    assert_true(f->beside.nsensor > 0);
    assert_true(f->beside.nsensor == g->beside.nsensor);
    assert_true(f->beside.score == g->beside.score);
    const rh_model_comparison *c = rh_model_compared(again);
    for (int i = 0; i < c->ntrial; i++)
        if (c->trial[i].chosen)
            assert_true(c->trial[i].beside.score == f->beside.score);
    rh_model_destroy(model);
    rh_model_destroy(again);
    rh_log_destroy(log);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    int64_t tried, nth = 0;
    for (int i = 0; i < 2; i++) {
        rh_log *log = i ? log_of((walk[]){{.s = 1, .act = 0.5, .next = 2, .begins = 1}}, 1, 0)
                        : thermostat(200, 0.05, &tried, NULL);
        int64_t live = rh_base__alloc_live();
        rh_status rc = RH_ENOMEM;
        for (nth = 0; rc == RH_ENOMEM;) {
            rh_error err = {""};
            rh_experiments e;
            rh_base__alloc_fail_at(++nth);
            rc = rh_experiments__find(&e, log, &err);
            rh_base__alloc_fail_at(0);
            assert_true(rc == RH_OK || (rc == RH_ENOMEM && err.text[0]));
            assert_int_equal(rh_base__alloc_live(), live);
        }
        assert_int_equal(rc, RH_OK);
        assert_true(nth > 5);
        rh_log_destroy(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experiments_are_found), cmocka_unit_test(amounts_too),
        cmocka_unit_test(what_is_not_shown),     cmocka_unit_test(effects_are_told),
        cmocka_unit_test(kept_in_files),         cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(nothing_to_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
