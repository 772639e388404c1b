// linear_wall.c - where a sensor stops although the regression says that it goes on.
//
// A battery is full, a tank overflows, a valve is open: in the log the sensor stays there, with
// the noise of its measurement, while actions that moved it before are still taken. A
// regression of these steps believes in weaker actions, and beside the path it goes far beyond
// the wall.
//
// 1. Steps that push: the regression predicts that they lead farther than the HIGH quantile of
//    the sensor by PUSH times the usual error of its predictions. There is a wall if there are
//    LEAST of them and they led beyond the quantile by less than CAME of what was predicted:
//    where there is no wall, by all of it. It is where they led to on average.
// 2. The regression is computed again without the steps that are predicted to pass a wall, and
//    a step stops there.

#include "linear_internal.h"

#include "base/base_internal.h"
#include "numeric/stats.h"

#include <math.h>
#include <string.h>

#define HIGH 0.99  // decision 1; by hand
#define PUSH 2.0   // decision 1; by hand
#define LEAST 8    // decision 1; by hand
#define CAME 0.25  // decision 1; by hand: on four plants it is below 0.01 or above 0.97
#define MAD 1.4826 // standard deviation of a normal / its median distance

// One side of a sensor.
typedef struct side {
    int out;      // its number among the outputs
    double sign;  // 1: above, -1: below
    double high;  // the quantile, times the sign
    double noise; // of a prediction
} side;

// The sensor before and after step t, times the sign.
static double before(const rh_linear *m, const rh_model *model, const side *s, int64_t t)
{
    const rh_log *log = model->log;
    return s->sign * log->obs[(int64_t)log->from[t] * log->nobs + m->out[s->out]];
}

static double after(const rh_linear *m, const rh_model *model, const side *s, int64_t t)
{
    const rh_log *log = model->log;
    return s->sign * log->obs[(int64_t)log->to[t] * log->nobs + m->out[s->out]];
}

// How far beyond the quantile step t is predicted to lead, by the change of its
// sensors.
static double beyond(const rh_linear *m, const rh_model *model, const side *s, int64_t t,
                     const float *change)
{
    return before(m, model, s, t) - s->high +
           s->sign * m->step[m->out[s->out]] * (double)change[s->out];
}

// The wall of a side, or NAN. predicted: changes (n x nout).
static double find_wall(const rh_linear *m, const rh_model *model, const side *s,
                        const int32_t *row, int64_t n, const float *predicted)
{
    double came = 0.0, said = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        double far = beyond(m, model, s, row[i], predicted + i * m->nout);
        if (!(far > PUSH * s->noise))
            continue;
        came += after(m, model, s, row[i]) - s->high;
        said += far;
        count++;
    }
    if (count < LEAST || !(came < CAME * said))
        return NAN;
    return s->sign * (s->high + came / (double)count);
}

// Both sides of an output; steps that are predicted to pass a wall are marked. x: scratch (n).
static void look(rh_linear *m, const rh_model *model, int out, const int32_t *row, int64_t n,
                 const float *predicted, double *x, bool *gone)
{
    int k = m->out[out];
    const rh_sensor *f = &model->facts->sensor[k];
    side above = {.out = out, .sign = 1.0}, below = {.out = out, .sign = -1.0};
    if (!isnan(f->period) || f->partner >= 0)
        return;
    for (int64_t i = 0; i < n; i++)
        x[i] = fabs(above.high + beyond(m, model, &above, row[i], predicted + i * m->nout) -
                    after(m, model, &above, row[i]));
    above.noise = below.noise = MAD * rh_stats__median(x, n);
    for (int64_t i = 0; i < n; i++)
        x[i] = before(m, model, &above, row[i]);
    rh_stats__sort(x, n);
    above.high = rh_stats__quantile_sorted(x, n, HIGH);
    below.high = -rh_stats__quantile_sorted(x, n, 1.0 - HIGH);
    if (isnan(f->wall_hi) && isnan(m->wall_hi[k]))
        m->wall_hi[k] = find_wall(m, model, &above, row, n, predicted);
    if (isnan(f->wall_lo) && isnan(m->wall_lo[k]))
        m->wall_lo[k] = find_wall(m, model, &below, row, n, predicted);
    if (m->wall_lo[k] >= m->wall_hi[k])
        m->wall_lo[k] = m->wall_hi[k] = NAN;
    for (int64_t i = 0; i < n; i++) { // false for NAN
        const float *change = predicted + i * m->nout;
        gone[i] = gone[i] ||
                  beyond(m, model, &above, row[i], change) > m->wall_hi[k] - above.high ||
                  beyond(m, model, &below, row[i], change) > -m->wall_lo[k] - below.high;
    }
}

// The predicted changes (n x nout) of transitions row. x: scratch.
static void predict(const rh_linear *m, const rh_model *model, const double *weight,
                    const int32_t *row, int64_t n, double *x, float *predicted)
{
    for (int64_t i = 0; i < n; i++) {
        rh_linear__past past;
        rh_linear__past_of(&past, m, model->log, row[i]);
        rh_linear__terms(m, &m->plan, &past, model, x);
        for (int o = 0; o < m->nout; o++) {
            const double *w = weight + (size_t)o * (size_t)m->nterm;
            double sum = 0.0;
            for (int j = 0; j < m->nterm; j++)
                sum += w[j] * x[j];
            predicted[i * m->nout + o] = (float)sum;
        }
    }
}

bool rh_linear__find_walls(rh_linear *m, const rh_model *model, const double *weight,
                           int32_t *row, int64_t *n, bool *failed)
{
    rh_scratch memory = {0};
    size_t width = (size_t)m->nout + 1;
    float *predicted = rh_scratch__take(&memory, (size_t)*n + 1, width * sizeof *predicted);
    double *x =
        rh_scratch__take(&memory, (size_t)*n + (size_t)m->nterm + RH_LINEAR__QUEUE, sizeof *x);
    bool *gone = rh_scratch__take(&memory, (size_t)*n + 1, sizeof *gone);
    int64_t left = 0;
    *failed = memory.failed;
    if (!*failed) {
        predict(m, model, weight, row, *n, x, predicted);
        for (int o = 0; o < m->nout; o++)
            look(m, model, o, row, *n, predicted, x, gone);
    }
    for (int64_t i = 0; i < *n && !*failed; i++)
        if (!gone[i])
            row[left++] = row[i];
    bool any = !*failed && left < *n;
    *n = any ? left : *n;
    rh_scratch__clear(&memory);
    return any;
}

double rh_linear__stop(const rh_linear *m, int k, double x)
{
    if (x > m->wall_hi[k]) // false for NAN
        return m->wall_hi[k];
    return x < m->wall_lo[k] ? m->wall_lo[k] : x;
}
