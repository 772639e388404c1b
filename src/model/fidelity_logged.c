// fidelity_logged.c - the returns and lengths of the log, for comparison with simulated ones.
//
// 1. An episode counts if it began in a start state and ended, or was truncated about as late
//    as the longest (a time limit). The return of one truncated earlier is unknown. If no
//    episode begins in a start state, all count as if they did.
// 2. Simulated episodes are truncated at twice the longest, so that longer ones show as longer;
//    if the longest was itself truncated, at its length. If the limit must be lower to save
//    time, logged episodes are cut at the same length.
// 3. A continuing log is cut into stretches of equal length. These cross resets: stretches
//    between resets alone would leave the failures out.

#include "fidelity_internal.h"

#define AS_LONG 0.95 // of the longest: a time limit; by hand

static bool ended(const rh_log *log, int e)
{
    return log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL;
}

static int64_t length_of(const rh_log *log, int e)
{
    return log->first[e + 1] - log->first[e];
}

// Sum of the rewards of steps begin .. end - 1.
static double reward_of(const rh_log *log, int64_t begin, int64_t end)
{
    double sum = 0.0;
    for (int64_t t = begin; t < end; t++)
        sum += log->reward[t];
    return sum;
}

rh_status rh_fidelity__choose(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                              rh_error *err)
{
    const rh_log *log = w->log;
    bool all = !rh_model__any_start(log);
    logged->episode = rh_alloc((size_t)log->nepisode, sizeof *logged->episode);
    logged->start = rh_alloc((size_t)log->nepisode, sizeof *logged->start);
    logged->returns.x = rh_alloc(RH_FIDELITY__SIMULATED, sizeof(double));
    logged->lengths.x = rh_alloc(RH_FIDELITY__SIMULATED, sizeof(double));
    if (!logged->episode || !logged->start || !logged->returns.x || !logged->lengths.x)
        return rh_base__no_memory(err, "fidelity");

    for (int e = 0; e < log->nepisode; e++) {
        int64_t length = length_of(log, e);
        if ((!all && !log->start[e]) || length < logged->longest)
            continue;
        // one truncated episode of this length is enough
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
    w->f->logged_truncated = (double)ncut / n;
}

// The end of the piece that begins with episode e, and the episode after it. In a continuing
// task a piece goes on after a terminal step, which is a reset.
static int64_t end_of_piece(const rh_log *log, int e, int *next)
{
    while (e + 1 < log->nepisode && ended(log, e))
        e++;
    *next = e + 1;
    return log->first[e + 1];
}

void rh_fidelity__take_stretches(rh_fidelity__logged *logged, const rh_fidelity__work *w,
                                 int64_t nstretch, int64_t most)
{
    const rh_log *log = w->log;
    int64_t longest = 0, length = log->n / nstretch;
    for (int e = 0, next; e < log->nepisode; e = next) {
        int64_t n = end_of_piece(log, e, &next) - log->first[e];
        longest = n > longest ? n : longest;
    }
    length = length < most ? length : most;
    length = length < longest ? length : longest;
    length = length > 1 ? length : 1;
    logged->cutoff = length;

    // as many as fit into each piece; if these are too many, evenly spaced ones
    int64_t count = 0, seen = 0;
    for (int e = 0, next; e < log->nepisode; e = next)
        count += (end_of_piece(log, e, &next) - log->first[e]) / length;
    int64_t room = count < RH_FIDELITY__SIMULATED ? count : RH_FIDELITY__SIMULATED;
    for (int e = 0, next; e < log->nepisode; e = next) {
        int64_t n = (end_of_piece(log, e, &next) - log->first[e]) / length;
        for (int64_t i = 0; i < n; i++, seen++) {
            int64_t begin = log->first[e] + i * length, taken = logged->returns.n;
            if (taken < room && rh_fidelity__spread(taken, room, count) == seen)
                rh_fidelity__push(&logged->returns, reward_of(log, begin, begin + length));
        }
    }
}

void rh_fidelity__clear(rh_fidelity__logged *logged)
{
    rh_free(logged->episode);
    rh_free(logged->start);
    rh_free(logged->returns.x);
    rh_free(logged->lengths.x);
}
