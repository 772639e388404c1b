// gp.h - Gaussian processes: a function estimated from its values at some points.

#ifndef REHEARSE_SEARCH_GP_H
#define REHEARSE_SEARCH_GP_H

#include "rehearse/search.h"

// Hyperparameters, all as natural logarithms: variance of the function, variance of the common
// noise, and one length scale per group of columns.
enum { RH_GP_VARIANCE, RH_GP_NOISE, RH_GP_LENGTH, RH_GP_MOST = RH_GP_LENGTH + RH_MAX_DIM };

typedef struct rh_gp {
    int ncol, ngroup;
    int *group;               // owned: group of each column                       (ncol)
    bool *named;              // owned: whether its values are names (ncol)
    bool fit_mean;            // a constant mean by generalised least squares; otherwise 0
    double jitter;            // added to the diagonal, relative to the variance
    int n, room;              // points, and capacity
    double *z;                // owned: points                                     (room x ncol)
    double *y;                // owned: their values                               (room)
    double *noise;            // owned: their own noise variances, 0 or more       (room)
    double theta[RH_GP_MOST]; // (2 + ngroup)
    double *weight;           // owned: 1 / l^2 of each column             (ncol)
    int nfactor;              // points in the factor
    double *factor;           // owned: lower factor of the covariance     (room x room)
    double *white, *ones;     // owned: factor^-1 y, factor^-1 1           (room)
    double *alpha;            // owned: covariance^-1 (y - mean)           (room)
    double *work;             // owned: a block of predictions or columns (room x 32)
    double *inverse;          // owned: scratch for the evidence           (room x room)
    double mean;
} rh_gp;

#define RH_GP_BLOCK 8 // points predicted together

// A value for settings that broke down: slightly worse than `worst`. worst and best are those
// of the other settings, or INFINITY and -INFINITY without any.
double rh_gp__broken(double worst, double best);

// Initialise a zeroed process without points. group (ncol): the length scale of a column; named
// (ncol): columns of names. Clear also after a failure. Copied: group, named. Nullable: err.
rh_status rh_gp__init(rh_gp *gp, int ncol, int ngroup, const int *group, const bool *named,
                      rh_error *err);
void rh_gp__clear(rh_gp *gp);

// Make room for that many points; existing points stay. Nullable: err.
rh_status rh_gp__reserve(rh_gp *gp, int room, rh_error *err);

// Add a point z (ncol), for which there is room.
void rh_gp__put(rh_gp *gp, const double *z, double y, double noise);

void rh_gp__set_theta(rh_gp *gp, const double *theta);

// Factor the covariance of all points, or extend the factor by new points; jitter is added
// where rounding makes it fail. Then call rh_gp__weigh(), which uses the values.
void rh_gp__factor(rh_gp *gp);
void rh_gp__extend(rh_gp *gp);
void rh_gp__weigh(rh_gp *gp);

// Log marginal likelihood for hyperparameters theta, and its derivatives; -INFINITY when the
// covariance cannot be factored. Destroys the factor. Nullable: slope (2 + ngroup).
double rh_gp__evidence(rh_gp *gp, const double *theta, double *slope);

// The mean at its own point i.
double rh_gp__expected(const rh_gp *gp, int i);

// Mean and variance (without noise) at points z (n x ncol). Nullable: variance.
void rh_gp__predict(rh_gp *gp, int n, const double *z, double *mean, double *variance);

// The same at one point, with the derivatives by its columns (ncol).
void rh_gp__slope(rh_gp *gp, const double *z, double *mean, double *variance,
                  double *mean_slope, double *variance_slope);

// Bounds and normal prior of a hyperparameter.
typedef struct rh_gp__prior {
    double lo, hi; // equal: it is not fitted
    double at, sd; // mean and standard deviation; sd INFINITY: uniform
} rh_gp__prior;

// Fit the hyperparameters by log marginal likelihood and prior (2 + ngroup), from each row of
// start (nstart x (2 + ngroup)) with at most `most` evaluations. The process gets the best of
// them, factored and weighed. Nullable: err.
rh_status rh_gp__fit(rh_gp *gp, const rh_gp__prior *prior, int nstart, const double *start,
                     int most, rh_error *err);

#endif
