// bench_start.c - how long the program takes to start: `rehearse --version` and `--help`, 200
// times each, beside a program that does nothing (empty.c). On a busy machine the median of the
// times is that of waiting, so the lowest is printed, and the mean processor time.

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seconds.h"

#define STARTS 200

extern char **environ;

static double in_ms(struct timeval t)
{
    return 1e3 * (double)t.tv_sec + 1e-3 * (double)t.tv_usec;
}

static void measure(const char *path, char *option)
{
    char name[] = "rehearse", *argument[] = {name, option, NULL};
    double lowest = 1e9, cpu = 0.0;
    posix_spawn_file_actions_t act;
    posix_spawn_file_actions_init(&act);
    posix_spawn_file_actions_addopen(&act, 1, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < STARTS; i++) {
        pid_t pid;
        int status = 1;
        struct rusage used;
        double began = seconds(CLOCK_MONOTONIC);
        if (posix_spawn(&pid, path, &act, NULL, argument, environ) != 0 ||
            wait4(pid, &status, 0, &used) != pid || status != 0) {
            printf("%s %s: failed\n", path, option);
            exit(1);
        }
        double taken = 1e3 * (seconds(CLOCK_MONOTONIC) - began);
        lowest = taken < lowest ? taken : lowest;
        cpu += (in_ms(used.ru_utime) + in_ms(used.ru_stime)) / STARTS;
    }
    posix_spawn_file_actions_destroy(&act);
    printf("%-22s %6.2f %10.2f\n", option, lowest, cpu);
}

int main(void)
{
    char version[] = "--version", help[] = "--help", empty[] = "an empty program";
    printf("ms to start and end    lowest  processor\n");
    measure(RH_EMPTY, empty);
    measure(RH_PROGRAM, version);
    measure(RH_PROGRAM, help);
    return 0;
}
