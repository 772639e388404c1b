// test_limits.c - limits that explain where steps end: learned, by hand, and none where ends
// depend on several sensors.

#include "facts_sample.h"
#include "model/model.h"

static void near_zero(double *s, rh_rng *rng)
{
    s[0] = 0.5 * even(rng);
    s[1] = 0.5 * even(rng);
    s[2] = 0.5 * even(rng);
}

static void wander(double *s, double act, rh_rng *rng)
{
    s[0] += 0.3 * even(rng) + 0.1 * (act - 1.0);
    s[1] += 0.3 * even(rng);
    s[2] = 0.9 * s[2] + 0.3 * even(rng);
}

// Ends with s0 above 2 or s1 below -1.5.
static int trips(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    wander(s, act, rng);
    s[1] = fmin(s[1], 1.0);
    return s[0] > 2.0 || s[1] < -1.5;
}

static void limits_that_explain(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rh_facts *f = facts_of_plant(&(plant){3, 3, near_zero, trips, NULL, NULL}, 6000, seed);
        assert_int_equal(f->nlimit, 2);
        assert_int_equal(f->nreset, 0);
        assert_true(f->nterminal > 20);
        assert_int_equal(f->nunexplained, 0);
        const rh_limit *high = &f->limit[0], *low = &f->limit[1];
        assert_int_equal(high->sensor, 0);
        assert_true(high->above);
        assert_true(fabs(high->value - 2.0) < 0.05);
        assert_int_equal(low->sensor, 1);
        assert_false(low->above);
        assert_true(fabs(low->value + 1.5) < 0.05);
        assert_int_equal(high->nterminal + low->nterminal, f->nterminal);
        assert_true(high->reward == -1.0);
        assert_true(low->reward == -1.0);

        // the other side of s0 was never seen; s1 has a wall there
        assert_true(high->lone);
        assert_false(low->lone);
        assert_true(f->sensor[1].wall_hi == 1.0);
        rh_facts__destroy(f);
    }
}

// A limit with one side is a notice of the model; one that is set by hand is not.
static void one_sided(void **unused)
{
    (void)unused;
    double lo[3] = {NAN, NAN, NAN}, hi[3] = {2.0, NAN, NAN};
    rh_log *log = log_of_plant(&(plant){3, 3, near_zero, trips, NULL, NULL}, 1500, 1, NULL);
    for (int given = 0; given < 2; given++) {
        rh_model_options opt = rh_model_defaults();
        opt.limit_lo = given ? lo : NULL;
        opt.limit_hi = given ? hi : NULL;
        rh_model *model = fit_plain(rh_model_find("knn", NULL), log, false, &opt);
        const rh_findings *list = &rh_model_fidelity(model)->findings;
        const rh_finding *found = NULL;
        for (int i = 0; i < list->n; i++)
            if (strcmp(rh_finding_name(list->item[i].id), "one-sided-limit") == 0)
                found = &list->item[i];
        assert_true((found != NULL) == !given);
        if (found) {
            char words[80];
            snprintf(words, sizeof words, "%lld steps end with %s above",
                     (long long)rh_model_facts(model)->limit[0].nterminal, log->obs_name[0]);
            assert_int_equal(found->severity, RH_NOTICE);
            assert_int_equal(found->count, 1);
            assert_int_equal(found->dim, 0);
            assert_non_null(strstr(found->evidence, words));
            assert_non_null(strstr(found->remedy, "--limit"));
        }
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// A limit set by hand that logged steps are beyond is a warning, or an error if they are many.
static void passed(void **unused)
{
    (void)unused;
    static const double at[] = {1.98, 0.5, 2.0};
    double lo[3] = {NAN, NAN, NAN}, hi[3] = {NAN, NAN, NAN};
    rh_log *log = log_of_plant(&(plant){3, 3, near_zero, trips, NULL, NULL}, 1500, 1, NULL);
    for (int i = 0; i < 3; i++) {
        rh_model_options opt = rh_model_defaults();
        int64_t n = 0;
        hi[0] = at[i];
        opt.limit_lo = lo;
        opt.limit_hi = hi;
        for (int64_t t = 0; t < log->n; t++)
            n += log->obs[(int64_t)log->from[t] * 3] > at[i];
        rh_model *model = fit_plain(rh_model_find("knn", NULL), log, false, &opt);
        const rh_findings *list = &rh_model_fidelity(model)->findings;
        const rh_finding *found = NULL;
        for (int k = 0; k < list->n; k++)
            if (strcmp(rh_finding_name(list->item[k].id), "limit-passed") == 0)
                found = &list->item[k];
        assert_true((found != NULL) == (n > 0));
        if (found) {
            assert_int_equal(found->count, n);
            assert_int_equal(found->dim, 0);
            assert_true(found->severity == (n > 75 ? RH_ERROR : RH_WARNING));
        }
        assert_true(i == 0 ? n > 0 && n <= 75 : i == 1 ? n > 75 : n == 0);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// Ends in a corner: no sensor alone explains it. Ends outside of a circle: only at its four
// outermost points one does.
static int corner(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    wander(s, act, rng);
    for (int k = 0; k < 2; k++)
        s[k] = fmin(fmax(s[k], -2.0), 2.0);
    return s[0] > 1.0 && s[1] > 1.0;
}

static int circle(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    wander(s, act, rng);
    return s[0] * s[0] + s[1] * s[1] > 4.0;
}

// Ends at random.
static int whenever(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    wander(s, act, rng);
    return rh_rng_below(rng, 50) == 0;
}

static void no_limits(void **unused)
{
    (void)unused;
    const plant p[] = {{3, 3, near_zero, corner, NULL, NULL},
                       {3, 3, near_zero, whenever, NULL, NULL}};
    for (int i = 0; i < 2; i++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            rh_facts *f = facts_of_plant(&p[i], 6000, seed);
            if (f->nlimit)
                fail_msg("plant %d, seed %d: sensor %d, %g, %d of %d", i, (int)seed,
                         f->limit[0].sensor, f->limit[0].value, (int)f->limit[0].nterminal,
                         (int)f->nterminal);
            assert_int_equal(f->nunexplained, f->nterminal);
            rh_facts__destroy(f);
        }
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rh_facts *f = facts_of_plant(&(plant){3, 3, near_zero, circle, NULL, NULL}, 6000, seed);
        assert_true(2 * f->nunexplained > f->nterminal);
        for (int k = 0; k < f->nlimit; k++) {
            assert_true(f->limit[k].sensor < 2);
            assert_true(fabs(f->limit[k].value) > 1.8);
        }
        rh_facts__destroy(f);
    }
}

static rh_facts *examine(const rh_log *log, const double *lo, const double *hi)
{
    rh_error err = {""};
    rh_facts *f = NULL;
    rh_model_options opt = rh_model_defaults();
    opt.limit_lo = lo;
    opt.limit_hi = hi;
    if (rh_model__examine(&f, log, &opt, &err))
        fail_msg("%s", err.text);
    return f;
}

static void limits_by_hand(void **unused)
{
    (void)unused;
    rh_log *log = log_of_plant(&(plant){3, 3, near_zero, trips, NULL, NULL}, 6000, 1, NULL);
    const double lo[] = {-30.0, NAN, NAN}, hi[] = {NAN, NAN, 5.0};
    rh_facts *found = facts_of(log), *f = examine(log, lo, hi);

    // those of s0 replace the one found there, that of s1 stays
    assert_int_equal(f->nlimit, 3);
    const rh_limit *l = f->limit;
    assert_int_equal(l[0].sensor, 0);
    assert_false(l[0].above);
    assert_true(l[0].value == -30.0);
    assert_true(l[0].given);
    assert_int_equal(l[0].nterminal, 0);
    assert_true(isnan(l[0].reward));
    assert_true(l[0].lone);
    assert_int_equal(l[1].sensor, 1);
    assert_true(l[1].value == found->limit[1].value);
    assert_false(l[1].given);
    assert_int_equal(l[2].sensor, 2);
    assert_true(l[2].above);
    assert_true(l[2].value == 5.0);
    assert_true(l[2].given);
    assert_int_equal(f->nunexplained, f->nterminal - l[1].nterminal);
    rh_facts__destroy(f);
    rh_facts__destroy(found);

    // refused
    rh_error err = {""};
    rh_model_options opt = rh_model_defaults();
    const double same[] = {NAN, 5.0, 5.0}, endless[] = {INFINITY, NAN, NAN};
    f = NULL;
    opt.limit_lo = same;
    assert_int_equal(rh_model__examine(&f, log, &opt, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "only one of limit_lo and limit_hi"));
    opt.limit_hi = hi;
    assert_int_equal(rh_model__examine(&f, log, &opt, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "limits of sensor 'obs_2' are 5 and 5"));
    opt.limit_lo = endless;
    assert_int_equal(rh_model__examine(&f, log, &opt, &err), RH_EINVAL);
    opt = rh_model_defaults();
    opt.resets = (rh_resets)2;
    assert_int_equal(rh_model__examine(&f, log, &opt, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "resets = 2, expected 0 to 1"));
    assert_null(f);
    rh_log_destroy(log);
}

// A policy that falls to one side nearly always: one fall to the other side is a limit there,
// because the sensor has one already.
static int leans(double *s, double act, int i, rh_rng *rng)
{
    wander(s, act, rng);
    s[0] += i == 3000 ? -9.0 : 0.14;
    return fabs(s[0]) > 2.0;
}

static void one_fall_to_the_other_side(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        rh_facts *f = facts_of_plant(&(plant){3, 1, near_zero, leans, NULL, NULL}, 6000, seed);
        assert_int_equal(f->nlimit, 2);
        assert_int_equal(f->nunexplained, 0);
        assert_int_equal(f->limit[0].sensor, 0);
        assert_false(f->limit[0].above);
        assert_int_equal(f->limit[1].sensor, 0);
        assert_true(f->limit[1].above);
        assert_true(f->limit[1].nterminal > f->limit[0].nterminal);
        rh_facts__destroy(f);
    }
}

// The ranges that agents are told end at a wall or limit, and elsewhere a tenth outside.
static void margins(void **unused)
{
    (void)unused;
    rh_log *log = log_of_plant(&(plant){3, 3, near_zero, trips, NULL, NULL}, 6000, 1, NULL);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    const rh_task *task = rh_model_task(model);
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < log->nstate; i++) {
        least = fmin(least, log->obs[3 * i + 2]);
        most = fmax(most, log->obs[3 * i + 2]);
    }
    assert_true(task->obs_hi[0] == rh_model_facts(model)->limit[0].value);
    assert_true(task->obs_lo[1] == rh_model_facts(model)->limit[1].value);
    assert_true(task->obs_hi[1] == 1.0);
    assert_true(fabs(task->obs_lo[2] - (least - 0.1 * (most - least))) < 1e-12);
    assert_true(fabs(task->obs_hi[2] - (most + 0.1 * (most - least))) < 1e-12);
    rh_model_destroy(model);

    // not where a range is given
    const double lo[] = {-9.0, NAN, NAN}, hi[] = {9.0, NAN, NAN};
    opt.obs_lo = lo;
    opt.obs_hi = hi;
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(rh_model_task(model)->obs_lo[0] == -9.0);
    assert_true(rh_model_task(model)->obs_hi[0] == 9.0);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(limits_that_explain),
        cmocka_unit_test(one_sided),
        cmocka_unit_test(passed),
        cmocka_unit_test(no_limits),
        cmocka_unit_test(limits_by_hand),
        cmocka_unit_test(margins),
        cmocka_unit_test(one_fall_to_the_other_side),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
