// test_plan_settle.c - what a log decides: the agent, the method, the budget; and how runs are
// run.

#include "base/base_internal.h"
#include "base/findings.h"
#include "plans.h"
#include "study/study.h"

static void agents(void **unused)
{
    (void)unused;
    // those that suit the log's actions, what was practised, and a clone of its controller
    static const struct {
        const char *text;
        int naction;
        const char *agent[5];
    } row[] = {
        {"", 3, {"dqn", "esarsa", "practised", "clone"}},
        {"", 0, {"td3", "practised", "clone"}},
        {"agent: auto", 3, {"dqn", "esarsa", "practised", "clone"}},
        {"parameters: {tau: [1, 2]}", 3, {"esarsa"}},
        {"grid: acrobot:paper", 3, {"esarsa"}},
        {"parameters: {dqn.rate: 0.001}", 3, {"dqn", "esarsa", "practised", "clone"}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        rh_plan *plan = settled(row[i].text, row[i].naction);
        for (int a = 0; row[i].agent[a]; a++)
            assert_string_equal(plan->agents.type[a]->name, row[i].agent[a]);
        assert_null(plan->agents.n < 5 ? row[i].agent[plan->agents.n] : "");
        rh_plan_destroy(plan);
    }
    int wrong = refused_by(
        "seed: 1\nagent: esarsa", 0,
        FILE_NAME ":2: esarsa cannot take the log's continuous actions; agents that can: "
                  "{continuous}");
    wrong += refused("agent: gaussian_actor_critic", FILE_NAME
                     ":1: gaussian_actor_critic cannot take the log's discrete actions; "
                     "agents that can: {discrete}");
    assert_int_equal(wrong, 0);
}

static void methods(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *method;
        int trials, batch, nrun;
    } row[] = {
        {"agent: esarsa", "bayes", 100, 4, 10},
        {"", "bayes", 24, 4, 2},
        {"budget: {time: 10m}", "bayes", 1000, 4, 2},
        {"parameters: {tau: [1, 2]}", "race", 2, 1, 30},
        {"parameters: {tau: [1, 2]}\nevaluation: {runs: 5}", "race", 2, 1, 5},
        {"parameters: {tau: [1, 2]}\nevaluation: {across: median}", "grid", 2, 1, 10},
        {"parameters: {tau: [1, 2]}\nevaluation: {across: lower}", "race", 2, 1, 30},
        {"parameters: {tilings: {min: 1, max: 64}, tiles: {min: 1, max: 8}}", "race", 512, 1,
         30},
        {"parameters: {tilings: {min: 1, max: 64}, tiles: {min: 1, max: 9}}", "bayes", 100, 4,
         10},
        {"agent: esarsa\nmethod: random", "random", 100, 1, 10},
        {"method: random\nbudget: {trials: 7}", "random", 7, 1, 2},
        {"method: cem\nagent: esarsa", "cem", 1000000, 1, 10},
        {"method: grid\nparameters: {tau: [1, 2]}\nrun_cap: 2", "grid", 2, 1, 10},
        {"budget: {batch: 16}", "bayes", 24, 16, 2},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        rh_plan *plan = settled(row[i].text, 3);
        if (strcmp(plan->method->name, row[i].method) != 0 || plan->trials != row[i].trials ||
            plan->batch != row[i].batch || plan->nrun != row[i].nrun)
            wrong += complain("%s: %s %d %d %d\n", row[i].text, plan->method->name,
                              plan->trials, plan->batch, plan->nrun);
        rh_plan_destroy(plan);
    }
    assert_int_equal(wrong, 0);
}

// A study that was not judged has check: 0 in its folder; judged later it is as if from the
// start.
static void checks(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *check;
    } row[] = {{"", "1"},
               {"agent: esarsa", "3"},
               {"verdict: none", "0"},
               {"check: 0\nverdict: quick", "1"},
               {"agent: esarsa\ncheck: 0\nverdict: quick", "3"},
               {"check: 2", "2"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        rh_plan *plan = settled(row[i].text, 3);
        assert_string_equal(entry(plan, "check"), row[i].check);
        rh_plan_destroy(plan);
    }
}

static void refusals(void **unused)
{
    (void)unused;
#define F FILE_NAME ":"
    static const struct {
        const char *text, *message;
    } row[] = {
        {"method: race\nevaluation: {across: worst}\nparameters: {tau: [1, 2]}",
         F "2: evaluation.across: race compares means of runs; use mean or lower, "
           "or another method"},
        {"method: grid\nagent: esarsa",
         F "1: grid: alpha may be any number from 0.001 to 1, expected values "
           "or a step; methods bayes, random and cem need none"},
        {"method: grid\nparameters: {tilings: {min: 1, max: 64}, tiles: {min: 1, max: 256}, "
         "lambda: {min: 0, max: 1, q: 0.0001}}",
         F "1: grid: a grid of 163,856,384 settings, expected at most 1,000,000: fewer values, "
           "or method bayes or random"},
        {"method: grid\nparameters: {tau: [1, 2, 3]}\nbudget: {trials: 2}",
         F "3: budget.trials = 2, but grid tries all 3 settings"},
        {"evaluation: {steps: 10, curve: 20}",
         F "1: evaluation.curve = 20, expected at most one point for each step of a run"},
        {"method: {name: random, point: quasi}",
         F "1: random: no parameter 'point'; did you mean 'points'? (points)"},
        {"bayes: {acquisition: ucb}\nmethod: {name: bayes, acquisition: ei}",
         F "2: method.acquisition is given twice, first in line 1 as bayes.acquisition"},
        {"method: {name: bayes,\n acquisition: ei}\nbayes: {acquisition: ucb}",
         F "3: bayes.acquisition is given twice, first in line 2 as method.acquisition"},
        {"cem: {rate: 7}", F "1: cem.rate = 7, expected a number, 1e-06 to 1"},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        wrong += refused(row[i].text, row[i].message);
    assert_int_equal(wrong, 0);
}

// What can be refused without a log is.
static void before_the_log(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        rh_status rc;
    } row[] = {{"", RH_OK},
               {"parameters: {alpa: [1, 2]}", RH_OK}, // nobody knows the agent yet
               {"agent: esarsa\nparameters: {alpa: [1, 2]}", RH_EFORMAT},
               {"agent: esarsa\nparameters: {alpha: [1, 200]}", RH_EFORMAT},
               {"agent: esarsa\nmethod: grid", RH_EFORMAT},
               {"bayes: {acquisition: x}", RH_EFORMAT},
               {"model: {k: 0}", RH_EFORMAT},
               {"ranges: {nobody: [0, 1]}", RH_OK},
               {"ranges: {nobody: [1, 0]}", RH_EFORMAT}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        rh_plan *plan = plan_of(row[i].text);
        rh_error err = {""};
        if (rh_plan_check(plan, &err) != row[i].rc)
            fail_msg("%s: %s", row[i].text, err.text);
        const char *key, *value;
        bool open;
        assert_false(rh_plan_entry(plan, 0, &key, &value, &open));
        rh_plan_destroy(plan);
    }
}

static void results(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        bool continuing;
        int64_t nstep, cutoff;
        int ncurve;
    } row[] = {
        {"", false, 3000, 100, 20},                       // a thirtieth
        {"evaluation: {steps: 150}", false, 150, 21, 20}, // twice the median episode of 10.5
        {"", true, 3000, INT64_MAX, 20},
        {"evaluation: {cutoff: never}", false, 3000, INT64_MAX, 20},
        {"evaluation: {cutoff: 40}", false, 3000, 40, 20},
        {"evaluation: {cutoff: 1/30, steps: 150}", false, 150, 5, 20},
        {"evaluation: {cutoff: 1/30, steps: 7}", false, 7, 1, 7},
        {"evaluation: {cutoff: 1/30}", true, 3000, INT64_MAX, 20},
        {"evaluation: {curve: 0}", false, 3000, 100, 0},
    };
    rh_log *log = make_log(3, 20, true);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        rh_task task = {.nobs = 2, .naction = 3, .nact = 1, .nstep = 3000};
        rh_eval_options opt;
        rh_error err = {""};
        task.continuing = row[i].continuing;
        rh_plan *plan = settled(row[i].text, 3);
        assert_int_equal(rh_plan__eval(plan, &task, log, &opt, &err), RH_OK);
        if (opt.nstep != row[i].nstep || opt.cutoff != row[i].cutoff ||
            opt.ncurve != row[i].ncurve)
            fail_msg("%s: %lld steps, cut-off %lld, %d points", row[i].text,
                     (long long)opt.nstep, (long long)opt.cutoff, opt.ncurve);
        rh_plan_destroy(plan);
    }

    rh_task task = {.nobs = 2, .naction = 3, .nact = 1, .nstep = 3000};
    rh_eval_options opt;
    rh_error err = {""};
    rh_plan *plan = settled("seed: 9\nevaluation: {runs: 4, criterion: final, cutoff_as: "
                            "terminate}\nmethod: random",
                            3);
    assert_int_equal(rh_plan__eval(plan, &task, log, &opt, &err), RH_OK);
    assert_int_equal(opt.seed, 9);
    assert_int_equal(opt.nrun, 4);
    assert_int_equal(opt.criterion, RH_FINAL);
    assert_int_equal(opt.cutoff_rule, RH_TERMINATE);
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_plan__eval(plan, &task, log, &opt, &err), RH_ENOMEM);
    rh_base__alloc_fail_at(0);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// Errors that are not accepted: the first, and how many more there are.
static void errors_of_the_log(void **unused)
{
    (void)unused;
    static const char *const more[] = {"log: row-shift: late; fix",
                                       "late (and 1 more error); fix",
                                       "late (and 2 more errors); fix"};
    static const rh_finding_id id[] = {RH_FINDING_ROW_SHIFT, RH_FINDING_NEXT_SHIFT,
                                       RH_FINDING_MIXED_REGIMES};
    rh_plan *plan = settled("seed: 1", 3);
    rh_log_report report = {0};
    assert_int_equal(rh_plan_accept(plan, &report, NULL), RH_OK);
    assert_true(rh_findings__begin(&report.findings, RH_OF_LOG));
    rh_findings__add(&report.findings, RH_WARNING, RH_FINDING_ALTERNATING_ROWS, 1, "a warning");
    assert_int_equal(rh_plan_accept(plan, &report, NULL), RH_OK);
    for (int i = 0; i < 3; i++) {
        rh_error err = {""};
        rh_findings__add(&report.findings, RH_ERROR, id[i], 1, "%s", i ? "other" : "late");
        assert_int_equal(rh_plan_accept(plan, &report, &err), RH_EINVAL);
        if (!strstr(err.text, more[i]) || !strstr(err.text, "accept: row-shift"))
            fail_msg("%s", err.text);
    }
    rh_findings__clear(&report.findings);
    rh_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents),
        cmocka_unit_test(methods),
        cmocka_unit_test(checks),
        cmocka_unit_test(refusals),
        cmocka_unit_test(before_the_log),
        cmocka_unit_test(results),
        cmocka_unit_test(errors_of_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
