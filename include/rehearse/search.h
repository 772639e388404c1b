// search.h - search methods: vectors in, scores out.
//
// A space describes the possible settings. A search proposes settings, gets their scores, and
// proposes more; it knows nothing about what it optimises. A method is one file in src/search/
// and one line in src/search/registry.c.

#ifndef REHEARSE_SEARCH_H
#define REHEARSE_SEARCH_H

#include "rehearse/contract.h"

#define RH_MAX_DIM 32 // numbers of a setting

// ---------------------------------------------------------------------------- spaces

typedef enum rh_dim_kind {
    RH_DIM_RANGE, // any number from lo to hi, or multiples of a step
    RH_DIM_LIST,  // one of the values, which are ordered and ascending
    RH_DIM_NAMES  // one of the values, which have no order
} rh_dim_kind;

// One number of a setting.
typedef struct rh_dim {
    const char *name; // borrowed
    rh_dim_kind kind;
    rh_scale scale;      // how values are spread; RH_LINEAR for RH_DIM_NAMES
    double lo, hi;       // RH_DIM_RANGE: both ends included
    double step;         // RH_DIM_RANGE: multiples of it only (whole numbers: 1); 0: any number
    const double *value; // the others, borrowed                        (nvalue)
    int nvalue;
} rh_dim;

typedef struct rh_space {
    rh_dim dim[RH_MAX_DIM]; // (ndim)
    int ndim;
} rh_space;

// RH_OK, or a message that names the dimension and the error: no values, lo above hi, no
// multiple of the step between them, a log scale at or below 0, duplicate or unordered values.
RH_API rh_status rh_space_check(const rh_space *space, rh_error *err);

// The number of values of a dimension, and of settings of a space; may be INFINITY.
RH_API double rh_dim_count(const rh_dim *dim);
RH_API double rh_space_count(const rh_space *space);

// Write setting number i of a finite space to x (ndim); the first dimension varies slowest. All
// NAN if there is no such setting.
RH_API void rh_space_at(const rh_space *space, int64_t i, double *x);

// Whether x (ndim) is a setting of the space.
RH_API bool rh_space_holds(const rh_space *space, const double *x);

// Write the position of setting x (ndim) in the unit cube to u (ndim): the middle of the part
// of the cube that stands for x. All settings have equal parts (on a log scale, equal ratios).
// A dimension with one value is at 0.5.
RH_API void rh_space_unit(const rh_space *space, const double *x, double *u);

// ---------------------------------------------------------------------------- methods

typedef struct rh_search rh_search;
typedef struct rh_search_calls rh_search_calls; // functions of a method, search_internal.h

typedef struct rh_search_type {
    const char *name;
    const char *about;     // one line
    const rh_param *param; // (nparam)
    int nparam;
    bool finite; // refuses infinite spaces
    const rh_search_calls *calls;
} rh_search_type;

RH_API int rh_search_ntype(void);
RH_API const rh_search_type *rh_search_type_at(int i); // NULL unless 0 <= i < rh_search_ntype()

// The search called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_search_type *rh_search_find(const char *name, rh_error *err);

// ---------------------------------------------------------------------------- ask and tell

typedef struct rh_search_options {
    const double *param; // of the method; NULL: initial values            (nparam)
    int budget;          // settings to try, 1 or more; grid and race try the whole space
    int nrun;            // runs of a setting, 1 or more
    int batch;           // settings per ask, where the method lets the caller choose
    uint64_t seed;       // random seed
    unsigned cookie;     // set by rh_search_defaults(), leave alone
} rh_search_options;

// 100 settings of 10 runs, one at a time, seed 1.
RH_API rh_search_options rh_search_defaults(void);

// Owned: *out, free with rh_search_destroy(). Copied: space with all its names and values, opt.
// Nullable: opt, err. On failure *out is left untouched.
RH_API rh_status rh_search_create(rh_search **out, const rh_search_type *type,
                                  const rh_space *space, const rh_search_options *opt,
                                  rh_error *err);
RH_API void rh_search_destroy(rh_search *search); // NULL is allowed

// Proposed settings are numbered from 0, in order: their number, and one of them (ndim), NULL
// if there is no such setting.
RH_API int rh_search_nsetting(const rh_search *search);
RH_API const double *rh_search_setting(const rh_search *search, int setting);

// A proposal.
typedef struct rh_asked {
    int setting; // a new one, or an earlier one again
    int nrun;    // total number of runs it should have
} rh_asked;

// Get the next proposals: *asked (*nasked), borrowed until the next call; *nasked is 0 when the
// search is over. Tell the results of all of them before the next ask. The same space, options
// and scores give the same proposals. Nullable: err.
RH_API rh_status rh_search_ask(rh_search *search, const rh_asked **asked, int *nasked,
                               rh_error *err);

// Upper bounds of the total number of settings and runs.
RH_API void rh_search_foresee(const rh_search *search, int *nsetting, int64_t *nrun);

// The result of a setting.
typedef struct rh_told {
    int setting;
    int nrun;            // total number of runs
    const double *score; // of each run; their mean is the value. Runs of equal number share
                         // their random streams, so settings are compared in pairs     (nrun)
    double value;        // larger is better, never NAN; -INFINITY: the setting broke down
    double noise;        // variance of the value, 0 or more; NAN: unknown
    int nbroken;         // of its runs, those that broke down. A setting with such runs ranks
                         // below every setting without, whatever its value
} rh_told;

// Tell a result, in the order of the proposals. Copied: told. Nullable: err.
RH_API rh_status rh_search_tell(rh_search *search, const rh_told *told, rh_error *err);

// Before the first ask: the settings x (n x ndim) that an earlier search with the same options
// proposed, in order. A method whose proposals are costly (bayes) proposes them again without
// computing them; what follows is the same. Others ignore them. Copied: x. Nullable: err.
RH_API rh_status rh_search_recall(rh_search *search, int n, const double *x, rh_error *err);

// Replace a setting that has not been told yet by the values that were really run: a study may
// have begun on a machine that rounds differently. A setting that was told stays as it is.
RH_API void rh_search_amend(rh_search *search, int setting, const double *x);

typedef enum rh_setting_state {
    RH_SETTING_OPEN,   // may get more runs
    RH_SETTING_DONE,   // has all its runs
    RH_SETTING_DROPPED // clearly worse than others: gets no more runs
} rh_setting_state;
RH_API rh_setting_state rh_search_state(const rh_search *search, int setting);

// One of the best settings.
typedef struct rh_leader {
    int setting;
    double value; // estimated by the search
    double sd;    // standard deviation of the estimate; NAN: unknown
} rh_leader;

// Write the best settings to leader (most), the search's choice first. Returns their number.
RH_API int rh_search_lead(const rh_search *search, int most, rh_leader *leader);

// ---------------------------------------------------------------------------- importance

// The share of the variance of the values that each dimension explains by itself (share, ndim)
// and together with others (total, ndim), from n settings x (n x ndim), their values (n) and
// noises (n). *exact: by analysis of variance, where x is every setting of a finite space once;
// otherwise by a Gaussian process. A value of -INFINITY counts as slightly worse than the
// worst. Nullable: noise, total, exact, err.
RH_API rh_status rh_importance(const rh_space *space, int n, const double *x,
                               const double *value, const double *noise, double *share,
                               double *total, bool *exact, rh_error *err);

// Standard errors of both, by a jackknife over 8 parts of the settings: share (ndim), total
// (ndim). Takes 8 times as long. At least 16 + ndim settings. Nullable: noise, err.
RH_API rh_status rh_importance_errors(const rh_space *space, int n, const double *x,
                                      const double *value, const double *noise, double *share,
                                      double *total, rh_error *err);

#endif
