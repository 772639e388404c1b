// points.c - the inputs that codes are computed from, in the order of the log.
//
// For codes of states the points of an episode are its states, s_0 to the last known s'; for
// codes of states and actions they are (s_t, a_t). A point is followed by the next one within
// an episode if the s' of a step is the s of the next.
//
// 1. A state with a missing number is no point and ends the chain, because the next point is
//    more than one step away.
// 2. Points are counted before they are stored: they cost float inputs and eight bytes each.

#include "repr_internal.h"

#include <string.h>

// Add the input of transition t to the points, its s' if `next`; `after`: it follows the last
// one. False if a number is missing. Without arrays it is only counted.
static bool add(rh_points *p, const rh_repr *repr, const rh_log *log, int64_t t, bool next,
                bool after)
{
    size_t nin = (size_t)rh_repr__ninput(repr);
    float x[RH_MAX_INPUT];
    const double *obs = log->obs + (int64_t)(next ? log->to[t] : log->from[t]) * log->nobs;
    if (!rh_repr__input(repr, obs, log->act + t * log->nact, x))
        return false;
    if (p->x)
        memcpy(p->x + p->n * nin, x, nin * sizeof *x);
    if (after) {
        p->nanchor++;
        if (p->ahead)
            p->ahead[p->n - 1] = 1;
    }
    p->n++;
    return true;
}

static void add_episode(rh_points *p, const rh_repr *repr, const rh_log *log, int e)
{
    bool open = false; // the last point is where the next step begins
    for (int64_t t = log->first[e]; t < log->first[e + 1]; t++) {
        bool follows = t > log->first[e] && log->to[t - 1] == log->from[t];
        p->nstep++;
        p->nfollow += follows;
        if (repr->nact) {
            open = add(p, repr, log, t, false, open && follows);
            continue;
        }
        if (!(open && follows))
            open = add(p, repr, log, t, false, false);
        if (open)
            open = log->to[t] != RH_UNKNOWN && add(p, repr, log, t, true, true);
    }
}

static void add_all(rh_points *p, const rh_repr *repr, const rh_log *log, const uint8_t *use)
{
    p->n = p->nanchor = 0;
    p->nstep = p->nfollow = 0;
    for (int e = 0; e < log->nepisode; e++)
        if (!use || use[e])
            add_episode(p, repr, log, e);
}

rh_status rh_points__gather(rh_points *out, const rh_repr *repr, const rh_log *log,
                            const uint8_t *use, rh_error *err)
{
    // each step adds at most two points, so 32 bits are enough
    rh_points p = {0};
    add_all(&p, repr, log, use);
    size_t nin = (size_t)rh_repr__ninput(repr);
    p.ahead = rh_alloc(p.n ? p.n : 1, sizeof *p.ahead);
    p.anchor = rh_alloc(p.nanchor ? p.nanchor : 1, sizeof *p.anchor);
    p.x = rh_alloc(p.n ? p.n : 1, nin * sizeof *p.x);
    if (!p.ahead || !p.anchor || !p.x) {
        uint32_t n = p.n;
        rh_points__clear(&p);
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for %u points of the log",
                       repr->type->name, n);
    }
    add_all(&p, repr, log, use);

    for (uint32_t i = p.n; i-- > 0;)
        if (p.ahead[i])
            p.ahead[i] = p.ahead[i + 1] + 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p.n; i++)
        if (p.ahead[i])
            p.anchor[n++] = i;
    *out = p;
    return RH_OK;
}

void rh_points__clear(rh_points *points)
{
    rh_free(points->x);
    rh_free(points->ahead);
    rh_free(points->anchor);
    *points = (rh_points){0};
}

bool rh_points__ordered(const rh_points *points)
{
    return points->nanchor > 0 && points->nfollow >= points->nstep / 20 + 1;
}
