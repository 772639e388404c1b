// test_plan_table.c - every key: accepted by file and command line alike, refused by name.

#include "base/base_internal.h"
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
        {"budget.time", "2m", "budget.time", "120", "soon",
         "--x = soon, expected a time such as 90s, 10m or 2h, or none"},
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
         "--x: no model 'gp'; expected one of knn, nn, linear"},
        {"members", "3", "model.members", "3", "257",
         "--x = 257, expected a whole number, 1 to 256"},
        {"resample", "bootstrap", "model.resample", "bootstrap", "some",
         "--x cannot be 'some'; expected one of all, subset, bootstrap, parts"},
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
        {"at_most", "temp > 90: 1 %; level < 0: 3 per 1000 steps", "at_most",
         "\"temp > 90: 1 %; level < 0: 3 per 1000 steps\"", "temp > 90",
         "--x = 'temp > 90', expected EVENT: RATE, such as 'trip: 2 per 1000 steps', 'T > 90: "
         "0.1 %' or 'T > 90: 5 % of episodes'"},
        {"also", "-temp", "also", "\"-temp\"", "tmp",
         "--x: no sensor or action 'tmp'; did you mean 'temp'? (temp, level, action, reward); "
         "a model has no other columns, such as parts of the reward: make the column a sensor, "
         "--obs"},
        {"continuing", "true", "continuing", "yes", "maybe",
         "--x cannot be 'maybe'; expected one of auto, no, yes"},
        {"ranges.temp", "0:100", "ranges.temp", "[0, 100]", "3:1",
         "--x: temp = 3:1, expected LO:HI with LO below HI"},
        {"ranges.level", "[-1, 1e3]", "ranges.level", "[-1, 1000]", "[1]",
         "--x: level = a list, expected LO:HI with LO below HI"},
        {"resets", "none", "resets", "none", "all",
         "--x cannot be 'all'; expected one of auto, none"},
        {"limits.temp", "0:100", "limits.temp", "[0, 100]", ":",
         "--x: temp = :, expected LO:HI with LO below HI, LO: or :HI"},
        {"limits.temp", ":47", "limits.temp", "[~, 47]", "3:1",
         "--x: temp = 3:1, expected LO:HI with LO below HI, LO: or :HI"},
        {"limits.level", "-1e3:", "limits.level", "[-1000, ~]", "1:2:3",
         "--x: level = 1:2:3, expected LO:HI with LO below HI, LO: or :HI"},
        {"limits.level", "[~, 1e3]", "limits.level", "[~, 1000]", "[~, ~]",
         "--x: level = [~, ~], expected LO:HI with LO below HI, LO: or :HI"},
        {"limits.level", "[, 3]", "limits.level", "[~, 3]", "[,]",
         "--x: level = a list, expected LO:HI with LO below HI, LO: or :HI"},
        {"limits.level", "[2]", "limits.level", "[2, ~]", "[1, 2, 3]",
         "--x: level = a list, expected LO:HI with LO below HI, LO: or :HI"},
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
        {"confirm.kinds", "stitching, network", "confirm.kinds", "stitching,network", "knn",
         "--x = knn, expected auto, chosen, or kinds of model: stitching, carrying, network, "
         "linear"},
        {"confirm.kinds", "chosen", "confirm.kinds", "chosen", "",
         "--x = nothing, expected auto, chosen, or kinds of model: stitching, carrying, "
         "network, linear"},
        {"confirm.kinds", "auto", "confirm.kinds", "auto", "network,x",
         "--x = network,x, expected auto, chosen, or kinds of model: stitching, carrying, "
         "network, linear"},
        {"verdict", "none", "check", "0", "full",
         "--x cannot be 'full'; expected one of none, quick"},
        {"verdict", "quick", "check", "1", "1",
         "--x cannot be '1'; expected one of none, quick"},
        {"check", "5", "check", "5", "-1", "--x = -1, expected a whole number, 0 to 1,000,000"},
        {"seed", "9223372036854775807", "seed", "9223372036854775807", "-1",
         "--x = -1, expected a whole number, 0 or more"},
        {"bayes.acquisition", "ucb", "bayes.acquisition", "ucb", "x",
         "--x: bayes: acquisition cannot be 'x'; expected one of mixed, ei, ucb"},
        {"method.acquisition", "ucb", "bayes.acquisition", "ucb", "1",
         "--x: bayes: acquisition cannot be '1'; expected one of mixed, ei, ucb"},
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
        int64_t live = rh_base__alloc_live();
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
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_log_destroy(log);
    assert_int_equal(wrong, 0);
}

// ---------------------------------------------------------------------------- every row

// A value of each key that its type does not give, and what it needs beside it.
static const struct {
    const char *key, *name, *value, *with; // name: below a section with names
} sample[] = {
    {"name", NULL, "pumps", ""},
    {"plugins", NULL, RH_SAMPLES "/sample_good.so", ""},
    {"data", NULL, "plant.csv", ""},
    {"starts", NULL, "cold.csv", ""},
    {"accept", NULL, "row-shift,next-shift", ""},
    {"grid", NULL, "acrobot:paper", ""},
    {"metric.goal", NULL, "maximize", ""},
    {"at_most", NULL, "temp > 90:1%", ""},
    {"sure", NULL, "0.9", "at_most: temp > 90:1%"},
    {"also", NULL, "-temp", ""},
    {"evaluation.cutoff", NULL, "1/20", ""},
    {"model.k", NULL, "5", ""},
    {"model.reach", NULL, "95%", ""},
    {"budget.time", NULL, "90s", ""},
    {"confirm", NULL, "3", ""},
    {"confirm.kinds", NULL, "stitching network", ""},
    {"env.*", "gravity", "9.9", ""},
    {"agent.*", "tau", "3", ""},
    {"parameters.*", "alpha", "[0.1, 0.2]", ""},
    {"method.*", "kappa", "2", "method: bayes"},
    {"model.*", "weights", "uniform", ""},
    {"representation.*", "d", "4", ""},
    {"task.*", "gravity", "9.9", "task.env: acrobot"},
    {"ranges.*", "temp", "[0, 1]", ""},
    {"limits.*", "temp", "[0, 1]", ""},
    {"model.share", NULL, "0.5", "model.resample: subset"},
    {"preset", NULL, "paper", "task.env: acrobot"},
    {"evaluation.exec_timeout", NULL, "10", ""},
    {"method", NULL, NULL, "parameters.tau: 1,2"},
    {"evaluation.across", NULL, NULL, "method: random"},
};

// The i-th value to try of a key, NULL after the last.
static const char *value_of(const rh_key *key, int i, char text[32])
{
    for (size_t k = 0; k < sizeof sample / sizeof *sample; k++)
        if (strcmp(sample[k].key, key->key) == 0 && sample[k].value)
            return i == 0 ? sample[k].value : NULL;
    if (key->type == RH_KEY_CHOICE)
        return rh_key_name(key, i);
    if (key->type == RH_KEY_WHOLE)
        snprintf(text, 32, "%lld", (long long)(i ? key->hi < 100 ? key->hi : 100 : key->lo));
    else if (key->type == RH_KEY_REAL)
        snprintf(text, 32, "%g", i ? (double)key->hi : 0.5);
    else if (key->type == RH_KEY_FLAG)
        snprintf(text, 32, "%s", i ? "no" : "yes");
    else
        fail_msg("%s: write a value of it into the table of samples", key->key);
    return i < 2 ? text : NULL;
}

static const char *needs_of(const char *key, const char **name)
{
    for (size_t k = 0; k < sizeof sample / sizeof *sample; k++)
        if (strcmp(sample[k].key, key) == 0) {
            *name = sample[k].name;
            return sample[k].with;
        }
    *name = NULL;
    return "";
}

static int same_entries(const rh_plan *a, const rh_plan *b, const char *key, const char *value)
{
    const char *k[2], *v[2];
    bool open[2], more = true;
    int wrong = 0;
    for (int i = 0; more && !wrong; i++) {
        more = rh_plan_entry(a, i, &k[0], &v[0], &open[0]);
        if (rh_plan_entry(b, i, &k[1], &v[1], &open[1]) != more)
            wrong += complain("%s = %s: not as many entries\n", key, value);
        else if (more && (strcmp(k[0], k[1]) != 0 || strcmp(v[0], v[1]) != 0))
            wrong +=
                complain("%s = %s: %s: %s, but %s: %s\n", key, value, k[0], v[0], k[1], v[1]);
    }
    return wrong;
}

// A key has the same effect from the command line and from a file, and what is written of it
// reads back as the same plan.
static int both_ways(const rh_key *key, const char *value, const rh_log *log)
{
    const char *name, *with = needs_of(key->key, &name), *colon = strchr(with, ':');
    char full[100], yaml[400], needed[100] = "", *text = NULL;
    size_t n = 0;
    rh_error err = {""};
    snprintf(full, sizeof full, "%s", key->key);
    if (name)
        snprintf(full + strlen(full) - 1, 60, "%s", name);
    const char *dot = strchr(full, '.');
    if (dot)
        snprintf(yaml, sizeof yaml, "%.*s: {%s: %s}\n", (int)(dot - full), full, dot + 1,
                 value);
    else
        snprintf(yaml, sizeof yaml, "%s: %s\n", full, value);
    if (colon)
        snprintf(needed, sizeof needed, "%.*s", (int)(colon - with), with);

    rh_plan *line = new_plan(), *file = new_plan(), *again = new_plan();
    rh_plan_command use = key->commands & RH_PLAN_TUNE ? RH_PLAN_TUNE : RH_PLAN_RUN;
    rh_plan_use(line, use);
    rh_plan_use(file, use);
    rh_plan_use(again, use);
    rh_status rc = RH_OK;
    for (int i = 0; i < 2; i++) {
        rh_plan *plan = i ? file : line;
        if (use == RH_PLAN_RUN)
            rc = rh_plan_set(plan, "agent", "esarsa", NULL, &err);
        if (!rc && colon)
            rc = rh_plan_set(plan, needed, colon + 2, NULL, &err);
        if (!rc)
            rc = i ? rh_plan__parse(plan, yaml, strlen(yaml), "study.yaml", &err)
                   : rh_plan_set(plan, full, value, "--x", &err);
        assert_int_equal(rc, RH_OK);
    }
    if (!rc)
        rc = rh_plan_settle(line, log, &err);
    if (!rc)
        rc = rh_plan_settle(file, log, &err);
    int wrong = rc ? complain("%s = %s: %s\n", full, value, err.text) : 0;
    if (!wrong)
        wrong += same_entries(line, file, full, value);
    if (!wrong && use == RH_PLAN_TUNE) {
        FILE *out = open_memstream(&text, &n);
        assert_int_equal(rh_plan_write(file, out, &err), RH_OK);
        fclose(out);
        rc = rh_plan__parse(again, text, n, "study.yaml", &err);
        if (!rc)
            rc = rh_plan_settle(again, log, &err);
        wrong += rc ? complain("%s = %s, written: %s\n", full, value, err.text)
                    : same_entries(file, again, full, value);
        free(text);
    }
    rh_plan_destroy(line);
    rh_plan_destroy(file);
    rh_plan_destroy(again);
    return wrong;
}

static void every_row(void **unused)
{
    (void)unused;
    rh_log *discrete = make_log(3, 4, true), *continuous = make_log(0, 4, true);
    const rh_key *key;
    char text[32];
    const char *value;
    int wrong = 0;
    for (int i = 0; (key = rh_plan_key_at(i)) != NULL; i++) {
        if (!key->about || !key->commands ||
            (key->option && !key->value) != (key->type == RH_KEY_FLAG))
            wrong += complain("%s: a row with gaps\n", key->key);
        for (int k = 0; !key->fixed && (value = value_of(key, k, text)) != NULL; k++) {
            bool named = strcmp(key->key, "agent.name") == 0;
            const rh_agent_type *agent = named ? rh_agent_find(value, NULL) : NULL;
            bool amounts = strcmp(key->key, "representation.joint") == 0 ||
                           (agent && agent->actions == RH_CONTINUOUS);
            if (named && (strcmp(value, "random") == 0 || strcmp(value, "clone") == 0 ||
                          strcmp(value, "practised") == 0))
                continue; // have nothing to search
            wrong += both_ways(key, value, amounts ? continuous : discrete);
        }
    }
    rh_log_destroy(discrete);
    rh_log_destroy(continuous);
    assert_int_equal(wrong, 0);
}

// ---------------------------------------------------------------------------- texts

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
        cmocka_unit_test(every_row),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
