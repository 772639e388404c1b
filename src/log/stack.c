// stack.c - adds the last observations and actions to each observation, as sensors.
//
//     s_k, then for lag = 1 .. n - 1: s_(k-lag), a_(k-lag)
//
// For plants whose sensors do not show the whole state: a position without its speed, a valve
// with a delay.
//
// 1. Histories are made from the finished log (observer.c), so that every format has them and
//    s' has them too. The current sensors come first, so formulas of the reward still name
//    them. The log keeps the depth, for a deployment that makes the same.
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
    rh_past past;    //
    int depth, nact; // observations, numbers of an action
    rh_log__remade new;
} stacked;

// ---------------------------------------------------------------------------- numbers

// A new state, at step t or after it; its row.
static int32_t add_state(stacked *s, int64_t t, bool after)
{
    const rh_log *log = s->log;
    int64_t row = after ? log->to[t] : log->from[t];
    rh_past__show(&s->past, log->obs + row * log->nobs, rh_log__remade_state(&s->new, row));
    return (int32_t)s->new.log.nstate - 1;
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
    rh_log__remade *m = &s->new;
    int64_t i = m->log.n++;
    m->from[i] = joined ? m->to[i - 1] : add_state(s, t, false);
    pass(s, t);
    m->to[i] = log->to[t] == RH_UNKNOWN ? RH_UNKNOWN : add_state(s, t, true);
    memcpy(m->act + i * log->nact, log->act + t * log->nact,
           (size_t)log->nact * sizeof *m->act);
    m->reward[i] = log->reward[t];
    m->flag[i] = log->flag[t];
    if (log->time)
        m->time[i] = log->time[t];
}

static rh_status add_steps(stacked *s, const char *path, rh_error *err)
{
    const rh_log *log = s->log;
    for (int e = 0; e < log->nepisode; e++) {
        int64_t begin = log->first[e] + (log->start[e] ? 0 : s->depth - 1);
        if (begin >= log->first[e + 1])
            continue;
        rh_log__remade_episode(&s->new, log->start[e]);
        rh_past__begin(&s->past);
        for (int64_t t = log->first[e]; t < begin; t++)
            pass(s, t);
        for (int64_t t = begin; t < log->first[e + 1]; t++)
            add_step(s, t, t > begin && log->to[t - 1] == log->from[t]);
    }
    if (s->new.log.n == 0)
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
    rh_scratch *scratch = &s->new.scratch;
    int width = s->new.log.nobs;
    const char **name = rh_scratch__take(scratch, (size_t)width, sizeof *name);
    const char **unit = rh_scratch__take(scratch, (size_t)width, sizeof *unit);
    char *made = rh_scratch__take(scratch, (size_t)width, NAME);
    if (scratch->failed)
        return rh_base__no_memory(err, path);
    for (int i = 0; i < width; i++) {
        int lag = i < log->nobs ? 0 : (i - log->nobs) / (log->nobs + s->nact) + 1;
        int k = lag ? (i - log->nobs) % (log->nobs + s->nact) : i, a = k - log->nobs;
        char *text = made + (size_t)i * NAME;
        name[i] = text;
        unit[i] = k < log->nobs ? log->obs_unit[k] : "";
        if (k < log->nobs && lag == 0)
            name[i] = log->obs_name[k];
        else if (k < log->nobs)
            snprintf(text, NAME, "%.100s[-%d]", log->obs_name[k], lag);
        else if (!log->naction)
            snprintf(text, NAME, "%.100s[-%d]", log->act_name[a], lag);
        else
            snprintf(text, NAME, "%.50s=%.50s[-%d]", log->act_name[0],
                     log->label[log->naction == 2 ? 1 : a], lag);
    }
    s->new.log.obs_name = name;
    s->new.log.obs_unit = unit;
    return RH_OK;
}

rh_status rh_log__stack(rh_log **log, int depth, const char *path, rh_error *err)
{
    const rh_log *from = *log;
    rh_text note = {0};
    stacked s = {.log = from, .depth = depth};
    rh_status rc = rh_past__init(&s.past, depth, from->nobs, from->naction, from->nact,
                                 rh_base__path_tail(path), err);
    if (rc)
        return rc;
    s.nact = s.past.ncode;
    if (!rh_log__remake(&s.new, from, rh_past__width(&s.past)))
        rc = rh_base__no_memory(err, path);
    if (!rc)
        rc = add_steps(&s, path, err);
    if (!rc)
        rc = add_names(&s, path, err);
    if (!rc) {
        rh_text__format(&note,
                        "stacked: an observation is that of %d steps and the actions between "
                        "them; before an episode's first step the first observation is "
                        "repeated and actions are 0",
                        depth);
        s.new.log.stack = depth;
        s.new.log.reading.nshort = from->n - s.new.log.n;
        rc = rh_log__remade_end(&s.new, &note, log, path, err);
    }
    rh_text__clear(&note);
    rh_scratch__clear(&s.new.scratch);
    rh_past__clear(&s.past);
    return rh_log__one_line(rc, err);
}
