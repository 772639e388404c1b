// bench_runs.c - runs on one thread and on two.
//
// Twelve settings of esarsa with eight runs each, on one thread and on two in turn. The best of
// the repeats counts: other work on the machine can only make a repeat slower.

#include "seconds.h"

#include "rehearse/rehearse.h"

#include <stdio.h>
#include <stdlib.h>

#define REPEAT 4
#define NSETTING 12
#define NRUN 8

// Steps per second of all runs together.
static double speed(const char *name, int64_t nstep, int nthread)
{
    static const double alpha[] = {0.01, 0.03, 0.1}, tau[] = {0.3, 1.0, 3.0, 10.0};
    static rh_result result[NSETTING * NRUN];
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_env *env = NULL;
    if (rh_env_create(&env, rh_env_find(name, NULL), NULL, NULL))
        exit(1);
    double hp[NSETTING * 32];
    for (int s = 0; s < NSETTING; s++) {
        double *row = hp + s * agent->nparam;
        rh_param_initial(agent->param, agent->nparam, row);
        row[rh_param_find(agent->param, agent->nparam, "alpha")] = alpha[s % 3];
        row[rh_param_find(agent->param, agent->nparam, "tau")] = tau[s / 3];
    }
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = nstep;
    opt.nrun = NRUN;
    opt.nthread = nthread;
    double from = seconds(CLOCK_MONOTONIC);
    if (rh_eval_runs(&env, 1, agent, rh_env_task(env), NSETTING, hp, &opt, result, NULL, NULL))
        exit(1);
    double took = seconds(CLOCK_MONOTONIC) - from;
    rh_env_destroy(env);
    return (double)(NSETTING * NRUN * nstep) / took;
}

int main(void)
{
    static const struct {
        const char *env;
        int64_t nstep;
    } cases[] = {{"puddle_world", 10000}, {"cartpole", 20000}, {"acrobot", 8000}};

    printf("\nruns of esarsa, steps per second in all\n\n");
    printf("%-14s %10s %10s %7s\n", "", "1 thread", "2 threads", "ratio");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double best[2] = {0};
        for (int k = 0; k < 2 * REPEAT; k++) {
            double now = speed(cases[i].env, cases[i].nstep, 1 + k % 2);
            best[k % 2] = now > best[k % 2] ? now : best[k % 2];
        }
        printf("%-14s %10.0f %10.0f %6.2fx\n", cases[i].env, best[0], best[1],
               best[1] / best[0]);
        fflush(stdout);
    }
    return 0;
}
