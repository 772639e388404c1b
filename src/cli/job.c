// job.c - what `run` and `sweep` have in common: who runs where, how long and how often.
//
// 1. --jobs is left out of everything printed but the speed: it never changes a result.
// 2. One agent is born before the work begins. What the library refuses (actions that do not
//    fit, a state of another agent) is then said at once, and not under a header.

#include "cli_internal.h"

#include <string.h>

#define MOST_STEPS INT64_C(1000000000000) // a month of computing, and far from overflow

static const cli_option env_option[] = {
    {"env-set", 'e', CLI_ENV_SET, "NAME=VALUE",
     .about = "an option of the environment, or a parameter of the model", .repeats = true},
    {"range", 0, CLI_RANGE, "SENSOR=LO:HI",
     .about = "the range of a sensor, as the agent is told it", .repeats = true},
    {"member", 0, CLI_WHOLE, "N", .about = "live in one member of a model alone",
     .initial = "all of them", .lo = 0, .hi = RH_MAX_MEMBER - 1},
    {"pool", 0, CLI_POOL, "HOW", .about = "how the scores in a model's members become one",
     .initial = "mean"},
    {0},
};

static const cli_option runs_option[] = {
    {"steps", 'n', CLI_WHOLE, "N", .about = "steps of a run",
     .initial = "the environment's own", .lo = 1, .hi = MOST_STEPS},
    {"runs", 'r', CLI_WHOLE, "N", .about = "runs of a setting, each with its own chance",
     .initial = "30", .lo = 1, .hi = 1000000},
    {"seed", 0, CLI_WHOLE, "N", .about = "what all chance comes from", .initial = "1", .lo = 0,
     .hi = INT64_MAX},
    {"jobs", 'j', CLI_WHOLE, "N", .about = "runs at the same time; changes no result",
     .initial = "all CPUs", .lo = 1, .hi = 4096},
    {"criterion", 'c', CLI_CRITERION, "NAME", .about = "how a run becomes a score",
     .initial = "average"},
    {"cutoff", 0, CLI_CUTOFF, "N", .about = "an episode of N steps is cut off; or never",
     .initial = "never; in a model, after a thirtieth of the run", .lo = 1, .hi = INT64_MAX},
    {"cutoff-as", 0, CLI_CUTOFF_RULE, "RULE", .about = "what the agent sees of it",
     .initial = "truncate"},
    {0},
};

static const cli_option common_option[] = {
    {"help", 'h', CLI_NONE, NULL, .about = "this text"},
    {0},
};

const cli_group cli_env_group = {"environment", env_option};
const cli_group cli_runs_group = {"runs", runs_option};
const cli_group cli_common_group = {"help", common_option};

// ---------------------------------------------------------------------------- reading

int cli_job_pair(const cli_job *job, const char *pair, int *index, const char **value)
{
    char name[64];
    rh_error err;
    const rh_agent_type *agent = job->agent;
    cli_split(pair, name, value);
    int rc = cli_pass(
        rh_param_lookup(agent->param, agent->nparam, agent->name, name, index, &err), &err);
    const rh_env_type *env = cli_world_kind(&job->world);
    if (rc && rh_param_find(env->param, env->nparam, name) >= 0)
        cli_try("--env-set %s, an option of %s", pair, env->name);
    return rc;
}

static int read_options(cli_job *job, const cli_args *args)
{
    rh_eval_options *opt = &job->opt;
    bool usual = job->world.model && !job->task.continuing; // has a cut-off of its own
    if (cli_has(args, "cutoff-as") && !cli_has(args, "cutoff") && !usual)
        return cli_refuse("--cutoff-as says how, and --cutoff is missing to say when");
    *opt = rh_eval_defaults(&job->task);
    opt->nstep = cli_number(args, "steps", opt->nstep);
    opt->nrun = (int)cli_number(args, "runs", opt->nrun);
    opt->seed = (uint64_t)cli_number(args, "seed", (int64_t)opt->seed);
    opt->nthread = (int)cli_number(args, "jobs", cli_ncpu());
    opt->criterion = (rh_criterion)cli_number(args, "criterion", opt->criterion);
    opt->replicate = (uint64_t)job->world.member;
    opt->cutoff = cli_number(args, "cutoff", opt->cutoff);
    job->usual = usual && !cli_has(args, "cutoff");
    if (job->usual)
        opt->cutoff = rh_model_cutoff(rh_model_log(job->world.model), opt->nstep);
    if (opt->cutoff == 0)
        return cli_fail("out of memory");
    opt->cutoff_rule = (rh_cutoff_rule)cli_number(args, "cutoff-as", opt->cutoff_rule);
    return CLI_OK;
}

int cli_job_init(cli_job *job, const cli_args *args)
{
    const char *command = args->command->name, *csv = cli_value(args, "csv");
    bool json = cli_has(args, "json"), piped = csv && strcmp(csv, "-") == 0;
    *job = (cli_job){.command = command, .quiet = cli_has(args, "quiet")};
    job->words = !json && !piped;
    if (json && piped)
        return cli_refuse("--json and --csv - both want standard output");

    int rc = cli_world_init(&job->world, args);
    if (rc)
        return rc;
    rh_task *task = &job->task;
    *task = *rh_env_task(job->world.env[0]);
    const char *pair;
    for (int at = 0; !rc && (pair = cli_each(args, "range", &at)) != NULL;) {
        double lo, hi;
        int i;
        rc = cli_range_read(pair, job->world.name, task->obs_name, task->nobs, &i, &lo, &hi);
        if (rc)
            break;
        task->obs_lo[i] = lo;
        task->obs_hi[i] = hi;
        job->ranged[i] = true;
    }
    return rc ? rc : read_options(job, args);
}

void cli_job_clear(cli_job *job)
{
    cli_world_clear(&job->world);
    rh_state_destroy(job->born);
    rh_free(job->hp);
    rh_free(job->swept);
}

// ---------------------------------------------------------------------------- the agent

int cli_job_agent(cli_job *job, const char *name)
{
    rh_error err;
    job->agent = name ? rh_agent_find(name, &err) : NULL;
    if (!job->agent) {
        if (name)
            cli_refuse("%s", err.text);
        else
            cli_refuse("%s: which agent?", job->command);
        cli_try("rehearse list agents");
        return CLI_USAGE;
    }
    job->hp = rh_alloc((size_t)job->agent->nparam + 1, sizeof *job->hp);
    job->swept = rh_alloc((size_t)job->agent->nparam + 1, sizeof *job->swept);
    if (!job->hp || !job->swept)
        return cli_fail("out of memory");
    rh_param_initial(job->agent->param, job->agent->nparam, job->hp);
    return CLI_OK;
}

// "try: --agent random, ..." with every agent that can take the environment's actions.
static void suggest_fitting(unsigned actions)
{
    char list[256];
    size_t used = 0;
    list[0] = 0;
    for (int i = 0; i < rh_agent_ntype() && used < sizeof list; i++) {
        const rh_agent_type *type = rh_agent_type_at(i);
        if (type->actions & actions)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     type->name);
    }
    cli_try("an agent that fits: %s", list);
}

int cli_job_rehearse(const cli_job *job)
{
    rh_error err;
    rh_agent *agent = NULL;
    rh_status rc = rh_agent_create(&agent, job->agent, &job->task, job->hp, &err);
    if (!rc && job->born)
        rc = rh_agent_load(agent, job->born, &err);
    rh_agent_destroy(agent);
    if (!rc)
        return CLI_OK;

    int code = cli_pass(rc, &err);
    unsigned actions = job->task.naction ? RH_DISCRETE : RH_CONTINUOUS;
    if (!(job->agent->actions & actions))
        suggest_fitting(actions);
    return code;
}
