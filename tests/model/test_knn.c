// test_knn.c - neighbours and their probabilities against numpy, on every instruction set and
// number of threads, and what a member expects.

#include "base/base_internal.h"
#include "model_sample.h"
#include "numeric/kernels.h"

#include "model/knn_internal.h"

#include <stdio.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------- the reference

enum { MOST_LINES = 4000, MOST_WORDS = 16 };

typedef struct line {
    char kind[8], weights[8], distance[8];
    double x[MOST_WORDS]; // the numbers
    int n;
} line;

static line lines[MOST_LINES];
static int nline;

static int read_reference(void **unused)
{
    (void)unused;
    char path[300], text[600];
    snprintf(path, sizeof path, "%s/model_knn.csv", RH_TEST_DATA);
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    while (nline < MOST_LINES && fgets(text, sizeof text, file)) {
        line *l = &lines[nline++];
        char *word = strtok(text, ",\n");
        snprintf(l->kind, sizeof l->kind, "%s", word);
        if (strcmp(l->kind, "p") == 0) {
            snprintf(l->weights, sizeof l->weights, "%s", strtok(NULL, ",\n"));
            snprintf(l->distance, sizeof l->distance, "%s", strtok(NULL, ",\n"));
        }
        while ((word = strtok(NULL, ",\n")))
            l->x[l->n++] = strtod(word, NULL);
    }
    return fclose(file);
}

static rh_log *reference_log(void)
{
    static const char *const label[] = {"a", "b", "c"};
    rh_log_shape shape = {.nobs = 3,
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .label = label,
                          .nlabel = 3,
                          .declared = true};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < nline; i++) {
        const double *x = lines[i].x;
        if (strcmp(lines[i].kind, "step") != 0)
            continue;
        rh_log_row row = {.obs = x,
                          .act = x + 3,
                          .reward = x[4],
                          .next = x + 5,
                          .terminal = x[8] > 0,
                          .begins = x[9] > 0};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    assert_int_equal(log->n, 90);
    rh_log_builder_destroy(b);
    return log;
}

static double choice(int param, const char *word)
{
    double value;
    rh_error err = {""};
    assert_int_equal(rh_param_parse(&rh_knn__param[param], "knn", word, &value, &err), RH_OK);
    return value;
}

static rh_model *fit_reference(const rh_log *log, int k, int nthread)
{
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_K] = k;
    rh_model_options opt = plain_options();
    opt.param = param;
    opt.nthread = nthread;
    return fit_plain(&rh_model_knn, log, false, &opt);
}

static void as_numpy(void **unused)
{
    (void)unused;
    rh_log *log = reference_log();
    rh_model *model = fit_reference(log, 5, 1), *three = fit_reference(log, 3, 1);
    const rh_knn *knn = model->member[0];
    int nnear = 0, np = 0, nexpect = 0, nreach = 0;
    for (int i = 0; i < nline; i++) {
        const line *l = &lines[i];
        const double *x = l->x;
        double param[RH_KNN_NPARAM];
        rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
        if (strcmp(l->kind, "near") == 0) {
            int64_t at = ((int64_t)x[1] * log->nstate + log->from[(int)x[0]]) * 5;
            for (int j = 0; j < 5; j++) {
                assert_int_equal(knn->index[at + j], (int)x[2 + j]);
                assert_true(knn->distance[at + j] == (float)x[7 + j]);
            }
            nnear++;
        } else if (strcmp(l->kind, "p") == 0) {
            int64_t at = ((int64_t)x[2] * log->nstate + log->from[(int)x[1]]) * 5;
            double p[5];
            param[RH_KNN_WEIGHTS] = choice(RH_KNN_WEIGHTS, l->weights);
            param[RH_KNN_DISTANCE] = choice(RH_KNN_DISTANCE, l->distance);
            rh_knn__weigh(param, knn->distance + at, (int)x[0], p);
            for (int j = 0; j < (int)x[0]; j++)
                if (!(fabs(p[j] - x[3 + j]) < 1e-14))
                    fail_msg("%s %s: %.17g, numpy %.17g", l->weights, l->distance, p[j],
                             x[3 + j]);
            np++;
        } else if (strcmp(l->kind, "expect") == 0) {
            double next[3], copy[3];
            const double *obs = log->obs + log->from[(int)x[0]] * 3;
            memcpy(copy, obs, sizeof copy);
            // by row, from the table; and as any observation, compared with all
            for (int by_row = 0; by_row < 2; by_row++) {
                rh_model__expected e = {.next = next};
                rh_error err = {""};
                const double *from = three->log->obs + three->log->from[(int)x[0]] * 3;
                assert_int_equal(rh_model_knn.calls->expect(&e, three, three->member[0],
                                                            by_row ? from : copy, &x[1], &err),
                                 RH_OK);
                assert_true(fabs(e.reward - x[2]) < 1e-14);
                assert_true(fabs(e.terminal - x[3]) < 1e-14);
                for (int j = 0; j < 3; j++)
                    assert_true(fabs(next[j] - x[4 + j]) < 1e-14);
            }
            nexpect++;
        } else if (strcmp(l->kind, "reach") == 0) {
            param[RH_KNN_REACH] = RH_KNN_QUANTILE;
            param[RH_KNN_REACH_QUANTILE] = x[0];
            assert_true(fabs(rh_knn__reach(knn, param) - x[1]) < 1e-12);
            nreach++;
        } else if (strcmp(l->kind, "length") == 0) {
            assert_true(knn->step == x[0]);
        }
    }
    assert_int_equal(nnear, 270);
    assert_int_equal(np, 45 * 32);
    assert_int_equal(nexpect, 45);
    assert_int_equal(nreach, 6);
    rh_model_destroy(model);
    rh_model_destroy(three);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- the same bits

static void same_bits(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(11, 4000, 4, 3);
    rh_model *first = NULL;
    for (int isa = 0; isa < rh_isa__count(); isa++)
        for (int nthread = 1; nthread <= 3; nthread++) {
            rh_isa__limit(isa + 1);
            rh_model *model = fit_reference(log, 4, nthread);
            rh_isa__limit(0);
            if (!first) {
                first = model;
                continue;
            }
            const rh_knn *a = first->member[0], *b = model->member[0];
            size_t n = (size_t)(first->log->nstate * 3 * 4);
            assert_memory_equal(a->index, b->index, n * sizeof *a->index);
            assert_memory_equal(a->distance, b->distance, n * sizeof *a->distance);
            assert_int_equal(a->nnear, b->nnear);
            assert_memory_equal(a->near, b->near, (size_t)a->nnear * sizeof *a->near);
            assert_true(a->reach == b->reach);
            assert_true(a->step == b->step);
            rh_model_destroy(model);
        }
    rh_model_destroy(first);
    rh_log_destroy(log);
}

// Subsets and bootstraps: the neighbours are those among what the member knows.
static void of_a_part(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(12, 300, 2, 3);
    for (int resample = RH_RESAMPLE_SUBSET; resample <= RH_RESAMPLE_BOOTSTRAP; resample++) {
        rh_model_options opt = plain_options();
        opt.resample = (rh_resample)resample;
        opt.share = 0.3;
        rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
        const rh_knn *knn = model->member[0];
        for (int64_t s = 0; s < log->nstate; s++)
            for (int a = 0; a < 3; a++) {
                // as any observation, all transitions of the part are compared one by one
                double obs[2] = {log->obs[2 * s], log->obs[2 * s + 1]}, act = a;
                double next[2], other[2];
                rh_model__expected e = {.next = next}, f = {.next = other};
                rh_error err = {""};
                const double *row = model->log->obs + 2 * s;
                assert_int_equal(rh_model_knn.calls->expect(&e, model, knn, obs, &act, &err),
                                 RH_OK);
                assert_int_equal(rh_model_knn.calls->expect(&f, model, knn, row, &act, &err),
                                 RH_OK);
                assert_true(e.reward == f.reward);
                assert_true(e.terminal == f.terminal);
                assert_true(e.distance == f.distance);
                assert_int_equal(e.out_of_coverage, f.out_of_coverage);
                assert_true(next[0] == other[0] || (isnan(next[0]) && isnan(other[0])));
                for (int i = 0; i < knn->k; i++) {
                    int32_t t = knn->index[(a * log->nstate + s) * knn->k + i];
                    bool known = false;
                    for (int64_t u = 0; u < knn->nuse; u++)
                        known = known || knn->use[u] == t;
                    assert_true(known);
                    assert_true(log->act[t] == a);
                }
            }
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- odd cases

// An action never taken, and fewer neighbours than asked for.
static void unknown_action(void **unused)
{
    (void)unused;
    static const walk w[] = {{0, 0, -1, 1, 0, 1}, {1, 0, -2, 2, 0, 0}, {2, 2, -3, 3, ENDS, 0}};
    rh_log *log = log_of(w, 3, 3);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    const rh_knn *knn = model->member[0];
    rh_model__expected e = {.next = (double[2]){0}};
    rh_error err = {""};
    double act = 1, obs[2] = {0.5, 0.0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            rh_model_knn.calls->expect(&e, model, knn, i ? model->log->obs : obs, &act, &err),
            RH_OK);
        assert_true(e.out_of_coverage);
        assert_true(isnan(e.distance));
        assert_true(isnan(e.next[0]));
        assert_true(e.reward == -6.0);
        assert_true(e.terminal == 1.0);
    }
    // as an environment would give it
    model->param[RH_KNN_OUT_OF_COVERAGE] = RH_KNN_OPTIMISTIC;
    model->highest = 7.0;
    assert_int_equal(rh_model_knn.calls->expect(&e, model, knn, obs, &act, &err), RH_OK);
    assert_true(e.out_of_coverage);
    assert_true(e.reward == 7.0);

    // 0 and 1 took action 0: from 2 they are at 1 and 2, weighted 2 : 1
    act = 0;
    obs[0] = 2.0;
    assert_int_equal(rh_model_knn.calls->expect(&e, model, knn, obs, &act, &err), RH_OK);
    assert_true(fabs(e.reward - (-2.0 * 2 / 3 - 1.0 / 3)) < 1e-6);
    assert_true(e.distance == 1.0);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Codes so far apart that a float cannot hold the square: no neighbours.
static void too_far(void **unused)
{
    (void)unused;
    static const walk w[] = {
        {0, 0, -1, 1, 0, 1}, {1e30, 1, -2, 2, 0, 0}, {2, 0, -3, 3, ENDS, 0}};
    rh_log *log = log_of(w, 3, 2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_model__expected e = {.next = (double[2]){0}};
    rh_error err = {""};
    double act = 1, obs[2] = {0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rh_model_knn.calls->expect(&e, model, model->member[0],
                                                    i ? model->log->obs : obs, &act, &err),
                         RH_OK);
        assert_true(e.out_of_coverage);
        assert_true(isnan(e.distance));
    }
    rh_model_destroy(model);
    rh_log_destroy(log);

    // agents are told of what is given there, even when it is not in the first state
    static const walk later[] = {
        {0, 0, -1, 1, 0, 1}, {1, 1, -2, 1e30, 0, 0}, {1e30, 0, -3, 3, ENDS, 0}};
    rh_env *env = NULL;
    double param[RH_KNN_NPARAM];
    log = log_of(later, 3, 2);
    model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_REACH] = RH_KNN_NONE;
    assert_int_equal(rh_model_env(&env, model, 0, param, &err), RH_OK);
    assert_true(rh_env_task(env)->reward_lo == -6.0);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_numpy),  cmocka_unit_test(same_bits),
        cmocka_unit_test(of_a_part), cmocka_unit_test(unknown_action),
        cmocka_unit_test(too_far),
    };
    return cmocka_run_group_tests(tests, read_reference, NULL);
}
