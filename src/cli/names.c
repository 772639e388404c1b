// names.c - the closed sets an argument is chosen from.

#include "cli_internal.h"

#include <string.h>

// Every published grid, with its environment.
static int grid_names(const char *name[CLI_MAX_NAMES])
{
    static char text[CLI_MAX_NAMES][64];
    int n = 0;
    for (int e = 0; e < rh_env_ntype(); e++) {
        const rh_env_type *env = rh_env_type_at(e);
        int first = n;
        for (int i = 0; i < env->ngrid && n < CLI_MAX_NAMES; i++) {
            snprintf(text[n], sizeof text[n], "%.31s:%.31s", env->name, env->grid[i].grid);
            bool before = false; // of another agent, or another axis of the same
            for (int k = first; k < n; k++)
                before = before || strcmp(text[k], text[n]) == 0;
            if (!before) {
                name[n] = text[n];
                n++;
            }
        }
    }
    return n;
}

static int command_names(const char *name[CLI_MAX_NAMES])
{
    int n = 0;
    for (int i = 0; cli_command_at(i); i++)
        if (!cli_command_at(i)->hidden)
            name[n++] = cli_command_at(i)->name;
    return n;
}

static int format_names(bool reads, const char *name[CLI_MAX_NAMES])
{
    int n = 0;
    for (int i = 0; i < rh_log_nformat(); i++) {
        const rh_log_format *format = rh_log_format_at(i);
        if (reads ? format->reads : format->writes)
            name[n++] = format->name;
    }
    return n;
}

// Words that no registry has.
static int fixed_names(cli_kind kind, const char *name[CLI_MAX_NAMES])
{
    static const struct {
        cli_kind kind;
        const char *word[12]; // ends with NULL
    } fixed[] = {
        {CLI_ACTION_KIND,
         {[RH_ACTION_AUTO] = "auto",
          [RH_ACTION_DISCRETE] = "discrete",
          [RH_ACTION_CONTINUOUS] = "continuous"}},
        {CLI_REWARD_OF, {[RH_REWARD_OF_ACTION] = "action", [RH_REWARD_OF_STATE] = "state"}},
        {CLI_DECIMAL,
         {[RH_DECIMAL_AUTO] = "auto",
          [RH_DECIMAL_POINT] = "point",
          [RH_DECIMAL_COMMA] = "comma"}},
        {CLI_DATES,
         {[RH_DATES_AUTO] = "auto",
          [RH_DATES_DAY_FIRST] = "day-first",
          [RH_DATES_MONTH_FIRST] = "month-first"}},
        {CLI_RESTARTS, {"normal", "random"}},
        {CLI_POLICY, {"near-optimal", "medium", "naive", "random"}},
        {CLI_TOPIC, {"envs", "agents", "models", "representations", "methods", "grids"}},
        {CLI_EXPERIMENT,
         {"exp1", "exp2", "exp3", "exp4", "exp5", "raw", "actor-critic", "fqi", "theory",
          "all"}},
        {CLI_CONSTANTS, {"released", "printed"}},
        {CLI_SHELL, {"bash", "zsh", "fish"}},
    };
    int n = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        for (int k = 0; fixed[i].kind == kind && fixed[i].word[k]; k++)
            name[n++] = fixed[i].word[k];
    return n;
}

int cli_key_names(const char *key, const char *name[CLI_MAX_NAMES])
{
    const rh_key *at = rh_plan_key_at(0);
    int n = 0;
    for (int i = 1; at && strcmp(at->key, key) != 0; i++)
        at = rh_plan_key_at(i);
    for (; at && n < CLI_MAX_NAMES && rh_key_name(at, n); n++)
        name[n] = rh_key_name(at, n);
    return n;
}

int cli_names(cli_kind kind, const char *name[CLI_MAX_NAMES])
{
    if (kind == CLI_GRID)
        return grid_names(name);
    if (kind == CLI_ENV)
        return cli_key_names("env.name", name);
    if (kind == CLI_COMMAND)
        return command_names(name);
    if (kind == CLI_READ_FORMAT || kind == CLI_WRITE_FORMAT)
        return format_names(kind == CLI_READ_FORMAT, name);
    return fixed_names(kind, name);
}
