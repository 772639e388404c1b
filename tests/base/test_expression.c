// test_expression.c - formulas: values by hand, precedence, missing numbers, errors, limits.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/expression.h"

static const char *const name[] = {"x",        "y", "T_tank", "net-gain",
                                   "Power kW", "2", "not",    "gone"};
static const char *const alias[] = {"x",          "y", "T_tank [degC]", "net-gain",
                                    "Power [kW]", "2", "not",           "gone"};
#define N 8
static const double value[N] = {3.0, -2.0, 20.5, 7.0, 10.0, 100.0, 5.0, NAN};

static const rh_expression__scope scope = {"p.csv: reward", "column", name, alias, N};

static double compute(const char *text)
{
    rh_expression e;
    rh_error err = {""};
    rh_status rc = rh_expression__compile(&e, text, &scope, &err);
    if (rc)
        print_error("%s\n", err.text);
    assert_int_equal(rc, RH_OK);
    double result = rh_expression__value(&e, value);
    rh_expression__clear(&e);
    return result;
}

static void is(const char *text, double expected)
{
    double found = compute(text);
    if (found != expected && !(isnan(found) && isnan(expected)))
        fail_msg("%s = %.17g, expected %.17g", text, found, expected);
}

static void refused(const char *text, const char *message)
{
    rh_expression e;
    rh_error err = {""};
    assert_int_equal(rh_expression__compile(&e, text, &scope, &err), RH_EINVAL);
    assert_string_equal(err.text, message);
    rh_expression__clear(&e);
}

static void precedence(void **unused)
{
    (void)unused;
    is("x + y * 2", -1.0);
    is("(x + y) * 2", 2.0);
    is("x - y - 1", 4.0);
    is("x / 2 / 3", 0.5);
    is("-x^2", -9.0);
    is("(-x)^2", 9.0);
    is("2^x^2", 512.0); // from the right
    is("x**2", 9.0);
    is("2^-1 + 0*x", 0.5);
    is("x > 2 and y > 0", 0.0);
    is("x > 2 or y > 0 and y > 1", 1.0);
    is("not(x > 2) + 0", 0.0); // not (x > 2) + 0
    is("!x + 1", 1.0);         // (!x) + 1
    is("x + 1 > y * 2", 1.0);
    is("10 * (x > 2)", 10.0);
    is("x >= 3 && x <= 3 || y == 1", 1.0);
    is("x != 3", 0.0);
    is("- - x", 3.0);
    is("+x", 3.0);
}

static void functions(void **unused)
{
    (void)unused;
    is("abs(y)", 2.0);
    is("min(x, y)", -2.0);
    is("max(x, y, 8, 4)", 8.0);
    is("sqrt(x + 1)", 2.0);
    is("exp(0*x)", 1.0);
    is("log(x/3)", 0.0);
    is("sin(0*x)", 0.0);
    is("cos(0*x)", 1.0);
    is("if(x > y, 10, 20)", 10.0);
    is("if(x < y, 10, 20)", 20.0);
    is("clip(x, 0, 1)", 1.0);
    is("clip(y, 0, 1)", 0.0);
    is("clip(x/4, 0, 1)", 0.75);
    is("abs (y)", 2.0);
    is("-abs(T_tank - 21) - 0.1*\"Power kW\"", -1.5);
    assert_true(fabs(compute("x^0.3") - 1.3903891703159093) < 1e-14); // python: 3**0.3
    assert_true(fabs(compute("exp(y)") - 0.1353352832366127) < 1e-15);
    is("x^0", 1.0);
    is("y^3", -8.0);
    is("y^-2", 0.25);
    is("x/0", INFINITY);
}

static void names(void **unused)
{
    (void)unused;
    is("net-gain", 7.0);
    is("net-gain-x", 4.0);
    is("Power kW*2", 20.0);
    is("Power [kW] + 1", 11.0);
    is("'Power kW' + 1", 11.0);
    is("T_tank [degC] - T_tank", 0.0);
    is("x, y*2", -1.0); // a list is a sum
    is("x,", 3.0);
    is("x*2 - 2", -94.0); // column 2 where it is a term of the sum
    is("2*x", 6.0);       // and a factor where it is one
    is("x*2", 6.0);       //
    is("max(2, x)", 3.0); // a number inside of parentheses
    is("x^2", 9.0);       //
    is("'2' * x", 300.0); // quotes make it the column
    is("not + 1", 6.0);   // a column may be called so
    is("x and not", 1.0);
}

static void missing(void **unused)
{
    (void)unused;
    is("gone + 1", NAN);
    is("0*gone", NAN);
    is("gone > 1", NAN);
    is("gone == gone", NAN);
    is("min(gone, x)", NAN);
    is("max(x, gone)", NAN);
    is("clip(x, 0, gone)", NAN);
    is("gone^0", NAN);
    is("!gone", NAN);
    is("x > 5 and gone", 0.0);
    is("gone and x > 5", 0.0);
    is("x and gone", NAN);
    is("x or gone", 1.0);
    is("gone or x", 1.0);
    is("x > 5 or gone", NAN);
    is("if(gone, x, y)", NAN);
    is("if(x, y, gone)", -2.0);
    is("if(x, gone, y)", NAN);
    is("sqrt(y)", NAN);
    is("log(y)", NAN);
    is("y^0.5", NAN);
    is("log(0*x)", -INFINITY);
}

static void errors(void **unused)
{
    (void)unused;
    refused("abs(T_tank - )",
            "p.csv: reward: 'abs(T_tank - )': found ')', expected a value after "
            "'-' at character 14");
    refused("", "p.csv: reward: '': found its end, expected a value at character 1");
    refused("x +",
            "p.csv: reward: 'x +': found its end, expected a value after '+' at character 4");
    refused("x y",
            "p.csv: reward: 'x y': found 'y', expected an operator or the end after 'x' at "
            "character 3");
    refused("(x", "p.csv: reward: '(x': found its end, expected ')' after 'x' at character 3");
    refused("x)",
            "p.csv: reward: 'x)': found ')', expected an operator or the end after 'x' at "
            "character 2");
    refused("x = 3",
            "p.csv: reward: 'x = 3': found '=', expected '==' after 'x' at character 3");
    refused("x < y < 3", "p.csv: reward: 'x < y < 3': found '<', expected 'and' between two "
                         "comparisons at character 7");
    refused("if(x, y)",
            "p.csv: reward: 'if(x, y)': 2 values for if at character 1, expected 3");
    refused("min(x)",
            "p.csv: reward: 'min(x)': 1 value for min at character 1, expected 2 or more");
    refused("x * 1e999", "p.csv: reward: 'x * 1e999': found '1e999', expected a number below "
                         "1.8e308 at character 5");
    refused("3", "p.csv: reward: '3': no column in it, expected at least one");
    refused("\xc3\xa4\xc3\xb6 + ",
            "p.csv: reward: no column '\xc3\xa4\xc3\xb6'; expected one of x, y, "
            "T_tank, net-gain, Power kW, 2, not, gone");
    refused("T_tonk + 1",
            "p.csv: reward: no column 'T_tonk'; did you mean 'T_tank'? (x, y, T_tank, "
            "net-gain, Power kW, 2, not, gone)");
    refused("sqr(x)",
            "p.csv: reward: no function 'sqr'; did you mean 'sqrt'? (abs, min, max, sqrt, "
            "exp, log, sin, cos, if, clip)");
    refused("x + 'y ",
            "p.csv: reward: 'x + 'y ': found ''y', expected a closing quote at character 5");
}

static void limits(void **unused)
{
    (void)unused;
    static char text[2 * RH_EXPRESSION__LENGTH];
    rh_expression e;
    rh_error err;

    // parentheses
    for (int n = RH_EXPRESSION__DEPTH; n <= RH_EXPRESSION__DEPTH + 1; n++) {
        memset(text, '(', (size_t)n);
        text[n] = 'x';
        memset(text + n + 1, ')', (size_t)n);
        text[2 * n + 1] = 0;
        rh_status rc = rh_expression__compile(&e, text, &scope, &err);
        assert_int_equal(rc, n > RH_EXPRESSION__DEPTH ? RH_EINVAL : RH_OK);
        rh_expression__clear(&e);
    }
    assert_non_null(strstr(err.text, "more than 64 parentheses and values within each other"));

    // signs, powers, and numbers on the stack
    static const char *const part[] = {"-", "!", "not ", "2^", "1+(", "x > (", "max(x, "};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        text[0] = 0;
        for (int n = 0; n < 500; n++)
            strcat(text, part[i]);
        strcat(text, "x");
        assert_int_equal(rh_expression__compile(&e, text, &scope, &err), RH_EINVAL);
        rh_expression__clear(&e);
    }

    // a long sum needs no depth; and the length
    text[0] = 0;
    for (int n = 0; n < RH_EXPRESSION__LENGTH / 2; n++)
        strcat(text, n ? "+x" : " x");
    assert_true(compute(text) == 3.0 * RH_EXPRESSION__LENGTH / 2);
    strcat(text, " ");
    assert_int_equal(rh_expression__compile(&e, text, &scope, &err), RH_EINVAL);
    rh_expression__clear(&e);
    assert_string_equal(err.text,
                        "p.csv: reward: a formula of 4001 characters, expected at most 4000");
}

static void other_names(void **unused)
{
    (void)unused;
    static const char *const other[N] = {"obs[0]", "obs[1]", "next[0]", "act[0]",
                                         "obs[2]", "obs[3]", "obs[4]",  "obs[5]"};
    rh_expression e;
    const char *text = "-x*2 - 2, 'Power kW' + net-gain";
    assert_int_equal(rh_expression__compile(&e, text, &scope, NULL), RH_OK);
    char *renamed = rh_expression__rename(&e, text, other);
    assert_string_equal(renamed, "-obs[0]*2 - obs[3], obs[2] + act[0]");
    rh_free(renamed);
    rh_expression__clear(&e);
}

static void sums(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        bool sum;
    } all[] = {{"-x", true},   {"x - 0.5*y", true}, {"-2*x + y*-3", true}, {"2*x*3, y", true},
               {"x*y", false}, {"abs(x)", false},   {"x*(y + 2)", false},  {"x > 2", false},
               {"x/2", false}, {"x^2", false},      {"2*x*y", false},      {"-(x + y)", true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rh_expression e;
        assert_int_equal(rh_expression__compile(&e, all[i].text, &scope, NULL), RH_OK);
        if (rh_expression__is_sum(&e) != all[i].sum)
            fail_msg("%s", all[i].text);
        rh_expression__clear(&e);
    }
}

static void of_steps(void **unused)
{
    (void)unused;
    rh_expression e;
    rh_error err;
    const double x[] = {1.0, 20.0, 300.0, 4000.0, 50000.0}; // obs, obs, act, next, next
    assert_int_equal(
        rh_expression__compile_step(&e, "obs[1] - next[0] + next[1]*act[0]", 2, 1, &err),
        RH_OK);
    assert_true(rh_expression__value(&e, x) == 20.0 - 4000.0 + 50000.0 * 300.0);
    rh_expression__clear(&e);
    assert_int_equal(rh_expression__compile_step(&e, "obs[2]", 2, 1, &err), RH_EINVAL);
    assert_string_equal(err.text, "reward: no number 'obs[2]'; did you mean 'obs[0]'? (obs[0], "
                                  "obs[1], act[0], next[0], next[1])");
    rh_expression__clear(&e);
}

static void memory(void **unused)
{
    (void)unused;
    for (int64_t nth = 1;; nth++) {
        rh_expression e;
        int64_t live = rh_base__alloc_live();
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_expression__compile(&e, "max(x, y) + 1", &scope, NULL);
        rh_base__alloc_fail_at(0);
        rh_expression__clear(&e);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK) {
            assert_int_equal(nth, 3);
            break;
        }
        assert_int_equal(rc, RH_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(precedence),  cmocka_unit_test(functions), cmocka_unit_test(names),
        cmocka_unit_test(missing),     cmocka_unit_test(errors),    cmocka_unit_test(limits),
        cmocka_unit_test(other_names), cmocka_unit_test(sums),      cmocka_unit_test(of_steps),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
