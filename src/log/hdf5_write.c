// hdf5_write.c - writes HDF5 files, a slab at a time.
//
// 1. Files hold no dates, so the same log gives the same bytes.
// 2. Flags are h5py's bool: an enum of FALSE and TRUE in one byte.
// 3. libhdf5 prints every failure, and the packaged library is not thread-safe. While a file is
//    open its printing is off and other threads wait. At exit it prints a message if something
//    cannot be closed; all our files are closed by then, so its cleanup is disabled.
// 4. Texts have variable length: an attribute of fixed length is limited to 64 kB.

#include "base/base_internal.h"
#include "hdf5.h"

#include <hdf5.h>
#include <string.h>

#define SLAB_NUMBERS 65536

struct rh_hdf5__out {
    const char *path; // borrowed
    hid_t id, flag;   // the file, and the type of flags
    bool failed;
    double *number; // owned (SLAB_NUMBERS + RH_MAX_OBS)
    int64_t *whole; // owned, the same size
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

static rh_status cannot_write(const rh_hdf5__out *out, const char *what, rh_error *err)
{
    return rh_fail(err, RH_EIO, "%s: cannot write %s: the disk may be full",
                   rh_base__path_tail(out->path), what);
}

rh_status rh_hdf5__create(rh_hdf5__out **out, const char *temporary, const char *path,
                          rh_error *err)
{
    size_t room = SLAB_NUMBERS + RH_MAX_OBS;
    rh_hdf5__out *o = rh_alloc(1, sizeof *o);
    if (o) {
        o->number = rh_alloc(room, sizeof *o->number);
        o->whole = rh_alloc(room, sizeof *o->whole);
    }
    if (!o || !o->number || !o->whole) {
        if (o) {
            rh_free(o->number);
            rh_free(o->whole);
        }
        rh_free(o);
        return rh_fail(err, RH_ENOMEM, "%s: cannot write: out of memory",
                       rh_base__path_tail(path));
    }
    o->path = path;
    rh_hdf5__enter(&o->quiet);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    o->id = H5Fcreate(temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    o->flag = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(o->flag, "FALSE", &(int8_t){0});
    H5Tenum_insert(o->flag, "TRUE", &(int8_t){1});
    if (o->id < 0) {
        o->failed = true;
        rh_status rc = cannot_write(o, "the file", err);
        rh_hdf5__end(o, NULL);
        return rc;
    }
    *out = o;
    return RH_OK;
}

rh_status rh_hdf5__end(rh_hdf5__out *o, rh_error *err)
{
    rh_status rc = RH_OK;
    if (!o)
        return rc;
    H5Tclose(o->flag);
    bool flushed = o->id >= 0 && H5Fflush(o->id, H5F_SCOPE_LOCAL) >= 0;
    bool closed = o->id >= 0 && H5Fclose(o->id) >= 0;
    if (!flushed || !closed)
        rc = cannot_write(o, "the file", err);
    rh_hdf5__leave(&o->quiet);
    rh_free(o->number);
    rh_free(o->whole);
    rh_free(o);
    return rc;
}

rh_status rh_hdf5__make_group(rh_hdf5__out *o, const char *name, rh_error *err)
{
    hid_t id = H5Gcreate2(o->id, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0 || H5Gclose(id) < 0)
        return cannot_write(o, name, err);
    return RH_OK;
}

static rh_status put_attribute(rh_hdf5__out *o, const char *object, const char *name,
                               hid_t type, const void *value, rh_error *err)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t id = H5Acreate_by_name(o->id, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                                 H5P_DEFAULT);
    bool written = id >= 0 && H5Awrite(id, type, value) >= 0;
    if (id >= 0)
        H5Aclose(id);
    H5Sclose(space);
    return written ? RH_OK : cannot_write(o, name, err);
}

rh_status rh_hdf5__put_number(rh_hdf5__out *o, const char *object, const char *name, double x,
                              rh_error *err)
{
    int64_t whole = (int64_t)x;
    return put_attribute(o, object, name, H5T_NATIVE_INT64, &whole, err);
}

rh_status rh_hdf5__put_text(rh_hdf5__out *o, const char *object, const char *name,
                            const char *text, rh_error *err)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    rh_status rc = put_attribute(o, object, name, type, &text, err);
    H5Tclose(type);
    return rc;
}

// Write rows first .. first + n - 1 to the open dataset.
static bool put_slab(rh_hdf5__out *o, const rh_hdf5__rows *rows, hid_t id, int64_t first,
                     int64_t n)
{
    int width = rows->ncol ? rows->ncol : 1;
    hsize_t begin[2] = {(hsize_t)first, 0}, count[2] = {(hsize_t)n, (hsize_t)width};
    int8_t *flag = (int8_t *)o->whole;
    for (int64_t i = 0; i < n; i++)
        rows->row(rows->self, first + i, o->number + i * width);
    for (int64_t i = 0; rows->type == RH_HDF5_INT64 && i < n * width; i++)
        o->whole[i] = (int64_t)o->number[i];
    for (int64_t i = 0; rows->type == RH_HDF5_BOOL && i < n * width; i++)
        flag[i] = o->number[i] != 0.0;

    hid_t there = H5Dget_space(id), here = H5Screate_simple(rows->ncol ? 2 : 1, count, NULL);
    bool chosen = H5Sselect_hyperslab(there, H5S_SELECT_SET, begin, NULL, count, NULL) >= 0;
    bool written = false;
    switch (rows->type) {
    case RH_HDF5_DOUBLE:
        written = H5Dwrite(id, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, o->number) >= 0;
        break;
    case RH_HDF5_INT64:
        written = H5Dwrite(id, H5T_NATIVE_INT64, here, there, H5P_DEFAULT, o->whole) >= 0;
        break;
    case RH_HDF5_BOOL:
        written = H5Dwrite(id, o->flag, here, there, H5P_DEFAULT, flag) >= 0;
        break;
    }
    H5Sclose(here);
    H5Sclose(there);
    return chosen && written;
}

rh_status rh_hdf5__put_rows(rh_hdf5__out *o, const rh_hdf5__rows *rows, rh_error *err)
{
    const hid_t type[] = {[RH_HDF5_DOUBLE] = H5T_IEEE_F64LE,
                          [RH_HDF5_INT64] = H5T_STD_I64LE,
                          [RH_HDF5_BOOL] = o->flag};
    hsize_t dim[2] = {(hsize_t)rows->nrow, (hsize_t)rows->ncol};
    hid_t space = H5Screate_simple(rows->ncol ? 2 : 1, dim, NULL);
    hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(made, false);
    hid_t id =
        H5Dcreate2(o->id, rows->name, type[rows->type], space, H5P_DEFAULT, made, H5P_DEFAULT);
    bool written = id >= 0;
    int64_t slab = SLAB_NUMBERS / (rows->ncol ? rows->ncol : 1);
    for (int64_t i = 0; i < rows->nrow && written; i += slab)
        written = put_slab(o, rows, id, i, rows->nrow - i < slab ? rows->nrow - i : slab);
    if (id >= 0)
        written = H5Dclose(id) >= 0 && written;
    H5Pclose(made);
    H5Sclose(space);
    return written ? RH_OK : cannot_write(o, rows->name, err);
}
