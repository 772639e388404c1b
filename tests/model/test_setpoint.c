// test_setpoint.c - setpoints that are drawn: when they jump, ramps, their range, errors that
// the log never had, replays, other kinds.

#include "base/base.h"
#include "model/linear_internal.h"
#include "model/model.h"
#include "model_sample.h"

#define NSTEP 2000
#define HELD 50

enum { T, SP, ERROR };

// What the setpoint of a heated tank does: it is 20, 24 or 30 and jumps every 50 steps; or goes
// up and down between them and is read with noise; or stays in an episode of 50 steps, which
// begins and stays near it.
typedef enum way { JUMPS, RAMPS, STAYS } way;

static double next_setpoint(way which, int i, double sp, rh_rng *rng)
{
    static const double set[] = {20.0, 24.0, 30.0};
    if (which == RAMPS)
        return 25.0 + 5.0 * sin(i / 150.0) + 0.02 * rh_rng_range(rng, -1.0, 1.0);
    return i % HELD ? sp : set[rh_rng_below(rng, 3)];
}

static rh_log *tank(way which)
{
    rh_log_shape shape = {.nobs = 3, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
    double t = 20.0, sp = 20.0;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        bool stays = which == STAYS, begins = stays && i % HELD == 0;
        sp = next_setpoint(which, i, sp, &rng);
        t = begins ? sp + rh_rng_range(&rng, -0.1, 0.1) : t;
        double obs[] = {t, sp, sp - t};
        double u = stays ? (sp - 15.0) / 20.0 + 0.3 * (sp - t) : 0.05 * (sp - t) + 0.5;
        u += rh_rng_range(&rng, stays ? -0.05 : -0.3, stays ? 0.05 : 0.3);
        rh_log_row row = {.obs = obs, .act = &u, .reward = -fabs(sp - t), .begins = begins};
        row.truncated = stays && i % HELD == HELD - 1;
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        t += 0.1 * (15.0 + 20.0 * u - t) + 0.02 * rh_rng_range(&rng, -1.0, 1.0);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    log->derive = "obs_2 = obs_1 - obs_0";
    log->setpoint = "obs_1=obs_0";
    log->setpoint_values = RH_SETPOINT_DRAWN;
    return log;
}

// A model of the log, written and read again.
static rh_model *model_of(const rh_log *log)
{
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_linear, log, false, &opt), *again = NULL;
    rh_error err = {""};
    assert_int_equal(rh_model_write(model, "test_setpoint.model", &err), RH_OK);
    rh_model_destroy(model);
    assert_int_equal(rh_model_read(&again, "test_setpoint.model", &err), RH_OK);
    remove("test_setpoint.model");
    return again;
}

static void drawn_where_the_log_jumps(void **unused)
{
    (void)unused;
    rh_log *log = tank(JUMPS);
    rh_model *model = model_of(log);
    rh_env *env = NULL;
    rh_error err = {""};
    assert_true(model->facts->sensor[SP].exogenous);
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    double obs[3], reward, act = 0.5, lo = INFINITY, hi = -INFINITY;
    int njump = 0, nother = 0;
    rh_env_start(env, state, &streams, obs);
    for (int i = 0; i < 20000; i++) {
        double was = obs[SP];
        rh_env_step(env, state, &act, &streams, obs, &reward);
        assert_true(obs[ERROR] == obs[SP] - obs[T]);
        assert_true(obs[SP] >= 20.0 && obs[SP] <= 30.0);
        njump += obs[SP] != was;
        nother += obs[SP] != 20.0 && obs[SP] != 24.0 && obs[SP] != 30.0;
        lo = fmin(lo, obs[SP]);
        hi = fmax(hi, obs[SP]);
    }
    // two of three jumps of the log change the value: 267 in 20,000 steps
    assert_in_range(njump, 200, 340);
    assert_true(nother > 19000);
    assert_true(lo < 20.5 && hi > 29.5);

    // a replay has the setpoints of the log
    rh_linear__stand(model, env, state, model->log->from[100]);
    for (int t = 100; t < 300; t++) {
        const rh_log *own = model->log;
        rh_env_step(env, state, own->act + t, &streams, obs, &reward);
        assert_true(obs[SP] == own->obs[(int64_t)own->to[t] * 3 + SP]);
    }
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Ramps and noisy readings stay what they are, from other beginnings.
static void ramps_go_on(void **unused)
{
    (void)unused;
    rh_log *log = tank(RAMPS);
    rh_model *model = model_of(log);
    rh_env *env = NULL;
    rh_error err = {""};
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    double obs[3], reward, act = 0.5, most = 0.0, from = NAN, to = NAN;
    for (int run = 0; run < 20; run++) {
        rh_env_start(env, state, &streams, obs);
        from = fmin(from, obs[SP]);
        to = fmax(to, obs[SP]);
        for (int i = 0; i < 1000; i++) {
            double was = obs[SP];
            rh_env_step(env, state, &act, &streams, obs, &reward);
            most = fmax(most, fabs(obs[SP] - was));
            assert_true(obs[SP] >= 19.98 && obs[SP] <= 30.02);
        }
    }
    assert_true(most > 0.0 && most < 0.1); // 0.07 in the log
    assert_true(from < 22.0 && to > 28.0); // the log begins at 25
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// An error that the log never had, since another setpoint was drawn, is not out of coverage.
static void other_errors_are_covered(void **unused)
{
    (void)unused;
    rh_log *log = tank(STAYS);
    rh_model *model = model_of(log);
    rh_env *env = NULL;
    rh_error err = {""};
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    double obs[3], reward, far = 0.0;
    for (int run = 0; run < 100; run++) {
        rh_env_start(env, state, &streams, obs);
        double act = (obs[T] - 15.0) / 20.0; // the tank stays as it is
        far = fmax(far, fabs(obs[ERROR]));
        rh_env_step(env, state, &act, &streams, obs, &reward);
        assert_false(rh_contract__env_uncovered(env, state));
        assert_true(obs[ERROR] == obs[SP] - obs[T]);
    }
    assert_true(far > 5.0); // below 1 in the log
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void other_kinds_cannot(void **unused)
{
    (void)unused;
    rh_log *log = tank(JUMPS);
    rh_model_options opt = plain_options();
    rh_repr *repr = plain_repr(log, false);
    fit_refused(rh_model_find("knn", NULL), log, repr, &opt,
                "knn: cannot draw setpoints, expected the model linear");
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_where_the_log_jumps),
        cmocka_unit_test(other_errors_are_covered),
        cmocka_unit_test(ramps_go_on),
        cmocka_unit_test(other_kinds_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
