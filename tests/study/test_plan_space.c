// test_plan_space.c - what is searched: usual ranges, published grids, and what goes before
// what.

#include "base/base.h"
#include "plans.h"
#include "search/search.h"
#include "study/study.h"

static void usual(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("agent: esarsa", 3);
    const rh_agent_type *agent = plan->agent;
    assert_string_equal(agent->name, "esarsa");
    int n = 0;
    for (int i = 0; i < agent->nparam; i++) {
        const rh_param *p = &agent->param[i];
        if (!(p->usual_lo < p->usual_hi)) {
            assert_true(plan->hp[i] == p->initial);
            continue;
        }
        const rh_dim *dim = &plan->space.dim[n];
        assert_int_equal(plan->dim[n].param, i);
        assert_string_equal(dim->name, p->name);
        assert_int_equal(dim->kind, RH_DIM_RANGE);
        assert_true(dim->lo == p->usual_lo);
        assert_true(dim->hi == p->usual_hi);
        assert_true(dim->step == (p->whole ? 1.0 : 0.0));
        assert_int_equal(dim->scale, p->usual_lo > 0.0 ? p->scale : RH_LINEAR);
        n++;
    }
    assert_true(n > 0);
    assert_int_equal(plan->space.ndim, n);
    rh_plan_destroy(plan);

    // a value given is no search; a search given is all of it
    plan = settled("agent: {alpha: 0.5}", 3);
    assert_int_equal(plan->space.ndim, n - 1);
    assert_string_equal(entry(plan, "agent.alpha"), "0.5");
    rh_plan_destroy(plan);
    plan = settled("parameters: {w_init: [0, 8]}", 3);
    assert_int_equal(plan->space.ndim, 1);
    assert_string_equal(entry(plan, "agent.alpha"), "0.1");
    rh_plan_destroy(plan);
    assert_int_equal(
        refused("agent: random",
                "random: nothing to search: every parameter has one value; set values "
                "to try below parameters:"),
        0);
}

static void published(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("grid: puddle_world:paper", 3);
    assert_int_equal(plan->space.ndim, 4);
    assert_true(rh_space__count(&plan->space) == 54.0);
    assert_string_equal(entry(plan, "parameters.w_init"), "{values: [0, 4, 8]}");
    assert_string_equal(entry(plan, "agent.lambda"), "0.1");
    assert_int_equal(plan->space.dim[0].scale, RH_LOG);
    rh_plan_destroy(plan);

    plan = settled("agent: actor_critic\ngrid: acrobot:paper", 3);
    assert_true(rh_space__count(&plan->space) == 36.0);
    rh_plan_destroy(plan);
    assert_int_equal(refused_by("agent: gaussian_actor_critic\ngrid: acrobot:paper", 0,
                                FILE_NAME
                                ":2: acrobot, gaussian_actor_critic: no grid 'paper'; "
                                "none was published"),
                     0);
}

// In a file parameters go before the grid wherever they stand; outside, what is said last.
static void precedence(void **unused)
{
    (void)unused;
    static const char *const file[] = {
        "grid: puddle_world:paper\nparameters: {alpha: [1, 2], lambda: [0, 0.5]}\n",
        "parameters: {alpha: [1, 2], lambda: [0, 0.5]}\ngrid: puddle_world:paper\n"};
    rh_log *log = make_log(3, 4, true);
    for (int i = 0; i < 2; i++) {
        rh_plan *plan = settled(file[i], 3);
        assert_string_equal(entry(plan, "parameters.alpha"), "{values: [1, 2]}");
        assert_string_equal(entry(plan, "parameters.lambda"), "{values: [0, 0.5]}");
        assert_string_equal(entry(plan, "parameters.w_init"), "{values: [0, 4, 8]}");

        assert_int_equal(rh_plan__grid(plan, "acrobot:paper", "--grid", NULL), RH_OK);
        assert_int_equal(rh_plan_settle(plan, log, NULL), RH_OK);
        assert_string_equal(entry(plan, "parameters.alpha"), "{values: [0.003, 0.03, 0.3]}");
        assert_string_equal(entry(plan, "agent.lambda"), "0.8");

        assert_int_equal(rh_plan_try(plan, "alpha", "0.2", "--set", NULL), RH_OK);
        assert_int_equal(rh_plan_settle(plan, log, NULL), RH_OK);
        assert_string_equal(entry(plan, "agent.alpha"), "0.2");
        assert_null(entry(plan, "parameters.alpha"));
        rh_plan_destroy(plan);
    }
    rh_log_destroy(log);
}

// Dimensions are in the order of the agent's table.
static void order(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("parameters: {lambda: [0, 1], tau: [1, 2], alpha: [1, 2]}", 3);
    assert_string_equal(plan->space.dim[0].name, "alpha");
    assert_string_equal(plan->space.dim[1].name, "tau");
    assert_string_equal(plan->space.dim[2].name, "lambda");
    rh_plan_destroy(plan);
}

static void bad_grids(void **unused)
{
    (void)unused;
    rh_plan *plan = new_plan();
    rh_error err = {""};
    static const struct {
        const char *grid, *message;
    } row[] = {
        {"paper", "--grid = paper, expected ENV:NAME, a published grid such as acrobot:paper"},
        {"acrobot:", "--grid = acrobot:, expected ENV:NAME, a published grid such as "
                     "acrobot:paper"},
        {"acrobat:paper", "--grid: no environment 'acrobat'; did you mean 'acrobot'? "
                          "({envs})"},
        {"acrobot:pepar", "--grid: acrobot: no grid 'pepar'; did you mean 'paper'? (paper, "
                          "paper-text)"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(rh_plan__grid(plan, row[i].grid, "--grid", &err), RH_EINVAL);
        assert_string_equal(err.text, with_names(row[i].message));
    }
    rh_plan_destroy(plan);
}

// One minus a number may miss the end of a range by rounding: it is cut off there.
static void ends(void **unused)
{
    (void)unused;
    rh_plan *plan = settled("parameters: {lambda: {one_minus: {min: 0, max: 1}}}", 3);
    double hp[32];
    int lambda = rh_param_find(plan->agent->param, plan->agent->nparam, "lambda");
    for (double x = 0.0; x <= 1.0; x += 0.125) {
        rh_plan__hp(plan, &x, hp);
        assert_true(hp[lambda] == 1.0 - x);
        assert_int_equal(rh_param__check(plan->agent->param, plan->agent->nparam, "", hp, NULL),
                         RH_OK);
    }
    double beyond = -1e-17;
    rh_plan__hp(plan, &beyond, hp);
    assert_true(hp[lambda] == 1.0);
    rh_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual), cmocka_unit_test(published), cmocka_unit_test(precedence),
        cmocka_unit_test(order), cmocka_unit_test(bad_grids), cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
