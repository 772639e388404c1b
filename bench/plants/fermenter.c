// fermenter.c - a fed batch: four feeds. Hidden: substrate and inhibition. It trips where it
// overflows.
//
// Growth inhibited by the substrate (Haldane), as in Bastin and Dochain (1990), On-line
// Estimation and Adaptive Control of Bioreactors, Elsevier. Sizes by hand.

#include "plant.h"

enum { BIOMASS, OXYGEN, VOLUME, CLOCK, SUBSTRATE, VIGOUR };

static void start(double *s, rh_rng *rng)
{
    s[BIOMASS] = rh_rng_range(rng, 1, 2);
    s[OXYGEN] = 90;
    s[VOLUME] = rh_rng_range(rng, 4, 5);
    s[SUBSTRATE] = rh_rng_range(rng, 1, 4);
    s[VIGOUR] = rh_rng_range(rng, 0.9, 1.1);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double feed = 0.03 * a[0], grown = 0; // litres per step, 200 g/l
    for (int i = 0; i < 10; i++) {
        double g = s[SUBSTRATE], mu = s[VIGOUR] * 0.5 * g / (0.5 + g + g * g / 25);
        double more = 0.01 * mu * s[BIOMASS], dilute = 0.1 * feed / s[VOLUME];
        s[BIOMASS] += more - dilute * s[BIOMASS];
        s[SUBSTRATE] = fmax(0, g - 2 * more + dilute * (200 - g));
        s[VOLUME] += 0.1 * feed;
        grown += more * s[VOLUME];
    }
    s[OXYGEN] += 0.5 * (100 - 10 * grown - s[OXYGEN]) + 0.3 * plant_normal(rng);
    s[VIGOUR] = plant_clip(s[VIGOUR] + 0.01 * plant_normal(rng), 0.8, 1.2);
    s[CLOCK] += 1;
    cost[0] = -grown;
    cost[1] = feed;
    cost[2] = fmax(0, 30 - s[OXYGEN]) / 10;
    return s[VOLUME] > 10;
}

// Good: an exponential profile, corrected by the oxygen that is left. Poor: one feed.
static void control(double *m, const double *obs, bool good, double *a)
{
    double level = good ? 0.12 * rh_exp(0.034 * obs[3]) + 0.01 * (obs[1] - 60) : 0.8;
    m[0] += plant_clip(level, 0, 3);
    a[0] = floor(m[0]);
    m[0] -= a[0];
    if (obs[2] > (good ? 9.3 : 9.8))
        a[0] = 0;
}

const plant plant_fermenter = {
    .name = "fermenter",
    .about = "grow biomass in a fed batch with four feeds",
    .sensor = {{"biomass", 0, 60, 0.3},
               {"oxygen", 0, 100, 1},
               {"volume", 3, 10, 0.01},
               {"hours_10", 0, 120}},
    .action = {{"feed", 0, 3}},
    .nlevel = 4,
    .cost = {{"growth", 2}, {"feed_used", 2}, {"short_of_oxygen", 1}},
    .trip = 30,
    .seconds = 360,
    .nstep = 120,
    .episode = "batch",
    PLANT_CALLS,
};
