// replay_score.c - proper scores of a small ensemble of replays.
//
// With x the n members of an ensemble and y what happened (Gneiting and Raftery 2007),
//
//     energy   mean |x_i - y| - mean over pairs i != j of |x_i - x_j| / 2
//     CRPS     the same of numbers; of the numbers 0 and 1, the Brier score
//
// 1. All are fair (Ferro 2014): the mean over pairs leaves out i = j, so the number of replays
//    does not bias them and a model without noise is not favoured over one with the plant's.
// 2. An ended run has no state. It stands at the centre of the log's states, one unit aside:
//    distance |x - x'| + |u - u'| with u = 1 if ended. A sum of distances of negative type is
//    of negative type, so the score stays proper, and a model that ends early or late pays for
//    it.
// 3. |x - x'| is the root mean square over scaled sensors: joint, so that a model whose sensors
//    do not fit together pays, and comparable for any number of sensors.

#include "replay.h"

#include <math.h>

double rh_stretches__apart(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            sum += fabs(x[i] - x[j]);
    return n > 1 ? sum / (0.5 * n * (n - 1)) : 0.0;
}

double rh_stretches__crps(const double *x, int n, double apart, double y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += fabs(x[i] - y);
    return sum / n - 0.5 * (isnan(apart) ? rh_stretches__apart(x, n) : apart);
}

double rh_stretches__distance(rh_stretches__point a, rh_stretches__point b, int d)
{
    double sum = 0.0;
    for (int k = 0; k < d; k++) {
        double x = (double)a.x[k] - (double)b.x[k];
        sum += x * x;
    }
    return sqrt(sum / (d > 0 ? d : 1)) + (a.ended != b.ended ? 1.0 : 0.0);
}

double rh_stretches__spread(const rh_stretches__point *x, int n, int d)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            sum += rh_stretches__distance(x[i], x[j], d);
    return n > 1 ? sum / (0.5 * n * (n - 1)) : 0.0;
}

double rh_stretches__energy(const rh_stretches__point *x, int n, double spread,
                            rh_stretches__point y, int d)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += rh_stretches__distance(x[i], y, d);
    return sum / n - 0.5 * (isnan(spread) ? rh_stretches__spread(x, n, d) : spread);
}
