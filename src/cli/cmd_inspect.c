// cmd_inspect.c - rehearse inspect: the content of a log, how it was read, and its problems.

#include "cli_internal.h"

#include <sys/stat.h>

static const rh_key output_option[] = {
    {NULL, "all", 0, RH_KEY_FLAG, NULL, .about = "print every sensor, action and finding"},
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "print one JSON document"},
    {NULL, "strict", 0, RH_KEY_FLAG, NULL,
     .about = "exit with code 1 if there are errors or warnings"},
    {NULL, "quiet", 'q', RH_KEY_FLAG, NULL, .about = "print nothing; for --strict in scripts"},
    {0},
};

static const cli_group output_group = {"output", output_option};

// Bytes of a file; 0 for a folder or if not known.
static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : 0;
}

static int inspect_main(const cli_args *args)
{
    if (args->nword < 1) {
        cli_refuse("inspect: no file name, expected a log or several logs of one plant");
        cli_try("rehearse inspect plant.csv");
        return CLI_USAGE;
    }
    if (cli_has(args, "json") && cli_has(args, "quiet"))
        return cli_refuse("--json and --quiet cannot be combined");

    cli_log log = {0};
    rh_log_report *report = NULL;
    rh_facts *facts = NULL;
    char *paths = NULL;
    rh_error err;
    int rc = cli_words(&paths, args);
    if (!rc)
        rc = cli_log_read(&log, args, paths);
    if (!rc)
        rc = cli_pass(rh_log_inspect(&report, log.log, &err), &err);
    if (rc)
        goto done;
    rh_status examined = rh_model__examine(&facts, log.log, NULL, &err);
    if (examined == RH_ENOMEM) { // without a whole step there are no facts
        rc = cli_pass(examined, &err);
        goto done;
    }
    rh_model__past memory = {0};
    bool print = !cli_has(args, "json") && !cli_has(args, "quiet");
    if (print && rh_model__memory(&memory, log.log, &err) == RH_ENOMEM) {
        rc = cli_pass(RH_ENOMEM, &err);
        goto done;
    }
    rh_experiments experiments = {0};
    if (facts && !cli_has(args, "quiet") &&
        rh_experiments__find(&experiments, log.log, &err) == RH_ENOMEM) {
        rc = cli_pass(RH_ENOMEM, &err);
        goto done;
    }
    int64_t size = size_of(log.log->path);
    if (cli_has(args, "json"))
        cli_inspect_json(stdout, log.log, report, facts, &experiments, size);
    else if (print)
        cli_inspect_print(log.log, report, facts, &memory, &experiments, size,
                          cli_has(args, "all"));
    if (cli_has(args, "strict") &&
        report->findings.count[RH_ERROR] + report->findings.count[RH_WARNING] > 0)
        rc = CLI_FAILED;

done:
    rh_free(paths);
    rh_facts__destroy(facts);
    rh_log_report_destroy(report);
    cli_log_clear(&log);
    return rc;
}

const cli_command cli_inspect = {
    .name = "inspect",
    .about = "Check a log: its content, how it was read, and its problems",
    .operands = "LOG...",
    .detail =
        "LOG is a CSV file, a Minari, D4RL or d3rlpy file, or an .npz; or a .yaml file of "
        "roles that names one. Several logs of one plant are joined. Prints how the columns "
        "were read, the distribution of "
        "episodes, sensors, actions and rewards, how far the states are from the nearest use "
        "of each action, resets and the limits that explain them, and findings: shifted rows, "
        "frozen sensors, missed terminals.",
    .operand = {.type = RH_KEY_FILE},
    .group = {&output_group, &cli_log_group, &cli_common_group},
    .example = {"check a plant's log", "rehearse inspect plant.csv", "name its columns",
                "rehearse inspect plant.csv --obs temp,level --action pump --reward -energy",
                "-9999 means missing, and a gap of an hour ends an episode",
                "rehearse inspect plant.csv --missing=-9999 --max-gap 1h",
                "stop a script if there is a problem",
                "rehearse inspect plant.csv --strict --quiet"},
    .see = "docs/inspect.md explains every line and finding, docs/logs.md the formats.",
    .single = true,
    .main = inspect_main,
};
