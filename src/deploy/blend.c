// blend.c - lets the agent in slowly: an action between its own and the fallback's.
//
// In a step a continuous action moves by at most `step` of its range, but is in any case at
// most `away` of it from the fallback's, which may move as it likes. A discrete one differs
// from the fallback's in at most that share of the steps, one at a time as long as this is
// below a half: an agent that agreed for long has not saved up steps. After c steps that count
// `away` is
//
//     b + (1 - b) c / full,  b = away * SHRINK^k
//
// 1. A step counts if nothing speaks against the agent: deficits are below half of their alarm,
//    and no test has evidence above 1.
// 2. A violation is a failure, the event of a limit, or a sensor past a trip limit of the
//    guard. After each the size begins anew (c = 0, k is one more), unless so many are
//    credible: of violations that happen at the logged controller's rate (of a limit: at its
//    own; of a trip: never) so many or more come since the last time with a probability of
//    CREDIBLE or more. They are taken as rare and independent (Poisson). An alarm needs much
//    more evidence; this is no test, and it costs little to be wrong.
// 3. It begins anew after an alarm, too.
// 4. Where the fallback does not know its action there is nothing to blend with: the safe
//    action is taken, or the last one again; of a controller that does not say, none, for it
//    acts.

#include "base/base.h"
#include "deploy_internal.h"

#include <math.h>

#define SHRINK 0.5   // decision 2; of 1, 0.5 and 0.25: docs/evidence/first-hour.md
#define CREDIBLE 0.2 // decision 2; by hand, 0.5 did no better (docs/evidence/first-hour.md)
#define TINY 1e-9    // sums of shares

double rh_blend__allowed(const rh_deploy *d)
{
    const rh_guard *g = &d->guard;
    double begins = g->blend_away * pow(SHRINK, d->turn.nshrunk);
    return fmin(begins + (1.0 - begins) * d->turn.calm / g->blend_full, 1.0);
}

// ---------------------------------------------------------------------------- violations

void rh_blend__begin(rh_deploy *d)
{
    const rh_deploy_health *h = &d->health;
    rh_turn *s = &d->turn;
    s->failures[0] = (double)h->nfailure;
    s->failures[1] = (double)h->of;
    for (int i = 0; i < h->nlimit; i++) {
        s->limits[i][0] = (double)h->limit[i].n;
        s->limits[i][1] = (double)h->limit[i].of;
    }
    s->calm = 0.0;
}

// Whether n violations or more of so many trials are credible at this rate of a trial.
static bool credible(double n, double trials, double rate)
{
    double mean = rate * trials, term = exp(-mean), below = 0.0;
    if (!(n > 0.0))
        return true;
    for (int i = 0; i < (int)n; i++) {
        below += term;
        term *= mean / (i + 1);
    }
    return 1.0 - below >= CREDIBLE;
}

// Decision 2.
static bool violated(rh_deploy *d)
{
    const rh_deploy_health *h = &d->health;
    rh_turn *s = &d->turn;
    bool trips = (d->reply.notes & RH_NOTE_TRIPPED) != 0;
    bool is = trips && s->tripped == 0.0;
    double logged = isnan(h->failures_logged) ? 0.0 : h->failures_logged;
    s->tripped = trips;
    logged /= h->per_1000 ? 1000.0 : 1.0;
    is = is || !credible((double)h->nfailure - s->failures[0], (double)h->of - s->failures[1],
                         logged);
    for (int i = 0; i < h->nlimit; i++)
        is = is || !credible((double)h->limit[i].n - s->limits[i][0],
                             (double)h->limit[i].of - s->limits[i][1], h->limit[i].most);
    return is;
}

void rh_blend__judge(rh_deploy *d, bool alarmed)
{
    if (isnan(d->guard.blend_away) || rh_turn__watches(d))
        return;
    if (violated(d)) {
        rh_blend__begin(d);
        d->turn.nshrunk++;
    }
    d->turn.calm = alarmed || d->turn.fallen != 0.0 ? 0.0 : d->turn.calm;
}

// ---------------------------------------------------------------------------- acting

// Decision 1.
static bool speaks_against(const rh_deploy *d)
{
    const rh_deploy_health *h = &d->health;
    int promise = rh_monitor__index(RH_ALARM_PROMISE);
    bool against = h->deficit > 0.5 * h->level;
    for (int i = 0; i < RH_NALARM; i++)
        against = against || (i != promise && h->evidence[i] > 1.0);
    return against;
}

void rh_blend__act(rh_deploy *d, rh_deploy_reply *reply)
{
    const rh_task *task = &d->best->task;
    rh_deploy_reply other = {0};
    rh_turn *s = &d->turn;
    bool moved = false;
    rh_turn__fallback(d, &other);
    if (other.source != RH_BY_FALLBACK) { // decision 4
        other.notes |= reply->notes | RH_NOTE_NO_FALLBACK;
        other.learned = reply->learned;
        *reply = other;
        return;
    }
    double away = rh_blend__allowed(d);
    s->nstep++;
    if (task->naction) {
        bool differs = reply->act[0] != other.act[0];
        s->credit = fmin(s->credit + away, 1.0);
        moved = differs && s->credit < 1.0 - TINY;
        s->credit -= differs && !moved;
        reply->act[0] = moved ? other.act[0] : reply->act[0];
    }
    for (int k = 0; !task->naction && k < task->nact; k++) {
        double range = task->act_hi[k] - task->act_lo[k], was = reply->act[k], x = was;
        bool first = d->reply.source == RH_BY_NOBODY;
        if (!first && !isnan(d->guard.blend_step))
            x = fmin(fmax(x, d->reply.act[k] - d->guard.blend_step * range),
                     d->reply.act[k] + d->guard.blend_step * range);
        x = fmin(fmax(x, other.act[k] - away * range), other.act[k] + away * range);
        reply->act[k] = x;
        moved = moved || x != was;
    }
    reply->source = moved ? RH_BY_BLEND : reply->source;
    s->calm += !speaks_against(d);
}
