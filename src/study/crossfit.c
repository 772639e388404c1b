// crossfit.c - how much the chosen setting is overrated because it was chosen by its score.
//
// The best of several noisy means is above its own true mean. The members of the confirmation
// are models of other parts of the log with runs of their own, so they can be divided: leave
// one member out, choose by the others, and look up the choice in the one that was left out.
//
//     overrated = mean over members m of ( mean over the others - score in m ) of the setting
//                 that is best in the others
//
// 1. It is an estimate for one member less than there are, so it is a little too large.
// 2. Differences in level between members cancel: of a fixed setting the mean of these
//    differences is zero. What remains is the choice.
// 3. The clone of the logged controller is no choice by score, and is left out.

#include "core.h"

#include <math.h>

static double score_in(const rh_trial *t, int m)
{
    double sum = 0.0;
    for (int r = 0; r < t->nrun; r++)
        sum += t->result[m * t->nrun + r].score;
    return sum / t->nrun;
}

// Mean over all members but one; -1: over all.
static double score_without(const rh_trial *t, int nmember, int without)
{
    double sum = 0.0;
    int n = 0;
    for (int m = 0; m < nmember; m++)
        if (m != without) {
            sum += score_in(t, m);
            n++;
        }
    return sum / n;
}

double rh_study__overrated(const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    const rh_trial *first = v->trial + v->ntrial - v->nconfirm;
    int clone = rh_study__clone(study);
    if (v->nconfirm < 2 || v->winner < 0 || v->winner == clone || !v->finished)
        return 0.0;
    int nmember = first->nmember / (first->nkind > 1 ? first->nkind : 1);
    double sum = 0.0;
    for (int m = 0; m < nmember && nmember > 1; m++) {
        double best = -INFINITY, there = NAN;
        for (int i = 0; i < v->nconfirm; i++) {
            double score = score_without(&first[i], nmember, m);
            if (&first[i] - v->trial == clone || !(score > best))
                continue;
            best = score;
            there = score_in(&first[i], m);
        }
        sum += best - there;
    }
    return sum > 0.0 && isfinite(sum) ? sum / nmember : 0.0;
}
