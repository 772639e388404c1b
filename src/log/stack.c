// stack.c - adds the last observations and actions to each observation, as sensors.
//
//     s_k, then for lag = 1 .. n - 1: s_(k-lag), a_(k-lag)
//
// For plants whose sensors do not show the whole state: a position without its speed, a valve
// with a delay.
//
// 1. Histories are made from the finished log (observer.c), so that every format has them and
// s'
//    has them too. The current sensors come first, so formulas of the reward still name them.
//    The log keeps the depth, for a deployment that makes the same.
// 2. An episode that resumes after a gap has a history that was not logged: its first n - 1
//    steps are dropped and counted.

#include "base/base_internal.h"
#include "log.h"
#include "log_internal.h"
#include "observer.h"

#include <math.h>
#include <string.h>

#define NAME 120 // most bytes of a sensor's name

typedef struct stacked {
    const rh_log *log;
    rh_past past;               //
    int depth, nact, width;     // observations, numbers of an action, numbers of a state
    int64_t n, nstate;          // of the new log
    int nepisode;               //
    double *obs, *act, *reward; // owned, as in rh_log
    double *time;               //
    int32_t *from, *to;         //
    uint8_t *flag, *start;      //
    int64_t *line, *first;      //
    const char **name, **unit;  //
    char *text;                 // the names, owned
    const char **note;          // owned: the log's notes and one more
} stacked;

// ---------------------------------------------------------------------------- numbers

// A new state, at step t or after it; its row.
static int32_t add_state(stacked *s, int64_t t, bool after)
{
    const rh_log *log = s->log;
    int64_t row = after ? log->to[t] : log->from[t];
    rh_past__show(&s->past, log->obs + row * log->nobs, s->obs + s->nstate * s->width);
    if (s->line)
        s->line[s->nstate] = log->line[row];
    return (int32_t)s->nstate++;
}

// Take step t into the history.
static void pass(stacked *s, int64_t t)
{
    const rh_log *log = s->log;
    rh_past__push(&s->past, log->obs + (int64_t)log->from[t] * log->nobs,
                  log->act + t * log->nact);
}

static void add_step(stacked *s, int64_t t, bool joined)
{
    const rh_log *log = s->log;
    int64_t i = s->n++;
    s->from[i] = joined ? s->to[i - 1] : add_state(s, t, false);
    pass(s, t);
    s->to[i] = log->to[t] == RH_UNKNOWN ? RH_UNKNOWN : add_state(s, t, true);
    memcpy(s->act + i * log->nact, log->act + t * log->nact,
           (size_t)log->nact * sizeof *s->act);
    s->reward[i] = log->reward[t];
    s->flag[i] = log->flag[t];
    if (log->time)
        s->time[i] = log->time[t];
}

static rh_status add_steps(stacked *s, const char *path, rh_error *err)
{
    const rh_log *log = s->log;
    size_t n = (size_t)log->n, nepisode = (size_t)log->nepisode;
    s->obs = rh_alloc(2 * n, (size_t)s->width * sizeof *s->obs);
    s->act = rh_alloc(n, (size_t)log->nact * sizeof *s->act);
    s->reward = rh_alloc(n, sizeof *s->reward);
    s->time = rh_alloc(n, sizeof *s->time);
    s->from = rh_alloc(n, sizeof *s->from);
    s->to = rh_alloc(n, sizeof *s->to);
    s->flag = rh_alloc(n, sizeof *s->flag);
    s->start = rh_alloc(nepisode, sizeof *s->start);
    s->first = rh_alloc(nepisode + 1, sizeof *s->first);
    s->line = log->line ? rh_alloc(2 * n, sizeof *s->line) : NULL;
    if (!s->obs || !s->act || !s->reward || !s->time || !s->from || !s->to || !s->flag ||
        !s->start || !s->first || (log->line && !s->line))
        return rh_base__no_memory(err, path);
    for (int e = 0; e < log->nepisode; e++) {
        int64_t begin = log->first[e] + (log->start[e] ? 0 : s->depth - 1);
        if (begin >= log->first[e + 1])
            continue;
        s->first[s->nepisode] = s->n;
        s->start[s->nepisode++] = log->start[e];
        rh_past__begin(&s->past);
        for (int64_t t = log->first[e]; t < begin; t++)
            pass(s, t);
        for (int64_t t = begin; t < log->first[e + 1]; t++)
            add_step(s, t, t > begin && log->to[t - 1] == log->from[t]);
    }
    s->first[s->nepisode] = s->n;
    if (s->n == 0)
        return rh_fail(err, RH_EFORMAT,
                       "%s: stack = %d: no step has the steps before it, expected longer "
                       "episodes without gaps",
                       rh_base__path_tail(path), s->depth);
    return RH_OK;
}

// ---------------------------------------------------------------------------- names

// temp, temp[-1], pump[-1], pump=high[-1]
static rh_status add_names(stacked *s, const char *path, rh_error *err)
{
    const rh_log *log = s->log;
    s->name = rh_alloc((size_t)s->width, sizeof *s->name);
    s->unit = rh_alloc((size_t)s->width, sizeof *s->unit);
    s->text = rh_alloc((size_t)s->width, NAME);
    if (!s->name || !s->unit || !s->text)
        return rh_base__no_memory(err, path);
    for (int i = 0; i < s->width; i++) {
        int lag = i < log->nobs ? 0 : (i - log->nobs) / (log->nobs + s->nact) + 1;
        int k = lag ? (i - log->nobs) % (log->nobs + s->nact) : i, a = k - log->nobs;
        char *text = s->text + (size_t)i * NAME;
        s->name[i] = text;
        s->unit[i] = k < log->nobs ? log->obs_unit[k] : "";
        if (k < log->nobs && lag == 0)
            s->name[i] = log->obs_name[k];
        else if (k < log->nobs)
            snprintf(text, NAME, "%.100s[-%d]", log->obs_name[k], lag);
        else if (!log->naction)
            snprintf(text, NAME, "%.100s[-%d]", log->act_name[a], lag);
        else
            snprintf(text, NAME, "%.50s=%.50s[-%d]", log->act_name[0],
                     log->label[log->naction == 2 ? 1 : a], lag);
    }
    return RH_OK;
}

static rh_status add_note(stacked *s, rh_text *text, const char *path, rh_error *err)
{
    const rh_log_reading *r = &s->log->reading;
    s->note = rh_alloc((size_t)r->nnote + 1, sizeof *s->note);
    rh_text__format(text,
                    "stacked: an observation is that of %d steps and the actions between them; "
                    "before an episode's first step the first observation is repeated and "
                    "actions are 0",
                    s->depth);
    if (!s->note || text->bad)
        return rh_base__no_memory(err, path);
    for (int i = 0; i < r->nnote; i++)
        s->note[i] = r->note[i];
    s->note[r->nnote] = text->data;
    return RH_OK;
}

static void clear(stacked *s)
{
    rh_past__clear(&s->past);
    void *const owned[] = {s->obs,  s->act,          s->reward,       s->time,        s->from,
                           s->to,   s->flag,         s->start,        s->line,        s->first,
                           s->text, (void *)s->name, (void *)s->unit, (void *)s->note};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rh_free(owned[i]);
}

rh_status rh_log__stack(rh_log **log, int depth, const char *path, rh_error *err)
{
    const rh_log *from = *log;
    rh_log parts = *from, *out = NULL;
    rh_text note = {0};
    stacked s = {.log = from, .depth = depth};
    rh_status rc = RH_OK;
    rc = rh_past__init(&s.past, depth, from->nobs, from->naction, from->nact,
                       rh_base__path_tail(path), err);
    if (rc)
        return rc;
    s.nact = s.past.ncode;
    s.width = rh_past__width(&s.past);
    rc = add_steps(&s, path, err);
    if (!rc)
        rc = add_names(&s, path, err);
    if (!rc)
        rc = add_note(&s, &note, path, err);
    if (rc)
        goto done;
    parts.n = s.n;
    parts.nstate = s.nstate;
    parts.nepisode = s.nepisode;
    parts.nobs = s.width;
    parts.stack = depth;
    parts.obs = s.obs;
    parts.from = s.from;
    parts.to = s.to;
    parts.act = s.act;
    parts.reward = s.reward;
    parts.flag = s.flag;
    parts.time = from->time ? s.time : NULL;
    parts.line = s.line;
    parts.first = s.first;
    parts.start = s.start;
    parts.obs_name = s.name;
    parts.obs_unit = s.unit;
    parts.reading.nshort = from->n - s.n;
    parts.reading.note = s.note;
    parts.reading.nnote++;
    parts.reading.nmissing = 0;
    for (int64_t i = 0; i < s.nstate * s.width; i++)
        parts.reading.nmissing += isnan(s.obs[i]) != 0;
    rc = rh_log_copy(&out, &parts, err);
    if (rc)
        goto done;
    rh_log_destroy(*log);
    *log = out;

done:
    rh_text__clear(&note);
    clear(&s);
    return rh_log__one_line(rc, err);
}
