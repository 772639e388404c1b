// policy.c - softmax policies.

#include "agent_internal.h"

void rh_agent__softmax(const double *q, int n, double tau, double *pi)
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

bool rh_agent__finite(const double *x, int n)
{
    double zero = 0.0;
    for (int i = 0; i < n; i++)
        zero += x[i] * 0.0;
    return zero == 0.0; // NaN as soon as one was infinite or NaN
}

int rh_agent__draw(const double *pi, int n, rh_rng *rng)
{
    double u = rh_rng_uniform(rng);
    for (int a = 0; a < n - 1; a++) {
        if (u < pi[a])
            return a;
        u -= pi[a];
    }
    return n - 1;
}
