// value.c - what the runs of one setting are worth, and whether two settings differ.
//
// 1. The runs of each member become one number, and the members' numbers one. Only runs that
//    are finished in all members count, so that no member weighs more than another.
// 2. What a run adds is its pseudovalue of the jackknife, n T - (n - 1) T(without it), moved so
//    that their mean is the value. For means that is the run's mean over the members. Their
//    spread tells how the value would vary with other runs, and their differences between two
//    settings, which share their runs' random stream, how the difference would.
// 3. The jackknife fails for medians and extremes: there the runs are drawn anew, with
//    replacement, 400 times, always the same ones. The interval is that of the quantiles.
// 4. With several members and means, the interval is Student's over the members' means: more
//    runs in the same ones would not tell what is not known of the world.
// 5. Two settings are compared by their differences, never by their intervals, which overlap
//    far too often. They are tied when the 95 % interval of the difference holds zero.
// 6. A run that broke down without a number makes the value -INFINITY, of which the spread is
//    not known.

#include "rehearse/eval.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define NDRAW 400 // decision 3

static const char *const across_name[] = {[RH_ACROSS_MEAN] = "mean",
                                          [RH_ACROSS_MEDIAN] = "median",
                                          [RH_ACROSS_WORST] = "worst",
                                          [RH_ACROSS_LOWER] = "lower"};

const char *const *rh_across_names(int *n)
{
    *n = sizeof across_name / sizeof *across_name;
    return across_name;
}

// One or two settings: scores of the runs that all have finished, and room to judge them.
typedef struct court {
    rh_judge judge;
    int nmember, n;  // runs
    double *a, *b;   // scores; b of the second, NULL without        (nmember x n)
    double *pick;    // scores of some runs of a member              (nrun)
    double *sorted;  // room to sort them                            (nrun)
    double *member;  // what they come to                            (nmember)
    double *sum;     // of all runs: of a, then of b                 (2 x nmember)
    double *sample;  // pseudovalues, draws or differences           (nrun, nmember or NDRAW)
    double *scratch; // room to sort those
} court;

static size_t largest(int nmember, int nrun)
{
    size_t n = nrun > nmember ? (size_t)nrun : (size_t)nmember;
    return n > NDRAW ? n : NDRAW;
}

size_t rh_value_nwork(int nmember, int nrun)
{
    size_t m = (size_t)nmember, n = (size_t)nrun;
    return 2 * m * n + 2 * n + 3 * m + 2 * largest(nmember, nrun);
}

static court convene(rh_judge judge, int nmember, int nrun, bool two, double *work)
{
    size_t m = (size_t)nmember, n = (size_t)nrun;
    court c = {.judge = judge, .nmember = nmember, .a = work};
    c.b = two ? work + m * n : NULL;
    c.pick = work + 2 * m * n;
    c.sorted = c.pick + n;
    c.member = c.sorted + n;
    c.sum = c.member + m;
    c.sample = c.sum + 2 * m;
    c.scratch = c.sample + largest(nmember, nrun);
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

// The scores of the runs that both have; other is NULL where there is one setting alone.
static void gather(court *c, int nbest, const rh_result *best, int nother,
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

// Runs of a member: those drawn, or all but one, or all. Returns how many.
static int pick(const court *c, const double *of, int without, rh_rng draw, bool drawn)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        if (drawn)
            c->pick[n++] = of[rh_rng_below(&draw, (uint32_t)c->n)];
        else if (i != without)
            c->pick[n++] = of[i];
    return n;
}

// The value by scores s (nmember x n), whose sums are sum (nmember): of all runs for -1, of all
// but one, or of runs drawn anew, the same ones in every member.
static double judged(const court *c, const double *s, const double *sum, int without,
                     const rh_rng *draw)
{
    for (int m = 0; m < c->nmember; m++) {
        const double *of = s + (size_t)m * (size_t)c->n;
        if (c->judge.across == RH_ACROSS_MEAN) { // rough ones alone are drawn
            c->member[m] = without < 0 ? sum[m] / c->n : (sum[m] - of[without]) / (c->n - 1);
        } else {
            int n = pick(c, of, without, draw ? *draw : (rh_rng){{0, 0}}, draw != NULL);
            c->member[m] = across(c->judge.across, c->pick, n, c->sorted);
        }
    }
    return c->nmember == 1 ? c->member[0] : rh_pool_score(c->judge.pool, c->member, c->nmember);
}

// The value of one setting, or the difference of two.
static double difference(const court *c, int without, const rh_rng *draw)
{
    double a = judged(c, c->a, c->sum, without, draw);
    return c->b ? a - judged(c, c->b, c->sum + c->nmember, without, draw) : a;
}

// What each run adds to `all`, into the sample; false when that is not a number.
static bool pseudovalues(court *c, double all)
{
    int n = c->n;
    bool finite = isfinite(all);
    for (int i = 0; finite && i < n; i++) {
        c->sample[i] = n == 1 ? all : n * all - (n - 1) * difference(c, i, NULL);
        finite = isfinite(c->sample[i]);
    }
    if (!finite)
        return false;
    double shift = all - sum_of(c->sample, n) / n;
    for (int i = 0; i < n; i++)
        c->sample[i] += shift;
    return true;
}

// The value by other runs, into the sample; false when one is not a number.
static bool draw_anew(court *c)
{
    bool finite = true;
    for (int k = 0; k < NDRAW; k++) {
        rh_rng rng = rh_rng_stream(0, RH_STREAM_AGENT, (uint64_t)k, 0);
        c->sample[k] = difference(c, -1, &rng);
        finite = finite && isfinite(c->sample[k]);
    }
    return finite;
}

static bool is_rough(rh_across how)
{
    return how == RH_ACROSS_MEDIAN || how == RH_ACROSS_WORST;
}

// Whether the interval is that of the members' means.
static bool by_members(const court *c)
{
    return c->nmember > 1 && c->judge.pool == RH_POOL_MEAN && c->judge.across == RH_ACROSS_MEAN;
}

// Means, or differences of means, of each member into the sample.
static void member_means(court *c)
{
    for (int m = 0; m < c->nmember; m++)
        c->sample[m] = (c->sum[m] - c->sum[c->nmember + m]) / c->n;
}

// Noise and interval of a value that was found by drawing the runs anew.
static void value_by_draws(court *c, rh_value *v)
{
    if (c->n < 2 || !draw_anew(c))
        return;
    rh_summary s = rh_summarise(c->sample, NDRAW, c->scratch); // sorts into scratch
    v->noise = s.stderr_ * s.stderr_ * NDRAW;
    v->lo95 = rh_quantile_sorted(c->scratch, NDRAW, 0.025);
    v->hi95 = rh_quantile_sorted(c->scratch, NDRAW, 0.975);
}

rh_value rh_value_of(rh_judge judge, int nmember, int nrun, const rh_result *result,
                     double *score, double *work)
{
    court c = convene(judge, nmember, nrun, false, work);
    rh_value v = {NAN, NAN, NAN, NAN, 0};
    gather(&c, nrun, result, 0, NULL);
    v.nrun = c.n;
    if (c.n == 0)
        return v;
    v.value = difference(&c, -1, NULL);
    bool finite = pseudovalues(&c, v.value);
    for (int i = 0; score && i < c.n; i++)
        score[i] = finite ? c.sample[i] : v.value;
    if (!finite)
        return v;

    if (is_rough(judge.across)) {
        value_by_draws(&c, &v);
    } else if (c.n >= 2) {
        rh_summary s = rh_summarise(c.sample, c.n, c.scratch);
        v.noise = s.stderr_ * s.stderr_;
        v.lo95 = s.lo95;
        v.hi95 = s.hi95;
    }
    if (by_members(&c)) {
        member_means(&c);
        rh_summary s = rh_summarise(c.sample, nmember, c.scratch);
        v.lo95 = s.lo95;
        v.hi95 = s.hi95;
    }
    return v;
}

// Where a difference is not a number.
static bool is_no_better(const court *c)
{
    double a = judged(c, c->a, c->sum, -1, NULL);
    return a <= judged(c, c->b, c->sum + c->nmember, -1, NULL);
}

bool rh_value_tied(rh_judge judge, int nmember, int nbest, const rh_result *best, int nother,
                   const rh_result *other, double *work)
{
    court c = convene(judge, nmember, nbest > nother ? nbest : nother, true, work);
    gather(&c, nbest, best, nother, other);
    if (c.n == 0)
        return true;
    if (by_members(&c)) {
        member_means(&c);
        if (!rh_all_finite(c.sample, nmember))
            return is_no_better(&c);
        return rh_summarise(c.sample, nmember, c.scratch).lo95 <= 0.0;
    }
    if (c.n < 2)
        return true;
    if (is_rough(judge.across)) {
        if (!draw_anew(&c))
            return is_no_better(&c);
        rh_summarise(c.sample, NDRAW, c.scratch);
        return rh_quantile_sorted(c.scratch, NDRAW, 0.025) <= 0.0;
    }
    if (!pseudovalues(&c, difference(&c, -1, NULL)))
        return is_no_better(&c);
    return rh_summarise(c.sample, c.n, c.scratch).lo95 <= 0.0;
}
