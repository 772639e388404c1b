// main.c - the program: which command is meant, and how it ends.
//
// 1. Nothing happens before the command line is understood: no file is opened and nothing is
//    computed, so that --help and a misspelt word answer at once.
// 2. Standard output is checked when everything is printed. A full disk must not look like
//    success; a closed pipe (`| head`) is not reported.
// 3. With a small stack (ulimit -s 64) libraries crash. It is enlarged, or the program says so.

#include "cli_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEAST_STACK (256 << 10) // bytes; 128 KB were enough for all commands, 64 KB for few

static const cli_command *const command[] = {
    &cli_tune, &cli_report, &cli_inspect,    &cli_convert, &cli_collect,
    &cli_fit,  &cli_run,    &cli_sweep,      &cli_deploy,  &cli_paper,
    &cli_list, &cli_help,   &cli_completion, &cli_manual,  NULL,
};

const cli_command *cli_command_at(int i)
{
    return command[i];
}

const cli_command *cli_command_find(const char *name)
{
    for (int i = 0; command[i]; i++)
        if (strcmp(command[i]->name, name) == 0)
            return command[i];

    const char *names[CLI_MAX_NAMES];
    rh_error err;
    rh_unknown(&err, "no command", name, names, cli_names(CLI_COMMAND, names));
    cli_refuse("%s", err.text);
    cli_try("rehearse help");
    return NULL;
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
    rh_unknown(&err, "no option", word, known, 2);
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

    int rc = cli_launch_check(chosen);
    if (rc)
        return rc;
    if (chosen->before)
        chosen->before();
    rc = cli_plugins_load(argc - 2, argv + 2);
    if (rc)
        return rc;
    cli_args args;
    rc = cli_args_init(&args, chosen, argc - 2, argv + 2);
    if (!rc && args.help)
        rc = cli_help.main(&(cli_args){
            .command = &cli_help, .word = (const char *[]){chosen->name}, .nword = 1});
    else if (!rc)
        rc = chosen->main(&args);
    cli_args_clear(&args);
    return rc;
}

// Raise a small limit of the stack and start again, because threads get stacks of the size at
// the start. Returns only if the stack is large enough or cannot be enlarged.
static int enlarge_stack(char **argv)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_STACK, &now) != 0 || now.rlim_cur >= LEAST_STACK)
        return CLI_OK;
    struct rlimit more = {.rlim_cur = LEAST_STACK, .rlim_max = now.rlim_max};
    if (more.rlim_max < LEAST_STACK)
        more.rlim_max = LEAST_STACK;
    if (setrlimit(RLIMIT_STACK, &more) == 0)
        execv("/proc/self/exe", argv);
    return cli_refuse("a stack of %lld KB (ulimit -s), expected %d KB or more",
                      (long long)(now.rlim_cur >> 10), LEAST_STACK >> 10);
}

int main(int argc, char **argv)
{
    if (enlarge_stack(argv))
        return CLI_USAGE;
    cli_catch_crashes();
    int rc = dispatch(argc, argv);
    errno = 0;
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (lost && errno != EPIPE)
        cli_say("cannot write to standard output: %s", strerror(errno ? errno : EIO));
    return lost && rc == CLI_OK ? CLI_USAGE : rc;
}
