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
//    quarter of the curve is promised. Deficits begin at 0 in each, unless there is an alarm.
// 3. The alarm ends when the deficits are back at 0. They grow to at most twice the level, so
//    that a plant that recovers can show it.
// 4. Only steps with the agent's own action count: nothing was promised of an operator.
// 5. A segment in which no episode ended has the return of the current one so far, if that is
//    already below the promise: an agent that no longer reaches the goal ends no episode.
// 6. The file's level is exceeded in a share f of the models' runs, at any time in one run
//    length (conformal prediction: it is a rank among them). Of the k-th run length the alarm
//    may have a / (k (k + 1)) of a = 5 %, so that all together keep 5 %, for ever. Where that
//    is less than f, the level is raised by ln of the shares: the largest of sums that forget
//    has an exponential tail. The evidence is 20 at the level and goes with the same
//    exponential.

#include "deploy_internal.h"
#include "study/study.h"

#include <math.h>

#define LEAST_LEVEL 0.5 // of deficits, where no run in the models had any; by hand

int rh_monitor__index(rh_deploy_alarm alarm)
{
    int i = 0;
    while ((unsigned)alarm >> i > 1u)
        i++;
    return i;
}

void rh_monitor__raise(rh_deploy_health *health, rh_deploy_alarm alarm)
{
    int i = rh_monitor__index(alarm);
    if (!(health->alarms & (unsigned)alarm)) {
        health->since[i] = health->nstep;
        health->sure[i] = health->evidence[i];
    }
    health->alarm_step = health->alarms & (unsigned)alarm ? health->alarm_step : health->nstep;
    health->alarms |= (unsigned)alarm;
    health->sure[i] = fmax(health->sure[i], health->evidence[i]);
}

void rh_monitor__end(rh_deploy_health *health, rh_deploy_alarm alarm)
{
    int i = rh_monitor__index(alarm);
    health->alarms &= ~(unsigned)alarm;
    health->since[i] = -1;
    health->sure[i] = NAN;
}

void rh_monitor__weigh(rh_deploy_health *health, rh_deploy_alarm alarm, double evidence)
{
    health->evidence[rh_monitor__index(alarm)] = evidence;
    if (evidence >= RH_BETS__LEVEL)
        rh_monitor__raise(health, alarm);
    else if (evidence < 1.0)
        rh_monitor__end(health, alarm);
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

// Decision 6.
double rh_monitor__level(const rh_monitor *m, const rh_promise *promise, double *evidence)
{
    double level = fmax(promise->alarm, LEAST_LEVEL);
    double share = fmin(fmax(promise->false_alarms, 1e-6), 0.5); // a file may say anything
    double fall = -rh_ln(share) / level;
    double wanted = rh_ln(RH_BETS__LEVEL * (m->round + 1.0) * (m->round + 2.0)) / fall;
    level = fmax(level, wanted);
    *evidence = RH_BETS__LEVEL * rh_exp(fmin(fall * (m->deficit - level), 100.0));
    return level;
}

static void end_segment(rh_monitor *m, rh_deploy_health *health, const rh_best *best)
{
    const rh_promise *promise = &best->promise;
    double mean, spread, evidence;
    expected(m, best, (int)m->point, &mean, &spread);
    double y = value_of(m, best, mean);
    m->deficit = rh_promise__deficit(m->deficit, mean, spread, promise->nrun, y);
    double level = health->level = rh_monitor__level(m, promise, &evidence);
    m->deficit = fmin(m->deficit, 2.0 * level + 1.0); // decision 3
    rh_monitor__level(m, promise, &evidence);
    health->deficit = m->deficit;
    health->evidence[rh_monitor__index(RH_ALARM_PROMISE)] = evidence;
    if (m->deficit > level)
        rh_monitor__raise(health, RH_ALARM_PROMISE);
    else if (m->deficit <= 0.0)
        rh_monitor__end(health, RH_ALARM_PROMISE);
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
static void end_episode(rh_monitor *m, rh_deploy_health *health, const rh_best *best)
{
    if (m->spoiled == 0.0) {
        rh_monitor__past(m, health, best, m->back);
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
    if (best->task.continuing) {
        m->sum += reward;
        rh_monitor__past(m, health, best, reward);
    } else if (ended)
        end_episode(m, health, best);
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
