// chromatography.c - one batch: two proteins are eluted from a column, and one is collected.
// Hidden: what is where in the column. The detector sees their sum.
//
// Equilibrium stages with competitive Langmuir isotherms whose strength falls with the salt, as
// in Guiochon, Felinger, Shirazi and Katti (2006), Fundamentals of Preparative and Nonlinear
// Chromatography, 2nd edition, Academic Press; ten stages.

#include "plant.h"

enum { SALT, P = 10, W = 20, COUNT = 30, FLASK_P, FLASK_W, UV, COND, NCELL = 10 };

static void start(double *s, rh_rng *rng)
{
    s[P] = rh_rng_range(rng, 2.5, 4); // loaded in the first stages
    s[P + 1] = s[P] / 2;
    s[W] = rh_rng_range(rng, 1.5, 3);
    s[W + 1] = s[W] / 2;
}

// The share of what a stage holds that is dissolved and flows on.
static double free_share(double salt, double p, double w, bool product)
{
    double strength = rh_exp(-3.2 * salt) * (product ? 16 : 9);
    return (1 + p + w) / (1 + p + w + strength);
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double feed = (double)((int)a[0] >> 1) / 2, p = 0, w = 0, salt = feed; // salt 0, 0.5, 1
    for (int i = 0; i < NCELL; i++) {
        double out_p = 0.7 * s[P + i] * free_share(s[SALT + i], s[P + i], s[W + i], true);
        double out_w = 0.7 * s[W + i] * free_share(s[SALT + i], s[P + i], s[W + i], false);
        double old = s[SALT + i];
        s[P + i] += p - out_p, s[W + i] += w - out_w;
        s[SALT + i] += 0.7 * (salt - old);
        p = out_p, w = out_w, salt = old;
    }
    bool collect = (int)a[0] & 1;
    s[FLASK_P] += collect ? p : 0;
    s[FLASK_W] += collect ? w : 0;
    s[UV] = 100 * (p + 1.3 * w) + 0.3 * plant_normal(rng);
    s[COND] = salt;
    s[COUNT]++;
    cost[0] = collect ? 3 * w - p : 0; // product gained, impurity at three times its price
    cost[1] = 0.02 * feed + 0.02;      // salt and time
    return false;
}

static void show(const double *s, double *obs)
{
    obs[0] = s[UV], obs[1] = 10 + 40 * s[COND], obs[2] = s[COUNT],
    obs[3] = s[FLASK_P] + s[FLASK_W];
}

// Good: a gradient in two steps, and collecting after the first peak. Poor: one step, by the
// clock.
static void control(double *m, const double *obs, bool good, double *a)
{
    double n = obs[2], salt = good ? n < 10 ? 0 : n < 42 ? 1 : 2 : n < 5 ? 0 : 2;
    (void)m;
    bool collect = good ? n > 40 && obs[0] > 3 : n > 16 && n < 60;
    a[0] = 2 * salt + collect;
}

const plant plant_chromatography = {
    .name = "chromatography",
    .about = "separate a protein from another in a batch",
    .sensor = {{"UV", 0, 100, 0.3},
               {"conductivity", 10, 50, 0.2},
               {"volume", 0, 90},
               {"flask_mass", 0, 8, 0.02}},
    .action = {{"valves", 0, 5}},
    .nlevel = 6,
    .cost = {{"loss", 10}, {"buffer", 1}},
    .seconds = 20,
    .nstep = 90,
    .episode = "batch",
    PLANT_CALLS,
    .show = show,
};
