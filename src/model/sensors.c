// sensors.c - finds which sensors wrap round, form pairs on a circle, or stop at walls.
//
// Wraps. An angle or an hour of the day jumps from one end of its range to the other. A sensor
// wraps if it makes jumps of at least three quarters of its range, nearly none between a
// quarter and that, and otherwise small steps, also in the middle of the range.
//
// 1. The step across the seam, what is left of the range after the jump, must be no longer than
//    usual steps. A noisy switch between two levels fails: it stops short of both ends.
// 2. Both directions must occur, or the movement must continue through the jump: the step
//    before it and the rest of the range add up to the same period each time. A tank that is
//    emptied when it is full, or a timer, goes in one direction; where it starts again does not
//    depend on how far it had come, so the sum varies by the length of a step. Resets lead to
//    the middle of a range, not to its other end.
// 3. The period is the median sum of a jump and the step before it. If a natural one (360, 2
//    pi, 24, ...) is as near as a median step, it is taken. Whole numbers have their range and
//    1.
//
// Pairs. Two sensors are cos and sin if the sum of their squares is constant within 2 %, and
// varies ten times less than either square does.
//
// Walls. A sensor stops at its least or most value if three steps or more arrive there exactly,
// and if it is there four times as often as at the five values beside it on average. (A sine
// that is rounded is at its peak 3.4 times as often as beside it.) Sensors with few distinct
// values (switches) have no walls.

#include "facts.h"

#include "base/base_internal.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JUMP 0.75        // of the range: a jump
#define SMALL 0.25       // of the range: the longest usual step
#define BETWEEN 0.1      // steps between, per jump; by hand
#define FEWEST_JUMPS 3   //
#define STEPS_PER_JUMP 3 // small steps that are not 0
#define OTHER_WAY 0.1    // jumps in the rarer direction, of all; by hand
// median deviation of the period, in steps, if there is one direction; by hand
#define REGULAR 0.15
#define ROUND 0.02 // deviation from a circle
// standard deviation of the sum of squares, of that of one square; by hand: half and twice as
// much find the same two pairs of Acrobot
#define CANCELS 0.1
#define SCREEN 1024 // steps that pairs are looked for in
#define ARRIVALS 3  // at a wall
#define BESIDE 5    // values beside it,
#define HEAVY 4.0   // how much more often it is at the wall; a rounded sine: 3.4
#define DISTINCT 10 // values of a sensor with walls

// decision 3 of wraps: periods that sensors have by their units
static const double natural[] = {1.0,   2.0,   M_PI,  2.0 * M_PI, 7.0,    12.0,   24.0,   60.0,
                                 100.0, 180.0, 360.0, 365.0,      1440.0, 3600.0, 86400.0};
enum { NNATURAL = sizeof natural / sizeof *natural };

// ---------------------------------------------------------------------------- wraps

// Steps of one sensor.
typedef struct turning {
    int64_t up, down; // jumps to a higher and a lower value
    int64_t between;  // steps too long to be usual, too short to be jumps
    int64_t small;    // small steps that are not 0
    int64_t middle;   // of these, in the middle half of the range
    bool whole;       // all values are whole numbers
    double *sum;      // of a jump and the step before it, of a jump alone, of a small step:
    double *rest;     //   lengths
    double *usual;    //                                      (RH_FACTS__SAMPLE each)
    int64_t nsum, nrest, nusual;
} turning;

static void note(double *x, int64_t *n, double value)
{
    if (*n < RH_FACTS__SAMPLE)
        x[(*n)++] = value;
}

static void count_turns(turning *t, const rh_facts__steps *steps, int k)
{
    double lo = steps->lo[k], range = steps->hi[k] - lo, before = NAN;
    int64_t every = 1 + steps->n / RH_FACTS__SAMPLE;
    t->whole = true;
    for (int64_t j = 0; j < steps->n; j++) {
        double from = rh_facts__from(steps, j)[k], to = rh_facts__to(steps, j)[k];
        double step = to - from, length = fabs(step);
        bool follows = j > 0 && steps->at[j] == steps->at[j - 1] + 1 &&
                       steps->log->from[steps->at[j]] == steps->log->to[steps->at[j - 1]];
        t->whole = t->whole && from == floor(from) && to == floor(to);
        if (length >= JUMP * range) {
            t->up += step > 0.0;
            t->down += step < 0.0;
            note(t->rest, &t->nrest, length);
            if (follows && !isnan(before))
                note(t->sum, &t->nsum, length + before);
            before = NAN;
            continue;
        }
        t->between += length > SMALL * range;
        if (length > 0.0 && length <= SMALL * range) {
            t->small++;
            t->middle += fabs(from - lo - range / 2.0) < range / 4.0;
            if (j % every == 0)
                note(t->usual, &t->nusual, length);
        }
        before = length > 0.0 ? length : follows ? before : (double)NAN;
    }
}

static double period_of(turning *t, double range, double step)
{
    double sum = t->nsum ? rh_stats__quantile(t->sum, t->nsum, 0.5) : range + step;
    sum = fmax(sum, range);
    double best = NAN;
    for (int i = 0; i < NNATURAL; i++)
        if (natural[i] >= range * (1.0 - 1e-9) && fabs(natural[i] - sum) <= step &&
            !(fabs(best - sum) <= fabs(natural[i] - sum)))
            best = natural[i];
    if (!isnan(best))
        return best;
    return t->whole && fabs(range + 1.0 - sum) <= step ? range + 1.0 : sum;
}

// Where the circle begins: 0 or minus half a turn if the values fit, else around the values.
static double base_of(double lo, double hi, double period)
{
    double slack = 1e-9 * period;
    if (lo >= -slack && hi <= period + slack)
        return 0.0;
    if (lo >= -period / 2.0 - slack && hi <= period / 2.0 + slack)
        return -period / 2.0;
    return (lo + hi - period) / 2.0;
}

static void judge_turns(rh_sensor *s, turning *t, const rh_facts__steps *steps, int k)
{
    double lo = steps->lo[k], hi = steps->hi[k], range = hi - lo;
    int64_t njump = t->up + t->down, rarer = t->up < t->down ? t->up : t->down;
    if (njump < FEWEST_JUMPS || (double)t->between > BETWEEN * (double)njump ||
        t->small < STEPS_PER_JUMP * njump || t->middle < FEWEST_JUMPS)
        return;
    double seam = range - rh_stats__quantile(t->rest, t->nrest, 0.5);
    double longest = rh_stats__quantile(t->usual, t->nusual, 0.99);
    double step = rh_stats__quantile(t->usual, t->nusual, 0.5);
    if (seam > longest)
        return;
    double period = period_of(t, range, step);
    if ((double)rarer < OTHER_WAY * (double)njump) {
        if (t->nsum < FEWEST_JUMPS)
            return;
        for (int64_t i = 0; i < t->nsum; i++)
            t->sum[i] = fabs(t->sum[i] - period);
        if (rh_stats__quantile(t->sum, t->nsum, 0.5) > REGULAR * step)
            return;
    }
    s->period = period;
    s->base = t->whole && !isnan(period) && lo == 1.0 && period == range + 1.0
                  ? 1.0 // months and days of the month
                  : base_of(lo, hi, period);
}

static rh_status find_wraps(rh_sensor *sensor, const rh_facts__steps *steps, rh_error *err)
{
    turning t = {0};
    double *block = rh_alloc(3 * RH_FACTS__SAMPLE, sizeof *block);
    if (!block)
        return rh_base__no_memory(err, "model");
    for (int k = 0; k < steps->log->nobs; k++) {
        t = (turning){.sum = block,
                      .rest = block + RH_FACTS__SAMPLE,
                      .usual = block + 2 * RH_FACTS__SAMPLE};
        if (sensor[k].constant)
            continue;
        count_turns(&t, steps, k);
        judge_turns(&sensor[k], &t, steps, k);
    }
    rh_free(block);
    return RH_OK;
}

// ---------------------------------------------------------------------------- pairs

// Whether sensors i and k lie on a circle around 0, by every `every`-th step.
static bool is_circle(const rh_facts__steps *steps, int i, int k, int64_t every, double *radius)
{
    double n = 0.0, sum = 0.0, square = 0.0, one = 0.0, one_square = 0.0;
    double least = INFINITY, most = 0.0;
    for (int64_t j = 0; j < steps->n; j += every) {
        const double *x = rh_facts__from(steps, j);
        double c = x[i] * x[i], all = c + x[k] * x[k];
        n += 1.0;
        sum += all;
        square += all * all;
        one += c;
        one_square += c * c;
        least = fmin(least, all);
        most = fmax(most, all);
    }
    double mean = sum / n, vary = fmax(square / n - mean * mean, 0.0);
    double other = one_square / n - one / n * (one / n);
    *radius = sqrt(mean);
    return mean > 0.0 && most <= mean * (1.0 + ROUND) && least >= mean * (1.0 - ROUND) &&
           vary <= CANCELS * CANCELS * other;
}

static void find_pairs(rh_sensor *sensor, const rh_facts__steps *steps)
{
    int d = steps->log->nobs;
    double radius;
    for (int i = 0; i < d; i++)
        for (int k = i + 1; k < d && sensor[i].partner < 0; k++) {
            if (sensor[i].constant || sensor[k].constant || sensor[k].partner >= 0 ||
                !is_circle(steps, i, k, 1 + steps->n / SCREEN, &radius) ||
                !is_circle(steps, i, k, 1 + steps->n / RH_FACTS__SAMPLE, &radius))
                continue;
            sensor[i].partner = k;
            sensor[k].partner = i;
            sensor[i].radius = sensor[k].radius = radius;
        }
}

rh_status rh_facts__find_shapes(rh_sensor *sensor, const rh_facts__steps *steps, rh_error *err)
{
    for (int k = 0; k < steps->log->nobs; k++)
        sensor[k].constant = !(steps->lo[k] < steps->hi[k]);
    if (steps->n == 0)
        return RH_OK;
    find_pairs(sensor, steps);
    return find_wraps(sensor, steps, err);
}

// ---------------------------------------------------------------------------- walls

// Whether a sensor is at the first of its values (last: of the last) more often than at the
// values beside it, in a sorted sample.
static bool is_heavy(const double *x, int64_t n, bool last)
{
    int64_t run[1 + BESIDE] = {0}, distinct = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = last ? n - 1 - i : i, before = last ? at + 1 : at - 1;
        distinct += i == 0 || x[at] != x[before];
        if (distinct <= 1 + BESIDE)
            run[distinct - 1]++;
    }
    int64_t beside = 0;
    for (int i = 1; i <= BESIDE; i++)
        beside += run[i];
    return distinct >= DISTINCT && run[0] >= ARRIVALS &&
           (double)run[0] > HEAVY * (double)beside / BESIDE;
}

// Steps that arrive at a value from another one.
static int64_t arrivals(const rh_facts__steps *steps, int k, double value)
{
    int64_t n = 0;
    for (int64_t j = 0; j < steps->n; j++)
        n += rh_facts__to(steps, j)[k] == value && rh_facts__from(steps, j)[k] != value;
    return n;
}

rh_status rh_facts__find_walls(rh_sensor *sensor, const rh_facts__steps *steps, rh_error *err)
{
    int64_t every = 1 + steps->n / RH_FACTS__SAMPLE;
    double *x = rh_alloc(RH_FACTS__SAMPLE, sizeof *x);
    if (!x)
        return rh_base__no_memory(err, "model");
    for (int k = 0; k < steps->log->nobs; k++) {
        int64_t n = 0;
        if (sensor[k].constant || sensor[k].partner >= 0 || !isnan(sensor[k].period))
            continue;
        for (int64_t j = 0; j < steps->n; j += every)
            x[n++] = rh_facts__to(steps, j)[k];
        if (n == 0)
            continue;
        rh_stats__sort(x, n);
        if (x[0] == steps->lo[k] && is_heavy(x, n, false) &&
            arrivals(steps, k, steps->lo[k]) >= ARRIVALS)
            sensor[k].wall_lo = steps->lo[k];
        if (x[n - 1] == steps->hi[k] && is_heavy(x, n, true) &&
            arrivals(steps, k, steps->hi[k]) >= ARRIVALS)
            sensor[k].wall_hi = steps->hi[k];
    }
    rh_free(x);
    return RH_OK;
}
