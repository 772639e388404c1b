// kernel.c - the loops of learning from a log: compiled once per instruction set (RH_ISA).
//
// 1. A state has 336 active features of 2,448 (Acrobot, 16 tilings of 2 tiles). They are stored
//    as bits, not as indices: 153 masks of 16 features select lanes of whole vectors, which
//    takes less time than 336 loads, and far less than as many additions to memory.
// 2. Several rows, or blocks of features, are summed side by side: an addition takes four
//    cycles, and a single sum would wait for each.
// 3. All instruction sets give the same bits. Every sum has one order, nothing is fused, and an
//    inactive feature adds 0 or nothing, which is the same where no sum is -0.
// 4. Moments below SMALL become 0: those of features that are rare in a log would decay to
//    subnormal numbers, which are slow.
//
// Measured on one core of an AMD EPYC, a batch of 128 rows of 160 blocks, values and gradient:
// 15 and 15 us with AVX-512, 20 and 23 us with AVX2, 52 and 59 us with SSE2; bit by bit in
// plain C 180 and 195 us. Adam on three actions: 2.3, 2.5 and 5.5 us.

#include "kernel.h"

#include <math.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define BLOCK RH_OFFLINE__BLOCK
#define LANES RH_OFFLINE__LANES
#if defined(__AVX512F__)
#define WIDTH 16  // floats of a vector
#define ABREAST 8 // sums side by side
#elif defined(__AVX2__)
#define WIDTH 8
#define ABREAST 4
#else
#define WIDTH 4
#define ABREAST 2
#endif
#define PARTS (BLOCK / WIDTH)
#define SMALL 1e-30f // moments below this are 0: subnormal numbers are slow

// ---------------------------------------------------------------------------- tile features

// The sum of a block, halves first.
static float fold(float *x)
{
    for (int half = BLOCK / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            x[i] += x[i + half];
    return x[0];
}

typedef float vec __attribute__((vector_size(4 * WIDTH), may_alias));
typedef int32_t ints __attribute__((vector_size(4 * WIDTH), may_alias));

// sum + x in the lanes of part p of a block that the mask selects.
static inline vec add_selected(vec sum, uint16_t mask, int p, vec x)
{
#if defined(__AVX512F__)
    (void)p;
    return _mm512_mask_add_ps(sum, mask, sum, x);
#else
    static const int32_t bit[BLOCK] __attribute__((aligned(64))) = {
        1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    ints mine = *(const ints *)(bit + p * WIDTH);
    return sum + (vec)((ints)x & ((mine & (int32_t)mask) == mine));
#endif
}

static inline void values_abreast(int nblock, const uint16_t *const *mask, const float *w,
                                  float *q)
{
    vec sum[ABREAST][PARTS] = {{{0}}};
    for (int b = 0; b < nblock; b++, w += BLOCK)
        for (int p = 0; p < PARTS; p++) {
            vec x = *(const vec *)(w + p * WIDTH);
            for (int k = 0; k < ABREAST; k++)
                sum[k][p] = add_selected(sum[k][p], mask[k][b], p, x);
        }
    for (int k = 0; k < ABREAST; k++) {
        float lane[BLOCK];
        memcpy(lane, sum[k], sizeof lane);
        q[k] = fold(lane);
    }
}

static inline void gradient_abreast(int nblock, const uint16_t *mask, int n, const int32_t *row,
                                    const float *d, float *g)
{
    vec sum[ABREAST][PARTS] = {{{0}}};
    for (int i = 0; i < n; i++) {
        const uint16_t *at = mask + (size_t)row[i] * (size_t)nblock;
        vec x = (vec){0} + d[i];
        for (int k = 0; k < ABREAST; k++)
            for (int p = 0; p < PARTS; p++)
                sum[k][p] = add_selected(sum[k][p], at[k], p, x);
    }
    memcpy(g, sum, sizeof sum);
}

static void values(int nblock, const uint16_t *mask, int n, const int32_t *row, const float *w,
                   float *q)
{
    // the last rows are computed again where n is no multiple of ABREAST
    const uint16_t *at[ABREAST];
    float some[ABREAST];
    for (int i = 0; i < n; i += ABREAST) {
        int left = n - i < ABREAST ? n - i : ABREAST;
        for (int k = 0; k < ABREAST; k++)
            at[k] = mask + (size_t)row[i + (k < left ? k : 0)] * (size_t)nblock;
        values_abreast(nblock, at, w, some);
        memcpy(q + i, some, (size_t)left * sizeof *q);
    }
}

static void gradient(int nblock, const uint16_t *mask, int n, const int32_t *row,
                     const float *d, float *g)
{
    for (int b = 0; b < nblock; b += ABREAST)
        gradient_abreast(nblock, mask + b, n, row, d, g + (size_t)b * BLOCK);
}

static void adam(size_t n, const rh_offline__adam *step, float *restrict w, float *restrict m,
                 float *restrict v, const float *restrict g)
{
    const rh_offline__adam s = *step;
    for (size_t i = 0; i < n; i++) {
        float first = s.keep1 * m[i] + s.take1 * g[i];
        float second = s.keep2 * v[i] + s.take2 * (g[i] * g[i]);
        first = fabsf(first) < SMALL ? 0.0f : first;
        second = second < SMALL ? 0.0f : second;
        m[i] = first;
        v[i] = second;
        w[i] = s.keep * w[i] - s.rate * (first / (sqrtf(second) + s.eps));
    }
}

// ---------------------------------------------------------------------------- rows of doubles

static void sums(int nactive, const int32_t *active, int nlane, const double *x, double *z)
{
    for (int a = 0; a < nlane; a += LANES) {
        double even[LANES] = {0}, odd[LANES] = {0};
        int i = 0;
        for (; i + 1 < nactive; i += 2) {
            const double *one = x + (size_t)active[i] * (size_t)nlane + a;
            const double *two = x + (size_t)active[i + 1] * (size_t)nlane + a;
            for (int k = 0; k < LANES; k++) {
                even[k] += one[k];
                odd[k] += two[k];
            }
        }
        for (int k = 0; i < nactive && k < LANES; k++)
            even[k] += x[(size_t)active[i] * (size_t)nlane + (size_t)(a + k)];
        for (int k = 0; k < LANES; k++)
            z[a + k] = even[k] + odd[k];
    }
}

static void spread(int nactive, const int32_t *active, int nlane, const double *d, double *x)
{
    for (int a = 0; a < nlane; a += LANES)
        for (int i = 0; i < nactive; i++) {
            double *at = x + (size_t)active[i] * (size_t)nlane + a;
            for (int k = 0; k < LANES; k++)
                at[k] += d[a + k];
        }
}

RH_KERNEL_TABLE(rh_offline__kernels) = {
    .name = RH_KERNEL_NAME,
    .values = values,
    .gradient = gradient,
    .adam = adam,
    .sums = sums,
    .spread = spread,
};
