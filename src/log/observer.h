// observer.h - derived sensors and histories of observations, for logs and for plants.

#ifndef REHEARSE_LOG_OBSERVER_H
#define REHEARSE_LOG_OBSERVER_H

#include "rehearse/log.h"

#include "base/expression.h"
#include "log.h"

#define RH_DERIVE__MOST 64 // derived sensors

// ---------------------------------------------------------------------------- derived sensors

struct rh_derive {
    char *text;                              // owned: the list, cut into names and formulas
    const char *formula[RH_DERIVE__MOST];    // in text
    const char *name[RH_MAX_OBS];            // of all sensors; those derived are in text
    rh_expression compiled[RH_DERIVE__MOST]; // owned
    int nobs, n;                             // sensors, and derived ones
};

// list: "dT = T_in - T_out; p2 = p^2"; label: begins messages. Borrowed: name (nobs).
// Clear also after a failure.
rh_status rh_derive__init(rh_derive *d, const char *const *name, int nobs, const char *list,
                          const char *label, rh_error *err);
void rh_derive__clear(rh_derive *d);

// Add the derived sensors to obs (nobs + n); how many have no value. These are NAN.
int rh_derive__put(const rh_derive *d, double *obs);

// ---------------------------------------------------------------------------- histories

typedef struct rh_past {
    int depth;         // observations of a history
    int nobs;          // numbers of an observation
    int naction, nact; // discrete actions, or 0; numbers of an action
    int ncode;         // numbers of an action in a history
    int64_t n;         // steps of the episode so far
    double *first;     // owned: its first observation                         (nobs)
    double *ring;      // in first's block: the last steps  (depth - 1 x (nobs + ncode))
} rh_past;

rh_status rh_past__init(rh_past *p, int depth, int nobs, int naction, int nact,
                        const char *label, rh_error *err);
void rh_past__clear(rh_past *p);
int rh_past__width(const rh_past *p); // numbers of an observation with its history

void rh_past__begin(rh_past *p);                                      // an episode
void rh_past__push(rh_past *p, const double *obs, const double *act); // a step
void rh_past__show(const rh_past *p, const double *obs, double *to);  // obs, then the steps

#endif
