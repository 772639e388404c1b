// fit_args.c - what the command line of `fit` asks for.
//
// 1. --k and --reach are other words for parameters of the model, for those that everybody
//    turns; --set reaches all. The same one twice is refused.
// 2. --preset stands below what is said beside it: --preset paper --k 5 is the paper's with
//    five neighbours.
// 3. What only the library can refuse, a task that does not fit the log or members that would
//    be equal, it is asked before the representation is learned.

#include "cli_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAPER_REPR "laplacian"

// One parameter of the model by its name; option: which one asked for it.
static int set_param(cli_fitting *fit, const char *option, const char *name, const char *value)
{
    rh_error err;
    const rh_model_type *type = fit->type;
    int i = rh_param_find(type->param, type->nparam, name);
    if (i < 0)
        return cli_refuse("fit: --%s is not for the model %s", option, type->name);
    return cli_pass(rh_param_parse(&type->param[i], type->name, value, &fit->param[i], &err),
                    &err);
}

// ---------------------------------------------------------------------------- the model

// auto, none, 95% or 0.3
static int read_reach(cli_fitting *fit, const char *text)
{
    static const char expected[] =
        "expected auto, none, a share of all queries such as 99%, or a distance such as 0.3";
    char *end, number[32];
    if (strcmp(text, "auto") == 0 || strcmp(text, "none") == 0)
        return set_param(fit, "reach", "reach", text);
    double x = strtod(text, &end);
    bool share = end != text && strcmp(end, "%") == 0;
    if (end == text || (*end && !share) || !(x > 0.0) || !isfinite(x) || (share && x > 100.0))
        return cli_refuse("fit: --reach = %s, %s", text, expected);
    snprintf(number, sizeof number, "%.17g", share ? x / 100.0 : x);
    int rc = set_param(fit, "reach", "reach", share ? "quantile" : "fixed");
    return rc ? rc
              : set_param(fit, "reach", share ? "reach_quantile" : "reach_distance", number);
}

// Whether --set names a parameter that --k or --reach has set.
static int check_twice(const cli_fitting *fit, const char *name)
{
    static const char *const of_reach[] = {"reach", "reach_quantile", "reach_distance"};
    bool twice = strcmp(name, "k") == 0 && cli_has(fit->args, "k");
    for (int i = 0; i < 3; i++)
        twice = twice || (strcmp(name, of_reach[i]) == 0 && cli_has(fit->args, "reach"));
    return twice ? cli_refuse("fit: --set %s and --%s: the same thing twice", name,
                              strcmp(name, "k") == 0 ? "k" : "reach")
                 : CLI_OK;
}

static int read_model(cli_fitting *fit)
{
    static const rh_setting paper[] = {
        {"weights", "paper"}, {"distance", "norm"}, {"reach", "none"}, {"k", "3"}};
    const cli_args *args = fit->args;
    const char *pair, *value;
    rh_error err;
    fit->type = rh_model_type_at((int)cli_number(args, "model", 0));
    const rh_model_type *type = fit->type;
    fit->param = rh_alloc((size_t)type->nparam + 1, sizeof *fit->param);
    if (!fit->param)
        return cli_fail("out of memory");
    rh_param_initial(type->param, type->nparam, fit->param);

    int rc = CLI_OK;
    for (size_t i = 0; cli_has(args, "preset") && i < sizeof paper / sizeof *paper && !rc; i++)
        rc = set_param(fit, "preset paper", paper[i].name, paper[i].value);
    if (!rc && cli_has(args, "k"))
        rc = set_param(fit, "k", "k", cli_value(args, "k"));
    if (!rc && cli_has(args, "reach"))
        rc = read_reach(fit, cli_value(args, "reach"));
    for (int at = 0; !rc && (pair = cli_each(args, "set", &at)) != NULL;) {
        char name[64];
        int i;
        cli_split(pair, name, &value);
        rh_status read = rh_param_lookup(type->param, type->nparam, type->name, name, &i, &err);
        rc = read ? cli_pass(read, &err) : check_twice(fit, name);
        if (!rc)
            rc = set_param(fit, "set", name, value);
    }
    return rc;
}

static int read_members(cli_fitting *fit)
{
    const cli_args *args = fit->args;
    rh_model_options *opt = &fit->opt;
    opt->nmember = (int)cli_number(args, "members", 1);
    bool several = opt->nmember > 1;
    opt->resample = (rh_resample)cli_number(args, "resample",
                                            several ? RH_RESAMPLE_SUBSET : RH_RESAMPLE_ALL);
    opt->share = cli_real_number(args, "share", opt->share);
    if (cli_has(args, "share") && opt->resample != RH_RESAMPLE_SUBSET)
        return cli_refuse("fit: --share is for --resample subset");
    if (cli_has(args, "share") && !(opt->share > 0.0 && opt->share <= 1.0))
        return cli_refuse("fit: --share = %s, expected above 0, to 1",
                          cli_value(args, "share"));
    return CLI_OK;
}

// ---------------------------------------------------------------------------- what is seen

// --repr-preset, or that of --preset paper unless --repr asks for another kind; NULL for none.
static int find_preset(const cli_fitting *fit, const rh_repr_preset **preset)
{
    rh_error err;
    const char *name = cli_value(fit->args, "repr-preset");
    const char *repr = cli_value(fit->args, "repr");
    *preset = NULL;
    if (!name && cli_has(fit->args, "preset") && (!repr || strcmp(repr, PAPER_REPR) == 0)) {
        if (!fit->task_of) {
            cli_refuse("fit: --preset paper: the paper has one for each environment");
            cli_try("--task acrobot, puddle_world or cartpole");
            return CLI_USAGE;
        }
        name = fit->task_of->name;
    }
    if (!name)
        return CLI_OK;
    *preset = rh_repr_preset_find(name, &err);
    return *preset ? CLI_OK : cli_refuse("%s", err.text);
}

static int set_seen(cli_fitting *fit)
{
    rh_error err;
    const rh_repr_type *type = fit->seen;
    const char *pair, *value;
    int rc = CLI_OK;
    for (int at = 0; !rc && (pair = cli_each(fit->args, "repr-set", &at)) != NULL;) {
        char name[64];
        int i;
        cli_split(pair, name, &value);
        rh_status read = rh_param_lookup(type->param, type->nparam, type->name, name, &i, &err);
        if (!read)
            read =
                rh_param_parse(&type->param[i], type->name, value, &fit->seen_param[i], &err);
        rc = cli_pass(read, &err);
    }
    return rc;
}

static int read_repr(cli_fitting *fit)
{
    const cli_args *args = fit->args;
    const rh_repr_preset *preset = NULL;
    rh_error err;
    int rc = find_preset(fit, &preset);
    if (rc)
        return rc;
    const char *name = cli_value(args, "repr");
    fit->repr_opt.actions = cli_has(args, "joint");
    if (name && preset && strcmp(name, preset->type) != 0)
        return cli_refuse("fit: --repr %s, and --repr-preset %s is of %s", name, preset->name,
                          preset->type);
    if (name && strcmp(name, "auto") == 0) {
        if (cli_has(args, "repr-set"))
            return cli_refuse("fit: --repr auto chooses, and --repr-set would too");
        return CLI_OK;
    }
    fit->seen = rh_repr_find(preset ? preset->type : name ? name : PAPER_REPR, &err);
    if (!fit->seen)
        return cli_refuse("%s", err.text);
    fit->seen_param = rh_alloc((size_t)fit->seen->nparam + 1, sizeof *fit->seen_param);
    if (!fit->seen_param)
        return cli_fail("out of memory");
    rh_param_initial(fit->seen->param, fit->seen->nparam, fit->seen_param);
    if (preset)
        rc = cli_pass(rh_repr_preset_apply(preset, fit->seen_param, &err), &err);
    return rc ? rc : set_seen(fit);
}

// ---------------------------------------------------------------------------- the task

static int read_task(cli_fitting *fit)
{
    const cli_args *args = fit->args;
    const char *name = cli_value(args, "task");
    rh_error err;
    if (!name)
        return cli_has(args, "env-set")
                   ? cli_refuse("fit: --env-set is for the environment of --task")
                   : CLI_OK;
    const rh_env_type *type = rh_env_find(name, &err);
    if (!type) {
        cli_refuse("%s", err.text);
        cli_try("rehearse list envs");
        return CLI_USAGE;
    }
    fit->task_of = type;
    double *opt = rh_alloc((size_t)type->nparam + 1, sizeof *opt);
    if (!opt)
        return cli_fail("out of memory");
    rh_param_initial(type->param, type->nparam, opt);
    int rc = cli_env_values(args, type->name, type->param, type->nparam, opt);
    if (!rc)
        rc = cli_pass(rh_env_create(&fit->task_env, type, opt, &err), &err);
    rh_free(opt);
    return rc;
}

static int read_rest(cli_fitting *fit)
{
    const cli_args *args = fit->args;
    rh_model_options *opt = &fit->opt;
    if (cli_has(args, "json") && cli_has(args, "quiet"))
        return cli_refuse("--json and --quiet cannot both be had");
    if (cli_has(args, "no-fidelity") && cli_has(args, "strict"))
        return cli_refuse("--strict goes by the model's fidelity, and --no-fidelity leaves it "
                          "out");
    opt->gamma = cli_real_number(args, "gamma", NAN);
    if (!isnan(opt->gamma) && !(opt->gamma >= 0.0 && opt->gamma <= 1.0))
        return cli_refuse("fit: --gamma = %s, expected 0 to 1", cli_value(args, "gamma"));
    opt->episodes = (rh_episodes)cli_number(args, "continuing", RH_EPISODES_AUTO);
    opt->seed = (uint64_t)cli_number(args, "seed", 1);
    opt->nthread = (int)cli_number(args, "jobs", cli_ncpu());
    opt->fidelity = !cli_has(args, "no-fidelity");
    fit->repr_opt.seed = opt->seed;
    return CLI_OK;
}

int cli_fit_options(cli_fitting *fit)
{
    fit->opt = rh_model_defaults();
    fit->repr_opt = rh_repr_defaults();
    int rc = read_rest(fit);
    if (!rc)
        rc = read_model(fit);
    if (!rc)
        rc = read_members(fit);
    if (!rc)
        rc = read_task(fit);
    return rc ? rc : read_repr(fit);
}

// ---------------------------------------------------------------------------- with the log

static int read_ranges(cli_fitting *fit)
{
    const rh_log *log = fit->log.log;
    const char *pair;
    if (!cli_has(fit->args, "range"))
        return CLI_OK;
    fit->obs_lo = rh_alloc((size_t)log->nobs, sizeof *fit->obs_lo);
    fit->obs_hi = rh_alloc((size_t)log->nobs, sizeof *fit->obs_hi);
    if (!fit->obs_lo || !fit->obs_hi)
        return cli_fail("out of memory");
    for (int i = 0; i < log->nobs; i++)
        fit->obs_lo[i] = fit->obs_hi[i] = NAN;
    for (int at = 0; (pair = cli_each(fit->args, "range", &at)) != NULL;) {
        double lo, hi;
        int i;
        int rc = cli_range_read(pair, log->path, log->obs_name, log->nobs, &i, &lo, &hi);
        if (rc)
            return rc;
        fit->obs_lo[i] = lo;
        fit->obs_hi[i] = hi;
    }
    fit->opt.obs_lo = fit->obs_lo;
    fit->opt.obs_hi = fit->obs_hi;
    return CLI_OK;
}

// Whether an episode has more than one step, so that something can be learned from their order.
static bool has_order(const rh_log *log)
{
    return log->n > log->nepisode;
}

int cli_fit_task(cli_fitting *fit)
{
    rh_error err;
    const rh_log *log = fit->log.log;
    if (fit->repr_opt.actions && log->naction)
        return cli_refuse(
            "fit: --joint is for continuous actions, and those of %s are discrete", log->path);
    if (fit->task_of) {
        fit->task = *rh_env_task(fit->task_env);
        if (!isnan(fit->opt.gamma))
            fit->task.gamma = fit->opt.gamma;
        if (fit->opt.episodes != RH_EPISODES_AUTO)
            fit->task.continuing = fit->opt.episodes == RH_EPISODES_CONTINUE;
        fit->opt.task = &fit->task;
    }

    // a log without order is seen as it is, unless something else was asked for
    const cli_args *args = fit->args;
    bool asked =
        cli_has(args, "repr") || cli_has(args, "repr-preset") || cli_has(args, "preset");
    if (fit->seen && fit->seen->ordered && !has_order(log) && !asked) {
        if (cli_has(args, "repr-set"))
            return cli_refuse("fit: %s: its steps have no order that %s could learn from; "
                              "try --repr raw",
                              log->path, fit->seen->name);
        fit->seen = rh_repr_find("raw", &err);
        if (!fit->seen)
            return cli_refuse("%s", err.text);
        rh_free(fit->seen_param);
        fit->seen_param = rh_alloc((size_t)fit->seen->nparam + 1, sizeof *fit->seen_param);
        if (!fit->seen_param)
            return cli_fail("out of memory");
        rh_param_initial(fit->seen->param, fit->seen->nparam, fit->seen_param);
    }

    int rc = read_ranges(fit);
    fit->opt.param = fit->param;
    return rc ? rc : cli_pass(rh_model_check(fit->type, log, &fit->opt, &err), &err);
}
