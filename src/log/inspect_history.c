// inspect_history.c - tests whether the sensors show the whole state.
//
// Steps are predicted by similar ones, once by their state and action, once by those and the
// step before. If the second prediction is much better, the sensors do not show something that
// the past does: a speed, a delayed valve. --stack 2 then makes the past part of the state.
//
// 1. A prediction is the ridge regression plus the mean of what it leaves over in the four
//    nearest steps, none from the query's own sixteenth of the log, so it is held out.
// 2. What remains unexplained of a sensor is the median error, divided by the median deviation
//    of its changes from their median: some jumps, such as the resets of a plant after
//    failures, do not decide. The sensor that gains most is reported.

#include "inspect_local.h"
#include "numeric/stats.h"

#include <math.h>

#define NNEAR 4 // decision 1

// Absolute errors of all queries, outcome by outcome, into error (ny x nquery).
static void predict(const rh_inspect__local *l, double *error)
{
    for (int64_t i = 0; i < l->nquery; i++) {
        int64_t q = rh_inspect__local_query(l, i), near[NNEAR];
        int own = rh_inspect__local_segment(l, q), n = 0;
        float far[NNEAR];
        int64_t skip = rh_inspect__local_begin(l, own);
        int64_t resume = rh_inspect__local_begin(l, own + 1);
        for (int64_t j = 0; j < l->n; j++) {
            j = j == skip ? resume : j;
            if (j == l->n || l->action[j] != l->action[q])
                continue;
            float sum = 0.0F, most = n < NNEAR ? INFINITY : far[NNEAR - 1];
            for (int k = 0; k < l->nx && sum < most; k++) {
                float d = l->x[j * l->nx + k] - l->x[q * l->nx + k];
                sum += d * d;
            }
            if (!(sum < most))
                continue;
            int at = n < NNEAR ? n++ : NNEAR - 1;
            for (; at > 0 && far[at - 1] > sum; at--) {
                far[at] = far[at - 1];
                near[at] = near[at - 1];
            }
            far[at] = sum;
            near[at] = j;
        }
        for (int j = 0; j < l->ny; j++) {
            double mean = 0.0;
            for (int k = 0; k < n; k++)
                mean += l->y[near[k] * l->ny + j] / n;
            error[j * l->nquery + i] = fabs(l->y[q * l->ny + j] - mean);
        }
    }
}

bool rh_inspect__history(rh_log_report *report, const rh_log *log)
{
    rh_inspect__local now = {.past = true}, stacked = {.past = true, .deep = true};
    rh_log_history *h = &report->history;
    double *error[2] = {NULL, NULL};
    bool good = rh_inspect__local_init(&now, log, report) &&
                rh_inspect__local_init(&stacked, log, report);
    for (int k = 0; good && now.n > 0 && k < 2; k++) {
        error[k] = rh_alloc((size_t)(now.ny * now.nquery), sizeof *error[k]);
        good = error[k] != NULL;
    }
    if (good && now.n > 0) {
        predict(&now, error[0]);
        predict(&stacked, error[1]);
        for (int j = 0; j < now.space.n; j++) {
            if (!(now.spread[j] > 0.0))
                continue;
            int64_t at = j * now.nquery;
            double first = rh_stats__quantile(error[0] + at, now.nquery, 0.5) / now.spread[j];
            double then = rh_stats__quantile(error[1] + at, now.nquery, 0.5) / now.spread[j];
            if (h->n > 0 && first - then <= h->now - h->stacked)
                continue;
            *h = (rh_log_history){now.nquery, now.space.sensor[j], first, then};
        }
    }
    rh_free(error[0]);
    rh_free(error[1]);
    rh_inspect__local_clear(&now);
    rh_inspect__local_clear(&stacked);
    return good;
}
