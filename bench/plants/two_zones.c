// two_zones.c - two coupled zones of a building. Hidden: walls, people. Exogenous: weather.
//
// The network of resistances and capacities of Gouda, Danaher and Underwood (2002), Building
// thermal model reduction using nonlinear constrained optimization, Building and Environment
// 37, 1255-1265, with one wall per zone; the second zone faces the sun.

#include "plant.h"

enum { T1, T2, TA, SUN, HOUR, W1, W2, WEATHER, PEOPLE };

static void world(double *s, rh_rng *rng)
{
    s[WEATHER] = 0.99 * s[WEATHER] + 0.3 * plant_normal(rng);
    s[TA] = 3 - 5 * plant_cold(s[HOUR]) + s[WEATHER];
    s[SUN] = plant_sun(s[HOUR]) * rh_rng_range(rng, 0.3, 1);
    s[PEOPLE] = s[HOUR] >= 8 && s[HOUR] < 18
                    ? plant_clip(s[PEOPLE] + 0.3 * plant_normal(rng), 0.3, 2)
                    : 0;
}

static void start(double *s, rh_rng *rng)
{
    s[T1] = s[W1] = rh_rng_range(rng, 17, 21);
    s[T2] = s[W2] = rh_rng_range(rng, 17, 21);
    world(s, rng);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    int h1 = (int)a[0] & 1, h2 = (int)a[0] >> 1; // heater of each zone: on or off
    for (int i = 0; i < 15; i++) {               // minutes
        double between = (s[T2] - s[T1]) / 6, f1 = (s[W1] - s[T1]) / 3,
               f2 = (s[W2] - s[T2]) / 3;
        s[T1] += (f1 + between + (s[TA] - s[T1]) / 18 + 2.2 * h1 + 0.15 * s[PEOPLE]) / 0.8 / 60;
        s[T2] += (f2 - between + (s[TA] - s[T2]) / 12 + 2.2 * h2 + 0.8 * s[SUN]) / 0.6 / 60;
        s[W1] += ((s[TA] - s[W1]) / 20 - f1) / 6 / 60;
        s[W2] += ((s[TA] - s[W2]) / 20 - f2) / 6 / 60;
    }
    bool work = s[HOUR] >= 8 && s[HOUR] < 18;
    double low = work ? 20.5 : 16.5;
    cost[0] = (h1 + h2) * 2.2 / 4;
    cost[1] =
        fmax(0, low - s[T1]) + fmax(0, low - s[T2]) + fmax(0, s[T1] - 24) + fmax(0, s[T2] - 24);
    s[HOUR] = plant_later(s[HOUR], 0.25);
    world(s, rng);
    return false;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double goal = obs[4] >= (good ? 5 : 7) && obs[4] < 18 ? 21.3 : 18;
    for (int i = 0; i < 2; i++)
        m[i] = obs[i] < goal - 0.4 ? 1 : obs[i] > goal + 0.4 ? 0 : m[i];
    a[0] = m[0] + 2 * (good ? m[1] : m[0]); // poor: one thermostat for both zones
}

const plant plant_two_zones = {
    .name = "two_zones",
    .about = "heat two zones of an office while people work there",
    .sensor = {{"T_north", 12, 28, 0.05},
               {"T_south", 12, 28, 0.05},
               {"T_out", -12, 16, 0.1},
               {"sun", 0, 1, 0.01},
               {"hour", 0, 24}},
    .action = {{"heaters", 0, 3}},
    .nlevel = 4,
    .cost = {{"energy", 1}, {"discomfort", 1}},
    .seconds = 900,
    PLANT_CALLS,
};
