// truncated.h - draws from a multivariate normal inside a box.

#ifndef REHEARSE_SEARCH_TRUNCATED_H
#define REHEARSE_SEARCH_TRUNCATED_H

#include "rehearse/search.h"

typedef struct rh_truncated {
    int n;                                    // dimensions, 0 to RH_MAX_DIM
    double lo[RH_MAX_DIM], hi[RH_MAX_DIM];    // the box
    double mean[RH_MAX_DIM];                  // inside it
    double cov[RH_MAX_DIM][RH_MAX_DIM];       // covariance
    double lower[RH_MAX_DIM][RH_MAX_DIM];     // its Cholesky factor
    double precision[RH_MAX_DIM][RH_MAX_DIM]; // its inverse
    bool rare;                                // rejection has failed: draw by Gibbs sampling
} rh_truncated;

// Call this after mean or covariance changed.
void rh_truncated__ready(rh_truncated *t);

// Write one draw to h (n).
void rh_truncated__draw(rh_truncated *t, rh_rng *rng, double *h);

#endif
