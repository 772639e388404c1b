// worlds.c - environments, agents and settings of the experiments, and the logs.
//
// Two sets of constants (docs/paper.md lists the differences):
//
//     released   the authors' code, which made the published figures: Acrobot with two torques,
//                w_init {0, 8, 16} in Acrobot and {0, 4, 8} in Puddle World
//     printed    the paper's text: three torques, w_init {0, 4, 8} and {0, 8, 16}
//
// 1. Log i of a condition has seed + i, its model and its study too, so logs are independent.
// 2. True scores have a seed of their own: no run in a model shares a stream with a true one.
// 3. Seconds per learning step were measured on one core of an AMD EPYC (Zen 4), in full-size
//    cells (work.csv). They serve estimates and the order of the work only.

#include "paper_internal.h"

#include "base/base_internal.h"
#include "cli/recipe.h"
#include "search/search.h"
#include "study/study.h"

#include <string.h>

#define TRUE_SEED 7919 // added to the seed, for true scores
#define QUICK_TRUE_RUNS 5
#define QUICK_RUNS 3

// ---------------------------------------------------------------------------- the tables

#define TWO                                                                                    \
    {                                                                                          \
        "torques", "2"                                                                         \
    }
#define CHANGED                                                                                \
    {"link_length_1", "2"},                                                                    \
    {                                                                                          \
        "link_mass_1", "2"                                                                     \
    }

const rh_paper__world rh_paper__acrobot = {.name = "acrobot",
                                           .title = "Acrobot",
                                           .env = "acrobot",
                                           .option = {{TWO}, {{0}}},
                                           .nstep = 15000,
                                           .quick = 6000,
                                           .in_model = 3.8e-6,
                                           .in_env = 3.9e-6,
                                           .reward_span = 1};

const rh_paper__world rh_paper__changed = {.name = "acrobot-changed",
                                           .title = "Changed Acrobot",
                                           .env = "acrobot",
                                           .option = {{TWO, CHANGED}, {CHANGED}},
                                           .nstep = 15000,
                                           .quick = 6000,
                                           .in_model = 3.8e-6,
                                           .in_env = 3.9e-6,
                                           .reward_span = 1};

const rh_paper__world rh_paper__puddle = {.name = "puddle",
                                          .title = "Puddle World",
                                          .env = "puddle_world",
                                          .nstep = 30000,
                                          .quick = 6000,
                                          .in_model = 0.65e-6,
                                          .in_env = 0.9e-6,
                                          .reward_span = 40};

const rh_paper__world rh_paper__cartpole = {.name = "cartpole",
                                            .title = "Cartpole",
                                            .env = "cartpole",
                                            .nstep = 50000,
                                            .quick = 10000,
                                            .in_model = 1.1e-6,
                                            .in_env = 1.7e-6,
                                            .reward_span = 1};

#define SARSA                                                                                  \
    {                                                                                          \
        "alpha", "beta1", "tau", "w_init"                                                      \
    }

const rh_paper__problem rh_paper__esarsa_acrobot = {
    .name = "esarsa",
    .world = &rh_paper__acrobot,
    .agent = "esarsa",
    .grid = {"acrobot:paper", "acrobot:paper-text"},
    .shorter = {{"beta1", "0"}, {"tau", "1,100"}, {"w_init", "0,8"}},
    .param = SARSA,
    .nrun = 10,
    .nsetting = {54, 12},
    .slower = 1.0};

const rh_paper__problem rh_paper__esarsa_changed = {
    .name = "esarsa",
    .world = &rh_paper__changed,
    .agent = "esarsa",
    .grid = {"acrobot:paper", "acrobot:paper-text"},
    .shorter = {{"beta1", "0"}, {"tau", "1,100"}, {"w_init", "0,8"}},
    .param = SARSA,
    .nrun = 10,
    .nsetting = {54, 12},
    .slower = 1.0};

const rh_paper__problem rh_paper__esarsa_puddle = {
    .name = "esarsa",
    .world = &rh_paper__puddle,
    .agent = "esarsa",
    .grid = {"puddle_world:paper", "puddle_world:paper-text"},
    .shorter = {{"beta1", "0"}, {"tau", "1,100"}, {"w_init", "0,8"}},
    .param = SARSA,
    .nrun = 10,
    .nsetting = {54, 12},
    .slower = 1.0};

const rh_paper__problem rh_paper__esarsa_cartpole = {
    .name = "esarsa",
    .world = &rh_paper__cartpole,
    .agent = "esarsa",
    .grid = {"cartpole:paper", "cartpole:paper-text"},
    .shorter = {{"beta1", "0"}, {"tau", "0.1,10"}, {"w_init", "0,6"}},
    .param = SARSA,
    .nrun = 10,
    .nsetting = {54, 12},
    .slower = 1.0};

const rh_paper__data rh_paper__near_5000 = {"near-optimal", 5000};

// ---------------------------------------------------------------------------- sizes

int rh_paper__nparam(const rh_paper__problem *problem)
{
    int n = 0;
    while (n < RH_PAPER__NPARAM && problem->param[n])
        n++;
    return n;
}

int64_t rh_paper__nstep(const rh_paper *paper, const rh_paper__world *world)
{
    return paper->opt.quick ? world->quick : world->nstep;
}

int rh_paper__nrun(const rh_paper *paper, const rh_paper__problem *problem)
{
    return paper->opt.quick ? QUICK_RUNS : problem->nrun;
}

int rh_paper__ntrue(const rh_paper *paper)
{
    return paper->opt.quick ? QUICK_TRUE_RUNS : RH_PAPER__NTRUE;
}

int rh_paper__nsetting(const rh_paper *paper, const rh_paper__problem *problem)
{
    return problem->nsetting[paper->opt.quick];
}

// ---------------------------------------------------------------------------- simulators

static rh_status set_option(const rh_env_type *type, double *opt, const char *name,
                            const char *value, rh_error *err)
{
    int at = 0;
    rh_status rc = rh_param_lookup(type->param, type->nparam, type->name, name, &at, err);
    return rc ? rc : rh_param_parse(&type->param[at], type->name, value, &opt[at], err);
}

rh_status rh_paper__env(rh_env **out, const rh_paper *paper, const rh_paper__world *world,
                        bool random, rh_error *err)
{
    const rh_env_type *type = rh_env_find(world->env, err);
    if (!type)
        return RH_EINVAL;
    double opt[RH_MAX_PARAM];
    rh_status rc = RH_OK;
    rh_param_initial(type->param, type->nparam, opt);
    for (const rh_setting *s = world->option[paper->opt.constants]; s->name && !rc; s++)
        rc = set_option(type, opt, s->name, s->value, err);
    if (!rc && random)
        rc = set_option(type, opt, "start", "random", err);
    return rc ? rc : rh_env_create(out, type, opt, err);
}

// ---------------------------------------------------------------------------- logs

static rh_status say_uncollected(const rh_paper__world *world, const rh_paper__data *data,
                                 uint64_t seed, const rh_collected *how, rh_error *err)
{
    if (how->outcome == RH_COLLECT_STOPPED)
        return rh_fail(err, RH_ESTOPPED, "paper: stopped");
    return rh_fail(err, RH_EINVAL,
                   "%s, %s, %lld steps, seed %llu: no log with the paper's number of episodes "
                   "in %d attempts; use another seed",
                   world->title, data->policy, (long long)data->nstep, (unsigned long long)seed,
                   how->ntry);
}

rh_status rh_paper__collect(rh_log **out, rh_log **starts, const rh_paper *paper,
                            const rh_paper__world *world, const rh_paper__data *data, int log,
                            rh_error *err)
{
    rh_env *train = NULL, *logged = NULL;
    rh_collect_options opt = rh_collect_defaults();
    rh_collected how = {0};
    cli_window window;
    double hp[RH_MAX_PARAM];
    const cli_recipe *r = cli_recipe_find(world->env, data->policy, false, err);
    const rh_agent_type *agent = r ? rh_agent_find(r->agent, err) : NULL;
    if (!agent)
        return RH_EINVAL;
    rh_status rc = cli_recipe_hyperparameters(r, agent, hp, err);
    if (!rc)
        rc = rh_paper__env(&train, paper, world, false, err);
    if (!rc)
        rc = rh_paper__env(&logged, paper, world, r->random, err);
    if (rc)
        goto done;
    cli_recipe_window(r, data->nstep, &window);
    opt.nstep = data->nstep;
    opt.seed = paper->opt.seed + (uint64_t)log;
    opt.enough = r->enough;
    opt.span = r->span;
    opt.level = r->level;
    opt.patience = r->patience;
    opt.cutoff = r->cutoff;
    opt.least = window.least;
    opt.most = window.most;
    opt.stop = paper->opt.stop;
    opt.context = paper->opt.context;
    rc = rh_log_collect(out, starts, &how, train, logged, agent, hp, &opt, err);
    if (!rc && how.outcome != RH_COLLECTED)
        rc = say_uncollected(world, data, opt.seed, &how, err);

done:
    rh_env_destroy(train);
    rh_env_destroy(logged);
    return rc;
}

// ---------------------------------------------------------------------------- plans

rh_status rh_paper__set(rh_plan *plan, const rh_setting *set, rh_error *err)
{
    rh_status rc = RH_OK;
    for (; set && set->name && !rc; set++)
        rc = rh_plan_set(plan, set->name, set->value, NULL, err);
    return rc;
}

static rh_status try_all(rh_plan *plan, const rh_setting *set, rh_error *err)
{
    rh_status rc = RH_OK;
    for (; set->name && !rc; set++)
        rc = rh_plan_try(plan, set->name, set->value, NULL, err);
    return rc;
}

// The simulator of a sweep, or the task of a study.
static rh_status set_world(rh_plan *plan, const rh_paper *paper, bool sweep,
                           const rh_paper__world *world, rh_error *err)
{
    char key[80], steps[32];
    rh_status rc = rh_plan_set(plan, sweep ? "env.name" : "task.env", world->env, NULL, err);
    const rh_setting *s = world->option[paper->opt.constants];
    for (; s->name && !rc; s++) {
        snprintf(key, sizeof key, "%s.%s", sweep ? "env" : "task", s->name);
        rc = rh_plan_set(plan, key, s->value, NULL, err);
    }
    snprintf(steps, sizeof steps, "%lld", (long long)rh_paper__nstep(paper, world));
    return rc ? rc : rh_plan_set(plan, "evaluation.steps", steps, NULL, err);
}

rh_status rh_paper__plan(rh_plan **out, const rh_paper *paper, rh_plan_command command,
                         const rh_paper__problem *problem, rh_error *err)
{
    rh_plan *plan = NULL;
    const char *grid = problem->grid[paper->opt.constants];
    bool sweep = command == RH_PLAN_SWEEP;
    char number[32];
    rh_status rc = rh_plan_create(&plan, err);
    if (rc)
        return rc;
    rh_plan_use(plan, command);
    rc = set_world(plan, paper, sweep, problem->world, err);
    if (!rc)
        rc = rh_plan_set(plan, "agent.name", problem->agent, NULL, err);
    if (!rc && grid)
        rc = rh_plan__grid(plan, grid, NULL, err);
    if (!rc)
        rc = try_all(plan, problem->axis, err);
    if (!rc && paper->opt.quick)
        rc = try_all(plan, problem->shorter, err);
    snprintf(number, sizeof number, "%llu",
             (unsigned long long)paper->opt.seed + (sweep ? TRUE_SEED : 0));
    if (!rc)
        rc = rh_plan_set(plan, "seed", number, NULL, err);
    snprintf(number, sizeof number, "%d",
             sweep ? rh_paper__ntrue(paper) : rh_paper__nrun(paper, problem));
    if (!rc)
        rc = rh_plan_set(plan, "evaluation.runs", number, NULL, err);
    if (!rc) {
        *out = plan;
        plan = NULL;
    }
    rh_plan_destroy(plan);
    return rc;
}

void rh_paper__recorded(const rh_paper__problem *problem, const rh_agent_type *agent,
                        const double *hp, double *x)
{
    for (int k = 0; k < rh_paper__nparam(problem); k++) {
        int at = rh_param_find(agent->param, agent->nparam, problem->param[k]);
        x[k] = at < 0 ? 0.0 : hp[at];
    }
}

void rh_paper__settings_clear(rh_paper__settings *settings)
{
    rh_free(settings->hp);
    rh_free(settings->x);
    *settings = (rh_paper__settings){0};
}

rh_status rh_paper__settings_of(rh_paper__settings *out, const rh_paper *paper,
                                const rh_paper__problem *problem, rh_error *err)
{
    rh_plan *plan = NULL;
    rh_paper__settings s = {0};
    double at[RH_MAX_DIM];
    size_t nparam = (size_t)rh_paper__nparam(problem);
    rh_status rc = rh_paper__plan(&plan, paper, RH_PLAN_SWEEP, problem, err);
    if (!rc)
        rc = rh_plan_settle(plan, NULL, err);
    if (rc)
        goto done;
    double count = rh_space__count(rh_plan__searched(plan));
    if (count > RH_PAPER__NSETTING) {
        rc = rh_fail(err, RH_EINVAL, "paper: %s has %.0f settings, expected at most %d",
                     problem->name, count, RH_PAPER__NSETTING);
        goto done;
    }
    s.agent = rh_plan__agent(plan);
    s.n = (int)count;
    s.hp = rh_alloc((size_t)s.n * (size_t)s.agent->nparam, sizeof *s.hp);
    s.x = rh_alloc((size_t)s.n * nparam, sizeof *s.x);
    if (!s.hp || !s.x) {
        rc = rh_base__no_memory(err, "paper");
        goto done;
    }
    for (int i = 0; i < s.n; i++) {
        double *hp = s.hp + (size_t)i * (size_t)s.agent->nparam;
        rh_space__at(rh_plan__searched(plan), i, at);
        rh_plan__hp(plan, at, hp);
        rh_paper__recorded(problem, s.agent, hp, s.x + (size_t)i * nparam);
    }
    *out = s;
    s = (rh_paper__settings){0};

done:
    rh_paper__settings_clear(&s);
    rh_plan_destroy(plan);
    return rc;
}

// ---------------------------------------------------------------------------- true scores

rh_status rh_paper__deploy(const rh_paper *paper, const rh_paper__world *world,
                           const rh_agent_type *agent, int n, const double *hp,
                           const rh_eval_options *how, double *score, rh_error *err)
{
    rh_env *env = NULL;
    size_t nresult = (size_t)n * (size_t)rh_paper__ntrue(paper);
    rh_result *result = rh_alloc(nresult, sizeof *result);
    rh_status rc = result ? rh_paper__env(&env, paper, world, false, err)
                          : rh_base__no_memory(err, "paper");
    if (rc)
        goto done;
    rh_eval_options opt = how ? *how : rh_eval_defaults(rh_env_task(env));
    opt.nstep = rh_paper__nstep(paper, world);
    opt.nrun = rh_paper__ntrue(paper);
    opt.seed = paper->opt.seed + TRUE_SEED;
    opt.stop = paper->opt.stop;
    opt.context = paper->opt.context;
    rc = rh_eval_runs(&env, 1, agent, rh_env_task(env), n, hp, &opt, result, NULL, err);
    for (size_t i = 0; i < nresult && !rc; i++) {
        score[i] = result[i].score;
        if (result[i].outcome == RH_STOPPED)
            rc = rh_fail(err, RH_ESTOPPED, "paper: stopped");
    }

done:
    rh_free(result);
    rh_env_destroy(env);
    return rc;
}
