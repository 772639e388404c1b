// env_internal.h - shared by the simulators: registration, states, small helpers.
//
// A state is what changes during a run. Only the simulator's own file and tests use it.

#ifndef REHEARSE_ENV_INTERNAL_H
#define REHEARSE_ENV_INTERNAL_H

#include "rehearse/contract.h"

#include <math.h>

extern const rh_env_type rh_env_acrobot;
extern const rh_env_type rh_env_cartpole;
extern const rh_env_type rh_env_mountain_car;
extern const rh_env_type rh_env_pendulum;
extern const rh_env_type rh_env_puddle_world;

// Choices of the option `start` (see rh_env_type): the starts of the task, or starts spread
// widely, for logs that should cover more of the state space.
enum { RH_ENV_START_NORMAL, RH_ENV_START_RANDOM };
extern const char *const rh_env__start_name[2];

// ---------------------------------------------------------------------------- states

typedef struct rh_env__acrobot_state {
    double q[4];    // theta1, theta2 and their speeds
    double trig[4]; // cos theta1, sin theta1, cos theta2, sin theta2
} rh_env__acrobot_state;

typedef struct rh_env__cartpole_state {
    double x, x_dot, theta, theta_dot;
} rh_env__cartpole_state;

typedef struct rh_env__mountain_car_state {
    double x, v;
} rh_env__mountain_car_state;

typedef struct rh_env__pendulum_state {
    double theta, omega; // 0 is upright
} rh_env__pendulum_state;

typedef struct rh_env__puddle_world_state {
    double x, y;
} rh_env__puddle_world_state;

// ---------------------------------------------------------------------------- small things

// Add a sensor to the task.
static inline void rh_env__sensor(rh_task *task, const char *name, double lo, double hi)
{
    task->obs_name[task->nobs] = name;
    task->obs_lo[task->nobs] = lo;
    task->obs_hi[task->nobs] = hi;
    task->nobs++;
}

// x clipped to [lo, hi]; lo when x is NAN.
static inline double rh_env__clip(double x, double lo, double hi)
{
    return x > lo ? (x < hi ? x : hi) : lo;
}

// The same angle in [-pi, pi].
static inline double rh_env__wrap(double angle)
{
    if (fabs(angle) <= M_PI)
        return angle;
    double turns = floor((angle + M_PI) / (2.0 * M_PI));
    return rh_env__clip(angle - turns * (2.0 * M_PI), -M_PI, M_PI);
}

#endif
