// exogenous.c - finds sensors that are noise, and sensors that nothing the agent does can move.
//
// Changes of a sensor are predicted by least squares from the state and the action: all values,
// their squares and products. Two parts of the log, ten blocks of time each in turn, predict
// each other. A set E of exogenous sensors is what remains when all sensors are put into it and
// those are taken out, one after another, whose change over 1 or 10 steps is predicted better
//
//     - with the action, or
//     - with a sensor that is not in E, or with all of them,
//
// than from the sensors in E alone. So what an action moves is out, then what that moves.
//
// 1. Called exogenous by mistake, a sensor would ignore the agent in a model, so every doubt
//    counts against it. Each of the predictions is tried alone: many useless columns together
//    would hide one of small effect. One helps if it explains more than (4 + 2 c) / m of the
//    variance, c columns and m steps that make up the variance (a setpoint that jumps has few):
//    twice what useless columns would explain, and 4 more.
// 2. If the state tells the action (R^2 above 0.95, a linear controller), the effect of the
//    action cannot be told from that of the state, and no sensor is called exogenous. Nor with
//    less than 500 steps, or if the action never changes.
// 3. That no effect was seen proves nothing in a short or noisy log. So the effect of every
//    action, plus two standard errors, must be below 0.1 standard deviations of the sensor in
//    a step, and 0.3 over 10. Those overlap, so their error counts every tenth. An effect of
//    CLEAR standard errors is there, however small. On 76 logs of bench/plants none of 256
//    sensors that actions move is called exogenous, and 98 of 156 exogenous ones are.
// 4. A sensor is noise if everything together explains less than 5 % of its next value.
// 5. All sums are gathered once, for both parts; a prediction is then one small linear system.
//    The sample is as large as 4e8 multiplications allow, up to 20,000 steps.
// 6. A log that says which sensors are exogenous (--exogenous) is believed, and not tested. Its
//    setpoints (--setpoint) are exogenous whatever the others are found to be.
// 7. If the action moves no sensor at all, the log does not show what it does, and no sensor is
//    called exogenous. (A box heated in short pulses: both of its thermometers were.)
// 8. A setpoint holds its value and jumps in few steps. What moves such a sensor moves it in
//    that step, so nothing is asked of its change over 10. But a gauge that is read now and
//    then jumps too: no moved sensor may explain more than 8 / n of the n values that it jumps
//    to, four times what chance would.
// 9. Of sensors in E the last NLAG values are known too: without them a sensor that they move
//    helps to predict them, because it remembers their past (a hall that the sun warmed).

#include "facts.h"

#include "base/base.h"
#include "base/base_internal.h"
#include "base/scratch.h"
#include "log/log.h"
#include "numeric/cholesky.h"

#include <math.h>
#include <string.h>

#define HORIZON 10
#define NBLOCK 20
#define NLAG 3      // decision 9
#define NHARMONIC 4 // of a sensor that wraps: the sun rises and sets by the clock
#define FEWEST 500
#define MOST_STEPS 20000
#define MOST_WORK 4e8 // decision 5: multiplications
#define MOST_COLUMNS 400
#define MANY_SENSORS 12     // products are left out,
#define EACH_SENSORS 32     // and other sensors are tried together only
#define MOST_ACTIONS 32     // discrete actions that get a column each
#define RIDGE_PER_STEP 1e-6 // of every square; by hand
#define TOLD 0.95           // R^2 of the action: decision 2; by hand
#define NOISE_R2 0.05       // decision 4; by hand
#define TIGHT 0.1           // decision 3: standard deviations in a step; by hand, between
#define TIGHT_LONG 0.3      // and over HORIZON steps; what both kinds of sensor have
#define HELD 0.1            // decision 8: share of the steps in which it changes; by hand
#define SURE 2.0            // standard errors: 95 % of a normal
#define CLEAR 4.0      // standard errors of an effect that is there, however small; by hand
#define SMALL 0.005    // standard deviations of one that does not count; by hand
#define SAMPLED 16.0   // decision 8; by hand
#define EXPLAINED 1e-9 // share of a variance that is rounding errors

// A column: a product of up to two sensors and an action's number.
typedef struct column {
    int a, b; // sensors; -1: none
    int act;  // action, or number of one; -1: none
    int turn; // of a sensor that wraps: 1 cosine, 2 sine, 3 and 4 of the double angle, ...; 0:
              // none
    int lag;  // steps ago, 0: now
} column;

typedef struct table {
    const rh_facts__steps *steps;  // borrowed
    rh_sensor *sensor;             // borrowed
    int d, nact, f, ny;            // sensors; action columns; columns; targets
    column *col;                   //                                             (f)
    int64_t m;                     // steps
    int horizon;                   // 1 or HORIZON
    double *xx[2], *xy[2], *yy[2]; // in part 0 and 1              (f x f, f x ny, ny)
    double *fourth;                // fourth powers of the targets               (ny)
    double *x, *y;                 // one step                                 (f, ny)
    double *a, *w;                 // one system                           (f x f, f)
    int *pick;                     // columns of a system                         (f)
    bool *in;                      // E                                           (d)
    rh_scratch scratch;            // owns the arrays
} table;

// ---------------------------------------------------------------------------- columns

static void add(table *t, column c)
{
    if (t->f < MOST_COLUMNS + RH_MAX_OBS)
        t->col[t->f++] = c;
}

static void list_columns(table *t)
{
    const rh_log *log = t->steps->log;
    t->nact = !log->naction ? log->nact : log->naction <= MOST_ACTIONS ? log->naction - 1 : 0;
    add(t, (column){-1, -1, -1, 0, 0});
    for (int i = 0; i < t->nact; i++)
        add(t, (column){-1, -1, i, 0, 0});
    for (int k = 0; k < t->d; k++) {
        bool turns = !isnan(t->sensor[k].period);
        if (t->sensor[k].constant)
            continue;
        for (int turn = turns; turn <= (turns ? 2 * NHARMONIC : 0); turn++)
            add(t, (column){k, -1, -1, turn, 0});
    }
    for (int k = 0; k < t->d; k++)
        for (int lag = 1; lag <= NLAG && t->f < MOST_COLUMNS; lag++)
            if (!t->sensor[k].constant && isnan(t->sensor[k].period))
                add(t, (column){k, -1, -1, 0, lag});
    for (int k = 0; k < t->d && t->d <= MANY_SENSORS; k++)
        for (int i = 0; i < t->nact && t->f < MOST_COLUMNS; i++)
            if (!t->sensor[k].constant)
                add(t, (column){k, -1, i, 0, 0});
    for (int k = 0; k < t->d && t->f < MOST_COLUMNS; k++)
        for (int i = k; i < (t->d <= MANY_SENSORS ? t->d : k + 1); i++)
            if (!t->sensor[k].constant && !t->sensor[i].constant && t->f < MOST_COLUMNS)
                add(t, (column){k, i, -1, 0, 0});
}

static double sensor_value(const table *t, const double *s, int k, int turn)
{
    const rh_sensor *sensor = &t->sensor[k];
    double sine, cosine;
    if (!turn)
        return (s[k] - t->steps->mean[k]) / t->steps->sd[k];
    double turns = (turn + 1) / 2 * (s[k] - sensor->base) / sensor->period;
    rh_maths__sincos(2.0 * M_PI * (turns - floor(turns)), &sine, &cosine);
    return turn % 2 ? cosine : sine;
}

static void fill_columns(table *t, int64_t j)
{
    const rh_log *log = t->steps->log;
    const double *was[NLAG + 1], *s = rh_facts__from(t->steps, j);
    was[0] = s;
    for (int lag = 1; lag <= NLAG; lag++) {
        int64_t i = j - lag;
        bool known = i >= 0 && log->to[t->steps->at[i]] == log->from[t->steps->at[i + 1]] &&
                     was[lag - 1] == rh_facts__from(t->steps, i + 1);
        was[lag] = known ? rh_facts__from(t->steps, i) : was[lag - 1];
    }
    const double *act = log->act + (int64_t)t->steps->at[j] * log->nact;
    for (int c = 0; c < t->f; c++) {
        const column *col = &t->col[c];
        double x = 1.0;
        if (col->a >= 0)
            x *= sensor_value(t, was[col->lag], col->a, col->turn);
        if (col->b >= 0)
            x *= sensor_value(t, s, col->b, 0);
        if (col->act >= 0)
            x *= log->naction ? (double)((int)act[0] == col->act) : act[col->act];
        t->x[c] = x;
    }
}

// Targets of a sensor: its change over 1 step, over the horizon, its next value. And the
// action's numbers.
enum { STEP, LONG, NEXT, NTARGET };

static void fill_targets(table *t, int64_t j)
{
    const rh_log *log = t->steps->log;
    const double *s = rh_facts__from(t->steps, j), *next = rh_facts__to(t->steps, j);
    for (int k = 0; k < t->d; k++) {
        double *y = t->y + k * NTARGET, sd = t->steps->sd[k] > 0.0 ? t->steps->sd[k] : 1.0;
        y[STEP] = rh_facts__moved(&t->sensor[k], s[k], next[k]) / sd;
        y[LONG] = 0.0;
        for (int i = 0; i < t->horizon; i++)
            y[LONG] += rh_facts__moved(&t->sensor[k], rh_facts__from(t->steps, j + i)[k],
                                       rh_facts__to(t->steps, j + i)[k]) /
                       sd;
        y[NEXT] = (next[k] - t->steps->mean[k]) / sd;
    }
    const double *act = log->act + (int64_t)t->steps->at[j] * log->nact;
    for (int i = 0; i < t->nact; i++)
        t->y[t->d * NTARGET + i] = log->naction ? (double)((int)act[0] == i) : act[i];
}

// ---------------------------------------------------------------------------- sums

// Whether the steps from j on follow each other for the horizon.
static bool lasts(const rh_facts__steps *steps, int64_t j, int horizon)
{
    const rh_log *log = steps->log;
    if (j + horizon > steps->n)
        return false;
    for (int i = 1; i < horizon; i++)
        if (log->from[steps->at[j + i]] != log->to[steps->at[j + i - 1]])
            return false;
    return true;
}

static int64_t count_steps(const table *t)
{
    int64_t n = 0;
    for (int64_t j = 0; j < t->steps->n; j++)
        n += lasts(t->steps, j, t->horizon);
    return n;
}

static void sum_up(table *t)
{
    int64_t most = (int64_t)fmin(MOST_STEPS, MOST_WORK / ((double)t->f * t->f));
    int64_t n = t->steps->n, every = 1 + (t->m - 1) / most, seen = 0;
    t->m = 0;
    for (int64_t j = 0; j < n; j++) {
        if (!lasts(t->steps, j, t->horizon) || seen++ % every)
            continue;
        int part = (int)(j * NBLOCK / n) % 2;
        fill_columns(t, j);
        fill_targets(t, j);
        t->m++;
        for (int c = 0; c < t->f; c++) {
            double x = t->x[c];
            for (int i = 0; x != 0.0 && i <= c; i++)
                t->xx[part][c * t->f + i] += x * t->x[i];
            for (int i = 0; x != 0.0 && i < t->ny; i++)
                t->xy[part][c * t->ny + i] += x * t->y[i];
        }
        for (int i = 0; i < t->ny; i++) {
            double square = t->y[i] * t->y[i];
            t->yy[part][i] += square;
            t->fourth[i] += square * square;
        }
    }
    for (int part = 0; part < 2; part++)
        for (int c = 0; c < t->f; c++)
            for (int i = 0; i < c; i++)
                t->xx[part][i * t->f + c] = t->xx[part][c * t->f + i];
}

// ---------------------------------------------------------------------------- predictions

// Squared error of target y in one part, predicted by the other from the first n columns of
// t->pick.
static double error_of(table *t, int n, int y, int part)
{
    const double *xx = t->xx[!part], *xy = t->xy[!part];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= i; k++)
            t->a[i * n + k] = xx[t->pick[i] * t->f + t->pick[k]];
        t->a[i * n + i] += RIDGE_PER_STEP * (double)t->m;
        t->w[i] = xy[t->pick[i] * t->ny + y];
    }
    if (!rh_cholesky__factor_small(n, t->a, (size_t)n, 0.0))
        return INFINITY;
    rh_cholesky__solve_small(n, t->a, (size_t)n, t->w, 1);
    double sum = t->yy[part][y];
    for (int i = 0; i < n; i++) {
        double along = 0.0;
        for (int k = 0; k < n; k++)
            along += t->xx[part][t->pick[i] * t->f + t->pick[k]] * t->w[k];
        sum += t->w[i] * (along - 2.0 * t->xy[part][t->pick[i] * t->ny + y]);
    }
    return fmax(sum, 0.0);
}

static double held_out(table *t, int n, int y)
{
    return error_of(t, n, y, 0) + error_of(t, n, y, 1);
}

// What may be used beside the sensors in E.
typedef struct also {
    bool act;
    int sensor; // one sensor more; -1: none; d: all
    bool now;   // and no lags
} also;

static bool allowed(const table *t, const column *c, also more)
{
    if (c->act >= 0 && !more.act)
        return false;
    if (c->lag > 0)
        return t->in[c->a] && !more.now;
    const int of[] = {c->a, c->b};
    for (int i = 0; i < 2; i++)
        if (of[i] >= 0 && !t->in[of[i]] && of[i] != more.sensor && more.sensor != t->d)
            return false;
    return true;
}

static int pick(table *t, also more)
{
    int n = 0;
    for (int c = 0; c < t->f; c++)
        if (allowed(t, &t->col[c], more))
            t->pick[n++] = c;
    return n;
}

// The variance of target y, times the steps.
static double total(const table *t, int y)
{
    double sum = 0.0, square = 0.0;
    for (int part = 0; part < 2; part++) {
        sum += t->xy[part][y]; // column 0 is 1
        square += t->yy[part][y];
    }
    return fmax(square - sum * sum / (double)t->m, 0.0);
}

// Steps that make up the variance of target y, as many as all if it is normal; changes over the
// horizon overlap.
static double effective(const table *t, int y)
{
    double square = t->yy[0][y] + t->yy[1][y];
    double n = t->fourth[y] > 0.0 ? 3.0 * square * square / t->fourth[y] : 0.0;
    return fmin(n, (double)t->m) / (y % NTARGET == LONG ? t->horizon : 1);
}

// Whether more columns predict a change of sensor k better.
static bool helps(table *t, int k, also more)
{
    for (int y = k * NTARGET + STEP; y <= k * NTARGET + LONG; y++) {
        int n = pick(t, (also){false, -1, false});
        double without = held_out(t, n, y);
        if (without <= EXPLAINED * t->yy[0][y] + EXPLAINED * t->yy[1][y])
            continue;
        int all = pick(t, more);
        double gain = 1.0 - held_out(t, all, y) / without;
        if (gain > (4.0 + 2.0 * (all - n)) / effective(t, y))
            return true;
    }
    return false;
}

// Whether an action, or a sensor that is not in E, moves sensor k.
static bool is_moved(table *t, int k)
{
    if (helps(t, k, (also){true, -1, false}) || helps(t, k, (also){false, t->d, false}) ||
        helps(t, k, (also){true, t->d, false}))
        return true;
    for (int i = 0; i < t->d && t->d <= EACH_SENSORS; i++)
        if (!t->in[i] && !t->sensor[i].constant && helps(t, k, (also){false, i, false}))
            return true;
    return false;
}

// The effect of the action's number c on the change of sensor k in a step or over the horizon
// (`what`), in standard deviations of both, plus SURE standard errors: from all steps, given
// the state. INFINITY: it is there beyond doubt.
static double effect_bound(table *t, int k, int c, int what)
{
    int n = pick(t, (also){true, t->d, false}), y = k * NTARGET + what, own = -1, used = 0;
    double mean = (t->xx[0][c] + t->xx[1][c]) / (double)t->m; // column 0 is 1
    double square = (t->xx[0][c * t->f + c] + t->xx[1][c * t->f + c]) / (double)t->m;
    double left = held_out(t, n, y) / (double)t->m;

    // without products with actions, so that the effect is one number
    for (int i = 0; i < n; i++) {
        const column *col = &t->col[t->pick[i]];
        own = t->pick[i] == c ? used : own;
        if (col->act < 0 || col->a < 0)
            t->pick[used++] = t->pick[i];
    }
    for (int i = 0; i < used; i++) {
        for (int j = 0; j <= i; j++)
            t->a[i * used + j] = t->xx[0][t->pick[i] * t->f + t->pick[j]] +
                                 t->xx[1][t->pick[i] * t->f + t->pick[j]];
        t->a[i * used + i] += RIDGE_PER_STEP * (double)t->m;
        t->w[i] = t->xy[0][t->pick[i] * t->ny + y] + t->xy[1][t->pick[i] * t->ny + y];
    }
    if (own < 0 || !rh_cholesky__factor_small(used, t->a, (size_t)used, 0.0))
        return INFINITY;
    rh_cholesky__solve_small(used, t->a, (size_t)used, t->w, 1);
    double effect = fabs(t->w[own]);
    memset(t->w, 0, (size_t)used * sizeof *t->w);
    t->w[own] = 1.0;
    rh_cholesky__solve_small(used, t->a, (size_t)used, t->w, 1);
    double error = sqrt(fmax(t->w[own], 0.0) * left * (what == LONG ? t->horizon : 1));
    double spread = sqrt(fmax(square - mean * mean, 0.0));
    if (effect > CLEAR * error && effect * spread > SMALL)
        return INFINITY;
    return (effect + SURE * error) * spread;
}

// Whether a sensor holds its value for most of the time: decision 8.
static bool is_held(const table *t, int k)
{
    int64_t jumps = 0;
    for (int64_t j = 0; j < t->steps->n; j++)
        jumps += rh_facts__from(t->steps, j)[k] != rh_facts__to(t->steps, j)[k];
    return (double)jumps < HELD * (double)t->steps->n;
}

// Squared error of the value that sensor k jumps to, by its value before and, unless i is -1,
// sensor i before and after the step; and the number of jumps.
static double error_of_jumps(const table *t, int k, int i, int64_t *jumps)
{
    enum { N = 4 };
    double a[N * N] = {0.0}, w[N] = {0.0}, b[N], x[N] = {1.0}, square = 0.0;
    int n = i < 0 ? 2 : N;
    *jumps = 0;
    for (int64_t j = 0; j < t->steps->n; j++) {
        const double *s = rh_facts__from(t->steps, j), *next = rh_facts__to(t->steps, j);
        if (s[k] == next[k])
            continue;
        double y = sensor_value(t, next, k, 0);
        x[1] = sensor_value(t, s, k, 0);
        x[2] = i < 0 ? 0.0 : sensor_value(t, s, i, 0);
        x[3] = i < 0 ? 0.0 : sensor_value(t, next, i, 0);
        square += y * y;
        for (int r = 0; r < n; r++) {
            for (int c = 0; c <= r; c++)
                a[r * n + c] += x[r] * x[c];
            w[r] += x[r] * y;
        }
        ++*jumps;
    }
    memcpy(b, w, sizeof b);
    for (int r = 0; r < n; r++)
        a[r * n + r] += RIDGE_PER_STEP * (double)*jumps;
    if (!rh_cholesky__factor_small(n, a, (size_t)n, 0.0))
        return square;
    rh_cholesky__solve_small(n, a, (size_t)n, w, 1);
    for (int r = 0; r < n; r++)
        square -= w[r] * b[r];
    return fmax(square, 0.0);
}

// Whether a sensor that is moved says where sensor k jumps to: a gauge that is read now and
// then.
static bool is_sampled(const table *t, int k)
{
    int64_t n;
    double alone = error_of_jumps(t, k, -1, &n);
    for (int i = 0; i < t->d; i++) {
        if (t->in[i] || t->sensor[i].constant)
            continue;
        if (1.0 - error_of_jumps(t, k, i, &n) / alone > SAMPLED / (double)n)
            return true;
    }
    return false;
}

// Whether the log shows that no action moves sensor k by much.
static bool is_unmoved(table *t, int k)
{
    bool held = is_held(t, k), one = t->horizon == 1 || held;
    if (held && is_sampled(t, k))
        return false;
    for (int c = 1; c <= t->nact; c++) // the columns after the 1
        if (!(effect_bound(t, k, c, STEP) < TIGHT) ||
            !(one || effect_bound(t, k, c, LONG) < TIGHT_LONG))
            return false;
    return true;
}

// Whether the state leaves every number of the action open enough.
static bool acts_freely(table *t)
{
    if (t->nact == 0)
        return false;
    for (int i = 0; i < t->nact; i++) {
        int y = t->d * NTARGET + i, n = pick(t, (also){false, t->d, true});
        double all = total(t, y);
        if (!(all > 0.0) || held_out(t, n, y) < (1.0 - TOLD) * all)
            return false;
    }
    return true;
}

static void find_exogenous(table *t)
{
    for (int k = 0; k < t->d; k++)
        t->in[k] = !t->sensor[k].constant;
    if (t->steps->log->exogenous || !acts_freely(t))
        return;
    for (bool again = true; again;) {
        again = false;
        for (int k = 0; k < t->d; k++)
            if (t->in[k] && !t->sensor[k].exogenous && is_moved(t, k)) {
                t->in[k] = false;
                again = true;
            }
    }
    bool any = false; // decision 7
    for (int k = 0; k < t->d; k++)
        any = any || (!t->in[k] && !t->sensor[k].constant);
    for (int k = 0; k < t->d; k++)
        t->sensor[k].exogenous =
            t->sensor[k].exogenous || (any && t->in[k] && is_unmoved(t, k));
}

static void find_noise(table *t)
{
    int n = pick(t, (also){true, t->d, false});
    for (int k = 0; k < t->d; k++) {
        int y = k * NTARGET + NEXT;
        double all = total(t, y);
        if (t->sensor[k].constant || !isnan(t->sensor[k].period) || !(all > 0.0))
            continue;
        t->sensor[k].noise = held_out(t, n, y) > (1.0 - NOISE_R2) * all;
    }
}

// ---------------------------------------------------------------------------- all of it

static rh_status make_room(table *t, rh_error *err)
{
    size_t f = (size_t)t->f, ny = (size_t)t->ny;
    for (int part = 0; part < 2; part++) {
        t->xx[part] = rh_scratch__take(&t->scratch, f * f, sizeof(double));
        t->xy[part] = rh_scratch__take(&t->scratch, f * ny, sizeof(double));
        t->yy[part] = rh_scratch__take(&t->scratch, ny, sizeof(double));
    }
    t->fourth = rh_scratch__take(&t->scratch, ny, sizeof *t->fourth);
    t->x = rh_scratch__take(&t->scratch, f, sizeof *t->x);
    t->y = rh_scratch__take(&t->scratch, ny, sizeof *t->y);
    t->a = rh_scratch__take(&t->scratch, f * f, sizeof *t->a);
    t->w = rh_scratch__take(&t->scratch, f, sizeof *t->w);
    t->pick = rh_scratch__take(&t->scratch, f, sizeof *t->pick);
    t->in = rh_scratch__take(&t->scratch, (size_t)t->d, sizeof *t->in);
    return t->scratch.failed ? rh_base__no_memory(err, "model") : RH_OK;
}

rh_status rh_facts__find_exogenous(rh_sensor *sensor, const rh_facts__steps *steps,
                                   rh_error *err)
{
    table t = {.steps = steps, .sensor = sensor, .d = steps->log->nobs, .horizon = HORIZON};
    for (int k = 0; k < t.d; k++)
        sensor[k].exogenous =
            rh_log__is_exogenous(steps->log, k) || rh_log__is_setpoint(steps->log, k);
    t.m = count_steps(&t);
    if (t.m < FEWEST) {
        t.horizon = 1;
        t.m = count_steps(&t);
    }
    if (t.m < FEWEST)
        return RH_OK;
    t.col = rh_scratch__take(&t.scratch, MOST_COLUMNS + 2 * RH_MAX_OBS, sizeof *t.col);
    if (!t.col)
        return rh_base__no_memory(err, "model");
    list_columns(&t);
    t.ny = t.d * NTARGET + t.nact;
    rh_status rc = make_room(&t, err);
    if (!rc) {
        sum_up(&t);
        find_noise(&t);
        find_exogenous(&t);
    }
    rh_scratch__clear(&t.scratch);
    return rc;
}
