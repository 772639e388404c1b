// test_fqi_agent.c - the policy as an agent: greedy but for a share of random actions, the same
// runs on any number of threads, a limit of an episode, and tasks that are refused.

#include "offline_sample.h"

// The policy of a few updates.
static rh_fqi *learned(rh_fqi_kind kind, const rh_task *task, const rh_log *log)
{
    rh_fqi_options opt = rh_fqi_defaults(kind);
    opt.nupdate = 300;
    opt.rate = 0.02;
    opt.nsync = 50;
    opt.patience = 0;
    rh_fqi *fqi = NULL;
    assert_int_equal(rh_fqi_learn(&fqi, log, task, &opt, NULL), RH_OK);
    return fqi;
}

static int greedy(const rh_fqi *fqi, const double *obs)
{
    double q[3];
    assert_int_equal(rh_fqi_values(fqi, obs, q, NULL), RH_OK);
    return q[1] > q[0] && q[1] >= q[2] ? 1 : q[2] > q[0] ? 2 : 0;
}

// With epsilon = 0.3, an action that is not greedy has probability 0.1. Of 20,000 draws the
// share lies within 0.01 of it but for one run in 10^5.
static void greedy_but_for_epsilon(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    for (int kind = RH_FQI_TILES; kind <= RH_FQI_NETWORK; kind++) {
        rh_fqi *fqi = learned((rh_fqi_kind)kind, &task, log);
        const rh_agent_type *type = rh_fqi_agent(fqi);
        assert_int_equal(type->nparam, 1);
        assert_true(type->param[0].initial == 0.1);
        for (int i = 0; i < 3; i++) {
            const double epsilon[] = {0.0, 0.3, 1.0}, *obs = log->obs + 2 * i;
            rh_agent *agent = NULL;
            rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, (uint64_t)i);
            assert_int_equal(rh_agent_create(&agent, type, &task, &epsilon[i], NULL), RH_OK);
            int count[3] = {0}, best = greedy(fqi, obs);
            double act;
            assert_true(rh_agent_start(agent, obs, &rng, &act));
            for (int k = 0; k < DRAWS; k++) {
                assert_true(rh_agent_step(agent, -1.0, obs, &rng, &act));
                count[(int)act]++;
            }
            assert_true(rh_agent_end(agent, -1.0));
            for (int a = 0; a < 3; a++)
                near((double)count[a] / DRAWS,
                     epsilon[i] / 3.0 + (a == best ? 1.0 - epsilon[i] : 0.0),
                     epsilon[i] > 0.0 ? 0.017 : 0.0, "share of action", a);
            rh_agent_destroy(agent);
        }
        rh_fqi_destroy(fqi);
    }
    rh_log_destroy(log);
}

static rh_log *puddle_log(const rh_env *env)
{
    rh_log *log = NULL;
    rh_collected how;
    rh_collect_options opt = rh_collect_defaults();
    opt.nstep = 1500;
    opt.cutoff = 100;
    assert_int_equal(rh_log_collect(&log, NULL, &how, env, env, rh_agent_find("random", NULL),
                                    NULL, &opt, NULL),
                     RH_OK);
    assert_non_null(log);
    return log;
}

// Runs in a simulator, as any other agent has them.
static void runs_in_a_simulator(void **state)
{
    (void)state;
    enum { RUNS = 4 };
    rh_env *env = NULL;
    assert_int_equal(rh_env_create(&env, rh_env_find("puddle_world", NULL), NULL, NULL), RH_OK);
    const rh_task *task = rh_env_task(env);
    rh_log *log = puddle_log(env);
    rh_fqi *fqi = learned(RH_FQI_TILES, task, log);
    rh_eval_options opt = rh_eval_defaults(task);
    rh_result first[2 * RUNS], result[2 * RUNS];
    const double epsilon[2] = {0.1, 1.0};
    opt.nrun = RUNS;
    opt.nstep = 3000;
    opt.cutoff = 100;
    for (int nthread = 1; nthread <= 8; nthread *= 2) {
        opt.nthread = nthread;
        assert_int_equal(rh_eval_runs(&env, 1, rh_fqi_agent(fqi), task, 2, epsilon, &opt,
                                      nthread == 1 ? first : result, NULL, NULL),
                         RH_OK);
        if (nthread > 1)
            for (int i = 0; i < 2 * RUNS; i++) {
                assert_true(result[i].score == first[i].score);
                assert_true(result[i].outcome == RH_FINISHED);
            }
    }
    for (int i = 0; i < 2 * RUNS; i++)
        assert_true(first[i].nepisode >= opt.nstep / opt.cutoff);
    assert_true(first[0].score != first[RUNS].score);
    rh_fqi_destroy(fqi);
    rh_log_destroy(log);
    rh_env_destroy(env);
}

// Values that are not finite end a run as diverged.
static void values_without_bound(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    rh_fqi *fqi = learned(RH_FQI_TILES, &task, log);
    double act, error;
    for (int i = 0; i < 3 * fqi->nblock * RH_OFFLINE__BLOCK; i++)
        fqi->w[i] = INFINITY;
    rh_agent *agent = NULL;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    assert_int_equal(rh_agent_create(&agent, rh_fqi_agent(fqi), &task, NULL, NULL), RH_OK);
    assert_false(rh_agent_start(agent, log->obs, &rng, &act));
    assert_int_equal(rh_fqi_error(fqi, log, &error, NULL), RH_OK);
    assert_false(isfinite(error));
    rh_agent_destroy(agent);
    rh_fqi_destroy(fqi);
    rh_log_destroy(log);
}

static void refused_tasks(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    rh_fqi *fqi = learned(RH_FQI_TILES, &task, log);
    rh_agent *agent = NULL;
    rh_error err;
    const double bad = 1.5;
    task.naction = 2;
    assert_int_equal(rh_agent_create(&agent, rh_fqi_agent(fqi), &task, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "fqi: a task of 2 sensors and 2 actions, expected 2 and 3 as "
                                  "in the log");
    task.naction = 3;
    assert_int_equal(rh_agent_create(&agent, rh_fqi_agent(fqi), &task, &bad, &err), RH_EINVAL);
    assert_null(agent);

    // every allocation of an agent
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int n = 1; rc; n++) {
        rh_base__alloc_fail_at(n);
        rc = rh_agent_create(&agent, rh_fqi_agent(fqi), &task, NULL, NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || (rc == RH_ENOMEM && rh_base__alloc_live() == live));
    }
    rh_agent_destroy(agent);
    rh_fqi_destroy(fqi);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(greedy_but_for_epsilon),
        cmocka_unit_test(runs_in_a_simulator),
        cmocka_unit_test(values_without_bound),
        cmocka_unit_test(refused_tasks),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
