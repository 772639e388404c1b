// queues.c - bins of observations, and the samples of every (bin, action).
//
// A bin is a vector of parts, one for each sensor: with the range lo to hi of the task,
//
//     part = floor(bins * (x - lo) / (hi - lo)), within 0 .. bins - 1
//
// 1. Ranges are the task's, as those of the tile coders: the same for every log of a task, and
//    one odd value does not widen all bins.
// 2. Only bins that occur are numbered, in the order of their parts. Any number of sensors has
//    at most as many bins as the log has observations.
// 3. RH_REPLAY_AUTO is the finest grid with ENOUGH samples per bin that has some, and action. A
//    coarser one mixes states that behave differently; with a finer one most queues have a
//    sample or none, and runs end after a few steps. Where a grid fails, finer ones are not
//    tried.
// 4. A truncated step is an ordinary sample: its s' is a state like any other. A step whose
//    reward, s or (unless terminal) s' is missing cannot be used.
// 5. Starts are those of the episodes that begin in a start state; if there is none, of all.

#include "queues.h"

#include "base/base_internal.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH 5       // decision 3
#define MOST_CHOSEN 64 // bins of a sensor that RH_REPLAY_AUTO tries

// An observation, to be sorted by its bin.
typedef struct place {
    const uint8_t *part; // (nobs)
    int32_t nobs;
    int32_t row;
} place;

// Memory for sorting observations.
typedef struct sorting {
    uint8_t *part; // owned: of every observation               (nstate x nobs)
    place *place;  // owned: of those without missing values    (nplace)
    int32_t nplace;
    uint8_t *used; // owned: whether a bin has a sample         (nstate)
} sorting;

// ---------------------------------------------------------------------------- bins

static int by_part(const void *a, const void *b)
{
    const place *p = a, *q = b;
    int order = memcmp(p->part, q->part, (size_t)p->nobs);
    return order ? order : (p->row > q->row) - (p->row < q->row);
}

static uint8_t part_of(const rh_task *task, int sensor, int bins, double x)
{
    double lo = task->obs_lo[sensor], share = (x - lo) / (task->obs_hi[sensor] - lo);
    double part = floor(share * bins);
    return (uint8_t)(part < 0.0 ? 0.0 : part > bins - 1 ? bins - 1 : part);
}

static bool is_usable(const rh_queues *q, int64_t i)
{
    const rh_log *log = q->log;
    bool terminal = log->flag[i] & RH_FLAG_TERMINAL;
    bool leads = log->to[i] != RH_UNKNOWN && q->bin[log->to[i]] >= 0;
    return q->bin[log->from[i]] >= 0 && (terminal || leads) && isfinite(log->reward[i]);
}

// Number the bins of all observations, and count those with samples.
static void sort_states(rh_queues *q, const rh_task *task, int bins, sorting *s)
{
    const rh_log *log = q->log;
    int nobs = log->nobs;
    s->nplace = 0;
    for (int32_t row = 0; row < log->nstate; row++) {
        const double *obs = log->obs + (size_t)row * (size_t)nobs;
        uint8_t *part = s->part + (size_t)row * (size_t)nobs;
        q->bin[row] = -1;
        if (!rh_base__all_finite(obs, nobs))
            continue;
        for (int d = 0; d < nobs; d++)
            part[d] = part_of(task, d, bins, obs[d]);
        s->place[s->nplace++] = (place){part, nobs, row};
    }
    qsort(s->place, (size_t)s->nplace, sizeof *s->place, by_part);

    q->bins = bins;
    q->nbin = 0;
    for (int32_t i = 0; i < s->nplace; i++) {
        bool another =
            i == 0 || memcmp(s->place[i].part, s->place[i - 1].part, (size_t)nobs) != 0;
        q->nbin += another;
        q->bin[s->place[i].row] = q->nbin - 1;
    }

    memset(s->used, 0, (size_t)log->nstate);
    q->nsample = q->nused = 0;
    for (int64_t i = 0; i < log->n; i++) {
        if (!is_usable(q, i))
            continue;
        uint8_t *used = &s->used[q->bin[log->from[i]]];
        q->nsample++;
        q->nused += !*used;
        *used = 1;
    }
}

// Sort with the bins asked for, or with the most that leave enough samples (decision 3).
static void choose_bins(rh_queues *q, const rh_task *task, int bins, sorting *s)
{
    int chosen = bins == RH_REPLAY_AUTO ? 1 : bins;
    for (int b = 2; bins == RH_REPLAY_AUTO && b <= MOST_CHOSEN; b++) {
        sort_states(q, task, b, s);
        if (q->nsample < (double)q->nused * q->naction * ENOUGH)
            break;
        chosen = b;
    }
    sort_states(q, task, chosen, s);
}

// ---------------------------------------------------------------------------- samples

static size_t queue_of(const rh_queues *q, int64_t i)
{
    const rh_log *log = q->log;
    return (size_t)q->bin[log->from[i]] * (size_t)q->naction + (size_t)log->act[i];
}

// Group the samples, by counting. first: has a place more than there are queues.
static void group_samples(rh_queues *q)
{
    size_t nqueue = (size_t)q->nbin * (size_t)q->naction;
    for (int64_t i = 0; i < q->log->n; i++)
        if (is_usable(q, i))
            q->first[queue_of(q, i) + 1]++;
    for (size_t k = 0; k < nqueue; k++)
        q->first[k + 1] += q->first[k];

    // from the end, so that the ends of the queues become their beginnings
    for (int64_t i = q->log->n - 1; i >= 0; i--)
        if (is_usable(q, i))
            q->sample[--q->first[queue_of(q, i) + 1]] = (int32_t)i;
    memmove(q->first, q->first + 1, nqueue * sizeof *q->first);
    q->first[nqueue] = q->nsample;
}

// Collect the start states; q->start may be NULL to count them.
static void collect_starts(rh_queues *q)
{
    const rh_log *log = q->log;
    bool any = false;
    for (int e = 0; e < log->nepisode; e++)
        any = any || log->start[e];
    q->nstart = 0;
    for (int e = 0; e < log->nepisode; e++) {
        int32_t row = log->from[log->first[e]];
        if ((any && !log->start[e]) || q->bin[row] < 0)
            continue;
        if (q->start)
            q->start[q->nstart] = row;
        q->nstart++;
    }
}

static rh_status make_queues(rh_queues *q, rh_error *err)
{
    size_t nqueue = (size_t)q->nbin * (size_t)q->naction;
    collect_starts(q);
    if (q->nsample < 1 || q->nstart < 1)
        return rh_fail(err, RH_EINVAL,
                       "replay: the log has %d transitions and %d start states without missing "
                       "numbers, expected 1 or more of both",
                       q->nsample, q->nstart);
    q->first = rh_alloc(nqueue + 1, sizeof *q->first);
    q->sample = rh_alloc((size_t)q->nsample, sizeof *q->sample);
    q->start = rh_alloc((size_t)q->nstart, sizeof *q->start);
    if (!q->first || !q->sample || !q->start)
        return rh_base__no_memory(err, "replay");
    group_samples(q);
    collect_starts(q);
    return RH_OK;
}

// ---------------------------------------------------------------------------- all of it

static rh_status check(const rh_log *log, const rh_task *task, int bins, rh_error *err)
{
    if (log->naction == 0 || task->naction == 0)
        return rh_fail(err, RH_EINVAL, "replay: continuous actions, expected discrete ones");
    if (log->nobs != task->nobs || log->naction != task->naction)
        return rh_fail(err, RH_EINVAL,
                       "replay: a log of %d sensors and %d actions, expected %d and %d as in "
                       "the task",
                       log->nobs, log->naction, task->nobs, task->naction);
    if (bins != RH_REPLAY_AUTO && (bins < 1 || bins > RH_REPLAY_MAX_BINS))
        return rh_fail(err, RH_EINVAL, "replay: bins = %d, expected 1 to %d", bins,
                       RH_REPLAY_MAX_BINS);
    return RH_OK;
}

rh_status rh_queues__init(rh_queues *queues, const rh_log *log, const rh_task *task, int bins,
                          rh_error *err)
{
    sorting s = {0};
    *queues = (rh_queues){.log = log, .naction = log->naction};
    rh_status rc = check(log, task, bins, err);
    if (rc)
        return rc;

    size_t nstate = (size_t)log->nstate;
    queues->bin = rh_alloc(nstate, sizeof *queues->bin);
    s.part = rh_alloc(nstate * (size_t)log->nobs, sizeof *s.part);
    s.place = rh_alloc(nstate, sizeof *s.place);
    s.used = rh_alloc(nstate, sizeof *s.used);
    if (queues->bin && s.part && s.place && s.used) {
        choose_bins(queues, task, bins, &s);
        rc = make_queues(queues, err);
    } else {
        rc = rh_base__no_memory(err, "replay");
    }
    rh_free(s.part);
    rh_free(s.place);
    rh_free(s.used);
    return rc;
}

void rh_queues__clear(rh_queues *queues)
{
    rh_free(queues->bin);
    rh_free(queues->first);
    rh_free(queues->sample);
    rh_free(queues->start);
}

int32_t rh_queues__begin(const rh_queues *queues, int32_t bin)
{
    return queues->first[(size_t)bin * (size_t)queues->naction];
}

rh_status rh_replay_describe(const rh_log *log, const rh_task *task, int bins,
                             rh_replay_grid *grid, rh_error *err)
{
    rh_queues q;
    rh_status rc = rh_queues__init(&q, log, task, bins, err);
    if (!rc)
        *grid = (rh_replay_grid){.bins = q.bins,
                                 .nbin = q.nused,
                                 .nsample = q.nsample,
                                 .nstart = q.nstart,
                                 .per_action = (double)q.nsample / q.nused / q.naction};
    rh_queues__clear(&q);
    return rc;
}
