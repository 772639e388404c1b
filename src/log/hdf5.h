// hdf5.h - HDF5 files: hides the helper program that uses libhdf5 from the rest of the module.

#ifndef REHEARSE_LOG_HDF5_H
#define REHEARSE_LOG_HDF5_H

#include "arrays.h"
#include "hdf5_wire.h"

// ---------------------------------------------------------------------------- reading

typedef struct rh_hdf5 rh_hdf5;

rh_status rh_hdf5__open(rh_hdf5 **out, const char *path, rh_error *err);
void rh_hdf5__close(rh_hdf5 *file); //  NULL is allowed

// Whether reading has failed in a way that not every function reports: the helper ended.
rh_status rh_hdf5__fault(const rh_hdf5 *file, rh_error *err);

const char *rh_hdf5__path(const rh_hdf5 *file);

// The kind of `name`, "data/episode_0".
rh_hdf5__type_kind rh_hdf5__kind(const rh_hdf5 *file, const char *name);

// The names in a group ("/" is the root), sorted, at most `most`. Owned: *name, one block with
// the array and the texts, free with rh_free().
rh_status rh_hdf5__names(const rh_hdf5 *file, const char *group, int64_t most, char ***name,
                         int64_t *n, rh_error *err);

// Open a dataset, close it with rh_array__clear(). One without numbers has numeric = false.
rh_status rh_hdf5__array(rh_array *array, rh_hdf5 *file, const char *name, rh_error *err);

// The same, but fail if it does not hold numbers.
rh_status rh_hdf5__numbers(rh_array *array, rh_hdf5 *file, const char *name, rh_error *err);

// A number from an attribute of `object` or a dataset of one number; false if there is none.
bool rh_hdf5__number_attribute(const rh_hdf5 *file, const char *object, const char *name,
                               double *x);
bool rh_hdf5__scalar(rh_hdf5 *file, const char *name, double *x);

// A text attribute of `object`, NULL if there is none. Owned: *text, free with rh_free().
rh_status rh_hdf5__text_attribute(const rh_hdf5 *file, const char *object, const char *name,
                                  char **text, rh_error *err);

// ---------------------------------------------------------------------------- which layout

// Read an HDF5 file with the layout that opt names, else the one detected.
rh_status rh_hdf5__read(rh_log **out, const char *path, const rh_log_options *opt,
                        rh_error *err);

// Whether a file begins like HDF5, perhaps after a user block.
bool rh_hdf5__probe(const char *path, const unsigned char *head, size_t n);

// Readers of the layouts, for an open file. metadata.json is looked for beside path.
rh_status rh_minari__read(rh_log **out, rh_hdf5 *file, const rh_log_options *opt,
                          rh_error *err);
rh_status rh_d4rl__read(rh_log **out, rh_hdf5 *file, const rh_log_options *opt, rh_error *err);
rh_status rh_d3rlpy__read(rh_log **out, rh_hdf5 *file, const rh_log_options *opt,
                          rh_error *err);

// Read a file of arrays side by side; flat->array and the path are filled in.
rh_status rh_hdf5__read_flat(rh_log **out, rh_hdf5 *file, rh_flat *flat,
                             const rh_log_options *opt, rh_error *err);

// ---------------------------------------------------------------------------- writing

typedef struct rh_hdf5__out rh_hdf5__out;

// Create a file at `temporary`, the temporary name of `path`. Owned: *out, free with
// rh_hdf5__end(), which reports whether everything was written. Borrowed: path.
rh_status rh_hdf5__create(rh_hdf5__out **out, const char *temporary, const char *path,
                          rh_error *err);
rh_status rh_hdf5__end(rh_hdf5__out *out, rh_error *err);

// After a failure these do nothing; rh_hdf5__end() reports it.
void rh_hdf5__make_group(rh_hdf5__out *out, const char *name);
void rh_hdf5__put_number(rh_hdf5__out *out, const char *object, const char *name, int64_t x);
// An attribute; text NULL: memory ran out.
void rh_hdf5__put_text(rh_hdf5__out *out, const char *object, const char *name,
                       const char *text);

// A dataset of nrow rows of ncol numbers (0: one dimension). row() writes row i to x.
typedef struct rh_hdf5__rows {
    const char *name; // "episode_0/rewards"
    rh_hdf5__type type;
    int64_t nrow;
    int ncol;
    void (*row)(const void *self, int64_t i, double *x);
    const void *self;
} rh_hdf5__rows;

void rh_hdf5__put_rows(rh_hdf5__out *out, const rh_hdf5__rows *rows);

#endif
