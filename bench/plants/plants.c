// plants.c - the plants as a plug-in: environments, and their logged controllers as agents.
//
//     rehearse run crane --agent controller_good --plugin build/bench/plants.so --cutoff 150
//
// An agent knows the plant by its sensors. It does not learn. An operator intervenes in 1 of
// 100 steps and keeps his action for 2 to 6 steps: the only exploration of a log.

#include "plant.h"

#include <rehearse/plugin.h>

#define ALL(X)                                                                                 \
    X(ball_beam)                                                                               \
    X(battery)                                                                                 \
    X(chromatography)                                                                          \
    X(crane)                                                                                   \
    X(cruise)                                                                                  \
    X(cstr)                                                                                    \
    X(dc_motor)                                                                                \
    X(distillation)                                                                            \
    X(drone)                                                                                   \
    X(dryer)                                                                                   \
    X(fermenter)                                                                               \
    X(four_tank)                                                                               \
    X(furnace)                                                                                 \
    X(greenhouse)                                                                              \
    X(hvac)                                                                                    \
    X(incubator)                                                                               \
    X(one_zone)                                                                                \
    X(ph)                                                                                      \
    X(pump_station)                                                                            \
    X(reservoir)                                                                               \
    X(servo)                                                                                   \
    X(tclab)                                                                                   \
    X(two_zones)                                                                               \
    X(wind_turbine)                                                                            \
    X(wwtp)

#define DECLARE(name) extern const plant plant_##name;
#define ADDRESS(name) &plant_##name,
#define TYPE(plant_name)                                                                       \
    {.name = #plant_name,                                                                      \
     .self_size = sizeof(const plant *),                                                       \
     .state_size = PLANT_STATE * sizeof(double),                                               \
     .start = env_start,                                                                       \
     .step = env_step,                                                                         \
     .init_with = env_init,                                                                    \
     .context = &plant_##plant_name},

ALL(DECLARE)
const plant *const plants[] = {ALL(ADDRESS) NULL};
enum { NPLANT = sizeof plants / sizeof plants[0] - 1 };

// ---------------------------------------------------------------------------- a plant

static int count(const char *const *name, size_t stride)
{
    int n = 0;
    while (*name) {
        n++;
        name = (const char *const *)((const char *)name + stride);
    }
    return n;
}

int plant_nsensor(const plant *p)
{
    return count(&p->sensor[0].name, sizeof p->sensor[0]);
}

int plant_naction(const plant *p)
{
    return count(&p->action[0].name, sizeof p->action[0]);
}

int plant_ncost(const plant *p)
{
    return count(&p->cost[0].name, sizeof p->cost[0]);
}

static void measure(const plant *p, const double *s, rh_rng *rng, double *obs)
{
    if (p->show)
        p->show(s, obs);
    else
        memcpy(obs, s, (size_t)plant_nsensor(p) * sizeof *obs);
    for (int i = 0; p->sensor[i].name; i++)
        if (p->sensor[i].noise > 0)
            obs[i] += p->sensor[i].noise * plant_normal(rng);
}

void plant_start(const plant *p, double *s, rh_rng *rng, double *obs)
{
    memset(s, 0, PLANT_STATE * sizeof *s);
    p->start(s, rng);
    measure(p, s, rng, obs);
}

bool plant_step(const plant *p, double *s, const double *a, rh_rng *rng, double *obs,
                double *cost, double *reward)
{
    bool trip = p->step(s, a, rng, cost) && p->trip > 0;
    *reward = trip ? -p->trip : 0;
    for (int i = 0; p->cost[i].name; i++)
        *reward -= p->cost[i].weight * cost[i];
    measure(p, s, rng, obs);
    return trip;
}

void plant_control_start(plant_controller *c)
{
    c->held = 0;
    memset(c->m, 0, sizeof c->m);
}

void plant_control(plant_controller *c, const double *obs, rh_rng *rng, double *a)
{
    const plant *p = c->plant;
    p->control(c->m, obs, c->good, a);
    if (c->held > 0)
        c->held--;
    else if (rh_rng_uniform(rng) < 0.01) {
        c->held = 2 + (int)rh_rng_below(rng, 5);
        for (int i = 0; p->action[i].name; i++)
            c->by_hand[i] = p->nlevel
                                ? rh_rng_below(rng, (uint32_t)p->nlevel)
                                : plant_clip(a[i] + rh_rng_range(rng, -0.15, 0.15) *
                                                        (p->action[i].hi - p->action[i].lo),
                                             p->action[i].lo, p->action[i].hi);
    }
    if (c->held > 0)
        memcpy(a, c->by_hand, (size_t)plant_naction(p) * sizeof *a);
}

// ---------------------------------------------------------------------------- environments

static rh_status env_init(const void *context, void *self, rh_task *task, const double *opt,
                          rh_error *err)
{
    (void)opt;
    (void)err;
    const plant *p = context;
    *(const plant **)self = p;
    task->nobs = plant_nsensor(p);
    task->naction = p->nlevel;
    task->nact = plant_naction(p);
    task->continuing = p->nstep == 0;
    task->gamma = p->nstep ? 1.0 : 0.99;
    task->nstep = 3000;
    for (int i = 0; i < task->nobs; i++) {
        task->obs_name[i] = p->sensor[i].name;
        task->obs_lo[i] = p->sensor[i].lo;
        task->obs_hi[i] = p->sensor[i].hi;
    }
    for (int i = 0; i < task->nact && !p->nlevel; i++) {
        task->act_lo[i] = p->action[i].lo;
        task->act_hi[i] = p->action[i].hi;
    }
    return RH_OK;
}

static void env_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    plant_start(*(const plant *const *)self, state, &streams->start, obs);
}

static bool env_step(const void *self, void *state, const double *act, rh_streams *streams,
                     double *obs, double *reward)
{
    double cost[PLANT_COSTS];
    return plant_step(*(const plant *const *)self, state, act, &streams->noise, obs, cost,
                      reward);
}

// ---------------------------------------------------------------------------- agents

static rh_status agent_init(const void *context, void *self, const rh_task *task,
                            const double *hp, rh_error *err)
{
    (void)hp;
    plant_controller *c = self;
    c->good = !context;
    for (int i = 0; i < NPLANT && !c->plant; i++) {
        int n = plant_nsensor(plants[i]), k = 0;
        while (k < n && n == task->nobs &&
               !strcmp(plants[i]->sensor[k].name, task->obs_name[k]))
            k++;
        if (k == n)
            c->plant = plants[i];
    }
    return c->plant ? RH_OK
                    : rh_fail(err, RH_EINVAL,
                              "controller: no plant of bench/plants has these sensors");
}

static bool agent_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    plant_control(self, obs, rng, act);
    return true;
}

static bool agent_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    plant_control_start(self);
    return agent_act(self, obs, rng, act);
}

static bool agent_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)reward;
    return agent_act(self, obs, rng, act);
}

static bool agent_end(void *self, double reward)
{
    (void)self;
    (void)reward;
    return true;
}

static const rh_agent_type controller_good = {
    .name = "controller_good",
    .about = "the sensible logged controller of a plant",
    .actions = RH_DISCRETE | RH_CONTINUOUS,
    .self_size = sizeof(plant_controller),
    .start = agent_start,
    .step = agent_step,
    .end = agent_end,
    .act = agent_act,
    .init_with = agent_init,
};

const rh_plugin *rehearse_plugin(void)
{
    static rh_env_type type[] = {ALL(TYPE)};
    static rh_agent_type poor;
    static const rh_env_type *env[NPLANT + 1];
    static const rh_agent_type *const agent[] = {&controller_good, &poor, NULL};
    static const rh_plugin plugin = {
        .abi = RH_PLUGIN_ABI, .version = "1.0", .agent = agent, .env = env};
    poor = controller_good;
    poor.name = "controller_poor";
    poor.about = "the poor logged controller of a plant";
    poor.context = "poor";
    for (int i = 0; i < NPLANT; i++) {
        type[i].about = plants[i]->about;
        env[i] = &type[i];
    }
    return &plugin;
}
