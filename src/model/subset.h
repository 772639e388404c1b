// subset.h - a log with some of the states and steps of another, while it is being put
// together.

#ifndef REHEARSE_MODEL_SUBSET_H
#define REHEARSE_MODEL_SUBSET_H

#include "base/scratch.h"
#include "rehearse/log.h"

// Arrays as in rh_log, in scratch. The caller may change what a function here has put there.
typedef struct rh_subset {
    const rh_log *log; // borrowed: the other log
    double *obs, *act, *reward;
    double *time; // NULL if the log has none
    int32_t *from, *to;
    uint8_t *flag, *start;
    int64_t *first;
    int32_t *row;                // the new row of a state, -1 before it has one
    int64_t n, nstate, nepisode; // so far
    rh_scratch scratch;
} rh_subset;

// Make room for so many. False: no memory. Free with rh_scratch__clear(&subset->scratch).
bool rh_subset__init(rh_subset *subset, const rh_log *log, int64_t nstate, int64_t nstep,
                     int64_t nepisode);

// The new row of a state; RH_UNKNOWN stays unknown.
int32_t rh_subset__state(rh_subset *subset, int32_t row);

// Begin an episode with the next step.
void rh_subset__begin(rh_subset *subset, bool start);

// Add step i of the log, with its new rows.
void rh_subset__step(rh_subset *subset, int64_t i, int32_t from, int32_t to, unsigned flag);

// The log of what was added; names, units, labels and reading notes are unchanged. Owned: *out.
rh_status rh_subset__copy(rh_log **out, rh_subset *subset, rh_error *err);

#endif
