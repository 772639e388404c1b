// test_knn_carry.c - carrying differences over: matrices against the plant that made the log,
// steps outside of the log, ends at arrival, rewards, walls, circles, noise, exogenous sensors.

#include "facts_sample.h"

#include "base/base.h"
#include "log/log.h"
#include "model/knn_internal.h"
#include "model/model.h"
#include "repr/repr.h"

static rh_model *fit_within(const rh_log *log, int carry, double cap, double reach, int nthread)
{
    rh_model_options opt = plain_options();
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_CARRY] = carry;
    param[RH_KNN_CAP] = cap;
    param[RH_KNN_REACH] = isinf(reach) ? RH_KNN_NONE : RH_KNN_FIXED;
    param[RH_KNN_REACH_DISTANCE] = isinf(reach) ? 1.0 : reach;
    opt.param = param;
    opt.nthread = nthread;
    return fit_plain(&rh_model_knn, log, false, &opt);
}

static rh_model *fit_carry(const rh_log *log, int carry, double cap, int nthread)
{
    return fit_within(log, carry, cap, INFINITY, nthread);
}

static rh_env *env_of(const rh_model *model)
{
    rh_env *env = NULL;
    rh_error err = {""};
    if (rh_model_env(&env, model, 0, NULL, &err))
        fail_msg("%s", err.text);
    return env;
}

// Entry (row, column) of the matrix of a position, in the sensors' units.
static double slope_at(const rh_model *model, int32_t position, int row, int column)
{
    const rh_log *log = model->log;
    int nin = log->nobs + (log->naction ? 0 : log->nact);
    return (double)rh_knn__slope(model->member[0], model, position)[row * nin + column];
}

// A run in the model.
typedef struct walker {
    const rh_model *model;
    rh_env *env;
    void *state;
    rh_streams streams;
    double obs[8], reward;
    bool ended;
} walker;

static walker walk_from(const rh_model *model, int32_t row, uint64_t run)
{
    walker w = {.model = model, .env = env_of(model)};
    w.state = rh_alloc(1, rh_env_state_size(w.env));
    assert_non_null(w.state);
    w.streams.start = rh_rng_stream(3, RH_STREAM_START, 0, run);
    w.streams.noise = rh_rng_stream(3, RH_STREAM_NOISE, 0, run);
    rh_env_start(w.env, w.state, &w.streams, w.obs);
    model->type->calls->stand(model, w.env, w.state, row);
    memcpy(w.obs, model->log->obs + (int64_t)row * model->log->nobs,
           (size_t)model->log->nobs * sizeof *w.obs);
    return w;
}

static void go(walker *w, double act)
{
    w->ended = rh_env_step(w->env, w->state, &act, &w->streams, w->obs, &w->reward);
}

static void done(walker *w)
{
    rh_free(w->state);
    rh_env_destroy(w->env);
}

// ---------------------------------------------------------------------------- matrices

// Two sensors that follow each other, without noise: s' = A s + b(action).
static const double A[2][2] = {{0.9, 0.2}, {-0.3, 0.8}};

static void begin_anywhere(double *s, rh_rng *rng)
{
    s[0] = even(rng);
    s[1] = even(rng);
}

static int follow(double *s, double act, int i, rh_rng *rng)
{
    (void)i, (void)rng;
    double x = s[0], y = s[1];
    s[0] = A[0][0] * x + A[0][1] * y + 0.1 * (act - 1.0);
    s[1] = A[1][0] * x + A[1][1] * y + 0.3 * (act - 1.0);
    return 0;
}

static const plant linear = {.nobs = 2, .naction = 3, .begin = begin_anywhere, .step = follow};

// The matrices are those of the plant, for the whole log, for actions and around transitions.
static void learns_the_plant(void **unused)
{
    (void)unused;
    rh_log *log = log_of_plant(&linear, 1500, 1, NULL);
    for (int how = RH_KNN_LOG; how <= RH_KNN_LOCAL; how++) {
        rh_model *model = fit_carry(log, how, 10.0, 1);
        for (int32_t i = 0; i < 1500; i += 100)
            for (int r = 0; r < 2; r++)
                for (int c = 0; c < 2; c++)
                    assert_float_equal(slope_at(model, i, r, c), A[r][c], 0.01);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// A plant that doubles differences; episodes end before it leaves -1 to 1.
static int twice(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    (void)rng;
    s[0] = 2.0 * s[0] + 0.2 * (act - 1.0);
    s[1] = 0.5 * s[1];
    return fabs(s[0]) > 1.0;
}

// The cap bounds singular values of M between scaled sensors: a diagonal M stays diagonal, its
// larger value becomes the cap, and a cap above it changes nothing.
static void caps(void **unused)
{
    (void)unused;
    static const double cap[] = {1.0, 1.6, 10.0}, expected[] = {1.0, 1.6, 2.0};
    plant p = {.nobs = 2, .naction = 3, .begin = begin_anywhere, .step = twice};
    rh_log *log = log_of_plant(&p, 3000, 2, NULL);
    for (int i = 0; i < 3; i++) {
        rh_model *model = fit_carry(log, RH_KNN_LOG, cap[i], 1);
        assert_float_equal(slope_at(model, 0, 0, 0), expected[i], 0.02);
        assert_float_equal(slope_at(model, 0, 1, 1), 0.5, 0.02);
        assert_float_equal(slope_at(model, 0, 0, 1), 0.0, 0.02);
        assert_float_equal(slope_at(model, 0, 1, 0), 0.0, 0.02);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- leaving the log

// From any state, outside of the log too, the model does as the plant, step after step.
static void leaves_the_log(void **unused)
{
    (void)unused;
    rh_log *log = log_of_plant(&linear, 1500, 1, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 10.0, 1);
    rh_rng rng = rh_rng_stream(5, RH_STREAM_AGENT, 0, 0);
    double most = 0.0, farthest = 0.0;
    for (int64_t i = 0; i < log->nstate; i++)
        most = fmax(most, fabs(log->obs[i * 2 + 1]));
    walker w = walk_from(model, 700, 0);
    double s[2] = {w.obs[0], w.obs[1]};
    for (int i = 0; i < 40; i++) { // always the same push: farther than the log ever was
        go(&w, 2.0);
        follow(s, 2.0, i, &rng);
        assert_float_equal(w.obs[0], s[0], 0.02);
        assert_float_equal(w.obs[1], s[1], 0.02);
        farthest = fmax(farthest, fabs(w.obs[1]));
    }
    assert_true(farthest > 0.5 * most);
    done(&w);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// A rule keeps the drift of x between -1 and 1; y is a weather of its own.
static double keep_inside(const double *s, rh_rng *rng)
{
    return s[0] > 0.8 ? 0.0 : s[0] < -0.8 ? 2.0 : (double)rh_rng_below(rng, 3);
}

static int drift(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] += 0.1 * (act - 1.0) + 0.01 * even(rng);
    s[1] = 0.95 * s[1] + 0.1 * even(rng);
    return 0;
}

static int drift_and_trip(double *s, double act, int i, rh_rng *rng)
{
    drift(s, act, i, rng);
    return i == 700;
}

static double cost_of_place(const double *next)
{
    return -next[0] * next[0];
}

// A plant that nothing resets goes on out of coverage, at the price of the worst logged step or
// more, up to a range beside the log, and comes back when it is pushed back. One that trips
// ends there.
static void not_rescued(void **unused)
{
    (void)unused;
    for (int trips = 0; trips < 2; trips++) {
        plant p = {.nobs = 2,
                   .naction = 3,
                   .begin = begin_anywhere,
                   .control = keep_inside,
                   .step = trips ? drift_and_trip : drift,
                   .reward = cost_of_place};
        rh_log *log = log_of_plant(&p, 1500, 6, NULL);
        rh_model *model = fit_within(log, RH_KNN_LOG, 1.6, 0.3, 1);
        const rh_task *task = rh_model_task(model);
        double width = task->obs_hi[0] - task->obs_lo[0], worst = 0.0, most = 0.0;
        for (int64_t i = 0; i < log->n; i++)
            worst = fmin(worst, log->reward[i]);
        walker w = walk_from(model, 100, 0);
        for (int i = 0; i < 60 && !w.ended; i++) {
            double before = w.obs[0];
            go(&w, 2.0);
            assert_true(w.obs[0] > before - 0.1);
            most = fmax(most, w.obs[0]);
            if (rh_contract__env_uncovered(w.env, w.state))
                assert_true(w.reward <= worst);
        }
        assert_int_equal(w.ended, trips);
        if (!trips) {
            assert_true(fabs(most - task->obs_hi[0] - width) < 1e-9);
            for (int i = 0; i < 20; i++)
                go(&w, 0.0);
            assert_true(w.obs[0] < most - 1.5);
        }
        done(&w);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

// A sensor that no action moves stays where it was logged, however long a run is.
static void weather_stays(void **unused)
{
    (void)unused;
    plant p = {.nobs = 2,
               .naction = 3,
               .begin = begin_anywhere,
               .control = keep_inside,
               .step = drift,
               .reward = cost_of_place};
    rh_log *log = log_of_plant(&p, 1500, 6, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 1.6, 1);
    double lo = INFINITY, hi = -INFINITY;
    assert_true(rh_model_facts(model)->sensor[1].exogenous);
    for (int64_t i = 0; i < log->nstate; i++) {
        lo = fmin(lo, log->obs[i * 2 + 1]);
        hi = fmax(hi, log->obs[i * 2 + 1]);
    }
    walker w = walk_from(model, 100, 0);
    for (int i = 0; i < 3000; i++) {
        go(&w, w.obs[0] > 0.0 ? 0.0 : 2.0);
        assert_true(w.obs[1] >= lo);
        assert_true(w.obs[1] <= hi);
    }
    done(&w);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- ends

// A corridor: the episode ends at 1, which no other step passes.
static void begin_corridor(double *s, rh_rng *rng)
{
    s[0] = 0.2 * even(rng);
    s[1] = 0.0;
}

static int corridor(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] += (act > 0.0 ? 0.11 : -0.05) + 0.01 * even(rng);
    return s[0] > 1.0;
}

// A step beside the end does not end because its neighbour did: it ends beyond the limit.
static void ends_at_arrival(void **unused)
{
    (void)unused;
    plant p = {.nobs = 1, .naction = 2, .begin = begin_corridor, .step = corridor};
    rh_log *log = log_of_plant(&p, 3000, 3, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 1.6, 1);
    int nend = 0, nother = 0;
    for (int32_t t = 0; t < 3000; t += 3) {
        if (!(x_of(log, log->from[t]) > 0.8) || log->act[t] != 1.0)
            continue;
        walker w = walk_from(model, model->log->from[t], (uint64_t)t);
        go(&w, 1.0);
        assert_int_equal(w.ended, w.obs[0] > 1.0);
        double expected = w.ended ? -1.0 : 0.0;
        assert_true(w.reward == expected);
        nend += w.ended;
        nother += !w.ended;
        done(&w);
    }
    assert_true(nend > 10);
    assert_true(nother > 10);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// An end in the middle of two sensors, which no limit of one explains.
static void begin_square(double *s, rh_rng *rng)
{
    do {
        begin_anywhere(s, rng);
    } while (hypot(s[0] - 0.5, s[1] + 0.5) < 0.55);
}

static int square(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    double push = 0.25;
    s[(int)act / 2] += (int)act % 2 ? push : -push;
    s[0] = fmax(-1.0, fmin(1.0, s[0] + 0.01 * even(rng)));
    s[1] = fmax(-1.0, fmin(1.0, s[1] + 0.01 * even(rng)));
    return hypot(s[0] - 0.5, s[1] + 0.5) < 0.45;
}

static void ends_inside(void **unused)
{
    (void)unused;
    plant p = {.nobs = 2, .naction = 4, .begin = begin_square, .step = square};
    rh_log *log = log_of_plant(&p, 6000, 4, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 1.6, 1);
    int nwrong = 0, n = 0, nend = 0;
    for (int32_t t = 0; t < 6000; t++) {
        walker w = walk_from(model, model->log->from[t], (uint64_t)t);
        go(&w, (double)(t % 4));
        double distance = hypot(w.obs[0] - 0.5, w.obs[1] + 0.5);
        if (fabs(distance - 0.45) > 0.03) { // off the border, where the log cannot say
            nwrong += w.ended != (distance < 0.45);
            nend += w.ended;
            n++;
        }
        done(&w);
    }
    assert_true(nend > 10);
    assert_true(nwrong <= n / 100);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- rewards

static double comfort(const double *next)
{
    return -next[1] * next[1];
}

// A cost outside of the log is larger than any in it; a count of events has no slope.
static void rewards_move(void **unused)
{
    (void)unused;
    plant p = linear;
    p.reward = comfort;
    rh_log *log = log_of_plant(&p, 1500, 1, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 10.0, 1);
    const rh_knn *knn = model->member[0];
    double least = 0.0;
    for (int64_t i = 0; i < log->n; i++)
        least = fmin(least, log->reward[i]);
    assert_true(knn->sloped);
    walker w = walk_from(model, 700, 0);
    double lowest = 0.0;
    for (int i = 0; i < 30; i++) {
        go(&w, i < 4 ? 0.0 : 2.0);
        assert_float_equal(w.reward, comfort(w.obs), 0.1);
        lowest = fmin(lowest, w.reward);
    }
    assert_true(lowest < 0.5 * least);
    done(&w);
    rh_model_destroy(model);
    rh_log_destroy(log);

    plant counts = {.nobs = 1, .naction = 2, .begin = begin_corridor, .step = corridor};
    log = log_of_plant(&counts, 3000, 3, NULL);
    model = fit_carry(log, RH_KNN_LOCAL, 1.6, 1);
    assert_false(((const rh_knn *)model->member[0])->sloped);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- sensors

// A heading in degrees that turns; the short way round from 359 to 1 is 2.
static void begin_heading(double *s, rh_rng *rng)
{
    s[0] = 180.0 + 180.0 * even(rng);
}

static int turn(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] += (act > 0.0 ? 7.0 : -5.0) + 0.2 * even(rng);
    s[0] -= 360.0 * floor(s[0] / 360.0);
    return 0;
}

static void turns_round(void **unused)
{
    (void)unused;
    plant p = {.nobs = 1, .naction = 2, .begin = begin_heading, .step = turn};
    rh_log *log = log_of_plant(&p, 3000, 5, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 1.6, 1);
    assert_false(isnan(rh_model_facts(model)->sensor[0].period));
    walker w = walk_from(model, 10, 0);
    double before = w.obs[0], turned = 0.0;
    for (int i = 0; i < 300; i++) {
        go(&w, 1.0);
        assert_true(w.obs[0] >= 0.0);
        assert_true(w.obs[0] < 360.0);
        double gap = w.obs[0] - before;
        gap -= 360.0 * round(gap / 360.0);
        assert_float_equal(gap, 7.0, 1.0);
        turned += gap;
        before = w.obs[0];
    }
    assert_true(turned > 5.0 * 360.0);
    done(&w);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// The same model with the sensor on a circle, or on a line.
static rh_model *fit_heading(const rh_log *log, bool circle, int carry)
{
    rh_model_options opt = plain_options();
    rh_repr_options learning = rh_repr_defaults();
    double param[RH_KNN_NPARAM];
    rh_facts *facts = facts_of(log);
    rh_repr *repr = NULL;
    rh_model *model = NULL;
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_CARRY] = carry;
    param[RH_KNN_REACH] = RH_KNN_NONE;
    param[RH_KNN_K] = 3;
    opt.param = param;
    assert_float_equal(facts->sensor[0].period, 360.0, 1e-9);
    learning.period = circle ? &facts->sensor[0].period : NULL;
    learning.base = circle ? &facts->sensor[0].base : NULL;
    assert_int_equal(rh_repr_fit(&repr, rh_repr_find("raw", NULL), log, &learning, NULL),
                     RH_OK);
    assert_int_equal(rh_model_fit(&model, &rh_model_knn, log, repr, &opt, NULL), RH_OK);
    rh_repr_destroy(repr);
    rh_facts__destroy(facts);
    return model;
}

// The heading in the log that is nearest to one.
static double nearest_to(const rh_model *model, double heading, double act)
{
    const rh_knn *knn = model->member[0];
    _Alignas(64) float scratch[64], point[RH_NEIGHBOURS_DIM], distance[1];
    int32_t found[1];
    assert_true(rh_repr__nscratch(model->repr) <= 64);
    rh_knn__point(knn, model, NULL, &heading, &act, scratch, point);
    assert_int_equal(rh_knn__search(knn, point, 1, found, distance), 1);
    return model->log->obs[model->log->from[found[0]]];
}

// A current turns the ship; the rudder (b) works against it at headings around 180 and with it
// around 0. Just below 360 the log has no rudder: what it does there, it shows beyond 0.
static int sail(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] += 4.0 + (act > 0.0 ? 8.0 * cos(s[0] * M_PI / 180.0) : 0.0) + 0.1 * even(rng);
    s[0] -= 360.0 * floor(s[0] / 360.0);
    return 0;
}

static double steer(const double *s, rh_rng *rng)
{
    bool never = s[0] > 280.0 || (s[0] > 100.0 && s[0] < 260.0);
    return !never && rh_rng_below(rng, 2) ? 1.0 : 0.0;
}

static void across_the_seam(void **unused)
{
    (void)unused;
    plant p = {.nobs = 1, .naction = 2, .begin = begin_heading, .step = sail, .control = steer};
    rh_log *log = log_of_plant(&p, 3000, 5, NULL);
    for (int circle = 0; circle < 2; circle++) {
        rh_model *model = fit_heading(log, circle, RH_KNN_LOCAL);
        int ntried = 0;
        double worst = 0.0;
        for (int32_t row = 0; row < model->log->nstate; row++) {
            double at = model->log->obs[row], right = 4.0 + 8.0 * cos(at * M_PI / 180.0);
            if (at < 350.0)
                continue;
            walker w = walk_from(model, row, (uint64_t)row);
            go(&w, 1.0);
            double gap = w.obs[0] - at;
            worst = fmax(worst, fabs(gap - 360.0 * round(gap / 360.0) - right));
            ntried++;
            done(&w);
        }
        assert_true(ntried > 20);
        if (circle ? worst > 0.5 : worst < 3.0)
            fail_msg("%s: off by %g", circle ? "circle" : "line", worst);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// Predicted means, errors and replays go the short way round too: a mean of 359 and 1 is 0.
static void predicted_across_the_seam(void **unused)
{
    (void)unused;
    plant p = {.nobs = 1, .naction = 2, .begin = begin_heading, .step = turn};
    rh_log *log = log_of_plant(&p, 3000, 5, NULL);
    rh_model_trial trial[RH_MODEL_NTRIAL];
    rh_model *model = NULL;
    rh_facts *facts = facts_of(log);
    rh_repr_options learning = rh_repr_defaults();
    learning.period = &facts->sensor[0].period;
    learning.base = &facts->sensor[0].base;
    rh_model_options opt = rh_model_defaults();
    int n = rh_model__candidates(trial);
    assert_true(n >= 2);
    assert_int_equal(rh_model__choose(&model, trial, 2, log, &opt, &learning, NULL), RH_OK);
    const rh_fidelity_error *e = &rh_model_fidelity(model)->sensor[0];
    assert_true(e->model < 1.0);       // steps of 7 and -5, of which the action is known
    assert_true(e->persistence < 8.0); // not the 350 of the jump
    // after one step, stitching is right within the distance of a neighbour, everywhere
    const rh_model_comparison *c = rh_model_compared(model);
    for (int i = 0; i < 2; i++)
        if (!(c->trial[i].at[RH_MODEL_STATE][0] < 0.02))
            fail_msg("%s: %g", c->trial[i].kind, c->trial[i].at[RH_MODEL_STATE][0]);
    rh_model_destroy(model);

    // a stitching model's mean over neighbours on both sides
    model = fit_heading(log, true, RH_KNN_STITCH);
    for (double at = 0.0; at < 360.0; at += 0.5) {
        double next = 0.0, act = 1.0;
        rh_model__expected expected = {.next = &next};
        assert_int_equal(
            model->type->calls->expect(&expected, model, model->member[0], &at, &act, NULL),
            RH_OK);
        double gap = next - at - 7.0;
        assert_true(next >= 0.0);
        assert_true(next < 360.0);
        assert_true(fabs(gap - 360.0 * round(gap / 360.0)) < 1.0);
    }
    rh_model_destroy(model);
    rh_facts__destroy(facts);
    rh_log_destroy(log);
}

// Turns by 10 degrees, at 0.5, 10.5, ... 350.5.
static void begin_clicks(double *s, rh_rng *rng)
{
    s[0] = 10.0 * rh_rng_below(rng, 36) + 0.5;
}

static int click(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    (void)rng;
    s[0] += act > 0.0 ? 10.0 : -10.0;
    s[0] -= 360.0 * floor(s[0] / 360.0);
    return 0;
}

static void neighbours_across_the_seam(void **unused)
{
    (void)unused;
    plant p = {.nobs = 1, .naction = 0, .begin = begin_clicks, .step = click};
    rh_log *log = log_of_plant(&p, 3000, 5, NULL);
    rh_model *line = fit_heading(log, false, RH_KNN_LOCAL),
             *circle = fit_heading(log, true, RH_KNN_LOCAL);
    for (int i = -9; i <= 9; i++) {
        assert_float_equal(nearest_to(circle, 359.5, 0.1 * i), 0.5, 0.0);
        assert_float_equal(nearest_to(line, 359.5, 0.1 * i), 350.5, 0.0);
    }
    rh_model_destroy(line);
    rh_model_destroy(circle);
    rh_log_destroy(log);
}

// A tank that is never below 0: without the wall, differences would lead below.
static void begin_tank(double *s, rh_rng *rng)
{
    s[0] = 0.5 + 0.5 * even(rng);
}

static int drain(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] += (act > 0.0 ? 0.06 : -0.1) + 0.02 * even(rng);
    s[0] = fmax(0.0, fmin(s[0], 1.0));
    return 0;
}

static void stops_at_walls(void **unused)
{
    (void)unused;
    plant p = {.nobs = 1, .naction = 2, .begin = begin_tank, .step = drain};
    rh_log *log = log_of_plant(&p, 3000, 6, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 1.6, 1);
    walker w = walk_from(model, 20, 0);
    int nempty = 0;
    for (int i = 0; i < 200; i++) {
        go(&w, i % 7 ? 0.0 : 1.0);
        nempty += w.obs[0] == 0.0;
        assert_true(w.obs[0] >= 0.0);
    }
    assert_true(nempty > 10);
    done(&w);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// cos and sin of an angle stay on their circle for as long as one likes.
static void begin_angle(double *s, rh_rng *rng)
{
    double angle = 3.0 * even(rng);
    s[0] = cos(angle);
    s[1] = sin(angle);
}

static int rotate(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    double angle = atan2(s[1], s[0]) + (act > 0.0 ? 0.3 : -0.2) + 0.02 * even(rng);
    s[0] = cos(angle);
    s[1] = sin(angle);
    return 0;
}

static void stays_on_the_circle(void **unused)
{
    (void)unused;
    plant p = {.nobs = 2, .naction = 2, .begin = begin_angle, .step = rotate};
    rh_log *log = log_of_plant(&p, 1000, 7, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOG, 10.0, 1);
    walker w = walk_from(model, 20, 0);
    for (int i = 0; i < 200; i++) {
        go(&w, 1.0);
        assert_float_equal(hypot(w.obs[0], w.obs[1]), 1.0, 1e-9);
    }
    done(&w);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// A tank, a flow meter that is noise around a mean, and the weather, which drifts by itself.
static void begin_mixed(double *s, rh_rng *rng)
{
    s[0] = even(rng);
    s[1] = even(rng);
    s[2] = even(rng);
}

static int mixed(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] = 0.9 * s[0] + 0.1 * s[2] + 0.1 * (act - 1.0);
    s[1] = even(rng);
    s[2] = 0.98 * s[2] + 0.1 * even(rng);
    return 0;
}

// Noise is not carried: a difference of the flow says nothing about the next flow. What no
// action moves depends on itself only.
static void noise_and_weather(void **unused)
{
    (void)unused;
    plant p = {.nobs = 3, .naction = 3, .begin = begin_mixed, .step = mixed};
    rh_log *log = log_of_plant(&p, 4000, 8, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOG, 1.6, 1);
    assert_float_equal(slope_at(model, 0, 1, 1), 0.0, 0.25); // pairs are close: it is uncertain
    assert_float_equal(slope_at(model, 0, 0, 0), 0.9, 0.05);
    assert_true(slope_at(model, 0, 2, 2) > 0.85);
    assert_true(rh_model_facts(model)->sensor[2].exogenous);
    assert_float_equal(slope_at(model, 0, 2, 0), 0.0, 1e-6);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- actions

static void begin_line(double *s, rh_rng *rng)
{
    s[0] = even(rng);
    s[1] = 0.0;
}

static int push(double *s, double act, int i, rh_rng *rng)
{
    (void)i, (void)rng;
    s[0] = 0.8 * s[0] + 0.5 * act;
    s[1] = 0.9 * s[1] + 0.1 * s[0];
    return 0;
}

// Continuous actions have columns of their own: actions between those of the log are right.
static void continuous_actions(void **unused)
{
    (void)unused;
    plant p = {.nobs = 2, .naction = 0, .begin = begin_line, .step = push};
    rh_log *log = log_of_plant(&p, 1500, 9, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 1.6, 1);
    walker w = walk_from(model, 30, 0);
    double s[2] = {w.obs[0], w.obs[1]};
    rh_rng rng = rh_rng_stream(6, RH_STREAM_AGENT, 0, 0);
    for (int i = 0; i < 30; i++) {
        double act = even(&rng);
        go(&w, act);
        push(s, act, i, &rng);
        assert_float_equal(w.obs[0], s[0], 0.02);
        assert_float_equal(w.obs[1], s[1], 0.02);
    }
    done(&w);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- formulas

// The log with other rewards, by a formula of its numbers, which it keeps where `kept`.
static rh_log *with_formula(const rh_log *log, const char *formula, bool kept)
{
    rh_log parts = *log, *out = NULL;
    rh_expression e;
    rh_error err = {""};
    double *reward = rh_alloc((size_t)log->n, sizeof *reward), x[8];
    int nobs = log->nobs;
    assert_non_null(reward);
    assert_int_equal(rh_expression__compile_step(&e, formula, nobs, 1, &err), RH_OK);
    for (int64_t i = 0; i < log->n; i++) {
        memcpy(x, log->obs + (int64_t)log->from[i] * nobs, (size_t)nobs * sizeof *x);
        x[nobs] = log->act[i];
        if (log->naction)
            x[nobs] = strtod(log->label[(int)log->act[i]], NULL);
        memcpy(x + nobs + 1, log->obs + (int64_t)log->to[i] * nobs, (size_t)nobs * sizeof *x);
        reward[i] = rh_expression__value(&e, x);
    }
    parts.reward = reward;
    parts.reward_formula = kept ? formula : NULL;
    if (rh_log_copy(&out, &parts, &err))
        fail_msg("%s", err.text);
    rh_expression__clear(&e);
    rh_free(reward);
    return out;
}

// A cost that is flat in the log and steep outside of it: the sum of rewards by the model, and
// by the formula on the simulated numbers.
static void pay(const rh_model *model, double *paid, double *due)
{
    walker w = walk_from(model, 30, 0);
    *paid = *due = 0.0;
    for (int i = 0; i < 25; i++) {
        double x = w.obs[0];
        go(&w, 0.98);
        *paid += w.reward;
        *due += -0.1 * 0.98 * 0.98 - 5.0 * fmax(0.0, fabs(w.obs[0]) - 1.4) - x * x / 100.0;
    }
    done(&w);
}

static void rewards_by_formula(void **unused)
{
    (void)unused;
    const char *formula = "-0.1*act[0]^2 - 5*max(0, abs(next[0]) - 1.4) - obs[0]^2/100";
    plant p = {.nobs = 2, .naction = 0, .begin = begin_line, .step = push};
    rh_log *plain = log_of_plant(&p, 1500, 9, NULL), *log[2];
    double paid, due, most = 0.0;
    for (int64_t i = 0; i < plain->nstate; i++)
        most = fmax(most, fabs(plain->obs[2 * i]));
    for (int kept = 0; kept < 2; kept++) {
        log[kept] = with_formula(plain, formula, kept);
        rh_model *model = fit_carry(log[kept], RH_KNN_LOCAL, 1.6, 1), *read = NULL;
        rh_error err = {""};
        pay(model, &paid, &due);
        if (kept)
            assert_true(fabs(paid - due) < 1e-9 * fabs(due));
        else
            assert_true(fabs(paid - due) > 0.05 * fabs(due)); // here it matters
        walker w = walk_from(model, 30, 0);
        for (int i = 0; i < 25; i++)
            go(&w, 0.98);
        assert_true(w.obs[0] > most); // the run has left the log
        done(&w);

        // and the same from a file
        if (rh_model_write(model, "pay.model", &err) || rh_model_read(&read, "pay.model", &err))
            fail_msg("%s", err.text);
        double again;
        pay(read, &again, &due);
        assert_true(again == paid);
        remove("pay.model");
        rh_model_destroy(read);
        rh_model_destroy(model);
        rh_log_destroy(log[kept]);
    }

    // a formula that does not give the rewards is not used
    log[0] = with_formula(plain, formula, false);
    rh_log parts = *log[0];
    parts.reward_formula = "obs[0]";
    assert_int_equal(rh_log_copy(&log[1], &parts, NULL), RH_OK);
    rh_model *model = fit_carry(log[1], RH_KNN_LOCAL, 1.6, 1);
    assert_int_equal(((const rh_knn *)model->member[0])->formula.nop, 0);
    rh_model_destroy(model);
    rh_log_destroy(log[0]);
    rh_log_destroy(log[1]);
    rh_log_destroy(plain);
}

// Discrete actions count as the numbers that are their labels.
static void formulas_of_labels(void **unused)
{
    (void)unused;
    rh_log *plain = log_of_plant(&linear, 1500, 1, NULL);
    static const char *label[] = {"-10", "5", "20"};
    rh_log parts = *plain, *named = NULL;
    parts.label = label;
    assert_int_equal(rh_log_copy(&named, &parts, NULL), RH_OK);
    rh_log *log = with_formula(named, "obs[0] - act[0]", true);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 1.6, 1);
    walker w = walk_from(model, 700, 0);
    for (int i = 0; i < 20; i++) {
        double x = w.obs[0];
        go(&w, 2.0);
        assert_true(fabs(w.reward - (x - 20.0)) < 1e-9);
    }
    done(&w);
    rh_model_destroy(model);
    rh_log_destroy(log);
    rh_log_destroy(named);
    rh_log_destroy(plain);
}

// ---------------------------------------------------------------------------- the rest

// The same bits for any number of threads.
static void threads(void **unused)
{
    (void)unused;
    rh_log *log = log_of_plant(&linear, 1500, 1, NULL);
    rh_model *one = fit_carry(log, RH_KNN_LOCAL, 1.6, 1);
    rh_model *three = fit_carry(log, RH_KNN_LOCAL, 1.6, 3);
    const rh_knn *a = one->member[0], *b = three->member[0];
    assert_int_equal(a->nslope, b->nslope);
    assert_memory_equal(a->slope, b->slope,
                        (size_t)(a->nslope * rh_knn__slope_size(one)) * sizeof *a->slope);
    rh_model_destroy(one);
    rh_model_destroy(three);
    rh_log_destroy(log);
}

// A model from a file makes the same run.
static void same_from_a_file(void **unused)
{
    (void)unused;
    rh_error err = {""};
    plant p = {.nobs = 2, .naction = 4, .begin = begin_square, .step = square};
    rh_log *log = log_of_plant(&p, 2000, 4, NULL);
    rh_model *model = fit_carry(log, RH_KNN_LOCAL, 1.6, 1), *read = NULL;
    if (rh_model_write(model, "carry.model", &err) || rh_model_read(&read, "carry.model", &err))
        fail_msg("%s", err.text);
    walker a = walk_from(model, 17, 0), b = walk_from(read, 17, 0);
    for (int i = 0; i < 500; i++) {
        go(&a, (double)(i % 4));
        go(&b, (double)(i % 4));
        assert_memory_equal(a.obs, b.obs, 2 * sizeof *a.obs);
        assert_true(a.reward == b.reward);
        assert_int_equal(a.ended, b.ended);
        if (a.ended) {
            rh_env_start(a.env, a.state, &a.streams, a.obs);
            rh_env_start(b.env, b.state, &b.streams, b.obs);
        }
    }
    done(&a);
    done(&b);
    remove("carry.model");
    rh_model_destroy(read);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Every allocation of a fit fails once; nothing leaks and nothing is written.
static void out_of_memory(void **unused)
{
    (void)unused;
    rh_error err = {""};
    plant p = {.nobs = 2, .naction = 4, .begin = begin_square, .step = square};
    rh_log *plain = log_of_plant(&p, 300, 4, NULL), *log = NULL;
    rh_log parts = *plain;
    parts.reward_formula = "obs[0] + act[0]"; // compiled, and then refused
    assert_int_equal(rh_log_copy(&log, &parts, &err), RH_OK);
    rh_log_destroy(plain);
    rh_repr *repr = plain_repr(log, false);
    rh_model_options opt = plain_options();
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_CARRY] = RH_KNN_LOCAL;
    opt.param = param;
    rh_status rc = RH_ENOMEM;
    int n = 0;
    while (rc == RH_ENOMEM) {
        rh_model *model = NULL;
        rh_base__alloc_fail_at(++n);
        rc = rh_model_fit(&model, &rh_model_knn, log, repr, &opt, &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || (rc == RH_ENOMEM && !model));
        rh_model_destroy(model);
    }
    assert_int_equal(rc, RH_OK);
    assert_true(n > 20);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_the_plant),
        cmocka_unit_test(caps),
        cmocka_unit_test(leaves_the_log),
        cmocka_unit_test(not_rescued),
        cmocka_unit_test(weather_stays),
        cmocka_unit_test(ends_at_arrival),
        cmocka_unit_test(ends_inside),
        cmocka_unit_test(rewards_move),
        cmocka_unit_test(turns_round),
        cmocka_unit_test(across_the_seam),
        cmocka_unit_test(neighbours_across_the_seam),
        cmocka_unit_test(predicted_across_the_seam),
        cmocka_unit_test(stops_at_walls),
        cmocka_unit_test(stays_on_the_circle),
        cmocka_unit_test(noise_and_weather),
        cmocka_unit_test(continuous_actions),
        cmocka_unit_test(threads),
        cmocka_unit_test(same_from_a_file),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(rewards_by_formula),
        cmocka_unit_test(formulas_of_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
