// test_inspect_lines.c - findings name the line of the file, or the row of its arrays.

#include "inspect_sample.h"
#include "log/csv.h"
#include "log/log.h"

#include <stdio.h>

#define NLINE 600

typedef struct plant {
    double x[NLINE], y[NLINE];
    const char *field[NLINE]; // of the sensor; NULL: the number
    const char *reward[NLINE];
} plant;

static plant p;
static char text[64 * NLINE];

// A tank in noise, with one comment, a header and a blank line before the first row: line 4.
static void make(void)
{
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    memset(&p, 0, sizeof p);
    for (int i = 1; i < NLINE; i++) {
        p.x[i] = 0.9 * p.x[i - 1] + rh_rng_range(&rng, -1.0, 1.0);
        p.y[i] = 0.8 * p.y[i - 1] + rh_rng_range(&rng, -1.0, 1.0);
    }
}

static rh_log *read_rows(void)
{
    rh_log_options opt = rh_log_defaults();
    opt.gaps = RH_GAPS_CUT;
    rh_log *log = NULL;
    rh_error err;
    size_t used = (size_t)snprintf(text, sizeof text, "# from the tank\nx,y,action,reward\n\n");
    for (int i = 0; i < NLINE; i++) {
        char x[32], reward[32];
        snprintf(x, sizeof x, "%.6f", p.x[i]);
        snprintf(reward, sizeof reward, "%.6f", -fabs(p.x[i]));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s,%.4f,%d,%s\n",
                                 p.field[i] ? p.field[i] : x, p.y[i], i * 7 % 3 > 0,
                                 p.reward[i] ? p.reward[i] : reward);
    }
    if (rh_csv__read_bytes(&log, text, used, "tank.csv", &opt, &err))
        fail_msg("%s", err.text);
    return log;
}

// The finding `id` begins at a line, and says so.
static void at_line(const char *id, int64_t line)
{
    rh_log *log = read_rows();
    rh_log_report *report = NULL;
    char part[40];
    bool found = false;
    assert_int_equal(rh_log_inspect(&report, log, NULL), RH_OK);
    snprintf(part, sizeof part, "line %lld", (long long)line);
    for (int i = 0; i < report->findings.n; i++) {
        const rh_finding *f = &report->findings.item[i];
        if (strcmp(rh_finding_name(f->id), id) != 0)
            continue;
        found = true;
        if (!strstr(f->evidence, part))
            fail_msg("%s: '%s' is not in: %s", id, part, f->evidence);
        assert_int_equal(f->line, line);
    }
    if (!found)
        fail_msg("%s: not found", id);
    rh_log_report_destroy(report);
    rh_log_destroy(log);
}

static void lines_of_a_table(void **unused)
{
    (void)unused;
    make();
    p.field[100] = "1e9";
    at_line("outliers", 104);
    make();
    p.field[0] = "";
    at_line("missing", 4);
    make();
    p.field[250] = "";
    at_line("missing", 254);
    make();
    p.field[599] = "-1e9"; // the last row is an s' only
    at_line("outliers", 603);
    make();
    for (int i = 200; i < 300; i += 10)
        p.field[i] = "-9999";
    at_line("sentinel", 204);
    make();
    p.reward[30] = "inf";
    at_line("infinite-reward", 34);
    make();
    p.reward[40] = p.reward[50] = "";
    at_line("lost-steps", 44);
    make();
    for (int i = 301; i < 400; i++)
        p.x[i] = p.x[300];
    at_line("frozen-sensor", 304);
}

// A log that is copied keeps its lines; one without lines says steps only.
static void copies_and_builders(void **unused)
{
    (void)unused;
    make();
    rh_log *log = read_rows(), *copy = NULL;
    assert_int_equal(rh_log_copy(&copy, log, NULL), RH_OK);
    assert_string_equal(copy->reading.place, "line");
    for (int64_t i = 0; i < log->nstate; i++) {
        assert_int_equal(log->line[i], 4 + i);
        assert_int_equal(copy->line[i], 4 + i);
    }
    rh_log_destroy(copy);
    rh_log_destroy(log);

    log = log_of((living){.env = "cartpole", .seed = 1, .n = 50, .random = 1.0});
    assert_null(log->line);
    assert_null(log->reading.place);
    rh_log_destroy(log);
}

// The s' that a row gives is in its line; where the next row repeats it, it is in the next.
static void lines_of_next_observations(void **unused)
{
    (void)unused;
    static const char table[] = "x,action,reward,next_x\n"
                                "1,0,0,2\n"
                                "2,1,0,5\n"
                                "3,0,0,4\n";
    rh_log_options opt = rh_log_defaults();
    rh_log *log = NULL;
    rh_error err;
    if (rh_csv__read_bytes(&log, table, sizeof table - 1, "x.csv", &opt, &err))
        fail_msg("%s", err.text);
    static const double obs[] = {1, 2, 5, 3, 4};
    static const int64_t line[] = {2, 3, 3, 4, 4};
    assert_int_equal(log->nstate, 5);
    for (int i = 0; i < 5; i++) {
        assert_true(log->obs[i] == obs[i]);
        assert_int_equal(log->line[i], line[i]);
    }
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_table),
        cmocka_unit_test(copies_and_builders),
        cmocka_unit_test(lines_of_next_observations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
