// cutoff.c - time limits: whether the plant has one, whether it is put back to a start then,
// and the default time limit of an episode in a model.
//
// 1. If the plant has a time limit, it is that: a score per episode is then comparable with the
//    log's. Several episodes that do not end and have the same greatest length show it, as in
//    logs of Gymnasium's TimeLimit, or of shifts and days.
// 2. Otherwise a thirtieth of the run, as in the paper: without a limit, a run could get stuck
//    in a part of the log that no step leaves. At least twice the log's median episode, because
//    a thirtieth of a short run is less than an episode.
// 3. A plant whose episodes only ever end by a time limit is put back to a start then, or its
//    log was cut at midnight. Put back: the square of the change from one episode to the next
//    is more than PUT_BACK times that of a step, in medians, with at least FEWEST such changes.
//    Squares are in units of the sensors' variances.

#include "base/text.h"
#include "model.h"
#include "model_internal.h"

#include <math.h>

#define EPISODES 30  // of a run, at least
#define SEVERAL 2    // decision 1
#define FEWEST 5     // decision 3
#define PUT_BACK 4.0 // decision 3: twice a step, squared; by hand
#define MOST 10000   // of episodes and of steps that are looked at

static int64_t length_of(const rh_log *log, int e)
{
    return log->first[e + 1] - log->first[e];
}

int64_t rh_model__time_limit(const rh_log *log)
{
    int64_t longest = 0;
    int n = 0;
    for (int e = 0; e < log->nepisode; e++) {
        int64_t length = length_of(log, e);
        n = length > longest ? 0 : n;
        longest = length > longest ? length : longest;
        n += length == longest && !(log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL);
    }
    return n >= SEVERAL ? longest : 0;
}

int64_t rh_model_cutoff(const rh_log *log, int64_t nstep)
{
    size_t n = (size_t)log->nepisode;
    int64_t limit = rh_model__time_limit(log);
    if (limit)
        return limit;
    double *length = rh_alloc(2 * n, sizeof *length);
    if (!length)
        return 0;
    for (size_t e = 0; e < n; e++)
        length[e] = (double)length_of(log, (int)e);
    int64_t twice = (int64_t)(2.0 * rh_summarise(length, (int)n, length + n).median);
    rh_free(length);
    return nstep / EPISODES > twice ? nstep / EPISODES : twice;
}

// ---------------------------------------------------------------------------- starts

// The square of the difference between two states, in units of the variances.
static double square_between(const rh_log *log, const double *variance, int64_t a, int64_t b)
{
    double sum = 0.0;
    for (int k = 0; k < log->nobs; k++) {
        double d = log->obs[b * log->nobs + k] - log->obs[a * log->nobs + k];
        sum += variance[k] > 0.0 && isfinite(d) ? d * d / variance[k] : 0.0;
    }
    return sum;
}

static void find_variances(const rh_log *log, double *variance)
{
    for (int k = 0; k < log->nobs; k++) {
        double mean = 0.0, square = 0.0, n = 0.0;
        for (int64_t i = 0; i < log->nstate; i++) {
            double x = log->obs[i * log->nobs + k], gap = x - mean;
            if (!isfinite(x))
                continue;
            mean += gap / ++n;
            square += gap * (x - mean);
        }
        variance[k] = n > 0.0 ? square / n : 0.0;
    }
}

rh_status rh_model__restarts(const rh_log *log, bool *yes, rh_error *err)
{
    double variance[RH_MAX_OBS];
    double *square = rh_alloc(2 * MOST, sizeof *square);
    int njump = 0, nstep = 0;
    if (!square)
        return rh_base__no_memory(err, "model");
    double *sorted = square + MOST;
    find_variances(log, variance);
    for (int e = 1; e < log->nepisode && njump < MOST; e++) {
        int64_t last = log->to[log->first[e] - 1], begin = log->from[log->first[e]];
        if (log->start[e] && last != RH_UNKNOWN)
            square[njump++] = square_between(log, variance, last, begin);
    }
    double jump = njump ? rh_summarise(square, njump, sorted).median : 0.0;
    for (int64_t t = 0; t < log->n; t += 1 + log->n / MOST)
        if (log->to[t] != RH_UNKNOWN)
            square[nstep++] = square_between(log, variance, log->from[t], log->to[t]);
    *yes = njump >= FEWEST && jump > PUT_BACK * rh_summarise(square, nstep, sorted).median;
    rh_free(square);
    return RH_OK;
}
