// ph.c - neutralisation of an acid stream. Hidden: two reaction invariants; the buffer's flow.
//
// Henson and Seborg (1994), Adaptive nonlinear control of a pH neutralization process, IEEE
// Transactions on Control Systems Technology 2, 169-182: acid q1, buffer q2 and base q3 flow
// into a tank; the pH solves the charge balance of carbonic acid. The pH meter has dead time.

#include "plant.h"

enum { PH, LEVEL, Q1, Q3, Q2, WA, WB, QUEUE, DELAY = 2 };

static double ph_of(double wa, double wb)
{
    double lo = 0, hi = 14;
    for (int i = 0; i < 40; i++) {
        double x = (lo + hi) / 2, ten = 2.302585092994046;
        double a = rh_exp(ten * (6.35 - x)), b = rh_exp(ten * (x - 10.25));
        double charge =
            wa + rh_exp(ten * (x - 14)) - rh_exp(-ten * x) + wb * (1 + 2 * b) / (1 + a + b);
        *(charge < 0 ? &lo : &hi) = x;
    }
    return lo;
}

static void start(double *s, rh_rng *rng)
{
    s[WA] = -4.32e-4 + 3e-4 * rh_rng_range(rng, -1, 1);
    s[WB] = 5.28e-4;
    s[LEVEL] = 14;
    s[Q1] = 16.6, s[Q2] = 0.55, s[Q3] = 15.6;
    for (int i = 0; i < DELAY; i++)
        s[QUEUE + i] = ph_of(s[WA], s[WB]);
    s[PH] = s[QUEUE];
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    s[Q1] = plant_clip(s[Q1] + 0.02 * (16.6 - s[Q1]) + 0.1 * plant_normal(rng), 12, 21);
    s[Q2] = plant_clip(s[Q2] + 0.01 * (0.55 - s[Q2]) + 0.02 * plant_normal(rng), 0.1, 1.2);
    for (int i = 0; i < 5; i++) {      // 3 s
        s[Q3] += 0.4 * (a[0] - s[Q3]); // the valve
        double volume = 207 * s[LEVEL], out = 8.75 * sqrt(s[LEVEL]);
        s[WA] +=
            3 *
            (s[Q1] * (3e-3 - s[WA]) + s[Q2] * (-3e-2 - s[WA]) + s[Q3] * (-3.05e-3 - s[WA])) /
            volume;
        s[WB] += 3 * (s[Q1] * (0 - s[WB]) + s[Q2] * (3e-2 - s[WB]) + s[Q3] * (5e-5 - s[WB])) /
                 volume;
        s[LEVEL] = plant_clip(s[LEVEL] + 3 * (s[Q1] + s[Q2] + s[Q3] - out) / 207, 2, 30);
    }
    double now = ph_of(s[WA], s[WB]);
    s[PH] = plant_delay(s + QUEUE, DELAY, now);
    cost[0] = fabs(now - 7);
    cost[1] = a[0] / 30;
    return false;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double error = 7 - obs[0];
    a[0] = plant_clip((good ? 0.94 * obs[2] : 15.6) +
                          (good ? plant_pi(&m[0], error, 0.6, 0.06, -15, 15) : 6 * error),
                      0, 30);
}

const plant plant_ph = {
    .name = "ph",
    .about = "neutralise an acid stream with base",
    .sensor = {{"pH", 3, 11, 0.03},
               {"level", 8, 20, 0.02},
               {"acid_flow", 12, 21, 0.05},
               {"base_flow", 0, 30, 0.05}},
    .action = {{"base_valve", 0, 30}},
    .cost = {{"pH_error", 1}, {"base", 0.2}},
    .seconds = 15,
    .nstep = 240,
    .episode = "shift",
    PLANT_CALLS,
};
