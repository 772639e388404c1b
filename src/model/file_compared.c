// file_compared.c - the comparison that chose a model, in its file.
//
// Numbers are stored by the names of their fields. Each trial has a group of its own,
// "compared/0/", with its parameters by name.

#include "base/base_internal.h"
#include "fields.h"
#include "file.h"

#include <string.h>

enum { NAT = RH_MODEL_NASPECT * RH_MODEL_NHORIZON };

// ---------------------------------------------------------------------------- writing

static void write_trial(rh_store *store, const rh_model_trial *t)
{
    rh_model_file__put_fields(store, "field", &rh_model__trial, t);
    rh_store__put_text(store, "kind", t->kind);
    rh_store__put_text(store, "type", t->type->name);
    rh_store__put_text(store, "repr", t->repr->name);
    rh_store__put_text(store, "note", t->note);
    rh_model_file__put_params(store, "param", t->type->param, t->type->nparam, t->param);
    rh_model_file__put_params(store, "repr_param", t->repr->param, t->repr->nparam,
                              t->repr_param);
    rh_store__put(store, "at", RH_STATE_F64, t->at, NAT);
}

void rh_model_file__write_compared(rh_store *store, const rh_model_comparison *c)
{
    rh_store__within(store, "compared", -1);
    rh_model_file__put_fields(store, "field", &rh_model__comparison, c);
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
    rh_model_file__get_fields(store, "field", &rh_model__trial, t);
    read_names(store, t);
    if (store->rc)
        return;
    get_note(store, "note", t->note);
    rh_model_file__get_params(store, "param", t->type->name, t->type->param, t->type->nparam,
                              t->param);
    rh_model_file__get_params(store, "repr_param", t->repr->name, t->repr->param,
                              t->repr->nparam, t->repr_param);
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
    rh_model_file__get_fields(store, "field", &rh_model__comparison, c);
    if (c->nhorizon > RH_MODEL_NHORIZON)
        rh_store__refuse(store, "field", "%d horizons", c->nhorizon);
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
