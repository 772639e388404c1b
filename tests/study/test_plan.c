// test_plan.c - the book: what is said last counts, flags go over files, memory may run out.

#include "base/base_internal.h"
#include "model/pack.h"
#include "plans.h"
#include "repr/repr.h"
#include "study/ranks.h"
#include "study/study.h"

static void later_words(void **unused)
{
    (void)unused;
    rh_plan *plan = plan_of("agent: {name: esarsa, tau: 3}\n"
                            "parameters: {alpha: {min: 0.1, max: 1}}\n"
                            "evaluation: {runs: 5, steps: 100}\nmethod: random\n");
    rh_log *log = make_log(3, 4, true);
    rh_error err = {""};
    assert_int_equal(plan->nrun, 5); // at once, before anything is settled
    assert_int_equal(rh_plan_set(plan, "runs", "6", "--runs", &err), RH_OK);
    assert_int_equal(rh_plan_try(plan, "tau", "1,2", "--set", &err), RH_OK);
    assert_int_equal(rh_plan_try(plan, "alpha", "0.5", "--set", &err), RH_OK);
    assert_int_equal(rh_plan_settle(plan, log, &err), RH_OK);
    assert_int_equal(plan->nrun, 6);
    assert_int_equal(plan->nstep, 100);
    assert_string_equal(entry(plan, "parameters.tau"), "{values: [1, 2]}");
    assert_string_equal(entry(plan, "agent.alpha"), "0.5");

    // settled again with other words, as if for the first time
    assert_int_equal(rh_plan_set(plan, "agent", "actor_critic", "--agent", &err), RH_OK);
    assert_int_equal(rh_plan_settle(plan, log, &err), RH_EINVAL);
    assert_string_equal(err.text, "--set: actor_critic: no parameter 'tau'; expected one of "
                                  "alpha_critic, actor_ratio, tilings, tiles, features");
    assert_int_equal(rh_plan_set(plan, "agent", "esarsa", "--agent", &err), RH_OK);
    assert_int_equal(rh_plan_set(plan, "method", "cem", "--method", &err), RH_OK);
    assert_int_equal(rh_plan_settle(plan, log, &err), RH_OK);
    assert_string_equal(entry(plan, "method"), "cem");
    assert_int_equal(rh_plan_set(plan, "confirm", "no", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_set(plan, "confirm.runs", "3", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_settle(plan, log, &err), RH_OK);
    assert_int_equal(plan->confirm_settings, 0);
    assert_int_equal(rh_plan_set(plan, "confirm", "2", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_settle(plan, log, &err), RH_OK);
    assert_int_equal(plan->confirm_settings, 2);
    assert_int_equal(plan->confirm_runs, 3);

    // what is refused at once leaves the plan as it was
    assert_int_equal(rh_plan_set(plan, "runs", "0", NULL, &err), RH_EINVAL);
    assert_int_equal(rh_plan_settle(plan, log, &err), RH_OK);
    assert_int_equal(plan->nrun, 6);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
    rh_plan_destroy(NULL);
}

static void one_line_each(void **unused)
{
    (void)unused;
    rh_plan *plan = new_plan();
    rh_error err = {""};
    static const struct {
        const char *key, *text, *where, *message;
    } row[] = {
        {"evaluation.runs", "ten", NULL,
         "evaluation.runs = ten, expected a whole number, 1 to 1,000,000"},
        {"runs", "ten", "--runs", "--runs = ten, expected a whole number, 1 to 1,000,000"},
        {"task", "x", NULL, "no environment 'x'; expected one of {envs}"},
        {"ranges.temp", "[1, ", "--range",
         "--range: not YAML: did not find expected node content"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(rh_plan_set(plan, row[i].key, row[i].text, row[i].where, &err),
                         RH_EINVAL);
        assert_string_equal(err.text, with_names(row[i].message));
        assert_int_equal(rh_plan_set(plan, row[i].key, row[i].text, row[i].where, NULL),
                         RH_EINVAL);
    }
    rh_plan_destroy(plan);
}

// All there is to say, with the n-th allocation failing.
static rh_status everything(const rh_log *log, rh_error *err)
{
    static const char text[] = "name: x\ndata: a.csv\nagent: {name: esarsa, tiles: 4}\n"
                               "parameters: {alpha: [0.1, 0.2], lambda: {one_minus: {min: 0.1, "
                               "max: 0.5}}}\nmethod: bayes\nrandom: {points: quasi}\n"
                               "model: {members: 3, reach: 90%}\nrepresentation: {d: 3}\n"
                               "task: {env: puddle_world}\nranges: {temp: [0, 1]}\n";
    rh_plan *plan = NULL;
    rh_status rc = rh_plan_create(&plan, err);
    if (!rc)
        rc = rh_plan__parse(plan, text, sizeof text - 1, FILE_NAME, err);
    if (!rc)
        rc = rh_plan__grid(plan, "puddle_world:paper", "--grid", err);
    if (!rc)
        rc = rh_plan_try(plan, "tau", "1:10:0.5", "--set", err);
    if (!rc)
        rc = rh_plan_try(plan, "w_init", "1,2,3", "--set", err);
    if (!rc)
        rc = rh_plan_set(plan, "ranges.level", "0:1", "--range", err);
    if (!rc)
        rc = rh_plan_set(plan, "parameters.beta1", "{min: 0, max: 0.9}", "--x", err);
    if (!rc)
        rc = rh_plan_set(plan, "bayes.acquisition", "ucb", "--x", err);
    if (!rc)
        rc = rh_plan_check(plan, err);
    if (!rc)
        rc = rh_plan_settle(plan, log, err);
    rh_plan_destroy(plan);
    return rc;
}

static void memory(void **unused)
{
    (void)unused;
    rh_log *log = make_log(3, 4, true);
    int64_t live = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_error err = {""};
        rh_base__alloc_fail_at(nth);
        rh_status rc = everything(log, &err);
        rh_base__alloc_fail_at(0);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK) {
            assert_true(nth > 200);
            break;
        }
        if (rc != RH_ENOMEM)
            fail_msg("allocation %d: %s", nth, err.text);
        assert_non_null(strstr(err.text, "out of memory"));
    }
    rh_log_destroy(log);
}

// A heading that turns by about 7 degrees, either way.
static rh_log *heading_log(void)
{
    static const char *const label[] = {"left", "right"};
    rh_log_shape shape = {.nobs = 1,
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .label = label,
                          .nlabel = 2,
                          .declared = true,
                          .path = "heading.csv"};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    rh_log_builder *builder = NULL;
    rh_log *log = NULL;
    double s = 10.0;
    assert_int_equal(rh_log_builder_create(&builder, &shape, NULL), RH_OK);
    for (int t = 0; t < 1500; t++) {
        double act = rh_rng_below(&rng, 2);
        double next = s + (act > 0.0 ? 8.0 : -6.0) + rh_rng_range(&rng, -0.5, 0.5);
        next -= 360.0 * floor(next / 360.0);
        rh_log_row row = {.obs = &s, .act = &act, .reward = -1.0, .next = &next};
        assert_int_equal(rh_log_push(builder, &row, NULL), RH_OK);
        s = next;
    }
    assert_int_equal(rh_log_finish(builder, &log, NULL), RH_OK);
    rh_log_builder_destroy(builder);
    return log;
}

// Sensors that wrap round are on circles, however the model is chosen; not with preset: paper.
static void circles(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int ncode;
    } row[] = {
        {"model: {kind: knn, carry: log}\nrepresentation: raw", 2},
        {"model: {kind: knn, k: 5}\nrepresentation: raw", 2},
        {"preset: paper\nrepresentation: raw\nparameters: {tau: [0.1, 1]}", 1},
    };
    rh_log *log = heading_log();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        rh_error err = {""};
        rh_model *model = NULL;
        rh_plan *plan = plan_of(row[i].text);
        rh_fit_options opt = rh_fit_defaults();
        opt.fidelity = false;
        rh_status rc = rh_plan_settle(plan, log, &err);
        if (!rc)
            rc = rh_plan_fit(&model, plan, log, &opt, &err);
        if (rc)
            fail_msg("%s: %s", row[i].text, err.text);
        assert_int_equal(rh_repr__ncode(rh_model_repr(model)), row[i].ncode);
        rh_model_destroy(model);
        rh_plan_destroy(plan);
    }
    rh_log_destroy(log);
}

// Out of memory while circles are found and a kind is fitted.
static void circles_memory(void **unused)
{
    (void)unused;
    rh_log *log = heading_log();
    rh_plan *plan = plan_of("model: {kind: knn, carry: log}\nrepresentation: raw");
    rh_fit_options opt = rh_fit_defaults();
    opt.fidelity = false;
    assert_int_equal(rh_plan_settle(plan, log, NULL), RH_OK);
    int64_t live = rh_base__alloc_live();
    for (int nth = 1, done = 0; !done; nth++) {
        rh_model *model = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_plan_fit(&model, plan, log, &opt, NULL);
        rh_base__alloc_fail_at(0);
        done = rc == RH_OK;
        assert_true(done || (rc == RH_ENOMEM && !model));
        rh_model_destroy(model);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

static rh_model *fitted(const char *text, const rh_log *log, const rh_repr *repr)
{
    rh_error err = {""};
    rh_model *model = NULL;
    rh_plan *plan = plan_of(text);
    rh_fit_options opt = rh_fit_defaults();
    opt.fidelity = false;
    opt.repr = repr;
    if (rh_plan_settle(plan, log, &err) || rh_plan_fit(&model, plan, log, &opt, &err))
        fail_msg("%s: %s", text, err.text);
    rh_plan_destroy(plan);
    return model;
}

#define LAPLACIAN "representation: {kind: laplacian, steps: 20, d: 3}\n"
#define NETWORK "model: {kind: nn, input: code, epochs: 2}\n" LAPLACIAN

// A model with the representation of another is the one that learns it itself.
static void representation_of_another(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *words;
    } refused[] = {
        {"model: knn\nrepresentation: raw", "the representation is laplacian, expected raw"},
        {"model: knn\nrepresentation: {kind: laplacian, steps: 21, d: 3}",
         "the representation has steps = 20, expected 21"},
        {"model: knn\nrepresentation: auto", "expected a plan that names its model and its"},
        {"model: auto", "expected a plan that names its model and its representation"},
    };
    rh_log *log = heading_log();
    rh_model *first = fitted("model: {kind: knn, carry: none}\n" LAPLACIAN, log, NULL);
    const rh_repr *repr = rh_model_repr(first);
    rh_model *alone = fitted(NETWORK, log, NULL), *given = fitted(NETWORK, log, repr);
    unsigned char *byte[2];
    size_t nbyte[2];
    assert_int_equal(rh_model__pack(alone, &byte[0], &nbyte[0], NULL), RH_OK);
    assert_int_equal(rh_model__pack(given, &byte[1], &nbyte[1], NULL), RH_OK);
    assert_int_equal(nbyte[0], nbyte[1]);
    assert_memory_equal(byte[0], byte[1], nbyte[0]);
    rh_free(byte[0]);
    rh_free(byte[1]);

    rh_fit_options opt = rh_fit_defaults();
    opt.repr = repr;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        rh_error err = {""};
        rh_model *model = NULL;
        rh_plan *plan = plan_of(refused[i].text);
        assert_int_equal(rh_plan_settle(plan, log, &err), RH_OK);
        assert_int_equal(rh_plan_fit(&model, plan, log, &opt, &err), RH_EINVAL);
        if (!strstr(err.text, refused[i].words))
            fail_msg("'%s' does not say '%s'", err.text, refused[i].words);
        rh_plan_destroy(plan);
    }
    rh_model_destroy(first);
    rh_model_destroy(alone);
    rh_model_destroy(given);
    rh_log_destroy(log);
}

// Calls out of order are errors in every build.
static void misuse(void **unused)
{
    (void)unused;
    rh_plan *plan = new_plan();
    rh_log *log = make_log(3, 4, true);
    rh_error err = {""};
    rh_env *env = NULL;
    rh_model *model = NULL;
    rh_fit_options opt = {0};
    assert_int_equal(rh_plan__env(&env, plan, NULL, 0, &err), RH_EINVAL);
    assert_int_equal(rh_plan_fit(&model, plan, log, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "fit: the plan is not settled");
    assert_int_equal(rh_plan_fit(&model, plan, log, &opt, &err), RH_EINVAL);
    assert_null(rh_plan_text(plan, "seed"));
    assert_true(isnan(rh_plan__real(plan, "gamma")));
    assert_int_equal(rh_plan_number(plan, "seed"), 0);
    rh_log_destroy(log);
    rh_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_words),
        cmocka_unit_test(one_line_each),
        cmocka_unit_test(memory),
        cmocka_unit_test(circles),
        cmocka_unit_test(circles_memory),
        cmocka_unit_test(misuse),
        cmocka_unit_test(representation_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
