// bayes.c - Bayesian optimisation: a Gaussian process chooses the next setting.
//
// The first design spreads over the space. Then, for every proposal, the process is updated
// with the results, and the setting with the highest acquisition function is proposed.
//
//     value v of a setting  ->  p = v above the fence f, f - s t / (1 + t) with t = (f - v) / s
//     below
//                               y = (p - shift) / scale, with the variance of p as its noise
//     prior                     ln l ~ N(sqrt 2 - 3 + ln(d) / 2, 3),  ln a^2 ~ N(0, 4)
//
// 1. Hyperparameters are fitted again when the number of settings has grown by a tenth, from
//    their last values and from the prior's mean. In between, the factor grows by a row.
// 2. The prior of length scales grows with the root of the number of dimensions, as distances
//    do (Hvarfner et al. 2024). Without a prior, ten points fit any length.
// 3. A setting with runs that broke down counts as slightly worse than the worst of the
//    others, without noise: how bad it is remains unknown, but the search should stay away. Its
//    own value is the penalty of a broken run, which may be a thousand times the differences
//    between sound settings. As a target it would set the scale of the process, and with the
//    variance of a penalty it would even be predicted near the mean and lead.
// 4. Unknown noise (NAN) is fitted as a noise common to all settings, in addition to known
//    noise. If all noise is 0, there is only the jitter against rounding.
// 5. A batch assumes the results that are still missing: each proposal enters the process with
//    its expected value (Ginsbourger et al. 2010), so the next one is elsewhere.
// 6. The answer is the setting of best expected value; the best observed value is partly noise.
// 7. With the default `mixed`, every second proposal excludes everything within 1.5 length
//    scales of the best setting: what is best elsewhere? Length scales are then at most 0.6 of
//    their prior mean, since a dimension without effect near the best may have one elsewhere.
//    Expected improvement alone stays at the first maximum: on Hartmann-6, 3 of 12 searches
//    from random designs still had the second highest maximum after 200 settings. With this
//    and an even design, none of 40 did; 1.5 and 0.6 were chosen there.
// 8. A few huge values do not set the scale either: below the fence f a value counts at most s
//    less than f. f = median - 3 s, where s is the smaller of the quartile distance and twice
//    the distance from median to best, over the first design, which covers the space; s = 0
//    pulls nothing. Of normal values 1 in 30,000 lies below f, so ordinary problems are left
//    alone, and half of the values may be huge before s is. The order stays. A logarithm keeps
//    it too, but leaves a cliff of 14 s where a penalty is a million times s: of searches of
//    Branin with a quarter of the box cut off, 4 of 5 ended below -0.05, and 3 of 10 with this.
// 9. `compat: paper` is the published procedure; see bayes_paper.c.

#include "bayes.h"
#include "base/base_internal.h"
#include "base/text.h"
#include "sobol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 5000 // settings; the factor then takes 200 MB
#define STARTS 8     // starts of a fit
#define FEW 50       // settings below which some starts are random
#define REACH 1.5    // length scales around the best setting that are excluded
#define FENCE 3.0    // decision 8: scales below the median that are believed
#define DOUBT 0.6    // longest length scale elsewhere, relative to the prior mean

static const char *const compat_name[] = {
    [RH_BAYES_NONE] = "none", [RH_BAYES_PAPER] = "paper", NULL};
static const char *const acquisition_name[] = {
    [RH_BAYES_MIXED] = "mixed", [RH_BAYES_EI] = "ei", [RH_BAYES_UCB] = "ucb", NULL};

static const rh_param bayes_param[RH_BAYES_NPARAM] = {
    [RH_BAYES_COMPAT] = {"compat", "follow a published procedure exactly", .hi = 1.0,
                         .whole = true, .choice = compat_name},
    [RH_BAYES_ACQUISITION] = {"acquisition", "acquisition function", .hi = 2.0, .whole = true,
                              .choice = acquisition_name},
    [RH_BAYES_KAPPA] = {"kappa", "standard deviations that ucb adds to the mean", .lo = 0.0,
                        .hi = 100.0, .initial = 2.576},
    [RH_BAYES_FIRST] = {"first", "settings of the first design per dimension", .lo = 0.5,
                        .hi = 100.0, .initial = 3.0},
};

// Random streams, besides number 0 of bayes_next.c.
enum { STREAM_DESIGN = 1, STREAM_FITS };

static bool as_paper(const rh_search *search)
{
    return search->param[RH_BAYES_COMPAT] == RH_BAYES_PAPER;
}

// Settings of the first design.
static int first_design(const rh_search *search)
{
    int ndim = 0, most = rh_search__most(search);
    for (int k = 0; k < search->space.ndim; k++)
        ndim += rh_dim_count(&search->space.dim[k]) > 1.0;
    double want = as_paper(search) ? 5.0 : ceil(ndim * search->param[RH_BAYES_FIRST]);
    return (int)fmin(fmax(want, 4.0), (most + 1) / 2);
}

// ---------------------------------------------------------------------------- the process

static rh_status bayes_init(rh_search *search, rh_error *err)
{
    rh_bayes *b = search->self;
    int ndim = search->space.ndim, group[RH_MAX_DIM] = {0};
    bool named[RH_MAX_DIM];
    if (rh_search__most(search) > LARGEST)
        return rh_fail(err, RH_EINVAL,
                       "bayes: %d settings to try, expected at most %d: method random or cem",
                       rh_search__most(search), LARGEST);
    for (int k = 0; k < ndim; k++) {
        group[k] = as_paper(search) ? 0 : k;
        named[k] = search->space.dim[k].kind == RH_DIM_NAMES;
    }
    b->scale = 1.0;
    b->fence = -INFINITY;
    b->gp.fit_mean = !as_paper(search);
    b->gp.jitter = as_paper(search) ? 0.0 : 1e-10;
    return rh_gp__init(&b->gp, ndim, as_paper(search) ? 1 : ndim, group, named, err);
}

static void bayes_clear(rh_search *search)
{
    rh_bayes *b = search->self;
    rh_gp__clear(&b->gp);
}

// Coordinates of a setting in the process.
static void coordinates(const rh_search *search, const double *x, double *z)
{
    if (as_paper(search))
        memcpy(z, x, (size_t)search->space.ndim * sizeof *z);
    else
        rh_space_unit(&search->space, x, z);
}

// Logarithm of the most likely length scale a priori.
static double usual_length(int ndim)
{
    return sqrt(2.0) - 3.0 + 0.5 * rh_ln(ndim);
}

static void renew(rh_gp *gp, const double *theta)
{
    rh_gp__set_theta(gp, theta);
    rh_gp__factor(gp);
    rh_gp__weigh(gp);
}

double rh_bayes__pull(const rh_bayes *b, double value, double *slope)
{
    if (!(value < b->fence)) {
        *slope = 1.0;
        return value;
    }
    double far = (b->fence - value) / b->slack;
    *slope = 1.0 / (1.0 + far) / (1.0 + far);
    return b->fence - b->slack * far / (1.0 + far);
}

double rh_bayes__push(const rh_bayes *b, double pulled)
{
    if (!(pulled < b->fence))
        return pulled;
    double part = fmin((b->fence - pulled) / b->slack, 1.0 - 1e-12);
    return b->fence - b->slack * part / (1.0 - part);
}

// Whether the process gets the value of setting i (decision 3).
static bool has_value(const rh_search *search, int i)
{
    const rh_bayes *b = search->self;
    const rh_search__setting *s = &search->setting[i];
    return isfinite(s->value) && (as_paper(search) || !s->broken || !b->sound);
}

// The value used for settings that broke down.
static double worse_than_all(const rh_search *search, int n)
{
    double worst = INFINITY, best = -INFINITY, slope;
    for (int i = 0; i < n; i++) {
        if (!has_value(search, i))
            continue;
        double v = rh_bayes__pull(search->self, search->setting[i].value, &slope);
        worst = fmin(worst, v);
        best = fmax(best, v);
    }
    return rh_gp__broken(worst, best);
}

// Add the new settings to the process; update all values and noises, whose scale may change.
static void take_in(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    double z[RH_MAX_DIM], slope = 1.0;
    b->sound = false;
    for (int i = 0; i < n; i++)
        b->sound |= !search->setting[i].broken;
    double broken = worse_than_all(search, n);
    b->gp.n = b->nput;
    for (int i = b->nput; i < n; i++) {
        coordinates(search, search->setting[i].x, z);
        rh_gp__put(&b->gp, z, 0.0, 0.0);
    }
    b->nput = n;
    for (int i = 0; i < n; i++) {
        const rh_search__setting *s = &search->setting[i];
        bool known = isfinite(s->noise) && has_value(search, i) && !as_paper(search);
        double p = has_value(search, i) ? rh_bayes__pull(b, s->value, &slope) : broken;
        b->gp.y[i] = (p - b->shift) / b->scale;
        b->gp.noise[i] = known ? slope * slope * s->noise / (b->scale * b->scale) : 0.0;
    }
}

// Set the fence from the sound settings of the first design (decision 8).
static void set_fence(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    double *sorted = b->gp.y, best = -INFINITY; // scratch until the values are taken in
    int ndesign = first_design(search), count = 0;
    b->fence = -INFINITY;
    for (int i = 0; i < n && !as_paper(search); i++) {
        if (search->setting[i].broken)
            continue;
        best = fmax(best, search->setting[i].value);
        if (i < ndesign)
            sorted[count++] = search->setting[i].value;
    }
    if (count < 4)
        return;
    qsort(sorted, (size_t)count, sizeof *sorted, rh_base__ascending);
    double median = rh_base__quantile_sorted(sorted, count, 0.5),
           apart = rh_base__quantile_sorted(sorted, count, 0.75) -
                   rh_base__quantile_sorted(sorted, count, 0.25);
    b->slack = fmin(apart, 2.0 * (best - median));
    if (b->slack > 0.0)
        b->fence = median - FENCE * b->slack;
}

// Set shift and scale so that the values have mean 0 and variance 1.
static void standardise(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    b->shift = 0.0;
    b->scale = 1.0;
    set_fence(search, n);
    take_in(search, n);
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < n; i++)
        mean += b->gp.y[i] / n;
    for (int i = 0; i < n; i++)
        square += (b->gp.y[i] - mean) * (b->gp.y[i] - mean) / n;
    b->shift = mean;
    b->scale = square > 0.0 && isfinite(square) ? sqrt(square) : 1.0;
    take_in(search, n);
}

// The prior of the hyperparameters.
static void set_prior(const rh_search *search, int n, rh_gp__prior *prior)
{
    rh_bayes *b = search->self;
    bool unknown = false;
    b->noisy = false;
    for (int i = 0; i < n; i++) {
        const rh_search__setting *s = &search->setting[i];
        unknown |= has_value(search, i) && isnan(s->noise);
        b->noisy |= has_value(search, i) && s->noise != 0.0;
    }
    if (as_paper(search)) {
        b->noisy = false;
        prior[RH_GP_VARIANCE] = (rh_gp__prior){0.0, 0.0, 0.0, INFINITY};
        prior[RH_GP_NOISE] = (rh_gp__prior){rh_ln(1e-6), rh_ln(1e-6), rh_ln(1e-6), INFINITY};
        prior[RH_GP_LENGTH] = (rh_gp__prior){rh_ln(1e-5), rh_ln(1e5), 0.0, INFINITY};
        return;
    }

    prior[RH_GP_VARIANCE] = (rh_gp__prior){rh_ln(1e-2), rh_ln(1e4), 0.0, 2.0};
    prior[RH_GP_NOISE] = unknown ? (rh_gp__prior){rh_ln(1e-8), 0.0, rh_ln(1e-2), 2.0}
                                 : (rh_gp__prior){rh_ln(1e-8), 0.0, rh_ln(1e-6), 3.0};
    if (!b->noisy)
        prior[RH_GP_NOISE] = (rh_gp__prior){-30.0, -30.0, -30.0, INFINITY};
    for (int g = 0; g < b->gp.ngroup; g++)
        prior[RH_GP_LENGTH + g] =
            (rh_gp__prior){rh_ln(1e-2), rh_ln(1e3), usual_length(b->gp.ncol), sqrt(3.0)};
}

// Fit the process to the first n settings: from its last hyperparameters, from the prior's
// mean, and with few settings also from random points.
static rh_status fit(const rh_search *search, int n, rh_error *err)
{
    rh_bayes *b = search->self;
    rh_gp__prior prior[RH_GP_MOST];
    double start[STARTS * RH_GP_MOST], *at = start;
    int ntheta = RH_GP_LENGTH + b->gp.ngroup;
    bool paper = as_paper(search);
    standardise(search, n);
    set_prior(search, n, prior);
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, STREAM_FITS, (uint64_t)n);
    if (b->nfit && !paper) {
        memcpy(at, b->gp.theta, (size_t)ntheta * sizeof *at);
        at += ntheta;
    }
    for (int i = 0; i < ntheta; i++)
        *at++ = prior[i].at;
    for (int s = paper ? 5 : n < FEW ? 2 : 0; s > 0; s--) {
        for (int i = 0; i < ntheta; i++) {
            double z[2];
            rh_rng_normal(&rng, z);
            if (paper)
                *at++ = rh_rng_range(&rng, prior[i].lo, prior[i].hi);
            else
                *at++ = prior[i].at + (isinf(prior[i].sd) ? 0.0 : 0.7 * prior[i].sd * z[0]);
        }
    }
    b->nfit = n;
    return rh_gp__fit(&b->gp, prior, (int)(at - start) / ntheta, start, paper ? 100 : 40, err);
}

// Update the process to the first n settings; fit the hyperparameters when due.
static rh_status bring_up(const rh_search *search, int n, rh_error *err)
{
    rh_bayes *b = search->self;
    bool due = b->nfit == 0 || n > b->nfit + b->nfit / 10;
    if (due || (as_paper(search) && n > b->nfit))
        return fit(search, n, err);
    take_in(search, n);
    rh_gp__extend(&b->gp);
    rh_gp__weigh(&b->gp);
    return RH_OK;
}

// ---------------------------------------------------------------------------- proposals

static rh_status ask_design(rh_search *search, int n, rh_error *err)
{
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, STREAM_DESIGN, 0);
    rh_sobol sobol;
    rh_status rc = RH_OK;
    rh_sobol__init(&sobol, search->space.ndim, &rng);

    // in a small space several points may give one setting: the design is then smaller
    for (int i = 0; i < 20 * n && search->nsetting < n && !rc; i++) {
        double u[RH_MAX_DIM], x[RH_MAX_DIM];
        rh_sobol__at(&sobol, (uint32_t)i, u);
        if (as_paper(search))
            rh_bayes__anywhere(&search->space, &rng, x);
        else
            rh_space__place(&search->space, u, x);
        if (rh_search__find(search, x) < 0)
            rc = rh_search__ask_new(search, x, search->opt.nrun, err);
    }
    return rc;
}

// Set the aim: improve on the best setting, or with `elsewhere` on the best one away from it.
static void take_aim(const rh_search *search, bool elsewhere, rh_bayes__aim *aim)
{
    rh_bayes *b = search->self;
    int at = 0;
    *aim = (rh_bayes__aim){.gp = &b->gp, .kappa = search->param[RH_BAYES_KAPPA]};
    aim->ei = search->param[RH_BAYES_ACQUISITION] != RH_BAYES_UCB && !as_paper(search);
    for (int turn = 0; turn < 2; turn++) {
        aim->best = -INFINITY;
        for (int i = 0; i < b->gp.n; i++) { // assumed results too
            const double *z = b->gp.z + (size_t)i * (size_t)b->gp.ncol;
            double mean = b->gp.y[i];
            if (b->noisy)
                rh_gp__predict(&b->gp, 1, z, &mean, NULL);
            if (mean > aim->best && !rh_bayes__shuns(aim, z)) {
                aim->best = mean;
                at = i;
            }
        }
        if (turn || !elsewhere)
            break;
        aim->reach = REACH;
        memcpy(aim->shun, b->gp.z + (size_t)at * (size_t)b->gp.ncol,
               (size_t)b->gp.ncol * sizeof *aim->shun);
        memcpy(aim->weight, b->gp.weight, (size_t)b->gp.ncol * sizeof *aim->weight);
    }
}

// Write the next setting to x. mixed: every second one elsewhere, with short length scales.
static rh_status propose(const rh_search *search, double *x, bool *found, rh_error *err)
{
    rh_bayes *b = search->self;
    rh_bayes__aim aim;
    if (as_paper(search)) {
        take_aim(search, false, &aim);
        return rh_bayes__next_as_paper(search, &aim, x, found, err);
    }
    bool elsewhere =
        search->param[RH_BAYES_ACQUISITION] == RH_BAYES_MIXED && search->nsetting % 2 == 0;
    double own[RH_GP_MOST], shorter[RH_GP_MOST];
    memcpy(own, b->gp.theta, sizeof own);
    memcpy(shorter, own, sizeof own);
    for (int g = 0; g < b->gp.ngroup; g++)
        shorter[RH_GP_LENGTH + g] =
            fmin(own[RH_GP_LENGTH + g], usual_length(b->gp.ncol) + rh_ln(DOUBT));

    // there may be no setting elsewhere, or no new one
    *found = false;
    take_aim(search, elsewhere, &aim);
    if (elsewhere && isfinite(aim.best)) {
        renew(&b->gp, shorter);
        rh_status rc = rh_bayes__next(search, &aim, x, found, err);
        renew(&b->gp, own);
        if (rc || *found)
            return rc;
    }
    take_aim(search, false, &aim);
    return rh_bayes__next(search, &aim, x, found, err);
}

// Add x to the process with its expected value as the result.
static void assume_result(const rh_search *search, const double *x)
{
    rh_bayes *b = search->self;
    double z[RH_MAX_DIM], mean;
    coordinates(search, x, z);
    rh_gp__predict(&b->gp, 1, z, &mean, NULL);
    rh_gp__put(&b->gp, z, mean, 0.0);
    rh_gp__extend(&b->gp);
    rh_gp__weigh(&b->gp);
}

static rh_status bayes_ask(rh_search *search, rh_error *err)
{
    rh_bayes *b = search->self;
    int n = search->nsetting, left = rh_search__most(search) - n;
    if (n == 0)
        return ask_design(search, first_design(search), err);
    int batch = search->opt.batch < left ? search->opt.batch : left;
    rh_status rc = rh_gp__reserve(&b->gp, n + (batch > 0 ? batch : 0), err);
    if (!rc)
        rc = bring_up(search, n, err); // also at the end: rh_search_lead() uses the process

    bool found = true;
    for (int i = 0; i < batch && !rc && found; i++) {
        double x[RH_MAX_DIM];
        rc = propose(search, x, &found, err);
        if (!rc && found)
            rc = rh_search__ask_new(search, x, search->opt.nrun, err);
        if (!rc && found && i + 1 < batch)
            assume_result(search, x);
    }
    b->gp.n = b->gp.nfactor = b->nput;
    return rc;
}

// ---------------------------------------------------------------------------- leaders

// Whether a leads b: without broken runs first, then by expected value.
static bool leads(const rh_search *search, const rh_leader *a, const rh_leader *b)
{
    bool broken = search->setting[a->setting].broken;
    if (broken != search->setting[b->setting].broken)
        return !broken;
    return a->value > b->value;
}

static int bayes_lead(const rh_search *search, int most, rh_leader *leader)
{
    rh_bayes *b = search->self;
    int told = search->nsetting - search->nasked + search->ntold, count = 0;
    bool any = false;
    for (int i = 0; i < told; i++)
        any |= isfinite(search->setting[i].value);
    if (as_paper(search) || !any || b->nfit == 0)
        return rh_search__lead_by_value(search, most, leader);

    // add new results and remove them again: asking for leaders must not change the search
    int put = b->nput;
    take_in(search, told);
    rh_gp__extend(&b->gp);
    rh_gp__weigh(&b->gp);
    for (int i = 0; i < told; i++) {
        const rh_search__setting *s = &search->setting[i];
        rh_leader new = rh_search__leader(search, i);
        double mean, variance, slope;
        if (isinf(s->value))
            continue;
        if (has_value(search, i) && s->noise != 0.0) {
            rh_gp__predict(&b->gp, 1, b->gp.z + (size_t)i * (size_t)b->gp.ncol, &mean,
                           &variance);
            new.value = rh_bayes__push(b, b->shift + b->scale * mean);
            rh_bayes__pull(b, new.value, &slope);
            new.sd = b->scale *sqrt(variance) / slope;
        }

        // insert it by value, below all that rank above it
        int at = count < most ? count++ : count;
        for (; at > 0 && leads(search, &new, &leader[at - 1]); at--)
            if (at < most)
                leader[at] = leader[at - 1];
        if (at < most)
            leader[at] = new;
    }
    b->gp.n = b->gp.nfactor = b->nput = put;
    return count;
}

static const rh_search_calls bayes_calls = {
    .self_size = sizeof(rh_bayes),
    .init = bayes_init,
    .ask = bayes_ask,
    .lead = bayes_lead,
    .clear = bayes_clear,
};

const rh_search_type rh_search_bayes = {
    .name = "bayes",
    .about = "Bayesian optimisation with a Gaussian process",
    .param = bayes_param,
    .nparam = RH_BAYES_NPARAM,
    .calls = &bayes_calls,
};
