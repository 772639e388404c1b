// esarsa_plain.h - Expected Sarsa(lambda) as one would write it first: what esarsa.c is judged
// by, for its results in the tests and for its speed in the bench.

#ifndef ESARSA_PLAIN_H
#define ESARSA_PLAIN_H

#include "rehearse/contract.h"

typedef struct plain {
    int nobs, naction, ntiling, ntile, nactive, nfeature;
    double lo[RH_MAX_OBS], hi[RH_MAX_OBS];
    double gamma, lambda, alpha, beta1, beta2, tau;
    double *w, *m, *v, *z; // weights, moments, traces      (naction x nfeature)
    int *live, nlive;      // entries whose trace is not zero
    int *now, *next;       // active features               (nactive)
    int action;
    int64_t t;
    bool sgd; // plain gradient descent instead of Adam, set after plain_create()
} plain;

// hp: alpha, beta1, tau, w_init, lambda. Tilings of singles and pairs of sensors.
plain *plain_create(const rh_task *task, const double hp[5], int ntiling, int ntile);
void plain_destroy(plain *p);

int plain_start(plain *p, const double *obs, rh_rng *rng);
int plain_step(plain *p, double reward, const double *obs, rh_rng *rng);
void plain_end(plain *p, double reward);

// Active features of obs into f (nactive).
void plain_features(const plain *p, const double *obs, int *f);

#endif
