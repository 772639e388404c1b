// cmd_list.c - rehearse list: environments, agents, models, representations, methods, grids.
//
// Everything comes from the registries and their parameter tables.

#include "base/base.h"
#include "cli_internal.h"
#include "plugin/plugin.h"
#include "repr/repr.h"

#include <string.h>

static const rh_key list_option[] = {
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "print one JSON document"},
    {NULL, "plugin", 0, RH_KEY_FILE, "FILE",
     .about = "list what a plug-in has, too; can be repeated", .repeats = true},
    {NULL, "help", 'h', RH_KEY_FLAG, NULL, .about = "print this text"},
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

// ---------------------------------------------------------------------------- topics

const char *const cli_topics[] = {[CLI_LIST_ENVS] = "envs",
                                  [CLI_LIST_AGENTS] = "agents",
                                  [CLI_LIST_MODELS] = "models",
                                  [CLI_LIST_REPRS] = "representations",
                                  [CLI_LIST_METHODS] = "methods",
                                  [CLI_LIST_GRIDS] = "grids",
                                  NULL};

static const struct {
    const char *title;
    const char *params; // title of the table of parameters
} topic_text[] = {
    [CLI_LIST_ENVS] = {"environments", "options, for --env-set"},
    [CLI_LIST_AGENTS] = {"agents", "hyperparameters, for --set"},
    [CLI_LIST_MODELS] = {"models",
                         "parameters, for --model-set; for --env-set if they need no new fit"},
    [CLI_LIST_REPRS] = {"representations", "parameters, for --repr-set"},
    [CLI_LIST_METHODS] = {"methods", "parameters, for --method-set"},
    [CLI_LIST_GRIDS] = {"grids, for --grid of sweep and tune", NULL},
};

// What all kinds of types have.
#define SHARED(type)                                                                           \
    .name = (type)->name, .about = (type)->about, .param = (type)->param,                      \
    .nparam = (type)->nparam

static cli_item env_item(const rh_env_type *type)
{
    return (cli_item){.env = type, SHARED(type)};
}

static cli_item agent_item(const rh_agent_type *type)
{
    return (cli_item){.agent = type, SHARED(type)};
}

bool cli_list_item(cli_list_topic topic, int i, cli_item *item)
{
    switch (topic) {
    case CLI_LIST_GRIDS:
    case CLI_LIST_ENVS:
        if (i < rh_env_ntype())
            *item = env_item(rh_env_type_at(i));
        return i < rh_env_ntype();
    case CLI_LIST_AGENTS:
        if (i < rh_agent_ntype())
            *item = agent_item(rh_agent_type_at(i));
        return i < rh_agent_ntype();
    case CLI_LIST_MODELS:
        *item = (cli_item){.name = "auto", .about = CLI_AUTO_MODEL}; // after the last
        if (i < rh_model_ntype())
            *item = (cli_item){SHARED(rh_model_type_at(i))};
        return i <= rh_model_ntype();
    case CLI_LIST_REPRS:
        *item = (cli_item){.name = "auto", .about = CLI_AUTO_ABOUT}; // after the last
        if (i < rh_repr_ntype())
            *item = (cli_item){.repr = rh_repr_type_at(i), SHARED(rh_repr_type_at(i))};
        return i <= rh_repr_ntype();
    case CLI_LIST_METHODS:
        if (i < rh_search_ntype())
            *item = (cli_item){.method = rh_search_type_at(i), SHARED(rh_search_type_at(i))};
        return i < rh_search_ntype();
    }
    return false;
}

// ---------------------------------------------------------------------------- tables

static int width_of_page(void)
{
    int columns = cli_columns_or(stdout, 100);
    return columns < CLI_NARROW ? CLI_NARROW : columns;
}

static int longer(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static void print_title(const char *title)
{
    cli_style style = cli_style_of(stdout);
    fputs(style.bold, stdout);
    cli_wrap(title, 0, width_of_page());
    fputs(style.plain, stdout);
}

static void print_names(cli_list_topic topic)
{
    cli_item item;
    int width = 12; // exec:COMMAND
    for (int i = 0; cli_list_item(topic, i, &item); i++)
        width = longer(width, item.name);
    print_title(topic_text[topic].title);
    for (int i = 0; cli_list_item(topic, i, &item); i++) {
        printf("  %-*s  ", width, item.name);
        cli_wrap(item.about, width + 4, width_of_page());
    }
    if (topic == CLI_LIST_ENVS) {
        printf("  %-*s  ", width, "model:FILE");
        cli_wrap("a model that `rehearse fit` wrote, for run and sweep", width + 4,
                 width_of_page());
    }
    if (topic == CLI_LIST_ENVS || topic == CLI_LIST_AGENTS) {
        printf("  %-*s  ", width, "exec:COMMAND");
        cli_wrap("a program of your own that answers JSON lines (docs/exec.md)", width + 4,
                 width_of_page());
    }
}

// "0 to 1", "1 to 64, integer" or the choices.
static void describe_range(const rh_param *p, char text[96])
{
    if (!p->choice) {
        snprintf(text, 96, "%.6g to %.6g%s", p->lo, p->hi, p->whole ? ", integer" : "");
        return;
    }
    text[0] = 0;
    for (int k = 0; k <= (int)p->hi; k++)
        rh_text__put(text, 96, "%s%s", k ? ", " : "", p->choice[k]);
}

static void describe_default(const rh_param *p, char text[40])
{
    if (p->choice)
        snprintf(text, 40, "%s", p->choice[(int)p->initial]);
    else
        snprintf(text, 40, "%.6g", p->initial);
}

// "0.001 to 1, log": the default search range; "-" if the parameter is not searched.
static void describe_searched(const rh_param *p, char text[60])
{
    if (p->usual_lo < p->usual_hi)
        snprintf(text, 60, "%.6g to %.6g%s", p->usual_lo, p->usual_hi,
                 p->scale == RH_LOG ? ", log" : "");
    else
        snprintf(text, 60, "-");
}

#define LEAST_ABOUT 24 // columns of the text beside a parameter, or it goes below

// The rest of a line on a narrow page: the range, and below it what is searched and the text.
static void print_below(const rh_param *p, const char *range, const char *searched, int column,
                        int width)
{
    char text[600];
    cli_wrap(range, column, width);
    bool known = searched && strcmp(searched, "-") != 0;
    snprintf(text, sizeof text, "%s%s%s", p->about ? p->about : "", known ? "; searched: " : "",
             known ? searched : "");
    printf("%6s", "");
    cli_wrap(text, 6, width);
}

// A table of parameters, with a column of search ranges if there are any.
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

    int left = name + middle + right + 8 + (last ? last + 2 : 0), width = width_of_page();
    bool below = width - left < LEAST_ABOUT;
    putchar('\n');
    print_title(title);
    printf("%s  %-*s  %-*s  ", style.dim, name, "name", middle, "default");
    if (last && !below)
        printf("%-*s  searched%s\n", right, "range", style.plain);
    else
        printf("range%s\n", style.plain);
    for (int i = 0; i < nparam; i++) {
        describe_range(&param[i], range);
        describe_default(&param[i], initial);
        describe_searched(&param[i], searched);
        printf("  %-*s  %-*s  ", name, param[i].name, middle, initial);
        if (below) {
            print_below(&param[i], range, last ? searched : NULL, name + middle + 6, width);
            continue;
        }
        printf("%-*s  ", right, range);
        if (last)
            printf("%-*s  ", last, searched);
        cli_wrap(param[i].about ? param[i].about : "", left, width);
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

static int print_task(const rh_env_type *type)
{
    rh_error err;
    rh_env *env = NULL;
    int rc = cli_pass(rh_env_create(&env, type, NULL, &err), &err);
    if (rc)
        return rc;
    const rh_task *task = rh_env_task(env);
    printf("\n  task      %s, %s steps per run, discount %s\n",
           task->continuing ? "continuing" : "episodic", cli_count(task->nstep).s,
           cli_exact(task->gamma).s);
    printf("  actions   %d %s\n\n", task->naction ? task->naction : task->nact,
           task->naction ? "discrete" : "continuous");
    print_title("sensors");
    for (int i = 0; i < task->nobs; i++)
        printf("  %-12s  usually %.6g to %.6g\n", task->obs_name[i], task->obs_lo[i],
               task->obs_hi[i]);
    rh_env_destroy(env);
    return CLI_OK;
}

static void print_presets(const rh_repr_type *type)
{
    bool any = false;
    for (int i = 0; i < rh_repr__npreset(); i++) {
        const rh_repr__preset *preset = rh_repr_preset__at(i);
        if (strcmp(preset->type, type->name) != 0)
            continue;
        if (!any)
            putchar('\n');
        if (!any)
            print_title("presets, for --repr-preset");
        any = true;
        char text[512] = "";
        snprintf(text, sizeof text, "%s: %s", preset->name, preset->about);
        printf("  ");
        cli_wrap(text, 6, width_of_page());
        printf("      ");
        text[0] = 0;
        for (const rh_setting *s = preset->set; s->name; s++)
            rh_text__put(text, sizeof text, "%s%s=%s", *text ? " " : "", s->name, s->value);
        cli_wrap(text, 6, width_of_page());
    }
}

static int detail(cli_list_topic topic, const cli_item *item)
{
    cli_style style = cli_style_of(stdout);
    bool grids = topic == CLI_LIST_GRIDS;
    printf("%s%s%s  ", style.bold, item->name, style.plain);
    cli_wrap(!grids             ? item->about
             : item->env->ngrid ? "published grids"
                                : "no published grid",
             (int)strlen(item->name) + 2, width_of_page());
    if (grids) {
        print_grids(item->env);
        return CLI_OK;
    }
    int rc = item->env ? print_task(item->env) : CLI_OK;
    if (rc)
        return rc;
    if (item->agent)
        printf("\n  actions   %s\n", actions_of(item->agent));
    const rh_plugin__info *from = item->agent ? rh_plugin__of_agent(item->agent)
                                  : item->env ? rh_plugin__of_env(item->env)
                                              : NULL;
    if (from)
        printf("%s  plug-in   %s\n", item->env ? "\n" : "", from->path);
    print_params(topic_text[topic].params, item->param, item->nparam);
    if (item->repr)
        print_presets(item->repr);
    if (item->env && item->env->ngrid) {
        printf("\n%spublished grids%s", style.bold, style.plain);
        print_grids(item->env);
    }
    return CLI_OK;
}

// The names of the published grids: a line for each environment and agent.
static void print_published(void)
{
    cli_style style = cli_style_of(stdout);
    printf("%s%s%s", style.bold, topic_text[CLI_LIST_GRIDS].title, style.plain);
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

// exec:COMMAND.
static int find_program(cli_list_topic topic, const char *name, cli_item *item)
{
    rh_error err;
    const rh_env_type *env = topic == CLI_LIST_ENVS ? rh_plugin_env(name, &err) : NULL;
    const rh_agent_type *agent = topic == CLI_LIST_AGENTS ? rh_plugin_agent(name, &err) : NULL;
    if (!env && !agent)
        return cli_fail("%s", err.text);
    *item = env ? env_item(env) : agent_item(agent);
    item->name = name;
    return CLI_OK;
}

// The item called `name`, or the library's message with a suggestion.
static int find_item(cli_list_topic topic, const char *name, cli_item *item)
{
    const char *known[CLI_MAX_NAMES];
    rh_error err;
    int n = 0;
    if (strncmp(name, "exec:", 5) == 0 && (topic == CLI_LIST_ENVS || topic == CLI_LIST_AGENTS))
        return find_program(topic, name, item);
    for (; n < CLI_MAX_NAMES && cli_list_item(topic, n, item); n++) {
        known[n] = item->name;
        if (strcmp(name, item->name) == 0)
            return CLI_OK;
    }
    char what[64];
    snprintf(what, sizeof what, "list %s: nothing called", cli_topics[topic]);
    return cli_pass(rh_base__unknown(&err, what, name, known, n), &err);
}

static int list_main(const cli_args *args)
{
    const char *known[CLI_MAX_NAMES];
    int n = cli_names(&cli_list.operand, known), found = -1;
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
        return cli_pass(rh_base__unknown(&err, "list: nothing called", topic, known, n), &err);
    }

    cli_item item;
    int rc = name ? find_item((cli_list_topic)found, name, &item) : CLI_OK;
    if (rc)
        return rc;
    if (name && !json)
        return detail((cli_list_topic)found, &item);
    if (json) {
        cli_list_json(stdout, topic, name ? &item : NULL);
        return CLI_OK;
    }
    for (int i = 0; i < n; i++) {
        if (topic && i != found)
            continue;
        if (!topic && i > 0)
            putchar('\n');
        if (i == CLI_LIST_GRIDS)
            print_published();
        else
            print_names((cli_list_topic)i);
    }
    if (!topic) {
        putchar('\n');
        cli_wrap("`rehearse list agents esarsa` shows the parameters of one of them.", 0,
                 width_of_page());
    }
    return CLI_OK;
}

const cli_command cli_list = {
    .name = "list",
    .about = "List environments, agents, models and so on, with their parameters",
    .operands = "[envs|agents|models|representations|methods|grids [NAME]] [--json]",
    .detail = "Without a name, prints one line each. With a name, prints its parameters with "
              "ranges and defaults, and its published grids.",
    .operand = {.type = RH_KEY_CHOICE, .words = cli_topics},
    .group = {&list_group},
    .example = {"everything", "rehearse list",
                "the options of an environment, its sensors, its grids",
                "rehearse list envs acrobot", "the hyperparameters of an agent, in JSON",
                "rehearse list agents esarsa --json"},
    .main = list_main,
};
