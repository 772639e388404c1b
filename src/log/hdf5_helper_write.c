// hdf5_helper_write.c - the program rehearse-hdf5 as a writer: makes the file that the library
// describes (hdf5_write.c).
//
// 1. Nothing is answered before the end. What cannot be written ends the program: the library
//    notices with its next message, or when it waits for the answer.
// 2. Files hold no dates, so the same log gives the same bytes.
// 3. Flags are h5py's bool: an enum of FALSE and TRUE in one byte.
// 4. Text attributes have variable length: one of fixed length is limited to 64 kB.
// 5. Arrays are contiguous and little-endian, written a slab at a time.

#include "hdf5_helper.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLAB (1 << 19) // bytes written at once

static hid_t file, flag;

// ---------------------------------------------------------------------------- types

// The type of elements in the file and in memory; false: there is none.
static bool take_type(const rh_wire__make *make, hid_t *there, hid_t *here)
{
    switch ((rh_hdf5__type)make->type) {
    case RH_HDF5_INT64:
        *there = H5T_STD_I64LE;
        *here = H5T_NATIVE_INT64;
        return true;
    case RH_HDF5_DOUBLE:
        *there = H5T_IEEE_F64LE;
        *here = H5T_NATIVE_DOUBLE;
        return true;
    case RH_HDF5_BOOL:
        *there = *here = flag;
        return true;
    }
    return false;
}

// ---------------------------------------------------------------------------- the file

static bool make_file(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    flag = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(flag, "FALSE", &(int8_t){0});
    H5Tenum_insert(flag, "TRUE", &(int8_t){1});
    return file >= 0;
}

static bool end_file(void)
{
    return H5Tclose(flag) >= 0 && H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 && H5Fclose(file) >= 0;
}

static bool make_group(const char *name)
{
    hid_t id = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return id >= 0 && H5Gclose(id) >= 0;
}

// Create the groups of a name. libhdf5 would create them with the date.
static void make_groups(const char *name)
{
    char part[RH_WIRE__TEXT];
    hid_t made = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(made, false);
    for (const char *c = strchr(name, '/'); c; c = strchr(c + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(c - name), name);
        if (H5Lexists(file, part, H5P_DEFAULT) > 0)
            continue;
        hid_t group = H5Gcreate2(file, part, H5P_DEFAULT, made, H5P_DEFAULT);
        if (group >= 0)
            H5Gclose(group);
    }
    H5Pclose(made);
}

// ---------------------------------------------------------------------------- attributes

static bool make_attribute(const char *object, const char *name, hid_t type, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t id = H5Acreate_by_name(file, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                                 H5P_DEFAULT);
    bool written = id >= 0 && H5Awrite(id, type, value) >= 0;
    if (id >= 0)
        H5Aclose(id);
    H5Sclose(space);
    return written;
}

static bool make_text(const char *object, const char *name, int64_t n)
{
    char *text = n < 0 ? NULL : calloc((size_t)n + 1, 1);
    bool good = text && rh_helper__take(text, (size_t)n);
    if (good) {
        hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        H5Tset_cset(type, H5T_CSET_UTF8);
        good = make_attribute(object, name, type, &text);
        H5Tclose(type);
    }
    free(text);
    return good;
}

// ---------------------------------------------------------------------------- arrays

// Receive rows and write them to the open dataset.
static bool fill(hid_t id, hid_t type, const rh_wire__make *make)
{
    size_t row = (size_t)make->width * H5Tget_size(type);
    int64_t slab = row >= SLAB ? 1 : (int64_t)(SLAB / row);
    char *x = malloc((size_t)slab * row);
    bool good = x != NULL;
    for (int64_t first = 0, n; good && first < make->n; first += n) {
        n = make->n - first < slab ? make->n - first : slab;
        hid_t there = H5S_ALL, here = H5S_ALL;
        if (n < make->n) {
            hsize_t begin[2] = {(hsize_t)first, 0},
                    count[2] = {(hsize_t)n, (hsize_t)make->width};
            there = H5Dget_space(id);
            here = H5Screate_simple((int)make->rank, count, NULL);
            good = H5Sselect_hyperslab(there, H5S_SELECT_SET, begin, NULL, count, NULL) >= 0;
        }
        good = good && rh_helper__take(x, (size_t)n * row) &&
               H5Dwrite(id, type, here, there, H5P_DEFAULT, x) >= 0;
        if (n < make->n) {
            H5Sclose(here);
            H5Sclose(there);
        }
    }
    free(x);
    return good;
}

static bool make_array(const char *name, const rh_wire__make *make)
{
    hid_t there = -1, here = -1;
    hsize_t dim[2] = {(hsize_t)make->n, (hsize_t)make->width};
    if (make->n < 0 || make->width < 1 || make->rank < 1 || make->rank > 2 ||
        !take_type(make, &there, &here))
        return false;
    hid_t space = H5Screate_simple((int)make->rank, dim, NULL);
    hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(made, false);
    make_groups(name);
    hid_t id = H5Dcreate2(file, name, there, space, H5P_DEFAULT, made, H5P_DEFAULT);
    bool good = id >= 0 && fill(id, here, make);
    if (id >= 0)
        good = H5Dclose(id) >= 0 && good;
    H5Pclose(made);
    H5Sclose(space);
    return good;
}

// ---------------------------------------------------------------------------- the program

static bool serve(const char *path, const rh_wire__make *make, const char *text)
{
    const char *second = text + strlen(text) + 1; // the text ends with two zeros
    switch ((rh_wire__make_op)make->op) {
    case RH_WIRE_MAKE_FILE:
        if (!make_file(path))
            return false;
        rh_helper__refuse(RH_WIRE_SOUND, 0);
        return true;
    case RH_WIRE_MAKE_GROUP:
        return make_group(text);
    case RH_WIRE_MAKE_NUMBER:
        return make_attribute(text, second, H5T_NATIVE_INT64, &make->n);
    case RH_WIRE_MAKE_TEXT:
        return make_text(text, second, make->n);
    case RH_WIRE_MAKE_ARRAY:
        return make_array(text, make);
    case RH_WIRE_MAKE_END:
        if (!end_file())
            return false;
        rh_helper__refuse(RH_WIRE_SOUND, 0);
        return true;
    }
    return false;
}

int rh_helper__write(const char *path)
{
    rh_wire__make make;
    char text[RH_WIRE__TEXT + 2];
    signal(SIGXFSZ, SIG_IGN); // a limit of the size is a full disk
    while (rh_helper__take(&make, sizeof make) && make.size <= RH_WIRE__TEXT &&
           rh_helper__take(text, make.size)) {
        text[make.size] = text[make.size + 1] = 0;
        if (!serve(path, &make, text))
            break;
        if (make.op == RH_WIRE_MAKE_END)
            return 0;
    }
    _exit(RH_WIRE__UNWRITTEN); // libhdf5 may not be able to close the file
}
