// neighbours.h - exact nearest neighbours among points that do not change.
//
// An index is built once and then only read, so many threads may query it at the same time.
// Results equal those of comparing all pairs, to the bit: neighbours are ordered by squared
// distance, then by index, and the squared distance is
//
//     s = 0;  for each dimension in order: s = s + (q - p) * (q - p)
//
// in floats, every operation rounded, on every machine.

#ifndef MODEL_NEIGHBOURS_H
#define MODEL_NEIGHBOURS_H

#include "rehearse/base.h"

#define RH_NEIGHBOURS_MOST 64 // most neighbours of a query
#define RH_NEIGHBOURS_DIM 64  // most dimensions

typedef struct rh_neighbours rh_neighbours;

// Index points (n x d), n up to 2^31 - 2. A number that is not finite is refused by its row.
// Owned: *out, free with rh_neighbours__destroy(). Copied: points. Nullable: err.
// On failure *out is left untouched.
rh_status rh_neighbours__create(rh_neighbours **out, const float *points, int64_t n, int d,
                                rh_error *err);
void rh_neighbours__destroy(rh_neighbours *points); // NULL is allowed

// The k nearest to query (d), other than point `skip` (-1: none), to index (k) and
// distance2 (k); how many there are, which is k unless there are fewer points. k is 1 to 64.
int rh_neighbours__find(const rh_neighbours *points, const float *query, int k, int32_t skip,
                        int32_t *index, float *distance2);

// The same for many queries, which have their own index so that nearby ones are answered
// together; it may be `points` itself. Answers blocks begin .. end - 1 of
// rh_neighbours__nblock(queries); threads may share the blocks. The results of query i of nq
// start at i k of index (nq x k) and distance2 (nq x k), padded with -1 and INFINITY. Point
// skip[i] is left out of query i. Nullable: skip (nq), distance2.
int32_t rh_neighbours__nblock(const rh_neighbours *queries);
void rh_neighbours__find_range(const rh_neighbours *points, const rh_neighbours *queries, int k,
                               const int32_t *skip, int32_t begin, int32_t end, int32_t *index,
                               float *distance2);

// Whether all pairs are compared because boxes do not pay.
bool rh_neighbours__all_pairs(const rh_neighbours *points);

#endif
