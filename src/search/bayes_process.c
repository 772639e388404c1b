// bayes_process.c - the Gaussian process of Bayesian optimisation: points, values, fits.
//
//     value v of a setting  ->  p = v above the fence f, f - s t / (1 + t) with t = (f - v) / s
//     below
//                               y = (p - shift) / scale, with the variance of p as its noise
//     prior                     ln l ~ N(sqrt 2 - 3 + ln(d) / 2, 3),  ln a^2 ~ N(0, 4)
//
// 1. Hyperparameters are fitted again when the number of settings has grown by a tenth, always
//    from the prior's mean, and with few settings also from random points. So they depend on
//    the settings alone and not on earlier fits, and a resumed search makes the last fit only.
//    In between, the factor grows by a row per setting.
// 2. The process has at most 300 points and the next 32: the better half of them are the best
//    settings, the others are spread evenly over the space (the farthest from all that are in,
//    again and again). A proposal then costs the same after 400 settings as after 5,000, and
//    the process is exact where the search works. They are chosen anew when there are too many.
// 3. The prior of length scales grows with the root of the number of dimensions, as distances
//    do (Hvarfner et al. 2024). Without a prior, ten points fit any length.
// 4. A setting with runs that broke down counts as slightly worse than the worst of the
//    others, without noise: how bad it is remains unknown, but the search should stay away. Its
//    own value is the penalty of a broken run, which may be a thousand times the differences
//    between sound settings. As a target it would set the scale of the process, and with the
//    variance of a penalty it would even be predicted near the mean and lead.
// 5. Unknown noise (NAN) is fitted as a noise common to all settings, in addition to known
//    noise. If all noise is 0, there is only the jitter against rounding.
// 6. A few huge values do not set the scale either: below the fence f a value counts at most s
//    less than f. f = median - 3 s, where s is the smaller of the quartile distance and twice
//    the distance from median to best, over the first design, which covers the space; s = 0
//    pulls nothing. Of normal values 1 in 30,000 lies below f, so ordinary problems are left
//    alone, and half of the values may be huge before s is. The order stays. A logarithm keeps
//    it too, but leaves a cliff of 14 s where a penalty is a million times s: of searches of
//    Branin with a quarter of the box cut off, 4 of 5 ended below -0.05, and 3 of 10 with this.

#include "base/base_internal.h"
#include "base/text.h"
#include "bayes.h"
#include "numeric/stats.h"
#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 300 // decision 2: points, chosen from all settings
#define AFTER 32 // and points that came since
#define CHUNK 64 // points that space is made for at a time
#define STARTS 3 // starts of a fit, at most
#define FEW 50   // settings below which some starts are random
// decision 6: scales below the median that are believed. In a Cartpole study of 25 trials, one
// seed, 1.5 and 6 end at -39.3 and -38.1, 3 at -34.4.
#define FENCE 3.0
#define DOUBT 0.6 // longest length scale elsewhere, relative to the prior mean

// Random stream, besides those of bayes.c and number 0 of bayes_next.c.
enum { STREAM_FITS = 2 };

// A setting to be ranked.
typedef struct rh_bayes__rank {
    double value;
    int setting;
} rh_bayes__rank;

rh_status rh_bayes__begin(const rh_search *search, rh_error *err)
{
    rh_bayes *b = search->self;
    int ndim = search->space.ndim, group[RH_MAX_DIM] = {0};
    size_t most = (size_t)rh_search__most(search);
    bool named[RH_MAX_DIM];
    for (int k = 0; k < ndim; k++) {
        group[k] = k;
        named[k] = search->space.dim[k].kind == RH_DIM_NAMES;
    }
    b->scale = 1.0;
    b->fence = -INFINITY;
    b->active = rh_scratch__take(&b->scratch, most, sizeof *b->active);
    b->z = rh_scratch__take(&b->scratch, most * (size_t)ndim, sizeof *b->z);
    b->rank = rh_scratch__take(&b->scratch, most, sizeof *b->rank);
    b->away = rh_scratch__take(&b->scratch, most, sizeof *b->away);
    if (b->scratch.failed)
        return rh_base__no_memory(err, "bayes");
    rh_status rc = RH_OK;
    for (int i = 0; i < 2 && !rc; i++) {
        rh_gp *gp = i ? &b->far : &b->gp;
        gp->fit_mean = true;
        gp->jitter = 1e-10;
        rc = rh_gp__init(gp, ndim, ndim, group, named, err);
    }
    return rc;
}

void rh_bayes__end(rh_bayes *b)
{
    rh_gp__clear(&b->gp);
    rh_gp__clear(&b->far);
    rh_scratch__clear(&b->scratch);
}

rh_status rh_bayes__reserve(const rh_search *search, int n, int batch, rh_error *err)
{
    rh_bayes *b = search->self;
    int most = MOST + AFTER, room = (n < most ? n : most) + batch;
    if (room <= b->gp.room && (!b->wants_far || room <= b->far.room))
        return RH_OK;
    room += CHUNK - room % CHUNK;
    rh_status rc = rh_gp__reserve(&b->gp, room, err);
    return rc || !b->wants_far ? rc : rh_gp__reserve(&b->far, room, err);
}

// ---------------------------------------------------------------------------- points

static const double *place_of(const rh_search *search, int i)
{
    const rh_bayes *b = search->self;
    return b->z + (size_t)i * (size_t)search->space.ndim;
}

static void put(const rh_search *search, int i)
{
    rh_bayes *b = search->self;
    rh_gp__put(&b->gp, place_of(search, i), 0.0, 0.0);
    if (b->wants_far)
        rh_gp__put(&b->far, place_of(search, i), 0.0, 0.0);
    b->active[b->nput++] = i;
}

// Whether the process gets the value of setting i (decision 4).
static bool has_value(const rh_search *search, int i)
{
    const rh_bayes *b = search->self;
    const rh_search__setting *s = &search->setting[i];
    return isfinite(s->value) && (!s->broken || !b->sound);
}

bool rh_bayes__has_value(const rh_search *search, int i)
{
    return has_value(search, i);
}

static int better_first(const void *a, const void *b)
{
    const rh_bayes__rank *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->setting > y->setting) - (x->setting < y->setting);
}

// Update the squared distance of every setting to the nearest chosen one, of which i is new.
static void approach(const rh_search *search, int n, int i)
{
    rh_bayes *b = search->self;
    const double *to = place_of(search, i);
    for (int k = 0; k < n; k++) {
        const double *z = place_of(search, k);
        double r2 = 0.0;
        for (int c = 0; c < search->space.ndim; c++) {
            double d = b->gp.named[c] ? z[c] != to[c] : z[c] - to[c];
            r2 += d * d;
        }
        b->away[k] = k == i ? -1.0 : fmin(b->away[k], r2);
    }
}

// Mark the points of the process among the first n settings by away < 0 (decision 2).
static void choose(const rh_search *search, int n, int most)
{
    rh_bayes *b = search->self;
    for (int i = 0; i < n; i++) {
        double value = has_value(search, i) ? search->setting[i].value : -INFINITY;
        b->rank[i] = (rh_bayes__rank){value, i};
        b->away[i] = INFINITY;
    }
    qsort(b->rank, (size_t)n, sizeof *b->rank, better_first);
    for (int k = 0; k < most / 2; k++)
        approach(search, n, b->rank[k].setting);
    for (int k = most / 2; k < most; k++) {
        int farthest = 0;
        for (int i = 1; i < n; i++)
            if (b->away[i] > b->away[farthest])
                farthest = i;
        approach(search, n, farthest);
    }
}

// Settings up to n are sound, or not; their coordinates are known.
static void look_over(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    b->sound = false;
    for (int i = 0; i < n; i++)
        b->sound |= !search->setting[i].broken;
    for (; b->nz < n; b->nz++)
        rh_space__unit(&search->space, search->setting[b->nz].x,
                       b->z + (size_t)b->nz * (size_t)search->space.ndim);
}

// Fill the empty process with points of the first n settings.
static void select_points(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    look_over(search, n);
    if (n > MOST)
        choose(search, n, MOST);
    b->gp.n = b->gp.nfactor = b->far.n = b->far.nfactor = b->nput = 0;
    for (int i = 0; i < n; i++)
        if (n <= MOST || b->away[i] < 0.0)
            put(search, i);
    b->nseen = b->nselect = n;
}

// ---------------------------------------------------------------------------- values

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

// Update all values and noises, which depend on all of the first n settings.
static void set_values(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    double slope = 1.0, broken = worse_than_all(search, n);
    for (int k = 0; k < b->nput; k++) {
        int i = b->active[k];
        const rh_search__setting *s = &search->setting[i];
        bool known = isfinite(s->noise) && has_value(search, i);
        double p = has_value(search, i) ? rh_bayes__pull(b, s->value, &slope) : broken;
        b->gp.y[k] = (p - b->shift) / b->scale;
        b->gp.noise[k] = known ? slope * slope * s->noise / (b->scale * b->scale) : 0.0;
        if (b->wants_far) {
            b->far.y[k] = b->gp.y[k];
            b->far.noise[k] = b->gp.noise[k];
        }
    }
}

// Set the fence from the sound settings of the first design (decision 6).
static void set_fence(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    double *sorted = b->away, best = -INFINITY;
    int ndesign = rh_bayes__first_design(search), count = 0;
    b->fence = -INFINITY;
    for (int i = 0; i < n; i++) {
        if (search->setting[i].broken)
            continue;
        best = fmax(best, search->setting[i].value);
        if (i < ndesign)
            sorted[count++] = search->setting[i].value;
    }
    if (count < 4)
        return;
    rh_stats__sort(sorted, count);
    double median = rh_stats__quantile_sorted(sorted, count, 0.5),
           apart = rh_stats__quantile_sorted(sorted, count, 0.75) -
                   rh_stats__quantile_sorted(sorted, count, 0.25);
    b->slack = fmin(apart, 2.0 * (best - median));
    if (b->slack > 0.0)
        b->fence = median - FENCE * b->slack;
}

// Set shift and scale so that the values of the first n settings have mean 0 and variance 1.
static void standardise(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    set_fence(search, n);
    double mean = 0.0, square = 0.0, slope, *p = b->away, broken = worse_than_all(search, n);
    for (int i = 0; i < n; i++) {
        p[i] =
            has_value(search, i) ? rh_bayes__pull(b, search->setting[i].value, &slope) : broken;
        mean += p[i] / n;
    }
    for (int i = 0; i < n; i++)
        square += (p[i] - mean) * (p[i] - mean) / n;
    b->shift = mean;
    b->scale = square > 0.0 && isfinite(square) ? sqrt(square) : 1.0;
}

// ---------------------------------------------------------------------------- fits

// Logarithm of the most likely length scale a priori.
static double usual_length(int ndim)
{
    return sqrt(2.0) - 3.0 + 0.5 * rh_ln(ndim);
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

    prior[RH_GP_VARIANCE] = (rh_gp__prior){rh_ln(1e-2), rh_ln(1e4), 0.0, 2.0};
    prior[RH_GP_NOISE] = unknown ? (rh_gp__prior){rh_ln(1e-8), 0.0, rh_ln(1e-2), 2.0}
                                 : (rh_gp__prior){rh_ln(1e-8), 0.0, rh_ln(1e-6), 3.0};
    if (!b->noisy)
        prior[RH_GP_NOISE] = (rh_gp__prior){-30.0, -30.0, -30.0, INFINITY};
    for (int g = 0; g < b->gp.ngroup; g++)
        prior[RH_GP_LENGTH + g] =
            (rh_gp__prior){rh_ln(1e-2), rh_ln(1e3), usual_length(b->gp.ncol), sqrt(3.0)};
}

// The process for proposals elsewhere has shorter length scales.
static void shorten(rh_bayes *b)
{
    double shorter[RH_GP_MOST];
    memcpy(shorter, b->gp.theta, sizeof shorter);
    for (int g = 0; g < b->gp.ngroup; g++)
        shorter[RH_GP_LENGTH + g] =
            fmin(shorter[RH_GP_LENGTH + g], usual_length(b->gp.ncol) + rh_ln(DOUBT));
    rh_gp__set_theta(&b->far, shorter);
    rh_gp__factor(&b->far);
}

// Fit the process to the first n settings (decision 1).
static rh_status fit(const rh_search *search, int n, rh_error *err)
{
    rh_bayes *b = search->self;
    rh_gp__prior prior[RH_GP_MOST];
    double start[STARTS * RH_GP_MOST], *at = start;
    int ntheta = RH_GP_LENGTH + b->gp.ngroup;
    select_points(search, n);
    standardise(search, n);
    set_values(search, n);
    set_prior(search, n, prior);
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, STREAM_FITS, (uint64_t)n);
    for (int i = 0; i < ntheta; i++)
        *at++ = prior[i].at;
    for (int s = n < FEW ? 2 : 0; s > 0; s--) {
        for (int i = 0; i < ntheta; i++) {
            double z[2];
            rh_rng_normal(&rng, z);
            *at++ = prior[i].at + (isinf(prior[i].sd) ? 0.0 : 0.7 * prior[i].sd * z[0]);
        }
    }
    b->nfit = n;
    rh_status rc = rh_gp__fit(&b->gp, prior, (int)(at - start) / ntheta, start, 40, err);
    if (!rc && b->wants_far)
        shorten(b);
    return rc;
}

// ---------------------------------------------------------------------------- up to date

void rh_bayes__schedule(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    int kept = b->due_select < MOST ? b->due_select : MOST;
    bool due = b->due_fit == 0 || n > b->due_fit + b->due_fit / 10;
    if (due)
        b->due_fit = b->due_select = n;
    else if (kept + n - b->due_select > MOST + AFTER)
        b->due_select = n;
}

void rh_bayes__add(const rh_search *search, int n)
{
    rh_bayes *b = search->self;
    look_over(search, n);
    for (int i = b->nseen; i < n; i++)
        put(search, i);
    b->nseen = n;
    set_values(search, n);
    rh_gp__extend(&b->gp);
    rh_gp__weigh(&b->gp);
    if (b->wants_far) {
        rh_gp__extend(&b->far);
        rh_gp__weigh(&b->far);
    }
}

rh_status rh_bayes__bring_up(const rh_search *search, int n, rh_error *err)
{
    rh_bayes *b = search->self;
    rh_status rc = b->nfit == b->due_fit ? RH_OK : fit(search, b->due_fit, err);
    if (rc)
        return rc;
    if (b->nselect != b->due_select) {
        select_points(search, b->due_select);
        set_values(search, b->due_select);
        rh_gp__factor(&b->gp);
        if (b->wants_far)
            rh_gp__factor(&b->far);
    }
    rh_bayes__add(search, n);
    return RH_OK;
}

void rh_bayes__assume(const rh_search *search, const double *x)
{
    rh_bayes *b = search->self;
    double z[RH_MAX_DIM], mean;
    rh_space__unit(&search->space, x, z);
    rh_gp__predict(&b->gp, 1, z, &mean, NULL);
    rh_gp__put(&b->gp, z, mean, 0.0);
    rh_gp__extend(&b->gp);
    rh_gp__weigh(&b->gp);
    if (b->wants_far) {
        rh_gp__put(&b->far, z, mean, 0.0);
        rh_gp__extend(&b->far);
        rh_gp__weigh(&b->far);
    }
}

void rh_bayes__back_to(rh_bayes *b, int nput, int nseen)
{
    b->nput = nput;
    b->nseen = nseen;
    b->gp.n = b->gp.nfactor = nput;
    b->far.n = b->far.nfactor = b->wants_far ? nput : 0;
}
