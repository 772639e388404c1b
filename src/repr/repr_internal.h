// repr_internal.h - what the files of the repr room share.

#ifndef REPR_INTERNAL_H
#define REPR_INTERNAL_H

#include "rehearse/mlp.h"
#include "rehearse/repr.h"

// How sensors are scaled before anything else looks at them.
typedef enum rh_scaling {
    RH_SCALE_RANGE,     // least to most becomes -1 to 1
    RH_SCALE_DEVIATION, // mean 0, standard deviation 1
    RH_SCALE_NONE
} rh_scaling;

extern const char *const rh_repr__scaling_name[];

// Scaled inputs, and a network on top of them or none.
struct rh_repr {
    const rh_repr_type *type;
    double *param; // owned  (nparam)
    int nobs, nact, ncode;
    double *centre; // owned: subtracted from an input              (nobs + nact)
    double *factor; // owned: then multiplied; 0: the input is constant (nobs + nact)
    rh_mlp *mlp;    // owned; NULL: the code is the scaled inputs
    rh_repr_training training;
};

// What a fit is made of.
struct rh_repr_work {
    const rh_log *log;
    const double *param;
    const uint8_t *use; // episodes, or NULL
    bool actions;
    uint64_t seed;
    const rh_watch *watch;
};

#endif
