// cmd_inspect.c - rehearse inspect: what is in a log, how it was read, and what is wrong.

#include "cli_internal.h"

#include <sys/stat.h>

static const cli_option output_option[] = {
    {"all", 0, CLI_NONE, NULL, .about = "every sensor, action and finding, however many"},
    {"json", 0, CLI_NONE, NULL, .about = "one JSON document on standard output"},
    {"strict", 0, CLI_NONE, NULL, .about = "exit code 1 when there are errors or warnings"},
    {"quiet", 'q', CLI_NONE, NULL, .about = "print nothing: for --strict in scripts"},
    {0},
};

static const cli_group output_group = {"output", output_option};

// Bytes of a file, 0 for a folder or when it is not known.
static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : 0;
}

static int inspect_main(const cli_args *args)
{
    if (args->nword != 1) {
        cli_refuse("inspect: %d file name%s, expected one: a log", args->nword,
                   cli_plural(args->nword));
        cli_try("rehearse inspect plant.csv");
        return CLI_USAGE;
    }
    if (cli_has(args, "json") && cli_has(args, "quiet"))
        return cli_refuse("--json and --quiet cannot both be had");

    cli_log log = {0};
    rh_log_report *report = NULL;
    rh_error err;
    int rc = cli_log_read(&log, args, args->word[0]);
    if (!rc)
        rc = cli_pass(rh_log_inspect(&report, log.log, &err), &err);
    if (rc)
        goto done;
    int64_t size = size_of(log.log->path);
    if (cli_has(args, "json"))
        cli_inspect_json(stdout, log.log, report, size);
    else if (!cli_has(args, "quiet"))
        cli_inspect_print(log.log, report, size, cli_has(args, "all"));
    if (cli_has(args, "strict") && report->ncount[RH_ERROR] + report->ncount[RH_WARNING] > 0)
        rc = CLI_FAILED;

done:
    rh_log_report_destroy(report);
    cli_log_clear(&log);
    return rc;
}

const cli_command cli_inspect = {
    .name = "inspect",
    .about = "Look at a log: what it holds, how it was read, what is wrong with it",
    .operands = "LOG",
    .detail =
        "LOG is a CSV file, a Minari, D4RL or d3rlpy file, or an .npz; or a .yaml file of "
        "roles that names one. One screen tells what was taken for what, how episodes, "
        "sensors, actions and rewards lie, how far the log's states are from where each "
        "action was tried, and what somebody should look at: rows that slipped, sensors "
        "that stood still, ends that were missed.",
    .operand = CLI_FILE,
    .group = {&output_group, &cli_log_group, &cli_common_group},
    .example = {"look at a plant's log", "rehearse inspect plant.csv",
                "say what its columns are",
                "rehearse inspect plant.csv --obs temp,level --action pump --reward -energy",
                "-9999 means missing, and a gap of an hour ends an episode",
                "rehearse inspect plant.csv --missing=-9999 --max-gap 1h",
                "stop a script when something is wrong",
                "rehearse inspect plant.csv --strict --quiet"},
    .see = "docs/inspect.md explains every line and every finding; docs/logs.md the formats.",
    .main = inspect_main,
};
