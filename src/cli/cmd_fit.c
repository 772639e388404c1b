// cmd_fit.c - rehearse fit: fit a calibration model to a log.
//
// 1. Options are checked before the log is read, and what depends on the log before anything
//    is learned from it. Whether the file can be written is checked early too.
// 2. An interrupted fit leaves no file.

#include "cli_internal.h"

#include <string.h>
#include <sys/stat.h>

static const rh_key main_option[] = {
    {NULL, "output", 'o', RH_KEY_FILE, "FILE", .about = "file for the model",
     .initial = "the log's name with .model"},
    {NULL, "jobs", 'j', RH_KEY_WHOLE, "N", .about = "threads; does not change results",
     .initial = "all CPUs", .lo = 1, .hi = 4096},
    {0},
};

static const rh_key output_option[] = {
    {NULL, "no-fidelity", 0, RH_KEY_FLAG, NULL,
     .about = "do not compare the model with the log"},
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "one JSON document on standard output"},
    {NULL, "strict", 0, RH_KEY_FLAG, NULL,
     .about = "exit code 1 if the log or the comparison has errors or warnings"},
    {NULL, "quiet", 'q', RH_KEY_FLAG, NULL, .about = "print nothing"},
    {0},
};

static const cli_group main_group = {CLI_MAIN, main_option};
static const cli_group output_group = {"output", output_option};

static void clear(cli_fitting *fit)
{
    rh_model_destroy(fit->model);
    rh_plan_destroy(fit->plan);
    rh_log_report_destroy(fit->report);
    cli_log_clear(&fit->log);
    cli_log_clear(&fit->starts);
    rh_free(fit->trial);
    rh_free(fit->output);
}

// ---------------------------------------------------------------------------- names of files

// --output, or the log's path with another ending.
static int name_output(cli_fitting *fit)
{
    const char *given = cli_value(fit->args, "output");
    bool several = fit->args->nword > 1; // the first gives its name
    const char *from = given ? given : several ? fit->args->word[0] : fit->log.log->path;
    size_t n = strlen(from);
    if (!given && strcmp(from, "standard input") == 0)
        return cli_refuse("fit: --output is missing: a log from standard input has no name");
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

// The log, the starts, and where the model goes.
static int open_files(cli_fitting *fit)
{
    const cli_args *args = fit->args;
    const char *starts = rh_plan_text(fit->plan, "starts");
    const char *roles = cli_is_yaml(args->word[0]) ? args->word[0] : NULL;
    const char *data = roles ? NULL : rh_plan_text(fit->plan, "data");
    int rc = cli_log_read_as(&fit->log, args, data, roles);
    if (!rc && starts)
        rc = cli_is_yaml(starts) ? cli_log_read(&fit->starts, args, starts)
                                 : cli_log_read_as(&fit->starts, args, starts, roles);
    if (!rc)
        rc = name_output(fit);
    if (!rc && cli_same_file(fit->output, fit->log.log->path))
        rc = cli_refuse("fit: --output %s is the log itself", fit->output);
    if (!rc && starts && cli_same_file(fit->output, fit->starts.log->path))
        rc = cli_refuse("fit: --output %s is the log of --starts", fit->output);
    return rc ? rc : cli_file_probe(fit->output, false);
}

// ---------------------------------------------------------------------------- the work

// The plan, and the files it names. Everything that can be refused is refused here.
static int prepare(cli_fitting *fit, rh_fit_options *opt)
{
    const cli_args *args = fit->args;
    rh_error err;
    if (cli_has(args, "json") && cli_has(args, "quiet"))
        return cli_refuse("--json and --quiet cannot be used together");
    if (cli_has(args, "no-fidelity") && cli_has(args, "strict"))
        return cli_refuse("--strict needs the comparison that --no-fidelity leaves out");
    *opt = rh_fit_defaults();
    opt->nthread = (int)cli_number(args, "jobs", cli_ncpu());
    opt->fidelity = !cli_has(args, "no-fidelity");
    int rc = cli_plan_init(&fit->plan, args, "data");
    if (!rc)
        rc = open_files(fit);
    if (rc)
        return rc;
    opt->starts = fit->starts.log;
    rh_status read = rh_plan_settle(fit->plan, fit->log.log, &err);
    if (!read)
        read = rh_plan_check_fit(fit->plan, fit->log.log, opt, &err);
    fit->trial = rh_alloc(RH_REPR_NTRIAL, sizeof *fit->trial);
    if (!read && !fit->trial)
        return cli_fail("out of memory");
    opt->trial = fit->trial;
    opt->ntrial = &fit->ntrial;
    rc = cli_pass(read, &err);
    return rc ? rc
              : cli_log_check(&fit->report, args, fit->plan, fit->log.log,
                              !cli_has(args, "json") && !cli_has(args, "quiet"));
}

static int make(cli_fitting *fit, rh_fit_options *opt)
{
    cli_work work;
    rh_error err;
    struct stat st;
    double begun = cli_now();
    opt->watch = cli_work_begin(&work, cli_has(fit->args, "quiet"));
    rh_status rc = rh_plan_fit(&fit->model, fit->plan, fit->log.log, opt, &err);
    cli_work_end(&work);
    if (cli_interrupted()) {
        cli_say("interrupted: no model was written");
        return CLI_SIGNAL + cli_interrupted();
    }
    if (!rc)
        rc = rh_model_write(fit->model, fit->output, &err);
    fit->seconds = cli_now() - begun;
    fit->size = !rc && stat(fit->output, &st) == 0 ? (int64_t)st.st_size : 0;
    return cli_pass_file(rc, &err);
}

static int fit_main(const cli_args *args)
{
    cli_fitting fit = {.args = args};
    rh_fit_options opt;
    if (args->nword < 1) {
        cli_refuse("fit: no name, expected a log, several logs of one plant, or a study file");
        cli_try("rehearse fit plant.csv");
        return CLI_USAGE;
    }
    int rc = prepare(&fit, &opt);
    if (!rc)
        rc = make(&fit, &opt);
    if (rc)
        goto done;
    if (cli_has(args, "json"))
        cli_fit_json(stdout, &fit);
    else if (!cli_has(args, "quiet"))
        cli_fit_print(&fit);
    const rh_fidelity *f = rh_model_fidelity(fit.model);
    const int *log = fit.report->findings.count, *model = f ? f->findings.count : log;
    if (cli_has(args, "strict") &&
        log[RH_ERROR] + log[RH_WARNING] + model[RH_ERROR] + model[RH_WARNING] > 0)
        rc = CLI_FAILED;

done:
    clear(&fit);
    return rc;
}

const cli_command cli_fit = {
    .name = "fit",
    .about = "Fit a calibration model to a log: an environment for rehearsals",
    .operands = "LOG...|STUDY.yaml [options]",
    .detail =
        "The model assumes that similar states continue similarly: a step in it is a step that "
        "the log recorded from a similar state. `run` and `sweep` accept the model as "
        "model:FILE wherever they accept a simulator. The output says how closely the model "
        "behaves like the log; read its findings before you trust it. Several logs of one "
        "plant are joined. From a study file the keys about the log, the model and the task "
        "are used.",
    .operand = {.type = RH_KEY_FILE},
    .plan = RH_PLAN_FIT,
    .group = {&main_group, &output_group, &cli_log_group, &cli_common_group},
    .example = {"fit a model and run an agent in it",
                "rehearse fit plant.csv && rehearse run model:plant.model --agent esarsa",
                "an ensemble of ten models, each of nine tenths of the log",
                "rehearse fit plant.csv --members 10 -o ten.model",
                "raw sensors, five neighbours, a smaller coverage radius",
                "rehearse fit plant.csv --repr raw --k 5 --reach 95%", "as in the paper",
                "rehearse fit acrobot.csv --task acrobot --preset paper"},
    .see = "docs/fit.md explains the output; `rehearse list models` and `rehearse list "
           "representations` show all parameters; `rehearse inspect LOG` checks the log.",
    .single = true,
    .main = fit_main,
};
