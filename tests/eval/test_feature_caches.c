// test_feature_caches.c - agents get the index of the right fixed observation before every
// start, step and act; equal fixed parameters share a cache; runs are the same without a cache.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "env/alloc_test.h"
#include "eval/fixed_obs_env.h"
#include "rehearse/rehearse.h"

#include <stdatomic.h>

#define MOST ((size_t)32 << 20) // bytes of all feature caches together

// ---------------------------------------------------------------------------- a viewer

// An agent that compares the index with the observation.
static atomic_int ncache, nlook, nseen, nwrong, nused;
static atomic_size_t most_allowed;
static bool too_large; // feature caches are

enum { SIZE, TASTE, VIEWER_NPARAM };

static const rh_param viewer_param[VIEWER_NPARAM] = {
    [SIZE] = {"size", "", .hi = 9, .fixed = true},
    [TASTE] = {"taste", "", .hi = 9},
};

typedef struct viewer {
    double size, taste;
    const double *cache; // borrowed: its size, then the first sensor of each
    int32_t entry;       // -1: not told
} viewer;

static rh_status viewer_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    (void)task;
    (void)err;
    *(viewer *)self = (viewer){.size = hp[SIZE], .taste = hp[TASTE], .entry = -1};
    return RH_OK;
}

static rh_status viewer_cache(void **cache, const rh_task *task, const double *hp,
                              const double *entry, int32_t n, size_t most, rh_error *err)
{
    ncache++;
    most_allowed = most;
    if (too_large)
        return RH_OK;
    double *x = rh_alloc((size_t)n + 1, sizeof *x);
    if (!x)
        return rh_fail(err, RH_ENOMEM, "viewer: out of memory for %d fixed observations",
                       (int)n);
    x[0] = hp[SIZE];
    for (int32_t i = 0; i < n; i++)
        x[1 + i] = entry[(ptrdiff_t)i * task->nobs];
    *cache = x;
    return RH_OK;
}

static void viewer_use(void *self, const void *cache)
{
    viewer *v = self;
    v->cache = cache;
    nused += cache != NULL;
}

static void viewer_look(void *self, int32_t entry)
{
    viewer *v = self;
    nlook++;
    nwrong += !v->cache || v->entry >= 0; // each is seen before the next is told
    v->entry = entry;
}

static bool viewer_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    viewer *v = self;
    nseen++;
    if (v->cache)
        nwrong += v->entry < 0 || v->cache[0] != v->size || v->cache[1 + v->entry] != obs[0];
    v->entry = -1;
    act[0] = rh_rng_below(rng, 3);
    return true;
}

static bool viewer_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)reward;
    return viewer_act(self, obs, rng, act);
}

static bool viewer_end(void *self, double reward)
{
    (void)self;
    (void)reward;
    return true;
}

static const rh_agent_type viewer_type = {
    .name = "viewer",
    .actions = RH_DISCRETE,
    .self_size = sizeof(viewer),
    .param = viewer_param,
    .nparam = VIEWER_NPARAM,
    .init = viewer_init,
    .start = viewer_act,
    .step = viewer_step,
    .end = viewer_end,
    .act = viewer_act,
    .make_cache = viewer_cache,
    .use_cache = viewer_use,
    .look_up = viewer_look,
};

static rh_env *open_fixed_obs_env(int actions, bool hidden, int damaged)
{
    rh_env *env = NULL;
    double opt[FIXED_OBS_NPARAM] = {actions, hidden, damaged};
    assert_int_equal(rh_env_create(&env, &fixed_obs_env_type, opt, NULL), RH_OK);
    ncache = nlook = nseen = nwrong = nused = 0;
    too_large = false;
    return env;
}

// Another member of the same model: an environment of its own that shows the same array.
static rh_env *another_of(const rh_env *env)
{
    int32_t n;
    rh_env *other = NULL;
    fixed_obs_env *self = rh_alloc(1, sizeof *self);
    assert_non_null(self);
    self->shown = rh_contract__env_fixed_obs(env, &n);
    self->vectors = rh_env_task(env)->naction == 0;
    assert_int_equal(rh_env_adopt(&other, &fixed_obs_env_type, rh_env_task(env),
                                  rh_contract__env_options(env), self, sizeof(int32_t), NULL),
                     RH_OK);
    return other;
}

static void view(rh_env *const *env, int nmember, int nsetting, const double *hp,
                 const rh_eval_options *opt)
{
    rh_result result[64];
    assert_in_range(nsetting * nmember * opt->nrun, 1, 64);
    assert_int_equal(rh_eval_runs(env, nmember, &viewer_type, rh_env_task(env[0]), nsetting, hp,
                                  opt, result, NULL, NULL),
                     RH_OK);
    for (int i = 0; i < nsetting * nmember * opt->nrun; i++)
        assert_int_equal(result[i].outcome, RH_FINISHED);
}

// ---------------------------------------------------------------------------- indices

static void the_right_index_is_passed(void **unused)
{
    (void)unused;
    rh_env *env = open_fixed_obs_env(FEW_ACTIONS, false, 0);
    double hp[VIEWER_NPARAM] = {1, 2};
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = 500;
    opt.nrun = 3;
    opt.nthread = 2;
    opt.cutoff = 7;
    for (int c = RH_AVERAGE; c <= RH_FINAL; c++)
        for (int rule = RH_TRUNCATE; rule <= RH_TERMINATE; rule++)
            for (int frozen = 0; frozen < 2; frozen++) {
                nlook = nseen = nwrong = ncache = nused = 0;
                opt.criterion = (rh_criterion)c;
                opt.cutoff_rule = (rh_cutoff_rule)rule;
                opt.frozen = frozen;
                view(&env, 1, 1, hp, &opt);
                assert_int_equal(ncache, 1);
                assert_int_equal(nused, 3);
                assert_true(nseen > 3 * 400); // all but the ends
                assert_int_equal(nlook, nseen);
                assert_int_equal(nwrong, 0);
            }
    rh_env_destroy(env);

    // no index is passed when the set is hidden
    env = open_fixed_obs_env(FEW_ACTIONS, true, 0);
    view(&env, 1, 1, hp, &opt);
    assert_int_equal(ncache + nused + nlook, 0);
    rh_env_destroy(env);
}

static void equal_fixed_parameters_share_a_cache(void **unused)
{
    (void)unused;
    rh_env *env[4] = {
        open_fixed_obs_env(FEW_ACTIONS, false, 0), NULL,
        open_fixed_obs_env(FEW_ACTIONS, true, 0),
        open_fixed_obs_env(FEW_ACTIONS, false, 0)}; // the same, from another array
    env[1] = another_of(env[0]);
    double hp[5 * VIEWER_NPARAM] = {1, 2, 4, 2, 1, 3, 4, 5, 6, 0}; // three sizes
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env[0]));
    opt.nstep = 100;
    opt.nrun = 2;
    opt.nthread = 3;
    view(env, 4, 5, hp, &opt);
    assert_int_equal(ncache, 3 * 2);
    assert_int_equal(nused, 5 * 3 * 2); // all runs but those in the one that hides
    assert_int_equal(nwrong, 0);
    assert_true(nlook < nseen);
    assert_true(most_allowed == MOST / 6);

    ncache = nused = nlook = 0;
    view(env, 2, 1, hp, &opt);
    assert_int_equal(ncache, 1);
    assert_int_equal(nused, 4);
    assert_true(most_allowed == MOST);

    too_large = true; // is no failure: the agent looks for itself
    nused = nlook = nseen = 0;
    view(env, 2, 1, hp, &opt);
    assert_int_equal(nused + nlook, 0);
    assert_true(nseen > 0);
    for (int i = 0; i < 4; i++)
        rh_env_destroy(env[i]);
}

static void is_free(void *context, const rh_event *e)
{
    double obs[NSENSOR] = {0}, act;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    assert_int_equal(e->kind, RH_EVENT_RUN);
    assert_true(rh_agent_start(e->agent, obs, &rng, &act));
    ++*(int *)context;
}

// The caller can use an agent after its run without passing indices.
static void agents_stop_using_a_cache_after_their_runs(void **unused)
{
    (void)unused;
    rh_env *env = open_fixed_obs_env(FEW_ACTIONS, false, 0);
    double hp[VIEWER_NPARAM] = {1, 2};
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    int nunit = 0;
    opt.nstep = 50;
    opt.nrun = 3;
    opt.watch = is_free;
    opt.context = &nunit;
    view(&env, 1, 1, hp, &opt);
    assert_int_equal(nunit, 3);
    assert_int_equal(nseen, nlook + 3);
    assert_int_equal(nwrong, 0);
    rh_env_destroy(env);
}

// ---------------------------------------------------------------------------- real agents

enum { NSETTING = 3, NRUN = 2, NCURVE = 5, MOST_MEMBER = 2 };

typedef struct outcome {
    rh_result result[NSETTING * MOST_MEMBER * NRUN];
    double curve[NSETTING * MOST_MEMBER * NRUN * NCURVE];
} outcome;

static void keep_last(void *context, const rh_event *e)
{
    rh_state **state = context;
    if (e->kind != RH_EVENT_RUN || e->run != 0 || e->setting != 0 || e->member != 0)
        return;
    rh_state_destroy(*state);
    assert_int_equal(rh_agent_save(e->agent, state, NULL), RH_OK);
}

static void do_runs(outcome *r, rh_env *const *env, const rh_agent_type *agent,
                    const rh_eval_options *opt)
{
    double hp[NSETTING * 64];
    int tiles = rh_param_find(agent->param, agent->nparam, "tiles");
    for (int s = 0; s < NSETTING; s++) {
        double *row = hp + s * agent->nparam;
        rh_param_initial(agent->param, agent->nparam, row);
        if (s == 2 && tiles >= 0 && !opt->state)
            row[tiles] = 3;
    }
    if (agent->nparam && !agent->param[0].whole)
        hp[agent->nparam] = 0.02; // another step size, where that is the first
    memset(r, 0, sizeof *r);
    assert_int_equal(rh_eval_runs(env, MOST_MEMBER, agent, rh_env_task(env[0]), NSETTING, hp,
                                  opt, r->result, r->curve, NULL),
                     RH_OK);
}

// Every agent, with and without fixed observations: the same runs, bit for bit, by every
// criterion, when learning, with a loaded state, and frozen.
static void runs_are_the_same(const rh_agent_type *agent, int actions, int damaged)
{
    static outcome shown, hidden;
    rh_env *open[MOST_MEMBER], *closed[MOST_MEMBER];
    for (int m = 0; m < MOST_MEMBER; m++) {
        open[m] = m ? another_of(open[0]) : open_fixed_obs_env(actions, false, damaged);
        closed[m] = open_fixed_obs_env(actions, true, damaged);
    }
    rh_state *state = NULL;
    rh_eval_options opt = rh_eval_defaults(rh_env_task(open[0]));
    opt.nstep = 300;
    opt.nrun = NRUN;
    opt.ncurve = NCURVE;
    opt.nthread = 2;
    opt.cutoff = 40;
    opt.context = &state;
    for (int round = 0; round < 4; round++) {
        opt.criterion = round == 3 ? RH_FINAL : RH_AVERAGE;
        opt.watch = round == 0 ? keep_last : NULL;
        opt.state = round > 0 ? state : NULL;
        opt.frozen = round == 2;
        do_runs(&shown, open, agent, &opt);
        opt.watch = NULL;
        do_runs(&hidden, closed, agent, &opt);
        assert_memory_equal(&shown, &hidden, sizeof shown);
        int nbroken = 0;
        for (int i = 0; i < NSETTING * MOST_MEMBER * NRUN; i++)
            nbroken += shown.result[i].outcome == RH_ENV_NONFINITE;
        assert_true((nbroken > 0) == (damaged > 0));
    }
    rh_state_destroy(state);
    for (int m = MOST_MEMBER - 1; m >= 0; m--) {
        rh_env_destroy(open[m]);
        rh_env_destroy(closed[m]);
    }
}

static void caches_change_no_run(void **unused)
{
    (void)unused;
    int n = 0;
    for (int a = 0; a < rh_agent_ntype(); a++)
        for (int actions = 0; actions < NACTIONS; actions++) {
            const rh_agent_type *agent = rh_agent_type_at(a);
            if (!(agent->actions &
                  (unsigned)(actions == VECTORS ? RH_CONTINUOUS : RH_DISCRETE)))
                continue;
            runs_are_the_same(agent, actions, 0);
            n++;
        }
    assert_true(n >= 8);
}

// A fixed observation that is not finite ends a run where it is met.
static void nonfinite_observations_end_a_run(void **unused)
{
    (void)unused;
    runs_are_the_same(rh_agent_find("random", NULL), FEW_ACTIONS, 8);
    runs_are_the_same(rh_agent_find("random", NULL), VECTORS, 8);
}

static void survives_every_failed_allocation(void **unused)
{
    (void)unused;
    static const char *const names[] = {"esarsa", "actor_critic", "random"};
    rh_env *env = open_fixed_obs_env(FEW_ACTIONS, false, 0);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nrun = 1;
    opt.nstep = 20;
    int64_t before = rh_base__alloc_live();
    for (int k = 0; k < 3; k++) {
        const rh_agent_type *agent = rh_agent_find(names[k], NULL);
        double hp[64];
        rh_result result;
        rh_error err;
        rh_status rc;
        int nth = 0;
        rh_param_initial(agent->param, agent->nparam, hp);
        do {
            rh_base__alloc_fail_at(++nth);
            rc = rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, hp, &opt, &result, NULL,
                              &err);
        } while (allocation_failed(rc, &err, before));
    }
    rh_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_index_is_passed),
        cmocka_unit_test(equal_fixed_parameters_share_a_cache),
        cmocka_unit_test(agents_stop_using_a_cache_after_their_runs),
        cmocka_unit_test(caches_change_no_run),
        cmocka_unit_test(nonfinite_observations_end_a_run),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
