// job.c - what `run` and `sweep` have in common: the plan, the environment, the agent.

#include "base/base.h"
#include "cli_internal.h"
#include "study/study.h"

#include <string.h>

#define PREFIX "model:"

static const rh_key jobs_option[] = {
    {NULL, "setting", 0, RH_KEY_FILE, "BEST.yaml",
     .about = "the agent of a study's best.yaml, with its hyperparameters"},
    {NULL, "jobs", 'j', RH_KEY_WHOLE, "N", .about = "runs in parallel; does not change results",
     .initial = "all CPUs", .lo = 1, .hi = 4096},
    {NULL, "member", 0, RH_KEY_WHOLE, "N", .about = "run in one member of a model only",
     .initial = "all of them", .lo = 0, .hi = RH_MAX_MEMBER - 1},
    {0},
};

static const rh_key best_option[] = {
    {NULL, "allow-exec", 0, RH_KEY_FLAG, NULL,
     .about = "start the program that best.yaml names as its agent (exec:COMMAND)"},
    {0},
};

static const rh_key common_option[] = {
    {NULL, "plugin", 0, RH_KEY_FILE, "FILE",
     .about = "load the agents and environments of a plug-in; can be repeated",
     .repeats = true},
    {NULL, "help", 'h', RH_KEY_FLAG, NULL, .about = "this text"},
    {0},
};

const cli_group cli_runs_group = {CLI_MAIN, jobs_option};
const cli_group cli_best_group = {CLI_MAIN, best_option};
const cli_group cli_common_group = {"all commands", common_option};

// ---------------------------------------------------------------------------- the plan

// A hyperparameter that is an option of the environment instead.
static void suggest_option(const cli_args *args, const char *env)
{
    const rh_env_type *type = env ? rh_plugin_env(env, NULL) : NULL;
    const char *pair, *value;
    char name[64];
    for (int at = 0; type && (pair = cli_each(args, "set", &at)) != NULL;)
        if (cli_split(pair, name, &value) &&
            rh_param_find(type->param, type->nparam, name) >= 0)
            cli_try("--env-set %s, an option of %s", pair, type->name);
}

static int make_plan(cli_job *job, const cli_args *args)
{
    const char *word = args->nword ? args->word[0] : "";
    bool model = strncmp(word, PREFIX, strlen(PREFIX)) == 0;
    bool named = args->nword == 1 && (model || cli_is_yaml(word));
    if (!named && !cli_env_find(args))
        return CLI_USAGE;
    int rc = cli_plan_init(&job->plan, args, model ? "data" : "env.name");
    if (rc)
        suggest_option(args, named ? NULL : word);
    return rc;
}

// The agent: the one that was set, or that of the file.
static int choose_agent(cli_job *job)
{
    rh_error err;
    if (job->loaded && rh_state_read(&job->state, job->loaded, &err) != RH_OK)
        return cli_refuse("%s", err.text);
    if (rh_plan_text(job->plan, "agent.name"))
        return CLI_OK;
    if (!job->loaded) {
        cli_refuse("%s: which agent?", job->command);
        cli_try("rehearse list agents");
        return CLI_USAGE;
    }
    return cli_pass(
        rh_plan_set(job->plan, "agent.name", rh_state__label(job->state), "--load", &err),
        &err);
}

// ---------------------------------------------------------------------------- the agent

// hp from the plan, or else from the file. The library refuses the state of another agent.
static int read_agent(cli_job *job)
{
    const rh_plan *plan = job->plan;
    const rh_agent_type *agent = job->agent = rh_plan__agent(plan);
    job->hp = rh_alloc((size_t)agent->nparam + 1, sizeof *job->hp);
    job->swept = rh_alloc((size_t)agent->nparam + 1, sizeof *job->swept);
    if (!job->hp || !job->swept)
        return cli_fail("out of memory");
    rh_plan__hp(plan, NULL, job->hp);
    for (int d = 0; d < rh_plan__searched(plan)->ndim; d++)
        job->swept[rh_plan__param(plan, d, NULL)] = true;
    if (!job->state || strcmp(rh_state__label(job->state), agent->name) != 0)
        return CLI_OK;

    size_t n = 0;
    const double *hp = rh_state__doubles(job->state, "hyperparameters", &n);
    if (!hp || n != (size_t)agent->nparam)
        return cli_refuse("'%s' has %zu hyperparameters, expected %d for %s", job->loaded,
                          hp ? n : 0, agent->nparam, agent->name);
    for (int i = 0; i < agent->nparam; i++) {
        char key[100];
        snprintf(key, sizeof key, "parameters.%.80s", agent->param[i].name);
        if (!rh_plan_text(plan, key))
            job->hp[i] = hp[i];
    }
    return CLI_OK;
}

// "try: an agent that fits: random, ..." with every agent that can take the actions.
static void suggest_fitting(unsigned actions)
{
    char list[256] = "";
    for (int i = 0; i < rh_agent_ntype(); i++) {
        const rh_agent_type *type = rh_agent_type_at(i);
        if (type->actions & actions)
            rh_text__put(list, sizeof list, "%s%s", *list ? ", " : "", type->name);
    }
    cli_try("an agent that fits: %s", list);
}

// Create one agent and destroy it.
static int rehearse(const cli_job *job)
{
    rh_error err;
    rh_agent *agent = NULL;
    rh_status rc = rh_agent_create(&agent, job->agent, &job->task, job->hp, &err);
    if (!rc && job->state)
        rc = rh_agent_load(agent, job->state, &err);
    rh_agent_destroy(agent);
    if (!rc)
        return CLI_OK;

    int code = cli_pass(rc, &err);
    unsigned actions = job->task.naction ? RH_DISCRETE : RH_CONTINUOUS;
    if (!(job->agent->actions & actions))
        suggest_fitting(actions);
    return code;
}

// ---------------------------------------------------------------------------- all of it

// The task with its ranges, and how runs are evaluated.
static int read_evaluation(cli_job *job, const cli_args *args, const rh_log *log)
{
    rh_error err;
    rh_task *task = &job->task;
    const rh_task *own = rh_env_task(job->world.env[0]);
    *task = *own;
    if (!task->prior.n)
        task->prior = rh_plan__prior(job->plan);
    rh_status rc = rh_plan__ranges(job->plan, task, &err);
    for (int i = 0; i < task->nobs; i++)
        job->ranged[i] = task->obs_lo[i] != own->obs_lo[i] || task->obs_hi[i] != own->obs_hi[i];
    if (!rc)
        rc = rh_plan__eval(job->plan, task, log, &job->opt, &err);
    if (rc)
        return cli_pass(rc, &err);
    bool usual = log && !task->continuing; // has a cut-off by default
    const char *cutoff = rh_plan_text(job->plan, "evaluation.cutoff");
    bool given = cutoff && strcmp(cutoff, "auto") != 0; // by an option or --setting
    if (cli_has(args, "cutoff-as") && !given && !usual)
        return cli_refuse("--cutoff-as needs --cutoff: %s has no cut-off by default",
                          job->world.name);
    job->usual = usual && !given;
    job->opt.nthread = (int)cli_number(args, "jobs", cli_ncpu());
    job->opt.replicate = (uint64_t)job->world.member;
    return CLI_OK;
}

int cli_job_init(cli_job *job, const cli_args *args, const char *load)
{
    const char *csv = cli_value(args, "csv");
    bool json = cli_has(args, "json"), piped = csv && strcmp(csv, "-") == 0;
    rh_error err;
    *job = (cli_job){
        .command = args->command->name, .quiet = cli_has(args, "quiet"), .loaded = load};
    job->words = !json && !piped;
    if (json && piped)
        return cli_refuse("--json and --csv - both want standard output");
    int rc = make_plan(job, args);
    if (!rc)
        rc = cli_world_init(&job->world, args, job->plan);
    if (!rc)
        rc = choose_agent(job);
    if (rc)
        return rc;
    const rh_log *log = job->world.model ? rh_model_log(job->world.model) : NULL;
    rc = cli_pass(rh_plan_settle(job->plan, log, &err), &err);
    if (!rc)
        rc = read_agent(job);
    if (!rc)
        rc = read_evaluation(job, args, log);
    return rc ? rc : rehearse(job);
}

void cli_job_clear(cli_job *job)
{
    cli_world_clear(&job->world);
    rh_plan_destroy(job->plan);
    rh_state_destroy(job->state);
    rh_free(job->hp);
    rh_free(job->swept);
}
