// start.c - how a program begins and ends, how a command is run, and how a command starts the
// program that does its work.
//
// 1. Standard output is checked when everything is printed. A full disk must not look like
//    success; a closed pipe (`| head`) is not reported.
// 2. With a small stack (ulimit -s 64) libraries crash. It is enlarged, or the program says so.
// 3. Descriptors 0 to 2 that are closed are opened, so that no file gets one of them: text for
//    standard output would end in a journal. They can be read only, so writing fails as before.
// 4. A program that does the work of a command takes the place of this one: signals, output and
//    exit code are its own.

#include "base/base.h"
#include "base/part.h"
#include "cli_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEAST_STACK (256 << 10) // bytes; 128 KB were enough for all commands, 64 KB for few

const char *cli_command_name(int i)
{
    const cli_command *command = cli_command_at(i);
    return command ? command->name : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    const cli_command *command;
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        if (strcmp(command->name, name) == 0)
            return command;

    const char *names[CLI_MAX_NAMES];
    rh_error err;
    rh_base__unknown(&err, "no command", name, names, cli_names(&cli_help.operand, names));
    cli_refuse("%s", err.text);
    cli_try("rehearse help");
    return NULL;
}

int cli_command_run(const cli_command *command, int argc, char **argv)
{
    int rc = cli_launch_check(command);
    if (rc)
        return rc;
    if (command->before)
        command->before();
    rc = cli_plugins_load(argc, argv);
    if (rc)
        return rc;
    cli_args args;
    rc = cli_args_init(&args, command, argc, argv);
    if (!rc && args.help)
        rc = cli_help.main(&(cli_args){
            .command = &cli_help, .word = (const char *[]){command->name}, .nword = 1});
    else if (!rc)
        rc = command->main(&args);
    cli_args_clear(&args);
    return rc;
}

int cli_start(const cli_command *command, int argc, char **argv)
{
    char place[RH_PART__PATH], expected[2 * RH_PART__PATH];
    char **line = rh_alloc((size_t)argc + 2, sizeof *line); // its name, the words, NULL
    if (!line)
        return cli_fail("out of memory");
    line[0] = place;
    for (int i = 0; i < argc; i++)
        line[i + 1] = argv[i];
    errno = ENOENT;
    for (int n = 0; errno == ENOENT && rh_part__place(n, command->program, place); n++)
        execv(place, line);
    int fault = errno;
    rh_free(line);
    return cli_fail("%s: cannot start the program %s: %s; expected it in %s", command->name,
                    command->program, strerror(fault),
                    rh_part__expected(expected, sizeof expected));
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

// Decision 3. The lowest free descriptor is the one that is opened.
static bool reserve_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
            return false;
    return true;
}

int cli_main(int argc, char **argv, int (*dispatch)(int argc, char **argv))
{
    if (!reserve_descriptors())
        return CLI_USAGE;
    if (enlarge_stack(argv))
        return CLI_USAGE;
    cli_catch_crashes();
    cli_clean_on_signals();
    int rc = dispatch(argc, argv);
    errno = 0;
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (lost && errno != EPIPE)
        cli_say("cannot write to standard output: %s", strerror(errno ? errno : EIO));
    return lost && rc == CLI_OK ? CLI_USAGE : rc;
}
