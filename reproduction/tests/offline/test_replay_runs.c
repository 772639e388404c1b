// test_replay_runs.c - replay evaluators: exact cases, expectations by recursion and by powers
// of a matrix (tests/reference/offline_replay.py), learners, threads, refusals.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "env/alloc_test.h"
#include "offline/replay_eval.h"
#include "rehearse/agent.h"
#include "rehearse/env.h"
#include "rehearse/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 5.0 // standard errors: a correct implementation fails once in a million

// ---------------------------------------------------------------------------- reference

enum { NSTATE = 3, NACTION = 2 };

static struct {
    double P[NSTATE][NACTION][NSTATE], R[NSTATE][NACTION][NSTATE], pi[NSTATE][NACTION];
    double total;                            // of 12 steps
    double left[NACTION], chance;            // the single bin
    double steps[3], reward[3], rejected[3]; // by method
} ref;

static int read_reference(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/offline_replay.csv", "r");
    char name[16], number[64];
    int i, j, k, nrow = 0;
    if (!file)
        return -1;
    for (; fscanf(file, "%15[^,],%d,%d,%d,%63s\n", name, &i, &j, &k, number) == 5; nrow++) {
        double x = strtod(number, NULL);
        if (strcmp(name, "P") == 0)
            ref.P[i][j][k] = x;
        else if (strcmp(name, "R") == 0)
            ref.R[i][j][k] = x;
        else if (strcmp(name, "pi") == 0)
            ref.pi[i][j] = x;
        else if (strcmp(name, "total") == 0)
            ref.total = x;
        else if (strcmp(name, "left") == 0)
            ref.left[i] = x;
        else if (strcmp(name, "chance") == 0)
            ref.chance = x;
        else if (strcmp(name, "steps") == 0)
            ref.steps[i] = x;
        else if (strcmp(name, "reward") == 0)
            ref.reward[i] = x;
        else if (strcmp(name, "rejected") == 0)
            ref.rejected[i] = x;
    }
    fclose(file);
    return nrow == 55 ? 0 : -1;
}

// ---------------------------------------------------------------------------- an agent

// Draws from a table; the first sensor is the state.
static double table[NSTATE][NACTION];

typedef struct fixed {
    int state;
} fixed;

static rh_status fixed_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    (void)self, (void)task, (void)hp, (void)err;
    return RH_OK;
}

static bool fixed_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    fixed *f = self;
    f->state = (int)obs[0];
    act[0] = rh_agent_draw(table[f->state], NACTION, rng);
    return true;
}

static bool fixed_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)reward;
    return fixed_act(self, obs, rng, act);
}

static bool fixed_end(void *self, double reward)
{
    (void)self, (void)reward;
    return true;
}

static void fixed_policy(const void *self, double *pi)
{
    const fixed *f = self;
    memcpy(pi, table[f->state], sizeof table[0]);
}

static void fixed_take(void *self, int action)
{
    (void)self, (void)action;
}

static const rh_agent_type telling = {
    .name = "telling",
    .about = "a fixed policy",
    .actions = RH_DISCRETE,
    .self_size = sizeof(fixed),
    .init = fixed_init,
    .start = fixed_act,
    .step = fixed_step,
    .end = fixed_end,
    .act = fixed_act,
    .policy = fixed_policy,
    .take = fixed_take,
};

// The same without probabilities.
static rh_agent_type silent_type(void)
{
    rh_agent_type type = telling;
    type.policy = NULL;
    type.take = NULL;
    return type;
}

// ---------------------------------------------------------------------------- logs

static rh_task small_task(bool continuing)
{
    rh_task task = {.nobs = 1, .naction = NACTION, .nact = 1, .continuing = continuing};
    task.gamma = continuing ? 0.9 : 1.0;
    task.reward_lo = -INFINITY;
    task.nstep = 100;
    task.obs_name[0] = "state";
    task.obs_hi[0] = NSTATE;
    return task;
}

static rh_log_builder *open_log(int nobs)
{
    static const char *const label[] = {"0", "1"};
    rh_log_builder *builder = NULL;
    rh_log_shape shape = {.nobs = nobs,
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .label = label,
                          .nlabel = NACTION,
                          .declared = true,
                          .format = "test"};
    assert_int_equal(rh_log_builder_create(&builder, &shape, NULL), RH_OK);
    return builder;
}

// One step, an episode of its own. starts: it begins in a start state.
static void push(rh_log_builder *builder, double s, int a, double reward, double next,
                 bool terminal, bool starts)
{
    double act = a;
    rh_log_row row = {.obs = &s,
                      .act = &act,
                      .reward = reward,
                      .next = terminal ? NULL : &next,
                      .terminal = terminal,
                      .truncated = !terminal,
                      .begins = true,
                      .resumes = !starts};
    assert_int_equal(rh_log_push(builder, &row, NULL), RH_OK);
}

static rh_log *close_log(rh_log_builder *builder)
{
    rh_log *log = NULL;
    assert_int_equal(rh_log_finish(builder, &log, NULL), RH_OK);
    rh_log_builder_destroy(builder);
    return log;
}

static int draw_next(const double *p, rh_rng *rng)
{
    return rh_agent_draw(p, NSTATE, rng);
}

// n[a] independent samples of every (state, action) of the reference's MDP.
static rh_log *mdp_log(const int *n, uint64_t seed)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_FIT, 0, 0);
    rh_log_builder *builder = open_log(1);
    for (int s = 0; s < NSTATE; s++)
        for (int a = 0; a < NACTION; a++)
            for (int i = 0; i < n[a]; i++) {
                int t = draw_next(ref.P[s][a], &rng);
                push(builder, s, a, ref.R[s][a][t], t, false, s == 0);
            }
    return close_log(builder);
}

static rh_replay_options options(rh_replay_method method, int nrun, int64_t nstep)
{
    rh_replay_options opt = rh_replay_defaults();
    opt.method = method;
    opt.bins = NSTATE;
    opt.nrun = nrun;
    opt.nstep = nstep;
    return opt;
}

static void do_runs(const rh_log *log, const rh_agent_type *agent, const rh_task *task,
                    const rh_replay_options *opt, rh_replay_result *result)
{
    rh_error err = {""};
    rh_status rc = rh_replay_runs(log, agent, task, 1, NULL, opt, result, &err);
    if (rc)
        fail_msg("%s", err.text);
}

// ---------------------------------------------------------------------------- exact

// 0 -> 1 -> end by action 1, in three episodes; nothing was logged for action 0 in state 0.
static void a_deterministic_task_is_exact(void **unused)
{
    (void)unused;
    rh_task task = small_task(false);
    rh_log_builder *builder = open_log(1);
    for (int e = 0; e < 3; e++) {
        push(builder, 0, 1, -1.0, 1, false, true);
        push(builder, 1, 1, -2.5, 0, true, false);
    }
    push(builder, 1, 0, -7.0, 1, false, false);
    rh_log *log = close_log(builder);
    rh_agent_type silent = silent_type();
    rh_replay_result r[2];

    double always[NSTATE][NACTION] = {{0, 1}, {0, 1}, {0, 1}};
    memcpy(table, always, sizeof table);
    for (int m = 0; m < 2; m++) {
        rh_replay_options opt = options((rh_replay_method)m, 2, INT64_MAX);
        do_runs(log, &telling, &task, &opt, r);
        for (int i = 0; i < 2; i++) { // until the last start
            assert_true(r[i].score == -3.5);
            assert_true(r[i].total == -10.5);
            assert_int_equal(r[i].nstep, 6);
            assert_int_equal(r[i].nepisode, 3);
            assert_true(r[i].exhausted);
            assert_false(r[i].broken);
        }
        opt.nstep = 3;
        do_runs(log, &telling, &task, &opt, r);
        assert_true(r[0].score == -3.5);
        assert_true(r[0].total == -4.5);
        assert_false(r[0].exhausted);
        assert_int_equal(r[0].nstep, 3);
        assert_int_equal(r[0].nepisode, 1);
    }

    // one sample of each action: state 0 has none of action 0
    rh_replay_options opt = options(RH_REPLAY_REJECTION, 1, INT64_MAX);
    do_runs(log, &silent, &task, &opt, r);
    assert_int_equal(r[0].nstep, 0);
    assert_true(r[0].exhausted);
    assert_true(isnan(r[0].score));
    do_runs(log, &silent, &task,
            &(rh_replay_options){.method = RH_REPLAY_QUEUE,
                                 .bins = 3,
                                 .nstep = INT64_MAX,
                                 .nrun = 1,
                                 .nthread = 1,
                                 .cookie = opt.cookie},
            r);
    assert_int_equal(r[0].nstep, 6);

    // an action that was never taken there
    double never[NSTATE][NACTION] = {{1, 0}, {1, 0}, {1, 0}};
    memcpy(table, never, sizeof table);
    for (int m = 0; m < 2; m++) {
        opt = options((rh_replay_method)m, 1, INT64_MAX);
        do_runs(log, &telling, &task, &opt, r);
        assert_int_equal(r[0].nstep, 0);
        assert_true(r[0].exhausted);
        assert_true(isnan(r[0].score));
    }

    // the same states as one task without episodes: a rate
    task = small_task(true);
    memcpy(table, always, sizeof table);
    opt = options(RH_REPLAY_QUEUE, 1, 2);
    do_runs(log, &telling, &task, &opt, r);
    assert_true(r[0].score == -3.5 / 2 * 100);
    rh_log_destroy(log);
}

// Actions of a probability of at most 0.001 may be missing.
static void rare_actions_may_be_missing(void **unused)
{
    (void)unused;
    rh_task task = small_task(true);
    rh_log_builder *builder = open_log(1);
    for (int i = 0; i < 50; i++)
        push(builder, 0, 1, 1.0, 0, false, true);
    rh_log *log = close_log(builder);
    rh_replay_result r;
    rh_replay_options opt = options(RH_REPLAY_REJECTION, 1, INT64_MAX);
    table[0][0] = 0.001;
    table[0][1] = 0.999;
    do_runs(log, &telling, &task, &opt, &r);
    assert_int_equal(r.nstep, 50);
    assert_int_equal(r.nrejected, 0);
    table[0][0] = 0.0011;
    table[0][1] = 0.9989;
    do_runs(log, &telling, &task, &opt, &r);
    assert_int_equal(r.nstep, 0);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- expectations

typedef struct moments {
    double sum, square;
    int n;
} moments;

static void add(moments *m, double x)
{
    m->sum += x;
    m->square += x * x;
    m->n++;
}

static double mean_of(const moments *m)
{
    return m->sum / m->n;
}

static double error_of(const moments *m)
{
    double mean = mean_of(m);
    return sqrt((m->square / m->n - mean * mean) / (m->n - 1));
}

static void near(const char *what, const moments *m, double expected)
{
    double off = fabs(mean_of(m) - expected);
    if (!(off <= LIMIT * error_of(m) + 1e-12 * fabs(expected)))
        fail_msg("%s: %g, expected %g; standard error %g", what, mean_of(m), expected,
                 error_of(m));
}

// Steps, reward and rejected samples until the end, by method: 2 is rejection by an agent that
// does not tell its probabilities.
static void runs_end_as_the_recursion_has_it(void **unused)
{
    (void)unused;
    enum { NRUN = 20000 };
    static rh_replay_result r[NRUN];
    rh_task task = small_task(true);
    rh_agent_type silent = silent_type();
    rh_log_builder *builder = open_log(1);
    for (int a = 0; a < NACTION; a++)
        for (int i = 0; i < ref.left[a]; i++)
            push(builder, 0, a, a == 0, 0, false, true);
    rh_log *log = close_log(builder);
    table[0][0] = ref.chance;
    table[0][1] = 1.0 - ref.chance;
    for (int m = 0; m < 3; m++) {
        rh_replay_options opt = options(m ? RH_REPLAY_REJECTION : RH_REPLAY_QUEUE, NRUN, 1000);
        do_runs(log, m == 2 ? &silent : &telling, &task, &opt, r);
        moments steps = {0}, reward = {0}, rejected = {0}, bias = {0};
        for (int i = 0; i < NRUN; i++) {
            assert_true(r[i].exhausted);
            add(&steps, (double)r[i].nstep);
            add(&reward, r[i].total);
            add(&rejected, (double)r[i].nrejected);
            add(&bias, r[i].total - ref.chance * (double)r[i].nstep);
        }
        near("steps", &steps, ref.steps[m]);
        near("reward", &reward, ref.reward[m]);
        near("rejected", &rejected, ref.rejected[m]);

        // the rarer action is drawn as often as it should be among the steps that are made, by
        // rejection; by queues it is not, and the test can see it
        if (m)
            near("bias of rejection", &bias, 0.0);
        else
            assert_true(mean_of(&bias) < -10.0 * error_of(&bias));
    }
    rh_log_destroy(log);
}

// The mean reward of the first 12 steps of a fixed policy, over logs and runs. No queue can run
// out: it has 12 samples or more, and rejection has many more than it needs.
static void first_steps_are_unbiased(void **unused)
{
    (void)unused;
    enum { NLOG = 400, NRUN = 5, NSTEP = 12 };
    static const int few[] = {30, 12}, many[] = {300, 120};
    rh_agent_type silent = silent_type();
    rh_task task = small_task(true);
    memcpy(table, ref.pi, sizeof table);
    for (int m = 0; m < 3; m++) {
        moments total = {0};
        for (int l = 0; l < NLOG; l++) {
            rh_log *log = mdp_log(m ? many : few, (uint64_t)l);
            rh_replay_options opt =
                options(m ? RH_REPLAY_REJECTION : RH_REPLAY_QUEUE, NRUN, NSTEP);
            opt.seed = (uint64_t)l;
            rh_replay_result r[NRUN];
            do_runs(log, m == 2 ? &silent : &telling, &task, &opt, r);
            double sum = 0.0;
            for (int i = 0; i < NRUN; i++) {
                assert_false(r[i].exhausted);
                assert_int_equal(r[i].nstep, NSTEP);
                sum += r[i].total;
            }
            add(&total, sum / NRUN); // runs of one log are not independent
            rh_log_destroy(log);
        }
        near("reward of 12 steps", &total, ref.total);
    }
}

// ---------------------------------------------------------------------------- learners

// The reference's MDP as an environment.
static rh_status mdp_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)self, (void)opt, (void)err;
    *task = small_task(true);
    return RH_OK;
}

static void mdp_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    (void)self;
    rh_rng__bits(&streams->start);
    *(int *)state = 0;
    obs[0] = 0.0;
}

static bool mdp_step(const void *self, void *state, const double *act, rh_streams *streams,
                     double *obs, double *reward)
{
    (void)self;
    int *s = state, a = (int)act[0];
    int t = draw_next(ref.P[*s][a], &streams->noise);
    *reward = ref.R[*s][a][t];
    obs[0] = *s = t;
    return false;
}

static const rh_env_type mdp = {
    .name = "mdp",
    .about = "the reference's",
    .self_size = 1,
    .state_size = sizeof(int),
    .init = mdp_init,
    .start = mdp_start,
    .step = mdp_step,
};

static void do_true_runs(rh_env *env, const rh_agent_type *agent, const double *hp,
                         const rh_eval_options *opt, rh_result *result)
{
    const rh_task *task = rh_env_task(env);
    assert_int_equal(rh_eval_runs(&env, 1, agent, task, 1, hp, opt, result, NULL, NULL), RH_OK);
}

// A learner meets in a log what it would meet in the task: the mean reward of its first 100
// steps is the same, with and without its probabilities.
static void learners_learn_as_in_the_task(void **unused)
{
    (void)unused;
    enum { NLOG = 300, NRUN = 4, NSTEP = 100, NTRUE = 4000 };
    static const int enough[] = {700, 700};
    rh_agent_type agent = *rh_agent_find("esarsa", NULL);
    rh_agent_type silent = agent;
    silent.policy = NULL;
    silent.take = NULL;
    double hp[64];
    rh_param_initial(agent.param, agent.nparam, hp);
    hp[rh_param_find(agent.param, agent.nparam, "alpha")] = 0.5;
    hp[rh_param_find(agent.param, agent.nparam, "tilings")] = 2;

    rh_env *env = NULL;
    assert_int_equal(rh_env_create(&env, &mdp, NULL, NULL), RH_OK);
    static rh_result truth[NTRUE];
    rh_eval_options eval = rh_eval_defaults(rh_env_task(env));
    eval.nstep = NSTEP;
    eval.nrun = NTRUE;
    do_true_runs(env, &agent, hp, &eval, truth);
    moments expected = {0}, total[3] = {{0}};
    for (int i = 0; i < NTRUE; i++)
        add(&expected, truth[i].total);

    rh_task task = *rh_env_task(env);
    task.nstep = NSTEP;
    for (int l = 0; l < NLOG; l++) {
        rh_log *log = mdp_log(enough, 1000 + (uint64_t)l);
        for (int m = 0; m < 3; m++) {
            rh_replay_options opt =
                options(m ? RH_REPLAY_REJECTION : RH_REPLAY_QUEUE, NRUN, NSTEP);
            opt.seed = 77 + (uint64_t)l;
            rh_replay_result r[NRUN];
            assert_int_equal(
                rh_replay_runs(log, m == 2 ? &silent : &agent, &task, 1, hp, &opt, r, NULL),
                RH_OK);
            double sum = 0.0;
            for (int i = 0; i < NRUN; i++) {
                assert_false(r[i].exhausted);
                sum += r[i].total;
            }
            add(&total[m], sum / NRUN);
        }
        rh_log_destroy(log);
    }
    for (int m = 0; m < 3; m++) {
        double off = mean_of(&total[m]) - mean_of(&expected);
        double error = hypot(error_of(&total[m]), error_of(&expected));
        if (!(fabs(off) < LIMIT * error))
            fail_msg("method %d: off by %g, standard error %g", m, off, error);
    }
    // learning matters: agents that do not learn earn less
    eval.frozen = true;
    moments untaught = {0};
    do_true_runs(env, &agent, hp, &eval, truth);
    for (int i = 0; i < NTRUE; i++)
        add(&untaught, truth[i].total);
    assert_true(mean_of(&expected) >
                mean_of(&untaught) +
                    2 * LIMIT * hypot(error_of(&untaught), error_of(&expected)));
    rh_env_destroy(env);
}

// ---------------------------------------------------------------------------- settings,
// threads

enum { NSETTING = 3, MANY = 6 };

static void small_settings(const rh_agent_type *agent, double *hp)
{
    for (int s = 0; s < NSETTING; s++) {
        double *row = hp + (size_t)s * (size_t)agent->nparam;
        rh_param_initial(agent->param, agent->nparam, row);
        row[rh_param_find(agent->param, agent->nparam, "alpha")] = 0.01 * (1 + 20 * s);
        row[rh_param_find(agent->param, agent->nparam, "tilings")] = 2;
    }
}

static void results_depend_on_setting_and_run_only(void **unused)
{
    (void)unused;
    static const int n[] = {40, 25};
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_task task = small_task(true);
    rh_log *log = mdp_log(n, 3);
    double hp[NSETTING * 64];
    small_settings(agent, hp);
    for (int m = 0; m < 2; m++) {
        rh_replay_options opt = options((rh_replay_method)m, MANY, INT64_MAX);
        rh_replay_result all[NSETTING * MANY], other[NSETTING * MANY];
        memset(all, 0, sizeof all); // padding, too
        memset(other, 0, sizeof other);
        assert_int_equal(rh_replay_runs(log, agent, &task, NSETTING, hp, &opt, all, NULL),
                         RH_OK);
        for (int nthread = 2; nthread <= 32; nthread *= 4) {
            opt.nthread = nthread;
            assert_int_equal(rh_replay_runs(log, agent, &task, NSETTING, hp, &opt, other, NULL),
                             RH_OK);
            assert_memory_equal(all, other, sizeof all);
        }
        // one setting alone, its last runs
        opt.first_run = 2;
        opt.nrun = MANY - 2;
        assert_int_equal(
            rh_replay_runs(log, agent, &task, 1, hp + agent->nparam, &opt, other, NULL), RH_OK);
        assert_memory_equal(all + MANY + 2, other, (MANY - 2) * sizeof *all);
        bool differ = false;
        for (int i = 1; i < MANY; i++)
            differ = differ || all[i].total != all[0].total;
        assert_true(differ);
        assert_true(all[0].total != all[MANY].total || all[1].total != all[MANY + 1].total);
    }
    rh_log_destroy(log);
}

// A frozen agent with a state does not depend on its step size; one that learns does.
static void states_and_frozen_agents(void **unused)
{
    (void)unused;
    static const int n[] = {40, 25};
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_task task = small_task(true);
    rh_log *log = mdp_log(n, 3);
    double hp[NSETTING * 64], obs = 0.0, act;
    small_settings(agent, hp);
    rh_agent *trained = NULL;
    rh_state *state = NULL;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    assert_int_equal(rh_agent_create(&trained, agent, &task, hp + agent->nparam, NULL), RH_OK);
    rh_agent_start(trained, &obs, &rng, &act);
    for (int i = 0; i < 200; i++) {
        obs = i % 3;
        rh_agent_step(trained, act != 0.0 ? 1.0 : -1.0, &obs, &rng, &act);
    }
    rh_agent_end(trained, 0.0);
    assert_int_equal(rh_agent_save(trained, &state, NULL), RH_OK);

    rh_replay_options opt = options(RH_REPLAY_QUEUE, MANY, INT64_MAX);
    rh_replay_result plain[NSETTING * MANY], r[NSETTING * MANY];
    assert_int_equal(rh_replay_runs(log, agent, &task, NSETTING, hp, &opt, plain, NULL), RH_OK);
    opt.state = state;
    opt.frozen = true;
    assert_int_equal(rh_replay_runs(log, agent, &task, NSETTING, hp, &opt, r, NULL), RH_OK);
    int nother = 0;
    for (int i = 0; i < MANY; i++) {
        assert_true(r[i].total == r[MANY + i].total);
        assert_int_equal(r[i].nstep, r[2 * MANY + i].nstep);
        nother += r[i].total != plain[i].total;
    }
    assert_true(nother > 0);
    rh_state_destroy(state);
    rh_agent_destroy(trained);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- failures

static bool breaking_step(void *self, double reward, const double *obs, rh_rng *rng,
                          double *act)
{
    return fixed_step(self, reward, obs, rng, act) && reward < 0.0;
}

static void a_broken_agent_is_an_outcome(void **unused)
{
    (void)unused;
    static const int n[] = {40, 40};
    rh_task task = small_task(true);
    rh_agent_type agent = telling;
    agent.step = breaking_step;
    memcpy(table, ref.pi, sizeof table);
    rh_log *log = mdp_log(n, 3);
    rh_replay_result r[8];
    rh_replay_options opt = options(RH_REPLAY_QUEUE, 8, INT64_MAX);
    do_runs(log, &agent, &task, &opt, r);
    for (int i = 0; i < 8; i++) {
        assert_true(r[i].broken);
        assert_false(r[i].exhausted);
        assert_true(r[i].score == -INFINITY);
    }
    rh_log_destroy(log);
}

static void refused(const rh_log *log, const rh_task *task, int nsetting, const double *hp,
                    const rh_replay_options *opt, const char *message)
{
    rh_error err = {""};
    rh_replay_result r[64];
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    assert_int_equal(rh_replay_runs(log, agent, task, nsetting, hp, opt, r, &err), RH_EINVAL);
    assert_string_equal(err.text, message);
}

static void wrong_options_are_refused(void **unused)
{
    (void)unused;
    static const int n[] = {4, 4};
    rh_task task = small_task(true), other = task;
    rh_log *log = mdp_log(n, 3);
    rh_replay_options opt = options(RH_REPLAY_QUEUE, 1, 10), good = opt;
    opt.cookie = 0;
    refused(log, &task, 1, NULL, &opt, "replay: options must start from rh_replay_defaults()");
    opt = good;
    opt.nstep = 0;
    refused(log, &task, 1, NULL, &opt, "replay: steps = 0, expected 1 or more");
    opt = good;
    opt.nrun = 0;
    refused(log, &task, 1, NULL, &opt, "replay: runs = 0, expected 1 or more");
    opt = good;
    opt.nthread = 0;
    refused(log, &task, 1, NULL, &opt, "replay: threads = 0, expected 1 or more");
    opt = good;
    opt.bins = 257;
    refused(log, &task, 1, NULL, &opt, "replay: bins = 257, expected 1 to 256");
    opt = good;
    opt.method = (rh_replay_method)2;
    refused(log, &task, 1, NULL, &opt, "replay: method = 2, expected 0 or 1");
    opt = good;
    opt.nrun = 2;
    refused(log, &task, 2000000000, NULL, &opt,
            "replay: 2000000000 settings of 2 runs, expected 1 to 2147483647 in all");
    refused(log, &task, 2, NULL, &good,
            "replay: no hyperparameters, expected those of 2 settings");
    other.naction = 3;
    refused(log, &other, 1, NULL, &good,
            "replay: a log of 1 sensors and 2 actions, expected 1 and 3 as in the task");
    other.naction = 0;
    refused(log, &other, 1, NULL, &good, "replay: continuous actions, expected discrete ones");
    double hp[64];
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_param_initial(agent->param, agent->nparam, hp);
    hp[0] = -1.0;
    rh_error err = {""};
    rh_replay_result r[1];
    assert_int_equal(rh_replay_runs(log, agent, &task, 1, hp, &good, r, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "alpha = -1"));
    rh_log_destroy(log);
}

static void names(void **unused)
{
    (void)unused;
    int n;
    const char *const *name = rh_replay_method_names(&n);
    assert_int_equal(n, 2);
    assert_string_equal(name[RH_REPLAY_QUEUE], "queue");
    assert_string_equal(name[RH_REPLAY_REJECTION], "rejection");
}

static void survives_failed_allocations(void **unused)
{
    (void)unused;
    static const int n[] = {6, 6};
    rh_task task = small_task(true);
    rh_log *log = mdp_log(n, 3);
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_replay_options opt = options(RH_REPLAY_REJECTION, 4, INT64_MAX);
    opt.nthread = 2;
    rh_replay_result r[4];
    int64_t before = rh_base__alloc_live();
    int nth = 0;
    rh_status rc;
    rh_error err;
    do {
        rh_base__alloc_fail_at(++nth);
        rc = rh_replay_runs(log, agent, &task, 1, NULL, &opt, r, &err);
    } while (allocation_failed(rc, &err, before));
    assert_true(nth > 15);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deterministic_task_is_exact),
        cmocka_unit_test(rare_actions_may_be_missing),
        cmocka_unit_test(runs_end_as_the_recursion_has_it),
        cmocka_unit_test(first_steps_are_unbiased),
        cmocka_unit_test(learners_learn_as_in_the_task),
        cmocka_unit_test(results_depend_on_setting_and_run_only),
        cmocka_unit_test(states_and_frozen_agents),
        cmocka_unit_test(a_broken_agent_is_an_outcome),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(names),
        cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, read_reference, NULL);
}
