// list_json.c - the environments, agents, models, representations, methods and grids there are,
// in JSON.

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
        cli_json_real(json, "initial", p->initial);
        cli_json_text(json, "scale", p->scale == RH_LOG ? "log" : "linear");
        cli_json_flag(json, "whole", p->whole);
        cli_json_flag(json, "fixed", p->fixed);
        if (p->usual_lo < p->usual_hi) {
            cli_json_open(json, "searched", '[', true);
            cli_json_real(json, NULL, p->usual_lo);
            cli_json_real(json, NULL, p->usual_hi);
            cli_json_close(json);
        }
        if (p->choice) {
            cli_json_open(json, "choice", '[', true);
            for (int k = 0; k <= (int)p->hi; k++)
                cli_json_text(json, NULL, p->choice[k]);
            cli_json_close(json);
        }
        cli_json_close(json);
    }
    cli_json_close(json);
}

// The grids published for an environment, a row for each axis; `whose`: with its name.
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
        cli_json_open(json, "values", '[', true);
        for (int k = 0; k < axis->nvalue; k++)
            cli_json_real(json, NULL, axis->value[k]);
        cli_json_close(json);
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

// How the environment looks to an agent, with all options at their defaults.
static void json_task(cli_json *json, const rh_env_type *type)
{
    rh_env *env = NULL;
    if (rh_env_create(&env, type, NULL, NULL) != RH_OK)
        return;
    const rh_task *task = rh_env_task(env);
    cli_json_whole(json, "steps", task->nstep);
    cli_json_flag(json, "continuing", task->continuing);
    cli_json_text(json, "actions", task->naction ? "discrete" : "continuous");
    cli_json_whole(json, "nactions", task->naction ? task->naction : task->nact);
    cli_json_real(json, "gamma", task->gamma);
    cli_json_sensors(json, task);
    rh_env_destroy(env);
}

static void json_env(cli_json *json, const rh_env_type *type)
{
    cli_json_open(json, NULL, '{', false);
    cli_json_text(json, "name", type->name);
    cli_json_text(json, "about", type->about);
    json_task(json, type);
    json_params(json, type->param, type->nparam);
    cli_json_open(json, "grids", '[', false);
    json_axes(json, type, false);
    cli_json_close(json);
    cli_json_close(json);
}

static void json_agent(cli_json *json, const rh_agent_type *type)
{
    cli_json_open(json, NULL, '{', false);
    cli_json_text(json, "name", type->name);
    cli_json_text(json, "about", type->about);
    cli_json_open(json, "actions", '[', true);
    if (type->actions & RH_DISCRETE)
        cli_json_text(json, NULL, "discrete");
    if (type->actions & RH_CONTINUOUS)
        cli_json_text(json, NULL, "continuous");
    cli_json_close(json);
    json_params(json, type->param, type->nparam);
    cli_json_close(json);
}

static void json_model(cli_json *json, const rh_model_type *type)
{
    cli_json_open(json, NULL, '{', false);
    cli_json_text(json, "name", type->name);
    cli_json_text(json, "about", type->about);
    json_params(json, type->param, type->nparam);
    cli_json_close(json);
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
        cli_json_open(json, "set", '{', true);
        for (const rh_setting *s = preset->set; s->name; s++)
            cli_json_text(json, s->name, s->value);
        cli_json_close(json);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void json_repr(cli_json *json, const rh_repr_type *type)
{
    cli_json_open(json, NULL, '{', false);
    cli_json_text(json, "name", type->name);
    cli_json_text(json, "about", type->about);
    json_params(json, type->param, type->nparam);
    json_presets(json, type);
    cli_json_close(json);
}

static void json_method(cli_json *json, const rh_search_type *type)
{
    cli_json_open(json, NULL, '{', false);
    cli_json_text(json, "name", type->name);
    cli_json_text(json, "about", type->about);
    cli_json_flag(json, "finite", type->finite);
    json_params(json, type->param, type->nparam);
    cli_json_close(json);
}

static bool wanted(const char *one, const char *other)
{
    return !one || strcmp(one, other) == 0;
}

void cli_list_json(FILE *out, const char *topic, const char *name)
{
    cli_json json = {.out = out};
    cli_json_open(&json, NULL, '{', false);
    cli_json_text(&json, "version", rh_version());
    if (wanted(topic, "envs")) {
        cli_json_open(&json, "envs", '[', false);
        for (int i = 0; i < rh_env_ntype(); i++)
            if (wanted(name, rh_env_type_at(i)->name))
                json_env(&json, rh_env_type_at(i));
        cli_json_close(&json);
    }
    if (wanted(topic, "agents")) {
        cli_json_open(&json, "agents", '[', false);
        for (int i = 0; i < rh_agent_ntype(); i++)
            if (wanted(name, rh_agent_type_at(i)->name))
                json_agent(&json, rh_agent_type_at(i));
        cli_json_close(&json);
    }
    if (wanted(topic, "models")) {
        cli_json_open(&json, "models", '[', false);
        for (int i = 0; i < rh_model_ntype(); i++)
            if (wanted(name, rh_model_type_at(i)->name))
                json_model(&json, rh_model_type_at(i));
        cli_json_close(&json);
    }
    if (wanted(topic, "representations")) {
        cli_json_open(&json, "representations", '[', false);
        for (int i = 0; i < rh_repr_ntype(); i++)
            if (wanted(name, rh_repr_type_at(i)->name))
                json_repr(&json, rh_repr_type_at(i));
        if (wanted(name, "auto")) {
            cli_json_open(&json, NULL, '{', true);
            cli_json_text(&json, "name", "auto");
            cli_json_text(&json, "about", CLI_AUTO_ABOUT);
            cli_json_close(&json);
        }
        cli_json_close(&json);
    }
    if (wanted(topic, "methods")) {
        cli_json_open(&json, "methods", '[', false);
        for (int i = 0; i < rh_search_ntype(); i++)
            if (wanted(name, rh_search_type_at(i)->name))
                json_method(&json, rh_search_type_at(i));
        cli_json_close(&json);
    }
    if (wanted(topic, "grids")) {
        cli_json_open(&json, "grids", '[', false);
        for (int i = 0; i < rh_env_ntype(); i++)
            if (wanted(name, rh_env_type_at(i)->name))
                json_axes(&json, rh_env_type_at(i), true);
        cli_json_close(&json);
    }
    cli_json_close(&json);
}
