// mlp_internal.h - the network, shared by the files that train and save it.

#ifndef REPR_MLP_INTERNAL_H
#define REPR_MLP_INTERNAL_H

#include "kernel.h"
#include "mlp.h"

typedef struct rh_repr__layer {
    int nin, nout;
    int columns;      // nout in whole vectors
    ptrdiff_t row;    // floats from one row of w, or of an output, to the next
    ptrdiff_t turned; // the same for w transposed
    size_t at;        // where w (nin x row) begins in each array; then the biases (row)
    size_t at_turned; // where w transposed (nout x turned) begins
} rh_repr__layer;

struct rh_mlp {
    const rh_repr_kernels *kernels;
    int nlayer;
    unsigned flags;
    rh_repr__layer layer[RH_MLP_LAYERS];
    size_t n;              // floats of an array, padding included
    float *array[4];       // by rh_mlp__array, in one owned block; [0] owns it
    float *turned;         // owned: transposed weights, without the first layer
    bool fresh;            // whether the next gradient is the first of a step
    bool stale;            // whether the weights have changed since they were transposed
    double power1, power2; // beta1 and beta2 to the number of steps
};

// A network of zeros. Owned: *out.
rh_status rh_mlp__make(rh_mlp **out, const int *size, int nsize, unsigned flags, rh_error *err);

// The sizes of its layers (nlayer + 1).
void rh_mlp__sizes(const rh_mlp *mlp, int *size);

// rh_mlp__forward() for any number of rows, in batches.
void rh_mlp__evaluate(const rh_mlp *mlp, rh_mlp__pass *pass, int64_t n, const float *x,
                      float *y);

// Save under a name of at most 20 characters, and load: weights, and the state of Adam, so that
// resumed training gives the same bits. The gradient is not saved.
// Owned: *out, free with rh_mlp__destroy(). Nullable: err.
rh_status rh_mlp__save(const rh_mlp *mlp, const char *name, rh_state *state, rh_error *err);
rh_status rh_mlp__load(rh_mlp **out, const char *name, const rh_state *state, rh_error *err);

#endif
