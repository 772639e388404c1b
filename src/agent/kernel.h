// kernel.h - the hot loops of the agents, compiled once per instruction set.

#ifndef AGENT_KERNEL_H
#define AGENT_KERNEL_H

#include <stdint.h>

#include "numeric/kernels.h"

struct rh_tiles;

#define RH_LANES 4  // actions of a line
#define RH_BLOCK 64 // entries per step of the Adam loop; arrays are padded to whole blocks

// Everything about one feature and four actions: one cache line.
typedef struct rh_agent__line {
    double w[RH_LANES];     // weights, as distance from the initial one
    float v[RH_LANES];      // Adam's second moment
    int32_t slot[RH_LANES]; // place in the active set; 0 or less when not in it
} rh_agent__line;

// One Adam step with traces. For every entry, y being its trace in units of a common scale and
// v its second moment in units of another one that falls by beta2 a step:
//
//     v  += gain y^2
//     dw += rate y / (sqrt(v) + eps)
//
// and with momentum
//
//     m  += take (error y - m)
//     dw += rate m / (sqrt(v) + eps)
//
// The scales, the TD error and Adam's bias corrections are folded into the numbers here. m and
// sqrt(v) are in units of 1 / RH_UNIT, which keeps gain y^2 clear of subnormal numbers.
typedef struct rh_agent__adam {
    float gain, rate, eps;
    float take, error; // for the momentum
} rh_agent__adam;

#define RH_UNIT 0x1p24f

// With every v above this, eps is negligible and a block takes the fast path.
#define RH_TINY (1e-7f * RH_UNIT * RH_UNIT)

// The second moment of unused entries, whose y and m are zero.
#define RH_SPARE (RH_UNIT * RH_UNIT)

typedef struct rh_agent__kernels {
    const char *name; // of the instruction set

    // Compute active (nactive) from at (nobs), the first row of each sensor.
    void (*tiles)(const struct rh_tiles *tiles, const int32_t *at, int32_t *active);

    // w (4) = sum of the weights of the n lines, dw (4) = sum of their changes in the set, and
    // slot (n x 4) = their places. n is a multiple of 4; change[0] is 0.
    void (*values)(const rh_agent__line *line, const int32_t *active, int n,
                   const float *change, double w[RH_LANES], double dw[RH_LANES], int32_t *slot);

    // From the places slot (n x 4), take one lane: place (n) gets the places of entries in the
    // set, 0 for others; fresh gets the lines of the others. Returns their number. All arrays
    // are padded to a multiple of 16.
    int (*aim)(int n, const int32_t *slot, const int32_t *line, int32_t *place, int32_t *fresh);

    // n and nsafe are multiples of RH_BLOCK. The first nsafe entries have v above RH_TINY.
    void (*adam)(int nsafe, int n, const rh_agent__adam *adam, float *dw, float *v,
                 const float *y);
    void (*momentum)(int nsafe, int n, const rh_agent__adam *adam, float *dw, float *v,
                     float *m, const float *y);

    // Plain gradient descent: dw += step y. n is a multiple of RH_BLOCK.
    void (*sgd)(int n, float step, float *dw, const float *y);

    // The smallest of v (n), none negative. n is a multiple of RH_BLOCK.
    float (*least)(int n, const float *v);

    // Write the places 1 .. n - 1 with clock - visit >= age, or with trace zero, to place, in
    // order. Return their number. All arrays are padded to whole blocks.
    int (*aged)(int n, const uint32_t *visit, uint32_t clock, uint32_t age, int32_t *place);
    int (*faded)(int n, const float *y, int32_t *place);
} rh_agent__kernels;

RH_KERNELS(rh_agent__kernels);

#endif
