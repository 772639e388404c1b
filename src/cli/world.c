// world.c - where agents run: a simulator by its name, or a model from its file.
//
// A model is opened once, and each member becomes an environment; with --member only that one,
// whose runs stay the same, because its number selects their random streams.

#include "base/base.h"
#include "cli_internal.h"
#include "study/study.h"

#include <string.h>
#include <unistd.h>

#define PREFIX "model:"

const rh_env_type *cli_world_kind(const cli_world *world)
{
    return rh_contract__env_type(world->env[0]);
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
    const rh_env_type *type = word ? rh_plugin_env(word, &err) : NULL;
    if (!word || type)
        return type;
    bool model = strncmp(word, PREFIX, strlen(PREFIX)) == 0;
    bool program = strncmp(word, "exec:", 5) == 0;
    if (model) // this command takes no models
        cli_refuse("%s: %s is a model, expected a simulator", args->command->name, word);
    else
        cli_refuse("%s", err.text);
    if (program)
        cli_try("docs/exec.md, the protocol of such programs");
    else if (!model && is_file(word) && strstr(args->command->operands, PREFIX))
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

// ---------------------------------------------------------------------------- opening

// The members from `member` on, or the simulator.
static int open_envs(cli_world *world, const rh_plan *plan, int nmember)
{
    rh_error err;
    world->env = rh_alloc((size_t)nmember, sizeof *world->env);
    if (!world->env)
        return cli_fail("out of memory");
    int rc = CLI_OK;
    for (int i = 0; i < nmember && !rc; i++) {
        rc = cli_pass(rh_plan__env(&world->env[i], plan, world->model, world->member + i, &err),
                      &err);
        world->nmember += !rc;
    }
    return rc;
}

static int open_model(cli_world *world, const cli_args *args, const rh_plan *plan)
{
    rh_error err;
    world->path = world->name + strlen(PREFIX);
    if (!*world->path)
        return cli_refuse("%s: " PREFIX ", expected " PREFIX "FILE", args->command->name);
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
        return cli_refuse("%s: --pool is for several members, but runs are in one",
                          args->command->name);
    world->member = member < 0 ? 0 : (int)member;
    world->pool = rh_plan__judge(plan).pool;
    return open_envs(world, plan, member < 0 ? nmember : 1);
}

int cli_world_init(cli_world *world, const cli_args *args, const rh_plan *plan)
{
    const char *data = rh_plan_text(plan, "data"), *env = rh_plan_text(plan, "env.name");
    *world = (cli_world){.name = env};
    if (data && strncmp(data, PREFIX, strlen(PREFIX)) == 0) {
        world->name = data;
        return open_model(world, args, plan);
    }
    if (!env)
        return cli_refuse("%s: %s has no key env, expected a simulator, or data: model:FILE",
                          args->command->name, args->word[0]);
    if (cli_has(args, "member") || cli_has(args, "pool"))
        return cli_refuse("--member and --pool are for models, but %s is a simulator", env);
    return open_envs(world, plan, 1);
}

void cli_world_clear(cli_world *world)
{
    for (int i = 0; i < world->nmember; i++)
        rh_env_destroy(world->env[i]);
    rh_free((void *)world->env);
    rh_model_destroy(world->model);
}
