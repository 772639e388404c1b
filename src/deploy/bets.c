// bets.c - bets against "on average at most p": a test that may be looked at after every trial.
//
// A trial has an outcome x in [0, 1]: 1 for a failure and 0 for none, or the share of a block's
// steps. The hypothesis: whatever happened before, x is at most p on average. A bet
//
//     (1 + (theta - 1) x) / (1 + (theta - 1) p)
//
// multiplies its stake by at most 1 on average if the hypothesis holds. So the worth of bets
// whose stakes sum up to 1 exceeds 1 / alpha with a probability of at most alpha, at any time
// (Ville, 1939). After Shafer, Testing by Betting (2021); Waudby-Smith and Ramdas, Estimating
// means of bounded random variables by betting (2024); Shin, Ramdas and Rinaldo, E-detectors
// (2023).
//
// 1. The stake is shared equally by several theta, because how much too often is not known.
// 2. It is spent over time, because a plant may change after years: of trials 2^k to 2^(k+1)-1
//    each begins a bet, with 1 / ((k + 1) (k + 2) 2^k) of the stake. Half goes to the first.
// 3. The worth of a bet is capped, so that a plant that recovers can show it; this makes false
//    alarms rarer.

#include "deploy_internal.h"

#include <math.h>

#define MOST (10 * RH_BETS__LEVEL) // worth of a bet, decision 3; by hand
#define LEAST 1e-6                 // p of 0 would be disproved by a single x above 0; by hand

static const double theta[RH_BETS__N] = {1.5, 2.0, 4.0, 8.0, 32.0, 128.0}; // by hand

// Decision 2: the share of the stake that begins at a trial, 1, 2, ...
static double stake_of(double trial)
{
    double first = 1.0, k = 0.0;
    while (2.0 * first <= trial) {
        first *= 2.0;
        k++;
    }
    return 1.0 / ((k + 1.0) * (k + 2.0) * first);
}

double rh_bets__add(rh_bets *b, double p, double x)
{
    double stake = stake_of(++b->ntrial), worth = 0.0;
    p = fmin(fmax(p, LEAST), 1.0);
    for (int i = 0; i < RH_BETS__N; i++) {
        double gain = (1.0 + (theta[i] - 1.0) * x) / (1.0 + (theta[i] - 1.0) * p);
        b->bet[i] = fmin((b->bet[i] + stake) * gain, MOST);
        worth += b->bet[i] / RH_BETS__N;
    }
    return worth;
}
