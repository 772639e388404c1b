// grid.c - all settings of a finite space in order; the first dimension varies slowest.
//
// The settings do not depend on scores: one ask proposes hundreds and keeps all workers busy.

#include "search.h"
#include "search_internal.h"

static rh_status grid_ask(rh_search *search, rh_error *err)
{
    int count = (int)rh_space__count(&search->space);
    double x[RH_MAX_DIM];
    rh_status rc = RH_OK;
    for (int i = 0; !rc && i < RH_SEARCH__CHUNK && search->nsetting < count; i++) {
        rh_space__at(&search->space, search->nsetting, x);
        rc = rh_search__ask_new(search, x, search->opt.nrun, err);
    }
    return rc;
}

static const rh_search_calls calls = {.ask = grid_ask};

const rh_search_type rh_search_grid = {
    .name = "grid",
    .about = "all settings of a finite space, each with all its runs",
    .finite = true,
    .calls = &calls,
};
