// test_agree.c - confirmed settings in several kinds of model: regrets by hand, the setting
// that holds in all kinds, ties, and findings about kinds that disagree.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_internal.h"
#include "eval/eval.h"
#include "study/core.h"

enum { NKIND = 2, NMEMBER = 2, NRUN = 2, NALL = NKIND * NMEMBER * NRUN, MOST = 6 };

// A study of which only the confirmed trials exist.
typedef struct made {
    rh_study study;
    rh_plan plan;
    rh_study__record record[MOST], *all[MOST];
    rh_result result[MOST][NALL];
    rh_kind_score kind[MOST][NKIND];
    rh_trial trial[MOST];
    int place[MOST];
    double work[2000];
} made;

// Settings whose runs score value[i][k] in kind k; members differ by `spread` from it.
static void make(made *m, int n, const double value[][NKIND], double spread)
{
    static const char *const label[NKIND] = {"carrying", "network"};
    memset(m, 0, sizeof *m);
    m->study.plan = &m->plan;
    m->study.work = m->work;
    m->study.kinds.n = NKIND;
    m->study.record = m->all;
    m->study.nrecord = n;
    m->study.place[true] = m->place;
    m->study.nplace[true] = n;
    assert_true(rh_value__nwork(NMEMBER, NRUN) <= 2000);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < NALL; j++) {
            double up = j / NRUN % NMEMBER ? spread : -spread;
            m->result[i][j].score = value[i][j / NRUN / NMEMBER] + up;
        }
        for (int k = 0; k < NKIND; k++) {
            rh_value__estimate v =
                rh_value__of((rh_judge){0}, NMEMBER, NRUN,
                             m->result[i] + (size_t)k * NMEMBER * NRUN, NULL, m->work);
            m->kind[i][k] = (rh_kind_score){v.value, v.lo95, v.hi95, NAN};
        }
        m->record[i].kind = m->kind[i];
        m->record[i].trial = (rh_trial){.setting = i,
                                        .confirm = true,
                                        .nmember = NKIND * NMEMBER,
                                        .nrun = NRUN,
                                        .nkind = NKIND,
                                        .kind = m->kind[i],
                                        .result = m->result[i],
                                        .value = m->kind[i][0].value};
        m->all[i] = &m->record[i];
        m->place[i] = i + 1;
        m->trial[i] = m->record[i].trial;
    }
    m->study.verdict = (rh_verdict){
        .trial = m->trial, .ntrial = n, .nconfirm = n, .kind = label, .nkind = NKIND};
    assert_int_equal(rh_study__regrets(&m->study), RH_OK);
}

static int winner_of(made *m)
{
    const rh_verdict *v = &m->study.verdict;
    int best = 0;
    for (int i = 1; i < v->nconfirm; i++)
        if (rh_study__holds_better(&v->trial[i], &v->trial[best]))
            best = i;
    m->study.verdict.winner = best;
    return best;
}

// The id's evidence, or NULL. The findings are those of the verdict.
static const char *evidence(made *m)
{
    rh_verdict *v = &m->study.verdict;
    winner_of(m);
    assert_true(rh_findings__begin(&v->findings, RH_OF_STUDY));
    rh_study__disagreement(&m->study);
    assert_true(rh_findings__end(&v->findings));
    for (int i = 0; i < v->findings.n; i++) {
        assert_int_equal(v->findings.item[i].id, RH_FINDING_KINDS_DISAGREE);
        assert_int_equal(v->findings.item[i].severity, RH_WARNING);
        assert_non_null(v->findings.item[i].remedy);
    }
    return v->findings.n ? v->findings.item[0].evidence : NULL;
}

// ---------------------------------------------------------------------------- the winner

// The best of each kind fails in the other; one setting is nearly as good in both.
static void the_robust_setting_wins(void **unused)
{
    (void)unused;
    static const double value[4][NKIND] = {{100, -4000}, {90, -100}, {0, 0}, {10, -2000}};
    made m;
    make(&m, 4, value, 0.0);
    // units: 100 - (90 + 10) / 2 = 50 and 0 - (-100 - 2000) / 2 = 1050
    static const double regret[4][NKIND] = {{0, 4000.0 / 1050},
                                            {10.0 / 50, 100.0 / 1050},
                                            {100.0 / 50, 0},
                                            {90.0 / 50, 2000.0 / 1050}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < NKIND; k++)
            assert_true(fabs(m.kind[i][k].regret - regret[i][k]) < 1e-12);
    assert_int_equal(winner_of(&m), 1);

    // the mean of raw scores follows the kind with the large scale
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (value[i][0] + value[i][1] > value[best][0] + value[best][1])
            best = i;
    assert_int_equal(best, 2);
}

// A kind in which all settings are equal up to noise does not overrule one that separates them.
static void noise_has_no_say(void **unused)
{
    (void)unused;
    static const double value[3][NKIND] = {{100, 9.8}, {40, 10.1}, {0, 10.2}};
    made m;
    make(&m, 3, value, 1.0);
    assert_int_equal(winner_of(&m), 0);
    assert_true(m.kind[0][1].regret < 0.05);
    assert_true(m.kind[1][0].regret > 0.5);
}

// With one kind it is the highest lower bound; what is not finite comes last.
static void bounds(void **unused)
{
    (void)unused;
    static const double value[3][NKIND] = {{5, 0}, {7, 0}, {6, 0}};
    made m;
    make(&m, 3, value, 0.5);
    m.study.kinds.n = 1;
    for (int i = 0; i < 3; i++)
        m.trial[i].nkind = 1;
    assert_int_equal(winner_of(&m), 1);

    static const double broken[3][NKIND] = {{9, -INFINITY}, {1, 1}, {2, 0.9}};
    make(&m, 3, broken, 0.0);
    assert_true(m.kind[0][1].regret == INFINITY);
    assert_true(m.kind[1][1].regret == 0.0);
    assert_true(winner_of(&m) != 0);

    static const double all_broken[2][NKIND] = {{3, -INFINITY}, {4, -INFINITY}};
    make(&m, 2, all_broken, 0.0);
    assert_int_equal(winner_of(&m), 1);
}

// A setting with diverged runs neither sets the unit nor the best of a kind.
static void diverged_settings_set_no_unit(void **unused)
{
    (void)unused;
    static const double value[4][NKIND] = {{1000, 9}, {10, 8}, {8, 10}, {0, 0}};
    made m;
    make(&m, 4, value, 0.0);
    m.trial[0].ndiverged = 1;
    assert_int_equal(rh_study__regrets(&m.study), RH_OK);
    assert_true(m.kind[0][0].regret == 0.0);
    assert_true(m.kind[1][0].regret == 0.0);
    assert_true(fabs(m.kind[2][0].regret - 2.0 / (10.0 - 8.0)) < 1e-12);
    m.study.verdict.winner = 1; // and it does not beat the winner
    assert_true(rh_findings__begin(&m.study.verdict.findings, RH_OF_STUDY));
    rh_study__disagreement(&m.study);
    assert_true(rh_findings__end(&m.study.verdict.findings));
    for (int i = 0; i < m.study.verdict.findings.n; i++)
        assert_null(strstr(m.study.verdict.findings.item[i].evidence, "setting 0"));
    rh_findings__clear(&m.study.verdict.findings);
}

// ---------------------------------------------------------------------------- ties

static void tied_in_all_kinds(void **unused)
{
    (void)unused;
    static const double value[3][NKIND] = {{10, 10}, {10, 10}, {10, 2}};
    made m;
    make(&m, 3, value, 0.0);
    assert_true(rh_study__is_tied(&m.study, &m.trial[0], &m.trial[1]));
    assert_false(rh_study__is_tied(&m.study, &m.trial[0], &m.trial[2]));
    assert_true(rh_study__is_tied(&m.study, &m.trial[2], &m.trial[0])); // which is better
}

// Better beyond chance in one kind is not enough, and nor is better within the noise.
static void beaten_in_all_kinds(void **unused)
{
    (void)unused;
    static const double value[4][NKIND] = {{10, 10}, {8, 8}, {8, 10}, {8, 12}};
    made m;
    make(&m, 4, value, 0.0);
    assert_true(rh_study__beats(&m.study, &m.trial[0], &m.trial[1]));
    assert_false(rh_study__beats(&m.study, &m.trial[1], &m.trial[0]));
    assert_false(rh_study__beats(&m.study, &m.trial[0], &m.trial[2]));
    assert_false(rh_study__beats(&m.study, &m.trial[0], &m.trial[3]));
    for (int j = 0; j < NALL; j++) // member by member it is now 40 above or 36 below
        m.result[1][j].score += j / NRUN % NMEMBER ? 38.0 : -38.0;
    assert_false(rh_study__beats(&m.study, &m.trial[0], &m.trial[1]));
}

// ---------------------------------------------------------------------------- findings

static void disagreement(void **unused)
{
    (void)unused;
    made m;
    static const double alike[3][NKIND] = {{3, 300}, {2, 200}, {1, 100}};
    make(&m, 3, alike, 0.0);
    assert_null(evidence(&m));
    rh_findings__clear(&m.study.verdict.findings);

    // the winner is first in one kind and second in the other
    static const double second[4][NKIND] = {{30, 299}, {10, 300}, {11, 100}, {0, 0}};
    make(&m, 4, second, 0.0);
    const char *found = evidence(&m);
    assert_int_equal(m.study.verdict.winner, 0);
    assert_string_equal(found, "setting 1 beats the winner in network models: 300 (300 to 300) "
                               "against 299 (299 to 299)");
    rh_findings__clear(&m.study.verdict.findings);

    // the same winner, but the others in opposite order: 3 pairs of 6
    static const double opposite[4][NKIND] = {{9, 9}, {3, 1}, {2, 2}, {1, 3}};
    make(&m, 4, opposite, 0.0);
    found = evidence(&m);
    assert_int_equal(m.study.verdict.winner, 0);
    assert_string_equal(found, "carrying and network models order 3 of 6 pairs of confirmed "
                               "settings oppositely (pairs that both separate, 95 %)");
    rh_findings__clear(&m.study.verdict.findings);

    // one pair of six is not enough
    static const double nearly[4][NKIND] = {{9, 9}, {3, 3}, {2, 1}, {1, 2}};
    make(&m, 4, nearly, 0.0);
    assert_null(evidence(&m));
    rh_findings__clear(&m.study.verdict.findings);
}

// Settings that no kind separates may come in any order. Paired members: the difference between
// two settings is the same in all members only if their spreads are.
static void noise_is_no_disagreement(void **unused)
{
    (void)unused;
    static const double value[3][NKIND] = {{3, 1}, {2, 2}, {1, 3}};
    made m;
    make(&m, 3, value, 0.0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < NALL; j++)
            m.result[i][j].score += (j / NRUN % NMEMBER ? 40.0 : -40.0) * (i - 1);
    assert_null(evidence(&m));
    rh_findings__clear(&m.study.verdict.findings);
}

static void without_memory(void **unused)
{
    (void)unused;
    static const double value[2][NKIND] = {{3, 1}, {2, 2}};
    made m;
    make(&m, 2, value, 0.0);
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_study__regrets(&m.study), RH_ENOMEM);
    rh_base__alloc_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_robust_setting_wins),
        cmocka_unit_test(noise_has_no_say),
        cmocka_unit_test(bounds),
        cmocka_unit_test(diverged_settings_set_no_unit),
        cmocka_unit_test(tied_in_all_kinds),
        cmocka_unit_test(beaten_in_all_kinds),
        cmocka_unit_test(disagreement),
        cmocka_unit_test(noise_is_no_disagreement),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
