// repr_test.h - what the tests of representations share: small logs made by hand.

#ifndef REHEARSE_REPR_TEST_H
#define REHEARSE_REPR_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> // needs those above

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "repr/repr_internal.h"

// A log of states obs (all of them x nobs) in episodes of length[e] states, ended by a 0; the
// last state of an episode is seen and nothing is done there. act: a number for each state, in
// which case actions are continuous; NULL: two discrete ones by turns.
static inline rh_log *log_of(const double *obs, int nobs, const int *length, const double *act)
{
    rh_log *log = NULL;
    rh_log_builder *builder = NULL;
    rh_log_shape shape = {.nobs = nobs, .nact = 1, .format = "test"};
    shape.action = act ? RH_ACTION_CONTINUOUS : RH_ACTION_DISCRETE;
    assert_int_equal(rh_log_builder_create(&builder, &shape, NULL), RH_OK);
    int at = 0;
    for (int e = 0; length[e]; e++)
        for (int t = 0; t < length[e]; t++, at++) {
            double a = act ? act[at] : at % 2;
            rh_log_row row = {.obs = obs + (ptrdiff_t)at * nobs, .begins = t == 0};
            row.act = t + 1 < length[e] ? &a : NULL;
            row.truncated = t + 1 == length[e];
            assert_int_equal(rh_log_push(builder, &row, NULL), RH_OK);
        }
    assert_int_equal(rh_log_finish(builder, &log, NULL), RH_OK);
    rh_log_builder_destroy(builder);
    return log;
}

// Where a walk along a bent corridor is: its ends look near each other and are not.
static inline void corridor(double place, double *obs)
{
    double angle = 1.8 * M_PI * place;
    obs[0] = cos(angle);
    obs[1] = sin(angle);
}

// nepisode random walks of n states in that corridor, of steps up to `reach` of its length.
static inline rh_log *corridor_log(int nepisode, int n, double reach, uint64_t seed)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    double *obs = rh_alloc((size_t)(2 * nepisode * n), sizeof *obs);
    int *length = rh_alloc((size_t)nepisode + 1, sizeof *length);
    assert_non_null(obs);
    assert_non_null(length);
    for (int e = 0, i = 0; e < nepisode; e++) {
        double at = rh_rng_uniform(&rng);
        length[e] = n;
        for (int t = 0; t < n; t++, i++) {
            corridor(at, obs + 2 * (ptrdiff_t)i);
            at += rh_rng_range(&rng, -reach, reach);
            at = at < 0.0 ? -at : at > 1.0 ? 2.0 - at : at;
        }
    }
    rh_log *log = log_of(obs, 2, length, NULL);
    rh_free(length);
    rh_free(obs);
    return log;
}

// Parameters of a kind: its initial values, and then pairs of name and value up to a NULL.
static inline const double *param_of(const rh_repr_type *type, double param[16], ...)
{
    va_list list;
    assert_true(type->nparam <= 16);
    rh_param_initial(type->param, type->nparam, param);
    va_start(list, param);
    for (const char *name; (name = va_arg(list, const char *)) != NULL;) {
        int i = rh_param_find(type->param, type->nparam, name);
        if (i < 0)
            fail_msg("no parameter '%s'", name);
        param[i] = va_arg(list, double);
    }
    va_end(list);
    return param;
}

static inline rh_repr *fitted(const rh_repr_type *type, const rh_log *log,
                              const rh_repr_options *opt)
{
    rh_repr *repr = NULL;
    rh_error err = {""};
    if (rh_repr_fit(&repr, type, log, opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    return repr;
}

static inline void refused(const rh_repr_type *type, const rh_log *log,
                           const rh_repr_options *opt, rh_status status, const char *text)
{
    rh_repr *repr = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_repr_fit(&repr, type, log, opt, &err), status);
    assert_null(repr);
    assert_string_equal(err.text, text);
    assert_int_equal(rh_base__alloc_live(), live);
}

#endif
