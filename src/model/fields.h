// fields.h - the fields of results of models.

#ifndef REHEARSE_MODEL_FIELDS_H
#define REHEARSE_MODEL_FIELDS_H

#include "describe/field.h"
#include "rehearse/model.h"

extern const rh_fields rh_model__spread;      // rh_fidelity_spread
extern const rh_fields rh_model__fidelity;    // rh_fidelity
extern const rh_fields rh_model__experiments; // rh_experiments
extern const rh_fields rh_model__beside;      // rh_fidelity_beside
extern const rh_fields rh_model__trial;       // rh_model_trial
extern const rh_fields rh_model__comparison;  // rh_model_comparison

#endif
