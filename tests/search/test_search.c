// test_search.c - the handle: refused options, copies, settings, results, amendments, leaders.

#include "base/base_internal.h"
#include "search/search.h"
#include "search_sample.h"

#include <stdlib.h>

static rh_search *made(const rh_search_type *type, const rh_space *space,
                       const rh_search__options *opt)
{
    rh_search *search = NULL;
    rh_error err = {""};
    if (rh_search__create(&search, type, space, opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    return search;
}

static void refused(const rh_search_type *type, const rh_space *space,
                    const rh_search__options *opt, const char *why)
{
    rh_search *search = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_search__create(&search, type, space, opt, &err), RH_EINVAL);
    assert_null(search);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
    assert_int_equal(rh_base__alloc_live(), live);
    assert_int_equal(rh_search__create(&search, type, space, opt, NULL), RH_EINVAL);
}

static void options(void **unused)
{
    (void)unused;
    rh_space s = sample_space(FINITE);
    rh_search__options usual = rh_search__defaults(), o = usual;
    assert_int_equal(o.budget, 100);
    assert_int_equal(o.nrun, 10);
    o.cookie = 0;
    refused(&rh_search_grid, &s, &o, "options must start from rh_search__defaults()");
    o = usual, o.budget = 0;
    refused(&rh_search_random, &s, &o, "random: 0 settings to try, expected 1 to 1000000");
    o = usual, o.nrun = 0;
    refused(&rh_search_grid, &s, &o, "grid: 0 runs, expected 1 or more");
    o = usual, o.batch = -1;
    refused(&rh_search_grid, &s, &o, "grid: -1 settings at a time, expected 1 or more");
    double param[] = {1.0, 1.5, 0.95};
    o = usual, o.param = param;
    refused(&rh_search_race, &s, &o, "race: first = 1, expected a whole number, 2 to 10000");
    s.dim[1].nvalue = 0;
    refused(&rh_search_grid, &s, &usual, "names: 0 values");
}

static void too_many(void **unused)
{
    (void)unused;
    rh_space mixed = sample_space(MIXED), cube = {.ndim = 3};
    refused(&rh_search_grid, &mixed, NULL,
            "grid: log may be any number from 0.001 to 10, expected values or a step; methods "
            "bayes, random and cem need none");
    refused(&rh_search_race, &mixed, NULL, "race: log may be any number");
    static const char *const name[] = {"a", "b", "c"};
    for (int k = 0; k < 3; k++)
        cube.dim[k] = (rh_dim){name[k], RH_DIM_RANGE, .lo = 1.0, .hi = 1000.0, .step = 1.0};
    refused(&rh_search_grid, &cube, NULL,
            "grid: a grid of 1,000,000,000 settings, expected at most 1,000,000: fewer values, "
            "or method bayes or random");
    cube.ndim = 2;
    rh_search *search = made(&rh_search_grid, &cube, NULL);
    int n;
    int64_t nrun;
    rh_search__foresee(search, &n, &nrun);
    assert_int_equal(n, 1000000);
    assert_int_equal(nrun, 10000000);
    rh_search__destroy(search);
    rh_search__destroy(NULL);
}

// A search keeps no pointers to the caller's memory.
static void copied(void **unused)
{
    (void)unused;
    double value[] = {1.0, 2.0, 4.0}, param[] = {0.0};
    char name[] = "alpha";
    rh_space s = {{{name, RH_DIM_LIST, .value = value, .nvalue = 3}}, 1};
    rh_search__options o = rh_search__defaults();
    o.param = param;
    rh_search *search = made(&rh_search_random, &s, &o);
    memset(value, 0, sizeof value);
    memset(name, 'x', 5);
    param[0] = 7.0;
    const rh_space *own = &search->space;
    assert_string_equal(own->dim[0].name, "alpha");
    assert_true(own->dim[0].value[2] == 4.0);
    assert_ptr_equal(search->type, &rh_search_random);
    const rh_search__asked *asked;
    int n;
    assert_int_equal(rh_search__ask(search, &asked, &n, NULL), RH_OK);
    assert_int_equal(n, 3);
    rh_search__destroy(search);
}

// Settings never move, are found, and lead in the right order.
static void told_and_found(void **unused)
{
    (void)unused;
    enum { N = 3000 };
    static const double *at[N];
    rh_space s = {{{"a", RH_DIM_RANGE, .lo = 0.0, .hi = N - 1.0, .step = 1.0}}, 1};
    rh_search *search = made(&rh_search_grid, &s, NULL);
    const rh_search__asked *asked;
    int n, seen = 0;
    while (rh_search__ask(search, &asked, &n, NULL) == RH_OK && n)
        for (int i = 0; i < n; i++, seen++) {
            assert_int_equal(asked[i].setting, seen);
            at[seen] = rh_search__proposed(search, seen);
            assert_true(*at[seen] == seen);
            assert_int_equal(rh_search__state(search, seen), RH_SETTING_OPEN);
            double score = seen % 7 ? -seen : -(double)INFINITY;
            rh_search__told told = {seen, 1, &score, score, seen % 2 ? 4.0 : (double)NAN, 0};
            assert_int_equal(rh_search__tell(search, &told, NULL), RH_OK);
            assert_int_equal(rh_search__state(search, seen), RH_SETTING_DONE);
        }
    assert_int_equal(seen, N);
    assert_int_equal(rh_search__nsetting(search), N);
    assert_int_equal(rh_search__ask(search, &asked, &n, NULL), RH_OK); // and it stays over
    assert_int_equal(n, 0);
    for (int i = 0; i < N; i++) {
        double x = i;
        assert_ptr_equal(rh_search__proposed(search, i), at[i]);
        assert_int_equal(rh_search__find(search, &x), i);
        x = i + 0.5;
        assert_int_equal(rh_search__find(search, &x), -1);
    }
    double zero = -0.0;
    assert_int_equal(rh_search__find(search, &zero), 0);

    // some of them, all of them, more than there are
    static rh_search__lead_entry leader[2 * N];
    for (int most = 1; most <= 2 * N; most = most == 10 ? N : most < 10 ? most + 1 : most + N) {
        int lead = rh_search__lead(search, most, leader);
        assert_int_equal(lead, most < N ? most : N);
        assert_int_equal(leader[0].setting, 1);
        assert_true(leader[0].value == -1.0);
        assert_true(leader[0].sd == 2.0);
        for (int i = 1; i < lead; i++)
            assert_true(leader[i].value < leader[i - 1].value ||
                        (leader[i].value == leader[i - 1].value &&
                         leader[i].setting > leader[i - 1].setting));
        if (lead > 1) {
            assert_true(isnan(leader[1].sd));
            assert_int_equal(leader[1].setting, 2);
        }
    }
    assert_true(leader[N - 1].value == -(double)INFINITY);
    rh_search__destroy(search);
}

static void no_leader_without_results(void **unused)
{
    (void)unused;
    rh_space s = sample_space(FINITE);
    rh_search *search = made(&rh_search_grid, &s, NULL);
    rh_search__lead_entry leader[3];
    const rh_search__asked *asked;
    int n;
    assert_int_equal(rh_search__lead(search, 3, leader), 0);
    assert_int_equal(rh_search__ask(search, &asked, &n, NULL), RH_OK);
    assert_int_equal(rh_search__lead(search, 3, leader), 0);
    assert_int_equal(sample_tell(search, asked[0], NULL), RH_OK);
    assert_int_equal(rh_search__lead(search, 3, leader), 1);
    rh_search__destroy(search);
}

static void order_is_checked(void **unused)
{
    (void)unused;
    rh_space s = sample_space(FINITE);
    rh_search *search = made(&rh_search_grid, &s, NULL);
    rh_error err = {""};
    double score = 1.0;
    const rh_search__asked *asked;
    int n;
    assert_int_equal(
        rh_search__tell(search, &(rh_search__told){0, 1, &score, 1.0, 0.0, 0}, &err),
        RH_EINVAL);
    assert_string_equal(err.text, "grid: told setting 0, expected an ask first");
    assert_int_equal(rh_search__ask(search, &asked, &n, NULL), RH_OK);
    assert_true(n >= 2);

    static const struct {
        rh_search__told told;
        const char *message;
    } wrong[] = {
        {{1, 1, NULL, 1.0, 0.0, 0}, "grid: told setting 1, expected 0, the next one asked"},
        {{0, 0, NULL, 1.0, 0.0, 0}, "grid: setting 0: 0 runs, value 1, noise 0, expected"},
        {{0, 1, NULL, NAN, 0.0, 0}, "grid: setting 0: 1 runs, value nan, noise 0, expected"},
        {{0, 1, NULL, 1.0, -2.0, 0}, "grid: setting 0: 1 runs, value 1, noise -2, expected"},
        {{0, 1, NULL, 1.0, 0.0, -1}, "grid: setting 0: -1 broken runs, expected 0 or more"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(rh_search__tell(search, &wrong[i].told, &err), RH_EINVAL);
        if (strncmp(err.text, wrong[i].message, strlen(wrong[i].message)) != 0)
            fail_msg("%s", err.text);
    }
    assert_int_equal(sample_tell(search, asked[0], NULL), RH_OK);
    assert_int_equal(rh_search__ask(search, &asked, &n, &err), RH_EINVAL);
    char want[96];
    snprintf(want, sizeof want, "grid: 1 of %d settings told, expected all before the next ask",
             n);
    assert_string_equal(err.text, want);
    rh_search__destroy(search);
}

// Every method: settings with broken runs are behind all others, whatever their values.
static void broken_runs_rank_last(void **unused)
{
    (void)unused;
    for (int t = 0; t < rh_search_ntype(); t++) {
        rh_space s = {{{"a", RH_DIM_RANGE, .lo = 0.0, .hi = 11.0, .step = 1.0}}, 1};
        rh_search__options opt = rh_search__defaults();
        opt.budget = 12;
        opt.nrun = 2;
        rh_search *search = made(rh_search_type_at(t), &s, &opt);
        const rh_search__asked *asked;
        int n, nsound = 0;
        bool broke[64] = {false};
        while (rh_search__ask(search, &asked, &n, NULL) == RH_OK && n > 0)
            for (int i = 0; i < n; i++) {
                double x = rh_search__proposed(search, asked[i].setting)[0];
                bool odd = (int)x % 2 == 1; // the odd ones break and have the higher values
                double score[2] = {x + 100.0 * odd, x + 100.0 * odd + 0.5};
                rh_search__told told = {.setting = asked[i].setting,
                                        .nrun = asked[i].nrun,
                                        .score = score,
                                        .noise = 0.06,
                                        .nbroken = odd};
                told.value = told.nrun == 1 ? score[0] : x + 100.0 * odd + 0.25;
                assert_int_equal(rh_search__tell(search, &told, NULL), RH_OK);
                nsound += !odd && !broke[told.setting];
                broke[told.setting] = odd;
            }
        rh_search__lead_entry leader[64];
        int count = rh_search__lead(search, 64, leader);
        assert_true(count > 0);
        assert_false(broke[leader[0].setting]);
        for (int i = 1; i < count; i++)
            if (broke[leader[i - 1].setting] && !broke[leader[i].setting])
                fail_msg("%s: leader %d has broken runs, the next has none",
                         rh_search_type_at(t)->name, i - 1);
        assert_true(nsound > 0);
        rh_search__destroy(search);
    }
}

static void amended(void **unused)
{
    (void)unused;
    rh_space s = sample_space(LINE);
    rh_search *search = made(&rh_search_random, &s, NULL);
    const rh_search__asked *asked;
    int n;
    assert_int_equal(rh_search__ask(search, &asked, &n, NULL), RH_OK);
    double before = *rh_search__proposed(search, 4), after = nextafter(before, 10.0);
    rh_search__amend(search, 4, &before);
    assert_int_equal(rh_search__find(search, &before), 4);
    rh_search__amend(search, 4, &after);
    assert_true(*rh_search__proposed(search, 4) == after);
    assert_int_equal(rh_search__find(search, &after), 4);
    assert_int_equal(rh_search__find(search, &before), -1);
    for (int i = 0; i < n; i++)
        assert_int_equal(rh_search__find(search, rh_search__proposed(search, i)), i);

    // what does not exist, and values that are no setting
    double none = NAN;
    rh_search__lead_entry leader;
    rh_search__amend(search, 4, &none);
    rh_search__amend(search, -1, &before);
    assert_true(*rh_search__proposed(search, 4) == after);
    assert_null(rh_search__proposed(search, rh_search__nsetting(search)));
    assert_int_equal(rh_search__state(search, -1), RH_SETTING_DROPPED);
    assert_int_equal(rh_search__lead(search, 0, &leader), 0);
    rh_search__destroy(search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options),
        cmocka_unit_test(too_many),
        cmocka_unit_test(copied),
        cmocka_unit_test(told_and_found),
        cmocka_unit_test(no_leader_without_results),
        cmocka_unit_test(order_is_checked),
        cmocka_unit_test(broken_runs_rank_last),
        cmocka_unit_test(amended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
