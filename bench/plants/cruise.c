// cruise.c - a car follows another one at a distance of 1.5 s. Hidden: the drive's lag, the
// slope. It trips where the cars touch.
//
// The policy of constant time headway of Ioannou and Chien (1993), Autonomous intelligent
// cruise control, IEEE Transactions on Vehicular Technology 42, 657-672. Sizes by hand.

#include "plant.h"

enum { GAP, SPEED, CLOSING, PULL, LEAD, AIM, SLOPE };

static void start(double *s, rh_rng *rng)
{
    s[LEAD] = s[AIM] = rh_rng_range(rng, 15, 25);
    s[SPEED] = s[LEAD] + rh_rng_range(rng, -2, 2);
    s[GAP] = 5 + 1.5 * s[SPEED] + rh_rng_range(rng, -5, 15);
    s[CLOSING] = s[LEAD] - s[SPEED];
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double before = s[PULL];
    if (rh_rng_uniform(rng) < 0.02)
        s[AIM] = rh_rng_range(rng, 8, 30);
    s[SLOPE] = 0.97 * s[SLOPE] + 0.05 * plant_normal(rng);
    double lead = plant_clip(0.2 * (s[AIM] - s[LEAD]), -3, 1.5);
    s[LEAD] += 0.5 * lead;
    s[PULL] += 0.5 * (a[0] - s[PULL]);
    s[SPEED] = fmax(0, s[SPEED] + 0.5 * (s[PULL] - s[SLOPE] - 0.0004 * s[SPEED] * s[SPEED]));
    s[GAP] = fmin(120, s[GAP] + 0.5 * (s[LEAD] - s[SPEED]));
    s[CLOSING] = s[LEAD] - s[SPEED];
    cost[0] = fmin(fabs(s[GAP] - 5 - 1.5 * s[SPEED]), 30) / 10;
    cost[1] = fabs(s[PULL] - before);
    cost[2] = fmax(0, s[PULL]);
    return s[GAP] < 0;
}

// The poor driver looks at the distance alone.
static void control(double *m, const double *obs, bool good, double *a)
{
    double error = obs[0] - 5 - 1.5 * obs[1];
    a[0] = good ? plant_pi(m, error, 0.08, 0.0005, -2, 2) + 0.5 * obs[2] + 0.15
                : 0.12 * error + 0.1 * obs[2];
    a[0] = plant_clip(a[0], -4, 2);
}

const plant plant_cruise = {
    .name = "cruise",
    .about = "a car follows another one at a distance of 1.5 s",
    .sensor = {{"gap", 0, 120, 0.3}, {"speed", 0, 35, 0.1}, {"closing", -12, 12, 0.15}},
    .action = {{"pull", -4, 2}},
    .cost = {{"distance", 1}, {"jerk", 0.3}, {"fuel", 0.2}},
    .trip = 100,
    .seconds = 0.5,
    .nstep = 240,
    .episode = "drive",
    PLANT_CALLS,
};
