// env_test.h - what the simulators' tests share: reference files, options by name, closeness.

#ifndef REHEARSE_ENV_TEST_H
#define REHEARSE_ENV_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> // needs those above

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/env_internal.h"
#include "rehearse/env.h"

#define MAX_ROWS 1000

// |got - want| within tol, or within tol * |want| for numbers above 1.
static inline void near(double got, double want, double tol, const char *what, int row)
{
    if (!(fabs(got - want) <= tol * fmax(1.0, fabs(want))))
        fail_msg("%s, row %d: got %.17g, expected %.17g (off by %.3g)", what, row, got, want,
                 got - want);
}

// The rows of one case of a reference file into table (nrow x ncol); gives nrow.
static inline int read_case(const char *file, const char *name, int ncol, double *table)
{
    char path[512], line[1024];
    snprintf(path, sizeof path, "%s/%s", RH_TEST_DATA, file);
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("cannot open %s", path);

    int nrow = 0;
    while (fgets(line, sizeof line, in)) {
        char *word = strtok(line, ",");
        if (strcmp(word, name) != 0)
            continue;
        assert_true(nrow < MAX_ROWS);
        for (int i = 0; i < ncol; i++) {
            word = strtok(NULL, ",\n");
            assert_non_null(word);
            table[nrow * ncol + i] = strtod(word, NULL);
        }
        assert_null(strtok(NULL, ",\n"));
        nrow++;
    }
    fclose(in);
    assert_true(nrow > 0);
    return nrow;
}

// An environment with some options changed: pairs of a name and a double, then NULL.
static inline rh_env *make(const rh_env_type *type, ...)
{
    double opt[64];
    rh_error err;
    assert_true(type->nparam <= 64);
    rh_param_initial(type->param, type->nparam, opt);

    va_list list;
    va_start(list, type);
    for (const char *name; (name = va_arg(list, const char *));) {
        int i = rh_param_find(type->param, type->nparam, name);
        if (i < 0)
            fail_msg("%s has no option %s", type->name, name);
        opt[i] = va_arg(list, double);
    }
    va_end(list);

    rh_env *env = NULL;
    if (rh_env_create(&env, type, opt, &err))
        fail_msg("%s", err.text);
    return env;
}

static inline rh_streams streams_of(uint64_t seed)
{
    return (rh_streams){rh_rng_stream(seed, RH_STREAM_START, 0, 0),
                        rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0)};
}

// Whether n draws x look uniform on [lo, hi): all inside, the ends reached, mean and mean
// square within 4.5 standard errors (one in 150,000 correct generators would fail; seeds are
// fixed).
static inline void looks_uniform(const double *x, int n, double lo, double hi)
{
    double sum = 0.0, square = 0.0, least = INFINITY, most = -INFINITY;
    for (int i = 0; i < n; i++) {
        double u = (x[i] - lo) / (hi - lo);
        sum += u;
        square += u * u;
        least = fmin(least, u);
        most = fmax(most, u);
    }
    assert_true(least >= 0.0);
    assert_true(most < 1.0);
    assert_true(least < 20.0 / n);
    assert_true(most > 1.0 - 20.0 / n);
    near(sum / n, 1.0 / 2.0, 4.5 * sqrt(1.0 / 12.0 / n), "mean of uniform", n);
    near(square / n, 1.0 / 3.0, 4.5 * sqrt(4.0 / 45.0 / n), "mean square of uniform", n);
}

// Whether n draws z look standard normal: the first four moments within 4.5 standard errors.
static inline void looks_normal(const double *z, int n)
{
    double m[4] = {0.0};
    for (int i = 0; i < n; i++) {
        double p = 1.0;
        for (int k = 0; k < 4; k++)
            m[k] += (p *= z[i]) / n;
    }
    near(m[0], 0.0, 4.5 * sqrt(1.0 / n), "mean", n);
    near(m[1], 1.0, 4.5 * sqrt(2.0 / n), "variance", n);
    near(m[2], 0.0, 4.5 * sqrt(15.0 / n), "third moment", n);
    near(m[3] / 3.0, 1.0, 4.5 * sqrt(96.0 / 9.0 / n), "fourth moment", n);
}

#endif
