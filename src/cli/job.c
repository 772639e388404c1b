// job.c - what `run` and `sweep` have in common: who lives where, how long and how often.
//
// 1. --jobs is left out of everything printed but the speed: it never changes a result.
// 2. One agent is born before the work begins. What the library refuses (actions that do not
//    fit, a state of another agent) is then said at once, and not under a header.

#include "cli_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS INT64_C(1000000000000) // a month of computing, and far from overflow

static const cli_option env_option[] = {
    {"env-set", 'e', CLI_ENV_SET, "NAME=VALUE", .about = "an option of the environment",
     .repeats = true},
    {"range", 0, CLI_RANGE, "SENSOR=LO:HI",
     .about = "the range of a sensor, as the agent is told it", .repeats = true},
    {0},
};

static const cli_option lives_option[] = {
    {"steps", 'n', CLI_WHOLE, "N", .about = "steps of a life",
     .initial = "the environment's own", .lo = 1, .hi = MOST_STEPS},
    {"runs", 'r', CLI_WHOLE, "N", .about = "lives of a setting, each with its own chance",
     .initial = "30", .lo = 1, .hi = 1000000},
    {"seed", 0, CLI_WHOLE, "N", .about = "what all chance comes from", .initial = "1", .lo = 0,
     .hi = INT64_MAX},
    {"jobs", 'j', CLI_WHOLE, "N", .about = "lives at the same time; changes no result",
     .initial = "all CPUs", .lo = 1, .hi = 4096},
    {"criterion", 'c', CLI_CRITERION, "NAME", .about = "how a life becomes a score",
     .initial = "average"},
    {"cutoff", 0, CLI_WHOLE, "N", .about = "an episode of N steps is cut off",
     .initial = "never", .lo = 1, .hi = INT64_MAX},
    {"cutoff-as", 0, CLI_CUTOFF_RULE, "RULE", .about = "what the agent sees of it",
     .initial = "teleport"},
    {0},
};

static const cli_option common_option[] = {
    {"help", 'h', CLI_NONE, NULL, .about = "this text"},
    {0},
};

const cli_group cli_env_group = {"environment", env_option};
const cli_group cli_lives_group = {"lives", lives_option};
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
    const rh_env_type *env = rh_env_kind(job->env);
    if (rc && rh_param_find(env->param, env->nparam, name) >= 0)
        cli_try("--env-set %s, an option of %s", pair, env->name);
    return rc;
}

const rh_env_type *cli_env_find(const cli_args *args)
{
    rh_error err;
    const char *command = args->command->name;
    const rh_env_type *type = NULL;
    if (args->nword == 0)
        cli_refuse("%s: which environment?", command);
    else if (args->nword > 1)
        cli_refuse("%s: unexpected argument '%s' after '%s'", command, args->word[1],
                   args->word[0]);
    else if (!(type = rh_env_find(args->word[0], &err)))
        cli_refuse("%s", err.text);
    if (!type && args->nword < 2)
        cli_try("rehearse list envs");
    return type;
}

int cli_env_values(const cli_args *args, const rh_env_type *type, double *opt)
{
    rh_error err;
    int rc = CLI_OK;
    const char *pair, *value;
    for (int at = 0; !rc && (pair = cli_each(args, "env-set", &at)) != NULL;) {
        char name[64];
        int i;
        cli_split(pair, name, &value);
        rh_status read = rh_param_lookup(type->param, type->nparam, type->name, name, &i, &err);
        if (!read)
            read = rh_param_parse(&type->param[i], type->name, value, &opt[i], &err);
        rc = cli_pass(read, &err);
    }
    return rc;
}

static int open_env(cli_job *job, const cli_args *args)
{
    rh_error err;
    const rh_env_type *type = cli_env_find(args);
    if (!type)
        return CLI_USAGE;
    double *opt = rh_alloc((size_t)type->nparam + 1, sizeof *opt);
    if (!opt)
        return cli_fail("out of memory");
    rh_param_initial(type->param, type->nparam, opt);
    int rc = cli_env_values(args, type, opt);
    if (!rc)
        rc = cli_pass(rh_env_create(&job->env, type, opt, &err), &err);
    rh_free(opt);
    return rc;
}

// SENSOR=LO:HI into the task the agents are told.
static int set_range(cli_job *job, const char *pair)
{
    char name[64], *end;
    const char *value;
    rh_error err;
    rh_task *task = &job->task;
    cli_split(pair, name, &value);
    int i = 0;
    while (i < task->nobs && strcmp(task->obs_name[i], name) != 0)
        i++;
    if (i == task->nobs) {
        char what[96];
        snprintf(what, sizeof what, "%s: no sensor", rh_env_kind(job->env)->name);
        return cli_pass(rh_unknown(&err, what, name, task->obs_name, task->nobs), &err);
    }

    double lo = strtod(value, &end), hi = NAN;
    bool read = end != value && *end == ':';
    if (read) {
        value = end + 1;
        hi = strtod(value, &end);
        read = end != value && !*end;
    }
    if (!read || !isfinite(lo) || !isfinite(hi) || !(lo < hi))
        return cli_refuse("--range %s, expected SENSOR=LO:HI with LO below HI", pair);
    task->obs_lo[i] = lo;
    task->obs_hi[i] = hi;
    job->ranged[i] = true;
    return CLI_OK;
}

static int read_options(cli_job *job, const cli_args *args)
{
    rh_eval_options *opt = &job->opt;
    if (cli_has(args, "cutoff-as") && !cli_has(args, "cutoff"))
        return cli_refuse("--cutoff-as says how, and --cutoff is missing to say when");
    *opt = rh_eval_defaults(&job->task);
    opt->nstep = cli_number(args, "steps", opt->nstep);
    opt->nrun = (int)cli_number(args, "runs", opt->nrun);
    opt->seed = (uint64_t)cli_number(args, "seed", (int64_t)opt->seed);
    opt->nthread = (int)cli_number(args, "jobs", cli_ncpu());
    opt->criterion = (rh_criterion)cli_number(args, "criterion", opt->criterion);
    opt->cutoff = cli_number(args, "cutoff", opt->cutoff);
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

    int rc = open_env(job, args);
    if (rc)
        return rc;
    job->task = *rh_env_task(job->env);
    const char *pair;
    for (int at = 0; !rc && (pair = cli_each(args, "range", &at)) != NULL;)
        rc = set_range(job, pair);
    return rc ? rc : read_options(job, args);
}

void cli_job_clear(cli_job *job)
{
    rh_env_destroy(job->env);
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
