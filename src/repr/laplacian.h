// laplacian.h - a training step of the Laplacian representation.

#ifndef REPR_LAPLACIAN_H
#define REPR_LAPLACIAN_H

#include "repr_internal.h"

// The weights of the loss.
typedef struct rh_laplacian__loss_parts {
    double half; // of the attractive term: 1, or 0.5
    double beta, zeta;
} rh_laplacian__loss_parts;

// The loss of the codes y of n states, n states close to them and n states far away
// (3 x n x d), and its derivatives dy by them. Nullable: dy.
double rh_laplacian__loss(const rh_laplacian__loss_parts *by, int n, int d, const float *y,
                          float *dy);

// The distribution of steps ahead.
typedef struct rh_closeness {
    uint32_t window;
    double *sum; // owned: kappa + kappa^2 + ... + kappa^u   (window + 1)
} rh_closeness;

rh_status rh_closeness__init(rh_closeness *out, int window, double kappa, rh_error *err);
void rh_closeness__clear(rh_closeness *closeness);

// A gap u, 1 to the smaller of the window and ahead (at least 1), p proportional to kappa^u.
uint32_t rh_closeness__draw(const rh_closeness *closeness, uint32_t ahead, rh_rng *rng);

// Inputs x (3 x n x nin) of n states, close ones and far ones.
void rh_laplacian__draw(const rh_points *points, const rh_closeness *closeness, int n, int nin,
                        rh_rng *rng, float *x);

#endif
