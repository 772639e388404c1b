// kernel.h - steps of many copies of a simulator, compiled once per instruction set (RH_ISA).

#ifndef ENV_KERNEL_H
#define ENV_KERNEL_H

#include "env_internal.h"
#include "numeric/kernels.h"

// Cartpole's constants, from its options.
typedef struct rh_env__cartpole {
    double gravity;
    double pole_mass, mass; // of the pole, of both
    double half_length;
    double moment; // m l
    double force, noise, dt;
    double fail_x, fail_theta; // m, rad
    double width[4];           // half-widths of a start: x, x_dot, theta, theta_dot
} rh_env__cartpole;

typedef struct rh_env__kernels {
    const char *name; // of the instruction set

    // Step the first of n states and return how many: whole vectors. The bits are those of the
    // step of one state. A failure gives -1; its state is left to the caller.
    int (*cartpole)(const rh_env__cartpole *c, int n, char *state, size_t stride,
                    const double *act, rh_streams *streams, double *obs, double *reward);
} rh_env__kernels;

RH_KERNELS(rh_env__kernels);

#endif
