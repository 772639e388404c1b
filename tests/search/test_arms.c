// test_arms.c - spaces with branches: the budget goes to the better branch, defaults come
// first, a recalled search proposes the same settings.

#include "search_sample.h"

static const double branch[] = {0.0, 1.0, 2.0};

// Branch 0 has three dimensions and the best values, branch 1 two, branch 2 none.
static rh_space branched(void)
{
    return (rh_space){{{.name = "agent", .kind = RH_DIM_NAMES, .value = branch, .nvalue = 3},
                       {.name = "a.x", .lo = 0.0, .hi = 1.0, .branch = 1},
                       {.name = "a.y", .lo = 0.0, .hi = 1.0, .branch = 1},
                       {.name = "a.z", .lo = 0.0, .hi = 1.0, .branch = 1},
                       {.name = "b.x", .lo = 0.0, .hi = 1.0, .branch = 2},
                       {.name = "b.y", .lo = 0.0, .hi = 1.0, .branch = 2}},
                      6};
}

static double value_of(const double *x)
{
    double sum = x[0] == 0.0 ? 1.0 : 0.0;
    for (int d = 1; d < 6; d++)
        sum -= isnan(x[d]) ? 0.0 : (x[d] - 0.3) * (x[d] - 0.3);
    return x[0] == 2.0 ? 0.2 : sum;
}

// Run a search to its end; how many settings each branch had.
static void carry_out(rh_search *search, int n[3])
{
    const rh_space space = branched();
    const rh_search__asked *asked;
    int nasked = 0;
    n[0] = n[1] = n[2] = 0;
    do {
        assert_int_equal(rh_search__ask(search, &asked, &nasked, NULL), RH_OK);
        for (int i = 0; i < nasked; i++) {
            const double *x = rh_search__proposed(search, asked[i].setting);
            assert_true(rh_space__holds(&space, x));
            n[(int)x[0]]++;
            double score = value_of(x);
            rh_search__told told = {asked[i].setting, 1, &score, score, 1e-6, 0};
            assert_int_equal(rh_search__tell(search, &told, NULL), RH_OK);
        }
    } while (nasked > 0);
}

static rh_search *create(const char *method, int budget, const double *cost)
{
    static const double first[] = {0.0, 0.9, 0.9, 0.9, NAN, NAN, 1.0, NAN, NAN, NAN, 0.5, 0.5};
    const rh_space space = branched();
    rh_search__options opt = rh_search__defaults();
    rh_search *search = NULL;
    opt.budget = budget;
    opt.nrun = 1;
    opt.batch = 4;
    opt.first = first;
    opt.nfirst = 2;
    opt.cost = cost;
    assert_int_equal(
        rh_search__create(&search, rh_search_find(method, NULL), &space, &opt, NULL), RH_OK);
    return search;
}

static void budget_goes_to_the_better_branch(void **state)
{
    int n[3], nsetting;
    int64_t nrun;
    rh_search__lead_entry leader[4];
    (void)state;
    rh_search *search = create("bayes", 60, NULL);
    carry_out(search, n);
    assert_int_equal(n[2], 1); // one setting, once
    assert_true(n[0] > n[1]);
    assert_in_range(n[0] + n[1] + n[2], 60, 63); // the last batch is whole
    rh_search__foresee(search, &nsetting, &nrun);
    assert_true(nsetting >= n[0] + n[1] + n[2]);
    assert_int_equal(rh_search__lead(search, 4, leader), 4);
    const double *best = rh_search__proposed(search, leader[0].setting);
    assert_true(best[0] == 0.0);
    assert_true(value_of(best) > 0.99);

    // the defaults of each branch are its first settings
    assert_true(rh_search__proposed(search, 0)[1] == 0.9);
    rh_search__destroy(search);
}

static void cheap_branches_get_more(void **state)
{
    static const double cost[] = {1.0, 0.1, 0.1};
    int n[3], plain[3];
    (void)state;
    rh_search *search = create("bayes", 20, cost);
    carry_out(search, n);
    rh_search__destroy(search);
    search = create("bayes", 20, NULL);
    carry_out(search, plain);
    rh_search__destroy(search);
    assert_true(n[0] + n[1] > plain[0] + plain[1]);
    assert_true(n[0] <= 24);
    assert_true(n[1] <= 24);
}

static void recalled_search_is_the_same(void **state)
{
    int n[3], again[3];
    double known[40 * 6];
    (void)state;
    for (int which = 0; which < 2; which++) {
        const char *method = which ? "bayes" : "random";
        rh_search *search = create(method, 40, NULL), *other = create(method, 40, NULL);
        carry_out(search, n);
        for (int i = 0; i < 30; i++)
            memcpy(known + i * 6, rh_search__proposed(search, i), 6 * sizeof *known);
        assert_int_equal(rh_search__recall(other, 30, known, NULL), RH_OK);
        carry_out(other, again);
        assert_int_equal(rh_search__nsetting(search), rh_search__nsetting(other));
        for (int i = 0; i < rh_search__nsetting(search); i++)
            for (int d = 0; d < 6; d++) {
                double a = rh_search__proposed(search, i)[d],
                       b = rh_search__proposed(other, i)[d];
                assert_true(a == b || (isnan(a) && isnan(b)));
            }
        rh_search__destroy(search);
        rh_search__destroy(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_goes_to_the_better_branch),
        cmocka_unit_test(cheap_branches_get_more),
        cmocka_unit_test(recalled_search_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
