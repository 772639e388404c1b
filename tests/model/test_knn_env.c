// test_knn_env.c - the environment: trajectories of the log, frequencies of neighbours, results
// out of coverage, and what can be changed without another fit.

#include "base/base_internal.h"
#include "model_sample.h"

#include "base/base.h"
#include "model/knn_internal.h"

static void initial(double *param)
{
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
}

static rh_model *fit_with(const rh_log *log, const double *param, rh_episodes episodes)
{
    rh_model_options opt = plain_options();
    opt.param = param;
    opt.episodes = episodes;
    return fit_plain(&rh_model_knn, log, false, &opt);
}

static rh_env *env_of(const rh_model *model, const double *param)
{
    rh_env *env = NULL;
    rh_error err = {""};
    if (rh_model_env(&env, model, 0, param, &err))
        fail_msg("%s", err.text);
    return env;
}

static rh_streams streams_of(uint64_t run)
{
    return (rh_streams){rh_rng_stream(7, RH_STREAM_START, 0, run),
                        rh_rng_stream(7, RH_STREAM_NOISE, 0, run)};
}

// What the environment keeps of a run.
typedef struct place {
    int32_t row;
    bool unknown;
} place;

// ---------------------------------------------------------------------------- the log itself

// A corridor of 0 to 5, left and right, walked in every way: with one neighbour the model is
// the corridor.
static void the_very_trajectories(void **unused)
{
    (void)unused;
    walk w[64];
    int n = 0;
    for (int s = 1; s <= 4; s++) { // a step left from s, then right until the end
        w[n++] = (walk){s, 0, -s - 1, s - 1, s == 1 ? ENDS : 0, 1};
        for (int at = s - 1; s > 1 && at < 5; at++)
            w[n++] = (walk){at, 1, -at - 1, at + 1, at == 4 ? ENDS : 0, 0};
    }
    rh_log *log = log_of(w, n, 2);
    double param[RH_KNN_NPARAM];
    initial(param);
    param[RH_KNN_K] = 1;
    param[RH_KNN_REACH] = RH_KNN_NONE;
    rh_model *model = fit_with(log, param, RH_EPISODES_AUTO);
    rh_env *env = env_of(model, NULL);
    rh_streams streams = streams_of(0);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double obs[2], before, reward;
    place state;
    int32_t nentry;
    int nend = 0;
    const double *entry = rh_contract__env_fixed_obs(env, &nentry);
    assert_int_equal(nentry, model->log->nstate);
    assert_int_equal(rh_env_state_size(env), sizeof state);
    rh_env_start(env, &state, &streams, obs);
    for (int i = 0; i < 2000; i++) {
        double act = rh_rng_below(&rng, 2);
        before = obs[0];
        bool end = rh_env_step(env, &state, &act, &streams, obs, &reward);
        assert_true(obs[0] == before + (act > 0 ? 1.0 : -1.0));
        assert_true(reward == -before - 1.0);
        assert_int_equal(end, obs[0] == 0.0 || obs[0] == 5.0);
        assert_true(entry[2 * rh_contract__env_obs_index(env, &state)] == obs[0]);
        nend += end;
        if (end) {
            rh_env_start(env, &state, &streams, obs);
            assert_true(entry[2 * rh_contract__env_obs_index(env, &state)] == obs[0]);
        }
    }
    assert_true(nend > 100);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// The same stream of random stream, the same run; nothing allocated.
static void the_same_run(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(21, 500, 3, 3);
    rh_model *model = fit_with(log, NULL, RH_EPISODES_AUTO);
    rh_env *env = env_of(model, NULL);
    double sum[3] = {0};
    int64_t made = rh_base__alloc_count();
    for (int result = 0; result < 3; result++) {
        rh_streams streams = streams_of(result == 2);
        double obs[3], reward;
        place state;
        rh_env_start(env, &state, &streams, obs);
        for (int i = 0; i < 1000; i++) {
            double act = i % 3;
            if (rh_env_step(env, &state, &act, &streams, obs, &reward))
                rh_env_start(env, &state, &streams, obs);
            sum[result] += reward + obs[0] * 1e-3;
        }
    }
    assert_int_equal(rh_base__alloc_count(), made);
    assert_true(sum[0] == sum[1]);
    assert_true(sum[0] != sum[2]);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- how often

// Five steps with one action near 0, each with a reward of its own.
static const walk fan[] = {
    {0.0, 0, 0, 9, ENDS, 1}, {0.1, 0, 1, 9, ENDS, 1}, {-0.3, 0, 2, 9, ENDS, 1},
    {0.6, 0, 3, 9, ENDS, 1}, {1.0, 0, 4, 9, ENDS, 1},
};

// How far counts are from what p says, as chi-square with n - 1 degrees of freedom.
static double chi_square(const int *count, const double *p, int n, int total)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += (count[i] - p[i] * total) * (count[i] - p[i] * total) / (p[i] * total);
    return sum;
}

static void as_often_as_they_should(void **unused)
{
    (void)unused;
    enum { DRAWS = 200000 };
    // the 1e-6 quantile of chi-square with 4 degrees of freedom is 33.4: at this fixed seed a
    // right model passes, and one of other weights is far beyond
    const double bound = 33.4;
    double param[RH_KNN_NPARAM], p[4][2][5];
    int count[4][2][5] = {{{0}}};
    rh_log *log = log_of(fan, 5, 1);
    initial(param);
    param[RH_KNN_K] = 5;
    rh_model *model = fit_with(log, param, RH_EPISODES_AUTO);
    const double d[] = {0.0, 0.1, 0.3, 0.6, 1.0};
    for (int weights = 0; weights < 4; weights++)
        for (int squared = 0; squared < 2; squared++) {
            // by hand
            double m[5], sum = 0.0, total = 0.0, *q = p[weights][squared];
            for (int i = 0; i < 5; i++) {
                m[i] = squared ? d[i] * d[i] : d[i];
                sum += m[i];
            }
            for (int i = 0; i < 5; i++) {
                q[i] = weights == RH_KNN_PAPER     ? 1.0 - m[i] / sum
                       : weights == RH_KNN_INVERSE ? 1.0 / (m[i] + 0.001)
                       : weights == RH_KNN_UNIFORM ? 1.0
                                                   : exp(-m[i] * m[i] / 2.0);
                total += q[i];
            }
            for (int i = 0; i < 5; i++)
                q[i] /= total;

            param[RH_KNN_WEIGHTS] = weights;
            param[RH_KNN_DISTANCE] = squared;
            rh_env *env = env_of(model, param);
            rh_streams streams = streams_of((uint64_t)(2 * weights + squared));
            for (int i = 0; i < DRAWS; i++) {
                place state = {model->log->from[0], false};
                double obs[2], reward, act = 0;
                rh_env_step(env, &state, &act, &streams, obs, &reward);
                count[weights][squared][(int)reward]++;
            }
            rh_env_destroy(env);
            double off = chi_square(count[weights][squared], q, 5, DRAWS);
            if (!(off < bound))
                fail_msg("weights %d, squared %d: chi-square %g", weights, squared, off);
        }

    // what was drawn fits no other weights
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++) {
            bool alike = a == b || (a / 2 == RH_KNN_UNIFORM && b / 2 == RH_KNN_UNIFORM);
            if (!alike)
                assert_true(chi_square(count[a / 2][a % 2], p[b / 2][b % 2], 5, DRAWS) >
                            10 * bound);
        }
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Fewer neighbours than were fitted.
static void fewer(void **unused)
{
    (void)unused;
    rh_log *log = log_of(fan, 5, 1);
    double param[RH_KNN_NPARAM];
    initial(param);
    param[RH_KNN_K] = 4;
    param[RH_KNN_WEIGHTS] = RH_KNN_UNIFORM;
    rh_model *model = fit_with(log, param, RH_EPISODES_AUTO);
    for (int k = 1; k <= 4; k++) {
        param[RH_KNN_K] = k;
        rh_env *env = env_of(model, param);
        rh_streams streams = streams_of(3);
        int seen = 0;
        for (int i = 0; i < 2000; i++) {
            place state = {model->log->from[0], false};
            double obs[2], reward, act = 0;
            rh_env_step(env, &state, &act, &streams, obs, &reward);
            seen |= 1 << (int)reward;
        }
        assert_int_equal(seen, (1 << k) - 1);
        assert_true(rh_contract__env_options(env)[RH_KNN_K] == k);
        rh_env_destroy(env);
    }
    rh_env *env = NULL;
    rh_error err = {""};
    param[RH_KNN_K] = 5;
    assert_int_equal(rh_model_env(&env, model, 0, param, &err), RH_EINVAL);
    assert_string_equal(err.text, "knn: k = 5, expected at most 4 as fitted; fit again");
    param[RH_KNN_K] = 3;
    param[RH_KNN_ACTION_WEIGHT] = 2.0;
    assert_int_equal(rh_model_env(&env, model, 0, param, &err), RH_EINVAL);
    assert_string_equal(err.text, "knn: action_weight = 2, expected 1 as fitted; fit again");
    initial(param);
    param[RH_KNN_WEIGHTS] = 9;
    assert_int_equal(rh_model_env(&env, model, 0, param, &err), RH_EINVAL);
    assert_null(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- out of coverage

// Action 0 leads from 0 over 1 and 2 to 3, and action 1 was taken in 0 alone.
static const walk lane[] = {
    {0, 0, -1, 1, 0, 1},   {1, 0, -1, 2, 0, 0},     {2, 0, -1, 3, ENDS, 0},
    {0, 1, -5, 0.5, 0, 1}, {0.5, 0, -1, 1, CUT, 0},
};

static bool was_uncovered; // what was last taken

// Take an action in the state x.
static bool take(const rh_model *model, const rh_env *env, double x, double act, double *reward,
                 double *at)
{
    place state = {0, false};
    double obs[2];
    while (x_of(model->log, state.row) != x)
        state.row++;
    rh_streams streams = streams_of(5);
    bool end = rh_env_step(env, &state, &act, &streams, obs, reward);
    *at = obs[0];
    was_uncovered = rh_contract__env_uncovered(env, &state);
    assert_true(x_of(model->log, rh_contract__env_obs_index(env, &state)) == obs[0]);
    return end;
}

static void beyond_reach(void **unused)
{
    (void)unused;
    rh_log *log = log_of(lane, 5, 3);
    double param[RH_KNN_NPARAM], reward, at;
    initial(param);
    param[RH_KNN_K] = 1;
    param[RH_KNN_REACH] = RH_KNN_FIXED;
    param[RH_KNN_REACH_DISTANCE] = 1.0;
    rh_model *model = fit_with(log, param, RH_EPISODES_AUTO);
    assert_true(model->lowest == -3.0);
    assert_true(model->highest == -3.0);

    // within: 1 is 1 away from where action 1 was taken, which counts as reach
    rh_env *env = env_of(model, NULL);
    assert_false(take(model, env, 1.0, 1, &reward, &at));
    assert_true(reward == -5.0);
    assert_true(at == 0.5);
    assert_false(was_uncovered);
    // beyond: the default return and the end, shown where it stands
    assert_true(take(model, env, 2.0, 1, &reward, &at));
    assert_true(reward == -3.0);
    assert_true(at == 2.0);
    assert_true(was_uncovered);
    // an action that was never taken
    assert_true(take(model, env, 0.0, 2, &reward, &at));
    assert_true(reward == -3.0);
    assert_true(at == 0.0);
    assert_true(was_uncovered);
    assert_true(rh_env_task(env)->reward_lo == -5.0);
    rh_env_destroy(env);

    // optimistic; and by cost, with a step's length of 1
    model->highest = 7.0;
    param[RH_KNN_OUT_OF_COVERAGE] = RH_KNN_OPTIMISTIC;
    env = env_of(model, param);
    assert_true(take(model, env, 2.0, 1, &reward, &at));
    assert_true(reward == 7.0);
    assert_true(was_uncovered);
    rh_env_destroy(env);
    param[RH_KNN_OUT_OF_COVERAGE] = RH_KNN_CHARGED;
    param[RH_KNN_COST] = 10.0;
    param[RH_KNN_REACH_DISTANCE] = 0.5;
    assert_true(((const rh_knn *)model->member[0])->step == 1.0);
    env = env_of(model, param);
    assert_false(take(model, env, 2.0, 1, &reward, &at));
    assert_true(reward == -5.0 - 10.0 * 1.5);
    assert_true(at == 0.5);
    assert_true(was_uncovered);
    assert_false(take(model, env, 0.5, 1, &reward, &at));
    assert_true(reward == -5.0);
    assert_false(was_uncovered);
    assert_true(take(model, env, 0.0, 2, &reward, &at));
    assert_true(reward == -3.0);
    assert_true(was_uncovered);
    assert_true(rh_env_task(env)->reward_lo == -5.0 - 10.0 * 3.0);
    rh_env_destroy(env);

    // where the usual step goes nowhere there is no unit to charge by, and nothing is free
    ((rh_knn *)model->member[0])->step = 0.0;
    env = env_of(model, param);
    assert_true(take(model, env, 2.0, 1, &reward, &at));
    assert_true(reward == -3.0);
    assert_true(at == 2.0);
    assert_false(take(model, env, 0.5, 1, &reward, &at));
    assert_true(reward == -5.0);
    assert_true(rh_env_task(env)->reward_lo == -5.0);
    rh_env_destroy(env);

    // no reach at all
    param[RH_KNN_REACH] = RH_KNN_NONE;
    param[RH_KNN_OUT_OF_COVERAGE] = RH_KNN_PESSIMISTIC;
    env = env_of(model, param);
    assert_false(take(model, env, 2.0, 1, &reward, &at));
    assert_true(reward == -5.0);
    assert_false(was_uncovered);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// In a continuing task nothing ends: what would goes on from a start.
static void never_ending(void **unused)
{
    (void)unused;
    rh_log *log = log_of(lane, 5, 3);
    double param[RH_KNN_NPARAM], reward, at;
    initial(param);
    param[RH_KNN_K] = 1;
    param[RH_KNN_REACH] = RH_KNN_FIXED;
    param[RH_KNN_REACH_DISTANCE] = 0.5;
    rh_model_options opt = plain_options();
    opt.param = param;
    opt.episodes = RH_EPISODES_CONTINUE;
    opt.gamma = 0.0; // a horizon of one step
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(model->lowest == -5.0);
    assert_true(model->highest == -1.0);
    rh_env *env = env_of(model, NULL);
    assert_false(take(model, env, 2.0, 1, &reward, &at));
    assert_true(reward == -5.0);
    assert_true(at == 0.0);
    assert_true(was_uncovered);
    assert_false(take(model, env, 2.0, 0, &reward, &at)); // terminal in the log
    assert_true(reward == -1.0);
    assert_true(at == 0.0);
    assert_false(was_uncovered);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// A terminal step without s' shows its s; one cut off goes on.
static void ends_of_episodes(void **unused)
{
    (void)unused;
    double none = NAN;
    const walk w[] = {{0, 0, -1, 1, 0, 1},
                      {1, 0, -1, none, ENDS, 0},
                      {5, 0, -2, 6, CUT, 1},
                      {6, 0, -3, 7, 0, 1},
                      {7, 0, -3, 8, ENDS, 0}};
    rh_log *log = log_of(w, 5, 1);
    double param[RH_KNN_NPARAM], reward, at;
    initial(param);
    param[RH_KNN_K] = 1;
    rh_model *model = fit_with(log, param, RH_EPISODES_AUTO);
    rh_env *env = env_of(model, NULL);
    assert_true(take(model, env, 1.0, 0, &reward, &at));
    assert_true(reward == -1.0);
    assert_true(at == 1.0);
    assert_false(take(model, env, 5.0, 0, &reward, &at));
    assert_true(reward == -2.0);
    assert_true(at == 6.0);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- agents

// Runs of an agent in members of an ensemble: any number of threads, one result.
static void results(void **unused)
{
    (void)unused;
    enum { NMEMBER = 3, NRUN = 4, N = NMEMBER * NRUN };
    rh_log *log = log_by_chance(23, 600, 2, 3);
    rh_model_options opt = plain_options();
    opt.nmember = NMEMBER;
    opt.resample = RH_RESAMPLE_SUBSET;
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_env *env[NMEMBER] = {NULL};
    rh_error err = {""};
    for (int m = 0; m < NMEMBER; m++)
        assert_int_equal(rh_model_env(&env[m], model, m, NULL, &err), RH_OK);
    const rh_agent_type *agent = rh_agent_find("esarsa", &err);
    assert_non_null(agent);
    double hp[32];
    rh_param_initial(agent->param, agent->nparam, hp);
    rh_result first[N], result[N];
    for (int nthread = 1; nthread <= 3; nthread++) {
        rh_eval_options eval = rh_eval_defaults(rh_env_task(env[0]));
        eval.nrun = NRUN;
        eval.nthread = nthread;
        if (rh_eval_runs(env, NMEMBER, agent, rh_env_task(env[0]), 1, hp, &eval, result, NULL,
                         &err))
            fail_msg("%s", err.text);
        if (nthread == 1)
            memcpy(first, result, sizeof result);
        for (int i = 0; i < N; i++) {
            assert_int_equal(result[i].outcome, RH_FINISHED);
            assert_true(result[i].score == first[i].score);
            assert_int_equal(result[i].nepisode, first[i].nepisode);
        }
    }
    assert_true(first[0].score != first[NRUN].score);
    for (int m = 0; m < NMEMBER; m++)
        rh_env_destroy(env[m]);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_very_trajectories),
        cmocka_unit_test(the_same_run),
        cmocka_unit_test(as_often_as_they_should),
        cmocka_unit_test(fewer),
        cmocka_unit_test(beyond_reach),
        cmocka_unit_test(never_ending),
        cmocka_unit_test(ends_of_episodes),
        cmocka_unit_test(results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
