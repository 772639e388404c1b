// dc_motor.c - the speed of a DC motor, five voltages. Hidden: the current and the load.
//
// J w' = K i - b w - load,  L i' = V - R i - K w: the motor of Messner and Tilbury, Control
// Tutorials for Matlab and Simulink, DC Motor Speed, University of Michigan (J 0.01, b 0.1,
// K 0.01, R 1, L 0.5), with voltages scaled to reach 2 rad/s, and a load that changes.

#include "plant.h"

enum { SPEED, SP, ACTED, CURRENT, LOAD };

static void start(double *s, rh_rng *rng)
{
    s[SPEED] = rh_rng_range(rng, 0, 1);
    s[SP] = rh_rng_range(rng, 0.3, 1.5);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double volts = 6 * a[0];
    for (int i = 0; i < 10; i++) { // 10 ms
        s[CURRENT] += 0.01 * (volts - s[CURRENT] - 0.01 * s[SPEED]) / 0.5;
        s[SPEED] += 0.01 * (0.01 * s[CURRENT] - 0.1 * s[SPEED] - s[LOAD]) / 0.01;
    }
    if (rh_rng_uniform(rng) < 0.03)
        s[LOAD] = rh_rng_range(rng, 0, 0.05);
    cost[0] = fabs(s[SPEED] - s[SP]);
    cost[1] = s[CURRENT] * s[CURRENT] / 600;
    cost[2] = fabs(a[0] - s[ACTED]);
    s[ACTED] = a[0];
    if (rh_rng_uniform(rng) < 0.015)
        s[SP] = rh_rng_range(rng, 0.3, 1.5);
    return s[SPEED] > 2.15; // overspeed
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double error = obs[1] - obs[0];
    double u = good ? plant_pi(&m[0], error, 1.2, 0.3, 0, 4) + 0.5 : error > 0 ? 4 : 0;
    a[0] = floor(plant_clip(u, 0, 4));
}

const plant plant_dc_motor = {
    .name = "dc_motor",
    .about = "a motor follows a speed with five voltages and an unknown load",
    .sensor = {{"speed", -0.5, 2.2, 0.02}, {"speed_sp", 0.3, 1.5}, {"voltage_step", 0, 4}},
    .action = {{"voltage", 0, 4}},
    .nlevel = 5,
    .cost = {{"error", 1}, {"losses", 0.2}, {"switching", 0.02}},
    .trip = 20,
    .seconds = 0.1,
    .nstep = 150,
    .episode = "test",
    PLANT_CALLS,
};
