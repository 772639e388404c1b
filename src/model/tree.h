// tree.h - builds the boxes of the nearest-neighbour search.

#ifndef MODEL_TREE_H
#define MODEL_TREE_H

#include "kernel.h"
#include "rehearse/base.h"

// Fill *boxes, which is zeroed, from finite points (n x d). To be cleared after failure too.
rh_status rh_boxes__init(rh_boxes *boxes, const float *points, int32_t n, int d, rh_error *err);
void rh_boxes__clear(rh_boxes *boxes);

#endif
