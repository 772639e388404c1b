// plan_take.c - what keys that need nothing else may have for values.
//
// 1. run_cap is what W&B calls budget.trials, and metric.name is evaluation.criterion.
//    `goal` can only be maximize: what W&B takes for granted, minimize, would choose the
//    worst.
// 2. Whole numbers may be written as 1e6. `auto` is a word for what is usual, since every
//    number, 0 too, means itself.

#include "plan_keys.h"
#include "study_internal.h"

#include <math.h>
#include <string.h>

#define MOST_STEPS UINT64_C(1000000000000) // a month of computing, and far from overflow

// ---------------------------------------------------------------------------- values

// A copy of the text in place of an old one.
static rh_status take_text(char **text, const rh_plan__item *said, rh_error *err)
{
    if (said->value->kind != RH_YAML_TEXT || !*said->value->text)
        return rh_plan__refuse(said, NULL, "", err, "a text");
    size_t n = strlen(said->value->text) + 1;
    char *copy = rh_alloc(n, 1);
    if (!copy)
        return rh_plan__no_memory(err);
    memcpy(copy, said->value->text, n);
    rh_free(*text);
    *text = copy;
    return RH_OK;
}

static rh_status take_whole(uint64_t *x, const rh_plan__item *said, uint64_t lo, uint64_t hi,
                            const char *range, rh_error *err)
{
    uint64_t whole;
    if (!rh_yaml__whole(said->value, &whole) || whole < lo || whole > hi) {
        char expected[80];
        snprintf(expected, sizeof expected, "a whole number, %s", range);
        return rh_plan__refuse(said, NULL, "", err, expected);
    }
    *x = whole;
    return RH_OK;
}

static rh_status take_int(int *x, const rh_plan__item *said, int lo, int hi, const char *range,
                          rh_error *err)
{
    uint64_t whole = 0;
    rh_status rc = take_whole(&whole, said, (uint64_t)lo, (uint64_t)hi, range, err);
    if (!rc)
        *x = (int)whole;
    return rc;
}

// One of n words; true and false stand for yes and no.
static rh_status take_word(int *word, const rh_plan__item *said, const char *const *name, int n,
                           rh_error *err)
{
    bool yes;
    const rh_yaml *node = said->value;
    const char *text = node->kind == RH_YAML_TEXT ? node->text : "";
    for (int i = 0; i < n; i++)
        if (strcmp(text, name[i]) == 0) {
            *word = i;
            return RH_OK;
        }
    for (int i = 0; i < n && rh_yaml__truth(node, &yes); i++)
        if (strcmp(name[i], yes ? "yes" : "no") == 0) {
            *word = i;
            return RH_OK;
        }
    char label[RH_PLAN__LABEL], what[RH_PLAN__LABEL + 16], shown[RH_YAML__SHOWN];
    rh_plan__label(said, NULL, "", label);
    rh_yaml__show(node, shown);
    snprintf(what, sizeof what, "%s cannot be", label);
    rh_unknown(err, what, shown, name, n);
    return said->file ? RH_EFORMAT : RH_EINVAL;
}

static rh_status take_share(double *x, const rh_plan__item *said, bool zero, rh_error *err)
{
    double share;
    if (!rh_yaml__number(said->value, &share) || !(share >= 0.0 && share <= 1.0) ||
        (share == 0.0 && !zero))
        return rh_plan__refuse(said, NULL, "", err,
                               zero ? "auto or a number, 0 to 1" : "a number above 0, to 1");
    *x = share;
    return RH_OK;
}

static bool says(const rh_plan__item *said, const char *word)
{
    return said->value->kind == RH_YAML_TEXT && strcmp(said->value->text, word) == 0;
}

// auto, never, a number of steps, or a part of the run such as 1/30.
static rh_status take_cutoff(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    static const char expected[] =
        "auto, never, a number of steps such as 500, or a part of the run such as 1/30";
    uint64_t n = 0;
    rh_yaml part = *said->value;
    bool is_part = part.kind == RH_YAML_TEXT && strncmp(part.text, "1/", 2) == 0;
    if (says(said, "auto") || says(said, "never")) {
        plan->cutoff = says(said, "auto") ? 0 : INT64_MAX;
        return RH_OK;
    }
    if (is_part)
        part.text += 2;
    if (!rh_yaml__whole(&part, &n) || n < 1 || n > (is_part ? 1000000 : MOST_STEPS))
        return rh_plan__refuse(said, NULL, "", err, expected);
    plan->cutoff = is_part ? -(int64_t)n : (int64_t)n;
    return RH_OK;
}

// true, false, or how many settings.
static rh_status take_confirm(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    bool yes;
    uint64_t n;
    if (rh_yaml__truth(said->value, &yes))
        plan->confirm_settings = yes ? -1 : 0;
    else if (rh_yaml__whole(said->value, &n) && n <= RH_STUDY__MOST_CONFIRM)
        plan->confirm_settings = (int)n;
    else
        return rh_plan__refuse(said, NULL, "", err,
                               "true, false or a number of settings, "
                               "0 to 1,000");
    return RH_OK;
}

static rh_status take_goal(const rh_plan__item *said, rh_error *err)
{
    if (says(said, "maximize") || says(said, "maximise"))
        return RH_OK;
    if (!says(said, "minimize") && !says(said, "minimise"))
        return rh_plan__refuse(said, NULL, "", err, "maximize");
    return rh_plan__blame(
        said, NULL, err,
        "metric.goal = minimize: returns are maximised; where less is better, "
        "turn the sign of the reward (reward: -energy)");
}

static rh_status take_criterion(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    const char *name[16];
    int n, word = 0;
    const char *const *names = rh_criterion_names(&n);
    for (int i = 0; i < n; i++)
        name[i] = names[i];
    name[n] = "mean_return"; // what people call the average
    rh_status rc = take_word(&word, said, name, n + 1, err);
    if (!rc)
        plan->criterion = word == n ? RH_AVERAGE : (rh_criterion)word;
    return rc;
}

// The names of kinds: which is found, or the registry's own message.
static rh_status take_kind(rh_plan *plan, rh_plan__key_id id, const rh_plan__item *said,
                           rh_error *err)
{
    rh_error why = {""};
    const char *env, *text = said->value->kind == RH_YAML_TEXT ? said->value->text : "";
    const rh_env_type *of;
    bool good = true;
    if (!*text)
        return rh_plan__refuse(said, NULL, "", err, "a name");
    if (id == RH_KEY_AGENT)
        good = (plan->agent = rh_agent_find(text, &why)) != NULL;
    else if (id == RH_KEY_METHOD)
        good = (plan->method = rh_search_find(text, &why)) != NULL;
    else if (id == RH_KEY_MODEL)
        good = (plan->model = rh_model_find(text, &why)) != NULL;
    else if (id == RH_KEY_REPR)
        good = strcmp(text, "auto") == 0 || rh_repr_find(text, &why) != NULL;
    else if (id == RH_KEY_REPR_PRESET)
        good = rh_repr_preset_find(text, &why) != NULL;
    else if (id == RH_KEY_TASK)
        good = (plan->task_of = rh_env_find(text, &why)) != NULL;
    else
        return rh_plan__check_grid(said, text, NULL, &of, &env, err);
    return good ? RH_OK : rh_plan__blame(said, NULL, err, why.text);
}

// ---------------------------------------------------------------------------- all of them

static rh_status take_numbers(rh_plan *plan, rh_plan__key_id id, const rh_plan__item *said,
                              rh_error *err)
{
    static const char many[] = "1 to 1,000,000";
    uint64_t n = 0;
    rh_status rc = RH_OK;
    if (id == RH_KEY_SEED) {
        rc = take_whole(&n, said, 0, INT64_MAX, "0 to 9223372036854775807", err);
        plan->seed = rc ? plan->seed : n;
    } else if (id == RH_KEY_STEPS) {
        if (!says(said, "auto"))
            rc = take_whole(&n, said, 1, MOST_STEPS, "1 to 1,000,000,000,000, or auto", err);
        plan->nstep = (int64_t)n;
    } else if (id == RH_KEY_GAMMA) {
        plan->gamma = NAN;
        rc = says(said, "auto") ? RH_OK : take_share(&plan->gamma, said, true, err);
    } else if (id == RH_KEY_SHARE)
        rc = take_share(&plan->share, said, false, err);
    else if (id == RH_KEY_TRIALS)
        rc = take_int(&plan->trials, said, 1, 1000000, many, err);
    else if (id == RH_KEY_BATCH)
        rc = take_int(&plan->batch, said, 1, 10000, "1 to 10,000", err);
    else if (id == RH_KEY_RUNS)
        rc = take_int(&plan->nrun, said, 1, 1000000, many, err);
    else if (id == RH_KEY_CURVE)
        rc = take_int(&plan->ncurve, said, 0, RH_STUDY__NCURVE, "0 to 64", err);
    else if (id == RH_KEY_MEMBERS)
        rc = take_int(&plan->nmember, said, 1, RH_MAX_MEMBER, "1 to 256", err);
    else if (id == RH_KEY_CONFIRM_SETTINGS)
        rc = take_int(&plan->confirm_settings, said, 0, RH_STUDY__MOST_CONFIRM, "0 to 1,000",
                      err);
    else if (id == RH_KEY_CONFIRM_MEMBERS)
        rc = take_int(&plan->confirm_members, said, 1, RH_MAX_MEMBER, "1 to 256", err);
    else
        rc = take_int(&plan->confirm_runs, said, 1, 1000000, many, err);
    return rc;
}

static rh_status take_words(rh_plan *plan, rh_plan__key_id id, const rh_plan__item *said,
                            rh_error *err)
{
    static const char *const rule[] = {
        [RH_TRUNCATE] = "truncate", [RH_TERMINATE] = "terminate"};
    static const char *const resample[] = {[RH_RESAMPLE_ALL] = "all",
                                           [RH_RESAMPLE_SUBSET] = "subset",
                                           [RH_RESAMPLE_BOOTSTRAP] = "bootstrap"};
    static const char *const episodes[] = {
        [RH_EPISODES_AUTO] = "auto", [RH_EPISODES_END] = "no", [RH_EPISODES_CONTINUE] = "yes"};
    static const char *const paper[] = {"none", "paper"}, *const no_yes[] = {"no", "yes"};
    const char *const *name = paper;
    int n = 2, word = 0;
    if (id == RH_KEY_ACROSS)
        name = rh_across_names(&n);
    else if (id == RH_KEY_POOL)
        name = rh_pool_names(&n);
    else if (id == RH_KEY_CUTOFF_AS)
        name = rule;
    else if (id == RH_KEY_JOINT)
        name = no_yes;
    else if (id == RH_KEY_RESAMPLE || id == RH_KEY_CONTINUING) {
        name = id == RH_KEY_RESAMPLE ? resample : episodes;
        n = 3;
    }
    rh_status rc = take_word(&word, said, name, n, err);
    if (rc)
        return rc;
    if (id == RH_KEY_ACROSS)
        plan->across = (rh_across)word;
    else if (id == RH_KEY_POOL)
        plan->pool = (rh_pool)word;
    else if (id == RH_KEY_CUTOFF_AS)
        plan->cutoff_rule = (rh_cutoff_rule)word;
    else if (id == RH_KEY_RESAMPLE)
        plan->resample = (rh_resample)word;
    else if (id == RH_KEY_CONTINUING)
        plan->episodes = (rh_episodes)word;
    else if (id == RH_KEY_JOINT)
        plan->joint = word == 1;
    else
        plan->paper = word == 1;
    return RH_OK;
}

rh_status rh_plan__take(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    rh_plan__key_id id = rh_plan__find(said->key);
    switch (id) {
    case RH_KEY_NAME:
        return take_text(&plan->name, said, err);
    case RH_KEY_DATA:
        return take_text(&plan->data, said, err);
    case RH_KEY_STARTS:
        return take_text(&plan->starts, said, err);
    case RH_KEY_AGENT:
    case RH_KEY_METHOD:
    case RH_KEY_MODEL:
    case RH_KEY_REPR:
    case RH_KEY_REPR_PRESET:
    case RH_KEY_TASK:
    case RH_KEY_GRID:
        return take_kind(plan, id, said, err);
    case RH_KEY_CRITERION:
        return take_criterion(plan, said, err);
    case RH_KEY_CUTOFF:
        return take_cutoff(plan, said, err);
    case RH_KEY_CONFIRM:
        return take_confirm(plan, said, err);
    case RH_KEY_GOAL:
        return take_goal(said, err);
    case RH_KEY_PRESET:
    case RH_KEY_CONTINUING:
    case RH_KEY_ACROSS:
    case RH_KEY_POOL:
    case RH_KEY_CUTOFF_AS:
    case RH_KEY_RESAMPLE:
    case RH_KEY_JOINT:
        return take_words(plan, id, said, err);
    case RH_KEY_SEED:
    case RH_KEY_GAMMA:
    case RH_KEY_TRIALS:
    case RH_KEY_BATCH:
    case RH_KEY_STEPS:
    case RH_KEY_RUNS:
    case RH_KEY_CURVE:
    case RH_KEY_MEMBERS:
    case RH_KEY_SHARE:
    case RH_KEY_CONFIRM_SETTINGS:
    case RH_KEY_CONFIRM_MEMBERS:
    case RH_KEY_CONFIRM_RUNS:
        return take_numbers(plan, id, said, err);
    case RH_NKEY:
        break;
    }
    return RH_OK;
}
