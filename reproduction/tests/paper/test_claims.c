// test_claims.c - intervals against tests/reference/paper_claims.py, and the verdicts.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "paper/paper_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number(char **rest)
{
    return strtod(strsep(rest, ","), NULL);
}

// 2,000 samples against 50,000: the ends may differ by the noise of a 2.5 % quantile, here by a
// tenth of the interval.
static void check_interval(const double *x, const double *y, rh_paper__statistic of, char *row)
{
    rh_paper__interval i = rh_paper__bootstrap((const double *const[]){x, y}, 2, 12, of);
    double value = number(&row), lo = number(&row), hi = number(&row);
    assert_int_equal(i.n, 12);
    assert_true(fabs(i.value - value) < 1e-9);
    assert_true(fabs(i.lo95 - lo) < 0.1 * (hi - lo));
    assert_true(fabs(i.hi95 - hi) < 0.1 * (hi - lo));
}

static void reference(void **unused)
{
    (void)unused;
    FILE *in = fopen(RH_TEST_DATA "/paper_claims.csv", "r");
    char line[1024];
    double x[12], y[12];
    int nrow = 0;
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        char *row = line;
        const char *name = strsep(&row, ",");
        nrow++;
        if (strcmp(name, "wilson") == 0) {
            double k = number(&row), n = number(&row);
            rh_paper__interval i = rh_paper__wilson((int)k, (int)n);
            assert_true(fabs(i.lo95 - number(&row)) < 1e-12);
            assert_true(fabs(i.hi95 - number(&row)) < 1e-12);
            assert_true(i.value == k / n);
        } else if (strcmp(name, "median") == 0) {
            check_interval(x, y, rh_paper__of_medians, row);
        } else if (strcmp(name, "spread") == 0) {
            check_interval(x, y, rh_paper__of_spreads, row);
        } else {
            for (int i = 0; i < 12; i++)
                (*name == 'x' ? x : y)[i] = number(&row);
        }
    }
    fclose(in);
    assert_int_equal(nrow, 11);
}

// Logs that a series does not have are left out of all.
static void missing_logs(void **unused)
{
    (void)unused;
    double x[] = {1, 2, NAN, 4, 5, 6, 7, 8}, y[] = {1, NAN, 3, 4, 5, 6, 7, 8};
    rh_paper__interval i =
        rh_paper__bootstrap((const double *const[]){x, y}, 2, 8, rh_paper__of_medians);
    assert_int_equal(i.n, 6);
    assert_true(i.value == 0.0);
    assert_true(i.lo95 == 0.0);
    assert_true(i.hi95 == 0.0);
    i = rh_paper__bootstrap((const double *const[]){(double[]){NAN, NAN}}, 1, 2,
                            rh_paper__of_mean);
    assert_int_equal(i.n, 0);
    assert_true(isnan(i.value));
    assert_true(isnan(i.lo95));
    assert_true(isnan(i.hi95));
}

static void statistics(void **unused)
{
    (void)unused;
    double x[] = {1, 2, 3, 4, 100}, y[] = {1, 2, 3, 4, 5}, work[5];
    assert_true(rh_paper__of_outliers((const double *const[]){x, y}, 5, work) == 1.0);
    assert_true(rh_paper__of_mean((const double *const[]){x}, 5, work) == 22.0);
    assert_true(rh_paper__of_median((const double *const[]){x}, 5, work) == 3.0);
    assert_true(rh_paper__of_spreads((const double *const[]){x, y}, 5, work) == 0.0);
}

static const rh_paper__part part = {.is = {"exp0", "", ""}};

static rh_paper_verdict verdict(double lo, double hi, int n, rh_paper__side side)
{
    rh_paper paper = {.now = &part};
    rh_paper__interval i = {0.5 * lo + 0.5 * hi, lo, hi, n};
    rh_paper__claim(&paper, "1", "sentence", "rule", i, side, 1.0, "%d logs", n);
    assert_int_equal(paper.nclaim, 1);
    rh_paper_verdict out = paper.claim[0].verdict;
    assert_string_equal(paper.claim[0].experiment, "exp0");
    rh_free(paper.claim);
    return out;
}

static void verdicts(void **unused)
{
    (void)unused;
    assert_int_equal(verdict(1.1, 2.0, 30, RH_PAPER__ABOVE), RH_PAPER_HOLDS);
    assert_int_equal(verdict(0.0, 0.9, 30, RH_PAPER__ABOVE), RH_PAPER_FAILS);
    assert_int_equal(verdict(0.9, 1.1, 30, RH_PAPER__ABOVE), RH_PAPER_OPEN);
    assert_int_equal(verdict(0.0, 0.9, 30, RH_PAPER__BELOW), RH_PAPER_HOLDS);
    assert_int_equal(verdict(1.1, 2.0, 30, RH_PAPER__BELOW), RH_PAPER_FAILS);
    assert_int_equal(verdict(1.0, 1.0, 30, RH_PAPER__ABOVE), RH_PAPER_FAILS); // a tie
    assert_int_equal(verdict(1.1, 2.0, 5, RH_PAPER__ABOVE), RH_PAPER_OPEN);   // too few logs
    assert_int_equal(verdict(NAN, NAN, 30, RH_PAPER__ABOVE), RH_PAPER_OPEN);
    assert_string_equal(rh_paper_verdict_name(RH_PAPER_FAILS), "does not hold");
}

// Without memory the battery knows, and nothing is lost.
static void no_memory(void **unused)
{
    (void)unused;
    rh_paper paper = {.now = &part, .opt.nlog = 2};
    double x[] = {1, 2};
    int64_t live = rh_base__alloc_live();
    rh_base__alloc_fail_at(1);
    rh_paper__claim(&paper, "1", "", "", (rh_paper__interval){0}, RH_PAPER__ABOVE, 0.0, "x");
    assert_true(paper.bad);
    assert_int_equal(paper.nclaim, 0);
    paper.bad = false;
    rh_base__alloc_fail_at(1);
    assert_null(rh_paper__figure_add(&paper, "id", "title", "about", RH_PAPER__BOX, 0.0));
    assert_true(paper.bad);
    rh_base__alloc_fail_at(1);
    rh_paper__fact_add(&paper, "what", 1.0, 1.0, 1.0, NULL);
    assert_int_equal(paper.nfact, 0);
    rh_base__alloc_fail_at(0);
    rh_paper__figure *f =
        rh_paper__figure_add(&paper, "id", "title", "about", RH_PAPER__BOX, 0.0);
    assert_non_null(f);
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_paper__series_add(&paper, f, "a", x, 2), -1);
    rh_base__alloc_fail_at(0);
    rh_free(paper.figure);
    assert_int_equal(rh_base__alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference),  cmocka_unit_test(missing_logs),
        cmocka_unit_test(statistics), cmocka_unit_test(verdicts),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
