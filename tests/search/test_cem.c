// test_cem.c - the cross-entropy method: its formula, both sets of constants, rounding, names,
// and finding a maximum.

#include "search/search.h"
#include "search_sample.h"

#include <stdlib.h>

enum { CONSTANTS, POPULATION, ELITES, RATE, SPREAD, TOLERANCE, RIDGE, ITERATIONS, NPARAM };

static void usual(double *param)
{
    assert_int_equal(rh_search_cem.nparam, NPARAM);
    rh_param_initial(rh_search_cem.param, NPARAM, param);
}

static rh_search *made(const rh_space *space, const double *param, int budget)
{
    rh_search__options opt = rh_search__defaults();
    rh_search *search = NULL;
    rh_error err = {""};
    opt.param = param;
    opt.budget = budget;
    opt.nrun = 1;
    if (rh_search__create(&search, &rh_search_cem, space, &opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    return search;
}

// Search to the end with values f(x). Returns the number of batches.
static int search_all(rh_search *search, double (*f)(const double *x))
{
    const rh_search__asked *asked;
    int n, batches = 0;
    for (; rh_search__ask(search, &asked, &n, NULL) == RH_OK && n; batches++)
        for (int i = 0; i < n; i++) {
            double value = f(rh_search__proposed(search, asked[i].setting));
            rh_search__told told = {asked[i].setting, 1, &value, value, NAN, 0};
            assert_int_equal(rh_search__tell(search, &told, NULL), RH_OK);
        }
    return batches;
}

static rh_space plane(void)
{
    return (rh_space){{{"a", RH_DIM_RANGE, .lo = 0.0, .hi = 1.0},
                       {"t", RH_DIM_RANGE, .lo = 0.0001, .hi = 10.0}},
                      2};
}

static double hill(const double *x)
{
    double a = x[0] - 0.23, t = (x[1] - 7.1) / 10.0;
    return -a * a - t * t - 0.5 * a * t;
}

static int better(const void *a, const void *b)
{
    double x = hill(*(const double *const *)a), y = hill(*(const double *const *)b);
    return (x < y) - (x > y);
}

// One iteration moves the mean a tenth of the way to that of the elites.
static void one_iteration(void **unused)
{
    (void)unused;
    for (int paper = 0; paper < 2; paper++) {
        double param[NPARAM];
        usual(param);
        param[CONSTANTS] = paper;
        param[ITERATIONS] = 1;
        rh_space s = plane();
        rh_search *search = made(&s, param, 1000);
        assert_int_equal(search_all(search, hill), 2);
        assert_int_equal(rh_search__nsetting(search), 33);
        const double *x[32], *last = rh_search__proposed(search, 32);
        for (int i = 0; i < 32; i++)
            x[i] = rh_search__proposed(search, i);
        qsort(x, 32, sizeof *x, better);
        int nelite = paper ? 5 : 4;
        for (int k = 0; k < 2; k++) {
            double mean = 0.0, centre = 0.5 * (s.dim[k].lo + s.dim[k].hi);
            for (int i = 0; i < nelite; i++)
                mean += x[i][k] / nelite;
            assert_true(fabs(last[k] - (0.9 * centre + 0.1 * mean)) < 1e-14);
        }
        rh_search__lead_entry leader[3];
        assert_int_equal(rh_search__lead(search, 3, leader), 3);
        assert_int_equal(leader[0].setting, 32); // the mean leads, then what was better
        assert_ptr_equal(rh_search__proposed(search, leader[1].setting), x[0]);
        assert_ptr_equal(rh_search__proposed(search, leader[2].setting), x[1]);
        assert_int_equal(rh_search__lead(search, 1, leader), 1);
        assert_int_equal(leader[0].setting, 32);
        rh_search__destroy(search);
    }
}

// The first draws are spread as the constants say: released, wide in both; paper, the
// variance is the width.
static void first_spread(void **unused)
{
    (void)unused;
    enum { N = 4000 };
    double sd[3][2] = {{0}};
    for (int spread = 0; spread < 3; spread++) {
        double param[NPARAM];
        usual(param);
        param[SPREAD] = spread;
        param[POPULATION] = N;
        param[ITERATIONS] = 1;
        rh_space s = {{{"a", RH_DIM_RANGE, .lo = 0.0, .hi = 1.0},
                       {"t", RH_DIM_RANGE, .lo = -10.0, .hi = 10.0}},
                      2};
        rh_search *search = made(&s, param, N + 1);
        search_all(search, hill);
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 2; k++) {
                double off = rh_search__proposed(search, i)[k] - (k ? 0.0 : 0.5);
                sd[spread][k] += off * off / N;
            }
        rh_search__destroy(search);
    }
    // a normal of deviation 20 in [-10, 10]: 5.6776; of sqrt(20): 4.1225 (SciPy's truncnorm);
    // of 1 in [-0.5, 0.5]: 0.2839
    assert_true(sd[0][0] == sd[1][0]);
    assert_true(sd[0][1] == sd[1][1]); // released: common
    assert_true(fabs(sqrt(sd[1][1]) - 5.6776) < 0.12);
    assert_true(fabs(sqrt(sd[2][1]) - 4.1225) < 0.12);
    assert_true(fabs(sqrt(sd[1][0]) - sqrt(1.0 / 12.0)) < 0.01);
    assert_true(fabs(sqrt(sd[2][0]) - 0.2839) < 0.01);
}

// Best on both sides of the middle, at a distance of 0.05.
static double sides(const double *x)
{
    return -fabs(fabs(x[0] - 0.5) - 0.05);
}

// With rate 1 the second iteration is drawn from the elites' own mean and unbiased covariance:
// 4,096 draws from it have the variance to 2.2 % (one standard deviation). Divided by n and not
// by n - 1 it would be a third less.
static void covariance_of_the_elites(void **unused)
{
    (void)unused;
    enum { N = 4096, NELITE = 3 };
    double param[NPARAM], best[NELITE] = {0.0}, mean = 0.0, variance = 0.0, square = 0.0;
    usual(param);
    param[POPULATION] = N;
    param[ELITES] = NELITE;
    param[RATE] = 1.0;
    param[RIDGE] = 0.0;
    param[ITERATIONS] = 2;
    rh_space s = {{{"a", RH_DIM_RANGE, .lo = 0.0, .hi = 1.0}}, 1};
    rh_search *search = made(&s, param, 2 * N + 1);
    assert_int_equal(search_all(search, sides), 3);
    for (int i = 0; i < N; i++) {
        double x = *rh_search__proposed(search, i);
        for (int e = 0; e < NELITE; e++)
            if (sides(&x) > sides(&best[e])) {
                double other = best[e];
                best[e] = x;
                x = other;
            }
    }
    for (int e = 0; e < NELITE; e++)
        mean += best[e] / NELITE;
    for (int e = 0; e < NELITE; e++)
        variance += (best[e] - mean) * (best[e] - mean) / (NELITE - 1);
    assert_true(variance > 0.003); // they are on both sides
    for (int i = N; i < 2 * N; i++) {
        double off = *rh_search__proposed(search, i) - mean;
        square += off * off / N;
    }
    assert_true(fabs(square / variance - 1.0) < 0.1);
    rh_search__destroy(search);
}

static void finds_the_top(void **unused)
{
    (void)unused;
    double param[NPARAM];
    usual(param);
    rh_space s = plane();
    rh_search *search = made(&s, param, 100 * 32 + 1);
    assert_int_equal(search_all(search, hill), 101);
    rh_search__lead_entry leader;
    assert_int_equal(rh_search__lead(search, 1, &leader), 1);
    assert_int_equal(leader.setting, 3200);
    const double *x = rh_search__proposed(search, 3200);
    assert_true(fabs(x[0] - 0.23) < 0.01);
    assert_true(fabs(x[1] - 7.1) < 0.1);
    rh_search__destroy(search);

    // as printed it stops almost at once, and the budget ends it too
    param[CONSTANTS] = 1;
    search = made(&s, param, 3201);
    assert_true(search_all(search, hill) < 12);
    rh_search__destroy(search);
    param[CONSTANTS] = 0;
    search = made(&s, param, 100);
    assert_int_equal(search_all(search, hill), 4); // 3 x 32 and the mean
    assert_int_equal(rh_search__nsetting(search), 97);
    rh_search__destroy(search);

    // a tolerance of one's own
    param[TOLERANCE] = 0.05;
    search = made(&s, param, 3201);
    int batches = search_all(search, hill);
    assert_in_range(batches, 3, 60);
    rh_search__destroy(search);
}

static double ridge(const double *x)
{
    return -fabs(log(x[0]) - log(0.02)) - 0.3 * fabs(log(x[1]) - log(9.0)) - fabs(x[2] - 8.0);
}

static double slope(const double *x)
{
    return x[0];
}

// Logarithms, whole numbers and lists: searched by their numbers, tried as what they are.
static void ordered(void **unused)
{
    (void)unused;
    static const double tilings[] = {1.0, 2.0, 4.0, 8.0, 64.0};
    double param[NPARAM];
    usual(param);
    rh_space s = {{{"a", RH_DIM_RANGE, RH_LOG, .lo = 1e-5, .hi = 1.0},
                   {"n", RH_DIM_RANGE, RH_LOG, .lo = 1.0, .hi = 100.0, .step = 1.0},
                   {"tilings", RH_DIM_LIST, RH_LOG, .value = tilings, .nvalue = 5}},
                  3};
    rh_search *search = made(&s, param, 3201);
    search_all(search, ridge);
    for (int i = 0; i < rh_search__nsetting(search); i++)
        assert_true(rh_space__holds(&s, rh_search__proposed(search, i)));
    rh_search__lead_entry leader;
    assert_int_equal(rh_search__lead(search, 1, &leader), 1);
    const double *x = rh_search__proposed(search, leader.setting);
    assert_true(fabs(log(x[0] / 0.02)) < 0.3);
    assert_true(fabs(x[1] - 9.0) <= 2.0);
    assert_true(x[2] == 8.0);
    rh_search__destroy(search);

    // where all can be tried, none is tried twice, and it ends
    rh_space small = {{s.dim[2]}, 1};
    search = made(&small, param, 1000);
    search_all(search, slope);
    assert_in_range(rh_search__nsetting(search), 1, 5);
    rh_search__destroy(search);
}

static double named(const double *x)
{
    static const double top[] = {0.2, 0.5, 0.8};
    int which = x[1] == 2.0 ? 0 : x[1] == 0.0 ? 1 : 2;
    return (which == 1 ? 0.5 : 0.0) - (x[0] - top[which]) * (x[0] - top[which]);
}

static void names_are_searched_separately(void **unused)
{
    (void)unused;
    double param[NPARAM];
    usual(param);
    param[RATE] = 0.5;
    rh_space s = {{{"a", RH_DIM_RANGE, .lo = 0.0, .hi = 1.0},
                   {"names", RH_DIM_NAMES, .value = sample_names, .nvalue = 3}},
                  2};
    rh_search *search = made(&s, param, 3 * (10 * 32 + 1) + 2);
    assert_int_equal(search_all(search, named), 11);
    assert_int_equal(rh_search__nsetting(search), 3 * (10 * 32 + 1));
    rh_search__lead_entry leader[4];
    assert_int_equal(rh_search__lead(search, 4, leader), 4);
    for (int i = 0; i < 3; i++)
        assert_in_range(leader[i].setting, 960, 962);
    assert_true(leader[3].setting < 960);
    assert_true(leader[0].value > leader[1].value);
    const double *x = rh_search__proposed(search, leader[0].setting);
    assert_true(x[1] == 0.0);
    assert_true(fabs(x[0] - 0.5) < 0.05);
    int count[3] = {0};
    for (int i = 0; i < 960; i++)
        for (int k = 0; k < 3; k++)
            count[k] += rh_search__proposed(search, i)[1] == sample_names[k];
    assert_int_equal(count[0], 320);
    assert_int_equal(count[1], 320);
    assert_int_equal(count[2], 320);
    rh_search__destroy(search);
}

static double broken(const double *x)
{
    return x[0] > 0.4 ? -(double)INFINITY : x[0];
}

static double hopeless(const double *x)
{
    (void)x;
    return -INFINITY;
}

static double gap(const double *x)
{
    return fabs(x[0] - 0.5) < 0.2 ? -(double)INFINITY : x[1];
}

static void broken_down(void **unused)
{
    (void)unused;
    double param[NPARAM];
    usual(param);
    param[RATE] = 0.5;
    rh_space s = plane();
    rh_search *search = made(&s, param, 961);
    search_all(search, broken);
    rh_search__lead_entry leader;
    assert_int_equal(rh_search__lead(search, 1, &leader), 1);
    assert_true(leader.value > 0.3);
    assert_true(leader.value <= 0.4);
    rh_search__destroy(search);
    search = made(&s, param, 961);
    search_all(search, hopeless);
    const double *x = rh_search__proposed(search, rh_search__nsetting(search) - 1);
    assert_true(x[0] == 0.5); // it never moved
    rh_search__destroy(search);

    // between two good sides: the mean is tried, breaks down, and is not the answer
    param[RATE] = 0.1;
    param[ITERATIONS] = 1;
    search = made(&s, param, 33);
    search_all(search, gap);
    assert_int_equal(rh_search__nsetting(search), 33);
    assert_true(gap(rh_search__proposed(search, 32)) == -INFINITY);
    assert_int_equal(rh_search__lead(search, 1, &leader), 1);
    assert_true(isfinite(leader.value));
    assert_true(leader.setting < 32);
    rh_search__destroy(search);
}

static void refused(const rh_space *space, const double *param, int budget, const char *why)
{
    rh_search__options opt = rh_search__defaults();
    rh_search *search = NULL;
    rh_error err = {""};
    opt.param = param;
    opt.budget = budget;
    assert_int_equal(rh_search__create(&search, &rh_search_cem, space, &opt, &err), RH_EINVAL);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
}

static void refusals(void **unused)
{
    (void)unused;
    static double value[100];
    for (int i = 0; i < 100; i++)
        value[i] = i;
    double param[NPARAM];
    usual(param);
    rh_space s = plane();
    refused(&s, param, 32,
            "cem: 32 settings to try, expected at least 33: a population of 32 and "
            "the mean");
    s.dim[2] = (rh_dim){"names", RH_DIM_NAMES, .value = value, .nvalue = 3};
    s.ndim = 3;
    refused(&s, param, 98, "expected at least 99: a population of 32 and the mean, for each");
    s.dim[2].nvalue = 65;
    refused(&s, param, 100000, "cem: 65 combinations of names, expected at most 64");
    param[ELITES] = 33;
    refused(&s, param, 100000, "cem: elites = 33, expected at most the population, 32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_iteration),
        cmocka_unit_test(first_spread),
        cmocka_unit_test(covariance_of_the_elites),
        cmocka_unit_test(finds_the_top),
        cmocka_unit_test(ordered),
        cmocka_unit_test(names_are_searched_separately),
        cmocka_unit_test(broken_down),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
