// mlp_internal.h - what a network is made of, for the files that train and save it.

#ifndef REPR_MLP_INTERNAL_H
#define REPR_MLP_INTERNAL_H

#include "kernel.h"
#include "rehearse/mlp.h"

typedef struct rh_repr__layer {
    int nin, nout;
    int columns;      // nout in whole vectors
    ptrdiff_t row;    // floats from one row of w, or of an output, to the next
    ptrdiff_t turned; // the same of w turned over
    size_t at;        // where w (nin x row) begins in each array; then the biases (row)
    size_t at_turned; // where w turned over (nout x turned) begins
} rh_repr__layer;

struct rh_mlp {
    const rh_repr_kernels *kernels;
    int nlayer;
    unsigned flags;
    rh_repr__layer layer[RH_MLP_LAYERS];
    size_t n;              // floats of an array, padding included
    float *array[4];       // by rh_mlp_array, in one owned block; [0] owns it
    float *turned;         // owned; not kept of the first layer
    bool fresh;            // whether the next gradient is the first of a step
    bool stale;            // whether the weights have changed since they were turned over
    double power1, power2; // beta1 and beta2 to the number of steps
};

// A network of zeros. Owned: *out.
rh_status rh_mlp__make(rh_mlp **out, const int *size, int nsize, unsigned flags, rh_error *err);

// The sizes of its layers (nlayer + 1).
void rh_mlp__sizes(const rh_mlp *mlp, int *size);

#endif
