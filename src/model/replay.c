// replay.c - held-out stretches of a log, replayed in a model with the logged actions.
//
// A stretch begins at a held-out state of the log. A member fitted without it stands there,
// takes the logged actions, and is compared after 1, 2, 5, 10, ... steps with what really
// followed: the state, the sum of rewards so far, and whether the episode has ended, each by a
// proper score of RH_STRETCHES__NREPLAY random replays (replay_score.c). Every score is divided
// by that of a forecast that knows nothing of the state: random stretches of the log. So 0 is
// perfect, 1 is no better than not looking, and more is worse. A part (states, rewards, ends)
// is the mean over its horizons, the score the mean of the parts.
//
// 1. Whole episodes are held out, in turn; if one is more than half of the log, blocks of
//    steps, and GAP of the log beside a block is not used for fitting either. Stretches begin
//    in the first half of a block, so that what follows lies in it.
// 2. The longest horizon is the median episode, at most MOST_LENGTH steps; in continuing logs a
//    50th of the log, at most MOST_CONTINUING.
// 3. The log's actions are replies to the plant's noise. A replay with other noise that has
//    left the logged path would take them in states where no controller would, and in an
//    unstable plant even the truth would fail again and again. So a replay follows the logged
//    actions until its state is farther from the logged one than LEFT of the mean distance of
//    two logged states; from then on it takes the action of one of the NEAR nearest logged
//    states, as the log's behaviour would. (In Cartpole, near-optimal, the rewards of a model
//    that is 20 times truer after one step scored 12.9 after 200 steps of logged actions
//    alone.)
// 4. A replay that is still running where the log's episode ended continues in the same way.
//    Taking it as it was made one step late count as never. An end is final: state and sum of
//    rewards stay as they were. Where the log breaks off, longer horizons are unknown.
// 5. In a continuing task nothing ends. A terminal step leads to the next start, in the log as
//    in the model. Failures show in the rewards.
// 6. A coverage radius is ignored: out of coverage a model gives a penalty, not a prediction.
// 7. Sensors are scaled by their mean distance from the median: it is the scale of these
//    scores, and neither an outlier nor a sensor that rests most of the time distorts it.
//    Constant sensors are left out. A sensor that wraps round is a point on its circle, two
//    numbers, scaled by the mean distance from their centre.
// 8. Rewards and ends at a horizon count if the stretches differ in them: at least
//    LEAST_EFFECTIVE stretches must make up the variance, (sum d^2)^2 / sum d^4. A ratio to one
//    rare event would be chance.
// 9. Standard errors treat the episodes or blocks as independent, not the stretches.
// 10. All candidates have the same stretches and the same streams, so they are compared in
//    pairs.
// 11. Numbers of a model that are not finite are set to HUGE_VALUE of the sensor's scale.

#include "replay.h"

#include "neighbours.h"

#include "base/base_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NFOLD 5
#define FOLDS_FEW 2           // folds run if the log has more than
#define MOST_ALL_FOLDS 5000   //   so many steps, because networks are slow to fit
#define NBLOCK 25             // blocks of a log without episodes
#define GAP 0.01              // of the log, between a held-out block and the steps used
#define MOST_STRETCH 200      // stretches,
#define LEAST_STRETCH 50      //   fewer if they are long,
#define MOST_STEPS 300000     //   to spend at most so many steps on replays of a model
#define MOST_LENGTH 500       // steps of a stretch in an episodic log
#define MOST_CONTINUING 200   // and in a continuing one
#define PART_CONTINUING 50    //   at most this part of the log
#define NEAR 3                // logged states that are imitated off the logged path
#define LEFT 0.5              // of the mean distance of two logged states: off the path
#define NRANDOM 400           // random stretches of the ignorant forecast
#define LEAST_STEPS 50        // shortest log
#define LEAST_UNIT 4          // fewest episodes or blocks with stretches
#define LEAST_EFFECTIVE 5.0   // stretches that a score must rest on
#define HUGE_VALUE 1e6        //
#define REPLICATE 0x7265706cu // of all random streams here

enum { CHANCE_PICK, CHANCE_RANDOM, CHANCE_FIT = 16 }; // purposes of RH_STREAM_FIT

enum { NPART = RH_MODEL_NASPECT, NREPLAY = RH_STRETCHES__NREPLAY };

typedef struct stretch {
    int64_t first; // transition
    int length;    // steps that are known
    bool ends;     // the last of these ends the episode
    int unit;      // episode or block
    int fold;
} stretch;

// What was true of a stretch or a replay at every horizon.
typedef struct outcome {
    double reward[RH_MODEL_NHORIZON]; // sum
    bool ended[RH_MODEL_NHORIZON];
    bool known[RH_MODEL_NHORIZON];
} outcome;

// One of the numbers of a state that are compared: a sensor, or one of two of its circle.
typedef struct coordinate {
    int sensor;
    enum { LINE, COSINE, SINE } on;
    double period, base; // of a circle
    double centre, scale;
} coordinate;

#define NCOORD (2 * RH_MAX_OBS)

struct rh_stretches {
    const rh_log *log; // borrowed
    bool continuing;
    int nhorizon, horizon[RH_MODEL_NHORIZON];
    int nunit, nfold, nrun; // units; folds, and those of them that are held out in turn
    bool blocks;            // units are blocks of steps
    int64_t gap;            // beside a block
    int32_t *unit;          // owned: of every transition                      (n)
    stretch *stretch;       // owned                                           (nstretch)
    int nstretch;
    int d;                    // numbers that are compared: of sensors that vary
    coordinate coord[NCOORD]; //                                                (d)
    rh_neighbours *from;      // owned: scaled states of all transitions (n x ncompared)
    int ncompared;            // sensors of these
    double left;              // distance from the logged path at which it is left
    outcome *real;            // owned                     (nstretch)
    float *place;             // owned: their scaled states   (nstretch x nhorizon x d)
    double *ignorant;         // owned: scores of the ignorant forecast, NAN: unknown
                              //                              (nstretch x NPART x nhorizon)
    double *weight; // owned: of a score in a stretch's share of the score; 0: not counted
                    //                              (NPART x nhorizon)
};

// ---------------------------------------------------------------------------- the log

static bool is_terminal(const rh_log *log, int64_t t)
{
    return log->flag[t] & RH_FLAG_TERMINAL;
}

// The row that step t leads to, or RH_UNKNOWN. A terminal step of a continuing task leads to
// the start of the next episode.
static int32_t row_after(const rh_stretches *r, int64_t t)
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
    if (t + 1 >= log->n || row_after(r, t) == RH_UNKNOWN)
        return false;
    return log->from[t + 1] == row_after(r, t);
}

// The known steps from `first`, up to the longest horizon and before `end`.
static stretch follow(const rh_stretches *r, int64_t first, int64_t end)
{
    stretch s = {.first = first};
    int longest = r->horizon[r->nhorizon - 1];
    for (int64_t t = first; t < end && s.length < longest; t++) {
        s.ends = !r->continuing && is_terminal(r->log, t);
        if (!s.ends && row_after(r, t) == RH_UNKNOWN)
            break;
        s.length++;
        if (s.ends || !follows(r, t))
            break;
    }
    return s;
}

static double value_of(const coordinate *c, const double *obs)
{
    double x = obs[c->sensor], sine, cosine;
    if (c->on == LINE)
        return x;
    double turns = (x - c->base) / c->period;
    if (!isfinite(turns))
        return NAN;
    rh_sincos(2.0 * M_PI * (turns - floor(turns)), &sine, &cosine);
    return c->period / (2.0 * M_PI) * (c->on == COSINE ? cosine : sine);
}

// The scaled sensors of obs (nobs) to x (d).
static void scale_to(const rh_stretches *r, const double *obs, float *x)
{
    for (int k = 0; k < r->d; k++) {
        double v = (value_of(&r->coord[k], obs) - r->coord[k].centre) / r->coord[k].scale;
        x[k] = (float)(isfinite(v) && fabs(v) < HUGE_VALUE ? v : HUGE_VALUE);
    }
}

// What was logged: o, and the scaled states (nhorizon x d).
static void look_up(const rh_stretches *r, const stretch *s, outcome *o, float *place)
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
            scale_to(r, r->log->obs + (int64_t)row_after(r, s->first + step - 1) * r->log->nobs,
                     place);
    }
}

// -------------------------------------------------------------------------- units and horizons

// Episodes, resumed ones with the one before, or blocks if one is more than half of the log.
static void find_units(rh_stretches *r)
{
    const rh_log *log = r->log;
    int64_t size = 0, largest = 0;
    int nunit = 0;
    for (int e = 0; e < log->nepisode; e++) {
        if (e == 0 || log->start[e]) {
            nunit++;
            size = 0;
        }
        size += log->first[e + 1] - log->first[e];
        largest = size > largest ? size : largest;
    }
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
    qsort(length, (size_t)n, sizeof *length, rh_base__ascending);
    double median = rh_base__quantile_sorted(length, n, 0.5);
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
    coordinate c[2];
    double mean = 0.0;
    for (int i = 0; i < 2; i++) {
        c[i] = (coordinate){.sensor = sensor,
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
        qsort(x, (size_t)log->n, sizeof *x, rh_base__ascending);
        double median = rh_base__quantile_sorted(x, (int)log->n, 0.5);
        for (int64_t t = 0; t < log->n; t++)
            sum += fabs(x[t] - median) / (double)log->n;
        if (!(sum > 0.0 && isfinite(sum)))
            continue;
        r->coord[r->d++] = (coordinate){.sensor = k, .centre = median, .scale = sum};
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

// The end of what may be looked at from t: that of the block, or of the log.
static int64_t end_of(const rh_stretches *r, int64_t t)
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
    int64_t npossible = 0, seen = 0, most = MOST_STEPS / NREPLAY / r->horizon[r->nhorizon - 1];
    most = most < LEAST_STRETCH ? LEAST_STRETCH : most > MOST_STRETCH ? MOST_STRETCH : most;
    r->stretch = rh_alloc((size_t)most, sizeof *r->stretch);
    if (!r->stretch)
        return false;
    for (int64_t t = 0; t < log->n; t++)
        npossible += may_begin(r, t);
    most = most < npossible ? most : npossible;
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_FIT, REPLICATE, CHANCE_PICK);
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
        stretch s = follow(r, t, end_of(r, t));
        s.unit = r->unit[t];
        s.fold = r->unit[t] % r->nfold;
        if (s.length > 0)
            r->stretch[r->nstretch++] = s;
    }
    return true;
}

// Units with stretches.
static int count_units(const rh_stretches *r)
{
    int n = 0;
    for (int i = 0; i < r->nstretch; i++)
        n += i == 0 || r->stretch[i].unit != r->stretch[i - 1].unit;
    return n;
}

// ----------------------------------------------------------------------- the ignorant forecast

// Random stretches of the log: at each horizon, those of them that are known.
typedef struct pool {
    outcome *o;             // owned                                    (NRANDOM)
    float *place;           // owned                                    (NRANDOM x nhorizon x d)
    double *reward, *ended; // owned: of one horizon                    (NRANDOM)
    rh_stretches__point *point; // owned
    int n;
} pool;

static void clear_pool(pool *p)
{
    rh_free(p->o);
    rh_free(p->place);
    rh_free(p->reward);
    rh_free(p->ended);
    rh_free(p->point);
}

static bool fill_pool(pool *p, const rh_stretches *r, uint64_t seed)
{
    size_t width = (size_t)r->nhorizon * (size_t)r->d + 1;
    p->o = rh_alloc(NRANDOM, sizeof *p->o);
    p->place = rh_alloc(NRANDOM * width, sizeof *p->place);
    p->reward = rh_alloc(NRANDOM, sizeof *p->reward);
    p->ended = rh_alloc(NRANDOM, sizeof *p->ended);
    p->point = rh_alloc(NRANDOM, sizeof *p->point);
    if (!p->o || !p->place || !p->reward || !p->ended || !p->point)
        return false;
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_FIT, REPLICATE, CHANCE_RANDOM);
    for (int i = 0; i < NRANDOM; i++) {
        stretch s = follow(r, rh_rng_below(&rng, (uint32_t)r->log->n), r->log->n);
        look_up(r, &s, &p->o[i], p->place + (size_t)i * width);
    }
    return true;
}

static const float *place_of(const rh_stretches *r, const float *place, int i, int h)
{
    return place + ((size_t)i * (size_t)r->nhorizon + (size_t)h) * (size_t)r->d;
}

static double *score_at(const rh_stretches *r, double *score, int i, int part, int h)
{
    return score + ((size_t)i * NPART + (size_t)part) * (size_t)r->nhorizon + h;
}

// The scores of the ignorant forecast at one horizon.
static void judge_ignorant(rh_stretches *r, pool *p, int h)
{
    size_t width = (size_t)r->nhorizon * (size_t)r->d + 1;
    p->n = 0;
    for (int i = 0; i < NRANDOM; i++) {
        const outcome *o = &p->o[i];
        if (!o->known[h])
            continue;
        p->reward[p->n] = o->reward[h];
        p->ended[p->n] = o->ended[h];
        p->point[p->n++] = (rh_stretches__point){
            p->place + (size_t)i * width + (size_t)h * (size_t)r->d, o->ended[h]};
    }
    double spread = rh_stretches__spread(p->point, p->n, r->d);
    r->left = h == 0 ? LEFT * spread : r->left;
    double reward = rh_stretches__apart(p->reward, p->n),
           ended = rh_stretches__apart(p->ended, p->n);
    for (int i = 0; i < r->nstretch; i++) {
        const outcome *o = &r->real[i];
        rh_stretches__point y = {place_of(r, r->place, i, h), o->ended[h]};
        bool known = o->known[h] && p->n > 1;
        *score_at(r, r->ignorant, i, RH_MODEL_STATE, h) =
            known ? rh_stretches__energy(p->point, p->n, spread, y, r->d) : NAN;
        *score_at(r, r->ignorant, i, RH_MODEL_REWARD, h) =
            known ? rh_stretches__crps(p->reward, p->n, reward, o->reward[h]) : NAN;
        *score_at(r, r->ignorant, i, RH_MODEL_END, h) =
            known && !r->continuing ? rh_stretches__crps(p->ended, p->n, ended, o->ended[h])
                                    : NAN;
    }
}

// How many stretches make up the variance of the real rewards or ends at a horizon.
static double effective(const rh_stretches *r, int part, int h)
{
    double mean = 0.0, square = 0.0, fourth = 0.0;
    int n = 0;
    for (int i = 0; i < r->nstretch; i++) {
        const outcome *o = &r->real[i];
        double y = part == RH_MODEL_END ? o->ended[h] : o->reward[h];
        if (o->known[h])
            mean += (y - mean) / ++n;
    }
    for (int i = 0; i < r->nstretch; i++) {
        const outcome *o = &r->real[i];
        double y = part == RH_MODEL_END ? o->ended[h] : o->reward[h],
               d = (y - mean) * (y - mean);
        square += o->known[h] ? d : 0.0;
        fourth += o->known[h] ? d * d : 0.0;
    }
    return fourth > 0.0 ? square * square / fourth : 0.0;
}

// The sum of the ignorant forecast's scores.
static double sum_ignorant(const rh_stretches *r, int part, int h)
{
    double sum = 0.0;
    for (int i = 0; i < r->nstretch; i++) {
        double c = *score_at(r, r->ignorant, i, part, h);
        sum += isnan(c) ? 0.0 : c;
    }
    return sum;
}

// The weight of every part and horizon: 1 / (its mean for the ignorant forecast), and equal
// for the horizons of a part and for the parts; times nstretch / (stretches that are known), so
// that the score is the mean of the stretches' shares.
static void weigh(rh_stretches *r)
{
    int nat[NPART] = {0}, npart = 0;
    for (int part = 0; part < NPART; part++) {
        for (int h = 0; h < r->nhorizon; h++) {
            double sum = sum_ignorant(r, part, h);
            bool good = sum > 0.0 &&
                        (part == RH_MODEL_STATE || effective(r, part, h) >= LEAST_EFFECTIVE);
            r->weight[part * r->nhorizon + h] = good ? (double)r->nstretch / sum : 0.0;
            nat[part] += good;
        }
        npart += nat[part] > 0;
    }
    for (int part = 0; part < NPART; part++)
        for (int h = 0; h < r->nhorizon; h++)
            if (nat[part])
                r->weight[part * r->nhorizon + h] /= nat[part] * npart;
}

static bool measure_ignorant(rh_stretches *r, uint64_t seed)
{
    pool p = {0};
    bool good = fill_pool(&p, r, seed);
    for (int h = 0; good && h < r->nhorizon; h++)
        judge_ignorant(r, &p, h);
    clear_pool(&p);
    if (good)
        weigh(r);
    return good;
}

// ---------------------------------------------------------------------------- making it

void rh_stretches__destroy(rh_stretches *r)
{
    if (!r)
        return;
    rh_free(r->unit);
    rh_free(r->stretch);
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
    float x[NCOORD], *point = rh_alloc((size_t)log->n, width * sizeof *point);
    if (!point)
        return rh_base__no_memory(err, "replay");
    for (int64_t t = 0; t < log->n; t++) {
        scale_to(r, log->obs + (int64_t)log->from[t] * log->nobs, x);
        memcpy(point + (size_t)t * width, x, width * sizeof *x);
    }
    rh_status rc = rh_neighbours__create(&r->from, point, log->n, r->ncompared, err);
    rh_free(point);
    return rc;
}

// Everything but the states' index and the check of the length. False if memory ran out.
static bool build(rh_stretches *r, const rh_facts *facts, uint64_t seed)
{
    size_t n = (size_t)r->log->n;
    r->unit = rh_alloc(n, sizeof *r->unit);
    if (!r->unit)
        return false;
    find_units(r);
    if (!set_horizons(r) || !set_scales(r, facts) || !choose_stretches(r, seed))
        return false;
    size_t nscore = (size_t)NPART * (size_t)r->nhorizon;
    size_t nplace = (size_t)r->nhorizon * (size_t)r->d;
    r->real = rh_alloc((size_t)r->nstretch + 1, sizeof *r->real);
    r->place = rh_alloc((size_t)r->nstretch * nplace + 1, sizeof *r->place);
    r->ignorant = rh_alloc((size_t)r->nstretch * nscore + 1, sizeof *r->ignorant);
    r->weight = rh_alloc(nscore, sizeof *r->weight);
    if (!r->real || !r->place || !r->ignorant || !r->weight)
        return false;
    for (int i = 0; i < r->nstretch; i++)
        look_up(r, &r->stretch[i], &r->real[i], r->place + (size_t)i * nplace);
    return measure_ignorant(r, seed);
}

static bool any_weight(const rh_stretches *r)
{
    bool any = false;
    for (int i = 0; i < NPART * r->nhorizon; i++)
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
    if (!build(r, facts, seed)) {
        rh_stretches__destroy(r);
        return rh_base__no_memory(err, "replay");
    }
    rh_status rc = index_states(r, err);
    if (rc) {
        rh_stretches__destroy(r);
        return rc;
    }
    int nunit = count_units(r);
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

int rh_stretches__nunit(const rh_stretches *replay)
{
    return count_units(replay);
}

int rh_stretches__nfold(const rh_stretches *replay)
{
    return replay->nrun;
}

// ---------------------------------------------------------------------------- replaying

// One model being replayed.
typedef struct playing {
    const rh_stretches *r;
    const rh_model *model;
    const rh_env *env;
    void *state;  // owned
    float *place; // owned: of the replays of a stretch       (NREPLAY x nhorizon x d)
    outcome o[NREPLAY];
    double *score; // owned                                   (nstretch x NPART x nhorizon)
    int32_t *use;  // owned: transitions to fit               (n)
    double *param; // owned: of the environment               (nparam)
    int64_t nuse;
} playing;

// The action of one of the nearest logged states.
static const double *imitate(const rh_stretches *r, const double *obs, rh_rng *rng)
{
    float x[NCOORD], distance2[NEAR];
    int32_t near[NEAR];
    scale_to(r, obs, x);
    int n = r->from ? rh_neighbours__find(r->from, x, NEAR, -1, near, distance2) : 0;
    int64_t t = n ? near[rh_rng_below(rng, (uint32_t)n)] : 0;
    return r->log->act + t * r->log->nact;
}

// Whether obs is off the logged path, which is at `row`.
static bool is_off(const rh_stretches *r, const double *obs, int32_t row)
{
    float x[NCOORD], y[NCOORD];
    if (row == RH_UNKNOWN)
        return false;
    scale_to(r, obs, x);
    scale_to(r, r->log->obs + (int64_t)row * r->log->nobs, y);
    rh_stretches__point here = {x, false}, there = {y, false};
    return rh_stretches__distance(here, there, r->d) > r->left;
}

// Replay stretch i once: number k.
static void replay_once(playing *p, int i, int k, uint64_t seed)
{
    const rh_stretches *r = p->r;
    const stretch *s = &r->stretch[i];
    const rh_log *log = r->log;
    uint64_t run = (uint64_t)i * NREPLAY + (uint64_t)k;
    rh_streams streams = {rh_rng_stream(seed, RH_STREAM_START, REPLICATE, run),
                          rh_rng_stream(seed, RH_STREAM_NOISE, REPLICATE, run)};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_AGENT, REPLICATE, run);
    double obs[RH_MAX_OBS], reward, sum = 0.0;
    outcome *o = &p->o[k];
    bool over = false, off = false;
    int step = 0;
    rh_env_start(p->env, p->state, &streams, obs);
    p->model->type->calls->stand(p->model, p->env, p->state, log->from[s->first]);
    memset(o, 0, sizeof *o);
    for (int h = 0; h < r->nhorizon; h++) {
        float *place = p->place + ((size_t)k * (size_t)r->nhorizon + (size_t)h) * (size_t)r->d;
        for (; step < r->horizon[h] && (step < s->length || s->ends) && !over; step++) {
            int64_t t = s->first + step;
            off = off || step >= s->length;
            const double *act = off ? imitate(r, obs, &rng) : log->act + t * log->nact;
            over = rh_env_step(p->env, p->state, act, &streams, obs, &reward);
            sum += isfinite(reward) ? reward : -HUGE_VALUE;
            off = off || is_off(r, obs, row_after(r, t));
        }
        o->reward[h] = sum;
        o->ended[h] = over;
        if (over)
            memset(place, 0, (size_t)r->d * sizeof *place);
        else
            scale_to(r, obs, place);
    }
}

static void judge(playing *p, int i)
{
    const rh_stretches *r = p->r;
    const outcome *real = &r->real[i];
    for (int h = 0; h < r->nhorizon; h++) {
        double reward[NREPLAY], ended[NREPLAY];
        rh_stretches__point point[NREPLAY], y = {place_of(r, r->place, i, h), real->ended[h]};
        for (int k = 0; k < NREPLAY; k++) {
            reward[k] = p->o[k].reward[h];
            ended[k] = p->o[k].ended[h];
            point[k] = (rh_stretches__point){place_of(r, p->place, k, h), p->o[k].ended[h]};
        }
        bool known = real->known[h];
        *score_at(r, p->score, i, RH_MODEL_STATE, h) =
            known ? rh_stretches__energy(point, NREPLAY, NAN, y, r->d) : NAN;
        *score_at(r, p->score, i, RH_MODEL_REWARD, h) =
            known ? rh_stretches__crps(reward, NREPLAY, NAN, real->reward[h]) : NAN;
        *score_at(r, p->score, i, RH_MODEL_END, h) =
            known && !r->continuing ? rh_stretches__crps(ended, NREPLAY, NAN, real->ended[h])
                                    : NAN;
    }
}

// The transitions that a fold's member is fitted to.
static void leave_out(playing *p, int fold)
{
    const rh_stretches *r = p->r;
    int64_t n = r->log->n;
    p->nuse = 0;
    for (int64_t t = 0; t < n; t++) {
        int64_t before = t - r->gap > 0 ? t - r->gap : 0;
        int64_t behind = t + r->gap < n ? t + r->gap : n - 1;
        bool held = r->unit[t] % r->nfold == fold || r->unit[before] % r->nfold == fold ||
                    r->unit[behind] % r->nfold == fold;
        if (!held)
            p->use[p->nuse++] = (int32_t)t;
    }
}

static rh_status play_fold(playing *p, int fold, uint64_t seed, int nthread,
                           const rh_watch *watch, void **kept, rh_error *err)
{
    const rh_stretches *r = p->r;
    const rh_model_calls *calls = p->model->type->calls;
    void *member = NULL;
    rh_env *env = NULL;
    leave_out(p, fold);
    rh_model__part part = {
        .use = p->use,
        .nuse = p->nuse,
        .rng = rh_rng_stream(seed, RH_STREAM_FIT, REPLICATE, CHANCE_FIT + (uint64_t)fold),
        .nthread = nthread,
    };
    if (watch)
        part.watch = (rh_watch){.stop = watch->stop, .context = watch->context};
    rh_status rc = calls->fit(&member, p->model, &part, err);
    if (!rc)
        rc = calls->env(&env, p->model, member, p->param, err);
    if (!rc) {
        p->state = rh_alloc(1, rh_env_state_size(env) + 1);
        rc = p->state ? RH_OK : rh_base__no_memory(err, "replay");
    }
    p->env = env;
    for (int i = 0; !rc && i < r->nstretch; i++) {
        if (r->stretch[i].fold != fold)
            continue;
        for (int k = 0; k < NREPLAY; k++)
            replay_once(p, i, k, seed);
        judge(p, i);
        if (watch && watch->stop && watch->stop(watch->context))
            rc = rh_fail(err, RH_ESTOPPED, "fit: stopped while replaying the log");
    }
    rh_free(p->state);
    p->state = NULL;
    rh_env_destroy(env);
    if (!rc && kept && fold == 0)
        *kept = member;
    else
        calls->destroy(member);
    return rc;
}

// Sum up: shares of the stretches, the score, its parts.
static void sum_up(const playing *p, rh_stretches__scores *s)
{
    const rh_stretches *r = p->r;
    double n = (double)r->nstretch;
    for (int part = 0; part < NPART; part++) {
        int nat = 0;
        double sum = 0.0;
        for (int h = 0; h < RH_MODEL_NHORIZON; h++)
            s->at[part][h] = NAN;
        for (int h = 0; h < r->nhorizon; h++) {
            double weight = r->weight[part * r->nhorizon + h], mine = 0.0, other = 0.0;
            for (int i = 0; weight > 0.0 && i < r->nstretch; i++) {
                double x = *score_at(r, p->score, i, part, h);
                if (isnan(x))
                    continue;
                s->share[i] += weight * x;
                mine += x;
                other += *score_at(r, r->ignorant, i, part, h);
            }
            if (!(weight > 0.0))
                continue;
            s->at[part][h] = mine / other;
            sum += mine / other;
            nat++;
        }
        s->part[part] = nat ? sum / nat : NAN;
    }
    s->score = 0.0;
    for (int i = 0; i < r->nstretch; i++)
        s->score += s->share[i] / n;
}

rh_status rh_stretches__run(rh_stretches__scores *scores, const rh_stretches *r,
                            const rh_model *model, uint64_t seed, int nthread,
                            const rh_watch *watch, void **first, rh_error *err)
{
    const rh_model_type *type = model->type;
    playing p = {.r = r, .model = model};
    size_t nscore = (size_t)NPART * (size_t)r->nhorizon;
    rh_status rc = RH_OK;
    p.place = rh_alloc((size_t)NREPLAY * (size_t)r->nhorizon * (size_t)r->d + 1, sizeof(float));
    p.score = rh_alloc((size_t)r->nstretch * nscore, sizeof *p.score);
    p.use = rh_alloc((size_t)r->log->n, sizeof *p.use);
    p.param = rh_alloc((size_t)type->nparam + 1, sizeof *p.param);
    scores->share = rh_alloc((size_t)r->nstretch, sizeof *scores->share);
    if (!p.place || !p.score || !p.use || !p.param || !scores->share)
        rc = rh_base__no_memory(err, "replay");
    if (!rc) {
        memcpy(p.param, model->param, (size_t)type->nparam * sizeof *p.param);
        int reach = rh_param_find(type->param, type->nparam, "reach");
        if (reach >= 0)
            rc = rh_param_parse(&type->param[reach], type->name, "none", &p.param[reach], err);
    }
    for (int fold = 0; !rc && fold < r->nrun; fold++)
        rc = play_fold(&p, fold, seed, nthread, watch, first, err);
    if (!rc)
        sum_up(&p, scores);
    rh_free(p.place);
    rh_free(p.score);
    rh_free(p.use);
    rh_free(p.param);
    return rc;
}

void rh_stretches__clear(rh_stretches__scores *scores)
{
    rh_free(scores->share);
    scores->share = NULL;
}

void rh_stretches__compare(const rh_stretches *r, const rh_stretches__scores *a,
                           const rh_stretches__scores *b, double *mean, double *error)
{
    double n = (double)r->nstretch, sum = 0.0, square = 0.0;
    int nunit = count_units(r);
    for (int i = 0; i < r->nstretch; i++)
        sum += a->share[i] - (b ? b->share[i] : 0.0);
    *mean = sum / n;
    for (int i = 0; i < r->nstretch;) {
        double own = 0.0;
        int unit = r->stretch[i].unit;
        for (; i < r->nstretch && r->stretch[i].unit == unit; i++)
            own += a->share[i] - (b ? b->share[i] : 0.0) - *mean;
        square += own * own;
    }
    *error = sqrt(square * nunit / (nunit - 1.0)) / n;
}
