// test_copies.c - copies of an environment do what the environment alone does.

#include "env/env_test.h"
#include "numeric/kernels.h"

#include "env/alloc_test.h"

#include "rehearse/env.h"

enum { N = 19, NSTEP = 700 }; // N: whole vectors and a rest

static rh_env *simulator(const char *name)
{
    rh_env *env = NULL;
    rh_error err;
    if (rh_env_create(&env, rh_env_find(name, NULL), NULL, &err))
        fail_msg("%s", err.text);
    return env;
}

// Every simulator: copy i is a run of the environment with seed 10 + i, episode by episode.
static void compare_with_single_runs(void)
{
    for (int k = 0; k < rh_env_ntype(); k++) {
        rh_env *env = simulator(rh_env_type_at(k)->name);
        const rh_task *task = rh_env_task(env);
        rh_copies *copies = NULL;
        double obs[N * RH_MAX_OBS], act[N * RH_MAX_ACT], reward[N], one_reward = 0.0;
        double one[N][RH_MAX_OBS];
        bool terminal[N], truncated[N], ended[N] = {false};
        int64_t length[N] = {0};
        rh_streams streams[N];
        char *state[N];
        assert_int_equal(rh_copies_create(&copies, env, N, 100, NULL), RH_OK);
        for (int i = 0; i < N; i++) {
            rh_copies_seed(copies, i, (uint64_t)(10 + i));
            streams[i] = streams_of((uint64_t)(10 + i));
            state[i] = rh_alloc(1, rh_env_state_size(env));
            rh_env_start(env, state[i], &streams[i], one[i]);
        }
        rh_copies_start(copies, NULL, obs);
        rh_rng rng = rh_rng_stream(99, RH_STREAM_AGENT, 0, 0);
        int64_t before = rh_base__alloc_count();
        int nstart = 0;
        for (int t = 0; t < NSTEP; t++) {
            for (int i = 0; i < N * task->nact; i++)
                act[i] = task->naction ? rh_rng_below(&rng, (uint32_t)task->naction)
                                       : rh_rng_range(&rng, task->act_lo[0], task->act_hi[0]);
            rh_copies_step(copies, act, obs, reward, terminal, truncated);
            for (int i = 0; i < N; i++) {
                bool end = false;
                one_reward = 0.0;
                if (ended[i]) {
                    rh_env_start(env, state[i], &streams[i], one[i]);
                    length[i] = 0;
                    nstart++;
                } else {
                    end = rh_env_step(env, state[i], act + i * task->nact, &streams[i], one[i],
                                      &one_reward);
                    length[i]++;
                }
                assert_int_equal(terminal[i], end);
                assert_int_equal(truncated[i], !end && length[i] == 100);
                ended[i] = end || length[i] == 100;
                assert_true(reward[i] == one_reward);
                assert_memory_equal(obs + i * task->nobs, one[i],
                                    (size_t)task->nobs * sizeof(double));
            }
        }
        assert_int_equal(rh_base__alloc_count(), before); // nothing is allocated in a step
        assert_true(nstart >= N * 6);
        assert_int_equal(rh_copies_uncovered(copies, terminal), 0);
        assert_null(rh_copies_reason(copies, 0));
        rh_copies_destroy(copies);
        for (int i = 0; i < N; i++)
            rh_free(state[i]);
        rh_env_destroy(env);
    }
}

static void copies_repeat_single_runs(void **unused)
{
    (void)unused;
    for (int isa = 1; isa <= rh_isa__count(); isa++) {
        rh_isa__limit(isa);
        compare_with_single_runs();
    }
    rh_isa__limit(0);
}

static void some_copies_can_start_alone(void **unused)
{
    (void)unused;
    rh_env *env = simulator("mountain_car");
    rh_copies *copies = NULL;
    uint8_t which[3] = {0, 1, 0};
    double obs[6], kept[6], reward[3], act[3] = {0.0};
    bool terminal[3], truncated[3];
    assert_int_equal(rh_copies_create(&copies, env, 3, INT64_MAX, NULL), RH_OK);
    rh_copies_step(copies, act, obs, reward, terminal, truncated); // begins all of them
    assert_true(reward[0] == 0.0);
    rh_copies_step(copies, act, obs, reward, terminal, truncated);
    assert_true(reward[0] == -1.0);
    memcpy(kept, obs, sizeof kept);
    rh_copies_start(copies, which, obs);
    assert_memory_equal(obs, kept, 2 * sizeof *obs);
    assert_true(obs[2] != kept[2]);
    act[1] = 3.0; // there is no such action: no step
    rh_copies_step(copies, act, obs, reward, terminal, truncated);
    assert_true(isnan(reward[1]));
    assert_true(reward[0] == -1.0);
    memcpy(obs, kept, sizeof obs);
    assert_memory_equal(obs + 4, kept + 4, 2 * sizeof *obs);
    rh_copies_destroy(copies);
    rh_env_destroy(env);
}

static void nonsense_is_refused(void **unused)
{
    (void)unused;
    rh_env *env = simulator("pendulum");
    rh_copies *copies = NULL;
    rh_error err;
    assert_int_equal(rh_copies_create(&copies, env, 0, 1, &err), RH_EINVAL);
    assert_string_equal(err.text, "copies: n = 0, expected 1 or more");
    assert_int_equal(rh_copies_create(&copies, env, 1, 0, &err), RH_EINVAL);
    assert_string_equal(err.text, "copies: cutoff = 0, expected 1 or more");
    assert_null(copies);
    rh_copies_destroy(NULL);

    int64_t live = rh_base__alloc_live();
    rh_status rc;
    int nth = 0;
    do {
        rh_base__alloc_fail_at(++nth);
        rc = rh_copies_create(&copies, env, 4, 10, &err);
        rh_copies_destroy(rc ? NULL : copies);
    } while (allocation_failed(rc, &err, live));
    assert_true(nth > 3);
    rh_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_repeat_single_runs),
        cmocka_unit_test(some_copies_can_start_alone),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
