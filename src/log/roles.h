// roles.h - reads roles from memory.

#ifndef REHEARSE_LOG_ROLES_H
#define REHEARSE_LOG_ROLES_H

#include "log_internal.h"

// Parse the YAML text bytes (n). path: for messages; a log's path is relative to its folder.
// Owned: *out, free with rh_log_roles_destroy().
rh_status rh_log__roles_parse(rh_log_roles **out, const void *bytes, size_t n, const char *path,
                              rh_error *err);

#endif
