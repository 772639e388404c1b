// clean.c - selects the transitions of a log that a model is fitted to.
//
// 1. A transition with a missing or infinite number in s, s', action or reward is left out: it
//    has no code, and no agent may observe it. So are states that no remaining transition uses.
// 2. A terminal transition is kept when only its s' is unusable, because no agent acts in s',
//    and the log has few ends. Its s' becomes unknown.
// 3. Leaving out a transition splits its episode. The first piece is truncated; the second does
//    not begin in a start state.
// 4. A reset (resets.c) becomes a terminal transition. It leads to a new state, where the step
//    would have led; the transition after it begins an episode in a start state.
// 5. The log is surveyed in place, without a copy: rh_model_check() takes 2.7 ms for 100,000
//    steps of Acrobot, 7.2 ms with a copy (one core of an AMD EPYC).

#include "base/base_internal.h"
#include "model_internal.h"

#include <math.h>
#include <string.h>

// The arrays of a cleaned log while they are filled.
typedef struct cleaned {
    double *obs;           // owned  (nstate x nobs)
    int32_t *from, *to;    // owned  (n)
    double *act;           // owned  (n x nact)
    double *reward, *time; // owned  (n); time NULL where the log has none
    uint8_t *flag;         // owned  (n)
    int64_t *first;        // owned  (nepisode + 1)
    uint8_t *start;        // owned  (nepisode)
    int32_t *row;          // owned: the new row of a state, -1 before it has one
    int64_t n, nstate;
    int64_t nepisode, nreset; // so far
} cleaned;

static bool finite_state(const rh_log *log, int32_t row)
{
    return rh_base__all_finite(log->obs + (int64_t)row * log->nobs, log->nobs);
}

bool rh_model__has_next(const rh_log *log, int64_t i)
{
    return log->to[i] != RH_UNKNOWN && finite_state(log, log->to[i]);
}

bool rh_model__is_whole(const rh_log *log, int64_t i)
{
    return finite_state(log, log->from[i]) && isfinite(log->reward[i]) &&
           rh_base__all_finite(log->act + i * log->nact, log->nact) &&
           (rh_model__has_next(log, i) || log->flag[i] & RH_FLAG_TERMINAL);
}

bool rh_model__next_piece(const rh_log *log, rh_model__piece *piece)
{
    int64_t i = piece->end;
    while (i < log->n && !rh_model__is_whole(log, i))
        i++;
    if (i == log->n)
        return false;
    int32_t e = log->episode[i];
    piece->first = i;
    piece->start = log->start[e] && i == log->first[e];
    while (i < log->first[e + 1] && rh_model__is_whole(log, i))
        i++;
    piece->end = i;
    piece->ends = log->flag[i - 1] & RH_FLAG_TERMINAL;
    return true;
}

rh_status rh_model__survey(rh_model__usable *u, const rh_log *log, const double *more,
                           int64_t nmore, rh_error *err)
{
    rh_model__piece piece = {0};
    *u = (rh_model__usable){.log = log, .more = more, .nmore = nmore, .whole = nmore == 0};
    for (; rh_model__next_piece(log, &piece); u->nepisode++)
        u->n += piece.end - piece.first;
    u->whole = u->whole && u->n == log->n;
    for (int64_t i = 0; u->whole && i < log->n; i++) // an end may lead to an unusable s'
        u->whole = !(log->flag[i] & RH_FLAG_TERMINAL) || log->to[i] == RH_UNKNOWN ||
                   rh_model__has_next(log, i);
    if (u->n == 0)
        return rh_fail(err, RH_EINVAL,
                       "%s: every one of %lld transitions has a missing or infinite number",
                       rh_base__path_tail(log->path), (long long)log->n);
    if (log->nstate + nmore > INT32_MAX - 1)
        return rh_fail(err, RH_EINVAL,
                       "%s: %lld states and %lld starts, expected at most %d together",
                       rh_base__path_tail(log->path), (long long)log->nstate, (long long)nmore,
                       INT32_MAX - 1);
    return RH_OK;
}

rh_status rh_model__mark_resets(rh_model__usable *u, const int32_t *reset,
                                const double *arrival, int64_t n, rh_error *err)
{
    const rh_log *log = u->log;
    u->reset = reset;
    u->arrival = arrival;
    u->nreset = n;
    u->whole = u->whole && n == 0;
    for (int64_t i = 0; i < n; i++) // an episode more, if its piece goes on
        u->nepisode += reset[i] + 1 < log->first[log->episode[reset[i]] + 1] &&
                       rh_model__is_whole(log, reset[i] + 1);
    int64_t nstate = log->nstate + u->nmore;
    if (nstate + n > INT32_MAX - 1)
        return rh_fail(err, RH_EINVAL, "%s: %lld states and %lld resets, expected at most %d",
                       rh_base__path_tail(log->path), (long long)nstate, (long long)n,
                       INT32_MAX - 1);
    return RH_OK;
}

// ---------------------------------------------------------------------------- copying

static void clear(cleaned *c)
{
    void *const owned[] = {c->obs,  c->from, c->to,    c->act,   c->reward,
                           c->time, c->flag, c->first, c->start, c->row};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rh_free(owned[i]);
}

static bool make_room(cleaned *c, const rh_model__usable *u)
{
    const rh_log *log = u->log;
    size_t nstep = (size_t)u->n, npiece = (size_t)u->nepisode + 1;
    c->obs = rh_alloc((size_t)(log->nstate + u->nmore + u->nreset),
                      (size_t)log->nobs * sizeof *c->obs);
    c->from = rh_alloc(nstep, sizeof *c->from);
    c->to = rh_alloc(nstep, sizeof *c->to);
    c->act = rh_alloc(nstep, (size_t)log->nact * sizeof *c->act);
    c->reward = rh_alloc(nstep, sizeof *c->reward);
    c->time = log->time ? rh_alloc(nstep, sizeof *c->time) : NULL;
    c->flag = rh_alloc(nstep, sizeof *c->flag);
    c->first = rh_alloc(npiece, sizeof *c->first);
    c->start = rh_alloc(npiece, sizeof *c->start);
    c->row = rh_alloc((size_t)log->nstate, sizeof *c->row);
    if (!c->obs || !c->from || !c->to || !c->act || !c->reward || (log->time && !c->time) ||
        !c->flag || !c->first || !c->start || !c->row)
        return false;
    for (int64_t i = 0; i < log->nstate; i++)
        c->row[i] = -1;
    return true;
}

// The new row of a state.
static int32_t keep_state(cleaned *c, const rh_log *log, int32_t row)
{
    if (c->row[row] < 0) {
        c->row[row] = (int32_t)c->nstate++;
        memcpy(c->obs + (int64_t)c->row[row] * log->nobs, log->obs + (int64_t)row * log->nobs,
               (size_t)log->nobs * sizeof *c->obs);
    }
    return c->row[row];
}

// The new row of where a reset would have led.
static int32_t keep_arrival(cleaned *c, const rh_model__usable *u)
{
    size_t nobs = (size_t)u->log->nobs;
    memcpy(c->obs + (size_t)c->nstate * nobs, u->arrival + (size_t)c->nreset++ * nobs,
           nobs * sizeof *c->obs);
    return (int32_t)c->nstate++;
}

static void keep_step(cleaned *c, const rh_model__usable *u, int64_t i)
{
    const rh_log *log = u->log;
    int64_t n = c->n++;
    bool reset = c->nreset < u->nreset && u->reset[c->nreset] == i;
    c->from[n] = keep_state(c, log, log->from[i]);
    c->to[n] = reset                        ? keep_arrival(c, u)
               : rh_model__has_next(log, i) ? keep_state(c, log, log->to[i])
                                            : RH_UNKNOWN;
    memcpy(c->act + n * log->nact, log->act + i * log->nact,
           (size_t)log->nact * sizeof *c->act);
    c->reward[n] = log->reward[i];
    c->flag[n] = log->flag[i] | (reset ? RH_FLAG_TERMINAL : 0);
    if (log->time)
        c->time[n] = log->time[i];
}

// Begin an episode with the next step.
static void begin(cleaned *c, bool start)
{
    c->first[c->nepisode] = c->n;
    c->start[c->nepisode++] = start;
}

static void keep_piece(cleaned *c, const rh_model__usable *u, const rh_model__piece *piece)
{
    const rh_log *log = u->log;
    begin(c, piece->start);
    for (int64_t i = piece->first; i < piece->end; i++) {
        int64_t before = c->nreset;
        keep_step(c, u, i);
        if (c->nreset > before && i + 1 < piece->end)
            begin(c, true);
    }
    if (piece->end < log->first[log->episode[piece->first] + 1])
        c->flag[c->n - 1] |= RH_FLAG_TRUNCATED;
}

rh_status rh_model__clean(rh_log **out, const rh_model__usable *u, rh_error *err)
{
    const rh_log *log = u->log;
    cleaned c = {0};
    rh_model__piece piece = {0};
    rh_status rc = RH_OK;
    if (u->whole)
        return rh_log_copy(out, log, err);

    if (!make_room(&c, u)) {
        rc = rh_fail(err, RH_ENOMEM, "%s: out of memory for %lld transitions",
                     rh_base__path_tail(log->path), (long long)u->n);
        goto done;
    }
    while (rh_model__next_piece(log, &piece))
        keep_piece(&c, u, &piece);
    c.first[u->nepisode] = c.n;
    if (u->nmore)
        memcpy(c.obs + c.nstate * log->nobs, u->more,
               (size_t)(u->nmore * log->nobs) * sizeof *c.obs);

    // names, units, labels and reading notes are unchanged
    rh_log parts = *log;
    parts.n = c.n;
    parts.nstate = c.nstate + u->nmore;
    parts.nepisode = (int)u->nepisode;
    parts.obs = c.obs;
    parts.from = c.from;
    parts.to = c.to;
    parts.act = c.act;
    parts.reward = c.reward;
    parts.flag = c.flag;
    parts.time = c.time;
    parts.first = c.first;
    parts.line = NULL;
    parts.start = c.start;
    rc = rh_log_copy(out, &parts, err);

done:
    clear(&c);
    return rc;
}
