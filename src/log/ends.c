// ends.c - how the episodes of a log end: terminal steps, a time limit, or not at all.
//
// 1. Several episodes that do not end and have the same greatest length show a time limit, as
//    in logs of Gymnasium's TimeLimit, or of shifts and days. A single episode with a row more,
//    written twice, does not hide it where at least half of those that do not end have it.
// 2. A file that has a row per step, without the observation after the last, loses the last
//    step of every episode that does not terminate: its s' is unknown. The limit counts it.
// 3. A plant whose episodes only ever end by a time limit is put back to a start then, or its
//    log was cut at midnight. Put back: the square of the change from one episode to the next
//    is more than PUT_BACK times that of a step, in medians, with at least FEWEST such changes.
//    Squares are in units of the sensors' variances.

#include "base/base_internal.h"
#include "log.h"

#include <math.h>

#define SEVERAL 2    // decision 1
#define FEWEST 5     // decision 3
#define PUT_BACK 4.0 // decision 3: twice a step, squared; by hand
#define MOST 10000   // of episodes and of steps that are looked at

static bool terminates(const rh_log *log, int e)
{
    return log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL;
}

bool rh_log__lost_ends(const rh_log *log)
{
    int64_t n = 0;
    for (int e = 0; e < log->nepisode; e++)
        n += !terminates(log, e);
    return n > 0 && log->reading.nlost >= n;
}

int64_t rh_log__time_limit(const rh_log *log)
{
    int64_t longest = 0;
    int ncut = 0, n[2] = {0, 0}; // episodes that do not end; of these, so long, and one less
    bool lost = rh_log__lost_ends(log);
    for (int e = 0; e < log->nepisode; e++) {
        bool cut = !terminates(log, e);
        int64_t length = log->first[e + 1] - log->first[e] + (cut && lost);
        if (length > longest) {
            n[1] = length == longest + 1 ? n[0] : 0;
            n[0] = 0;
            longest = length;
        }
        ncut += cut;
        if (longest - length < 2)
            n[longest - length] += cut;
    }
    if (n[0] >= SEVERAL)
        return longest;
    return n[0] == 1 && n[1] >= SEVERAL && 2 * n[1] >= ncut ? longest - 1 : 0;
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

// Decision 3.
static bool restarts(const rh_log *log, bool *yes)
{
    double variance[RH_MAX_OBS];
    double *square = rh_alloc(2 * MOST, sizeof *square);
    int njump = 0, nstep = 0;
    if (!square)
        return false;
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
    return true;
}

bool rh_log__begins_anew(const rh_log *log, bool *yes)
{
    *yes = false;
    return !rh_log__time_limit(log) || restarts(log, yes);
}
