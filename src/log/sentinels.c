// sentinels.c - finds numbers that loggers write for a missing value: -9999, 32767, 1e30.
//
// The whole log must be known to tell a sentinel from a measurement, and a formula of the
// reward must not have seen it. So a log with sentinels is read again, as with --missing.
//
// 1. A number is taken only if nobody measures it: it is one that loggers write for a missing
//    value, and farther from all others than these are from each other. Other repeated extremes
//    are left to inspect, which asks.
// 2. +999 is a plausible count and needs to occur twice. 99, and 0, -1, 100 are too plausible.
// 3. It must not be an ordinary value of another column, because it is missing in all columns.
// 4. A reward may be the negative of a column: both signs are taken.

#include "base/base_internal.h"
#include "base/number.h"
#include "inspect.h"

#include <math.h>
#include <string.h>

#define ROUNDS 3 // sentinels of one column

static bool is_typical(double x)
{
    static const double known[] = {999.25,       9999.0,       99999.0, 999999.0,
                                   1e20,         1e30,         32767.0, 32768.0,
                                   2147483647.0, 2147483648.0, 65535.0, 999.0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (fabs(x) == known[i])
            return true;
    return false;
}

// The columns of a log: sensors, numbers of continuous actions, the reward.
static int column_count(const rh_log *log)
{
    return log->nobs + (log->naction ? 0 : log->nact) + 1;
}

static const char *column_name(const rh_log *log, int c)
{
    return c < log->nobs                ? log->obs_name[c]
           : c == column_count(log) - 1 ? log->reward_name
                                        : log->act_name[c - log->nobs];
}

static int64_t column_rows(const rh_log *log, int c)
{
    return c < log->nobs ? log->nstate : log->n;
}

static double column_value(const rh_log *log, int c, int64_t i)
{
    if (c < log->nobs)
        return log->obs[i * log->nobs + c];
    return c == column_count(log) - 1 ? log->reward[i]
                                      : log->act[i * log->nact + c - log->nobs];
}

// Whether the lowest or the highest value of a column may be a sentinel. Most columns need no
// more than this.
static bool may_have_one(const rh_log *log, int c)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < column_rows(log, c); i++) {
        double x = column_value(log, c, i);
        lo = x < lo ? x : lo;
        hi = x > hi && x < INFINITY ? x : hi;
    }
    return is_typical(lo) || is_typical(hi);
}

static void add_value(rh_log__sentinels *found, double x)
{
    for (int i = 0; i < found->n; i++)
        if (found->value[i] == x)
            return;
    if (found->n < (int)(sizeof found->value / sizeof *found->value))
        found->value[found->n++] = x;
}

static void add(rh_log__sentinels *found, const char *name, double x, int64_t n, double lo,
                double hi)
{
    add_value(found, x);
    found->count += n;
    rh_text__format(&found->text, "%s%s is %.10g %lld time%s, otherwise %.4g to %.4g",
                    found->text.n ? "; " : "", name, x, (long long)n, n == 1 ? "" : "s", lo,
                    hi);
}

static void search_column(rh_log__sentinels *found, const rh_log *log, int c,
                          rh_inspect__room *room)
{
    int64_t n = column_rows(log, c);
    for (int64_t i = 0; i < n; i++)
        room->column[i] = column_value(log, c, i);
    for (int round = 0; round < ROUNDS; round++) {
        rh_log_numbers v;
        rh_inspect__numbers(&v, room, n);
        double x = v.sentinel;
        double gap = x < v.lo ? v.lo - x : x - v.hi;
        if (!is_typical(x) || !(gap > v.hi - v.lo) || (x == 999.0 && v.nsentinel < 2))
            return;
        add(found, column_name(log, c), x, v.nsentinel, v.lo, v.hi);
        if (c == column_count(log) - 1)
            add_value(found, -x);
        for (int64_t i = 0; i < n; i++)
            if (room->column[i] == x)
                room->column[i] = NAN;
    }
}

// Discrete actions that are numbers: one is far from the others.
static void search_labels(rh_log__sentinels *found, const rh_log *log)
{
    for (int a = 0; a < log->naction; a++) {
        double x = NAN, lo = INFINITY, hi = -INFINITY;
        int64_t taken = 0;
        for (int k = 0; k < log->naction; k++) {
            double y;
            if (rh_number__read(log->label[k], strlen(log->label[k]), &y) != RH_NUMBER)
                return;
            x = k == a ? y : x;
            lo = k == a ? lo : fmin(lo, y);
            hi = k == a ? hi : fmax(hi, y);
        }
        double gap = x < lo ? lo - x : x - hi;
        if (!is_typical(x) || !(gap > hi - lo) || log->naction < 3)
            continue;
        for (int64_t t = 0; t < log->n; t++)
            taken += log->act[t] == a;
        add(found, log->act_name[0], x, taken, lo, hi);
    }
}

// Decision 3: drop values that another column has among its own.
static void drop_plausible(rh_log__sentinels *found, const rh_log *log)
{
    for (int i = 0; i < found->n; i++) {
        int64_t all = 0;
        for (int c = 0; c < column_count(log); c++)
            for (int64_t k = 0; k < column_rows(log, c); k++)
                all += column_value(log, c, k) == found->value[i];
        if (all > found->count) {
            found->n = 0;
            return;
        }
    }
}

rh_status rh_log__find_sentinels(rh_log__sentinels *found, const rh_log *log, rh_error *err)
{
    rh_inspect__room room = {0};
    rh_status rc = RH_OK;
    for (int c = 0; !rc && c < column_count(log); c++) {
        if (!may_have_one(log, c))
            continue;
        if (!room.column &&
            !rh_inspect__room_init(&room, log->n > log->nstate ? log->n : log->nstate))
            rc = rh_base__no_memory(err, log->path);
        else
            search_column(found, log, c, &room);
    }
    rh_inspect__room_clear(&room);
    if (!rc)
        search_labels(found, log);
    if (found->n > 0)
        drop_plausible(found, log);
    return !rc && found->text.bad ? rh_base__no_memory(err, log->path) : rc;
}

rh_status rh_log__tell_sentinels(rh_log *log, const rh_log__sentinels *found, rh_error *err)
{
    char shown[600];
    rh_text__printable(found->text.data, shown, sizeof shown);
    log->reading.sentinels = rh_log__keep((rh_log__body *)log, shown);
    log->reading.nsentinel = found->count;
    if (!log->reading.sentinels)
        return rh_base__no_memory(err, log->path);
    return rh_log__add_note(
        log, err, "taken as missing values: %s (--sentinels keep reads numbers)", shown);
}
