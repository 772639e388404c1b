// limits_rate.c - how often a limit is exceeded, and how sure that is.
//
// 1. A rate is a ratio of two sums over the runs in one kind of model. Steps and episodes of
//    one run are not independent: an agent that learned badly exceeds a limit again and again.
//    So its bounds are Student's over members, or over runs where members are few (Cochran,
//    Sampling Techniques, 1977, section 6.3), and at least Wilson's of all steps or episodes:
//    without an excess all members agree.
// 2. Bounds are one-sided, each with the plan's confidence. Of several kinds of model the one
//    with the greatest upper bound counts: nobody knows which kind is right.
// 3. How far a run is above a limit is relative to the limit, plus FLOOR: a limit of 0 has no
//    relative excess.
// 4. A log with fewer than SEEN events of a limit says little about how they come about. Small
//    studies of such logs (1 to 4 trips) broke limits on four plants that they kept in models.

#include "base/base_internal.h"
#include "limits.h"
#include "log/log.h"
#include "numeric/stats.h"

#include <math.h>
#include <string.h>

#define LEAST 5     // members, for decision 1; as in today.c
#define FLOOR 0.001 // decision 3: 1 in 1,000 steps; by hand
#define SEEN 10     // decision 4; by hand: docs/evidence/first-hour.md
#define LARGE 1e6   // degrees of freedom: Student's is then normal

typedef struct ratio {
    double n, of;           // sums
    double nn, both, ofof;  // of products, over clusters
    double part_n, part_of; // of the cluster so far
    int m;                  // clusters
} ratio;

static void end_cluster(ratio *r)
{
    r->n += r->part_n;
    r->of += r->part_of;
    r->nn += r->part_n * r->part_n;
    r->both += r->part_n * r->part_of;
    r->ofof += r->part_of * r->part_of;
    r->part_n = r->part_of = 0.0;
    r->m++;
}

static bool is_of_episodes(const rh_constraint *limit)
{
    return limit->unit == RH_PERCENT_OF_EPISODES;
}

// Wilson's bounds of k in n, each with confidence `sure`.
static void wilson(double k, double n, double sure, double *lower, double *upper)
{
    double z = rh_stats__student_quantile(sure, LARGE), p = k / n;
    double middle = (p + 0.5 * z * z / n) / (1.0 + z * z / n);
    double half = z / (1.0 + z * z / n) * sqrt(p * (1.0 - p) / n + 0.25 * z * z / (n * n));
    *lower = k > 0.0 ? fmax(middle - half, 0.0) : 0.0;
    *upper = k < n ? fmin(middle + half, 1.0) : 1.0;
}

// The bounds of a ratio whose clusters are complete.
static rh_kept bounds_of(const ratio *r, double sure)
{
    rh_kept kept = {.rate = NAN, .lower = NAN, .upper = NAN};
    if (r->of < 1.0)
        return kept;
    double rate = r->n / r->of, m = r->m;
    double square = fmax(r->nn - 2.0 * rate * r->both + rate * rate * r->ofof, 0.0);
    double half = r->m < 2 ? 1.0
                           : rh_stats__student_quantile(sure, m - 1.0) *
                                 sqrt(m / (m - 1.0) * square) / r->of;
    wilson(r->n, r->of, sure, &kept.lower, &kept.upper);
    kept.rate = rate;
    kept.lower = fmax(fmin(kept.lower, rate - half), 0.0);
    kept.upper = fmin(fmax(kept.upper, rate + half), 1.0);
    kept.n = (int64_t)r->n;
    kept.of = (int64_t)r->of;
    return kept;
}

rh_kept rh_limits__rate(const rh_limits *limits, int i, double sure, const rh_result *result,
                        int nmember, int nrun)
{
    bool episodes = is_of_episodes(&limits->limit[i]);
    int size = nmember >= LEAST ? nrun : 1;
    ratio r = {.n = 0.0};
    for (int k = 0; k < nmember * nrun; k++) {
        r.part_n += (double)result[k].over[i];
        r.part_of += (double)(episodes ? result[k].nepisode : result[k].nstep);
        if ((k + 1) % size == 0)
            end_cluster(&r);
    }
    return bounds_of(&r, sure);
}

// What a step of a log exceeds; missing sensors are NAN.
static bool exceeds(const rh_limits *limits, int i, const rh_log *log, int64_t k)
{
    rh_eval_options watch = {.nlimit = 0};
    double also[RH_MAX_ALSO];
    int64_t row = log->to[k] == RH_UNKNOWN ? log->from[k] : log->to[k];
    rh_done_step step = {log->act + k * log->nact, log->obs + row * log->nobs, log->reward[k]};
    rh_limits__watch(limits, &watch);
    return watch.measure(limits, &step, also) >> i & 1;
}

rh_kept rh_limits__logged(const rh_limits *limits, int i, double sure, const rh_log *log,
                          const rh_failure *rule, bool continuing)
{
    const rh_constraint *limit = &limits->limit[i];
    rh_failure__count failures = rh_failure__count_log(rule, log, continuing);
    ratio r = {.part_n = 0.0};
    bool over = false; // in this episode
    for (int64_t k = 0; k < log->n; k++) {
        int e = log->episode[k];
        bool ends = k + 1 == log->n || log->episode[k + 1] != e;
        bool whole = ends && (k + 1 == log->n || log->start[e + 1]);
        if (limit->counted == RH_COUNT_ENDS)
            r.part_n += (log->flag[k] & RH_FLAG_TERMINAL) != 0;
        else if (limit->counted != RH_COUNT_FAILURES) {
            bool here = exceeds(limits, i, log, k);
            over = over || here;
            r.part_n += limit->counted == RH_COUNT_STEPS ? here : whole && over;
        }
        over = over && !whole;
    }
    if (limit->counted == RH_COUNT_FAILURES)
        r.part_n = (double)failures.n;
    r.part_of = (double)(is_of_episodes(limit) ? failures.nepisode : log->n);
    end_cluster(&r);
    rh_kept kept = bounds_of(&r, sure);
    if (r.of >= 1.0) // of one log there are no clusters
        wilson(r.n, r.of, sure, &kept.lower, &kept.upper);
    kept.keeps = kept.upper <= limit->most;
    return kept;
}

bool rh_limits__hardly_seen(const rh_limited *limit, char often[RH_LIMITS__OFTEN])
{
    int n = (int)limit->logged.n;
    const char *event = limit->limit.event;
    if (limit->logged.of == 0 || limit->logged.n >= SEEN)
        return false;
    if (n == 0)
        snprintf(often, RH_LIMITS__OFTEN, "never has %.100s", event);
    else
        snprintf(often, RH_LIMITS__OFTEN, "has %.100s only %d time%s", event, n,
                 n > 1 ? "s" : "");
    return true;
}

double rh_limits__above(const rh_constraint *limit, double rate)
{
    return (rate - limit->most) / (limit->most + FLOOR);
}

double rh_limits__excess(const rh_limits *limits, const rh_result *result)
{
    double most = -INFINITY;
    for (int i = 0; i < limits->nlimit; i++) {
        const rh_constraint *limit = &limits->limit[i];
        int64_t of = is_of_episodes(limit) ? result->nepisode : result->nstep;
        double rate = of ? (double)result->over[i] / (double)of : 0.0;
        most = fmax(most, rh_limits__above(limit, rate));
    }
    return most;
}
