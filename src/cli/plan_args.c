// plan_args.c - the options of a command that builds a plan, and the plan they build.
//
// 1. The options are made from the plan's table of keys: a new row there is an option here, in
//    --help, the manual page and the completions. A command adds its own, such as --json.
// 2. The plan checks values: options accept what keys of a study file do, and override them.
// 3. --setting gives the agent of best.yaml, over the study file and below the options. A study
//    searches the parameters it would search anyway.

#include "cli_internal.h"

#include <string.h>

#define MOST 112 // options of a command
#define NCOMMAND 16

static const char *const title_of[] = {
    [RH_KEY_MAIN] = CLI_MAIN, [RH_KEY_SEARCH] = "search", [RH_KEY_EVALUATION] = "evaluation",
    [RH_KEY_MODEL] = "model", [RH_KEY_TASK] = CLI_TASK,
};

// All options of a command, those of a group together.
typedef struct listing {
    const cli_command *command;
    int n;
    cli_option option[MOST];
    const char *title[MOST];
} listing;

// ---------------------------------------------------------------------------- options

static void add(listing *list, const char *title, cli_option option)
{
    if (list->n == MOST)
        return;
    list->option[list->n] = option;
    list->title[list->n++] = title;
}

// How the argument of a key is completed.
static cli_kind kind_of(const rh_key *key)
{
    static const struct {
        const char *key;
        cli_kind kind;
    } special[] = {
        {"parameters.*", CLI_AGENT_SET},
        {"env.*", CLI_ENV_SET},
        {"task.*", CLI_ENV_SET},
        {"model.*", CLI_MODEL_SET},
        {"method.*", CLI_METHOD_SET},
        {"ranges.*", CLI_RANGE},
        {"limits.*", CLI_RANGE},
        {"representation.*", CLI_REPR_SET},
        {"grid", CLI_GRID},
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(special[i].key, key->key) == 0)
            return special[i].kind;
    switch (key->type) {
    case RH_KEY_WHOLE:
    case RH_KEY_REAL:
    case RH_KEY_TEXT:
    case RH_KEY_PAIRS:
        return CLI_TEXT;
    case RH_KEY_FILE:
        return CLI_FILE;
    case RH_KEY_FLAG:
        return CLI_NONE;
    case RH_KEY_CHOICE:
        return CLI_CHOICE;
    }
    return CLI_TEXT;
}

static void add_keys(listing *list, rh_key_group group)
{
    const rh_key *key;
    for (int i = 0; (key = rh_plan_key_at(i)) != NULL; i++)
        if (key->option && key->group == group && (key->commands & list->command->plan))
            add(list, title_of[group],
                (cli_option){.name = key->option,
                             .letter = key->letter,
                             .kind = kind_of(key),
                             .value = key->value,
                             .about = key->about,
                             .initial = key->initial,
                             .repeats = key->type == RH_KEY_PAIRS,
                             .key = key});
}

// The command's own options of a group; with: those whose title is (not) among the plan's.
static void add_own(listing *list, const char *title, bool with)
{
    for (int g = 0; list->command->group[g]; g++) {
        const cli_group *group = list->command->group[g];
        bool plans = false;
        for (int i = 0; i <= RH_KEY_TASK; i++)
            plans = plans || (list->command->plan && strcmp(title_of[i], group->title) == 0);
        if (with ? strcmp(title, group->title) != 0 : plans)
            continue;
        for (const cli_option *o = group->option; o->name; o++)
            add(list, group->title, *o);
    }
}

static const listing *listing_of(const cli_command *command)
{
    static listing known[NCOMMAND];
    int at = 0;
    while (at < NCOMMAND - 1 && known[at].command && known[at].command != command)
        at++;
    listing *list = &known[at];
    if (list->command == command)
        return list;
    list->command = command;
    for (int group = 0; command->plan && group <= RH_KEY_TASK; group++) {
        add_keys(list, (rh_key_group)group);
        add_own(list, title_of[group], true);
    }
    add_own(list, NULL, false);
    return list;
}

const cli_option *cli_option_at(const cli_command *command, int i)
{
    const listing *list = listing_of(command);
    return i < list->n ? &list->option[i] : NULL;
}

const char *cli_option_title(const cli_command *command, int i)
{
    return listing_of(command)->title[i];
}

int cli_choices(const cli_option *option, const char *name[CLI_MAX_NAMES])
{
    int n = 0;
    if (!option->key || !rh_key_name(option->key, 0))
        return cli_names(option->kind, name);
    for (; n < CLI_MAX_NAMES && rh_key_name(option->key, n); n++)
        name[n] = rh_key_name(option->key, n);
    return n;
}

// ---------------------------------------------------------------------------- the plan

// The option that has a key of its own, when it was given too: --k beside --model-set k=5.
static const char *other_option(const cli_args *args, const char *key)
{
    for (int i = 0; i < args->ngiven; i++) {
        const rh_key *other = args->given[i].option->key;
        if (other && strcmp(other->key, key) == 0)
            return other->option;
    }
    return NULL;
}

// One option that was given, as its key.
static rh_status set(rh_plan *plan, const cli_args *args, const cli_given *given, rh_error *err)
{
    const rh_key *key = given->option->key;
    const char *value = given->value;
    char full[160], name[64], where[64];
    snprintf(where, sizeof where, "--%.60s", key->option);
    if (key->type == RH_KEY_FLAG)
        return rh_plan_set(plan, key->key, key->fixed ? key->fixed : "yes", where, err);
    if (key->type != RH_KEY_PAIRS)
        return rh_plan_set(plan, key->key, value, where, err);
    cli_split(given->value, name, &value);
    snprintf(full, sizeof full, "%.*s%.64s", (int)strlen(key->key) - 1, key->key, name);
    const char *other = other_option(args, full);
    if (other)
        return rh_fail(err, RH_EINVAL, "%s %s and --%s set the same key", where, name, other);
    return rh_plan_set(plan, full, value, where, err);
}

int cli_plan_set(rh_plan *plan, const cli_args *args)
{
    const rh_key *key;
    rh_error err;
    rh_status rc = RH_OK;
    for (int k = 0; !rc && (key = rh_plan_key_at(k)) != NULL; k++)
        for (int i = 0; !rc && i < args->ngiven; i++)
            if (args->given[i].option->key == key)
                rc = set(plan, args, &args->given[i], &err);
    return cli_pass(rc, &err);
}

int cli_plan_init(rh_plan **plan, const cli_args *args, const char *operand)
{
    const char *word = args->word[0];
    rh_error err;
    int rc = cli_pass(rh_plan_create(plan, &err), &err);
    if (rc)
        return rc;
    rh_plan_use(*plan, args->command->plan);
    if (cli_is_yaml(word))
        rc = cli_pass_file(rh_plan_read(*plan, word, &err), &err);
    else
        rc = cli_pass(rh_plan_set(*plan, operand, word, NULL, &err), &err);
    bool agent = args->command->plan != RH_PLAN_FIT; // fit has no agent to set
    const char *setting = agent ? cli_value(args, "setting") : NULL;
    if (!rc && setting)
        rc = cli_pass_file(
            rh_plan_setting(*plan, setting, args->command->plan == RH_PLAN_TUNE, &err), &err);
    if (!rc)
        rc = cli_plan_set(*plan, args);
    return rc ? rc : cli_pass(rh_plan_check(*plan, &err), &err);
}
