// kernel.c - the agents' hot loops: plain C, compiled once per instruction set (RH_ISA).
//
// 1. AVX2 and AVX-512 give the same bits, and the source is written for 64-bit ARM to give them
//    too: it says where a fused multiply-add is used, reorders no sum, uses IEEE square roots
//    and divisions, and builds its reciprocal square root from ordinary arithmetic, since the
//    processors' own approximations differ. x86 processors without a fused multiply-add round
//    differently, so runs there differ after some thousand steps. Avoiding it everywhere would
//    cost a quarter of the operations.
// 2. The reciprocal square root pays off: sqrt and division of 16 floats occupy the divider for
//    about 35 cycles, its 9 ordinary operations take 5. It is an integer guess and a first step
//    with constants fitted to each other (relative error 8.8e-4), then a Newton step. Its error
//    is between -1.2e-6 and 0; the rate corrects the mean of it.
// 3. 1 / (sqrt(v) + eps) = r (1 - x + x^2 - ...), with r = 1 / sqrt(v), x = eps r. The first
//    term is exact to 1e-7 while x < 3e-4, that is v > RH_TINY; a block with a smaller v takes
//    the exact path. The choice depends only on the numbers of the block, not on what the
//    caller knows in advance.
//
// Measured on one core of a 2.3 GHz Xeon, per entry of the Adam loop in the second-level cache:
// 0.20 ns with AVX-512, 0.26 ns with AVX2, 0.64 ns with SSE2 (bench/bench_kernel.c).

#include "kernel.h"
#include "tiles.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

// ---------------------------------------------------------------------------- tiles

// Add up the rows of each group; n is the number of tilings.
static inline void add_rows(const rh_tiles *tiles, const int32_t *at, int32_t *active, int n)
{
    int32_t base = 0;
    const int32_t *row = tiles->row;
    ptrdiff_t size = (ptrdiff_t)tiles->nvalue * n;
    if (tiles->mode == RH_TILES_JOINT) {
        memset(active, 0, (size_t)n * sizeof *active);
        for (int i = 0; i < tiles->nsensor; i++, row += size) {
            const int32_t *own = row + at[tiles->sensor[i]];
            for (int t = 0; t < n; t++)
                active[t] += own[t];
        }
        return;
    }

    for (int i = 0; i < tiles->nsensor; i++, active += n, base += tiles->nsingle) {
        const int32_t *own = row + at[tiles->sensor[i]];
        for (int t = 0; t < n; t++)
            active[t] = base + own[t];
    }
    const int *pair = tiles->pair;
    for (int i = 0; i < tiles->npairs; i++, pair += 2, active += n, base += tiles->npair) {
        const int32_t *first = row + size + at[pair[0]], *second = row + 2 * size + at[pair[1]];
        for (int t = 0; t < n; t++)
            active[t] = base + first[t] + second[t];
    }
}

static void tiles(const rh_tiles *coder, const int32_t *at, int32_t *active)
{
    if (coder->ntiling == 16) // a constant, so the compiler unrolls a group into vectors
        add_rows(coder, at, active, 16);
    else
        add_rows(coder, at, active, coder->ntiling);
}

// ---------------------------------------------------------------------------- values

#if defined(__AVX2__)

// The changes in four places, 0 where there is none. Four loads: a gather takes twice as long
// on AMD's processors.
static inline __m128 pick(const float *change, __m128i slot)
{
    slot = _mm_max_epi32(slot, _mm_setzero_si128()); // place 0 has no change
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(slot),
             high = (uint64_t)_mm_extract_epi64(slot, 1);
    return _mm_setr_ps(change[(uint32_t)low], change[low >> 32], change[(uint32_t)high],
                       change[high >> 32]);
}

#endif

// Four lines at a time, each with its own partial sums, added at the end in a fixed order.
#if defined(__AVX512F__)

static void values(const rh_agent__line *line, const int32_t *active, int n,
                   const float *change, double w[RH_LANES], double dw[RH_LANES], int32_t *slot)
{
    __m512d w01 = _mm512_setzero_pd(), w23 = w01;
    __m512 d = _mm512_setzero_ps();
    for (int i = 0; i < n; i += 4) {
        const rh_agent__line *l0 = line + active[i], *l1 = line + active[i + 1];
        const rh_agent__line *l2 = line + active[i + 2], *l3 = line + active[i + 3];
        __m512d a = _mm512_castpd256_pd512(_mm256_load_pd(l0->w));
        __m512d b = _mm512_castpd256_pd512(_mm256_load_pd(l2->w));
        w01 = _mm512_add_pd(w01, _mm512_insertf64x4(a, _mm256_load_pd(l1->w), 1));
        w23 = _mm512_add_pd(w23, _mm512_insertf64x4(b, _mm256_load_pd(l3->w), 1));

        __m512i s = _mm512_castsi128_si512(_mm_load_si128((const __m128i *)l0->slot));
        s = _mm512_inserti32x4(s, _mm_load_si128((const __m128i *)l1->slot), 1);
        s = _mm512_inserti32x4(s, _mm_load_si128((const __m128i *)l2->slot), 2);
        s = _mm512_inserti32x4(s, _mm_load_si128((const __m128i *)l3->slot), 3);
        _mm512_storeu_si512(slot + 4 * i, s);
        __m512 c = _mm512_castps128_ps512(pick(change, _mm512_castsi512_si128(s)));
        c = _mm512_insertf32x4(c, pick(change, _mm512_extracti32x4_epi32(s, 1)), 1);
        c = _mm512_insertf32x4(c, pick(change, _mm512_extracti32x4_epi32(s, 2)), 2);
        c = _mm512_insertf32x4(c, pick(change, _mm512_extracti32x4_epi32(s, 3)), 3);
        d = _mm512_add_ps(d, c);
    }
    __m256d w0 = _mm512_castpd512_pd256(w01), w1 = _mm512_extractf64x4_pd(w01, 1);
    __m256d w2 = _mm512_castpd512_pd256(w23), w3 = _mm512_extractf64x4_pd(w23, 1);
    __m128 d01 = _mm_add_ps(_mm512_castps512_ps128(d), _mm512_extractf32x4_ps(d, 1));
    __m128 d23 = _mm_add_ps(_mm512_extractf32x4_ps(d, 2), _mm512_extractf32x4_ps(d, 3));
    _mm256_storeu_pd(w, _mm256_add_pd(_mm256_add_pd(w0, w1), _mm256_add_pd(w2, w3)));
    _mm256_storeu_pd(dw, _mm256_cvtps_pd(_mm_add_ps(d01, d23)));
}

#elif defined(__AVX2__)

static void values(const rh_agent__line *line, const int32_t *active, int n,
                   const float *change, double w[RH_LANES], double dw[RH_LANES], int32_t *slot)
{
    __m256d a[4] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(),
                    _mm256_setzero_pd()};
    __m128 d[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
    for (int i = 0; i < n; i += 4)
        for (int j = 0; j < 4; j++) {
            const rh_agent__line *l = line + active[i + j];
            __m128i s = _mm_load_si128((const __m128i *)l->slot);
            _mm_storeu_si128((__m128i *)(slot + 4 * (i + j)), s);
            a[j] = _mm256_add_pd(a[j], _mm256_load_pd(l->w));
            d[j] = _mm_add_ps(d[j], pick(change, s));
        }
    __m128 sum = _mm_add_ps(_mm_add_ps(d[0], d[1]), _mm_add_ps(d[2], d[3]));
    _mm256_storeu_pd(w, _mm256_add_pd(_mm256_add_pd(a[0], a[1]), _mm256_add_pd(a[2], a[3])));
    _mm256_storeu_pd(dw, _mm256_cvtps_pd(sum));
}

#else

static void values(const rh_agent__line *line, const int32_t *active, int n,
                   const float *change, double w[RH_LANES], double dw[RH_LANES], int32_t *slot)
{
    double a[4][RH_LANES] = {{0}};
    float d[4][RH_LANES] = {{0}};
    for (int i = 0; i < n; i += 4)
        for (int j = 0; j < 4; j++) {
            const rh_agent__line *l = line + active[i + j];
            for (int k = 0; k < RH_LANES; k++) {
                slot[RH_LANES * (i + j) + k] = l->slot[k];
                a[j][k] += l->w[k];
                d[j][k] += change[l->slot[k] > 0 ? l->slot[k] : 0];
            }
        }
    for (int k = 0; k < RH_LANES; k++) {
        w[k] = (a[0][k] + a[1][k]) + (a[2][k] + a[3][k]);
        dw[k] = (double)((d[0][k] + d[1][k]) + (d[2][k] + d[3][k]));
    }
}

#endif

// ---------------------------------------------------------------------------- aim

#if defined(__AVX512F__)

static int aim(int n, const int32_t *slot, const int32_t *line, int32_t *place, int32_t *fresh)
{
    const __m512i step =
        _mm512_set_epi32(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0);
    const __m512i low = _mm512_and_si512(step, _mm512_set1_epi32(31));
    int count = 0;
    for (int i = 0; i < n; i += 16) {
        const int32_t *s = slot + 4 * i;
        __m512i a =
            _mm512_permutex2var_epi32(_mm512_loadu_si512(s), low, _mm512_loadu_si512(s + 16));
        __m512i b = _mm512_permutex2var_epi32(_mm512_loadu_si512(s + 32), low,
                                              _mm512_loadu_si512(s + 48));
        __m512i at = _mm512_mask_blend_epi32(0xff00, a, b);
        __m512i in = _mm512_max_epi32(at, _mm512_setzero_si512());
        __mmask16 real = (__mmask16)(n - i >= 16 ? 0xffffu : (1u << (n - i)) - 1u);
        __mmask16 out = _mm512_mask_cmple_epi32_mask(real, at, _mm512_setzero_si512());
        _mm512_storeu_si512(place + i, _mm512_maskz_mov_epi32(real, in));
        _mm512_storeu_si512(fresh + count,
                            _mm512_maskz_compress_epi32(out, _mm512_loadu_si512(line + i)));
        count += __builtin_popcount(out);
    }
    return count;
}

#else

static int aim(int n, const int32_t *slot, const int32_t *line, int32_t *place, int32_t *fresh)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int32_t at = slot[4 * i];
        place[i] = at > 0 ? at : 0;
        fresh[count] = line[i];
        count += at <= 0;
    }
    return count;
}

#endif

// ---------------------------------------------------------------------------- Adam

// a * b + c, rounded once where the machine can.
#if defined(__FMA__) || defined(__aarch64__)
#define FUSED(a, b, c) fmaf(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

// 2 / (sqrt(x) + eps), for eps / sqrt(x) < 3e-4.
static inline float inverse_root(float x, float eps)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x5f0b3888u - (bits >> 1);
    float r;
    memcpy(&r, &bits, sizeof r);
    r = r * FUSED(-x, r * r, 1.89099085f);
    return r * FUSED(-2.0f * eps, r, FUSED(-x, r * r, 3.0f));
}

static inline void fast_way(const rh_agent__adam *adam, float *restrict dw,
                            const float *restrict v, const float *restrict u)
{
    float eps = adam->eps,
          half = adam->rate * 0.50000029f; // corrects the mean error of decision 2
    for (int i = 0; i < RH_BLOCK; i++)
        dw[i] = FUSED(half, u[i] * inverse_root(v[i], eps), dw[i]);
}

static inline void exact_way(const rh_agent__adam *adam, float *restrict dw,
                             const float *restrict v, const float *restrict u)
{
    float eps = adam->eps, rate = adam->rate;
    for (int i = 0; i < RH_BLOCK; i++)
        dw[i] += rate * (u[i] / (sqrtf(v[i]) + eps));
}

// One block: y are the traces, u the numerators, which are the traces or the momentum.
static inline void update_block(const rh_agent__adam *adam, float *restrict dw,
                                float *restrict v, const float *restrict y,
                                const float *restrict u, bool safe)
{
    float gain = adam->gain;
    int small = 0;
    for (int i = 0; i < RH_BLOCK; i++)
        v[i] = FUSED(gain, y[i] * y[i], v[i]);
    for (int i = 0; !safe && i < RH_BLOCK; i++)
        small |= v[i] < RH_TINY;
    if (small)
        exact_way(adam, dw, v, u);
    else
        fast_way(adam, dw, v, u);
}

static void adam_plain(int nsafe, int n, const rh_agent__adam *adam, float *dw, float *v,
                       const float *y)
{
    for (int i = 0; i < nsafe; i += RH_BLOCK)
        update_block(adam, dw + i, v + i, y + i, y + i, true);
    for (int i = nsafe; i < n; i += RH_BLOCK)
        update_block(adam, dw + i, v + i, y + i, y + i, false);
}

static inline void momentum_block(const rh_agent__adam *adam, float *restrict dw,
                                  float *restrict v, float *restrict m, const float *restrict y,
                                  bool safe)
{
    float error = adam->error, take = adam->take;
    for (int i = 0; i < RH_BLOCK; i++)
        m[i] = FUSED(take, FUSED(error, y[i], -m[i]), m[i]);
    update_block(adam, dw, v, y, m, safe);
}

static void adam_momentum(int nsafe, int n, const rh_agent__adam *adam, float *dw, float *v,
                          float *m, const float *y)
{
    for (int i = 0; i < nsafe; i += RH_BLOCK)
        momentum_block(adam, dw + i, v + i, m + i, y + i, true);
    for (int i = nsafe; i < n; i += RH_BLOCK)
        momentum_block(adam, dw + i, v + i, m + i, y + i, false);
}

static void sgd(int n, float step, float *restrict dw, const float *restrict y)
{
    for (int i = 0; i < n; i += RH_BLOCK)
        for (int j = i; j < i + RH_BLOCK; j++)
            dw[j] = FUSED(step, y[j], dw[j]);
}

// Non-negative floats sort like their bits.
static float least(int n, const float *v)
{
    int32_t lowest = INT32_MAX;
    for (int i = 0; i < n; i++) {
        int32_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        lowest = bits < lowest ? bits : lowest;
    }
    float x;
    memcpy(&x, &lowest, sizeof x);
    return x;
}

// ---------------------------------------------------------------------------- leaving entries

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

static int faded(int n, const float *y, int32_t *place)
{
    int count = 0;
    for (int i = 0; i < n; i += RH_BLOCK) {
        int any = 0;
        for (int j = 0; j < RH_BLOCK; j++)
            any |= y[i + j] == 0.0f;
        for (int j = 0; any && j < RH_BLOCK; j++) {
            place[count] = i + j;
            count += i + j > 0 && i + j < n && y[i + j] == 0.0f;
        }
    }
    return count;
}

RH_KERNEL_TABLE(rh_agent__kernels) = {
    .name = RH_KERNEL_NAME,
    .tiles = tiles,
    .values = values,
    .aim = aim,
    .adam = adam_plain,
    .momentum = adam_momentum,
    .sgd = sgd,
    .least = least,
    .aged = aged,
    .faded = faded,
};
