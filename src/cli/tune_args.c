// tune_args.c - what the command line of `tune` asks for, and the files it names.
//
// 1. Every option is another way to write a key of the study's file, and is read by the plan:
//    what --runs may be is known in one place. What the line says comes after the file and
//    stands above it.
// 2. What would fit another model than model:FILE is refused by the plan, whoever says it.

#include "cli_internal.h"

#include <string.h>

#define PREFIX "model:"

// Options and the keys they stand for, a kind before its parameters.
static const struct {
    const char *option, *key;
} word[] = {
    {"preset", "preset"},
    {"agent", "agent"},
    {"method", "method"},
    {"trials", "budget.trials"},
    {"batch", "budget.batch"},
    {"runs", "evaluation.runs"},
    {"steps", "evaluation.steps"},
    {"criterion", "evaluation.criterion"},
    {"across", "evaluation.across"},
    {"pool", "evaluation.pool"},
    {"cutoff", "evaluation.cutoff"},
    {"cutoff-as", "evaluation.cutoff_as"},
    {"confirm", "confirm"},
    {"confirm-members", "confirm.members"},
    {"confirm-runs", "confirm.runs"},
    {"model", "model.kind"},
    {"k", "model.k"},
    {"reach", "model.reach"},
    {"members", "model.members"},
    {"resample", "model.resample"},
    {"share", "model.share"},
    {"starts", "starts"},
    {"repr", "representation.kind"},
    {"repr-preset", "representation.preset"},
    {"task", "task.env"},
    {"gamma", "gamma"},
    {"continuing", "continuing"},
    {"seed", "seed"},
};
#define NWORD ((int)(sizeof word / sizeof *word))

static bool is_model(const char *text)
{
    return strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

// ---------------------------------------------------------------------------- pairs

// Every NAME=VALUE of `option` as the key "<prefix>.NAME".
static int set_pairs(cli_tuning *tune, const char *option, const char *prefix)
{
    const char *pair, *value;
    char name[64], key[160], where[96];
    rh_error err;
    int rc = CLI_OK;
    for (int at = 0; !rc && (pair = cli_each(tune->args, option, &at)) != NULL;) {
        cli_split(pair, name, &value);
        snprintf(key, sizeof key, "%.64s.%s", prefix, name);
        snprintf(where, sizeof where, "--%s", option);
        rc = cli_pass(rh_plan_set(tune->plan, key, value, where, &err), &err);
    }
    return rc;
}

// --set NAME=VALUES
static int set_tried(cli_tuning *tune)
{
    const char *pair, *value;
    char name[64];
    rh_error err;
    int rc = CLI_OK;
    for (int at = 0; !rc && (pair = cli_each(tune->args, "set", &at)) != NULL;) {
        cli_split(pair, name, &value);
        rc = cli_pass(rh_plan_try(tune->plan, name, value, "--set", &err), &err);
    }
    return rc;
}

// --range SENSOR=LO:HI is the key ranges.SENSOR: [LO, HI]
static int set_ranges(cli_tuning *tune)
{
    const char *pair, *value;
    char name[64], key[96], text[160];
    rh_error err;
    int rc = CLI_OK;
    for (int at = 0; !rc && (pair = cli_each(tune->args, "range", &at)) != NULL;) {
        cli_split(pair, name, &value);
        const char *colon = strchr(value, ':');
        if (!colon || strlen(value) > 120)
            return cli_refuse("--range %s, expected SENSOR=LO:HI with LO below HI", pair);
        snprintf(key, sizeof key, "ranges.%s", name);
        snprintf(text, sizeof text, "[%.*s, %s]", (int)(colon - value), value, colon + 1);
        rc = cli_pass(rh_plan_set(tune->plan, key, text, "--range", &err), &err);
    }
    return rc;
}

// ---------------------------------------------------------------------------- the plan

// What cannot both be had, and what needs something else.
static int check_words(const cli_tuning *tune)
{
    const cli_args *args = tune->args;
    static const char *const of_confirm[] = {"confirm", "confirm-members", "confirm-runs"};
    if (cli_has(args, "json") && cli_has(args, "quiet"))
        return cli_refuse("--json and --quiet cannot both be had");
    if (cli_has(args, "dry-run") && cli_has(args, "quiet"))
        return cli_refuse(
            "--dry-run prints and does nothing else, and --quiet would not print");
    for (int i = 0; i < 3; i++)
        if (cli_has(args, "no-confirm") && cli_has(args, of_confirm[i]))
            return cli_refuse("--no-confirm and --%s cannot both be had", of_confirm[i]);
    return CLI_OK;
}

static int set_words(cli_tuning *tune)
{
    const cli_args *args = tune->args;
    rh_plan *plan = tune->plan;
    char where[96];
    rh_error err;
    rh_status read = RH_OK;
    for (int i = 0; i < NWORD && !read; i++) {
        if (!cli_has(args, word[i].option))
            continue;
        snprintf(where, sizeof where, "--%s", word[i].option);
        read = rh_plan_set(plan, word[i].key, cli_value(args, word[i].option), where, &err);
    }
    if (!read && cli_has(args, "no-confirm"))
        read = rh_plan_set(plan, "confirm", "false", "--no-confirm", &err);
    if (!read && cli_has(args, "joint"))
        read = rh_plan_set(plan, "representation.joint", "true", "--joint", &err);
    if (!read && cli_has(args, "grid"))
        read = rh_plan_grid(plan, cli_value(args, "grid"), "--grid", &err);
    int rc = cli_pass(read, &err);
    if (!rc)
        rc = set_tried(tune);
    if (!rc)
        rc = set_pairs(tune, "method-set", "method");
    if (!rc)
        rc = set_pairs(tune, "model-set", "model");
    if (!rc)
        rc = set_pairs(tune, "repr-set", "representation");
    if (!rc)
        rc = set_pairs(tune, "env-set", "task");
    return rc ? rc : set_ranges(tune);
}

int cli_tune_plan(cli_tuning *tune)
{
    const char *operand = tune->args->word[0];
    bool yaml = cli_is_yaml(operand);
    rh_error err;
    int rc = check_words(tune);
    if (!rc)
        rc = cli_pass(rh_plan_create(&tune->plan, &err), &err);
    if (!rc && yaml)
        rc = cli_pass_file(rh_plan_read(tune->plan, operand, &err), &err);
    else if (!rc)
        rc = cli_pass(rh_plan_set(tune->plan, "data", operand, NULL, &err), &err);
    if (!rc)
        rc = set_words(tune);
    if (!rc)
        rc = cli_pass(rh_plan_check(tune->plan, &err), &err);
    if (rc)
        return rc;
    if (!tune->plan->data)
        return cli_refuse("%s: no data: in it, expected the path of a log", operand);
    return CLI_OK;
}

// ---------------------------------------------------------------------------- files

static int read_model(cli_tuning *tune)
{
    rh_error err;
    const char *path = tune->plan->data + strlen(PREFIX);
    if (!*path)
        return cli_refuse("tune: the model's file is missing: " PREFIX "plant.model");
    return cli_pass_file(rh_model_read(&tune->model, path, &err), &err);
}

int cli_tune_files(cli_tuning *tune)
{
    const cli_args *args = tune->args;
    const char *roles = cli_is_yaml(args->word[0]) ? args->word[0] : NULL;
    const char *starts = tune->plan->starts;
    if (is_model(tune->plan->data))
        return read_model(tune);
    int rc = cli_log_read_as(&tune->log, args, roles ? NULL : tune->plan->data, roles);
    if (!rc && starts)
        rc = cli_log_read_as(&tune->starts, args, starts, roles);
    return rc;
}
