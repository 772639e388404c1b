// state.c - named arrays in memory. Their file is in state_file.c.

#include "state.h"
#include "base.h"

#include <string.h>

static const struct {
    size_t width;
    const char *name;
} types[RH_STATE_NTYPE] = {
    [RH_STATE_F64] = {8, "float64"}, [RH_STATE_F32] = {4, "float32"},
    [RH_STATE_I64] = {8, "int64"},   [RH_STATE_I32] = {4, "int32"},
    [RH_STATE_U8] = {1, "uint8"},    [RH_STATE_TEXT] = {1, "text"},
};

size_t rh_state__width(rh_state__type type)
{
    return types[type].width;
}

const char *rh_state__type_name(rh_state__type type)
{
    return types[type].name;
}

rh_status rh_state__create(rh_state **out, rh_error *err)
{
    rh_state *state = rh_alloc(1, sizeof *state);
    if (!state)
        return rh_fail(err, RH_ENOMEM, "state: out of memory");
    *out = state;
    return RH_OK;
}

void rh_state_destroy(rh_state *state)
{
    if (!state)
        return;
    for (size_t i = 0; i < state->narray; i++)
        if (!state->array[i].lent)
            rh_free(state->array[i].x);
    rh_free(state->array);
    rh_free(state);
}

rh_state__array *rh_state__find(const rh_state *state, const char *name)
{
    for (size_t i = 0; i < state->narray; i++)
        if (strcmp(state->array[i].name, name) == 0)
            return &state->array[i];
    return NULL;
}

void *rh_state__take(rh_state__array *array)
{
    void *x = array->x;
    array->x = NULL;
    array->n = 0;
    return x;
}

rh_state__array *rh_state__add(rh_state *state)
{
    if (state->narray == state->room) {
        size_t room = state->room ? 2 * state->room : 8;
        rh_state__array *grown = rh_alloc(room, sizeof *grown);
        if (!grown)
            return NULL;
        if (state->narray)
            memcpy(grown, state->array, state->narray * sizeof *grown);
        rh_free(state->array);
        state->array = grown;
        state->room = room;
    }
    return &state->array[state->narray++];
}

rh_status rh_state__lend(rh_state *state, const char *name, rh_state__type type, const void *x,
                         size_t n, rh_error *err)
{
    size_t length = strlen(name);
    if (length < 1 || length >= RH_STATE__NAME)
        return rh_fail(err, RH_EINVAL, "state: array name '%.64s', expected 1 to %d characters",
                       name, RH_STATE__NAME - 1);
    if (rh_state__find(state, name))
        return rh_fail(err, RH_EINVAL, "state: array '%s' exists already", name);

    rh_state__array *a = rh_state__add(state);
    if (!a)
        return rh_fail(err, RH_ENOMEM, "state: out of memory for array '%s' (%zu numbers)",
                       name, n);
    memcpy(a->name, name, length + 1);
    a->type = type;
    a->n = n;
    a->x = (void *)(uintptr_t)x; // only read while it is lent
    a->lent = true;
    return RH_OK;
}

rh_status rh_state__put(rh_state *state, const char *name, rh_state__type type, const void *x,
                        size_t n, rh_error *err)
{
    void *copy = rh_alloc(n, rh_state__width(type));
    if (!copy)
        return rh_fail(err, RH_ENOMEM, "state: out of memory for array '%.64s' (%zu numbers)",
                       name, n);
    if (n)
        memcpy(copy, x, n * rh_state__width(type));
    rh_status rc = rh_state__lend(state, name, type, copy, n, err);
    if (rc)
        rh_free(copy);
    else
        state->array[state->narray - 1].lent = false;
    return rc;
}

// ---------------------------------------------------------------------------- doubles

rh_status rh_state_put(rh_state *state, const char *name, const double *x, size_t n,
                       rh_error *err)
{
    return rh_state__put(state, name, RH_STATE_F64, x, n, err);
}

const double *rh_state__doubles(const rh_state *state, const char *name, size_t *n)
{
    const rh_state__array *a = rh_state__find(state, name);
    if (!a || a->type != RH_STATE_F64)
        return NULL;
    *n = a->n;
    return a->x;
}

rh_status rh_state_get(const rh_state *state, const char *name, double *x, size_t n,
                       rh_error *err)
{
    const char *owner = state->label[0] ? state->label : "state";
    size_t found = 0;
    const double *from = rh_state__doubles(state, name, &found);
    if (!from)
        return rh_fail(err, RH_EINVAL, "%s: no array '%.64s' in the saved state", owner, name);
    if (found != n)
        return rh_fail(err, RH_EINVAL,
                       "%s: array '%s' of the saved state has %zu numbers, expected %zu", owner,
                       name, found, n);
    if (n)
        memcpy(x, from, n * sizeof *x);
    return RH_OK;
}

int rh_state__count(const rh_state *state)
{
    return (int)state->narray;
}

const double *rh_state__at(const rh_state *state, int i, const char **name, size_t *n)
{
    const rh_state__array *a = &state->array[i];
    *name = a->name;
    *n = a->n;
    return a->type == RH_STATE_F64 ? a->x : NULL;
}

rh_status rh_state__set_label(rh_state *state, const char *label, rh_error *err)
{
    size_t length = strlen(label);
    if (length >= RH_STATE__LABEL)
        return rh_fail(err, RH_EINVAL, "state: label '%.64s', expected at most %d characters",
                       label, RH_STATE__LABEL - 1);
    memset(state->label, 0, sizeof state->label);
    memcpy(state->label, label, length);
    return RH_OK;
}

const char *rh_state__label(const rh_state *state)
{
    return state->label;
}
