// store.h - named arrays and texts in a model file, by group.
//
// A store is open for writing or for reading. Names are paths below the root, "knn/0/index";
// groups are created as needed. Messages name the file.

#ifndef MODEL_STORE_H
#define MODEL_STORE_H

#include "log/hdf5_place.h"
#include "rehearse/contract.h"

typedef struct rh_store rh_store;

typedef enum rh_store__type {
    RH_STORE_U8,
    RH_STORE_I32,
    RH_STORE_I64,
    RH_STORE_F32,
    RH_STORE_F64
} rh_store__type;

// Owned: *out. End writing with commit or discard, reading with close.
rh_status rh_store__create(rh_store **out, const char *path, rh_error *err);
rh_status rh_store__commit(rh_store *store, rh_error *err);
void rh_store__discard(rh_store *store); // NULL is allowed
rh_status rh_store__open(rh_store **out, const char *path, rh_error *err);
void rh_store__close(rh_store *store); // NULL is allowed

// Where an array is; fails only if nothing more can be read.
typedef rh_status (*rh_store__find)(void *finder, const char *name, rh_hdf5__place *place,
                                    rh_error *err);

// Open a file of `size` bytes of which `find` says where its arrays are. fd is closed with the
// store, or at once after a failure.
rh_status rh_store__open_with(rh_store **out, const char *path, int fd, int64_t size,
                              rh_store__find find, void *finder, rh_error *err);
// Whether a question of rh_store__has() could not be answered.
rh_status rh_store__fault(const rh_store *store, rh_error *err);
const char *rh_store__path(const rh_store *store);

// Set a prefix of all names from here on, "members/0/", at most 60 characters; "": none.
void rh_store__within(rh_store *store, const char *prefix);

// Arrays of one dimension. n may be 0.
rh_status rh_store__put(rh_store *store, const char *name, rh_store__type type, const void *x,
                        int64_t n, rh_error *err);
rh_status rh_store__put_text(rh_store *store, const char *name, const char *text,
                             rh_error *err);
rh_status rh_store__put_texts(rh_store *store, const char *name, const char *const *text, int n,
                              rh_error *err);
rh_status rh_store__put_number(rh_store *store, const char *name, double x, rh_error *err);
rh_status rh_store__put_state(rh_store *store, const char *name, const rh_state *state,
                              rh_error *err);

bool rh_store__has(const rh_store *store, const char *name);

// Read into memory from rh_alloc(), free with rh_free(). Another type in the file is refused;
// so is another number of elements than n, where n is not -1. *got: how many. Nullable: got.
rh_status rh_store__get(rh_store *store, const char *name, rh_store__type type, int64_t n,
                        void **x, int64_t *got, rh_error *err);
rh_status rh_store__get_text(rh_store *store, const char *name, char **text, rh_error *err);
// The number of texts, and all of them in one block with the array.
rh_status rh_store__count_texts(rh_store *store, const char *name, int *n, rh_error *err);
rh_status rh_store__get_texts(rh_store *store, const char *name, int n, char ***text,
                              rh_error *err);
rh_status rh_store__get_number(rh_store *store, const char *name, double *x, rh_error *err);
// lo <= x <= hi and finite, or refused.
rh_status rh_store__get_within(rh_store *store, const char *name, double lo, double hi,
                               double *x, rh_error *err);
rh_status rh_store__get_state(rh_store *store, const char *name, rh_state **state,
                              rh_error *err);

// RH_EFORMAT with "<file>: <name>: " before the message.
rh_status rh_store__refuse(const rh_store *store, const char *name, rh_error *err,
                           const char *format, ...) RH_PRINTF(4, 5);

#endif
