// wind_turbine.c - the pitch of a 5 MW turbine above its rated wind. Hidden: the wind on the
// rotor and the tower's motion; the anemometer is behind the rotor. Overspeed trips.
//
// Sizes of Jonkman, Butterfield, Musial and Scott (2009), Definition of a 5-MW reference wind
// turbine for offshore system development, NREL/TP-500-38060; the power coefficient of Heier
// (1998), Grid Integration of Wind Energy Conversion Systems, Wiley. Three rates of the blade's
// angle.

#include "plant.h"

enum { SPEED, PITCH, VANE, POWER, TOWER, WIND, MEAN, SWAY, GEN };

static double cp_of(double tip, double pitch)
{
    double inverse = 1 / (tip + 0.08 * pitch) - 0.035 / (pitch * pitch * pitch + 1);
    return plant_clip(0.5176 * (116 * inverse - 0.4 * pitch - 5) * rh_exp(-21 * inverse) +
                          0.0068 * tip,
                      0, 0.5);
}

static void start(double *s, rh_rng *rng)
{
    s[SPEED] = rh_rng_range(rng, 1.1, 1.27);
    s[MEAN] = rh_rng_range(rng, 13, 18);
    s[WIND] = s[MEAN];
    s[VANE] = 0.7 * s[WIND];
    s[POWER] = 5;
    s[PITCH] = 1.2 * (s[MEAN] - 8);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    s[MEAN] = plant_clip(s[MEAN] + 0.03 * plant_normal(rng), 12, 20);
    s[WIND] += 0.08 * (s[MEAN] - s[WIND]) + 0.35 * plant_normal(rng);
    double rate = 3 * (a[0] - 1);  // degrees per second
    for (int i = 0; i < 10; i++) { // 50 ms
        s[PITCH] = plant_clip(s[PITCH] + 0.05 * rate, 0, 30);
        double v = fmax(3, s[WIND] - s[SWAY]), area = 0.5 * 1.225 * 12469;
        double aero = area * v * v * v * cp_of(s[SPEED] * 63 / v, s[PITCH]) / s[SPEED];
        s[GEN] = fmin(5.3e6 / s[SPEED], 2.6e6 * s[SPEED] * s[SPEED]); // N m on the slow shaft
        s[SPEED] = fmax(0.3, s[SPEED] + 0.05 * (aero - s[GEN]) / 4.378e7);
        double push = (v * v * 0.0016 - 0.1) * (1 - s[PITCH] / 45);
        s[SWAY] += 0.05 * (push - 4.1 * s[TOWER] - 0.08 * s[SWAY]); // 0.32 Hz
        s[TOWER] += 0.05 * s[SWAY];
    }
    s[VANE] = 0.7 * s[WIND];
    s[POWER] = s[GEN] * s[SPEED] / 1e6 * 0.944;
    cost[0] = fabs(s[SPEED] - 1.267) * 10;
    cost[1] = fabs(s[SWAY]);
    cost[2] = fabs(rate) / 3;
    return s[SPEED] > 1.267 * 1.15;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double error = obs[0] - 1.267,
           wish = 10 + plant_pi(&m[0], error, good ? 100 : 45, good ? 10 : 3, -10, 20);
    double off = wish - obs[1];
    a[0] = off > 1 ? 2 : off < -1 ? 0 : 1;
}

const plant plant_wind_turbine = {
    .name = "wind_turbine",
    .about = "hold the speed of a wind turbine with the pitch of its blades",
    .sensor = {{"rotor_speed", 0.6, 1.5, 0.003},
               {"pitch", 0, 30, 0.1},
               {"anemometer", 6, 16, 0.8},
               {"power", 3, 6, 0.02},
               {"tower_top", -0.2, 0.3, 0.005}},
    .action = {{"pitch_drive", 0, 2}},
    .nlevel = 3,
    .cost = {{"speed_error", 1}, {"tower_load", 1}, {"wear", 0.1}},
    .trip = 100,
    .seconds = 0.5,
    .nstep = 240,
    .episode = "run",
    PLANT_CALLS,
};
