// test_replay.c - replays of held-out stretches: the scores against numpy and scipy, that the
// truth scores best, plants in which one kind of model must win, the same bits for any number
// of threads, and logs that are too short.

#include "model/model.h"
#include "model/replay.h"
#include "plant_sample.h"

#include <stdio.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------- scores

// The next number of a row.
static double number(char **at)
{
    char *end;
    double x = strtod(*at, &end);
    assert_true(end != *at);
    *at = end + (*end == ',');
    return x;
}

static void check_crps(char *at)
{
    double x[64];
    int n = (int)number(&at);
    double y = number(&at), right = number(&at);
    for (int i = 0; i < n; i++)
        x[i] = number(&at);
    assert_true(fabs(rh_stretches__crps(x, n, NAN, y) - right) < 1e-12);
    assert_true(fabs(rh_stretches__crps(x, n, rh_stretches__apart(x, n), y) - right) < 1e-12);
}

static void check_energy(char *at)
{
    float x[64 * 8], y[8];
    rh_stretches__point point[64];
    int n = (int)number(&at), d = (int)number(&at);
    bool ended = number(&at) > 0.0;
    double right = number(&at);
    for (int k = 0; k < d; k++)
        y[k] = (float)number(&at);
    for (int i = 0; i < n; i++) {
        point[i] = (rh_stretches__point){x + (ptrdiff_t)i * d, number(&at) > 0.0};
        for (int k = 0; k < d; k++)
            x[i * d + k] = (float)number(&at);
    }
    rh_stretches__point real = {y, ended};
    assert_true(fabs(rh_stretches__energy(point, n, NAN, real, d) - right) < 1e-12);
}

static void as_numpy_has_it(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/model_replay.csv", "r");
    static char line[1 << 15];
    int nrow = 0;
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); nrow++) {
        if (strncmp(line, "crps,", 5) == 0)
            check_crps(line + 5);
        else
            check_energy(line + strlen("energy,"));
    }
    fclose(file);
    assert_int_equal(nrow, 50);
}

// The mean score of ensembles of 8 normals, for a standard normal.
static double mean_score(double mean, double sd)
{
    rh_rng rng = rh_rng_stream(5, RH_STREAM_NOISE, 0, 0);
    double sum = 0.0;
    for (int i = 0; i < 20000; i++) {
        double x[8], y[2];
        for (int k = 0; k < 8; k += 2)
            rh_rng_normal(&rng, x + k);
        for (int k = 0; k < 8; k++)
            x[k] = mean + sd * x[k];
        rh_rng_normal(&rng, y);
        sum += rh_stretches__crps(x, 8, NAN, y[0]);
    }
    return sum / 20000.0;
}

static void the_truth_is_best(void **unused)
{
    (void)unused;
    double truth = mean_score(0.0, 1.0);
    assert_true(fabs(truth - 1.0 / sqrt(acos(-1.0))) < 0.01); // of a normal: 1 / sqrt(pi)
    assert_true(truth < mean_score(0.5, 1.0) - 0.01);
    assert_true(truth < mean_score(0.0, 0.5) - 0.01);
    assert_true(truth < mean_score(0.0, 0.0) - 0.01); // without noise
    assert_true(truth < mean_score(0.0, 2.0) - 0.01);
}

// A model that ends when the log does not, or the other way round, pays one unit and more.
static void ends_count(void **unused)
{
    (void)unused;
    float here[2] = {3.0f, 4.0f}, end[2] = {0};
    rh_stretches__point alive = {here, false}, ended = {end, true};
    assert_true(rh_stretches__distance(alive, alive, 2) == 0.0);
    assert_true(rh_stretches__distance(ended, ended, 2) == 0.0);
    assert_true(fabs(rh_stretches__distance(alive, ended, 2) - (sqrt(12.5) + 1.0)) < 1e-12);
    assert_true(rh_stretches__distance(alive, ended, 2) ==
                rh_stretches__distance(ended, alive, 2));
}

// ---------------------------------------------------------------------------- plants

static rh_model *prepare_as(rh_episodes episodes, const char *name, const rh_log *log)
{
    rh_error err = {""};
    rh_model *model = NULL;
    rh_repr *repr = plain_repr(log, false);
    rh_model_options opt = plain_options();
    opt.episodes = episodes;
    if (rh_model__prepare(&model, rh_model_find(name, &err), log, repr, &opt, NULL, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
    return model;
}

static rh_model *prepare(const char *name, const rh_log *log)
{
    return prepare_as(RH_EPISODES_AUTO, name, log);
}

static rh_stretches *stretches(const rh_model *model)
{
    rh_error err = {""};
    char why[200] = "";
    rh_stretches *replay = NULL;
    rh_status rc = rh_stretches__create(&replay, model->log, model->facts,
                                        model->task.continuing, 1, why, sizeof why, &err);
    if (rc || !replay)
        fail_msg("%s%s", err.text, why);
    return replay;
}

// Which of the two scores better, beyond chance.
static void compare(plant which, int n, int length, const char *better, const char *worse)
{
    rh_log *log = log_of_plant(which, n, length);
    rh_model *a = prepare_as(RH_EPISODES_CONTINUE, better, log);
    rh_model *b = prepare_as(RH_EPISODES_CONTINUE, worse, log);
    rh_stretches *replay = stretches(a);
    rh_stretches__scores x = {0}, y = {0};
    rh_error err = {""};
    double mean, error;
    assert_int_equal(rh_stretches__run(&x, replay, a, 1, 1, NULL, NULL, &err), RH_OK);
    assert_int_equal(rh_stretches__run(&y, replay, b, 1, 1, NULL, NULL, &err), RH_OK);
    rh_stretches__compare(replay, &y, &x, false, &mean, &error);
    assert_true(fabs(mean - (y.score - x.score)) < 1e-9);
    assert_true(error > 0.0);
    assert_true(mean > 2.5 * error);
    assert_true(x.score < 1.0);               // better than random stretches
    assert_true(isnan(x.part[RH_MODEL_END])); // nothing ends
    rh_stretches__clear(&x);
    rh_stretches__clear(&y);
    rh_stretches__destroy(replay);
    rh_model_destroy(a);
    rh_model_destroy(b);
    rh_log_destroy(log);
}

static void plants(void **unused)
{
    (void)unused;
    compare(SMOOTH, 600, 40, "nn", "knn");
    compare(WALLS, 600, 40, "knn", "nn");
    compare(WALLS, 600, 600, "knn", "nn"); // blocks of one long episode
}

// ---------------------------------------------------------------------------- the rest

static void same_bits(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_model_ntype(); i++) {
        rh_log *log = log_by_chance(2, 400, 2, 2);
        rh_model *model = prepare(rh_model_type_at(i)->name, log);
        rh_stretches *replay = stretches(model);
        rh_stretches__scores x = {0}, y = {0};
        rh_error err = {""};
        assert_int_equal(rh_stretches__run(&x, replay, model, 1, 1, NULL, NULL, &err), RH_OK);
        assert_int_equal(rh_stretches__run(&y, replay, model, 1, 3, NULL, NULL, &err), RH_OK);
        assert_true(x.score == y.score);
        assert_memory_equal(x.share, y.share,
                            (size_t)rh_stretches__nstretch(replay) * sizeof *x.share);
        assert_false(isnan(x.part[RH_MODEL_END])); // these episodes end
        rh_stretches__clear(&x);
        rh_stretches__clear(&y);
        rh_stretches__destroy(replay);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

static void too_short(void **unused)
{
    (void)unused;
    rh_error err = {""};
    const int n[] = {20, 60};
    for (int i = 0; i < 2; i++) {
        rh_log *log = log_by_chance(2, n[i], 2, 2);
        char why[200] = "";
        rh_stretches *replay = NULL;
        assert_int_equal(
            rh_stretches__create(&replay, log, NULL, false, 1, why, sizeof why, &err), RH_OK);
        assert_true(i == 0 ? !replay && strstr(why, "20 steps") : replay || why[0]);
        rh_stretches__destroy(replay);
        rh_log_destroy(log);
    }
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(6, 120, 2, 2);
    rh_model *model = prepare("knn", log);
    int64_t live = rh_base__alloc_live(), nth = 0;
    rh_status rc = RH_ENOMEM;
    while (rc == RH_ENOMEM) {
        rh_error err = {""};
        rh_stretches *replay = NULL;
        rh_stretches__scores x = {0};
        char why[200];
        rh_base__alloc_fail_at(++nth);
        rc = rh_stretches__create(&replay, model->log, NULL, false, 1, why, sizeof why, &err);
        if (!rc)
            rc = rh_stretches__run(&x, replay, model, 1, 1, NULL, NULL, &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || (rc == RH_ENOMEM && err.text[0]));
        rh_stretches__clear(&x);
        rh_stretches__destroy(replay);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_int_equal(rc, RH_OK);
    assert_true(nth > 20);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_numpy_has_it), cmocka_unit_test(the_truth_is_best),
        cmocka_unit_test(ends_count),      cmocka_unit_test(plants),
        cmocka_unit_test(same_bits),       cmocka_unit_test(too_short),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
