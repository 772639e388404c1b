// csv_order.c - decides whether dates such as 5/1/2024 begin with the day or the month.
//
// 1. 13/5/2024 begins with the day and 5/13/2024 with the month. One such date decides for the
//    column, wherever it is, so all rows are read if the first ones do not tell. Other columns
//    have no say.
// 2. Rows that contradict each other are refused: half of the dates would be wrong.
// 3. If no row tells, the caller must. 5/5/2024 is the same date in both orders.

#include "base/base_internal.h"
#include "csv.h"

#include <string.h>

typedef struct told {
    int64_t line; // 0: none
    char text[RH_CSV__SHOWN];
} told;

static void tell(told *t, const rh_csv *csv, const rh_csv__field_info *field)
{
    if (t->line > 0)
        return;
    t->line = csv->line;
    rh_text__printable_n(field->text, field->n, t->text, sizeof t->text);
}

// The field of a column in the next record; *ended: there is none.
static rh_status next_field(rh_csv *csv, int column, rh_csv__field_info *field, bool *ended,
                            rh_error *err)
{
    char *p;
    size_t n;
    rh_status rc = rh_csv__next(csv, &p, &n, err);
    *field = (rh_csv__field_info){0};
    *ended = !rc && !p;
    if (rc || !p)
        return rc;
    char *end = p + n;
    for (int i = 0; i <= column; i++) // a malformed record is refused later, when it is read
        if (!p || !rh_csv__field(&p, end, csv->delimiter, field)) {
            *field = (rh_csv__field_info){0};
            return RH_OK;
        }
    return RH_OK;
}

static rh_status judge(const told *day, const told *month, const told *either,
                       const rh_csv *csv, const char *name, rh_error *err)
{
    const char *path = rh_base__path_tail(csv->path);
    if (day->line > 0 && month->line > 0) {
        bool later = day->line > month->line;
        const told *a = later ? month : day, *b = later ? day : month;
        return rh_fail(err, RH_EFORMAT,
                       "%s:%lld: column '%.40s': found '%s', expected the %s first, as '%s' in "
                       "line %lld",
                       path, (long long)b->line, name, b->text, later ? "month" : "day",
                       a->text, (long long)a->line);
    }
    if (day->line == 0 && month->line == 0 && either->line > 0)
        return rh_fail(err, RH_EFORMAT,
                       "%s:%lld: column '%.40s': '%s' may begin with the day or the month, and "
                       "no row tells; say --dates day-first or --dates month-first",
                       path, (long long)either->line, name, either->text);
    return RH_OK;
}

rh_status rh_csv__find_order(rh_csv *csv, int column, const char *name, rh_error *err)
{
    told day = {0}, month = {0}, either = {0};
    rh_csv__field_info field;
    rh_csv__date date;
    rh_status rc = RH_OK;
    bool ended = false, dates = false;
    csv->order = csv->opt ? csv->opt->dates : RH_DATES_AUTO;
    if (csv->order != RH_DATES_AUTO)
        return RH_OK;

    // the first rows tell whether there are such dates at all
    for (int64_t row = 0; !rc && (dates || row < 1000); row++) {
        rc = next_field(csv, column, &field, &ended, err);
        if (rc || ended)
            break;
        if (field.n == 0 || !rh_csv__short_date(field.text, field.n, &date))
            continue;
        dates = true;
        if (date.separator == '.' || date.first == date.second)
            continue;
        if (date.day_first && date.month_first)
            tell(&either, csv, &field);
        else
            tell(date.day_first ? &day : &month, csv, &field);
    }
    if (!rc)
        rc = judge(&day, &month, &either, csv, name, err);
    if (rc)
        return rc;
    if (dates && (day.line > 0 || month.line > 0))
        csv->order = day.line > 0 ? RH_DATES_DAY_FIRST : RH_DATES_MONTH_FIRST;
    return rh_csv__to_rows(csv, err);
}
