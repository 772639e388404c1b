// test_awareness.c - dynamics awareness against values by hand, and blur.

#include "base/base_internal.h"
#include "repr/repr.h"
#include "repr_test.h"

static rh_repr__aware aware(const rh_repr *repr, const rh_log *log, const uint8_t *use)
{
    rh_repr__aware out = {0};
    assert_int_equal(rh_repr__awareness(&out, repr, log, use, 7, NULL), RH_OK);
    return out;
}

// One walk 0, 1, ..., 100: steps of 1 among 100 states, unscaled and scaled alike.
static void straight_line(void **unused)
{
    (void)unused;
    double obs[101], param[16];
    for (int i = 0; i < 101; i++)
        obs[i] = i;
    rh_log *log = log_of(obs, 1, (int[]){101, 0}, NULL);
    rh_repr_options opt = rh_repr_defaults();
    opt.param = param_of(&rh_repr_raw, param, "scale", (double)RH_SCALE_NONE, NULL);
    rh_repr *repr = fitted(&rh_repr_raw, log, &opt);
    rh_repr__aware a = aware(repr, log, NULL);

    // two of n states in a row are (n^2 - 1) / 3n apart; 10,000 pairs tell that to 1.5 %
    double far = (100.0 * 100.0 - 1.0) / 300.0;
    assert_int_equal(a.npair, 100);
    assert_true(a.near == 1.0);
    assert_true(fabs(a.far - far) < 0.03 * far);
    assert_true(a.value == 1.0 - a.near / a.far);
    assert_true(fabs(rh_repr__trained(repr).awareness - 0.97) < 0.002);
    assert_true(isnan(rh_repr__trained(repr).held_out));
    assert_true(isnan(rh_repr__trained(repr).loss));
    assert_int_equal(rh_repr__trained(repr).nstep, 0);

    // the scale is in both distances
    rh_repr *scaled = fitted(&rh_repr_raw, log, NULL);
    rh_repr__aware b = aware(scaled, log, NULL);
    assert_true(fabs(b.near - 0.02) < 1e-7);
    assert_true(fabs(a.value - b.value) < 1e-5);
    rh_repr_destroy(scaled);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// Steps that are longer than random pairs: the value is below 0, and stays so.
static void restless(void **unused)
{
    (void)unused;
    double obs[202];
    for (int i = 0; i < 202; i++)
        obs[i] = i % 2;
    rh_log *log = log_of(obs, 1, (int[]){101, 101, 0}, NULL);
    rh_repr *repr = fitted(&rh_repr_raw, log, NULL);
    rh_repr__aware a = aware(repr, log, (uint8_t[]){0, 1});
    assert_int_equal(a.npair, 100);
    assert_true(a.near == 2.0);
    assert_true(fabs(a.far - 1.0) < 0.03);
    assert_true(fabs(a.value + 1.0) < 0.06);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// The next state of a state and action is another state and action.
static void states_and_actions(void **unused)
{
    (void)unused;
    static const double obs[] = {0, 0, 0, 0, 0, 0}, act[] = {1, 4, 8, 0, 0, 9};
    double param[16];
    rh_log *log = log_of(obs, 1, (int[]){4, 2, 0}, act);
    rh_repr_options opt = rh_repr_defaults();
    opt.actions = true;
    opt.param = param_of(&rh_repr_raw, param, "scale", (double)RH_SCALE_NONE, NULL);
    rh_repr *repr = fitted(&rh_repr_raw, log, &opt);
    rh_repr__aware a = aware(repr, log, NULL);
    assert_int_equal(a.npair, 2);
    assert_true(a.near == 3.5);           // from 1 to 4 and from 4 to 8
    assert_true(fabs(a.far - 1.5) < 0.1); // half of the pairs of 1 and 4 are 3 apart
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

static void nothing_to_compare(void **unused)
{
    (void)unused;
    static const double same[] = {2, 2, 2, 2};
    rh_log *log = log_of(same, 1, (int[]){4, 0}, NULL);
    rh_repr *repr = fitted(&rh_repr_raw, log, NULL);
    rh_repr__aware a = aware(repr, log, NULL);
    assert_true(a.value == 0.0);
    assert_true(a.near == 0.0);
    assert_true(a.far == 0.0);
    assert_int_equal(a.npair, 3);
    a = aware(repr, log, (uint8_t[]){0});
    assert_true(isnan(a.value));
    assert_true(isnan(a.near));
    assert_true(isnan(a.far));
    assert_int_equal(a.npair, 0);
    rh_log_destroy(log);

    static const double wide[] = {1, 2, 3, 4};
    rh_error err = {""};
    log = log_of(wide, 2, (int[]){2, 0}, NULL);
    assert_int_equal(rh_repr__awareness(&a, repr, log, NULL, 1, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "awareness: 2 sensors and actions of 1 numbers, expected 1 and 0 "
                        "as in the log of the representation");
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- blur

static double blur(const rh_repr *repr, const rh_log *known, const rh_log *held)
{
    rh_points a = {0}, b = {0};
    double out = NAN;
    assert_int_equal(rh_points__gather(&a, repr, known, NULL, NULL), RH_OK);
    assert_int_equal(rh_points__gather(&b, repr, held, NULL, NULL), RH_OK);
    assert_int_equal(rh_points__blur(&out, repr, &a, &b, NULL), RH_OK);
    rh_points__clear(&a);
    rh_points__clear(&b);
    return out;
}

// A representation of two sensors that looks at the first alone.
static rh_repr *half_blind(const rh_log *log)
{
    rh_repr *repr = fitted(&rh_repr_raw, log, NULL);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_FIT, 0, 0);
    assert_int_equal(rh_mlp__create(&repr->mlp, (int[]){2, 1}, 2, 0, &rng, NULL), RH_OK);
    rh_mlp__set(repr->mlp, RH_MLP_WEIGHTS, (double[]){1.0, 0.0, 0.0});
    repr->ncode = 1;
    return repr;
}

static void blurred(void **unused)
{
    (void)unused;
    rh_log *known = corridor_log(20, 50, 0.05, 1), *held = corridor_log(5, 50, 0.05, 2);
    rh_repr *raw = fitted(&rh_repr_raw, known, NULL), *half = half_blind(known);
    assert_true(blur(raw, known, held) == 1.0);
    assert_true(blur(half, known, held) > 10.0); // the other branch is as near
    assert_true(aware(half, held, NULL).value > 0.8);
    rh_repr_destroy(raw);
    rh_repr_destroy(half);
    rh_log_destroy(known);
    rh_log_destroy(held);
}

// States that recur exactly: no distance at all to the nearest, a tenth of a step counts.
static void recurring(void **unused)
{
    (void)unused;
    double obs[2 * 40];
    for (int i = 0; i < 40; i++) {
        obs[2 * i] = i % 4;
        obs[2 * i + 1] = i % 8 / 4;
    }
    rh_log *log = log_of(obs, 2, (int[]){40, 0}, NULL);
    rh_repr *raw = fitted(&rh_repr_raw, log, NULL), *half = half_blind(log);
    assert_true(blur(raw, log, log) == 1.0);
    double far = blur(half, log, log); // half of the states are taken for one 2 apart
    assert_true(isfinite(far));
    assert_true(far > 8.0);
    assert_true(far < 16.0);
    rh_repr_destroy(raw);
    rh_repr_destroy(half);
    rh_log_destroy(log);
}

static void every_failed_allocation(void **unused)
{
    (void)unused;
    rh_log *log = corridor_log(6, 10, 0.05, 1);
    rh_repr *repr = half_blind(log);
    int64_t live = rh_base__alloc_live();
    bool done = false;
    for (int nth = 1; !done; nth++) {
        rh_repr__aware a;
        rh_points points = {0};
        double out;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_repr__awareness(&a, repr, log, NULL, 1, NULL);
        if (!rc)
            rc = rh_points__gather(&points, repr, log, NULL, NULL);
        if (!rc)
            rc = rh_points__blur(&out, repr, &points, &points, NULL);
        rh_base__alloc_fail_at(0);
        done = rc == RH_OK;
        assert_true(done || rc == RH_ENOMEM);
        rh_points__clear(&points);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_line),
        cmocka_unit_test(restless),
        cmocka_unit_test(states_and_actions),
        cmocka_unit_test(nothing_to_compare),
        cmocka_unit_test(blurred),
        cmocka_unit_test(recurring),
        cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
