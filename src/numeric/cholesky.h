// cholesky.h - factors, solutions and inverses of symmetric matrices, the same bits everywhere.
//
// Matrices are stored by rows, rows `row` numbers apart. Only the lower half is used; the upper
// half is neither read nor written.

#ifndef REHEARSE_NUMERIC_CHOLESKY_H
#define REHEARSE_NUMERIC_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

#define RH_CHOLESKY__BLOCK 32

// Numbers of scratch that factor() needs for n rows.
size_t rh_cholesky__nfactor(int n);

// Replace A (n x n) by L with A = L L'. False: A is not positive definite; it is then
// destroyed.
bool rh_cholesky__factor(int n, double *a, size_t row, double *work);

// Replace x (n x m, rows m apart) by L^-1 x.
void rh_cholesky__solve(int n, const double *l, size_t row, int m, double *x);

// Replace L by the inverse of L L'. work: n x n numbers.
void rh_cholesky__inverse(int n, double *l, size_t row, double *work);

// The same without blocks, for small matrices and to the same bits. Pivots below `least` become
// `least`; false: one is not positive, or not finite.
bool rh_cholesky__factor_small(int n, double *a, size_t row, double least);

// Replace x (n numbers, `step` apart) by (L L')^-1 x.
void rh_cholesky__solve_small(int n, const double *l, size_t row, double *x, size_t step);

#endif
