// roles.h - options for reading a log, as they were set: in a file, by options, by keywords.

#ifndef REHEARSE_LOG_ROLES_H
#define REHEARSE_LOG_ROLES_H

#include "describe/key.h"
#include "log_internal.h"

enum { RH_LOG__NKEY = 32 };

struct rh_log_roles {
    rh_log_options opt; // texts and missing values owned
    char *path;         // of the log, owned; NULL: none
    bool has[RH_LOG__NKEY];
};

// The rows, which fill rh_log_roles; NULL after the last. keys.c
const rh_key__row *rh_log__key_row(int i);

// Set what the YAML text bytes (n) has. path: for messages; a log's path is relative to its
// folder.
rh_status rh_log__roles_parse(rh_log_roles *roles, const void *bytes, size_t n,
                              const char *path, rh_error *err);

#endif
