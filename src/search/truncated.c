// truncated.c - draws from a multivariate normal inside a box.
//
// By rejection: mean + L z, with z standard normal and L L' the covariance, until it is inside.
//
// 1. A wide normal is rarely inside a narrow box of many dimensions. After 10,000 misses, Gibbs
//    sampling draws coordinate by coordinate given the others, with a slice for each: with m
//    and s the conditional mean and deviation, the next x is uniform where
//
//        |x - m| <= s sqrt(((x - m) / s)^2 - 2 ln(u)),   lo <= x <= hi
//
//    (Damien and Walker 2001). It never misses and needs no tail of a normal. It makes 100
//    sweeps from the mean: the box reduces correlations, so few are needed.
// 2. A mix of covariances is a covariance and needs no repair except for rounding: a pivot of
//    the factorisation stays above 1e-14 of its diagonal.

#include "truncated.h"

#include <math.h>

#define MISSES 10000
#define SWEEPS 100

void rh_truncated__ready(rh_truncated *t)
{
    double inverse[RH_MAX_DIM][RH_MAX_DIM] = {{0.0}};
    t->rare = false;

    // L, row by row
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j <= i; j++) {
            double rest = t->cov[i][j];
            for (int k = 0; k < j; k++)
                rest -= t->lower[i][k] * t->lower[j][k];
            double least = 1e-14 * t->cov[i][i] + 1e-300;
            if (i == j)
                t->lower[i][i] = sqrt(rest > least ? rest : least);
            else
                t->lower[i][j] = rest / t->lower[j][j];
        }

    // the inverse of L, then that of the covariance
    for (int i = 0; i < t->n; i++) {
        inverse[i][i] = 1.0 / t->lower[i][i];
        for (int j = 0; j < i; j++) {
            double sum = 0.0;
            for (int k = j; k < i; k++)
                sum -= t->lower[i][k] * inverse[k][j];
            inverse[i][j] = sum / t->lower[i][i];
        }
    }
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < t->n; j++) {
            t->precision[i][j] = 0.0;
            for (int k = i > j ? i : j; k < t->n; k++)
                t->precision[i][j] += inverse[k][i] * inverse[k][j];
        }
}

// Write mean + L z to h. Returns whether it is inside.
static bool draw_one(const rh_truncated *t, rh_rng *rng, double *h)
{
    double z[RH_MAX_DIM + 1];
    bool inside = true;
    for (int k = 0; k < t->n; k += 2)
        rh_rng_normal(rng, z + k);
    for (int i = 0; i < t->n; i++) {
        h[i] = t->mean[i];
        for (int k = 0; k <= i; k++)
            h[i] += t->lower[i][k] * z[k];
        inside = inside && h[i] >= t->lo[i] && h[i] <= t->hi[i];
    }
    return inside;
}

// Draw h[k] given the others. The comparisons clip an overflow to the box.
static void slice(const rh_truncated *t, rh_rng *rng, int k, double *h)
{
    double variance = 1.0 / t->precision[k][k], centre = t->mean[k];
    for (int j = 0; j < t->n; j++)
        if (j != k)
            centre -= variance * t->precision[k][j] * (h[j] - t->mean[j]);

    double off = h[k] - centre, u = 1.0 - rh_rng_uniform(rng); // in (0, 1]
    double radius = sqrt(off * off - 2.0 * variance * rh_ln(u));
    double from = centre - radius > t->lo[k] ? centre - radius : t->lo[k];
    double to = centre + radius < t->hi[k] ? centre + radius : t->hi[k];
    double next = from + (to - from) * rh_rng_uniform(rng);
    if (next >= t->lo[k] && next <= t->hi[k])
        h[k] = next;
}

void rh_truncated__draw(rh_truncated *t, rh_rng *rng, double *h)
{
    for (int i = 0; i < MISSES && !t->rare; i++)
        if (draw_one(t, rng, h))
            return;
    t->rare = true;
    for (int k = 0; k < t->n; k++)
        h[k] = t->mean[k];
    for (int i = 0; i < SWEEPS; i++)
        for (int k = 0; k < t->n; k++)
            slice(t, rng, k, h);
}
