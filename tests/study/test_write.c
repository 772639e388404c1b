// test_write.c - best.yaml and runs.csv, byte by byte.
//
//     study_test_write <best.yaml> <runs.csv>   write samples for other programs to read

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "base/in_memory.h"
#include "study/journal_sample.h"

static char folder[64], path[96];

static int enter(void **unused)
{
    (void)unused;
    if (!folder_in_memory(folder, "write"))
        return -1;
    snprintf(path, sizeof path, "%s/out", folder);
    return 0;
}

static int leave(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(folder);
}

// ---------------------------------------------------------------------------- a verdict

typedef struct entry {
    rh_plan plan;
    rh_journal__head head;
    planned found[3];
    rh_result result[3][6];
    double hp[3][RH_STUDY__NHP];
    rh_trial trial[3];
    int tied[2], bound[5];
    rh_kind_score kind[2];
    rh_verdict verdict;
} entry;

static const char *const kind_label[] = {"carrying", "network"};

// Two settings, the second of them confirmed.
static void set(entry *s)
{
    *s = (entry){.plan = sample_plan(), .tied = {2, 0}, .bound = {1, 0, 0, 0, -1}};
    s->head = sample_head(&s->plan);
    for (int i = 0; i < 3; i++) {
        s->found[i] = sample_trial(i < 2 ? i : 1, i == 2);
        s->trial[i] = sample_end(&s->plan, &s->found[i], -10.0 + i / 8.0, RH_SETTING_DONE,
                                 s->result[i], s->hp[i]);
    }
    s->kind[0] = (rh_kind_score){-9.75, -10.5, -8.25, 0.0};
    s->kind[1] = (rh_kind_score){-10.5, -11.25, -10.0, 0.5};
    for (int i = 0; i < 3; i++) {
        s->trial[i].nkind = i == 2 ? 2 : 1;
        s->trial[i].kind = s->kind;
    }
    s->found[0].x[0] = s->hp[0][s->plan.dim[0].param] = 1e-05;
    s->result[0][1].outcome = RH_STOPPED;
    s->result[0][2].score = NAN;
    s->result[0][3].score = -INFINITY;
    s->verdict = (rh_verdict){.trial = s->trial,
                              .ntrial = 3,
                              .nconfirm = 1,
                              .finished = true,
                              .kind = kind_label,
                              .nkind = 2,
                              .winner = 2,
                              .winner_search = 1,
                              .tied = s->tied,
                              .ntied = 2,
                              .bound = s->bound,
                              .per_steps = 5000,
                              .logged = {-12.5, -14.0, -11.0},
                              .random = {-100.0, NAN, NAN},
                              .rare = {2, -50.5, -9.5},
                              .today = {.better = RH_ANSWER_YES,
                                        .learning = {-9.75, -11.25, -8.25},
                                        .end = {-9.0, -10.5, -7.5},
                                        .defaults = {-11.0, NAN, NAN},
                                        .clone = {-12.5, -13.0, -12.0},
                                        .caught_up = 0.75,
                                        .catch_up = 1200}};
    static const rh_failure rule = {
        .known = true, .ends = true, .below = -6.0, .words = "an end below -6"};
    s->verdict.failing = (rh_failing){.rule = &rule,
                                      .first = {0.5, 0.25, 0.75, 5, 10},
                                      .all = {0.25, 0.125, 0.5, 25, 100},
                                      .last = {0.0, 0.0, 0.25, 0, 10},
                                      .defaults = {NAN, NAN, NAN, 0, 0},
                                      .logged = {0.125, 0.0625, 0.375, 1, 8},
                                      .often = RH_OFTEN_SAME};
}

static char *contents(void)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = calloc(1, 1 << 16);
    assert_non_null(bytes);
    assert_true(fread(bytes, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return bytes;
}

// ---------------------------------------------------------------------------- files

static void best_yaml(void **unused)
{
    (void)unused;
    static const char *const expected[] = {
        "# the setting to deploy, and how it was chosen\nagent:\n  name: esarsa\n  alpha: "
        "0.03433",
        "\n  lambda: 0.5\n",
        "\n  optimiser: sgd\n",
        "\nchosen:\n"
        "  score: -9.75\n"
        "  interval: [-11.25, -8.25] # 95 %\n"
        "  confirmed: true\n"
        "  finished: true\n"
        "  setting: 1\n"
        "  members: 2\n"
        "  runs: 3\n"
        "  diverged: 1\n"
        "  findings: {errors: 0, warnings: 0, accepted: []} # of the log and the study\n"
        "  score_per: 5000 # steps, in the model\n"
        "  logged: {score: -12.5, interval: [-14, -11]} # the logged controller, in the log\n"
        "  random: {score: -100, interval: [null, null]} # random actions in the model\n"
        "  rare_failures: {runs: 2, score: -50.5, median_of_all: -9.5}\n"
        "  out_of_coverage: 0.125\n"
        "  kinds: # of model\n"
        "    carrying: {score: -9.75, interval: [-10.5, -8.25]}\n"
        "    network: {score: -10.5, interval: [-11.25, -10]}\n"
        "  method: race\n"
        "  tried: 2\n"
        "  search:\n"
        "    score: -9.875\n"
        "    interval: [-11.375, -8.375]\n"
        "  tied: # statistically tied settings (95 %)\n"
        "    - {alpha: 1.0e-05, tilings: 1, lambda: 0, optimiser: adam, tau: 0.1, score: -10}\n"
        "  at_bound: # the best value may lie outside the searched range\n"
        "    alpha: upper\n"
        "    tau: lower\n"
        "today: # scores as in chosen\n"
        "  better: \"yes\" # than logged, over a whole run\n"
        "  learning: {score: -9.75, interval: [-11.25, -8.25]} # a whole run, from the first "
        "step\n"
        "  end: {score: -9, interval: [-10.5, -7.5]} # the last tenth of it\n"
        "  defaults: {score: -11, interval: [null, null]} # the agent's defaults, a whole run\n"
        "  clone: {score: -12.5, interval: [-13, -12]} # a clone of the controller, in the "
        "models\n"
        "  caught_up: 0.75\n"
        "  catch_up: 1200 # steps after which half of the runs had got as much as logged\n"
        "failures: # in the models\n"
        "  rule: {words: \"an end below -6\", known: true, ends: true, below: -6}\n"
        "  per: episode\n"
        "  first: {rate: 0.5, interval: [0.25, 0.75], failures: 5, of: 10}\n"
        "  all: {rate: 0.25, interval: [0.125, 0.5], failures: 25, of: 100}\n"
        "  last: {rate: 0, interval: [0, 0.25], failures: 0, of: 10}\n"
        "  defaults: {rate: null, interval: [null, null], failures: 0, of: 0}\n"
        "  logged: {rate: 0.125, interval: [0.0625, 0.375], failures: 1, of: 8}\n"
        "  often: about as often # compared with the logged controller\n"
        "log:\n"
        "  path: \"logs/plant \\\"1\\\".csv\"\n"
        "  fingerprint: \"0123456789abcdef\"\n"
        "plan:\n"
        "  agent.name: \"esarsa\"\n",
        "\n  name: \"it's \\\"\xc3\xa4\\\", \\ufffd and \\u0001 and 100 %\"\n"
        "rehearse: \"",
    };
    entry s;
    set(&s);
    rh_error err = {""};
    assert_int_equal(rh_study__write_best(path, &s.head, NULL, &s.verdict, &err), RH_OK);
    char *first = contents();
    for (size_t i = 0; i < LENGTH(expected); i++)
        if (!strstr(first, expected[i]))
            fail_msg("not there: %s\nin: %s", expected[i], first);
    for (int i = 0; i < s.plan.agent->nparam; i++) { // every one of them
        char line[80];
        snprintf(line, sizeof line, "\n  %s: ", s.plan.agent->param[i].name);
        assert_non_null(strstr(first, line));
    }

    // the same study gives the same bytes
    assert_int_equal(rh_study__write_best(path, &s.head, NULL, &s.verdict, &err), RH_OK);
    char *second = contents();
    assert_string_equal(first, second);
    free(second);
    free(first);
}

// A study of thousands of equal settings does not name them all.
static void many_are_tied(void **unused)
{
    (void)unused;
    entry s;
    int tied[150] = {2};
    set(&s);
    rh_error err = {""};
    s.verdict.tied = tied;
    for (int k = 0; k < 2; k++) {
        s.verdict.ntied = k ? 150 : 101;
        assert_int_equal(rh_study__write_best(path, &s.head, NULL, &s.verdict, &err), RH_OK);
        char *text = contents();
        int n = 0;
        for (const char *at = text; (at = strstr(at, "\n    - {alpha: ")); at++)
            n++;
        assert_int_equal(n, 100);
        assert_non_null(
            strstr(text, k ? "  tied: # the first 100 of 149 statistically tied settings"
                           : "  tied: # statistically tied settings"));
        free(text);
    }
}

static void runs_csv(void **unused)
{
    (void)unused;
    entry s;
    set(&s);
    rh_error err = {""};
    s.plan.space.dim[0].name = "a,\"b";
    assert_int_equal(rh_study__write_runs(path, &s.head, &s.verdict, &err), RH_OK);
    char *text = contents();
    static const char first[] =
        "trial,stage,setting,member,run,\"a,\"\"b\",tilings,lambda,optimiser,tau,"
        "score,total,steps,episodes,out_of_coverage,failures,caught_up,outcome,kind\n"
        "0,search,0,0,0,1e-05,1,0,adam,0.1,0.333333333333333";
    assert_memory_equal(text, first, sizeof first - 1);
    assert_non_null(strstr(text, "\n0,search,0,0,2,1e-05,1,0,adam,0.1,,-1e-310,2000000014,"));
    assert_null(strstr(text, "\n0,search,0,0,1,")); // not run
    assert_non_null(strstr(text, "\n2,confirm,1,1,2,0.034333333333333334,2,0.5,sgd,0.2,"));
    assert_non_null(strstr(text, ",-inf,"));
    assert_non_null(strstr(text, ",diverged,carrying\n"));
    int nother = 0; // the second member of the confirmation
    for (const char *at = text; (at = strstr(at, ",network\n")); at++)
        nother++;
    assert_int_equal(nother, 3);
    int nrow = 0;
    for (const char *c = text; *c; c++)
        nrow += *c == '\n';
    assert_int_equal(nrow, 1 + 5 + 6 + 6);
    free(text);
}

static void faults(void **unused)
{
    (void)unused;
    entry s;
    set(&s);
    rh_error err = {""};
    assert_int_equal(rh_study__write_best(folder, &s.head, NULL, &s.verdict, &err), RH_EIO);
    assert_non_null(strstr(err.text, "it is a directory, expected a file"));
    assert_int_equal(rh_study__write_runs("/nowhere/at/all", &s.head, &s.verdict, &err),
                     RH_EIO);
    for (int which = 0; which < 2; which++) {
        rh_status rc = RH_ENOMEM;
        for (int64_t nth = 1; rc; nth++) {
            int64_t live = rh_base__alloc_live();
            rh_base__alloc_fail_at(nth);
            rc = which ? rh_study__write_runs(path, &s.head, &s.verdict, &err)
                       : rh_study__write_best(path, &s.head, NULL, &s.verdict, &err);
            rh_base__alloc_fail_at(0);
            assert_true(rc == RH_OK || rc == RH_ENOMEM);
            assert_int_equal(rh_base__alloc_live(), live);
            assert_int_equal(access(path, F_OK), rc ? -1 : 0); // whole or absent
        }
        unlink(path);
    }
}

// Where a long table does not fit, it is said why, and the old one stays.
static void full_disk(void **unused)
{
    (void)unused;
    static entry s;
    static rh_trial many[100];
    struct rlimit before, limit;
    rh_error err = {""};
    set(&s);
    assert_int_equal(rh_study__write_runs(path, &s.head, &s.verdict, &err), RH_OK);
    char *first = contents();
    for (size_t i = 0; i < LENGTH(many); i++)
        many[i] = s.trial[1];
    s.verdict.trial = many;
    s.verdict.ntrial = LENGTH(many);
    signal(SIGXFSZ, SIG_IGN); // a file that would be too long is an error, not the end
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){8192, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    rh_status rc = rh_study__write_runs(path, &s.head, &s.verdict, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(rc, RH_EIO);
    assert_non_null(strstr(err.text, "/out: cannot write: File too large"));
    char *second = contents();
    assert_string_equal(first, second);
    free(second);
    free(first);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        static entry s;
        set(&s);
        return rh_study__write_best(argv[1], &s.head, NULL, &s.verdict, NULL) != RH_OK ||
               rh_study__write_runs(argv[2], &s.head, &s.verdict, NULL) != RH_OK;
    }
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(best_yaml), IN_A_FOLDER(many_are_tied), IN_A_FOLDER(runs_csv),
        IN_A_FOLDER(faults),    IN_A_FOLDER(full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
