// cmd_tune.c - rehearse tune: from a log to the setting to deploy.
//
// 1. What can be refused is refused before the log is read, and what depends on the log before
//    a model is fitted.
// 2. The same words on the same folder go on with a study; so what to do after an interrupt, a
//    crash or a full disk is always the same: the command again.
// 3. Of several processes the first does all the reading and printing. The others know the plan
//    by the same words, and live what they are handed. Words that are refused are refused by
//    each of them, before any of them waits for another.
// 4. Where one of several processes is killed, mpirun ends the others and forwards nothing they
//    still say. So how to go on is said at the beginning too, where there are several.
// 5. A folder that cannot be written and a disk that is full are the user's to mend (exit code
//    2), before the work begins and in the middle of it.

#include "cli_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GRACE 1.0     // seconds for the first process to say what is wrong
#define PATIENCE 10.0 // and for it to end all of them

static const cli_option main_option[] = {
    {"agent", 'a', CLI_AGENT, "NAME", .about = "who learns",
     .initial = "esarsa; of continuous actions gaussian_actor_critic"},
    {"set", 's', CLI_AGENT_SET, "NAME=VALUES",
     .about = "what is tried of a hyperparameter: 0.1 alone, 0.1,0.3,1 these, 0.01:1 anything "
              "between, 0.01:1:log, 1:8:int, 0:1:0.25 multiples",
     .initial = "every one of its table that has a usual range", .repeats = true},
    {"trials", 't', CLI_TEXT, "N", .about = "settings to try",
     .initial = "100; grid and race try all"},
    {"runs", 'r', CLI_TEXT, "N", .about = "runs of a setting, each with its own chance",
     .initial = "10; race up to 30"},
    {"steps", 'n', CLI_TEXT, "N", .about = "steps of a run", .initial = "the task's own"},
    {"output", 'o', CLI_FILE, "FOLDER",
     .about = "where the study is kept; one that is there is gone on with",
     .initial = "the log's name with .study"},
    {"jobs", 'j', CLI_WHOLE, "N", .about = "runs at the same time; changes no result",
     .initial = "all CPUs", .lo = 1, .hi = 4096},
    {"dry-run", 0, CLI_NONE, NULL,
     .about = "print what would be done, and how long it would take"},
    {0},
};

static const cli_option search_option[] = {
    {"method", 0, CLI_METHOD, "NAME", .about = "how settings are searched",
     .initial = "race for up to 512 settings, otherwise bayes"},
    {"method-set", 0, CLI_METHOD_SET, "NAME=VALUE", .about = "a parameter of the method",
     .repeats = true},
    {"batch", 0, CLI_TEXT, "N",
     .about = "settings that are searched for at a time: more for more machines",
     .initial = "4 for bayes"},
    {"grid", 'g', CLI_GRID_OF, "ENV:NAME", .about = "try a published grid: acrobot:paper"},
    {"preset", 0, CLI_FIT_PRESET, "NAME",
     .about = "all as in the paper, for the environment of --task, but for what is said beside "
              "it"},
    {"seed", 0, CLI_TEXT, "N", .about = "what all chance comes from", .initial = "1"},
    {0},
};

static const cli_option judge_option[] = {
    {"criterion", 'c', CLI_CRITERION, "NAME", .about = "how a run becomes a score",
     .initial = "average"},
    {"across", 0, CLI_ACROSS, "HOW", .about = "how the scores of runs become a value",
     .initial = "mean"},
    {"pool", 0, CLI_POOL, "HOW", .about = "how the values in several members become one",
     .initial = "mean"},
    {"cutoff", 0, CLI_TEXT, "N", .about = "an episode of N steps is cut off; or never",
     .initial = "a thirtieth of the run, or twice the log's median episode"},
    {"cutoff-as", 0, CLI_CUTOFF_RULE, "RULE", .about = "what the agent sees of it",
     .initial = "truncate"},
    {"confirm", 0, CLI_TEXT, "N",
     .about = "leading settings to run again, in models that the search has not seen",
     .initial = "8"},
    {"confirm-members", 0, CLI_TEXT, "N", .about = "how many such models", .initial = "5"},
    {"confirm-runs", 0, CLI_TEXT, "N", .about = "runs of each setting in each of them",
     .initial = "10"},
    {"no-confirm", 0, CLI_NONE, NULL, .about = "choose by the search alone"},
    {0},
};

static const cli_option model_option[] = {
    {"model", 'm', CLI_MODEL, "KIND", .about = "what kind of model", .initial = "knn"},
    {"k", 'k', CLI_TEXT, "N", .about = "neighbours that a step is drawn from", .initial = "3"},
    {"reach", 0, CLI_TEXT, "HOW",
     .about = "how far a neighbour is believed: auto, none, 99% or 0.3", .initial = "auto"},
    {"model-set", 0, CLI_MODEL_SET, "NAME=VALUE", .about = "any parameter of the model",
     .repeats = true},
    {"members", 0, CLI_TEXT, "N",
     .about = "models to search in, each of another part of the log", .initial = "1"},
    {"resample", 0, CLI_RESAMPLE, "HOW", .about = "what each member is fitted to",
     .initial = "all; of several members subset"},
    {"share", 0, CLI_TEXT, "SHARE", .about = "of the steps in a subset", .initial = "0.9"},
    {"starts", 0, CLI_FILE, "LOG", .about = "a second log, whose episodes begin where runs do",
     .initial = "as in the log"},
    {"repr", 0, CLI_REPR, "KIND", .about = "how states are seen, and so which are alike",
     .initial = "laplacian; raw where steps have no order"},
    {"repr-set", 0, CLI_REPR_SET, "NAME=VALUE", .about = "a parameter of the representation",
     .repeats = true},
    {"repr-preset", 0, CLI_REPR_PRESET, "NAME", .about = "the paper's parameters"},
    {"joint", 0, CLI_NONE, NULL, .about = "see state and continuous action together"},
    {0},
};

static const cli_option output_option[] = {
    {"json", 0, CLI_NONE, NULL, .about = "one JSON document on standard output"},
    {"strict", 0, CLI_NONE, NULL,
     .about = "exit code 1 when there are errors or warnings among the findings"},
    {"quiet", 'q', CLI_NONE, NULL, .about = "say nothing; the folder has all of it"},
    {0},
};

static const cli_group main_group = {"what matters most", main_option};
static const cli_group search_group = {"search", search_option};
static const cli_group judge_group = {"how settings are judged", judge_option};
static const cli_group model_group = {"the model of the log", model_option};
static const cli_group output_group = {"output", output_option};

static void clear(cli_tuning *tune)
{
    rh_study_destroy(tune->study);
    rh_plan_destroy(tune->plan);
    rh_model_destroy(tune->model);
    cli_log_clear(&tune->log);
    cli_log_clear(&tune->starts);
    rh_free(tune->folder);
}

static void rest(double seconds)
{
    struct timespec t = {(time_t)seconds, 0};
    nanosleep(&t, NULL);
}

static bool stop(void *context)
{
    (void)context;
    return cli_interrupted() != 0;
}

// Of several processes the first speaks. mpirun puts a terminal of its own between it and what
// may be a file, so that nothing is to be drawn there.
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
        return cli_refuse("tune: --output: a folder without a name");
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

// ---------------------------------------------------------------------------- a dry run

static void print_estimate(const cli_tuning *tune, const rh_estimate *e)
{
    printf("# %s setting%s, %s runs of %s steps at most", cli_count(e->nsetting).s,
           cli_plural(e->nsetting), cli_count(e->nrun).s, cli_count(e->eval.nstep).s);
    if (e->nconfirm)
        printf(", %s of them to confirm", cli_count(e->nconfirm).s);
    printf("\n# about %s on %d thread%s: a run takes %.3g s\n", cli_seconds(e->seconds).s,
           tune->nthread, cli_plural(tune->nthread), e->seconds_per_run);
}

static void json_estimate(const cli_tuning *tune, const rh_estimate *e)
{
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{', false);
    cli_json_text(&json, "study", tune->folder);
    cli_json_whole(&json, "settings", e->nsetting);
    cli_json_whole(&json, "runs", e->nrun);
    cli_json_whole(&json, "runs_to_confirm", e->nconfirm);
    cli_json_whole(&json, "steps_of_a_life", e->eval.nstep);
    cli_json_real(&json, "seconds_of_a_life", e->seconds_per_run);
    cli_json_real(&json, "seconds", e->seconds);
    cli_tune_json_plan(&json, tune->plan);
    cli_json_close(&json);
}

// Stopped by a signal: what is kept, and how to go on.
static int interrupted(const cli_tuning *tune)
{
    const rh_study_progress *n = &tune->studying.progress;
    if (cli_has(tune->args, "dry-run"))
        cli_say("interrupted");
    else if (n->nrun_max == 0)
        cli_say("interrupted before the first run; the same command begins again");
    else
        cli_say("interrupted: %s of %s runs are done and kept in %s; the same command goes on",
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
        cli_log_roles(stdout, &tune->log);
    return cli_pass(rh_plan_write(tune->plan, stdout, &err), &err);
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
    opt.progress = cli_studying_news;
    opt.stop = stop;
    opt.context = &tune->studying;
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
            cli_try("the same command again, once that is mended: finished runs are kept");
        return code;
    }

    tune->verdict = rh_study_verdict(tune->study);
    if (!tune->verdict)
        return cli_fail("out of memory");
    if (cli_has(args, "json"))
        cli_tune_json(stdout, tune);
    else if (words)
        cli_tune_print(tune);
    const rh_fidelity *f = rh_model_fidelity(rh_study_model(tune->study));
    const int *count = tune->verdict->ncount;
    bool grave = count[RH_ERROR] + count[RH_WARNING] > 0 ||
                 (f && f->ncount[RH_ERROR] + f->ncount[RH_WARNING] > 0);
    return cli_has(args, "strict") && grave ? CLI_FAILED : CLI_OK;
}

// What the first process does: all of it. *sound: the others have been told that it is over, as
// they are by every study that was carried out as far as somebody wanted it to be.
static int keep_study(cli_tuning *tune, bool *sound)
{
    rh_error err;
    int rc = cli_tune_files(tune);
    const rh_log *log = tune->model ? rh_model_log(tune->model) : tune->log.log;
    if (!rc)
        rc = cli_pass(rh_plan_settle(tune->plan, log, &err), &err);
    if (!rc)
        rc = take_up(tune);
    if (!rc)
        rc = cli_has(tune->args, "dry-run") ? dry_run(tune) : carry_out(tune);
    *sound = rc == CLI_OK || tune->verdict || (tune->study && cli_interrupted());
    return rc;
}

// ---------------------------------------------------------------------------- many processes

// Begin MPI. Processes that do not see each other would each do all of the study.
static int begin_ranks(cli_tuning *tune)
{
    rh_error err;
    const cli_launch *launch = &tune->launch;
    if (!rh_ranks_built())
        return cli_refuse("tune: started as one of several processes, and this build has no "
                          "MPI: start one, or build where MPI is found");
    int rc = cli_pass(rh_ranks_begin(&tune->ranks, &err), &err);
    if (rc)
        return rc;
    if (rh_ranks_count(tune->ranks) == 1 && launch->count > 1) {
        cli_refuse("tune: started as one of %d processes that do not see each other",
                   launch->count);
        cli_try("srun --mpi=pmix, or mpirun of the MPI that rehearse was built with");
        return CLI_USAGE;
    }
    cli_hush(rh_ranks_me(tune->ranks) > 0);
    return CLI_OK;
}

// What the others do. Should the first not end everybody after a failure here, this one does.
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
    rest(PATIENCE);
    cli_hush(false);
    cli_say("rank %d: %s", rh_ranks_me(tune->ranks), err.text);
    rh_ranks_abort(tune->ranks, CLI_FAILED);
    return CLI_FAILED;
}

static int tune_main(const cli_args *args)
{
    cli_tuning tune = {.args = args, .launch = cli_launched()};
    bool alone = tune.launch.count == 1 || cli_has(args, "dry-run"), sound = true;
    if (args->nword != 1) {
        cli_refuse("tune: %d names, expected one: a log, a model or a study's file",
                   args->nword);
        cli_try("rehearse tune plant.csv");
        return CLI_USAGE;
    }
    tune.nthread = (int)cli_number(args, "jobs", cli_launch_jobs(&tune.launch));
    int rc = cli_tune_plan(&tune);
    if (!rc)
        rc = name_folder(&tune);
    if (!rc && !alone)
        rc = begin_ranks(&tune);
    if (rc && tune.launch.me > 0)
        rest(GRACE);
    if (rc || (tune.launch.me > 0 && !tune.ranks)) // of a dry run, the first does it
        goto done;
    rc = tune.ranks && rh_ranks_me(tune.ranks) > 0 ? help(&tune) : keep_study(&tune, &sound);

done:
    clear(&tune);
    if (tune.ranks && !sound && rh_ranks_count(tune.ranks) > 1) {
        fflush(stdout);
        rh_ranks_abort(tune.ranks, rc);
    }
    rh_ranks_end(tune.ranks);
    return rc;
}

const cli_command cli_tune = {
    .name = "tune",
    .about = "From a log to the setting to deploy, and how sure that is",
    .operands = "LOG|model:FILE|STUDY.yaml [options]",
    .detail =
        "A model of the log is fitted, settings of the agent are searched for that learn well "
        "in it, and the leading ones are run again in models that the search has not seen. "
        "All of it is kept in a folder: the same command goes on with a study that was "
        "stopped, by whatever, and ends as if it had not been. Every option can be written "
        "into a file, STUDY.yaml; what the line says stands above it.",
    .operand = CLI_FILE,
    .group = {&main_group, &search_group, &judge_group, &model_group, &cli_task_group,
              &output_group, &cli_log_group, &cli_common_group},
    .example = {"the setting to deploy, and what it is worth", "rehearse tune plant.csv",
                "what would be done, as a file to change",
                "rehearse tune plant.csv --dry-run > study.yaml",
                "two hyperparameters, one of them on a log scale",
                "rehearse tune plant.csv -s alpha=0.001:1:log -s tau=1,10",
                "on four machines of a cluster",
                "srun -N 4 --ntasks-per-node 1 rehearse tune study.yaml -o plant.study"},
    .see = "docs/tune.md explains what is printed, docs/study-file.md the keys of a file; "
           "`rehearse list methods` and `rehearse list agents esarsa` show what can be set.",
    .before = before,
    .main = tune_main,
};
