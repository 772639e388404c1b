// bench_neural.c - processor time of runs of the agents with networks, on one thread.
//
// The first row is a task of RLtools (C++, 9acdf5c8, -Ofast -march=native -DBENCHMARK, OpenBLAS
// with one thread): 5.29 s of processor time where ours took 2.75 s, the least of three runs by
// turns on a busy machine (-DRL_TOOLS_BACKEND_ENABLE_OPENBLAS, its
// pendulum/sac/cpu/training.cpp): SAC on the pendulum, 10,000 steps, two hidden layers of 64,
// batches of 100, an update per step. Layer norm and scales are off there, as in RLtools; the
// second row has them. The least of three repeats counts.

#include "seconds.h"

#include "numeric/kernels.h"
#include "rehearse/rehearse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEAT = 3, NSET = 5 };

typedef struct row {
    const char *about, *agent, *env;
    int64_t nstep;
    struct {
        const char *name;
        double value;
    } set[NSET];
} row;

static const row rows[] = {
    {"sac, batch 100, plain",
     "sac",
     "pendulum",
     10000,
     {{"batch", 100}, {"norm", 0}, {"obs_scale", 2}, {"reward_scale", 2}}},
    {"sac, batch 100", "sac", "pendulum", 10000, {{"batch", 100}}},
    {"sac", "sac", "pendulum", 10000, {{"batch", 64}}},
    {"td3", "td3", "pendulum", 10000, {{"batch", 64}}},
    {"dqn", "dqn", "cartpole", 10000, {{"batch", 64}}},
    {"ppo", "ppo", "pendulum", 10000, {{"batch", 64}}},
};

static void must(bool right)
{
    if (!right) {
        fprintf(stderr, "bench_neural: a run failed\n");
        exit(1);
    }
}

// Seconds of one run, and its score.
static double run(const row *r, double *score)
{
    rh_env *env = NULL;
    const rh_agent_type *type = rh_agent_find(r->agent, NULL);
    double hp[RH_MAX_PARAM];
    must(type && !rh_env_create(&env, rh_env_find(r->env, NULL), NULL, NULL));
    rh_param_initial(type->param, type->nparam, hp);
    for (int i = 0; i < NSET && r->set[i].name; i++)
        hp[rh_param_find(type->param, type->nparam, r->set[i].name)] = r->set[i].value;
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = r->nstep;
    opt.nrun = 1;
    opt.nthread = 1;
    rh_result result;
    double before = seconds(CLOCK_THREAD_CPUTIME_ID);
    must(!rh_eval_runs(&env, 1, type, rh_env_task(env), 1, hp, &opt, &result, NULL, NULL));
    double taken = seconds(CLOCK_THREAD_CPUTIME_ID) - before;
    must(result.outcome == RH_FINISHED);
    *score = result.score;
    rh_env_destroy(env);
    return taken;
}

int main(void)
{
    static const char *const isa[] = {"baseline", "AVX2", "AVX-512"};
    printf("%-24s %-9s %8s %10s %10s\n", "agent", "set", "seconds", "us a step", "score");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = rh_isa__count(); k >= 1; k--) {
            double least = INFINITY, score = 0.0;
            rh_isa__limit(k);
            for (int n = 0; n < REPEAT; n++)
                least = fmin(least, run(&rows[i], &score));
            printf("%-24s %-9s %8.2f %10.1f %10.0f\n", rows[i].about, isa[k - 1], least,
                   1e6 * least / (double)rows[i].nstep, score);
        }
    return 0;
}
