// inspect_regime.c - tests whether the plant was changed in the middle of the log.
//
// The log is divided into 16 segments of equal length. For a query, a step q, and a split of
// the segments into an earlier and a later part:
//
//     a: a step near q in state and action, in another segment of q's own part
//     b: a step of the other part, no farther from q than a, and as far as possible
//     sign = +1 if the outcome of b differs more from q's than a's does, -1 if less, 0 if tied
//
// If nothing changed, a nearer step is at least as alike, so the mean sign is at most 0: this
// holds if the policy changed as well, because only similar steps are compared. If the plant
// was changed, a is more alike.
//
// 1. Outcomes are the changes of the sensors and the reward, minus their ridge regression on
//    state and action (by action if these are discrete): what remains varies less between
//    neighbours. In a pendulum 20 % heavier, t rose from 2.5 to 42.
// 2. Neighbours come from other segments than the query's. Noise that lasts for some steps, or
//    for an episode, makes neighbours in time alike, and would look like a change.
// 3. A step is used once per split, as q, a or b. Otherwise a region that one part hardly
// visits
//    decides all: its few steps, and their noise, would be the b of many queries.
// 4. Student's t over 64 blocks of consecutive queries, not over queries, because those depend
//    on each other. The best of 9 splits and of all outcomes counts, so the limit is that of
//    ALARM divided by their number (Bonferroni).
// 5. Measured: docs/inspect.md, "How reliable mixed-regimes is".

#include "base/base_internal.h"
#include "inspect_align.h"

#include <math.h>
#include <string.h>

#define SEGMENTS 16
#define FIRST 4 // splits: before segments 4 to 12, so that each part is a quarter of the log
#define LAST 12
#define BLOCKS 64
#define QUERIES 2000
#define PLACES 10000
#define EFFORT 4.0e8 // products of the search
#define FEWEST 400   // steps
#define SAME 1e-9    // outcomes as alike as this are tied, in standard deviations
#define ALARM 1e-3   // share of logs without a change that are reported

typedef struct regimes {
    const rh_log *log;
    rh_inspect__space space;
    int nx, ny;     // numbers of a place, and outcomes: all sensors that vary, and the reward
    int64_t n;      // steps
    int64_t *at;    // transitions, owned                             (n)
    float *x;       // state and continuous action, owned             (n x nx)
    double *y;      // outcomes, owned                                (n x ny)
    double *sums;   // for the regression, owned: features, sums, weights
    int64_t nquery; //
    int64_t *near;  // nearest step of each segment, or -1, owned     (nquery x SEGMENTS)
    float *far;     // its squared distance, owned                    (nquery x SEGMENTS)
    bool *used;     // by a comparison of the split, owned            (n)
    double *block;  // sums of signs, owned                           (BLOCKS x ny)
} regimes;

// ---------------------------------------------------------------------------- steps

static int segment_of(const regimes *r, int64_t i)
{
    return (int)(i * SEGMENTS / r->n);
}

// The i-th query as a step.
static int64_t step_of(const regimes *r, int64_t i)
{
    return rh_inspect__spread(i, r->nquery, r->n);
}

static void take_steps(regimes *r, const rh_log_report *report, int64_t nknown)
{
    const rh_log *log = r->log;
    const rh_log_numbers *reward = &report->reward;
    double x[RH_MAX_OBS], scale = reward->sd > 0.0 ? reward->sd : 1.0;
    int64_t seen = 0, i = 0;
    for (int64_t t = 0; t < log->n && i < r->n; t++) {
        if (log->to[t] == RH_UNKNOWN || seen++ != rh_inspect__spread(i, r->n, nknown))
            continue;
        double *y = r->y + i * r->ny;
        float *to = r->x + i * r->nx;
        r->at[i++] = t;
        rh_inspect__changes(&r->space, log, t, y);
        y[r->space.n] = (log->reward[t] - reward->median) / scale;
        for (int j = 0; j < r->ny; j++)
            y[j] = isfinite(y[j]) ? rh_inspect__clip(y[j], RH_INSPECT__CLIP) : 0.0;
        rh_inspect__place(&r->space, log, log->from[t], x);
        for (int j = 0; j < r->space.n; j++)
            to[j] = (float)x[j];
        for (int k = 0; k < log->nact && !log->naction; k++) {
            const rh_log_numbers *a = &report->amount[k];
            double off = a->sd > 0.0 ? (log->act[t * log->nact + k] - a->median) / a->sd : 0.0;
            to[r->space.n + k] =
                isfinite(off) ? (float)rh_inspect__clip(off, RH_INSPECT__CLIP) : 0.0F;
        }
    }
}

// The action of the i-th step; 0 if actions are continuous.
static int action_of(const regimes *r, int64_t i)
{
    return r->log->naction ? (int)r->log->act[r->at[i]] : 0;
}

// Subtract from the outcomes of an action what state and action explain; with few steps, the
// mean. sums: features (p), g (p x p), weights (ny x p).
static void explain(regimes *r, int action)
{
    int p = r->nx + 1, ny = r->ny;
    double *f = r->sums, *g = f + p, *w = g + (size_t)p * (size_t)p;
    int64_t n = 0;
    for (int64_t i = 0; i < r->n; i++)
        n += action_of(r, i) == action;
    p = n < 4 * (int64_t)p ? 1 : p;
    memset(g, 0, ((size_t)p * (size_t)p) * sizeof *g);
    memset(w, 0, ((size_t)p * (size_t)ny) * sizeof *w);
    f[0] = 1.0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < r->n; i++) {
            if (action_of(r, i) != action)
                continue;
            double *y = r->y + i * ny;
            for (int j = 1; j < p; j++)
                f[j] = (double)r->x[i * r->nx + j - 1];
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

// ---------------------------------------------------------------------------- neighbours

// The nearest step to query i in every segment but its own.
static void search_near(regimes *r, int64_t i)
{
    int64_t q = step_of(r, i), *near = r->near + i * SEGMENTS;
    float *far = r->far + i * SEGMENTS;
    const float *x = r->x + q * r->nx;
    int own = segment_of(r, q), action = action_of(r, q);
    for (int s = 0; s < SEGMENTS; s++) {
        near[s] = -1;
        far[s] = INFINITY;
    }
    for (int64_t j = 0; j < r->n; j++) {
        int s = segment_of(r, j);
        if (s == own || action_of(r, j) != action)
            continue;
        const float *place = r->x + j * r->nx;
        float sum = 0.0F;
        for (int k = 0; k < r->nx && sum < far[s]; k++)
            sum += (place[k] - x[k]) * (place[k] - x[k]);
        if (sum < far[s]) {
            far[s] = sum;
            near[s] = j;
        }
    }
}

// The pair a, b of query i, parts divided before segment `split`. False if there is none.
static bool choose_pair(const regimes *r, int64_t i, int split, int64_t *a, int64_t *b)
{
    const int64_t *near = r->near + i * SEGMENTS;
    const float *far = r->far + i * SEGMENTS;
    bool later = segment_of(r, step_of(r, i)) >= split;
    float nearest = INFINITY, least = INFINITY, most = -1.0F;
    for (int s = 0; s < SEGMENTS; s++)
        if ((s >= split) != later && near[s] >= 0 && !r->used[near[s]] && far[s] < nearest)
            nearest = far[s];
    *a = *b = -1;
    for (int s = 0; s < SEGMENTS; s++)
        if ((s >= split) == later && near[s] >= 0 && !r->used[near[s]] && far[s] >= nearest &&
            far[s] < least) {
            least = far[s];
            *a = near[s];
        }
    for (int s = 0; s < SEGMENTS && *a >= 0; s++)
        if ((s >= split) != later && near[s] >= 0 && !r->used[near[s]] && far[s] <= least &&
            far[s] > most) {
            most = far[s];
            *b = near[s];
        }
    return *a >= 0 && *b >= 0;
}

// ---------------------------------------------------------------------------- the test

static double sign_of(const regimes *r, int64_t q, int64_t a, int64_t b, int j)
{
    const double *y = r->y;
    double own = fabs(y[q * r->ny + j] - y[a * r->ny + j]);
    double other = fabs(y[q * r->ny + j] - y[b * r->ny + j]);
    return other - own > SAME ? 1.0 : own - other > SAME ? -1.0 : 0.0;
}

// Student's t of the mean sign of outcome j; `square`: its signs squared and summed.
static double student(const regimes *r, const double *count, int j, double square, double *mean)
{
    double sum = 0.0, n = 0.0, spread = 0.0;
    for (int b = 0; b < BLOCKS; b++) {
        sum += r->block[b * r->ny + j];
        n += count[b];
    }
    *mean = sum / n;
    for (int b = 0; b < BLOCKS; b++) {
        double off = r->block[b * r->ny + j] - *mean * count[b];
        spread += off * off;
    }
    spread = fmax(spread * BLOCKS / (BLOCKS - 1.0), square); // not below independent signs
    return spread > 0.0 ? sum / sqrt(spread) : 0.0;
}

static void test_split(regimes *r, int split, rh_log_regime *best)
{
    double count[BLOCKS] = {0.0}, square[RH_MAX_OBS + 1] = {0.0};
    int64_t n = 0, a, b;
    memset(r->block, 0, BLOCKS * (size_t)r->ny * sizeof *r->block);
    memset(r->used, 0, (size_t)r->n * sizeof *r->used);
    for (int64_t i = 0; i < r->nquery; i++) {
        int64_t q = step_of(r, i), block = i * BLOCKS / r->nquery;
        if (r->used[q] || !choose_pair(r, i, split, &a, &b))
            continue;
        r->used[q] = r->used[a] = r->used[b] = true;
        count[block] += 1.0;
        n++;
        for (int j = 0; j < r->ny; j++) {
            double sign = sign_of(r, q, a, b, j);
            r->block[block * r->ny + j] += sign;
            square[j] += sign * sign;
        }
    }
    for (int j = 0; j < r->ny && n >= FEWEST / 4; j++) {
        double mean, t = student(r, count, j, square[j], &mean);
        if (best->n > 0 && t <= best->t)
            continue;
        int64_t first = 0;
        while (segment_of(r, first) < split)
            first++;
        best->n = n;
        best->t = t;
        best->share = 0.5 + 0.5 * mean;
        best->sensor = j < r->space.n ? r->space.sensor[j] : r->log->nobs;
        best->at = r->at[first];
    }
}

static bool prepare(regimes *r, int64_t nknown)
{
    size_t p = (size_t)r->nx + 1;
    double effort = sqrt(EFFORT / ((double)QUERIES * PLACES * (double)r->nx));
    double share = effort < 1.0 ? effort : 1.0;
    int64_t most = (int64_t)(share * PLACES), queries = (int64_t)(share * QUERIES);
    r->n = nknown < most ? nknown : most;
    r->nquery = r->n < queries ? r->n : queries;
    r->at = rh_alloc((size_t)r->n, sizeof *r->at);
    r->x = rh_alloc((size_t)(r->n * r->nx), sizeof *r->x);
    r->y = rh_alloc((size_t)(r->n * r->ny), sizeof *r->y);
    r->sums = rh_alloc(p + p * p + p * (size_t)r->ny, sizeof *r->sums);
    r->near = rh_alloc((size_t)r->nquery * SEGMENTS, sizeof *r->near);
    r->far = rh_alloc((size_t)r->nquery * SEGMENTS, sizeof *r->far);
    r->block = rh_alloc(BLOCKS * (size_t)r->ny, sizeof *r->block);
    r->used = rh_alloc((size_t)r->n, sizeof *r->used);
    return r->at && r->x && r->y && r->sums && r->near && r->far && r->block && r->used;
}

bool rh_inspect__regime(rh_log_report *report, const rh_log *log)
{
    regimes r = {.log = log};
    rh_log_regime *best = &report->regime;
    int64_t nknown = 0;
    bool good = true;
    rh_inspect__space_init(&r.space, log, report);
    r.nx = r.space.n + (log->naction ? 0 : log->nact);
    r.ny = r.space.n + 1;
    for (int64_t t = 0; t < log->n; t++)
        nknown += log->to[t] != RH_UNKNOWN;
    if (nknown < FEWEST || r.space.n == 0)
        return true;
    good = prepare(&r, nknown);
    if (good) {
        take_steps(&r, report, nknown);
        for (int a = 0; a < (log->naction ? log->naction : 1); a++)
            explain(&r, a);
        for (int64_t i = 0; i < r.nquery; i++)
            search_near(&r, i);
        for (int split = FIRST; split <= LAST; split++)
            test_split(&r, split, best);
        double noutcome = r.space.n + (report->reward.sd > 0.0);
        best->t_least = rh_base__student_quantile(
            1.0 - ALARM / ((LAST - FIRST + 1.0) * noutcome), BLOCKS - 1.0);
    }
    void *const owned[] = {r.at, r.x, r.y, r.sums, r.near, r.far, r.block, r.used};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rh_free(owned[i]);
    return good;
}
