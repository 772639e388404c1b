// store.c - the arrays of a model file by name, and what to say about a wrong one.
//
// The file may have been written by anyone: an array is used only if it has the expected type
// and length, and who asked for it checks its values.

#include "store.h"
#include "base/base_internal.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_TEXTS 10000

typedef char full_name[2 * RH_STATE__NAME];

static const char *full(const rh_store *store, const char *name, full_name text)
{
    snprintf(text, sizeof(full_name), "%s%s", store->prefix, name);
    return text;
}

void rh_store__within(rh_store *store, const char *group, int index)
{
    store->prefix[0] = 0;
    if (group && index >= 0)
        snprintf(store->prefix, sizeof store->prefix, "%s/%d/", group, index);
    else if (group)
        snprintf(store->prefix, sizeof store->prefix, "%s/", group);
}

// ---------------------------------------------------------------------------- failures

void rh_store__refuse(rh_store *store, const char *name, const char *format, ...)
{
    full_name key;
    char text[sizeof store->err->text], shown[sizeof text];
    va_list rest;
    if (store->rc)
        return;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    store->rc = rh_fail(store->err, RH_EFORMAT, "%s: %s: %s", rh_base__path_tail(store->path),
                        full(store, name, key),
                        rh_text__printable(text, shown, sizeof shown)); // texts of the file
}

void rh_store__no_memory(rh_store *store)
{
    if (!store->rc)
        store->rc = rh_base__no_memory(store->err, rh_base__path_tail(store->path));
}

void rh_store__pass(rh_store *store, const char *name, rh_status status, const rh_error *why)
{
    if (store->rc || !status)
        return;
    rh_store__refuse(store, name, "%s", why->text);
    store->rc = status == RH_ENOMEM ? RH_ENOMEM : RH_EFORMAT;
}

// ---------------------------------------------------------------------------- writing

void rh_store__put(rh_store *store, const char *name, rh_state__type type, const void *x,
                   int64_t n)
{
    full_name key;
    if (!store->rc)
        store->rc =
            rh_state__put(store->state, full(store, name, key), type, x, (size_t)n, store->err);
}

void rh_store__lend(rh_store *store, const char *name, rh_state__type type, const void *x,
                    int64_t n)
{
    full_name key;
    if (!store->rc)
        store->rc = rh_state__lend(store->state, full(store, name, key), type, x, (size_t)n,
                                   store->err);
}

void rh_store__put_number(rh_store *store, const char *name, double x)
{
    rh_store__put(store, name, RH_STATE_F64, &x, 1);
}

void rh_store__put_text(rh_store *store, const char *name, const char *text)
{
    rh_store__put(store, name, RH_STATE_TEXT, text, (int64_t)strlen(text) + 1);
}

void rh_store__put_texts(rh_store *store, const char *name, const char *const *text, int n)
{
    size_t size = 0, used = 0;
    if (store->rc)
        return;
    for (int i = 0; i < n; i++)
        size += strlen(text[i]) + 1;
    char *all = rh_alloc(size, 1);
    if (!all) {
        rh_store__no_memory(store);
        return;
    }
    for (int i = 0; i < n; i++) {
        memcpy(all + used, text[i], strlen(text[i]) + 1);
        used += strlen(text[i]) + 1;
    }
    rh_store__put(store, name, RH_STATE_TEXT, all, (int64_t)size);
    rh_free(all);
}

void rh_store__put_named(rh_store *store, const char *name, const char *const *names,
                         const double *x, int n)
{
    char part[RH_STATE__NAME];
    snprintf(part, sizeof part, "%s_name", name);
    rh_store__put_texts(store, part, names, n);
    rh_store__put(store, name, RH_STATE_F64, x, n);
}

// ---------------------------------------------------------------------------- reading

bool rh_store__has(const rh_store *store, const char *name)
{
    full_name key;
    return rh_state__find(store->state, full(store, name, key)) != NULL;
}

// NULL after a failure.
static rh_state__array *find(rh_store *store, const char *name, rh_state__type type, int64_t n)
{
    full_name key;
    if (store->rc)
        return NULL;
    rh_state__array *a = rh_state__find(store->state, full(store, name, key));
    if (!a || !a->x)
        rh_store__refuse(store, name, "missing");
    else if (a->type != type)
        rh_store__refuse(store, name, "an array of %s, expected %s",
                         rh_state__type_name(a->type), rh_state__type_name(type));
    else if (n >= 0 && a->n != (size_t)n)
        rh_store__refuse(store, name, "%zu numbers, expected %lld", a->n, (long long)n);
    return store->rc ? NULL : a;
}

const void *rh_store__look(rh_store *store, const char *name, rh_state__type type, int64_t n,
                           int64_t *got)
{
    const rh_state__array *a = find(store, name, type, n);
    if (a && got)
        *got = (int64_t)a->n;
    return a ? a->x : NULL;
}

void *rh_store__take(rh_store *store, const char *name, rh_state__type type, int64_t n,
                     int64_t *got)
{
    rh_state__array *a = find(store, name, type, n);
    if (a && got)
        *got = (int64_t)a->n;
    return a ? rh_state__take(a) : NULL;
}

void rh_store__copy(rh_store *store, const char *name, rh_state__type type, int64_t n, void *x)
{
    const void *from = rh_store__look(store, name, type, n, NULL);
    if (from && n)
        memcpy(x, from, (size_t)n * rh_state__width(type));
}

double rh_store__number(rh_store *store, const char *name, double lo, double hi)
{
    const double *x = rh_store__look(store, name, RH_STATE_F64, 1, NULL);
    if (x && !(isfinite(*x) && *x >= lo && *x <= hi))
        rh_store__refuse(store, name, "%g, expected %g to %g", *x, lo, hi);
    return x && !store->rc ? *x : lo;
}

const char **rh_store__texts(rh_store *store, const char *name, int n, int *got)
{
    int64_t size = 0, count = 0;
    const char *text = rh_store__look(store, name, RH_STATE_TEXT, -1, &size);
    for (int64_t i = 0; i < size; i++)
        count += !text[i];
    if (text && (n >= 0 ? count != n : count > MOST_TEXTS))
        rh_store__refuse(store, name, "%lld texts, expected %s%d", (long long)count,
                         n >= 0 ? "" : "at most ", n >= 0 ? n : MOST_TEXTS);
    if (store->rc)
        return NULL;
    const char **all = rh_alloc((size_t)count + 1, sizeof *all);
    if (!all) {
        rh_store__no_memory(store);
        return NULL;
    }
    for (int64_t i = 0; i < count; i++) {
        all[i] = text;
        text += strlen(text) + 1;
    }
    if (got)
        *got = (int)count;
    return all;
}

const char *rh_store__text(rh_store *store, const char *name)
{
    const char **all = rh_store__texts(store, name, 1, NULL);
    const char *text = all ? all[0] : NULL;
    rh_free((void *)all);
    return text;
}

const char **rh_store__named(rh_store *store, const char *name, const double **x, int *n)
{
    char part[RH_STATE__NAME];
    snprintf(part, sizeof part, "%s_name", name);
    const char **names = rh_store__texts(store, part, -1, n);
    *x = rh_store__look(store, name, RH_STATE_F64, names ? *n : -1, NULL);
    if (store->rc) {
        rh_free((void *)names);
        names = NULL;
    }
    return names;
}
