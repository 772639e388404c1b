// test_curves.c - what learning curves promise, against NumPy
// (tests/reference/study_curves.py).

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "study/core.h"

#define NRUN 250
#define NPOINT 5

typedef struct sample {
    rh_plan plan;
    rh_study study;
    rh_study__record record;
    rh_result result[2 * NRUN];
    double curves[2 * NRUN * NPOINT], mean[NPOINT], promised[NPOINT], spread[NPOINT];
    double expected_mean[NPOINT], expected_spread[NPOINT], alarm, rate;
} sample;

static double next_number(char **at)
{
    return strtod(*at + 1, at);
}

// The runs of the file as those of the first of two kinds of model; the second has nonsense.
static void set(sample *s)
{
    char line[400];
    int n = 0;
    memset(s, 0, sizeof *s);
    FILE *file = fopen(RH_TEST_DATA "/study_curves.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *at = strchr(line, ',');
        assert_non_null(at);
        double *to = line[0] == 'r'   ? &s->curves[(size_t)n++ * 2 * NPOINT]
                     : line[0] == 'm' ? s->expected_mean
                                      : s->expected_spread;
        if (line[0] == 'a') {
            s->alarm = next_number(&at);
            s->rate = next_number(&at);
            continue;
        }
        for (int p = 0; p < NPOINT; p++)
            to[p] = next_number(&at);
    }
    fclose(file);
    assert_int_equal(n, NRUN);
    for (int i = 0; i < NRUN; i++)
        for (int p = 0; p < NPOINT; p++)
            s->curves[(2 * i + 1) * NPOINT + p] = 1e6 * i;
    s->plan.ncurve = NPOINT;
    s->study.plan = &s->plan;
    s->record.curves = s->curves;
    s->record.curve = s->mean;
    s->record.promised = s->promised;
    s->record.spread = s->spread;
    s->record.result = s->result;
    s->record.nasked = NRUN;
    s->record.trial.nmember = s->record.trial.nkind = 2;
    s->record.trial.nrun = NRUN;
}

static void near(double x, double expected)
{
    if (!(fabs(x - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", x, expected);
}

static void as_numpy_says(void **unused)
{
    (void)unused;
    static sample s;
    set(&s);
    rh_trial *trial = &s.record.trial;
    assert_int_equal(rh_study__foresee_curve(&s.study, &s.record, NULL), RH_OK);
    for (int p = 0; p < NPOINT; p++) {
        near(s.promised[p], s.expected_mean[p]);
        near(s.spread[p], s.expected_spread[p]);
    }
    near(trial->alarm, s.alarm);
    near(trial->false_alarms, s.rate);
    assert_int_equal(trial->ncurve_run, NRUN);

    // runs that were not done do not count: 20 runs give a rate of 1/21
    for (int i = 20; i < NRUN; i++)
        s.result[i].outcome = RH_STOPPED;
    assert_int_equal(rh_study__foresee_curve(&s.study, &s.record, NULL), RH_OK);
    assert_int_equal(trial->ncurve_run, 20);
    near(trial->false_alarms, 1.0 / 21.0);
}

// Rewards without noise: a deficit in the last digit is none, one of a tenth is.
static void without_noise(void **unused)
{
    (void)unused;
    static sample s;
    set(&s);
    for (size_t i = 0; i < sizeof s.curves / sizeof *s.curves; i++)
        s.curves[i] = -5.0;
    assert_int_equal(rh_study__foresee_curve(&s.study, &s.record, NULL), RH_OK);
    near(s.spread[0], 0.05);
    assert_true(s.record.trial.alarm == 0.0);
    assert_true(rh_promise__deficit(0.0, -5.0, s.spread[0], NRUN, -5.0 - 1e-12) == 0.0);
    near(rh_promise__deficit(1.0, -5.0, s.spread[0], NRUN, -5.5), 0.6 + 6.0 - 0.5); // cut
    assert_true(rh_promise__deficit(1.5, -5.0, s.spread[0], NRUN, NAN) == 1.5);
    assert_true(rh_promise__deficit(1.5, -5.0, NAN, NRUN, -9.0) == 1.5);
}

static void no_memory(void **unused)
{
    (void)unused;
    static sample s;
    set(&s);
    int64_t live = rh_base__alloc_live();
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_study__foresee_curve(&s.study, &s.record, NULL), RH_ENOMEM);
    rh_base__alloc_fail_at(0);
    assert_int_equal(rh_base__alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_numpy_says),
        cmocka_unit_test(without_noise),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
