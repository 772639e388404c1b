#include "log_internal.h"

rh_status rh_log_roles_read(rh_log_roles **out, const char *path, rh_error *err)
{
    (void)out;
    return rh_fail(err, RH_EINVAL, "%s: cannot be read yet", path);
}

void rh_log_roles_destroy(rh_log_roles *roles)
{
    (void)roles;
}

const char *rh_log_roles_path(const rh_log_roles *roles)
{
    (void)roles;
    return NULL;
}

void rh_log_roles_apply(const rh_log_roles *roles, rh_log_options *opt)
{
    (void)roles;
    (void)opt;
}
