// kernel.c - steps of many copies of a simulator, compiled once per instruction set (RH_ISA).
//
// A vector holds one number of several copies. Every operation is that of the step of one copy
// (cartpole.c) and of rh_rng_normal(), rh_ln() and rh_maths__sincos(), in the same order and
// without contraction, so a copy has the same bits wherever it is stepped; choices are made by
// masks.
//
// 1. The angle is below 1e5 and the logarithm's argument is in (0, 1], never subnormal: the
//    other cases of rh_maths__sincos() and rh_ln() do not occur.
// 2. Without noise the normal number is not computed, but its two draws are made.

#include "kernel.h"
#include "base/base.h"
#include "base/maths_series.h"

#include <string.h>

#define LANES ((int)(RH_KERNEL_BYTES / sizeof(double)))
#define INLINE static inline __attribute__((always_inline))
#define ROUNDER 0x1.8p52 // as in maths.c

typedef double reals __attribute__((vector_size(RH_KERNEL_BYTES)));
typedef int64_t masks __attribute__((vector_size(RH_KERNEL_BYTES)));
typedef uint64_t words __attribute__((vector_size(RH_KERNEL_BYTES)));

// x where the mask is set, y elsewhere.
INLINE reals choose(masks mask, reals x, reals y)
{
    return (reals)(((masks)x & mask) | ((masks)y & ~mask));
}

INLINE words rotate(words x, int k)
{
    return (x << k) | (x >> (64 - k));
}

// rh_rng_uniform() of all lanes; s: their two words.
INLINE reals draw(words s[2])
{
    words a = s[0], b = s[1], bits = (rotate(a + b, 17) + a) >> 11;
    b ^= a;
    s[0] = rotate(a, 49) ^ b ^ (b << 21);
    s[1] = rotate(b, 28);
    // 53 bits as a double, in two exact halves
    reals high = (reals)((bits >> 32) | 0x4530000000000000u) - 0x1p84;
    reals low = (reals)((bits & 0xffffffffu) | 0x4330000000000000u) - 0x1p52;
    return (high + low) * 0x1p-53;
}

// rh_ln() of x in (0, 1].
INLINE reals logarithm(reals x)
{
    words bits = (words)x;
    reals k = ((reals)((bits >> 52) | 0x4330000000000000u) - 0x1p52) - 1023.0;
    reals m = (reals)((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    masks big = m >= 0x1.6a09e667f3bcdp0;
    m = choose(big, m * 0.5, m);
    k = choose(big, k + 1.0, k);
    reals f = m - 1.0, s = f / (2.0 + f), t = s * s;
    RH_MATHS__LN_SERIES(reals, series, t);
    reals square = 0.5 * f * f;
    reals low = s * (square + t * series) + k * 0x1.a39ef35793c76p-33;
    return k * 0x1.62e42fee00000p-1 - ((square - low) - f);
}

// rh_maths__sincos() of |x| up to 1e5.
INLINE void sine_cosine(reals x, reals *sine, reals *cosine)
{
    reals sum = x * 0x1.45f306dc9c883p-1 + ROUNDER, k = sum - ROUNDER;
    reals first = x - k * 0x1.921fb54400000p0, part = k * 0x1.0b4611a600000p-34;
    reals second = first - part, lost = (first - second) - part;
    reals rest = k * 0x1.3198a2e037073p-69 - lost;
    reals r = second - rest, low = (second - r) - rest, z = r * r;

    RH_MATHS__SIN_SERIES(reals, p, z);
    reals s = r + (r * (z * p) + low * (1.0 - 0.5 * z));
    RH_MATHS__COS_SERIES(reals, q, z);
    reals half = 0.5 * z, lead = 1.0 - half;
    reals c = lead + (((1.0 - lead) - half) + (z * z * q - r * low));

    // the quadrant, in the low bits of the sum, swaps them and turns their signs
    words quadrant = (words)sum & 3;
    masks odd = (masks)(quadrant & 1) != 0;
    *sine = (reals)((words)choose(odd, c, s) ^ ((quadrant & 2) << 62));
    *cosine = (reals)((words)choose(odd, s, c) ^ (((quadrant + 1) & 2) << 62));
}

INLINE reals root(reals x)
{
    for (int l = 0; l < LANES; l++)
        x[l] = __builtin_sqrt(x[l]);
    return x;
}

INLINE reals magnitude(reals x)
{
    return (reals)((words)x & 0x7fffffffffffffffu);
}

// The force on each cart, before its direction: with the noise of its stream.
INLINE reals force_of(const rh_env__cartpole *c, rh_streams *streams)
{
    uint64_t word[2][LANES];
    words s[2];
    reals sine, cosine, force = c->force - (reals){0};
    for (int l = 0; l < LANES; l++) {
        word[0][l] = streams[l].noise.s[0];
        word[1][l] = streams[l].noise.s[1];
    }
    memcpy(s, word, sizeof s);
    reals u = 1.0 - draw(s), angle = 2.0 * M_PI * draw(s);
    if (c->noise != 0.0) {
        sine_cosine(angle, &sine, &cosine);
        force = c->force + c->noise * (root(-2.0 * logarithm(u)) * cosine);
    }
    for (int l = 0; l < LANES; l++) {
        streams[l].noise.s[0] = s[0][l];
        streams[l].noise.s[1] = s[1][l];
    }
    return force;
}

INLINE void one_vector(const rh_env__cartpole *c, char *state, size_t stride, const double *act,
                       rh_streams *streams, double *obs, double *reward)
{
    reals x = {0}, x_dot = {0}, theta = {0}, theta_dot = {0}, action = {0}, sine, cosine;
    for (int l = 0; l < LANES; l++) {
        const rh_env__cartpole_state *s = (const void *)(state + (size_t)l * stride);
        x[l] = s->x;
        x_dot[l] = s->x_dot;
        theta[l] = s->theta;
        theta_dot[l] = s->theta_dot;
        action[l] = act[l];
    }
    reals force = force_of(c, streams);
    force = choose(action < 1.0, -force, force);
    sine_cosine(theta, &sine, &cosine);
    reals push = (force + c->moment * theta_dot * theta_dot * sine) / c->mass;
    reals theta_acc = (c->gravity * sine - cosine * push) /
                      (c->half_length * (4.0 / 3.0 - c->pole_mass * cosine * cosine / c->mass));
    reals x_acc = push - c->moment * theta_acc * cosine / c->mass;
    x += c->dt * x_dot;
    theta += c->dt * theta_dot;
    x_dot += c->dt * x_acc;
    theta_dot += c->dt * theta_acc;
    masks failed = (magnitude(x) > c->fail_x) | (magnitude(theta) > c->fail_theta);
    reals earned = choose(failed, -1.0 - (reals){0}, (reals){0});
    for (int l = 0; l < LANES; l++) {
        rh_env__cartpole_state *s = (void *)(state + (size_t)l * stride);
        obs[4 * l] = s->x = x[l];
        obs[4 * l + 1] = s->x_dot = x_dot[l];
        obs[4 * l + 2] = s->theta = theta[l];
        obs[4 * l + 3] = s->theta_dot = theta_dot[l];
        reward[l] = earned[l];
    }
}

static int cartpole(const rh_env__cartpole *c, int n, char *state, size_t stride,
                    const double *act, rh_streams *streams, double *obs, double *reward)
{
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        one_vector(c, state + (size_t)i * stride, stride, act + i, streams + i, obs + 4 * i,
                   reward + i);
    return i;
}

RH_KERNEL_TABLE(rh_env__kernels) = {
    .name = RH_KERNEL_NAME,
    .cartpole = cartpole,
};
