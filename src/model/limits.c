// limits.c - finds the limits of sensors beyond which steps end.
//
// Plants trip where a sensor passes a limit. The terminal arrivals show where: a limit is a
// value of a sensor beyond which (next to) every arrival is terminal. The limits of a log are
// the smallest set that explains the terminal arrivals, found by greedy cover: the limit that
// explains most arrivals that no other explains comes first.
//
// 1. One terminal arrival can be the most extreme in some sensor by accident; a limit from it
//    would make a model end where the plant does not. A limit explains at least three arrivals,
//    or two that are half of all, or the sensor has a limit on its other side: plants have
//    limits in pairs, and a policy may fall to one side 118 of 121 times.
// 2. A limit is sharp. Its inner side, as wide as to hold as many arrivals that are not
//    terminal as the limit explains, holds few unexplained terminal ones. Where steps end by a
//    condition on several sensors together (the goal of Puddle World, the height of Acrobot's
//    tip), the share of ends rises gradually, and no limit is claimed.
// 3. One arrival that is not terminal among twenty terminal ones may lie beyond a limit: where
//    a reset would have led is estimated, and sensors are noisy.
// 4. The value is halfway between the last arrival that is not terminal and the first terminal
//    one. If equally many are explained, the limit with the wider gap, in standard deviations,
//    comes first.
// 5. A limit given by hand replaces all that were found for its sensor. A sensor that wraps has
//    no least and no most, so no limits.

#include "facts.h"

#include "base/base_internal.h"
#include "base/scratch.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH 3 // arrivals that a limit explains,
#define FEW 2    // or this many,
#define HALF 0.5 //   if they are this share of all
// arrivals that are not terminal beyond a limit, per terminal one: decision 3; by hand: half
// and twice as much find the same four limits of Cartpole
#define STRAY 0.05
#define MOST_TOP 16384 // greatest values that are compared
// unexplained arrivals at its inner side, per arrival that it explains: decision 2; by hand:
// half and twice as much find the same four limits of Cartpole, and none in Acrobot
#define UNSHARP 0.2

typedef struct search {
    const rh_facts__steps *steps; // borrowed
    const rh_facts__ends *ends;   // borrowed
    rh_facts *facts;
    uint8_t *done; // explained                           (ends->n)
    double *top;   // of arrivals that are not terminal: the greatest values of each sensor and
                   // of its negative, ascending                    (2 nobs x most)
    int64_t most;  //
    int64_t ntop;  // how many there are
    double *outside; // values of unexplained terminal ones, ascending       (ends->n)
    rh_limit *limit; //                                      (2 nobs)
    int nlimit;
    rh_scratch scratch; // owns the arrays
} search;

// A limit that could be added.
typedef struct offer {
    double value;
    int64_t n; // terminal arrivals that it explains; 0: none
    double gap;
} offer;

static bool beyond(const rh_limit *l, double x)
{
    return l->above ? x > l->value : x < l->value;
}

// ---------------------------------------------------------------------------- values

// Put x into a heap of the `most` greatest values, the least of them first.
static void push(double *heap, int64_t *n, int64_t most, double x)
{
    int64_t at = 0;
    if (*n < most) {
        for (at = (*n)++; at > 0 && heap[(at - 1) / 2] > x; at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
    } else if (x > heap[0]) {
        for (int64_t child; (child = 2 * at + 1) < *n; at = child) {
            child += child + 1 < *n && heap[child + 1] < heap[child];
            if (heap[child] >= x)
                break;
            heap[at] = heap[child];
        }
    } else {
        return;
    }
    heap[at] = x;
}

// Whether s of step j is not s' of the step before.
static bool begins(const rh_facts__steps *steps, int64_t j)
{
    const rh_log *log = steps->log;
    return j == 0 || log->to[steps->at[j - 1]] != log->from[steps->at[j]];
}

// Gather the greatest values of every sensor and its negative, once for all limits.
static void gather_top(search *s)
{
    for (int k = 0; k < s->facts->nobs; k++)
        for (int above = 0; above < 2; above++) {
            double *heap = s->top + (2 * k + above) * s->most, sign = above ? 1.0 : -1.0;
            s->ntop = 0;
            for (int64_t j = 0; j < s->steps->n; j++) {
                if (begins(s->steps, j))
                    push(heap, &s->ntop, s->most, sign * rh_facts__from(s->steps, j)[k]);
                push(heap, &s->ntop, s->most, sign * rh_facts__to(s->steps, j)[k]);
            }
            rh_stats__sort(heap, s->ntop);
        }
}

// The values of sensor k, times sign, of unexplained terminal arrivals. Returns how many.
static int64_t gather(search *s, int k, double sign)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->ends->n; i++)
        if (!s->done[i])
            s->outside[n++] = sign * s->ends->arrival[i][k];
    rh_stats__sort(s->outside, n);
    return n;
}

// ---------------------------------------------------------------------------- one limit

// Whether few of the terminal values lie at the inner side of a limit that explains the last
// `explained` of them (n) and has `stray` others past it.
static bool is_sharp(const search *s, const double *top, int64_t n, int64_t explained,
                     int64_t stray)
{
    int64_t at = s->ntop - stray - explained, inner = 0;
    double from = top[at > 0 ? at : 0];
    for (int64_t i = n - explained - 1; i >= 0 && s->outside[i] >= from; i--)
        inner++;
    return (double)inner <= UNSHARP * (double)explained;
}

// The upper limit that explains most of the n values outside.
static offer best_upper(const search *s, const double *top, int64_t n, double sd)
{
    int64_t m = s->ntop, stray = 0;
    offer best = {0};
    for (int64_t c = 1; c <= n && (double)stray <= STRAY * (double)n; c++) {
        double first = s->outside[n - c];
        if (c < n && s->outside[n - c - 1] == first)
            continue; // a limit cannot separate equal values
        while (stray < m && top[m - 1 - stray] >= first)
            stray++;
        if (stray == m || (double)stray > STRAY * (double)c || !is_sharp(s, top, n, c, stray))
            continue;
        double last = top[m - 1 - stray], value = last + (first - last) / 2.0;
        best =
            (offer){.value = value < first ? value : last, .n = c, .gap = (first - last) / sd};
    }
    return best;
}

static bool has_limit(const search *s, int k, bool above)
{
    for (int i = 0; i < s->nlimit; i++)
        if (s->limit[i].sensor == k && s->limit[i].above == above)
            return true;
    return false;
}

static bool has_given(const search *s, int k)
{
    for (int i = 0; i < s->nlimit; i++)
        if (s->limit[i].sensor == k && s->limit[i].given)
            return true;
    return false;
}

// Add a limit: count what it explains.
static void add(search *s, rh_limit limit)
{
    double sum = 0.0;
    for (int64_t i = 0; i < s->ends->n; i++) {
        if (s->done[i] || !beyond(&limit, s->ends->arrival[i][limit.sensor]))
            continue;
        s->done[i] = 1;
        limit.nterminal++;
        sum += s->ends->reward[i];
    }
    limit.reward = limit.nterminal ? sum / (double)limit.nterminal : (double)NAN;
    s->limit[s->nlimit++] = limit;
}

// Add the limit that explains most. False: there is none.
static bool add_best(search *s)
{
    offer best = {0};
    rh_limit limit = {0};
    for (int k = 0; k < s->facts->nobs; k++) {
        const rh_sensor *sensor = &s->facts->sensor[k];
        if (sensor->constant || !isnan(sensor->period) || has_given(s, k))
            continue;
        for (int above = 0; above < 2; above++) {
            if (has_limit(s, k, above))
                continue;
            double sign = above ? 1.0 : -1.0;
            int64_t n = gather(s, k, sign);
            offer o = best_upper(s, s->top + (2 * k + above) * s->most, n, s->steps->sd[k]);
            bool enough = o.n >= ENOUGH ||
                          (o.n >= FEW && (double)o.n >= HALF * (double)s->ends->n) ||
                          has_limit(s, k, !above);
            if (o.n == 0 || !enough || o.n < best.n || (o.n == best.n && o.gap <= best.gap))
                continue;
            best = o;
            limit = (rh_limit){.sensor = k, .above = above, .value = sign * o.value};
        }
    }
    if (best.n == 0)
        return false;
    add(s, limit);
    return true;
}

static void add_given(search *s, const double *lo, const double *hi)
{
    for (int k = 0; lo && hi && k < s->facts->nobs; k++) {
        if (!isnan(lo[k]))
            add(s, (rh_limit){.sensor = k, .value = lo[k], .given = true});
        if (!isnan(hi[k]))
            add(s, (rh_limit){.sensor = k, .above = true, .value = hi[k], .given = true});
    }
}

static int by_sensor(const void *a, const void *b)
{
    const rh_limit *x = a, *y = b;
    return x->sensor != y->sensor ? (x->sensor > y->sensor) - (x->sensor < y->sensor)
                                  : x->above - y->above;
}

static rh_status keep(search *s, rh_error *err)
{
    rh_facts *facts = s->facts;
    rh_limit *limit = rh_alloc((size_t)s->nlimit + 1, sizeof *limit);
    if (!limit)
        return rh_base__no_memory(err, "model");
    for (int i = 0; i < s->nlimit; i++) {
        const rh_sensor *sensor = &facts->sensor[s->limit[i].sensor];
        double wall = s->limit[i].above ? sensor->wall_lo : sensor->wall_hi;
        limit[i] = s->limit[i];
        limit[i].lone = isnan(wall) && !has_limit(s, limit[i].sensor, !limit[i].above);
    }
    qsort(limit, (size_t)s->nlimit, sizeof *limit, by_sensor);
    rh_free(facts->limit);
    facts->limit = limit;
    facts->nlimit = s->nlimit;
    facts->nterminal = s->ends->n;
    facts->nunexplained = 0;
    for (int64_t i = 0; i < s->ends->n; i++)
        facts->nunexplained += !s->done[i];
    return RH_OK;
}

rh_status rh_facts__find_limits(rh_facts *facts, const rh_facts__steps *steps,
                                const rh_facts__ends *ends, const double *lo, const double *hi,
                                rh_error *err)
{
    search s = {.steps = steps, .ends = ends, .facts = facts};
    size_t nend = (size_t)ends->n + 1;
    rh_status rc = RH_OK;
    s.done = rh_scratch__take(&s.scratch, nend, sizeof *s.done);
    s.outside = rh_scratch__take(&s.scratch, nend, sizeof *s.outside);
    s.most = 2 * ends->n + 2 < MOST_TOP ? 2 * ends->n + 2 : MOST_TOP;
    s.top =
        rh_scratch__take(&s.scratch, 2 * (size_t)facts->nobs, (size_t)s.most * sizeof *s.top);
    s.limit = rh_scratch__take(&s.scratch, 2 * (size_t)facts->nobs, sizeof *s.limit);
    if (s.scratch.failed) {
        rc = rh_base__no_memory(err, "model");
        goto done;
    }
    add_given(&s, lo, hi);
    if (ends->n && steps->n)
        gather_top(&s);
    while (s.ntop && s.nlimit < 2 * facts->nobs && add_best(&s))
        ;
    rc = keep(&s, err);

done:
    rh_scratch__clear(&s.scratch);
    return rc;
}
