// subset.c - a log with some of the states and steps of another.

#include "subset.h"
#include "log/log.h"

#include <string.h>

bool rh_subset__init(rh_subset *s, const rh_log *log, int64_t nstate, int64_t nstep,
                     int64_t nepisode)
{
    rh_scratch *scratch = &s->scratch;
    size_t n = (size_t)nstep;
    s->log = log;
    s->obs = rh_scratch__take(scratch, (size_t)nstate, (size_t)log->nobs * sizeof *s->obs);
    s->act = rh_scratch__take(scratch, n, (size_t)log->nact * sizeof *s->act);
    s->reward = rh_scratch__take(scratch, n, sizeof *s->reward);
    s->time = log->time ? rh_scratch__take(scratch, n, sizeof *s->time) : NULL;
    s->from = rh_scratch__take(scratch, n, sizeof *s->from);
    s->to = rh_scratch__take(scratch, n, sizeof *s->to);
    s->flag = rh_scratch__take(scratch, n, sizeof *s->flag);
    s->start = rh_scratch__take(scratch, (size_t)nepisode, sizeof *s->start);
    s->first = rh_scratch__take(scratch, (size_t)nepisode + 1, sizeof *s->first);
    s->row = rh_scratch__take(scratch, (size_t)log->nstate, sizeof *s->row);
    if (scratch->failed)
        return false;
    for (int64_t i = 0; i < log->nstate; i++)
        s->row[i] = -1;
    return true;
}

int32_t rh_subset__state(rh_subset *s, int32_t row)
{
    size_t nobs = (size_t)s->log->nobs;
    if (row == RH_UNKNOWN)
        return RH_UNKNOWN;
    if (s->row[row] < 0) {
        s->row[row] = (int32_t)s->nstate++;
        memcpy(s->obs + (size_t)s->row[row] * nobs, s->log->obs + (size_t)row * nobs,
               nobs * sizeof *s->obs);
    }
    return s->row[row];
}

void rh_subset__begin(rh_subset *s, bool start)
{
    s->first[s->nepisode] = s->n;
    s->start[s->nepisode++] = start;
}

void rh_subset__step(rh_subset *s, int64_t i, int32_t from, int32_t to, unsigned flag)
{
    const rh_log *log = s->log;
    int64_t n = s->n++;
    s->from[n] = from;
    s->to[n] = to;
    memcpy(s->act + n * log->nact, log->act + i * log->nact,
           (size_t)log->nact * sizeof *s->act);
    s->reward[n] = log->reward[i];
    s->flag[n] = (uint8_t)flag;
    if (log->time)
        s->time[n] = log->time[i];
}

rh_status rh_subset__copy(rh_log **out, rh_subset *s, rh_error *err)
{
    rh_log parts = *s->log;
    s->first[s->nepisode] = s->n;
    parts.n = s->n;
    parts.nstate = s->nstate;
    parts.nepisode = (int)s->nepisode;
    parts.obs = s->obs;
    parts.from = s->from;
    parts.to = s->to;
    parts.act = s->act;
    parts.reward = s->reward;
    parts.flag = s->flag;
    parts.time = s->time;
    parts.first = s->first;
    parts.line = NULL;
    parts.start = s->start;
    return rh_log_copy(out, &parts, err);
}
