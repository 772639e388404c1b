// wwtp.c - a sewage works: air and recycle for five tanks. Hidden: substrate, most of the
// tanks; the ammonia analyser is half an hour late. Exogenous: inflow, rain, temperature.
//
// The plant of Alex et al. (2008), Benchmark Simulation Model no. 1 (BSM1), IWA Task Group on
// Benchmarking of Control Strategies: two anoxic and three aerated tanks, flows and loads, and
// of Activated Sludge Model no. 1 the growth of both kinds of bacteria, with constant biomass.

#include "plant.h"

enum { SS, NH, NO, O2, N }; // of a tank
enum { LAST = 4 * N, NH_IN = 5 * N, RAIN, FLOW, TW, HOUR, AIR, BACK, LATE, Q };

static void world(double *s, rh_rng *rng)
{
    s[RAIN] = rh_rng_uniform(rng) < 0.004 ? 1 : 0.97 * s[RAIN];
    s[TW] += 0.002 * (15 - s[TW]) + 0.03 * plant_normal(rng);
    s[FLOW] = 18446 * (1 - 0.3 * plant_cold(s[HOUR]) + 1.2 * s[RAIN]) *
              (1 + 0.02 * plant_normal(rng));
    s[NH_IN] = 31.6 * (1 - 0.25 * plant_cold(s[HOUR])) / (1 + 0.8 * s[RAIN]);
}

static void start(double *s, rh_rng *rng)
{
    for (int i = 0; i < LAST + N; i++)
        s[i] = (const double[]){2, 5, 8, 0.5}[i % N];
    s[TW] = rh_rng_range(rng, 13, 17), s[AIR] = 100, s[BACK] = 40000;
    world(s, rng);
}

// A tank for dt days; d inflows a day, and what comes with them. Sinks are implicit.
static void react(double *x, const double *in, double d, const double *s, double air, double dt)
{
    double load = s[FLOW] / 18446, warm = rh_exp(0.07 * (s[TW] - 15)),
           grow = 10200 * warm * x[SS] / (10 + x[SS]), aerobic = grow * x[O2] / (0.2 + x[O2]),
           anoxic = 0.16 * grow / (0.2 + x[O2]) * x[NO] / (0.5 + x[NO]),
           nitrify = 74 * warm * x[NH] / (1 + x[NH]) * x[O2] / (0.4 + x[O2]);
    const double from[N] = {600 * load, 54 * load, nitrify / 0.24, 8 * air},
                 to[N] = {(aerobic + anoxic) / 0.67, 0.08 * (aerobic + anoxic) + 4.25 * nitrify,
                          0.172 * anoxic, 0.49 * aerobic + 18 * nitrify + air * x[O2]};
    for (int k = 0; k < N; k++)
        x[k] = (x[k] + dt * (d * in[k] + from[k])) / (1 + dt * (d + to[k] / fmax(x[k], 1e-6)));
}

static bool step(double *s, const double *a, rh_rng *rng, double *cost)
{
    s[AIR] += 0.6 * (a[0] - s[AIR]), s[BACK] += 0.9 * (a[1] - s[BACK]);
    for (int n = 0; n < 30; n++) { // half a minute; 18446 m3 a day come back from the settler
        double back = s[BACK] + 18446, flow = s[FLOW] + back;
        double in[N] = {s[FLOW] * 69.5 / (1 + 0.8 * s[RAIN]), s[FLOW] * s[NH_IN]};
        for (int k = 0; k < N; k++)
            in[k] = (in[k] + back * s[LAST + k]) / flow;
        for (int i = 0; i < 5; memcpy(in, s + i++ * N, sizeof in))
            react(s + i * N, in, flow / (i < 2 ? 1000 : 1333), s, i < 2 ? 2 : s[AIR],
                  1 / 2880.);
    }
    cost[0] = s[LAST + NH], cost[1] = s[LAST + NO], cost[2] = s[AIR] / 240 + s[BACK] / 368920;
    s[LATE] = plant_delay(s + Q, 2, s[LAST + NH]), s[HOUR] = plant_later(s[HOUR], 0.25);
    world(s, rng);
    return false;
}

static void show(const double *s, double *obs)
{
    const double *mid = s + 2 * N, *end = s + LAST;
    obs[0] = s[FLOW] / 1000, obs[1] = s[NH_IN], obs[2] = s[TW], obs[3] = s[RAIN];
    obs[4] = s[HOUR], obs[5] = mid[O2], obs[6] = mid[N + O2], obs[7] = end[O2];
    obs[8] = mid[NH], obs[9] = s[LATE], obs[10] = s[N + NO], obs[11] = end[NO];
    obs[12] = s[AIR], obs[13] = s[BACK] / 1000, obs[14] = 8 + 6 * s[RAIN];
    obs[15] = 7.4 - 0.02 * end[NO] + 0.01 * end[NH], obs[16] = 15 * s[NO] - 200;
    obs[17] = 2.5 * s[AIR] + s[BACK] / 2500;
}

// Good: air by ammonia and inflow, recycle by nitrate of the second tank. Poor: oxygen held.
static void control(double *m, const double *obs, bool good, double *a)
{
    double need = 3 * (obs[0] - 18.4) + plant_pi(&m[0], obs[9] - 3, 6, 0.15, -90, 110);
    a[0] = good ? plant_clip(105 + need, 10, 240)
                : 110 + plant_pi(&m[1], 1 - obs[5], 40, 2, -80, 130);
    a[1] = good ? 45000 + plant_pi(&m[2], 1 - obs[10], 8000, 300, -40000, 45000) : 60000;
}

const plant plant_wwtp = {
    .name = "wwtp",
    .about = "remove nitrogen from sewage with little air",
    .sensor = {{"flow_in", 5, 60, 0.3},
               {"NH_in", 10, 45, 1},
               {"T_water", 8, 22, 0.05},
               {"rain", 0, 1, 0.01},
               {"hour", 0, 24},
               {"O2_3", 0, 8, 0.05},
               {"O2_4", 0, 8, 0.05},
               {"O2_5", 0, 8, 0.05},
               {"NH_3", 0, 30, 0.3},
               {"NH_5", 0, 30, 0.2},
               {"NO_2", 0, 20, 0.2},
               {"NO_5", 0, 30, 0.2},
               {"air", 0, 240, 1},
               {"recycle", 0, 93, 0.5},
               {"turbidity", 5, 20, 1.5},
               {"pH", 6.5, 8, 0.03},
               {"redox", -300, 200, 8},
               {"power", 0, 650, 3}},
    .action = {{"air_set", 0, 240}, {"recycle_set", 0, 92230}},
    .cost = {{"ammonia", 1}, {"nitrate", 0.3}, {"energy", 6}},
    .seconds = 900,
    PLANT_CALLS,
    .show = show,
};
