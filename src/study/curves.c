// curves.c - what the learning curves of a setting promise, for the test of a deployed agent.
//
// With y[p] the p-th point of a run's curve, m[p] and s[p] mean and standard deviation over the
// n runs of the setting, the deficits of a run are
//
//     z[p] = (m[p] - y[p]) / (s[p] sqrt(1 + 1/n)), cut to -6 .. 6
//     d[p] = max(0, 0.6 d[p - 1] + z[p] - 1/2)
//
// which is Page's CUSUM with forgetting. The alarm level is the k-th largest max(d) of the n
// runs, with m and s of the other n - 1, and k = floor(rate (n + 1)). A further run exceeds it
// with a probability of at most `rate` if it is like these, whatever the points' distribution
// and correlation: all n + 1 runs are then equally likely to have the k largest values
// (conformal prediction).
//
// 1. The rate is 1 %, or 1 / (n + 1) where there are fewer than 99 runs.
// 2. z is cut, so that one rare failure among the runs does not set the level for all. Sums
//    without forgetting made levels of 15 and more, because a run that learned badly stays
//    below the others: a promise broken by half was found after seven segments and not two.
// 3. s is at least 1 % of the mean |m|: rewards without noise have s = 0, and a deficit in the
//    last digit is no broken promise.
// 4. A point without a value (no episode ended in it) changes nothing.
// 5. The runs are those in the study's own kind of model, as the score is. Kinds that disagree
//    would make deficits of half of the runs, and a level that nothing exceeds.

#include "base/base_internal.h"
#include "core.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>

#define RATE 0.01         // decision 1
#define LEAST_SPREAD 0.01 // decision 3
#define SLACK 0.5         // in standard deviations: CUSUM's reference value for a shift of one
#define CUT 6.0           // decision 2: most that a point counts
#define KEPT 0.6          // decision 2: of the deficits so far; by hand

double rh_promise__deficit(double before, double mean, double spread, int nrun, double y)
{
    if (isnan(y) || isnan(mean) || !(spread > 0.0) || nrun < 1)
        return before;
    double z = (mean - y) / (spread * sqrt(1.0 + 1.0 / nrun));
    return fmax(0.0, KEPT * before + fmax(-CUT, fmin(CUT, z)) - SLACK);
}

// Rows of curves: run r of member m is row r * nmember + m. NULL: not to be counted.
static const double *row(const rh_study *study, const rh_study__record *record, int i)
{
    const rh_trial *trial = &record->trial;
    int m = i % trial->nmember, r = i / trial->nmember;
    size_t at = (size_t)m * (size_t)trial->nrun + (size_t)r;
    if (m >= trial->nmember / trial->nkind || record->result[at].outcome == RH_STOPPED)
        return NULL;
    return record->curves + (size_t)i * (size_t)study->plan->ncurve;
}

// The mean of point p; the sum of squared deviations from it and the number of runs that have
// it.
static double mean_of(const rh_study *study, const rh_study__record *record, int p,
                      double *squares, int *n)
{
    const double *y;
    double sum = 0.0;
    int nrow = record->nasked * record->trial.nmember;
    *n = 0;
    for (int i = 0; i < nrow; i++)
        if ((y = row(study, record, i)) != NULL && !isnan(y[p])) {
            sum += y[p];
            ++*n;
        }
    double mean = *n ? sum / *n : NAN;
    *squares = 0.0;
    for (int i = 0; i < nrow; i++)
        if ((y = row(study, record, i)) != NULL && !isnan(y[p]))
            *squares += (y[p] - mean) * (y[p] - mean);
    return mean;
}

// The points of all runs.
typedef struct points {
    double squares[RH_STUDY__NCURVE]; // (ncurve)
    int n[RH_STUDY__NCURVE];          // (ncurve)
    double least;                     // spread
} points;

// The largest deficit of a run y among the others.
static double largest(const rh_study__record *record, int ncurve, const points *all,
                      const double *y)
{
    double d = 0.0, most = 0.0;
    for (int p = 0; p < ncurve; p++) {
        if (all->n[p] < 3 || isnan(y[p]))
            continue;
        double off = y[p] - record->promised[p], others = all->n[p] - 1.0;
        double mean = record->promised[p] - off / others;
        double rest = fmax(0.0, all->squares[p] - off * off * all->n[p] / others);
        double spread = fmax(all->least, sqrt(rest / (others - 1.0)));
        d = rh_promise__deficit(d, mean, spread, all->n[p] - 1, y[p]);
        most = fmax(most, d);
    }
    return most;
}

rh_status rh_study__foresee_curve(const rh_study *study, rh_study__record *record,
                                  rh_error *err)
{
    points all = {.least = 0.0};
    rh_trial *trial = &record->trial;
    int nrun = 0, nknown = 0, ncurve = study->plan->ncurve;
    int nrow = record->nasked * trial->nmember;
    if (!record->curves) // restored from the journal
        return RH_OK;
    double *most = rh_alloc((size_t)nrow + 1, sizeof *most);
    if (!most)
        return rh_base__no_memory(err, "study");
    for (int p = 0; p < ncurve; p++) {
        record->promised[p] = mean_of(study, record, p, &all.squares[p], &all.n[p]);
        all.least += all.n[p] ? LEAST_SPREAD * fabs(record->promised[p]) : 0.0;
        nknown += all.n[p] > 0;
    }
    all.least = nknown ? all.least / nknown : 0.0;
    for (int p = 0; p < ncurve; p++)
        record->spread[p] =
            all.n[p] > 1 ? fmax(all.least, sqrt(all.squares[p] / (all.n[p] - 1.0))) : NAN;

    const double *y;
    for (int i = 0; i < nrow; i++)
        if ((y = row(study, record, i)) != NULL)
            most[nrun++] = largest(record, ncurve, &all, y);
    if (nrun > 2 && nknown) {
        int k = (int)(RATE * (nrun + 1));
        k = k < 1 ? 1 : k;
        rh_stats__sort(most, nrun);
        trial->alarm = most[nrun - k];
        trial->false_alarms = (double)k / (nrun + 1);
        trial->ncurve_run = nrun;
    }
    rh_free(most);
    return RH_OK;
}
