// random.c - random settings: independent, or evenly spread points.
//
// 1. No setting is tried twice. In a finite space, a setting that came up before is drawn
//    again. After a thousand such draws in a row almost all settings have been tried; the rest
//    is then searched one by one from a random place. The search ends after the last setting.
// 2. Draw number i has its own random stream, so the settings do not depend on the batch size.
// 3. The settings do not depend on scores, so one ask proposes some hundreds.

#include "search_internal.h"

#include "search.h"
#include "sobol.h"

#include <math.h>

#define PATIENCE 1000 // draws in a row without a new setting
#define COUNTED 1e15  // largest space that is searched one by one

enum { POINTS, NPARAM };
enum { RANDOM, QUASI };
static const char *const points_name[] = {"random", "quasi"};

static const rh_param param[NPARAM] = {
    [POINTS] = {"points", "independent, or evenly spread (Sobol)", .lo = 0, .hi = 1,
                .initial = RANDOM, .fixed = true, .choice = points_name},
};

typedef struct draws {
    uint64_t n; // so far
    rh_sobol sobol;
} draws;

static rh_status random_init(rh_search *search, rh_error *err)
{
    (void)err;
    draws *c = search->self;
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, 1, 0);
    rh_sobol__init(&c->sobol, search->space.ndim, &rng);
    return RH_OK;
}

// Write the next draw to x (ndim).
static void draw(rh_search *search, double *x)
{
    draws *c = search->self;
    double u[RH_MAX_DIM];
    uint64_t i = c->n++;
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, 0, i);
    for (int k = 0; k < search->space.ndim; k++)
        u[k] = rh_rng_uniform(&rng);
    if ((int)search->param[POINTS] == QUASI)
        rh_sobol__at(&c->sobol, (uint32_t)i, u);
    rh_space__place(&search->space, u, x);
}

// Write a new setting to x (ndim); false: there is none.
static bool next(rh_search *search, double *x)
{
    double count = rh_space__count(&search->space);
    for (int i = 0; i < PATIENCE; i++) {
        draw(search, x);
        if (rh_search__find(search, x) < 0)
            return true;
    }
    if (count > COUNTED)
        return false;

    // one by one, from a random place
    rh_rng rng =
        rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, 2, (uint64_t)search->nsetting);
    int64_t n = (int64_t)count, from = (int64_t)floor(rh_rng_uniform(&rng) * count);
    for (int64_t i = 0; i < n; i++) {
        rh_space__at(&search->space, (from + i) % n, x);
        if (rh_search__find(search, x) < 0)
            return true;
    }
    return false;
}

static rh_status random_ask(rh_search *search, rh_error *err)
{
    int most = rh_search__most(search), chunk = RH_SEARCH__CHUNK;
    double x[RH_MAX_DIM];
    rh_status rc = search->nsetting ? RH_OK : rh_search__ask_first(search, err);
    if (search->opt.chunk > 0 && search->opt.chunk < chunk)
        chunk = search->opt.chunk;
    for (int i = search->nasked; !rc && i < chunk && search->nsetting < most && next(search, x);
         i++)
        rc = rh_search__ask_new(search, x, search->opt.nrun, err);
    return rc;
}

static const rh_search_calls calls = {
    .self_size = sizeof(draws),
    .init = random_init,
    .ask = random_ask,
};

const rh_search_type rh_search_random = {
    .name = "random",
    .about = "random or evenly spread settings; the best of those tried",
    .param = param,
    .nparam = NPARAM,
    .calls = &calls,
};
