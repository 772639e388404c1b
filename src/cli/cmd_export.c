// cmd_export.c - rehearse export: the agent of best.yaml as one C file for devices.

#include "cli_internal.h"

static const rh_key main_option[] = {
    {NULL, "output", 'o', RH_KEY_FILE, "FILE", .about = "the C file", .initial = "agent.c"},
    {NULL, "load", 0, RH_KEY_FILE, "FILE",
     .about = "begin with a learned state: agent.state of a deployment, or of `run --save`",
     .initial = "as a new deployment begins"},
    {NULL, "guard", 0, RH_KEY_FILE, "FILE",
     .about = "safe_action, forbidden, limits and trip, as in docs/deploy.md",
     .initial = "none"},
    {NULL, "freeze", 0, RH_KEY_FLAG, NULL, .about = "act without learning"},
    {NULL, "memory", 0, RH_KEY_WHOLE, "KB",
     .about = "memory of the device that the agent may need", .initial = "64", .lo = 1,
     .hi = 1 << 20},
    {NULL, "seed", 0, RH_KEY_WHOLE, "N", .about = "random seed of the agent", .initial = "1",
     .lo = 0, .hi = INT64_MAX},
    {0},
};

static const cli_group main_group = {CLI_MAIN, main_option};

static int export_main(const cli_args *args)
{
    const char *path = cli_value(args, "output");
    rh_export_made made;
    rh_error err;
    path = path ? path : "agent.c";
    if (args->nword != 1) {
        cli_refuse("export: %d names, expected one: best.yaml of a study", args->nword);
        cli_try("rehearse export plant.study/best.yaml");
        return CLI_USAGE;
    }
    rh_export_options opt = rh_export_defaults();
    opt.state = cli_value(args, "load");
    opt.guard = cli_value(args, "guard");
    opt.frozen = cli_has(args, "freeze");
    opt.memory = cli_number(args, "memory", opt.memory / 1024) * 1024;
    opt.seed = (uint64_t)cli_number(args, "seed", 1);
    int rc = cli_pass_file(rh_export_write(path, args->word[0], &opt, &made, &err), &err);
    if (rc)
        return rc;
    cli_line("file", "%s", path);
    if (made.learns)
        cli_line("agent", "learns on the device, %s weights", cli_count(made.nweight).s);
    else
        cli_line("agent", "acts, and does not learn");
    cli_line("memory", "%s bytes, and %s bytes of constants", cli_count(made.state).s,
             cli_count(made.constants).s);
    return CLI_OK;
}

const cli_command cli_export = {
    .name = "export",
    .about = "Write the agent of best.yaml as one C file, for a device without this program",
    .operands = "BEST.yaml [options]",
    .detail =
        "The file has the agent with its random stream, sensor ranges and limits, and needs no "
        "library and no allocation. It chooses the actions that `deploy` chooses, bit for bit. "
        "esarsa learns on the device; agents with networks act as they are.",
    .operand = {.type = RH_KEY_FILE},
    .group = {&main_group, &cli_common_group},
    .example = {"write agent.c", "rehearse export plant.study/best.yaml",
                "what a deployment has learned, for a device with 256 KB",
                "rehearse export plant.study/best.yaml --load best.deploy/agent.state "
                "--memory 256 -o agent.c"},
    .see = "docs/export.md explains the file and what cannot be exported.",
    .single = true,
    .main = export_main,
};
