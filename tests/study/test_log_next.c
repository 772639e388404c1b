// test_log_next.c - what to log next: an action that the log hardly shows is found, in its
// region; the trials in log_next.csv; the same for any number of threads, and after a resume.
//
// The plant is a line from 0 to 1. Actions a and b move, c stays. The log has c only below
// 0.25. Its agent tries everything everywhere.

#include "model/model_sample.h"
#include "study/core.h"
#include "study/evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NSTEP = 900 };

static char folder[64];

static int enter(void **unused)
{
    (void)unused;
    strcpy(folder, "/tmp/rehearse-next-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int leave(void **unused)
{
    (void)unused;
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static char *path_of(const char *study, const char *file)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s%s%s", folder, study, *file ? "/" : "", file);
    return path[turn];
}

static char *contents(const char *study, const char *file)
{
    FILE *stream = fopen(path_of(study, file), "r");
    assert_non_null(stream);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, stream) > 0);
    fclose(stream);
    return text;
}

// A walk of steps between 0.02 and 0.06. kind 3: c below 0.25 only, or never; 0: the action is
// how far to go, of which the log has little above 0.03.
static rh_log *plant_of(int kind, bool takes_c)
{
    static walk w[NSTEP];
    rh_rng rng = rh_rng_stream(11, RH_STREAM_START, 0, 0);
    double x = 0.5;
    for (int i = 0; i < NSTEP; i++) {
        double length = 0.02 + 0.04 * rh_rng_uniform(&rng);
        int side = (int)rh_rng_below(&rng, 2);
        double act = x < 0.25 && rh_rng_below(&rng, 2) && takes_c ? 2 : side;
        double next = act == 2 ? x : x + (side ? length : -length);
        if (kind == 0) {
            act = (side ? 1.0 : -1.0) * length;
            act *= x > 0.6 ? 0.5 : 1.0;
            next = x + act;
        }
        next = next < 0.0 ? 0.0 : next > 1.0 ? 1.0 : next;
        w[i] = (walk){x, act, -fabs(x - 0.5), next, i % 60 == 59 ? CUT : 0, i % 60 == 0};
        x = i % 60 == 59 ? rh_rng_uniform(&rng) : next;
    }
    return log_of(w, NSTEP, kind);
}

// The controller takes c in narrow bands above 0.5, and only there; below, all at random. There
// are gaps between the bands.
static rh_log *banded(void)
{
    static walk w[NSTEP];
    rh_rng rng = rh_rng_stream(11, RH_STREAM_START, 0, 0);
    double x = 0.5;
    for (int i = 0; i < NSTEP; i++) {
        int band = (int)(x * 20.0), side = (int)rh_rng_below(&rng, 2);
        int act = x < 0.5 ? (int)rh_rng_below(&rng, 3) : band % 3 == 1 ? 2 : side;
        double next = x +
                      (act == 2 ? 0.0
                       : act    ? 0.05
                                : -0.05) +
                      0.4 * rh_rng_uniform(&rng) - 0.2;
        next = next < 0.0 ? 0.0 : next > 0.99 ? 0.99 : next;
        next = ((int)(next * 20.0) + 0.3 + 0.4 * rh_rng_uniform(&rng)) / 20.0;
        w[i] = (walk){x, act, -fabs(x - 0.5), next, i % 60 == 59 ? CUT : 0, i % 60 == 0};
        x = next;
    }
    return log_of(w, NSTEP, 3);
}

static rh_log *plant(int kind)
{
    return plant_of(kind, true);
}

static rh_plan *plan_of(const rh_log *log, bool discrete)
{
    static const char *const word[][2] = {{"evaluation.steps", "600"},
                                          {"evaluation.runs", "2"},
                                          {"model", "knn"},
                                          {"representation", "raw"},
                                          {"confirm.settings", "2"},
                                          {"confirm.members", "2"},
                                          {"confirm.runs", "2"},
                                          {"confirm.kinds", "chosen"},
                                          {"method", "grid"},
                                          {"check", "1"}};
    rh_plan *plan = NULL;
    rh_error err = {""};
    assert_int_equal(rh_plan_create(&plan, &err), RH_OK);
    rh_status rc =
        rh_plan_set(plan, "agent", discrete ? "esarsa" : "gaussian_actor_critic", NULL, &err);
    for (size_t i = 0; i < sizeof word / sizeof *word && !rc; i++)
        rc = rh_plan_set(plan, word[i][0], word[i][1], NULL, &err);
    if (!rc && discrete)
        rc = rh_plan_try(plan, "tau", "50,100", NULL, &err);
    if (!rc)
        rc = rh_plan_try(plan, discrete ? "alpha" : "alpha_critic", "0.01,0.1", NULL, &err);
    if (!rc)
        rc = rh_plan_check(plan, &err);
    if (!rc)
        rc = rh_plan_settle(plan, log, &err);
    if (rc)
        fail_msg("%s", err.text);
    return plan;
}

static rh_study *finish(const rh_plan *plan, const rh_log *log, const char *name, int nthread)
{
    rh_error err = {""};
    rh_study *study = NULL;
    rh_study_options opt = rh_study_defaults();
    opt.folder = name ? path_of(name, "") : NULL;
    opt.nthread = nthread;
    if (rh_study_create(&study, plan, log, NULL, NULL, &opt, &err) || rh_study_run(study, &err))
        fail_msg("%s", err.text);
    return study;
}

// The shares in the sentence of a row, of which two digits are printed.
static void check_why(const rh_next *row, int64_t n)
{
    double agent, logged, alone;
    long long nlogged;
    assert_int_equal(sscanf(row->why,
                            "the agent does this in %lf %% of its steps, the log in %lf %% "
                            "(%lld step%*[s]); in %lf %% of the agent's cases the log has no "
                            "such step near",
                            &agent, &logged, &nlogged, &alone),
                     4);
    double share = 100.0 * (double)row->nlogged / (double)n;
    assert_true(fabs(agent - 100.0 * row->agent) <= 5.0 * row->agent);
    assert_true(fabs(logged - share) <= 0.05 * share);
    assert_int_equal(nlogged, row->nlogged);
    assert_true(fabs(alone - 100.0 * row->alone) <= 0.5);
}

// True of all rows.
static void check_rows(const rh_verdict *v, const rh_log *log)
{
    int steps = 0;
    assert_true(v->nnext >= 1);
    assert_true(v->nnext <= RH_NEXT_MOST);
    for (int i = 0; i < v->nnext; i++) {
        const rh_next *row = &v->next[i];
        int64_t nlogged = 0;
        assert_true(row->steps >= 0);
        assert_int_equal(row->steps % 10, 0);
        assert_true(i == 0 || row->steps <= v->next[i - 1].steps);
        assert_true(row->agent >= 0.01);
        assert_true(row->agent <= 1.0);
        assert_true(row->alone >= 0.0);
        assert_true(row->alone <= 1.0);
        for (int64_t t = 0; t < log->n; t++) {
            bool inside = row->action < 0
                              ? log->act[t] >= row->act_lo[0] && log->act[t] <= row->act_hi[0]
                              : log->act[t] == row->action;
            for (int k = 0; k < row->nside; k++) {
                double x = log->obs[(int64_t)log->from[t] * log->nobs + row->side[k].sensor];
                inside = inside && x >= row->side[k].lo && x < row->side[k].hi;
            }
            nlogged += inside;
        }
        assert_int_equal(row->nlogged, nlogged);
        assert_true(row->what[0]);
        check_why(row, log->n);
        steps += row->steps;
    }
    assert_int_equal(steps, 1000);
}

static void the_rare_action(void **unused)
{
    (void)unused;
    rh_log *log = plant(3);
    rh_plan *plan = plan_of(log, true);
    rh_study *study = finish(plan, log, "rare", 1);
    const rh_verdict *v = rh_study_verdict(study);
    check_rows(v, rh_model_log(rh_study__model(study)));
    int c = 0;
    for (int i = 0; i < v->nnext; i++) {
        const rh_next *row = &v->next[i];
        c += row->action == 2 ? row->steps : 0;
        if (row->action == 2) {
            assert_string_equal(row->what, "c");
            assert_true(row->nside >= 1);
            assert_int_equal(row->side[0].sensor, 0);
            assert_true(row->side[0].lo > 0.2);
        }
    }
    assert_true(c >= 900); // a and b are logged everywhere
    assert_true(v->next[0].alone > 0.9);
    assert_int_equal(v->next[0].nlogged, 0);

    // a trial is a logged state in the region, or near it, the action, and 5 steps
    char *text = contents("rare", "log_next.csv"), *line = strtok(text, "\n");
    int ntrial = 0;
    assert_string_equal(line, "trial,region,x,y,action,hold,why");
    while ((line = strtok(NULL, "\n"))) {
        int trial, region, hold;
        double x, y;
        char label;
        assert_int_equal(
            sscanf(line, "%d,%d,%lf,%lf,%c,%d", &trial, &region, &x, &y, &label, &hold), 6);
        assert_int_equal(trial, ++ntrial);
        assert_true(region >= 1);
        assert_true(region <= v->nnext);
        assert_int_equal(hold, 5);
        const rh_next *row = &v->next[region - 1];
        assert_true(label == row->what[0]);
        // the log has many there
        assert_true(x >= row->side[0].lo);
        assert_true(x < row->side[0].hi);
        assert_non_null(strstr(line, row->why));
    }
    assert_int_equal(ntrial, 200);
    free(text);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// An action that was never taken comes first, everywhere, with a third of the steps.
static void the_action_never_taken(void **unused)
{
    (void)unused;
    rh_log *log = plant_of(3, false);
    rh_plan *plan = plan_of(log, true);
    rh_study *study = finish(plan, log, "never", 1);
    const rh_verdict *v = rh_study_verdict(study);
    int steps = 0, c = 0;
    assert_true(v->nnext >= 1);
    assert_int_equal(v->next[0].action, 2);
    assert_int_equal(v->next[0].nside, 0);
    assert_int_equal(v->next[0].nlogged, 0);
    assert_true(v->next[0].alone == 1.0);
    assert_non_null(strstr(v->next[0].why, "never takes this action"));
    for (int i = 0; i < v->nnext; i++) {
        steps += v->next[i].steps;
        c += v->next[i].action == 2;
    }
    assert_int_equal(steps, 1000);
    assert_int_equal(c, 1);
    assert_true(v->nnext == 1 ? v->next[0].steps == 1000
                              : v->next[0].steps >= 330 && v->next[0].steps <= 340);
    char *text = contents("never", "log_next.csv");
    assert_non_null(strstr(text, ",c,5,"));
    free(text);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// Beside other regions it gets the share of one action: a quarter, of four.
static void never_taken_and_rare(void **unused)
{
    (void)unused;
    rh_log *log = plant_of(4, true);
    rh_plan *plan = plan_of(log, true);
    rh_study *study = finish(plan, log, "quarter", 1);
    const rh_verdict *v = rh_study_verdict(study);
    int d = 0, others = 0;
    for (int i = 0; i < v->nnext; i++) {
        d += v->next[i].action == 3 ? v->next[i].steps : 0;
        others += v->next[i].action != 3 ? v->next[i].steps : 0;
    }
    assert_int_equal(v->next[0].action, 3);
    assert_in_range(d, 240, 260);
    assert_int_equal(others, 1000 - d);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

static void continuous_actions(void **unused)
{
    (void)unused;
    rh_log *log = plant(0);
    rh_plan *plan = plan_of(log, false);
    rh_study *study = finish(plan, log, "range", 2);
    const rh_verdict *v = rh_study_verdict(study);
    check_rows(v, rh_model_log(rh_study__model(study)));
    for (int i = 0; i < v->nnext; i++) {
        assert_int_equal(v->next[i].action, -1);
        assert_true(v->next[i].act_lo[0] <= v->next[i].act_hi[0]);
        assert_non_null(strstr(v->next[i].what, "action "));
        assert_non_null(strstr(v->next[i].what, " to "));
    }
    char *text = contents("range", "log_next.csv");
    assert_non_null(strstr(text, "trial,region,x,y,action,hold,why\n"));
    free(text);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// An action that the log has, but only where the controller always takes it.
static void an_effect_that_is_not_shown(void **unused)
{
    (void)unused;
    rh_log *log = banded();
    rh_plan *plan = plan_of(log, true);
    rh_study *study = finish(plan, log, "banded", 1);
    const rh_verdict *v = rh_study_verdict(study);
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(study));
    int nasked = 0;
    assert_true(f->experiments.nnot_shown > 0);
    for (int i = 0; i < v->nnext; i++) {
        const rh_not_shown *e = rh_study__not_shown(rh_study__model(study), &v->next[i]);
        if (!e)
            continue;
        nasked++;
        assert_true(v->next[i].nside == 0 || v->next[i].side[0].lo > 0.4);
        assert_non_null(strstr(v->next[i].why, "show what it does"));
    }
    assert_true(nasked > 0);
    double unlogged = v->trust.evidence[RH_EVIDENCE_UNLOGGED].value;
    assert_true(unlogged > 0.0);
    assert_true(unlogged <= 1.0);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// Threads change nothing; a finished study finds its rows in the journal, and runs nothing.
static void threads_and_resume(void **unused)
{
    (void)unused;
    for (int kind = 0; kind <= 3; kind += 3) {
        rh_log *log = plant(kind);
        rh_plan *plan = plan_of(log, kind > 0);
        rh_study *one = finish(plan, log, "one", 1), *three = finish(plan, log, "three", 3);
        const rh_verdict *v = rh_study_verdict(one), *w = rh_study_verdict(three);
        assert_int_equal(v->nnext, w->nnext);
        assert_memory_equal(v->next, w->next, (size_t)v->nnext * sizeof *v->next);
        rh_study_destroy(three);

        char *before = contents("three", "study.log"), *csv = contents("three", "log_next.csv");
        unlink(path_of("three", "log_next.csv"));
        three = finish(plan, log, "three", 2);
        w = rh_study_verdict(three);
        assert_int_equal(v->nnext, w->nnext);
        for (int i = 0; i < v->nnext; i++) {
            const rh_next *a = &v->next[i], *b = &w->next[i];
            assert_int_equal(a->steps, b->steps);
            assert_true(a->agent == b->agent);
            assert_true(a->alone == b->alone);
            assert_int_equal(a->action, b->action);
            assert_int_equal(a->nside, b->nside);
            assert_true(a->act_lo[0] == b->act_lo[0]);
            assert_true(a->act_hi[0] == b->act_hi[0]);
            assert_string_equal(a->what, b->what);
            assert_string_equal(a->why, b->why);
        }
        char *after = contents("three", "study.log"),
             *again = contents("three", "log_next.csv");
        assert_string_equal(before, after);
        assert_string_equal(csv, again);
        free(before);
        free(after);
        free(csv);
        free(again);
        rh_study_destroy(one);
        rh_study_destroy(three);
        rh_plan_destroy(plan);
        rh_log_destroy(log);
        assert_int_equal(leave(NULL), 0);
        assert_int_equal(enter(NULL), 0);
    }
}

// Rows of the journal that do not fit the log are found anew.
static void other_rows(void **unused)
{
    (void)unused;
    rh_log *log = plant(3);
    rh_plan *plan = plan_of(log, true);
    rh_study *study = finish(plan, log, "other", 1);
    const rh_model *model = rh_study__model(study);
    rh_next row[RH_NEXT_MOST];
    int n = -1, setting[] = {0, 1}, nsetting = 2;
    rh_error err = {""};
    rh_next good = {.action = 1, .steps = 10, .agent = 0.5, .nlogged = 3, .alone = 0.25};
    good.nside = 1;
    good.side[0].lo = -INFINITY;
    good.side[0].hi = 0.125;
    rh_journal *j = study->journal;
    assert_int_equal(
        rh_journal__add_next(j, setting, nsetting, rh_model_log(model), &good, 1, &err), RH_OK);
    rh_study_destroy(study);
    study = NULL;
    rh_study_options opt = rh_study_defaults();
    opt.folder = path_of("other", "");
    assert_int_equal(rh_study_create(&study, plan, log, NULL, NULL, &opt, &err), RH_OK);
    j = study->journal;
    const rh_log *own = rh_model_log(rh_study__model(study));
    assert_true(rh_journal__next(j, setting, nsetting, own, row, &n));
    assert_int_equal(n, 1);
    assert_int_equal(row[0].action, 1);
    assert_int_equal(row[0].steps, 10);
    assert_int_equal(row[0].nlogged, 3);
    assert_true(row[0].side[0].lo == -INFINITY);
    assert_true(row[0].side[0].hi == 0.125);
    assert_false(rh_journal__next(j, setting, 1, own, row, &n)); // of other settings
    rh_log fewer = *own;
    fewer.naction = 1; // the row's action does not exist
    assert_false(rh_journal__next(j, setting, nsetting, &fewer, row, &n));
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_rare_action, enter, leave),
        cmocka_unit_test_setup_teardown(the_action_never_taken, enter, leave),
        cmocka_unit_test_setup_teardown(never_taken_and_rare, enter, leave),
        cmocka_unit_test_setup_teardown(continuous_actions, enter, leave),
        cmocka_unit_test_setup_teardown(an_effect_that_is_not_shown, enter, leave),
        cmocka_unit_test_setup_teardown(threads_and_resume, enter, leave),
        cmocka_unit_test_setup_teardown(other_rows, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
