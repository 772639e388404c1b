// mountain_car.c - a car too weak to climb the hill directly; it has to gain speed first.
//
// Sutton and Barto (2018), section 10.1, after Moore (1990). With the action a in {-1, 0, 1}:
//
//     v <- bound(v + 0.001 a - 0.0025 cos 3x)    to [-0.07, 0.07]
//     x <- bound(x + v)                          to [-1.2, 0.5]
//
// The left end stops the car; the right end is the goal. The reward is -1 on every step.
//
// 1. The right bound is the goal, as in the book. Gymnasium lets the car pass it, up to 0.6.
// 2. A random start is anywhere in the state space except the goal, at any speed.

#include "env_internal.h"

#include <assert.h>

enum { FORCE, GRAVITY, HILLS, MAX_SPEED, LEFT, GOAL, START_LO, START_HI, START, GAMMA, NPARAM };

static const rh_param param[NPARAM] = {
    [FORCE] = {"force", "speed that the motor adds in a step", .lo = 0.0, .hi = 1.0,
               .initial = 0.001},
    [GRAVITY] = {"gravity", "speed that the steepest slope adds in a step", .lo = 0.0,
                 .hi = 1.0, .initial = 0.0025},
    [HILLS] = {"hills", "the slope is cos(hills * x)", .lo = 0.1, .hi = 100.0, .initial = 3.0},
    [MAX_SPEED] = {"max_speed", "bound of the speed, per step", .lo = 1e-4, .hi = 10.0,
                   .initial = 0.07},
    [LEFT] = {"left", "left end, which stops the car", .lo = -100.0, .hi = 100.0,
              .initial = -1.2},
    [GOAL] = {"goal", "right end, where the episode ends", .lo = -100.0, .hi = 100.0,
              .initial = 0.5},
    [START_LO] = {"start_lo", "lowest position of a normal start, at rest", .lo = -100.0,
                  .hi = 100.0, .initial = -0.6},
    [START_HI] = {"start_hi", "highest position of a normal start, at rest", .lo = -100.0,
                  .hi = 100.0, .initial = -0.4},
    [START] = {"start", "normal: at rest in the valley; random: anywhere, at any speed",
               .lo = 0, .hi = 1, .initial = RH_ENV_START_NORMAL, .choice = rh_env__start_name},
    [GAMMA] = {"gamma", "discount", .lo = 0.0, .hi = 1.0, .initial = 1.0},
};

typedef struct mountain_car {
    double force, gravity, hills;
    double max_speed, left, goal;
    double start_lo, start_hi; // positions
    double start_speed;        // half-width of the starting speeds
} mountain_car;

static rh_status mountain_car_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    mountain_car *c = self;
    double left = opt[LEFT], lo = opt[START_LO], hi = opt[START_HI], goal = opt[GOAL];
    if (!(left <= lo && lo <= hi && hi < goal))
        return rh_fail(err, RH_EINVAL,
                       "mountain_car: left = %g, start_lo = %g, start_hi = %g, goal = %g, "
                       "expected ascending values",
                       left, lo, hi, goal);
    c->force = opt[FORCE];
    c->gravity = opt[GRAVITY];
    c->hills = opt[HILLS];
    c->max_speed = opt[MAX_SPEED];
    c->left = left;
    c->goal = goal;

    bool random = opt[START] == RH_ENV_START_RANDOM;
    c->start_lo = random ? left : lo;
    c->start_hi = random ? goal : hi;
    c->start_speed = random ? c->max_speed : 0.0;

    task->naction = 3;
    task->nact = 1;
    task->gamma = opt[GAMMA];
    task->reward_lo = -1.0;
    task->nstep = 15000;
    rh_env__sensor(task, "x", left, goal);
    rh_env__sensor(task, "x_dot", -c->max_speed, c->max_speed);
    return RH_OK;
}

static void mountain_car_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const mountain_car *c = self;
    rh_env__mountain_car_state *s = state;
    obs[0] = s->x = rh_rng_range(&streams->start, c->start_lo, c->start_hi);
    obs[1] = s->v = rh_rng_range(&streams->start, -c->start_speed, c->start_speed);
}

static bool mountain_car_step(const void *self, void *state, const double *act,
                              rh_streams *streams, double *obs, double *reward)
{
    (void)streams;
    const mountain_car *c = self;
    rh_env__mountain_car_state *s = state;
    int action = (int)act[0];
    assert(action >= 0 && action <= 2);

    double v = s->v + (action - 1) * c->force - c->gravity * rh_cos(c->hills * s->x);
    s->v = rh_env__clip(v, -c->max_speed, c->max_speed);
    s->x = rh_env__clip(s->x + s->v, c->left, c->goal);
    if (s->x == c->left) // the wall
        s->v = 0.0;

    obs[0] = s->x;
    obs[1] = s->v;
    *reward = -1.0;
    return s->x == c->goal;
}

const rh_env_type rh_env_mountain_car = {
    .name = "mountain_car",
    .about = "a car too weak to climb the hill directly; it has to gain speed first",
    .self_size = sizeof(mountain_car),
    .state_size = sizeof(rh_env__mountain_car_state),
    .param = param,
    .nparam = NPARAM,
    .init = mountain_car_init,
    .start = mountain_car_start,
    .step = mountain_car_step,
};
