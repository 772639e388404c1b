// cartpole.c - a pole balanced on a cart that is pushed left or right. The task is continuing.
//
// The model of Barto, Sutton and Anderson (1983) with Gymnasium's constants. With f the force,
// m the pole's mass, M the total mass and l half the pole's length:
//
//     p       = (f + m l theta'^2 sin theta) / M
//     theta'' = (g sin theta - p cos theta) / (l (4/3 - m cos^2 theta / M))
//     x''     = p - m l theta'' cos theta / M
//
// One Euler step of dt from the old values. The pole fails with |x| or |theta| over its limit.
//
// 1. A failure gives -1, and the next observation is a new start. Nothing else marks it, so the
//    agent bootstraps through a failure. Gymnasium ends the episode and gives +1 on every step.
// 2. The force is 10 N plus normal noise of 0.1 N, drawn every step. The paper says 0.1 "over
//    the effect of actions"; its experiments had newtons.
// 3. The usual ranges of x and theta are the failure limits. Agents scale the speeds by their
//    usual ranges, which the speeds exceed now and then.

#include "base/base.h"
#include "env_internal.h"
#include "kernel.h"

#include <assert.h>

enum {
    GRAVITY,
    CART_MASS,
    POLE_MASS,
    HALF_LENGTH,
    FORCE,
    NOISE,
    DT,
    FAIL_X,
    FAIL_ANGLE,
    RANGE_X_DOT,
    RANGE_THETA_DOT,
    START_WIDTH,
    RANDOM_X,
    RANDOM_ANGLE,
    START,
    GAMMA,
    NPARAM
};

static const rh_param param[NPARAM] = {
    [GRAVITY] = {"gravity", "m/s^2", .lo = 0.0, .hi = 100.0, .initial = 9.8},
    [CART_MASS] = {"cart_mass", "kg", .lo = 0.01, .hi = 100.0, .initial = 1.0},
    [POLE_MASS] = {"pole_mass", "kg", .lo = 0.001, .hi = 100.0, .initial = 0.1},
    [HALF_LENGTH] = {"half_length", "half the pole's length, m", .lo = 0.01, .hi = 100.0,
                     .initial = 0.5},
    [FORCE] = {"force", "push on the cart, N", .lo = 0.0, .hi = 1000.0, .initial = 10.0},
    [NOISE] = {"noise", "standard deviation of the force, N", .lo = 0.0, .hi = 1000.0,
               .initial = 0.1},
    [DT] = {"dt", "time between actions, s", .lo = 1e-4, .hi = 1.0, .initial = 0.02},
    [FAIL_X] = {"fail_x", "largest distance from the centre before a failure, m", .lo = 0.1,
                .hi = 1000.0, .initial = 2.4},
    [FAIL_ANGLE] = {"fail_angle", "largest angle from upright before a failure, degrees",
                    .lo = 1.0, .hi = 360.0, .initial = 12.0},
    [RANGE_X_DOT] = {"range_x_dot", "usual range of the cart's speed, m/s", .lo = 0.01,
                     .hi = 1000.0, .initial = 4.0},
    [RANGE_THETA_DOT] = {"range_theta_dot", "usual range of the pole's speed, rad/s",
                         .lo = 0.01, .hi = 1000.0, .initial = 3.5},
    [START_WIDTH] = {"start_width", "largest start value of all four variables", .lo = 0.0,
                     .hi = 1.0, .initial = 0.05},
    [RANDOM_X] = {"random_x", "largest distance from the centre of a random start, m",
                  .lo = 0.0, .hi = 1000.0, .initial = 0.8},
    [RANDOM_ANGLE] = {"random_angle", "largest angle of a random start, degrees", .lo = 0.0,
                      .hi = 360.0, .initial = 4.0},
    [START] = {"start", "normal: near upright; random: position and angle spread wider",
               .lo = 0, .hi = 1, .initial = RH_ENV_START_NORMAL, .choice = rh_env__start_name},
    [GAMMA] = {"gamma", "discount", .lo = 0.0, .hi = 1.0, .initial = 0.9},
};

// Here the paper's text and its experiments agree.
static const rh_axis grid[] = {
    {"paper", "esarsa", "alpha", 3, {0.03, 0.1, 0.3}},
    {"paper", "esarsa", "beta1", 2, {0.0, 0.9}},
    {"paper", "esarsa", "tau", 3, {0.1, 1.0, 10.0}},
    {"paper", "esarsa", "w_init", 3, {0.0, 6.0, 12.0}},
    {"paper", "esarsa", "lambda", 1, {0.023}},
    {"paper-text", "esarsa", "alpha", 3, {0.03, 0.1, 0.3}},
    {"paper-text", "esarsa", "beta1", 2, {0.0, 0.9}},
    {"paper-text", "esarsa", "tau", 3, {0.1, 1.0, 10.0}},
    {"paper-text", "esarsa", "w_init", 3, {0.0, 6.0, 12.0}},
    {"paper-text", "esarsa", "lambda", 1, {0.023}},
};

typedef rh_env__cartpole cartpole;

static double radians(double degrees)
{
    return degrees * 2.0 * M_PI / 360.0;
}

static rh_status cartpole_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)err;
    cartpole *c = self;
    c->gravity = opt[GRAVITY];
    c->pole_mass = opt[POLE_MASS];
    c->mass = opt[POLE_MASS] + opt[CART_MASS];
    c->half_length = opt[HALF_LENGTH];
    c->moment = opt[POLE_MASS] * opt[HALF_LENGTH];
    c->force = opt[FORCE];
    c->noise = opt[NOISE];
    c->dt = opt[DT];
    c->fail_x = opt[FAIL_X];
    c->fail_theta = radians(opt[FAIL_ANGLE]);

    for (int i = 0; i < 4; i++)
        c->width[i] = opt[START_WIDTH];
    if (opt[START] == RH_ENV_START_RANDOM) {
        c->width[0] = opt[RANDOM_X];
        c->width[2] = radians(opt[RANDOM_ANGLE]);
    }

    task->naction = 2;
    task->nact = 1;
    task->continuing = true;
    task->gamma = opt[GAMMA];
    task->reward_lo = -1.0;
    task->nstep = 50000;
    rh_env__sensor(task, "x", -c->fail_x, c->fail_x);
    rh_env__sensor(task, "x_dot", -opt[RANGE_X_DOT], opt[RANGE_X_DOT]);
    rh_env__sensor(task, "theta", -c->fail_theta, c->fail_theta);
    rh_env__sensor(task, "theta_dot", -opt[RANGE_THETA_DOT], opt[RANGE_THETA_DOT]);
    return RH_OK;
}

static void look(const rh_env__cartpole_state *s, double *obs)
{
    obs[0] = s->x;
    obs[1] = s->x_dot;
    obs[2] = s->theta;
    obs[3] = s->theta_dot;
}

static void cartpole_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const cartpole *c = self;
    rh_env__cartpole_state *s = state;
    s->x = rh_rng_range(&streams->start, -c->width[0], c->width[0]);
    s->x_dot = rh_rng_range(&streams->start, -c->width[1], c->width[1]);
    s->theta = rh_rng_range(&streams->start, -c->width[2], c->width[2]);
    s->theta_dot = rh_rng_range(&streams->start, -c->width[3], c->width[3]);
    look(s, obs);
}

static bool cartpole_step(const void *self, void *state, const double *act, rh_streams *streams,
                          double *obs, double *reward)
{
    const cartpole *c = self;
    rh_env__cartpole_state *s = state;
    int action = (int)act[0];
    assert(action == 0 || action == 1);

    // the noise is on the size of the force, before its direction
    double z[2], sine, cosine;
    rh_rng_normal(&streams->noise, z);
    double force = c->force + c->noise * z[0];
    if (action == 0)
        force = -force;

    rh_maths__sincos(s->theta, &sine, &cosine);
    double push = (force + c->moment * s->theta_dot * s->theta_dot * sine) / c->mass;
    double theta_acc =
        (c->gravity * sine - cosine * push) /
        (c->half_length * (4.0 / 3.0 - c->pole_mass * cosine * cosine / c->mass));
    double x_acc = push - c->moment * theta_acc * cosine / c->mass;

    // Euler, positions first: they need the old speeds
    s->x += c->dt * s->x_dot;
    s->theta += c->dt * s->theta_dot;
    s->x_dot += c->dt * x_acc;
    s->theta_dot += c->dt * theta_acc;

    bool failed = fabs(s->x) > c->fail_x || fabs(s->theta) > c->fail_theta;
    *reward = failed ? -1.0 : 0.0;
    if (failed)
        cartpole_start(self, state, streams, obs);
    else
        look(s, obs);
    return false;
}

// Several states in one vector (kernel.c), the rest one by one. Failures start anew.
static void cartpole_step_many(const void *self, int n, void *state, size_t stride,
                               const double *act, rh_streams *streams, double *obs,
                               double *reward, bool *terminal)
{
    const cartpole *c = self;
    char *at = state;
    int done = rh_env__kernels_best()->cartpole(c, n, at, stride, act, streams, obs, reward);
    for (int i = 0; i < n; i++) {
        terminal[i] = false;
        if (i >= done)
            cartpole_step(self, at + (size_t)i * stride, act + i, &streams[i], obs + 4 * i,
                          &reward[i]);
        else if (reward[i] < 0.0)
            cartpole_start(self, at + (size_t)i * stride, &streams[i], obs + 4 * i);
    }
}

const rh_env_type rh_env_cartpole = {
    .name = "cartpole",
    .about = "a pole balanced on a cart, with noisy pushes and no episodes",
    .self_size = sizeof(cartpole),
    .state_size = sizeof(rh_env__cartpole_state),
    .param = param,
    .nparam = NPARAM,
    .grid = grid,
    .ngrid = sizeof grid / sizeof grid[0],
    .init = cartpole_init,
    .start = cartpole_start,
    .step = cartpole_step,
    .step_many = cartpole_step_many,
};
