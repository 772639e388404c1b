// test_plan_take.c - values of keys: each taken where it belongs, and refused by name.

#include "plans.h"

// Every simple key with a right value, what becomes an entry, and a wrong one with its message.
static void every_key(void **unused)
{
    (void)unused;
    static const struct {
        const char *key, *right, *entry, *value, *wrong, *message;
    } row[] = {
        {"agent", "actor_critic", "agent.name", "actor_critic", "sarsa",
         "--x: no agent 'sarsa'; did you mean 'esarsa'? ({agents})"},
        {"method", "random", "method", "random", "bays",
         "--x: no search 'bays'; did you mean 'bayes'? ({searches})"},
        {"budget.trials", "1e3", "budget.trials", "1000", "0",
         "--x = 0, expected a whole number, 1 to 1,000,000"},
        {"run_cap", "50", "budget.trials", "50", "many",
         "--x = many, expected a whole number, 1 to 1,000,000"},
        {"batch", "8", "budget.batch", "8", "0.5",
         "--x = 0.5, expected a whole number, 1 to 10,000"},
        {"evaluation.steps", "15000", "evaluation.steps", "15000", "-1",
         "--x = -1, expected a whole number, 1 to 1,000,000,000,000, or auto"},
        {"steps", "auto", "evaluation.steps", "auto", "",
         "--x = nothing, expected a whole number, 1 to 1,000,000,000,000, or auto"},
        {"runs", "7", "evaluation.runs", "7", "ten",
         "--x = ten, expected a whole number, 1 to 1,000,000"},
        {"criterion", "median", "evaluation.criterion", "median", "medain",
         "--x cannot be 'medain'; did you mean 'median'? (average, completed, median, worst, "
         "final, mean_return)"},
        {"metric.name", "mean_return", "evaluation.criterion", "average", "x",
         "--x cannot be 'x'; expected one of average, completed, median, worst, final, "
         "mean_return"},
        {"metric", "final", "evaluation.criterion", "final", "loss",
         "--x cannot be 'loss'; expected one of average, completed, median, worst, final, "
         "mean_return"},
        {"metric.goal", "maximize", "evaluation.criterion", "average", "minimize",
         "--x: metric.goal = minimize: returns are maximised; where less is "
         "better, negate the reward (reward: -energy)"},
        {"across", "lower", "evaluation.across", "lower", "mena",
         "--x cannot be 'mena'; did you mean 'mean'? (mean, median, worst, lower)"},
        {"pool", "quartile", "evaluation.pool", "quartile", "x",
         "--x cannot be 'x'; expected one of mean, worst, quartile"},
        {"cutoff", "500", "evaluation.cutoff", "500", "0",
         "--x = 0, expected auto, never, a number of steps such as 500, or a part of the run "
         "such as 1/30"},
        {"cutoff", "never", "evaluation.cutoff", "never", "1/0",
         "--x = 1/0, expected auto, never, a number of steps such as 500, or a part of the "
         "run such as 1/30"},
        {"cutoff", "1/30", "evaluation.cutoff", "1/30", "2/30",
         "--x = 2/30, expected auto, never, a number of steps such as 500, or a part of the "
         "run such as 1/30"},
        {"cutoff_as", "terminate", "evaluation.cutoff_as", "terminate", "end",
         "--x cannot be 'end'; expected one of truncate, terminate"},
        {"curve", "64", "evaluation.curve", "64", "65",
         "--x = 65, expected a whole number, 0 to 64"},
        {"model", "nn", "model.kind", "nn", "gp",
         "--x: no model 'gp'; expected one of knn, nn"},
        {"members", "3", "model.members", "3", "257",
         "--x = 257, expected a whole number, 1 to 256"},
        {"resample", "bootstrap", "model.resample", "bootstrap", "some",
         "--x cannot be 'some'; expected one of all, subset, bootstrap"},
        {"k", "5", "model.k", "5", "0", "--x: k = 0, expected a whole number, 1 to 64"},
        {"reach", "95%", "model.reach_quantile", "0.95", "101%",
         "--x: reach = 101%, expected auto, none, a share of all queries such as 99%, or a "
         "distance such as 0.3"},
        {"reach", "0.3", "model.reach_distance", "0.3", "-1",
         "--x: reach = -1, expected auto, none, a share of all queries such as 99%, or a "
         "distance such as 0.3"},
        {"model.weights", "kernel", "model.weights", "kernel", "x",
         "--x: knn: weights cannot be 'x'; expected one of paper, inverse, uniform, kernel"},
        {"representation", "raw", "representation.kind", "raw", "rav",
         "--x: no representation 'rav'; did you mean 'raw'? (laplacian, random, raw)"},
        {"representation", "auto", "representation.kind", "auto", "",
         "--x = nothing, expected a name"},
        {"representation.preset", "puddle_world", "representation.window", "10", "x",
         "--x: no preset of a representation 'x'; expected one of acrobot, acrobot-exp2, "
         "cartpole, puddle_world, puddle_world-exp2"},
        {"representation.d", "4", "representation.d", "4", "1.5",
         "--x: d = 1.5, expected a whole number, 1 to 64"},
        {"representation.half", "true", "representation.half", "yes", "maybe",
         "--x: laplacian: half cannot be 'maybe'; expected one of no, yes"},
        {"task", "puddle_world", "task.env", "puddle_world", "puddle",
         "--x: no environment 'puddle'; did you mean 'puddle_world'? ({envs})"},
        {"gamma", "0.9", "gamma", "0.9", "1.1",
         "--x = 1.1, expected a number, 0 to 1, or auto"},
        {"gamma", "auto", "gamma", "auto", "x", "--x = x, expected a number, 0 to 1, or auto"},
        {"continuing", "true", "continuing", "yes", "maybe",
         "--x cannot be 'maybe'; expected one of auto, no, yes"},
        {"ranges.temp", "0:100", "ranges.temp", "[0, 100]", "3:1",
         "--x: temp = 3:1, expected LO:HI with LO below HI"},
        {"ranges.level", "[-1, 1e3]", "ranges.level", "[-1, 1000]", "[1]",
         "--x: level = a list, expected LO:HI with LO below HI"},
        {"confirm", "3", "confirm.settings", "3", "1001",
         "--x = 1001, expected true, false or a number of settings, 0 to 1,000"},
        {"confirm", "false", "confirm.settings", "0", "x",
         "--x = x, expected true, false or a number of settings, 0 to 1,000"},
        {"confirm", "yes", "confirm.settings", "8", "-1",
         "--x = -1, expected true, false or a number of settings, 0 to 1,000"},
        {"confirm.settings", "4", "confirm.settings", "4", "x",
         "--x = x, expected a whole number, 0 to 1,000"},
        {"confirm.members", "9", "confirm.members", "9", "0",
         "--x = 0, expected a whole number, 1 to 256"},
        {"confirm.runs", "2", "confirm.runs", "2", "0",
         "--x = 0, expected a whole number, 1 to 1,000,000"},
        {"seed", "9223372036854775807", "seed", "9223372036854775807", "-1",
         "--x = -1, expected a whole number, 0 to 9,223,372,036,854,775,807"},
        {"bayes.compat", "paper", "bayes.compat", "paper", "x",
         "--x: bayes: compat cannot be 'x'; expected one of none, paper"},
        {"method.compat", "paper", "bayes.compat", "paper", "1",
         "--x: bayes: compat cannot be '1'; expected one of none, paper"},
        {"agent.alpha", "0.5", "agent.alpha", "0.5", "-1",
         "--x: alpha = -1, expected a number, 1e-08 to 100"},
        {"parameters.tau", "1,10", "parameters.tau", "{values: [1, 10]}", "0",
         "--x: tau = 0, expected a number, 1e-06 to 1000000"},
        {"preset", "none", "preset", "none", "papers",
         "--x cannot be 'papers'; did you mean 'paper'? (none, paper)"},
    };
    rh_log *log = make_log(3, 4, true);
    int wrong = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        rh_error err = {""};
        int64_t live = rh_alloc_live();
        rh_plan *plan = new_plan();
        rh_status rc = rh_plan_set(plan, row[i].key, row[i].right, "--x", &err);
        if (!rc)
            rc = rh_plan_settle(plan, log, &err);
        if (rc)
            wrong += complain("%s = %s: %s\n", row[i].key, row[i].right, err.text);
        const char *value = entry(plan, row[i].entry);
        if (!value || strcmp(value, row[i].value) != 0)
            wrong += complain("%s = %s: %s is %s\n", row[i].key, row[i].right, row[i].entry,
                              value ? value : "missing");
        rc = rh_plan_set(plan, row[i].key, row[i].wrong, "--x", &err);
        if (!rc)
            rc = rh_plan_settle(plan, log, &err);
        assert_int_equal(rc, RH_EINVAL);
        if (strcmp(err.text, with_names(row[i].message)) != 0)
            wrong += complain("%s = %s\n  found    %s\n  expected %s\n", row[i].key,
                              row[i].wrong, err.text, with_names(row[i].message));
        rh_plan_destroy(plan);
        assert_int_equal(rh_alloc_live(), live);
    }
    rh_log_destroy(log);
    assert_int_equal(wrong, 0);
}

static void texts(void **unused)
{
    (void)unused;
    rh_plan *plan = new_plan();
    rh_error err = {""};
    assert_int_equal(rh_plan_set(plan, "name", "pumps", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_set(plan, "data", "[a].csv", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_set(plan, "starts", "model:x", NULL, &err), RH_OK);
    assert_string_equal(plan->name, "pumps");
    assert_string_equal(plan->data, "[a].csv");
    assert_string_equal(plan->starts, "model:x");
    assert_int_equal(rh_plan_set(plan, "name", "", NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "name = nothing, expected a text");
    rh_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
