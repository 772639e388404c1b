// inspect_fit.c - ridge regression from sums, fitted on one half and evaluated on the other.
//
// Sums of squares and products suffice to fit any subset of features and to test it on the
// other half. So one pass over the steps is enough, and eight fits cost little more than one.

#include "inspect_align.h"
#include "numeric/cholesky.h"

#include <math.h>
#include <string.h>

#define RIDGE_PER_STEP 1e-4 // added to every square, times the number of steps; by hand

// Keeps the factor of sums real where rounding would not; features are clipped, so that none
// overflows.
#define LEAST_PIVOT 1e-12

bool rh_inspect__sums_init(rh_inspect__sums *s, int p, int m)
{
    size_t pp = (size_t)p * (size_t)p, pm = (size_t)p * (size_t)m;
    *s = (rh_inspect__sums){.p = p, .m = m};
    s->solve = rh_alloc(3 * (pp + pm) + 2 * (size_t)m, sizeof *s->solve);
    if (!s->solve)
        return false;
    double *at = s->solve + pp + pm;
    for (int f = 0; f < 2; f++) {
        s->g[f] = at;
        s->b[f] = at + pp;
        s->y[f] = at + pp + pm;
        at += pp + pm + (size_t)m;
    }
    return true;
}

void rh_inspect__sums_add(rh_inspect__sums *s, int half, const double *x, const double *y)
{
    int p = s->p, m = s->m;
    for (int i = 0; i < p; i++) {
        double *g = s->g[half] + (size_t)i * (size_t)p;
        double *b = s->b[half] + (size_t)i * (size_t)m;
        if (x[i] == 0.0)
            continue;
        for (int j = 0; j <= i; j++)
            g[j] += x[i] * x[j];
        for (int j = 0; j < m; j++)
            b[j] += x[i] * y[j];
    }
    for (int j = 0; j < m; j++)
        s->y[half][j] += y[j] * y[j];
    s->n[half] += 1.0;
}

void rh_inspect__ridge(double *g, int p, double *b, int m, double n)
{
    for (int i = 0; i < p; i++)
        g[i * p + i] += RIDGE_PER_STEP * n + 1e-9;
    rh_cholesky__factor_small(p, g, (size_t)p, LEAST_PIVOT);
    for (int t = 0; t < m; t++)
        rh_cholesky__solve_small(p, g, (size_t)p, b + (size_t)t * (size_t)p, 1);
}

void rh_inspect__sums_error(rh_inspect__sums *s, const int *use, int n, double *error)
{
    int p = s->p, m = s->m;
    double *a = s->solve, *w = s->solve + (size_t)p * (size_t)p;
    for (int half = 0; half < 2; half++) {
        const double *g = s->g[half], *b = s->b[half];
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                a[i * n + j] = g[(size_t)use[i] * (size_t)p + (size_t)use[j]] +
                               (i == j ? RIDGE_PER_STEP * s->n[half] + 1e-9 : 0.0);
        rh_cholesky__factor_small(n, a, (size_t)n, LEAST_PIVOT);
        for (int t = 0; t < m; t++) {
            double *x = w + (size_t)t * (size_t)p;
            for (int i = 0; i < n; i++)
                x[i] = b[(size_t)use[i] * (size_t)m + (size_t)t];
            rh_cholesky__solve_small(n, a, (size_t)n, x, 1);
        }

        // error on the other half, from its sums
        g = s->g[1 - half];
        b = s->b[1 - half];
        for (int t = 0; t < m; t++) {
            const double *x = w + (size_t)t * (size_t)p;
            double e = s->y[1 - half][t];
            for (int i = 0; i < n; i++) {
                const double *row = g + (size_t)use[i] * (size_t)p;
                double sum = 0.5 * row[use[i]] * x[i];
                for (int j = 0; j < i; j++)
                    sum += row[use[j]] * x[j];
                e += 2.0 * x[i] * (sum - b[(size_t)use[i] * (size_t)m + (size_t)t]);
            }
            error[t] += fmax(e, 0.0);
        }
    }
}

double rh_inspect__explained(rh_inspect__sums *s, double *work)
{
    int use[RH_INSPECT__FEATURES], mean = 0;
    double whole = 0.0, left = 0.0;
    for (int i = 0; i < s->p; i++)
        use[i] = i;
    memset(work, 0, 2 * (size_t)s->m * sizeof *work);
    rh_inspect__sums_error(s, &mean, 1, work);
    rh_inspect__sums_error(s, use, s->p, work + s->m);
    for (int j = 0; j < s->m; j++) {
        whole += work[j];
        left += work[s->m + j];
    }
    return whole > 0.0 ? 1.0 - left / whole : NAN;
}
