// my_tank.c - an environment of your own: a tank that must neither run dry nor overflow.
//
//     level += inflow - pump * step        a random walk of the inflow, three speeds of the
//     pump reward = -energy of the pump; an overflow or a dry tank costs 50 and ends the
//     episode

#include "my_plugin.h"

enum { STEP, NPARAM };

static const rh_param param[NPARAM] = {
    [STEP] = {"step", "what the pump takes out in a step, m3 per speed", .lo = 0.01, .hi = 1.0,
              .initial = 0.2},
};

// Does not change after init.
typedef struct my_tank {
    double step;
} my_tank;

// What changes during a run.
typedef struct tank_state {
    double level;  // m3, 0 to 10
    double inflow; // m3 per step
} tank_state;

static rh_status tank_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)err;
    my_tank *tank = self;
    tank->step = opt[STEP];
    task->nobs = 2;
    task->naction = 3;
    task->nact = 1;
    task->gamma = 0.99;
    task->reward_lo = -52.0;
    task->nstep = 10000;
    task->obs_name[0] = "level";
    task->obs_lo[0] = 0.0;
    task->obs_hi[0] = 10.0;
    task->obs_name[1] = "inflow";
    task->obs_lo[1] = 0.0;
    task->obs_hi[1] = 0.4;
    return RH_OK;
}

static void show(const tank_state *s, double *obs)
{
    obs[0] = s->level;
    obs[1] = s->inflow;
}

static void tank_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    (void)self;
    tank_state *s = state;
    s->level = rh_rng_range(&streams->start, 3.0, 7.0);
    s->inflow = rh_rng_range(&streams->start, 0.1, 0.3);
    show(s, obs);
}

static bool tank_step(const void *self, void *state, const double *act, rh_streams *streams,
                      double *obs, double *reward)
{
    const my_tank *tank = self;
    tank_state *s = state;
    s->inflow += rh_rng_range(&streams->noise, -0.02, 0.02);
    s->inflow = s->inflow < 0.0 ? 0.0 : s->inflow > 0.4 ? 0.4 : s->inflow;
    s->level += s->inflow - act[0] * tank->step;
    bool lost = s->level < 0.0 || s->level > 10.0;
    *reward = -act[0] * act[0] / 2.0 - (lost ? 50.0 : 0.0);
    show(s, obs);
    return lost;
}

const rh_env_type my_tank_type = {
    .name = "my_tank",
    .about = "keep a tank from running dry and from overflowing",
    .self_size = sizeof(my_tank),
    .state_size = sizeof(tank_state),
    .param = param,
    .nparam = NPARAM,
    .init = tank_init,
    .start = tank_start,
    .step = tank_step,
};
