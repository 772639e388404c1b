// registry.c - the search methods by name, in alphabetical order. A new one needs a line here.

#include "base/base_internal.h"
#include "search_internal.h"

RH_KIND__REGISTRY(search, "search", &rh_search_bayes, &rh_search_bayes_opt, &rh_search_cem,
                  &rh_search_grid, &rh_search_race, &rh_search_random);
