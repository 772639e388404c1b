// maths.c - exp, log, sin and cos with the same bits on every machine.
//
// libm chooses its code by the CPU (with or without fused multiply-add), so the last bit of its
// results, and with it a chaotic trajectory or a sampled action, differs between machines.
// These are plain IEEE additions, multiplications and divisions, compiled without contraction.
//
//     exp   x = k ln 2 + r, |r| <= ln 2 / 2: Taylor to r^13 (remainder 4e-18), scaled by 2^k
//     log   x = 2^k (1 + f), 1 + f in [sqrt 1/2, sqrt 2): 2 atanh(s), s = f / (2 + f), to s^21
//     sin   x = k pi / 2 + r, |r| <= pi / 4: Taylor to r^17 (sin) and r^16 (cos)
//
// Constants are split so that k times the leading parts is exact. Against 60 digits on a
// million points each, |x| up to 1e5 for sin and cos, the largest errors are 0.95 ulp for exp,
// 0.79 for log and 0.78 for sin and cos (tests/reference/base_maths.py --measure).

#include "base.h"
#include "base_internal.h"
#include "maths_series.h"
#include "rehearse/base.h"

#include <math.h>
#include <string.h>

// The nearest whole number in the low bits of the sum: |x| < 2^51.
#define ROUNDER 0x1.8p52

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

double rh_exp(double x)
{
    if (!(x <= 709.782712893384)) // also NaN
        return x > 0.0 ? INFINITY : x;
    if (x < -745.2)
        return 0.0;

    double k = (x * 0x1.71547652b82fep0 + ROUNDER) - ROUNDER;
    double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;

    // Estrin's scheme: short chains instead of one long one
    double r2 = r * r, r4 = r2 * r2;
    double p23 = 0.5 + r * (1.0 / 6.0);
    double p45 = 1.0 / 24.0 + r * (1.0 / 120.0);
    double p67 = 1.0 / 720.0 + r * (1.0 / 5040.0);
    double p89 = 1.0 / 40320.0 + r * (1.0 / 362880.0);
    double pab = 1.0 / 3628800.0 + r * (1.0 / 39916800.0);
    double pcd = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    double high = p89 + r2 * pab + r4 * pcd;
    double p = 1.0 + (r + (r2 * p23 + (r4 * (p45 + r2 * p67) + r4 * r4 * high)));

    // 2^k in two factors, since k reaches 1024 and -1075
    int n = (int)k, half = n / 2;
    return p * from_bits((uint64_t)(1023 + half) << 52) *
           from_bits((uint64_t)(1023 + n - half) << 52);
}

double rh_ln(double x)
{
    if (!(x > 0.0))
        return x == 0.0 ? -INFINITY : NAN;
    if (x > 0x1.fffffffffffffp1023)
        return x;
    int k = 0;
    if (x < 0x1p-1022) { // subnormal: into the normal range first
        x *= 0x1p54;
        k = -54;
    }

    // x = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2)
    uint64_t bits = to_bits(x);
    k += (int)(bits >> 52) - 1023;
    double m = from_bits((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    if (m >= 0x1.6a09e667f3bcdp0) {
        m *= 0.5;
        k++;
    }
    double f = m - 1.0, s = f / (2.0 + f), t = s * s;
    RH_MATHS__LN_SERIES(double, series, t);

    // log(1 + f) = f - f^2/2 + s (f^2/2 + t series), so that f itself carries no rounding
    double square = 0.5 * f * f;
    double low = s * (square + t * series) + k * 0x1.a39ef35793c76p-33;
    return k * 0x1.62e42fee00000p-1 - ((square - low) - f);
}

// Taylor polynomials on |r| <= pi / 4; low is what r lost to rounding.
static double sin_poly(double r, double low)
{
    double z = r * r;
    RH_MATHS__SIN_SERIES(double, p, z);
    return r + (r * (z * p) + low * (1.0 - 0.5 * z));
}

static double cos_poly(double r, double low)
{
    double z = r * r;
    RH_MATHS__COS_SERIES(double, p, z);
    double half = 0.5 * z, lead = 1.0 - half;
    return lead + (((1.0 - lead) - half) + (z * z * p - r * low));
}

void rh_maths__sincos(double x, double *sine, double *cosine)
{
    if (!(fabs(x) <= 1e5))
        x = fmod(x, 2.0 * M_PI); // exact, and NaN for what is not finite

    // x - k pi / 2 as r + low: the first two parts of pi / 2 are short, so k
    // times them is exact
    double k = (x * 0x1.45f306dc9c883p-1 + ROUNDER) - ROUNDER;
    double first = x - k * 0x1.921fb54400000p0, part = k * 0x1.0b4611a600000p-34;
    double second = first - part, lost = (first - second) - part;
    double rest = k * 0x1.3198a2e037073p-69 - lost;
    double r = second - rest, low = (second - r) - rest;
    double s = sin_poly(r, low), c = cos_poly(r, low);

    // the quadrant turns one into the other
    switch (isnan(k) ? 0 : (int)k & 3) {
    case 0:
        *sine = s, *cosine = c;
        break;
    case 1:
        *sine = c, *cosine = -s;
        break;
    case 2:
        *sine = -s, *cosine = -c;
        break;
    default:
        *sine = -c, *cosine = s;
        break;
    }
}

double rh_sin(double x)
{
    double s, c;
    rh_maths__sincos(x, &s, &c);
    return s;
}

double rh_cos(double x)
{
    double s, c;
    rh_maths__sincos(x, &s, &c);
    return c;
}

bool rh_base__all_finite(const double *x, int n)
{
    double zero = 0.0;
    for (int i = 0; i < n; i++)
        zero += x[i] * 0.0;
    return zero == 0.0; // NaN as soon as one was infinite or NaN
}
