// crane.c - a gantry crane carries a load to its place. Hidden: how fast the load swings; wind.
//
// A trolley with commanded acceleration u and a rope of fixed length, as in Abdel-Rahman,
// Nayfeh and Masoud (2003), Dynamics and control of cranes: a review, Journal of Vibration and
// Control 9, 863-908:  x'' = u,  l th'' = -g sin th - u cos th - damping. Large swings trip the
// crane.

#include "plant.h"

enum { X, V, SWING, RATE, WIND, ACCEL };

static void start(double *s, rh_rng *rng)
{
    s[X] = rh_rng_range(rng, 0, 3);
    s[SWING] = rh_rng_range(rng, -0.05, 0.05);
    s[WIND] = rh_rng_range(rng, -0.1, 0.1);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double goal = 0.25 * (a[0] - 2);
    s[WIND] = 0.97 * s[WIND] + 0.02 * plant_normal(rng);
    for (int i = 0; i < 25; i++) {                  // 10 ms
        s[ACCEL] += 0.01 * (goal - s[ACCEL]) / 0.3; // the drive's own lag
        s[RATE] +=
            0.01 * (-9.81 * rh_sin(s[SWING]) - s[ACCEL] * rh_cos(s[SWING]) + s[WIND]) / 5 -
            0.0005 * s[RATE];
        s[SWING] += 0.01 * s[RATE];
        s[V] = plant_clip(s[V] + 0.01 * s[ACCEL], -1.5, 1.5);
        s[X] += 0.01 * s[V];
    }
    double load = s[X] + 5 * rh_sin(s[SWING]);
    cost[0] = fabs(load - 12) / 12;
    cost[1] = fabs(s[SWING]);
    cost[2] = fabs(goal);
    return fabs(s[SWING]) > 0.2 || s[X] < -1 || s[X] > 15; // sway limit, end stops
}

// Good: a position loop gives a speed, and the trolley moves after the load. Poor: no damping.
static void control(double *m, const double *obs, bool good, double *a)
{
    double swinging = (obs[2] - m[0]) / 0.25;
    m[0] = obs[2];
    double speed = plant_clip((12 - obs[0]) * 0.35, -1, 1);
    double u = (speed - obs[1]) * (good ? 1 : 2) + (good ? 2.5 * obs[2] + 0.8 * swinging : 0);
    a[0] = floor(plant_clip(u / 0.25, -2, 2) + 2.5);
}

const plant plant_crane = {
    .name = "crane",
    .about = "carry a hanging load to its place without swinging it",
    .sensor = {{"position", -1, 15, 0.01},
               {"speed", -1.5, 1.5, 0.01},
               {"sway", -0.25, 0.25, 0.003}},
    .action = {{"drive", 0, 4}},
    .nlevel = 5,
    .cost = {{"distance", 1}, {"swing", 2}, {"effort", 0.1}},
    .trip = 60,
    .seconds = 0.25,
    .nstep = 150,
    .episode = "move",
    PLANT_CALLS,
};
