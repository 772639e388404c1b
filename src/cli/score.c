// score.c - what the lives of one setting come to, and whether two settings differ.
//
// 1. A setting's score is the mean of its lives in a member, pooled over the members. With one
//    member its interval is that of the lives. With several it is that of their means: what is
//    not known of the world is then in the members, and more lives in the same ones would not
//    tell it.
// 2. Runs of the same number share their chance, and settings share their members. So settings
//    are compared by differences: of their runs in one member, of their means in each of
//    several, or, where the worst or a quartile counts, of what is pooled run by run. When
//    Student's 95 % interval of the mean difference holds zero, the two are tied. Intervals of
//    the means alone overlap far too often.

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

// What one run comes to over all members; false when it is not finished in one.
static bool pooled(const cli_job *job, const rh_life *life, int run, double *work,
                   double *score)
{
    int nrun = job->opt.nrun, nmember = job->world.nmember;
    for (int m = 0; m < nmember; m++) {
        const rh_life *one = life + (size_t)m * (size_t)nrun + run;
        if (one->outcome == RH_STOPPED)
            return false;
        work[m] = one->score;
    }
    *score = rh_pool_score(job->world.pool, work, nmember);
    return true;
}

bool cli_score_tied(const cli_job *job, const rh_life *best, const rh_life *other, double *work)
{
    int nrun = job->opt.nrun, nmember = job->world.nmember, n = 0;
    size_t room = (size_t)nrun + (size_t)nmember;
    if (nmember > 1 && job->world.pool == RH_POOL_MEAN) {
        for (int m = 0; m < nmember; m++) {
            size_t at = (size_t)m * (size_t)nrun;
            n += differ(best + at, other + at, nrun, &work[n]);
        }
    } else {
        for (int i = 0; i < nrun; i++) {
            double a, b;
            if (pooled(job, best, i, work + room, &a) && pooled(job, other, i, work + room, &b))
                work[n++] = a - b;
        }
    }
    if (n < 2)
        return true;
    rh_summary d = rh_summarise(work, n, work + room);
    return d.lo95 <= 0.0; // false for what is not a number
}
