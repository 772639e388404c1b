// tiled.c - which sensors tile coders use: those that predict the reward, what the logged
// controller does, and what these depend on.
//
// Tilings of many sensors, and of all their pairs, cost time and memory, and what says nothing
// about the task only makes learning slower. Sensors are chosen one after the other. Each
// predicts what the others left of these targets by its mean in BINS intervals of the range:
//
//     the logged action: a controller uses what it needs
//     the reward of the step
//     rewards discounted by FORESIGHT from it on, to the end of the episode
//     the change of each sensor that was chosen before
//
// 1. The log has two halves (BLOCKS blocks in turn). Means of either, shrunk by HOLD steps
//    towards 0, are judged by the other, so noise gains nothing.
// 2. A constant sensor never counts, nor one that differs from another by no more than SAME of
//    its range, in whatever unit or sign.
// 3. With FEW sensors or less that count, all of them are used, and all their pairs: at most
//    RH_TILED_PAIRS. Of more, as many as gain LEAST_GAIN of the variance. Of those that actions
//    move, FEW are used in any case: where a controller holds them well they predict little.
//    Then the pairs that gain most in addition, those of the first sensors where none does.
// 4. The log of the models decides, since the study has no other; at most ROWS of its steps,
//    evenly.
// 5. A truncated episode counts as if its last reward came for ever.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/scratch.h"
#include "model_internal.h"

#include <math.h>
#include <string.h>

#define BINS 8             // as many as tiles by default
#define ROWS 3000          // decision 4; by hand
#define BLOCKS 20          // decision 1; by hand
#define HOLD 5.0           // decision 1; by hand
#define SAME (1.0 / 256.0) // half a displacement of 16 tilings of 8 tiles
#define FEW 6              // their pairs are RH_TILED_PAIRS
#define LEAST_GAIN 0.0005  // of the variance of all targets; by hand
#define FORESIGHT 0.95     // 20 steps; by hand
#define BY_CHANGE 0.25     // weight of the change of a sensor; the reward has 1; by hand
#define MOST_ACTIONS 8     // targets: numbers of an action, or discrete actions
#define MOST_TARGETS (2 + MOST_ACTIONS + RH_TILED_SENSORS)

typedef struct choice {
    const rh_log *log;
    const rh_task *task;
    const rh_facts *facts;
    rh_scratch scratch; // owns the arrays
    int64_t n;          // rows
    int64_t *step;      // of the log                                     (n)
    uint8_t *bin;       // of each sensor                                 (nobs x n)
    uint8_t *half;      // that the step is in                            (n)
    int ntarget;
    double *left[2]; // of the targets, after means of each half        (MOST_TARGETS x n)
    double *ret;     // discounted rewards from each step of the log on (log->n)
    double weight[MOST_TARGETS];
    double *sum;   // of a group: of the targets, in each half (2 x bins x MOST_TARGETS)
    double *count; //                                          (2 x bins)
    int sensor[RH_TILED_SENSORS], nsensor; // chosen, the best first
} choice;

// ---------------------------------------------------------------------------- what counts

static double value_at(const rh_log *log, int64_t i, int k)
{
    return log->obs[(int64_t)log->from[i] * log->nobs + k];
}

static void range_of(const rh_log *log, int k, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int64_t i = 0; i < log->n; i++) {
        *lo = fmin(*lo, value_at(log, i, k));
        *hi = fmax(*hi, value_at(log, i, k));
    }
}

// Whether two sensors say the same, each as a share of its range, or of its range from above.
static bool are_same(const rh_log *log, const double *lo, const double *hi, int a, int b)
{
    bool same = true, turned = true;
    for (int64_t i = 0; i < log->n && (same || turned); i++) {
        double x = (value_at(log, i, a) - lo[a]) / (hi[a] - lo[a]);
        double y = (value_at(log, i, b) - lo[b]) / (hi[b] - lo[b]);
        same = same && fabs(x - y) <= SAME;
        turned = turned && fabs(x + y - 1.0) <= SAME;
    }
    return same || turned;
}

// The sensors that count, in order: which (nobs). Returns their number, or -1 without memory.
static int find_distinct(const rh_log *log, int *which)
{
    int n = 0, nobs = log->nobs;
    double *lo = rh_alloc(2 * (size_t)nobs, sizeof *lo), *hi = lo ? lo + nobs : NULL;
    if (!lo)
        return -1;
    for (int k = 0; k < nobs; k++) {
        bool counts;
        range_of(log, k, &lo[k], &hi[k]);
        counts = lo[k] < hi[k];
        for (int j = 0; j < n && counts; j++)
            counts = !are_same(log, lo, hi, which[j], k);
        if (counts)
            which[n++] = k;
    }
    rh_free(lo);
    return n;
}

// ---------------------------------------------------------------------------- rows

// Decision 5.
static void find_returns(choice *c)
{
    rh_model__piece piece = {0};
    while (rh_model__next_piece(c->log, &piece)) {
        double after = piece.ends ? 0.0 : c->log->reward[piece.end - 1] / (1.0 - FORESIGHT);
        for (int64_t i = piece.end - 1; i >= piece.first; i--)
            c->ret[i] = after = c->log->reward[i] + FORESIGHT * after;
    }
}

static int interval(double x, double lo, double hi, int n)
{
    int k = (int)(fmin(fmax((x - lo) / (hi - lo), 0.0), 1.0) * n);
    return k < n ? k : n - 1;
}

static bool set_up(choice *c)
{
    const rh_log *log = c->log;
    size_t nobs = (size_t)log->nobs;
    int64_t every = (log->n + ROWS - 1) / ROWS;
    c->n = (log->n + every - 1) / every;
    size_t n = (size_t)c->n;
    size_t nbin = 2 * BINS * BINS;
    c->step = rh_scratch__take(&c->scratch, n, sizeof *c->step);
    c->bin = rh_scratch__take(&c->scratch, nobs * n, sizeof *c->bin);
    c->half = rh_scratch__take(&c->scratch, n, sizeof *c->half);
    for (int half = 0; half < 2; half++)
        c->left[half] = rh_scratch__take(&c->scratch, MOST_TARGETS * n, sizeof(double));
    c->ret = rh_scratch__take(&c->scratch, (size_t)log->n, sizeof *c->ret);
    c->sum = rh_scratch__take(&c->scratch, nbin * MOST_TARGETS, sizeof *c->sum);
    c->count = rh_scratch__take(&c->scratch, nbin, sizeof *c->count);
    if (c->scratch.failed)
        return false;
    find_returns(c);
    for (int64_t i = 0; i < c->n; i++) {
        c->step[i] = i * every;
        c->half[i] = (uint8_t)(i * BLOCKS / c->n % 2);
        for (int k = 0; k < log->nobs; k++)
            c->bin[k * c->n + i] = (uint8_t)interval(
                value_at(log, c->step[i], k), c->task->obs_lo[k], c->task->obs_hi[k], BINS);
    }
    return true;
}

// ---------------------------------------------------------------------------- groups

// A group of one sensor, or of two: b < 0 for one.
typedef struct group {
    int a, b;
} group;

static size_t place(const choice *c, group g, int64_t i)
{
    size_t bin = c->bin[g.a * c->n + i];
    return g.b < 0 ? bin : bin * BINS + c->bin[g.b * c->n + i];
}

// Add up what means of `half` left of the targets from `first` on, in the bins of a group.
// Returns the bins of a half.
static size_t add_up(const choice *c, group g, int half, int first)
{
    size_t nbin = g.b >= 0 ? BINS * BINS : BINS;
    memset(c->sum, 0, 2 * nbin * MOST_TARGETS * sizeof *c->sum);
    memset(c->count, 0, 2 * nbin * sizeof *c->count);
    for (int64_t i = 0; i < c->n; i++) {
        size_t at = c->half[i] * nbin + place(c, g, i);
        c->count[at] += 1.0;
        for (int t = first; t < c->ntarget; t++)
            c->sum[at * MOST_TARGETS + (size_t)t] += c->left[half][t * c->n + i];
    }
    return nbin;
}

static double mean_of(const choice *c, size_t bin, int t)
{
    return c->sum[bin * MOST_TARGETS + (size_t)t] / (c->count[bin] + HOLD);
}

// How much less is left of all targets after this group, as a share of their variance.
static double gain_of(const choice *c, group g)
{
    double gain = 0.0, all = 0.0;
    for (int half = 0; half < 2; half++) {
        size_t nbin = add_up(c, g, half, 0), own = half ? nbin : 0, other = half ? 0 : nbin;
        for (int t = 0; t < c->ntarget; t++)
            for (size_t k = 0; k < nbin; k++) {
                double p = mean_of(c, own + k, t);
                double sum = c->sum[(other + k) * MOST_TARGETS + (size_t)t];
                gain += c->weight[t] * p * (2.0 * sum - c->count[other + k] * p);
            }
    }
    for (int t = 0; t < c->ntarget; t++)
        all += c->weight[t];
    return gain / (all * (double)c->n);
}

// Take off the targets from `first` on what a group predicts.
static void take_off(choice *c, group g, int first)
{
    for (int half = 0; half < 2; half++) {
        size_t nbin = add_up(c, g, half, first);
        for (int64_t i = 0; i < c->n; i++)
            for (int t = first; t < c->ntarget; t++)
                c->left[half][t * c->n + i] -=
                    mean_of(c, (half ? nbin : 0) + place(c, g, i), t);
    }
}

// ---------------------------------------------------------------------------- targets

// A target whose numbers are in left[0]: mean 0 and variance 1, or none if it does not vary.
static void add_target(choice *c, double weight)
{
    double *y = c->left[0] + c->ntarget * c->n, mean = 0.0, square = 0.0;
    for (int64_t i = 0; i < c->n; i++)
        mean += y[i];
    mean /= (double)c->n;
    for (int64_t i = 0; i < c->n; i++)
        square += (y[i] - mean) * (y[i] - mean);
    double sd = sqrt(square / (double)c->n);
    if (!(sd > 1e-12 * (1.0 + fabs(mean))) || !isfinite(sd))
        return;
    for (int64_t i = 0; i < c->n; i++)
        y[i] = (y[i] - mean) / sd;
    memcpy(c->left[1] + c->ntarget * c->n, y, (size_t)c->n * sizeof *y);
    c->weight[c->ntarget++] = weight;
}

static void add_change(choice *c, int k)
{
    const rh_log *log = c->log;
    double *y = c->left[0] + c->ntarget * c->n;
    if (c->ntarget == MOST_TARGETS)
        return;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t at = c->step[i];
        y[i] = rh_model__has_next(log, at)
                   ? log->obs[(int64_t)log->to[at] * log->nobs + k] - value_at(log, at, k)
                   : 0.0;
    }
    int first = c->ntarget;
    add_target(c, BY_CHANGE);
    for (int s = 0; s < c->nsensor && first < c->ntarget; s++)
        take_off(c, (group){c->sensor[s], -1}, first);
}

static void add_rewards(choice *c)
{
    for (int64_t i = 0; i < c->n; i++)
        c->left[0][c->ntarget * c->n + i] = c->log->reward[c->step[i]];
    add_target(c, 1.0);
    for (int64_t i = 0; i < c->n; i++)
        c->left[0][c->ntarget * c->n + i] = c->ret[c->step[i]];
    add_target(c, 1.0);
}

// The numbers of the logged action, or whether it was each of the first discrete ones.
static void add_actions(choice *c)
{
    const rh_log *log = c->log;
    int n = log->naction ? log->naction : log->nact;
    n = n < MOST_ACTIONS ? n : MOST_ACTIONS;
    for (int k = 0; k < n; k++) {
        for (int64_t i = 0; i < c->n; i++) {
            const double *act = log->act + c->step[i] * log->nact;
            c->left[0][c->ntarget * c->n + i] = log->naction ? act[0] == k : act[k];
        }
        add_target(c, 1.0 / n);
    }
}

// ---------------------------------------------------------------------------- choosing

// Whether actions move a sensor, which is not noise.
static bool is_moved(const choice *c, int k)
{
    return !c->facts || !(c->facts->sensor[k].noise || c->facts->sensor[k].exogenous);
}

// The best of which (n) from c->nsensor on; only those that actions move, if `moved`. -1: none.
static int find_best(const choice *c, const int *which, int n, bool moved, double *gain)
{
    int best = -1;
    for (int k = c->nsensor; k < n; k++) {
        if (moved && !is_moved(c, which[k]))
            continue;
        double own = c->ntarget ? gain_of(c, (group){which[k], -1}) : 0.0;
        if (best < 0 || own > *gain) {
            best = k;
            *gain = own;
        }
    }
    return best;
}

// Choose of the sensors that count; which (n) is reordered.
static void choose_sensors(choice *c, int *which, int n)
{
    int nmoved = 0;
    add_actions(c);
    add_rewards(c);
    while (c->nsensor < RH_TILED_SENSORS) {
        double gain = 0.0;
        int best = find_best(c, which, n, false, &gain);
        if (best >= 0 && gain < LEAST_GAIN)
            best = nmoved < FEW ? find_best(c, which, n, true, &gain) : -1;
        if (best < 0)
            break;
        int chosen = which[best];
        which[best] = which[c->nsensor];
        which[c->nsensor] = chosen;
        c->sensor[c->nsensor++] = chosen;
        nmoved += is_moved(c, chosen);
        if (c->ntarget)
            take_off(c, (group){chosen, -1}, 0);
        add_change(c, chosen);
    }
}

static group in_order(int a, int b)
{
    return a < b ? (group){a, b} : (group){b, a};
}

static void choose_pairs(choice *c, rh_tiled *tiled)
{
    bool used[RH_TILED_SENSORS][RH_TILED_SENSORS] = {{false}};
    int n = c->nsensor, all = n * (n - 1) / 2;
    while (tiled->npair < RH_TILED_PAIRS && tiled->npair < all) {
        double most = 0.0;
        int at[2] = {-1, -1};
        for (int b = 1; b < n; b++)
            for (int a = 0; a < b; a++) {
                if (used[a][b])
                    continue;
                double gain = all > RH_TILED_PAIRS && c->ntarget
                                  ? gain_of(c, in_order(c->sensor[a], c->sensor[b]))
                                  : 0.0;
                if (at[0] >= 0 && gain <= most)
                    continue;
                at[0] = a;
                at[1] = b;
                most = fmax(gain, 0.0); // without gain: those of the first sensors
            }
        group g = in_order(c->sensor[at[0]], c->sensor[at[1]]);
        used[at[0]][at[1]] = true;
        tiled->pair[tiled->npair][0] = (int16_t)g.a;
        tiled->pair[tiled->npair++][1] = (int16_t)g.b;
        if (most > 0.0)
            take_off(c, g, 0);
    }
}

// Put sensors and pairs into ascending order.
static void sort(rh_tiled *tiled)
{
    for (int i = 1; i < tiled->nsensor; i++)
        for (int j = i; j > 0 && tiled->sensor[j] < tiled->sensor[j - 1]; j--) {
            int16_t x = tiled->sensor[j];
            tiled->sensor[j] = tiled->sensor[j - 1];
            tiled->sensor[j - 1] = x;
        }
    for (int i = 1; i < tiled->npair; i++)
        for (int j = i; j > 0; j--) {
            int16_t *a = tiled->pair[j - 1], *b = tiled->pair[j], x[2] = {b[0], b[1]};
            if (a[0] < b[0] || (a[0] == b[0] && a[1] <= b[1]))
                break;
            memcpy(b, a, sizeof x);
            memcpy(a, x, sizeof x);
        }
}

rh_status rh_model__choose_tiled(rh_tiled *tiled, const rh_log *log, const rh_task *task,
                                 const rh_facts *facts, rh_error *err)
{
    int which[RH_MAX_OBS], n = find_distinct(log, which);
    choice c = {.log = log, .task = task, .facts = facts};
    *tiled = (rh_tiled){0};
    if (n < 0)
        return rh_base__no_memory(err, "model");
    if (n == 0 || (n == log->nobs && n <= FEW))
        return RH_OK;
    if (n > FEW && !set_up(&c)) {
        rh_scratch__clear(&c.scratch);
        return rh_base__no_memory(err, "model");
    }
    if (n > FEW)
        choose_sensors(&c, which, n);
    else
        for (int k = 0; k < n; k++)
            c.sensor[c.nsensor++] = which[k];
    for (int k = 0; k < c.nsensor; k++)
        tiled->sensor[tiled->nsensor++] = (int16_t)c.sensor[k];
    choose_pairs(&c, tiled);
    sort(tiled);
    rh_scratch__clear(&c.scratch);
    return RH_OK;
}
