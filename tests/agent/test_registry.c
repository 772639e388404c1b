// test_registry.c - every registered agent meets the contract of rh_agent_type, in every
// environment whose actions it supports. The agent of examples/plugin/ is one of them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "env/part_test.h"
#include "eval/fixed_obs_env.h"
#include "my_plugin.h"
#include "rehearse/rehearse.h"

// A run that a test can stop between any two steps.
typedef struct run {
    rh_env *env;
    rh_agent *agent;
    void *state;
    rh_streams streams;
    rh_rng rng;
    double obs[RH_MAX_OBS], act[RH_MAX_ACT];
    double hash;    // of all actions and first sensors
    bool healthy;   // all numbers were finite
    char name[128]; // agent and environment, for messages
} run;

static bool fits(const rh_agent_type *agent, const rh_task *task)
{
    return agent->actions & (unsigned)(task->naction ? RH_DISCRETE : RH_CONTINUOUS);
}

static void begin(run *s, const rh_env_type *env, const rh_agent_type *agent, uint64_t seed)
{
    rh_error err = {""};
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s in %s", agent->name, env->name);
    assert_int_equal(rh_env_create(&s->env, env, NULL, NULL), RH_OK);
    rh_status rc = rh_agent_create(&s->agent, agent, rh_env_task(s->env), NULL, &err);
    MUST(s->name, !rc, "accept its initial hyperparameters; it said '%s'", err.text);
    s->state = rh_alloc(1, rh_env_state_size(s->env));
    s->streams.start = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    s->streams.noise = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    s->rng = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
    s->healthy = true;
}

static void restart(run *s)
{
    rh_env_start(s->env, s->state, &s->streams, s->obs);
    s->healthy = rh_agent_start(s->agent, s->obs, &s->rng, s->act) && s->healthy;
}

// The action is an index below naction, or a vector within the task's bounds.
static void check_action(const run *s)
{
    const rh_task *task = rh_env_task(s->env);
    if (task->naction)
        MUST(s->name,
             s->act[0] >= 0.0 && s->act[0] < task->naction && s->act[0] == floor(s->act[0]),
             "choose an action index from 0 to %d; it chose %g", task->naction - 1, s->act[0]);
    for (int i = 0; !task->naction && i < task->nact; i++)
        MUST(s->name, s->act[i] >= task->act_lo[i] && s->act[i] <= task->act_hi[i],
             "choose actions from %g to %g; it chose %g", task->act_lo[i], task->act_hi[i],
             s->act[i]);
}

static void go(run *s, int nstep)
{
    for (int t = 0; t < nstep; t++) {
        double reward;
        check_action(s);
        s->hash = s->hash * 0.99 + s->act[0] + s->obs[0];
        if (rh_env_step(s->env, s->state, s->act, &s->streams, s->obs, &reward)) {
            s->healthy = rh_agent_end(s->agent, reward) && s->healthy;
            restart(s);
        } else {
            s->healthy = rh_agent_step(s->agent, reward, s->obs, &s->rng, s->act) && s->healthy;
        }
    }
}

static void finish(run *s)
{
    rh_free(s->state);
    rh_agent_destroy(s->agent);
    rh_env_destroy(s->env);
}

// The default search ranges: what rh_param requires, and some for every agent that learns.
static void usual_ranges(void **unused)
{
    (void)unused;
    for (int a = 0; a < rh_agent_ntype(); a++) {
        const rh_agent_type *type = rh_agent_type_at(a);
        int nusual = 0;
        for (int i = 0; i < type->nparam; i++) {
            const rh_param *p = &type->param[i];
            if (p->usual_lo == p->usual_hi)
                continue;
            nusual++;
            MUST(type->name,
                 p->lo <= p->usual_lo && p->usual_lo < p->usual_hi && p->usual_hi <= p->hi,
                 "have lo <= usual_lo <= usual_hi <= hi for %s", p->name);
            MUST(type->name, p->initial >= p->usual_lo && p->initial <= p->usual_hi,
                 "have the initial value of %s within its usual range", p->name);
            MUST(type->name, !p->fixed, "have no usual range for %s, which is fixed", p->name);
            MUST(type->name, p->scale != RH_LOG || p->usual_lo > 0.0,
                 "have usual_lo above 0 for %s, which has a log scale", p->name);
        }
        MUST(type->name, (nusual > 0) == (type->save != NULL),
             "have a usual range if, and only if, it learns (save is set)");
    }
}

static double run_hash(const rh_env_type *env, const rh_agent_type *agent, uint64_t seed)
{
    run s;
    begin(&s, env, agent, seed);
    restart(&s);
    go(&s, 2000);
    MUST(s.name, s.healthy, "keep its numbers finite with initial hyperparameters");
    double hash = s.hash;
    finish(&s);
    return hash;
}

// Call f for every agent and every environment it fits.
static void for_all(void (*f)(const rh_env_type *, const rh_agent_type *))
{
    int n = 0;
    for (int e = 0; e < rh_env_ntype(); e++)
        for (int a = 0; a < rh_agent_ntype(); a++) {
            rh_env *env = NULL;
            assert_int_equal(rh_env_create(&env, rh_env_type_at(e), NULL, NULL), RH_OK);
            bool fit = fits(rh_agent_type_at(a), rh_env_task(env));
            rh_env_destroy(env);
            if (fit)
                f(rh_env_type_at(e), rh_agent_type_at(a));
            n += fit;
        }
    assert_true(n >= 2 * rh_env_ntype());
}

static void one_seed_one_run(const rh_env_type *env, const rh_agent_type *agent)
{
    double hash = run_hash(env, agent, 3);
    MUST(agent->name, hash == run_hash(env, agent, 3),
         "give the same run for the same streams in %s", env->name);
    MUST(agent->name, hash != run_hash(env, agent, 4),
         "give another run for another seed in %s", env->name);
}

static void nothing_allocates(const rh_env_type *env, const rh_agent_type *agent)
{
    run s;
    begin(&s, env, agent, 1);
    int64_t before = rh_base__alloc_count();
    restart(&s);
    go(&s, 10000);
    MUST(s.name, rh_base__alloc_count() == before,
         "allocate nothing in start(), step() and end()");
    finish(&s);
}

// Whether two agents save the same arrays: all of them, in order, with equal bits.
static bool same_state(rh_agent *a, rh_agent *b)
{
    rh_state *x = NULL, *y = NULL;
    assert_int_equal(rh_agent_save(a, &x, NULL), RH_OK);
    assert_int_equal(rh_agent_save(b, &y, NULL), RH_OK);
    bool same = rh_state__count(x) == rh_state__count(y);
    for (int i = 0; same && i < rh_state__count(x); i++) {
        const char *p_name, *q_name;
        size_t np, nq;
        const double *p = rh_state__at(x, i, &p_name, &np),
                     *q = rh_state__at(y, i, &q_name, &nq);
        same = strcmp(p_name, q_name) == 0 && np == nq &&
               (np == 0 || memcmp(p, q, np * sizeof *p) == 0);
    }
    rh_state_destroy(x);
    rh_state_destroy(y);
    return same;
}

// A second agent with the state of the first.
static void begin_copy(run *b, const run *a, const rh_env_type *env, const rh_agent_type *agent)
{
    rh_state *state = NULL;
    assert_int_equal(rh_agent_save(a->agent, &state, NULL), RH_OK);
    begin(b, env, agent, 6);
    MUST(b->name, rh_agent_load(b->agent, state, NULL) == RH_OK, "load what it saved");
    rh_state_destroy(state);
    MUST(b->name, same_state(a->agent, b->agent), "save again what it loaded");
}

// Two agents act and learn the same from here on.
static void check_equal_runs(run *a, run *b, const char *requirement)
{
    b->streams = a->streams;
    b->rng = a->rng;
    a->hash = b->hash = 0.0;
    restart(a);
    restart(b);
    go(a, 1000);
    go(b, 1000);
    MUST(a->name, a->hash == b->hash && same_state(a->agent, b->agent), "%s", requirement);
}

static void saved_is_loaded(const rh_env_type *env, const rh_agent_type *agent)
{
    run a, b;
    begin(&a, env, agent, 5);
    restart(&a);
    go(&a, 3000);
    begin_copy(&b, &a, env, agent);
    check_equal_runs(&a, &b, "act and learn after load() as the saved agent does");
    finish(&a);
    finish(&b);
}

static void frozen_learns_nothing(const rh_env_type *env, const rh_agent_type *agent)
{
    run a, b;
    begin(&a, env, agent, 5);
    restart(&a);
    go(&a, 2000);
    begin_copy(&b, &a, env, agent);
    rh_agent_freeze(a.agent, true);
    restart(&a);
    go(&a, 500);
    MUST(a.name, same_state(a.agent, b.agent), "learn nothing in act()");
    rh_agent_freeze(a.agent, false);
    check_equal_runs(&a, &b, "learn as before once it is no longer frozen");
    finish(&a);
    finish(&b);
}

// The probabilities sum to 1, and the actions have these frequencies. A correct agent fails the
// chi-square test of 3,000 draws (99.9999 % quantile of naction - 1 degrees of freedom, at most
// 5) once in a million.
static void policy_is_that_of_the_draws(const rh_env_type *env, const rh_agent_type *agent)
{
    enum { NDRAW = 3000, MOST = 16 };
    static const double bound[] = {0, 23.9, 27.6, 30.7, 33.4, 35.9};
    run s;
    double pi[MOST], again[MOST], count[MOST] = {0}, chi = 0.0, sum = 0.0;
    begin(&s, env, agent, 5);
    restart(&s);
    go(&s, 700);
    restart(&s);
    int n = rh_env_task(s.env)->naction;
    MUST(s.name, (agent->policy && n > 0) == rh_contract__agent_policy(s.agent, pi),
         "tell its probabilities where it has policy() and discrete actions, else not");
    if (!agent->policy || !n) {
        finish(&s);
        return;
    }
    rh_agent_freeze(s.agent, true); // the same state again and again
    for (int i = 0; i < NDRAW; i++) {
        s.healthy = rh_agent_start(s.agent, s.obs, &s.rng, s.act) && s.healthy;
        MUST(s.name,
             rh_contract__agent_policy(s.agent, again) &&
                 memcmp(pi, again, n * sizeof *pi) == 0,
             "tell the same probabilities in start() and act()");
        count[(int)s.act[0]]++;
    }
    for (int a = 0; a < n; a++) {
        double expected = NDRAW * pi[a];
        sum += pi[a];
        MUST(s.name, pi[a] > 0.0 || count[a] == 0.0, "not draw action %d, of probability 0", a);
        chi += expected > 0.0 ? (count[a] - expected) * (count[a] - expected) / expected : 0.0;
    }
    assert_true(n <= 6);
    MUST(s.name, fabs(sum - 1.0) < 1e-6, "tell probabilities with sum 1, not %g", sum);
    MUST(s.name, chi < bound[n - 1], "draw from its probabilities; chi-square %g", chi);
    finish(&s);
}

// An agent that takes the actions of another, whatever it draws itself, learns the same.
static void taken_is_drawn(const rh_env_type *env, const rh_agent_type *agent)
{
    run a, b;
    double reward;
    begin(&a, env, agent, 5);
    begin(&b, env, agent, 5);
    b.rng = rh_rng_stream(99, RH_STREAM_AGENT, 0, 0);
    bool tells = agent->policy && rh_env_task(a.env)->naction;
    restart(&a);
    b.healthy = rh_agent_start(b.agent, a.obs, &b.rng, b.act);
    for (int t = 0, ndiffer = 0; tells && (t < 2000 || !ndiffer); t++) {
        ndiffer += a.act[0] != b.act[0];
        assert_true(t < 100000);
        rh_contract__agent_take(b.agent, (int)a.act[0]);
        if (rh_env_step(a.env, a.state, a.act, &a.streams, a.obs, &reward)) {
            a.healthy = rh_agent_end(a.agent, reward) && a.healthy;
            b.healthy = rh_agent_end(b.agent, reward) && b.healthy;
            restart(&a);
            b.healthy = rh_agent_start(b.agent, a.obs, &b.rng, b.act) && b.healthy;
        } else {
            a.healthy = rh_agent_step(a.agent, reward, a.obs, &a.rng, a.act) && a.healthy;
            b.healthy = rh_agent_step(b.agent, reward, a.obs, &b.rng, b.act) && b.healthy;
        }
    }
    MUST(a.name, a.healthy && b.healthy && (!tells || same_state(a.agent, b.agent)),
         "learn from an action that it took as from one that it drew");
    finish(&a);
    finish(&b);
}

// Whether 500 steps change what the agent saves.
static bool learns(const rh_env_type *env, const rh_agent_type *agent)
{
    run a, b;
    begin(&a, env, agent, 5);
    begin(&b, env, agent, 5);
    restart(&a);
    go(&a, 500);
    bool changed = !same_state(a.agent, b.agent);
    finish(&a);
    finish(&b);
    return changed;
}

// An agent that was reset runs as a new one does.
static void reset_is_a_new_run(const rh_env_type *env, const rh_agent_type *agent)
{
    run a, b;
    double hp[64], other[64];
    rh_param_initial(agent->param, agent->nparam, hp);
    rh_param_initial(agent->param, agent->nparam, other);
    for (int i = 0; i < agent->nparam; i++)
        if (!agent->param[i].fixed && agent->param[i].initial == 0.0)
            other[i] = 0.5; // beta1: needs memory that the next run does not
    begin(&a, env, agent, 5);
    assert_int_equal(rh_contract__agent_reset(a.agent, rh_env_task(a.env), other, NULL), RH_OK);
    restart(&a);
    go(&a, 2000);
    rh_agent_freeze(a.agent, true);

    for (int shape = 0; shape < 2; shape++) { // tables of the same size, then smaller ones
        int tiles = rh_param_find(agent->param, agent->nparam, "tiles");
        if (shape && tiles >= 0)
            hp[tiles] = 3;
        assert_int_equal(rh_contract__agent_reset(a.agent, rh_env_task(a.env), hp, NULL),
                         RH_OK);
        begin(&b, env, agent, 8);
        assert_int_equal(rh_contract__agent_reset(b.agent, rh_env_task(b.env), hp, NULL),
                         RH_OK);
        a.streams = b.streams;
        a.rng = b.rng;
        a.hash = 0.0;
        restart(&a);
        restart(&b);
        go(&a, 2000);
        go(&b, 2000);
        MUST(a.name, a.hash == b.hash && same_state(a.agent, b.agent),
             "run after reset() as a new agent does");
        finish(&b);
    }
    finish(&a);
}

// ---------------------------------------------------------------------------- feature caches

// Call f for every agent with feature caches, in environments with fixed observations and
// every kind of action it supports, with several sets of hyperparameters.
static void for_all_caches(void (*f)(rh_env *, const rh_agent_type *, const double *))
{
    int n = 0;
    for (int a = 0; a < rh_agent_ntype(); a++)
        for (int variant = 0; variant < NACTIONS * 4; variant++) {
            const rh_agent_type *agent = rh_agent_type_at(a);
            rh_env *env = NULL;
            double opt[FIXED_OBS_NPARAM] = {[ACTIONS] = variant / 4}, hp[64];
            assert_int_equal(rh_env_create(&env, &fixed_obs_env_type, opt, NULL), RH_OK);
            rh_param_initial(agent->param, agent->nparam, hp);
            int tilings = rh_param_find(agent->param, agent->nparam, "tilings");
            int features = rh_param_find(agent->param, agent->nparam, "features");
            for (int i = 0; variant % 4 == 1 && i < agent->nparam; i++)
                if (!agent->param[i].fixed && agent->param[i].initial == 0.0)
                    hp[i] = 0.5;
            if (variant % 4 == 2 && tilings >= 0)
                hp[tilings] = 5; // fills neither a vector nor a cache line
            if (variant % 4 == 3 && features >= 0)
                hp[features] = 2; // joint
            if (agent->make_cache && fits(agent, rh_env_task(env))) {
                f(env, agent, hp);
                n++;
            }
            rh_env_destroy(env);
        }
    assert_true(n >= 4 * 5);
}

// Runs with and without a cache. With one, the agent gets the index of the observation and,
// as a check, no observation at all.
static void restart_cached(run *s, bool cached)
{
    rh_env_start(s->env, s->state, &s->streams, s->obs);
    if (cached)
        rh_contract__agent_look_up(s->agent, rh_contract__env_obs_index(s->env, s->state));
    double blind[NSENSOR] = {0};
    s->healthy =
        rh_agent_start(s->agent, cached ? blind : s->obs, &s->rng, s->act) && s->healthy;
}

static void go_cached(run *s, int nstep, bool cached)
{
    double blind[NSENSOR] = {0};
    for (int t = 0; t < nstep; t++) {
        double reward;
        s->hash = s->hash * 0.99 + s->act[0] + s->obs[0];
        if (rh_env_step(s->env, s->state, s->act, &s->streams, s->obs, &reward)) {
            s->healthy = rh_agent_end(s->agent, reward) && s->healthy;
            restart_cached(s, cached);
            continue;
        }
        if (cached)
            rh_contract__agent_look_up(s->agent, rh_contract__env_obs_index(s->env, s->state));
        const double *obs = cached ? blind : s->obs;
        s->healthy = rh_agent_step(s->agent, reward, obs, &s->rng, s->act) && s->healthy;
    }
}

static void begin_in(run *s, rh_env *env, const rh_agent_type *agent, const double *hp)
{
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s with fixed observations", agent->name);
    s->env = env;
    assert_int_equal(rh_agent_create(&s->agent, agent, rh_env_task(env), hp, NULL), RH_OK);
    s->state = rh_alloc(1, rh_env_state_size(env));
    s->streams.start = rh_rng_stream(7, RH_STREAM_START, 0, 0);
    s->streams.noise = rh_rng_stream(7, RH_STREAM_NOISE, 0, 0);
    s->rng = rh_rng_stream(7, RH_STREAM_AGENT, 0, 0);
    s->healthy = true;
}

static void finish_in(run *s)
{
    rh_free(s->state);
    rh_agent_destroy(s->agent);
}

static void both_go(run *plain, run *cached, int nstep)
{
    restart_cached(plain, false);
    restart_cached(cached, true);
    go_cached(plain, nstep, false);
    go_cached(cached, nstep, true);
    MUST(plain->name, plain->healthy && cached->healthy, "keep its numbers finite");
    MUST(plain->name, plain->hash == cached->hash && same_state(plain->agent, cached->agent),
         "act and learn the same with and without a feature cache");
}

static rh_feature_cache *cache_of(rh_env *env, const rh_agent_type *agent, const double *hp)
{
    int32_t n;
    const double *obs = rh_contract__env_fixed_obs(env, &n);
    rh_feature_cache *cache = NULL;
    assert_int_equal(rh_feature_cache__create(&cache, agent, rh_env_task(env), hp, obs, n,
                                              (size_t)1 << 28, NULL),
                     RH_OK);
    assert_non_null(cache);
    return cache;
}

// Runs with and without a feature cache are equal, bit for bit: learning, frozen, saved and
// loaded, after a reset, and when the cache is taken away in the middle of an episode.
static void caches_change_nothing(rh_env *env, const rh_agent_type *agent, const double *hp)
{
    run plain, cached;
    rh_feature_cache *cache = cache_of(env, agent, hp);
    begin_in(&plain, env, agent, hp);
    begin_in(&cached, env, agent, hp);
    rh_contract__agent_use_cache(cached.agent, cache);
    int64_t before = rh_base__alloc_count();
    restart_cached(&cached, true);
    go_cached(&cached, 100, true);
    assert_int_equal(rh_base__alloc_count(), before);
    restart_cached(&plain, false);
    go_cached(&plain, 100, false);
    both_go(&plain, &cached, 1500);

    rh_agent_freeze(plain.agent, true);
    rh_agent_freeze(cached.agent, true);
    both_go(&plain, &cached, 200);
    rh_agent_freeze(plain.agent, false);
    rh_agent_freeze(cached.agent, false);

    // each loads the state of the other
    rh_state *state = NULL;
    assert_int_equal(rh_agent_save(cached.agent, &state, NULL), RH_OK);
    assert_int_equal(rh_agent_load(plain.agent, state, NULL), RH_OK);
    rh_state_destroy(state);
    assert_int_equal(rh_agent_save(plain.agent, &state, NULL), RH_OK);
    assert_int_equal(rh_agent_load(cached.agent, state, NULL), RH_OK);
    rh_state_destroy(state);
    both_go(&plain, &cached, 300);

    // the cache is taken away
    rh_contract__agent_use_cache(cached.agent, NULL);
    rh_feature_cache__destroy(cache);
    go_cached(&plain, 300, false);
    go_cached(&cached, 300, false);
    MUST(plain.name, plain.hash == cached.hash && same_state(plain.agent, cached.agent),
         "run on without its cache");

    // a reset ends the use of a cache
    cache = cache_of(env, agent, hp);
    rh_contract__agent_use_cache(cached.agent, cache);
    assert_int_equal(rh_contract__agent_reset(plain.agent, rh_env_task(env), hp, NULL), RH_OK);
    assert_int_equal(rh_contract__agent_reset(cached.agent, rh_env_task(env), hp, NULL), RH_OK);
    rh_feature_cache__destroy(cache);
    restart_cached(&plain, false);
    restart_cached(&cached, false);
    go_cached(&plain, 300, false);
    go_cached(&cached, 300, false);
    MUST(plain.name, plain.hash == cached.hash && same_state(plain.agent, cached.agent),
         "stop using its cache on reset()");
    finish_in(&plain);
    finish_in(&cached);
}

static void caches_keep_to_their_size(rh_env *env, const rh_agent_type *agent, const double *hp)
{
    int64_t live = rh_base__alloc_live();
    int32_t n;
    const double *obs = rh_contract__env_fixed_obs(env, &n);
    rh_feature_cache *cache = NULL;
    for (size_t most = 0; most < 4000; most += 1000) {
        assert_int_equal(
            rh_feature_cache__create(&cache, agent, rh_env_task(env), hp, obs, n, most, NULL),
            RH_OK);
        assert_null(cache);
    }
    for (int nth = 1;; nth++) {
        rh_error err;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_feature_cache__create(&cache, agent, rh_env_task(env), hp, obs, n,
                                                (size_t)1 << 28, &err);
        rh_base__alloc_fail_at(0);
        rh_feature_cache__destroy(cache);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_non_null(strstr(err.text, "out of memory"));
    }
}

static void survives_failed_allocations(const rh_env_type *type, const rh_agent_type *agent)
{
    rh_env *env = NULL;
    assert_int_equal(rh_env_create(&env, type, NULL, NULL), RH_OK);
    int64_t before = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_agent *made = NULL;
        rh_state *state = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_agent_create(&made, agent, rh_env_task(env), NULL, NULL);
        if (!rc)
            rc = rh_agent_save(made, &state, NULL);
        if (!rc)
            rc = rh_agent_load(made, state, NULL);
        double hp[64];
        rh_param_initial(agent->param, agent->nparam, hp);
        for (int i = 0; i < agent->nparam; i++) // beta1: needs more memory
            if (!agent->param[i].fixed && agent->param[i].initial == 0.0)
                hp[i] = 0.5;
        if (!rc)
            rc = rh_contract__agent_reset(made, rh_env_task(env), hp, NULL);
        rh_base__alloc_fail_at(0);
        rh_state_destroy(state);
        rh_agent_destroy(made);
        MUST(agent->name, rh_base__alloc_live() == before,
             "release all memory when allocation %d fails", nth);
        MUST(agent->name, !rc || rc == RH_ENOMEM, "report RH_ENOMEM when allocation %d fails",
             nth);
        if (rc == RH_OK)
            break;
    }
    rh_env_destroy(env);
}

static void test_one_seed_one_run(void **unused)
{
    (void)unused;
    for_all(one_seed_one_run);
}

static void test_nothing_allocates(void **unused)
{
    (void)unused;
    for_all(nothing_allocates);
}

static void test_saved_is_loaded(void **unused)
{
    (void)unused;
    for_all(saved_is_loaded);
}

static void test_frozen_learns_nothing(void **unused)
{
    (void)unused;
    for_all(frozen_learns_nothing);
}

static void test_policy_is_that_of_the_draws(void **unused)
{
    (void)unused;
    for_all(policy_is_that_of_the_draws);
}

static void test_taken_is_drawn(void **unused)
{
    (void)unused;
    for_all(taken_is_drawn);
}

static void test_learns(void **unused)
{
    (void)unused;
    for (int a = 0; a < rh_agent_ntype(); a++) {
        const rh_agent_type *agent = rh_agent_type_at(a);
        bool changed = false;
        for (int e = 0; !changed && e < rh_env_ntype(); e++) {
            rh_env *env = NULL;
            assert_int_equal(rh_env_create(&env, rh_env_type_at(e), NULL, NULL), RH_OK);
            changed = fits(agent, rh_env_task(env)) && learns(rh_env_type_at(e), agent);
            rh_env_destroy(env);
        }
        MUST(agent->name, changed == (agent->save != NULL),
             "save what it learns: 500 steps change the arrays in some environment if, and "
             "only if, save is set");
    }
}

static void test_reset_is_a_new_run(void **unused)
{
    (void)unused;
    for_all(reset_is_a_new_run);
}

static void test_caches_change_nothing(void **unused)
{
    (void)unused;
    for_all_caches(caches_change_nothing);
}

static void test_caches_keep_to_their_size(void **unused)
{
    (void)unused;
    for_all_caches(caches_keep_to_their_size);
}

static void test_survives_failed_allocations(void **unused)
{
    (void)unused;
    for_all(survives_failed_allocations);
}

static void parameter_tables_are_valid(void **unused)
{
    (void)unused;
    for (int a = 0; a < rh_agent_ntype(); a++) {
        const rh_agent_type *type = rh_agent_type_at(a);
        rh_error err = {""};
        MUST(type->name, rh_agent_find(type->name, NULL) == type, "have a name of its own");
        MUST(type->name, type->about, "have an about line");
        MUST(type->name,
             !type->make_cache == !type->use_cache && !type->make_cache == !type->look_up,
             "set all of make_cache, use_cache and look_up, or none");
        MUST(type->name, !type->save == !type->load, "set both save and load, or neither");
        double hp[64];
        rh_param_initial(type->param, type->nparam, hp);
        rh_status rc = rh_param__check(type->param, type->nparam, type->name, hp, &err);
        MUST(type->name, !rc, "accept its initial hyperparameters; it said '%s'", err.text);
        for (int i = 0; i < type->nparam; i++) {
            const rh_param *p = &type->param[i];
            MUST(type->name, rh_param_find(type->param, type->nparam, p->name) == i,
                 "have one parameter %s only", p->name);
            MUST(type->name, p->about, "describe its parameter %s", p->name);
            MUST(type->name, p->scale == RH_LINEAR || p->lo > 0.0 || p->usual_lo > 0.0,
                 "have lo or usual_lo above 0 for %s, which has a log scale", p->name);
        }
    }
}

// Every axis of a published grid names an agent's parameter and values it accepts.
static void published_grids_fit_the_agents(void **unused)
{
    (void)unused;
    int n = 0;
    for (int e = 0; e < rh_env_ntype(); e++)
        for (int i = 0; i < rh_env_type_at(e)->ngrid; i++, n++) {
            const rh_axis *axis = &rh_env_type_at(e)->grid[i];
            const rh_agent_type *agent = rh_agent_find(axis->agent, NULL);
            const char *env = rh_env_type_at(e)->name;
            MUST(env, agent, "have grids of known agents; there is no %s", axis->agent);
            double hp[64];
            rh_param_initial(agent->param, agent->nparam, hp);
            int p = rh_param_find(agent->param, agent->nparam, axis->param);
            MUST(env, p >= 0, "have grids of known parameters; %s has no %s", axis->agent,
                 axis->param);
            for (int k = 0; k < axis->nvalue; k++) {
                hp[p] = axis->value[k];
                MUST(env, !rh_param__check(agent->param, agent->nparam, agent->name, hp, NULL),
                     "list values that %s accepts for %s", axis->agent, axis->param);
            }
        }
    assert_true(n > 0);
}

// A saved state fits only an agent with the same fixed parameters. A missing momentum is zero.
static void states_need_equal_fixed_parameters(void **unused)
{
    (void)unused;
    const rh_agent_type *type = rh_agent_find("esarsa", NULL);
    rh_env *env = NULL;
    assert_int_equal(rh_env_create(&env, rh_env_find("puddle_world", NULL), NULL, NULL), RH_OK);
    rh_agent *agent = NULL;
    rh_state *state = NULL;
    rh_error err;
    double hp[64];
    rh_param_initial(type->param, type->nparam, hp);
    assert_int_equal(rh_agent_create(&agent, type, rh_env_task(env), hp, NULL), RH_OK);
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);

    hp[rh_param_find(type->param, type->nparam, "beta1")] = 0.9;
    assert_int_equal(rh_contract__agent_reset(agent, rh_env_task(env), hp, NULL), RH_OK);
    assert_int_equal(rh_agent_load(agent, state, NULL), RH_OK);

    hp[rh_param_find(type->param, type->nparam, "tilings")] = 8;
    assert_int_equal(rh_contract__agent_reset(agent, rh_env_task(env), hp, NULL), RH_OK);
    assert_int_equal(rh_agent_load(agent, state, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "saved with tilings = 16, not 8"));

    // other ranges give the features another meaning
    rh_task wider = *rh_env_task(env);
    wider.obs_hi[1] = 1.5;
    rh_param_initial(type->param, type->nparam, hp);
    assert_int_equal(rh_contract__agent_reset(agent, &wider, hp, NULL), RH_OK);
    assert_int_equal(rh_agent_load(agent, state, &err), RH_EINVAL);
    assert_string_equal(err.text, "esarsa: the state was saved with the range 0 to 1 of sensor "
                                  "1, expected 0 to 1.5 as in the task");
    assert_int_equal(rh_contract__agent_reset(agent, rh_env_task(env), hp, NULL), RH_OK);
    assert_int_equal(rh_agent_load(agent, state, NULL), RH_OK);
    rh_state_destroy(state);
    rh_agent_destroy(agent);
    rh_env_destroy(env);
}

static void refuses_with_a_reason(void **unused)
{
    (void)unused;
    rh_error err;
    assert_null(rh_agent_find("esarza", &err));
    assert_non_null(strstr(err.text, "no agent 'esarza'; did you mean 'esarsa'?"));
    assert_null(rh_agent_type_at(-1));
    assert_null(rh_agent_type_at(rh_agent_ntype()));

    rh_env *env = NULL;
    rh_agent *agent = NULL;
    assert_int_equal(rh_env_create(&env, rh_env_find("pendulum", NULL), NULL, NULL), RH_OK);
    assert_int_equal(
        rh_agent_create(&agent, rh_agent_find("esarsa", NULL), rh_env_task(env), NULL, &err),
        RH_EINVAL);
    assert_non_null(strstr(err.text, "discrete actions only"));
    assert_null(agent);
    rh_env_destroy(env);
}

// Mean score of a few runs with the agent's own defaults.
static double mean_score(const char *env_name, const char *agent_name, int64_t nstep)
{
    rh_env *env = NULL;
    assert_int_equal(rh_env_create(&env, rh_env_find(env_name, NULL), NULL, NULL), RH_OK);
    const rh_agent_type *type = rh_agent_find(agent_name, NULL);
    double hp[64];
    rh_param_initial(type->param, type->nparam, hp);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = nstep;
    opt.nrun = 5;
    rh_result result[5];
    assert_int_equal(
        rh_eval_runs(&env, 1, type, rh_env_task(env), 1, hp, &opt, result, NULL, NULL), RH_OK);
    double sum = 0.0;
    for (int r = 0; r < 5; r++)
        sum += result[r].score;
    rh_env_destroy(env);
    return sum / 5;
}

static void defaults_learn(void **unused)
{
    (void)unused;
    static const struct {
        const char *env, *agent;
        int64_t nstep;
        double margin; // how many times better than the random agent
    } cases[] = {
        {"puddle_world", "esarsa", 15000, 5},
        {"puddle_world", "actor_critic", 15000, 2},
        {"acrobot", "esarsa", 15000, 2},
        {"mountain_car", "esarsa", 15000, 2},
        {"pendulum", "gaussian_actor_critic", 100000, 2},
        {"cartpole", "dqn", 5000, 4},
        {"pendulum", "sac", 8000, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double learned = mean_score(cases[i].env, cases[i].agent, cases[i].nstep);
        double random = mean_score(cases[i].env, "random", cases[i].nstep);
        print_message("%s, %s: %.1f, random agent %.1f\n", cases[i].env, cases[i].agent,
                      learned, random);
        assert_true(learned > random / cases[i].margin); // scores are negative
    }
}

static double mean_of(rh_env *env, const rh_agent_type *agent)
{
    enum { NRUN = 2 };
    rh_result result[NRUN];
    double hp[RH_MAX_PARAM], sum = 0.0;
    rh_param_initial(agent->param, agent->nparam, hp);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = 5000;
    opt.nrun = NRUN;
    assert_int_equal(
        rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, hp, &opt, result, NULL, NULL), RH_OK);
    for (int i = 0; i < NRUN; i++)
        sum += result[i].score;
    return sum / NRUN;
}

// With its initial hyperparameters an agent that learns is better than the random one.
static void initial_settings_beat_random(void **unused)
{
    (void)unused;
    for (int e = 0; e < rh_env_ntype(); e++) {
        rh_env *env = NULL;
        assert_int_equal(rh_env_create(&env, rh_env_type_at(e), NULL, NULL), RH_OK);
        double random = mean_of(env, rh_agent_find("random", NULL));
        for (int a = 0; a < rh_agent_ntype(); a++) {
            const rh_agent_type *agent = rh_agent_type_at(a);
            if (!agent->save || !fits(agent, rh_env_task(env)))
                continue;
            double mean = mean_of(env, agent);
            MUST(agent->name, mean > random,
                 "do better than the random agent with its initial hyperparameters; in %s it "
                 "scores %g and the random agent %g",
                 rh_env_type_at(e)->name, mean, random);
        }
        rh_env_destroy(env);
    }
}

// The rule of step sizes: each says what divides it.
static void step_sizes_say_what_divides_them(void **unused)
{
    (void)unused;
    for (int a = 0; a < rh_agent_ntype(); a++) {
        const rh_agent_type *type = rh_agent_type_at(a);
        for (int i = 0; i < type->nparam; i++) {
            const char *about = type->param[i].about;
            if (strncmp(about, "step size", 9) == 0)
                MUST(type->name,
                     strstr(about, "divided by the number of tilings") ||
                         strstr(about, "not divided") || strstr(about, "relative to"),
                     "say by what the step size %s is divided", type->param[i].name);
        }
    }
}

int main(void)
{
    rh_error err = {""};
    if (rh_agent_register(&my_sarsa_type, &err)) {
        print_error("%s\n", err.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_settings_beat_random),
        cmocka_unit_test(step_sizes_say_what_divides_them),
        cmocka_unit_test(parameter_tables_are_valid),
        cmocka_unit_test(usual_ranges),
        cmocka_unit_test(published_grids_fit_the_agents),
        cmocka_unit_test(states_need_equal_fixed_parameters),
        cmocka_unit_test(refuses_with_a_reason),
        cmocka_unit_test(test_one_seed_one_run),
        cmocka_unit_test(test_nothing_allocates),
        cmocka_unit_test(test_saved_is_loaded),
        cmocka_unit_test(test_frozen_learns_nothing),
        cmocka_unit_test(test_policy_is_that_of_the_draws),
        cmocka_unit_test(test_taken_is_drawn),
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_reset_is_a_new_run),
        cmocka_unit_test(test_caches_change_nothing),
        cmocka_unit_test(test_caches_keep_to_their_size),
        cmocka_unit_test(test_survives_failed_allocations),
        cmocka_unit_test(defaults_learn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
