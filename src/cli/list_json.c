// list_json.c - environments, agents, models, representations, methods and grids in JSON.

#include "cli_internal.h"

#include <string.h>

static void json_params(cli_json *json, const rh_param *param, int nparam)
{
    cli_json_open(json, "parameters", '[', false);
    for (int i = 0; i < nparam; i++) {
        const rh_param *p = &param[i];
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "name", p->name);
        cli_json_text(json, "about", p->about ? p->about : "");
        cli_json_real(json, "lo", p->lo);
        cli_json_real(json, "hi", p->hi);
        cli_json_real(json, "default", p->initial);
        cli_json_text(json, "scale", p->scale == RH_LOG ? "log" : "linear");
        cli_json_flag(json, "integer", p->whole);
        cli_json_flag(json, "fixed", p->fixed);
        if (p->usual_lo < p->usual_hi) {
            const double range[] = {p->usual_lo, p->usual_hi};
            cli_json_reals(json, "search_range", range, 2);
        }
        if (p->choice) {
            cli_json_open(json, "choices", '[', true);
            for (int k = 0; k <= (int)p->hi; k++)
                cli_json_text(json, NULL, p->choice[k]);
            cli_json_close(json);
        }
        cli_json_close(json);
    }
    cli_json_close(json);
}

// The published grids of an environment, one row per axis; `whose`: with its name.
static void json_axes(cli_json *json, const rh_env_type *type, bool whose)
{
    for (int i = 0; i < type->ngrid; i++) {
        const rh_axis *axis = &type->grid[i];
        cli_json_open(json, NULL, '{', true);
        if (whose)
            cli_json_text(json, "env", type->name);
        cli_json_text(json, "grid", axis->grid);
        cli_json_text(json, "agent", axis->agent);
        cli_json_text(json, "parameter", axis->param);
        cli_json_reals(json, "values", axis->value, axis->nvalue);
        cli_json_close(json);
    }
}

void cli_json_sensors(cli_json *json, const rh_task *task)
{
    cli_json_open(json, "sensors", '[', false);
    for (int i = 0; i < task->nobs; i++) {
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "name", task->obs_name[i]);
        cli_json_real(json, "lo", task->obs_lo[i]);
        cli_json_real(json, "hi", task->obs_hi[i]);
        cli_json_close(json);
    }
    cli_json_close(json);
}

// The task of an environment with default options.
static void json_task(cli_json *json, const rh_env_type *type)
{
    rh_env *env = NULL;
    if (rh_env_create(&env, type, NULL, NULL) != RH_OK)
        return;
    const rh_task *task = rh_env_task(env);
    cli_json_whole(json, "steps", task->nstep);
    cli_json_flag(json, "continuing", task->continuing);
    cli_json_whole(json, "actions", task->naction);
    cli_json_whole(json, "action_dimensions", task->naction ? 0 : task->nact);
    cli_json_real(json, "gamma", task->gamma);
    cli_json_sensors(json, task);
    rh_env_destroy(env);
}

static void json_presets(cli_json *json, const rh_repr_type *type)
{
    cli_json_open(json, "presets", '[', false);
    for (int i = 0; i < rh_repr_npreset(); i++) {
        const rh_repr_preset *preset = rh_repr_preset_at(i);
        if (strcmp(preset->type, type->name) != 0)
            continue;
        cli_json_open(json, NULL, '{', false);
        cli_json_text(json, "name", preset->name);
        cli_json_text(json, "about", preset->about);
        cli_json_open(json, "parameters", '{', true);
        for (const rh_setting *s = preset->set; s->name; s++)
            cli_json_text(json, s->name, s->value);
        cli_json_close(json);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void json_item(cli_json *json, const cli_item *item)
{
    cli_json_open(json, NULL, '{', false);
    cli_json_text(json, "name", item->name);
    cli_json_text(json, "about", item->about);
    if (item->env)
        json_task(json, item->env);
    if (item->agent) {
        cli_json_flag(json, "discrete_actions", item->agent->actions & RH_DISCRETE);
        cli_json_flag(json, "continuous_actions", item->agent->actions & RH_CONTINUOUS);
    }
    if (item->method)
        cli_json_flag(json, "finite", item->method->finite);
    json_params(json, item->param, item->nparam);
    if (item->repr)
        json_presets(json, item->repr);
    if (item->env) {
        cli_json_open(json, "grids", '[', false);
        json_axes(json, item->env, false);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static bool wanted(const char *one, const char *other)
{
    return !one || strcmp(one, other) == 0;
}

static void json_one(cli_json *json, int topic, const cli_item *item)
{
    if (topic == CLI_LIST_GRIDS)
        json_axes(json, item->env, true);
    else
        json_item(json, item);
}

void cli_list_json(FILE *out, const char *topic, const cli_item *only)
{
    cli_json json = {.out = out};
    const char *topics[CLI_MAX_NAMES];
    int n = cli_names(CLI_TOPIC, topics);
    cli_json_open(&json, NULL, '{', false);
    cli_json_text(&json, "version", rh_version());
    for (int t = 0; t < n; t++) {
        cli_item item;
        if (!wanted(topic, topics[t]))
            continue;
        cli_json_open(&json, topics[t], '[', false);
        if (only)
            json_one(&json, t, only);
        for (int i = 0; !only && cli_list_item((cli_list_topic)t, i, &item); i++)
            json_one(&json, t, &item);
        cli_json_close(&json);
    }
    cli_json_close(&json);
}
