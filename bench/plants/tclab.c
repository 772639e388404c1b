// tclab.c - two heaters and two thermometers on a board. Hidden: the heaters. Setpoints move.
//
// The energy balance of Park, Martin, Kelly and Hedengren (2020), Benchmark temperature
// microcontroller for process dynamics and control, Computers and Chemical Engineering 135,
// 106736: convection and radiation to the room and between the heaters, then a sensor lag.

#include "plant.h"

enum { C1, C2, SP1, SP2, H1, H2, ROOM };

static double radiated(double hot, double cold)
{
    return 0.9 * 5.67e-8 * (hot * hot * hot * hot - cold * cold * cold * cold);
}

static void start(double *s, rh_rng *rng)
{
    s[ROOM] = rh_rng_range(rng, 20, 24);
    s[H1] = s[C1] = s[ROOM] + rh_rng_range(rng, 0, 3);
    s[H2] = s[C2] = s[ROOM] + rh_rng_range(rng, 0, 3);
    s[SP1] = rh_rng_range(rng, 35, 55);
    s[SP2] = rh_rng_range(rng, 30, 50);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    const double zero = 273.15, area = 0.001, beside = 0.0002, u = 10, heat = 4 * 0.5;
    for (int i = 0; i < 10; i++) { // seconds
        double k1 = s[H1] + zero, k2 = s[H2] + zero, room = s[ROOM] + zero;
        double across = u * beside * (k2 - k1) + beside * radiated(k2, k1);
        s[H1] +=
            (u * area * (room - k1) - area * radiated(k1, room) + across + 0.01 * a[0]) / heat;
        s[H2] += (u * area * (room - k2) - area * radiated(k2, room) - across + 0.0075 * a[1]) /
                 heat;
        s[C1] += (s[H1] - s[C1]) / 20;
        s[C2] += (s[H2] - s[C2]) / 20;
    }
    cost[0] = fabs(s[C1] - s[SP1]) + fabs(s[C2] - s[SP2]);
    cost[1] = (a[0] + a[1]) / 100;
    for (int i = 0; i < 2; i++)
        if (rh_rng_uniform(rng) < 0.02) // an exercise changes a setpoint
            s[SP1 + i] = rh_rng_range(rng, i ? 30 : 35, i ? 50 : 55);
    return false;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    for (int i = 0; i < 2; i++)
        a[i] = good                  ? plant_pi(&m[i], obs[2 + i] - obs[i], 6, 0.35, 0, 100)
               : obs[i] < obs[2 + i] ? 80
                                     : 0;
}

const plant plant_tclab = {
    .name = "tclab",
    .about = "two heaters follow their setpoints",
    .sensor = {{"T1", 20, 65, 0.1}, {"T2", 20, 60, 0.1}, {"TSP1", 35, 55}, {"TSP2", 30, 50}},
    .action = {{"Q1", 0, 100}, {"Q2", 0, 100}},
    .cost = {{"error", 0.1}, {"power", 0.1}},
    .seconds = 10,
    .nstep = 180,
    .episode = "exercise",
    PLANT_CALLS,
};
