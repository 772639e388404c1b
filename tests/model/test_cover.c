// test_cover.c - how well a log covers an action in a state: by hand, and all pairs compared.

#include "model/model.h"
#include "model/model_sample.h"
#include "numeric/stats.h"

#include <stdlib.h>

static rh_model *model_of(const rh_log *log, bool both)
{
    rh_error err = {""};
    rh_model *model = NULL;
    rh_model_options how = plain_options();
    rh_repr *repr = plain_repr(log, both);
    if (rh_model_fit(&model, rh_model_find("knn", NULL), log, repr, &how, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
    return model;
}

// Action a at 0, 1, .. 9. The 5th nearest of the others is 5 4 3 3 3 3 3 3 4 5 away: the radius
// is 3. Action b was never taken.
static void on_a_line(void **unused)
{
    (void)unused;
    walk w[10];
    for (int i = 0; i < 10; i++)
        w[i] = (walk){i, 0, -1, i + 1, i == 9 ? ENDS : 0, i == 0};
    rh_log *log = log_of(w, 10, 2);
    rh_model *model = model_of(log, false);
    double obs[5][2] = {{4, 0}, {12, 0}, {15, 0}, {0, 0}, {4, 0}}, act[5] = {0, 0, 0, 0, 1};
    rh_cover cover[5];
    double radius;
    assert_int_equal(rh_model__cover(model, 5, obs[0], act, cover, &radius, NULL), RH_OK);
    assert_true(radius == 3.0);
    assert_true(cover[0].nearest == 0.0);
    assert_int_equal(cover[0].near, 7); // 1 .. 7
    assert_true(cover[1].nearest == 1.0);
    assert_int_equal(cover[1].near, 1); // 9
    assert_true(cover[2].nearest == 2.0);
    assert_int_equal(cover[2].near, 0);
    assert_true(cover[3].nearest == 0.0);
    assert_int_equal(cover[3].near, 4); // 0 .. 3
    assert_true(isinf(cover[4].nearest));
    assert_int_equal(cover[4].near, 0);
    assert_int_equal(rh_model__cover(model, 0, NULL, NULL, cover, NULL, NULL), RH_OK);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Steps that are all equal: their length is the radius, or 1.
static void equal_steps(void **unused)
{
    (void)unused;
    walk w[12];
    for (int i = 0; i < 12; i++)
        w[i] = (walk){7, 0, -1, 7, i == 11 ? ENDS : 0, i == 0};
    rh_log *log = log_of(w, 12, 1);
    rh_model *model = model_of(log, false);
    double obs[2] = {9, 0}, act = 0, radius;
    rh_cover cover;
    assert_int_equal(rh_model__cover(model, 1, obs, &act, &cover, &radius, NULL), RH_OK);
    assert_true(radius == 1.0);
    assert_true(cover.nearest == 2.0);
    assert_int_equal(cover.near, 0);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static double distance(const rh_log *log, const double *scale, const double *obs,
                       const double *act, int64_t i)
{
    double sum = 0.0;
    for (int k = 0; k < log->nobs; k++) {
        double gap = obs[k] - log->obs[(int64_t)log->from[i] * log->nobs + k];
        sum += gap * gap;
    }
    for (int k = 0; k < log->nact; k++) {
        double gap = (act[k] - log->act[i * log->nact + k]) / scale[k];
        sum += gap * gap;
    }
    return sqrt(sum);
}

// Continuous actions, scaled to their range or coded with the state: as all pairs say.
static void continuous(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(3, 150, 2, 0);
    for (int both = 0; both < 2; both++) {
        rh_model *model = model_of(log, both);
        const rh_log *own = rh_model_log(model);
        double scale[2] = {1, 1}, fifth[150], all[150];
        for (int k = 0; k < 2 && !both; k++) {
            double lo = INFINITY, hi = -INFINITY;
            for (int64_t i = 0; i < own->n; i++) {
                lo = fmin(lo, own->act[2 * i + k]);
                hi = fmax(hi, own->act[2 * i + k]);
            }
            scale[k] = (hi - lo) / 2.0;
        }
        for (int64_t i = 0; i < own->n; i++) {
            for (int64_t j = 0; j < own->n; j++)
                all[j] = distance(own, scale, own->obs + 2 * own->from[i], own->act + 2 * i, j);
            rh_stats__sort(all, own->n);
            fifth[i] = all[RH_COVER_TYPICAL]; // the first is the step itself
        }
        rh_stats__sort(fifth, own->n);
        double radius, obs[2] = {0.4, 0.6}, act[2] = {0.3, -0.7}, nearest = INFINITY;
        int near = 0;
        rh_cover cover;
        assert_int_equal(own->n, 150);
        assert_int_equal(rh_model__cover(model, 1, obs, act, &cover, &radius, NULL), RH_OK);
        assert_true(fabs(radius - (fifth[74] + fifth[75]) / 2.0) < 1e-6);
        for (int64_t i = 0; i < own->n; i++) {
            double far = distance(own, scale, obs, act, i);
            nearest = fmin(nearest, far);
            near += far <= radius;
        }
        assert_true(fabs(cover.nearest - nearest / radius) < 1e-6);
        assert_int_equal(cover.near, near);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

static void no_memory(void **unused)
{
    (void)unused;
    for (int naction = 0; naction <= 3; naction += 3) {
        rh_log *log = log_by_chance(3, 150, 2, naction);
        rh_model *model = model_of(log, false);
        double obs[2] = {0.4, 0.6}, act[2] = {0, 0};
        rh_cover cover;
        rh_status rc = RH_ENOMEM;
        int nth = 0;
        while (rc == RH_ENOMEM) {
            rh_base__alloc_fail_at(++nth);
            rc = rh_model__cover(model, 1, obs, act, &cover, NULL, NULL);
            rh_base__alloc_fail_at(0);
        }
        assert_int_equal(rc, RH_OK);
        assert_true(nth > 4);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_line),
        cmocka_unit_test(equal_steps),
        cmocka_unit_test(continuous),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
