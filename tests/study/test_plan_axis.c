// test_plan_axis.c - what is tried of one parameter, in all forms, right and wrong.

#include "plans.h"
#include "search/search.h"
#include "search/search_internal.h"
#include "study/study.h"

// What is said of parameters, and the entry it becomes.
static void forms(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *entry, *value;
    } row[] = {
        // values
        {"tau: {value: 5}, alpha: {min: 0.1, max: 1}", "agent.tau", "5"},
        {"tau: 5, alpha: {min: 0.1, max: 1}", "agent.tau", "5"},
        {"tau: {distribution: constant, value: 5}, alpha: [0.1, 1]", "agent.tau", "5"},
        {"tau: {values: [5]}, alpha: [0.1, 1]", "agent.tau", "5"},
        {"tau: {min: 5, max: 5}, alpha: [0.1, 1]", "agent.tau", "5"},
        {"tau: {values: [100, 1, 10]}", "parameters.tau", "{values: [1, 10, 100]}"},
        {"tau: {distribution: categorical, values: [2, 1]}", "parameters.tau",
         "{values: [1, 2]}"},
        {"optimiser: {values: [sgd, adam]}", "parameters.optimiser", "{values: [adam, sgd]}"},
        {"features: {distribution: categorical, values: [joint, pairs]}", "parameters.features",
         "{values: [pairs, joint]}"},
        // ranges as the table has them
        {"alpha: {min: 0.01, max: 1}", "parameters.alpha",
         "{distribution: log_uniform_values, min: 0.01, max: 1}"},
        {"lambda: {min: 0, max: 1}", "parameters.lambda",
         "{distribution: uniform, min: 0, max: 1}"},
        {"tilings: {min: 1, max: 8}", "parameters.tilings",
         "{distribution: int_uniform, min: 1, max: 8}"},
        {"w_init: {min: -5, max: 5, q: 2.5}", "parameters.w_init",
         "{distribution: q_uniform, min: -5, max: 5, q: 2.5}"},
        // and as is said
        {"alpha: {distribution: uniform, min: 0.01, max: 1}", "parameters.alpha",
         "{distribution: uniform, min: 0.01, max: 1}"},
        {"w_init: {distribution: int_uniform, min: -2, max: 2}", "parameters.w_init",
         "{distribution: int_uniform, min: -2, max: 2}"},
        {"lambda: {distribution: q_uniform, min: 0, max: 1, q: 0.25}", "parameters.lambda",
         "{distribution: q_uniform, min: 0, max: 1, q: 0.25}"},
        {"w_init: {distribution: q_uniform, min: 0.5, max: 9}", "parameters.w_init",
         "{distribution: q_uniform, min: 0.5, max: 9, q: 1}"},
        {"tilings: {distribution: q_uniform, min: 2, max: 16, q: 2}", "parameters.tilings",
         "{distribution: q_uniform, min: 2, max: 16, q: 2}"},
        {"tilings: {distribution: log_uniform_values, min: 1, max: 64}", "parameters.tilings",
         "{distribution: q_log_uniform_values, min: 1, max: 64, q: 1}"},
        {"tau: {distribution: q_log_uniform_values, min: 1, max: 100, q: 0.5}",
         "parameters.tau", "{distribution: q_log_uniform_values, min: 1, max: 100, q: 0.5}"},
        {"alpha: {distribution: log_uniform, min: -1, max: 0}", "parameters.alpha",
         "{distribution: log_uniform_values, min: 0.36787944117144233, max: 1}"},
        {"tau: {distribution: log_uniform, min: 0, max: 4}", "parameters.tau",
         "{distribution: log_uniform_values, min: 1, max: 54.598150033144236}"},
        {"tau: {distribution: q_log_uniform, min: 0, max: 4, q: 3}", "parameters.tau",
         "{distribution: q_log_uniform_values, min: 1, max: 54.598150033144236, q: 3}"},
        // two forms of our own
        {"lambda: {one_minus: {min: 0.01, max: 0.5}}", "parameters.lambda",
         "{one_minus: {distribution: log_uniform_values, min: 0.01, max: 0.5}}"},
        {"lambda: {one_minus: {min: 0, max: 0.5}}", "parameters.lambda",
         "{one_minus: {distribution: uniform, min: 0, max: 0.5}}"},
        {"lambda: {one_minus: {distribution: uniform, min: 0.01, max: 0.5}}",
         "parameters.lambda", "{one_minus: {distribution: uniform, min: 0.01, max: 0.5}}"},
        {"lambda: {one_minus: {values: [0.5, 0.1]}}", "parameters.lambda",
         "{one_minus: {values: [0.1, 0.5]}}"},
        {"lambda: {one_minus: 0.25}, tau: [1, 2]", "agent.lambda", "0.75"},
        {"tilings: {pow2: {min: 2, max: 5}}", "parameters.tilings",
         "{pow2: {distribution: int_uniform, min: 2, max: 5}}"},
        {"tilings: {pow2: [4, 2]}", "parameters.tilings", "{pow2: {values: [2, 4]}}"},
        {"alpha: {pow2: {min: -8, max: 0, q: 2}}", "parameters.alpha",
         "{pow2: {distribution: q_uniform, min: -8, max: 0, q: 2}}"},
        {"tilings: {pow2: 3}, tau: [1, 2]", "agent.tilings", "8"},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300];
        snprintf(text, sizeof text, "agent: esarsa\nparameters: {%s}\nmethod: random\n",
                 row[i].text);
        rh_plan *plan = settled(text, 3);
        const char *value = entry(plan, row[i].entry);
        if (!value || strcmp(value, row[i].value) != 0)
            wrong += complain("%s\n  found    %s\n  expected %s\n", row[i].text,
                              value ? value : "nothing", row[i].value);
        rh_plan_destroy(plan);
    }
    assert_int_equal(wrong, 0);
}

static void kinds_and_scales(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("parameters:\n"
                            "  alpha: {values: [0.1, 0.01]}\n"
                            "  beta1: {values: [0, 0.9]}\n"
                            "  tau: {distribution: uniform, min: 1, max: 2}\n"
                            "  w_init: {min: 1, max: 2}\n"
                            "  lambda: {one_minus: {values: [0.5, 0.05]}}\n"
                            "  tilings: {pow2: {min: 2, max: 5}}\n"
                            "  features: {values: [singles, pairs]}\n",
                            3);
    const rh_dim *d = plan->space.dim;
    static const struct {
        const char *name;
        rh_dim_kind kind;
        rh_scale scale;
        double step;
    } want[] = {{"alpha", RH_DIM_LIST, RH_LOG, 0},
                {"beta1", RH_DIM_LIST, RH_LINEAR, 0},
                {"tau", RH_DIM_RANGE, RH_LINEAR, 0},
                {"w_init", RH_DIM_RANGE, RH_LINEAR, 0},
                {"one_minus_lambda", RH_DIM_LIST, RH_LOG, 0},
                {"log2_tilings", RH_DIM_RANGE, RH_LINEAR, 1},
                {"features", RH_DIM_NAMES, RH_LINEAR, 0}};
    assert_int_equal(plan->space.ndim, 7);
    for (int k = 0; k < 7; k++) {
        assert_string_equal(d[k].name, want[k].name);
        assert_int_equal(d[k].kind, want[k].kind);
        assert_int_equal(d[k].scale, want[k].scale);
        assert_true(d[k].step == want[k].step);
    }
    assert_true(d[4].value[0] == 0.05);
    assert_true(d[4].value[1] == 0.5);
    assert_true(d[5].lo == 2.0);
    assert_true(d[5].hi == 5.0);

    // as the agent sees them
    double x[] = {0.01, 0.9, 1.5, 2.0, 0.05, 5.0, 1.0}, hp[32];
    rh_plan__hp(plan, x, hp);
    const rh_agent_type *agent = plan->agent;
#define HP(name) hp[rh_param_find(agent->param, agent->nparam, name)]
    assert_true(HP("alpha") == 0.01);
    assert_true(HP("beta1") == 0.9);
    assert_true(HP("tau") == 1.5);
    assert_true(HP("w_init") == 2.0);
    assert_true(HP("lambda") == 0.95);
    assert_true(HP("tilings") == 32.0);
    assert_true(HP("features") == 1.0);
    assert_true(HP("tiles") == 8.0);
    assert_true(HP("beta2") == 0.999);
    rh_plan_destroy(plan);
}

static void refusals(void **unused)
{
    (void)unused;
#define P FILE_NAME ":2: "
    static const struct {
        const char *text, *message;
    } row[] = {
        {"alpha: {}", P "parameters.alpha = a mapping, expected value, values, or both min and "
                        "max"},
        {"alpha: {min: 0.1}", P "parameters.alpha = a mapping, expected value, values, or both "
                                "min and max"},
        {"alpha: {values: []}", P "parameters.alpha.values = a list, expected one value or "
                                  "more"},
        {"alpha: {values: 3}", P "parameters.alpha.values = 3, expected a list of values"},
        {"alpha: {value: [3]}", P "parameters.alpha.value = a list, expected a number, 1e-08 "
                                  "to 100"},
        {"alpha: {min: 1, max: 0.1}", P "alpha: 1 to 0.1, expected the smaller number first"},
        {"alpha: {min: x, max: 1}", P "parameters.alpha.min = x, expected a number, 1e-08 to "
                                      "100"},
        {"alpha: {min: 0.1, max: 1000}", P "parameters.alpha.max = 1000, expected a number, "
                                           "1e-08 to 100"},
        {"alpha: {values: [0.1, 0x10]}", P "parameters.alpha.values = 0x10, expected a number, "
                                           "1e-08 to 100"},
        {"alpha: {values: [0.1, 0.1]}", P "alpha: 0.1 is listed twice"},
        {"tilings: {min: 1.5, max: 3}", P "parameters.tilings.min = 1.5, expected a whole "
                                          "number, 1 to 64"},
        {"tilings: {min: 1, max: 8, q: 0.5}", P "parameters.tilings.q = 0.5, expected a whole "
                                                "number above 0"},
        {"tilings: {min: 3, max: 5, q: 7}", P "tilings: no multiple of 7 between 3 and 5"},
        {"alpha: {min: 0.1, max: 1, q: 0}", P "parameters.alpha.q = 0, expected a number above "
                                              "0"},
        {"alpha: {min: 0.1, max: 1, q: 1e-300}",
         P "alpha: step = 1e-300 is too small for 0.1 to 1"},
        {"alpha: {distribution: uniform, min: 0.1, max: 1, q: 1}",
         P "parameters.alpha.q = 1, expected no q: it is for q_uniform and "
           "q_log_uniform_values"},
        {"w_init: {distribution: log_uniform_values, min: 0, max: 1}",
         P "w_init: 0 to 1 on a log scale, expected numbers above 0"},
        {"w_init: {distribution: int_uniform, min: 0.5, max: 1}",
         P "w_init: int_uniform needs whole numbers for min and max"},
        // exponents
        {"alpha: {distribution: log_uniform, min: 0.0001, max: 0.1}",
         P "alpha: log_uniform from e^0.0001 to e^0.1: its bounds are exponents, "
           "and these look like values; use log_uniform_values"},
        {"alpha: {distribution: log_uniform, min: 0, max: 1}",
         P "alpha: log_uniform from e^0 to e^1: its bounds are exponents, and "
           "these look like values; use log_uniform_values"},
        {"tau: {distribution: log_uniform, min: 0.1, max: 10}",
         P "tau: log_uniform from e^0.1 to e^10: its bounds are exponents, and "
           "these look like values; use log_uniform_values"},
        {"tau: {distribution: log_uniform, min: 10, max: 100}",
         P "parameters.tau.max = 100, expected an exponent: log_uniform is from "
           "e^min to e^max, and it takes a number, 1e-06 to 1000000; for values "
           "use log_uniform_values"},
        {"tau: {distribution: log_uniform, min: a, max: 1}",
         P "parameters.tau.min = a, expected an exponent: log_uniform is from e^min to e^max"},
        {"tau: {distribution: log_uniform, min: -2, max: -9}",
         P "tau: log_uniform from e^-2 to e^-9, expected the smaller number first"},
        {"tau: {distribution: q_log_uniform_values, min: 1e-6, max: 1, q: 1e4}",
         P "tau: no multiple of 10000 between 1e-06 and 1"},
        // what W&B has
        {"alpha: {distribution: normal, mu: 0, sigma: 1}",
         P "alpha: normal: a search needs bounds: use uniform or "
           "log_uniform_values with min and max"},
        {"alpha: {distribution: beta, a: 1, b: 2}",
         P "alpha: beta: a search needs bounds: use uniform or log_uniform_values "
           "with min and max"},
        {"alpha: {mu: 0, sigma: 1}",
         P "alpha: mu: a search needs bounds: use uniform or log_uniform_values "
           "with min and max"},
        {"alpha: {distribution: inv_log_uniform_values, min: 1, max: 2}",
         P "alpha: inv_log_uniform_values: it is log_uniform_values with the "
           "bounds inverted: use that; for values near 1 use one_minus"},
        {"alpha: {values: [0.1, 1], probabilities: [0.5, 0.5]}",
         P "alpha: probabilities: a search does not use probabilities: use values "
           "alone"},
        {"alpha: {parameters: {x: {value: 1}}}",
         P "alpha: parameters: agents have no nested parameters"},
        {"alpha: {distribution: unifrom, min: 0.1, max: 1}",
         P "alpha: no distribution 'unifrom'; did you mean 'uniform'? (constant, categorical, "
           "uniform, int_uniform, q_uniform, log_uniform_values, q_log_uniform_values, "
           "log_uniform, q_log_uniform)"},
        {"alpha: {minimum: 0.1, max: 1}",
         P "alpha: no key 'minimum'; did you mean 'min'? (value, values, min, max, q, "
           "distribution, one_minus, pow2)"},
        {"alpha: {value: 1, min: 0.1, max: 1}",
         P "parameters.alpha = a mapping, expected one of value, values, min and max, "
           "one_minus, pow2"},
        {"alpha: {value: 1, max: 1}", P "parameters.alpha = a mapping, expected value alone"},
        {"alpha: {distribution: uniform, values: [1]}",
         P "parameters.alpha = a mapping, expected values alone"},
        {"alpha: {distribution: constant, values: [1]}",
         P "parameters.alpha = a mapping, expected value alone"},
        {"alpha: {distribution: categorical, min: 1, max: 2}",
         P "parameters.alpha = a mapping, expected values alone"},
        // names
        {"optimiser: {values: [adam, adm]}",
         P "esarsa: optimiser cannot be 'adm'; did you mean 'adam'? (adam, sgd)"},
        {"optimiser: {min: adam, max: sgd}",
         P "parameters.optimiser = a mapping, expected values: it has names, which have no "
           "range"},
        {"optimiser: {pow2: {min: 1, max: 2}}",
         P "parameters.optimiser = a mapping, expected values: it has names, not numbers"},
        {"alpa: {min: 1, max: 2}",
         P "esarsa: no parameter 'alpa'; did you mean 'alpha'? (alpha, beta1, tau, w_init, "
           "lambda, beta2, tilings, tiles, features, optimiser)"},
        // forms
        {"lambda: {one_minus: {min: 0.1, max: 2}}",
         P "parameters.lambda.one_minus.max = 2, expected 1 minus a number, 0 to 1"},
        {"tilings: {one_minus: {min: 0.1, max: 2}}",
         P "parameters.tilings = a mapping, expected no one_minus: it is for numbers up to 1"},
        {"tilings: {pow2: {min: 2, max: 7}}",
         P "parameters.tilings.pow2.max = 7, expected a whole power of 2 of a whole number, 1 "
           "to 64"},
        {"tilings: {pow2: {min: 2.5, max: 3}}", P
         "parameters.tilings.pow2.min = 2.5, expected a whole power of 2 of a whole number, 1 "
         "to 64"},
        {"tilings: {pow2: {min: 2, max: 3, distribution: log_uniform_values}}",
         P "tilings: pow2 is a log scale already: leave distribution out"},
        {"lambda: {one_minus: {min: 0.1, max: 1}, distribution: uniform}",
         P "parameters.lambda = a mapping, expected one_minus or pow2 alone"},
        {"lambda: {one_minus: {pow2: {min: 1, max: 2}}}",
         P "parameters.lambda.one_minus = a mapping, expected value, values, or both min and "
           "max"},
        {"alpha: {min: 0.1,\n max: 1000}",
         FILE_NAME ":3: parameters.alpha.max = 1000, expected a number, 1e-08 to 100"},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300];
        snprintf(text, sizeof text, "agent: esarsa\nparameters: {%s}\n", row[i].text);
        wrong += refused(text, row[i].message);
    }
    assert_int_equal(wrong, 0);
}

// By ratios the multiples of a step begin with the first, however small min is: 0 has no
// logarithm.
static void no_multiple_at_zero(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("method: random\nparameters: {tau: {distribution: "
                            "q_log_uniform_values, min: 1e-6, max: 3e4, q: 1e4}}\n",
                            3);
    assert_true(rh_space__count(&plan->space) == 3.0);
    for (int i = 0; i <= 10; i++) {
        double u = 0.1 * i, x = NAN;
        rh_space__place(&plan->space, &u, &x);
        assert_true(x == 1e4 || x == 2e4 || x == 3e4);
    }
    rh_plan_destroy(plan);
}

// On the command line.
static void trials(void **unused)
{
    (void)unused;
    static const struct {
        const char *param, *text, *entry, *value;
    } good[] = {
        {"alpha", "0.1", "agent.alpha", "0.1"},
        {"alpha", "0.3, 0.1, 1", "parameters.alpha", "{values: [0.1, 0.3, 1]}"},
        {"alpha", "0.3,0.1,1", "parameters.alpha", "{values: [0.1, 0.3, 1]}"},
        {"alpha", "0.01:1", "parameters.alpha",
         "{distribution: log_uniform_values, min: 0.01, max: 1}"},
        {"lambda", "0.01:1:log", "parameters.lambda",
         "{distribution: log_uniform_values, min: 0.01, max: 1}"},
        {"alpha", "0.01:1:linear", "parameters.alpha",
         "{distribution: uniform, min: 0.01, max: 1}"},
        {"tilings", "1:8:int", "parameters.tilings",
         "{distribution: int_uniform, min: 1, max: 8}"},
        {"lambda", "0:1:0.25", "parameters.lambda",
         "{distribution: q_uniform, min: 0, max: 1, q: 0.25}"},
        {"optimiser", "sgd,adam", "parameters.optimiser", "{values: [adam, sgd]}"},
        {"lambda", "{one_minus: {min: 0.1, max: 0.2}}", "parameters.lambda",
         "{one_minus: {distribution: log_uniform_values, min: 0.1, max: 0.2}}"},
    };
    static const struct {
        const char *param, *text, *message;
    } bad[] = {
        {"alpha", "1:2:x",
         "--set: alpha = 1:2:x, expected 0.1 or 0.1,0.3,1 or 0.01:1, "
         "0.01:1:log, 0:1:linear, 1:8:int or 0:1:0.25"},
        {"alpha", "1:2:3:4",
         "--set: alpha = 1:2:3:4, expected 0.1 or 0.1,0.3,1 or 0.01:1, "
         "0.01:1:log, 0:1:linear, 1:8:int or 0:1:0.25"},
        {"alpha", ":", "--set: alpha.min = nothing, expected a number, 1e-08 to 100"},
        {"alpha", "0.1,", "--set: alpha.values = nothing, expected a number, 1e-08 to 100"},
        {"alpha", "", "--set: alpha = nothing, expected a number, 1e-08 to 100"},
        {"alpha", "1:0.5", "--set: alpha: 1 to 0.5, expected the smaller number first"},
        {"alpha", "{min: 1", "--set: not YAML: did not find expected ',' or '}'"},
        {"alpa", "1,2",
         "--set: esarsa: no parameter 'alpa'; did you mean 'alpha'? (alpha, beta1, "
         "tau, w_init, lambda, beta2, tilings, tiles, features, optimiser)"},
    };
    rh_log *log = make_log(3, 4, true);
    int wrong = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        rh_error err = {""};
        rh_plan *plan = new_plan();
        rh_status rc = good[i].text[0] == '{'
                           ? rh_plan_set(plan, "parameters.lambda", good[i].text, NULL, &err)
                           : rh_plan_try(plan, good[i].param, good[i].text, "--set", &err);
        rc = rc ? rc : rh_plan_settle(plan, log, &err);
        const char *value = rc ? err.text : entry(plan, good[i].entry);
        if (!value || strcmp(value, good[i].value) != 0)
            wrong += complain("%s=%s: %s\n", good[i].param, good[i].text, value ? value : "-");
        rh_plan_destroy(plan);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_error err = {""};
        rh_plan *plan = new_plan();
        char key[40];
        snprintf(key, sizeof key, "parameters.%s", bad[i].param);
        rh_status rc = rh_plan_set(plan, key, bad[i].text, "--set", &err);
        rc = rc ? rc : rh_plan_settle(plan, log, &err);
        if (rc != RH_EINVAL || strcmp(err.text, bad[i].message) != 0)
            wrong += complain("%s=%s: %s\n", bad[i].param, bad[i].text, err.text);
        rh_plan_destroy(plan);
    }
    rh_log_destroy(log);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),    cmocka_unit_test(kinds_and_scales),
        cmocka_unit_test(refusals), cmocka_unit_test(no_multiple_at_zero),
        cmocka_unit_test(trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
