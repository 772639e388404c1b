// mlp_state.c - saves and loads networks: their shape, Adam's powers of beta, and arrays of
// numbers in the order of rh_mlp__get().
//
// A size in a state is checked against the number of weights there, so that a damaged state
// cannot request more memory than it has itself.

#include "base/base.h"
#include "mlp_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { NAME = 32, NSAVED = 3 };
static const char *const saved[NSAVED] = {"weights", "first", "second"};

// "name what", with a name of at most 20 characters.
static const char *label(char *text, const char *name, const char *what)
{
    snprintf(text, NAME, "%.20s %s", name, what);
    return text;
}

rh_status rh_mlp__save(const rh_mlp *mlp, const char *name, rh_state *state, rh_error *err)
{
    char text[NAME];
    int size[RH_MLP_LAYERS + 1];
    double shape[RH_MLP_LAYERS + 2] = {mlp->flags};
    double power[2] = {mlp->power1, mlp->power2};
    size_t n = rh_mlp__nparam(mlp);
    double *x = rh_alloc(n, sizeof *x);
    if (!x)
        return rh_fail(err, RH_ENOMEM, "mlp '%.20s': out of memory for saving", name);

    rh_mlp__sizes(mlp, size);
    for (int i = 0; i <= mlp->nlayer; i++)
        shape[i + 1] = size[i];
    rh_status rc =
        rh_state_put(state, label(text, name, "shape"), shape, (size_t)mlp->nlayer + 2, err);
    if (!rc)
        rc = rh_state_put(state, label(text, name, "beta^t"), power, 2, err);
    for (int which = 0; !rc && which < NSAVED; which++) {
        rh_mlp__get(mlp, (rh_mlp__array)which, x);
        rc = rh_state_put(state, label(text, name, saved[which]), x, n, err);
    }
    rh_free(x);
    return rc;
}

// Read sizes and flags from the saved shape, checked against the number of weights.
static rh_status load_shape(const rh_state *state, const char *name, int *size, int *nsize,
                            unsigned *flags, rh_error *err)
{
    char text[NAME];
    size_t n = 0, found = 0;
    const double *shape = rh_state__doubles(state, label(text, name, "shape"), &n);
    if (!shape)
        return rh_fail(err, RH_EFORMAT, "mlp '%.20s': no array '%s' in the saved state", name,
                       text);
    bool right = n >= 3 && n <= RH_MLP_LAYERS + 2 &&
                 (shape[0] == 0.0 || shape[0] == 1.0 || shape[0] == 2.0 || shape[0] == 3.0);
    for (size_t i = 1; right && i < n; i++)
        right = shape[i] >= 1.0 && shape[i] <= RH_MLP_WIDTH && shape[i] == floor(shape[i]);
    if (!right)
        return rh_fail(err, RH_EFORMAT,
                       "mlp '%.20s': array '%s' of the saved state is not 0 to 3 and 2 to %d "
                       "layer sizes from 1 to %d",
                       name, text, RH_MLP_LAYERS + 1, RH_MLP_WIDTH);

    *flags = (unsigned)shape[0];
    *nsize = (int)n - 1;
    for (int i = 0; i < *nsize; i++)
        size[i] = (int)shape[i + 1];
    size_t expected = *flags & RH_MLP_NO_FIRST_BIAS ? 0 : (size_t)size[1];
    for (int i = 1; i < *nsize; i++) {
        size_t normed = *flags & RH_MLP_NORM && i < *nsize - 1 ? 2 : 0; // gains and shifts
        expected += ((size_t)size[i - 1] + (i > 1) + normed) * (size_t)size[i];
    }
    if (!rh_state__doubles(state, label(text, name, saved[0]), &found) || found != expected)
        return rh_fail(err, RH_EFORMAT,
                       "mlp '%.20s': array '%s' of the saved state has %zu numbers, expected "
                       "%zu",
                       name, text, found, expected);
    return RH_OK;
}

static rh_status load_array(rh_mlp *mlp, const char *name, rh_mlp__array which,
                            const rh_state *state, double *x, rh_error *err)
{
    char text[NAME];
    size_t n = rh_mlp__nparam(mlp);
    rh_status rc = rh_state_get(state, label(text, name, saved[which]), x, n, err);
    if (rc)
        return rc;
    double lowest = which == RH_MLP_SECOND ? 0.0 : -(double)FLT_MAX;
    for (size_t i = 0; i < n; i++)
        if (!(x[i] >= lowest && x[i] <= (double)FLT_MAX))
            return rh_fail(err, RH_EFORMAT,
                           "mlp '%.20s': number %zu of array '%s' of the saved state is %g, "
                           "expected %g to %g",
                           name, i + 1, text, x[i], lowest, (double)FLT_MAX);
    rh_mlp__set(mlp, which, x);
    return RH_OK;
}

rh_status rh_mlp__load(rh_mlp **out, const char *name, const rh_state *state, rh_error *err)
{
    char text[NAME];
    rh_mlp *mlp = NULL;
    double *x = NULL, power[2];
    int size[RH_MLP_LAYERS + 1] = {0}, nsize = 0;
    unsigned flags = 0;

    rh_status rc = load_shape(state, name, size, &nsize, &flags, err);
    if (rc)
        goto done;
    rc = rh_mlp__make(&mlp, size, nsize, flags, err);
    if (rc)
        goto done;
    x = rh_alloc(rh_mlp__nparam(mlp), sizeof *x);
    if (!x) {
        rc = rh_fail(err, RH_ENOMEM, "mlp '%.20s': out of memory for loading", name);
        goto done;
    }
    rc = rh_state_get(state, label(text, name, "beta^t"), power, 2, err);
    for (int which = 0; !rc && which < NSAVED; which++)
        rc = load_array(mlp, name, (rh_mlp__array)which, state, x, err);
    if (rc)
        goto done;
    if (!(power[0] >= 0.0 && power[0] <= 1.0 && power[1] >= 0.0 && power[1] <= 1.0)) {
        rc = rh_fail(err, RH_EFORMAT, "mlp '%.20s': beta^t is %g and %g, expected 0 to 1", name,
                     power[0], power[1]);
        goto done;
    }
    mlp->power1 = power[0];
    mlp->power2 = power[1];
    *out = mlp;
    mlp = NULL;

done:
    rh_free(x);
    rh_mlp__destroy(mlp);
    return rc;
}

rh_status rh_mlp__load_into(rh_mlp *mlp, const char *owner, const char *name,
                            const rh_state *state, rh_error *err)
{
    rh_mlp *loaded = NULL;
    rh_status rc = rh_mlp__load(&loaded, name, state, err);
    if (rc)
        return rc;
    if (rh_mlp__same_shape(loaded, mlp))
        rh_mlp__copy(mlp, loaded);
    else
        rc = rh_fail(err, RH_EFORMAT, "%s: %s of the saved state has another shape", owner,
                     name);
    rh_mlp__destroy(loaded);
    return rc;
}
