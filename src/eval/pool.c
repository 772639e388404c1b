// pool.c - pool the scores of a setting in several members.
//
// The lower quartile is numpy's default, linear between order statistics: for two members it is
// the worse one plus a quarter of the difference.

#include "base/base_internal.h"
#include "eval.h"
#include "numeric/stats.h"
#include "rehearse/eval.h"

#include <math.h>

static const char *const pool_name[] = {
    [RH_POOL_MEAN] = "mean",
    [RH_POOL_WORST] = "worst",
    [RH_POOL_QUARTILE] = "quartile",
};

const char *const *rh_pool__names(int *n)
{
    *n = sizeof pool_name / sizeof *pool_name;
    return pool_name;
}

double rh_pool__score(rh_pool pool, const double *score, int nmember)
{
    if (nmember < 1 || nmember > RH_MAX_MEMBER)
        return NAN;
    double sum = 0.0, sorted[RH_MAX_MEMBER] = {score[0]};
    for (int i = 0; i < nmember; i++) {
        if (isnan(score[i]))
            return NAN;
        sum += score[i];
        int at = i;
        for (; at > 0 && sorted[at - 1] > score[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = score[i];
    }

    switch (pool) {
    case RH_POOL_MEAN:
        return sum / nmember;
    case RH_POOL_WORST:
        return sorted[0];
    case RH_POOL_QUARTILE:
        return rh_stats__quantile_sorted(sorted, nmember, 0.25);
    }
    return NAN;
}
