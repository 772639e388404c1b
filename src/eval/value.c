// value.c - the value of a setting from its runs, and whether two settings differ.
//
// 1. The runs of each member become one number, and the members' numbers become one value. Only
//    runs that are finished in all members count, so all members have the same weight.
// 2. The contribution of a run is its jackknife pseudovalue, n T - (n - 1) T(without it),
//    shifted so that the mean is the value. For means this is the run's mean over the members.
//    The spread of contributions is the noise of the value. Two settings share random streams,
//    so the differences of their contributions give the noise of the difference.
// 3. The jackknife fails for medians and extremes. These use a bootstrap instead: 400 resamples
//    of the runs, always the same ones, and the interval between quantiles.
// 4. With several members and means, the interval is Student's over the members' means: more
//    runs in the same members would not tell more about the real system.
// 5. Two settings are compared by their differences, never by their intervals, which overlap
//    far too often. They are tied when the 95 % interval of the difference contains zero.
// 6. A run that broke down with score -INFINITY makes the value -INFINITY, its spread unknown.

#include "base/base_internal.h"
#include "eval.h"
#include "numeric/stats.h"
#include "rehearse/eval.h"

#include <math.h>
#include <string.h>

#define NDRAW 400 // decision 3

static const char *const across_name[] = {[RH_ACROSS_MEAN] = "mean",
                                          [RH_ACROSS_MEDIAN] = "median",
                                          [RH_ACROSS_WORST] = "worst",
                                          [RH_ACROSS_LOWER] = "lower"};

const char *const *rh_across__names(int *n)
{
    *n = sizeof across_name / sizeof *across_name;
    return across_name;
}

// One or two settings: the scores of the runs that all have finished, and scratch memory.
typedef struct sample {
    rh_judge judge;
    int nmember, n;  // runs
    double *a, *b;   // scores; b of the second, NULL without        (nmember x n)
    double *pick;    // scores of some runs of a member              (nrun)
    double *sorted;  // sorted copy of pick                          (nrun)
    double *member;  // one number each                              (nmember)
    double *sum;     // of all runs: of a, then of b                 (2 x nmember)
    double *part;    // pseudovalues, resamples or differences       (nrun, nmember or NDRAW)
    double *scratch; // sorted copy of part
} sample;

static size_t largest(int nmember, int nrun)
{
    size_t n = nrun > nmember ? (size_t)nrun : (size_t)nmember;
    return n > NDRAW ? n : NDRAW;
}

size_t rh_value__nwork(int nmember, int nrun)
{
    size_t m = (size_t)nmember, n = (size_t)nrun;
    return 2 * m * n + 2 * n + 3 * m + 2 * largest(nmember, nrun);
}

static sample lay_out(rh_judge judge, int nmember, int nrun, bool two, double *work)
{
    size_t m = (size_t)nmember, n = (size_t)nrun;
    sample c = {.judge = judge, .nmember = nmember, .a = work};
    c.b = two ? work + m * n : NULL;
    c.pick = work + 2 * m * n;
    c.sorted = c.pick + n;
    c.member = c.sorted + n;
    c.sum = c.member + m;
    c.part = c.sum + 2 * m;
    c.scratch = c.part + largest(nmember, nrun);
    return c;
}

static double sum_of(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static bool is_finished(const rh_result *result, int nmember, int nrun, int run)
{
    if (run >= nrun)
        return false;
    for (int m = 0; m < nmember; m++)
        if (result[(size_t)m * (size_t)nrun + (size_t)run].outcome == RH_STOPPED)
            return false;
    return true;
}

// Collect the scores of the runs that both settings have; other is NULL for one setting.
static void gather(sample *c, int nbest, const rh_result *best, int nother,
                   const rh_result *other)
{
    int nmember = c->nmember;
    for (int m = 0; m < nmember; m++) {
        c->n = 0;
        for (int i = 0; i < nbest; i++) {
            if (!is_finished(best, nmember, nbest, i) ||
                (other && !is_finished(other, nmember, nother, i)))
                continue;
            // gaps between members are closed below
            size_t at = (size_t)m * (size_t)nbest + (size_t)c->n++;
            c->a[at] = best[(size_t)m * (size_t)nbest + (size_t)i].score;
            if (other)
                c->b[at] = other[(size_t)m * (size_t)nother + (size_t)i].score;
        }
    }
    for (int m = 1; m < nmember; m++) {
        size_t from = (size_t)m * (size_t)nbest, to = (size_t)m * (size_t)c->n;
        memmove(c->a + to, c->a + from, (size_t)c->n * sizeof *c->a);
        if (other)
            memmove(c->b + to, c->b + from, (size_t)c->n * sizeof *c->b);
    }
    for (int m = 0; m < nmember; m++) {
        size_t at = (size_t)m * (size_t)c->n;
        c->sum[m] = sum_of(c->a + at, c->n);
        c->sum[nmember + m] = other ? sum_of(c->b + at, c->n) : 0.0;
    }
}

static double across(rh_across how, const double *x, int n, double *sorted)
{
    rh_summary s = rh_summarise(x, n, sorted);
    switch (how) {
    case RH_ACROSS_MEAN:
        return s.mean;
    case RH_ACROSS_MEDIAN:
        return s.median;
    case RH_ACROSS_WORST:
        return s.min;
    case RH_ACROSS_LOWER:
        return isfinite(s.mean) && n >= 2 ? s.lo95 : s.mean;
    }
    return NAN;
}

// Pick runs of a member: a resample, or all but one, or all. Returns their number.
static int pick(const sample *c, const double *of, int without, rh_rng draw, bool drawn)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        if (drawn)
            c->pick[n++] = of[rh_rng_below(&draw, (uint32_t)c->n)];
        else if (i != without)
            c->pick[n++] = of[i];
    return n;
}

// The value of scores s (nmember x n) with sums sum (nmember): of all runs (without = -1), of
// all but one, or of a resample, the same in every member.
static double value_by(const sample *c, const double *s, const double *sum, int without,
                       const rh_rng *draw)
{
    for (int m = 0; m < c->nmember; m++) {
        const double *of = s + (size_t)m * (size_t)c->n;
        if (c->judge.across == RH_ACROSS_MEAN) { // never resampled
            c->member[m] = without < 0 ? sum[m] / c->n : (sum[m] - of[without]) / (c->n - 1);
        } else {
            int n = pick(c, of, without, draw ? *draw : (rh_rng){{0, 0}}, draw != NULL);
            c->member[m] = across(c->judge.across, c->pick, n, c->sorted);
        }
    }
    return c->nmember == 1 ? c->member[0]
                           : rh_pool__score(c->judge.pool, c->member, c->nmember);
}

// The value of one setting, or the difference of two.
static double difference(const sample *c, int without, const rh_rng *draw)
{
    double a = value_by(c, c->a, c->sum, without, draw);
    return c->b ? a - value_by(c, c->b, c->sum + c->nmember, without, draw) : a;
}

// Compute the contribution of each run to the value `all`; false when one is not finite.
static bool pseudovalues(sample *c, double all)
{
    int n = c->n;
    bool finite = isfinite(all);
    for (int i = 0; finite && i < n; i++) {
        c->part[i] = n == 1 ? all : n * all - (n - 1) * difference(c, i, NULL);
        finite = isfinite(c->part[i]);
    }
    if (!finite)
        return false;
    double shift = all - sum_of(c->part, n) / n;
    for (int i = 0; i < n; i++)
        c->part[i] += shift;
    return true;
}

// Compute the value of every resample; false when one is not finite.
static bool resample(sample *c)
{
    bool finite = true;
    for (int k = 0; k < NDRAW; k++) {
        rh_rng rng = rh_rng_stream(0, RH_STREAM_AGENT, (uint64_t)k, 0);
        c->part[k] = difference(c, -1, &rng);
        finite = finite && isfinite(c->part[k]);
    }
    return finite;
}

static bool needs_resampling(rh_across how)
{
    return how == RH_ACROSS_MEDIAN || how == RH_ACROSS_WORST;
}

// Whether the interval is over the members' means.
static bool by_members(const sample *c)
{
    return c->nmember > 1 && c->judge.pool == RH_POOL_MEAN && c->judge.across == RH_ACROSS_MEAN;
}

// Compute the mean, or the difference of means, of each member.
static void member_means(sample *c)
{
    for (int m = 0; m < c->nmember; m++)
        c->part[m] = (c->sum[m] - c->sum[c->nmember + m]) / c->n;
}

// Noise and interval by resampling.
static void set_noise_by_resampling(sample *c, rh_value__estimate *v)
{
    if (c->n < 2 || !resample(c))
        return;
    rh_summary s = rh_summarise(c->part, NDRAW, c->scratch); // sorts into scratch
    v->noise = s.stderr_ * s.stderr_ * NDRAW;
    v->lo95 = rh_stats__quantile_sorted(c->scratch, NDRAW, 0.025);
    v->hi95 = rh_stats__quantile_sorted(c->scratch, NDRAW, 0.975);
}

rh_value__estimate rh_value__of(rh_judge judge, int nmember, int nrun, const rh_result *result,
                                double *score, double *work)
{
    sample c = lay_out(judge, nmember, nrun, false, work);
    rh_value__estimate v = {NAN, NAN, NAN, NAN, 0};
    gather(&c, nrun, result, 0, NULL);
    v.nrun = c.n;
    if (c.n == 0)
        return v;
    v.value = difference(&c, -1, NULL);
    bool finite = pseudovalues(&c, v.value);
    for (int i = 0; score && i < c.n; i++)
        score[i] = finite ? c.part[i] : v.value;
    if (!finite)
        return v;

    if (needs_resampling(judge.across)) {
        set_noise_by_resampling(&c, &v);
    } else if (c.n >= 2) {
        rh_summary s = rh_summarise(c.part, c.n, c.scratch);
        v.noise = s.stderr_ * s.stderr_;
        v.lo95 = s.lo95;
        v.hi95 = s.hi95;
    }
    if (by_members(&c)) {
        member_means(&c);
        rh_summary s = rh_summarise(c.part, nmember, c.scratch);
        v.lo95 = s.lo95;
        v.hi95 = s.hi95;
    }
    return v;
}

// The comparison when a difference is not finite.
static bool is_no_better(const sample *c)
{
    double a = value_by(c, c->a, c->sum, -1, NULL);
    return a <= value_by(c, c->b, c->sum + c->nmember, -1, NULL);
}

bool rh_value__tied(rh_judge judge, int nmember, int nbest, const rh_result *best, int nother,
                    const rh_result *other, double *work)
{
    sample c = lay_out(judge, nmember, nbest > nother ? nbest : nother, true, work);
    gather(&c, nbest, best, nother, other);
    if (c.n == 0)
        return true;
    if (by_members(&c)) {
        member_means(&c);
        if (!rh_base__all_finite(c.part, nmember))
            return is_no_better(&c);
        return rh_summarise(c.part, nmember, c.scratch).lo95 <= 0.0;
    }
    if (c.n < 2)
        return true;
    if (needs_resampling(judge.across)) {
        if (!resample(&c))
            return is_no_better(&c);
        rh_summarise(c.part, NDRAW, c.scratch);
        return rh_stats__quantile_sorted(c.scratch, NDRAW, 0.025) <= 0.0;
    }
    if (!pseudovalues(&c, difference(&c, -1, NULL)))
        return is_no_better(&c);
    return rh_summarise(c.part, c.n, c.scratch).lo95 <= 0.0;
}
