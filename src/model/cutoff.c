// cutoff.c - the default time limit of an episode in a model.
//
// 1. If the plant has a time limit (log/ends.c), it is that: a score per episode is then
//    comparable with the log's.
// 2. Otherwise a thirtieth of the run, as in the paper: without a limit, a run could get stuck
//    in a part of the log that no step leaves. At least twice the log's median episode, because
//    a thirtieth of a short run is less than an episode.

#include "log/log.h"
#include "model.h"

#define EPISODES 30 // of a run, at least

int64_t rh_model_cutoff(const rh_log *log, int64_t nstep)
{
    size_t n = (size_t)log->nepisode;
    int64_t limit = rh_log__time_limit(log);
    if (limit)
        return limit;
    double *length = rh_alloc(2 * n, sizeof *length);
    if (!length)
        return 0;
    for (size_t e = 0; e < n; e++)
        length[e] = (double)(log->first[e + 1] - log->first[e]);
    int64_t twice = (int64_t)(2.0 * rh_summarise(length, (int)n, length + n).median);
    rh_free(length);
    return nstep / EPISODES > twice ? nstep / EPISODES : twice;
}
