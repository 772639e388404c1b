// pack.h - a model as bytes, to send it to another process. The one header of model that study
// may include.

#ifndef REHEARSE_MODEL_PACK_H
#define REHEARSE_MODEL_PACK_H

#include "rehearse/model.h"

// The bytes of the model's file, and back. Owned: *bytes, free with rh_free(); *out, free with
// rh_model_destroy(). Nullable: err. On failure nothing is changed.
rh_status rh_model__pack(const rh_model *model, unsigned char **bytes, size_t *n,
                         rh_error *err);
rh_status rh_model__unpack(rh_model **out, const unsigned char *bytes, size_t n, rh_error *err);

#endif
