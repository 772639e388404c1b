// mlp_internal.h - the network, shared by the files that train and save it.

#ifndef REHEARSE_NUMERIC_MLP_INTERNAL_H
#define REHEARSE_NUMERIC_MLP_INTERNAL_H

#include "mlp.h"
#include "mlp_kernel.h"

typedef struct rh_mlp__layer {
    int nin, nout;
    int columns;      // nout in whole vectors
    ptrdiff_t row;    // floats from one row of w, or of an output, to the next
    ptrdiff_t turned; // the same for w transposed
    size_t at;        // where w (nin x row) begins in each array; then the biases (row), and
                      // the gains and shifts (row) of layer norm
    size_t at_turned; // where w transposed (nout x turned) begins
} rh_mlp__layer;

struct rh_mlp {
    const rh_mlp__kernels *kernels;
    int nlayer;
    unsigned flags;
    rh_mlp__layer layer[RH_MLP_LAYERS];
    size_t n;              // floats of an array, padding included
    float *array[4];       // by rh_mlp__array, in one owned block; [0] owns it
    float *turned;         // owned: transposed weights
    bool fresh;            // whether the next gradient is the first of a step
    bool stale;            // whether the weights have changed since they were transposed
    bool stale_first;      // the same for the first layer
    double power1, power2; // beta1 and beta2 to the number of steps
};

// The sizes of its layers (nlayer + 1).
void rh_mlp__sizes(const rh_mlp *mlp, int *size);

#endif
