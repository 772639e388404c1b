// bench_model.c - learning steps per second in the kNN model of a log and in the simulator.
//
// A log of each of the paper's environments is collected by the near-optimal recipe, as long as
// the paper's, and a model fitted to it (raw representation, k = 3). Then one setting of esarsa
// runs in the simulator, in the model, and in the model with its fixed observations hidden. The
// random agent runs in simulator and model to measure the bare step. All take turns on one
// thread, in processor time; the best of the repeats counts.
//
// On one core of an AMD EPYC (Zen 3, AVX2), steps per second of esarsa and ns of a bare step;
// `carry` is a model with carry = local. The last column is a bare step of a regression
// (linear), not in this table:
//
//                  simulator  stitching       no cache    carry        simulator stitch carry
//     acrobot        212,000    316,000 1.49x  299,000  177,000 0.56x       199     38    861
//     puddle_world 1,437,000  1,661,000 1.16x 1,582,000 991,000 0.60x       131     28    498
//     cartpole       513,000    768,000 1.50x  715,000  353,000 0.46x       128     38    586
//
// Ratios are to the simulator, and of carry to stitching. In Cartpole the agent alone takes 1.3
// us a step in stitching, where it meets few states again and again, and 2.2 us in carrying: it
// enters and updates more weights. On a 2.3 GHz Xeon with AVX-512 the ratios are 0.56, 0.55 and
// 0.47, on an AMD EPYC (Zen 4) 0.56, 0.59 and 0.46; there the simulators themselves have 0.65,
// 0.86 and 0.65. Two thirds of a carrying step are the search for its neighbours.
//
// `bench_model fit 1000000` fits a regression with 8 lags to a log of so many steps, with 4
// sensors and 2 actions, on two threads, and prints the time of the fit and of a step.
//
// The rest is the agent (perf): in Acrobot's stitched model the environment takes 2 % of a step
// and the loop in run.c less than 1 %.

#include "seconds.h"

#include "cli/recipe.h"
#include "rehearse/rehearse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT 7
#define NRUN 2

typedef struct place {
    const char *env;
    double hp[5]; // alpha, beta1, tau, w_init, lambda
    int64_t nstep;
} place;

static const place places[] = {
    {"acrobot", {0.03, 0, 1, 0, 0.8}, 15000},
    {"puddle_world", {0.1, 0, 1, 0, 0.1}, 30000},
    {"cartpole", {0.03, 0, 0.1, 6, 0.023}, 25000},
};

static void must(rh_status rc, const rh_error *err)
{
    if (rc) {
        fprintf(stderr, "bench_model: %s\n", err->text);
        exit(1);
    }
}

// ---------------------------------------------------------------------------- hiding

// An environment that hides the fixed observations of another.
typedef struct hidden_env {
    const rh_env *env; // borrowed
} hidden_env;

static void hidden_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    rh_env_start(((const hidden_env *)self)->env, state, streams, obs);
}

static bool hidden_step(const void *self, void *state, const double *act, rh_streams *streams,
                        double *obs, double *reward)
{
    return rh_env_step(((const hidden_env *)self)->env, state, act, streams, obs, reward);
}

static const rh_env_type hidden_type = {
    .name = "hidden_env",
    .self_size = sizeof(hidden_env),
    .start = hidden_start,
    .step = hidden_step,
};

static rh_env *hide(const rh_env *env)
{
    rh_error err;
    rh_env *hidden = NULL;
    hidden_env *self = rh_alloc(1, sizeof *self);
    if (!self)
        exit(1);
    self->env = env;
    must(rh_env_adopt(&hidden, &hidden_type, rh_env_task(env), NULL, self,
                      rh_env_state_size(env), &err),
         &err);
    return hidden;
}

// ---------------------------------------------------------------------------- log and model

static rh_env *simulator(const char *name, bool random_starts)
{
    rh_error err;
    const rh_env_type *type = rh_env_find(name, NULL);
    double opt[64];
    rh_param_initial(type->param, type->nparam, opt);
    int start = rh_param_find(type->param, type->nparam, "start");
    if (random_starts && start >= 0)
        opt[start] = 1;
    rh_env *env = NULL;
    must(rh_env_create(&env, type, opt, &err), &err);
    return env;
}

static rh_log *collect(const char *name)
{
    rh_error err;
    const cli_recipe *r = cli_recipe_find(name, "near-optimal", false, &err);
    const rh_agent_type *agent = rh_agent_find(r->agent, &err);
    rh_collect_options opt = rh_collect_defaults();
    cli_window window;
    double hp[64];
    must(cli_recipe_hyperparameters(r, agent, hp, &err), &err);
    opt.nstep = r->window[0].nstep;
    opt.enough = r->enough;
    opt.span = r->span;
    opt.level = r->level;
    opt.patience = r->patience;
    opt.cutoff = r->cutoff;
    cli_recipe_window(r, opt.nstep, &window);
    opt.least = window.least;
    opt.most = window.most;

    rh_log *log = NULL;
    rh_collected how;
    rh_env *school = simulator(name, false), *field = simulator(name, r->random);
    must(rh_log_collect(&log, NULL, &how, school, field, agent, hp, &opt, &err), &err);
    if (how.outcome != RH_COLLECTED)
        exit(1);
    rh_env_destroy(school);
    rh_env_destroy(field);
    return log;
}

// carry: a choice of the parameter; NULL: a regression.
static rh_model *fit(const rh_log *log, const rh_task *task, const char *carry)
{
    rh_error err;
    rh_repr *repr = NULL;
    rh_model *model = NULL;
    rh_model_options opt = rh_model_defaults();
    const rh_model_type *type = rh_model_find(carry ? "knn" : "linear", NULL);
    double param[64];
    int at = rh_param_find(type->param, type->nparam, "carry");
    rh_param_initial(type->param, type->nparam, param);
    if (carry)
        must(rh_param_parse(&type->param[at], "carry", carry, &param[at], &err), &err);
    opt.param = param;
    opt.task = task;
    opt.fidelity = false;
    must(rh_repr_fit(&repr, rh_repr_find("raw", NULL), log, NULL, &err), &err);
    must(rh_model_fit(&model, type, log, repr, &opt, &err), &err);
    rh_repr_destroy(repr);
    return model;
}

// ---------------------------------------------------------------------------- runs

// Nanoseconds of a step.
static double cost(rh_env *env, const rh_task *task, const place *p, const char *name)
{
    rh_error err;
    const rh_agent_type *agent = rh_agent_find(name, NULL);
    double hp[64];
    rh_param_initial(agent->param, agent->nparam, hp);
    if (agent->nparam)
        memcpy(hp, p->hp, sizeof p->hp);
    rh_eval_options opt = rh_eval_defaults(task);
    opt.nstep = agent->nparam ? p->nstep : 20 * p->nstep;
    opt.nrun = NRUN;
    rh_result result[NRUN];
    double from = seconds(CLOCK_PROCESS_CPUTIME_ID);
    must(rh_eval_runs(&env, 1, agent, task, 1, hp, &opt, result, NULL, &err), &err);
    double took = seconds(CLOCK_PROCESS_CPUTIME_ID) - from;
    int64_t nstep = 0;
    for (int r = 0; r < NRUN; r++)
        nstep += result[r].nstep;
    return 1e9 * took / (double)nstep;
}

static void run(const place *p)
{
    rh_error err;
    rh_log *log = collect(p->env);
    rh_env *true_env = simulator(p->env, false), *model_env = NULL;
    const rh_task *task = rh_env_task(true_env);
    rh_model *model = fit(log, task, "none"), *carrying = fit(log, task, "local");
    rh_model *linear = fit(log, task, NULL);
    rh_env *carry_env = NULL, *linear_env = NULL;
    must(rh_model_env(&linear_env, linear, 0, NULL, &err), &err);
    must(rh_model_env(&model_env, model, 0, NULL, &err), &err);
    must(rh_model_env(&carry_env, carrying, 0, NULL, &err), &err);
    rh_env *hidden = hide(model_env);

    enum {
        SIMULATOR,
        MODEL,
        HIDDEN,
        CARRY,
        BARE_SIMULATOR,
        BARE_MODEL,
        BARE_CARRY,
        BARE_LINEAR,
        NWAY
    };
    rh_env *const where[NWAY] = {true_env, model_env, hidden,    carry_env,
                                 true_env, model_env, carry_env, linear_env};
    double best[NWAY];
    for (int k = 0; k < REPEAT * NWAY; k++) {
        int way = k % NWAY;
        double now = cost(where[way], task, p, way < BARE_SIMULATOR ? "esarsa" : "random");
        best[way] = k < NWAY || now < best[way] ? now : best[way];
    }
    printf("%-13s %6d   %9.0f %9.0f %6.2fx %9.0f   %9.0f %6.2fx   %9.1f %7.1f %7.1f %7.1f\n",
           p->env, (int)log->n, 1e9 / best[SIMULATOR], 1e9 / best[MODEL],
           best[SIMULATOR] / best[MODEL], 1e9 / best[HIDDEN], 1e9 / best[CARRY],
           best[MODEL] / best[CARRY], best[BARE_SIMULATOR], best[BARE_MODEL], best[BARE_CARRY],
           best[BARE_LINEAR]);
    fflush(stdout);
    rh_env_destroy(hidden);
    rh_env_destroy(model_env);
    rh_env_destroy(carry_env);
    rh_env_destroy(linear_env);
    rh_model_destroy(linear);
    rh_model_destroy(model);
    rh_model_destroy(carrying);
    rh_env_destroy(true_env);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- a long log

// Four sensors and two actions: coupled tanks that are slow, noisy and never at rest.
static rh_log *tanks(int64_t nstep)
{
    rh_error err;
    rh_log *log = NULL;
    rh_log_builder *b = NULL;
    rh_log_shape shape = {.nobs = 4, .nact = 2, .action = RH_ACTION_CONTINUOUS};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    double x[4] = {0}, u[2] = {0};
    must(rh_log_builder_create(&b, &shape, &err), &err);
    for (int64_t i = 0; i < nstep; i++) {
        double now[4];
        memcpy(now, x, sizeof now);
        for (int k = 0; k < 2 && i % 10 == 0; k++)
            u[k] = rh_rng_range(&rng, 0.0, 1.0);
        rh_log_row row = {
            .obs = now, .act = u, .reward = -now[0] * now[0], .begins = i % 1000 == 0};
        must(rh_log_push(b, &row, &err), &err);
        for (int k = 0; k < 4; k++)
            x[k] = 0.95 * now[k] + 0.05 * (k < 2 ? u[k] : now[k - 2] * now[3 - k]) +
                   0.002 * rh_rng_range(&rng, -1.0, 1.0);
    }
    must(rh_log_finish(b, &log, &err), &err);
    rh_log_builder_destroy(b);
    return log;
}

// The fit of a regression with 8 lags, and the bare step, for both kinds of residuals.
static void run_long(int64_t nstep)
{
    static const char *const residuals[] = {"stretch", "near"};
    rh_error err;
    rh_log *log = tanks(nstep);
    rh_repr *repr = NULL;
    must(rh_repr_fit(&repr, rh_repr_find("raw", NULL), log, NULL, &err), &err);
    printf("%-10s %10s %6s %10s %10s %10s\n", "residuals", "logged", "lags", "fit, s", "CPU, s",
           "ns a step");
    for (int k = 0; k < 2; k++) {
        const rh_model_type *type = rh_model_find("linear", NULL);
        double param[64];
        int lags = rh_param_find(type->param, type->nparam, "lags");
        int left = rh_param_find(type->param, type->nparam, "residuals");
        rh_param_initial(type->param, type->nparam, param);
        must(rh_param_parse(&type->param[lags], "lags", "8", &param[lags], &err), &err);
        must(rh_param_parse(&type->param[left], "residuals", residuals[k], &param[left], &err),
             &err);
        rh_model_options opt = rh_model_defaults();
        opt.param = param;
        opt.fidelity = false;
        opt.nthread = 2;
        rh_model *model = NULL;
        rh_env *env = NULL;
        double from = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        must(rh_model_fit(&model, type, log, repr, &opt, &err), &err);
        double took = seconds(CLOCK_MONOTONIC) - from;
        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        must(rh_model_env(&env, model, 0, NULL, &err), &err);
        const place p = {.nstep = 10000};
        double step = INFINITY;
        for (int r = 0; r < REPEAT; r++) {
            double now = cost(env, rh_env_task(env), &p, "random");
            step = now < step ? now : step;
        }
        printf("%-10s %10lld %6s %10.1f %10.1f %10.1f\n", residuals[k], (long long)log->n, "8",
               took, cpu, step);
        fflush(stdout);
        rh_env_destroy(env);
        rh_model_destroy(model);
    }
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "fit") == 0 && atoll(argv[2]) >= 1000) {
        run_long(atoll(argv[2]));
        return 0;
    }
    printf("\nesarsa in the kNN model of a log, steps per second on one core\n\n");
    printf("%-13s %6s   %57s   %25s\n", "", "", "esarsa, steps/s", "random, ns a step");
    printf("%-13s %6s   %9s %9s %7s %9s   %9s %7s   %9s %7s %7s %7s\n", "", "logged",
           "simulator", "stitch", "ratio", "no cache", "carry", "/stitch", "simulator",
           "stitch", "carry", "linear");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        run(&places[i]);
    return 0;
}
