// inspect_copies.c - finds blocks of rows that were written twice.
//
// A row (observation, action and reward) is compared with the row a fixed lag before it. A
// block is as many rows in succession as agree. What it proves depends on how it ends:
//
// 1. Same state and action, but another next observation: a plant without noise would have
//    repeated that too, and one with noise would not have returned to the same state for 20
//    rows. So the block was copied. Rows that merely rest do not count, so a plant at rest
//    proves nothing.
// 2. It covers episodes from their start on. A plant without noise may do so by itself if its
//    starts are few, so starts must differ otherwise, and the block must be long.
// 3. Another action in the same state: the plant has no noise and returned. Proves nothing.
//
// The last row with the same hash gives the lag. One pass, 24 bytes for each row.

#include "inspect.h"

#include <math.h>
#include <string.h>

#define FEWEST 10 // rows of a block that differ from the row before; by hand
#define LONG 100  // rows of a block that proves something by its length; decision 2

typedef struct rows {
    const rh_log *log;
    uint64_t *hash; // owned                             (n)
    int64_t *slot;  // owned: last row + 1 by its hash   (room, a power of two)
    uint64_t room;
} rows;

static bool same_row(const rows *r, int64_t a, int64_t b)
{
    return r->hash[a] == r->hash[b];
}

static bool same_state(const rh_log *log, int64_t a, int64_t b)
{
    const double *x = log->obs + (int64_t)log->from[a] * log->nobs;
    const double *y = log->obs + (int64_t)log->from[b] * log->nobs;
    for (int j = 0; j < log->nobs; j++)
        if (x[j] != y[j] && !(isnan(x[j]) && isnan(y[j])))
            return false;
    return true;
}

// The row before t with its hash, or -1; t takes its place.
static int64_t previous(rows *r, int64_t t)
{
    uint64_t at = r->hash[t] & (r->room - 1);
    while (r->slot[at] && r->hash[r->slot[at] - 1] != r->hash[t])
        at = (at + 1) & (r->room - 1);
    int64_t before = r->slot[at] - 1;
    r->slot[at] = t + 1;
    return before;
}

// Whether the block of rows from `first` to before `end` was copied: decisions 1 to 3.
static bool is_copy(const rows *r, const rh_log_report *report, int64_t first, int64_t end,
                    int64_t lag)
{
    const rh_log *log = r->log;
    bool inside = end < log->n && log->step[end] > 0 && log->step[end - lag] > 0;
    if (inside)
        return !same_state(log, end, end - lag);
    return end - first >= LONG && log->step[first] == 0 && log->step[first - lag] == 0 &&
           report->nstart_distinct > 1 && 2 * report->nstart_distinct >= report->nstart;
}

bool rh_inspect__copies(rh_log_report *report, const rh_log *log)
{
    rows r = {.log = log, .room = 1024};
    int64_t lag = 0, first = 0, nmoved = 0;
    report->copied_at = -1;
    if ((double)report->nstate_distinct <= rh_inspect__limit.tabular_share * (double)log->n)
        return true; // so few states that blocks repeat by themselves
    while (r.room < 2 * (uint64_t)log->n)
        r.room *= 2;
    r.hash = rh_alloc((size_t)log->n, sizeof *r.hash);
    r.slot = rh_alloc(r.room, sizeof *r.slot);
    for (int64_t t = 0; r.hash && t < log->n; t++)
        r.hash[t] = rh_inspect__row_hash(log, t);
    for (int64_t t = 0; r.hash && r.slot && t <= log->n; t++) {
        int64_t before = t < log->n ? previous(&r, t) : -1;
        if (lag > 0 && t < log->n && same_row(&r, t, t - lag)) {
            nmoved += !same_row(&r, t, t - 1);
            continue;
        }
        if (lag > 0 && nmoved >= FEWEST && is_copy(&r, report, first, t, lag)) {
            report->copied_at = report->copied_at < 0 ? first : report->copied_at;
            report->copied_from = report->ncopied ? report->copied_from : first - lag;
            report->ncopied += t - first;
        }
        lag = before >= 0 ? t - before : 0;
        first = t;
        nmoved = 0;
    }
    bool good = r.hash && r.slot;
    rh_free(r.hash);
    rh_free(r.slot);
    return good;
}
