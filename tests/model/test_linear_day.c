// test_linear_day.c - stretches of weather: at the end of a block the day goes on as a day.

#include "model/linear_internal.h"
#include "model/model.h"
#include "model_sample.h"

#define NSTEP 3000
#define DAY 48

enum { ROOM, HOUR, OUT, NOBS };

// A heated room, the hour and the weather, which drifts from day to day.
static rh_log *room(void)
{
    rh_log_shape shape = {.nobs = NOBS, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(7, RH_STREAM_NOISE, 0, 0);
    double t = 19.0, drift = 0.0;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        double hour = i % DAY * 0.5, out = 10.0 + drift - 4.0 * cos(2.0 * M_PI * hour / 24.0);
        double obs[] = {t, hour, out}, u = 0.5 + rh_rng_range(&rng, -0.5, 0.5);
        rh_log_row row = {.obs = obs, .act = &u, .reward = -u - fabs(t - 20.0)};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        t += 0.1 * (out + 20.0 * u - t) + rh_rng_range(&rng, -0.05, 0.05);
        drift = 0.99 * drift + 0.3 * rh_rng_range(&rng, -1.0, 1.0);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    log->exogenous = "obs_1,obs_2";
    return log;
}

// The clock never jumps, whichever stretches follow each other, and the days differ.
static void clock_goes_on(void **unused)
{
    (void)unused;
    rh_log *log = room();
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_linear, log, false, &opt);
    rh_env *env = NULL;
    rh_error err = {""};
    assert_true(model->facts->sensor[HOUR].period == 24.0);
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    double obs[NOBS], act = 0.5, reward, jump = 0.0;
    int nother = 0; // steps of which the log has no such weather at the same place
    rh_env_start(env, state, &streams, obs);
    double hour = obs[HOUR];
    for (int i = 0; i < 20000; i++) {
        double out = obs[OUT];
        rh_env_step(env, state, &act, &streams, obs, &reward);
        hour = hour + 0.5 < 24.0 ? hour + 0.5 : 0.0;
        if (obs[HOUR] != hour)
            fail_msg("step %d: %g, expected %g", i, obs[HOUR], hour);
        jump = fmax(jump, fabs(obs[OUT] - out));
        nother += i + 1 < NSTEP && obs[OUT] != log->obs[(i + 1) * NOBS + OUT];
    }
    assert_true(jump < 2.0); // 0.8 in the log
    assert_true(nother > 1000);
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// A sensor that goes round on the whole, as the wind, is no clock, nor is one whose days are
// not whole steps: the time of day would be another one after some of them.
static void other_rounds(void **unused)
{
    (void)unused;
    static const double day[] = {DAY, DAY + 0.1, 0.0}; // 0: the wind
    for (int k = 0; k < 3; k++) {
        rh_log *plain = room(), *log = NULL, parts = *plain;
        rh_error err = {""};
        size_t size = (size_t)plain->nstate * NOBS * sizeof(double);
        double *obs = rh_alloc(1, size), at = 0.0;
        rh_rng rng = rh_rng_stream(2, RH_STREAM_NOISE, 0, 0);
        memcpy(obs, plain->obs, size);
        for (int64_t i = 0; i < plain->nstate; i++) {
            obs[i * NOBS + HOUR] = at;
            at += day[k] > 0.0 ? 24.0 / day[k] : 0.5 + rh_rng_range(&rng, -1.0, 1.0);
            at -= 24.0 * floor(at / 24.0);
        }
        parts.obs = obs;
        assert_int_equal(rh_log_copy(&log, &parts, &err), RH_OK);
        rh_model_options opt = plain_options();
        rh_model *model = fit_plain(&rh_model_linear, log, false, &opt);
        assert_true(fabs(model->facts->sensor[HOUR].period - 24.0) < 1e-6);
        assert_int_equal(rh_linear__day(model->member[0], model), k == 0 ? DAY : 0);
        rh_model_destroy(model);
        rh_log_destroy(log);
        rh_log_destroy(plain);
        rh_free(obs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clock_goes_on),
                                       cmocka_unit_test(other_rounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
