// cmd_tune.c - rehearse tune: from a log to the setting to deploy.
//
// 1. Options are checked before the log is read, what needs the log before a model is fitted.
// 2. After an interrupt, a crash or a full disk the same command resumes the study.
// 3. Of several processes the first reads and prints. The others build the plan from the same
//    options and do the runs they are sent. Each checks the options before any waits.
// 4. When one of several processes is killed, mpirun ends the others and forwards nothing they
//    print. So with several processes, how to resume is printed at the beginning.
// 5. A folder that cannot be written and a full disk give exit code 2, before the work begins
//    and in the middle of it: the user can fix them.
// 6. If every setting diverged there is nothing to deploy: exit code 1.

#include "cli_internal.h"
#include "study/study.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODEL "model:"
#define STUDY_FILE "study.yaml" // in a study's folder

static const rh_key main_option[] = {
    {NULL, "output", 'o', RH_KEY_FILE, "FOLDER",
     .about = "study folder; an existing study is resumed",
     .initial = "the log's name with .study"},
    {NULL, "jobs", 'j', RH_KEY_WHOLE, "N", .about = "runs in parallel; does not change results",
     .initial = "all CPUs", .lo = 1, .hi = 4096},
    {NULL, "setting", 0, RH_KEY_FILE, "BEST.yaml",
     .about =
         "take the agent of an earlier best.yaml, and its values for what is not searched"},
    {NULL, "dry-run", 0, RH_KEY_FLAG, NULL,
     .about = "print the plan as a study file, with the time it would take, and stop"},
    {0},
};

static const rh_key output_option[] = {
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "one JSON document on standard output"},
    {NULL, "verbose", 'v', RH_KEY_FLAG, NULL, .about = "print the evidence, too"},
    {NULL, "strict", 0, RH_KEY_FLAG, NULL,
     .about = "exit code 1 if there are errors or warnings among the findings"},
    {NULL, "watch", 0, RH_KEY_FLAG, NULL,
     .about = "write report.html every few seconds while the study runs"},
    {NULL, "quiet", 'q', RH_KEY_FLAG, NULL,
     .about = "print nothing; results are in the folder"},
    {0},
};

static const cli_group main_group = {CLI_MAIN, main_option};
static const cli_group output_group = {"output", output_option};

static void clear(cli_tuning *tune)
{
    rh_study_destroy(tune->study);
    rh_plan_destroy(tune->plan);
    rh_model_destroy(tune->model);
    rh_log_report_destroy(tune->report);
    cli_log_clear(&tune->log);
    cli_log_clear(&tune->starts);
    rh_free(tune->folder);
    rh_text__clear(&tune->command);
}

static bool stop(void *context)
{
    (void)context;
    return cli_interrupted() != 0;
}

// Only the first process prints. mpirun gives it a terminal even for a file: it must not draw.
static void before(void)
{
    cli_launch launch = cli_launched();
    cli_hush(launch.me > 0);
    if (launch.count != 1)
        setenv("TERM", "dumb", 1);
}

// ---------------------------------------------------------------------------- the folder

// --output, or the name of the log or file without its folder and ending, with .study.
static int name_folder(cli_tuning *tune)
{
    const char *given = cli_value(tune->args, "output");
    const char *from = given ? given : tune->args->word[0];
    if (given && !*given)
        return cli_refuse("--output: an empty name, expected a folder");
    if (!given && strncmp(from, "model:", 6) == 0)
        from += 6;
    size_t n = strlen(from);
    while (n > 1 && from[n - 1] == '/')
        n--;
    tune->folder = rh_alloc(n + sizeof ".study", 1);
    if (!tune->folder)
        return cli_fail("out of memory");
    memcpy(tune->folder, from, n);
    if (given)
        return CLI_OK;
    char *slash = strrchr(tune->folder, '/');
    if (slash)
        memmove(tune->folder, slash + 1, strlen(slash));
    for (int i = 0; i < 2; i++) { // .csv.gz has two
        char *dot = strrchr(tune->folder, '.');
        if (!dot || dot == tune->folder)
            break;
        bool packed = strcmp(dot, ".gz") == 0;
        *dot = 0;
        if (!packed)
            break;
    }
    memcpy(tune->folder + strlen(tune->folder), ".study", sizeof ".study");
    return CLI_OK;
}

// Owned: the path; NULL: out of memory.
static char *in_folder(const char *folder, const char *name)
{
    rh_text path = {0};
    rh_text__format(&path, "%s/%s", folder, name);
    return path.data;
}

// A study's folder as the operand: its study file takes the place of it, as
// the only *word. Owned: *file.
static int find_study(cli_tuning *tune, cli_args *within, const char **word, char **file)
{
    const char *folder = tune->args->word[0];
    char *journal = in_folder(folder, "study.log");
    *file = in_folder(folder, STUDY_FILE);
    tune->folder = rh_base__copy(folder);
    if (!journal || !*file || !tune->folder) {
        rh_free(journal);
        return cli_fail("out of memory");
    }
    bool is_study = access(journal, F_OK) == 0, known = access(*file, R_OK) == 0;
    rh_free(journal);
    if (!is_study) {
        rh_free(tune->folder);
        tune->folder = NULL;
        return CLI_OK;
    }
    if (!known)
        return cli_refuse("%s: a study without " STUDY_FILE ", expected the command that began "
                          "it, which resumes it",
                          folder);
    if (cli_has(tune->args, "output"))
        return cli_refuse("tune: %s and --output %s: two folders of a study, expected one",
                          folder, cli_value(tune->args, "output"));
    *word = *file;
    within->word = word;
    tune->args = within;
    return CLI_OK;
}

// Keep what was asked for in the folder, so that its name alone resumes the study.
static int keep_command(const cli_tuning *tune)
{
    char *path = in_folder(tune->folder, STUDY_FILE);
    rh_file *file = NULL;
    rh_error err;
    if (!path)
        return cli_fail("out of memory");
    rh_status rc = rh_file__create(&file, path, &err);
    FILE *out = rc ? NULL : rh_file__stream(file);
    if (!rc && !out)
        rc = rh_file__cannot_write(path, errno, &err);
    if (!rc)
        fputs("# what this study does; `rehearse tune FOLDER` resumes it\n", out);
    if (!rc && tune->log.log)
        rc = rh_log_roles_write(tune->log.roles, tune->log.log, out, &err);
    if (!rc)
        rc = rh_plan__write(tune->plan, out, true, &err);
    if (rc)
        rh_file__discard(file);
    else
        rc = rh_file__commit(file, &err);
    rh_free(path);
    return cli_pass_file(rc, &err);
}

// ---------------------------------------------------------------------------- the plan

static int check_options(const cli_args *args)
{
    static const char *const pair[][2] = {{"json", "quiet"},
                                          {"json", "verbose"},
                                          {"quiet", "verbose"},
                                          {"dry-run", "quiet"},
                                          {"no-confirm", "confirm"},
                                          {"no-confirm", "confirm-members"},
                                          {"no-confirm", "confirm-runs"}};
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        if (cli_has(args, pair[i][0]) && cli_has(args, pair[i][1]))
            return cli_refuse("--%s and --%s cannot be used together", pair[i][0], pair[i][1]);
    return CLI_OK;
}

static int make_plan(cli_tuning *tune)
{
    int rc = check_options(tune->args);
    if (!rc)
        rc = cli_plan_init(&tune->plan, tune->args, "data");
    if (!rc && !rh_plan_text(tune->plan, "data"))
        rc = cli_refuse("%s: no key data, expected the path of a log", tune->args->word[0]);
    return rc;
}

// The log or model, and the log of starts.
static int read_files(cli_tuning *tune)
{
    const cli_args *args = tune->args;
    const char *data = rh_plan_text(tune->plan, "data");
    const char *starts = rh_plan_text(tune->plan, "starts");
    const char *roles = cli_is_yaml(args->word[0]) ? args->word[0] : NULL;
    rh_error err;
    if (strncmp(data, MODEL, strlen(MODEL)) == 0) {
        if (!data[strlen(MODEL)])
            return cli_refuse("tune: " MODEL ", expected " MODEL "FILE");
        return cli_pass_file(rh_model_read(&tune->model, data + strlen(MODEL), &err), &err);
    }
    int rc = cli_log_read_as(&tune->log, args, roles ? NULL : data, roles);
    if (!rc && starts)
        rc = cli_log_read_as(&tune->starts, args, starts, roles);
    return rc;
}

// ---------------------------------------------------------------------------- a dry run

static void print_estimate(const cli_tuning *tune, const rh_estimate *e)
{
    printf("# %s setting%s, %s runs of %s steps at most", cli_count(e->nsetting).s,
           cli_plural(e->nsetting), cli_count(e->nrun).s, cli_count(e->eval.nstep).s);
    if (e->nconfirm && cli_page() < 80)
        printf("\n# %s of them to confirm", cli_count(e->nconfirm).s);
    else if (e->nconfirm)
        printf(", %s of them to confirm", cli_count(e->nconfirm).s);
    printf("\n# about %s on %d thread%s: a run takes %.3g s\n", cli_seconds(e->seconds).s,
           tune->nthread, cli_plural(tune->nthread), e->seconds_per_run);
}

static void json_estimate(const cli_tuning *tune, const rh_estimate *e)
{
    const char *key, *value;
    bool open;
    rh_doc json = {.out = stdout};
    rh_doc__open(&json, NULL, '{', false);
    rh_doc__text(&json, "study", tune->folder);
    rh_doc__whole(&json, "settings", e->nsetting);
    rh_doc__whole(&json, "runs", e->nrun);
    rh_doc__whole(&json, "runs_to_confirm", e->nconfirm);
    rh_doc__whole(&json, "steps_per_run", e->eval.nstep);
    rh_doc__real(&json, "seconds_per_run", e->seconds_per_run);
    rh_doc__real(&json, "seconds", e->seconds);
    rh_doc__open(&json, "plan", '{', false);
    for (int i = 0; rh_plan_entry(tune->plan, i, &key, &value, &open); i++)
        rh_doc__text(&json, key, value);
    rh_doc__close(&json);
    rh_doc__close(&json);
}

// Stopped by a signal: what is kept, and how to resume.
static int interrupted(const cli_tuning *tune)
{
    const rh_study_progress *n = &tune->studying.progress;
    if (cli_has(tune->args, "dry-run"))
        cli_say("interrupted");
    else if (n->nrun_max == 0)
        cli_say("interrupted before the first run");
    else
        cli_say("interrupted: %s of %s runs are kept in %s; the same command resumes",
                cli_count(n->nrun).s, cli_count(n->nrun_max).s, tune->folder);
    return CLI_SIGNAL + cli_interrupted();
}

static int dry_run(cli_tuning *tune)
{
    rh_estimate estimate;
    rh_error err;
    rh_status rc = rh_study_estimate(tune->study, &estimate, &err);
    cli_studying_end(&tune->studying);
    if (rc == RH_ESTOPPED && cli_interrupted())
        return interrupted(tune);
    if (rc)
        return cli_pass(rc, &err);
    if (cli_has(tune->args, "json")) {
        json_estimate(tune, &estimate);
        return CLI_OK;
    }
    print_estimate(tune, &estimate);
    if (tune->log.log)
        rc = rh_log_roles_write(tune->log.roles, tune->log.log, stdout, &err);
    return cli_pass(rc ? rc : rh_plan_write(tune->plan, stdout, &err), &err);
}

// ---------------------------------------------------------------------------- the page

static void news(void *context, const rh_study_progress *progress)
{
    cli_tuning *tune = context;
    cli_studying_news(&tune->studying, progress);
}

// The command as a shell reads it, without options that change no result.
static int name_command(cli_tuning *tune)
{
    static const char *const left_out[] = {"json",    "quiet", "strict",
                                           "verbose", "jobs",  "watch"};
    const cli_args *args = tune->args;
    rh_text *text = &tune->command;
    rh_text__format(text, "rehearse %s", args->command->name);
    for (int i = 0; i < args->nword; i++) {
        rh_text__add(text, " ");
        rh_text__shell(text, args->word[i]);
    }
    for (int i = 0; i < args->ngiven; i++) {
        const cli_given *given = &args->given[i];
        bool skip = false;
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
            skip = skip || strcmp(given->option->option, left_out[k]) == 0;
        if (skip)
            continue;
        rh_text__format(text, " --%s", given->option->option);
        if (given->value) {
            rh_text__add(text, "=");
            rh_text__shell(text, given->value);
        }
    }
    return text->bad ? cli_fail("out of memory") : CLI_OK;
}

// ---------------------------------------------------------------------------- the study

static int take_up(cli_tuning *tune)
{
    bool dry = cli_has(tune->args, "dry-run");
    bool quiet = cli_has(tune->args, "quiet");
    rh_study_options opt = rh_study_defaults();
    rh_error err;
    cli_studying_begin(&tune->studying, tune->plan, dry ? NULL : tune->folder, quiet);
    opt.folder = dry ? NULL : tune->folder;
    opt.nthread = tune->nthread;
    opt.ranks = tune->ranks;
    opt.progress = news;
    opt.stop = stop;
    opt.context = tune;
    opt.watch = !dry && cli_has(tune->args, "watch");
    opt.command = tune->command.data;
    opt.report = tune->report;
    rh_status rc = rh_study_create(&tune->study, tune->plan, tune->log.log, tune->starts.log,
                                   tune->model, &opt, &err);
    cli_studying_end(&tune->studying);
    if (rc == RH_ESTOPPED && cli_interrupted())
        return interrupted(tune);
    return cli_pass_file(rc, &err);
}

static int carry_out(cli_tuning *tune)
{
    const cli_args *args = tune->args;
    bool words = !cli_has(args, "json") && !cli_has(args, "quiet");
    rh_error err;
    if (words)
        cli_tune_head(tune);
    rh_status rc = rh_study_run(tune->study, &err);
    cli_studying_end(&tune->studying);
    if (rc == RH_ESTOPPED && cli_interrupted())
        return interrupted(tune);
    if (rc) {
        int code = cli_pass_file(rc, &err);
        if (rc == RH_EIO)
            cli_try("fix this and rerun the same command; finished runs are kept");
        return code;
    }

    tune->verdict = rh_study_verdict(tune->study);
    if (!tune->verdict)
        return cli_fail("out of memory");
    if (cli_has(args, "json")) {
        char *document = rh_study_json(tune->study);
        if (!document)
            return cli_fail("out of memory");
        fputs(document, stdout);
        rh_free(document);
    } else if (words)
        cli_tune_print(tune);
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(tune->study));
    const int *count = tune->verdict->findings.count;
    bool grave = count[RH_ERROR] + count[RH_WARNING] > 0 ||
                 (f && f->findings.count[RH_ERROR] + f->findings.count[RH_WARNING] > 0);
    bool nothing = tune->verdict->winner < 0;
    if (nothing && cli_has(args, "quiet"))
        cli_say("%s: nothing to deploy: no setting %s", tune->folder,
                tune->verdict->limiting.nearest >= 0 ? "keeps the limits"
                                                     : "has a finite score");
    return nothing || (cli_has(args, "strict") && grave) ? CLI_FAILED : CLI_OK;
}

// The first process. *sound: the others know that the study is over; otherwise abort them.
static int keep_study(cli_tuning *tune, bool *sound)
{
    rh_error err;
    int rc = read_files(tune);
    const rh_log *log = tune->model ? rh_model_log(tune->model) : tune->log.log;
    if (!rc)
        rc = cli_pass(rh_plan_settle(tune->plan, log, &err), &err);
    bool words = !cli_has(tune->args, "json") && !cli_has(tune->args, "quiet") &&
                 !cli_has(tune->args, "dry-run"); // which prints a study file
    if (!rc)
        rc = cli_log_check(&tune->report, tune->args, tune->plan, log, words);
    if (!rc)
        rc = take_up(tune);
    if (!rc && !cli_has(tune->args, "dry-run"))
        rc = keep_command(tune);
    if (!rc)
        rc = cli_has(tune->args, "dry-run") ? dry_run(tune) : carry_out(tune);
    *sound = rc == CLI_OK || tune->verdict || (tune->study && cli_interrupted());
    return rc;
}

// ---------------------------------------------------------------------------- many processes

// The other processes. After a failure the first aborts all; if it does not, this one does.
static int help(cli_tuning *tune)
{
    rh_study_options opt = rh_study_defaults();
    rh_error err;
    opt.nthread = tune->nthread;
    opt.ranks = tune->ranks;
    opt.stop = stop;
    cli_catch_signals();
    rh_status rc = rh_study_serve(tune->plan, &opt, &err);
    if (!rc)
        return CLI_OK;
    if (rc == RH_ESTOPPED && cli_interrupted())
        return CLI_SIGNAL + cli_interrupted();
    cli_launch_pause(CLI_PATIENCE);
    cli_hush(false);
    cli_say("rank %d: %s", rh_ranks_me(tune->ranks), err.text);
    rh_ranks_abort(tune->ranks, CLI_FAILED);
    return CLI_FAILED;
}

static int tune_main(const cli_args *args)
{
    cli_tuning tune = {.args = args, .launch = cli_launched()};
    bool alone = tune.launch.count == 1 || cli_has(args, "dry-run"), sound = true;
    if (args->nword < 1) {
        cli_refuse("tune: no name, expected a log, several logs of one plant, model:FILE, a "
                   "study file or the folder of a study");
        cli_try("rehearse tune plant.csv");
        return CLI_USAGE;
    }
    cli_args within = *args;
    const char *word = NULL;
    char *file = NULL;
    int rc = name_command(&tune);
    if (!rc)
        rc = find_study(&tune, &within, &word, &file);
    if (rc)
        goto done;
    tune.nthread = (int)cli_number(args, "jobs", cli_launch_jobs(&tune.launch));
    rc = make_plan(&tune);
    if (!rc && !tune.folder)
        rc = name_folder(&tune);
    if (!rc && !alone)
        rc = cli_launch_ranks("tune", &tune.launch, &tune.ranks);
    if (rc && tune.launch.me > 0)
        cli_launch_pause(CLI_GRACE);
    if (rc || (tune.launch.me > 0 && !tune.ranks)) // of a dry run, the first does it
        goto done;
    rc = tune.ranks && rh_ranks_me(tune.ranks) > 0 ? help(&tune) : keep_study(&tune, &sound);

done:
    clear(&tune);
    rh_free(file);
    if (tune.ranks && !sound && rh_ranks_count(tune.ranks) > 1) {
        fflush(stdout);
        rh_ranks_abort(tune.ranks, rc);
    }
    rh_ranks_end(tune.ranks);
    return rc;
}

const cli_command cli_tune = {
    .name = "tune",
    .about = "Choose hyperparameters from a log, and say how sure the choice is",
    .operands = "LOG...|model:FILE|STUDY.yaml|FOLDER [options]",
    .detail =
        "Fits a model of the log, searches for settings of the agent that learn well in it, "
        "and runs the leading ones again in models that the search has not seen. Everything is "
        "kept in a folder: the same command, or the name of the folder, resumes a study that "
        "was stopped, with the same result. Several logs of one plant are joined. Every option "
        "is also a key of a study file, STUDY.yaml; options override the "
        "file.",
    .operand = {.type = RH_KEY_FILE},
    .plan = RH_PLAN_TUNE,
    .group = {&main_group, &cli_best_group, &output_group, &cli_log_group, &cli_common_group},
    .example = {"the setting to deploy, and its score in the model", "rehearse tune plant.csv",
                "the plan as a study file to edit",
                "rehearse tune plant.csv --dry-run > study.yaml",
                "two hyperparameters, one of them on a log scale",
                "rehearse tune plant.csv -s alpha=0.001:1:log -s tau=1,10",
                "on four machines of a cluster",
                "srun -N 4 --ntasks-per-node 1 rehearse tune study.yaml -o plant.study"},
    .see = "docs/tune.md explains the output, docs/study-file.md the keys of a study file; "
           "`rehearse list methods` and `rehearse list agents esarsa` show all parameters.",
    .before = before,
    .main = tune_main,
};
