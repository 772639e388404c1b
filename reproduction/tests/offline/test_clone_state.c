// test_clone_state.c - an esarsa agent that begins with a clone acts as the clone does,
// whatever its temperature and initial weights are, and learns on from there.

#include "offline_sample.h"

enum { ALPHA, BETA1, TAU, W_INIT }; // of esarsa, checked below

static rh_clone *clone_of(const rh_log *log, const rh_task *task)
{
    rh_clone *clone = NULL;
    assert_int_equal(rh_clone_learn(&clone, log, task, NULL, NULL, NULL), RH_OK);
    return clone;
}

static rh_agent *agent_of(const rh_clone *clone, const rh_task *task, const double *hp,
                          double strength)
{
    const rh_agent_type *type = rh_agent_find("esarsa", NULL);
    rh_agent *agent = NULL;
    rh_state *state = NULL;
    rh_error err;
    if (rh_clone_state(&state, clone, task, hp, strength, &err))
        fail_msg("%s", err.text);
    assert_int_equal(rh_agent_create(&agent, type, task, hp, NULL), RH_OK);
    if (rh_agent_load(agent, state, &err))
        fail_msg("%s", err.text);
    rh_state_destroy(state);
    return agent;
}

// Shares of 40,000 actions. The standard deviation of a share is at most 0.0025; that one of
// the 27 below is off by 0.013 happens in one run of 10^5.
static void shares(rh_agent *agent, const double *obs, double *share)
{
    enum { DRAWS = 40000 };
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double act;
    share[0] = share[1] = share[2] = 0.0;
    rh_agent_freeze(agent, true);
    for (int k = 0; k < DRAWS; k++) {
        assert_true(rh_agent_step(agent, 0.0, obs, &rng, &act));
        share[(int)act] += 1.0 / DRAWS;
    }
}

static void acts_as_the_clone(void **state)
{
    (void)state;
    const rh_agent_type *type = rh_agent_find("esarsa", NULL);
    assert_string_equal(type->param[TAU].name, "tau");
    assert_string_equal(type->param[W_INIT].name, "w_init");
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    rh_clone *clone = clone_of(log, &task);
    double hp[RH_MAX_PARAM], pi[3], share[3];
    const double tau[3] = {1.0, 0.05, 30.0}, w_init[3] = {0.0, 8.0, -3.0};
    for (int i = 0; i < 3; i++) {
        const double *obs = log->obs + 4 * i;
        rh_param_initial(type->param, type->nparam, hp);
        hp[TAU] = tau[i];
        hp[W_INIT] = w_init[i];
        rh_agent *one = agent_of(clone, &task, hp, 1.0),
                 *none = agent_of(clone, &task, hp, 0.0);
        rh_agent *two = agent_of(clone, &task, hp, 2.0);

        assert_int_equal(rh_clone_policy(clone, obs, pi, NULL), RH_OK);
        assert_true(fabs(pi[0] - 1.0 / 3.0) > 0.02); // there is something to imitate
        shares(one, obs, share);
        for (int a = 0; a < 3; a++)
            near(share[a], pi[a], 0.013, "strength 1, action", a);
        shares(none, obs, share);
        for (int a = 0; a < 3; a++)
            near(share[a], 1.0 / 3.0, 0.013, "strength 0, action", a);
        double sum = pi[0] * pi[0] + pi[1] * pi[1] + pi[2] * pi[2];
        shares(two, obs, share);
        for (int a = 0; a < 3; a++)
            near(share[a], pi[a] * pi[a] / sum, 0.013, "strength 2, action", a);
        rh_agent_destroy(one);
        rh_agent_destroy(none);
        rh_agent_destroy(two);
    }
    rh_clone_destroy(clone);
    rh_log_destroy(log);
}

// With strength 0 a run is that of a new agent, bit for bit; every run of a batch begins with
// the state.
static void runs_begin_with_the_state(void **state)
{
    (void)state;
    enum { RUNS = 3 };
    const rh_agent_type *type = rh_agent_find("esarsa", NULL);
    rh_env *env = NULL;
    rh_log *log = NULL;
    rh_collected how;
    rh_collect_options collect = rh_collect_defaults();
    collect.nstep = 400;
    collect.cutoff = 100;
    assert_int_equal(rh_env_create(&env, rh_env_find("puddle_world", NULL), NULL, NULL), RH_OK);
    assert_int_equal(rh_log_collect(&log, NULL, &how, env, env, rh_agent_find("random", NULL),
                                    NULL, &collect, NULL),
                     RH_OK);
    const rh_task *task = rh_env_task(env);
    rh_clone *clone = clone_of(log, task);
    double hp[RH_MAX_PARAM];
    rh_param_initial(type->param, type->nparam, hp);
    hp[BETA1] = 0.9;
    rh_result result[3][RUNS];
    rh_eval_options opt = rh_eval_defaults(task);
    opt.nrun = RUNS;
    opt.nstep = 1000;
    for (int i = 0; i < 3; i++) { // a new agent; strength 0; strength 1
        rh_state *born = NULL;
        if (i > 0)
            assert_int_equal(rh_clone_state(&born, clone, task, hp, i - 1.0, NULL), RH_OK);
        opt.state = born;
        assert_int_equal(rh_eval_runs(&env, 1, type, task, 1, hp, &opt, result[i], NULL, NULL),
                         RH_OK);
        rh_state_destroy(born);
    }
    for (int r = 0; r < RUNS; r++) {
        assert_true(result[0][r].score == result[1][r].score);
        assert_true(result[0][r].score != result[2][r].score);
    }
    rh_clone_destroy(clone);
    rh_log_destroy(log);
    rh_env_destroy(env);
}

static void refusals(void **state)
{
    (void)state;
    const rh_agent_type *type = rh_agent_find("esarsa", NULL);
    rh_task task = sample_task(), other = task;
    rh_log *log = reference_log("offline_fqi.csv", "train");
    rh_clone *clone = clone_of(log, &task);
    rh_state *saved = NULL;
    rh_error err;
    double hp[RH_MAX_PARAM];
    rh_param_initial(type->param, type->nparam, hp);
    assert_int_equal(rh_clone_state(&saved, clone, &task, hp, NAN, &err), RH_EINVAL);
    assert_string_equal(err.text, "clone: strength = nan, expected a finite number");
    hp[rh_param_find(type->param, type->nparam, "tilings")] = 8;
    assert_int_equal(rh_clone_state(&saved, clone, &task, hp, 1.0, &err), RH_EINVAL);
    assert_string_equal(err.text, "clone: tilings = 8, expected 16 as when it was learned");
    rh_param_initial(type->param, type->nparam, hp);
    hp[rh_param_find(type->param, type->nparam, "features")] = RH_TILES_JOINT;
    assert_int_equal(rh_clone_state(&saved, clone, &task, hp, 1.0, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "clone: features = joint, expected pairs as when it was learned");
    other.naction = 2;
    assert_int_equal(rh_clone_state(&saved, clone, &other, NULL, 1.0, &err), RH_EINVAL);
    assert_string_equal(err.text, "clone: a task of 2 sensors and 2 actions, expected 2 and 3 "
                                  "as in the log");
    assert_null(saved);
    rh_clone_destroy(clone);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(acts_as_the_clone),
        cmocka_unit_test(runs_begin_with_the_state),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
