// registry.c - the kinds of models by name. A new kind is a file and a line here.

#include "model_internal.h"

#include <string.h>

static const rh_model_type *const type[] = {&rh_model_knn, &rh_model_nn};

enum { NTYPE = sizeof type / sizeof type[0] };

int rh_model_ntype(void)
{
    return NTYPE;
}

const rh_model_type *rh_model_type_at(int i)
{
    return i >= 0 && i < NTYPE ? type[i] : NULL;
}

const rh_model_type *rh_model_find(const char *name, rh_error *err)
{
    const char *known[NTYPE];
    for (int i = 0; i < NTYPE; i++) {
        known[i] = type[i]->name;
        if (strcmp(known[i], name) == 0)
            return type[i];
    }

    rh_unknown(err, "no model", name, known, NTYPE);
    return NULL;
}
