// test_knn_reach.c - how far a neighbour is believed: quantiles, and what `auto` makes of
// logs whose steps are alike in known ways.

#include "model_sample.h"

#include "model/knn_internal.h"

static double reach_of(const rh_model *model, int kind, double number)
{
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_REACH] = kind;
    param[RH_KNN_REACH_DISTANCE] = number;
    param[RH_KNN_REACH_QUANTILE] = kind == RH_KNN_QUANTILE ? number : 0.5;
    return rh_knn__reach(model->member[0], param);
}

// How many steps a state of the log is away from the nearest where the action was taken.
static void in_words(void **unused)
{
    (void)unused;
    static const walk w[] = {
        {0, 0, 0, 1, 0, 1}, {1, 0, 0, 3, 0, 0}, {3, 1, 0, 6, 0, 0}, {6, 0, 0, 10, ENDS, 0}};
    rh_log *log = log_of(w, 4, 3);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    const rh_knn *knn = model->member[0];
    // action 0 from 0, 1, 3, 6: 0 0 2 0; action 1: 3 2 0 3; action 2: never; 10 is the end
    static const float near[] = {0, 0, 0, 0, 2, 2, 3, 3};
    assert_int_equal(knn->nnear, 8);
    assert_memory_equal(knn->near, near, sizeof near);
    assert_true(knn->step == 2.5); // of 1, 2, 3, 4
    assert_true(isinf(reach_of(model, RH_KNN_NONE, 0.0)));
    assert_true(reach_of(model, RH_KNN_FIXED, 0.75) == 0.75);
    assert_true(reach_of(model, RH_KNN_QUANTILE, 0.0) == 0.0);
    assert_true(reach_of(model, RH_KNN_QUANTILE, 0.5) == 1.0);
    assert_true(reach_of(model, RH_KNN_QUANTILE, 1.0) == 3.0);
    // so small a log does not say: the 99th percentile
    assert_true(reach_of(model, RH_KNN_AUTO, 0.0) == reach_of(model, RH_KNN_QUANTILE, 0.99));
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- auto

// A line from 0 to 100 on which a step moves to the right where x / `width` is even, else
// left, by up to `noise` more or less. Episodes of 20 steps begin anywhere. kind 0: one
// action; 1: a real one that never changes; 2: another is taken too, below 20 only.
static rh_model *fit_line(double width, double noise, int nepisode, int kind, uint64_t seed)
{
    enum { LENGTH = 20 };
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    walk *w = rh_alloc((size_t)nepisode * LENGTH, sizeof *w);
    int n = 0;
    for (int e = 0; e < nepisode; e++) {
        double x = rh_rng_range(&rng, 0.0, 100.0);
        for (int i = 0; i < LENGTH; i++) {
            double to = x + (fmod(fabs(x) / width, 2.0) < 1.0 ? 0.1 : -0.1) +
                        noise * rh_rng_range(&rng, -1.0, 1.0);
            double act = kind == 2 ? x < 20.0 && i % 2 : 0.25 * kind;
            w[n++] = (walk){x, act, 0.0, to, i + 1 == LENGTH ? CUT : 0, i == 0};
            x = to;
        }
    }
    rh_log *log = log_of(w, n, kind == 1 ? 0 : 1 + kind / 2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_log_destroy(log);
    rh_free(w);
    return model;
}

static void as_far_as_steps_are_alike(void **unused)
{
    (void)unused;
    // pairs at distance h differ in a share of h / width of cases, up to width: half of what
    // there is to know is lost somewhere between a quarter and three quarters of it
    for (int kind = 0; kind < 2; kind++)
        for (int noisy = 0; noisy < 2; noisy++) {
            double noise = noisy ? 0.1 : 0.0, last = 0.0;
            for (double width = 12.5; width <= 25.0; width *= 2.0) {
                rh_model *model = fit_line(width, noise, 300, kind, 41);
                double reach = reach_of(model, RH_KNN_AUTO, 0.0);
                if (!(reach > 0.2 * width && reach < 0.8 * width && reach > last))
                    fail_msg("width %g, noise %g: reach %g", width, noise, reach);
                assert_true(reach > reach_of(model, RH_KNN_QUANTILE, 0.99));
                last = reach;
                rh_model_destroy(model);
            }
        }
}

static void when_the_log_does_not_say(void **unused)
{
    (void)unused;
    // steps by chance alone: near ones are as unlike as far ones
    rh_model *model = fit_line(1e9, 1.0, 300, 0, 43);
    assert_true(reach_of(model, RH_KNN_AUTO, 0.0) == reach_of(model, RH_KNN_QUANTILE, 0.99));
    rh_model_destroy(model);

    // and steps that are all the same
    model = fit_line(1e9, 0.0, 300, 0, 43);
    assert_true(reach_of(model, RH_KNN_AUTO, 0.0) == reach_of(model, RH_KNN_QUANTILE, 0.99));
    rh_model_destroy(model);
}

// Steps are alike for a few units, but most states are farther from where an action was
// taken: reach is what 99 in 100 queries need.
static void never_less_than_most_need(void **unused)
{
    (void)unused;
    rh_model *model = fit_line(12.5, 0.0, 300, 2, 45);
    double needed = reach_of(model, RH_KNN_QUANTILE, 0.99);
    assert_true(needed > 60.0);
    assert_true(needed < 80.0);
    assert_true(reach_of(model, RH_KNN_AUTO, 0.0) == needed);
    rh_model_destroy(model);
}

// One long episode: partners are apart in time.
static void one_episode(void **unused)
{
    (void)unused;
    enum { N = 4000 };
    walk *w = rh_alloc(N, sizeof *w);
    double x = 0.0, speed = 0.37;
    for (int i = 0; i < N; i++) {
        double to = x + speed;
        w[i] = (walk){x, 0, x > 5.0 ? 1.0 : 0.0, to, i + 1 == N ? CUT : 0, i == 0};
        speed = to > 10.0 || to < 0.0 ? -speed : speed;
        x = to;
    }
    rh_log *log = log_of(w, N, 1);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    double reach = reach_of(model, RH_KNN_AUTO, 0.0);
    if (!(reach > 1.0 && reach < 9.0)) // the reward tells the two halves apart
        fail_msg("reach %g", reach);
    rh_model_destroy(model);
    rh_log_destroy(log);
    rh_free(w);
}

// The reward and the steps count alike, whatever the unit of the reward is.
static void in_any_unit(void **unused)
{
    (void)unused;
    enum { N = 3000 };
    double reach[3];
    walk *w = rh_alloc(N, sizeof *w);
    for (int k = 0; k < 3; k++) { // the steps say "4", the rewards "40"
        double x = 0.0, unit = (double[]){1.0, 1024.0, 1.0 / 1024.0}[k];
        rh_rng rng = rh_rng_stream(51, RH_STREAM_START, 0, 0);
        for (int i = 0; i < N; i++) {
            x = i % 20 ? x : rh_rng_range(&rng, 0.0, 100.0);
            double to = x + (fmod(fabs(x) / 4.0, 2.0) < 1.0 ? 0.1 : -0.1);
            double reward = unit * (x > 50.0 ? 1.0 : 0.0);
            w[i] = (walk){x, 0, reward, to, i % 20 == 19 ? CUT : 0, i % 20 == 0};
            x = to;
        }
        rh_log *log = log_of(w, N, 1);
        rh_model_options opt = plain_options();
        rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
        reach[k] = reach_of(model, RH_KNN_AUTO, 0.0);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
    assert_true(reach[0] > 0.0);
    assert_true(reach[0] < 100.0);
    assert_true(reach[1] == reach[0]); // units are powers of 2: the same bits
    assert_true(reach[2] == reach[0]);
    rh_free(w);
}

// The same member, the same reach; another seed, nearly the same.
static void repeatable(void **unused)
{
    (void)unused;
    rh_model *a = fit_line(20.0, 0.05, 200, 0, 47), *b = fit_line(20.0, 0.05, 200, 0, 47);
    double x = reach_of(a, RH_KNN_AUTO, 0.0);
    assert_true(x == reach_of(b, RH_KNN_AUTO, 0.0));
    rh_model_destroy(b);
    rh_repr *repr = plain_repr(a->log, false);
    rh_model_options opt = plain_options();
    rh_error err = {""};
    opt.seed = 99;
    assert_int_equal(rh_model_fit(&b, &rh_model_knn, a->log, repr, &opt, &err), RH_OK);
    double y = reach_of(b, RH_KNN_AUTO, 0.0);
    assert_true(fabs(x - y) < 0.15 * x);
    rh_repr_destroy(repr);
    rh_model_destroy(a);
    rh_model_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_words),
        cmocka_unit_test(in_any_unit),
        cmocka_unit_test(as_far_as_steps_are_alike),
        cmocka_unit_test(when_the_log_does_not_say),
        cmocka_unit_test(never_less_than_most_need),
        cmocka_unit_test(one_episode),
        cmocka_unit_test(repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
