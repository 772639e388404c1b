// npz.h - NumPy archives, for the files that write them and for tests.

#ifndef REHEARSE_LOG_NPZ_H
#define REHEARSE_LOG_NPZ_H

#include "log_internal.h"

// Read the n bytes of an archive as rh_log_read() does a file. Owned: *out.
rh_status rh_npz__read_bytes(rh_log **out, const void *bytes, size_t n, const char *path,
                             const rh_log_options *opt, rh_error *err);

// Whether a label is a whole number as Python prints it: such actions are written as numbers.
bool rh_npz__is_whole(const char *label);

rh_status rh_npz__write(const rh_log *log, const char *path, rh_error *err);

#endif
