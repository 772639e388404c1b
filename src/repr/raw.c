// raw.c - the scaled inputs themselves.

#include "repr_internal.h"

enum { SCALE, NPARAM };

static const rh_param raw_param[NPARAM] = {
    [SCALE] = RH_SCALE_PARAM,
};

static rh_status raw_fit(rh_repr *repr, const rh_repr_work *work, rh_error *err)
{
    repr->ncode = repr->nobs + repr->nact;
    if (repr->ncode > RH_MAX_CODE)
        return rh_fail(err, RH_EINVAL, "raw: %d inputs, expected at most %d; try laplacian",
                       repr->ncode, RH_MAX_CODE);
    return rh_repr__scale(repr, work, (rh_repr__scaling)work->param[SCALE], err);
}

const rh_repr_type rh_repr_raw = {
    .name = "raw",
    .about = "the sensors themselves, scaled",
    .param = raw_param,
    .nparam = NPARAM,
    .fit = raw_fit,
};
