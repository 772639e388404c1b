// hdf5_sample.h - small HDF5 files for tests, written with the library's own writer.

#ifndef TESTS_LOG_HDF5_SAMPLE_H
#define TESTS_LOG_HDF5_SAMPLE_H

#include "base/base_internal.h"
#include "log/hdf5.h"
#include "log/sample.h"

typedef struct column {
    const char *name; // NULL ends a list
    int64_t nrow;
    int ncol;
    rh_hdf5__type type;
    const double *x; // NULL: 0, 1, 2, ...
} column;

static inline void column_row(const void *self, int64_t i, double *x)
{
    const column *c = self;
    int n = c->ncol ? c->ncol : 1;
    for (int k = 0; k < n; k++)
        x[k] = c->x ? c->x[i * n + k] : (double)(i * n + k);
}

// Make a file of groups (NULL, or ending with NULL) and datasets.
static inline void make_hdf5(const char *path, const char *const *group, const column *c)
{
    rh_hdf5__out *out = NULL;
    rh_error err = {""};
    assert_int_equal(rh_hdf5__create(&out, path, path, &err), RH_OK);
    for (int i = 0; group && group[i]; i++)
        rh_hdf5__make_group(out, group[i]);
    for (; c->name; c++) {
        rh_hdf5__rows rows = {c->name, c->type, c->nrow, c->ncol, column_row, c};
        rh_hdf5__put_rows(out, &rows);
    }
    if (rh_hdf5__end(out, &err))
        fail_msg("%s", err.text);
}

// The message for a file whose columns are `good` except one, which is replaced or, with a
// negative number of rows, left out.
static inline void refuse_changed(const char *const *group, const column *good,
                                  const column *other, const char *words)
{
    column all[32];
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("bad.h5"));
    int n = 0;
    for (const column *c = good; c->name; c++)
        if (strcmp(c->name, other->name) != 0)
            all[n++] = *c;
    if (other->nrow >= 0)
        all[n++] = *other;
    all[n] = (column){NULL, 0, 0, RH_HDF5_DOUBLE, NULL};
    make_hdf5(path, group, all);
    refuses(path, NULL, words);
    remove(path);
}

// A truncated file is refused, and nothing leaks or is printed.
static inline void refuse_all_cuts(const char *sample, const char *name)
{
    size_t n = 0;
    unsigned char *bytes = slurp(sample, &n);
    const char *path = in_folder(name);
    char keep[300];
    snprintf(keep, sizeof keep, "%s", path);
    int64_t live = rh_base__alloc_live();
    for (size_t cut = 8; cut < n; cut += n / 150 + 1) {
        rh_error err = {""};
        rh_log *log = NULL;
        spill(keep, bytes, cut);
        assert_int_not_equal(rh_log_read(&log, keep, NULL, &err), RH_OK);
        assert_null(log);
        assert_non_null(strstr(err.text, name));
        assert_int_equal(rh_base__alloc_live(), live);
    }
    remove(keep);
    free(bytes);
}

// Every allocation fails once.
static inline void fail_each_allocation(const char *path)
{
    rh_error err;
    rh_log *log = NULL;
    int64_t live = rh_base__alloc_live();
    for (int64_t n = 1; !log; n++) {
        rh_base__alloc_fail_at(n);
        rh_status rc = rh_log_read(&log, path, NULL, &err);
        rh_base__alloc_fail_at(0);
        if (!log)
            assert_int_equal(rc, RH_ENOMEM);
        assert_true(n < 5000);
        if (!log)
            assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_log_destroy(log);
    assert_int_equal(rh_base__alloc_live(), live);
}

#endif
