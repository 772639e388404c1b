// task.c - what agents are told of a model: sensors and their ranges, actions, discount,
// length of a run.
//
// 1. Given a task, agents are told what that one tells them: an agent that will work with
//    sensors of known range should rehearse with the same. Names are the log's.
// 2. Without one, all comes from the log. A sensor or a number of an action that never
//    changes gets a range of 1 around it, because agents divide by ranges. A run is as long
//    as the log, but 1,000 steps at least: a short log still asks how an agent learns.
// 3. No reward of the log is below the lowest that agents are told. A kind that gives another
//    where it knows nothing says so in the task of its environment.

#include "model_internal.h"

#include <math.h>

#define SHORTEST_LIFE 1000
#define USUAL_GAMMA 0.99 // of a continuing task

static rh_status check_given(const rh_task *task, const rh_log *log, rh_error *err)
{
    const char *name = rh_path_tail(log->path);
    if (task->nobs != log->nobs)
        return rh_fail(err, RH_EINVAL, "%s: the log has %d sensors, and the task %d", name,
                       log->nobs, task->nobs);
    if ((task->naction > 0) != (log->naction > 0))
        return rh_fail(err, RH_EINVAL,
                       "%s: the actions of the log are %s, and those of the task %s", name,
                       log->naction ? "discrete" : "continuous",
                       task->naction ? "discrete" : "continuous");
    if (task->naction != log->naction)
        return rh_fail(err, RH_EINVAL,
                       "%s: the log knows %d actions, and the task %d; where some were never "
                       "taken, name all of them when the log is read",
                       name, log->naction, task->naction);
    if (task->nact != log->nact)
        return rh_fail(err, RH_EINVAL, "%s: the log's actions have %d numbers, the task's %d",
                       name, log->nact, task->nact);
    if (!(task->gamma >= 0.0 && task->gamma <= 1.0))
        return rh_fail(err, RH_EINVAL, "model: gamma = %g of the task, expected 0 to 1",
                       task->gamma);
    for (int i = 0; i < task->nobs; i++)
        if (!isfinite(task->obs_lo[i]) || !isfinite(task->obs_hi[i]))
            return rh_fail(err, RH_EINVAL,
                           "model: range %g to %g of sensor '%.40s' in the task, expected "
                           "finite numbers",
                           task->obs_lo[i], task->obs_hi[i], log->obs_name[i]);
    return RH_OK;
}

// Least and most of one column of x (n x width); around it where it is constant.
static void find_range(const double *x, int64_t n, int width, int column, double *lo,
                       double *hi)
{
    *lo = *hi = x[column];
    for (int64_t i = 1; i < n; i++) {
        double value = x[i * width + column];
        *lo = value < *lo ? value : *lo;
        *hi = value > *hi ? value : *hi;
    }
    if (*lo == *hi) {
        double half = fmax(0.5, fabs(*lo) * 1e-6); // where 0.5 would be rounded away
        *lo -= half;
        *hi += half;
    }
}

static bool ends(const rh_log *log)
{
    for (int e = 0; e < log->nepisode; e++)
        if (log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL)
            return true;
    return false;
}

static void tell_from_log(rh_task *task, const rh_log *log, const rh_model_options *opt,
                          int64_t nlogged)
{
    task->nobs = log->nobs;
    task->naction = log->naction;
    task->nact = log->nact;
    task->continuing =
        opt->episodes == RH_EPISODES_AUTO ? !ends(log) : opt->episodes == RH_EPISODES_CONTINUE;
    task->gamma = !isnan(opt->gamma) ? opt->gamma : task->continuing ? USUAL_GAMMA : 1.0;
    task->nstep = nlogged > SHORTEST_LIFE ? nlogged : SHORTEST_LIFE;
    for (int i = 0; i < log->nobs; i++)
        find_range(log->obs, log->nstate, log->nobs, i, &task->obs_lo[i], &task->obs_hi[i]);
    for (int i = 0; !log->naction && i < log->nact; i++)
        find_range(log->act, log->n, log->nact, i, &task->act_lo[i], &task->act_hi[i]);
    task->reward_lo = INFINITY;
}

// Ranges that somebody wants to be told.
static rh_status tell_ranges(rh_task *task, const rh_model_options *opt, rh_error *err)
{
    for (int i = 0; opt->obs_lo && i < task->nobs; i++) {
        if (isnan(opt->obs_lo[i]) && isnan(opt->obs_hi[i]))
            continue;
        double lo = isnan(opt->obs_lo[i]) ? task->obs_lo[i] : opt->obs_lo[i];
        double hi = isnan(opt->obs_hi[i]) ? task->obs_hi[i] : opt->obs_hi[i];
        if (!(lo < hi) || !isfinite(lo) || !isfinite(hi))
            return rh_fail(err, RH_EINVAL,
                           "model: range %g to %g of sensor '%.40s', expected finite numbers, "
                           "the first below the second",
                           lo, hi, task->obs_name[i]);
        task->obs_lo[i] = lo;
        task->obs_hi[i] = hi;
    }
    return RH_OK;
}

rh_status rh_model__make_task(rh_model *model, const rh_model_options *opt, int64_t nlogged,
                              rh_error *err)
{
    const rh_log *log = model->log;
    if (opt->task) {
        rh_status rc = check_given(opt->task, log, err);
        if (rc)
            return rc;
        model->task = *opt->task;
    } else {
        model->task = (rh_task){0};
        tell_from_log(&model->task, log, opt, nlogged);
    }
    for (int i = 0; i < log->nobs; i++)
        model->task.obs_name[i] = log->obs_name[i];
    for (int64_t i = 0; i < log->n; i++)
        model->task.reward_lo = fmin(model->task.reward_lo, log->reward[i]);
    return tell_ranges(&model->task, opt, err);
}
