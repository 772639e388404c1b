// test_param.c - values as users write them, and messages as users see them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "rehearse/contract.h"

static const char *const traces[] = {"replacing", "accumulating", "dutch"};

enum { ALPHA, LAMBDA, NTILING, TRACE, NPARAM };

static const rh_param table[NPARAM] = {
    [ALPHA] = {"alpha", .lo = 1e-4, .hi = 2.0, .initial = 0.1, .scale = RH_LOG},
    [LAMBDA] = {"lambda", .lo = 0.0, .hi = 0.99, .initial = 0.9},
    [NTILING] = {"tilings", .lo = 1, .hi = 64, .initial = 16, .whole = true},
    [TRACE] = {"trace", .lo = 0, .hi = 2, .initial = 1, .choice = traces},
};

static void initial_and_find(void **unused)
{
    (void)unused;
    double value[NPARAM];
    rh_param_initial(table, NPARAM, value);
    assert_true(value[ALPHA] == 0.1);
    assert_true(value[LAMBDA] == 0.9);
    assert_true(value[NTILING] == 16.0);
    assert_true(value[TRACE] == 1.0);
    assert_int_equal(rh_param_find(table, NPARAM, "tilings"), NTILING);
    assert_int_equal(rh_param_find(table, NPARAM, "tiling"), -1);
    assert_int_equal(rh_param_find(table, NPARAM, ""), -1);
    assert_int_equal(rh_param_find(NULL, 0, "alpha"), -1);
}

// ---------------------------------------------------------------------------- parsing

static void accepted(int which, const char *text, double expected)
{
    double value = -7.0;
    rh_error err;
    assert_int_equal(rh_param_parse(&table[which], "sarsa", text, &value, &err), RH_OK);
    assert_true(value == expected);
}

static void refused(int which, const char *text, const char *message)
{
    double value = -7.0;
    rh_error err;
    assert_int_equal(rh_param_parse(&table[which], "sarsa", text, &value, &err), RH_EINVAL);
    assert_string_equal(err.text, message);
    assert_true(value == -7.0); // left alone
    assert_int_equal(rh_param_parse(&table[which], "sarsa", text, &value, NULL), RH_EINVAL);
}

static void numbers(void **unused)
{
    (void)unused;
    accepted(ALPHA, "0.1", 0.1);
    accepted(ALPHA, "1e-4", 1e-4);
    accepted(ALPHA, "2", 2.0);
    accepted(LAMBDA, "0", 0.0);
    accepted(NTILING, "64", 64.0);
    accepted(NTILING, "1.6e1", 16.0);

    refused(ALPHA, "2.5", "sarsa: alpha = 2.5, expected a number, 0.0001 to 2");
    refused(ALPHA, "0", "sarsa: alpha = 0, expected a number, 0.0001 to 2");
    refused(ALPHA, "-0.1", "sarsa: alpha = -0.1, expected a number, 0.0001 to 2");
    refused(ALPHA, "nan", "sarsa: alpha = nan, expected a number, 0.0001 to 2");
    refused(ALPHA, "inf", "sarsa: alpha = inf, expected a number, 0.0001 to 2");
    refused(ALPHA, "-inf", "sarsa: alpha = -inf, expected a number, 0.0001 to 2");
    refused(ALPHA, "1e400", "sarsa: alpha = 1e400, expected a number, 0.0001 to 2");
    refused(ALPHA, "1e-400", "sarsa: alpha = 1e-400, expected a number, 0.0001 to 2");
    refused(ALPHA, "", "sarsa: alpha = '', expected a number, 0.0001 to 2");
    refused(ALPHA, "0.1x", "sarsa: alpha = 0.1x, expected a number, 0.0001 to 2");
    refused(ALPHA, "0.1 ", "sarsa: alpha = 0.1 , expected a number, 0.0001 to 2");
    refused(ALPHA, "0x1p-3", "sarsa: alpha = 0x1p-3, expected a number, 0.0001 to 2");
    refused(ALPHA, "0,1", "sarsa: alpha = 0,1, expected a number, 0.0001 to 2");
    refused(ALPHA, "high", "sarsa: alpha = high, expected a number, 0.0001 to 2");
    refused(LAMBDA, "1", "sarsa: lambda = 1, expected a number, 0 to 0.99");
    refused(NTILING, "16.5", "sarsa: tilings = 16.5, expected a whole number, 1 to 64");
    refused(NTILING, "65", "sarsa: tilings = 65, expected a whole number, 1 to 64");
}

static void choices(void **unused)
{
    (void)unused;
    accepted(TRACE, "replacing", 0.0);
    accepted(TRACE, "dutch", 2.0);
    refused(TRACE, "acumulating",
            "sarsa: trace cannot be 'acumulating'; did you mean 'accumulating'? "
            "(replacing, accumulating, dutch)");
    refused(TRACE, "none",
            "sarsa: trace cannot be 'none'; expected one of replacing, accumulating, dutch");
    refused(TRACE, "1",
            "sarsa: trace cannot be '1'; expected one of replacing, accumulating, dutch");
    refused(TRACE, "",
            "sarsa: trace cannot be ''; expected one of replacing, accumulating, dutch");
}

static void long_text_leaves_room_for_the_reason(void **unused)
{
    (void)unused;
    char text[3000];
    memset(text, '9', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (int i = 0; i < NPARAM; i++) {
        double value;
        rh_error err;
        assert_int_equal(rh_param_parse(&table[i], "sarsa", text, &value, &err), RH_EINVAL);
        assert_non_null(strstr(err.text, "expected"));
    }
}

static void locale_does_not_matter(void **unused)
{
    (void)unused;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        skip(); // no locale with a decimal comma is installed
    accepted(ALPHA, "0.1", 0.1);
    refused(ALPHA, "0x1p-3", "sarsa: alpha = 0x1p-3, expected a number, 0.0001 to 2");
    refused(ALPHA, "0,1", "sarsa: alpha = 0,1, expected a number, 0.0001 to 2");
    char text[32];
    rh_param__format(&table[ALPHA], 0.25, text, sizeof text);
    assert_string_equal(text, "0.25");
    setlocale(LC_NUMERIC, "C");
}

// ---------------------------------------------------------------------------- names and checks

static void lookup(void **unused)
{
    (void)unused;
    rh_error err;
    int index = -7;
    assert_int_equal(rh_param_lookup(table, NPARAM, "sarsa", "lambda", &index, &err), RH_OK);
    assert_int_equal(index, LAMBDA);

    index = -7;
    assert_int_equal(rh_param_lookup(table, NPARAM, "sarsa", "lamda", &index, &err), RH_EINVAL);
    assert_string_equal(err.text, "sarsa: no parameter 'lamda'; did you mean 'lambda'? "
                                  "(alpha, lambda, tilings, trace)");
    assert_int_equal(rh_param_lookup(table, NPARAM, "sarsa", "depth", &index, &err), RH_EINVAL);
    assert_string_equal(err.text, "sarsa: no parameter 'depth'; expected one of "
                                  "alpha, lambda, tilings, trace");
    assert_int_equal(rh_param_lookup(NULL, 0, "random", "alpha", &index, &err), RH_EINVAL);
    assert_string_equal(err.text, "random: no parameter 'alpha'; it has none");
    assert_int_equal(index, -7);
}

// More names than the message can list.
static void lookup_in_a_large_table(void **unused)
{
    (void)unused;
    enum { N = 100 };
    char name[N][48];
    rh_param large[N];
    memset(large, 0, sizeof large);
    for (int i = 0; i < N; i++) {
        snprintf(name[i], sizeof name[i], "weight_of_sensor_number_%d", i);
        large[i].name = name[i];
    }
    rh_error err;
    int index = -7;
    assert_int_equal(rh_param_lookup(large, N, "mlp", name[99], &index, &err), RH_OK);
    assert_int_equal(index, 99);
    assert_int_equal(rh_param_lookup(large, N, "mlp", "depth", &index, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "mlp: no parameter 'depth'; expected one of weight_of_"));
}

static void check(void **unused)
{
    (void)unused;
    rh_error err;
    double value[NPARAM];
    rh_param_initial(table, NPARAM, value);
    assert_int_equal(rh_param__check(table, NPARAM, "sarsa", value, &err), RH_OK);
    assert_int_equal(rh_param__check(NULL, 0, "random", NULL, &err), RH_OK);

    value[LAMBDA] = 1.0 / 3.0 + 1.0;
    assert_int_equal(rh_param__check(table, NPARAM, "sarsa", value, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "sarsa: lambda = 1.3333333333333333, expected a number, 0 to 0.99");
    value[LAMBDA] = NAN;
    assert_int_equal(rh_param__check(table, NPARAM, "sarsa", value, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "nan, expected a number, 0 to 0.99"));
    rh_param_initial(table, NPARAM, value);
    value[TRACE] = 1.5;
    assert_int_equal(rh_param__check(table, NPARAM, "sarsa", value, &err), RH_EINVAL);
    assert_string_equal(err.text, "sarsa: trace = 1.5, expected a whole number, 0 to 2");
}

// ---------------------------------------------------------------------------- printing

static void format_reads_back(void **unused)
{
    (void)unused;
    static const rh_param any = {"any", .lo = -INFINITY, .hi = INFINITY};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rh_rng__bits(&rng);
        double x, back;
        memcpy(&x, &bits, sizeof x);
        if (isnan(x))
            continue;
        char text[32];
        rh_param__format(&any, x, text, sizeof text);
        assert_int_equal(rh_param_parse(&any, "test", text, &back, NULL), RH_OK);
        assert_memory_equal(&x, &back, sizeof x);
    }
}

static void format_is_short(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        const char *text;
    } sample[] = {
        {0.1, "0.1"},      {1.0 / 3.0, "0.3333333333333333"},
        {100.0, "100"},    {16.0, "16"},
        {1e-4, "0.0001"},  {0.0, "0"},
        {-0.0, "-0"},      {1e300, "1e+300"},
        {INFINITY, "inf"}, {123456.0, "123456"},
        {-1e-9, "-1e-09"}, {0.1 + 0.2, "0.30000000000000004"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        rh_param__format(&table[ALPHA], sample[i].value, text, sizeof text);
        assert_string_equal(text, sample[i].text);
    }
    rh_param__format(&table[TRACE], 2.0, text, sizeof text);
    assert_string_equal(text, "dutch");
    rh_param__format(&table[TRACE], 3.0, text, sizeof text); // not a choice: as a number
    assert_string_equal(text, "3");
    rh_param__format(&table[TRACE], NAN, text, sizeof text);
    assert_non_null(strstr(text, "nan"));
    rh_param__format(&table[TRACE], 1.0, text, 5); // cut, and ended
    assert_string_equal(text, "accu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_and_find),
        cmocka_unit_test(numbers),
        cmocka_unit_test(choices),
        cmocka_unit_test(long_text_leaves_room_for_the_reason),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(lookup),
        cmocka_unit_test(lookup_in_a_large_table),
        cmocka_unit_test(check),
        cmocka_unit_test(format_reads_back),
        cmocka_unit_test(format_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
