// hdf5_helper.c - the program rehearse-hdf5: reads one HDF5 log for the library, and only that;
// or writes one (hdf5_helper_write.c), so that nothing else needs libhdf5.
//
// libhdf5 was not written for hostile files: one changed byte can make it crash, run for ever
// or overwrite memory. So it reads logs in a process of its own that has nothing to lose.
//
// 1. A program of its own, not a fork: in a process with threads, a forked child may not even
//    allocate memory, and it would have a copy of all the caller's memory to give away.
// 2. Descriptor 0 is a socket to the library, RH_WIRE__LOG the log. There are no arguments;
//    with one, it is the path of a file to write. The helper ends when the library closes the
//    socket.
// 3. libhdf5 converts integers and floats of any size and byte order to doubles, exactly if a
//    double can hold them. Long doubles would be rounded, so they are refused.
// 4. libhdf5 makes up rows that were never stored from a fill value. A dataset that claims far
//    more rows than its bytes can hold is refused at its first read; unused ones are ignored.
// 5. libhdf5 clears a megabyte for every read that converts types. Small reads use a smaller
//    buffer: 10,000 episodes of 20 steps take 1.8 s instead of 3.3 s. The numbers of a small
//    dataset are sent when it is opened, which saves an answer.

#include "hdf5_helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_RATIO 1100         // numbers per stored byte; deflate packs at most 1032 to 1
#define ALWAYS_BELIEVED 100000 // numbers that any dataset may claim
#define MOST_ROOM (64U << 20)  // bytes of chunks cached unpacked
#define MAX_OPEN 2048          // datasets open at the same time
#define MAX_SLAB (1 << 22)     // numbers of one answer

// An open dataset.
typedef struct dataset {
    hid_t id; // 0: none
    int rank;
    H5D_layout_t layout;
    int64_t nrow, width;
    hsize_t dim[RH_WIRE__RANK], checked;
} dataset;

static hid_t file, inside, small_reads;
static dataset all[MAX_OPEN];

// ---------------------------------------------------------------------------- talking

bool rh_helper__take(void *to, size_t n)
{
    static char held[4096];
    static size_t first, last;
    for (char *at = to; n > 0;) {
        if (first == last && n >= sizeof held) {
            ssize_t got = read(0, at, n);
            if (got <= 0)
                return false;
            at += got;
            n -= (size_t)got;
            continue;
        }
        if (first == last) {
            ssize_t got = read(0, held, sizeof held);
            if (got <= 0)
                return false;
            first = 0;
            last = (size_t)got;
        }
        size_t part = n < last - first ? n : last - first;
        memcpy(at, held + first, part);
        first += part;
        at += part;
        n -= part;
    }
    return true;
}

static void give(const void *from, size_t n)
{
    for (const char *at = from; n > 0;) {
        ssize_t put = write(0, at, n);
        if (put <= 0)
            _exit(1);
        at += put;
        n -= (size_t)put;
    }
}

// A small answer is one write, which saves the library a wait.
static void answer(rh_wire__answer say, const void *bytes)
{
    static char together[4096];
    say.version = RH_WIRE__VERSION;
    memcpy(together, &say, sizeof say);
    bool fits = say.size <= sizeof together - sizeof say;
    if (fits && say.size)
        memcpy(together + sizeof say, bytes, say.size);
    give(together, sizeof say + (fits ? say.size : 0));
    if (!fits)
        give(bytes, say.size);
}

void rh_helper__refuse(rh_wire__fault fault, int64_t a)
{
    answer((rh_wire__answer){.fault = fault, .a = a}, NULL);
}

// ---------------------------------------------------------------------------- names

// Whether every group on the way exists: libhdf5 treats a missing one as an error.
static bool exists(const char *name)
{
    char part[RH_WIRE__TEXT];
    size_t length = strlen(name);
    for (size_t i = 1; i <= length; i++) {
        if (name[i] != '/' && name[i])
            continue;
        memcpy(part, name, i);
        part[i] = 0;
        if (H5Lexists(file, part, inside) <= 0)
            return false;
    }
    return true;
}

static int kind_of(const char *name)
{
    if (!exists(name))
        return RH_HDF5_NOTHING;
    if (rh_helper__is_linked(file, name))
        return RH_HDF5_OUTSIDE;
    hid_t id = H5Oopen(file, name, inside);
    if (id < 0)
        return RH_HDF5_OTHER;
    H5I_type_t type = H5Iget_type(id);
    H5Oclose(id);
    return type == H5I_GROUP     ? RH_HDF5_GROUP
           : type == H5I_DATASET ? RH_HDF5_DATASET
                                 : RH_HDF5_OTHER;
}

typedef struct name_list {
    size_t size, room;
    int64_t n, most;
    char *text;
} name_list;

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *self)
{
    (void)group, (void)info;
    name_list *list = self;
    size_t size = strlen(name) + 1;
    if (list->n == list->most)
        return 1;
    if (list->size + size > list->room) {
        size_t room = 2 * (list->room + size) + 4096;
        char *text = realloc(list->text, room);
        if (!text)
            return -1;
        list->text = text;
        list->room = room;
    }
    memcpy(list->text + list->size, name, size);
    list->size += size;
    list->n++;
    return 0;
}

static void names(const char *group, int64_t most)
{
    name_list list = {.most = most};
    hid_t id = H5Oopen(file, group, inside);
    if (id < 0 || H5Iget_type(id) != H5I_GROUP ||
        H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, NULL, add_name, &list) < 0)
        rh_helper__refuse(RH_WIRE_UNREADABLE, 0);
    else
        answer((rh_wire__answer){.a = list.n, .size = list.size}, list.text);
    if (id >= 0)
        H5Oclose(id);
    free(list.text);
}

// ---------------------------------------------------------------------------- datasets

static int find_type(const char *name)
{
    int i = 0;
    while (strcmp(rh_wire__types[i].name, name) != 0)
        i++;
    return i;
}

static int type_of(hid_t type)
{
    static const char *const name[3][4] = {{"int8", "int16", "int32", "int64"},
                                           {"uint8", "uint16", "uint32", "uint64"},
                                           {"float8", "float16", "float32", "float64"}};
    size_t size = H5Tget_size(type);
    int place = size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : size == 1 ? 0 : -1;
    const char *called = "bytes without a type";
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        called = place < 0 ? "integers of an odd size"
                           : name[H5Tget_sign(type) == H5T_SGN_2 ? 0 : 1][place];
        break;
    case H5T_FLOAT:
        called = place < 0 ? "long doubles" : name[2][place];
        break;
    case H5T_ENUM:
        called = size == 1 ? "bool" : "named numbers";
        break;
    case H5T_STRING:
        called = "text";
        break;
    case H5T_COMPOUND:
        called = "records";
        break;
    case H5T_REFERENCE:
        called = "references";
        break;
    case H5T_VLEN:
        called = "lists of different lengths";
        break;
    case H5T_ARRAY:
        called = "small arrays";
        break;
    case H5T_BITFIELD:
        called = "bit fields";
        break;
    case H5T_TIME:
    case H5T_OPAQUE:
    case H5T_NO_CLASS:
    case H5T_NCLASSES:
        break;
    }
    return find_type(called);
}

// Bytes of the chunks that a row crosses; 0 if rows are not stored in chunks.
static size_t band_size(const dataset *d)
{
    hsize_t chunk[RH_WIRE__RANK] = {0};
    hid_t made = H5Dget_create_plist(d->id), type = H5Dget_type(d->id);
    size_t size = H5Tget_size(type);
    int rank =
        H5Pget_layout(made) == H5D_CHUNKED ? H5Pget_chunk(made, RH_WIRE__RANK, chunk) : 0;
    if (rank < 1 || rank != d->rank)
        size = 0;
    for (int i = 0; i < rank && size > 0; i++) {
        hsize_t n = chunk[i] == 0 ? 1 : i == 0 ? chunk[0] : d->dim[i] + chunk[i];
        size = n > MOST_ROOM || size > MOST_ROOM / n ? MOST_ROOM : size * n;
    }
    H5Tclose(type);
    H5Pclose(made);
    return size;
}

static bool is_large(const dataset *d)
{
    return d->nrow * d->width > ALWAYS_BELIEVED;
}

// Cache these chunks unpacked, or they are unpacked again for every slab.
static void make_room(dataset *d, const char *name)
{
    size_t size = is_large(d) ? band_size(d) : 0;
    if (size <= 1U << 20)
        return;
    hid_t access = rh_helper__inside(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, 5003, size, 1.0);
    H5Dclose(d->id); // an open dataset keeps its old cache
    d->id = H5Dopen2(file, name, access);
    H5Pclose(access);
}

// The shape; *null: there is no space for numbers.
static bool take_shape(dataset *d, bool *null)
{
    hid_t space = H5Dget_space(d->id);
    d->rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, d->dim, NULL);
    *null = space >= 0 && H5Sget_simple_extent_type(space) == H5S_NULL;
    if (space >= 0)
        H5Sclose(space);
    d->nrow = d->width = 1;
    for (int i = 0; i < d->rank; i++) {
        int64_t *side = i == 0 ? &d->nrow : &d->width;
        if (d->dim[i] > UINT64_C(1) << 56 ||
            (d->dim[i] > 0 && *side > (INT64_C(1) << 56) / (int64_t)d->dim[i]))
            return false;
        *side *= (int64_t)d->dim[i];
    }
    if (*null)
        d->nrow = 0;
    return d->rank >= 0 && (d->nrow == 0 || d->width <= (INT64_C(1) << 56) / d->nrow);
}

// Rows as numbers. The shape in memory matches the file: between different shapes libhdf5 is
// seven times slower (8.5 s against 1.2 s for 17 million floats in h5py's chunks).
static rh_wire__fault load(dataset *d, int64_t first, int64_t n, double *x, int64_t *about)
{
    hsize_t stored = H5Dget_storage_size(d->id);
    *about = (int64_t)stored;
    if (is_large(d) && (hsize_t)d->nrow * (hsize_t)d->width / MAX_RATIO > stored)
        return RH_WIRE_UNWRITTEN;
    rh_wire__fault fault = RH_WIRE_SOUND;
    if (d->layout != H5D_CHUNKED)
        fault = rh_helper__check_piece(d->id, d->layout, (hsize_t)d->nrow * (hsize_t)d->width);
    else if (d->checked < (hsize_t)first + (hsize_t)n)
        fault = rh_helper__check_chunks(d->id, (hsize_t)first, (hsize_t)n, &d->checked, about);
    if (fault)
        return fault;
    hsize_t begin[RH_WIRE__RANK] = {0}, count[RH_WIRE__RANK] = {1};
    hid_t there = H5Dget_space(d->id), here = -1;
    herr_t failed = -1;
    if (d->rank > 0) {
        memcpy(count, d->dim, sizeof count);
        begin[0] = (hsize_t)first;
        count[0] = (hsize_t)n;
    }
    if (there >= 0 && H5Sget_simple_extent_ndims(there) == d->rank &&
        (d->rank == 0 ||
         H5Sselect_hyperslab(there, H5S_SELECT_SET, begin, NULL, count, NULL) >= 0))
        here = H5Screate_simple(d->rank > 0 ? d->rank : 1, count, NULL);
    if (here >= 0)
        failed = H5Dread(d->id, H5T_NATIVE_DOUBLE, here, there,
                         n * d->width <= RH_WIRE__SMALL ? small_reads : H5P_DEFAULT, x);
    if (here >= 0)
        H5Sclose(here);
    if (there >= 0)
        H5Sclose(there);
    return failed < 0 ? RH_WIRE_UNREADABLE : RH_WIRE_SOUND;
}

static void shut(int64_t id)
{
    if (id < 0 || id >= MAX_OPEN || all[id].id <= 0)
        return;
    H5Dclose(all[id].id);
    all[id] = (dataset){0};
}

static rh_wire__fault open_dataset(dataset *d, const char *name, int *type, bool *null)
{
    d->id = H5Oopen(file, name, inside);
    bool is_dataset = d->id >= 0 && H5Iget_type(d->id) == H5I_DATASET;
    if (d->id >= 0 && !is_dataset)
        H5Oclose(d->id);
    if (!is_dataset) {
        d->id = 0;
        return rh_helper__is_linked(file, name)   ? RH_WIRE_LINKED
               : kind_of(name) == RH_HDF5_NOTHING ? RH_WIRE_MISSING
                                                  : RH_WIRE_UNREADABLE;
    }
    rh_wire__fault fault = rh_helper__check_layout(d->id, &d->layout);
    if (fault)
        return fault;
    hid_t of = H5Dget_type(d->id);
    *type = of < 0 ? RH_WIRE__NTYPE - 1 : type_of(of);
    if (of >= 0)
        H5Tclose(of);
    if (!take_shape(d, null))
        return RH_WIRE_SHAPE;
    make_room(d, name);
    return d->id < 0 ? RH_WIRE_UNREADABLE : RH_WIRE_SOUND;
}

static void open_and_answer(const char *name)
{
    struct {
        int64_t dim[RH_WIRE__RANK];
        double x[RH_WIRE__SMALL];
    } body;
    int slot = 0, type = 0;
    bool null = false;
    while (slot < MAX_OPEN && all[slot].id > 0)
        slot++;
    if (slot == MAX_OPEN) {
        rh_helper__refuse(RH_WIRE_MEMORY, 0);
        return;
    }
    dataset *d = &all[slot];
    *d = (dataset){0};
    rh_wire__fault fault = open_dataset(d, name, &type, &null);
    if (fault) {
        shut(slot);
        *d = (dataset){0};
        rh_helper__refuse(fault, 0);
        return;
    }
    rh_wire__answer say = {.a = slot, .b = type, .c = null ? -1 : d->rank};
    memset(&body, 0, sizeof body);
    size_t ndim = null ? 0 : (size_t)d->rank;
    for (size_t i = 0; i < ndim; i++)
        body.dim[i] = (int64_t)d->dim[i];
    double *x = (double *)(void *)(body.dim + ndim);
    int64_t count = d->nrow > 0 && d->width <= RH_WIRE__SMALL ? d->nrow * d->width : 0, about;
    say.size = ndim * sizeof *body.dim;
    if (!null && rh_wire__types[type].numeric && count > 0 && count <= RH_WIRE__SMALL) {
        dataset before = *d;
        if (load(d, 0, d->nrow, x, &about) == RH_WIRE_SOUND)
            say.size += (size_t)count * sizeof *x;
        else
            d->checked = before.checked; // loaded again, to say why not
    }
    answer(say, &body);
}

static void load_and_answer(int64_t id, int64_t first, int64_t n)
{
    dataset *d = id >= 0 && id < MAX_OPEN && all[id].id > 0 ? &all[id] : NULL;
    int64_t about = 0;
    if (!d || first < 0 || n < 1 || first > d->nrow - n ||
        (d->width > 0 && n > MAX_SLAB / d->width)) {
        rh_helper__refuse(RH_WIRE_UNREADABLE, 0);
        return;
    }
    double *x = calloc((size_t)(n * d->width) + 1, sizeof *x);
    rh_wire__fault fault = x ? load(d, first, n, x, &about) : RH_WIRE_MEMORY;
    if (fault)
        rh_helper__refuse(fault, about);
    else
        answer((rh_wire__answer){.size = (uint64_t)(n * d->width) * sizeof *x}, x);
    free(x);
}

// ---------------------------------------------------------------------------- attributes

static hid_t open_attribute(const char *object, const char *name)
{
    if (H5Aexists_by_name(file, object, name, inside) <= 0)
        return -1;
    return H5Aopen_by_name(file, object, name, H5P_DEFAULT, inside);
}

static void number_attribute(const char *object, const char *name)
{
    double x = 0.0;
    bool got = false;
    hid_t id = open_attribute(object, name);
    if (id >= 0) {
        hid_t type = H5Aget_type(id), space = H5Aget_space(id);
        got = rh_wire__types[type_of(type)].numeric &&
              H5Sget_simple_extent_npoints(space) == 1 &&
              H5Aread(id, H5T_NATIVE_DOUBLE, &x) >= 0;
        H5Sclose(space);
        H5Tclose(type);
        H5Aclose(id);
    }
    answer((rh_wire__answer){.size = got ? sizeof x : 0}, &x);
}

// The text of an open attribute, NULL if it is not one text. Owned: the result.
static char *text_of(hid_t id, hid_t type)
{
    char *text = NULL, *loose = NULL;
    hid_t memory = H5Tcopy(H5T_C_S1);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (H5Tis_variable_str(type) > 0) {
        H5Tset_size(memory, H5T_VARIABLE);
        if (H5Aread(id, memory, &loose) >= 0 && loose)
            text = strdup(loose);
        if (loose)
            H5free_memory(loose);
    } else {
        size_t size = H5Tget_size(type);
        H5Tset_size(memory, size + 1);
        text = calloc(size + 1, 1);
        if (text && H5Aread(id, memory, text) < 0) {
            free(text);
            text = NULL;
        }
    }
    H5Tclose(memory);
    return text;
}

static void text_attribute(const char *object, const char *name)
{
    char *text = NULL;
    hid_t id = open_attribute(object, name);
    if (id >= 0) {
        hid_t type = H5Aget_type(id), space = H5Aget_space(id);
        if (H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1)
            text = text_of(id, type);
        H5Sclose(space);
        H5Tclose(type);
        H5Aclose(id);
    }
    answer((rh_wire__answer){.size = text ? strlen(text) + 1 : 0}, text);
    free(text);
}

// ---------------------------------------------------------------------------- the program

static void serve(const rh_wire__ask *ask, const char *text)
{
    const char *second = text + strlen(text) + 1; // the text ends with two zeros
    switch ((rh_wire__op)ask->op) {
    case RH_WIRE_KIND:
        answer((rh_wire__answer){.a = kind_of(text)}, NULL);
        return;
    case RH_WIRE_NAMES:
        names(text, ask->n);
        return;
    case RH_WIRE_OPEN:
        open_and_answer(text);
        return;
    case RH_WIRE_LOAD:
        load_and_answer(ask->id, ask->first, ask->n);
        return;
    case RH_WIRE_SHUT:
        shut(ask->id);
        return;
    case RH_WIRE_NUMBER:
        number_attribute(text, second);
        return;
    case RH_WIRE_STRING:
        text_attribute(text, second);
        return;
    }
    _exit(1);
}

int main(int argc, char **argv)
{
    struct stat st;
    rh_wire__ask ask;
    char text[RH_WIRE__TEXT + 2];
    bool writes = argc == 2;
    if (fstat(0, &st) != 0 || !S_ISSOCK(st.st_mode) ||
        (!writes && fstat(RH_WIRE__LOG, &st) != 0)) {
        fputs(
            "rehearse-hdf5 reads and writes HDF5 files for rehearse and is not run by itself\n",
            stderr);
        return 2;
    }
    for (int other = RH_WIRE__LOG + 1; other < 1024; other++)
        close(other); // inherited from the caller
    H5dont_atexit();
    if (H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0)
        return 1;
    if (writes)
        return rh_helper__write(argv[1]);
    hid_t access = rh_helper__driver();
    inside = rh_helper__inside(H5P_DATASET_ACCESS);
    small_reads = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_buffer(small_reads, RH_WIRE__SMALL * sizeof(double), NULL, NULL);
    rh_helper__confine(st.st_size > 0 ? (uint64_t)st.st_size : 0);
    file = H5Fopen("log", H5F_ACC_RDONLY, access);
    rh_helper__refuse(file < 0 || inside < 0 ? RH_WIRE_UNREADABLE : RH_WIRE_SOUND, 0);
    if (file < 0 || inside < 0)
        _exit(0);
    while (rh_helper__take(&ask, sizeof ask) && ask.size <= RH_WIRE__TEXT &&
           rh_helper__take(text, ask.size)) {
        text[ask.size] = text[ask.size + 1] = 0;
        serve(&ask, text);
    }
    _exit(0); // libhdf5 may not be able to close a damaged file
}
