// claims.c - how a claim is decided: a statistic, its 95 % interval, and a limit.
//
//     holds           the interval is on the claim's side of the limit
//     does not hold   it is on the other side
//     not decided     the limit is inside, or fewer than 6 logs have been studied
//
// 1. Intervals are percentiles of 2,000 bootstrap samples of logs. All series of a claim are
//    sampled together: two methods on one log are a pair. Shares have Wilson's interval.
// 2. Below 6 logs even a unanimous sign test is not significant at 5 % (2 * 0.5^5 = 0.0625).
// 3. An interval that has shrunk to the limit (both methods chose the same setting on every
//    log) is a tie: "better" does not hold.
// 4. No verdict is written by hand. The rule stands beside it in every output.

#include "paper_internal.h"

#include "base/base_internal.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NSAMPLE 2000
#define MOST 4 // series of a claim
#define SEED 20220508

const char *rh_paper_verdict_name(rh_paper_verdict verdict)
{
    static const char *const name[] = {
        [RH_PAPER_HOLDS] = "holds",
        [RH_PAPER_FAILS] = "does not hold",
        [RH_PAPER_OPEN] = "not decided",
    };
    return name[verdict];
}

// ---------------------------------------------------------------------------- statistics

static double quantile(const double *y, int n, double p, double *work)
{
    memcpy(work, y, (size_t)n * sizeof *y);
    return rh_stats__quantile(work, n, p);
}

double rh_paper__of_median(const double *const *y, int n, double *work)
{
    return quantile(y[0], n, 0.5, work);
}

double rh_paper__of_medians(const double *const *y, int n, double *work)
{
    return quantile(y[0], n, 0.5, work) - quantile(y[1], n, 0.5, work);
}

double rh_paper__of_mean(const double *const *y, int n, double *work)
{
    double sum = 0.0;
    (void)work;
    for (int i = 0; i < n; i++)
        sum += y[0][i];
    return sum / n;
}

static double spread(const double *y, int n, double *work)
{
    double low = quantile(y, n, 0.25, work);
    return quantile(y, n, 0.75, work) - low;
}

double rh_paper__of_spreads(const double *const *y, int n, double *work)
{
    return spread(y[0], n, work) - spread(y[1], n, work);
}

// Beyond one and a half boxes from the box, as matplotlib draws them.
static int outliers(const double *y, int n, double *work)
{
    double low = quantile(y, n, 0.25, work), high = quantile(y, n, 0.75, work);
    int count = 0;
    for (int i = 0; i < n; i++)
        count += y[i] < low - 1.5 * (high - low) || y[i] > high + 1.5 * (high - low);
    return count;
}

double rh_paper__of_outliers(const double *const *y, int n, double *work)
{
    return outliers(y[0], n, work) - outliers(y[1], n, work);
}

// ---------------------------------------------------------------------------- intervals

// The logs that all series have, series by series.
static int complete(const double *const *y, int nseries, int nlog, double *whole)
{
    int n = 0;
    for (int i = 0; i < nlog; i++) {
        bool all = true;
        for (int k = 0; k < nseries; k++)
            all = all && isfinite(y[k][i]);
        for (int k = 0; k < nseries && all; k++)
            whole[k * nlog + n] = y[k][i];
        n += all;
    }
    return n;
}

rh_paper__interval rh_paper__bootstrap(const double *const *y, int nseries, int nlog,
                                       rh_paper__statistic statistic)
{
    rh_paper__interval out = {NAN, NAN, NAN, 0};
    const double *at[MOST];
    double whole[MOST * RH_PAPER_MOST_LOGS], drawn[MOST * RH_PAPER_MOST_LOGS];
    double work[RH_PAPER_MOST_LOGS], value[NSAMPLE];
    rh_rng rng = rh_rng_stream(SEED, RH_STREAM_SEARCH, 0, 0);
    out.n = complete(y, nseries, nlog, whole);
    for (int k = 0; k < nseries; k++)
        at[k] = whole + (size_t)k * nlog;
    if (out.n > 0)
        out.value = statistic(at, out.n, work);
    for (int k = 0; k < nseries; k++)
        at[k] = drawn + (size_t)k * nlog;
    for (int s = 0; s < NSAMPLE && out.n > 1; s++) {
        for (int i = 0; i < out.n; i++) {
            uint32_t from = rh_rng_below(&rng, (uint32_t)out.n);
            for (int k = 0; k < nseries; k++)
                drawn[(size_t)k * nlog + i] = whole[(size_t)k * nlog + from];
        }
        value[s] = statistic(at, out.n, work);
    }
    if (out.n > 1) {
        rh_stats__sort(value, NSAMPLE);
        out.lo95 = rh_stats__quantile_sorted(value, NSAMPLE, 0.025);
        out.hi95 = rh_stats__quantile_sorted(value, NSAMPLE, 0.975);
    }
    return out;
}

rh_paper__interval rh_paper__wilson(int k, int n)
{
    const double z = 1.959963984540054;
    rh_paper__interval out = {NAN, NAN, NAN, n};
    if (n < 1)
        return out;
    double p = (double)k / n, w = z * z / n;
    double half = z * sqrt(p * (1.0 - p) / n + w / (4.0 * n)) / (1.0 + w);
    double middle = (p + 0.5 * w) / (1.0 + w);
    out.value = p;
    out.lo95 = k == 0 ? 0.0 : middle - half;
    out.hi95 = k == n ? 1.0 : middle + half;
    return out;
}

// ---------------------------------------------------------------------------- verdicts

static rh_paper_verdict decide(rh_paper__interval i, rh_paper__side side, double limit)
{
    if (i.n < RH_PAPER_LEAST_LOGS || !isfinite(i.lo95) || !isfinite(i.hi95))
        return RH_PAPER_OPEN;
    bool above = i.lo95 > limit, below = i.hi95 < limit;
    bool tie = i.lo95 == limit && i.hi95 == limit;
    if (side == RH_PAPER__ABOVE ? above : below)
        return RH_PAPER_HOLDS;
    if (tie || (side == RH_PAPER__ABOVE ? below : above))
        return RH_PAPER_FAILS;
    return RH_PAPER_OPEN;
}

void rh_paper__claim(rh_paper *paper, const char *id, const char *sentence, const char *rule,
                     rh_paper__interval interval, rh_paper__side side, double limit,
                     const char *measured, ...)
{
    va_list args;
    rh_paper_claim *more =
        rh_base__alloc_more(paper->claim, &paper->claim_room, paper->nclaim, sizeof *more);
    if (!more) {
        paper->bad = true;
        return;
    }
    paper->claim = more;
    rh_paper_claim *c = &paper->claim[paper->nclaim++];
    *c = (rh_paper_claim){.id = id,
                          .experiment = paper->now->is.name,
                          .sentence = sentence,
                          .rule = rule,
                          .value = interval.value,
                          .lo95 = interval.lo95,
                          .hi95 = interval.hi95,
                          .nlog = interval.n,
                          .verdict = decide(interval, side, limit)};
    va_start(args, measured);
    vsnprintf(c->measured, sizeof c->measured, measured, args);
    va_end(args);
}

void rh_paper__claim_better(rh_paper *paper, const char *id, const char *sentence,
                            const char *a, const double *ya, const char *b, const double *yb)
{
    int nlog = paper->opt.nlog;
    rh_paper__interval both =
        rh_paper__bootstrap((const double *const[]){ya, yb}, 2, nlog, rh_paper__of_medians);
    rh_paper__interval first =
        rh_paper__bootstrap((const double *const[]){ya, yb}, 2, nlog, rh_paper__of_median);
    rh_paper__interval second =
        rh_paper__bootstrap((const double *const[]){yb, ya}, 2, nlog, rh_paper__of_median);
    rh_paper__claim(paper, id, sentence,
                    "the median of the first minus that of the second is above 0", both,
                    RH_PAPER__ABOVE, 0.0, "%s %.1f, %s %.1f (medians)", a, first.value, b,
                    second.value);
}
