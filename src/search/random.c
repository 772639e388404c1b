// random.c - settings by chance: independent ones, or points that fill the space evenly.
//
// 1. No setting is tried twice. In a finite space one that came up before is drawn again;
//    when a thousand draws in a row have brought nothing new, almost all have been tried, and
//    the rest is looked for one by one, from a random place on. After the last it is over.
// 2. Draw number i has a stream of its own, so that what is tried does not depend on how many
//    are asked for at a time.
// 3. The settings do not depend on scores, so some hundreds are asked for at a time.

#include "search_internal.h"

#include "sobol.h"

#include <math.h>

#define PATIENCE 1000 // draws in a row that may bring nothing new
#define COUNTED 1e15  // settings of a space that can be gone through

enum { POINTS, NPARAM };
enum { RANDOM, QUASI };
static const char *const points_name[] = {"random", "quasi"};

static const rh_param param[NPARAM] = {
    [POINTS] = {"points", "independent, or spread evenly (Sobol)", .lo = 0, .hi = 1,
                .initial = RANDOM, .fixed = true, .choice = points_name},
};

typedef struct chance {
    uint64_t ndraw; // draws so far
    rh_sobol sobol;
} chance;

static rh_status random_init(rh_search *search, rh_error *err)
{
    (void)err;
    chance *c = search->self;
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, 1, 0);
    rh_sobol__init(&c->sobol, search->space.ndim, &rng);
    return RH_OK;
}

// The next draw into x (ndim).
static void draw(rh_search *search, double *x)
{
    chance *c = search->self;
    double u[RH_MAX_DIM];
    uint64_t i = c->ndraw++;
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, 0, i);
    for (int k = 0; k < search->space.ndim; k++)
        u[k] = rh_rng_uniform(&rng);
    if ((int)search->param[POINTS] == QUASI)
        rh_sobol__at(&c->sobol, (uint32_t)i, u);
    rh_space_place(&search->space, u, x);
}

// A setting not tried yet into x (ndim); false: there is none.
static bool next(rh_search *search, double *x)
{
    double count = rh_space_count(&search->space);
    for (int i = 0; i < PATIENCE; i++) {
        draw(search, x);
        if (rh_search__find(search, x) < 0)
            return true;
    }
    if (count > COUNTED)
        return false;

    // one by one, from a random place on
    rh_rng rng =
        rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, 2, (uint64_t)search->nsetting);
    int64_t n = (int64_t)count, from = (int64_t)floor(rh_rng_uniform(&rng) * count);
    for (int64_t i = 0; i < n; i++) {
        rh_space_at(&search->space, (from + i) % n, x);
        if (rh_search__find(search, x) < 0)
            return true;
    }
    return false;
}

static rh_status random_ask(rh_search *search, rh_error *err)
{
    int most = rh_search__most(search);
    double x[RH_MAX_DIM];
    rh_status rc = RH_OK;
    for (int i = 0; !rc && i < RH_SEARCH__CHUNK && search->nsetting < most && next(search, x);
         i++)
        rc = rh_search__ask_new(search, x, search->opt.nrun, err);
    return rc;
}

static const rh_search_calls calls = {
    .self_size = sizeof(chance),
    .init = random_init,
    .ask = random_ask,
};

const rh_search_type rh_search_random = {
    .name = "random",
    .about = "settings by chance, or spread evenly; the best of those tried",
    .param = param,
    .nparam = NPARAM,
    .calls = &calls,
};
