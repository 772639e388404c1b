// raw.c - the scaled inputs themselves.
//
// Sensors on circles have two inputs. Where a code, together with the action that a model adds
// to it, would become too long, the last of these sensors stay as they are.

#include "repr_internal.h"

enum { SCALE, NPARAM };

static const rh_param raw_param[NPARAM] = {
    [SCALE] = RH_SCALE_PARAM,
};

static rh_status raw_fit(rh_repr *repr, const rh_repr_work *work, rh_error *err)
{
    const rh_log *log = work->log;
    int added = log->naction == 0 && repr->nact == 0 ? log->nact : 0;
    int room = RH_MAX_CODE - repr->nobs - repr->nact - added;
    if (repr->ncircle > room)
        rh_repr__bend(repr, work->period, work->base, room);
    repr->ncode = rh_repr__ninput(repr);
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
