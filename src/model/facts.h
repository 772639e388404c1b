// facts.h - what a log shows about its sensors, resets and limits: shared by facts.c,
// sensors.c, resets.c, limits.c and the model file.

#ifndef MODEL_FACTS_H
#define MODEL_FACTS_H

#include "model_internal.h"

// ---------------------------------------------------------------------------- steps

// The steps that show how the plant moves: whole transitions with s' that are not terminal.
// Sensors are scaled by their spread where they are compared.
typedef struct rh_facts__steps {
    const rh_log *log; // borrowed
    int32_t *at;       // owned: transitions, ascending                             (n)
    int64_t n;         //
    double *lo, *hi;   // owned, one block: least and most of each sensor           (nobs)
    double *mean;      //   over s and s'                                           (nobs)
    double *sd;        //                                                           (nobs)
} rh_facts__steps;

// s and s' of step j.
const double *rh_facts__from(const rh_facts__steps *steps, int64_t j);
const double *rh_facts__to(const rh_facts__steps *steps, int64_t j);

// The difference of two values of a sensor; the short way round if it wraps.
double rh_facts__moved(const rh_sensor *sensor, double from, double to);

// The value on the circle of a sensor that wraps; of others itself.
double rh_facts__wrapped(const rh_sensor *sensor, double x);

#define RH_FACTS__SAMPLE 65536 // values of a median, evenly spaced over the steps

// ---------------------------------------------------------------------------- resets.c

// Resets and where the steps would have led.
typedef struct rh_facts__resets {
    int64_t n;       //
    int32_t *at;     // owned: transitions, ascending                               (n)
    double *arrival; // owned                                                (n x nobs)
} rh_facts__resets;

rh_status rh_facts__find_resets(rh_facts__resets *out, const rh_facts__steps *steps,
                                const rh_sensor *sensor, rh_error *err);
void rh_facts__clear_resets(rh_facts__resets *resets);

// ---------------------------------------------------------------------------- sensors.c

// Set what resets are judged by: constant, wraps, pairs.
rh_status rh_facts__find_shapes(rh_sensor *sensor, const rh_facts__steps *steps, rh_error *err);

// Set walls. steps: without resets.
rh_status rh_facts__find_walls(rh_sensor *sensor, const rh_facts__steps *steps, rh_error *err);

// ---------------------------------------------------------------------------- exogenous.c

// Set noise and exogenous. steps: without resets.
rh_status rh_facts__find_exogenous(rh_sensor *sensor, const rh_facts__steps *steps,
                                   rh_error *err);

// ---------------------------------------------------------------------------- limits.c

// Terminal arrivals.
typedef struct rh_facts__ends {
    int64_t n;
    const double **arrival; // owned array, borrowed rows                           (n)
    double *reward;         // owned                                                (n)
} rh_facts__ends;

// Set the limits and counts of facts. steps: without resets. lo, hi: by hand, NAN: none.
// Nullable: lo and hi.
rh_status rh_facts__find_limits(rh_facts *facts, const rh_facts__steps *steps,
                                const rh_facts__ends *ends, const double *lo, const double *hi,
                                rh_error *err);

// ---------------------------------------------------------------------------- facts.c

// All of it. The log must have a whole transition. Nullable: lo and hi.
rh_status rh_facts__find(rh_facts **out, rh_facts__resets *resets, const rh_log *log,
                         bool search, const double *lo, const double *hi, rh_error *err);

// Facts of nobs sensors of which nothing is known, with nlimit zeroed limits. NULL: no memory.
rh_facts *rh_facts__create(int nobs, int nlimit);
rh_facts *rh_facts__copy(const rh_facts *facts); // NULL: no memory

// To a model file and back.
void rh_facts__write(const rh_facts *facts, rh_store *store);
rh_facts *rh_facts__read(rh_store *store, int nobs);

#endif
