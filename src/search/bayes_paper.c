// bayes_paper.c - the next setting as in the paper's package.
//
// bayes_opt 1.2.0 (Nogueira 2014), which the paper used with its defaults: an isotropic Matern
// 5/2 process over raw numbers, without amplitude, noise 1e-6 of normalised values, its length
// scale by marginal likelihood within 1e-5 to 1e5 from 1 and five random starts; upper
// confidence bound with kappa 2.576; five random settings first; the bound at 10,000 random
// points, then local maximisation from 10 new ones; the answer is the best setting observed.
//
// 1. Uniform in raw numbers, whatever the scale: an alpha from 1e-4 to 1 is above 0.1 nine
//    times in ten. That is the published procedure.
// 2. Derivatives are exact where the package takes differences, and its random numbers are not
//    available: the procedure is the same, the digits are not.
// 3. When the package proposes a setting again, it uses the stored value; here the best new
//    setting is proposed.
// 4. Steps, lists and names, which the package did not have, are rounded to the nearest value.

#include "bayes.h"

#include <math.h>
#include <string.h>

#define SPREAD 10000
#define CLIMBS 10
#define STEPS 200
#define CHUNK 64

void rh_bayes__anywhere(const rh_space *space, rh_rng *rng, double *x)
{
    for (int k = 0; k < space->ndim; k++) {
        const rh_dim *dim = &space->dim[k];
        double u = rh_rng_uniform(rng);
        x[k] = dim->kind == RH_DIM_RANGE
                   ? rh_dim__nearest(dim, dim->lo + u * (dim->hi - dim->lo))
                   : dim->value[(int)(u * dim->nvalue)];
    }
}

// Round x to a setting in its dimensions with steps.
static void settle(const rh_space *space, double *x)
{
    for (int k = 0; k < space->ndim; k++)
        if (space->dim[k].kind == RH_DIM_RANGE)
            x[k] = rh_dim__nearest(&space->dim[k], x[k]);
}

rh_status rh_bayes__next_as_paper(const rh_search *search, const rh_bayes__aim *aim, double *x,
                                  bool *found, rh_error *err)
{
    const rh_space *space = &search->space;
    int ndim = space->ndim, n = 0;
    rh_rng rng =
        rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, 0, (uint64_t)search->nsetting);
    double at[CHUNK * RH_MAX_DIM], worth[CHUNK], lo[RH_MAX_DIM], hi[RH_MAX_DIM];
    rh_bayes__kept best = {.ncol = ndim, .most = 1};
    for (int i = 0; i < SPREAD; i++) {
        rh_bayes__anywhere(space, &rng, at + n * ndim);
        if (rh_search__find(search, at + n * ndim) < 0)
            n++;
        if (n == CHUNK || i == SPREAD - 1) {
            rh_bayes__worth(aim, n, at, worth);
            for (int j = 0; j < n; j++)
                rh_bayes__keep(&best, at + j * ndim, worth[j]);
            n = 0;
        }
    }

    // lists and names keep their values
    for (int c = 0; c < CLIMBS; c++) {
        rh_bayes__anywhere(space, &rng, at);
        for (int k = 0; k < ndim; k++) {
            bool range = space->dim[k].kind == RH_DIM_RANGE;
            lo[k] = range ? space->dim[k].lo : at[k];
            hi[k] = range ? space->dim[k].hi : at[k];
        }
        rh_status rc = rh_bayes__climb(aim, lo, hi, STEPS, at, worth, err);
        if (rc)
            return rc;
        settle(space, at);
        rh_bayes__worth(aim, 1, at, worth);
        if (rh_search__find(search, at) < 0)
            rh_bayes__keep(&best, at, worth[0]);
    }
    *found = best.n > 0;
    if (*found)
        memcpy(x, best.z[0], (size_t)ndim * sizeof *x);
    return RH_OK;
}
