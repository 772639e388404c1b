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
    int branch; // 0: in every setting; k: where the first dimension has its k-th value, else
                // NAN
} rh_dim;

// A space has branches where dimensions depend on the first one, of RH_DIM_NAMES.
typedef struct rh_space {
    rh_dim dim[RH_MAX_DIM]; // (ndim)
    int ndim;
} rh_space;

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

typedef enum rh_setting_state {
    RH_SETTING_OPEN,   // may get more runs
    RH_SETTING_DONE,   // has all its runs
    RH_SETTING_DROPPED // clearly worse than others: gets no more runs
} rh_setting_state;

// ---------------------------------------------------------------------------- importance

#endif
