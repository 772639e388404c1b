// bayes.h - what the files of Bayesian optimisation share.

#ifndef REHEARSE_SEARCH_BAYES_H
#define REHEARSE_SEARCH_BAYES_H

#include "gp.h"
#include "search_internal.h"

enum { RH_BAYES_COMPAT, RH_BAYES_ACQUISITION, RH_BAYES_KAPPA, RH_BAYES_FIRST, RH_BAYES_NPARAM };
enum { RH_BAYES_NONE, RH_BAYES_PAPER };             // values of RH_BAYES_COMPAT
enum { RH_BAYES_MIXED, RH_BAYES_EI, RH_BAYES_UCB }; // of RH_BAYES_ACQUISITION

typedef struct rh_bayes {
    rh_gp gp;            // over the unit cube, or in paper's face over raw numbers
    double shift, scale; // a value v is (v - shift) / scale to the process
    int nfit;            // settings there were when it was last fitted; 0: never
    bool noisy;          // some setting has noise, or noise that is not known
    int nput;            // settings that are in it; more points are imagined ones
} rh_bayes;

// What a question is worth.
typedef struct rh_bayes__aim {
    rh_gp *gp;
    bool ei;                   // log expected improvement; otherwise upper confidence bound
    double best;               // of the values so far
    double kappa;              // standard deviations added to the mean
    double reach;              // nothing counts that is as near as this to `shun`; 0: all does
    double shun[RH_MAX_DIM];   // (ncol)
    double weight[RH_MAX_DIM]; // by which nearness is measured: 1 / l^2           (ncol)
} rh_bayes__aim;

// Log of the expected improvement of a normal over `best`, and its derivatives by the mean
// and the standard deviation sd > 0. Nullable: by_mean, by_sd.
double rh_bayes__log_ei(double mean, double sd, double best, double *by_mean, double *by_sd);

// Whether z (ncol) is where the aim does not look.
bool rh_bayes__shuns(const rh_bayes__aim *aim, const double *z);

// The aim at n points z (n x ncol) with what the process says of them, into worth (n).
void rh_bayes__worth(const rh_bayes__aim *aim, int n, const double *z, double *worth);

// Climb from z (ncol) within lo and hi (ncol), in at most so many evaluations, to a point
// where the aim is highest; *worth is what was found. Columns with equal ends stay. Nullable:
// err.
rh_status rh_bayes__climb(const rh_bayes__aim *aim, const double *lo, const double *hi,
                          int most, double *z, double *worth, rh_error *err);

// The few best points of many.
#define RH_BAYES_KEPT 12
typedef struct rh_bayes__kept {
    int ncol, n, most;
    double worth[RH_BAYES_KEPT]; // falling
    double z[RH_BAYES_KEPT][RH_MAX_DIM];
} rh_bayes__kept;
void rh_bayes__keep(rh_bayes__kept *kept, const double *z, double worth);

// The setting to try next into x (ndim); *found is false where all have been tried.
// Nullable: err.
rh_status rh_bayes__next(const rh_search *search, const rh_bayes__aim *aim, double *x,
                         bool *found, rh_error *err);

// A setting at random, uniform in raw numbers.
void rh_bayes__anywhere(const rh_space *space, rh_rng *rng, double *x);
rh_status rh_bayes__next_as_paper(const rh_search *search, const rh_bayes__aim *aim, double *x,
                                  bool *found, rh_error *err);

#endif
