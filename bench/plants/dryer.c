// dryer.c - grain moves through a dryer of ten cells; the temperature of the air and the flow
// of grain are set. Twelve sensors. Hidden: the moisture inside. Exogenous: moisture in,
// weather.
//
// Thin-layer drying of first order (Lewis 1921, The rate of drying of solid materials,
// Industrial and Engineering Chemistry 13, 427-432) in a moving bed. Sizes by hand.

#include "plant.h"

enum { CELLS = 10, M = 0, T = M + CELLS, IN = T + CELLS, OUTSIDE, HOUR, BASE, NIGHT };

static void start(double *s, rh_rng *rng)
{
    s[BASE] = rh_rng_range(rng, 18, 24);
    s[IN] = s[BASE];
    s[HOUR] = rh_rng_range(rng, 0, 24);
    s[OUTSIDE] = 12;
    for (int i = 0; i < CELLS; i++) {
        s[M + i] = s[IN] - (s[IN] - 14) * (i + 1) / CELLS;
        s[T + i] = 45;
    }
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    double flow = a[1];
    s[HOUR] = plant_later(s[HOUR], 1.0 / 12);
    s[NIGHT] = 0.98 * s[NIGHT] + 0.2 * plant_normal(rng);
    s[OUTSIDE] = 12 - 6 * plant_cold(s[HOUR]) + s[NIGHT];
    if (rh_rng_uniform(rng) < 0.01)
        s[BASE] = rh_rng_range(rng, 17, 25); // another field
    s[IN] += 0.2 * (s[BASE] - s[IN]);
    for (int i = CELLS - 1; i >= 0; i--) {
        double rate = 0.011 * rh_exp(0.035 * (s[T + i] - 50)) * (s[M + i] - 8);
        double before = i ? s[M + i - 1] : s[IN], warm = i ? s[T + i - 1] : s[OUTSIDE];
        s[M + i] += 0.5 * flow * (before - s[M + i]) - 2 * rate;
        s[T + i] += 0.4 * (a[0] - s[T + i]) + 0.1 * flow * (warm - s[T + i]) - 4 * rate;
    }
    cost[0] = fabs(s[M + CELLS - 1] - 14) * flow;
    cost[1] = (a[0] - s[OUTSIDE]) / 60;
    cost[2] = 1 - flow;
    return false;
}

static void show(const double *s, double *obs)
{
    obs[0] = s[M + CELLS - 1], obs[1] = s[IN], obs[2] = s[OUTSIDE], obs[3] = s[HOUR];
    for (int i = 0; i < 8; i++)
        obs[4 + i] = s[T + i + 1];
}

// Good: the air by what comes in and what goes out. Poor: fixed air, the flow by what goes out.
static void control(double *m, const double *obs, bool good, double *a)
{
    double wet = obs[0] - 14;
    a[0] = good ? 60 + 2.2 * (obs[1] - 20) + plant_pi(m, wet, 1.5, 0.05, -12, 12) : 62;
    a[1] = good ? 0.62 : 0.6 - 0.08 * wet;
    a[0] = plant_clip(a[0], 35, 85);
    a[1] = plant_clip(a[1], 0.2, 1);
}

const plant plant_dryer = {
    .name = "dryer",
    .about = "dry grain to 14 per cent with the air's temperature and the flow of grain",
    .sensor = {{"moisture", 8, 25, 0.15},
               {"moisture_in", 15, 27, 0.2},
               {"T_outside", -5, 30, 0.1},
               {"hour", 0, 24},
               {"T_2", 20, 85, 0.3},
               {"T_3", 20, 85, 0.3},
               {"T_4", 20, 85, 0.3},
               {"T_5", 20, 85, 0.3},
               {"T_6", 20, 85, 0.3},
               {"T_7", 20, 85, 0.3},
               {"T_8", 20, 85, 0.3},
               {"T_9", 20, 85, 0.3}},
    .action = {{"T_air", 35, 85}, {"flow", 0.2, 1}},
    .cost = {{"off", 1}, {"heat", 0.3}, {"lost", 0.8}},
    .seconds = 300,
    PLANT_CALLS,
    .show = show,
};
