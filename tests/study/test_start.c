// test_start.c - a study whose agents begin with the log: the file beside best.yaml has all of
// it, a resumed study ends with the same bytes, and another study's file is refused.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/in_memory.h"
#include "base/state.h"
#include "model/model.h"
#include "rehearse/rehearse.h"
#include "study/study.h"
#include "study/study_internal.h"

enum { STEPS = 25, EPISODES = 12, WIDTH = 2 * 2 + 1 + 2 };

static char folder[64], other[64];

static int enter(void **unused)
{
    (void)unused;
    return folder_in_memory(folder, "start") && folder_in_memory(other, "start") ? 0 : -1;
}

static int leave(void **unused)
{
    char command[160];
    (void)unused;
    snprintf(command, sizeof command, "rm -rf %s %s", folder, other);
    return system(command);
}

// A tank that a controller keeps near 0.5: n steps in episodes of `length`; at random: the
// share of steps in which it does anything; seed: of its noise.
static rh_log *log_of(rh_action_kind action, int n, int length, double at_random, uint64_t seed)
{
    rh_log_builder *builder = NULL;
    rh_log *log = NULL;
    rh_log_shape shape = {.nobs = 2, .nact = 1, .action = action};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    assert_int_equal(rh_log_builder_create(&builder, &shape, NULL), RH_OK);
    for (int i = 0; i < n; i++) {
        static double level, flow;
        if (i % length == 0)
            level = rh_rng_range(&rng, 0.3, 0.7);
        flow = rh_rng_range(&rng, 0.0, 0.1);
        double act = rh_rng_uniform(&rng) < at_random ? rh_rng_below(&rng, 2) : level < 0.5;
        if (action == RH_ACTION_CONTINUOUS)
            act = 0.2 + 0.5 * act + 0.1 * rh_rng_uniform(&rng);
        double obs[2] = {level, flow};
        level += 0.1 * act - flow;
        rh_log_row row = {.obs = obs,
                          .act = &act,
                          .reward = -fabs(level - 0.5),
                          .next = (double[]){level, flow},
                          .begins = i % length == 0,
                          .truncated = i % length == length - 1};
        assert_int_equal(rh_log_push(builder, &row, NULL), RH_OK);
    }
    assert_int_equal(rh_log_finish(builder, &log, NULL), RH_OK);
    rh_log_builder_destroy(builder);
    return log;
}

static rh_log *make_log(uint64_t seed)
{
    return log_of(RH_ACTION_DISCRETE, STEPS * EPISODES, STEPS, 0.1, seed);
}

static bool stop_soon(void *context)
{
    int *left = context;
    return left && (*left)-- <= 0;
}

// Run a study of the log in a folder; left: looks before it stops, NULL: it does not.
static rh_status tune_on(int nthread, const rh_log *log, const char *where, const char *start,
                         int *left)
{
    static const char *const said[][2] = {
        {"method", "random"},        {"budget.trials", "3"},   {"evaluation.runs", "2"},
        {"evaluation.steps", "120"}, {"model.kind", "knn"},    {"representation.kind", "raw"},
        {"confirm.settings", "2"},   {"confirm.members", "2"}, {"confirm.runs", "1"},
        {"confirm.kinds", "chosen"}, {"check", "0"},           {"agent.width", "8"},
        {"agent.batch", "8"},        {"agent.before", "60"},   {"practice", "2000"}};
    rh_plan *plan = NULL;
    rh_study *study = NULL;
    rh_error err = {""};
    rh_study_options opt = rh_study_defaults();
    opt.folder = where;
    opt.nthread = nthread;
    opt.stop = left ? stop_soon : NULL;
    opt.context = left;
    assert_int_equal(rh_plan_create(&plan, NULL), RH_OK);
    assert_int_equal(rh_plan_set(plan, "agent.name", log->naction ? "dqn" : "td3", NULL, NULL),
                     RH_OK);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (rh_plan_set(plan, said[i][0], said[i][1], NULL, &err))
            fail_msg("%s", err.text);
    assert_int_equal(rh_plan_set(plan, "agent.start", start, NULL, NULL), RH_OK);
    assert_int_equal(rh_plan_settle(plan, log, NULL), RH_OK);
    rh_status rc = rh_study_create(&study, plan, log, NULL, NULL, &opt, &err);
    if (!rc)
        rc = rh_study_run(study, &err);
    if (rc && rc != RH_ESTOPPED)
        fail_msg("%s", err.text);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    return rc;
}

static rh_status tune(const rh_log *log, const char *where, const char *start, int *left)
{
    return tune_on(left ? 1 : 2, log, where, start, left);
}

static char *whole_file(const char *where, const char *name, size_t *n)
{
    char path[100], *text = malloc(1 << 22);
    snprintf(path, sizeof path, "%s/%s", where, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *n = fread(text, 1, 1 << 22, file);
    fclose(file);
    return text;
}

static void same_files(const char *name)
{
    size_t n, m;
    char *one = whole_file(folder, name, &n), *two = whole_file(other, name, &m);
    assert_int_equal(n, m);
    assert_memory_equal(one, two, n);
    free(one);
    free(two);
}

static void the_file_has_all_of_the_log(void **unused)
{
    char best[100], start[100];
    rh_best *b = NULL;
    rh_log *log = make_log(1);
    snprintf(best, sizeof best, "%s/best.yaml", folder);
    snprintf(start, sizeof start, "%s/" RH_STUDY__START, folder);
    assert_int_equal(tune(log, folder, "log", NULL), RH_OK);
    assert_int_equal(rh_best_read(&b, best, NULL), RH_OK);
    assert_int_equal(b->task.prior.n, log->n);
    for (int64_t i = 0; i < log->n; i++) {
        const double *row = b->task.prior.row + i * WIDTH;
        assert_memory_equal(row, log->obs + 2 * (int64_t)log->from[i], 2 * sizeof *row);
        assert_true(row[3] == log->reward[i]);
    }
    rh_best_destroy(b);
    b = NULL;

    // the plan of --setting has it, too
    rh_plan *plan = NULL;
    assert_int_equal(rh_plan_create(&plan, NULL), RH_OK);
    rh_plan_use(plan, RH_PLAN_RUN);
    assert_int_equal(rh_plan_set(plan, "env.name", "puddle_world", NULL, NULL), RH_OK);
    assert_int_equal(rh_plan_setting(plan, best, false, NULL), RH_OK);
    assert_int_equal(rh_plan_check(plan, NULL), RH_OK);
    assert_int_equal(rh_plan__prior(plan).n, log->n);
    rh_plan_destroy(plan);

    // stopped after some runs and resumed: the same bytes
    int left = 12;
    assert_int_equal(tune(log, other, "log", &left), RH_ESTOPPED);
    assert_int_equal(tune(log, other, "log", NULL), RH_OK);
    same_files("runs.csv");
    same_files(RH_STUDY__START);

    // without the file, and with that of another log
    assert_int_equal(unlink(start), 0);
    assert_int_not_equal(rh_best_read(&b, best, NULL), RH_OK);
    rh_error err;
    rh_log *foreign = make_log(2);
    rh_prior rows = {0};
    rh_task task = {.nobs = 2, .naction = 2, .nact = 1};
    assert_int_equal(rh_prior__rows(&rows, foreign, NULL), RH_OK);
    assert_int_equal(rh_study__write_start(start, &task, rows, 0.0, NULL), RH_OK);
    assert_int_equal(rh_best_read(&b, best, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "it is of another study"));
    rh_free((void *)(uintptr_t)rows.row);
    rh_log_destroy(foreign);
    rh_log_destroy(log);
    (void)unused;
}

// With start=model: rows of practice behind those of the log, made anew for the plant. They are
// another policy's, and better ones.
static void practice_is_in_the_file(void **unused)
{
    char best[100];
    rh_best *b = NULL;
    rh_log *log = make_log(1);
    snprintf(best, sizeof best, "%s/best.yaml", folder);
    assert_int_equal(tune(log, folder, "model", NULL), RH_OK);
    assert_int_equal(rh_best_read(&b, best, NULL), RH_OK);
    const rh_prior *prior = &b->task.prior;
    assert_int_equal(prior->n, log->n);
    assert_int_equal(prior->npractice, 1000); // of a short log
    assert_true(rh_prior__fits(&b->task, *prior));
    double logged = 0.0, practised = 0.0;
    for (int64_t i = 0; i < prior->n; i++)
        logged += prior->row[i * WIDTH + 3] / (double)prior->n;
    for (int64_t i = prior->n; i < prior->n + prior->npractice; i++)
        practised += prior->row[i * WIDTH + 3] / (double)prior->npractice;
    assert_true(practised > logged);
    rh_best_destroy(b);

    // stopped while it practises, and later
    for (int looks = 1; looks < 40; looks += 13) {
        int left = looks;
        assert_int_equal(tune(log, other, "model", &left), RH_ESTOPPED);
    }
    assert_int_equal(tune(log, other, "model", NULL), RH_OK);
    same_files("runs.csv");
    same_files("best.yaml");
    same_files(RH_STUDY__START);
    rh_log_destroy(log);
    (void)unused;
}

// Agents with networks, practice and a start: as many workers as one likes.
static void the_same_bytes_by_any_number_of_workers(void **unused)
{
    static const rh_action_kind action[] = {RH_ACTION_DISCRETE, RH_ACTION_CONTINUOUS};
    for (int i = 0; i < 2; i++) { // dqn, td3
        rh_log *log = log_of(action[i], STEPS * EPISODES, STEPS, 0.1, 3);
        assert_int_equal(log->naction, i ? 0 : 2);
        assert_int_equal(tune_on(1, log, folder, "model", NULL), RH_OK);
        assert_int_equal(tune_on(4, log, other, "model", NULL), RH_OK);
        same_files("runs.csv");
        same_files("best.yaml");
        same_files("study.model");
        same_files(RH_STUDY__START);
        rh_log_destroy(log);
        assert_int_equal(leave(NULL), 0);
        assert_int_equal(enter(NULL), 0);
    }
    (void)unused;
}

// Write start.state again with another last number and key.
static void change_start(const char *path, double last, double key)
{
    rh_state *state = NULL, *changed = NULL;
    size_t n = 0;
    assert_int_equal(rh_state_read(&state, path, NULL), RH_OK);
    const double *x = rh_state__doubles(state, "prior", &n);
    double *row = malloc(n * sizeof *row);
    memcpy(row, x, n * sizeof *row);
    row[n - 1] = last;
    assert_int_equal(rh_state__create(&changed, NULL), RH_OK);
    assert_int_equal(rh_state__set_label(changed, rh_state__label(state), NULL), RH_OK);
    assert_int_equal(rh_state_put(changed, "prior", row, n, NULL), RH_OK);
    key = key < 0.0 ? *rh_state__doubles(state, "made", &n) : key;
    assert_int_equal(rh_state_put(changed, "made", &key, 1, NULL), RH_OK);
    assert_int_equal(rh_state_write(changed, path, NULL), RH_OK);
    free(row);
    rh_state_destroy(state);
    rh_state_destroy(changed);
}

static double last_of(const char *path)
{
    rh_state *state = NULL;
    size_t n = 0;
    assert_int_equal(rh_state_read(&state, path, NULL), RH_OK);
    double last = rh_state__doubles(state, "prior", &n)[n - 1];
    rh_state_destroy(state);
    return last;
}

// A finished study that is run again takes the practice for the plant from its file, if that is
// its own: a change of a row stays. The file of another study is not taken.
static void practice_is_kept(void **unused)
{
    char start[100];
    rh_log *log = make_log(1);
    snprintf(start, sizeof start, "%s/" RH_STUDY__START, folder);
    assert_int_equal(tune(log, folder, "model", NULL), RH_OK);
    double last = last_of(start);
    assert_true(last != 1.0);
    change_start(start, 1.0, -1.0);
    assert_int_equal(tune(log, folder, "model", NULL), RH_OK);
    assert_true(last_of(start) == 1.0);
    change_start(start, 1.0, 7.0);
    assert_int_equal(tune(log, folder, "model", NULL), RH_OK);
    assert_true(last_of(start) == last);
    rh_log_destroy(log);
    (void)unused;
}

// Members of a practice model differ in a log of one episode, too.
static void practice_in_one_long_episode(void **unused)
{
    char best[100];
    rh_best *b = NULL;
    rh_log *log = log_of(RH_ACTION_DISCRETE, STEPS * EPISODES, STEPS * EPISODES, 0.1, 1);
    assert_int_equal(log->nepisode, 1);
    snprintf(best, sizeof best, "%s/best.yaml", folder);
    assert_int_equal(tune(log, folder, "model", NULL), RH_OK);
    assert_int_equal(rh_best_read(&b, best, NULL), RH_OK);
    assert_int_equal(b->task.prior.npractice, 1000);
    rh_best_destroy(b);
    rh_log_destroy(log);
    (void)unused;
}

// Beside a clone of the controller trust is about the agent, and decides which is deployed;
// what the agent would begin with is in the file in either case.
static void the_candidate_or_the_clone(void **unused)
{
    static const char *const said[][2] = {{"agent.name", "[dqn, clone]"},
                                          {"agent.dqn.start", "model"},
                                          {"agent.dqn.width", "8"},
                                          {"agent.dqn.batch", "8"},
                                          {"agent.dqn.before", "60"},
                                          {"agent.clone.width", "8"},
                                          {"method", "random"},
                                          {"budget.trials", "3"},
                                          {"evaluation.runs", "1"},
                                          {"evaluation.steps", "120"},
                                          {"model.kind", "knn"},
                                          {"representation.kind", "raw"},
                                          {"confirm.settings", "3"},
                                          {"confirm.members", "2"},
                                          {"confirm.runs", "1"},
                                          {"confirm.kinds", "chosen"},
                                          {"check", "1"},
                                          {"practice", "1000"}};
    bool kept = false, replaced = false, doubted = false;
    for (uint64_t seed = 1; seed <= 20 && !(kept && replaced && doubted); seed++) {
        // every other log is long enough for a level above low, of a poor controller
        rh_log *log =
            seed % 2 ? log_of(RH_ACTION_DISCRETE, 1600, STEPS, 0.8, seed) : make_log(seed);
        rh_plan *plan = NULL;
        rh_study *study = NULL;
        rh_error err = {""};
        rh_study_options opt = rh_study_defaults();
        char where[100], best[120];
        rh_best *b = NULL;
        snprintf(where, sizeof where, "%s/%d", folder, (int)seed);
        opt.folder = where;
        opt.nthread = 2;
        assert_int_equal(rh_plan_create(&plan, NULL), RH_OK);
        for (size_t i = 0; i < sizeof said / sizeof *said; i++)
            if (rh_plan_set(plan, said[i][0], said[i][1], NULL, &err))
                fail_msg("%s", err.text);
        if (rh_plan_settle(plan, log, &err) ||
            rh_study_create(&study, plan, log, NULL, NULL, &opt, &err) ||
            rh_study_run(study, &err))
            fail_msg("%s", err.text);
        const rh_verdict *v = rh_study_verdict(study);
        assert_true(v->candidate >= 0 && v->trial[v->candidate].confirm);
        assert_int_equal(v->trial[v->candidate].agent, 0);
        double p = v->trust.claim[RH_CLAIM_BETTER].probability;
        assert_true(p >= 0.0 && p <= 1.0);
        bool trusted = v->trust.level == RH_TRUST_MEDIUM || v->trust.level == RH_TRUST_HIGH;
        assert_int_equal(v->trial[v->winner].agent, trusted ? 0 : 1);
        assert_int_equal(v->trust.decision == RH_DECISION_KEEP, !trusted);
        assert_int_equal(strstr(v->today.text, "Keep the controller") != NULL, !trusted);
        assert_true(v->imitation.n > 0 && v->imitation.constant >= 0.5);
        for (int i = 0; i < v->findings.n && !trusted; i++) { // they compare the agent's
            assert_int_not_equal(v->findings.item[i].id, RH_FINDING_OTHER_WINNER);
            assert_int_not_equal(v->findings.item[i].id, RH_FINDING_DEFAULTS_BETTER);
            assert_int_not_equal(v->findings.item[i].id, RH_FINDING_KINDS_DISAGREE);
            assert_int_not_equal(v->findings.item[i].id, RH_FINDING_FAILS_MORE);
        }
        for (int i = 1; i < v->ntied; i++)
            assert_true(v->tied[i] != v->winner);
        doubted = doubted || (!trusted && p > 0.4); // by what excludes a level, too
        print_message("seed %d n %d p %g level %d veto %s\n", (int)seed, (int)log->n, p,
                      v->trust.level, v->trust.text);
        kept = kept || !trusted;
        replaced = replaced || trusted;
        char *json = rh_study_json(study);
        const char *at = strstr(json, "\"candidate\": {");
        assert_non_null(at);
        assert_true(strstr(at, "\"agent\": \"dqn\"") < strstr(at, "\"hyperparameters\""));
        assert_non_null(strstr(json, "\"advantage\": {\"score\": "));
        rh_free(json);
        snprintf(best, sizeof best, "%s/best.yaml", where);
        assert_int_equal(rh_best_read(&b, best, NULL), RH_OK);
        assert_true(b->task.prior.npractice > 0);
        rh_best_destroy(b);
        rh_study_destroy(study);
        rh_plan_destroy(plan);
        rh_log_destroy(log);
    }
    assert_true(kept && replaced && doubted); // all happen
    (void)unused;
}

static void an_agent_that_begins_with_nothing_has_no_file(void **unused)
{
    char start[100], best[100];
    rh_best *b = NULL;
    rh_log *log = make_log(1);
    assert_int_equal(tune(log, folder, "none", NULL), RH_OK);
    snprintf(start, sizeof start, "%s/" RH_STUDY__START, folder);
    snprintf(best, sizeof best, "%s/best.yaml", folder);
    assert_int_not_equal(access(start, F_OK), 0);
    assert_int_equal(rh_best_read(&b, best, NULL), RH_OK);
    assert_int_equal(b->task.prior.n, 0);
    rh_best_destroy(b);
    rh_log_destroy(log);
    (void)unused;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_file_has_all_of_the_log, enter, leave),
        cmocka_unit_test_setup_teardown(practice_is_in_the_file, enter, leave),
        cmocka_unit_test_setup_teardown(practice_is_kept, enter, leave),
        cmocka_unit_test_setup_teardown(the_same_bytes_by_any_number_of_workers, enter, leave),
        cmocka_unit_test_setup_teardown(practice_in_one_long_episode, enter, leave),
        cmocka_unit_test_setup_teardown(the_candidate_or_the_clone, enter, leave),
        cmocka_unit_test_setup_teardown(an_agent_that_begins_with_nothing_has_no_file, enter,
                                        leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
