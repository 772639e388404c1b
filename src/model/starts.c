// starts.c - the start states of a model.
//
// 1. Episodes of a model start where those of the log do. An episode resumed after a gap has no
//    real start; its first state counts only if no episode of the log has one.
// 2. A log may start where the plant does not: the paper's logs of Acrobot start with random
//    angles to cover more states. The true starts are then given by another log. Their states
//    are added to the model and have neighbours like any other.
// 3. After a reset in a continuing log (resets.c) an episode of the model's log begins, so its
//    first state is a start.

#include "base/base_internal.h"
#include "model_internal.h"

#include <string.h>

bool rh_model__any_start(const rh_log *log)
{
    for (int e = 0; e < log->nepisode; e++)
        if (log->start[e])
            return true;
    return false;
}

// The row of the start state of episode e, or -1 if it has none.
static int32_t start_of(const rh_log *log, int e, bool any)
{
    return any && !log->start[e] ? -1 : log->from[log->first[e]];
}

// ---------------------------------------------------------------------------- another log

// Whether a name was made up by the reader: obs_0, obs_1, ...
static bool is_nameless(const char *name, int i)
{
    char usual[24];
    snprintf(usual, sizeof usual, "obs_%d", i);
    return strcmp(name, usual) == 0;
}

static rh_status check_sensors(const rh_log *log, const rh_log *starts, rh_error *err)
{
    if (starts->nobs != log->nobs)
        return rh_fail(err, RH_EINVAL, "%s: %d sensors, expected %d as in the log",
                       rh_base__path_tail(starts->path), starts->nobs, log->nobs);
    for (int i = 0; i < log->nobs; i++) {
        const char *a = log->obs_name[i], *b = starts->obs_name[i];
        if (!is_nameless(a, i) && !is_nameless(b, i) && strcmp(a, b) != 0)
            return rh_fail(err, RH_EINVAL,
                           "%s: sensor %d is '%.40s', expected '%.40s' as in the log",
                           rh_base__path_tail(starts->path), i, b, a);
    }
    return RH_OK;
}

rh_status rh_model__gather_starts(double **more, int64_t *nmore, const rh_log *log,
                                  const rh_log *starts, rh_error *err)
{
    rh_status rc = check_sensors(log, starts, err);
    if (rc)
        return rc;
    size_t size = (size_t)log->nobs * sizeof(double);
    double *obs = rh_alloc((size_t)starts->nepisode, size);
    if (!obs)
        return rh_fail(err, RH_ENOMEM, "model: out of memory for %d starts", starts->nepisode);

    bool any = rh_model__any_start(starts);
    int64_t n = 0;
    for (int e = 0; e < starts->nepisode; e++) {
        int32_t row = start_of(starts, e, any);
        const double *x = starts->obs + (row < 0 ? 0 : (int64_t)row * log->nobs);
        if (row >= 0 && rh_base__all_finite(x, log->nobs))
            memcpy(obs + n++ * log->nobs, x, size);
    }
    if (n == 0) {
        rh_free(obs);
        return rh_fail(err, RH_EINVAL, "%s: no start without missing numbers in %d episodes",
                       rh_base__path_tail(starts->path), starts->nepisode);
    }
    *more = obs;
    *nmore = n;
    return RH_OK;
}

// ---------------------------------------------------------------------------- the model's

rh_status rh_model__find_starts(rh_model *model, int64_t nmore, rh_error *err)
{
    const rh_log *log = model->log;
    int64_t most = nmore ? nmore : log->nepisode;
    model->start = rh_alloc((size_t)most, sizeof *model->start);
    if (!model->start)
        return rh_fail(err, RH_ENOMEM, "model: out of memory for %lld starts", (long long)most);
    for (int64_t i = 0; i < nmore; i++)
        model->start[model->nstart++] = (int32_t)(log->nstate - nmore + i);
    bool any = rh_model__any_start(log);
    for (int e = 0; nmore == 0 && e < log->nepisode; e++) {
        int32_t row = start_of(log, e, any);
        if (row >= 0)
            model->start[model->nstart++] = row;
    }
    return RH_OK;
}
