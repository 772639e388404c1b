// ball_beam.c - a ball on a beam follows a position. Unstable. Hidden: the ball's speed, the
// beam's rate. It trips where the ball falls off.
//
// x'' = 5/7 (x r'^2 - g sin r): Hauser, Sastry and Kokotovic (1992), Nonlinear control via
// approximate input-output linearization: the ball and beam example, IEEE Transactions on
// Automatic Control 37, 392-398. A drive of second order turns the beam. Sizes by hand.

#include "plant.h"

enum { X, ANGLE, SP, SPEED, RATE };

static void start(double *s, rh_rng *rng)
{
    s[X] = rh_rng_range(rng, -0.2, 0.2);
    s[SP] = rh_rng_range(rng, -0.25, 0.25);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double push = 0.1 * plant_normal(rng);
    for (int i = 0; i < 5; i++) { // 10 ms
        s[RATE] += 0.01 * (400 * (a[0] - s[ANGLE]) - 30 * s[RATE]);
        s[ANGLE] += 0.01 * s[RATE];
        s[SPEED] += 0.01 * (5.0 / 7 * (s[X] * s[RATE] * s[RATE] + 9.81 * rh_sin(s[ANGLE])) -
                            0.2 * s[SPEED] + push);
        s[X] += 0.01 * s[SPEED];
    }
    cost[0] = fabs(s[X] - s[SP]);
    cost[1] = a[0] * a[0];
    if (rh_rng_uniform(rng) < 0.01)
        s[SP] = rh_rng_range(rng, -0.25, 0.25);
    return fabs(s[X]) > 0.5;
}

// Proportional and derivative action; the poor one believes a noisy difference too much.
static void control(double *m, const double *obs, bool good, double *a)
{
    double share = good ? 0.35 : 0.8, now = obs[0];
    m[1] = m[2] > 0 ? m[1] + share * ((now - m[0]) / 0.05 - m[1]) : 0;
    m[0] = now;
    m[2] = 1;
    a[0] = plant_clip((good ? 0.5 : 0.35) * (obs[2] - now) - (good ? 0.42 : 0.3) * m[1], -0.25,
                      0.25);
}

const plant plant_ball_beam = {
    .name = "ball_beam",
    .about = "a ball on a beam follows a position",
    .sensor = {{"x", -0.5, 0.5, 0.003}, {"angle", -0.3, 0.3, 0.002}, {"x_sp", -0.25, 0.25}},
    .action = {{"angle_sp", -0.25, 0.25}},
    .cost = {{"error", 5}, {"effort", 1}},
    .trip = 60,
    .seconds = 0.05,
    .nstep = 200,
    .episode = "trial",
    PLANT_CALLS,
};
