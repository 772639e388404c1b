// observer.c - what an agent sees of the sensors: derived ones, and the history of the last
// steps. Readers of logs and deployments both use this, so they make the same numbers.
//
//     s_k with its derived sensors, then for lag = 1 .. depth - 1: s_(k-lag), a_(k-lag)
//
// 1. A formula names sensors, and those derived before it. Where it has no value (1/0), the
//    sensor is missing.
// 2. Before the first step of an episode there is no history: the first observation is
//    repeated, and the actions are 0.
// 3. After a gap the history is unknown. An observer goes on as at a start, and says for
//    depth - 1 steps that the history is not whole.
// 4. A discrete action is one number for each of its values, 1 if it was taken. Of two values
//    the second has a number, 1 if it was taken and -1 if the first was. 0: no action yet.

#include "observer.h"
#include "base/base_internal.h"
#include "log.h"
#include "log_internal.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- derived sensors

static char *trim(char *text, char *end)
{
    text += strspn(text, " \t\r\n");
    while (end > text && strchr(" \t\r\n", end[-1]))
        end--;
    *end = 0;
    return text;
}

// Cut "name = formula" and compile it; `item` ends with a 0.
static rh_status take(rh_derive *d, char *item, const char *label, rh_error *err)
{
    char shown[60];
    char *equal = strchr(item, '=');
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
    if (d->n == RH_DERIVE__MOST || all == RH_MAX_OBS)
        return rh_fail(err, RH_EINVAL,
                       "%s = %s: too many sensors, expected at most %d derived and "
                       "%d in all",
                       label, shown, RH_DERIVE__MOST, RH_MAX_OBS);
    for (int i = 0; i < all; i++)
        if (!*name || strcmp(d->name[i], name) == 0)
            return rh_fail(err, RH_EINVAL, "%s = %s: %s, expected a new name", label, shown,
                           *name ? "there is such a sensor" : "no name");
    rh_expression__scope scope = {label, "sensor", d->name, NULL, all};
    rh_status rc = rh_expression__compile(&d->compiled[d->n], formula, &scope, err);
    d->formula[d->n] = formula;
    d->name[all] = name;
    d->n++;
    return rc;
}

int rh_derive__count(const char *list)
{
    int n = 0;
    for (const char *p = list; p && *p; p += *p == ';') {
        size_t blank = strspn(p, " \t\r\n");
        n += p[blank] && p[blank] != ';';
        p += strcspn(p, ";");
    }
    return n;
}

rh_status rh_derive__init(rh_derive *d, const char *const *name, int nobs, const char *list,
                          const char *label, rh_error *err)
{
    rh_status rc = RH_OK;
    d->nobs = nobs;
    for (int i = 0; i < nobs; i++)
        d->name[i] = name[i];
    if (!list)
        return RH_OK;
    d->text = rh_base__copy(list);
    if (!d->text)
        return rh_base__no_memory(err, label);
    for (char *p = d->text, *next; !rc && p; p = next) {
        next = strchr(p, ';');
        if (next)
            *next++ = 0;
        p = trim(p, p + strlen(p));
        if (*p)
            rc = take(d, p, label, err);
    }
    return rc;
}

void rh_derive__clear(rh_derive *d)
{
    for (int k = 0; k < d->n; k++)
        rh_expression__clear(&d->compiled[k]);
    rh_free(d->text);
}

int rh_derive__put(const rh_derive *d, double *obs)
{
    int nmissing = 0;
    for (int k = 0; k < d->n; k++) {
        double x = rh_expression__value(&d->compiled[k], obs);
        obs[d->nobs + k] = isfinite(x) ? x : (double)NAN;
        nmissing += !isfinite(x);
    }
    return nmissing;
}

void rh_derive__compute(const rh_derive *d, double *obs)
{
    for (int k = 0; d && k < d->n; k++) {
        double x = rh_expression__value(&d->compiled[k], obs);
        obs[d->nobs + k] = isfinite(x) ? x : obs[d->nobs + k];
    }
}

// Whether the list gives the derived sensors of every state.
static bool gives(const rh_derive *d, const rh_log *log)
{
    double x[RH_MAX_OBS];
    size_t size = (size_t)log->nobs * sizeof *x;
    for (int64_t i = 0; i < log->nstate; i++) {
        memcpy(x, log->obs + i * log->nobs, size);
        rh_derive__compute(d, x);
        if (memcmp(x, log->obs + i * log->nobs, size) != 0)
            return false;
    }
    return true;
}

rh_status rh_derive__create(rh_derive **out, const rh_log *log, rh_error *err)
{
    int n = rh_derive__count(log->derive);
    *out = NULL;
    if (n == 0 || n >= log->nobs || log->stack > 1)
        return RH_OK;
    rh_derive *d = rh_alloc(1, sizeof *d);
    if (!d)
        return rh_base__no_memory(err, "derive");
    rh_status rc = rh_derive__init(d, log->obs_name, log->nobs - n, log->derive, "derive", err);
    if (!rc && d->n == n && gives(d, log)) {
        *out = d;
        return RH_OK;
    }
    rh_derive__destroy(d);
    return rc == RH_ENOMEM ? rc : RH_OK;
}

void rh_derive__destroy(rh_derive *d)
{
    if (!d)
        return;
    rh_derive__clear(d);
    rh_free(d);
}

// ---------------------------------------------------------------------------- histories

rh_status rh_past__init(rh_past *p, int depth, int nobs, int naction, int nact,
                        const char *label, rh_error *err)
{
    int ncode = naction == 2 ? 1 : naction ? naction : nact;
    *p = (rh_past){.depth = depth, .nobs = nobs, .naction = naction, .nact = nact};
    p->ncode = ncode;
    if (rh_past__width(p) > RH_MAX_OBS)
        return rh_fail(err, RH_EINVAL,
                       "%s: stack = %d: %d numbers in an observation, expected at most %d; "
                       "choose fewer sensors with --obs",
                       label, depth, rh_past__width(p), RH_MAX_OBS);
    p->first = rh_alloc((size_t)rh_past__width(p), sizeof *p->first);
    if (!p->first)
        return rh_base__no_memory(err, label);
    p->ring = p->first + nobs;
    return RH_OK;
}

void rh_past__clear(rh_past *p)
{
    rh_free(p->first);
}

int rh_past__width(const rh_past *p)
{
    return p->depth * p->nobs + (p->depth - 1) * p->ncode;
}

void rh_past__begin(rh_past *p)
{
    p->n = 0;
}

void rh_past__push(rh_past *p, const double *obs, const double *act)
{
    int size = p->nobs + p->ncode;
    if (p->n == 0)
        memcpy(p->first, obs, (size_t)p->nobs * sizeof *obs);
    if (p->depth > 1) {
        double *to = p->ring + p->n % (p->depth - 1) * size, *code = to + p->nobs;
        memcpy(to, obs, (size_t)p->nobs * sizeof *obs);
        memset(code, 0, (size_t)p->ncode * sizeof *code);
        if (!p->naction)
            memcpy(code, act, (size_t)p->nact * sizeof *act);
        else if (p->naction == 2)
            code[0] = *act == 0.0 ? -1.0 : 1.0;
        else
            code[(int)*act] = 1.0;
    }
    p->n++;
}

void rh_past__show(const rh_past *p, const double *obs, double *to)
{
    int size = p->nobs + p->ncode;
    size_t now = (size_t)p->nobs * sizeof *to;
    memcpy(to, obs, now);
    to += p->nobs;
    for (int lag = 1; lag < p->depth; lag++, to += size) {
        if (lag <= p->n) {
            memcpy(to, p->ring + (p->n - lag) % (p->depth - 1) * size,
                   (size_t)size * sizeof *to);
            continue;
        }
        memcpy(to, p->n ? p->first : obs, now);
        memset(to + p->nobs, 0, (size_t)p->ncode * sizeof *to);
    }
}

// ---------------------------------------------------------------------------- observers

struct rh_observer {
    rh_derive derive;
    rh_past past;
    int64_t unknown;        // steps whose history is not whole
    double now[RH_MAX_OBS]; // the sensors shown last, with those derived
};

rh_status rh_observer__create(rh_observer **out, const char *const *name, int nsensor,
                              const char *derive, int stack, int naction, int nact,
                              rh_error *err)
{
    if (nsensor < 1 || nsensor > RH_MAX_OBS || stack < 1 || stack > RH_LOG__MOST_STACKED ||
        naction < 0 || naction > RH_MAX_ACTIONS || nact < 1 || nact > RH_MAX_ACT)
        return rh_fail(err, RH_EINVAL,
                       "observer: %d sensors, stack = %d, %d actions of %d numbers, expected "
                       "at most %d, %d, %d and %d",
                       nsensor, stack, naction, nact, RH_MAX_OBS, RH_LOG__MOST_STACKED,
                       RH_MAX_ACTIONS, RH_MAX_ACT);
    rh_observer *o = rh_alloc(1, sizeof *o);
    if (!o)
        return rh_base__no_memory(err, "observer");
    rh_status rc = rh_derive__init(&o->derive, name, nsensor, derive, "derive", err);
    if (!rc)
        rc = rh_past__init(&o->past, stack, nsensor + o->derive.n, naction, nact, "observer",
                           err);
    if (rc) {
        rh_observer__destroy(o);
        return rc;
    }
    *out = o;
    return RH_OK;
}

void rh_observer__destroy(rh_observer *o)
{
    if (!o)
        return;
    rh_derive__clear(&o->derive);
    rh_past__clear(&o->past);
    rh_free(o);
}

int rh_observer__nobs(const rh_observer *o)
{
    return rh_past__width(&o->past);
}

void rh_observer__begin(rh_observer *o, bool starts)
{
    rh_past__begin(&o->past);
    o->unknown = starts ? 0 : o->past.depth - 1;
}

bool rh_observer__show(rh_observer *o, const double *sensor, double *obs)
{
    memcpy(o->now, sensor, (size_t)o->derive.nobs * sizeof *sensor);
    rh_derive__put(&o->derive, o->now);
    rh_past__show(&o->past, o->now, obs);
    return o->past.n >= o->unknown;
}

void rh_observer__act(rh_observer *o, const double *act)
{
    rh_past__push(&o->past, o->now, act);
}
