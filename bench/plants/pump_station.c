// pump_station.c - pumps fill a tower, and a town draws from it. Exogenous: demand, tariff.
// Hidden: a fire or a burst pipe. An empty or overflowing tower trips.
//
// Pump scheduling with a peak tariff and a penalty for switching, as in van Zyl, Savic and
// Walters (2004), Operational optimization of water distribution systems using a hybrid genetic
// algorithm, Journal of Water Resources Planning and Management 130, 160-170; sizes by hand.

#include "plant.h"

enum { LEVEL, DEMAND, HOUR, ON, FLOW, PRESSURE, WALK, BURST };

static void town(double *s, rh_rng *rng)
{
    double morning = rh_exp(-(s[HOUR] - 8) * (s[HOUR] - 8) / 8),
           evening = rh_exp(-(s[HOUR] - 19) * (s[HOUR] - 19) / 10);
    s[WALK] = 0.97 * s[WALK] + 2 * plant_normal(rng);
    s[BURST] = s[BURST] > 0 ? s[BURST] - 1 : rh_rng_uniform(rng) < 0.003 ? 12 : 0;
    s[DEMAND] = fmax(10, 60 + 90 * morning + 80 * evening + s[WALK] + (s[BURST] > 0 ? 60 : 0) +
                             3 * plant_normal(rng));
    s[PRESSURE] = 42 + s[LEVEL] - 0.00002 * s[DEMAND] * s[DEMAND];
}

static void start(double *s, rh_rng *rng)
{
    s[LEVEL] = rh_rng_range(rng, 2.5, 4);
    town(s, rng);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    static const double pumped[4] = {0, 70, 130, 175}; // m3/h: pumps in parallel gain less
    double price = s[HOUR] >= 7 && s[HOUR] < 21 ? 2 : 1, head = 1 - 0.03 * (s[LEVEL] - 3);
    s[FLOW] = pumped[(int)a[0]] * head;
    s[LEVEL] += (s[FLOW] - s[DEMAND]) / 4 / 80; // a quarter of an hour, 80 m2
    cost[0] = 0.2 * a[0] * price;
    cost[1] = fabs(a[0] - s[ON]);
    cost[2] = fmax(0, 1.5 - s[LEVEL]); // low pressure
    s[ON] = a[0];
    s[HOUR] = plant_later(s[HOUR], 0.25);
    town(s, rng);
    return s[LEVEL] < 0.2 || s[LEVEL] > 6;
}

// Good: fills by night, holds by day. Poor: two level switches, late.
static void control(double *m, const double *obs, bool good, double *a)
{
    double goal = obs[2] < 6.5 || obs[2] > 21 ? 4.8 : 2.8;
    if (good)
        m[0] = plant_clip(floor((goal - obs[0]) * 1.2 + obs[1] / 62 + 0.5), 0, 3);
    else
        m[0] = obs[0] < 1.2 ? 3 : obs[0] > 5.4 ? 0 : m[0];
    a[0] = m[0];
}

const plant plant_pump_station = {
    .name = "pump_station",
    .about = "supply a town from a tower with three pumps and two tariffs",
    .sensor = {{"level", 0, 6, 0.02},
               {"demand", 0, 260, 2},
               {"hour", 0, 24},
               {"pumps_on", 0, 3},
               {"flow", 0, 190, 1},
               {"pressure", 38, 50, 0.05}},
    .action = {{"pumps", 0, 3}},
    .nlevel = 4,
    .cost = {{"energy", 1}, {"switching", 0.1}, {"low_pressure", 2}},
    .trip = 100,
    .seconds = 900,
    .nstep = 192,
    .episode = "run",
    PLANT_CALLS,
};
