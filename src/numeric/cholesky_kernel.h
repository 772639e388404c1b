// cholesky_kernel.h - the hot loop of matrix algebra in doubles, once per instruction set
// (RH_ISA).

#ifndef REHEARSE_NUMERIC_CHOLESKY_KERNEL_H
#define REHEARSE_NUMERIC_CHOLESKY_KERNEL_H

#include <stddef.h>

#include "kernels.h"

// C (m x n) = C - A (m x k) B (k x n).
//
// Each number of C is one chain of subtractions over k from 0 upwards, each product rounded by
// itself. So it has the same bits with every instruction set, and for any m and n.
typedef struct rh_cholesky__product {
    int m, n, k;
    const double *a; // element (i, k) at a[i * a_row + k * a_step]
    ptrdiff_t a_row, a_step;
    const double *b; // rows b_row apart
    ptrdiff_t b_row;
    double *c; // rows c_row apart; overlaps neither a nor b
    ptrdiff_t c_row;
} rh_cholesky__product;

typedef struct rh_cholesky__kernels {
    const char *name; // of the instruction set
    void (*subtract)(const rh_cholesky__product *p);
} rh_cholesky__kernels;

RH_KERNELS(rh_cholesky__kernels);

#endif
