// servo.c - a drive follows an angle with seven torques. Hidden: the speed, friction, the load.
//
// A rotating mass with viscous and Coulomb friction (Olsson, Astrom, Canudas de Wit, Gafvert
// and Lischinsky 1998, Friction models and friction compensation, European Journal of Control
// 4, 176-195), and a load that changes. Sizes by hand.

#include "plant.h"

enum { ANGLE, SP, CURRENT, SPEED, LOAD };

static void start(double *s, rh_rng *rng)
{
    s[ANGLE] = rh_rng_range(rng, -1, 1);
    s[SP] = rh_rng_range(rng, -2, 2);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double torque = a[0] - 3;
    for (int i = 0; i < 10; i++) { // 5 ms
        s[CURRENT] += 0.2 * (torque - s[CURRENT]);
        double drive = 8 * s[CURRENT] - 1.5 * s[SPEED] - s[LOAD], v = s[SPEED] + 0.005 * drive;
        double held = 0.005 * 2.5; // Coulomb friction
        s[SPEED] = v > held ? v - held : v < -held ? v + held : 0;
        s[ANGLE] += 0.005 * s[SPEED];
    }
    if (rh_rng_uniform(rng) < 0.02)
        s[LOAD] = rh_rng_range(rng, -3, 3);
    cost[0] = fabs(s[ANGLE] - s[SP]);
    cost[1] = s[CURRENT] * s[CURRENT] / 9;
    if (rh_rng_uniform(rng) < 0.015)
        s[SP] = rh_rng_range(rng, -2, 2);
    return fabs(s[ANGLE]) > 3.2;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double speed = m[1] > 0 ? (obs[0] - m[0]) / 0.05 : 0, error = obs[1] - obs[0];
    m[0] = obs[0];
    m[1] = 1;
    double u = good ? plant_pi(&m[2], error, 3, 0.06, -3, 3) - 0.45 * speed
                    : (error > 0.1    ? 2
                       : error < -0.1 ? -2
                                      : 0) -
                          0.3 * speed;
    a[0] = plant_clip(floor(u + 3.5), 0, 6);
}

const plant plant_servo = {
    .name = "servo",
    .about = "a drive follows an angle with seven torques",
    .sensor = {{"angle", -3.3, 3.3, 0.01}, {"angle_sp", -2, 2}, {"current", -3, 3, 0.02}},
    .action = {{"torque", 0, 6}},
    .nlevel = 7,
    .cost = {{"error", 1}, {"losses", 0.1}},
    .trip = 30,
    .seconds = 0.05,
    .nstep = 150,
    .episode = "test",
    PLANT_CALLS,
};
