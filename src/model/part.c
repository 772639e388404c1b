// part.c - draws the transitions that a member of a model is fitted to.
//
// 1. A subset is drawn by selection sampling (Knuth, algorithm S): one pass, one random number
//    per transition, chosen ones in order.
// 2. A bootstrap draws whole episodes with replacement, as many as the log has, because the
//    steps of an episode are not independent.
// 3. Consecutive parts are equal numbers of steps. They may cut an episode: no step is lost,
//    because a transition has both its states.

#include "model_internal.h"

#include <math.h>

int64_t rh_model__units(const rh_log *log, int64_t *longest)
{
    int64_t nunit = 0, size = 0;
    *longest = 0;
    for (int e = 0; e < log->nepisode; e++) {
        if (e == 0 || log->start[e]) {
            nunit++;
            size = 0;
        }
        size += log->first[e + 1] - log->first[e];
        *longest = size > *longest ? size : *longest;
    }
    return nunit;
}

static void draw_subset(int32_t *use, int64_t nuse, int64_t n, rh_rng *rng)
{
    int64_t chosen = 0;
    for (int64_t i = 0; i < n; i++)
        if (rh_rng_uniform(rng) * (double)(n - i) < (double)(nuse - chosen))
            use[chosen++] = (int32_t)i;
}

// Count in times (nepisode) how often each episode is drawn; returns the transitions drawn.
static int64_t draw_episodes(int32_t *times, const rh_log *log, rh_rng *rng)
{
    int64_t n = 0;
    for (int i = 0; i < log->nepisode; i++) {
        uint32_t e = rh_rng_below(rng, (uint32_t)log->nepisode);
        times[e]++;
        n += log->first[e + 1] - log->first[e];
    }
    return n;
}

static void repeat(int32_t *use, const int32_t *times, const rh_log *log)
{
    int64_t n = 0;
    for (int64_t i = 0; i < log->n; i++)
        for (int32_t t = 0; t < times[log->episode[i]]; t++)
            use[n++] = (int32_t)i;
}

static int64_t subset_size(int64_t nlog, double share)
{
    int64_t n = (int64_t)round(share * (double)nlog);
    return n > 1 ? n : 1;
}

bool rh_model__parts_differ(int64_t n, int64_t nepisode, rh_resample resample, double share)
{
    switch (resample) {
    case RH_RESAMPLE_ALL:
        break;
    case RH_RESAMPLE_SUBSET:
        return subset_size(n, share) < n;
    case RH_RESAMPLE_BOOTSTRAP:
        return nepisode > 1;
    case RH_RESAMPLE_PARTS:
        return true;
    }
    return false;
}

rh_status rh_model__draw_part(int32_t **use, int64_t *nuse, const rh_log *log,
                              const rh_model_options *opt, int member, rh_rng *rng,
                              rh_error *err)
{
    rh_status rc = RH_OK;
    rh_resample resample = opt->resample;
    int32_t *times = NULL;
    int64_t n = log->n, first = 0;
    if (resample == RH_RESAMPLE_BOOTSTRAP) {
        times = rh_alloc((size_t)log->nepisode, sizeof *times);
        if (!times)
            return rh_base__no_memory(err, "model");
        n = draw_episodes(times, log, rng);
    } else if (resample == RH_RESAMPLE_SUBSET) {
        n = subset_size(log->n, opt->share);
    } else if (resample == RH_RESAMPLE_PARTS) {
        first = log->n * member / opt->nmember;
        n = log->n * (member + 1) / opt->nmember - first;
        if (n < 1) // more members than transitions
            n = 1;
    }
    if (n > INT32_MAX - 1) {
        rc = rh_fail(err, RH_EINVAL, "model: %lld transitions in a member, expected at most %d",
                     (long long)n, INT32_MAX - 1);
        goto done;
    }

    int32_t *drawn = rh_alloc((size_t)n, sizeof *drawn);
    if (!drawn) {
        rc = rh_fail(err, RH_ENOMEM, "model: out of memory for %lld transitions", (long long)n);
        goto done;
    }
    switch (resample) {
    case RH_RESAMPLE_ALL:
    case RH_RESAMPLE_PARTS:
        for (int64_t i = 0; i < n; i++)
            drawn[i] = (int32_t)(first + i);
        break;
    case RH_RESAMPLE_SUBSET:
        draw_subset(drawn, n, log->n, rng);
        break;
    case RH_RESAMPLE_BOOTSTRAP:
        repeat(drawn, times, log);
        break;
    }
    *use = drawn;
    *nuse = n;

done:
    rh_free(times);
    return rc;
}
