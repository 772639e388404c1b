// linear_near.c - residuals of the nearest logged steps.
//
// What the regression leaves may depend on where the plant is: a valve that sticks, a curve
// that squares and products miss, noise that grows with the flow. With residuals "near" every
// step takes those of one of the NNEAR logged steps whose levels and inputs are nearest, in
// standard deviations: their mean is the bias there, their spread the noise there. The order in
// time, which a stretch keeps, is lost.

#include "linear_internal.h"

#include "base/base_internal.h"

#define NNEAR 8 // by hand

static int width_of(const rh_linear *m)
{
    return m->nlevel + m->ninput;
}

rh_status rh_linear__index_residuals(rh_linear *m, const rh_model *model, rh_error *err)
{
    int d = width_of(m);
    if (d > RH_NEIGHBOURS_DIM || m->nable < 1)
        return rh_fail(
            err, RH_EINVAL,
            "linear: residuals near of %lld steps with %d numbers, expected at least "
            "1 step and at most %d numbers: leave out sensors",
            (long long)m->nable, d, RH_NEIGHBOURS_DIM);
    float *points = rh_alloc((size_t)m->nable, (size_t)d * sizeof *points);
    double *x = rh_alloc((size_t)m->nterm + RH_LINEAR__QUEUE, sizeof *x);
    rh_status rc = points && x ? RH_OK : rh_base__no_memory(err, "linear");
    for (int64_t i = 0; !rc && i < m->nable; i++) {
        rh_linear__past past;
        rh_linear__past_of(&past, m, model->log, m->able[i]);
        rh_linear__terms(m, &m->plan, &past, model, x);
        for (int k = 0; k < d; k++)
            points[i * d + k] = (float)x[1 + k];
    }
    if (!rc)
        rc = rh_neighbours__create(&m->near, points, m->nable, d, err);
    rh_free(points);
    rh_free(x);
    return rc;
}

// The nearest steps of terms x, to near (NNEAR); how many.
static int find(const rh_linear *m, const double *x, int32_t near[NNEAR])
{
    float at[RH_NEIGHBOURS_DIM];
    for (int k = 0; k < width_of(m); k++)
        at[k] = (float)x[1 + k];
    return rh_neighbours__find(m->near, at, NNEAR, -1, near, NULL);
}

const float *rh_linear__draw_near(const rh_linear *m, const double *x, rh_rng *rng)
{
    int32_t near[NNEAR];
    int n = find(m, x, near);
    int64_t t = m->able[near[rh_rng_below(rng, (uint32_t)n)]];
    return m->residual + t * (m->nout + 1);
}

void rh_linear__mean_near(const rh_linear *m, const double *x, float *mean)
{
    int32_t near[NNEAR];
    int n = find(m, x, near);
    for (int k = 0; k <= m->nout; k++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++)
            sum += (double)m->residual[(int64_t)m->able[near[i]] * (m->nout + 1) + k];
        mean[k] = (float)(sum / n);
    }
}
