// list_json.c - environments, agents, models, representations, methods and grids in JSON.

#include "cli_internal.h"
#include "repr/repr.h"

#include <string.h>

static void json_params(rh_doc *json, const rh_param *param, int nparam)
{
    rh_doc__open(json, "parameters", '[', false);
    for (int i = 0; i < nparam; i++) {
        const rh_param *p = &param[i];
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "name", p->name);
        rh_doc__text(json, "about", p->about ? p->about : "");
        rh_doc__real(json, "lo", p->lo);
        rh_doc__real(json, "hi", p->hi);
        rh_doc__real(json, "default", p->initial);
        rh_doc__text(json, "scale", p->scale == RH_LOG ? "log" : "linear");
        rh_doc__flag(json, "integer", p->whole);
        rh_doc__flag(json, "fixed", p->fixed);
        if (p->usual_lo < p->usual_hi) {
            const double range[] = {p->usual_lo, p->usual_hi};
            rh_doc__reals(json, "search_range", range, 2);
        }
        if (p->choice) {
            rh_doc__open(json, "choices", '[', true);
            for (int k = 0; k <= (int)p->hi; k++)
                rh_doc__text(json, NULL, p->choice[k]);
            rh_doc__close(json);
        }
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

// The published grids of an environment, one row per axis; `whose`: with its name.
static void json_axes(rh_doc *json, const rh_env_type *type, bool whose)
{
    for (int i = 0; i < type->ngrid; i++) {
        const rh_axis *axis = &type->grid[i];
        rh_doc__open(json, NULL, '{', true);
        if (whose)
            rh_doc__text(json, "env", type->name);
        rh_doc__text(json, "grid", axis->grid);
        rh_doc__text(json, "agent", axis->agent);
        rh_doc__text(json, "parameter", axis->param);
        rh_doc__reals(json, "values", axis->value, axis->nvalue);
        rh_doc__close(json);
    }
}

void cli_json_sensors(rh_doc *json, const rh_task *task)
{
    rh_doc__open(json, "sensors", '[', false);
    for (int i = 0; i < task->nobs; i++) {
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "name", task->obs_name[i]);
        rh_doc__real(json, "lo", task->obs_lo[i]);
        rh_doc__real(json, "hi", task->obs_hi[i]);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

// The task of an environment with default options.
static void json_task(rh_doc *json, const rh_env_type *type)
{
    rh_env *env = NULL;
    if (rh_env_create(&env, type, NULL, NULL) != RH_OK)
        return;
    const rh_task *task = rh_env_task(env);
    rh_doc__whole(json, "steps", task->nstep);
    rh_doc__flag(json, "continuing", task->continuing);
    rh_doc__whole(json, "actions", task->naction);
    rh_doc__whole(json, "action_dimensions", task->naction ? 0 : task->nact);
    rh_doc__real(json, "gamma", task->gamma);
    cli_json_sensors(json, task);
    rh_env_destroy(env);
}

static void json_presets(rh_doc *json, const rh_repr_type *type)
{
    rh_doc__open(json, "presets", '[', false);
    for (int i = 0; i < rh_repr__npreset(); i++) {
        const rh_repr__preset *preset = rh_repr_preset__at(i);
        if (strcmp(preset->type, type->name) != 0)
            continue;
        rh_doc__open(json, NULL, '{', false);
        rh_doc__text(json, "name", preset->name);
        rh_doc__text(json, "about", preset->about);
        rh_doc__open(json, "parameters", '{', true);
        for (const rh_setting *s = preset->set; s->name; s++)
            rh_doc__text(json, s->name, s->value);
        rh_doc__close(json);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static void json_item(rh_doc *json, const cli_item *item)
{
    rh_doc__open(json, NULL, '{', false);
    rh_doc__text(json, "name", item->name);
    rh_doc__text(json, "about", item->about);
    if (item->env)
        json_task(json, item->env);
    if (item->agent) {
        rh_doc__flag(json, "discrete_actions", item->agent->actions & RH_DISCRETE);
        rh_doc__flag(json, "continuous_actions", item->agent->actions & RH_CONTINUOUS);
    }
    if (item->method)
        rh_doc__flag(json, "finite", item->method->finite);
    json_params(json, item->param, item->nparam);
    if (item->repr)
        json_presets(json, item->repr);
    if (item->env) {
        rh_doc__open(json, "grids", '[', false);
        json_axes(json, item->env, false);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static bool wanted(const char *one, const char *other)
{
    return !one || strcmp(one, other) == 0;
}

static void json_one(rh_doc *json, int topic, const cli_item *item)
{
    if (topic == CLI_LIST_GRIDS)
        json_axes(json, item->env, true);
    else
        json_item(json, item);
}

void cli_list_json(FILE *out, const char *topic, const cli_item *only)
{
    rh_doc json = {.out = out};
    rh_doc__open(&json, NULL, '{', false);
    rh_doc__text(&json, "version", rh_version());
    for (int t = 0; cli_topics[t]; t++) {
        cli_item item;
        if (!wanted(topic, cli_topics[t]))
            continue;
        rh_doc__open(&json, cli_topics[t], '[', false);
        if (only)
            json_one(&json, t, only);
        for (int i = 0; !only && cli_list_item((cli_list_topic)t, i, &item); i++)
            json_one(&json, t, &item);
        rh_doc__close(&json);
    }
    rh_doc__close(&json);
}
