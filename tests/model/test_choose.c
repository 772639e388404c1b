// test_choose.c - the choice of a model by replays: plants in which a kind must win, the
// reasons, one candidate, logs that are too short, the file, any number of threads, memory.

#include "base/base.h"
#include "model/model.h"
#include "plant_sample.h"

#include <stdio.h>
#include <unistd.h>

// Candidates that are not learned for long.
static int quick(rh_model_trial *trial)
{
    int n = rh_model__candidates(trial);
    for (int i = 0; i < n; i++) {
        const rh_repr_type *repr = trial[i].repr;
        int steps = rh_param_find(repr->param, repr->nparam, "steps");
        if (steps >= 0)
            trial[i].repr_param[steps] = 200;
    }
    return n;
}

static rh_model *choose(const rh_log *log, const rh_model_trial *trial, int n, int nthread)
{
    rh_error err = {""};
    rh_model *model = NULL;
    rh_model_options opt = plain_options();
    opt.nthread = nthread;
    if (rh_model__choose(&model, trial, n, log, &opt, NULL, &err))
        fail_msg("%s", err.text);
    return model;
}

static const rh_model_trial *chosen(const rh_model *model)
{
    const rh_model_comparison *c = rh_model_compared(model);
    const rh_model_trial *one = NULL;
    int n = 0;
    assert_non_null(c);
    for (int i = 0; i < c->ntrial; i++)
        if (c->trial[i].chosen) {
            one = &c->trial[i];
            n++;
        }
    assert_int_equal(n, 1);
    return one;
}

static void the_default_candidates(void **unused)
{
    (void)unused;
    rh_model_trial trial[RH_MODEL_NTRIAL];
    int n = rh_model__candidates(trial);
    assert_true(n >= 3);
    assert_string_equal(trial[0].kind, "stitching");
    assert_string_equal(trial[0].repr->name, "raw");
    for (int i = 0; i < n; i++) {
        rh_error err = {""};
        assert_int_equal(rh_param__check(trial[i].type->param, trial[i].type->nparam, "",
                                         trial[i].param, &err),
                         RH_OK);
        assert_int_equal(rh_param__check(trial[i].repr->param, trial[i].repr->nparam, "",
                                         trial[i].repr_param, &err),
                         RH_OK);
    }
}

// A smooth plant is not stitched. With noise and walls stitching is as good as carrying, but a
// kind is chosen in which agents can leave the log.
static void the_right_kind(void **unused)
{
    (void)unused;
    for (int which = SMOOTH; which <= WALLS; which++) {
        rh_model_trial trial[RH_MODEL_NTRIAL];
        int n = quick(trial);
        rh_log *log = log_of_plant((plant)which, 600, 40);
        rh_model *model = choose(log, trial, n, 1);
        const rh_model_comparison *c = rh_model_compared(model);
        const rh_model_trial *one = chosen(model);
        if (which == WALLS)
            assert_true(strcmp(one->kind, "carrying") == 0 || strcmp(one->kind, "linear") == 0);
        assert_true(rh_model_type_of(model) == one->type);
        assert_memory_equal(rh_model_params(model), one->param,
                            (size_t)one->type->nparam * sizeof *one->param);
        assert_true(rh_repr_type_of(rh_model_repr(model)) == one->repr);
        assert_true(strncmp(c->reason, one->kind, strlen(one->kind)) == 0);
        assert_true(one->credible);
        assert_true(one->tried);
        assert_true(one->behind == 0.0);
        assert_int_equal(c->nstep, 600);
        assert_true(c->nhorizon >= 3);
        assert_int_equal(c->horizon[0], 1);
        assert_true(c->nstretch > 50);
        bool stitches = false;
        for (int i = 0; i < c->ntrial; i++) {
            const rh_model_trial *t = &c->trial[i];
            stitches = stitches || (t->credible && strcmp(t->kind, "stitching") == 0);
            // one of each kind at most, and of the smooth plant no stitching
            for (int k = 0; t->credible && k < i; k++)
                assert_false(c->trial[k].credible && strcmp(c->trial[k].kind, t->kind) == 0);
            assert_true(t->note[0] != 0);
            assert_true(t->tried ? t->score >= one->score - 3.0 * one->error : isnan(t->score));
            assert_true(!t->tried || fabs(t->behind - (t->total - one->total)) < 1e-9);
        }
        assert_true(stitches == (which == WALLS));
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

// Neighbours of a walk are farther off after a step than "nothing changes" is: they are not
// chosen, though their energy score is lower.
static void no_worse_than_persistence(void **unused)
{
    (void)unused;
    rh_model_trial trial[RH_MODEL_NTRIAL];
    static walk steps[900];
    rh_rng rng = rh_rng_stream(8, RH_STREAM_NOISE, 0, 0);
    int n = quick(trial);
    double s = 0.0;
    for (int i = 0; i < 900; i++) {
        double act = rh_rng_below(&rng, 2), z[2];
        rh_rng_normal(&rng, z);
        double next = fmin(fmax(s + 0.04 * (act - 0.5) + 0.1 * z[0], -1.0), 1.0);
        steps[i] = (walk){s, act, -fabs(s), next, i % 30 == 29 ? CUT : 0, 0};
        s = i % 30 == 29 ? rh_rng_range(&rng, -1.0, 1.0) : next;
    }
    rh_log *log = log_of(steps, 900, 2);
    rh_model *model = choose(log, trial, n, 1);
    const rh_model_comparison *c = rh_model_compared(model);
    assert_string_equal(chosen(model)->kind, "linear");
    for (int i = 0; i < c->ntrial; i++)
        if (c->trial[i].tried && strcmp(c->trial[i].type->name, "knn") == 0) {
            assert_non_null(strstr(c->trial[i].note, "farther off than no change"));
            assert_false(c->trial[i].credible);
        }
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Two heaters with a hidden state, sensors of 0.32 degrees and setpoints that jump: carrying
// locally once scored 60 on such a log, 1 being a random stretch of it.
static void carrying_does_not_diverge(void **unused)
{
    (void)unused;
    enum { NSTEP = 2400 };
    rh_log_shape shape = {.nobs = 4, .nact = 2, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(5, RH_STREAM_NOISE, 0, 0);
    double heater[2] = {25.0, 25.0}, t[2] = {25.0, 25.0}, set[2] = {40.0, 40.0}, u[2] = {0};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        double obs[4], reward = 0.0;
        for (int k = 0; k < 2; k++) {
            double noise = rh_rng_range(&rng, -0.2, 0.2);
            if (i % 80 == 0)
                set[k] = rh_rng_range(&rng, 25.0, 65.0);
            obs[k] = 0.32 * floor((t[k] + noise) / 0.32);
            obs[2 + k] = set[k];
            u[k] = obs[k] < set[k] ? 100.0 : 0.0;
            reward -= fabs(obs[k] - set[k]) / 10.0;
        }
        rh_log_row row = {.obs = obs, .act = u, .reward = reward, .begins = i % 240 == 0};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        for (int k = 0; k < 2; k++) {
            heater[k] += 0.03 * (u[k] * 0.6 + 23.0 - heater[k]);
            t[k] += 0.1 * (heater[k] - t[k]) + 0.01 * (t[1 - k] - t[k]);
        }
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    rh_model_trial all[RH_MODEL_NTRIAL], trial[2];
    int n = quick(all), ntrial = 0;
    for (int i = 0; i < n; i++) {
        char name[100];
        rh_model__trial_name(&all[i], name, sizeof name);
        if (strstr(name, "locally") || strcmp(name, "linear, raw") == 0)
            trial[ntrial++] = all[i];
    }
    assert_int_equal(ntrial, 2);
    rh_model *model = choose(log, trial, ntrial, 1);
    for (int i = 0; i < ntrial; i++) {
        assert_true(rh_model_compared(model)->trial[i].tried);
        assert_true(rh_model_compared(model)->trial[i].score < 1.5);
        assert_true(rh_model_compared(model)->trial[i].beside.score < 1.5);
    }
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Nothing is compared, and the first candidate is used.
static void without_a_comparison(void **unused)
{
    (void)unused;
    rh_model_trial trial[RH_MODEL_NTRIAL];
    int n = quick(trial);
    rh_log *log = log_by_chance(1, 100, 2, 2), *few = log_by_chance(1, 30, 2, 2);
    rh_model *model = choose(log, trial, 1, 1);
    assert_null(rh_model_compared(model));
    rh_model_destroy(model);

    model = choose(few, trial, n, 1);
    const rh_model_comparison *c = rh_model_compared(model);
    assert_non_null(strstr(c->reason, "30 steps"));
    assert_int_equal(c->nhorizon, 0);
    assert_true(c->trial[0].chosen);
    assert_false(c->trial[0].tried);
    assert_true(rh_model_type_of(model) == trial[0].type);
    rh_model_destroy(model);

    rh_error err = {""};
    assert_int_equal(rh_model__choose(&model, trial, 0, log, NULL, NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "0 candidates"));
    rh_log_destroy(log);
    rh_log_destroy(few);
}

// A candidate that cannot be fitted is left out; if none can, the first one's reason is given.
static void impossible_candidates(void **unused)
{
    (void)unused;
    rh_model_trial trial[RH_MODEL_NTRIAL], two[2];
    int n = quick(trial);
    walk steps[120];
    rh_rng rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < 120; i++) { // steps without order: every one an episode
        double s = rh_rng_uniform(&rng);
        steps[i] = (walk){s, (double)(i % 2), s, s + 0.1, CUT, 0};
    }
    rh_log *log = log_of(steps, 120, 2);
    for (int i = 0; i < n; i++)
        if (strcmp(trial[i].repr->name, "laplacian") == 0)
            two[0] = trial[i];
    two[0].optional = false;
    two[1] = trial[0];
    rh_model *model = choose(log, two, 2, 1);
    assert_string_equal(chosen(model)->repr->name, "raw");
    assert_non_null(strstr(rh_model_compared(model)->trial[0].note, "order"));
    assert_int_equal(rh_model_compared(model)->horizon[0], 1);
    rh_model_destroy(model);

    rh_error err = {""};
    two[1] = two[0];
    assert_int_equal(rh_model__choose(&model, two, 2, log, NULL, NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "order"));
    rh_log_destroy(log);
}

// The comparison is the same for any number of threads, after a refit, and in a file.
static void the_same_everywhere(void **unused)
{
    (void)unused;
    rh_model_trial trial[RH_MODEL_NTRIAL];
    int n = quick(trial);
    rh_log *log = log_by_chance(4, 300, 2, 2);
    rh_model *a = choose(log, trial, n, 1), *b = choose(log, trial, n, 3), *read = NULL;
    rh_model *again = NULL;
    rh_error err = {""};
    const size_t size = sizeof(rh_model_comparison);
    assert_memory_equal(rh_model_compared(a), rh_model_compared(b), size);

    rh_model_options opt = plain_options();
    assert_int_equal(rh_model__refit(&again, a, &opt, &err), RH_OK);
    assert_memory_equal(rh_model_compared(a), rh_model_compared(again), size);

    char path[64];
    snprintf(path, sizeof path, "/tmp/test_choose.%d.model", (int)getpid());
    assert_int_equal(rh_model_write(a, path, &err), RH_OK);
    if (rh_model_read(&read, path, &err))
        fail_msg("%s", err.text);
    remove(path);
    const rh_model_comparison *x = rh_model_compared(a), *y = rh_model_compared(read);
    assert_int_equal(x->ntrial, y->ntrial);
    assert_string_equal(x->reason, y->reason);
    assert_memory_equal(x->horizon, y->horizon, sizeof x->horizon);
    for (int i = 0; i < x->ntrial; i++) {
        const rh_model_trial *s = &x->trial[i], *t = &y->trial[i];
        assert_ptr_equal(s->kind, t->kind);
        assert_ptr_equal(s->type, t->type);
        assert_ptr_equal(s->repr, t->repr);
        assert_memory_equal(s->param, t->param, sizeof s->param);
        assert_memory_equal(s->repr_param, t->repr_param, sizeof s->repr_param);
        assert_int_equal(s->tried, t->tried);
        assert_int_equal(s->chosen, t->chosen);
        assert_int_equal(s->credible, t->credible);
        assert_int_equal(s->optional, t->optional);
        assert_memory_equal(&s->score, &t->score, sizeof s->score);
        assert_memory_equal(s->at, t->at, sizeof s->at);
        assert_memory_equal(s->part, t->part, sizeof s->part);
        assert_memory_equal(&s->simulated_return, &t->simulated_return,
                            sizeof s->simulated_return);
        assert_string_equal(s->note, t->note);
    }
    rh_model_destroy(a);
    rh_model_destroy(b);
    rh_model_destroy(again);
    rh_model_destroy(read);
    rh_log_destroy(log);
}

// Of a long log an excerpt is compared, and all of it is fitted.
static void a_long_log(void **unused)
{
    (void)unused;
    for (int length = 50; length <= 21000; length += 20950) { // episodes, or one of 21,000
        rh_model_trial trial[RH_MODEL_NTRIAL];
        quick(trial);
        trial[1] = trial[0];
        trial[1].param[0] = 5.0; // k
        rh_log *log = log_of_plant(WALLS, 21000, length);
        rh_model *model = choose(log, trial, 2, 2);
        const rh_model_comparison *c = rh_model_compared(model);
        assert_true(c->nstep > 10000);
        assert_true(c->nstep <= 20000);
        assert_true(c->trial[0].tried);
        assert_true(c->trial[1].tried);
        assert_int_equal(rh_model_log(model)->n, 21000);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

// Sensor and reward by chance: states and actions say nothing about what follows.
static rh_log *log_of_noise(int n, uint64_t seed)
{
    static walk steps[2000];
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    double s = 0.0;
    assert_true(n <= 2000);
    for (int i = 0; i < n; i++) {
        double next = rh_rng_uniform(&rng);
        steps[i] = (walk){s, (double)(i % 2), rh_rng_uniform(&rng), next, 0, 0};
        s = next;
    }
    return log_of(steps, n, 2);
}

static const rh_finding *unproven(const rh_model *model)
{
    const rh_fidelity *f = rh_model_fidelity(model);
    for (int i = 0; i < f->findings.n; i++)
        if (strcmp(rh_finding_name(f->findings.item[i].id), "unproven-model") == 0)
            return &f->findings.item[i];
    return NULL;
}

// A model that replays no better than a random stretch of the log is a warning.
static void an_unproven_model(void **unused)
{
    (void)unused;
    rh_model_trial trial[RH_MODEL_NTRIAL];
    int n = quick(trial), nfound = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        rh_error err = {""};
        rh_model *model = NULL;
        rh_model_options opt = rh_model_defaults();
        rh_log *log = seed ? log_of_noise(300, seed) : log_of_plant(SMOOTH, 600, 40);
        if (rh_model__choose(&model, trial, n - 1, log, &opt, NULL, &err))
            fail_msg("%s", err.text);
        const rh_finding *found = unproven(model);
        const rh_model_trial *one = chosen(model);
        assert_true((found != NULL) == (one->score >= 1.0));
        nfound += found != NULL;
        if (found) {
            char score[20];
            snprintf(score, sizeof score, "score %.2f", one->score);
            assert_int_equal(found->severity, RH_WARNING);
            assert_non_null(strstr(found->evidence, score));
            assert_non_null(strstr(found->evidence, one->kind));
            assert_non_null(strstr(found->remedy, "log more"));
            assert_true(seed > 0);
            assert_true(rh_model_fidelity(model)->findings.count[RH_WARNING] > 0);
        }
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
    assert_int_equal(nfound, 3);
}

// A sensor that drifts slowly and never comes back: stitched replays of a held-out part jump to
// its ends, and "nothing changes" is nearer, although random stretches are far off. If it comes
// back soon they are nearer than that.
static void no_better_than_no_change(void **unused)
{
    (void)unused;
    static walk steps[1200];
    for (int period = 1200; period >= 24; period /= 50) {
        rh_model_trial trial[RH_MODEL_NTRIAL];
        quick(trial);
        trial[1] = trial[0];
        trial[1].param[0] = 5.0; // k
        for (int i = 0; i < 1200; i++) {
            double s = i % period, next = (i + 1) % period;
            steps[i] = (walk){s, i % 2, -s, next, 0, 0};
        }
        rh_error err = {""};
        rh_model *model = NULL;
        rh_model_options opt = rh_model_defaults();
        rh_log *log = log_of(steps, 1200, 2);
        if (rh_model__choose(&model, trial, 2, log, &opt, NULL, &err))
            fail_msg("%s", err.text);
        const rh_finding *found = unproven(model);
        assert_true(chosen(model)->score < 1.0);
        assert_true((found != NULL) == (period == 1200));
        if (found)
            assert_non_null(strstr(found->evidence, "persistence forecast"));
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    rh_model_trial trial[RH_MODEL_NTRIAL];
    quick(trial);
    trial[1] = trial[0];
    trial[1].param[0] = 5.0; // k
    rh_log *log = log_by_chance(6, 60, 2, 2);
    int64_t live = rh_base__alloc_live(), nth = 0;
    rh_status rc = RH_ENOMEM;
    while (rc == RH_ENOMEM) {
        rh_error err = {""};
        rh_model *model = NULL;
        rh_model_options opt = plain_options();
        rh_base__alloc_fail_at(nth += nth < 100 ? 1 : 13);
        rc = rh_model__choose(&model, trial, 2, log, &opt, NULL, &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK ? model != NULL : rc == RH_ENOMEM && !model && err.text[0]);
        rh_model_destroy(model);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_int_equal(rc, RH_OK);
    assert_true(nth > 100);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_candidates),
        cmocka_unit_test(the_right_kind),
        cmocka_unit_test(no_worse_than_persistence),
        cmocka_unit_test(carrying_does_not_diverge),
        cmocka_unit_test(without_a_comparison),
        cmocka_unit_test(impossible_candidates),
        cmocka_unit_test(the_same_everywhere),
        cmocka_unit_test(a_long_log),
        cmocka_unit_test(an_unproven_model),
        cmocka_unit_test(no_better_than_no_change),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
