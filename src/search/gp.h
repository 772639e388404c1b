// gp.h - Gaussian processes: what is known of a function from its values at some points.

#ifndef REHEARSE_SEARCH_GP_H
#define REHEARSE_SEARCH_GP_H

#include "rehearse/search.h"

// Hyperparameters, all as natural logarithms: variance of the function, variance of the noise
// that all points have, and one length scale per group of columns.
enum { RH_GP_VARIANCE, RH_GP_NOISE, RH_GP_LENGTH, RH_GP_MOST = RH_GP_LENGTH + RH_MAX_DIM };

typedef struct rh_gp {
    int ncol, ngroup;
    int *group;               // owned: which length scale a column has            (ncol)
    bool *named;              // owned: whether its values are names (ncol)
    bool fit_mean;            // a constant mean by generalised least squares; otherwise 0
    double jitter;            // added to the diagonal, in parts of the variance
    int n, room;              // points there are, and there is room for
    double *z;                // owned: points                                     (room x ncol)
    double *y;                // owned: their values                               (room)
    double *noise;            // owned: variance of each by itself, 0 or more      (room)
    double theta[RH_GP_MOST]; // (2 + ngroup)
    double *weight;           // owned: 1 / l^2 of each column             (ncol)
    int nfactor;              // points that are in the factor
    double *factor;           // owned: lower factor of the covariance     (room x room)
    double *white, *ones;     // owned: factor^-1 y, factor^-1 1           (room)
    double *alpha;            // owned: covariance^-1 (y - mean)           (room)
    double *work;             // owned: a block of predictions             (room x RH_GP_BLOCK)
    double mean;
} rh_gp;

#define RH_GP_BLOCK 8 // points predicted together

// What stands for a value that broke down, with `worst` and `best` of those that did not
// (INFINITY and -INFINITY where all did): a little worse than the worst.
double rh_gp__broken(double worst, double best);

// A process without points over columns of which group (ncol) says whose length scale they
// have, and named (ncol) whether they hold names. To be zeroed before and cleared after, also
// when this fails. Copied: group, named. Nullable: err.
rh_status rh_gp__init(rh_gp *gp, int ncol, int ngroup, const int *group, const bool *named,
                      rh_error *err);
void rh_gp__clear(rh_gp *gp);

// Room for so many points; what is there stays. Nullable: err.
rh_status rh_gp__reserve(rh_gp *gp, int room, rh_error *err);

// Add a point z (ncol), for which there is room.
void rh_gp__put(rh_gp *gp, const double *z, double y, double noise);

void rh_gp__set_theta(rh_gp *gp, const double *theta);

// Factor the covariance of all points anew, or that of the points added since. Where rounding
// stands in the way jitter is added until it works. Then rh_gp__weigh() takes the values in.
void rh_gp__factor(rh_gp *gp);
void rh_gp__extend(rh_gp *gp);
void rh_gp__weigh(rh_gp *gp);

// Log marginal likelihood with hyperparameters theta, and its derivatives; -INFINITY where
// the covariance cannot be factored. The factor is lost. Nullable: slope (2 + ngroup).
double rh_gp__evidence(rh_gp *gp, const double *theta, double *slope);

// What is expected at points z (n x ncol), and its variance without noise. Nullable:
// variance.
void rh_gp__predict(rh_gp *gp, int n, const double *z, double *mean, double *variance);

// The same at one point, with the derivatives by its columns (ncol).
void rh_gp__slope(rh_gp *gp, const double *z, double *mean, double *variance,
                  double *mean_slope, double *variance_slope);

// What a hyperparameter may be, and what it is like before there are data: normal around
// `at`.
typedef struct rh_gp__prior {
    double lo, hi; // equal: it stays as it is
    double at, sd; // INFINITY: none is more likely
} rh_gp__prior;

// Hyperparameters from the points, by log marginal likelihood and prior (2 + ngroup), from
// each of start (nstart x (2 + ngroup)) with at most so many evaluations. Leaves the process
// with the best of them, factored and weighed. Nullable: err.
rh_status rh_gp__fit(rh_gp *gp, const rh_gp__prior *prior, int nstart, const double *start,
                     int most, rh_error *err);

#endif
