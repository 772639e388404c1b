// agent.h - what other modules of the library use of agent beside its public header.

#ifndef RH_AGENT_H
#define RH_AGENT_H

#include "base/text.h"
#include "rehearse/agent.h"

// How well the clone of a logged controller imitates it, on episodes that it was not fitted to.
typedef struct rh_clone__quality {
    int64_t nheld;    // held-out steps; 0: there was no log
    double agreement; // share of them with the logged action: the same, or within a twentieth
                      // of the range in every number
    double loss;      // mean of -log p, or of the squared error in half ranges
    double spread[RH_MAX_ACT]; // root mean square error of each number, in half ranges
    double constant;           // the agreement of the best constant action; continuous: NAN
    double sd[RH_MAX_ACT];     // of each logged number, which is the best constant's error
} rh_clone__quality;

// The quality of agent `clone` with hyperparameters hp. Nullable: hp (initial values), err.
rh_status rh_clone__measure(rh_clone__quality *quality, const rh_task *task, const double *hp,
                            rh_error *err);

// An agent as constants of a C file, for the code in deploy/device/*.c.in.
typedef struct rh_agent__device {
    const char *code[4]; // names of the pieces of code that use them, in order; ends with NULL
    bool learns;
    int64_t state;     // bytes of what it remembers, as a multiple of 8
    int64_t nweight;   // weights that it learns
    rh_text sizes;     // definitions of macros and types
    rh_text tables;    // constant arrays
    int64_t constants; // bytes of these
} rh_agent__device;

// frozen: it learns nothing any more. Agents other than esarsa are always frozen. Clear it also
// after a failure. Nullable: err.
rh_status rh_agent__device_make(rh_agent__device *device, const rh_agent *agent,
                                const rh_task *task, bool frozen, rh_error *err);
void rh_agent__device_clear(rh_agent__device *device);

// Bytes that esarsa remembers on a device with other tile codings: `tile` as in the parameter
// table. Without memory for it: -1.
int64_t rh_agent__device_room(const rh_task *task, const double *hp);

#endif
