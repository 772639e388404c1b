// clean.c - what of a log a model is fitted to.
//
// 1. A transition is left out when a number of s, of s', of the action or the reward is
//    missing or infinite: it has no place among the codes, and a model that gave it back
//    would break the runs in it. States that no transition names any more go with it.
// 2. A terminal step is kept when only its s' is so: nobody acts there, and where episodes
//    end is worth more than where exactly. Its s' becomes unknown.
// 3. Where a transition is left out, its episode is cut in two. The first part was cut off,
//    and the second does not begin in a start state.

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
    int64_t n, nstate, nepisode;
} cleaned;

static bool finite_state(const rh_log *log, int32_t row)
{
    return rh_all_finite(log->obs + (int64_t)row * log->nobs, log->nobs);
}

// Whether s' is known and can be used.
static bool lands(const rh_log *log, int64_t i)
{
    return log->to[i] != RH_UNKNOWN && finite_state(log, log->to[i]);
}

static bool is_whole(const rh_log *log, int64_t i)
{
    return finite_state(log, log->from[i]) && isfinite(log->reward[i]) &&
           rh_all_finite(log->act + i * log->nact, log->nact) &&
           (lands(log, i) || log->flag[i] & RH_FLAG_TERMINAL);
}

// ---------------------------------------------------------------------------- filling

static void clear(cleaned *c)
{
    void *const owned[] = {c->obs,  c->from, c->to,    c->act,   c->reward,
                           c->time, c->flag, c->first, c->start, c->row};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rh_free(owned[i]);
}

// Room for n transitions and all states; pieces of episodes are at most as many as both
// episodes and transitions left out.
static bool make_room(cleaned *c, const rh_log *log, int64_t n, int64_t nmore)
{
    size_t nstep = (size_t)n, npiece = (size_t)(log->nepisode + (log->n - n)) + 1;
    npiece = npiece < nstep + 1 ? npiece : nstep + 1;
    c->obs = rh_alloc((size_t)(log->nstate + nmore), (size_t)log->nobs * sizeof *c->obs);
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

static void keep_step(cleaned *c, const rh_log *log, int64_t i)
{
    int64_t n = c->n++;
    c->from[n] = keep_state(c, log, log->from[i]);
    c->to[n] = lands(log, i) ? keep_state(c, log, log->to[i]) : RH_UNKNOWN;
    memcpy(c->act + n * log->nact, log->act + i * log->nact,
           (size_t)log->nact * sizeof *c->act);
    c->reward[n] = log->reward[i];
    c->flag[n] = log->flag[i];
    if (log->time)
        c->time[n] = log->time[i];
}

static void keep_episode(cleaned *c, const rh_log *log, int e)
{
    bool open = false;
    for (int64_t i = log->first[e]; i < log->first[e + 1]; i++) {
        if (is_whole(log, i)) {
            if (!open) {
                c->first[c->nepisode] = c->n;
                c->start[c->nepisode++] = log->start[e] && i == log->first[e];
            }
            keep_step(c, log, i);
            open = true;
        } else {
            if (open)
                c->flag[c->n - 1] |= RH_FLAG_TRUNCATED;
            open = false;
        }
    }
}

// ---------------------------------------------------------------------------- the log

rh_status rh_model__clean(rh_log **out, int64_t *ndropped, const rh_log *log,
                          const double *more, int64_t nmore, rh_error *err)
{
    cleaned c = {0};
    rh_status rc = RH_OK;
    int64_t n = 0, nblind = 0;
    for (int64_t i = 0; i < log->n; i++) {
        n += is_whole(log, i);
        nblind += log->to[i] != RH_UNKNOWN && !lands(log, i);
    }
    *ndropped = log->n - n;
    if (n == 0)
        return rh_fail(err, RH_EINVAL,
                       "%s: every one of %lld transitions has a missing or infinite number",
                       rh_path_tail(log->path), (long long)log->n);
    if (log->nstate + nmore > INT32_MAX - 1)
        return rh_fail(
            err, RH_EINVAL, "%s: %lld states and %lld starts, expected at most %d together",
            rh_path_tail(log->path), (long long)log->nstate, (long long)nmore, INT32_MAX - 1);
    if (n == log->n && nblind == 0 && nmore == 0)
        return rh_log_copy(out, log, err);

    if (!make_room(&c, log, n, nmore)) {
        rc = rh_fail(err, RH_ENOMEM, "%s: out of memory for %lld transitions",
                     rh_path_tail(log->path), (long long)n);
        goto done;
    }
    for (int e = 0; e < log->nepisode; e++)
        keep_episode(&c, log, e);
    c.first[c.nepisode] = c.n;
    if (nmore)
        memcpy(c.obs + c.nstate * log->nobs, more, (size_t)(nmore * log->nobs) * sizeof *c.obs);

    // names, units, labels and how it was read stay
    rh_log parts = *log;
    parts.n = c.n;
    parts.nstate = c.nstate + nmore;
    parts.nepisode = (int)c.nepisode;
    parts.obs = c.obs;
    parts.from = c.from;
    parts.to = c.to;
    parts.act = c.act;
    parts.reward = c.reward;
    parts.flag = c.flag;
    parts.time = c.time;
    parts.first = c.first;
    parts.start = c.start;
    rc = rh_log_copy(out, &parts, err);

done:
    clear(&c);
    return rc;
}
