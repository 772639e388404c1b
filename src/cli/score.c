// score.c - the score of a setting's runs, with the summary that `run` and `sweep` print.
//
// The score is the mean of the runs in a member, pooled over the members. With one member the
// interval is over the runs. With several it is over their means: more runs in the same members
// do not reduce what the log leaves uncertain.

#include "cli_internal.h"
#include "eval/eval.h"

#include <math.h>

// The finished runs' scores, in order; how many there are.
static int gather(const rh_result *result, int n, double *score)
{
    int nfinished = 0;
    for (int i = 0; i < n; i++)
        if (result[i].outcome != RH_STOPPED)
            score[nfinished++] = result[i].score;
    return nfinished;
}

static double mean_of(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / n : NAN;
}

cli_score cli_score_of(const cli_job *job, const rh_result *result, double *mean, double *work)
{
    int nrun = job->opt.nrun, nmember = job->world.nmember;
    double *own = work + 2 * (size_t)nrun; // means of the members that have one
    cli_score s = {.score = NAN};
    for (int m = 0; m < nmember; m++) {
        const rh_result *here = result + (size_t)m * (size_t)nrun;
        int n = gather(here, nrun, work);
        for (int i = 0; i < nrun; i++)
            s.ndiverged += here[i].outcome != RH_FINISHED && here[i].outcome != RH_STOPPED;
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
        s.score = nmember == 1 ? own[0] : rh_pool__score(job->world.pool, own, s.nmember);
    if (s.nmember && nmember > 1)
        s.summary = rh_summarise(own, s.nmember, own + nmember);
    return s;
}
