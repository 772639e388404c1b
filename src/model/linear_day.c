// linear_day.c - how long the days of a log are, by a sensor that is a clock.
//
// A sensor that goes round is a clock if most of its changes (MOST_EVEN) differ by less than
// UNEVEN from their mean, and if a day of whole steps is off by at most MOST_DRIFT steps at the
// end of the log. The direction of the wind goes round too, and unevenly.

#include "linear_internal.h"

#include "log/log.h"

#include <math.h>

#define LEAST_DAY 8    // steps: a sensor that goes round faster is no clock; by hand
#define FEWEST_DAYS 3  // in the log; by hand
#define MOST_EVEN 0.9  // of the changes; by hand
#define UNEVEN 0.1     // of the mean; by hand
#define MOST_DRIFT 2.0 // steps; by hand

// The change of sensor k in logged step t; NAN: not known.
static double change_of(const rh_model *model, int k, int64_t t)
{
    const rh_log *log = model->log;
    if (log->to[t] == RH_UNKNOWN)
        return NAN;
    return rh_knn__difference(model, k, log->obs[(int64_t)log->to[t] * log->nobs + k],
                              log->obs[(int64_t)log->from[t] * log->nobs + k]);
}

// Steps of a day by sensor k, which goes round; 0: it is no clock.
static int64_t day_of(const rh_model *model, int k)
{
    const rh_log *log = model->log;
    double sum = 0.0, n = 0.0, even = 0.0;
    for (int64_t t = 0; t < log->n; t++) {
        double change = change_of(model, k, t);
        sum += isnan(change) ? 0.0 : change;
        n += !isnan(change);
    }
    if (sum == 0.0) // also without any step
        return 0;
    double mean = sum / n;
    for (int64_t t = 0; t < log->n; t++)
        even += fabs(change_of(model, k, t) - mean) <= UNEVEN * fabs(mean); // false for NAN
    double day = fabs(model->facts->sensor[k].period / mean), whole = round(day);
    bool clock = even >= MOST_EVEN * n && whole >= LEAST_DAY &&
                 whole * FEWEST_DAYS <= (double)log->n &&
                 fabs(day - whole) * n <= MOST_DRIFT * day;
    return clock ? (int64_t)whole : 0;
}

int64_t rh_linear__day(const rh_linear *m, const rh_model *model)
{
    int64_t day = 0;
    for (int j = 0; j < m->nexo && !day; j++)
        if (!isnan(model->facts->sensor[m->exo[j]].period))
            day = day_of(model, m->exo[j]);
    return day;
}
