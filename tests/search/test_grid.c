// test_grid.c - grid: all settings, in order, some hundreds at a time, with all their runs.

#include "search/search.h"
#include "search_sample.h"

static void all_in_order(void **unused)
{
    (void)unused;
    rh_space s = {{{"a", RH_DIM_RANGE, .lo = 1.0, .hi = 100.0, .step = 1.0},
                   {"b", RH_DIM_RANGE, .lo = 0.0, .hi = 0.9, .step = 0.1}},
                  2};
    rh_search__options opt = rh_search__defaults();
    opt.budget = 3; // is not looked at
    opt.nrun = 4;
    opt.batch = 1;
    rh_search *search = NULL;
    assert_int_equal(rh_search__create(&search, &rh_search_grid, &s, &opt, NULL), RH_OK);
    int n, seen = 0, nsetting;
    int64_t nrun;
    const rh_search__asked *asked;
    while (rh_search__ask(search, &asked, &n, NULL) == RH_OK && n) {
        assert_int_equal(n, 1000 - seen < 256 ? 1000 - seen : 256);
        for (int i = 0; i < n; i++, seen++) {
            double x[2];
            rh_space__at(&s, seen, x);
            assert_int_equal(asked[i].setting, seen);
            assert_int_equal(asked[i].nrun, 4);
            assert_memory_equal(rh_search__proposed(search, seen), x, sizeof x);
            assert_int_equal(sample_tell(search, asked[i], NULL), RH_OK);
        }
    }
    assert_int_equal(seen, 1000);
    rh_search__foresee(search, &nsetting, &nrun);
    assert_int_equal(nsetting, 1000);
    assert_int_equal(nrun, 4000);

    // who leads is the best of all
    rh_search__lead_entry leader;
    double best = -INFINITY;
    assert_int_equal(rh_search__lead(search, 1, &leader), 1);
    for (int i = 0; i < 1000; i++)
        best = search->setting[i].value > best ? search->setting[i].value : best;
    assert_true(leader.value == best);
    assert_true(search->setting[leader.setting].value == best);
    rh_search__destroy(search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
