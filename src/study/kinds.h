// kinds.h - the kinds of model that a confirmation runs in.

#ifndef REHEARSE_STUDY_KINDS_H
#define REHEARSE_STUDY_KINDS_H

#include "base/text.h"
#include "rehearse/model.h"

#define RH_KINDS__MOST 4                 // kinds, at most
#define RH_KINDS__NPARAM RH_MODEL_NPARAM // parameters of a model or a representation, at most

// What a plan asks for: one of the first two, or the sum of the named kinds.
enum {
    RH_KINDS__AUTO = 0,   // the credible kinds of the comparison that chose the model
    RH_KINDS__CHOSEN = 1, // only the kind that the search uses
    RH_KINDS__FIRST = 2   // the first named kind; the next are 4, 8 and 16
};

// A kind of model: all that is needed to fit it to the log.
typedef struct rh_kinds__kind {
    char label[32]; // "stitching", "carrying", "network", "linear"
    const rh_model_type *type;
    double param[RH_KINDS__NPARAM];      // (nparam of the type)
    const rh_repr_type *repr;            // NULL: the representation of the study's model
    double repr_param[RH_KINDS__NPARAM]; // (nparam of repr)
} rh_kinds__kind;

// The kinds of a confirmation. The first is that of the study's model.
typedef struct rh_kinds {
    rh_kinds__kind kind[RH_KINDS__MOST];
    int n;
} rh_kinds;

// The label of a model of this type with these parameters (nparam).
const char *rh_kinds__label(const rh_model_type *type, const double *param);

// The named kinds: i-th name, NULL after the last.
const char *rh_kinds__name(int i);

// Begin with the kind of a model; add a kind. Nullable: repr, repr_param, err. A kind whose
// label is there already is left out.
rh_status rh_kinds__begin(rh_kinds *kinds, const rh_model *model, rh_error *err);
rh_status rh_kinds__add(rh_kinds *kinds, const rh_model_type *type, const double *param,
                        const rh_repr_type *repr, const double *repr_param, rh_error *err);

// Add the kinds that are wanted. A named kind has the parameters of the best of its kind in the
// comparison that chose the model; without one, those of the model where it has the same type,
// otherwise initial ones.
rh_status rh_kinds__add_wanted(rh_kinds *kinds, int wanted, const rh_model *model,
                               rh_error *err);

#endif
