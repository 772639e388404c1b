// test_mixed.c - the members of a model as one environment: an episode is in one member, as by
// itself, and all members have their turn.

#include "model/model.h"
#include "model_sample.h"

enum { NMEMBER = 3, EPISODES = 60, STEPS = 12 };

static rh_model *fitted(rh_log *log)
{
    rh_repr *repr = plain_repr(log, false);
    rh_model_options opt = rh_model_defaults();
    rh_model *model = NULL;
    rh_error err = {""};
    opt.nmember = NMEMBER;
    opt.resample = RH_RESAMPLE_BOOTSTRAP;
    opt.fidelity = false;
    if (rh_model_fit(&model, &rh_model_knn, log, repr, &opt, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
    return model;
}

// Sums of an episode's rewards and observations.
static double episode(const rh_env *env, rh_streams streams)
{
    double obs[2], act[1] = {0.0}, reward, sum;
    void *state = rh_alloc(rh_env_state_size(env), 1);
    assert_non_null(state);
    rh_env_start(env, state, &streams, obs);
    sum = obs[0];
    bool ends = false;
    for (int i = 0; i < STEPS && !ends; i++) {
        act[0] = i % 2;
        ends = rh_env_step(env, state, act, &streams, obs, &reward);
        sum += (i + 2) * (obs[0] + reward);
    }
    rh_free(state);
    return sum;
}

static void episodes_are_of_members(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(3, 400, 2, 2);
    rh_model *model = fitted(log);
    rh_env *mixed = NULL, *member[NMEMBER];
    int seen[NMEMBER] = {0};
    assert_int_equal(rh_model__mixed_env(&mixed, model, NULL), RH_OK);
    for (int m = 0; m < NMEMBER; m++)
        assert_int_equal(rh_model_env(&member[m], model, m, NULL, NULL), RH_OK);
    for (uint32_t e = 0; e < EPISODES; e++) {
        rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, e, 0),
                              rh_rng_stream(1, RH_STREAM_NOISE, e, 0)};
        rh_streams after = streams; // the draw of the member
        int which = (int)rh_rng_below(&after.start, NMEMBER);
        seen[which]++;
        assert_true(episode(mixed, streams) == episode(member[which], after));
    }
    for (int m = 0; m < NMEMBER; m++) {
        assert_true(seen[m] > EPISODES / NMEMBER / 3);
        rh_env_destroy(member[m]);
    }
    rh_env_destroy(mixed);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void without_memory(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(3, 400, 2, 2);
    rh_model *model = fitted(log);
    rh_status rc = RH_ENOMEM;
    for (int nth = 1; rc == RH_ENOMEM; nth++) {
        rh_env *mixed = NULL;
        rh_base__alloc_fail_at(nth);
        rc = rh_model__mixed_env(&mixed, model, NULL);
        rh_base__alloc_fail_at(0);
        assert_true((rc == RH_OK) == (mixed != NULL));
        rh_env_destroy(mixed);
        assert_true(nth < 1000);
    }
    assert_int_equal(rc, RH_OK);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_are_of_members),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
