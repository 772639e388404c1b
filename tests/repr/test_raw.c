// test_raw.c - inputs scaled as by hand, with numbers that are missing, constant or extreme.

#include "repr/repr.h"
#include "repr_test.h"

#include <float.h>

// Two episodes of three states; the sensors: plain, constant, with a missing number.
static const double state[6][3] = {{1.0, 5.0, 0.0},  {2.0, 5.0, 8.0}, {3.0, 5.0, 4.0},
                                   {-1.0, 5.0, NAN}, {1.0, 5.0, 4.0}, {0.0, 5.0, 4.0}};
static const int two[] = {3, 3, 0};

static void codes_are(const rh_repr *repr, const double *obs, const double *act,
                      const double *expected)
{
    float code[RH_MAX_CODE], scratch[512];
    float *aligned = scratch + (64 - (uintptr_t)scratch % 64) / sizeof *scratch % 16;
    assert_int_equal(rh_repr__encode(repr, 1, obs, act, code, NULL), RH_OK);
    for (int i = 0; i < rh_repr__ncode(repr); i++)
        if (!(fabs((double)code[i] - expected[i]) <= 1e-6))
            fail_msg("number %d is %g, expected %g", i, (double)code[i], expected[i]);
    float alone[RH_MAX_CODE];
    assert_true(rh_repr__nscratch(repr) <= 480);
    rh_repr__encode_one(repr, obs, act, aligned, alone);
    assert_memory_equal(code, alone, (size_t)rh_repr__ncode(repr) * sizeof *code);
}

static void by_hand(void **unused)
{
    (void)unused;
    rh_log *log = log_of(state[0], 3, two, NULL);
    rh_repr_options opt = rh_repr_defaults();
    double param[16];

    // least and most of the first are -1 and 3, of the third 0 and 8
    rh_repr *range = fitted(&rh_repr_raw, log, NULL);
    assert_int_equal(rh_repr__ncode(range), 3);
    assert_int_equal(rh_repr__nact(range), 0);
    codes_are(range, state[2], NULL, (double[]){1.0, 0.0, 0.0});
    codes_are(range, (double[]){-1.0, 6.0, 10.0}, NULL, (double[]){-1.0, 0.0, 1.5});
    rh_repr_destroy(range);

    // mean 1, variance 10 / 6 of the first; mean 4, variance 32 / 5 of the third
    opt.param = param_of(&rh_repr_raw, param, "scale", (double)RH_SCALE_DEVIATION, NULL);
    rh_repr *deviation = fitted(&rh_repr_raw, log, &opt);
    codes_are(deviation, state[2], NULL, (double[]){2.0 / sqrt(10.0 / 6.0), 0.0, 0.0});
    codes_are(deviation, state[1], NULL,
              (double[]){1.0 / sqrt(10.0 / 6.0), 0.0, 4.0 / sqrt(6.4)});
    rh_repr_destroy(deviation);

    opt.param = param_of(&rh_repr_raw, param, "scale", (double)RH_SCALE_NONE, NULL);
    rh_repr *none = fitted(&rh_repr_raw, log, &opt);
    codes_are(none, state[1], NULL, state[1]);
    rh_repr_destroy(none);

    // of the second episode alone
    opt = rh_repr_defaults();
    opt.use = (uint8_t[]){0, 1};
    rh_repr *half = fitted(&rh_repr_raw, log, &opt);
    codes_are(half, state[2], NULL, (double[]){3.0, 0.0, 0.0});
    rh_repr_destroy(half);
    rh_log_destroy(log);
}

static void with_actions(void **unused)
{
    (void)unused;
    static const double act[6] = {0.0, 10.0, 99.0, 4.0, 5.0, 99.0}; // nothing done at 99
    static const double whole[6] = {1.0, 2.0, 3.0, -1.0, 1.0, 0.0};
    rh_log *log = log_of(whole, 1, two, act);
    rh_repr_options opt = rh_repr_defaults();
    opt.actions = true;
    rh_repr *repr = fitted(&rh_repr_raw, log, &opt);
    assert_int_equal(rh_repr__nact(repr), 1);
    assert_int_equal(rh_repr__ncode(repr), 2);
    codes_are(repr, (double[]){3.0}, (double[]){0.0}, (double[]){1.0, -1.0});
    codes_are(repr, (double[]){1.0}, (double[]){7.5}, (double[]){0.0, 0.5});
    rh_repr_destroy(repr);
    rh_log_destroy(log);

    log = log_of(whole, 1, two, NULL);
    refused(
        &rh_repr_raw, log, &opt, RH_EINVAL,
        "representation: the log has 2 discrete actions, expected continuous ones for codes of "
        "state and action");
    rh_log_destroy(log);
}

// Distance between the codes of two headings.
static double apart(const rh_repr *repr, double a, double b)
{
    float x[RH_MAX_CODE], y[RH_MAX_CODE];
    double sum = 0.0;
    assert_int_equal(rh_repr__encode(repr, 1, (double[]){0.0, a}, NULL, x, NULL), RH_OK);
    assert_int_equal(rh_repr__encode(repr, 1, (double[]){0.0, b}, NULL, y, NULL), RH_OK);
    for (int i = 0; i < rh_repr__ncode(repr); i++)
        sum += (double)(x[i] - y[i]) * (double)(x[i] - y[i]);
    return sqrt(sum);
}

// A level, and a heading of -180 to 180 degrees, of which the log has -90 to 90.
static void on_circles(void **unused)
{
    (void)unused;
    static const double heading[6][2] = {{1.0, -90.0}, {2.0, 0.0}, {3.0, 45.0},
                                         {-1.0, 90.0}, {1.0, 9.0}, {0.0, 10.0}};
    static const double period[] = {NAN, 360.0}, base[] = {NAN, -180.0};
    rh_log *log = log_of(heading[0], 2, two, NULL);
    rh_repr_options opt = rh_repr_defaults();
    rh_repr *line = fitted(&rh_repr_raw, log, &opt);
    opt.period = period;
    opt.base = base;
    rh_repr *circle = fitted(&rh_repr_raw, log, &opt);
    assert_int_equal(rh_repr__ncode(circle), 3);
    // the factor is 1 / 90, so the radius is 4 / 2 pi; the angle is from -180 on
    double r = 2.0 / M_PI;
    codes_are(circle, (double[]){3.0, -180.0}, NULL, (double[]){1.0, r, 0.0});
    codes_are(circle, (double[]){3.0, -90.0}, NULL, (double[]){1.0, 0.0, r});
    codes_are(circle, (double[]){1.0, 0.0}, NULL, (double[]){0.0, -r, 0.0});
    codes_are(circle, (double[]){1.0, 360.0 + 135.0}, NULL,
              (double[]){0.0, r * sqrt(0.5), -r * sqrt(0.5)});
    assert_true(fabs(apart(line, -179.5, 179.5) - 359.0 / 90.0) < 1e-5);
    assert_true(fabs(apart(circle, -179.5, 179.5) - 1.0 / 90.0) < 1e-5);
    assert_true(fabs(apart(circle, 44.5, 45.5) - apart(line, 44.5, 45.5)) < 1e-5);
    assert_true(isnan(apart(circle, (double)NAN, 0.0)));
    assert_true(isnan(apart(circle, (double)INFINITY, 0.0)));
    rh_repr_destroy(circle);
    rh_repr_destroy(line);

    refused(
        &rh_repr_raw, log,
        &(rh_repr_options){.period = (double[]){NAN, 0.0}, .base = base, .cookie = opt.cookie},
        RH_EINVAL,
        "representation: sensor 2 with period 0 and base -180, expected a finite period "
        "above 0 and a finite base");
    refused(&rh_repr_raw, log,
            &(rh_repr_options){.period = (double[]){NAN, 24.0},
                               .base = (double[]){0.0, INFINITY},
                               .cookie = opt.cookie},
            RH_EINVAL,
            "representation: sensor 2 with period 24 and base inf, expected a finite period "
            "above 0 and a finite base");
    rh_log_destroy(log);
}

// Where codes would be too long, the last sensors stay on a line.
static void room_for_circles(void **unused)
{
    (void)unused;
    static double many[4 * 60], act[4], period[60], base[60];
    for (int i = 0; i < 60; i++) {
        period[i] = i % 2 ? 1.0 : (double)NAN;
        for (int t = 0; t < 4; t++)
            many[60 * t + i] = 0.1 * t;
    }
    for (int continuous = 0; continuous < 2; continuous++) {
        rh_log *log = log_of(many, 60, (int[]){4, 0}, continuous ? act : NULL);
        rh_repr_options opt = rh_repr_defaults();
        opt.period = period;
        opt.base = base;
        rh_repr *repr = fitted(&rh_repr_raw, log, &opt);
        assert_int_equal(rh_repr__ncode(repr), 64 - continuous); // and room for the action
        double r = 2.0 / (0.3 * 2.0 * M_PI);                     // the range is 0.3
        float code[RH_MAX_CODE];
        assert_int_equal(rh_repr__encode(repr, 1, many, NULL, code, NULL), RH_OK);
        assert_float_equal(code[1], r, 1e-5);
        assert_float_equal(code[5], r, 1e-5);
        assert_float_equal(code[9], -1.0, 1e-5);
        rh_repr_destroy(repr);
        rh_log_destroy(log);
    }
}

static void extreme_numbers(void **unused)
{
    (void)unused;
    static const double far[6] = {DBL_MAX, -DBL_MAX, 0.0, 1.0, 2.0, 3.0};
    static const double tiny[6] = {0.0, 5e-324, 0.0, 0.0, 0.0, 0.0};
    rh_log *log = log_of(far, 1, two, NULL);
    rh_repr *repr = fitted(&rh_repr_raw, log, NULL);
    codes_are(repr, (double[]){DBL_MAX}, NULL, (double[]){1.0});
    codes_are(repr, (double[]){-DBL_MAX / 2.0}, NULL, (double[]){-0.5});
    rh_repr_destroy(repr);

    double param[16];
    rh_repr_options opt = rh_repr_defaults();
    opt.param = param_of(&rh_repr_raw, param, "scale", (double)RH_SCALE_DEVIATION, NULL);
    refused(&rh_repr_raw, log, &opt, RH_EINVAL,
            "raw: the numbers of input 1 are too large to be averaged; try scale=range");
    rh_log_destroy(log);

    log = log_of(tiny, 1, two, NULL);
    repr = fitted(&rh_repr_raw, log, NULL);
    codes_are(repr, (double[]){1.0}, NULL, (double[]){0.0});
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

static void too_much_or_nothing(void **unused)
{
    (void)unused;
    static double many[4 * 65], none[12];
    rh_log *log = log_of(many, 65, (int[]){4, 0}, NULL);
    refused(&rh_repr_raw, log, NULL, RH_EINVAL,
            "raw: 65 inputs, expected at most 64; try laplacian");
    rh_log_destroy(log);

    for (int i = 0; i < 12; i++)
        none[i] = i % 4 == 0 || i % 4 == 3 ? (double)i : (double)NAN;
    log = log_of(none, 2, two, NULL);
    for (int i = 0; i < rh_repr_ntype(); i++) {
        char text[80];
        snprintf(text, sizeof text, "%s: every state of the log has a missing number",
                 rh_repr_type_at(i)->name);
        refused(rh_repr_type_at(i), log, NULL, RH_EINVAL, text);
    }
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),         cmocka_unit_test(with_actions),
        cmocka_unit_test(on_circles),      cmocka_unit_test(room_for_circles),
        cmocka_unit_test(extreme_numbers), cmocka_unit_test(too_much_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
