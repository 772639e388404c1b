// test_linear.c - the linear model finds lags and dead time, replays the log, never diverges.

#include "model/linear_internal.h"
#include "model/model.h"
#include "model_sample.h"

#define NSTEP 3000
#define DEAD 3

// A plant of second order with dead time, of which one sensor is shown; u acts DEAD steps late.
static rh_log *late_plant(uint64_t seed)
{
    rh_log_shape shape = {.nobs = 1, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    double x = 0.0, v = 0.0, u[NSTEP] = {0.0};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        u[i] = i % 7 ? u[i ? i - 1 : 0] : rh_rng_range(&rng, -1.0, 1.0);
        rh_log_row row = {.obs = &x, .act = &u[i], .reward = -fabs(x - 0.5) - 0.1 * fabs(u[i])};
        double now = x;
        row.obs = &now;
        v = 0.8 * v + 0.2 * (i >= DEAD ? u[i - DEAD] : 0.0) - 0.05 * x;
        x += 0.3 * v + 0.001 * rh_rng_range(&rng, -1.0, 1.0);
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

// Dead time is found where what is not measured moves the plant more than the action does.
static void dead_time_in_noise(void **unused)
{
    (void)unused;
    rh_log_shape shape = {.nobs = 1, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(9, RH_STREAM_NOISE, 0, 0);
    double x = 0.0, u[NSTEP] = {0.0};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        double now = x;
        u[i] = i % 7 ? u[i ? i - 1 : 0] : rh_rng_range(&rng, -1.0, 1.0);
        rh_log_row row = {.obs = &now, .act = &u[i], .reward = -fabs(x)};
        x = 0.9 * x + 0.1 * (i >= 5 ? u[i - 5] : 0.0) + 0.45 * rh_rng_range(&rng, -1.0, 1.0);
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_linear, log, false, &opt);
    const rh_linear *m = model->member[0];

    assert_int_equal(m->plan.delay, 5);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void memory_and_dead_time(void **unused)
{
    (void)unused;
    rh_log *log = late_plant(1);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_linear, log, false, &opt);
    const rh_linear *m = model->member[0];
    assert_true(m->plan.lags >= 2);
    assert_true(m->plan.delay >= DEAD - 1);
    assert_true(m->plan.delay <= DEAD);
    rh_model__past memory = {0};
    assert_int_equal(rh_model__memory(&memory, log, NULL), RH_OK);
    assert_true(memory.steps >= 2);
    assert_int_equal(memory.dead_time, m->plan.delay);

    // predicted from a row of the log, the past is known
    double next, sum = 0.0, stay = 0.0;
    for (int t = 100; t < NSTEP - 1; t += 10) {
        rh_model__expected e = {.next = &next};
        const rh_log *own = model->log;
        assert_int_equal(rh_model_linear.calls->expect(&e, model, m, own->obs + own->from[t],
                                                       own->act + t, NULL),
                         RH_OK);
        sum += pow(next - own->obs[own->to[t]], 2);
        stay += pow(own->obs[own->from[t]] - own->obs[own->to[t]], 2);
    }
    assert_true(sqrt(sum) < 0.1 * sqrt(stay));
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// From where the log began, with its actions, a run is the log; with the most extreme actions
// it stays finite.
static void the_log_again_and_bounds(void **unused)
{
    (void)unused;
    rh_log *log = late_plant(2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_linear, log, false, &opt);
    rh_env *env = NULL;
    rh_error err = {""};
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    double obs, reward;
    int64_t live = rh_base__alloc_live();
    rh_env_start(env, state, &streams, &obs);
    for (int t = 0; t < 400; t++) {
        rh_env_step(env, state, log->act + t, &streams, &obs, &reward);
        assert_true(fabs(obs - log->obs[log->to[t]]) < 1e-4);
        assert_true(fabs(reward - log->reward[t]) < 1e-4);
    }
    for (int t = 0; t < 20000; t++) {
        double act = rh_env_task(env)->act_hi[0];
        rh_env_step(env, state, &act, &streams, &obs, &reward);
        assert_true(isfinite(obs));
        assert_true(reward >= rh_env_task(env)->reward_lo);
    }
    assert_int_equal(rh_base__alloc_live(), live); // nothing allocates in a step
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// A heated room: by day (8 to 18 h) every degree below 20 costs 1, at night none does.
static rh_log *room(void)
{
    rh_log_shape shape = {.nobs = 2, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(7, RH_STREAM_NOISE, 0, 0);
    double t = 19.0;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        double hour = i % 48 * 0.5, obs[] = {t, hour};
        bool day = hour >= 8.0 && hour < 18.0;
        double u = (day ? 0.7 : 0.4) + rh_rng_range(&rng, -0.3, 0.3);
        t += 0.1 * (10.0 + 15.0 * u - t) + rh_rng_range(&rng, -0.05, 0.05);
        double later = fmod(hour + 0.5, 24.0);
        bool cold = later >= 8.0 && later < 18.0;
        rh_log_row row = {
            .obs = obs, .act = &u, .reward = -u - (cold ? fmax(0.0, 20.0 - t) : 0.0)};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    log->exogenous = "obs_1"; // the hour
    return log;
}

// The reward is found, and holds where the log never was.
static void reward_by_day(void **unused)
{
    (void)unused;
    rh_log *log = room();
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_linear, log, false, &opt);
    const rh_linear *m = model->member[0];
    const double day[] = {5.0, 12.0}, night[] = {5.0, 3.0}, act = 0.5;
    assert_true(fabs(rh_linear__reward(m, model, day, &act, &act, day) + 15.5) < 1.0);
    assert_true(fabs(rh_linear__reward(m, model, night, &act, &act, night) + 0.5) < 1.0);
    rh_text words = {0};
    assert_true(rh_model__reward_words(&words, model));
    assert_non_null(strstr(words.data, "*max(0, "));
    assert_non_null(strstr(words.data, "<= obs_1 <"));
    rh_text__clear(&words);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Actions beyond those of the log move the plant farther, up to a range of them.
static void other_actions(void **unused)
{
    (void)unused;
    rh_log *log = late_plant(4);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_linear, log, false, &opt);
    rh_env *env = NULL;
    rh_error err = {""};
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    double hi = rh_env_task(env)->act_hi[0], lo = rh_env_task(env)->act_lo[0], obs, reward;
    const double act[] = {hi, hi + 0.5 * (hi - lo), hi + 3.0 * (hi - lo), hi + 9.0 * (hi - lo)};
    double after[4];
    for (int i = 0; i < 4; i++) {
        rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                              rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
        rh_env_start(env, state, &streams, &obs);
        for (int t = 0; t < DEAD + 3; t++)
            rh_env_step(env, state, &act[i], &streams, &obs, &reward);
        after[i] = obs;
    }
    assert_true(after[1] > after[0] + 0.01);
    assert_true(after[2] > after[1] + 0.01);
    assert_true(after[3] == after[2]);
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// A plant with a slow store that no sensor shows; a noisy sensor hides it from 8 lags.
static rh_log *walled(double *end, int n, double level)
{
    rh_log_shape shape = {.nobs = 1, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(9, RH_STREAM_NOISE, 0, 0);
    double air = 0.0, wall = 0.0, u = 0.0, seen;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP + n; i++) {
        if (i % 40 == 0)
            u = rh_rng_range(&rng, -1.0, 1.0);
        u = i < NSTEP ? u : level;
        seen = air + 0.05 * rh_rng_range(&rng, -1.0, 1.0);
        rh_log_row row = {.obs = &seen, .act = &u, .reward = -fabs(air)};
        if (i < NSTEP)
            assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        double now = air;
        air += 0.3 * (wall - air) + 0.2 * u + 0.002 * rh_rng_range(&rng, -1.0, 1.0);
        wall += 0.015 * (now - wall) - 0.005 * wall;
    }
    *end = air;
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

// A tank of 0 to 1 with a noisy sensor, which now and then is full or empty.
static void walls(void **unused)
{
    (void)unused;
    rh_log_shape shape = {.nobs = 1, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_env *env = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(5, RH_STREAM_NOISE, 0, 0);
    double level = 0.5, u = 0.0;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        double seen = level + 0.01 * rh_rng_range(&rng, -1.0, 1.0);
        if (i % 10 == 0)
            u = rh_rng_range(&rng, -1.0, 1.0);
        rh_log_row row = {.obs = &seen, .act = &u, .reward = -level};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        level = fmin(fmax(level + 0.06 * u, 0.0), 1.0);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_linear, log, false, &opt), *again = NULL;
    const rh_linear *m = model->member[0];
    assert_true(fabs(m->wall_lo[0]) < 0.02);
    assert_true(fabs(m->wall_hi[0] - 1.0) < 0.02);
    assert_int_equal(rh_model_write(model, "test_linear_wall.model", &err), RH_OK);
    assert_int_equal(rh_model_read(&again, "test_linear_wall.model", &err), RH_OK);
    remove("test_linear_wall.model");
    assert_int_equal(rh_model_env(&env, again, 0, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    double obs, reward, act = 1.0;
    rh_env_start(env, state, &streams, &obs);
    for (int t = 0; t < 60; t++) {
        act = t < 40 ? 1.0 : -1.0;
        rh_env_step(env, state, &act, &streams, &obs, &reward);
        assert_true(obs < 1.05);
    }
    assert_true(obs < 0.1 && obs > -0.05); // it is as soon empty as it would be
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(again);
    rh_model_destroy(model);
    rh_log_destroy(log);

    log = late_plant(1); // the plants above have none
    model = fit_plain(&rh_model_linear, log, false, &opt);
    m = model->member[0];
    assert_true(isnan(m->wall_lo[0]));
    assert_true(isnan(m->wall_hi[0]));
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// A limit that the log never passed costs what its reward takes off in a terminal step, in a
// regression and where steps are carried, also after reading; else, and where the reward adds
// to it, as for a goal, it costs the lowest return.
static void limit_by_hand(void **unused)
{
    (void)unused;
    static const rh_model_type *const type[] = {&rh_model_linear, &rh_model_knn};
    rh_log_shape shape = {.nobs = 1, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *plain = NULL, *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(6, RH_STREAM_NOISE, 0, 0);
    double lo = NAN, hi = -INFINITY, x = 0.0, u = 0.0;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        rh_log_row row = {.obs = &x, .act = &u, .reward = -fabs(x)};
        u = i % 5 ? u : rh_rng_range(&rng, -1.0, 1.0);
        hi = fmax(hi, x);
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        x += 0.1 * u - 0.02 * x + 0.01 * rh_rng_range(&rng, -1.0, 1.0);
    }
    assert_int_equal(rh_log_finish(b, &plain, &err), RH_OK);
    rh_log_builder_destroy(b);
    hi += 0.1;
    for (int k = 0; k < 6; k++) {
        rh_log parts = *plain;
        parts.terminal_reward = k < 2 ? -70.0 : k < 4 ? 0.0 : 70.0;
        assert_int_equal(rh_log_copy(&log, &parts, &err), RH_OK);
        rh_model_options opt = plain_options();
        opt.limit_lo = &lo;
        opt.limit_hi = &hi;
        double param[RH_KNN_NPARAM];
        rh_param_initial(rh_model_knn.param, rh_model_knn.nparam, param);
        param[RH_KNN_CARRY] = RH_KNN_LOG;
        opt.param = k % 2 ? param : opt.param;
        rh_model *model = fit_plain(type[k % 2], log, false, &opt), *again = NULL;
        rh_env *env = NULL;
        assert_int_equal(rh_model_write(model, "test_linear_limit.model", &err), RH_OK);
        assert_int_equal(rh_model_read(&again, "test_linear_limit.model", &err), RH_OK);
        remove("test_linear_limit.model");
        assert_int_equal(rh_model_env(&env, again, 0, NULL, &err), RH_OK);
        void *state = rh_alloc(1, rh_env_state_size(env));
        rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                              rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
        double obs, reward = 0.0, act = 1.0, least = 0.0, most = -1.0;
        rh_env_start(env, state, &streams, &obs);
        for (int t = 0; t < 3000; t++) {
            rh_env_step(env, state, &act, &streams, &obs, &reward);
            least = fmin(least, reward);
            most = fmax(most, reward);
        }
        assert_true(most <= 0.0); // as in the log
        assert_true(k < 2 ? least < -70.0 && least > -75.0 : least <= again->lowest);
        rh_free(state);
        rh_env_destroy(env);
        rh_model_destroy(again);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
    rh_log_destroy(plain);
}

// A sensor that was derived from others is computed in a model, not predicted: the distance
// from a setpoint that jumps.
static void derived_sensors(void **unused)
{
    (void)unused;
    static const rh_model_type *const type[] = {&rh_model_linear, &rh_model_knn};
    static const char *const name[] = {"x", "sp", "error"};
    rh_log_shape shape = {
        .nobs = 3, .nact = 1, .action = RH_ACTION_CONTINUOUS, .obs_name = name};
    rh_log_builder *b = NULL;
    rh_log *plain = NULL, *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(8, RH_STREAM_NOISE, 0, 0);
    double obs[3] = {0.0}, u = 0.0;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        rh_log_row row = {.obs = obs, .act = &u, .reward = -fabs(obs[2])};
        obs[1] = i % 40 ? obs[1] : rh_rng_range(&rng, -1.0, 1.0);
        obs[2] = obs[1] - obs[0];
        u = 2.0 * obs[2] + rh_rng_range(&rng, -0.5, 0.5);
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        obs[0] += 0.1 * u - 0.05 * obs[0] + 0.01 * rh_rng_range(&rng, -1.0, 1.0);
    }
    assert_int_equal(rh_log_finish(b, &plain, &err), RH_OK);
    rh_log_builder_destroy(b);
    for (int k = 0; k < 3; k++) {
        rh_log parts = *plain;
        parts.derive = k < 2 ? "error = sp - x" : "error = sp + x"; // not that of the log
        parts.exogenous = "sp";
        assert_int_equal(rh_log_copy(&log, &parts, &err), RH_OK);
        rh_model_options opt = plain_options();
        double param[RH_KNN_NPARAM];
        rh_param_initial(rh_model_knn.param, rh_model_knn.nparam, param);
        param[RH_KNN_CARRY] = RH_KNN_LOG;
        opt.param = k % 2 ? param : opt.param;
        rh_model *model = fit_plain(type[k % 2], log, false, &opt), *again = NULL;
        rh_env *env = NULL;
        assert_int_equal(rh_model_write(model, "test_linear_derive.model", &err), RH_OK);
        assert_int_equal(rh_model_read(&again, "test_linear_derive.model", &err), RH_OK);
        remove("test_linear_derive.model");
        assert_true(!again->derive == (k == 2));
        assert_int_equal(rh_model_env(&env, again, 0, NULL, &err), RH_OK);
        void *state = rh_alloc(1, rh_env_state_size(env));
        rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                              rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
        double reward, act, off = 0.0;
        rh_env_start(env, state, &streams, obs);
        for (int t = 0; t < 500; t++) {
            act = rh_rng_range(&rng, -1.0, 1.0);
            rh_env_step(env, state, &act, &streams, obs, &reward);
            off = fmax(off, fabs(obs[2] - (obs[1] - obs[0])));
        }
        assert_true(k < 2 ? off == 0.0 : off > 0.0);
        rh_free(state);
        rh_env_destroy(env);
        rh_model_destroy(again);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
    rh_log_destroy(plain);
}

// A slow store is found, makes long runs true, and is kept in files.
static void slow_stores(void **unused)
{
    (void)unused;
    enum { LATER = 400 };
    double end, off[2];
    rh_error err = {""};
    rh_log *log = walled(&end, LATER, 0.8);
    rh_model_options opt = plain_options();
    for (int slow = 0; slow < 2; slow++) {
        double param[RH_LINEAR_NPARAM], obs, reward, act = 0.8;
        rh_model *model = NULL, *again = NULL;
        rh_env *env = NULL;
        rh_param_initial(rh_linear__param, RH_LINEAR_NPARAM, param);
        param[RH_LINEAR_SLOW] = slow ? 0.0 : 1.0; // auto, none
        param[RH_LINEAR_RESIDUALS] = RH_LINEAR_NO_NOISE;
        opt.param = param;
        model = fit_plain(&rh_model_linear, log, false, &opt);
        assert_true((((const rh_linear *)model->member[0])->plan.slow != 0) == slow);
        assert_int_equal(rh_model_write(model, "test_linear_slow.model", &err), RH_OK);
        assert_int_equal(rh_model_read(&again, "test_linear_slow.model", &err), RH_OK);
        remove("test_linear_slow.model");
        assert_int_equal(rh_model_env(&env, again, 0, NULL, &err), RH_OK);
        void *state = rh_alloc(1, rh_env_state_size(env));
        rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                              rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
        rh_env_start(env, state, &streams, &obs);
        rh_linear__stand(again, env, state, (int32_t)again->log->from[again->log->n - 1]);
        for (int t = 0; t <= LATER; t++)
            rh_env_step(env, state, &act, &streams, &obs, &reward);
        off[slow] = fabs(obs - end);
        rh_free(state);
        rh_env_destroy(env);
        rh_model_destroy(model);
        rh_model_destroy(again);
    }
    assert_true(off[1] < 0.15 * fabs(end));
    assert_true(off[1] < 0.7 * off[0]);
    rh_log_destroy(log);
}

// A plant whose drift no square or product describes, and whose noise depends on where it is.
static rh_log *bumpy_plant(uint64_t seed)
{
    rh_log_shape shape = {.nobs = 1, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    double x = 0.0;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        double now = x, u = rh_rng_range(&rng, -1.0, 1.0);
        rh_log_row row = {.obs = &now, .act = &u, .reward = -fabs(x)};
        x = fmin(fmax(x + 0.6 * u - 0.2 * sin(6.0 * x), -2.0), 2.0);
        x += (x > 0.0 ? 0.3 : 0.001) * rh_rng_range(&rng, -1.0, 1.0);
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

// Spread of the state after a step with action 0 from x, and its mean.
static double spread_at(const rh_model *model, double x, double *mean)
{
    const rh_log *log = model->log;
    rh_env *env = NULL;
    rh_error err = {""};
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    double obs, reward, act = 0.0, sum = 0.0, square = 0.0;
    int32_t row = log->from[0];
    for (int64_t t = 0; t < log->n; t++)
        if (fabs(log->obs[log->from[t]] - x) < fabs(log->obs[row] - x))
            row = log->from[t];
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    int64_t live = rh_base__alloc_live();
    for (int i = 0; i < 200; i++) {
        rh_env_start(env, state, &streams, &obs);
        rh_linear__stand(model, env, state, row);
        rh_env_step(env, state, &act, &streams, &obs, &reward);
        sum += obs / 200.0;
        square += obs * obs / 200.0;
    }
    assert_int_equal(rh_base__alloc_live(), live); // nothing allocates in a step
    rh_free(state);
    rh_env_destroy(env);
    *mean = sum;
    return sqrt(fmax(square - sum * sum, 0.0));
}

// Residuals of near steps have the bias and the noise of where the plant is, also from a file.
static void residuals_of_near_steps(void **unused)
{
    (void)unused;
    rh_log *log = bumpy_plant(4);
    rh_model_options opt = plain_options();
    double param[RH_LINEAR_NPARAM], off[2] = {0.0}, next, mean;
    rh_model *model[2], *again = NULL;
    rh_error err = {""};
    rh_param_initial(rh_linear__param, RH_LINEAR_NPARAM, param);
    opt.param = param;
    for (int near = 0; near < 2; near++) {
        param[RH_LINEAR_RESIDUALS] = near ? RH_LINEAR_NEAR : RH_LINEAR_STRETCH;
        model[near] = fit_plain(&rh_model_linear, log, false, &opt);
        for (double x = -1.4; x < 1.5; x += 0.1) {
            rh_model__expected e = {.next = &next};
            double act = 0.0;
            assert_int_equal(rh_model_linear.calls->expect(
                                 &e, model[near], model[near]->member[0], &x, &act, NULL),
                             RH_OK);
            off[near] += pow(next - (x - 0.2 * sin(6.0 * x)), 2);
        }
    }
    assert_true(sqrt(off[1]) < 0.5 * sqrt(off[0]));

    // the noise, and the same bits from a file
    assert_int_equal(rh_model_write(model[1], "test_linear_near.model", &err), RH_OK);
    assert_int_equal(rh_model_read(&again, "test_linear_near.model", &err), RH_OK);
    remove("test_linear_near.model");
    double wide = 0.0, narrow = 0.0, last = 0.0, same;
    for (int i = 0; i < 10; i++) {
        wide += spread_at(model[1], 0.5 + 0.05 * i, &mean);
        narrow += last = spread_at(model[1], -0.5 - 0.05 * i, &mean);
    }
    assert_true(wide > 1.5 * narrow);
    assert_true(spread_at(again, -0.95, &same) == last);
    assert_true(same == mean);

    // a model that was fitted without them has none
    rh_env *env = NULL;
    assert_int_equal(rh_model_env(&env, model[0], 0, param, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "fit again"));
    rh_model_destroy(again);
    rh_model_destroy(model[0]);
    rh_model_destroy(model[1]);
    rh_log_destroy(log);
}

// A sensor that answers in the held-out parts the other way round is predicted as persistence
// does.
static void no_worse_than_persistence(void **unused)
{
    (void)unused;
    rh_log_shape shape = {.nobs = 2, .nact = 1, .action = RH_ACTION_CONTINUOUS};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(6, RH_STREAM_NOISE, 0, 0);
    double x[2] = {0.0, 0.0};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < NSTEP; i++) {
        int part = i * 8 / NSTEP;
        bool turned = part == 1 || part == 4 || part == 6;
        double now[] = {x[0], x[1]}, u = rh_rng_range(&rng, -1.0, 1.0);
        rh_log_row row = {.obs = now, .act = &u, .reward = -fabs(x[0])};
        x[0] = 0.8 * x[0] + 0.2 * u;
        x[1] = 0.999 * x[1] + (turned ? -0.2 : 0.2) * u;
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_linear, log, false, &opt);
    const rh_linear *m = model->member[0];
    assert_int_equal(m->nout, 2);
    double size[2] = {0.0, 0.0};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < m->nterm; i++)
            size[k] += fabs(m->weight[k * m->nterm + i]);
    assert_true(size[1] < 0.1 * size[0]);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// The same bits with any number of threads.
static void threads(void **unused)
{
    (void)unused;
    rh_log *log = late_plant(3);
    rh_model_options opt = plain_options();
    rh_model *one = fit_plain(&rh_model_linear, log, false, &opt);
    opt.nthread = 3;
    rh_model *three = fit_plain(&rh_model_linear, log, false, &opt);
    const rh_linear *a = one->member[0], *b = three->member[0];
    assert_int_equal(a->nterm, b->nterm);
    assert_memory_equal(a->weight, b->weight, (size_t)a->nterm * sizeof *a->weight);
    assert_memory_equal(a->residual, b->residual, 2 * (size_t)log->n * sizeof *a->residual);
    rh_model_destroy(one);
    rh_model_destroy(three);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_dead_time),
        cmocka_unit_test(dead_time_in_noise),
        cmocka_unit_test(the_log_again_and_bounds),
        cmocka_unit_test(other_actions),
        cmocka_unit_test(reward_by_day),
        cmocka_unit_test(slow_stores),
        cmocka_unit_test(walls),
        cmocka_unit_test(limit_by_hand),
        cmocka_unit_test(derived_sensors),
        cmocka_unit_test(residuals_of_near_steps),
        cmocka_unit_test(no_worse_than_persistence),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
