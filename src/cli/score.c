// score.c - what the lives of one setting come to, and whether two settings differ.
//
// 1. A setting's score is the mean of its lives in a member, pooled over the members. With one
//    member its interval is that of the lives. With several it is that of their means: more
//    lives in the same ones would not tell what is not known of the world. It is an interval
//    of the mean over members like these, and narrows with their number; what one log leaves
//    open does not: that is in the spread of the members.
// 2. Runs of the same number share their chance, and settings share their members. So settings
//    are compared by differences: of their runs in one member, of their means in each of
//    several. When Student's 95 % interval of the mean difference holds zero, the two are
//    tied. Intervals of the means alone overlap far too often.
// 3. Where the worst or a quartile counts, the difference is that of the pooled scores, and its
//    interval that of the jackknife over runs. Pooling each run by itself would compare
//    something else: the worst of single lives is worse the more lives vary, and a setting is
//    ranked by its worst mean.

#include "cli_internal.h"

#include <math.h>

// The finished lives' scores, in order; how many there are.
static int gather(const rh_life *life, int n, double *score)
{
    int nfinished = 0;
    for (int i = 0; i < n; i++)
        if (life[i].outcome != RH_STOPPED)
            score[nfinished++] = life[i].score;
    return nfinished;
}

static double mean_of(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / n : NAN;
}

cli_score cli_score_of(const cli_job *job, const rh_life *life, double *mean, double *work)
{
    int nrun = job->opt.nrun, nmember = job->world.nmember;
    double *own = work + 2 * (size_t)nrun; // means of the members that have one
    cli_score s = {.score = NAN};
    for (int m = 0; m < nmember; m++) {
        const rh_life *here = life + (size_t)m * (size_t)nrun;
        int n = gather(here, nrun, work);
        for (int i = 0; i < nrun; i++)
            s.ndiverged +=
                here[i].outcome == RH_DIVERGED || here[i].outcome == RH_ENV_NONFINITE;
        s.nfinished += n;
        if (n && nmember == 1)
            s.summary = rh_summarise(work, n, work + nrun);
        if (n)
            own[s.nmember++] = nmember == 1 ? s.summary.mean : mean_of(work, n);
        if (mean)
            mean[m] = n ? own[s.nmember - 1] : NAN;
    }
    s.whole = s.nfinished == (int64_t)nrun * nmember;
    if (s.nmember)
        s.score = nmember == 1 ? own[0] : rh_pool_score(job->world.pool, own, s.nmember);
    if (s.nmember && nmember > 1)
        s.summary = rh_summarise(own, s.nmember, own + nmember);
    return s;
}

// Mean difference of the runs that both finished; false without any.
static bool differ(const rh_life *a, const rh_life *b, int nrun, double *mean)
{
    double sum = 0.0;
    int n = 0;
    for (int i = 0; i < nrun; i++)
        if (a[i].outcome != RH_STOPPED && b[i].outcome != RH_STOPPED) {
            sum += a[i].score - b[i].score;
            n++;
        }
    *mean = sum / n;
    return n > 0;
}

// Whether a run is finished in all members.
static bool is_finished(const cli_job *job, const rh_life *life, int run)
{
    int nrun = job->opt.nrun, nmember = job->world.nmember;
    for (int m = 0; m < nmember; m++)
        if (life[(size_t)m * (size_t)nrun + (size_t)run].outcome == RH_STOPPED)
            return false;
    return true;
}

// Sums of each member's scores over the runs that both settings finished in all members, and
// how many those are. a, b: (nmember)
static int add_up(const cli_job *job, const rh_life *best, const rh_life *other, double *a,
                  double *b)
{
    int nrun = job->opt.nrun, nmember = job->world.nmember, n = 0;
    for (int m = 0; m < nmember; m++)
        a[m] = b[m] = 0.0;
    for (int i = 0; i < nrun; i++) {
        if (!is_finished(job, best, i) || !is_finished(job, other, i))
            continue;
        n++;
        for (int m = 0; m < nmember; m++) {
            size_t at = (size_t)m * (size_t)nrun + (size_t)i;
            a[m] += best[at].score;
            b[m] += other[at].score;
        }
    }
    return n;
}

// The members' means, pooled, of n runs whose scores add up to sum (nmember); but for the run
// `without`, or with all of them for -1. Scratch: mean (nmember).
static double pool_runs(const cli_job *job, const rh_life *life, const double *sum, int n,
                        int without, double *mean)
{
    int nrun = job->opt.nrun, nmember = job->world.nmember;
    for (int m = 0; m < nmember; m++) {
        if (without < 0)
            mean[m] = sum[m] / n;
        else
            mean[m] =
                (sum[m] - life[(size_t)m * (size_t)nrun + (size_t)without].score) / (n - 1);
    }
    return rh_pool_score(job->world.pool, mean, nmember);
}

// What each run adds to the difference of two pooled scores: the pseudovalues of the
// jackknife. Their mean is the difference, but for its bias. How many there are.
static int differ_pooled(const cli_job *job, const rh_life *best, const rh_life *other,
                         double *work)
{
    int nrun = job->opt.nrun, nmember = job->world.nmember, k = 0;
    double *a = work + 2 * (size_t)nrun, *b = a + nmember, *mean = b + nmember;
    int n = add_up(job, best, other, a, b);
    if (n < 2)
        return n;
    double all = pool_runs(job, best, a, n, -1, mean) - pool_runs(job, other, b, n, -1, mean);
    for (int i = 0; i < nrun; i++) {
        if (!is_finished(job, best, i) || !is_finished(job, other, i))
            continue;
        double rest =
            pool_runs(job, best, a, n, i, mean) - pool_runs(job, other, b, n, i, mean);
        work[k++] = n * all - (n - 1) * rest;
    }
    return k;
}

bool cli_score_tied(const cli_job *job, const rh_life *best, const rh_life *other, double *work)
{
    int nrun = job->opt.nrun, nmember = job->world.nmember, n = 0;
    size_t room = nrun > nmember ? (size_t)nrun : (size_t)nmember;
    if (nmember > 1 && job->world.pool == RH_POOL_MEAN) {
        for (int m = 0; m < nmember; m++) {
            size_t at = (size_t)m * (size_t)nrun;
            n += differ(best + at, other + at, nrun, &work[n]);
        }
    } else if (nmember > 1) {
        n = differ_pooled(job, best, other, work);
    } else {
        for (int i = 0; i < nrun; i++)
            if (is_finished(job, best, i) && is_finished(job, other, i))
                work[n++] = best[i].score - other[i].score;
    }
    if (n < 2)
        return true;
    rh_summary d = rh_summarise(work, n, work + room);
    return d.lo95 <= 0.0; // false for what is not a number
}
