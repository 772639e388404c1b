// monitor_failures.c - compares how often a deployed agent fails with what the study promised.
//
// Each completed episode is a trial that fails or not (in a continuing task, or where best.yaml
// counts by steps, each step is). The hypothesis: every trial fails with a probability of at
// most p, the promised upper end at that time, whatever happened before. A bet that the odds
// are theta times those of p multiplies its stake by
//
//     theta^x / (1 + (theta - 1) p),  x = 1: a failure
//
// whose expectation is at most 1 if the hypothesis holds. So the worth of bets whose stakes sum
// up to 1 exceeds 1 / alpha with a probability of at most alpha, at any time (Ville, 1939): the
// alarm may be looked at after every trial, for ever. After Shafer, Testing by Betting (2021),
// and Shin, Ramdas and Rinaldo, E-detectors (2023).
//
// 1. The stake is shared equally by several theta, because how much too often is not known.
// 2. It is spent over time, because a plant may change after years: of trials 2^k to 2^(k+1) -
// 1
//    each begins a bet, with 1 / ((k + 1) (k + 2) 2^k) of the stake. Half goes to the first.
// 3. p is the upper end of all of a run; in its first tenth that of the first tenth, and later
//    that of the last one, if these are higher.
// 4. Episodes in which somebody else acted are counted and not bet on: nothing was promised of
//    them. The guard is part of what is deployed.
// 5. The alarm ends when the bets are worth less than 1 again. Their worth is capped, so that a
//    plant that recovers can show it; this makes false alarms rarer.

#include "deploy_internal.h"

#include <math.h>

#define LEVEL 20.0        // 1 / alpha: 5 % of honest deployments ever raise the alarm
#define MOST (10 * LEVEL) // worth of a bet, decision 5; by hand
#define LEAST 1e-6 // promised rate; a promise of 0 would be broken by one failure; by hand

static const double theta[RH_MONITOR__NBET] = {1.5, 2.0, 4.0, 8.0, 32.0, 128.0}; // by hand

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
    if (isnan(health->failures_upper))
        health->evidence = NAN;
    else if (isnan(health->evidence))
        health->evidence = 0.0;
}

// Decision 3; NAN: nothing was promised.
static double upper_end(const rh_monitor *m, const rh_deploy_health *health,
                        const rh_best *best)
{
    const rh_promise *p = &best->promise;
    int64_t run = p->nstep ? p->nstep : best->task.nstep;
    bool first = m->trained == 0.0 && health->nstep <= run / 10;
    double hi = fmax(p->fail.hi95, first ? p->fail_first.hi95 : p->fail_last.hi95);
    hi /= health->per_1000 ? 1000.0 : 1.0;
    return isnan(p->fail.hi95) ? NAN : fmin(fmax(hi, LEAST), 1.0);
}

// Decision 2: the share of the stake that begins at a trial, 1, 2, ...
static double stake_of(double trial)
{
    double first = 1.0, k = 0.0;
    while (2.0 * first <= trial) {
        first *= 2.0;
        k++;
    }
    return 1.0 / ((k + 1.0) * (k + 2.0) * first);
}

static void bet(rh_monitor *m, rh_deploy_health *health, double p, bool fails)
{
    double stake = stake_of(++m->ntrial), worth = 0.0;
    for (int i = 0; i < RH_MONITOR__NBET; i++) {
        double gain = (fails ? theta[i] : 1.0) / (1.0 + (theta[i] - 1.0) * p);
        m->bet[i] = fmin((m->bet[i] + stake) * gain, MOST);
        worth += m->bet[i] / RH_MONITOR__NBET;
    }
    health->evidence = worth;
    if (worth >= LEVEL)
        rh_monitor__raise(health, RH_ALARM_FAILURES, true);
    else if (worth < 1.0)
        rh_monitor__raise(health, RH_ALARM_FAILURES, false);
}

static void count(rh_monitor *m, rh_deploy_health *health, const rh_best *best, bool fails)
{
    double p = upper_end(m, health, best);
    health->nfailure += fails;
    health->of++;
    health->failures =
        (health->per_1000 ? 1000.0 : 1.0) * (double)health->nfailure / (double)health->of;
    if (m->foreign == 0.0 && !isnan(p)) // decision 4
        bet(m, health, p, fails);
}

void rh_monitor__begin(rh_monitor *m)
{
    m->failed = m->foreign = 0.0;
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
