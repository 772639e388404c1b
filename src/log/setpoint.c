// setpoint.c - sensors that a person or a schedule sets for another one: --setpoint T_sp=T
//
// 1. No action moves a setpoint. The agent sees its error as well, a derived sensor: T_sp_error
//    is T_sp - T. So a deployment computes it, and a model that has moved either recomputes it.
// 2. With --setpoint-values drawn a regression draws other values than the logged ones
//    (model/linear_env.c). The past of a setpoint would still be the logged one, so a log of
//    stacked observations is refused.

#include "base/base.h"
#include "base/base_internal.h"
#include "log.h"
#include "log_internal.h"

#include <stdio.h>
#include <string.h>

static bool is_in(const rh_log *log, const char *name)
{
    for (int k = 0; k < log->nobs; k++)
        if (strcmp(log->obs_name[k], name) == 0)
            return true;
    return false;
}

// Add the formula of the error of "T_sp=T", which is cut.
static rh_status add_error(rh_text *derive, char *pair, const rh_log *log, const char *what,
                           rh_error *err)
{
    char *equal = strchr(pair, '=');
    if (!equal || equal == pair || !equal[1])
        return rh_fail(err, RH_EINVAL,
                       "%s = %s, expected a setpoint and its sensor, such as T_sp=T", what,
                       pair);
    *equal = 0;
    for (int side = 0; side < 2; side++) {
        const char *name = side ? equal + 1 : pair;
        char label[420];
        if (is_in(log, name))
            continue;
        snprintf(label, sizeof label, "%s: no sensor", what);
        rh_base__unknown(err, label, name, log->obs_name, log->nobs);
        return RH_EINVAL;
    }
    rh_text__format(derive, "%s'%s_error' = '%s' - '%s'", derive->n ? "; " : "", pair, pair,
                    equal + 1);
    return RH_OK;
}

rh_status rh_log__add_errors(rh_text *derive, const rh_log *log, const char *list,
                             const char *path, rh_error *err)
{
    char **pair = NULL, what[400];
    int n = 0;
    snprintf(what, sizeof what, "%s: setpoint", rh_base__path_tail(path));
    rh_status rc = rh_log__split(list, &pair, &n, err);
    for (int i = 0; !rc && i < n; i++)
        rc = add_error(derive, pair[i], log, what, err);
    rh_free(pair);
    return rh_log__one_line(rc, err);
}

rh_status rh_log__set_setpoints(rh_log **log, const char *list, rh_setpoint_values values,
                                rh_error *err)
{
    rh_log parts = **log, *copy = NULL;
    parts.setpoint = list;
    parts.setpoint_values = values;
    rh_status rc = rh_log_copy(&copy, &parts, err);
    if (rc)
        return rc;
    rh_log_destroy(*log);
    *log = copy;
    return RH_OK;
}

bool rh_log__is_setpoint(const rh_log *log, int sensor)
{
    const char *name = log->obs_name[sensor], *past = strrchr(name, '[');
    size_t n = log->stack > 1 && past && past[1] == '-' ? (size_t)(past - name) : strlen(name);
    for (const char *c = log->setpoint; c && *c; c += *c == ',') {
        c += strspn(c, " \t");
        if (strncmp(c, name, n) == 0 && c[n] == '=')
            return true;
        c += strcspn(c, ",");
    }
    return false;
}
