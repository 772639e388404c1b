// registry.c - the kinds of representations, one line each, in alphabetical order.

#include "repr_internal.h"

#include <string.h>

static const rh_repr_type *const type[] = {
    &rh_repr_laplacian,
    &rh_repr_random,
    &rh_repr_raw,
};

enum { NTYPE = sizeof type / sizeof *type };

int rh_repr_ntype(void)
{
    return NTYPE;
}

const rh_repr_type *rh_repr_type_at(int i)
{
    return i >= 0 && i < NTYPE ? type[i] : NULL;
}

const rh_repr_type *rh_repr_find(const char *name, rh_error *err)
{
    const char *names[NTYPE];
    for (int i = 0; i < NTYPE; i++) {
        names[i] = type[i]->name;
        if (strcmp(name, names[i]) == 0)
            return type[i];
    }
    rh_unknown(err, "no representation", name, names, NTYPE);
    return NULL;
}
