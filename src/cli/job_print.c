// job_print.c - a job in words and in JSON: all that is needed to do it again.

#include "cli_internal.h"

#include <string.h>

// name=value of the parameters that have, or have not, their default; broken at 80 columns.
// Nullable: skip (nparam).
static void print_values(FILE *out, const char *label, const char *head, const rh_param *param,
                         int nparam, const double *value, const bool *skip, bool usual)
{
    int column = 0;
    if (*head)
        column = fprintf(out, "%-12s %s", label, head);
    for (int i = 0; i < nparam; i++) {
        if ((value[i] == param[i].initial) != usual || (skip && skip[i]))
            continue;
        cli_text text = cli_param(&param[i], value[i]);
        int length = (int)(strlen(param[i].name) + strlen(text.s)) + 1;
        if (column == 0)
            column = fprintf(out, "%-12s", label);
        else if (column + 2 + length > 80)
            column = fprintf(out, "\n%12s", "") - 1;
        column += fprintf(out, " %s=%s", param[i].name, text.s);
    }
    if (column)
        fputc('\n', out);
}

// A model in a line: its kind, how it was fitted, what it was fitted to.
static void print_model(FILE *out, const cli_world *world)
{
    const rh_log *log = rh_model_log(world->model);
    int n = rh_model_nmember(world->model), npool;
    fprintf(out, "  model      %s of %s steps, seen as %s", rh_model_kind(world->model)->name,
            cli_count(log->n).s, rh_repr_kind(rh_model_repr(world->model))->name);
    if (world->nmember > 1)
        fprintf(out, "; %d members, scores pooled by %s", n,
                rh_pool_names(&npool)[world->pool]);
    else if (n > 1)
        fprintf(out, "; member %d of %d", world->member, n);
    fputc('\n', out);
}

void cli_job_print(FILE *out, const cli_job *job)
{
    const rh_env_type *env = cli_world_kind(&job->world);
    const rh_agent_type *agent = job->agent;
    const double *opt = rh_env_options(job->world.env[0]);
    print_values(out, "environment", job->world.name, env->param, env->nparam, opt, NULL,
                 false);
    if (job->world.model)
        print_model(out, &job->world);
    for (int i = 0; i < job->task.nobs; i++)
        if (job->ranged[i])
            fprintf(out, "  range      %s=%s:%s\n", job->task.obs_name[i],
                    cli_exact(job->task.obs_lo[i]).s, cli_exact(job->task.obs_hi[i]).s);
    print_values(out, "agent", agent->name, agent->param, agent->nparam, job->hp, job->swept,
                 false);
    print_values(out, "  defaults", "", agent->param, agent->nparam, job->hp, job->swept, true);
}

void cli_job_print_runs(FILE *out, const cli_job *job, const char *after)
{
    const rh_eval_options *opt = &job->opt;
    const char *name[CLI_MAX_NAMES];
    cli_names(CLI_CRITERION, name);
    fprintf(out, "runs         %s of %s step%s%s%s, seed %llu, scored by %s\n",
            cli_count(opt->nrun).s, cli_count(opt->nstep).s, cli_plural(opt->nstep), after,
            job->world.nmember > 1 ? (*after ? ", in each member" : " in each member") : "",
            (unsigned long long)opt->seed, name[opt->criterion]);
    if (opt->cutoff != INT64_MAX) {
        cli_names(CLI_CUTOFF_RULE, name);
        if (job->task.continuing)
            fputs("  cut-off    none: the task is continuing, and has no episodes\n", out);
        else
            fprintf(out, "  cut-off    after %s steps of an episode, as a %s%s%s\n",
                    cli_count(opt->cutoff).s, name[opt->cutoff_rule],
                    opt->cutoff_rule == RH_TERMINATE ? " state" : "",
                    job->usual ? "; usual in a model" : "");
    }
    if (job->loaded)
        fprintf(out, "  loaded     %s\n", job->loaded);
    if (opt->frozen)
        fputs("  frozen     the agent acts and does not learn\n", out);
}

static void json_values(cli_json *json, const char *key, const rh_param *param, int nparam,
                        const double *value, const bool *skip)
{
    cli_json_open(json, key, '{', true);
    for (int i = 0; i < nparam; i++)
        if (!skip || !skip[i])
            cli_json_param(json, &param[i], value[i]);
    cli_json_close(json);
}

static void json_ranges(cli_json *json, const cli_job *job)
{
    cli_json_open(json, "ranges", '{', true);
    for (int i = 0; i < job->task.nobs; i++) {
        if (!job->ranged[i])
            continue;
        cli_json_open(json, job->task.obs_name[i], '[', true);
        cli_json_real(json, NULL, job->task.obs_lo[i]);
        cli_json_real(json, NULL, job->task.obs_hi[i]);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void json_model(cli_json *json, const cli_world *world)
{
    int n;
    char fingerprint[32];
    snprintf(fingerprint, sizeof fingerprint, "%016llx",
             (unsigned long long)rh_model_fingerprint(world->model));
    cli_json_open(json, "model", '{', true);
    cli_json_text(json, "file", world->path);
    cli_json_text(json, "kind", rh_model_kind(world->model)->name);
    cli_json_text(json, "representation", rh_repr_kind(rh_model_repr(world->model))->name);
    cli_json_text(json, "fingerprint", fingerprint);
    cli_json_whole(json, "members", rh_model_nmember(world->model));
    if (world->nmember > 1)
        cli_json_text(json, "pool", rh_pool_names(&n)[world->pool]);
    else
        cli_json_whole(json, "member", world->member);
    cli_json_close(json);
}

void cli_job_json(cli_json *json, const cli_job *job)
{
    const rh_env_type *env = cli_world_kind(&job->world);
    const rh_eval_options *opt = &job->opt;
    const char *name[CLI_MAX_NAMES];

    cli_json_text(json, "version", rh_version());
    cli_json_text(json, "env", job->world.name);
    json_values(json, "env_options", env->param, env->nparam, rh_env_options(job->world.env[0]),
                NULL);
    if (job->world.model)
        json_model(json, &job->world);
    json_ranges(json, job);
    cli_json_text(json, "agent", job->agent->name);
    json_values(json, "hyperparameters", job->agent->param, job->agent->nparam, job->hp,
                job->swept);
    cli_json_whole(json, "steps", opt->nstep);
    cli_json_whole(json, "runs", opt->nrun);
    cli_json_whole(json, "seed", (int64_t)opt->seed);
    cli_names(CLI_CRITERION, name);
    cli_json_text(json, "criterion", name[opt->criterion]);
    if (opt->cutoff == INT64_MAX) {
        cli_json_null(json, "cutoff");
    } else {
        cli_json_whole(json, "cutoff", opt->cutoff);
        cli_names(CLI_CUTOFF_RULE, name);
        cli_json_text(json, "cutoff_as", name[opt->cutoff_rule]);
    }
}
