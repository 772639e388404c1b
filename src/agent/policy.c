// policy.c - softmax policies.
//
// As in the paper's code: 1e-8 is added to the sum, and the last action gets the rest.

#include "agent_internal.h"

void rh_agent_softmax(const double *q, int n, double tau, double *pi)
{
    double most = q[0];
    for (int a = 1; a < n; a++)
        most = q[a] > most ? q[a] : most;
    double sum = 1e-8;
    for (int a = 0; a < n; a++) {
        pi[a] = q[a] == most ? 1.0 : rh_exp((q[a] - most) / tau);
        sum += pi[a];
    }
    double rest = 1.0;
    for (int a = 0; a < n - 1; a++) {
        pi[a] /= sum;
        rest -= pi[a];
    }
    pi[n - 1] = rest;
}

int rh_agent_draw(const double *pi, int n, rh_rng *rng)
{
    double u = rh_rng_uniform(rng);
    for (int a = 0; a < n - 1; a++) {
        if (u < pi[a])
            return a;
        u -= pi[a];
    }
    return n - 1;
}
