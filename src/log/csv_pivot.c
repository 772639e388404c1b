// csv_pivot.c - reads a table that has a row per value: --pivot tag,value --every 1m.
//
//     timestamp,tag,value          timestamp,temp,pump
//     0,temp,20.1                  0,20.1,1
//     0,pump,1                     60,20.4,1
//     7,temp,20.2
//
// The values become a table in memory, which the CSV reader reads, as with JSON: roles, kinds
// and messages are the same.
//
// 1. Tags may come mixed or one after the other, and in any order of time.
// 2. A value may be a word: the name of an action, or the status of a sensor.
// 3. In InfluxDB's files _field and _value are such columns. A series has a table of its own; a
//    field of several series is refused, because their values would be mixed.

#include "csv_pivot.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "intern.h"

#include <math.h>
#include <string.h>

#define NARROW 8 // most columns of a table that is suspected to have a row per value

typedef struct long_table {
    rh_csv *csv;
    const rh_columns *columns;
    const rh_log_options *opt;
    int time, tag, value, series; // columns; series: -1 if there is none
    rh_intern tags, words;
    uint32_t of[RH_INTERN__MOST]; // the series of a tag, its checksum
    rh_column read;               // rh_pivot__value
    rh_log__limit limit;
} long_table;

// ---------------------------------------------------------------------------- which columns

static int find_header(const rh_columns *c, const char *name)
{
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->header[i], name) == 0 || strcmp(c->name[i], name) == 0)
            return i;
    return -1;
}

bool rh_pivot__asked(const rh_columns *c, const rh_log_options *opt)
{
    if (opt->pivot)
        return *opt->pivot;
    return c->influx && find_header(c, "_field") >= 0 && find_header(c, "_value") >= 0;
}

// The column with one of these names, in any case; -1: none.
static int find_usual(const rh_columns *c, const char *const *name)
{
    for (; *name; name++)
        for (int i = 0; i < c->n; i++) {
            size_t n = 0;
            while ((*name)[n] && (c->name[i][n] | 32) == ((*name)[n] | 32))
                n++;
            if (!(*name)[n] && !c->name[i][n])
                return i;
        }
    return -1;
}

bool rh_pivot__suspected(const rh_columns *c, const char **tag, const char **value)
{
    static const char *const tags[] = {"tag",    "tagname",  "tag_name",  "tag name", "point",
                                       "signal", "variable", "parameter", "metric",   "sensor",
                                       "series", "item",     "channel",   "name",     NULL};
    static const char *const values[] = {"value", "val", "values", "reading", NULL};
    int t = find_usual(c, tags), v = find_usual(c, values);
    if (t < 0 || v < 0 || c->n > NARROW)
        return false;
    *tag = c->name[t];
    *value = c->name[v];
    return c->wordy[t] || !c->numeric[t];
}

static rh_status no_column(const long_table *t, const char *word, rh_error *err)
{
    char what[380];
    snprintf(what, sizeof what, "%s: pivot: no column", rh_base__path_tail(t->csv->path));
    return rh_base__unknown(err, what, word, t->columns->name, t->columns->n);
}

// The column of the time: named by the caller, by a usual name, or the only one of dates.
static rh_status find_time(long_table *t, rh_error *err)
{
    static const char *const usual[] = {"_time", "time", "timestamp",  "datetime", "date_time",
                                        "date",  "ts",   "time_stamp", NULL};
    const rh_columns *c = t->columns;
    t->time = t->opt->time ? find_header(c, t->opt->time) : find_usual(c, usual);
    for (int i = 0; !t->opt->time && t->time < 0 && i < c->n; i++)
        if (c->odd[i].ndate > 0 && c->odd[i].ndate == c->odd[i].nodd && i != t->tag)
            t->time = i;
    if (t->time >= 0)
        return RH_OK;
    return rh_fail(err, RH_EFORMAT,
                   "%s: pivot = %.60s: no column of times, expected one; name it with --time",
                   rh_base__path_tail(t->csv->path), t->opt->pivot ? t->opt->pivot : "");
}

static rh_status find_columns(long_table *t, rh_error *err)
{
    const char *pivot = t->opt->pivot ? t->opt->pivot : "_field,_value";
    char **word = NULL;
    int nword = 0;
    rh_status rc = rh_log__split(pivot, &word, &nword, err);
    if (rc)
        return rc;
    if (nword != 2) {
        rc = rh_fail(err, RH_EINVAL,
                     "%s: pivot = %.60s: %d name%s, expected the column of tags and that of "
                     "values, as in tag,value",
                     rh_base__path_tail(t->csv->path), pivot, nword, nword == 1 ? "" : "s");
        goto done;
    }
    t->tag = find_header(t->columns, word[0]);
    t->value = find_header(t->columns, word[1]);
    t->series = t->columns->influx && strcmp(word[0], "_field") == 0
                    ? find_header(t->columns, "table")
                    : -1;
    rc = t->tag < 0     ? no_column(t, word[0], err)
         : t->value < 0 ? no_column(t, word[1], err)
                        : find_time(t, err);
    if (!rc && (t->tag == t->value || t->tag == t->time || t->value == t->time))
        rc = rh_fail(err, RH_EINVAL,
                     "%s: pivot = %.60s: one column for two of time, tag and value, expected "
                     "three",
                     rh_base__path_tail(t->csv->path), pivot);

done:
    rh_free(word);
    return rc;
}

// ---------------------------------------------------------------------------- values

static rh_status refuse(const long_table *t, int column, const rh_csv__field_info *field,
                        const char *expected, rh_error *err)
{
    char name[RH_CSV__SHOWN], found[RH_CSV__SHOWN];
    return rh_fail(err, RH_EFORMAT, "%s:%lld: column '%s': found '%s', expected %s",
                   rh_base__path_tail(t->csv->path), (long long)t->csv->line,
                   rh_text__printable(t->columns->name[column], name, RH_CSV__SHOWN),
                   rh_text__printable_n(field->text, field->n, found, RH_CSV__SHOWN), expected);
}

static rh_status take_time(const long_table *t, const rh_csv__field_info *field, double *time,
                           rh_error *err)
{
    rh_number__kind kind = rh_csv__number(t->csv, field, time);
    if (kind == RH_NUMBER ||
        (kind == RH_NUMBER_TEXT && rh_csv__time(field->text, field->n, t->csv->order, time)))
        return RH_OK;
    return refuse(t, t->time, field, "a number or a time like 2024-05-01T12:00:00Z", err);
}

static rh_status take_tag(long_table *t, const rh_csv__field_info *field, uint32_t series,
                          int32_t *tag, rh_error *err)
{
    int before = t->tags.n,
        at = field->n ? rh_intern__add(&t->tags, field->text, field->n) : -3;
    if (at == -1)
        return rh_base__no_memory(err, t->csv->path);
    if (at < 0)
        return refuse(t, t->tag, field,
                      at == -2 ? "at most 10,000 different tags" : "the name of a tag", err);
    if (t->tags.n > before)
        t->of[at] = series;
    if (t->of[at] != series)
        return refuse(t, t->tag, field,
                      "a field of one series, but it is in several tables; select one in the "
                      "query, or name a column that differs: --pivot COLUMN,_value",
                      err);
    *tag = at;
    return RH_OK;
}

static rh_status take_value(long_table *t, const rh_csv__field_info *field,
                            rh_pivot__value *value, rh_error *err)
{
    double x = NAN;
    rh_number__kind kind = rh_csv__number(t->csv, field, &x);
    bool number = kind == RH_NUMBER && !rh_log__is_missing(t->opt, x);
    value->x = number ? x : (double)NAN;
    value->word = -1;
    if (kind == RH_NUMBER || kind == RH_NUMBER_MISSING)
        return RH_OK;
    value->word = rh_intern__add(&t->words, field->text, field->n);
    if (value->word == -1)
        return rh_base__no_memory(err, t->csv->path);
    if (value->word < 0)
        return refuse(t, t->value, field, "a number: there are 10,000 other texts", err);
    return RH_OK;
}

static rh_status take_row(long_table *t, char *p, size_t n, rh_error *err)
{
    rh_csv__field_info time = {0}, tag = {0}, value = {0}, field;
    uint32_t series = 0;
    char *end = p + n;
    int count = 0;
    for (; p; count++) {
        if (!rh_csv__field(&p, end, t->csv->delimiter, &field))
            return rh_fail(err, RH_EFORMAT, "%s:%lld: something follows a closing quote",
                           rh_base__path_tail(t->csv->path), (long long)t->csv->line);
        if (count == t->time)
            time = field;
        if (count == t->tag)
            tag = field;
        if (count == t->value)
            value = field;
        if (count == t->series)
            series = rh_base__crc32(0, field.text, field.n);
    }
    if (count != t->columns->n)
        return rh_fail(err, RH_EFORMAT, "%s:%lld: %d field%s, expected %d as in the header",
                       rh_base__path_tail(t->csv->path), (long long)t->csv->line, count,
                       count == 1 ? "" : "s", t->columns->n);
    rh_pivot__value *to = rh_column__push(&t->read);
    if (!to)
        return rh_base__no_memory(err, t->csv->path);
    rh_status rc = take_time(t, &time, &to->time, err);
    if (!rc)
        rc = take_tag(t, &tag, series, &to->tag, err);
    if (!rc)
        rc = take_value(t, &value, to, err);
    if (!rc)
        rc = rh_log__within(&t->limit, 2 * t->read.n * (int64_t)sizeof *to, t->csv->path, err);
    return rc;
}

static rh_status take_rows(long_table *t, rh_error *err)
{
    for (;;) {
        char *text;
        size_t n;
        rh_status rc = rh_csv__next(t->csv, &text, &n, err);
        if (rc || !text)
            return rc;
        rc = take_row(t, text, n, err);
        if (rc)
            return rc;
    }
}

// ---------------------------------------------------------------------------- the log

// The columns that are left out, for a note.
static void list_others(const long_table *t, rh_text *list)
{
    for (int i = 0; i < t->columns->n; i++)
        if (i != t->time && i != t->tag && i != t->value && *t->columns->name[i])
            rh_text__format(list, "%s%.60s",
                            list->n ? ", " : "; left out: ", t->columns->name[i]);
}

static rh_status add_note(const long_table *t, rh_log *log, int64_t nvalue, int64_t nrow,
                          rh_error *err)
{
    static const char *const how[] = {
        [RH_PIVOT_LAST] = "the last value of each tag at its time",
        [RH_PIVOT_MEAN] = "the mean of each tag since the row before; of those with whole "
                          "numbers only, the last value",
        [RH_PIVOT_INTERPOLATE] = "interpolated values, which the plant did not know yet; of "
                                 "tags with whole numbers only, the last value",
    };
    rh_text others = {0};
    list_others(t, &others);
    rh_status rc = others.bad ? rh_base__no_memory(err, t->csv->path) : RH_OK;
    if (!rc)
        rc = rh_log__add_note(
            log, err,
            "one value per line (columns %.40s, %.40s): %lld of %d tags in %lld rows%s",
            t->columns->name[t->tag], t->columns->name[t->value], (long long)nvalue, t->tags.n,
            (long long)nrow, others.data ? others.data : "");
    if (!rc)
        rc = rh_log__add_note(log, err, "a row has %s",
                              isnan(t->opt->every) ? "the values of its time"
                                                   : how[t->opt->pivot_value]);
    rh_text__clear(&others);
    return rc;
}

// The table with a row per step, and the log that is read from it.
static rh_status make_log(long_table *t, rh_log **out, rh_pivot__values *values, rh_error *err)
{
    const char *path = t->csv->path, *name = t->columns->header[t->time];
    rh_text text = {0};
    double *time = NULL;
    int64_t nrow = 0;
    rh_log_options opt = *t->opt;
    rh_log *log = NULL;
    rh_status rc = rh_pivot__times(values, t->opt->every, &t->limit, path, &time, &nrow, err);
    if (rc)
        goto done;
    rh_csv__add_quoted(&text, *name ? name : "time");
    for (int i = 0; i < t->tags.n; i++) {
        rh_text__add(&text, ",");
        rh_csv__add_quoted(&text, t->tags.name[i]);
    }
    rh_text__add(&text, "\n");
    rc = rh_pivot__rows(&text, values, time, &nrow, t->opt, &t->limit, path, err);
    if (rc)
        goto done;
    int64_t nvalue = values->n;
    rh_pivot__clear(values);
    opt.time = *name ? name : "time";
    opt.pivot = "";
    opt.skip = 0;
    opt.decimal = RH_DECIMAL_POINT;
    rc = rh_csv__read_made(&log, text.data, text.n, path, -1, "csv", &opt, err);
    if (!rc)
        rc = add_note(t, log, nvalue, nrow, err);
    if (!rc) {
        log->reading.pivoted = true;
        *out = log;
        log = NULL;
    }

done:
    rh_log_destroy(log);
    rh_free(time);
    rh_text__clear(&text);
    return rc;
}

rh_status rh_pivot__read(rh_log **out, rh_csv *csv, const rh_columns *columns,
                         const rh_log_options *opt, rh_error *err)
{
    rh_pivot__values values = {0};
    long_table *t = rh_alloc(1, sizeof *t);
    if (!t)
        return rh_base__no_memory(err, csv->path);
    t->csv = csv;
    t->columns = columns;
    t->opt = opt;
    t->read.width = sizeof(rh_pivot__value);
    t->limit = rh_log__limit_of(opt, rh_csv__size(csv));
    rh_status rc = rh_intern__init(&t->tags) && rh_intern__init(&t->words)
                       ? find_columns(t, err)
                       : rh_base__no_memory(err, csv->path);
    if (!rc)
        rc = rh_csv__find_order(csv, t->time, columns->name[t->time], err);
    t->read.first = rc ? 0 : rh_csv__lines_left(csv);
    if (!rc)
        rc = take_rows(t, err);
    if (!rc) {
        int64_t n = t->read.n;
        values.name = (const char *const *)t->tags.name;
        values.word = (const char *const *)t->words.name;
        rh_pivot__value *all = rh_column__flatten(&t->read);
        if (!all || !rh_pivot__sort(&values, all, n, t->tags.n))
            rc = rh_base__no_memory(err, csv->path);
    }
    if (!rc)
        rc = make_log(t, out, &values, err);
    rh_pivot__clear(&values);
    rh_column__clear(&t->read);
    rh_intern__clear(&t->tags);
    rh_intern__clear(&t->words);
    rh_free(t);
    return rh_log__one_line(rc, err);
}
