// mlp.h - a multilayer perceptron and its training, for representations, models and agents.
//
// Any number of threads may read a network, each with its own pass, which holds the activations
// of a batch. Training is for one thread. Only create, clone, save and load allocate.

#ifndef REHEARSE_NUMERIC_MLP_H
#define REHEARSE_NUMERIC_MLP_H

#include "rehearse/contract.h"

#define RH_MLP_LAYERS 16   // most layers of weights
#define RH_MLP_WIDTH 16384 // most units of a layer

typedef struct rh_mlp rh_mlp;
typedef struct rh_mlp__pass rh_mlp__pass;

typedef enum rh_mlp__flag {
    RH_MLP_PLAIN = 0,
    RH_MLP_NO_FIRST_BIAS = 1, // the first layer has weights only
    RH_MLP_NORM = 2           // layer norm before the ReLU of each hidden layer
} rh_mlp__flag;

// A network with nsize - 1 layers between size (nsize) units: inputs, hidden layers, outputs.
// Weights and biases are uniform in +-1 / sqrt(fan-in), drawn layer by layer.
// Owned: *out, free with rh_mlp__destroy(). Nullable: err. On failure *out is left untouched.
rh_status rh_mlp__create(rh_mlp **out, const int *size, int nsize, unsigned flags, rh_rng *rng,
                         rh_error *err);
void rh_mlp__destroy(rh_mlp *mlp); // NULL is allowed

// The same in two steps: a network of zeros, and drawing its weights, as often as wanted. Gains
// of layer norm are 1; moments and gradient become 0.
rh_status rh_mlp__make(rh_mlp **out, const int *size, int nsize, unsigned flags, rh_error *err);
void rh_mlp__draw(rh_mlp *mlp, rh_rng *rng);

// Copy a network with moments and gradient, to a new one or to one of equal shape.
rh_status rh_mlp__clone(rh_mlp **out, const rh_mlp *mlp, rh_error *err);
void rh_mlp__copy(rh_mlp *to, const rh_mlp *from);

bool rh_mlp__same_shape(const rh_mlp *a, const rh_mlp *b);

// Move the weights of a network of equal shape by a share `rate` of the way to those of `from`.
void rh_mlp__blend(rh_mlp *to, const rh_mlp *from, double rate);

int rh_mlp__ninput(const rh_mlp *mlp);
int rh_mlp__noutput(const rh_mlp *mlp);

// ---------------------------------------------------------------------------- use

// Create a pass for batches of up to `room` rows, for any network of the shape of mlp.
// Owned: *out, free with rh_mlp__pass_destroy(). Nullable: err.
rh_status rh_mlp__pass_create(rh_mlp__pass **out, const rh_mlp *mlp, int room, rh_error *err);
void rh_mlp__pass_destroy(rh_mlp__pass *pass); // NULL is allowed

// Compute y (n x noutput) from x (n x ninput), n up to the room of the pass. A row gives the
// same bits alone and in any batch.
void rh_mlp__forward(const rh_mlp *mlp, rh_mlp__pass *pass, int n, const float *x, float *y);

// rh_mlp__forward() for any number of rows, in batches.
void rh_mlp__evaluate(const rh_mlp *mlp, rh_mlp__pass *pass, int64_t n, const float *x,
                      float *y);

// One row without a pass, to the same bits. scratch: rh_mlp__nscratch() floats, aligned to 64.
size_t rh_mlp__nscratch(const rh_mlp *mlp);
void rh_mlp__single(const rh_mlp *mlp, float *scratch, const float *x, float *y);

// ---------------------------------------------------------------------------- training

// Backpropagate through the last forward of this pass, with unchanged weights, and add to the
// gradient, which rh_mlp__step() resets. dy (n x noutput): derivatives by the outputs.
void rh_mlp__backward(rh_mlp *mlp, rh_mlp__pass *pass, const float *dy);

// The derivatives dx (n x ninput) by the inputs instead; the gradient is left alone.
void rh_mlp__by_inputs(rh_mlp *mlp, rh_mlp__pass *pass, const float *dy, float *dx);

typedef struct rh_mlp__adam {
    double rate, beta1, beta2, eps;
    double decay; // weights and biases first lose rate * decay of themselves
} rh_mlp__adam;

// One step of Adam, with bias correction, along the gradient added up since the last one.
void rh_mlp__step(rh_mlp *mlp, const rh_mlp__adam *adam);

// ---------------------------------------------------------------------------- numbers

typedef enum rh_mlp__array {
    RH_MLP_WEIGHTS,
    RH_MLP_FIRST, // Adam's moments
    RH_MLP_SECOND,
    RH_MLP_GRADIENT
} rh_mlp__array;

// The weights as one array, and their number: per layer (inputs x outputs), then any biases,
// gains and shifts.
size_t rh_mlp__nparam(const rh_mlp *mlp);
void rh_mlp__get(const rh_mlp *mlp, rh_mlp__array which, double *x);
void rh_mlp__set(rh_mlp *mlp, rh_mlp__array which, const double *x);

// ---------------------------------------------------------------------------- saving

// Save under a name of at most 20 characters, and load: weights, and the state of Adam, so that
// resumed training gives the same bits. The gradient is not saved.
// Owned: *out, free with rh_mlp__destroy(). Nullable: err.
rh_status rh_mlp__save(const rh_mlp *mlp, const char *name, rh_state *state, rh_error *err);
rh_status rh_mlp__load(rh_mlp **out, const char *name, const rh_state *state, rh_error *err);

// Load into a network, which the saved one must equal in shape. A message begins with `owner`.
rh_status rh_mlp__load_into(rh_mlp *mlp, const char *owner, const char *name,
                            const rh_state *state, rh_error *err);

#endif
