// repr_state.c - saves and loads representations.
//
//     repr kind      the name of the kind, a number for each character
//     repr param     its parameters, in the order of its table
//     repr shape     sensors, numbers of an action (0: not in the code), numbers of a code
//     repr centre    of each input
//     repr factor    of each input
//     repr circle    of each sensor its period, 0 if it does not wrap round; then of each its
//                    base. Missing if none wraps round
//     repr training  steps, loss, whether it ended early, awareness, held out
//     repr mlp ...   the network, see mlp_state.c
//
// A state may come from a damaged or forged file: everything is checked.

#include "base/base.h"
#include "base/base_internal.h"
#include "numeric/mlp.h"
#include "repr.h"
#include "repr_internal.h"

#include <math.h>
#include <string.h>

enum { NOBS, NACT, NCODE, NSHAPE };
enum { NSTEP, LOSS, EARLY, AWARENESS, HELD_OUT, NTRAINING };
enum { NLETTER = 31 };
static const char *const network = "repr mlp";

rh_status rh_repr__save(const rh_repr *repr, rh_state *state, rh_error *err)
{
    const rh_repr_type *type = repr->type;
    size_t nletter = strlen(type->name), nin = (size_t)repr->nobs + (size_t)repr->nact;
    double kind[NLETTER] = {0.0};
    double shape[NSHAPE] = {repr->nobs, repr->nact, repr->ncode};
    const rh_repr__training *t = &repr->training;
    double training[NTRAINING] = {(double)t->nstep, t->loss, t->early, t->awareness,
                                  t->held_out};
    for (size_t i = 0; i < nletter; i++)
        kind[i] = (unsigned char)type->name[i];

    const struct {
        const char *name;
        const double *x;
        size_t n;
    } array[] = {
        {"repr kind", kind, nletter},       {"repr param", repr->param, type->nparam},
        {"repr shape", shape, NSHAPE},      {"repr centre", repr->centre, nin},
        {"repr factor", repr->factor, nin}, {"repr training", training, NTRAINING},
    };
    rh_status rc = RH_OK;
    for (size_t i = 0; !rc && i < sizeof array / sizeof *array; i++)
        rc = rh_state_put(state, array[i].name, array[i].x, array[i].n, err);
    if (!rc && repr->ncircle) {
        double circle[2 * RH_MAX_OBS];
        size_t nobs = (size_t)repr->nobs;
        memcpy(circle, repr->period, nobs * sizeof *circle);
        memcpy(circle + nobs, repr->base, nobs * sizeof *circle);
        rc = rh_state_put(state, "repr circle", circle, 2 * nobs, err);
    }
    if (!rc && repr->mlp)
        rc = rh_mlp__save(repr->mlp, network, state, err);
    return rc;
}

// The array called `name` of n numbers; NULL and a message if there is none.
static const double *array_of(const rh_state *state, const char *name, size_t n, rh_error *err)
{
    size_t found = 0;
    const double *x = rh_state__doubles(state, name, &found);
    if (!x)
        rh_fail(err, RH_EFORMAT, "representation: no array '%s' in the saved state", name);
    else if (found != n)
        rh_fail(err, RH_EFORMAT,
                "representation: array '%s' of the saved state has %zu numbers, expected %zu",
                name, found, n);
    return x && found == n ? x : NULL;
}

static bool whole_within(double x, double lo, double hi)
{
    return x >= lo && x <= hi && x == floor(x);
}

// The kind, from the characters of its name; NULL and a message if there is none.
static const rh_repr_type *load_kind(const rh_state *state, rh_error *err)
{
    char name[NLETTER + 1] = "";
    size_t n = 0;
    const double *x = rh_state__doubles(state, "repr kind", &n);
    bool right = x && n >= 1 && n <= NLETTER;
    for (size_t i = 0; right && i < n; i++) {
        right = whole_within(x[i], ' ', '~');
        name[i] = (char)(right ? x[i] : 0.0);
    }
    if (!right) {
        rh_fail(err, RH_EFORMAT,
                "representation: the saved state has no array 'repr kind' with a name of 1 to "
                "%d characters",
                NLETTER);
        return NULL;
    }
    return rh_repr_find(name, err);
}

// A kind with parameter d has a network with d outputs.
static int codes_of(const rh_repr *repr, bool *has_network)
{
    int d = rh_param_find(repr->type->param, repr->type->nparam, "d");
    *has_network = d >= 0;
    return d >= 0 ? (int)repr->param[d] : rh_repr__ninput(repr);
}

static rh_status load_network(rh_repr *repr, const rh_state *state, rh_error *err)
{
    rh_status rc = rh_mlp__load(&repr->mlp, network, state, err);
    if (rc)
        return rc == RH_ENOMEM ? rc : RH_EFORMAT;
    int nin = rh_repr__ninput(repr);
    if (rh_mlp__ninput(repr->mlp) != nin || rh_mlp__noutput(repr->mlp) != repr->ncode)
        return rh_fail(err, RH_EFORMAT,
                       "representation: the saved network has %d inputs and %d outputs, "
                       "expected %d and %d",
                       rh_mlp__ninput(repr->mlp), rh_mlp__noutput(repr->mlp), nin, repr->ncode);
    return RH_OK;
}

static rh_status load_training(rh_repr *repr, const rh_state *state, rh_error *err)
{
    const double *x = array_of(state, "repr training", NTRAINING, err);
    if (!x)
        return RH_EFORMAT;
    if (!whole_within(x[NSTEP], 0.0, 1e15) || !whole_within(x[EARLY], 0.0, 1.0) ||
        isinf(x[LOSS]) || isinf(x[AWARENESS]) || isinf(x[HELD_OUT]))
        return rh_fail(err, RH_EFORMAT,
                       "representation: array 'repr training' of the saved state has steps = "
                       "%g, loss = %g, early = %g, awareness = %g and %g",
                       x[NSTEP], x[LOSS], x[EARLY], x[AWARENESS], x[HELD_OUT]);
    repr->training = (rh_repr__training){
        .nstep = (int64_t)x[NSTEP],
        .loss = x[LOSS],
        .early = x[EARLY] != 0.0,
        .awareness = x[AWARENESS],
        .held_out = x[HELD_OUT],
    };
    return RH_OK;
}

// Sensors on circles; a state without them has none.
static rh_status load_circles(rh_repr *repr, const rh_state *state, rh_error *err)
{
    size_t n = 0;
    if (!rh_state__doubles(state, "repr circle", &n))
        return RH_OK;
    const double *circle = array_of(state, "repr circle", 2 * (size_t)repr->nobs, err);
    if (!circle)
        return RH_EFORMAT;
    bool right = rh_base__all_finite(circle, 2 * repr->nobs);
    for (int i = 0; i < repr->nobs; i++)
        right = right && circle[i] >= 0.0;
    if (!right)
        return rh_fail(err, RH_EFORMAT,
                       "representation: a number in the array 'repr circle' of the saved state "
                       "is not finite, or a period is below 0");
    rh_repr__bend(repr, circle, circle + repr->nobs, repr->nobs);
    return RH_OK;
}

// Parameters, shape and scales.
static rh_status load_parts(rh_repr *repr, const rh_state *state, rh_error *err)
{
    const rh_repr_type *type = repr->type;
    size_t nin = (size_t)repr->nobs + (size_t)repr->nact;
    const double *param = array_of(state, "repr param", (size_t)type->nparam, err);
    const double *centre = param ? array_of(state, "repr centre", nin, err) : NULL;
    const double *factor = centre ? array_of(state, "repr factor", nin, err) : NULL;
    if (!factor)
        return RH_EFORMAT;
    if (rh_param__check(type->param, type->nparam, type->name, param, err))
        return RH_EFORMAT;
    if (!rh_base__all_finite(centre, (int)nin) || !rh_base__all_finite(factor, (int)nin))
        return rh_fail(err, RH_EFORMAT,
                       "representation: a number in the arrays 'repr centre' and 'repr factor' "
                       "of the saved state is not finite");
    memcpy(repr->param, param, (size_t)type->nparam * sizeof *param);
    memcpy(repr->centre, centre, nin * sizeof *centre);
    memcpy(repr->factor, factor, nin * sizeof *factor);
    return RH_OK;
}

rh_status rh_repr__load(rh_repr **out, const rh_state *state, rh_error *err)
{
    rh_repr *repr = NULL;
    rh_status rc = RH_EFORMAT;
    bool has_network = false;

    const rh_repr_type *type = load_kind(state, err);
    const double *shape = type ? array_of(state, "repr shape", NSHAPE, err) : NULL;
    if (!shape)
        goto done;
    if (!whole_within(shape[NOBS], 1.0, RH_MAX_OBS) ||
        !whole_within(shape[NACT], 0.0, RH_MAX_ACT) ||
        !whole_within(shape[NCODE], 1.0, RH_MAX_CODE)) {
        rc = rh_fail(err, RH_EFORMAT,
                     "representation: array 'repr shape' of the saved state is %g, %g, %g, "
                     "expected 1 to %d, 0 to %d and 1 to %d",
                     shape[NOBS], shape[NACT], shape[NCODE], RH_MAX_OBS, RH_MAX_ACT,
                     RH_MAX_CODE);
        goto done;
    }

    rc = rh_repr__make(&repr, type, (int)shape[NOBS], (int)shape[NACT], err);
    if (!rc)
        rc = load_parts(repr, state, err);
    if (!rc)
        rc = load_circles(repr, state, err);
    if (rc)
        goto done;
    repr->ncode = codes_of(repr, &has_network);
    if (repr->ncode != (int)shape[NCODE]) {
        rc = rh_fail(err, RH_EFORMAT,
                     "representation: codes of %g numbers in the saved state, expected %d",
                     shape[NCODE], repr->ncode);
        goto done;
    }
    rc = load_training(repr, state, err);
    if (!rc && has_network)
        rc = load_network(repr, state, err);

done:
    if (rc)
        rh_repr_destroy(repr);
    else
        *out = repr;
    return rc;
}
