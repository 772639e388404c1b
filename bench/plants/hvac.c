// hvac.c - an air handler with four zones. Hidden: walls, people. Exogenous: weather, sun.
//
// Zone heat balances with a supply of air at one temperature and a fan whose power grows with
// the cube of its flow: Goyal, Ingley and Barooah (2013), Occupancy-based zone-climate control
// for energy-efficient buildings, Applied Energy 106, 209-221; parameters by hand.

#include "plant.h"

enum { ZONE, WALL = 4, PEOPLE = 8, TA = 12, WEATHER, SUN, CLOUD, HOUR };

static void world(double *s, rh_rng *rng)
{
    s[WEATHER] = 0.99 * s[WEATHER] + 0.25 * plant_normal(rng);
    s[CLOUD] = plant_clip(s[CLOUD] + 0.08 * plant_normal(rng), 0.2, 1);
    s[TA] = 26 - 5 * plant_cold(s[HOUR]) + s[WEATHER];
    s[SUN] = s[CLOUD] * plant_sun(s[HOUR]);
    for (int i = 0; i < 4; i++)
        s[PEOPLE + i] = s[HOUR] < 8 || s[HOUR] >= 18
                            ? 0
                            : plant_clip(s[PEOPLE + i] + 0.4 * plant_normal(rng), 0, 4);
}

static void start(double *s, rh_rng *rng)
{
    for (int i = 0; i < 8; i++)
        s[ZONE + i] = rh_rng_range(rng, 22, 25);
    s[CLOUD] = 0.6;
    world(s, rng);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double flow = a[0], supply = a[1], off = 0; // kg/s to each zone, degrees
    bool work = s[HOUR] >= 8 && s[HOUR] < 18;
    for (int i = 0; i < 4; i++) {
        double *t = s + ZONE + i, *w = s + WALL + i,
               sun = s[SUN] * (i == 1 || i == 2 ? 1.5 : 0.4);
        for (int k = 0; k < 10; k++) { // minutes; kW, kWh/K
            double f = (*w - *t) / 2.5;
            *t += (f + (s[TA] - *t) / 10 + 1.005 * flow * (supply - *t) + sun +
                   0.12 * s[PEOPLE + i]) /
                  0.6 / 60;
            *w += ((s[TA] - *w) / 8 - f) / 5 / 60;
        }
        off += work ? fmax(0, *t - 24.5) + fmax(0, 21 - *t) : fmax(0, *t - 28) / 2;
    }
    cost[0] = (4 * flow * fmax(0, s[TA] - supply) / 3 + 40 * flow * flow * flow) / 6;
    cost[1] = off;
    s[HOUR] = plant_later(s[HOUR], 1 / 6.0);
    world(s, rng);
    return false;
}

static void show(const double *s, double *obs)
{
    memcpy(obs, s + ZONE, 4 * sizeof *obs);
    obs[4] = s[TA], obs[5] = s[SUN], obs[6] = s[HOUR];
    obs[7] = s[TA] + 0.4 * s[SUN], obs[8] = 55 - 1.2 * (s[TA] - 24),
    obs[9] = (obs[0] + obs[1] + obs[2] + obs[3]) / 4;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    bool work = obs[6] >= 7 && obs[6] < 18;
    double warm = fmax(fmax(obs[0], obs[1]), fmax(obs[2], obs[3])),
           error = (good ? 0.5 * (warm + obs[9]) : obs[0]) - 23.6;
    a[0] = plant_clip((work || !good ? 0.1 : 0.02) +
                          (work || !good ? plant_pi(&m[0], error, 0.08, 0.004, 0, 0.4) : 0),
                      0.02, 0.5);
    a[1] = good ? plant_clip(18 - 2 * error, 13, 20) : 14;
}

const plant plant_hvac = {
    .name = "hvac",
    .about = "cool four zones of an office with one air handler",
    .sensor = {{"T_north", 18, 32, 0.05},
               {"T_east", 18, 32, 0.05},
               {"T_south", 18, 32, 0.05},
               {"T_west", 18, 32, 0.05},
               {"T_out", 15, 36, 0.1},
               {"sun", 0, 1, 0.01},
               {"hour", 0, 24},
               {"T_roof", 15, 36, 0.2},
               {"humidity", 40, 70, 2},
               {"T_return", 18, 32, 0.1}},
    .action = {{"air_flow", 0.02, 0.5}, {"T_supply", 13, 20}},
    .cost = {{"energy", 1}, {"discomfort", 1}},
    .seconds = 600,
    PLANT_CALLS,
    .show = show,
};
