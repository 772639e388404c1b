// job_print.c - what `run` and `sweep` will do, in words and in JSON.

#include "base/base.h"
#include "cli_internal.h"
#include "eval/eval.h"

#include <string.h>

// " name=value" of unswept parameters at their default (initial) or not. Nullable: swept.
static void add_values(char *text, size_t size, const rh_param *param, int nparam,
                       const double *value, const bool *swept, bool initial)
{
    for (int i = 0; i < nparam; i++) {
        if ((value[i] == param[i].initial) == initial && !(swept && swept[i]))
            rh_text__put(text, size, "%s%s=%s", *text ? " " : "", param[i].name,
                         cli_param(&param[i], value[i]).s);
    }
}

static void print_model(const cli_world *world)
{
    int n = rh_model_nmember(world->model), npool;
    char members[96] = "";
    if (world->nmember > 1)
        snprintf(members, sizeof members, "; %d members, pooled by %s", n,
                 rh_pool__names(&npool)[world->pool]);
    else if (n > 1)
        snprintf(members, sizeof members, "; member %d of %d", world->member, n);
    cli_line("  model", "%s, %s steps, representation %s%s",
             rh_model_type_of(world->model)->name, cli_count(rh_model_log(world->model)->n).s,
             rh_repr_type_of(rh_model_repr(world->model))->name, members);
}

// "54 settings: alpha (3) x tau (2)"
static void print_grid(const cli_grid *grid, const rh_param *param)
{
    char text[700];
    snprintf(text, sizeof text, "%s setting%s", cli_count(grid->nsetting).s,
             cli_plural(grid->nsetting));
    for (int i = 0; i < grid->naxis; i++)
        rh_text__put(text, sizeof text, "%s%s (%d)", i ? " x " : ": ",
                     param[grid->axis[i].param].name, grid->axis[i].nvalue);
    cli_line("sweep", "%s", text);
}

void cli_runs_print(const cli_runs_line *line)
{
    const rh_eval_options *opt = line->opt;
    const char *per = line->settings && line->nmember > 1 ? " per setting and member"
                      : line->settings                    ? " per setting"
                      : line->nmember > 1                 ? " per member"
                                                          : "";
    char pooled[96] = "";
    if (line->pool && line->nmember > 1)
        snprintf(pooled, sizeof pooled, ", %d members pooled by %s", line->nmember, line->pool);
    cli_line("runs", "%s%s of %s step%s%s, seed %llu, criterion %s%s%s%s", line->before,
             cli_count(opt->nrun).s, cli_count(opt->nstep).s, cli_plural(opt->nstep), per,
             (unsigned long long)opt->seed,
             cli_plan_word("evaluation.criterion", (int)opt->criterion),
             line->across ? ", across runs " : "", line->across ? line->across : "", pooled);
    if (opt->cutoff == INT64_MAX)
        return;
    if (line->continuing)
        cli_line("  cutoff", "none: a continuing task has no episodes");
    else
        cli_line("  cutoff", "episodes are %s after %s steps%s",
                 opt->cutoff_rule == RH_TRUNCATE ? "truncated" : "terminated",
                 cli_count(opt->cutoff).s, line->usual ? " (default for a model)" : "");
}

void cli_job_print(const cli_job *job, const cli_grid *grid)
{
    const rh_env_type *env = cli_world_kind(&job->world);
    const rh_agent_type *agent = job->agent;
    cli_runs_line line = {.opt = &job->opt,
                          .before = "",
                          .nmember = job->world.nmember,
                          .settings = grid != NULL,
                          .continuing = job->task.continuing,
                          .usual = job->usual};
    char text[1400];
    snprintf(text, sizeof text, "%.600s", job->world.name);
    add_values(text, sizeof text, env->param, env->nparam,
               rh_contract__env_options(job->world.env[0]), NULL, false);
    cli_line("environment", "%s", text);
    if (job->world.model)
        print_model(&job->world);
    for (int i = 0; i < job->task.nobs; i++)
        if (job->ranged[i])
            cli_line("  range", "%s=%s:%s", job->task.obs_name[i],
                     cli_exact(job->task.obs_lo[i]).s, cli_exact(job->task.obs_hi[i]).s);
    snprintf(text, sizeof text, "%s", agent->name);
    add_values(text, sizeof text, agent->param, agent->nparam, job->hp, job->swept, false);
    cli_line("agent", "%s", text);
    text[0] = 0;
    add_values(text, sizeof text, agent->param, agent->nparam, job->hp, job->swept, true);
    if (*text)
        cli_line("  defaults", "%s", text);
    if (grid)
        print_grid(grid, agent->param);
    cli_runs_print(&line);
    if (job->loaded)
        cli_line("  loaded", "%s", job->loaded);
    if (job->opt.frozen)
        cli_line("  frozen", "the agent does not learn");
}

static void json_ranges(rh_doc *json, const cli_job *job)
{
    rh_doc__open(json, "ranges", '{', true);
    for (int i = 0; i < job->task.nobs; i++) {
        if (!job->ranged[i])
            continue;
        rh_doc__open(json, job->task.obs_name[i], '[', true);
        rh_doc__real(json, NULL, job->task.obs_lo[i]);
        rh_doc__real(json, NULL, job->task.obs_hi[i]);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static void json_model(rh_doc *json, const cli_world *world)
{
    int n;
    rh_doc__open(json, "model", '{', true);
    rh_doc__text(json, "file", world->path);
    rh_doc__text(json, "kind", rh_model_type_of(world->model)->name);
    rh_doc__text(json, "representation", rh_repr_type_of(rh_model_repr(world->model))->name);
    cli_json_fingerprint(json, world->model);
    rh_doc__whole(json, "members", rh_model_nmember(world->model));
    if (world->nmember > 1)
        rh_doc__text(json, "pool", rh_pool__names(&n)[world->pool]);
    else
        rh_doc__whole(json, "member", world->member);
    rh_doc__close(json);
}

void cli_job_json(rh_doc *json, const cli_job *job)
{
    const rh_env_type *env = cli_world_kind(&job->world);
    const rh_eval_options *opt = &job->opt;

    rh_doc__text(json, "version", rh_version());
    rh_doc__text(json, "env", job->world.name);
    rh_doc__params(json, "env_options", env->param, env->nparam,
                   rh_contract__env_options(job->world.env[0]), NULL);
    if (job->world.model)
        json_model(json, &job->world);
    json_ranges(json, job);
    rh_doc__text(json, "agent", job->agent->name);
    rh_doc__params(json, "hyperparameters", job->agent->param, job->agent->nparam, job->hp,
                   job->swept);
    rh_doc__whole(json, "steps", opt->nstep);
    rh_doc__whole(json, "runs", opt->nrun);
    rh_doc__whole(json, "seed", (int64_t)opt->seed);
    rh_doc__text(json, "criterion", cli_plan_word("evaluation.criterion", (int)opt->criterion));
    if (opt->cutoff == INT64_MAX) {
        rh_doc__null(json, "cutoff");
    } else {
        rh_doc__whole(json, "cutoff", opt->cutoff);
        rh_doc__text(json, "cutoff_as",
                     cli_plan_word("evaluation.cutoff_as", (int)opt->cutoff_rule));
    }
}
