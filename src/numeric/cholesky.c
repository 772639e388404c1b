// cholesky.c - Cholesky factors, triangular solutions and inverses, in blocks.
//
// After Golub and Van Loan (2013), section 4.2. With blocks of 32 columns,
//
//     A = [A11    ]    L11 L11' = A11,   L21 = A21 L11'^-1,   A22 <- A22 - L21 L21'
//         [A21 A22]
//
// and with W = L^-1, also made block by block, A^-1 = W' W.
//
// 1. Not LAPACK: every build of it sums in another order, and a study that was resumed on a
//    machine with another one proposed other settings.
// 2. Nearly all operations are products of blocks, in one loop (cholesky_kernel.c) that gives
//    the same bits with every instruction set.
// 3. The column of blocks below L11 is solved transposed, so that vectors lie along rows.
// 4. The last rows of a product end at the diagonal: the upper half may hold something else.
//
// On one core of a shared EPYC, 300 rows take 0.7 ms to factor and 1.6 ms to invert; 1,000 rows
// take 20 and 57 ms.

#include "cholesky.h"
#include "cholesky_kernel.h"

#include <math.h>
#include <string.h>

enum { B = RH_CHOLESKY__BLOCK };

static int least(int a, int b)
{
    return a < b ? a : b;
}

// C (m x n) -= A B.
static void subtract(int m, int n, int k, const double *a, ptrdiff_t a_row, ptrdiff_t a_step,
                     const double *b, size_t b_row, double *c, size_t c_row)
{
    if (m > 0 && n > 0 && k > 0)
        rh_cholesky__kernels_best()->subtract(&(rh_cholesky__product){
            m, n, k, a, a_row, a_step, b, (ptrdiff_t)b_row, c, (ptrdiff_t)c_row});
}

size_t rh_cholesky__nfactor(int n)
{
    return (size_t)B * (size_t)n;
}

// ---------------------------------------------------------------------------- factors

bool rh_cholesky__factor_small(int n, double *a, size_t row, double least_pivot)
{
    for (int i = 0; i < n; i++) {
        double *to = a + (size_t)i * row;
        for (int j = 0; j <= i; j++) {
            const double *from = a + (size_t)j * row;
            double sum = to[j];
            for (int k = 0; k < j; k++)
                sum -= to[k] * from[k];
            if (i > j) {
                to[j] = sum / from[j];
                continue;
            }
            sum = fmax(sum, least_pivot);
            if (!(sum > 0.0 && isfinite(sum)))
                return false;
            to[j] = sqrt(sum);
        }
    }
    return true;
}

// L21 in place of A21 (m x n, below l, n x n), and transposed in t (n x m).
static void solve_below(int n, int m, const double *l, double *a, size_t row, double *t)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            t[(size_t)j * (size_t)m + (size_t)i] = a[(size_t)i * row + (size_t)j];
    for (int j = 0; j < n; j++) {
        double *to = t + (size_t)j * (size_t)m, pivot = l[(size_t)j * row + (size_t)j];
        subtract(1, m, j, l + (size_t)j * row, 0, 1, t, (size_t)m, to, (size_t)m);
        for (int i = 0; i < m; i++)
            to[i] /= pivot;
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            a[(size_t)i * row + (size_t)j] = t[(size_t)j * (size_t)m + (size_t)i];
}

bool rh_cholesky__factor(int n, double *a, size_t row, double *work)
{
    for (int at = 0; at < n; at += B) {
        int nb = least(B, n - at), next = at + nb, m = n - next;
        double *diagonal = a + (size_t)at * row + (size_t)at;
        if (!rh_cholesky__factor_small(nb, diagonal, row, 0.0))
            return false;
        double *below = a + (size_t)next * row + (size_t)at;
        solve_below(nb, m, diagonal, below, row, work);

        // A22, by rows of blocks up to the diagonal, then its triangle row by row
        for (int i = 0; i < m; i += B) {
            int rows = least(B, m - i);
            const double *l = below + (size_t)i * row;
            double *to = a + (size_t)(next + i) * row + (size_t)next;
            subtract(rows, i, nb, l, (ptrdiff_t)row, 1, work, (size_t)m, to, row);
            for (int r = 0; r < rows; r++)
                subtract(1, r + 1, nb, l + (size_t)r * row, 0, 1, work + i, (size_t)m,
                         to + (size_t)r * row + (size_t)i, row);
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- solutions

void rh_cholesky__solve(int n, const double *l, size_t row, int m, double *x)
{
    for (int at = 0; at < n; at += B) {
        int nb = least(B, n - at);
        const double *from = l + (size_t)at * row;
        double *to = x + (size_t)at * (size_t)m;
        subtract(nb, m, at, from, (ptrdiff_t)row, 1, x, (size_t)m, to, (size_t)m);
        for (int i = 0; i < nb; i++) {
            const double *own = from + (size_t)i * row + (size_t)at;
            double *at_i = to + (size_t)i * (size_t)m;
            subtract(1, m, i, own, 0, 1, to, (size_t)m, at_i, (size_t)m);
            for (int k = 0; k < m; k++)
                at_i[k] /= own[i];
        }
    }
}

void rh_cholesky__solve_small(int n, const double *l, size_t row, double *x, size_t step)
{
    for (int i = 0; i < n; i++) {
        double sum = x[(size_t)i * step];
        for (int k = 0; k < i; k++)
            sum -= l[(size_t)i * row + (size_t)k] * x[(size_t)k * step];
        x[(size_t)i * step] = sum / l[(size_t)i * row + (size_t)i];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = x[(size_t)i * step];
        for (int k = i + 1; k < n; k++)
            sum -= l[(size_t)k * row + (size_t)i] * x[(size_t)k * step];
        x[(size_t)i * step] = sum / l[(size_t)i * row + (size_t)i];
    }
}

// ---------------------------------------------------------------------------- inverses

// w (n x n) = L^-1, zeros above the diagonal.
static void invert_factor(int n, const double *l, size_t row, double *w)
{
    size_t wide = (size_t)n;
    memset(w, 0, wide * wide * sizeof *w);
    for (int at = 0; at < n; at += B) {
        int nb = least(B, n - at);
        const double *from = l + (size_t)at * row;
        double *to = w + (size_t)at * wide;
        for (int c = 0; c < at; c += B) // W has nothing above row c there
            subtract(nb, B, at - c, from + c, (ptrdiff_t)row, 1, w + (size_t)c * wide + c, wide,
                     to + c, wide);
        for (int i = 0; i < nb; i++) {
            const double *own = from + (size_t)i * row + (size_t)at;
            double *at_i = to + (size_t)i * wide;
            at_i[at + i] = 1.0;
            subtract(1, at + i, i, own, 0, 1, to, wide, at_i, wide);
            for (int k = 0; k <= at + i; k++)
                at_i[k] /= own[i];
        }
    }
}

void rh_cholesky__inverse(int n, double *l, size_t row, double *work)
{
    size_t wide = (size_t)n;
    invert_factor(n, l, row, work);
    for (int at = 0; at < n; at += B) {
        int nb = least(B, n - at);
        double *to = l + (size_t)at * row;
        const double *w = work + (size_t)at * wide; // W has nothing in these columns above
        for (int i = 0; i < nb; i++)
            for (int j = 0; j <= at + i; j++)
                to[(size_t)i * row + (size_t)j] = 0.0;
        subtract(nb, at, n - at, w + at, 1, (ptrdiff_t)wide, w, wide, to, row);
        for (int i = 0; i < nb; i++)
            subtract(1, i + 1, n - at, w + at + i, 1, (ptrdiff_t)wide, w + at, wide,
                     to + (size_t)i * row + (size_t)at, row);
        for (int i = 0; i < nb; i++)
            for (int j = 0; j <= at + i; j++)
                to[(size_t)i * row + (size_t)j] = -to[(size_t)i * row + (size_t)j];
    }
}
