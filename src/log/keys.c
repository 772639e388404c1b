// keys.c - every option of reading a log: one row each.
//
// Files of roles, the command line and Python are read by these rows, and help and docs are
// printed from them. A new option is a row here and a field of rh_log_options.
//
// 1. A list is joined with commas, and an entry that contains one is quoted, as in an option.
// 2. A role may be "": the log has none.

#include "base/base_internal.h"
#include "base/number.h"
#include "log.h"
#include "roles.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define FIELD(name) .at = offsetof(rh_log_roles, name), .size = sizeof((rh_log_roles *)0)->name

// ---------------------------------------------------------------------------- texts

// The quote that an entry of a list needs: if it contains a comma or begins with a quote.
static const char *quote_for(const char *text)
{
    if (!strchr(text, ',') && *text != '"' && *text != '\'')
        return "";
    return strchr(text, '"') ? "'" : "\"";
}

// A text, or a list of texts joined.
static rh_status read_list(void *field, const rh_key__said *said, const char *between,
                           rh_error *err)
{
    const rh_yaml *node = said->value;
    rh_text text = {0};
    int n = node->kind == RH_YAML_LIST ? node->n : 1;
    bool comma = *between == ',';
    for (int i = 0; i < n; i++) {
        const rh_yaml *entry = node->kind == RH_YAML_LIST ? node->item[i] : node;
        if (entry->kind != RH_YAML_TEXT) {
            rh_text__clear(&text);
            return rh_key__refuse(said, entry, "", err, "a text or a list of texts");
        }
        const char *quote = comma && entry != node ? quote_for(entry->text) : "";
        rh_text__format(&text, "%s%s%s%s", i ? between : "", quote, entry->text, quote);
    }
    rh_text__add(&text, "");
    if (text.bad) {
        rh_text__clear(&text);
        return rh_base__no_memory(err, said->key);
    }
    rh_key__put(field, text.data);
    return RH_OK;
}

static rh_status read_columns(void *field, const rh_key__said *said, rh_error *err)
{
    return read_list(field, said, ",", err);
}

static rh_status read_derive(void *field, const rh_key__said *said, rh_error *err)
{
    return read_list(field, said, "; ", err);
}

// One on each line.
static rh_status read_paths(void *field, const rh_key__said *said, rh_error *err)
{
    return read_list(field, said, "\n", err);
}

static rh_status read_actions(void *field, const rh_key__said *said, rh_error *err)
{
    const rh_yaml *node = said->value;
    for (int i = 0; node->kind == RH_YAML_LIST && i < node->n; i++)
        if (node->item[i]->kind == RH_YAML_TEXT && strchr(node->item[i]->text, ','))
            return rh_key__refuse(said, node->item[i], "", err, "names without commas");
    return read_list(field, said, ",", err);
}

// ---------------------------------------------------------------------------- own forms

static const char *format_name(int i)
{
    const rh_log_format *format = NULL;
    int n = 0;
    for (int k = 0; (format = rh_log__format_at(k)) != NULL; k++)
        if (format->reads && n++ == i)
            return format->name;
    return NULL;
}

// As in a log, and .inf.
static bool read_number(const rh_yaml *node, double *x)
{
    if (node->kind != RH_YAML_TEXT)
        return false;
    const char *text = node->text;
    if (strcmp(text, ".inf") == 0 || strcmp(text, ".Inf") == 0)
        text++;
    return rh_number__read(text, strlen(text), x) == RH_NUMBER;
}

static rh_status read_gap(void *field, const rh_key__said *said, rh_error *err)
{
    double x = 0.0;
    if (!read_number(said->value, &x) && !rh_log__duration(rh_key__text(said), &x))
        x = 0.0;
    if (!(x > 0.0))
        return rh_key__refuse(said, NULL, "", err, "a time above 0 such as 90, 15m, 2h or 1d");
    *(double *)field = x;
    return RH_OK;
}

static rh_status read_every(void *into, const rh_key__said *said, rh_error *err)
{
    rh_log_options *opt = &((rh_log_roles *)into)->opt;
    double time;
    int64_t rows;
    if (!rh_log__parse_every(rh_key__text(said), &time, &rows))
        return rh_key__refuse(said, NULL, "", err, "a time such as 5m or 1h, or '300 rows'");
    opt->every = time;
    opt->every_rows = rows;
    return RH_OK;
}

static void show_every(const void *from, rh_text *text)
{
    const rh_log_options *opt = &((const rh_log_roles *)from)->opt;
    rh_text__number(text, isnan(opt->every) ? (double)opt->every_rows : opt->every);
    rh_text__add(text, isnan(opt->every) ? " rows" : "s");
}

static rh_status read_memory(void *field, const rh_key__said *said, rh_error *err)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"", 1.0},     {"k", 0x1p10},  {"K", 0x1p10},  {"M", 0x1p20},  {"G", 0x1p30},
                 {"T", 0x1p40}, {"kB", 0x1p10}, {"MB", 0x1p20}, {"GB", 0x1p30}, {"TB", 0x1p40}};
    const char *text = rh_key__text(said);
    double x = 0.0;
    const char *unit = rh_number__parse(text, text + strlen(text), &x);
    for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++) {
        double bytes = x * units[i].bytes;
        if (strcmp(unit, units[i].unit) == 0 && bytes >= 1.0 && bytes < 0x1p62) {
            *(int64_t *)field = (int64_t)bytes;
            return RH_OK;
        }
    }
    return rh_key__refuse(said, NULL, "", err, "a size such as 500M or 4G");
}

// ---------------------------------------------------------------------------- missing values

// Add one entry, a number or a word, of n characters.
static bool add_missing(const char *entry, size_t n, double *number, int *nnumber,
                        rh_text *words)
{
    if (n == 0)
        return false;
    if (rh_number__read(entry, n, &number[*nnumber]) == RH_NUMBER) {
        ++*nnumber;
        return true;
    }
    rh_text__add(words, words->n ? "," : "");
    rh_text__add_n(words, entry, n);
    return true;
}

// Numbers and words: a list, or a text with commas between them.
static rh_status read_missing(void *into, const rh_key__said *said, rh_error *err)
{
    rh_log_roles *roles = into;
    const rh_yaml *node = said->value;
    const char *text = rh_key__text(said);
    bool list = node->kind == RH_YAML_LIST, good = node->kind != RH_YAML_MAP;
    size_t most = list ? (size_t)node->n : strlen(text);
    double *number = rh_alloc(most + 1, sizeof *number);
    rh_text words = {0};
    int n = 0;
    for (int i = 0; number && list && good && i < node->n; i++) {
        const rh_yaml *entry = node->item[i];
        good = entry->kind == RH_YAML_TEXT && !strchr(entry->text, ',') &&
               add_missing(entry->text, strlen(entry->text), number, &n, &words);
        node = good ? node : entry;
    }
    for (const char *c = text; number && *c;) {
        size_t length = strcspn(c, ",");
        add_missing(c, length, number, &n, &words);
        c += length + (c[length] == ',');
    }
    good = good && (list || n || words.n);
    if (!number || words.bad || !good) {
        rh_status rc =
            !number || words.bad
                ? rh_base__no_memory(err, said->key)
                : rh_key__refuse(said, node, "", err, "numbers or words such as -9999,Bad");
        rh_free(number);
        rh_text__clear(&words);
        return rc;
    }
    rh_key__put(&roles->opt.missing, number);
    rh_key__put(&roles->opt.missing_words, words.data);
    roles->opt.nmissing = n;
    return RH_OK;
}

static void show_missing(const void *from, rh_text *text)
{
    const rh_log_options *opt = &((const rh_log_roles *)from)->opt;
    const char *before = "[";
    for (int i = 0; i < opt->nmissing; i++, before = ", ") {
        rh_text__add(text, before);
        rh_text__number(text, opt->missing[i]);
    }
    for (const char *c = opt->missing_words; c && *c; before = ", ") {
        size_t n = strcspn(c, ",");
        rh_text word = {0};
        rh_text__add_n(&word, c, n);
        rh_text__add(text, before);
        rh_text__yaml(text, word.data ? word.data : "");
        text->bad = text->bad || word.bad;
        rh_text__clear(&word);
        c += n + (c[n] == ',');
    }
    rh_text__add(text, *before == '[' ? "[]" : "]");
}

// ---------------------------------------------------------------------------- the table

static const char *const rewards_of[] = {
    [RH_REWARD_OF_ACTION] = "action", [RH_REWARD_OF_STATE] = "state", NULL};
static const char *const action_kinds[] = {[RH_ACTION_AUTO] = "auto",
                                           [RH_ACTION_DISCRETE] = "discrete",
                                           [RH_ACTION_CONTINUOUS] = "continuous",
                                           NULL};
static const char *const sentinels[] = {
    [RH_SENTINELS_MISSING] = "missing", [RH_SENTINELS_KEEP] = "keep", NULL};
static const char *const gaps[] = {[RH_GAPS_FILL] = "fill", [RH_GAPS_CUT] = "cut", NULL};
static const char *const decimals[] = {[RH_DECIMAL_AUTO] = "auto",
                                       [RH_DECIMAL_POINT] = "point",
                                       [RH_DECIMAL_COMMA] = "comma",
                                       NULL};
static const char *const dates[] = {[RH_DATES_AUTO] = "auto",
                                    [RH_DATES_DAY_FIRST] = "day-first",
                                    [RH_DATES_MONTH_FIRST] = "month-first",
                                    NULL};

static const char *const pivot_values[] = {[RH_PIVOT_LAST] = "last",
                                           [RH_PIVOT_MEAN] = "mean",
                                           [RH_PIVOT_INTERPOLATE] = "interpolate",
                                           NULL};

static const char *const every_obs[] = {
    [RH_EVERY_LAST] = "last", [RH_EVERY_MEAN] = "mean", NULL};
static const char *const setpoint_values[] = {
    [RH_SETPOINT_LOGGED] = "logged", [RH_SETPOINT_DRAWN] = "drawn", NULL};

static const rh_key__row row[RH_LOG__NKEY] = {
    {.is = {"obs", "obs", 0, RH_KEY_TEXT, "COLUMNS", "the observations: temp,level or sensor_*",
            .group = RH_KEY_LOG},
     FIELD(opt.obs),
     .read = read_columns},
    {.is = {"action", "action", 0, RH_KEY_TEXT, "COLUMNS", "the actions", .group = RH_KEY_LOG},
     FIELD(opt.action),
     .read = read_columns},
    {.is = {"reward", "reward", 0, RH_KEY_TEXT, "COLUMNS",
            "the reward: a column, or a formula such as -energy or '-abs(T - 20) - 0.1*kW'",
            .group = RH_KEY_LOG},
     FIELD(opt.reward),
     .read = read_columns},
    {.is = {"failure", "failure", 0, RH_KEY_TEXT, "FORMULA",
            "what a failure is: 'temp > 90', terminal (any end of an episode) or none",
            "an end with a reward below the usual", .group = RH_KEY_LOG},
     FIELD(opt.failure)},
    {.is = {"derive", "derive", 0, RH_KEY_TEXT, "NAME=FORMULA",
            "a further sensor, computed from others: 'dT = T_in - T_out'", .repeats = true,
            .group = RH_KEY_LOG},
     FIELD(opt.derive),
     .read = read_derive},
    {.is = {"stack", "stack", 0, RH_KEY_WHOLE, "N",
            "observations of the last N steps, and the actions between, as sensors", "1", 1, 64,
            .group = RH_KEY_LOG},
     FIELD(opt.stack)},
    {.is =
         {"every", "every", 0, RH_KEY_TEXT, "TIME",
          "one step per decision: rows of 5m, 1h or '300 rows' in one, with the sum of rewards",
          "every row is a step", .group = RH_KEY_LOG},
     .read = read_every,
     .show = show_every},
    {.is = {"every_obs", "every-obs", 0, RH_KEY_CHOICE, "WHICH",
            "with --every: the last row when the controller decides, or the mean since it did",
            "last", .words = every_obs, .group = RH_KEY_LOG},
     FIELD(opt.every_obs)},
    {.is = {"exogenous", "exogenous", 0, RH_KEY_TEXT, "COLUMNS",
            "sensors that no action moves: T_out,price_*", "found by a test",
            .group = RH_KEY_LOG},
     FIELD(opt.exogenous),
     .read = read_columns},
    {.is = {"setpoint", "setpoint", 0, RH_KEY_TEXT, "SETPOINT=SENSOR",
            "sensors that a person or a schedule sets for another one: T_sp=T,h_sp=h",
            .group = RH_KEY_LOG},
     FIELD(opt.setpoint),
     .read = read_columns},
    {.is = {"setpoint_values", "setpoint-values", 0, RH_KEY_CHOICE, "WHICH",
            "in a model setpoints are those of the log, or others are drawn in its range",
            "logged", .words = setpoint_values, .group = RH_KEY_LOG},
     FIELD(opt.setpoint_values)},
    {.is = {"episode", "episode", 0, RH_KEY_TEXT, "COLUMN",
            "a new episode starts where it changes", .group = RH_KEY_LOG},
     FIELD(opt.episode),
     .read = read_columns},
    {.is = {"terminal", "terminal", 0, RH_KEY_TEXT, "COLUMN",
            "the step led to a terminal state", .group = RH_KEY_LOG},
     FIELD(opt.terminal),
     .read = read_columns},
    {.is = {"truncated", "truncated", 0, RH_KEY_TEXT, "COLUMN",
            "the episode was truncated after the step", .group = RH_KEY_LOG},
     FIELD(opt.truncated),
     .read = read_columns},
    {.is = {"time", "time", 0, RH_KEY_TEXT, "COLUMN", "the time: a number, or a date and time",
            .group = RH_KEY_LOG},
     FIELD(opt.time),
     .read = read_columns},
    {.is = {"next", "next", 0, RH_KEY_TEXT, "COLUMNS", "the observations after the step",
            "the next row of the episode", .group = RH_KEY_LOG},
     FIELD(opt.next),
     .read = read_columns},
    {.is = {"reward_of", "reward-of", 0, RH_KEY_CHOICE, "WHAT",
            "a row's reward belongs to its action, or to its state and so to the action before",
            "action", .words = rewards_of, .group = RH_KEY_LOG},
     FIELD(opt.reward_of)},
    {.is = {"action_kind", "action-kind", 0, RH_KEY_CHOICE, "KIND", "kind of the actions",
            "auto", .words = action_kinds, .group = RH_KEY_LOG},
     FIELD(opt.action_kind)},
    {.is = {"actions", "actions", 0, RH_KEY_TEXT, "NAMES", "all discrete actions: off,low,high",
            "those in the log", .group = RH_KEY_LOG},
     FIELD(opt.actions),
     .read = read_actions},
    {.is = {"missing", "missing", 0, RH_KEY_TEXT, "WORDS",
            "numbers and words that mean a missing value: -9999,Bad", .group = RH_KEY_LOG},
     .read = read_missing,
     .show = show_missing},
    {.is = {"sentinels", "sentinels", 0, RH_KEY_CHOICE, "WHAT",
            "what -9999 and its like are, where they are far outside the rest", "missing",
            .words = sentinels, .group = RH_KEY_LOG},
     FIELD(opt.sentinels)},
    {.is = {"gaps", "gaps", 0, RH_KEY_CHOICE, "WHAT",
            "missing values of at most 5 rows are filled, or episodes are cut there", "fill",
            .words = gaps, .group = RH_KEY_LOG},
     FIELD(opt.gaps)},
    {.is = {"decimal", "decimal", 0, RH_KEY_CHOICE, "SIGN", "decimal sign of numbers in a text",
            "auto", .words = decimals, .group = RH_KEY_LOG},
     FIELD(opt.decimal)},
    {.is = {"dates", "dates", 0, RH_KEY_CHOICE, "ORDER", "order of day and month in 5/1/2024",
            "auto", .words = dates, .group = RH_KEY_LOG},
     FIELD(opt.dates)},
    {.is = {"skip", "skip", 0, RH_KEY_WHOLE, "LINES", "lines of a text before its header",
            "found by the rows", 0, INT64_MAX, .group = RH_KEY_LOG},
     FIELD(opt.skip)},
    {.is = {"pivot", "pivot", 0, RH_KEY_TEXT, "TAG,VALUE",
            "a row holds one value: the columns of its name and of the value",
            "a row is a step; _field,_value of InfluxDB", .group = RH_KEY_LOG},
     FIELD(opt.pivot),
     .read = read_columns},
    {.is = {"pivot_value", "pivot-value", 0, RH_KEY_CHOICE, "HOW",
            "with --pivot: the value of a step is the last one, a mean, or interpolated",
            "last", .words = pivot_values, .group = RH_KEY_LOG},
     FIELD(opt.pivot_value)},
    {.is = {"max_gap", "max-gap", 0, RH_KEY_REAL, "TIME",
            "a longer time between rows ends the episode: 90, 15m, 2h, 1d", "no limit",
            .group = RH_KEY_LOG},
     FIELD(opt.max_gap),
     .read = read_gap},
    {.is = {"episode_steps", "episode-steps", 0, RH_KEY_WHOLE, "N",
            "episodes were truncated after N steps, if no column says so", "no limit", 1,
            INT64_MAX, .group = RH_KEY_LOG},
     FIELD(opt.episode_steps)},
    {.is = {"format", "format", 0, RH_KEY_CHOICE, "NAME", "format of the log",
            "by its first bytes", .name = format_name, .group = RH_KEY_LOG},
     FIELD(opt.format)},
    {.is = {"max_memory", "max-memory", 0, RH_KEY_WHOLE, "SIZE",
            "most memory that the log may take: 500M, 4G",
            "half of the machine's; a log above 128 MB at most 100 times its file",
            .group = RH_KEY_LOG},
     FIELD(opt.max_memory),
     .read = read_memory},
    {.is = {"path", NULL, 0, RH_KEY_FILE, NULL,
            "the log, from the folder of the file; a list of logs is joined",
            .group = RH_KEY_LOG},
     FIELD(path),
     .read = read_paths},
};

const rh_key__row *rh_log__key_row(int i)
{
    return i >= 0 && i < RH_LOG__NKEY ? &row[i] : NULL;
}

const rh_key *rh_log_key_at(int i)
{
    return i >= 0 && i < RH_LOG__NKEY ? &row[i].is : NULL;
}
