// test_fidelity_findings.c - every finding about a model, where the fault is and where it is
// not.

#include "fidelity_sample.h"

#include "cli/recipe.h"
#include "model/knn_internal.h"

static walk w[4000];

// Twenty episodes of 12 to 24 steps, in places of their own, and in threes: `skip` can be 2.
static int clean(void)
{
    int n = 0;
    for (int e = 0; e < 20; e++)
        n = walk_on(w, n, 100 * e, 12 + 3 * (e % 5), ENDS, 1);
    return n;
}

// The findings of the steps in w (n), modelled with a fault: gravest first and counted, with
// evidence and remedy that fit; that called `id`, or severity -1.
static rh_finding look_at(const rh_model *model, const char *id)
{
    const rh_fidelity *f = rh_model_fidelity(model);
    int count[3] = {0};
    for (int i = 0; i < f->findings.n; i++) {
        const rh_finding *one = &f->findings.item[i];
        count[one->severity]++;
        assert_true(i == 0 || one->severity <= f->findings.item[i - 1].severity);
        assert_true(one->evidence[0]);
        assert_true(strlen(one->evidence) < sizeof one->evidence - 1);
        assert_true(one->remedy[0]);
        assert_true(strlen(one->remedy) < sizeof one->remedy - 1);
        assert_null(strstr(one->evidence, "nan"));
        assert_null(strstr(one->evidence, "inf"));
    }
    assert_memory_equal(count, f->findings.count, sizeof count);
    const rh_finding *found = find_id(f, id);
    return found ? *found : (rh_finding){.severity = (rh_severity)-1};
}

static rh_finding look(int n, fault f, const char *id)
{
    rh_model *model = measured(w, n, f);
    rh_finding found = look_at(model, id);
    rh_model_destroy(model);
    return found;
}

static void has(int n, fault f, const char *id, rh_severity severity, const char *words)
{
    rh_finding found = look(n, f, id);
    if (found.severity != severity)
        fail_msg("%s: severity %d, expected %d", id, (int)found.severity, (int)severity);
    if (!strstr(found.evidence, words))
        fail_msg("%s: '%s' is not in: %s", id, words, found.evidence);
}

static void has_not(int n, fault f, const char *id)
{
    rh_finding found = look(n, f, id);
    if (found.severity != (rh_severity)-1)
        fail_msg("%s: found where it is not: %s", id, found.evidence);
}

static void nothing_in_a_true_model(void **unused)
{
    (void)unused;
    rh_model *model = measured(w, clean(), (fault){0});
    look_at(model, "");
    const rh_findings *list = &rh_model_fidelity(model)->findings;
    for (int i = 0; i < list->n; i++) // y is constant
        if (list->item[i].id != RH_FINDING_SENSORS_LEFT_OUT)
            fail_msg("%s", list->item[i].evidence);
    rh_model_destroy(model);
}

// ---------------------------------------------------------------------------- predictions

static void next_states(void **unused)
{
    (void)unused;
    has(clean(), (fault){.off = 1.5}, "prediction-no-better", RH_NOTICE,
        "persistence forecast: ");
    has(clean(), (fault){.off = 3000.0}, "prediction-no-better", RH_WARNING,
        "always predicting the mean: 100 %");
    has_not(clean(), (fault){.off = 0.9}, "prediction-no-better");

    // what never changes within an episode cannot be said better than so
    int n = clean();
    for (int i = 0; i < n; i++)
        w[i].s = w[i].next = floor(w[i].s / 100.0);
    has_not(n, (fault){.off = -1.0}, "prediction-no-better");
}

static void rewards(void **unused)
{
    (void)unused;
    // -1 and -2 in turn, missed by 1: as if nothing was known
    int n = clean();
    for (int i = 0; i < n; i++)
        w[i].reward = -1.0 - i % 2;
    has_not(n, (fault){0}, "reward-unpredictable");
    has_not(n, (fault){.reward_off = 0.3}, "reward-unpredictable");
    // turn by turn, but not in step with the rewards: those of an episode begin anywhere
    for (int i = 0; i < n; i++)
        w[i].reward = -1.0 - (i * 7 % 11 < 5);
    has(n, (fault){.reward_off = 5.0}, "reward-unpredictable", RH_WARNING,
        "predicted reward is 5 on");
    has_not(n, (fault){0}, "reward-unpredictable");

    // three accidents are no proof, and where rewards never change nothing is to be told
    n = clean();
    for (int i = 0; i < 3; i++)
        w[50 * i + 30].reward = -50.0;
    has_not(n, (fault){.reward_off = 5.0}, "reward-unpredictable");
    has_not(clean(), (fault){.reward_off = 5.0}, "reward-unpredictable");

    // nor where they are too large to be squared
    n = clean();
    for (int i = 0; i < n; i++)
        w[i].reward = 1e200 * (i * 7 % 11 - 5);
    has_not(n, (fault){.reward_off = 1e200}, "reward-unpredictable");
}

static void same_rewards(void **unused)
{
    (void)unused;
    has_not(clean(), (fault){0}, "nothing-to-learn"); // the length of an episode counts
    int n = clean();
    for (int i = 0; i < n; i++)
        w[i].reward = 0.0;
    has(n, (fault){0}, "nothing-to-learn", RH_ERROR, "all rewards are 0: the log");
    n = walk_on(w, 0, 0, 60, 0, 1);
    has(n, (fault){0}, "nothing-to-learn", RH_ERROR, "are -1 and no episode terminates");
    w[30].reward = 0.0;
    has_not(n, (fault){0}, "nothing-to-learn");
}

static void ends(void **unused)
{
    (void)unused;
    has_not(clean(), (fault){0}, "ends-unpredicted");
    int n = 0; // five ends are too few
    for (int e = 0; e < 5; e++)
        n = walk_on(w, n, 100 * e, 60, ENDS, 1);
    has_not(n, (fault){.blind = true}, "ends-unpredicted");

    has(clean(), (fault){.blind = true}, "ends-unpredicted", RH_WARNING,
        "at the 20 held-out steps that end an episode");

    // neighbours that end by chance tell nothing of who will
    rh_rng rng = rh_rng_stream(1, RH_STREAM_START, 0, 0);
    double x = 0.0;
    for (int i = 0; i < 2000; i++) {
        bool begins = i == 0 || w[i - 1].flag;
        x = begins ? rh_rng_uniform(&rng) : w[i - 1].next;
        double next = x + 0.1 - floor(x + 0.1);
        w[i] = (walk){x, i % 2, -1, next, rh_rng_below(&rng, 15) == 0 ? ENDS : 0, begins};
    }
    rh_log *log = log_of(w, 2000, 2);
    rh_model *model = fit_plain(&rh_model_knn, log, false, NULL);
    assert_int_equal(look_at(model, "ends-unpredicted").severity, RH_WARNING);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void reach(void **unused)
{
    (void)unused;
    has(clean(), (fault){.uncovered = {true, false}}, "low-coverage", RH_WARNING,
        "held-out steps are out of coverage");
    has_not(clean(), (fault){.uncovered = {false, true}}, "low-coverage");
    has(clean(), (fault){.uncovered = {false, true}}, "action-out-of-coverage", RH_WARNING,
        "'b' from 100 % of the states");
    has_not(clean(), (fault){0}, "action-out-of-coverage");

    // never taken is another matter
    int n = clean();
    has_not(n, (fault){0}, "never-taken");
    for (int i = 0; i < n; i++)
        w[i].act = 0.0;
    has(n, (fault){.uncovered = {false, true}}, "never-taken", RH_ERROR,
        "the log never takes 'b': it cannot say what the agent will meet");
    has_not(n, (fault){.uncovered = {false, true}}, "action-out-of-coverage");
}

// Actions that are reals have no names.
static void reach_of_reals(void **unused)
{
    (void)unused;
    for (int fault_there = 0; fault_there < 2; fault_there++) {
        rh_log *log = log_of(w, clean(), 0);
        told = (fault){.uncovered = {fault_there, fault_there}};
        rh_model *model = fit_plain(&told_type, log, false, NULL);
        rh_finding found = look_at(model, "action-out-of-coverage");
        assert_true(found.severity == (fault_there ? RH_WARNING : (rh_severity)-1));
        assert_true(!fault_there || strstr(found.evidence, "100 % of the pairs"));
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

// ---------------------------------------------------------------------------- runs

static void imitation(void **unused)
{
    (void)unused;
    has(clean(), (fault){.tax = 3.0}, "imitation-differs", RH_WARNING, "median return -60");
    has(clean(), (fault){.skip = 2}, "imitation-differs", RH_WARNING, "median return");
    has_not(clean(), (fault){.tax = 0.02}, "imitation-differs");
    assert_non_null(
        strstr(look(clean(), (fault){.tax = 3.0}, "imitation-differs").remedy, "harder"));
    assert_non_null(
        strstr(look(clean(), (fault){.skip = 2}, "imitation-differs").remedy, "easier"));

    // returns all alike, but not lengths
    int n = clean();
    for (int i = 0; i < n; i++)
        w[i].reward = 0.0;
    has(n, (fault){.skip = 2}, "imitation-differs", RH_WARNING, "median length");
    has_not(n, (fault){0}, "imitation-differs");

    // without an end the rest follows from it
    has(clean(), (fault){.no_end = true}, "no-end", RH_WARNING,
        "do not end within 48 steps; in the log 100 % end");
    has_not(clean(), (fault){.no_end = true}, "imitation-differs");
    has_not(clean(), (fault){0}, "no-end");
}

static void shortcuts(void **unused)
{
    (void)unused;
    has(clean(), (fault){.door = true}, "too-easy", RH_WARNING, "in 100 % of the episodes");
    has_not(clean(), (fault){0}, "too-easy");

    // a kind that has no reach is not told to set it
    rh_finding found = look(clean(), (fault){.door = true}, "too-easy");
    assert_null(strstr(found.remedy, "reach"));
    found = look(clean(), (fault){.skip = 2}, "imitation-differs");
    assert_null(strstr(found.remedy, "reach"));

    // always the best that was logged, but no better
    int n = clean();
    for (int i = 0; i < n; i++)
        w[i].reward = 0.0;
    w[3].reward = w[40].reward = w[70].reward = -9.0;
    w[110].reward = w[150].reward = w[200].reward = -9.0;
    has_not(n, (fault){.door = true}, "too-easy");
    has(clean(), (fault){.skip = 2}, "long-stitches", RH_WARNING,
        "2 median steps away with the log's behaviour, and 2 with random actions (medians)");
    has_not(clean(), (fault){.skip = 1}, "long-stitches");

    // the imitation may leave no logged path at all
    n = clean();
    for (int i = 0; i < n; i++)
        w[i].act = 0.0;
    has(n, (fault){.trap = 4}, "long-stitches", RH_WARNING,
        "4 median steps away with random actions (median)");
}

static void few(void **unused)
{
    (void)unused;
    int n = walk_on(w, 0, 0, 30, ENDS, 1);
    has(n, (fault){0}, "few-starts", RH_NOTICE, "in the same state");
    has(n, (fault){0}, "few-episodes", RH_NOTICE, "1 whole episode to");
    n = walk_on(w, n, 100, 30, ENDS, 1);
    has(n, (fault){0}, "few-starts", RH_NOTICE, "in one of 2 states");
    has(n, (fault){0}, "few-episodes", RH_NOTICE, "2 whole episodes to");
    n = walk_on(w, n, 200, 30, ENDS, 1);
    has_not(n, (fault){0}, "few-starts");
    has_not(clean(), (fault){0}, "few-episodes");

    // a continuing log has no episodes that could be few
    n = walk_on(w, 0, 0, 60, CUT, 1);
    has_not(n, (fault){0}, "few-starts");
    has_not(n, (fault){0}, "few-episodes");
}

// ---------------------------------------------------------------------------- simulators

static rh_log *collect(const char *env_name, const char *policy)
{
    rh_error err = {""};
    rh_env *env = NULL;
    rh_log *log = NULL;
    const cli_recipe *recipe = cli_recipe_find(env_name, policy, false, &err);
    const rh_agent_type *agent = rh_agent_find(recipe->agent, &err);
    double hp[64], option[64];
    rh_collected how;
    const rh_env_type *type = rh_env_find(env_name, &err);
    rh_param_initial(type->param, type->nparam, option);
    assert_int_equal(rh_env_create(&env, type, option, &err), RH_OK);
    assert_int_equal(cli_recipe_hyperparameters(recipe, agent, hp, &err), RH_OK);
    rh_collect_options opt = rh_collect_defaults();
    opt.nstep = 5000;
    opt.enough = recipe->enough;
    opt.span = recipe->span;
    opt.level = recipe->level;
    opt.patience = recipe->patience;
    if (rh_log_collect(&log, NULL, &how, env, env, agent, hp, &opt, &err))
        fail_msg("%s", err.text);
    rh_env_destroy(env);
    assert_non_null(log);
    return log;
}

// A model of raw observations, with a reach or without.
static rh_model *fit_raw(const rh_log *log, double reach)
{
    rh_repr *repr = NULL;
    rh_model *model = NULL;
    rh_error err = {""};
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_REACH] = reach;
    rh_model_options opt = rh_model_defaults();
    opt.param = param;
    if (rh_repr_fit(&repr, rh_repr_find("raw", NULL), log, NULL, &err) ||
        rh_model_fit(&model, &rh_model_knn, log, repr, &opt, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
    return model;
}

// Puddle World, where nothing is found, and Acrobot with anything for a neighbour, in which
// acting at random is better than acting well.
static void good_models_and_bad_ones(void **unused)
{
    (void)unused;
    rh_log *log = collect("puddle_world", "near-optimal");
    rh_model *model = fit_raw(log, RH_KNN_AUTO);
    look_at(model, "");
    const rh_fidelity *f = rh_model_fidelity(model);
    for (int i = 0; i < f->findings.n; i++)
        fail_msg("%s: %s", rh_finding_name(f->findings.item[i].id),
                 f->findings.item[i].evidence);
    assert_true(f->state.model < 0.6 * f->state.persistence);
    assert_true(f->random_better < 0.1);
    rh_model_destroy(model);
    rh_log_destroy(log);

    log = collect("acrobot", "near-optimal");
    model = fit_raw(log, RH_KNN_NONE);
    assert_true(look_at(model, "too-easy").severity == RH_WARNING);
    assert_non_null(strstr(look_at(model, "too-easy").remedy, "set a shorter reach"));
    assert_true(rh_model_fidelity(model)->random_better > 0.8);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_a_true_model),
        cmocka_unit_test(next_states),
        cmocka_unit_test(rewards),
        cmocka_unit_test(same_rewards),
        cmocka_unit_test(ends),
        cmocka_unit_test(reach),
        cmocka_unit_test(reach_of_reals),
        cmocka_unit_test(imitation),
        cmocka_unit_test(shortcuts),
        cmocka_unit_test(few),
        cmocka_unit_test(good_models_and_bad_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
