// csv_plain.c - decides whether a table reads back the same without "# rehearse" lines.
//
// Other programs stumble over lines that begin with #, so they are written only if needed. The
// reader's own code decides what it would read.
//
// 1. Whether a column counts steps depends on its rows. Here every column may count: then a
//    sensor with a counter's name is not recognised, and the lines are written.
// 2. A sensor that is missing in all of the first rows would not be recognised.

#include "base/number.h"
#include "csv.h"

#include <math.h>
#include <string.h>

#define LOOKED 1000 // rows, at most as many as the reader examines

// ---------------------------------------------------------------------------- actions

static bool are_amounts(const rh_log *log)
{
    if (log->nact > 1)
        return true;
    for (int64_t i = 0; i < log->n; i++)
        if (log->act[i] != floor(log->act[i]))
            return true;
    return false;
}

// Whether a label is an integer as the reader writes it, and which; or clearly a word.
static bool is_whole(const char *label, double *x)
{
    char text[RH_NUMBER__SIZE];
    if (rh_number__read(label, strlen(label), x) != RH_NUMBER || *x != floor(*x) ||
        fabs(*x) > 9e15)
        return false;
    rh_number__print(*x, text);
    return strcmp(text, label) == 0;
}

static bool is_word(const char *label)
{
    double x;
    return rh_number__read(label, strlen(label), &x) == RH_NUMBER_TEXT;
}

// Whether all labels occur, are of one kind, and are in the order the reader sorts them.
static bool are_found(const rh_log *log)
{
    bool taken[RH_MAX_ACTIONS] = {false};
    for (int64_t i = 0; i < log->n; i++)
        taken[(int)log->act[i]] = true;
    double before = -INFINITY, x = 0.0;
    bool words = is_word(log->label[0]);
    for (int i = 0; i < log->naction; i++) {
        const char *label = log->label[i];
        if (!taken[i] || !(words ? is_word(label) : is_whole(label, &x)))
            return false;
        if (words ? i > 0 && strcmp(log->label[i - 1], label) >= 0 : x <= before)
            return false;
        before = x;
    }
    return words || log->naction <= 10;
}

// ---------------------------------------------------------------------------- columns

static bool is_seen(const rh_log *log, int sensor)
{
    for (int64_t i = 0; i < log->n && i < LOOKED / 2; i++)
        if (!isnan(log->obs[(int64_t)log->from[i] * log->nobs + sensor]))
            return true;
    return false;
}

// Whether the columns `of` (n) are those of the role, in order.
static bool are_those(const rh_csv__table *table, rh_log__role role, const int *of, int n)
{
    int found = 0;
    for (int i = 0; i < table->n; i++)
        if (table->role[i] == role && (found >= n || of[found++] != i))
            return false;
    return found == n;
}

static bool is_that(const rh_csv__table *table, rh_log__role role, int column)
{
    return are_those(table, role, &column, column >= 0);
}

static bool is_meant(const rh_csv__table *table, const rh_columns__plan *plan,
                     const rh_log *log)
{
    return are_those(table, RH_ROLE_OBS, plan->obs, plan->nobs) &&
           are_those(table, RH_ROLE_NEXT, plan->next, plan->nnext) &&
           are_those(table, RH_ROLE_ACTION, plan->act, plan->nact) &&
           are_those(table, RH_ROLE_REWARD, plan->term, plan->nterm) && plan->reward.nop == 0 &&
           strcmp(plan->reward_name, log->reward_name) == 0 &&
           is_that(table, RH_ROLE_EPISODE, plan->episode) &&
           is_that(table, RH_ROLE_TERMINAL, plan->terminal) && !plan->done &&
           is_that(table, RH_ROLE_TRUNCATED, plan->truncated) &&
           is_that(table, RH_ROLE_TIME, plan->time) &&
           is_that(table, RH_ROLE_START, plan->start);
}

// Which columns a reader would choose without help.
static rh_status plan_alone(const rh_csv__table *table, rh_columns *c, const rh_log *log,
                            bool *meant, rh_error *err)
{
    rh_log_options opt = rh_log_defaults();
    rh_columns__plan plan = {0};
    int sensor = 0;
    *meant = true;
    for (int i = 0; i < table->n; i++) {
        bool words =
            table->role[i] == RH_ROLE_ACTION && log->naction > 0 && is_word(log->label[0]);
        c->numeric[i] = c->counting[i] = !words;
        c->wordy[i] = words;
        if (table->role[i] == RH_ROLE_OBS && !is_seen(log, sensor++))
            *meant = false;
    }
    rh_status rc = *meant ? rh_columns__plan_make(&plan, c, &opt, NULL) : RH_OK;
    *meant = *meant && !rc && is_meant(table, &plan, log);
    rh_columns__plan_clear(&plan);
    if (rc == RH_ENOMEM)
        return rh_base__no_memory(err, c->path);
    return RH_OK; // a failed plan is no error here
}

rh_status rh_csv__is_plain(const rh_csv__table *table, const rh_log *log, const char *path,
                           bool *named, bool *plain, rh_error *err)
{
    size_t *length = rh_alloc((size_t)table->n, sizeof *length);
    if (!length)
        return rh_base__no_memory(err, path);
    for (int i = 0; i < table->n; i++)
        length[i] = strlen(table->header[i]);
    rh_columns c;
    rh_status rc = rh_columns__init(&c, path, table->n, table->header, length, err);
    *named = *plain = true;
    for (int i = 0; !rc && *named && i < table->n; i++)
        *named = table->role[i] == RH_ROLE_NEXT || (strcmp(c.name[i], table->name[i]) == 0 &&
                                                    strcmp(c.unit[i], table->unit[i]) == 0);
    if (!rc)
        rc = plan_alone(table, &c, log, plain, err);
    *plain = *plain && *named && (log->naction > 0 ? are_found(log) : are_amounts(log));
    rh_columns__clear(&c);
    rh_free(length);
    return rc;
}
