// test_knn_search.c - continuous actions: neighbours of state and action together against
// comparing all, beside the code and inside it; actions kept within what the log knows.

#include "base/base_internal.h"
#include "model_sample.h"

#include "base/base.h"
#include "model/knn_internal.h"

#include <stdlib.h>

static rh_model *fit_with(const rh_log *log, const double *param, bool both)
{
    rh_model_options opt = plain_options();
    opt.param = param;
    return fit_plain(&rh_model_knn, log, both, &opt);
}

static rh_env *env_of(const rh_model *model, const double *param)
{
    rh_env *env = NULL;
    rh_error err = {""};
    if (rh_model_env(&env, model, 0, param, &err))
        fail_msg("%s", err.text);
    return env;
}

// A step from a given row: the state block is entered by a start, and the model told that
// there is but that one.
static bool step_from(rh_model *model, const rh_env *env, void *state, int32_t row,
                      const double *act, uint64_t run, double *obs, double *reward)
{
    int32_t *start = model->start;
    int64_t nstart = model->nstart;
    rh_streams streams = {rh_rng_stream(7, RH_STREAM_START, 0, run),
                          rh_rng_stream(7, RH_STREAM_NOISE, 0, run)};
    model->start = &row;
    model->nstart = 1;
    rh_env_start(env, state, &streams, obs);
    assert_int_equal(rh_contract__env_obs_index(env, state), row);
    bool end = rh_env_step(env, state, act, &streams, obs, reward);
    model->start = start;
    model->nstart = nstart;
    return end;
}

// ---------------------------------------------------------------------------- all compared

// The k nearest transitions to (obs, act), by all pairs. Actions are -1 to 1 in these logs.
static void compare_all(const rh_model *model, const double *obs, const double *act,
                        double weight, int k, int32_t *nearest, float *distance)
{
    const rh_log *log = model->log;
    for (int i = 0; i < k; i++)
        distance[i] = INFINITY;
    for (int32_t t = 0; t < log->n; t++) {
        float square = 0.0f;
        for (int j = 0; j < log->nobs + log->nact; j++) {
            bool state = j < log->nobs;
            int a = j - log->nobs;
            float x = state ? (float)obs[j] : (float)(act[a] * weight);
            float y = state ? (float)log->obs[log->from[t] * log->nobs + j]
                            : (float)(log->act[t * log->nact + a] * weight);
            square = square + (x - y) * (x - y);
        }
        float d = sqrtf(square);
        int i = k;
        for (; i > 0 && d < distance[i - 1]; i--)
            if (i < k) {
                distance[i] = distance[i - 1];
                nearest[i] = nearest[i - 1];
            }
        if (i < k) {
            distance[i] = d;
            nearest[i] = t;
        }
    }
}

static void as_all_compared(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(31, 300, 3, 0);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_REACH] = RH_KNN_NONE;
    param[RH_KNN_K] = 4;
    for (int variant = 0; variant < 3; variant++) {
        bool both = variant == 2; // the code is of both, which scales nothing here
        double weight = variant == 1 ? 0.25 : 1.0;
        param[RH_KNN_ACTION_WEIGHT] = weight;
        rh_model *model = fit_with(log, param, both);
        assert_int_equal(model->code == NULL, both);
        rh_env *env = env_of(model, NULL);
        void *state = rh_alloc(1, rh_env_state_size(env));
        int32_t nentry;
        assert_ptr_equal(rh_contract__env_fixed_obs(env, &nentry), model->log->obs);
        assert_int_equal(nentry, model->log->nstate);
        int64_t made = rh_base__alloc_count();
        for (int i = 0; i < 300; i++) {
            int32_t row = (int32_t)rh_rng_below(&rng, (uint32_t)nentry), nearest[4];
            float distance[4];
            double act[2] = {rh_rng_range(&rng, -1.0, 1.0), rh_rng_range(&rng, -1.0, 1.0)};
            double obs[3], reward, p[4], sum = 0.0;
            compare_all(model, model->log->obs + row * 3, act, weight, 4, nearest, distance);
            rh_knn__weigh(param, distance, 4, p);
            bool end = step_from(model, env, state, row, act, (uint64_t)i, obs, &reward);

            // the one that the next number of the stream asks for
            rh_rng noise = rh_rng_stream(7, RH_STREAM_NOISE, 0, (uint64_t)i);
            double u = rh_rng_uniform(&noise);
            int chosen = 0;
            while (chosen < 3 && u >= (sum += p[chosen]))
                chosen++;
            int32_t t = nearest[chosen];
            assert_true(reward == log->reward[t]);
            assert_int_equal(end, log->flag[t] & RH_FLAG_TERMINAL);
            assert_memory_equal(obs, model->log->obs + model->log->to[t] * 3, sizeof obs);
            assert_int_equal(rh_contract__env_obs_index(env, state), model->log->to[t]);
        }
        assert_int_equal(rh_base__alloc_count(), made);
        rh_free(state);
        rh_env_destroy(env);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// What is expected: the same neighbours.
static void expected(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(32, 200, 2, 0);
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    for (int both = 0; both < 2; both++) {
        rh_model *model = fit_with(log, NULL, both);
        rh_rng rng = rh_rng_stream(2, RH_STREAM_AGENT, 0, 0);
        for (int i = 0; i < 100; i++) {
            double obs[2] = {rh_rng_uniform(&rng), rh_rng_uniform(&rng)}, next[2];
            double act[2] = {rh_rng_range(&rng, -1.0, 1.0), rh_rng_range(&rng, -1.0, 1.0)};
            int32_t nearest[3];
            float distance[3];
            double p[3], reward = 0.0, ends = 0.0;
            rh_model__expected e = {.next = next};
            rh_error err = {""};
            assert_int_equal(
                rh_model_knn.calls->expect(&e, model, model->member[0], obs, act, &err), RH_OK);
            compare_all(model, obs, act, 1.0, 3, nearest, distance);
            rh_knn__weigh(param, distance, 3, p);
            for (int j = 0; j < 3; j++) {
                reward += p[j] * log->reward[nearest[j]];
                ends += log->flag[nearest[j]] & RH_FLAG_TERMINAL ? p[j] : 0.0;
            }
            assert_true(fabs(e.reward - reward) < 1e-14);
            assert_true(fabs(e.terminal - ends) < 1e-14);
            assert_true(e.distance == (double)distance[0]);
            assert_int_equal(e.out_of_coverage,
                             e.distance > rh_knn__reach(model->member[0], model->param));
        }
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- actions

// Three steps from one state: pushes of -2, 0 and 6 move by as much.
static const walk push[] = {
    {0, -2, -1, -2, CUT, 1}, {0, 0, -2, 0.5, CUT, 1}, {0, 6, -3, 6, ENDS, 1}};

static void kept_within(void **unused)
{
    (void)unused;
    rh_log *log = log_of(push, 3, 0);
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_K] = 1;
    param[RH_KNN_REACH] = RH_KNN_FIXED;
    param[RH_KNN_REACH_DISTANCE] = 0.26; // scaled, the actions are -1, -0.5 and 1
    for (int both = 0; both < 2; both++) {
        param[RH_KNN_REACH_DISTANCE] = both ? 1.1 : 0.26;
        rh_model *model = fit_with(log, param, both);
        rh_env *env = env_of(model, NULL);
        void *state = rh_alloc(1, rh_env_state_size(env));
        static const struct {
            double act, reward, x;
            bool ends;
        } taken[] = {
            {-2.0, -1.0, -2.0, false}, {-1e9, -1.0, -2.0, false}, {-1.1, -1.0, -2.0, false},
            {-0.9, -2.0, 0.5, false},  {1.0, -2.0, 0.5, false},   {5.5, -3.0, 6.0, true},
            {1e9, -3.0, 6.0, true},    {3.0, -3.0, 0.0, true}, // too far from all
        };
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
            double obs[2], reward;
            int32_t row = model->log->from[0];
            bool end = step_from(model, env, state, row, &taken[i].act, i, obs, &reward);
            if (reward != taken[i].reward || obs[0] != taken[i].x || end != taken[i].ends)
                fail_msg("action %g: reward %g to %g", taken[i].act, reward, obs[0]);
            assert_int_equal(rh_contract__env_uncovered(env, state), taken[i].act == 3.0);
        }
        rh_free(state);
        rh_env_destroy(env);

        // out of coverage, at a cost: 3 is 0.75 from 0 when scaled, or 3 when not
        double charged[RH_KNN_NPARAM], obs[2], reward, three = 3.0;
        memcpy(charged, model->param, sizeof charged);
        charged[RH_KNN_OUT_OF_COVERAGE] = RH_KNN_CHARGED;
        charged[RH_KNN_COST] = 1.0;
        ((rh_knn *)model->member[0])->step = 0.5;
        env = env_of(model, charged);
        state = rh_alloc(1, rh_env_state_size(env));
        assert_false(
            step_from(model, env, state, model->log->from[0], &three, 0, obs, &reward));
        double toll = both ? (3.0 - 1.1) / 0.5 : (0.75 - 0.26) / 0.5;
        assert_true(fabs(reward - (-2.0 - toll)) < 1e-12);
        assert_true(rh_contract__env_uncovered(env, state));
        assert_true(both ? isinf(rh_env_task(env)->reward_lo)
                         : rh_env_task(env)->reward_lo < -3.0 - toll);
        rh_free(state);
        rh_env_destroy(env);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// An action that never changes tells nothing, and breaks nothing.
static void one_action(void **unused)
{
    (void)unused;
    static const walk same[] = {{0, 3, -1, 1, 0, 1}, {1, 3, -2, 2, ENDS, 0}};
    rh_log *log = log_of(same, 2, 0);
    for (int both = 0; both < 2; both++) {
        rh_model *model = fit_with(log, NULL, both);
        rh_env *env = env_of(model, NULL);
        void *state = rh_alloc(1, rh_env_state_size(env));
        for (int i = 0; i < 20; i++) {
            double obs[2], reward, act = i - 10.0;
            step_from(model, env, state, model->log->from[0], &act, (uint64_t)i, obs, &reward);
            assert_true(reward == -1.0 || reward == -2.0);
        }
        rh_free(state);
        rh_env_destroy(env);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// In a continuing task a run continues from a start, out of coverage and after an end.
static void never_ending(void **unused)
{
    (void)unused;
    rh_log *log = log_of(push, 3, 0);
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_K] = 1;
    param[RH_KNN_REACH] = RH_KNN_FIXED;
    param[RH_KNN_REACH_DISTANCE] = 0.3;
    rh_model_options opt = plain_options();
    opt.param = param;
    opt.episodes = RH_EPISODES_CONTINUE;
    opt.gamma = 0.5;
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_env *env = env_of(model, NULL);
    void *state = rh_alloc(1, rh_env_state_size(env));
    double obs[2], reward;
    static const double act[] = {6.0, 3.0}; // an end of the log; too far from all
    for (int i = 0; i < 2; i++) {
        int32_t row = model->log->from[0];
        assert_false(step_from(model, env, state, row, &act[i], 1, obs, &reward));
        assert_true(reward == -3.0);
        assert_true(obs[0] == 0.0);
        assert_int_equal(rh_contract__env_uncovered(env, state), i == 1);
    }
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- the rest

static void too_wide(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(1, 30, 63, 0);
    rh_repr *repr = plain_repr(log, false);
    rh_model_options opt = plain_options();
    fit_refused(&rh_model_knn, log, repr, &opt,
                "knn: codes of 63 and actions of 2 numbers, expected at most 64 together");
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

static void without_memory(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(33, 60, 2, 0);
    for (int both = 0; both < 2; both++) {
        rh_repr *repr = plain_repr(log, both);
        rh_model_options opt = plain_options();
        opt.resample = RH_RESAMPLE_SUBSET;
        int64_t live = rh_base__alloc_live(), n = 0;
        rh_model *model = NULL;
        rh_status rc = RH_ENOMEM;
        while (rc) {
            rh_error err = {""};
            rh_base__alloc_fail_at(++n);
            rc = rh_model_fit(&model, &rh_model_knn, log, repr, &opt, &err);
            rh_base__alloc_fail_at(0);
            if (rc && (rc != RH_ENOMEM || model || rh_base__alloc_live() != live))
                fail_msg("allocation %d: %d '%s'", (int)n, (int)rc, err.text);
        }
        rh_env *env = NULL;
        int64_t fitted = rh_base__alloc_live();
        rc = RH_ENOMEM;
        for (n = 1; rc; n++) {
            rh_base__alloc_fail_at(n);
            rc = rh_model_env(&env, model, 0, NULL, NULL);
            rh_base__alloc_fail_at(0);
            assert_true(rc == RH_OK || (rc == RH_ENOMEM && rh_base__alloc_live() == fitted));
        }
        double next[2], act[2] = {0.0, 0.0};
        rh_model__expected e = {.next = next};
        rh_base__alloc_fail_at(1);
        assert_int_equal(
            rh_model_knn.calls->expect(&e, model, model->member[0], model->log->obs, act, NULL),
            RH_ENOMEM);
        rh_base__alloc_fail_at(0);
        rh_env_destroy(env);
        rh_model_destroy(model);
        assert_int_equal(rh_base__alloc_live(), live);
        rh_repr_destroy(repr);
    }
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_all_compared), cmocka_unit_test(expected),
        cmocka_unit_test(kept_within),     cmocka_unit_test(one_action),
        cmocka_unit_test(never_ending),    cmocka_unit_test(too_wide),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
