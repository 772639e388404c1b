// gp_fit.c - fit the hyperparameters of a Gaussian process by marginal likelihood and prior.
//
// NLopt's SLSQP maximises the sum of log marginal likelihood and log prior within bounds, from
// each of the starts. The best end wins; of equals, the first.
//
// 1. SLSQP keeps a full matrix of curvatures, small here, and needs few evaluations, each n^3.
// 2. Evaluations are limited, never time: the same points give the same hyperparameters.
// 3. Where the covariance has no factor, the objective is very low and flat: steps get shorter.

#include "base/base_internal.h"
#include "gp.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

#define HOPELESS (-1e30) // decision 3: below the evidence of any data

typedef struct climb {
    rh_gp *gp;
    const rh_gp__prior *prior;
    int ntheta;
    double best; // the highest value, and its theta
    double theta[RH_GP_MOST];
} climb;

static double height(unsigned n, const double *theta, double *slope, void *context)
{
    climb *c = context;
    double own[RH_GP_MOST] = {0.0};
    double value = rh_gp__evidence(c->gp, theta, slope ? own : NULL);
    bool sound = isfinite(value) && rh_base__all_finite(own, c->ntheta);
    for (unsigned i = 0; i < n && sound; i++) {
        const rh_gp__prior *p = &c->prior[i];
        double away = (theta[i] - p->at) / p->sd;
        value -= 0.5 * away * away;
        own[i] -= away / p->sd;
    }
    if (slope)
        for (unsigned i = 0; i < n; i++)
            slope[i] = sound ? own[i] : 0.0;
    if (sound && value > c->best) {
        c->best = value;
        memcpy(c->theta, theta, n * sizeof *theta);
    }
    return sound ? value : HOPELESS;
}

rh_status rh_gp__fit(rh_gp *gp, const rh_gp__prior *prior, int nstart, const double *start,
                     int most, rh_error *err)
{
    climb c = {
        .gp = gp, .prior = prior, .ntheta = RH_GP_LENGTH + gp->ngroup, .best = -INFINITY};
    double lo[RH_GP_MOST] = {0.0}, hi[RH_GP_MOST] = {0.0}, theta[RH_GP_MOST];
    for (int i = 0; i < c.ntheta; i++) {
        lo[i] = prior[i].lo;
        hi[i] = prior[i].hi;
    }
    memcpy(c.theta, start, (size_t)c.ntheta * sizeof *start);

    for (int s = 0; s < nstart; s++) {
        nlopt_opt opt = nlopt_create(NLOPT_LD_SLSQP, (unsigned)c.ntheta);
        if (!opt)
            return rh_fail(err, RH_ENOMEM, "out of memory for fitting a model");
        for (int i = 0; i < c.ntheta; i++)
            theta[i] = fmin(fmax(start[s * c.ntheta + i], lo[i]), hi[i]);
        double value = 0.0;
        bool ready = nlopt_set_max_objective(opt, height, &c) > 0 &&
                     nlopt_set_lower_bounds(opt, lo) > 0 &&
                     nlopt_set_upper_bounds(opt, hi) > 0 && nlopt_set_maxeval(opt, most) > 0 &&
                     nlopt_set_ftol_abs(opt, 1e-3) > 0;

        // however it ended, the best point evaluated is kept
        nlopt_result ended = ready ? nlopt_optimize(opt, theta, &value) : NLOPT_OUT_OF_MEMORY;
        nlopt_destroy(opt);
        if (ended == NLOPT_OUT_OF_MEMORY)
            return rh_fail(err, RH_ENOMEM, "out of memory for fitting a model");
    }

    rh_gp__set_theta(gp, c.theta);
    rh_gp__factor(gp);
    rh_gp__weigh(gp);
    return RH_OK;
}
