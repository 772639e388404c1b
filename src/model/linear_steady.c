// linear_steady.c - shrinks a regression whose linear part grows by itself.
//
// If the spectral radius of the linear part is above 1, the weights of the past are shrunk
// until it is not: those of lag j by the factor g^(j+1), which divides all eigenvalues by 1/g.
// One with averages over the past is not shrunk: it is no candidate.

#include "linear_internal.h"

#include "base/base_internal.h"

#include <math.h>
#include <string.h>

#define NGROWTH 400   // steps by which the spectral radius is estimated
#define STABLE 0.9999 // radius after shrinking

// Where the weights of a predicted sensor are among the terms: its level, and its first change
// (see rh_linear__terms()). False: it wraps.
static bool find_terms(const rh_linear *m, const rh_model *model, int sensor, int *level,
                       int *first)
{
    int moved = 0;
    if (!isnan(model->facts->sensor[sensor].period))
        return false;
    for (int i = 0; i < m->nlevel; i++)
        *level = m->level[i].sensor == sensor ? 1 + i : *level;
    while (m->moved[moved] != sensor)
        moved++;
    *first = 1 + m->nlevel + m->ninput + moved;
    return true;
}

// The matrix of a lag, in sensors that do not wrap, from the weights of a plan (nout x nout).
static void take_lag(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                     const double *weight, int lag, double *a)
{
    int n = rh_linear__nterm(m, plan), nout = m->nout;
    memset(a, 0, (size_t)nout * (size_t)nout * sizeof *a);
    for (int c = 0; c < nout; c++) {
        int sensor = m->out[c], level = 0, first = 0, stride = m->nmoved + m->ninput;
        if (!find_terms(m, model, sensor, &level, &first))
            continue;
        for (int r = 0; r < nout; r++) {
            const double *w = weight + (size_t)r * (size_t)n;
            double before = lag > 0 ? w[first + (lag - 1) * stride] : 0.0;
            double behind = lag + 1 < plan->lags ? w[first + lag * stride] : 0.0;
            double x = (behind - before) / m->step[sensor];
            x += lag == 0 ? w[level] / m->scale[sensor] : 0.0;
            a[r * nout + c] = m->step[m->out[r]] * x + (lag == 0 && r == c ? 1.0 : 0.0);
        }
    }
}

// The matrix of an average, by its place among the plan's (nout x nout).
static void take_slow(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                      const double *weight, int place, double *a)
{
    int n = rh_linear__nterm(m, plan), nout = m->nout;
    int from = rh_linear__slow_at(m, plan) + place * (m->nlevel + m->ninput);
    memset(a, 0, (size_t)nout * (size_t)nout * sizeof *a);
    for (int c = 0; c < nout; c++) {
        int sensor = m->out[c], level = 0, first = 0;
        if (!find_terms(m, model, sensor, &level, &first))
            continue;
        for (int r = 0; r < nout; r++)
            a[r * nout + c] = m->step[m->out[r]] / m->scale[sensor] *
                              weight[(size_t)r * (size_t)n + (size_t)(from + level - 1)];
    }
}

// Put the matrices of all lags (lags x nout x nout) back.
static void put_lags(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                     double *weight, const double *a)
{
    int n = rh_linear__nterm(m, plan), nout = m->nout;
    for (int c = 0; c < nout; c++) {
        int sensor = m->out[c], level = 0, first = 0, stride = m->nmoved + m->ninput;
        if (!find_terms(m, model, sensor, &level, &first))
            continue;
        for (int r = 0; r < nout; r++) {
            double *w = weight + (size_t)r * (size_t)n, step = m->step[m->out[r]], sum = 0.0;
            for (int l = plan->lags - 1; l > 0; l--) {
                sum += a[(l * nout + r) * nout + c];
                w[first + (l - 1) * stride] = -sum * m->step[sensor] / step;
            }
            sum += a[r * nout + c] - (r == c ? 1.0 : 0.0);
            w[level] = sum * m->scale[sensor] / step;
        }
    }
}

// The spectral radius of the linear part, by the growth of a difference. a: matrices of the
// lags and of the averages, which fade with span ((lags + nslow) x nout x nout); z: scratch
// ((lags + nslow + 1) x nout).
static double radius(const double *a, const double *scale, int lags, const double *span,
                     int nslow, int nout, double *z)
{
    double grown = 0.0;
    int all = lags + nslow;
    for (int i = 0; i < all * nout; i++) // no direction is left out
        z[i] = (i % 2 ? -1.0 : 1.0) * (1.0 + 0.1 * (i % 7)) * scale[i % nout];
    for (int step = 0; step < NGROWTH; step++) {
        double size = 0.0, *next = z + (size_t)all * (size_t)nout;
        for (int r = 0; r < nout; r++) {
            next[r] = 0.0;
            for (int l = 0; l < all; l++)
                for (int c = 0; c < nout; c++)
                    next[r] += a[(l * nout + r) * nout + c] * z[l * nout + c];
        }
        memmove(z + nout, z, (size_t)(lags - 1) * (size_t)nout * sizeof *z);
        memcpy(z, next, (size_t)nout * sizeof *z);
        for (int i = 0; i < nslow * nout; i++)
            z[lags * nout + i] += (next[i % nout] - z[lags * nout + i]) / span[i / nout];
        for (int i = 0; i < all * nout; i++)
            size += (z[i] / scale[i % nout]) * (z[i] / scale[i % nout]);
        size = sqrt(size);
        if (!(size > 1e-200)) // it dies out
            return 0.0;
        for (int i = 0; i < all * nout; i++)
            z[i] /= size;
        grown += step >= NGROWTH / 2 ? rh_ln(size) : 0.0;
    }
    return rh_exp(grown / (NGROWTH - NGROWTH / 2));
}

bool rh_linear__steady(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                       double *weight, double *a)
{
    int nout = m->nout, nslow = 0;
    size_t square = (size_t)nout * (size_t)nout;
    double *z = a + (size_t)(plan->lags + RH_LINEAR__NSLOW) * square;
    double scale[RH_MAX_OBS] = {0.0}, span[RH_LINEAR__NSLOW];
    for (int k = 0; k < nout; k++)
        scale[k] = m->scale[m->out[k]];
    for (int l = 0; l < plan->lags; l++)
        take_lag(m, model, plan, weight, l, a + (size_t)l * (size_t)nout * (size_t)nout);
    for (int i = 0; i < RH_LINEAR__NSLOW; i++)
        if (plan->slow >> i & 1) {
            take_slow(m, model, plan, weight, nslow, a + (size_t)(plan->lags + nslow) * square);
            span[nslow++] = rh_linear__span[i];
        }
    double rho = radius(a, scale, plan->lags, span, nslow, nout, z), factor = 1.0;
    if (!(rho > 1.0))
        return false;
    if (nslow)
        return true;
    for (int l = 0; l < plan->lags; l++) {
        factor *= STABLE / rho;
        for (int i = 0; i < nout * nout; i++)
            a[l * nout * nout + i] *= factor;
    }
    put_lags(m, model, plan, weight, a);
    return true;
}
