// test_bayes_opt.c - Bayesian optimisation as in the package bayes_opt: its process, raw
// numbers, the best observed value leads, batches, earlier settings, memory.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "search/bayes.h"
#include "search/search.h"

#include <math.h>
#include <string.h>

static const double five[] = {1, 2, 4, 8, 16}, names[] = {0, 1, 2, 3};
static const rh_space box = {
    {{.name = "x", .lo = -5.0, .hi = 10.0}, {.name = "y", .lo = 0.0, .hi = 15.0}}, 2};
static const rh_space grid = {
    {{.name = "a", .kind = RH_DIM_LIST, .value = five, .nvalue = 5},
     {.name = "b", .kind = RH_DIM_NAMES, .value = names, .nvalue = 4}},
    2};

// 0 at best; NAN, a broken setting, in a corner.
static double bowl(const double *x)
{
    return x[0] > 8.0 && x[1] > 8.0 ? -INFINITY : -pow(x[0] - 2.0, 2) - pow(x[1] - 3.0, 2);
}

static rh_status create(rh_search **out, const rh_space *space, int budget, int batch,
                        uint64_t seed, rh_error *err)
{
    rh_search__options opt = rh_search__defaults();
    opt.budget = budget;
    opt.batch = batch;
    opt.seed = seed;
    opt.nrun = 1;
    return rh_search__create(out, &rh_search_bayes_opt, space, &opt, err);
}

// Ask and tell until the search has at least n settings, or ends.
static rh_status go_on(rh_search *search, int n, rh_error *err)
{
    while (rh_search__nsetting(search) < n) {
        const rh_search__asked *asked;
        int nasked;
        rh_status rc = rh_search__ask(search, &asked, &nasked, err);
        if (rc || nasked == 0)
            return rc;
        for (int i = 0; i < nasked; i++) {
            double score = bowl(rh_search__proposed(search, asked[i].setting));
            rh_search__told told = {asked[i].setting, 1, &score, score, 0.25, 0};
            rc = rh_search__tell(search, &told, err);
            if (rc)
                return rc;
        }
    }
    return RH_OK;
}

static rh_search *searched(const rh_space *space, int budget, int batch, uint64_t seed)
{
    rh_search *search = NULL;
    rh_error err = {""};
    if (create(&search, space, budget, batch, seed, &err) || go_on(search, budget, &err))
        fail_msg("%s", err.text);
    return search;
}

// Five settings first, raw numbers, no mean and no amplitude; the best observed value leads.
static void follows_the_package(void **unused)
{
    (void)unused;
    rh_search *search = searched(&box, 20, 1, 1);
    double best = -INFINITY;
    for (int i = 0; i < 20; i++)
        best = fmax(best, bowl(rh_search__proposed(search, i)));
    assert_true(best > -1.0);
    rh_search__lead_entry leader;
    assert_int_equal(rh_search__lead(search, 1, &leader), 1);
    assert_true(leader.value == best);
    const rh_gp *gp = search->self;
    assert_int_equal(gp->ngroup, 1);
    assert_true(gp->theta[RH_GP_VARIANCE] == 0.0);
    assert_true(gp->mean == 0.0);
    assert_true(fabs(exp(gp->theta[RH_GP_NOISE]) - 1e-6) < 1e-12);
    assert_true(gp->z[0] == rh_search__proposed(search, 0)[0]);
    rh_search__destroy(search);
}

// A setting that was asked is assumed to have its expected value: the next one of the batch is
// elsewhere.
static void batches_are_spread(void **unused)
{
    (void)unused;
    const rh_search__asked *asked;
    int n;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        rh_search *search = NULL;
        assert_int_equal(create(&search, &box, 40, 4, seed, NULL), RH_OK);
        assert_int_equal(go_on(search, 9, NULL), RH_OK);
        assert_int_equal(rh_search__ask(search, &asked, &n, NULL), RH_OK);
        assert_int_equal(n, 4);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < i; k++) {
                const double *a = rh_search__proposed(search, asked[i].setting);
                const double *b = rh_search__proposed(search, asked[k].setting);
                if (hypot(a[0] - b[0], a[1] - b[1]) < 0.1)
                    fail_msg("(%g, %g) and (%g, %g)", a[0], a[1], b[0], b[1]);
            }
        rh_search__destroy(search);
    }
}

// Uniform in raw numbers, also where the scale is a log one: above 0.1 nine in ten.
static void first_design(void **unused)
{
    (void)unused;
    static const rh_space rates = {
        {{.name = "rate", .lo = 1e-4, .hi = 1.0, .scale = RH_LOG},
         {.name = "count", .lo = 1.0, .hi = 1000.0, .step = 1.0, .scale = RH_LOG}},
        2};
    int high[2] = {0};
    for (uint64_t seed = 0; seed < 200; seed++) {
        rh_search *search = NULL;
        const rh_search__asked *asked;
        int nasked;
        assert_int_equal(create(&search, &rates, 100, 1, seed, NULL), RH_OK);
        assert_int_equal(rh_search__ask(search, &asked, &nasked, NULL), RH_OK);
        assert_int_equal(nasked, 5);
        for (int i = 0; i < nasked; i++) {
            const double *x = rh_search__proposed(search, i);
            assert_true(rh_space__holds(&rates, x));
            high[0] += x[0] > 0.1;
            high[1] += x[1] > 100.0;
        }
        rh_search__destroy(search);
    }
    assert_in_range(high[0], 860, 940);
    assert_in_range(high[1], 860, 940);
}

static void ends_when_all_are_tried(void **unused)
{
    (void)unused;
    rh_search *search = searched(&grid, 100, 3, 1);
    assert_int_equal(rh_search__nsetting(search), 20);
    rh_search__destroy(search);
}

// Settings of an earlier search are taken as they are, and the next are those it would propose.
static void knows_earlier_settings(void **unused)
{
    (void)unused;
    enum { N = 24, KNOWN = 17 };
    double x[KNOWN][2];
    rh_error err = {""};
    rh_search *whole = searched(&box, N, 4, 2), *again = NULL;
    for (int i = 0; i < KNOWN; i++)
        memcpy(x[i], rh_search__proposed(whole, i), sizeof x[i]);
    assert_int_equal(create(&again, &box, N, 4, 2, &err), RH_OK);
    assert_int_equal(rh_search__recall(again, KNOWN, x[0], &err), RH_OK);
    assert_int_equal(go_on(again, N, &err), RH_OK);
    for (int i = 0; i < N; i++)
        assert_memory_equal(rh_search__proposed(again, i), rh_search__proposed(whole, i),
                            sizeof x[0]);
    rh_search__destroy(whole);
    rh_search__destroy(again);
}

static void too_many(void **unused)
{
    (void)unused;
    rh_search *search = NULL;
    rh_error err;
    assert_int_equal(create(&search, &box, 5001, 1, 1, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "5001 settings"));
    assert_null(search);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    for (int n = 1;; n++) {
        rh_error err;
        rh_search *search = NULL;
        rh_base__alloc_fail_at(n);
        rh_status rc = create(&search, &grid, 8, 2, 1, &err);
        if (!rc)
            rc = go_on(search, 8, &err);
        rh_base__alloc_fail_at(0);
        rh_search__destroy(search);
        assert_int_equal(rh_base__alloc_live(), live);
        if (!rc)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_true(n < 500);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_package),    cmocka_unit_test(batches_are_spread),
        cmocka_unit_test(first_design),           cmocka_unit_test(ends_when_all_are_tried),
        cmocka_unit_test(knows_earlier_settings), cmocka_unit_test(too_many),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
