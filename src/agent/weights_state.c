// weights_state.c - save and load weights: arrays of (feature, action), in plain units.

#include "base/base.h"
#include "weights.h"

#include <string.h>

enum { WEIGHT, SECOND, FIRST };
static const char *const array_name[] = {[WEIGHT] = "w", [SECOND] = "v", [FIRST] = "m"};

// Copy one kind of number to x (nfeature x naction).
static void copy_out(const rh_weights *w, int which, double initial, double *x)
{
    for (int32_t f = 0; f < w->opt.nfeature; f++)
        for (int a = 0; a < w->opt.naction; a++, x++) {
            int32_t line = f * w->nline + a / RH_LANES;
            int lane = a % RH_LANES;
            if (which == WEIGHT)
                *x = w->line[line].w[lane] + initial;
            else if (which == SECOND)
                *x = (double)(w->line[line].v[lane] / RH_UNIT / RH_UNIT);
            else
                *x = (double)(w->moment[line * RH_LANES + lane] / RH_UNIT);
        }
}

static void copy_in(rh_weights *w, int which, double initial, const double *x)
{
    for (int32_t f = 0; f < w->opt.nfeature; f++)
        for (int a = 0; a < w->opt.naction; a++, x++) {
            int32_t line = f * w->nline + a / RH_LANES;
            int lane = a % RH_LANES;
            if (which == WEIGHT)
                w->line[line].w[lane] = *x - initial;
            else if (which == SECOND)
                w->line[line].v[lane] = (float)*x * RH_UNIT * RH_UNIT;
            else
                w->moment[line * RH_LANES + lane] = (float)*x * RH_UNIT;
        }
}

rh_status rh_weights__save(rh_weights *w, double initial, rh_state *state, rh_error *err)
{
    rh_weights__rest(w);
    size_t n = (size_t)w->opt.nfeature * (size_t)w->opt.naction;
    double power[2] = {w->power1, w->power2};
    double *x = rh_alloc(n, sizeof *x);
    if (!x)
        return rh_fail(err, RH_ENOMEM, "weights: out of memory for saving");
    rh_status rc = rh_state_put(state, "beta^t", power, 2, err);
    for (int which = WEIGHT; !rc && which <= (w->moment ? FIRST : SECOND); which++) {
        copy_out(w, which, initial, x);
        rc = rh_state_put(state, array_name[which], x, n, err);
    }
    rh_free(x);
    return rc;
}

rh_status rh_weights__load(rh_weights *w, double initial, const rh_state *state, rh_error *err)
{
    rh_weights__rest(w);
    size_t n = (size_t)w->opt.nfeature * (size_t)w->opt.naction;
    double power[2];
    double *x = rh_alloc(n, sizeof *x);
    if (!x)
        return rh_fail(err, RH_ENOMEM, "weights: out of memory for loading");
    rh_status rc = rh_state_get(state, "beta^t", power, 2, err);
    for (int which = WEIGHT; !rc && which <= (w->moment ? FIRST : SECOND); which++) {
        if (which == FIRST && !rh_state__doubles(state, array_name[which], &(size_t){0}))
            memset(x, 0, n * sizeof *x); // saved without momentum
        else
            rc = rh_state_get(state, array_name[which], x, n, err);
        if (!rc)
            copy_in(w, which, initial, x);
    }
    if (!rc) {
        w->power1 = power[0];
        w->power2 = power[1];
    }
    rh_free(x);
    return rc;
}
