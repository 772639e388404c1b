// awareness.c - dynamics awareness: how much nearer the code of a state is to its successor's
// than to that of a random state.
//
// The paper's measure of a representation phi, over N steps from s_i to s'_i:
//
//     near = mean of |phi(s_i) - phi(s'_i)|,   far = mean of |phi(s_i) - phi(s_j)|
//     awareness = (far - near) / far
//
// 1. i and j of far are both random, as in the authors' code. There are N such pairs, at least
//    10,000, because the mean of a few hundred would be too noisy.
// 2. The value may be negative; it is 0 if all codes are equal.
// 3. For codes of states and actions the successor of a step is the next step.

#include "numeric/mlp.h"
#include "repr.h"
#include "repr_internal.h"

#include <math.h>

#define NFAR 10000 // least random pairs
#define ROWS 256   // per block

static double distance(const float *a, const float *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double gap = (double)a[i] - (double)b[i];
        sum += gap * gap;
    }
    return sqrt(sum);
}

static rh_repr__aware measure(const rh_points *points, const float *code, int ncode,
                              uint64_t seed)
{
    rh_repr__aware out = {.value = NAN, .near = NAN, .far = NAN, .npair = points->nanchor};
    if (points->nanchor == 0)
        return out;

    double near = 0.0, far = 0.0;
    for (uint32_t i = 0; i < points->nanchor; i++) {
        const float *at = code + (size_t)points->anchor[i] * (size_t)ncode;
        near += distance(at, at + ncode, ncode);
    }
    rh_rng rng = rh_repr__chance(seed, RH_CHANCE_AWARENESS);
    uint32_t nfar = points->nanchor > NFAR ? points->nanchor : NFAR;
    for (uint32_t i = 0; i < nfar; i++) {
        size_t a = points->anchor[rh_rng_below(&rng, points->nanchor)];
        size_t b = points->anchor[rh_rng_below(&rng, points->nanchor)];
        far += distance(code + a * (size_t)ncode, code + b * (size_t)ncode, ncode);
    }
    out.near = near / points->nanchor;
    out.far = far / nfar;
    out.value = out.far > 0.0 ? 1.0 - out.near / out.far : 0.0;
    return out;
}

rh_status rh_points__codes(const rh_repr *repr, const rh_points *points, const float **code,
                           float **owned, rh_error *err)
{
    if (!repr->mlp) {
        *code = points->x;
        return RH_OK;
    }
    rh_mlp__pass *pass = NULL;
    rh_status rc = rh_mlp__pass_create(&pass, repr->mlp, ROWS, err);
    if (rc)
        return rc;
    float *x = rh_alloc(points->n ? points->n : 1, (size_t)repr->ncode * sizeof *x);
    if (!x) {
        rh_fail(err, RH_ENOMEM, "%s: out of memory for %u codes", repr->type->name, points->n);
        rh_mlp__pass_destroy(pass);
        return RH_ENOMEM;
    }
    rh_mlp__evaluate(repr->mlp, pass, points->n, points->x, x);
    rh_mlp__pass_destroy(pass);
    *code = *owned = x;
    return RH_OK;
}

rh_status rh_points__awareness(rh_repr__aware *out, const rh_repr *repr,
                               const rh_points *points, uint64_t seed, rh_error *err)
{
    const float *code = NULL;
    float *owned = NULL;
    rh_status rc = rh_points__codes(repr, points, &code, &owned, err);
    if (!rc)
        *out = measure(points, code, repr->ncode, seed);
    rh_free(owned);
    return rc;
}

rh_status rh_repr__awareness(rh_repr__aware *out, const rh_repr *repr, const rh_log *log,
                             const uint8_t *use, uint64_t seed, rh_error *err)
{
    if (log->nobs != repr->nobs || (repr->nact && log->nact != repr->nact))
        return rh_fail(
            err, RH_EINVAL,
            "awareness: %d sensors and actions of %d numbers, expected %d and %d as in "
            "the log of the representation",
            log->nobs, log->nact, repr->nobs, repr->nact);
    rh_points points = {0};
    rh_status rc = rh_points__gather(&points, repr, log, use, err);
    if (!rc)
        rc = rh_points__awareness(out, repr, &points, seed, err);
    rh_points__clear(&points);
    return rc;
}
