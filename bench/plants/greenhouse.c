// greenhouse.c - climate of a greenhouse: heat, vents, CO2. Hidden: the crop. Exogenous:
// weather.
//
// The lettuce model of van Henten (1994), Greenhouse climate management: an optimal control
// approach, Wageningen: dry weight, CO2, temperature and humidity, with its parameters.

#include "plant.h"

enum { CROP, CO2, T, VAPOUR, TA, SUN, CLOUD, WEATHER, HOUR };

static void weather(double *s, rh_rng *rng)
{
    s[WEATHER] = 0.99 * s[WEATHER] + 0.2 * plant_normal(rng);
    s[CLOUD] = plant_clip(s[CLOUD] + 0.1 * plant_normal(rng), 0.15, 1);
    s[TA] = 9 - 4 * plant_cold(s[HOUR]) + s[WEATHER];
    s[SUN] = 500 * s[CLOUD] * plant_sun(s[HOUR]);
}

static void start(double *s, rh_rng *rng)
{
    s[CROP] = rh_rng_range(rng, 0.01, 0.15), s[CO2] = 0.0012, s[T] = rh_rng_range(rng, 12, 18),
    s[VAPOUR] = 0.008;
    s[CLOUD] = rh_rng_range(rng, 0.3, 0.9);
    weather(s, rng);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double grown = 0;              // g/m2 in a quarter of an hour
    for (int i = 0; i < 15; i++) { // minutes
        double lit = 1 - rh_exp(-53 * s[CROP]), cold = 0.001 * (a[1] + 0.075);
        double light = 3.55e-9 * s[SUN],
               air = (-5.11e-6 * s[T] * s[T] + 2.3e-4 * s[T] - 6.29e-4) * (s[CO2] - 5.2e-5);
        double photo = air > 0 ? lit * light * air / (light + air) : 0;
        double breath = s[CROP] * rh_exp(0.0693 * s[T] - 1.733);
        double wet = 9348 / (8314 * (s[T] + 273.15)) * rh_exp(17.4 * s[T] / (s[T] + 239));
        double drops = lit * 0.0036 * fmax(0, wet - s[VAPOUR]);
        s[CROP] += 60 * (0.544 * photo - 2.65e-7 * breath);
        grown += 60e3 * (0.544 * photo - 2.65e-7 * breath);
        s[CO2] +=
            60 * (-photo + 4.87e-7 * breath + 1e-6 * a[2] - cold * (s[CO2] - 0.00075)) / 4.1;
        s[T] += 60 * (a[0] - (1290 * cold + 6.1) * (s[T] - s[TA]) + 0.2 * s[SUN]) / 30000;
        s[VAPOUR] = fmax(0, s[VAPOUR] + 60 * (drops - cold * (s[VAPOUR] - 0.006)) / 4.1);
    }
    cost[0] = -grown;
    cost[1] = a[0] / 150 + 0.2 * a[2];
    cost[2] = fmax(0, 8 - s[T]) + fmax(0, s[T] - 28) + 200 * fmax(0, s[VAPOUR] - 0.016);
    s[CROP] = s[CROP] > 0.3 ? 0.02 : s[CROP]; // harvest
    s[HOUR] = plant_later(s[HOUR], 0.25);
    weather(s, rng);
    return false;
}

static void show(const double *s, double *obs)
{
    obs[0] = s[T], obs[1] = 1000 * s[VAPOUR], obs[2] = 1e6 * s[CO2] / 1.83, obs[3] = s[TA];
    obs[4] = s[SUN], obs[5] = s[HOUR], obs[6] = s[T] + 0.004 * s[SUN];
}

static void control(double *m, const double *obs, bool good, double *a)
{
    bool day = obs[4] > 20;
    double goal = day || !good ? 16 : 11;
    a[0] = plant_pi(&m[0], goal - obs[0], 15, 0.5, 0, 150);
    a[1] = plant_clip(1.2 * (obs[0] - (good ? 22 : 18)) + (obs[1] > 13 ? 1 : 0), 0, 7.5);
    a[2] = day && (a[1] < 1 || !good) ? 1 : 0;
}

const plant plant_greenhouse = {
    .name = "greenhouse",
    .about = "grow lettuce with little heat",
    .sensor = {{"T_air", 5, 32, 0.1},
               {"vapour", 3, 20, 0.1},
               {"CO2", 200, 1600, 10},
               {"T_out", -2, 20, 0.1},
               {"sun", 0, 500, 3},
               {"hour", 0, 24},
               {"T_leaf", 5, 34, 0.3}},
    .action = {{"heat", 0, 150}, {"vents", 0, 7.5}, {"CO2_dose", 0, 1.2}},
    .cost = {{"growth_lost", 2}, {"energy", 0.3}, {"stress", 0.5}},
    .seconds = 900,
    PLANT_CALLS,
    .show = show,
};
