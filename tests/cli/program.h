// program.h - running the program as a user would: in a shell, in a folder of its own.

#ifndef PROGRAM_H
#define PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/in_memory.h"

// What a finished program left behind. Texts are owned by the heap and freed with drop().
typedef struct outcome {
    int code;   // exit code, or -1
    int signal; // that ended it, or 0
    char *out, *err;
} outcome;

// The whole of a file, or an empty text when there is none.
static inline char *contents(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    assert_non_null(text);
    while (file && !feof(file)) {
        if (room - size < 4096) {
            room *= 2;
            text = realloc(text, room);
            assert_non_null(text);
        }
        size += fread(text + size, 1, room - size - 1, file);
    }
    text[size] = 0;
    if (file)
        fclose(file);
    return text;
}

static inline void drop(outcome *o)
{
    free(o->out);
    free(o->err);
}

// Begin "rehearse <line>", as the shell reads it; its output goes to the files out and err.
static inline pid_t begin(const char *line)
{
    char command[2048];
    snprintf(command, sizeof command, "exec " RH_PROGRAM " %s", line);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (out < 0 || err < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        _exit(126);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static inline outcome await(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return (outcome){
        .code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .out = contents("out"),
        .err = contents("err"),
    };
}

static inline outcome rehearse(const char *line)
{
    return await(begin(line));
}

// The standard output of a line that has to work, to be freed.
static inline char *output_of(const char *line)
{
    outcome o = rehearse(line);
    if (o.code != 0)
        print_error("rehearse %s\n%s", line, o.err);
    assert_int_equal(o.code, 0);
    free(o.err);
    return o.out;
}

static inline void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        print_error("'%s' is not in:\n%s\n", part, text);
    assert_non_null(strstr(text, part));
}

static inline void rest(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

// Wait until the program that was begun has taken the interrupt into its own hands. Without
// /proc, half a second must do.
static inline void await_handler(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    for (int i = 0; i < 3000; i++) {
        char *status = contents(path), *caught = strstr(status, "SigCgt:");
        bool ready = strncmp(status, "Name:\trehearse", 14) == 0 && caught &&
                     (strtoull(caught + 7, NULL, 16) & (1ULL << (SIGALRM - 1)));
        bool none = !*status;
        free(status);
        if (ready)
            return;
        rest(none ? 0.5 : 0.02);
        if (none)
            return;
    }
}

static char folder[64];

static inline int enter_folder(void **unused)
{
    unsetenv("COLUMNS"); // pages are as wide as without a terminal
    (void)unused;
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("NO_COLOR");
    return folder_in_memory(folder, "cli") && chdir(folder) == 0 ? 0 : -1;
}

static inline int leave_folder(void **unused)
{
    (void)unused;
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

#endif
