// incubator.c - a heated box, on or off. Hidden: the temperature of the heater; lids opened.
//
// The four-parameter model of Feng, Gomes, Thule, Lausdahl, Sandberg and Larsen (2021), The
// incubator case study for digital twin engineering, arXiv:2102.10390:
//
//     Ch Th' = V I u - Gh (Th - Tb),    Cb Tb' = Gh (Th - Tb) - Gb (Tb - Tr)

#include "plant.h"

enum { TB, TH, TR, LID };

static void start(double *s, rh_rng *rng)
{
    s[TR] = rh_rng_range(rng, 19, 24);
    s[TB] = s[TH] = s[TR] + rh_rng_range(rng, 0, 10);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    s[LID] = s[LID] > 0 ? s[LID] - 1 : rh_rng_uniform(rng) < 0.004 ? 5 : 0;
    for (int i = 0; i < 3; i++) { // seconds
        double flow = 0.87 * (s[TH] - s[TB]);
        s[TH] += (12 * 10.45 * a[0] - flow) / 243.46;
        s[TB] += (flow - (s[LID] > 0 ? 4 : 0.736) * (s[TB] - s[TR])) / 68.2;
    }
    s[TR] += 0.003 * (21.5 - s[TR]) + 0.015 * plant_normal(rng);
    cost[0] = a[0];
    cost[1] = fabs(s[TB] - 38);
    return s[TB] > 44; // the safety switch
}

static void show(const double *s, double *obs)
{
    obs[0] = s[TB] + 0.05 * (s[TB] - s[TR]) / 20; // one probe is nearer to the heater
    obs[1] = s[TB] - 0.3;
    obs[2] = s[TR];
}

// Short pulses. Good: waits until a pulse has spread. Poor: waits too short a time.
static void control(double *m, const double *obs, bool good, double *a)
{
    double t = (obs[0] + obs[1]) / 2, wait = good ? t < 30 ? 1 : 9 : 2;
    m[0] = m[0] > 0 ? m[0] - 1 : t < (good ? 38 : 37) ? wait : 0;
    a[0] = m[0] >= wait - good;
}

const plant plant_incubator = {
    .name = "incubator",
    .about = "keep a box at 38 degrees with a heater that is on or off",
    .sensor = {{"T_box_1", 18, 50, 0.06}, {"T_box_2", 18, 50, 0.06}, {"T_room", 17, 26, 0.06}},
    .action = {{"heater", 0, 1}},
    .nlevel = 2,
    .cost = {{"heating", 0.1}, {"deviation", 1}},
    .trip = 100,
    .seconds = 3,
    .nstep = 300,
    .episode = "run",
    PLANT_CALLS,
    .show = show,
};
