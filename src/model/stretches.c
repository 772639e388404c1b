// stretches.c - chooses the stretches of a log that models are compared on.
//
// A stretch begins at a held-out state of the log and has what followed, after 1, 2, 5, 10, ...
// steps: the state, the sum of rewards so far, and whether the episode has ended. replay.c
// replays them in a model, ignorant.c says what a forecast scores that knows nothing.
//
// 1. Whole episodes are held out, in turn; if one is more than half of the log, blocks of
//    steps, and GAP of the log beside a block is not used for fitting either. Stretches begin
//    in the first half of a block, so that what follows lies in it.
// 2. The longest horizon is the median episode, at most MOST_LENGTH steps; in continuing logs a
//    50th of the log, at most MOST_CONTINUING. Where the log breaks off, longer horizons are
//    unknown.
// 3. In a continuing task nothing ends. A terminal step leads to the next start, in the log as
//    in the model. Failures show in the rewards.
// 4. Sensors are scaled by their mean distance from the median: it is the scale of these
//    scores, and neither an outlier nor a sensor that rests most of the time distorts it.
//    Constant sensors are left out. A sensor that wraps round is a point on its circle, two
//    numbers, scaled by the mean distance from their centre.

#include "stretches.h"

#include "base/base.h"
#include "base/base_internal.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NFOLD 5
#define FOLDS_FEW 2         // folds run if the log has more than
#define MOST_ALL_FOLDS 5000 //   so many steps, because networks are slow to fit
#define NBLOCK 25           // blocks of a log without episodes
#define GAP 0.01            // of the log, between a held-out block and the steps used; by hand
#define MOST_STRETCH 200    // stretches,
#define LEAST_STRETCH 50    //   fewer if they are long,
#define MOST_STEPS 300000   //   to spend at most so many steps on replays of a model
#define MOST_LENGTH 500     // steps of a stretch in an episodic log
#define MOST_CONTINUING 200 // and in a continuing one
#define PART_CONTINUING 50  //   at most this part of the log
#define LEAST_STEPS 50      // shortest log
#define LEAST_UNIT 4        // fewest episodes or blocks with stretches

// ---------------------------------------------------------------------------- the log

static bool is_terminal(const rh_log *log, int64_t t)
{
    return log->flag[t] & RH_FLAG_TERMINAL;
}

int32_t rh_stretches__row_after(const rh_stretches *r, int64_t t)
{
    const rh_log *log = r->log;
    if (!r->continuing || !is_terminal(log, t))
        return log->to[t];
    bool next = t + 1 < log->n && log->episode[t + 1] != log->episode[t] &&
                log->start[log->episode[t + 1]];
    return next ? log->from[t + 1] : RH_UNKNOWN;
}

// Whether step t + 1 follows step t.
static bool follows(const rh_stretches *r, int64_t t)
{
    const rh_log *log = r->log;
    if (t + 1 >= log->n || rh_stretches__row_after(r, t) == RH_UNKNOWN)
        return false;
    return log->from[t + 1] == rh_stretches__row_after(r, t);
}

rh_stretches__stretch rh_stretches__follow(const rh_stretches *r, int64_t first, int64_t end)
{
    rh_stretches__stretch s = {.first = first};
    int longest = r->horizon[r->nhorizon - 1];
    for (int64_t t = first; t < end && s.length < longest; t++) {
        s.ends = !r->continuing && is_terminal(r->log, t);
        if (!s.ends && rh_stretches__row_after(r, t) == RH_UNKNOWN)
            break;
        s.length++;
        if (s.ends || !follows(r, t))
            break;
    }
    return s;
}

static double value_of(const rh_stretches__coordinate *c, const double *obs)
{
    double x = obs[c->sensor], sine, cosine;
    if (c->on == LINE)
        return x;
    double turns = (x - c->base) / c->period;
    if (!isfinite(turns))
        return NAN;
    rh_maths__sincos(2.0 * M_PI * (turns - floor(turns)), &sine, &cosine);
    return c->period / (2.0 * M_PI) * (c->on == COSINE ? cosine : sine);
}

void rh_stretches__scale(const rh_stretches *r, const double *obs, float *x)
{
    for (int k = 0; k < r->d; k++) {
        double v = (value_of(&r->coord[k], obs) - r->coord[k].centre) / r->coord[k].scale;
        x[k] = (float)(isfinite(v) && fabs(v) < RH_STRETCHES__HUGE ? v : RH_STRETCHES__HUGE);
    }
}

void rh_stretches__look_up(const rh_stretches *r, const rh_stretches__stretch *s,
                           rh_stretches__outcome *o, float *place)
{
    double sum = 0.0;
    int step = 0;
    memset(o, 0, sizeof *o);
    for (int h = 0; h < r->nhorizon; h++, place += r->d) {
        o->known[h] = s->length > 0 && (s->ends || s->length >= r->horizon[h]);
        for (; step < r->horizon[h] && step < s->length; step++)
            sum += r->log->reward[s->first + step];
        o->reward[h] = sum;
        o->ended[h] = s->ends && s->length <= r->horizon[h];
        memset(place, 0, (size_t)r->d * sizeof *place);
        if (o->known[h] && !o->ended[h])
            rh_stretches__scale(r,
                                r->log->obs +
                                    (int64_t)rh_stretches__row_after(r, s->first + step - 1) *
                                        r->log->nobs,
                                place);
    }
}

// -------------------------------------------------------------------------- units and horizons

// Episodes, resumed ones with the one before, or blocks if one is more than half of the log.
static void find_units(rh_stretches *r)
{
    const rh_log *log = r->log;
    int64_t largest;
    int nunit = (int)rh_model__units(log, &largest);
    r->blocks = nunit < LEAST_UNIT || 2 * largest > log->n;
    r->nunit = r->blocks ? NBLOCK : nunit;
    int64_t part = log->n / NBLOCK / 4, gap = (int64_t)ceil(GAP * (double)log->n);
    r->gap = r->blocks ? (gap < part ? gap : part) : 0;
    int unit = -1, before = -1;
    for (int64_t t = 0; t < log->n; t++) {
        int e = log->episode[t];
        unit += e != before && (e == 0 || log->start[e]);
        before = e;
        r->unit[t] = r->blocks ? (int32_t)(t * NBLOCK / log->n) : unit;
    }
    r->nfold = r->nunit < NFOLD ? r->nunit : NFOLD;
    r->nrun = log->n > MOST_ALL_FOLDS && r->nfold > FOLDS_FEW ? FOLDS_FEW : r->nfold;
}

// The median length of an episode, or of a run of episodes that follow each other in a
// continuing task; 0 if memory ran out.
static int64_t median_length(const rh_stretches *r)
{
    const rh_log *log = r->log;
    int n = 0;
    double *length = rh_alloc((size_t)log->nepisode, sizeof *length);
    if (!length)
        return 0;
    for (int e = 0; e < log->nepisode; e++) {
        bool joined = e > 0 && r->continuing && follows(r, log->first[e] - 1);
        n += !joined;
        length[n - 1] += (double)(log->first[e + 1] - log->first[e]);
    }
    rh_stats__sort(length, n);
    double median = rh_stats__quantile_sorted(length, n, 0.5);
    rh_free(length);
    return median > 1.0 ? (int64_t)median : 1;
}

// 1, 2, 5, 10, ... up to the longest, and the longest itself if it is far from these.
static bool set_horizons(rh_stretches *r)
{
    static const int series[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    int64_t longest = median_length(r);
    int64_t most = r->continuing ? MOST_CONTINUING : MOST_LENGTH;
    if (r->blocks || r->continuing)
        most = most < r->log->n / PART_CONTINUING ? most : r->log->n / PART_CONTINUING;
    if (longest == 0)
        return false;
    longest = longest < most ? longest : most;
    longest = longest > 1 ? longest : 1;
    for (size_t i = 0; i < sizeof series / sizeof *series && series[i] <= longest; i++)
        r->horizon[r->nhorizon++] = series[i];
    if (2 * longest >= 3 * r->horizon[r->nhorizon - 1])
        r->horizon[r->nhorizon++] = (int)longest;
    return true;
}

// A sensor that wraps round: centre and scale of its points.
static void add_circle(rh_stretches *r, int sensor, const rh_sensor *fact)
{
    const rh_log *log = r->log;
    rh_stretches__coordinate c[2];
    double mean = 0.0;
    for (int i = 0; i < 2; i++) {
        c[i] = (rh_stretches__coordinate){.sensor = sensor,
                                          .on = i ? SINE : COSINE,
                                          .period = fact->period,
                                          .base = fact->base};
        double sum = 0.0;
        for (int64_t t = 0; t < log->n; t++)
            sum += value_of(&c[i], log->obs + (int64_t)log->from[t] * log->nobs);
        c[i].centre = sum / (double)log->n;
    }
    for (int64_t t = 0; t < log->n; t++) {
        const double *obs = log->obs + (int64_t)log->from[t] * log->nobs;
        double x = value_of(&c[0], obs) - c[0].centre, y = value_of(&c[1], obs) - c[1].centre;
        mean += sqrt(x * x + y * y) / (double)log->n;
    }
    for (int i = 0; i < 2 && mean > 0.0 && isfinite(mean); i++) {
        c[i].scale = mean;
        r->coord[r->d++] = c[i];
    }
}

// The centre and the scale of every sensor that varies.
static bool set_scales(rh_stretches *r, const rh_facts *facts)
{
    const rh_log *log = r->log;
    double *x = rh_alloc((size_t)log->n, sizeof *x);
    if (!x)
        return false;
    for (int k = 0; k < log->nobs; k++) {
        double sum = 0.0;
        if (facts && !isnan(facts->sensor[k].period)) {
            add_circle(r, k, &facts->sensor[k]);
            continue;
        }
        for (int64_t t = 0; t < log->n; t++)
            x[t] = log->obs[(int64_t)log->from[t] * log->nobs + k];
        rh_stats__sort(x, log->n);
        double median = rh_stats__quantile_sorted(x, (int)log->n, 0.5);
        for (int64_t t = 0; t < log->n; t++)
            sum += fabs(x[t] - median) / (double)log->n;
        if (!(sum > 0.0 && isfinite(sum)))
            continue;
        r->coord[r->d++] =
            (rh_stretches__coordinate){.sensor = k, .centre = median, .scale = sum};
    }
    rh_free(x);
    return true;
}

// ---------------------------------------------------------------------------- stretches

// Whether a stretch may begin at t: in the first half of a block.
static bool may_begin(const rh_stretches *r, int64_t t)
{
    if (r->unit[t] % r->nfold >= r->nrun)
        return false;
    int64_t begin = r->log->n * r->unit[t] / NBLOCK,
            end = r->log->n * (r->unit[t] + 1) / NBLOCK;
    return !r->blocks || 2 * (t - begin) <= end - begin;
}

int64_t rh_stretches__end_of(const rh_stretches *r, int64_t t)
{
    int32_t unit = r->unit[t];
    while (t < r->log->n && (!r->blocks || r->unit[t] == unit))
        t++;
    return t;
}

// Evenly spaced over all steps where one may begin, each at a random place of its interval.
static bool choose_stretches(rh_stretches *r, uint64_t seed)
{
    const rh_log *log = r->log;
    int64_t npossible = 0, seen = 0,
            most = MOST_STEPS / RH_STRETCHES__NREPLAY / r->horizon[r->nhorizon - 1];
    most = most < LEAST_STRETCH ? LEAST_STRETCH : most > MOST_STRETCH ? MOST_STRETCH : most;
    r->stretch = rh_alloc((size_t)most, sizeof *r->stretch);
    if (!r->stretch)
        return false;
    for (int64_t t = 0; t < log->n; t++)
        npossible += may_begin(r, t);
    most = most < npossible ? most : npossible;
    rh_rng rng =
        rh_rng_stream(seed, RH_STREAM_FIT, RH_STRETCHES__REPLICATE, RH_STRETCHES__PICK);
    int64_t next = -1, chosen = 0;
    for (int64_t t = 0; t < log->n && chosen < most; t++) {
        if (!may_begin(r, t))
            continue;
        int64_t begin = chosen * npossible / most, end = (chosen + 1) * npossible / most;
        if (next < 0)
            next = begin + rh_rng_below(&rng, (uint32_t)(end - begin));
        if (seen++ != next)
            continue;
        chosen++;
        next = -1;
        rh_stretches__stretch s = rh_stretches__follow(r, t, rh_stretches__end_of(r, t));
        s.unit = r->unit[t];
        s.fold = r->unit[t] % r->nfold;
        if (s.length > 0)
            r->stretch[r->nstretch++] = s;
    }
    return true;
}

// ---------------------------------------------------------------------------- making it

void rh_stretches__destroy(rh_stretches *r)
{
    if (!r)
        return;
    rh_free(r->unit);
    rh_free(r->stretch);
    rh_unusual__clear(&r->unusual);
    rh_free(r->outer);
    rh_neighbours__destroy(r->from);
    rh_free(r->real);
    rh_free(r->place);
    rh_free(r->ignorant);
    rh_free(r->weight);
    rh_free(r);
}

// Index the states of all transitions by their first sensors that vary.
static rh_status index_states(rh_stretches *r, rh_error *err)
{
    const rh_log *log = r->log;
    r->ncompared = r->d < RH_NEIGHBOURS_DIM ? r->d : RH_NEIGHBOURS_DIM;
    if (r->d == 0)
        return RH_OK;
    size_t width = (size_t)r->ncompared;
    float x[RH_STRETCHES__NCOORD], *point = rh_alloc((size_t)log->n, width * sizeof *point);
    if (!point)
        return rh_base__no_memory(err, "replay");
    for (int64_t t = 0; t < log->n; t++) {
        rh_stretches__scale(r, log->obs + (int64_t)log->from[t] * log->nobs, x);
        memcpy(point + (size_t)t * width, x, width * sizeof *x);
    }
    rh_status rc = rh_neighbours__create(&r->from, point, log->n, r->ncompared, err);
    rh_free(point);
    return rc;
}

// Everything but the states' index and the check of the length.
static rh_status build(rh_stretches *r, const rh_facts *facts, uint64_t seed, rh_error *err)
{
    size_t n = (size_t)r->log->n;
    r->unit = rh_alloc(n, sizeof *r->unit);
    if (!r->unit)
        return rh_base__no_memory(err, "replay");
    find_units(r);
    if (!set_horizons(r) || !set_scales(r, facts) || !choose_stretches(r, seed))
        return rh_base__no_memory(err, "replay");
    rh_status rc = rh_stretches__add_beside(r, err);
    if (rc)
        return rc;
    size_t nscore = (size_t)RH_MODEL_NASPECT * (size_t)r->nhorizon;
    size_t nplace = (size_t)r->nhorizon * (size_t)r->d;
    r->real = rh_alloc((size_t)r->nall + 1, sizeof *r->real);
    r->place = rh_alloc((size_t)r->nall * nplace + 1, sizeof *r->place);
    r->ignorant = rh_alloc((size_t)r->nall * nscore + 1, sizeof *r->ignorant);
    r->weight = rh_alloc(RH_STRETCHES__NKIND * nscore, sizeof *r->weight);
    if (!r->real || !r->place || !r->ignorant || !r->weight)
        return rh_base__no_memory(err, "replay");
    for (int i = 0; i < r->nall; i++)
        rh_stretches__look_up(r, &r->stretch[i], &r->real[i], r->place + (size_t)i * nplace);
    return rh_stretches__measure_ignorant(r, seed) ? RH_OK : rh_base__no_memory(err, "replay");
}

static bool any_weight(const rh_stretches *r)
{
    bool any = false;
    for (int i = 0; i < RH_MODEL_NASPECT * r->nhorizon; i++)
        any = any || r->weight[i] > 0.0;
    return any;
}

rh_status rh_stretches__create(rh_stretches **out, const rh_log *log, const rh_facts *facts,
                               bool continuing, uint64_t seed, char *why, size_t size,
                               rh_error *err)
{
    if (log->n < LEAST_STEPS) {
        snprintf(why, size, "the log has %lld steps, fewer than the %d that a comparison needs",
                 (long long)log->n, LEAST_STEPS);
        return RH_OK;
    }
    rh_stretches *r = rh_alloc(1, sizeof *r);
    if (!r)
        return rh_base__no_memory(err, "replay");
    r->log = log;
    r->continuing = continuing;
    rh_status rc = build(r, facts, seed, err);
    if (!rc)
        rc = index_states(r, err);
    if (rc) {
        rh_stretches__destroy(r);
        return rc;
    }
    int nunit = rh_stretches__nunit(r);
    if (nunit < LEAST_UNIT)
        snprintf(why, size,
                 "the log has %d held-out stretches that follow each other, fewer "
                 "than the %d that a comparison needs",
                 nunit, LEAST_UNIT);
    else if (!any_weight(r))
        snprintf(why, size, "nothing varies in the log's held-out stretches");
    else {
        *out = r;
        return RH_OK;
    }
    rh_stretches__destroy(r);
    return RH_OK;
}

int rh_stretches__nhorizon(const rh_stretches *replay)
{
    return replay->nhorizon;
}

const int *rh_stretches__horizons(const rh_stretches *replay)
{
    return replay->horizon;
}

int rh_stretches__nstretch(const rh_stretches *replay)
{
    return replay->nstretch;
}

int rh_stretches__nunit(const rh_stretches *r)
{
    int n = 0;
    for (int i = 0; i < r->nstretch; i++)
        n += i == 0 || r->stretch[i].unit != r->stretch[i - 1].unit;
    return n;
}

int rh_stretches__nfold(const rh_stretches *replay)
{
    return replay->nrun;
}
