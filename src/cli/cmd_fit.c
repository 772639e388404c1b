// cmd_fit.c - rehearse fit: a log becomes a model, an environment that agents can live in.
//
// 1. What can be refused is refused before the log is read, and what depends on the log before
//    anything is learned from it. That the file can be written is found out before too.
// 2. An interrupted fit leaves no file: half a model is none.

#include "cli_internal.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static const cli_option model_option[] = {
    {"model", 'm', CLI_MODEL, "KIND", .about = "what kind of model", .initial = "knn"},
    {"k", 'k', CLI_TEXT, "N", .about = "neighbours that a step is drawn from", .initial = "3"},
    {"reach", 0, CLI_TEXT, "HOW",
     .about = "how far a neighbour may be to be believed: auto, none, a share of all queries "
              "(99%) or a distance between codes (0.3)",
     .initial = "auto"},
    {"set", 's', CLI_MODEL_SET, "NAME=VALUE", .about = "any parameter of the model",
     .repeats = true},
    {"members", 0, CLI_WHOLE, "N", .about = "models, each of another part of the log",
     .initial = "1", .lo = 1, .hi = RH_MAX_MEMBER},
    {"resample", 0, CLI_RESAMPLE, "HOW",
     .about = "what each member is fitted to: all of the log, a random subset of its steps, or "
              "a bootstrap of its episodes",
     .initial = "all; of several members subset"},
    {"share", 0, CLI_REAL, "SHARE", .about = "of the steps in a subset", .initial = "0.9"},
    {"starts", 0, CLI_FILE, "LOG", .about = "a second log, whose episodes begin where runs do",
     .initial = "as in the log"},
    {0},
};

static const cli_option repr_option[] = {
    {"repr", 0, CLI_REPR, "KIND", .about = "how states are seen, and so which are alike",
     .initial = "laplacian; raw where steps have no order"},
    {"repr-set", 0, CLI_REPR_SET, "NAME=VALUE", .about = "a parameter of the representation",
     .repeats = true},
    {"repr-preset", 0, CLI_REPR_PRESET, "NAME", .about = "the paper's parameters"},
    {"joint", 0, CLI_NONE, NULL, .about = "see state and continuous action together"},
    {"preset", 0, CLI_FIT_PRESET, "NAME",
     .about = "all as in the paper, for the environment of --task"},
    {0},
};

static const cli_option task_option[] = {
    {"task", 0, CLI_ENV, "ENV",
     .about = "tell agents what this environment tells them of sensors, actions, discount and "
              "length of a run",
     .initial = "what the log shows"},
    {"env-set", 'e', CLI_ENV_SET, "NAME=VALUE", .about = "an option of that environment",
     .repeats = true},
    {"range", 0, CLI_RANGE, "SENSOR=LO:HI", .about = "the range of a sensor", .repeats = true},
    {"gamma", 0, CLI_REAL, "G", .about = "discount",
     .initial = "1 where episodes end, otherwise 0.99"},
    {"continuing", 0, CLI_EPISODES, "WORD",
     .about = "whether episodes never end; auto: when none does in the log", .initial = "auto"},
    {0},
};

static const cli_option output_option[] = {
    {"output", 'o', CLI_FILE, "FILE", .about = "the model", .initial = "LOG with .model"},
    {"no-fidelity", 0, CLI_NONE, NULL, .about = "do not compare the model with the log"},
    {"seed", 0, CLI_WHOLE, "N", .about = "what all chance comes from", .initial = "1", .lo = 0,
     .hi = INT64_MAX},
    {"jobs", 'j', CLI_WHOLE, "N", .about = "threads; changes no result", .initial = "all CPUs",
     .lo = 1, .hi = 4096},
    {"json", 0, CLI_NONE, NULL, .about = "one JSON document on standard output"},
    {"strict", 0, CLI_NONE, NULL,
     .about = "exit code 1 when the model's fidelity gives errors or warnings"},
    {"quiet", 'q', CLI_NONE, NULL, .about = "say nothing"},
    {0},
};

static const cli_group model_group = {"model", model_option};
static const cli_group repr_group = {"representation", repr_option};
static const cli_group output_group = {"output", output_option};
const cli_group cli_task_group = {"what agents are told", task_option};

static void clear(cli_fitting *fit)
{
    rh_model_destroy(fit->model);
    rh_repr_destroy(fit->repr);
    rh_env_destroy(fit->task_env);
    cli_log_clear(&fit->log);
    cli_log_clear(&fit->starts);
    rh_free(fit->param);
    rh_free(fit->seen_param);
    rh_free(fit->obs_lo);
    rh_free(fit->obs_hi);
    rh_free(fit->trial);
    rh_free(fit->output);
}

// ---------------------------------------------------------------------------- names of files

// The log's path with another ending, where --output does not say better.
static int name_output(cli_fitting *fit)
{
    const char *given = cli_value(fit->args, "output");
    const char *from = given ? given : fit->log.log->path;
    size_t n = strlen(from);
    fit->output = rh_alloc(n + sizeof ".model", 1);
    if (!fit->output)
        return cli_fail("out of memory");
    memcpy(fit->output, from, n);
    if (given)
        return CLI_OK;
    while (n > 1 && fit->output[n - 1] == '/')
        fit->output[--n] = 0;
    for (int i = 0; i < 2; i++) { // .csv.gz has two
        char *dot = strrchr(fit->output, '.'), *slash = strrchr(fit->output, '/');
        if (!dot || dot == fit->output || (slash && dot <= slash + 1))
            break;
        bool packed = strcmp(dot, ".gz") == 0;
        *dot = 0;
        if (!packed)
            break;
    }
    memcpy(fit->output + strlen(fit->output), ".model", sizeof ".model");
    return CLI_OK;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

// The log, the starts, and where the model goes.
static int open_files(cli_fitting *fit)
{
    const cli_args *args = fit->args;
    const char *starts = cli_value(args, "starts");
    int rc = cli_log_read(&fit->log, args, args->word[0]);
    if (!rc && starts)
        rc = cli_log_read(&fit->starts, args, starts);
    if (!rc)
        rc = name_output(fit);
    if (!rc && same_file(fit->output, fit->log.log->path))
        rc = cli_refuse("fit: --output %s is the log itself", fit->output);
    if (!rc && starts && same_file(fit->output, fit->starts.log->path))
        rc = cli_refuse("fit: --output %s is the log of --starts", fit->output);
    if (!rc)
        rc = cli_file_probe(fit->output, false);
    if (!rc && starts)
        fit->opt.starts = fit->starts.log;
    return rc;
}

// ---------------------------------------------------------------------------- the work

// The representation: learned, or chosen among several.
static rh_status learn(cli_fitting *fit, rh_error *err)
{
    if (fit->seen) {
        fit->repr_opt.param = fit->seen_param;
        return rh_repr_fit(&fit->repr, fit->seen, fit->log.log, &fit->repr_opt, err);
    }
    fit->trial = rh_alloc(RH_REPR_NTRIAL, sizeof *fit->trial);
    if (!fit->trial)
        return rh_fail(err, RH_ENOMEM, "fit: out of memory");
    return rh_repr_choose(&fit->repr, fit->trial, &fit->ntrial, fit->log.log, &fit->repr_opt,
                          fit->opt.nthread, err);
}

static int make(cli_fitting *fit)
{
    cli_work work;
    rh_error err;
    struct stat st;
    double begun = cli_now();
    rh_watch watch = cli_work_begin(&work, cli_has(fit->args, "quiet"));
    fit->repr_opt.watch = watch;
    fit->opt.watch = watch;
    rh_status rc = learn(fit, &err);
    if (!rc)
        rc = rh_model_fit(&fit->model, fit->type, fit->log.log, fit->repr, &fit->opt, &err);
    cli_work_end(&work);
    if (cli_interrupted()) {
        cli_say("interrupted: no model was written");
        return CLI_SIGNAL + cli_interrupted();
    }
    if (!rc)
        rc = rh_model_write(fit->model, fit->output, &err);
    fit->seconds = cli_now() - begun;
    fit->size = !rc && stat(fit->output, &st) == 0 ? (int64_t)st.st_size : 0;
    return cli_pass(rc, &err);
}

static int fit_main(const cli_args *args)
{
    cli_fitting fit = {.args = args};
    if (args->nword != 1) {
        cli_refuse("fit: %d file name%s, expected one: a log", args->nword,
                   cli_plural(args->nword));
        cli_try("rehearse fit plant.csv");
        return CLI_USAGE;
    }
    int rc = cli_fit_options(&fit);
    if (!rc)
        rc = open_files(&fit);
    if (!rc)
        rc = cli_fit_task(&fit);
    if (!rc)
        rc = make(&fit);
    if (rc)
        goto done;
    if (cli_has(args, "json"))
        cli_fit_json(stdout, &fit);
    else if (!cli_has(args, "quiet"))
        cli_fit_print(&fit);
    const rh_fidelity *f = rh_model_fidelity(fit.model);
    if (cli_has(args, "strict") && f && f->ncount[RH_ERROR] + f->ncount[RH_WARNING] > 0)
        rc = CLI_FAILED;

done:
    clear(&fit);
    return rc;
}

const cli_command cli_fit = {
    .name = "fit",
    .about = "Rebuild an environment from a log: a model that agents can live in",
    .operands = "LOG [options]",
    .detail =
        "States that are alike are taken to go on alike: what happens in the model is what "
        "happened in the log where it was most like this. `run` and `sweep` take the model "
        "wherever they take an environment, as model:FILE. What is printed says how far the "
        "model behaves like the log; read its findings before you trust it.",
    .operand = CLI_FILE,
    .group = {&model_group, &repr_group, &cli_task_group, &output_group, &cli_log_group,
              &cli_common_group},
    .example = {"a model of a plant, and a run in it",
                "rehearse fit plant.csv && rehearse run model:plant.model --agent esarsa",
                "ten models of nine tenths of the log each: how sure is the ranking?",
                "rehearse fit plant.csv --members 10 -o ten.model",
                "sensors as they are, five neighbours, none too far",
                "rehearse fit plant.csv --repr raw --k 5 --reach 95%", "as in the paper",
                "rehearse fit acrobot.csv --task acrobot --preset paper"},
    .see = "docs/fit.md explains what is printed; `rehearse list models` and `rehearse list "
           "representations` show what can be set; `rehearse inspect LOG` looks at the log "
           "itself.",
    .main = fit_main,
};
