// hdf5_check.h - what is checked in a dataset before libhdf5 reads its numbers.

#ifndef REHEARSE_LOG_HDF5_CHECK_H
#define REHEARSE_LOG_HDF5_CHECK_H

#include <hdf5.h>
#include <stdbool.h>

#define RH_HDF5__RANK 32 // most dimensions of a dataset

typedef enum rh_hdf5__fault {
    RH_HDF5_SOUND,
    RH_HDF5_LINKED,   // an external link leads to it
    RH_HDF5_EXTERNAL, // its numbers are in other files
    RH_HDF5_VIRTUAL,  // it is put together from other datasets
    RH_HDF5_FILTER,   // packed with a filter that is not known
    RH_HDF5_MEMORY,   // out of memory
    RH_HDF5_DAMAGED   // the stored bytes do not fill it, or cannot be unpacked
} rh_hdf5__fault;

// Access settings under which external links are not followed. Close them with H5Pclose().
hid_t rh_hdf5__inside(hid_t of);

// Whether an external or user-defined link is on the way to `name`.
bool rh_hdf5__is_linked(hid_t file, const char *name);

// Where a dataset is stored, before anything else is asked about it.
rh_hdf5__fault rh_hdf5__check_layout(hid_t dataset);

// Whether the stored bytes of rows first .. first + n - 1 are what its shape needs. Rows before
// *checked were checked; *checked grows. filter (64): the name of a filter that is not known.
rh_hdf5__fault rh_hdf5__check_rows(hid_t dataset, hsize_t first, hsize_t n, hsize_t *checked,
                                   char *filter);

#endif
