// inspect_local.h - steps and what state and action do not explain linearly of their outcomes,
// for tests that compare steps with similar ones.

#ifndef REHEARSE_LOG_INSPECT_LOCAL_H
#define REHEARSE_LOG_INSPECT_LOCAL_H

#include "inspect.h"

#define RH_INSPECT__SEGMENTS 16 // of equal length; a step is not compared with its own segment
#define RH_INSPECT__FEWEST 400  // steps

// Begin with zeros, past and deep. Outcomes are the changes of the sensors that vary and the
// reward, minus their ridge regression on state and action, by action if these are discrete:
// what remains varies less between neighbours.
typedef struct rh_inspect__local {
    bool past; // take only steps that follow another one
    bool deep; // and make that one, its state and action, part of the state
    const rh_log *log;
    rh_inspect__space space;
    int nx, ny;                    // numbers of a state, and outcomes
    int64_t n, nquery;             // steps, and queries among them; n = 0: too few
    int *action;                   // 0 if continuous, owned              (n)
    int64_t *at;                   // transitions, owned                  (n)
    float *x;                      // states and continuous actions, owned (n x nx)
    double *y;                     // outcomes, owned                     (n x ny)
    double centre[RH_MAX_OBS + 1]; // median of the outcomes before the regression  (ny)
    double spread[RH_MAX_OBS + 1]; // and absolute deviation from it  (ny)
} rh_inspect__local;

// Evenly spaced steps. False if memory runs out. Clear it afterwards, in any case.
bool rh_inspect__local_init(rh_inspect__local *l, const rh_log *log,
                            const rh_log_report *report);
void rh_inspect__local_clear(rh_inspect__local *l);

int rh_inspect__local_segment(const rh_inspect__local *l, int64_t i);
int64_t rh_inspect__local_begin(const rh_inspect__local *l, int segment); // its first step
int64_t rh_inspect__local_query(const rh_inspect__local *l, int64_t i);   // a step

#endif
