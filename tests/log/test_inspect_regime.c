// test_inspect_regime.c - a plant that was changed in the middle of the log is found, and a
// policy that changed is not mistaken for one.

#include "inspect_sample.h"

#include <stdio.h>

#define SPAN 2000

// Steps of a plant with one sensor and a hidden gain: x' = 0.9 x + gain * push + noise.
typedef struct part {
    int n;
    double gain, noise;
    double random; // share of random pushes, the rest drives x to `target`
    double target, cost;
} part;

static rh_log *log_of_parts(const part *p, int npart, uint64_t seed)
{
    rh_log_shape shape = {.nobs = 1, .nact = 1, .action = RH_ACTION_DISCRETE};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err;
    double x = 0.0;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int k = 0; k < npart; k++)
        for (int i = 0; i < p[k].n; i++) {
            bool random = rh_rng_uniform(&rng) < p[k].random;
            double act = random ? rh_rng_below(&rng, 3) : x < p[k].target ? 2.0 : 0.0;
            double reward = -p[k].cost * fabs(x) - 0.1 * act;
            rh_log_row row = {.obs = &x, .act = &act, .reward = reward};
            assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
            x = 0.9 * x + p[k].gain * (act - 1.0) + rh_rng_range(&rng, -1.0, 1.0) * p[k].noise;
        }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

// The report's measure; *found: there is a finding.
static rh_log_regime regime_of(rh_log *log, bool *found)
{
    rh_log_report *report = NULL;
    assert_int_equal(rh_log_inspect(&report, log, NULL), RH_OK);
    rh_log_regime regime = report->regime;
    *found = false;
    for (int i = 0; i < report->findings.n; i++)
        *found = *found ||
                 strcmp(rh_finding_name(report->findings.item[i].id), "mixed-regimes") == 0;
    rh_log_report_destroy(report);
    rh_log_destroy(log);
    return regime;
}

static void changed_plant(void **unused)
{
    (void)unused;
    bool found;
    part gain[2] = {{SPAN, 1.0, 0.3, 1.0, 0.0, 1.0}, {SPAN, 1.4, 0.3, 1.0, 0.0, 1.0}};
    rh_log_regime r = regime_of(log_of_parts(gain, 2, 1), &found);
    assert_true(found);
    assert_int_equal(r.sensor, 0);
    assert_true(r.at > SPAN - SPAN / 4);
    assert_true(r.at < SPAN + SPAN / 4);
    assert_true(r.share > 0.6);
    assert_true(r.share <= 1.0);

    // a change of the reward alone, after a third of the log
    part cost[2] = {{SPAN, 1.0, 0.3, 1.0, 0.0, 1.0}, {2 * SPAN, 1.0, 0.3, 1.0, 0.0, 1.3}};
    r = regime_of(log_of_parts(cost, 2, 2), &found);
    assert_true(found);
    assert_int_equal(r.sensor, 1);
    assert_true(r.at > SPAN - SPAN / 4);
    assert_true(r.at < SPAN + SPAN / 4);
}

// The limit is that of one false alarm in 1,000 logs; 30 of three kinds have none.
static void unchanged_plant(void **unused)
{
    (void)unused;
    int nalarm = 0;
    bool found;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        part one = {SPAN, 1.0, 0.3, 1.0, 0.0, 1.0};
        regime_of(log_of_parts(&one, 1, seed), &found);
        nalarm += found;
        part policies[2] = {{SPAN / 2, 1.0, 0.1, 1.0, 0.0, 1.0},
                            {SPAN / 2, 1.0, 0.1, 0.2, 3.0, 1.0}};
        regime_of(log_of_parts(policies, 2, seed), &found);
        nalarm += found;
    }
    static const char *const env[] = {"acrobot", "cartpole", "mountain_car", "pendulum",
                                      "puddle_world"};
    for (int i = 0; i < 5; i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            regime_of(log_of((living){env[i], seed, 1500, 0.3, 200, 0, 0}), &found);
            nalarm += found;
        }
    assert_int_equal(nalarm, 0);
}

static void short_logs(void **unused)
{
    (void)unused;
    bool found;
    part one = {100, 1.0, 0.3, 1.0, 0.0, 1.0};
    assert_int_equal(regime_of(log_of_parts(&one, 1, 1), &found).n, 0);
    assert_false(found);
}

// The report has nothing of what was not compared.
static void nothing_to_compare(void **unused)
{
    (void)unused;
    for (int n = 40; n <= SPAN; n += SPAN - 40) {
        part one = {n, 1.0, 0.3, 1.0, 0.0, 1.0};
        rh_log *log = log_of_parts(&one, 1, 1);
        rh_log_report *report = NULL;
        assert_int_equal(rh_log_inspect(&report, log, NULL), RH_OK);
        rh_names names = rh_log_names(log);
        char *text = rh_describe(RH_DOC_JSON, rh_log_report_fields(), report, &names);
        assert_non_null(text);
        assert_int_equal(report->regime.n > 0, n == SPAN);
        assert_int_equal(strstr(text, "\"later_part\":") != NULL, n == SPAN);
        rh_free(text);
        rh_log_report_destroy(report);
        rh_log_destroy(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_plant),
        cmocka_unit_test(unchanged_plant),
        cmocka_unit_test(short_logs),
        cmocka_unit_test(nothing_to_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
