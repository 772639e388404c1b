// plan_table.c - every key of a plan: one row each.
//
// A row is all there is to say about a key. The study file and the command line are read by it;
// --help, the manual page, completions, --dry-run and the key reference are printed from it. A
// new key is a row here and a field in plan.h.
//
// 1. The order of the rows is the order of the entries, in --dry-run and in a study's journal.
// 2. `auto` selects the default where a number could not: 0 is a value like any other.
// 3. metric.goal can only be maximize. W&B assumes minimize, which would choose the worst.

#include "plan.h"
#include "rehearse/plugin.h"
#include "study_internal.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define MOST_STEPS INT64_C(1000000000000) // a month of computing, and far from overflow
#define MANY 1000000

#define FIELD(name) .field = offsetof(rh_plan, name), .size = sizeof((rh_plan *)0)->name

enum {
    FIT = RH_PLAN_FIT,
    RUN = RH_PLAN_RUN,
    SWEEP = RH_PLAN_SWEEP,
    TUNE = RH_PLAN_TUNE,
    RUNS = RUN | SWEEP,
    ALL = FIT | RUNS | TUNE
};

// ---------------------------------------------------------------------------- names

static const char *word_of(const char *const *word, int n, int i)
{
    return i < n ? word[i] : NULL;
}

static const char *agent_name(int i)
{
    return i < rh_agent_ntype() ? rh_agent_type_at(i)->name : NULL;
}

static const char *env_name(int i)
{
    return i < rh_env_ntype() ? rh_env_type_at(i)->name : NULL;
}

static const char *method_name(int i)
{
    return i < rh_search_ntype() ? rh_search_type_at(i)->name : NULL;
}

static const char *model_name(int i)
{
    return i < rh_model_ntype() ? rh_model_type_at(i)->name
                                : (i == rh_model_ntype() ? "auto" : NULL);
}

static const char *repr_name(int i)
{
    return i < rh_repr_ntype() ? rh_repr_type_at(i)->name
                               : (i == rh_repr_ntype() ? "auto" : NULL);
}

static const char *repr_preset_name(int i)
{
    return i < rh_repr_npreset() ? rh_repr_preset_at(i)->name : NULL;
}

static const char *criterion_name(int i)
{
    int n;
    const char *const *word = rh_criterion_names(&n);
    return word_of(word, n, i);
}

// The same, and what W&B users call the average.
static const char *metric_name(int i)
{
    int n;
    rh_criterion_names(&n);
    return i == n ? "mean_return" : criterion_name(i);
}

static const char *across_name(int i)
{
    int n;
    const char *const *word = rh_across_names(&n);
    return word_of(word, n, i);
}

static const char *pool_name(int i)
{
    int n;
    const char *const *word = rh_pool_names(&n);
    return word_of(word, n, i);
}

static const char *cutoff_rule_name(int i)
{
    static const char *const word[] = {
        [RH_TRUNCATE] = "truncate", [RH_TERMINATE] = "terminate"};
    return word_of(word, 2, i);
}

static const char *resample_name(int i)
{
    static const char *const word[] = {[RH_RESAMPLE_ALL] = "all",
                                       [RH_RESAMPLE_SUBSET] = "subset",
                                       [RH_RESAMPLE_BOOTSTRAP] = "bootstrap",
                                       [RH_RESAMPLE_PARTS] = "parts"};
    return word_of(word, 4, i);
}

static const char *continuing_name(int i)
{
    static const char *const word[] = {
        [RH_EPISODES_AUTO] = "auto", [RH_EPISODES_END] = "no", [RH_EPISODES_CONTINUE] = "yes"};
    return word_of(word, 3, i);
}

static const char *resets_name(int i)
{
    static const char *const word[] = {[RH_RESETS_AUTO] = "auto", [RH_RESETS_NONE] = "none"};
    return word_of(word, 2, i);
}

static const char *preset_name(int i)
{
    static const char *const word[] = {"none", "paper"};
    return word_of(word, 2, i);
}

// ---------------------------------------------------------------------------- kinds

static const char *text_of(const rh_plan__item *said)
{
    return said->value->kind == RH_YAML_TEXT ? said->value->text : "";
}

// Blame a kind that was not found, with the registry's own message.
static rh_status found(const void *kind, const rh_plan__item *said, const rh_error *why,
                       rh_error *err)
{
    if (kind)
        return RH_OK;
    return *text_of(said) ? rh_plan__blame(said, NULL, err, why->text)
                          : rh_plan__refuse(said, NULL, "", err, "a name");
}

static rh_status read_agent(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    rh_error why = {""};
    plan->agent = rh_plugin_agent(text_of(said), &why);
    return found(plan->agent, said, &why, err);
}

static rh_status read_env(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    rh_error why = {""};
    plan->env = rh_plugin_env(text_of(said), &why);
    return found(plan->env, said, &why, err);
}

// Like a plug-in, it is no entry of the plan: a study resumed with another one is the same.
static rh_status read_timeout(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    double seconds = 0.0;
    (void)plan;
    bool good = said->value->kind == RH_YAML_TEXT && rh_yaml__number(said->value, &seconds);
    return good && !rh_plugin_set_timeout(seconds, NULL)
               ? RH_OK
               : rh_plan__refuse(said, NULL, "", err, "above 0, to 86,400 seconds");
}

static rh_status read_method(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    rh_error why = {""};
    plan->method = rh_search_find(text_of(said), &why);
    return found(plan->method, said, &why, err);
}

static rh_status read_model(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    rh_error why = {""};
    plan->model = NULL;
    if (strcmp(text_of(said), "auto") == 0)
        return RH_OK;
    plan->model = rh_model_find(text_of(said), &why);
    return found(plan->model, said, &why, err);
}

static rh_status read_task(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    rh_error why = {""};
    plan->task_of = rh_plugin_env(text_of(said), &why);
    return found(plan->task_of, said, &why, err);
}

// Representations are settled by rh_plan__parts(), with their presets.
static rh_status read_repr(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    rh_error why = {""};
    (void)plan;
    if (strcmp(text_of(said), "auto") == 0)
        return RH_OK;
    return found(rh_repr_find(text_of(said), &why), said, &why, err);
}

static rh_status read_repr_preset(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    rh_error why = {""};
    (void)plan;
    return found(rh_repr_preset_find(text_of(said), &why), said, &why, err);
}

// Its environment may be named later; what is wrong without one is refused at once.
static rh_status read_grid(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    const rh_env_type *env;
    const char *name;
    bool later =
        *text_of(said) && !strchr(text_of(said), ':') && plan->command == RH_PLAN_SWEEP;
    return later ? RH_OK : rh_plan__check_grid(said, NULL, NULL, &env, &name, err);
}

static void show_agent(const rh_plan *plan, rh_text *text)
{
    rh_text__yaml(text, plan->agent->name);
}

static void show_env(const rh_plan *plan, rh_text *text)
{
    rh_text__yaml(text, plan->env->name);
}

static void show_method(const rh_plan *plan, rh_text *text)
{
    rh_text__add(text, plan->method->name);
}

static void show_model(const rh_plan *plan, rh_text *text)
{
    rh_text__add(text, plan->model ? plan->model->name : "auto");
}

static bool repr_is_set(const rh_plan *plan)
{
    return !plan->repr_open;
}

static void show_repr(const rh_plan *plan, rh_text *text)
{
    rh_text__add(text, plan->repr ? plan->repr->name : "auto");
}

static void show_task(const rh_plan *plan, rh_text *text)
{
    rh_text__yaml(text, plan->task_of->name);
}

// ---------------------------------------------------------------------------- own forms

static rh_status read_criterion(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    int at = 0;
    rh_status rc = rh_plan__take_choice(&at, said, metric_name, err);
    if (!rc)
        plan->criterion = criterion_name(at) ? (rh_criterion)at : RH_AVERAGE;
    return rc;
}

static rh_status read_goal(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    const char *text = text_of(said);
    (void)plan;
    if (strcmp(text, "maximize") == 0 || strcmp(text, "maximise") == 0)
        return RH_OK;
    if (strcmp(text, "minimize") != 0 && strcmp(text, "minimise") != 0)
        return rh_plan__refuse(said, NULL, "", err, "maximize");
    return rh_plan__blame(said, NULL, err,
                          "metric.goal = minimize: returns are maximised; where less is "
                          "better, negate the reward (reward: -energy)");
}

// auto, never, a number of steps, or a part of the run such as 1/30.
static rh_status read_cutoff(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    static const char expected[] =
        "auto, never, a number of steps such as 500, or a part of the run such as 1/30";
    uint64_t n = 0;
    const char *text = text_of(said);
    if (strcmp(text, "auto") == 0 || strcmp(text, "never") == 0) {
        plan->cutoff = *text == 'a' ? 0 : INT64_MAX;
        return RH_OK;
    }
    rh_yaml part = *said->value;
    bool is_part = rh_plan__behind(text, "1/") != NULL;
    if (is_part)
        part.text += 2;
    if (!rh_yaml__whole(&part, &n) || n < 1 || n > (is_part ? MANY : (uint64_t)MOST_STEPS))
        return rh_plan__refuse(said, NULL, "", err, expected);
    plan->cutoff = is_part ? -(int64_t)n : (int64_t)n;
    return RH_OK;
}

static void show_cutoff(const rh_plan *plan, rh_text *text)
{
    if (plan->cutoff == 0 || plan->cutoff == INT64_MAX)
        rh_text__add(text, plan->cutoff == 0 ? "auto" : "never");
    else
        rh_text__format(text, "%s%" PRId64, plan->cutoff < 0 ? "1/" : "",
                        plan->cutoff < 0 ? -plan->cutoff : plan->cutoff);
}

// true, false, or a number of settings.
static rh_status read_confirm(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    bool yes;
    uint64_t n;
    if (rh_yaml__truth(said->value, &yes))
        plan->confirm_settings = yes ? -1 : 0;
    else if (rh_yaml__whole(said->value, &n) && n <= RH_STUDY__MOST_CONFIRM)
        plan->confirm_settings = (int)n;
    else
        return rh_plan__refuse(said, NULL, "", err,
                               "true, false or a number of settings, 0 to 1,000");
    return RH_OK;
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
static rh_status read_kinds(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    static const char expected[] =
        "auto, chosen, or kinds of model: stitching, carrying, network";
    int kinds = 0;
    bool good = true;
    if (strcmp(text_of(said), "auto") == 0 || strcmp(text_of(said), "chosen") == 0) {
        plan->confirm_kinds = *text_of(said) == 'a' ? RH_KINDS__AUTO : RH_KINDS__CHOSEN;
        return RH_OK;
    }
    const char *at = text_of(said);
    while (*at && good) {
        size_t n = strcspn(at, ", ");
        int kind = kind_of(at, n);
        good = kind != 0;
        kinds |= kind;
        at += n;
        at += strspn(at, ", ");
    }
    if (!good || !kinds)
        return rh_plan__refuse(said, NULL, "", err, expected);
    plan->confirm_kinds = kinds;
    return RH_OK;
}

static void show_kinds(const rh_plan *plan, rh_text *text)
{
    bool any = false;
    if (plan->confirm_kinds < RH_KINDS__FIRST)
        rh_text__add(text, plan->confirm_kinds == RH_KINDS__AUTO ? "auto" : "chosen");
    for (int i = 0; rh_kinds__name(i); i++)
        if (plan->confirm_kinds & (RH_KINDS__FIRST << i)) {
            rh_text__add(text, any ? "," : "");
            rh_text__add(text, rh_kinds__name(i));
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
    return is_method(plan, "bayes");
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
    return plan->resample == RH_RESAMPLE_SUBSET;
}

static bool has_task(const rh_plan *plan)
{
    return plan->task_of != NULL;
}

static bool has_env(const rh_plan *plan)
{
    return plan->env != NULL;
}

static bool confirms(const rh_plan *plan)
{
    return plan->confirm_settings > 0;
}

// ---------------------------------------------------------------------------- the table

static const rh_plan__row row[] = {
    {{"name", NULL, 0, RH_PLAN_TEXT, NULL, "name of the study", .commands = TUNE}, FIELD(name)},
    {{"plugins", NULL, 0, RH_PLAN_TEXT, NULL,
      "plug-ins with agents and environments: a path or a list of paths; as --plugin",
      .commands = ALL},
     .read = rh_plan__read_plugins},
    {{"data", NULL, 0, RH_PLAN_FILE, NULL, "the log, or model:FILE, a fitted model",
      .commands = ALL},
     FIELD(data)},
    {{"starts", "starts", 0, RH_PLAN_FILE, "LOG",
      "a second log; runs start where its episodes start", "as in the log",
      .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     FIELD(starts),
     .fit = true},
    {{"env.name", NULL, 0, RH_PLAN_CHOICE, NULL, "the simulator to run in", .name = env_name,
      .list = "envs", .commands = RUNS, .group = RH_PLAN_TASK},
     FIELD(env),
     .read = read_env,
     .show = show_env,
     .when = has_env},
    {{"env.*", "env-set", 'e', RH_PLAN_PAIRS, "NAME=VALUE",
      "an option of the simulator, or a parameter of the model", .commands = RUNS,
      .group = RH_PLAN_TASK},
     .size = 0},
    {{"preset", "preset", 0, RH_PLAN_CHOICE, "NAME",
      "paper: the settings of the paper for the environment of --task; other options override "
      "them",
      "none", .name = preset_name, .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     FIELD(paper)},
    {{"agent.name", "agent", 'a', RH_PLAN_CHOICE, "NAME",
      "the agent; tune chooses one by the actions of the log", .name = agent_name,
      .list = "agents", .commands = RUNS | TUNE, .group = RH_PLAN_MAIN},
     FIELD(agent),
     .read = read_agent,
     .show = show_agent},
    {{"agent.*", NULL, 0, RH_PLAN_PAIRS, NULL, "a hyperparameter with one value",
      "as `rehearse list agents NAME` shows", .commands = RUNS | TUNE},
     .enter = rh_plan__enter_fixed},
    {{"grid", "grid", 'g', RH_PLAN_TEXT, "ENV:NAME",
      "a published grid, such as acrobot:paper; in a simulator NAME alone is its own",
      .commands = SWEEP | TUNE, .group = RH_PLAN_MAIN},
     .read = read_grid},
    {{"parameters.*", "set", 's', RH_PLAN_PAIRS, "NAME=VALUES",
      "value of a hyperparameter; in sweep and tune also a list, 0.1,0.3,1, or whole numbers, "
      "1:8:int; in tune also a range, 0.01:1, 0.01:1:log or 0:1:0.25",
      "as `rehearse list agents NAME` shows; tune searches the usual ranges",
      .commands = RUNS | TUNE, .group = RH_PLAN_MAIN},
     .enter = rh_plan__enter_space},
    {{"method", "method", 0, RH_PLAN_CHOICE, "NAME", "the search method",
      "race for up to 512 settings, otherwise bayes", .name = method_name, .list = "methods",
      .commands = TUNE, .group = RH_PLAN_SEARCH},
     FIELD(method),
     .read = read_method,
     .show = show_method},
    {{"method.*", "method-set", 0, RH_PLAN_PAIRS, "NAME=VALUE", "a parameter of the method",
      "as `rehearse list methods NAME` shows", .commands = TUNE, .group = RH_PLAN_SEARCH},
     .enter = rh_plan__enter_method},
    {{"budget.trials", "trials", 't', RH_PLAN_WHOLE, "N", "settings to try",
      "100; grid and race try all", 1, MANY, .commands = TUNE, .group = RH_PLAN_MAIN},
     FIELD(trials),
     .when = is_endless,
     .open = can_grow},
    {{"budget.batch", "batch", 0, RH_PLAN_WHOLE, "N",
      "settings that bayes proposes at a time; use more on more machines", "4", 1, 10000,
      .commands = TUNE, .group = RH_PLAN_SEARCH},
     FIELD(batch),
     .when = is_bayes},
    {{"metric.goal", NULL, 0, RH_PLAN_TEXT, NULL, "maximize", "maximize", .commands = TUNE},
     .read = read_goal},
    {{"evaluation.steps", "steps", 'n', RH_PLAN_WHOLE, "N", "steps of a run", "the task's own",
      1, MOST_STEPS, .commands = RUNS | TUNE, .group = RH_PLAN_MAIN},
     FIELD(nstep),
     .or_auto = true},
    {{"evaluation.runs", "runs", 'r', RH_PLAN_WHOLE, "N",
      "runs per setting, each with its own random streams", "30; tune 10, with race up to 30",
      1, MANY, .commands = RUNS | TUNE, .group = RH_PLAN_MAIN},
     FIELD(nrun)},
    {{"evaluation.criterion", "criterion", 'c', RH_PLAN_CHOICE, "NAME", "score of a run",
      "average", .name = criterion_name, .commands = RUNS | TUNE, .group = RH_PLAN_EVALUATION},
     FIELD(criterion),
     .read = read_criterion},
    {{"evaluation.across", "across", 0, RH_PLAN_CHOICE, "HOW",
      "combine the scores of runs; lower: end of the 95 % interval", "mean",
      .name = across_name, .commands = TUNE, .group = RH_PLAN_EVALUATION},
     FIELD(across)},
    {{"evaluation.pool", "pool", 0, RH_PLAN_CHOICE, "HOW",
      "combine the values in the members of a model", "mean", .name = pool_name,
      .commands = RUNS | TUNE, .group = RH_PLAN_EVALUATION},
     FIELD(pool)},
    {{"evaluation.cutoff", "cutoff", 0, RH_PLAN_TEXT, "N",
      "cut an episode off after N steps; 1/30: after a part of the run; or never",
      "simulators never; models the log's own time limit, or the larger of 1/30 of the run "
      "and twice the log's median episode",
      .commands = RUNS | TUNE, .group = RH_PLAN_EVALUATION},
     FIELD(cutoff),
     .read = read_cutoff,
     .show = show_cutoff},
    {{"evaluation.cutoff_as", "cutoff-as", 0, RH_PLAN_CHOICE, "RULE",
      "what the agent is told at a cut-off", "truncate", .name = cutoff_rule_name,
      .commands = RUNS | TUNE, .group = RH_PLAN_EVALUATION},
     FIELD(cutoff_rule)},
    {{"evaluation.curve", "curve", 0, RH_PLAN_WHOLE, "N",
      "points of a learning curve in the study's journal", "20", 0, RH_STUDY__NCURVE,
      .commands = TUNE, .group = RH_PLAN_EVALUATION},
     FIELD(ncurve)},
    {{"model.kind", "model", 'm', RH_PLAN_CHOICE, "KIND",
      "the calibration model; auto: the one that replays held-out parts of the log best",
      "auto", .name = model_name, .list = "models", .commands = FIT | TUNE,
      .group = RH_PLAN_MODEL},
     FIELD(model),
     .read = read_model,
     .show = show_model,
     .fit = true},
    {{"model.k", "k", 'k', RH_PLAN_TEXT, "N", "neighbours that a step is drawn from", "3",
      .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     .fit = true},
    {{"model.reach", "reach", 0, RH_PLAN_TEXT, "HOW",
      "coverage radius: auto, none, a quantile of all queries (99%) or a distance (0.3)",
      "auto", .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     .fit = true},
    {{"model.*", "model-set", 0, RH_PLAN_PAIRS, "NAME=VALUE", "a parameter of the model",
      "as `rehearse list models NAME` shows", .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     .enter = rh_plan__enter_model,
     .fit = true},
    {{"model.members", "members", 0, RH_PLAN_WHOLE, "N",
      "models in the ensemble, each fitted to another part of the log", "1", 1, RH_MAX_MEMBER,
      .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     FIELD(nmember),
     .fit = true},
    {{"model.resample", "resample", 0, RH_PLAN_CHOICE, "HOW",
      "what each member is fitted to: all steps, a random subset of the steps, a bootstrap of "
      "the episodes, or consecutive parts of the log",
      "all; with several members subset", .name = resample_name, .commands = FIT | TUNE,
      .group = RH_PLAN_MODEL},
     FIELD(resample),
     .fit = true},
    {{"model.share", "share", 0, RH_PLAN_REAL, "SHARE", "share of the steps in a subset", "0.9",
      0, 1, .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     FIELD(share),
     .above = true,
     .fit = true,
     .when = has_subsets},
    {{"representation.kind", "repr", 0, RH_PLAN_CHOICE, "KIND",
      "the representation of states; auto: the one that predicts the dynamics best",
      "chosen with the model", .name = repr_name, .list = "representations",
      .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     FIELD(repr),
     .read = read_repr,
     .show = show_repr,
     .when = repr_is_set,
     .fit = true},
    {{"representation.preset", "repr-preset", 0, RH_PLAN_CHOICE, "NAME",
      "the parameters of the paper", .name = repr_preset_name, .list = "representations",
      .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     .read = read_repr_preset,
     .fit = true},
    {{"representation.*", "repr-set", 0, RH_PLAN_PAIRS, "NAME=VALUE",
      "a parameter of the representation", "as `rehearse list representations NAME` shows",
      .commands = FIT | TUNE, .group = RH_PLAN_MODEL},
     .enter = rh_plan__enter_repr,
     .fit = true},
    {{"representation.joint", "joint", 0, RH_PLAN_FLAG, NULL,
      "represent state and continuous action together", "no", .commands = FIT | TUNE,
      .group = RH_PLAN_MODEL},
     FIELD(joint),
     .fit = true},
    {{"task.env", "task", 0, RH_PLAN_CHOICE, "ENV",
      "use the sensor ranges, actions, discount and run length of this environment",
      "what the log shows", .name = env_name, .list = "envs", .commands = FIT | TUNE,
      .group = RH_PLAN_TASK},
     FIELD(task_of),
     .read = read_task,
     .show = show_task,
     .when = has_task,
     .fit = true},
    {{"task.*", "env-set", 'e', RH_PLAN_PAIRS, "NAME=VALUE",
      "an option of the environment of --task", .commands = FIT | TUNE, .group = RH_PLAN_TASK},
     .enter = rh_plan__enter_task,
     .when = has_task,
     .fit = true},
    {{"gamma", "gamma", 0, RH_PLAN_REAL, "G", "discount",
      "1 where episodes end, otherwise 0.99", 0, 1, .commands = FIT | TUNE,
      .group = RH_PLAN_TASK},
     FIELD(gamma),
     .or_auto = true,
     .fit = true},
    {{"continuing", "continuing", 0, RH_PLAN_CHOICE, "WORD",
      "whether episodes never end; auto: if none ends in the log", "auto",
      .name = continuing_name, .commands = FIT | TUNE, .group = RH_PLAN_TASK},
     FIELD(episodes),
     .fit = true},
    {{"resets", "resets", 0, RH_PLAN_CHOICE, "WORD",
      "whether to search a continuing log for steps that put the plant back to a start; not if "
      "the log marks terminal steps",
      "auto; none with preset paper", .name = resets_name, .commands = FIT | TUNE,
      .group = RH_PLAN_TASK},
     FIELD(resets),
     .fit = true},
    {{"ranges.*", "range", 0, RH_PLAN_PAIRS, "SENSOR=LO:HI", "range of a sensor",
      "as in the log or the simulator", .commands = ALL, .group = RH_PLAN_TASK},
     .enter = rh_plan__enter_ranges,
     .fit = true},
    {{"limits.*", "limit", 0, RH_PLAN_PAIRS, "SENSOR=LO:HI",
      "limits of a sensor beyond which steps end, instead of those that the log shows; :HI and "
      "LO: give one of them",
      "as the log shows", .commands = FIT | TUNE, .group = RH_PLAN_TASK},
     .enter = rh_plan__enter_limits,
     .fit = true},
    {{"confirm", "confirm", 0, RH_PLAN_TEXT, "N",
      "leading settings to run again, in models that the search has not seen", "8",
      .commands = TUNE, .group = RH_PLAN_EVALUATION},
     .read = read_confirm},
    {{"confirm", "no-confirm", 0, RH_PLAN_FLAG, NULL, "choose by the search alone",
      .fixed = "no", .commands = TUNE, .group = RH_PLAN_EVALUATION},
     .read = read_confirm},
    {{"confirm.settings", NULL, 0, RH_PLAN_WHOLE, NULL, "the same, in its section", "8", 0,
      RH_STUDY__MOST_CONFIRM, .commands = TUNE},
     FIELD(confirm_settings)},
    {{"confirm.members", "confirm-members", 0, RH_PLAN_WHOLE, "N",
      "models of each kind to confirm in", "5", 1, RH_MAX_MEMBER, .commands = TUNE,
      .group = RH_PLAN_EVALUATION},
     FIELD(confirm_members),
     .when = confirms},
    {{"confirm.runs", "confirm-runs", 0, RH_PLAN_WHOLE, "N",
      "runs of a setting in each of them", "10", 1, MANY, .commands = TUNE,
      .group = RH_PLAN_EVALUATION},
     FIELD(confirm_runs),
     .when = confirms,
     .open = confirms},
    {{"confirm.kinds", "confirm-kinds", 0, RH_PLAN_TEXT, "KINDS",
      "kinds of model to confirm in: auto (the model's own and all others that replay the log "
      "credibly), chosen (the model's own) or names: stitching, carrying, network",
      "auto", .commands = TUNE, .group = RH_PLAN_EVALUATION},
     FIELD(confirm_kinds),
     .read = read_kinds,
     .show = show_kinds,
     .when = confirms,
     .fit = true},
    {{"check", "check", 0, RH_PLAN_WHOLE, "N",
      "runs of each leading setting in each of several other models, on which the trust in the "
      "answer is based; 0: none",
      "3; 0 with preset paper", 0, MANY, .commands = TUNE, .group = RH_PLAN_EVALUATION},
     FIELD(check_runs),
     .when = confirms,
     .open = confirms},
    {{"evaluation.exec_timeout", "exec-timeout", 0, RH_PLAN_REAL, "SECONDS",
      "how long a program of exec:COMMAND may take for an answer", "10", 0,
      RH_PLUGIN_MOST_TIMEOUT, .commands = RUNS | TUNE, .group = RH_PLAN_EVALUATION},
     .read = read_timeout},
    {{"seed", "seed", 0, RH_PLAN_WHOLE, "N", "random seed", "1", 0, INT64_MAX, .commands = ALL,
      .group = RH_PLAN_MAIN},
     FIELD(seed)},
};
enum { NROW = sizeof row / sizeof *row };

const rh_plan__row *rh_plan__row_at(int i)
{
    return i >= 0 && i < NROW ? &row[i] : NULL;
}

const rh_plan_key *rh_plan_key_at(int i)
{
    return i >= 0 && i < NROW ? &row[i].is : NULL;
}
