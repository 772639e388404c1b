// replay_steps.c - how many steps the replay evaluators make before a log runs out.
//
// Every setting of the paper's grid for esarsa does 10 runs on the log, by both methods, and
// for each number of bins. A row: bins of a sensor, bins with samples, samples per bin and
// action; method; lowest, median and highest number of steps of a run, over settings and runs;
// completed episodes a run (mean); share of the settings with a score in at least one run.
//
//     rehearse collect acrobot -p near-optimal -o a.csv
//     replay_steps acrobot a.csv [bins ...]     without bins: the rule of the library

#include "offline/replay_eval.h"
#include "rehearse/agent.h"
#include "rehearse/env.h"
#include "rehearse/search.h"
#include "search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128, NRUN = 10 };

// The settings of the environment's grid "paper".
static int settings_of(const rh_env_type *env, const rh_agent_type *agent, double *hp)
{
    rh_space space = {0};
    int param[RH_MAX_DIM];
    for (int i = 0; i < env->ngrid; i++) {
        const rh_axis *a = &env->grid[i];
        if (strcmp(a->grid, "paper") != 0 || strcmp(a->agent, agent->name) != 0)
            continue;
        param[space.ndim] = rh_param_find(agent->param, agent->nparam, a->param);
        space.dim[space.ndim++] = (rh_dim){
            .name = a->param, .kind = RH_DIM_LIST, .value = a->value, .nvalue = a->nvalue};
    }
    int n = (int)rh_space__count(&space);
    for (int i = 0; i < n && n <= MOST; i++) {
        double x[RH_MAX_DIM], *own = hp + (ptrdiff_t)i * agent->nparam;
        rh_param_initial(agent->param, agent->nparam, own);
        rh_space__at(&space, i, x);
        for (int k = 0; k < space.ndim; k++)
            own[param[k]] = x[k];
    }
    return n <= MOST ? n : 0;
}

static int ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static rh_status print_rows(const rh_log *log, const rh_env_type *type, const rh_task *task,
                            int bins, rh_error *err)
{
    static double hp[MOST * RH_MAX_PARAM];
    static rh_replay_result result[MOST * NRUN];
    static int64_t steps[MOST * NRUN];
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    int nsetting = settings_of(type, agent, hp), nmethod, n = nsetting * NRUN;
    const char *const *name = rh_replay_method_names(&nmethod);
    rh_replay_grid grid;
    rh_status rc = rh_replay_describe(log, task, bins, &grid, err);
    for (int m = 0; !rc && m < nmethod; m++) {
        rh_replay_options opt = rh_replay_defaults();
        opt.method = (rh_replay_method)m;
        opt.bins = bins;
        opt.nrun = NRUN;
        rc = rh_replay_runs(log, agent, task, nsetting, hp, &opt, result, err);
        if (rc)
            break;
        double episodes = 0.0;
        int nscored = 0;
        for (int s = 0; s < nsetting; s++) {
            bool scored = false;
            for (int i = s * NRUN; i < (s + 1) * NRUN; i++) {
                steps[i] = result[i].nstep;
                episodes += (double)result[i].nepisode / n;
                scored = scored || isfinite(result[i].score);
            }
            nscored += scored;
        }
        qsort(steps, (size_t)n, sizeof *steps, ascending);
        printf("%-13s %4d %6lld %6.1f  %-9s  %6lld %6lld %6lld  %7.2f  %4.0f %%\n", type->name,
               grid.bins, (long long)grid.nbin, grid.per_action, name[m], (long long)steps[0],
               (long long)steps[n / 2], (long long)steps[n - 1], episodes,
               100.0 * nscored / nsetting);
    }
    return rc;
}

int main(int argc, char **argv)
{
    rh_error err = {""};
    rh_log *log = NULL;
    rh_env *env = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: replay_steps ENV LOG [BINS ...]\n");
        return 2;
    }
    const rh_env_type *type = rh_env_find(argv[1], &err);
    rh_status rc = type ? rh_env_create(&env, type, NULL, &err) : RH_EINVAL;
    if (!rc)
        rc = rh_log_read(&log, argv[2], NULL, &err);
    if (!rc)
        printf("environment   bins   used   each  method       least median   most episodes  "
               "scored\n");
    for (int i = 3; !rc && i <= argc; i++)
        if (i < argc || argc == 3)
            rc = print_rows(log, type, rh_env_task(env),
                            argc == 3 ? RH_REPLAY_AUTO : atoi(argv[i]), &err);
    if (rc)
        fprintf(stderr, "replay_steps: %s\n", err.text);
    rh_log_destroy(log);
    rh_env_destroy(env);
    return rc != RH_OK;
}
