// hdf5_helper.h - the parts of the helper program rehearse-hdf5. None of them is in the
// library.

#ifndef REHEARSE_LOG_HDF5_HELPER_H
#define REHEARSE_LOG_HDF5_HELPER_H

#include "hdf5_wire.h"

#include <hdf5.h>

// ---------------------------------------------------------------------------- talking

// Receive n bytes from the library. False if it closed the socket.
bool rh_helper__take(void *to, size_t n);

// Send an answer without bytes.
void rh_helper__refuse(rh_wire__fault fault, int64_t a);

// ---------------------------------------------------------------------------- writing

// Write the file at `path` that the library describes. The program's exit code.
int rh_helper__write(const char *path);

// ---------------------------------------------------------------------------- sandbox

// Give up everything but reading the log and answering. `size`: bytes of the log.
void rh_helper__confine(uint64_t size);

// Access settings for H5Fopen() that read the descriptor RH_WIRE__LOG, whatever the name.
hid_t rh_helper__driver(void);

// ---------------------------------------------------------------------------- checks

// Access settings under which external links are not followed. Close them with H5Pclose().
hid_t rh_helper__inside(hid_t of);

// Whether an external or user-defined link is on the way to `name`.
bool rh_helper__is_linked(hid_t file, const char *name);

// Where a dataset is stored, before anything else is asked about it.
rh_wire__fault rh_helper__check_layout(hid_t dataset, H5D_layout_t *layout);

// Whether a dataset in one piece has the bytes of its `count` numbers, or, outside the header,
// none.
rh_wire__fault rh_helper__check_piece(hid_t dataset, H5D_layout_t layout, hsize_t count);

// Whether the chunks of rows first .. first + n - 1 unpack to their size. Rows before *checked
// were checked; *checked grows. *filter: the filter that is not known.
rh_wire__fault rh_helper__check_chunks(hid_t dataset, hsize_t first, hsize_t n,
                                       hsize_t *checked, int64_t *filter);

#endif
