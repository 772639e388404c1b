// host.c - drive.h on the host; the time of a step is written to standard error.

#define _POSIX_C_SOURCE 200809L
#include "drive.h"

#include <stdio.h>
#include <time.h>

static double spent;

static void nothing(void)
{
}

static void print(const char *line)
{
    fputs(line, stdout);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    spent = -now();
    drive(nothing, nothing, print);
    spent += now();
    fprintf(stderr, "%.2f us a step, %u bytes\n", 1e6 * spent / DRIVE_STEPS,
            (unsigned)sizeof(agent));
    return 0;
}
