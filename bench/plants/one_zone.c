// one_zone.c - one heated zone. Hidden: the temperature of the walls. Exogenous: weather.
//
// The two-state heat model of Madsen and Holst (1995), Estimation of continuous-time models for
// the heat dynamics of a building, Energy and Buildings 22, 67-79; parameters of an office:
//
//     Ci Ti' = (Tm - Ti) / Ri + (Ta - Ti) / Ra + heat + sun,    Cm Tm' = (Ti - Tm) / Ri

#include "plant.h"

enum { TI, TA, HOUR, TM, WEATHER };

static void weather(double *s, rh_rng *rng)
{
    s[WEATHER] = 0.99 * s[WEATHER] + 0.25 * plant_normal(rng);
    s[TA] = 4 - 4 * plant_cold(s[HOUR]) + s[WEATHER];
}

static void start(double *s, rh_rng *rng)
{
    s[TI] = rh_rng_range(rng, 18, 22);
    s[TM] = rh_rng_range(rng, 16, 20);
    weather(s, rng);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double sun = plant_sun(s[HOUR]) * 0.25, heat = 0.75 * a[0];
    bool people = s[HOUR] >= 7 && s[HOUR] < 22;
    for (int i = 0; i < 10; i++) { // minutes; kW, kWh/K, K/kW
        double flow = (s[TM] - s[TI]) / 4.0;
        s[TI] += (flow + (s[TA] - s[TI]) / 14.0 + heat + sun) / 0.5 / 60;
        s[TM] -= flow / 4.0 / 60;
    }
    double low = people ? 20.5 : 17.0;
    cost[0] = heat / 6;
    cost[1] = s[TI] < low ? low - s[TI] : s[TI] > 23 ? s[TI] - 23 : 0;
    s[HOUR] = plant_later(s[HOUR], 1 / 6.0);
    weather(s, rng);
    return false;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double goal = obs[2] >= 6 && obs[2] < 22 ? 21.2
                  : good                     ? 17.6
                                             : 21.2,
           width = good ? 0.5 : 2;
    m[0] = obs[0] < goal - width   ? 2
           : obs[0] < goal         ? fmax(m[0], good)
           : obs[0] > goal + width ? 0
                                   : m[0];
    a[0] = m[0];
}

const plant plant_one_zone = {
    .name = "one_zone",
    .about = "heat an office through the day, as cheaply as comfort allows",
    .sensor = {{"T_zone", 14, 26, 0.05}, {"T_out", -8, 16, 0.1}, {"hour", 0, 24}},
    .action = {{"stage", 0, 2}},
    .nlevel = 3,
    .cost = {{"energy", 1}, {"discomfort", 1}},
    .seconds = 600,
    PLANT_CALLS,
};
