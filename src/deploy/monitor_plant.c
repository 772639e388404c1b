// monitor_plant.c - the plant and the agent beside their own past, the log's range, the guard.
//
// Each alarm is a test that may be looked at after every step, for ever, and is false in at
// most 5 % of deployments (bets.c, rising.c; docs/evidence/alarms.md has simulations).
//
// 1. Worse than before: rewards of steps in a continuing task, else returns of episodes, of the
//    agent's own actions, are compared with its own past (rising.c). An agent that gets better
//    raises nothing.
// 2. The plant has changed: errors of one-step predictions (forecast.c) likewise. Also of
//    steps in which somebody else acted: the plant is the same.
// 3. Both begin after a fifth of a run, a twentieth if the agent was trained before: until then
//    agent and predictor learn. Three tenths of a run are compared with first; FEW episodes.
// 4. Sensors: on average at most ALLOWED of the observations lie outside of what the log has
//    seen, widened by a tenth on each side.
// 5. The guard acts in at most its share of the steps.
// 6. Excursions and trips last for several steps, which are not independent. So the trials of 4
//    and 5 are shares of blocks, BLOCKS of them in a run.
// 7. Errors of all outputs together and actions that do less have the share MAIN of the stake
//    each, lower rewards LOWER; more effect and the other outputs, upwards and downwards, have
//    the rest in equal shares. Their worths are added.

#include "deploy_internal.h"

#include <math.h>

#define MAIN 0.2         // decision 7; by hand
#define LOWER 0.3        // decision 7; by hand
#define MARGIN 0.1       // decision 4; by hand
#define ALLOWED 0.05     // decision 4; by hand
#define FADE 0.01        // of the moving share that is shown: about 100 observations
#define SLOW 0.001       // of that of the guard: about 1,000 steps
#define LEARNING 0.2     // decision 3; by hand
#define TRAINED 0.05     // decision 3; by hand
#define PAST 0.3         // decision 3; by hand
#define FEW 16           // episodes to compare with at first, decision 3; by hand
#define BLOCKS 250.0     // decision 6; by hand
#define MOST_BLOCK 100.0 // steps, decision 6; by hand

double rh_monitor__run(const rh_best *best)
{
    int64_t run = best->promise.nstep ? best->promise.nstep : best->task.nstep;
    return run > 0 ? (double)run : 1.0;
}

// Decision 3.
static bool compares(const rh_monitor *m, const rh_deploy_health *health, const rh_best *best)
{
    double from = m->trained != 0.0 ? TRAINED : LEARNING;
    return (double)health->nstep >= from * rh_monitor__run(best);
}

void rh_monitor__past(rh_monitor *m, rh_deploy_health *health, const rh_best *best, double x)
{
    bool steps = best->task.continuing;
    double length = steps ? PAST * rh_monitor__run(best) / RH_RISING__HALF : 1.0, worth;
    if (!compares(m, health, best))
        return;
    if (m->worse.length < 1.0)
        rh_rising__init(&m->worse, length, length > 1.0 ? RH_RISING__HALF : FEW);
    if (rh_rising__add(&m->worse, -x, health->alarms & RH_ALARM_WORSE, &worth))
        rh_monitor__weigh(health, RH_ALARM_WORSE, worth);
}

// Decision 7: of series i of n.
static double stake_of(int i, int n)
{
    double rest = (1.0 - 2.0 * MAIN - LOWER) / (n - 3);
    return i < 2 ? MAIN : i == n - 1 ? LOWER : rest;
}

void rh_monitor__forecast(rh_monitor *m, rh_deploy_health *health, const rh_best *best,
                          rh_forecast *f, const double *obs, const double *act, double reward,
                          const double *next)
{
    double error[RH_FORECAST__MOST], worth = 0.0, one;
    int n = rh_forecast__nseries(f);
    bool tested = false;
    if (!rh_forecast__step(f, obs, act, reward, next, error) || !compares(m, health, best))
        return;
    rh_rising *series = rh_forecast__series(f);
    for (int i = 0; i < n; i++) {
        rh_rising *r = &series[i];
        if (r->length < 1.0)
            rh_rising__init(r, PAST * rh_monitor__run(best) / RH_RISING__HALF, RH_RISING__HALF);
        if (!isnan(error[i]) &&
            rh_rising__add(r, error[i], health->alarms & RH_ALARM_CHANGED, &one))
            tested = true;
        worth += stake_of(i, n) * rh_rising__worth(r);
    }
    if (tested)
        rh_monitor__weigh(health, RH_ALARM_CHANGED, worth);
}

double rh_monitor__block_length(const rh_best *best)
{
    return fmin(fmax(floor(rh_monitor__run(best) / BLOCKS), 1.0), MOST_BLOCK);
}

// Decision 6: p is the allowed share.
static void count(rh_monitor__block *b, rh_deploy_health *health, const rh_best *best,
                  rh_deploy_alarm alarm, double p, bool x)
{
    b->sum += x;
    if (++b->n < rh_monitor__block_length(best))
        return;
    rh_monitor__weigh(health, alarm, rh_bets__add(&b->bets, p, b->sum / b->n));
    b->sum = b->n = 0.0;
}

bool rh_monitor__obs(rh_monitor *m, rh_deploy_health *health, const rh_best *best,
                     const double *obs)
{
    int sensor = -1;
    for (int i = 0; i < best->nnow && sensor < 0; i++) {
        double lo = best->seen_lo[i], hi = best->seen_hi[i], margin = MARGIN * (hi - lo);
        if (obs[i] < lo - margin || obs[i] > hi + margin)
            sensor = i;
    }
    m->outside += FADE * ((sensor >= 0 ? 1.0 : 0.0) - m->outside);
    if (sensor >= 0)
        health->outside_sensor = sensor;
    health->outside = m->outside;
    count(&m->range, health, best, RH_ALARM_RANGE, ALLOWED, sensor >= 0);
    return sensor >= 0;
}

void rh_monitor__guard(rh_monitor *m, rh_deploy_health *health, const rh_best *best, bool acts)
{
    health->nguarded += acts;
    m->guarded += SLOW * ((acts ? 1.0 : 0.0) - m->guarded);
    health->guarded = m->guarded;
    if (!isnan(health->guard_share))
        count(&m->guard, health, best, RH_ALARM_GUARD, health->guard_share, acts);
}
