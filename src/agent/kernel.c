// kernel.c - the agents' hot loops: plain C, compiled once per instruction set (RH_ISA).
//
// 1. All instruction sets give the same bits. There is no fused multiply-add and no reordered
//    sum; square roots and divisions are IEEE's; a reciprocal square root is built from integer
//    and ordinary arithmetic rather than from the machines' own approximations, which differ.
// 2. That reciprocal square root is worth it: sqrt and division of 16 floats keep the divider
//    busy for some 35 cycles, its 14 ordinary operations for 7. The integer guess and first
//    step are Kadlec's (relative error 6.5e-4), the second step is Newton's with constants that
//    spread its error evenly around zero: 3e-7 at the most.
// 3. 1 / (sqrt(v) + eps) = r (1 - x + x^2 - ...), with r = 1 / sqrt(v), x = eps r. The first
// term
//    is exact to 1e-8 while x < 1e-4, that is v > TINY; a block with a smaller v takes the
//    exact way. Which way a block takes depends on its numbers only.
// 4. |g| is held above 1e-17 where it is squared: what lies below vanishes beside eps = 1e-8,
// and
//    subnormal numbers cost a hundred cycles each.

#include "kernel.h"
#include "tiles.h"

#include <math.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME2(x) #x
#define NAME(x) NAME2(x)

#define TINY 1e-8f // eps / sqrt(TINY) = 1e-4
#define FLOOR 1e-17f

// ---------------------------------------------------------------------------- tiles

// Add up the rows of each group; n is the number of tilings.
static inline void add_rows(const rh_tiles *tiles, const int32_t *at, int32_t *active, int n)
{
    int nobs = tiles->nobs;
    int32_t base = 0;
    const int32_t *row = tiles->row;
    ptrdiff_t size = (ptrdiff_t)tiles->nvalue * n;
    if (tiles->mode == RH_TILES_JOINT) {
        memset(active, 0, (size_t)n * sizeof *active);
        for (int i = 0; i < nobs; i++, row += size)
            for (int t = 0; t < n; t++)
                active[t] += row[at[i] + t];
        return;
    }

    for (int i = 0; i < nobs; i++, active += n, base += tiles->nsingle)
        for (int t = 0; t < n; t++)
            active[t] = base + row[at[i] + t];
    if (tiles->mode == RH_TILES_SINGLES)
        return;
    for (int i = 0; i < nobs; i++) {
        const int32_t *first = row + size + at[i];
        for (int j = i + 1; j < nobs; j++, active += n, base += tiles->npair) {
            const int32_t *second = row + 2 * size + at[j];
            for (int t = 0; t < n; t++)
                active[t] = base + first[t] + second[t];
        }
    }
}

static void tiles(const rh_tiles *coder, const int32_t *at, int32_t *active)
{
    if (coder->ntiling == 16) // known to the compiler: a group is one to four vectors
        add_rows(coder, at, active, 16);
    else
        add_rows(coder, at, active, coder->ntiling);
}

// ---------------------------------------------------------------------------- values

// Four lines at a time, each with its own partial sums, added up in the end in a fixed order.
#if defined(__AVX512F__)

static void values(const rh_line *line, const int32_t *active, int n, const float *dw,
                   double q[RH_LANES])
{
    __m512d w01 = _mm512_setzero_pd(), w23 = w01;
    __m512 d = _mm512_setzero_ps();
    for (int i = 0; i < n; i += 4) {
        const rh_line *l0 = line + active[i], *l1 = line + active[i + 1];
        const rh_line *l2 = line + active[i + 2], *l3 = line + active[i + 3];
        __m512d a = _mm512_castpd256_pd512(_mm256_load_pd(l0->w));
        __m512d b = _mm512_castpd256_pd512(_mm256_load_pd(l2->w));
        w01 = _mm512_add_pd(w01, _mm512_insertf64x4(a, _mm256_load_pd(l1->w), 1));
        w23 = _mm512_add_pd(w23, _mm512_insertf64x4(b, _mm256_load_pd(l3->w), 1));

        __m512i slot = _mm512_castsi128_si512(_mm_load_si128((const __m128i *)l0->slot));
        slot = _mm512_inserti32x4(slot, _mm_load_si128((const __m128i *)l1->slot), 1);
        slot = _mm512_inserti32x4(slot, _mm_load_si128((const __m128i *)l2->slot), 2);
        slot = _mm512_inserti32x4(slot, _mm_load_si128((const __m128i *)l3->slot), 3);
        __mmask16 in = _mm512_cmpgt_epi32_mask(slot, _mm512_setzero_si512());
        __m512 zero = _mm512_setzero_ps();
        d = _mm512_add_ps(d, _mm512_mask_i32gather_ps(zero, in, slot, dw, 4));
    }
    __m256d w0 = _mm512_castpd512_pd256(w01), w1 = _mm512_extractf64x4_pd(w01, 1);
    __m256d w2 = _mm512_castpd512_pd256(w23), w3 = _mm512_extractf64x4_pd(w23, 1);
    __m128 d01 = _mm_add_ps(_mm512_castps512_ps128(d), _mm512_extractf32x4_ps(d, 1));
    __m128 d23 = _mm_add_ps(_mm512_extractf32x4_ps(d, 2), _mm512_extractf32x4_ps(d, 3));
    __m256d w = _mm256_add_pd(_mm256_add_pd(w0, w1), _mm256_add_pd(w2, w3));
    _mm256_storeu_pd(q, _mm256_add_pd(w, _mm256_cvtps_pd(_mm_add_ps(d01, d23))));
}

#elif defined(__AVX2__)

static __m128 changes(const rh_line *line, const float *dw)
{
    __m128i slot = _mm_load_si128((const __m128i *)line->slot);
    __m128i in = _mm_cmpgt_epi32(slot, _mm_setzero_si128());
    return _mm_mask_i32gather_ps(_mm_setzero_ps(), dw, slot, _mm_castsi128_ps(in), 4);
}

static void values(const rh_line *line, const int32_t *active, int n, const float *dw,
                   double q[RH_LANES])
{
    __m256d w[4] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(),
                    _mm256_setzero_pd()};
    __m128 d[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
    for (int i = 0; i < n; i += 4)
        for (int j = 0; j < 4; j++) {
            const rh_line *l = line + active[i + j];
            w[j] = _mm256_add_pd(w[j], _mm256_load_pd(l->w));
            d[j] = _mm_add_ps(d[j], changes(l, dw));
        }
    __m128 dsum = _mm_add_ps(_mm_add_ps(d[0], d[1]), _mm_add_ps(d[2], d[3]));
    __m256d wsum = _mm256_add_pd(_mm256_add_pd(w[0], w[1]), _mm256_add_pd(w[2], w[3]));
    _mm256_storeu_pd(q, _mm256_add_pd(wsum, _mm256_cvtps_pd(dsum)));
}

#else

static void values(const rh_line *line, const int32_t *active, int n, const float *dw,
                   double q[RH_LANES])
{
    double w[4][RH_LANES] = {{0}};
    float d[4][RH_LANES] = {{0}};
    for (int i = 0; i < n; i += 4)
        for (int j = 0; j < 4; j++) {
            const rh_line *l = line + active[i + j];
            for (int a = 0; a < RH_LANES; a++) {
                w[j][a] += l->w[a];
                d[j][a] += dw[l->slot[a] > 0 ? l->slot[a] : 0];
            }
        }
    for (int a = 0; a < RH_LANES; a++)
        q[a] = ((w[0][a] + w[1][a]) + (w[2][a] + w[3][a])) +
               (double)((d[0][a] + d[1][a]) + (d[2][a] + d[3][a]));
}

#endif

// ---------------------------------------------------------------------------- Adam

// 1 / (sqrt(x) + eps), for eps / sqrt(x) < 1e-4.
static inline float inverse_root(float x, float eps)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x5f1ffff9u - (bits >> 1);
    float r;
    memcpy(&r, &bits, sizeof r);
    r = (0.703952253f * r) * (2.38924456f - x * (r * r));
    return r * ((1.50000048f - (0.50000016f * x) * (r * r)) - eps * r);
}

// One block: g is the gradient, u what takes its place above the root (itself, or the
// momentum).
static inline void update_block(const rh_adam *adam, float *restrict dw, float *restrict v,
                                const float *restrict g, const float *restrict u)
{
    float take = adam->take2, eps = adam->eps, rate = adam->rate;
    int small = 0;
    for (int i = 0; i < RH_BLOCK; i++) {
        float size = fabsf(g[i]);
        size = size > FLOOR ? size : FLOOR;
        v[i] += take * (size * size - v[i]);
        small |= v[i] < TINY;
    }
    if (small) {
        for (int i = 0; i < RH_BLOCK; i++)
            dw[i] += rate * (u[i] / (sqrtf(v[i]) + eps));
        return;
    }
    for (int i = 0; i < RH_BLOCK; i++)
        dw[i] += rate * (u[i] * inverse_root(v[i], eps));
}

static void adam_plain(int n, const rh_adam *adam, float *dw, float *v, const float *y)
{
    float error = adam->error;
    for (int i = 0; i < n; i += RH_BLOCK) {
        float g[RH_BLOCK];
        for (int j = 0; j < RH_BLOCK; j++)
            g[j] = error * y[i + j];
        update_block(adam, dw + i, v + i, g, g);
    }
}

static void adam_momentum(int n, const rh_adam *adam, float *dw, float *v, float *m,
                          const float *y)
{
    float error = adam->error, take = adam->take1;
    for (int i = 0; i < n; i += RH_BLOCK) {
        float g[RH_BLOCK];
        for (int j = 0; j < RH_BLOCK; j++) {
            g[j] = error * y[i + j];
            m[i + j] += take * (g[j] - m[i + j]);
        }
        update_block(adam, dw + i, v + i, g, m + i);
    }
}

// ---------------------------------------------------------------------------- ages

static int aged(int n, const uint32_t *visit, uint32_t clock, uint32_t age, int32_t *place)
{
    int count = 0;
    for (int i = 0; i < n; i += RH_BLOCK) {
        int any = 0;
        for (int j = 0; j < RH_BLOCK; j++)
            any |= clock - visit[i + j] >= age;
        for (int j = 0; any && j < RH_BLOCK; j++) {
            place[count] = i + j;
            count += i + j > 0 && i + j < n && clock - visit[i + j] >= age;
        }
    }
    return count;
}

extern const rh_kernels JOIN(rh_kernels, RH_ISA);
const rh_kernels JOIN(rh_kernels, RH_ISA) = {
    .name = NAME(RH_ISA),
    .tiles = tiles,
    .values = values,
    .adam = adam_plain,
    .momentum = adam_momentum,
    .aged = aged,
};
