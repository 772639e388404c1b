// laplacian_step.c - the batches and the loss of the Laplacian representation.
//
// For codes a of a state, b of a later one and c of a random one, of d numbers each:
//
//     loss = mean of h |a - b|^2 + beta ((a . c)^2 - zeta |a|^2 - zeta |c|^2)
//
// with h = 1, or 1/2 with half = yes. Derivatives, each divided by the number of rows:
//
//     da = 2 h (a - b) + 2 beta ((a . c) c - zeta a)
//     db = 2 h (b - a)
//     dc = 2 beta ((a . c) a - zeta c)
//
// 1. One random state per state, as in the authors' code, drawn uniformly with replacement.
// 2. Sums over the numbers of a code are in double precision, at no noticeable cost.

#include "laplacian.h"

#include <math.h>
#include <string.h>

rh_status rh_closeness__init(rh_closeness *out, int window, double kappa, rh_error *err)
{
    double *sum = rh_alloc((size_t)window + 1, sizeof *sum);
    if (!sum)
        return rh_base__no_memory(err, "laplacian");
    double power = 1.0;
    for (int u = 1; u <= window; u++) {
        power *= kappa;
        sum[u] = sum[u - 1] + power;
    }
    *out = (rh_closeness){.window = (uint32_t)window, .sum = sum};
    return RH_OK;
}

void rh_closeness__clear(rh_closeness *closeness)
{
    rh_free(closeness->sum);
    *closeness = (rh_closeness){.window = 0};
}

uint32_t rh_closeness__draw(const rh_closeness *closeness, uint32_t ahead, rh_rng *rng)
{
    uint32_t last = ahead < closeness->window ? ahead : closeness->window, u = 1;
    double at = rh_rng_uniform(rng) * closeness->sum[last];
    while (u < last && at >= closeness->sum[u])
        u++;
    return u;
}

void rh_laplacian__draw(const rh_points *points, const rh_closeness *closeness, int n, int nin,
                        rh_rng *rng, float *x)
{
    size_t row = (size_t)nin, part = (size_t)n * row;
    for (int i = 0; i < n; i++, x += row) {
        size_t at = points->anchor[rh_rng_below(rng, points->nanchor)];
        size_t close = at + rh_closeness__draw(closeness, points->ahead[at], rng);
        size_t far = rh_rng_below(rng, points->n);
        memcpy(x, points->x + at * row, row * sizeof *x);
        memcpy(x + part, points->x + close * row, row * sizeof *x);
        memcpy(x + 2 * part, points->x + far * row, row * sizeof *x);
    }
}

double rh_laplacian__loss(const rh_laplacian__loss_parts *by, int n, int d, const float *y,
                          float *dy)
{
    double loss = 0.0, pull = 2.0 * by->half / n, push = 2.0 * by->beta / n;
    ptrdiff_t part = (ptrdiff_t)n * d;
    for (ptrdiff_t i = 0; i < part; i += d) {
        const float *a = y + i, *b = a + part, *c = b + part;
        double gap2 = 0.0, dot = 0.0, a2 = 0.0, c2 = 0.0;
        for (int k = 0; k < d; k++) {
            double ak = (double)a[k], ck = (double)c[k], gap = ak - (double)b[k];
            gap2 += gap * gap;
            dot += ak * ck;
            a2 += ak * ak;
            c2 += ck * ck;
        }
        loss += by->half * gap2 + by->beta * (dot * dot - by->zeta * (a2 + c2));
        if (!dy)
            continue;
        float *da = dy + i, *db = da + part, *dc = db + part;
        for (int k = 0; k < d; k++) {
            double ak = (double)a[k], ck = (double)c[k], gap = pull * (ak - (double)b[k]);
            da[k] = (float)(gap + push * (dot * ck - by->zeta * ak));
            db[k] = (float)-gap;
            dc[k] = (float)(push * (dot * ak - by->zeta * ck));
        }
    }
    return loss / n;
}
