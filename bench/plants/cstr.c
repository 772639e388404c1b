// cstr.c - an exothermic reactor at its unstable point. Hidden: the concentration between
// samples of a slow analyser; the feed. Too hot: a trip.
//
// The reactor of Henson and Seborg (1997), Nonlinear Process Control, Prentice Hall, chapter 1
// (after Uppal, Ray and Poore, 1974): A -> B, cooled by a jacket.

#include "plant.h"

enum { T, JACKET, ANALYSER, TF, CA, CAF, QUEUE, DELAY = 4 };

static void start(double *s, rh_rng *rng)
{
    s[CA] = rh_rng_range(rng, 0.47, 0.53);
    s[T] = rh_rng_range(rng, 347, 352);
    s[TF] = 350;
    s[CAF] = 1;
    s[JACKET] = 300;
    for (int i = 0; i < DELAY; i++)
        s[QUEUE + i] = s[CA];
    s[ANALYSER] = s[CA];
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    s[TF] += 0.05 * (350 - s[TF]) + 0.2 * plant_normal(rng);
    s[CAF] += 0.05 * (1 - s[CAF]) + 0.004 * plant_normal(rng);
    for (int i = 0; i < 10; i++) { // 0.005 min
        const double dt = 0.005;
        double rate = 7.2e10 * rh_exp(-8750 / s[T]) * s[CA];
        s[JACKET] += dt * 10 * (a[0] - s[JACKET]); // the jacket follows in 0.1 min
        s[CA] = fmax(0, s[CA] + dt * ((s[CAF] - s[CA]) - rate));
        s[T] = plant_clip(
            s[T] + dt * ((s[TF] - s[T]) + 209.2 * rate + 2.092 * (s[JACKET] - s[T])), 280, 500);
    }
    s[ANALYSER] = plant_delay(s + QUEUE, DELAY, s[CA]);
    cost[0] = fabs(s[CA] - 0.5);
    cost[1] = fabs(a[0] - 300) / 100;
    return s[T] > 385;
}

static void control(double *m, const double *obs, bool good, double *a)
{
    double error = 350 - obs[0];
    a[0] = 300 + (good ? plant_pi(&m[0], error, 3.5, 0.02, -20, 20)
                       : plant_pi(&m[0], error, 1.7, 0.01, -20, 20));
}

const plant plant_cstr = {
    .name = "cstr",
    .about = "hold an exothermic reactor at its unstable steady state",
    .sensor = {{"T", 320, 390, 0.2},
               {"T_jacket", 280, 320, 0.2},
               {"CA_analyser", 0, 1, 0.005},
               {"T_feed", 346, 354, 0.1}},
    .action = {{"T_coolant", 280, 320}},
    .cost = {{"off_target", 10}, {"cooling", 1}},
    .trip = 50,
    .seconds = 3,
    .nstep = 150,
    .episode = "run",
    PLANT_CALLS,
};
