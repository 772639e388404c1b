// test_plan_file.c - study files: what is read of them, where paths start, what is refused.

#include "plans.h"

static void a_whole_file(void **unused)
{
    (void)unused;
    rh_plan *plan =
        settled("name: pumps\n"
                "description: for people\n"
                "project: plant\n"
                "entity: me\n"
                "data:\n"
                "  path: plant.csv\n"
                "  roles: {obs: [temp, level], action: pump, reward: -energy}\n"
                "starts: /abs/starts.csv\n"
                "agent: {name: esarsa, tilings: 8}\n"
                "parameters:\n"
                "  alpha: {distribution: log_uniform_values, min: 1e-4, max: 0.3}\n"
                "  tau: {values: [100, 1, 10]}\n"
                "  lambda: {one_minus: {min: 0.01, max: 0.5}}\n"
                "method: bayes\n"
                "bayes: {acquisition: ucb}\n"
                "cem: {rate: 0.2}\n"
                "metric: {name: mean_return, goal: maximize}\n"
                "evaluation: {steps: 15000, runs: 10, across: median, cutoff: never}\n"
                "model: {kind: knn, k: 5, members: 4, resample: subset, share: 0.5}\n"
                "representation: {kind: laplacian, d: 4, half: yes}\n"
                "task: {env: puddle_world, noise: 0.02}\n"
                "gamma: 0.99\n"
                "continuing: no\n"
                "ranges: {temp: [0, 100], level: [-1.5, 3]}\n"
                "budget: {trials: 200, batch: 8}\n"
                "confirm: {settings: 4, members: 3, runs: 20, kinds: network stitching}\n"
                "seed: 7\n",
                3);
    assert_string_equal(plan->name, "pumps");
    assert_string_equal(plan->data, "dir/plant.csv");
    assert_string_equal(plan->starts, "/abs/starts.csv");
    assert_string_equal(plan->agent->name, "esarsa");
    assert_int_equal(plan->space.ndim, 3);
    assert_string_equal(plan->space.dim[2].name, "one_minus_lambda");
    assert_string_equal(plan->method->name, "bayes");
    assert_int_equal(plan->trials, 200);
    assert_int_equal(plan->batch, 8);
    assert_int_equal(plan->nstep, 15000);
    assert_int_equal(plan->nrun, 10);
    assert_int_equal(plan->across, RH_ACROSS_MEDIAN);
    assert_true(plan->cutoff == INT64_MAX);
    assert_int_equal(plan->fit.nmember, 4);
    assert_int_equal(plan->fit.resample, RH_RESAMPLE_SUBSET);
    assert_true(plan->fit.share == 0.5);
    assert_true(plan->fit.gamma == 0.99);
    assert_int_equal(plan->fit.episodes, RH_EPISODES_END);
    assert_string_equal(plan->task_of->name, "puddle_world");
    assert_int_equal(plan->nrange, 2);
    assert_string_equal(plan->range[0].sensor, "level");
    assert_true(plan->range[0].lo == -1.5);
    assert_true(plan->range[1].hi == 100.0);
    assert_int_equal(plan->confirm_settings, 4);
    assert_int_equal(plan->confirm_members, 3);
    assert_int_equal(plan->confirm_runs, 20);
    assert_string_equal(entry(plan, "confirm.kinds"), "stitching,network");
    assert_int_equal(plan->seed, 7);
    assert_string_equal(entry(plan, "bayes.acquisition"), "ucb");
    assert_null(entry(plan, "cem.rate"));
    assert_string_equal(entry(plan, "task.noise"), "0.02");
    assert_string_equal(entry(plan, "model.k"), "5");
    assert_string_equal(entry(plan, "agent.tilings"), "8");
    rh_plan_destroy(plan);
}

// What stands for a section, and what is passed by.
static void short_forms(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("path: a.csv\nobs: [temp, level]\nroles: {action: pump}\n"
                            "agent: actor_critic\nmodel: nn\nrepresentation: raw\n"
                            "task: puddle_world\nmethod: {name: random, points: quasi}\n"
                            "metric: worst\nrun_cap: 12\nconfirm: false\nseed: ~\nname:\n"
                            "budget:\nparameters:\n  alpha_critic: [0.1, 0.2]\n",
                            3);
    assert_string_equal(plan->data, "dir/a.csv");
    assert_null(plan->name);
    assert_string_equal(plan->agent->name, "actor_critic");
    assert_string_equal(plan->model->name, "nn");
    assert_string_equal(plan->repr->name, "raw");
    assert_string_equal(entry(plan, "random.points"), "quasi");
    assert_string_equal(entry(plan, "parameters.alpha_critic"), "{values: [0.1, 0.2]}");
    assert_int_equal(plan->criterion, RH_WORST);
    assert_int_equal(plan->trials, 12);
    assert_int_equal(plan->confirm_settings, 0);
    assert_int_equal(plan->seed, 1);
    rh_plan_destroy(plan);
    plan = plan_of("");
    assert_null(plan->data);
    rh_plan_destroy(plan);
}

static void paths(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *data;
    } row[] = {{"data: a.csv", "dir/a.csv"},
               {"data: /b/a.csv", "/b/a.csv"},
               {"data: model:x.model", "model:dir/x.model"},
               {"data: model:/x.model", "model:/x.model"},
               {"data: {path: sub/a.csv}", "dir/sub/a.csv"},
               {"data: {roles: {obs: x}}", NULL}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        rh_plan *plan = plan_of(row[i].text);
        if (row[i].data)
            assert_string_equal(plan->data, row[i].data);
        else
            assert_null(plan->data);
        rh_plan_destroy(plan);
    }
    rh_plan *plan = new_plan();
    assert_int_equal(rh_plan__parse(plan, "data: a.csv", 11, "here.yaml", NULL), RH_OK);
    assert_string_equal(plan->data, "a.csv");
    rh_plan_destroy(plan);
}

static void refusals(void **unused)
{
    (void)unused;
#define F FILE_NAME ":"
    static const struct {
        const char *text, *message;
    } row[] = {
        {"[1, 2]", F "1: found a list, expected the keys of a study"},
        {"hello", F "1: found a text, expected the keys of a study"},
        {"a: [", F "2: not YAML: did not find expected node content"},
        {"seed: 1\nseed: 2", F "2: seed is given twice, first in line 1"},
        {"runs: 10", F "1: runs belongs below evaluation:"},
        {"k: 3", F "1: k belongs below model:"},
        {"trials: 3", F "1: trials belongs below budget:"},
        {"rewrad: x",
         F "1: no key 'rewrad'; did you mean 'reward'? (name, plugins, data, starts, accept, "
           "preset, grid, method, ranking, at_most, sure, also, gamma, continuing, resets, "
           "confirm, verdict, check, "
           "practice, seed, "
           "budget, "
           "metric, evaluation, env, agent, model, representation, parameters, "
           "task, ranges, limits, run_cap, bayes, bayes_opt, cem, race, random, reward)"},
        {"metod: grid",
         F "1: no key 'metod'; did you mean 'method'? (name, plugins, data, starts, accept, "
           "preset, grid, method, ranking, at_most, sure, also, gamma, continuing, resets, "
           "confirm, verdict, check, "
           "practice, seed, "
           "budget, "
           "metric, evaluation, env, agent, model, representation, parameters, "
           "task, ranges, limits, run_cap, bayes, bayes_opt, cem, race, random)"},
        {"program: train.py",
         F "1: program: a study starts no program: agents run in a model of the "
           "log"},
        {"early_terminate: {type: hyperband}",
         F "1: early_terminate: runs are not stopped early; method: race drops "
           "clearly worse settings after few runs"},
        {"budget: {wall: 2h}",
         F "1: budget.wall: stop it at any time: the same command resumes it"},
        {"metric: {goal: minimize, name: average}",
         F "1: metric.goal = minimize: returns are maximised; where less is "
           "better, negate the reward (reward: -energy)"},
        {"metric: {target: 0.9}",
         F "1: metric.target: a study ends with its budget, not at a score"},
        {"seed: 1\nevaluation:\n  runs: ten",
         F "3: evaluation.runs = ten, expected a whole number, 1 to 1,000,000"},
        {"evaluation: {step: 5}", F "1: no key of evaluation 'step'; did you mean 'steps'? "
                                    "(steps, runs, criterion, across, pool, cutoff, cutoff_as, "
                                    "curve, exec_timeout)"},
        {"evaluation: 5", F "1: evaluation = 5, expected a mapping"},
        {"confirm: [5]",
         F "1: confirm = a list, expected a mapping, true, false or a number of "
           "settings"},
        {"evaluation: [5]", F "1: evaluation = a list, expected a mapping"},
        {"evaluation: {runs: [5]}", F "1: evaluation.runs = a list, expected one value"},
        {"parameters: alpha", F "1: parameters = alpha, expected a mapping"},
        {"agent: [[esarsa]]", F "1: agent = a list, expected names of agents"},
        {"agent: {name: esarsa, alpha: [1, 2]}",
         F "1: agent.alpha = a list, expected one value; put values to try below "
           "parameters:"},
        {"agent: {name: esarsa, alpha: 0.1}\nparameters: {alpha: {min: 0.1, max: 1}}",
         F "2: parameters.alpha is given twice, first in line 1 as agent.alpha"},
        {"run_cap: 5\nbudget: {trials: 5}",
         F "2: budget.trials is given twice, first in line 1 as run_cap"},
        {"method: {name: grid}\ngrid: 3",
         F "2: grid = 3, expected ENV:NAME, a published grid such as acrobot:paper"},
        {"grid: acrobot:papr", F "1: acrobot: no grid 'papr'; did you mean 'paper'? (paper, "
                                 "paper-text)"},
        {"grid: {points: x}", F "1: grid: no parameter 'points'; it has none"},
        {"bayes: paper", F "1: bayes = paper, expected a mapping"},
        {"bayes: {compatt: paper}\nmethod: random", NULL},
        {"seed: [1]", F "1: seed = a list, expected a whole number, 0 or more"},
        {"name: {a: b}", F "1: name = a mapping, expected a text"},
        {"data: [a, [b]]", F "1: data = a list, expected a text"},
        {"limits: 3", F "1: limits = 3, expected a mapping"},
        {"limits: {temp: [5, 1]}", F "1: limits.temp = [5, 1], expected [lo, hi] with lo below "
                                     "hi, [lo, ] or [, hi]"},
        {"limits:\n  tmp: [0, 1]", F "2: no sensor 'tmp'; did you mean 'temp'? (temp, level)"},
        {"ranges: {temp: 5}", F "1: ranges.temp = 5, expected [lo, hi] with lo below hi"},
        {"ranges: {temp: [1, x]}", F "1: ranges.temp = [1, x], expected [lo, hi] with lo below "
                                     "hi"},
        {"ranges: {temp: [5, 1]}", F "1: ranges.temp = [5, 1], expected [lo, hi] with lo below "
                                     "hi"},
        {"ranges: {temp: [[1], 2]}", F "1: ranges.temp = a list, expected [lo, hi] with lo "
                                       "below hi"},
        {"ranges:\n  tmp: [0, 1]", F "2: no sensor 'tmp'; did you mean 'temp'? (temp, level)"},
        {"task: {noise: 0.1}",
         F "1: this is an option of the task's environment; set task.env too"},
        {"model: {'': 1}", F "1: an empty key"},
        {"model.k: 3", NULL},
        {"evaluation.runs: 3", NULL},
        {"model: {\"a\\nb\": 1}", NULL},
        {"\"a\\nb\": 1", NULL},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (row[i].message) {
            wrong += refused(row[i].text, row[i].message);
            continue;
        }
        rh_plan *plan = new_plan();
        rh_error err = {""};
        rh_status rc = rh_plan__parse(plan, row[i].text, strlen(row[i].text), FILE_NAME, &err);
        rc = rc ? rc : rh_plan_check(plan, &err);
        if (rc != RH_EFORMAT || strchr(err.text, '\n') ||
            strncmp(err.text, F "1: ", strlen(F "1: ")) != 0)
            wrong += complain("%s\n  found    %s\n", row[i].text, err.text);
        rh_plan_destroy(plan);
    }
    assert_int_equal(wrong, 0);
}

// From a file of the disk, and a file over another.
static void files(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/rehearse-plan-XXXXXX", path[64], data[64];
    rh_error err = {""};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/study.yaml", folder);
    snprintf(data, sizeof data, "%s/a.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("data: a.csv\nevaluation: {runs: 3, steps: 7}\n", file);
    fclose(file);
    rh_plan *plan = plan_of("evaluation: {runs: 9}\nseed: 5\n");
    assert_int_equal(rh_plan_read(plan, path, &err), RH_OK);
    assert_string_equal(plan->data, data);
    assert_int_equal(plan->nrun, 3);
    assert_int_equal(plan->seed, 5);
    assert_int_equal(rh_plan_read(plan, folder, &err), RH_EFORMAT);
    unlink(path);
    assert_int_equal(rh_plan_read(plan, path, &err), RH_EIO);
    rh_plan_destroy(plan);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file), cmocka_unit_test(short_forms), cmocka_unit_test(paths),
        cmocka_unit_test(refusals),     cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
