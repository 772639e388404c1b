// bench_step.c - learning steps per second of esarsa and of the plain reference.
//
// Each row runs the first steps of a run in the simulator, once with the library's agent and
// once with tests/reference/esarsa_plain.c, on one core. "Agent" excludes the simulator: it
// replays a recorded run, observation by observation, to both. The two alternate, and the
// median of the repeats counts, so a busy moment of the machine affects neither.

#include "seconds.h"

#include "esarsa_plain.h"

#include "rehearse/rehearse.h"

#include <stdio.h>
#include <stdlib.h>

#define REPEAT 5

typedef struct task {
    const char *name, *env;
    const char *option; // NULL, or an option to set to `value`
    double value;
    double hp[5]; // alpha, beta1, tau, w_init, lambda
    int64_t nstep, nplain;
} task;

static const task tasks[] = {
    {"puddle_world, lambda 0.1", "puddle_world", NULL, 0, {0.1, 0, 1, 0, 0.1}, 300000, 60000},
    {"puddle_world, momentum", "puddle_world", NULL, 0, {0.1, 0.9, 1, 0, 0.1}, 300000, 60000},
    {"cartpole, lambda 0.023", "cartpole", NULL, 0, {0.03, 0, 0.1, 6, 0.023}, 200000, 40000},
    {"cartpole, momentum", "cartpole", NULL, 0, {0.03, 0.9, 1, 0, 0.023}, 200000, 40000},
    {"acrobot, lambda 0.8", "acrobot", NULL, 0, {0.03, 0, 1, 0, 0.8}, 60000, 6000},
    {"acrobot, momentum", "acrobot", NULL, 0, {0.03, 0.9, 1, 0, 0.8}, 60000, 6000},
    {"acrobot, 2 torques", "acrobot", "torques", 2, {0.03, 0, 1, 0, 0.8}, 60000, 6000},
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

// One of the two agents, behind one face.
typedef struct learner {
    rh_agent *agent;
    plain *plain;
    rh_rng rng;
    double act[1];
} learner;

static void begin(learner *l, const double *obs)
{
    if (l->agent)
        rh_agent_start(l->agent, obs, &l->rng, l->act);
    else
        l->act[0] = plain_start(l->plain, obs, &l->rng);
}

static void step(learner *l, double reward, const double *obs)
{
    if (l->agent)
        rh_agent_step(l->agent, reward, obs, &l->rng, l->act);
    else
        l->act[0] = plain_step(l->plain, reward, obs, &l->rng);
}

static void end(learner *l, double reward)
{
    if (l->agent)
        rh_agent_end(l->agent, reward);
    else
        plain_end(l->plain, reward);
}

// A recorded run: what the agent saw.
typedef struct record {
    double *obs; // (nstep x nobs): after each step, or the next start where it was the last
    double *reward;
    bool *terminal;
    double *start; // (nobs)
} record;

static double live(const rh_env *env, learner *l, int64_t nstep, record *r)
{
    int nobs = rh_env_task(env)->nobs;
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    double obs[RH_MAX_OBS], reward;
    double from = seconds(CLOCK_THREAD_CPUTIME_ID);
    rh_env_start(env, state, &streams, obs);
    for (int i = 0; r && i < nobs; i++)
        r->start[i] = obs[i];
    begin(l, obs);
    for (int64_t t = 0; t < nstep; t++) {
        bool terminal = rh_env_step(env, state, l->act, &streams, obs, &reward);
        if (terminal) {
            end(l, reward);
            rh_env_start(env, state, &streams, obs);
            begin(l, obs);
        } else {
            step(l, reward, obs);
        }
        if (r) {
            for (int i = 0; i < nobs; i++)
                r->obs[t * nobs + i] = obs[i];
            r->reward[t] = reward;
            r->terminal[t] = terminal;
        }
    }
    double took = seconds(CLOCK_THREAD_CPUTIME_ID) - from;
    rh_free(state);
    return took;
}

static double replay(const record *r, int nobs, learner *l, int64_t nstep)
{
    double from = seconds(CLOCK_THREAD_CPUTIME_ID);
    begin(l, r->start);
    for (int64_t t = 0; t < nstep; t++) {
        const double *obs = r->obs + t * nobs;
        if (r->terminal[t]) {
            end(l, r->reward[t]);
            begin(l, obs);
        } else {
            step(l, r->reward[t], obs);
        }
    }
    return seconds(CLOCK_THREAD_CPUTIME_ID) - from;
}

static learner fresh(const rh_env *env, const task *s, bool fast)
{
    learner l = {.rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0)};
    const rh_agent_type *type = rh_agent_find("esarsa", NULL);
    double hp[32];
    rh_param_initial(type->param, type->nparam, hp);
    for (int i = 0; i < 5; i++)
        hp[i] = s->hp[i];
    if (!fast)
        l.plain = plain_create(rh_env_task(env), s->hp, 16, 8);
    else if (rh_agent_create(&l.agent, type, rh_env_task(env), hp, NULL))
        exit(1);
    return l;
}

static void finish(learner *l)
{
    rh_agent_destroy(l->agent);
    if (l->plain)
        plain_destroy(l->plain);
}

static rh_env *make_env(const task *s)
{
    const rh_env_type *type = rh_env_find(s->env, NULL);
    double opt[64];
    rh_param_initial(type->param, type->nparam, opt);
    if (s->option)
        opt[rh_param_find(type->param, type->nparam, s->option)] = s->value;
    rh_env *env = NULL;
    if (rh_env_create(&env, type, opt, NULL))
        exit(1);
    return env;
}

static void run(const task *s)
{
    rh_env *env = make_env(s);
    int nobs = rh_env_task(env)->nobs;
    record r = {.obs = rh_alloc((size_t)(s->nstep * nobs), sizeof(double)),
                .reward = rh_alloc((size_t)s->nstep, sizeof(double)),
                .terminal = rh_alloc((size_t)s->nstep, sizeof(bool)),
                .start = rh_alloc((size_t)nobs, sizeof(double))};
    learner l = fresh(env, s, true);
    live(env, &l, s->nstep, &r);
    finish(&l);

    double time[4][REPEAT]; // fast run, plain run, fast replay, plain replay: per step
    for (int k = 0; k < REPEAT; k++)
        for (int which = 0; which < 4; which++) {
            bool fast = which % 2 == 0;
            int64_t n = fast ? s->nstep : s->nplain;
            l = fresh(env, s, fast);
            double took = which < 2 ? live(env, &l, n, NULL) : replay(&r, nobs, &l, n);
            time[which][k] = took / (double)n;
            finish(&l);
        }
    double fast = median(time[0], REPEAT), slow = median(time[1], REPEAT);
    double fast_agent = median(time[2], REPEAT), slow_agent = median(time[3], REPEAT);
    printf("%-26s %9.0f %9.0f %6.1fx   %9.0f %9.0f %6.1fx\n", s->name, 1 / fast, 1 / slow,
           slow / fast, 1 / fast_agent, 1 / slow_agent, slow_agent / fast_agent);
    fflush(stdout);
    rh_free(r.obs);
    rh_free(r.reward);
    rh_free(r.terminal);
    rh_free(r.start);
    rh_env_destroy(env);
}

int main(void)
{
    printf("esarsa, learning steps per second on one core\n\n");
    printf("%-26s %27s   %27s\n", "", "in the simulator", "states given");
    printf("%-26s %9s %9s %7s   %9s %9s %7s\n", "", "rehearse", "plain", "ratio", "rehearse",
           "plain", "ratio");
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        run(&tasks[i]);
    return 0;
}
