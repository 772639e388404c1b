// agent.h - what other modules of the library use of agent beside its public header.

#ifndef RH_AGENT_H
#define RH_AGENT_H

#include "rehearse/agent.h"

// How well the clone of a logged controller imitates it, on episodes that it was not fitted to.
typedef struct rh_clone__quality {
    int64_t nheld;    // held-out steps; 0: there was no log
    double agreement; // share of them with the logged action: the same, or within a twentieth
                      // of the range in every number
    double loss;      // mean of -log p, or of the squared error in half ranges
    double spread[RH_MAX_ACT]; // root mean square error of each number, in half ranges
} rh_clone__quality;

// The quality of agent `clone` with hyperparameters hp. Nullable: hp (initial values), err.
rh_status rh_clone__measure(rh_clone__quality *quality, const rh_task *task, const double *hp,
                            rh_error *err);

#endif
