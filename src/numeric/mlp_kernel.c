// mlp_kernel.c - the hot loops of training: plain C, compiled once per instruction set
// (RH_ISA).
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
// 6. A row alone waits for B, which is larger than the first-level cache. Numbers of A that are
//    0 need no row of B: half of those behind a ReLU. Skipping them changes no bit, since B is
//    finite. A step of a network model takes 1.6 and 2.0 us instead of 2.6 and 3.3 (Acrobot,
//    Puddle World; Laplacian codes; one core of an AMD EPYC, Zen 4).
// 7. Layer norm sums a row in RH_COLUMNS parts, one per column of a cache line, whatever the
//    width of a vector, and then the parts in pairs.
//
// Measured on one core of a 2.3 GHz Xeon, 128 x 128 x 128, 1e9 operations per second: 180 with
// AVX-512, 89 with AVX2, 28 with SSE2. Sums of products that never leave the registers reach
// 185, 92 and 36 there.

#include "mlp_kernel.h"

#include <math.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// A block is ROWS x VECS vectors, or as many in fewer columns: what fits the registers (32 with
// AVX-512, otherwise 16) beside a row of B and a number of A.
#define LANES ((int)(RH_KERNEL_BYTES / sizeof(float)))
#define ROWS 6
#if defined(__AVX512F__)
#define VECS 4
#else
#define VECS 2
#endif
#define MOST (ROWS * VECS)
#define WIDE 8           // vectors of a block of one row
#define MOST_LISTED 1024 // numbers of a row that is searched for zeros

typedef float vec __attribute__((vector_size(RH_KERNEL_BYTES), may_alias));
typedef int mask __attribute__((vector_size(RH_KERNEL_BYTES)));

// a * b + c, rounded once if the machine can, for a number and for a vector.
#if defined(__AVX2__)
#define IS_FUSED true
#define FUSED(a, b, c) fmaf(a, b, c)
#if defined(__AVX512F__)
#define MM(name) _mm512_##name
typedef __m512 packed;
#else
#define MM(name) _mm256_##name
typedef __m256 packed;
#endif
static inline vec spread(float a)
{
    return (vec)MM(set1_ps)(a);
}
static inline vec fused(vec a, vec b, vec c)
{
    return (vec)MM(fmadd_ps)((packed)a, (packed)b, (packed)c);
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

// Add to c the products of nrow numbers of A, a_row apart, and nvec vectors of a row of B.
static inline __attribute__((always_inline)) void add_products(vec *c, const float *a,
                                                               ptrdiff_t a_row, const float *b,
                                                               const int nrow, const int nvec)
{
    vec row[WIDE];
    UNROLL for (int y = 0; y < nvec; y++)
    {
        row[y] = *(const vec *)(b + y * LANES);
    }
    UNROLL for (int x = 0; x < nrow * nvec; x++)
    {
        c[x] = fused(spread(a[x / nvec * a_row]), row[x % nvec], c[x]);
    }
}

// The block of C at row i and column j: nrow x nvec vectors, both constants. All loops but that
// over k are unrolled, to keep the sums in registers. With a list, k takes its values only.
static inline __attribute__((always_inline)) void block(const rh_mlp__product *p, int i, int j,
                                                        const int nrow, const int nvec,
                                                        const int32_t *list, int nlist)
{
    vec c[MOST];
    const vec zero = {0};
    const rh_mlp__product q = *p; // not aliased by what is stored
    const float *start = q.start ? q.start + i * q.start_row + j : NULL;
    UNROLL for (int x = 0; x < nrow * nvec; x++)
    {
        c[x] = start ? *(const vec *)(start + x / nvec * q.start_row + x % nvec * LANES) : zero;
    }

    const float *a = q.a + i * q.a_row, *b = q.b + j;
    for (int x = 0; list && x < nlist; x++)
        add_products(c, a + list[x], q.a_row, b + list[x] * q.b_row, nrow, nvec);
    for (int k = 0; !list && k < q.k; k++, a += q.a_step, b += q.b_row)
        add_products(c, a, q.a_row, b, nrow, nvec);

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
static inline __attribute__((always_inline)) void panel(const rh_mlp__product *p, int j,
                                                        const int nvec)
{
    const int most = MOST / nvec;
    int i = 0;
    for (; i + most <= p->m; i += most)
        block(p, i, j, most, nvec, NULL, 0);
    for (; i + ROWS <= p->m; i += ROWS)
        block(p, i, j, ROWS, nvec, NULL, 0);
    switch (p->m - i) {
#define LEFT(nrow)                                                                             \
    case nrow:                                                                                 \
        block(p, i, j, nrow, nvec, NULL, 0);                                                   \
        break
        LEFT(5);
        LEFT(4);
        LEFT(3);
        LEFT(2);
        LEFT(1);
#undef LEFT
    default:
        break;
    }
}

// Where the numbers of a (n) are not 0; list has room for whole vectors. Returns how many.
static int list_numbers(const float *a, int n, int32_t *list)
{
    int count = 0;
#if defined(__AVX512F__)
    __m512i at = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (int k = 0; k < n; k += 16) {
        __mmask16 real = (__mmask16)(n - k >= 16 ? 0xffffu : (1u << (n - k)) - 1u);
        __m512 x = _mm512_maskz_loadu_ps(real, a + k);
        __mmask16 some = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_UQ);
        _mm512_storeu_si512(list + count, _mm512_maskz_compress_epi32(some, at));
        count += __builtin_popcount(some);
        at = _mm512_add_epi32(at, _mm512_set1_epi32(16));
    }
#else
    for (int k = 0; k < n; k++) {
        list[count] = k;
        count += a[k] != 0.0f;
    }
#endif
    return count;
}

// One row, without the numbers of A that are 0: half of those behind a ReLU. (decision 6)
static void product_of_row(const rh_mlp__product *p)
{
    int32_t list[MOST_LISTED + 16];
    int n = list_numbers(p->a, p->k, list), j = 0;
    for (; j + WIDE * LANES <= p->n; j += WIDE * LANES)
        block(p, 0, j, 1, WIDE, list, n); // fewer sums would wait for each other
    for (; j + VECS * LANES <= p->n; j += VECS * LANES)
        block(p, 0, j, 1, VECS, list, n);
    for (; VECS > 2 && j + 2 * LANES <= p->n; j += 2 * LANES)
        block(p, 0, j, 1, 2, list, n);
    if (LANES == RH_COLUMNS && j < p->n)
        block(p, 0, j, 1, 1, list, n);
}

static void product(const rh_mlp__product *p)
{
    if (p->m == 1 && p->a_step == 1 && p->k <= MOST_LISTED) {
        product_of_row(p);
        return;
    }
    int j = 0;
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

// ---------------------------------------------------------------------------- layer norm

#define VARIANCE_MORE 1e-5f        // added to a variance, as in Ba, Kiros and Hinton's code
#define NPART (RH_COLUMNS / LANES) // vectors of one number per column (decision 7)

// The sum of all numbers of the parts, in pairs.
static inline float total(const vec part[NPART])
{
    float s[RH_COLUMNS];
    UNROLL for (int y = 0; y < NPART; y++)
    {
        *(vec *)(s + y * LANES) = part[y];
    }
    UNROLL for (int half = RH_COLUMNS / 2; half; half /= 2)
    {
        UNROLL for (int k = 0; k < half; k++)
        {
            s[k] += s[k + half];
        }
    }
    return s[0];
}

// 1 for the last RH_COLUMNS columns that exist, 0 for padding.
static void find_tail(int n, vec tail[NPART])
{
    float one[RH_COLUMNS];
    for (int k = 0; k < RH_COLUMNS; k++)
        one[k] = (n - 1) / RH_COLUMNS * RH_COLUMNS + k < n ? 1.0f : 0.0f;
    for (int y = 0; y < NPART; y++)
        tail[y] = *(vec *)(one + y * LANES);
}

// For each vector y at x[at] of a row of n numbers, in whole columns.
#define EACH_VECTOR(n)                                                                         \
    for (int j = 0; j < (n); j += RH_COLUMNS)                                                  \
    UNROLL for (int y = 0, at = j; y < NPART; y++, at += LANES)

#define AT(p) (*(vec *)((p) + at))
#define READ(p) (*(const vec *)((p) + at))
#define WITHIN(x) (j + RH_COLUMNS < q.n ? (x) : (x)*tail[y]) // padding is 0

static void norm(const rh_mlp__norm *p)
{
    const rh_mlp__norm q = *p;
    const vec zero = {0};
    vec tail[NPART];
    find_tail(q.n, tail);
    for (int i = 0; i < q.m; i++) {
        float *x = q.x + i * q.row, *hat = q.hat ? q.hat + i * q.row : NULL;
        vec sum[NPART] = {{0}}, square[NPART] = {{0}};
        EACH_VECTOR(q.n)
        {
            sum[y] += READ(x);
        }
        float mean = total(sum) / (float)q.n;
        EACH_VECTOR(q.n)
        {
            vec d = WITHIN(READ(x) - spread(mean));
            square[y] += d * d;
        }
        float scale = 1.0f / sqrtf(total(square) / (float)q.n + VARIANCE_MORE);
        if (q.spread)
            q.spread[i] = scale;
        EACH_VECTOR(q.n)
        {
            vec h = WITHIN((READ(x) - spread(mean)) * spread(scale));
            vec z = READ(q.gain) * h + READ(q.shift);
            if (hat)
                AT(hat) = h;
            AT(x) = (vec)((mask)z & ~(mask)(z < zero)); // keeps a NaN, as in products
        }
    }
}

static void norm_back(const rh_mlp__norm *p)
{
    const rh_mlp__norm q = *p;
    vec tail[NPART];
    find_tail(q.n, tail);
    for (int i = 0; i < q.m; i++) {
        float *x = q.x + i * q.row;
        const float *hat = q.hat + i * q.row;
        vec sum[NPART] = {{0}}, dot[NPART] = {{0}};
        EACH_VECTOR(q.n)
        {
            vec d = READ(x), h = READ(hat), e = d * READ(q.gain);
            sum[y] += e;
            dot[y] += e * h;
            if (q.by_gain) {
                AT(q.by_gain) += d * h;
                AT(q.by_shift) += d;
            }
            AT(x) = e;
        }
        vec mean = spread(total(sum) / (float)q.n), slope = spread(total(dot) / (float)q.n);
        EACH_VECTOR(q.n)
        {
            AT(x) = WITHIN((READ(x) - mean - READ(hat) * slope) * spread(q.spread[i]));
        }
    }
}

// ---------------------------------------------------------------------------- Adam

#define SMALL 1e-30f // moments below this are 0: subnormal numbers are slow

static void adam(size_t n, const rh_mlp__adam_step *step, float *restrict w, float *restrict m,
                 float *restrict v, const float *restrict g)
{
    const rh_mlp__adam_step s = *step;
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

RH_KERNEL_TABLE(rh_mlp__kernels) = {
    .name = RH_KERNEL_NAME,
    .fused = IS_FUSED,
    .product = product,
    .turn = turn,
    .norm = norm,
    .norm_back = norm_back,
    .adam = adam,
};
