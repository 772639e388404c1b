// tank.c - the plant of the demo: a plug-in with the true tank, and with its operator as an
// agent.
//
//     rehearse run tank --agent operator --plugin build/tank.so --cutoff 48
//
// A pump (off, low or high) fills a tank, and a process draws from it, now more, now less.
// Pumping costs energy, more of it against a full tank. When the tank runs dry or over, the
// plant trips and the shift ends. A step is ten minutes, a shift 48 steps.
//
// The operator pumps slowly, at full speed when the tank is low, and stops when it is full. In
// a fifth of the steps he does anything else, for reasons of his own.

#include <rehearse/plugin.h>

#include <string.h>

#define TRIP_COST 50.0
#define LOWEST 0.3  // m, where the tank runs dry
#define HIGHEST 2.3 // m, where it runs over

typedef struct tank {
    double level;   // m
    double outflow; // m per step
} tank;

// ---------------------------------------------------------------------------- the plant

static rh_status tank_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)self;
    (void)opt;
    (void)err;
    task->nobs = 2;
    task->naction = 3; // off, low, high
    task->nact = 1;
    task->nstep = 9600; // 200 shifts
    task->reward_lo = -52.5;
    task->obs_name[0] = "level";
    task->obs_lo[0] = LOWEST;
    task->obs_hi[0] = HIGHEST;
    task->obs_name[1] = "outflow";
    task->obs_lo[1] = 0.0;
    task->obs_hi[1] = 0.35;
    return RH_OK;
}

static void show(const tank *t, double *obs)
{
    obs[0] = t->level;
    obs[1] = t->outflow;
}

static void tank_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    (void)self;
    tank *t = state;
    t->level = rh_rng_range(&streams->start, 0.8, 1.8);
    t->outflow = rh_rng_range(&streams->start, 0.08, 0.22);
    show(t, obs);
}

static bool tank_step(const void *self, void *state, const double *act, rh_streams *streams,
                      double *obs, double *reward)
{
    (void)self;
    static const double flow[] = {0, 0.14, 0.30}, power[] = {0, 0.4, 1.4};
    tank *t = state;
    int pump = (int)act[0];
    double z[2];
    rh_rng_normal(&streams->noise, z);
    double energy = power[pump] * (0.6 + 0.2 * t->level);
    t->level += flow[pump] - t->outflow + 0.01 * z[0];
    t->outflow += 0.05 * (0.15 - t->outflow) + 0.015 * z[1];
    t->outflow = t->outflow < 0.02 ? 0.02 : t->outflow > 0.3 ? 0.3 : t->outflow;
    bool trip = t->level < LOWEST || t->level > HIGHEST;
    *reward = -energy - TRIP_COST * trip;
    show(t, obs);
    return trip;
}

static const rh_env_type tank_type = {
    .name = "tank",
    .about = "keep a tank from running dry and over, with little energy",
    .state_size = sizeof(tank),
    .init = tank_init,
    .start = tank_start,
    .step = tank_step,
};

// ---------------------------------------------------------------------------- the operator

static rh_status operator_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    (void)self;
    (void)hp;
    if (task->nobs == 2 && task->naction == 3 && !strcmp(task->obs_name[0], "level"))
        return RH_OK;
    return rh_fail(err, RH_EINVAL, "operator: knows the tank only");
}

static bool operator_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    (void)self;
    act[0] = obs[0] < 0.6 ? 2 : obs[0] > 2.0 ? 0 : 1;
    if (rh_rng_uniform(rng) < 0.2)
        act[0] = rh_rng_below(rng, 3);
    return true;
}

static bool operator_step(void *self, double reward, const double *obs, rh_rng *rng,
                          double *act)
{
    (void)reward;
    return operator_act(self, obs, rng, act);
}

static bool operator_end(void *self, double reward)
{
    (void)self;
    (void)reward;
    return true;
}

static const rh_agent_type operator_type = {
    .name = "operator",
    .about = "the operator of the tank, who wrote tank.csv; does not learn",
    .actions = RH_DISCRETE,
    .init = operator_init,
    .start = operator_act,
    .step = operator_step,
    .end = operator_end,
    .act = operator_act,
};

const rh_plugin *rehearse_plugin(void)
{
    static const rh_agent_type *const agent[] = {&operator_type, NULL};
    static const rh_env_type *const env[] = {&tank_type, NULL};
    static const rh_plugin plugin = {
        .abi = RH_PLUGIN_ABI, .version = "1.0", .agent = agent, .env = env};
    return &plugin;
}
