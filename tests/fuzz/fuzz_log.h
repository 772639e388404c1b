// fuzz_log.h - what every log that a fuzz target has read must fulfil.

#ifndef FUZZ_LOG_H
#define FUZZ_LOG_H

#include <math.h>
#include <stdlib.h>

#include "rehearse/log.h"

static inline void require(bool condition)
{
    if (!condition)
        abort();
}

static inline void check(const rh_log *log)
{
    require(log->n > 0 && log->nepisode > 0 && log->nobs > 0 && log->nact > 0);
    require(log->first[0] == 0 && log->first[log->nepisode] == log->n);
    for (int64_t i = 0; i < log->n; i++) {
        require(log->from[i] >= 0 && log->from[i] < log->nstate);
        require(log->to[i] >= RH_UNKNOWN && log->to[i] < log->nstate);
        require(!isnan(log->reward[i]));
        for (int k = 0; k < log->nact; k++)
            require(!isnan(log->act[i * log->nact + k]));
        if (log->naction > 0)
            require(log->act[i] >= 0.0 && log->act[i] < log->naction);
        bool last = i + 1 == log->n || log->episode[i + 1] != log->episode[i];
        require(last == (log->flag[i] != 0));
        require(log->to[i] != RH_UNKNOWN || (log->flag[i] & RH_FLAG_TERMINAL));
    }
    for (int i = 0; i < log->naction; i++)
        require(log->label[i] != NULL);
    for (int i = 0; i < log->reading.nnote; i++)
        require(log->reading.note[i][0] != 0);
}

#endif
