// rng.c - random streams named by coordinates.
//
// xoroshiro128++ (Blackman and Vigna 2021), its state drawn from the coordinates by SplitMix64
// (Steele, Lea and Flood 2014): each coordinate is absorbed with one full mixing round, so that
// neighbouring seeds, runs and replicates give unrelated states.
//
// 1. Normals come in pairs by Box and Muller, with our own log and sincos. A faster rejection
//    method takes a random number of draws: settings on one stream would get different numbers.

#include "base.h"
#include "rehearse/base.h"

#include <math.h>

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t absorb(uint64_t h, uint64_t coordinate)
{
    return mix(h + 0x9e3779b97f4a7c15u + mix(coordinate + 0x9e3779b97f4a7c15u));
}

rh_rng rh_rng_stream(uint64_t seed, rh_stream what, uint64_t replicate, uint64_t run)
{
    uint64_t h = absorb(absorb(absorb(absorb(0, seed), (uint64_t)what), replicate), run);
    rh_rng rng;
    rng.s[0] = mix(h + 0x9e3779b97f4a7c15u);
    rng.s[1] = mix(h + 2 * 0x9e3779b97f4a7c15u);
    if (!(rng.s[0] | rng.s[1])) // the one state the generator never leaves
        rng.s[0] = 1;
    return rng;
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rh_rng__bits(rh_rng *rng)
{
    uint64_t a = rng->s[0], b = rng->s[1];
    uint64_t bits = rotate(a + b, 17) + a;
    b ^= a;
    rng->s[0] = rotate(a, 49) ^ b ^ (b << 21);
    rng->s[1] = rotate(b, 28);
    return bits;
}

double rh_rng_uniform(rh_rng *rng)
{
    return (double)(rh_rng__bits(rng) >> 11) * 0x1p-53;
}

double rh_rng_range(rh_rng *rng, double lo, double hi)
{
    double x = lo + (hi - lo) * rh_rng_uniform(rng);
    return x < hi ? x : lo; // the sum may have been rounded up to hi
}

uint32_t rh_rng_below(rh_rng *rng, uint32_t n)
{
    // Lemire 2019: the high half of a product, redrawn in the sliver that would be biased
    uint64_t product = (rh_rng__bits(rng) >> 32) * n;
    if ((uint32_t)product < n)
        for (uint32_t sliver = -n % n; (uint32_t)product < sliver;)
            product = (rh_rng__bits(rng) >> 32) * n;
    return (uint32_t)(product >> 32);
}

void rh_rng_normal(rh_rng *rng, double z[2])
{
    double u = 1.0 - rh_rng_uniform(rng); // in (0, 1]
    double angle = 2.0 * M_PI * rh_rng_uniform(rng);
    double radius = sqrt(-2.0 * rh_ln(u));
    double sine, cosine;
    rh_maths__sincos(angle, &sine, &cosine);
    z[0] = radius * cosine;
    z[1] = radius * sine;
}
