// bench_start.c - how long the program takes to start: `rehearse --version` and `--help`, 200
// times each, beside a program that does nothing (empty.c).

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seconds.h"

#define STARTS 200

extern char **environ;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *path, char *option)
{
    char name[] = "rehearse", *argument[] = {name, option, NULL};
    double taken[STARTS];
    posix_spawn_file_actions_t act;
    posix_spawn_file_actions_init(&act);
    posix_spawn_file_actions_addopen(&act, 1, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < STARTS; i++) {
        pid_t pid;
        int status = 1;
        double began = seconds(CLOCK_MONOTONIC);
        if (posix_spawn(&pid, path, &act, NULL, argument, environ) != 0 ||
            waitpid(pid, &status, 0) != pid || status != 0) {
            printf("%s %s: failed\n", path, option);
            exit(1);
        }
        taken[i] = 1e3 * (seconds(CLOCK_MONOTONIC) - began);
    }
    posix_spawn_file_actions_destroy(&act);
    qsort(taken, STARTS, sizeof *taken, compare);
    printf("%-22s %6.2f %6.2f\n", option, taken[0], taken[STARTS / 2]);
}

int main(void)
{
    char version[] = "--version", help[] = "--help", empty[] = "an empty program";
    printf("ms to start and end    lowest median\n");
    measure(RH_EMPTY, empty);
    measure(RH_PROGRAM, version);
    measure(RH_PROGRAM, help);
    return 0;
}
