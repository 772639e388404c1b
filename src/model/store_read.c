// store_read.c - reads and checks the named arrays and texts of a model file.
//
// The seal proves that the file is intact, not who wrote it, and the helper that says where an
// array is may be controlled by the file's author. An array is read only if it is of the
// expected type and length and lies in this file; its values are checked by who asked for it.

#include "store_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MOST_TEXTS 10000

static size_t size_of(rh_store__type type)
{
    static const size_t size[] = {[RH_STORE_U8] = 1,
                                  [RH_STORE_I32] = 4,
                                  [RH_STORE_I64] = 8,
                                  [RH_STORE_F32] = 4,
                                  [RH_STORE_F64] = 8};
    return size[type];
}

static const char *name_of(rh_store__type type)
{
    static const char *const name[] = {[RH_STORE_U8] = "uint8",
                                       [RH_STORE_I32] = "int32",
                                       [RH_STORE_I64] = "int64",
                                       [RH_STORE_F32] = "float32",
                                       [RH_STORE_F64] = "float64"};
    return name[type];
}

// ---------------------------------------------------------------------------- finding

static rh_status find(const rh_store *store, const char *name, rh_hdf5__place *at,
                      rh_error *err)
{
    char full[RH_STORE_NAME];
    rh_store__name(store, name, full);
    return store->find(store->finder, full, at, err);
}

bool rh_store__has(const rh_store *store, const char *name)
{
    rh_hdf5__place at = {.kind = RH_HDF5_NOTHING};
    return find(store, name, &at, NULL) == RH_OK && at.kind != RH_HDF5_NOTHING;
}

rh_status rh_store__fault(const rh_store *store, rh_error *err)
{
    return store->source ? rh_hdf5__fault(store->source, err) : RH_OK;
}

// What is wrong with an array, or NULL.
static const char *fault_of(const rh_store *store, const rh_hdf5__place *at)
{
    if (at->kind == RH_HDF5_NOTHING || at->kind == RH_HDF5_OUTSIDE)
        return "missing";
    if (at->kind != RH_HDF5_DATASET)
        return "cannot be opened: damaged";
    if (!at->plain)
        return "not an array as `rehearse fit` writes it";
    if (at->n > store->size / at->size ||
        (at->n > 0 && (at->offset < 0 || at->offset > store->size - at->n * at->size)))
        return "larger than the file: damaged";
    return NULL;
}

static rh_status find_array(const rh_store *store, const char *name, rh_hdf5__place *at,
                            rh_error *err)
{
    rh_status rc = find(store, name, at, err);
    const char *wrong = rc ? NULL : fault_of(store, at);
    return wrong ? rh_store__refuse(store, name, err, "%s", wrong) : rc;
}

// ---------------------------------------------------------------------------- reading

static rh_status read_bytes(const rh_store *store, const char *name, int64_t offset, size_t n,
                            void *to, rh_error *err)
{
    for (char *byte = to; n > 0;) {
        ssize_t got = pread(store->fd, byte, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return rh_store__refuse(store, name, err, "cannot be read: %s",
                                    got < 0 ? strerror(errno) : "the file was cut off");
        byte += got;
        offset += got;
        n -= (size_t)got;
    }
    return RH_OK;
}

// Little-endian numbers in this machine's order.
static void to_host(unsigned char *x, int64_t n, size_t size)
{
    const uint16_t one = 1;
    if (*(const unsigned char *)&one == 1)
        return;
    for (int64_t i = 0; i < n; i++, x += size)
        for (size_t k = 0; k < size / 2; k++) {
            unsigned char byte = x[k];
            x[k] = x[size - 1 - k];
            x[size - 1 - k] = byte;
        }
}

static rh_hdf5__stored stored_as(rh_store__type type)
{
    static const rh_hdf5__stored stored[] = {[RH_STORE_U8] = RH_HDF5_U8,
                                             [RH_STORE_I32] = RH_HDF5_I32,
                                             [RH_STORE_I64] = RH_HDF5_I64,
                                             [RH_STORE_F32] = RH_HDF5_F32,
                                             [RH_STORE_F64] = RH_HDF5_F64};
    return stored[type];
}

// Read numbers into a new block.
static rh_status get_numbers(const rh_store *store, const char *name, rh_store__type type,
                             int rank, int64_t n, void **x, int64_t *got, rh_error *err)
{
    rh_hdf5__place at;
    rh_status rc = find_array(store, name, &at, err);
    if (rc)
        return rc;
    if (at.stored != stored_as(type) || at.size != (int64_t)size_of(type) || at.rank != rank)
        return rh_store__refuse(store, name, err, "not %s of %s",
                                rank ? "an array" : "a number", name_of(type));
    if (n >= 0 && at.n != n)
        return rh_store__refuse(store, name, err, "%lld numbers, expected %lld",
                                (long long)at.n, (long long)n);
    void *block = rh_alloc((size_t)at.n, size_of(type));
    if (!block)
        return rh_store__no_memory(store, name, err);
    rc = read_bytes(store, name, at.offset, (size_t)at.n * size_of(type), block, err);
    if (rc) {
        rh_free(block);
        return rc;
    }
    to_host(block, at.n, size_of(type));
    if (got)
        *got = at.n;
    *x = block;
    return RH_OK;
}

rh_status rh_store__get(rh_store *store, const char *name, rh_store__type type, int64_t n,
                        void **x, int64_t *got, rh_error *err)
{
    return get_numbers(store, name, type, 1, n, x, got, err);
}

rh_status rh_store__get_number(rh_store *store, const char *name, double *x, rh_error *err)
{
    void *block = NULL;
    rh_status rc = get_numbers(store, name, RH_STORE_F64, 0, 1, &block, NULL, err);
    if (!rc)
        *x = *(double *)block;
    rh_free(block);
    return rc;
}

rh_status rh_store__get_within(rh_store *store, const char *name, double lo, double hi,
                               double *x, rh_error *err)
{
    double value = 0.0;
    rh_status rc = rh_store__get_number(store, name, &value, err);
    if (!rc && !(isfinite(value) && value >= lo && value <= hi))
        rc = rh_store__refuse(store, name, err, "%g, expected %g to %g", value, lo, hi);
    if (!rc)
        *x = value;
    return rc;
}

// Texts, one after another and each with a zero behind it: n of *step bytes.
static rh_status get_padded(const rh_store *store, const char *name, int rank, int64_t n,
                            char **x, size_t *step, int64_t *got, rh_error *err)
{
    rh_hdf5__place at;
    rh_status rc = find_array(store, name, &at, err);
    if (rc)
        return rc;
    if (at.stored != RH_HDF5_TEXT || at.rank != rank)
        return rh_store__refuse(store, name, err, "not %s",
                                rank ? "an array of texts" : "a text");
    if (n >= 0 && at.n != n)
        return rh_store__refuse(store, name, err, "%lld texts, expected %lld", (long long)at.n,
                                (long long)n);

    // read all at the end of the block, then move them to their places
    size_t size = (size_t)at.size, count = (size_t)at.n;
    char *block = rh_alloc(count + 1, size + 1);
    if (!block)
        return rh_store__no_memory(store, name, err);
    char *from = block + count + size + 1;
    rc = read_bytes(store, name, at.offset, count * size, from, err);
    if (rc) {
        rh_free(block);
        return rc;
    }
    for (size_t i = 0; i < count; i++) {
        memmove(block + i * (size + 1), from + i * size, size);
        block[i * (size + 1) + size] = 0;
    }
    *step = size + 1;
    *got = at.n;
    *x = block;
    return RH_OK;
}

rh_status rh_store__get_text(rh_store *store, const char *name, char **text, rh_error *err)
{
    size_t step;
    int64_t n;
    return get_padded(store, name, 0, 1, text, &step, &n, err);
}

rh_status rh_store__get_texts(rh_store *store, const char *name, int n, char ***text,
                              rh_error *err)
{
    char *padded = NULL;
    size_t step = 0;
    int64_t got = 0;
    rh_status rc = get_padded(store, name, 1, n, &padded, &step, &got, err);
    if (rc)
        return rc;
    size_t head = ((size_t)got + 1) * sizeof(char *);
    char **all = rh_alloc(1, head + (size_t)got * step);
    if (!all) {
        rh_free(padded);
        return rh_store__no_memory(store, name, err);
    }
    char *to = (char *)all + head;
    if (got > 0)
        memcpy(to, padded, (size_t)got * step);
    for (int64_t i = 0; i < got; i++)
        all[i] = to + (size_t)i * step;
    rh_free(padded);
    *text = all;
    return RH_OK;
}

rh_status rh_store__count_texts(rh_store *store, const char *name, int *n, rh_error *err)
{
    char *padded = NULL;
    size_t step;
    int64_t got = 0;
    rh_status rc = get_padded(store, name, 1, -1, &padded, &step, &got, err);
    rh_free(padded);
    if (!rc && got > MOST_TEXTS)
        rc = rh_store__refuse(store, name, err, "%lld texts, expected at most %d",
                              (long long)got, MOST_TEXTS);
    *n = (int)got;
    return rc;
}

static rh_status fill_state(rh_store *store, const char *name, rh_state *state, rh_error *err)
{
    char part[RH_STORE_PART], *label = NULL, **names = NULL;
    int n = 0;
    snprintf(part, sizeof part, "%s/label", name);
    rh_status rc = rh_store__get_text(store, part, &label, err);
    if (!rc && label && rh_state_set_label(state, label, NULL))
        rc = rh_store__refuse(store, part, err, "%zu characters", strlen(label));
    snprintf(part, sizeof part, "%s/names", name);
    if (!rc)
        rc = rh_store__count_texts(store, part, &n, err);
    if (!rc)
        rc = rh_store__get_texts(store, part, n, &names, err);
    for (int i = 0; i < n && !rc; i++) {
        void *x = NULL;
        int64_t length = 0;
        snprintf(part, sizeof part, "%s/%d", name, i);
        rc = rh_store__get(store, part, RH_STORE_F64, -1, &x, &length, err);
        rh_status put = rc ? RH_OK : rh_state_put(state, names[i], x, (size_t)length, NULL);
        if (put == RH_ENOMEM)
            rc = rh_store__no_memory(store, part, err);
        else if (put)
            rc = rh_store__refuse(store, part, err, "its name is damaged");
        rh_free(x);
    }
    rh_free(names);
    rh_free(label);
    return rc;
}

rh_status rh_store__get_state(rh_store *store, const char *name, rh_state **state,
                              rh_error *err)
{
    rh_state *made = NULL;
    rh_status rc = rh_state_create(&made, NULL);
    if (rc)
        return rh_store__no_memory(store, name, err);
    rc = fill_state(store, name, made, err);
    if (rc)
        rh_state_destroy(made);
    else
        *state = made;
    return rc;
}
