// regions.h - where in a space a quantity is large: regions between bounds of few features.

#ifndef REHEARSE_STUDY_REGIONS_H
#define REHEARSE_STUDY_REGIONS_H

#include "rehearse/base.h"

#define RH_REGIONS__DEPTH 3                       // splits above a leaf, at most
#define RH_REGIONS__MOST (1 << RH_REGIONS__DEPTH) // leaves, at most

// lo <= feature < hi; -INFINITY, INFINITY: unbounded.
typedef struct rh_regions__side {
    int feature;
    double lo, hi;
} rh_regions__side;

typedef struct rh_regions__region {
    rh_regions__side side[RH_REGIONS__DEPTH]; // by feature          (nside)
    int nside;
    int group;    // of the points that were split, for the caller
    int64_t n;    // points in it
    double total; // of their quantity
} rh_regions__region;

// Split points x (n x nfeature) with quantity y (n) by a regression tree: at most `depth`
// splits above a leaf, which keeps at least `least` points. Writes the leaves to
// out (RH_REGIONS__MOST), and their number.
rh_status rh_regions__split(int64_t n, int nfeature, const double *x, const double *y,
                            int depth, int64_t least, rh_regions__region *out, int *nout);

// Join regions (n) of one group that share a face and whose mean quantities differ by less than
// a factor. Returns how many are left, in their order.
int rh_regions__join(rh_regions__region *region, int n, double factor);

bool rh_regions__has(const rh_regions__region *region, const double *x); // x (nfeature)

#endif
