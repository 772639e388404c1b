// random.c - an untrained network: the baseline of learned representations.
//
// Two hidden layers of ReLU with initial weights: the laplacian of the same seed, d, hidden and
// scale before training, so that the two differ only by what was learned.

#include "repr_internal.h"

enum { SCALE, D, HIDDEN, NPARAM };

static const rh_param random_param[NPARAM] = {
    [SCALE] = RH_SCALE_PARAM,
    RH_NET_PARAMS(D, HIDDEN),
};

static rh_status random_fit(rh_repr *repr, const rh_repr_work *work, rh_error *err)
{
    const double *p = work->param;
    rh_status rc = rh_repr__scale(repr, work, (rh_repr__scaling)p[SCALE], err);
    if (!rc)
        rc = rh_repr__network(repr, (int)p[D], (int)p[HIDDEN], RH_MLP_PLAIN, work->seed, err);
    return rc;
}

const rh_repr_type rh_repr_random = {
    .name = "random",
    .about = "an untrained network, as a baseline",
    .param = random_param,
    .nparam = NPARAM,
    .fit = random_fit,
};
