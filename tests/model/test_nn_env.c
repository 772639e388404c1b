// test_nn_env.c - the environment of a neural network model: starts of the log, steps as
// predicted, ends by threshold or by chance, nothing allocated, and what cannot be changed is
// refused.

#include "base/base.h"
#include "base/base_internal.h"
#include "nn_sample.h"

static void fit_small(sample *s, rh_nn **nn, bool ends)
{
    linear_sample(s, 600, true, ends, 1);
    s->param[RH_NN_EPOCHS] = 10;
    s->param[RH_NN_RATE] = 2e-3;
    s->param[RH_NN_HIDDEN] = 16;
    s->model.nstart = 5;
    *nn = fit_sample(s);
}

static rh_env *env_with(const sample *s, const void *member, const double *param)
{
    rh_env *env = NULL;
    rh_error err;
    rh_status rc = rh_model_nn.calls->env(&env, &s->model, member, param, &err);
    if (rc)
        fail_msg("%s", err.text);
    return env;
}

static rh_streams streams_of(uint64_t seed)
{
    return (rh_streams){.start = rh_rng_stream(seed, RH_STREAM_START, 0, 0),
                        .noise = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0)};
}

static void starts_are_of_the_log(void **unused)
{
    (void)unused;
    static sample s;
    rh_nn *nn;
    fit_small(&s, &nn, true);
    rh_env *env = env_with(&s, nn, s.param);
    void *state = rh_alloc(1, rh_env_state_size(env));
    assert_non_null(state);
    rh_streams streams = streams_of(1);
    int often[5] = {0};
    double obs[2];
    for (int i = 0; i < 1000; i++) {
        rh_env_start(env, state, &streams, obs);
        int which = 0;
        while (which < 5 && memcmp(s.obs + 2 * s.start[which], obs, sizeof obs) != 0)
            which++;
        assert_true(which < 5);
        often[which]++;
    }
    for (int i = 0; i < 5; i++) {
        assert_true(often[i] > 140);
        assert_true(often[i] < 260);
    }
    rh_free(state);
    rh_env_destroy(env);
    rh_nn__destroy(nn);
}

// Every step is what the member expects, and allocates nothing.
static void steps_are_predictions(void **unused)
{
    (void)unused;
    static sample s;
    rh_nn *nn;
    fit_small(&s, &nn, true);
    rh_env *env = env_with(&s, nn, s.param);
    void *state = rh_alloc(1, rh_env_state_size(env));
    assert_non_null(state);
    rh_streams streams = streams_of(2), before = streams;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double obs[2], next[2], now[2], reward;
    int nend = 0;
    rh_env_start(env, state, &streams, obs);
    for (int i = 0; i < 500; i++) {
        double act[] = {rh_rng_below(&rng, 3)};
        memcpy(now, obs, sizeof now);
        int64_t made = rh_base__alloc_count();
        bool ended = rh_env_step(env, state, act, &streams, obs, &reward);
        assert_int_equal(rh_base__alloc_count(), made);
        rh_model__expected e = expect(&s, nn, now, act, next);
        assert_true(e.reward == reward);
        assert_true(e.terminal == ended);
        assert_memory_equal(next, obs, sizeof obs);
        nend += ended;
        if (ended || i % 10 == 9)
            rh_env_start(env, state, &streams, obs);
    }
    assert_true(nend > 0);
    assert_memory_equal(&streams.noise, &before.noise, sizeof streams.noise); // no chance in it

    // no fixed observations, the model's task
    int32_t nentry;
    assert_null(rh_contract__env_fixed_obs(env, &nentry));
    assert_int_equal(rh_env_task(env)->naction, 3);
    rh_free(state);
    rh_env_destroy(env);
    rh_nn__destroy(nn);
}

// A block copied to another place, aligned to doubles only, goes on in the same way.
static void blocks_can_be_copied(void **unused)
{
    (void)unused;
    static sample s;
    rh_nn *nn;
    fit_small(&s, &nn, false);
    rh_env *env = env_with(&s, nn, s.param);
    size_t size = rh_env_state_size(env);
    char *block = rh_alloc(2, size + 64);
    assert_non_null(block);
    rh_streams streams = streams_of(3);
    double a[2], b[2], ra, rb;
    rh_env_start(env, block, &streams, a);
    for (size_t off = 8; off < 64; off += 8) {
        char *copy = block + (size + 63) / 64 * 64 + off;
        memcpy(copy, block, size);
        assert_false(rh_env_step(env, copy, (double[]){1.0}, &streams, b, &rb));
        assert_false(rh_env_step(env, block, (double[]){1.0}, &streams, a, &ra));
        assert_true(ra == rb);
        assert_true(a[0] == b[0]);
        assert_true(a[1] == b[1]);
    }
    rh_free(block);
    rh_env_destroy(env);
    rh_nn__destroy(nn);
}

// With ending = draw an episode ends as often as predicted, by one number a step.
static void ends_by_chance(void **unused)
{
    (void)unused;
    static sample s;
    rh_nn *nn;
    double param[RH_NN_NPARAM], obs[2], next[2], reward, chance = 0.0, at = 0.0;
    fit_small(&s, &nn, true);
    memcpy(param, s.param, sizeof param);
    param[RH_NN_ENDING] = RH_NN_DRAW;
    rh_env *env = env_with(&s, nn, param);
    assert_true(rh_contract__env_options(env)[RH_NN_ENDING] == RH_NN_DRAW);

    // somewhere it is neither sure nor impossible
    s.param[RH_NN_ENDING] = RH_NN_DRAW;
    for (double x = 1.0; x < 2.0 && !(chance > 0.2 && chance < 0.8); x += 0.02) {
        chance = expect(&s, nn, (double[]){x, 0.0}, (double[]){0.0}, next).terminal;
        at = x;
    }
    assert_true(chance > 0.2);
    assert_true(chance < 0.8);

    void *state = rh_alloc(1, rh_env_state_size(env));
    assert_non_null(state);
    rh_streams streams = streams_of(4);
    rh_rng noise = streams.noise;
    int nend = 0;
    s.model.nstart = 1;
    for (int i = 0; i < 2000; i++) {
        rh_env_start(env, state, &streams, obs);
        memcpy(state, (double[]){at, 0.0}, 2 * sizeof(double));
        bool ended = rh_env_step(env, state, (double[]){0.0}, &streams, obs, &reward);
        assert_int_equal(ended, rh_rng_uniform(&noise) < chance);
        nend += ended;
    }
    assert_true(fabs(nend / 2000.0 - chance) < 0.05);
    assert_memory_equal(&streams.noise, &noise, sizeof noise);
    rh_free(state);
    rh_env_destroy(env);
    rh_nn__destroy(nn);
}

// In a continuing task no episode ends: an end leads to a start.
static void ends_of_a_continuing_task(void **unused)
{
    (void)unused;
    static sample s;
    rh_nn *nn;
    double obs[2], reward, next[2], at = 0.0;
    fit_small(&s, &nn, true);
    for (double x = 1.0; x < 3.0 && at == 0.0; x += 0.02)
        if (expect(&s, nn, (double[]){x, 0.0}, (double[]){0.0}, next).terminal > 0.0)
            at = x;
    assert_true(at > 0.0);
    s.model.nstart = 1;
    for (int continuing = 0; continuing < 2; continuing++) {
        s.model.task.continuing = continuing;
        rh_env *env = env_with(&s, nn, s.param);
        void *state = rh_alloc(1, rh_env_state_size(env));
        assert_non_null(state);
        rh_streams streams = streams_of(4);
        rh_env_start(env, state, &streams, obs);
        memcpy(state, (double[]){at, 0.0}, 2 * sizeof(double));
        bool ended = rh_env_step(env, state, (double[]){0.0}, &streams, obs, &reward);
        assert_int_equal(ended, !continuing);
        bool starts = memcmp(obs, s.obs + 2 * s.start[0], sizeof obs) == 0;
        assert_int_equal(starts, continuing);
        assert_true(!continuing || memcmp(state, obs, sizeof obs) == 0);
        rh_free(state);
        rh_env_destroy(env);
    }
    rh_nn__destroy(nn);
}

static void what_was_fitted_stays(void **unused)
{
    (void)unused;
    static sample s;
    rh_nn *nn;
    rh_error err;
    fit_small(&s, &nn, false);
    static const struct {
        int which;
        double value;
        const char *message;
    } refused[] = {
        {RH_NN_INPUT, RH_NN_CODE, "nn: input = code, expected state as fitted; fit again"},
        {RH_NN_TARGET, RH_NN_NEXT, "nn: target = next, expected change as fitted; fit again"},
        {RH_NN_HIDDEN, 64, "nn: hidden = 64, expected 16 as fitted; fit again"},
        {RH_NN_RATE, 0.01, "nn: rate = 0.01, expected 0.002 as fitted; fit again"},
        {RH_NN_BATCH, 1, "nn: batch = 1, expected 16 as fitted; fit again"},
        {RH_NN_EPOCHS, 11, "nn: epochs = 11, expected 10 as fitted; fit again"},
        {RH_NN_PATIENCE, 4, "nn: patience = 4, expected 3 as fitted; fit again"},
        {RH_NN_HELD_OUT, 0.25, "nn: held_out = 0.25, expected 0.2 as fitted; fit again"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        double param[RH_NN_NPARAM];
        rh_env *env = NULL;
        memcpy(param, s.param, sizeof param);
        param[refused[i].which] = refused[i].value;
        rh_status rc = rh_model_nn.calls->env(&env, &s.model, nn, param, &err);
        assert_int_equal(rc, RH_EINVAL);
        assert_null(env);
        assert_string_equal(err.text, refused[i].message);
    }
    rh_nn__destroy(nn);
}

static void every_failed_allocation(void **unused)
{
    (void)unused;
    static sample s;
    rh_nn *nn;
    fit_small(&s, &nn, false);
    int64_t live = rh_base__alloc_live();
    bool done = false;
    for (int nth = 1; !done; nth++) {
        rh_env *env = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_model_nn.calls->env(&env, &s.model, nn, s.param, NULL);
        rh_base__alloc_fail_at(0);
        done = rc == RH_OK;
        assert_true(done || rc == RH_ENOMEM);
        rh_env_destroy(env);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_nn__destroy(nn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_are_of_the_log),     cmocka_unit_test(steps_are_predictions),
        cmocka_unit_test(blocks_can_be_copied),      cmocka_unit_test(ends_by_chance),
        cmocka_unit_test(ends_of_a_continuing_task), cmocka_unit_test(what_was_fitted_stays),
        cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
