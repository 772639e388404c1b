// gp.c - exact Gaussian processes with a Matern 5/2 kernel.
//
// After Rasmussen and Williams (2006), chapters 2 and 5. With s = sqrt(5) r and
// r^2 = sum over columns c of (z_c - z'_c)^2 / l_c^2,
//
//     k(z, z')  = a^2 (1 + s + s^2 / 3) exp(-s)
//     C         = K + diag(noise) + own noise,  C = L L'
//     m         = 1' C^-1 y / 1' C^-1 1                          (or 0)
//     mean(z)   = m + k' C^-1 (y - m),   variance(z) = a^2 - |L^-1 k|^2
//     evidence  = -1/2 (y - m)' C^-1 (y - m) - sum ln L_ii - n/2 ln 2 pi
//
// 1. Columns share length scales by groups: one per column, or one for all (isotropic). In a
//    column of names any two different names are at distance 1, as with one column per name.
// 2. The evidence uses the optimal mean, so its derivatives need no term for the mean.
// 3. L is stored by rows, in the lower half of a block. While the evidence is computed, the
//    other half holds the common part of the derivatives by length scales.
// 4. A new point adds a row (rh_gp__extend), in n^2 steps instead of n^3.
// 5. Predictions are made eight at a time: vectors run over the eight, so the order of no sum
//    depends on their width.
// 6. At its own points the mean is y - d alpha, with d the diagonal of C - K: no kernel is
//    evaluated.

#include "gp.h"

#include "numeric/cholesky.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define ROOT5 2.2360679774997896964  // sqrt(5)
#define LN_2PI 1.8378770664093454836 // ln(2 pi)
#define BROKEN 0.05                  // of best - worst: slightly worse than the worst; by hand

double rh_gp__broken(double worst, double best)
{
    if (best < worst)
        return 0.0;
    double spread = best > worst ? best - worst : fmax(fabs(worst), 1.0);
    return worst - BROKEN * spread;
}

rh_status rh_gp__init(rh_gp *gp, int ncol, int ngroup, const int *group, const bool *named,
                      rh_error *err)
{
    assert(ncol >= 1 && ngroup >= 1 && ngroup <= RH_MAX_DIM);
    gp->ncol = ncol;
    gp->ngroup = ngroup;
    gp->group = rh_alloc((size_t)ncol, sizeof *gp->group);
    gp->weight = rh_alloc((size_t)ncol, sizeof *gp->weight);
    gp->named = rh_alloc((size_t)ncol, sizeof *gp->named);
    if (!gp->group || !gp->weight || !gp->named)
        return rh_fail(err, RH_ENOMEM, "out of memory for a model of settings");
    memcpy(gp->group, group, (size_t)ncol * sizeof *group);
    memcpy(gp->named, named, (size_t)ncol * sizeof *named);
    double theta[RH_GP_MOST] = {0.0};
    rh_gp__set_theta(gp, theta);
    return RH_OK;
}

void rh_gp__clear(rh_gp *gp)
{
    rh_free(gp->group);
    rh_free(gp->weight);
    rh_free(gp->named);
    rh_free(gp->z);
    rh_free(gp->y);
    rh_free(gp->noise);
    rh_free(gp->factor);
    rh_free(gp->white);
    rh_free(gp->ones);
    rh_free(gp->alpha);
    rh_free(gp->work);
    rh_free(gp->inverse);
    memset(gp, 0, sizeof *gp);
}

rh_status rh_gp__reserve(rh_gp *gp, int room, rh_error *err)
{
    if (room <= gp->room)
        return RH_OK;

    // all memory first: on failure the process does not change
    rh_gp wider = {0};
    size_t ncol = (size_t)gp->ncol, size = (size_t)room, old = (size_t)gp->room;
    double **from[] = {&gp->z,    &gp->y,     &gp->noise, &gp->factor, &gp->white,
                       &gp->ones, &gp->alpha, &gp->work,  &gp->inverse};
    double **to[] = {&wider.z,    &wider.y,     &wider.noise, &wider.factor, &wider.white,
                     &wider.ones, &wider.alpha, &wider.work,  &wider.inverse};
    size_t width[] = {ncol, 1, 1, size, 1, 1, 1, RH_CHOLESKY__BLOCK, size};
    size_t old_width[] = {ncol, 1, 1, old, 1, 1, 1, RH_CHOLESKY__BLOCK, old};
    enum { NBLOCK = sizeof from / sizeof *from };
    rh_status rc = RH_OK;
    for (int b = 0; b < NBLOCK && !rc; b++) {
        *to[b] = rh_alloc(size * width[b], sizeof **to[b]);
        if (!*to[b])
            rc = rh_fail(err, RH_ENOMEM, "out of memory for a model of %d settings", room);
    }

    // copy row by row, then swap
    for (int b = 0; b < NBLOCK && !rc; b++) {
        for (int i = 0; i < gp->n; i++)
            memcpy(*to[b] + (size_t)i * width[b], *from[b] + (size_t)i * old_width[b],
                   old_width[b] * sizeof **to[b]);
        double *swap = *from[b];
        *from[b] = *to[b];
        *to[b] = swap;
    }
    if (!rc)
        gp->room = room;
    rh_gp__clear(&wider);
    return rc;
}

void rh_gp__put(rh_gp *gp, const double *z, double y, double noise)
{
    assert(gp->n < gp->room);
    memcpy(gp->z + (size_t)gp->n * (size_t)gp->ncol, z, (size_t)gp->ncol * sizeof *z);
    gp->y[gp->n] = y;
    gp->noise[gp->n] = noise;
    gp->n++;
}

void rh_gp__set_theta(rh_gp *gp, const double *theta)
{
    memcpy(gp->theta, theta, (size_t)(RH_GP_LENGTH + gp->ngroup) * sizeof *theta);
    for (int c = 0; c < gp->ncol; c++)
        gp->weight[c] = rh_exp(-2.0 * theta[RH_GP_LENGTH + gp->group[c]]);
    gp->nfactor = 0;
}

static double *row(const rh_gp *gp, int i)
{
    return gp->factor + (size_t)i * (size_t)gp->room;
}

static const double *point(const rh_gp *gp, int i)
{
    return gp->z + (size_t)i * (size_t)gp->ncol;
}

// The kernel at squared distance r2, without its variance. *common is the common factor of its
// derivatives: by ln l_c, common (z_c - z'_c)^2 / l_c^2; by z_c, the same over z'_c - z_c.
static double matern(double r2, double *common)
{
    double s = ROOT5 * sqrt(r2), e = rh_exp(-s);
    *common = 5.0 / 3.0 * (1.0 + s) * e;
    return (1.0 + s + s * s / 3.0) * e;
}

// The squared difference of two points in one column; for names, 1 if they differ.
static double squared(const rh_gp *gp, int c, double a, double b)
{
    double difference = a - b;
    return gp->named[c] ? difference != 0.0 : difference * difference;
}

static double squared_distance(const rh_gp *gp, const double *a, const double *b)
{
    double r2 = 0.0;
    for (int c = 0; c < gp->ncol; c++)
        r2 += squared(gp, c, a[c], b[c]) * gp->weight[c];
    return r2;
}

// Write rows from .. n-1 of the covariance to the lower half of the factor's block and, if
// asked to, the common factor of the derivatives to the upper half.
static void covariance(rh_gp *gp, int from, double jitter, bool derivatives)
{
    double variance = rh_exp(gp->theta[RH_GP_VARIANCE]), own = rh_exp(gp->theta[RH_GP_NOISE]);
    for (int i = from; i < gp->n; i++) {
        double *to = row(gp, i), common;
        for (int j = 0; j < i; j++) {
            to[j] =
                variance * matern(squared_distance(gp, point(gp, i), point(gp, j)), &common);
            if (derivatives)
                row(gp, j)[i] = variance * common;
        }
        to[i] = variance * (1.0 + jitter) + own + gp->noise[i];
    }
}

// The sum of a[i] b[i] in four chains, to hide the latency of additions.
static double dot(const double *a, const double *b, int n)
{
    double sum[4] = {0.0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

static bool cholesky(rh_gp *gp)
{
    return rh_cholesky__factor(gp->n, gp->factor, (size_t)gp->room, gp->work);
}

void rh_gp__factor(rh_gp *gp)
{
    // a jitter of 1 is far larger than any rounding error
    for (double jitter = gp->jitter; jitter <= 1.0; jitter = fmax(1e-12, 10.0 * jitter)) {
        covariance(gp, 0, jitter, false);
        if (cholesky(gp))
            break;
    }
    gp->nfactor = gp->n;
}

void rh_gp__extend(rh_gp *gp)
{
    int from = gp->nfactor;
    covariance(gp, from, gp->jitter, false);
    for (int i = from; i < gp->n; i++) {
        double *to = row(gp, i);
        for (int j = 0; j < i; j++)
            to[j] = (to[j] - dot(row(gp, j), to, j)) / row(gp, j)[j];

        // rounding may make it zero or less: add jitter to this row only
        to[i] = sqrt(fmax(to[i] - dot(to, to, i), 1e-12 * to[i]));
    }
    gp->nfactor = gp->n;
}

// x (n) becomes L^-1 x, and L'^-1 x.
static void solve_lower(const rh_gp *gp, double *x)
{
    for (int i = 0; i < gp->n; i++)
        x[i] = (x[i] - dot(row(gp, i), x, i)) / row(gp, i)[i];
}

static void solve_upper(const rh_gp *gp, double *x)
{
    for (int i = gp->n - 1; i >= 0; i--) {
        const double *from = row(gp, i);
        double part = x[i] /= from[i];
        for (int j = 0; j < i; j++)
            x[j] -= from[j] * part;
    }
}

void rh_gp__weigh(rh_gp *gp)
{
    assert(gp->nfactor == gp->n);
    int n = gp->n;
    for (int i = 0; i < n; i++) {
        gp->white[i] = gp->y[i];
        gp->ones[i] = 1.0;
    }
    solve_lower(gp, gp->white);
    solve_lower(gp, gp->ones);
    gp->mean = 0.0;
    if (gp->fit_mean && n > 0)
        gp->mean = dot(gp->ones, gp->white, n) / dot(gp->ones, gp->ones, n);
    for (int i = 0; i < n; i++) {
        gp->white[i] -= gp->mean * gp->ones[i];
        gp->alpha[i] = gp->white[i];
    }
    solve_upper(gp, gp->alpha);
}

// Half the sum over all pairs of (alpha alpha' - C^-1) times the derivative of C. The inverse
// is in the lower half of the block, the common factor of the derivatives in the upper half.
static void evidence_slope(const rh_gp *gp, double *slope)
{
    double own = rh_exp(gp->theta[RH_GP_NOISE]);
    double fit = 0.0, trace = 0.0, known = 0.0, length[RH_MAX_DIM] = {0.0};
    for (int i = 0; i < gp->n; i++) {
        const double *inverse = row(gp, i), *zi = point(gp, i);
        for (int j = 0; j < i; j++) {
            double w = (gp->alpha[i] * gp->alpha[j] - inverse[j]) * row(gp, j)[i];
            const double *zj = point(gp, j);
            for (int c = 0; c < gp->ncol; c++)
                length[gp->group[c]] += w * squared(gp, c, zi[c], zj[c]) * gp->weight[c];
        }
        double w = gp->alpha[i] * gp->alpha[i] - inverse[i];
        trace += w;
        known += w * gp->noise[i];
        fit += gp->alpha[i] * (gp->y[i] - gp->mean) - 1.0;
    }

    // the sum of w C over all pairs is `fit`; without the noise part it belongs to the variance
    slope[RH_GP_VARIANCE] = 0.5 * (fit - known - own * trace);
    slope[RH_GP_NOISE] = 0.5 * own * trace;
    for (int g = 0; g < gp->ngroup; g++)
        slope[RH_GP_LENGTH + g] = length[g];
}

double rh_gp__evidence(rh_gp *gp, const double *theta, double *slope)
{
    rh_gp__set_theta(gp, theta);
    covariance(gp, 0, gp->jitter, slope);
    if (!cholesky(gp))
        return -INFINITY;
    gp->nfactor = gp->n;
    rh_gp__weigh(gp);
    double value = -0.5 * (dot(gp->white, gp->white, gp->n) + gp->n * LN_2PI);
    for (int i = 0; i < gp->n; i++)
        value -= rh_ln(row(gp, i)[i]);

    gp->nfactor = 0;
    if (slope) {
        rh_cholesky__inverse(gp->n, gp->factor, (size_t)gp->room, gp->inverse);
        evidence_slope(gp, slope);
    }
    return value;
}

// Up to RH_GP_BLOCK points at once.
static void predict_block(rh_gp *gp, int count, const double *z, double *mean, double *variance)
{
    enum { B = RH_GP_BLOCK };
    double a2 = rh_exp(gp->theta[RH_GP_VARIANCE]), sum[B], common;
    for (int b = 0; b < B; b++)
        sum[b] = gp->mean;
    for (int i = 0; i < gp->n; i++) {
        double *k = gp->work + (size_t)i * B;
        for (int b = 0; b < count; b++) {
            const double *at = z + (size_t)b * (size_t)gp->ncol;
            k[b] = a2 * matern(squared_distance(gp, at, point(gp, i)), &common);
        }
        for (int b = count; b < B; b++)
            k[b] = 0.0;
        for (int b = 0; b < B; b++)
            sum[b] += gp->alpha[i] * k[b];
    }
    memcpy(mean, sum, (size_t)count * sizeof *mean);
    if (!variance)
        return;

    // L^-1 k of the eight points, and the remaining variance
    double left[B];
    for (int b = 0; b < B; b++)
        left[b] = a2;
    rh_cholesky__solve(gp->n, gp->factor, (size_t)gp->room, B, gp->work);
    for (int i = 0; i < gp->n; i++) {
        const double *v = gp->work + (size_t)i * B;
        for (int b = 0; b < B; b++)
            left[b] -= v[b] * v[b];
    }
    for (int b = 0; b < count; b++)
        variance[b] = fmax(left[b], 0.0);
}

double rh_gp__expected(const rh_gp *gp, int i)
{
    double own = rh_exp(gp->theta[RH_GP_NOISE]),
           jitter = gp->jitter * rh_exp(gp->theta[RH_GP_VARIANCE]);
    return gp->y[i] - (jitter + own + gp->noise[i]) * gp->alpha[i];
}

void rh_gp__predict(rh_gp *gp, int n, const double *z, double *mean, double *variance)
{
    for (int i = 0; i < n; i += RH_GP_BLOCK) {
        int count = n - i < RH_GP_BLOCK ? n - i : RH_GP_BLOCK;
        predict_block(gp, count, z + (size_t)i * (size_t)gp->ncol, mean + i,
                      variance ? variance + i : NULL);
    }
}

void rh_gp__slope(rh_gp *gp, const double *z, double *mean, double *variance,
                  double *mean_slope, double *variance_slope)
{
    double a2 = rh_exp(gp->theta[RH_GP_VARIANCE]);
    double *k = gp->work, *common = gp->work + gp->room; // the block has room for eight
    for (int i = 0; i < gp->n; i++) {
        k[i] = a2 * matern(squared_distance(gp, z, point(gp, i)), &common[i]);
        common[i] *= a2;
    }
    *mean = gp->mean + dot(gp->alpha, k, gp->n);
    solve_lower(gp, k);
    *variance = fmax(a2 - dot(k, k, gp->n), 0.0);
    solve_upper(gp, k);

    for (int c = 0; c < gp->ncol; c++) {
        double by_mean = 0.0, by_variance = 0.0;
        for (int i = 0; i < gp->n; i++) {
            double slope = common[i] * (point(gp, i)[c] - z[c]);
            by_mean += gp->alpha[i] * slope;
            by_variance += k[i] * slope;
        }
        double weight = gp->named[c] ? 0.0 : gp->weight[c];
        mean_slope[c] = by_mean * weight;
        variance_slope[c] = -2.0 * by_variance * weight;
    }
}
