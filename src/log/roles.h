// roles.h - roles from bytes, for those who have no file.

#ifndef REHEARSE_LOG_ROLES_H
#define REHEARSE_LOG_ROLES_H

#include "log_internal.h"

// The YAML text bytes (n). path: for messages, and whose folder a log's path starts from.
// Owned: *out, free with rh_log_roles_destroy().
rh_status rh_log__roles_parse(rh_log_roles **out, const void *bytes, size_t n, const char *path,
                              rh_error *err);

#endif
