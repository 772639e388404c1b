// rising.c - is a series higher than its own past? A test for ever, whatever its distribution.
//
// The series is cut into units of equal length. If nothing has changed, units are exchangeable,
// and the rank j of a new one among all n of them, the highest first, is uniform and
// independent of the ranks before (Vovk, Nouretdinov and Gammerman, Testing exchangeability
// on-line, 2003). A bet that new units are high multiplies its stake by
//
//     g(j) / mean of g(1) .. g(n),  g(j) = ((n - j + 1/2) / (j - 1/2))^c
//
// which is 1 on average. The power of odds is close to the best bet if units are normal and
// higher by 1.7 c standard deviations. As in bets.c, the worth of stakes that sum up to 1
// exceeds 1 / alpha with a probability of at most alpha, at any time.
//
// 1. The first h units are only compared with. The stake is spent equally on the h units that
//    follow, since any of them may be the first after a change, and on several e.
// 2. Then the test begins anew with twice as many units, up to HALF. From then on pairs of
//    units are joined instead, so that units are twice as long: memory is constant, and a
//    tenth of the past has about a dozen units. The k-th of these tests has 1 / (k (k + 1)) of
//    the stake, so all of them together keep the rate.
// 3. Neighbouring units of a slow plant are alike. A test of dependent units counts evidence
//    several times, so the logarithm of each gain is multiplied by (1 - r) / (1 + r), the share
//    of independent units in an autoregression. r is the autocorrelation at lag one of the
//    first h units, without their linear trend (of an agent that learns), its bias corrected
//    (Marriott and Pope, 1954), plus CAUTION standard errors. Simulated autoregressions:
//    docs/evidence/alarms.md.
// 4. Ties count as lower ranks: the gain is then below 1 on average.
// 5. While there is an alarm the bets are kept when units are joined. It ends when they are
//    worth less than 1: the series is back, or has been so for as long that it is its past.

#include "deploy_internal.h"

#include <math.h>
#include <string.h>

#define HALF RH_RISING__HALF
#define MOST (10 * RH_BETS__LEVEL) // worth, as in bets.c; by hand
#define CAUTION 1.0                // decision 3; by hand

// By hand; n (u^e - v^e), 0 < e < 1, found less of what is higher by one standard deviation.
static const double power[RH_RISING__NBET] = {0.3, 0.6, 1.2};

void rh_rising__init(rh_rising *r, double length, int half)
{
    *r = (rh_rising){.length = fmax(1.0, floor(length)), .half = half, .temper = 1.0};
}

// Decision 3, of the first n units.
static double independent(const double *x, int n)
{
    double mean = 0.0, slope = 0.0, ss = 0.0, own = 0.0, lag = 0.0, before = 0.0;
    for (int i = 0; i < n; i++)
        mean += x[i] / n;
    for (int i = 0; i < n; i++) {
        double t = i - 0.5 * (n - 1);
        slope += t * (x[i] - mean);
        ss += t * t;
    }
    slope /= ss;
    for (int i = 0; i < n; i++) {
        double e = x[i] - mean - slope * (i - 0.5 * (n - 1));
        own += e * e;
        lag += e * before;
        before = e;
    }
    double rho = own > 0.0 ? (lag / own + 1.0 / n) / (1.0 - 4.0 / n) + CAUTION / sqrt(n) : 0.0;
    rho = fmin(fmax(rho, 0.0), 0.99);
    return (1.0 - rho) / (1.0 + rho);
}

// Decision 2.
static void begin_anew(rh_rising *r, bool alarmed)
{
    if (r->half < HALF)
        r->half *= 2.0;
    else {
        for (int i = 0; i < HALF; i++)
            r->unit[i] = 0.5 * (r->unit[2 * i] + r->unit[2 * i + 1]);
        r->nunit = HALF;
        r->length *= 2.0;
    }
    r->round++;
    r->temper = independent(r->unit, (int)r->half);
    if (!alarmed)
        memset(r->bet, 0, sizeof r->bet);
}

// g of rank j of n.
static double odds(int j, int n, double c)
{
    return rh_exp(c * rh_ln((n - j + 0.5) / (j - 0.5)));
}

double rh_rising__worth(const rh_rising *r)
{
    double worth = 0.0;
    for (int i = 0; i < RH_RISING__NBET; i++)
        worth += r->bet[i] / RH_RISING__NBET;
    return worth;
}

static double bet(rh_rising *r, double x)
{
    int n = (int)r->nunit + 1, rank = 1;
    double share = 1.0 / ((r->round + 1.0) * (r->round + 2.0));
    for (int i = 0; i < n - 1; i++)
        rank += r->unit[i] >= x;
    for (int i = 0; i < RH_RISING__NBET; i++) {
        double sum = 0.0;
        for (int j = 1; j <= n; j++)
            sum += odds(j, n, power[i]);
        double gain = odds(rank, n, power[i]) * n / sum;
        r->bet[i] = (r->bet[i] + share / r->half) * rh_exp(r->temper * rh_ln(gain));
        r->bet[i] = fmin(r->bet[i], MOST);
    }
    return rh_rising__worth(r);
}

bool rh_rising__add(rh_rising *r, double x, bool alarmed, double *worth)
{
    r->sum += x;
    if (++r->n < r->length)
        return false;
    double unit = r->sum / r->n;
    r->sum = r->n = 0.0;
    bool tests = r->nunit >= r->half;
    if (tests)
        *worth = bet(r, unit);
    r->unit[(int)r->nunit] = unit;
    r->nunit++;
    if (r->nunit == r->half)
        r->temper = independent(r->unit, (int)r->half);
    if (r->nunit == 2.0 * r->half)
        begin_anew(r, alarmed);
    return tests;
}
