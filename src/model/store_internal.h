// store_internal.h - shared by writing and reading a model file: locked and silent libhdf5.

#ifndef MODEL_STORE_INTERNAL_H
#define MODEL_STORE_INTERNAL_H

#include "base/file.h"
#include "base/text.h"
#include "store.h"

#include <hdf5.h>

#define RH_STORE_PREFIX 64 // bytes of a prefix
#define RH_STORE_NAME 256  // bytes of a name with its prefix
#define RH_STORE_PART 128  // bytes of the name of an array in a state

struct rh_store {
    char *path; // as the caller wrote it, owned
    char prefix[RH_STORE_PREFIX];
    rh_file *file; // owned; NULL when it is read
    hid_t id;
    int64_t size; // bytes of the file that is read
};

// The error printer of libhdf5 before.
typedef struct rh_store__quiet {
    H5E_auto2_t print;
    void *data;
} rh_store__quiet;

void rh_store__enter(rh_store__quiet *quiet);
void rh_store__leave(const rh_store__quiet *quiet);

// HDF5 types of numbers in the file and in memory.
hid_t rh_store__file_type(rh_store__type type);
hid_t rh_store__memory_type(rh_store__type type);

// The name with its prefix.
void rh_store__name(const rh_store *store, const char *name, char full[RH_STORE_NAME]);

rh_status rh_store__no_memory(const rh_store *store, const char *name, rh_error *err);

#endif
