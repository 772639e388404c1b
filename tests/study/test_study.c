// test_study.c - small studies from start to end: the same result however they are interrupted.

#include "base/base_internal.h"
#include "base/in_memory.h"
#include "model/model_sample.h"
#include "search/search.h"
#include "study/core.h"
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static int64_t at_once; // as rh_study.at_once; 0: as usual

static int enter(void **unused)
{
    (void)unused;
    return folder_in_memory(folder, "study") ? 0 : -1;
}

static int leave(void **unused)
{
    (void)unused;
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static char *path_of(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

// The bytes of a file of a study, to be freed.
static char *contents(const char *study, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", path_of(study), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

// What to log next: the same, or nothing in both.
static void assert_same_next(const char *a, const char *b)
{
    char path[2][256];
    snprintf(path[0], sizeof path[0], "%s/log_next.csv", path_of(a));
    snprintf(path[1], sizeof path[1], "%s/log_next.csv", path_of(b));
    assert_int_equal(access(path[0], F_OK), access(path[1], F_OK));
    if (access(path[0], F_OK) != 0)
        return;
    char *x = contents(a, "log_next.csv"), *y = contents(b, "log_next.csv");
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static void assert_same_study(const char *a, const char *b)
{
    static const char *const file[] = {"best.yaml", "runs.csv"};
    for (int i = 0; i < 2; i++) {
        char *x = contents(a, file[i]), *y = contents(b, file[i]);
        assert_string_equal(x, y);
        free(x);
        free(y);
    }
    assert_same_next(a, b);
}

// A quick plan for esarsa, and more pairs of key and text, up to a NULL.
static rh_plan *plan_of(const rh_log *log, const char *const *more)
{
    static const char *const usual[] = {"agent",
                                        "esarsa",
                                        "evaluation.steps",
                                        "300",
                                        "evaluation.runs",
                                        "3",
                                        "model",
                                        "knn",
                                        "representation",
                                        "raw",
                                        "confirm.kinds",
                                        "chosen",
                                        "confirm.members",
                                        "2",
                                        "confirm.settings",
                                        "2",
                                        "confirm.runs",
                                        "2",
                                        "evaluation.curve",
                                        "4",
                                        "agent.tilings",
                                        "4",
                                        "check",
                                        "0",
                                        NULL};
    rh_plan *plan = NULL;
    rh_error err = {""};
    assert_int_equal(rh_plan_create(&plan, &err), RH_OK);
    rh_status rc = RH_OK;
    for (const char *const *w = usual; *w && !rc; w += 2)
        rc = rh_plan_set(plan, w[0], w[1], NULL, &err);
    for (const char *const *w = more; *w && !rc; w += 2)
        rc = strncmp(w[0], "try ", 4) == 0 ? rh_plan_try(plan, w[0] + 4, w[1], NULL, &err)
                                           : rh_plan_set(plan, w[0], w[1], NULL, &err);
    if (!rc)
        rc = rh_plan_check(plan, &err);
    if (!rc)
        rc = rh_plan_settle(plan, log, &err);
    if (rc)
        fail_msg("%s", err.text);
    return plan;
}

// Stops a study after so many runs.
typedef struct patience {
    int64_t most; // -1: no end
    int64_t seen; //
    int64_t known;
} patience;

static void see(void *context, const rh_study_progress *progress)
{
    patience *p = context;
    if (progress->stage == RH_STAGE_FIT)
        return;
    p->seen = progress->nrun - progress->nrun_resumed;
    p->known = progress->nrun_resumed;
    assert_true(progress->nrun <= progress->nrun_max);
}

static bool is_enough(void *context)
{
    patience *p = context;
    return p->most >= 0 && p->seen >= p->most;
}

// Open a study and run it, up to so many runs. Nullable: name, out.
static rh_status carry_out(const rh_plan *plan, const rh_log *log, const char *name,
                           int nthread, patience *p, rh_study **out, rh_error *err)
{
    rh_study *study = NULL;
    rh_study_options opt = rh_study_defaults();
    opt.folder = name ? path_of(name) : NULL;
    opt.nthread = nthread;
    opt.progress = see;
    opt.stop = is_enough;
    opt.context = p;
    rh_status rc = rh_study_create(&study, plan, log, NULL, NULL, &opt, err);
    if (!rc && at_once)
        study->at_once = at_once;
    if (!rc)
        rc = rh_study_run(study, err);
    if (out && !rc)
        *out = study;
    else
        rh_study_destroy(study);
    return rc;
}

static rh_study *finish(const rh_plan *plan, const rh_log *log, const char *name, int nthread)
{
    rh_error err = {""};
    rh_study *study = NULL;
    patience p = {.most = -1};
    if (carry_out(plan, log, name, nthread, &p, &study, &err))
        fail_msg("%s", err.text);
    return study;
}

static const char *const grid_words[] = {"method",  "grid",  "try alpha", "0.01,0.1,1",
                                         "try tau", "0.5,5", NULL};

static const char *const *const searches[] = {
    grid_words,
    (const char *const[]){"method", "race", "try alpha", "0.001,0.01,0.1,1", "race.first", "2",
                          "evaluation.runs", "6", "check", "1", NULL},
    // nearly equal settings: the leader after 2 runs differs from that after 9
    (const char *const[]){"method", "race", "try alpha", "0.1,0.11,0.12,0.13,0.14,0.15,0.16",
                          "race.first", "2", "race.confidence", "0.5", "evaluation.runs", "9",
                          NULL},
    (const char *const[]){"method", "random", "try alpha", "0.001:1:log", "budget.trials", "7",
                          NULL},
    (const char *const[]){"method", "bayes", "try alpha", "0.001:1:log", "try tau",
                          "0.1:10:log", "budget.trials", "12", "budget.batch", "3", "check",
                          "1", NULL},
    (const char *const[]){"method", "cem", "try alpha", "0.001:1", "budget.trials", "40",
                          "cem.population", "8", NULL},
};
#define NSEARCH ((int)(sizeof searches / sizeof *searches))

// ---------------------------------------------------------------------------- results

static void a_grid(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3);
    rh_plan *plan = plan_of(log, grid_words);
    rh_study *study = finish(plan, log, NULL, 1);
    const rh_verdict *v = rh_study_verdict(study);
    assert_non_null(v);
    assert_true(v->finished);
    assert_int_equal(v->ntrial, 6 + 2);
    assert_int_equal(v->nconfirm, 2);
    assert_int_equal(v->nrun, 6 * 3 + 2 * 2 * 2);
    assert_int_equal(v->nstep, v->nrun * 300);
    assert_true(v->importance.known);
    assert_true(v->importance.exact);

    // the two that led the search were confirmed, and the better of them won
    int above = 0;
    for (int i = 0; i < 6; i++)
        above += v->trial[i].value > v->trial[v->search_best].value;
    assert_int_equal(above, 0);
    assert_true(v->winner >= 6);
    assert_true(v->trial[v->winner].confirm);
    assert_true(v->trial[v->winner_search].setting == v->trial[v->winner].setting);
    for (int i = 6; i < 8; i++)
        assert_true(v->trial[i].lo95 <= v->trial[v->winner].lo95);
    assert_true(v->ntied >= 1);
    assert_int_equal(v->tied[0], v->winner);

    // a setting's runs are those that eval runs
    const rh_trial *t = &v->trial[4];
    rh_env *env = NULL;
    rh_error err = {""};
    rh_eval_options opt;
    rh_result result[3];
    const rh_model *model = rh_study__model(study);
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    assert_int_equal(rh_plan__eval(plan, rh_env_task(env), rh_model_log(model), &opt, &err),
                     RH_OK);
    assert_int_equal(rh_eval_runs(&env, 1, plan->agent, rh_env_task(env), 1, t->hp, &opt,
                                  result, NULL, &err),
                     RH_OK);
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        assert_true(t->result[i].score == result[i].score);
        sum += result[i].score;
    }
    assert_true(fabs(t->value - sum / 3.0) < 1e-12);
    rh_env_destroy(env);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3);
    for (int k = 0; k < NSEARCH; k++) {
        rh_plan *plan = plan_of(log, searches[k]);
        for (int n = 1; n <= 3; n++) {
            char name[32];
            snprintf(name, sizeof name, "t%d-%d", k, n);
            rh_study_destroy(finish(plan, log, name, n));
            if (n > 1) {
                char first[32];
                snprintf(first, sizeof first, "t%d-1", k);
                assert_same_study(first, name);
            }
        }
        rh_plan_destroy(plan);
    }
    rh_log_destroy(log);
}

// Stopped every few runs, resumed with another number of threads.
static void stopped_and_resumed(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3);
    for (int k = 0; k < NSEARCH; k++) {
        rh_plan *plan = plan_of(log, searches[k]);
        char whole[32], name[32];
        snprintf(whole, sizeof whole, "w%d", k);
        snprintf(name, sizeof name, "s%d", k);
        rh_study_destroy(finish(plan, log, whole, 2));
        int times = 0;
        int64_t known = 0;
        for (;; times++) {
            rh_error err = {""};
            patience p = {.most = 5 + times};
            rh_status rc = carry_out(plan, log, name, 1 + times % 3, &p, NULL, &err);
            assert_true(p.known >= known); // nothing is lost
            known = p.known + p.seen;
            if (rc == RH_OK)
                break;
            assert_int_equal(rc, RH_ESTOPPED);
        }
        assert_true(times >= 2);
        assert_same_study(whole, name);

        // all runs are there: none is repeated
        rh_study *study = finish(plan, log, name, 1);
        const rh_verdict *v = rh_study_verdict(study);
        assert_true(v->finished);
        assert_int_equal(v->nrun_resumed, v->nrun);
        rh_study_destroy(study);
        assert_same_study(whole, name);
        rh_plan_destroy(plan);
    }
    rh_log_destroy(log);
}

// Files of a study are written into its folder, not where a link leads.
static void links_are_not_followed(void **unused)
{
    (void)unused;
    static const char *const file[] = {"best.yaml", "runs.csv", "study.model"};
    rh_log *log = log_by_chance(5, 400, 2, 3);
    rh_plan *plan = plan_of(log, grid_words);
    char target[3][300], link[3][300], text[16] = "";
    assert_int_equal(mkdir(path_of("linked"), 0700), 0);
    for (int i = 0; i < 3; i++) {
        snprintf(target[i], sizeof target[i], "%s/precious%d", path_of("linked"), i);
        snprintf(link[i], sizeof link[i], "%s/%s", path_of("linked"), file[i]);
        FILE *precious = fopen(target[i], "w");
        assert_non_null(precious);
        fputs("precious", precious);
        fclose(precious);
        assert_int_equal(symlink(target[i], link[i]), 0);
    }
    rh_study_destroy(finish(plan, log, "linked", 2));
    for (int i = 0; i < 3; i++) {
        struct stat st;
        FILE *precious = fopen(target[i], "r");
        assert_non_null(precious);
        assert_non_null(fgets(text, sizeof text, precious));
        fclose(precious);
        assert_string_equal(text, "precious");
        assert_int_equal(lstat(link[i], &st), 0);
        assert_true(S_ISREG(st.st_mode));
        assert_true(st.st_size > 8);
        unlink(target[i]);
    }
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// A study resumed with more trials ends like one that had them all from the start.
static void more_trials(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3);
    static const char *const few[] = {"method",        "random", "try alpha", "0.001:1:log",
                                      "budget.trials", "4",      NULL};
    static const char *const many[] = {"method",        "random", "try alpha", "0.001:1:log",
                                       "budget.trials", "9",      NULL};
    rh_plan *short_plan = plan_of(log, few), *long_plan = plan_of(log, many);
    rh_study_destroy(finish(short_plan, log, "more", 2));
    rh_study *study = finish(long_plan, log, "more", 2);
    const rh_verdict *v = rh_study_verdict(study);
    assert_int_equal(v->nrun_resumed, 4 * 3 + 2 * 2 * 2);
    assert_int_equal(v->ntrial - v->nconfirm, 9);
    rh_study_destroy(study);
    rh_study_destroy(finish(long_plan, log, "at-once", 1));
    assert_same_study("at-once", "more");
    rh_plan_destroy(short_plan);
    rh_plan_destroy(long_plan);
    rh_log_destroy(log);
}

// A search that its time ends is asked no more when the study is resumed, unless it gets more
// time.
static void timed(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3);
    static const struct {
        const char *time, *trials;
        int nsetting;
    } row[] = {{"1e-9", "12", 8}, {"1e-9", "14", 8}, {"1d", "12", 12}, {"2d", "12", 12}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *const words[] = {"method",      "random",        "try alpha",
                                     "0.001:1:log", "budget.trials", row[i].trials,
                                     "budget.time", row[i].time,     NULL};
        rh_plan *plan = plan_of(log, words);
        rh_study *study = finish(plan, log, "timed", 1);
        const rh_verdict *v = rh_study_verdict(study);
        assert_int_equal(v->ntrial - v->nconfirm, row[i].nsetting);
        assert_int_equal(v->nrun_resumed > 0, i > 0);
        rh_study_destroy(study);
        rh_plan_destroy(plan);
    }
    rh_log_destroy(log);
}

// A study that gets more runs of its confirmation, and is stopped on the way, ends like one
// that had them from the start. Fewer again are refused.
static void more_runs(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3);
    rh_plan *plan[2];
    for (int i = 0; i < 2; i++) {
        const char *const words[] = {
            "method",       "grid",        "try alpha", "0.01,0.1,1", "try tau", "0.5,5",
            "confirm.runs", i ? "6" : "2", "check",     "1",          NULL};
        plan[i] = plan_of(log, words);
    }
    rh_study_destroy(finish(plan[1], log, "all-at-once", 1));
    rh_study_destroy(finish(plan[0], log, "grown", 2));
    int times = 0;
    for (;; times++) {
        rh_error err = {""};
        patience p = {.most = 3 + times};
        rh_status rc = carry_out(plan[1], log, "grown", 1 + times % 3, &p, NULL, &err);
        assert_true(p.known >= 6 * 3 + 2 * 2 * 2);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ESTOPPED);
    }
    assert_true(times >= 2);
    assert_same_study("all-at-once", "grown");
    rh_study *study = finish(plan[1], log, "grown", 1);
    const rh_verdict *v = rh_study_verdict(study);
    assert_true(v->finished);
    assert_int_equal(v->nrun_resumed, v->nrun);
    assert_int_equal(v->trial[v->winner].nrun, 6);
    rh_study_destroy(study);
    assert_same_study("all-at-once", "grown");

    patience p = {.most = -1};
    rh_error err = {""};
    assert_int_equal(carry_out(plan[0], log, "grown", 1, &p, NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "by 6 runs in each model, --confirm-runs is 2, expected 6 "
                                     "or more; use another folder for fewer"));
    rh_plan_destroy(plan[0]);
    rh_plan_destroy(plan[1]);
    rh_log_destroy(log);
}

// Another log or plan in the same folder is refused, and the journal is untouched.
static void another_study(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_log *log = log_by_chance(5, 400, 2, 3), *other = log_by_chance(6, 400, 2, 3);
    static const char *const more[] = {"method",          "grid",    "try alpha",
                                       "0.01,0.1,1",      "try tau", "0.5,5",
                                       "evaluation.runs", "4",       NULL};
    rh_plan *plan = plan_of(log, grid_words), *longer = plan_of(log, more);
    patience p = {.most = -1};
    rh_study_destroy(finish(plan, log, "mine", 1));
    char *before = contents("mine", "study.log");
    assert_int_equal(carry_out(plan, other, "mine", 1, &p, NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "study.log"));
    assert_int_equal(carry_out(longer, log, "mine", 1, &p, NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "the study has evaluation.runs = 3, the plan has 4"));
    char *after = contents("mine", "study.log");
    assert_string_equal(before, after);
    free(before);
    free(after);
    rh_plan_destroy(plan);
    rh_plan_destroy(longer);
    rh_log_destroy(log);
    rh_log_destroy(other);
}

// A journal that no study of this plan could have written is refused.
static void a_foreign_journal(void **unused)
{
    (void)unused;
    static const char *const words[] = {"method",        "random", "try alpha", "0.001:1:log",
                                        "budget.trials", "3",      NULL};
    static const struct {
        struct {
            int setting;
            bool confirm, finished;
            double x[1];
        } trial[2];
        int n;
        const char *message;
    } wrong[] = {
        {{{.x = {7}}},
         1,
         "study.log: setting 0 has alpha = 7, expected a value of the search space, from 0.001 "
         "to 1"},
        {{{.x = {-0.5}, .setting = 0}}, 1, "alpha = -0.5, expected"},
        {{{.x = {0.5}, .setting = 1}},
         1,
         "study.log: setting 1 among 1 trials, expected 0 to 0"},
        {{{.x = {0.5}}, {.x = {0.25}}}, 2, "study.log: setting 0 appears twice"},
        {{{.x = {0.5}}, {.x = {0.25}, .confirm = true}},
         2,
         "the confirmation of setting 0 differs from the setting in alpha"},
        {{{.x = {0.5}, .confirm = true}},
         1,
         "the confirmation of setting 0 differs from the setting in alpha"},
        {{{.x = {0.5}, .finished = true}},
         1,
         "setting 0 is finished without run 0, expected all"},
    };
    rh_log *log = log_by_chance(5, 400, 2, 3);
    rh_plan *plan = plan_of(log, words);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rh_error err = {""};
        rh_journal *journal = NULL;
        rh_journal__head head = {.name = "rehearse", .log = log->path, .plan = plan};
        head.fingerprint = rh_log_fingerprint(log);
        head.ncurve = plan->ncurve;
        char name[32];
        snprintf(name, sizeof name, "foreign%zu", i);
        assert_int_equal(rh_journal__open(&journal, path_of(name), &head, &err), RH_OK);
        rh_journal__set_steps(journal, 300);
        for (int k = 0; k < wrong[i].n; k++) {
            int number = -1;
            assert_int_equal(rh_journal__begin(journal, wrong[i].trial[k].setting,
                                               wrong[i].trial[k].confirm, wrong[i].trial[k].x,
                                               &number, &err),
                             RH_OK);
            rh_result result[3] = {
                {.outcome = RH_STOPPED}, {.outcome = RH_STOPPED}, {.outcome = RH_STOPPED}};
            double hp[64] = {0}, curve[4] = {0};
            rh_trial end = {.x = wrong[i].trial[k].x,
                            .hp = hp,
                            .state = RH_SETTING_DONE,
                            .nmember = 1,
                            .nrun = 3,
                            .result = result,
                            .curve = curve};
            if (wrong[i].trial[k].finished)
                assert_int_equal(rh_journal__finish(journal, number, &end, &err), RH_OK);
        }
        rh_journal__close(journal);
        patience p = {.most = -1};
        assert_int_equal(carry_out(plan, log, name, 1, &p, NULL, &err), RH_EFORMAT);
        if (!strstr(err.text, wrong[i].message))
            fail_msg("%s", err.text);
    }
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// The settings in the journal count, even if the search would now ask for slightly others.
static void numbers_of_the_journal(void **unused)
{
    (void)unused;
    static const char *const words[] = {
        "method", "bayes",        "try alpha", "0.001:1:log", "budget.trials",
        "5",      "budget.batch", "2",         NULL};
    rh_log *log = log_by_chance(5, 400, 2, 3);
    rh_plan *plan = plan_of(log, words);
    rh_error err = {""};
    rh_journal *journal = NULL;
    rh_journal__head head = {.name = "rehearse", .log = log->path, .plan = plan};
    head.fingerprint = rh_log_fingerprint(log);
    head.ncurve = plan->ncurve;
    const double then = 0.0625;
    int number = -1;
    assert_int_equal(rh_journal__open(&journal, path_of("then"), &head, &err), RH_OK);
    rh_journal__set_steps(journal, 300);
    assert_int_equal(rh_journal__begin(journal, 0, false, &then, &number, &err), RH_OK);
    rh_journal__close(journal);
    rh_study *study = finish(plan, log, "then", 2);
    const rh_verdict *v = rh_study_verdict(study);
    assert_int_equal(v->ntrial - v->nconfirm, 5);
    assert_true(v->trial[0].x[0] == 0.0625);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// A study of a model is refused with another model of the same log.
static void another_model(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_log *log = log_by_chance(5, 400, 2, 3);
    rh_model *model[2] = {NULL, NULL};
    double param[16];
    rh_model_options opt = plain_options();
    opt.param = param;
    for (int i = 0; i < 2; i++) {
        rh_param_initial(rh_model_knn.param, rh_model_knn.nparam, param);
        param[rh_param_find(rh_model_knn.param, rh_model_knn.nparam, "k")] = 3 + 2 * i;
        model[i] = fit_plain(&rh_model_knn, log, false, &opt);
    }
    static const char *const words[] = {"method", "grid", "try alpha", "0.1,1", NULL};
    rh_plan *plan = plan_of(log, words);
    rh_study_options how = rh_study_defaults();
    how.folder = path_of("given");
    for (int i = 0; i < 3; i++) {
        rh_study *study = NULL;
        rh_status rc = rh_study_create(&study, plan, NULL, NULL, model[i % 2], &how, &err);
        assert_int_equal(rc, i == 1 ? RH_EINVAL : RH_OK);
        if (!rc)
            assert_int_equal(rh_study_run(study, &err), RH_OK);
        rh_study_destroy(study);
        if (rc)
            assert_non_null(strstr(err.text, "the study has another model"));
    }
    rh_plan_destroy(plan);
    rh_model_destroy(model[0]);
    rh_model_destroy(model[1]);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- kinds of model

static const char *const two_words[] = {"method",        "grid",    "try alpha",
                                        "0.01,0.1,1",    "try tau", "0.5,5",
                                        "confirm.kinds", "network", NULL};

// The end of an interval that is `from` its value, where the log says its own score within
// half.
static bool ends_at(double end, double value, double from, double half)
{
    return fabs(fabs(end - value) - sqrt(from * from + half * half)) < 1e-9 * (1.0 + fabs(end));
}

// The members of the model's own kind do what they do alone; those of the other kind follow.
static void two_kinds(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3);
    rh_plan *one = plan_of(log, grid_words), *two = plan_of(log, two_words);
    rh_study *alone = finish(one, log, NULL, 1), *both = finish(two, log, NULL, 2);
    const rh_verdict *a = rh_study_verdict(alone), *b = rh_study_verdict(both);
    assert_int_equal(a->nkind, 1);
    assert_int_equal(b->nkind, 2);
    assert_int_equal(b->nconfirm, 2);
    assert_string_equal(rh_study__kind(both, 0), "stitching");
    assert_string_equal(b->kind[1], "network");
    assert_null(rh_study__kind(both, 2));
    assert_int_equal(b->nrun - a->nrun, 2 * 2 * 2);
    for (int i = 0; i < b->ntrial; i++) {
        const rh_trial *x = &a->trial[i], *y = &b->trial[i];
        assert_int_equal(x->setting, y->setting);
        assert_true(x->value == y->value);
        assert_int_equal(y->nkind, y->confirm ? 2 : 1);
        assert_int_equal(y->nmember, y->confirm ? 4 : 1);
        for (int k = 0; k < x->nmember * x->nrun; k++)
            assert_true(x->result[k].score == y->result[k].score);
        if (!y->confirm)
            continue;
        assert_true(y->kind[0].lo95 == x->kind[0].lo95);
        assert_true(y->kind[0].hi95 == x->kind[0].hi95);
        assert_true(y->kind[1].value != y->kind[0].value);
        double half = 0.5 * (b->logged.hi95 - b->logged.lo95);
        double lo = y->kind[0].lo95 - b->optimism - b->selected;
        double hi = y->kind[0].hi95 - b->selected; // both are of the best of two
        assert_true(b->optimism == a->optimism && b->selected == a->selected);
        assert_true(fabs(y->value - (y->kind[0].value - b->selected)) < 1e-9);
        assert_true(ends_at(x->lo95, x->value, x->value - lo, half));
        lo = fmin(lo, y->kind[1].lo95 - b->selected);
        hi = fmax(hi, y->kind[1].hi95 - b->selected);
        assert_true(ends_at(y->lo95, y->value, y->value - lo, half));
        assert_true(y->hi95 == 0.0 || ends_at(y->hi95, y->value, hi - y->value, half)); // costs
        double mean = 0.0; // of the other kind's own members
        for (int k = 4; k < 8; k++)
            mean += y->result[k].score / 4.0;
        assert_true(fabs(y->kind[1].value - mean) < 1e-9);
    }
    rh_study_destroy(alone);
    rh_study_destroy(both);
    rh_estimate e;
    rh_error err = {""};
    assert_int_equal(rh_study_create(&both, two, log, NULL, NULL, NULL, &err), RH_OK);
    assert_int_equal(rh_study_estimate(both, &e, &err), RH_OK);
    assert_int_equal(e.nconfirm, 2 * 4 * 2);
    rh_study_destroy(both);
    rh_plan_destroy(one);
    rh_plan_destroy(two);
    rh_log_destroy(log);
}

// Threads and interruptions change nothing; a resumed study has the kinds of its journal.
static void two_kinds_resumed(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 200, 2, 3);
    rh_plan *plan = plan_of(log, two_words), *one = plan_of(log, grid_words);
    rh_error err = {""};
    patience p = {.most = -1};
    rh_study_destroy(finish(plan, log, "kinds", 2));
    for (int64_t most = 20;; most += 1) { // the search has 18 runs, the confirmation 16
        p = (patience){.most = most % 5 + 6};
        rh_status rc = carry_out(plan, log, "kinds-part", 1 + (int)(most % 3), &p, NULL, &err);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ESTOPPED);
        if (most == 22) { // without its model it is fitted again
            char model[128];
            snprintf(model, sizeof model, "%s/study.model", path_of("kinds-part"));
            assert_int_equal(unlink(model), 0);
        }
    }
    assert_same_study("kinds", "kinds-part");
    char *runs = contents("kinds", "runs.csv"), *journal = contents("kinds", "study.log");
    assert_non_null(strstr(runs, ",finished,network\n"));
    assert_non_null(strstr(journal, "\"kinds\":[{\"kind\":\"stitching\",\"model\":\"knn\""));
    assert_non_null(strstr(journal, "\"kinds\":{\"stitching\":{\"value\":"));
    free(runs);
    free(journal);

    // another choice of kinds is another study
    assert_int_equal(carry_out(one, log, "kinds", 1, &p, NULL, &err), RH_EINVAL);
    assert_non_null(
        strstr(err.text, "the study has confirm.kinds = network, the plan has chosen"));
    rh_plan_destroy(plan);
    rh_plan_destroy(one);
    rh_log_destroy(log);
}

// Begin a journal of this plan, with kinds of another model, as another version might.
static void begin_with(const rh_plan *plan, const rh_log *log, const char *name,
                       const rh_kinds *kinds)
{
    rh_error err = {""};
    rh_journal *journal = NULL;
    rh_journal__head head = {.name = "rehearse", .log = log->path, .plan = plan};
    const double x[2] = {0.01, 0.5};
    int number = -1;
    head.fingerprint = rh_log_fingerprint(log);
    head.ncurve = plan->ncurve;
    assert_int_equal(rh_journal__open(&journal, path_of(name), &head, &err), RH_OK);
    rh_journal__set_steps(journal, 300);
    rh_journal__set_kinds(journal, kinds);
    assert_int_equal(rh_journal__begin(journal, 0, false, x, &number, &err), RH_OK);
    rh_journal__close(journal);
}

static void kinds_of_the_journal(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 200, 2, 3);
    rh_plan *plan = plan_of(log, grid_words);
    rh_error err = {""};
    patience p = {.most = -1};
    double param[RH_KINDS__NPARAM], repr_param[RH_KINDS__NPARAM];
    const rh_model_type *nn = rh_model_find("nn", NULL);
    const rh_repr_type *repr = rh_repr_find("random", NULL);
    rh_kinds kinds = {.n = 0};

    // the model is of another kind than the study was begun with
    rh_param_initial(nn->param, nn->nparam, param);
    param[rh_param_find(nn->param, nn->nparam, "epochs")] = 2;
    assert_int_equal(rh_kinds__add(&kinds, nn, param, NULL, NULL, &err), RH_OK);
    begin_with(plan, log, "other-kind", &kinds);
    assert_int_equal(carry_out(plan, log, "other-kind", 1, &p, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "study.log: the study has a network model, this one is "
                                  "stitching; use another folder");

    // kinds, parameters and representation come from the journal: the plan names none
    kinds.n = 0;
    rh_param_initial(rh_model_knn.param, rh_model_knn.nparam, repr_param);
    assert_int_equal(rh_kinds__add(&kinds, &rh_model_knn, repr_param, NULL, NULL, &err), RH_OK);
    rh_param_initial(repr->param, repr->nparam, repr_param);
    assert_int_equal(rh_kinds__add(&kinds, nn, param, repr, repr_param, &err), RH_OK);
    assert_int_equal(rh_kinds__add(&kinds, nn, param, NULL, NULL, &err),
                     RH_OK); // there already
    assert_int_equal(kinds.n, 2);
    begin_with(plan, log, "kept-kinds", &kinds);
    rh_study *study = finish(plan, log, "kept-kinds", 1);
    const rh_verdict *v = rh_study_verdict(study);
    assert_int_equal(v->nkind, 2);
    const rh_kinds__kind *kept = &study->kinds.kind[1];
    assert_ptr_equal(kept->type, nn);
    assert_ptr_equal(kept->repr, repr);
    assert_memory_equal(kept->param, param, (size_t)nn->nparam * sizeof *param);
    assert_memory_equal(kept->repr_param, repr_param, (size_t)repr->nparam * sizeof *param);
    rh_study_destroy(study);

    // a version that has another kind
    rh_model_type unknown = rh_model_knn;
    unknown.name = "tree";
    kinds.n = 0;
    rh_param_initial(unknown.param, unknown.nparam, param);
    assert_int_equal(rh_kinds__add(&kinds, &unknown, param, NULL, NULL, &err), RH_OK);
    assert_string_equal(kinds.kind[0].label, "tree");
    begin_with(plan, log, "unknown-kind", &kinds);
    assert_int_equal(carry_out(plan, log, "unknown-kind", 1, &p, NULL, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "study.log: kinds: no model 'tree'"));
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// A given model stands alone; too many members are refused before anything runs.
static void kinds_that_cannot_be(void **unused)
{
    (void)unused;
    rh_error err = {""};
    patience p = {.most = -1};
    rh_log *log = log_by_chance(5, 200, 2, 3);
    static const char *const many[] = {
        "method", "grid",          "try alpha", "0.1,1", "confirm.members",
        "129",    "confirm.kinds", "network",   NULL};
    rh_plan *plan = plan_of(log, many), *two = plan_of(log, two_words);
    assert_int_equal(carry_out(plan, log, NULL, 1, &p, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "confirm.members = 129 in each of 2 kinds of model, expected "
                                  "at most 256 in all");
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_study *study = NULL;
    assert_int_equal(rh_study_create(&study, two, NULL, NULL, model, NULL, &err), RH_OK);
    assert_string_equal(rh_study__kind(study, 0), "stitching");
    assert_null(rh_study__kind(study, 1));
    rh_study_destroy(study);
    rh_model_destroy(model);
    rh_plan_destroy(plan);
    rh_plan_destroy(two);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- findings

static const rh_finding *finding(const rh_verdict *v, const char *id)
{
    for (int i = 0; i < v->findings.n; i++)
        if (strcmp(rh_finding_name(v->findings.item[i].id), id) == 0)
            return &v->findings.item[i];
    return NULL;
}

// The reward is the number of the action, so a random policy gets less.
static rh_log *log_of_levers(void)
{
    walk w[240];
    for (int i = 0; i < 240; i++) {
        int act = i % 3;
        w[i] = (walk){.s = (i * 7) % 10 / 10.0,
                      .act = act,
                      .reward = act,
                      .next = ((i + 1) * 7) % 10 / 10.0,
                      .flag = i % 10 == 9 ? ENDS : 0,
                      .begins = i % 10 == 0};
    }
    return log_of(w, 240, 3);
}

static void bounds_are_reported(void **unused)
{
    (void)unused;
    rh_log *log = log_of_levers();
    // lower temperatures are better, and lower ones than these are allowed
    static const char *const words[] = {"method",          "grid", "try tau",  "1,30,1000",
                                        "try alpha",       "0.3",  "ranges.x", "0:0.9",
                                        "confirm.members", "5",    NULL};
    rh_plan *plan = plan_of(log, words);
    rh_study *study = finish(plan, log, NULL, 1);
    const rh_verdict *v = rh_study_verdict(study);
    assert_int_equal(v->bound[0], -1);
    const rh_finding *f = finding(v, "at-bound");
    assert_non_null(f);
    assert_non_null(strstr(f->evidence, "tau = 1 is at the lower end of the searched range"));
    assert_non_null(finding(v, "too-good")); // the log takes all actions in turn
    assert_null(finding(v, "all-tied"));
    assert_null(finding(v, "not-confirmed"));
    assert_null(finding(v, "diverged"));
    rh_study_destroy(study);
    rh_plan_destroy(plan);

    // beta1 cannot be below 0; a missing confirmation is reported
    static const char *const alike[] = {
        "method",  "grid",  "try w_init", "0,0.0000001,0.0000002,0.0000003,0.0000004",
        "confirm", "false", "try beta1",  "0",
        NULL};
    plan = plan_of(log, alike);
    study = finish(plan, log, NULL, 1);
    v = rh_study_verdict(study);
    assert_non_null(finding(v, "all-tied"));
    assert_non_null(finding(v, "not-confirmed"));
    assert_int_equal(v->nconfirm, 0);
    assert_true(v->ntied > 2);
    assert_false(v->trial[v->winner].confirm);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// The random policy's score is that of runs in the model, with any number of threads.
static void compared_with_random(void **unused)
{
    (void)unused;
    rh_log *log = log_of_levers();
    static const char *const words[] = {"method",  "grid",  "try tau", "1,1000",
                                        "confirm", "false", NULL};
    rh_plan *plan = plan_of(log, words);
    double first = 0.0;
    for (int nthread = 1; nthread <= 3; nthread += 2) {
        rh_study *study = finish(plan, log, NULL, nthread);
        const rh_verdict *v = rh_study_verdict(study);
        rh_eval_options opt = study->eval;
        rh_result result[10];
        double none = 0.0, sum = 0.0;
        opt.nrun = 10;
        opt.ncurve = 0;
        assert_int_equal(rh_eval_runs(study->members[RH_STAGE_SEARCH].env, 1,
                                      rh_agent_find("random", NULL), &study->task, 1, &none,
                                      &opt, result, NULL, NULL),
                         RH_OK);
        for (int i = 0; i < 10; i++)
            sum += result[i].score;
        assert_true(fabs(v->random.score - sum / 10.0) < 1e-12);
        assert_true(v->random.lo95 < v->random.score);
        assert_true(v->random.score < v->random.hi95);
        assert_true(v->logged.score == 9.0 || fabs(v->logged.score - 10.0) < 0.5);
        assert_true(v->trial[v->winner].value > v->random.hi95);
        assert_true(nthread == 1 || v->random.score == first);
        first = v->random.score;
        rh_study_destroy(study);
    }
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// A search that converges ends among equal settings: no reason to warn.
static void a_search_that_converges(void **unused)
{
    (void)unused;
    rh_log *log = log_of_levers();
    static const char *const words[] = {"method",
                                        "bayes",
                                        "try tau",
                                        "1:100000:log",
                                        "try alpha",
                                        "0.3",
                                        "budget.trials",
                                        "24",
                                        "evaluation.runs",
                                        "10",
                                        "bayes.first",
                                        "8",
                                        NULL};
    rh_plan *plan = plan_of(log, words);
    rh_study *study = finish(plan, log, NULL, 1);
    const rh_verdict *v = rh_study_verdict(study);
    const rh_finding *f = finding(v, "all-tied");
    if (f)
        fail_msg("%s", f->evidence);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// A log too short for different parts is refused before anything is tried.
static void too_short_to_confirm(void **unused)
{
    (void)unused;
    walk w[3] = {{.s = 0.1, .next = 0.2, .begins = 1},
                 {.s = 0.2, .next = 0.3, .act = 1},
                 {.s = 0.3, .next = 0.4, .act = 2, .reward = 1}};
    rh_error err = {""};
    rh_log *log = log_of(w, 3, 3);
    rh_plan *plan = plan_of(log, grid_words);
    patience p = {.most = 0};
    assert_int_equal(carry_out(plan, log, "short", 1, &p, NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "confirm: knn: 2 members fitted to all of"));
    assert_int_equal(access(path_of("short"), F_OK), -1);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// A finished study is read, not computed: no model is fitted, no proposal made, and its journal
// stays as it is.
static void again_from_the_journal(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3);
    for (int s = 0; s < NSEARCH; s++) {
        rh_plan *plan = plan_of(log, searches[s]);
        rh_study_destroy(finish(plan, log, "again", 2));
        char *best = contents("again", "best.yaml"), *journal = contents("again", "study.log");
        rh_study *study = finish(plan, log, "again", 1);
        assert_int_equal(study->members[RH_STAGE_CONFIRM].nmember, 0);
        assert_true(study->confirms);
        assert_true(isfinite(study->random.score));
        char *later = contents("again", "best.yaml"), *same = contents("again", "study.log");
        assert_string_equal(best, later);
        assert_string_equal(journal, same);
        rh_study_destroy(study);
        rh_plan_destroy(plan);
        free(best);
        free(journal);
        free(later);
        free(same);
        char command[200];
        snprintf(command, sizeof command, "rm -r %s", path_of("again"));
        assert_int_equal(system(command), 0);
    }
    rh_log_destroy(log);
}

// Rewards whose sum overflows: the runs diverge and the study finishes.
static void sums_that_overflow(void **unused)
{
    (void)unused;
    walk w[60];
    for (int i = 0; i < 60; i++)
        w[i] = (walk){.s = i % 10 / 10.0,
                      .act = i % 3,
                      .reward = 1e306 * (1 + i % 3),
                      .next = (i + 1) % 10 / 10.0,
                      .begins = i == 0};
    rh_log *log = log_of(w, 60, 3);
    static const char *const words[] = {"method",  "grid",  "try tau", "1,30,1000",
                                        "confirm", "false", NULL};
    rh_plan *plan = plan_of(log, words);
    rh_study *study = finish(plan, log, NULL, 1);
    const rh_verdict *v = rh_study_verdict(study);
    assert_int_equal(v->winner, -1);
    assert_non_null(finding(v, "all-diverged"));
    assert_int_equal(finding(v, "all-diverged")->severity, RH_ERROR);
    assert_null(finding(v, "winner-diverged"));
    rh_study_destroy(study);
    rh_plan_destroy(plan);

    // also with a confirmation, which has nothing to confirm; no best.yaml, and an old one goes
    static const char *const confirmed[] = {"method", "grid", "try tau", "1,30,1000", NULL};
    for (int i = 0; i < 2; i++) {
        plan = plan_of(log, confirmed);
        study = finish(plan, log, "overflow", 1);
        v = rh_study_verdict(study);
        assert_int_equal(v->winner, -1);
        assert_int_equal(v->nconfirm, 0);
        assert_int_equal(v->ntrial, 3);
        rh_study_destroy(study);
        rh_plan_destroy(plan);
        char best[200];
        snprintf(best, sizeof best, "%s/best.yaml", path_of("overflow"));
        assert_int_equal(access(best, F_OK), -1);
        FILE *old = fopen(best, "w");
        assert_non_null(old);
        fclose(old);
    }
    rh_log_destroy(log);
}

// A cart pushed along a line by a force, one continuous action; it should stay at 0.
static rh_log *log_of_pushes(void)
{
    enum { N = 600 };
    static walk w[N];
    rh_rng rng = rh_rng_stream(4, RH_STREAM_START, 0, 0);
    double x = 0.5;
    for (int i = 0; i < N; i++) {
        double act = rh_rng_range(&rng, -1.0, 1.0), next = fmax(fmin(x + 0.3 * act, 3.0), -3.0);
        w[i] = (walk){
            .s = x, .act = act, .reward = -100.0 * next * next, .next = next, .begins = i == 0};
        x = next;
    }
    return log_of(w, N, 0);
}

// Step sizes from small to far too large. Settings that diverged are neither confirmed while
// there are others, nor chosen, nor tied.
static void diverged_settings_rank_last(void **unused)
{
    (void)unused;
    static const char *const method[] = {"bayes", "random", "grid", "race"};
    rh_log *log = log_of_pushes();
    for (int k = 0; k < 4; k++) {
        bool finite = k >= 2;
        const char *const words[] = {"agent",
                                     "gaussian_actor_critic",
                                     "method",
                                     method[k],
                                     "try alpha_critic",
                                     finite ? "0.01,0.1,2,10" : "0.01:10:log",
                                     "try actor_ratio",
                                     finite ? "0.01,0.3" : "0.01:0.3:log",
                                     "budget.trials",
                                     "16",
                                     "evaluation.steps",
                                     "1500",
                                     "evaluation.runs",
                                     "6",
                                     "confirm.settings",
                                     "3",
                                     NULL};
        rh_plan *plan = plan_of(log, words);
        rh_study *study = finish(plan, log, NULL, 2);
        const rh_verdict *v = rh_study_verdict(study);
        int nsound = 0, nsearch = v->ntrial - v->nconfirm;
        for (int i = 0; i < nsearch; i++)
            nsound += v->trial[i].ndiverged == 0;
        assert_true(nsound >= 3);
        assert_true(nsound < nsearch);
        for (int i = nsearch; i < v->ntrial; i++)
            assert_int_equal(rh_study__find(study, v->trial[i].setting, false)->trial.ndiverged,
                             0);
        assert_int_equal(v->trial[v->winner].ndiverged, 0);
        for (int i = 0; i < v->ntied; i++)
            assert_int_equal(v->trial[v->tied[i]].ndiverged, 0);
        assert_null(finding(v, "winner-diverged"));

        // one diverged run of the winner, in either stage, and another setting wins
        int first = v->trial[v->winner].setting;
        for (int confirm = 0; confirm < 2; confirm++) {
            rh_study__record *record = rh_study__find(study, first, confirm);
            record->trial.ndiverged = 1;
            study->judged = false;
            v = rh_study_verdict(study);
            assert_int_not_equal(v->trial[v->winner].setting, first);
            for (int i = 0; i < v->ntied; i++)
                assert_int_not_equal(v->trial[v->tied[i]].setting, first);
            record->trial.ndiverged = 0;
        }
        rh_study_destroy(study);
        rh_plan_destroy(plan);
    }
    rh_log_destroy(log);
}

// A nearly random policy scores like the log; of nearly equal settings one is confirmed.
static void others_are_confirmed(void **unused)
{
    (void)unused;
    rh_log *log = log_of_levers();
    static const char *const words[] = {
        "method",        "bayes", "try tau",          "500", "try alpha", "0.01:1:log",
        "budget.trials", "16",    "confirm.settings", "4",   NULL};
    rh_plan *plan = plan_of(log, words);
    rh_study *study = finish(plan, log, NULL, 1);
    const rh_verdict *v = rh_study_verdict(study);
    assert_null(finding(v, "too-good"));
    assert_int_equal(v->nconfirm, 4);
    for (int i = v->ntrial - 4; i < v->ntrial; i++)
        for (int k = v->ntrial - 4; k < i; k++) {
            double a, b;
            rh_space__unit(&plan->space, v->trial[i].x, &a);
            rh_space__unit(&plan->space, v->trial[k].x, &b);
            assert_true(fabs(a - b) >= 0.05);
        }
    for (int i = 2; i < v->ntied; i++)
        assert_true(v->trial[v->tied[i]].value <= v->trial[v->tied[i - 1]].value);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// As many settings are confirmed as the plan asks for.
static void many_are_confirmed(void **unused)
{
    (void)unused;
    rh_log *log = log_of_levers();
    static const char *const words[] = {"method",
                                        "random",
                                        "try alpha",
                                        "0.01:1:log",
                                        "budget.trials",
                                        "560",
                                        "confirm.settings",
                                        "540",
                                        "confirm.runs",
                                        "1",
                                        "evaluation.runs",
                                        "1",
                                        "evaluation.steps",
                                        "20",
                                        "evaluation.curve",
                                        "0",
                                        "agent.tilings",
                                        "1",
                                        NULL};
    rh_plan *plan = plan_of(log, words);
    rh_study *study = finish(plan, log, NULL, 2);
    const rh_verdict *v = rh_study_verdict(study);
    assert_int_equal(v->nconfirm, 540);
    assert_int_equal(v->nrun, 560 + 540 * 2);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// An estimate, and a verdict before there are runs.
static void an_estimate(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_log *log = log_by_chance(5, 400, 2, 3);
    rh_plan *plan = plan_of(log, grid_words);
    rh_study *study = NULL;
    rh_estimate e;
    assert_int_equal(rh_study_create(&study, plan, log, NULL, NULL, NULL, &err), RH_OK);
    assert_int_equal(rh_study_estimate(study, &e, &err), RH_OK);
    assert_int_equal(e.nsetting, 6);
    assert_int_equal(e.nrun, 6 * 3 + 2 * 2 * 2);
    assert_int_equal(e.nconfirm, 8);
    assert_true(e.seconds_per_run > 0.0);
    assert_true(e.seconds_fit > 0.0);
    assert_true(e.seconds_search > 0.0);
    assert_int_equal(e.eval.nstep, 300);
    assert_true(fabs(e.seconds - e.seconds_fit - e.seconds_search -
                     (double)e.nrun * e.seconds_per_run) < 1e-9);
    const rh_verdict *v = rh_study_verdict(study);
    assert_non_null(v);
    assert_int_equal(v->winner, -1);
    assert_int_equal(v->ntied, 0);
    assert_false(v->finished);

    // it runs once, and its verdict is that of the end
    assert_int_equal(rh_study_run(study, &err), RH_OK);
    v = rh_study_verdict(study);
    assert_non_null(v);
    assert_true(v->finished);
    assert_true(v->winner >= 0);
    assert_ptr_equal(v, rh_study_verdict(study));
    assert_int_equal(rh_study_run(study, &err), RH_EINVAL);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

static void refuses_wrong_calls(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_log *log = log_by_chance(5, 120, 2, 3);
    rh_plan *plan = plan_of(log, grid_words), *unsettled = NULL;
    rh_study *study = NULL;
    assert_int_equal(rh_study_create(&study, plan, NULL, NULL, NULL, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "study: neither a log nor a model, expected a log or a model");
    assert_int_equal(rh_plan_create(&unsettled, &err), RH_OK);
    assert_int_equal(rh_study_create(&study, unsettled, log, NULL, NULL, NULL, &err),
                     RH_EINVAL);
    assert_string_equal(err.text,
                        "study: the plan is not settled, expected rh_plan_settle() before");
    assert_int_equal(rh_study_serve(plan, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "study: rh_study_serve() on no rank, expected a rank above 0");
    assert_null(study);
    rh_plan_destroy(unsettled);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// Running out of memory anywhere ends the study with RH_ENOMEM and no leak.
static void run_without_memory(const char *const *words, const char *name)
{
    rh_log *log = log_by_chance(5, 120, 2, 3);
    rh_plan *plan = plan_of(log, words);
    int64_t live = rh_base__alloc_live();
    int failures = 0;
    for (int64_t n = 1;; n += 1 + n / 12) {
        rh_error err = {""};
        patience p = {.most = -1};
        rh_base__alloc_fail_at(n);
        rh_status rc = carry_out(plan, log, name, 2, &p, NULL, &err);
        rh_base__alloc_fail_at(0);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        failures++;
    }
    assert_true(failures > 20);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

static void without_memory(void **unused)
{
    (void)unused;
    run_without_memory(searches[1], NULL);
    run_without_memory(two_words, "no-memory");
}

// More settings are asked for to be confirmed than the search has.
static void fewer_settings_than_to_confirm(void **unused)
{
    (void)unused;
    static const char *const words[] = {"method",           "grid", "try alpha", "0.01,1",
                                        "confirm.settings", "7",    NULL};
    rh_log *log = log_by_chance(5, 100, 2, 3);
    rh_plan *plan = plan_of(log, words);
    rh_study *study = finish(plan, log, NULL, 2);
    const rh_verdict *v = rh_study_verdict(study);
    assert_int_equal(v->nconfirm, 2);
    assert_int_equal(v->ntrial, 4);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- long logs

// Members of the confirmation and models of the check that are in memory one by one, or two by
// two, give the results of all at once; so does a study that is stopped and resumed.
static void few_members_at_a_time(void **unused)
{
    (void)unused;
    static const char *const words[] = {"method",
                                        "grid",
                                        "try alpha",
                                        "0.01,0.1,1",
                                        "confirm.kinds",
                                        "stitching carrying network",
                                        "confirm.members",
                                        "3",
                                        "model.members",
                                        "1",
                                        "check",
                                        "2",
                                        NULL};
    rh_log *log = log_by_chance(5, 200, 2, 3);
    rh_plan *plan = plan_of(log, words);
    rh_study *whole = finish(plan, log, "rounds-all", 2), *study;
    const rh_verdict *a = rh_study_verdict(whole);
    static const int64_t few[] = {1, 2000, 3000};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        char name[32];
        snprintf(name, sizeof name, "rounds-%d", (int)i);
        at_once = few[i];
        study = finish(plan, log, name, 2);
        const rh_verdict *b = rh_study_verdict(study);
        assert_same_study("rounds-all", name);
        const rh_study__checking *c = &whole->checking, *d = &study->checking;
        assert_int_equal(c->n, d->n);
        assert_memory_equal(c->score, d->score,
                            (size_t)(c->n * c->nsetting * 2) * sizeof *c->score);
        assert_true(a->random.score == b->random.score);
        assert_true(a->random.lo95 == b->random.lo95);
        assert_true(a->transfer.lost == b->transfer.lost ||
                    (isnan(a->transfer.lost) && isnan(b->transfer.lost)));
        assert_memory_equal(whole->defaults, study->defaults,
                            (size_t)(whole->ndefault_member * whole->ndefault_run) *
                                sizeof *whole->defaults);
        assert_int_equal(study->members[RH_STAGE_CONFIRM].nmember, 0);
        rh_study_destroy(study);
    }
    rh_status rc = RH_ESTOPPED;
    for (int i = 0; rc; i++) {
        rh_error err = {""};
        patience p = {.most = 4 + i % 3};
        at_once = i % 2 ? 1 : 2000;
        rc = carry_out(plan, log, "rounds-part", 1 + i % 2, &p, NULL, &err);
        assert_true(!rc || rc == RH_ESTOPPED);
    }
    assert_same_study("rounds-all", "rounds-part");
    run_without_memory(two_words, "no-memory-2");
    at_once = 0;
    rh_study_destroy(whole);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(stopped_and_resumed),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(more_trials),
        cmocka_unit_test(timed),
        cmocka_unit_test(more_runs),
        cmocka_unit_test(another_study),
        cmocka_unit_test(another_model),
        cmocka_unit_test(a_foreign_journal),
        cmocka_unit_test(numbers_of_the_journal),
        cmocka_unit_test(two_kinds),
        cmocka_unit_test(two_kinds_resumed),
        cmocka_unit_test(kinds_of_the_journal),
        cmocka_unit_test(few_members_at_a_time),
        cmocka_unit_test(fewer_settings_than_to_confirm),
        cmocka_unit_test(kinds_that_cannot_be),
        cmocka_unit_test(bounds_are_reported),
        cmocka_unit_test(compared_with_random),
        cmocka_unit_test(a_search_that_converges),
        cmocka_unit_test(too_short_to_confirm),
        cmocka_unit_test(sums_that_overflow),
        cmocka_unit_test(again_from_the_journal),
        cmocka_unit_test(diverged_settings_rank_last),
        cmocka_unit_test(others_are_confirmed),
        cmocka_unit_test(many_are_confirmed),
        cmocka_unit_test(an_estimate),
        cmocka_unit_test(refuses_wrong_calls),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
