// linear_terms.c - the terms of the regression: lagged observations and actions, products.
//
// With z the sensors, less their mean and divided by their standard deviation, D_l the change
// of a sensor l steps ago, divided by its usual size, and u the actions, d steps late,
//
//     plain       1, z, D_1 .. D_(L-1), u_d .. u_(d+L-1)
//     products    and z u_d
//     quadratic   and z z, u_d u_d
//     slow        and averages of z and u over the past, which fade with the rate 1 / span
//
// 1. Lags are changes, not values: neighbouring values are nearly equal, and a ridge that acts
//    on values would first remove what distinguishes them.
// 2. A sensor that wraps round is a cosine and a sine; its changes are taken the short way.
// 3. Discrete actions are indicators less their means, all but the first. So an action that is
//    not known, before the first step of an episode, counts as the mean action: zeros.
// 4. Walls, beds and batteries remember longer than lags can. An average over the past is what
//    such a store would hold if it followed the sensors or the actions.

#include "linear_internal.h"

#include "base/base.h"
#include "base/base_internal.h"
#include "facts.h"
#include "log/log.h"

#include <math.h>
#include <string.h>

#define WIDTH 4 // outputs that are summed at once

// Decision 4; by hand: twice as long as the lags, and eight times.
const double rh_linear__span[RH_LINEAR__NSLOW] = {16.0, 64.0};

// ---------------------------------------------------------------------------- the log

static const double *row_at(const rh_log *log, int64_t row)
{
    return log->obs + row * log->nobs;
}

bool rh_linear__follows(const rh_log *log, int64_t t)
{
    return t + 1 < log->n && log->to[t] != RH_UNKNOWN && log->from[t + 1] == log->to[t] &&
           log->episode[t + 1] == log->episode[t];
}

int64_t rh_linear__from_row(const rh_log *log, int64_t row)
{
    int64_t lo = 0, hi = log->n - 1;
    while (lo < hi) { // rows ascend
        int64_t middle = (lo + hi) / 2;
        if (log->from[middle] < row)
            lo = middle + 1;
        else
            hi = middle;
    }
    return log->n > 0 && log->from[lo] == row ? lo : -1;
}

void rh_linear__past_of(rh_linear__past *past, const rh_linear *m, const rh_log *log, int64_t t)
{
    bool known = true;
    size_t width = RH_LINEAR__NSLOW * (size_t)(m->nlevel + m->ninput);
    past->slow = m->slow ? m->slow + (size_t)t * width : NULL;
    past->obs[0] = row_at(log, log->from[t]);
    past->act[0] = log->act + t * log->nact;
    for (int l = 1; l < RH_LINEAR__PAST; l++) {
        known = known && t > 0 && rh_linear__follows(log, t - 1);
        t -= known;
        past->obs[l] = known ? row_at(log, log->from[t]) : past->obs[l - 1];
        past->act[l] = known ? log->act + t * log->nact : NULL;
    }
}

// ---------------------------------------------------------------------------- survey

static void take_shape(rh_linear *m, const rh_model *model)
{
    const rh_log *log = model->log;
    for (int k = 0; k < m->nobs; k++) {
        const rh_sensor *f = &model->facts->sensor[k];
        bool round = !isnan(f->period);
        if (f->constant)
            continue;
        m->moved[m->nmoved++] = k;
        if (f->exogenous)
            m->exo[m->nexo++] = k;
        else
            m->out[m->nout++] = k;
        m->level[m->nlevel++] =
            (rh_linear__level){k, round ? RH_LINEAR_COSINE : RH_LINEAR_LINE};
        if (round)
            m->level[m->nlevel++] = (rh_linear__level){k, RH_LINEAR_SINE};
    }
    m->ninput = log->naction ? log->naction - 1 : log->nact;
}

// The number of an action input.
static double input_of(const rh_linear *m, const double *act, int j)
{
    return m->naction ? (int)act[0] == j + 1 : act[j];
}

// Means and standard deviations over n numbers whose sums are x and xx.
static void summarise(double n, double x, double xx, double *mean, double *sd)
{
    *mean = x / n;
    double var = xx / n - *mean * *mean;
    *sd = var > 0.0 ? sqrt(var) : 0.0;
}

// The bounds of sensors. Derived ones, which are computed, have none: a setpoint that is drawn
// has errors that the log never had.
static void bound(rh_linear *m, const rh_model *model)
{
    const rh_log *log = model->log;
    int nown = m->nobs - (model->derive ? rh_derive__count(log->derive) : 0);
    for (int k = 0; k < m->nobs; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int64_t i = 0; i < log->nstate; i++) {
            lo = fmin(lo, log->obs[i * log->nobs + k]);
            hi = fmax(hi, log->obs[i * log->nobs + k]);
        }
        m->lo[k] = k < nown ? lo - RH_LINEAR__OUT * (hi - lo) : -INFINITY;
        m->hi[k] = k < nown ? hi + RH_LINEAR__OUT * (hi - lo) : INFINITY;
        m->wall_lo[k] = m->wall_hi[k] = NAN;
    }
}

void rh_linear__survey(rh_linear *m, const rh_model *model)
{
    const rh_log *log = model->log;
    double n = 0.0, moves = 0.0;
    double x[RH_MAX_OBS] = {0}, xx[RH_MAX_OBS] = {0}, dd[RH_MAX_OBS] = {0};
    double u[RH_MAX_ACTIONS] = {0}, uu[RH_MAX_ACTIONS] = {0};
    take_shape(m, model);

    // differences from the first row, so that no digits are lost
    const double *first = row_at(log, log->from[rh_knn__transition(m->knn, 0)]);
    for (int64_t i = 0; i < m->knn->nuse; i++) {
        int64_t t = rh_knn__transition(m->knn, i);
        const double *s = row_at(log, log->from[t]), *act = log->act + t * log->nact;
        bool moved = log->to[t] != RH_UNKNOWN && !(log->flag[t] & RH_FLAG_TERMINAL);
        const double *next = moved ? row_at(log, log->to[t]) : s;
        n += 1.0;
        moves += moved;
        for (int k = 0; k < m->nobs; k++) {
            double d = rh_knn__difference(model, k, next[k], s[k]);
            x[k] += s[k] - first[k];
            xx[k] += (s[k] - first[k]) * (s[k] - first[k]);
            dd[k] += d * d;
        }
        for (int j = 0; j < m->ninput; j++) {
            double v = input_of(m, act, j);
            u[j] += v;
            uu[j] += v * v;
        }
    }
    for (int k = 0; k < m->nobs; k++) {
        summarise(n, x[k], xx[k], &m->centre[k], &m->scale[k]);
        m->centre[k] += first[k];
        m->step[k] = moves > 0.0 ? sqrt(dd[k] / moves) : 0.0;
        m->scale[k] = m->scale[k] > 0.0 ? m->scale[k] : 1.0;
        m->step[k] = m->step[k] > 0.0 ? m->step[k] : m->scale[k];
    }
    for (int j = 0; j < m->ninput; j++) {
        summarise(n, u[j], uu[j], &m->act_centre[j], &m->act_scale[j]);
        m->act_scale[j] = m->act_scale[j] > 0.0 ? m->act_scale[j] : 1.0;
    }
    bound(m, model);
}

// ---------------------------------------------------------------------------- terms

// Squares and products of n numbers.
static int npair(int n)
{
    return n * (n + 1) / 2;
}

int rh_linear__slow_at(const rh_linear *m, const rh_linear__plan *plan)
{
    int n = 1 + m->nlevel + (plan->lags - 1) * m->nmoved + plan->lags * m->ninput;
    if (plan->form >= RH_LINEAR_PRODUCTS)
        n += m->nlevel * m->ninput;
    if (plan->form >= RH_LINEAR_QUADRATIC)
        n += npair(m->nlevel) + (m->naction ? 0 : npair(m->ninput));
    return n;
}

int rh_linear__nterm(const rh_linear *m, const rh_linear__plan *plan)
{
    int n = rh_linear__slow_at(m, plan);
    for (int i = 0; i < RH_LINEAR__NSLOW; i++)
        n += plan->slow >> i & 1 ? m->nlevel + m->ninput : 0;
    return n;
}

// Terms that do not depend on the form: they come first.
static int nplain(const rh_linear *m, int lags)
{
    return 1 + m->nlevel + (lags - 1) * m->nmoved + lags * m->ninput;
}

void rh_linear__within(const rh_linear *m, const rh_linear__plan *plan,
                       const rh_linear__plan *larger, int *at)
{
    int n = rh_linear__slow_at(m, plan), mine = nplain(m, plan->lags);
    int more = nplain(m, larger->lags) - mine, width = m->nlevel + m->ninput;
    for (int i = 0; i < n; i++)
        at[i] = i < mine ? i : i + more;
    for (int i = 0, from = rh_linear__slow_at(m, larger); i < RH_LINEAR__NSLOW; i++) {
        for (int j = 0; j < width && plan->slow >> i & 1; j++)
            at[n++] = from + j;
        from += larger->slow >> i & 1 ? width : 0;
    }
}

// The inputs of an action, 0 if it is not known: decision 3.
static void scale_inputs(const rh_linear *m, const double *act, double *u)
{
    for (int j = 0; j < m->ninput; j++)
        u[j] = act ? (input_of(m, act, j) - m->act_centre[j]) / m->act_scale[j] : 0.0;
}

static void take_levels(const rh_linear *m, const rh_model *model, const double *obs, double *x)
{
    for (int i = 0; i < m->nlevel; i++) {
        int k = m->level[i].sensor;
        if (m->level[i].on == RH_LINEAR_LINE) {
            x[i] = (obs[k] - m->centre[k]) / m->scale[k];
            continue;
        }
        const rh_sensor *f = &model->facts->sensor[k];
        double turns = (obs[k] - f->base) / f->period;
        rh_maths__sincos(2.0 * M_PI * (turns - floor(turns)), &x[i + 1], &x[i]);
        i++; // the sine follows the cosine
    }
}

// Changes of all sensors from one observation to the next.
static void take_changes(const rh_linear *m, const rh_model *model, const double *from,
                         const double *to, double *x)
{
    for (int i = 0; i < m->nmoved; i++) {
        int k = m->moved[i];
        x[i] = rh_knn__difference(model, k, to[k], from[k]) / m->step[k];
    }
}

// Where the inputs of the present action are among the terms: behind 1 and the levels. Each
// lag's changes and inputs follow.
static double *inputs_at(const rh_linear *m, double *x)
{
    return x + 1 + m->nlevel;
}

// All products of a (n) with themselves, each once.
static double *multiply_out(const double *a, int n, double *x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            *x++ = a[i] * a[j];
    return x;
}

// Averages of levels and inputs at a past; of a plant at rest: the level, the mean action.
static void enter_slow(const rh_linear *m, const rh_linear__plan *plan,
                       const rh_linear__past *past, double *x)
{
    double *to = x + rh_linear__slow_at(m, plan);
    int width = m->nlevel + m->ninput;
    for (int i = 0; i < RH_LINEAR__NSLOW; i++) {
        const float *from = past->slow ? past->slow + (ptrdiff_t)i * width : NULL;
        for (int j = 0; j < width && plan->slow >> i & 1; j++)
            *to++ = from ? (double)from[j] : j < m->nlevel ? x[1 + j] : 0.0;
    }
}

bool rh_linear__average(rh_linear *m, const rh_model *model)
{
    const rh_log *log = model->log;
    int width = m->nlevel + m->ninput;
    double x[RH_LINEAR__LEVEL + RH_MAX_ACTIONS];
    double mean[RH_LINEAR__NSLOW][RH_LINEAR__LEVEL + RH_MAX_ACTIONS];
    m->slow = rh_alloc((size_t)log->n, RH_LINEAR__NSLOW * (size_t)width * sizeof *m->slow);
    for (int64_t t = 0; m->slow && t < log->n; t++) {
        bool on = t > 0 && rh_linear__follows(log, t - 1);
        float *to = m->slow + (size_t)t * RH_LINEAR__NSLOW * (size_t)width;
        take_levels(m, model, row_at(log, log->from[t]), x);
        scale_inputs(m, on ? log->act + (t - 1) * log->nact : NULL, x + m->nlevel);
        for (int i = 0; i < RH_LINEAR__NSLOW; i++)
            for (int j = 0; j < width; j++) {
                double *e = &mean[i][j];
                *e = on ? *e + (x[j] - *e) / rh_linear__span[i] : x[j];
                to[i * width + j] = (float)*e;
            }
    }
    return m->slow;
}

void rh_linear__enter(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                      const rh_linear__past *past, double *x)
{
    double *to = inputs_at(m, x), *queue = x + rh_linear__nterm(m, plan);
    x[0] = 1.0;
    take_levels(m, model, past->obs[0], x + 1);
    for (int l = 1; l < plan->lags; l++) {
        to += m->ninput;
        take_changes(m, model, past->obs[l], past->obs[l - 1], to);
        to += m->nmoved;
        scale_inputs(m, past->act[plan->delay + l], to);
    }
    for (int d = plan->delay; d > 0; d--, queue += m->ninput)
        scale_inputs(m, past->act[d], queue);
    if (plan->slow)
        enter_slow(m, plan, past, x);
}

void rh_linear__act(const rh_linear *m, const rh_linear__plan *plan, const double *act,
                    double *x)
{
    size_t ninput = (size_t)m->ninput;
    double *input = inputs_at(m, x), *queue = x + rh_linear__nterm(m, plan);
    const double *level = x + 1;
    if (plan->delay) {
        size_t rest = (size_t)(plan->delay - 1) * ninput;
        memcpy(input, queue, ninput * sizeof *x);
        memmove(queue, queue + ninput, rest * sizeof *x);
        scale_inputs(m, act, queue + rest);
    } else {
        scale_inputs(m, act, input);
    }
    x += nplain(m, plan->lags);
    if (plan->form >= RH_LINEAR_PRODUCTS)
        for (int i = 0; i < m->nlevel; i++)
            for (int j = 0; j < m->ninput; j++)
                *x++ = level[i] * input[j];
    if (plan->form >= RH_LINEAR_QUADRATIC) {
        x = multiply_out(level, m->nlevel, x);
        if (!m->naction)
            multiply_out(input, m->ninput, x);
    }
}

// One step of the averages: levels are those of the new observation, newest the inputs of the
// action that led there.
static void advance_slow(const rh_linear *m, const rh_linear__plan *plan, const double *newest,
                         double *x)
{
    double *to = x + rh_linear__slow_at(m, plan);
    for (int i = 0; i < RH_LINEAR__NSLOW; i++) {
        if (!(plan->slow >> i & 1))
            continue;
        double rate = 1.0 / rh_linear__span[i];
        for (int j = 0; j < m->nlevel; j++, to++)
            *to += rate * (x[1 + j] - *to);
        for (int j = 0; j < m->ninput; j++, to++)
            *to += rate * (newest[j] - *to);
    }
}

void rh_linear__advance(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                        const double *from, const double *to, double *x)
{
    double *input = inputs_at(m, x), newest[RH_MAX_ACTIONS];
    size_t more = (size_t)m->nmoved + (size_t)m->ninput;
    if (plan->slow)
        memcpy(newest,
               plan->delay
                   ? x + rh_linear__nterm(m, plan) + (ptrdiff_t)(plan->delay - 1) * m->ninput
                   : input,
               (size_t)m->ninput * sizeof *x);
    if (plan->lags > 1) {
        size_t kept = (size_t)(plan->lags - 2) * more + (size_t)m->ninput;
        memmove(input + more, input, kept * sizeof *x);
        take_changes(m, model, from, to, input + m->ninput);
    }
    take_levels(m, model, to, x + 1);
    if (plan->slow)
        advance_slow(m, plan, newest, x);
}

void rh_linear__terms(const rh_linear *m, const rh_linear__plan *plan,
                      const rh_linear__past *past, const rh_model *model, double *x)
{
    rh_linear__enter(m, model, plan, past, x);
    rh_linear__act(m, plan, past->act[0], x);
}

// ---------------------------------------------------------------------------- a step

size_t rh_linear__nacross(const rh_linear *m, int nterm)
{
    return (size_t)((m->nout + WIDTH - 1) / WIDTH) * WIDTH * (size_t)nterm;
}

void rh_linear__lay_across(const rh_linear *m, int nterm, const double *weight, double *across)
{
    memset(across, 0, rh_linear__nacross(m, nterm) * sizeof *across);
    for (int i = 0; i < m->nout; i++) {
        double *to = across + (size_t)(i / WIDTH) * WIDTH * (size_t)nterm + i % WIDTH;
        for (int j = 0; j < nterm; j++)
            to[(size_t)j * WIDTH] = weight[(size_t)i * (size_t)nterm + (size_t)j];
    }
}

// Sums of WIDTH outputs: of even and odd terms apart, because an addition waits for the last.
static void sum_terms(const double *across, const double *x, int n, double sum[WIDTH])
{
    double even[WIDTH] = {0.0}, odd[WIDTH] = {0.0};
    int j = 0;
    for (; j + 1 < n; j += 2, across += (ptrdiff_t)2 * WIDTH)
        for (int i = 0; i < WIDTH; i++) {
            even[i] += across[i] * x[j];
            odd[i] += across[WIDTH + i] * x[j + 1];
        }
    for (int i = 0; i < WIDTH; i++)
        sum[i] = even[i] + odd[i] + (j < n ? across[i] * x[j] : 0.0);
}

bool rh_linear__next(const rh_linear *m, const rh_model *model, const double *across,
                     const double *x, int nterm, const double *obs, const float *residual,
                     double *next)
{
    bool inside = true;
    double sum[WIDTH];
    memcpy(next, obs, (size_t)m->nobs * sizeof *next);
    for (int i = 0; i < m->nout; i++) {
        int k = m->out[i];
        if (i % WIDTH == 0)
            sum_terms(across + (size_t)i * (size_t)nterm, x, nterm, sum);
        next[k] = rh_linear__stop(m, k, next[k] + m->step[k] * sum[i % WIDTH]);
        next[k] += residual ? m->step[k] * (double)residual[i] : 0.0;
        if (!isnan(model->facts->sensor[k].period))
            continue;
        bool within = next[k] >= m->lo[k] && next[k] <= m->hi[k];
        next[k] = within ? next[k] : next[k] > m->hi[k] ? m->hi[k] : m->lo[k];
        inside = inside && within;
    }
    rh_knn__settle(model, next);
    return inside;
}
