// test_lemma.c - both theorems in small processes, against tests/reference/paper_lemma.py.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "paper/lemma.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NS = RH_LEMMA__NSTATE, NA = RH_LEMMA__NACTION };

static double number(char **rest)
{
    return strtod(strsep(rest, ","), NULL);
}

static void near(double x, double y)
{
    if (fabs(x - y) > 1e-12)
        fail_msg("%.17g, expected %.17g", x, y);
}

static void check_row(const char *name, char *row, rh_lemma *m, int *nrow)
{
    double ep, er;
    (*nrow)++;
    if (strcmp(name, "p") == 0) {
        for (int i = 0; i < 2 * NS * NA * NS; i++)
            (&m->p[0][0][0][0])[i] = number(&row);
    } else if (strcmp(name, "r") == 0) {
        for (int i = 0; i < 2 * NS * NA; i++)
            (&m->r[0][0][0])[i] = number(&row);
    } else if (strcmp(name, "error") == 0) {
        rh_lemma__errors(m, &ep, &er);
        near(ep, number(&row));
        near(er, number(&row));
    } else if (strcmp(name, "two") == 0) {
        near(rh_lemma__largest(m, 2), number(&row));
    } else {
        double alpha = number(&row), epsilon = number(&row);
        rh_lemma__learner l = {alpha, epsilon, 0.9};
        near(rh_lemma__value(m, 0, &l, 4), number(&row));
        near(rh_lemma__value(m, 1, &l, 4), number(&row));
    }
}

static void reference(void **unused)
{
    (void)unused;
    FILE *in = fopen(RH_TEST_DATA "/paper_lemma.csv", "r");
    char line[4096];
    rh_lemma m = {0};
    int nrow = 0;
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        char *row = line;
        const char *name = strsep(&row, ",");
        check_row(name, row, &m, &nrow);
    }
    fclose(in);
    assert_int_equal(nrow, 4 * 6);
}

// The value of a random history-dependent policy, followed along the tree, is within the
// largest.
static double difference(const rh_lemma *m, int left, int s, double p, double q, rh_rng *rng)
{
    int a = (int)rh_rng_below(rng, NA);
    double d = p * m->r[0][s][a] - q * m->r[1][s][a];
    for (int k = 0; k < NS && left > 1; k++)
        d += difference(m, left - 1, k, p * m->p[0][s][a][k], q * m->p[1][s][a][k], rng);
    return d;
}

// 50 processes, 200 policies of four steps each. No policy may exceed the largest difference,
// and that may not exceed the bound.
static void bound_holds(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(3, RH_STREAM_FIT, 0, 0);
    for (int i = 0; i < 50; i++) {
        rh_lemma m;
        double ep, er, reached = 0.0;
        rh_lemma__draw(&m, rh_rng_range(&rng, 0.01, 1.0), &rng);
        rh_lemma__errors(&m, &ep, &er);
        double largest = rh_lemma__largest(&m, 4);
        for (int k = 0; k < 200; k++) {
            double d = fabs(difference(&m, 4, 0, 1.0, 1.0, &rng));
            reached = d > reached ? d : reached;
        }
        assert_true(reached <= largest + 1e-12);
        assert_true(reached > 0.3 * largest); // the walk over the tree is not far off
        assert_true(largest <= rh_lemma__bound(ep, er, 4));
    }
}

// A model without errors: no policy has another value in it.
static void perfect_model(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(5, RH_STREAM_FIT, 0, 0);
    rh_lemma m;
    double ep, er;
    rh_lemma__draw(&m, 0.5, &rng);
    memcpy(m.p[1], m.p[0], sizeof m.p[0]);
    memcpy(m.r[1], m.r[0], sizeof m.r[0]);
    rh_lemma__errors(&m, &ep, &er);
    assert_true(ep == 0.0);
    assert_true(er == 0.0);
    assert_true(rh_lemma__largest(&m, 5) == 0.0);
}

// The worst case of rewards alone: wrong by er at every step, the bound is reached.
static void tight_for_rewards(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(5, RH_STREAM_FIT, 0, 0);
    rh_lemma m;
    rh_lemma__draw(&m, 0.0, &rng);
    for (int s = 0; s < NS; s++)
        for (int a = 0; a < NA; a++) {
            m.r[0][s][a] = 0.25;
            m.r[1][s][a] = 0.5;
        }
    near(rh_lemma__largest(&m, 5), rh_lemma__bound(0.0, 0.25, 5));
    near(rh_lemma__bound(0.5, 0.25, 4), 1.0 + 4.0); // er T + ep T^2 / 2
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference),
        cmocka_unit_test(bound_holds),
        cmocka_unit_test(perfect_model),
        cmocka_unit_test(tight_for_rewards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
