// monitor_limits.c - the limits that the setting was chosen to keep (tune --at-most), on the
// plant.
//
// The hypothesis of each: its event happens with at most the limit's probability, whatever
// happened before (bets.c).
//
// 1. Only what the agent does counts: no steps in which somebody else acted, and no episodes
//    with such steps. Guard and blend are part of what is deployed.
// 2. A trial is an episode, or a step, as the limit says. What a formula says may hold for
//    several steps, which are not independent: there the trials are shares of blocks, as in
//    monitor_plant.c, but of LEAST steps or more: 4 steps are too few for spells of 5.
// 3. A failure counts once in an episode, or until it is over in a continuing task.
// 4. All limits together are one alarm: each has the same part of the stake. A limit of 0 is
//    broken by the first event.
// 5. A formula without a value is no trial of steps, and has not happened in an episode.
// 6. A deployment that resumes with another best.yaml: evidence is of the same event, unit and
//    limit, else it begins anew.

#include "deploy_internal.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

#define LEAST 20.0 // decision 2; by hand

rh_status rh_monitor__open_limits(rh_deploy *d, rh_error *err)
{
    const rh_best *best = d->best;
    rh_deploy_health *h = &d->health;
    rh_status rc = RH_OK;
    int nkept = h->nlimit;
    h->nlimit = best->nlimit;
    for (int i = 0; i < best->nlimit && !rc; i++) {
        const rh_constraint *from = &best->limit[i].limit;
        rh_monitor__limit *m = &d->monitor.limit[i];
        rh_deploy_limit *to = &h->limit[i];
        bool same = i < nkept && to->unit == from->unit && to->most == from->most &&
                    strncmp(to->event, from->event, sizeof to->event - 1) == 0;
        if (!same) { // decision 6
            *m = (rh_monitor__limit){0};
            d->turn.limits[i][0] = d->turn.limits[i][1] = 0.0;
        }
        snprintf(to->event, sizeof to->event, "%s", from->event);
        to->unit = from->unit;
        to->most = from->most;
        to->n = (int64_t)m->n;
        to->of = (int64_t)m->of;
        if (best->limit[i].formula)
            rc = rh_limits__compile(&d->event[i], best, i, err);
    }
    double *evidence = &h->evidence[rh_monitor__index(RH_ALARM_LIMIT)];
    *evidence = !h->nlimit ? NAN : isnan(*evidence) ? 0.0 : *evidence;
    if (!h->nlimit)
        rh_monitor__end(h, RH_ALARM_LIMIT);
    return rc;
}

// What a formula sees of a discrete action: the number that is its name; its place where names
// are words.
static double number_of(const rh_deploy *d, double act)
{
    bool numbers = true;
    for (int i = 0; i < d->best->task.naction; i++)
        numbers = numbers && !isnan(d->label[i]);
    return numbers ? d->label[(int)act] : act;
}

// Whether the event of limit i happens, 1 or 0; NAN: unknown.
static double event_of(const rh_deploy *d, int i, const rh_monitor__step *step,
                       const double *act)
{
    const rh_best *best = d->best;
    const rh_failure *rule = best->failure;
    double x[RH_MAX_OBS + RH_MAX_ACT + 1];
    int nobs = best->task.nobs, nact = best->task.nact;
    switch (best->limit[i].limit.counted) {
    case RH_COUNT_ENDS:
        return step->terminal;
    case RH_COUNT_FAILURES:
        if (!rule || !rule->known ||
            (!rule->formula && isnan(step->reward) && (!rule->ends || step->terminal)))
            return NAN;
        return rh_failure_step(rule, step->obs, step->reward, step->terminal);
    case RH_COUNT_STEPS:
    case RH_COUNT_EPISODES:
        break;
    }
    memcpy(x, step->obs, (size_t)nobs * sizeof *x);
    for (int k = 0; k < nact; k++)
        x[nobs + k] = !act ? NAN : best->task.naction ? number_of(d, act[k]) : act[k];
    x[nobs + nact] = step->reward;
    double y = rh_expression__value(&d->event[i], x);
    return isnan(y) ? NAN : y != 0.0;
}

static void count(rh_deploy *d, int i, bool happens)
{
    const rh_constraint *limit = &d->best->limit[i].limit;
    rh_monitor__limit *m = &d->monitor.limit[i];
    double length = 1.0;
    if (limit->counted == RH_COUNT_STEPS) // decision 2
        length = fmax(rh_monitor__block_length(d->best), LEAST);
    if (limit->most <= 0.0 && happens) // decision 4
        m->worth = RH_BETS__LEVEL * RH_MAX_LIMITS;
    d->health.limit[i].n = (int64_t)(m->n += happens);
    d->health.limit[i].of = (int64_t)++m->of;
    m->own.sum += happens;
    if (++m->own.n < length)
        return;
    if (limit->most > 0.0)
        m->worth = rh_bets__add(&m->own.bets, limit->most, m->own.sum / m->own.n);
    m->own.sum = m->own.n = 0.0;
}

void rh_monitor__limits(rh_deploy *d, const rh_monitor__step *step, const double *act)
{
    bool continuing = d->best->task.continuing;
    double worth = 0.0;
    for (int i = 0; i < d->best->nlimit; i++) {
        const rh_constraint *limit = &d->best->limit[i].limit;
        rh_monitor__limit *m = &d->monitor.limit[i];
        bool failure = limit->counted == RH_COUNT_FAILURES;
        double y = event_of(d, i, step, act);
        bool happens = y == 1.0 && !(failure && m->happened != 0.0);
        m->foreign = step->foreign || (m->foreign != 0.0 && !continuing);
        m->happened = y == 1.0 || (m->happened != 0.0 && !(continuing && failure));
        if (limit->unit != RH_PERCENT_OF_EPISODES && !step->foreign && !isnan(y))
            count(d, i, happens);
        else if (limit->unit == RH_PERCENT_OF_EPISODES && step->ended && m->foreign == 0.0)
            count(d, i, m->happened != 0.0);
        if (step->ended)
            m->happened = m->foreign = 0.0;
        worth += m->worth / d->best->nlimit;
    }
    if (d->best->nlimit)
        rh_monitor__weigh(&d->health, RH_ALARM_LIMIT, worth);
}
