// search_sample.h - spaces to search, and something to search for.

#ifndef REHEARSE_SEARCH_SAMPLE_H
#define REHEARSE_SEARCH_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "search/search.h"
#include "search/search_internal.h"

#include <math.h>
#include <string.h>

static const double sample_list[] = {0.01, 0.03, 0.1, 0.3};
static const double sample_names[] = {2.0, 0.0, 7.0};
static const double sample_one[] = {5.0};

enum { FINITE, MIXED, LINE, ALONE, NSAMPLE };

// Spaces of 36 settings, of all kinds of dimensions, of one dimension, of one setting.
static inline rh_space sample_space(int which)
{
    rh_dim list = {"list", RH_DIM_LIST, RH_LOG, .value = sample_list, .nvalue = 4};
    rh_dim names = {"names", RH_DIM_NAMES, .value = sample_names, .nvalue = 3};
    rh_dim one = {"one", RH_DIM_LIST, .value = sample_one, .nvalue = 1};
    rh_dim whole = {"whole", RH_DIM_RANGE, .lo = 0.0, .hi = 1.0, .step = 0.5};
    rh_dim log = {"log", RH_DIM_RANGE, RH_LOG, .lo = 1e-3, .hi = 10.0};
    rh_dim any = {"any", RH_DIM_RANGE, .lo = -2.0, .hi = 3.0};
    rh_dim count = {"count", RH_DIM_RANGE, RH_LOG, .lo = 1.0, .hi = 100.0, .step = 1.0};
    switch (which) {
    case FINITE:
        return (rh_space){{list, names, whole}, 3};
    case MIXED:
        return (rh_space){{log, names, any, one, count, list}, 6};
    case LINE:
        return (rh_space){{any}, 1};
    default:
        return (rh_space){{one}, 1};
    }
}

// The score of run r of x: best in the middle of the space, and of the names by their value.
// Random streams is mostly that of the run.
static inline double sample_score(const rh_space *space, const double *x, int r)
{
    double u[RH_MAX_DIM], score = 0.0;
    rh_space__unit(space, x, u);
    rh_rng shared = rh_rng_stream(77, RH_STREAM_NOISE, 0, (uint64_t)r);
    rh_rng own = rh_rng_stream(78, RH_STREAM_NOISE, (uint64_t)(1e6 * u[0]), (uint64_t)r);
    for (int k = 0; k < space->ndim; k++)
        score -=
            space->dim[k].kind == RH_DIM_NAMES ? 0.1 * x[k] : 4.0 * (u[k] - 0.6) * (u[k] - 0.6);
    return score + rh_rng_uniform(&shared) + 0.1 * rh_rng_uniform(&own);
}

enum { SAMPLE_RUNS = 100 };

// Tell one thing asked for.
static inline rh_status sample_tell(rh_search *search, rh_search__asked asked, rh_error *err)
{
    double score[SAMPLE_RUNS], value = 0.0, noise = 0.0;
    const double *x = rh_search__proposed(search, asked.setting);
    assert_in_range(asked.nrun, 1, SAMPLE_RUNS);
    for (int r = 0; r < asked.nrun; r++) {
        score[r] = sample_score(&search->space, x, r);
        value += score[r] / asked.nrun;
    }
    for (int r = 0; r < asked.nrun; r++)
        noise += (score[r] - value) * (score[r] - value) / asked.nrun / (asked.nrun - 0.5);
    rh_search__told told = {
        asked.setting, asked.nrun, score, value, asked.nrun > 1 ? noise : NAN, 0};
    return rh_search__tell(search, &told, err);
}

#endif
