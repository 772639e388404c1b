// bench_race.c - race compared with grid: how often they agree, and the cost of the race.
//
// Every setting of a published grid runs in its simulator. Then both searches run many times on
// these scores, each time on other runs: drawn with replacement, the same for all settings, so
// that pairs stay pairs.
//
// "grid's" is the share of races with grid's choice on the same runs; "tied" adds those in
// which both choices are statistically tied (paired Student test at 95 %, on grid's runs).
// "true" is the share in which the choice of race, or grid, is the best setting over all runs.
// "regret" is the mean distance of the choice from that setting, relative to the distance from
// the best to the median setting. "runs" is the race's share of grid's runs; "least" and "most"
// are the extremes over all races.
//
// The first row has the defaults; `all` tries many combinations of parameters instead.
//
//     bench_race [runs of a setting] [races] [steps of a run, 0: the task's own] [all]

#include "base/base_internal.h"
#include "numeric/stats.h"
#include "rehearse/agent.h"
#include "rehearse/env.h"
#include "rehearse/eval.h"

#include "search/search.h"
#include "search/search_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 128

typedef struct table {
    rh_space space;
    int nsetting, nfinished;
    double *score; // (nsetting x nlived)
    double mean[SETTINGS];
    int best;      // by all runs
    double median; // of the settings' means
} table;

// The axes of a grid as a space, and each of its settings as hyperparameters hp.
static int settings_of(const rh_env_type *env, const rh_agent_type *agent, rh_space *space,
                       double *hp)
{
    int param[RH_MAX_DIM];
    for (int i = 0; i < env->ngrid; i++) {
        const rh_axis *a = &env->grid[i];
        if (strcmp(a->grid, "paper") != 0 || strcmp(a->agent, agent->name) != 0)
            continue;
        param[space->ndim] = rh_param_find(agent->param, agent->nparam, a->param);
        space->dim[space->ndim++] = (rh_dim){
            .name = a->param, .kind = RH_DIM_LIST, .value = a->value, .nvalue = a->nvalue};
    }
    int n = (int)rh_space__count(space);
    for (int i = 0; i < n && n <= SETTINGS; i++) {
        double x[RH_MAX_DIM], *own = hp + (ptrdiff_t)i * agent->nparam;
        rh_param_initial(agent->param, agent->nparam, own);
        rh_space__at(space, i, x);
        for (int k = 0; k < space->ndim; k++)
            own[param[k]] = x[k];
    }
    return n <= SETTINGS ? n : 0;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool run_all(table *t, const char *name, int nfinished, int64_t nstep)
{
    static double hp[SETTINGS * 64];
    rh_error err = {"out of memory"};
    rh_env *env = NULL;
    const rh_env_type *type = rh_env_find(name, &err);
    const rh_agent_type *agent = rh_agent_find("esarsa", &err);
    *t = (table){.nfinished = nfinished};
    t->nsetting = settings_of(type, agent, &t->space, hp);
    size_t n = (size_t)t->nsetting * (size_t)nfinished;
    rh_result *result = rh_alloc(n, sizeof *result);
    t->score = rh_alloc(n, sizeof *t->score);
    bool good = result && t->score && rh_env_create(&env, type, NULL, &err) == RH_OK;
    if (good) {
        rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
        opt.nrun = nfinished;
        opt.nstep = nstep ? nstep : opt.nstep;
        opt.nthread = 2;
        good = rh_eval_runs(&env, 1, agent, rh_env_task(env), t->nsetting, hp, &opt, result,
                            NULL, &err) == RH_OK;
        printf("%s: %d settings, %d runs of %lld steps\n", name, t->nsetting, nfinished,
               (long long)opt.nstep);
    }
    if (!good)
        fprintf(stderr, "%s\n", err.text);

    // means over all runs
    double sorted[SETTINGS] = {0.0};
    for (int i = 0; good && i < t->nsetting; i++) {
        for (int r = 0; r < nfinished; r++) {
            t->score[i * nfinished + r] = result[i * nfinished + r].score;
            t->mean[i] += result[i * nfinished + r].score / nfinished;
        }
        sorted[i] = t->mean[i];
        t->best = t->mean[i] > t->mean[t->best] ? i : t->best;
    }
    qsort(sorted, (size_t)t->nsetting, sizeof *sorted, ascending);
    t->median = rh_stats__quantile_sorted(sorted, t->nsetting, 0.5);
    rh_env_destroy(env);
    rh_free(result);
    return good;
}

// One search on drawn runs. Returns its choice and its number of runs.
static int search_once(const table *t, const rh_search_type *type, const double *param,
                       int nrun, const int *drawn, int64_t *taken)
{
    rh_search *search = NULL;
    rh_search__options opt = rh_search__defaults();
    const rh_search__asked *asked;
    int n;
    double score[1000];
    opt.nrun = nrun;
    opt.param = param;
    if (rh_search__create(&search, type, &t->space, &opt, NULL) != RH_OK)
        return -1;
    *taken = 0;
    int had[SETTINGS] = {0};
    while (rh_search__ask(search, &asked, &n, NULL) == RH_OK && n)
        for (int i = 0; i < n; i++) {
            rh_search__told told = {.setting = asked[i].setting,
                                    .nrun = asked[i].nrun,
                                    .score = score,
                                    .noise = NAN};
            for (int r = 0; r < told.nrun; r++) {
                score[r] = t->score[told.setting * t->nfinished + drawn[r]];
                told.value += score[r] / told.nrun;
            }
            *taken += told.nrun - had[told.setting];
            had[told.setting] = told.nrun;
            rh_search__tell(search, &told, NULL);
        }
    rh_search__lead_entry leader = {.setting = -1};
    rh_search__lead(search, 1, &leader);
    rh_search__destroy(search);
    return leader.setting;
}

// Whether b is statistically tied with the better a.
static bool tied(const table *t, int a, int b, int nrun, const int *drawn)
{
    double d[1000], work[1000];
    for (int r = 0; r < nrun; r++)
        d[r] = t->score[a * t->nfinished + drawn[r]] - t->score[b * t->nfinished + drawn[r]];
    rh_summary s = rh_summarise(d, nrun, work);
    return !(s.lo95 > 0.0);
}

static void compare(const table *t, int nrun, const double *param, int nrace)
{
    rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 9, 9);
    int alike = 0, near = 0, right[2] = {0};
    double share = 0.0, least = 1.0, most = 0.0, regret[2] = {0};
    for (int p = 0; p < nrace; p++) {
        int drawn[1000], chosen[2];
        int64_t taken[2];
        for (int r = 0; r < nrun; r++)
            drawn[r] = (int)rh_rng_below(&rng, (uint32_t)t->nfinished);
        chosen[0] = search_once(t, &rh_search_race, param, nrun, drawn, &taken[0]);
        chosen[1] = search_once(t, &rh_search_grid, NULL, nrun, drawn, &taken[1]);
        alike += chosen[0] == chosen[1];
        near += chosen[0] == chosen[1] || tied(t, chosen[1], chosen[0], nrun, drawn);
        for (int k = 0; k < 2; k++) {
            right[k] += chosen[k] == t->best;
            regret[k] += (t->mean[t->best] - t->mean[chosen[k]]) /
                         (t->mean[t->best] - t->median) / nrace;
        }
        double part = (double)taken[0] / (double)taken[1];
        share += part / nrace;
        least = part < least ? part : least;
        most = part > most ? part : most;
    }
    printf("%4d %5.0f %6.1f %6.2f  %6.1f %% %5.1f %% %4.0f %% %3.0f %%  %6.4f %6.4f  %3.0f %% "
           "%3.0f %% %3.0f %%\n",
           nrun, param[0], param[1], param[2], 100.0 * alike / nrace, 100.0 * near / nrace,
           100.0 * right[0] / nrace, 100.0 * right[1] / nrace, regret[0], regret[1],
           100.0 * share, 100.0 * least, 100.0 * most);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int nfinished = argc > 1 ? atoi(argv[1]) : 30;
    int nrace = argc > 2 ? atoi(argv[2]) : 1000;
    int64_t nstep = argc > 3 ? atoll(argv[3]) : 0;
    static const char *const name[] = {"puddle_world", "acrobot"};
    static const double few[][3] = {
        {5, 1.5, 0.95}, {5, 1.5, 0.8}, {5, 1.5, 0.99}, {3, 1.5, 0.95}, {5, 2.0, 0.95}};
    static const double confidence[] = {0.5, 0.8, 0.9, 0.95, 0.99};
    double param[30][3];
    int nparam = argc > 4 ? 30 : 5;
    if (nfinished < 1 || nrace < 1) {
        fprintf(stderr, "bench_race [runs of a setting] [races] [steps of a run] [all]\n");
        return 2;
    }
    memcpy(param, few, sizeof few);
    for (int i = 0; i < nparam && argc > 4; i++) {
        param[i][0] = 3 + i / 10;
        param[i][1] = i / 5 % 2 ? 2.0 : 1.5;
        param[i][2] = confidence[i % 5];
    }
    for (int e = 0; e < 2; e++) {
        table t;
        if (!run_all(&t, name[e], nfinished, nstep))
            return 1;
        printf("runs first growth confid   grid's    tied   true  grid  regret   grid   runs "
               "least  most\n");
        for (int nrun = 10; nrun <= 30; nrun += 20)
            for (int i = 0; i < nparam; i++)
                compare(&t, nrun, param[i], nrace);
        rh_free(t.score);
    }
    return 0;
}
