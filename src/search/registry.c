// registry.c - the searches there are, one line each, in alphabetical order.

#include "search_internal.h"

#include <assert.h>
#include <string.h>

static const rh_search_type *const type[] = {
    &rh_search_bayes, &rh_search_cem, &rh_search_grid, &rh_search_race, &rh_search_random,
};

enum { NTYPE = sizeof type / sizeof *type };

int rh_search_ntype(void)
{
    return NTYPE;
}

const rh_search_type *rh_search_type_at(int i)
{
    assert(i >= 0 && i < NTYPE);
    return type[i];
}

const rh_search_type *rh_search_find(const char *name, rh_error *err)
{
    const char *names[NTYPE];
    for (int i = 0; i < NTYPE; i++) {
        names[i] = type[i]->name;
        if (strcmp(name, names[i]) == 0)
            return type[i];
    }
    rh_unknown(err, "no search", name, names, NTYPE);
    return NULL;
}
