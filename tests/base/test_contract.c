// test_contract.c - the handles of environments and agents, held to their word by a corridor
// and a counter that note every call.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "rehearse/contract.h"

static int ninit, nclear; // calls so far

// ---------------------------------------------------------------------------- a corridor

// Its cells are numbered; action 1 goes on, 0 goes back; the last cell ends the episode.
typedef struct corridor {
    int ncell;
    double *reward; // owned  (ncell)
} corridor;

typedef struct place {
    int cell;
} place;

static const char *const sides[] = {"left", "right"};

enum { NCELL, PRICE, SIDE, NOPTION };

static const rh_param corridor_option[NOPTION] = {
    [NCELL] = {"cells", .lo = 2, .hi = 100, .initial = 5, .whole = true},
    [PRICE] = {"price", .lo = 0.0, .hi = 9.0, .initial = 1.0},
    [SIDE] = {"side", .lo = 0, .hi = 1, .initial = 1, .choice = sides},
};

static rh_status corridor_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    ninit++;
    corridor *c = self;
    assert_true(task->gamma == 1.0);
    assert_true(task->reward_lo == -INFINITY);
    assert_int_equal(task->nobs, 0);
    // arrives zeroed
    assert_int_equal(c->ncell, 0);
    assert_null(c->reward);
    c->ncell = (int)opt[NCELL];
    c->reward = rh_alloc((size_t)c->ncell, sizeof *c->reward);
    if (!c->reward)
        return rh_fail(err, RH_ENOMEM, "corridor: out of memory");
    if (c->ncell == 13) // half-way: memory taken, and then refused
        return rh_fail(err, RH_EINVAL, "corridor: cells = 13, expected another number");
    for (int i = 0; i < c->ncell; i++)
        c->reward[i] = -opt[PRICE];
    task->nobs = 1;
    task->naction = 2;
    task->nact = 1;
    task->reward_lo = -opt[PRICE];
    return RH_OK;
}

static void corridor_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const corridor *c = self;
    place *p = state;
    p->cell = (int)rh_rng_below(&streams->start, (uint32_t)c->ncell - 1);
    obs[0] = p->cell;
}

static bool corridor_step(const void *self, void *state, const double *act, rh_streams *streams,
                          double *obs, double *reward)
{
    (void)streams;
    const corridor *c = self;
    place *p = state;
    p->cell += act[0] == 1.0 ? 1 : p->cell > 0 ? -1 : 0;
    obs[0] = p->cell;
    *reward = c->reward[p->cell];
    return p->cell == c->ncell - 1;
}

static void corridor_clear(void *self)
{
    nclear++;
    corridor *c = self;
    rh_free(c->reward);
}

static const rh_env_type corridor_type = {
    .name = "corridor",
    .about = "cells in a row",
    .self_size = sizeof(corridor),
    .state_size = sizeof(place),
    .param = corridor_option,
    .nparam = NOPTION,
    .init = corridor_init,
    .start = corridor_start,
    .step = corridor_step,
    .clear = corridor_clear,
};

// ---------------------------------------------------------------------------- a counter

// It learns how often each of its functions was called.
typedef struct counter {
    int nstart, nstep, nend, nact;
    double *memory; // owned  (size)
    size_t size;
} counter;

static const rh_param counter_param[] = {
    {"size", .lo = 1, .hi = 1000, .initial = 3, .whole = true},
};

static counter *seen; // the counter last made

static rh_status counter_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    ninit++;
    (void)task;
    counter *c = seen = self;
    c->size = (size_t)hp[0];
    c->memory = rh_alloc(c->size, sizeof *c->memory);
    if (!c->memory)
        return rh_fail(err, RH_ENOMEM, "counter: out of memory");
    return c->size == 13 ? rh_fail(err, RH_EINVAL, "counter: size = 13") : RH_OK;
}

static bool counter_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    (void)obs, (void)rng;
    counter *c = self;
    c->memory[0] = ++c->nstart;
    act[0] = 1.0;
    return true;
}

static bool counter_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)rng;
    counter *c = self;
    c->nstep++;
    act[0] = obs[0];
    return isfinite(reward);
}

static bool counter_end(void *self, double reward)
{
    counter *c = self;
    c->nend++;
    return isfinite(reward);
}

static bool counter_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    (void)obs, (void)rng;
    counter *c = self;
    c->nact++;
    act[0] = 0.0;
    return true;
}

static rh_status counter_save(void *self, rh_state *state, rh_error *err)
{
    counter *c = self;
    return rh_state_put(state, "memory", c->memory, c->size, err);
}

static rh_status counter_load(void *self, const rh_state *state, rh_error *err)
{
    counter *c = self;
    return rh_state_get(state, "memory", c->memory, c->size, err);
}

static void counter_clear(void *self)
{
    nclear++;
    counter *c = self;
    rh_free(c->memory);
}

#define COUNTER(called, which)                                                                 \
    {                                                                                          \
        .name = called, .actions = which, .self_size = sizeof(counter),                        \
        .param = counter_param, .nparam = 1, .init = counter_init, .start = counter_start,     \
        .step = counter_step, .end = counter_end, .act = counter_act, .save = counter_save,    \
        .load = counter_load, .clear = counter_clear                                           \
    }

static const rh_agent_type counter_type = COUNTER("counter", RH_DISCRETE);
static const rh_agent_type other_type = COUNTER("abacus", RH_DISCRETE | RH_CONTINUOUS);

// Nothing to learn, to release or to set.
static rh_status stone_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    (void)self, (void)task, (void)hp, (void)err;
    return RH_OK;
}

static const rh_agent_type stone_type = {
    .name = "stone",
    .actions = RH_CONTINUOUS,
    .init = stone_init,
    .start = counter_act,
    .step = counter_step,
    .end = counter_end,
    .act = counter_act,
};

static const rh_task discrete = {.nobs = 2, .naction = 3, .nact = 1};
static const rh_task continuous = {.nobs = 2, .naction = 0, .nact = 4};

// ---------------------------------------------------------------------------- environments

static void environment(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_error err;
    rh_env *env = NULL;
    ninit = nclear = 0;
    assert_int_equal(rh_env_create(&env, &corridor_type, NULL, &err), RH_OK);
    assert_ptr_equal(rh_contract__env_type(env), &corridor_type);
    assert_int_equal(rh_env_task(env)->nobs, 1);
    assert_true(rh_contract__env_options(env)[NCELL] == 5.0);
    assert_true(rh_contract__env_options(env)[PRICE] == 1.0);
    assert_int_equal(rh_env_state_size(env), sizeof(place));

    place p;
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    double obs, reward, total = 0.0, forward = 1.0;
    rh_env_start(env, &p, &streams, &obs);
    double left = 4.0 - obs;
    while (!rh_env_step(env, &p, &forward, &streams, &obs, &reward))
        total += reward;
    assert_true(obs == 4.0);
    assert_true(total + reward == -left);

    rh_env_destroy(env);
    rh_env_destroy(NULL);
    assert_int_equal(ninit, 1);
    assert_int_equal(nclear, 1);
    assert_int_equal(rh_base__alloc_live(), live);
}

// *out stays NULL, no memory stays, and clear is called as often as init.
static void env_refuses(double ncell, double price, double side, int inits, const char *message)
{
    int64_t live = rh_base__alloc_live();
    rh_error err;
    rh_env *env = NULL;
    double opt[NOPTION] = {[NCELL] = ncell, [PRICE] = price, [SIDE] = side};
    ninit = nclear = 0;
    assert_int_equal(rh_env_create(&env, &corridor_type, opt, &err), RH_EINVAL);
    assert_null(env);
    assert_string_equal(err.text, message);
    assert_int_equal(ninit, inits);
    assert_int_equal(nclear, inits);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void environment_options(void **unused)
{
    (void)unused;
    rh_env *env = NULL;
    double opt[NOPTION] = {[NCELL] = 7, [PRICE] = 0.0, [SIDE] = 0}; // zero is a value
    assert_int_equal(rh_env_create(&env, &corridor_type, opt, NULL), RH_OK);
    opt[NCELL] = 99; // copied
    assert_true(rh_contract__env_options(env)[NCELL] == 7.0);
    assert_true(rh_contract__env_options(env)[PRICE] == 0.0);
    rh_env_destroy(env);

    env_refuses(101, 1, 0, 0, "corridor: cells = 101, expected a whole number, 2 to 100");
    env_refuses(5.5, 1, 0, 0, "corridor: cells = 5.5, expected a whole number, 2 to 100");
    env_refuses(5, -0.1, 0, 0, "corridor: price = -0.1, expected a number, 0 to 9");
    env_refuses(5, NAN, 0, 0, "corridor: price = nan, expected a number, 0 to 9");
    env_refuses(5, 1, 2, 0, "corridor: side = 2, expected a whole number, 0 to 1");
    env_refuses(13, 1, 0, 1, "corridor: cells = 13, expected another number");
}

static void environment_without_memory(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_error err = {""};
        rh_env *env = NULL;
        ninit = nclear = 0;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_env_create(&env, &corridor_type, NULL, &err);
        rh_base__alloc_fail_at(0);
        assert_true((rc == RH_OK) == (env != NULL));
        rh_env_destroy(env);
        assert_int_equal(ninit, nclear);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK) {
            assert_true(nth > 4); // handle, options, self and the corridor's own
            break;
        }
        assert_int_equal(rc, RH_ENOMEM);
        assert_string_equal(err.text, "corridor: out of memory");
    }
}

// ---------------------------------------------------------------------------- adopted ones

// A corridor that is made elsewhere and shows its cells as fixed observations; how many bytes a
// state has is known only then.
static const double cells[] = {0.0, 1.0, 2.0, 3.0, 4.0};

static const double *corridor_entries(const void *self, int32_t *n)
{
    const corridor *c = self;
    *n = c->ncell;
    return c->ncell <= 5 ? cells : NULL;
}

static int32_t corridor_entry(const void *self, const void *state)
{
    (void)self;
    return ((const place *)state)->cell;
}

static rh_status never_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)self, (void)task, (void)opt;
    return rh_fail(err, RH_EINVAL, "corridor: not to be called");
}

static const rh_env_type shown_type = {
    .name = "shown",
    .self_size = 1, // of no use to those adopted
    .state_size = 1,
    .param = corridor_option,
    .nparam = NOPTION,
    .init = never_init,
    .start = corridor_start,
    .step = corridor_step,
    .fixed_obs = corridor_entries,
    .obs_index = corridor_entry,
    .clear = corridor_clear,
};

static corridor *made_elsewhere(void)
{
    corridor *c = rh_alloc(1, sizeof *c);
    assert_non_null(c);
    c->ncell = 5;
    c->reward = rh_alloc(5, sizeof *c->reward);
    assert_non_null(c->reward);
    return c;
}

static void environment_adopted(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_task task = {.nobs = 1, .naction = 2, .nact = 1, .gamma = 0.5};
    double opt[NOPTION] = {[NCELL] = 500, [PRICE] = 2.0}; // not checked: the maker knows
    corridor *c = made_elsewhere();
    rh_env *env = NULL;
    rh_error err;
    ninit = nclear = 0;
    assert_int_equal(rh_env_adopt(&env, &shown_type, &task, opt, c, 40, &err), RH_OK);
    task.gamma = 0.1; // copied
    opt[PRICE] = 3.0; // likewise
    assert_ptr_equal(rh_contract__env_type(env), &shown_type);
    assert_true(rh_env_task(env)->gamma == 0.5);
    assert_int_equal(rh_env_task(env)->naction, 2);
    assert_true(rh_contract__env_options(env)[NCELL] == 500);
    assert_true(rh_contract__env_options(env)[PRICE] == 2.0);
    assert_int_equal(rh_env_state_size(env), 40);

    // what it shows, and which of it
    int32_t n = -1;
    assert_ptr_equal(rh_contract__env_fixed_obs(env, &n), cells);
    assert_int_equal(n, 5);
    place p;
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    double obs, reward, forward = 1.0;
    rh_env_start(env, &p, &streams, &obs);
    do
        assert_true(cells[rh_contract__env_obs_index(env, &p)] == obs);
    while (!rh_env_step(env, &p, &forward, &streams, &obs, &reward));
    assert_int_equal(rh_contract__env_obs_index(env, &p), 4);

    rh_env_destroy(env); // self goes with it, cleared once
    assert_int_equal(ninit, 0);
    assert_int_equal(nclear, 1);
    assert_int_equal(rh_base__alloc_live(), live);

    // a kind without fixed observations, and one that has none to show this time
    assert_int_equal(rh_env_create(&env, &corridor_type, NULL, NULL), RH_OK);
    n = -1;
    assert_null(rh_contract__env_fixed_obs(env, &n));
    assert_int_equal(n, 0);
    rh_env_destroy(env);
    c = made_elsewhere();
    c->ncell = 6;
    assert_int_equal(rh_env_adopt(&env, &shown_type, &task, opt, c, 40, NULL), RH_OK);
    assert_null(rh_contract__env_fixed_obs(env, &n));
    rh_env_destroy(env);
    assert_int_equal(rh_base__alloc_live(), live);
}

// On failure self stays the caller's.
static void adoption_without_memory(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_task task = {.nobs = 1, .naction = 2, .nact = 1};
    double opt[NOPTION] = {0};
    for (int nth = 1;; nth++) {
        corridor *c = made_elsewhere();
        rh_error err = {""};
        rh_env *env = NULL;
        nclear = 0;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_env_adopt(&env, &shown_type, &task, opt, c, 40, &err);
        rh_base__alloc_fail_at(0);
        assert_true((rc == RH_OK) == (env != NULL));
        assert_int_equal(nclear, 0);
        if (rc == RH_OK) {
            rh_env_destroy(env);
        } else {
            corridor_clear(c);
            rh_free(c);
        }
        assert_int_equal(nclear, 1);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK) {
            assert_true(nth > 2); // the handle and the options
            break;
        }
        assert_int_equal(rc, RH_ENOMEM);
        assert_string_equal(err.text, "shown: out of memory");
    }
}

// ---------------------------------------------------------------------------- agents

static void agent_of(rh_agent **out, const rh_agent_type *type, const rh_task *task,
                     double size)
{
    rh_error err;
    assert_int_equal(rh_agent_create(out, type, task, &size, &err), RH_OK);
}

static void agent_learns_unless_frozen(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_agent *agent = NULL;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double obs[2] = {2.0, 0.0}, act = -1.0;
    ninit = nclear = 0;
    assert_int_equal(rh_agent_create(&agent, &counter_type, &discrete, NULL, NULL), RH_OK);
    assert_ptr_equal(rh_contract__agent_type(agent), &counter_type);
    assert_int_equal(seen->size, 3); // the initial value

    assert_true(rh_agent_start(agent, obs, &rng, &act));
    assert_true(act == 1.0);
    assert_true(rh_agent_step(agent, -1.0, obs, &rng, &act));
    assert_true(act == 2.0);
    assert_false(rh_agent_step(agent, NAN, obs, &rng, &act)); // divergence is passed on
    assert_true(rh_agent_end(agent, -1.0));
    assert_false(rh_agent_end(agent, INFINITY));
    assert_int_equal(seen->nstart, 1);
    assert_int_equal(seen->nstep, 2);
    assert_int_equal(seen->nend, 2);
    assert_int_equal(seen->nact, 0);

    rh_agent_freeze(agent, true);
    assert_true(rh_agent_start(agent, obs, &rng, &act));
    assert_true(act == 0.0);
    assert_true(rh_agent_step(agent, NAN, obs, &rng, &act));
    assert_true(act == 0.0);
    assert_true(rh_agent_end(agent, NAN));
    assert_int_equal(seen->nact, 2);
    assert_int_equal(seen->nstart + seen->nstep + seen->nend, 5); // as before

    rh_agent_freeze(agent, false);
    rh_agent_start(agent, obs, &rng, &act);
    assert_int_equal(seen->nstart, 2);

    rh_agent_destroy(agent);
    rh_agent_destroy(NULL);
    assert_int_equal(nclear, 1);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void agent_refuses(const rh_agent_type *type, const rh_task *task, double size,
                          int inits, const char *message)
{
    int64_t live = rh_base__alloc_live();
    rh_error err;
    rh_agent *agent = NULL;
    ninit = nclear = 0;
    assert_int_equal(rh_agent_create(&agent, type, task, &size, &err), RH_EINVAL);
    assert_null(agent);
    assert_string_equal(err.text, message);
    assert_int_equal(ninit, inits);
    assert_int_equal(nclear, inits);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void agent_options(void **unused)
{
    (void)unused;
    agent_refuses(&counter_type, &discrete, 0, 0,
                  "counter: size = 0, expected a whole number, 1 to 1000");
    agent_refuses(&counter_type, &discrete, 13, 1, "counter: size = 13");
    agent_refuses(&counter_type, &continuous, 3, 0,
                  "counter: takes discrete actions only, and the task's are continuous");
    agent_refuses(&stone_type, &discrete, 3, 0,
                  "stone: takes continuous actions only, and the task's are discrete");

    rh_agent *agent = NULL;
    agent_of(&agent, &other_type, &discrete, 3);
    rh_agent_destroy(agent);
    agent_of(&agent, &other_type, &continuous, 3);
    rh_agent_destroy(agent);
}

static void agent_without_parts(void **unused)
{
    (void)unused;
    rh_agent *agent = NULL;
    rh_state *state = NULL;
    assert_int_equal(rh_agent_create(&agent, &stone_type, &continuous, NULL, NULL), RH_OK);
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);
    assert_int_equal(rh_agent_load(agent, state, NULL), RH_OK);
    rh_state_destroy(state);
    rh_agent_destroy(agent);
}

// ---------------------------------------------------------------------------- feature caches

// A counter with an eye for fixed observations: its feature cache holds the first sensor of
// each, times its size.
typedef struct viewer {
    counter counter;
    const double *cache; // borrowed
    int32_t entry;
    int nuse, nlook;
} viewer;

static rh_status viewer_cache(void **cache, const rh_task *task, const double *hp,
                              const double *entry, int32_t n, size_t most, rh_error *err)
{
    if ((size_t)n * sizeof(double) > most)
        return RH_OK;
    double *x = rh_alloc((size_t)n, sizeof *x);
    if (!x)
        return rh_fail(err, RH_ENOMEM, "viewer: out of memory for %d fixed observations",
                       (int)n);
    *cache = x;
    if (hp[0] == 17) // half-way: memory taken, and then refused
        return rh_fail(err, RH_EINVAL, "viewer: size = 17, expected another");
    for (int32_t i = 0; i < n; i++)
        x[i] = hp[0] * entry[i * task->nobs];
    return RH_OK;
}

static void viewer_use(void *self, const void *cache)
{
    viewer *v = self;
    v->cache = cache;
    v->nuse++;
}

static void viewer_look(void *self, int32_t entry)
{
    viewer *v = self;
    v->entry = entry;
    v->nlook++;
}

static const rh_agent_type viewer_type = {
    .name = "viewer",
    .actions = RH_DISCRETE,
    .self_size = sizeof(viewer),
    .param = counter_param,
    .nparam = 1,
    .init = counter_init,
    .start = counter_start,
    .step = counter_step,
    .end = counter_end,
    .act = counter_act,
    .make_cache = viewer_cache,
    .use_cache = viewer_use,
    .look_up = viewer_look,
    .clear = counter_clear,
};

static const double pictures[] = {1.0, 0.0, 2.0, 0.0, 3.0, 0.0}; // three of two sensors

static void caches_are_used(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_feature_cache *cache = NULL, *other = NULL;
    rh_agent *agent = NULL;
    double size = 5;
    assert_int_equal(
        rh_feature_cache__create(&cache, &viewer_type, &discrete, &size, pictures, 3, 24, NULL),
        RH_OK);
    assert_non_null(cache);
    assert_int_equal(rh_agent_create(&agent, &viewer_type, &discrete, &size, NULL), RH_OK);
    viewer *v = (viewer *)(void *)seen; // a viewer begins with its counter
    rh_contract__agent_use_cache(agent, cache);
    assert_int_equal(v->nuse, 1);
    assert_true(v->cache[0] == 5.0);
    assert_true(v->cache[1] == 10.0);
    assert_true(v->cache[2] == 15.0);
    rh_contract__agent_look_up(agent, 2);
    assert_int_equal(v->entry, 2);
    rh_contract__agent_look_up(agent, 0);
    assert_int_equal(v->entry, 0);
    assert_int_equal(v->nlook, 2);
    rh_contract__agent_use_cache(agent, NULL);
    assert_null(v->cache);
    rh_agent_destroy(agent);
    rh_feature_cache__destroy(cache);
    rh_feature_cache__destroy(NULL);

    // initial values where none are given; `most` holds to the byte
    assert_int_equal(
        rh_feature_cache__create(&other, &viewer_type, &discrete, NULL, pictures, 3, 24, NULL),
        RH_OK);
    assert_non_null(other);
    assert_int_equal(rh_agent_create(&agent, &viewer_type, &discrete, NULL, NULL), RH_OK);
    v = (viewer *)(void *)seen;
    rh_contract__agent_use_cache(agent, other);
    assert_true(v->cache[2] == 9.0);
    rh_agent_destroy(agent);
    rh_feature_cache__destroy(other);
    assert_int_equal(
        rh_feature_cache__create(&other, &viewer_type, &discrete, NULL, pictures, 3, 23, NULL),
        RH_OK);
    assert_null(other);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void kinds_without_caches(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_feature_cache *cache = (rh_feature_cache *)&live; // is overwritten
    double size = 3;
    assert_int_equal(rh_feature_cache__create(&cache, &counter_type, &discrete, &size, pictures,
                                              3, SIZE_MAX, NULL),
                     RH_OK);
    assert_null(cache);
    rh_agent *agent = NULL;
    agent_of(&agent, &counter_type, &discrete, size);
    rh_contract__agent_use_cache(agent, NULL); // nothing to pass on
    rh_agent_destroy(agent);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void caches_that_fail(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_error err;
    rh_feature_cache *cache = NULL;
    double size = 17;
    assert_int_equal(
        rh_feature_cache__create(&cache, &viewer_type, &discrete, &size, pictures, 3, 24, &err),
        RH_EINVAL);
    assert_string_equal(err.text, "viewer: size = 17, expected another");
    assert_null(cache);
    assert_int_equal(rh_base__alloc_live(), live);
    for (int nth = 1;; nth++) {
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_feature_cache__create(&cache, &viewer_type, &discrete, NULL, pictures,
                                                3, 24, &err);
        rh_base__alloc_fail_at(0);
        assert_true((rc == RH_OK) == (cache != NULL));
        rh_feature_cache__destroy(cache);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK) {
            assert_true(nth > 3); // the feature cache, its values, the kind's own
            break;
        }
        assert_int_equal(rc, RH_ENOMEM);
        assert_non_null(strstr(err.text, "viewer: out of memory"));
    }
}

// ---------------------------------------------------------------------------- saved and loaded

static void what_was_learned_comes_back(void **unused)
{
    (void)unused;
    rh_agent *agent = NULL, *heir = NULL;
    rh_state *state = NULL;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double obs[2] = {0.0}, act;
    agent_of(&agent, &counter_type, &discrete, 4);
    for (int i = 0; i < 7; i++)
        rh_agent_start(agent, obs, &rng, &act);
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);
    assert_string_equal(rh_state__label(state), "counter");
    double hp;
    assert_int_equal(rh_state_get(state, "hyperparameters", &hp, 1, NULL), RH_OK);
    assert_true(hp == 4.0);

    agent_of(&heir, &counter_type, &discrete, 4);
    assert_true(seen->memory[0] == 0.0);
    assert_int_equal(rh_agent_load(heir, state, NULL), RH_OK);
    assert_true(seen->memory[0] == 7.0);
    rh_state_destroy(state);
    rh_agent_destroy(heir);
    rh_agent_destroy(agent);
}

static void load_refuses(const rh_agent_type *type, const rh_task *task, double size,
                         const rh_state *state, const char *message)
{
    rh_agent *agent = NULL;
    rh_error err;
    agent_of(&agent, type, task, size);
    assert_int_equal(rh_agent_load(agent, state, &err), RH_EINVAL);
    assert_string_equal(err.text, message);
    rh_agent_destroy(agent);
}

static void strangers_are_refused(void **unused)
{
    (void)unused;
    rh_agent *agent = NULL;
    rh_state *state = NULL, *empty = NULL;
    agent_of(&agent, &counter_type, &discrete, 4);
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);

    load_refuses(&other_type, &discrete, 4, state,
                 "abacus: the saved state is of agent 'counter'");
    rh_task wider = discrete;
    wider.nobs = 3;
    load_refuses(&counter_type, &wider, 4, state,
                 "counter: the saved state is of a task with 2 sensors, 3 discrete actions and "
                 "1 numbers in an action; expected 3, 3 and 1");
    wider = discrete;
    wider.naction = 2;
    load_refuses(&counter_type, &wider, 4, state,
                 "counter: the saved state is of a task with 2 sensors, 3 discrete actions and "
                 "1 numbers in an action; expected 2, 2 and 1");
    load_refuses(&counter_type, &discrete, 5, state,
                 "counter: array 'memory' of the saved state has 4 numbers, expected 5");

    // a state with the right label and nothing in it
    assert_int_equal(rh_state__create(&empty, NULL), RH_OK);
    assert_int_equal(rh_state__set_label(empty, "counter", NULL), RH_OK);
    load_refuses(&counter_type, &discrete, 4, empty,
                 "counter: no array 'task' in the saved state");
    rh_state_destroy(empty);
    rh_state_destroy(state);
    rh_agent_destroy(agent);
}

static void agent_without_memory(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_error err = {""};
        rh_agent *agent = NULL;
        rh_state *state = NULL;
        ninit = nclear = 0;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_agent_create(&agent, &counter_type, &discrete, NULL, &err);
        if (!rc)
            rc = rh_agent_save(agent, &state, &err);
        if (!rc)
            rc = rh_agent_load(agent, state, &err);
        rh_base__alloc_fail_at(0);
        rh_state_destroy(state);
        rh_agent_destroy(agent);
        assert_int_equal(ninit, nclear);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK) {
            assert_true(nth > 9); // 4 for the agent, 5 for its state
            break;
        }
        assert_int_equal(rc, RH_ENOMEM);
        assert_non_null(strstr(err.text, "out of memory"));
    }
}

// ---------------------------------------------------------------------------- misuse

static void misuse_is_an_error_in_every_build(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_error err;
    rh_env *env = NULL;
    rh_agent *agent = NULL;
    assert_int_equal(rh_env_create(&env, NULL, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "env: NULL, expected a kind of environment");
    assert_int_equal(rh_env_create(NULL, &corridor_type, NULL, &err), RH_EINVAL);
    assert_int_equal(rh_agent_create(&agent, NULL, &discrete, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "agent: NULL, expected a kind of agent");
    assert_int_equal(rh_agent_create(&agent, &counter_type, NULL, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "agent: NULL, expected a task");

    static const struct {
        int nobs, naction, nact;
        const char *message;
    } bad[] = {
        {0, 2, 1, "counter: a task with 0 sensors, expected 1 to 256"},
        {257, 2, 1, "counter: a task with 257 sensors, expected 1 to 256"},
        {1, 2, 0, "counter: a task with 0 numbers in an action, expected 1 to 32"},
        {1, 0, 33, "counter: a task with 33 numbers in an action, expected 1 to 32"},
        {1, -1, 1, "counter: a task with -1 actions, expected 0 or more"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_task task = {.nobs = bad[i].nobs, .naction = bad[i].naction, .nact = bad[i].nact};
        assert_int_equal(rh_agent_create(&agent, &counter_type, &task, NULL, &err), RH_EINVAL);
        assert_string_equal(err.text, bad[i].message);
        void *self = rh_alloc(1, 8);
        assert_int_equal(rh_env_adopt(&env, &corridor_type, &task, NULL, self, 8, &err),
                         RH_EINVAL);
        rh_free(self);
    }
    assert_null(env);
    assert_null(agent);

    // an action that the task does not have makes no step
    assert_int_equal(rh_env_create(&env, &corridor_type, NULL, &err), RH_OK);
    double state[8], obs = 0.0, reward = 0.0, act[] = {rh_env_task(env)->naction, -1.0, NAN};
    rh_streams streams = {.start = rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          .noise = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    assert_true(rh_env_state_size(env) <= sizeof state);
    rh_env_start(env, state, &streams, &obs);
    for (int i = 0; i < 3; i++) {
        assert_false(rh_env_step(env, state, &act[i], &streams, &obs, &reward));
        assert_true(isnan(reward));
    }
    rh_env_destroy(env);

    // a cache of another kind is not used
    rh_feature_cache *cache = NULL;
    double size = 3;
    assert_int_equal(rh_feature_cache__create(&cache, &viewer_type, &discrete, &size, pictures,
                                              3, SIZE_MAX, &err),
                     RH_OK);
    agent_of(&agent, &counter_type, &discrete, size);
    rh_contract__agent_use_cache(agent, cache);
    rh_contract__agent_look_up(agent, 0);
    rh_agent_destroy(agent);
    rh_feature_cache__destroy(cache);
    assert_int_equal(rh_base__alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment),
        cmocka_unit_test(environment_options),
        cmocka_unit_test(environment_without_memory),
        cmocka_unit_test(environment_adopted),
        cmocka_unit_test(adoption_without_memory),
        cmocka_unit_test(agent_learns_unless_frozen),
        cmocka_unit_test(agent_options),
        cmocka_unit_test(agent_without_parts),
        cmocka_unit_test(caches_are_used),
        cmocka_unit_test(kinds_without_caches),
        cmocka_unit_test(caches_that_fail),
        cmocka_unit_test(what_was_learned_comes_back),
        cmocka_unit_test(strangers_are_refused),
        cmocka_unit_test(agent_without_memory),
        cmocka_unit_test(misuse_is_an_error_in_every_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
