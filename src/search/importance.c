// importance.c - how much of the variance between settings each dimension explains.
//
// Sobol's indices. With V the variance of the value over all settings, equally likely:
//
//     share_k = V( E(value | x_k) ) / V                 by itself
//     total_k = E( V(value | all but x_k) ) / V         together with others
//
// 1. With every setting of a finite space given once, both are exact sums over the table,
//    including the noise of the values. Settings that a race dropped have more noise, because
//    they have fewer runs, but they are far from the best.
// 2. Otherwise they are those of the mean of a Gaussian process, at points of Sobol's sequence
//    in twice the dimensions: A, B, and A with one dimension from B (Saltelli 2010, Jansen
//    1999). The process has its own fitted noise, so no dimension explains noise. Above 16
//    dimensions the points are random, since the sequence here has 32.
// 3. Without any differences, all shares are 0.
// 4. Of more than 600 settings, 600 are drawn at random: the cost grows with the third power.
//    Taking every n-th would miss values of a dimension with the same period. The process has
//    all of them; its hyperparameters are fitted to 200 drawn from these, since a fit needs the
//    factors of up to 60 covariances.

#include "gp.h"
#include "search.h"
#include "search_internal.h"
#include "sobol.h"

#include <math.h>
#include <string.h>

#define NPOINT 2048
#define BLOCK 64
#define MOST 600
#define FITTED 200

// ---------------------------------------------------------------------------- all settings

// The index of a value of a finite dimension, or -1.
static int64_t number_of(const rh_dim *dim, double v)
{
    int64_t count = (int64_t)rh_dim__count(dim), lo = 0, hi = count - 1;
    if (dim->kind == RH_DIM_NAMES) {
        for (int64_t i = 0; i < count; i++)
            if (dim->value[i] == v)
                return i;
        return -1;
    }
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (rh_dim__at(dim, (double)middle) < v)
            lo = middle + 1;
        else
            hi = middle;
    }
    return rh_dim__at(dim, (double)lo) == v ? lo : -1;
}

// Write the values to table (n) by setting index; false if one is missing or duplicate.
static bool tabulate(const rh_space *space, int n, const double *x, const double *value,
                     double *table)
{
    for (int i = 0; i < n; i++)
        table[i] = NAN;
    for (int i = 0; i < n; i++) {
        int64_t at = 0;
        for (int k = 0; k < space->ndim; k++) {
            const rh_dim *dim = &space->dim[k];
            int64_t number = number_of(dim, x[(size_t)i * (size_t)space->ndim + (size_t)k]);
            if (number < 0)
                return false;
            at = at * (int64_t)rh_dim__count(dim) + number;
        }
        if (!isnan(table[at]))
            return false;
        table[at] = value[i];
    }
    return true;
}

static double variance_of(const double *y, int n, double *mean)
{
    double sum = 0.0;
    *mean = 0.0;
    for (int i = 0; i < n; i++)
        *mean += y[i] / n;
    for (int i = 0; i < n; i++)
        sum += (y[i] - *mean) * (y[i] - *mean) / n;
    return sum;
}

// Analysis of variance of the table (n); the last dimension varies fastest.
static void analyse(const rh_space *space, int n, const double *table, double *share,
                    double *total)
{
    double mean, all = variance_of(table, n, &mean);
    int stride = n;
    for (int k = 0; k < space->ndim; k++) {
        int count = (int)rh_dim__count(&space->dim[k]), group = stride;
        stride /= count;

        // variance of the means of the levels
        double between = 0.0, within = 0.0;
        for (int level = 0; level < count; level++) {
            double sum = 0.0;
            for (int from = level * stride; from < n; from += group)
                for (int i = from; i < from + stride; i++)
                    sum += table[i] - mean;
            double away = sum / (n / count);
            between += away * away / count;
        }

        // variance between settings that differ in this dimension only
        for (int from = 0; from < n; from += group)
            for (int i = from; i < from + stride; i++) {
                double sum = 0.0, square = 0.0;
                for (int level = 0; level < count; level++)
                    sum += (table[i + level * stride] - mean) / count;
                for (int level = 0; level < count; level++) {
                    double away = table[i + level * stride] - mean - sum;
                    square += away * away;
                }
                within += square / n;
            }
        share[k] = all > 0.0 ? between / all : 0.0;
        total[k] = all > 0.0 ? within / all : 0.0;
    }
}

// ---------------------------------------------------------------------------- by a process

// Exchange points i and j.
static void exchange(rh_gp *gp, int i, int j)
{
    double *pair[] = {gp->y + i, gp->y + j, gp->noise + i, gp->noise + j};
    for (int k = 0; k < 4; k += 2) {
        double number = *pair[k];
        *pair[k] = *pair[k + 1];
        *pair[k + 1] = number;
    }
    for (int c = 0; c < gp->ncol; c++) {
        double *a = gp->z + (size_t)i * (size_t)gp->ncol + (size_t)c,
               *b = gp->z + (size_t)j * (size_t)gp->ncol + (size_t)c, number = *a;
        *a = *b;
        *b = number;
    }
}

// Fit the hyperparameters to some of the n points; the process then has all (decision 4).
static rh_status fit_to_some(rh_gp *gp, int n, const rh_gp__prior *prior, const double *start,
                             rh_rng *rng, rh_error *err)
{
    int some = n < FITTED ? n : FITTED;
    for (int i = 0; i < some && some < n; i++)
        exchange(gp, i, i + (int)rh_rng_below(rng, (uint32_t)(n - i)));
    gp->n = some;
    rh_status rc = rh_gp__fit(gp, prior, 1, start, 60, err);
    gp->n = n;
    if (!rc && some < n) {
        rh_gp__factor(gp);
        rh_gp__weigh(gp);
    }
    return rc;
}

// Fit a process to y, scaled to mean 0 and variance 1. Settings that broke down have no noise.
static rh_status fit(rh_gp *gp, const rh_space *space, int n, const double *x,
                     const double *value, const double *y, const double *noise, rh_error *err)
{
    int ndim = space->ndim, group[RH_MAX_DIM], left = n < MOST ? n : MOST;
    bool named[RH_MAX_DIM], unknown = false;
    for (int k = 0; k < ndim; k++) {
        group[k] = k;
        named[k] = space->dim[k].kind == RH_DIM_NAMES;
    }
    gp->fit_mean = true;
    gp->jitter = 1e-10;
    rh_status rc = rh_gp__init(gp, ndim, ndim, group, named, err);
    if (!rc)
        rc = rh_gp__reserve(gp, left, err);
    if (rc)
        return rc;

    double mean, scale = variance_of(y, n, &mean);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 1, 0);
    int nput = left;
    for (int i = 0; i < n; i++) {
        if (rh_rng_uniform(&rng) * (n - i) >= left) // all equally likely (Knuth's algorithm S)
            continue;
        left--;
        double z[RH_MAX_DIM], of_this = noise && isfinite(value[i]) ? noise[i] : 0.0;
        unknown |= isnan(of_this);
        rh_space__unit(space, x + (size_t)i * (size_t)ndim, z);
        rh_gp__put(gp, z, (y[i] - mean) / sqrt(scale),
                   isfinite(of_this) ? of_this / scale : 0.0);
    }

    // as in bayes.c
    rh_gp__prior prior[RH_GP_MOST] = {
        [RH_GP_VARIANCE] = {rh_ln(1e-2), rh_ln(1e4), 0.0, 2.0},
        [RH_GP_NOISE] = {rh_ln(1e-8), 0.0, rh_ln(unknown ? 1e-2 : 1e-4), 3.0},
    };
    double start[RH_GP_MOST];
    for (int k = 0; k < ndim; k++)
        prior[RH_GP_LENGTH + k] = (rh_gp__prior){
            rh_ln(1e-2), rh_ln(1e3), sqrt(2.0) - 3.0 + 0.5 * rh_ln(ndim), sqrt(3.0)};
    for (int i = 0; i < RH_GP_LENGTH + ndim; i++)
        start[i] = prior[i].at;
    return fit_to_some(gp, nput, prior, start, &rng, err);
}

// Pair number i of independent points.
static void pair(const rh_sobol *sobol, rh_rng *rng, int ndim, int i, double *a, double *b)
{
    double u[RH_MAX_DIM];
    if (2 * ndim <= RH_MAX_DIM) {
        rh_sobol__at(sobol, (uint32_t)i, u);
        memcpy(a, u, (size_t)ndim * sizeof *a);
        memcpy(b, u + ndim, (size_t)ndim * sizeof *b);
        return;
    }
    for (int k = 0; k < ndim; k++) {
        a[k] = rh_rng_uniform(rng);
        b[k] = rh_rng_uniform(rng);
    }
}

// Move points u (n x ndim) of the cube to the middle of their settings' parts and predict them.
static void expect(rh_gp *gp, const rh_space *space, int n, double *u, double *y)
{
    for (int i = 0; i < n; i++) {
        double x[RH_MAX_DIM];
        rh_space__place(space, u + i * space->ndim, x);
        rh_space__unit(space, x, u + i * space->ndim);
    }
    rh_gp__predict(gp, n, u, y, NULL);
}

static void sample(rh_gp *gp, const rh_space *space, double *share, double *total)
{
    int ndim = space->ndim;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 0, 0);
    rh_sobol sobol;
    rh_sobol__init(&sobol, 2 * ndim <= RH_MAX_DIM ? 2 * ndim : 1, &rng);
    double sum = 0.0, square = 0.0;
    memset(share, 0, (size_t)ndim * sizeof *share);
    memset(total, 0, (size_t)ndim * sizeof *total);
    for (int from = 0; from < NPOINT; from += BLOCK) {
        double a[BLOCK * RH_MAX_DIM], b[BLOCK * RH_MAX_DIM], mixed[BLOCK * RH_MAX_DIM];
        double of_a[BLOCK], of_b[BLOCK], of_mixed[BLOCK];
        for (int i = 0; i < BLOCK; i++)
            pair(&sobol, &rng, ndim, from + i, a + i * ndim, b + i * ndim);
        expect(gp, space, BLOCK, a, of_a);
        expect(gp, space, BLOCK, b, of_b);
        for (int i = 0; i < BLOCK; i++) {
            sum += of_a[i] + of_b[i];
            square += of_a[i] * of_a[i] + of_b[i] * of_b[i];
        }
        for (int k = 0; k < ndim; k++) {
            memcpy(mixed, a, (size_t)(BLOCK * ndim) * sizeof *a);
            for (int i = 0; i < BLOCK; i++)
                mixed[i * ndim + k] = b[i * ndim + k];
            expect(gp, space, BLOCK, mixed, of_mixed);
            for (int i = 0; i < BLOCK; i++) {
                share[k] += (of_b[i] - of_mixed[i]) * (of_b[i] - of_mixed[i]);
                total[k] += (of_a[i] - of_mixed[i]) * (of_a[i] - of_mixed[i]);
            }
        }
    }

    double mean = sum / (2 * NPOINT), variance = square / (2 * NPOINT) - mean * mean;
    for (int k = 0; k < ndim; k++) {
        bool flat = !(variance > 1e-12);
        share[k] = flat ? 0.0 : fmax(1.0 - share[k] / (2 * NPOINT * variance), 0.0);
        total[k] = flat ? 0.0 : fmin(total[k] / (2 * NPOINT * variance), 1.0);
    }
}

// ---------------------------------------------------------------------------- both

// Write the values relative to the worst to y; settings that broke down get slightly less.
// Equal values become exactly 0, so rounding cannot make them differ.
static void replace_broken(int n, const double *value, double *y)
{
    double worst = INFINITY, best = -INFINITY;
    for (int i = 0; i < n; i++) {
        worst = isfinite(value[i]) ? fmin(worst, value[i]) : worst;
        best = isfinite(value[i]) ? fmax(best, value[i]) : best;
    }
    double broken = rh_gp__broken(worst, best);
    for (int i = 0; i < n; i++)
        y[i] = best < worst ? 0.0 : (isfinite(value[i]) ? value[i] : broken) - worst;
}

rh_status rh_importance__shares(const rh_space *space, int n, const double *x,
                                const double *value, const double *noise, double *share,
                                double *total, bool *exact, rh_error *err)
{
    rh_gp gp = {0};
    double *y = NULL, *table = NULL, together[RH_MAX_DIM], mean;
    bool whole = false;
    rh_status rc = rh_space__check(space, err);
    if (!rc && n < 1)
        rc = rh_fail(err, RH_EINVAL, "importance: %d settings, expected 1 or more", n);
    if (rc)
        goto done;
    y = rh_alloc((size_t)n, sizeof *y);
    table = rh_alloc((size_t)n, sizeof *table);
    if (!y || !table) {
        rc = rh_fail(err, RH_ENOMEM, "importance: out of memory for %d settings", n);
        goto done;
    }

    replace_broken(n, value, y);
    whole = rh_space__count(space) == n && tabulate(space, n, x, y, table);
    if (whole) {
        analyse(space, n, table, share, together);
    } else if (!(variance_of(y, n, &mean) > 0.0)) {
        memset(share, 0, (size_t)space->ndim * sizeof *share);
        memset(together, 0, sizeof together);
    } else {
        rc = fit(&gp, space, n, x, value, y, noise, err);
        if (rc)
            goto done;
        sample(&gp, space, share, together);
    }
    if (total)
        memcpy(total, together, (size_t)space->ndim * sizeof *total);
    if (exact)
        *exact = whole;

done:
    rh_gp__clear(&gp);
    rh_free(y);
    rh_free(table);
    return rc;
}
