// kernel.h - the hot loops of learning from a log, compiled once per instruction set.

#ifndef OFFLINE_KERNEL_H
#define OFFLINE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "numeric/kernels.h"

#define RH_OFFLINE__BLOCK 16 // features of a block: a vector of floats, the bits of a mask
#define RH_OFFLINE__BLOCKS 8 // blocks come in these
#define RH_OFFLINE__LANES 4  // actions come in these

// One Adam step with decoupled weight decay. The bias corrections are in rate and eps:
//
//     m = keep1 m + take1 g
//     v = keep2 v + take2 g^2
//     w = keep w - rate m / (sqrt(v) + eps)
typedef struct rh_offline__adam {
    float keep1, take1, keep2, take2, keep, rate, eps;
} rh_offline__adam;

typedef struct rh_offline__kernels {
    const char *name; // of the instruction set

    // In the next two, nblock is a multiple of RH_OFFLINE__BLOCKS; w and g are aligned to 64
    // bytes. q (n) = sums of the weights w (nblock x RH_OFFLINE__BLOCK) of the active features
    // of the rows `row` (n): bit i of mask[row * nblock + b] is feature RH_OFFLINE__BLOCK b +
    // i.
    void (*values)(int nblock, const uint16_t *mask, int n, const int32_t *row, const float *w,
                   float *q);

    // g (nblock x RH_OFFLINE__BLOCK) = for every feature the sum of d (n) over the rows in
    // which it is active, in the order of the rows.
    void (*gradient)(int nblock, const uint16_t *mask, int n, const int32_t *row,
                     const float *d, float *g);

    // n is a multiple of RH_OFFLINE__BLOCK.
    void (*adam)(size_t n, const rh_offline__adam *step, float *w, float *m, float *v,
                 const float *g);

    // z (nlane) = sum of the rows `active` (nactive) of x (.. x nlane).
    void (*sums)(int nactive, const int32_t *active, int nlane, const double *x, double *z);

    // Add d (nlane) to the rows `active` (nactive, all different) of x (.. x nlane).
    void (*spread)(int nactive, const int32_t *active, int nlane, const double *d, double *x);
} rh_offline__kernels;

RH_KERNELS(rh_offline__kernels);

#endif
