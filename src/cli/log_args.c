// log_args.c - the options that say how a log is read, shared by every command that reads one.

#include "cli_internal.h"

#include <stdlib.h>
#include <string.h>

static const cli_option option[] = {
    {"obs", 0, CLI_TEXT, "COLUMNS", .about = "what is observed: temp,level or sensor_*"},
    {"action", 0, CLI_TEXT, "COLUMNS", .about = "what is done"},
    {"reward", 0, CLI_TEXT, "COLUMNS",
     .about = "the reward: a column, or a sum such as -energy or 'income - 0.5*wear'"},
    {"episode", 0, CLI_TEXT, "COLUMN", .about = "an episode begins where it changes"},
    {"terminal", 0, CLI_TEXT, "COLUMN", .about = "the episode really ended with this step"},
    {"truncated", 0, CLI_TEXT, "COLUMN", .about = "the episode was cut off after this step"},
    {"time", 0, CLI_TEXT, "COLUMN", .about = "when: a number, or a date and time"},
    {"next", 0, CLI_TEXT, "COLUMNS", .about = "what was observed after the step",
     .initial = "the next row of the episode"},
    {"reward-of", 0, CLI_REWARD_OF, "WHAT",
     .about = "a row's reward came of its action, or with its state, of the action before",
     .initial = "action"},
    {"action-kind", 0, CLI_ACTION_KIND, "KIND", .about = "whether actions are names or amounts",
     .initial = "auto"},
    {"actions", 0, CLI_TEXT, "NAMES", .about = "every action there is: off,low,high",
     .initial = "those that occur"},
    {"missing", 0, CLI_TEXT, "NUMBERS", .about = "numbers that stand for a missing one: -9999"},
    {"max-gap", 0, CLI_TEXT, "TIME",
     .about = "a longer time between rows ends the episode: 90, 15m, 2h, 1d",
     .initial = "no limit"},
    {"episode-steps", 0, CLI_WHOLE, "N",
     .about = "an episode is cut off after N steps, where the log does not say",
     .initial = "no limit", .lo = 1, .hi = INT64_MAX},
    {"format", 0, CLI_READ_FORMAT, "NAME", .about = "of the log",
     .initial = "by its first bytes"},
    {"roles", 0, CLI_FILE, "FILE", .about = "all of these in a YAML file"},
    {0},
};

const cli_group cli_log_group = {"how to read the log (found by itself where not given)",
                                 option};

static int read_gap(const cli_args *args, rh_log_options *opt)
{
    const char *text = cli_value(args, "max-gap");
    if (!text || rh_log_duration(text, &opt->max_gap))
        return CLI_OK;
    return cli_refuse(
        "%s: --max-gap = %s, expected a time above 0 such as 90, 90s, 15m, 2h or 1d",
        args->command->name, text);
}

static int read_missing(const cli_args *args, cli_log *log, rh_log_options *opt)
{
    const char *text = cli_value(args, "missing");
    if (!text)
        return CLI_OK;
    log->missing = rh_alloc(strlen(text) + 1, sizeof *log->missing);
    if (!log->missing)
        return cli_fail("out of memory");
    int n = 0;
    for (const char *c = text; *c;) {
        char *end;
        log->missing[n++] = strtod(c, &end);
        if (end == c || (*end && *end != ','))
            return cli_refuse("%s: --missing = %s, expected numbers such as -9999,-1",
                              args->command->name, text);
        c = end + (*end == ',');
    }
    opt->missing = log->missing;
    opt->nmissing = n;
    return CLI_OK;
}

// What the command line says goes before what the file of roles says.
static int read_options(const cli_args *args, cli_log *log, rh_log_options *opt)
{
    const struct {
        const char *name;
        const char **to;
    } text[] = {
        {"obs", &opt->obs},           {"action", &opt->action},
        {"reward", &opt->reward},     {"episode", &opt->episode},
        {"terminal", &opt->terminal}, {"truncated", &opt->truncated},
        {"time", &opt->time},         {"next", &opt->next},
        {"actions", &opt->actions},   {"format", &opt->format},
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (cli_has(args, text[i].name))
            *text[i].to = cli_value(args, text[i].name);
    opt->reward_of = (rh_reward_of)cli_number(args, "reward-of", opt->reward_of);
    opt->action_kind = (rh_action_kind)cli_number(args, "action-kind", opt->action_kind);
    opt->episode_steps = cli_number(args, "episode-steps", opt->episode_steps);
    int rc = read_gap(args, opt);
    return rc ? rc : read_missing(args, log, opt);
}

static bool is_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

// An input that cannot be read is the user's to mend, whatever the system called it.
static int refuse_input(rh_status rc, const rh_error *err)
{
    int code = cli_pass(rc, err);
    return rc == RH_EIO ? CLI_USAGE : code;
}

int cli_log_read(cli_log *log, const cli_args *args, const char *path)
{
    rh_log_options opt = rh_log_defaults();
    rh_error err;
    *log = (cli_log){0};
    const char *roles = is_yaml(path) ? path : cli_value(args, "roles");
    if (roles == path && cli_has(args, "roles"))
        return cli_refuse("%s: %s and --roles %s: two files of roles, expected one",
                          args->command->name, path, cli_value(args, "roles"));
    if (roles) {
        rh_status rc = rh_log_roles_read(&log->roles, roles, &err);
        if (rc)
            return refuse_input(rc, &err);
        rh_log_roles_apply(log->roles, &opt);
        if (roles == path)
            path = rh_log_roles_path(log->roles);
        if (!path)
            return cli_refuse("%s: no path: in it, expected the log's", roles);
    }
    int code = read_options(args, log, &opt);
    if (code)
        return code;
    rh_status rc = rh_log_read(&log->log, path, &opt, &err);
    return rc ? refuse_input(rc, &err) : CLI_OK;
}

void cli_log_clear(cli_log *log)
{
    rh_log_destroy(log->log);
    rh_log_roles_destroy(log->roles);
    rh_free(log->missing);
    *log = (cli_log){0};
}
