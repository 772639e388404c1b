// plan_table.c - every key of a plan: one row each.
//
// A row is all there is to say about a key. The study file and the command line are read by it;
// --help, the manual page, completions, --dry-run and the key reference are printed from it. A
// new key is a row here and a field in plan.h.
//
// 1. The order of the rows is the order of the entries, in --dry-run and in a study's journal.
// 2. `auto` selects the default where a number could not: 0 is a value like any other.
// 3. metric.goal can only be maximize. W&B assumes minimize, which would choose the worst.

#include "eval/eval.h"
#include "log/log.h"
#include "plan.h"
#include "rehearse/plugin.h"
#include "repr/repr.h"
#include "study.h"
#include "study_internal.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define MOST_STEPS INT64_C(1000000000000) // a month of computing, and far from overflow
#define MANY 1000000

#define FIELD(name) .key.at = offsetof(rh_plan, name), .key.size = sizeof((rh_plan *)0)->name

enum {
    FIT = RH_PLAN_FIT,
    RUN = RH_PLAN_RUN,
    SWEEP = RH_PLAN_SWEEP,
    TUNE = RH_PLAN_TUNE,
    RUNS = RUN | SWEEP,
    ALL = FIT | RUNS | TUNE
};

// ---------------------------------------------------------------------------- names

// A registry: the name of its i-th entry, and the entry of a name.
#define REGISTRY(word, ntype, type_at, find)                                                   \
    static const char *word##_name(int i)                                                      \
    {                                                                                          \
        return i < ntype() ? type_at(i)->name : NULL;                                          \
    }                                                                                          \
    static const void *find_##word(const char *name, rh_error *err)                            \
    {                                                                                          \
        return find(name, err);                                                                \
    }
static const char *agent_name(int i)
{
    return i < rh_agent_ntype() ? rh_agent_type_at(i)->name : NULL;
}
REGISTRY(env, rh_env_ntype, rh_env_type_at, rh_plugin_env)
REGISTRY(method, rh_search_ntype, rh_search_type_at, rh_search_find)
REGISTRY(one_model, rh_model_ntype, rh_model_type_at, rh_model_find)
REGISTRY(one_repr, rh_repr_ntype, rh_repr_type_at, rh_repr_find)
REGISTRY(repr_preset, rh_repr__npreset, rh_repr_preset__at, rh_repr_preset__find)

static const char *model_name(int i)
{
    return i == rh_model_ntype() ? "auto" : one_model_name(i);
}

static const char *repr_name(int i)
{
    return i == rh_repr_ntype() ? "auto" : one_repr_name(i);
}

// The names of an enum of another module.
#define NAMES(word, names)                                                                     \
    static const char *word##_name(int i)                                                      \
    {                                                                                          \
        int n;                                                                                 \
        const char *const *known = names(&n);                                                  \
        return i < n ? known[i] : NULL;                                                        \
    }
NAMES(criterion, rh_criterion__names)
NAMES(across, rh_across__names)
NAMES(pool, rh_pool__names)

static const char *const cutoff_rules[] = {
    [RH_TRUNCATE] = "truncate", [RH_TERMINATE] = "terminate", NULL};
static const char *const resamples[] = {[RH_RESAMPLE_ALL] = "all",
                                        [RH_RESAMPLE_SUBSET] = "subset",
                                        [RH_RESAMPLE_BOOTSTRAP] = "bootstrap",
                                        [RH_RESAMPLE_PARTS] = "parts",
                                        NULL};
static const char *const continuing[] = {[RH_EPISODES_AUTO] = "auto",
                                         [RH_EPISODES_END] = "no",
                                         [RH_EPISODES_CONTINUE] = "yes",
                                         NULL};
static const char *const resets[] = {
    [RH_RESETS_AUTO] = "auto", [RH_RESETS_NONE] = "none", NULL};
static const char *const circles[] = {"no", "yes", NULL};
static const char *const rankings[] = {
    [RH_RANKING__SOUND] = "sound", [RH_RANKING__VALUE] = "value", NULL};
static const char *const verdicts[] = {"none", "quick", NULL};
static const char *const intervals[] = {
    [RH_INTERVAL__ALL] = "all", [RH_INTERVAL__RUNS] = "runs", NULL};

// ---------------------------------------------------------------------------- own forms

// Like a plug-in, it is no entry of the plan: a study resumed with another one is the same.
static rh_status read_timeout(void *plan, const rh_key__said *said, rh_error *err)
{
    double seconds = 0.0;
    (void)plan;
    bool good = rh_yaml__number(said->value, &seconds);
    return good && !rh_plugin_set_timeout(seconds, NULL)
               ? RH_OK
               : rh_key__refuse(said, NULL, "", err, "above 0, to 86,400 seconds");
}

static rh_status read_time(void *field, const rh_key__said *said, rh_error *err)
{
    *(double *)field = 0.0;
    return strcmp(rh_key__text(said), "none") == 0 ||
                   rh_log__duration(rh_key__text(said), field)
               ? RH_OK
               : rh_key__refuse(said, NULL, "", err, "a time such as 90s, 10m or 2h, or none");
}

static void show_time(const void *field, rh_text *text)
{
    double time = *(const double *)field;
    if (time > 0.0)
        rh_text__format(text, "%.17g", time);
    else
        rh_text__add(text, "none");
}

// Its environment may be named later; what is wrong without one is refused at once.
static rh_status read_grid(void *into, const rh_key__said *said, rh_error *err)
{
    const rh_plan *plan = into;
    const rh_env_type *env;
    const char *name, *text = rh_key__text(said);
    bool later = *text && !strchr(text, ':') && plan->command == RH_PLAN_SWEEP;
    return later ? RH_OK : rh_plan__check_grid(said, NULL, NULL, &env, &name, err);
}

// One of the criteria, or what W&B users call the average.
static rh_status read_criterion(void *field, const rh_key__said *said, rh_error *err)
{
    const char *known[RH_KEY__NAMES];
    int n = 0, at = 0;
    for (; n < RH_KEY__NAMES - 1 && criterion_name(n); n++)
        known[n] = criterion_name(n);
    known[n] = "mean_return";
    rh_status rc = rh_key__choose(&at, said, known, n + 1, err);
    if (!rc)
        *(rh_criterion *)field = at == n ? RH_AVERAGE : (rh_criterion)at;
    return rc;
}

static rh_status read_goal(void *plan, const rh_key__said *said, rh_error *err)
{
    const char *text = rh_key__text(said);
    (void)plan;
    if (strcmp(text, "maximize") == 0 || strcmp(text, "maximise") == 0)
        return RH_OK;
    if (strcmp(text, "minimize") != 0 && strcmp(text, "minimise") != 0)
        return rh_key__refuse(said, NULL, "", err, "maximize");
    return rh_key__blame(said, NULL, err,
                         "metric.goal = minimize: returns are maximised; where less is "
                         "better, negate the reward (reward: -energy)");
}

// auto, never, a number of steps, or a part of the run such as 1/30.
static rh_status read_cutoff(void *field, const rh_key__said *said, rh_error *err)
{
    static const char expected[] =
        "auto, never, a number of steps such as 500, or a part of the run such as 1/30";
    int64_t *cutoff = field;
    uint64_t n = 0;
    const char *text = rh_key__text(said);
    if (strcmp(text, "auto") == 0 || strcmp(text, "never") == 0) {
        *cutoff = *text == 'a' ? 0 : INT64_MAX;
        return RH_OK;
    }
    rh_yaml part = *said->value;
    bool is_part = rh_plan__behind(text, "1/") != NULL;
    if (is_part)
        part.text += 2;
    if (!rh_yaml__whole(&part, &n) || n < 1 || n > (is_part ? MANY : (uint64_t)MOST_STEPS))
        return rh_key__refuse(said, NULL, "", err, expected);
    *cutoff = is_part ? -(int64_t)n : (int64_t)n;
    return RH_OK;
}

static void show_cutoff(const void *field, rh_text *text)
{
    int64_t cutoff = *(const int64_t *)field;
    if (cutoff == 0 || cutoff == INT64_MAX)
        rh_text__add(text, cutoff == 0 ? "auto" : "never");
    else
        rh_text__format(text, "%s%" PRId64, cutoff < 0 ? "1/" : "",
                        cutoff < 0 ? -cutoff : cutoff);
}

// true, false, or a number of settings.
static rh_status read_confirm(void *field, const rh_key__said *said, rh_error *err)
{
    int *settings = field;
    bool yes;
    uint64_t n;
    if (rh_yaml__truth(said->value, &yes))
        *settings = yes ? -1 : 0;
    else if (rh_yaml__whole(said->value, &n) && n <= RH_STUDY__MOST_CONFIRM)
        *settings = (int)n;
    else
        return rh_key__refuse(said, NULL, "", err,
                              "true, false or a number of settings, 0 to 1,000");
    return RH_OK;
}

// Whether the choice is judged: the runs of the check are as many as usual, or none.
static rh_status read_verdict(void *field, const rh_key__said *said, rh_error *err)
{
    int at = 0;
    rh_status rc = rh_key__choose(&at, said, verdicts, 2, err);
    if (!rc)
        *(int *)field = at == 0 ? 0 : -1;
    return rc;
}

// The bit of a kind of model; 0: no such name.
static int kind_of(const char *name, size_t n)
{
    for (int i = 0; rh_kinds__name(i); i++)
        if (strlen(rh_kinds__name(i)) == n && strncmp(rh_kinds__name(i), name, n) == 0)
            return RH_KINDS__FIRST << i;
    return 0;
}

// auto, chosen, or names of kinds between commas or spaces.
static rh_status read_kinds(void *field, const rh_key__said *said, rh_error *err)
{
    static const char expected[] =
        "auto, chosen, or kinds of model: stitching, carrying, network, linear";
    const char *at = rh_key__text(said);
    int kinds = 0;
    bool good = *at != '\0';
    if (strcmp(at, "auto") == 0 || strcmp(at, "chosen") == 0) {
        *(int *)field = *at == 'a' ? RH_KINDS__AUTO : RH_KINDS__CHOSEN;
        return RH_OK;
    }
    while (*at && good) {
        size_t n = strcspn(at, ", ");
        good = kind_of(at, n) != 0;
        kinds |= kind_of(at, n);
        at += n;
        at += strspn(at, ", ");
    }
    if (!good)
        return rh_key__refuse(said, NULL, "", err, expected);
    *(int *)field = kinds;
    return RH_OK;
}

static void show_kinds(const void *field, rh_text *text)
{
    int kinds = *(const int *)field;
    bool any = false;
    if (kinds < RH_KINDS__FIRST)
        rh_text__add(text, kinds == RH_KINDS__AUTO ? "auto" : "chosen");
    for (int i = 0; rh_kinds__name(i); i++)
        if (kinds & (RH_KINDS__FIRST << i)) {
            rh_text__format(text, "%s%s", any ? "," : "", rh_kinds__name(i));
            any = true;
        }
}

// ---------------------------------------------------------------------------- conditions

static bool is_method(const rh_plan *plan, const char *name)
{
    return strcmp(plan->method->name, name) == 0;
}

static bool is_bayes(const rh_plan *plan)
{
    return is_method(plan, "bayes") || is_method(plan, "bayes_opt");
}

// The settings tried first do not depend on how many follow.
static bool can_grow(const rh_plan *plan)
{
    return is_bayes(plan) || is_method(plan, "random");
}

static bool is_endless(const rh_plan *plan)
{
    return !plan->method->finite;
}

static bool has_subsets(const rh_plan *plan)
{
    return plan->fit.resample == RH_RESAMPLE_SUBSET;
}

static bool has_task(const rh_plan *plan)
{
    return plan->task_of != NULL;
}

static bool has_env(const rh_plan *plan)
{
    return plan->env != NULL;
}

static bool repr_is_set(const rh_plan *plan)
{
    return !plan->repr_open;
}

static bool has_no_circles(const rh_plan *plan)
{
    return !plan->circles;
}

static bool ranks_by_value(const rh_plan *plan)
{
    return plan->ranking == RH_RANKING__VALUE;
}

static bool has_narrow_intervals(const rh_plan *plan)
{
    return plan->confirm_settings > 0 && plan->interval == RH_INTERVAL__RUNS;
}

static bool confirms(const rh_plan *plan)
{
    return plan->confirm_settings > 0;
}

static bool has_limits(const rh_plan *plan)
{
    return plan->at_most;
}

static bool has_also(const rh_plan *plan)
{
    return plan->also;
}

static bool practises(const rh_plan *plan)
{
    return rh_plan__practising(plan) >= 0;
}

// ---------------------------------------------------------------------------- the table

static const rh_plan__row row[] = {
    {.key.is = {"name", NULL, 0, RH_KEY_TEXT, NULL, "name of the study", .commands = TUNE},
     FIELD(name)},
    {.key.is = {"plugins", NULL, 0, RH_KEY_TEXT, NULL,
                "plug-ins with agents and environments: a path or a list of paths; as --plugin",
                .commands = ALL},
     .key.read = rh_plan__read_plugins},
    {.key.is = {"data", NULL, 0, RH_KEY_FILE, NULL, "the log, or model:FILE, a fitted model",
                .commands = ALL},
     FIELD(data)},
    {.key.is = {"starts", "starts", 0, RH_KEY_FILE, "LOG",
                "a second log; runs start where its episodes start", "as in the log",
                .commands = FIT | TUNE, .group = RH_KEY_MODEL},
     FIELD(starts),
     .fit = true},
    {.key.is = {"accept", "accept", 0, RH_KEY_TEXT, "ERRORS",
                "errors of the log to accept, by name: row-shift,next-shift", "none",
                .repeats = true, .commands = FIT | TUNE, .group = RH_KEY_MAIN},
     FIELD(accept),
     .key.read = rh_plan__read_accept,
     .key.show = rh_plan__show_accept,
     .when = rh_plan__accepts,
     .open = rh_plan__accepts},
    {.key.is = {"env.name", NULL, 0, RH_KEY_CHOICE, NULL, "the simulator to run in",
                .name = env_name, .list = "envs", .commands = RUNS, .group = RH_KEY_TASK},
     FIELD(env),
     .key.find = find_env,
     .when = has_env},
    {.key.is = {"env.*", "env-set", 'e', RH_KEY_PAIRS, "NAME=VALUE",
                "an option of the simulator, or a parameter of the model", .list = "envs",
                .commands = RUNS, .group = RH_KEY_TASK}},
    {.key.is = {"preset", "preset", 0, RH_KEY_CHOICE, "NAME",
                "paper: the settings of the paper for the environment of --task; other options "
                "override them",
                "none", .name = rh_plan__preset_name, .commands = FIT | TUNE,
                .group = RH_KEY_MODEL},
     FIELD(preset)},
    {.key.is =
         {"agent.name", "agent", 'a', RH_KEY_CHOICE, "NAME",
          "the agent; tune compares several, dqn,esarsa, or those that suit the log, auto, "
          "its default",
          .name = agent_name, .list = "agents", .commands = RUNS | TUNE, .group = RH_KEY_MAIN},
     FIELD(agents),
     .key.read = rh_plan__read_agents,
     .key.show = rh_plan__show_agents},
    {.key.is = {"agent.*", NULL, 0, RH_KEY_PAIRS, NULL, "a hyperparameter with one value",
                "as `rehearse list agents NAME` shows", .list = "agents",
                .commands = RUNS | TUNE},
     .enter = rh_plan__enter_fixed},
    {.key.is = {"grid", "grid", 'g', RH_KEY_TEXT, "ENV:NAME",
                "a published grid, such as acrobot:paper; in a simulator also NAME, one of its "
                "own grids",
                .list = "grids", .commands = SWEEP | TUNE, .group = RH_KEY_MAIN},
     .key.read = read_grid},
    {.key.is = {"parameters.*", "set", 's', RH_KEY_PAIRS, "NAME=VALUES",
                "value of a hyperparameter; in sweep and tune also a list, 0.1,0.3,1, or whole "
                "numbers, 1:8:int; in tune also a range, 0.01:1, 0.01:1:log or 0:1:0.25",
                "as `rehearse list agents NAME` shows; tune searches the usual ranges",
                .list = "agents", .commands = RUNS | TUNE, .group = RH_KEY_MAIN},
     .enter = rh_plan__enter_space},
    {.key.is = {"method", "method", 0, RH_KEY_CHOICE, "NAME", "the search method",
                "race for up to 512 settings, otherwise bayes", .name = method_name,
                .list = "methods", .commands = TUNE, .group = RH_KEY_SEARCH},
     FIELD(method),
     .key.find = find_method},
    {.key.is = {"method.*", "method-set", 0, RH_KEY_PAIRS, "NAME=VALUE",
                "a parameter of the method", "as `rehearse list methods NAME` shows",
                .list = "methods", .commands = TUNE, .group = RH_KEY_SEARCH},
     .enter = rh_plan__enter_method},
    {.key.is = {"ranking", NULL, 0, RH_KEY_CHOICE, NULL,
                "how settings are ranked: sound (those with diverged runs last) or value (by "
                "value alone, ties drawn at random)",
                "sound", .words = rankings, .commands = TUNE},
     FIELD(ranking),
     .when = ranks_by_value},
    {.key.is = {"budget.trials", "trials", 't', RH_KEY_WHOLE, "N", "settings to try",
                "100; grid and race try all", 1, MANY, .commands = TUNE, .group = RH_KEY_MAIN},
     FIELD(trials),
     .when = is_endless,
     .open = can_grow},
    {.key.is = {"budget.time", "within", 0, RH_KEY_TEXT, "TIME",
                "search until the study takes so long: 90s, 10m, 2h; --trials is then the most",
                "none", .commands = TUNE, .group = RH_KEY_MAIN},
     FIELD(time),
     .key.read = read_time,
     .key.show = show_time,
     .when = is_endless,
     .open = is_endless},
    {.key.is = {"budget.batch", "batch", 0, RH_KEY_WHOLE, "N",
                "settings that bayes proposes at a time; use more on more machines", "4", 1,
                10000, .commands = TUNE, .group = RH_KEY_SEARCH},
     FIELD(batch),
     .when = is_bayes},
    {.key.is = {"metric.goal", NULL, 0, RH_KEY_TEXT, NULL, "maximize", "maximize",
                .commands = TUNE},
     .key.read = read_goal},
    {.key.is = {"evaluation.steps", "steps", 'n', RH_KEY_WHOLE, "N", "steps of a run",
                "the task's own", 1, MOST_STEPS, .commands = RUNS | TUNE, .group = RH_KEY_MAIN},
     FIELD(nstep),
     .key.or_auto = true},
    {.key.is = {"evaluation.runs", "runs", 'r', RH_KEY_WHOLE, "N",
                "runs per setting, each with its own random streams",
                "30; tune 10, with race up to 30", 1, MANY, .commands = RUNS | TUNE,
                .group = RH_KEY_MAIN},
     FIELD(nrun)},
    {.key.is = {"evaluation.criterion", "criterion", 'c', RH_KEY_CHOICE, "NAME",
                "score of a run", "average", .name = criterion_name, .commands = RUNS | TUNE,
                .group = RH_KEY_EVALUATION},
     FIELD(criterion),
     .key.read = read_criterion},
    {.key.is = {"evaluation.across", "across", 0, RH_KEY_CHOICE, "HOW",
                "combine the scores of runs; lower: end of the 95 % interval", "mean",
                .name = across_name, .commands = TUNE, .group = RH_KEY_EVALUATION},
     FIELD(across)},
    {.key.is = {"evaluation.pool", "pool", 0, RH_KEY_CHOICE, "HOW",
                "combine the values in the members of a model", "mean", .name = pool_name,
                .commands = RUNS | TUNE, .group = RH_KEY_EVALUATION},
     FIELD(pool)},
    {.key.is = {"evaluation.cutoff", "cutoff", 0, RH_KEY_TEXT, "N",
                "cut an episode off after N steps; 1/30: after a part of the run; or never",
                "simulators never; models the log's own time limit, or the larger of 1/30 of "
                "the run and twice the log's median episode",
                .commands = RUNS | TUNE, .group = RH_KEY_EVALUATION},
     FIELD(cutoff),
     .key.read = read_cutoff,
     .key.show = show_cutoff},
    {.key.is = {"evaluation.cutoff_as", "cutoff-as", 0, RH_KEY_CHOICE, "RULE",
                "what the agent is told at a cut-off", "truncate", .words = cutoff_rules,
                .commands = RUNS | TUNE, .group = RH_KEY_EVALUATION},
     FIELD(cutoff_rule)},
    {.key.is = {"evaluation.curve", "curve", 0, RH_KEY_WHOLE, "N",
                "points of a learning curve in the study's journal", "20", 0, RH_STUDY__NCURVE,
                .commands = TUNE, .group = RH_KEY_EVALUATION},
     FIELD(ncurve)},
    {.key.is =
         {"model.kind", "model", 'm', RH_KEY_CHOICE, "KIND",
          "the calibration model; auto: the one that replays held-out parts of the log best",
          "auto", .name = model_name, .list = "models", .commands = FIT | TUNE,
          .group = RH_KEY_MODEL},
     FIELD(model),
     .key.find = find_one_model,
     .key.or_auto = true,
     .fit = true},
    {.key.is = {"model.k", "k", 'k', RH_KEY_TEXT, "N", "neighbours that a step is drawn from",
                "3", .commands = FIT | TUNE, .group = RH_KEY_MODEL},
     .fit = true},
    {.key.is =
         {"model.reach", "reach", 0, RH_KEY_TEXT, "HOW",
          "coverage radius: auto, none, a quantile of all queries (99%) or a distance (0.3)",
          "auto", .commands = FIT | TUNE, .group = RH_KEY_MODEL},
     .fit = true},
    {.key.is = {"model.*", "model-set", 0, RH_KEY_PAIRS, "NAME=VALUE",
                "a parameter of the model", "as `rehearse list models NAME` shows",
                .list = "models", .commands = FIT | TUNE, .group = RH_KEY_MODEL},
     .enter = rh_plan__enter_model,
     .fit = true},
    {.key.is = {"model.members", "members", 0, RH_KEY_WHOLE, "N",
                "models in the ensemble, each fitted to another part of the log", "1", 1,
                RH_MAX_MEMBER, .commands = FIT | TUNE, .group = RH_KEY_MODEL},
     FIELD(fit.nmember),
     .fit = true},
    {.key.is = {"model.resample", "resample", 0, RH_KEY_CHOICE, "HOW",
                "what each member is fitted to: all steps, a random subset of the steps, a "
                "bootstrap of the episodes, or consecutive parts of the log",
                "all; with several members subset", .words = resamples, .commands = FIT | TUNE,
                .group = RH_KEY_MODEL},
     FIELD(fit.resample),
     .fit = true},
    {.key.is = {"model.share", "share", 0, RH_KEY_REAL, "SHARE",
                "share of the steps in a subset", "0.9", 0, 1, .commands = FIT | TUNE,
                .group = RH_KEY_MODEL},
     FIELD(fit.share),
     .key.above = true,
     .fit = true,
     .when = has_subsets},
    {.key.is = {"representation.kind", "repr", 0, RH_KEY_CHOICE, "KIND",
                "the representation of states; auto: the one that predicts the dynamics best",
                "chosen with the model", .name = repr_name, .list = "representations",
                .commands = FIT | TUNE, .group = RH_KEY_MODEL},
     FIELD(repr),
     .key.find = find_one_repr,
     .key.or_auto = true,
     .when = repr_is_set,
     .fit = true},
    {.key.is = {"representation.preset", "repr-preset", 0, RH_KEY_CHOICE, "NAME",
                "the parameters of the paper", .name = repr_preset_name,
                .list = "representations", .commands = FIT | TUNE, .group = RH_KEY_MODEL},
     .key.find = find_repr_preset,
     .fit = true},
    {.key.is = {"representation.*", "repr-set", 0, RH_KEY_PAIRS, "NAME=VALUE",
                "a parameter of the representation",
                "as `rehearse list representations NAME` shows", .list = "representations",
                .commands = FIT | TUNE, .group = RH_KEY_MODEL},
     .enter = rh_plan__enter_repr,
     .fit = true},
    {.key.is = {"representation.joint", "joint", 0, RH_KEY_FLAG, NULL,
                "represent state and continuous action together", "no", .commands = FIT | TUNE,
                .group = RH_KEY_MODEL},
     FIELD(joint),
     .fit = true},
    {.key.is = {"representation.circles", NULL, 0, RH_KEY_CHOICE, NULL,
                "represent sensors that wrap round as points on a circle", "yes",
                .words = circles, .commands = FIT | TUNE},
     FIELD(circles),
     .fit = true,
     .when = has_no_circles},
    {.key.is = {"task.env", "task", 0, RH_KEY_CHOICE, "ENV",
                "use the sensor ranges, actions, discount and run length of this environment",
                "what the log shows", .name = env_name, .list = "envs", .commands = FIT | TUNE,
                .group = RH_KEY_TASK},
     FIELD(task_of),
     .key.find = find_env,
     .when = has_task,
     .fit = true},
    {.key.is = {"task.*", "env-set", 'e', RH_KEY_PAIRS, "NAME=VALUE",
                "an option of the environment of --task", .list = "envs",
                .commands = FIT | TUNE, .group = RH_KEY_TASK},
     .enter = rh_plan__enter_task,
     .when = has_task,
     .fit = true},
    {.key.is = {"at_most", "at-most", 0, RH_KEY_TEXT, "LIMIT",
                "what a setting may do at most while it learns: 'trip: 2 per 1000 steps', 'T > "
                "90: 0.1 %', 'T > 90: 5 % of episodes'",
                .repeats = true, .commands = TUNE, .group = RH_KEY_MAIN},
     FIELD(at_most),
     .key.read = rh_plan__read_pieces,
     .key.show = rh_plan__show_pieces,
     .when = has_limits},
    {.key.is = {"sure", "sure", 0, RH_KEY_REAL, "P",
                "confidence with which limits are kept in the models", "0.95", 0, 1,
                .commands = TUNE, .group = RH_KEY_EVALUATION},
     FIELD(sure),
     .key.above = true,
     .when = has_limits},
    {.key.is = {"also", "also", 0, RH_KEY_TEXT, "FORMULA",
                "a further score beside the reward, more is better: -energy", .repeats = true,
                .commands = TUNE, .group = RH_KEY_EVALUATION},
     FIELD(also),
     .key.read = rh_plan__read_pieces,
     .key.show = rh_plan__show_pieces,
     .when = has_also},
    {.key.is = {"gamma", "gamma", 0, RH_KEY_REAL, "G", "discount",
                "1 where episodes end, otherwise 0.99", 0, 1, .commands = FIT | TUNE,
                .group = RH_KEY_TASK},
     FIELD(fit.gamma),
     .key.or_auto = true,
     .fit = true},
    {.key.is = {"continuing", "continuing", 0, RH_KEY_CHOICE, "WORD",
                "whether episodes never end; auto: if none ends in the log", "auto",
                .words = continuing, .commands = FIT | TUNE, .group = RH_KEY_TASK},
     FIELD(fit.episodes),
     .fit = true},
    {.key.is = {"resets", "resets", 0, RH_KEY_CHOICE, "WORD",
                "whether to search a continuing log for steps that put the plant back to a "
                "start; not if the log marks terminal steps",
                "auto; none with preset paper", .words = resets, .commands = FIT | TUNE,
                .group = RH_KEY_TASK},
     FIELD(fit.resets),
     .fit = true},
    {.key.is = {"ranges.*", "range", 0, RH_KEY_PAIRS, "SENSOR=LO:HI",
                "range of a sensor, or of a continuous action",
                "as in the log or the simulator", .commands = ALL, .group = RH_KEY_TASK},
     .enter = rh_plan__enter_ranges,
     .fit = true},
    {.key.is = {"limits.*", "limit", 0, RH_KEY_PAIRS, "SENSOR=LO:HI",
                "limits of a sensor beyond which steps end, instead of those that the log "
                "shows; :HI and LO: give one of them",
                "as the log shows", .commands = FIT | TUNE, .group = RH_KEY_TASK},
     .enter = rh_plan__enter_limits,
     .fit = true},
    {.key.is = {"confirm", "confirm", 0, RH_KEY_TEXT, "N",
                "leading settings to run again, in models that the search has not seen", "8",
                .commands = TUNE, .group = RH_KEY_EVALUATION},
     .key.at = offsetof(rh_plan, confirm_settings),
     .key.read = read_confirm},
    {.key.is = {"confirm", "no-confirm", 0, RH_KEY_FLAG, NULL, "choose by the search alone",
                .fixed = "no", .commands = TUNE, .group = RH_KEY_EVALUATION},
     .key.at = offsetof(rh_plan, confirm_settings),
     .key.read = read_confirm},
    {.key.is = {"confirm.settings", NULL, 0, RH_KEY_WHOLE, NULL, "the same, in its section",
                "8", 0, RH_STUDY__MOST_CONFIRM, .commands = TUNE},
     FIELD(confirm_settings)},
    {.key.is = {"confirm.members", "confirm-members", 0, RH_KEY_WHOLE, "N",
                "models of each kind to confirm in", "5", 1, RH_MAX_MEMBER, .commands = TUNE,
                .group = RH_KEY_EVALUATION},
     FIELD(confirm_members),
     .when = confirms},
    {.key.is = {"confirm.runs", "confirm-runs", 0, RH_KEY_WHOLE, "N",
                "runs of a setting in each of them", "10", 1, MANY, .commands = TUNE,
                .group = RH_KEY_EVALUATION},
     FIELD(confirm_runs),
     .when = confirms,
     .open = confirms},
    {.key.is =
         {"confirm.kinds", "confirm-kinds", 0, RH_KEY_TEXT, "KINDS",
          "kinds of model to confirm in: auto (the model's own and all others that replay the "
          "log credibly), chosen (the model's own) or names: stitching, carrying, network, "
          "linear",
          "auto", .commands = TUNE, .group = RH_KEY_EVALUATION},
     FIELD(confirm_kinds),
     .key.read = read_kinds,
     .key.show = show_kinds,
     .when = confirms,
     .fit = true},
    {.key.is = {"confirm.interval", NULL, 0, RH_KEY_CHOICE, NULL,
                "what 95 % intervals allow for: all (runs, rare failures, the log, errors of "
                "the model) or runs",
                "all", .words = intervals, .commands = TUNE},
     FIELD(interval),
     .when = has_narrow_intervals},
    {.key.is = {"verdict", "verdict", 0, RH_KEY_CHOICE, "HOW",
                "how the choice is judged: quick, or none (no check and no trust)", "quick",
                .words = verdicts, .commands = TUNE, .group = RH_KEY_EVALUATION},
     .key.at = offsetof(rh_plan, check_runs),
     .key.read = read_verdict},
    {.key.is = {"check", "check", 0, RH_KEY_WHOLE, "N",
                "runs of each leading setting in each of several other models, on which the "
                "trust in the answer is based; 0: none",
                "3; 0 with preset paper", 0, MANY, .commands = TUNE,
                .group = RH_KEY_EVALUATION},
     FIELD(check_runs),
     .when = confirms,
     .open = confirms},
    {.key.is = {"practice", "practice", 0, RH_KEY_WHOLE, "N",
                "steps that an agent practises in a model of the log, for those that begin "
                "with that (start=model); 0: they begin with a clone of the controller",
                "30000", 0, MOST_STEPS, .commands = TUNE, .group = RH_KEY_EVALUATION},
     FIELD(practice),
     .when = practises},
    {.key.is = {"evaluation.exec_timeout", "exec-timeout", 0, RH_KEY_REAL, "SECONDS",
                "how long a program of exec:COMMAND may take for an answer", "10", 0,
                RH_PLUGIN_MOST_TIMEOUT, .commands = RUNS | TUNE, .group = RH_KEY_EVALUATION},
     .key.read = read_timeout},
    {.key.is = {"seed", "seed", 0, RH_KEY_WHOLE, "N", "random seed", "1", 0, INT64_MAX,
                .commands = ALL, .group = RH_KEY_MAIN},
     FIELD(seed)},
};
enum { NROW = sizeof row / sizeof *row };

const rh_plan__row *rh_plan__row_at(int i)
{
    return i >= 0 && i < NROW ? &row[i] : NULL;
}

const rh_key *rh_plan_key_at(int i)
{
    return i >= 0 && i < NROW ? &row[i].key.is : NULL;
}
