// nn_internal.h - shared by the files of the neural network model.

#ifndef NN_INTERNAL_H
#define NN_INTERNAL_H

#include "model_internal.h"
#include "numeric/mlp.h"

enum {
    RH_NN_INPUT,
    RH_NN_TARGET,
    RH_NN_ENDING,
    RH_NN_HIDDEN,
    RH_NN_RATE,
    RH_NN_BATCH,
    RH_NN_EPOCHS,
    RH_NN_PATIENCE,
    RH_NN_HELD_OUT,
    RH_NN_NPARAM
};

enum { RH_NN_STATE, RH_NN_CODE };     // input
enum { RH_NN_NEXT, RH_NN_CHANGE };    // target
enum { RH_NN_THRESHOLD, RH_NN_DRAW }; // ending

extern const rh_param rh_nn__param[RH_NN_NPARAM];

// The targets of the networks.
enum { RH_NN_OF_STATE, RH_NN_OF_REWARD, RH_NN_OF_END, RH_NN_NNET };

// Ranges of some numbers, which are scaled to -1 .. 1.
typedef struct rh_nn__span {
    double *lo; // owned  (n)
    double *hi; // in the block of lo  (n)
    int n;
} rh_nn__span;

// A member.
typedef struct rh_nn {
    int nobs, naction, nact;        // of the task
    bool code;                      // inputs are codes,
    bool both;                      //   of state and action together
    bool change;                    // predicts the change to the next state
    rh_nn__span input;              // of the numeric inputs: sensors or codes, actions
    int ninput;                     // with one-hot actions
    rh_nn__span sensor;             // clamps next states                      (nobs)
    rh_nn__span target[RH_NN_NNET]; // of the targets                     (nobs, 1, 1)
    rh_mlp *net[RH_NN_NNET];        // owned; NULL: the target is constant
} rh_nn;

// Create a member with ranges of zeros and no networks. Owned: *out.
rh_status rh_nn__create(rh_nn **out, const rh_model *model, rh_error *err);
void rh_nn__destroy(void *member); // NULL is allowed

// Whether a target is not constant, so that it has a network.
bool rh_nn__varies(const rh_nn *nn, int which);

// Scale to -1 .. 1 and clamp; 0 if the range is empty.
float rh_nn__scale(const rh_nn__span *span, int i, double x);

// Create the network of a target. Owned: *out.
rh_status rh_nn__network(rh_mlp **out, const rh_nn *nn, int which, int hidden, rh_rng *rng,
                         rh_error *err);

// Scratch floats of a prediction, aligned to 64.
size_t rh_nn__nscratch(const rh_nn *nn, const rh_repr *repr);

// The inputs x (ninput) of the networks for act in obs.
void rh_nn__input(const rh_nn *nn, const rh_repr *repr, const double *obs, const double *act,
                  float *scratch, float *x);

// Predict the outcome of act in obs: next (nobs), which may be obs itself, the reward, and the
// end, about 0 to 1.
void rh_nn__predict(const rh_nn *nn, const rh_repr *repr, const double *obs, const double *act,
                    float *scratch, double *next, double *reward, double *end);

// The probability that ends an episode where the prediction is `end`.
double rh_nn__end_chance(int ending, double end);

// ---------------------------------------------------------------------------- training

typedef struct rh_nn__learner {
    rh_mlp *mlp;         // owned
    rh_mlp *best;        // owned: at the lowest held-out error
    rh_mlp__pass *pass;  // owned
    rh_rng rng;          //
    const float *x;      // borrowed: inputs                                  (... x ninput)
    const float *y;      // borrowed: targets                                 (... x noutput)
    int32_t *row;        // owned: rows to learn from, then those held out    (ntrain + nheld)
    int64_t ntrain;      //
    int64_t nheld;       //
    float *batch;        // owned: inputs, targets, outputs and derivatives of a batch
    int room, size;      // rows it can hold, and rows of a training step
    double rate;         // of Adam
    int epochs;          // at most
    int patience;        // consecutive rises of the error that end training
    int nepoch, nrise;   // epochs done, consecutive rises so far
    int64_t at;          // rows of this epoch done
    double sum;          // of squared errors in this epoch, each before its step
    double error, least; // mean squared error of the last epoch and of the best
    bool done, failed;   // failed: diverged without a best epoch
} rh_nn__learner;

// Prepare to train mlp, which the learner owns even on failure, on the rows of x and y with
// known[row] != 0 (NULL: all), without those with held[row] != 0, which are held out. param: of
// the model. Clear after failure too.
rh_status rh_nn__learner_init(rh_nn__learner *learner, rh_mlp *mlp, const double *param,
                              const float *x, const float *y, int64_t n, const uint8_t *known,
                              const uint8_t *held, rh_rng rng, rh_error *err);
void rh_nn__learner_clear(rh_nn__learner *learner);

// Train up to nbatch more batches.
void rh_nn__learn(rh_nn__learner *learner, int64_t nbatch);

// Train to the end; mlp is then the best epoch's.
rh_status rh_nn__train(rh_nn__learner *learner, int n, int nthread, const rh_watch *watch,
                       rh_error *err);

// ---------------------------------------------------------------------------- calls

rh_status rh_nn__fit(void **out, const rh_model *model, const rh_model__part *part,
                     rh_error *err);
rh_status rh_nn__env(rh_env **out, const rh_model *model, const void *member,
                     const double *param, rh_error *err);
void rh_nn__stand(const rh_model *model, const rh_env *env, void *state, int32_t row);
void rh_nn__write(const rh_model *model, const void *member, rh_store *store);
void *rh_nn__read(const rh_model *model, rh_store *store);

#endif
