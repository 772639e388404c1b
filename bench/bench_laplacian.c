// bench_laplacian.c - learning the Laplacian representation of an Acrobot log: 30,000 steps of
// training at batch 128 through 6-128-128-8, by instruction set; then codes, awareness, and a
// choice of representation on two threads.
//
// Operations are those of the matrix products, a multiplication and an addition being two.
// Trainings are measured in processor time.

#include "base/base_internal.h"
#include "seconds.h"

#include "numeric/mlp_kernel.h"
#include "rehearse/agent.h"
#include "rehearse/env.h"
#include "rehearse/repr.h"
#include "repr/repr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(rh_status rc, const rh_error *err)
{
    if (rc) {
        fprintf(stderr, "bench_laplacian: %s\n", err->text);
        exit(1);
    }
}

// 5,000 steps of uniform behaviour, cut off into episodes of 100.
static rh_log *acrobot(void)
{
    rh_error err = {""};
    rh_env *env = NULL;
    rh_log *log = NULL;
    rh_collected how;
    const rh_env_type *type = rh_env_find("acrobot", &err);
    const rh_agent_type *agent = rh_agent_find("random", &err);
    rh_collect_options opt = rh_collect_defaults();
    opt.nstep = 5000;
    opt.enough = RH_ENOUGH_STEPS;
    opt.span = 0;
    opt.cutoff = 100;
    must(rh_env_create(&env, type, NULL, &err), &err);
    must(rh_log_collect(&log, NULL, &how, env, env, agent, NULL, &opt, &err), &err);
    rh_env_destroy(env);
    if (!log) {
        fprintf(stderr, "bench_laplacian: no log was made\n");
        exit(1);
    }
    return log;
}

// Matrix products of a step: forward, and backward for weights and, but in the first layer,
// for inputs; three batches.
static double operations(const int *size, int nsize, int rows)
{
    double n = 0.0;
    for (int l = 0; l + 1 < nsize; l++)
        n += (l ? 3.0 : 2.0) * size[l] * size[l + 1];
    return 2.0 * 3.0 * rows * n;
}

static void train(const rh_log *log)
{
    const rh_repr_type *type = rh_repr_find("laplacian", NULL);
    double param[16];
    rh_repr_options opt = rh_repr_defaults();
    rh_param_initial(type->param, type->nparam, param);
    param[rh_param_find(type->param, type->nparam, "patience")] = 1e6; // to the end
    opt.param = param;
    printf(
        "\n30,000 steps of 3 x 128 rows, 6-128-128-8: s, us a step, 1e9 operations a second; "
        "awareness\n");
    for (int i = 0; i < rh_isa__count(); i++) {
        rh_error err = {""};
        rh_repr *repr = NULL;
        rh_isa__limit(i + 1);
        double from = seconds(CLOCK_THREAD_CPUTIME_ID);
        must(rh_repr_fit(&repr, type, log, &opt, &err), &err);
        double s = seconds(CLOCK_THREAD_CPUTIME_ID) - from;
        int64_t n = rh_repr__trained(repr).nstep;
        double each = operations((const int[]){6, 128, 128, 8}, 4, 128);
        printf("  %-10s %8.2f %8.1f %8.1f %8.4f\n", rh_mlp__kernels_at(i)->name, s,
               s / (double)n * 1e6, each * (double)n / s * 1e-9,
               rh_repr__trained(repr).awareness);
        fflush(stdout);
        rh_repr_destroy(repr);
    }
    rh_isa__limit(0);
}

static void use(const rh_log *log)
{
    rh_error err = {""};
    rh_repr *repr = NULL;
    rh_repr__aware aware;
    const rh_repr_type *type = rh_repr_find("random", NULL);
    must(rh_repr_fit(&repr, type, log, NULL, &err), &err);
    float *code = rh_alloc((size_t)log->nstate * (size_t)rh_repr__ncode(repr), sizeof *code);
    float *scratch = rh_alloc(rh_repr__nscratch(repr), sizeof *scratch);
    if (!code || !scratch)
        exit(1);
    double all = INFINITY, one = INFINITY, judged = INFINITY;
    for (int r = 0; r < 5; r++) {
        double from = seconds(CLOCK_THREAD_CPUTIME_ID);
        must(rh_repr__encode(repr, log->nstate, log->obs, NULL, code, &err), &err);
        all = fmin(all, seconds(CLOCK_THREAD_CPUTIME_ID) - from);
        from = seconds(CLOCK_THREAD_CPUTIME_ID);
        for (int64_t i = 0; i < log->nstate; i++)
            rh_repr__encode_one(repr, log->obs + i * log->nobs, NULL, scratch, code);
        one = fmin(one, seconds(CLOCK_THREAD_CPUTIME_ID) - from);
        from = seconds(CLOCK_THREAD_CPUTIME_ID);
        must(rh_repr__awareness(&aware, repr, log, NULL, 1, &err), &err);
        judged = fmin(judged, seconds(CLOCK_THREAD_CPUTIME_ID) - from);
    }
    printf("\na code: us in a block %.3f, alone %.3f; awareness of %lld steps: ms %.1f\n",
           all / (double)log->nstate * 1e6, one / (double)log->nstate * 1e6,
           (long long)aware.npair, judged * 1e3);
    rh_free(code);
    rh_free(scratch);
    rh_repr_destroy(repr);
}

static void choose(const rh_log *log)
{
    rh_error err = {""};
    rh_repr *repr = NULL;
    double from = seconds(CLOCK_MONOTONIC), busy = seconds(CLOCK_PROCESS_CPUTIME_ID);
    must(rh_repr__choose_kind(&repr, NULL, NULL, log, NULL, 2, &err), &err);
    printf("\nchosen from 5,000 steps, 2 threads: s %.1f, of the processor %.1f\n",
           seconds(CLOCK_MONOTONIC) - from, seconds(CLOCK_PROCESS_CPUTIME_ID) - busy);
    rh_repr_destroy(repr);
}

int main(void)
{
    rh_log *log = acrobot();
    train(log);
    use(log);
    choose(log);
    rh_log_destroy(log);
    return 0;
}
