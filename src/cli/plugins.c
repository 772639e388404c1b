// plugins.c - the option --plugin, and crashes inside plug-ins.
//
// 1. Plug-ins are loaded before the line is read: their agents and environments are then in
//    every list, in --help and in the completions.
// 2. A crash in a plug-in is the plug-in's, and the message says so. The program still ends by
//    the signal, with a core dump where the system makes one. Other crashes are left alone.

#include "cli_internal.h"
#include "plugin/plugin.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NFRAME 64 // calls of a crash that are searched for a plug-in

// The value of --plugin in argv[*i], which moves past it; NULL: another word.
static const char *value_at(int argc, char **argv, int *i)
{
    if (strncmp(argv[*i], "--plugin=", 9) == 0)
        return argv[*i] + 9;
    if (strcmp(argv[*i], "--plugin") == 0 && *i + 1 < argc)
        return argv[++*i];
    return NULL;
}

int cli_plugins_load(int argc, char **argv)
{
    rh_error err;
    int rc = CLI_OK;
    for (int i = 0; i < argc && !rc && strcmp(argv[i], "--") != 0; i++) {
        const char *path = value_at(argc, argv, &i);
        if (path)
            rc = cli_pass_file(rh_plugin_load(path, &err), &err);
    }
    if (rc && cli_launched().me > 0) // time for the first process to print the message
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    return rc;
}

// ---------------------------------------------------------------------------- crashes

static const int fault[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { NFAULT = sizeof fault / sizeof *fault };
static struct sigaction before[NFAULT];

// The innermost plug-in on the stack; NULL: none.
static const char *culprit(void)
{
    void *frame[NFRAME];
    int n = backtrace(frame, NFRAME);
    for (int i = 0; i < n; i++) {
        const rh_plugin__info *info = rh_plugin__of_address(frame[i]);
        if (info)
            return info->path;
    }
    return NULL;
}

static void write_text(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; // there is nothing to do about it
}

// Report, then let the fault happen again under the handler that was there before.
static void report(int signal, siginfo_t *info, void *context)
{
    (void)context;
    const char *loading = rh_plugin__loading();
    const char *path = loading ? loading : rh_plugin__count() ? culprit() : NULL;
    for (int i = 0; i < NFAULT; i++)
        sigaction(fault[i], &before[i], NULL);
    if (path) {
        write_text("\nrehearse: plug-in ");
        write_text(path);
        write_text(loading ? " crashed while it was loaded: " : " crashed: ");
        write_text(signal == SIGSEGV  ? "segmentation fault\n"
                   : signal == SIGBUS ? "bus error\n"
                   : signal == SIGFPE ? "arithmetic error\n"
                   : signal == SIGILL ? "illegal instruction\n"
                                      : "aborted\n");
        if (!loading)
            write_text(
                "try: a debugger on the same command; a study keeps its finished runs\n");
    }
    if (info->si_code <= 0) // sent by raise() or abort(): it would not happen again
        raise(signal);
}

void cli_catch_crashes(void)
{
    void *frame[1];
    struct sigaction action = {.sa_sigaction = report, .sa_flags = SA_SIGINFO};
    backtrace(frame, 1); // the first call allocates
    for (int i = 0; i < NFAULT; i++)
        sigaction(fault[i], &action, &before[i]);
}
