// grid.c - the settings of a sweep: every combination of the axes' values.
//
// Axes come from a published grid of the environment, from --set, or both; --set replaces the
// grid's values of a parameter where it stands, or adds an axis at the end. A model has no
// grids of its own: ENV:NAME takes that of a simulator.

#include "cli_internal.h"

#include <math.h>
#include <string.h>

#define MOST_SETTINGS 100000

static int out_of_memory(void)
{
    return cli_fail("out of memory");
}

// The axis of parameter `param`, added when there is none yet.
static cli_axis *axis_of(cli_grid *grid, int param)
{
    for (int i = 0; i < grid->naxis; i++)
        if (grid->axis[i].param == param)
            return &grid->axis[i];
    grid->axis[grid->naxis] = (cli_axis){.param = param};
    return &grid->axis[grid->naxis++];
}

// ---------------------------------------------------------------------------- published grids

static int unknown_grid(const cli_job *job, const rh_env_type *env, const char *name)
{
    const char *known[CLI_MAX_NAMES];
    int n = 0;
    for (int i = 0; i < env->ngrid && n < CLI_MAX_NAMES; i++) {
        bool seen = strcmp(env->grid[i].agent, job->agent->name) != 0;
        for (int k = 0; k < n; k++)
            seen = seen || strcmp(known[k], env->grid[i].grid) == 0;
        if (!seen)
            known[n++] = env->grid[i].grid;
    }

    char what[128];
    rh_error err;
    bool own = job->world.model && env == cli_world_kind(&job->world);
    snprintf(what, sizeof what, "%.64s, %s: no grid", own ? job->world.name : env->name,
             job->agent->name);
    if (own) {
        cli_refuse("%s '%s'; a model has none of its own", what, name);
        cli_try("--grid acrobot:%s, that of an environment, or --set name=value,value,...",
                name);
        return CLI_USAGE;
    }
    if (n)
        return cli_pass(rh_unknown(&err, what, name, known, n), &err);
    cli_refuse("%s '%s'; none was published for this pair", what, name);
    cli_try("rehearse list grids, or --set name=value,value,...");
    return CLI_USAGE;
}

// NAME, of the environment that is run in, or ENV:NAME. *name moves to the NAME.
static const rh_env_type *grid_owner(const cli_job *job, const char **name)
{
    const char *colon = strchr(*name, ':');
    rh_error err;
    char word[64];
    if (!colon)
        return cli_world_kind(&job->world);
    snprintf(word, sizeof word, "%.*s", (int)(colon - *name < 63 ? colon - *name : 63), *name);
    *name = colon + 1;
    const rh_env_type *env = rh_env_find(word, &err);
    if (!env)
        cli_refuse("--grid: %s", err.text);
    return env;
}

static int add_published(cli_grid *grid, const cli_job *job, const char *name)
{
    const rh_env_type *env = grid_owner(job, &name);
    const rh_agent_type *agent = job->agent;
    if (!env)
        return CLI_USAGE;
    for (int i = 0; i < env->ngrid; i++) {
        const rh_axis *from = &env->grid[i];
        if (strcmp(from->grid, name) != 0 || strcmp(from->agent, agent->name) != 0)
            continue;
        int param;
        rh_error err;
        int rc = cli_pass(rh_param_lookup(agent->param, agent->nparam, agent->name, from->param,
                                          &param, &err),
                          &err);
        if (rc)
            return rc;
        cli_axis *axis = axis_of(grid, param);
        axis->value = rh_alloc((size_t)from->nvalue, sizeof *axis->value);
        if (!axis->value)
            return out_of_memory();
        memcpy(axis->value, from->value, (size_t)from->nvalue * sizeof *axis->value);
        axis->nvalue = from->nvalue;
    }
    return grid->naxis ? CLI_OK : unknown_grid(job, env, name);
}

// ---------------------------------------------------------------------------- --set

// The values of a list, each once.
static int read_list(cli_axis *axis, const rh_param *param, const char *owner, const char *list)
{
    char text[64];
    rh_error err;
    for (;;) {
        int length = (int)strcspn(list, ",");
        snprintf(text, sizeof text, "%.*s", length, list);
        double value;
        rh_status rc = rh_param_parse(param, owner, text, &value, &err);
        if (rc)
            return cli_pass(rc, &err);
        for (int i = 0; i < axis->nvalue; i++)
            if (axis->value[i] == value)
                return cli_refuse("%s: %s = %s is listed twice", owner, param->name, text);
        axis->value[axis->nvalue++] = value;
        if (!list[length])
            return CLI_OK;
        list += length + 1;
    }
}

static int add_list(cli_grid *grid, const cli_job *job, const char *pair)
{
    const char *list;
    int param;
    int rc = cli_job_pair(job, pair, &param, &list);
    if (rc)
        return rc;

    size_t most = 1;
    for (const char *c = list; *c; c++)
        most += *c == ',';
    cli_axis *axis = axis_of(grid, param);
    rh_free(axis->value);
    axis->nvalue = 0;
    axis->value = rh_alloc(most, sizeof *axis->value);
    if (!axis->value)
        return out_of_memory();
    return read_list(axis, &job->agent->param[param], job->agent->name, list);
}

// ---------------------------------------------------------------------------- the whole

// Count the settings; axes of one value move into the job's own setting.
static int close_grid(cli_grid *grid, cli_job *job)
{
    int naxis = 0;
    double n = 1.0;
    for (int i = 0; i < grid->naxis; i++) {
        cli_axis axis = grid->axis[i];
        n = fmin(n * axis.nvalue, 1e18); // enough to be refused, and still a whole number
        if (axis.nvalue > 1) {
            job->swept[axis.param] = true;
            grid->axis[naxis++] = axis;
        } else {
            job->hp[axis.param] = axis.value[0];
            rh_free(axis.value);
        }
    }
    grid->naxis = naxis;
    if (n > MOST_SETTINGS) {
        cli_refuse("sweep: %s settings, expected at most %s", cli_count((int64_t)n).s,
                   cli_count(MOST_SETTINGS).s);
        cli_try("fewer values, or a coarse sweep first and a fine one around its best");
        return CLI_USAGE;
    }
    grid->nsetting = (int)n;
    return CLI_OK;
}

int cli_grid_init(cli_grid *grid, cli_job *job, const cli_args *args)
{
    *grid = (cli_grid){0};
    const char *name = cli_value(args, "grid"), *pair;
    if (!name && !cli_has(args, "set")) {
        cli_refuse("sweep: over what? --grid NAME or --set name=value,value,...");
        cli_try("rehearse list grids");
        return CLI_USAGE;
    }
    grid->axis = rh_alloc((size_t)job->agent->nparam + 1, sizeof *grid->axis);
    if (!grid->axis)
        return out_of_memory();

    int rc = name ? add_published(grid, job, name) : CLI_OK;
    for (int at = 0; !rc && (pair = cli_each(args, "set", &at)) != NULL;)
        rc = add_list(grid, job, pair);
    return rc ? rc : close_grid(grid, job);
}

void cli_grid_setting(const cli_grid *grid, int setting, double *hp)
{
    for (int i = grid->naxis - 1; i >= 0; i--) {
        const cli_axis *axis = &grid->axis[i];
        hp[axis->param] = axis->value[setting % axis->nvalue];
        setting /= axis->nvalue;
    }
}

void cli_grid_clear(cli_grid *grid)
{
    for (int i = 0; grid->axis && i < grid->naxis; i++)
        rh_free(grid->axis[i].value);
    rh_free(grid->axis);
}
