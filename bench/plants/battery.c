// battery.c - a battery trades on an hourly price. Exogenous: price, load. Hidden: a price
// regime.
//
// The storage problem of Jiang and Powell (2015), Optimal hour-ahead bidding in the real-time
// electricity market with battery storage using approximate dynamic programming, INFORMS
// Journal on Computing 27, 525-543: losses of a round trip, a mean-reverting price with spikes.

#include "plant.h"

enum { CHARGE, PRICE, LOAD, HOUR, TEMP, SPIKE, BASE };

static void market(double *s, rh_rng *rng)
{
    double day = -rh_cos(TAU * (s[HOUR] - 5) / 24) + 0.5 * rh_sin(TAU * s[HOUR] / 12);
    s[BASE] = 0.98 * s[BASE] + 1.5 * plant_normal(rng);
    s[SPIKE] = s[SPIKE] > 0                 ? 0.6 * s[SPIKE] - 1
               : rh_rng_uniform(rng) < 0.02 ? rh_rng_range(rng, 40, 120)
                                            : 0;
    s[PRICE] = fmax(-20, 45 + 15 * day + s[BASE] + fmax(0, s[SPIKE]) + 2 * plant_normal(rng));
    s[LOAD] = 60 + 20 * day + 0.4 * s[BASE] + 3 * plant_normal(rng);
}

static void start(double *s, rh_rng *rng)
{
    s[CHARGE] = rh_rng_range(rng, 0.2, 0.8);
    s[TEMP] = 22;
    market(s, rng);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double fade = s[TEMP] > 35 ? 0.5 : 1,
           power = (a[0] - 1) * 0.25 * fade; // MW of 1 MWh, + charges
    double stored =
        plant_clip(s[CHARGE] + (power > 0 ? 0.92 * power : power / 0.92), 0, 1) - s[CHARGE];
    double bought = stored > 0 ? stored / 0.92 : stored * 0.92;
    s[CHARGE] += stored;
    s[TEMP] += 0.25 * (20 - s[TEMP]) + 26 * fabs(bought) + 0.2 * plant_normal(rng);
    cost[0] = bought * s[PRICE];
    cost[1] = fabs(stored); // wear
    s[HOUR] = plant_later(s[HOUR], 1);
    market(s, rng);
    return false;
}

// Good: buys and sells at two prices. Poor: charges by night and discharges in the evening.
static void control(double *m, const double *obs, bool good, double *a)
{
    m[0] += m[0] == 0 ? obs[1] : 0.01 * (obs[1] - m[0]); // a slow mean of the price
    bool buy = good ? obs[1] < m[0] - 8 : obs[3] < 8,
         sell = good ? obs[1] > m[0] + 10 : obs[3] >= 17;
    a[0] = buy && obs[0] < 0.99 ? 2 : sell && obs[0] > 0.01 ? 0 : 1;
}

const plant plant_battery = {
    .name = "battery",
    .about = "buy and sell energy on an hourly price with a battery",
    .sensor = {{"charge", 0, 1, 0.005},
               {"price", -20, 160},
               {"load", 20, 100},
               {"hour", 0, 24},
               {"T_cell", 15, 45, 0.2}},
    .action = {{"mode", 0, 2}},
    .nlevel = 3,
    .cost = {{"energy_cost", 1}, {"wear", 2}},
    .seconds = 3600,
    PLANT_CALLS,
};
