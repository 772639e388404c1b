// test_collect.c - collecting logs: when training ends, what is logged, what is discarded.
//
// An apprentice whose episodes get one step shorter each time makes everything predictable;
// simulators show that the same holds for real agents.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "cli/recipe.h"
#include "rehearse/rehearse.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- the apprentice

enum { FIRST_LENGTH = 60, LEAST_LENGTH = 5 };

// Every random number that was drawn, by environment and agent.
enum { MOST_DRAWN = 4096 };
static double drawn[MOST_DRAWN];
static int ndrawn;

static void draw(rh_rng *rng)
{
    drawn[ndrawn++ % MOST_DRAWN] = rh_rng_uniform(rng);
}

// Counts the steps of the episode until action 1 ends it. The second sensor tells starts apart:
// 0 for normal, 1 for random ones.
static const char *const start_name[] = {"normal", "random"};
static const rh_param bench_param[] = {{"start", "", .hi = 1, .choice = start_name},
                                       {"continuing", "", .hi = 1, .whole = true}};

typedef struct bench {
    double start;
    bool continuing;
} bench;

static rh_status bench_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)err;
    bench *b = self;
    b->start = opt[0];
    b->continuing = opt[1] != 0.0;
    task->nobs = 2;
    task->obs_name[0] = "age";
    task->obs_name[1] = "where";
    task->obs_hi[0] = task->obs_hi[1] = 1.0;
    task->naction = 3; // the last one is never taken
    task->nact = 1;
    task->nstep = 100;
    task->reward_lo = -2.0;
    task->continuing = b->continuing;
    return RH_OK;
}

static void bench_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const bench *b = self;
    double *age = state;
    draw(&streams->start);
    *age = 0.0;
    obs[0] = 0.0;
    obs[1] = b->start;
}

static bool bench_step(const void *self, void *state, const double *act, rh_streams *streams,
                       double *obs, double *reward)
{
    const bench *b = self;
    double *age = state;
    draw(&streams->noise);
    *age += 1.0;
    obs[0] = *age;
    obs[1] = b->start;
    *reward = act[0] == 1.0 ? -2.0 : -1.0;
    if (b->continuing && act[0] == 1.0)
        bench_start(self, state, streams, obs);
    return !b->continuing && act[0] == 1.0;
}

static const rh_env_type bench_type = {
    .name = "bench",
    .self_size = sizeof(bench),
    .state_size = sizeof(double),
    .param = bench_param,
    .nparam = 2,
    .init = bench_init,
    .start = bench_start,
    .step = bench_step,
};

typedef struct apprentice {
    int length; // of the episodes it makes
    int age;    // in the episode
} apprentice;

static rh_status apprentice_init(void *self, const rh_task *task, const double *hp,
                                 rh_error *err)
{
    (void)task;
    (void)hp;
    (void)err;
    ((apprentice *)self)->length = FIRST_LENGTH;
    return RH_OK;
}

static bool apprentice_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    apprentice *a = self;
    draw(rng);
    act[0] = obs[0] + 1.0 == a->length;
    return true;
}

static bool apprentice_step(void *self, double reward, const double *obs, rh_rng *rng,
                            double *act)
{
    apprentice *a = self;
    if (reward == -2.0 && a->length > LEAST_LENGTH) // in a continuing task there is no end
        a->length--;
    return apprentice_act(self, obs, rng, act);
}

static bool apprentice_end(void *self, double reward)
{
    (void)reward;
    apprentice *a = self;
    a->length -= a->length > LEAST_LENGTH;
    return true;
}

static const rh_agent_type apprentice_type = {
    .name = "apprentice",
    .actions = RH_DISCRETE,
    .self_size = sizeof(apprentice),
    .init = apprentice_init,
    .start = apprentice_act,
    .step = apprentice_step,
    .end = apprentice_end,
    .act = apprentice_act,
};

// ---------------------------------------------------------------------------- helpers

static rh_env *bench_env(double start, double continuing)
{
    rh_env *env = NULL;
    double opt[2] = {start, continuing};
    assert_int_equal(rh_env_create(&env, &bench_type, opt, NULL), RH_OK);
    return env;
}

static rh_env *simulator(const char *name, double start)
{
    rh_env *env = NULL;
    const rh_env_type *type = rh_env_find(name, NULL);
    double opt[64];
    rh_param_initial(type->param, type->nparam, opt);
    opt[rh_param_find(type->param, type->nparam, "start")] = start;
    assert_int_equal(rh_env_create(&env, type, opt, NULL), RH_OK);
    return env;
}

static rh_collect_options options(const cli_recipe *r, int64_t nstep, uint64_t seed)
{
    rh_collect_options opt = rh_collect_defaults();
    cli_window window;
    cli_recipe_window(r, nstep, &window);
    opt.nstep = nstep;
    opt.seed = seed;
    opt.enough = r->enough;
    opt.span = r->span;
    opt.level = r->level;
    opt.patience = r->patience;
    opt.cutoff = r->cutoff;
    opt.least = window.least;
    opt.most = window.most;
    return opt;
}

// A log by a recipe.
static rh_log *cook(const char *env, const char *policy, int64_t nstep, uint64_t seed,
                    rh_collected *how)
{
    rh_log *log = NULL;
    double hp[64];
    const cli_recipe *r = cli_recipe_find(env, policy, false, NULL);
    const rh_agent_type *agent = rh_agent_find(r->agent, NULL);
    assert_int_equal(cli_recipe_hyperparameters(r, agent, hp, NULL), RH_OK);
    rh_env *school = simulator(env, 0), *field = simulator(env, r->random);
    rh_collect_options opt = options(r, nstep, seed);
    assert_int_equal(rh_log_collect(&log, NULL, how, school, field, agent, hp, &opt, NULL),
                     RH_OK);
    assert_int_equal(how->outcome, RH_COLLECTED);
    rh_env_destroy(field);
    rh_env_destroy(school);
    return log;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t hash_log(const rh_log *log)
{
    size_t n = (size_t)log->n;
    uint64_t h = UINT64_C(14695981039346656037);
    h = hash_bytes(h, log->obs, (size_t)(log->nstate * log->nobs) * sizeof(double));
    h = hash_bytes(h, log->from, n * sizeof *log->from);
    h = hash_bytes(h, log->to, n * sizeof *log->to);
    h = hash_bytes(h, log->act, n * (size_t)log->nact * sizeof(double));
    h = hash_bytes(h, log->reward, n * sizeof(double));
    return hash_bytes(h, log->flag, n);
}

// True of every collected log.
static void check_log(const rh_log *log, int64_t nstep)
{
    assert_int_equal(log->n, nstep);
    assert_int_equal(log->first[log->nepisode], nstep);
    for (int e = 0; e < log->nepisode; e++) {
        assert_int_equal(log->start[e], 1);
        for (int64_t i = log->first[e]; i < log->first[e + 1]; i++) {
            bool last = i + 1 == log->first[e + 1];
            assert_true(log->to[i] != RH_UNKNOWN);
            assert_true(
                rh_base__all_finite(log->obs + (int64_t)log->from[i] * log->nobs, log->nobs));
            if (last)
                assert_true(log->flag[i] == RH_FLAG_TERMINAL ||
                            log->flag[i] == RH_FLAG_TRUNCATED);
            else {
                assert_int_equal(log->flag[i], 0);
                assert_int_equal(log->to[i], log->from[i + 1]);
            }
        }
    }
    assert_int_equal(log->reading.nmismatch, 0);
    assert_int_equal(log->reading.nlost, 0);
}

static int64_t count_terminal(const rh_log *log)
{
    int64_t n = 0;
    for (int64_t i = 0; i < log->n; i++)
        n += (log->flag[i] & RH_FLAG_TERMINAL) != 0;
    return n;
}

// ---------------------------------------------------------------------------- training

// Where the apprentice's training ends, computed from the lengths of its episodes. measure:
// over the last 100 steps, from the ends among them.
static int expected_end(double (*measure)(int nended), double level, bool below, int *length)
{
    bool ended[4000] = {false};
    int t = 0;
    for (*length = FIRST_LENGTH;; *length -= *length > LEAST_LENGTH)
        for (int age = 1; age <= *length; age++) {
            int n = 0;
            ended[++t] = age == *length;
            for (int i = t - 99; i <= t; i++)
                n += i > 0 && ended[i];
            double x = measure(n);
            if (t >= 100 && n > 0 && (below ? x <= level : x >= level)) {
                *length -= ended[t] && *length > LEAST_LENGTH; // it learns from the last step
                return t;
            }
        }
}

static double length_of(int nended)
{
    return 100.0 / nended;
}

static double return_of(int nended)
{
    return -(100.0 + nended) / nended;
}

static double reward_of(int nended)
{
    return -(100.0 + nended) / 100.0;
}

static void training_ends_when_it_should(void **unused)
{
    (void)unused;
    static const struct {
        rh_enough enough;
        double (*measure)(int nended);
        bool below;
        double level;
    } entry[] = {
        {RH_ENOUGH_LENGTH, length_of, true, 25.0},
        {RH_ENOUGH_LENGTH, length_of, true, 99.0},
        {RH_ENOUGH_LENGTH, length_of, true, 10.0},
        {RH_ENOUGH_RETURN, return_of, false, -21.0},
        {RH_ENOUGH_RETURN, return_of, false, -51.0},
        {RH_ENOUGH_REWARD, reward_of, false, -9.0},
    };
    rh_env *env = bench_env(0, 0);
    for (size_t i = 0; i < sizeof entry / sizeof *entry; i++) {
        rh_collect_options opt = rh_collect_defaults();
        rh_collected how;
        rh_log *log = NULL;
        int length;
        opt.enough = entry[i].enough;
        opt.level = entry[i].level;
        opt.span = 100;
        opt.nstep = 200;
        int expected = expected_end(entry[i].measure, opt.level, entry[i].below, &length);
        assert_int_equal(
            rh_log_collect(&log, NULL, &how, env, env, &apprentice_type, NULL, &opt, NULL),
            RH_OK);
        assert_int_equal(how.outcome, RH_COLLECTED);
        assert_int_equal(how.trained, expected);
        assert_true(entry[i].below ? how.quality <= opt.level : how.quality >= opt.level);

        // frozen: all its episodes have the same length
        check_log(log, 200);
        assert_int_equal(how.nended, 200 / length);
        assert_int_equal(count_terminal(log), how.nended);
        for (int e = 0; e < how.nended; e++)
            assert_int_equal(log->first[e + 1] - log->first[e], length);
        assert_true(how.returned == -length - 1.0);
        assert_true(how.reward == -200.0 - (double)how.nended);
        assert_int_equal(log->naction, 3);
        assert_string_equal(log->label[2], "2");
        assert_string_equal(log->obs_name[1], "where");
        rh_log_destroy(log);
    }
    rh_env_destroy(env);
}

static void training_of_so_many_steps(void **unused)
{
    (void)unused;
    rh_env *env = bench_env(0, 0);
    for (int span = 0; span <= 200; span += 40) {
        rh_collect_options opt = rh_collect_defaults();
        rh_collected how;
        rh_log *log = NULL;
        opt.span = span;
        opt.nstep = 100;
        assert_int_equal(
            rh_log_collect(&log, NULL, &how, env, env, &apprentice_type, NULL, &opt, NULL),
            RH_OK);
        assert_int_equal(how.trained, span);
        assert_true(isnan(how.quality));
        int length = FIRST_LENGTH;
        for (int left = span; left >= length;) // episodes completed in the training
            left -= length--;
        assert_int_equal(log->first[1], length);
        rh_log_destroy(log);
    }
    rh_env_destroy(env);
}

// One log of the apprentice after `span` training steps.
static rh_log *apprentices_log(const rh_env *env, int64_t span, int64_t nstep, int64_t cutoff,
                               rh_collected *how)
{
    rh_collect_options opt = rh_collect_defaults();
    rh_log *log = NULL;
    opt.span = span;
    opt.nstep = nstep;
    opt.cutoff = cutoff;
    assert_int_equal(
        rh_log_collect(&log, NULL, how, env, env, &apprentice_type, NULL, &opt, NULL), RH_OK);
    assert_int_equal(how->outcome, RH_COLLECTED);
    check_log(log, nstep);
    return log;
}

// A log that ends with an episode ends in its terminal state and is not truncated.
static void the_last_step_may_be_terminal(void **unused)
{
    (void)unused;
    rh_env *env = bench_env(0, 0);
    rh_collected how;
    rh_log *log = apprentices_log(env, 0, 2 * FIRST_LENGTH, INT64_MAX, &how);
    assert_int_equal(how.nended, 2);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->flag[log->n - 1], RH_FLAG_TERMINAL);
    rh_log_destroy(log);
    rh_env_destroy(env);
}

// In a continuing task the frozen agent fails at regular intervals.
static void frozen_in_a_continuing_task(void **unused)
{
    (void)unused;
    rh_env *env = bench_env(0, 1);
    rh_collected how;
    rh_log *log = apprentices_log(env, 2 * FIRST_LENGTH - 1, 300, INT64_MAX, &how);
    int length = FIRST_LENGTH - 2; // it has failed twice
    assert_int_equal(log->nepisode, 1);
    assert_int_equal(count_terminal(log), 0);
    assert_int_equal(how.nended, 300 / length);
    assert_true(isnan(how.returned));
    for (int64_t i = 0; i < log->n; i++)
        assert_true(log->reward[i] == ((i + 1) % length == 0 ? -2.0 : -1.0));
    rh_log_destroy(log);
    rh_env_destroy(env);
}

// A truncated episode is followed by a new start and is no end: the apprentice learns nothing
// from it, however close it was.
static void episodes_are_cut_off(void **unused)
{
    (void)unused;
    rh_env *env = bench_env(0, 0);
    rh_collected how;
    rh_log *log = apprentices_log(env, 1000, 200, FIRST_LENGTH - 1, &how);
    assert_int_equal(log->nepisode, 4);
    assert_int_equal(how.nended, 0);
    assert_true(isnan(how.returned));
    assert_int_equal(count_terminal(log), 0);
    assert_int_equal(log->first[3], 3 * (FIRST_LENGTH - 1));
    rh_log_destroy(log);

    // an episode exactly as long as the limit terminates
    log = apprentices_log(env, FIRST_LENGTH, 200, FIRST_LENGTH, &how);
    assert_int_equal(log->first[1], FIRST_LENGTH - 1);
    assert_int_equal(log->flag[FIRST_LENGTH - 2], RH_FLAG_TERMINAL);
    rh_log_destroy(log);
    rh_env_destroy(env);
}

// ---------------------------------------------------------------------------- starts

static void school_and_field_and_starts(void **unused)
{
    (void)unused;
    rh_env *school = bench_env(0, 0), *field = bench_env(1, 0);
    rh_collect_options opt = rh_collect_defaults();
    rh_collected how;
    rh_log *log = NULL, *starts = NULL;
    opt.span = 100;
    opt.nstep = 250;
    opt.nstart = 17;
    assert_int_equal(
        rh_log_collect(&log, &starts, &how, school, field, &apprentice_type, NULL, &opt, NULL),
        RH_OK);
    check_log(log, 250);
    check_log(starts, 17);
    assert_int_equal(starts->nepisode, 17);
    assert_int_equal(count_terminal(starts), 0);
    for (int64_t i = 0; i < log->nstate; i++)
        assert_true(log->obs[2 * i + 1] == 1.0);
    for (int64_t i = 0; i < starts->nstate; i++)
        assert_true(starts->obs[2 * i + 1] == 0.0);
    rh_log_destroy(starts);
    rh_log_destroy(log);
    rh_env_destroy(field);
    rh_env_destroy(school);
}

// No stream is used twice: by training and log, by log and starts, or by two attempts.
static void chance_is_never_shared(void **unused)
{
    (void)unused;
    rh_env *env = bench_env(0, 0);
    rh_collect_options opt = rh_collect_defaults();
    rh_collected how;
    rh_log *log = NULL, *starts = NULL;
    opt.span = 200;
    opt.nstep = 200;
    opt.ntry = 3;
    opt.least = 100;
    ndrawn = 0;
    assert_int_equal(
        rh_log_collect(&log, NULL, &how, env, env, &apprentice_type, NULL, &opt, NULL), RH_OK);
    assert_int_equal(how.outcome, RH_COLLECT_OUTSIDE);
    int ntried = ndrawn;
    opt.least = 0;
    assert_int_equal(
        rh_log_collect(&log, &starts, &how, env, env, &apprentice_type, NULL, &opt, NULL),
        RH_OK);
    assert_true(ntried > 2400);
    assert_true(ndrawn > ntried + 800);
    assert_true(ndrawn < MOST_DRAWN);
    int first = ntried; // the first attempt again, bit for bit; then the starts
    for (int i = 0; i < ndrawn - ntried - 400; i++)
        assert_true(drawn[i] == drawn[first + i]);
    for (int i = 0; i < ntried; i++)
        for (int j = 0; j < i; j++)
            assert_true(drawn[i] != drawn[j]);
    for (int i = first; i < ndrawn; i++)
        for (int j = first; j < i; j++)
            assert_true(drawn[i] != drawn[j]);
    rh_log_destroy(starts);
    rh_log_destroy(log);
    rh_env_destroy(env);
}

// Acrobot's random starts are anywhere, its normal ones hang; no start occurs twice in the log
// or the log of starts.
static void starts_are_fresh(void **unused)
{
    (void)unused;
    rh_env *school = simulator("acrobot", 0), *field = simulator("acrobot", 1);
    const rh_agent_type *agent = rh_agent_find("random", NULL);
    rh_collect_options opt = rh_collect_defaults();
    rh_collected how;
    rh_log *log = NULL, *starts = NULL, *again = NULL;
    opt.nstep = 20000;
    assert_int_equal(
        rh_log_collect(&log, &starts, &how, school, field, agent, NULL, &opt, NULL), RH_OK);
    assert_int_equal(
        rh_log_collect(&again, NULL, &how, school, school, agent, NULL, &opt, NULL), RH_OK);
    int raised = 0;
    for (int e = 0; e < log->nepisode; e++)
        raised += log->obs[6 * log->from[log->first[e]]] < 0.9;
    assert_true(2 * raised > log->nepisode);
    for (int e = 0; e < starts->nepisode; e++) {
        const double *x = starts->obs + (size_t)6 * (size_t)starts->from[e];
        assert_true(x[0] > 0.99);
        assert_true(x[2] > 0.99);
        for (int f = 0; f < again->nepisode; f++)
            assert_true(again->obs[6 * again->from[again->first[f]] + 4] != x[4]);
    }
    rh_log_destroy(again);
    rh_log_destroy(starts);
    rh_log_destroy(log);
    rh_env_destroy(field);
    rh_env_destroy(school);
}

// ---------------------------------------------------------------------------- tries

static void a_window_is_kept(void **unused)
{
    (void)unused;
    rh_collected how;
    int64_t tries = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        rh_log *log = cook("puddle_world", "medium", 1000, seed, &how);
        check_log(log, 1000);
        assert_true(how.nended >= 16);
        assert_true(how.nended <= 20);
        assert_int_equal(count_terminal(log), how.nended);
        tries += how.ntry;
        if (how.ntry > 1) // discarded logs were outside the window
            assert_true(how.fewest > how.greatest || how.fewest < 16 || how.greatest > 20);
        rh_log_destroy(log);
    }
    assert_true(tries > 5);
}

static void a_window_nobody_meets(void **unused)
{
    (void)unused;
    rh_env *env = bench_env(0, 0);
    rh_collect_options opt = rh_collect_defaults();
    rh_collected how;
    rh_log *log = NULL;
    opt.span = 100;
    opt.nstep = 200;
    opt.least = 40;
    opt.ntry = 7;
    assert_int_equal(
        rh_log_collect(&log, NULL, &how, env, env, &apprentice_type, NULL, &opt, NULL), RH_OK);
    assert_null(log);
    assert_int_equal(how.outcome, RH_COLLECT_OUTSIDE);
    assert_int_equal(how.ntry, 7);
    assert_int_equal(how.nuntaught, 0);
    assert_int_equal(how.fewest, 3); // 200 steps, 59 per episode
    assert_int_equal(how.greatest, 3);

    // both ends of a window are inside
    static const struct {
        int64_t least, most;
        rh_collect_outcome outcome;
    } window[] = {{3, 3, RH_COLLECTED}, {4, 9, RH_COLLECT_OUTSIDE}, {0, 2, RH_COLLECT_OUTSIDE}};
    for (int i = 0; i < 3; i++) {
        opt.least = window[i].least;
        opt.most = window[i].most;
        assert_int_equal(
            rh_log_collect(&log, NULL, &how, env, env, &apprentice_type, NULL, &opt, NULL),
            RH_OK);
        assert_int_equal(how.outcome, window[i].outcome);
        rh_log_destroy(log);
        log = NULL;
    }

    // never good enough: given up after twenty attempts
    opt.most = INT64_MAX;
    opt.enough = RH_ENOUGH_LENGTH;
    opt.level = LEAST_LENGTH - 1;
    opt.patience = 3000;
    opt.ntry = 1000;
    assert_int_equal(
        rh_log_collect(&log, NULL, &how, env, env, &apprentice_type, NULL, &opt, NULL), RH_OK);
    assert_null(log);
    assert_int_equal(how.outcome, RH_COLLECT_UNTAUGHT);
    assert_int_equal(how.ntry, 20);
    assert_int_equal(how.nuntaught, 20);
    assert_int_equal(how.trained, 3000);
    assert_true(how.fewest > how.greatest);
    rh_env_destroy(env);
}

static bool stop_soon(void *context)
{
    int *left = context;
    return --*left < 0;
}

// Stopped anywhere, there is no log.
static void it_can_be_stopped(void **unused)
{
    (void)unused;
    rh_env *env = bench_env(0, 0);
    int64_t live = rh_base__alloc_live();
    rh_collected how = {0};
    for (int calls = 0; calls < 100; calls++) {
        rh_collect_options opt = rh_collect_defaults();
        rh_log *log = NULL, *starts = NULL;
        int left = calls;
        opt.span = 1000;
        opt.nstep = 1000;
        opt.stop = stop_soon;
        opt.context = &left;
        assert_int_equal(
            rh_log_collect(&log, &starts, &how, env, env, &apprentice_type, NULL, &opt, NULL),
            RH_OK);
        if (how.outcome == RH_COLLECTED) {
            assert_true(calls > 6); // 3 in the training, 4 in the log, 1 in the starts
            assert_non_null(log);
            assert_non_null(starts);
            rh_log_destroy(starts);
            rh_log_destroy(log);
            break;
        }
        assert_int_equal(how.outcome, RH_COLLECT_STOPPED);
        assert_null(log);
        assert_null(starts);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_int_equal(how.outcome, RH_COLLECTED);
    rh_env_destroy(env);
}

// ---------------------------------------------------------------------------- the simulators

static void one_seed_one_log(void **unused)
{
    (void)unused;
    static const char *const env[] = {"puddle_world", "mountain_car", "pendulum", "cartpole"};
    for (int i = 0; i < 4; i++) {
        const char *policy = i == 2 ? "random" : "naive";
        rh_collected one, two, other;
        rh_log *a = cook(env[i], policy, 2000, 3, &one);
        rh_log *b = cook(env[i], policy, 2000, 3, &two);
        rh_log *c = cook(env[i], policy, 2000, 4, &other);
        assert_true(hash_log(a) == hash_log(b));
        assert_true(hash_log(a) != hash_log(c));
        assert_int_equal(one.ntry, two.ntry);
        assert_int_equal(one.trained, two.trained);
        rh_log_destroy(a);
        rh_log_destroy(b);
        rh_log_destroy(c);
    }
}

// Every step of a log follows the mountain car's published formula.
static void steps_are_the_environments(void **unused)
{
    (void)unused;
    rh_collected how;
    rh_log *log = cook("mountain_car", "medium", 5000, 1, &how);
    check_log(log, 5000);
    assert_true(how.nended >= 20);
    assert_true(how.nended <= 30);
    int taken[3] = {0};
    for (int64_t i = 0; i < log->n; i++) {
        const double *s = log->obs + (size_t)2 * (size_t)log->from[i];
        const double *next = log->obs + (size_t)2 * (size_t)log->to[i];
        double v = s[1] + (log->act[i] - 1.0) * 0.001 - 0.0025 * cos(3.0 * s[0]);
        v = fmin(fmax(v, -0.07), 0.07);
        double x = fmin(fmax(s[0] + v, -1.2), 0.5);
        assert_true(fabs(next[0] - x) < 1e-12);
        assert_true(fabs(next[1] - (x == -1.2 ? 0.0 : v)) < 1e-12);
        assert_true(log->reward[i] == -1.0);
        assert_int_equal((log->flag[i] & RH_FLAG_TERMINAL) != 0, x >= 0.5);
        taken[(int)log->act[i]]++;
    }
    assert_true(taken[0] > 0);
    assert_true(taken[1] > 0);
    assert_true(taken[2] > 0);
    rh_log_destroy(log);
}

static void actions_may_be_continuous(void **unused)
{
    (void)unused;
    rh_collected how;
    rh_log *log = cook("pendulum", "medium", 3050, 1, &how);
    check_log(log, 3050);
    assert_int_equal(log->naction, 0);
    assert_int_equal(log->nact, 1);
    assert_null(log->label);
    assert_int_equal(log->nepisode, 16); // truncated after 200 steps
    assert_int_equal(count_terminal(log), 0);
    assert_true(how.quality >= -2.0);
    int inside = 0;
    for (int64_t i = 0; i < log->n; i++) {
        assert_true(fabs(log->act[i]) <= 2.0);
        inside += fabs(log->act[i]) < 2.0;
    }
    assert_true(inside > 0);
    rh_log_destroy(log);
}

// A failure shows in its reward, and the next state is a start; nothing terminates.
static void continuing_tasks_fail_and_go_on(void **unused)
{
    (void)unused;
    rh_collected how;
    rh_log *log = cook("cartpole", "random", 10000, 2, &how);
    check_log(log, 10000);
    assert_int_equal(log->nepisode, 1);
    assert_int_equal(log->flag[9999], RH_FLAG_TRUNCATED);
    int64_t nfailure = 0;
    for (int64_t i = 0; i < log->n; i++) {
        nfailure += log->reward[i] == -1.0;
        if (log->reward[i] == -1.0) {
            const double *s = log->obs + (size_t)4 * (size_t)log->to[i];
            assert_true(fabs(s[0]) <= 0.8);
            assert_true(fabs(s[1]) <= 0.05);
            assert_true(fabs(s[3]) <= 0.05);
        }
    }
    assert_int_equal(nfailure, how.nended);
    assert_true(nfailure >= 400);
    assert_true(nfailure <= 500);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- refusals

static void refuses(rh_collect_options opt, const char *message)
{
    rh_env *env = bench_env(0, 0);
    rh_error err;
    rh_collected how;
    rh_log *log = NULL;
    assert_int_equal(
        rh_log_collect(&log, NULL, &how, env, env, &apprentice_type, NULL, &opt, &err),
        RH_EINVAL);
    assert_string_equal(err.text, message);
    assert_null(log);
    rh_env_destroy(env);
}

static void options_are_checked(void **unused)
{
    (void)unused;
    rh_collect_options opt = rh_collect_defaults();
    opt.nstep = 0;
    refuses(opt, "collect: steps = 0, expected 1 to 1073741823");
    opt = rh_collect_defaults();
    opt.cutoff = 0;
    refuses(opt, "collect: cut-off = 0, expected 1 or more");
    opt = rh_collect_defaults();
    opt.ntry = 0;
    refuses(opt, "collect: tries = 0, expected 1 or more");
    opt = rh_collect_defaults();
    opt.nstart = 0;
    refuses(opt, "collect: starts = 0, expected 1 or more");
    opt = rh_collect_defaults();
    opt.enough = RH_ENOUGH_REWARD;
    refuses(opt, "collect: span = 0, expected 1 to 2147483647 steps");
    opt = rh_collect_defaults();
    opt.least = 5;
    opt.most = 4;
    refuses(opt, "collect: at least 5 and at most 4 episodes, expected the least to be no more "
                 "than the most");
    opt = rh_collect_defaults();
    opt.cookie = 0;
    refuses(opt, "collect: options must start from rh_collect_defaults()");
}

static void an_agent_that_does_not_fit(void **unused)
{
    (void)unused;
    rh_env *env = bench_env(0, 0);
    rh_error err;
    rh_collected how;
    rh_log *log = NULL;
    const rh_agent_type *agent = rh_agent_find("gaussian_actor_critic", NULL);
    assert_int_equal(rh_log_collect(&log, NULL, &how, env, env, agent, NULL, NULL, &err),
                     RH_EINVAL);
    assert_non_null(strstr(err.text, "takes continuous actions only"));
    rh_env_destroy(env);
}

static void memory_may_run_out(void **unused)
{
    (void)unused;
    rh_env *env = simulator("mountain_car", 0);
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_collect_options opt = rh_collect_defaults();
    double hp[64];
    rh_param_initial(agent->param, agent->nparam, hp);
    hp[rh_param_find(agent->param, agent->nparam, "tilings")] = 2;
    opt.nstep = 40;
    opt.span = 30;
    opt.enough = RH_ENOUGH_REWARD;
    opt.level = -1;
    opt.nstart = 3;
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int nth = 1; rc == RH_ENOMEM; nth++) {
        rh_log *log = NULL, *starts = NULL;
        rh_collected how;
        rh_error err = {""};
        rh_base__alloc_fail_at(nth);
        rc = rh_log_collect(&log, &starts, &how, env, env, agent, hp, &opt, &err);
        rh_base__alloc_fail_at(0);
        if (rc) {
            assert_int_equal(rc, RH_ENOMEM);
            assert_non_null(strstr(err.text, "out of memory"));
            assert_null(log);
        } else {
            assert_true(nth > 40);
        }
        rh_log_destroy(log);
        rh_log_destroy(starts);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_int_equal(rc, RH_OK);
    rh_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_ends_when_it_should),
        cmocka_unit_test(training_of_so_many_steps),
        cmocka_unit_test(the_last_step_may_be_terminal),
        cmocka_unit_test(frozen_in_a_continuing_task),
        cmocka_unit_test(episodes_are_cut_off),
        cmocka_unit_test(school_and_field_and_starts),
        cmocka_unit_test(chance_is_never_shared),
        cmocka_unit_test(starts_are_fresh),
        cmocka_unit_test(a_window_is_kept),
        cmocka_unit_test(a_window_nobody_meets),
        cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(one_seed_one_log),
        cmocka_unit_test(steps_are_the_environments),
        cmocka_unit_test(actions_may_be_continuous),
        cmocka_unit_test(continuing_tasks_fail_and_go_on),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(an_agent_that_does_not_fit),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
