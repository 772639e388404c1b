// tally.c - from the rewards of a run to its score.
//
//     average    total reward / (completed episodes + 1 if one is unfinished)
//     completed  mean return of the completed episodes
//     median     median return of the completed episodes
//     worst      lowest return of a completed episode
//
// 1. An unfinished episode counts as one, as in the paper's code, so a run that never reaches
//    its goal scores its total reward.
// 2. Without a completed episode, the unfinished one takes its place.
// 3. Returns are not discounted: they are what the owner of a plant gets.

#include "eval_internal.h"

#include "base/text.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>

void rh_tally__begin(rh_tally *tally, double *returns)
{
    *tally = (rh_tally){.worst = INFINITY, .returns = returns};
}

void rh_tally__reward(rh_tally *tally, double reward)
{
    tally->total += reward;
    tally->episode += reward;
    tally->length++;
}

void rh_tally__end_episode(rh_tally *tally)
{
    double got = tally->episode;
    if (tally->returns)
        tally->returns[tally->nepisode] = got;
    tally->nepisode++;
    tally->completed += got;
    tally->worst = fmin(tally->worst, got);
    tally->point += got;
    tally->npoint++;
    tally->episode = 0.0;
    tally->length = 0;
}

double rh_tally__point(rh_tally *tally, bool continuing)
{
    double value = tally->npoint ? tally->point / (double)tally->npoint : NAN;
    if (continuing)
        value = tally->total - tally->mark;
    tally->mark = tally->total;
    tally->point = 0.0;
    tally->npoint = 0;
    return value;
}

double rh_tally__score(rh_tally *tally, rh_criterion criterion)
{
    double n = (double)tally->nepisode;
    switch (criterion) {
    case RH_AVERAGE:
    case RH_FINAL: // the average of the final phase
        return tally->total / (n + (tally->length > 0));
    case RH_COMPLETED:
        return n > 0 ? tally->completed / n : tally->episode;
    case RH_MEDIAN:
        return n > 0 ? rh_stats__median(tally->returns, tally->nepisode) : tally->episode;
    case RH_WORST:
        return n > 0 ? tally->worst : tally->episode;
    }
    return NAN;
}
