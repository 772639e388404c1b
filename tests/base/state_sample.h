// state_sample.h - a small state with the doubles most easily lost.

#ifndef STATE_SAMPLE_H
#define STATE_SAMPLE_H

#include <float.h>
#include <math.h>

#include "base/base.h"
#include "base/base_internal.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const double odd[] = {0.0,    -0.0,    1.0 / 3.0, INFINITY, -INFINITY, DBL_MIN,
                             5e-324, -5e-324, DBL_MAX,   1e-310,   -DBL_MAX,  0x1p-1074};

static rh_state *sample(void)
{
    rh_state *state = NULL;
    double step = 17.0;
    assert_int_equal(rh_state__create(&state, NULL), RH_OK);
    assert_int_equal(rh_state__set_label(state, "esarsa", NULL), RH_OK);
    assert_int_equal(rh_state_put(state, "weights", odd, LENGTH(odd), NULL), RH_OK);
    assert_int_equal(rh_state_put(state, "empty", NULL, 0, NULL), RH_OK);
    assert_int_equal(rh_state_put(state, "step", &step, 1, NULL), RH_OK);
    return state;
}

static void check_sample(const rh_state *state)
{
    size_t n = 99;
    assert_string_equal(rh_state__label(state), "esarsa");
    const double *x = rh_state__doubles(state, "weights", &n);
    assert_int_equal(n, LENGTH(odd));
    assert_memory_equal(x, odd, sizeof odd);
    assert_non_null(rh_state__doubles(state, "empty", &n));
    assert_int_equal(n, 0);
    double step;
    assert_int_equal(rh_state_get(state, "step", &step, 1, NULL), RH_OK);
    assert_true(step == 17.0);
}

#endif
