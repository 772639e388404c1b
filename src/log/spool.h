// spool.h - logs that can be read once only, or are packed, as unnamed temporary files.

#ifndef REHEARSE_LOG_SPOOL_H
#define REHEARSE_LOG_SPOOL_H

#include "log_internal.h"

// Copy what a pipe holds; *out is the descriptor of the copy, at the beginning.
rh_status rh_spool__pipe(int pipe, const char *path, int *out, rh_error *err);

// Whether a file that begins with head (n) is packed by xz, zstd, bzip2 or zip, and is no NPZ.
bool rh_spool__is_packed(const unsigned char *head, size_t n);

// Whether the module that unpacks them is there.
bool rh_spool__unpacks(void);

// Unpack `fd`, in the same way. A file that holds much more than its size is refused.
rh_status rh_spool__unpack(int fd, const char *path, const rh_log_options *opt, int *out,
                           rh_error *err);

#endif
