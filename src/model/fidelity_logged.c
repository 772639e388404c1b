// fidelity_logged.c - what the log did: the returns and lengths that runs are compared with.
//
// 1. An episode counts when it began in a start state and ended, or was cut off about as late
//    as the longest (a time limit): the return of what was cut off earlier is not known. Where
//    nothing begins in a start state, every episode counts as if it did.
// 2. Lived episodes are cut off at twice the longest, so that longer ones show as longer; where
//    the longest was itself cut off, at its length, since how long it would have been is not
//    known. Where the cut-off must be lower for the time it takes, logged episodes are looked
//    at up to there too.
// 3. A continuing log has no episodes: it is cut into stretches of equal length.

#include "fidelity_internal.h"

#define AS_LONG 0.95 // of the longest: cut off by a time limit

static bool ended(const rh_log *log, int e)
{
    return log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL;
}

static int64_t length_of(const rh_log *log, int e)
{
    return log->first[e + 1] - log->first[e];
}

// Reward of the steps begin .. end - 1.
static double reward_of(const rh_log *log, int64_t begin, int64_t end)
{
    double sum = 0.0;
    for (int64_t t = begin; t < end; t++)
        sum += log->reward[t];
    return sum;
}

static bool any_start(const rh_log *log)
{
    for (int e = 0; e < log->nepisode; e++)
        if (log->start[e])
            return true;
    return false;
}

rh_status rh_fidelity__choose(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                              rh_error *err)
{
    const rh_log *log = w->log;
    bool all = !any_start(log);
    logged->episode = rh_alloc((size_t)log->nepisode, sizeof *logged->episode);
    logged->start = rh_alloc((size_t)log->nepisode, sizeof *logged->start);
    logged->returns.x = rh_alloc(RH_FIDELITY__SIMULATED, sizeof(double));
    logged->lengths.x = rh_alloc(RH_FIDELITY__SIMULATED, sizeof(double));
    if (!logged->episode || !logged->start || !logged->returns.x || !logged->lengths.x)
        return rh_fidelity__no_memory(w, err);

    for (int e = 0; e < log->nepisode; e++) {
        int64_t length = length_of(log, e);
        if ((!all && !log->start[e]) || length < logged->longest)
            continue;
        // of several as long, one that was cut off is enough
        logged->limited = !ended(log, e) || (logged->limited && length == logged->longest);
        logged->longest = length;
    }
    double late = AS_LONG * (double)logged->longest;
    for (int e = 0; e < log->nepisode; e++)
        if ((all || log->start[e]) && (ended(log, e) || (double)length_of(log, e) >= late)) {
            logged->start[logged->nepisode] = log->from[log->first[e]];
            logged->episode[logged->nepisode++] = e;
        }
    return RH_OK;
}

void rh_fidelity__take_episodes(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                                int64_t most)
{
    const rh_log *log = w->log;
    int64_t ncut = 0, cutoff = logged->limited ? logged->longest : 2 * logged->longest;
    int n =
        logged->nepisode < RH_FIDELITY__SIMULATED ? logged->nepisode : RH_FIDELITY__SIMULATED;
    logged->cutoff = cutoff < most ? cutoff : most;
    for (int i = 0; i < n; i++) {
        int e = logged->episode[rh_fidelity__spread(i, n, logged->nepisode)];
        int64_t length = length_of(log, e);
        ncut += !ended(log, e) || length > logged->cutoff;
        length = length < logged->cutoff ? length : logged->cutoff;
        rh_fidelity__push(&logged->returns,
                          reward_of(log, log->first[e], log->first[e] + length));
        rh_fidelity__push(&logged->lengths, (double)length);
    }
    w->f->logged_cut = (double)ncut / n;
}

void rh_fidelity__take_stretches(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                                 int64_t nstretch, int64_t most)
{
    const rh_log *log = w->log;
    int64_t longest = 0, length = log->n / nstretch;
    for (int e = 0; e < log->nepisode; e++)
        longest = length_of(log, e) > longest ? length_of(log, e) : longest;
    length = length < most ? length : most;
    length = length < longest ? length : longest;
    length = length > 1 ? length : 1;
    logged->cutoff = length;

    // as many as fit into each episode; where that are too many, evenly spaced ones
    int64_t count = 0, seen = 0;
    for (int e = 0; e < log->nepisode; e++)
        count += length_of(log, e) / length;
    int64_t room = count < RH_FIDELITY__SIMULATED ? count : RH_FIDELITY__SIMULATED;
    for (int e = 0; e < log->nepisode; e++)
        for (int64_t i = 0; i < length_of(log, e) / length; i++, seen++) {
            int64_t begin = log->first[e] + i * length, next = logged->returns.n;
            if (next < room && rh_fidelity__spread(next, room, count) == seen)
                rh_fidelity__push(&logged->returns, reward_of(log, begin, begin + length));
        }
}

void rh_fidelity__clear(rh_fidelity__logged *logged)
{
    rh_free(logged->episode);
    rh_free(logged->start);
    rh_free(logged->returns.x);
    rh_free(logged->lengths.x);
}
