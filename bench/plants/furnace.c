// furnace.c - a gas furnace with six steps of dead time. Hidden: dead time, the charge's mass.
//
// First order with dead time, K exp(-L s) / (1 + T s), the process of most tuning rules: Astrom
// and Hagglund (2006), Advanced PID Control, ISA; here L / T = 0.5, a second lag for the
// brickwork, and cold charges that arrive by a schedule. Too hot: the burner trips.

#include "plant.h"

enum { GAS, BRICK, SP, NEXT, COLD, QUEUE, DELAY = 6 };

static void start(double *s, rh_rng *rng)
{
    s[GAS] = rh_rng_range(rng, 780, 840);
    s[BRICK] = s[GAS] - 20;
    s[NEXT] = rh_rng_range(rng, 10, 30);
    s[SP] = 850;
    for (int i = 0; i < DELAY; i++)
        s[QUEUE + i] = 55;
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double burnt = plant_delay(s + QUEUE, DELAY, a[0]);
    s[GAS] += (25 + 15.5 * burnt - 0.6 * (s[GAS] - s[BRICK]) - s[GAS] - s[COLD]) / 12 +
              0.8 * plant_normal(rng);
    s[BRICK] += 0.02 * (s[GAS] - s[BRICK]);
    s[COLD] *= 0.9;
    if (--s[NEXT] <= 0) { // a cold charge of unknown mass
        s[COLD] += rh_rng_range(rng, 60, 260);
        s[NEXT] = 25;
    }
    cost[0] = fabs(s[GAS] - s[SP]) / 10;
    cost[1] = a[0] / 100;
    if (rh_rng_uniform(rng) < 0.006)
        s[SP] = rh_rng_range(rng, 800, 900);
    return s[GAS] > 980;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double error = obs[2] - obs[0];
    a[0] = good ? plant_clip(53.2 + plant_pi(&m[0], error, 0.055, 0.0045, -50, 46), 0, 100)
                : plant_clip(53.2 + plant_pi(&m[0], error, 0.15, 0.006, -50, 46), 0, 100);
}

const plant plant_furnace = {
    .name = "furnace",
    .about = "hold a furnace at its temperature through six steps of dead time",
    .sensor = {{"T_gas", 650, 980, 1},
               {"T_brick", 700, 900, 1},
               {"T_sp", 800, 900},
               {"next_charge", 0, 30}},
    .action = {{"gas_valve", 0, 100}},
    .cost = {{"deviation", 1}, {"gas", 1}},
    .trip = 200,
    .seconds = 30,
    .nstep = 200,
    .episode = "shift",
    PLANT_CALLS,
};
