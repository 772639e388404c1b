// seal.h - the first bytes of a model file: what it is, how long, and a checksum of the rest.

#ifndef MODEL_SEAL_H
#define MODEL_SEAL_H

#include "rehearse/base.h"

#define RH_SEAL_SIZE 512  // bytes of it: a user block of HDF5
#define RH_SEAL_VERSION 1 // of the model file

// Write the seal into the file at `path`, which has room for it. `name` is for messages.
rh_status rh_seal__write(const char *path, const char *name, rh_error *err);

// Whether the file is as it was sealed; *size: its bytes. Nullable: err.
rh_status rh_seal__check(const char *path, int64_t *size, rh_error *err);

#endif
