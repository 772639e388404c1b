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
// 1. Outcomes are what a ridge regression leaves over (inspect_local.h). In a pendulum 20 %
//    heavier, t rose from 2.5 to 42 by it.
// 2. Neighbours come from other segments than the query's. Noise that lasts for some steps, or
//    for an episode, makes neighbours in time alike, and would look like a change.
// 3. A step is used once per split, as q, a or b. Otherwise a region that one part hardly
//    visits decides all: its few steps, and their noise, would be the b of many queries.
// 4. Student's t over 64 blocks of consecutive queries, not over queries, because those depend
//    on each other. The best of 9 splits and of all outcomes counts, so the limit is that of
//    ALARM divided by their number (Bonferroni).
// 5. Measured: docs/inspect.md, "How reliable mixed-regimes is".

#include "base/base_internal.h"
#include "base/scratch.h"
#include "inspect_local.h"
#include "numeric/stats.h"

#include <math.h>
#include <string.h>

#define SEGMENTS RH_INSPECT__SEGMENTS
#define FIRST 4 // splits: before segments 4 to 12, so that each part is a quarter of the log
#define LAST 12
#define BLOCKS 64
#define SAME 1e-9  // outcomes as alike as this are tied, in standard deviations
#define ALARM 1e-3 // share of logs without a change that are reported

typedef struct regimes {
    rh_inspect__local l; // steps
    int64_t *near;       // nearest step of each segment, or -1 (nquery x SEGMENTS)
    float *far;          // its squared distance                (nquery x SEGMENTS)
    bool *used;          // by a comparison of the split        (n)
    double *block;       // sums of signs                       (BLOCKS x ny)
    rh_scratch scratch;  // owns the arrays
} regimes;

// ---------------------------------------------------------------------------- neighbours

// The nearest step to query i in every segment but its own.
static void search_near(regimes *r, int64_t i)
{
    int64_t q = rh_inspect__local_query(&r->l, i), *near = r->near + i * SEGMENTS;
    float *far = r->far + i * SEGMENTS;
    const float *x = r->l.x + q * r->l.nx;
    int own = rh_inspect__local_segment(&r->l, q), action = r->l.action[q];
    for (int s = 0; s < SEGMENTS; s++) {
        near[s] = -1;
        far[s] = INFINITY;
    }
    for (int s = 0; s < SEGMENTS; s++) {
        int64_t end = rh_inspect__local_begin(&r->l, s + 1);
        for (int64_t j = rh_inspect__local_begin(&r->l, s); j < end && s != own; j++) {
            if (r->l.action[j] != action)
                continue;
            const float *place = r->l.x + j * r->l.nx;
            float sum = 0.0F;
            for (int k = 0; k < r->l.nx && sum < far[s]; k++)
                sum += (place[k] - x[k]) * (place[k] - x[k]);
            if (sum < far[s]) {
                far[s] = sum;
                near[s] = j;
            }
        }
    }
}

// The pair a, b of query i, parts divided before segment `split`. False if there is none.
static bool choose_pair(const regimes *r, int64_t i, int split, int64_t *a, int64_t *b)
{
    const int64_t *near = r->near + i * SEGMENTS;
    const float *far = r->far + i * SEGMENTS;
    bool later = rh_inspect__local_segment(&r->l, rh_inspect__local_query(&r->l, i)) >= split;
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
    const double *y = r->l.y;
    double own = fabs(y[q * r->l.ny + j] - y[a * r->l.ny + j]);
    double other = fabs(y[q * r->l.ny + j] - y[b * r->l.ny + j]);
    return other - own > SAME ? 1.0 : own - other > SAME ? -1.0 : 0.0;
}

// Student's t of the mean sign of outcome j; `square`: its signs squared and summed.
static double student(const regimes *r, const double *count, int j, double square, double *mean)
{
    double sum = 0.0, n = 0.0, spread = 0.0;
    for (int b = 0; b < BLOCKS; b++) {
        sum += r->block[b * r->l.ny + j];
        n += count[b];
    }
    *mean = sum / n;
    for (int b = 0; b < BLOCKS; b++) {
        double off = r->block[b * r->l.ny + j] - *mean * count[b];
        spread += off * off;
    }
    spread = fmax(spread * BLOCKS / (BLOCKS - 1.0), square); // not below independent signs
    return spread > 0.0 ? sum / sqrt(spread) : 0.0;
}

static void test_split(regimes *r, int split, rh_log_regime *best)
{
    double count[BLOCKS] = {0.0}, square[RH_MAX_OBS + 1] = {0.0};
    int64_t n = 0, a, b;
    memset(r->block, 0, BLOCKS * (size_t)r->l.ny * sizeof *r->block);
    memset(r->used, 0, (size_t)r->l.n * sizeof *r->used);
    for (int64_t i = 0; i < r->l.nquery; i++) {
        int64_t q = rh_inspect__local_query(&r->l, i), block = i * BLOCKS / r->l.nquery;
        if (r->used[q] || !choose_pair(r, i, split, &a, &b))
            continue;
        r->used[q] = r->used[a] = r->used[b] = true;
        count[block] += 1.0;
        n++;
        for (int j = 0; j < r->l.ny; j++) {
            double sign = sign_of(r, q, a, b, j);
            r->block[block * r->l.ny + j] += sign;
            square[j] += sign * sign;
        }
    }
    for (int j = 0; j < r->l.ny && n >= RH_INSPECT__FEWEST / 4; j++) {
        double mean, t = student(r, count, j, square[j], &mean);
        if (best->n > 0 && t <= best->t)
            continue;
        int64_t first = 0;
        while (rh_inspect__local_segment(&r->l, first) < split)
            first++;
        best->n = n;
        best->t = t;
        best->share = 0.5 + 0.5 * mean;
        best->sensor = j < r->l.space.n ? r->l.space.sensor[j] : r->l.log->nobs;
        best->at = r->l.at[first];
    }
}

bool rh_inspect__regime(rh_log_report *report, const rh_log *log)
{
    regimes r = {.l = {.past = false}};
    rh_log_regime *best = &report->regime;
    bool good = rh_inspect__local_init(&r.l, log, report);
    if (good && r.l.n > 0) {
        r.near = rh_scratch__take(&r.scratch, (size_t)r.l.nquery * SEGMENTS, sizeof *r.near);
        r.far = rh_scratch__take(&r.scratch, (size_t)r.l.nquery * SEGMENTS, sizeof *r.far);
        r.block = rh_scratch__take(&r.scratch, BLOCKS * (size_t)r.l.ny, sizeof *r.block);
        r.used = rh_scratch__take(&r.scratch, (size_t)r.l.n, sizeof *r.used);
        good = !r.scratch.failed;
    }
    if (good && r.l.n > 0) {
        for (int64_t i = 0; i < r.l.nquery; i++)
            search_near(&r, i);
        for (int split = FIRST; split <= LAST; split++)
            test_split(&r, split, best);
        double noutcome = r.l.space.n + (report->reward.sd > 0.0);
        best->t_least = rh_stats__student_quantile(
            1.0 - ALARM / ((LAST - FIRST + 1.0) * noutcome), BLOCKS - 1.0);
    }
    rh_inspect__local_clear(&r.l);
    rh_scratch__clear(&r.scratch);
    return good;
}
