// excerpt.c - a shorter log, for measurements whose time would grow with the log.
//
// 1. Whole episodes are kept, evenly spaced, resumed ones with the one before. If one is more
//    than half of the log, NBLOCK blocks of steps are, each long enough for a stretch.
// 2. Names, units and labels are unchanged; a piece of an episode that is cut is truncated.

#include "base/base_internal.h"
#include "model_internal.h"
#include "subset.h"

#define NBLOCK 20

// Mark the transitions to keep; how many.
static int64_t mark(uint8_t *keep, const rh_log *log, int64_t most)
{
    int64_t largest, n = 0, unit = -1, stride = (log->n + most - 1) / most;
    rh_model__units(log, &largest);
    for (int e = 0; e < log->nepisode; e++) {
        unit += e == 0 || log->start[e];
        for (int64_t t = log->first[e]; t < log->first[e + 1]; t++) {
            int64_t block = t * NBLOCK / log->n;
            bool kept = 2 * largest > log->n
                            ? t - (block * log->n + NBLOCK - 1) / NBLOCK < most / NBLOCK
                            : unit % stride == 0;
            keep[t] = kept;
            n += kept;
        }
    }
    return n;
}

static void keep_step(rh_subset *part, const uint8_t *keep, int64_t t)
{
    const rh_log *log = part->log;
    bool begins = t == 0 || !keep[t - 1] || log->episode[t - 1] != log->episode[t];
    bool cut = t + 1 < log->n && !keep[t + 1] && log->episode[t + 1] == log->episode[t];
    if (begins)
        rh_subset__begin(part, log->step[t] == 0 && log->start[log->episode[t]]);
    int32_t from = rh_subset__state(part, log->from[t]);
    int32_t to = rh_subset__state(part, log->to[t]);
    rh_subset__step(part, t, from, to, log->flag[t] | (cut ? RH_FLAG_TRUNCATED : 0));
}

rh_status rh_model__excerpt(rh_log **out, const rh_log *log, int64_t most, rh_error *err)
{
    rh_subset part = {0};
    rh_status rc = RH_OK;
    if (log->n <= most)
        return RH_OK;
    uint8_t *keep = rh_scratch__take(&part.scratch, (size_t)log->n, sizeof *keep);
    int64_t n = keep ? mark(keep, log, most) : 0;
    if (!keep || !rh_subset__init(&part, log, 2 * n, n, n)) {
        rc = rh_base__no_memory(err, "model");
        goto done;
    }
    for (int64_t t = 0; t < log->n; t++)
        if (keep[t])
            keep_step(&part, keep, t);
    rc = rh_subset__copy(out, &part, err);

done:
    rh_scratch__clear(&part.scratch);
    return rc;
}
