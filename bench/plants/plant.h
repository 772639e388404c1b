// plant.h - a plant with its truth and its controllers: what one file of this folder defines.
//
// A plant has a hidden state of doubles. Sensors show part of it; a controller sees sensors
// only. The reward of a step is -(sum of weight * cost) - trip cost, so that a log has the
// parts as columns and the roles have the formula.

#ifndef REHEARSE_PLANT_H
#define REHEARSE_PLANT_H

#include <rehearse/contract.h>

#include <math.h>
#include <string.h>

enum {
    PLANT_STATE = 96,
    PLANT_MEMORY = 8,
    PLANT_SENSORS = 20,
    PLANT_ACTIONS = 3,
    PLANT_COSTS = 3
};

#define TAU 6.283185307179586 // 2 pi

typedef struct plant_signal {
    const char *name;
    double lo, hi; // usual range of a sensor, bounds of an action
    double noise;  // standard deviation of the measurement
} plant_signal;

typedef struct plant_cost {
    const char *name;
    double weight;
} plant_cost;

typedef struct plant {
    const char *name, *about;
    plant_signal sensor[PLANT_SENSORS + 1]; // a NULL name ends each list
    plant_signal action[PLANT_ACTIONS + 1];
    int nlevel; // discrete actions: 0 .. nlevel - 1; 0: action[] has bounds
    plant_cost cost[PLANT_COSTS + 1];
    double trip;         // cost of a trip; 0: it has none
    double seconds;      // of a step
    int nstep;           // steps of an episode; 0: the plant never stops
    const char *episode; // what an episode is called, NULL with nstep = 0

    void (*start)(double *s, rh_rng *rng);                               // s arrives zeroed
    bool (*step)(double *s, const double *a, rh_rng *rng, double *cost); // true: a trip
    void (*show)(const double *s, double *obs); // without noise; NULL: what s begins with
    // The logged controller; its memory m is zero when an episode begins.
    void (*control)(double *m, const double *obs, bool good, double *a);
} plant;

// The plants in alphabetical order, NULL after the last.
extern const plant *const plants[];

int plant_nsensor(const plant *p);
int plant_naction(const plant *p);
int plant_ncost(const plant *p);

void plant_start(const plant *p, double *s, rh_rng *rng, double *obs);
bool plant_step(const plant *p, double *s, const double *a, rh_rng *rng, double *obs,
                double *cost, double *reward);

// A controller at work, an operator's interventions included.
typedef struct plant_controller {
    const plant *plant; // borrowed
    bool good;
    double m[PLANT_MEMORY];
    int held; // steps for which the operator's action is kept
    double by_hand[PLANT_ACTIONS];
} plant_controller;

void plant_control_start(plant_controller *c);
void plant_control(plant_controller *c, const double *obs, rh_rng *rng, double *a);

// ---------------------------------------------------------------------------- for plants

static inline double plant_clip(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static inline double plant_normal(rh_rng *rng)
{
    double z[2];
    rh_rng_normal(rng, z);
    return z[0];
}

// What went into the queue n steps ago; x goes in now. Dead time.
static inline double plant_delay(double *queue, int n, double x)
{
    double out = queue[0];
    memmove(queue, queue + 1, (size_t)(n - 1) * sizeof *queue);
    queue[n - 1] = x;
    return out;
}

// The day: coldest at 3 (1 there, -1 at 15), sun from 6 to 18, and a clock.
static inline double plant_cold(double hour)
{
    return rh_cos(TAU * (hour - 3) / 24);
}

static inline double plant_sun(double hour)
{
    return plant_clip(rh_sin(TAU * (hour - 6) / 24), 0, 1);
}

static inline double plant_later(double hour, double hours)
{
    return hour + hours > 23.99 ? 0 : hour + hours; // ten minutes do not add up exactly
}

// A PI controller that stops integrating at its bounds.
static inline double plant_pi(double *sum, double error, double kp, double ki, double lo,
                              double hi)
{
    double u = kp * error + ki * (*sum + error);
    if (u > lo && u < hi)
        *sum += error;
    return plant_clip(u, lo, hi);
}

// The last lines of a plant's table.
#define PLANT_CALLS .start = start, .step = step, .control = control

#endif
