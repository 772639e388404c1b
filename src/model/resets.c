// resets.c - finds steps of a continuing log that put the plant back to a start.
//
// After a failure, a continuing log jumps to a start and marks nothing. A step is a reset if
//
//     1. it is a jump: in at least half of the sensors that can show one, s' lies more than 12
//        median residuals from where a robust fit puts it,
//     2. it is no spike that the next steps take back,
//     3. steps from similar states with the same action do not explain it,
//     4. it does not stay near an end of a sensor's range that it would have passed, as at a
//     wall
//        (the cart of mountain car stops at -1.2) or where something bounces, and
//     5. it arrives among starts: at a quarter of all starts and other arrivals, nearer than
//        half of its jump.
//
// The robust fit is linear, s' - s = B s + b_a, and fitted again without the jumps until they
// stay the same; the first jumps are long steps. In a nonlinear plant its residuals are the
// same for similar states, so the median residual of the 8 nearest steps is added. This is also
// where the step *would* have led, which limits are learned from.
//
// 1. The unit of a residual is its median, but a jump is longer than the median step: a sensor
//    may be predicted exactly, and rounding errors are no jumps. 12 is the threshold of a
//    normal error at 8 standard deviations.
// 2. A sensor shows jumps if 12 units are less than half of its range, and if its steps are not
//    mostly equal. So noise, switches, setpoints and timers say nothing about resets. Nor do
//    sensors that jump more often alone than together with others (a tank that is emptied). Of
//    the rest half must jump together, and at least two, unless the log has one sensor: what
//    jumps while all else goes on is no reset.
// 3. The first long steps are judged by 12 median steps. More than a quarter of all steps
//    cannot be resets: the sensors are not continuous, and none is found.
// 4. A quarter of the starts, not the nearest one: outliers lie near another outlier, but not
//    near many. A plant may have up to four kinds of starts.
//
// Cartpole, 10,000 steps, seeds 1 to 15: of 687 resets in near-optimal logs 686 were found, of
// 1,470 in medium ones 1,469, of 6,695 in random ones 6,677; no other step was taken for a
// reset. What is missed are falls that a start near the place of the fall follows. Of 368
// resets of a nonlinear plant of two sensors (tests/model/test_resets.c) 352 were found, none
// false. A ball that bounces is taken for resets now and then: its speed jumps where it would
// have passed the end of its range.

#include "facts.h"
#include "neighbours.h"

#include "base/base_internal.h"
#include "base/scratch.h"
#include "numeric/cholesky.h"
#include "numeric/stats.h"

#include <math.h>
#include <string.h>

#define LARGE 12.0               // units of a jump
#define STEP_SHARE (1.0 / LARGE) // of the median step: the least unit
// of its range: the longest jump threshold of a sensor; by hand. Of this, AMONG, CONTACT and
// CLOSE, half and twice as much find the same 29 resets of a Cartpole log.
#define SHOWN 0.5
#define MOST 0.25              // of the steps
#define MOST_FITTED 100000     // steps of the fit, evenly spaced
#define MOST_UNITS 8192        // steps of a median, evenly spaced
#define ROUNDS 20              // of fitting
#define RIDGE_OF_VARIANCE 1e-6 // of the mean; by hand: half and twice as much find the same
#define NSIMILAR 8             // neighbours whose residuals are added
#define MOST_POINTS 200000     // steps searched for neighbours
#define AMONG 0.25             // share of the starts that an arrival must be near to; by hand
#define NEARER 0.5             // of its jump; by hand: 1 finds the same 29, 0.25 finds 26
#define MOST_STARTS 512        // arrivals and starts compared with
#define CONTACT 5.0            // jump thresholds, at least median steps: near a wall; by hand,
#define CLOSE 0.1              //   and this share of the range; by hand
#define SPIKE 2                // steps within which a spike is taken back
#define EXACT 1e-9             // of the range: no difference

typedef struct search {
    const rh_facts__steps *steps; // borrowed
    const rh_sensor *sensor;      // borrowed                                     (d)
    int d, p, ngroup;             // sensors; numbers that a step depends on; actions, or 1
    double *scale;                // of these numbers, 0: constant                (p)
    double *origin;               //                                              (p)
    double *xmean;                // of a group                          (ngroup x p)
    double *ymean;                // mean change                         (ngroup x d)
    int64_t *count;               //                                         (ngroup)
    double *xx, *xy;              // normal equations; slopes are in xy  (p x p, p x d)
    double *unit;                 // of a residual                                (d)
    bool *shows;                  // the sensor shows jumps                       (d)
    bool *alone;                  // it mostly jumps when others do not          (d)
    bool *moves;                  // it jumps in most resets                      (d)
    int nmoving;                  // sensors that are not constant
    int need;                     // sensors that must jump
    uint8_t *jump;                // of each step                                 (n)
    double *work;                 //                                     (MOST_UNITS)
    double *sample;               // residuals, then changes     (2 x MOST_UNITS x d)
    int64_t every;                // of how many steps one is used by the fit
    int32_t *found;               // jumps that may be resets, as steps      (nfound)
    double *fix;                  // added to the fit's prediction       (nfound x d)
    int64_t nfound;               //
    bool fitted;                  // before: no change is expected
    rh_scratch scratch;           // owns the arrays
} search;

static rh_status make_room(search *s, rh_error *err)
{
    const rh_log *log = s->steps->log;
    s->d = log->nobs;
    s->p = log->nobs + (log->naction ? 0 : log->nact);
    s->ngroup = log->naction ? log->naction : 1;
    size_t d = (size_t)s->d, p = (size_t)s->p, g = (size_t)s->ngroup;
    s->scale = rh_scratch__take(&s->scratch, p, sizeof *s->scale);
    s->origin = rh_scratch__take(&s->scratch, p, sizeof *s->origin);
    s->xmean = rh_scratch__take(&s->scratch, g * p, sizeof *s->xmean);
    s->ymean = rh_scratch__take(&s->scratch, g * d, sizeof *s->ymean);
    s->count = rh_scratch__take(&s->scratch, g, sizeof *s->count);
    s->xx = rh_scratch__take(&s->scratch, p * p, sizeof *s->xx);
    s->xy = rh_scratch__take(&s->scratch, p * d, sizeof *s->xy);
    s->unit = rh_scratch__take(&s->scratch, d, sizeof *s->unit);
    s->shows = rh_scratch__take(&s->scratch, d, sizeof *s->shows);
    s->moves = rh_scratch__take(&s->scratch, d, sizeof *s->moves);
    s->alone = rh_scratch__take(&s->scratch, d, sizeof *s->alone);
    s->jump = rh_scratch__take(&s->scratch, (size_t)s->steps->n, sizeof *s->jump);
    s->work = rh_scratch__take(&s->scratch, MOST_UNITS, sizeof *s->work);
    s->sample = rh_scratch__take(&s->scratch, 2 * MOST_UNITS * d, sizeof *s->sample);
    return s->scratch.failed ? rh_base__no_memory(err, "model") : RH_OK;
}

// ---------------------------------------------------------------------------- the fit

static int group_of(const search *s, int64_t j)
{
    const rh_log *log = s->steps->log;
    return log->naction ? (int)log->act[s->steps->at[j]] : 0;
}

// What step j depends on, scaled.
static void inputs(const search *s, int64_t j, double *x)
{
    const rh_log *log = s->steps->log;
    const double *from = rh_facts__from(s->steps, j);
    for (int k = 0; k < s->p; k++) {
        double value =
            k < s->d ? from[k] : log->act[(int64_t)s->steps->at[j] * log->nact + k - s->d];
        x[k] = s->scale[k] > 0.0 ? (value - s->origin[k]) / s->scale[k] : 0.0;
    }
}

static double change(const search *s, int64_t j, int k)
{
    return rh_facts__moved(&s->sensor[k], rh_facts__from(s->steps, j)[k],
                           rh_facts__to(s->steps, j)[k]);
}

static void scale_inputs(search *s)
{
    const rh_facts__steps *steps = s->steps;
    const rh_log *log = steps->log;
    for (int k = 0; k < s->d; k++) {
        s->origin[k] = steps->mean[k];
        s->scale[k] = s->sensor[k].constant ? 0.0 : steps->sd[k];
    }
    for (int k = 0; k < s->p - s->d; k++) {
        double sum = 0.0, square = 0.0;
        for (int64_t j = 0; j < steps->n; j++)
            sum += log->act[(int64_t)steps->at[j] * log->nact + k] / (double)steps->n;
        for (int64_t j = 0; j < steps->n; j++) {
            double off = log->act[(int64_t)steps->at[j] * log->nact + k] - sum;
            square += off * off / (double)steps->n;
        }
        s->origin[s->d + k] = sum;
        s->scale[s->d + k] = sqrt(square);
    }
}

// The change that the fit predicts for step j.
static void predict(const search *s, int64_t j, double *y)
{
    double x[RH_MAX_OBS + RH_MAX_ACT];
    int g = group_of(s, j);
    for (int k = 0; k < s->d; k++)
        y[k] = s->fitted ? s->ymean[g * s->d + k] : 0.0;
    if (!s->fitted)
        return;
    inputs(s, j, x);
    for (int i = 0; i < s->p; i++) {
        double off = x[i] - s->xmean[g * s->p + i];
        for (int k = 0; k < s->d; k++)
            y[k] += off * s->xy[i * s->d + k];
    }
}

static void residual(const search *s, int64_t j, double *r)
{
    predict(s, j, r);
    for (int k = 0; k < s->d; k++)
        r[k] = rh_facts__moved(&s->sensor[k], r[k], change(s, j, k));
}

// Means of each group over the steps that are no jumps.
static void fit_means(search *s)
{
    double x[RH_MAX_OBS + RH_MAX_ACT];
    memset(s->xmean, 0, (size_t)(s->ngroup * s->p) * sizeof *s->xmean);
    memset(s->ymean, 0, (size_t)(s->ngroup * s->d) * sizeof *s->ymean);
    memset(s->count, 0, (size_t)s->ngroup * sizeof *s->count);
    for (int64_t j = 0; j < s->steps->n; j += s->every) {
        int g = group_of(s, j);
        if (s->jump[j])
            continue;
        inputs(s, j, x);
        s->count[g]++;
        for (int i = 0; i < s->p; i++)
            s->xmean[g * s->p + i] += x[i];
        for (int k = 0; k < s->d; k++)
            s->ymean[g * s->d + k] += change(s, j, k);
    }
    for (int g = 0; g < s->ngroup; g++) {
        double n = s->count[g] ? (double)s->count[g] : 1.0;
        for (int i = 0; i < s->p; i++)
            s->xmean[g * s->p + i] /= n;
        for (int k = 0; k < s->d; k++)
            s->ymean[g * s->d + k] /= n;
    }
}

// Least squares over the steps that are no jumps, with one offset for each action.
static void fit(search *s)
{
    double x[RH_MAX_OBS + RH_MAX_ACT] = {0}, y[RH_MAX_OBS], trace = 0.0;
    int p = s->p, d = s->d;
    fit_means(s);
    memset(s->xx, 0, (size_t)(p * p) * sizeof *s->xx);
    memset(s->xy, 0, (size_t)(p * d) * sizeof *s->xy);
    for (int64_t j = 0; j < s->steps->n; j += s->every) {
        int g = group_of(s, j);
        if (s->jump[j])
            continue;
        inputs(s, j, x);
        for (int k = 0; k < d; k++)
            y[k] = change(s, j, k) - s->ymean[g * d + k];
        for (int i = 0; i < p; i++) {
            x[i] -= s->xmean[g * p + i];
            for (int k = 0; k <= i; k++)
                s->xx[i * p + k] += x[i] * x[k];
            for (int k = 0; k < d; k++)
                s->xy[i * d + k] += x[i] * y[k];
        }
    }
    for (int i = 0; i < p; i++)
        trace += s->xx[i * p + i];
    for (int i = 0; i < p; i++)
        s->xx[i * p + i] += trace > 0.0 ? RIDGE_OF_VARIANCE * trace / p : 1.0;
    bool solvable = rh_cholesky__factor_small(p, s->xx, (size_t)p, 0.0);
    for (int k = 0; solvable && k < d; k++)
        rh_cholesky__solve_small(p, s->xx, (size_t)p, s->xy + k, (size_t)d);
    if (!solvable)
        memset(s->xy, 0, (size_t)(p * d) * sizeof *s->xy);
    s->fitted = true;
}

// ---------------------------------------------------------------------------- jumps

// The median distance of x (n) from `middle`.
static double deviation(double *x, int64_t n, double middle)
{
    for (int64_t j = 0; j < n; j++)
        x[j] = fabs(x[j] - middle);
    return rh_stats__quantile(x, n, 0.5);
}

// The unit of sensor k, and whether it shows jumps, by residuals and changes of a sample (m x
// d).
static void find_unit(search *s, int k, int64_t m)
{
    double *work = s->work, range = s->steps->hi[k] - s->steps->lo[k];
    for (int64_t j = 0; j < m; j++)
        work[j] = s->sample[(MOST_UNITS + j) * s->d + k];
    double middle = rh_stats__quantile(work, m, 0.5);
    double vary = deviation(work, m, middle);
    for (int64_t j = 0; j < m; j++)
        work[j] = s->sample[(MOST_UNITS + j) * s->d + k];
    double step = deviation(work, m, 0.0);
    for (int64_t j = 0; j < m; j++)
        work[j] = s->sample[j * s->d + k];
    s->unit[k] = fmax(deviation(work, m, 0.0), STEP_SHARE * step);
    s->shows[k] = !s->sensor[k].constant && !s->alone[k] && vary > EXACT * range &&
                  LARGE * s->unit[k] < SHOWN * range;
}

static void find_units(search *s)
{
    int shows = 0;
    int64_t n = s->steps->n, every = 1 + (n - 1) / MOST_UNITS, m = 0;
    every = (every + s->every - 1) / s->every * s->every; // steps whose jumps are known
    for (int64_t j = 0; j < n; j += every) {
        if (s->jump[j])
            continue;
        residual(s, j, s->sample + m * s->d);
        for (int k = 0; k < s->d; k++)
            s->sample[(MOST_UNITS + m) * s->d + k] = change(s, j, k);
        m++;
    }
    for (int k = 0; k < s->d && m > 0; k++) {
        find_unit(s, k, m);
        shows += s->shows[k];
    }
    int least = s->nmoving > 1 ? 2 : 1, half = (shows + 1) / 2;
    s->need = half > least ? half : least;
}

// How many sensors jump by a residual, in units of at least `least` (d; NULL: none).
static int jumping(const search *s, const double *r, const double *least)
{
    int n = 0;
    for (int k = 0; k < s->d; k++)
        n += s->shows[k] &&
             fabs(r[k]) > LARGE * (least ? fmax(s->unit[k], least[k]) : s->unit[k]);
    return n;
}

// Find the jumps of the fit as it is. Returns how many there are; *same: no step changed.
static int64_t find_jumps(search *s, bool *same)
{
    double r[RH_MAX_OBS];
    int64_t n = 0;
    *same = true;
    for (int64_t j = 0; j < s->steps->n; j += s->every) {
        residual(s, j, r);
        uint8_t jump = jumping(s, r, NULL) >= s->need;
        *same = *same && jump == s->jump[j];
        s->jump[j] = jump;
        n += jump;
    }
    return n;
}

// Leave out sensors that jump more often alone than together with others. False: there are
// none.
static bool leave_out_alone(search *s)
{
    double r[RH_MAX_OBS];
    int64_t all[RH_MAX_OBS] = {0}, together[RH_MAX_OBS] = {0};
    bool any = false;
    for (int64_t j = 0; j < s->steps->n; j += s->every) {
        residual(s, j, r);
        for (int k = 0; k < s->d; k++) {
            bool jumps = s->shows[k] && fabs(r[k]) > LARGE * s->unit[k];
            all[k] += jumps;
            together[k] += jumps && s->jump[j];
        }
    }
    for (int k = 0; k < s->d; k++) {
        bool alone = !s->alone[k] && 2 * together[k] < all[k];
        s->alone[k] = s->alone[k] || alone;
        any = any || alone;
    }
    return any;
}

// Fit without the jumps until they stay the same. Returns how many there are.
static int64_t settle(search *s)
{
    bool same = false;
    s->every = 1 + (s->steps->n - 1) / MOST_FITTED;
    for (int k = 0; k < s->d; k++)
        s->nmoving += !s->sensor[k].constant;
    do {
        find_units(s);
        find_jumps(s, &same);
        for (int round = 0; round < ROUNDS && !(same && s->fitted); round++) {
            fit(s);
            find_units(s);
            find_jumps(s, &same);
        }
    } while (leave_out_alone(s));
    s->every = 1;
    int64_t n = find_jumps(s, &same);
    return (double)n > MOST * (double)s->steps->n ? 0 : n;
}

// ---------------------------------------------------------------------------- candidates

// The squared distance of two states, over sensors that show jumps (or those that move).
static double apart(const search *s, const bool *use, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < s->d; k++) {
        double off = use[k] && s->steps->sd[k] > 0.0
                         ? rh_facts__moved(&s->sensor[k], a[k], b[k]) / s->steps->sd[k]
                         : 0.0;
        sum += off * off;
    }
    return sum;
}

// Whether jump j is one half of a spike: a jump away and a jump back, or the jump back.
static bool is_spike(const search *s, int64_t j)
{
    const rh_facts__steps *steps = s->steps;
    for (int64_t i = j - SPIKE; i <= j + SPIKE; i++) {
        if (i < 0 || i >= steps->n || i == j || !s->jump[i])
            continue;
        int64_t away = i < j ? i : j, back = i < j ? j : i;
        if (steps->log->episode[steps->at[away]] != steps->log->episode[steps->at[back]] ||
            steps->at[back] - steps->at[away] != back - away)
            continue;
        const double *before = rh_facts__from(steps, away);
        double out = apart(s, s->shows, before, rh_facts__to(steps, away));
        double rest = apart(s, s->shows, before, rh_facts__to(steps, back));
        if (rest < NEARER * NEARER * out)
            return true;
    }
    return false;
}

static rh_status gather(search *s, int64_t njump, rh_error *err)
{
    s->found = rh_scratch__take(&s->scratch, (size_t)njump, sizeof *s->found);
    s->fix = rh_scratch__take(&s->scratch, (size_t)njump, (size_t)s->d * sizeof *s->fix);
    if (s->scratch.failed)
        return rh_base__no_memory(err, "model");
    for (int64_t j = 0; j < s->steps->n; j++)
        if (s->jump[j] && !is_spike(s, j))
            s->found[s->nfound++] = (int32_t)j;
    return RH_OK;
}

// ---------------------------------------------------------------------------- neighbours

// Steps of one action that are no jumps, as points.
typedef struct cloud {
    rh_neighbours *points; // owned
    float *x;              // owned     (n x p)
    int32_t *step;         // owned     (n)
    int64_t n;
} cloud;

static void clear_cloud(cloud *c)
{
    rh_neighbours__destroy(c->points);
    rh_free(c->x);
    rh_free(c->step);
    *c = (cloud){0};
}

static void point_of(const search *s, int64_t j, float *point)
{
    double x[RH_MAX_OBS + RH_MAX_ACT];
    inputs(s, j, x);
    for (int i = 0; i < s->p; i++)
        point[i] = (float)x[i];
}

static rh_status make_cloud(cloud *c, const search *s, int g, rh_error *err)
{
    int64_t all = 0, seen = 0;
    for (int64_t j = 0; j < s->steps->n; j++)
        all += !s->jump[j] && group_of(s, j) == g;
    int64_t every = 1 + all / MOST_POINTS;
    size_t most = (size_t)(all / every + 1);
    c->x = rh_alloc(most, (size_t)s->p * sizeof *c->x);
    c->step = rh_alloc(most, sizeof *c->step);
    if (!c->x || !c->step)
        return rh_base__no_memory(err, "model");
    for (int64_t j = 0; j < s->steps->n; j++) {
        if (s->jump[j] || group_of(s, j) != g || seen++ % every)
            continue;
        point_of(s, j, c->x + c->n * s->p);
        c->step[c->n++] = (int32_t)j;
    }
    return rh_neighbours__create(&c->points, c->x, c->n, s->p, err);
}

// The median residual of the steps near step j, and the median distance from it.
static void ask_near(const search *s, const cloud *c, int64_t j, double *fix, double *spread)
{
    float point[RH_NEIGHBOURS_DIM], distance[NSIMILAR];
    int32_t near[NSIMILAR];
    double r[NSIMILAR][RH_MAX_OBS], x[NSIMILAR];
    point_of(s, j, point);
    int n = rh_neighbours__find(c->points, point, NSIMILAR, -1, near, distance);
    for (int i = 0; i < n; i++)
        residual(s, c->step[near[i]], r[i]);
    for (int k = 0; k < s->d; k++) {
        for (int i = 0; i < n; i++)
            x[i] = r[i][k];
        fix[k] = n ? rh_stats__quantile(x, n, 0.5) : 0.0;
        for (int i = 0; i < n; i++)
            x[i] = fabs(r[i][k] - fix[k]);
        spread[k] = n ? rh_stats__quantile(x, n, 0.5) : 0.0;
    }
}

// Correct the prediction of candidates by their neighbours, and drop those that these explain.
static rh_status ask_neighbours(search *s, rh_error *err)
{
    if (s->p > RH_NEIGHBOURS_DIM)
        return RH_OK;
    cloud c = {0};
    rh_status rc = RH_OK;
    for (int g = 0; g < s->ngroup && !rc; g++) {
        bool any = false;
        for (int64_t i = 0; i < s->nfound && !any; i++)
            any = group_of(s, s->found[i]) == g;
        if (!any || s->count[g] < NSIMILAR)
            continue;
        rc = make_cloud(&c, s, g, err);
        for (int64_t i = 0; i < s->nfound && !rc; i++) {
            double r[RH_MAX_OBS], spread[RH_MAX_OBS], *fix = s->fix + i * s->d;
            int64_t j = s->found[i];
            if (group_of(s, j) != g)
                continue;
            ask_near(s, &c, j, fix, spread);
            residual(s, j, r);
            for (int k = 0; k < s->d; k++)
                r[k] -= fix[k];
            if (jumping(s, r, spread) < s->need)
                s->jump[j] = 0;
        }
        clear_cloud(&c);
    }
    clear_cloud(&c);
    return rc;
}

// Keep the candidates that are still jumps.
static void keep_jumps(search *s)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->nfound; i++) {
        if (!s->jump[s->found[i]])
            continue;
        s->found[n] = s->found[i];
        memmove(s->fix + n++ * s->d, s->fix + i * s->d, (size_t)s->d * sizeof *s->fix);
    }
    s->nfound = n;
}

// Where candidate i would have led.
static void would_be(const search *s, int64_t i, double *arrival)
{
    int64_t j = s->found[i];
    const double *from = rh_facts__from(s->steps, j), *fix = s->fix + i * s->d;
    predict(s, j, arrival);
    for (int k = 0; k < s->d; k++)
        arrival[k] = rh_facts__wrapped(&s->sensor[k], from[k] + arrival[k] + fix[k]);

    // back to the circle of a pair
    for (int k = 0; k < s->d; k++) {
        int other = s->sensor[k].partner;
        if (other <= k)
            continue;
        double length = sqrt(arrival[k] * arrival[k] + arrival[other] * arrival[other]);
        double by = length > 0.0 ? s->sensor[k].radius / length : 1.0;
        arrival[k] *= by;
        arrival[other] *= by;
    }
}

// ---------------------------------------------------------------------------- arrivals

// Set the sensors that jump in at least half of the candidates.
static void find_movers(search *s)
{
    double r[RH_MAX_OBS];
    int64_t count[RH_MAX_OBS] = {0};
    for (int64_t i = 0; i < s->nfound; i++) {
        residual(s, s->found[i], r);
        for (int k = 0; k < s->d; k++)
            count[k] += s->shows[k] && fabs(r[k] - s->fix[i * s->d + k]) > LARGE * s->unit[k];
    }
    for (int k = 0; k < s->d; k++)
        s->moves[k] = 2 * count[k] >= s->nfound && s->nfound > 0;
}

// Marked starts and arrivals of candidates, at most MOST_STARTS evenly spaced of each.
static int64_t gather_places(const search *s, const double **place)
{
    const rh_log *log = s->steps->log;
    int64_t n = 0, every = 1 + (log->nepisode - 1) / MOST_STARTS;
    for (int64_t e = 0; e < log->nepisode; e += every) {
        const double *x = log->obs + (int64_t)log->from[log->first[e]] * log->nobs;
        if (log->start[e] && rh_base__all_finite(x, log->nobs))
            place[n++] = x;
    }
    every = 1 + (s->nfound - 1) / MOST_STARTS;
    for (int64_t i = 0; i < s->nfound; i += every)
        place[n++] = rh_facts__to(s->steps, s->found[i]);
    return n;
}

// Whether a step stays near an end of a sensor's range that it would have passed: a wall, at
// which it stops or from which it bounces back.
static bool is_stop(const search *s, const double *to, const double *would)
{
    const rh_facts__steps *steps = s->steps;
    for (int k = 0; k < s->d; k++) {
        double lo = steps->lo[k], hi = steps->hi[k];
        double near = fmin(CONTACT * LARGE * s->unit[k], CLOSE * (hi - lo));
        if (isnan(s->sensor[k].period) && s->shows[k] &&
            ((would[k] < lo && to[k] <= lo + near) || (would[k] > hi && to[k] >= hi - near)))
            return true;
    }
    return false;
}

// Drop candidates that do not arrive among starts, or stop at a wall. work: (2 MOST_STARTS +
// 2).
static void judge_arrivals(search *s, const double **place, double *work)
{
    int64_t nplace = gather_places(s, place);
    for (int64_t i = 0; i < s->nfound; i++) {
        double would[RH_MAX_OBS];
        const double *to = rh_facts__to(s->steps, s->found[i]);
        int64_t n = 0;
        for (int64_t q = 0; q < nplace; q++)
            if (place[q] != to)
                work[n++] = apart(s, s->moves, to, place[q]);
        would_be(s, i, would);
        double jump = apart(s, s->moves, to, would);
        int64_t among = (int64_t)ceil(AMONG * (double)n);
        bool starts = n > 0 && rh_stats__quantile(work, n, 1.0) >= 0.0 &&
                      work[among > 0 ? among - 1 : 0] < NEARER * NEARER * jump;
        if (!starts || is_stop(s, to, would))
            s->jump[s->found[i]] = 0;
    }
    keep_jumps(s);
}

static rh_status judge(search *s, rh_error *err)
{
    const double **place = rh_alloc(2 * MOST_STARTS + 2, sizeof *place);
    double *work = rh_alloc(2 * MOST_STARTS + 2, sizeof *work);
    rh_status rc = place && work ? RH_OK : rh_base__no_memory(err, "model");
    int64_t before = -1;
    while (!rc && s->nfound != before) {
        before = s->nfound;
        find_movers(s);
        judge_arrivals(s, place, work);
    }
    rh_free((void *)place);
    rh_free(work);
    return rc;
}

// ---------------------------------------------------------------------------- all of it

static rh_status hand_over(rh_facts__resets *out, const search *s, rh_error *err)
{
    size_t n = (size_t)s->nfound;
    out->at = rh_alloc(n, sizeof *out->at);
    out->arrival = rh_alloc(n, (size_t)s->d * sizeof *out->arrival);
    if (!out->at || !out->arrival)
        return rh_base__no_memory(err, "model");
    for (int64_t i = 0; i < s->nfound; i++) {
        out->at[i] = s->steps->at[s->found[i]];
        would_be(s, i, out->arrival + i * s->d);
    }
    out->n = s->nfound;
    return RH_OK;
}

void rh_facts__clear_resets(rh_facts__resets *resets)
{
    rh_free(resets->at);
    rh_free(resets->arrival);
    *resets = (rh_facts__resets){0};
}

rh_status rh_facts__find_resets(rh_facts__resets *out, const rh_facts__steps *steps,
                                const rh_sensor *sensor, rh_error *err)
{
    search s = {.steps = steps, .sensor = sensor};
    *out = (rh_facts__resets){0};
    if (steps->n == 0)
        return RH_OK;
    rh_status rc = make_room(&s, err);
    if (rc)
        goto done;
    scale_inputs(&s);
    int64_t njump = settle(&s);
    if (njump > 0) {
        rc = gather(&s, njump, err);
        if (!rc)
            rc = ask_neighbours(&s, err);
        keep_jumps(&s);
        if (!rc)
            rc = judge(&s, err);
        if (!rc && s.nfound)
            rc = hand_over(out, &s, err);
    }

done:
    rh_scratch__clear(&s.scratch);
    if (rc)
        rh_facts__clear_resets(out);
    return rc;
}
