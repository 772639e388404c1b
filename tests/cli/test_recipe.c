// test_recipe.c - recipes are complete, can be found, and make the logs they describe.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "cli/recipe.h"
#include "rehearse/rehearse.h"

#include <math.h>
#include <string.h>

static const char *const policy[] = {"near-optimal", "medium", "naive", "random"};

static void every_recipe_is_whole(void **unused)
{
    (void)unused;
    for (int i = 0; cli_recipe_at(i); i++) {
        const cli_recipe *r = cli_recipe_at(i);
        const rh_env_type *env = rh_env_find(r->env ? r->env : "acrobot", NULL);
        const rh_agent_type *agent = rh_agent_find(r->agent, NULL);
        double hp[64];
        assert_non_null(env);
        assert_non_null(agent);
        assert_int_equal(cli_recipe_hyperparameters(r, agent, hp, NULL), RH_OK);
        assert_int_equal(rh_param__check(agent->param, agent->nparam, agent->name, hp, NULL),
                         RH_OK);
        assert_true(r->cutoff >= 1);
        assert_true(r->patience >= 1);
        assert_true(r->span >= (r->enough != RH_ENOUGH_STEPS));
        for (int k = 0; r->window[k].nstep; k++) {
            assert_true(r->window[k].least <= r->window[k].most);
            assert_true(k == 0 || r->window[k].nstep < r->window[k - 1].nstep);
        }
        assert_ptr_equal(
            cli_recipe_find(r->env ? r->env : "elsewhere", r->policy, r->changed, NULL), r);
    }
}

// Every simulator has the random policy. One with a recipe has all four policies and both kinds
// of starts.
static void simulators_have_policies(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++)
        if (!cli_recipe_find(rh_env_type_at(i)->name, "random", false, NULL))
            fail_msg("%s has no random policy", rh_env_type_at(i)->name);
    for (int i = 0; cli_recipe_at(i); i++) {
        const char *name = cli_recipe_at(i)->env;
        if (!name)
            continue;
        const rh_env_type *env = rh_env_find(name, NULL);
        if (!env || rh_param_find(env->param, env->nparam, "start") < 0)
            fail_msg("%s is no simulator with an option start", name);
        for (int p = 0; p < 4; p++)
            if (!cli_recipe_find(name, policy[p], false, NULL))
                fail_msg("%s has no policy %s", name, policy[p]);
    }
}

// The numbers of the paper's appendix.
static void windows_are_the_papers(void **unused)
{
    (void)unused;
    static const struct {
        const char *env, *policy;
        cli_window window;
    } paper[] = {
        {"acrobot", "near-optimal", {5000, 50, INT64_MAX}},
        {"acrobot", "medium", {5000, 20, 30}},
        {"acrobot", "medium", {1000, 4, 6}},
        {"acrobot", "medium", {500, 2, 3}},
        {"acrobot", "naive", {5000, 10, 15}},
        {"puddle_world", "near-optimal", {5000, 201, INT64_MAX}},
        {"puddle_world", "medium", {5000, 80, 100}},
        {"puddle_world", "medium", {1000, 16, 20}},
        {"puddle_world", "medium", {500, 8, 10}},
        {"puddle_world", "naive", {5000, 20, 50}},
        {"cartpole", "near-optimal", {10000, 40, 50}},
        {"cartpole", "medium", {10000, 80, 125}},
        {"cartpole", "random", {10000, 400, 500}},
    };
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) {
        const cli_recipe *r = cli_recipe_find(paper[i].env, paper[i].policy, false, NULL);
        cli_window window;
        assert_true(r->paper);
        assert_int_equal(cli_recipe_window(r, paper[i].window.nstep, &window),
                         CLI_WINDOW_GIVEN);
        assert_int_equal(window.nstep, paper[i].window.nstep);
        assert_int_equal(window.least, paper[i].window.least);
        assert_int_equal(window.most, paper[i].window.most);
    }
}

static void other_lengths_are_scaled(void **unused)
{
    (void)unused;
    const cli_recipe *r = cli_recipe_find("acrobot", "medium", false, NULL);
    cli_window window;
    assert_int_equal(cli_recipe_window(r, 2500, &window), CLI_WINDOW_SCALED);
    assert_int_equal(window.least, 10);
    assert_int_equal(window.most, 15);
    assert_int_equal(cli_recipe_window(r, 1300, &window), CLI_WINDOW_SCALED);
    assert_int_equal(window.least, 5); // 5.2
    assert_int_equal(window.most, 8);  // 7.8
    assert_int_equal(cli_recipe_window(r, 999, &window), CLI_WINDOW_NONE);
    assert_int_equal(window.least, 0);
    assert_true(window.most == INT64_MAX);
    r = cli_recipe_find("acrobot", "near-optimal", false, NULL);
    assert_int_equal(cli_recipe_window(r, 100000, &window), CLI_WINDOW_SCALED);
    assert_int_equal(window.least, 1000);
    assert_true(window.most == INT64_MAX);
    r = cli_recipe_find("acrobot", "random", false, NULL);
    assert_int_equal(cli_recipe_window(r, 5000, &window), CLI_WINDOW_NONE);
}

static void unknown_names_are_refused(void **unused)
{
    (void)unused;
    rh_error err;
    assert_null(cli_recipe_find("acrobot", "nave", false, &err));
    assert_string_equal(err.text, "acrobot: no policy 'nave'; did you mean 'naive'? "
                                  "(near-optimal, medium, naive, random)");
    assert_null(cli_recipe_find("elsewhere", "medium", false, &err));
    assert_string_equal(err.text, "elsewhere: no policy 'medium': it has no published "
                                  "policies, expected random");
    assert_null(cli_recipe_changed("cartpole", &err));
    assert_string_equal(err.text,
                        "cartpole: the paper has no changed version of it, expected acrobot");

    const rh_setting *changed = cli_recipe_changed("acrobot", NULL);
    const rh_env_type *env = rh_env_find("acrobot", NULL);
    int n = 0;
    for (; changed[n].name; n++)
        assert_true(rh_param_find(env->param, env->nparam, changed[n].name) >= 0);
    assert_int_equal(n, 2);

    // a recipe whose agent has no such parameter
    const cli_recipe *r = cli_recipe_find("acrobot", "medium", false, NULL);
    double hp[64];
    assert_int_equal(
        cli_recipe_hyperparameters(r, rh_agent_find("actor_critic", NULL), hp, &err),
        RH_EINVAL);
}

// ---------------------------------------------------------------------------- what they make

// The mean return of a recipe's log, or its reward if nothing terminates; one seed.
static double make(const cli_recipe *r, const char *env, int64_t nstep)
{
    const rh_env_type *type = rh_env_find(env, NULL);
    const rh_agent_type *agent = rh_agent_find(r->agent, NULL);
    rh_env *train_env = NULL, *log_env = NULL;
    double opt[64], hp[64];
    rh_param_initial(type->param, type->nparam, opt);
    assert_int_equal(rh_env_create(&train_env, type, opt, NULL), RH_OK);
    int start = rh_param_find(type->param, type->nparam, "start");
    if (start >= 0)
        opt[start] = r->random;
    assert_int_equal(rh_env_create(&log_env, type, opt, NULL), RH_OK);
    assert_int_equal(cli_recipe_hyperparameters(r, agent, hp, NULL), RH_OK);

    rh_collect_options o = rh_collect_defaults();
    cli_window window;
    cli_recipe_window(r, nstep, &window);
    o.nstep = nstep;
    o.enough = r->enough;
    o.span = r->span;
    o.level = r->level;
    o.patience = r->patience;
    o.cutoff = r->cutoff;
    o.least = window.least;
    o.most = window.most;
    rh_log *log = NULL;
    rh_collected how;
    rh_error err = {""};
    if (rh_log_collect(&log, NULL, &how, train_env, log_env, agent, hp, &o, &err) != RH_OK)
        fail_msg("%s, %s: %s", env, r->policy, err.text);
    print_message("%s, %s, %lld steps: %lld counted, try %d, %lld steps of training\n", env,
                  r->policy, (long long)nstep, (long long)how.nended, how.ntry,
                  (long long)how.trained);
    assert_int_equal(how.outcome, RH_COLLECTED);
    assert_true(how.nended >= window.least);
    assert_true(how.nended <= window.most);
    assert_int_equal(log->n, nstep);
    rh_log_destroy(log);
    rh_env_destroy(log_env);
    rh_env_destroy(train_env);
    return isfinite(how.returned) ? how.returned : how.reward;
}

// The random policy of every registered environment can be logged.
static void random_policies_are_logged(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        const char *name = rh_env_type_at(i)->name;
        make(cli_recipe_find(name, "random", false, NULL), name, 500);
    }
}

// A better name is a better policy. Acrobot's medium and naive take seconds and are left out.
static void better_names_are_better(void **unused)
{
    (void)unused;
    static const char *const env[] = {"puddle_world", "cartpole", "mountain_car", "pendulum"};
    for (int i = 0; i < 4; i++) {
        double before = INFINITY;
        for (int p = 0; p < 3; p++) {
            const cli_recipe *r = cli_recipe_find(env[i], policy[p], false, NULL);
            double value = make(r, env[i], i == 1 ? 10000 : 5000);
            if (!(value < before))
                fail_msg("%s: policy %s earns %g, the better one %g", env[i], policy[p], value,
                         before);
            before = value;
        }
    }
    assert_true(make(cli_recipe_find("acrobot", "near-optimal", false, NULL), "acrobot", 5000) >
                -100.0);
    make(cli_recipe_find("acrobot", "random", false, NULL), "acrobot", 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recipe_is_whole),
        cmocka_unit_test(simulators_have_policies),
        cmocka_unit_test(windows_are_the_papers),
        cmocka_unit_test(other_lengths_are_scaled),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(better_names_are_better),
        cmocka_unit_test(random_policies_are_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
