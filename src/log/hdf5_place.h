// hdf5_place.h - where the arrays of an HDF5 file are, as the helper program rehearse-hdf5
// says.
//
// The one header of this module that model may include: model files are HDF5 too, and the
// library itself never parses HDF5. It reads the bytes of an array in one piece by itself.

#ifndef REHEARSE_LOG_HDF5_PLACE_H
#define REHEARSE_LOG_HDF5_PLACE_H

#include "rehearse/base.h"

typedef struct rh_hdf5 rh_hdf5;

rh_status rh_hdf5__open(rh_hdf5 **out, const char *path, rh_error *err);
void rh_hdf5__close(rh_hdf5 *file); //  NULL is allowed

// Whether reading has failed in a way that not every function reports: the helper ended.
rh_status rh_hdf5__fault(const rh_hdf5 *file, rh_error *err);

typedef enum rh_hdf5__type_kind {
    RH_HDF5_NOTHING,
    RH_HDF5_GROUP,
    RH_HDF5_DATASET,
    RH_HDF5_OUTSIDE, // an external link, which is not followed
    RH_HDF5_OTHER
} rh_hdf5__type_kind;

// Elements in the file: numbers are little-endian, texts have one length.
typedef enum rh_hdf5__stored {
    RH_HDF5_U8,
    RH_HDF5_I32,
    RH_HDF5_I64,
    RH_HDF5_F32,
    RH_HDF5_F64,
    RH_HDF5_TEXT,
    RH_HDF5_NSTORED // something else
} rh_hdf5__stored;

typedef struct rh_hdf5__place {
    rh_hdf5__type_kind kind;
    bool plain;             // a dataset of one piece, with one dimension or a single element
    rh_hdf5__stored stored; //
    int rank;               // 0 or 1
    int64_t n, size;        // elements, and bytes of one
    int64_t offset;         // in the file; -1: its bytes are not there
} rh_hdf5__place;

// Find `name` by hard links. Whatever place says of a file may be wrong; only its ranges are
// checked. Fails if the helper ended.
rh_status rh_hdf5__find(const rh_hdf5 *file, const char *name, rh_hdf5__place *place,
                        rh_error *err);

#endif
