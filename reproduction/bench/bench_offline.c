// bench_offline.c - learning from a log of 5,000 steps of Acrobot by random actions: fitted Q
// iteration with the paper's settings and a clone, by instruction set. Processor time on one
// thread.

#include "base/base_internal.h"
#include "numeric/kernels.h"
#include "seconds.h"

#include "offline/offline.h"
#include "rehearse/rehearse.h"

#include <stdio.h>
#include <stdlib.h>

static void must(rh_status rc, const rh_error *err)
{
    if (rc) {
        fprintf(stderr, "bench_offline: %s\n", err->text);
        exit(1);
    }
}

static rh_log *acrobot_log(rh_env **env)
{
    rh_error err;
    rh_log *log = NULL;
    rh_collected how;
    rh_collect_options opt = rh_collect_defaults();
    opt.nstep = 5000;
    opt.cutoff = 500;
    opt.least = 0;
    must(rh_env_create(env, rh_env_find("acrobot", &err), NULL, &err), &err);
    must(rh_log_collect(&log, NULL, &how, *env, *env, rh_agent_find("random", &err), NULL, &opt,
                        &err),
         &err);
    return log;
}

static void bench_fqi(const rh_log *log, const rh_task *task, rh_fqi_kind kind,
                      const char *what)
{
    rh_error err;
    rh_fqi *fqi = NULL;
    rh_fqi_options opt = rh_fqi_defaults(kind);
    opt.patience = 0;
    double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
    must(rh_fqi_learn(&fqi, log, task, &opt, &err), &err);
    double took = seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    printf("  %-22s %6lld updates %7.2f s %8.1f us each\n", what, (long long)opt.nupdate, took,
           1e6 * took / (double)opt.nupdate);
    rh_fqi_destroy(fqi);
}

static void bench_clone(const rh_log *log, const rh_task *task)
{
    rh_error err;
    rh_clone *clone = NULL;
    double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
    must(rh_clone_learn(&clone, log, task, NULL, NULL, &err), &err);
    printf("  %-38s %5.2f s\n", "clone", seconds(CLOCK_PROCESS_CPUTIME_ID) - begin);
    rh_clone_destroy(clone);
}

int main(void)
{
    rh_env *env = NULL;
    rh_log *log = acrobot_log(&env);
    const rh_task *task = rh_env_task(env);
    for (int isa = 1; isa <= rh_isa__count(); isa++) {
        rh_isa__limit(isa);
        printf("instruction set %d\n", isa - 1);
        bench_fqi(log, task, RH_FQI_TILES, "tiles 16 x 2");
        bench_fqi(log, task, RH_FQI_NETWORK, "network 64, 64");
        bench_clone(log, task);
    }
    rh_log_destroy(log);
    rh_env_destroy(env);
    return 0;
}
