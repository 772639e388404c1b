// test_runs.c - runs: scores in an environment with known rewards, cut-offs,
// divergence, stopping, members, and one hash for any number of threads.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "env/alloc_test.h"
#include "rehearse/rehearse.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// ----------------------------------------------------------- an environment with known rewards

// A corridor: reward -1 a step, an end every `length` steps (0: never), and from step `breaks`
// of an episode on an observation that is not a number (0: never).
enum { LENGTH, BREAKS, CONTINUING, CORRIDOR_NPARAM };

static const rh_param corridor_param[] = {
    [LENGTH] = {"length", "", .hi = 1e9, .initial = 4},
    [BREAKS] = {"breaks", "", .hi = 1e9},
    [CONTINUING] = {"continuing", "", .hi = 1},
};

typedef struct corridor {
    double length, breaks;
} corridor;

static rh_status corridor_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)err;
    *(corridor *)self = (corridor){opt[LENGTH], opt[BREAKS]};
    task->nobs = 1;
    task->obs_name[0] = "place";
    task->obs_hi[0] = 1.0;
    task->naction = 2;
    task->nact = 1;
    task->nstep = 10;
    task->reward_lo = -2.0;
    task->continuing = opt[CONTINUING] > 0;
    return RH_OK;
}

static void corridor_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    (void)self;
    (void)streams;
    *(int *)state = 0;
    obs[0] = 0.0;
}

static bool corridor_step(const void *self, void *state, const double *act, rh_streams *streams,
                          double *obs, double *reward)
{
    (void)act;
    (void)streams;
    const corridor *c = self;
    int step = ++*(int *)state;
    obs[0] = c->breaks > 0 && step >= c->breaks ? NAN : 0.5;
    *reward = -1.0;
    return c->length > 0 && step == c->length;
}

static const rh_env_type corridor_type = {
    .name = "corridor",
    .self_size = sizeof(corridor),
    .state_size = sizeof(int),
    .param = corridor_param,
    .nparam = CORRIDOR_NPARAM,
    .init = corridor_init,
    .start = corridor_start,
    .step = corridor_step,
};

// An agent that counts its calls, and fails at step `fails` of its run (0: never).
static atomic_int nstart, nstep, nend, nact;

static const rh_param counter_param[] = {{"fails", "", .hi = 1e9}};

typedef struct counter {
    double fails;
    int step;
} counter;

static rh_status counter_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    (void)task;
    (void)err;
    ((counter *)self)->fails = hp[0];
    return RH_OK;
}

static bool counter_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    (void)self;
    (void)obs;
    (void)rng;
    nstart++;
    act[0] = 0;
    return true;
}

static bool counter_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)reward;
    (void)obs;
    (void)rng;
    counter *c = self;
    nstep++;
    act[0] = 0;
    return ++c->step != c->fails;
}

static bool counter_end(void *self, double reward)
{
    (void)reward;
    counter *c = self;
    nend++;
    return ++c->step != c->fails;
}

static bool counter_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    (void)self;
    (void)obs;
    (void)rng;
    nact++;
    act[0] = 0;
    return true;
}

static const rh_agent_type counter_type = {
    .name = "counter",
    .actions = RH_DISCRETE,
    .self_size = sizeof(counter),
    .param = counter_param,
    .nparam = 1,
    .init = counter_init,
    .start = counter_start,
    .step = counter_step,
    .end = counter_end,
    .act = counter_act,
};

static rh_env *make_corridor(double length, double breaks, bool continuing)
{
    rh_env *env = NULL;
    double opt[CORRIDOR_NPARAM] = {length, breaks, continuing};
    assert_int_equal(rh_env_create(&env, &corridor_type, opt, NULL), RH_OK);
    nstart = nstep = nend = nact = 0;
    return env;
}

static rh_result one_run(rh_env *env, const rh_eval_options *opt, double *curve)
{
    rh_result result;
    double hp[1] = {0};
    assert_int_equal(rh_eval_runs(&env, 1, &counter_type, rh_env_task(env), 1, hp, opt, &result,
                                  curve, NULL),
                     RH_OK);
    return result;
}

// ---------------------------------------------------------------------------- known scores

static void episodes_are_scored(void **unused)
{
    (void)unused;
    rh_env *env = make_corridor(4, 0, false);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nrun = 1;
    opt.nstep = 10; // episodes of 4, 4, and 2 steps unfinished
    opt.ncurve = 5;
    double curve[5];
    rh_result result = one_run(env, &opt, curve);
    assert_int_equal(result.outcome, RH_FINISHED);
    assert_int_equal(result.nstep, 10);
    assert_int_equal(result.nepisode, 2);
    assert_true(result.total == -10.0);
    assert_true(result.score == -10.0 / 3);
    assert_int_equal(nstart, 3);
    assert_int_equal(nstep, 8);
    assert_int_equal(nend, 2);
    assert_true(isnan(curve[0]));
    assert_true(curve[1] == -4.0);
    assert_true(isnan(curve[2]));
    assert_true(curve[3] == -4.0);
    assert_true(isnan(curve[4]));

    static const double by_criterion[] = {
        [RH_AVERAGE] = -10.0 / 3, [RH_COMPLETED] = -4,   [RH_MEDIAN] = -4,
        [RH_WORST] = -4,          [RH_FINAL] = -7.0 / 2,
    };
    opt.final_share = 0.7;
    for (int c = RH_AVERAGE; c <= RH_FINAL; c++) {
        opt.criterion = (rh_criterion)c;
        assert_true(one_run(env, &opt, NULL).score == by_criterion[c]);
    }
    // the judgement is by the frozen agent: two starts, and seven steps of which one is an end
    assert_int_equal(nact, 2 + 6);
    rh_env_destroy(env);
}

static void cutoffs_follow_their_rule(void **unused)
{
    (void)unused;
    rh_env *env = make_corridor(0, 0, false);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nrun = 1;
    opt.nstep = 10;
    opt.cutoff = 3; // episodes of 3, 3, 3, and one step
    rh_result result = one_run(env, &opt, NULL);
    assert_int_equal(result.nepisode, 3);
    assert_true(result.score == -10.0 / 4);
    assert_int_equal(nstep, 10); // every step is an ordinary one
    assert_int_equal(nend, 0);
    assert_int_equal(nstart, 4);

    nstart = nstep = nend = 0;
    opt.cutoff_rule = RH_TERMINATE;
    assert_true(one_run(env, &opt, NULL).score == -10.0 / 4);
    assert_int_equal(nstep, 7);
    assert_int_equal(nend, 3);

    opt.cutoff = INT64_MAX;
    assert_true(one_run(env, &opt, NULL).score == -10.0);
    rh_env_destroy(env);
}

static void continuing_runs_have_no_episodes(void **unused)
{
    (void)unused;
    rh_env *env = make_corridor(0, 0, true);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nrun = 1;
    opt.nstep = 60;
    opt.cutoff = 5; // does nothing
    opt.ncurve = 4;
    double curve[4];
    for (int c = RH_AVERAGE; c <= RH_WORST; c++) {
        opt.criterion = (rh_criterion)c;
        rh_result result = one_run(env, &opt, curve);
        bool segments = c == RH_MEDIAN || c == RH_WORST;
        assert_true(result.score == (segments ? -2.0 : -60.0));
        assert_int_equal(result.nepisode, 0);
        for (int p = 0; p < 4; p++)
            assert_true(curve[p] == -15.0);
    }
    assert_int_equal(nstart, 4); // one a run
    rh_env_destroy(env);
}

// Fails where an episode ends; rule: or at every step, if it is true.
static bool fails(const void *rule, const double *obs, double reward, bool terminal)
{
    assert_true(obs[0] == 0.5);
    assert_true(reward == -1.0);
    return terminal || *(const bool *)rule;
}

static void failures_are_counted(void **unused)
{
    (void)unused;
    bool always = false;
    rh_env *env = make_corridor(4, 0, false);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nrun = 1;
    opt.nstep = 101; // 25 episodes, and a step; the tenths are 11 steps
    opt.fails = fails;
    opt.rule = &always;
    opt.criterion = RH_FINAL;                    // whose further steps do not count
    for (int k = 0; k < 2; k++, always = true) { // at most one in an episode
        rh_result r = one_run(env, &opt, NULL);
        assert_int_equal(r.nfailure, 25);
        assert_int_equal(r.nfailure_first, 2);
        assert_int_equal(r.nfailure_last, 3);
        assert_int_equal(r.nepisode_first, 2);
        assert_int_equal(r.nepisode_last, 3);
        assert_true(r.last == -4.0);
        assert_int_equal(r.caught_up, 0); // with nothing
    }
    static const struct {
        double today;
        int64_t caught_up;
    } known[] = {{-5.0, 4}, {-4.0, 4}, {-3.9, 0}};
    for (int k = 0; k < 3; k++) {
        opt.today = known[k].today;
        assert_int_equal(one_run(env, &opt, NULL).caught_up, known[k].caught_up);
    }
    opt.fails = NULL;
    assert_int_equal(one_run(env, &opt, NULL).nfailure, 0);

    // cut off every 3 steps: episodes, none of which ends
    always = false;
    opt.fails = fails;
    opt.cutoff = 3;
    rh_result r = one_run(env, &opt, NULL);
    assert_int_equal(r.nfailure, 0);
    assert_int_equal(r.nepisode_first, 3);
    assert_true(r.last == -3.0);
    rh_env_destroy(env);

    // a continuing task: where failing steps begin, and rewards of steps
    env = make_corridor(0, 0, true);
    always = true;
    opt.criterion = RH_AVERAGE;
    opt.nstep = 60;
    opt.today = -1.5;
    r = one_run(env, &opt, NULL);
    assert_int_equal(r.nfailure, 1);
    assert_int_equal(r.nfailure_first, 1);
    assert_int_equal(r.nfailure_last, 0);
    assert_true(r.last == -60.0);
    assert_int_equal(r.caught_up, 1);
    rh_env_destroy(env);
}

// The limits that are given, at every step; adds the reward twice.
static unsigned measure(const void *limits, const rh_done_step *step, double *also)
{
    assert_true(step->next[0] == 0.5);
    assert_true((step->act[0] == 0.0 || step->act[0] == 1.0));
    also[0] = 2.0 * step->reward;
    return *(const unsigned *)limits;
}

static void limits_are_counted(void **unused)
{
    (void)unused;
    unsigned all = 7;
    rh_env *env = make_corridor(4, 0, false);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nrun = 1;
    opt.nstep = 101; // 25 episodes, and a step
    opt.fails = fails;
    opt.rule = &(bool){false};
    opt.measure = measure;
    opt.limits = &all;
    opt.nlimit = 4;
    opt.nalso = 1;
    opt.counted[0] = RH_COUNT_STEPS;
    opt.counted[1] = RH_COUNT_EPISODES;
    opt.counted[2] = RH_COUNT_FAILURES;
    opt.counted[3] = RH_COUNT_ENDS;
    opt.criterion = RH_FINAL; // whose further steps do not count
    rh_result r = one_run(env, &opt, NULL);
    assert_int_equal(r.over[0], 101);
    assert_int_equal(r.over[1], 25);
    assert_int_equal(r.over[2], 25);
    assert_int_equal(r.over[3], 25);
    assert_true(r.also[0] == -202.0 / 26); // the unfinished episode is one
    opt.cutoff = 3;                        // none ends by itself
    r = one_run(env, &opt, NULL);
    assert_int_equal(r.over[1], 33);
    assert_int_equal(r.over[2] + r.over[3], 0);
    all = 0;
    r = one_run(env, &opt, NULL);
    assert_int_equal(r.over[0] + r.over[1], 0);
    rh_env_destroy(env);

    env = make_corridor(0, 0, true); // a continuing task is one episode
    all = 1;
    opt.criterion = RH_AVERAGE;
    opt.nstep = 60;
    r = one_run(env, &opt, NULL);
    assert_int_equal(r.over[0], 60);
    assert_true(r.also[0] == -120.0);
    rh_env_destroy(env);
}

static void breakdown_is_an_outcome(void **unused)
{
    (void)unused;
    rh_env *env = make_corridor(4, 0, false);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nrun = 2;
    opt.nthread = 2;
    opt.nstep = 10;
    double hp[3] = {0, 6, 0}; // the second of three settings diverges
    rh_result result[6];
    assert_int_equal(
        rh_eval_runs(&env, 1, &counter_type, rh_env_task(env), 3, hp, &opt, result, NULL, NULL),
        RH_OK);
    for (int i = 0; i < 6; i++) {
        bool broken = i / 2 == 1;
        assert_int_equal(result[i].outcome, broken ? RH_DIVERGED : RH_FINISHED);
        assert_true(result[i].score == (broken ? -20.0 : -10.0 / 3)); // worst: -2 a step
        assert_int_equal(result[i].nstep, broken ? 6 : 10);
    }
    rh_env_destroy(env);

    // by every criterion no run that was run is worse, and where rewards are positive too
    for (int positive = 0; positive < 2; positive++)
        for (int c = RH_AVERAGE; c <= RH_FINAL; c++) {
            env = make_corridor(positive ? 1 : 0, 0, false); // the worst there is, run
            rh_task task = *rh_env_task(env);
            task.reward_lo = -1.0;
            opt.criterion = (rh_criterion)c;
            opt.final_share = 3.0;
            rh_result two[4];
            double fails[2] = {0, 6};
            assert_int_equal(
                rh_eval_runs(&env, 1, &counter_type, &task, 2, fails, &opt, two, NULL, NULL),
                RH_OK);
            assert_int_equal(two[0].outcome, RH_FINISHED);
            assert_int_equal(two[2].outcome, RH_DIVERGED);
            assert_true(two[2].score <= two[0].score);
            rh_env_destroy(env);
        }
    opt.criterion = RH_AVERAGE;

    env = make_corridor(0, 5, false);
    opt.nrun = 1;
    rh_result broken = one_run(env, &opt, NULL);
    assert_int_equal(broken.outcome, RH_ENV_NONFINITE);
    assert_true(broken.score == -20.0);
    assert_int_equal(broken.nstep, 4);
    rh_env_destroy(env);
}

// ---------------------------------------------------------------------------- watching

typedef struct watcher {
    int npoint, nunit, stop_after;
    double last[4];
} watcher;

static void watch(void *context, const rh_event *e)
{
    watcher *w = context;
    if (e->kind == RH_EVENT_POINT) {
        w->npoint++;
        assert_null(e->agent); // between two steps there is nothing to be done with it
        w->last[e->point] = e->value;
    } else {
        w->nunit++;
        assert_non_null(e->agent);
        assert_int_equal(e->result->nstep, 8);
    }
}

static bool stop(void *context)
{
    const watcher *w = context;
    return w->nunit >= w->stop_after;
}

static void the_caller_can_watch_and_stop(void **unused)
{
    (void)unused;
    rh_env *env = make_corridor(2, 0, false);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    watcher w = {.stop_after = 1000};
    opt.nrun = 3;
    opt.nstep = 8;
    opt.ncurve = 4;
    opt.watch = watch;
    opt.stop = stop;
    opt.context = &w;
    double hp[2] = {0, 0}, curve[24];
    rh_result result[6];
    assert_int_equal(rh_eval_runs(&env, 1, &counter_type, rh_env_task(env), 2, hp, &opt, result,
                                  curve, NULL),
                     RH_OK);
    assert_int_equal(w.nunit, 6);
    assert_int_equal(w.npoint, 24);
    for (int p = 0; p < 4; p++)
        assert_true(w.last[p] == -2.0);

    // two runs, then no more: the others are marked, the finished ones are kept
    w = (watcher){.stop_after = 2};
    assert_int_equal(rh_eval_runs(&env, 1, &counter_type, rh_env_task(env), 2, hp, &opt, result,
                                  curve, NULL),
                     RH_OK);
    assert_int_equal(w.nunit, 2);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(result[i].outcome, i < 2 ? RH_FINISHED : RH_STOPPED);
        assert_true(i < 2 ? result[i].score == -2.0 : isnan(result[i].score));
        assert_true(i < 2 || isnan(curve[i * 4]));
    }
    rh_env_destroy(env);
}

static bool stop_at_once(void *context)
{
    return atomic_fetch_add((atomic_int *)context, 1) > 3;
}

static void a_current_run_stops(void **unused)
{
    (void)unused;
    rh_env *env = make_corridor(2, 0, false);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    atomic_int asked = 0;
    opt.nrun = 1;
    opt.nstep = 1000000000;
    opt.stop = stop_at_once;
    opt.context = &asked;
    rh_result result = one_run(env, &opt, NULL);
    assert_int_equal(result.outcome, RH_STOPPED);
    assert_true(isnan(result.score));
    assert_true(result.nstep < 10000);
    rh_env_destroy(env);
}

// ---------------------------------------------------------------------------- real runs

enum { NSETTING = 4, NRUN = 5, NCURVE = 6 };

typedef struct outcome {
    rh_result result[NSETTING * NRUN];
    double curve[NSETTING * NRUN * NCURVE];
} outcome;

// Settings of esarsa in a small Puddle World run; first: index of the first setting.
static void sweep(outcome *r, int first, int n, rh_eval_options *opt)
{
    static const double tau[NSETTING] = {0.1, 1, 10, 100};
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_env *env = NULL;
    double hp[NSETTING * 32];
    assert_int_equal(rh_env_create(&env, rh_env_find("puddle_world", NULL), NULL, NULL), RH_OK);
    for (int i = 0; i < n; i++) {
        double *row = hp + i * agent->nparam;
        rh_param_initial(agent->param, agent->nparam, row);
        row[rh_param_find(agent->param, agent->nparam, "tau")] = tau[first + i];
    }
    memset(r, 0, sizeof *r);
    assert_int_equal(
        rh_eval_runs(&env, 1, agent, rh_env_task(env), n, hp, opt, r->result, r->curve, NULL),
        RH_OK);
    rh_env_destroy(env);
}

static rh_eval_options small_options(int nthread)
{
    rh_task task = {.nstep = 1500};
    rh_eval_options opt = rh_eval_defaults(&task);
    opt.nrun = NRUN;
    opt.ncurve = NCURVE;
    opt.nthread = nthread;
    return opt;
}

static void any_number_of_threads_gives_the_same_bits(void **unused)
{
    (void)unused;
    static outcome one, other;
    for (int c = RH_AVERAGE; c <= RH_FINAL; c++) {
        rh_eval_options opt = small_options(1);
        opt.criterion = (rh_criterion)c;
        sweep(&one, 0, NSETTING, &opt);
        static const int threads[] = {1, 2, 3, 7};
        for (int k = 0; k < 4; k++) {
            opt.nthread = threads[k];
            sweep(&other, 0, NSETTING, &opt);
            assert_memory_equal(&one, &other, sizeof one);
        }
        opt.seed = 2;
        sweep(&other, 0, NSETTING, &opt);
        assert_memory_not_equal(&one, &other, sizeof one);
    }
}

static void a_run_does_not_depend_on_other_runs(void **unused)
{
    (void)unused;
    static outcome all, part;
    rh_eval_options opt = small_options(2);
    sweep(&all, 0, NSETTING, &opt);
    sweep(&part, 2, 1, &opt); // the third setting alone
    assert_memory_equal(part.result, all.result + 2 * NRUN, NRUN * sizeof(rh_result));

    opt.first_run = 3; // runs 3 and 4 alone
    opt.nrun = 2;
    sweep(&part, 0, NSETTING, &opt);
    for (int s = 0; s < NSETTING; s++)
        assert_memory_equal(part.result + 2 * s, all.result + NRUN * s + 3,
                            2 * sizeof(rh_result));

    opt.replicate = 1; // another replicate has other streams
    sweep(&part, 0, NSETTING, &opt);
    assert_memory_not_equal(part.result, all.result + 3, sizeof(rh_result));
}

static void the_final_phase_is_scored(void **unused)
{
    (void)unused;
    // the finished agent is better than it was on average while learning
    static outcome learning, final;
    rh_eval_options opt = small_options(2);
    opt.nstep = 6000;
    sweep(&learning, 1, 1, &opt);
    opt.criterion = RH_FINAL;
    opt.final_share = 0.5;
    sweep(&final, 1, 1, &opt);
    for (int r = 0; r < NRUN; r++)
        assert_true(final.result[r].score > learning.result[r].score + 10.0);
    assert_memory_equal(learning.curve, final.curve, sizeof final.curve);
}

typedef struct saver {
    rh_state *state;
} saver;

static void save_first(void *context, const rh_event *e)
{
    saver *s = context;
    if (e->kind == RH_EVENT_RUN && e->run == 0)
        assert_int_equal(rh_agent_save(e->agent, &s->state, NULL), RH_OK);
}

static void agents_start_from_a_saved_state(void **unused)
{
    (void)unused;
    static outcome first, second, frozen, again;
    saver s = {0};
    rh_eval_options opt = small_options(2);
    opt.nstep = 6000;
    opt.watch = save_first;
    opt.context = &s;
    sweep(&first, 1, 1, &opt);
    assert_non_null(s.state);

    opt.watch = NULL;
    opt.state = s.state;
    opt.seed = 9;
    sweep(&second, 1, 1, &opt);
    for (int r = 0; r < NRUN; r++) // it starts where the other ended
        assert_true(second.result[r].score > first.result[r].score + 10.0);
    opt.frozen = true;
    sweep(&frozen, 1, 1, &opt);
    sweep(&again, 1, 1, &opt);
    assert_memory_equal(&frozen, &again, sizeof frozen);
    assert_memory_not_equal(&frozen, &second, sizeof frozen);
    rh_state_destroy(s.state);
}

// ---------------------------------------------------------------------------- members

enum { NMEMBER = 3 };

typedef struct ensemble {
    rh_result result[NSETTING * NMEMBER * NRUN];
    double curve[NSETTING * NMEMBER * NRUN * NCURVE];
} ensemble;

// Three that differ: the second begins elsewhere.
static void make_members(rh_env *env[NMEMBER])
{
    const rh_env_type *type = rh_env_find("puddle_world", NULL);
    double opt[64];
    rh_param_initial(type->param, type->nparam, opt);
    int start = rh_param_find(type->param, type->nparam, "start");
    assert_true(start >= 0);
    for (int m = 0; m < NMEMBER; m++) {
        opt[start] = m == 1;
        assert_int_equal(rh_env_create(&env[m], type, opt, NULL), RH_OK);
    }
}

static void live_in(rh_env *const *env, int nmember, const rh_eval_options *opt,
                    rh_result *result, double *curve)
{
    static const double tau[NSETTING] = {0.1, 1, 10, 100};
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    double hp[NSETTING * 32];
    for (int i = 0; i < NSETTING; i++) {
        double *row = hp + i * agent->nparam;
        rh_param_initial(agent->param, agent->nparam, row);
        row[rh_param_find(agent->param, agent->nparam, "tau")] = tau[i];
    }
    assert_int_equal(rh_eval_runs(env, nmember, agent, rh_env_task(env[0]), NSETTING, hp, opt,
                                  result, curve, NULL),
                     RH_OK);
}

// The runs of a member are those it has alone, as the replicate of its number, and stand in
// the order setting, member, run.
static void members_are_replicates(void **unused)
{
    (void)unused;
    static ensemble all;
    static outcome alone;
    rh_env *env[NMEMBER];
    make_members(env);
    rh_eval_options opt = small_options(2);
    opt.nstep = 500;
    opt.replicate = 5;
    live_in(env, NMEMBER, &opt, all.result, all.curve);
    for (int m = 0; m < NMEMBER; m++) {
        opt.replicate = 5 + (uint64_t)m;
        live_in(&env[m], 1, &opt, alone.result, alone.curve);
        for (int s = 0; s < NSETTING; s++) {
            int at = (s * NMEMBER + m) * NRUN;
            assert_memory_equal(all.result + at, alone.result + s * NRUN,
                                NRUN * sizeof(rh_result));
            assert_memory_equal(all.curve + at * NCURVE, alone.curve + s * NRUN * NCURVE,
                                NRUN * NCURVE * sizeof(double));
        }
    }
    // the first and the last are the same environment, with other streams
    assert_memory_not_equal(all.result, all.result + 2 * NRUN, NRUN * sizeof(rh_result));
    for (int m = 0; m < NMEMBER; m++)
        rh_env_destroy(env[m]);
}

static void members_on_any_number_of_threads(void **unused)
{
    (void)unused;
    static ensemble one, other;
    rh_env *env[NMEMBER];
    make_members(env);
    rh_eval_options opt = small_options(1);
    opt.nstep = 500;
    live_in(env, NMEMBER, &opt, one.result, one.curve);
    static const int threads[] = {2, 3, 7};
    for (int k = 0; k < 3; k++) {
        opt.nthread = threads[k];
        live_in(env, NMEMBER, &opt, other.result, other.curve);
        assert_memory_equal(&one, &other, sizeof one);
    }
    for (int m = 0; m < NMEMBER; m++)
        rh_env_destroy(env[m]);
}

typedef struct roll {
    const rh_result *result;
    int nunit[2 * NMEMBER * 2];
    int npoint[2 * NMEMBER * 2];
} roll;

static void call_roll(void *context, const rh_event *e)
{
    roll *r = context;
    assert_in_range(e->member, 0, NMEMBER - 1);
    int job = (e->setting * NMEMBER + e->member) * 2 + e->run;
    if (e->kind == RH_EVENT_POINT) {
        r->npoint[job]++;
        assert_true(e->value == -1.0 - e->member); // a member's episodes are that long
    } else {
        r->nunit[job]++;
        assert_ptr_equal(e->result, r->result + job);
    }
}

// A corridor whose state is larger, and written to its end.
static void roomy_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    corridor_start(self, state, streams, obs);
    memset((char *)state + sizeof(int), 1, 4096 - sizeof(int));
}

static rh_env *make_roomy(double length)
{
    static rh_env_type roomy;
    roomy = corridor_type;
    roomy.start = roomy_start;
    rh_task task = {.nobs = 1, .naction = 2, .nact = 1, .nstep = 10};
    double opt[CORRIDOR_NPARAM] = {length};
    corridor *self = rh_alloc(1, sizeof *self);
    assert_non_null(self);
    self->length = length;
    rh_env *env = NULL;
    assert_int_equal(rh_env_adopt(&env, &roomy, &task, opt, self, 4096, NULL), RH_OK);
    return env;
}

static void events_name_the_member(void **unused)
{
    (void)unused;
    rh_env *env[NMEMBER] = {make_corridor(1, 0, false), make_corridor(2, 0, false),
                            make_roomy(3)};
    rh_result result[2 * NMEMBER * 2];
    roll r = {.result = result};
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env[0]));
    opt.nrun = 2;
    opt.nstep = 12;
    opt.ncurve = 2;
    opt.nthread = 2;
    opt.watch = call_roll;
    opt.context = &r;
    double hp[2] = {0, 0};
    assert_int_equal(rh_eval_runs(env, NMEMBER, &counter_type, rh_env_task(env[0]), 2, hp, &opt,
                                  result, NULL, NULL),
                     RH_OK);
    for (int job = 0; job < 2 * NMEMBER * 2; job++) {
        int member = job / 2 % NMEMBER;
        assert_int_equal(r.nunit[job], 1);
        assert_int_equal(r.npoint[job], 2);
        assert_int_equal(result[job].nepisode, 12 / (member + 1));
        assert_true(result[job].score == -1.0 - member);
    }
    for (int m = 0; m < NMEMBER; m++)
        rh_env_destroy(env[m]);
}

// ---------------------------------------------------------------------------- refusals

static void refused(rh_env *env, const rh_eval_options *opt, double hp, const char *why)
{
    rh_result result;
    rh_error err;
    assert_int_equal(rh_eval_runs(&env, 1, &counter_type, rh_env_task(env), 1, &hp, opt,
                                  &result, NULL, &err),
                     RH_EINVAL);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
}

static void bad_options_are_refused(void **unused)
{
    (void)unused;
    rh_env *env = make_corridor(4, 0, false);
    rh_eval_options good = rh_eval_defaults(rh_env_task(env)), bad;
    bad = (rh_eval_options){0};
    refused(env, &bad, 0, "rh_eval_defaults()");
    bad = good;
    bad.nstep = 0;
    refused(env, &bad, 0, "steps = 0, expected 1 or more");
    bad = good;
    bad.nrun = -1;
    refused(env, &bad, 0, "runs = -1");
    bad = good;
    bad.nthread = 0;
    refused(env, &bad, 0, "threads = 0");
    bad = good;
    bad.cutoff = 0;
    refused(env, &bad, 0, "cut-off = 0");
    bad = good;
    bad.ncurve = 11;
    refused(env, &bad, 0, "curve points = 11, expected 0 to the 10 steps");
    bad = good;
    bad.nrun = INT32_MAX; // one setting of so many is possible, and two are not
    rh_error err;
    double two[2] = {0};
    assert_int_equal(
        rh_eval_runs(&env, 1, &counter_type, rh_env_task(env), 2, two, &bad, NULL, NULL, &err),
        RH_EINVAL);
    assert_non_null(strstr(err.text, "2 settings of 2147483647 runs"));
    for (int nmember = 0; nmember <= RH_MAX_MEMBER + 1; nmember += RH_MAX_MEMBER + 1) {
        assert_int_equal(rh_eval_runs(&env, nmember, &counter_type, rh_env_task(env), 1, two,
                                      &good, NULL, NULL, &err),
                         RH_EINVAL);
        assert_non_null(strstr(err.text, nmember ? "257 members, expected 1 to 256"
                                                 : "0 members, expected 1 to 256"));
    }
    refused(env, &good, -1, "counter: fails = -1, expected a number, 0 to 1000000000");
    rh_env_destroy(env);
}

// An agent that cannot be created is reported before the first run.
static void impossible_agents_are_refused_first(void **unused)
{
    (void)unused;
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_env *env = NULL;
    assert_int_equal(rh_env_create(&env, rh_env_find("acrobot", NULL), NULL, NULL), RH_OK);
    double hp[2 * 32];
    for (int s = 0; s < 2; s++) {
        double *row = hp + s * agent->nparam;
        rh_param_initial(agent->param, agent->nparam, row);
        row[rh_param_find(agent->param, agent->nparam, "tiles")] = s ? 16 : 8;
        row[rh_param_find(agent->param, agent->nparam, "features")] = s ? 2 : 0; // joint
    }
    watcher w = {.stop_after = 1000};
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = 8;
    opt.nrun = 1;
    opt.watch = watch;
    opt.context = &w;
    rh_result result[2];
    rh_error err;
    assert_int_equal(
        rh_eval_runs(&env, 1, agent, rh_env_task(env), 2, hp, &opt, result, NULL, &err),
        RH_EINVAL);
    assert_non_null(strstr(err.text, "6 sensors with 16 tilings of 16 tiles"));
    assert_int_equal(w.nunit, 0);
    rh_env_destroy(env);
}

static void survives_every_failed_allocation(void **unused)
{
    (void)unused;
    rh_env *env = make_corridor(4, 0, false);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nrun = 4;
    opt.nthread = 2;
    opt.criterion = RH_MEDIAN;
    double hp[1] = {0};
    rh_result result[4];
    int64_t before = rh_base__alloc_live();
    int nth = 0;
    rh_status rc;
    rh_error err;
    do {
        rh_base__alloc_fail_at(++nth);
        rc = rh_eval_runs(&env, 1, &counter_type, rh_env_task(env), 1, hp, &opt, result, NULL,
                          &err);
    } while (allocation_failed(rc, &err, before));
    rh_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_are_scored),
        cmocka_unit_test(cutoffs_follow_their_rule),
        cmocka_unit_test(continuing_runs_have_no_episodes),
        cmocka_unit_test(failures_are_counted),
        cmocka_unit_test(limits_are_counted),
        cmocka_unit_test(breakdown_is_an_outcome),
        cmocka_unit_test(the_caller_can_watch_and_stop),
        cmocka_unit_test(a_current_run_stops),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_run_does_not_depend_on_other_runs),
        cmocka_unit_test(the_final_phase_is_scored),
        cmocka_unit_test(agents_start_from_a_saved_state),
        cmocka_unit_test(members_are_replicates),
        cmocka_unit_test(members_on_any_number_of_threads),
        cmocka_unit_test(events_name_the_member),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(impossible_agents_are_refused_first),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
