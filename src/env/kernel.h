// kernel.h - steps of many copies of a simulator, compiled once per instruction set (RH_ISA).

#ifndef ENV_KERNEL_H
#define ENV_KERNEL_H

#include "base/base_internal.h"
#include "env_internal.h"

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

typedef struct rh_env_kernels {
    const char *name; // of the instruction set

    // Step the first of n states and return how many: whole vectors. The bits are those of the
    // step of one state. A failure gives -1; its state is left to the caller.
    int (*cartpole)(const rh_env__cartpole *c, int n, char *state, size_t stride,
                    const double *act, rh_streams *streams, double *obs, double *reward);
} rh_env_kernels;

// The loops of an instruction set, 0 .. rh_base__isa_count() - 1, and of the best.
const rh_env_kernels *rh_env_kernels__at(int i);
const rh_env_kernels *rh_env_kernels__best(void);

#endif
