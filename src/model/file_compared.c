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

static rh_status put_numbers(rh_store *store, const void *from, const field *f, int n,
                             rh_error *err)
{
    const char *name[NMOST];
    double x[NMOST];
    for (int i = 0; i < n; i++) {
        name[i] = f[i].name;
        x[i] = take(from, &f[i]);
    }
    return rh_model_file__put_named(store, "number", name, x, n, err);
}

static rh_status get_numbers(rh_store *store, void *to, const field *f, int n, rh_error *err)
{
    char **name = NULL;
    double *x = NULL;
    int got = 0;
    rh_status rc = rh_model_file__get_named(store, "number", &name, &x, &got, err);
    for (int k = 0; k < n && !rc; k++)
        if (f[k].form == REAL)
            give(to, &f[k], NAN);
    for (int i = 0; i < got && !rc; i++)
        for (int k = 0; k < n && !rc; k++)
            if (strcmp(f[k].name, name[i]) == 0 && !give(to, &f[k], x[i]))
                rc = rh_store__refuse(store, "number", err, "%.40s = %g", name[i], x[i]);
    rh_free((void *)name);
    rh_free(x);
    return rc;
}

// ---------------------------------------------------------------------------- parameters

static rh_status put_params(rh_store *store, const char *what, const rh_param *param, int n,
                            const double *x, rh_error *err)
{
    const char *name[RH_MODEL_NPARAM];
    for (int i = 0; i < n; i++)
        name[i] = param[i].name;
    return rh_model_file__put_named(store, what, name, x, n, err);
}

static rh_status get_params(rh_store *store, const char *what, const char *owner,
                            const rh_param *param, int n, double *to, rh_error *err)
{
    char **name = NULL;
    double *x = NULL;
    int got = 0;
    rh_error why = {""};
    rh_status rc = rh_model_file__get_named(store, what, &name, &x, &got, err);
    if (!rc)
        rh_param_initial(param, n, to);
    for (int i = 0; i < got && !rc; i++) {
        int at = rh_param_find(param, n, name[i]);
        if (at < 0)
            rc = rh_store__refuse(store, what, err,
                                  "%s has no parameter '%.40s' in this version of rehearse",
                                  owner, name[i]);
        else
            to[at] = x[i];
    }
    if (!rc)
        rc = rh_model_file__pass(store, what, rh_param_check(param, n, owner, to, &why), &why,
                                 err);
    rh_free((void *)name);
    rh_free(x);
    return rc;
}

// ---------------------------------------------------------------------------- writing

static void go_to(rh_store *store, int trial)
{
    char prefix[32] = "compared/";
    if (trial >= 0)
        snprintf(prefix, sizeof prefix, "compared/%d/", trial);
    rh_store__within(store, prefix);
}

static rh_status write_trial(rh_store *store, const rh_model_trial *t, rh_error *err)
{
    rh_status rc = put_numbers(store, t, of_trial, NTRIAL, err);
    if (!rc)
        rc = rh_store__put_text(store, "kind", t->kind, err);
    if (!rc)
        rc = rh_store__put_text(store, "type", t->type->name, err);
    if (!rc)
        rc = rh_store__put_text(store, "repr", t->repr->name, err);
    if (!rc)
        rc = rh_store__put_text(store, "note", t->note, err);
    if (!rc)
        rc = put_params(store, "param", t->type->param, t->type->nparam, t->param, err);
    if (!rc)
        rc = put_params(store, "repr_param", t->repr->param, t->repr->nparam, t->repr_param,
                        err);
    if (!rc)
        rc = rh_store__put(store, "part", RH_STORE_F64, t->part, RH_MODEL_NASPECT, err);
    return rc ? rc : rh_store__put(store, "at", RH_STORE_F64, t->at, NAT, err);
}

rh_status rh_model_file__write_compared(rh_store *store, const rh_model_comparison *c,
                                        rh_error *err)
{
    go_to(store, -1);
    rh_status rc = put_numbers(store, c, of_comparison, NCOMPARISON, err);
    if (!rc)
        rc = rh_store__put(store, "horizon", RH_STORE_I32, c->horizon, c->nhorizon, err);
    if (!rc)
        rc = rh_store__put_text(store, "reason", c->reason, err);
    if (!rc)
        rc = rh_store__put_number(store, "ntrial", c->ntrial, err);
    for (int i = 0; i < c->ntrial && !rc; i++) {
        go_to(store, i);
        rc = write_trial(store, &c->trial[i], err);
    }
    rh_store__within(store, "");
    return rc;
}

// ---------------------------------------------------------------------------- reading

static rh_status get_note(rh_store *store, const char *name, char *to, rh_error *err)
{
    char *text = NULL;
    rh_status rc = rh_store__get_text(store, name, &text, err);
    if (!rc)
        snprintf(to, RH_MODEL_NOTE, "%s", text);
    rh_free(text);
    return rc;
}

static rh_status get_array(rh_store *store, const char *name, rh_store__type type, int n,
                           void *to, size_t size, rh_error *err)
{
    void *x = NULL;
    rh_status rc = rh_store__get(store, name, type, n, &x, NULL, err);
    if (!rc && n)
        memcpy(to, x, (size_t)n * size);
    rh_free(x);
    return rc;
}

static rh_status read_names(rh_store *store, rh_model_trial *t, rh_error *err)
{
    char *kind = NULL, *type = NULL, *repr = NULL;
    rh_error why = {""};
    rh_status rc = rh_store__get_text(store, "kind", &kind, err);
    if (!rc)
        rc = rh_store__get_text(store, "type", &type, err);
    if (!rc)
        rc = rh_store__get_text(store, "repr", &repr, err);
    if (!rc) {
        t->kind = rh_model__kind_name(kind);
        t->type = rh_model_find(type, &why);
        t->repr = t->type ? rh_repr_find(repr, &why) : NULL;
        if (!t->kind)
            rc = rh_store__refuse(store, "kind", err, "unknown kind '%.40s'", kind);
        else if (!t->repr || t->type->nparam > RH_MODEL_NPARAM ||
                 t->repr->nparam > RH_MODEL_NPARAM)
            rc = rh_store__refuse(store, "type", err, "%s", why.text);
    }
    rh_free(kind);
    rh_free(type);
    rh_free(repr);
    return rc;
}

static rh_status read_trial(rh_store *store, rh_model_trial *t, rh_error *err)
{
    rh_status rc = get_numbers(store, t, of_trial, NTRIAL, err);
    if (!rc)
        rc = read_names(store, t, err);
    if (!rc)
        rc = get_note(store, "note", t->note, err);
    if (!rc)
        rc = get_params(store, "param", t->type->name, t->type->param, t->type->nparam,
                        t->param, err);
    if (!rc)
        rc = get_params(store, "repr_param", t->repr->name, t->repr->param, t->repr->nparam,
                        t->repr_param, err);
    if (!rc)
        rc = get_array(store, "part", RH_STORE_F64, RH_MODEL_NASPECT, t->part, sizeof(double),
                       err);
    return rc ? rc : get_array(store, "at", RH_STORE_F64, NAT, t->at, sizeof(double), err);
}

rh_status rh_model_file__read_compared(rh_store *store, rh_model_comparison **out,
                                       rh_error *err)
{
    rh_model_comparison *c = rh_alloc(1, sizeof *c);
    double ntrial = 0.0;
    if (!c)
        return rh_base__no_memory(err, rh_base__path_tail(rh_store__path(store)));
    go_to(store, -1);
    rh_status rc = get_numbers(store, c, of_comparison, NCOMPARISON, err);
    if (!rc && c->nhorizon > RH_MODEL_NHORIZON)
        rc = rh_store__refuse(store, "number", err, "%d horizons", c->nhorizon);
    if (!rc)
        rc = get_array(store, "horizon", RH_STORE_I32, c->nhorizon, c->horizon,
                       sizeof *c->horizon, err);
    if (!rc)
        rc = get_note(store, "reason", c->reason, err);
    if (!rc)
        rc = rh_store__get_within(store, "ntrial", 1, RH_MODEL_NTRIAL, &ntrial, err);
    c->ntrial = (int)ntrial;
    for (int i = 0; i < c->ntrial && !rc; i++) {
        go_to(store, i);
        rc = read_trial(store, &c->trial[i], err);
    }
    rh_store__within(store, "");
    if (rc)
        rh_free(c);
    else
        *out = c;
    return rc;
}
