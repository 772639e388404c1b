// fidelity.h - compares a fitted model with its log.

#ifndef MODEL_FIDELITY_H
#define MODEL_FIDELITY_H

#include "base/findings.h"
#include "rehearse/model.h"

// Owned: *out, free with rh_fidelity__destroy(). Nullable: err.
rh_status rh_fidelity__measure(rh_fidelity **out, const rh_model *model, uint64_t seed,
                               int nthread, const rh_watch *watch, rh_error *err);

// Only the imitation of the log's behaviour: returns, lengths and truncated episodes. *apart: 0
// if returns and lengths are distributed as in the log, 1 if all of one are above the log's or
// below. Owned: *out. Nullable: err.
rh_status rh_fidelity__imitate(rh_fidelity **out, double *apart, const rh_model *model,
                               uint64_t seed, const rh_watch *watch, rh_error *err);
void rh_fidelity__destroy(rh_fidelity *fidelity); // NULL is allowed

// Create an empty one: numbers are NAN. Owned: *out.
rh_status rh_fidelity__create(rh_fidelity **out, int nobs, int naction, rh_error *err);

#endif
