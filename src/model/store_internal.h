// store_internal.h - shared by writing and reading a model file.

#ifndef MODEL_STORE_INTERNAL_H
#define MODEL_STORE_INTERNAL_H

#include "base/file.h"
#include "base/text.h"
#include "log/hdf5_out.h"
#include "store.h"

#define RH_STORE_PREFIX 64 // bytes of a prefix
#define RH_STORE_NAME 256  // bytes of a name with its prefix
#define RH_STORE_PART 128  // bytes of the name of an array in a state

struct rh_store {
    char *path; // as the caller wrote it, owned
    char prefix[RH_STORE_PREFIX];
    rh_file *file;     // owned; NULL when it is read
    rh_hdf5__out *out; // owned, the same

    // when it is read: its bytes, and who says where arrays are
    int fd;
    int64_t size; // bytes of the file
    rh_store__find find;
    void *finder;
    rh_hdf5 *source; // owned, the usual finder; or NULL
};

// The name with its prefix.
void rh_store__name(const rh_store *store, const char *name, char full[RH_STORE_NAME]);

rh_status rh_store__no_memory(const rh_store *store, const char *name, rh_error *err);

#endif
