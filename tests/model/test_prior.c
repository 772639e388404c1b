// test_prior.c - the part of a log that agents begin with: nothing is lost, nothing is shared
// with the part that models are fitted to, and a model keeps it in its file.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "model/model.h"
#include "rehearse/rehearse.h"

enum { NOBS = 2, NACT = 1, WIDTH = 2 * NOBS + NACT + 2 };

// A log whose reward of step i is i. The first sensor counts, the second is 1 / (1 + i).
// Episodes of `length` steps, every second one terminal; step `hole` lacks a sensor.
static rh_log *make_log(int n, int length, int hole)
{
    rh_log_builder *builder = NULL;
    rh_log *log = NULL;
    rh_log_shape shape = {.nobs = NOBS, .nact = NACT, .action = RH_ACTION_DISCRETE};
    assert_int_equal(rh_log_builder_create(&builder, &shape, NULL), RH_OK);
    for (int i = 0; i < n; i++) {
        double obs[NOBS] = {i, 1.0 / (1 + i)}, next[NOBS] = {i + 1, 1.0 / (2 + i)};
        double act[NACT] = {i % 2};
        bool last = i % length == length - 1;
        if (i == hole)
            obs[1] = NAN;
        rh_log_row row = {.obs = obs,
                          .act = act,
                          .reward = i,
                          .next = next,
                          .begins = i % length == 0,
                          .terminal = last && i / length % 2,
                          .truncated = last && i / length % 2 == 0};
        assert_int_equal(rh_log_push(builder, &row, NULL), RH_OK);
    }
    assert_int_equal(rh_log_finish(builder, &log, NULL), RH_OK);
    rh_log_builder_destroy(builder);
    return log;
}

static void count_rewards(const rh_log *log, int *seen)
{
    for (int64_t i = 0; i < log->n; i++)
        seen[(int)log->reward[i]]++;
}

static void both_parts_are_the_whole(void **unused)
{
    static const struct {
        int n, length, nepisode; // episodes of the first part
    } by[] = {{200, 20, 5}, {200, 200, 10}, {203, 29, 10}, {9, 1, 5}, {2, 2, 1}};
    for (size_t c = 0; c < sizeof by / sizeof *by; c++) {
        rh_log *log = make_log(by[c].n, by[c].length, -1), *model = NULL, *agent = NULL;
        int seen[256] = {0};
        assert_int_equal(rh_prior__split(&model, &agent, log, NULL), RH_OK);
        count_rewards(model, seen);
        count_rewards(agent, seen);
        for (int i = 0; i < by[c].n; i++)
            assert_int_equal(seen[i], 1);
        assert_true(llabs(model->n - agent->n) <= log->n / 2);
        if (c < 2)
            assert_int_equal(model->nepisode, by[c].nepisode);
        rh_log_destroy(model);
        rh_log_destroy(agent);
        rh_log_destroy(log);
    }
    (void)unused;
}

// An oven that a heater moves, and weather that nothing moves; n steps in episodes of 49.
static rh_log *log_of_oven(int n)
{
    static const char *const name[] = {"oven", "weather"};
    rh_log_builder *builder = NULL;
    rh_log *log = NULL;
    rh_log_shape shape = {.nobs = 2, .nact = 1, .action = RH_ACTION_DISCRETE, .obs_name = name};
    rh_rng rng = rh_rng_stream(5, RH_STREAM_NOISE, 0, 0);
    double obs[2] = {0.0, 0.0}, next[2], z[2];
    assert_int_equal(rh_log_builder_create(&builder, &shape, NULL), RH_OK);
    for (int i = 0; i < n; i++) {
        double act = rh_rng_below(&rng, 2);
        rh_rng_normal(&rng, z);
        next[0] = 0.9 * obs[0] + 0.3 * obs[1] + act - 0.5 + 0.1 * z[0];
        next[1] = 0.8 * obs[1] + z[1];
        rh_log_row row = {.obs = obs,
                          .act = &act,
                          .next = next,
                          .begins = i % 49 == 0,
                          .truncated = i % 49 == 48};
        assert_int_equal(rh_log_push(builder, &row, NULL), RH_OK);
        memcpy(obs, next, sizeof obs);
    }
    assert_int_equal(rh_log_finish(builder, &log, NULL), RH_OK);
    rh_log_builder_destroy(builder);
    return log;
}

// 980 steps are enough for the test, half of them are not.
static void both_parts_know_what_is_exogenous(void **unused)
{
    rh_log *log = log_of_oven(980), *part[2] = {NULL, NULL};
    rh_facts *alone = NULL;
    assert_int_equal(rh_prior__split(&part[0], &part[1], log, NULL), RH_OK);
    for (int i = 0; i < 2; i++) {
        rh_facts *facts = NULL;
        assert_int_equal(rh_model__examine(&facts, part[i], NULL, NULL), RH_OK);
        assert_false(facts->sensor[0].exogenous);
        assert_true(facts->sensor[1].exogenous);
        rh_facts__destroy(facts);
    }
    part[0]->exogenous = NULL; // as if the part had not been told
    assert_int_equal(rh_model__examine(&alone, part[0], NULL, NULL), RH_OK);
    assert_false(alone->sensor[1].exogenous);
    rh_facts__destroy(alone);
    rh_log_destroy(part[0]);
    rh_log_destroy(part[1]);
    rh_log_destroy(log);
    (void)unused;
}

// Agents get the last 100,000 steps of a long part, here from the middle of an episode.
static void agents_get_the_end_of_a_long_log(void **unused)
{
    enum { N = 203000, LENGTH = 1000 };
    rh_log *log = make_log(N, LENGTH, -1), *model = NULL, *agent = NULL, *recent = NULL;
    assert_int_equal(rh_prior__split(&model, &agent, log, NULL), RH_OK);
    assert_int_equal(model->n, 102000);
    assert_int_equal(agent->n, 100000);
    assert_int_equal(agent->nepisode, 100);
    for (int64_t i = 0; i < agent->n; i++)
        assert_true(agent->reward[i] == (double)(3000 + i / LENGTH * 2 * LENGTH + i % LENGTH));
    rh_log_destroy(agent);

    assert_int_equal(rh_prior__recent(&recent, log, NULL), RH_OK);
    assert_int_equal(recent->n, 100000);
    for (int64_t i = 0; i < recent->n; i++)
        assert_true(recent->reward[i] == (double)(103000 + i));
    rh_log_destroy(recent);
    recent = NULL;
    rh_log_destroy(log);

    log = make_log(100500, LENGTH, -1);
    assert_int_equal(rh_prior__recent(&recent, log, NULL), RH_OK);
    assert_int_equal(recent->nepisode, 101);
    assert_false(recent->start[0]); // it begins half-way
    assert_true(recent->start[1]);
    assert_true(recent->reward[0] == 500.0);
    assert_true(recent->obs[0] == 500.0);
    rh_log_destroy(recent);
    recent = NULL;
    assert_int_equal(rh_prior__recent(&recent, model, NULL), RH_OK);
    assert_int_equal(recent->n, 100000);
    rh_log_destroy(recent);
    rh_log_destroy(model);
    rh_log_destroy(log);

    log = make_log(100000, LENGTH, -1);
    recent = NULL;
    assert_int_equal(rh_prior__recent(&recent, log, NULL), RH_OK);
    assert_null(recent); // it is not longer
    rh_log_destroy(log);
    (void)unused;
}

static void a_single_step_cannot_be_divided(void **unused)
{
    rh_log *log = make_log(1, 1, -1), *model = NULL, *agent = NULL;
    rh_error err;
    assert_int_equal(rh_prior__split(&model, &agent, log, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "1 steps, expected more"));
    assert_null(model);
    assert_null(agent);
    rh_log_destroy(log);
    (void)unused;
}

static void rows_are_the_steps(void **unused)
{
    rh_log *log = make_log(60, 20, 30);
    rh_prior prior;
    rh_task task = {.nobs = NOBS, .naction = 2, .nact = NACT};
    assert_int_equal(rh_prior__rows(&prior, log, NULL), RH_OK);
    assert_int_equal(prior.n, 59); // step 30 has no state; step 29 has its own s'
    for (int64_t k = 0; k < prior.n; k++) {
        const double *row = prior.row + k * WIDTH;
        int i = (int)row[0];
        int end = i == 29 ? 2 : i % 20 != 19 ? 0 : i / 20 % 2 ? 1 : 2;
        assert_true(row[1] == 1.0 / (1 + i));
        assert_true(row[2] == i % 2);
        assert_true(row[3] == i);
        assert_true(row[4] == i + 1);
        assert_true(row[6] == end);
    }
    assert_true(rh_prior__fits(&task, prior));
    double *row = (double *)(uintptr_t)prior.row;
    row[2] = 2.0; // no action
    assert_false(rh_prior__fits(&task, prior));
    row[2] = 0.0;
    row[5] = NAN;
    assert_false(rh_prior__fits(&task, prior));
    row[5] = 0.0;
    row[prior.n * WIDTH - 1] = 0.0; // goes on behind the last row
    assert_false(rh_prior__fits(&task, prior));
    rh_free(row);
    rh_log_destroy(log);
    (void)unused;
}

static rh_model *fit(const rh_log *log, rh_prior prior)
{
    rh_repr *repr = NULL;
    rh_model *model = NULL;
    rh_model_options opt = rh_model_defaults();
    opt.prior = prior;
    opt.fidelity = false;
    assert_int_equal(rh_repr_fit(&repr, rh_repr_find("raw", NULL), log, NULL, NULL), RH_OK);
    assert_int_equal(rh_model_fit(&model, rh_model_find("knn", NULL), log, repr, &opt, NULL),
                     RH_OK);
    rh_repr_destroy(repr);
    return model;
}

static void same_prior(const rh_model *model, rh_prior prior)
{
    rh_prior own = rh_model_task(model)->prior;
    assert_int_equal(own.n, prior.n);
    assert_memory_equal(own.row, prior.row, (size_t)prior.n * WIDTH * sizeof *prior.row);
}

static void a_model_keeps_it(void **unused)
{
    char path[] = "/tmp/rehearse-prior-XXXXXX";
    rh_log *log = make_log(100, 10, -1), *part = NULL, *rest = NULL;
    rh_prior prior;
    rh_model *read = NULL, *again = NULL;
    rh_env *env = NULL;
    rh_model_options opt = rh_model_defaults();
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    opt.fidelity = false;
    assert_int_equal(rh_prior__split(&part, &rest, log, NULL), RH_OK);
    assert_int_equal(rh_prior__rows(&prior, rest, NULL), RH_OK);
    rh_model *model = fit(part, prior);
    same_prior(model, prior);
    // all ends of this log are in the part for agents; they are ends all the same
    assert_false(rh_model_task(model)->continuing);
    assert_true(rh_model__failure(model)->known);
    assert_int_equal(rh_model_write(model, path, NULL), RH_OK);
    assert_int_equal(rh_model_read(&read, path, NULL), RH_OK);
    same_prior(read, prior);
    assert_true(rh_model__failure(read)->known);
    assert_int_equal(rh_model__refit(&again, read, &opt, NULL), RH_OK);
    same_prior(again, prior);
    assert_int_equal(rh_model_env(&env, again, 0, NULL, NULL), RH_OK);
    assert_true(rh_env_task(env)->prior.row == rh_model_task(again)->prior.row);
    assert_int_equal(rh_model_task(model)->nstep, 1000); // of a short log

    // rows that end in the middle of an episode are refused
    rh_error err;
    rh_model *bad = NULL;
    rh_prior wrong = prior;
    wrong.n--;
    opt = rh_model_defaults();
    opt.prior = wrong;
    rh_repr *repr = NULL;
    assert_int_equal(rh_repr_fit(&repr, rh_repr_find("raw", NULL), part, NULL, NULL), RH_OK);
    assert_int_equal(rh_model_fit(&bad, rh_model_find("knn", NULL), part, repr, &opt, &err),
                     RH_EINVAL);
    assert_non_null(strstr(err.text, "prior"));
    rh_repr_destroy(repr);

    unlink(path);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_model_destroy(read);
    rh_model_destroy(again);
    rh_free((void *)(uintptr_t)prior.row);
    rh_log_destroy(part);
    rh_log_destroy(rest);
    rh_log_destroy(log);
    (void)unused;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_parts_are_the_whole),
        cmocka_unit_test(both_parts_know_what_is_exogenous),
        cmocka_unit_test(agents_get_the_end_of_a_long_log),
        cmocka_unit_test(a_single_step_cannot_be_divided),
        cmocka_unit_test(rows_are_the_steps),
        cmocka_unit_test(a_model_keeps_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
