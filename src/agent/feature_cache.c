// feature_cache.c - the active features of every fixed observation of an environment.
//
// Where all that is ever shown is known beforehand, an observation is coded once for all agents
// and runs, and a step looks it up.
//
// 1. A row begins at a cache line and has room for whole lines, so that vectors may read over
//    its end.
// 2. Features are kept as they are used, in 32 bits. Half of that would take half the memory,
//    and 2 to 5 % longer a step, since rows would have to be widened.
// 3. Features that no fixed observation has are not numbered away. Of the 20,304 of Acrobot a
// log of 5,000
//    steps has 12,535, but a feature's weights fill a cache line whoever is next to it:
//    numbered densely, in order of appearance, a step took between 1 % more and 4 % less time.
//
// Measured with bench/bench_model.c on one core of a 2.3 GHz Xeon: with an feature cache a step
// of esarsa takes 5 % less time in the model of an Acrobot log of 5,000 steps, 6 % less in that
// of Puddle World, and 3 % in that of Cartpole.

#include "agent_internal.h"

#define LINE 16 // numbers of a cache line

rh_status rh_page__create(rh_page **out, const rh_tiles *tiles, const double *entry, int32_t n,
                          size_t most, const char *owner, rh_error *err)
{
    size_t stride = ((size_t)tiles->nactive + LINE - 1) / LINE * LINE;
    size_t bytes = stride * sizeof(int32_t);
    if (most < sizeof(rh_page) || (most - sizeof(rh_page)) / bytes < (size_t)n)
        return RH_OK;
    rh_page *page = rh_alloc(1, sizeof *page + (size_t)n * bytes);
    if (!page)
        return rh_fail(err, RH_ENOMEM,
                       "%s: out of memory for the features of %d fixed observations", owner,
                       (int)n);
    page->stride = (int64_t)stride;
    for (int32_t i = 0; i < n; i++)
        rh_tiles__active(tiles, entry + (size_t)i * (size_t)tiles->nobs,
                         page->row + (size_t)i * stride);
    *out = page;
    return RH_OK;
}

const int32_t *rh_page__row(const rh_page *page, int32_t entry)
{
    return page->row + page->stride * entry;
}
