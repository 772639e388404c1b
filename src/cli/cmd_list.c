// cmd_list.c - rehearse list: the environments, agents, models, representations, methods of
// search and published grids there are, and what can be set.
//
// Everything comes from the registries and their parameter tables.

#include "cli_internal.h"

#include <string.h>

static const cli_option list_option[] = {
    {"json", 0, CLI_NONE, NULL, .about = "one JSON document on standard output"},
    {"help", 'h', CLI_NONE, NULL, .about = "this text"},
    {0},
};

static const cli_group list_group = {"options", list_option};

static const char *actions_of(const rh_agent_type *type)
{
    bool discrete = type->actions & RH_DISCRETE, continuous = type->actions & RH_CONTINUOUS;
    return discrete && continuous ? "discrete or continuous"
           : discrete             ? "discrete"
                                  : "continuous";
}

// ---------------------------------------------------------------------------- tables

static int width_of_page(void)
{
    return cli_is_terminal(stdout) ? cli_columns(stdout) : 100;
}

static int longer(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

// What is said of the i-th name of a kind.
static const char *about(cli_kind kind, int i)
{
    if (kind == CLI_ENV)
        return rh_env_type_at(i)->about;
    if (kind == CLI_AGENT)
        return rh_agent_type_at(i)->about;
    if (kind == CLI_MODEL)
        return rh_model_type_at(i)->about;
    if (kind == CLI_METHOD)
        return rh_search_type_at(i)->about;
    return i < rh_repr_ntype() ? rh_repr_type_at(i)->about : CLI_AUTO_ABOUT;
}

static void print_names(cli_kind kind, const char *title)
{
    cli_style style = cli_style_of(stdout);
    const char *name[CLI_MAX_NAMES];
    int n = cli_names(kind, name), width = 8;
    for (int i = 0; i < n; i++)
        width = longer(width, name[i]);
    printf("%s%s%s\n", style.bold, title, style.plain);
    for (int i = 0; i < n; i++) {
        printf("  %-*s  ", width, name[i]);
        cli_wrap(about(kind, i), width + 4, width_of_page());
    }
}

static void print_envs(void)
{
    print_names(CLI_ENV, "environments");
    printf("  %-12s  ", "model:FILE");
    cli_wrap("a model that `rehearse fit` has made of a log, for run and sweep", 16,
             width_of_page());
}

// "0 to 1", "1 to 64, whole" or the names of the choices.
static void describe_range(const rh_param *p, char text[96])
{
    if (!p->choice) {
        snprintf(text, 96, "%.6g to %.6g%s", p->lo, p->hi, p->whole ? ", whole" : "");
        return;
    }
    size_t used = 0;
    for (int k = 0; k <= (int)p->hi && used < 96; k++)
        used += (size_t)snprintf(text + used, 96 - used, "%s%s", k ? ", " : "", p->choice[k]);
}

static void describe_default(const rh_param *p, char text[40])
{
    if (p->choice)
        snprintf(text, 40, "%s", p->choice[(int)p->initial]);
    else
        snprintf(text, 40, "%.6g", p->initial);
}

// "0.001 to 1, log": what a search tries where nobody says; "-" where it tries nothing.
static void describe_searched(const rh_param *p, char text[60])
{
    if (p->usual_lo < p->usual_hi)
        snprintf(text, 60, "%.6g to %.6g%s", p->usual_lo, p->usual_hi,
                 p->scale == RH_LOG ? ", log" : "");
    else
        snprintf(text, 60, "-");
}

// A table of parameters, with a column of what is searched where anything is.
static void print_params(const char *title, const rh_param *param, int nparam)
{
    cli_style style = cli_style_of(stdout);
    char range[96], initial[40], searched[60];
    int name = 4, middle = 7, right = 5, last = 0; // columns
    for (int i = 0; i < nparam; i++) {
        describe_range(&param[i], range);
        describe_default(&param[i], initial);
        describe_searched(&param[i], searched);
        name = longer(name, param[i].name);
        middle = longer(middle, initial);
        right = longer(right, range);
        if (param[i].usual_lo < param[i].usual_hi)
            last = longer(last > 8 ? last : 8, searched);
    }
    if (nparam == 0)
        return;

    printf("\n%s%s%s\n%s  %-*s  %-*s  ", style.bold, title, style.plain, style.dim, name,
           "name", middle, "default");
    if (last)
        printf("%-*s  searched%s\n", right, "range", style.plain);
    else
        printf("range%s\n", style.plain);
    for (int i = 0; i < nparam; i++) {
        describe_range(&param[i], range);
        describe_default(&param[i], initial);
        describe_searched(&param[i], searched);
        printf("  %-*s  %-*s  %-*s  ", name, param[i].name, middle, initial, right, range);
        if (last)
            printf("%-*s  ", last, searched);
        cli_wrap(param[i].about ? param[i].about : "",
                 name + middle + right + 8 + (last ? last + 2 : 0), width_of_page());
    }
}

// Whether axis i of the environment's table is the first of its grid.
static bool begins_grid(const rh_env_type *env, int i)
{
    const rh_axis *axis = &env->grid[i];
    return i == 0 || strcmp(axis->grid, axis[-1].grid) != 0 ||
           strcmp(axis->agent, axis[-1].agent) != 0;
}

static void print_grids(const rh_env_type *env)
{
    for (int i = 0; i < env->ngrid; i++) {
        const rh_axis *axis = &env->grid[i];
        if (begins_grid(env, i))
            printf("\n  rehearse sweep %s --agent %s --grid %s\n", env->name, axis->agent,
                   axis->grid);
        printf("    %-12s", axis->param);
        const rh_agent_type *agent = rh_agent_find(axis->agent, NULL);
        int p = agent ? rh_param_find(agent->param, agent->nparam, axis->param) : -1;
        for (int k = 0; k < axis->nvalue; k++)
            printf(" %s", p >= 0 ? cli_param(&agent->param[p], axis->value[k]).s
                                 : cli_exact(axis->value[k]).s);
        putchar('\n');
    }
}

// ---------------------------------------------------------------------------- details

static int detail_env(const rh_env_type *type)
{
    rh_error err;
    rh_env *env = NULL;
    int rc = cli_pass(rh_env_create(&env, type, NULL, &err), &err);
    if (rc)
        return rc;
    const rh_task *task = rh_env_task(env);
    cli_style style = cli_style_of(stdout);
    printf("%s%s%s  %s\n\n", style.bold, type->name, style.plain, type->about);
    printf("  run      %s steps%s\n", cli_count(task->nstep).s,
           task->continuing ? ", one episode that never ends" : "");
    if (task->naction)
        printf("  actions   %d, discrete\n", task->naction);
    else
        printf("  actions   %d number%s, continuous\n", task->nact, cli_plural(task->nact));
    printf("  discount  %s\n", cli_exact(task->gamma).s);

    printf("\n%ssensors%s\n", style.bold, style.plain);
    for (int i = 0; i < task->nobs; i++)
        printf("  %-12s  usually %.6g to %.6g\n", task->obs_name[i], task->obs_lo[i],
               task->obs_hi[i]);
    print_params("options, for --env-set", type->param, type->nparam);
    if (type->ngrid)
        printf("\n%spublished grids%s", style.bold, style.plain);
    print_grids(type);
    rh_env_destroy(env);
    return CLI_OK;
}

static int detail_agent(const rh_agent_type *type)
{
    cli_style style = cli_style_of(stdout);
    printf("%s%s%s  %s\n\n", style.bold, type->name, style.plain, type->about);
    printf("  actions   %s\n", actions_of(type));
    print_params("hyperparameters, for --set", type->param, type->nparam);
    return CLI_OK;
}

static int detail_model(const rh_model_type *type)
{
    cli_style style = cli_style_of(stdout);
    printf("%s%s%s  %s\n", style.bold, type->name, style.plain, type->about);
    print_params("parameters, for --set of fit, and --env-set where no other fit is needed",
                 type->param, type->nparam);
    return CLI_OK;
}

static int detail_repr(const rh_repr_type *type)
{
    cli_style style = cli_style_of(stdout);
    printf("%s%s%s  %s\n", style.bold, type->name, style.plain, type->about);
    print_params("parameters, for --repr-set of fit", type->param, type->nparam);
    bool any = false;
    for (int i = 0; i < rh_repr_npreset(); i++) {
        const rh_repr_preset *preset = rh_repr_preset_at(i);
        if (strcmp(preset->type, type->name) != 0)
            continue;
        if (!any)
            printf("\n%spresets, for --repr-preset of fit%s\n", style.bold, style.plain);
        any = true;
        printf("  %s: %s\n      ", preset->name, preset->about);
        char text[512] = "";
        size_t used = 0;
        for (const rh_setting *s = preset->set; s->name && used < sizeof text; s++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s",
                                     used ? " " : "", s->name, s->value);
        cli_wrap(text, 6, width_of_page());
    }
    return CLI_OK;
}

static int detail_method(const rh_search_type *type)
{
    cli_style style = cli_style_of(stdout);
    printf("%s%s%s  %s\n", style.bold, type->name, style.plain, type->about);
    print_params("parameters, for --method-set of tune", type->param, type->nparam);
    return CLI_OK;
}

static int detail_auto(void)
{
    cli_style style = cli_style_of(stdout);
    printf("%sauto%s  %s, by episodes held out\n", style.bold, style.plain, CLI_AUTO_ABOUT);
    return CLI_OK;
}

static int detail_grids(const rh_env_type *env)
{
    cli_style style = cli_style_of(stdout);
    printf("%s%s%s  %s\n", style.bold, env->name, style.plain,
           env->ngrid ? "published grids" : "no grid was published");
    print_grids(env);
    return CLI_OK;
}

// The names of the published grids: a line for each environment and agent.
static void print_published(void)
{
    cli_style style = cli_style_of(stdout);
    printf("%sgrids, for --grid of sweep and tune%s", style.bold, style.plain);
    for (int i = 0; i < rh_env_ntype(); i++) {
        const rh_env_type *env = rh_env_type_at(i);
        const char *agent = "";
        for (int k = 0; k < env->ngrid; k++) {
            if (!begins_grid(env, k))
                continue;
            if (strcmp(agent, env->grid[k].agent) == 0)
                printf(", %s", env->grid[k].grid);
            else
                printf("\n  %s with %s: %s", env->name, env->grid[k].agent, env->grid[k].grid);
            agent = env->grid[k].agent;
        }
    }
    putchar('\n');
}

// ---------------------------------------------------------------------------- the command

static void print_topic(const char *topic)
{
    if (strcmp(topic, "envs") == 0)
        print_envs();
    else if (strcmp(topic, "agents") == 0)
        print_names(CLI_AGENT, "agents");
    else if (strcmp(topic, "models") == 0)
        print_names(CLI_MODEL, "models");
    else if (strcmp(topic, "representations") == 0)
        print_names(CLI_REPR, "representations");
    else if (strcmp(topic, "methods") == 0)
        print_names(CLI_METHOD, "methods");
    else
        print_published();
}

// One thing in detail; unless `words`, only whether there is such a thing.
static int detail(const char *topic, const char *name, bool words)
{
    rh_error err;
    if (strcmp(topic, "envs") == 0) {
        const rh_env_type *type = rh_env_find(name, &err);
        if (type)
            return words ? detail_env(type) : CLI_OK;
    } else if (strcmp(topic, "agents") == 0) {
        const rh_agent_type *type = rh_agent_find(name, &err);
        if (type)
            return words ? detail_agent(type) : CLI_OK;
    } else if (strcmp(topic, "models") == 0) {
        const rh_model_type *type = rh_model_find(name, &err);
        if (type)
            return words ? detail_model(type) : CLI_OK;
    } else if (strcmp(topic, "representations") == 0 && strcmp(name, "auto") == 0) {
        return words ? detail_auto() : CLI_OK;
    } else if (strcmp(topic, "representations") == 0) {
        const rh_repr_type *type = rh_repr_find(name, &err);
        if (type)
            return words ? detail_repr(type) : CLI_OK;
    } else if (strcmp(topic, "methods") == 0) {
        const rh_search_type *type = rh_search_find(name, &err);
        if (type)
            return words ? detail_method(type) : CLI_OK;
    } else {
        const rh_env_type *type = rh_env_find(name, &err);
        if (type)
            return words ? detail_grids(type) : CLI_OK;
    }
    return cli_refuse("%s", err.text);
}

static int list_main(const cli_args *args)
{
    const char *known[CLI_MAX_NAMES];
    int n = cli_names(CLI_TOPIC, known), found = -1;
    const char *topic = args->nword > 0 ? args->word[0] : NULL;
    const char *name = args->nword > 1 ? args->word[1] : NULL;
    bool json = cli_has(args, "json");
    if (args->nword > 2)
        return cli_refuse("list: unexpected argument '%s'", args->word[2]);
    for (int i = 0; topic && i < n; i++)
        if (strcmp(topic, known[i]) == 0)
            found = i;
    if (topic && found < 0) {
        rh_error err;
        return cli_pass(rh_unknown(&err, "list: nothing called", topic, known, n), &err);
    }

    if (name) {
        int rc = detail(topic, name, !json);
        if (rc || !json)
            return rc;
    }
    if (json) {
        cli_list_json(stdout, topic, name);
        return CLI_OK;
    }
    for (int i = 0; i < n; i++) {
        if (topic && i != found)
            continue;
        if (!topic && i > 0)
            putchar('\n');
        print_topic(known[i]);
    }
    if (!topic)
        puts("\n`rehearse list envs NAME`, `rehearse list agents NAME` and so on tell more.");
    return CLI_OK;
}

const cli_command cli_list = {
    .name = "list",
    .about = "The environments, agents, models and so on; what can be set",
    .operands = "[envs|agents|models|representations|methods|grids [NAME]] [--json]",
    .detail = "Without a name, one line each. With one, its parameters with their ranges and "
              "defaults, and the grids published for it.",
    .operand = CLI_TOPIC,
    .group = {&list_group},
    .example = {"everything", "rehearse list",
                "the options of an environment, its sensors, its grids",
                "rehearse list envs acrobot", "the hyperparameters of an agent, for a program",
                "rehearse list agents esarsa --json"},
    .main = list_main,
};
