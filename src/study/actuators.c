// actuators.c - was the range of an actuator taken from the log, where that may be too narrow?
//
// Without --range a continuous action ranges from its lowest to its highest value in the log,
// and no agent goes beyond. The log may not show all of it, in two cases: it is often at an
// end, so a controller clips it there; or most values are in a small part, so that few steps
// decide where the range ends.

#include "core.h"
#include "log/log.h"
#include "numeric/stats.h"
#include "plan.h"

#include <math.h>

#define CLIPPED 0.05 // share of the steps at an end; by hand
#define NARROW 0.25  // share of the range that has most values; by hand
#define MOST 0.9     // of the values; by hand

// The share of the sorted values x (n) at an end; the share of the range with most of them.
static void shape_of(const double *x, int64_t n, double *ends, double *width)
{
    int64_t nend = 0;
    for (int64_t i = 0; i < n; i++)
        nend += x[i] == x[0] || x[i] == x[n - 1];
    *ends = (double)nend / (double)n;
    *width = (rh_stats__quantile_sorted(x, n, 0.5 + 0.5 * MOST) -
              rh_stats__quantile_sorted(x, n, 0.5 - 0.5 * MOST)) /
             (x[n - 1] - x[0]);
}

static void say(rh_findings *f, const char *name, const double *x, int64_t n)
{
    double ends, width;
    char why[100];
    if (n < 2 || !(x[0] < x[n - 1]))
        return;
    shape_of(x, n, &ends, &width);
    if (ends >= CLIPPED)
        snprintf(why, sizeof why, "%.0f %% of the steps are at an end", 100.0 * ends);
    else if (width <= NARROW)
        snprintf(why, sizeof why, "%.0f %% of the steps are within %.0f %% of that",
                 100.0 * MOST, 100.0 * width);
    else
        return;
    rh_findings__advise(rh_findings__add(f, RH_NOTICE, RH_FINDING_RANGE_FROM_LOG, n,
                                         "%s ranges from %.4g to %.4g, as in the log: %s", name,
                                         x[0], x[n - 1], why),
                        "give the actuator's own range, if it is another (--range)");
}

rh_status rh_study__actuators(rh_study *study)
{
    const rh_log *log = rh_study__whole_log(study);
    double lo[RH_MAX_OBS + RH_MAX_ACT], hi[RH_MAX_OBS + RH_MAX_ACT];
    if (log->naction || study->plan->task_of || log->n == 0)
        return RH_OK;
    for (int i = 0; i < log->nobs + log->nact; i++)
        lo[i] = hi[i] = NAN;
    rh_status rc = rh_plan__place_in(study->plan, log, lo, hi, NULL);
    double *x = rc ? NULL : rh_alloc((size_t)log->n, sizeof *x);
    if (!x)
        return rc ? RH_OK : RH_ENOMEM; // a model of another log, whose names differ
    for (int k = 0; k < log->nact; k++) {
        if (!isnan(lo[log->nobs + k]))
            continue;
        for (int64_t i = 0; i < log->n; i++)
            x[i] = log->act[i * log->nact + k];
        rh_stats__sort(x, log->n);
        say(&study->verdict.findings, log->act_name[k], x, log->n);
    }
    rh_free(x);
    return RH_OK;
}
