// kind.c - lists of kinds by name, and checks of those that another program or a plug-in
// registers.
//
// A list has the built-in kinds in alphabetical order, then those that were registered, in
// order. Kinds are only added, never moved, and the count is written last: reading needs no
// lock.
//
// The built-in kinds are checked by tests. A kind from outside is checked when it is
// registered, so that a mistake in its table is a message and not a strange study: names end up
// in shell completions, file headers and YAML keys, ranges in searches.

#include "base_internal.h"

#include "base.h"
#include "text.h"

#include <math.h>
#include <string.h>

#define LONGEST 31 // characters of a name; a saved state has no space for more

// a-z, A-Z, 0-9, '_', '-' and '.', the first of a-z or A-Z.
static bool is_name(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_-.";
    return name && *name && strchr(first, *name) && strspn(name, all) == strlen(name) &&
           strlen(name) <= LONGEST;
}

rh_status rh_kind__check_name(const char *what, const char *name, const char *about,
                              rh_error *err)
{
    char shown[48];
    if (!is_name(name))
        return rh_fail(
            err, RH_EINVAL,
            "%s: name '%s', expected 1 to %d characters of a-z, A-Z, 0-9, '_', '-' and "
            "'.', the first of a-z or A-Z",
            what, rh_text__printable(name ? name : "", shown, sizeof shown), LONGEST);
    if (!about || !*about)
        return rh_fail(err, RH_EINVAL, "%s %s: no about, expected one line", what, name);
    return RH_OK;
}

// The names of a choice are those of 0, 1, ... hi.
static bool names_all(const rh_param *p)
{
    if (p->lo != 0.0 || !(p->hi < RH_MAX_PARAM) || p->hi != floor(p->hi))
        return false;
    for (int i = 0; i <= (int)p->hi; i++)
        if (!p->choice[i] || !*p->choice[i])
            return false;
    return true;
}

// What is wrong with a parameter; NULL: nothing.
static const char *fault_of(const rh_param *p)
{
    bool searched = p->usual_lo != p->usual_hi; // also NAN
    if (!p->about || !*p->about)
        return "no about, expected one line";
    if (!isfinite(p->lo) || !isfinite(p->hi) || !(p->lo <= p->initial && p->initial <= p->hi))
        return "expected finite lo <= initial <= hi";
    if (p->choice && !names_all(p))
        return "expected lo = 0 and a name for each choice 0, 1, ... hi";
    if ((p->whole || p->choice) && p->initial != floor(p->initial))
        return "expected a whole initial value";
    if (!searched)
        return NULL;
    if (p->fixed || p->choice)
        return "has a usual range, expected none of a fixed parameter or a choice";
    if (!(p->lo <= p->usual_lo && p->usual_lo < p->usual_hi && p->usual_hi <= p->hi))
        return "expected lo <= usual_lo < usual_hi <= hi";
    if (!(p->usual_lo <= p->initial && p->initial <= p->usual_hi))
        return "expected its initial value within its usual range";
    if (p->scale == RH_LOG && !(p->usual_lo > 0.0))
        return "expected usual_lo above 0 on a log scale";
    return NULL;
}

rh_status rh_kind__check_params(const char *what, const char *name, const rh_param *param,
                                int nparam, rh_error *err)
{
    if (nparam < 0 || nparam > RH_MAX_PARAM || (nparam > 0 && !param))
        return rh_fail(err, RH_EINVAL, "%s %s: %d parameters, expected 0 to %d in a table",
                       what, name, nparam, RH_MAX_PARAM);
    for (int i = 0; i < nparam; i++) {
        const rh_param *p = &param[i];
        if (!is_name(p->name))
            return rh_fail(
                err, RH_EINVAL,
                "%s %s: the name of parameter %d, expected 1 to %d characters of a-z, A-Z, "
                "0-9, '_', '-' and '.'",
                what, name, i, LONGEST);
        const char *fault =
            rh_param_find(param, nparam, p->name) < i ? "there are two of it" : fault_of(p);
        if (fault)
            return rh_fail(err, RH_EINVAL, "%s %s: parameter %s: %s", what, name, p->name,
                           fault);
    }
    return RH_OK;
}

rh_status rh_kind__missing(const char *what, const char *name, const char *functions,
                           rh_error *err)
{
    return rh_fail(err, RH_EINVAL, "%s %s: a function is NULL, expected %s", what, name,
                   functions);
}

// ---------------------------------------------------------------------------- lists

int rh_kind__count(const rh_kind__list *list)
{
    return list->nbuilt_in + atomic_load(&list->nadded);
}

const void *rh_kind__at(const rh_kind__list *list, int i)
{
    if (i < 0 || i >= rh_kind__count(list))
        return NULL;
    return i < list->nbuilt_in ? list->built_in[i] : list->added[i - list->nbuilt_in];
}

// Kinds of every sort begin with their name.
static const char *name_of(const void *kind)
{
    return *(const char *const *)kind;
}

const void *rh_kind__find(const rh_kind__list *list, const char *name, rh_error *err)
{
    const char *known[2 * RH_MAX_KIND];
    char what[32];
    int n = rh_kind__count(list);
    for (int i = 0; i < n; i++) {
        const void *kind = rh_kind__at(list, i);
        if (strcmp(name_of(kind), name) == 0)
            return kind;
        known[i] = name_of(kind);
    }
    snprintf(what, sizeof what, "no %s", list->what);
    rh_base__unknown(err, what, name, known, n);
    return NULL;
}

rh_status rh_kind__add(rh_kind__list *list, const void *kind, rh_error *err)
{
    rh_status rc = RH_OK;
    const char *name = name_of(kind);
    pthread_mutex_lock(&list->adding);
    int n = atomic_load(&list->nadded);
    if (rh_kind__find(list, name, NULL))
        rc = rh_fail(err, RH_EINVAL, "%s %.120s: there is one of this name, expected another",
                     list->what, name);
    else if (n == RH_MAX_KIND)
        rc = rh_fail(err, RH_EINVAL, "%s %.120s: expected at most %d registered %ss",
                     list->what, name, RH_MAX_KIND, list->what);
    else {
        list->added[n] = kind;
        atomic_store(&list->nadded, n + 1);
    }
    pthread_mutex_unlock(&list->adding);
    return rc;
}
