// four_tank.c - two pumps, four coupled tanks. Hidden: the upper tanks. Setpoints move.
//
// Johansson (2000), The quadruple-tank process: a multivariable laboratory process with an
// adjustable zero, IEEE Transactions on Control Systems Technology 8, 456-465; its
// minimum-phase operating point: cm, cm2, volts, seconds.

#include "plant.h"

enum { H1, H2, H3, H4, SP1, SP2 };

static void start(double *s, rh_rng *rng)
{
    s[H1] = rh_rng_range(rng, 9, 15);
    s[H2] = rh_rng_range(rng, 9, 15);
    s[H3] = s[H4] = rh_rng_range(rng, 1, 2.5);
    s[SP1] = rh_rng_range(rng, 9, 16);
    s[SP2] = rh_rng_range(rng, 9, 16);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    static const double area[4] = {28, 32, 28, 32}, hole[4] = {0.071, 0.057, 0.071, 0.057};
    double f1 = 3.33 * a[0], f2 = 3.35 * a[1], out[4];
    const double in[4] = {0.7 * f1, 0.6 * f2, 0.4 * f2, 0.3 * f1};
    for (int i = 0; i < 5; i++) { // seconds
        for (int k = 0; k < 4; k++)
            out[k] = hole[k] * sqrt(2 * 981 * fmax(s[k], 0));
        for (int k = 0; k < 4; k++)
            s[k] = fmax(0, s[k] + (in[k] - out[k] + (k < 2 ? out[k + 2] : 0)) / area[k] +
                               0.01 * plant_normal(rng));
    }
    cost[0] = fabs(s[H1] - s[SP1]) + fabs(s[H2] - s[SP2]);
    cost[1] = (a[0] + a[1]) / 10;
    for (int k = 0; k < 2; k++)
        if (rh_rng_uniform(rng) < 0.01)
            s[SP1 + k] = rh_rng_range(rng, 9, 16);
    return s[H1] > 20 || s[H2] > 20 || s[H3] > 20 || s[H4] > 20; // a tank overflows
}

static void show(const double *s, double *obs)
{
    obs[0] = s[H1], obs[1] = s[H2], obs[2] = s[SP1], obs[3] = s[SP2];
}

static void control(double *m, const double *obs, bool good, double *a)
{
    for (int i = 0; i < 2; i++) {
        double error = obs[2 + i] - obs[i];
        a[i] = good           ? plant_clip(3 + plant_pi(&m[i], error, 1.5, 0.05, -3, 7), 0, 10)
               : error > 0.5  ? 6
               : error < -0.5 ? 1
                              : 3;
    }
}

const plant plant_four_tank = {
    .name = "four_tank",
    .about = "hold the levels of two tanks with two pumps through two others",
    .sensor = {{"h1", 0, 20, 0.05}, {"h2", 0, 20, 0.05}, {"h1_sp", 9, 16}, {"h2_sp", 9, 16}},
    .action = {{"v1", 0, 10}, {"v2", 0, 10}},
    .cost = {{"error", 0.2}, {"power", 0.1}},
    .trip = 50,
    .seconds = 5,
    .nstep = 200,
    .episode = "run",
    PLANT_CALLS,
    .show = show,
};
