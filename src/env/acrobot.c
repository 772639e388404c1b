// acrobot.c - two hanging links, swung up by a torque at the joint between them.
//
// Sutton and Barto (1998), section 11.3, integrated as in Gymnasium's Acrobot-v1. With t1 the
// first link's angle from hanging, t2 the second's to the first, w their speeds, u the torque:
//
//     d1   = m1 c1^2 + m2 (l1^2 + c2^2 + 2 l1 c2 cos t2) + I1 + I2
//     d2   = m2 (c2^2 + l1 c2 cos t2) + I2
//     phi2 = m2 c2 g cos(t1 + t2 - pi/2)
//     phi1 = -m2 l1 c2 w2^2 sin t2 - 2 m2 l1 c2 w1 w2 sin t2
//            + (m1 c1 + m2 l1) g cos(t1 - pi/2) + phi2
//     w2'  = (u + d2/d1 phi1 - m2 l1 c2 w1^2 sin t2 - phi2) / (m2 c2^2 + I2 - d2^2/d1)
//     w1'  = -(d2 w2' + phi1) / d1
//
// The episode ends when -cos t1 - cos(t1 + t2) > 1.
//
// 1. One Runge-Kutta step of 0.2 s at constant torque; the book: four Euler steps of 0.05 s.
// 2. Every step gives a reward of -1, the last one included. Gymnasium gives 0 on the last.
// 3. The goal test uses unit links whatever the real lengths: the paper's changed Acrobot has a
//    longer first link and the old goal. `goal = links` tests the real tip.
// 4. Three torques, as the paper says; the experiments behind its figures had two.
// 5. Speed: cos(t - pi/2) is sin t, sin(t1 + t2) comes from the addition theorem, and the next
//    step reuses the sines and cosines of the observation. A step calls sincos 8 times, the
//    textbook form takes 22 sines and cosines. They agree to 1e-14 everywhere (test_acrobot.c).

#include "base/base.h"
#include "env_internal.h"

#include <assert.h>

enum {
    TORQUES,
    MAX_TORQUE,
    LINK_LENGTH_1,
    LINK_LENGTH_2,
    LINK_MASS_1,
    LINK_MASS_2,
    COM_1,
    COM_2,
    INERTIA_1,
    INERTIA_2,
    GRAVITY,
    DT,
    MAX_SPEED_1,
    MAX_SPEED_2,
    GOAL,
    GOAL_HEIGHT,
    START_WIDTH,
    START,
    GAMMA,
    NPARAM
};

enum { GOAL_UNIT, GOAL_LINKS };
static const char *const goal_name[] = {"unit", "links"};

static const rh_param param[NPARAM] = {
    [TORQUES] = {"torques", "number of torques: 3 is +1, 0, -1; 2 is +1, -1", .lo = 2, .hi = 3,
                 .initial = 3, .whole = true},
    [MAX_TORQUE] = {"max_torque", "size of a torque, N m", .lo = 0.0, .hi = 100.0,
                    .initial = 1.0},
    [LINK_LENGTH_1] = {"link_length_1", "length of the upper link, m", .lo = 0.1, .hi = 10.0,
                       .initial = 1.0},
    [LINK_LENGTH_2] = {"link_length_2", "length of the lower link, m; used with goal = links",
                       .lo = 0.1, .hi = 10.0, .initial = 1.0},
    [LINK_MASS_1] = {"link_mass_1", "mass of the upper link, kg", .lo = 0.1, .hi = 10.0,
                     .initial = 1.0},
    [LINK_MASS_2] = {"link_mass_2", "mass of the lower link, kg", .lo = 0.1, .hi = 10.0,
                     .initial = 1.0},
    [COM_1] = {"com_1", "centre of mass of the upper link from its joint, m", .lo = 0.05,
               .hi = 10.0, .initial = 0.5},
    [COM_2] = {"com_2", "centre of mass of the lower link from its joint, m", .lo = 0.05,
               .hi = 10.0, .initial = 0.5},
    [INERTIA_1] = {"inertia_1", "moment of inertia of the upper link, kg m^2", .lo = 0.01,
                   .hi = 100.0, .initial = 1.0},
    [INERTIA_2] = {"inertia_2", "moment of inertia of the lower link, kg m^2", .lo = 0.01,
                   .hi = 100.0, .initial = 1.0},
    [GRAVITY] = {"gravity", "m/s^2", .lo = 0.0, .hi = 100.0, .initial = 9.8},
    [DT] = {"dt", "time between actions, s", .lo = 1e-4, .hi = 1.0, .initial = 0.2},
    [MAX_SPEED_1] = {"max_speed_1", "bound of the upper joint's speed, rad/s", .lo = 0.1,
                     .hi = 1000.0, .initial = 4.0 * M_PI},
    [MAX_SPEED_2] = {"max_speed_2", "bound of the lower joint's speed, rad/s", .lo = 0.1,
                     .hi = 1000.0, .initial = 9.0 * M_PI},
    [GOAL] = {"goal", "link lengths in the goal test: 1 m, or the real ones", .lo = 0, .hi = 1,
              .initial = GOAL_UNIT, .choice = goal_name},
    [GOAL_HEIGHT] = {"goal_height", "height of the goal above the upper joint, m", .lo = 0.0,
                     .hi = 20.0, .initial = 1.0},
    [START_WIDTH] = {"start_width", "largest angle and speed at the start, rad and rad/s",
                     .lo = 0.0, .hi = 1.0, .initial = 0.1},
    [START] = {"start", "normal: hanging; random: any angles outside the goal", .lo = 0,
               .hi = 1, .initial = RH_ENV_START_NORMAL, .choice = rh_env__start_name},
    [GAMMA] = {"gamma", "discount", .lo = 0.0, .hi = 1.0, .initial = 1.0},
};

// w_init: "paper" has the values of the authors' experiments, "paper-text" those of the text.
static const rh_axis grid[] = {
    {"paper", "esarsa", "alpha", 3, {0.003, 0.03, 0.3}},
    {"paper", "esarsa", "beta1", 2, {0.0, 0.9}},
    {"paper", "esarsa", "tau", 3, {1.0, 10.0, 100.0}},
    {"paper", "esarsa", "w_init", 3, {0.0, 8.0, 16.0}},
    {"paper", "esarsa", "lambda", 1, {0.8}},
    {"paper-text", "esarsa", "alpha", 3, {0.003, 0.03, 0.3}},
    {"paper-text", "esarsa", "beta1", 2, {0.0, 0.9}},
    {"paper-text", "esarsa", "tau", 3, {1.0, 10.0, 100.0}},
    {"paper-text", "esarsa", "w_init", 3, {0.0, 4.0, 8.0}},
    {"paper-text", "esarsa", "lambda", 1, {0.8}},
    {"paper", "actor_critic", "alpha_critic", 6, {0.001, 0.003, 0.01, 0.03, 0.1, 0.3}},
    {"paper", "actor_critic", "actor_ratio", 6, {0.001, 0.003, 0.01, 0.03, 0.1, 0.3}},
};

typedef struct acrobot {
    double inertia;    // the constant part of d1
    double inertia2;   // the constant part of d2: m2 c2^2 + I2
    double coupling;   // m2 l1 c2
    double weight1;    // (m1 c1 + m2 l1) g
    double weight2;    // m2 c2 g
    double torque[3];  // by action
    int ntorque;       // 2 or 3
    double dt;         // s
    double limit[2];   // of the speeds
    double goal_at[2]; // link lengths of the goal test
    double goal_height;
    double start_width;
    bool random;
} acrobot;

static rh_status acrobot_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)err;
    acrobot *a = self;
    double m1 = opt[LINK_MASS_1], m2 = opt[LINK_MASS_2], l1 = opt[LINK_LENGTH_1];
    double c1 = opt[COM_1], c2 = opt[COM_2], g = opt[GRAVITY];

    // the constants of the equations
    a->inertia2 = m2 * c2 * c2 + opt[INERTIA_2];
    a->inertia = m1 * c1 * c1 + m2 * l1 * l1 + opt[INERTIA_1] + a->inertia2;
    a->coupling = m2 * l1 * c2;
    a->weight1 = (m1 * c1 + m2 * l1) * g;
    a->weight2 = m2 * c2 * g;
    a->dt = opt[DT];
    a->limit[0] = opt[MAX_SPEED_1];
    a->limit[1] = opt[MAX_SPEED_2];

    // torques from + to -
    a->ntorque = (int)opt[TORQUES];
    for (int i = 0; i < a->ntorque; i++)
        a->torque[i] = opt[MAX_TORQUE] * (1.0 - 2.0 * i / (a->ntorque - 1));

    bool links = opt[GOAL] == GOAL_LINKS;
    a->goal_at[0] = links ? l1 : 1.0;
    a->goal_at[1] = links ? opt[LINK_LENGTH_2] : 1.0;
    a->goal_height = opt[GOAL_HEIGHT];
    a->start_width = opt[START_WIDTH];
    a->random = opt[START] == RH_ENV_START_RANDOM;

    task->naction = a->ntorque;
    task->nact = 1;
    task->gamma = opt[GAMMA];
    task->reward_lo = -1.0;
    task->nstep = 15000;
    rh_env__sensor(task, "cos_theta1", -1.0, 1.0);
    rh_env__sensor(task, "sin_theta1", -1.0, 1.0);
    rh_env__sensor(task, "cos_theta2", -1.0, 1.0);
    rh_env__sensor(task, "sin_theta2", -1.0, 1.0);
    rh_env__sensor(task, "theta1_dot", -a->limit[0], a->limit[0]);
    rh_env__sensor(task, "theta2_dot", -a->limit[1], a->limit[1]);
    return RH_OK;
}

static void turn(const double q[4], double trig[4])
{
    rh_maths__sincos(q[0], &trig[1], &trig[0]);
    rh_maths__sincos(q[1], &trig[3], &trig[2]);
}

static bool at_goal(const acrobot *a, const double trig[4])
{
    double cos12 = trig[0] * trig[2] - trig[1] * trig[3]; // cos(t1 + t2)
    return -a->goal_at[0] * trig[0] - a->goal_at[1] * cos12 > a->goal_height;
}

static void look(const rh_env__acrobot_state *s, double *obs)
{
    for (int i = 0; i < 4; i++)
        obs[i] = s->trig[i];
    obs[4] = s->q[2];
    obs[5] = s->q[3];
}

// dq/dt, where trig belongs to q.
static void slope(const acrobot *a, double torque, const double q[4], const double trig[4],
                  double k[4])
{
    double w1 = q[2], w2 = q[3];
    double sin1 = trig[1], cos2 = trig[2], sin2 = trig[3];
    double sin12 = sin1 * cos2 + trig[0] * sin2; // sin(t1 + t2)

    double d1 = a->inertia + 2.0 * a->coupling * cos2;
    double d2 = a->inertia2 + a->coupling * cos2;
    double phi2 = a->weight2 * sin12;
    double phi1 = a->weight1 * sin1 + phi2 - a->coupling * sin2 * w2 * (w2 + 2.0 * w1);

    // the equation of w2', numerator and denominator times d1
    double push = torque - a->coupling * w1 * w1 * sin2 - phi2;
    double up = d1 * push + d2 * phi1, down = a->inertia2 * d1 - d2 * d2;
    k[0] = w1;
    k[1] = w2;
    k[3] = up / down;
    k[2] = -(d2 * k[3] + phi1) / d1;
}

// dq/dt at q + h last.
static void slope_after(const acrobot *a, double torque, const double q[4], double h,
                        const double last[4], double k[4])
{
    double ahead[4], trig[4];
    for (int i = 0; i < 4; i++)
        ahead[i] = q[i] + h * last[i];
    turn(ahead, trig);
    slope(a, torque, ahead, trig, k);
}

static void acrobot_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const acrobot *a = self;
    rh_env__acrobot_state *s = state;
    double width = a->start_width;

    do {
        double reach = a->random ? M_PI : width;
        s->q[0] = rh_rng_range(&streams->start, -reach, reach);
        s->q[1] = rh_rng_range(&streams->start, -reach, reach);
        turn(s->q, s->trig);
    } while (a->random && at_goal(a, s->trig));
    s->q[2] = rh_rng_range(&streams->start, -width, width);
    s->q[3] = rh_rng_range(&streams->start, -width, width);
    look(s, obs);
}

static bool acrobot_step(const void *self, void *state, const double *act, rh_streams *streams,
                         double *obs, double *reward)
{
    (void)streams;
    const acrobot *a = self;
    rh_env__acrobot_state *s = state;
    int action = (int)act[0];
    assert(action >= 0 && action < a->ntorque);

    // one Runge-Kutta step
    double torque = a->torque[action], h = a->dt;
    double k1[4], k2[4], k3[4], k4[4];
    slope(a, torque, s->q, s->trig, k1);
    slope_after(a, torque, s->q, 0.5 * h, k1, k2);
    slope_after(a, torque, s->q, 0.5 * h, k2, k3);
    slope_after(a, torque, s->q, h, k3, k4);
    for (int i = 0; i < 4; i++)
        s->q[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);

    // back into bounds
    for (int i = 0; i < 2; i++) {
        s->q[i] = rh_env__wrap(s->q[i]);
        s->q[2 + i] = rh_env__clip(s->q[2 + i], -a->limit[i], a->limit[i]);
    }
    turn(s->q, s->trig);
    look(s, obs);
    *reward = -1.0;
    return at_goal(a, s->trig);
}

const rh_env_type rh_env_acrobot = {
    .name = "acrobot",
    .about = "two hanging links swung up by a torque at the joint between them",
    .self_size = sizeof(acrobot),
    .state_size = sizeof(rh_env__acrobot_state),
    .param = param,
    .nparam = NPARAM,
    .grid = grid,
    .ngrid = sizeof grid / sizeof grid[0],
    .init = acrobot_init,
    .start = acrobot_start,
    .step = acrobot_step,
};
