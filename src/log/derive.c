// derive.c - adds sensors that are computed from others to a log: "dT = T_in - T_out; p2 =
// p^2".
//
// Sensors are derived from the finished log (observer.c), so that every format has them and s'
// has them too. The log keeps the list, for a deployment that computes the same.

#include "base/base_internal.h"
#include "log.h"
#include "log_internal.h"
#include "observer.h"

#include <string.h>

typedef struct derived {
    rh_derive derive;
    const char *path;
    const char *unit[RH_MAX_OBS]; // of all sensors
    double *obs;                  // owned                    (nstate x (nobs + n))
    const char **note;            // owned: the log's notes and one more
} derived;

// Compute the sensors of every state.
static rh_status compute(derived *d, const rh_log *log, int64_t *nmissing, rh_error *err)
{
    int nobs = d->derive.nobs, all = nobs + d->derive.n;
    d->obs = rh_alloc((size_t)log->nstate, (size_t)all * sizeof *d->obs);
    if (!d->obs)
        return rh_base__no_memory(err, d->path);
    for (int64_t i = 0; i < log->nstate; i++) {
        double *to = d->obs + i * all;
        memcpy(to, log->obs + i * nobs, (size_t)nobs * sizeof *to);
        *nmissing += rh_derive__put(&d->derive, to);
    }
    return RH_OK;
}

// The log's notes and "derived: dT = T_in - T_out".
static rh_status add_note(derived *d, const rh_log *log, rh_text *text, rh_error *err)
{
    const rh_log_reading *r = &log->reading;
    d->note = rh_alloc((size_t)r->nnote + 1, sizeof *d->note);
    rh_text__add(text, "derived sensors: ");
    for (int k = 0; k < d->derive.n; k++)
        rh_text__format(text, "%s%s = %s", k ? "; " : "", d->derive.name[log->nobs + k],
                        d->derive.formula[k]);
    if (!d->note || text->bad)
        return rh_base__no_memory(err, d->path);
    for (int i = 0; i < r->nnote; i++)
        d->note[i] = r->note[i];
    d->note[r->nnote] = text->data;
    return RH_OK;
}

rh_status rh_log__derive(rh_log **log, const char *list, const char *path, rh_error *err)
{
    const rh_log *from = *log;
    rh_log parts = *from, *out = NULL;
    rh_text note = {0};
    char label[400];
    derived *d = rh_alloc(1, sizeof *d);
    rh_status rc = RH_OK;
    if (!d)
        return rh_base__no_memory(err, path);
    d->path = path;
    snprintf(label, sizeof label, "%s: derive", rh_base__path_tail(path));
    rc = rh_derive__init(&d->derive, from->obs_name, from->nobs, list, label, err);
    for (int i = 0; i < RH_MAX_OBS; i++)
        d->unit[i] = i < from->nobs ? from->obs_unit[i] : "";
    if (!rc)
        rc = compute(d, from, &parts.reading.nmissing, err);
    if (!rc)
        rc = add_note(d, from, &note, err);
    if (rc)
        goto done;
    parts.nobs += d->derive.n;
    parts.derive = list;
    parts.obs = d->obs;
    parts.obs_name = d->derive.name;
    parts.obs_unit = d->unit;
    parts.reading.note = d->note;
    parts.reading.nnote++;
    rc = rh_log_copy(&out, &parts, err);
    if (rc)
        goto done;
    rh_log_destroy(*log);
    *log = out;

done:
    rh_derive__clear(&d->derive);
    rh_text__clear(&note);
    rh_free(d->obs);
    rh_free((void *)d->note);
    rh_free(d);
    return rh_log__one_line(rc, err);
}
