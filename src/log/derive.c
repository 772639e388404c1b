// derive.c - adds sensors that are computed from others: "dT = T_in - T_out; p2 = p^2".
//
// 1. Sensors are derived from the finished log, so that every format has them and s' has them
//    too. A formula names sensors of the log, and those derived before it.
// 2. Where a formula has no value (1/0), the sensor is missing.

#include "base/base_internal.h"
#include "log_internal.h"

#include "base/expression.h"

#include <math.h>
#include <string.h>

#define MOST 64 // derived sensors

typedef struct derived {
    const char *path;
    char *text;                   // owned: the option, cut into names and formulas
    const char *formula[MOST];    // in text
    const char *name[RH_MAX_OBS]; // of all sensors; those derived are in text
    const char *unit[RH_MAX_OBS]; //
    rh_expression compiled[MOST]; // owned
    int nobs, n;                  // sensors of the log, and derived ones
    double *obs;                  // owned                    (nstate x (nobs + n))
    const char **note;            // owned: the log's notes and one more
} derived;

static char *trim(char *text, char *end)
{
    text += strspn(text, " \t\r\n");
    while (end > text && strchr(" \t\r\n", end[-1]))
        end--;
    *end = 0;
    return text;
}

// Cut "name = formula" and compile it; `item` ends with a 0.
static rh_status take(derived *d, char *item, rh_error *err)
{
    char label[400], shown[60];
    char *equal = strchr(item, '=');
    snprintf(label, sizeof label, "%s: derive", rh_base__path_tail(d->path));
    rh_text__printable(item, shown, sizeof shown);
    if (!equal || equal[1] == '=' || equal == item)
        return rh_fail(err, RH_EINVAL,
                       "%s = %s, expected a name and a formula: dT = T_in - T_out", label,
                       shown);
    char *name = trim(item, equal), *formula = trim(equal + 1, equal + 1 + strlen(equal + 1));
    size_t n = strlen(name);
    if (n > 1 && (*name == '"' || *name == '\'') && name[n - 1] == *name) {
        name[n - 1] = 0;
        name++;
    }
    int all = d->nobs + d->n;
    if (d->n == MOST || all == RH_MAX_OBS)
        return rh_fail(err, RH_EINVAL,
                       "%s = %s: too many sensors, expected at most %d derived and "
                       "%d in all",
                       label, shown, MOST, RH_MAX_OBS);
    for (int i = 0; i < all; i++)
        if (!*name || strcmp(d->name[i], name) == 0)
            return rh_fail(err, RH_EINVAL, "%s = %s: %s, expected a new name", label, shown,
                           *name ? "there is such a sensor" : "no name");
    rh_expression__scope scope = {label, "sensor", d->name, NULL, all};
    rh_status rc = rh_expression__compile(&d->compiled[d->n], formula, &scope, err);
    d->formula[d->n] = formula;
    d->name[all] = name;
    d->unit[all] = "";
    d->n++;
    return rc;
}

static rh_status parse(derived *d, const char *list, rh_error *err)
{
    rh_status rc = RH_OK;
    d->text = rh_base__copy(list);
    if (!d->text)
        return rh_base__no_memory(err, d->path);
    for (char *p = d->text, *next; !rc && p; p = next) {
        next = strchr(p, ';');
        if (next)
            *next++ = 0;
        p = trim(p, p + strlen(p));
        if (*p)
            rc = take(d, p, err);
    }
    return rc;
}

// Compute the sensors of every state.
static rh_status compute(derived *d, const rh_log *log, int64_t *nmissing, rh_error *err)
{
    int all = d->nobs + d->n;
    d->obs = rh_alloc((size_t)log->nstate, (size_t)all * sizeof *d->obs);
    if (!d->obs)
        return rh_base__no_memory(err, d->path);
    for (int64_t i = 0; i < log->nstate; i++) {
        double *to = d->obs + i * all;
        memcpy(to, log->obs + i * d->nobs, (size_t)d->nobs * sizeof *to);
        for (int k = 0; k < d->n; k++) {
            double x = rh_expression__value(&d->compiled[k], to);
            to[d->nobs + k] = isfinite(x) ? x : (double)NAN;
            *nmissing += !isfinite(x);
        }
    }
    return RH_OK;
}

// The log's notes and "derived: dT = T_in - T_out".
static rh_status add_note(derived *d, const rh_log *log, rh_text *text, rh_error *err)
{
    const rh_log_reading *r = &log->reading;
    d->note = rh_alloc((size_t)r->nnote + 1, sizeof *d->note);
    rh_text__add(text, "derived sensors: ");
    for (int k = 0; k < d->n; k++)
        rh_text__format(text, "%s%s = %s", k ? "; " : "", d->name[d->nobs + k], d->formula[k]);
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
    derived *d = rh_alloc(1, sizeof *d);
    rh_status rc = RH_OK;
    if (!d)
        return rh_base__no_memory(err, path);
    d->path = path;
    d->nobs = from->nobs;
    for (int i = 0; i < d->nobs; i++) {
        d->name[i] = from->obs_name[i];
        d->unit[i] = from->obs_unit[i];
    }
    rc = parse(d, list, err);
    if (!rc)
        rc = compute(d, from, &parts.reading.nmissing, err);
    if (!rc)
        rc = add_note(d, from, &note, err);
    if (rc)
        goto done;
    parts.nobs += d->n;
    parts.obs = d->obs;
    parts.obs_name = d->name;
    parts.obs_unit = d->unit;
    parts.reading.note = d->note;
    parts.reading.nnote++;
    rc = rh_log_copy(&out, &parts, err);
    if (rc)
        goto done;
    rh_log_destroy(*log);
    *log = out;

done:
    for (int k = 0; k < d->n; k++)
        rh_expression__clear(&d->compiled[k]);
    rh_text__clear(&note);
    rh_free(d->text);
    rh_free(d->obs);
    rh_free((void *)d->note);
    rh_free(d);
    return rh_log__one_line(rc, err);
}
