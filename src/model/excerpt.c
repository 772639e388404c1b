// excerpt.c - a shorter log, for measurements whose time would grow with the log.
//
// 1. Whole episodes are kept, evenly spaced, resumed ones with the one before. If one is more
//    than half of the log, NBLOCK blocks of steps are, each long enough for a stretch.
// 2. Names, units and labels are unchanged; a piece of an episode that is cut is truncated.

#include "base/base_internal.h"
#include "model_internal.h"

#include <string.h>

#define NBLOCK 20

// The excerpt in progress.
typedef struct excerpt {
    uint8_t *keep;        // owned: which transitions           (n)
    double *obs;          // owned                              (nstate x nobs)
    int32_t *row;         // owned: new rows of states, or -1   (nstate)
    int32_t *from, *to;   // owned                              (n)
    double *act, *reward; // owned                              (n x nact, n)
    double *time;         // owned; NULL if the log has none    (n)
    uint8_t *flag;        // owned                              (n)
    int64_t *first;       // owned                              (n + 1)
    uint8_t *start;       // owned                              (n)
    int64_t n, nstate;
    int nepisode;
} excerpt;

static void clear(excerpt *x)
{
    void *const owned[] = {x->keep,   x->obs,  x->row,  x->from,  x->to,   x->act,
                           x->reward, x->time, x->flag, x->first, x->start};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rh_free(owned[i]);
}

// Mark the transitions to keep; how many.
static int64_t mark(excerpt *x, const rh_log *log, int64_t most)
{
    int64_t size = 0, largest = 0, n = 0, unit = -1, stride = (log->n + most - 1) / most;
    for (int e = 0; e < log->nepisode; e++) {
        size = e == 0 || log->start[e] ? 0 : size;
        size += log->first[e + 1] - log->first[e];
        largest = size > largest ? size : largest;
    }
    for (int e = 0; e < log->nepisode; e++) {
        unit += e == 0 || log->start[e];
        for (int64_t t = log->first[e]; t < log->first[e + 1]; t++) {
            int64_t block = t * NBLOCK / log->n;
            bool kept = 2 * largest > log->n
                            ? t - (block * log->n + NBLOCK - 1) / NBLOCK < most / NBLOCK
                            : unit % stride == 0;
            x->keep[t] = kept;
            n += kept;
        }
    }
    return n;
}

static bool make_room(excerpt *x, const rh_log *log, int64_t most)
{
    x->keep = rh_alloc((size_t)log->n, sizeof *x->keep);
    if (!x->keep)
        return false;
    size_t n = (size_t)mark(x, log, most);
    x->obs = rh_alloc(2 * n, (size_t)log->nobs * sizeof *x->obs);
    x->row = rh_alloc((size_t)log->nstate, sizeof *x->row);
    x->from = rh_alloc(n, sizeof *x->from);
    x->to = rh_alloc(n, sizeof *x->to);
    x->act = rh_alloc(n, (size_t)log->nact * sizeof *x->act);
    x->reward = rh_alloc(n, sizeof *x->reward);
    x->time = log->time ? rh_alloc(n, sizeof *x->time) : NULL;
    x->flag = rh_alloc(n, sizeof *x->flag);
    x->first = rh_alloc(n + 1, sizeof *x->first);
    x->start = rh_alloc(n, sizeof *x->start);
    if (!x->obs || !x->row || !x->from || !x->to || !x->act || !x->reward ||
        (log->time && !x->time) || !x->flag || !x->first || !x->start)
        return false;
    for (int64_t i = 0; i < log->nstate; i++)
        x->row[i] = -1;
    return true;
}

// The new row of a state.
static int32_t keep_state(excerpt *x, const rh_log *log, int32_t row)
{
    if (row == RH_UNKNOWN)
        return RH_UNKNOWN;
    if (x->row[row] < 0) {
        x->row[row] = (int32_t)x->nstate++;
        memcpy(x->obs + (int64_t)x->row[row] * log->nobs, log->obs + (int64_t)row * log->nobs,
               (size_t)log->nobs * sizeof *x->obs);
    }
    return x->row[row];
}

static void keep_step(excerpt *x, const rh_log *log, int64_t t)
{
    bool begins = t == 0 || !x->keep[t - 1] || log->episode[t - 1] != log->episode[t];
    bool cut = t + 1 < log->n && !x->keep[t + 1] && log->episode[t + 1] == log->episode[t];
    int64_t n = x->n++;
    if (begins) {
        x->start[x->nepisode] = log->step[t] == 0 && log->start[log->episode[t]];
        x->first[x->nepisode++] = n;
    }
    x->from[n] = keep_state(x, log, log->from[t]);
    x->to[n] = keep_state(x, log, log->to[t]);
    memcpy(x->act + n * log->nact, log->act + t * log->nact,
           (size_t)log->nact * sizeof *x->act);
    x->reward[n] = log->reward[t];
    x->flag[n] = (uint8_t)(log->flag[t] | (cut ? RH_FLAG_TRUNCATED : 0));
    if (log->time)
        x->time[n] = log->time[t];
}

rh_status rh_model__excerpt(rh_log **out, const rh_log *log, int64_t most, rh_error *err)
{
    excerpt x = {0};
    rh_status rc = RH_OK;
    if (log->n <= most)
        return RH_OK;
    if (!make_room(&x, log, most)) {
        rc = rh_base__no_memory(err, "model");
        goto done;
    }
    for (int64_t t = 0; t < log->n; t++)
        if (x.keep[t])
            keep_step(&x, log, t);
    x.first[x.nepisode] = x.n;

    rh_log parts = *log;
    parts.n = x.n;
    parts.nstate = x.nstate;
    parts.nepisode = x.nepisode;
    parts.obs = x.obs;
    parts.from = x.from;
    parts.to = x.to;
    parts.act = x.act;
    parts.reward = x.reward;
    parts.time = x.time;
    parts.flag = x.flag;
    parts.first = x.first;
    parts.line = NULL;
    parts.start = x.start;
    rc = rh_log_copy(out, &parts, err);

done:
    clear(&x);
    return rc;
}
