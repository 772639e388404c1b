// offline_sample.h - what tests of the offline module share: numbers of reference files, and
// logs of two sensors and three actions.

#ifndef TESTS_OFFLINE_SAMPLE_H
#define TESTS_OFFLINE_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "offline/offline_internal.h"
#include "rehearse/rehearse.h"

enum { LINE = 1 << 16, NUMBERS = 4096 };

// The array called `name` of a reference file; how many numbers are in it.
static inline int reference(const char *file, const char *name, double *x)
{
    static char line[LINE];
    char path[512], begin[80];
    int n = -1;
    snprintf(path, sizeof path, "%s/%s", RH_TEST_DATA, file);
    snprintf(begin, sizeof begin, "%.64s,", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (n < 0 && fgets(line, LINE, f)) {
        if (strncmp(line, begin, strlen(begin)) != 0)
            continue;
        n = 0;
        for (char *word = strtok(line + strlen(begin), ",\n"); word; word = strtok(NULL, ",\n"))
            if (n < NUMBERS)
                x[n++] = strtod(word, NULL);
    }
    fclose(f);
    assert_true(n > 0);
    assert_true(n < NUMBERS);
    return n;
}

static inline void near(double x, double expected, double off, const char *what, int i)
{
    if (!(fabs(x - expected) <= off))
        fail_msg("%s %d is %.9g, expected %.9g", what, i, x, expected);
}

// The task of the logs: two sensors, three actions.
static inline rh_task sample_task(void)
{
    return (rh_task){.nobs = 2,
                     .naction = 3,
                     .nact = 1,
                     .gamma = 0.9,
                     .reward_lo = -INFINITY,
                     .nstep = 100,
                     .obs_name = {"x", "y"},
                     .obs_lo = {0.0, -1.0},
                     .obs_hi = {1.0, 2.0}};
}

// A log of transitions (n x 7): s (2), action, reward, s' (2), terminal. Each is an episode,
// truncated where it is not terminal.
static inline rh_log *log_of(double (*x)[7], int n)
{
    static const char *const label[] = {"a", "b", "c"}, *const name[] = {"x", "y"};
    rh_log_shape shape = {.nobs = 2,
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .obs_name = name,
                          .label = label,
                          .nlabel = 3,
                          .declared = true,
                          .format = "test"};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < n; i++) {
        rh_log_row row = {.obs = x[i],
                          .act = x[i] + 2,
                          .reward = x[i][3],
                          .next = x[i] + 4,
                          .terminal = x[i][6] > 0.0,
                          .truncated = !(x[i][6] > 0.0),
                          .begins = true};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    if (rh_log_finish(b, &log, &err))
        fail_msg("%s", err.text);
    rh_log_builder_destroy(b);
    return log;
}

static inline rh_log *reference_log(const char *file, const char *name)
{
    static double x[NUMBERS / 7 + 1][7];
    int n = reference(file, name, x[0]);
    return log_of(x, n / 7);
}

#endif
