// hdf5.c - reads HDF5 files, a slab at a time.
//
// 1. libhdf5 prints every failure, and the packaged library is not thread-safe. While a file is
//    open its printing is off and other threads wait.
// 2. Closing a file closes everything opened in it, so no id can leak.
// 3. libhdf5 converts integers and floats of any size and byte order to doubles, exactly if a
//    double can hold them. Long doubles would be rounded, so they are refused.
// 4. libhdf5 makes up rows that were never stored from a fill value. A dataset that claims far
//    more rows than its bytes can hold is refused at its first read; unused ones are ignored.
// 5. libhdf5 clears a megabyte for every read that converts types. Small reads use a smaller
//    buffer: 10,000 episodes of 20 steps take 1.8 s instead of 3.3 s.
// 6. At exit, libhdf5 prints a message if a damaged file left something it cannot close. All
//    our files are closed by then, so its cleanup is disabled.
// 7. How a dataset is stored is checked before its numbers are read (hdf5_check.c).

#include "hdf5.h"
#include "base/base_internal.h"

#include "hdf5_check.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RANK RH_HDF5__RANK
#define MAX_RATIO 1100         // numbers per stored byte; deflate packs at most 1032 to 1
#define ALWAYS_BELIEVED 100000 // numbers that any dataset may claim
#define MOST_ROOM (64U << 20)  // bytes of chunks cached unpacked
#define SMALL 4096             // numbers of a small read

struct rh_hdf5 {
    char *path; // owned
    hid_t id;
    hid_t small;  // transfer settings for small reads, decision 5
    hid_t inside; // access to datasets, without following external links
    rh_hdf5__quiet quiet;
};

void rh_hdf5__enter(rh_hdf5__quiet *quiet)
{
    H5E_auto2_t print = NULL;
    rh_base__alone_begin();
    H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &print, &quiet->data);
    memcpy(&quiet->print, &print, sizeof print); // ISO C has no cast for it
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void rh_hdf5__leave(const rh_hdf5__quiet *quiet)
{
    H5E_auto2_t print = NULL;
    memcpy(&print, &quiet->print, sizeof print);
    H5Eset_auto2(H5E_DEFAULT, print, quiet->data);
    rh_base__alone_end();
}

// ---------------------------------------------------------------------------- opening

rh_status rh_hdf5__open(rh_hdf5 **out, const char *path, rh_error *err)
{
    rh_hdf5 *file = rh_alloc(1, sizeof *file);
    size_t length = strlen(path) + 1;
    if (file)
        file->path = rh_alloc(length, 1);
    if (!file || !file->path) {
        rh_free(file);
        return rh_base__no_memory(err, path);
    }
    memcpy(file->path, path, length);

    rh_hdf5__enter(&file->quiet);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    file->id = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    file->small = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_buffer(file->small, SMALL * sizeof(double), NULL, NULL);
    file->inside = rh_hdf5__inside(H5P_DATASET_ACCESS);
    if (file->id < 0 || file->inside < 0) {
        rh_hdf5__close(file);
        return rh_fail(err, RH_EFORMAT,
                       "%s: cannot be opened as HDF5: it is damaged or cut off, or another "
                       "program is writing it",
                       rh_base__path_tail(path));
    }
    *out = file;
    return RH_OK;
}

void rh_hdf5__close(rh_hdf5 *file)
{
    if (!file)
        return;
    H5Pclose(file->small);
    if (file->inside >= 0)
        H5Pclose(file->inside);
    if (file->id >= 0)
        H5Fclose(file->id);
    rh_hdf5__leave(&file->quiet);
    rh_free(file->path);
    rh_free(file);
}

const char *rh_hdf5__path(const rh_hdf5 *file)
{
    return file->path;
}

// ---------------------------------------------------------------------------- what is there

rh_hdf5__type_kind rh_hdf5__kind(const rh_hdf5 *file, const char *name)
{
    // check every group on the way: libhdf5 treats a missing one as an error
    char part[2 * RH_ARRAY__NAME];
    size_t length = strlen(name);
    if (length >= sizeof part)
        return RH_HDF5_NOTHING;
    for (size_t i = 1; i <= length; i++) {
        if (name[i] != '/' && name[i])
            continue;
        memcpy(part, name, i);
        part[i] = 0;
        if (H5Lexists(file->id, part, file->inside) <= 0)
            return RH_HDF5_NOTHING;
    }
    if (rh_hdf5__is_linked(file->id, name))
        return RH_HDF5_OUTSIDE;
    hid_t id = H5Oopen(file->id, name, file->inside);
    if (id < 0)
        return RH_HDF5_OTHER;
    H5I_type_t type = H5Iget_type(id);
    H5Oclose(id);
    return type == H5I_GROUP     ? RH_HDF5_GROUP
           : type == H5I_DATASET ? RH_HDF5_DATASET
                                 : RH_HDF5_OTHER;
}

typedef struct name_list {
    size_t size; // bytes of the names so far
    int64_t n, most;
    char **name; // NULL while counting
    char *text;
} name_list;

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *self)
{
    (void)group;
    (void)info;
    name_list *list = self;
    size_t size = strlen(name) + 1;
    if (list->n == list->most)
        return 1;
    if (list->name) {
        list->name[list->n] = memcpy(list->text, name, size);
        list->text += size;
    }
    list->size += size;
    list->n++;
    return 0;
}

rh_status rh_hdf5__names(const rh_hdf5 *file, const char *group, int64_t most, char ***name,
                         int64_t *n, rh_error *err)
{
    name_list count = {.most = most};
    rh_status rc = RH_OK;
    hid_t id = H5Oopen(file->id, group, file->inside);
    if (id < 0 || H5Iget_type(id) != H5I_GROUP ||
        H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, NULL, add_name, &count) < 0) {
        rc = rh_fail(err, RH_EFORMAT, "%s: group %s cannot be read: damaged or cut off",
                     rh_base__path_tail(file->path), group);
        goto done;
    }
    char **all = rh_alloc(1, (size_t)(count.n + 1) * sizeof *all + count.size);
    if (!all) {
        rc = rh_base__no_memory(err, file->path);
        goto done;
    }
    name_list fill = {.most = count.n, .name = all, .text = (char *)(all + count.n + 1)};
    H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, NULL, add_name, &fill);
    *name = all;
    *n = fill.n;

done:
    if (id >= 0)
        H5Oclose(id);
    return rc;
}

// ---------------------------------------------------------------------------- datasets

static void shut_dataset(rh_array *array)
{
    H5Dclose(array->handle);
}

static bool is_large(const rh_array *array)
{
    return array->nrow * array->width > ALWAYS_BELIEVED;
}

// Whether the stored bytes can fill the array.
static bool is_believed(const rh_array *array)
{
    hsize_t count = (hsize_t)array->nrow * (hsize_t)array->width;
    return !is_large(array) || count / MAX_RATIO <= H5Dget_storage_size(array->handle);
}

static rh_status refuse(const rh_hdf5 *file, const char *name, rh_hdf5__fault fault,
                        const char *filter, rh_error *err)
{
    const char *path = rh_base__path_tail(file->path);
    switch (fault) {
    case RH_HDF5_LINKED:
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s is a link to another file, expected all data in this file", path,
                       name);
    case RH_HDF5_EXTERNAL:
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s is stored in other files (external storage), expected all data "
                       "in this file",
                       path, name);
    case RH_HDF5_VIRTUAL:
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s is put together from other datasets (virtual), expected all "
                       "data in this file",
                       path, name);
    case RH_HDF5_FILTER:
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s is packed with %s, expected gzip (deflate), shuffle, fletcher32 "
                       "or nothing; write it again with h5py and compression=\"gzip\"",
                       path, name, filter);
    case RH_HDF5_MEMORY:
        return rh_base__no_memory(err, file->path);
    case RH_HDF5_SOUND:
    case RH_HDF5_DAMAGED:
        break;
    }
    return rh_fail(err, RH_EFORMAT,
                   "%s: %s is damaged or cut off: its stored bytes do not fill its shape", path,
                   name);
}

// Check the stored bytes of rows before they are read, each once.
static rh_status check_rows(rh_array *array, int64_t first, int64_t n, rh_error *err)
{
    char filter[64] = "";
    hsize_t checked = (hsize_t)array->nchecked;
    rh_hdf5__fault fault =
        rh_hdf5__check_rows(array->handle, (hsize_t)first, (hsize_t)n, &checked, filter);
    array->nchecked = (int64_t)checked;
    return fault ? refuse(array->source, array->name, fault, filter, err) : RH_OK;
}

// The shape in memory matches the file: between different shapes libhdf5 is seven times slower
// (8.5 s against 1.2 s for 17 million floats in h5py's chunks).
static rh_status load_slab(rh_array *array, int64_t first, int64_t n, double *x, rh_error *err)
{
    const rh_hdf5 *file = array->source;
    if (first == 0 && !is_believed(array))
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s has shape %s but %llu bytes are stored: damaged, or never "
                       "written",
                       rh_base__path_tail(file->path), array->name, array->shape,
                       (unsigned long long)H5Dget_storage_size(array->handle));
    rh_status rc = check_rows(array, first, n, err);
    if (rc)
        return rc;
    hsize_t begin[MAX_RANK] = {0}, count[MAX_RANK] = {1};
    hid_t there = H5Dget_space(array->handle), here = -1;
    herr_t fault = -1;
    if (there < 0 || H5Sget_simple_extent_dims(there, count, NULL) < 0)
        goto done;
    if (array->rank > 0) {
        begin[0] = (hsize_t)first;
        count[0] = (hsize_t)n;
        if (H5Sselect_hyperslab(there, H5S_SELECT_SET, begin, NULL, count, NULL) < 0)
            goto done;
    }
    here = H5Screate_simple(array->rank > 0 ? array->rank : 1, count, NULL);
    fault = H5Dread(array->handle, H5T_NATIVE_DOUBLE, here, there,
                    n * array->width <= SMALL ? file->small : H5P_DEFAULT, x);

done:
    if (here >= 0)
        H5Sclose(here);
    if (there >= 0)
        H5Sclose(there);
    if (fault < 0)
        return rh_fail(err, RH_EFORMAT,
                       "%s: rows %lld to %lld of %s cannot be read: damaged or cut off",
                       rh_base__path_tail(file->path), (long long)first,
                       (long long)(first + n - 1), array->name);
    return RH_OK;
}

// The name of a numeric type, or what the type is instead.
static const char *name_type(hid_t type, bool *numeric, bool *whole)
{
    static const char *const name[3][4] = {{"int8", "int16", "int32", "int64"},
                                           {"uint8", "uint16", "uint32", "uint64"},
                                           {"float8", "float16", "float32", "float64"}};
    size_t size = H5Tget_size(type);
    int place = size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : size == 1 ? 0 : -1;
    bool is_signed = false;
    *numeric = place >= 0;
    *whole = true;
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        is_signed = H5Tget_sign(type) == H5T_SGN_2;
        return place < 0 ? "integers of an odd size" : name[is_signed ? 0 : 1][place];
    case H5T_FLOAT:
        *whole = false;
        return place < 0 ? "long doubles" : name[2][place];
    case H5T_ENUM:
        return size == 1 ? "bool" : "named numbers";
    case H5T_STRING:
        *numeric = false;
        return "text";
    case H5T_COMPOUND:
        *numeric = false;
        return "records";
    case H5T_REFERENCE:
        *numeric = false;
        return "references";
    case H5T_VLEN:
        *numeric = false;
        return "lists of different lengths";
    case H5T_ARRAY:
        *numeric = false;
        return "small arrays";
    case H5T_BITFIELD:
        *numeric = false;
        return "bit fields";
    case H5T_TIME:
    case H5T_OPAQUE:
    case H5T_NO_CLASS:
    case H5T_NCLASSES:
        break;
    }
    *numeric = false;
    return "bytes without a type";
}

// Bytes of the chunks that a row crosses; 0 if rows are not stored in chunks.
static size_t band_size(hid_t id)
{
    hsize_t chunk[MAX_RANK] = {0}, dim[MAX_RANK] = {0};
    hid_t made = H5Dget_create_plist(id), type = H5Dget_type(id), space = H5Dget_space(id);
    size_t size = H5Tget_size(type);
    int rank = H5Pget_layout(made) == H5D_CHUNKED ? H5Pget_chunk(made, MAX_RANK, chunk) : 0;
    if (rank < 1 || rank > MAX_RANK || H5Sget_simple_extent_dims(space, dim, NULL) != rank)
        size = 0;
    for (int i = 0; i < rank && size > 0; i++) {
        hsize_t n = chunk[i] == 0 ? 1 : i == 0 ? chunk[0] : dim[i] + chunk[i];
        size = n > MOST_ROOM || size > MOST_ROOM / n ? MOST_ROOM : size * n;
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(made);
    return size;
}

// Cache these chunks unpacked, or they are unpacked again for every slab.
static void make_room(rh_array *array, hid_t file)
{
    size_t size = band_size(array->handle);
    if (size <= 1U << 20)
        return;
    hid_t access = rh_hdf5__inside(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, 5003, size, 1.0);
    H5Dclose(array->handle); // an open dataset keeps its old cache
    array->handle = H5Dopen2(file, array->name, access);
    H5Pclose(access);
}

static rh_status take_shape(rh_array *array, const rh_hdf5 *file, rh_error *err)
{
    hsize_t dim[MAX_RANK] = {0};
    int64_t known[MAX_RANK];
    hid_t space = H5Dget_space(array->handle);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, dim, NULL);
    bool null = space >= 0 && H5Sget_simple_extent_type(space) == H5S_NULL;
    if (space >= 0)
        H5Sclose(space);
    for (int i = 0; i < rank; i++)
        known[i] = dim[i] > INT64_MAX ? INT64_MAX : (int64_t)dim[i];
    if (rank < 0 || !rh_array__set_shape(array, rank, known))
        return rh_fail(err, RH_EFORMAT, "%s: the shape of %s cannot be read: damaged",
                       rh_base__path_tail(file->path), array->name);
    if (null)
        array->nrow = 0;
    return RH_OK;
}

rh_status rh_hdf5__array(rh_array *array, rh_hdf5 *file, const char *name, rh_error *err)
{
    *array = (rh_array){.source = file, .load = load_slab};
    if (strlen(name) >= sizeof array->name)
        return rh_fail(err, RH_EFORMAT,
                       "%s: a dataset with a name of %zu characters, expected at most %d",
                       rh_base__path_tail(file->path), strlen(name), RH_ARRAY__NAME - 1);
    memcpy(array->name, name, strlen(name) + 1);
    if (rh_hdf5__is_linked(file->id, name))
        return refuse(file, name, RH_HDF5_LINKED, "", err);
    array->handle = H5Dopen2(file->id, name, file->inside);
    if (array->handle < 0 && rh_hdf5__kind(file, name) != RH_HDF5_DATASET)
        return rh_fail(err, RH_EFORMAT, "%s: no dataset %s", rh_base__path_tail(file->path),
                       name);
    if (array->handle < 0)
        return rh_fail(err, RH_EFORMAT, "%s: dataset %s cannot be opened: damaged",
                       rh_base__path_tail(file->path), name);
    array->shut = shut_dataset;
    rh_hdf5__fault fault = rh_hdf5__check_layout(array->handle);
    if (fault)
        return refuse(file, name, fault, "", err);
    hid_t type = H5Dget_type(array->handle);
    array->type = name_type(type, &array->numeric, &array->whole);
    if (type >= 0)
        H5Tclose(type);
    rh_status rc = take_shape(array, file, err);
    if (!rc && is_large(array))
        make_room(array, file->id);
    return rc;
}

rh_status rh_hdf5__numbers(rh_array *array, rh_hdf5 *file, const char *name, rh_error *err)
{
    rh_status rc = rh_hdf5__array(array, file, name, err);
    if (!rc && !array->numeric)
        rc = rh_fail(err, RH_EFORMAT, "%s: %s holds %s, expected numbers",
                     rh_base__path_tail(file->path), name, array->type);
    return rc;
}

bool rh_hdf5__scalar(rh_hdf5 *file, const char *name, double *x)
{
    rh_array array = {.rank = 0};
    bool any = rh_hdf5__numbers(&array, file, name, NULL) == RH_OK && array.nrow == 1 &&
               array.width == 1 && load_slab(&array, 0, 1, x, NULL) == RH_OK;
    rh_array__clear(&array);
    return any;
}

// All datasets of a flat file as arrays. Owned: *array (n), clear each.
static rh_status open_arrays(rh_array **array, int *n, rh_hdf5 *file, rh_error *err)
{
    static const char *const group[] = {"/", "infos"};
    const int64_t most = 512;
    rh_array *all = rh_alloc((size_t)most * 2, sizeof *all);
    int used = 0;
    rh_status rc = RH_OK;
    if (!all)
        return rh_base__no_memory(err, file->path);
    for (int g = 0; g < 2 && !rc; g++) {
        char **name = NULL, full[RH_ARRAY__NAME];
        int64_t nname = 0;
        if (g > 0 && rh_hdf5__kind(file, group[g]) != RH_HDF5_GROUP)
            continue;
        rc = rh_hdf5__names(file, group[g], most, &name, &nname, err);
        for (int64_t i = 0; i < nname && !rc; i++) {
            int length =
                snprintf(full, sizeof full, "%s%s%s", g ? group[g] : "", g ? "/" : "", name[i]);
            rh_hdf5__type_kind kind =
                length < (int)sizeof full ? rh_hdf5__kind(file, full) : RH_HDF5_OTHER;
            if (kind == RH_HDF5_DATASET || kind == RH_HDF5_OUTSIDE)
                rc = rh_hdf5__array(&all[used++], file, full, err);
        }
        rh_free(name);
    }
    *array = all;
    *n = used;
    return rc;
}

rh_status rh_hdf5__read_flat(rh_log **out, rh_hdf5 *file, rh_flat *flat,
                             const rh_log_options *opt, rh_error *err)
{
    flat->plan.shape.path = file->path;
    rh_status rc = open_arrays(&flat->array, &flat->narray, file, err);
    if (!rc)
        rc = rh_flat__read(out, flat, opt, err);
    for (int i = 0; i < flat->narray; i++)
        rh_array__clear(&flat->array[i]);
    rh_free(flat->array);
    return rc;
}

// ---------------------------------------------------------------------------- attributes

static hid_t open_attribute(const rh_hdf5 *file, const char *object, const char *name)
{
    if (H5Aexists_by_name(file->id, object, name, file->inside) <= 0)
        return -1;
    return H5Aopen_by_name(file->id, object, name, H5P_DEFAULT, file->inside);
}

bool rh_hdf5__number_attribute(const rh_hdf5 *file, const char *object, const char *name,
                               double *x)
{
    hid_t id = open_attribute(file, object, name);
    if (id < 0)
        return false;
    hid_t type = H5Aget_type(id), space = H5Aget_space(id);
    bool numeric = false, whole = false;
    name_type(type, &numeric, &whole);
    bool got = numeric && H5Sget_simple_extent_npoints(space) == 1 &&
               H5Aread(id, H5T_NATIVE_DOUBLE, x) >= 0;
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(id);
    return got;
}

rh_status rh_hdf5__text_attribute(const rh_hdf5 *file, const char *object, const char *name,
                                  char **text, rh_error *err)
{
    *text = NULL;
    hid_t id = open_attribute(file, object, name);
    if (id < 0)
        return RH_OK;
    hid_t type = H5Aget_type(id), space = H5Aget_space(id), memory = H5Tcopy(H5T_C_S1);
    bool is_text = H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1;
    char *loose = NULL;
    rh_status rc = RH_OK;
    if (is_text && H5Tis_variable_str(type) > 0) {
        H5Tset_size(memory, H5T_VARIABLE);
        H5Tset_cset(memory, H5Tget_cset(type));
        is_text = H5Aread(id, memory, &loose) >= 0 && loose;
        *text = is_text ? rh_alloc(strlen(loose) + 1, 1) : NULL;
        if (*text)
            memcpy(*text, loose, strlen(loose) + 1);
    } else if (is_text) {
        size_t size = H5Tget_size(type);
        H5Tset_size(memory, size + 1);
        H5Tset_cset(memory, H5Tget_cset(type));
        *text = rh_alloc(size + 1, 1);
        is_text = !*text || H5Aread(id, memory, *text) >= 0;
    }
    if (is_text && !*text)
        rc = rh_base__no_memory(err, file->path);
    if (!is_text) {
        rh_free(*text);
        *text = NULL;
    }
    if (loose)
        H5free_memory(loose);
    H5Tclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(id);
    return rc;
}
