// monitor.c - compares what a deployed agent earns with what the study promised.
//
// The promise is a learning curve over a run of nstep steps, with its spread over runs in the
// models (study/curves.c explains the test and its rate of false alarms). The deployment is cut
// into the same segments.
//
// 1. The promise is broken if it earns less than the lower end of the promised interval: the
//    curve is lowered by score - lo95. So a plant that keeps the lower end gives false alarms
//    at most at the stated rate.
// 2. After the first run length, or if the agent was trained before, the mean of the last
//    quarter of the curve is promised. The rate holds for every run length; summed deficits
//    begin at 0 in each, unless there is an alarm.
// 3. The alarm ends when the deficits are back at 0. They grow to at most twice the level, so
//    that a plant that recovers can show it.
// 4. Only steps with the agent's own action count: nothing was promised of an operator.
// 5. A segment in which no episode ended has the return of the current one so far, if that is
//    already below the promise: an agent that no longer reaches the goal ends no episode.
// 6. Sensors: an alarm if more than 5 % of about the last 100 observations lie outside of what
//    the log has seen, widened by a tenth on each side; it ends below 1 %.
// 7. The guard: an alarm if it acts in more than its share of about the last 1,000 steps; it
//    ends below half of that.

#include "deploy_internal.h"

#include <math.h>

#define MARGIN 0.1 // decision 6; by hand
#define FADE 0.01  // of the moving share: about 100 observations
#define RAISE 0.05 // decision 6; by hand
#define END 0.01   // decision 6; by hand
#define SLOW 0.001 // of the moving share of the guard: about 1,000 steps

void rh_monitor__raise(rh_deploy_health *health, rh_deploy_alarm alarm, bool on)
{
    if (on && !(health->alarms & (unsigned)alarm))
        health->alarm_step = health->nstep;
    health->alarms = on ? health->alarms | (unsigned)alarm : health->alarms & ~(unsigned)alarm;
}

// What is promised of point p of the curve.
static void expected(const rh_monitor *m, const rh_best *best, int p, double *mean,
                     double *spread)
{
    const rh_promise *promise = &best->promise;
    int from = promise->ncurve - (promise->ncurve + 3) / 4, n = 0;
    double segment = (double)promise->nstep / promise->ncurve;
    *mean = promise->mean[p];
    *spread = promise->spread[p];
    if (m->trained != 0.0 || m->round > 0.0) { // decision 2
        double sum = 0.0, square = 0.0;
        for (int i = from; i < promise->ncurve; i++)
            if (!isnan(promise->mean[i]) && !isnan(promise->spread[i])) {
                sum += promise->mean[i];
                square += promise->spread[i] * promise->spread[i];
                n++;
            }
        *mean = n ? sum / n : NAN;
        *spread = n ? sqrt(square / n) : NAN;
    }
    double below = promise->score - promise->lo95; // decision 1
    if (isfinite(below) && below > 0.0)
        *mean -= promise->per_steps ? below * segment / (double)promise->per_steps : below;
}

// The value of the segment that has ended; NAN: none.
static double value_of(const rh_monitor *m, const rh_best *best, double mean)
{
    if (best->task.continuing)
        return m->sum;
    if (m->nended > 0.0)
        return m->sum / m->nended;
    return m->back < mean ? m->back : NAN; // decision 5
}

static void end_segment(rh_monitor *m, rh_deploy_health *health, const rh_best *best)
{
    const rh_promise *promise = &best->promise;
    double mean, spread;
    expected(m, best, (int)m->point, &mean, &spread);
    double y = value_of(m, best, mean);
    m->deficit = rh_promise_deficit(m->deficit, mean, spread, promise->nrun, y);
    health->deficit = m->deficit = fmin(m->deficit, 2.0 * promise->alarm + 1.0); // decision 3
    bool alarmed = (health->alarms & RH_ALARM_PROMISE) != 0;
    if (m->deficit > promise->alarm)
        rh_monitor__raise(health, RH_ALARM_PROMISE, true);
    else if (alarmed && m->deficit <= 0.0)
        rh_monitor__raise(health, RH_ALARM_PROMISE, false);
    m->sum = m->nended = 0.0;
    m->point++;
    if ((int)m->point < promise->ncurve)
        return;
    m->point = m->step = 0.0;
    m->round++;
    if (!(health->alarms & RH_ALARM_PROMISE))
        health->deficit = m->deficit = 0.0;
}

// An episode with steps that do not count has no return to compare (decision 4).
static void end_episode(rh_monitor *m)
{
    if (m->spoiled == 0.0) {
        m->sum += m->back;
        m->nended++;
        m->returns += m->back;
        m->nreturn++;
    }
    m->back = m->spoiled = 0.0;
}

void rh_monitor__reward(rh_monitor *m, rh_deploy_health *health, const rh_best *best,
                        double reward, bool ended)
{
    const rh_promise *promise = &best->promise;
    health->njudged++;
    health->total += reward;
    m->back += reward;
    if (best->task.continuing)
        m->sum += reward;
    else if (ended)
        end_episode(m);
    const double *unit = best->task.continuing ? &health->total : &m->returns;
    double count = best->task.continuing ? (double)health->njudged / (double)promise->per_steps
                                         : m->nreturn;
    health->earned = count > 0.0 && isfinite(count) ? *unit / count : NAN;
    if (promise->ncurve == 0)
        return;
    m->step++;
    if ((m->point + 1.0) * (double)promise->nstep <= m->step * promise->ncurve)
        end_segment(m, health, best);
}

void rh_monitor__spoil(rh_monitor *m, bool ended)
{
    m->spoiled = ended ? 0.0 : 1.0;
    m->back = ended ? 0.0 : m->back;
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
    if (m->outside > RAISE)
        rh_monitor__raise(health, RH_ALARM_RANGE, true);
    else if (m->outside < END)
        rh_monitor__raise(health, RH_ALARM_RANGE, false);
    health->outside = m->outside;
    return sensor >= 0;
}

void rh_monitor__guard(rh_monitor *m, rh_deploy_health *health, bool acts)
{
    health->nguarded += acts;
    m->guarded += SLOW * ((acts ? 1.0 : 0.0) - m->guarded);
    health->guarded = m->guarded;
    if (m->guarded > health->guard_share)
        rh_monitor__raise(health, RH_ALARM_GUARD, true);
    else if (m->guarded <= 0.5 * health->guard_share || isnan(health->guard_share))
        rh_monitor__raise(health, RH_ALARM_GUARD, false);
}
