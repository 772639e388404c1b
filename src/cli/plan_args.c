// plan_args.c - the options of a command, and the plan that they build.
//
// 1. Options are rows: of the plan's table, of the log's, and of the command's own tables. A
//    new row in the library is an option here, in --help, the manual page and the completions.
// 2. The library checks values of its rows: options accept what keys of a file do, and override
//    them.
// 3. --setting gives the agent of best.yaml, over the study file and below the options. A study
//    searches the parameters it would search anyway.

#include "cli_internal.h"

#include "base/text.h"

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
    const rh_key *option[MOST];
    const char *title[MOST];
} listing;

// ---------------------------------------------------------------------------- options

static void add(listing *list, const char *title, const rh_key *option)
{
    if (list->n == MOST || !option->option)
        return;
    list->option[list->n] = option;
    list->title[list->n++] = title;
}

static void add_keys(listing *list, rh_key_group group)
{
    const rh_key *key;
    for (int i = 0; (key = rh_plan_key_at(i)) != NULL; i++)
        if (key->group == group && (key->commands & list->command->plan))
            add(list, title_of[group], key);
}

// The options of a log come first: what its columns mean is what a new user has to say.
static void add_log(listing *list)
{
    bool reads = false;
    for (int g = 0; list->command->group[g]; g++)
        reads = reads || list->command->group[g] == &cli_log_group;
    for (int i = 0; reads && rh_log_key_at(i); i++)
        add(list, cli_log_group.title, rh_log_key_at(i));
    for (const rh_key *o = cli_log_group.option; reads && o->option; o++)
        add(list, cli_log_group.title, o);
}

// The command's own options of a group; with: those whose title is (not) among the plan's.
static void add_own(listing *list, const char *title, bool with)
{
    for (int g = 0; list->command->group[g]; g++) {
        const cli_group *group = list->command->group[g];
        bool plans = false;
        for (int i = 0; i <= RH_KEY_TASK; i++)
            plans = plans || (list->command->plan && strcmp(title_of[i], group->title) == 0);
        if (group == &cli_log_group || (with ? strcmp(title, group->title) != 0 : plans))
            continue;
        for (const rh_key *o = group->option; o->option; o++)
            add(list, group->title, o);
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
    add_log(list);
    for (int group = 0; command->plan && group <= RH_KEY_TASK; group++) {
        add_keys(list, (rh_key_group)group);
        add_own(list, title_of[group], true);
    }
    add_own(list, NULL, false);
    return list;
}

const rh_key *cli_option_at(const cli_command *command, int i)
{
    const listing *list = listing_of(command);
    return i < list->n ? list->option[i] : NULL;
}

const char *cli_option_title(const cli_command *command, int i)
{
    return listing_of(command)->title[i];
}

// ---------------------------------------------------------------------------- names

int cli_names(const rh_key *key, const char *name[CLI_MAX_NAMES])
{
    int n = 0;
    for (; n < CLI_MAX_NAMES && rh_key_name(key, n); n++)
        name[n] = rh_key_name(key, n);
    return n;
}

void cli_option_choices(const rh_key *option, char *text, size_t size)
{
    for (int i = 0; option->type == RH_KEY_CHOICE && rh_key_name(option, i); i++)
        rh_text__put(text, size, "%s%s%s", i ? ", " : " (", rh_key_name(option, i),
                     rh_key_name(option, i + 1) ? "" : ")");
}

const rh_key *cli_plan_key(const char *key)
{
    int i = 0;
    while (rh_plan_key_at(i) && strcmp(rh_plan_key_at(i)->key, key) != 0)
        i++;
    return rh_plan_key_at(i);
}

const char *cli_plan_word(const char *key, int i)
{
    return rh_key_name(cli_plan_key(key), i);
}

const char *cli_env_name(int i)
{
    return cli_plan_word("env.name", i);
}

// ---------------------------------------------------------------------------- the plan

// The option that has a key of its own, when it was given too: --k beside --model-set k=5.
static const char *other_option(const cli_args *args, const char *key)
{
    for (int i = 0; i < args->ngiven; i++) {
        const rh_key *other = args->given[i].option;
        if (other->key && strcmp(other->key, key) == 0)
            return other->option;
    }
    return NULL;
}

// One option that was given, as its key.
static rh_status set(rh_plan *plan, const cli_args *args, const cli_given *given, rh_error *err)
{
    const rh_key *key = given->option;
    const char *value;
    char full[160], name[64], where[64];
    snprintf(where, sizeof where, "--%.60s", key->option);
    if (key->type == RH_KEY_FLAG)
        return rh_plan_set(plan, key->key, key->fixed ? key->fixed : "yes", where, err);
    if (key->type != RH_KEY_PAIRS) {
        char *joined = NULL;
        rh_status rc =
            rh_plan_set(plan, key->key, cli_value_of(args, key, &joined), where, err);
        rh_free(joined);
        return rc;
    }
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
            if (args->given[i].option == key)
                rc = set(plan, args, &args->given[i], &err);
    return cli_pass(rc, &err);
}

int cli_words(char **paths, const cli_args *args)
{
    rh_text text = {0};
    for (int i = 0; i < args->nword; i++) {
        const char *word = args->word[i];
        bool other = cli_is_yaml(word) || strncmp(word, "model:", 6) == 0;
        if (args->nword > 1 && other) {
            rh_text__clear(&text);
            return cli_refuse("%s: '%s' among %d names, expected logs, or it alone",
                              args->command->name, word, args->nword);
        }
        rh_text__format(&text, "%s%s", i ? "\n" : "", word);
    }
    *paths = text.data;
    return text.bad ? cli_fail("out of memory") : CLI_OK;
}

int cli_plan_init(rh_plan **plan, const cli_args *args, const char *operand)
{
    const char *word = args->word[0];
    char *paths = NULL;
    rh_error err;
    int rc = cli_pass(rh_plan_create(plan, &err), &err);
    if (!rc)
        rc = cli_words(&paths, args);
    if (rc)
        return rc;
    rh_plan_use(*plan, args->command->plan);
    if (cli_is_yaml(word))
        rc = cli_pass_file(rh_plan_read(*plan, word, &err), &err);
    else
        rc = cli_pass(rh_plan_set(*plan, operand, paths, NULL, &err), &err);
    rh_free(paths);
    bool agent = args->command->plan != RH_PLAN_FIT; // fit has no agent to set
    const char *setting = agent ? cli_value(args, "setting") : NULL;
    rh_plugin_allow_exec(agent && cli_has(args, "allow-exec"));
    if (!rc && setting)
        rc = cli_pass_file(
            rh_plan_setting(*plan, setting, args->command->plan == RH_PLAN_TUNE, &err), &err);
    if (!rc)
        rc = cli_plan_set(*plan, args);
    return rc ? rc : cli_pass(rh_plan_check(*plan, &err), &err);
}
