// log_args.c - the options for reading a log, shared by all commands that read one.

#include "cli_internal.h"

#include "base/number.h"
#include "base/text.h"

#include <string.h>

static const cli_option option[] = {
    {"obs", 0, CLI_TEXT, "COLUMNS", .about = "the observations: temp,level or sensor_*"},
    {"action", 0, CLI_TEXT, "COLUMNS", .about = "the actions"},
    {"reward", 0, CLI_TEXT, "COLUMNS",
     .about = "the reward: a column, or a formula such as -energy or '-abs(T - 20) - 0.1*kW'"},
    {"derive", 0, CLI_TEXT, "NAME=FORMULA",
     .about = "a further sensor, computed from others: 'dT = T_in - T_out'", .repeats = true},
    {"stack", 0, CLI_WHOLE, "N",
     .about = "observations of the last N steps, and the actions between, as sensors",
     .initial = "1", .lo = 1, .hi = 64},
    {"episode", 0, CLI_TEXT, "COLUMN", .about = "a new episode starts where it changes"},
    {"terminal", 0, CLI_TEXT, "COLUMN", .about = "the step led to a terminal state"},
    {"truncated", 0, CLI_TEXT, "COLUMN", .about = "the episode was truncated after the step"},
    {"time", 0, CLI_TEXT, "COLUMN", .about = "the time: a number, or a date and time"},
    {"next", 0, CLI_TEXT, "COLUMNS", .about = "the observations after the step",
     .initial = "the next row of the episode"},
    {"reward-of", 0, CLI_REWARD_OF, "WHAT",
     .about = "a row's reward belongs to its action, or to its state and so to the action "
              "before",
     .initial = "action"},
    {"action-kind", 0, CLI_ACTION_KIND, "KIND", .about = "kind of the actions",
     .initial = "auto"},
    {"actions", 0, CLI_TEXT, "NAMES", .about = "all discrete actions: off,low,high",
     .initial = "those in the log"},
    {"missing", 0, CLI_TEXT, "WORDS",
     .about = "numbers and words that mean a missing value: -9999,Bad"},
    {"decimal", 0, CLI_DECIMAL, "SIGN", .about = "decimal sign of numbers in a text",
     .initial = "auto"},
    {"dates", 0, CLI_DATES, "ORDER", .about = "order of day and month in 5/1/2024",
     .initial = "auto"},
    {"max-gap", 0, CLI_TEXT, "TIME",
     .about = "a longer time between rows ends the episode: 90, 15m, 2h, 1d",
     .initial = "no limit"},
    {"episode-steps", 0, CLI_WHOLE, "N",
     .about = "episodes were truncated after N steps, if no column says so",
     .initial = "no limit", .lo = 1, .hi = INT64_MAX},
    {"format", 0, CLI_READ_FORMAT, "NAME", .about = "format of the log",
     .initial = "by its first bytes"},
    {"max-memory", 0, CLI_TEXT, "SIZE", .about = "most memory that the log may take: 500M, 4G",
     .initial = "half of the machine's; a log above 64 MB at most 1000 times its file"},
    {"roles", 0, CLI_FILE, "FILE", .about = "a YAML file with these options as keys"},
    {0},
};

const cli_group cli_log_group = {"log (detected where not given)", option};

static int read_gap(const cli_args *args, rh_log_options *opt)
{
    const char *text = cli_value(args, "max-gap");
    if (!text || rh_log_duration(text, &opt->max_gap))
        return CLI_OK;
    return cli_refuse(
        "%s: --max-gap = %s, expected a time above 0 such as 90, 90s, 15m, 2h or 1d",
        args->command->name, text);
}

static int read_memory(const cli_args *args, rh_log_options *opt)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"", 1.0},     {"k", 0x1p10},  {"K", 0x1p10},  {"M", 0x1p20},  {"G", 0x1p30},
                 {"T", 0x1p40}, {"kB", 0x1p10}, {"MB", 0x1p20}, {"GB", 0x1p30}, {"TB", 0x1p40}};
    const char *text = cli_value(args, "max-memory");
    if (!text)
        return CLI_OK;
    double x = 0.0;
    const char *unit = rh_number__parse(text, text + strlen(text), &x);
    for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++) {
        double bytes = x * units[i].bytes;
        if (strcmp(unit, units[i].unit) == 0 && bytes >= 1.0 && bytes < 0x1p62) {
            opt->max_memory = (int64_t)bytes;
            return CLI_OK;
        }
    }
    return cli_refuse("%s: --max-memory = %s, expected a size such as 500M or 4G",
                      args->command->name, text);
}

static int read_missing(const cli_args *args, cli_log *log, rh_log_options *opt)
{
    const char *text = cli_value(args, "missing");
    if (!text)
        return CLI_OK;
    size_t size = strlen(text) + 1, used = 0;
    log->missing = rh_alloc(size, sizeof *log->missing);
    log->missing_words = rh_alloc(size + 1, 1);
    if (!log->missing || !log->missing_words)
        return cli_fail("out of memory");
    int n = 0;
    for (const char *c = text; *c;) {
        size_t length = strcspn(c, ",");
        if (rh_number__parse(c, c + length, &log->missing[n]) == c + length) {
            n++;
        } else if (length > 0) {
            memcpy(log->missing_words + used, c, length);
            used += length;
            log->missing_words[used++] = ',';
        }
        c += length + (c[length] == ',');
    }
    if (n == 0 && used == 0)
        return cli_refuse("%s: --missing = %s, expected numbers or words such as -9999,Bad",
                          args->command->name, text);
    log->missing_words[used ? used - 1 : 0] = 0;
    opt->missing = log->missing;
    opt->nmissing = n;
    opt->missing_words = used ? log->missing_words : NULL;
    return CLI_OK;
}

static int read_derive(const cli_args *args, cli_log *log, rh_log_options *opt)
{
    rh_text text = {0};
    const char *one;
    for (int at = 0; (one = cli_each(args, "derive", &at)) != NULL;)
        rh_text__format(&text, "%s%s", text.n ? "; " : "", one);
    if (text.bad)
        return cli_fail("out of memory");
    log->derive = text.data;
    if (text.data)
        opt->derive = text.data;
    return CLI_OK;
}

// Options override the file of roles.
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
    opt->decimal = (rh_decimal)cli_number(args, "decimal", opt->decimal);
    opt->dates = (rh_dates)cli_number(args, "dates", opt->dates);
    opt->episode_steps = cli_number(args, "episode-steps", opt->episode_steps);
    opt->stack = (int)cli_number(args, "stack", opt->stack);
    int rc = read_derive(args, log, opt);
    if (!rc)
        rc = read_gap(args, opt);
    if (!rc)
        rc = read_memory(args, opt);
    return rc ? rc : read_missing(args, log, opt);
}

bool cli_is_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

int cli_log_read_as(cli_log *log, const cli_args *args, const char *path, const char *roles)
{
    rh_log_options opt = rh_log_defaults();
    rh_error err;
    *log = (cli_log){0};
    if (!roles)
        roles = cli_value(args, "roles");
    else if (cli_has(args, "roles"))
        return cli_refuse("%s: %s and --roles %s: two files of roles, expected one",
                          args->command->name, roles, cli_value(args, "roles"));
    if (roles) {
        rh_status rc = rh_log_roles_read(&log->roles, roles, &err);
        if (rc)
            return cli_pass_file(rc, &err);
        rh_log_roles_apply(log->roles, &opt);
        if (!path)
            path = rh_log_roles_path(log->roles);
        if (!path)
            return cli_refuse("%s: no path: in it, expected the log's", roles);
    }
    int code = read_options(args, log, &opt);
    if (code)
        return code;
    log->opt = opt;
    rh_status rc = rh_log_read(&log->log, path, &opt, &err);
    return rc ? cli_pass_file(rc, &err) : CLI_OK;
}

int cli_log_read(cli_log *log, const cli_args *args, const char *path)
{
    return cli_is_yaml(path) ? cli_log_read_as(log, args, NULL, path)
                             : cli_log_read_as(log, args, path, NULL);
}

static void write_role(FILE *out, const char *name, const char *value)
{
    rh_text text = {0};
    if (!value)
        return;
    rh_text__yaml(&text, value);
    fprintf(out, "  %s: %s\n", name, text.data ? text.data : "");
    rh_text__clear(&text);
}

// missing: [-9999, Bad]
static void write_missing(FILE *out, const rh_log_options *o)
{
    const char *before = "  missing: [";
    for (int i = 0; i < o->nmissing; i++, before = ", ")
        fprintf(out, "%s%s", before, cli_exact(o->missing[i]).s);
    for (const char *c = o->missing_words; c && *c; before = ", ") {
        size_t n = strcspn(c, ",");
        rh_text word = {0}, quoted = {0};
        rh_text__add_n(&word, c, n);
        rh_text__yaml(&quoted, word.data ? word.data : "");
        fprintf(out, "%s%s", before, quoted.data ? quoted.data : "");
        rh_text__clear(&word);
        rh_text__clear(&quoted);
        c += n + (c[n] == ',');
    }
    fputs("]\n", out);
}

void cli_log_roles(FILE *out, const cli_log *log)
{
    const rh_log_options *o = &log->opt, usual = rh_log_defaults();
    const char *reward_of[CLI_MAX_NAMES], *action_kind[CLI_MAX_NAMES];
    cli_names(CLI_REWARD_OF, reward_of);
    cli_names(CLI_ACTION_KIND, action_kind);
    fputs("roles:\n", out);
    write_role(out, "format", log->log->reading.format);
    write_role(out, "obs", o->obs);
    write_role(out, "action", o->action);
    write_role(out, "reward", o->reward);
    write_role(out, "episode", o->episode);
    write_role(out, "terminal", o->terminal);
    write_role(out, "truncated", o->truncated);
    write_role(out, "time", o->time);
    write_role(out, "next", o->next);
    write_role(out, "actions", o->actions);
    write_role(out, "derive", o->derive);
    if (o->stack != usual.stack)
        fprintf(out, "  stack: %d\n", o->stack);
    if (o->reward_of != usual.reward_of)
        write_role(out, "reward_of", reward_of[o->reward_of]);
    if (o->action_kind != usual.action_kind)
        write_role(out, "action_kind", action_kind[o->action_kind]);
    if (o->nmissing > 0 || o->missing_words)
        write_missing(out, o);
    if (o->decimal != usual.decimal)
        write_role(out, "decimal", o->decimal == RH_DECIMAL_COMMA ? "comma" : "point");
    if (o->dates != usual.dates)
        write_role(out, "dates", o->dates == RH_DATES_DAY_FIRST ? "day-first" : "month-first");
    if (o->max_gap != usual.max_gap)
        fprintf(out, "  max_gap: %s\n", cli_exact(o->max_gap).s);
    if (o->episode_steps != usual.episode_steps)
        fprintf(out, "  episode_steps: %lld\n", (long long)o->episode_steps);
}

void cli_log_clear(cli_log *log)
{
    rh_log_destroy(log->log);
    rh_log_roles_destroy(log->roles);
    rh_free(log->missing);
    rh_free(log->missing_words);
    rh_free(log->derive);
    *log = (cli_log){0};
}
