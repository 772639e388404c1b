// names.c - the closed sets an argument is chosen from.

#include "cli_internal.h"

#include <string.h>

static int copy(const char *const *from, int n, const char *name[CLI_MAX_NAMES])
{
    for (int i = 0; i < n; i++)
        name[i] = from[i];
    return n;
}

static int env_names(const char *name[CLI_MAX_NAMES])
{
    int n = rh_env_ntype();
    for (int i = 0; i < n && i < CLI_MAX_NAMES; i++)
        name[i] = rh_env_type_at(i)->name;
    return n < CLI_MAX_NAMES ? n : CLI_MAX_NAMES;
}

static int agent_names(const char *name[CLI_MAX_NAMES])
{
    int n = rh_agent_ntype();
    for (int i = 0; i < n && i < CLI_MAX_NAMES; i++)
        name[i] = rh_agent_type_at(i)->name;
    return n < CLI_MAX_NAMES ? n : CLI_MAX_NAMES;
}

static int model_names(const char *name[CLI_MAX_NAMES])
{
    int n = rh_model_ntype();
    for (int i = 0; i < n && i < CLI_MAX_NAMES; i++)
        name[i] = rh_model_type_at(i)->name;
    return n < CLI_MAX_NAMES ? n : CLI_MAX_NAMES;
}

static int method_names(const char *name[CLI_MAX_NAMES])
{
    int n = rh_search_ntype();
    for (int i = 0; i < n && i < CLI_MAX_NAMES; i++)
        name[i] = rh_search_type_at(i)->name;
    return n < CLI_MAX_NAMES ? n : CLI_MAX_NAMES;
}

// Every published grid there is, with its environment.
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

// The representations, and behind them "auto", the choice among them.
static int repr_names(const char *name[CLI_MAX_NAMES])
{
    int n = rh_repr_ntype();
    n = n < CLI_MAX_NAMES - 1 ? n : CLI_MAX_NAMES - 1;
    for (int i = 0; i < n; i++)
        name[i] = rh_repr_type_at(i)->name;
    name[n] = "auto";
    return n + 1;
}

static int preset_names(const char *name[CLI_MAX_NAMES])
{
    int n = rh_repr_npreset();
    for (int i = 0; i < n && i < CLI_MAX_NAMES; i++)
        name[i] = rh_repr_preset_at(i)->name;
    return n < CLI_MAX_NAMES ? n : CLI_MAX_NAMES;
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
        const char *word[8]; // ends with NULL
    } fixed[] = {
        {CLI_CUTOFF_RULE, {[RH_TRUNCATE] = "truncate", [RH_TERMINATE] = "terminate"}},
        {CLI_ACTION_KIND,
         {[RH_ACTION_AUTO] = "auto",
          [RH_ACTION_DISCRETE] = "discrete",
          [RH_ACTION_CONTINUOUS] = "continuous"}},
        {CLI_REWARD_OF, {[RH_REWARD_OF_ACTION] = "action", [RH_REWARD_OF_STATE] = "state"}},
        {CLI_RESTARTS, {"normal", "random"}},
        {CLI_POLICY, {"near-optimal", "medium", "naive", "random"}},
        {CLI_FIT_PRESET, {"paper"}},
        {CLI_RESAMPLE,
         {[RH_RESAMPLE_ALL] = "all",
          [RH_RESAMPLE_SUBSET] = "subset",
          [RH_RESAMPLE_BOOTSTRAP] = "bootstrap"}},
        {CLI_EPISODES,
         {[RH_EPISODES_AUTO] = "auto",
          [RH_EPISODES_END] = "no",
          [RH_EPISODES_CONTINUE] = "yes"}},
        {CLI_TOPIC, {"envs", "agents", "models", "representations", "methods", "grids"}},
        {CLI_SHELL, {"bash", "zsh"}},
    };
    int n = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        for (int k = 0; fixed[i].kind == kind && fixed[i].word[k]; k++)
            name[n++] = fixed[i].word[k];
    return n;
}

int cli_names(cli_kind kind, const char *name[CLI_MAX_NAMES])
{
    const char *const *names;
    int n = 0;

    switch (kind) {
    case CLI_NONE:
    case CLI_WHOLE:
    case CLI_REAL:
    case CLI_TEXT:
    case CLI_FILE:
    case CLI_AGENT_SET:
    case CLI_ENV_SET:
    case CLI_MODEL_SET:
    case CLI_REPR_SET:
    case CLI_METHOD_SET:
    case CLI_RANGE:
    case CLI_GRID:
    case CLI_CUTOFF:
        return 0;
    case CLI_GRID_OF:
        return grid_names(name);
    case CLI_METHOD:
        return method_names(name);
    case CLI_ACROSS:
        names = rh_across_names(&n);
        return copy(names, n, name);
    case CLI_ENV:
        return env_names(name);
    case CLI_AGENT:
        return agent_names(name);
    case CLI_CRITERION:
        names = rh_criterion_names(&n);
        return copy(names, n, name);
    case CLI_POOL:
        names = rh_pool_names(&n);
        return copy(names, n, name);
    case CLI_MODEL:
        return model_names(name);
    case CLI_REPR:
        return repr_names(name);
    case CLI_REPR_PRESET:
        return preset_names(name);
    case CLI_READ_FORMAT:
        return format_names(true, name);
    case CLI_WRITE_FORMAT:
        return format_names(false, name);
    case CLI_COMMAND:
        return command_names(name);
    case CLI_CUTOFF_RULE:
    case CLI_ACTION_KIND:
    case CLI_REWARD_OF:
    case CLI_RESTARTS:
    case CLI_POLICY:
    case CLI_FIT_PRESET:
    case CLI_RESAMPLE:
    case CLI_EPISODES:
    case CLI_TOPIC:
    case CLI_SHELL:
        return fixed_names(kind, name);
    }
    return 0;
}
