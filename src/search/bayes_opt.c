// bayes_opt.c - Bayesian optimisation as in the paper's package.
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
// 5. Random streams are those of `bayes`, whose numbers that are not needed here are drawn and
//    left: results of before it was a method of its own stay the same.

#include "base/base.h"
#include "base/text.h"
#include "bayes.h"

#include <math.h>
#include <string.h>

#define LARGEST 5000 // settings; the factor then takes 200 MB
#define FIRST 5      // settings of the first design
#define STARTS 5     // random starts of a fit
#define FIT 100      // evaluations from each
#define SPREAD 10000
#define CLIMBS 10
#define STEPS 200
#define CHUNK 64

enum { KAPPA, NPARAM };
static const rh_param bayes_opt_param[NPARAM] = {
    [KAPPA] = {"kappa", "standard deviations that are added to the mean", .lo = 0.0,
               .hi = 100.0, .initial = 2.576},
};

// Random streams.
enum { STREAM_NEXT, STREAM_DESIGN, STREAM_FITS };

// self is the process, over raw numbers.
static rh_status bayes_opt_init(rh_search *search, rh_error *err)
{
    rh_gp *gp = search->self;
    int group[RH_MAX_DIM] = {0};
    bool named[RH_MAX_DIM];
    if (rh_search__most(search) > LARGEST)
        return rh_fail(err, RH_EINVAL,
                       "bayes_opt: %d settings to try, expected at most %d: method random or "
                       "cem",
                       rh_search__most(search), LARGEST);
    for (int k = 0; k < search->space.ndim; k++)
        named[k] = search->space.dim[k].kind == RH_DIM_NAMES;
    return rh_gp__init(gp, search->space.ndim, 1, group, named, err);
}

static void bayes_opt_clear(rh_search *search)
{
    rh_gp__clear(search->self);
}

// ---------------------------------------------------------------------------- proposals

// A random setting, uniform in raw numbers.
static void draw_anywhere(const rh_space *space, rh_rng *rng, double *x)
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

// Write the next setting to x (ndim); *found is false when all have been tried.
static rh_status propose(const rh_search *search, double *x, bool *found, rh_error *err)
{
    const rh_space *space = &search->space;
    rh_bayes__aim aim = {.gp = search->self, .kappa = search->param[KAPPA]};
    int ndim = space->ndim, n = 0;
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, STREAM_NEXT,
                               (uint64_t)search->nsetting);
    double at[CHUNK * RH_MAX_DIM], worth[CHUNK], lo[RH_MAX_DIM], hi[RH_MAX_DIM];
    rh_bayes__kept best = {.ncol = ndim, .most = 1};
    for (int i = 0; i < SPREAD; i++) {
        draw_anywhere(space, &rng, at + n * ndim);
        if (rh_search__find(search, at + n * ndim) < 0)
            n++;
        if (n == CHUNK || i == SPREAD - 1) {
            rh_bayes__worth(&aim, n, at, worth);
            for (int j = 0; j < n; j++)
                rh_bayes__keep(&best, at + j * ndim, worth[j]);
            n = 0;
        }
    }

    // lists and names keep their values
    for (int c = 0; c < CLIMBS; c++) {
        draw_anywhere(space, &rng, at);
        for (int k = 0; k < ndim; k++) {
            bool range = space->dim[k].kind == RH_DIM_RANGE;
            lo[k] = range ? space->dim[k].lo : at[k];
            hi[k] = range ? space->dim[k].hi : at[k];
        }
        rh_status rc = rh_bayes__climb(&aim, lo, hi, STEPS, at, worth, err);
        if (rc)
            return rc;
        settle(space, at);
        rh_bayes__worth(&aim, 1, at, worth);
        if (rh_search__find(search, at) < 0)
            rh_bayes__keep(&best, at, worth[0]);
    }
    *found = best.n > 0;
    if (*found)
        memcpy(x, best.z[0], (size_t)ndim * sizeof *x);
    return RH_OK;
}

static rh_status ask_design(rh_search *search, rh_error *err)
{
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, STREAM_DESIGN, 0);
    int half = (rh_search__most(search) + 1) / 2, n = FIRST < half ? FIRST : half;
    rh_status rc = RH_OK;
    for (int k = 0; k < search->space.ndim; k++) // decision 5
        rh_rng__bits(&rng);

    // in a small space several points may give one setting: the design is then smaller
    for (int i = 0; i < 20 * n && search->nsetting < n && !rc; i++) {
        double x[RH_MAX_DIM];
        draw_anywhere(&search->space, &rng, x);
        if (rh_search__find(search, x) < 0)
            rc = rh_search__ask_new(search, x, search->opt.nrun, err);
    }
    return rc;
}

// ---------------------------------------------------------------------------- the process

// The first n settings with their values, of mean 0 and variance 1.
static void put_settings(const rh_search *search, int n)
{
    rh_gp *gp = search->self;
    double worst = INFINITY, best = -INFINITY, mean = 0.0, square = 0.0;
    gp->n = gp->nfactor = 0;
    for (int i = 0; i < n; i++) {
        double value = search->setting[i].value;
        rh_gp__put(gp, search->setting[i].x, value, 0.0);
        worst = isfinite(value) ? fmin(worst, value) : worst;
        best = isfinite(value) ? fmax(best, value) : best;
    }
    for (int i = 0; i < n; i++) {
        gp->y[i] = isfinite(gp->y[i]) ? gp->y[i] : rh_gp__broken(worst, best);
        mean += gp->y[i] / n;
    }
    for (int i = 0; i < n; i++)
        square += (gp->y[i] - mean) * (gp->y[i] - mean) / n;
    double scale = square > 0.0 && isfinite(square) ? sqrt(square) : 1.0;
    for (int i = 0; i < n; i++)
        gp->y[i] = (gp->y[i] - mean) / scale;
}

static rh_status fit(const rh_search *search, int n, int batch, rh_error *err)
{
    rh_gp *gp = search->self;
    enum { NTHETA = RH_GP_LENGTH + 1 };
    const rh_gp__prior prior[NTHETA] = {
        [RH_GP_VARIANCE] = {0.0, 0.0, 0.0, INFINITY},
        [RH_GP_NOISE] = {rh_ln(1e-6), rh_ln(1e-6), rh_ln(1e-6), INFINITY},
        [RH_GP_LENGTH] = {rh_ln(1e-5), rh_ln(1e5), 0.0, INFINITY},
    };
    double start[1 + STARTS][NTHETA];
    rh_status rc = n + batch <= gp->room ? RH_OK : rh_gp__reserve(gp, n + batch + CHUNK, err);
    if (rc)
        return rc;
    put_settings(search, n);
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, STREAM_FITS, (uint64_t)n);
    for (int i = 0; i < NTHETA; i++)
        start[0][i] = prior[i].at;
    for (int s = 1; s <= STARTS; s++)
        for (int i = 0; i < NTHETA; i++) {
            double left[2]; // decision 5
            rh_rng_normal(&rng, left);
            start[s][i] = rh_rng_range(&rng, prior[i].lo, prior[i].hi);
        }
    return rh_gp__fit(gp, prior, 1 + STARTS, start[0], FIT, err);
}

// x with its expected value as the result.
static void assume(const rh_search *search, const double *x)
{
    rh_gp *gp = search->self;
    double mean;
    rh_gp__predict(gp, 1, x, &mean, NULL);
    rh_gp__put(gp, x, mean, 0.0);
    rh_gp__extend(gp);
    rh_gp__weigh(gp);
}

static rh_status bayes_opt_ask(rh_search *search, rh_error *err)
{
    int n = search->nsetting, left = rh_search__most(search) - n;
    if (n == 0)
        return ask_design(search, err);
    int batch = search->opt.batch < left ? search->opt.batch : left;
    if (batch <= 0)
        return RH_OK;
    bool known = rh_search__known(search, n + batch - 1);
    rh_status rc = known ? RH_OK : fit(search, n, batch, err);
    return rc ? rc : rh_bayes__ask_batch(search, batch, !known, propose, assume, err);
}

static const rh_search_calls bayes_opt_calls = {
    .self_size = sizeof(rh_gp),
    .init = bayes_opt_init,
    .ask = bayes_opt_ask,
    .clear = bayes_opt_clear,
};

const rh_search_type rh_search_bayes_opt = {
    .name = "bayes_opt",
    .about = "Bayesian optimisation as in the package bayes_opt 1.2.0, which the paper used",
    .param = bayes_opt_param,
    .nparam = NPARAM,
    .calls = &bayes_opt_calls,
};
