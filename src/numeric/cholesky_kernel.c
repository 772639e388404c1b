// cholesky_kernel.c - the hot loop of matrix algebra: plain C, compiled once per instruction
// set (RH_ISA).
//
// Works on blocks of C that stay in registers while k runs: each k loads two vectors of B, and
// one number of A per row.
//
// 1. A vector lies along a row of C, so each of its numbers is its own chain over k. Products
//    are not fused with differences: 64-bit ARM and x86 processors with and without AVX give
//    the same bits. That halves the speed at most, and a study that was begun on one machine
//    goes on to the same result on another.
// 2. Columns that do not fill a vector are done one by one.

#include "cholesky_kernel.h"

#define LANES ((int)(RH_KERNEL_BYTES / sizeof(double)))
#define ROWS 4
#define VECS 2

typedef double vec __attribute__((vector_size(RH_KERNEL_BYTES), aligned(8), may_alias));

// The block of C at row i and column j: nrow x nvec vectors, both constants.
static inline __attribute__((always_inline)) void block(const rh_cholesky__product *p, int i,
                                                        int j, const int nrow, const int nvec)
{
    vec c[ROWS * VECS];
    const rh_cholesky__product q = *p; // not aliased by what is stored
    double *to = q.c + i * q.c_row + j;
    for (int x = 0; x < nrow * nvec; x++)
        c[x] = *(const vec *)(to + x / nvec * q.c_row + x % nvec * LANES);

    const double *a = q.a + i * q.a_row, *b = q.b + j;
    for (int k = 0; k < q.k; k++, a += q.a_step, b += q.b_row)
        for (int x = 0; x < nrow * nvec; x++)
            c[x] -= a[x / nvec * q.a_row] * *(const vec *)(b + x % nvec * LANES);

    for (int x = 0; x < nrow * nvec; x++)
        *(vec *)(to + x / nvec * q.c_row + x % nvec * LANES) = c[x];
}

static inline void one(const rh_cholesky__product *p, int i, int j)
{
    const double *a = p->a + i * p->a_row, *b = p->b + j;
    double c = p->c[i * p->c_row + j];
    for (int k = 0; k < p->k; k++)
        c -= a[k * p->a_step] * b[k * p->b_row];
    p->c[i * p->c_row + j] = c;
}

static void subtract(const rh_cholesky__product *p)
{
    int i = 0;
    for (; i + ROWS <= p->m; i += ROWS) {
        int j = 0;
        for (; j + VECS * LANES <= p->n; j += VECS * LANES)
            block(p, i, j, ROWS, VECS);
        for (; j + LANES <= p->n; j += LANES)
            block(p, i, j, ROWS, 1);
        for (; j < p->n; j++)
            for (int r = 0; r < ROWS; r++)
                one(p, i + r, j);
    }
    for (; i < p->m; i++) {
        int j = 0;
        for (; j + VECS * LANES <= p->n; j += VECS * LANES)
            block(p, i, j, 1, VECS);
        for (; j + LANES <= p->n; j += LANES)
            block(p, i, j, 1, 1);
        for (; j < p->n; j++)
            one(p, i, j);
    }
}

RH_KERNEL_TABLE(rh_cholesky__kernels) = {
    .name = RH_KERNEL_NAME,
    .subtract = subtract,
};
