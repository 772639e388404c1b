// store_read.c - reads and checks the named arrays and texts of a model file.
//
// The seal proves that the file is intact, not who wrote it. A dataset is read only if it is an
// array or a number of the expected type and length, contiguous in this file.

#include "store_internal.h"

#include <math.h>
#include <string.h>

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

// ---------------------------------------------------------------------------- reading

// Whether the name exists and no link on its path leaves the file.
static bool is_linked(const rh_store *store, const char *full)
{
    char part[RH_STORE_NAME];
    H5L_info_t link;
    for (size_t i = 1; i <= strlen(full); i++) {
        if (full[i] != '/' && full[i])
            continue;
        snprintf(part, sizeof part, "%.*s", (int)i, full);
        if (H5Lexists(store->id, part, H5P_DEFAULT) <= 0 ||
            H5Lget_info(store->id, part, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
            return false;
    }
    return true;
}

bool rh_store__has(const rh_store *store, const char *name)
{
    rh_store__quiet q;
    char full[RH_STORE_NAME];
    rh_store__name(store, name, full);
    rh_store__enter(&q);
    bool linked = is_linked(store, full);
    rh_store__leave(&q);
    return linked;
}

// An open dataset and its shape.
typedef struct dataset {
    hid_t id, type;
    int64_t n;
    size_t size; // bytes of an element
    int rank;    // 0 or 1
} dataset;

static void close_dataset(const dataset *d)
{
    if (d->type >= 0)
        H5Tclose(d->type);
    if (d->id >= 0)
        H5Dclose(d->id);
}

// Open a contiguous dataset. Returns NULL, or what is wrong.
static const char *open_dataset(const rh_store *store, const char *full, dataset *d)
{
    *d = (dataset){.id = -1, .type = -1};
    if (!is_linked(store, full))
        return "missing";
    d->id = H5Dopen2(store->id, full, H5P_DEFAULT);
    if (d->id < 0)
        return "cannot be opened: damaged";
    d->type = H5Dget_type(d->id);
    hid_t space = H5Dget_space(d->id), made = H5Dget_create_plist(d->id);
    hsize_t dim = 1;
    d->rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    bool known =
        d->type >= 0 && made >= 0 &&
        (d->rank == 0 || (d->rank == 1 && H5Sget_simple_extent_dims(space, &dim, 0) == 1)) &&
        H5Sget_simple_extent_type(space) != H5S_NULL;
    bool plain = known && H5Pget_layout(made) == H5D_CONTIGUOUS &&
                 H5Pget_external_count(made) == 0 && H5Pget_nfilters(made) == 0;
    if (space >= 0)
        H5Sclose(space);
    if (made >= 0)
        H5Pclose(made);
    plain =
        plain && H5Tdetect_class(d->type, H5T_VLEN) <= 0 && H5Tis_variable_str(d->type) <= 0;
    d->size = known ? H5Tget_size(d->type) : 0;
    if (!plain || d->size == 0)
        return "not an array as `rehearse fit` writes it";
    if (dim > (hsize_t)store->size / d->size ||
        (dim > 0 && H5Dget_storage_size(d->id) != dim * d->size))
        return "larger than the file: damaged";
    d->n = (int64_t)dim;
    return NULL;
}

// Read numbers into a new block.
static rh_status get_numbers(rh_store *store, const char *name, rh_store__type type, int rank,
                             int64_t n, void **x, int64_t *got, rh_error *err)
{
    rh_store__quiet q;
    char full[RH_STORE_NAME];
    dataset d;
    void *block = NULL;
    rh_status rc = RH_OK;
    rh_store__name(store, name, full);
    rh_store__enter(&q);
    const char *wrong = open_dataset(store, full, &d);
    if (wrong)
        rc = rh_store__refuse(store, name, err, "%s", wrong);
    else if (H5Tequal(d.type, rh_store__file_type(type)) <= 0 || d.rank != rank)
        rc = rh_store__refuse(store, name, err, "not %s of %s", rank ? "an array" : "a number",
                              name_of(type));
    else if (n >= 0 && d.n != n)
        rc = rh_store__refuse(store, name, err, "%lld numbers, expected %lld", (long long)d.n,
                              (long long)n);
    if (rc)
        goto done;
    block = rh_alloc((size_t)d.n, size_of(type));
    if (!block) {
        rc = rh_store__no_memory(store, name, err);
        goto done;
    }
    if (d.n > 0 &&
        H5Dread(d.id, rh_store__memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, block) < 0) {
        rc = rh_store__refuse(store, name, err, "cannot be read: damaged");
        goto done;
    }
    if (got)
        *got = d.n;
    *x = block;
    block = NULL;

done:
    close_dataset(&d);
    rh_store__leave(&q);
    rh_free(block);
    return rc;
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
static rh_status get_padded(rh_store *store, const char *name, int rank, int64_t n, char **x,
                            size_t *step, int64_t *got, rh_error *err)
{
    rh_store__quiet q;
    char full[RH_STORE_NAME], *block = NULL;
    dataset d;
    rh_status rc = RH_OK;
    rh_store__name(store, name, full);
    rh_store__enter(&q);
    hid_t type = H5Tcopy(H5T_C_S1);
    const char *wrong = open_dataset(store, full, &d);
    if (wrong)
        rc = rh_store__refuse(store, name, err, "%s", wrong);
    else if (H5Tget_class(d.type) != H5T_STRING || H5Tis_variable_str(d.type) != 0 ||
             d.rank != rank)
        rc =
            rh_store__refuse(store, name, err, "not %s", rank ? "an array of texts" : "a text");
    else if (n >= 0 && d.n != n)
        rc = rh_store__refuse(store, name, err, "%lld texts, expected %lld", (long long)d.n,
                              (long long)n);
    if (rc)
        goto done;
    block = rh_alloc((size_t)d.n + 1, d.size + 1);
    if (!block) {
        rc = rh_store__no_memory(store, name, err);
        goto done;
    }
    H5Tset_size(type, d.size + 1);
    H5Tset_cset(type, H5Tget_cset(d.type));
    if (d.n > 0 && H5Dread(d.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) < 0) {
        rc = rh_store__refuse(store, name, err, "cannot be read: damaged");
        goto done;
    }
    *step = d.size + 1;
    *got = d.n;
    *x = block;
    block = NULL;

done:
    H5Tclose(type);
    close_dataset(&d);
    rh_store__leave(&q);
    rh_free(block);
    return rc;
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
