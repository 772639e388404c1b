// test_number.c - numbers as Python reads and writes them, to the last bit.
//
// `base_test_number --echo` reads numbers, a line each, and prints the bits and the shortest
// text: base_number.py check compares millions of them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/number.h"
#include "rehearse/base.h"

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double parse(const char *text)
{
    // a copy of the very size, so that a read too far is noticed
    size_t n = strlen(text);
    char *copy = malloc(n ? n : 1);
    double x = NAN;
    memcpy(copy, text, n);
    if (rh_number__parse(copy, copy + n, &x) != copy + n)
        fail_msg("'%.60s' was not read to its end", text);
    free(copy);
    return x;
}

// ---------------------------------------------------------------------------- reading

static void hard_cases(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/base_number.csv", "r");
    assert_non_null(file);
    static char line[4096];
    int n = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        char *bits = strchr(line, ',');
        assert_non_null(bits);
        *bits++ = 0;
        char *repr = strchr(bits, ',') + 1;
        repr[strcspn(repr, "\n")] = 0;
        uint64_t expected = strtoull(bits, NULL, 16);
        double x = parse(line);
        if (bits_of(x) != expected)
            fail_msg("'%.60s': %a, expected %016llx", line, x, (unsigned long long)expected);
        char text[RH_NUMBER__SIZE];
        int length = rh_number__print(x, text);
        assert_int_equal(length, strlen(text));
        assert_true(strlen(text) <= strlen(repr));
        if (isfinite(x))
            assert_int_equal(bits_of(parse(text)), expected);
        n++;
    }
    fclose(file);
    assert_int_equal(n, 600);
}

// Random bits, written by libc with enough digits or with too few, and read by both.
static void like_strtod(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = rh_rng__bits(&rng);
        double x;
        char text[64];
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        int digits = 1 + (int)rh_rng_below(&rng, 24);
        snprintf(text, sizeof text, "%.*e", digits, x);
        if (bits_of(parse(text)) != bits_of(strtod(text, NULL)))
            fail_msg("'%s': %a, expected %a", text, parse(text), strtod(text, NULL));
        snprintf(text, sizeof text, "%.*f", digits % 20, rh_rng_range(&rng, -1e4, 1e4));
        if (bits_of(parse(text)) != bits_of(strtod(text, NULL)))
            fail_msg("'%s': %a, expected %a", text, parse(text), strtod(text, NULL));
    }
}

static void where_it_ends(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int n; // characters of the number; -1: none
    } cases[] = {{"", -1},        {"-", -1},        {"+", -1},
                 {".", -1},       {"e5", -1},       {"-.e1", -1},
                 {"x", -1},       {" 1", -1},       {"1", 1},
                 {"1,2", 1},      {"1e", 1},        {"1e+", 1},
                 {"1e5x", 3},     {"1.", 2},        {".5;", 2},
                 {"1..2", 2},     {"--1", -1},      {"0x10", 1},
                 {"1-2", 1},      {"1 ", 1},        {"+.5", 3},
                 {"1e5.5", 3},    {"1_000", 1},     {"nan", -1},
                 {"12345678", 8}, {"1234567x9", 7}, {"123456789012,", 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x;
        const char *text = cases[i].text;
        const char *end = rh_number__parse(text, text + strlen(text), &x);
        if ((end ? end - text : -1) != cases[i].n)
            fail_msg("'%s' ends at %d", text, (int)(end ? end - text : -1));
    }
}

static void fields(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        rh_number__kind kind;
        double x;
    } cases[] = {
        {"1.5", RH_NUMBER, 1.5},
        {"-7", RH_NUMBER, -7.0},
        {"inf", RH_NUMBER, INFINITY},
        {"-Infinity", RH_NUMBER, -INFINITY},
        {"+INF", RH_NUMBER, INFINITY},
        {"", RH_NUMBER_MISSING, NAN},
        {"NA", RH_NUMBER_MISSING, NAN},
        {"N/A", RH_NUMBER_MISSING, NAN},
        {"NaN", RH_NUMBER_MISSING, NAN},
        {"-nan", RH_NUMBER_MISSING, NAN},
        {"nan", RH_NUMBER_MISSING, NAN},
        {"null", RH_NUMBER_MISSING, NAN},
        {"NULL", RH_NUMBER_MISSING, NAN},
        {"None", RH_NUMBER_MISSING, NAN},
        {"-", RH_NUMBER_MISSING, NAN},
        {"?", RH_NUMBER_MISSING, NAN},
        {"#N/A", RH_NUMBER_MISSING, NAN},
        {"<NA>", RH_NUMBER_MISSING, NAN},
        {"#N/A N/A", RH_NUMBER_TEXT, NAN},
        {"1e999", RH_NUMBER_BEYOND, INFINITY},
        {"-1e999", RH_NUMBER_BEYOND, -INFINITY},
        {"1,5", RH_NUMBER_TEXT, NAN},
        {"1.5x", RH_NUMBER_TEXT, NAN},
        {"infinite", RH_NUMBER_TEXT, NAN},
        {"in", RH_NUMBER_TEXT, NAN},
        {"--", RH_NUMBER_TEXT, NAN},
        {"1 2", RH_NUMBER_TEXT, NAN},
        {"nanx", RH_NUMBER_TEXT, NAN},
        {"+", RH_NUMBER_TEXT, NAN},
        {"1e-999", RH_NUMBER, 0.0},
        {"0x1p3", RH_NUMBER_TEXT, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x = 42.0;
        rh_number__kind kind = rh_number__read(cases[i].text, strlen(cases[i].text), &x);
        if (kind != cases[i].kind || !(x == cases[i].x || (isnan(x) && isnan(cases[i].x))))
            fail_msg("'%s' is kind %d, %g", cases[i].text, (int)kind, x);
    }
}

// ---------------------------------------------------------------------------- writing

static void printed(void **unused)
{
    (void)unused;
    static const struct {
        double x;
        const char *text;
    } cases[] = {{0.0, "0"},
                 {-0.0, "-0"},
                 {1.0, "1"},
                 {-2.5, "-2.5"},
                 {0.1, "0.1"},
                 {0.001, "0.001"},
                 {0.0001, "0.0001"},
                 {0.00012, "0.00012"},
                 {0.00001, "1e-05"},
                 {123456.0, "123456"},
                 {100.0, "100"},
                 {1e15, "1000000000000000"},
                 {1e16, "1e+16"},
                 {1.5e300, "1.5e+300"},
                 {5e-324, "5e-324"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {1.0 / 3.0, "0.3333333333333333"},
                 {2.0 / 3.0, "0.6666666666666666"},
                 {9007199254740993.0, "9007199254740992"},
                 {9.5367431640625e-07, "9.5367431640625e-07"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[RH_NUMBER__SIZE];
        assert_int_equal(rh_number__print(cases[i].x, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

// Reads back, and no shorter text does.
static void shortest(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(2, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = rh_rng__bits(&rng);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (i % 2)
            x = rh_rng_range(&rng, -100.0, 100.0);
        if (i % 5 == 0)
            x = round(x * 100.0) / 100.0;
        if (!isfinite(x))
            continue;
        char text[RH_NUMBER__SIZE], shorter[64];
        rh_number__print(x, text);
        if (bits_of(parse(text)) != bits_of(x))
            fail_msg("%a is printed as '%s'", x, text);
        int digits = 0;
        const char *c = text + strspn(text, "-0.");
        for (; *c && *c != 'e'; c++)
            digits += *c != '.';
        if (digits < 2 || strspn(text, "-0123456789") == strlen(text))
            continue;
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, x);
        if (bits_of(strtod(shorter, NULL)) == bits_of(x))
            fail_msg("%a is printed as '%s', but '%s' would do", x, text, shorter);
    }
}

// A locale with a decimal comma changes nothing.
static void locale_is_nothing(void **unused)
{
    (void)unused;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "de_DE.utf8"))
        skip();
    char text[RH_NUMBER__SIZE];
    rh_number__print(0.5, text);
    double slow = parse("1.00000000000000011102230246251565404236316680908203125");
    double half = parse("0.5");
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "0.5");
    assert_true(slow == 1.0);
    assert_true(half == 0.5);
}

static void powers_of_five(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/base_powers.csv", "r");
    assert_non_null(file);
    unsigned long long upper, lower;
    int e, n = 0;
    while (fscanf(file, "%d,%llx,%llx", &e, &upper, &lower) == 3) {
        assert_int_equal(e, RH_POWERS__LEAST + n++);
        if (rh_powers__of_five(e)[0] != upper || rh_powers__of_five(e)[1] != lower)
            fail_msg("5^%d differs", e);
    }
    assert_int_equal(n, RH_POWERS__MOST - RH_POWERS__LEAST + 1);
    fclose(file);
}

static int echo(void)
{
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin)) {
        char text[RH_NUMBER__SIZE];
        line[strcspn(line, "\n")] = 0;
        double x = parse(line);
        rh_number__print(x, text);
        printf("%016llx %s\n", (unsigned long long)bits_of(x), text);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--echo") == 0)
        return echo();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_cases),        cmocka_unit_test(like_strtod),
        cmocka_unit_test(where_it_ends),     cmocka_unit_test(fields),
        cmocka_unit_test(printed),           cmocka_unit_test(shortest),
        cmocka_unit_test(locale_is_nothing), cmocka_unit_test(powers_of_five),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
