// outcome.c - the worst and the best return in the log: what a model gives out of coverage.
//
// After the paper: the default return is the lowest undiscounted return of the completed
// episodes of the log, given as the reward of one step, which ends the episode.
//
// 1. Completed episodes from a start state are used; where there are none, completed ones;
//    where there are none, all. An episode whose beginning was not logged has only a part of
//    its return, which could pass for the best.
// 2. In a continuing task no episode completes, and the sum over a whole log grows with its
//    length. A step out of coverage then costs what the agent could lose within its horizon:
//    the lowest sum of rewards over round(1 / (1 - gamma)) consecutive steps, or over a shorter
//    episode. gamma = 1 has no horizon; 100 steps are used. In Cartpole (gamma 0.9) the cost is
//    -1, one failure, as in the authors' code.
// 3. A limit that is given by hand and that the log never passed costs what the reward's
//    formula takes off in a terminal step ("-energy - 50*trip"), else the lowest return: what
//    it adds there is for a goal, and no trip is paid like one.

#include "base/base_internal.h"
#include "model_internal.h"

#include <math.h>

#define NO_HORIZON 100 // steps, where gamma is 1

double rh_model__past_limit(const rh_model *model, double usual)
{
    double added = model->log->terminal_reward;
    return added < 0.0 ? usual + added : model->lowest;
}

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
    rh_model__piece p = {0};
    while (rh_model__next_piece(log, &p)) {
        double sum = sum_of(log, p.first, p.end);
        count(&all, sum);
        if (p.ends)
            count(&ended, sum);
        if (p.ends && p.start)
            count(&whole, sum);
    }
    return whole.n ? whole : ended.n ? ended : all;
}

static extremes of_stretches(const rh_log *log, double gamma)
{
    extremes x = {0};
    rh_model__piece p = {0};
    double horizon = gamma < 1.0 ? round(1.0 / (1.0 - gamma)) : NO_HORIZON;
    while (rh_model__next_piece(log, &p)) {
        int64_t n = p.end - p.first, length = horizon < (double)n ? (int64_t)horizon : n;
        double sum = sum_of(log, p.first, p.first + length);
        count(&x, sum);
        for (int64_t i = p.first + length; i < p.end; i++) {
            // summed again once per horizon, so that rounding errors do not add up
            sum = (i - p.first) % length ? sum + log->reward[i] - log->reward[i - length]
                                         : sum_of(log, i + 1 - length, i + 1);
            count(&x, sum);
        }
    }
    return x;
}

rh_status rh_model__find_outcomes(double *lowest, double *highest, const rh_log *log,
                                  const rh_task *task, rh_error *err)
{
    extremes x = task->continuing ? of_stretches(log, task->gamma) : of_episodes(log);
    *lowest = x.lowest;
    *highest = x.highest;
    if (!isfinite(x.lowest) || !isfinite(x.highest))
        return rh_fail(err, RH_EINVAL,
                       "%s: the sum of rewards overflows, expected smaller ones",
                       rh_base__path_tail(log->path));
    return RH_OK;
}
