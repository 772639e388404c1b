// inspect_local.c - steps and what state and action do not explain linearly of their outcomes.
//
// Jumps of a sensor, such as resets after a failure, are left out of the regression: a few of
// them would decide its weights.

#include "inspect_local.h"
#include "base/base_internal.h"
#include "inspect_align.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUERIES 2000
#define PLACES 10000
#define JUMP 20.0    // median deviations
#define EFFORT 4.0e8 // products of comparing all queries with all steps

int rh_inspect__local_segment(const rh_inspect__local *l, int64_t i)
{
    return (int)(i * RH_INSPECT__SEGMENTS / l->n);
}

int64_t rh_inspect__local_begin(const rh_inspect__local *l, int segment)
{
    return (segment * l->n + RH_INSPECT__SEGMENTS - 1) / RH_INSPECT__SEGMENTS;
}

int64_t rh_inspect__local_query(const rh_inspect__local *l, int64_t i)
{
    return rh_inspect__spread(i, l->nquery, l->n);
}

// Whether step t can be compared.
static bool is_usable(const rh_inspect__local *l, int64_t t)
{
    const rh_log *log = l->log;
    return log->to[t] != RH_UNKNOWN &&
           (!l->past || (log->step[t] > 0 && log->to[t - 1] == log->from[t]));
}

// Numbers of an action: continuous ones, or one for each of few discrete ones.
static int action_width(const rh_log *log)
{
    return !log->naction ? log->nact : log->naction <= RH_INSPECT__CHOICES ? log->naction : 0;
}

// The number of a continuous action in step t, scaled.
static float amount(const rh_inspect__local *l, const rh_log_report *report, int64_t t, int k)
{
    const rh_log_numbers *a = &report->amount[k];
    double off = a->sd > 0.0 ? (l->log->act[t * l->log->nact + k] - a->median) / a->sd : 0.0;
    return isfinite(off) ? (float)rh_inspect__clip(off, RH_INSPECT__CLIP) : 0.0F;
}

// The state and action of step t.
static void put_now(const rh_inspect__local *l, const rh_log_report *report, int64_t t,
                    float *to)
{
    const rh_log *log = l->log;
    double x[RH_MAX_OBS];
    rh_inspect__place(&l->space, log, log->from[t], x);
    for (int j = 0; j < l->space.n; j++)
        *to++ = (float)x[j];
    for (int k = 0; k < log->nact && !log->naction; k++)
        *to++ = amount(l, report, t, k);
}

// What the step before adds, as it is near to the state: its changes, in units of the usual
// change; and its action.
static void put_before(const rh_inspect__local *l, const rh_log_report *report, int64_t t,
                       float *to)
{
    const rh_log *log = l->log;
    double d[RH_MAX_OBS];
    rh_inspect__changes(&l->space, log, t, d);
    for (int j = 0; j < l->space.n; j++) {
        double unit = l->spread[j] > 0.0 ? l->spread[j] : 1.0;
        *to++ = (float)rh_inspect__clip(d[j] / unit, RH_INSPECT__CLIP);
    }
    for (int k = 0; k < action_width(log); k++)
        *to++ = !log->naction ? amount(l, report, t, k) : k == (int)log->act[t] ? 1.0F : 0.0F;
}

static void take_steps(rh_inspect__local *l, const rh_log_report *report, int64_t nusable)
{
    const rh_log *log = l->log;
    const rh_log_numbers *reward = &report->reward;
    double scale = reward->sd > 0.0 ? reward->sd : 1.0;
    int64_t seen = 0, i = 0;
    for (int64_t t = 0; t < log->n && i < l->n; t++) {
        if (!is_usable(l, t) || seen++ != rh_inspect__spread(i, l->n, nusable))
            continue;
        double *y = l->y + i * l->ny;
        put_now(l, report, t, l->x + i * l->nx);
        l->action[i] = log->naction ? (int)log->act[t] : 0;
        l->at[i++] = t;
        rh_inspect__changes(&l->space, log, t, y);
        y[l->space.n] = (log->reward[t] - reward->median) / scale;
        for (int j = 0; j < l->ny; j++)
            y[j] = isfinite(y[j]) ? rh_inspect__clip(y[j], RH_INSPECT__CLIP) : 0.0;
    }
}

// work: (nquery)
static void measure_spread(rh_inspect__local *l, double *work)
{
    for (int j = 0; j < l->ny; j++) {
        for (int64_t i = 0; i < l->nquery; i++)
            work[i] = l->y[rh_inspect__local_query(l, i) * l->ny + j];
        l->centre[j] = rh_stats__quantile(work, l->nquery, 0.5);
        for (int64_t i = 0; i < l->nquery; i++)
            work[i] = fabs(work[i] - l->centre[j]);
        l->spread[j] = rh_stats__quantile(work, l->nquery, 0.5);
    }
}

// Whether a step jumps: a sensor changes far more than usual.
static bool jumps(const rh_inspect__local *l, const double *y)
{
    for (int j = 0; j < l->space.n; j++)
        if (l->spread[j] > 0.0 && fabs(y[j] - l->centre[j]) > JUMP * l->spread[j])
            return true;
    return false;
}

// Subtract from the outcomes of an action what state and action explain; with few steps, the
// mean. sums: features (p), g (p x p), weights (ny x p).
static void explain(rh_inspect__local *l, int action, double *sums)
{
    int p = l->nx + 1, ny = l->ny;
    double *f = sums, *g = f + p, *w = g + (size_t)p * (size_t)p;
    int64_t n = 0;
    for (int64_t i = 0; i < l->n; i++)
        n += l->action[i] == action;
    p = n < 4 * (int64_t)p ? 1 : p;
    memset(g, 0, ((size_t)p * (size_t)p) * sizeof *g);
    memset(w, 0, ((size_t)p * (size_t)ny) * sizeof *w);
    f[0] = 1.0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < l->n; i++) {
            if (l->action[i] != action)
                continue;
            double *y = l->y + i * ny;
            if (pass == 0 && jumps(l, y))
                continue;
            for (int j = 1; j < p; j++)
                f[j] = (double)l->x[i * l->nx + j - 1];
            for (int j = 0; j < p && pass == 0; j++)
                for (int k = 0; k <= j; k++)
                    g[j * p + k] += f[j] * f[k];
            for (int t = 0; t < ny; t++) {
                double *of = w + (size_t)t * (size_t)p, sum = 0.0;
                for (int j = 0; j < p && pass == 0; j++)
                    of[j] += f[j] * y[t];
                for (int j = 0; j < p && pass == 1; j++)
                    sum += f[j] * of[j];
                y[t] -= sum;
            }
        }
        if (pass == 0)
            rh_inspect__ridge(g, p, w, ny, (double)n);
    }
}

bool rh_inspect__local_init(rh_inspect__local *l, const rh_log *log,
                            const rh_log_report *report)
{
    int64_t nusable = 0;
    l->log = log;
    rh_inspect__space_init(&l->space, log, report);
    int own = l->space.n + (log->naction ? 0 : log->nact);
    int before = l->space.n + action_width(log);
    l->nx = own + (l->deep ? before : 0);
    l->ny = l->space.n + 1;
    for (int64_t t = 0; t < log->n; t++)
        nusable += is_usable(l, t);
    if (nusable < RH_INSPECT__FEWEST || l->space.n == 0)
        return true;

    // with and without the step before, the same steps
    double effort = (double)QUERIES * PLACES * (double)(own + (l->past ? before : 0));
    double share = fmin(sqrt(EFFORT / effort), 1.0);
    int64_t places = (int64_t)(share * PLACES), queries = (int64_t)(share * QUERIES);
    l->n = nusable < places ? nusable : places;
    l->nquery = l->n < queries ? l->n : queries;
    size_t p = (size_t)l->nx + 1;
    double *sums = rh_alloc(p + p * p + p * (size_t)l->ny, sizeof *sums);
    double *work = rh_alloc((size_t)l->nquery, sizeof *work);
    l->action = rh_alloc((size_t)l->n, sizeof *l->action);
    l->at = rh_alloc((size_t)l->n, sizeof *l->at);
    l->x = rh_alloc((size_t)(l->n * l->nx), sizeof *l->x);
    l->y = rh_alloc((size_t)(l->n * l->ny), sizeof *l->y);
    bool good = sums && work && l->action && l->at && l->x && l->y;
    if (good) {
        take_steps(l, report, nusable);
        measure_spread(l, work);
        for (int64_t i = 0; i < l->n && l->deep; i++)
            put_before(l, report, l->at[i] - 1, l->x + i * l->nx + own);
        for (int a = 0; a < (log->naction ? log->naction : 1); a++)
            explain(l, a, sums);
    }
    rh_free(sums);
    rh_free(work);
    return good;
}

void rh_inspect__local_clear(rh_inspect__local *l)
{
    rh_free(l->action);
    rh_free(l->at);
    rh_free(l->x);
    rh_free(l->y);
}
