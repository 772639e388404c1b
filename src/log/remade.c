// remade.c - a log whose steps, states or sensors are made anew from those of another one.
//
// 1. Arrays are as long as the other log can need: a step has at most two states, and begins
//    an episode at most.
// 2. rh_log_copy() derives what follows from the arrays and checks them.

#include "base/base_internal.h"
#include "log.h"
#include "log_internal.h"

#include <math.h>

bool rh_log__remake(rh_log__remade *m, const rh_log *old, int nobs)
{
    rh_scratch *s = &m->scratch;
    size_t n = (size_t)old->n;
    *m = (rh_log__remade){.old = old, .log = *old};
    m->log.n = m->log.nstate = m->log.nepisode = 0;
    m->log.nobs = nobs;
    m->obs = rh_scratch__take(s, 2 * n, (size_t)nobs * sizeof *m->obs);
    m->act = rh_scratch__take(s, n, (size_t)old->nact * sizeof *m->act);
    m->reward = rh_scratch__take(s, n, sizeof *m->reward);
    m->time = rh_scratch__take(s, n, sizeof *m->time);
    m->from = rh_scratch__take(s, n, sizeof *m->from);
    m->to = rh_scratch__take(s, n, sizeof *m->to);
    m->flag = rh_scratch__take(s, n, sizeof *m->flag);
    m->start = rh_scratch__take(s, n, sizeof *m->start);
    m->first = rh_scratch__take(s, n + 1, sizeof *m->first);
    m->line = old->line ? rh_scratch__take(s, 2 * n, sizeof *m->line) : NULL;
    return !s->failed;
}

double *rh_log__remade_state(rh_log__remade *m, int64_t row)
{
    int64_t i = m->log.nstate++;
    if (m->line)
        m->line[i] = m->old->line[row];
    return m->obs + i * m->log.nobs;
}

void rh_log__remade_episode(rh_log__remade *m, bool starts)
{
    m->start[m->log.nepisode] = starts;
    m->first[m->log.nepisode++] = m->log.n;
}

// The notes of the other log, and one more.
static rh_status add_note(rh_log__remade *m, const rh_text *note, const char *path,
                          rh_error *err)
{
    rh_log_reading *r = &m->log.reading;
    const char **all = rh_scratch__take(&m->scratch, (size_t)r->nnote + 1, sizeof *all);
    if (!all || note->bad)
        return rh_base__no_memory(err, path);
    for (int i = 0; i < r->nnote; i++)
        all[i] = r->note[i];
    all[r->nnote++] = note->data;
    r->note = all;
    return RH_OK;
}

rh_status rh_log__remade_end(rh_log__remade *m, const rh_text *note, rh_log **log,
                             const char *path, rh_error *err)
{
    rh_log *out = NULL, *parts = &m->log;
    rh_status rc = add_note(m, note, path, err);
    if (rc)
        return rc;
    m->first[parts->nepisode] = parts->n;
    parts->obs = m->obs;
    parts->from = m->from;
    parts->to = m->to;
    parts->act = m->act;
    parts->reward = m->reward;
    parts->flag = m->flag;
    parts->time = parts->time ? m->time : NULL;
    parts->line = m->line;
    parts->first = m->first;
    parts->start = m->start;
    parts->reading.nmissing = 0;
    for (int64_t i = 0; i < parts->nstate * parts->nobs; i++)
        parts->reading.nmissing += isnan(m->obs[i]) != 0;
    rc = rh_log_copy(&out, parts, err);
    if (rc)
        return rc;
    rh_log_destroy(*log);
    *log = out;
    return RH_OK;
}
