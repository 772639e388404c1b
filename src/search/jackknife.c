// jackknife.c - standard errors of importances.
//
// The grouped jackknife (Efron and Tibshirani 1993, chapter 11; Shao and Tu 1995, section 2.3):
// the importances are computed again without each of GROUPS parts of the settings in turn. With
// g the number of parts, t_i the importance without part i and m the mean of these:
//
//     error^2 = (g - 1) / g * sum_i (t_i - m)^2
//
// 1. Every GROUPS-th setting is in one part, so that a search that narrows down has settings of
//    all its stages in each.
// 2. The process is fitted anew without each part: its length scales are the greatest source of
//    error.

#include "search.h"
#include "search_internal.h"

#include <math.h>
#include <string.h>

#define GROUPS 8

// Copy the settings that are not in part `out`; how many.
static int leave_out(int out, int ndim, int n, const double *x, const double *value,
                     const double *noise, double *kept)
{
    double *kept_value = kept + (size_t)n * (size_t)ndim, *kept_noise = kept_value + n;
    int left = 0;
    for (int i = 0; i < n; i++) {
        if (i % GROUPS == out)
            continue;
        memcpy(kept + (size_t)left * (size_t)ndim, x + (size_t)i * (size_t)ndim,
               (size_t)ndim * sizeof *kept);
        kept_value[left] = value[i];
        kept_noise[left++] = noise ? noise[i] : NAN;
    }
    return left;
}

static double error_of(double effect[GROUPS][RH_MAX_DIM], int k)
{
    double mean = 0.0, square = 0.0;
    for (int g = 0; g < GROUPS; g++)
        mean += effect[g][k] / GROUPS;
    for (int g = 0; g < GROUPS; g++)
        square += (effect[g][k] - mean) * (effect[g][k] - mean);
    return sqrt(square * (GROUPS - 1) / GROUPS);
}

rh_status rh_importance__errors(const rh_space *space, int n, const double *x,
                                const double *value, const double *noise, double *share,
                                double *total, rh_error *err)
{
    int ndim = space->ndim;
    double alone[GROUPS][RH_MAX_DIM], together[GROUPS][RH_MAX_DIM];
    if (n < 2 * GROUPS + ndim)
        return rh_fail(err, RH_EINVAL,
                       "importance: %d settings, expected %d or more for an error", n,
                       2 * GROUPS + ndim);
    double *kept = rh_alloc((size_t)n, (size_t)(ndim + 2) * sizeof *kept);
    if (!kept)
        return rh_fail(err, RH_ENOMEM, "importance: out of memory for %d settings", n);
    const double *kept_value = kept + (size_t)n * (size_t)ndim, *kept_noise = kept_value + n;
    rh_status rc = RH_OK;
    for (int g = 0; g < GROUPS && !rc; g++) {
        int left = leave_out(g, ndim, n, x, value, noise, kept);
        rc = rh_importance__shares(space, left, kept, kept_value, noise ? kept_noise : NULL,
                                   alone[g], together[g], NULL, err);
    }
    for (int k = 0; k < ndim && !rc; k++) {
        share[k] = error_of(alone, k);
        total[k] = error_of(together, k);
    }
    rh_free(kept);
    return rc;
}
