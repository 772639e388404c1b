// bayes_worth.c - the acquisition function: expected improvement or upper confidence bound.
//
// With t = (mean - best) / sd, and phi, Phi of the standard normal,
//
//     EI  = sd h(t),  h(t) = phi(t) + t Phi(t)          UCB = mean + kappa sd
//
// 1. The logarithm of EI is used. EI itself is 0 in doubles over most of the space late in a
//    search, so it has no gradient there (Ament et al. 2023).
// 2. Below 0 it comes from Mills' ratio R(s) = Phi(-s) / phi(s): h(-s) = phi(s) (1 - s R(s)).
//    From 2.5 on, R's continued fraction 1 / (s + 1 / (s + 2 / (s + ...))) gives 1 - s R
//    without cancellation: with D everything below the first s, R = 1 / (s + D) and 1 - s R = D
//    / (s + D). Nearer 0 the power series of Phi is used. Above 0, h(t) = t + h(-t). Compared
//    with mpmath, ln h has an error below 1e-12, relative or absolute, from -1e8 to 40.
// 3. Only rh_exp and rh_ln: libm's erfc differs between machines.

#include "base/text.h"
#include "bayes.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

#define LN_ROOT_2PI 0.91893853320467274178 // ln sqrt(2 pi)
#define CHUNK 64

// Mills' ratio at s >= 0, and 1 - s R(s).
static double mills(double s, double *rest)
{
    if (s >= 2.5) {
        double below = 0.0;
        for (int k = s < 5.0 ? 120 : s < 20.0 ? 40 : 12; k >= 1; k--)
            below = k / (s + below);
        *rest = below / (s + below);
        return 1.0 / (s + below);
    }

    // Phi(s) - 1/2 = phi(s) (s + s^3 / 3 + s^5 / (3 5) + ...)
    double term = s, sum = s;
    for (int k = 3; k < 80; k += 2) {
        term *= s * s / k;
        sum += term;
    }
    double ratio = 0.5 * rh_exp(0.5 * s * s + LN_ROOT_2PI) - sum;
    *rest = 1.0 - s * ratio;
    return ratio;
}

double rh_bayes__log_ei(double mean, double sd, double best, double *by_mean, double *by_sd)
{
    double t = (mean - best) / sd, rest, ln_h, slope; // slope: of ln h by t
    double ratio = mills(fabs(t), &rest), ln_phi = -0.5 * t * t - LN_ROOT_2PI;
    if (t < 0.0) {
        ln_h = ln_phi + rh_ln(rest);
        slope = ratio / rest;
    } else {
        double phi = rh_exp(ln_phi), h = t + phi * rest;
        ln_h = rh_ln(h);
        slope = (1.0 - phi * ratio) / h;
    }
    if (by_mean)
        *by_mean = slope / sd;
    if (by_sd)
        *by_sd = (1.0 - t * slope) / sd;
    return rh_ln(sd) + ln_h;
}

// A known point has no variance: its worth is far below all others, but not NAN.
static double sd_of(double variance)
{
    return sqrt(fmax(variance, 1e-24));
}

bool rh_bayes__shuns(const rh_bayes__aim *aim, const double *z)
{
    if (aim->reach == 0.0)
        return false;
    double r2 = 0.0;
    for (int c = 0; c < aim->gp->ncol; c++) {
        double d = aim->gp->named[c] ? aim->shun[c] != z[c] : aim->shun[c] - z[c];
        r2 += d * d * aim->weight[c];
    }
    return r2 < aim->reach * aim->reach;
}

void rh_bayes__worth(const rh_bayes__aim *aim, int n, const double *z, double *worth)
{
    double mean[CHUNK], variance[CHUNK];
    for (int i = 0; i < n; i += CHUNK) {
        int count = n - i < CHUNK ? n - i : CHUNK;
        rh_gp__predict(aim->gp, count, z + (size_t)i * (size_t)aim->gp->ncol, mean, variance);
        for (int k = 0; k < count; k++) {
            double sd = sd_of(variance[k]);
            if (rh_bayes__shuns(aim, z + (size_t)(i + k) * (size_t)aim->gp->ncol)) {
                worth[i + k] = NAN;
                continue;
            }
            worth[i + k] = aim->ei ? rh_bayes__log_ei(mean[k], sd, aim->best, NULL, NULL)
                                   : mean[k] + aim->kappa * sd;
        }
    }
}

// ---------------------------------------------------------------------------- maximisation

typedef struct climb {
    const rh_bayes__aim *aim;
    double best;
    double z[RH_MAX_DIM];
} climb;

static double height(unsigned n, const double *z, double *slope, void *context)
{
    climb *c = context;
    double mean, variance, by_z[RH_MAX_DIM], variance_by_z[RH_MAX_DIM], by_mean = 1.0;
    rh_gp__slope(c->aim->gp, z, &mean, &variance, by_z, variance_by_z);
    double sd = sd_of(variance), by_sd = c->aim->kappa, worth;
    if (c->aim->ei)
        worth = rh_bayes__log_ei(mean, sd, c->aim->best, &by_mean, &by_sd);
    else
        worth = mean + c->aim->kappa * sd;
    if (slope)
        for (unsigned i = 0; i < n; i++)
            slope[i] = by_mean * by_z[i] + by_sd * 0.5 * variance_by_z[i] / sd;
    if (worth > c->best && !rh_bayes__shuns(c->aim, z)) {
        c->best = worth;
        memcpy(c->z, z, n * sizeof *z);
    }
    return worth;
}

rh_status rh_bayes__climb(const rh_bayes__aim *aim, const double *lo, const double *hi,
                          int most, double *z, double *worth, rh_error *err)
{
    unsigned n = (unsigned)aim->gp->ncol;
    climb c = {.aim = aim, .best = -INFINITY};
    memcpy(c.z, z, n * sizeof *z);
    nlopt_opt opt = nlopt_create(NLOPT_LD_LBFGS, n);
    if (!opt)
        return rh_base__no_memory(err, "bayes");
    double value = 0.0;
    bool ready = nlopt_set_max_objective(opt, height, &c) > 0 &&
                 nlopt_set_lower_bounds(opt, lo) > 0 && nlopt_set_upper_bounds(opt, hi) > 0 &&
                 nlopt_set_maxeval(opt, most) > 0 && nlopt_set_ftol_abs(opt, 1e-6) > 0;

    // however it ended, the best point evaluated is kept
    nlopt_result ended = ready ? nlopt_optimize(opt, z, &value) : NLOPT_OUT_OF_MEMORY;
    nlopt_destroy(opt);
    if (ended == NLOPT_OUT_OF_MEMORY)
        return rh_base__no_memory(err, "bayes");
    memcpy(z, c.z, n * sizeof *z);
    *worth = c.best;
    return RH_OK;
}

void rh_bayes__keep(rh_bayes__kept *kept, const double *z, double worth)
{
    if (isnan(worth) || (kept->n == kept->most && !(worth > kept->worth[kept->n - 1])))
        return;
    int at = kept->n < kept->most ? kept->n++ : kept->n - 1;
    size_t size = (size_t)kept->ncol * sizeof *z;
    for (; at > 0 && kept->worth[at - 1] < worth; at--) {
        kept->worth[at] = kept->worth[at - 1];
        memcpy(kept->z[at], kept->z[at - 1], size);
    }
    kept->worth[at] = worth;
    memcpy(kept->z[at], z, size);
}
