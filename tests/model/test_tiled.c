// test_tiled.c - which sensors tile coders use: what matters of many, never constant or
// repeated ones; kept in the model's file.

#include "facts_sample.h"
#include "model/model.h"

#include <math.h>

static void begin(double *s, rh_rng *rng)
{
    for (int k = 0; k < 8; k++)
        s[k] = even(rng);
}

// s0 is controlled, s1 is a price that nobody controls; the others are noise.
static int mostly_noise(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] = 0.9 * s[0] + 0.3 * (act - 1.0) + 0.05 * bell(rng);
    s[1] = 0.97 * s[1] + 0.1 * bell(rng);
    for (int k = 2; k < 8; k++)
        s[k] = bell(rng);
    return 0;
}

// s0 in another unit, turned, and a constant.
static int repeated(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] = 0.9 * s[0] + 0.3 * (act - 1.0) + 0.05 * bell(rng);
    s[1] = 32.0 - 1.8 * s[0];
    s[2] = 7.0;
    s[3] = 0.97 * s[3] + 0.1 * bell(rng);
    return 0;
}

static double holds(const double *s, rh_rng *rng)
{
    return rh_rng_below(rng, 10) == 0 ? (double)rh_rng_below(rng, 3)
           : s[0] > 0.2               ? 0.0
           : s[0] < -0.2              ? 2.0
                                      : 1.0;
}

static double cost(const double *next)
{
    return -fabs(next[0] - 0.5 * next[1]);
}

static rh_model *model_of(const plant *p, int n, uint64_t seed)
{
    rh_log *log = log_of_plant(p, n, seed, NULL);
    rh_model_options opt = rh_model_defaults();
    rh_model *model = fit_plain(rh_model_find("knn", NULL), log, false, &opt);
    rh_log_destroy(log);
    return model;
}

static void what_matters(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        rh_model *model =
            model_of(&(plant){8, 3, begin, mostly_noise, holds, cost}, 2000, seed);
        const rh_tiled *t = &rh_model_task(model)->tiled;
        assert_int_equal(t->nsensor, 2);
        assert_int_equal(t->sensor[0], 0);
        assert_int_equal(t->sensor[1], 1);
        assert_int_equal(t->npair, 1);
        assert_int_equal(t->pair[0][0], 0);
        assert_int_equal(t->pair[0][1], 1);

        const rh_findings *list = &rh_model_fidelity(model)->findings;
        bool said = false;
        for (int i = 0; i < list->n; i++)
            said = said || (list->item[i].id == RH_FINDING_SENSORS_LEFT_OUT &&
                            list->item[i].count == 6);
        assert_true(said);
        rh_model_destroy(model);
    }
}

static void begin_repeated(double *s, rh_rng *rng)
{
    s[0] = even(rng);
    s[1] = 32.0 - 1.8 * s[0];
    s[2] = 7.0;
    s[3] = even(rng);
}

// Constant and repeated sensors never count, of however few; the model file says so, too.
static void never_constant_or_repeated(void **unused)
{
    (void)unused;
    char path[] = "/tmp/rehearse-tiled-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    rh_model *again = NULL,
             *model = model_of(&(plant){4, 3, begin_repeated, repeated, holds, cost}, 500, 1);
    const rh_tiled *t = &rh_model_task(model)->tiled;
    assert_int_equal(t->nsensor, 2);
    assert_int_equal(t->sensor[0], 0);
    assert_int_equal(t->sensor[1], 3);
    assert_int_equal(rh_model_write(model, path, NULL), RH_OK);
    assert_int_equal(rh_model_read(&again, path, NULL), RH_OK);
    assert_memory_equal(&rh_model_task(again)->tiled, t, sizeof *t);
    rh_model_destroy(again);
    rh_model_destroy(model);
    unlink(path);
}

// Without anything to leave out, nothing is chosen.
static void all_of_few(void **unused)
{
    (void)unused;
    rh_model *model = model_of(&(plant){3, 3, begin, mostly_noise, holds, cost}, 500, 1);
    assert_int_equal(rh_model_task(model)->tiled.nsensor, 0);
    rh_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_matters),
        cmocka_unit_test(never_constant_or_repeated),
        cmocka_unit_test(all_of_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
