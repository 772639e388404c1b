// main.c - the program: which command is meant.
//
// Nothing happens before the command line is understood: no file is opened and nothing is
// computed, so that --help and a misspelt word answer at once.

#include "base/base.h"
#include "cli_internal.h"

#include <string.h>

static const cli_command *const command[] = {
    &cli_tune, &cli_report,     &cli_inspect, &cli_convert, &cli_collect, &cli_fit,
    &cli_run,  &cli_sweep,      &cli_deploy,  &cli_export,  &cli_paper,   &cli_list,
    &cli_help, &cli_completion, &cli_manual,  NULL,
};

const cli_command *cli_command_at(int i)
{
    return command[i];
}

// A word before any command.
static int global_option(const char *word)
{
    static const char *const known[] = {"--help", "--version"};
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("rehearse %s\n", rh_version());
        return CLI_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return cli_help.main(&(cli_args){.command = &cli_help});

    rh_error err;
    rh_base__unknown(&err, "no option", word, known, 2);
    cli_refuse("%s", err.text);
    cli_try("rehearse help");
    return CLI_USAGE;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return cli_help.main(&(cli_args){.command = &cli_help});
    if (argv[1][0] == '-')
        return global_option(argv[1]);
    const cli_command *chosen = cli_command_find(argv[1]);
    if (!chosen)
        return CLI_USAGE;

    return chosen->program ? cli_start(chosen, argc - 2, argv + 2)
                           : cli_command_run(chosen, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
    return cli_main(argc, argv, dispatch);
}
