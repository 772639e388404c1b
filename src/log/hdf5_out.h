// hdf5_out.h - writes HDF5 files, through the helper program rehearse-hdf5. Model includes this
// header too: model files are HDF5.

#ifndef REHEARSE_LOG_HDF5_OUT_H
#define REHEARSE_LOG_HDF5_OUT_H

#include "hdf5_place.h"

typedef struct rh_hdf5__out rh_hdf5__out;

// Create a file at `temporary`, the temporary name of `path`. With a user block (512, 1024, ...
// bytes before the HDF5 file; 0: none) it has the format of HDF5 1.8, whose metadata have
// checksums; otherwise the oldest one. Owned: *out, free with rh_hdf5__end(), which reports
// whether everything was written. Borrowed: path. A function that fails may report what failed
// before.
rh_status rh_hdf5__create(rh_hdf5__out **out, const char *temporary, const char *path,
                          int64_t userblock, rh_error *err);
rh_status rh_hdf5__end(rh_hdf5__out *out, rh_error *err);

// Give up. NULL is allowed.
void rh_hdf5__abandon(rh_hdf5__out *out);

// A dataset of n elements x: of one dimension, or a single element (rank 0, n = 1). Texts have
// `size` bytes each. Its groups are created as needed.
rh_status rh_hdf5__put(rh_hdf5__out *out, const char *name, rh_hdf5__stored stored, int rank,
                       int64_t n, int64_t size, const void *x, rh_error *err);

#endif
