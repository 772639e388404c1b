// contract.c - the handles of environments and agents.
//
// A handle checks options against the kind's table, owns the kind's memory, and does what all
// kinds need: it freezes agents and adds the name and hyperparameters to a saved state.

#include "text.h"

#include "base.h"
#include "rehearse/contract.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- environments

struct rh_env {
    const rh_env_type *type;
    rh_task task;
    double *opt;       // owned  (nparam)
    void *self;        // owned, zeroed
    bool alive;        // init was called, so clear must be
    size_t state_size; // bytes of what changes during a run
};

// Whether a task has a shape that agents and state blocks can hold.
static rh_status check_task(const rh_task *task, const char *owner, rh_error *err)
{
    if (task->nobs < 1 || task->nobs > RH_MAX_OBS)
        return rh_fail(err, RH_EINVAL, "%s: a task with %d sensors, expected 1 to %d", owner,
                       task->nobs, RH_MAX_OBS);
    if (task->nact < 1 || task->nact > RH_MAX_ACT)
        return rh_fail(err, RH_EINVAL,
                       "%s: a task with %d numbers in an action, expected 1 to %d", owner,
                       task->nact, RH_MAX_ACT);
    if (task->naction < 0)
        return rh_fail(err, RH_EINVAL, "%s: a task with %d actions, expected 0 or more", owner,
                       task->naction);
    return RH_OK;
}

static rh_status begin_env(rh_env *env, const double *opt, rh_error *err)
{
    const rh_env_type *type = env->type;
    if (opt && type->nparam)
        memcpy(env->opt, opt, (size_t)type->nparam * sizeof *opt);
    else
        rh_param_initial(type->param, type->nparam, env->opt);
    rh_status rc = rh_param__check(type->param, type->nparam, type->name, env->opt, err);
    if (rc)
        return rc;
    env->task.gamma = 1.0;
    env->task.reward_lo = -INFINITY;
    env->alive = true;
    rc = type->init_with ? type->init_with(type->context, env->self, &env->task, env->opt, err)
                         : type->init(env->self, &env->task, env->opt, err);
    return rc ? rc : check_task(&env->task, type->name, err);
}

rh_status rh_env_create(rh_env **out, const rh_env_type *type, const double *opt, rh_error *err)
{
    if (!out || !type)
        return rh_fail(err, RH_EINVAL, "env: NULL, expected %s",
                       out ? "a kind of environment" : "a place for the environment");
    rh_status rc = RH_ENOMEM;
    rh_env *env = rh_alloc(1, sizeof *env);
    if (!env)
        return rh_base__no_memory(err, type->name);
    env->type = type;
    env->state_size = type->state_size;
    env->opt = rh_alloc((size_t)type->nparam, sizeof *env->opt);
    env->self = rh_alloc(1, type->self_size);
    if (env->opt && env->self)
        rc = begin_env(env, opt, err);
    else
        rh_base__no_memory(err, type->name);
    if (rc) {
        rh_env_destroy(env);
        return rc;
    }
    *out = env;
    return RH_OK;
}

rh_status rh_env_adopt(rh_env **out, const rh_env_type *type, const rh_task *task,
                       const double *opt, void *self, size_t state_size, rh_error *err)
{
    rh_status rc = check_task(task, type->name, err);
    if (rc)
        return rc;
    rh_env *env = rh_alloc(1, sizeof *env);
    double *copy = rh_alloc((size_t)type->nparam, sizeof *copy);
    if (!env || !copy) {
        rh_free(env);
        rh_free(copy);
        return rh_base__no_memory(err, type->name);
    }
    if (type->nparam)
        memcpy(copy, opt, (size_t)type->nparam * sizeof *opt);
    *env = (rh_env){.type = type, .task = *task, .opt = copy, .self = self, .alive = true};
    env->state_size = state_size;
    *out = env;
    return RH_OK;
}

void rh_env_destroy(rh_env *env)
{
    if (!env)
        return;
    if (env->alive && env->type->clear)
        env->type->clear(env->self);
    rh_free(env->self);
    rh_free(env->opt);
    rh_free(env);
}

const rh_env_type *rh_contract__env_type(const rh_env *env)
{
    return env->type;
}

const rh_task *rh_env_task(const rh_env *env)
{
    return &env->task;
}

const double *rh_contract__env_options(const rh_env *env)
{
    return env->opt;
}

size_t rh_env_state_size(const rh_env *env)
{
    return env->state_size;
}

void rh_env_start(const rh_env *env, void *state, rh_streams *streams, double *obs)
{
    env->type->start(env->self, state, streams, obs);
}

bool rh_env_step(const rh_env *env, void *state, const double *act, rh_streams *streams,
                 double *obs, double *reward)
{
    // also false for NAN
    if (env->task.naction && !(act[0] >= 0.0 && act[0] < env->task.naction)) {
        *reward = NAN;
        return false;
    }
    return env->type->step(env->self, state, act, streams, obs, reward);
}

void rh_contract__env_step_many(const rh_env *env, int n, void *state, size_t stride,
                                const double *act, rh_streams *streams, double *obs,
                                double *reward, bool *terminal)
{
    const rh_task *task = &env->task;
    bool legal = true;
    for (int i = 0; task->naction && i < n; i++)
        legal = legal && act[i] >= 0.0 && act[i] < task->naction;
    if (env->type->step_many && legal) {
        env->type->step_many(env->self, n, state, stride, act, streams, obs, reward, terminal);
        return;
    }
    for (int i = 0; i < n; i++)
        terminal[i] = rh_env_step(env, (char *)state + (size_t)i * stride,
                                  act + (size_t)i * (size_t)task->nact, &streams[i],
                                  obs + (size_t)i * (size_t)task->nobs, &reward[i]);
}

const char *rh_contract__env_reason(const rh_env *env, const void *state)
{
    return env->type->reason ? env->type->reason(env->self, state) : NULL;
}

const double *rh_contract__env_fixed_obs(const rh_env *env, int32_t *n)
{
    *n = 0;
    return env->type->fixed_obs ? env->type->fixed_obs(env->self, n) : NULL;
}

int32_t rh_contract__env_obs_index(const rh_env *env, const void *state)
{
    return env->type->obs_index(env->self, state);
}

bool rh_contract__env_uncovered(const rh_env *env, const void *state)
{
    return env->type->uncovered && env->type->uncovered(env->self, state);
}

// ---------------------------------------------------------------------------- agents

int64_t rh_contract__prior_width(int nobs, int nact)
{
    return 2 * (int64_t)nobs + nact + 2; // s, action, reward, s', end
}

struct rh_agent {
    const rh_agent_type *type;
    int nobs, naction, nact; // shape of its task
    double *range;           // owned: ranges of the sensors, all lo, then all hi  (2 x nobs)
    double lo[RH_MAX_ACT];   // bounds of a continuous action  (nact)
    double hi[RH_MAX_ACT];   //
    char refused[144];       // why its last action was not one of the task's; "": it was
    double *hp;              // owned  (nparam)
    void *self;              // owned
    bool alive;              // init was called, so clear must be
    bool frozen;
};

static rh_status begin_run(rh_agent *agent, const rh_task *task, rh_error *err)
{
    const rh_agent_type *type = agent->type;
    bool first = !agent->alive;
    agent->alive = true;
    if (!first && type->reset)
        return type->reset(agent->self, task, agent->hp, err);
    if (!first) {
        if (type->clear)
            type->clear(agent->self);
        memset(agent->self, 0, type->self_size);
    }
    return type->init_with ? type->init_with(type->context, agent->self, task, agent->hp, err)
                           : type->init(agent->self, task, agent->hp, err);
}

// The ranges of the task's sensors, which a saved state needs.
static rh_status keep_ranges(rh_agent *agent, const rh_task *task, rh_error *err)
{
    size_t nobs = (size_t)task->nobs;
    if (agent->nobs != task->nobs) {
        double *range = rh_alloc(2 * nobs, sizeof *range);
        if (!range)
            return rh_base__no_memory(err, agent->type->name);
        rh_free(agent->range);
        agent->range = range;
        agent->nobs = task->nobs;
    }
    memcpy(agent->range, task->obs_lo, nobs * sizeof *agent->range);
    memcpy(agent->range + nobs, task->obs_hi, nobs * sizeof *agent->range);
    return RH_OK;
}

rh_status rh_contract__agent_reset(rh_agent *agent, const rh_task *task, const double *hp,
                                   rh_error *err)
{
    const rh_agent_type *type = agent->type;
    rh_status rc = check_task(task, type->name, err);
    if (rc)
        return rc;
    if (!(type->actions & (unsigned)(task->naction ? RH_DISCRETE : RH_CONTINUOUS)))
        return rh_fail(err, RH_EINVAL, "%s: takes %s actions only, and the task's are %s",
                       type->name, task->naction ? "continuous" : "discrete",
                       task->naction ? "discrete" : "continuous");
    rc = keep_ranges(agent, task, err);
    if (rc)
        return rc;
    agent->naction = task->naction;
    agent->nact = task->nact;
    agent->refused[0] = 0;
    for (int i = 0; i < task->nact; i++) {
        agent->lo[i] = task->naction ? 0.0 : task->act_lo[i];
        agent->hi[i] = task->naction ? task->naction - 1 : task->act_hi[i];
    }
    agent->frozen = false;
    if (hp && type->nparam)
        memcpy(agent->hp, hp, (size_t)type->nparam * sizeof *hp);
    else
        rh_param_initial(type->param, type->nparam, agent->hp);
    rc = rh_param__check(type->param, type->nparam, type->name, agent->hp, err);
    return rc ? rc : begin_run(agent, task, err);
}

rh_status rh_agent_create(rh_agent **out, const rh_agent_type *type, const rh_task *task,
                          const double *hp, rh_error *err)
{
    if (!out || !type || !task)
        return rh_fail(err, RH_EINVAL, "agent: NULL, expected %s",
                       !out    ? "a place for the agent"
                       : !type ? "a kind of agent"
                               : "a task");
    rh_status rc = RH_ENOMEM;
    rh_agent *agent = rh_alloc(1, sizeof *agent);
    if (!agent)
        return rh_base__no_memory(err, type->name);
    agent->type = type;
    agent->hp = rh_alloc((size_t)type->nparam, sizeof *agent->hp);
    agent->self = rh_alloc(1, type->self_size);
    if (agent->hp && agent->self)
        rc = rh_contract__agent_reset(agent, task, hp, err);
    else
        rh_base__no_memory(err, type->name);
    if (rc) {
        rh_agent_destroy(agent);
        return rc;
    }
    *out = agent;
    return RH_OK;
}

void rh_agent_destroy(rh_agent *agent)
{
    if (!agent)
        return;
    if (agent->alive && agent->type->clear)
        agent->type->clear(agent->self);
    rh_free(agent->self);
    rh_free(agent->hp);
    rh_free(agent->range);
    rh_free(agent);
}

const rh_agent_type *rh_contract__agent_type(const rh_agent *agent)
{
    return agent->type;
}

const void *rh_contract__agent_self(const rh_agent *agent)
{
    return agent->self;
}

struct rh_feature_cache {
    const rh_agent_type *type;
    void *block; // owned: the features of the fixed observations
};

rh_status rh_feature_cache__create(rh_feature_cache **out, const rh_agent_type *type,
                                   const rh_task *task, const double *hp, const double *obs,
                                   int32_t n, size_t most, rh_error *err)
{
    *out = NULL;
    if (!type->make_cache)
        return RH_OK;
    rh_status rc = RH_ENOMEM;
    rh_feature_cache *cache = rh_alloc(1, sizeof *cache);
    double *value = rh_alloc((size_t)type->nparam, sizeof *value);
    if (!cache || !value) {
        rh_base__no_memory(err, type->name);
        goto done;
    }
    cache->type = type;
    rh_param_initial(type->param, type->nparam, value);
    rc = type->make_cache(&cache->block, task, hp ? hp : value, obs, n, most, err);
    if (!rc && cache->block) {
        *out = cache;
        cache = NULL;
    }

done:
    rh_free(value);
    rh_feature_cache__destroy(cache);
    return rc;
}

void rh_feature_cache__destroy(rh_feature_cache *cache)
{
    if (!cache)
        return;
    rh_free(cache->block);
    rh_free(cache);
}

void rh_contract__agent_use_cache(rh_agent *agent, const rh_feature_cache *cache)
{
    bool fits = cache && cache->type == agent->type; // a cache of another kind is not used
    if (agent->type->use_cache)
        agent->type->use_cache(agent->self, fits ? cache->block : NULL);
}

void rh_contract__agent_look_up(rh_agent *agent, int32_t index)
{
    if (agent->type->look_up)
        agent->type->look_up(agent->self, index);
}

void rh_agent_freeze(rh_agent *agent, bool frozen)
{
    agent->frozen = frozen;
}

// A continuous action that is outside its range by rounding is at the end of the range. Other
// programs compute in single precision.
static double rounded(const rh_agent *agent, int i, double act)
{
    double lo = agent->lo[i], hi = agent->hi[i];
    double slack = FLT_EPSILON * fmax(fabs(lo), fabs(hi));
    bool near = act >= lo - slack && act <= hi + slack; // false for NaN
    return near && !agent->naction ? fmin(fmax(act, lo), hi) : act;
}

// Whether the action is one of the task's; otherwise note the reason.
static bool is_legal(rh_agent *agent, double *act)
{
    for (int i = 0; i < agent->nact; i++) {
        act[i] = rounded(agent, i, act[i]);
        bool inside = act[i] >= agent->lo[i] && act[i] <= agent->hi[i]; // false for NaN
        if (inside && (!agent->naction || act[i] == floor(act[i])))
            continue;
        snprintf(agent->refused, sizeof agent->refused,
                 "%.31s chose action %.9g, expected %s%.9g to %.9g", agent->type->name, act[i],
                 agent->naction ? "an index, " : "", agent->lo[i], agent->hi[i]);
        return false;
    }
    return true;
}

bool rh_agent_start(rh_agent *agent, const double *obs, rh_rng *rng, double *act)
{
    const rh_agent_type *type = agent->type;
    if (agent->frozen && type->begin)
        type->begin(agent->self);
    return (agent->frozen ? type->act : type->start)(agent->self, obs, rng, act) &&
           is_legal(agent, act);
}

bool rh_agent_step(rh_agent *agent, double reward, const double *obs, rh_rng *rng, double *act)
{
    const rh_agent_type *type = agent->type;
    bool healthy = agent->frozen ? type->act(agent->self, obs, rng, act)
                                 : type->step(agent->self, reward, obs, rng, act);
    return healthy && is_legal(agent, act);
}

bool rh_agent_end(rh_agent *agent, double reward)
{
    return agent->frozen || agent->type->end(agent->self, reward);
}

bool rh_agent_truncate(rh_agent *agent, double reward, const double *obs, rh_rng *rng,
                       double *act)
{
    const rh_agent_type *type = agent->type;
    if (!type->truncate)
        return rh_agent_step(agent, reward, obs, rng, act);
    return agent->frozen || type->truncate(agent->self, reward, obs);
}

static bool tells_policy(const rh_agent *agent)
{
    return agent->naction > 0 && agent->type->policy;
}

bool rh_contract__agent_policy(const rh_agent *agent, double *pi)
{
    if (!tells_policy(agent))
        return false;
    agent->type->policy(agent->self, pi);
    return true;
}

void rh_contract__agent_take(rh_agent *agent, int action)
{
    // a frozen agent does not remember its action
    if (tells_policy(agent) && !agent->frozen && action >= 0 && action < agent->naction)
        agent->type->take(agent->self, action);
}

bool rh_contract__agent_took(rh_agent *agent, const double *act)
{
    if (agent->type->took)
        agent->type->took(agent->self, act);
    return agent->type->took != NULL;
}

const char *rh_contract__agent_reason(rh_agent *agent)
{
    const char *own = agent->type->reason ? agent->type->reason(agent->self) : NULL;
    return own ? own : *agent->refused ? agent->refused : NULL;
}

// The shape of the task, as saved: a state fits only an agent of the same shape.
static void shape_of(const rh_agent *agent, double shape[3])
{
    shape[0] = agent->nobs;
    shape[1] = agent->naction;
    shape[2] = agent->nact;
}

rh_status rh_agent_save(rh_agent *agent, rh_state **out, rh_error *err)
{
    const rh_agent_type *type = agent->type;
    rh_state *state = NULL;
    double shape[3];
    shape_of(agent, shape);

    rh_status rc = rh_state__create(&state, err);
    if (rc)
        goto done;
    rc = rh_state__set_label(state, type->name, err);
    if (rc)
        goto done;
    rc = rh_state_put(state, "task", shape, 3, err);
    if (rc)
        goto done;
    rc = rh_state_put(state, "ranges", agent->range, 2 * (size_t)agent->nobs, err);
    if (rc)
        goto done;
    rc = rh_state_put(state, "hyperparameters", agent->hp, (size_t)type->nparam, err);
    if (rc)
        goto done;
    rc = type->save ? type->save(agent->self, state, err) : RH_OK;
    if (rc)
        goto done;

    *out = state;
    state = NULL;

done:
    rh_state_destroy(state);
    return rc;
}

// Fixed whole numbers and choices decide the meaning of the saved arrays, so they must be
// equal. New parameters come last; a state saved without them has their initial values.
static rh_status check_construction(const rh_agent *agent, const rh_state *state, rh_error *err)
{
    const rh_agent_type *type = agent->type;
    size_t n = 0;
    const double *saved = rh_state__doubles(state, "hyperparameters", &n);
    if (!saved || n > (size_t)type->nparam)
        return rh_fail(err, RH_EINVAL,
                       "%s: the saved state has %zu hyperparameters, expected %d", type->name,
                       n, type->nparam);
    for (int i = 0; i < type->nparam; i++) {
        const rh_param *p = &type->param[i];
        double before = (size_t)i < n ? saved[i] : p->initial;
        if (p->fixed && (p->whole || p->choice) && before != agent->hp[i]) {
            char was[32], is[32];
            rh_param__format(p, before, was, sizeof was);
            rh_param__format(p, agent->hp[i], is, sizeof is);
            return rh_fail(err, RH_EINVAL, "%s: the state was saved with %s = %s, not %s",
                           type->name, p->name, was, is);
        }
    }
    return RH_OK;
}

// Agents scale sensors by their ranges, so with other ranges what was learned has no meaning.
// Older states do not have them.
static rh_status check_ranges(const rh_agent *agent, const rh_state *state, rh_error *err)
{
    size_t n = 0, nobs = (size_t)agent->nobs;
    const double *saved = rh_state__doubles(state, "ranges", &n), *mine = agent->range;
    for (size_t i = 0; saved && n == 2 * nobs && i < nobs; i++)
        if (saved[i] != mine[i] || saved[nobs + i] != mine[nobs + i])
            return rh_fail(err, RH_EINVAL,
                           "%s: the state was saved with the range %g to %g of sensor %zu, "
                           "expected %g to %g as in the task",
                           agent->type->name, saved[i], saved[nobs + i], i, mine[i],
                           mine[nobs + i]);
    return RH_OK;
}

rh_status rh_agent_load(rh_agent *agent, const rh_state *state, rh_error *err)
{
    const rh_agent_type *type = agent->type;
    if (strcmp(rh_state__label(state), type->name) != 0)
        return rh_fail(err, RH_EINVAL, "%s: the saved state is of agent '%s'", type->name,
                       rh_state__label(state));

    double mine[3], saved[3];
    shape_of(agent, mine);
    rh_status rc = rh_state_get(state, "task", saved, 3, err);
    if (rc)
        return rc;
    for (int i = 0; i < 3; i++)
        if (saved[i] != mine[i])
            return rh_fail(err, RH_EINVAL,
                           "%s: the saved state is of a task with %g sensors, %g discrete "
                           "actions and %g numbers in an action; expected %g, %g and %g",
                           type->name, saved[0], saved[1], saved[2], mine[0], mine[1], mine[2]);
    rc = check_construction(agent, state, err);
    if (!rc)
        rc = check_ranges(agent, state, err);
    if (rc)
        return rc;
    return type->load ? type->load(agent->self, state, err) : RH_OK;
}
