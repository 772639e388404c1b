// learned.c - agents that learned before: in a model, or in a simulator.

#include "paper_internal.h"

#include "base/base_internal.h"

#include <string.h>

// The agent of the best run.
typedef struct best_run {
    rh_state *state; // owned
    double score;
    int run;
    bool bad;
} best_run;

// Runs end one at a time, in any order: the earlier of two equal runs counts.
static void keep_best(void *context, const rh_event *event)
{
    best_run *best = context;
    if (event->kind != RH_EVENT_RUN || event->result->outcome != RH_FINISHED)
        return;
    double score = event->result->score;
    if (best->state &&
        (score < best->score || (score == best->score && event->run > best->run)))
        return;
    rh_state *state = NULL;
    if (rh_agent_save(event->agent, &state, NULL) != RH_OK) {
        best->bad = true;
        return;
    }
    rh_state_destroy(best->state);
    best->state = state;
    best->score = score;
    best->run = event->run;
}

rh_status rh_paper__learn(rh_state **out, rh_env *env, const rh_eval_options *how,
                          const rh_agent_type *agent, const double *hp, rh_error *err)
{
    best_run best = {0};
    rh_eval_options opt = *how;
    rh_result *result = rh_alloc((size_t)how->nrun, sizeof *result);
    if (!result)
        return rh_base__no_memory(err, "paper");
    opt.watch = keep_best;
    opt.stop = NULL; // the runs are few, and the context is ours
    opt.context = &best;
    opt.ncurve = 0;
    rh_status rc =
        rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, hp, &opt, result, NULL, err);
    if (!rc && best.bad)
        rc = rh_base__no_memory(err, "paper");
    if (!rc && !best.state)
        rc = rh_fail(err, RH_EINVAL, "paper: no run finished, of %d to learn from", how->nrun);
    if (!rc) {
        *out = best.state;
        best.state = NULL;
    }
    rh_state_destroy(best.state);
    rh_free(result);
    return rc;
}

rh_status rh_paper__setting_of(const rh_paper *paper, const rh_paper__problem *problem,
                               const double *x, const rh_agent_type **agent, double *hp,
                               rh_error *err)
{
    rh_paper__settings all = {0};
    size_t nparam = (size_t)rh_paper__nparam(problem);
    rh_status rc = rh_paper__settings_of(&all, paper, problem, err);
    int at = -1;
    for (int i = 0; i < all.n && !rc; i++)
        if (memcmp(all.x + (size_t)i * nparam, x, nparam * sizeof *x) == 0)
            at = i;
    if (!rc && at < 0)
        rc = rh_fail(err, RH_EINVAL, "paper: the chosen setting is not in the grid");
    if (!rc) {
        size_t n = (size_t)all.agent->nparam;
        *agent = all.agent;
        memcpy(hp, all.hp + (size_t)at * n, n * sizeof *hp);
    }
    rh_paper__settings_clear(&all);
    return rc;
}
