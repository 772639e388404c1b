// search.h - searches: vectors in, scores out.
//
// A space says which settings there are. A search proposes some of them, is told how they did,
// and proposes more; it knows nothing of what is searched for. A kind is one file in
// src/search/ and one line in src/search/registry.c.

#ifndef REHEARSE_SEARCH_H
#define REHEARSE_SEARCH_H

#include "rehearse/contract.h"

#define RH_MAX_DIM 32 // numbers of a setting

// ---------------------------------------------------------------------------- spaces

typedef enum rh_dim_kind {
    RH_DIM_RANGE, // any number from lo to hi, or any multiple of a step
    RH_DIM_LIST,  // one of the values, ascending: near ones are alike
    RH_DIM_NAMES  // one of the values, none more like one than another
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

// RH_OK, or a message that names the dimension and what is wrong: no values, lo above hi, no
// multiple of the step between them, a log scale at or below 0, values twice or out of order.
RH_API rh_status rh_space_check(const rh_space *space, rh_error *err);

// How many values a dimension has, and how many settings a space: INFINITY without end.
RH_API double rh_dim_count(const rh_dim *dim);
RH_API double rh_space_count(const rh_space *space);

// Setting number i of a finite space into x (ndim), the first dimension slowest.
RH_API void rh_space_at(const rh_space *space, int64_t i, double *x);

// Whether x (ndim) is a setting of the space.
RH_API bool rh_space_holds(const rh_space *space, const double *x);

// Between the unit cube and settings: u (ndim) becomes the setting x it lies in, equal parts of
// the cube standing for equal chances (on a log scale, for equal ratios); x becomes the middle
// of its part. A dimension of one value is always in the middle.
RH_API void rh_space_place(const rh_space *space, const double *u, double *x);
RH_API void rh_space_unit(const rh_space *space, const double *x, double *u);

// ---------------------------------------------------------------------------- kinds

typedef struct rh_search rh_search;
typedef struct rh_search_calls rh_search_calls; // what a kind does, see search_internal.h

typedef struct rh_search_type {
    const char *name;
    const char *about;     // one line
    const rh_param *param; // (nparam)
    int nparam;
    bool finite; // refuses spaces without end
    const rh_search_calls *calls;
} rh_search_type;

RH_API int rh_search_ntype(void);
RH_API const rh_search_type *rh_search_type_at(int i); // 0 .. rh_search_ntype() - 1

// The search called `name`, or NULL and a message with the nearest name. Nullable: err.
RH_API const rh_search_type *rh_search_find(const char *name, rh_error *err);

// ---------------------------------------------------------------------------- ask and tell

typedef struct rh_search_options {
    const double *param; // of the kind; NULL: initial values              (nparam)
    int budget;          // settings to try, 1 or more; grid and race try all there are
    int nrun;            // runs of a setting, 1 or more
    int batch;           // settings to ask for at a time, where the kind leaves that open
    uint64_t seed;       // what all chance comes from
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

RH_API const rh_search_type *rh_search_kind(const rh_search *search);
RH_API const rh_space *rh_search_space(const rh_search *search);

// Settings ever asked for are numbered from 0, in order. Which they are  (ndim)
RH_API int rh_search_nsetting(const rh_search *search);
RH_API const double *rh_search_setting(const rh_search *search, int setting);

// What is asked for.
typedef struct rh_asked {
    int setting; // a new one, or an old one again
    int nrun;    // runs that it is to have in all, those it already has among them
} rh_asked;

// What to do next: *asked (*nasked), borrowed until the next call; *nasked is 0 once the search
// is over. Each of these is to be told before the next is asked for. The same space, options
// and scores lead to the same questions. Nullable: err.
RH_API rh_status rh_search_ask(rh_search *search, const rh_asked **asked, int *nasked,
                               rh_error *err);

// How many settings and how many runs there will be in all, as far as that can be said: never
// too few.
RH_API void rh_search_foresee(const rh_search *search, int *nsetting, int64_t *nrun);

// What became of a setting.
typedef struct rh_told {
    int setting;
    int nrun;            // runs it has had in all
    const double *score; // of each run: their mean is the value. Equal numbers of two settings
                         // had the same random stream, so that differences tell more     (nrun)
    double value;        // what the setting is worth; larger is better, never NAN; -INFINITY
                         // where it broke down
    double noise;        // variance of the value, 0 or more; NAN: not known
} rh_told;

// Tell what was asked for, in the order asked. Copied: told. Nullable: err.
RH_API rh_status rh_search_tell(rh_search *search, const rh_told *told, rh_error *err);

// The setting as it was really run, where that is not what was asked for: a study begun on a
// machine that rounds otherwise. Before it is told.
RH_API void rh_search_amend(rh_search *search, int setting, const double *x);

typedef enum rh_setting_state {
    RH_SETTING_OPEN,   // may be asked for again
    RH_SETTING_DONE,   // has had its runs
    RH_SETTING_DROPPED // clearly worse than others: gets no more
} rh_setting_state;
RH_API rh_setting_state rh_search_state(const rh_search *search, int setting);

// One of the settings that a search would choose.
typedef struct rh_leader {
    int setting;
    double value; // what the search believes it is worth
    double sd;    // and how sure it is; NAN: it cannot say
} rh_leader;

// The leading settings into leader (most), the one it would choose first. Returns how many.
RH_API int rh_search_lead(const rh_search *search, int most, rh_leader *leader);

// ---------------------------------------------------------------------------- what mattered

// Share of the variance of the values that each dimension explains by itself (share, ndim) and
// together with others (total, ndim), from n settings x (n x ndim), their value (n), and noise
// (n; NULL: none). *exact: by analysis of variance, where these are all settings of a finite
// space, each once; otherwise by a Gaussian process through them. Settings of value -INFINITY
// count as a little worse than the worst. Nullable: noise, total, exact, err.
RH_API rh_status rh_importance(const rh_space *space, int n, const double *x,
                               const double *value, const double *noise, double *share,
                               double *total, bool *exact, rh_error *err);

#endif
