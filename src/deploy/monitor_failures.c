// monitor_failures.c - compares how often a deployed agent fails with what the study promised.
//
// Each completed episode is a trial that fails or not (in a continuing task, or where best.yaml
// counts by steps, each step is). The hypothesis: every trial fails with a probability of at
// most p, the promised upper end at that time, whatever happened before (bets.c).
//
// 1. p is the upper end of all of a run; in its first tenth that of the first tenth, and later
//    that of the last one, if these are higher.
// 2. Episodes in which somebody else acted are counted and not bet on: nothing was promised of
//    them. The guard is part of what is deployed.

#include "deploy_internal.h"

#include <math.h>

void rh_monitor__promise_failures(rh_deploy_health *health, const rh_best *best)
{
    const rh_promise *p = &best->promise;
    bool known = best->failure && best->failure->known;
    health->per_1000 = p->fail_per_steps || best->task.continuing;
    health->failures_promised = known ? p->fail.rate : NAN;
    health->failures_upper = known ? p->fail.hi95 : NAN;
    health->failures_logged = known ? p->fail_logged.rate : NAN;
    if (!known || health->of == 0)
        health->failures = NAN;
    double *evidence = &health->evidence[rh_monitor__index(RH_ALARM_FAILURES)];
    *evidence = isnan(health->failures_upper) ? NAN : isnan(*evidence) ? 0.0 : *evidence;
}

// Decision 1; NAN: nothing was promised.
static double upper_end(const rh_monitor *m, const rh_deploy_health *health,
                        const rh_best *best)
{
    const rh_promise *p = &best->promise;
    int64_t run = p->nstep ? p->nstep : best->task.nstep;
    bool first = m->trained == 0.0 && health->nstep <= run / 10;
    double hi = fmax(p->fail.hi95, first ? p->fail_first.hi95 : p->fail_last.hi95);
    hi /= health->per_1000 ? 1000.0 : 1.0;
    return isnan(p->fail.hi95) ? NAN : fmin(hi, 1.0);
}

static void count(rh_monitor *m, rh_deploy_health *health, const rh_best *best, bool fails)
{
    double p = upper_end(m, health, best);
    health->nfailure += fails;
    health->of++;
    health->failures =
        (health->per_1000 ? 1000.0 : 1.0) * (double)health->nfailure / (double)health->of;
    if (m->foreign == 0.0 && !isnan(p)) // decision 2
        rh_monitor__weigh(health, RH_ALARM_FAILURES, rh_bets__add(&m->failures, p, fails));
}

void rh_monitor__begin(rh_monitor *m)
{
    m->failed = m->foreign = 0.0;
    for (int i = 0; i < RH_MAX_LIMITS; i++)
        m->limit[i].happened = m->limit[i].foreign = 0.0;
}

void rh_monitor__failure(rh_monitor *m, rh_deploy_health *health, const rh_best *best,
                         const rh_monitor__step *step)
{
    const rh_failure *rule = best->failure;
    bool continuing = best->task.continuing;
    if (!rule || !rule->known)
        return;
    bool fails = rh_failure_step(rule, step->obs, step->reward, step->terminal);
    bool judged = rule->formula || !isnan(step->reward) || (rule->ends && !step->terminal);
    m->foreign = step->foreign || (m->foreign != 0.0 && !continuing);
    if (continuing && judged)
        count(m, health, best, fails && m->failed == 0.0);
    m->failed = fails || (m->failed != 0.0 && !continuing);
    bool trial = health->per_1000 || step->ended;
    if (!continuing && trial && judged)
        count(m, health, best, step->ended && m->failed != 0.0);
    health->nother += step->terminal && m->failed == 0.0;
    if (step->ended)
        rh_monitor__begin(m);
}
