// steps.c - the transitions of a log that a learner can use.
//
// 1. A transition with a missing or infinite number in s, s', action or reward is left out. At
//    a terminal one s' does not matter, and its row is RH_UNKNOWN.
// 2. A truncated episode has not ended: the value of its last s' counts.

#include "base/text.h"
#include "offline_internal.h"

#include <math.h>

static bool finite_state(const rh_log *log, int32_t row)
{
    return row != RH_UNKNOWN &&
           rh_base__all_finite(log->obs + (int64_t)row * log->nobs, log->nobs);
}

static bool is_usable(const rh_log *log, int64_t i)
{
    return finite_state(log, log->from[i]) && isfinite(log->reward[i]) &&
           (log->flag[i] & RH_FLAG_TERMINAL || finite_state(log, log->to[i]));
}

static rh_status check_shape(const rh_log *log, int nobs, int naction, const char *owner,
                             rh_error *err)
{
    if (log->naction == 0)
        return rh_fail(err, RH_EINVAL,
                       "%s: a log of continuous actions, expected discrete ones", owner);
    if (log->nobs != nobs || log->naction != naction)
        return rh_fail(err, RH_EINVAL,
                       "%s: a log of %d sensors and %d actions, expected %d and %d as in the "
                       "task",
                       owner, log->nobs, log->naction, nobs, naction);
    if (log->n > INT32_MAX)
        return rh_fail(err, RH_EINVAL, "%s: %lld transitions, expected at most %d", owner,
                       (long long)log->n, INT32_MAX);
    return RH_OK;
}

rh_status rh_offline__take_steps(rh_offline__steps *steps, const rh_log *log, int nobs,
                                 int naction, const char *owner, rh_error *err)
{
    *steps = (rh_offline__steps){.log = log};
    rh_status rc = check_shape(log, nobs, naction, owner, err);
    if (rc)
        return rc;
    steps->from = rh_alloc((size_t)log->n, sizeof *steps->from);
    steps->to = rh_alloc((size_t)log->n, sizeof *steps->to);
    steps->act = rh_alloc((size_t)log->n, sizeof *steps->act);
    steps->reward = rh_alloc((size_t)log->n, sizeof *steps->reward);
    if (!steps->from || !steps->to || !steps->act || !steps->reward)
        return rh_base__no_memory(err, owner);

    for (int64_t i = 0; i < log->n; i++) {
        if (!is_usable(log, i))
            continue;
        steps->from[steps->n] = log->from[i];
        steps->to[steps->n] = log->flag[i] & RH_FLAG_TERMINAL ? RH_UNKNOWN : log->to[i];
        steps->act[steps->n] = (int32_t)log->act[i];
        steps->reward[steps->n++] = log->reward[i];
    }
    if (steps->n == 0)
        return rh_fail(err, RH_EINVAL,
                       "%s: every one of %lld transitions has a missing or infinite number",
                       owner, (long long)log->n);
    return RH_OK;
}

void rh_offline__clear_steps(rh_offline__steps *steps)
{
    rh_free(steps->from);
    rh_free(steps->to);
    rh_free(steps->act);
    rh_free(steps->reward);
}
