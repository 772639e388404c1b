// own_agent.c - tunes an agent of its own, then a built-in one, from the log of a plant.
//
//     cc -std=c11 own_agent.c $(pkg-config --cflags --libs rehearse) -o own_agent

#include <rehearse/rehearse.h>
#include <stdio.h>
#include <stdlib.h>

// ---- an agent: Q-learning with a table over a grid of the sensors

enum { ALPHA, EPSILON, BINS, NPARAM };

static const rh_param table_param[NPARAM] = {
    [ALPHA] = {"alpha", "step size", .lo = 0, .hi = 1, .initial = 0.1},
    [EPSILON] = {"epsilon", "share of random actions", .lo = 0, .hi = 1, .initial = 0.1},
    [BINS] = {"bins", "cells per sensor", .lo = 1, .hi = 32, .initial = 8, .whole = true,
              .fixed = true},
};

typedef struct table {
    rh_task task;
    double alpha, epsilon;
    int bins;
    double *q;   // action values (cells x naction), owned
    double *now; // the row of q of the last state
    int action;  // the last action
} table;

static rh_status table_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    table *t = self;
    size_t cells = 1;
    t->task = *task;
    t->alpha = hp[ALPHA];
    t->epsilon = hp[EPSILON];
    t->bins = (int)hp[BINS];
    for (int i = 0; i < task->nobs; i++)
        cells *= (size_t)t->bins;
    t->q = rh_alloc(cells * (size_t)task->naction, sizeof *t->q); // zeroed
    return t->q ? RH_OK : rh_fail(err, RH_ENOMEM, "table: out of memory");
}

static void table_clear(void *self)
{
    rh_free(((table *)self)->q);
}

static double *row_of(const table *t, const double *obs)
{
    size_t cell = 0;
    for (int i = 0; i < t->task.nobs; i++) {
        double lo = t->task.obs_lo[i], hi = t->task.obs_hi[i];
        double x = hi > lo ? (obs[i] - lo) / (hi - lo) * t->bins : 0;
        int bin = x < 0 ? 0 : x >= t->bins ? t->bins - 1 : (int)x;
        cell = cell * (size_t)t->bins + (size_t)bin;
    }
    return t->q + cell * (size_t)t->task.naction;
}

static int greedy(const table *t, const double *row)
{
    int best = 0;
    for (int a = 1; a < t->task.naction; a++)
        best = row[a] > row[best] ? a : best;
    return best;
}

// Chooses an action. All randomness comes from rng, so a run can be repeated exactly.
static bool table_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    table *t = self;
    t->now = row_of(t, obs);
    t->action = rh_rng_uniform(rng) < t->epsilon
                    ? (int)rh_rng_below(rng, (uint32_t)t->task.naction)
                    : greedy(t, t->now);
    act[0] = t->action;
    return true;
}

// Learns from the step just made, then chooses the next action.
static bool table_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    table *t = self;
    const double *next = row_of(t, obs);
    double target = reward + t->task.gamma * next[greedy(t, next)];
    t->now[t->action] += t->alpha * (target - t->now[t->action]);
    return table_start(self, obs, rng, act);
}

// The episode terminated: there is no next state.
static bool table_end(void *self, double reward)
{
    table *t = self;
    t->now[t->action] += t->alpha * (reward - t->now[t->action]);
    return true;
}

static const rh_agent_type table_agent = {
    .name = "table",
    .about = "Q-learning with a table over a grid of the sensors",
    .actions = RH_DISCRETE,
    .self_size = sizeof(table),
    .param = table_param,
    .nparam = NPARAM,
    .init = table_init,
    .start = table_start,
    .step = table_step,
    .end = table_end,
    .act = table_start,
    .clear = table_clear,
};

// ---- the program

static rh_error err;

static void check(rh_status status)
{
    if (status) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    // 1. Read the log.
    rh_log *log = NULL;
    rh_log_options how = rh_log_defaults();
    how.action = "pump";
    how.reward = "-energy - 50*trip";
    how.terminal = "trip";
    how.episode = "shift";
    how.missing = (double[]){-9999};
    how.nmissing = 1;
    check(rh_log_read(&log, argc > 1 ? argv[1] : "examples/plant.csv", &how, &err));
    printf("log: %d steps in %d episodes\n", (int)log->n, log->nepisode);

    // 2. Fit a calibration model.
    rh_repr *repr = NULL;
    rh_model *model = NULL;
    check(rh_repr_fit(&repr, rh_repr_find("raw", NULL), log, NULL, &err));
    check(rh_model_fit(&model, rh_model_find("knn", NULL), log, repr, NULL, &err));
    const rh_task *task = rh_model_task(model);

    // 3. Evaluate settings of our own agent: 10 training runs of each in the model.
    const double setting[3][NPARAM] = {{0.1, 0.01, 8}, {0.1, 0.1, 8}, {0.1, 0.3, 8}};
    rh_env *env = NULL;
    rh_eval_options eval = rh_eval_defaults(task);
    rh_result result[3][10];
    eval.nrun = 10;
    eval.cutoff = rh_model_cutoff(log, eval.nstep);
    check(rh_model_env(&env, model, 0, NULL, &err));
    check(
        rh_eval_runs(&env, 1, &table_agent, task, 3, setting[0], &eval, result[0], NULL, &err));
    for (int i = 0; i < 3; i++) {
        double score[10], work[10];
        for (int r = 0; r < 10; r++)
            score[r] = result[i][r].score;
        rh_summary s = rh_summarise(score, 10, work);
        printf("table: epsilon %g scores %.1f (95 %% interval %.1f to %.1f)\n",
               setting[i][EPSILON], s.mean, s.lo95, s.hi95);
    }

    // 4. Tune a built-in agent with a study. With a folder in its options it could be resumed.
    rh_plan *plan = NULL;
    rh_study *study = NULL;
    check(rh_plan_create(&plan, &err));
    check(rh_plan_set(plan, "agent", "esarsa", NULL, &err));
    check(rh_plan_set(plan, "budget.trials", "20", NULL, &err));
    check(rh_plan_set(plan, "evaluation.runs", "5", NULL, &err));
    check(rh_plan_try(plan, "alpha", "0.001:1:log", NULL, &err));
    check(rh_plan_try(plan, "tau", "0.001:1:log", NULL, &err));
    check(rh_plan_settle(plan, log, &err));
    check(rh_study_create(&study, plan, NULL, NULL, model, NULL, &err));
    check(rh_study_run(study, &err));

    // 5. Print its verdict and create the agent to deploy.
    const rh_verdict *verdict = rh_study_verdict(study);
    if (!verdict || verdict->winner < 0)
        return 1;
    const rh_trial *best = &verdict->trial[verdict->winner];
    const rh_agent_type *esarsa = rh_agent_find("esarsa", NULL);
    rh_agent *agent = NULL;
    check(rh_agent_create(&agent, esarsa, task, best->hp, &err));
    int alpha = rh_param_find(esarsa->param, esarsa->nparam, "alpha");
    int tau = rh_param_find(esarsa->param, esarsa->nparam, "tau");
    printf("esarsa: alpha %.3g, tau %.3g scores %.1f (95 %% interval %.1f to %.1f)\n",
           best->hp[alpha], best->hp[tau], best->value, best->lo95, best->hi95);

    rh_agent_destroy(agent);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
    return 0;
}
