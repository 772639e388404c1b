// test_cmd_sweep.c - rehearse sweep: the settings it runs, how it ranks them, how it stops.

#include "cli/program.h"

#include <math.h>
#include <signal.h>

#define SMALL "sweep puddle_world -a esarsa -n 1500 -r 4 -s alpha=0.001,0.05 -s tau=1,30 "
#define COLUMNS                                                                                \
    "alpha,beta1,tau,w_init,lambda,beta2,tilings,tiles,features,optimiser,"                    \
    "runs,mean,stderr,lo95,hi95\n"
#define MAX_ROWS 4096

// One row of a sweep's table.
typedef struct row {
    double alpha, tau, mean, error, lo, hi;
    int runs;
} row;

// Read a table written by SMALL or the like. Returns the number of rows.
static int read_rows(const char *csv, row *r)
{
    assert_true(strncmp(csv, COLUMNS, strlen(COLUMNS)) == 0);
    const char *line = csv + strlen(COLUMNS);
    int n = 0;
    for (; *line && n < MAX_ROWS; n++) {
        int used = 0;
        assert_int_equal(sscanf(line,
                                "%lf,0,%lf,0,0.8,0.999,16,8,pairs,adam,%d,%lf,%lf,%lf,%lf\n%n",
                                &r[n].alpha, &r[n].tau, &r[n].runs, &r[n].mean, &r[n].error,
                                &r[n].lo, &r[n].hi, &used),
                         7);
        line += used;
    }
    return n;
}

static void ranks_every_combination(void **unused)
{
    (void)unused;
    row r[MAX_ROWS];
    char *words = output_of(SMALL "--csv table.csv"), *csv = contents("table.csv");
    char *piped = output_of(SMALL "--csv -");
    assert_string_equal(csv, piped);
    assert_int_equal(read_rows(csv, r), 4);
    int seen = 0;
    for (int i = 0; i < 4; i++) {
        seen |= 1 << ((r[i].alpha == 0.05) + 2 * (r[i].tau == 30.0));
        assert_int_equal(r[i].runs, 4);
        assert_true(i == 0 || r[i].mean <= r[i - 1].mean);
        assert_true(r[i].lo <= r[i].mean);
        assert_true(r[i].mean <= r[i].hi);
    }
    assert_int_equal(seen, 15);

    assert_has(words, "sweep           4 settings: alpha (2) x tau (2)\n");
    assert_has(words, "rank    alpha  tau ");
    char best[96];
    snprintf(best, sizeof best, "best            --set alpha=%g --set tau=%g\n", r[0].alpha,
             r[0].tau);
    assert_has(words, best);
    char *few = output_of(SMALL "--top 1");
    assert_has(few, "  ... 3 more settings, --top 4 shows all\n");
    free(words);
    free(csv);
    free(piped);
    free(few);
}

// A setting scores the same alone and in a sweep.
static void agrees_with_run(void **unused)
{
    (void)unused;
    row r[MAX_ROWS];
    char *csv = output_of(SMALL "--csv -");
    int n = read_rows(csv, r);
    for (int i = 0; i < n; i++) {
        char line[160], mean[96];
        snprintf(line, sizeof line,
                 "run puddle_world -a esarsa -n 1500 -r 4 -s alpha=%g -s tau=%g --json",
                 r[i].alpha, r[i].tau);
        char *json = output_of(line);
        const char *at = strstr(json, "\"mean\": ");
        assert_non_null(at);
        snprintf(mean, sizeof mean, ",4,%.*s,", (int)strcspn(at + 8, ",\n"), at + 8);
        assert_has(csv, mean); // the same digits
        free(json);
    }
    free(csv);
}

static void jobs_change_nothing(void **unused)
{
    (void)unused;
    char *one = output_of(SMALL "-j 1 --json"), *three = output_of(SMALL "-j 3 --json");
    for (int i = 0; i < 2; i++) {
        char *speed = strstr(i ? one : three, "\"steps_per_second\"");
        assert_non_null(speed);
        *speed = 0;
    }
    assert_string_equal(one, three);
    assert_has(one, "\"axes\": {\n    \"alpha\": [0.001, 0.05],\n    \"tau\": [1, 30]\n  }");
    free(one);
    free(three);
    char *csv1 = output_of(SMALL "-j 1 --csv -"), *csv3 = output_of(SMALL "-j 3 --csv -");
    assert_string_equal(csv1, csv3);
    free(csv1);
    free(csv3);
}

static void takes_published_grids(void **unused)
{
    (void)unused;
    const char *grid = "sweep acrobot -a esarsa -g paper -n 10 -r 1 ";
    char line[160];
    char *all = output_of("sweep acrobot -a esarsa -g paper -n 10 -r 1");
    assert_has(all, "54 settings: alpha (3) x beta1 (2) x tau (3) x w_init (3)\n");
    free(all);

    // --set replaces values in place, fixes, or adds at the end
    snprintf(line, sizeof line, "%s -s tau=2,3 -s alpha=0.5 -s beta2=0.9,0.99", grid);
    char *changed = output_of(line);
    assert_has(changed, "24 settings: beta1 (2) x tau (2) x w_init (3) x beta2 (2)\n");
    assert_has(changed, "agent           esarsa alpha=0.5\n");
    free(changed);
}

// Equal means keep the order of the space: parameters as in the agent's table, the first one
// slowest, values ascending.
static void equal_means_keep_the_order(void **unused)
{
    (void)unused;
    row r[MAX_ROWS];
    char *csv =
        output_of("sweep acrobot -a esarsa -n 5 -r 2 -s alpha=0.2,0.1 -s tau=3,1,2 --csv -");
    static const double alpha[] = {0.1, 0.1, 0.1, 0.2, 0.2, 0.2}, tau[] = {1, 2, 3, 1, 2, 3};
    assert_int_equal(read_rows(csv, r), 6);
    for (int i = 0; i < 6; i++) {
        assert_true(r[i].alpha == alpha[i]);
        assert_true(r[i].tau == tau[i]);
        assert_true(r[i].mean == -5.0);
    }
    free(csv);
    char *words = output_of("sweep acrobot -a esarsa -n 5 -r 2 -s alpha=0.2,0.1 -s tau=3,1,2");
    assert_has(words, "~ 5 settings statistically tied with the best (95 %, paired by run)");
    free(words);
}

static void one_run_tells_nothing_apart(void **unused)
{
    (void)unused;
    char *words = output_of("sweep puddle_world -a esarsa -n 500 -r 1 -s tau=0.1,1,10");
    assert_has(words, "~ 2 settings statistically tied with the best (95 %, paired by run)");
    free(words);
}

// Stopped half-way, it says what it has.
static void stops_when_asked(void **unused)
{
    (void)unused;
    static row r[MAX_ROWS];
    const char *line =
        "sweep puddle_world -a esarsa -n 1000 -r 30 -s alpha=$(seq -s, 0.01 0.01 0.6) "
        "-s tau=$(seq -s, 60) -j 2 --csv part.csv";
    static const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        pid_t pid = begin(line);
        await_handler(pid);
        rest(0.8); // and a few settings are done
        kill(pid, signals[i]);
        outcome o = await(pid);
        assert_int_equal(o.code, 128 + signals[i]);
        assert_has(o.out, " of 3,600 settings have finished runs\n");
        assert_has(o.out, "\nbest ");
        assert_has(o.err, "rehearse: interrupted: ");
        assert_has(o.err, " of 108,000 runs finished\n");

        // every finished run is in the file, and only those
        char *csv = contents("part.csv");
        int n = read_rows(csv, r);
        long results = 0, said = 0;
        for (int k = 0; k < n; k++)
            results += r[k].runs;
        for (const char *c = strstr(o.err, "interrupted: ") + 13; *c != ' '; c++)
            said = *c == ',' ? said : 10 * said + (*c - '0');
        assert_true(n > 0);
        assert_true(results > 0);
        assert_int_equal(results, said);
        free(csv);
        drop(&o);
    }
}

static void quiet_is_quiet(void **unused)
{
    (void)unused;
    outcome o = rehearse(SMALL "-q");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, "");
    drop(&o);
    o = rehearse(SMALL "--quiet --csv t.csv | head -1");
    assert_string_equal(o.err, "");
    drop(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_every_combination),
        cmocka_unit_test(agrees_with_run),
        cmocka_unit_test(jobs_change_nothing),
        cmocka_unit_test(takes_published_grids),
        cmocka_unit_test(equal_means_keep_the_order),
        cmocka_unit_test(one_run_tells_nothing_apart),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(quiet_is_quiet),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
