// journal_next.c - what to log next, in the journal: one attribute of the study.
//
//     "log_next": {"settings": [3, 17, ...],
//                  "rows": [{"action": 1, "range": [lo, hi, ...], "sides": [[2, lo, hi], ...],
//                            "steps": 400, "agent": 0.12, "logged": 3, "alone": 0.61}, ...]}
//
// settings: whose visits it comes from; rows of others do not count. range: of every number of
// a continuous action, whose "action" is -1. sides: sensor and bounds.

#include "base/base_internal.h"
#include "journal.h"

#include <math.h>

#define KEY "log_next"

// ---------------------------------------------------------------------------- writing

static void add_row(rh_text *t, const rh_log *log, const rh_next *row)
{
    rh_text__format(t, "{\"action\":%d,\"range\":[", row->action);
    for (int k = 0; row->action < 0 && k < log->nact; k++) {
        rh_text__add(t, k ? "," : "");
        rh_journal__number(t, row->act_lo[k]);
        rh_text__add(t, ",");
        rh_journal__number(t, row->act_hi[k]);
    }
    rh_text__add(t, "],\"sides\":[");
    for (int k = 0; k < row->nside; k++) {
        rh_text__format(t, "%s[%d,", k ? "," : "", row->side[k].sensor);
        rh_journal__number(t, row->side[k].lo);
        rh_text__add(t, ",");
        rh_journal__number(t, row->side[k].hi);
        rh_text__add(t, "]");
    }
    rh_text__format(t, "],\"steps\":%d,\"agent\":", row->steps);
    rh_journal__number(t, row->agent);
    rh_text__format(t, ",\"logged\":%lld,\"alone\":", (long long)row->nlogged);
    rh_journal__number(t, row->alone);
    rh_text__add(t, "}");
}

rh_status rh_journal__add_next(rh_journal *journal, const int *setting, int nsetting,
                               const rh_log *log, const rh_next *row, int nrow, rh_error *err)
{
    rh_text *t = &journal->text;
    rh_journal__study_attr(t, 0, KEY);
    rh_text__add(t, "{\"settings\":[");
    for (int i = 0; i < nsetting; i++)
        rh_text__format(t, "%s%d", i ? "," : "", setting[i]);
    rh_text__add(t, "],\"rows\":[");
    for (int i = 0; i < nrow; i++) {
        rh_text__add(t, i ? "," : "");
        add_row(t, log, &row[i]);
    }
    rh_text__add(t, "]}");
    rh_journal__end_attr(t);
    return rh_journal__append(journal, err);
}

// ---------------------------------------------------------------------------- reading

static bool number_at(const json_t *array, size_t i, double *x)
{
    return rh_journal__number_of(json_array_get(array, i), x) && !isnan(*x);
}

// A whole number, lo to hi.
static bool whole_in(const json_t *found, int64_t lo, int64_t hi, int64_t *x)
{
    *x = json_integer_value(found);
    return json_is_integer(found) && lo <= *x && *x <= hi;
}

static bool read_side(const json_t *found, const rh_log *log, rh_next *row)
{
    int at = row->nside++;
    int64_t sensor;
    if (json_array_size(found) != 3 ||
        !whole_in(json_array_get(found, 0), 0, log->nobs - 1, &sensor))
        return false;
    row->side[at].sensor = (int)sensor;
    return number_at(found, 1, &row->side[at].lo) && number_at(found, 2, &row->side[at].hi);
}

static bool read_row(const json_t *found, const rh_log *log, rh_next *row)
{
    const json_t *range = json_object_get(found, "range"),
                 *sides = json_object_get(found, "sides");
    int nrange = log->naction ? 0 : log->nact;
    int64_t action, steps;
    *row = (rh_next){0};
    if (!whole_in(json_object_get(found, "action"), log->naction ? 0 : -1, log->naction - 1,
                  &action) ||
        !whole_in(json_object_get(found, "steps"), 0, INT32_MAX, &steps) ||
        !whole_in(json_object_get(found, "logged"), 0, log->n, &row->nlogged) ||
        !rh_journal__number_of(json_object_get(found, "agent"), &row->agent) ||
        !rh_journal__number_of(json_object_get(found, "alone"), &row->alone) ||
        json_array_size(range) != 2 * (size_t)nrange || json_array_size(sides) > RH_NEXT_SIDES)
        return false;
    row->action = (int)action;
    row->steps = (int)steps;
    for (size_t k = 0; k < (size_t)nrange; k++)
        if (!number_at(range, 2 * k, &row->act_lo[k]) ||
            !number_at(range, 2 * k + 1, &row->act_hi[k]))
            return false;
    for (size_t k = 0; k < json_array_size(sides); k++)
        if (!read_side(json_array_get(sides, k), log, row))
            return false;
    return true;
}

bool rh_journal__next(const rh_journal *journal, const int *setting, int nsetting,
                      const rh_log *log, rh_next *row, int *nrow)
{
    const json_t *found = json_object_get(journal->replay.attr, KEY);
    const json_t *settings = json_object_get(found, "settings"),
                 *rows = json_object_get(found, "rows");
    if (!json_is_array(rows) || json_array_size(rows) > RH_NEXT_MOST ||
        json_array_size(settings) != (size_t)nsetting)
        return false;
    for (size_t i = 0; i < (size_t)nsetting; i++)
        if (json_integer_value(json_array_get(settings, i)) != setting[i])
            return false;
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (!read_row(json_array_get(rows, i), log, &row[i]))
            return false;
    *nrow = (int)json_array_size(rows);
    return true;
}
