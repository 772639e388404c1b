// tiles.h - tile coding: an observation becomes a fixed number of active features.

#ifndef AGENT_TILES_H
#define AGENT_TILES_H

#include "kernel.h"
#include "rehearse/agent.h"

// Built once, then only read. A row holds, for one quantised value of a sensor, what it adds to
// the index of the active feature in every tiling of a group.
struct rh_tiles {
    const rh_agent__kernels *kernels; // borrowed
    rh_tiles_mode mode;
    int nobs;
    int nsensor, npairs; // groups: sensors alone, or in the joint group; pairs
    bool chosen;         // these are not all
    int ntiling;
    int nvalue;       // quantised values of a sensor: ntiling * ntile + 1
    int nactive;      // features active at a time
    int32_t nfeature; // features in all
    int32_t nsingle;  // features of a single sensor
    int32_t npair;    // features of a pair
    int *sensor;      // which sensors                        (nsensor)
    int *pair;        // which pairs, within sensor's block   (npairs x 2)
    double *lo;       // lowest value of each sensor          (nobs)
    double *scale;    // quantised values per unit            (nobs)
    int32_t *row;     // for singles; for the first and for the second of a pair; or for every
                      // sensor of the joint group            (3 or nsensor, nvalue, ntiling)
};

// Tiles over the task's sensor ranges, with the values hp (3) of RH_AGENT__TILE_PARAMS: number
// of tilings, tiles, and mode. Owned: *out, free with rh_tiles__destroy().
rh_status rh_tiles__create(rh_tiles **out, const double *hp, const rh_task *task,
                           const char *owner, rh_error *err);
void rh_tiles__destroy(rh_tiles *tiles); // NULL is allowed

// Save which sensors and pairs are coded, where these are not all; refuse a state of others.
rh_status rh_tiles__save(const rh_tiles *tiles, rh_state *state, rh_error *err);
rh_status rh_tiles__check_saved(const rh_tiles *tiles, const char *owner, const rh_state *state,
                                rh_error *err);

// Write the active features of obs (nobs), one per tiling of each group, to active (nactive).
void rh_tiles__active(const rh_tiles *tiles, const double *obs, int32_t *active);

#endif
