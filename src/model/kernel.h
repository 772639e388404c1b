// kernel.h - the layout of the nearest-neighbour index, and the loops that search it (RH_ISA).

#ifndef MODEL_KERNEL_H
#define MODEL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "numeric/kernels.h"

#define RH_LEAF 16 // points of a leaf, and children of a node
#define RH_MOST_DIM 64
#define RH_MOST_NEAR 64 // most neighbours of a query
#define RH_MOST_LEVEL 7 // 16^7 leaves are more than 2^31 points need

// Nodes of one level, sixteen siblings to a group.
typedef struct rh_model__level {
    float *box;     // for each group and dimension the least of 16 nodes, then the greatest,
                    //                                        (ngroup x d x 2 x 16)
    int32_t *first; // for each node the least index in it    (ngroup x 16)
    int32_t nnode;
} rh_model__level;

// Points in leaves of sixteen, ordered so that the leaves 16 i .. 16 i + 15 are the children of
// node i of level 1, and so on upwards: only the boxes of the tree are stored. Level 0 are the
// leaves. The top level has one group.
typedef struct rh_boxes {
    int d, nlevel;
    int32_t n, nleaf;
    float *point;   // for each leaf, by dimension           (nleaf x d x 16)
    int32_t *index; // of the points, as the caller has them (nleaf x 16)
    rh_model__level level[RH_MOST_LEVEL];
} rh_boxes;

// A neighbour in one number: the bits of its squared distance above its index. The bits of
// nonnegative floats are ordered like their values.
typedef int64_t rh_near;

#define RH_NOBODY ((rh_near)0x7f800000 << 32 | INT32_MAX) // behind all neighbours

// Its squared distance; INFINITY for RH_NOBODY.
static inline float rh_near__distance2(rh_near near)
{
    uint32_t bits = (uint32_t)((uint64_t)near >> 32);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef struct rh_model__kernels {
    const char *name; // of the instruction set

    // The k nearest to query (d) other than `skip`, in order into near (k), padded with
    // RH_NOBODY. `all`: visit every leaf without using boxes.
    void (*find)(const rh_boxes *points, bool all, const float *query, int k, int32_t skip,
                 rh_near *near);

    // The same for the points of one leaf of `queries`, which may be `points`, into
    // near (k x 16), which is aligned to 64. skip (of their indices) may be NULL. Returns how
    // often a query visited a leaf.
    int64_t (*find_leaf)(const rh_boxes *points, bool all, const rh_boxes *queries,
                         int32_t leaf, int k, const int32_t *skip, rh_near *near);

    // The least of low and the greatest of high, each (d x 16) with rows `stride` apart, over
    // the first n columns, to box: 16 floats apart and rows 32, as in rh_model__level.
    void (*enclose)(const float *low, const float *high, int stride, int d, int n, float *box);
} rh_model__kernels;

RH_KERNELS(rh_model__kernels);

#endif
