// task.c - the task that agents are told: sensors, actions, ranges, discount, length of a run.
//
// 1. A given task is passed on unchanged, with the log's sensor names: an agent should rehearse
//    with the ranges it will have on the plant.
// 2. Otherwise the task is derived from the log. A sensor or action that never changes gets a
//    range of width 1 around its value, because agents divide by ranges. A run is as long as
//    the log, and at least 1,000 steps.
// 3. Sensor ranges that come from the log get a margin of a tenth on each side: a learning
//    agent goes where the logged controller did not, and is blind where its tiles are clipped.
//    A tenth of the range costs a sixth of the tiles. There is no margin at a wall, which the
//    sensor does not pass. At a limit the range ends there, because no agent acts past it. A
//    sensor that wraps has its circle as range, a pair its radius. Study files and best.yaml
//    give the same ranges to the agent on the plant.
// 4. A log without terminal steps is that of a continuing task, unless a time limit ends its
//    episodes and the plant is then put back to a start (log/ends.c), as in Gymnasium's
//    Pendulum. The discount is that of a continuing task: a time limit does not end what agents
//    learn about.
// 5. reward_lo is no higher than any reward of the log. A kind of model that gives lower
//    rewards out of coverage lowers it in the task of its environment.

#include "base/base.h"
#include "base/base_internal.h"
#include "log/log.h"
#include "model.h"
#include "model_internal.h"

#include <math.h>
#include <string.h>

#define SHORTEST_RUN 1000
#define MARGIN 0.1       // of the range, on each side: decision 3
#define USUAL_GAMMA 0.99 // of a task without terminal steps

static rh_status check_given(const rh_task *task, const rh_log *log, rh_error *err)
{
    const char *name = rh_base__path_tail(log->path);
    if (task->nobs != log->nobs)
        return rh_fail(err, RH_EINVAL, "%s: %d sensors, expected %d as in the task", name,
                       log->nobs, task->nobs);
    if ((task->naction > 0) != (log->naction > 0))
        return rh_fail(err, RH_EINVAL, "%s: %s actions, expected %s ones as in the task", name,
                       log->naction ? "discrete" : "continuous",
                       task->naction ? "discrete" : "continuous");
    if (task->naction != log->naction)
        return rh_fail(err, RH_EINVAL,
                       "%s: %d actions, expected %d as in the task; if some were never taken, "
                       "list all of them when reading the log",
                       name, log->naction, task->naction);
    if (task->nact != log->nact)
        return rh_fail(err, RH_EINVAL, "%s: actions of %d numbers, expected %d as in the task",
                       name, log->nact, task->nact);
    if (!(task->gamma >= 0.0 && task->gamma <= 1.0))
        return rh_fail(err, RH_EINVAL, "model: gamma of the task = %g, expected 0 to 1",
                       task->gamma);
    for (int i = 0; i < task->nobs; i++)
        if (!isfinite(task->obs_lo[i]) || !isfinite(task->obs_hi[i]))
            return rh_fail(err, RH_EINVAL,
                           "model: range of sensor '%.40s' in the task is %g to %g, expected "
                           "finite numbers",
                           log->obs_name[i], task->obs_lo[i], task->obs_hi[i]);
    return RH_OK;
}

// Widen the ranges lo, hi (n) to hold x (n).
static void widen(double *lo, double *hi, const double *x, int n)
{
    for (int k = 0; k < n; k++) {
        lo[k] = x[k] < lo[k] ? x[k] : lo[k];
        hi[k] = x[k] > hi[k] ? x[k] : hi[k];
    }
}

static void open_ranges(double *lo, double *hi, int n)
{
    for (int k = 0; k < n; k++) {
        lo[k] = INFINITY;
        hi[k] = -INFINITY;
    }
}

// Agents divide by a range, so a constant gets one around it.
static void close_ranges(double *lo, double *hi, int n)
{
    for (int k = 0; k < n; k++) {
        if (lo[k] != hi[k])
            continue;
        double half = fmax(0.5, fabs(lo[k]) * 1e-6); // where 0.5 would be rounded away
        lo[k] -= half;
        hi[k] += half;
    }
}

// The ranges of sensors over the states that the model has, and those that agents begin with: a
// log may have been divided.
static void find_sensor_ranges(rh_task *task, const rh_model__usable *u, rh_prior prior)
{
    const rh_log *log = u->log;
    double *lo = task->obs_lo, *hi = task->obs_hi;
    int n = log->nobs;
    open_ranges(lo, hi, n);
    for (int64_t i = 0; u->whole && i < log->nstate; i++)
        widen(lo, hi, log->obs + i * n, n);
    for (int64_t i = 0; !u->whole && i < log->n; i++) {
        if (!rh_model__is_whole(log, i))
            continue;
        widen(lo, hi, log->obs + (int64_t)log->from[i] * n, n);
        if (rh_model__has_next(log, i))
            widen(lo, hi, log->obs + (int64_t)log->to[i] * n, n);
    }
    for (int64_t i = 0; i < u->nmore; i++)
        widen(lo, hi, u->more + i * n, n);
    for (int64_t i = 0; i < prior.n; i++) {
        const double *row = prior.row + i * rh_contract__prior_width(n, log->nact);
        widen(lo, hi, row, n);
        widen(lo, hi, row + n + log->nact + 1, n);
    }
    close_ranges(lo, hi, n);
}

static bool is_given(const rh_model_options *opt, int i)
{
    return opt->obs_lo && !(isnan(opt->obs_lo[i]) && isnan(opt->obs_hi[i]));
}

void rh_model__add_margins(rh_task *task, const rh_facts *facts, const rh_model_options *opt)
{
    for (int k = 0; !opt->task && k < task->nobs; k++) {
        const rh_sensor *s = &facts->sensor[k];
        double margin = MARGIN * (task->obs_hi[k] - task->obs_lo[k]);
        if (s->constant || is_given(opt, k) || !isfinite(margin))
            continue;
        if (!isnan(s->period)) {
            task->obs_lo[k] = s->base;
            task->obs_hi[k] = s->base + s->period;
        } else if (s->partner >= 0) {
            task->obs_lo[k] = -s->radius;
            task->obs_hi[k] = s->radius;
        } else {
            task->obs_lo[k] -= isnan(s->wall_lo) ? margin : 0.0;
            task->obs_hi[k] += isnan(s->wall_hi) ? margin : 0.0;
        }
    }
    for (int i = 0; !opt->task && i < facts->nlimit; i++) {
        const rh_limit *l = &facts->limit[i];
        double *end = l->above ? &task->obs_hi[l->sensor] : &task->obs_lo[l->sensor];
        double other = l->above ? task->obs_lo[l->sensor] : task->obs_hi[l->sensor];
        if (!is_given(opt, l->sensor) && (l->above ? l->value > other : l->value < other))
            *end = l->value;
    }
}

static void find_action_ranges(rh_task *task, const rh_model__usable *u, rh_prior prior)
{
    const rh_log *log = u->log;
    int64_t width = rh_contract__prior_width(log->nobs, log->nact);
    open_ranges(task->act_lo, task->act_hi, log->nact);
    for (int64_t i = 0; i < log->n; i++)
        if (u->whole || rh_model__is_whole(log, i))
            widen(task->act_lo, task->act_hi, log->act + i * log->nact, log->nact);
    for (int64_t i = 0; i < prior.n; i++)
        widen(task->act_lo, task->act_hi, prior.row + i * width + log->nobs, log->nact);
    close_ranges(task->act_lo, task->act_hi, log->nact);
}

// Whether an episode ends, of the log or of the part that agents begin with.
static bool any_end(const rh_log *log, rh_prior prior)
{
    rh_model__piece piece = {0};
    int64_t width = rh_contract__prior_width(log->nobs, log->nact);
    for (int64_t i = 1; i <= prior.n; i++)
        if (prior.row[i * width - 1] == 1.0) // terminal
            return true;
    while (rh_model__next_piece(log, &piece))
        if (piece.ends)
            return true;
    return false;
}

static rh_status derive_task(rh_task *task, const rh_model__usable *u,
                             const rh_model_options *opt, rh_error *err)
{
    const rh_log *log = u->log;
    bool endless = !any_end(log, opt->prior), limited = false;
    if (endless && !rh_log__begins_anew(log, &limited))
        return rh_base__no_memory(err, "model");
    task->nobs = log->nobs;
    task->naction = log->naction;
    task->nact = log->nact;
    task->continuing = opt->episodes == RH_EPISODES_AUTO
                           ? endless && !limited
                           : opt->episodes == RH_EPISODES_CONTINUE;
    bool forever = task->continuing || (endless && limited);
    task->gamma = !isnan(opt->gamma) ? opt->gamma : forever ? USUAL_GAMMA : 1.0;
    int64_t n = log->n + opt->prior.n; // a log may have been divided
    task->nstep = n > SHORTEST_RUN ? n : SHORTEST_RUN;
    find_sensor_ranges(task, u, opt->prior);
    if (!log->naction)
        find_action_ranges(task, u, opt->prior);
    task->reward_lo = INFINITY;
    return RH_OK;
}

// Ranges given by the options, from .. to (n), in place of lo and hi. Nullable: from.
static rh_status override(const char *what, const char *const *name, int n, const double *from,
                          const double *to, double *lo, double *hi, rh_error *err)
{
    for (int i = 0; from && i < n; i++) {
        if (isnan(from[i]) && isnan(to[i]))
            continue;
        lo[i] = isnan(from[i]) ? lo[i] : from[i];
        hi[i] = isnan(to[i]) ? hi[i] : to[i];
        if (!(lo[i] < hi[i]) || !isfinite(lo[i]) || !isfinite(hi[i]))
            return rh_fail(err, RH_EINVAL,
                           "model: range of %s '%.40s' is %g to %g, expected finite numbers, "
                           "the first below the second",
                           what, name[i], lo[i], hi[i]);
    }
    return RH_OK;
}

// The range of an actuator is at least what the log has.
static rh_status override_actions(rh_task *task, const rh_log *log, const rh_model_options *opt,
                                  rh_error *err)
{
    double lo[RH_MAX_ACT], hi[RH_MAX_ACT];
    memcpy(lo, task->act_lo, sizeof lo);
    memcpy(hi, task->act_hi, sizeof hi);
    rh_status rc = override("action", log->act_name, log->nact, opt->act_lo, opt->act_hi,
                            task->act_lo, task->act_hi, err);
    for (int k = 0; k < log->nact && !rc && opt->act_lo; k++)
        if (task->act_lo[k] > lo[k] || task->act_hi[k] < hi[k])
            rc = rh_fail(err, RH_EINVAL,
                         "model: range of action '%.40s' is %g to %g, but the log has %g to %g",
                         log->act_name[k], task->act_lo[k], task->act_hi[k], lo[k], hi[k]);
    return rc;
}

rh_status rh_model__make_task(rh_task *task, const rh_model__usable *u,
                              const rh_model_options *opt, rh_error *err)
{
    const rh_log *log = u->log;
    *task = (rh_task){0};
    rh_status rc =
        opt->task ? check_given(opt->task, log, err) : derive_task(task, u, opt, err);
    if (rc)
        return rc;
    if (opt->task)
        *task = *opt->task;
    for (int i = 0; i < log->nobs; i++)
        task->obs_name[i] = log->obs_name[i];
    for (int64_t i = 0; i < log->n; i++)
        if (u->whole || rh_model__is_whole(log, i))
            task->reward_lo = fmin(task->reward_lo, log->reward[i]);
    rc = override("sensor", task->obs_name, task->nobs, opt->obs_lo, opt->obs_hi, task->obs_lo,
                  task->obs_hi, err);
    return rc || log->naction ? rc : override_actions(task, log, opt, err);
}
