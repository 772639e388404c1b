// test_baseline.c - settings selected at random and by sequential halving.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "env/alloc_test.h"
#include "paper/baseline.h"

#include <math.h>
#include <string.h>

enum { NPAPER = 54 };

// Every setting has its share. A correct draw fails the chi-square test of 5,400 draws with 53
// degrees of freedom (99.9999 % quantile 119.8) once in a million.
static void random_settings(void **unused)
{
    (void)unused;
    int count[NPAPER] = {0};
    double chi = 0.0;
    for (uint64_t i = 0; i < 100 * NPAPER; i++)
        count[rh_baseline_random(NPAPER, 3, i)]++;
    for (int s = 0; s < NPAPER; s++)
        chi += (count[s] - 100.0) * (count[s] - 100.0) / 100.0;
    assert_true(chi < 119.8);
    assert_int_equal(rh_baseline_random(NPAPER, 3, 7), rh_baseline_random(NPAPER, 3, 7));
    int nequal = 0;
    for (uint64_t i = 0; i < 100; i++)
        nequal += rh_baseline_random(1000000, 3, i) == rh_baseline_random(1000000, 4, i);
    assert_true(nequal < 3);
    assert_int_equal(rh_baseline_random(1, 3, 7), 0);
    assert_int_equal(rh_baseline_random(0, 3, 7), -1);
}

static void the_draws_of_the_paper(void **unused)
{
    (void)unused;
    int sum = 0, weighted = 0; // those of the published list
    for (int i = 0; i < 30; i++) {
        assert_in_range(rh_baseline_paper(i), 0, NPAPER - 1);
        sum += rh_baseline_paper(i);
        weighted += (i + 1) * rh_baseline_paper(i);
    }
    assert_int_equal(sum, 800);
    assert_int_equal(weighted, 12217);
    assert_int_equal(rh_baseline_paper(0), 34);
    assert_int_equal(rh_baseline_paper(29), 20);
    assert_int_equal(rh_baseline_paper(30), -1);
    assert_int_equal(rh_baseline_paper(-1), -1);
}

static void rounds(void **unused)
{
    (void)unused;
    static const rh_baseline_round expected[] = {{54, 15}, {27, 30}, {14, 59},
                                                 {7, 119}, {4, 208}, {2, 416}};
    rh_baseline_round round[RH_BASELINE_ROUNDS];
    assert_int_equal(rh_baseline_rounds(54, 5000, round), 6);
    for (int r = 0; r < 6; r++) {
        assert_int_equal(round[r].nsetting, expected[r].nsetting);
        assert_int_equal(round[r].nstep, expected[r].nstep);
    }
    assert_int_equal(rh_baseline_rounds(1, 5000, round), 0);
    assert_int_equal(rh_baseline_rounds(0, 5000, round), 0);
    assert_int_equal(rh_baseline_rounds(54, -1, round), 0);
    assert_int_equal(rh_baseline_rounds(INT32_MAX, INT64_MAX, round), RH_BASELINE_ROUNDS);
    for (int n = 2; n < 300; n++) {
        int64_t spent = 0;
        int nround = rh_baseline_rounds(n, 10000, round);
        assert_int_equal(nround, (int)ceil(log2(n)));
        for (int r = 0; r < nround; r++)
            spent += round[r].nsetting * round[r].nstep;
        assert_true(spent <= 10000);
        assert_true(spent > 10000 - nround * (n + 1));
        assert_int_equal(round[0].nsetting, n);
        assert_int_equal(round[nround - 1].nsetting, 2);
    }
}

// ---------------------------------------------------------------------------- selection

typedef struct plant {
    const double *worth; // of each setting
    int64_t steps;       // used
    int nround;
    int seen[NPAPER]; // rounds of a setting
    rh_status fail;   // in the second round
} plant;

static rh_status score(void *context, const int *setting, int n, int64_t nstep, int round,
                       double *got, rh_error *err)
{
    plant *p = context;
    assert_int_equal(round, p->nround++);
    for (int i = 0; i < n; i++) {
        got[i] = p->worth[setting[i]];
        p->seen[setting[i]]++;
    }
    p->steps += n * nstep;
    return round == 1 && p->fail ? rh_fail(err, p->fail, "no plant") : RH_OK;
}

static void the_best_is_selected(void **unused)
{
    (void)unused;
    double worth[NPAPER];
    for (int i = 0; i < NPAPER; i++)
        worth[i] =
            (i * 29) % NPAPER; // setting 13 has the most, 53: 29 x 13 = 377 = 6 x 54 + 53
    int best = 0;
    for (int i = 0; i < NPAPER; i++)
        best = worth[i] > worth[best] ? i : best;
    worth[(best + 1) % NPAPER] = NAN; // the lowest
    plant p = {.worth = worth};
    int chosen = -1;
    int64_t used = 0;
    assert_int_equal(rh_baseline_select(NPAPER, 5000, 1, score, &p, &chosen, &used, NULL),
                     RH_OK);
    assert_int_equal(chosen, best);
    assert_int_equal(used, p.steps);
    assert_in_range(used, 4800, 5000);
    assert_int_equal(p.nround, 6);
    assert_int_equal(p.seen[best], 6);
    assert_int_equal(p.seen[(best + 1) % NPAPER], 1);
}

// Equal scores, and rounds without steps, leave the choice to the seed.
static void ties_are_drawn(void **unused)
{
    (void)unused;
    double worth[NPAPER] = {0};
    int count[4] = {0}, chosen = -1;
    for (uint64_t seed = 0; seed < 400; seed++) {
        plant p = {.worth = worth};
        assert_int_equal(rh_baseline_select(4, 100, seed, score, &p, &chosen, NULL, NULL),
                         RH_OK);
        count[chosen]++;
        p = (plant){.worth = worth};
        int64_t used = -1;
        assert_int_equal(rh_baseline_select(4, 3, seed, score, &p, &chosen, &used, NULL),
                         RH_OK);
        assert_int_equal(used, 0);
        assert_int_equal(p.nround, 0);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(count[i], 50, 150); // 100 expected; 5.8 standard deviations
    assert_int_equal(rh_baseline_select(1, 100, 1, NULL, NULL, &chosen, NULL, NULL), RH_OK);
    assert_int_equal(chosen, 0);
}

static void failures(void **unused)
{
    (void)unused;
    double worth[NPAPER] = {0};
    plant p = {.worth = worth, .fail = RH_EIO};
    rh_error err = {""};
    int chosen = -7;
    assert_int_equal(rh_baseline_select(8, 100, 1, score, &p, &chosen, NULL, &err), RH_EIO);
    assert_string_equal(err.text, "no plant");
    assert_int_equal(chosen, -7);
    assert_int_equal(rh_baseline_select(0, 100, 1, score, &p, &chosen, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "baseline: 0 settings and 100 steps, expected 1 or more and 0 or more");
    assert_int_equal(rh_baseline_select(8, -1, 1, score, &p, &chosen, NULL, &err), RH_EINVAL);

    int64_t before = rh_base__alloc_live();
    int nth = 0;
    rh_status rc;
    do {
        p = (plant){.worth = worth};
        rh_base__alloc_fail_at(++nth);
        rc = rh_baseline_select(8, 100, 1, score, &p, &chosen, NULL, &err);
    } while (allocation_failed(rc, &err, before));
    assert_int_equal(nth, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_settings), cmocka_unit_test(the_draws_of_the_paper),
        cmocka_unit_test(rounds),          cmocka_unit_test(the_best_is_selected),
        cmocka_unit_test(ties_are_drawn),  cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
