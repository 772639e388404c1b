// test_runner.c - runs one at a time: equal, bit for bit, to those of rh_eval_runs(), on any
// worker and in any order; stopping; refusals; every failed allocation.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "env/alloc_test.h"
#include "eval/eval.h"
#include "fixed_obs_env.h"
#include "rehearse/rehearse.h"

#include <math.h>
#include <string.h>

enum { NSETTING = 3, NMEMBER = 2, NRUN = 3, NCURVE = 5, N = NSETTING * NMEMBER * NRUN };

// Every seventh fixed observation is out of coverage.
static bool fixed_obs_env_uncovered(const void *self, const void *state)
{
    (void)self;
    return *(const int32_t *)state % 7 == 0;
}

static rh_env *open_fixed_obs_env(const rh_env_type *type, bool hidden)
{
    double opt[FIXED_OBS_NPARAM] = {[ACTIONS] = FEW_ACTIONS, [HIDDEN] = hidden};
    rh_env *env = NULL;
    assert_int_equal(rh_env_create(&env, type, opt, NULL), RH_OK);
    return env;
}

// Settings: initial values, another value of a searched parameter, other fixed parameters.
static void settings_of(const rh_agent_type *agent, double *hp)
{
    int tiles = rh_param_find(agent->param, agent->nparam, "tiles");
    for (int s = 0; s < NSETTING; s++)
        rh_param_initial(agent->param, agent->nparam, hp + s * agent->nparam);
    for (int i = 0; i < agent->nparam; i++)
        if (agent->param[i].usual_lo < agent->param[i].usual_hi)
            hp[agent->nparam + i] = agent->param[i].usual_lo;
    if (tiles >= 0)
        hp[2 * agent->nparam + tiles] = 3;
}

static rh_eval_options options_of(const rh_env *env)
{
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = 300;
    opt.nrun = NRUN;
    opt.first_run = 4;
    opt.replicate = 11;
    opt.ncurve = NCURVE;
    opt.cutoff = 40;
    opt.nthread = 2;
    return opt;
}

// ---------------------------------------------------------------------------- the same runs

static void runs_are_the_same(rh_env *const *env, const rh_agent_type *agent,
                              rh_criterion criterion)
{
    double hp[NSETTING * 64], curve[N * NCURVE];
    rh_result result[N];
    rh_error err;
    settings_of(agent, hp);
    rh_eval_options opt = options_of(env[0]);
    opt.criterion = criterion;
    assert_int_equal(rh_eval_runs(env, NMEMBER, agent, rh_env_task(env[0]), NSETTING, hp, &opt,
                                  result, curve, &err),
                     RH_OK);
    rh_runner *runner = NULL;
    assert_int_equal(
        rh_runner__create(&runner, env, NMEMBER, agent, rh_env_task(env[0]), hp, &opt, &err),
        RH_OK);
    for (int k = 0; k < N; k++) {
        int i = (k * 7 + 5) % N; // any order
        rh_result one;
        double drawn[NCURVE];
        memset(&one, 0, sizeof one);
        assert_int_equal(rh_runner__run(runner, k / 3 % 2,
                                        hp + i / NRUN / NMEMBER * agent->nparam,
                                        i / NRUN % NMEMBER, (uint64_t)(i % NRUN), &one,
                                        k % 4 ? drawn : NULL, &err),
                         RH_OK);
        assert_true(one.score == result[i].score);
        assert_true(one.total == result[i].total);
        assert_int_equal(one.nstep, 300);
        assert_int_equal(one.nepisode, result[i].nepisode);
        assert_int_equal(one.nuncovered, result[i].nuncovered);
        assert_int_equal(one.outcome, RH_FINISHED);
        if (k % 4)
            assert_memory_equal(drawn, curve + i * NCURVE, sizeof drawn);
    }
    rh_runner__destroy(runner);
}

static void the_same_runs(void **unused)
{
    (void)unused;
    int n = 0;
    for (int a = 0; a < rh_agent_ntype(); a++) {
        const rh_agent_type *agent = rh_agent_type_at(a);
        if (!(agent->actions & RH_DISCRETE))
            continue;
        for (int hidden = 0; hidden < 2; hidden++) {
            rh_env *env[NMEMBER];
            for (int m = 0; m < NMEMBER; m++)
                env[m] = open_fixed_obs_env(&fixed_obs_env_type, hidden);
            runs_are_the_same(env, agent, RH_AVERAGE);
            runs_are_the_same(env, agent, RH_MEDIAN);
            runs_are_the_same(env, agent, RH_FINAL);
            for (int m = 0; m < NMEMBER; m++)
                rh_env_destroy(env[m]);
        }
        n++;
    }
    assert_true(n >= 3);
}

// Member and run select the streams, counted from opt.first_run; the worker does not.
static void member_and_run_select_the_streams(void **unused)
{
    (void)unused;
    rh_env *env[NMEMBER];
    for (int m = 0; m < NMEMBER; m++)
        env[m] = open_fixed_obs_env(&fixed_obs_env_type, false);
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    double hp[64];
    rh_param_initial(agent->param, agent->nparam, hp);
    rh_eval_options opt = options_of(env[0]);
    rh_runner *runner = NULL;
    assert_int_equal(
        rh_runner__create(&runner, env, NMEMBER, agent, rh_env_task(env[0]), NULL, &opt, NULL),
        RH_OK);
    rh_result a, b, c, d;
    assert_int_equal(rh_runner__run(runner, 0, hp, 0, 0, &a, NULL, NULL), RH_OK);
    assert_int_equal(rh_runner__run(runner, 0, hp, 1, 0, &b, NULL, NULL), RH_OK);
    assert_int_equal(rh_runner__run(runner, 0, hp, 0, 1, &c, NULL, NULL), RH_OK);
    assert_int_equal(rh_runner__run(runner, 1, hp, 0, 0, &d, NULL, NULL), RH_OK);
    assert_true(a.total != b.total);
    assert_true(a.total != c.total);
    assert_true(a.total == d.total);
    rh_runner__destroy(runner);
    for (int m = 0; m < NMEMBER; m++)
        rh_env_destroy(env[m]);
}

// ---------------------------------------------------------------------------- coverage

// The expected count comes from following the random agent's stream.
static void steps_out_of_coverage(void **unused)
{
    (void)unused;
    rh_env_type doubtful = fixed_obs_env_type;
    doubtful.uncovered = fixed_obs_env_uncovered;
    rh_env *env = open_fixed_obs_env(&doubtful, true),
           *sure = open_fixed_obs_env(&fixed_obs_env_type, true);
    const rh_agent_type *agent = rh_agent_find("random", NULL);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = 500;
    opt.nrun = 1;
    opt.criterion = RH_FINAL; // whose steps are not counted
    opt.final_share = 2.0;
    rh_result result, other;
    assert_int_equal(
        rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, NULL, &opt, &result, NULL, NULL),
        RH_OK);
    assert_int_equal(
        rh_eval_runs(&sure, 1, agent, rh_env_task(sure), 1, NULL, &opt, &other, NULL, NULL),
        RH_OK);

    int64_t n = 0;
    rh_agent *walker = NULL;
    assert_int_equal(rh_agent_create(&walker, agent, rh_env_task(env), NULL, NULL), RH_OK);
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double obs[NSENSOR], act[1], reward;
    int32_t state;
    rh_env_start(env, &state, &streams, obs);
    rh_agent_start(walker, obs, &rng, act);
    for (int t = 0; t < 500; t++) {
        bool end = rh_env_step(env, &state, act, &streams, obs, &reward);
        n += state % 7 == 0;
        if (end) {
            rh_env_start(env, &state, &streams, obs);
            rh_agent_start(walker, obs, &rng, act);
        } else {
            rh_agent_step(walker, reward, obs, &rng, act);
        }
    }
    assert_true(n > 20);
    assert_int_equal(result.nuncovered, n);
    assert_int_equal(other.nuncovered, 0);
    assert_true(result.score == other.score);
    assert_false(rh_contract__env_uncovered(sure, &state));
    rh_agent_destroy(walker);
    rh_env_destroy(env);
    rh_env_destroy(sure);
}

// --------------------------------------------------------------------------- one after another

// What runs allocate does not depend on how long they are, and nothing piles up.
static void workers_keep_their_memory(void **unused)
{
    (void)unused;
    rh_env *env = open_fixed_obs_env(&fixed_obs_env_type, false);
    for (int a = 0; a < rh_agent_ntype(); a++) {
        const rh_agent_type *agent = rh_agent_type_at(a);
        if (!(agent->actions & RH_DISCRETE))
            continue;
        int64_t made[2];
        for (int k = 0; k < 2; k++) {
            rh_eval_options opt = options_of(env);
            opt.nstep = k ? 300 : 3000;
            double hp[64];
            rh_result result;
            rh_runner *runner = NULL;
            rh_param_initial(agent->param, agent->nparam, hp);
            assert_int_equal(
                rh_runner__create(&runner, &env, 1, agent, rh_env_task(env), hp, &opt, NULL),
                RH_OK);
            assert_int_equal(rh_runner__run(runner, 0, hp, 0, 0, &result, NULL, NULL), RH_OK);
            int64_t alive = rh_base__alloc_live();
            made[k] = rh_base__alloc_count();
            for (uint64_t run = 1; run < 5; run++)
                assert_int_equal(rh_runner__run(runner, 0, hp, 0, run, &result, NULL, NULL),
                                 RH_OK);
            made[k] = rh_base__alloc_count() - made[k];
            assert_int_equal(rh_base__alloc_live(), alive);
            rh_runner__destroy(runner);
        }
        assert_int_equal(made[0], made[1]);
    }
    rh_env_destroy(env);
}

static bool stop_soon(void *context)
{
    int *left = context;
    return --*left < 0;
}

// A run under way is left, and no other is begun.
static void a_stop(void **unused)
{
    (void)unused;
    rh_env *env = open_fixed_obs_env(&fixed_obs_env_type, false);
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    double hp[64], curve[NCURVE];
    rh_param_initial(agent->param, agent->nparam, hp);
    int left = 7;
    rh_eval_options opt = options_of(env);
    opt.nstep = 1000;
    opt.stop = stop_soon;
    opt.context = &left;
    rh_runner *runner = NULL;
    rh_result result;
    assert_int_equal(
        rh_runner__create(&runner, &env, 1, agent, rh_env_task(env), hp, &opt, NULL), RH_OK);
    assert_int_equal(rh_runner__run(runner, 0, hp, 0, 0, &result, curve, NULL), RH_OK);
    // asked 4 times
    assert_int_equal(result.outcome, RH_FINISHED);
    assert_false(isnan(result.score));
    assert_int_equal(rh_runner__run(runner, 0, hp, 0, 1, &result, curve, NULL), RH_OK);
    assert_int_equal(result.outcome, RH_STOPPED);
    assert_true(isnan(result.score));
    assert_int_equal(result.nstep, 768);
    assert_false(isnan(curve[2]));
    assert_true(isnan(curve[4]));
    assert_int_equal(rh_runner__run(runner, 1, hp, 0, 2, &result, curve, NULL), RH_OK);
    assert_int_equal(result.outcome, RH_STOPPED);
    assert_int_equal(result.nstep, 0);
    assert_true(isnan(curve[0]));
    rh_runner__destroy(runner);
    rh_env_destroy(env);
}

// ---------------------------------------------------------------------------- failures

static void refusals(void **unused)
{
    (void)unused;
    rh_env *env = open_fixed_obs_env(&fixed_obs_env_type, false);
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    double hp[64];
    rh_param_initial(agent->param, agent->nparam, hp);
    rh_eval_options opt = options_of(env);
    rh_runner *runner = NULL;
    rh_error err;
    rh_result result;
    opt.ncurve = 301;
    assert_int_equal(
        rh_runner__create(&runner, &env, 1, agent, rh_env_task(env), hp, &opt, &err),
        RH_EINVAL);
    assert_string_equal(err.text, "eval: curve points = 301, expected 0 to the 300 steps");
    opt.ncurve = 0;
    assert_int_equal(
        rh_runner__create(&runner, &env, 0, agent, rh_env_task(env), hp, &opt, &err),
        RH_EINVAL);
    assert_string_equal(err.text, "eval: 0 members, expected 1 to 256");
    hp[0] = 1e9;
    assert_int_equal(
        rh_runner__create(&runner, &env, 1, agent, rh_env_task(env), hp, &opt, &err),
        RH_EINVAL);
    assert_null(runner);

    // a run that cannot be begun is told, and the next one can
    rh_param_initial(agent->param, agent->nparam, hp);
    assert_int_equal(
        rh_runner__create(&runner, &env, 1, agent, rh_env_task(env), NULL, NULL, &err), RH_OK);
    hp[0] = 1e9;
    assert_int_equal(rh_runner__run(runner, 0, hp, 0, 0, &result, NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "esarsa: alpha = 1"));
    assert_int_equal(result.outcome, RH_STOPPED);
    assert_true(isnan(result.score));
    hp[0] = 0.1;
    assert_int_equal(rh_runner__run(runner, 0, hp, 0, 0, &result, NULL, &err), RH_OK);
    assert_int_equal(result.outcome, RH_FINISHED);
    static const struct {
        int worker, member;
        const char *message;
    } wrong[] = {
        {-1, 0, "eval: worker = -1, expected 0 to 0"},
        {1, 0, "eval: worker = 1, expected 0 to 0"},
        {0, -1, "eval: member = -1, expected 0 to 0"},
        {0, 1, "eval: member = 1, expected 0 to 0"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(rh_runner__run(runner, wrong[i].worker, hp, wrong[i].member, 0,
                                        &result, NULL, &err),
                         RH_EINVAL);
        assert_string_equal(err.text, wrong[i].message);
    }
    rh_runner__destroy(runner);
    rh_env_destroy(env);
}

// Runs with other fixed parameters in between, so that runs allocate too.
static rh_status try_runner(rh_env **env, const rh_agent_type *agent, rh_error *err)
{
    double hp[NSETTING * 64];
    settings_of(agent, hp);
    rh_eval_options opt = options_of(env[0]);
    opt.nstep = 20;
    opt.criterion = RH_MEDIAN;
    rh_runner *runner = NULL;
    rh_status rc =
        rh_runner__create(&runner, env, 1, agent, rh_env_task(env[0]), hp, &opt, err);
    for (int s = 0; !rc && s < NSETTING; s++) {
        rh_result result;
        rc = rh_runner__run(runner, s % 2, hp + s * agent->nparam, 0, 0, &result, NULL, err);
    }
    rh_runner__destroy(runner);
    return rc;
}

static void survives_every_failed_allocation(void **unused)
{
    (void)unused;
    rh_env *env = open_fixed_obs_env(&fixed_obs_env_type, false);
    int64_t before = rh_base__alloc_live();
    for (int a = 0; a < rh_agent_ntype(); a++) {
        if (!(rh_agent_type_at(a)->actions & RH_DISCRETE))
            continue;
        int nth = 0;
        rh_status rc;
        rh_error err;
        do {
            rh_base__alloc_fail_at(++nth);
            rc = try_runner(&env, rh_agent_type_at(a), &err);
        } while (allocation_failed(rc, &err, before));
    }
    rh_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_runs),
        cmocka_unit_test(member_and_run_select_the_streams),
        cmocka_unit_test(steps_out_of_coverage),
        cmocka_unit_test(workers_keep_their_memory),
        cmocka_unit_test(a_stop),
        cmocka_unit_test(refusals),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
