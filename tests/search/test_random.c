// test_random.c - random: uniform, never twice, the same for the same seed; or even.

#include "search/search.h"
#include "search_sample.h"

// All settings of a search that is told nothing of interest, into x (n x ndim). Returns n.
static int drawn(const rh_space *space, int budget, double points, uint64_t seed, double *x)
{
    rh_search__options opt = rh_search__defaults();
    opt.budget = budget;
    opt.param = &points;
    opt.seed = seed;
    opt.nrun = 1;
    rh_search *search = NULL;
    assert_int_equal(rh_search__create(&search, &rh_search_random, space, &opt, NULL), RH_OK);
    int n;
    const rh_search__asked *asked;
    while (rh_search__ask(search, &asked, &n, NULL) == RH_OK && n)
        for (int i = 0; i < n; i++)
            assert_int_equal(sample_tell(search, asked[i], NULL), RH_OK);
    n = rh_search__nsetting(search);
    for (int i = 0; i < n; i++)
        memcpy(x + (ptrdiff_t)i * space->ndim, rh_search__proposed(search, i),
               (size_t)space->ndim * sizeof *x);
    rh_search__destroy(search);
    return n;
}

// Largest distance of the empirical distribution of u (n) from the uniform one.
static double unevenness(double *u, int n)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        int below = 0;
        for (int k = 0; k < n; k++)
            below += u[k] < u[i];
        double off = fabs((below + 0.5) / n - u[i]);
        worst = off > worst ? off : worst;
    }
    return worst;
}

static void uniform_and_even(void **unused)
{
    (void)unused;
    enum { N = 1000 };
    static double x[2 * N], u[2][N];
    rh_space s = {{{"a", RH_DIM_RANGE, RH_LOG, .lo = 1e-4, .hi = 1.0},
                   {"b", RH_DIM_RANGE, .lo = -1.0, .hi = 3.0}},
                  2};
    for (int points = 0; points < 2; points++) {
        assert_int_equal(drawn(&s, N, points, 5, x), N);
        for (int i = 0; i < N; i++) {
            u[0][i] = log(x[2 * i] / 1e-4) / log(1e4);
            u[1][i] = (x[2 * i + 1] + 1.0) / 4.0;
        }
        for (int k = 0; k < 2; k++) // Kolmogorov and Smirnov at 1e-4; a few slices of 1 / N
            assert_true(unevenness(u[k], N) < (points ? 0.005 : 2.2 / sqrt(N)));
        if (!points)
            assert_true(unevenness(u[0], N) > 0.005); // the two are not the same
    }
}

static void seeds(void **unused)
{
    (void)unused;
    static double a[300 * 6], b[300 * 6];
    rh_space s = sample_space(MIXED);
    for (int points = 0; points < 2; points++) {
        drawn(&s, 300, points, 1, a);
        drawn(&s, 300, points, 1, b);
        assert_memory_equal(a, b, sizeof a);
        drawn(&s, 300, points, 2, b);
        for (int i = 0; i < 300; i++)
            assert_true(a[6 * i] != b[6 * i]);
        // fewer of them are the first of them
        drawn(&s, 40, points, 1, b);
        assert_memory_equal(a, b, 40 * 6 * sizeof *a);
    }
}

// All of a finite space, each once, and then no more.
static void never_twice(void **unused)
{
    (void)unused;
    static double x[1000 * 3];
    rh_space s = sample_space(FINITE);
    for (int points = 0; points < 2; points++)
        for (int budget = 1; budget <= 40; budget++) {
            int n = drawn(&s, budget, points, (uint64_t)budget, x);
            assert_int_equal(n, budget < 36 ? budget : 36);
            for (int i = 0; i < n; i++) {
                assert_true(rh_space__holds(&s, x + (ptrdiff_t)3 * i));
                for (int k = 0; k < i; k++)
                    assert_memory_not_equal(x + (ptrdiff_t)3 * i, x + (ptrdiff_t)3 * k,
                                            3 * sizeof *x);
            }
        }

    // rare ones are found too: whole numbers on a log scale
    rh_space whole = {{{"a", RH_DIM_RANGE, RH_LOG, .lo = 1.0, .hi = 1000.0, .step = 1.0}}, 1};
    assert_int_equal(drawn(&whole, 1000, 0.0, 1, x), 1000);
    assert_int_equal(drawn(&whole, 1000, 1.0, 1, x), 1000);
    rh_space alone = sample_space(ALONE);
    assert_int_equal(drawn(&alone, 10, 0.0, 1, x), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_and_even),
        cmocka_unit_test(seeds),
        cmocka_unit_test(never_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
