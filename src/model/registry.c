// registry.c - the kinds of models by name. A new kind is a file and a line here.

#include "base/base_internal.h"
#include "model_internal.h"

RH_KIND__REGISTRY(model, "model", &rh_model_knn, &rh_model_nn, &rh_model_linear);
