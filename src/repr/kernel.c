// kernel.c - the hot loops of training: plain C, compiled once per instruction set (RH_ISA).
//
// A matrix product works on blocks of C that stay in registers while k runs: each k loads a few
// vectors of B, and one number of A per row.
//
// 1. A vector lies along a row of C, so each of its numbers is its own sum, taken in the order
//    of k. AVX2 and AVX-512 therefore give the same bits for any block, and so should 64-bit
//    ARM; it costs nothing. x86 processors without fused multiply-add also round each product.
// 2. A row therefore gives the same output alone and in a batch, and three batches give the
//    gradient of one that holds them all.
// 3. Nothing is packed: rows are an odd number of cache lines apart (mlp.c), and 128 rows of
//    64 columns of B, 32 KB, stay in the first-level cache. With blocks of 6 x 4 vectors a step
//    took 9 % less than with 8 x 2, since A is read half as often, and as much as with 4 x 4.
// 4. A moment of Adam below SMALL becomes 0. The gradient of a dead unit stays 0: its moments
//    would become subnormal, never reach 0 (0.9 of the least one rounds to itself), and make
//    this loop 15 times slower.
// 5. Adam uses IEEE square root and division: 3 % of a step.
//
// Measured on one core of a 2.3 GHz Xeon, 128 x 128 x 128, 1e9 operations per second: 180 with
// AVX-512, 89 with AVX2, 28 with SSE2. Sums of products that never leave the registers reach
// 185, 92 and 36 there.

#include "kernel.h"

#include <math.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME2(x) #x
#define NAME(x) NAME2(x)

// A block is ROWS x VECS vectors, or as many in fewer columns: what fits the registers (32 with
// AVX-512, otherwise 16) beside a row of B and a number of A.
#if defined(__AVX512F__)
#define LANES 16
#define ROWS 6
#define VECS 4
#else
#if defined(__AVX2__)
#define LANES 8
#else
#define LANES 4
#endif
#define ROWS 6
#define VECS 2
#endif
#define MOST (ROWS * VECS)
#define WIDE 8 // vectors of a block of one row

typedef float vec __attribute__((vector_size(4 * LANES), may_alias));
typedef int mask __attribute__((vector_size(4 * LANES)));

// a * b + c, rounded once if the machine can, for a number and for a vector.
#if defined(__AVX512F__)
#define IS_FUSED true
#define FUSED(a, b, c) fmaf(a, b, c)
static inline vec spread(float a)
{
    return (vec)_mm512_set1_ps(a);
}
static inline vec fused(vec a, vec b, vec c)
{
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
#elif defined(__AVX2__)
#define IS_FUSED true
#define FUSED(a, b, c) fmaf(a, b, c)
static inline vec spread(float a)
{
    return (vec)_mm256_set1_ps(a);
}
static inline vec fused(vec a, vec b, vec c)
{
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
#else
static inline vec spread(float a)
{
    return (vec){a, a, a, a};
}
#if defined(__aarch64__)
#define IS_FUSED true
#define FUSED(a, b, c) fmaf(a, b, c)
static inline vec fused(vec a, vec b, vec c)
{
    return (vec){fmaf(a[0], b[0], c[0]), fmaf(a[1], b[1], c[1]), fmaf(a[2], b[2], c[2]),
                 fmaf(a[3], b[3], c[3])};
}
#else
#define IS_FUSED false
#define FUSED(a, b, c) ((a) * (b) + (c))
static inline vec fused(vec a, vec b, vec c)
{
    return a * b + c;
}
#endif
#endif

// ---------------------------------------------------------------------------- products

// Unroll the next loop fully; its end is a constant.
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

// The block of C at row i and column j: nrow x nvec vectors, both constants. All loops but that
// over k are unrolled, to keep the sums in registers.
static inline __attribute__((always_inline)) void block(const rh_repr__product *p, int i, int j,
                                                        const int nrow, const int nvec)
{
    vec c[MOST];
    const vec zero = {0};
    const rh_repr__product q = *p; // not aliased by what is stored
    const float *start = q.start ? q.start + i * q.start_row + j : NULL;
    UNROLL for (int x = 0; x < nrow * nvec; x++)
    {
        c[x] = start ? *(const vec *)(start + x / nvec * q.start_row + x % nvec * LANES) : zero;
    }

    const float *a = q.a + i * q.a_row, *b = q.b + j;
    for (int k = 0; k < q.k; k++, a += q.a_step, b += q.b_row) {
        vec row[WIDE];
        UNROLL for (int y = 0; y < nvec; y++)
        {
            row[y] = *(const vec *)(b + y * LANES);
        }
        UNROLL for (int x = 0; x < nrow * nvec; x++)
        {
            c[x] = fused(spread(a[x / nvec * q.a_row]), row[x % nvec], c[x]);
        }
    }

    // relu keeps a NaN, so that a diverged network is noticed
    float *to = q.c + i * q.c_row + j;
    const float *gate = q.gate ? q.gate + i * q.gate_row + j : NULL;
    UNROLL for (int x = 0; x < nrow * nvec; x++)
    {
        vec z = c[x];
        if (q.relu)
            z = (vec)((mask)z & ~(mask)(z < zero));
        if (gate) {
            vec open = *(const vec *)(gate + x / nvec * q.gate_row + x % nvec * LANES);
            z = (vec)((mask)z & (mask)(open > zero));
        }
        *(vec *)(to + x / nvec * q.c_row + x % nvec * LANES) = z;
    }
}

// All rows of the nvec vectors of columns at j.
static inline __attribute__((always_inline)) void panel(const rh_repr__product *p, int j,
                                                        const int nvec)
{
    const int most = MOST / nvec;
    int i = 0;
    for (; i + most <= p->m; i += most)
        block(p, i, j, most, nvec);
    for (; i + ROWS <= p->m; i += ROWS)
        block(p, i, j, ROWS, nvec);
    switch (p->m - i) {
    case 5:
        block(p, i, j, 5, nvec);
        break;
    case 4:
        block(p, i, j, 4, nvec);
        break;
    case 3:
        block(p, i, j, 3, nvec);
        break;
    case 2:
        block(p, i, j, 2, nvec);
        break;
    case 1:
        block(p, i, j, 1, nvec);
        break;
    default:
        break;
    }
}

static void product(const rh_repr__product *p)
{
    int j = 0;
    for (; p->m == 1 && j + WIDE * LANES <= p->n; j += WIDE * LANES)
        block(p, 0, j, 1, WIDE); // fewer sums would wait for each other
    for (; j + VECS * LANES <= p->n; j += VECS * LANES)
        panel(p, j, VECS);
    for (; VECS > 2 && j + 2 * LANES <= p->n; j += 2 * LANES)
        panel(p, j, 2);
    if (LANES == RH_COLUMNS && j < p->n)
        panel(p, j, 1);
}

// Four rows by four columns.
static inline void turn_block(const float *from, ptrdiff_t from_row, float *to,
                              ptrdiff_t to_row)
{
#if defined(__x86_64__)
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_row);
    __m128 c = _mm_loadu_ps(from + 2 * from_row), d = _mm_loadu_ps(from + 3 * from_row);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + to_row, b);
    _mm_storeu_ps(to + 2 * to_row, c);
    _mm_storeu_ps(to + 3 * to_row, d);
#else
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            to[j * to_row + i] = from[i * from_row + j];
#endif
}

static void turn(int m, int n, const float *from, ptrdiff_t from_row, float *to,
                 ptrdiff_t to_row)
{
    int rows = m / 4 * 4, columns = n / 4 * 4;
    for (int j = 0; j < columns; j += 4)
        for (int i = 0; i < rows; i += 4)
            turn_block(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
    for (int j = 0; j < n; j++)
        for (int i = j < columns ? rows : 0; i < m; i++)
            to[j * to_row + i] = from[i * from_row + j];
}

// ---------------------------------------------------------------------------- Adam

#define SMALL 1e-30f

static void adam(size_t n, const rh_repr__adam_step *step, float *restrict w, float *restrict m,
                 float *restrict v, const float *restrict g)
{
    const rh_repr__adam_step s = *step;
    for (size_t i = 0; i < n; i++) {
        float first = FUSED(s.keep1, m[i], s.take1 * g[i]);
        float second = FUSED(s.keep2, v[i], s.take2 * (g[i] * g[i]));
        first = fabsf(first) < SMALL ? 0.0f : first;
        second = second < SMALL ? 0.0f : second;
        m[i] = first;
        v[i] = second;
        w[i] -= s.rate * (first / (sqrtf(second) + s.eps));
    }
}

extern const rh_repr_kernels JOIN(rh_repr_kernels, RH_ISA);
const rh_repr_kernels JOIN(rh_repr_kernels, RH_ISA) = {
    .name = NAME(RH_ISA),
    .fused = IS_FUSED,
    .product = product,
    .turn = turn,
    .adam = adam,
};
