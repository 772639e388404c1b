// names.c - the closed sets an argument is chosen from.

#include "cli_internal.h"

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

int cli_names(cli_kind kind, const char *name[CLI_MAX_NAMES])
{
    static const char *const rule[] = {[RH_TELEPORT] = "teleport", [RH_TERMINAL] = "terminal"};
    static const char *const action_kind[] = {[RH_ACTION_AUTO] = "auto",
                                              [RH_ACTION_DISCRETE] = "discrete",
                                              [RH_ACTION_CONTINUOUS] = "continuous"};
    static const char *const reward_of[] = {
        [RH_REWARD_OF_ACTION] = "action", [RH_REWARD_OF_STATE] = "state"};
    static const char *const restarts[] = {"normal", "random"};
    static const char *const policy[] = {"near-optimal", "medium", "naive", "random"};
    static const char *const fit_preset[] = {"paper"};
    static const char *const resample[] = {[RH_RESAMPLE_ALL] = "all",
                                           [RH_RESAMPLE_SUBSET] = "subset",
                                           [RH_RESAMPLE_BOOTSTRAP] = "bootstrap"};
    static const char *const episodes[] = {
        [RH_EPISODES_AUTO] = "auto", [RH_EPISODES_END] = "no", [RH_EPISODES_CONTINUE] = "yes"};
    static const char *const topic[] = {"envs", "agents", "models", "representations",
                                        "searches"};
    static const char *const shell[] = {"bash", "zsh"};
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
    case CLI_RANGE:
    case CLI_GRID:
    case CLI_CUTOFF:
        return 0;
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
    case CLI_FIT_PRESET:
        return copy(fit_preset, 1, name);
    case CLI_RESAMPLE:
        return copy(resample, 3, name);
    case CLI_EPISODES:
        return copy(episodes, 3, name);
    case CLI_CUTOFF_RULE:
        return copy(rule, 2, name);
    case CLI_ACTION_KIND:
        return copy(action_kind, 3, name);
    case CLI_REWARD_OF:
        return copy(reward_of, 2, name);
    case CLI_READ_FORMAT:
        return format_names(true, name);
    case CLI_WRITE_FORMAT:
        return format_names(false, name);
    case CLI_RESTARTS:
        return copy(restarts, 2, name);
    case CLI_POLICY:
        return copy(policy, 4, name);
    case CLI_TOPIC:
        return copy(topic, 5, name);
    case CLI_COMMAND:
        return command_names(name);
    case CLI_SHELL:
        return copy(shell, 2, name);
    }
    return 0;
}
