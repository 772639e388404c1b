// ppo_loss.c - the loss of proximal policy optimisation, step by step, and its derivatives.
//
// Schulman et al. (2017). With p the probability of the action, or its density, p_old the one
// that it was drawn from, A its advantage, H the entropy:
//
//     ratio = p / p_old
//     loss  = -min(ratio A, clip(ratio, 1 - c, 1 + c) A) - entropy H
//
// 1. The entropy of a normal distribution is the sum of log sd, and constants, which are left
//    out.

#include "ppo.h"

#include <math.h>

#define HALF_LN_2PI 0.91893853320467274178 // ln(2 pi) / 2

void rh_ppo__log_softmax(const float *logit, int n, double *log_pi)
{
    double most = (double)logit[0], sum = 0.0;
    for (int a = 1; a < n; a++)
        most = fmax(most, (double)logit[a]);
    for (int a = 0; a < n; a++)
        sum += rh_exp((double)logit[a] - most);
    for (int a = 0; a < n; a++)
        log_pi[a] = (double)logit[a] - most - rh_ln(sum);
}

double rh_ppo__log_normal(const float *mean, const double *log_sd, const float *act, int n)
{
    double log_p = 0.0;
    for (int j = 0; j < n; j++) {
        double z = ((double)act[j] - (double)mean[j]) / rh_exp(log_sd[j]);
        log_p -= 0.5 * z * z + log_sd[j] + HALF_LN_2PI;
    }
    return log_p;
}

// The first term of the loss, and its derivative by log p.
static double surrogate(const rh_ppo__loss *loss, const rh_ppo__step *step, double log_p,
                        double *by)
{
    double ratio = rh_exp(log_p - step->log_p), a = step->advantage;
    double bound = a >= 0.0 ? fmin(ratio, 1.0 + loss->clip) : fmax(ratio, 1.0 - loss->clip);
    *by = bound == ratio ? -a * ratio : 0.0;
    return -a * bound;
}

double rh_ppo__discrete(const rh_ppo__loss *loss, const rh_ppo__step *step, int n,
                        const float *logit, int taken, double *log_pi, float *by)
{
    double by_log_p, h = 0.0;
    rh_ppo__log_softmax(logit, n, log_pi);
    double l = surrogate(loss, step, log_pi[taken], &by_log_p);
    for (int a = 0; a < n; a++)
        h -= rh_exp(log_pi[a]) * log_pi[a];
    for (int a = 0; a < n; a++) {
        double p = rh_exp(log_pi[a]);
        by[a] = (float)(by_log_p * ((a == taken) - p) + loss->entropy * p * (log_pi[a] + h));
    }
    return l - loss->entropy * h;
}

double rh_ppo__continuous(const rh_ppo__loss *loss, const rh_ppo__step *step, int n,
                          const float *mean, const double *log_sd, const float *act, float *by,
                          double *by_log_sd)
{
    double by_log_p, h = 0.0;
    double l = surrogate(loss, step, rh_ppo__log_normal(mean, log_sd, act, n), &by_log_p);
    for (int j = 0; j < n; j++) {
        double sd = rh_exp(log_sd[j]), z = ((double)act[j] - (double)mean[j]) / sd;
        by[j] = (float)(by_log_p * z / sd);
        by_log_sd[j] += by_log_p * (z * z - 1.0) - loss->entropy;
        h += log_sd[j];
    }
    return l - loss->entropy * h;
}

double rh_ppo__value(double v, double ret, double old, double most, double *by)
{
    double d = v - ret, near = fmin(fmax(v, old - most), old + most) - ret;
    bool held = near * near > d * d;
    *by = held ? 0.0 : d;
    return 0.5 * (held ? near * near : d * d);
}
