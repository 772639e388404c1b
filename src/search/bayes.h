// bayes.h - shared by the files of Bayesian optimisation.

#ifndef REHEARSE_SEARCH_BAYES_H
#define REHEARSE_SEARCH_BAYES_H

#include "base/scratch.h"
#include "gp.h"
#include "search_internal.h"

enum { RH_BAYES_ACQUISITION, RH_BAYES_KAPPA, RH_BAYES_FIRST, RH_BAYES_NPARAM };
enum { RH_BAYES_MIXED, RH_BAYES_EI, RH_BAYES_UCB }; // values of RH_BAYES_ACQUISITION

typedef struct rh_bayes {
    rh_gp gp;       // over the unit cube
    rh_gp far;      // the same points with shorter length scales, for `mixed`
    bool wants_far; //
    rh_scratch scratch;
    int *active;                 // their settings, ascending              (nput, for all)
    int nput;                    // points; further ones are assumed results
    int nseen;                   // settings that are points or were left out
    double *z;                   // coordinates of settings                (nz x ndim, for all)
    int nz;                      //
    struct rh_bayes__rank *rank; // work                           (all)
    double *away;                // work                                (all)
    double shift, scale;         // the process gets (v - shift) / scale of a value v
    double fence, slack; // after values below the fence were pulled in, on a scale of `slack`
    bool sound;          // some setting has no broken runs; those that have stand below all
    bool noisy;          // some setting has noise, or unknown noise
    int nfit, nselect;   // settings at the last fit and selection of points; 0: never
    int due_fit, due_select; // settings at those that the asks so far made due
} rh_bayes;

int rh_bayes__first_design(const rh_search *search); // number of its settings

// ---------------------------------------------------------------------------- the process

// Take and release memory. Nullable: err.
rh_status rh_bayes__begin(const rh_search *search, rh_error *err);
void rh_bayes__end(rh_bayes *b);

// Make room for the points of n settings and a batch. Nullable: err.
rh_status rh_bayes__reserve(const rh_search *search, int n, int batch, rh_error *err);

// The search asks when it has n settings. Call for every ask, also where nothing is computed.
void rh_bayes__schedule(const rh_search *search, int n);

// Update the process to the first n settings, with the fit and the points that are due. It
// depends on the settings and the schedule alone. Nullable: err.
rh_status rh_bayes__bring_up(const rh_search *search, int n, rh_error *err);

// Add the settings that came since then, up to n; add x (ndim) with its expected value as the
// result; go back to so many points and settings.
void rh_bayes__add(const rh_search *search, int n);
void rh_bayes__assume(const rh_search *search, const double *x);
void rh_bayes__back_to(rh_bayes *b, int nput, int nseen);

// Whether the process gets the own value of setting i.
bool rh_bayes__has_value(const rh_search *search, int i);

// A value as the process sees it, before shift and scale; the slope there; and back.
double rh_bayes__pull(const rh_bayes *b, double value, double *slope);
double rh_bayes__push(const rh_bayes *b, double pulled);

// ---------------------------------------------------------------------------- proposals

// The acquisition function.
typedef struct rh_bayes__aim {
    rh_gp *gp;
    bool ei;                   // log expected improvement; otherwise upper confidence bound
    double best;               // of the values so far
    double kappa;              // standard deviations added to the mean
    double reach;              // points this near to `shun` are excluded; 0: none
    double shun[RH_MAX_DIM];   // (ncol)
    double weight[RH_MAX_DIM]; // 1 / l^2 of the distance to shun                  (ncol)
} rh_bayes__aim;

// Log of the expected improvement of a normal over `best`, and its derivatives by mean and
// standard deviation sd > 0. Nullable: by_mean, by_sd.
double rh_bayes__log_ei(double mean, double sd, double best, double *by_mean, double *by_sd);

// Whether the aim excludes z (ncol).
bool rh_bayes__shuns(const rh_bayes__aim *aim, const double *z);

// Write the acquisition function at n points z (n x ncol) to worth (n); NAN where excluded.
void rh_bayes__worth(const rh_bayes__aim *aim, int n, const double *z, double *worth);

// Maximise the acquisition function from z (ncol) within lo and hi (ncol), with at most `most`
// evaluations; *worth is the maximum. Columns with lo = hi stay. Nullable: err.
rh_status rh_bayes__climb(const rh_bayes__aim *aim, const double *lo, const double *hi,
                          int most, double *z, double *worth, rh_error *err);

// The few best points of many.
#define RH_BAYES_KEPT 12
typedef struct rh_bayes__kept {
    int ncol, n, most;
    double worth[RH_BAYES_KEPT]; // descending
    double z[RH_BAYES_KEPT][RH_MAX_DIM];
} rh_bayes__kept;
void rh_bayes__keep(rh_bayes__kept *kept, const double *z, double worth);

// Ask for a batch, each proposed after the ones before were assumed. Settings that an earlier
// search proposed are not computed again; computed: some are. Nullable: err.
rh_status rh_bayes__ask_batch(rh_search *search, int batch, bool computed,
                              rh_status (*propose)(const rh_search *search, double *x,
                                                   bool *found, rh_error *err),
                              void (*assume)(const rh_search *search, const double *x),
                              rh_error *err);

// Write the next setting to x (ndim); *found is false when all have been tried. Nullable: err.
rh_status rh_bayes__next(const rh_search *search, const rh_bayes__aim *aim, double *x,
                         bool *found, rh_error *err);

#endif
