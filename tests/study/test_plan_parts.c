// test_plan_parts.c - the model, the representation and the task, with and without a preset.

#include "plans.h"

static void usual(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("", 3);
    assert_null(plan->model); // auto
    assert_true(plan->ncandidate >= 3);
    assert_string_equal(entry(plan, "model.kind"), "auto");
    assert_int_equal(plan->fit.nmember, 1);
    assert_int_equal(plan->fit.resample, RH_RESAMPLE_ALL);
    assert_true(plan->repr_open);
    assert_false(plan->repr_given);
    assert_null(entry(plan, "representation.kind"));
    assert_null(plan->task_of);
    assert_null(plan->task_opt);
    assert_null(entry(plan, "model.reach"));
    rh_plan_destroy(plan);

    plan = settled("model: {members: 3}\nrepresentation: auto", 3);
    assert_int_equal(plan->fit.resample, RH_RESAMPLE_SUBSET);
    assert_true(plan->fit.share == rh_model_defaults().share);
    assert_null(plan->repr);
    assert_null(plan->repr_param);
    assert_true(plan->repr_given);
    rh_plan_destroy(plan);
}

static int count_of(const rh_plan *plan, const char *kind, const char *repr)
{
    int n = 0;
    for (int i = 0; i < plan->ncandidate; i++)
        n += (!kind || strcmp(plan->candidate[i].kind, kind) == 0) &&
             (!repr || strcmp(plan->candidate[i].repr->name, repr) == 0);
    return n;
}

// What is set narrows the models to choose from.
static void candidates(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("", 3);
    assert_int_equal(count_of(plan, "stitching", "raw"), 1);
    assert_int_equal(count_of(plan, "stitching", "laplacian"), 1);
    assert_int_equal(count_of(plan, "network", NULL), 1);
    rh_plan_destroy(plan);

    plan = settled("model: nn", 3);
    assert_int_equal(plan->ncandidate, 1);
    assert_string_equal(plan->candidate[0].kind, "network");
    rh_plan_destroy(plan);

    plan = settled("representation: {kind: laplacian, d: 3}", 3);
    assert_int_equal(count_of(plan, NULL, "laplacian"), plan->ncandidate);
    assert_int_equal(count_of(plan, "stitching", NULL), 1); // equal ones are one
    assert_int_equal(count_of(plan, "network", NULL), 1);
    assert_false(plan->candidate[0].optional);
    int d = rh_param_find(plan->repr->param, plan->repr->nparam, "d");
    assert_true(plan->candidate[0].repr_param[d] == 3.0);
    rh_plan_destroy(plan);

    // a parameter holds for all that have it; the others are left out
    plan = settled("model: {k: 5, reach: 95%}", 3);
    assert_int_equal(count_of(plan, "network", NULL), 0);
    assert_true(plan->ncandidate >= 2);
    assert_string_equal(entry(plan, "model.k"), "5");
    assert_string_equal(entry(plan, "model.reach"), "quantile");
    assert_string_equal(entry(plan, "model.reach_quantile"), "0.95");
    assert_null(entry(plan, "model.weights"));
    int k = rh_param_find(plan->candidate[0].type->param, plan->candidate[0].type->nparam, "k");
    for (int i = 0; i < plan->ncandidate; i++)
        assert_true(plan->candidate[i].param[k] == 5.0);
    rh_plan_destroy(plan);

    plan = settled("model: {kind: knn, k: 5}\nrepresentation: raw", 3);
    assert_int_equal(plan->ncandidate, 1);
    assert_string_equal(entry(plan, "model.weights"), "paper");
    rh_plan_destroy(plan);

    // the paper's is one
    plan = settled("task: puddle_world\npreset: paper\n", 3);
    assert_int_equal(plan->ncandidate, 1);
    assert_string_equal(plan->candidate[0].type->name, "knn");
    assert_string_equal(plan->candidate[0].repr->name, "laplacian");
    rh_plan_destroy(plan);
}

static void preset_paper(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("task: puddle_world\npreset: paper\n", 3);
    static const struct {
        const char *key, *value;
    } want[] = {{"preset", "paper"},
                {"method", "grid"},
                {"parameters.w_init", "{values: [0, 4, 8]}"},
                {"agent.lambda", "0.1"},
                {"evaluation.runs", "10"},
                {"evaluation.cutoff", "1/30"},
                {"evaluation.cutoff_as", "terminate"},
                {"model.k", "3"},
                {"model.weights", "paper"},
                {"model.distance", "norm"},
                {"model.reach", "none"},
                {"representation.kind", "laplacian"},
                {"representation.d", "4"},
                {"representation.rate", "0.0003"},
                {"representation.first_bias", "no"},
                {"confirm.settings", "0"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_non_null(entry(plan, want[i].key));
        assert_string_equal(entry(plan, want[i].key), want[i].value);
    }
    assert_true(plan->preset);
    rh_plan_destroy(plan);

    // it stands below what is said beside it, before or behind
    plan = settled("model: {k: 5, reach: auto}\nevaluation: {cutoff: auto, runs: 3}\n"
                   "preset: paper\ntask: puddle_world\nconfirm: 4\n"
                   "representation: {d: 6}\nparameters: {alpha: {min: 0.1, max: 1}}\n",
                   3);
    assert_string_equal(entry(plan, "model.k"), "5");
    assert_string_equal(entry(plan, "model.reach"), "auto");
    assert_string_equal(entry(plan, "evaluation.cutoff"), "auto");
    assert_string_equal(entry(plan, "evaluation.cutoff_as"), "terminate");
    assert_string_equal(entry(plan, "evaluation.runs"), "3");
    assert_string_equal(entry(plan, "representation.d"), "6");
    assert_string_equal(entry(plan, "representation.window"), "10");
    assert_string_equal(entry(plan, "method"), "bayes");
    assert_int_equal(plan->space.ndim, 1);
    assert_int_equal(plan->confirm_settings, 4);
    rh_plan_destroy(plan);

    // who speaks of the confirmation wants it
    plan = settled("preset: paper\ntask: puddle_world\nconfirm: {runs: 20}\n", 3);
    assert_int_equal(plan->confirm_settings, 8);
    assert_int_equal(plan->confirm_runs, 20);
    rh_plan_destroy(plan);

    plan = settled("preset: paper\nmodel: nn\nrepresentation: raw\ngrid: acrobot:paper\n", 3);
    assert_string_equal(plan->model->name, "nn");
    assert_string_equal(plan->repr->name, "raw");
    assert_string_equal(plan->method->name, "grid");
    rh_plan_destroy(plan);
}

static void reaches(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *reach, *key, *value;
    } row[] = {{"auto", "auto", "model.reach_quantile", "0.99"},
               {"none", "none", "model.reach_quantile", "0.99"},
               {"95%", "quantile", "model.reach_quantile", "0.95"},
               {"12.5%", "quantile", "model.reach_quantile", "0.125"},
               {"0.3", "fixed", "model.reach_distance", "0.3"},
               {"quantile", "quantile", "model.reach_quantile", "0.99"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[64];
        snprintf(text, sizeof text, "model: {reach: %s}", row[i].text);
        rh_plan *plan = settled(text, 3);
        assert_string_equal(entry(plan, "model.reach"), row[i].reach);
        assert_string_equal(entry(plan, row[i].key), row[i].value);
        rh_plan_destroy(plan);
    }
}

// A log of single steps has no order to learn from.
static void no_order(void **unused)
{
    (void)unused;
    rh_log *log = make_log(3, 4, false);
    rh_error err = {""};
    rh_plan *plan = new_plan();
    assert_int_equal(rh_plan_settle(plan, log, &err), RH_OK);
    for (int i = 0; i < plan->ncandidate; i++)
        assert_string_equal(plan->candidate[i].repr->name, "raw");
    assert_int_equal(rh_plan_set(plan, "representation.d", "3", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_settle(plan, log, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "the log's steps have no order that laplacian could learn from; use "
                        "representation: raw");
    assert_int_equal(rh_plan_set(plan, "representation", "laplacian", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_settle(plan, log, &err), RH_OK); // asked for: the fit refuses it
    assert_string_equal(plan->repr->name, "laplacian");
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

static void refusals(void **unused)
{
    (void)unused;
#define F FILE_NAME ":"
    static const struct {
        const char *text, *message;
    } row[] = {
        {"model: {kind: nn, k: 3}", NULL},
        {"model: {kind: nn, reach: 0.3}", NULL},
        {"model: {share: 0.5}", F "1: model.share is for resample: subset"},
        {"model: {share: 0, members: 2}",
         F "1: model.share = 0, expected a number above 0, up to 1"},
        {"model: {k: three}", F "1: model.k = three, expected a whole number, 1 to 64"},
        {"representation: {kind: auto, d: 3}",
         F "1: representation auto sets its own parameters"},
        {"representation: {kind: raw, preset: acrobot}",
         F "1: representation raw, but the preset acrobot is for laplacian"},
        {"representation: {kind: raw, d: 3}",
         F "1: raw: no parameter 'd'; expected one of scale"},
        {"representation: {joint: yes}",
         F "1: representation.joint is for continuous actions, and the log's are "
           "discrete"},
        {"seed: 1\npreset: paper",
         F "2: preset paper: the paper has one for each environment; set task: "
           "acrobot, puddle_world or cartpole"},
        {"preset: paper\nrepresentation: raw",
         F "1: preset paper: the paper has a grid for each environment; set task: "
           "acrobot, puddle_world or cartpole, or set parameters"},
        {"preset: paper\ntask: mountain_car",
         F "1: no preset of a representation 'mountain_car'; expected one of acrobot, "
           "acrobot-exp2, cartpole, puddle_world, puddle_world-exp2"},
        {"task: {env: puddle_world, noise: 5}",
         F "1: task.noise = 5, expected a number, 0 to 1"},
        {"task: {env: puddle_world, nois: 5}", NULL},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (row[i].message) {
            wrong += refused(row[i].text, row[i].message);
            continue;
        }
        rh_error err = {""};
        rh_plan *plan = plan_of(row[i].text);
        assert_int_equal(rh_plan_check(plan, &err), RH_EFORMAT);
        assert_non_null(strstr(err.text, ": no parameter '"));
        assert_int_equal(strncmp(err.text, F "1: ", strlen(F "1: ")), 0);
        rh_plan_destroy(plan);
    }
    assert_int_equal(wrong, 0);
    rh_plan *plan = settled("representation: {joint: true}", 0);
    assert_true(plan->joint);
    rh_plan_destroy(plan);
}

// A model that was fitted before has what a fit would ask for.
static void fitted(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {"model: {k: 5}",
                                        "model: knn",
                                        "model: {members: 3}",
                                        "representation: raw",
                                        "representation: {d: 3}",
                                        "representation: {joint: no}",
                                        "task: puddle_world",
                                        "starts: b.csv",
                                        "gamma: 0.9",
                                        "continuing: yes",
                                        "ranges: {temp: [0, 1]}",
                                        "preset: paper"};
    rh_error err = {""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s\ndata: model:a.model\n", wrong[i]);
        rh_plan *plan = plan_of(text);
        assert_int_equal(rh_plan_check(plan, &err), RH_EFORMAT);
        assert_int_equal(strncmp(err.text, F "1: ", strlen(F "1: ")), 0);
        assert_non_null(
            strstr(err.text, " is for a log, but model:dir/a.model is fitted already"));
        rh_plan_destroy(plan);
    }
    rh_plan *plan = plan_of("model: {k: 5}\ndata: model:a.model\n");
    assert_int_equal(rh_plan_check(plan, &err), RH_EFORMAT);
    assert_string_equal(err.text,
                        F "1: model.k is for a log, but model:dir/a.model is fitted already");
    rh_plan_destroy(plan);

    // the line goes over the file, and is told by its option
    plan = plan_of("model: {k: 5}\ndata: model:a.model\n");
    assert_int_equal(rh_plan_set(plan, "data", "a.csv", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_check(plan, &err), RH_OK);
    rh_plan_destroy(plan);
    plan = plan_of("data: model:a.model\npreset: none\nevaluation: {runs: 3}\n");
    assert_int_equal(rh_plan_check(plan, &err), RH_OK);
    assert_int_equal(rh_plan_set(plan, "k", "5", "--k", &err), RH_OK);
    assert_int_equal(rh_plan_check(plan, &err), RH_EINVAL);
    assert_string_equal(err.text, "--k is for a log, but model:dir/a.model is fitted already");
    rh_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual),   cmocka_unit_test(candidates), cmocka_unit_test(preset_paper),
        cmocka_unit_test(reaches), cmocka_unit_test(no_order),   cmocka_unit_test(refusals),
        cmocka_unit_test(fitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
