// hdf5.h - HDF5 files: the only place that knows libhdf5's datasets, types and ids.

#ifndef REHEARSE_LOG_HDF5_H
#define REHEARSE_LOG_HDF5_H

#include "arrays.h"

// libhdf5 is used by one thread at a time, and does not print: from enter to leave.
typedef struct rh_hdf5__quiet {
    void *print, *data; // how it printed before
} rh_hdf5__quiet;

void rh_hdf5__enter(rh_hdf5__quiet *quiet);
void rh_hdf5__leave(const rh_hdf5__quiet *quiet);

// ---------------------------------------------------------------------------- reading

typedef struct rh_hdf5 rh_hdf5;

// Open a file to read. Owned: *out, free with rh_hdf5__close().
rh_status rh_hdf5__open(rh_hdf5 **out, const char *path, rh_error *err);
void rh_hdf5__close(rh_hdf5 *file); // NULL is allowed
const char *rh_hdf5__path(const rh_hdf5 *file);

typedef enum rh_hdf5__type_kind {
    RH_HDF5_NOTHING,
    RH_HDF5_GROUP,
    RH_HDF5_DATASET,
    RH_HDF5_OTHER
} rh_hdf5__type_kind;

// What `name` is, "data/episode_0".
rh_hdf5__type_kind rh_hdf5__kind(const rh_hdf5 *file, const char *name);

// The names in a group ("/" is the root), by letter, at most `most` of them. Owned: *name, one
// block that holds the array and the texts, free with rh_free().
rh_status rh_hdf5__names(const rh_hdf5 *file, const char *group, int64_t most, char ***name,
                         int64_t *n, rh_error *err);

// Open a dataset as an array, to be ended with rh_array__clear(). What does not hold numbers is
// opened too: numeric says so.
rh_status rh_hdf5__array(rh_array *array, rh_hdf5 *file, const char *name, rh_error *err);

// The same, refused when it does not hold numbers.
rh_status rh_hdf5__numbers(rh_array *array, rh_hdf5 *file, const char *name, rh_error *err);

// A number in an attribute of `object`, or in a dataset that is one number; false when there is
// none.
bool rh_hdf5__number_attribute(const rh_hdf5 *file, const char *object, const char *name,
                               double *x);
bool rh_hdf5__scalar(rh_hdf5 *file, const char *name, double *x);

// A text in an attribute of `object`. *text is NULL when there is none.
// Owned: *text, free with rh_free().
rh_status rh_hdf5__text_attribute(const rh_hdf5 *file, const char *object, const char *name,
                                  char **text, rh_error *err);

// ---------------------------------------------------------------------------- which layout

// Read an HDF5 file of whichever layout it is, or the one that opt names.
rh_status rh_hdf5__read(rh_log **out, const char *path, const rh_log_options *opt,
                        rh_error *err);

// Whether a file begins as HDF5 does, maybe after a block of the user's.
bool rh_hdf5__probe(const char *path, const unsigned char *head, size_t n);

// The layouts. Each reads an open file; metadata.json is looked for beside path.
rh_status rh_minari__read(rh_log **out, rh_hdf5 *file, const rh_log_options *opt,
                          rh_error *err);
rh_status rh_d4rl__read(rh_log **out, rh_hdf5 *file, const rh_log_options *opt, rh_error *err);
rh_status rh_d3rlpy__read(rh_log **out, rh_hdf5 *file, const rh_log_options *opt,
                          rh_error *err);

// Every dataset of a flat file as an array. Owned: *array, each to be cleared, (n).
rh_status rh_hdf5__arrays(rh_array **array, int *n, rh_hdf5 *file, rh_error *err);

// ---------------------------------------------------------------------------- writing

typedef enum rh_hdf5__type { RH_HDF5_DOUBLE, RH_HDF5_INT64, RH_HDF5_BOOL } rh_hdf5__type;

typedef struct rh_hdf5__out rh_hdf5__out;

// Make a file at a path that is a temporary of `path`. Owned: *out, free with
// rh_hdf5__end(), which says whether all was written.
rh_status rh_hdf5__create(rh_hdf5__out **out, const char *temporary, const char *path,
                          rh_error *err);
rh_status rh_hdf5__end(rh_hdf5__out *out, rh_error *err);

rh_status rh_hdf5__make_group(rh_hdf5__out *out, const char *name, rh_error *err);
rh_status rh_hdf5__put_number(rh_hdf5__out *out, const char *object, const char *name, double x,
                              rh_error *err); // a whole number, kept as one
rh_status rh_hdf5__put_text(rh_hdf5__out *out, const char *object, const char *name,
                            const char *text, rh_error *err);

// A dataset of nrow rows of ncol numbers (0: in one dimension). Rows come from row(), which
// writes row i as numbers to x.
typedef struct rh_hdf5__rows {
    const char *name; // "episode_0/rewards"
    rh_hdf5__type type;
    int64_t nrow;
    int ncol;
    void (*row)(const void *self, int64_t i, double *x);
    const void *self;
} rh_hdf5__rows;

rh_status rh_hdf5__put_rows(rh_hdf5__out *out, const rh_hdf5__rows *rows, rh_error *err);

#endif
