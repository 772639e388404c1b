// mlp_kernel.h - the hot loops of training a network, once per instruction set.

#ifndef REHEARSE_NUMERIC_MLP_KERNEL_H
#define REHEARSE_NUMERIC_MLP_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels.h"

#define RH_COLUMNS 16 // columns come in these: one cache line of floats

// C (m x n) = start + A (m x k) B (k x n), then optionally one of two: with `relu` negative
// numbers become 0; with a gate, numbers where the gate is not positive become 0.
//
// Each number of C is one sum over k from 0 upwards that begins with `start`. It depends only
// on its row of A and column of B, not on m, n or the width of a vector. B is finite: of a row
// alone, what is multiplied by 0 is not read.
//
// n is a multiple of RH_COLUMNS; rows of B, C, start and gate are aligned to 64 bytes.
typedef struct rh_mlp__product {
    int m, n, k;
    const float *a; // element (i, k) at a[i * a_row + k * a_step]
    ptrdiff_t a_row, a_step;
    const float *b; // rows b_row apart
    ptrdiff_t b_row;
    float *c;
    ptrdiff_t c_row;
    const float *start;  // may be c itself; NULL: zero
    ptrdiff_t start_row; // 0: the same row for all
    const float *gate;   // NULL: none
    ptrdiff_t gate_row;
    bool relu;
} rh_mlp__product;

// Layer norm of m rows of n numbers, `row` apart, and its derivatives; see mlp.c. A row is
// padded with zeros to whole columns and stays so.
typedef struct rh_mlp__norm {
    int m, n;
    ptrdiff_t row;
    const float *gain, *shift; // (row)
    float *x;                  // sums, then outputs; backwards: D by outputs, then by sums
    float *hat;                // normalised sums (m x row); NULL: not wanted
    float *spread;             // one over the spread of each row (m); NULL: not wanted
    float *by_gain, *by_shift; // backwards: added to (row); NULL: not wanted
} rh_mlp__norm;

// One Adam step. The bias corrections are in rate and eps:
//
//     m = keep1 m + take1 g
//     v = keep2 v + take2 g^2
//     w = w - rate m / (sqrt(v) + eps)
typedef struct rh_mlp__adam_step {
    float keep1, take1, keep2, take2, rate, eps;
} rh_mlp__adam_step;

typedef struct rh_mlp__kernels {
    const char *name; // of the instruction set
    bool fused;       // a product and its sum are rounded once

    void (*product)(const rh_mlp__product *p);

    // to (n x m, rows to_row apart) = from (m x n, rows from_row apart), transposed.
    void (*turn)(int m, int n, const float *from, ptrdiff_t from_row, float *to,
                 ptrdiff_t to_row);

    // Sums to outputs behind a ReLU; D by these, already gated, to D by the sums.
    void (*norm)(const rh_mlp__norm *p);
    void (*norm_back)(const rh_mlp__norm *p);

    // n is a multiple of RH_COLUMNS.
    void (*adam)(size_t n, const rh_mlp__adam_step *step, float *w, float *m, float *v,
                 const float *g);
} rh_mlp__kernels;

RH_KERNELS(rh_mlp__kernels);

#endif
