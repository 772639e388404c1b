// hdf5_check.c - checks how a dataset is stored before libhdf5 reads its numbers.
//
// libhdf5 1.10 believes what a file says. A wrong size of a chunk makes it return memory that
// was never written; external files, external links and virtual datasets make it read files
// that the log's author chose.
//
// 1. All numbers of a log are in its own file. External storage, external links and virtual
//    datasets are refused. libhdf5 asks a callback before it follows an external link, also
//    one that a soft link leads to; the callback says no.
// 2. The filters are deflate, shuffle and fletcher32, which h5py and Minari use. For these the
//    size of the unpacked chunk can be computed. Others are refused by name.
// 3. Every chunk is unpacked once without being kept: its size must be that of a chunk. This
//    doubles the time for packed chunks and is the only way to know before H5Dread().
// 4. A chunk has a mask of skipped filters. Only deflate may be skipped: libhdf5 does so where
//    packing does not help.

#include "hdf5_helper.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAX_FILTERS 8

// ---------------------------------------------------------------------------- where it is

static herr_t never(const char *file, const char *group, const char *target_file,
                    const char *target, unsigned *flags, hid_t access, void *self)
{
    (void)file, (void)group, (void)target_file, (void)target, (void)flags, (void)access,
        (void)self;
    return -1;
}

hid_t rh_helper__inside(hid_t of)
{
    hid_t access = H5Pcreate(of);
    if (access >= 0 && H5Pset_elink_cb(access, never, NULL) < 0) {
        H5Pclose(access);
        access = -1;
    }
    return access;
}

bool rh_helper__is_linked(hid_t file, const char *name)
{
    char part[1024];
    size_t length = strlen(name);
    for (size_t i = 1; i <= length && i < sizeof part; i++) {
        H5L_info_t info;
        if (name[i] != '/' && name[i])
            continue;
        memcpy(part, name, i);
        part[i] = 0;
        if (H5Lget_info(file, part, &info, H5P_DEFAULT) < 0)
            return false;
        if (info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT)
            return true;
    }
    return false;
}

rh_wire__fault rh_helper__check_layout(hid_t dataset, H5D_layout_t *out)
{
    hid_t made = H5Dget_create_plist(dataset);
    H5D_layout_t layout = *out = made < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(made);
    rh_wire__fault fault = RH_WIRE_DAMAGED;
    if (layout == H5D_VIRTUAL)
        fault = RH_WIRE_VIRTUAL;
    else if (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED)
        fault = H5Pget_external_count(made) == 0 ? RH_WIRE_SOUND : RH_WIRE_EXTERNAL;
    if (made >= 0)
        H5Pclose(made);
    return fault;
}

// ---------------------------------------------------------------------------- its chunks

// How the chunks of a dataset are stored.
typedef struct chunks {
    hid_t dataset;
    int rank, nfilter;
    hsize_t dim[RH_WIRE__RANK], size[RH_WIRE__RANK];
    H5Z_filter_t filter[MAX_FILTERS];
    uint64_t bytes; // of an unpacked chunk
    uint64_t limit; // a stored chunk is smaller
} chunks;

static rh_wire__fault take_filters(chunks *c, hid_t made, int64_t *filter)
{
    c->nfilter = H5Pget_nfilters(made);
    if (c->nfilter < 0 || c->nfilter > MAX_FILTERS)
        return RH_WIRE_DAMAGED;
    for (int i = 0; i < c->nfilter; i++) {
        unsigned flags = 0, config = 0;
        size_t nvalue = 0;
        c->filter[i] =
            H5Pget_filter2(made, (unsigned)i, &flags, &nvalue, NULL, 0, NULL, &config);
        if (c->filter[i] < 0)
            return RH_WIRE_DAMAGED;
        if (c->filter[i] != H5Z_FILTER_DEFLATE && c->filter[i] != H5Z_FILTER_SHUFFLE &&
            c->filter[i] != H5Z_FILTER_FLETCHER32)
            return *filter = c->filter[i], RH_WIRE_FILTER;
        for (int j = 0; j < i; j++)
            if (c->filter[j] == c->filter[i])
                return RH_WIRE_DAMAGED;
    }
    return RH_WIRE_SOUND;
}

// How many bytes the n packed bytes unpack to, at most most + 1; UINT64_MAX if they do not.
static uint64_t unpacked_size(const unsigned char *packed, uint64_t n, uint64_t most)
{
    unsigned char out[16384];
    z_stream z = {0};
    uint64_t size = 0;
    if (n > UINT32_MAX || inflateInit(&z) != Z_OK)
        return UINT64_MAX;
    memcpy(&z.next_in, &packed, sizeof packed);
    z.avail_in = (unsigned)n;
    int rc = Z_OK;
    while (rc == Z_OK && size <= most) {
        z.next_out = out;
        z.avail_out = sizeof out;
        rc = inflate(&z, Z_NO_FLUSH);
        size += sizeof out - z.avail_out;
    }
    inflateEnd(&z);
    return rc == Z_STREAM_END || size > most ? size : UINT64_MAX;
}

// A chunk of n stored bytes: undo the filters, last one first.
static bool fills_chunk(const chunks *c, const unsigned char *stored, uint64_t n, uint32_t mask)
{
    if (mask >> c->nfilter)
        return false;
    for (int i = c->nfilter - 1; i >= 0; i--) {
        bool skipped = mask >> i & 1;
        if (skipped && c->filter[i] != H5Z_FILTER_DEFLATE)
            return false;
        if (c->filter[i] == H5Z_FILTER_FLETCHER32) {
            if (n < 4)
                return false;
            n -= 4;
        } else if (c->filter[i] == H5Z_FILTER_DEFLATE && !skipped)
            n = unpacked_size(stored, n, c->bytes + 4);
    }
    return n == c->bytes;
}

// The chunk at `at`. One that was never written is made of fill values.
static rh_wire__fault check_chunk(const chunks *c, const hsize_t *at)
{
    hsize_t size = 0;
    if (H5Dget_chunk_storage_size(c->dataset, at, &size) < 0)
        return RH_WIRE_DAMAGED;
    if (size == 0)
        return RH_WIRE_SOUND;
    if (c->nfilter == 0)
        return size == c->bytes ? RH_WIRE_SOUND : RH_WIRE_DAMAGED;
    if (size > c->limit)
        return RH_WIRE_DAMAGED;
    unsigned char *stored = malloc((size_t)size);
    uint32_t mask = 0;
    if (!stored)
        return RH_WIRE_MEMORY;
    bool fills = H5Dread_chunk(c->dataset, H5P_DEFAULT, at, &mask, stored) >= 0 &&
                 fills_chunk(c, stored, size, mask);
    free(stored);
    return fills ? RH_WIRE_SOUND : RH_WIRE_DAMAGED;
}

// All chunks whose first row is `row`.
static rh_wire__fault check_band(const chunks *c, hsize_t row)
{
    hsize_t at[RH_WIRE__RANK] = {row};
    for (int k = 1; k < c->rank; k++)
        if (c->dim[k] == 0)
            return RH_WIRE_SOUND;
    for (;;) {
        rh_wire__fault fault = check_chunk(c, at);
        int k = c->rank - 1;
        if (fault)
            return fault;
        for (; k > 0; k--) {
            at[k] += c->size[k];
            if (at[k] < c->dim[k])
                break;
            at[k] = 0;
        }
        if (k < 1)
            return RH_WIRE_SOUND;
    }
}

static rh_wire__fault take_chunks(chunks *c, hid_t made, size_t width, int64_t *filter)
{
    hid_t file = H5Iget_file_id(c->dataset);
    hsize_t whole = 0;
    if (file < 0 || H5Fget_filesize(file, &whole) < 0 || width == 0 ||
        H5Pget_chunk(made, RH_WIRE__RANK, c->size) != c->rank || c->rank < 1)
        whole = 0;
    if (file >= 0)
        H5Fclose(file);
    if (whole == 0)
        return RH_WIRE_DAMAGED;
    c->limit = whole;
    c->bytes = width;
    for (int k = 0; k < c->rank; k++) {
        if (c->size[k] == 0 || c->size[k] > UINT32_MAX / c->bytes)
            return RH_WIRE_DAMAGED;
        c->bytes *= c->size[k];
    }
    return take_filters(c, made, filter);
}

// ---------------------------------------------------------------------------- its rows

rh_wire__fault rh_helper__check_piece(hid_t dataset, H5D_layout_t layout, hsize_t count)
{
    hid_t type = H5Dget_type(dataset);
    hsize_t stored = H5Dget_storage_size(dataset), width = type < 0 ? 0 : H5Tget_size(type);
    if (type >= 0)
        H5Tclose(type);
    if (width == 0 || count > UINT64_MAX / width)
        return RH_WIRE_DAMAGED;
    return stored == count * width || (stored == 0 && layout == H5D_CONTIGUOUS)
               ? RH_WIRE_SOUND
               : RH_WIRE_DAMAGED;
}

rh_wire__fault rh_helper__check_chunks(hid_t dataset, hsize_t first, hsize_t n,
                                       hsize_t *checked, int64_t *filter)
{
    chunks c = {.dataset = dataset};
    hid_t made = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
    hid_t type = H5Dget_type(dataset);
    size_t width = type < 0 ? 0 : H5Tget_size(type);
    rh_wire__fault fault = RH_WIRE_DAMAGED;
    c.rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, c.dim, NULL);
    if (made >= 0 && c.rank >= 0 && width > 0)
        fault = take_chunks(&c, made, width, filter);
    while (!fault && *checked < first + n) {
        fault = check_band(&c, *checked);
        *checked += c.size[0];
    }
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (made >= 0)
        H5Pclose(made);
    return fault;
}
