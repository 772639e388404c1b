// npz.h - NumPy archives, for the writer and tests.

#ifndef REHEARSE_LOG_NPZ_H
#define REHEARSE_LOG_NPZ_H

#include "log_internal.h"

// Read an archive of n bytes like rh_log_read(). Owned: *out.
rh_status rh_npz__read_bytes(rh_log **out, const void *bytes, size_t n, const char *path,
                             const rh_log_options *opt, rh_error *err);

// Whether a label is an integer as Python prints it; such actions are written as numbers.
bool rh_npz__is_whole(const char *label);

rh_status rh_npz__write(const rh_log *log, const char *path, rh_error *err);

#endif
