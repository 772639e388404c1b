// pendulum.c - a pendulum swung up and held upright by a continuous torque.
//
// Gymnasium's Pendulum-v1. With theta = 0 upright, speed w and torque u clipped to [-2, 2]:
//
//     reward = -(theta^2 + 0.1 w^2 + 0.001 u^2)    theta in [-pi, pi], before the step
//     w     <- bound(w + (3 g / (2 l) sin theta + 3 / (m l^2) u) dt)    to [-8, 8]
//     theta <- theta + w dt
//
// 1. The task is continuing. Gymnasium truncates it after 200 steps; here the caller decides.
// 2. The angle stays in [-pi, pi], so a long run loses no digits.
// 3. A random start takes its speed from the whole range instead of [-1, 1].

#include "base/base.h"
#include "env_internal.h"

enum {
    GRAVITY,
    MASS,
    LENGTH,
    DT,
    MAX_SPEED,
    MAX_TORQUE,
    SPEED_COST,
    TORQUE_COST,
    START_ANGLE,
    START_SPEED,
    START,
    GAMMA,
    NPARAM
};

static const rh_param param[NPARAM] = {
    [GRAVITY] = {"gravity", "m/s^2", .lo = 0.0, .hi = 100.0, .initial = 10.0},
    [MASS] = {"mass", "kg", .lo = 0.01, .hi = 100.0, .initial = 1.0},
    [LENGTH] = {"length", "m", .lo = 0.01, .hi = 100.0, .initial = 1.0},
    [DT] = {"dt", "time between actions, s", .lo = 1e-4, .hi = 1.0, .initial = 0.05},
    [MAX_SPEED] = {"max_speed", "bound of the speed, rad/s", .lo = 0.1, .hi = 1000.0,
                   .initial = 8.0},
    [MAX_TORQUE] = {"max_torque", "bound of the torque, N m", .lo = 0.01, .hi = 1000.0,
                    .initial = 2.0},
    [SPEED_COST] = {"speed_cost", "cost of the speed squared", .lo = 0.0, .hi = 100.0,
                    .initial = 0.1},
    [TORQUE_COST] = {"torque_cost", "cost of the torque squared", .lo = 0.0, .hi = 100.0,
                     .initial = 0.001},
    [START_ANGLE] = {"start_angle", "largest angle from upright at the start, rad", .lo = 0.0,
                     .hi = M_PI, .initial = M_PI},
    [START_SPEED] = {"start_speed", "largest speed of a normal start, rad/s", .lo = 0.0,
                     .hi = 1000.0, .initial = 1.0},
    [START] = {"start", "normal: slow; random: at any speed", .lo = 0, .hi = 1,
               .initial = RH_ENV_START_NORMAL, .choice = rh_env__start_name},
    [GAMMA] = {"gamma", "discount", .lo = 0.0, .hi = 1.0, .initial = 0.95},
};

typedef struct pendulum {
    double fall, drive; // 3 g / (2 l) and 3 / (m l^2)
    double dt, max_speed, max_torque;
    double speed_cost, torque_cost;
    double start_angle, start_speed;
} pendulum;

static rh_status pendulum_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    pendulum *p = self;
    if (opt[START_SPEED] > opt[MAX_SPEED])
        return rh_fail(err, RH_EINVAL,
                       "pendulum: start_speed = %g, expected at most max_speed = %g",
                       opt[START_SPEED], opt[MAX_SPEED]);
    p->fall = 3.0 * opt[GRAVITY] / (2.0 * opt[LENGTH]);
    p->drive = 3.0 / (opt[MASS] * opt[LENGTH] * opt[LENGTH]);
    p->dt = opt[DT];
    p->max_speed = opt[MAX_SPEED];
    p->max_torque = opt[MAX_TORQUE];
    p->speed_cost = opt[SPEED_COST];
    p->torque_cost = opt[TORQUE_COST];
    p->start_angle = opt[START_ANGLE];
    p->start_speed = opt[START] == RH_ENV_START_RANDOM ? p->max_speed : opt[START_SPEED];

    task->nact = 1;
    task->act_lo[0] = -p->max_torque;
    task->act_hi[0] = p->max_torque;
    task->continuing = true;
    task->gamma = opt[GAMMA];
    task->reward_lo = -(M_PI * M_PI + p->speed_cost * p->max_speed * p->max_speed +
                        p->torque_cost * p->max_torque * p->max_torque);
    task->nstep = 100000;
    rh_env__sensor(task, "cos_theta", -1.0, 1.0);
    rh_env__sensor(task, "sin_theta", -1.0, 1.0);
    rh_env__sensor(task, "theta_dot", -p->max_speed, p->max_speed);
    return RH_OK;
}

static void look(const rh_env__pendulum_state *s, double *obs)
{
    rh_maths__sincos(s->theta, &obs[1], &obs[0]);
    obs[2] = s->omega;
}

static void pendulum_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const pendulum *p = self;
    rh_env__pendulum_state *s = state;
    s->theta = rh_rng_range(&streams->start, -p->start_angle, p->start_angle);
    s->omega = rh_rng_range(&streams->start, -p->start_speed, p->start_speed);
    look(s, obs);
}

static bool pendulum_step(const void *self, void *state, const double *act, rh_streams *streams,
                          double *obs, double *reward)
{
    (void)streams;
    const pendulum *p = self;
    rh_env__pendulum_state *s = state;
    double u = rh_env__clip(act[0], -p->max_torque, p->max_torque);

    *reward =
        -(s->theta * s->theta + p->speed_cost * s->omega * s->omega + p->torque_cost * u * u);
    double omega = s->omega + (p->fall * rh_sin(s->theta) + p->drive * u) * p->dt;
    s->omega = rh_env__clip(omega, -p->max_speed, p->max_speed);
    s->theta = rh_env__wrap(s->theta + s->omega * p->dt);
    look(s, obs);
    return false;
}

const rh_env_type rh_env_pendulum = {
    .name = "pendulum",
    .about = "a pendulum swung up and held upright by a continuous torque",
    .self_size = sizeof(pendulum),
    .state_size = sizeof(rh_env__pendulum_state),
    .param = param,
    .nparam = NPARAM,
    .init = pendulum_init,
    .start = pendulum_start,
    .step = pendulum_step,
};
