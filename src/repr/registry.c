// registry.c - the kinds of representations, one line each, in alphabetical order.

#include "base/base_internal.h"
#include "repr_internal.h"

RH_KIND__REGISTRY(repr, "representation", &rh_repr_laplacian, &rh_repr_random, &rh_repr_raw);
