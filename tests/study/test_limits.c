// test_limits.c - limits and further scores: what is read and refused, bounds of rates, and
// small studies whose best setting breaks a limit.

#include "base/base_internal.h"
#include "log/log.h"
#include "model/model_sample.h"
#include "study/core.h"
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define complain(...) (print_error(__VA_ARGS__), 1)

static void assert_near(double x, double y, double error)
{
    if (!(fabs(x - y) <= error))
        fail_msg("%.17g, expected %.17g", x, y);
}

static char folder[64];

static int enter(void **unused)
{
    (void)unused;
    strcpy(folder, "/tmp/rehearse-limits-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int leave(void **unused)
{
    (void)unused;
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

// A plant with sensors x and y and actions a and b. Action b earns more and moves to x = 5; if
// there is a penalty, it trips in one of four steps.
#define NSTEP 400
static rh_log *plant(int penalty)
{
    static walk w[NSTEP];
    rh_rng rng = rh_rng_stream(1, RH_STREAM_START, 0, 0);
    double x = 0.0;
    for (int i = 0; i < NSTEP; i++) {
        bool last = i % 10 == 9;
        double act = rh_rng_below(&rng, 2);
        bool trips = penalty && act == 1.0 && rh_rng_below(&rng, 4) == 0;
        w[i] = (walk){.s = x,
                      .act = act,
                      .reward = trips ? -penalty : act,
                      .next = act == 1.0 ? 5.0 : 0.0,
                      .flag = trips  ? ENDS
                              : last ? CUT
                                     : 0,
                      .begins = i == 0 || w[i - 1].flag};
        x = w[i].flag ? 0.0 : w[i].next;
    }
    return log_of(w, NSTEP, 2);
}

// ---------------------------------------------------------------------------- reading

static rh_limits limits_of(const char *at_most, const char *also, const rh_log *log)
{
    rh_limits limits;
    rh_error err = {""};
    if (rh_limits__read(&limits, at_most, also, log, NULL, &err))
        fail_msg("%s", err.text);
    return limits;
}

static void rates_are_read(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *event;
        double most;
        rh_limit_unit unit;
        rh_counted counted;
    } known[] = {
        {"trip: 2 per 1000 steps", "trip", 0.002, RH_PER_1000_STEPS, RH_COUNT_FAILURES},
        {" failures :2 in 1,000 steps ", "failures", 0.002, RH_PER_1000_STEPS,
         RH_COUNT_FAILURES},
        {"trip: 1 per 500 steps", "trip", 0.002, RH_PER_1000_STEPS, RH_COUNT_FAILURES},
        {"trip: 0.5%", "trip", 0.005, RH_PERCENT_OF_EPISODES, RH_COUNT_FAILURES},
        {"trip: 0", NULL, 0, 0, 0},
        {"terminal: 0 %", "terminal", 0.0, RH_PERCENT_OF_EPISODES, RH_COUNT_ENDS},
        {"terminal: 0.25 per episode", "terminal", 0.25, RH_PERCENT_OF_EPISODES, RH_COUNT_ENDS},
        {"x > 3: 0.1 %", "x > 3", 0.001, RH_PERCENT_OF_STEPS, RH_COUNT_STEPS},
        {"x > 3: 0.1 % of steps", "x > 3", 0.001, RH_PERCENT_OF_STEPS, RH_COUNT_STEPS},
        {"x > 3: 100 % of episodes", "x > 3", 1.0, RH_PERCENT_OF_EPISODES, RH_COUNT_EPISODES},
        {"a:b > 3: 5 per 1000 steps", "a:b > 3", 0.005, RH_PER_1000_STEPS, RH_COUNT_STEPS},
        {"';' > 3: 5 %", "';' > 3", 0.05, RH_PERCENT_OF_STEPS, RH_COUNT_STEPS},
        {"trip: 101 %", NULL, 0, 0, 0},
        {"trip: 5 % of steps", NULL, 0, 0, 0},
        {"trip: -1 %", NULL, 0, 0, 0},
        {"trip: nan %", NULL, 0, 0, 0},
        {"trip: 1e999 per 1000 steps", NULL, 0, 0, 0},
        {"trip: 1 per 0 steps", NULL, 0, 0, 0},
        {"trip: 1 per 1000", NULL, 0, 0, 0},
        {"trip: 1 per 1000 stepsss", NULL, 0, 0, 0},
        {"trip 1 %", NULL, 0, 0, 0},
        {": 1 %", NULL, 0, 0, 0},
        {":", NULL, 0, 0, 0},
        {"x > 3: 0x1p-3 %", NULL, 0, 0, 0},
        {"\xff\xfe\x01: %", NULL, 0, 0, 0},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        rh_limits limits;
        rh_error err = {""};
        rh_status rc = rh_limits__read(&limits, known[i].text, NULL, NULL, NULL, &err);
        const rh_constraint *limit = &limits.limit[0];
        if (known[i].event &&
            (rc || limits.nlimit != 1 || strcmp(limit->event, known[i].event) != 0 ||
             fabs(limit->most - known[i].most) > 1e-15 || limit->unit != known[i].unit ||
             limit->counted != known[i].counted))
            wrong += complain("%s: %s\n", known[i].text, err.text);
        if (!known[i].event && (rc != RH_EINVAL || strncmp(err.text, "at_most = '", 11) != 0))
            wrong += complain("%s: %s\n", known[i].text, err.text);
        rh_limits__clear(&limits);
    }
    assert_int_equal(wrong, 0);
}

static void many_are_read(void **unused)
{
    (void)unused;
    static const char eight[] = "x>1:1%;x>2:1%;x>3:1%;x>4:1%;x>5:1%;x>6:1%;x>7:1%; trip:1%;";
    rh_log *log = plant(9);
    rh_limits limits = limits_of(eight, "x; -y ; act: 1", NULL);
    assert_int_equal(limits.nlimit, RH_MAX_LIMITS);
    assert_int_equal(limits.nalso, 3);
    assert_string_equal(limits.also[1], "-y");
    rh_limits__clear(&limits);
    limits = limits_of(" ; ", "", log);
    assert_int_equal(limits.nlimit, 0);
    rh_limits__clear(&limits);

    rh_error err = {""};
    char text[RH_LIMITS__TEXT + 8];
    snprintf(text, sizeof text, "%s trip:1%%", eight);
    assert_int_equal(rh_limits__read(&limits, text, NULL, NULL, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "at_most = 'trip:1%', expected at most 8 limits");
    rh_limits__clear(&limits);
    assert_int_equal(rh_limits__read(&limits, NULL, "x;x;x;x;x", log, "--also", &err),
                     RH_EINVAL);
    assert_string_equal(err.text, "--also = 'x', expected at most 4 further scores");
    rh_limits__clear(&limits);
    memset(text, 'x', sizeof text);
    text[RH_LIMITS__TEXT] = '\0';
    assert_int_equal(rh_limits__read(&limits, text, NULL, NULL, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "at_most: a text of 4000 bytes, expected fewer than 4000");
    rh_limits__clear(&limits);
    assert_int_equal(rh_limits__read(&limits, "z > 3: 1 %", NULL, log, NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "at_most: no sensor or action 'z'"));
    assert_non_null(strstr(err.text, "make the column a sensor, --obs"));
    rh_limits__clear(&limits);
    assert_int_equal(rh_limits__read(&limits, "1 +: 1 %", NULL, log, NULL, &err), RH_EINVAL);
    assert_null(strstr(err.text, "--obs"));
    rh_limits__clear(&limits);
    rh_log_destroy(log);
}

// A step is judged by the state it leads to, its action and its reward; missing is no excess.
static void steps_are_measured(void **unused)
{
    (void)unused;
    rh_log *log = plant(0);
    rh_limits limits =
        limits_of("x > 3: 1 %; action == 1: 1 %; reward < 0: 1 % of episodes; trip: 1 %",
                  "x + action; -reward", log);
    rh_eval_options opt = rh_eval_defaults(&(rh_task){.nstep = 1});
    rh_limits__watch(&limits, &opt);
    assert_int_equal(opt.nlimit, 4);
    assert_int_equal(opt.nalso, 2);
    assert_int_equal(opt.counted[2], RH_COUNT_EPISODES);
    double also[RH_MAX_ALSO], next[2] = {5.0, 0.0}, act = 1.0;
    rh_done_step step = {.act = &act, .next = next, .reward = -2.0};
    assert_int_equal(opt.measure(opt.limits, &step, also), 7);
    assert_near(also[0], 6.0, 0.0);
    assert_near(also[1], 2.0, 0.0);
    next[0] = NAN;
    act = 0.0;
    step.reward = 1.0;
    assert_int_equal(opt.measure(opt.limits, &step, also), 0);
    assert_near(also[0], 0.0, 0.0);
    char *formula = rh_limits__formula(&limits, 1);
    assert_string_equal(formula, "act[0] == 1");
    rh_free(formula);
    rh_limits__clear(&limits);
    rh_limits__watch(NULL, &opt);
    assert_true(!opt.measure);
    assert_true(!opt.nlimit);
    assert_true(!opt.nalso);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- bounds

static void bounds(void **unused)
{
    (void)unused;
    rh_limits limits = limits_of("x > 3: 0.1 %; trip: 2 %", NULL, NULL);
    rh_result r[20];
    for (int i = 0; i < 20; i++)
        r[i] = (rh_result){.nstep = 50, .nepisode = 5, .outcome = RH_FINISHED};

    // nothing in 1,000 steps: Wilson's bound, z^2 / (n + z^2)
    const double z = 1.6448536269514722;
    rh_kept kept = rh_limits__rate(&limits, 0, 0.95, r, 5, 4);
    assert_near(kept.rate, 0.0, 0.0);
    assert_near(kept.upper, z * z / (1000.0 + z * z), 1e-7);
    assert_true(kept.lower == 0.0);
    assert_true(kept.n == 0);
    assert_true(kept.of == 1000);

    // one member of five does all: the members differ, so the bound is Student's, 4 d.f.
    for (int i = 0; i < 4; i++)
        r[i].over[0] = 25;
    kept = rh_limits__rate(&limits, 0, 0.95, r, 5, 4);
    assert_near(kept.rate, 0.1, 1e-12);
    assert_near(kept.upper, 0.1 + 2.131846786 * 0.1, 1e-6);
    assert_near(kept.lower, 0.0, 0.0);

    // more confidence, a wider bound; episodes are counted where the limit says so
    assert_true(rh_limits__rate(&limits, 0, 0.99, r, 5, 4).upper > kept.upper);
    assert_int_equal(rh_limits__rate(&limits, 1, 0.95, r, 5, 4).of, 100);
    r[0].nepisode = 0;
    assert_true(isnan(rh_limits__rate(&limits, 1, 0.95, r, 1, 1).upper));

    // how far above: relative to the limit
    r[0].over[0] = 0;
    assert_true(rh_limits__excess(&limits, &r[0]) < 0.0);
    r[0].over[0] = 50;
    assert_near(rh_limits__excess(&limits, &r[0]), 0.999 / 0.002, 1e-9);
    rh_limits__clear(&limits);
}

// The bound of a rate is above the truth about as often as it says.
static void bounds_hold(void **unused)
{
    (void)unused;
    rh_limits limits = limits_of("x > 3: 1 %", NULL, NULL);
    int below = 0, n = 2000;
    rh_rng rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
    for (int k = 0; k < n; k++) {
        rh_result r[20] = {{.score = 0.0}};
        for (int m = 0; m < 5; m++) { // members whose rates differ, 0.05 on average
            double rate = 0.025 + 0.05 * rh_rng_uniform(&rng);
            for (int i = 0; i < 4; i++) {
                r[m * 4 + i].nstep = 100;
                for (int s = 0; s < 100; s++)
                    r[m * 4 + i].over[0] += rh_rng_uniform(&rng) < rate;
            }
        }
        below += rh_limits__rate(&limits, 0, 0.95, r, 5, 4).upper < 0.05;
    }
    assert_in_range(below, n / 100, n * 7 / 100); // 95 %, one-sided
    rh_limits__clear(&limits);
}

static void of_the_log(void **unused)
{
    (void)unused;
    rh_log *log = plant(9);
    rh_limits limits = limits_of(
        "x > 3: 1 %; x > 3: 1 % of episodes; trip: 1 %; trip: 1 per 1000 steps", NULL, log);
    rh_failure *rule = NULL;
    rh_error err = {""};
    assert_int_equal(rh_failure__find(&rule, log, false, (rh_prior){0}, &err), RH_OK);
    rh_failure__count count = rh_failure__count_log(rule, log, false);
    int64_t nb = 0;
    for (int i = 0; i < NSTEP; i++)
        nb += log->act[i] == 1.0;
    assert_int_equal(rh_limits__logged(&limits, 0, 0.95, log, rule, false).n, nb);
    rh_kept episodes = rh_limits__logged(&limits, 1, 0.95, log, rule, false);
    assert_int_equal(episodes.of, log->nepisode);
    assert_in_range(episodes.n, log->nepisode / 2, log->nepisode);
    assert_int_equal(rh_limits__logged(&limits, 2, 0.95, log, rule, false).n, count.n);
    assert_int_equal(rh_limits__logged(&limits, 3, 0.95, log, rule, false).of, NSTEP);
    assert_true(count.n > 5);
    rh_failure__destroy(rule);
    rh_limits__clear(&limits);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- studies

// Settings from greedy to random: tau is the temperature.
static rh_plan *plan_of(const rh_log *log, const char *method, const char *at_most,
                        const char *also)
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
                                        "5",
                                        "confirm.settings",
                                        "5",
                                        "confirm.runs",
                                        "2",
                                        "evaluation.curve",
                                        "4",
                                        "agent.tilings",
                                        "4",
                                        "agent.beta1",
                                        "0",
                                        "agent.lambda",
                                        "0",
                                        "agent.alpha",
                                        "0.5",
                                        "check",
                                        "0",
                                        NULL};
    rh_plan *plan = NULL;
    rh_error err = {""};
    rh_status rc = rh_plan_create(&plan, &err);
    for (const char *const *w = usual; *w && !rc; w += 2)
        rc = rh_plan_set(plan, w[0], w[1], NULL, &err);
    if (!rc)
        rc = rh_plan_set(plan, "method", method, NULL, &err);
    if (!rc)
        rc = rh_plan_try(plan, "tau",
                         strcmp(method, "bayes") == 0 ? "0.01:1000:log" : "0.01,0.1,1,100,1000",
                         NULL, &err);
    if (!rc && strcmp(method, "bayes") == 0)
        rc = rh_plan_set(plan, "budget.trials", "12", NULL, &err);
    if (!rc && at_most)
        rc = rh_plan_set(plan, "at_most", at_most, NULL, &err);
    if (!rc && also)
        rc = rh_plan_set(plan, "also", also, NULL, &err);
    if (!rc)
        rc = rh_plan_check(plan, &err);
    if (!rc)
        rc = rh_plan_settle(plan, log, &err);
    if (rc)
        fail_msg("%s", err.text);
    return plan;
}

// Stops a study after so many runs.
static int64_t most_runs = -1, seen_runs;

static void see(void *unused, const rh_study_progress *progress)
{
    (void)unused;
    if (progress->stage != RH_STAGE_FIT)
        seen_runs = progress->nrun - progress->nrun_resumed;
}

static bool is_enough(void *unused)
{
    (void)unused;
    return most_runs >= 0 && seen_runs >= most_runs;
}

static rh_status carry_out(const rh_plan *plan, const rh_log *log, const char *name,
                           int nthread, rh_study **out, rh_error *err)
{
    static char path[128]; // a study borrows it
    rh_study_options opt = rh_study_defaults();
    snprintf(path, sizeof path, "%s/%s", folder, name ? name : "");
    opt.folder = name ? path : NULL;
    opt.nthread = nthread;
    opt.progress = see;
    opt.stop = is_enough;
    seen_runs = 0;
    rh_study *study = NULL;
    rh_status rc = rh_study_create(&study, plan, log, NULL, NULL, &opt, err);
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
    rh_study *study = NULL;
    rh_error err = {""};
    most_runs = -1;
    if (carry_out(plan, log, name, nthread, &study, &err))
        fail_msg("%s", err.text);
    return study;
}

// The bytes of a file of a study, to be freed; NULL: there is none.
static char *contents(const char *name, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
    FILE *in = fopen(path, "r");
    if (!in)
        return NULL;
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
    fclose(in);
    return text;
}

static double rate_of(const rh_verdict *v)
{
    return v->trial[v->winner].kept[0].rate;
}

// Fewer than ten events in a log are few; a log without trials says nothing.
static void few_in_the_log(void **unused)
{
    (void)unused;
    static const struct {
        int64_t n, of;
        const char *says;
    } all[] = {{0, 0, NULL},
               {0, 50, "never has trip"},
               {1, 50, "has trip only 1 time"},
               {9, 3000, "has trip only 9 times"},
               {10, 10, NULL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char often[RH_LIMITS__OFTEN] = "";
        rh_limited of = {.limit = {.event = "trip"},
                         .logged = {.n = all[i].n, .of = all[i].of}};
        assert_int_equal(rh_limits__hardly_seen(&of, often), all[i].says != NULL);
        assert_string_equal(often, all[i].says ? all[i].says : "");
    }
}

// What is advised where the agent's defaults score more.
static const char *advice_of(rh_study *study)
{
    rh_findings *all = &study->verdict.findings;
    study->verdict.today.defaults.lo95 = study->verdict.today.learning.score + 1.0;
    rh_findings__clear(all);
    assert_int_equal(rh_study__findings(study), RH_OK);
    for (int i = 0; i < all->n; i++)
        if (all->item[i].id == RH_FINDING_DEFAULTS_BETTER)
            return all->item[i].remedy;
    return "";
}

#define HALF "x > 3: 60 %"

// Without the limit the greedy setting wins, which is at x = 5 nearly always; with it another.
static void the_winner_keeps_the_limit(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"grid", "race", "bayes"};
    rh_log *log = plant(0);
    for (int i = 0; i < 3; i++) {
        rh_plan *plain = plan_of(log, methods[i], NULL, NULL),
                *limited = plan_of(log, methods[i], HALF, NULL),
                *free_ = plan_of(log, methods[i], "x > 3: 100 %", NULL);
        rh_study *a = finish(plain, log, NULL, 2), *b = finish(limited, log, NULL, 2),
                 *c = finish(free_, log, NULL, 2);
        const rh_verdict *v = rh_study_verdict(a), *w = rh_study_verdict(b),
                         *u = rh_study_verdict(c);
        assert_true(w->winner >= 0);
        assert_true(u->winner >= 0);
        // a limit that nothing can break changes nothing, but for which settings of many are
        // confirmed
        if (i < 2)
            assert_int_equal(v->trial[v->winner].setting, u->trial[u->winner].setting);
        assert_true(rate_of(u) > 0.65);
        assert_true(rate_of(w) < 0.6);
        assert_true(w->trial[w->winner].kept[0].upper <= 0.6);
        assert_true(w->trial[w->winner].keeps);
        assert_true(w->limiting.nkeep >= 1);
        assert_near(u->limiting.of[0].cost, 0.0, 0.0);
        // what it costs: against the best confirmed setting
        const rh_limited *of = &w->limiting.of[0];
        assert_true(of->cost > 0.0);
        assert_true(of->without >= 0);
        assert_true(!w->trial[of->without].keeps);
        assert_near(of->cost, w->trial[of->without].value - w->trial[w->winner].value, 1e-9);
        assert_non_null(strstr(w->limiting.text, "Yes (95 % sure): x > 3 "));
        assert_non_null(strstr(w->limiting.text, "Without the limit of x > 3, setting "));
        assert_null(strstr(w->limiting.text, "too seldom")); // the log has many
        assert_string_equal(v->limiting.text, "");
        assert_non_null(strstr(advice_of(a), "deploy the defaults, or "));
        assert_null(strstr(advice_of(b), "deploy"));
        assert_non_null(strstr(advice_of(b), "not shown to keep the limits"));
        rh_study_destroy(a);
        rh_study_destroy(b);
        rh_study_destroy(c);
        rh_plan_destroy(plain);
        rh_plan_destroy(limited);
        rh_plan_destroy(free_);
    }
    rh_log_destroy(log);
}

static void no_setting_keeps_it(void **unused)
{
    (void)unused;
    rh_log *log = plant(0);
    rh_plan *plan = plan_of(log, "grid", "x > 3: 20 %", NULL);
    rh_study *study = finish(plan, log, "none", 2);
    const rh_verdict *v = rh_study_verdict(study);
    assert_int_equal(v->winner, -1);
    assert_true(v->limiting.nearest >= 0);
    assert_true(!v->limiting.logged);
    assert_true(v->limiting.nkeep == 0);
    assert_non_null(strstr(v->limiting.text, "No setting keeps it. The nearest, setting "));
    assert_non_null(strstr(v->limiting.text, "The logged controller, in the log: x > 3 "));
    assert_string_equal(v->today.text, "No: no setting that was tried keeps the limits.");
    assert_null(contents("none", "best.yaml"));
    char *json = rh_study_json(study);
    assert_non_null(strstr(json, "\"keep\": 0"));
    rh_free(json);
    rh_study_destroy(study);
    rh_plan_destroy(plan);

    // the controller of a log without any keeps it
    plan = plan_of(log, "grid", "x > 3: 20 %; y > 1: 5 %", NULL);
    study = finish(plan, log, NULL, 1);
    v = rh_study_verdict(study);
    assert_true(v->limiting.of[1].logged.keeps);
    assert_true(!v->limiting.logged);
    assert_true(v->trial[v->limiting.nearest].kept[1].keeps);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

// What neither log nor model can count is refused before a run.
static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *at_most, *why;
    } known[] = {
        {"trip: 1 %", "at_most: trip: not known what a failure is: "},
        {"terminal: 1 %", "at_most: terminal: episodes never end in this task"},
        {"x > 3: 1 % of episodes", "at_most: x > 3: episodes never end in this task"},
    };
    rh_log *log = plant(0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        rh_error err = {""};
        rh_plan *plan = plan_of(log, "grid", known[i].at_most, NULL);
        assert_int_equal(carry_out(plan, log, NULL, 1, NULL, &err), RH_EINVAL);
        if (strncmp(err.text, known[i].why, strlen(known[i].why)) != 0)
            fail_msg("%s", err.text);
        rh_plan_destroy(plan);
    }
    rh_log_destroy(log);
}

static void assert_same(const char *a, const char *b)
{
    static const char *const file[] = {"best.yaml", "runs.csv"};
    for (int i = 0; i < 2; i++) {
        char *x = contents(a, file[i]), *y = contents(b, file[i]);
        assert_true(x);
        assert_true(y);
        assert_string_equal(x, y);
        free(x);
        free(y);
    }
}

#define BOTH HALF "; trip: 900 per 1000 steps"

static void stopped_and_resumed(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"race", "bayes"};
    rh_log *log = plant(9);
    for (int i = 0; i < 2; i++) {
        char whole[32], part[32];
        rh_error err = {""};
        rh_plan *plan = plan_of(log, methods[i], BOTH, "x; -reward");
        snprintf(whole, sizeof whole, "whole-%d", i);
        snprintf(part, sizeof part, "part-%d", i);
        rh_study_destroy(finish(plan, log, whole, 3));
        int stops = 0;
        for (most_runs = 5;; most_runs = 3 + most_runs % 11, stops++) {
            rh_status rc = carry_out(plan, log, part, 1 + stops % 2, NULL, &err);
            if (rc == RH_OK)
                break;
            assert_int_equal(rc, RH_ESTOPPED);
        }
        assert_true(stops > 3);
        most_runs = -1;
        assert_same(whole, part);
        char *journal = contents(whole, "study.log"), *best = contents(whole, "best.yaml");
        assert_non_null(strstr(journal, "\"system_attr\":{\"constraints\":["));
        assert_non_null(strstr(journal, ",\"over\":["));
        assert_non_null(strstr(journal, ",\"also\":["));
        assert_non_null(strstr(best, "    - {event: \"x > 3\", formula: \"next[0] > 3\", unit: "
                                     "\"% of steps\", most: 60"));
        assert_non_null(
            strstr(best, "    - {event: \"trip\", unit: \"per 1000 steps\", most: "));
        free(journal);
        free(best);
        rh_plan_destroy(plan);
    }

    // another limit is another study
    rh_error err = {""};
    rh_plan *other = plan_of(log, "race", "trip: 1 %", "x; -reward");
    assert_int_equal(carry_out(other, log, "whole-0", 1, NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "at_most"));
    rh_plan_destroy(other);
    rh_log_destroy(log);
}

// The front: of x and -x with the reward, which is 1 where x is 5.
static void further_scores(void **unused)
{
    (void)unused;
    rh_log *log = plant(0);
    rh_plan *plan = plan_of(log, "grid", NULL, "x; -x");
    rh_study *study = finish(plan, log, NULL, 2);
    const rh_verdict *v = rh_study_verdict(study);
    assert_int_equal(v->limiting.nalso, 2);
    int nfront = 0;
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        // an episode's sum of x is five times its reward
        assert_near(t->also[0].score, 5.0 * t->value, 1e-9);
        assert_near(t->also[1].score, -t->also[0].score, 1e-9);
        nfront += t->front;
    }
    assert_int_equal(nfront, v->nconfirm); // none is better in all three
    assert_true(isfinite(v->limiting.today[0].score));
    rh_study_destroy(study);
    rh_plan_destroy(plan);

    plan = plan_of(log, "grid", NULL, "2*reward");
    study = finish(plan, log, NULL, 2);
    v = rh_study_verdict(study);
    double best = -INFINITY;
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++)
        best = fmax(best, v->trial[i].value);
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++)
        assert_int_equal(v->trial[i].front, v->trial[i].value == best);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

static void without_memory(void **unused)
{
    (void)unused;
    rh_log *log = plant(9);
    rh_plan *plan = plan_of(log, "race", BOTH, "x");
    int64_t live = rh_base__alloc_live();
    int failures = 0;
    for (int64_t n = 1;; n += 1 + n / 12) {
        rh_error err = {""};
        rh_base__alloc_fail_at(n);
        rh_status rc = carry_out(plan, log, NULL, 2, NULL, &err);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_read),      cmocka_unit_test(many_are_read),
        cmocka_unit_test(steps_are_measured),  cmocka_unit_test(bounds),
        cmocka_unit_test(bounds_hold),         cmocka_unit_test(of_the_log),
        cmocka_unit_test(few_in_the_log),      cmocka_unit_test(the_winner_keeps_the_limit),
        cmocka_unit_test(no_setting_keeps_it), cmocka_unit_test(refused),
        cmocka_unit_test(stopped_and_resumed), cmocka_unit_test(further_scores),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
