// drone.c - the altitude of a quadrotor. Hidden: vertical gusts, the lag of the rotors, the
// voltage of the battery. Hitting the ground or the ceiling is a trip.
//
// Vertical motion m z'' = thrust - m g - drag as in Mahony, Kumar and Corke (2012), Multirotor
// aerial vehicles: modeling, estimation, and control of quadrotor, IEEE Robotics and Automation
// Magazine 19(3), 20-32; sizes of a 0.5 kg vehicle.

#include "plant.h"

enum { Z, V, SP, THRUST, GUST, SAG };

static void start(double *s, rh_rng *rng)
{
    s[Z] = rh_rng_range(rng, 1.5, 2.5);
    s[THRUST] = 0.5 * 9.81;
    s[SAG] = rh_rng_range(rng, 0.9, 1);
    s[SP] = rh_rng_range(rng, 1.2, 3.8);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    s[GUST] = 0.95 * s[GUST] + 0.12 * plant_normal(rng);
    s[SAG] -= 0.0003 * a[0];      // the battery empties
    for (int i = 0; i < 5; i++) { // 10 ms
        s[THRUST] += 0.01 * (9.81 * a[0] * s[SAG] - s[THRUST]) / 0.08;
        double air = s[V] - s[GUST];
        s[V] = plant_clip(s[V] + 0.01 * (s[THRUST] - 0.5 * 9.81 - 0.15 * air * fabs(air)) / 0.5,
                          -8, 8);
        s[Z] += 0.01 * s[V];
    }
    cost[0] = fabs(s[Z] - s[SP]);
    cost[1] = a[0] * a[0];
    if (rh_rng_uniform(rng) < 0.01)
        s[SP] = rh_rng_range(rng, 1.2, 3.8);
    return s[Z] < 0.1 || s[Z] > 5;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double error = obs[2] - obs[0];
    a[0] =
        good ? plant_clip(0.53 + plant_pi(&m[0], error, 0.25, 0.002, -0.5, 0.5) - 0.18 * obs[1],
                          0, 1)
             : plant_clip(0.53 + 0.12 * error - 0.05 * obs[1], 0, 1);
}

const plant plant_drone = {
    .name = "drone",
    .about = "hold a quadrotor at its altitude in gusts",
    .sensor = {{"altitude", 0, 5, 0.02}, {"climb", -4, 4, 0.05}, {"altitude_sp", 1.2, 3.8}},
    .action = {{"throttle", 0, 1}},
    .cost = {{"error", 1}, {"power", 0.2}},
    .trip = 100,
    .seconds = 0.05,
    .nstep = 300,
    .episode = "flight",
    PLANT_CALLS,
};
