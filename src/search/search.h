// search.h - what other modules of the library use of search beside its public header.

#ifndef RH_SEARCH_H
#define RH_SEARCH_H

#include "rehearse/search.h"

// One of the best settings.
typedef struct rh_search__lead_entry {
    int setting;
    double value; // estimated by the search
    double sd;    // standard deviation of the estimate; NAN: unknown
} rh_search__lead_entry;

typedef struct rh_search__options {
    const double *param; // of the method; NULL: initial values            (nparam)
    int budget;          // settings to try, 1 or more; grid and race try the whole space
    int nrun;            // runs of a setting, 1 or more
    int batch;           // settings per ask, where the method lets the caller choose
    uint64_t seed;       // random seed
    int chunk;           // settings per ask, at most, where the caller may choose; 0: any
    const double *first; // tried before all others where the method can (nfirst x ndim)
    int nfirst;          //
    const double *cost;  // of a setting of each branch, 1 or less; the budget is their sum.
                         // NULL: 1                                    (values of dimension 0)
    unsigned cookie;     // set by rh_search__defaults(), leave alone
} rh_search__options;

// A proposal.
typedef struct rh_search__asked {
    int setting; // a new one, or an earlier one again
    int nrun;    // total number of runs it should have
} rh_search__asked;

// The result of a setting.
typedef struct rh_search__told {
    int setting;
    int nrun;            // total number of runs
    const double *score; // of each run; their mean is the value. Runs of equal number share
                         // their random streams, so settings are compared in pairs     (nrun)
    double value;        // larger is better, never NAN; -INFINITY: the setting broke down
    double noise;        // variance of the value, 0 or more; NAN: unknown
    int nbroken;         // of its runs, those that broke down. A setting with such runs ranks
                         // below every setting without, whatever its value
} rh_search__told;

// RH_OK, or a message that names the dimension and the error: no values, lo above hi, no
// multiple of the step between them, a log scale at or below 0, duplicate or unordered values.
rh_status rh_space__check(const rh_space *space, rh_error *err);

// Whether the dimensions depend on the first one; whether dimension d is in setting x.
bool rh_space__branches(const rh_space *space);
bool rh_space__has(const rh_space *space, const double *x, int d);

// The number of values of a dimension, and of settings of a space; may be INFINITY.
double rh_dim__count(const rh_dim *dim);
double rh_space__count(const rh_space *space);

// Write setting number i of a finite space to x (ndim); the first dimension varies slowest. All
// NAN if there is no such setting.
void rh_space__at(const rh_space *space, int64_t i, double *x);

// Whether x (ndim) is a setting of the space. NAN where a dimension is not in it.
bool rh_space__holds(const rh_space *space, const double *x);

// Write the position of setting x (ndim) in the unit cube to u (ndim): the middle of the part
// of the cube that stands for x. All settings have equal parts (on a log scale, equal ratios).
// A dimension with one value, or that is not in x, is at 0.5.
void rh_space__unit(const rh_space *space, const double *x, double *u);

// 100 settings of 10 runs, one at a time, seed 1.
rh_search__options rh_search__defaults(void);

// Owned: *out, free with rh_search__destroy(). Copied: space with all its names and values,
// opt. Nullable: opt, err. On failure *out is left untouched.
rh_status rh_search__create(rh_search **out, const rh_search_type *type, const rh_space *space,
                            const rh_search__options *opt, rh_error *err);
void rh_search__destroy(rh_search *search); // NULL is allowed

// Proposed settings are numbered from 0, in order: their number, and one of them (ndim), NULL
// if there is no such setting.
int rh_search__nsetting(const rh_search *search);
const double *rh_search__proposed(const rh_search *search, int setting);

// Get the next proposals: *asked (*nasked), borrowed until the next call; *nasked is 0 when the
// search is over. Tell the results of all of them before the next ask. The same space, options
// and scores give the same proposals. Nullable: err.
rh_status rh_search__ask(rh_search *search, const rh_search__asked **asked, int *nasked,
                         rh_error *err);

// Upper bounds of the total number of settings and runs.
void rh_search__foresee(const rh_search *search, int *nsetting, int64_t *nrun);

// Tell a result, in the order of the proposals. Copied: told. Nullable: err.
rh_status rh_search__tell(rh_search *search, const rh_search__told *told, rh_error *err);

// Before the first ask: the settings x (n x ndim) that an earlier search with the same options
// proposed, in order. A method whose proposals are costly (bayes) proposes them again without
// computing them; what follows is the same. Others ignore them. Copied: x. Nullable: err.
rh_status rh_search__recall(rh_search *search, int n, const double *x, rh_error *err);

// Replace a setting that has not been told yet by the values that were really run: a study may
// have begun on a machine that rounds differently. A setting that was told stays as it is.
void rh_search__amend(rh_search *search, int setting, const double *x);
rh_setting_state rh_search__state(const rh_search *search, int setting);

// Write the best settings to leader (most), the search's choice first. Returns their number.
int rh_search__lead(const rh_search *search, int most, rh_search__lead_entry *leader);

// The share of the variance of the values that each dimension explains by itself (share, ndim)
// and together with others (total, ndim), from n settings x (n x ndim), their values (n) and
// noises (n). *exact: by analysis of variance, where x is every setting of a finite space once;
// otherwise by a Gaussian process. A value of -INFINITY counts as slightly worse than the
// worst. Nullable: noise, total, exact, err.
rh_status rh_importance__shares(const rh_space *space, int n, const double *x,
                                const double *value, const double *noise, double *share,
                                double *total, bool *exact, rh_error *err);

// Standard errors of both, by a jackknife over 8 parts of the settings: share (ndim), total
// (ndim). Takes 8 times as long. At least 16 + ndim settings. Nullable: noise, err.
rh_status rh_importance__errors(const rh_space *space, int n, const double *x,
                                const double *value, const double *noise, double *share,
                                double *total, rh_error *err);

#endif
