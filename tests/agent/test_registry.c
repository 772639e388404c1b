// test_registry.c - what every agent promises, in every environment whose actions it can take.
// A new agent is tested by being listed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/fixed_obs_env.h"
#include "rehearse/rehearse.h"

#include <math.h>
#include <string.h>

// A run that can be looked at between any two steps.
typedef struct entry {
    rh_env *env;
    rh_agent *agent;
    void *state;
    rh_streams streams;
    rh_rng rng;
    double obs[RH_MAX_OBS], act[RH_MAX_ACT];
    double hash; // of all that was done
    bool healthy;
} entry;

static bool fits(const rh_agent_type *agent, const rh_task *task)
{
    return agent->actions & (unsigned)(task->naction ? RH_DISCRETE : RH_CONTINUOUS);
}

static void begin(entry *s, const rh_env_type *env, const rh_agent_type *agent, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    assert_int_equal(rh_env_create(&s->env, env, NULL, NULL), RH_OK);
    assert_int_equal(rh_agent_create(&s->agent, agent, rh_env_task(s->env), NULL, NULL), RH_OK);
    s->state = rh_alloc(1, rh_env_state_size(s->env));
    s->streams.start = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    s->streams.noise = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    s->rng = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
    s->healthy = true;
}

static void restart(entry *s)
{
    rh_env_start(s->env, s->state, &s->streams, s->obs);
    s->healthy = rh_agent_start(s->agent, s->obs, &s->rng, s->act) && s->healthy;
}

static void go(entry *s, int nstep)
{
    for (int t = 0; t < nstep; t++) {
        double reward;
        s->hash = s->hash * 0.99 + s->act[0] + s->obs[0];
        if (rh_env_step(s->env, s->state, s->act, &s->streams, s->obs, &reward)) {
            s->healthy = rh_agent_end(s->agent, reward) && s->healthy;
            restart(s);
        } else {
            s->healthy = rh_agent_step(s->agent, reward, s->obs, &s->rng, s->act) && s->healthy;
        }
    }
}

static void finish(entry *s)
{
    rh_free(s->state);
    rh_agent_destroy(s->agent);
    rh_env_destroy(s->env);
}

// What is searched where nobody says: within what is accepted, something of every learner,
// nothing of its construction, and nothing from 0 on by the logarithm.
static void usual_ranges(void **unused)
{
    (void)unused;
    for (int a = 0; a < rh_agent_ntype(); a++) {
        const rh_agent_type *type = rh_agent_type_at(a);
        int nusual = 0;
        for (int i = 0; i < type->nparam; i++) {
            const rh_param *p = &type->param[i];
            assert_true(p->usual_lo <= p->usual_hi);
            if (p->usual_lo == p->usual_hi)
                continue;
            nusual++;
            assert_true(p->usual_lo >= p->lo && p->usual_hi <= p->hi);
            assert_true(p->initial >= p->usual_lo && p->initial <= p->usual_hi);
            assert_false(p->fixed || p->choice);
            assert_true(p->scale != RH_LOG || p->usual_lo > 0.0);
        }
        assert_true((nusual > 0) == (type->save != NULL));
    }
}

static double run_hash(const rh_env_type *env, const rh_agent_type *agent, uint64_t seed)
{
    entry s;
    begin(&s, env, agent, seed);
    restart(&s);
    go(&s, 2000);
    assert_true(s.healthy);
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
    assert_true(hash == run_hash(env, agent, 3));
    assert_true(hash != run_hash(env, agent, 4));
}

static void nothing_allocates(const rh_env_type *env, const rh_agent_type *agent)
{
    entry s;
    begin(&s, env, agent, 1);
    int64_t before = rh_alloc_count();
    restart(&s);
    go(&s, 10000);
    assert_int_equal(rh_alloc_count(), before);
    finish(&s);
}

static bool same_state(rh_agent *a, rh_agent *b)
{
    rh_state *x = NULL, *y = NULL;
    assert_int_equal(rh_agent_save(a, &x, NULL), RH_OK);
    assert_int_equal(rh_agent_save(b, &y, NULL), RH_OK);
    static const char *const names[] = {"hyperparameters", "w", "v", "m", "theta", "beta^t"};
    bool same = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t nx = 0, ny = 0;
        const double *p = rh_state_find(x, names[i], &nx), *q = rh_state_find(y, names[i], &ny);
        same = same && nx == ny && (nx == 0 || memcmp(p, q, nx * sizeof *p) == 0);
    }
    rh_state_destroy(x);
    rh_state_destroy(y);
    return same;
}

// An agent saved and loaded runs on exactly as the one that was saved.
static void saved_is_loaded(const rh_env_type *env, const rh_agent_type *agent)
{
    entry a, b;
    rh_state *state = NULL;
    begin(&a, env, agent, 5);
    restart(&a);
    go(&a, 3000);
    assert_int_equal(rh_agent_save(a.agent, &state, NULL), RH_OK);
    begin(&b, env, agent, 6);
    assert_int_equal(rh_agent_load(b.agent, state, NULL), RH_OK);
    rh_state_destroy(state);
    assert_true(same_state(a.agent, b.agent));

    b.streams = a.streams;
    b.rng = a.rng;
    a.hash = b.hash = 0.0;
    restart(&a);
    restart(&b);
    go(&a, 1000);
    go(&b, 1000);
    assert_true(a.hash == b.hash);
    assert_true(same_state(a.agent, b.agent));
    finish(&a);
    finish(&b);
}

// A frozen agent acts by its policy and learns nothing.
static void frozen_learns_nothing(const rh_env_type *env, const rh_agent_type *agent)
{
    entry a, b;
    begin(&a, env, agent, 5);
    restart(&a);
    go(&a, 2000);
    rh_state *state = NULL;
    assert_int_equal(rh_agent_save(a.agent, &state, NULL), RH_OK);
    begin(&b, env, agent, 5);
    assert_int_equal(rh_agent_load(b.agent, state, NULL), RH_OK);
    rh_state_destroy(state);
    rh_agent_freeze(a.agent, true);
    restart(&a);
    go(&a, 500);
    assert_true(same_state(a.agent, b.agent));
    rh_agent_freeze(a.agent, false);
    restart(&a);
    go(&a, 500);
    assert_true(same_state(a.agent, b.agent) == !agent->save); // it learns again
    finish(&a);
    finish(&b);
}

// An agent that has run, under other hyperparameters, runs again as a fresh one does.
static void reset_is_a_new_run(const rh_env_type *env, const rh_agent_type *agent)
{
    entry a, b;
    double hp[64], other[64];
    rh_param_initial(agent->param, agent->nparam, hp);
    rh_param_initial(agent->param, agent->nparam, other);
    for (int i = 0; i < agent->nparam; i++)
        if (!agent->param[i].fixed && agent->param[i].initial == 0.0)
            other[i] = 0.5; // beta1: memory that the next run does without
    begin(&a, env, agent, 5);
    assert_int_equal(rh_agent_reset(a.agent, rh_env_task(a.env), other, NULL), RH_OK);
    restart(&a);
    go(&a, 2000);
    rh_agent_freeze(a.agent, true);

    for (int shape = 0; shape < 2; shape++) { // the same tables, then smaller ones
        int tiles = rh_param_find(agent->param, agent->nparam, "tiles");
        if (shape && tiles >= 0)
            hp[tiles] = 3;
        assert_int_equal(rh_agent_reset(a.agent, rh_env_task(a.env), hp, NULL), RH_OK);
        begin(&b, env, agent, 8);
        assert_int_equal(rh_agent_reset(b.agent, rh_env_task(b.env), hp, NULL), RH_OK);
        a.streams = b.streams;
        a.rng = b.rng;
        a.hash = 0.0;
        restart(&a);
        restart(&b);
        go(&a, 2000);
        go(&b, 2000);
        assert_true(a.hash == b.hash);
        assert_true(same_state(a.agent, b.agent));
        finish(&b);
    }
    finish(&a);
}

// ---------------------------------------------------------------------------- feature caches

// Call f for every agent with feature caches, in galleries of every kind of action it takes,
// with the initial hyperparameters and with others that need other tables.
static void for_all_caches(void (*f)(rh_env *, const rh_agent_type *, const double *))
{
    int n = 0;
    for (int a = 0; a < rh_agent_ntype(); a++)
        for (int variant = 0; variant < NGALLERY * 4; variant++) {
            const rh_agent_type *agent = rh_agent_type_at(a);
            rh_env *env = NULL;
            double opt[GALLERY_NPARAM] = {[ACTIONS] = variant / 4}, hp[64];
            assert_int_equal(rh_env_create(&env, &fixed_obs_env_type, opt, NULL), RH_OK);
            rh_param_initial(agent->param, agent->nparam, hp);
            int tilings = rh_param_find(agent->param, agent->nparam, "tilings");
            int features = rh_param_find(agent->param, agent->nparam, "features");
            for (int i = 0; variant % 4 == 1 && i < agent->nparam; i++)
                if (!agent->param[i].fixed && agent->param[i].initial == 0.0)
                    hp[i] = 0.5;
            if (variant % 4 == 2 && tilings >= 0)
                hp[tilings] = 5; // neither whole vectors nor whole lines
            if (variant % 4 == 3 && features >= 0)
                hp[features] = 2; // jointly
            if (agent->make_cache && fits(agent, rh_env_task(env))) {
                f(env, agent, hp);
                n++;
            }
            rh_env_destroy(env);
        }
    assert_true(n >= 4 * 5);
}

// Runs that look at pictures themselves, or are told their numbers.
static void restart_told(entry *s, bool told)
{
    rh_env_start(s->env, s->state, &s->streams, s->obs);
    if (told)
        rh_agent_look_up(s->agent, rh_env_obs_index(s->env, s->state));
    double blind[NSENSOR] = {0}; // who is told need not look
    s->healthy = rh_agent_start(s->agent, told ? blind : s->obs, &s->rng, s->act) && s->healthy;
}

static void go_told(entry *s, int nstep, bool told)
{
    double blind[NSENSOR] = {0};
    for (int t = 0; t < nstep; t++) {
        double reward;
        s->hash = s->hash * 0.99 + s->act[0] + s->obs[0];
        if (rh_env_step(s->env, s->state, s->act, &s->streams, s->obs, &reward)) {
            s->healthy = rh_agent_end(s->agent, reward) && s->healthy;
            restart_told(s, told);
            continue;
        }
        if (told)
            rh_agent_look_up(s->agent, rh_env_obs_index(s->env, s->state));
        const double *obs = told ? blind : s->obs;
        s->healthy = rh_agent_step(s->agent, reward, obs, &s->rng, s->act) && s->healthy;
    }
}

static void begin_in(entry *s, rh_env *env, const rh_agent_type *agent, const double *hp)
{
    memset(s, 0, sizeof *s);
    s->env = env;
    assert_int_equal(rh_agent_create(&s->agent, agent, rh_env_task(env), hp, NULL), RH_OK);
    s->state = rh_alloc(1, rh_env_state_size(env));
    s->streams.start = rh_rng_stream(7, RH_STREAM_START, 0, 0);
    s->streams.noise = rh_rng_stream(7, RH_STREAM_NOISE, 0, 0);
    s->rng = rh_rng_stream(7, RH_STREAM_AGENT, 0, 0);
    s->healthy = true;
}

static void finish_in(entry *s)
{
    rh_free(s->state);
    rh_agent_destroy(s->agent);
}

static void both_go(entry *plain, entry *told, int nstep)
{
    restart_told(plain, false);
    restart_told(told, true);
    go_told(plain, nstep, false);
    go_told(told, nstep, true);
    assert_true(plain->healthy && told->healthy);
    assert_true(plain->hash == told->hash);
    assert_true(same_state(plain->agent, told->agent));
}

static rh_feature_cache *cache_of(rh_env *env, const rh_agent_type *agent, const double *hp)
{
    int32_t n;
    const double *picture = rh_env_fixed_obs(env, &n);
    rh_feature_cache *cache = NULL;
    assert_int_equal(rh_feature_cache_create(&cache, agent, rh_env_task(env), hp, picture, n,
                                             (size_t)1 << 28, NULL),
                     RH_OK);
    assert_non_null(cache);
    return cache;
}

// One run with an feature cache and one without are the same to the bit: learning, frozen,
// saved and loaded, in another run, and when the feature cache is taken away in the middle of
// an episode.
static void caches_change_nothing(rh_env *env, const rh_agent_type *agent, const double *hp)
{
    entry plain, told;
    rh_feature_cache *cache = cache_of(env, agent, hp);
    begin_in(&plain, env, agent, hp);
    begin_in(&told, env, agent, hp);
    rh_agent_use_cache(told.agent, cache);
    int64_t before = rh_alloc_count();
    restart_told(&told, true);
    go_told(&told, 100, true);
    assert_int_equal(rh_alloc_count(), before);
    restart_told(&plain, false);
    go_told(&plain, 100, false);
    both_go(&plain, &told, 1500);

    rh_agent_freeze(plain.agent, true);
    rh_agent_freeze(told.agent, true);
    both_go(&plain, &told, 200);
    rh_agent_freeze(plain.agent, false);
    rh_agent_freeze(told.agent, false);

    // each goes on with what the other has learned
    rh_state *state = NULL;
    assert_int_equal(rh_agent_save(told.agent, &state, NULL), RH_OK);
    assert_int_equal(rh_agent_load(plain.agent, state, NULL), RH_OK);
    rh_state_destroy(state);
    assert_int_equal(rh_agent_save(plain.agent, &state, NULL), RH_OK);
    assert_int_equal(rh_agent_load(told.agent, state, NULL), RH_OK);
    rh_state_destroy(state);
    both_go(&plain, &told, 300);

    // without the feature cache the agent looks again
    rh_agent_use_cache(told.agent, NULL);
    rh_feature_cache_destroy(cache);
    go_told(&plain, 300, false);
    go_told(&told, 300, false);
    assert_true(plain.hash == told.hash);
    assert_true(same_state(plain.agent, told.agent));

    // a new run begins without one, though it was left in use
    cache = cache_of(env, agent, hp);
    rh_agent_use_cache(told.agent, cache);
    assert_int_equal(rh_agent_reset(plain.agent, rh_env_task(env), hp, NULL), RH_OK);
    assert_int_equal(rh_agent_reset(told.agent, rh_env_task(env), hp, NULL), RH_OK);
    rh_feature_cache_destroy(cache);
    restart_told(&plain, false);
    restart_told(&told, false);
    go_told(&plain, 300, false);
    go_told(&told, 300, false);
    assert_true(plain.hash == told.hash && same_state(plain.agent, told.agent));
    finish_in(&plain);
    finish_in(&told);
}

static void caches_keep_to_their_size(rh_env *env, const rh_agent_type *agent, const double *hp)
{
    int64_t live = rh_alloc_live();
    int32_t n;
    const double *picture = rh_env_fixed_obs(env, &n);
    rh_feature_cache *cache = NULL;
    for (size_t most = 0; most < 4000; most += 1000) {
        assert_int_equal(rh_feature_cache_create(&cache, agent, rh_env_task(env), hp, picture,
                                                 n, most, NULL),
                         RH_OK);
        assert_null(cache);
    }
    for (int nth = 1;; nth++) {
        rh_error err;
        rh_alloc_fail_at(nth);
        rh_status rc = rh_feature_cache_create(&cache, agent, rh_env_task(env), hp, picture, n,
                                               (size_t)1 << 28, &err);
        rh_alloc_fail_at(0);
        rh_feature_cache_destroy(cache);
        assert_int_equal(rh_alloc_live(), live);
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
    int64_t before = rh_alloc_live();
    for (int nth = 1;; nth++) {
        rh_agent *made = NULL;
        rh_state *state = NULL;
        rh_alloc_fail_at(nth);
        rh_status rc = rh_agent_create(&made, agent, rh_env_task(env), NULL, NULL);
        if (!rc)
            rc = rh_agent_save(made, &state, NULL);
        if (!rc)
            rc = rh_agent_load(made, state, NULL);
        double hp[64];
        rh_param_initial(agent->param, agent->nparam, hp);
        for (int i = 0; i < agent->nparam; i++) // beta1: memory that was not needed before
            if (!agent->param[i].fixed && agent->param[i].initial == 0.0)
                hp[i] = 0.5;
        if (!rc)
            rc = rh_agent_reset(made, rh_env_task(env), hp, NULL);
        rh_alloc_fail_at(0);
        rh_state_destroy(state);
        rh_agent_destroy(made);
        assert_int_equal(rh_alloc_live(), before);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
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

static void tables_are_sound(void **unused)
{
    (void)unused;
    for (int a = 0; a < rh_agent_ntype(); a++) {
        const rh_agent_type *type = rh_agent_type_at(a);
        assert_ptr_equal(rh_agent_find(type->name, NULL), type);
        assert_non_null(type->about);
        assert_true(!type->make_cache == !type->use_cache &&
                    !type->make_cache == !type->look_up);
        double hp[64];
        rh_param_initial(type->param, type->nparam, hp);
        assert_int_equal(rh_param_check(type->param, type->nparam, type->name, hp, NULL),
                         RH_OK);
        for (int i = 0; i < type->nparam; i++) {
            assert_int_equal(rh_param_find(type->param, type->nparam, type->param[i].name), i);
            assert_non_null(type->param[i].about);
            assert_true(type->param[i].scale == RH_LINEAR || type->param[i].lo > 0.0 ||
                        type->param[i].usual_lo > 0.0);
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
            assert_non_null(agent);
            double hp[64];
            rh_param_initial(agent->param, agent->nparam, hp);
            int p = rh_param_find(agent->param, agent->nparam, axis->param);
            assert_true(p >= 0);
            for (int k = 0; k < axis->nvalue; k++) {
                hp[p] = axis->value[k];
                assert_int_equal(
                    rh_param_check(agent->param, agent->nparam, agent->name, hp, NULL), RH_OK);
            }
        }
    assert_true(n > 0);
}

// A state fits only an agent built alike; a missing momentum is one that begins at zero.
static void states_fit_the_construction(void **unused)
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
    assert_int_equal(rh_agent_reset(agent, rh_env_task(env), hp, NULL), RH_OK);
    assert_int_equal(rh_agent_load(agent, state, NULL), RH_OK);

    hp[rh_param_find(type->param, type->nparam, "tilings")] = 8;
    assert_int_equal(rh_agent_reset(agent, rh_env_task(env), hp, NULL), RH_OK);
    assert_int_equal(rh_agent_load(agent, state, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "saved with tilings = 16, not 8"));
    rh_state_destroy(state);
    rh_agent_destroy(agent);
    rh_env_destroy(env);
}

static void refusals_are_told(void **unused)
{
    (void)unused;
    rh_error err;
    assert_null(rh_agent_find("esarza", &err));
    assert_non_null(strstr(err.text, "no agent 'esarza'; did you mean 'esarsa'?"));

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
        double margin; // random's score is to be beaten by this factor
    } cases[] = {
        {"puddle_world", "esarsa", 15000, 5},
        {"puddle_world", "actor_critic", 15000, 2},
        {"acrobot", "esarsa", 15000, 2},
        {"mountain_car", "esarsa", 15000, 2},
        {"pendulum", "gaussian_actor_critic", 100000, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double learned = mean_score(cases[i].env, cases[i].agent, cases[i].nstep);
        double chance = mean_score(cases[i].env, "random", cases[i].nstep);
        print_message("%s, %s: %.1f against %.1f by chance\n", cases[i].env, cases[i].agent,
                      learned, chance);
        assert_true(learned > chance / cases[i].margin); // scores are negative
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(usual_ranges),
        cmocka_unit_test(published_grids_fit_the_agents),
        cmocka_unit_test(states_fit_the_construction),
        cmocka_unit_test(refusals_are_told),
        cmocka_unit_test(test_one_seed_one_run),
        cmocka_unit_test(test_nothing_allocates),
        cmocka_unit_test(test_saved_is_loaded),
        cmocka_unit_test(test_frozen_learns_nothing),
        cmocka_unit_test(test_reset_is_a_new_run),
        cmocka_unit_test(test_caches_change_nothing),
        cmocka_unit_test(test_caches_keep_to_their_size),
        cmocka_unit_test(test_survives_failed_allocations),
        cmocka_unit_test(defaults_learn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
