// file_compared.c - the comparison that chose a model, in its file.
//
// Numbers are stored by name. One that a file lacks is NAN, or 0 of a whole number. Each trial
// has a group of its own, "compared/0/", with its parameters by name.

#include "base/base_internal.h"
#include "file.h"

#include <math.h>
#include <string.h>

// A number of a struct; whole: an int; large: an int64_t; flag: a bool.
typedef enum form { REAL, WHOLE, LARGE, FLAG } form;

typedef struct field {
    const char *name;
    size_t at;
    form form;
} field;

#define OF(x) #x, offsetof(rh_model_comparison, x)
#define AT(x) #x, offsetof(rh_model_trial, x)
static const field of_comparison[] = {
    {OF(nhorizon), WHOLE},
    {OF(nstretch), WHOLE},
    {OF(nunit), WHOLE},
    {OF(nfold), WHOLE},
    {OF(nstep), LARGE},
    {OF(logged_ended), REAL},
    {OF(logged_return.n), LARGE},
    {OF(logged_return.q25), REAL},
    {OF(logged_return.median), REAL},
    {OF(logged_return.q75), REAL},
    {OF(logged_return.mean), REAL},
    {OF(logged_length.n), LARGE},
    {OF(logged_length.q25), REAL},
    {OF(logged_length.median), REAL},
    {OF(logged_length.q75), REAL},
    {OF(logged_length.mean), REAL},
};

static const field of_trial[] = {
    {AT(optional), FLAG},
    {AT(tried), FLAG},
    {AT(chosen), FLAG},
    {AT(credible), FLAG},
    {AT(score), REAL},
    {AT(error), REAL},
    {AT(behind), REAL},
    {AT(behind_error), REAL},
    {AT(simulated_ended), REAL},
    {AT(imitation), REAL},
    {AT(simulated_return.n), LARGE},
    {AT(simulated_return.q25), REAL},
    {AT(simulated_return.median), REAL},
    {AT(simulated_return.q75), REAL},
    {AT(simulated_return.mean), REAL},
    {AT(simulated_length.n), LARGE},
    {AT(simulated_length.q25), REAL},
    {AT(simulated_length.median), REAL},
    {AT(simulated_length.q75), REAL},
    {AT(simulated_length.mean), REAL},
};

enum {
    NCOMPARISON = sizeof of_comparison / sizeof *of_comparison,
    NTRIAL = sizeof of_trial / sizeof *of_trial,
    NMOST = NCOMPARISON > NTRIAL ? NCOMPARISON : NTRIAL,
    NAT = RH_MODEL_NASPECT * RH_MODEL_NHORIZON
};

// ---------------------------------------------------------------------------- numbers

static double take(const void *from, const field *f)
{
    const char *at = (const char *)from + f->at;
    double x = 0.0;
    int whole;
    int64_t large;
    bool flag;
    switch (f->form) {
    case REAL:
        memcpy(&x, at, sizeof x);
        break;
    case WHOLE:
        memcpy(&whole, at, sizeof whole);
        x = whole;
        break;
    case LARGE:
        memcpy(&large, at, sizeof large);
        x = (double)large;
        break;
    case FLAG:
        memcpy(&flag, at, sizeof flag);
        x = flag;
        break;
    }
    return x;
}

// False if x does not fit.
static bool give(void *to, const field *f, double x)
{
    char *at = (char *)to + f->at;
    if (f->form != REAL && !(x >= 0.0 && x <= (f->form == WHOLE ? 1e9 : 1e15)))
        return false;
    switch (f->form) {
    case REAL:
        memcpy(at, &x, sizeof x);
        break;
    case WHOLE:
        memcpy(at, &(int){(int)x}, sizeof(int));
        break;
    case LARGE:
        memcpy(at, &(int64_t){(int64_t)x}, sizeof(int64_t));
        break;
    case FLAG:
        memcpy(at, &(bool){x > 0.0}, sizeof(bool));
        break;
    }
    return true;
}

static void put_numbers(rh_store *store, const void *from, const field *f, int n)
{
    const char *name[NMOST];
    double x[NMOST];
    for (int i = 0; i < n; i++) {
        name[i] = f[i].name;
        x[i] = take(from, &f[i]);
    }
    rh_store__put_named(store, "number", name, x, n);
}

static void get_numbers(rh_store *store, void *to, const field *f, int n)
{
    const double *x = NULL;
    int got = 0;
    const char **name = rh_store__named(store, "number", &x, &got);
    for (int k = 0; k < n; k++)
        if (f[k].form == REAL)
            give(to, &f[k], NAN);
    for (int i = 0; i < got && name; i++)
        for (int k = 0; k < n; k++)
            if (strcmp(f[k].name, name[i]) == 0 && !give(to, &f[k], x[i]))
                rh_store__refuse(store, "number", "%.40s = %g", name[i], x[i]);
    rh_free((void *)name);
}

// ---------------------------------------------------------------------------- writing

static void write_trial(rh_store *store, const rh_model_trial *t)
{
    put_numbers(store, t, of_trial, NTRIAL);
    rh_store__put_text(store, "kind", t->kind);
    rh_store__put_text(store, "type", t->type->name);
    rh_store__put_text(store, "repr", t->repr->name);
    rh_store__put_text(store, "note", t->note);
    rh_model_file__put_params(store, "param", t->type->param, t->type->nparam, t->param);
    rh_model_file__put_params(store, "repr_param", t->repr->param, t->repr->nparam,
                              t->repr_param);
    rh_store__put(store, "part", RH_STATE_F64, t->part, RH_MODEL_NASPECT);
    rh_store__put(store, "at", RH_STATE_F64, t->at, NAT);
}

void rh_model_file__write_compared(rh_store *store, const rh_model_comparison *c)
{
    rh_store__within(store, "compared", -1);
    put_numbers(store, c, of_comparison, NCOMPARISON);
    rh_store__put(store, "horizon", RH_STATE_I32, c->horizon, c->nhorizon);
    rh_store__put_text(store, "reason", c->reason);
    rh_store__put_number(store, "ntrial", c->ntrial);
    for (int i = 0; i < c->ntrial; i++) {
        rh_store__within(store, "compared", i);
        write_trial(store, &c->trial[i]);
    }
    rh_store__within(store, NULL, 0);
}

// ---------------------------------------------------------------------------- reading

static void get_note(rh_store *store, const char *name, char *to)
{
    const char *text = rh_store__text(store, name);
    if (text)
        snprintf(to, RH_MODEL_NOTE, "%s", text);
}

static void read_names(rh_store *store, rh_model_trial *t)
{
    rh_error why = {""};
    const char *kind = rh_store__text(store, "kind");
    const char *type = rh_store__text(store, "type");
    const char *repr = rh_store__text(store, "repr");
    if (!repr)
        return;
    t->kind = rh_model__kind_name(kind);
    t->type = rh_model_find(type, &why);
    t->repr = t->type ? rh_repr_find(repr, &why) : NULL;
    if (!t->kind)
        rh_store__refuse(store, "kind", "unknown kind '%.40s'", kind);
    else if (!t->repr || t->type->nparam > RH_MODEL_NPARAM || t->repr->nparam > RH_MODEL_NPARAM)
        rh_store__refuse(store, "type", "%s", why.text);
}

static void read_trial(rh_store *store, rh_model_trial *t)
{
    get_numbers(store, t, of_trial, NTRIAL);
    read_names(store, t);
    if (store->rc)
        return;
    get_note(store, "note", t->note);
    rh_model_file__get_params(store, "param", t->type->name, t->type->param, t->type->nparam,
                              t->param);
    rh_model_file__get_params(store, "repr_param", t->repr->name, t->repr->param,
                              t->repr->nparam, t->repr_param);
    rh_store__copy(store, "part", RH_STATE_F64, RH_MODEL_NASPECT, t->part);
    rh_store__copy(store, "at", RH_STATE_F64, NAT, t->at);
}

rh_model_comparison *rh_model_file__read_compared(rh_store *store)
{
    if (store->rc)
        return NULL;
    rh_model_comparison *c = rh_alloc(1, sizeof *c);
    if (!c) {
        rh_store__no_memory(store);
        return NULL;
    }
    rh_store__within(store, "compared", -1);
    get_numbers(store, c, of_comparison, NCOMPARISON);
    if (c->nhorizon > RH_MODEL_NHORIZON)
        rh_store__refuse(store, "number", "%d horizons", c->nhorizon);
    rh_store__copy(store, "horizon", RH_STATE_I32, c->nhorizon, c->horizon);
    get_note(store, "reason", c->reason);
    c->ntrial = (int)rh_store__number(store, "ntrial", 1, RH_MODEL_NTRIAL);
    for (int i = 0; i < c->ntrial && !store->rc; i++) {
        rh_store__within(store, "compared", i);
        read_trial(store, &c->trial[i]);
    }
    rh_store__within(store, NULL, 0);
    if (store->rc) {
        rh_free(c);
        c = NULL;
    }
    return c;
}
