// inspect_columns.c - statistics of the sensors, actions and rewards of a log.
//
// 1. Ranges come from all observations, movement from steps, never across an episode's end.
// 2. A run is a number of consecutive steps that do not change a sensor. It continues into the
//    next episode if that begins with the same value, because a stuck sensor ignores episodes.
//    Runs are compared with the sensor's own: a valve rests by nature, a temperature does not.
// 3. An angle jumps by its whole range at the end of it and moves little otherwise, through the
//    middle too. Differences of such a sensor are then taken the short way round, so that a
//    turn is no jump. A column on two scales (lost decimal signs) has nothing in the middle.
// 4. A sentinel that drops out and returns to where the sensor was is no event of the plant.

#include "inspect.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define RUNS 8192  // longest run that is counted exactly
#define TWINS 2000 // observations used to compare sensors

// ---------------------------------------------------------------------------- how they move

// The value of sensor j before and after a step; false if s' is unknown.
static bool ends_of(const rh_log *log, int64_t t, int j, double *before, double *after)
{
    if (log->to[t] == RH_UNKNOWN)
        return false;
    *before = log->obs[(int64_t)log->from[t] * log->nobs + j];
    *after = log->obs[(int64_t)log->to[t] * log->nobs + j];
    return true;
}

// The longest and the usual run of sensor j. Every change ends a run, perhaps of 0 steps.
static void measure_runs(rh_log_sensor *s, const rh_log *log, int j)
{
    int64_t count[RUNS + 1] = {0}, nrun = 0, run = 0, begin = 0, seen = 0;
    for (int64_t t = 0; t < log->n; t++) {
        double before = log->obs[(int64_t)log->from[t] * log->nobs + j], after = before;
        bool known = ends_of(log, t, j, &before, &after);
        run += known && before == after;
        if (run > s->run) {
            s->run = run;
            s->run_at = begin;
        }
        bool last = t + 1 == log->n;
        double next = last ? NAN : log->obs[(int64_t)log->from[t + 1] * log->nobs + j];
        if (before != after || after != next) {
            count[run < RUNS ? run : RUNS]++;
            nrun++;
            run = 0;
            begin = t + 1;
        }
    }
    while ((double)(seen += count[(int)s->usual_run]) < 0.99 * (double)nrun)
        s->usual_run++;
}

// Whether the longest run of sensor j is a fault: it is not at an end of the range, where
// values may rest, and other sensors move meanwhile.
static bool is_frozen(const rh_log_sensor *s, const rh_log *log, int j)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    if (s->constant || s->value.ndistinct <= limit->few_values || s->run < limit->frozen_run ||
        (double)s->run <= limit->frozen_ratio * fmax(s->usual_run, 1.0))
        return false;
    double value = log->obs[(int64_t)log->from[s->run_at] * log->nobs + j];
    if (value == s->value.lo || value == s->value.hi)
        return false;
    int64_t nmoved = 0;
    for (int64_t t = s->run_at; t < s->run_at + s->run; t++) {
        bool moved = false;
        for (int k = 0; k < log->nobs && !moved; k++) {
            double before, after;
            moved = ends_of(log, t, k, &before, &after) && before != after;
        }
        nmoved += moved;
    }
    return log->nobs == 1 || 2 * nmoved > s->run;
}

// Count the steps from end to end, and check that no other steps are long.
static void measure_wraps(rh_log_sensor *s, const rh_log *log, int j)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    double range = s->value.hi - s->value.lo;
    int64_t nlong = 0, nmiddle = 0;
    if (s->constant || s->value.ndistinct <= limit->few_values || !(range > 0.0) ||
        s->value.nscaled > 0)
        return; // a switch moves from end to end by nature
    for (int64_t t = 0; t < log->n; t++) {
        double before, after;
        if (!ends_of(log, t, j, &before, &after) || rh_inspect__is_absurd(&s->value, before) ||
            rh_inspect__is_absurd(&s->value, after))
            continue;
        double moved = fabs(after - before);
        s->nwrap += moved > limit->wrap_jump * range;
        nlong += moved > limit->wrap_usual * range;
        nmiddle += fabs(before - s->value.lo - 0.5 * range) < 0.25 * range;
    }
    s->wraps = s->nwrap >= limit->wrap_count && nlong == s->nwrap &&
               (double)nmiddle > limit->wrap_middle * (double)log->n;
}

// The amount by which every step changes the sensor, NAN if they differ.
static double measure_pace(const rh_log *log, int j)
{
    double pace = NAN;
    int64_t nseen = 0;
    for (int64_t t = 0; t < log->n; t++) {
        double before, after;
        if (!ends_of(log, t, j, &before, &after))
            continue;
        double moved = after - before;
        pace = nseen++ == 0 ? moved : pace;
        if (!(fabs(moved - pace) <= 1e-6 * fabs(pace)))
            return NAN;
    }
    return nseen > rh_inspect__limit.few_values && pace != 0.0 ? pace : NAN;
}

// Whether the sentinel comes for a few rows at a time, and the sensor is then where it was.
static bool measure_dropouts(const rh_log_sensor *s, const rh_log *log, int j)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    double usual = limit->dropout_near * (s->value.hi - s->value.lo), before = NAN;
    int64_t run = 0, nrun = 0, nback = 0;
    for (int64_t t = 0; t < log->n && s->value.nsentinel > 0; t++) {
        double x = log->obs[(int64_t)log->from[t] * log->nobs + j];
        if (x == s->value.sentinel) {
            run++;
            continue;
        }
        if (run > 0) {
            nrun++;
            nback += run <= limit->dropout_rows && fabs(x - before) <= usual;
        }
        run = 0;
        before = x;
    }
    return nrun >= limit->sentinel_count &&
           (double)nback >= limit->dropout_share * (double)nrun;
}

// The first step from or to a missing value, and the first absurd value.
static void find_first(rh_log_sensor *s, const rh_log *log, int j)
{
    bool missing = s->value.nmissing + s->value.ninfinite > 0;
    bool absurd = s->value.nabsurd + s->value.nsentinel > 0;
    for (int64_t t = 0; t < log->n && (missing || absurd); t++)
        for (int side = 0; side < 2; side++) {
            int32_t row = side ? log->to[t] : log->from[t];
            if (row == RH_UNKNOWN)
                continue;
            double x = log->obs[(int64_t)row * log->nobs + j];
            if (missing && !isfinite(x)) {
                s->missing_at = t;
                missing = false;
            }
            if (absurd && isfinite(x) && rh_inspect__is_absurd(&s->value, x)) {
                s->absurd_at = t;
                absurd = false;
            }
        }
}

// ---------------------------------------------------------------------------- twins

// Correlation of the centred columns a and b (n); missing numbers are 0.
static double correlate(const double *a, const double *b, int64_t n)
{
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (int64_t i = 0; i < n; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : 0.0;
}

static bool find_twins(rh_log_report *report, const rh_log *log)
{
    int64_t n = log->nstate < TWINS ? log->nstate : TWINS;
    double *all = rh_alloc((size_t)(n * log->nobs), sizeof *all);
    if (!all)
        return false;
    for (int j = 0; j < log->nobs; j++) {
        double sum = 0.0, *x = all + j * n;
        for (int64_t i = 0; i < n; i++) {
            double value = log->obs[rh_inspect__spread(i, n, log->nstate) * log->nobs + j];
            bool good =
                isfinite(value) && !rh_inspect__is_absurd(&report->sensor[j].value, value);
            x[i] = good ? value - report->sensor[j].value.mean : 0.0;
            sum += x[i];
        }
        for (int64_t i = 0; i < n; i++)
            x[i] -= sum / (double)n;
        rh_log_sensor *s = &report->sensor[j];
        for (int k = 0; k < j && s->twin < 0 && !s->constant; k++)
            if (!report->sensor[k].constant &&
                fabs(correlate(x, all + k * n, n)) > rh_inspect__limit.twin)
                s->twin = k;
    }
    rh_free(all);
    return true;
}

// ---------------------------------------------------------------------------- the parts

// One value but for its last bits.
static bool is_constant(const rh_log_numbers *v)
{
    return v->n > 0 && v->max - v->min <= 4.0 * DBL_EPSILON * fmax(fabs(v->max), fabs(v->min));
}

bool rh_inspect__sensors(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    for (int j = 0; j < log->nobs; j++) {
        rh_log_sensor *s = &report->sensor[j];
        *s = (rh_log_sensor){.missing_at = -1, .absurd_at = -1, .run_at = -1, .twin = -1};
        for (int64_t i = 0; i < log->nstate; i++)
            room->column[i] = log->obs[i * log->nobs + j];
        rh_inspect__numbers(&s->value, room, log->nstate);
        s->constant = is_constant(&s->value);
        rh_inspect__units(s, log, j, room);
        s->dropouts = measure_dropouts(s, log, j);
        find_first(s, log, j);
        measure_runs(s, log, j);
        measure_wraps(s, log, j);
        s->pace = measure_pace(log, j);
        s->frozen = is_frozen(s, log, j);
    }
    return log->n < 3 || find_twins(report, log);
}

// After how many rows actions change: the largest number of which nearly all runs of one
// action, except at the ends of episodes, are multiples. 1 if there is none, or too few runs.
static double measure_hold(const rh_log *log)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int64_t count[RUNS] = {0}, nrun = 0, run = 0;
    size_t width = (size_t)log->nact * sizeof *log->act;
    bool whole = false;
    for (int64_t t = 0; t < log->n; t++) {
        run++;
        bool cut = t + 1 == log->n || log->step[t + 1] == 0;
        if (!cut &&
            memcmp(log->act + t * log->nact, log->act + (t + 1) * log->nact, width) == 0)
            continue;
        if (whole && !cut && run < RUNS) {
            count[run]++;
            nrun++;
        }
        whole = !cut;
        run = 0;
    }
    for (int every = RUNS - 1; every > 1 && nrun >= limit->hold_runs; every--) {
        int64_t fit = 0;
        for (int i = every; i < RUNS; i += every)
            fit += count[i];
        if ((double)fit >= limit->hold_share * (double)nrun)
            return every;
    }
    return 1.0;
}

bool rh_inspect__actions(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    report->hold = measure_hold(log);
    for (int64_t t = 0; t < log->n && log->naction; t++)
        report->taken[(int)log->act[t]]++;
    for (int k = 0; k < log->nact && !log->naction; k++) {
        int64_t at = 0;
        for (int64_t t = 0; t < log->n; t++)
            room->column[t] = log->act[t * log->nact + k];
        rh_inspect__numbers(&report->amount[k], room, log->n);
        for (int64_t t = 0; t < log->n; t++)
            at += room->column[t] == report->amount[k].min ||
                  room->column[t] == report->amount[k].max;
        report->at_bound[k] = (double)at / (double)log->n;
    }

    memcpy(room->column, log->reward, (size_t)log->n * sizeof *log->reward);
    rh_inspect__numbers(&report->reward, room, log->n);
    for (int64_t t = 0; t < log->n; t++) {
        report->nzero += log->reward[t] == 0.0;
        report->nworst += log->reward[t] == report->reward.min;
    }
    return true;
}

// ---------------------------------------------------------------------------- the space

void rh_inspect__space_init(rh_inspect__space *space, const rh_log *log,
                            const rh_log_report *report)
{
    space->n = 0;
    space->report = report;
    for (int j = 0; j < log->nobs; j++) {
        const rh_log_sensor *s = &report->sensor[j];
        if (s->constant || !(s->value.sd > 0.0))
            continue;
        int i = space->n++;
        space->sensor[i] = j;
        space->centre[i] = s->value.median;
        space->scale[i] = s->value.sd;
        space->period[i] = s->wraps ? (s->value.hi - s->value.lo) / s->value.sd : INFINITY;
    }
}

// The scaled value of sensor i in a row.
static double place_one(const rh_inspect__space *space, const rh_log *log, int32_t row, int i)
{
    int j = space->sensor[i];
    double value = log->obs[(int64_t)row * log->nobs + j];
    const rh_log_numbers *usual = &space->report->sensor[j].value;
    if (rh_inspect__is_absurd(usual, value))
        value = value == usual->sentinel ? NAN : fmin(fmax(value, usual->lo), usual->hi);
    double off = value - space->centre[i];
    return isfinite(off) ? off / space->scale[i] : 0.0;
}

void rh_inspect__place(const rh_inspect__space *space, const rh_log *log, int32_t row,
                       double *x)
{
    for (int i = 0; i < space->n; i++)
        x[i] = place_one(space, log, row, i);
}

double rh_inspect__turn(const rh_inspect__space *space, int i, double difference)
{
    double far = fabs(difference), round = fabs(space->period[i] - far);
    return round < far ? (difference > 0.0 ? -round : round) : difference;
}

double rh_inspect__change(const rh_inspect__space *space, const rh_log *log, int64_t t, int i)
{
    return rh_inspect__turn(space, i,
                            place_one(space, log, log->to[t], i) -
                                place_one(space, log, log->from[t], i));
}

void rh_inspect__changes(const rh_inspect__space *space, const rh_log *log, int64_t t,
                         double *d)
{
    for (int i = 0; i < space->n; i++)
        d[i] = rh_inspect__change(space, log, t, i);
}
