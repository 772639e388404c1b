// reservoir.c - water for a turbine at an hourly price. Exogenous: price, inflow. Hidden: how
// wet the land is.
//
// Release of a reservoir as in Castelletti, Galelli, Restelli and Soncini-Sessa (2010),
// Tree-based reinforcement learning for optimal water reservoir operation, Water Resources
// Research 46, W09507, with hourly prices instead of two users. Sizes by hand.

#include "plant.h"

enum { LEVEL, INFLOW, PRICE, HOUR, WET, BASE };

static void outside(double *s, rh_rng *rng)
{
    if (rh_rng_uniform(rng) < 0.015)
        s[WET] += rh_rng_range(rng, 0.5, 2); // rain
    s[WET] *= 0.985;
    s[INFLOW] += 0.1 * (0.25 + 0.5 * s[WET] - s[INFLOW]) + 0.01 * plant_normal(rng);
    s[BASE] = 0.99 * s[BASE] + plant_normal(rng);
    s[PRICE] =
        fmax(0, 50 + s[BASE] - 18 * rh_cos(TAU * (s[HOUR] - 4) / 24) + 4 * plant_normal(rng));
}

static void start(double *s, rh_rng *rng)
{
    s[LEVEL] = rh_rng_range(rng, 40, 60);
    s[WET] = 0.8;
    s[INFLOW] = 0.6;
    outside(s, rng);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double out = fmin(a[0], fmax(0, s[LEVEL] - 5));
    s[LEVEL] += fmax(0, s[INFLOW]) - out;
    double spilt = fmax(0, s[LEVEL] - 100);
    s[LEVEL] -= spilt;
    cost[0] = -out * s[PRICE] / 50 * (0.6 + 0.4 * s[LEVEL] / 100);
    cost[1] = fmax(0, 25 - s[LEVEL]) / 10 + spilt; // boats, floods
    cost[2] = fmax(0, 0.2 - out);                  // fish
    s[HOUR] = plant_later(s[HOUR], 1);
    outside(s, rng);
    return false;
}

// Good: more at a good price and a high level. Poor: always the same.
static void control(double *m, const double *obs, bool good, double *a)
{
    m[0] += m[0] == 0 ? obs[2] : 0.01 * (obs[2] - m[0]); // a slow mean of the price
    double steady = 0.6 + 0.015 * (obs[0] - 55);
    a[0] = plant_clip(good ? steady + 0.03 * (obs[2] - m[0]) : 0.65, 0.2, 2);
}

const plant plant_reservoir = {
    .name = "reservoir",
    .about = "release water to a turbine at an hourly price",
    .sensor = {{"level", 0, 100, 0.1},
               {"inflow", 0, 3, 0.02},
               {"price", 0, 120},
               {"hour", 0, 24}},
    .action = {{"release", 0, 2}},
    .cost = {{"sold", 1}, {"level_cost", 1}, {"dry", 2}},
    .seconds = 3600,
    PLANT_CALLS,
};
