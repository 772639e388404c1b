// world.c - where runs are run: a simulator by its name, or a model from its file.
//
// 1. A model is opened once, and all its members become environments. With --member only that
//    one does, and runs in it as it would beside the others: its number names its chance.
// 2. What --env-set says is the business of whoever is run in: options of a simulator, or
//    parameters of a model that can be changed without another fit.

#include "cli_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "model:"

const rh_env_type *cli_world_kind(const cli_world *world)
{
    return rh_env_kind(world->env[0]);
}

// Whether a word that names no environment looks like a model's file.
static bool is_file(const char *word)
{
    const char *dot = strrchr(word, '.');
    return (dot && strcmp(dot, ".model") == 0) || strchr(word, '/') || access(word, F_OK) == 0;
}

// The one operand, or NULL when it is not one.
static const char *only_word(const cli_args *args)
{
    const char *command = args->command->name;
    if (args->nword == 1)
        return args->word[0];
    if (args->nword > 1) {
        cli_refuse("%s: unexpected argument '%s' after '%s'", command, args->word[1],
                   args->word[0]);
        return NULL;
    }
    cli_refuse("%s: which environment?", command);
    cli_try("rehearse list envs");
    return NULL;
}

const rh_env_type *cli_env_find(const cli_args *args)
{
    rh_error err;
    const char *word = only_word(args);
    const rh_env_type *type = word ? rh_env_find(word, &err) : NULL;
    if (!word || type)
        return type;
    bool model = strncmp(word, PREFIX, strlen(PREFIX)) == 0;
    if (model) // a command that took models would not have asked
        cli_refuse("%s: %s is a model, expected a simulator", args->command->name, word);
    else
        cli_refuse("%s", err.text);
    if (!model && is_file(word) && strstr(args->command->operands, PREFIX))
        cli_try(PREFIX "%s, for a model that `rehearse fit` wrote", word);
    else
        cli_try("rehearse list envs");
    return NULL;
}

int cli_env_values(const cli_args *args, const char *owner, const rh_param *param, int nparam,
                   double *value)
{
    rh_error err;
    int rc = CLI_OK;
    const char *pair, *text;
    for (int at = 0; !rc && (pair = cli_each(args, "env-set", &at)) != NULL;) {
        char name[64];
        int i;
        cli_split(pair, name, &text);
        rh_status read = rh_param_lookup(param, nparam, owner, name, &i, &err);
        if (!read)
            read = rh_param_parse(&param[i], owner, text, &value[i], &err);
        rc = cli_pass(read, &err);
    }
    return rc;
}

int cli_range_read(const char *pair, const char *owner, const char *const *name, int nobs,
                   int *sensor, double *lo, double *hi)
{
    char word[64], *end;
    const char *value;
    rh_error err;
    int i = 0;
    cli_split(pair, word, &value);
    while (i < nobs && strcmp(name[i], word) != 0)
        i++;
    if (i == nobs) {
        char what[96];
        snprintf(what, sizeof what, "%.64s: no sensor", owner);
        return cli_pass(rh_unknown(&err, what, word, name, nobs), &err);
    }

    *lo = strtod(value, &end);
    *hi = NAN;
    bool read = end != value && *end == ':';
    if (read) {
        value = end + 1;
        *hi = strtod(value, &end);
        read = end != value && !*end;
    }
    if (!read || !isfinite(*lo) || !isfinite(*hi) || !(*lo < *hi))
        return cli_refuse("--range %s, expected SENSOR=LO:HI with LO below HI", pair);
    *sensor = i;
    return CLI_OK;
}

// ---------------------------------------------------------------------------- a simulator

static int open_simulator(cli_world *world, const cli_args *args)
{
    rh_error err;
    const rh_env_type *type = cli_env_find(args);
    if (!type)
        return CLI_USAGE;
    if (cli_has(args, "member") || cli_has(args, "pool"))
        return cli_refuse("--member and --pool are for models, and %s is a simulator",
                          type->name);
    double *opt = rh_alloc((size_t)type->nparam + 1, sizeof *opt);
    world->env = rh_alloc(1, sizeof *world->env);
    if (!opt || !world->env) {
        rh_free(opt);
        return cli_fail("out of memory");
    }
    rh_param_initial(type->param, type->nparam, opt);
    int rc = cli_env_values(args, type->name, type->param, type->nparam, opt);
    if (!rc)
        rc = cli_pass(rh_env_create(&world->env[0], type, opt, &err), &err);
    world->nmember = rc ? 0 : 1;
    rh_free(opt);
    return rc;
}

// ---------------------------------------------------------------------------- a model

// Every member that is wanted, with the parameters that are.
static int open_members(cli_world *world, const double *param, int nmember)
{
    rh_error err;
    world->env = rh_alloc((size_t)nmember, sizeof *world->env);
    if (!world->env)
        return cli_fail("out of memory");
    int rc = CLI_OK;
    for (int i = 0; i < nmember && !rc; i++) {
        rc = cli_pass(
            rh_model_env(&world->env[i], world->model, world->member + i, param, &err), &err);
        world->nmember += !rc;
    }
    return rc;
}

static int open_model(cli_world *world, const cli_args *args)
{
    rh_error err;
    world->path = world->name + strlen(PREFIX);
    if (!*world->path)
        return cli_refuse("%s: the model's file is missing: " PREFIX "plant.model",
                          args->command->name);
    rh_status read = rh_model_read(&world->model, world->path, &err);
    if (read)
        return cli_pass_file(read, &err);

    int nmember = rh_model_nmember(world->model);
    int64_t member = cli_number(args, "member", -1);
    if (member >= nmember)
        return cli_refuse("%s: --member = %d, expected 0 to %d: %s has %d member%s",
                          args->command->name, (int)member, nmember - 1, world->path, nmember,
                          cli_plural(nmember));
    if (cli_has(args, "pool") && (nmember == 1 || member >= 0))
        return cli_refuse("%s: --pool is for several members, and runs are in one",
                          args->command->name);
    world->member = member < 0 ? 0 : (int)member;
    world->pool = (rh_pool)cli_number(args, "pool", RH_POOL_MEAN);

    const rh_model_type *type = rh_model_kind(world->model);
    double *param = rh_alloc((size_t)type->nparam + 1, sizeof *param);
    if (!param)
        return cli_fail("out of memory");
    memcpy(param, rh_model_params(world->model), (size_t)type->nparam * sizeof *param);
    int rc = cli_env_values(args, type->name, type->param, type->nparam, param);
    if (!rc)
        rc = open_members(world, param, member < 0 ? nmember : 1);
    rh_free(param);
    return rc;
}

int cli_world_init(cli_world *world, const cli_args *args)
{
    *world = (cli_world){0};
    if (args->nword != 1 || strncmp(args->word[0], PREFIX, strlen(PREFIX)) != 0) {
        int rc = open_simulator(world, args);
        world->name = args->nword ? args->word[0] : "";
        return rc;
    }
    world->name = args->word[0];
    return open_model(world, args);
}

void cli_world_clear(cli_world *world)
{
    for (int i = 0; i < world->nmember; i++)
        rh_env_destroy(world->env[i]);
    rh_free((void *)world->env);
    rh_model_destroy(world->model);
}
