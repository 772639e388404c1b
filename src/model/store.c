// store.c - named arrays and texts in a model file, by group.
//
// 1. The finished file is sealed (seal.c). The seal tells damage, not who wrote the file, so
//    libhdf5 never parses a model file in this process: the helper program of hdf5_place.h says
//    where the arrays are, and store_read.c checks that and reads the bytes. One dimension, the
//    expected type and length, contiguous, and held by the file; no memory is allocated for an
//    impossible size. The same helper writes the file (hdf5_out.h).
// 2. Arrays are contiguous and little-endian: 200 MB are checked and read in 0.23 s. Deflate
//    would shrink them to 134 MB and take 0.6 s.
// 3. Texts have one length, padded with zeros: libhdf5 keeps texts of different lengths in a
//    heap in which no size can be checked.
// 4. Links to other files and external arrays are refused: a model is one file.

#include "base/base_internal.h"
#include "base/file.h"
#include "seal.h"
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- open and close

static rh_store *begin(const char *path)
{
    rh_store *store = rh_alloc(1, sizeof *store);
    size_t size = strlen(path) + 1;
    if (!store)
        return NULL;
    store->fd = -1;
    store->path = rh_alloc(size, 1);
    if (!store->path) {
        rh_free(store);
        return NULL;
    }
    memcpy(store->path, path, size);
    return store;
}

rh_status rh_store__create(rh_store **out, const char *path, rh_error *err)
{
    rh_store *store = begin(path);
    if (!store)
        return rh_fail(err, RH_ENOMEM, "%s: cannot write: out of memory",
                       rh_base__path_tail(path));
    rh_status rc = rh_file__create(&store->file, path, err);
    if (!rc)
        rc = rh_hdf5__create(&store->out, rh_file__temporary(store->file), store->path,
                             RH_SEAL_SIZE, err);
    if (rc)
        rh_store__discard(store);
    else
        *out = store;
    return rc;
}

static void forget(rh_store *store)
{
    rh_free(store->path);
    rh_free(store);
}

rh_status rh_store__commit(rh_store *store, rh_error *err)
{
    rh_status rc = rh_hdf5__end(store->out, err);
    if (!rc)
        rc = rh_seal__write(rh_file__temporary(store->file), store->path, err);
    if (rc)
        rh_file__discard(store->file);
    else
        rc = rh_file__commit(store->file, err);
    forget(store);
    return rc;
}

void rh_store__discard(rh_store *store)
{
    if (!store)
        return;
    rh_hdf5__abandon(store->out);
    rh_file__discard(store->file);
    forget(store);
}

rh_status rh_store__open_with(rh_store **out, const char *path, int fd, int64_t size,
                              rh_store__find find, void *finder, rh_error *err)
{
    rh_store *store = begin(path);
    if (!store) {
        close(fd);
        return rh_base__no_memory(err, rh_base__path_tail(path));
    }
    store->fd = fd;
    store->size = size;
    store->find = find;
    store->finder = finder;
    *out = store;
    return RH_OK;
}

static rh_status ask_helper(void *finder, const char *name, rh_hdf5__place *place,
                            rh_error *err)
{
    return rh_hdf5__find(finder, name, place, err);
}

rh_status rh_store__open(rh_store **out, const char *path, rh_error *err)
{
    rh_hdf5 *source = NULL;
    rh_store *store = NULL;
    int64_t size = 0;
    rh_status rc = rh_seal__check(path, &size, err);
    if (rc)
        return rc;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                       strerror(errno));
    rc = rh_store__open_with(&store, path, fd, size, ask_helper, NULL, err);
    if (rc)
        return rc;
    rc = rh_hdf5__open(&source, path, err);
    if (rc) {
        rh_store__close(store);
        return rc;
    }
    store->source = store->finder = source;
    *out = store;
    return RH_OK;
}

void rh_store__close(rh_store *store)
{
    if (!store)
        return;
    rh_hdf5__close(store->source);
    if (store->fd >= 0)
        close(store->fd);
    forget(store);
}

const char *rh_store__path(const rh_store *store)
{
    return store->path;
}

void rh_store__within(rh_store *store, const char *prefix)
{
    snprintf(store->prefix, sizeof store->prefix, "%s", prefix);
}

void rh_store__name(const rh_store *store, const char *name, char full[RH_STORE_NAME])
{
    snprintf(full, RH_STORE_NAME, "%s%s", store->prefix, name);
}

rh_status rh_store__refuse(const rh_store *store, const char *name, rh_error *err,
                           const char *format, ...)
{
    char full[RH_STORE_NAME], text[sizeof err->text], shown[sizeof err->text];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    rh_store__name(store, name, full);
    return rh_fail(err, RH_EFORMAT, "%s: %s: %s", rh_base__path_tail(store->path), full,
                   rh_text__printable(text, shown, sizeof shown)); // names of the file in it
}

rh_status rh_store__no_memory(const rh_store *store, const char *name, rh_error *err)
{
    rh_store__refuse(store, name, err, "out of memory");
    return RH_ENOMEM;
}

// ---------------------------------------------------------------------------- writing

rh_status rh_store__put(rh_store *store, const char *name, rh_store__type type, const void *x,
                        int64_t n, rh_error *err)
{
    static const rh_hdf5__stored stored[] = {
        [RH_STORE_U8] = RH_HDF5_U8,   [RH_STORE_I32] = RH_HDF5_I32,
        [RH_STORE_I64] = RH_HDF5_I64, [RH_STORE_F32] = RH_HDF5_F32,
        [RH_STORE_F64] = RH_HDF5_F64,
    };
    char full[RH_STORE_NAME];
    rh_store__name(store, name, full);
    return rh_hdf5__put(store->out, full, stored[type], 1, n, 0, x, err);
}

rh_status rh_store__put_number(rh_store *store, const char *name, double x, rh_error *err)
{
    char full[RH_STORE_NAME];
    rh_store__name(store, name, full);
    return rh_hdf5__put(store->out, full, RH_HDF5_F64, 0, 1, 0, &x, err);
}

// Texts of `size` bytes each, one after another in x.
static rh_status put_padded(rh_store *store, const char *name, const char *x, size_t size,
                            int rank, int n, rh_error *err)
{
    char full[RH_STORE_NAME];
    rh_store__name(store, name, full);
    return rh_hdf5__put(store->out, full, RH_HDF5_TEXT, rank, n, (int64_t)size, x, err);
}

rh_status rh_store__put_text(rh_store *store, const char *name, const char *text, rh_error *err)
{
    size_t size = strlen(text);
    return put_padded(store, name, text, size ? size : 1, 0, 1, err);
}

rh_status rh_store__put_texts(rh_store *store, const char *name, const char *const *text, int n,
                              rh_error *err)
{
    size_t size = 1;
    for (int i = 0; i < n; i++)
        size = strlen(text[i]) > size ? strlen(text[i]) : size;
    char *all = rh_alloc((size_t)n + 1, size);
    if (!all)
        return rh_store__no_memory(store, name, err);
    for (int i = 0; i < n; i++)
        memcpy(all + (size_t)i * size, text[i], strlen(text[i]));
    rh_status rc = put_padded(store, name, all, size, 1, n, err);
    rh_free(all);
    return rc;
}

// A state is a group: its label, the names of its arrays, and the arrays by number, because a
// name may hold characters that a path may not.
rh_status rh_store__put_state(rh_store *store, const char *name, const rh_state *state,
                              rh_error *err)
{
    char part[RH_STORE_PART];
    int n = rh_state_count(state);
    const char **names = rh_alloc((size_t)n + 1, sizeof *names);
    if (!names)
        return rh_store__no_memory(store, name, err);
    size_t length;
    for (int i = 0; i < n; i++)
        rh_state_at(state, i, &names[i], &length);
    snprintf(part, sizeof part, "%s/label", name);
    rh_status rc = rh_store__put_text(store, part, rh_state_label(state), err);
    snprintf(part, sizeof part, "%s/names", name);
    if (!rc)
        rc = rh_store__put_texts(store, part, names, n, err);
    for (int i = 0; i < n && !rc; i++) {
        const double *x = rh_state_at(state, i, &names[i], &length);
        snprintf(part, sizeof part, "%s/%d", name, i);
        rc = rh_store__put(store, part, RH_STORE_F64, x, (int64_t)length, err);
    }
    rh_free(names);
    return rc;
}
