// distillation.c - a methanol column: reflux and steam. Dead times of 1 to 8 steps; feed.
//
// The transfer functions of Wood and Berry (1973), Terminal composition control of a binary
// distillation column, Chemical Engineering Science 28, 1707-1717, minutes, deviations from
// 96.25 and 0.5 per cent methanol, 1.95 and 1.71 lb/min; feed flow as the disturbance.

#include "plant.h"

enum { LAG, FEED = LAG + 6, XD, XB, SP, Q = 10, MOST = 8 };
static const double gain[6] = {12.8, -18.9, 6.6, -19.4, 3.8, 4.9};
static const double lag[6] = {16.7, 21.0, 10.9, 14.4, 14.9, 13.2};
static const int dead[6] = {1, 3, 7, 3, 8, 3};

static void start(double *s, rh_rng *rng)
{
    for (int i = 0; i < 6; i++)
        s[LAG + i] = rh_rng_range(rng, -0.5, 0.5);
    s[XD] = s[LAG] + s[LAG + 1] + s[LAG + 4];
    s[XB] = s[LAG + 2] + s[LAG + 3] + s[LAG + 5];
    s[SP] = rh_rng_range(rng, -0.75, 0.75);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    s[FEED] = 0.95 * s[FEED] + 0.03 * plant_normal(rng);
    const double in[6] = {a[0] - 1.95, a[1] - 1.71, a[0] - 1.95, a[1] - 1.71, s[FEED], s[FEED]};
    for (int i = 0; i < 6; i++) {
        double u = plant_delay(s + Q + i * MOST, dead[i], in[i]);
        s[LAG + i] += (gain[i] * u - s[LAG + i]) / lag[i];
    }
    s[XD] = plant_clip(s[LAG] + s[LAG + 1] + s[LAG + 4], -10, 3);
    s[XB] = plant_clip(s[LAG + 2] + s[LAG + 3] + s[LAG + 5], -0.5, 10);
    cost[0] = fabs(s[XD] - s[SP]) + fabs(s[XB]);
    cost[1] = a[1];
    if (rh_rng_uniform(rng) < 0.008)
        s[SP] = rh_rng_range(rng, -0.75, 0.75);
    return false;
}

// Compositions, and trays between them: a profile that both ends move.
static void show(const double *s, double *obs)
{
    obs[0] = 96.25 + s[XD], obs[1] = 0.5 + s[XB], obs[2] = 2.45 + s[FEED],
    obs[3] = 96.25 + s[SP];
    for (int i = 0; i < 4; i++)
        obs[4 + i] = 68 + 8 * i - (0.8 - 0.2 * i) * s[XD] - (0.2 + 0.2 * i) * s[XB];
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double slow = good ? 1 : 0.2, top = obs[3] - obs[0], bottom = 0.5 - obs[1];
    a[0] = 1.95 + plant_pi(&m[0], top, 0.2 * slow, 0.02 * slow, -0.6, 0.6);
    a[1] = 1.71 + plant_pi(&m[1], bottom, -0.07 * slow, -0.007 * slow, -0.5, 0.5);
}

const plant plant_distillation = {
    .name = "distillation",
    .about = "hold the purities of a column with reflux and steam",
    .sensor = {{"x_top", 93, 99, 0.05},
               {"x_bottom", 0, 4, 0.05},
               {"feed", 2, 3, 0.01},
               {"x_top_sp", 95, 97},
               {"tray_7", 64, 72, 0.2},
               {"tray_5", 72, 80, 0.2},
               {"tray_3", 80, 88, 0.2},
               {"tray_1", 88, 96, 0.2}},
    .action = {{"reflux", 1.35, 2.55}, {"steam", 1.21, 2.21}},
    .cost = {{"impurity", 1}, {"steam_used", 0.2}},
    .seconds = 60,
    .nstep = 300,
    .episode = "shift",
    PLANT_CALLS,
    .show = show,
};
