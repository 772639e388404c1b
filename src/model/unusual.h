// unusual.h - the natural experiments of a log.

#ifndef MODEL_UNUSUAL_H
#define MODEL_UNUSUAL_H

#include "model_internal.h"

// Steps whose action is not what the controller usually does there, and what that is.
typedef struct rh_unusual {
    const rh_log *log; // borrowed
    bool *known;       // owned: the usual action is                                     (n)
    bool *is;          // owned: a natural experiment                                    (n)
    bool *choice;      // owned: the controller might have taken another action          (n)
    double *usual;     // owned: the usual action                                 (n x nact)
    int64_t nknown, n; // how many are
} rh_unusual;

// The log must have finite numbers only (clean.c) and stay as it is while *out is used. Steps
// of a log that is too short for it are not known. Clear after failure, too. Nullable: err.
rh_status rh_unusual__find(rh_unusual *out, const rh_log *log, rh_error *err);
void rh_unusual__clear(rh_unusual *u);

// Count by action and region. Nullable: err.
rh_status rh_unusual__count(rh_experiments *out, const rh_unusual *u, rh_error *err);

#endif
