// outcome.c - the worst and the best that the log has seen of a run: what a model gives
// where it knows nothing.
//
// After the paper: the default return is the lowest undiscounted return of the completed
// episodes of the log, given as the reward of one step, which ends the episode.
//
// 1. Completed episodes that were begun in a start state come first; where there is none,
//    completed ones; where there is none, all. An episode whose beginning was not logged
//    shows a part of its return only, which could pass for the best.
// 2. In a continuing task nothing completes, and the sum of a whole log says how long it is.
//    A step beyond reach is then charged with what the agent could lose within its horizon:
//    the lowest sum of the rewards of round(1 / (1 - gamma)) steps in a row, or of an episode
//    that is shorter. For gamma = 1, which has no horizon, it is 100 steps. In Cartpole
//    (gamma 0.9) this is -1, one failure, as in the authors' code.

#include "model_internal.h"

#include <math.h>

#define NO_HORIZON 100 // steps, where gamma is 1

typedef struct extremes {
    double lowest, highest;
    int64_t n;
} extremes;

static void count(extremes *x, double sum)
{
    x->lowest = x->n == 0 || sum < x->lowest ? sum : x->lowest;
    x->highest = x->n == 0 || sum > x->highest ? sum : x->highest;
    x->n++;
}

static double sum_of(const rh_log *log, int64_t first, int64_t end)
{
    double sum = 0.0;
    for (int64_t i = first; i < end; i++)
        sum += log->reward[i];
    return sum;
}

static extremes of_episodes(const rh_log *log)
{
    extremes whole = {0}, ended = {0}, all = {0};
    for (int e = 0; e < log->nepisode; e++) {
        double sum = sum_of(log, log->first[e], log->first[e + 1]);
        bool ends = log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL;
        count(&all, sum);
        if (ends)
            count(&ended, sum);
        if (ends && log->start[e])
            count(&whole, sum);
    }
    return whole.n ? whole : ended.n ? ended : all;
}

static extremes of_stretches(const rh_log *log, double gamma)
{
    extremes x = {0};
    double horizon = gamma < 1.0 ? round(1.0 / (1.0 - gamma)) : NO_HORIZON;
    for (int e = 0; e < log->nepisode; e++) {
        int64_t first = log->first[e], end = log->first[e + 1];
        int64_t length = horizon < (double)(end - first) ? (int64_t)horizon : end - first;
        double sum = sum_of(log, first, first + length);
        count(&x, sum);
        for (int64_t i = first + length; i < end; i++) {
            // summed anew now and then, so that roundings do not add up
            sum = (i - first) % length ? sum + log->reward[i] - log->reward[i - length]
                                       : sum_of(log, i + 1 - length, i + 1);
            count(&x, sum);
        }
    }
    return x;
}

rh_status rh_model__find_outcomes(rh_model *model, rh_error *err)
{
    extremes x = model->task.continuing ? of_stretches(model->log, model->task.gamma)
                                        : of_episodes(model->log);
    model->lowest = x.lowest;
    model->highest = x.highest;
    if (!isfinite(x.lowest) || !isfinite(x.highest))
        return rh_fail(err, RH_EINVAL, "%s: rewards are too large to be added up",
                       rh_path_tail(model->log->path));
    return RH_OK;
}
