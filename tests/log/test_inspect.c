// test_inspect.c - whole reports: against numpy and scipy, without memory, and of tiny logs.

#include "base/base_internal.h"
#include "log/inspect_sample.h"

#include <stdio.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------- the reference

// tests/reference/log_inspect.csv, parsed here so that no reader of the library is involved.
static rh_log *reference_log(void)
{
    FILE *in = fopen(RH_TEST_DATA "/log_inspect.csv", "r");
    assert_non_null(in);
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err;
    rh_log_shape shape = {.nobs = 3, .nact = 1, .action = RH_ACTION_DISCRETE};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    char line[256];
    int last = -1, episode;
    assert_non_null(fgets(line, sizeof line, in));
    while (fgets(line, sizeof line, in)) {
        double obs[3], act, reward = 0.0;
        int n = sscanf(line, "%d,%lf,%lf,%lf,%lf,%lf", &episode, obs, obs + 1, obs + 2, &act,
                       &reward);
        assert_true(n == 4 || n == 6);
        rh_log_row row = {.obs = obs,
                          .act = n == 6 ? &act : NULL,
                          .reward = reward,
                          .begins = episode != last};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        last = episode;
    }
    fclose(in);
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

static double part_of(const rh_log_numbers *v, const char *key)
{
    if (strncmp(key, "bar", 3) == 0)
        return (double)v->bar[atoi(key + 3)];
    const struct {
        const char *key;
        double value;
    } part[] = {{"n", (double)v->n},   {"min", v->min}, {"max", v->max},
                {"mean", v->mean},     {"sd", v->sd},   {"q25", v->q25},
                {"median", v->median}, {"q75", v->q75}, {"different", (double)v->ndistinct}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (strcmp(part[i].key, key) == 0)
            return part[i].value;
    fail_msg("no number is called %s", key);
    return NAN;
}

static double cover_of(const rh_log_cover *c, const char *key)
{
    return strcmp(key, "n") == 0        ? (double)c->n
           : strcmp(key, "median") == 0 ? c->median
           : strcmp(key, "q90") == 0    ? c->q90
           : strcmp(key, "q99") == 0    ? c->q99
                                        : c->max;
}

static double find_number(const rh_log_report *r, const char *key)
{
    const struct {
        const char *name;
        const rh_log_numbers *value;
    } group[] = {{"x.", &r->sensor[0].value}, {"y.", &r->sensor[1].value},
                 {"z.", &r->sensor[2].value}, {"reward.", &r->reward},
                 {"length.", &r->length},     {"returns.", &r->returns}};
    for (size_t i = 0; i < sizeof group / sizeof *group; i++)
        if (strncmp(key, group[i].name, strlen(group[i].name)) == 0)
            return part_of(group[i].value, key + strlen(group[i].name));
    if (strncmp(key, "cover", 5) == 0)
        return cover_of(&r->cover[key[5] - '0'], key + 7);
    if (strncmp(key, "action", 6) == 0)
        return r->align.action[key[6] - '0'];
    if (strncmp(key, "partial", 7) == 0)
        return r->align.partial[key[7] - '0'];
    return strcmp(key, "step_length") == 0 ? r->step_length
           : strcmp(key, "step_far") == 0  ? r->step_far
                                           : r->start_spread;
}

static void agrees_with_numpy(void **unused)
{
    (void)unused;
    rh_log *log = reference_log();
    rh_log_report *report = report_of(log);
    FILE *in = fopen(RH_TEST_DATA "/log_inspect_numbers.csv", "r");
    assert_non_null(in);
    char line[128];
    int n = 0;
    while (fgets(line, sizeof line, in)) {
        char *comma = strchr(line, ',');
        assert_non_null(comma);
        *comma = 0;
        double want = strtod(comma + 1, NULL), got = find_number(report, line);
        double close = strncmp(line, "cover", 5) == 0 ? 1e-5 : 1e-9; // distances are floats
        if (!(fabs(got - want) <= close * fmax(1.0, fabs(want))))
            fail_msg("%s: got %.12g, expected %.12g", line, got, want);
        n++;
    }
    assert_int_equal(n, 6 * 21 + 3 + 3 * 5 + 6);
    fclose(in);
    rh_log_report_destroy(report);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- memory

static void survives_without_memory(void **unused)
{
    (void)unused;
    static rows r;
    make_rows(&r, 3);
    r.given = true; // so that everything is measured
    for (int i = 0; i + 1 < r.n; i++) {
        memcpy(r.next[i], r.obs[i + 1], sizeof r.next[i]);
        r.next[i][0] += i % 10 == 0;
    }
    for (int kind = 0; kind < 2; kind++) {
        r.shape.action = kind ? RH_ACTION_CONTINUOUS : RH_ACTION_DISCRETE;
        rh_log *log = log_of_rows(&r);
        int64_t live = rh_base__alloc_live(), nth = 1;
        rh_log_report *report = NULL;
        for (;; nth++) {
            rh_error err = {""};
            rh_base__alloc_fail_at(nth);
            rh_status rc = rh_log_inspect(&report, log, &err);
            rh_base__alloc_fail_at(0);
            if (rc == RH_OK)
                break;
            assert_int_equal(rc, RH_ENOMEM);
            assert_null(report);
            assert_non_null(strstr(err.text, "plant.csv: out of memory"));
            assert_int_equal(rh_base__alloc_live(), live);
        }
        assert_true(nth > 15);
        rh_log_report_destroy(report);
        assert_int_equal(rh_base__alloc_live(), live);
        rh_log_destroy(log);
    }
    rh_log_report_destroy(NULL);
}

// ---------------------------------------------------------------------------- small logs

static void looks_at_anything(void **unused)
{
    (void)unused;
    static rows r;
    for (int n = 1; n <= 8; n++)
        for (int kind = 0; kind < 6; kind++) {
            make_rows(&r, 1);
            r.n = n;
            r.shape.times = kind % 2;
            r.shape.action = kind > 2 ? RH_ACTION_CONTINUOUS : RH_ACTION_DISCRETE;
            for (int i = 0; i < n; i++) {
                for (int j = 1; j < ROW_OBS && kind == 1; j++)
                    r.obs[i][j] = NAN;
                for (int j = 0; j < ROW_OBS && kind == 2; j++)
                    r.obs[i][j] = 5.0;
                if (kind == 4)
                    r.obs[i][0] = i % 2 ? INFINITY : 1e308;
                if (kind == 5)
                    r.reward[i] = r.act[i] = -INFINITY;
            }
            r.terminal[n - 1] = true; // kept, though its s' is unknown
            rh_log *log = log_of_rows(&r);
            rh_log_report *report = report_of(log);
            assert_int_equal(report->nterminal, 1);
            assert_true(report->findings.n > 0);
            rh_log_report_destroy(report);
            rh_log_destroy(log);
        }
}

// Inspecting twice gives the same report.
static void is_repeatable(void **unused)
{
    (void)unused;
    rh_log *log = log_of((living){.env = "pendulum", .seed = 2, .n = 3000, .random = 0.5});
    rh_log_report *a = report_of(log), *b = report_of(log);
    assert_memory_equal(&a->align, &b->align, sizeof a->align);
    assert_int_equal(a->ncover, b->ncover);
    assert_memory_equal(a->cover, b->cover, (size_t)a->ncover * sizeof *a->cover);
    assert_int_equal(a->findings.n, b->findings.n);
    rh_log_report_destroy(a);
    rh_log_report_destroy(b);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- continuous

static void parts_amounts_into_thirds(void **unused)
{
    (void)unused;
    static rows r;
    make_rows(&r, 1);
    r.shape.action = RH_ACTION_CONTINUOUS;
    for (int i = 0; i < r.n; i++)
        r.act[i] = isnan(r.act[i]) ? NAN : r.act[i] + 0.001 * (i % 100);
    rh_log *log = log_of_rows(&r);
    rh_log_report *report = report_of(log);
    assert_int_equal(report->ncover, 3);
    int64_t n = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(report->cover[i].third, i);
        assert_true(report->cover[i].lo <= report->cover[i].hi);
        assert_true(llabs(report->cover[i].n - log->n / 3) < 25); // ties stay together
        n += report->cover[i].n;
    }
    assert_int_equal(n, log->n);
    rh_log_report_destroy(report);
    rh_log_destroy(log);

    // one half is 0
    for (int i = 0; i < r.n; i++)
        r.act[i] = isnan(r.act[i]) ? NAN : i % 2 ? 0.0 : 1.0 + 0.001 * (i % 100);
    log = log_of_rows(&r);
    report = report_of(log);
    n = 0;
    for (int i = 0; i < report->ncover; i++)
        n += report->cover[i].n;
    assert_int_equal(n, log->n);
    assert_true(report->cover[0].hi == 0.0);
    assert_int_equal(report->cover[0].n, log->n / 2);
    rh_log_report_destroy(report);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_numpy),         cmocka_unit_test(survives_without_memory),
        cmocka_unit_test(looks_at_anything),         cmocka_unit_test(is_repeatable),
        cmocka_unit_test(parts_amounts_into_thirds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
