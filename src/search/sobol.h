// sobol.h - points that fill the unit cube evenly, for any number of points.

#ifndef REHEARSE_SEARCH_SOBOL_H
#define REHEARSE_SEARCH_SOBOL_H

#include "rehearse/search.h"

typedef struct rh_sobol {
    uint32_t direction[RH_MAX_DIM][32];
    uint32_t shift[RH_MAX_DIM]; // of all points
    int ndim;
} rh_sobol;

// In ndim dimensions, with a shift from rng; NULL: no shift.
void rh_sobol__init(rh_sobol *sobol, int ndim, rh_rng *rng);

// Write point number i to u (ndim), each number in (0, 1).
void rh_sobol__at(const rh_sobol *sobol, uint32_t i, double *u);

#endif
