// sobol.c - Sobol's sequence with a random shift.
//
// Sobol (1967), in the order of Gray's code (Antonov and Saleev 1979), with the direction
// numbers of Joe and Kuo (2008). A dimension has a primitive polynomial of degree s over 0
// and 1 and its first s numbers; the others follow:
//
//     v(i) = v(i-s) ^ (v(i-s) >> s) ^ a(1) v(i-1) ^ ... ^ a(s-1) v(i-s+1)
//
// 1. The shift is an exclusive or of the bits, which preserves the properties of the sequence:
//    2^k consecutive points have one in each of 2^k equal slices of any dimension. All points
//    have the same shift: each is uniform by itself, and other seeds give other sets.
// 2. Numbers are in the middle of their 2^-32 interval: neither 0 nor 1 occurs.

#include "sobol.h"
#include "base/base.h"

#include <assert.h>

#define BITS 32

// The polynomial's coefficients as bits, and the first numbers: v(i) = first[i - 1] 2^(32-i).
// The first dimension has none: its numbers are the powers of a half.
static const struct {
    unsigned polynomial;
    unsigned char first[7];
} known[RH_MAX_DIM] = {
    {1, {1}},
    {3, {1}},
    {7, {1, 3}},
    {11, {1, 3, 1}},
    {13, {1, 1, 1}},
    {19, {1, 1, 3, 3}},
    {25, {1, 3, 5, 13}},
    {37, {1, 1, 5, 5, 17}},
    {41, {1, 1, 5, 5, 5}},
    {47, {1, 1, 7, 11, 19}},
    {55, {1, 1, 5, 1, 1}},
    {59, {1, 1, 1, 3, 11}},
    {61, {1, 3, 5, 5, 31}},
    {67, {1, 3, 3, 9, 7, 49}},
    {91, {1, 1, 1, 15, 21, 21}},
    {97, {1, 3, 1, 13, 27, 49}},
    {103, {1, 1, 1, 15, 7, 5}},
    {109, {1, 3, 1, 15, 13, 25}},
    {115, {1, 1, 5, 5, 19, 61}},
    {131, {1, 3, 7, 11, 23, 15, 103}},
    {137, {1, 3, 7, 13, 13, 15, 69}},
    {143, {1, 1, 3, 13, 7, 35, 63}},
    {145, {1, 3, 5, 9, 1, 25, 53}},
    {157, {1, 3, 1, 13, 9, 35, 107}},
    {167, {1, 3, 1, 5, 27, 61, 31}},
    {171, {1, 1, 5, 11, 19, 41, 61}},
    {185, {1, 3, 5, 3, 3, 13, 69}},
    {191, {1, 1, 7, 13, 1, 19, 1}},
    {193, {1, 3, 7, 5, 13, 19, 59}},
    {203, {1, 1, 3, 9, 25, 29, 41}},
    {211, {1, 3, 5, 13, 23, 1, 55}},
    {213, {1, 3, 7, 3, 13, 59, 17}},
};

static void directions(int dim, uint32_t v[BITS])
{
    unsigned polynomial = known[dim].polynomial;
    int degree = 0;
    while (polynomial >> (degree + 1))
        degree++;
    for (int i = 0; i < BITS; i++) {
        if (degree == 0 || i < degree) {
            v[i] = (uint32_t)(degree == 0 ? 1 : known[dim].first[i]) << (BITS - 1 - i);
            continue;
        }
        v[i] = v[i - degree] ^ (v[i - degree] >> degree);
        for (int k = 1; k < degree; k++)
            if (polynomial >> (degree - k) & 1)
                v[i] ^= v[i - k];
    }
}

void rh_sobol__init(rh_sobol *sobol, int ndim, rh_rng *rng)
{
    assert(ndim >= 0 && ndim <= RH_MAX_DIM);
    sobol->ndim = ndim;
    for (int k = 0; k < ndim; k++) {
        directions(k, sobol->direction[k]);
        sobol->shift[k] = rng ? (uint32_t)(rh_rng__bits(rng) >> 32) : 0;
    }
}

void rh_sobol__at(const rh_sobol *sobol, uint32_t i, double *u)
{
    uint32_t gray = i ^ (i >> 1);
    for (int k = 0; k < sobol->ndim; k++) {
        uint32_t bits = sobol->shift[k];
        for (int b = 0; b < BITS && gray >> b; b++)
            bits ^= gray >> b & 1 ? sobol->direction[k][b] : 0;
        u[k] = (bits + 0.5) * 0x1p-32;
    }
}
