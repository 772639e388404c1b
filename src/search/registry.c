// registry.c - the search methods by name, in alphabetical order. A new one needs a line here.

#include "search_internal.h"

#include <string.h>

static const rh_search_type *const type[] = {
    &rh_search_bayes, &rh_search_bayes_opt, &rh_search_cem,
    &rh_search_grid,  &rh_search_race,      &rh_search_random,
};

enum { NTYPE = sizeof type / sizeof *type };

int rh_search_ntype(void)
{
    return NTYPE;
}

const rh_search_type *rh_search_type_at(int i)
{
    return i >= 0 && i < NTYPE ? type[i] : NULL;
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
