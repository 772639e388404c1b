// store_sample.h - one member of a model, alone in a file.

#ifndef STORE_SAMPLE_H
#define STORE_SAMPLE_H

#include "base/base.h"
#include "model/model_internal.h"

static rh_status write_alone(const rh_model_type *type, const rh_model *model,
                             const void *member, const char *file, rh_error *err)
{
    rh_store store = {.path = file, .err = err};
    store.rc = rh_state__create(&store.state, err);
    rh_store__within(&store, "members", 3);
    if (!store.rc)
        type->calls->write(model, member, &store);
    if (!store.rc)
        store.rc = rh_state_write(store.state, file, err);
    rh_state_destroy(store.state);
    return store.rc;
}

static rh_status read_alone(const rh_model_type *type, const rh_model *model, void **member,
                            const char *file, rh_error *err)
{
    rh_store store = {.path = file, .err = err};
    store.rc = rh_state__read(&store.state, file, "model", err);
    rh_store__within(&store, "members", 3);
    if (!store.rc)
        *member = type->calls->read(model, &store);
    rh_state_destroy(store.state);
    return store.rc;
}

#endif
