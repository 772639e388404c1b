// kernel.h - the agents' hot loops, once per instruction set.

#ifndef AGENT_KERNEL_H
#define AGENT_KERNEL_H

#include <stdint.h>

struct rh_tiles;

#define RH_LANES 4 // actions of a line
#define RH_BLOCK                                                                               \
    64 // entries the Adam loop takes at a time: its arrays have room for whole blocks

// What is known of one feature and four actions: one cache line.
typedef struct rh_line {
    double w[RH_LANES];     // weights, as distance from the initial one
    float v[RH_LANES];      // Adam's second moment
    int32_t slot[RH_LANES]; // place in the active set; 0 or less when not in it
} rh_line;

// One Adam step with traces: for every entry, with g = error * y,
//
//     v += (1 - beta2) (g^2 - v),   dw += rate g / (sqrt(v) + eps)
//
// and with momentum m += (1 - beta1) (g - m) in the place of g in the second.
typedef struct rh_adam {
    float error; // TD error times the scale of the traces
    float rate;  // step size with the bias corrections folded in
    float eps;   // Adam's, with its bias correction folded in
    float take1; // 1 - beta1
    float take2; // 1 - beta2
} rh_adam;

typedef struct rh_kernels {
    const char *name; // of the instruction set

    // active (nactive) from at (nobs), where each sensor's rows begin.
    void (*tiles)(const struct rh_tiles *tiles, const int32_t *at, int32_t *active);

    // q (4) = sum over the n lines of w + dw[slot]. n is a multiple of 4; dw[0] is 0.
    void (*values)(const rh_line *line, const int32_t *active, int n, const float *dw,
                   double q[RH_LANES]);

    // n is a multiple of RH_BLOCK. Entries to spare have v = 1, y = 0, m = 0.
    void (*adam)(int n, const rh_adam *adam, float *dw, float *v, const float *y);
    void (*momentum)(int n, const rh_adam *adam, float *dw, float *v, float *m, const float *y);

    // The places 1 .. n - 1 with clock - visit >= age, in order, into place; how many. There is
    // room to read, and to write, whole blocks.
    int (*aged)(int n, const uint32_t *visit, uint32_t clock, uint32_t age, int32_t *place);
} rh_kernels;

// Those this machine can run, 0 .. rh_kernels__count() - 1, the plainest first.
int rh_kernels__count(void);
const rh_kernels *rh_kernels__at(int i);
const rh_kernels *rh_kernels__best(void);

#endif
