// cutoff.c - when an episode in a model is cut off, where nobody says.
//
// After a thirtieth of the run, as in the paper: the log may hold a corner out of which no
// step leads, and a run would end there. But never before twice the log's median episode: of a
// short run a thirtieth is less than an episode.

#include "rehearse/model.h"

#define EPISODES 30 // of a run, at least

int64_t rh_model_cutoff(const rh_log *log, int64_t nstep)
{
    size_t n = (size_t)log->nepisode;
    double *length = rh_alloc(2 * n, sizeof *length);
    if (!length)
        return 0;
    for (size_t e = 0; e < n; e++)
        length[e] = (double)(log->first[e + 1] - log->first[e]);
    int64_t twice = (int64_t)(2.0 * rh_summarise(length, (int)n, length + n).median);
    rh_free(length);
    return nstep / EPISODES > twice ? nstep / EPISODES : twice;
}
